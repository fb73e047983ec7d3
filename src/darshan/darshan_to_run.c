/* darshan_to_run.c -- writes the phases of a log as a run file.
 *
 * The slices are made from the phases, so that both say the same: a phase's bytes, calls and time
 * lie evenly over its interval, and what rounding leaves goes to the next slice. The grid of all
 * slices is held in memory; its size is limited by taking longer slices, and by leaving out the
 * ranks' when there are too many.
 */
#include "darshan/darshan_to_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "darshan/darshan_phases.h"

enum {
    AS_RUN_FIRST_NS = 15625000, /* as slices of profiles: 64 and more, each twice the last */
    AS_RUN_SLICES = 128,
    AS_RUN_LONGEST = 1 << 8, /* times the first: 4 s */
    AS_RUN_MOST_SLICES = 20000,
    AS_RUN_MOST_CELLS = 1 << 20,
    AS_RUN_MOST_FILES = 64,
};

enum as_run_metric {
    AS_RUN_READ_BYTES,
    AS_RUN_WRITE_BYTES,
    AS_RUN_READ_CALLS,
    AS_RUN_WRITE_CALLS,
    AS_RUN_OPEN_CALLS,
    AS_RUN_SYNC_CALLS,
    AS_RUN_READ_TIME,
    AS_RUN_WRITE_TIME,
    AS_RUN_OPEN_TIME,
    AS_RUN_MPIIO_TIME,
    AS_RUN_METRICS,
};

static const struct {
    const char *name, *unit;
} as_run_metrics[AS_RUN_METRICS] = {
    {"read_bytes", "B"}, {"write_bytes", "B"}, {"read_calls", ""},  {"write_calls", ""},
    {"open_calls", ""},  {"sync_calls", ""},   {"read_time", "ns"}, {"write_time", "ns"},
    {"open_time", "ns"}, {"mpiio_time", "ns"},
};

/* By operation: the metrics of calls, bytes and time; AS_RUN_METRICS: none. */
static const uint8_t as_run_of[DARSHAN_OPS][3] = {
    [DARSHAN_READ] = {AS_RUN_READ_CALLS, AS_RUN_READ_BYTES, AS_RUN_READ_TIME},
    [DARSHAN_WRITE] = {AS_RUN_WRITE_CALLS, AS_RUN_WRITE_BYTES, AS_RUN_WRITE_TIME},
    [DARSHAN_OPEN] = {AS_RUN_OPEN_CALLS, AS_RUN_METRICS, AS_RUN_OPEN_TIME},
    [DARSHAN_SYNC] = {AS_RUN_SYNC_CALLS, AS_RUN_METRICS, AS_RUN_METRICS},
    [DARSHAN_IN_MPIIO] = {AS_RUN_METRICS, AS_RUN_METRICS, AS_RUN_MPIIO_TIME},
    [DARSHAN_BARRIER] = {AS_RUN_METRICS, AS_RUN_METRICS, AS_RUN_METRICS},
};

static const char *const as_run_ops[DARSHAN_OPS] = {"read", "write", "open",
                                                    "sync", "mpiio", "barrier"};
static const char *const as_run_sources[DARSHAN_SOURCES] = {"measured", "binned", "spread"};

/* Entities: the job, its ranks (or none of them), mounts, files. */
struct as_run_grid {
    const struct darshan_phases *p;
    int64_t slice_ps, start_ps; /* start of the job in the run file */
    int64_t origin_ns;          /* since 1970, on an edge of a slice */
    size_t nslices, nranks, nmounts, nfiles, nentities;
    uint32_t *file_entity; /* by file: its own entity, 0: none */
    uint32_t *file_mount;  /* by file: the entity of its mount */
    const char **entity;   /* names; ranks have none */
    double *cell;          /* [slice][entity][metric] */
};

/* ---- the grid ---- */

static void as_run_choose_slices(struct as_run_grid *g, const struct darshan_log *log,
                                 int64_t slice_ns)
{
    double run_ns = (double)g->p->end_ps / 1000;

    if (!slice_ns) {
        slice_ns = AS_RUN_FIRST_NS;
        while (run_ns > (double)slice_ns * AS_RUN_SLICES &&
               slice_ns < (int64_t)AS_RUN_FIRST_NS * AS_RUN_LONGEST)
            slice_ns *= 2;
    }
    while (run_ns / (double)slice_ns > AS_RUN_MOST_SLICES)
        slice_ns *= 2;
    g->slice_ps = slice_ns * 1000;
    g->origin_ns = log->start_ns / slice_ns * slice_ns;
    g->start_ps = (log->start_ns - g->origin_ns) * 1000;
    g->nslices = (size_t)((g->start_ps + g->p->end_ps) / g->slice_ps) + 1;
}

