/* calib_flow.c -- the flows of all tests, fitted together by simulating them.
 *
 *   parameters         logarithms of: the constant of a flow, the time of a byte in each piece
 *                      between two sizes of a call, and the slowdown of a client's wait for the
 *                      answer to a request for data, for reads and writes; and the power of the
 *                      number of flows by which a shared medium is faster for several
 *   residuals          log(simulated / measured) of the median of every test, over its standard
 *                      error, which is estimated from the runs of one test
 *   prior              rates of neighbouring pieces lie within a factor of ten, the constant of a
 *                      flow is 0.1 ms within a factor of fifty: large calls hardly determine it,
 *                      small ones do. The prior decides only what no test determines
 *
 * Gauss-Newton with numerical derivatives. A test that is left out is predicted by one more such
 * step without its residuals, and simulated with the parameters of that step.
 *
 * Invariant: the parameters of a fit are those of its draft between two calls of flowfit_set().
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calib_priv.h"
#include "stack/replay.h"
#include "stat/sample.h"

enum {
    MOST = 2 * (STACK_PIECES + 2) + 1, /* parameters */
    ROUNDS = 6, /* each simulates all tests once per parameter; LITTLE_GAIN ends most fits before */
    HALVINGS = 4, /* of a step that does not improve: after a sixteenth none will */
};

#define STEP 0.1 /* step of difference quotients, in the logarithm of a parameter */
/* Most that one round moves a logarithm: the model is not linear over more. */
#define FARTHEST 2.0
#define BEND 2.3  /* standard deviation of log(rate / rate of the piece before): a factor of ten */
#define LOOSE 4.0 /* standard deviation of the logarithm of the constant: a factor of fifty */
/* Standard deviation of the logarithm of the answer slowdown: a factor of 1.6. */
#define CLOSE 0.5
/* Standard deviation of the power `parallel`: several flows are hardly faster than one. */
#define ALIKE 0.2
#define HUBER 1.5 /* standard errors beyond which a median counts less (Huber 1964) */
/* Least standard error of a logarithm: no median is known better than 1 %. */
#define LEAST_ERROR 0.01
#define USUAL_CONSTANT 1e-4 /* s of a flow: mean of the prior, and the start of the fit */
#define USUAL_RATE 1e-9     /* s of a byte where no call is long enough to show it: 1 GB/s */
#define USUAL_PARALLEL 0.05 /* start of the fit, inside its bounds */
#define USUAL_ERROR 0.1     /* standard error where no test has several runs */
#define LITTLE_GAIN 0.01    /* of the objective in one round: the fit stops */
/* Bounds of the parameters, far outside of what is measured: a simulation has to come to an end. */
#define LEAST_CONSTANT 1e-9 /* s */
#define MOST_CONSTANT 1e3
#define LEAST_SLOPE 1e-15 /* s of a byte */
#define MOST_SLOPE 1.0
#define LEAST_SLOWDOWN 0.05
#define MOST_SLOWDOWN 100.0
#define MOST_PARALLEL 0.9 /* 1: flows do not share at all */
#define RIDGE 1e-9        /* on the diagonal, for parameters that nothing determines */

struct fit {
    struct draft *d;
    size_t n;              /* parameters */
    size_t rows;           /* 2 per test: reads, writes */
    double *measured, *se; /* [rows] medians in s, NaN: none; standard errors of their logarithms */
    double *predicted;     /* [rows] logarithms of the simulated medians */
    double *slope;         /* [rows][n] derivatives of `predicted` */
};

/* --- parameters ------------------------------------------------------------------------ */

static size_t flowfit_at_constant(const struct fit *f, int w)
{
    return (size_t)w * (f->d->flows.knots + 2);
}

static size_t flowfit_at_slope(const struct fit *f, int w, uint32_t k)
{
    assert(w >= 0 && w < 2 && k <= f->d->flows.knots);
    return flowfit_at_constant(f, w) + 1 + k;
}

