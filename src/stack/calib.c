/* calib.c -- from the samples of a log to the text of a file of timing models.
 *
 * band.c calls calib_draft() for each medium. The timing models of states are fitted first
 * (calib_put_state); the flows are fitted by simulation (calib_flow.c); then the slowdowns of
 * operations and the queueing behind data are corrected until simulated medians match the measured
 * ones (calib_tune). calib_put() writes the draft as YAML, which timing.c reads back for every
 * simulation, so what is simulated is what is written.
 *
 * Invariants: a draft owns its test list, slowdowns and bands (calib_draft_fini); every number in
 * the text is finite and in the range that the rows of timing.c accept.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calib_priv.h"
#include "stack/replay.h"
#include "stat/sample.h"

/* --- constants of the calibration -------------------------------------------------------- */

/* A log counts whole microseconds: a sample of 0 stands for anything below one. */
#define CALIB_LEAST_US 0.5
/* Without a measured round trip, and without a base: a network of this latency, in us. */
#define CALIB_DEFAULT_LATENCY_US 1.0
/* A run with less of a flow in flight than this when its sender is done shows how many bytes the
 * sockets hold; one with more shows which part of a short flow they can hold at most. */
#define CALIB_IN_FLIGHT_LIMIT 0.4
/* The part of a flow that sockets hold where no run shows it: the default of the key buffer_part.
 */
#define CALIB_DEFAULT_BUFFER_PART 0.5
/* Bytes: more than any socket; keeps the number in the range of a file of timing models. */
#define CALIB_MOST_BUFFER_B 1e15
/* Flows are long when each server moves more than so many times a flow's buffers: only then the
 * end of a flow shows its rate and not when it began. */
#define CALIB_LONG_FLOW 2
/* A link's share of the first flow exceeds the mean by at most this, or the last would get nothing;
 * apart_read and apart_write of timing.c have the same limit. */
#define CALIB_MOST_SPREAD 0.9
/* MB/s of a link whose flows take no time, and the fastest link that is written. */
#define CALIB_DEFAULT_LINK_MBPS 1000.0
#define CALIB_FASTEST_LINK_MBPS 1e9
/* Waiting matters to an operation that takes this much longer when answers take twice as long. */
#define CALIB_WAIT_MATTERS 1.2
/* Rounds of correcting the slowdowns. Each multiplies by measured / predicted, which halves the
 * error of an operation that waits for half of its time: 12 rounds leave 1 / 4000 of it. */
#define CALIB_SLOWDOWN_ROUNDS 12
/* Bounds of a slowdown: an operation that hardly waits would need any factor to match its median.
 */
#define CALIB_LEAST_SLOWDOWN 0.05
#define CALIB_MOST_SLOWDOWN 1000.0
/* Part of a missing wait that a queue must explain when half of it is tried; else there is none. */
#define CALIB_QUEUE_GAIN 0.5
/* Tests of more calls per process say nothing more about operations beside the data. */
#define CALIB_MOST_CALLS 4
/* Tests that are simulated in every round: operations beside the data hardly depend on the test. */
enum { CALIB_TUNED_TESTS = 8 };

/* --- all states --------------------------------------------------------------------- */

/* The median of samples, with their own precision, that of a float: the timing models that a log
 * gives must not depend on digits that no log has. `otherwise` when there are none. */
static double calib_median_or(const float *v, size_t n, double otherwise)
{
    assert(v || !n);
    if (!n)
        return otherwise;
    double *sorted = wr_alloc(n * sizeof *sorted);

    for (size_t i = 0; i < n; i++)
        sorted[i] = v[i];
    stat_sort(sorted, n);
    double median = stat_quantile(sorted, n, 0.5);

    free(sorted);
    return (float)median;
}

/* Whether a sample counts for reads (io 0), writes (1), or both (2). */
static bool calib_sample_counts(const struct stack_sample *s, int io)
{
    return io == 2 || s->io == 2 || s->io == io;
}

/* The bytes that lie in one data file of a test. */
static double calib_data_file_b(const struct stack_log *log, uint16_t test)
{
    const struct stack_log_test *t = stack_test_at(log, test);

    assert(t->servers > 0);
    return (double)t->bytes * (t->shared ? t->clients : 1) / t->servers;
}

/* The number of servers that have a part of a call, which is its number of requests and flows. */
static double calib_servers_of_call(const struct stack_log *log, uint16_t test)
{
    assert(log->fs->strip_b > 0);
    const struct stack_log_test *t = stack_test_at(log, test);
    uint64_t strips = (t->transfer + log->fs->strip_b - 1) / log->fs->strip_b;

    return (double)(strips < t->servers ? strips : t->servers);
}

/* The bytes of a flow's first buffers in a test. */
static double calib_first_buffers_b(const struct stack_log *log, uint16_t test)
{
    double flow = (double)stack_test_at(log, test)->transfer / calib_servers_of_call(log, test);

    return fmin(flow, (double)(log->fs->buffers * log->fs->buffer_b));
}

/* The smallest call that a state has samples of: there the state's own work shows best. States of
 * machines that move no data work the same for every call. */
static uint64_t calib_smallest_call(const struct stack_log *log, uint16_t state, int io)
{
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];

        if (s->state == state && s->exec_us >= 0 && calib_sample_counts(s, io) &&
            stack_test_at(log, s->test)->transfer < least)
            least = stack_test_at(log, s->test)->transfer;
    }
    return least;
}

