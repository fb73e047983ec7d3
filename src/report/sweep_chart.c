/* sweep_chart.c -- charts of a load sweep (latency, accepted load), each with a sentence.
 *
 * Works on struct sweep (sweep_curves.h); section and verb draw the same chart.
 */
#include <assert.h>
#include <math.h>

#include "report/sweep_curves.h"

const char *const report_picture_names[] = {
    [REPORT_LATENCY] = "latency", [REPORT_ACCEPTED] = "accepted", NULL};

/* Of more curves than this only the extremes are described. */
enum { LISTED_ONE_BY_ONE = 4 };

static void sweep_chart_latency_range(const struct sweep *s, double *ret_min, double *ret_max)
{
    *ret_min = INFINITY;
    *ret_max = -INFINITY;
    for (size_t i = 0; i < s->curve.n; i++)
        for (size_t j = 0; j < s->curve.v[i].point.n; j++) {
            *ret_min = fmin(*ret_min, s->curve.v[i].point.v[j].col[SWEEP_MEAN]);
            *ret_max = fmax(*ret_max, s->curve.v[i].point.v[j].col[SWEEP_MEAN]);
        }
}

struct report_unit sweep_unit(const struct sweep *s)
{
    double min, max;

    sweep_chart_latency_range(s, &min, &max);
    return report_unit(min);
}

/* The load, in per cent, at which a curve's latency is twice that at its lowest
 * load, by linear interpolation; NaN if it never is. */
static double sweep_chart_doubling_load(const struct sweep_curve *c)
{
    double twice = 2 * c->point.v[0].col[SWEEP_MEAN];

    for (size_t i = 1; i < c->point.n; i++) {
        const double *a = c->point.v[i - 1].col, *b = c->point.v[i].col;

        if (a[SWEEP_MEAN] < twice && b[SWEEP_MEAN] >= twice)
            return 100 *
                   (a[SWEEP_LOAD] + (b[SWEEP_LOAD] - a[SWEEP_LOAD]) * (twice - a[SWEEP_MEAN]) /
                                        (b[SWEEP_MEAN] - a[SWEEP_MEAN]));
    }
    return NAN;
}

static double sweep_chart_most_accepted(const struct sweep_curve *c)
{
    double most = NAN;

    for (size_t i = 0; i < c->point.n; i++)
        most = fmax(most, 100 * c->point.v[i].col[SWEEP_ACCEPTED]);
    return most;
}

static bool sweep_chart_saturates(const struct sweep *s)
{
    bool any = false;

    for (size_t i = 0; i < s->curve.n; i++)
        for (size_t j = 0; j < s->curve.v[i].point.n; j++)
            any |= s->curve.v[i].point.v[j].col[SWEEP_SATURATED] > 0;
    return any;
}

static double sweep_chart_first_latency(const struct sweep_curve *c)
{
    return c->point.v[0].col[SWEEP_MEAN];
}

/* One curve's part of the sentence. */
static void sweep_chart_latency_text(const struct sweep_curve *c, struct report_unit u, bool first,
                                     struct wr_str *w)
{
    double twice = sweep_chart_doubling_load(c);

    wr_str_addf(w, "%s%s takes %s%.4g %s at %.3g %% load and ", first ? "" : "; ", c->name,
                first ? "a mean of " : "", sweep_chart_first_latency(c) / u.ns, u.name,
                100 * c->point.v[0].col[SWEEP_LOAD]);
    if (isnan(twice))
        wr_str_addf(w, "never twice as long up to %.3g %%",
                    100 * c->point.v[c->point.n - 1].col[SWEEP_LOAD]);
    else
        wr_str_addf(w, "twice as long at %.3g %%", twice);
}

static const char *sweep_chart_latency_words(struct sweep *s)
{
    const struct sweep_curve *best = NULL, *worst = NULL;
    struct report_unit u = sweep_unit(s);
    struct wr_str w = {0};

    for (size_t i = 0; i < s->curve.n; i++) {
        const struct sweep_curve *c = &s->curve.v[i];

        if (isnan(sweep_chart_first_latency(c)))
            continue;
        if (s->curve.n <= LISTED_ONE_BY_ONE)
            sweep_chart_latency_text(c, u, !best, &w);
        best = !best || sweep_chart_first_latency(c) < sweep_chart_first_latency(best) ? c : best;
        worst =
            !worst || sweep_chart_first_latency(c) > sweep_chart_first_latency(worst) ? c : worst;
    }
    if (!best)
        wr_str_add(&w, "Latency was not measured");
    else if (s->curve.n > LISTED_ONE_BY_ONE)
        wr_str_addf(&w,
                    "At the lowest load, %s is the fastest of %zu with %.4g %s and %s the slowest "
                    "with %.4g %s",
                    best->name, s->curve.n, sweep_chart_first_latency(best) / u.ns, u.name,
                    worst->name, sweep_chart_first_latency(worst) / u.ns, u.name);
    wr_str_add(&w, sweep_chart_saturates(s)
                       ? "; past saturation the mean depends on how long one looks."
                       : ".");
    const char *ret = wr_arena_strdup(s->text, w.s);
    wr_str_fini(&w);
    return ret;
}