static size_t flowfit_at_slowdown(const struct fit *f, int w)
{
    return flowfit_at_slope(f, w, f->d->flows.knots);
}

/* The last parameter, of reads and writes together. */
static size_t flowfit_at_parallel(const struct fit *f)
{
    return flowfit_at_constant(f, 2);
}

static void flowfit_get(const struct fit *f, double *p)
{
    const struct calib_flows *v = &f->d->flows;

    for (int w = 0; w < 2; w++) {
        p[flowfit_at_constant(f, w)] = log(v->constant_s[w]);
        for (uint32_t k = 0; k < v->knots; k++)
            p[flowfit_at_slope(f, w, k)] = log(v->slope_s[w][k]);
        p[flowfit_at_slowdown(f, w)] = log(v->answer_slowdown[w]);
    }
    p[flowfit_at_parallel(f)] = v->parallel;
}

static double flowfit_bounded(double log_v, double low, double high)
{
    assert(low > 0 && low < high);
    return exp(fmin(fmax(log_v, log(low)), log(high)));
}

static void flowfit_set(const struct fit *f, const double *p)
{
    struct calib_flows *v = &f->d->flows;

    for (int w = 0; w < 2; w++) {
        v->constant_s[w] =
            flowfit_bounded(p[flowfit_at_constant(f, w)], LEAST_CONSTANT, MOST_CONSTANT);
        for (uint32_t k = 0; k < v->knots; k++)
            v->slope_s[w][k] =
                flowfit_bounded(p[flowfit_at_slope(f, w, k)], LEAST_SLOPE, MOST_SLOPE);
        v->answer_slowdown[w] =
            flowfit_bounded(p[flowfit_at_slowdown(f, w)], LEAST_SLOWDOWN, MOST_SLOWDOWN);
    }
    v->parallel = fmin(fmax(p[flowfit_at_parallel(f)], 0), MOST_PARALLEL);
}

/* --- what was measured ------------------------------------------------------------------ */

/* The variance of the logarithms of runs' medians of one test; how many runs. */
static double flowfit_run_variance(const struct stack_log *log, uint16_t test, bool writes,
                                   size_t *ret_n)
{
    double sum = 0, squares = 0;
    size_t n = 0;

    for (size_t i = 0; i < log->of.n; i++) {
        double took = log->of.v[i].test == test ? log->of.v[i].took[writes] : NAN;

        if (!(took > 0))
            continue;
        sum += log2(took) * M_LN2;
        squares += pow(log2(took) * M_LN2, 2);
        n++;
    }
    *ret_n = n;
    return n > 1 ? fmax(squares - sum * sum / (double)n, 0) / (double)(n - 1) : NAN;
}

/* Measured medians and their standard errors. Few tests have many runs, so all tests together give
 * the variance between runs. */
static void flowfit_measure(struct fit *f)
{
    const struct draft *d = f->d;
    double *var = wr_zalloc(f->rows + 1, sizeof *var);
    size_t n = 0;

    assert(f->rows == 2 * d->tests);
    for (size_t i = 0; i < f->rows; i++) {
        size_t runs;
        double v = flowfit_run_variance(d->log, d->test[i / 2], i % 2, &runs);

        if (!isnan(v))
            var[n++] = v;
        f->se[i] = 1 / sqrt(runs ? (double)runs : 1);
        if (!stack_io_median(d->log, i % 2, d->test[i / 2], &f->measured[i]) ||
            !(f->measured[i] > 0))
            f->measured[i] = NAN;
    }
    double mean = 0;

    for (size_t i = 0; i < n; i++)
        mean += var[i] / (double)n;
    double usual = n ? sqrt(mean) : USUAL_ERROR;

    for (size_t i = 0; i < f->rows; i++)
        f->se[i] = fmax(f->se[i] * usual, LEAST_ERROR);
    free(var);
}

