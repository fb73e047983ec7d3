/* slices_gather.c -- sums over RUN_GATHER neighbouring slices, written once when a run completes.
 *
 * A chart has a few hundred points, and a run may have a million slices. Readers of charts read an
 * eighth of the rows (run/slices.h). Short runs do not need it. Called by run_finish.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "writer_priv.h"

struct heap {
    double sum, most;
    uint64_t n;
};

struct gather {
    struct run *run;
    int64_t width_ps, at_ps; /* width and start of the current interval */
    struct heap *heap;       /* by series */
    uint32_t *touched;       /* series with a value, in order of appearance */
    size_t ntouched;
};

static bool gather_put(struct gather *g, struct wr_err *err)
{
    for (size_t i = 0; i < g->ntouched; i++) {
        struct heap *h = &g->heap[g->touched[i]];
        sqlite3_stmt *s = run_begin(g->run, RUN_S_GATHER, err);

        if (!s)
            return false;
        sqlite3_bind_int64(s, 1, g->at_ps);
        sqlite3_bind_int64(s, 2, g->touched[i]);
        sqlite3_bind_int64(s, 3, (int64_t)h->n);
        sqlite3_bind_double(s, 4, h->sum);
        sqlite3_bind_double(s, 5, h->most);
        if (!run_step(g->run, RUN_S_GATHER, err))
            return false;
        *h = (struct heap){0};
    }
    g->ntouched = 0;
    return true;
}

static bool gather_take(struct gather *g, uint32_t series, int64_t t_ps, double value,
                        struct wr_err *err)
{
    assert(g->width_ps > 0);
    struct heap *h = &g->heap[series];

    if (t_ps >= g->at_ps + g->width_ps) {
        if (!gather_put(g, err))
            return false;
        g->at_ps = t_ps - t_ps % g->width_ps;
    }
    if (!h->n)
        g->touched[g->ntouched++] = series;
    h->sum += value;
    h->most = h->n ? fmax(h->most, value) : value;
    h->n++;
    return true;
}

static bool gather_walk(struct gather *g, sqlite3_stmt *s, struct wr_err *err)
{
    bool ok = true;
    int rc = SQLITE_DONE;

    while (ok && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        int64_t series = sqlite3_column_int64(s, 1);

        if (series > 0 && (size_t)series <= g->run->series_dt_ps.n &&
            sqlite3_column_type(s, 2) != SQLITE_NULL)
            ok = gather_take(g, (uint32_t)series, sqlite3_column_int64(s, 0),
                             sqlite3_column_double(s, 2), err);
    }
    if (ok && rc != SQLITE_DONE)
        ok = run_break(g->run, rc, err);
    return ok && gather_put(g, err);
}

bool run_gather(struct run *run, struct wr_err *err)
{
    struct gather g = {.run = run};
    sqlite3_stmt *s;

    for (size_t i = 0; i < run->series_dt_ps.n; i++) {
        int64_t dt = run->series_dt_ps.v[i];

        if (dt > 0 && (!g.width_ps || dt < g.width_ps))
            g.width_ps = dt;
    }
    if (run->slices < RUN_GATHER_FROM || !g.width_ps || g.width_ps > INT64_MAX / RUN_GATHER / 2)
        return true;
    g.width_ps *= RUN_GATHER;
    /* Their order is that of the table, so that each row is added at its end. */
    int rc =
        sqlite3_prepare_v2(run->db, "SELECT t_ps, series, value FROM fact_slice", -1, &s, NULL);
    if (rc != SQLITE_OK)
        return run_break(run, rc, err);
    g.heap = wr_zalloc(run->series_dt_ps.n + 1, sizeof *g.heap);
    g.touched = wr_zalloc(run->series_dt_ps.n + 1, sizeof *g.touched);
    bool ok = gather_walk(&g, s, err);

    sqlite3_finalize(s);
    free(g.heap);
    free(g.touched);
    return ok;
}
