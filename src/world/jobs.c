/* jobs.c -- jobs of the configuration: their programs, their nodes, and what they leave. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "world_priv.h"

/* ---- opening ---- */

static const char *jobs_name(const struct world_job *c)
{
    return c->name && *c->name ? c->name : c->program.kind->name;
}

static bool jobs_open_program(struct world *w, uint32_t i, const struct conf *conf,
                              struct wr_err *err)
{
    struct world_running *j = &w->job[i];
    struct load_start start = {.ranks = j->c->ranks, .seed = w->c->seed + i, .logs = true};

    /* A program's own error says where in the program; it may have several lines. */
    if (!load_open(&j->load, &j->c->program, &start, err))
        return wr_wrap(err, "job %s (%s)", jobs_name(j->c), conf_origin(conf, &j->c->program));
    if (!j->load.ranks)
        return conf_fail(conf, &j->c->ranks, err,
                         "job %s has no ranks; give `ranks:` a number above 0", jobs_name(j->c));
    return true;
}

static bool jobs_place_program(struct world *w, uint32_t i, struct place *place,
                               const struct conf *conf, struct wr_err *err)
{
    struct world_running *j = &w->job[i];
    struct place_job want = {.how = j->c->placement,
                             .ranks = j->load.ranks,
                             .per_node = j->c->per_node,
                             .deal = (enum place_deal)j->c->deal};
    struct wr_err inner;

    j->node = wr_alloc(j->load.ranks * sizeof *j->node);
    if (!place_job(place, &want, j->node, &inner))
        return conf_fail(conf, &j->c->placement, err, "job %s: %s", jobs_name(j->c), inner.text);
    return true;
}

static bool jobs_place_all(struct world *w, const struct conf *conf, struct wr_err *err)
{
    struct place place;
    struct wr_err inner;
    bool ok = true;

    if (!place_open(&place, &w->network.topo, w->network.net.rails, w->c->seed, err))
        return false;
    if (w->c->exclude && *w->c->exclude && !place_exclude(&place, w->c->exclude, &inner))
        ok = conf_fail(conf, &w->c->exclude, err, "%s", inner.text);
    if (ok && w->c->storage.kind)
        ok = world_files_plan(w, conf, &place, err);
    for (uint32_t i = 0; ok && i < w->njobs; i++)
        ok = jobs_place_program(w, i, &place, conf, err);
    place_close(&place);
    return ok;
}

static bool jobs_find(const struct world *w, const char *const *name, const struct conf *conf,
                      uint32_t *ret, struct wr_err *err)
{
    struct wr_nearest near = {.want = *name};

    for (uint32_t i = 0; i < w->njobs; i++) {
        if (!strcmp(jobs_name(w->job[i].c), *name)) {
            *ret = i;
            return true;
        }
        wr_nearest_try(&near, jobs_name(w->job[i].c));
    }
    return conf_fail(conf, name, err, "no job has the name \"%s\"; %s%s%sname some of `jobs`",
                     wr_text_clip(*name).s, near.best ? "did you mean \"" : "",
                     near.best ? near.best : "", near.best ? "\"? Else " : "");
}

static void jobs_close_job(struct world_running *j)
{
    load_close(&j->load);
    free(j->log_fault);
    free(j->node);
}

/* Jobs that do not run are done: their nodes are taken. */
static bool jobs_keep_active(struct world *w, const struct conf *conf, struct wr_err *err)
{
    const char *const *name = w->c->active.items;
    bool *active = wr_zalloc(w->njobs, sizeof *active), ok = true;
    uint32_t n = 0, at = 0;

    for (size_t i = 0; ok && i < w->c->active.n; i++) {
        ok = jobs_find(w, &name[i], conf, &at, err);
        active[at] = true;
    }
    for (uint32_t i = 0; ok && w->c->active.n && i < w->njobs; i++) {
        if (active[i])
            w->job[n++] = w->job[i];
        else
            jobs_close_job(&w->job[i]);
    }
    free(active);
    if (ok && w->c->active.n)
        w->njobs = n;
    return ok;
}

/* ---- the wire ---- */