/* Of a client's operation that moves data: one request for each server that has a part of it. */
static bool calib_sends_data_requests(const struct stack_fs *fs, uint16_t state)
{
    const struct stack_state *s = &fs->state.v[state];

    return s->does == STACK_SEND && fs->machine.v[s->machine].moves;
}

/* The timing model of one state from its samples; false: it has none. */
static bool calib_fit_state(const struct stack_log *log, uint16_t state, int io, bool wait,
                            struct stack_fit *ret)
{
    assert(state < log->fs->state.n && io >= 0 && io <= 2);
    /* The wait for a data file may depend on its length; all other times do not. A wait for several
     * data files is the wait for the slowest: their mean shows it, the median does not. */
    bool data = wait && io == 1 && log->fs->state.v[state].has_data_code;
    /* A flow that reads works for each of its first buffers; one that writes posts one receive. */
    bool flow = !wait && log->fs->state.v[state].does == STACK_FLOW, fills = flow && io == 0;
    bool moves = log->fs->machine.v[log->fs->state.v[state].machine].moves && !flow && !wait;
    bool sends = moves && calib_sends_data_requests(log->fs, state); /* works for each request */
    uint64_t most = moves ? calib_smallest_call(log, state, io) : UINT64_MAX;
    struct stack_point *p = NULL;
    size_t n = 0, cap = 0;
    struct wr_err err = {0};

    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];
        float y = wait ? s->wait_us : s->exec_us;

        if (s->state != state || y < 0 || !calib_sample_counts(s, io) ||
            stack_test_at(log, s->test)->transfer > most)
            continue;
        wr_vec_grow((void **)&p, &cap, n + 1, sizeof *p);
        /* the log has whole microseconds */
        p[n++] = (struct stack_point){data ? calib_data_file_b(log, s->test) : s->test,
                                      fmax(y, CALIB_LEAST_US) /
                                          (fills   ? calib_first_buffers_b(log, s->test)
                                           : sends ? calib_servers_of_call(log, s->test)
                                                   : 1)};
    }
    if (data)
        n = stack_means(p, n);
    bool ok = n && stack_fit(ret, p, n, data ? STACK_LINE : STACK_CONSTANT, &err);

    if (ok && fills)
        *ret = (struct stack_fit){.shape = STACK_PROPORTIONAL, .slope = ret->constant};
    free(p);
    return ok;
}

static void calib_put_timing(struct wr_str *out, const char *name, const char *of,
                             const struct stack_fit *exec, const struct stack_fit *wait,
                             bool assumed, bool each, const char *remark)
{
    assert(isfinite(exec->constant) && (!wait || isfinite(wait->constant)));
    wr_str_addf(out, "  %s%s: {%s: %.4g us", name, of, each ? "exec_per_message" : "exec",
                exec->constant);
    if (exec->slope > 0)
        wr_str_addf(out, ", exec_per_byte: %.6g", exec->slope * 1e6);
    if (wait)
        wr_str_addf(out, ", wait: %.4g us", wait->constant);
    if (wait && wait->slope > 0)
        wr_str_addf(out, ", wait_per_byte: %.6g", wait->slope * 1e6);
    wr_str_addf(out, "%s}%s\n", assumed ? ", assumed: true" : "", remark);
}

static struct stack_fit calib_fit_of_timing(const struct stack_timing *l)
{
    return (struct stack_fit){.constant = l->constant_ns * 1e-3, .slope = l->per_byte_ns * 1e-3};
}

static bool calib_same_fit(const struct stack_fit *a, const struct stack_fit *b)
{
    return !(a->constant < b->constant) && !(b->constant < a->constant) && !(a->slope < b->slope) &&
           !(b->slope < a->slope);
}

/* Which of two timing models: of reads or writes, or of metadata or data files. 2: they are one. */
static const char *calib_way_name(const struct stack_state *s, int io)
{
    static const char *const of[] = {"/read", "/write", "/meta", "/data"};

    assert(io >= 0 && io <= 2);
    return io == 2 ? "" : of[2 * s->has_data_code + io];
}

/* A state without samples keeps the timing model of the base, for reading and for writing. */
static void calib_put_base(struct wr_str *out, const struct stack_fs *fs,
                           const struct stack_timings *base, uint16_t at)
{
    uint8_t does = fs->state.v[at].does;
    bool waits = does == STACK_WAIT || does == STACK_SLEEP;
    struct stack_fit exec[2], wait[2];

    bool per_message = base->exec[0][at].per_message_ns > 0;

    for (int w = 0; w < 2; w++) {
        exec[w] = calib_fit_of_timing(&base->exec[w][at]);
        if (per_message)
            exec[w].constant = base->exec[w][at].per_message_ns * 1e-3;
        wait[w] = calib_fit_of_timing(&base->wait[w][at]);
    }
    bool same = calib_same_fit(&exec[0], &exec[1]) && calib_same_fit(&wait[0], &wait[1]);

    for (int w = 0; w < (same ? 1 : 2); w++)
        calib_put_timing(out, stack_state_text(fs, at).s,
                         calib_way_name(&fs->state.v[at], same ? 2 : w), &exec[w],
                         waits ? &wait[w] : NULL, !stack_state_measured(base, at), per_message,
                         " # not in these logs");
}

