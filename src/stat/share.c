/* share.c -- weighted processor sharing with caps, solved event by event.
 *
 * See share.h for the model. Jobs have passed stat_share_check_job(). While stat_share_solve()
 * runs, struct work holds what is left of each job; each round ends at the next begin or end of a
 * job.
 */
#include "stat/share.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"

/* Beyond these no sum or quotient of the model could be trusted. */
static const double least = 1e-9, most = 1e15, latest = 1e11;

/* Two ends that differ by less than this part are one: 9000 / 90 and 1000 / 10 end
 * together though rounding may say otherwise. */
static const double same = 1e-12;

static bool share_check(const char *what, double v, double low, double high, struct wr_err *err)
{
    if (v >= low && v <= high)
        return true;
    return wr_fail(err, WR_INPUT, "the %s is %s; give a number from %s to %s", what,
                   isnan(v) ? "not a number" : wr_text_real(v).s, wr_text_real(low).s,
                   wr_text_real(high).s);
}

bool stat_share_check_capacity(const struct stat_share_capacity *c, struct wr_err *err)
{
    if (!c->n)
        return wr_fail(err, WR_INPUT, "the capacity is an empty list; give at least one number");
    for (size_t i = 0; i < c->n; i++)
        if (!share_check("capacity", c->by_active[i], least, most, err))
            return false;
    return true;
}

bool stat_share_check_job(const struct stat_share_job *job, struct wr_err *err)
{
    if (job->volume != 0 &&
        !share_check("volume", job->volume, job->volume > 0 ? least : 0, most, err))
        return false;
    return share_check("start", job->start, -latest, latest, err) &&
           share_check("weight", job->weight, least, most, err) &&
           (job->cap == INFINITY || share_check("cap", job->cap, least, most, err));
}

/* Each job in turn gets its share of what is left for it and those after it. The first
 * are those whose caps bind, so what they leave is divided among all others. Weights are
 * summed from the back: a difference of large sums could be nothing. */
static void share_fill(double *rate, const struct stat_share_job *jobs, const size_t *active,
                       size_t n, double capacity)
{
    double behind = 0, left = capacity;

    assert(capacity > 0);
    for (size_t i = n; i-- > 0;)
        rate[i] = behind += jobs[active[i]].weight;
    for (size_t i = 0; i < n; i++) {
        const struct stat_share_job *job = &jobs[active[i]];
        double share = left * (job->weight / rate[i]);

        rate[i] = share < job->cap ? share : job->cap;
        left = left > rate[i] ? left - rate[i] : 0;
    }
}

struct work {
    const struct stat_share_job *jobs;
    size_t n;
    const struct stat_share_capacity *capacity;
    size_t *by_level; /* all jobs by growing cap / weight */
    double *left;     /* volume */
    bool *begun, *done;
    size_t *active; /* the active ones, in that order */
    double *rate;
    size_t nactive;
    double origin; /* times inside are counted from the first start */
};

