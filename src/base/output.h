/* output.h -- the one way in which a file is written.
 *
 * A file is written beside its target, as ".NAME.weir-part", and renamed when it is whole: under
 * its own name it is complete or it is not there. The part is locked while it is open, so that of
 * two writers of one target the first goes on and the second is refused; the lock of a process that
 * died is free. What dies of Ctrl-C takes its part along.
 *
 *     struct wr_output o;
 *
 *     if (!wr_output_open(&o, path, &format, force ? WR_FORCE : 0, err))
 *         return false;
 *     fprintf(o.f, ...);
 *     return wr_output_commit(&o, err);       (or wr_output_abandon(&o))
 *
 * What is never replaced: a file that this process has read (base/file.h knows them, whatever they
 * are called and however they are linked), a directory, and what another process is writing. What
 * is replaced only with WR_FORCE: a file that weir would not have written itself, which is seen in
 * its content, and data that was measured or simulated. docs/formats/outputs.md says it to users.
 *
 * Devices and pipes (/dev/stdout) are written in place.
 */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "base/str.h"

/* What can be in a file. */
struct wr_format {
    const char *name;    /* in sentences: "an SVG picture" */
    const char *endings; /* ".html .htm"; NULL: any */
    /* How weir's own begin. NULL: their first line is that of the text that shall replace them, as
     * the names of columns are. */
    const char *begins;
    size_t begins_n;   /* where a zero byte is one of them; 0: up to it */
    const char *holds; /* besides; NULL: nothing */
    size_t holds_at;   /* at this byte; 0: anywhere in the first 4 KiB */
    bool data;         /* measured or simulated: weir's own is replaced with WR_FORCE only */
    bool own_only;     /* what is not weir's own is not replaced at all */
};

/* Drawings hold this, since "<svg" alone does not say which program drew it. */
#define WR_SVG_MARK "<metadata>Written by weir.</metadata>"

extern const struct wr_format wr_format_svg, wr_format_csv, wr_format_log;

enum {
    WR_FORCE = 1 << 0,
    WR_IN_PLACE = 1 << 1, /* the user asked to change an input itself (`weir lang fmt --write`) */
    WR_PRIVATE = 1 << 2,  /* only the owner may read it */
};

struct wr_output {
    FILE *f;
    const char *name; /* as the user wrote it; the caller keeps it */
    char *target;     /* what it is, behind symbolic links */
    char *part;       /* NULL: written in place, or published */
    unsigned flags;
};

/* Endings are the user's choice of format: one that `formats` (ends with NULL) has not is refused
 * with those it has. A name without an ending, or of a device, is the first. */
bool wr_output_format(const struct wr_format **ret, const char *path,
                      const struct wr_format *const *formats, struct wr_err *err);

/* Would wr_output_open() do it? For work that takes long: it is asked before, and again after. */
bool wr_output_check(const char *path, const struct wr_format *format, unsigned flags,
                     struct wr_err *err);

bool wr_output_open(struct wr_output *ret, const char *path, const struct wr_format *format,
                    unsigned flags, struct wr_err *err);
/* Gives the file its name. It is closed either way. */
bool wr_output_commit(struct wr_output *o, struct wr_err *err);
/* Gives the file its name while it goes on being written: for tables that grow for days, which
 * are then complete up to their last line. The lock stays until wr_output_end(). */
bool wr_output_publish(struct wr_output *o, struct wr_err *err);
bool wr_output_end(struct wr_output *o, struct wr_err *err);
/* Goes on at the end of an existing file, in place; ends with wr_output_end(). */
bool wr_output_append(struct wr_output *ret, const char *path, struct wr_err *err);
/* As if nothing had been asked for. */
void wr_output_abandon(struct wr_output *o);

/* A directory for files: made, or there already and either empty or with a file of one of `marks`
 * (ends with NULL) in it, so that files are not mixed with unrelated ones. `force`: any directory.
 * `ret_made` may be NULL. */
bool wr_output_dir(const char *path, const struct wr_format *const *marks, bool force,
                   bool *ret_made, struct wr_err *err);

/* The files and directories that were written since, as the user named them: each once, in order,
 * without those in a directory that is among them and those that are gone again. */
void wr_outputs_begin(void);
void wr_outputs_each(void (*call)(void *ctx, const char *name), void *ctx);
/* One that another process wrote for this one. */
void wr_output_note(const char *name);

/* All of the above for a text that is ready. */
bool wr_output_text(const char *path, const struct wr_format *format, unsigned flags,
                    const struct wr_str *text, struct wr_err *err);

#endif
