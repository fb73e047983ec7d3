/* online_learn_priv.h -- one observation: what each expert said of it, and what all learn from it.
 *
 * Compiled once for every processor and once for AVX2 with fused multiplications; the file that
 * includes this names its table in KERNEL. The answers agree to 1e-9, which an outlier of 40 in
 * the logarithm still leaves of the sums of squares; without one to 1e-11.
 */
#include <math.h>
#include <string.h>

#include "online_priv.h"

/* Beside the last value, the moving average that returns to the mean. */
enum { RETURN_OF = 2 };

/* What is shared out among all at every step: about one change of the best expert in 100 steps, in
 * more for longer horizons. */
static const double share[CLASSES] = {0.01, 0.02, 0.03, 0.03};

/* Errors at long horizons resemble their neighbours, so each counts for less: a forecast's density
 * is taken to the power 1/2^halvings. */
static const int halvings[CLASSES] = {0, 0, 1, 2};

/* No clock distinguishes latencies better than this. */
static const double sd_least = 1e-4;

/* From here on what moves slowly is worked out anew every eighth time only, the history learns from
 * every other observation, and, a little later, long horizons are scored every eighth time. */
enum { MANY = 256 };

static double learn_wider(double sd)
{
    return sd > sd_least ? sd : sd_least;
}

QUAD_INLINE quad quad_root(quad v)
{
    return (quad){sqrt(v[0]), sqrt(v[1]), sqrt(v[2]), sqrt(v[3])};
}

QUAD_INLINE quad quad_most(quad a, double least)
{
    return quad_if((quad_bits)(a > least), a, (quad){least, least, least, least});
}

static bool learn_due(const struct weir_state *s, size_t turn)
{
    return s->n < MANY || s->n % 8 == turn;
}

/* Densities at an observation in the lasting normals. */
struct seen {
    double bell[LASTING]; /* exp(-z^2/2) */
    double f[LASTING];    /* the same / sd: density without its constant factor, which all share */
};

QUAD_INLINE void learn_look(struct seen *ret, const struct weir_state *s, int k, double x)
{
    for (int i = 0; i < AT_STATE + k; i += QUAD) {
        quad inv = quad_load(s->inv + i), bell = normals_bells(quad_load(s->mu + i), inv, x);

        quad_store(ret->bell + i, bell);
        quad_store(ret->f + i, bell * inv);
    }
}

/* As exp(-z^2/2), of the two normals of far horizons. */
QUAD_INLINE quad learn_in_two(quad z)
{
    quad narrow = z * ONLINE_NARROW_INV, wide = z * ONLINE_WIDE_INV;

    return (1 - ONLINE_WIDE_WEIGHT) * ONLINE_NARROW_INV * normals_exp(0.5 * narrow * narrow) +
           ONLINE_WIDE_WEIGHT * ONLINE_WIDE_INV * normals_exp(0.5 * wide * wide);
}

/* What each expert said: the moving ones from a snapshot, the others as they are; `ahead` are the
 * states' probabilities as seen from the snapshot. Returns the moving ones' errors in `err`. */
QUAD_INLINE void learn_hear(quad f[SEATS / QUAD], quad err[MOVING / QUAD],
                            const struct weir_state *s, int k, bool two, const struct horizon *h,
                            const struct snapshot *from, const struct seen *seen,
                            const double *ahead, double x)
{
    quad filtered = {0}, long_run = {0};

    for (int i = 0; i < MOVING / QUAD; i++) {
        quad mu = quad_load(h->offset + QUAD * i) +
                  quad_load(h->slope + QUAD * i) * quad_load(from->from + QUAD * i);
        quad inv = quad_load(h->err_inv + QUAD * i) + quad_load(from->inv + QUAD * i);

        err[i] = x - mu;
        quad z = err[i] * inv;

        f[i] = two ? learn_in_two(z) * inv : normals_exp(0.5 * z * z) * inv;
    }
    quad history =
        quad_load(s->hw) * quad_load(seen->f) + quad_load(s->hw + QUAD) * quad_load(seen->f + QUAD);

    for (int i = 0; i < k; i += QUAD) {
        quad state = quad_load(seen->f + AT_STATE + i);

        filtered += quad_load(ahead + i) * state;
        long_run += quad_load(s->long_run + i) * state;
    }
    double window = seen->f[AT_WINDOW], settled = k ? quad_sum(long_run) : window;

    f[2] = (quad){window, seen->f[AT_ANYTHING], s->nhistory ? quad_sum(history) : window,
                  k ? quad_sum(filtered) : window};
    f[3] = (quad){settled, settled, settled, settled}; /* only the first has a weight */
}

