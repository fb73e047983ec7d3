/* experts.c -- forecasters beside each other, and what each has earned. */
#include <math.h>
#include <string.h>

#include "online_priv.h"

const int online_steps[CLASSES] = {1, 5, 15, 60};

static const double level_alpha[LEVELS] = {0.05, 0.12, 0.25, 0.5, 1};

/* What is shared out among all at every step: about one change of the best expert in 100 steps, in
 * more for longer horizons. */
static const double share[CLASSES] = {0.01, 0.01, 0.005, 0.002};

/* Errors at long horizons resemble their neighbours, so each counts for less: a forecast's density
 * is taken to the power 1/2^halvings. */
static const int halvings[CLASSES] = {0, 0, 1, 2};
static const double sd_least = 0.02;

static double wider(double sd)
{
    return sd > sd_least ? sd : sd_least;
}

void online_begin(struct weir_state *s)
{
    normals_fill_tails(s->tails);
    for (int cls = 0; cls < CLASSES; cls++) {
        for (int e = 0; e < EXPERTS; e++)
            s->weight[cls][e] = 1.0 / EXPERTS;
        for (int l = 0; l < LEVELS; l++)
            s->err_inv[cls][l] = 1 / sd_least;
    }
}

/* The series of exp(Q dt) around a centre a little below dt, so that jitter finds it again. */
static void centre(struct near_step *near, const struct weir_state *s, double dt)
{
    const double *q = s->model.q[0];
    int k = s->model.k;
    double c = 0, a[HMM_STATES * HMM_STATES];

    for (int i = 0; i < k; i++)
        c = fmax(c, -q[i * k + i]);
    near->c = c;
    near->reach = c > 0 ? 0.1 / c : INFINITY;
    near->g = isinf(near->reach) ? dt : fmax(dt - near->reach / 2, 0);
    near->dt = NAN;
    near->valid = true;
    hmm_expm(near->coef[0], q, k, near->g);
    memcpy(a, q, sizeof a);
    for (int i = 0; i < k; i++)
        a[i * k + i] += c;
    for (int t = 1; t < TAYLOR; t++)
        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++) {
                double sum = 0;

                for (int l = 0; l < k; l++)
                    sum += near->coef[t - 1][i * k + l] * a[l * k + j];
                near->coef[t][i * k + j] = sum / t;
            }
}

static bool reaches(const struct near_step *near, double dt)
{
    double d = dt - near->g;

    return near->valid && d >= 0 && d <= near->reach;
}

struct near_step *online_asked(struct weir_state *s, double dt)
{
    for (int i = 0; i < ASKED; i++)
        if (reaches(&s->asked[i], dt))
            return &s->asked[i];
    return &s->asked[s->next_asked++ % ASKED];
}

#define INLINE inline __attribute__((always_inline))

/* p <- p m. This and others below are compiled for three states and for any number. */
static INLINE void apply(double *p, const double *m, int k)
{
    double next[HMM_STATES] = {0};

    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++)
            next[j] += p[i] * m[i * k + j];
    memcpy(p, next, sizeof *p * (size_t)k);
}

/* p <- p exp(Q dt): the matrix of the last step again, or a few terms of a series near it. */
void online_step(double *p, const struct weir_state *s, double dt, struct near_step *near)
{
    int k = s->model.k;
    double *m = near->at_dt;

    if (!reaches(near, dt))
        centre(near, s, dt);
    if (dt != near->dt) {
        double d = dt - near->g;

        memcpy(m, near->coef[TAYLOR - 1], sizeof *m * (size_t)(k * k));
        for (int t = TAYLOR - 2; t >= 0; t--)
            for (int i = 0; i < k * k; i++)
                m[i] = m[i] * d + near->coef[t][i];
        /* The series is that of Q + cI: its rows sum to exp(c d), those of a step to 1. */
        double sum = 0;

        for (int j = 0; j < k; j++)
            sum += m[j];
        sum = 1 / sum;
        for (int i = 0; i < k * k; i++)
            m[i] *= sum;
        near->dt = dt;
    }
    if (k == 3)
        apply(p, m, 3);
    else
        apply(p, m, k);
}

int online_class(const struct weir_state *s, double horizon_s)
{
    double steps = s->typical_dt > 0 ? horizon_s / s->typical_dt : 1;
    int cls = 0;

    for (int c = 1; c < CLASSES; c++)
        if (steps * steps > (double)online_steps[c - 1] * online_steps[c])
            cls = c;
    return cls;
}

