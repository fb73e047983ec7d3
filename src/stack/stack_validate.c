/* stack_validate.c -- replays the tests of a log and compares functions, classes and states.
 *
 * struct validation holds the values of the quantity at hand; each *_rows function below fills it
 * with the measured values of one quantity, asks the replayed log for the simulated time, and adds
 * a stack_check. Invariant: v->is has a place for every sample of the log, so that adding a value
 * never allocates.
 */
#include "stack/stack_validate.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stack/replay.h"
#include "stat/sample.h"

const char *const stack_check_kinds[STACK_CHECK_KINDS] = {"io",    "function", "work",
                                                          "total", "class",    "state"};

enum { MOST_RUNS = 64 }; /* of one test, whose agreement is looked at */
#define TAIL 0.1         /* p10 and p90: the share of values left out at either end */

struct value {
    double s;
    uint16_t run;
};

struct values {
    struct value *v;
    size_t n;
};

struct validation {
    /* set up by stack_validate() */
    const struct stack_log *log; /* measured */
    const struct stack_validate_how *how;
    struct stack_checks *checks;
    struct values is; /* measured values of the quantity at hand */
    double *sorted;   /* as many, for stat/sample.h */
    /* of the test that is replayed */
    uint16_t test;
    struct stack_log run; /* simulated */
    const struct stack_timings *models;
};

/* ---- one check ---- */

static int validate_by_time(const void *a, const void *b)
{
    const struct value *x = a, *y = b;

    return x->s < y->s ? -1 : x->s > y->s;
}

static void validate_add_value(struct values *v, double s, uint16_t run)
{
    v->v[v->n++] = (struct value){s, run};
}

/* The median of one run, or of all others; NaN: there are none. The values are in order. */
static double validate_run_median(const struct values *v, uint16_t run, bool others, double *sorted)
{
    size_t n = 0;

    for (size_t i = 0; i < v->n; i++)
        if ((v->v[i].run == run) != others)
            sorted[n++] = v->v[i].s;
    return stat_lower_median(sorted, n);
}

/* Each run is predicted by the others of its test; returns the median error. */
static double validate_between_runs(const struct values *v, double *sorted)
{
    uint16_t last = 0;
    double error[MOST_RUNS];
    size_t n = 0;

    for (size_t i = 0; i < v->n; i++)
        last = v->v[i].run > last ? v->v[i].run : last;
    for (uint32_t run = 1; run <= last && n < MOST_RUNS; run++) {
        double is = validate_run_median(v, (uint16_t)run, false, sorted);
        double others = validate_run_median(v, (uint16_t)run, true, sorted);

        if (is > 0 && others > 0)
            error[n++] = fabs(others / is - 1);
    }
    stat_sort(error, n);
    return stat_quantile(error, n, 0.5);
}

static void validate_add_check(struct validation *v, enum stack_check_kind kind, const char *name,
                               double simulated, struct stack_band band)
{
    size_t n = v->is.n;

    assert(n > 0);
    qsort(v->is.v, n, sizeof *v->is.v, validate_by_time);
    struct stack_check r = {.kind = kind,
                            .test = stack_test_at(v->log, v->test),
                            .beyond = v->checks->beyond[v->test],
                            .n = n,
                            .simulated = simulated,
                            .low = band.high > band.low ? simulated * band.low : NAN,
                            .high = band.high > band.low ? simulated * band.high : NAN,
                            .runs = validate_between_runs(&v->is, v->sorted)};

    for (size_t i = 0; i < n; i++)
        v->sorted[i] = v->is.v[i].s;
    struct stat_interval most = stat_central_range(v->sorted, n, TAIL);

    r.p10 = most.low;
    r.p90 = most.high;
    r.median = kind == STACK_CHECK_IO ? stat_quantile(v->sorted, n, 0.5) : most.mid;
    snprintf(r.name, sizeof r.name, "%s", name);
    for (size_t i = 0; i < n; i++)
        r.held += v->sorted[i] >= r.low && v->sorted[i] <= r.high;
    wr_vec_push(&v->checks->row, r);
}

/* ---- the quantities ---- */

