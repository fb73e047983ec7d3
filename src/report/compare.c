/* compare.c -- slowdown of each job between two groups of runs, with intervals and causes.
 *
 * Called by `weir compare` and by the sections "slowdowns" and "causes". Runs are paired by seed;
 * with one pair the interval is over ranks. compare_crowd.c adds the comparison by number of other
 * jobs, compare_study.c finds the groups in a study, compare_words.c writes the sentences.
 * Invariant: the changes of all causes, "unknown" included, add up to the change of elapsed time.
 */
#include "report/compare.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_priv.h"
#include "stat/moments.h"

const char *const report_over_names[] = {
    [REPORT_OVER_NOTHING] = "", [REPORT_OVER_SEEDS] = "seeds", [REPORT_OVER_RANKS] = "ranks"};

enum { ROUNDS = 2000 };

static const double level = 0.95; /* of the intervals */

/* ---- pairs ---- */

typedef WR_VEC(struct pair) pair_list;

/* Runs of a group that hold the job must be repetitions of each other. */
static bool compare_check_group(const struct report_runs *runs, const char *job, const char *which,
                                struct wr_err *err)
{
    const struct report_member *first = NULL;

    for (size_t i = 0; i < runs->member.n; i++) {
        const struct report_member *m = &runs->member.v[i];

        if (!report_job_named(m, job))
            continue;
        if (!first)
            first = m;
        else if (!report_alike(first, m, NULL))
            return wr_fail(err, WR_INPUT,
                           "the %s has %s and %s, which differ in more than the seed; choose one "
                           "kind of them, as in DIR:placement=random,routing=par",
                           which, first->path, m->path);
        else if (first->seed == m->seed)
            return wr_fail(err, WR_INPUT,
                           "the %s has %s and %s with the same seed; leave one of them out", which,
                           first->path, m->path);
    }
    return true;
}

static const struct report_member *compare_run_of_seed(const struct report_runs *runs,
                                                       const char *job, uint64_t seed)
{
    for (size_t i = 0; i < runs->member.n; i++)
        if (runs->member.v[i].seed == seed && report_job_named(&runs->member.v[i], job))
            return &runs->member.v[i];
    return NULL;
}

static size_t compare_count_with_job(const struct report_runs *runs, const char *job)
{
    size_t n = 0;

    for (size_t i = 0; i < runs->member.n; i++)
        n += report_job_named(&runs->member.v[i], job) != NULL;
    return n;
}

static void compare_add_pair(pair_list *list, const struct report_member *base,
                             const struct report_member *with, const char *job)
{
    wr_vec_push(
        list, (struct pair){base, with, report_job_named(base, job), report_job_named(with, job)});
}

static bool compare_find_pairs(pair_list *list, const struct report_runs *base,
                               const struct report_runs *with, const char *job, size_t *unpaired,
                               struct wr_err *err)
{
    size_t nbase = compare_count_with_job(base, job), nwith = compare_count_with_job(with, job);

    if (!compare_check_group(base, job, "base", err) ||
        !compare_check_group(with, job, "other group", err))
        return false;
    for (size_t i = 0; i < with->member.n; i++) {
        const struct report_member *m = &with->member.v[i], *partner;

        if (!report_job_named(m, job))
            continue;
        partner = compare_run_of_seed(base, job, m->seed);
        /* One of each: whatever their seeds are, they are meant. */
        for (size_t k = 0; !partner && nbase == 1 && nwith == 1 && k < base->member.n; k++)
            if (report_job_named(&base->member.v[k], job))
                partner = &base->member.v[k];
        if (partner)
            compare_add_pair(list, partner, m, job);
    }
    if (!list->n)
        return wr_fail(err, WR_INPUT,
                       "job %s: no run of the base has the seed of one with others; run both with "
                       "the same seeds",
                       job);
    *unpaired += nbase + nwith - 2 * list->n;
    return true;
}

/* ---- slowdowns ---- */

struct twins {
    const double *base, *with;
};

/* The samples are places in the two arrays. */
static double compare_ratio_of_means(double *x, size_t n, void *arg)
{
    const struct twins *t = arg;
    double base = 0, with = 0;

    for (size_t i = 0; i < n; i++) {
        base += t->base[(size_t)x[i]];
        with += t->with[(size_t)x[i]];
    }
    return base > 0 ? with / base : NAN;
}

