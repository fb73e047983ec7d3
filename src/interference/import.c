/* import.c -- reads a CSV table of slices that another tool recorded, and checks it.
 *
 * Owns the columns of the table and its checks; import_write.c turns the rows into run files. Every
 * mistake of the table is reported with its row. After a successful parse the rows are sorted by
 * run, time, application, rank and node, and no two rows describe the same process and slice.
 */
#include "interference/import.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/str.h"
#include "base/units.h"
#include "stat/sample.h"

enum { MOST_BYTES = 512 << 20, MOST_RANK = 1 << 20 };

#define IMPORT_LEAST_SLICE_S 0.001 /* shorter slices are noise of clocks */
/* The slice is the least difference of two times, of which all differences must be multiples: times
 * nearer than this are the same, and a multiple is exact to a hundredth. */
#define IMPORT_APART_S 1e-4
#define IMPORT_ON_GRID 0.01

enum {
    C_APP,
    C_BYTES,
    C_RUN,
    C_RANK,
    C_NODE,
    C_EPOCH,
    C_T,
    C_CALLS,
    C_WRITE_S,
    C_READ_BYTES,
    C_READ_CALLS,
    C_READ_S,
    C_FSYNC_S,
    C_COUNT
};
static const char *const columns[C_COUNT] = {
    "app",     "bytes",      "run",        "rank",   "node",   "slice_start_epoch", "t_s", "calls",
    "write_s", "read_bytes", "read_calls", "read_s", "fsync_s"};

static const struct {
    int column;
    enum interference_import_metric metric;
} metric_columns[] = {
    {C_BYTES, INTERFERENCE_M_WRITE_BYTES},     {C_CALLS, INTERFERENCE_M_WRITE_CALLS},
    {C_WRITE_S, INTERFERENCE_M_WRITE_TIME},    {C_READ_BYTES, INTERFERENCE_M_READ_BYTES},
    {C_READ_CALLS, INTERFERENCE_M_READ_CALLS}, {C_READ_S, INTERFERENCE_M_READ_TIME},
    {C_FSYNC_S, INTERFERENCE_M_SYNC_TIME},
};

struct reading {
    struct interference_import *im;
    size_t epochs, times;
    const char *run, *app; /* of the previous row: equal neighbours share one copy */
};

static const char *import_intern(struct wr_arena *arena, const char **last, const char *text)
{
    if (!*last || strcmp(*last, text) != 0)
        *last = wr_arena_strdup(arena, text);
    return *last;
}

static void import_add_row(void *ctx, const char *const *text, const double *col)
{
    struct reading *r = ctx;
    struct interference_import_row row = {.run = import_intern(&r->im->arena, &r->run, text[C_RUN]),
                                          .app = import_intern(&r->im->arena, &r->app, text[C_APP]),
                                          .rank = isnan(col[C_RANK]) ? 0 : col[C_RANK],
                                          .node = col[C_NODE]};

    r->epochs += !isnan(col[C_EPOCH]);
    r->times += !isnan(col[C_T]);
    row.t_s = isnan(col[C_EPOCH]) ? col[C_T] : col[C_EPOCH];
    for (size_t i = 0; i < sizeof metric_columns / sizeof metric_columns[0]; i++)
        row.metric[metric_columns[i].metric] = col[metric_columns[i].column];
    r->im->has_runs |= *row.run != 0;
    wr_vec_push(&r->im->rows, row);
}

static bool import_is_index(double v, double most)
{
    return v >= 0 && v <= most && v == floor(v);
}

