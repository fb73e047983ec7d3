#include "inter/analyse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat/moments.h"

const char *const inter_active_names[] = {"all", "any", "nodes", NULL};
const char *const inter_rule_names[] = {"nodes", "processes", "jobs", NULL};

enum { BATCHES = 20, FEW = 3 };

/* ---- the overlap ---- */

/* Counts, for each slice, the series that are silent in it; those silent throughout do not
 * count. */
static void count_silent(const struct inter_set *s, const struct inter_job *j,
                         enum inter_active active, uint32_t *silent)
{
    if (active == INTER_ANY_PROCESS) {
        for (size_t k = 0; k < s->nslices; k++)
            silent[k] += !(inter_job_bytes(s, j, k) > 0);
        return;
    }
    for (size_t r = 0; r < inter_rows(j); r++) {
        if (!j->counts[r])
            continue;
        for (size_t k = 0; k < s->nslices; k++)
            silent[k] += !(inter_bytes(s, j, r, k) > 0);
    }
}

/* Whether some series that counts has nothing before `k` (or after, with `step` 1). */
static bool begins_or_ends(const struct inter_set *s, enum inter_active active, size_t k, int step)
{
    for (size_t i = 0; i < s->njobs; i++) {
        const struct inter_job *j = &s->job[i];

        if (active == INTER_ANY_PROCESS || j->whole_only) {
            if (step < 0 ? k == j->first : k + 1 == j->after)
                return true;
            continue;
        }
        for (size_t r = 0; r < j->nranks; r++) {
            bool other = !j->counts[r];

            for (size_t m = k; !other && (step < 0 ? m > j->first : m + 1 < j->after);)
                other = inter_bytes(s, j, r, m += (size_t)step) > 0;
            if (!other && inter_bytes(s, j, r, k) > 0)
                return true;
        }
    }
    return false;
}

/* The longest stretch in which nobody is silent. */
static void find_stretch(struct inter_analysis *a, const struct inter_set *s,
                         enum inter_active active)
{
    uint32_t *silent = wr_zalloc(s->nslices + 1, sizeof *silent);
    size_t from = 0;

    for (size_t i = 0; i < s->njobs; i++)
        count_silent(s, &s->job[i], active, silent);
    silent[s->nslices] = 1;
    for (size_t k = 0; k <= s->nslices; k++) {
        if (!silent[k])
            continue;
        if (k - from > a->whole_to - a->whole_from) {
            a->whole_from = from;
            a->whole_to = k;
        }
        from = k + 1;
    }
    free(silent);
}

/* When the node of rank r begins and ends; ranks without a node are one together. */
static void node_span(const struct inter_set *s, const struct inter_job *j, size_t r, size_t *from,
                      size_t *to)
{
    *from = s->nslices;
    *to = 0;
    for (size_t q = 0; q < inter_rows(j); q++) {
        size_t first = j->first;

        if (j->node[q] != j->node[r] || !j->counts[q])
            continue;
        while (!(inter_bytes(s, j, q, first) > 0))
            first++;
        *from = first < *from ? first : *from;
        *to = j->busy_to[q] > *to ? j->busy_to[q] : *to;
    }
}

/* From the last beginning to the first end. */
static void find_span(struct inter_analysis *a, const struct inter_set *s)
{
    size_t from = 0, to = s->nslices;

    for (size_t i = 0; i < s->njobs; i++) {
        const struct inter_job *j = &s->job[i];

        for (size_t r = 0; r < inter_rows(j); r++) {
            size_t first, after;

            if (r && j->node[r] == j->node[r - 1])
                continue;
            node_span(s, j, r, &first, &after);
            if (after <= first)
                continue; /* a node that moves nothing */
            from = first > from ? first : from;
            to = after < to ? after : to;
        }
    }
    a->whole_from = from < to ? from : 0;
    a->whole_to = from < to ? to : 0;
}

static void find_overlap(struct inter_analysis *a, const struct inter_set *s,
                         enum inter_active active)
{
    if (active == INTER_NODES)
        find_span(a, s);
    else
        find_stretch(a, s, active);
    a->from = a->whole_from;
    a->to = a->whole_to;
    a->overlaps = a->to > a->from;
    if (active != INTER_NODES && a->to - a->from > 2) {
        a->from += begins_or_ends(s, active, a->from, -1);
        a->to -= begins_or_ends(s, active, a->to - 1, 1);
    }
    a->overlap_s = (double)(a->to - a->from) * s->slice_s;
}

/* ---- numbers of one job ---- */

/* The mean rate of the overlap; its interval from means of neighbouring slices, because
 * neighbours resemble each other. */
static struct stat_interval rate_in(const struct inter_set *s, const struct inter_job *j,
                                    const struct inter_analysis *a)
{
    size_t n = a->to - a->from, batches = n < BATCHES ? n : BATCHES;
    double batch[BATCHES] = {0}, sum = 0;

    for (size_t b = 0; b < batches; b++) {
        size_t from = a->from + n * b / batches, to = a->from + n * (b + 1) / batches;

        for (size_t k = from; k < to; k++)
            batch[b] += inter_job_bytes(s, j, k);
        sum += batch[b];
        batch[b] /= (double)(to - from) * s->slice_s;
    }
    struct stat_interval r = stat_mean_interval(batch, batches, 0.95);

    r.mid = sum / a->overlap_s;
    return r;
}