static const char *sweep_chart_accepted_words(struct sweep *s)
{
    const struct sweep_curve *best = NULL, *worst = NULL;
    struct wr_str w = {0};

    for (size_t i = 0; i < s->curve.n; i++) {
        const struct sweep_curve *c = &s->curve.v[i];

        if (isnan(sweep_chart_most_accepted(c)))
            continue;
        best = !best || sweep_chart_most_accepted(c) > sweep_chart_most_accepted(best) ? c : best;
        worst =
            !worst || sweep_chart_most_accepted(c) < sweep_chart_most_accepted(worst) ? c : worst;
    }
    if (!best)
        wr_str_add(&w, "How much arrived was not measured");
    else if (best == worst)
        wr_str_addf(&w, "%s carries up to %.3g %% of the injection bandwidth", best->name,
                    sweep_chart_most_accepted(best));
    else
        wr_str_addf(&w,
                    "%s carries the most, up to %.3g %% of the injection bandwidth, and %s the "
                    "least, up to %.3g %%",
                    best->name, sweep_chart_most_accepted(best), worst->name,
                    sweep_chart_most_accepted(worst));
    wr_str_add(&w, "; where a curve leaves the straight line, the network takes less than it is "
                   "offered.");
    const char *ret = wr_arena_strdup(s->text, w.s);
    wr_str_fini(&w);
    return ret;
}

/* An interval that has ends; equal ends mean none. */
static void sweep_chart_set_interval(struct report_point *p, const struct stat_interval *ci,
                                     double unit)
{
    if (ci->low < ci->high) {
        p->low = ci->low / unit;
        p->high = ci->high / unit;
    }
}

static struct report_point sweep_chart_point_of(const struct sweep_point *from,
                                                enum report_picture which, double ns)
{
    const double *col = from->col;
    struct report_point p = {.open = col[SWEEP_SATURATED] > 0};

    if (which == REPORT_LATENCY) {
        p.x = 100 * col[SWEEP_LOAD];
        p.y = col[SWEEP_MEAN] / ns;
        sweep_chart_set_interval(&p, &from->mean_ns, ns);
    } else {
        p.x = 100 * (isnan(col[SWEEP_OFFERED]) ? col[SWEEP_LOAD] : col[SWEEP_OFFERED]);
        p.y = 100 * col[SWEEP_ACCEPTED];
        sweep_chart_set_interval(&p, &from->accepted, 0.01);
    }
    return p;
}

static struct report_series sweep_chart_series_of(struct sweep *s, const struct sweep_curve *c,
                                                  enum report_picture which, double ns)
{
    struct report_point *p = wr_arena_alloc(s->text, c->point.n * sizeof *p);

    for (size_t i = 0; i < c->point.n; i++)
        p[i] = sweep_chart_point_of(&c->point.v[i], which, ns);
    return (struct report_series){
        .name = c->name, .point = p, .n = c->point.n, .marks_only = c->reference};
}

/* The line on which everything offered is accepted. */
static struct report_series sweep_chart_diagonal(struct sweep *s,
                                                 const struct report_series *series, size_t n)
{
    struct report_point *p = wr_arena_alloc(s->text, 2 * sizeof *p);

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < series[i].n; j++)
            p[1].x = p[1].y = fmax(p[1].x, series[i].point[j].x);
    return (struct report_series){
        .name = "accepted = offered", .point = p, .n = 2, .line_only = true, .guide = true};
}

struct report_chart sweep_chart(struct sweep *s, enum report_picture which)
{
    struct report_unit u = sweep_unit(s);
    struct report_series *series = wr_arena_alloc(s->text, (s->curve.n + 1) * sizeof *series);
    double min, max;

    assert(which < REPORT_PICTURES);
    for (size_t i = 0; i < s->curve.n; i++)
        series[i] = sweep_chart_series_of(s, &s->curve.v[i], which, u.ns);
    if (which == REPORT_ACCEPTED) {
        series[s->curve.n] = sweep_chart_diagonal(s, series, s->curve.n);
        return (struct report_chart){
            .title = "Accepted against offered load",
            .desc = sweep_chart_accepted_words(s),
            .open_means = sweep_chart_saturates(s) ? "past saturation" : NULL,
            .x = {.label = "offered", .unit = "% of injection bandwidth", .zero = true},
            .y = {.label = "accepted", .unit = "% of injection bandwidth", .zero = true},
            .series = series,
            .nseries = s->curve.n + 1,
        };
    }
    sweep_chart_latency_range(s, &min, &max);
    return (struct report_chart){
        .title = "Latency against load",
        .desc = sweep_chart_latency_words(s),
        .open_means = sweep_chart_saturates(s) ? "past saturation" : NULL,
        .x = {.label = "load", .unit = "% of injection bandwidth", .zero = true},
        .y = {.label = "mean message latency",
              .unit = u.name,
              .zero = true,
              /* A curve that leaves the others tenfold would press them flat. */
              .log = max > 10 * min},
        .series = series,
        .nseries = s->curve.n,
    };
}