/* Writes the timing model of a state. States of machines that move data have one for reads and one
 * for writes. */
static void calib_put_state(struct wr_str *out, const struct stack_log *log,
                            const struct stack_timings *base, uint16_t at)
{
    const struct stack_fs *fs = log->fs;
    const struct stack_state *s = &fs->state.v[at];
    struct stack_fit exec[3] = {{0}}, wait[3] = {{0}};

    if (s->does == STACK_JUMP_TO || s->does == STACK_FLOW)
        return;
    if (!calib_fit_state(log, at, 2, false, &exec[2])) {
        if (base && base->exec[0][at].given && !base->exec[0][at].poly)
            calib_put_base(out, fs, base, at);
        return;
    }
    if (s->does == STACK_WAIT)
        calib_fit_state(log, at, 2, true, &wait[2]);
    for (int io = 0; io < 2; io++) {
        exec[io] = exec[2]; /* when only the other way was seen */
        wait[io] = wait[2];
        if (!s->has_data_code)
            calib_fit_state(log, at, io, false, &exec[io]);
        if (s->does == STACK_WAIT)
            calib_fit_state(log, at, io, true, &wait[io]);
    }
    bool same = (!fs->machine.v[s->machine].moves && !s->has_data_code) ||
                (calib_same_fit(&exec[0], &exec[1]) && calib_same_fit(&wait[0], &wait[1]));

    for (int io = same ? 2 : 0; io < (same ? 3 : 2); io++)
        calib_put_timing(out, stack_state_text(fs, at).s, calib_way_name(s, io), &exec[io],
                         s->does == STACK_WAIT ? &wait[io] : NULL, false,
                         calib_sends_data_requests(fs, at), "");
}

/* Half of the wait for a short answer beyond the server's time for it. Requests between servers
 * show it best: processes of an application are often descheduled. */
static double calib_latency_us(const struct stack_log *log, const struct stack_timings *base,
                               bool servers)
{
    const struct stack_fs *fs = log->fs;
    WR_VEC(float) wait = {0};
    WR_VEC(float) serve = {0};

    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];

        if (fs->state.v[s->state].does == STACK_SEND && s->server == servers && s->wait_us >= 0 &&
            !fs->machine.v[fs->state.v[s->state].machine].moves)
            wr_vec_push(&wait, s->wait_us);
    }
    for (size_t i = 0; i < log->op.n; i++)
        if (fs->machine.v[log->op.v[i].function].side == STACK_SERVER && log->op.v[i].io == 2)
            wr_vec_push(&serve, (float)(log->op.v[i].seconds * 1e6));
    double us = (calib_median_or(wait.v, wait.n, NAN) - calib_median_or(serve.v, serve.n, NAN)) / 2;

    wr_vec_fini(&wait);
    wr_vec_fini(&serve);
    if (servers && !(us > 0))
        return calib_latency_us(log, base, false);
    return us > 0 ? us : isnan(us) && base ? base->latency_ns * 1e-3 : CALIB_DEFAULT_LATENCY_US;
}

static double calib_between_us(const struct stack_log *log, const struct stack_timings *base,
                               bool server)
{
    WR_VEC(float) v = {0};

    for (size_t i = 0; i < log->state.n; i++)
        if (log->state.v[i].server == server && log->state.v[i].between_us >= 0)
            wr_vec_push(&v, log->state.v[i].between_us);
    double us = calib_median_or(v.v, v.n, base ? base->between_ns[server] * 1e-3 : 0);

    wr_vec_fini(&v);
    return us;
}

/* --- what sockets keep ---------------------------------------------------------------- */

/* Sums over the flows of a run. They need no pairing of clients with servers, because only means
 * are used. */
struct flow_ends {
    uint16_t test, run;
    size_t servers, clients;            /* how many were seen */
    double begin_s, server_s, client_s; /* sums */
    double moved_b;
};

struct ends {
    WR_VEC(struct flow_ends) of;
};

static struct flow_ends *calib_flow_ends_of(struct ends *v, uint16_t test, uint16_t run)
{
    for (size_t i = v->of.n; i-- > 0;)
        if (v->of.v[i].test == test && v->of.v[i].run == run)
            return &v->of.v[i];
    wr_vec_push(&v->of, (struct flow_ends){.test = test, .run = run});
    return &v->of.v[v->of.n - 1];
}

static void calib_gather_flow_ends(struct ends *ret, const struct stack_log *log, bool writes)
{
    enum { MOVED = 2 };

    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];
        const struct stack_state *k = &log->fs->state.v[s->state];

        if (s->io != writes)
            continue;
        if (k->does == STACK_FLOW && s->took_us > 0) {
            struct flow_ends *f = calib_flow_ends_of(ret, s->test, s->run);

            f->servers++;
            f->begin_s += s->t_s;
            f->server_s += s->t_s + s->took_us * 1e-6;
        } else if (k->receives_data && s->phase == MOVED) {
            struct flow_ends *f = calib_flow_ends_of(ret, s->test, s->run);

            f->clients++;
            f->client_s += s->t_s;
        }
    }
    for (size_t i = 0; i < log->io.n; i++)
        if (log->io.v[i].writes == writes)
            calib_flow_ends_of(ret, log->io.v[i].test, log->io.v[i].run)->moved_b +=
                (double)log->io.v[i].moved;
}

/* The part of a run's data that was in flight when the senders were done: the time that it still
 * took over the whole time. NaN: the run does not show it. */
