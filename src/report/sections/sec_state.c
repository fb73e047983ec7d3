/* sec_state.c -- the state of a storage path, from its probes: how latencies are distributed, when
 * the path was in which state and for how long, and what is to be expected next.
 *
 *   probes ─ density, its minima
 *          ─ hidden Markov model (at most three states) ─ the most probable path ─ sojourn times ─
 * distributions ─ forecast
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sections_priv.h"
#include "stat/dist.h"
#include "stat/sample.h"
#include "state/data.h"
#include "state/describe.h"
#include "state/estimate.h"
#include "state/lib/weir-state.h"

enum {
    LEAST_PROBES = 20,
    MOST_PROBES = 20000,
    MOST_DOTS = 3000,
    BINS = 60,
    DENSITY = 200,
    HORIZONS = 40,
    STATES = 3,
    STARTS = 6, /* of a fit; a report shall not take long */
};

struct probes {
    WR_VEC(double) t, latency; /* seconds, in order of time */
};

/* What is drawn of one series, and what the model found. */
struct path {
    struct report_section *s;
    const char *who;
    size_t number;
    const struct probes *p;
    struct hmm_model m;
    uint8_t *label; /* state of each probe */
};

/* Times are given in the largest unit of which the longest is at least a few. */
struct unit {
    double s;
    const char *name;
};

static struct unit sec_state_unit_of(double longest_s)
{
    static const struct unit units[] = {
        {86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}};
    size_t i = 0;

    while (i < 4 && longest_s < 3 * units[i].s)
        i++;
    return units[i];
}

static const char *sec_state_name(const struct path *v, int state)
{
    static const char *const names[STATES][STATES] = {
        {"one state"}, {"idle", "busy"}, {"idle", "transitional", "busy"}};

    return names[v->m.k - 1][state];
}

static const char *sec_state_id_of(const struct path *v, const char *what)
{
    return wr_arena_printf(v->s->arena, "%s-%zu", what, v->number);
}

static bool sec_state_on_probe(void *ctx, const struct run_rows *q)
{
    struct probes *p = ctx;

    if (run_rows_real(q, 1) > 0) {
        wr_vec_push(&p->t, run_rows_real(q, 0));
        wr_vec_push(&p->latency, run_rows_real(q, 1));
    }
    return p->t.n < MOST_PROBES;
}

/* Latencies in order, and their logarithms' density. */
static void sec_state_draw_density(struct path *v)
{
    struct report_section *s = v->s;
    const struct probes *p = v->p;
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
    report_add_figure(s, sec_state_id_of(v, "density"), REPORT_LINES)->chart =
        (struct report_chart){
            .title = wr_arena_printf(s->arena, "%s: probability density of latency", v->who),
            .desc =
                wr_arena_printf(s->arena,
                                d.nminima == 1 ? "%zu probes; their density has %zu minimum, which "
                                                 "is a boundary between states of the path."
                                               : "%zu probes; their density has %zu minima, which "
                                                 "are boundaries between states of the path.",
                                n, d.nminima),
            .x = {.label = "latency", .unit = "ms", .log = true},
            .y = {.label = "density, per decade", .zero = true},
            .series = series,
            .nseries = 2,
            .mark = mark,
            .nmarks = k};
}

/* ---- the model ---- */

/* The best number of states by BIC, and where the path was. */
static bool sec_state_find_states(struct path *v, struct wr_err *err)
{
    size_t n = v->p->t.n, at = 0;
    struct state_series series = {
        .name = (char *)v->who, .t = v->p->t.v, .latency = v->p->latency.v, .n = n};
    struct state_estimate_opts o = {
        .k = STATES, .nblocks = 1, .starts = STARTS, .seed = 1, .family = HMM_LOGNORMAL};
    struct state_estimate *e = wr_zalloc(STATES, sizeof *e);
    struct state_data_opts plain = {.nblocks = 1};
    struct state_data d;
    struct hmm_work w;
    bool ok = state_estimate(e, &series, 1, &o, err);

    for (int k = 0; ok && k < STATES; k++)
        if (!k || e[k].bic < e[v->m.k - 1].bic)
            v->m = e[k].fit.model;
    free(e);
    if (!ok)
        return false;
    state_data_init(&d, &series, 1, &plain);
    ok = hmm_work_init(&w, d.data.n, 0, v->m.k);
    if (ok) {
        uint8_t *path = wr_alloc(d.data.n);

        hmm_work_bind(&w, &d.data);
        hmm_viterbi(path, &w, &v->m);
        for (size_t i = 0; i < d.data.n && at < n; i++)
            if (!isnan(d.x[i]))
                v->label[at++] = path[i];
        free(path);
        hmm_work_fini(&w);
    }
    state_data_fini(&d);
    return ok || wr_fail(err, WR_SYSTEM, "not enough memory for the states of a path");
}

