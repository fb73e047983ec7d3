/* experts.c -- forecasters beside each other, and what each has earned. */
#include <math.h>
#include <string.h>

#include "online_priv.h"

/* How far from its centre a series of exp(Q dt) is used, in expected jumps: with TERMS and
 * FAR_TERMS terms the rest is below a forecast's digits. */
#define EXPERTS_REACH 0.1
#define EXPERTS_FAR_REACH 0.4
#define EXPERTS_PER_STEP 2.0 /* scored forecasts for each step; see experts_class_trust */
/* The history begins with two normals per state, somewhat apart so that they can become different,
 * none so narrow that it never gets an observation, none with so little weight that it dies out. */
#define EXPERTS_LEAST_SD 0.05
#define EXPERTS_APART 0.6
#define EXPERTS_LEAST_WEIGHT 1e-4

const int online_steps[CLASSES] = {1, 5, 15, 60};

void online_begin(struct weir_state *s)
{
    normals_fill_tails(s->tails);
    for (int cls = 0; cls < CLASSES; cls++) {
        struct horizon *h = &s->at_horizon[cls];

        for (int e = 0; e < EXPERTS; e++)
            h->weight[e] = 1.0 / EXPERTS;
        for (int m = 0; m < MOVING; m++) {
            h->slope[m] = 1;
            h->err_inv[m] = m == BY_LAST ? 0 : 1 / ONLINE_SD_UNKNOWN;
        }
    }
}

/* to <- from a / t, in rows of `stride`. */
static void experts_next_term(double *to, const double *from, const double *a, int k, int stride,
                              int t)
{
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) {
            double sum = 0;

            for (int l = 0; l < k; l++)
                sum += from[i * stride + l] * a[l * k + j];
            to[i * stride + j] = sum / t;
        }
}

/* The series of exp(Q dt) around a centre a little below dt, so that jitter finds it again. */
void online_centre(struct near_step *near, const struct weir_state *s, double dt, bool far)
{
    const double *q = s->model.q[0];
    int k = s->model.k, stride = online_stride(k), size = k * stride;
    double c = 0, a[HMM_STATES * HMM_STATES], at_g[HMM_STATES * HMM_STATES];

    for (int i = 0; i < k; i++)
        c = fmax(c, -q[i * k + i]);
    memset(near, 0, sizeof *near);
    near->c = c;
    near->reach = c > 0 ? (far ? EXPERTS_FAR_REACH : EXPERTS_REACH) / c : INFINITY;
    near->g = isinf(near->reach) ? dt : fmax(dt - near->reach / 2, 0);
    near->dt = NAN;
    near->valid = true;
    hmm_expm(at_g, q, k, near->g);
    for (int i = 0; i < k; i++)
        memcpy(near->coef + i * stride, at_g + i * k, sizeof *at_g * (size_t)k);
    memcpy(a, q, sizeof a);
    for (int i = 0; i < k; i++)
        a[i * k + i] += c;
    for (int t = 1; t < (far ? FAR_TERMS : TERMS); t++)
        experts_next_term(near->coef + t * size, near->coef + (t - 1) * size, a, k, stride, t);
}

struct near_step *online_asked(struct weir_state *s, double dt)
{
    for (int i = 0; i < ASKED; i++)
        if (online_reaches(&s->asked[i], dt))
            return &s->asked[i];
    return &s->asked[s->next_asked++ % ASKED];
}

/* So many forecasts of a horizon must have been compared with what came until their scores alone
 * decide: two for each step, because forecasts that far ahead resemble their neighbours. Before
 * that the next shorter horizon's decide as well. */
static double experts_class_trust(const struct weir_state *s, int cls)
{
    double enough = EXPERTS_PER_STEP * online_steps[cls],
           scored = (double)s->at_horizon[cls].scored;

    return cls == 0 || scored >= enough ? 1 : scored / enough;
}

/* What was learned of a horizon between two that are scored is between what was learned of those,
 * in proportion to the log of the steps: so forecasts change with the horizon without a jump. */
void online_classes(double part[CLASSES], const struct weir_state *s, double horizon_s)
{
    /* 1 / ln of the ratio of a horizon to the next */
    static const double per_log[CLASSES - 1] = {0.6213349345596119, 0.9102392266268373,
                                                0.7213475204444817};
    double steps = s->typical_dt > 0 ? horizon_s / s->typical_dt : 1, up = 0;
    int low = 0;

    while (low + 2 < CLASSES && steps >= online_steps[low + 1])
        low++;
    if (steps > online_steps[low])
        up = log(steps / online_steps[low]) * per_log[low];
    up = up < 1 ? up : 1;
    memset(part, 0, CLASSES * sizeof *part);
    part[low] = 1 - up;
    part[low + 1] = up;
    for (int c = CLASSES - 1; c > 0; c--) {
        double own = part[c] * experts_class_trust(s, c);

        part[c - 1] += part[c] - own;
        part[c] = own;
    }
}

