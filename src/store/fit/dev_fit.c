/* dev_fit.c -- fits the parameters of a device model to measured points.
 *
 * `weir dev fit` calls it. Each trial writes the parameters as overrides of the configuration,
 * opens the device and drives it under the workload of every point; the sum of squared logarithms
 * of the errors is minimised (stat/minimize.h), first with few requests per trial, then with many.
 *
 * Invariants: parameters are positive (the search is over their logarithms); the same points and
 * seed give the same fit.
 */
#include "store/fit/dev_fit.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "stat/minimize.h"

const char *const fit_what_names[] = {
    [FIT_IOPS] = "IOPS", [FIT_RATE] = "MB/s", [FIT_LATENCY] = "us"};

const char *fit_workload(const struct fit_point *p)
{
    return p->random  ? p->write ? "random write" : "random read"
           : p->write ? "sequential write"
                      : "sequential read";
}

/* Which points determine a parameter. */
enum { READS = 1, WRITES = 2, RANDOM = 4 };

static const struct {
    const char *kind, *key;
    unsigned points; /* 0: all; READS or WRITES; RANDOM: those at random only */
} known[] = {
    {"table", "device.bandwidth", 0},       {"table", "device.overhead", 0},
    {"table", "device.seek", RANDOM},       {"nvme", "device.read_latency", READS},
    {"nvme", "device.read_rate", READS},    {"nvme", "device.write_latency", WRITES},
    {"nvme", "device.write_rate", WRITES},  {"ssd", "device.overhead_read", READS},
    {"ssd", "device.issue_read", READS},    {"ssd", "device.overhead_write", WRITES},
    {"ssd", "device.issue_write", WRITES},  {"hdd", "device.zones.0.rate", 0},
    {"hdd", "device.seek.average", RANDOM}, {"hdd", "device.seek.write", RANDOM | WRITES},
};

/* First many trials of few requests each, from far away; then few of many, from nearby. */
static const struct {
    uint64_t requests, bytes; /* of a trial: enough for a mean */
    double step;
    uint32_t trials; /* for each parameter */
} stages[] = {{1000, 64 << 20, 0.3, 200}, {10000, 256 << 20, 0.02, 30}};

/* A fit in progress. `model` and `param` change with every trial, `stage` and `rounded` between
 * them. */
struct fitting {
    const struct fit_how *how;
    const struct fit_point *points; /* measured */
    size_t npoints;
    struct fit_param *param;              /* [nparams] with the values of the trial */
    enum conf_type type[FIT_MOST_PARAMS]; /* how a value is written */
    size_t nparams;
    struct fit_model *model;       /* [npoints] what the device does at each point */
    double start[FIT_MOST_PARAMS]; /* logarithms */
    size_t stage;                  /* of stages[] */
    bool rounded;                  /* values as they will be written, with six digits */
};

/* ---- one trial ---- */

static void devfit_write_value(struct fitting *f, size_t i, double log_value)
{
    assert(i < f->nparams);
    struct fit_param *p = &f->param[i];

    p->value = exp(log_value);
    if (f->rounded) {
        snprintf(p->text, sizeof p->text, "%.6g", p->value);
        p->value = strtod(p->text, NULL);
    }
    if (f->type[i] == CONF_TIME)
        snprintf(p->text, sizeof p->text, "%s", wr_text_time(p->value).s);
    else if (f->type[i] == CONF_RATE)
        snprintf(p->text, sizeof p->text, "%s", wr_text_rate(p->value).s);
    else
        snprintf(p->text, sizeof p->text, "%s", wr_text_real(p->value).s);
}

static bool devfit_load(const struct fitting *f, struct conf **ret, struct dev_set *into,
                        struct wr_err *err)
{
    size_t n = f->how->nsets;
    const char **sets = wr_alloc((n + f->nparams + 1) * sizeof *sets);
    struct wr_arena arena = {0};

    for (size_t i = 0; i < n; i++)
        sets[i] = f->how->sets[i];
    for (size_t i = 0; i < f->nparams; i++)
        if (f->param[i].text[0])
            sets[n++] = wr_arena_printf(&arena, "%s=%s", f->param[i].key, f->param[i].text);
    bool ok = f->how->load(f->how->ctx, ret, into, sets, n, err);

    wr_arena_fini(&arena);
    free(sets);
    return ok;
}

static struct fit_model devfit_measure(const struct fit_point *p, const struct dev_result *r)
{
    double s = (double)r->elapsed_ps * 1e-12;
    struct fit_model m = {.mean_us = wr_hist_mean(&r->latency_ps) * 1e-6,
                          .p99_us = wr_hist_quantile(&r->latency_ps, 0.99) * 1e-6};

    m.value = p->what == FIT_IOPS   ? (double)r->requests / s
              : p->what == FIT_RATE ? (double)r->bytes / s * 1e-6
                                    : m.mean_us;
    return m;
}