static void sec_state_tabulate_states(struct path *v)
{
    static const char *const head[] = {"state",   "probes",        "median ms",   "10 % ms",
                                       "90 % ms", "of the time %", "mean sojourn"};
    double share[HMM_STATES] = {1}, longest = 0;
    struct report_table *t = report_add_sheet(
        v->s, sec_state_id_of(v, "states"),
        wr_arena_printf(v->s->arena,
                        "%s: the states of a hidden Markov model, its latencies and mean sojourn "
                        "times.",
                        v->who),
        7, 1);

    if (v->m.k > 1)
        hmm_stationary(share, &v->m, 0);
    for (int k = 0; v->m.k > 1 && k < v->m.k; k++)
        longest = fmax(longest, -1 / v->m.q[0][k * v->m.k + k]);
    struct unit u = sec_state_unit_of(longest);

    for (int i = 0; i < 6; i++)
        report_table_add(t, "%s", head[i]);
    report_table_add(t, "%s %s", head[6], u.name);
    for (int k = 0; k < v->m.k; k++) {
        double loc = v->m.emit[k][HMM_LOC], spread = v->m.emit[k][HMM_SPREAD];
        double out = -v->m.q[0][k * v->m.k + k];
        size_t n = 0;

        for (size_t i = 0; i < v->p->t.n; i++)
            n += v->label[i] == k;
        report_table_add(t, "%s", sec_state_name(v, k));
        report_table_add(t, "%zu", n);
        report_table_number(t, 1e3 * exp(loc), 4);
        report_table_number(t, 1e3 * exp(loc - 1.2815515655446 * spread), 4);
        report_table_number(t, 1e3 * exp(loc + 1.2815515655446 * spread), 4);
        report_table_number(t, 100 * share[k], 2);
        report_table_number(t, v->m.k > 1 && out > 0 ? 1 / out / u.s : NAN, 4);
    }
    report_table_drop_empty(t);
}

/* The generator of the model, and how often the most probable path went that way. */
static void sec_state_tabulate_rates(struct path *v)
{
    static const char *const head[] = {"from", "to", "rate", "changes in the path"};
    size_t changes[STATES][STATES] = {{0}};
    double fastest = 0;

    for (size_t i = 1; i < v->p->t.n; i++)
        changes[v->label[i - 1]][v->label[i]]++;
    for (int k = 0; k < v->m.k; k++)
        fastest = fmax(fastest, -v->m.q[0][k * v->m.k + k]);
    if (v->m.k < 2 || !(fastest > 0))
        return;
    struct unit u = sec_state_unit_of(180 / fastest); /* a few in one of it */
    struct report_table *t = report_add_sheet(
        v->s, sec_state_id_of(v, "rates"),
        wr_arena_printf(v->s->arena, "%s: rates of the model between states.", v->who), 4, 2);

    report_table_add(t, "%s", head[0]);
    report_table_add(t, "%s", head[1]);
    report_table_add(t, "%s 1/%s", head[2], u.name);
    report_table_add(t, "%s", head[3]);
    for (int i = 0; i < v->m.k; i++)
        for (int k = 0; k < v->m.k; k++) {
            if (i == k)
                continue;
            report_table_add(t, "%s", sec_state_name(v, i));
            report_table_add(t, "%s", sec_state_name(v, k));
            report_table_number(t, v->m.q[0][i * v->m.k + k] * u.s, 4);
            report_table_add(t, "%zu", changes[i][k]);
        }
}

/* "idle at 61 % of the probes, busy at 39 %" */
static const char *sec_state_put_shares(const struct path *v)
{
    struct wr_str w = {0};

    for (int k = 0; k < v->m.k; k++) {
        size_t n = 0;

        for (size_t i = 0; i < v->p->t.n; i++)
            n += v->label[i] == k;
        wr_str_addf(&w, "%s%s at %.3g %%%s", k ? ", " : "", sec_state_name(v, k),
                    100.0 * (double)n / (double)v->p->t.n, k ? "" : " of the probes");
    }
    const char *kept = wr_arena_strdup(v->s->arena, wr_str_get(&w));
    wr_str_fini(&w);
    return kept;
}

