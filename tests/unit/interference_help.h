/* interference_help.h -- run files of jobs that are known exactly. */
#ifndef UNIT_INTERFERENCE_HELP_H
#define UNIT_INTERFERENCE_HELP_H

#include "run_help.h"

#include <math.h>

#include "interference/analyse.h"

/* A job whose processes write at a constant rate from `from_s` to `to_s`, each shifted by
 * `stagger_s` times its number. */
struct made_job {
    const char *name;
    unsigned ranks, per_node;
    double from_s, to_s, stagger_s, rate_bps;
    double rank_skew; /* process r writes 1 + r * skew times as much */
    unsigned silent;  /* the last so many processes write nothing */
    double idle_s;    /* its processes live so much longer at both ends; phases are recorded then */
    double flush_s;   /* and flush for so long after their last byte */
};

struct made_run {
    int64_t epoch_ns; /* 0: none, as in a simulation */
    double slice_s;
    const char *mode;
    const struct made_job *job;
    size_t njobs;
    bool whole_only;
    int64_t clock_step_ns;
};

static inline double made_part(double from, double to, double a, double b)
{
    double lo = from > a ? from : a, hi = to < b ? to : b;

    return hi > lo ? hi - lo : 0;
}

static inline int64_t made_ps(double s)
{
    return (int64_t)llround(s * 1e12);
}

/* Slices in which a process flushes. */
static inline void make_flush(struct run *run, const struct made_run *m, const char *entity,
                              double from, double to)
{
    struct run_series s = {entity, "sync_time", "ns", made_ps(m->slice_s)};
    struct wr_err err = {0};
    uint32_t id;

    must(run_open_series(run, &s, &id, &err), err);
    for (double t = floor(from / m->slice_s) * m->slice_s; t < to; t += m->slice_s)
        must(run_put_slice(run, id, made_ps(t), s.dt_ps,
                           1e9 * made_part(from, to, t, t + m->slice_s), &err),
             err);
}

static inline void make_job(struct run *run, const struct made_run *m, uint32_t number)
{
    const struct made_job *j = &m->job[number];
    struct run_app app = {.app = number,
                          .name = j->name,
                          .ranks = j->ranks,
                          .start_ps = made_ps(j->from_s - j->idle_s)};
    struct wr_err err = {0};

    must(run_put_app(run, &app, &err), err);
    for (unsigned r = 0; r < j->ranks; r++) {
        struct run_rank row = run_rank_unknown(number, r);

        row.node = j->per_node ? r / j->per_node : 0;
        row.elapsed_ps = made_ps(j->to_s - j->from_s + 2 * j->idle_s);
        must(run_put_rank(run, &row, &err), err);
        struct run_process p = {.app = number,
                                .rank = r,
                                .host = "here",
                                .command = "made",
                                .counted_by = "library",
                                .start_ps = app.start_ps,
                                .end_ps = app.start_ps + row.elapsed_ps,
                                .io_start_ps = made_ps(j->from_s - j->idle_s / 2),
                                .io_end_ps = made_ps(j->to_s + j->flush_s)};

        if (j->idle_s > 0)
            must(run_put_process(run, &p, &err), err);
    }
}

static inline void make_slices(struct run *run, const struct made_run *m, uint32_t number)
{
    const struct made_job *j = &m->job[number];
    struct wr_err err = {0};
    unsigned writers = j->ranks - j->silent;

    for (unsigned r = 0; r < (m->whole_only ? 1 : writers); r++) {
        char entity[64];
        struct run_series s = {entity, "write_bytes", "B", (int64_t)llround(m->slice_s * 1e12)};
        double from = j->from_s + r * j->stagger_s, to = j->to_s + r * j->stagger_s;
        double rate = j->rate_bps * (1 + r * j->rank_skew) * (m->whole_only ? writers : 1);
        uint32_t id;

        snprintf(entity, sizeof entity, m->whole_only ? "app:%u" : "rank:%u.%u", number, r);
        must(run_open_series(run, &s, &id, &err), err);
        for (size_t k = 0; (double)k * m->slice_s < to; k++) {
            double t = (double)k * m->slice_s;
            double b = rate * made_part(from, to, t, t + m->slice_s);

            if (b > 0)
                must(run_put_slice(run, id, (int64_t)llround(t * 1e12), s.dt_ps, b, &err), err);
        }
        if (j->flush_s > 0)
            make_flush(run, m, entity, to, to + j->flush_s);
    }
}

static inline void make_run(const char *path, const struct made_run *m)
{
    struct run_meta meta = {.kind = "test", .force = true};
    struct wr_err err = {0};
    struct run *run;

    must(run_create(&run, path, &meta, &err), err);
    for (uint32_t i = 0; i < m->njobs; i++) {
        make_job(run, m, i);
        make_slices(run, m, i);
    }
    if (m->epoch_ns)
        must(run_put_count(run, "epoch_ns", (uint64_t)m->epoch_ns, "ns", &err), err);
    if (m->clock_step_ns)
        must(run_put_volatile(run, "clock_step_ns", (double)m->clock_step_ns, "ns", &err), err);
    if (m->mode)
        must(run_put_text(run, "file_mode", m->mode, &err), err);
    complete(run);
}

/* One job in a file of its own. */
static inline void make_one(const char *path, int64_t epoch_ns, double slice_s, struct made_job job)
{
    make_run(path,
             &(struct made_run){.epoch_ns = epoch_ns, .slice_s = slice_s, .job = &job, .njobs = 1});
}

#endif
