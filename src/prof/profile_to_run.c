/* profile_to_run.c -- writes a job's profiles as a run file: processes, slices, uses, summary.
 *
 * Only converts units and names; all sums are made in read/profile_job.c. Called by `weir profile`
 * after the job.
 */
#include "prof/profile_to_run.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int64_t to_run_ps(int64_t ns)
{
    return ns * 1000;
}

static const char *to_run_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The index of the process's machine, in order of appearance. */
static int64_t to_run_node(const struct prof_job *j, const struct prof_proc *p)
{
    int64_t node = 0;

    for (size_t i = 0; i < j->procs.n; i++) {
        const char *host = j->procs.v[i].head->host;
        bool first = true;

        if (!strcmp(host, p->head->host))
            return node;
        for (size_t k = 0; k < i && first; k++)
            first = strcmp(j->procs.v[k].head->host, host) != 0;
        node += first;
    }
    return node;
}

static double to_run_storage_time(const double *total)
{
    double sum = 0;

    for (int op = 0; op < PROF_OPS; op++)
        sum += total[PROF_TIME + op];
    return sum;
}

static bool to_run_put_ranks(struct run *run, const struct prof_job *j, struct wr_err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < j->procs.n; i++) {
        const struct prof_proc *p = &j->procs.v[i];
        const double *total = j->entities.v[p->entity].total;
        struct run_rank r = run_rank_unknown(p->app, p->rank);

        r.node = to_run_node(j, p);
        r.elapsed_ps = p->end_ns > p->start_ns ? to_run_ps(p->end_ns - p->start_ns) : RUN_NULL;
        r.io_ps = p->kernel ? RUN_NULL : (int64_t)(to_run_storage_time(total) * 1000);
        r.bytes_read = (int64_t)total[PROF_W_read_bytes];
        r.bytes_written = (int64_t)total[PROF_W_write_bytes];
        ok = run_put_rank(run, &r, err);
    }
    return ok;
}

static bool to_run_put_apps(struct run *run, const struct prof_job *j, struct wr_err *err)
{
    bool ok = true;

    for (size_t a = 0; ok && a < j->apps.n; a++) {
        const struct prof_app *app = &j->apps.v[a];
        const char *workload = "";

        for (size_t i = 0; i < j->procs.n && !*workload; i++)
            if (j->procs.v[i].app == a)
                workload = j->procs.v[i].head->exe;
        struct run_app r = {.app = (uint32_t)a,
                            .name = *app->name ? app->name : to_run_base_name(workload),
                            .ranks = app->ranks,
                            .start_ps = to_run_ps(app->start_ns - j->origin_ns),
                            .workload = *workload ? workload : NULL};

        ok = run_put_app(run, &r, err);
    }
    return ok;
}

static bool to_run_put_slices(struct run *run, const struct prof_job *j, struct wr_err *err)
{
    assert(j->slice_ns > 0 && j->origin_ns >= 0);
    int64_t dt = to_run_ps((int64_t)j->slice_ns);
    uint32_t(*id)[PROF_METRICS] = wr_zalloc(j->entities.n, sizeof *id);
    bool ok = true;

    for (size_t i = 0; ok && i < j->cells.n; i++) {
        const struct prof_cell *c = &j->cells.v[i];

        for (unsigned m = 0; ok && m < PROF_METRICS; m++) {
            uint32_t *series = &id[c->entity][m];

            if (c->value[m] == 0)
                continue;
            if (!*series) {
                struct run_series s = {j->entities.v[c->entity].name, prof_metric_name(j, m),
                                       prof_metric_unit(m), dt};

                ok = run_open_series(run, &s, series, err);
                ++*series; /* 0 means none yet */
            }
            ok =
                ok && run_put_slice(run, *series - 1, (int64_t)c->slice * dt, dt, c->value[m], err);
        }
    }
    free(id);
    return ok;
}

static int64_t to_run_since(const struct prof_job *j, int64_t ns)
{
    return ns ? to_run_ps(ns - j->origin_ns) : RUN_NULL;
}

/* The process of each rank, and its bytes by the counter that saw them. */
static bool to_run_put_processes(struct run *run, const struct prof_job *j, struct wr_err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < j->procs.n; i++) {
        const struct prof_proc *p = &j->procs.v[i];
        const struct prof_balance *b = &p->balance;
        struct run_process r = {.app = p->app,
                                .rank = p->rank,
                                .host = p->head->host,
                                .command = to_run_base_name(p->head->exe),
                                .counted_by = p->kernel ? "kernel" : "library",
                                .pid = p->head->pid,
                                .ppid = p->head->ppid,
                                .threads = p->threads,
                                .start_ps = to_run_since(j, p->start_ns),
                                .end_ps = to_run_since(j, p->end_ns),
                                .io_start_ps = to_run_since(j, p->io_start_ns),
                                .io_end_ps = to_run_since(j, p->io_end_ns),
                                .library_read = (int64_t)b->seen[0],
                                .library_written = (int64_t)b->seen[1],
                                .kernel_read = b->known ? (int64_t)b->kernel[0] : RUN_NULL,
                                .kernel_written = b->known ? (int64_t)b->kernel[1] : RUN_NULL,
                                .start_read = (int64_t)b->start,
                                .unexplained_read = (int64_t)b->unexplained[0],
                                .unexplained_written = (int64_t)b->unexplained[1],
                                .booked_read = (int64_t)b->by_kernel[0],
                                .booked_written = (int64_t)b->by_kernel[1],
                                .images = p->images,
                                .mpi_rank = p->head->mpi ? p->head->rank : RUN_NULL};

        ok = run_put_process(run, &r, err);
    }
    return ok;
}