static double sec_state_median_ms(const struct path *v, int state)
{
    return 1e3 * exp(v->m.emit[state][HMM_LOC]);
}

/* Each probe, and the median of the state that the path is in. */
static void sec_state_draw_path(struct path *v)
{
    struct report_section *s = v->s;
    const struct probes *p = v->p;
    struct report_curves c = {0};
    size_t n = p->t.n, step = n / MOST_DOTS + 1;
    struct unit u = sec_state_unit_of(p->t.v[n - 1] - p->t.v[0]);

    for (int k = 0; k < v->m.k; k++)
        for (size_t i = 0; i < n; i += step)
            if (v->label[i] == k)
                wr_vec_push(
                    &report_curve(s, &c, sec_state_name(v, k))->point,
                    (struct report_point){.x = p->t.v[i] / u.s, .y = 1e3 * p->latency.v[i]});
    struct report_curve *most = report_curve(s, &c, "most probable state, its median");

    for (size_t i = 0; i < n; i++)
        for (size_t from = i ? i - 1 : i; from <= i; from++) /* a corner at each change */
            if (!i || i == n - 1 || v->label[i] != v->label[i - 1])
                wr_vec_push(&most->point,
                            (struct report_point){.x = p->t.v[i] / u.s,
                                                  .y = sec_state_median_ms(v, v->label[from])});
    size_t m = c.v.n;
    struct report_series *series =
        (struct report_series *)report_series(s, &c, (struct report_series){.marks_only = true});

    series[m - 1].marks_only = false;
    series[m - 1].line_only = series[m - 1].guide = true;
    report_add_figure(s, sec_state_id_of(v, "path"), REPORT_LINES)->chart = (struct report_chart){
        .title = wr_arena_printf(s->arena, "%s: latency and state over time", v->who),
        .desc =
            wr_arena_printf(s->arena,
                            "The most probable path through the states of a hidden Markov "
                            "model: %s.%s",
                            sec_state_put_shares(v), step > 1 ? " Not all probes are drawn." : ""),
        .x = {.label = "time", .unit = u.name},
        .y = {.label = "latency", .unit = "ms", .log = true},
        .series = series,
        .nseries = m};
}

/* ---- quantiles against quantiles ---- */

/* The line on which both are the same, from the least to the largest of all points. */
static struct report_axis sec_state_add_same(struct report_section *s, struct report_curves *c)
{
    double low = INFINITY, high = 0;

    for (size_t i = 0; i < c->v.n; i++)
        for (size_t k = 0; k < c->v.v[i].point.n; k++) {
            const struct report_point *p = &c->v.v[i].point.v[k];

            low = fmin(low, fmin(p->x, p->y));
            high = fmax(high, fmax(p->x, p->y));
        }
    struct report_curve *same = report_curve(s, c, "the same");

    wr_vec_push(&same->point, (struct report_point){.x = low, .y = low});
    wr_vec_push(&same->point, (struct report_point){.x = high, .y = high});
    return (struct report_axis){.log = true, .min = low / 1.1, .max = high * 1.1};
}

static void sec_state_draw_qq(struct path *v, const char *id, struct report_curves *c,
                              const char *title, const char *desc, const char *unit)
{
    struct report_section *s = v->s;
    struct report_axis x = sec_state_add_same(s, c), y = x;
    size_t n = c->v.n;
    struct report_series *series =
        (struct report_series *)report_series(s, c, (struct report_series){.marks_only = true});

    series[n - 1].marks_only = false;
    series[n - 1].line_only = series[n - 1].guide = true;
    x.unit = y.unit = unit;
    x.label = "theoretical quantile";
    y.label = "sample quantile";
    report_add_figure(s, sec_state_id_of(v, id), REPORT_LINES)->chart = (struct report_chart){
        .title = title, .desc = desc, .x = x, .y = y, .series = series, .nseries = n};
}

