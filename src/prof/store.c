#include "prof/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int64_t ps(int64_t ns)
{
    return ns * 1000;
}

static const char *leaf(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Which machine of the job, counted in the order they are met. */
static int64_t node_of(const struct prof_job *j, const struct prof_proc *p)
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

static double storage_time(const double *total)
{
    double sum = 0;

    for (int op = 0; op < PROF_OPS; op++)
        sum += total[PROF_TIME + op];
    return sum;
}

static bool put_ranks(struct run *run, const struct prof_job *j, struct wr_err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < j->procs.n; i++) {
        const struct prof_proc *p = &j->procs.v[i];
        const double *total = j->entities.v[p->entity].total;
        struct run_rank r = run_rank_unknown(p->app, p->rank);

        r.node = node_of(j, p);
        r.elapsed_ps = p->end_ns > p->start_ns ? ps(p->end_ns - p->start_ns) : RUN_NULL;
        r.io_ps = p->kernel ? RUN_NULL : (int64_t)(storage_time(total) * 1000);
        r.bytes_read = (int64_t)total[PROF_W_read_bytes];
        r.bytes_written = (int64_t)total[PROF_W_write_bytes];
        ok = run_put_rank(run, &r, err);
    }
    return ok;
}

static bool put_apps(struct run *run, const struct prof_job *j, struct wr_err *err)
{
    bool ok = true;

    for (size_t a = 0; ok && a < j->apps.n; a++) {
        const struct prof_app *app = &j->apps.v[a];
        const char *workload = "";

        for (size_t i = 0; i < j->procs.n && !*workload; i++)
            if (j->procs.v[i].app == a)
                workload = j->procs.v[i].head->exe;
        struct run_app r = {.app = (uint32_t)a,
                            .name = *app->name ? app->name : leaf(workload),
                            .ranks = app->ranks,
                            .start_ps = ps(app->start_ns - j->origin_ns),
                            .workload = *workload ? workload : NULL};

        ok = run_put_app(run, &r, err);
    }
    return ok;
}

static bool put_slices(struct run *run, const struct prof_job *j, struct wr_err *err)
{
    int64_t dt = ps((int64_t)j->slice_ns);
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

/* Who the ranks were, as a table. */
static bool put_processes(struct run *run, const struct prof_job *j, struct wr_err *err)
{
    struct wr_str t = {0};

    wr_str_add(&t,
               "app,rank,host,pid,ppid,mpi_rank,threads,images,counted_by,start_ns,end_ns,exe\n");
    for (size_t i = 0; i < j->procs.n; i++) {
        const struct prof_proc *p = &j->procs.v[i];
        const struct prof_head *h = p->head;

        wr_str_addf(&t, "%u,%u,%s,%u,%u,%d,%u,%u,%s,%" PRId64 ",%" PRId64 ",", p->app, p->rank,
                    h->host, h->pid, h->ppid, h->mpi ? h->rank : -1, p->threads, p->images,
                    p->kernel ? "kernel" : "library", p->start_ns, p->end_ns);
        for (const char *s = h->exe; *s; s++)
            wr_str_addn(&t, strchr(",\n\r\"", *s) ? "?" : s, 1);
        wr_str_add(&t, "\n");
    }
    bool ok = run_put_input(run, "processes.csv", t.s, t.n, err);

    wr_str_fini(&t);
    return ok;
}

/* And their threads, where they have several. */
static bool put_threads(struct run *run, const struct prof_job *j, struct wr_err *err)
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

static bool put_summary(struct run *run, const struct prof_job *j, struct wr_err *err)
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

bool prof_store(struct run *run, const struct prof_job *j, struct wr_err *err)
{
    return put_summary(run, j, err) && put_apps(run, j, err) && put_ranks(run, j, err) &&
           put_slices(run, j, err) && put_processes(run, j, err) && put_threads(run, j, err);
}
