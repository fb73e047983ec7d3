/* analyse.c -- the active overlap of several jobs, each job's throughput and share in it, and
 * whether the server was saturated.
 *
 * Works on one set of jobs on a grid of slices (job_grid.h) and only reads it. Called by `weir
 * interfere`, the training set, experiments and the report. Nothing here fails.
 *
 * Invariant of the result: whole_from <= from <= to <= whole_to <= nslices; without an overlap all
 * rates of the overlap are NaN.
 */
#include "interference/analyse.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat/moments.h"

const char *const interference_active_names[] = {"all", "any", "nodes", NULL};
const char *const interference_rule_names[] = {"nodes", "processes", "jobs", NULL};

enum {
    BATCHES = 20, /* of a confidence interval, as usual for batch means */
    FEW = 3,      /* slices, at least, for a rate alone */
};

/* ---- the overlap ---- */

/* Counts, for each slice, the series without bytes. Series without any bytes do not count. */
static void analyse_count_silent(const struct interference_set *s, const struct interference_job *j,
                                 enum interference_active active, uint32_t *silent)
{
    if (active == INTERFERENCE_ANY_PROCESS) {
        for (size_t k = 0; k < s->nslices; k++)
            silent[k] += !(interference_job_bytes(s, j, k) > 0);
        return;
    }
    for (size_t r = 0; r < interference_rows(j); r++) {
        if (!j->counts[r])
            continue;
        for (size_t k = 0; k < s->nslices; k++)
            silent[k] += !(interference_bytes(s, j, r, k) > 0);
    }
}

/* Whether slice k is the first (step -1) or last (step 1) slice with bytes of some series. */
static bool analyse_begins_or_ends(const struct interference_set *s,
                                   enum interference_active active, size_t k, int step)
{
    for (size_t i = 0; i < s->njobs; i++) {
        const struct interference_job *j = &s->job[i];

        if (active == INTERFERENCE_ANY_PROCESS || j->whole_only) {
            if (step < 0 ? k == j->first : k + 1 == j->after)
                return true;
            continue;
        }
        for (size_t r = 0; r < j->nranks; r++) {
            bool other = !j->counts[r];

            for (size_t m = k; !other && (step < 0 ? m > j->first : m + 1 < j->after);)
                other = interference_bytes(s, j, r, m += (size_t)step) > 0;
            if (!other && interference_bytes(s, j, r, k) > 0)
                return true;
        }
    }
    return false;
}

/* The longest run of slices without a silent series. */
static void analyse_find_longest(struct interference_analysis *a, const struct interference_set *s,
                                 enum interference_active active)
{
    uint32_t *silent = wr_zalloc(s->nslices + 1, sizeof *silent);
    size_t from = 0;

