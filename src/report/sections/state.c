/* state.c -- the state of a storage path, from its probes: how latencies are distributed, when the
 * path was in which state and for how long, and what is to be expected next.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sections_priv.h"
#include "stat/sample.h"
#include "state/describe.h"
#include "state/lib/weir-state.h"

enum { LEAST_PROBES = 20, MOST_PROBES = 20000, BINS = 60, DENSITY = 200, HORIZONS = 40 };

struct probes {
    WR_VEC(double) t, latency; /* seconds, in order of time */
};

static bool take_probe(void *ctx, const struct run_rows *q)
{
    struct probes *p = ctx;

    if (run_rows_real(q, 1) > 0) {
        wr_vec_push(&p->t, run_rows_real(q, 0));
        wr_vec_push(&p->latency, run_rows_real(q, 1));
    }
    return p->t.n < MOST_PROBES;
}

/* Latencies in order, and their logarithms' density. */
static void draw_density(struct report_section *s, const char *who, const char *id,
                         const struct probes *p)
{
    size_t n = p->latency.n, k = 0;
    double *x = wr_alloc(n * sizeof *x), count[BINS] = {0};
    struct report_point *bin = wr_arena_alloc(s->arena, (BINS + 1) * sizeof *bin);
    struct report_point *curve = wr_arena_alloc(s->arena, DENSITY * sizeof *curve);
    struct report_series *series = wr_arena_alloc(s->arena, 2 * sizeof *series);
    struct state_density d;
    struct stat_kde kde;

    for (size_t i = 0; i < n; i++)
        x[i] = log10(p->latency.v[i]);
    stat_sort(x, n);
    double low = x[0], high = x[n - 1] > x[0] ? x[n - 1] : x[0] + 1, w = (high - low) / BINS;
    for (size_t i = 0; i < n; i++)
        count[(size_t)fmin((x[i] - low) / w, BINS - 1)]++;
    for (size_t i = 0; i <= BINS; i++)
        bin[i] = (struct report_point){.x = 1e3 * pow(10, low + w * (double)i),
                                       .y = count[i < BINS ? i : BINS - 1] / (double)n / w};
    stat_kde_init(&kde, x, n, fmax(stat_kde_bandwidth(x, n, STAT_NRD0), 1e-6));
    for (size_t i = 0; i < DENSITY; i++) {
        double at = low + (high - low) * (double)i / (DENSITY - 1);

        curve[i] = (struct report_point){.x = 1e3 * pow(10, at), .y = stat_kde_density(&kde, at)};
    }
    stat_kde_fini(&kde);
    free(x);
    series[0] = (struct report_series){
        .name = "probes", .point = bin, .n = BINS + 1, .line_only = true, .steps = true};
    series[1] =
        (struct report_series){.name = "density", .point = curve, .n = DENSITY, .line_only = true};
    state_density_of(&d, p->latency.v, n, STAT_NRD0);
    struct report_mark *mark = wr_arena_alloc(s->arena, (STATE_CUTS + 1) * sizeof *mark);
    for (size_t i = 0; i < d.nminima && i < 6; i++)
        mark[k++] = (struct report_mark){.at = 1e3 * pow(10, d.minima[i].x), .label = "minimum"};
    report_add_figure(s, id, REPORT_LINES)->chart = (struct report_chart){
        .title = wr_arena_printf(s->arena, "%s: how latencies are distributed", who),
        .desc = wr_arena_printf(s->arena,
                                d.nminima == 1 ? "%zu probes; their density has %zu minimum, which "
                                                 "is a border between states of the path."
                                               : "%zu probes; their density has %zu minima, which "
                                                 "are borders between states of the path.",
                                n, d.nminima),
        .x = {.label = "latency", .unit = "ms", .log = true},
        .y = {.label = "density, per decade", .zero = true},
        .series = series,
        .nseries = 2,
        .mark = mark,
        .nmarks = k};
}

