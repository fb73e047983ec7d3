/* sweep_table.c -- the points of load sweeps as a table for programs (CSV, JSON).
 *
 * Callers are `weir sweep` and `weir report`. The columns are those of the view `sweep` of a run
 * file, unrounded, so that a table written here can be read again as a set of reference points.
 */
#include <math.h>

#include "report/sweep_curves.h"

static void sweep_table_fill_columns(const struct sweep *s, struct report_table *t)
{
    *t = (struct report_table){.ncols = SWEEP_COLS + 2, .nleft = 1};
    for (size_t i = 0; i + 1 < t->ncols; i++)
        report_table_add(t, "%s", sweep_names[i]);
    report_table_add(t, "seeds");
    for (size_t i = 0; i < s->curve.n; i++)
        for (size_t j = 0; j < s->curve.v[i].point.n; j++) {
            const struct sweep_point *p = &s->curve.v[i].point.v[j];

            report_table_add(t, "%s", s->curve.v[i].name);
            for (int c = 0; c < SWEEP_COLS; c++) {
                if (isnan(p->col[c]))
                    report_table_add(t, "%s", "");
                else
                    report_table_add(t, "%.12g", p->col[c]);
            }
            report_table_add(t, "%zu", p->seeds);
        }
}

typedef void write_table(const struct report_table *t, struct wr_str *out);

static bool sweep_table_write_columns(const char *const *runs, size_t n, write_table *fn,
                                      struct wr_str *out, struct wr_err *err)
{
    struct wr_arena text = {0};
    struct report_table t;
    struct sweep s;

    if (!sweep_read(&s, &text, runs, n, err)) {
        wr_arena_fini(&text);
        return false;
    }
    sweep_table_fill_columns(&s, &t);
    fn(&t, out);
    report_table_fini(&t);
    sweep_fini(&s);
    wr_arena_fini(&text);
    return true;
}

bool report_sweep_csv(const char *const *runs, size_t n, struct wr_str *out, struct wr_err *err)
{
    return sweep_table_write_columns(runs, n, report_table_csv, out, err);
}

bool report_sweep_json(const char *const *runs, size_t n, struct wr_str *out, struct wr_err *err)
{
    return sweep_table_write_columns(runs, n, report_table_json, out, err);
}

bool report_has_sweep(const char *run, bool *ret, struct wr_err *err)
{
    struct run_reader *r;
    double n = 0;
    bool found = false;

    if (!run_open(&r, run, err))
        return false;
    bool ok = run_number(r, "SELECT 1 FROM sweep LIMIT 1", &n, &found, err);
    run_close(r);
    if (ok)
        *ret = found;
    return ok;
}
