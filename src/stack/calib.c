#include "stack/calib.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const stack_shape_names[] = {"constant", "line", "knee"};

static int by_point(const void *a, const void *b)
{
    const struct stack_point *p = a, *q = b;

    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return p->y < q->y ? -1 : p->y > q->y;
}

size_t stack_medians(struct stack_point *p, size_t n)
{
    size_t out = 0;

    if (n)
        qsort(p, n, sizeof *p, by_point);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && p[end].x == p[i].x;)
            end++;
        size_t k = end - i;

        p[out++] = (struct stack_point){p[i].x, (p[i + (k - 1) / 2].y + p[i + k / 2].y) / 2};
    }
    return out;
}

/* --- the three shapes, by least squares of relative errors --------------------------- */

static double weight(const struct stack_point *p)
{
    double y = p->y > 1e-12 ? p->y : 1e-12;

    return 1 / (y * y);
}

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* The median of the sizes' medians: one busy run moves it little. */
static struct stack_fit fit_constant(const struct stack_point *p, size_t n)
{
    double *y = wr_zalloc(n, sizeof *y);

    for (size_t i = 0; i < n; i++)
        y[i] = p[i].y;
    qsort(y, n, sizeof *y, by_double);
    struct stack_fit f = {.shape = STACK_CONSTANT, .constant = (y[(n - 1) / 2] + y[n / 2]) / 2};

    free(y);
    return f;
}

static struct stack_fit fit_line(const struct stack_point *p, size_t n)
{
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;

    for (size_t i = 0; i < n; i++) {
        double k = weight(&p[i]);

        w += k;
        wx += k * p[i].x;
        wy += k * p[i].y;
        wxx += k * p[i].x * p[i].x;
        wxy += k * p[i].x * p[i].y;
    }
    double det = w * wxx - wx * wx;
    double b = det > 0 ? (w * wxy - wx * wy) / det : 0;
    double a = (wy - b * wx) / w;

    if (b < 0)
        return fit_constant(p, n);
    if (a < 0) {
        a = 0;
        b = wxx > 0 ? wxy / wxx : 0;
    }
    return (struct stack_fit){.shape = STACK_LINE, .constant = a, .slope = b};
}

static double squares(const struct stack_fit *f, const struct stack_point *p, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        double d = stack_fit_at(f, p[i].x) - p[i].y;

        sum += weight(&p[i]) * d * d;
    }
    return sum;
}

/* The knee is at one of the points; what follows it rises at least as fast. */
static struct stack_fit fit_knee(const struct stack_point *p, size_t n)
{
    struct stack_fit best = fit_line(p, n);
    double least = squares(&best, p, n);

    for (size_t k = 1; k + 1 < n; k++) {
        struct stack_fit f = fit_line(p, k + 1);
        double at = f.constant + f.slope * p[k].x, wxx = 0, wxy = 0;

        for (size_t i = k + 1; i < n; i++) {
            double x = p[i].x - p[k].x;

            wxx += weight(&p[i]) * x * x;
            wxy += weight(&p[i]) * x * (p[i].y - at);
        }
        f.shape = STACK_KNEE;
        f.knee = p[k].x;
        f.after = wxy / wxx > f.slope ? wxy / wxx : f.slope;
        double sum = squares(&f, p, n);

        if (sum < least) {
            least = sum;
            best = f;
        }
    }
    return best;
}

typedef struct stack_fit fitter(const struct stack_point *p, size_t n);
static fitter *const fitters[] = {fit_constant, fit_line, fit_knee};
/* A knee is one of the sizes: it is chosen, not fitted. */
static const size_t parameters[] = {1, 2, 3};

double stack_fit_at(const struct stack_fit *f, double x)
{
    if (f->shape == STACK_KNEE && x > f->knee)
        return f->constant + f->slope * f->knee + f->after * (x - f->knee);
    return f->constant + f->slope * x;
}

/* Each size is told by the others. */
static double left_out(fitter *fit, const struct stack_point *p, size_t n)
{
    struct stack_point *rest = wr_zalloc(n, sizeof *rest);
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        size_t k = 0;

        for (size_t j = 0; j < n; j++)
            if (j != i)
                rest[k++] = p[j];
        struct stack_fit f = fit(rest, k);

        sum += fabs(stack_fit_at(&f, p[i].x) / (p[i].y > 1e-12 ? p[i].y : 1e-12) - 1);
    }
    free(rest);
    return sum / (double)n;
}

bool stack_fit(struct stack_fit *ret, const struct stack_point *p, size_t n, enum stack_shape most,
               struct wr_err *err)
{
    if (!n)
        return wr_fail(err, WR_INPUT, "no samples; a law needs at least one size");
    struct stack_fit best = fit_constant(p, n);