struct cause_trip world_trip(const struct world *w, const struct net_msg *m, bool arrived)
{
    return (struct cause_trip){
        .begin_ps = m->t_post_ps,
        .post_ps = m->t_post_ps,
        .first_ps = m->t_first_ps,
        .idle_ps = arrived ? net_idle_ps(w->net, m->src, m->dst, m->bytes)
                           : net_inject_ps(w->net, m->bytes),
    };
}

static void jobs_wire_send(void *ctx, uint32_t src, uint32_t dst, uint64_t bytes, uint16_t app,
                           uint8_t cls, uint64_t user)
{
    world_partition_send(ctx, src, dst, bytes, app, cls, user);
}

uint32_t world_lp(void *ctx, uint32_t node)
{
    const struct world_partition *partition = ctx;

    return net_node_lp(partition->net, node);
}

static void jobs_wire_trip(void *ctx, uint32_t it, bool arrived, struct cause_trip *ret)
{
    const struct world_partition *partition = ctx;

    *ret = world_trip(partition->w, net_msg_at(partition->net, it), arrived);
}

static void jobs_open_ranks(struct world *w, const struct rank_job *jobs)
{
    struct rank_setup setup = {
        .sim = w->sim,
        .first_kind = WORLD_EV_RANK,
        .wire = {.ctx = &w->partition[0],
                 .send = jobs_wire_send,
                 .lp = world_lp,
                 .trip = jobs_wire_trip},
        .files = {.ctx = &w->partition[0], .begin = w->store ? world_files_begin : NULL},
        .mpi = w->c->mpi.params,
        .coll = &w->c->collectives,
        .io_ps = (uint64_t)w->c->io.time_ps,
        .timeline = {.ranks = w->c->timeline.ranks,
                     .most = w->c->timeline.intervals,
                     .resolution_ps = (uint64_t)w->c->timeline.resolution_ps},
    };
    struct rank_partition partitions[SIM_MAX_PARTITIONS];
    struct ranks *ranks[SIM_MAX_PARTITIONS];

    if (!w->engine) {
        ranks_open(&w->rank, &setup, jobs, w->njobs);
        w->partition[0].rank = w->rank;
        return;
    }
    for (uint32_t i = 0; i < w->npartitions; i++)
        partitions[i] = (struct rank_partition){.partition = sim_engine_partition(w->engine, i),
                                                .wire_ctx = &w->partition[i],
                                                .files_ctx = &w->partition[i]};
    ranks_open_partitions(ranks, &setup, partitions, w->npartitions, w->node_partition, jobs,
                          w->njobs);
    w->rank = ranks[0];
    for (uint32_t i = 0; i < w->npartitions; i++) {
        w->partition[i].rank = ranks[i];
        net_forward_other(w->partition[i].net, ranks_receive, ranks[i]);
    }
    for (uint32_t i = 0; i < w->njobs; i++)
        w->job[i].load.order = w->job[i].node;
}

/* What runs, and where; before the machine is divided. */
bool world_jobs_plan(struct world *w, const struct conf *conf, struct wr_err *err)
{
    const struct world_job *c = w->c->jobs.items;
    bool ok = true;

    if (w->njobs >= UINT16_MAX)
        return conf_fail(conf, &w->c->jobs, err, "%u jobs are more than the %u there can be",
                         w->njobs, UINT16_MAX - 1);
    w->job = wr_zalloc(w->njobs, sizeof *w->job);
    for (uint32_t i = 0; ok && i < w->njobs; i++) {
        w->job[i].c = &c[i];
        ok = jobs_open_program(w, i, conf, err);
    }
    return ok && jobs_place_all(w, conf, err) && jobs_keep_active(w, conf, err);
}

bool world_jobs_open(struct world *w, const struct conf *conf, struct wr_err *err)
{
    if (!net_open_idle(w->net, err))
        return false;
    if (w->c->storage.kind && !world_files_open(w, conf, err))
        return false;
    struct rank_job *jobs = wr_zalloc(w->njobs, sizeof *jobs);

    for (uint32_t i = 0; i < w->njobs; i++)
        jobs[i] = (struct rank_job){.load = &w->job[i].load,
                                    .node = w->job[i].node,
                                    .start_ps = (uint64_t)w->job[i].c->start_ps,
                                    .app = (uint16_t)i};
    jobs_open_ranks(w, jobs);
    free(jobs);
    return true;
}