static void validate_io_rows(struct validation *v)
{
    for (int writes = 1; writes >= 0; writes--) {
        double simulated = NAN;

        v->is.n = 0;
        for (size_t i = 0; i < v->log->io.n; i++)
            if (v->log->io.v[i].test == v->test && v->log->io.v[i].writes == writes)
                validate_add_value(&v->is, v->log->io.v[i].seconds, v->log->io.v[i].run);
        if (v->is.n && stack_io_median(&v->run, writes, v->test, &simulated))
            validate_add_check(v, STACK_CHECK_IO, writes ? "write" : "read", simulated,
                               v->models->io);
    }
}

static const char *const tails[] = {"_read", "_write", "", "_meta", "_data"};

static double validate_state_median(const struct stack_log *log, uint16_t state, uint8_t io,
                                    uint16_t test, bool total, struct values *v)
{
    v->n = 0;
    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];

        if (s->state == state && s->io == io && s->test == test && (!total || s->took_us > 0))
            validate_add_value(v, (total ? s->took_us : s->exec_us) * 1e-6, s->run);
    }
    if (!v->n)
        return NAN;
    qsort(v->v, v->n, sizeof *v->v, validate_by_time);
    double *sorted = wr_alloc(v->n * sizeof *sorted);

    for (size_t i = 0; i < v->n; i++)
        sorted[i] = v->v[i].s;
    double ret = stat_lower_median(sorted, v->n);

    free(sorted);
    return ret;
}

/* The work of a state, or its work and waiting, of reads and of writes. */
static void validate_state_row(struct validation *v, enum stack_check_kind kind, const char *name,
                               uint16_t state)
{
    struct values simulated = {.v = wr_zalloc(v->run.state.n + 1, sizeof *simulated.v)};
    bool total = kind == STACK_CHECK_TOTAL;

    for (uint8_t io = 0; io < 3; io++) {
        char full[200];
        double y = validate_state_median(&v->run, state, io, v->test, total, &simulated);

        if (!simulated.n || isnan(validate_state_median(v->log, state, io, v->test, total, &v->is)))
            continue;
        bool data = io < 2 && v->log->fs->state.v[state].has_data_code;

        snprintf(full, sizeof full, "%s%s", name, tails[data ? io + 3 : io]);
        validate_add_check(v, kind, full, y, (struct stack_band){0});
    }
    free(simulated.v);
}

static bool validate_state_waits(const struct stack_state *s)
{
    return s->does == STACK_SEND || s->does == STACK_RECEIVE || s->does == STACK_FLOW;
}

/* States that are functions of the published model. */
static void validate_named_rows(struct validation *v)
{
    const struct stack_fs *fs = v->log->fs;

    for (uint16_t s = 0; s < fs->state.n; s++)
        if (fs->state.v[s].function)
            validate_state_row(v, STACK_CHECK_WORK, fs->state.v[s].function, s);
    for (uint16_t s = 0; s < fs->state.n; s++)
        if (fs->state.v[s].function && validate_state_waits(&fs->state.v[s]))
            validate_state_row(v, STACK_CHECK_TOTAL, fs->state.v[s].function, s);
}

static void validate_function_rows(struct validation *v)
{
    const struct stack_fs *fs = v->log->fs;

    for (uint16_t m = 0; m < fs->machine.n; m++)
        for (uint8_t io = 0; io < 3; io++) {
            char name[160];
            double simulated;

            v->is.n = 0;
            for (size_t i = 0; i < v->log->op.n; i++) {
                const struct stack_op_sample *s = &v->log->op.v[i];

                if (s->function == m && s->io == io && s->test == v->test)
                    validate_add_value(&v->is, s->seconds, s->run);
            }
            if (!v->is.n || !stack_op_median(&v->run, m, io, v->test, &simulated))
                continue;
            snprintf(name, sizeof name, "%s%s", fs->machine.v[m].function, tails[io]);
            validate_add_check(v, STACK_CHECK_FUNCTION, name, simulated, v->models->band[io][m]);
        }
}

/* Seconds of a class on one side, work or waiting, per node and run. */
static double validate_class_s(const struct stack_log *log, uint16_t test, bool server, int cls,
                               bool wait)
{
    double sum = 0;
    size_t runs = 0;

    for (size_t i = 0; i < log->run.n; i++)
        runs += log->run.v[i] == test;
    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];
        float us = wait ? s->wait_us : s->exec_us;
        uint16_t m = log->fs->state.v[s->state].machine;

        if (s->test == test && s->server == server && us > 0 && !s->alone &&
            log->fs->machine.v[m].kind == STACK_MACHINE && log->fs->state.v[s->state].cls == cls)
            sum += us * 1e-6;
    }
    const struct stack_log_test *t = stack_test_at(log, test);

    return runs ? sum / (double)runs / (server ? t->servers : t->clients) : 0;
}

