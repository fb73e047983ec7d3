/* dev_state.c -- a device whose speed follows the hidden states of a model of latencies.
 *
 *   time = latency drawn x scale(bytes),    scale(probe) = 1
 *
 *   scale(bytes) = f + (1 - f) bytes / probe    where the part f of a probe's latency that does not
 *                                               depend on its size is known: from `overhead`, or
 *                                               from probes of several sizes
 *   scale(bytes) = max(1, bytes / probe)        where it is not: no request is faster than a probe.
 *                                               Such requests are counted, and the caller warns
 *
 * The model (`weir state fit --json`) was learned from probes of a real path, of `probe` bytes
 * each: a request of that size takes exactly what the model says. The state moves in
 * continuous time, whether there are requests or not; a request is served in the state that it
 * begins in. One request at a time, first come first served.
 *
 * Two streams of randomness, one for the path through the states and one for the latencies: a
 * path depends neither on the requests that meet it nor on when they come. With `path: shared` all
 * devices follow the same path.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/units.h"
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
    uint32_t scaling, path; /* enum state_scaling; 1: shared */
};

enum state_scaling { SCALING_AUTO, SCALING_OVERHEAD, SCALING_BOUND };

static const char *const scaling_names[] = {"auto", "overhead", "bound", NULL};
static const char *const path_names[] = {"own", "shared", NULL};

/* All but path, latency and free_ps is fixed by dev_state_open(). */
struct state_dev {
    struct hmm_model m;
    struct state_probed probed; /* with the size that counts */
    bool size_assumed;          /* neither model nor configuration has the size of the probes */
    double fixed_share;         /* NaN: not known */
    struct state_path path;
    struct wr_rng latency;
    uint64_t free_ps;
};