/* Densities at an observation in the lasting normals. */
struct seen {
    double bell[LASTING]; /* exp(-z^2/2) */
    double f[LASTING];    /* the same / sd: density without its constant factor, which all share */
};

static void look(struct seen *ret, const struct weir_state *s, double x)
{
    int n = AT_STATE + (s->has_model ? (s->model.k + 1) / 2 * 2 : 0);

    normals_bells(ret->bell, s->mu, s->inv, n, x);
    for (int i = 0; i < n; i++)
        ret->f[i] = ret->bell[i] * s->inv[i];
}

/* What each expert said: the moving ones from a snapshot, the others as they are; `ahead` are the
 * states' probabilities as seen from the snapshot. */
static INLINE void hear(double f[EXPERTS], const struct weir_state *s, int k, int cls,
                        const struct snapshot *from, const struct seen *seen, const double *ahead,
                        double x)
{
    /* The last pair is put together in registers: stored by halves, it could not be loaded whole
     * for a while. */
    for (int i = 0; i < MOVING; i += 2) {
        normals_pair mu = {from->mu[i], from->mu[i + 1]};
        normals_pair inv = {s->err_inv[cls][i],
                            i + 1 == BY_LAST ? from->last_inv : s->err_inv[cls][i + 1]};
        normals_pair z = (x - mu) * inv, said = normals_exp(0.5 * z * z) * inv;

        f[i] = said[0];
        f[i + 1] = said[1];
    }
    f[BY_WINDOW] = seen->f[AT_WINDOW];
    f[BY_ANYTHING] = seen->f[AT_ANYTHING];
    f[BY_HISTORY] = s->nhistory ? 0 : seen->f[AT_WINDOW];
    for (int i = 0; i < HISTORY; i++)
        f[BY_HISTORY] += s->hw[i] * seen->f[AT_HISTORY + i];
    f[BY_FILTER] = f[BY_LONG_RUN] = k ? 0 : seen->f[AT_WINDOW];
    for (int i = 0; i < k; i++) {
        f[BY_FILTER] += ahead[i] * seen->f[AT_STATE + i];
        f[BY_LONG_RUN] += s->long_run[i] * seen->f[AT_STATE + i];
    }
}

/* What moves slowly once there are many observations is worked out anew every fourth time. */
static bool due(const struct weir_state *s, size_t turn)
{
    return s->n < 256 || s->n % 4 == turn;
}

/* The observation x has come: what did each say about it so many steps ago? */
static void score(struct weir_state *s, int cls, const struct snapshot *from,
                  const struct seen *seen, const double *ahead, double x)
{
    double f[EXPERTS], total = 0, *w = s->weight[cls];
    int k = s->has_model ? s->model.k : 0;

    if (k == 3)
        hear(f, s, 3, cls, from, seen, ahead, x);
    else
        hear(f, s, k, cls, from, seen, ahead, x);
    for (int e = 0; e < EXPERTS; e++)
        f[e] += 1e-200;
    for (int h = 0; h < halvings[cls]; h++)
        for (int e = 0; e < EXPERTS; e++)
            f[e] = sqrt(f[e]);
    for (int e = 0; e < EXPERTS; e++)
        total += w[e] * f[e];
    double keep = (1 - share[cls]) / total;

    for (int e = 0; e < EXPERTS; e++)
        w[e] = w[e] * f[e] * keep + share[cls] / EXPERTS;
    /* Errors of the moving averages: a plain mean at first, then of about the last 200. */
    double rate = s->n > 200 ? 0.005 : 1.0 / (double)(s->n > 1 ? s->n - 1 : 1);

    for (int l = 0; l < MOVING; l++) {
        double e = x - from->mu[l];

        s->err2[cls][l] += rate * (e * e - s->err2[cls][l]);
    }
    for (int l = 0; (cls || due(s, 2)) && l < MOVING; l++)
        s->err_inv[cls][l] = 1 / wider(sqrt(s->err2[cls][l]));
}

