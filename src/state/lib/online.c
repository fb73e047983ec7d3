/* online.c -- the library's entry points: creation, observations, fits, questions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "online_priv.h"
#include "state/lib/forecast.h"

#define API __attribute__((visibility("default")))

/* Of a normal, 99.9 % are below so many standard deviations above its mean: what a model that is
 * set says has been seen. */
#define SD_OF_999 3.0902323061678132

/* A fit runs between two observations of an application, so it must take milliseconds: few starts
 * and few steps, fewer still when it climbs from the last model, and a tolerance that ends it when
 * forecasts no longer change. The first fit waits for some observations per state. */
enum {
    FIRST_PER_STATE = 10, /* observations */
    LOOK_SHARE = 4,       /* other starts are tried when a quarter of the window is new */
    LOOK_STARTS = 10,
    LOOK_FINALISTS = 4,
    LOOK_EM_STEPS = 8,
    LOOK_STEPS = 60,
    CLIMB_EM_STEPS = 2,
    CLIMB_STEPS = 15,
    REFIT_SHARE = 10, /* by default a fit is due when a tenth of the window is new, */
    REFIT_LEAST = 10, /* but after so many observations at the earliest */
    REFIT_MOST = 60,  /* and at the latest */
};
#define ONLINE_SD_LEAST 0.02 /* 2 % of a latency: a narrower state is a few equal observations */
#define ONLINE_GRAD_TOL 0.05
#define ONLINE_TABLE_EXACT 1e-9 /* below, the table of tails has too few digits */

API int weir_state_abi(void)
{
    return WEIR_STATE_ABI;
}

API const char *weir_state_version(void)
{
    return "1.2.0";
}

/* Fields that the caller's version does not have are 0. */
static bool online_configure(struct weir_state_config *to, const struct weir_state_config *from)
{
    memset(to, 0, sizeof *to);
    if (from && from->size)
        memcpy(to, from, from->size < sizeof *to ? from->size : sizeof *to);
    to->size = sizeof *to;
    to->states = to->states ? to->states : 3;
    to->window = to->window ? to->window : 720;
    return to->states >= 1 && to->states <= 6 && to->window >= 64 && to->window <= 100000;
}

static const struct online_kernel *online_best_kernel(void)
{
#ifdef ONLINE_X86_KERNELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &online_kernel_avx2;
#endif
    return &online_kernel_plain;
}

void weir_state_plainly(struct weir_state *s)
{
    s->kernel = &online_kernel_plain;
}

API struct weir_state *weir_state_create(const struct weir_state_config *config)
{
    struct weir_state_config c;
    struct weir_state *s;

    if (!online_configure(&c, config) ||
        !(s = aligned_alloc(_Alignof(struct weir_state), sizeof *s)))
        return NULL;
    memset(s, 0, sizeof *s);
    size_t w = (size_t)c.window;

    s->config = c;
    s->kernel = online_best_kernel();
    s->t = calloc(w, sizeof *s->t);
    s->x = calloc(w, sizeof *s->x);
    s->fit_x = calloc(w, sizeof *s->fit_x);
    s->fit_dt = calloc(w, sizeof *s->fit_dt);
    s->season = calloc(w, sizeof *s->season);
    s->most_x = -INFINITY;
    s->scratch = calloc(hmm_fit_scratch(c.states * (c.states + 1)), sizeof *s->scratch);
    if (!s->t || !s->x || !s->fit_x || !s->fit_dt || !s->season || !s->scratch ||
        !hmm_work_init(&s->work, w, 0, c.states) || pthread_mutex_init(&s->lock, NULL)) {
        weir_state_destroy(s);
        return NULL;
    }
    online_begin(s);
    return s;
}

API void weir_state_destroy(struct weir_state *s)
{
    if (!s)
        return;
    if (s->work.memory)
        pthread_mutex_destroy(&s->lock);
    hmm_work_fini(&s->work);
    free(s->t);
    free(s->x);
    free(s->fit_x);
    free(s->fit_dt);
    free(s->season);
    free(s->scratch);
    free(s);
}