static const struct conf_row state_rows[] = {
    {.key = "model",
     .type = CONF_PATH,
     .offset = offsetof(struct state_params, model),
     .def = "",
     .help = "Model of latencies, as `weir state fit` writes it in JSON; without one, the three "
             "states of a published week of probes."},
    {.key = "probe",
     .type = CONF_BYTES,
     .offset = offsetof(struct state_params, probe),
     .def = "",
     .min = 512,
     .max = 1e12,
     .help = "Size of the probes that the model was learned from; without it as the model says, or "
             "1 MiB."},
    {.key = "overhead",
     .type = CONF_TIME,
     .offset = offsetof(struct state_params, overhead),
     .def = "0 us",
     .min = 0,
     .max = DEV_LONGEST_PS,
     .help = "Part of an idle probe's latency that does not depend on its size."},
    {.key = "scaling",
     .type = CONF_CHOICE,
     .offset = offsetof(struct state_params, scaling),
     .def = "auto",
     .names = scaling_names,
     .help = "How long requests of other sizes than the probes' take: by `overhead`, the rest in "
             "proportion to the size; no less than a probe, larger ones in proportion (bound); "
             "auto: by `overhead` if it is above 0, else by the model's probes of several sizes, "
             "else as bound, with a warning."},
    {.key = "path",
     .type = CONF_CHOICE,
     .offset = offsetof(struct state_params, path),
     .def = "own",
     .names = path_names,
     .help = "Every device has a hidden path of its own, or all follow one."},
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
static double state_idle_s(const struct hmm_model *m)
{
    double x = m->emit[0][HMM_LOC];

    if (m->family == HMM_WEIBULL)
        x += m->emit[0][HMM_SPREAD] * log(log(2));
    return exp(x);
}

/* A path's jumps are drawn one by one. */
#define STATE_FASTEST_RATE 1e5

static bool state_check_rates(const struct hmm_model *m, struct wr_err *err)
{
    for (int b = 0; b < m->nblocks; b++)
        for (int s = 0; s < m->k; s++)
            if (-m->q[b][s * m->k + s] > STATE_FASTEST_RATE)
                return wr_fail(err, WR_INPUT,
                               "model: state %d is left %g times a second, too often for a device; "
                               "give a model with fewer states",
                               s, -m->q[b][s * m->k + s]);
    return true;
}

static bool state_check_model(const struct hmm_model *m, const struct state_params *p,
                              struct wr_err *err)
{
    double idle = state_idle_s(m);

    if (!state_check_rates(m, err))
        return false;

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

/* The part of a probe's latency that does not depend on its size; NaN: not known. */
static double state_fixed_share(const struct state_dev *s, const struct state_params *p)
{
    if (p->scaling == SCALING_OVERHEAD || (p->scaling == SCALING_AUTO && p->overhead > 0))
        return p->overhead / (state_idle_s(&s->m) * 1e12);
    if (p->scaling == SCALING_BOUND || p->probe)
        return NAN; /* the model's share is that of its own probes */
    return s->probed.fixed_share;
}

static bool dev_state_open(struct dev *d, struct wr_err *err)
{
    const struct state_params *p = d->params;
    struct state_dev s = {.m = published, .probed = {.bytes = 1 << 20, .fixed_share = NAN}};
    struct wr_rng path;

    if (p->model && *p->model && !state_model_read_probed(&s.m, &s.probed, p->model, err))
        return false;
    if (!state_check_model(&s.m, p, err))
        return false;
    s.fixed_share = state_fixed_share(&s, p);
    s.size_assumed = !p->probe && !s.probed.bytes;
    if (p->probe && p->probe != s.probed.bytes)
        s.probed.least_b = s.probed.most_b = 0;
    s.probed.bytes = p->probe ? p->probe : s.probed.bytes ? s.probed.bytes : 1 << 20;
    d->priv = wr_zalloc(1, sizeof s);
    *(struct state_dev *)d->priv = s;
    struct state_dev *kept = d->priv;

    wr_rng_init(&path, d->seed, p->path ? 0 : d->entity, FOR_PATH);
    wr_rng_init(&kept->latency, d->seed, d->entity, FOR_LATENCY);
    state_path_open(&kept->path, &kept->m, &path);
    return true;
}

/* How many times as long as a probe a request takes in the same state. */
static double state_scale(const struct state_dev *s, uint64_t bytes)
{
    double times = (double)bytes / (double)s->probed.bytes;

    return isnan(s->fixed_share) ? fmax(1, times) : s->fixed_share + (1 - s->fixed_share) * times;
}

/* Is the time of the request not what probes have shown? Percents of difference do not count. */
static bool state_is_assumed(const struct state_dev *s, const struct state_params *p,
                             const struct dev_req *r)
{
    double probe = (double)s->probed.bytes, bytes = (double)r->bytes;
    bool other = fabs(bytes - probe) > 0.01 * probe;

    if (s->size_assumed || (*s->probed.op && r->write != !strcmp(s->probed.op, "write")))
        return true;
    if (!other || p->scaling != SCALING_AUTO || p->overhead > 0)
        return false;
    return isnan(s->fixed_share) || bytes < 0.99 * (double)s->probed.least_b ||
           bytes > 1.01 * (double)s->probed.most_b;
}

static void dev_state_assumption(const struct dev *d, struct wr_str *out)
{
    const struct state_params *p = d->params;
    const struct state_dev *s = d->priv;
    const char *model = p->model && *p->model ? p->model : "the published model";

    wr_str_addf(out, "%s was learned from %s%s%s of %s%s", model, *s->probed.op ? "" : "probes",
                s->probed.op, *s->probed.op ? "s" : "", wr_text_bytes(s->probed.bytes).s,
                s->size_assumed ? " (assumed: it does not say)" : "");
    if (isnan(s->fixed_share))
        wr_str_add(out, "; of other sizes none is taken to be faster, and larger ones to take as "
                        "much longer as they are larger");
    else
        wr_str_addf(out, "; sizes below %s and above %s are extrapolated",
                    wr_text_bytes(s->probed.least_b).s, wr_text_bytes(s->probed.most_b).s);
    if (*s->probed.op)
        wr_str_addf(out, ", and %s are taken to last as long",
                    !strcmp(s->probed.op, "write") ? "reads" : "writes");
    wr_str_add(out, ". Fit probes of both operations and of two sizes "
                    "(`weir state fit`), or give `overhead` or `scaling`");
}

static uint64_t dev_state_submit(struct dev *d, const struct dev_req *r)
{
    const struct state_params *p = d->params;
    struct state_dev *s = d->priv;
    uint64_t begin = dev_later(s->free_ps, r->t_ps);
    int now = state_path_at(&s->path, (double)begin * 1e-12);
    /* The distribution is unbounded: a draw is limited to the longest request of a device. */
    double ps = exp(state_draw(&s->m, now, &s->latency)) * 1e12 * state_scale(s, r->bytes);
    uint64_t span =
        dev_later(dev_ps(fmin(ps, STATE_LONGEST_PS)), dev_span_ps(r->bytes, p->interface));

    d->assumed += state_is_assumed(s, p, r);
    s->free_ps = begin + span;
    return s->free_ps;
}

static double dev_state_interface(const struct dev *d)
{
    return ((const struct state_params *)d->params)->interface;
}

const struct dev_ops dev_model_state = {
    .kind = {.name = "state",
             .summary = "follows the hidden states of a model of latencies",
             .rows = state_rows,
             .params_size = sizeof(struct state_params)},
    .in_order = true,
    .open = dev_state_open,
    .assumption = dev_state_assumption,
    .submit = dev_state_submit,
    .interface_bps = dev_state_interface,
};