/* The knots are the sizes of calls; of too many, some are chosen evenly. */
static void flowfit_choose_knots(struct fit *f)
{
    const struct draft *d = f->d;
    struct calib_flows *v = &f->d->flows;
    double *x = wr_zalloc(d->tests + 1, sizeof *x);
    size_t n = 0;

    for (size_t i = 0; i < d->tests; i++)
        x[i] = (double)stack_test_at(d->log, d->test[i])->transfer;
    stat_sort(x, d->tests);
    for (size_t i = 0; i < d->tests; i++)
        if (!i || x[i] > x[i - 1])
            x[n++] = x[i];
    v->knots = n < STACK_PIECES ? (uint32_t)n : STACK_PIECES;
    for (uint32_t k = 0; k < v->knots; k++)
        v->x[k] = x[v->knots > 1 ? k * (n - 1) / (v->knots - 1) : 0];
    free(x);
}

/* The start of the fit: the rate of the largest calls, as if only their bytes took time. */
static void flowfit_guess(struct fit *f)
{
    const struct draft *d = f->d;
    struct calib_flows *v = &f->d->flows;
    double most[2] = {0, 0}, rate[2] = {USUAL_RATE, USUAL_RATE};

    for (size_t i = 0; i < f->rows; i++) {
        const struct stack_log_test *t = stack_test_at(d->log, d->test[i / 2]);
        double s = t->servers, p = t->clients, x = (double)t->transfer;

        if (isnan(f->measured[i]) || x < most[i % 2])
            continue;
        most[i % 2] = x;
        rate[i % 2] = d->shared ? f->measured[i] / (x * p) : f->measured[i] * s / (x * fmax(s, p));
    }
    for (int w = 0; w < 2; w++) {
        v->constant_s[w] = USUAL_CONSTANT;
        for (uint32_t k = 0; k < v->knots; k++)
            v->slope_s[w][k] = rate[w];
        v->answer_slowdown[w] = 1;
    }
    v->parallel = USUAL_PARALLEL;
}

/* --- simulating -------------------------------------------------------------------------- */

/* Whether the time of a test depends on piece `k`: its calls reach beyond the knot before. */
static bool flowfit_depends_on_piece(const struct fit *f, size_t test, uint32_t k)
{
    const struct draft *d = f->d;

    return !k || (double)stack_test_at(d->log, d->test[test])->transfer > d->flows.x[k - 1];
}

/* log(simulated) of reads and writes of all tests but those that `skip` says. */
static bool flowfit_simulate(struct fit *f, double *ret, const bool *skip, struct wr_err *err)
{
    assert(f->d->flows.knots > 0);
    const struct draft *d = f->d;
    struct stack_timings *timings = calib_open(d, err);
    bool ok = timings;

    for (size_t i = 0; ok && i < d->tests; i++) {
        struct stack_log run;

        if (skip && skip[i])
            continue;
        ok = stack_replay_log(&run, d->log, timings, d->test[i], err);
        for (int w = 0; ok && w < 2; w++) {
            double s;
            bool any = stack_io_median(&run, w, d->test[i], &s) && s > 0;

            ret[2 * i + (size_t)w] = any ? log2(s) * M_LN2 : NAN;
        }
        if (ok)
            stack_log_fini(&run);
    }
    stack_timings_close(timings);
    return ok;
}

static bool flowfit_usable(const struct fit *f, size_t row)
{
    return !isnan(f->measured[row]) && !isnan(f->predicted[row]);
}

static double flowfit_residual(const struct fit *f, size_t row)
{
    assert(flowfit_usable(f, row) && f->se[row] > 0);
    return (f->predicted[row] - log2(f->measured[row]) * M_LN2) / f->se[row];
}

/* The weight of a residual in the normal equations (Huber): outliers do not dominate. */
static double flowfit_huber_weight(double r)
{
    return fabs(r) > HUBER ? HUBER / fabs(r) : 1;
}

/* Derivatives by difference quotients. A parameter of reads and its counterpart of writes are
 * changed together, because neither affects the other. */