void online_adopt(struct weir_state *s)
{
    hmm_stationary(s->long_run, &s->model, 0);
    hmm_time_to(s->to_idle, s->model.q[0], s->model.k, 0);
    for (int c = 0; c < CLASSES; c++)
        s->step[c].valid = false;
    for (int i = 0; i < ASKED; i++)
        s->asked[i].valid = false;
    if (!s->has_model)
        memcpy(online_now(s)->p, s->long_run, sizeof s->long_run);
    s->has_model = true;
    if (!s->n)
        s->origin = s->model.emit[0][HMM_LOC];
    if (!s->nhistory || !s->n)
        online_begin_history(s);
    s->kernel->refilter(s);
    if (s->config.alone && !s->n)
        memcpy(online_now(s)->p, s->model.initial, sizeof *s->model.initial * (size_t)s->model.k);
}

/* As the recursions want it. */
void online_lay_out(struct weir_state *s)
{
    size_t cap = (size_t)s->config.window, from = s->n - s->held;

    for (size_t i = 0; i < s->held; i++) {
        size_t at = (from + i) % cap;

        s->fit_x[i] = s->x[at];
        s->fit_dt[i] = i ? s->t[at] - s->t[(from + i - 1) % cap] : -1;
    }
    s->data = (struct hmm_data){.n = s->held, .x = s->fit_x, .dt = s->fit_dt};
    hmm_work_bind(&s->work, &s->data);
}

/* The first fit looks everywhere; later ones climb from where they are, and look at a few other
 * places now and then, because the world may have moved to another hill. */
bool online_fit(struct weir_state *s)
{
    bool look = !s->has_model || s->n - s->looked_at >= s->held / LOOK_SHARE;
    struct hmm_fit_opts o = {.k = s->config.states,
                             .starts = look ? LOOK_STARTS : 0,
                             .from = s->has_model ? &s->model : NULL,
                             .em_steps = s->has_model && !look ? CLIMB_EM_STEPS : LOOK_EM_STEPS,
                             .finalists = look ? LOOK_FINALISTS : 1,
                             .newton_most = s->has_model && !look ? CLIMB_STEPS : LOOK_STEPS,
                             .sd_least = ONLINE_SD_LEAST,
                             .grad_tol = ONLINE_GRAD_TOL,
                             .seed = s->config.seed};

    if ((int)s->held < FIRST_PER_STATE * s->config.states)
        return false;
    online_lay_out(s);
    s->since_fit = 0;
    if (look)
        s->looked_at = s->n;
    if (!hmm_fit(&s->fit, &s->work, &o, s->scratch) || !isfinite(s->fit.loglik))
        return false;
    s->model = s->fit.model;
    online_adopt(s);
    return true;
}

/* Young windows change quickly: by default a tenth of what is held is new. */
static bool online_fit_is_due(const struct weir_state *s)
{
    size_t every = (size_t)s->config.refit_every,
           first = FIRST_PER_STATE * (size_t)s->config.states;

    if (s->config.refit_every < 0 || s->config.alone)
        return false;
    if (!every) {
        every = s->held / REFIT_SHARE < REFIT_LEAST ? REFIT_LEAST : s->held / REFIT_SHARE;
        every = every > REFIT_MOST ? REFIT_MOST : every;
    }
    return s->since_fit >= every || (!s->has_model && s->held == first);
}

API int weir_state_observe(struct weir_state *s, double t_s, double latency_s)
{
    if (!(latency_s > 0) || !isfinite(latency_s) || !isfinite(t_s))
        return WEIR_STATE_BAD;
    double x = log(latency_s);
    int result = WEIR_STATE_BAD;

    pthread_mutex_lock(&s->lock);
    if (!s->n || t_s >= online_now(s)->t) {
        if (!s->n && !s->has_model)
            s->origin = x;
        s->kernel->learn(s, t_s, x);
        s->most_x = fmax(s->most_x, x);
        s->since_fit++;
        if (online_fit_is_due(s))
            online_fit(s);
        result = WEIR_STATE_OK;
    }
    pthread_mutex_unlock(&s->lock);
    return result;
}

API int weir_state_refit(struct weir_state *s)
{
    pthread_mutex_lock(&s->lock);
    bool ok = online_fit(s);

    pthread_mutex_unlock(&s->lock);
    return ok ? WEIR_STATE_OK : WEIR_STATE_TOO_FEW;
}