static double calib_part_in_flight(const struct flow_ends *f, bool writes)
{
    double sent = writes ? f->client_s : f->server_s, had = writes ? f->server_s : f->client_s;
    double part = (had - sent) / (had - f->begin_s);

    return f->servers && f->servers == f->clients && f->moved_b > 0 && part < 1 ? fmax(part, 0)
                                                                                : NAN;
}

/* How much of a flow sockets hold. Runs whose flows were mostly in flight when the sender was done
 * give the largest part; the others give the bytes, the median over sizes. */
struct buffers {
    double bytes[2], part;
};

static struct buffers calib_socket_buffers(const struct stack_log *log)
{
    struct buffers ret = {.part = CALIB_DEFAULT_BUFFER_PART};
    WR_VEC(float) parts = {0};

    for (int w = 0; w < 2; w++) {
        struct ends ends = {0};
        WR_VEC(struct stack_point) p = {0};
        WR_VEC(float) v = {0};
        double least = 0;

        calib_gather_flow_ends(&ends, log, w);
        for (size_t i = 0; i < ends.of.n; i++) {
            const struct flow_ends *f = &ends.of.v[i];
            double part = calib_part_in_flight(f, w), b = part * f->moved_b / (double)f->servers;

            if (part < CALIB_IN_FLIGHT_LIMIT) {
                wr_vec_push(&p, (struct stack_point){f->test, b});
            } else if (part < 1) {
                wr_vec_push(&parts, (float)part);
                least = fmax(least, b);
            }
        }
        p.n = stack_medians(p.v, p.n);
        for (size_t i = 0; i < p.n; i++)
            wr_vec_push(&v, (float)p.v[i].y);
        ret.bytes[w] = fmin(calib_median_or(v.v, v.n, least), CALIB_MOST_BUFFER_B);
        wr_vec_fini(&v);
        wr_vec_fini(&p);
        wr_vec_fini(&ends.of);
    }
    ret.part = calib_median_or(parts.v, parts.n, ret.part);
    wr_vec_fini(&parts);
    return ret;
}

/* --- how far apart the flows of a call end ------------------------------------------------- */

/* One call: its first answer, and the first and last of its flows that end. */
struct call_ends {
    uint32_t op;        /* with `run`: which call it is */
    uint16_t run, test; /* numbers in the log */
    uint8_t io;         /* 0 reads, 1 writes */
    size_t moved;       /* flows */
    double begin_s, first_s, last_s;
};

static int calib_compare_calls(const void *a, const void *b)
{
    const struct call_ends *x = a, *y = b;

    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    if (x->test != y->test)
        return x->test < y->test ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    if (x->io != y->io)
        return x->io < y->io ? -1 : 1;
    return x->begin_s < y->begin_s ? -1 : x->begin_s > y->begin_s;
}

/* The calls with long flows: short flows end in the order in which they began. */
static struct call_ends *calib_call_ends(const struct stack_log *log, size_t *ret_n)
{
    enum { MOVED = 2 };
    struct call_ends *v = wr_zalloc(log->state.n + 1, sizeof *v);
    size_t n = 0, out = 0;

    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];
        const struct stack_log_test *t = stack_test_at(log, s->test);
        double long_b = (double)(log->fs->buffers * log->fs->buffer_b);

        if (log->fs->state.v[s->state].receives_data && s->op && s->io < 2 &&
            (double)t->transfer / t->servers > CALIB_LONG_FLOW * long_b)
            v[n++] = (struct call_ends){s->op,  s->run, s->test, s->io, s->phase == MOVED,
                                        s->t_s, s->t_s, s->t_s};
    }
    qsort(v, n, sizeof *v, calib_compare_calls);
    for (size_t i = 0, end; i < n; i = end) {
        struct call_ends c = v[i];

        c.moved = 0;
        for (end = i; end < n && v[end].op == c.op && v[end].run == c.run &&
                      v[end].test == c.test && v[end].io == c.io;
             end++) {
            if (!v[end].moved)
                continue;
            c.first_s = c.moved++ ? c.first_s : v[end].begin_s;
            c.last_s = v[end].begin_s;
        }
        v[out++] = c;
    }
    *ret_n = out;
    return v;
}

/* How much more of its links than the mean the flow that ends first had. */
static double calib_flow_spread(const struct stack_log *log, bool writes)
{
    size_t n, k = 0;
    struct call_ends *v = calib_call_ends(log, &n);
    float *by = wr_zalloc(n + 1, sizeof *by);

    for (size_t i = 0; i < n; i++) {
        double part = (v[i].first_s - v[i].begin_s) / (v[i].last_s - v[i].begin_s);

        if (v[i].io == writes && v[i].moved > 1 && part > 0 && part <= 1)
            by[k++] = (float)(1 / part - 1);
    }
    double ret = k ? fmin(calib_median_or(by, k, NAN), CALIB_MOST_SPREAD) : 0;

    free(by);
    free(v);
    return ret;
}

/* --- what whole operations take beyond their states ---------------------------------- */

/* A median that is one of the values: when half of the calls are answered from a cache and half
 * over the network, it is the time of one kind and not a value between them. */