struct as_run_use {
    uint32_t file;
    uint64_t bytes;
};

static int as_run_by_bytes(const void *a, const void *b)
{
    const struct as_run_use *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->file < y->file ? -1 : x->file > y->file;
}

static const char *as_run_file_name(struct wr_arena *arena, const struct darshan_file *f)
{
    return f->name ? wr_arena_printf(arena, "file:%s", f->name)
                   : wr_arena_printf(arena, "file:%llu", (unsigned long long)f->id);
}

/* Mounts, and the files that moved most, get series. */
static void as_run_choose_entities(struct as_run_grid *g, const struct darshan_log *log,
                                   struct wr_arena *arena)
{
    const struct darshan_phases *p = g->p;
    struct as_run_use *use = wr_zalloc(p->files.n + 1, sizeof *use);
    size_t at = 1 + g->nranks;

    g->entity = wr_zalloc(at + log->mounts.n + 1 + AS_RUN_MOST_FILES, sizeof *g->entity);
    g->file_entity = wr_zalloc(p->files.n + 1, sizeof *g->file_entity);
    g->file_mount = wr_zalloc(p->files.n + 1, sizeof *g->file_mount);
    for (size_t i = 0; i < log->mounts.n; i++)
        g->entity[at + i] = wr_arena_printf(arena, "mount:%s", log->mounts.v[i].path);
    g->entity[at + log->mounts.n] = "mount:unknown";
    g->nmounts = log->mounts.n + 1;
    for (size_t i = 0; i < p->files.n; i++) {
        const struct darshan_mount *m = darshan_mount(log, p->files.v[i].name);

        use[i].file = (uint32_t)i;
        g->file_mount[i] = (uint32_t)(at + (m ? (size_t)(m - log->mounts.v) : log->mounts.n));
    }
    at += g->nmounts;
    for (size_t i = 0; i < p->list.n; i++)
        use[p->list.v[i].file].bytes += p->list.v[i].bytes;
    qsort(use, p->files.n, sizeof *use, as_run_by_bytes);
    for (size_t i = 0; i < p->files.n && i < AS_RUN_MOST_FILES && use[i].bytes; i++) {
        g->file_entity[use[i].file] = (uint32_t)(at + g->nfiles);
        g->entity[at + g->nfiles++] = as_run_file_name(arena, &p->files.v[use[i].file]);
    }
    g->nentities = at + g->nfiles;
    free(use);
}

static void as_run_add(struct as_run_grid *g, size_t slice, const struct darshan_phase *p,
                       unsigned metric, double v)
{
    size_t own[4] = {0, g->nranks ? 1 + p->rank : 0, g->file_mount[p->file],
                     g->file_entity[p->file]};
    double *row = g->cell + slice * g->nentities * AS_RUN_METRICS;

    if (metric == AS_RUN_METRICS || v == 0)
        return;
    for (int i = 0; i < 4; i++)
        if (!i || own[i])
            row[own[i] * AS_RUN_METRICS + metric] += v;
}

/* Over all slices that its interval touches. */
static void as_run_add_phase(struct as_run_grid *g, const struct darshan_phase *p)
{
    int64_t from = g->start_ps + p->t_ps, to = from + p->dt_ps;
    size_t last = (size_t)(to / g->slice_ps), slice = (size_t)(from / g->slice_ps);
    uint64_t whole[3] = {p->n, p->bytes, (uint64_t)p->io_ps / 1000}, done[3] = {0};

    last = last < g->nslices ? last : g->nslices - 1;
    slice = slice < last ? slice : last;
    for (; slice <= last; slice++) {
        int64_t edge = (int64_t)(slice + 1) * g->slice_ps;
        double part = slice == last || p->dt_ps == 0 ? 1 : (double)(edge - from) / (double)p->dt_ps;

        for (int i = 0; i < 3; i++) {
            uint64_t until = part < 1 ? (uint64_t)((double)whole[i] * part) : whole[i];

            until = until < done[i] ? done[i] : until > whole[i] ? whole[i] : until;
            as_run_add(g, slice, p, as_run_of[p->op][i], (double)(until - done[i]));
            done[i] = until;
        }
    }
}