/* The latencies of each state against its log-normal distribution. */
static void sec_state_draw_latencies(struct path *v)
{
    struct report_section *s = v->s;
    struct report_curves c = {0};
    double *x = wr_alloc((v->p->t.n + 1) * sizeof *x), worst = 0;
    const char *who = "";

    for (int k = 0; k < v->m.k; k++) {
        size_t n = 0;

        for (size_t i = 0; i < v->p->t.n; i++)
            if (v->label[i] == k)
                x[n++] = v->p->latency.v[i];
        if (n < LEAST_PROBES)
            continue;
        stat_sort(x, n);
        for (int i = 0; i < STATE_QQ; i++) {
            double model = exp(v->m.emit[k][HMM_LOC] +
                               v->m.emit[k][HMM_SPREAD] * stat_normal_quantile(state_qq_p[i]));
            double seen = stat_quantile(x, n, state_qq_p[i]);

            wr_vec_push(&report_curve(s, &c, sec_state_name(v, k))->point,
                        (struct report_point){.x = 1e3 * model, .y = 1e3 * seen});
            if (fabs(log(seen / model)) > worst) {
                worst = fabs(log(seen / model));
                who = sec_state_name(v, k);
            }
        }
    }
    free(x);
    if (c.v.n)
        sec_state_draw_qq(
            v, "latencies", &c,
            wr_arena_printf(s->arena,
                            "%s: latencies of each state against its log-normal distribution",
                            v->who),
            wr_arena_printf(
                s->arena,
                "On the line the distribution equals the measurement; farthest off is the "
                "state %s, by up to %.3g times.",
                who, exp(worst)),
            "ms");
    wr_vec_fini(&c.v);
}

/* The parameters of a fitted distribution, with their names. */
static const char *sec_state_parameters(const struct path *v, const struct state_family_fit *f)
{
    const char *const *name = f->family->param;

    return f->family->nparams > 1 ? wr_arena_printf(v->s->arena, "%s %.4g, %s %.4g", name[0],
                                                    f->p[0], name[1], f->p[1])
                                  : wr_arena_printf(v->s->arena, "%s %.4g", name[0], f->p[0]);
}

static const struct state_family_fit *sec_state_tabulate_fits(struct path *v,
                                                              const struct state_family_fit *fit)
{
    static const char *const head[] = {"distribution", "parameters (s)", "AIC", "K-S distance"};
    const struct state_family_fit *best = NULL;
    struct report_table *t = report_add_sheet(
        v->s, sec_state_id_of(v, "sojourns-distributions"),
        wr_arena_printf(v->s->arena,
                        "%s: distributions of sojourn times; a smaller AIC fits better.", v->who),
        4, 2);

    for (size_t i = 0; i < 4; i++)
        report_table_add(t, "%s", head[i]);
    for (int i = 0; i < STATE_FAMILIES; i++) {
        if (!fit[i].fits)
            continue;
        best = !best || fit[i].aic < best->aic ? &fit[i] : best;
        report_table_add(t, "%s", fit[i].family->name);
        report_table_add(t, "%s", sec_state_parameters(v, &fit[i]));
        report_table_number(t, fit[i].aic, 2);
        report_table_number(t, fit[i].ks, 4);
    }
    return best;
}

/* Sojourn times of the path, against the distribution that fits best. */
static void sec_state_draw_sojourns(struct path *v)
{
    size_t n = v->p->t.n;
    double *sojourn = wr_alloc(n * sizeof *sojourn);
    uint8_t *state = wr_alloc(n);
    struct state_family_fit fit[STATE_FAMILIES];
    size_t m = state_sojourns(sojourn, state, v->p->t.v, v->label, n);
    const struct state_family_fit *best = NULL;
    struct report_curves c = {0};
    struct unit u = {1, "s"};

    if (m >= LEAST_PROBES) {
        state_fit_families(fit, sojourn, m, 0, 1);
        best = sec_state_tabulate_fits(v, fit);
    }
    if (best)
        u = sec_state_unit_of(best->qq_sample[STATE_QQ - 1]);
    for (int i = 0; best && i < STATE_QQ; i++)
        wr_vec_push(
            &report_curve(v->s, &c, best->family->name)->point,
            (struct report_point){.x = best->qq_fitted[i] / u.s, .y = best->qq_sample[i] / u.s});
    if (best)
        sec_state_draw_qq(
            v, "sojourns", &c,
            wr_arena_printf(v->s->arena, "%s: sojourn times of states, against the distribution %s",
                            v->who, best->family->name),
            wr_arena_printf(v->s->arena,
                            "Of %zu sojourn times, against the distribution that fits "
                            "best of %d: the nearer to the line, the better it fits.",
                            m, STATE_FAMILIES),
            u.name);
    free(sojourn);
    free(state);
}

