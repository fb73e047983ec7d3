/* band.c -- stack_calibrate(): the medium that fits, the error bands, and the report of both.
 *
 *   all tests - those left out --> timing models --> simulated tests that were left out
 *                                                        |
 *   the runs of those tests ------ measured / predicted, of reads and writes
 *
 * `weir stack calibrate` and `weir stack validate` call it. The medium is the one with the smaller
 * error for tests left out. The band of reads and writes comes from sizes left out, the bands of
 * functions from a simulation with all tests.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calib_priv.h"
#include "stack/replay.h"
#include "stat/sample.h"

/* p-values of the sign test below which a medium is reported as sure, and as likely. */
#define BAND_SURE 0.01
#define BAND_LIKELY 0.1
/* Start slopes are 0 with a link for each process and -1 on a shared one: the middle decides. */
#define BAND_SHARED_SLOPE (-0.5)

struct ratio {
    uint32_t key; /* function and io */
    float ratio;
};

struct ratios {
    WR_VEC(struct ratio) v;
};

static int band_compare_ratios(const void *a, const void *b)
{
    const struct ratio *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->ratio < y->ratio ? -1 : x->ratio > y->ratio;
}

static void band_add_functions(struct ratios *r, const struct stack_log *log,
                               const struct stack_log *run, uint16_t test)
{
    size_t machines = log->fs->machine.n;
    double *predicted = wr_zalloc(3 * machines + 1, sizeof *predicted);

    assert(log->fs == run->fs);
    for (size_t k = 0; k < 3 * machines; k++)
        if (!stack_op_median(run, (uint16_t)(k / 3), (uint8_t)(k % 3), test, &predicted[k]))
            predicted[k] = 0;
    for (size_t i = 0; i < log->op.n; i++) {
        const struct stack_op_sample *s = &log->op.v[i];
        uint32_t key = s->function * 3u + s->io;

        if (s->test == test && predicted[key] > 0)
            wr_vec_push(&r->v, (struct ratio){key, (float)(s->seconds / predicted[key])});
    }
    free(predicted);
}

static bool band_fit_functions(struct draft *d, struct wr_err *err)
{
    struct stack_timings *timings = calib_open(d, err);
    struct ratios r = {0};
    bool ok = timings;

    assert(d->tests && d->slowdown);
    for (int i = 0; i < 3; i++)
        d->bands.of[i] = wr_zalloc(d->log->fs->machine.n + 1, sizeof *d->bands.of[i]);
    for (size_t i = 0; ok && i < d->tests; i++) {
        struct stack_log run;

        ok = stack_replay_log(&run, d->log, timings, d->test[i], err);
        if (ok) {
            band_add_functions(&r, d->log, &run, d->test[i]);
            stack_log_fini(&run);
        }
    }
    if (r.v.n)
        qsort(r.v.v, r.v.n, sizeof *r.v.v, band_compare_ratios);
    for (size_t i = 0, end; i < r.v.n; i = end) {
        uint32_t key = r.v.v[i].key;

        for (end = i; end < r.v.n && r.v.v[end].key == key;)
            end++;
        size_t tenth = (end - i) / 10;

        d->bands.of[key % 3][key / 3] =
            (struct stack_band){r.v.v[i + tenth].ratio, r.v.v[end - 1 - tenth].ratio};
    }
    wr_vec_fini(&r.v);
    stack_timings_close(timings);
    return ok;
}

/* Of reads and writes together there are few tests, and a timing model that is too large at one of
 * them may be too small at the next: the band is symmetric. Each test counts the same, however many
 * calls it has: EACH order statistics of its errors. */
static struct stack_band band_fit_io(const struct draft *d, const struct calib_predicted *t)
{
    enum { EACH = 10 };
    const struct stack_log *log = d->log;
    double *v = wr_zalloc(2 * d->tests * EACH + 1, sizeof *v), *of;
    size_t n = 0;