static void as_run_fill_grid(struct as_run_grid *g)
{
    g->cell = wr_zalloc(g->nslices * g->nentities, AS_RUN_METRICS * sizeof *g->cell);
    for (size_t i = 0; i < g->p->list.n; i++)
        as_run_add_phase(g, &g->p->list.v[i]);
}

static void as_run_grid_fini(struct as_run_grid *g)
{
    free(g->file_entity);
    free(g->file_mount);
    free(g->entity);
    free(g->cell);
}

/* ---- the run file ---- */

static bool as_run_put_slices(struct run *run, const struct as_run_grid *g, struct wr_err *err)
{
    uint32_t *series = wr_zalloc(g->nentities, AS_RUN_METRICS * sizeof *series);
    bool ok = true;

    for (size_t s = 0; ok && s < g->nslices; s++)
        for (size_t e = 0; ok && e < g->nentities * AS_RUN_METRICS; e++) {
            double v = g->cell[s * g->nentities * AS_RUN_METRICS + e];
            size_t who = e / AS_RUN_METRICS, m = e % AS_RUN_METRICS;
            char rank[32];

            if (v == 0)
                continue;
            snprintf(rank, sizeof rank, who ? "rank:0.%zu" : "app:%zu", who ? who - 1 : 0);
            struct run_series what = {who > g->nranks ? g->entity[who] : rank,
                                      as_run_metrics[m].name, as_run_metrics[m].unit, g->slice_ps};

            if (!series[e]) {
                ok = run_open_series(run, &what, &series[e], err);
                series[e]++; /* 0: none yet */
            }
            ok = ok &&
                 run_put_slice(run, series[e] - 1, (int64_t)s * g->slice_ps, g->slice_ps, v, err);
        }
    free(series);
    return ok;
}

static bool as_run_put_phases(struct run *run, const struct darshan_phases *p,
                              struct wr_arena *arena, struct wr_err *err)
{
    const char **name = wr_zalloc(p->files.n + 1, sizeof *name);
    uint64_t seq = 0;
    bool ok = true;

    for (size_t i = 0; i < p->files.n; i++)
        name[i] = as_run_file_name(arena, &p->files.v[i]);
    for (size_t i = 0; ok && i < p->list.n; i++) {
        const struct darshan_phase *x = &p->list.v[i];

        seq = i && x->rank == x[-1].rank ? seq + 1 : 0;
        struct run_io_phase row = {.rank = x->rank,
                                   .seq = seq,
                                   .op = as_run_ops[x->op],
                                   .entity = name[x->file],
                                   .source = as_run_sources[x->source],
                                   .t_ps = x->t_ps,
                                   .dt_ps = x->dt_ps,
                                   .offset_b = x->offset < 0 ? RUN_NULL : x->offset,
                                   .bytes = (int64_t)(x->bytes & INT64_MAX),
                                   .n = (int64_t)(x->n & INT64_MAX),
                                   .io_ps = x->io_ps};

        ok = run_put_io_phase(run, &row, err);
    }
    free(name);
    return ok;
}

static void as_run_name(const struct darshan_log *log, char *name, size_t size)
{
    size_t n = strcspn(log->exe, " \t");
    const char *slash = memrchr(log->exe, '/', n), *from = slash ? slash + 1 : log->exe;

    n -= (size_t)(from - log->exe);
    snprintf(name, size, "%.*s", (int)(n < size ? n : size - 1), from);
    if (!*name)
        snprintf(name, size, "job");
}

static bool as_run_put_app(struct run *run, const struct darshan_log *log,
                           const struct as_run_grid *g, struct wr_err *err)
{
    char name[256];
    struct run_app app = {.name = name,
                          .ranks = g->p->ranks,
                          .start_ps = g->start_ps,
                          .workload = *log->exe ? log->exe : NULL};

    as_run_name(log, name, sizeof name);
    return run_put_app(run, &app, err);
}