/* By how much of its distance from the mean is a level still away from it at the horizon? Moments
 * of about the last 500 scores. */
static void learn_returns(struct horizon *h, const struct snapshot *from, double x, bool now)
{
    double rate = h->scored > 500 ? 0.002 : 1 / ((double)h->scored + 1), dy = x - h->mean_y;

    for (int r = 0; r < RETURNS; r++) {
        double dx = from->from[BY_RETURN + r] - h->mean_x[r];

        h->mean_x[r] += rate * dx;
        h->var_x[r] += rate * ((1 - rate) * dx * dx - h->var_x[r]);
        h->cov[r] += rate * ((1 - rate) * dx * dy - h->cov[r]);
    }
    h->mean_y += rate * dy;
    for (int r = 0; now && r < RETURNS; r++) {
        double b = (h->cov[r] + 1e-9) / (h->var_x[r] + 1e-9);

        b = b < -1 ? -1 : b > 1 ? 1 : b;
        h->slope[BY_RETURN + r] = b;
        h->offset[BY_RETURN + r] = h->mean_y - b * h->mean_x[r];
    }
}

/* The observation x has come: what did each say about it so many steps ago? */
QUAD_INLINE void learn_score(struct weir_state *s, int k, int cls, const struct snapshot *from,
                             const struct seen *seen, const double *ahead, double x)
{
    struct horizon *h = &s->at_horizon[cls];
    quad f[SEATS / QUAD], err[MOVING / QUAD], total = {0};
    bool now = cls || learn_due(s, 6);

    learn_hear(f, err, s, k, cls >= TWO_FROM, h, from, seen, ahead, x);
    for (int i = 0; i < SEATS / QUAD; i++)
        f[i] += 1e-200;
    for (int half = 0; half < halvings[cls]; half++)
        for (int i = 0; i < SEATS / QUAD; i++)
            f[i] = quad_root(f[i]);
    for (int i = 0; i < SEATS / QUAD; i++) {
        f[i] *= quad_load(h->weight + QUAD * i);
        total += f[i];
    }
    double keep = (1 - share[cls]) / quad_sum(total), each = share[cls] / EXPERTS;

    for (int i = 0; i + 1 < SEATS / QUAD; i++)
        quad_store(h->weight + QUAD * i, f[i] * keep + each);
    h->weight[BY_LONG_RUN] = f[BY_LONG_RUN / QUAD][0] * keep + each;
    /* Errors of the moving averages: a plain mean at first, then of about the last 200. */
    double rate = h->scored > 200 ? 0.005 : 1 / ((double)h->scored + 1);
    double least = h->scored < 4 ? ONLINE_SD_UNKNOWN * ONLINE_SD_UNKNOWN : sd_least * sd_least;

    for (int i = 0; i < MOVING / QUAD; i++) {
        quad was = quad_load(h->err2 + QUAD * i), is = was + rate * (err[i] * err[i] - was);

        quad_store(h->err2 + QUAD * i, is);
        if (now)
            quad_store(h->err_inv + QUAD * i, 1 / quad_root(quad_most(is, least)));
    }
    h->err_inv[BY_LAST] = 0;
    if (cls || s->n < 2 * MANY || s->n % 2 == 0)
        learn_returns(h, from, x, now);
    h->scored++;
}

QUAD_INLINE void learn_remember(struct weir_state *s, const struct seen *seen, double x)
{
    double v = x - s->origin;
    double rate = s->n > 9920 ? 2e-4 : 1 / (40 + 0.5 * (double)s->n);
    quad f[AT_STATE / QUAD], total = {0};

    if (s->n >= MANY) {
        if (s->n % 2 == 0)
            return;
        rate *= 2;
    }
    for (int i = 0; i < AT_STATE / QUAD; i++) {
        int at = QUAD * i;

        f[i] = (quad_load(s->hw + at) + quad_load(s->hfloor + at)) * quad_load(s->inv + at) *
               (quad_load(seen->bell + at) + 1e-12);
        total += f[i];
    }
    double all = 1 / (quad_sum(total) + 1e-200);

    for (int i = 0; i < AT_STATE / QUAD; i++) {
        int at = QUAD * i;
        quad r = f[i] * all, w = quad_load(s->hw + at), h1 = quad_load(s->h1 + at),
             h2 = quad_load(s->h2 + at);

        quad_store(s->hw + at, w + rate * (r - w));
        quad_store(s->h1 + at, h1 + rate * (r * v - h1));
        quad_store(s->h2 + at, h2 + rate * (r * v * v - h2));
    }
    if (!learn_due(s, 1))
        return;
    for (int i = AT_HISTORY; i < AT_STATE; i++) {
        double w = 1 / (s->hw[i] > 1e-9 ? s->hw[i] : 1e-9), mean = s->h1[i] * w;
        double var = s->h2[i] * w - mean * mean;

        s->mu[i] = s->origin + mean;
        s->inv[i] = 1 / sqrt(var > 0.03 * 0.03 ? var : 0.03 * 0.03);
    }
}