/* The share of the sojourns in each state that are no longer, beside the exponential distribution
 * that the model has for them. */
static void sec_state_draw_sojourn_cdf(struct path *v)
{
    struct report_section *s = v->s;
    size_t n = v->p->t.n, m, all = 0;
    double *sojourn = wr_alloc(n * sizeof *sojourn), *x = wr_alloc(n * sizeof *x), longest = 0;
    uint8_t *state = wr_alloc(n);
    struct report_curves c = {0};

    m = state_sojourns(sojourn, state, v->p->t.v, v->label, n);
    for (size_t i = 0; i < m; i++)
        longest = fmax(longest, sojourn[i]);
    struct unit u = sec_state_unit_of(longest);

    for (int k = 0; v->m.k > 1 && k < v->m.k; k++) {
        const char *name = sec_state_name(v, k);
        double rate = -v->m.q[0][k * v->m.k + k];
        size_t own = 0;

        for (size_t i = 0; i < m; i++)
            if (state[i] == k)
                x[own++] = sojourn[i];
        if (own < 2)
            continue;
        all += own;
        stat_sort(x, own);
        wr_vec_push(&report_curve(s, &c, name)->point, (struct report_point){.x = 0});
        for (size_t i = 0; i < own; i++)
            for (size_t step = i; step <= i + 1; step++)
                wr_vec_push(
                    &report_curve(s, &c, name)->point,
                    (struct report_point){.x = x[i] / u.s, .y = (double)step / (double)own});
        for (int i = 0; rate > 0 && i <= HORIZONS; i++) {
            double at = longest * i / HORIZONS;

            wr_vec_push(
                &report_curve(s, &c, wr_arena_printf(s->arena, "%s, exponential", name))->point,
                (struct report_point){.x = at / u.s, .y = 1 - exp(-rate * at)});
        }
    }
    free(sojourn);
    free(x);
    free(state);
    size_t curves = c.v.n;
    const struct report_series *series =
        report_series(s, &c, (struct report_series){.line_only = true});

    if (curves)
        report_add_figure(s, sec_state_id_of(v, "sojourn-cdf"), REPORT_LINES)->chart =
            (struct report_chart){
                .title = wr_arena_printf(s->arena, "%s: CDF of sojourn times by state", v->who),
                .desc = wr_arena_printf(
                    s->arena,
                    "%zu sojourns of the most probable path, without the first and the last, "
                    "beside the exponential distributions of the model.",
                    all),
                .x = {.label = "sojourn time", .unit = u.name, .zero = true},
                .y = {.label = "fraction of sojourns", .max = 1},
                .series = series,
                .nseries = curves};
}

/* What the online model expects from the last probe on. */
static void sec_state_draw_forecast(struct path *v)
{
    struct report_section *s = v->s;
    const struct probes *p = v->p;
    size_t n = p->t.n, from = n > 2000 ? n - 2000 : 0;
    double step = (p->t.v[n - 1] - p->t.v[from]) / (double)(n - from - 1);
    struct weir_state *m = weir_state_create(NULL);
    struct report_point *fan = wr_arena_alloc(s->arena, HORIZONS * sizeof *fan);
    struct report_series *series = wr_arena_alloc(s->arena, sizeof *series);
    struct unit u = sec_state_unit_of(step * HORIZONS);
    bool ok = m != NULL;

    for (size_t i = from; ok && i < n; i++)
        weir_state_observe(m, p->t.v[i], p->latency.v[i]);
    for (int i = 0; ok && i < HORIZONS; i++) {
        double h = step * (i + 1);

        fan[i] = (struct report_point){.x = h / u.s,
                                       .y = 1e3 * weir_state_quantile(m, h, 0.5),
                                       .low = 1e3 * weir_state_quantile(m, h, 0.1),
                                       .high = 1e3 * weir_state_quantile(m, h, 0.9)};
        ok = isfinite(fan[i].y + fan[i].low + fan[i].high);
    }
    double period = ok ? weir_state_period(m, NULL) : 0;
    const char *repeats =
        period > 0 ? wr_arena_printf(s->arena,
                                     " The series repeats every %.3g %s, which the forecast does "
                                     "not know.",
                                     period / u.s, u.name)
                   : "";

    weir_state_destroy(m);
    if (!ok)
        return;
    *series = (struct report_series){.name = "median, and from 10 % to 90 %",
                                     .point = fan,
                                     .n = HORIZONS,
                                     .line_only = true,
                                     .fan = true};
    report_add_figure(s, sec_state_id_of(v, "forecast"), REPORT_LINES)->chart =
        (struct report_chart){
            .title = wr_arena_printf(s->arena, "%s: forecast of latency", v->who),
            .desc = wr_arena_printf(
                s->arena,
                "The forecast from the last probe on: in nine of ten cases the "
                "latency is below %.3g ms one probe later, and below %.3g ms after "
                "%.3g %s.%s",
                fan[0].high, fan[HORIZONS - 1].high, fan[HORIZONS - 1].x, u.name, repeats),
            .x = {.label = "time after the last probe", .unit = u.name},
            .y = {.label = "latency", .unit = "ms", .log = true},
            .series = series,
            .nseries = 1};
}