    best.loso = n > 1 ? left_out(fit_constant, p, n) : NAN;
    for (int s = STACK_LINE; s <= (int)most; s++) {
        if (n < parameters[s])
            break;
        /* With as many sizes as parameters nothing can be left out: a line it is, when data move.
         */
        double loso = n > parameters[s] ? left_out(fitters[s], p, n) : NAN;

        if (isnan(loso) ? s > STACK_LINE || most < STACK_KNEE : loso >= 0.9 * best.loso)
            continue;
        best = fitters[s](p, n);
        best.loso = loso;
    }
    *ret = best;
    return true;
}

/* How many sizes the law misses: what eight of ten samples took lies beside it. */
static size_t missed(const struct stack_fit *f, const struct stack_point *sorted, size_t n)
{
    size_t count = 0;

    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && sorted[end].x == sorted[i].x;)
            end++;
        size_t tenth = (end - i) / 10;
        double y = stack_fit_at(f, sorted[i].x);

        count += y < sorted[i + tenth].y || y > sorted[end - 1 - tenth].y;
    }
    return count;
}

bool stack_fit_samples(struct stack_fit *ret, struct stack_point *p, size_t n, struct wr_err *err)
{
    struct stack_point *m = wr_zalloc(n + 1, sizeof *m);

    qsort(p, n, sizeof *p, by_point);
    memcpy(m, p, n * sizeof *m);
    size_t sizes = stack_medians(m, n);
    bool ok = stack_fit(ret, m, sizes, STACK_KNEE, err);

    if (ok && ret->shape == STACK_LINE && sizes > parameters[STACK_KNEE]) {
        struct stack_fit knee = fit_knee(m, sizes);

        if (missed(&knee, p, n) < missed(ret, p, n)) {
            knee.loso = left_out(fit_knee, m, sizes);
            *ret = knee;
        }
    }
    free(m);
    return ok;
}

/* --- all states --------------------------------------------------------------------- */

static int by_float(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return x < y ? -1 : x > y;
}

static double median(float *v, size_t n)
{
    if (n)
        qsort(v, n, sizeof *v, by_float);
    return n ? (v[(n - 1) / 2] + v[n / 2]) / 2.0 : NAN;
}

/* The law of one state from its samples; false: it has none. */
static bool fit_state(const struct stack_log *log, uint16_t state, bool wait, struct stack_fit *ret)
{
    struct stack_point *p = NULL;
    size_t n = 0, cap = 0;
    struct wr_err err = {0};

    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];
        float y = wait ? s->wait_us : s->exec_us;

        if (s->state != state || y < 0)
            continue;
        wr_vec_grow((void **)&p, &cap, n + 1, sizeof *p);
        p[n++] = (struct stack_point){(double)s->bytes, y};
    }
    n = stack_medians(p, n);
    for (size_t i = 0; i < n; i++)
        if (p[i].y < 0.5)
            p[i].y = 0.5; /* the log counts microseconds */
    bool ok = n && stack_fit(ret, p, n, STACK_LINE, &err);

    free(p);
    return ok;
}

static void put_state(struct wr_str *out, const struct stack_log *log,
                      const struct stack_laws *base, uint16_t at)
{
    const struct stack_fs *fs = log->fs;
    const struct stack_state *s = &fs->state.v[at];
    struct stack_fit exec = {0}, wait = {0};
    bool measured = fit_state(log, at, false, &exec);

    if (s->does == STACK_JUMP_TO || s->does == STACK_FLOW)
        return;
    if (!measured && base && base->exec[0][at].given) {
        exec = (struct stack_fit){.constant = base->exec[0][at].constant_ns * 1e-3};
        wait = (struct stack_fit){.constant = base->wait[0][at].constant_ns * 1e-3};
    } else if (!measured) {
        return;
    }
    if (s->does == STACK_WAIT && measured)
        fit_state(log, at, true, &wait);
    wr_str_addf(out, "  %s: {exec: %.4g us", stack_state_text(fs, at).s, exec.constant);
    if (exec.slope > 0)
        wr_str_addf(out, ", exec_per_byte: %.6g", exec.slope * 1e6);
    if (s->does == STACK_WAIT)
        wr_str_addf(out, ", wait: %.4g us", wait.constant);
    if (s->does == STACK_WAIT && wait.slope > 0)
        wr_str_addf(out, ", wait_per_byte: %.6g", wait.slope * 1e6);
    wr_str_addf(out, "}%s\n", measured ? "" : " # not in these logs");
}