static double spread_in(const struct inter_set *s, const struct inter_job *j,
                        const struct inter_analysis *a)
{
    struct stat_moments m = {0};

    if (j->whole_only)
        return NAN;
    for (size_t r = 0; r < j->nranks; r++) {
        double bytes = 0;

        if (!j->counts[r])
            continue;
        for (size_t k = a->from; k < a->to; k++)
            bytes += inter_bytes(s, j, r, k);
        stat_moments_add(&m, bytes);
    }
    return m.n < 2 ? NAN : stat_moments_stddev(&m) / m.mean;
}

/* Slices in which it is the only one, its first and last left out. */
static double single_rate(const struct inter_set *s, size_t job)
{
    const struct inter_job *j = &s->job[job];
    double bytes = 0;
    size_t n = 0;

    for (size_t k = j->first + 1; s->njobs > 1 && k + 1 < j->after; k++) {
        double others = 0, own = inter_job_bytes(s, j, k);

        for (size_t i = 0; i < s->njobs; i++)
            others += i == job ? 0 : inter_job_bytes(s, &s->job[i], k);
        if (own > 0 && !(others > 0)) {
            bytes += own;
            n++;
        }
    }
    return n < FEW ? NAN : bytes / ((double)n * s->slice_s);
}

static void analyse_job(struct inter_analysis *a, const struct inter_set *s, size_t i,
                        const struct inter_alone *alone)
{
    const struct inter_job *j = &s->job[i];
    struct inter_result *r = &a->job[i];
    double end_s = j->start_s + j->runtime_s;
    double from_s = (double)a->whole_from * s->slice_s, to_s = (double)a->whole_to * s->slice_s;

    *r = (struct inter_result){.overall_bps = j->volume_b / j->runtime_s,
                               .overlap_bps = {NAN, NAN, NAN},
                               .share = NAN,
                               .spread = NAN,
                               .single_bps = single_rate(s, i),
                               .alone_bps = NAN,
                               .alone_s = NAN,
                               .slowdown = NAN};
    if (a->overlaps) {
        r->overlap_bps = rate_in(s, j, a);
        r->spread = spread_in(s, j, a);
        r->overlap_part = fmax(0, fmin(end_s, to_s) - fmax(j->start_s, from_s)) / j->runtime_s;
        a->total_bps += r->overlap_bps.mid;
    }
    if (alone && alone[i].runtime_s > 0) {
        r->alone_bps = alone[i].volume_b / alone[i].runtime_s;
        r->alone_s = j->volume_b / r->alone_bps;
        r->slowdown = j->runtime_s / r->alone_s;
    }
}

/* ---- the server ---- */

static double own_rate(const struct inter_result *r)
{
    return isnan(r->alone_bps) ? r->single_bps : r->alone_bps;
}

static void judge_server(struct inter_analysis *a, const struct inter_set *s)
{
    double demand = 0;

    a->capacity_bps = a->overlaps ? a->total_bps : NAN;
    for (size_t i = 0; i < s->njobs; i++) {
        demand += own_rate(&a->job[i]); /* NaN when one is not known */
        a->capacity_bps = fmax(a->capacity_bps, own_rate(&a->job[i]));
    }
    a->known = a->overlaps && s->njobs > 1 && !isnan(demand);
    a->saturated = a->known && demand > a->total_bps / INTER_FILLS;
    for (size_t i = 0; i < s->njobs; i++)
        a->job[i].saturates = s->njobs > 1 && own_rate(&a->job[i]) >= INTER_FILLS * a->capacity_bps;
}

double inter_rule_count(const struct inter_job *j, enum inter_rule rule)
{
    return rule == INTER_RULE_NODES       ? (double)j->nnodes
           : rule == INTER_RULE_PROCESSES ? (double)inter_processes(j)
                                          : 1;
}

double inter_rule_share(const struct inter_set *s, enum inter_rule rule, size_t job)
{
    double sum = 0;

    for (size_t i = 0; i < s->njobs; i++)
        sum += inter_rule_count(&s->job[i], rule);
    return inter_rule_count(&s->job[job], rule) / sum;
}

static void judge_rules(struct inter_analysis *a, const struct inter_set *s)
{
    for (int rule = 0; rule < INTER_RULES; rule++) {
        a->off[rule] = NAN;
        for (size_t i = 0; i < s->njobs && s->njobs > 1 && a->overlaps; i++)
            a->off[rule] = fmax(a->off[rule], fabs(a->job[i].share -
                                                   inter_rule_share(s, (enum inter_rule)rule, i)));
        if (a->off[rule] < a->off[a->nearest] - INTER_AS_NEAR)
            a->nearest = (enum inter_rule)rule;
    }
    for (int rule = 0; rule < INTER_RULES; rule++)
        a->tie |= rule != (int)a->nearest && a->off[rule] < a->off[a->nearest] + INTER_AS_NEAR;
}

void inter_analyse(struct inter_analysis *ret, const struct inter_set *s,
                   const struct inter_alone *alone, enum inter_active active)
{
    *ret =
        (struct inter_analysis){.active = active, .job = wr_zalloc(s->njobs + 1, sizeof *ret->job)};
    find_overlap(ret, s, active);
    for (size_t i = 0; i < s->njobs; i++)
        analyse_job(ret, s, i, alone);
    for (size_t i = 0; i < s->njobs && s->njobs > 1 && ret->overlaps; i++)
        ret->job[i].share = ret->job[i].overlap_bps.mid / ret->total_bps;
    judge_server(ret, s);
    judge_rules(ret, s);
}

void inter_analysis_fini(struct inter_analysis *a)
{
    free(a->job);
}