API int weir_state_set_model(struct weir_state *s, int k, const double *q, const double *meanlog,
                             const double *sdlog)
{
    struct hmm_model m = {.k = k, .nblocks = 1};

    if (k != s->config.states)
        return WEIR_STATE_BAD;
    for (int i = 0; i < k; i++) {
        if (!isfinite(meanlog[i]) || !(sdlog[i] > 0) || !isfinite(sdlog[i]))
            return WEIR_STATE_BAD;
        m.emit[i][HMM_LOC] = meanlog[i];
        m.emit[i][HMM_SPREAD] = sdlog[i];
        m.initial[i] = 1.0 / k;
        for (int j = 0; j < k; j++) {
            if (i != j && !(q[i * k + j] >= 0 && isfinite(q[i * k + j])))
                return WEIR_STATE_BAD;
            m.q[0][i * k + j] = q[i * k + j];
        }
    }
    hmm_tidy(&m);
    pthread_mutex_lock(&s->lock);
    s->model = m;
    for (int i = 0; i < k; i++)
        s->most_x = fmax(s->most_x, m.emit[i][HMM_LOC] + SD_OF_999 * m.emit[i][HMM_SPREAD]);
    online_adopt(s);
    pthread_mutex_unlock(&s->lock);
    return WEIR_STATE_OK;
}

API int weir_state_get_model(struct weir_state *s, double *q, double *meanlog, double *sdlog)
{
    pthread_mutex_lock(&s->lock);
    int k = s->has_model ? s->model.k : 0;

    for (int i = 0; i < k; i++) {
        if (meanlog)
            meanlog[i] = s->model.emit[i][HMM_LOC];
        if (sdlog)
            sdlog[i] = s->model.emit[i][HMM_SPREAD];
        for (int j = 0; q && j < k; j++)
            q[i * k + j] = s->model.q[0][i * k + j];
    }
    pthread_mutex_unlock(&s->lock);
    return k;
}

API int weir_state_probabilities(struct weir_state *s, double horizon_s, double *ret, int most)
{
    double p[HMM_STATES];

    pthread_mutex_lock(&s->lock);
    int k = s->has_model ? s->model.k : 0;

    memcpy(p, online_now(s)->p, sizeof p);
    if (k && horizon_s > 0)
        online_step(p, s, horizon_s, online_asked(s, horizon_s), true);
    for (int i = 0; i < k && i < most; i++)
        ret[i] = p[i];
    pthread_mutex_unlock(&s->lock);
    return k;
}

/* Asks one question of the forecast at a horizon. */
static double online_ask(struct weir_state *s, double horizon_s, double arg,
                         double (*f)(const struct weir_state *s, const struct outlook *o,
                                     double arg))
{
    struct outlook o;
    double answer = NAN;

    if (!(horizon_s >= 0) || isnan(arg))
        return NAN;
    pthread_mutex_lock(&s->lock);
    if (s->n) {
        online_forecast(&o, s, horizon_s);
        answer = f(s, &o, arg);
    }
    pthread_mutex_unlock(&s->lock);
    return answer;
}

/* The forecast as the rest of weir knows it. */
static void online_to_mix(struct hmm_mix *ret, const struct outlook *o)
{
    ret->n = 0;
    for (int i = 0; i < o->n; i++)
        if (o->w[i] > 0)
            hmm_mix_add(ret, o->w[i], o->mu[i], 1 / o->inv[i]);
}

static double online_ask_quantile(const struct weir_state *s, const struct outlook *o, double p)
{
    struct hmm_mix m;

    (void)s;
    online_to_mix(&m, o);
    return exp(hmm_mix_quantile(&m, p));
}

/* From the table; so far out that the table's rounding would count, exactly. */
static double online_ask_exceeds(const struct weir_state *s, const struct outlook *o,
                                 double latency)
{
    double x = latency > 0 ? log(latency) : -INFINITY;

    if (isinf(x))
        return x < 0;
    double sum = s->kernel->above(s, o, x);

    if (sum > ONLINE_TABLE_EXACT)
        return sum;
    struct hmm_mix m;

    online_to_mix(&m, o);
    return hmm_mix_above(&m, x);
}

