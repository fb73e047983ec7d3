/* import_write.c -- writes imported rows as run files, one per run.
 *
 * Called after import.c has checked and sorted the rows. When one file fails, those that were made
 * are removed. */
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "interference/import.h"
#include "run/run.h"

static const struct {
    const char *name, *unit;
    double scale;
} metrics[INTERFERENCE_METRICS] = {
    [INTERFERENCE_M_WRITE_BYTES] = {"write_bytes", "B", 1},
    [INTERFERENCE_M_WRITE_CALLS] = {"write_calls", "", 1},
    [INTERFERENCE_M_WRITE_TIME] = {"write_time", "ns", 1e9},
    [INTERFERENCE_M_READ_BYTES] = {"read_bytes", "B", 1},
    [INTERFERENCE_M_READ_CALLS] = {"read_calls", "", 1},
    [INTERFERENCE_M_READ_TIME] = {"read_time", "ns", 1e9},
    [INTERFERENCE_M_SYNC_TIME] = {"sync_time", "ns", 1e9},
};

/* A process. Some tools number processes from 0 on each node, so node and number identify it. */
struct rank {
    double node, number, bytes[2], first_s, last_s; /* bytes written, read */
    uint32_t series[INTERFERENCE_METRICS];
};

struct app {
    const char *name;
    struct rank *rank;
    size_t n, last;
    const struct interference_import_job *listed; /* its row in the table of jobs; NULL: none */
};

/* One run: its rows, which are neighbours, and the applications found in them. */
struct import_run {
    const struct interference_import *im;
    const struct interference_import_to *to;
    const struct interference_import_row *row;
    size_t n;
    WR_VEC(struct app) apps;
    double origin_s; /* on an edge of a slice */
};

static struct app *import_find_app(struct import_run *o, const char *name)
{
    for (size_t i = 0; i < o->apps.n; i++)
        if (!strcmp(o->apps.v[i].name, name))
            return &o->apps.v[i];
    return NULL;
}

static int import_by_name(const void *a, const void *b)
{
    return strcmp(((const struct app *)a)->name, ((const struct app *)b)->name);
}