/* Where the path is, and how it has been. */
static const char *sec_state_words(const struct path *v)
{
    int last = v->label[v->p->t.n - 1];
    double out = -v->m.q[0][last * v->m.k + last];

    if (v->m.k < 2 || !(out > 0))
        return wr_arena_printf(v->s->arena, "%s: one state explains the probes best.", v->who);
    struct unit u = sec_state_unit_of(3 / out);

    return wr_arena_printf(v->s->arena,
                           "%s: at the last probe the path is %s, where it stays for %.3g %s on "
                           "average; %s.",
                           v->who, sec_state_name(v, last), 1 / out / u.s, u.name,
                           sec_state_put_shares(v));
}

static bool sec_state_draw_all(struct path *v, struct wr_err *err)
{
    v->label = wr_zalloc(v->p->t.n, 1);
    bool ok = sec_state_find_states(v, err);

    if (ok) {
        v->s->says = sec_state_words(v);
        sec_state_draw_density(v);
        sec_state_draw_path(v);
        sec_state_tabulate_states(v);
        sec_state_tabulate_rates(v);
        sec_state_draw_sojourn_cdf(v);
        sec_state_draw_latencies(v);
        sec_state_draw_sojourns(v);
        sec_state_draw_forecast(v);
    }
    free(v->label);
    return ok;
}

/* The series of a run that are latencies of probes. */
struct listed {
    struct report_section *s;
    WR_VEC(const char *) entity;
    WR_VEC(const char *) metric;
};

static bool sec_state_on_series(void *ctx, const struct run_rows *q)
{
    struct listed *l = ctx;

    wr_vec_push(&l->entity, wr_arena_strdup(l->s->arena, run_rows_text(q, 0, NULL)));
    wr_vec_push(&l->metric, wr_arena_strdup(l->s->arena, run_rows_text(q, 1, NULL)));
    return l->entity.n < 8;
}

static bool sec_state_draw_series(struct report_section *s, struct run_reader *r,
                                  const char *entity, const char *metric, size_t number,
                                  struct wr_err *err)
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
    while ((ok = run_rows_next(q, &more, err)) && more && sec_state_on_probe(&p, q))
        ;
    run_rows_close(q);
    if (ok && p.t.n >= LEAST_PROBES && p.t.v[p.t.n - 1] > p.t.v[0])
        ok = sec_state_draw_all(
            &(struct path){.s = s, .who = who, .number = number, .p = &p, .m = {.k = 1}}, err);
    wr_vec_fini(&p.t);
    wr_vec_fini(&p.latency);
    return ok;
}

static bool sec_state_make(const struct report_inputs *in, size_t which, struct report_section *s,
                           struct wr_err *err)
{
    struct run_reader *r = in->v.v[which].run;
    struct listed l = {.s = s};
    bool ok = run_each(r,
                       "SELECT entity, metric FROM series WHERE metric GLOB '*_latency' AND "
                       "entity GLOB 'target:*' ORDER BY entity, metric DESC",
                       NULL, sec_state_on_series, &l, err);

    for (size_t i = 0; ok && i < l.entity.n; i++)
        ok = sec_state_draw_series(s, r, l.entity.v[i], l.metric.v[i], i + 1, err);
    if (l.entity.n > 1 || !s->says)
        s->says = "The state of storage paths: density of latency, changes of state, sojourn times "
                  "and forecast.";
    wr_vec_fini(&l.entity);
    wr_vec_fini(&l.metric);
    return ok;
}

const struct report_maker report_state = {.id = "state",
                                          .group = "state",
                                          .title = "The state of the path",
                                          .each = true,
                                          .make = sec_state_make};