    assert(d->tests && t->predicted);
    of = wr_zalloc(log->io.n + 1, sizeof *of);
    for (size_t i = 0; i < 2 * d->tests; i++) {
        size_t k = 0;

        for (size_t j = 0; j < log->io.n && t->predicted[i] > 0; j++)
            if (log->io.v[j].test == d->test[i / 2] && log->io.v[j].writes == i % 2)
                of[k++] = fabs(log2(fmax(log->io.v[j].seconds, 1e-12) / t->predicted[i]));
        stat_sort(of, k);
        for (size_t j = 0; k && j < EACH; j++)
            v[n++] = of[j * k / EACH];
    }
    stat_sort(v, n);
    double by = n ? exp2(v[n - 1 - n / 5]) : 1;

    free(of);
    free(v);
    return (struct stack_band){1 / by, by};
}

/* --- the medium ---------------------------------------------------------------------------- */

struct choice {
    struct draft d;
    struct calib_predicted predicted[CALIB_WAYS];
    double error[CALIB_WAYS];
};

static void band_choice_fini(struct choice *c)
{
    for (int w = 0; w < CALIB_WAYS; w++)
        calib_predicted_fini(&c->predicted[w]);
    calib_draft_fini(&c->d);
}

static bool band_choice_init(struct choice *c, const struct stack_log *log,
                             const struct stack_timings *base, const char *title, bool shared,
                             struct wr_err *err)
{
    assert(log->fs && title);
    *c = (struct choice){0};
    if (!calib_draft(&c->d, log, base, title, shared, err))
        return false;
    bool ok = true;

    for (int w = 0; ok && w < CALIB_WAYS; w++) {
        ok = calib_flows_left_out(&c->d, (enum calib_way)w, &c->predicted[w], err);
        c->error[w] = ok ? calib_predicted_error(&c->d, &c->predicted[w]) : NAN;
        c->d.trust[w] = c->error[w];
    }
    if (!ok)
        band_choice_fini(c);
    return ok;
}

/* Which tests left out decide about sharing: set-ups, or sizes where there is one set-up only. */
static enum calib_way band_deciding_way(const struct choice *c)
{
    return isnan(c->error[CALIB_SETUPS]) ? CALIB_SIZES : CALIB_SETUPS;
}

/* The number of medians in which `a` is nearer to the measurement than `b`. */
static size_t band_count_nearer(const struct choice *a, const struct choice *b, enum calib_way way,
                                size_t *ret_of)
{
    size_t n = 0, of = 0;

    assert(a->d.tests == b->d.tests && way < CALIB_WAYS);
    for (size_t i = 0; i < 2 * a->d.tests; i++) {
        double x = fabs(log2(a->predicted[way].predicted[i] / a->predicted[way].measured[i]));
        double y = fabs(log2(b->predicted[way].predicted[i] / b->predicted[way].measured[i]));

        if (isnan(x) || isnan(y))
            continue;
        of++;
        n += x < y;
    }
    *ret_of = of;
    return n;
}

/* The one-sided p-value of the sign test: at least n of `of` fair coins. */
static double band_sign_test(size_t n, size_t of)
{
    double sum = 0;

    assert(n <= of);
    for (size_t k = n; k <= of; k++)
        sum += exp(lgamma((double)of + 1) - lgamma((double)k + 1) - lgamma((double)(of - k) + 1) -
                   (double)of * M_LN2);
    return fmin(sum, 1);
}

/* The median of start slopes: how much longer a process takes for each second that it begins after
 * another of its run. On a link that all share, a process that begins later ends with the others
 * and takes less (-1); with a link each it takes as long as they do (0). NaN: no two processes
 * began apart. */
static double band_median_start_slope(const struct stack_log *log)
{
    size_t n = log->start_slope.n;
    double *v = wr_zalloc(n + 1, sizeof *v);

    for (size_t i = 0; i < n; i++)
        v[i] = log->start_slope.v[i].slope;
    stat_sort(v, n);
    double ret = n ? v[n / 2] : NAN;

    free(v);
    return ret;
}

/* The medium with the smaller error for tests left out. Where the sign test does not decide, the
 * start slopes of processes do. */