static uint64_t devfit_requests(const struct fitting *f, const struct fit_point *p)
{
    assert(f->stage < sizeof stages / sizeof *stages && p->record_b > 0);
    uint64_t many = stages[f->stage].requests, enough = stages[f->stage].bytes / p->record_b;
    uint64_t least = 10 * (uint64_t)p->depth + 100;

    many = enough < many ? enough : many;
    return many > least ? many : least;
}

/* The model under every point's workload. */
static bool devfit_simulate(const struct fitting *f, const struct dev_set *set,
                            struct fit_model *ret, struct wr_err *err)
{
    struct dev_result *r = wr_alloc(sizeof *r);
    bool ok = dev_file_check(&set->file, err);

    for (size_t i = 0; ok && i < f->npoints; i++) {
        const struct fit_point *p = &f->points[i];
        struct dev_load work = {.record_b = p->record_b, .write = p->write, .random = p->random};
        struct dev d;

        if (set->file.size / set->file.extents < p->record_b)
            ok = wr_fail(err, WR_INPUT,
                         "a record of %llu B does not fit in a file of %llu B in %u pieces; set "
                         "file.size to that of the file that was measured",
                         (unsigned long long)p->record_b, (unsigned long long)set->file.size,
                         set->file.extents);
        else if (dev_open(&d, &set->device, f->how->seed, 0, err)) {
            dev_drive_some(&d, &set->file, &work, p->depth, devfit_requests(f, p), r);
            dev_close(&d);
            ret[i] = devfit_measure(p, r);
        } else {
            ok = false;
        }
    }
    free(r);
    return ok;
}

static bool devfit_try_values(struct fitting *f, const double *x, struct fit_model *ret,
                              struct wr_err *err)
{
    struct dev_set set = {0};
    struct conf *conf;

    for (size_t i = 0; i < f->nparams; i++)
        devfit_write_value(f, i, x[i]);
    if (!devfit_load(f, &conf, &set, err))
        return false;
    bool ok = devfit_simulate(f, &set, ret, err);

    conf_close(conf);
    return ok;
}

static double devfit_log_error(const struct fit_point *p, const struct fit_model *m)
{
    return m->value > 0 ? log(m->value / p->value) : INFINITY;
}

/* The objective: squared logarithms of the errors. Values that the model refuses are infinitely
 * bad. Parameters that the points do not determine are drawn to their start (`pull`), so that they
 * stay there. */
static double devfit_objective(const double *x, size_t n, void *arg)
{
    static const double pull = 1e-6;
    struct fitting *f = arg;
    struct wr_err ignored;
    double sum = 0;

    if (!devfit_try_values(f, x, f->model, &ignored))
        return INFINITY;
    for (size_t i = 0; i < n; i++)
        sum += pull * pow(x[i] - f->start[i], 2);
    for (size_t i = 0; i < f->npoints; i++)
        sum += pow(devfit_log_error(&f->points[i], &f->model[i]), 2);
    return sum;
}

/* ---- what is fitted ---- */

struct lookup {
    struct fitting *f;
    size_t i;
    double value;
    bool found;
};

static void devfit_look_up(const struct conf_value *v, void *arg)
{
    struct lookup *l = arg;

    if (strcmp(v->key, l->f->param[l->i].key) != 0)
        return;
    l->f->type[l->i] = v->row->type;
    l->found = v->row->type == CONF_TIME || v->row->type == CONF_RATE ||
               v->row->type == CONF_REAL || v->row->type == CONF_FRACTION;
    if (l->found)
        l->value = *(const double *)v->at;
}

static bool devfit_is_determined(const struct fitting *f, unsigned by)
{
    for (size_t i = 0; i < f->npoints; i++) {
        unsigned is = f->points[i].write ? WRITES : READS;

        if (f->points[i].random)
            is |= RANDOM;
        if ((is & by) == by)
            return true;
    }
    return false;
}

static bool devfit_choose_params(struct fitting *f, const char *kind, struct wr_err *err)
{
    const struct fit_how *how = f->how;

    if (how->nparams > FIT_MOST_PARAMS)
        return wr_fail(err, WR_INPUT, "more than %d parameters at once; fit fewer",
                       FIT_MOST_PARAMS);
    for (size_t i = 0; i < how->nparams; i++)
        f->param[f->nparams++].key = how->params[i];
    for (size_t i = 0; !how->nparams && i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].kind, kind) && devfit_is_determined(f, known[i].points))
            f->param[f->nparams++].key = known[i].key;
    if (!f->nparams)
        return wr_fail(err, WR_INPUT,
                       "nothing to fit in the model %s; name keys such as device.KEY, or "
                       "take another model",
                       kind);
    if (f->npoints < f->nparams) {
        struct wr_str keys = {0};

        for (size_t i = 0; i < f->nparams; i++)
            wr_str_addf(&keys, "%s%s", i ? ", " : "", f->param[i].key);
        wr_fail(err, WR_INPUT,
                "%zu points cannot determine %zu parameters (%s); measure more workloads, or fit "
                "fewer",
                f->npoints, f->nparams, wr_str_get(&keys));
        wr_str_fini(&keys);
        return false;
    }
    return true;
}