static bool to_run_put_uses(struct run *run, const struct prof_job *j, struct wr_err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < j->uses.n; i++) {
        const struct prof_use *u = &j->uses.v[i];
        const struct prof_proc *p = &j->procs.v[u->proc];
        struct run_use r = {.app = p->app,
                            .rank = p->rank,
                            .entity = j->entities.v[u->entity].name,
                            .bytes_read = (int64_t)u->word[PROF_W_read_bytes],
                            .bytes_written = (int64_t)u->word[PROF_W_write_bytes],
                            .reads = (int64_t)u->word[PROF_W_read_calls],
                            .writes = (int64_t)u->word[PROF_W_write_calls],
                            .syncs = (int64_t)u->word[PROF_W_sync_calls],
                            .opens = (int64_t)u->word[PROF_W_open_calls],
                            .metas = (int64_t)u->word[PROF_W_meta_calls]};

        ok = run_put_use(run, &r, err);
    }
    return ok;
}

static bool to_run_put_sizes(struct run *run, const struct prof_job *j, struct wr_err *err)
{
    static const char *const ops[] = {"read", "write"};
    bool ok = true;

    for (uint32_t a = 0; a < j->apps.n; a++)
        for (int op = PROF_READ; op <= PROF_WRITE; op++)
            for (int i = 0; ok && i < PROF_SIZES; i++) {
                struct run_access r = {.app = a,
                                       .op = ops[op],
                                       .low_b = i ? INT64_C(1) << 2 * i : 0,
                                       .high_b = i + 1 < PROF_SIZES ? INT64_C(1) << 2 * (i + 1)
                                                                    : RUN_NULL,
                                       .calls = (int64_t)j->apps.v[a].sizes[op][i]};

                ok = !r.calls || run_put_access(run, &r, err);
            }
    return ok;
}

/* The fraction of sequential accesses, of those whose position is known. */
static bool to_run_put_sequential(struct run *run, const struct prof_job *j, struct wr_err *err)
{
    static const char *const keys[] = {"read_sequential", "write_sequential"};
    bool ok = true;

    for (int op = PROF_READ; op <= PROF_WRITE; op++) {
        double calls = 0, jumps = 0;

        for (size_t a = 0; a < j->apps.n; a++) {
            for (int i = 0; i < PROF_SIZES; i++)
                calls += (double)j->apps.v[a].sizes[op][i];
            calls -= (double)j->apps.v[a].unplaced[op];
            jumps += (double)j->apps.v[a].jumps[op];
        }
        if (calls > 0)
            ok = ok && run_put_real(run, keys[op], jumps < calls ? 1 - jumps / calls : 0, "", err);
    }
    return ok;
}

/* How unprofiled processes were counted, and so how finely they are sliced. */
static const char *to_run_outside(size_t ends, uint64_t sampled)
{
    if (!ends)
        return sampled ? "while they ran" : "not";
    return sampled ? "at the ends of processes, and while they ran" : "at the ends of processes";
}

