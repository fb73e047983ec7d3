/* runs.h -- whole runs of configurations that are shipped, and reference curves. */
#ifndef TESTS_PROP_RUNS_H
#define TESTS_PROP_RUNS_H

#include <math.h>

#include "prop/lab.h"

/* Runs a configuration of this repository with overrides; free() the result. */
static inline struct world_result *runs_measure(const char *file, const char *const *sets,
                                                size_t nsets)
{
    struct world_result *r = wr_alloc(sizeof *r);
    struct world_config c = {0};
    struct wr_err err = {0};
    struct conf *conf;
    struct world *w;
    enum world_end end;
    char path[1024];

    snprintf(path, sizeof path, "%s/%s", WEIR_SOURCE_DIR, file);
    if (!conf_load(&conf, &c, world_rows, path, sets, nsets, &err))
        fail_msg("%s", err.text);
    if (!world_open(&w, conf, &c, &err) || !world_run(w, NULL, NULL, &end, &err))
        fail_msg("%s", err.text);
    world_result(w, r);
    world_close(w);
    conf_close(conf);
    return r;
}

/* A table of numbers and words from a CSV file whose cells hold no commas in quotes
 * before the columns asked for. */
struct runs_csv {
    char *text;
};

static inline void runs_csv_open(struct runs_csv *c, const char *path)
{
    c->text = lab_file(path);
}

static inline void runs_csv_close(struct runs_csv *c)
{
    free(c->text);
}

/* A table as the state of all tests of a program. */
static inline int runs_open_curves(void **state, const char *path)
{
    struct runs_csv *c = calloc(1, sizeof *c);

    runs_csv_open(c, path);
    *state = c;
    return 0;
}

static inline int runs_close_curves(void **state)
{
    runs_csv_close(*state);
    free(*state);
    return 0;
}

enum { RUNS_CELL = 64 };

/* Cell `column` of the line at `line`. */
static inline void runs_cell(const char *line, int column, char ret[RUNS_CELL])
{
    while (column--)
        line += strcspn(line, ",\n") + 1;
    snprintf(ret, RUNS_CELL, "%.*s", (int)strcspn(line, ",\n"), line);
}

static inline int runs_column(const struct runs_csv *c, const char *name)
{
    char cell[RUNS_CELL];

    for (int i = 0; i < 32; i++) {
        runs_cell(c->text, i, cell);
        if (!strcmp(cell, name))
            return i;
    }
    fail_msg("the reference has no column %s", name);
    return -1;
}

/* The value of `column` in the first line whose cells are as wanted: pairs of
 * a column and a number or word. NaN when there is none. */
struct runs_want {
    const char *column, *word;
    double number;
};

static inline bool runs_line_fits(const struct runs_csv *c, const char *line,
                                  const struct runs_want *want, size_t n)
{
    char cell[RUNS_CELL];

    for (size_t i = 0; i < n; i++) {
        runs_cell(line, runs_column(c, want[i].column), cell);
        if (want[i].word ? strcmp(cell, want[i].word) != 0
                         : fabs(strtod(cell, NULL) - want[i].number) > 1e-9)
            return false;
    }
    return true;
}

static inline double runs_lookup(const struct runs_csv *c, const struct runs_want *want, size_t n,
                                 const char *column)
{
    char cell[RUNS_CELL];

    for (const char *line = strchr(c->text, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
        if (runs_line_fits(c, line + 1, want, n)) {
            runs_cell(line + 1, runs_column(c, column), cell);
            return strtod(cell, NULL);
        }
    return NAN;
}

/* Says both and how far they are apart; that must be within `part`. */
static inline void runs_assert_near(const char *what, double got, double want, double part)
{
    print_message("%-36s %10.4f  reference %10.4f  %+.2f %%\n", what, got, want,
                  100 * (got / want - 1));
    assert_false(isnan(want));
    if (!(fabs(got - want) <= part * want))
        fail_msg("%s is %.6g and the reference has %.6g; more than %.0f %% apart", what, got, want,
                 100 * part);
}

#endif