/* The experts' weights and the moving normals as the horizons have them, in these proportions. */
static void experts_blend(struct outlook *o, double *weight, const struct weir_state *s,
                          const struct snapshot *now, const double part[CLASSES])
{
    bool first = true;

    for (int c = 0; c < CLASSES; c++) {
        const struct horizon *h = &s->at_horizon[c];

        if (!(part[c] > 0))
            continue;
        for (int e = 0; e < EXPERTS; e++)
            weight[e] = (first ? 0 : weight[e]) + part[c] * h->weight[e];
        for (int i = 0; i < MOVING; i++) {
            double mu = h->offset[i] + h->slope[i] * now->from[i];
            double inv = h->err_inv[i] + now->inv[i];

            o->mu[i] = (first ? 0 : o->mu[i]) + part[c] * mu;
            o->inv[i] = (first ? 0 : o->inv[i]) + part[c] * inv;
        }
        first = false;
    }
}

/* Two normals for each state of the first model; from then on every observation counts. */
void online_begin_history(struct weir_state *s)
{
    int k = s->model.k < HISTORY / 2 ? s->model.k : HISTORY / 2;

    s->nhistory = 2 * k;
    for (int i = 0; i < s->nhistory; i++) {
        double mu = s->model.emit[i / 2][HMM_LOC],
               sd = fmax(s->model.emit[i / 2][HMM_SPREAD], EXPERTS_LEAST_SD);
        int at = AT_HISTORY + i;

        mu += (i % 2 ? EXPERTS_APART : -EXPERTS_APART) * sd;
        s->hw[at] = s->long_run[i / 2] / 2;
        s->hfloor[at] = EXPERTS_LEAST_WEIGHT;
        s->mu[at] = mu;
        s->inv[at] = 1 / sd;
        s->h1[at] = s->hw[at] * (mu - s->origin);
        s->h2[at] = s->hw[at] * (sd * sd + (mu - s->origin) * (mu - s->origin));
    }
}

/* The moving normals' wide twins, after all others, as far as the horizon is a far one. */
static void experts_add_wide(struct outlook *o, double far)
{
    double wide = far * ONLINE_WIDE_WEIGHT, narrow_inv = 1 + far * (ONLINE_NARROW_INV - 1);

    for (int i = 0; i < MOVING; i++) {
        o->mu[o->n + i] = o->mu[i];
        o->inv[o->n + i] = o->inv[i] * ONLINE_WIDE_INV;
        o->w[o->n + i] = o->w[i] * wide;
        o->inv[i] *= narrow_inv;
        o->w[i] *= 1 - wide;
    }
    o->n += MOVING;
}

void online_forecast(struct outlook *ret, struct weir_state *s, double horizon_s)
{
    static const double model_alone[SEATS] = {[BY_FILTER] = 1};
    int k = s->has_model ? s->model.k : 0;
    QUAD_ALIGN double earned[SEATS];
    const double *weight = s->config.alone && k ? model_alone : earned;
    const struct snapshot *now = online_now(s);
    double p[HMM_STATES], part[CLASSES], far = 0, *w = ret->w + MOVING;

    online_classes(part, s, horizon_s);
    experts_blend(ret, earned, s, now, part);
    for (int c = TWO_FROM; c < CLASSES; c++)
        far += part[c];
    ret->n = MOVING + AT_STATE + k;
    memcpy(ret->w, weight, sizeof *weight * MOVING);
    memcpy(ret->mu + MOVING, s->mu, sizeof s->mu);
    memcpy(ret->inv + MOVING, s->inv, sizeof s->inv);
    w[AT_WINDOW] = weight[BY_WINDOW];
    w[AT_ANYTHING] = weight[BY_ANYTHING];
    for (int i = AT_HISTORY; i < AT_STATE; i++)
        w[i] = weight[BY_HISTORY] * s->hw[i];
    if (!s->nhistory)
        w[AT_WINDOW] += weight[BY_HISTORY];
    if (!k) {
        w[AT_WINDOW] += weight[BY_FILTER] + weight[BY_LONG_RUN];
    } else {
        memcpy(p, now->p, sizeof p);
        online_step(p, s, horizon_s, online_asked(s, horizon_s), true);
    }
    for (int i = 0; i < k; i++)
        w[AT_STATE + i] = weight[BY_FILTER] * p[i] + weight[BY_LONG_RUN] * s->long_run[i];
    if (far > 0)
        experts_add_wide(ret, far);
    for (int i = ret->n; i % QUAD; i++)
        ret->w[i] = ret->mu[i] = ret->inv[i] = 0;
}