bool stack_op_median(const struct stack_log *log, uint16_t function, uint8_t io, uint16_t test,
                     double *ret)
{
    WR_VEC(double) v = {0};

    assert(function < log->fs->machine.n && io <= 2);
    for (size_t i = 0; i < log->op.n; i++) {
        const struct stack_op_sample *s = &log->op.v[i];

        if (s->function == function && s->io == io && s->test == test)
            wr_vec_push(&v, (float)s->seconds);
    }
    bool any = v.n > 0;

    if (any) {
        stat_sort(v.v, v.n);
        *ret = v.v[(v.n - 1) / 2];
    }
    wr_vec_fini(&v);
    return any;
}

/* Whether a machine sends requests to servers, itself or in machines that it jumps to. */
static bool calib_sends_requests(const struct stack_fs *fs, uint16_t machine, int deep)
{
    const struct stack_machine *m = &fs->machine.v[machine];

    for (uint16_t i = m->first; i < m->first + m->nstates; i++) {
        const struct stack_state *s = &fs->state.v[i];

        if (s->does == STACK_SEND || (s->does == STACK_JUMP_TO && deep < STACK_DEEPEST &&
                                      calib_sends_requests(fs, s->target, deep + 1)))
            return true;
    }
    return false;
}

static bool calib_serves_message(const struct stack_fs *fs, uint16_t machine)
{
    for (size_t i = 0; i < fs->message.n; i++)
        if (fs->message.v[i].serves == machine)
            return true;
    return false;
}

static bool calib_is_forked(const struct stack_fs *fs, uint16_t machine)
{
    for (size_t i = 0; i < fs->fork.n; i++)
        if (fs->fork.v[i].machine == machine)
            return true;
    return false;
}

/* Client operations that send requests, and requests on servers. Those that move data are fitted as
 * flows. */
static bool calib_is_tunable(const struct stack_fs *fs, uint16_t machine)
{
    assert(machine < fs->machine.n);
    const struct stack_machine *m = &fs->machine.v[machine];

    return m->kind == STACK_MACHINE && !m->moves && m->function_id == machine &&
           (m->side == STACK_CLIENT
                ? calib_is_forked(fs, machine) && calib_sends_requests(fs, machine, 0)
                : calib_serves_message(fs, machine));
}

/* From the first process to the last that begins, of `clients` processes: on one machine by the
 * median time from one to the next, else the median of all runs. */
static double calib_stagger_us(const struct draft *d, bool writes, uint32_t clients)
{
    const struct stack_log *log = d->log;
    WR_VEC(float) v = {0};

    for (size_t i = 0; i < log->stagger.n; i++) {
        uint32_t n = stack_test_at(log, log->stagger.v[i].test)->clients;
        double by = d->shared && n > 1 ? (double)(clients - 1) / (n - 1) : 1;

        if (log->stagger.v[i].writes == writes)
            wr_vec_push(&v, (float)(log->stagger.v[i].seconds * 1e6 * by));
    }
    double us = calib_median_or(v.v, v.n, 0);

    wr_vec_fini(&v);
    return us;
}

/* A client's operation that moves data. */
static bool calib_moves_data(const struct stack_fs *fs, size_t machine)
{
    const struct stack_machine *m = &fs->machine.v[machine];

    return m->kind == STACK_MACHINE && m->side == STACK_CLIENT && m->moves &&
           m->function_id == machine && calib_sends_requests(fs, (uint16_t)machine, 0);
}

/* The slowdown of an activity against its states, and its band. */
static void calib_put_machine(struct wr_str *out, const struct draft *d, size_t machine)
{
    static const char *const of[] = {"/read", "/write", ""};

    for (int io = 0; io < 3; io++) {
        struct stack_band band =
            d->bands.of[io] ? d->bands.of[io][machine] : (struct stack_band){0};
        double slowdown = io == 2                                 ? d->slowdown[machine]
                          : calib_moves_data(d->log->fs, machine) ? d->flows.answer_slowdown[io]
                                                                  : 0;

        if (!(slowdown > 0) && !(band.high > 0))
            continue;
        wr_str_addf(out, "  %s%s: {", d->log->fs->machine.v[machine].name, of[io]);
        if (slowdown > 0)
            wr_str_addf(out, "slowdown: %.4g%s", slowdown, band.high > 0 ? ", " : "");
        if (band.high > 0)
            wr_str_addf(out, "low: %.4g, high: %.4g", band.low, band.high);
        wr_str_add(out, "}\n");
    }
}

/* The timing model of a flow that has the medium to itself. */
static void calib_put_flow(struct wr_str *out, const struct draft *d, uint16_t at, bool writes)
{
    const struct calib_flows *f = &d->flows;
    struct stack_fit exec = {0};
    double us = 0;

    assert(f->knots > 0 && f->knots <= STACK_PIECES);
    calib_fit_state(d->log, at, writes, false, &exec);
    wr_str_addf(out, "  %s/%s: {exec: %.4g us, exec_per_byte: %.6g, wait: %.6g us, wait_sizes: [",
                stack_state_text(d->log->fs, at).s, writes ? "write" : "read", exec.constant,
                exec.slope * 1e6, f->constant_s[writes] * 1e6);
    for (uint32_t k = 0; k < f->knots; k++)
        wr_str_addf(out, "%s%.0f", k ? ", " : "", f->x[k]);
    wr_str_add(out, "], wait_times: [");
    for (uint32_t k = 0; k < f->knots; k++) {
        us += f->slope_s[writes][k] * (f->x[k] - (k ? f->x[k - 1] : 0)) * 1e6;
        wr_str_addf(out, "%s%.8g", k ? ", " : "", us);
    }
    wr_str_add(out, "]}\n");
}