    for (size_t i = 0; i < s->njobs; i++)
        analyse_count_silent(s, &s->job[i], active, silent);
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

/* First and last active slice of the node of rank r. Ranks without a node share one. */
static void analyse_node_span(const struct interference_set *s, const struct interference_job *j,
                              size_t r, size_t *from, size_t *to)
{
    *from = s->nslices;
    *to = 0;
    for (size_t q = 0; q < interference_rows(j); q++) {
        size_t first = j->first;

        if (j->node[q] != j->node[r] || !j->counts[q])
            continue;
        while (!(interference_bytes(s, j, q, first) > 0))
            first++;
        *from = first < *from ? first : *from;
        *to = j->busy_to[q] > *to ? j->busy_to[q] : *to;
    }
}

/* From the last start of a node to the first end of one. */
static void analyse_find_node_overlap(struct interference_analysis *a,
                                      const struct interference_set *s)
{
    size_t from = 0, to = s->nslices;

    for (size_t i = 0; i < s->njobs; i++) {
        const struct interference_job *j = &s->job[i];

        for (size_t r = 0; r < interference_rows(j); r++) {
            size_t first, after;

            if (r && j->node[r] == j->node[r - 1])
                continue;
            analyse_node_span(s, j, r, &first, &after);
            if (after <= first)
                continue; /* a node that moves nothing */
            from = first > from ? first : from;
            to = after < to ? after : to;
        }
    }
    a->whole_from = from < to ? from : 0;
    a->whole_to = from < to ? to : 0;
}

static void analyse_find_overlap(struct interference_analysis *a, const struct interference_set *s,
                                 enum interference_active active)
{
    if (active == INTERFERENCE_NODES)
        analyse_find_node_overlap(a, s);
    else
        analyse_find_longest(a, s, active);
    a->from = a->whole_from;
    a->to = a->whole_to;
    a->overlaps = a->to > a->from;
    if (active != INTERFERENCE_NODES && a->to - a->from > 2) {
        a->from += analyse_begins_or_ends(s, active, a->from, -1);
        a->to -= analyse_begins_or_ends(s, active, a->to - 1, 1);
    }
    a->overlap_s = (double)(a->to - a->from) * s->slice_s;
}

/* ---- numbers of one job ---- */

/* The mean rate in the overlap. Its confidence interval is from batch means, because neighbouring
 * slices are correlated. */
static struct stat_interval analyse_overlap_rate(const struct interference_set *s,
                                                 const struct interference_job *j,
                                                 const struct interference_analysis *a)
{
    assert(a->to > a->from && a->to <= s->nslices);
    size_t n = a->to - a->from, batches = n < BATCHES ? n : BATCHES;
    double batch[BATCHES] = {0}, sum = 0;

    for (size_t b = 0; b < batches; b++) {
        size_t from = a->from + n * b / batches, to = a->from + n * (b + 1) / batches;

        for (size_t k = from; k < to; k++)
            batch[b] += interference_job_bytes(s, j, k);
        sum += batch[b];
        batch[b] /= (double)(to - from) * s->slice_s;
    }
    struct stat_interval r = stat_mean_interval(batch, batches, 0.95);

    r.mid = sum / a->overlap_s;
    return r;
}

static double analyse_spread(const struct interference_set *s, const struct interference_job *j,
                             const struct interference_analysis *a)
{
    struct stat_moments m = {0};

    if (j->whole_only)
        return NAN;
    for (size_t r = 0; r < j->nranks; r++) {
        double bytes = 0;

        if (!j->counts[r])
            continue;
        for (size_t k = a->from; k < a->to; k++)
            bytes += interference_bytes(s, j, r, k);
        stat_moments_add(&m, bytes);
    }
    return m.n < 2 ? NAN : stat_moments_stddev(&m) / m.mean;
}

/* The rate in slices in which no other job moves bytes; the job's first and last slice excluded. */
static double analyse_single_rate(const struct interference_set *s, size_t job)
{
    const struct interference_job *j = &s->job[job];
    double bytes = 0;
    size_t n = 0;

    for (size_t k = j->first + 1; s->njobs > 1 && k + 1 < j->after; k++) {
        double others = 0, own = interference_job_bytes(s, j, k);

        for (size_t i = 0; i < s->njobs; i++)
            others += i == job ? 0 : interference_job_bytes(s, &s->job[i], k);
        if (own > 0 && !(others > 0)) {
            bytes += own;
            n++;
        }
    }
    return n < FEW ? NAN : bytes / ((double)n * s->slice_s);
}

static void analyse_job(struct interference_analysis *a, const struct interference_set *s, size_t i,
                        const struct interference_alone *alone)
{
    const struct interference_job *j = &s->job[i];
    struct interference_result *r = &a->job[i];
    double end_s = j->start_s + j->runtime_s;
    double from_s = (double)a->whole_from * s->slice_s, to_s = (double)a->whole_to * s->slice_s;

    *r = (struct interference_result){.overall_bps = j->volume_b / j->runtime_s,
                                      .overlap_bps = {NAN, NAN, NAN},
                                      .share = NAN,
                                      .spread = NAN,
                                      .single_bps = analyse_single_rate(s, i),
                                      .alone_bps = NAN,
                                      .alone_s = NAN,
                                      .slowdown = NAN};
    if (a->overlaps) {
        r->overlap_bps = analyse_overlap_rate(s, j, a);
        r->spread = analyse_spread(s, j, a);
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

static double analyse_own_rate(const struct interference_result *r)
{
    return isnan(r->alone_bps) ? r->single_bps : r->alone_bps;
}

static void analyse_server(struct interference_analysis *a, const struct interference_set *s)
{
    double demand = 0;

    a->capacity_bps = a->overlaps ? a->total_bps : NAN;
    for (size_t i = 0; i < s->njobs; i++) {
        demand += analyse_own_rate(&a->job[i]); /* NaN when one is not known */
        a->capacity_bps = fmax(a->capacity_bps, analyse_own_rate(&a->job[i]));
    }
    a->known = a->overlaps && s->njobs > 1 && !isnan(demand);
    a->saturated = a->known && demand > a->total_bps / INTERFERENCE_FILLS;
    for (size_t i = 0; i < s->njobs; i++)
        a->job[i].saturates =
            s->njobs > 1 && analyse_own_rate(&a->job[i]) >= INTERFERENCE_FILLS * a->capacity_bps;
}

double interference_rule_count(const struct interference_job *j, enum interference_rule rule)
{
    return rule == INTERFERENCE_RULE_NODES       ? (double)j->nnodes
           : rule == INTERFERENCE_RULE_PROCESSES ? (double)interference_processes(j)
                                                 : 1;
}

double interference_rule_share(const struct interference_set *s, enum interference_rule rule,
                               size_t job)
{
    assert(job < s->njobs);
    double sum = 0;

    for (size_t i = 0; i < s->njobs; i++)
        sum += interference_rule_count(&s->job[i], rule);
    return interference_rule_count(&s->job[job], rule) / sum;
}

static void analyse_rules(struct interference_analysis *a, const struct interference_set *s)
{
    for (int rule = 0; rule < INTERFERENCE_RULES; rule++) {
        a->off[rule] = NAN;
        for (size_t i = 0; i < s->njobs && s->njobs > 1 && a->overlaps; i++)
            a->off[rule] = fmax(a->off[rule],
                                fabs(a->job[i].share -
                                     interference_rule_share(s, (enum interference_rule)rule, i)));
        if (a->off[rule] < a->off[a->nearest] - INTERFERENCE_TIE_MARGIN)
            a->nearest = (enum interference_rule)rule;
    }
    for (int rule = 0; rule < INTERFERENCE_RULES; rule++)
        a->tie |=
            rule != (int)a->nearest && a->off[rule] < a->off[a->nearest] + INTERFERENCE_TIE_MARGIN;
}

void interference_analyse(struct interference_analysis *ret, const struct interference_set *s,
                          const struct interference_alone *alone, enum interference_active active)
{
    assert(s->njobs == 0 || s->slice_s > 0);
    *ret = (struct interference_analysis){.active = active,
                                          .job = wr_zalloc(s->njobs + 1, sizeof *ret->job)};
    analyse_find_overlap(ret, s, active);
    for (size_t i = 0; i < s->njobs; i++)
        analyse_job(ret, s, i, alone);
    for (size_t i = 0; i < s->njobs && s->njobs > 1 && ret->overlaps; i++)
        ret->job[i].share = ret->job[i].overlap_bps.mid / ret->total_bps;
    analyse_server(ret, s);
    analyse_rules(ret, s);
}

void interference_analysis_fini(struct interference_analysis *a)
{
    free(a->job);
}