/* Two normals for each state of the first model; from then on every observation counts. */
void online_begin_history(struct weir_state *s)
{
    int k = s->model.k < HISTORY / 2 ? s->model.k : HISTORY / 2;

    s->nhistory = 2 * k;
    for (int i = 0; i < s->nhistory; i++) {
        double mu = s->model.emit[i / 2][HMM_LOC],
               sd = fmax(s->model.emit[i / 2][HMM_SPREAD], 0.05);

        mu += (i % 2 ? 0.6 : -0.6) * sd;
        s->hw[i] = s->long_run[i / 2] / 2;
        s->hfloor[i] = 1e-4;
        s->mu[AT_HISTORY + i] = mu;
        s->inv[AT_HISTORY + i] = 1 / sd;
        s->h1[i] = s->hw[i] * (mu - s->origin);
        s->h2[i] = s->hw[i] * (sd * sd + (mu - s->origin) * (mu - s->origin));
    }
}

static void remember(struct weir_state *s, const struct seen *seen, double x)
{
    double f[HISTORY], total = 1e-200, v = x - s->origin;
    double rate = s->n > 9920 ? 2e-4 : 1 / (40 + 0.5 * (double)s->n);

    for (int i = 0; i < HISTORY; i++) {
        f[i] = (s->hw[i] + s->hfloor[i]) * s->inv[AT_HISTORY + i] *
               (seen->bell[AT_HISTORY + i] + 1e-12);
        total += f[i];
    }
    total = 1 / total;
    for (int i = 0; i < HISTORY; i++) {
        double r = f[i] * total;

        s->hw[i] += rate * (r - s->hw[i]);
        s->h1[i] += rate * (r * v - s->h1[i]);
        s->h2[i] += rate * (r * v * v - s->h2[i]);
    }
    if (!due(s, 1))
        return;
    for (int i = 0; i < HISTORY; i++) {
        double w = 1 / (s->hw[i] > 1e-9 ? s->hw[i] : 1e-9), mean = s->h1[i] * w;
        double var = s->h2[i] * w - mean * mean;

        s->mu[AT_HISTORY + i] = s->origin + mean;
        s->inv[AT_HISTORY + i] = 1 / sqrt(var > 0.03 * 0.03 ? var : 0.03 * 0.03);
    }
}

/* Mean and standard deviation of n values from their sums. */
static double spread(double *ret_mean, double sum, double sum2, size_t n)
{
    double each = 1 / (double)n, mean = sum * each, var = sum2 * each - mean * mean;

    *ret_mean = mean;
    return wider(sqrt(var > 0 ? var : 0));
}

static void move_window(struct weir_state *s, double t, double x)
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
    if (!due(s, 3))
        return;
    double sd = spread(&mean, s->sum, s->sum2, s->held);

    s->mu[AT_WINDOW] = s->mu[AT_ANYTHING] = s->origin + mean;
    s->inv[AT_WINDOW] = 1 / sd;
    s->inv[AT_ANYTHING] = 1 / (3 * sd + 1);
}

/* The state's probabilities, given those expected before x came. Where all densities vanish, their
 * ratios are found from the exponents. */
static INLINE void weigh(struct weir_state *s, int k, const double *ahead, const double *bell,
                         double x)
{
    double own[HMM_STATES] = {0}, best = 0, total = 0, *p = s->now.p;

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
    best = 1 / best;
    /* An outlier says nothing about the state: a floor under the densities. */
    for (int i = 0; i < k; i++) {
        p[i] = ahead[i] * s->inv[AT_STATE + i] * (bell[i] * best + 1e-6);
        total += p[i];
    }
    total = 1 / total;
    for (int i = 0; i < k; i++)
        p[i] *= total;
}

static void filter(struct weir_state *s, const double *ahead, const double *bell, double x)
{
    if (s->model.k == 3)
        weigh(s, 3, ahead, bell, x);
    else
        weigh(s, s->model.k, ahead, bell, x);
}

/* Each horizon is scored in its turn, the shortest always. */
static void score_all(struct weir_state *s, const struct seen *seen, const double *next, double t,
                      double x)
{
    size_t turn = s->n % 8;

    if (s->n)
        score(s, 0, &s->now, seen, next, x);
    if (turn >= 1 && turn < CLASSES && s->n >= (size_t)online_steps[turn]) {
        const struct snapshot *from = &s->ring[(s->n - (size_t)online_steps[turn]) % RING];
        double ahead[HMM_STATES];

        memcpy(ahead, from->p, sizeof ahead);
        if (s->has_model)
            online_step(ahead, s, t - from->t, &s->step[turn]);
        score(s, (int)turn, from, seen, ahead, x);
    }
}

