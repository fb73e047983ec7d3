/* study_sweep.c -- runs one configuration at many loads, routings and seeds.
 *
 * Lists the points, hands them to study_pool.c (the highest loads first, because they take longest)
 * and appends a row per point to the run file. A point depends on its configuration alone, so the
 * rows are the same for any number of workers; `place` keeps their order.
 */
#include "study/study_sweep.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/signals.h"
#include "base/units.h"
#include "study/study_pool.h"
#include "world/world.h"

/* A point is saturated when accepted traffic is below this part of offered traffic. 5 % is well
 * above the noise of a measured interval, and far below what a saturated network loses. */
static const double keeps_up = 0.95;

/* One point of the sweep and its result; a worker returns it through its pipe. */
struct point {
    uint32_t routing, load, seed;
    bool ok, interrupted;
    struct run_sweep r;
    struct wr_err err;
};

/* The configuration's overrides plus those of the point. */
struct overrides {
    const char **v;
    size_t n;
    char *load, *routing, *seed;
};

__attribute__((format(printf, 1, 2))) static char *sweep_printf(const char *fmt, ...)
{
    char *s = NULL;
    va_list ap;

    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0)
        abort();
    va_end(ap);
    return s;
}

static void sweep_overrides_init(struct overrides *o, const struct study_sweep *s,
                                 const struct point *p, uint64_t seed)
{
    *o = (struct overrides){.v = wr_alloc((s->nsets + 3) * sizeof *o->v)};
    for (; o->n < s->nsets; o->n++)
        o->v[o->n] = s->sets[o->n];
    o->v[o->n++] = o->load = sweep_printf("traffic.load=%s", wr_text_fraction(s->loads[p->load]).s);
    if (p->seed)
        o->v[o->n++] = o->seed = sweep_printf("seed=%llu", (unsigned long long)seed);
    if (s->nroutings)
        o->v[o->n++] = o->routing = sweep_printf("machine.routing=%s", s->routings[p->routing]);
}

static void sweep_overrides_fini(struct overrides *o)
{
    free(o->load);
    free(o->routing);
    free(o->seed);
    free(o->v);
}

static void sweep_fill_point(struct point *p, const struct world *w, const struct world_config *c,
                             enum world_end end, double wall_s)
{
    struct world_result *r = wr_alloc(sizeof *r);

    world_result(w, r);
    p->r = (struct run_sweep){
        .load = c->traffic.load,
        .seed = c->seed,
        .offered = r->offered,
        .accepted = r->accepted,
        .lat_mean_ns = wr_hist_mean(&r->latency) / 1e3,
        .lat_min_ns = r->latency.n ? (double)r->latency.min / 1e3 : NAN,
        .lat_p50_ns = wr_hist_quantile(&r->latency, 0.5) / 1e3,
        .lat_p99_ns = wr_hist_quantile(&r->latency, 0.99) / 1e3,
        .lat_max_ns = r->latency.n ? (double)r->latency.max / 1e3 : NAN,
        .hops_mean = r->hops_mean,
        .nonminimal_frac = r->nonminimal_frac,
        .saturated = end == WORLD_DRAIN_LIMIT || r->accepted < keeps_up * r->offered,
        .packets = (int64_t)r->count.packets,
        .events = (int64_t)r->events,
        .sim_end_ns = (double)r->sim_end_ps / 1e3,
        .wall_s = wall_s,
    };
    p->interrupted = end == WORLD_INTERRUPTED;
    p->ok = true;
    free(r);
}

/* The simulation of one point; `only_check` stops before it runs. */
static bool sweep_simulate(const struct study_sweep *s, struct point *p, bool only_check)
{
    struct world_config c = {0};
    struct conf *conf;
    struct world *w;
    struct overrides o;
    enum world_end end;
    uint64_t start = wr_clock_ns();

    sweep_overrides_init(&o, s, p, p->r.seed + p->seed);
    bool ok = conf_load(&conf, &c, world_rows, s->file, o.v, o.n, &p->err);

    sweep_overrides_fini(&o);
    if (!ok)
        return false;
    ok = world_open(&w, conf, &c, &p->err);
    if (ok && !only_check) {
        ok = world_run(w, NULL, NULL, &end, &p->err);
        if (ok)
            sweep_fill_point(p, w, &c, end, (double)(wr_clock_ns() - start) / 1e9);
    }
    p->r.seed = c.seed;
    if (ok)
        world_close(w);
    conf_close(conf);
    return ok;
}