void world_jobs_close(struct world *w)
{
    ranks_close(w->rank);
    world_files_close(w);
    for (uint32_t i = 0; w->job && i < w->njobs; i++)
        jobs_close_job(&w->job[i]);
    free(w->job);
}

bool world_jobs_check(const struct world *w, struct wr_err *err)
{
    switch (ranks_state(w->rank)) {
    case RANKS_FAILED:
        return ranks_fault(w->rank, err);
    case RANKS_STUCK:
        return ranks_report_deadlock(w->rank, err);
    default:
        return true;
    }
}

uint32_t world_jobs(const struct world *w)
{
    return w->njobs;
}

const char *world_job_name(const struct world *w, uint32_t job)
{
    return jobs_name(w->job[job].c);
}

/* ---- what they leave ---- */

static bool jobs_put_rank(struct run *run, const struct rank_stat *s, struct wr_err *err)
{
    const uint64_t *a = s->account_ps;
    struct run_rank r = run_rank_unknown(s->job, s->rank);
    uint64_t coll = 0;
    bool ok = true;

    for (int c = 0; ok && c < LOAD_COLLS; c++) {
        coll += s->coll_ps[c];
        if (s->colls[c])
            ok = run_put_coll(run, s->job, s->rank, load_coll_names[c], s->colls[c], s->coll_ps[c],
                              err);
    }
    for (int c = 0; ok && c < CAUSES; c++) {
        if (s->comm_why_ps[c])
            ok =
                run_put_cause(run, s->job, s->rank, "comm", cause_names[c], s->comm_why_ps[c], err);
        if (ok && s->io_why_ps[c])
            ok = run_put_cause(run, s->job, s->rank, "io", cause_names[c], s->io_why_ps[c], err);
    }
    uint64_t comm = a[RANK_SEND] + a[RANK_RECV] + a[RANK_WAIT] + coll, both = comm + a[RANK_IO];

    r.node = s->node;
    r.msgs_sent = (int64_t)s->msgs_sent;
    r.bytes_sent = (int64_t)s->bytes_sent;
    r.msgs_recvd = (int64_t)s->msgs_recvd;
    r.bytes_recvd = (int64_t)s->bytes_recvd;
    r.elapsed_ps = (int64_t)s->elapsed_ps;
    r.compute_ps = (int64_t)a[RANK_COMPUTE];
    r.comm_ps = (int64_t)comm;
    r.io_ps = (int64_t)a[RANK_IO];
    r.wait_ps = (int64_t)(both > s->overhead_ps ? both - s->overhead_ps : 0);
    r.bytes_read = (int64_t)s->bytes_read;
    r.bytes_written = (int64_t)s->bytes_written;
    r.send_ps = (int64_t)a[RANK_SEND];
    r.recv_ps = (int64_t)a[RANK_RECV];
    r.await_ps = (int64_t)a[RANK_WAIT];
    r.coll_ps = (int64_t)coll;
    r.idle_ps = (int64_t)a[RANK_IDLE];
    return ok && run_put_rank(run, &r, err);
}

struct leaving {
    struct run *run;
    struct world_running *job;
    uint32_t app;
};

/* The job has run, and all that was counted stays. */
static void jobs_keep_fault(void *ctx, const struct wr_err *what)
{
    struct world_running *j = ((const struct leaving *)ctx)->job;

    free(j->log_fault);
    j->log_fault = wr_strdup(what->text);
}

static bool jobs_put_value(void *ctx, const struct load_log *v, struct wr_err *err)
{
    const struct leaving *l = ctx;
    struct run_log log = {.app = l->app,
                          .table = v->table,
                          .column = v->column,
                          .rank = v->rank,
                          .row = v->row,
                          .title = v->title,
                          .aggregate = v->aggregate,
                          .value = v->value};

    return run_put_log(l->run, &log, err);
}

static bool jobs_put_line(void *ctx, uint32_t rank, uint64_t t_ps, const char *line,
                          struct wr_err *err)
{
    const struct leaving *l = ctx;

    return run_put_output(l->run, l->app, rank, t_ps, line, err);
}

