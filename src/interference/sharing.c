/* sharing.c -- how the jobs of each overlap shared the server, and the rule that fits best.
 *
 * The overlap is the one that `weir interfere` reports: every process of every job is active. The
 * activity of nodes is not used: with client caches it would count bytes that the server has not
 * received yet. Called once, by interference_training_fit.
 */
#include <math.h>

#include "training_priv.h"

/* Regression y = b x through the origin: equal jobs get equal shares under any rule. */
struct slope {
    double xx, xy, yy;
    size_t n;
};

static void sharing_slope_add(struct slope *s, double x, double y)
{
    if (x == 0 || !isfinite(y))
        return;
    s->xx += x * x;
    s->xy += x * y;
    s->yy += y * y;
    s->n++;
}

static void sharing_slope_end(struct interference_training *t, int which, const struct slope *s)
{
    double b = s->xy / s->xx, rest = s->yy - b * s->xy;

    t->pairs[which] = s->n;
    t->slope[which] = s->n ? b : NAN;
    t->slope_sd[which] = s->n > 2 ? sqrt(fmax(rest, 0) / (double)(s->n - 1) / s->xx) : NAN;
}

/* Two jobs of an overlap, for every rule. */
static void sharing_pair(struct interference_group *g, struct slope *slope,
                         const struct interference_analysis *a, size_t i, size_t k)
{
    const struct interference_job *p = &g->set.job[i], *q = &g->set.job[k];
    double share = log(a->job[i].share / a->job[k].share);
    double processes = log((double)interference_processes(p) / (double)interference_processes(q));

    sharing_slope_add(&slope[INTERFERENCE_SLOPE_PROCESSES], processes, share);
    sharing_slope_add(&slope[INTERFERENCE_SLOPE_NODES], log((double)p->nnodes / (double)q->nnodes),
                      share);
    for (int r = 0; r < INTERFERENCE_RULES && isfinite(share) && isfinite(processes); r++) {
        double np = interference_rule_count(p, (enum interference_rule)r);
        double nq = interference_rule_count(q, (enum interference_rule)r), flows = log(np / nq);
        struct interference_pairs *s = &g->pairs[r];
        double x = processes - flows, y = share - flows;

        s->xx += x * x;
        s->xy += x * y;
        s->yy += y * y;
        s->var += 1 / np + 1 / nq;
    }
}

static void sharing_group(struct interference_group *g, struct slope *slope)
{
    struct interference_analysis a;

    interference_analyse(&a, &g->set, NULL, INTERFERENCE_ALL_PROCESSES);
    g->overlaps = a.overlaps;
    for (int r = 0; r < INTERFERENCE_RULES; r++)
        g->off[r] = a.off[r];
    for (size_t i = 0; g->overlaps && i < g->set.njobs; i++)
        for (size_t k = i + 1; k < g->set.njobs; k++)
            sharing_pair(g, slope, &a, i, k);
    interference_analysis_fini(&a);
}

/* Smallest standard deviation of a share between overlaps, from the measured pairs on NFS
 * (docs/models/interference.md); one run does not show its own variation. */
static const double split_sd = 0.06;

/* The error of a rule minus that of the rule of nodes, over the overlaps in which their predictions
 * differ: mean and standard error. Negative: the rule is better. */
struct contrast {
    double mean, se;
    size_t n;
};

static bool sharing_differs(const struct interference_set *s, enum interference_rule rule)
{
    for (size_t i = 0; i < s->njobs; i++)
        if (fabs(interference_rule_share(s, rule, i) -
                 interference_rule_share(s, INTERFERENCE_RULE_NODES, i)) > INTERFERENCE_TIE_MARGIN)
            return true;
    return false;
}

static struct contrast sharing_contrast(const struct interference_training *t,
                                        enum interference_rule rule)
{
    struct contrast c = {0};
    double sum2 = 0;

    for (size_t i = 0; i < t->groups.n; i++) {
        const struct interference_group *g = &t->groups.v[i];

        if (!g->overlaps || !sharing_differs(&g->set, rule))
            continue;
        double d = g->off[rule] - g->off[INTERFERENCE_RULE_NODES], was = c.mean;

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

/* Another rule than nodes is chosen when it is better by more than its standard error and by more
 * than the tie margin. */
static void sharing_choose(struct interference_training *t)
{
    double best = 0;

    t->rule = INTERFERENCE_RULE_NODES;
    t->rule_known = false;
    for (int r = 0; r < INTERFERENCE_RULES; r++) {
        if (r == INTERFERENCE_RULE_NODES)
            continue;
        struct contrast c = sharing_contrast(t, (enum interference_rule)r);
        double least = fmax(INTERFERENCE_TIE_MARGIN, c.se);

        t->rule_known |= c.n && fabs(c.mean) > least;
        if (c.n && c.mean < -least && c.mean < best) {
            best = c.mean;
            t->rule = (enum interference_rule)r;
        }
    }
}

void training_sharing(struct interference_training *t)
{
    struct slope slope[2] = {0};
    double off[INTERFERENCE_RULES] = {0};

    for (size_t i = 0; i < t->groups.n; i++) {
        struct interference_group *g = &t->groups.v[i];

        if (g->set.njobs < 2 || training_seen_before(t, i))
            continue;
        sharing_group(g, slope);
        if (!g->overlaps)
            continue;
        t->overlaps++;
        for (int r = 0; r < INTERFERENCE_RULES; r++)
            off[r] += g->off[r];
    }
    for (int i = 0; i < 2; i++)
        sharing_slope_end(t, i, &slope[i]);
    for (int r = 0; r < INTERFERENCE_RULES; r++)
        t->rule_off[r] = t->overlaps ? off[r] / (double)t->overlaps : NAN;
    sharing_choose(t);
}
