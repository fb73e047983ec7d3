/* doc.h -- a report: sections of sentences, figures and tables, made of run files.
 *
 *   operands ──> inputs ──> makers, a table of them ──> struct report_doc ──> page (HTML)
 *   files, directories      each: what it finds in           sections         JSON
 *   tables of points        these runs, or nothing                            text
 *
 * A maker is all there is to add to show something new: it looks at the runs, and leaves the
 * section empty if they hold nothing for it. docs/formats/report.md describes the document.
 */
#ifndef REPORT_DOC_H
#define REPORT_DOC_H

#include "base/err.h"
#include "base/mem.h"
#include "report/figure.h"
#include "report/report_table.h"
#include "report/runs.h"
#include "run/reader.h"

struct report_comparisons; /* compare.h */
struct report_validation;  /* validation.h */

struct report_input {
    const char *path, *name; /* the name has neither folders nor ending */
    const char *title;       /* of the run, or its name */
    struct run_reader *run;  /* NULL: a table of points */
    bool sweep;              /* holds a load sweep, or is a table of points */
};

struct report_inputs {
    struct wr_arena arena;
    WR_VEC(struct report_input) v;
    struct report_runs runs; /* those of them that are complete and have jobs, side by side */
    const char *study;       /* a directory was given: the study's name, else NULL */
    size_t left_out;         /* files of it that are not complete */
    struct report_access access;
    const struct report_comparisons
        *compared; /* what the caller compared; NULL: see for yourself */
    const struct report_validation *validated; /* likewise */
    double tolerance;                          /* of `validated`; 0: none is given */
};

/* An operand is a run file, a table of points (.csv), a directory of run files, or DIR:axis=choice
 * (see runs.h). Run files that are named themselves need not be complete. */
bool report_inputs_open(struct report_inputs *ret, const char *const *operands, size_t n,
                        struct wr_err *err);
bool report_inputs_open_for(struct report_inputs *ret, const char *const *operands, size_t n,
                            const struct report_access *access, struct wr_err *err);
void report_inputs_close(struct report_inputs *in);

struct report_sheet {
    const char *id, *title;
    struct report_table table;
};

/* Memory of what it points to is the document's arena. */
struct report_section {
    const char *id, *group, *title;
    const char *says; /* the sentence that says what it shows; NULL: that of the first figure */
    WR_VEC(struct report_figure) figure;
    WR_VEC(struct report_sheet) sheet;
    struct wr_arena *arena;
};

struct report_maker {
    const char *id, *group, *title;
    bool each; /* of each run by itself, where there are few; else of all together */
    /* Of the input `which`, or of all. */
    bool (*make)(const struct report_inputs *in, size_t which, struct report_section *s,
                 struct wr_err *err);
};

/* Filled by report_doc_open(), read only after it. The inputs outlive the document. */
struct report_doc {
    struct wr_arena arena;
    const struct report_inputs *in;
    const char *title;
    WR_VEC(struct report_section) section;
};

/* `makers` ends with NULL. With `only`, just the sections of that id. */
bool report_doc_open(struct report_doc *ret, const struct report_inputs *in,
                     const struct report_maker *const *makers, const char *only,
                     struct wr_err *err);
void report_doc_close(struct report_doc *d);

void report_doc_json(const struct report_doc *d, struct wr_str *out);
void report_doc_text(const struct report_doc *d, const struct report_text_style *style,
                     struct wr_str *out);

/* A page that needs nothing else. With a bundle of code (NULL: none) it is drawn by that where
 * scripts run. */
struct report_bundled {
    const char *js, *css;
};
void report_doc_page(const struct report_doc *d, const struct report_bundled *code,
                     struct wr_str *out);

/* ---- for makers ---- */

/* Ids of figures and tables begin with the section's, so that they are unique. The sheet stays
 * where it is until the next one is added. */
struct report_figure *report_add_figure(struct report_section *s, const char *what,
                                        enum report_kind kind);
struct report_table *report_add_sheet(struct report_section *s, const char *what, const char *title,
                                      size_t ncols, size_t nleft);
void report_drop_sheet(struct report_section *s); /* the last one */
/* A sheet with the rows of a query, columns named as in it; `?1` is `arg`. */
bool report_add_query(struct report_section *s, const char *what, const char *title,
                      struct run_reader *r, const char *sql, const char *arg, struct wr_err *err);

/* A time is given in the unit in which `ns` is at least 1. */
struct report_unit {
    double ns;
    const char *name;
};
struct report_unit report_unit(double ns);

/* Lists of points that grow, and their series once they are complete. */
struct report_curve {
    const char *name;
    WR_VEC(struct report_point) point;
};
struct report_curves {
    WR_VEC(struct report_curve) v;
};

struct report_curve *report_curve(struct report_section *s, struct report_curves *c,
                                  const char *name);
/* Moves the points to the arena; `shape` gives what all series share. */
const struct report_series *report_series(struct report_section *s, struct report_curves *c,
                                          struct report_series shape);

/* The name of a file without its folders and its ending. */
char *report_short_name(struct wr_arena *a, const char *path);

#endif