static void validate_class_rows(struct validation *v)
{
    for (int i = 0; i < 2 * STACK_CLASSES * 2; i++) {
        bool server = i / (2 * STACK_CLASSES), wait = i % 2;
        int cls = i / 2 % STACK_CLASSES;
        double is = validate_class_s(v->log, v->test, server, cls, wait);
        char name[64];

        if (is <= 0)
            continue;
        v->is.n = 0;
        validate_add_value(&v->is, is, 0);
        snprintf(name, sizeof name, "%s %s %s", server ? "server" : "client",
                 stack_class_names[cls], wait ? "wait" : "work");
        validate_add_check(v, STACK_CHECK_CLASS, name,
                           validate_class_s(&v->run, v->test, server, cls, wait),
                           (struct stack_band){0});
    }
}

static void validate_state_rows(struct validation *v)
{
    for (uint16_t s = 0; s < v->log->fs->state.n; s++)
        validate_state_row(v, STACK_CHECK_STATE, stack_state_text(v->log->fs, s).s, s);
}

/* ---- the tests ---- */

static bool validate_test(struct validation *v, const struct stack_timings *models,
                          struct wr_err *err)
{
    enum stack_check_by by = v->how->by;

    assert(v->test >= 1 && v->test <= v->log->test.n);
    if (!stack_replay_log(&v->run, v->log, models, v->test, err))
        return false;
    v->models = models;
    validate_io_rows(v);
    if (by == STACK_CHECK_BY_FUNCTION || by == STACK_CHECK_BY_ALL) {
        validate_function_rows(v);
        validate_named_rows(v);
    }
    if (by == STACK_CHECK_BY_CLASS || by == STACK_CHECK_BY_ALL)
        validate_class_rows(v);
    if (by == STACK_CHECK_BY_STATE || by == STACK_CHECK_BY_ALL)
        validate_state_rows(v);
    stack_log_fini(&v->run);
    return true;
}

/* Why a test lies outside what the models were fitted on; NULL: it does not. */
static char *validate_beyond(const struct stack_timings *models, const struct stack_log_test *t)
{
    struct stack_requested a = {.servers = t->servers,
                                .clients = t->clients,
                                .call_b = t->transfer,
                                .process_b = t->bytes,
                                .one_file = t->shared,
                                .random = t->random,
                                .collective = t->collective};
    struct wr_str why = {0};
    char *ret = stack_timings_beyond(models, &a, &why) ? wr_strdup(why.s) : NULL;

    wr_str_fini(&why);
    return ret;
}

/* Models calibrated with the tests of other sizes of a call than that of v->test. */
static bool validate_calibrate_others(struct stack_timings **ret, const struct validation *v,
                                      struct stack_timings *models, struct wr_err *err)
{
    uint64_t size = stack_test_at(v->log, v->test)->transfer;
    bool *out = wr_zalloc(v->log->test.n + 1, sizeof *out);
    struct stack_log rest;
    struct wr_str text = {0};

    for (size_t i = 0; i < v->log->test.n; i++)
        out[i + 1] = v->log->test.v[i].transfer == size;
    stack_log_without(&rest, v->log, out);
    bool ok = stack_calibrate(&text, NULL, &rest, models, "left out", v->how->see, err) &&
              stack_timings_open_text(ret, v->log->fs, "the timing models", text.s, text.n, err);

    wr_str_fini(&text);
    stack_log_fini(&rest);
    free(out);
    return ok || wr_wrap(err, "calls of %s left out", wr_text_bytes(size).s);
}

/* All tests, by the models given or by those of other sizes. Tests come in the order of their sizes
 * within a set-up, so models are kept while the size is the same. */