static bool jobs_put_job(const struct world *w, struct run *run, uint32_t i, struct wr_err *err)
{
    struct world_running *j = &w->job[i];
    struct leaving leaving = {run, j, i};
    struct load_out out = {
        .ctx = &leaving, .fault = jobs_keep_fault, .value = jobs_put_value, .text = jobs_put_line};
    struct run_app app = {.app = i,
                          .name = jobs_name(j->c),
                          .ranks = j->load.ranks,
                          .start_ps = (int64_t)j->c->start_ps,
                          .workload = j->c->program.kind->name,
                          .placement = j->c->placement.kind->name};
    const struct wr_hist *iterations = ranks_iterations(w->rank, i);
    bool ok = run_put_app(run, &app, err);

    for (int c = 0; ok && c < RANK_CLASSES; c++) {
        const struct wr_hist *h = ranks_latency(w->rank, i, (enum rank_class)c);

        if (h->n)
            ok = run_put_latency(run, i, rank_class_names[c], h, err);
    }
    for (int c = 0; ok && w->store && c < STORE_CLASSES; c++) {
        const struct wr_hist *h = store_latency(w->store, i, (enum store_class)c);

        if (h->n)
            ok = run_put_latency(run, i, store_class_names[c], h, err);
    }
    if (ok && iterations->n)
        ok = run_put_latency(run, i, "iteration", iterations, err);
    if (ok && j->load.ops->finish)
        ok = j->load.ops->finish(&j->load, &out, err);
    return ok;
}

static bool jobs_put_fault(const struct world *w, struct run *run, struct wr_err *err)
{
    const char *fault = world_log_fault(w);

    if (!fault)
        return true;
    char *line = wr_strdup(fault);

    line[strcspn(line, "\n")] = 0; /* without the program's text */
    bool ok = run_put_text(run, "log_fault", line, err);

    free(line);
    return ok;
}

static bool jobs_put_marks(const struct world *w, struct run *run, struct wr_err *err)
{
    struct rank_stat s;

    for (uint32_t i = 0; i < ranks_marks(w->rank); i++) {
        const struct rank_mark *m = ranks_mark(w->rank, i);

        ranks_stat(w->rank, m->rank, &s);
        if (!run_put_mark(run, s.job, s.rank, m->mark, m->t_ps, err))
            return false;
    }
    return true;
}

static bool jobs_put_timeline(const struct world *w, struct run *run, uint32_t i,
                              struct wr_err *err)
{
    const struct rank_interval *v = NULL;
    uint32_t n = ranks_intervals(w->rank, i, &v);
    struct rank_stat s;

    if (n)
        ranks_stat(w->rank, i, &s);
    for (uint32_t k = 0; k < n; k++) {
        struct run_interval x = {.app = s.job,
                                 .rank = s.rank,
                                 .t_ps = v[k].t_ps,
                                 .compute_ps = v[k].ps[RANK_DID_COMPUTE],
                                 .comm_ps = v[k].ps[RANK_DID_COMM],
                                 .io_ps = v[k].ps[RANK_DID_IO],
                                 .idle_ps = v[k].ps[RANK_DID_IDLE]};

        if (!run_put_interval(run, &x, err))
            return false;
    }
    return true;
}

bool world_jobs_write(const struct world *w, struct run *run, struct wr_err *err)
{
    struct rank_stat s;
    uint64_t accesses = 0, left = 0;
    bool ok = true;

    for (uint32_t i = 0; ok && i < w->njobs; i++)
        ok = jobs_put_job(w, run, i, err);
    for (uint32_t i = 0; ok && i < ranks_count(w->rank); i++) {
        ranks_stat(w->rank, i, &s);
        accesses += s.accesses;
        left += !s.ended;
        ok = jobs_put_rank(run, &s, err) && jobs_put_timeline(w, run, i, err);
    }
    ok = ok && jobs_put_fault(w, run, err) && jobs_put_marks(w, run, err) &&
         run_put_count(run, "jobs", w->njobs, "", err) &&
         run_put_count(run, "ranks", ranks_count(w->rank), "", err) &&
         run_put_count(run, "ranks_unfinished", left, "", err) &&
         run_put_text(run, "mpi", w->c->mpi.kind->name, err);
    if (ok && accesses)
        ok = run_put_count(run, "io_accesses", accesses, "", err);
    if (ok && accesses && !w->store)
        ok = run_put_real(run, "io_constant_ns", w->c->io.time_ps / 1e3, "ns", err);
    return ok;
}