/* The smallest and the largest value of a number over all tests. */
struct range {
    uint64_t from, to;
};

static void calib_range_add(struct range *r, uint64_t v)
{
    r->from = r->to && r->from < v ? r->from : v;
    r->to = r->to > v ? r->to : v;
}

/* The mean of the logarithms of runs' times of a test; NaN: it has one run. */
static double calib_mean_log_time(const struct stack_log *log, uint16_t test, bool writes)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < log->of.n; i++)
        if (log->of.v[i].test == test && log->of.v[i].took[writes] > 0) {
            sum += log2(log->of.v[i].took[writes]);
            n++;
        }
    return n > 1 ? sum / (double)n : NAN;
}

/* The correlation of the logarithms of the read and write times of runs, each against the mean of
 * its test; 0 where it is negative. */
static double calib_run_correlation(const struct stack_log *log)
{
    double both = 0, squares[2] = {0};

    for (size_t i = 0; i < log->of.n; i++) {
        const struct stack_log_run *r = &log->of.v[i];
        double by[2];

        for (int w = 0; w < 2; w++)
            by[w] = log2(r->took[w]) - calib_mean_log_time(log, r->test, w);
        if (!isfinite(by[0]) || !isfinite(by[1]))
            continue;
        both += by[0] * by[1];
        for (int w = 0; w < 2; w++)
            squares[w] += by[w] * by[w];
    }
    double ret = both / sqrt(squares[0] * squares[1]);

    return ret > 0 ? fmin(ret, 1) : 0;
}

static void calib_put_conditions(struct wr_str *out, const struct draft *d)
{
    struct range servers = {0}, clients = {0}, call = {0}, bytes = {0};
    struct stack_band io = d->bands.io.high > 0 ? d->bands.io : (struct stack_band){1, 1};
    bool shared = false, own = false, random = false, collective = false;

    for (size_t i = 0; i < d->tests; i++) {
        const struct stack_log_test *t = stack_test_at(d->log, d->test[i]);

        calib_range_add(&servers, t->servers);
        calib_range_add(&clients, t->clients);
        calib_range_add(&call, t->transfer);
        calib_range_add(&bytes, t->bytes);
        shared |= t->shared;
        own |= !t->shared;
        random |= t->random;
        collective |= t->collective;
    }
    wr_str_addf(out,
                "at: {alone: true, servers_from: %" PRIu64 ", servers: %" PRIu64
                ", clients_from: %" PRIu64 ", clients: %" PRIu64 ", medium: %s, from: %" PRIu64
                " B, to: %" PRIu64 " B, process_from: %" PRIu64 " B, process_to: %" PRIu64 " B,\n"
                "     patterns: [%s%s%s%s], stagger_read: %.4g us, stagger_write: %.4g us, "
                "low: %.4g, high: %.4g, together: %.3g",
                servers.from, servers.to, clients.from, clients.to,
                d->shared ? "shared" : "switched", call.from, call.to, bytes.from, bytes.to,
                own ? "own" : "one", own && shared ? ", one" : "", random ? ", random" : "",
                collective ? ", collective" : "", calib_stagger_us(d, false, (uint32_t)clients.to),
                calib_stagger_us(d, true, (uint32_t)clients.to), io.low, io.high,
                calib_run_correlation(d->log));
    static const char *const ways[] = {"trust_sizes", "trust_setups", "trust_patterns"};

    for (int w = 0; w < CALIB_WAYS; w++)
        if (d->trust[w] > 0)
            wr_str_addf(out, ", %s: %.3g", ways[w], exp(d->trust[w]) - 1);
    wr_str_add(out, "}\n");
}

bool calib_put(struct wr_str *out, const struct draft *d, struct wr_err *err)
{
    assert(d->flows.knots > 1);
    const struct stack_log *log = d->log;
    const struct stack_fs *fs = log->fs;
    struct buffers buffers = calib_socket_buffers(log);
    double fastest =
        fmin(d->flows.slope_s[0][d->flows.knots - 1], d->flows.slope_s[1][d->flows.knots - 1]);

    (void)err;
    wr_str_addf(out,
                "title: \"%s\"\nsource: measured, %zu visits of states and %zu reads and "
                "writes of %zu tests\n",
                d->title, log->state.n, log->io.n, d->tests);
    calib_put_conditions(out, d);
    wr_str_addf(out,
                "link: {latency: %.4g us, bandwidth: %.4g MB/s, buffer_read: %.0f B, buffer_write: "
                "%.0f B, buffer_part: %.3g, queue_read: %.4g us, queue_write: %.4g us, parallel: "
                "%.4g, apart_read: %.3g, apart_write: %.3g}\n"
                "between: {client: %.4g us, server: %.4g us}\nstates:\n",
                calib_latency_us(log, d->base, true),
                fastest > 0 ? fmin(1e-6 / fastest, CALIB_FASTEST_LINK_MBPS)
                            : CALIB_DEFAULT_LINK_MBPS,
                buffers.bytes[0], buffers.bytes[1], buffers.part, d->queue_s[0] * 1e6,
                d->queue_s[1] * 1e6, d->shared ? d->flows.parallel : 0,
                calib_flow_spread(log, false), calib_flow_spread(log, true),
                calib_between_us(log, d->base, false), calib_between_us(log, d->base, true));
    for (size_t i = 0; i < fs->machine.n; i++)
        calib_put_machine(out, d, i);
    wr_str_add(out, wr_str_get(&d->states));
    for (size_t i = 0; i < fs->state.n; i++)
        for (int w = 0; fs->state.v[i].does == STACK_FLOW && w < 2; w++)
            calib_put_flow(out, d, (uint16_t)i, w);
    return true;
}