static struct stat_interval compare_bootstrap(const double *base, const double *with, size_t n,
                                              uint64_t seed)
{
    struct twins t = {base, with};
    double *at = wr_alloc((n + 1) * sizeof *at);

    for (size_t i = 0; i < n; i++)
        at[i] = (double)i;
    struct stat_interval r = {compare_ratio_of_means(at, n, &t), NAN, NAN};

    /* A statistic that is undefined for some resamples has no interval. */
    for (size_t i = 0; i < n; i++)
        if (!(base[i] > 0))
            n = 0;
    if (n > 1)
        r = stat_bootstrap(at, n, compare_ratio_of_means, &t, ROUNDS, level, seed);
    free(at);
    return r;
}

static struct report_change compare_over_seeds(const pair_list *pairs, enum report_measure what,
                                               uint64_t seed)
{
    double *base = wr_alloc(pairs->n * sizeof *base), *with = wr_alloc(pairs->n * sizeof *with);

    for (size_t i = 0; i < pairs->n; i++) {
        base[i] = pairs->v[i].alone->ns[what];
        with[i] = pairs->v[i].shared->ns[what];
    }
    struct report_change c = {.base_ns = stat_mean(base, pairs->n),
                              .with_ns = stat_mean(with, pairs->n),
                              .ratio = {NAN, NAN, NAN}};

    if (c.base_ns > 0)
        c.ratio = compare_bootstrap(base, with, pairs->n, seed);
    if (!isnan(c.ratio.low))
        c.over = REPORT_OVER_SEEDS;
    free(base);
    free(with);
    return c;
}

/* One pair of runs: how different are its ranks? */
static bool compare_over_ranks(const struct pair *p, enum report_measure what, uint64_t seed,
                               struct report_change *c, struct wr_err *err)
{
    size_t n = (size_t)p->alone->ranks, known = 0;

    if (what == REPORT_MESSAGE || p->alone->ranks != p->shared->ranks || n < 2 || n > 1u << 26 ||
        !(c->base_ns > 0))
        return true;
    double *base = wr_alloc(n * sizeof *base), *with = wr_alloc(n * sizeof *with);
    bool ok = report_rank_times(p->base, p->alone, what, base, n, err) &&
              report_rank_times(p->with, p->shared, what, with, n, err);

    for (size_t i = 0; ok && i < n; i++)
        known += base[i] > 0 && with[i] >= 0;
    if (ok && known == n) {
        struct stat_interval r = compare_bootstrap(base, with, n, seed);

        c->ratio.low = r.low;
        c->ratio.high = r.high;
        c->over = REPORT_OVER_RANKS;
    }
    free(base);
    free(with);
    return ok;
}

/* ---- causes ---- */

static struct report_cause *compare_find_cause(struct report_compare *all,
                                               struct report_compared *c, const char *during,
                                               const char *cause)
{
    for (size_t i = 0; i < c->cause.n; i++)
        if (!strcmp(c->cause.v[i].during, during) && !strcmp(c->cause.v[i].cause, cause))
            return &c->cause.v[i];
    wr_vec_push(&c->cause, (struct report_cause){.during = wr_arena_strdup(&all->arena, during),
                                                 .cause = wr_arena_strdup(&all->arena, cause)});
    return &c->cause.v[c->cause.n - 1];
}

enum { MOST_CAUSES = 1000 };

/* Adds a run's causes, per rank and divided by `pairs`; *ret_some: it has any. */
static bool compare_add_causes(struct report_compare *all, struct report_compared *c,
                               const struct report_member *m, const struct report_job *job,
                               bool shared, size_t pairs, bool *ret_some, struct wr_err *err)
{
    struct run_reader *r;
    struct run_rows *q;
    struct wr_err ignored;
    char sql[160];
    bool more, ok;

    if (!report_member_open(&r, m, err))
        return false;
    snprintf(sql, sizeof sql,
             "SELECT during, cause, sum(time_ns) FROM cause_stat WHERE app = %lld "
             "GROUP BY during, cause",
             (long long)job->app);
    /* Files of older weirs have no such view. */
    if (!run_query(&q, r, sql, NULL, 0, &ignored)) {
        report_member_close(m, r);
        return true;
    }
    while ((ok = run_rows_next(q, &more, err)) && more && c->cause.n < MOST_CAUSES) {
        struct report_cause *cause =
            compare_find_cause(all, c, run_rows_text(q, 0, NULL), run_rows_text(q, 1, NULL));
        double ns = run_rows_real(q, 2) / (double)job->ranks / (double)pairs;

        *(shared ? &cause->with_ns : &cause->base_ns) += ns;
        /* Without storage or MPI to explain there is nothing but computing. */
        *ret_some |= strcmp(cause->during, "compute") != 0 && strcmp(cause->during, "idle") != 0;
    }
    run_rows_close(q);
    report_member_close(m, r);
    return ok;
}

