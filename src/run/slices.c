/* slices.c -- reads the slices of chosen series in order of time, by the cheapest plan.
 *
 * Either the whole table is scanned, or rows are looked up by key when few series are wanted.
 */
#include "run/slices.h"

#include <assert.h>
#include <math.h>

#include "base/mem.h"
#include "base/str.h"

/* A lookup by key costs about LOOK_UP times as much as reading the next row. */
enum { LOOK_UP = 4, MOST_LOOK_UPS = 150000 };

static bool slices_take_extent(void *ctx, const struct run_rows *q)
{
    struct run_slices *s = ctx;

    s->first_ps = run_rows_int(q, 0);
    s->last_ps = run_rows_int(q, 1);
    s->dt_ps = run_rows_int(q, 2);
    s->nseries = (double)run_rows_int(q, 3);
    /* One second if no series has a width. */
    double dt = s->dt_ps > 0 ? (double)s->dt_ps : 1e12;

    if (run_rows_type(q, 0) != RUN_T_NULL)
        s->n = fmax(1, ceil(((double)s->last_ps - (double)s->first_ps) / dt + 1));
    return false;
}

bool run_slices(struct run_slices *ret, struct run_reader *r, struct wr_err *err)
{
    struct run_slices s = {0};
    double one;

    if (!run_each(r,
                  "SELECT (SELECT min(t_ps) FROM fact_slice), (SELECT max(t_ps) FROM fact_slice),"
                  " (SELECT min(dt_ps) FROM fact_series WHERE dt_ps > 0),"
                  " (SELECT count(*) FROM fact_series)",
                  NULL, slices_take_extent, &s, err))
        return false;
    /* It is written last: only a complete run has all of it. */
    if (run_info(r)->status == RUN_COMPLETE && run_info(r)->format_minor >= 6 && s.dt_ps > 0 &&
        !run_number(r, "SELECT 1 FROM fact_gather LIMIT 1", &one, &s.gathered, err))
        return false;
    *ret = s;
    return true;
}

struct picked {
    const uint32_t *wanted;
    size_t n;
    run_each_heap *fn;
    void *ctx;
};

static bool slices_pick(void *ctx, const struct run_rows *q)
{
    const struct picked *p = ctx;
    size_t id = (size_t)run_rows_int(q, 0);

    if (id >= p->n || !p->wanted[id] || run_rows_type(q, 3) == RUN_T_NULL)
        return true;
    double sum = run_rows_real(q, 3);
    bool one = run_rows_cols(q) < 6;

    return p->fn(p->ctx, &(struct run_heap){.series = (uint32_t)id,
                                            .t_ps = run_rows_int(q, 1),
                                            .dt_ps = run_rows_int(q, 2),
                                            .sum = sum,
                                            .most = one ? sum : run_rows_real(q, 4),
                                            .n = one ? 1 : run_rows_real(q, 5)});
}

/* By the key (time, series): what is not wanted is not read. */
static void slices_add_lookup(struct wr_str *sql, const char *table, const char *columns,
                              const uint32_t *wanted, size_t n)
{
    wr_str_addf(sql,
                "WITH RECURSIVE times(t) AS (SELECT min(t_ps) FROM %s UNION ALL SELECT (SELECT"
                " min(t_ps) FROM %s WHERE t_ps > times.t) FROM times WHERE times.t IS NOT NULL),"
                " chosen(id) AS (VALUES",
                table, table);
    for (size_t id = 0, k = 0; id < n; id++)
        if (wanted[id])
            wr_str_addf(sql, "%s(%zu)", k++ ? "," : "", id);
    wr_str_addf(sql,
                ") SELECT %s FROM times CROSS JOIN chosen CROSS JOIN %s ON t_ps = times.t AND"
                " series = chosen.id",
                columns, table);
}

bool run_each_slice(struct run_reader *r, const struct run_slices *s, const uint32_t *wanted,
                    size_t n, bool gathered, run_each_heap *fn, void *ctx, struct wr_err *err)
{
    assert(!gathered || s->gathered);
    const char *table = gathered ? "fact_gather" : "fact_slice";
    const char *columns = gathered ? "series, t_ps, 0, sum, most, n" : "series, t_ps, dt_ps, value";
    struct picked p = {wanted, n, fn, ctx};
    struct wr_str sql = {0};
    double some = 0;

    for (size_t id = 0; id < n; id++)
        some += wanted[id] != 0;
    double look_ups = some * s->n / (gathered ? RUN_GATHER : 1);
    if (some > 0 && LOOK_UP * some < s->nseries && look_ups <= MOST_LOOK_UPS)
        slices_add_lookup(&sql, table, columns, wanted, n);
    else
        wr_str_addf(&sql, "SELECT %s FROM %s", columns, table);
    bool ok = run_each(r, sql.s, NULL, slices_pick, &p, err);

    wr_str_fini(&sql);
    return ok;
}
