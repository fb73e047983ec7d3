/* compare_crowd.c -- I/O time of ranks by the number of other jobs' ranks on their server.
 *
 * compare.c calls it for each job. Ranks are grouped by how many ranks of other jobs used their
 * server; each group's gain or loss is that against the same rank in the base runs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare_priv.h"

/* A rank of the job, how many ranks of other jobs that do I/O have their data where it has
 * its own, and how long it waited behind others' requests. */
static const char crowd_sql[] =
    "WITH home AS (SELECT r.app AS app, r.rank AS rank, r.io_ns AS io_ns, c.server AS server"
    " FROM rank_stat r JOIN client_stat c ON c.node = r.node WHERE r.io_ns > 0),"
    " crowd AS (SELECT server, count(*) AS n FROM home WHERE app <> %lld GROUP BY server),"
    " behind AS (SELECT rank, sum(time_ns) AS ns FROM cause_stat WHERE app = %lld"
    " AND cause = 'device_others' GROUP BY rank)"
    " SELECT h.rank, h.io_ns, coalesce(k.n, 0), coalesce(b.ns, 0) FROM home h"
    " LEFT JOIN crowd k ON k.server = h.server LEFT JOIN behind b ON b.rank = h.rank"
    " WHERE h.app = %lld";

/* Rank by rank: others on its server, I/O gained. */
struct ranks {
    WR_VEC(double) others;
    WR_VEC(double) gained_ns;
};

static struct report_crowd *crowd_find(struct report_compared *c, uint32_t others)
{
    for (size_t i = 0; i < c->crowd.n; i++)
        if (c->crowd.v[i].others == others)
            return &c->crowd.v[i];
    wr_vec_push(&c->crowd, (struct report_crowd){.others = others});
    return &c->crowd.v[c->crowd.n - 1];
}

enum { MOST_CROWDS = 1000, MOST_RANKS = 1 << 26 };

static bool crowd_add_ranks(struct report_compared *c, struct ranks *all, struct run_rows *q,
                            const double *base, size_t n, struct wr_err *err)
{
    bool more, ok;

    while ((ok = run_rows_next(q, &more, err)) && more) {
        int64_t rank = run_rows_int(q, 0), others = run_rows_int(q, 2);

        if (rank < 0 || (uint64_t)rank >= n || others < 0 || others > MOST_RANKS ||
            isnan(base[rank]) || c->crowd.n > MOST_CROWDS)
            continue;
        struct report_crowd *k = crowd_find(c, (uint32_t)others);

        k->ranks++;
        k->base_ns += base[rank];
        k->with_ns += run_rows_real(q, 1);
        k->waited_ns += run_rows_real(q, 3);
        wr_vec_push(&all->others, (double)others);
        wr_vec_push(&all->gained_ns, run_rows_real(q, 1) - base[rank]);
    }
    return ok;
}

static bool crowd_add_pair(struct report_compared *c, struct ranks *all, const struct pair *p,
                           struct wr_err *err)
{
    size_t n = (size_t)p->alone->ranks;
    long long app = (long long)p->shared->app;
    struct run_reader *r;
    struct run_rows *q;
    struct wr_err ignored;
    char sql[sizeof crowd_sql + 72];

    if (!(p->alone->ns[REPORT_IO] > 0) || n > MOST_RANKS)
        return true;
    if (!report_member_open(&r, p->with, err))
        return false;
    snprintf(sql, sizeof sql, crowd_sql, app, app, app);
    /* Files of older weirs do not have the views. */
    if (!run_query(&q, r, sql, NULL, 0, &ignored)) {
        report_member_close(p->with, r);
        return true;
    }
    double *took = wr_alloc((n + 1) * sizeof *took);
    bool ok = report_rank_times(p->base, p->alone, REPORT_IO, took, n, err) &&
              crowd_add_ranks(c, all, q, took, n, err);

    free(took);
    run_rows_close(q);
    report_member_close(p->with, r);
    return ok;
}

static int crowd_by_others(const void *a, const void *b)
{
    const struct report_crowd *x = a, *y = b;

    return (x->others > y->others) - (x->others < y->others);
}

bool compare_crowd(struct report_compared *c, const struct pair *pairs, size_t n,
                   struct wr_err *err)
{
    struct ranks all = {0};
    struct wr_err ignored;
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++)
        ok = crowd_add_pair(c, &all, &pairs[i], err);
    for (size_t i = 0; i < c->crowd.n; i++) {
        struct report_crowd *k = &c->crowd.v[i];

        k->base_ns /= (double)k->ranks;
        k->with_ns /= (double)k->ranks;
        k->waited_ns /= (double)k->ranks;
    }
    /* One group gives no slope. */
    if (c->crowd.n < 2 ||
        !stat_fit_line(all.others.v, all.gained_ns.v, all.others.n, &c->per_other, &ignored))
        c->crowd.n = 0;
    if (c->crowd.n)
        qsort(c->crowd.v, c->crowd.n, sizeof *c->crowd.v, crowd_by_others);
    wr_vec_fini(&all.others);
    wr_vec_fini(&all.gained_ns);
    return ok;
}