/* Latencies beyond the largest one seen count as that one: how heavy a tail is that was never seen
 * is an assumption of the normals, and a mean would consist of it. */
static double online_ask_mean(const struct weir_state *s, const struct outlook *o, double unused)
{
    struct hmm_mix m;

    (void)unused;
    online_to_mix(&m, o);
    return s->config.alone ? hmm_mix_mean_latency(&m) : hmm_mix_mean_below(&m, s->most_x);
}

static double online_ask_log_density(const struct weir_state *s, const struct outlook *o,
                                     double latency)
{
    struct hmm_mix m;

    (void)s;
    online_to_mix(&m, o);
    return latency > 0 ? log(hmm_mix_density(&m, log(latency))) : -INFINITY;
}

API double weir_state_quantile(struct weir_state *s, double horizon_s, double p)
{
    return online_ask(s, horizon_s, p, online_ask_quantile);
}

API double weir_state_exceeds(struct weir_state *s, double horizon_s, double latency_s)
{
    return online_ask(s, horizon_s, latency_s, online_ask_exceeds);
}

API double weir_state_mean(struct weir_state *s, double horizon_s)
{
    return online_ask(s, horizon_s, 0, online_ask_mean);
}

API double weir_state_log_density(struct weir_state *s, double horizon_s, double latency_s)
{
    return online_ask(s, horizon_s, latency_s, online_ask_log_density);
}

static double online_time_to_idle(struct weir_state *s)
{
    const double *p = online_now(s)->p;
    double sum = 0;

    if (!s->has_model)
        return NAN;
    for (int i = 0; i < s->model.k; i++)
        if (p[i] > 0 && s->to_idle[i] > 0)
            sum += p[i] * s->to_idle[i];
    return sum;
}

API double weir_state_time_to_idle(struct weir_state *s)
{
    pthread_mutex_lock(&s->lock);
    double t = online_time_to_idle(s);

    pthread_mutex_unlock(&s->lock);
    return t;
}

API double weir_state_stays_idle(struct weir_state *s, double horizon_s)
{
    if (!(horizon_s >= 0))
        return NAN;
    pthread_mutex_lock(&s->lock);
    double p = s->has_model ? online_now(s)->p[0] * exp(s->model.q[0][0] * horizon_s) : NAN;

    pthread_mutex_unlock(&s->lock);
    return p;
}

/* A seasonal forecaster that gains so many nats on each observation would leave the model this part
 * of its weight. */
static double online_health(struct weir_state *s)
{
    const double *w = s->at_horizon[0].weight;

    if (!s->has_model)
        return 0;
    online_find_season(s);
    return (w[BY_FILTER] + w[BY_LONG_RUN]) * exp(-s->period_gain);
}

API double weir_state_health(struct weir_state *s)
{
    pthread_mutex_lock(&s->lock);
    double h = online_health(s);

    pthread_mutex_unlock(&s->lock);
    return h;
}

API double weir_state_period(struct weir_state *s, double *ret_gain)
{
    pthread_mutex_lock(&s->lock);
    online_find_season(s);
    double period = s->period_s;

    if (ret_gain)
        *ret_gain = s->period_gain;
    pthread_mutex_unlock(&s->lock);
    return period;
}

API uint64_t weir_state_checked(struct weir_state *s, double horizon_s)
{
    if (!(horizon_s >= 0))
        return 0;
    pthread_mutex_lock(&s->lock);
    double steps = s->typical_dt > 0 ? fmax(ceil(horizon_s / s->typical_dt - 0.5), 1) : 1;
    uint64_t n = (double)s->n > steps ? s->n - (uint64_t)steps : 0;

    pthread_mutex_unlock(&s->lock);
    return n;
}

API uint64_t weir_state_observations(struct weir_state *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t n = s->n;

    pthread_mutex_unlock(&s->lock);
    return n;
}

void weir_state_mix(struct weir_state *s, double horizon_s, struct hmm_mix *ret)
{
    struct outlook o;

    pthread_mutex_lock(&s->lock);
    if (s->n) {
        online_forecast(&o, s, horizon_s);
        online_to_mix(ret, &o);
    }
    pthread_mutex_unlock(&s->lock);
}