void online_learn(struct weir_state *s, double t, double x)
{
    double dt = s->n ? t - s->now.t : 0, next[HMM_STATES], mean;
    struct snapshot *now = &s->now;
    struct seen seen;

    look(&seen, s, x);
    memcpy(next, now->p, sizeof next);
    if (s->has_model)
        online_step(next, s, dt, &s->step[0]);
    score_all(s, &seen, next, t, x);
    move_window(s, t, x);
    remember(s, &seen, x);
    if (s->has_model)
        filter(s, next, seen.bell + AT_STATE, x);
    for (int l = 0; l < LEVELS; l++)
        now->mu[l] = s->n ? now->mu[l] + level_alpha[l] * (x - now->mu[l]) : x;
    s->n++;
    double sd = spread(&mean, s->short_sum, s->short_sum2, s->n < LAST ? s->n : LAST);

    if (s->n < 5) /* a spread of a few values is no spread */
        sd = fmax(sd, 0.3);
    now->mu[BY_LAST] = s->origin + mean;
    now->last_inv = 1 / sd;
    now->t = t;
    if (s->n > 1)
        s->typical_dt += (dt - s->typical_dt) * (s->n > 50 ? 0.02 : 1.0 / (double)(s->n - 1));
    s->ring[(s->n - 1) % RING] = *now;
}

void online_forecast(struct outlook *ret, struct weir_state *s, double horizon_s)
{
    int cls = online_class(s, horizon_s), k = s->has_model ? s->model.k : 0;
    const double *weight = s->weight[cls];
    double p[HMM_STATES];

    ret->n = MOVING + AT_STATE + k;
    double *w = ret->w + MOVING;

    memcpy(ret->w, weight, sizeof *weight * MOVING);
    memcpy(ret->mu, s->now.mu, sizeof s->now.mu);
    memcpy(ret->inv, s->err_inv[cls], sizeof s->err_inv[cls]);
    ret->inv[BY_LAST] = s->now.last_inv;
    memcpy(ret->mu + MOVING, s->mu, sizeof s->mu);
    memcpy(ret->inv + MOVING, s->inv, sizeof s->inv);
    w[AT_WINDOW] = weight[BY_WINDOW];
    w[AT_ANYTHING] = weight[BY_ANYTHING];
    for (int i = 0; i < HISTORY; i++)
        w[AT_HISTORY + i] = weight[BY_HISTORY] * s->hw[i];
    if (!s->nhistory)
        w[AT_WINDOW] += weight[BY_HISTORY];
    if (!k) {
        w[AT_WINDOW] += weight[BY_FILTER] + weight[BY_LONG_RUN];
        return;
    }
    memcpy(p, s->now.p, sizeof p);
    online_step(p, s, horizon_s, online_asked(s, horizon_s));
    for (int i = 0; i < k; i++)
        w[AT_STATE + i] = weight[BY_FILTER] * p[i] + weight[BY_LONG_RUN] * s->long_run[i];
}

/* The last observations again, under the model that is new, from its long run. */
void online_refilter(struct weir_state *s)
{
    size_t back = s->n < RING ? s->n : RING, cap = (size_t)s->config.window;
    int k = s->model.k;
    double bell[HMM_STATES], next[HMM_STATES];

    for (int i = 0; i < HMM_STATES; i++) {
        s->mu[AT_STATE + i] = i < k ? s->model.emit[i][HMM_LOC] : 0;
        s->inv[AT_STATE + i] = i < k ? 1 / wider(s->model.emit[i][HMM_SPREAD]) : 0;
    }
    back = back < s->held ? back : s->held;
    memcpy(s->now.p, s->long_run, sizeof s->now.p);
    for (size_t i = s->n - back; i < s->n; i++) {
        double x = s->x[i % cap];
        double dt = i > s->n - back ? s->t[i % cap] - s->t[(i - 1) % cap] : 0;

        memcpy(next, s->now.p, sizeof next);
        online_step(next, s, dt, &s->step[0]);
        normals_bells(bell, s->mu + AT_STATE, s->inv + AT_STATE, (k + 1) / 2 * 2, x);
        filter(s, next, bell, x);
        memcpy(s->ring[i % RING].p, s->now.p, sizeof s->now.p);
    }
}
