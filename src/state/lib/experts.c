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

/* p <- p exp(Q dt): a few terms of a series near the step this was last asked for. */
void online_step(double *p, struct weir_state *s, double dt, struct near_step *near)
{
    int k = s->model.k;
    double m[HMM_STATES * HMM_STATES], next[HMM_STATES] = {0}, total = 0;
    double d = dt - near->g;

    if (!near->valid || !(d >= 0) || !(d <= near->reach)) {
        const double *q = s->model.q[0];
        double c = 0, a[HMM_STATES * HMM_STATES];

        for (int i = 0; i < k; i++)
            c = fmax(c, -q[i * k + i]);
        /* The centre a little below, so that jitter finds it again. */
        near->c = c;
        near->reach = c > 0 ? 0.1 / c : INFINITY;
        near->g = fmax(dt - near->reach / 2, 0);
        if (isinf(near->reach))
            near->g = dt;
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
        d = dt - near->g;
    }
    memcpy(m, near->coef[TAYLOR - 1], sizeof *m * (size_t)(k * k));
    for (int t = TAYLOR - 2; t >= 0; t--)
        for (int i = 0; i < k * k; i++)
            m[i] = m[i] * d + near->coef[t][i];
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++)
            next[j] += p[i] * m[i * k + j];
    for (int j = 0; j < k; j++)
        total += next[j];
    for (int j = 0; j < k; j++)
        p[j] = next[j] / total;
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

static double window_sd(const struct weir_state *s, double *ret_mean)
{
    double n = (double)s->held, mean = s->sum / n, var = s->sum2 / n - mean * mean;

    *ret_mean = s->origin + mean;
    return fmax(sqrt(fmax(var, 0)), sd_least);
}

/* A state never narrower than the floor, as seen by a forecast. */
static void add_states(struct hmm_mix *to, const struct weir_state *s, const double *p)
{
    for (int i = 0; i < s->model.k; i++)
        hmm_mix_add(to, p[i], s->model.emit[i][HMM_LOC],
                    fmax(s->model.emit[i][HMM_SPREAD], sd_least));
}

void online_experts(struct hmm_mix mix[EXPERTS], struct weir_state *s, const struct snapshot *from,
                    int cls, double dt, struct near_step *near)
{
    double mean, sd = window_sd(s, &mean), p[HMM_STATES];

    for (int e = 0; e < EXPERTS; e++)
        mix[e].n = 0;
    if (s->has_model) {
        memcpy(p, from->p, sizeof p);
        online_step(p, s, dt, near);
        add_states(&mix[BY_FILTER], s, p);
        add_states(&mix[BY_LONG_RUN], s, s->long_run);
    } else {
        hmm_mix_add(&mix[BY_FILTER], 1, mean, sd);
        hmm_mix_add(&mix[BY_LONG_RUN], 1, mean, sd);
    }
    if (s->history.n)
        mix[BY_HISTORY] = s->history;
    else
        hmm_mix_add(&mix[BY_HISTORY], 1, mean, sd);
    hmm_mix_add(&mix[BY_WINDOW], 1, mean, sd);
    hmm_mix_add(&mix[BY_LAST], 1, from->last_mu, from->last_sd);
    hmm_mix_add(&mix[BY_ANYTHING], 1, mean, 3 * sd + 1);
    for (int l = 0; l < LEVELS; l++)
        hmm_mix_add(&mix[BY_LEVEL + l], 1, from->level[l], fmax(sqrt(s->err2[cls][l]), sd_least));
}

/* Density without its constant factor, which all share. */
static double relative_density(const struct hmm_mix *m, double x)
{
    double f = 0;

    for (int i = 0; i < m->n; i++) {
        double inv = 1 / m->sd[i], z = (x - m->mu[i]) * inv;

        f += m->w[i] * inv * exp(-0.5 * z * z);
    }
    return f;
}

/* The observation x has come: what did each say about it so many steps ago? */
static void score(struct weir_state *s, int cls, double t, double x)
{
    const struct snapshot *from = &s->ring[(s->n - (size_t)online_steps[cls]) % RING];
    struct hmm_mix mix[EXPERTS];
    double f[EXPERTS], total = 0, *w = s->weight[cls];

    online_experts(mix, s, from, cls, t - from->t, &s->step[cls]);
    for (int e = 0; e < EXPERTS; e++) {
        f[e] = relative_density(&mix[e], x) + 1e-200;
        for (int h = 0; h < halvings[cls]; h++)
            f[e] = sqrt(f[e]);
        total += w[e] * f[e];
    }
    for (int e = 0; e < EXPERTS; e++)
        w[e] = w[e] * f[e] / total * (1 - share[cls]) + share[cls] / EXPERTS;
    /* Errors of the moving averages: a plain mean at first, then of about the last 200. */
    double rate = fmax(1.0 / (double)(s->n > 1 ? s->n - 1 : 1), 0.005);

    for (int l = 0; l < LEVELS; l++) {
        double e = x - from->level[l];

        s->err2[cls][l] += rate * (e * e - s->err2[cls][l]);
    }
}

/* Two normals for each state of the first model; from then on every observation counts. */
void online_begin_history(struct weir_state *s)
{
    int k = s->model.k < HISTORY / 2 ? s->model.k : HISTORY / 2;

    for (int i = 0; i < 2 * k; i++) {
        double mu = s->model.emit[i / 2][HMM_LOC],
               sd = fmax(s->model.emit[i / 2][HMM_SPREAD], 0.05);

        mu += (i % 2 ? 0.6 : -0.6) * sd;
        hmm_mix_add(&s->history, s->long_run[i / 2] / 2, mu, sd);
        s->h1[i] = s->history.w[i] * (mu - s->origin);
        s->h2[i] = s->history.w[i] * (sd * sd + (mu - s->origin) * (mu - s->origin));
    }
}