/* Mean and standard deviation of n values from their sums. */
static double learn_spread(double *ret_mean, double sum, double sum2, double each)
{
    double mean = sum * each, var = sum2 * each - mean * mean;

    *ret_mean = mean;
    return learn_wider(sqrt(var > 0 ? var : 0));
}

static void learn_move_window(struct weir_state *s, double t, double x)
{
    size_t cap = (size_t)s->config.window;
    double v = x - s->origin, mean;

    if (s->held == cap) {
        double old = s->x[s->at] - s->origin;

        s->sum -= old;
        s->sum2 -= old * old;
    } else {
        s->held++;
    }
    if (s->n >= LAST) {
        double old = s->x[s->tail] - s->origin;

        s->short_sum -= old;
        s->short_sum2 -= old * old;
        s->tail = s->tail + 1 < cap ? s->tail + 1 : 0;
    }
    s->t[s->at] = t;
    s->x[s->at] = x;
    s->at = s->at + 1 < cap ? s->at + 1 : 0;
    s->sum += v;
    s->sum2 += v * v;
    s->short_sum += v;
    s->short_sum2 += v * v;
    if (!learn_due(s, 3))
        return;
    double sd = learn_spread(&mean, s->sum, s->sum2, 1 / (double)s->held);

    s->mu[AT_WINDOW] = s->mu[AT_ANYTHING] = s->origin + mean;
    s->inv[AT_WINDOW] = 1 / sd;
    s->inv[AT_ANYTHING] = 1 / (3 * sd + 1);
}

/* The state's probabilities, given those expected before x came. Where all densities vanish, their
 * ratios are found from the exponents. */
QUAD_INLINE void learn_weigh(double *p, const struct weir_state *s, int k, const double *ahead,
                             const double *bell, double x)
{
    double own[HMM_STATES] = {0}, best = 0;
    quad total = {0};

    for (int i = 0; i < k; i++)
        best = bell[i] > best ? bell[i] : best;
    if (best < 1e-280) {
        double least = INFINITY;

        for (int i = 0; i < k; i++) {
            double z = (x - s->mu[AT_STATE + i]) * s->inv[AT_STATE + i];

            own[i] = z * z;
            least = fmin(least, own[i]);
        }
        for (int i = 0; i < k; i++)
            own[i] = exp(0.5 * (least - own[i]));
        bell = own;
        best = 1;
    }
    /* An outlier says nothing about the state: a floor under the densities. */
    best *= s->config.alone ? 0 : 1e-6;
    for (int i = 0; i < k; i += QUAD) {
        quad each =
            quad_load(ahead + i) * quad_load(s->inv + AT_STATE + i) * (quad_load(bell + i) + best);

        quad_store(p + i, each);
        total += each;
    }
    double scale = 1 / quad_sum(total);

    for (int i = 0; i < k; i += QUAD)
        quad_store(p + i, quad_load(p + i) * scale);
}

QUAD_INLINE void learn_score_far(struct weir_state *s, int k, int cls, const struct seen *seen,
                                 double t, double x)
{
    double ahead[HMM_STATES];

    if (s->n < (size_t)online_steps[cls])
        return;
    const struct snapshot *from = &s->ring[(s->n - (size_t)online_steps[cls]) % RING];

    memcpy(ahead, from->p, sizeof ahead);
    if (k)
        online_step_with(ahead, s, k, t - from->t, &s->step[cls], true);
    learn_score(s, k, cls, from, seen, ahead, x);
}

