/* sharing.c -- how jobs shared the server where they overlapped, and which rule that is.
 *
 * The overlap is the one that `weir interfere` reports: every process of every job is active. With
 * client nodes that flush what their caches took, the time in which nodes are busy would count
 * bytes that the server had not yet got.
 */
#include <math.h>

#include "learn_priv.h"

/* y = b x through the origin: equal jobs share alike by any rule. */
struct slope {
    double xx, xy, yy;
    size_t n;
};

static void slope_add(struct slope *s, double x, double y)
{
    if (x == 0 || !isfinite(y))
        return;
    s->xx += x * x;
    s->xy += x * y;
    s->yy += y * y;
    s->n++;
}

static void slope_end(struct inter_lesson *l, int which, const struct slope *s)
{
    double b = s->xy / s->xx, rest = s->yy - b * s->xy;

    l->pairs[which] = s->n;
    l->slope[which] = s->n ? b : NAN;
    l->slope_sd[which] = s->n > 2 ? sqrt(fmax(rest, 0) / (double)(s->n - 1) / s->xx) : NAN;
}

/* Two jobs of an overlap, for every rule. */
static void sharing_pair(struct inter_group *g, struct slope *slope, const struct inter_analysis *a,
                         size_t i, size_t k)
{
    const struct inter_job *p = &g->set.job[i], *q = &g->set.job[k];
    double share = log(a->job[i].share / a->job[k].share);
    double processes = log((double)inter_processes(p) / (double)inter_processes(q));

    slope_add(&slope[INTER_SLOPE_PROCESSES], processes, share);
    slope_add(&slope[INTER_SLOPE_NODES], log((double)p->nnodes / (double)q->nnodes), share);
    for (int r = 0; r < INTER_RULES && isfinite(share) && isfinite(processes); r++) {
        double np = inter_rule_count(p, (enum inter_rule)r);
        double nq = inter_rule_count(q, (enum inter_rule)r), flows = log(np / nq);
        struct inter_pairs *s = &g->pairs[r];
        double x = processes - flows, y = share - flows;

        s->xx += x * x;
        s->xy += x * y;
        s->yy += y * y;
        s->var += 1 / np + 1 / nq;
    }
}

static void sharing_group(struct inter_group *g, struct slope *slope)
{
    struct inter_analysis a;

    inter_analyse(&a, &g->set, NULL, INTER_ALL_PROCESSES);
    g->overlaps = a.overlaps;
    for (int r = 0; r < INTER_RULES; r++)
        g->off[r] = a.off[r];
    for (size_t i = 0; g->overlaps && i < g->set.njobs; i++)
        for (size_t k = i + 1; k < g->set.njobs; k++)
            sharing_pair(g, slope, &a, i, k);
    inter_analysis_fini(&a);
}

/* A share in one overlap is by chance so far from its mean, at least: what the measured pairs on
 * NFS had (docs/models/interference.md). A single run does not show how much it varies. */
static const double split_sd = 0.06;

/* By how much a rule is nearer to the shares than the rule of nodes, over the overlaps in which
 * the two differ at all: the mean and its standard error. Negative: nearer. */
struct contrast {
    double mean, se;
    size_t n;
};

static bool sharing_differs(const struct inter_set *s, enum inter_rule rule)
{
    for (size_t i = 0; i < s->njobs; i++)
        if (fabs(inter_rule_share(s, rule, i) - inter_rule_share(s, INTER_RULE_NODES, i)) >
            INTER_AS_NEAR)
            return true;
    return false;
}

static struct contrast sharing_contrast(const struct inter_lesson *l, enum inter_rule rule)
{
    struct contrast c = {0};
    double sum2 = 0;

    for (size_t i = 0; i < l->groups.n; i++) {
        const struct inter_group *g = &l->groups.v[i];

        if (!g->overlaps || !sharing_differs(&g->set, rule))
            continue;
        double d = g->off[rule] - g->off[INTER_RULE_NODES], was = c.mean;

        c.n++;
        c.mean += (d - was) / (double)c.n;
        sum2 += (d - was) * (d - c.mean);
    }
    if (c.n)
        c.se = split_sd / sqrt((double)c.n);
    if (c.n > 1)
        c.se = fmax(c.se, sqrt(sum2 / (double)(c.n - 1) / (double)c.n));
    return c;
}

/* Another rule than nodes is taken where it is nearer by more than chance and than what counts as
 * a difference. */
static void sharing_choose(struct inter_lesson *l)
{
    double best = 0;

    l->rule = INTER_RULE_NODES;
    l->rule_told = false;
    for (int r = 0; r < INTER_RULES; r++) {
        if (r == INTER_RULE_NODES)
            continue;
        struct contrast c = sharing_contrast(l, (enum inter_rule)r);
        double least = fmax(INTER_AS_NEAR, c.se);

        l->rule_told |= c.n && fabs(c.mean) > least;
        if (c.n && c.mean < -least && c.mean < best) {
            best = c.mean;
            l->rule = (enum inter_rule)r;
        }
    }
}

void learn_sharing(struct inter_lesson *l)
{
    struct slope slope[2] = {0};
    double off[INTER_RULES] = {0};

    for (size_t i = 0; i < l->groups.n; i++) {
        struct inter_group *g = &l->groups.v[i];

        if (g->set.njobs < 2 || learn_seen_before(l, i))
            continue;
        sharing_group(g, slope);
        if (!g->overlaps)
            continue;
        l->overlaps++;
        for (int r = 0; r < INTER_RULES; r++)
            off[r] += g->off[r];
    }
    for (int i = 0; i < 2; i++)
        slope_end(l, i, &slope[i]);
    for (int r = 0; r < INTER_RULES; r++)
        l->rule_off[r] = l->overlaps ? off[r] / (double)l->overlaps : NAN;
    sharing_choose(l);
}