static bool import_check_row(const struct interference_import_row *row, size_t number,
                             bool has_runs, struct wr_err *err)
{
    if (!*row->app)
        return wr_fail(err, WR_INPUT, "row %zu names no app; name it", number);
    if (has_runs && (!*row->run || strchr(row->run, '/') || *row->run == '.'))
        return wr_fail(err, WR_INPUT,
                       "row %zu: a run is called \"%s\", which is no name for a file; rename it",
                       number, wr_text_clip(row->run).s);
    if (!import_is_index(row->rank, MOST_RANK - 1) ||
        !(isnan(row->node) || import_is_index(row->node, 1e9)))
        return wr_fail(err, WR_INPUT, "row %zu: ranks and nodes are numbers from 0; correct it",
                       number);
    if (!(row->t_s >= 0 && row->t_s < 9e9))
        return wr_fail(err, WR_INPUT, "row %zu has no time from 0 to 9e9 s; correct it", number);
    for (int m = 0; m < INTERFERENCE_METRICS; m++)
        if (row->metric[m] < 0 || row->metric[m] > 1e18)
            return wr_fail(err, WR_INPUT, "row %zu has a value below 0 or above 1e18; correct it",
                           number);
    return true;
}

/* The shortest distance between two slices; all distances must be multiples of it. */
static bool import_find_slice(struct interference_import *im, struct wr_err *err)
{
    double *t = wr_alloc((im->rows.n + 1) * sizeof *t), least = INFINITY;

    for (size_t i = 0; i < im->rows.n; i++)
        t[i] = im->rows.v[i].t_s;
    stat_sort(t, im->rows.n);
    for (size_t i = 1; i < im->rows.n; i++)
        if (t[i] - t[i - 1] > IMPORT_APART_S)
            least = fmin(least, t[i] - t[i - 1]);
    /* A wall-clock time in a double has a resolution of a quarter of a microsecond. */
    least = round(least * 1e5) / 1e5;
    bool ok = isfinite(least);

    for (size_t i = 1; ok && i < im->rows.n; i++) {
        double k = (t[i] - t[0]) / least;

        ok = fabs(k - round(k)) < IMPORT_ON_GRID;
    }
    free(t);
    if (!ok)
        return wr_fail(err, WR_INPUT,
                       "the length of the slices does not follow from their times; set slice");
    im->slice_s = least;
    return true;
}

static bool import_check(struct interference_import *im, const struct reading *r,
                         struct wr_err *err)
{
    if (!im->rows.n)
        return wr_fail(err, WR_INPUT, "there are no rows; add some");
    if (r->epochs && r->times)
        return wr_fail(err, WR_INPUT,
                       "there are times in slice_start_epoch and in t_s; leave one column out");
    if (r->epochs + r->times < im->rows.n)
        return wr_fail(err, WR_INPUT,
                       "some rows have no time; fill in slice_start_epoch (seconds since 1970) or "
                       "t_s");
    im->clocked = r->epochs;
    for (size_t i = 0; i < im->rows.n; i++)
        if (!import_check_row(&im->rows.v[i], i + 1, im->has_runs, err))
            return false;
    if (im->slice_s > 0 && im->slice_s < IMPORT_LEAST_SLICE_S)
        return wr_fail(err, WR_INPUT, "slice: shorter than 1 ms; give a longer one");
    return im->slice_s > 0 || import_find_slice(im, err);
}

static int import_by_run(const void *a, const void *b)
{
    const struct interference_import_row *x = a, *y = b;
    int order = strcmp(x->run, y->run);

    if (!order)
        order = x->t_s < y->t_s ? -1 : x->t_s > y->t_s;
    if (!order)
        order = strcmp(x->app, y->app);
    if (!order)
        order = x->rank < y->rank ? -1 : x->rank > y->rank;
    return order ? order : x->node < y->node ? -1 : x->node > y->node;
}

/* Rows are sorted, so duplicates are neighbours. */
static bool import_check_once(const struct interference_import *im, struct wr_err *err)
{
    for (size_t i = 1; i < im->rows.n; i++) {
        const struct interference_import_row *a = &im->rows.v[i - 1], *b = &im->rows.v[i];

        if (!strcmp(a->run, b->run) && !strcmp(a->app, b->app) && a->rank == b->rank &&
            !(a->node < b->node || a->node > b->node) && b->t_s - a->t_s < im->slice_s / 2)
            return wr_fail(err, WR_INPUT,
                           "two rows describe process %.0f of app %s at %.6f s; leave one out, or "
                           "distinguish processes by node",
                           a->rank, wr_text_clip(a->app).s, a->t_s);
    }
    return true;
}