struct stack_timings *calib_open(const struct draft *d, struct wr_err *err)
{
    struct stack_timings *timings = NULL;
    struct wr_str text = {0};

    if (!calib_put(&text, d, err) ||
        !stack_timings_open_text(&timings, d->log->fs, "the models", text.s, text.n, err))
        timings = NULL;
    wr_str_fini(&text);
    return timings;
}

bool stack_io_median(const struct stack_log *log, bool writes, uint16_t test, double *ret)
{
    WR_VEC(float) v = {0};

    assert(test > 0 && test <= log->test.n);
    for (size_t i = 0; i < log->io.n; i++)
        if (log->io.v[i].writes == writes && log->io.v[i].test == test)
            wr_vec_push(&v, (float)log->io.v[i].seconds);
    bool any = v.n > 0;

    if (any)
        *ret = calib_median_or(v.v, v.n, NAN);
    wr_vec_fini(&v);
    return any;
}

/* The median time from a request for data to its first answer. */
static double calib_first_answer_s(const struct stack_log *log, bool writes, uint16_t test)
{
    const struct stack_fs *fs = log->fs;
    WR_VEC(float) v = {0};

    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];
        const struct stack_state *k = &fs->state.v[s->state];

        if (k->does == STACK_SEND && fs->machine.v[k->machine].moves && s->io == writes &&
            s->test == test && !s->server && s->took_us > 0)
            wr_vec_push(&v, s->took_us * 1e-6f);
    }
    double s = calib_median_or(v.v, v.n, NAN);

    wr_vec_fini(&v);
    return s;
}

/* What is tuned apart from the flows. `test` are the tests that are simulated for it.
 * [tests][machines]: `predicted` and `twice` are medians of functions, simulated with the slowdowns
 * of the draft and with 2 (0: none), `waits` whether waiting matters. first_answer_s are the
 * simulated times until the first answer to a request for data, of reads and writes. */
struct tuning {
    uint16_t test[CALIB_TUNED_TESTS];
    size_t tests;
    double *predicted, *twice;
    bool *waits;
    double first_answer_s[2][CALIB_TUNED_TESTS];
};

static bool calib_predict(struct draft *d, struct tuning *t, double *ret, struct wr_err *err)
{
    const struct stack_fs *fs = d->log->fs;
    struct stack_timings *timings = calib_open(d, err);
    bool ok = timings;

    assert(t->tests <= CALIB_TUNED_TESTS);
    for (size_t i = 0; ok && i < t->tests; i++) {
        struct stack_log run;

        ok = stack_replay_log(&run, d->log, timings, t->test[i], err);
        for (size_t m = 0; ok && m < fs->machine.n; m++) {
            double *at = &ret[i * fs->machine.n + m];

            if (!calib_is_tunable(fs, (uint16_t)m) ||
                !stack_op_median(&run, (uint16_t)m, 2, t->test[i], at))
                *at = 0;
        }
        for (int w = 0; ok && w < 2; w++)
            t->first_answer_s[w][i] = calib_first_answer_s(&run, w, t->test[i]);
        if (ok)
            stack_log_fini(&run);
    }
    stack_timings_close(timings);
    return ok;
}

/* Measured over predicted time of a machine: the median over the tests where waiting matters. */
static double calib_slowdown_error(const struct draft *d, const struct tuning *t, uint16_t m)
{
    size_t machines = d->log->fs->machine.n, n = 0;
    float v[CALIB_TUNED_TESTS];

    for (size_t i = 0; i < t->tests; i++) {
        double measured, was = t->predicted[i * machines + m];

        if (t->waits[i * machines + m] && was > 0 &&
            stack_op_median(d->log, m, 2, t->test[i], &measured))
            v[n++] = (float)(measured / was);
    }
    return calib_median_or(v, n, NAN);
}

/* Operations that were not measured get the median slowdown of those that were. */
static void calib_fill_slowdowns(struct draft *d)
{
    const struct stack_fs *fs = d->log->fs;
    float *v = wr_zalloc(fs->machine.n + 1, sizeof *v);
    size_t n = 0;

    for (size_t m = 0; m < fs->machine.n; m++)
        if (d->slowdown[m] > 0 && fs->machine.v[m].side == STACK_CLIENT)
            v[n++] = (float)d->slowdown[m];
    double usual = calib_median_or(v, n, 0);

    for (size_t m = 0; m < fs->machine.n; m++)
        if (calib_is_tunable(fs, (uint16_t)m) && fs->machine.v[m].side == STACK_CLIENT &&
            !(d->slowdown[m] > 0))
            d->slowdown[m] = usual;
    free(v);
}

/* The median of measured minus predicted time until the first answer to a request for data. */
static double calib_queue_error(const struct draft *d, const struct tuning *t, bool writes)
{
    float v[CALIB_TUNED_TESTS];
    size_t n = 0;

    for (size_t i = 0; i < t->tests; i++) {
        double by = calib_first_answer_s(d->log, writes, t->test[i]) - t->first_answer_s[writes][i];

        if (!isnan(by))
            v[n++] = (float)by;
    }
    return calib_median_or(v, n, 0);
}