/* One rank's phases, added up: a line of rank_stat and one of process. */
static bool as_run_put_rank(struct run *run, const struct as_run_grid *g, const char *name,
                            const char *host, uint32_t rank, const struct darshan_phase *x,
                            size_t n, struct wr_err *err)
{
    struct run_rank r = run_rank_unknown(0, rank);
    struct run_process p = {.rank = rank,
                            .host = host,
                            .command = name,
                            .counted_by = "darshan",
                            .pid = RUN_NULL,
                            .ppid = RUN_NULL,
                            .threads = RUN_NULL,
                            .start_ps = g->start_ps,
                            .end_ps = g->start_ps + g->p->end_ps,
                            .io_start_ps = RUN_NULL,
                            .io_end_ps = RUN_NULL,
                            .kernel_read = RUN_NULL,
                            .kernel_written = RUN_NULL,
                            .start_read = RUN_NULL,
                            .unexplained_read = RUN_NULL,
                            .unexplained_written = RUN_NULL,
                            .booked_read = RUN_NULL,
                            .booked_written = RUN_NULL,
                            .images = RUN_NULL,
                            .mpi_rank = g->p->ranks > 1 ? rank : RUN_NULL};

    r.elapsed_ps = g->p->end_ps;
    r.bytes_read = r.bytes_written = r.io_ps = 0;
    for (size_t i = 0; i < n; i++, x++) {
        int64_t from = g->start_ps + x->t_ps, to = from + x->dt_ps;

        r.io_ps += x->op <= DARSHAN_SYNC ? x->io_ps : 0;
        if (x->op > DARSHAN_WRITE)
            continue;
        *(x->op ? &r.bytes_written : &r.bytes_read) += (int64_t)x->bytes;
        if (p.io_start_ps == RUN_NULL)
            p.io_start_ps = from; /* phases are sorted by time */
        p.io_end_ps = to > p.io_end_ps ? to : p.io_end_ps;
    }
    p.library_read = r.bytes_read;
    p.library_written = r.bytes_written;
    return run_put_rank(run, &r, err) && run_put_process(run, &p, err);
}

/* Phases are sorted by rank. */
static bool as_run_put_ranks(struct run *run, const struct darshan_log *log,
                             const struct as_run_grid *g, struct wr_err *err)
{
    const struct darshan_phases *p = g->p;
    const char **host = wr_zalloc(p->ranks, sizeof *host);
    size_t from = 0, to = 0;
    char name[256];
    bool ok = true;

    as_run_name(log, name, sizeof name);
    for (size_t i = 0; i < log->traces.n; i++)
        if (log->traces.v[i].rank >= 0 && log->traces.v[i].rank < p->ranks)
            host[log->traces.v[i].rank] = log->traces.v[i].host;
    for (uint32_t i = 0; ok && i < p->ranks; i++, from = to) {
        while (to < p->list.n && p->list.v[to].rank == i)
            to++;
        ok = as_run_put_rank(run, g, name, host[i] ? host[i] : "", i, p->list.v + from, to - from,
                             err);
    }
    free(host);
    return ok;
}

static bool as_run_put_sizes(struct run *run, const struct darshan_phases *p, struct wr_err *err)
{
    bool ok = true;

    for (int op = 0; op < 2; op++)
        for (int i = 0; ok && i < DARSHAN_SIZES; i++) {
            struct run_access a = {
                .op = as_run_ops[op],
                .low_b = (int64_t)darshan_size_low[i],
                .high_b = i + 1 < DARSHAN_SIZES ? (int64_t)darshan_size_low[i + 1] : RUN_NULL,
                .calls = (int64_t)(p->sizes[op][i] & INT64_MAX)};

            ok = !a.calls || run_put_access(run, &a, err);
        }
    return ok;
}

/* From the first read or write to the end of the last. */
static uint64_t as_run_io_phase_ns(const struct darshan_phases *p)
{
    int64_t from = INT64_MAX, to = 0;

    for (size_t i = 0; i < p->list.n; i++) {
        const struct darshan_phase *x = &p->list.v[i];

        if (x->op > DARSHAN_WRITE)
            continue;
        from = x->t_ps < from ? x->t_ps : from;
        to = x->t_ps + x->dt_ps > to ? x->t_ps + x->dt_ps : to;
    }
    return to > from ? (uint64_t)(to - from) / 1000 : 0;
}

static const char *as_run_order(const struct darshan_phases *p)
{
    uint64_t all = p->by_source[0] + p->by_source[1] + p->by_source[2];

    if (!all || p->by_source[DARSHAN_MEASURED] == all)
        return "measured";
    return p->by_source[DARSHAN_MEASURED] ? "measured in part" : "assumed";
}