static int import_by_node_rank(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Rows are sorted by time, then rank, so the search starts after the last hit. */
static struct rank *import_find_rank(struct app *a, const struct interference_import_row *row,
                                     bool add)
{
    double node = isnan(row->node) ? -1 : row->node;

    for (size_t i = 0; i < a->n; i++) {
        struct rank *k = &a->rank[(a->last + i) % a->n];

        if (k->number == row->rank && k->node == node) {
            a->last = (size_t)(k - a->rank) + 1;
            return k;
        }
    }
    if (!add)
        return NULL;
    a->rank = wr_realloc(a->rank, a->n + 1, sizeof *a->rank);
    a->rank[a->n] = (struct rank){.node = node, .number = row->rank, .first_s = row->t_s};
    return &a->rank[a->n++];
}

static void import_find_listed(struct import_run *o, struct app *a)
{
    for (size_t i = 0; i < o->im->jobs.n; i++)
        if (!strcmp(o->im->jobs.v[i].run, o->row->run) && !strcmp(o->im->jobs.v[i].app, a->name))
            a->listed = &o->im->jobs.v[i];
}

static void import_gather_apps(struct import_run *o)
{
    for (size_t i = 0; i < o->n; i++)
        if (!import_find_app(o, o->row[i].app))
            wr_vec_push(&o->apps, (struct app){.name = o->row[i].app});
    qsort(o->apps.v, o->apps.n, sizeof *o->apps.v, import_by_name);
    for (size_t i = 0; i < o->n; i++) {
        const struct interference_import_row *row = &o->row[i];
        struct rank *k = import_find_rank(import_find_app(o, row->app), row, true);

        k->last_s = row->t_s + o->im->slice_s;
        k->bytes[0] += fmax(row->metric[INTERFERENCE_M_WRITE_BYTES], 0);
        k->bytes[1] += fmax(row->metric[INTERFERENCE_M_READ_BYTES], 0);
    }
    for (size_t i = 0; i < o->apps.n; i++)
        qsort(o->apps.v[i].rank, o->apps.v[i].n, sizeof *o->apps.v[i].rank, import_by_node_rank);
    for (size_t i = 0; i < o->apps.n; i++)
        import_find_listed(o, &o->apps.v[i]);
}

/* Rows are sorted by time: the first slice is the origin. */
static void import_find_origin(struct import_run *o)
{
    double k = round(o->row[0].t_s / o->im->slice_s);

    o->origin_s = o->im->clocked ? k * o->im->slice_s : 0;
}

static int64_t import_to_ps(const struct import_run *o, double t_s)
{
    return (int64_t)llround((t_s - o->origin_s) / o->im->slice_s) *
           (int64_t)llround(o->im->slice_s * 1e9) * 1000;
}

static bool import_put_rank(struct run *run, const struct import_run *o, uint32_t app,
                            size_t number, const struct rank *k, double start_s, struct wr_err *err)
{
    struct run_rank row = run_rank_unknown(app, number);
    const struct app *a = &o->apps.v[app];

    row.node = k->node >= 0 ? (int64_t)k->node : RUN_NULL;
    row.bytes_written = (int64_t)k->bytes[0];
    row.bytes_read = (int64_t)k->bytes[1];
    if (a->listed && a->listed->runtime_s > 0)
        row.elapsed_ps = (int64_t)llround(a->listed->runtime_s * 1e12);
    else
        row.elapsed_ps = import_to_ps(o, k->last_s) - (int64_t)llround(start_s * 1e12);
    return run_put_rank(run, &row, err);
}

static bool import_put_app(struct run *run, const struct import_run *o, uint32_t number,
                           struct wr_err *err)
{
    const struct app *a = &o->apps.v[number];
    double first = INFINITY;
    bool ok = true;

    for (size_t r = 0; r < a->n; r++)
        first = fmin(first, a->rank[r].first_s);
    double start_s = (double)import_to_ps(o, first) / 1e12;

    /* The table of jobs has exact times; slices are rounded. */
    if (a->listed && !isnan(a->listed->start_s) &&
        fabs(a->listed->start_s - start_s) <= o->im->slice_s)
        start_s = a->listed->start_s;
    struct run_app app = {.app = number,
                          .name = a->name,
                          .ranks = a->n,
                          .start_ps = (int64_t)llround(start_s * 1e12)};

    for (size_t r = 0; ok && r < a->n; r++)
        ok = import_put_rank(run, o, number, r, &a->rank[r], start_s, err);
    return ok && run_put_app(run, &app, err);
}

static bool import_put_row(struct run *run, struct import_run *o,
                           const struct interference_import_row *row, struct wr_err *err)
{
    struct app *a = import_find_app(o, row->app);
    struct rank *k = import_find_rank(a, row, false);
    int64_t dt_ps = (int64_t)llround(o->im->slice_s * 1e9) * 1000;

    for (int m = 0; m < INTERFERENCE_METRICS; m++) {
        double v = row->metric[m];
        char entity[48];
        struct run_series s = {entity, metrics[m].name, metrics[m].unit, dt_ps};

        if (!(v > 0))
            continue;
        snprintf(entity, sizeof entity, "rank:%zu.%zu", (size_t)(a - o->apps.v),
                 (size_t)(k - a->rank));
        if (!k->series[m] && !run_open_series(run, &s, &k->series[m], err))
            return false;
        if (!run_put_slice(run, k->series[m], import_to_ps(o, row->t_s), dt_ps,
                           v * metrics[m].scale, err))
            return false;
    }
    return true;
}

static const char *import_mode(const struct import_run *o)
{
    for (size_t i = 0; i < o->apps.n; i++)
        if (o->apps.v[i].listed && *o->apps.v[i].listed->mode)
            return o->apps.v[i].listed->mode;
    return o->to->mode;
}

static bool import_put_all(struct run *run, struct import_run *o, struct wr_err *err)
{
    const char *mode = import_mode(o);

    for (uint32_t i = 0; i < o->apps.n; i++)
        if (!import_put_app(run, o, i, err))
            return false;
    if (mode && !run_put_text(run, "file_mode", mode, err))
        return false;
    if (o->im->clocked && !run_put_count(run, "epoch_ns",
                                         (uint64_t)llround(o->origin_s / o->im->slice_s) *
                                             (uint64_t)llround(o->im->slice_s * 1e9),
                                         "ns", err))
        return false;
    for (size_t i = 0; i < o->n; i++)
        if (!import_put_row(run, o, &o->row[i], err))
            return false;
    return true;
}

static bool import_write_run(struct import_run *o, const char *path, struct wr_err *err)
{
    struct run_meta meta = {
        .kind = "import", .command = o->to->command, .force = o->to->force, .whole = true};
    struct run *run;

    import_gather_apps(o);
    import_find_origin(o);
    bool ok = run_create(&run, path, &meta, err);

    if (ok && !import_put_all(run, o, err)) {
        run_abandon(run);
        ok = false;
    } else if (ok) {
        ok = run_finish(run, RUN_COMPLETE, NULL, err);
    }
    for (size_t i = 0; i < o->apps.n; i++)
        free(o->apps.v[i].rank);
    wr_vec_fini(&o->apps);
    return ok;
}

static bool import_write_runs(const struct interference_import *im,
                              const struct interference_import_to *to, size_t *ret_n,
                              struct wr_err *err)
{
    WR_VEC(char *) made = {0};
    bool ok = true;

    for (size_t i = 0, k; ok && i < im->rows.n; i = k) {
        struct import_run o = {.im = im, .to = to, .row = &im->rows.v[i]};
        struct wr_str path = {0};

        for (k = i; k < im->rows.n && !strcmp(im->rows.v[k].run, o.row->run); k++)
            o.n++;
        if (im->has_runs && to->only && fnmatch(to->only, o.row->run, 0))
            continue;
        wr_str_add(&path, to->path);
        if (im->has_runs)
            wr_str_addf(&path, "/%s.weir", o.row->run);
        ok = import_write_run(&o, wr_str_get(&path), err);
        if (ok)
            wr_vec_push(&made, path.s);
        else
            wr_str_fini(&path);
    }
    *ret_n = made.n;
    for (size_t i = 0; i < made.n; i++) {
        if (!ok)
            unlink(made.v[i]);
        free(made.v[i]);
    }
    wr_vec_fini(&made);
    return ok;
}

bool interference_import_write(const struct interference_import *im,
                               const struct interference_import_to *to, size_t *ret_n,
                               struct wr_err *err)
{
    static const struct wr_format *const marks[] = {&run_format, NULL};
    bool made = false;
    size_t n;

    if (to->only && !im->has_runs)
        return wr_fail(err, WR_INPUT,
                       "only: the table has no column run to choose from; leave it out");
    if (im->has_runs && !wr_output_dir(to->path, marks, to->force, &made, err))
        return false;
    bool ok = import_write_runs(im, to, &n, err);

    if (ok && !n)
        ok = wr_fail(err, WR_INPUT, "no run is called like \"%s\"; give another pattern", to->only);
    if (!ok && made)
        rmdir(to->path);
    if (ok)
        *ret_n = n;
    return ok;
}