static int share_compare_levels(const void *a, const void *b, void *ctx)
{
    const struct stat_share_job *jobs = ctx;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    double x = jobs[i].cap / jobs[i].weight, y = jobs[j].cap / jobs[j].weight;

    return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

static double share_start_of(const struct work *w, size_t i)
{
    return w->jobs[i].start - w->origin;
}

static void share_finish(struct work *w, struct stat_share *s, size_t i, double t)
{
    w->done[i] = true;
    s->runtime[i] = t - share_start_of(w, i);
    s->finish[i] = w->jobs[i].start + s->runtime[i];
}

/* Who is active at t; returns when the next job begins. */
static double share_collect_active(struct work *w, double t)
{
    double next = INFINITY;

    w->nactive = 0;
    for (size_t k = 0; k < w->n; k++) {
        size_t i = w->by_level[k];
        double start = share_start_of(w, i);

        if (w->done[i])
            continue;
        if (!w->begun[i] && start > t + same * t) {
            next = start < next ? start : next;
            continue;
        }
        w->begun[i] = true;
        w->active[w->nactive++] = i;
    }
    return next;
}

/* Jobs that move nothing are done when they begin: no rate changes there. */
static void share_finish_empty(struct work *w, struct stat_share *s)
{
    for (size_t i = 0; i < w->n; i++)
        if (!(w->left[i] > 0))
            share_finish(w, s, i, share_start_of(w, i));
}

static void share_keep_part(const struct work *w, struct stat_share *s, double from, double to)
{
    struct stat_share_part *p = &s->part[s->nparts++];

    *p = (struct stat_share_part){w->origin + from, w->origin + to,
                                  wr_alloc(w->n * sizeof *p->rate)};
    for (size_t i = 0; i < w->n; i++)
        p->rate[i] = NAN;
    for (size_t k = 0; k < w->nactive; k++)
        p->rate[w->active[k]] = w->rate[k];
    if (w->nactive == w->n)
        s->all = p;
}

/* From t to the next end or start, which is returned. */
static double share_advance(struct work *w, struct stat_share *s, double t, double next)
{
    size_t at = w->nactive < w->capacity->n ? w->nactive : w->capacity->n;
    double to = next;

    share_fill(w->rate, w->jobs, w->active, w->nactive, w->capacity->by_active[at - 1]);
    for (size_t k = 0; k < w->nactive; k++) {
        double end = t + w->left[w->active[k]] / w->rate[k];

        to = end < to ? end : to;
    }
    if (to > t)
        share_keep_part(w, s, t, to);
    for (size_t k = 0; k < w->nactive; k++) {
        size_t i = w->active[k];
        double end = t + w->left[i] / w->rate[k];

        w->left[i] -= w->rate[k] * (to - t);
        if (end <= to || end - to <= same * end || w->left[i] <= same * w->jobs[i].volume)
            share_finish(w, s, i, to);
    }
    return to;
}

static void share_work_init(struct work *w)
{
    w->by_level = wr_alloc(w->n * sizeof *w->by_level);
    w->left = wr_alloc(w->n * sizeof *w->left);
    w->begun = wr_zalloc(w->n, sizeof *w->begun);
    w->done = wr_zalloc(w->n, sizeof *w->done);
    w->active = wr_alloc(w->n * sizeof *w->active);
    w->rate = wr_alloc(w->n * sizeof *w->rate);
    w->origin = INFINITY;
    for (size_t i = 0; i < w->n; i++) {
        w->by_level[i] = i;
        w->left[i] = w->jobs[i].volume;
        w->origin = w->jobs[i].start < w->origin ? w->jobs[i].start : w->origin;
    }
    qsort_r(w->by_level, w->n, sizeof *w->by_level, share_compare_levels,
            (void *)(uintptr_t)w->jobs);
}

static void share_work_fini(struct work *w)
{
    free(w->by_level);
    free(w->left);
    free(w->begun);
    free(w->done);
    free(w->active);
    free(w->rate);
}

void stat_share_solve(struct stat_share *ret, const struct stat_share_job *jobs, size_t njobs,
                      const struct stat_share_capacity *c)
{
    struct work w = {.jobs = jobs, .n = njobs, .capacity = c};
    struct stat_share s = {.njobs = njobs};

    assert(njobs && njobs <= STAT_SHARE_JOBS && c->n);
    s.part = wr_zalloc(2 * njobs, sizeof *s.part);
    s.finish = wr_zalloc(njobs, sizeof *s.finish);
    s.runtime = wr_zalloc(njobs, sizeof *s.runtime);
    share_work_init(&w);
    share_finish_empty(&w, &s);
    for (double t = 0; isfinite(t);) {
        double next = share_collect_active(&w, t);

        /* Each step begins or ends a job. */
        assert(!w.nactive || s.nparts < 2 * njobs);
        t = w.nactive ? share_advance(&w, &s, t, next) : next;
    }
    share_work_fini(&w);
    *ret = s;
}

void stat_share_fini(struct stat_share *s)
{
    for (size_t i = 0; i < s->nparts; i++)
        free(s->part[i].rate);
    free(s->part);
    free(s->finish);
    free(s->runtime);
    *s = (struct stat_share){0};
}

struct stat_share_pair stat_share_pair_together(struct stat_share_pair alone,
                                                struct stat_share_pair weight)
{
    return (struct stat_share_pair){
        .large = alone.large * (weight.large + weight.small) / weight.large,
        .small = alone.small + alone.large,
    };
}

struct stat_share_pair stat_share_pair_alone(struct stat_share_pair together,
                                             struct stat_share_pair weight)
{
    double large = together.large * weight.large / (weight.large + weight.small);

    return (struct stat_share_pair){.large = large, .small = together.small - large};
}

static int share_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

void stat_share_alone(double *ret, const struct stat_share_seen *jobs, size_t n)
{
    double *edge = wr_alloc(2 * n * sizeof *edge);

    for (size_t i = 0; i < n; i++) {
        edge[2 * i] = jobs[i].start;
        edge[2 * i + 1] = jobs[i].end;
        ret[i] = 0;
    }
    qsort(edge, 2 * n, sizeof *edge, share_ascending);
    for (size_t k = 1; k < 2 * n; k++) {
        double from = edge[k - 1], to = edge[k], weight = 0;

        for (size_t i = 0; i < n && to > from; i++)
            weight += jobs[i].start <= from && jobs[i].end >= to ? jobs[i].weight : 0;
        for (size_t i = 0; i < n && to > from; i++)
            if (jobs[i].start <= from && jobs[i].end >= to)
                ret[i] += (to - from) * jobs[i].weight / weight;
    }
    free(edge);
}
