/* sec_sweep.c -- the section "Load sweep": latency and accepted load against offered load.
 *
 * Made of all inputs that hold a sweep (run files) or are tables of points (.csv). The table is
 * rounded for people: loads in per cent, latencies in one unit; sweep_table.c writes the full
 * values.
 */
#include "report/sweep_curves.h"
#include "sections_priv.h"

static void sec_sweep_fill_table(struct sweep *s, struct report_table *t)
{
    struct report_unit u = sweep_unit(s);
    bool seeds = false;

    for (size_t i = 0; i < s->curve.n; i++)
        for (size_t j = 0; j < s->curve.v[i].point.n; j++)
            seeds |= s->curve.v[i].point.v[j].seeds > 1;
    *t = (struct report_table){.ncols = seeds ? 13 : 11, .nleft = 1};
    report_table_add(t, "curve");
    report_table_add(t, "load %%");
    report_table_add(t, "offered %%");
    report_table_add(t, "accepted %%");
    report_table_add(t, "mean %s", u.name);
    if (seeds) {
        report_table_add(t, "+- %s", u.name);
        report_table_add(t, "seeds");
    }
    report_table_add(t, "p50 %s", u.name);
    report_table_add(t, "p99 %s", u.name);
    report_table_add(t, "max %s", u.name);
    report_table_add(t, "hops");
    report_table_add(t, "non-minimal %%");
    report_table_add(t, "saturated");
    for (size_t i = 0; i < s->curve.n; i++)
        for (size_t j = 0; j < s->curve.v[i].point.n; j++) {
            const struct sweep_point *p = &s->curve.v[i].point.v[j];

            report_table_add(t, "%s", s->curve.v[i].name);
            report_table_number(t, 100 * p->col[SWEEP_LOAD], 2);
            report_table_number(t, 100 * p->col[SWEEP_OFFERED], 2);
            report_table_number(t, 100 * p->col[SWEEP_ACCEPTED], 2);
            report_table_number(t, p->col[SWEEP_MEAN] / u.ns, 3);
            if (seeds) {
                report_table_number(t, (p->mean_ns.high - p->mean_ns.mid) / u.ns, 3);
                report_table_add(t, "%zu", p->seeds);
            }
            for (int c = SWEEP_P50; c <= SWEEP_MAX; c++)
                report_table_number(t, p->col[c] / u.ns, 3);
            report_table_number(t, p->col[SWEEP_HOPS], 3);
            report_table_number(t, 100 * p->col[SWEEP_NONMINIMAL], 2);
            report_table_add(t, "%s", p->col[SWEEP_SATURATED] > 0 ? "yes" : "");
        }
    report_table_drop_empty(t);
}

static bool sec_sweep_make(const struct report_inputs *in, size_t which, struct report_section *s,
                           struct wr_err *err)
{
    const char **runs = wr_arena_alloc(s->arena, (in->v.n + 1) * sizeof *runs);
    struct sweep sweep;
    size_t n = 0;

    (void)which;
    for (size_t i = 0; i < in->v.n; i++)
        if (in->v.v[i].sweep)
            runs[n++] = in->v.v[i].path;
    if (!n)
        return true;
    if (!sweep_read(&sweep, s->arena, runs, n, err))
        return false;
    for (int k = 0; k < REPORT_PICTURES; k++) {
        struct report_figure *f = report_add_figure(s, report_picture_names[k], REPORT_LINES);

        f->chart = sweep_chart(&sweep, k);
    }
    sec_sweep_fill_table(
        &sweep, report_add_sheet(s, "table",
                                 "Loads are per cent of the injection bandwidth; latencies "
                                 "are of messages.",
                                 0, 0));
    sweep_fini(&sweep);
    return true;
}

const struct report_maker report_sweeps = {
    .id = "sweep", .group = "sweep", .title = "Load sweep", .make = sec_sweep_make};