static bool flowfit_derive(struct fit *f, const double *p, struct wr_err *err)
{
    double *moved = wr_zalloc(f->rows + 1, sizeof *moved);
    bool *skip = wr_zalloc(f->d->tests + 1, sizeof *skip);
    /* the constant, each piece, the answer slowdown; and, last, the parameter of both */
    uint32_t kinds = f->d->flows.knots + 3;
    bool ok = true;

    memset(f->slope, 0, f->rows * f->n * sizeof *f->slope);
    for (uint32_t kind = 0; ok && kind < kinds; kind++) {
        bool both = kind + 1 == kinds, piece = kind > 0 && kind <= f->d->flows.knots;
        double q[MOST];

        if (both && !f->d->shared)
            break;
        if (kind == f->d->flows.knots + 1 && !f->d->tuned)
            continue; /* the queue behind data is found first */
        memcpy(q, p, f->n * sizeof *q);
        for (int w = 0; w < 2 && !both; w++)
            q[flowfit_at_constant(f, w) + kind] += STEP;
        if (both)
            q[flowfit_at_parallel(f)] += STEP;
        for (size_t i = 0; i < f->d->tests; i++)
            skip[i] = piece && !flowfit_depends_on_piece(f, i, kind - 1);
        flowfit_set(f, q);
        ok = flowfit_simulate(f, moved, skip, err);
        for (size_t i = 0; ok && i < f->rows; i++) {
            size_t at = both ? flowfit_at_parallel(f) : flowfit_at_constant(f, (int)(i % 2)) + kind;

            if (!skip[i / 2] && flowfit_usable(f, i) && !isnan(moved[i]))
                f->slope[i * f->n + at] = (moved[i] - f->predicted[i]) / STEP;
        }
    }
    flowfit_set(f, p);
    free(moved);
    free(skip);
    return ok;
}

/* --- least squares ------------------------------------------------------------------------ */

struct normal {
    double a[MOST][MOST], b[MOST];
};

static void flowfit_add_row(struct normal *m, size_t n, const double *row, double r)
{
    for (size_t i = 0; i < n; i++) {
        if (!(row[i] < 0 || row[i] > 0))
            continue;
        m->b[i] -= row[i] * r;
        for (size_t j = 0; j < n; j++)
            m->a[i][j] += row[i] * row[j];
    }
}

/* Adds the residuals of the prior, each over its standard deviation. */
static void flowfit_add_prior(struct normal *m, const struct fit *f, const double *p,
                              double *ret_sum)
{
    for (int w = 0; w < 2; w++) {
        double row[MOST] = {0};
        double r = (p[flowfit_at_constant(f, w)] - log(USUAL_CONSTANT)) / LOOSE;

        row[flowfit_at_constant(f, w)] = 1 / LOOSE;
        if (m)
            flowfit_add_row(m, f->n, row, r);
        *ret_sum += r * r;
        for (uint32_t k = 1; k < f->d->flows.knots; k++) {
            double bend[MOST] = {0};

            bend[flowfit_at_slope(f, w, k)] = 1 / BEND;
            bend[flowfit_at_slope(f, w, k - 1)] = -1 / BEND;
            r = (p[flowfit_at_slope(f, w, k)] - p[flowfit_at_slope(f, w, k - 1)]) / BEND;
            if (m)
                flowfit_add_row(m, f->n, bend, r);
            *ret_sum += r * r;
        }
        double waits[MOST] = {0};

        r = p[flowfit_at_slowdown(f, w)] / CLOSE;
        waits[flowfit_at_slowdown(f, w)] = 1 / CLOSE;
        if (m)
            flowfit_add_row(m, f->n, waits, r);
        *ret_sum += r * r;
    }
    double row[MOST] = {0}, r = p[flowfit_at_parallel(f)] / ALIKE;

    row[flowfit_at_parallel(f)] = 1 / ALIKE;
    if (m)
        flowfit_add_row(m, f->n, row, r);
    *ret_sum += r * r;
}

