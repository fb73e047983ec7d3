/* import_write.c -- imported rows as run files. */
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
#include "inter/import.h"
#include "run/run.h"

static const struct {
    const char *name, *unit;
    double scale;
} metrics[INTER_METRICS] = {
    [INTER_M_WRITE_BYTES] = {"write_bytes", "B", 1},
    [INTER_M_WRITE_CALLS] = {"write_calls", "", 1},
    [INTER_M_WRITE_TIME] = {"write_time", "ns", 1e9},
    [INTER_M_READ_BYTES] = {"read_bytes", "B", 1},
    [INTER_M_READ_CALLS] = {"read_calls", "", 1},
    [INTER_M_READ_TIME] = {"read_time", "ns", 1e9},
    [INTER_M_SYNC_TIME] = {"sync_time", "ns", 1e9},
};

/* Some tools number processes from 0 on each node: one is known by both. */
struct rank {
    double node, number, bytes[2], first_s, last_s; /* bytes written, read */
    uint32_t series[INTER_METRICS];
};

struct app {
    const char *name;
    struct rank *rank;
    size_t n, last;
    const struct inter_import_job *told;
};

/* The rows of one run, which lie together. */
struct one {
    const struct inter_import *im;
    const struct inter_import_to *to;
    const struct inter_import_row *row;
    size_t n;
    WR_VEC(struct app) apps;
    double origin_s; /* on an edge of a slice */
};

static struct app *app_of(struct one *o, const char *name)
{
    for (size_t i = 0; i < o->apps.n; i++)
        if (!strcmp(o->apps.v[i].name, name))
            return &o->apps.v[i];
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct app *)a)->name, ((const struct app *)b)->name);
}