bool interference_import_parse(struct interference_import *ret, const char *name, const char *text,
                               size_t len, double slice_s, struct wr_err *err)
{
    struct interference_import im = {.slice_s = slice_s};
    struct reading r = {.im = &im};
    struct wr_csv_shape shape = {.names = columns,
                                 .n = C_COUNT,
                                 .needed = C_RUN,
                                 .row = import_add_row,
                                 .texts = 1u << C_APP | 1u << C_RUN};
    bool ok = wr_csv_parse(&shape, name, text, len, &r, err);

    if (ok && !import_check(&im, &r, err))
        ok = wr_wrap(err, "%s", name);
    if (ok) {
        qsort(im.rows.v, im.rows.n, sizeof *im.rows.v, import_by_run);
        if (!import_check_once(&im, err))
            ok = wr_wrap(err, "%s", name);
    }
    if (!ok) {
        interference_import_fini(&im);
        return false;
    }
    *ret = im;
    return true;
}

bool interference_import_read(struct interference_import *ret, const char *path, double slice_s,
                              struct wr_err *err)
{
    char *text;
    size_t len;

    if (!wr_file_read(&text, &len, path, MOST_BYTES, err))
        return false;
    bool ok = interference_import_parse(ret, path, text, len, slice_s, err);

    free(text);
    return ok;
}

enum { J_RUN, J_APP, J_MODE, J_START, J_RUNTIME, J_COUNT = 13 };
/* The columns after runtime_s are ignored; they are listed so that a study's table is accepted. */
static const char *const job_columns[J_COUNT] = {"run",
                                                 "app",
                                                 "mode",
                                                 "start_s",
                                                 "runtime_s",
                                                 "rep",
                                                 "load1",
                                                 "np",
                                                 "nodes",
                                                 "mib",
                                                 "throughput_mib_s",
                                                 "allactive_s",
                                                 "wire_allactive_mib_s"};

static void import_add_job(void *ctx, const char *const *text, const double *col)
{
    struct interference_import *im = ctx;
    struct interference_import_job job = {.run = wr_arena_strdup(&im->arena, text[J_RUN]),
                                          .app = wr_arena_strdup(&im->arena, text[J_APP]),
                                          .mode = wr_arena_strdup(&im->arena, text[J_MODE]),
                                          .start_s = col[J_START],
                                          .runtime_s = col[J_RUNTIME]};

    wr_vec_push(&im->jobs, job);
}

bool interference_import_jobs(struct interference_import *im, const char *path, struct wr_err *err)
{
    struct wr_csv_shape shape = {.names = job_columns,
                                 .n = J_COUNT,
                                 .needed = J_MODE,
                                 .row = import_add_job,
                                 .texts = 1u << J_RUN | 1u << J_APP | 1u << J_MODE};
    char *text;
    size_t len;

    if (!wr_file_read(&text, &len, path, MOST_BYTES, err))
        return false;
    bool ok = wr_csv_parse(&shape, path, text, len, im, err);

    free(text);
    for (size_t i = 0; ok && i < im->jobs.n; i++) {
        const struct interference_import_job *j = &im->jobs.v[i];

        if (j->start_s < 0 || j->start_s > 9e6 || j->runtime_s <= 0 || j->runtime_s > 9e6)
            ok = wr_fail(err, WR_INPUT,
                         "%s: row %zu has a start below 0 or a run time that is not above 0; "
                         "correct it",
                         path, i + 1);
    }
    return ok;
}

void interference_import_fini(struct interference_import *im)
{
    wr_vec_fini(&im->rows);
    wr_vec_fini(&im->jobs);
    wr_arena_fini(&im->arena);
}