/* Solves the normal equations by Gaussian elimination; RIDGE keeps undetermined parameters. */
static void flowfit_solve(struct normal *m, size_t n, double *ret)
{
    assert(n > 0 && n <= MOST);
    for (size_t i = 0; i < n; i++)
        m->a[i][i] += RIDGE;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            double by = m->a[j][i] / m->a[i][i];

            for (size_t k = i; k < n; k++)
                m->a[j][k] -= by * m->a[i][k];
            m->b[j] -= by * m->b[i];
        }
    for (size_t i = n; i-- > 0;) {
        double v = m->b[i];

        for (size_t k = i + 1; k < n; k++)
            v -= m->a[i][k] * ret[k];
        ret[i] = v / m->a[i][i];
    }
    for (size_t i = 0; i < n; i++)
        ret[i] = fmin(fmax(ret[i], -FARTHEST), FARTHEST);
}

/* The step to the least squares of all tests but those that are left out. */
static void flowfit_step(const struct fit *f, const double *p, const bool *out, double *ret)
{
    struct normal *m = wr_zalloc(1, sizeof *m);
    double unused = 0, row[MOST];

    for (size_t i = 0; i < f->rows; i++) {
        if (!flowfit_usable(f, i) || (out && out[i / 2]))
            continue;
        double r = flowfit_residual(f, i), by = sqrt(flowfit_huber_weight(r));

        for (size_t k = 0; k < f->n; k++)
            row[k] = by * f->slope[i * f->n + k] / f->se[i];
        flowfit_add_row(m, f->n, row, by * r);
    }
    flowfit_add_prior(m, f, p, &unused);
    flowfit_solve(m, f->n, ret);
    free(m);
}

static double flowfit_objective(const struct fit *f, const double *p)
{
    double sum = 0;

    for (size_t i = 0; i < f->rows; i++)
        if (flowfit_usable(f, i)) {
            double r = fabs(flowfit_residual(f, i));

            sum += r > HUBER ? 2 * HUBER * r - HUBER * HUBER : r * r;
        }
    flowfit_add_prior(NULL, f, p, &sum);
    return sum;
}

/* Minimises the objective, with halved steps where needed. Leaves the derivatives at the minimum,
 * or at the point of the last step. */
static bool flowfit_descend(struct fit *f, struct wr_err *err)
{
    double p[MOST], by[MOST], next[MOST];

    flowfit_get(f, p);
    if (!flowfit_simulate(f, f->predicted, NULL, err))
        return false;
    double now = flowfit_objective(f, p);

    for (int round = 0; round < ROUNDS; round++) {
        double was = now, scale = 1;

        if (!flowfit_derive(f, p, err))
            return false;
        flowfit_step(f, p, NULL, by);
        for (int i = 0; i < HALVINGS; i++, scale /= 2) {
            for (size_t k = 0; k < f->n; k++)
                next[k] = p[k] + scale * by[k];
            flowfit_set(f, next);
            if (!flowfit_simulate(f, f->predicted, NULL, err))
                return false;
            now = flowfit_objective(f, next);
            if (now < was)
                break;
        }
        if (now >= was) { /* back to where it was */
            flowfit_set(f, p);
            return flowfit_simulate(f, f->predicted, NULL, err);
        }
        memcpy(p, next, sizeof p);
        if (was - now < LITTLE_GAIN * was)
            break;
    }
    return flowfit_derive(f, p, err);
}

/* --- entry points ---------------------------------------------------------------------------- */

static bool flowfit_init(struct fit *f, struct draft *d)
{
    *f = (struct fit){.d = d, .rows = 2 * d->tests};
    f->measured = wr_zalloc(f->rows + 1, sizeof *f->measured);
    f->se = wr_zalloc(f->rows + 1, sizeof *f->se);
    f->predicted = wr_zalloc(f->rows + 1, sizeof *f->predicted);
    flowfit_measure(f);
    bool again = d->flows.knots;

    if (!again) {
        flowfit_choose_knots(f);
        flowfit_guess(f);
    }
    f->n = 2 * (d->flows.knots + 2) + 1;
    assert(f->n <= MOST);
    f->slope = wr_zalloc(f->rows * f->n + 1, sizeof *f->slope);
    return again;
}