/* Each horizon is scored in its turn, the shortest always; in the beginning all are. */
QUAD_INLINE void learn_score_all(struct weir_state *s, int k, const struct seen *seen,
                                 const double *next, double t, double x)
{
    int turn = (int)(s->n % 8), first = 1, last = CLASSES - 1;

    if (s->n)
        learn_score(s, k, 0, online_now(s), seen, next, x);
    if (s->n >= 2 * MANY) {
        first = turn;
        last = turn && turn < CLASSES ? turn : -1;
    }
    for (int cls = first; cls <= last; cls++)
        learn_score_far(s, k, cls, seen, t, x);
}

/* What forecasts start from after x. Stored in whole groups: halves could not be loaded whole for
 * a while. */
QUAD_INLINE void learn_move_levels(struct snapshot *to, const struct weir_state *s,
                                   const struct snapshot *was, double x)
{
    size_t n = s->n + 1;
    double each = n < LAST ? 1 / (double)n : 1.0 / LAST, mean;
    double sd = learn_spread(&mean, s->short_sum, s->short_sum2, each);
    quad slow = quad_load(was->from), alpha = {0.05, 0.12, 0.25, 0.5};

    if (n < 5) /* a spread of a few values is no spread */
        sd = fmax(sd, ONLINE_SD_UNKNOWN);
    slow = s->n ? slow + alpha * (x - slow) : (quad){x, x, x, x};
    quad_store(to->from, slow);
    quad_store(to->from + QUAD, (quad){x, x, slow[RETURN_OF], s->origin + mean});
    quad_store(to->inv + QUAD, (quad){0, 0, 0, 1 / sd});
}

/* Compiled for three states and for any number. */
QUAD_INLINE void learn_with_states(struct weir_state *s, int k, double t, double x)
{
    struct snapshot *was = online_now(s), *is = &s->ring[s->n % RING];
    double next[HMM_STATES], dt = s->n ? t - was->t : 0;
    struct seen seen;

    learn_look(&seen, s, k, x);
    memcpy(next, was->p, sizeof next);
    if (k)
        online_step_with(next, s, k, dt, &s->step[0], false);
    learn_score_all(s, k, &seen, next, t, x);
    learn_move_window(s, t, x);
    learn_remember(s, &seen, x);
    if (k)
        learn_weigh(is->p, s, k, next, seen.bell + AT_STATE, x);
    learn_move_levels(is, s, was, x);
    is->t = t;
    s->n++;
    if (s->n > 1)
        s->typical_dt += (dt - s->typical_dt) * (s->n > 50 ? 0.02 : 1.0 / (double)(s->n - 1));
}

static void learn_observation(struct weir_state *s, double t, double x)
{
    if (s->has_model && s->model.k == 3)
        learn_with_states(s, 3, t, x);
    else
        learn_with_states(s, s->has_model ? s->model.k : 0, t, x);
}

/* The last observations again, under the model that is new, from its long run. */
static void learn_refilter(struct weir_state *s)
{
    size_t back = s->n < RING ? s->n : RING, cap = (size_t)s->config.window;
    int k = s->model.k;
    double bell[HMM_STATES], next[HMM_STATES] = {0};

    for (int i = 0; i < HMM_STATES; i++) {
        s->mu[AT_STATE + i] = i < k ? s->model.emit[i][HMM_LOC] : 0;
        s->inv[AT_STATE + i] = i < k ? 1 / learn_wider(s->model.emit[i][HMM_SPREAD]) : 0;
    }
    back = back < s->held ? back : s->held;
    memcpy(next, s->long_run, sizeof *next * (size_t)k);
    if (!back)
        memcpy(online_now(s)->p, next, sizeof next);
    for (size_t i = s->n - back; i < s->n; i++) {
        double x = s->x[i % cap], *p = s->ring[i % RING].p;

        if (i > s->n - back)
            online_step(next, s, s->t[i % cap] - s->t[(i - 1) % cap], &s->step[0], false);
        for (int j = 0; j < k; j += QUAD)
            quad_store(bell + j, normals_bells(quad_load(s->mu + AT_STATE + j),
                                               quad_load(s->inv + AT_STATE + j), x));
        learn_weigh(p, s, k, next, bell, x);
        memcpy(next, p, sizeof next);
    }
}

/* The probability of more than x. */
static double learn_above(const struct weir_state *s, const struct outlook *o, double x)
{
    quad sum = {0};

    for (int i = 0; i < o->n; i += QUAD)
        sum += quad_load(o->w + i) *
               normals_above(s->tails, (x - quad_load(o->mu + i)) * quad_load(o->inv + i));
    return quad_sum(sum);
}

const struct online_kernel KERNEL = {learn_observation, learn_refilter, learn_above};