/* Logarithms: a parameter stays positive and a step is a factor. */
static bool devfit_begin(struct fitting *f, double *x, struct wr_err *err)
{
    struct dev_set set = {0};
    struct conf *conf;

    if (!devfit_load(f, &conf, &set, err))
        return false;
    bool ok = devfit_choose_params(f, set.device.kind->name, err);

    for (size_t i = 0; ok && i < f->nparams; i++) {
        struct lookup l = {.f = f, .i = i};

        conf_each(conf, devfit_look_up, &l);
        if (!l.found)
            ok = wr_fail(err, WR_INPUT,
                         "%s is no time, rate or number of the model %s; `weir list devices %s` "
                         "names them",
                         f->param[i].key, set.device.kind->name, set.device.kind->name);
        /* What is zero by default begins small: 10 us, 1 MB/s. */
        x[i] = log(l.value > 0 ? l.value : f->type[i] == CONF_TIME ? 1e7 : 1e6);
    }
    conf_close(conf);
    return ok;
}

/* ---- what the points determine ---- */

/* A parameter is undetermined if the points do not feel it, or feel it just as they feel
 * those before it: its column of the Jacobian lies in their span. */
static bool devfit_find_undetermined(struct fitting *f, const double *x, struct wr_err *err)
{
    enum { P = FIT_MOST_PARAMS };
    static const double by = 0.02, felt = 1e-4, apart = 1e-2;
    double *j = wr_zalloc(f->npoints * P, sizeof *j), y[P];
    struct fit_model *m = wr_alloc(f->npoints * sizeof *m);
    bool ok = true;

    for (size_t k = 0; ok && k < f->nparams; k++) {
        double whole = 0, rest = 0;

        memcpy(y, x, sizeof y);
        y[k] += by;
        ok = devfit_try_values(f, y, m, err);
        for (size_t i = 0; ok && i < f->npoints; i++) {
            j[i * P + k] = log(m[i].value / f->model[i].value) / by;
            whole += j[i * P + k] * j[i * P + k];
        }
        /* Columns before are orthonormal, or zero. */
        for (size_t c = 0; ok && c < k; c++) {
            double dot = 0;

            for (size_t i = 0; i < f->npoints; i++)
                dot += j[i * P + c] * j[i * P + k];
            for (size_t i = 0; i < f->npoints; i++)
                j[i * P + k] -= dot * j[i * P + c];
        }
        for (size_t i = 0; ok && i < f->npoints; i++)
            rest += j[i * P + k] * j[i * P + k];
        f->param[k].undetermined = !(sqrt(whole) > felt) || !(rest > apart * apart * whole);
        for (size_t i = 0; ok && i < f->npoints; i++)
            j[i * P + k] = f->param[k].undetermined ? 0 : j[i * P + k] / sqrt(rest);
    }
    free(j);
    free(m);
    return ok;
}

bool fit_device(struct fit *ret, const struct fit_how *how, const struct fit_point *points,
                size_t n, struct wr_err *err)
{
    struct fit result = {.model = wr_zalloc(n + 1, sizeof *result.model)};
    struct fitting f = {
        .how = how, .points = points, .npoints = n, .param = result.param, .model = result.model};
    double x[FIT_MOST_PARAMS] = {0}, step[FIT_MOST_PARAMS];

    /* The first trial reports what is wrong with the start. */
    bool ok = devfit_begin(&f, x, err) && devfit_try_values(&f, x, f.model, err);

    memcpy(f.start, x, sizeof x);
    for (f.stage = 0; ok && f.stage < 2; f.stage++) {
        for (size_t i = 0; i < FIT_MOST_PARAMS; i++)
            step[i] = stages[f.stage].step;
        stat_minimize(devfit_objective, &f, x, step, f.nparams,
                      stages[f.stage].trials * (uint32_t)f.nparams);
    }
    f.stage = 1;
    if (ok) {
        ok = devfit_try_values(&f, x, f.model, err) && devfit_find_undetermined(&f, x, err);
        f.rounded = true;
        ok = ok && devfit_try_values(&f, x, f.model, err);
    }
    if (!ok) {
        free(result.model);
        return false;
    }
    result.nparams = f.nparams;
    for (size_t i = 0; i < n; i++)
        result.rms += pow(devfit_log_error(&points[i], &f.model[i]), 2);
    result.rms = sqrt(result.rms / (double)n);
    *ret = result;
    return true;
}