static void flowfit_fini(struct fit *f)
{
    free(f->measured);
    free(f->se);
    free(f->predicted);
    free(f->slope);
}

bool calib_flows_fit(struct draft *d, struct wr_err *err)
{
    struct fit f;

    flowfit_init(&f, d);
    bool ok =
        d->flows.knots > 1 ||
        wr_fail(err, WR_INPUT,
                "reads and writes of one size: what a flow takes and what a byte takes cannot "
                "be separated; add runs of other sizes");

    ok = ok && flowfit_descend(&f, err);
    flowfit_fini(&f);
    return ok;
}

/* Whether two tests are left out together. */
static bool flowfit_left_out_together(const struct stack_log_test *a,
                                      const struct stack_log_test *b, enum calib_way way)
{
    switch (way) {
    case CALIB_SIZES:
        return a->transfer == b->transfer;
    case CALIB_SETUPS:
        return a->servers == b->servers && a->clients == b->clients;
    default:
        return a->shared == b->shared && a->random == b->random && a->collective == b->collective &&
               a->reorder == b->reorder && (a->calls > 1) == (b->calls > 1);
    }
}

/* Predicts the tests that are left out with test `i`, if it is the first of them. */
static bool flowfit_leave_out(struct fit *f, const double *p, size_t i, enum calib_way way,
                              double *predicted, struct wr_err *err)
{
    struct draft *d = f->d;
    bool *out = wr_zalloc(d->tests + 1, sizeof *out), *in = wr_zalloc(d->tests + 1, sizeof *in);
    bool first = true, all = true;
    double by[MOST], q[MOST];

    for (size_t j = 0; j < d->tests; j++) {
        out[j] = flowfit_left_out_together(stack_test_at(d->log, d->test[i]),
                                           stack_test_at(d->log, d->test[j]), way);
        in[j] = !out[j];
        first &= !out[j] || j >= i;
        all &= out[j];
    }
    bool ok = true;

    if (first && !all) {
        flowfit_step(f, p, out, by);
        for (size_t k = 0; k < f->n; k++)
            q[k] = p[k] + by[k];
        flowfit_set(f, q);
        ok = flowfit_simulate(f, predicted, in, err);
        flowfit_set(f, p);
    }
    free(out);
    free(in);
    return ok;
}

bool calib_flows_left_out(struct draft *d, enum calib_way way, struct calib_predicted *ret,
                          struct wr_err *err)
{
    assert(way < CALIB_WAYS && d->flows.knots > 1);
    struct fit f;
    double p[MOST];

    flowfit_init(&f, d);
    struct calib_predicted t = {.measured = f.measured,
                                .se = f.se,
                                .predicted = wr_zalloc(f.rows + 1, sizeof *t.predicted)};

    flowfit_get(&f, p);
    for (size_t i = 0; i < f.rows; i++)
        t.predicted[i] = NAN;
    bool ok = flowfit_simulate(&f, f.predicted, NULL, err) && flowfit_derive(&f, p, err);

    for (size_t i = 0; ok && i < d->tests; i++)
        ok = flowfit_leave_out(&f, p, i, way, t.predicted, err);
    for (size_t i = 0; i < f.rows; i++)
        t.predicted[i] = exp(t.predicted[i]);
    f.measured = f.se = NULL;
    flowfit_fini(&f);
    if (ok)
        *ret = t;
    else
        calib_predicted_fini(&t);
    return ok;
}

void calib_predicted_fini(struct calib_predicted *t)
{
    free(t->measured);
    free(t->se);
    free(t->predicted);
}

double calib_predicted_error(const struct draft *d, const struct calib_predicted *t)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < 2 * d->tests; i++)
        if (t->measured[i] > 0 && t->predicted[i] > 0) {
            sum += fabs(log2(t->predicted[i] / t->measured[i]) * M_LN2);
            n++;
        }
    return n ? sum / (double)n : NAN;
}