static void draw_path(struct report_section *s, const char *who, const char *id,
                      const struct probes *p, const uint8_t *label)
{
    static const char *const names[] = {"low", "middle", "high"};
    struct report_curves c = {0};
    size_t n = p->t.n, step = n / 3000 + 1;

    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < n; i += step)
            if (label[i] == k)
                wr_vec_push(&report_curve(s, &c, names[k])->point,
                            (struct report_point){.x = p->t.v[i], .y = 1e3 * p->latency.v[i]});
    size_t m = c.v.n;
    const struct report_series *series =
        report_series(s, &c, (struct report_series){.marks_only = true});

    report_add_figure(s, id, REPORT_LINES)->chart = (struct report_chart){
        .title = wr_arena_printf(s->arena, "%s: its state over time", who),
        .desc = "Each probe's latency, by the state that the borders between states put it in.",
        .x = {.label = "time", .unit = "s"},
        .y = {.label = "latency", .unit = "ms", .log = true},
        .series = series,
        .nseries = m};
}

/* How long the path stayed in a state, against the law that fits best. */
static void draw_sojourns(struct report_section *s, const char *who, const char *id,
                          const struct probes *p, const uint8_t *label)
{
    size_t n = p->t.n;
    double *sojourn = wr_alloc(n * sizeof *sojourn);
    uint8_t *state = wr_alloc(n);
    struct state_law_fit fit[STATE_LAWS];
    size_t m = state_sojourns(sojourn, state, p->t.v, label, n);

    if (m >= LEAST_PROBES) {
        struct report_curves c = {0};
        const struct state_law_fit *best = NULL;
        struct report_table *t = report_add_sheet(
            s, wr_arena_printf(s->arena, "%s-laws", id),
            wr_arena_printf(s->arena,
                            "%s: laws of how long a state lasts; a smaller AIC fits better.", who),
            5, 1);
        static const char *const head[] = {"law", "first", "second", "AIC", "K-S"};

        state_fit_laws(fit, sojourn, m, 0, 1);
        for (size_t i = 0; i < 5; i++)
            report_table_add(t, "%s", head[i]);
        for (int i = 0; i < STATE_LAWS; i++) {
            if (!fit[i].fits)
                continue;
            best = !best || fit[i].aic < best->aic ? &fit[i] : best;
            report_table_add(t, "%s", fit[i].law->name);
            report_table_number(t, fit[i].p[0], 4);
            report_table_number(t, fit[i].p[1], 4);
            report_table_number(t, fit[i].aic, 2);
            report_table_number(t, fit[i].ks, 4);
        }
        for (int i = 0; best && i < STATE_QQ; i++)
            wr_vec_push(&report_curve(s, &c, best->law->name)->point,
                        (struct report_point){.x = best->qq_law[i], .y = best->qq_sample[i]});
        for (int i = 0; best && i < STATE_QQ; i += STATE_QQ - 1)
            wr_vec_push(&report_curve(s, &c, "the same")->point,
                        (struct report_point){.x = best->qq_law[i], .y = best->qq_law[i]});
        size_t k = c.v.n;
        struct report_series *series = (struct report_series *)report_series(
            s, &c, (struct report_series){.marks_only = true});
        if (k > 1) {
            series[1].marks_only = false;
            series[1].line_only = series[1].guide = true;
            report_add_figure(s, id, REPORT_LINES)->chart = (struct report_chart){
                .title = wr_arena_printf(s->arena, "%s: how long states last, against the law %s",
                                         who, best->law->name),
                .desc = "Quantiles of the times between changes of state against those of the law "
                        "that fits best: the nearer to the line, the better it fits.",
                .x = {.label = "the law's quantile", .unit = "s", .log = true},
                .y = {.label = "the sample's", .unit = "s", .log = true},
                .series = series,
                .nseries = k};
        }
    }
    free(sojourn);
    free(state);
}

