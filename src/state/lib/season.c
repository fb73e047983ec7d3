/* season.c -- does the series repeat?
 *
 * No forecaster beside the model knows the time of day. A series with a period is forecast as if it
 * wandered, and health() reports that: for every period of at least two observations that fits
 * three times into the window, each observation is forecast by the mean of those at the same phase
 * before it, and the log scores are compared with those of the model and of simple forecasters,
 * one step ahead and half a period ahead.
 *
 *     period 5   | 0 1 2 3 4 | 0 1 2 3 4 | 0 1 2 3 4 |
 *                      o           o ────────> x          mean of what was there before
 */
#include <math.h>
#include <string.h>

#include "online_priv.h"

enum {
    SEASON_MOST = 4096, /* observations looked at, the last ones */
    SEASON_TIMES = 3,   /* a period is seen so often at least */
    SEASON_FEW = 30,    /* forecasts by phase, to judge a period by */
};

/* What a forecaster that is no worse than promised may lose to any other, in nats. */
static const double season_loss = 0.1;
/* As in the fit: no series repeats better than that. */
static const double season_sd_least = 0.02;

/* The window, its observations numbered by steps: a gap is many steps. */
struct season {
    const double *x, *dt;
    size_t n;
    double step;
};

struct score {
    double nats; /* mean log density */
    size_t n;
};

static size_t season_steps(const struct season *s, size_t i)
{
    return i ? (size_t)fmax(round(s->dt[i] / s->step), 0) : 0;
}

/* Of n errors of a normal whose variance is what they have. */
static double season_nats(double sum2, double n)
{
    double sd = fmax(sqrt(sum2 / n), season_sd_least);

    return -log(sd) - 0.5 * log(2 * M_PI) - 0.5 * sum2 / (n * sd * sd);
}

static struct score season_score(const struct season *s, size_t period, double *sum, double *count)
{
    double sum2 = 0;
    size_t n = 0, phase = 0;

    memset(sum, 0, period * sizeof *sum);
    memset(count, 0, period * sizeof *count);
    for (size_t i = 0; i < s->n; i++) {
        phase = (phase + season_steps(s, i)) % period;
        if (count[phase] > 0) {
            double e = s->x[i] - sum[phase] / count[phase];

            sum2 += e * e;
            n++;
        }
        sum[phase] += s->x[i];
        count[phase]++;
    }
    return (struct score){n ? season_nats(sum2, (double)n) : -INFINITY, n};
}

/* The value so many observations before, as a forecast. */
static double season_last(const struct season *s, size_t lag)
{
    double sum2 = 0;

    for (size_t i = lag; i < s->n; i++)
        sum2 += (s->x[i] - s->x[i - lag]) * (s->x[i] - s->x[i - lag]);
    return season_nats(sum2, (double)(s->n - lag));
}

static double season_marginal(const struct season *s)
{
    double sum = 0, sum2 = 0, n = (double)s->n;

    for (size_t i = 0; i < s->n; i++)
        sum += s->x[i];
    for (size_t i = 0; i < s->n; i++)
        sum2 += (s->x[i] - sum / n) * (s->x[i] - sum / n);
    return season_nats(sum2, n);
}

/* The model's long run: what it forecasts far ahead. */
static double season_long_run(const struct season *s, const struct weir_state *w)
{
    struct hmm_mix m = {0};
    double sum = 0;

    hmm_mix_states(&m, &w->model, w->long_run, 1);
    for (size_t i = 0; i < s->n; i++)
        sum += log(hmm_mix_density(&m, s->x[i]) + 1e-300);
    return sum / (double)s->n;
}

/* By how much the period's forecasts are better than the best of the others, one step or half a
 * period ahead. */
static double season_gain(struct weir_state *w, const struct season *s, size_t period, double nats)
{
    double marginal = season_marginal(s), next = fmax(marginal, season_last(s, 1));
    double far = fmax(marginal, season_last(s, period / 2));

    if (w->has_model) {
        next = fmax(next, hmm_loglik(&w->work, &w->model) / (double)w->data.n);
        far = fmax(far, season_long_run(s, w));
    }
    return fmax(nats - next, nats - far);
}

/* The best period; of those as good as the best the shortest, because its multiples repeat, too. */
static size_t season_best(const struct season *s, double *scratch, struct score *ret)
{
    size_t most = s->n / SEASON_TIMES, best = 0;

    *ret = (struct score){-INFINITY, 0};
    for (size_t period = 2; period <= most; period++) {
        struct score v = season_score(s, period, scratch, scratch + period);

        if (v.n >= SEASON_FEW && v.nats > ret->nats + 0.5 * season_loss) {
            *ret = v;
            best = period;
        }
    }
    return best;
}

static void season_find(struct weir_state *w)
{
    online_lay_out(w);
    size_t skip = w->held > SEASON_MOST ? w->held - SEASON_MOST : 0;
    struct season s = {w->fit_x + skip, w->fit_dt + skip, w->held - skip, w->typical_dt};
    struct score v;
    size_t period = s.step > 0 ? season_best(&s, w->season, &v) : 0;

    if (!period)
        return;
    double gain = season_gain(w, &s, period, v.nats);
    /* The best of so many periods is better by chance: the log of a standard deviation of n errors
     * has one of 1 / sqrt(2 n). */
    double chance = sqrt(log((double)s.n / SEASON_TIMES) / (double)v.n);

    if (gain > season_loss + chance) {
        w->period_s = (double)period * s.step;
        w->period_gain = gain;
    }
}

void online_find_season(struct weir_state *s)
{
    if (s->config.alone || (s->season_at && s->n < s->season_at + 1 + s->held / 10))
        return;
    s->season_at = s->n;
    s->period_s = s->period_gain = 0;
    if (s->held >= SEASON_FEW)
        season_find(s);
}