static bool band_find_medium(const struct choice c[2], struct wr_str *report)
{
    static const char *const names[] = {"switched", "shared"};
    enum calib_way way = band_deciding_way(&c[0]);
    bool shared = c[1].error[way] < c[0].error[way];
    size_t of, n = band_count_nearer(&c[shared], &c[!shared], way, &of);
    double chance = band_sign_test(n, of), slope = band_median_start_slope(c[0].d.log);
    bool seen = chance >= BAND_LIKELY && !isnan(slope);

    if (seen)
        shared = slope < BAND_SHARED_SLOPE;
    wr_str_addf(report,
                "medium: %s, %s. %s left out are predicted within %.0f %% in the mean, with a %s "
                "medium within %.0f %%; the better one is nearer in %zu of %zu medians",
                names[shared],
                chance < BAND_SURE     ? "sure"
                : chance < BAND_LIKELY ? "likely"
                                       : "not sure: set it where it is known",
                way == CALIB_SETUPS ? "set-ups" : "sizes", 100 * (exp(c[shared].error[way]) - 1),
                names[!shared], 100 * (exp(c[!shared].error[way]) - 1), n, of);
    if (seen)
        wr_str_addf(report,
                    ". A process that begins a second later takes %.2f s longer, which "
                    "decides",
                    slope);
    wr_str_add(report, "\n");
    return shared;
}

static void band_report_errors(struct wr_str *report, const struct choice *c)
{
    static const char *const ways[] = {"sizes of a call", "numbers of servers and processes",
                                       "patterns"};

    for (int w = 0; w < CALIB_WAYS; w++) {
        const struct calib_predicted *t = &c->predicted[w];
        double *v = wr_zalloc(2 * c->d.tests + 1, sizeof *v);
        size_t n = 0;

        for (size_t i = 0; i < 2 * c->d.tests; i++) {
            double by = t->predicted[i] / t->measured[i] - 1;

            if (!isnan(by))
                v[n++] = fabs(by);
        }
        stat_sort(v, n);
        if (n)
            wr_str_addf(
                report,
                "other %s: left out in turn, %zu medians are predicted with a median error of "
                "%.0f %%, %.0f %% at worst\n",
                ways[w], n, 100 * v[n / 2], 100 * v[n - 1]);
        else
            wr_str_addf(report, "other %s: there is one only, so the error is unknown\n", ways[w]);
        free(v);
    }
}

bool stack_calibrate(struct wr_str *out, struct wr_str *report, const struct stack_log *log,
                     const struct stack_timings *base, const char *title, enum stack_see see,
                     struct wr_err *err)
{
    struct choice c[2] = {{.d = {0}}, {.d = {0}}};
    struct wr_str predicted = {0};
    bool shared = see == STACK_SEE_SHARED, several = false;

    assert(out && log->fs && title);
    for (size_t i = 0; i < log->io.n; i++)
        several |= stack_test_at(log, log->io.v[i].test)->clients > 1;
    bool both = see == STACK_SEE_ITSELF && several;

    if (!band_choice_init(&c[shared], log, base, title, shared, err))
        return false;
    if (both && !band_choice_init(&c[!shared], log, base, title, !shared, err)) {
        band_choice_fini(&c[shared]);
        return false;
    }
    if (both) {
        shared = band_find_medium(c, &predicted);
        band_choice_fini(&c[!shared]);
    }
    struct choice *best = &c[shared];
    bool ok = band_fit_functions(&best->d, err);

    best->d.bands.io = band_fit_io(&best->d, &best->predicted[CALIB_SIZES]);
    band_report_errors(&predicted, best);
    ok = ok && calib_put(out, &best->d, err);
    for (const char *line = wr_str_get(&predicted); ok && *line;) {
        size_t n = strcspn(line, "\n");

        wr_str_addf(out, "# %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    if (ok && report)
        wr_str_add(report, wr_str_get(&predicted));
    wr_str_fini(&predicted);
    band_choice_fini(best);
    return ok;
}