/* The balance of the job, and its I/O phase over all processes. */
static bool to_run_put_balance(struct run *run, const struct prof_job *j, struct wr_err *err)
{
    uint64_t library = 0, kernel = 0, by_kernel = 0, start = 0, lost = 0, unknown = 0, mapped = 0;
    uint64_t sampled = 0;
    int64_t from = INT64_MAX, to = 0, begin = INT64_MAX, end = 0;

    for (size_t i = 0; i < j->procs.n; i++) {
        const struct prof_proc *p = &j->procs.v[i];
        const struct prof_balance *b = &p->balance;

        library += b->seen[0] + b->seen[1];
        kernel += b->kernel[0] + b->kernel[1];
        by_kernel += b->by_kernel[0] + b->by_kernel[1];
        start += b->start;
        lost += b->unexplained[0] + b->unexplained[1];
        unknown += !b->known;
        mapped += b->mapped;
        sampled += p->sampled;
        begin = p->start_ns < begin ? p->start_ns : begin;
        end = p->end_ns > end ? p->end_ns : end;
        from = p->io_start_ns && p->io_start_ns < from ? p->io_start_ns : from;
        to = p->io_end_ns > to ? p->io_end_ns : to;
    }
    return run_put_text(run, "counted_outside", to_run_outside(j->ends.n, sampled), err) &&
           run_put_count(run, "processes_by_kernel_sampled", sampled, "", err) &&
           run_put_count(run, "balance_library_bytes", library, "B", err) &&
           run_put_count(run, "balance_kernel_bytes", kernel, "B", err) &&
           run_put_count(run, "balance_by_kernel_bytes", by_kernel, "B", err) &&
           run_put_count(run, "balance_start_bytes", start, "B", err) &&
           run_put_count(run, "balance_unexplained_bytes", lost, "B", err) &&
           run_put_count(run, "balance_unknown_processes", unknown, "", err) &&
           run_put_count(run, "processes_unseen", j->ends_unseen, "", err) &&
           run_put_count(run, "processes_left", j->left, "", err) &&
           run_put_count(run, "rings_unseen", j->rings_unseen, "", err) &&
           run_put_count(run, "ring_requests_estimated", j->ring_missed, "", err) &&
           (!mapped || run_put_count(run, "mapped_killed_bytes", mapped, "B", err)) &&
           (!j->mapped_unknown ||
            run_put_count(run, "mapped_unknown_bytes", j->mapped_unknown, "B", err)) &&
           run_put_count(run, "life_ns", (uint64_t)(end > begin ? end - begin : 0), "ns", err) &&
           run_put_count(run, "io_phase_ns", (uint64_t)(to > from ? to - from : 0), "ns", err);
}

/* Threads of processes that have several. */
static bool to_run_put_threads(struct run *run, const struct prof_job *j, struct wr_err *err)
{
    struct wr_str t = {0};
    bool any = false;

    wr_str_add(&t, "app,rank,thread,tid\n");
    for (size_t i = 0; i < j->threads.n; i++) {
        const struct prof_thread *th = &j->threads.v[i];
        const struct prof_proc *p = &j->procs.v[th->proc];

        if (th->entity == UINT32_MAX || th->first != i)
            continue;
        wr_str_addf(&t, "%u,%u,%u,%u\n", p->app, p->rank, th->number, th->tid);
        any = true;
    }
    bool ok = !any || run_put_input(run, "threads.csv", t.s, t.n, err);

    wr_str_fini(&t);
    return ok;
}

static bool to_run_put_summary(struct run *run, const struct prof_job *j, struct wr_err *err)
{
    double total[PROF_METRICS] = {0}, other[2] = {0};
    const char *mode = prof_job_file_mode(j);
    uint64_t kernel = 0;

    for (size_t i = 0; i < j->apps.n; i++)
        for (int m = 0; m < PROF_METRICS; m++)
            total[m] += j->entities.v[j->apps.v[i].entity].total[m];
    for (size_t i = 0; i < j->procs.n; i++) {
        kernel += j->procs.v[i].kernel;
        other[0] += j->procs.v[i].other[0];
        other[1] += j->procs.v[i].other[1];
    }
    bool ok =
        run_put_count(run, "epoch_ns", (uint64_t)j->origin_ns, "ns", err) &&
        run_put_count(run, "slice_ns", j->slice_ns, "ns", err) &&
        run_put_text(run, "clock", prof_clock_name(j->clock), err) &&
        (!mode || run_put_text(run, "file_mode", mode, err)) &&
        run_put_count(run, "processes", j->procs.n, "", err) &&
        run_put_count(run, "processes_by_kernel", kernel, "", err) &&
        (!j->sharers || run_put_count(run, "processes_sharing", j->sharers, "", err)) &&
        (!j->step_ns || run_put_volatile(run, "clock_step_ns", (double)j->step_ns, "ns", err));

    for (unsigned m = 0; ok && m < PROF_M_INFLIGHT; m++)
        if (m < PROF_OPS || m == PROF_W_read_bytes || m == PROF_W_write_bytes || total[m] > 0)
            ok = run_put_count(run, prof_metric_name(j, m), (uint64_t)total[m], prof_metric_unit(m),
                               err);
    return ok && run_put_count(run, "other_read_bytes", (uint64_t)other[0], "B", err) &&
           run_put_count(run, "other_write_bytes", (uint64_t)other[1], "B", err) &&
           run_put_count(run, "dropped_calls", j->dropped_calls, "", err) &&
           run_put_count(run, "dropped_records", j->dropped_recs, "", err) &&
           run_put_volatile(run, "sampler_late_ns", (double)j->late_ns, "ns", err);
}

bool prof_to_run(struct run *run, const struct prof_job *j, struct wr_err *err)
{
    return to_run_put_summary(run, j, err) && to_run_put_apps(run, j, err) &&
           to_run_put_ranks(run, j, err) && to_run_put_slices(run, j, err) &&
           to_run_put_processes(run, j, err) && to_run_put_threads(run, j, err) &&
           to_run_put_uses(run, j, err) && to_run_put_sizes(run, j, err) &&
           to_run_put_sequential(run, j, err) && to_run_put_balance(run, j, err);
}