static void remember(struct weir_state *s, double x)
{
    struct hmm_mix *m = &s->history;
    double f[HISTORY], total = 1e-200, rate = fmax(1 / (40 + 0.5 * (double)s->n), 2e-4);

    for (int i = 0; i < m->n; i++) {
        double inv = 1 / m->sd[i], z = (x - m->mu[i]) * inv;

        f[i] = (m->w[i] + 1e-4) * inv * (exp(-0.5 * z * z) + 1e-12);
        total += f[i];
    }
    for (int i = 0; i < m->n; i++) {
        double r = f[i] / total, v = x - s->origin;

        m->w[i] += rate * (r - m->w[i]);
        s->h1[i] += rate * (r * v - s->h1[i]);
        s->h2[i] += rate * (r * v * v - s->h2[i]);
        double w = fmax(m->w[i], 1e-9), mean = s->h1[i] / w, var = s->h2[i] / w - mean * mean;

        m->mu[i] = s->origin + mean;
        m->sd[i] = sqrt(fmax(var, 0.03 * 0.03));
    }
}

static void move_window(struct weir_state *s, double t, double x)
{
    size_t cap = (size_t)s->config.window, at = s->n % cap;
    double v = x - s->origin;

    if (s->held == cap) {
        double old = s->x[at] - s->origin;

        s->sum -= old;
        s->sum2 -= old * old;
    } else {
        s->held++;
    }
    if (s->n >= LAST) {
        double old = s->x[(s->n - LAST) % cap] - s->origin;

        s->short_sum -= old;
        s->short_sum2 -= old * old;
    }
    s->t[at] = t;
    s->x[at] = x;
    s->sum += v;
    s->sum2 += v * v;
    s->short_sum += v;
    s->short_sum2 += v * v;
}

static void filter(struct weir_state *s, double dt, double x)
{
    int k = s->model.k;
    double *p = s->now.p, total = 0;

    online_step(p, s, dt, &s->step[0]);
    double b[HMM_STATES], most = -INFINITY;

    for (int i = 0; i < k; i++) {
        double inv = 1 / fmax(s->model.emit[i][HMM_SPREAD], sd_least);
        double z = (x - s->model.emit[i][HMM_LOC]) * inv;

        b[i] = z * z;
        most = fmax(most, -b[i]);
        p[i] *= inv;
    }
    /* An outlier says nothing about the state: a floor under the densities. */
    for (int i = 0; i < k; i++) {
        p[i] *= exp(-0.5 * (b[i] + most)) + 1e-6;
        total += p[i];
    }
    for (int i = 0; i < k; i++)
        p[i] /= total;
}

void online_learn(struct weir_state *s, double t, double x)
{
    double dt = s->n ? t - s->now.t : 0;

    for (int cls = 0; cls < CLASSES; cls++)
        if (s->n >= (size_t)online_steps[cls] && (cls == 0 || s->n % 8 == (size_t)cls))
            score(s, cls, t, x);
    move_window(s, t, x);
    remember(s, x);
    if (s->has_model)
        filter(s, dt, x);
    for (int l = 0; l < LEVELS; l++)
        s->now.level[l] = s->n ? s->now.level[l] + level_alpha[l] * (x - s->now.level[l]) : x;
    s->n++;
    double n = (double)(s->n < LAST ? s->n : LAST), mean = s->short_sum / n;
    double var = s->short_sum2 / n - mean * mean;

    s->now.last_mu = s->origin + mean;
    s->now.last_sd = fmax(sqrt(fmax(var, 0)), sd_least);
    if (n < 5) /* a spread of a few values is no spread */
        s->now.last_sd = fmax(s->now.last_sd, 0.3);
    s->now.t = t;
    if (s->n > 1)
        s->typical_dt += (dt - s->typical_dt) * fmax(1.0 / (double)(s->n - 1), 0.02);
    s->ring[(s->n - 1) % RING] = s->now;
}

void online_forecast(struct hmm_mix *ret, struct weir_state *s, double horizon_s)
{
    int cls = online_class(s, horizon_s);
    struct hmm_mix mix[EXPERTS];

    online_experts(mix, s, &s->now, cls, horizon_s, &s->step[CLASSES]);
    ret->n = 0;
    for (int e = 0; e < EXPERTS; e++)
        for (int i = 0; i < mix[e].n; i++)
            hmm_mix_add(ret, s->weight[cls][e] * mix[e].w[i], mix[e].mu[i], mix[e].sd[i]);
}

/* The last observations again, under the model that is new, from the old one's long run. */
void online_refilter(struct weir_state *s)
{
    size_t back = s->n < RING ? s->n : RING, cap = (size_t)s->config.window;
    struct snapshot now = s->now;

    back = back < s->held ? back : s->held;
    memcpy(s->now.p, s->long_run, sizeof s->now.p);
    for (size_t i = s->n - back; i < s->n; i++) {
        double before = i ? s->t[(i - 1) % cap] : s->t[i % cap];

        filter(s, i > s->n - back ? s->t[i % cap] - before : 0, s->x[i % cap]);
        memcpy(s->ring[i % RING].p, s->now.p, sizeof s->now.p);
    }
    memcpy(now.p, s->now.p, sizeof now.p);
    s->now = now;
}