/* A request that is sent while other clients move data queues behind those data, on the way there
 * and back. Half of the missing time is tried; where it has no effect, there is no queue. */
static bool calib_tune_queue(struct draft *d, struct tuning *t, struct wr_err *err)
{
    double by[2];

    for (int w = 0; w < 2; w++) {
        by[w] = calib_queue_error(d, t, w);
        d->queue_s[w] = fmax(by[w] / 2, 0);
    }
    if (!calib_predict(d, t, t->predicted, err))
        return false;
    for (int w = 0; w < 2; w++) {
        double gain = 1 - calib_queue_error(d, t, w) / by[w];

        d->queue_s[w] = gain > CALIB_QUEUE_GAIN && by[w] > 0 ? d->queue_s[w] / gain : 0;
    }
    return calib_predict(d, t, t->predicted, err);
}

/* On a busy node operations wait longer than servers and network take; the factor is found by
 * simulation. First without a slowdown, then with 2, to see where waiting matters; then each
 * slowdown is multiplied by measured / predicted in every round. */
static bool calib_tune_slowdowns(struct draft *d, struct tuning *t, struct wr_err *err)
{
    const struct stack_fs *fs = d->log->fs;
    size_t n = fs->machine.n;
    bool ok = calib_predict(d, t, t->predicted, err) && calib_tune_queue(d, t, err);

    for (size_t m = 0; m < n; m++)
        d->slowdown[m] = calib_is_tunable(fs, (uint16_t)m) ? 2 : 0;
    ok = ok && calib_predict(d, t, t->twice, err);
    for (size_t i = 0; i < t->tests * n; i++)
        t->waits[i] = t->twice[i] > CALIB_WAIT_MATTERS * t->predicted[i];
    for (size_t m = 0; m < n; m++)
        d->slowdown[m] = d->slowdown[m] > 0 ? 1 : 0;
    for (int round = 0; ok && round < CALIB_SLOWDOWN_ROUNDS; round++) {
        for (size_t m = 0; m < n; m++) {
            double by = d->slowdown[m] > 0 ? calib_slowdown_error(d, t, (uint16_t)m) : NAN;

            if (isnan(by))
                d->slowdown[m] = 0;
            else
                d->slowdown[m] =
                    fmin(fmax(d->slowdown[m] * by, CALIB_LEAST_SLOWDOWN), CALIB_MOST_SLOWDOWN);
        }
        ok = calib_predict(d, t, t->predicted, err);
    }
    calib_fill_slowdowns(d);
    return ok;
}

/* The tests for tuning: those with few calls, evenly chosen among many. */
static void calib_choose_tests(struct tuning *t, const struct draft *d)
{
    size_t n = 0;
    uint16_t *v = wr_zalloc(d->tests + 1, sizeof *v);

    assert(d->tests > 0);
    for (size_t i = 0; i < d->tests; i++)
        if (stack_test_at(d->log, d->test[i])->calls <= CALIB_MOST_CALLS)
            v[n++] = d->test[i];
    if (!n)
        v[n++] = d->test[0];
    t->tests = n < CALIB_TUNED_TESTS ? n : CALIB_TUNED_TESTS;
    for (size_t i = 0; i < t->tests; i++)
        t->test[i] = v[i * n / t->tests];
    free(v);
}

static bool calib_tune(struct draft *d, struct wr_err *err)
{
    size_t n = d->log->fs->machine.n;
    struct tuning t = {0};

    calib_choose_tests(&t, d);
    t.predicted = wr_zalloc(t.tests * n + 1, sizeof *t.predicted);
    t.twice = wr_zalloc(t.tests * n + 1, sizeof *t.twice);
    t.waits = wr_zalloc(t.tests * n + 1, sizeof *t.waits);
    bool ok = calib_tune_slowdowns(d, &t, err);

    free(t.predicted);
    free(t.twice);
    free(t.waits);
    return ok;
}

/* The flows are fitted twice: they determine how long operations queue behind data, and the tuned
 * operations have a small effect on the flows. */
bool calib_draft(struct draft *ret, const struct stack_log *log, const struct stack_timings *base,
                 const char *title, bool shared, struct wr_err *err)
{
    struct draft d = {.log = log, .base = base, .title = title, .shared = shared};

    for (int i = 0; i < CALIB_WAYS; i++)
        d.trust[i] = NAN;
    d.test = stack_log_tests(log, &d.tests);
    d.slowdown = wr_zalloc(log->fs->machine.n + 1, sizeof *d.slowdown);
    for (size_t i = 0; i < log->fs->state.n; i++)
        calib_put_state(&d.states, log, base, (uint16_t)i);
    bool ok = calib_flows_fit(&d, err) && (!log->op.n || calib_tune(&d, err));

    d.tuned = true;
    if (!ok || !calib_flows_fit(&d, err)) {
        calib_draft_fini(&d);
        return false;
    }
    *ret = d;
    return true;
}

void calib_draft_fini(struct draft *d)
{
    wr_str_fini(&d->states);
    free((void *)d->test);
    free(d->slowdown);
    for (int i = 0; i < 3; i++)
        free(d->bands.of[i]);
}
