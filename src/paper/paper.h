/* paper.h -- the figures and tables of a publication, made by weir.
 *
 *   share/papers/NAME.yaml ──> struct paper ──> paper_run ──> struct paper_results
 *     items: steps (weir's own verbs)   │            │            values: published, weir's
 *            figures, values            │            └──> DIR/ITEM/: what the steps left,
 * values.csv │                            log.txt, steps.done └──> paper_write_page,
 * paper_write_markdown
 *
 * No paper is known here: adding one is adding a file. docs/formats/paper.md has its keys.
 */
#ifndef PAPER_PAPER_H
#define PAPER_PAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/str.h"
#include "conf/conf.h"

/* ---- a recipe, read only once it is open ---- */

struct paper_step {
    struct conf_list words; /* const char *: arguments of weir; {data} is the folder of data */
    const char *to;         /* file for its standard output; "": the log */
};

struct paper_figure {
    const char *file, *caption;
};

struct paper_value {
    const char *name, *unit;
    const char *published;  /* as printed, which says to how many digits; "": not published */
    const char *file;       /* a run file or a JSON document that the steps left */
    const char *query;      /* SQL: on views of the run file, or those of run/document.h */
    const char *series, *x; /* where it stands in the item's chart; "": not in it */
    bool exact;             /* must be equal, to the digits published */
    bool whole;             /* not in the quick variant */
};

/* A chart of the item's values: published as marks, weir's as lines. */
struct paper_chart {
    const char *title; /* "": there is none */
    const char *x, *y; /* the axes */
    bool log_x, log_y;
};

struct paper_item {
    const char *id, *caption;
    uint32_t source;                  /* index into paper_sources */
    double time_ps, quick_ps;         /* estimates */
    struct conf_list needs;           /* const char *: ids of items before it */
    struct conf_list steps, quick;    /* struct paper_step */
    struct conf_list figures, values; /* struct paper_figure, struct paper_value */
    struct paper_chart chart;
    const char *differs; /* where weir differs, and who is right */
    const char *missing; /* "": can be made; else why not */
};

struct paper_about {
    const char *title, *authors, *venue, *question, *says, *outlook;
    uint32_t year;
};

struct paper {
    struct conf *conf;
    const char *name; /* of the file, without folders and ending */
    const char *path;
    const char *data; /* the folder `data` beside it */
    struct paper_about about;
    struct conf_list items; /* struct paper_item */
    struct wr_arena arena;
};

extern const char *const paper_sources[]; /* ends with NULL */
extern const struct conf_row paper_rows[];

/* `name` is one that came with weir, or a file that ends in .yaml. */
bool paper_open(struct paper **ret, const char *name, struct wr_err *err);
void paper_close(struct paper *p); /* NULL is fine */

/* The names of those that came with weir, in order. */
bool paper_names(const char *const **ret, size_t *ret_n, struct wr_arena *arena,
                 struct wr_err *err);

size_t paper_count(const struct paper *p);
const struct paper_item *paper_item(const struct paper *p, size_t i);
/* The steps of the variant, and how long they take about. */
const struct conf_list *paper_steps(const struct paper_item *item, bool quick);
/* Does --quick make less of it: by steps of its own, or of what it needs? */
bool paper_is_reduced(const struct paper *p, const struct paper_item *item);
double paper_estimate_s(const struct paper_item *item, bool quick);
/* A step as a user would type it, with a {data} in it as it is. */
void paper_command(const struct paper_step *s, struct wr_str *out);

/* ---- what was made ---- */

enum paper_state {
    PAPER_LEFT_OUT, /* not asked for, and not made before */
    PAPER_MISSING,  /* weir cannot make it */
    PAPER_FAILED,
    PAPER_KEPT, /* made by an earlier call */
    PAPER_MADE,
    PAPER_STATES,
};
extern const char *const paper_state_names[];

struct paper_got {
    const struct paper_value *value;
    double weir;  /* NaN: none */
    bool differs; /* it must be equal and is not */
};

struct paper_result {
    const struct paper_item *item;
    enum paper_state state;
    const char *why; /* it failed */
    double seconds;  /* of the steps that ran in this call */
    WR_VEC(struct paper_got) got;
};

struct paper_results {
    const struct paper *paper;
    const char *dir;
    bool quick;
    struct paper_result *v; /* one for each item */
    size_t failed, differ;  /* items; values that must be equal */
    struct wr_arena arena;
};

struct paper_call {
    const char *dir;
    const char *const *items; /* ids; none: all */
    size_t nitems;
    bool quick, force;
    enum wr_progress_mode progress;
};

/* Makes the items and writes DIR/ITEM/values.csv. A step that fails ends its item, not the others.
 * False: nothing can be made there, or it was interrupted; the same call goes on. */
bool paper_run(struct paper_results *ret, const struct paper *p, const struct paper_call *call,
               struct wr_err *err);
void paper_results_fini(struct paper_results *r);

/* DIR/index.html and DIR/index.md. */
bool paper_write(const struct paper_results *r, struct wr_err *err);

/* ---- numbers in tables ---- */

/* Published and weir's number to the same digits, and their difference in words. */
void paper_put_number(const struct paper_got *g, struct wr_str *out);
void paper_put_difference(const struct paper_got *g, struct wr_str *out);

#endif