static bool as_run_put_summary(struct run *run, const struct darshan_log *log,
                               const struct as_run_grid *g, struct wr_err *err)
{
    const struct darshan_phases *p = g->p;
    bool ok = run_put_count(run, "epoch_ns", (uint64_t)g->origin_ns, "ns", err) &&
              run_put_count(run, "slice_ns", (uint64_t)g->slice_ps / 1000, "ns", err) &&
              run_put_text(run, "darshan_version", log->version, err) &&
              run_put_text(run, "order", as_run_order(p), err) &&
              run_put_count(run, "requests_measured", p->by_source[DARSHAN_MEASURED], "", err) &&
              run_put_count(run, "requests_binned", p->by_source[DARSHAN_BINNED], "", err) &&
              run_put_count(run, "requests_spread", p->by_source[DARSHAN_SPREAD], "", err) &&
              run_put_text(run, "file_mode", p->shared_writes ? "shared" : "private", err) &&
              run_put_count(run, "processes", p->ranks, "", err) &&
              run_put_count(run, "files", p->files.n, "", err);

    for (int op = 0; ok && op <= DARSHAN_SYNC; op++) {
        char key[32];

        snprintf(key, sizeof key, "%s_calls", as_run_ops[op]);
        ok = run_put_count(run, key, p->n[op], "", err);
    }
    return ok && run_put_count(run, "meta_calls", p->metas, "", err) &&
           run_put_count(run, "read_bytes", p->bytes[DARSHAN_READ], "B", err) &&
           run_put_count(run, "write_bytes", p->bytes[DARSHAN_WRITE], "B", err) &&
           run_put_count(run, "read_time", (uint64_t)(p->time_s[DARSHAN_READ] * 1e9), "ns", err) &&
           run_put_count(run, "write_time", (uint64_t)(p->time_s[DARSHAN_WRITE] * 1e9), "ns",
                         err) &&
           run_put_count(run, "life_ns", (uint64_t)p->end_ps / 1000, "ns", err) &&
           run_put_count(run, "io_phase_ns", as_run_io_phase_ns(p), "ns", err);
}

static void as_run_note(const struct darshan_log *log, const struct as_run_grid *g,
                        struct wr_str *notes)
{
    const struct darshan_phases *p = g->p;

    if (p->by_source[DARSHAN_BINNED])
        wr_str_addf(notes,
                    "%s: %llu requests are placed in the bins of the heatmap that have bytes; "
                    "their order within one is assumed\n",
                    log->path, (unsigned long long)p->by_source[DARSHAN_BINNED]);
    if (p->by_source[DARSHAN_SPREAD])
        wr_str_addf(notes,
                    "%s: %llu requests are spread evenly from a record's first to its last; the "
                    "log has only counters of them\n",
                    log->path, (unsigned long long)p->by_source[DARSHAN_SPREAD]);
    if (p->fewer)
        wr_str_addf(notes,
                    "%s: files that all %u ranks used are given to fewer ranks each, because there "
                    "are too many\n",
                    log->path, p->ranks);
    if (!g->nranks)
        wr_str_addf(notes, "%s: %u ranks are too many for slices of each; the job has them\n",
                    log->path, p->ranks);
}

static bool as_run_write(const struct darshan_log *log, struct as_run_grid *g, const char *path,
                         const struct darshan_to_run_how *how, struct wr_arena *arena,
                         struct wr_err *err)
{
    struct run_meta meta = {
        .kind = "darshan", .command = how->command, .force = how->force, .whole = true};
    struct run *run;

    if (!run_create(&run, path, &meta, err))
        return false;
    bool ok = as_run_put_summary(run, log, g, err) && as_run_put_app(run, log, g, err) &&
              as_run_put_ranks(run, log, g, err) && as_run_put_phases(run, g->p, arena, err) &&
              as_run_put_sizes(run, g->p, err) && as_run_put_slices(run, g, err);

    if (!ok) {
        run_abandon(run);
        return false;
    }
    return run_finish(run, RUN_COMPLETE, NULL, err);
}

bool darshan_to_run(const struct darshan_log *log, const char *path,
                    const struct darshan_to_run_how *how, struct wr_str *ret_notes,
                    struct wr_err *err)
{
    struct darshan_phases phases;
    struct wr_arena arena = {0};

    if (!darshan_phases_make(&phases, log, err))
        return false;
    struct as_run_grid g = {.p = &phases};

    as_run_choose_slices(&g, log, how->slice_ns);
    g.nranks = (double)g.nslices * phases.ranks <= AS_RUN_MOST_CELLS ? phases.ranks : 0;
    as_run_choose_entities(&g, log, &arena);
    as_run_fill_grid(&g);
    as_run_note(log, &g, ret_notes);
    bool ok = as_run_write(log, &g, path, how, &arena, err);

    as_run_grid_fini(&g);
    darshan_phases_fini(&phases);
    wr_arena_fini(&arena);
    return ok;
}