static bool validate_tests(struct validation *v, struct stack_timings *models, const uint16_t *test,
                           size_t n, struct wr_err *err)
{
    bool *done = wr_zalloc(n + 1, sizeof *done), ok = true, left_out = v->how->left_out;

    for (size_t i = 0; ok && i < n; i++) {
        struct stack_timings *others = NULL;
        uint64_t size = stack_test_at(v->log, test[i])->transfer;

        v->test = test[i];
        if (done[i])
            continue;
        ok = !left_out || validate_calibrate_others(&others, v, models, err);
        for (size_t k = i; ok && k < n; k++) {
            const struct stack_log_test *t = stack_test_at(v->log, test[k]);

            if (done[k] || (left_out && t->transfer != size))
                continue;
            done[k] = true;
            v->test = test[k];
            v->checks->beyond[test[k]] = validate_beyond(others ? others : models, t);
            ok = validate_test(v, others ? others : models, err);
        }
        stack_timings_close(others);
    }
    free(done);
    return ok;
}

bool stack_validate(struct stack_checks *ret, const struct stack_log *log,
                    struct stack_timings *models, const struct stack_validate_how *how,
                    struct wr_err *err)
{
    size_t n = 0, most = log->io.n + log->op.n + log->state.n + 1;
    uint16_t *test = stack_log_tests(log, &n);
    struct stack_checks checks = {.ntests = log->test.n};
    struct validation v = {.log = log, .how = how, .checks = &checks};

    assert(how->by <= STACK_CHECK_BY_ALL);
    checks.beyond = wr_zalloc(log->test.n + 1, sizeof *checks.beyond);
    v.is.v = wr_zalloc(most, sizeof *v.is.v);
    v.sorted = wr_zalloc(most, sizeof *v.sorted);
    bool ok = n ? validate_tests(&v, models, test, n, err)
                : wr_fail(err, WR_INPUT,
                          "no reads and writes in these logs; add adio.N, ior.out or "
                          "functions.csv");

    free(v.is.v);
    free(v.sorted);
    free(test);
    if (ok)
        *ret = checks;
    else
        stack_checks_fini(&checks);
    return ok;
}

void stack_checks_fini(struct stack_checks *c)
{
    for (size_t i = 0; c->beyond && i <= c->ntests; i++)
        free(c->beyond[i]);
    free(c->beyond);
    wr_vec_fini(&c->row);
}

/* ---- what the checks show ---- */

double stack_check_error(const struct stack_check *r)
{
    return r->median > 0 ? r->simulated / r->median - 1 : NAN;
}

bool stack_check_inside(const struct stack_check *r)
{
    return r->simulated >= r->p10 && r->simulated <= r->p90;
}

bool stack_check_in_band(const struct stack_check *r)
{
    return r->median >= r->low && r->median <= r->high;
}

struct stack_verdict stack_checks_verdict(const struct stack_checks *c)
{
    struct stack_verdict v = {0};

    for (size_t i = 0; i < c->row.n; i++) {
        const struct stack_check *r = &c->row.v[i];
        double error = fabs(stack_check_error(r));

        if (r->kind == STACK_CHECK_IO)
            v.worst_io = fmax(v.worst_io, error);
        if (r->kind == STACK_CHECK_FUNCTION || r->kind == STACK_CHECK_WORK) {
            v.functions++;
            v.near += error <= STACK_NEAR;
            v.repeated += !isnan(r->runs);
            v.steady += r->runs <= STACK_NEAR;
            v.steady_near += r->runs <= STACK_NEAR && error <= STACK_NEAR;
        }
        if (isnan(r->low))
            continue;
        v.bands++;
        v.medians_in_band += stack_check_in_band(r);
        v.samples_in_band += r->held;
        v.samples += r->n;
    }
    return v;
}

size_t stack_checks_beyond(const struct stack_checks *c, const char **ret_first)
{
    const char *first = NULL;
    size_t n = 0;

    for (size_t i = 1; i <= c->ntests; i++)
        if (c->beyond[i]) {
            first = first ? first : c->beyond[i];
            n++;
        }
    *ret_first = first;
    return n;
}

bool stack_checks_to_run(struct run *run, const struct stack_checks *c, struct wr_err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < c->row.n; i++) {
        const struct stack_check *r = &c->row.v[i];

        ok = run_put_stack_check(run,
                                 &(struct run_stack_check){.kind = stack_check_kinds[r->kind],
                                                           .name = r->name,
                                                           .bytes = r->test->bytes,
                                                           .n = r->n,
                                                           .p10_s = r->p10,
                                                           .measured_s = r->median,
                                                           .p90_s = r->p90,
                                                           .simulated_s = r->simulated,
                                                           .low_s = r->low,
                                                           .high_s = r->high},
                                 err);
    }
    return ok;
}