struct spread {
    WR_VEC(float) ratio;
    double from, to;
};

/* The whole read or write is the flow's law; what states around it take is small beside it. */
static bool put_flow(struct wr_str *out, const struct stack_log *log, uint16_t at, bool writes,
                     struct spread *spread, struct wr_err *err)
{
    struct stack_point *p = wr_zalloc(log->io.n + 1, sizeof *p);
    size_t n = 0;
    struct stack_fit f, exec = {0};

    for (size_t i = 0; i < log->io.n; i++)
        if (log->io.v[i].writes == writes)
            p[n++] = (struct stack_point){(double)log->io.v[i].bytes, log->io.v[i].seconds};
    bool ok = stack_fit_samples(&f, p, n, err);

    n = stack_medians(p, n);
    if (!ok || n < 2) {
        free(p);
        return wr_fail(
            err, WR_INPUT,
            "%s of %zu sizes: a law of bytes has two parameters; add runs of other sizes",
            writes ? "writes" : "reads", n);
    }
    fit_state(log, at, false, &exec);
    wr_str_addf(out, "  %s/%s: {exec: %.4g us, wait: %.6g us, wait_per_byte: %.8g",
                stack_state_text(log->fs, at).s, writes ? "write" : "read", exec.constant,
                f.constant * 1e6, f.slope * 1e12);
    if (f.shape == STACK_KNEE)
        wr_str_addf(out, ", wait_knee: %.0f, wait_per_byte_after: %.8g", f.knee, f.after * 1e12);
    wr_str_addf(out, "} # %s", stack_shape_names[f.shape]);
    if (!isnan(f.loso))
        wr_str_addf(out, ", a size left out is told within %.1f %%", 100 * f.loso);
    wr_str_add(out, "\n");
    for (size_t i = 0; i < log->io.n; i++)
        if (log->io.v[i].writes == writes)
            wr_vec_push(&spread->ratio, (float)(log->io.v[i].seconds /
                                                stack_fit_at(&f, (double)log->io.v[i].bytes)));
    spread->from = spread->from > 0 && spread->from < p[0].x ? spread->from : p[0].x;
    spread->to = spread->to > p[n - 1].x ? spread->to : p[n - 1].x;
    free(p);
    return true;
}

/* Half of what a client waits for a short answer beyond what the server takes for it. */
static double latency_us(const struct stack_log *log, const struct stack_laws *base)
{
    uint16_t post = stack_find_state(log->fs, "msgpairarray_sm:post", 20);
    WR_VEC(float) wait = {0};
    WR_VEC(float) serve = {0};

    for (size_t i = 0; i < log->state.n; i++)
        if (log->state.v[i].state == post && log->state.v[i].wait_us >= 0)
            wr_vec_push(&wait, log->state.v[i].wait_us);
    for (size_t i = 0; i < log->answer_us.n; i++)
        wr_vec_push(&serve, log->answer_us.v[i]);
    double us = (median(wait.v, wait.n) - median(serve.v, serve.n)) / 2;

    wr_vec_fini(&wait);
    wr_vec_fini(&serve);
    return us > 0 ? us : isnan(us) && base ? base->latency_ns * 1e-3 : 1;
}

bool stack_calibrate(struct wr_str *out, const struct stack_log *log, const struct stack_laws *base,
                     const char *title, bool shared, struct wr_err *err)
{
    struct wr_str states = {0};
    struct spread spread = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < log->fs->state.n; i++) {
        put_state(&states, log, base, (uint16_t)i);
        if (log->fs->state.v[i].does == STACK_FLOW)
            ok = put_flow(&states, log, (uint16_t)i, false, &spread, err) &&
                 put_flow(&states, log, (uint16_t)i, true, &spread, err);
    }
    if (ok) {
        size_t n = spread.ratio.n;

        median(spread.ratio.v, n);
        double low = n ? spread.ratio.v[n / 10] : 1, high = n ? spread.ratio.v[n - 1 - n / 10] : 1;

        wr_str_addf(
            out,
            "title: \"%s\"\nsource: measured, %zu visits of states and %zu reads and writes\n"
            "at: {servers: %u, clients: %u, medium: %s, from: %.0f B, to: %.0f B, low: %.4g, "
            "high: %.4g}\nlink: {latency: %.4g us}\nstates:\n%s",
            title, log->state.n, log->io.n, log->servers, log->clients,
            shared ? "shared" : "switched", spread.from, spread.to, low, high,
            latency_us(log, base), wr_str_get(&states));
    }
    wr_vec_fini(&spread.ratio);
    wr_str_fini(&states);
    return ok;
}