bool study_sweep_check(const struct study_sweep *s, struct wr_err *err)
{
    size_t n = s->nroutings ? s->nroutings : 1;

    for (size_t i = 0; i < n; i++) {
        struct point p = {.routing = (uint32_t)i};

        if (!sweep_simulate(s, &p, true)) {
            *err = p.err;
            return false;
        }
    }
    return true;
}

/* A sweep under way, as the pool sees it. */
struct sweeping {
    const struct study_sweep *s;
    struct run *run;
    struct wr_progress *progress;
    const struct point *points;
    size_t done, n;
};

static void sweep_task(void *ctx, size_t task, void *result)
{
    const struct sweeping *w = ctx;
    struct point *mine = result;

    *mine = w->points[task];
    sweep_simulate(w->s, mine, false);
}

static bool sweep_task_done(void *ctx, size_t task, const struct study_ended *end,
                            struct wr_err *err)
{
    struct sweeping *w = ctx;
    const struct study_sweep *s = w->s;

    (void)task;
    wr_progress_set(w->progress, (double)++w->done);
    if (!end->result)
        return wr_interrupted() ||
               wr_fail(err, WR_SYSTEM, "a worker %s before its point was done; use fewer workers",
                       end->how);
    struct point p = *(const struct point *)end->result;

    if (!p.ok) {
        *err = p.err;
        return false;
    }
    if (p.interrupted)
        return true;
    p.r.series = s->nroutings ? s->routings[p.routing] : s->series;
    p.r.place = 1 + ((int64_t)p.routing * s->nloads + p.load) * s->seeds + p.seed;
    return run_put_sweep(w->run, &p.r, err) &&
           run_put_progress(w->run, (double)w->done, (double)w->n, "points", err) &&
           run_flush(w->run, err);
}

static int sweep_heaviest_first(const void *a, const void *b)
{
    const struct point *x = a, *y = b;

    if (x->load != y->load)
        return x->load < y->load ? 1 : -1;
    return x->routing != y->routing ? (x->routing < y->routing ? -1 : 1)
                                    : (x->seed < y->seed ? -1 : 1);
}

static struct point *sweep_list_points(const struct study_sweep *s, uint64_t seed, size_t *ret_n)
{
    size_t nroutings = s->nroutings ? s->nroutings : 1, n = 0;
    struct point *v = wr_zalloc(nroutings * s->nloads * s->seeds, sizeof *v);

    for (uint32_t r = 0; r < nroutings; r++)
        for (uint32_t l = 0; l < s->nloads; l++)
            for (uint32_t k = 0; k < s->seeds; k++, n++) {
                v[n].routing = r;
                v[n].load = l;
                v[n].seed = k;
                v[n].r.seed = seed;
            }
    qsort(v, n, sizeof *v, sweep_heaviest_first);
    *ret_n = n;
    return v;
}

bool study_sweep_run(const struct study_sweep *s, struct run *run, struct wr_progress *progress,
                     bool *ret_interrupted, struct wr_err *err)
{
    struct point probe = {0};
    size_t n;

    assert(s->nloads && s->seeds && s->jobs);
    if (!sweep_simulate(s, &probe, true)) {
        *err = probe.err;
        return false;
    }
    struct point *points = sweep_list_points(s, probe.r.seed, &n);
    struct sweeping w = {.s = s, .run = run, .progress = progress, .points = points, .n = n};
    struct study_pool pool = {.ctx = &w,
                              .jobs = s->jobs,
                              .ntasks = n,
                              .result_size = sizeof *points,
                              .work = sweep_task,
                              .done = sweep_task_done};
    bool ok = study_pool_run(&pool, ret_interrupted, err);

    free(points);
    return ok;
}
