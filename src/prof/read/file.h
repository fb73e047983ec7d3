/* file.h -- the profile of one process, read and checked.
 *
 * Whoever wrote it may still be writing, may have been killed, or may not be ours: nothing in the
 * file is believed before it was compared with its size. What is there but not finished (a record
 * whose mark is missing, a file cut short) is left out and counted.
 */
#ifndef PROF_READ_FILE_H
#define PROF_READ_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "prof/form/form.h"

struct prof_seat { /* one thread's slot, without its rows */
    uint32_t tid;
    uint64_t flight, want;
    int64_t from_ns, edge_ns; /* what no record tells happened between these; 0: not known */
};

struct prof_file {
    char *path;
    struct prof_head head; /* its texts are terminated */
    struct prof_name *name;
    uint32_t nnames, nseats;
    struct prof_seat *seat;
    struct prof_row *row; /* row[seat * nnames + name]: all that was counted */
    struct prof_rec *rec; /* in the order they were made; slot and row exist */
    size_t nrec, torn;    /* torn: claimed, but not written whole */
    bool cut;             /* the file is shorter than it says */
};

/* A descriptor to read from, or -1. A regular file of one's own, or of the owner of the directory
 * it is in: in a directory that everybody may write to there may be anything. */
int prof_file_open(const char *path, uint64_t *ret_len, struct wr_err *err);
bool prof_file_read(struct prof_file *ret, const char *path, struct wr_err *err);
/* The same without the log: what was counted so far, for who looks often. */
bool prof_file_glance(struct prof_file *ret, const char *path, struct wr_err *err);
bool prof_file_parse(struct prof_file *ret, const char *name, const void *bytes, size_t len,
                     struct wr_err *err);
void prof_file_fini(struct prof_file *f);

/* Is the process still there? Only its own machine knows; false elsewhere. */
bool prof_file_alive(const struct prof_head *h);

extern const char *const prof_word_names[PROF_WORDS_N];
extern const char *const prof_word_units[PROF_WORDS_N];
const char *prof_clock_name(uint32_t clock);

#endif