/* What the causes leave unexplained of a job's time; the parts then add up to the whole. */
static void compare_add_unknown(struct report_compare *all, struct report_compared *c)
{
    double base = c->change[REPORT_ELAPSED].base_ns, with = c->change[REPORT_ELAPSED].with_ns;
    double most = fmax(base, with);

    for (size_t i = 0; i < c->cause.n; i++) {
        base -= c->cause.v[i].base_ns;
        with -= c->cause.v[i].with_ns;
    }
    if (fabs(base) <= 1e-9 * most && fabs(with) <= 1e-9 * most)
        return;
    struct report_cause *rest = compare_find_cause(all, c, "all", "unknown");

    rest->base_ns += base;
    rest->with_ns += with;
}

static int compare_by_change(const void *a, const void *b)
{
    const struct report_cause *x = a, *y = b;
    double dx = fabs(x->with_ns - x->base_ns), dy = fabs(y->with_ns - y->base_ns);
    int order = strcmp(x->during, y->during);

    if (order)
        return order;
    return dx != dy ? (dx > dy ? -1 : 1) : strcmp(x->cause, y->cause);
}

static bool compare_explain(struct report_compare *all, struct report_compared *c,
                            const pair_list *pairs, struct wr_err *err)
{
    size_t explained = 0;

    for (size_t i = 0; i < pairs->n; i++) {
        const struct pair *p = &pairs->v[i];
        bool alone = false, shared = false;

        if (!compare_add_causes(all, c, p->base, p->alone, false, pairs->n, &alone, err) ||
            !compare_add_causes(all, c, p->with, p->shared, true, pairs->n, &shared, err))
            return false;
        explained += alone && shared;
    }
    /* Some that say why and some that do not cannot be subtracted. */
    if (explained < pairs->n)
        c->cause.n = 0;
    else
        compare_add_unknown(all, c);
    if (c->cause.n)
        qsort(c->cause.v, c->cause.n, sizeof *c->cause.v, compare_by_change);
    return true;
}

/* ---- all jobs ---- */

static void compare_result_fini(struct report_compared *c)
{
    wr_vec_fini(&c->cause);
    wr_vec_fini(&c->crowd);
}

static bool compare_one_job(struct report_compare *all, const struct report_runs *base,
                            const struct report_runs *with, const char *job, uint64_t seed,
                            struct wr_err *err)
{
    struct report_compared c = {.job = wr_arena_strdup(&all->arena, job)};
    pair_list pairs = {0};
    bool ok = compare_find_pairs(&pairs, base, with, job, &all->unpaired, err);

    c.pairs = pairs.n;
    for (int i = 0; ok && i < REPORT_MEASURES; i++) {
        c.ranks = pairs.v[0].shared->ranks;
        c.change[i] = compare_over_seeds(&pairs, (enum report_measure)i, seed);
        if (pairs.n == 1)
            ok = compare_over_ranks(&pairs.v[0], (enum report_measure)i, seed, &c.change[i], err);
    }
    ok = ok && compare_explain(all, &c, &pairs, err);
    ok = ok && compare_crowd(&c, pairs.v, pairs.n, err);
    wr_vec_fini(&pairs);
    if (ok)
        wr_vec_push(&all->job, c);
    else
        compare_result_fini(&c);
    return ok;
}

static bool compare_is_known(const struct report_compare *c, const char *job)
{
    for (size_t i = 0; i < c->job.n; i++)
        if (!strcmp(c->job.v[i].job, job))
            return true;
    return false;
}

static bool compare_has_shared(const struct report_runs *runs)
{
    for (size_t i = 0; i < runs->member.n; i++)
        if (runs->member.v[i].njobs > 1)
            return true;
    return false;
}

bool report_compare_open(struct report_compare *ret, const struct report_runs *base,
                         const struct report_runs *with, uint64_t seed, struct wr_err *err)
{
    assert(base && with);
    struct report_compare c = {.alone = !compare_has_shared(base) && compare_has_shared(with)};
    bool ok = true;

    for (size_t i = 0; ok && i < with->member.n; i++)
        for (size_t k = 0; ok && k < with->member.v[i].njobs; k++) {
            const char *job = with->member.v[i].job[k].name;

            if (!compare_is_known(&c, job) && compare_count_with_job(base, job))
                ok = compare_one_job(&c, base, with, job, seed, err);
        }
    if (ok && !c.job.n)
        ok = wr_fail(err, WR_INPUT,
                     "the two groups have no job of the same name; give runs of the same jobs");
    if (!ok) {
        report_compare_close(&c);
        return false;
    }
    *ret = c;
    return true;
}

void report_compare_close(struct report_compare *c)
{
    for (size_t i = 0; i < c->job.n; i++)
        compare_result_fini(&c->job.v[i]);
    wr_vec_fini(&c->job);
    wr_arena_fini(&c->arena);
}