/* What the online model expects from the last probe on. */
static void draw_forecast(struct report_section *s, const char *who, const char *id,
                          const struct probes *p)
{
    size_t n = p->t.n, from = n > 2000 ? n - 2000 : 0;
    double step = (p->t.v[n - 1] - p->t.v[from]) / (double)(n - from - 1);
    struct weir_state *m = weir_state_create(NULL);
    struct report_point *fan = wr_arena_alloc(s->arena, HORIZONS * sizeof *fan);
    struct report_series *series = wr_arena_alloc(s->arena, sizeof *series);
    bool ok = m != NULL;

    for (size_t i = from; ok && i < n; i++)
        weir_state_observe(m, p->t.v[i], p->latency.v[i]);
    for (int i = 0; ok && i < HORIZONS; i++) {
        double h = step * (i + 1);

        fan[i] = (struct report_point){.x = h,
                                       .y = 1e3 * weir_state_quantile(m, h, 0.5),
                                       .low = 1e3 * weir_state_quantile(m, h, 0.1),
                                       .high = 1e3 * weir_state_quantile(m, h, 0.9)};
        ok = isfinite(fan[i].y + fan[i].low + fan[i].high);
    }
    weir_state_destroy(m);
    if (!ok)
        return;
    *series = (struct report_series){.name = "median, and from 10 % to 90 %",
                                     .point = fan,
                                     .n = HORIZONS,
                                     .line_only = true,
                                     .fan = true};
    report_add_figure(s, id, REPORT_LINES)->chart = (struct report_chart){
        .title = wr_arena_printf(s->arena, "%s: what is to be expected", who),
        .desc = wr_arena_printf(s->arena,
                                "The forecast from the last probe on: %.3g s later the latency is "
                                "below %.3g ms with 90 %%.",
                                fan[0].x, fan[0].high),
        .x = {.label = "time after the last probe", .unit = "s"},
        .y = {.label = "latency", .unit = "ms", .log = true},
        .series = series,
        .nseries = 1};
}

struct listed {
    struct report_section *s;
    WR_VEC(const char *) entity;
    WR_VEC(const char *) metric;
};

static bool take_series(void *ctx, const struct run_rows *q)
{
    struct listed *l = ctx;

    wr_vec_push(&l->entity, wr_arena_strdup(l->s->arena, run_rows_text(q, 0, NULL)));
    wr_vec_push(&l->metric, wr_arena_strdup(l->s->arena, run_rows_text(q, 1, NULL)));
    return l->entity.n < 8;
}

static bool draw_series(struct report_section *s, struct run_reader *r, const char *entity,
                        const char *metric, size_t number, struct wr_err *err)
{
    const char *colon = strchr(entity, ':'), *space = strchr(metric, '_');
    const char *who = wr_arena_printf(s->arena, "%s, %.*s", colon ? colon + 1 : entity,
                                      space ? (int)(space - metric) : 4, metric);
    const char *args[] = {entity, metric};
    struct probes p = {0};
    struct run_rows *q;
    bool more, ok;

    if (!run_query(&q, r,
                   "SELECT t_ns / 1e9, value FROM slice WHERE entity = ?1 AND metric = ?2 ORDER BY "
                   "t_ns",
                   args, 2, err))
        return false;
    while ((ok = run_rows_next(q, &more, err)) && more && take_probe(&p, q))
        ;
    run_rows_close(q);
    if (ok && p.t.n >= LEAST_PROBES && p.t.v[p.t.n - 1] > p.t.v[0]) {
        uint8_t *label = wr_zalloc(p.t.n, 1);
        struct state_cuts cuts;

        state_cuts3(&cuts, p.latency.v, p.t.n);
        state_label(label, p.latency.v, p.t.n, &cuts);
        draw_density(s, who, wr_arena_printf(s->arena, "density-%zu", number), &p);
        draw_path(s, who, wr_arena_printf(s->arena, "path-%zu", number), &p, label);
        draw_sojourns(s, who, wr_arena_printf(s->arena, "sojourns-%zu", number), &p, label);
        draw_forecast(s, who, wr_arena_printf(s->arena, "forecast-%zu", number), &p);
        free(label);
    }
    wr_vec_fini(&p.t);
    wr_vec_fini(&p.latency);
    return ok;
}

static bool make_state(const struct report_inputs *in, size_t which, struct report_section *s,
                       struct wr_err *err)
{
    struct run_reader *r = in->v.v[which].run;
    struct listed l = {.s = s};
    bool ok = run_each(r,
                       "SELECT entity, metric FROM series WHERE metric IN ('write_latency', "
                       "'read_latency') ORDER BY entity, metric DESC",
                       NULL, take_series, &l, err);

    s->says = "The state of storage paths: how their latencies are distributed, when they changed, "
              "and what is to be expected.";
    for (size_t i = 0; ok && i < l.entity.n; i++)
        ok = draw_series(s, r, l.entity.v[i], l.metric.v[i], i + 1, err);
    wr_vec_fini(&l.entity);
    wr_vec_fini(&l.metric);
    return ok;
}

const struct report_maker report_state = {.id = "state",
                                          .group = "state",
                                          .title = "The state of the path",
                                          .each = true,
                                          .make = make_state};