static int by_place(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Rows of neighbours in time come in the order of processes: the search begins behind the last. */
static struct rank *rank_of(struct app *a, const struct inter_import_row *row, bool add)
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

static void find_told(struct one *o, struct app *a)
{
    for (size_t i = 0; i < o->im->jobs.n; i++)
        if (!strcmp(o->im->jobs.v[i].run, o->row->run) && !strcmp(o->im->jobs.v[i].app, a->name))
            a->told = &o->im->jobs.v[i];
}

static void gather_apps(struct one *o)
{
    for (size_t i = 0; i < o->n; i++)
        if (!app_of(o, o->row[i].app))
            wr_vec_push(&o->apps, (struct app){.name = o->row[i].app});
    qsort(o->apps.v, o->apps.n, sizeof *o->apps.v, by_name);
    for (size_t i = 0; i < o->n; i++) {
        const struct inter_import_row *row = &o->row[i];
        struct rank *k = rank_of(app_of(o, row->app), row, true);

        k->last_s = row->t_s + o->im->slice_s;
        k->bytes[0] += fmax(row->metric[INTER_M_WRITE_BYTES], 0);
        k->bytes[1] += fmax(row->metric[INTER_M_READ_BYTES], 0);
    }
    for (size_t i = 0; i < o->apps.n; i++)
        qsort(o->apps.v[i].rank, o->apps.v[i].n, sizeof *o->apps.v[i].rank, by_place);
    for (size_t i = 0; i < o->apps.n; i++)
        find_told(o, &o->apps.v[i]);
}

/* Where the first slice begins; rows are in order of time. */
static void find_origin(struct one *o)
{
    double k = round(o->row[0].t_s / o->im->slice_s);

    o->origin_s = o->im->clocked ? k * o->im->slice_s : 0;
}

static int64_t to_ps(const struct one *o, double t_s)
{
    return (int64_t)llround((t_s - o->origin_s) / o->im->slice_s) *
           (int64_t)llround(o->im->slice_s * 1e9) * 1000;
}

static bool put_rank(struct run *run, const struct one *o, uint32_t app, size_t number,
                     const struct rank *k, double start_s, struct wr_err *err)
{
    struct run_rank row = run_rank_unknown(app, number);
    const struct app *a = &o->apps.v[app];

    row.node = k->node >= 0 ? (int64_t)k->node : RUN_NULL;
    row.bytes_written = (int64_t)k->bytes[0];
    row.bytes_read = (int64_t)k->bytes[1];
    if (a->told && a->told->runtime_s > 0)
        row.elapsed_ps = (int64_t)llround(a->told->runtime_s * 1e12);
    else
        row.elapsed_ps = to_ps(o, k->last_s) - (int64_t)llround(start_s * 1e12);
    return run_put_rank(run, &row, err);
}

static bool put_app(struct run *run, const struct one *o, uint32_t number, struct wr_err *err)
{
    const struct app *a = &o->apps.v[number];
    double first = INFINITY;
    bool ok = true;

    for (size_t r = 0; r < a->n; r++)
        first = fmin(first, a->rank[r].first_s);
    double start_s = (double)to_ps(o, first) / 1e12;

    /* A table of jobs is exact where slices are not. */
    if (a->told && !isnan(a->told->start_s) && fabs(a->told->start_s - start_s) <= o->im->slice_s)
        start_s = a->told->start_s;
    struct run_app app = {.app = number,
                          .name = a->name,
                          .ranks = a->n,
                          .start_ps = (int64_t)llround(start_s * 1e12)};

    for (size_t r = 0; ok && r < a->n; r++)
        ok = put_rank(run, o, number, r, &a->rank[r], start_s, err);
    return ok && run_put_app(run, &app, err);
}

static bool put_row(struct run *run, struct one *o, const struct inter_import_row *row,
                    struct wr_err *err)
{
    struct app *a = app_of(o, row->app);
    struct rank *k = rank_of(a, row, false);
    int64_t dt_ps = (int64_t)llround(o->im->slice_s * 1e9) * 1000;

    for (int m = 0; m < INTER_METRICS; m++) {
        double v = row->metric[m];
        char entity[48];
        struct run_series s = {entity, metrics[m].name, metrics[m].unit, dt_ps};

        if (!(v > 0))
            continue;
        snprintf(entity, sizeof entity, "rank:%zu.%zu", (size_t)(a - o->apps.v),
                 (size_t)(k - a->rank));
        if (!k->series[m] && !run_open_series(run, &s, &k->series[m], err))
            return false;
        if (!run_put_slice(run, k->series[m], to_ps(o, row->t_s), dt_ps, v * metrics[m].scale, err))
            return false;
    }
    return true;
}

static const char *mode_of(const struct one *o)
{
    for (size_t i = 0; i < o->apps.n; i++)
        if (o->apps.v[i].told && *o->apps.v[i].told->mode)
            return o->apps.v[i].told->mode;
    return o->to->mode;
}

static bool put_all(struct run *run, struct one *o, struct wr_err *err)
{
    const char *mode = mode_of(o);

    for (uint32_t i = 0; i < o->apps.n; i++)
        if (!put_app(run, o, i, err))
            return false;
    if (mode && !run_put_text(run, "file_mode", mode, err))
        return false;
    if (o->im->clocked && !run_put_count(run, "epoch_ns",
                                         (uint64_t)llround(o->origin_s / o->im->slice_s) *
                                             (uint64_t)llround(o->im->slice_s * 1e9),
                                         "ns", err))
        return false;
    for (size_t i = 0; i < o->n; i++)
        if (!put_row(run, o, &o->row[i], err))
            return false;
    return true;
}

static bool write_one(struct one *o, const char *path, struct wr_err *err)
{
    struct run_meta meta = {
        .kind = "import", .command = o->to->command, .force = o->to->force, .whole = true};
    struct run *run;

    gather_apps(o);
    find_origin(o);
    bool ok = run_create(&run, path, &meta, err);

    if (ok && !put_all(run, o, err)) {
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

static bool write_runs(const struct inter_import *im, const struct inter_import_to *to,
                       size_t *ret_n, struct wr_err *err)
{
    WR_VEC(char *) made = {0};
    bool ok = true;

    for (size_t i = 0, k; ok && i < im->rows.n; i = k) {
        struct one o = {.im = im, .to = to, .row = &im->rows.v[i]};
        struct wr_str path = {0};

        for (k = i; k < im->rows.n && !strcmp(im->rows.v[k].run, o.row->run); k++)
            o.n++;
        if (im->has_runs && to->only && fnmatch(to->only, o.row->run, 0))
            continue;
        wr_str_add(&path, to->path);
        if (im->has_runs)
            wr_str_addf(&path, "/%s.weir", o.row->run);
        ok = write_one(&o, wr_str_get(&path), err);
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

bool inter_import_write(const struct inter_import *im, const struct inter_import_to *to,
                        size_t *ret_n, struct wr_err *err)
{
    static const struct wr_format *const marks[] = {&run_format, NULL};
    bool made = false;
    size_t n;

    if (to->only && !im->has_runs)
        return wr_fail(err, WR_INPUT,
                       "the table has no column run, so nothing can be chosen by "
                       "--only; leave it out");
    if (im->has_runs && !wr_output_dir(to->path, marks, to->force, &made, err))
        return false;
    bool ok = write_runs(im, to, &n, err);

    if (ok && !n)
        ok = wr_fail(err, WR_INPUT, "no run is called like \"%s\"; give another pattern", to->only);
    if (!ok && made)
        rmdir(to->path);
    if (ok)
        *ret_n = n;
    return ok;
}
