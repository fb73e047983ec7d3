/* dev_state.c -- a device whose speed follows the hidden states of a model of latencies.
 *
 *   idle time = overhead + (idle - overhead) bytes / probe
 *   time      = idle time x latency drawn / idle,       idle: the fastest state's median
 *
 * The model (`weir state fit --json`) was learned from probes of a real path, of `probe` bytes
 * each: a request of that size takes exactly what the model says. The state moves in
 * continuous time, whether there are requests or not; a request is served in the state that it
 * begins in. One request at a time, first come first served.
 *
 * Two streams of randomness, one for the path through the states and one for the latencies: a
 * path does not depend on the sizes of the requests that meet it.
 */
#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "dev_priv.h"
#include "state/model/model.h"
#include "state/model/simulate.h"

enum { FOR_PATH = 0x7370, FOR_LATENCY = 0x736c };

/* Of one request, so that the times of many stay below 2^64 ps. */
#define STATE_LONGEST_PS 1e14

struct state_params {
    const char *model;
    uint64_t probe;
    double overhead, interface;
};

struct state_dev {
    struct hmm_model m;
    struct wr_rng path, latency;
    double idle_s;
    double at_s; /* where the path has been followed to */
    int now;
    uint64_t free_ps;
};

static const struct conf_row state_rows[] = {
    {.key = "model",
     .type = CONF_PATH,
     .offset = offsetof(struct state_params, model),
     .def = "",
     .help = "Model of latencies, as `weir state fit --json` writes it; without one, the three "
             "states of a published week of probes."},
    {.key = "probe",
     .type = CONF_BYTES,
     .offset = offsetof(struct state_params, probe),
     .def = "1 MiB",
     .min = 512,
     .max = 1e12,
     .help = "Size of the probes that the model was learned from."},
    {.key = "overhead",
     .type = CONF_TIME,
     .offset = offsetof(struct state_params, overhead),
     .def = "0 us",
     .min = 0,
     .max = DEV_LONGEST_PS,
     .help = "Part of an idle probe's latency that does not depend on its size."},
    {.key = "interface",
     .type = CONF_RATE,
     .offset = offsetof(struct state_params, interface),
     .def = "12 GB/s",
     .min = DEV_SLOWEST_BPS,
     .max = 1e15,
     .help = "Rate that no request exceeds, in whatever state."},
    CONF_END,
};

/* examples/state/titan.json */
static const struct hmm_model published = {
    .k = 3,
    .nblocks = 1,
    .initial = {1.0 / 3, 1.0 / 3, 1.0 / 3},
    .q = {{-5.56e-4, 4.17e-4, 1.39e-4, 8.33e-4, -1.666e-3, 8.33e-4, 2.78e-4, 5.56e-4, -8.34e-4}},
    .emit = {{-5.5728, 0.1}, {-5.0672, 0.09}, {-4.4228, 0.4}},
};

/* The fastest state's median; half of an exponential's mean logarithm for Weibull. */
static double idle_s(const struct hmm_model *m)
{
    double x = m->emit[0][HMM_LOC];

    if (m->family == HMM_WEIBULL)
        x += m->emit[0][HMM_SPREAD] * log(log(2));
    return exp(x);
}

static bool check(const struct hmm_model *m, const struct state_params *p, struct wr_err *err)
{
    double idle = idle_s(m);

    if (p->overhead >= idle * 1e12)
        return wr_fail(err, WR_INPUT,
                       "overhead: %g us is not less than an idle probe's %g us; make it less",
                       p->overhead / 1e6, idle * 1e6);
    for (int s = 0; s < m->k; s++)
        if (exp(m->emit[s][HMM_LOC]) * 1e12 > STATE_LONGEST_PS / 10)
            return wr_fail(err, WR_INPUT,
                           "model: a probe takes %g s in state %d, longer than a device may; "
                           "give a model of latencies below %g s",
                           exp(m->emit[s][HMM_LOC]), s, STATE_LONGEST_PS / 1e13);
    return true;
}

static bool state_open(struct dev *d, struct wr_err *err)
{
    const struct state_params *p = d->params;
    struct hmm_model m = published;
    double share[HMM_STATES];

    if (p->model && *p->model && !state_model_read(&m, p->model, err))
        return false;
    if (!check(&m, p, err))
        return false;
    struct state_dev *s = wr_zalloc(1, sizeof *s);

    s->m = m;
    s->idle_s = idle_s(&m);
    wr_rng_init(&s->path, d->seed, d->entity, FOR_PATH);
    wr_rng_init(&s->latency, d->seed, d->entity, FOR_LATENCY);
    hmm_stationary(share, &m, 0);
    s->now = state_pick(share, m.k, &s->path);
    d->priv = s;
    return true;
}

static uint64_t state_submit(struct dev *d, const struct dev_req *r)
{
    const struct state_params *p = d->params;
    struct state_dev *s = d->priv;
    uint64_t begin = dev_later(s->free_ps, r->t_ps);
    double begin_s = (double)begin * 1e-12, idle_ps = s->idle_s * 1e12;

    s->now = state_advance(&s->m, s->now, s->at_s, begin_s, &s->path);
    s->at_s = begin_s;
    /* A law without end says something absurd now and then: no request takes longer than this. */
    double factor = exp(state_draw(&s->m, s->now, &s->latency)) / s->idle_s;
    double ps = p->overhead + (idle_ps - p->overhead) * (double)r->bytes / (double)p->probe;
    uint64_t span =
        dev_later(dev_ps(fmin(ps * factor, STATE_LONGEST_PS)), dev_span_ps(r->bytes, p->interface));

    s->free_ps = begin + span;
    return s->free_ps;
}

static double state_interface(const struct dev *d)
{
    return ((const struct state_params *)d->params)->interface;
}

const struct dev_ops dev_model_state = {
    .kind = {.name = "state",
             .summary = "follows the hidden states of a model of latencies",
             .rows = state_rows,
             .params_size = sizeof(struct state_params)},
    .in_order = true,
    .open = state_open,
    .submit = state_submit,
    .interface_bps = state_interface,
};
