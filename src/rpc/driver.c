/* driver.c -- one client under a load: issues calls, checks the data, counts what was answered.
 *
 * Used by workers (worker.c) and benchmarks. A struct rpc_driver is opened once and runs loads one
 * after the other. Invariant: an answer counts only if it belongs to the present load (its turn is
 * in the cookie) and arrives inside the window.
 */
#include "rpc/driver.h"

#include <assert.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"

enum { SAMPLES = 64, WHOLE = 2, GONE_NS = 200000000, DRAIN_NS = 2000000000, DRAIN_STEPS = 20 };
#define POISON UINT64_C(0xdeadbeefdeadbeef)
#define ASKED UINT64_MAX /* cookie of a question that is no part of a load */

/* One of `depth` calls that a load keeps in flight. */
/* One of the calls that may be in flight at a time. */
struct place {
    uint64_t sent_ns, due_ns; /* due: when the next call may start */
    uint64_t at;              /* in the server's storage */
    uint32_t calls;           /* so far; the data of the first ones are checked as a whole */
    bool busy;                /* in flight */
};

/* A client under load. */
struct rpc_driver {
    /* set up by rpc_driver_open() */
    struct rpc_client *client;
    struct rpc_opts o;
    struct place *place;              /* o.depth of them */
    uint8_t payload[RPC_INLINE_MOST]; /* of noops */
    /* of the load that runs */
    const struct rpc_load *load;
    struct rpc_seen *seen;             /* what is counted */
    struct wr_rng rng;                 /* of sizes, places and arrivals */
    uint64_t now_ns;                   /* monotonic; 0: not known in this step */
    uint64_t from_ns, to_ns, first_ns; /* the window that is counted; the load's begin */
    uint64_t next_arrival_ns;          /* of an open load: when the next call is due */
    uint32_t turn; /* of loads: an answer that comes in the next one is not taken for its own */
    bool issuing;  /* calls are still begun; else only answers are awaited */
    bool flows;    /* goes_on(load) */
    struct rpc_used used; /* the server's answer ... */
    bool asking;          /* ... which is awaited */
};

uint64_t rpc_realtime_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- what the bytes should be ---- */

static bool driver_is_bulk(enum rpc_op op)
{
    return op != RPC_OP_NOOP;
}

static uint8_t *driver_memory(const struct rpc_driver *d, uint32_t k)
{
    return rpc_client_bulk(d->client) + k * d->load->size_b;
}

static uint64_t driver_expected(const struct rpc_driver *d, const struct place *p, uint64_t offset)
{
    return d->load->op == RPC_OP_GET ? rpc_pattern(offset) : rpc_storage_pattern(p->at + offset);
}

static uint64_t driver_sample_at(const struct rpc_driver *d, uint32_t k)
{
    return (d->load->size_b - 8) / SAMPLES * k / 8 * 8;
}

static bool driver_fetches(enum rpc_op op)
{
    return op == RPC_OP_GET || op == RPC_OP_SREAD;
}

/* Spoil what will be looked at, or write what will be taken. */
static void driver_prepare(struct rpc_driver *d, uint32_t k)
{
    const struct rpc_load *l = d->load;
    struct place *p = &d->place[k];
    uint8_t *at = driver_memory(d, k);
    uint64_t poison = POISON;

    if (driver_fetches(l->op) && l->size_b >= 8)
        for (uint32_t i = 0; i < SAMPLES; i++)
            memcpy(at + driver_sample_at(d, i), &poison, 8);
    if (l->op == RPC_OP_SWRITE && l->size_b < 1 << 20)
        for (size_t i = 0; i + 8 <= l->size_b; i += 8) {
            uint64_t v = rpc_storage_pattern(p->at + i);

            memcpy(at + i, &v, 8);
        }
}

static bool driver_check_data(const struct rpc_driver *d, uint32_t k)
{
    const struct place *p = &d->place[k];
    const uint8_t *at = driver_memory(d, k);
    uint64_t v;

    if (d->load->size_b < 8)
        return true;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        memcpy(&v, at + driver_sample_at(d, i), 8);
        if (v != driver_expected(d, p, driver_sample_at(d, i)))
            return false;
    }
    for (size_t i = 0; p->calls <= WHOLE && i + 8 <= d->load->size_b; i += 8) {
        memcpy(&v, at + i, 8);
        if (v != driver_expected(d, p, i))
            return false;
    }
    return true;
}

/* ---- calls ---- */

static uint64_t driver_now(struct rpc_driver *d)
{
    if (!d->now_ns)
        d->now_ns = wr_clock_ns();
    return d->now_ns;
}

static void driver_start_call(struct rpc_driver *d, uint32_t k, uint64_t since_ns)
{
    const struct rpc_load *l = d->load;
    struct place *p = &d->place[k];

    assert(!p->busy);
    struct rpc_call call = {.op = l->op, .cookie = (uint64_t)d->turn << 32 | k};

    if (!driver_is_bulk(l->op)) {
        call.payload = d->payload;
        call.len = (uint32_t)l->size_b;
    } else {
        if (l->op == RPC_OP_SREAD || l->op == RPC_OP_SWRITE)
            p->at = wr_rng_u64(&d->rng) % (l->storage_b / l->size_b) * l->size_b;
        call.at = k * l->size_b;
        call.bulk_len = l->size_b;
        call.place = p->at;
        driver_prepare(d, k);
    }
    p->sent_ns = since_ns;
    p->busy = true;
    p->calls++;
    rpc_client_start(d->client, &call);
}

static void driver_count(struct rpc_driver *d, uint64_t at_ns, uint64_t latency_ns)
{
    const struct rpc_load *l = d->load;
    struct rpc_seen *s = d->seen;

    if (at_ns < d->from_ns || at_ns >= d->to_ns)
        return;
    s->calls++;
    s->bytes += l->size_b;
    wr_hist_add(&s->latency_ps, 1000 * latency_ns);
    if (l->slice_ns) {
        uint64_t k = (at_ns - d->from_ns) / l->slice_ns;

        if (k < RPC_SLICES)
            s->slice_calls[k]++;
    }
}

/* A closed loop without pauses: an answer is followed by the next call at once. */
static bool driver_is_closed_loop(const struct rpc_load *l)
{
    return !(l->rate > 0) && !l->think_ns && !l->off_ns;
}

static void driver_check_answer(struct rpc_driver *d, uint32_t k, enum rpc_status status,
                                const void *payload, uint32_t len)
{
    if (status == RPC_BAD_DATA)
        d->seen->bad_data++;
    else if (status != RPC_OK)
        d->seen->failed++;
    else if (!driver_is_bulk(d->load->op))
        d->seen->bad_data += len != d->load->size_b || memcmp(payload, d->payload, len) != 0;
    else if (driver_fetches(d->load->op))
        d->seen->bad_data += !driver_check_data(d, k);
}

static void driver_on_done(void *ctx, uint64_t cookie, enum rpc_status status, const void *payload,
                           uint32_t len)
{
    struct rpc_driver *d = ctx;
    uint32_t k = (uint32_t)cookie;

    if (cookie == ASKED) {
        d->asking = status != RPC_OK || len != sizeof d->used;
        if (!d->asking)
            memcpy(&d->used, payload, len);
        return;
    }
    if (cookie >> 32 != d->turn)
        return;
    struct place *p = &d->place[k];
    uint64_t sent = p->sent_ns;
    /* The server can begin with the next call while we look at the answer to this one. */
    bool early = d->issuing && d->flows && !driver_is_bulk(d->load->op);

    p->busy = false;
    if (early)
        driver_start_call(d, k, sent);
    if (sent == d->now_ns) /* asked and answered in one step: time passed all the same */
        d->now_ns = 0;
    uint64_t t = driver_now(d);

    if (status == RPC_OK)
        driver_count(d, t, t - sent);
    driver_check_answer(d, k, status, payload, len);
    d->issuing = d->issuing && t < d->to_ns;
    if (early)
        p->sent_ns = t;
    else if (d->issuing && d->flows)
        driver_start_call(d, k, t);
    else
        p->due_ns = t + d->load->think_ns;
}

/* ---- when to call ---- */

static bool driver_in_burst(const struct rpc_driver *d, uint64_t t)
{
    const struct rpc_load *l = d->load;

    return !l->off_ns || (t - d->first_ns) % (l->on_ns + l->off_ns) < l->on_ns;
}

static void driver_sleep(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    nanosleep(&t, NULL);
}

/* Starts whatever is due; how long there is nothing to start (0: something was started). */
static uint64_t driver_start_due(struct rpc_driver *d, uint64_t t)
{
    const struct rpc_load *l = d->load;
    uint64_t wait = UINT64_MAX;
    bool started = false;

    if (!driver_in_burst(d, t))
        return l->on_ns + l->off_ns - (t - d->first_ns) % (l->on_ns + l->off_ns);
    for (uint32_t k = 0; k < l->depth; k++) {
        struct place *p = &d->place[k];
        uint64_t due = l->rate > 0 ? d->next_arrival_ns : p->due_ns;

        if (p->busy)
            continue;
        if (due > t) {
            wait = due - t < wait ? due - t : wait;
            continue;
        }
        /* In an open loop a call that had to wait for a place has waited. */
        driver_start_call(d, k, l->rate > 0 ? due : t);
        started = true;
        if (l->rate > 0)
            d->next_arrival_ns += (uint64_t)(wr_rng_exp(&d->rng) * 1e9 / l->rate);
    }
    return started ? 0 : wait;
}

static void driver_wait(struct rpc_driver *d, uint64_t idle_ns, uint64_t end_ns)
{
    uint64_t t = driver_now(d), left = end_ns > t ? end_ns - t : 0;

    d->now_ns = 0; /* it will be later, whatever happens */
    idle_ns = idle_ns < left ? idle_ns : left;
    if (!rpc_client_under_way(d->client)) {
        if (idle_ns > 100000)
            driver_sleep(idle_ns - 50000);
        else if (d->o.oversubscribed && !d->load->alone)
            sched_yield();
        return;
    }
    rpc_client_step(d->client, idle_ns < 50000000 ? idle_ns + 1 : 50000000);
}

static bool driver_server_gone(struct rpc_driver *d, uint64_t t, uint64_t *last_answer_ns,
                               uint64_t *answers)
{
    uint64_t n = d->seen->latency_ps.n + d->seen->failed + rpc_client_under_way(d->client);

    if (n != *answers || !rpc_client_under_way(d->client)) {
        *answers = n;
        *last_answer_ns = t;
        return false;
    }
    if (t - *last_answer_ns < GONE_NS)
        return false;
    *last_answer_ns = t;
    return !rpc_client_server_alive(d->client);
}

/* Waits for an answer. What time it was then is known, and where nothing depends on when the next
 * call begins need not be asked for again. True: there was none. */
static bool driver_await_answer(struct rpc_driver *d)
{
    d->now_ns = 0;
    bool none = !rpc_client_step(d->client, 50000000);

    rpc_client_flush(d->client);
    if (!d->flows)
        d->now_ns = 0;
    return none;
}

/* Until the window is over; closed loops without pauses restart inside on_done. */
static void driver_run_window(struct rpc_driver *d, bool (*stop)(void))
{
    uint64_t last_answer = wr_clock_ns(), answers = 0;
    uint32_t rounds = 0;
    bool quiet = false; /* nothing came just now: it may have been a long wait */

    d->issuing = true;
    d->now_ns = 0;
    for (;;) {
        uint64_t t = driver_now(d);

        if (t >= d->to_ns)
            break;
        if ((quiet || !(++rounds & 63)) &&
            ((stop && stop()) || driver_server_gone(d, t, &last_answer, &answers))) {
            d->seen->stopped = stop && stop();
            d->seen->server_gone = !d->seen->stopped;
            break;
        }
        uint64_t idle = driver_start_due(d, t);

        rpc_client_flush(d->client);
        d->now_ns = 0;
        if (idle == UINT64_MAX)
            quiet = driver_await_answer(d);
        else if (idle) {
            driver_wait(d, idle, d->to_ns);
            quiet = rpc_client_under_way(d->client);
        }
    }
    d->issuing = false;
}

/* Two seconds, and some steps even if we ourselves were stopped for most of them. */
static bool driver_may_wait(uint64_t begun_ns, uint32_t vain)
{
    return vain < DRAIN_STEPS || wr_clock_ns() - begun_ns < DRAIN_NS;
}

static void driver_drain(struct rpc_driver *d)
{
    uint64_t begun = wr_clock_ns();
    uint32_t vain = 0;

    while (rpc_client_under_way(d->client) && driver_may_wait(begun, vain) &&
           !d->seen->server_gone) {
        d->now_ns = 0;
        if (rpc_client_step(d->client, 10000000))
            continue;
        vain++;
        if (wr_clock_ns() - begun > GONE_NS && !rpc_client_server_alive(d->client))
            d->seen->server_gone = true;
    }
    d->seen->unanswered = rpc_client_under_way(d->client);
}

/* All clients begin at the same moment, however late the command reached them. */
static void driver_await_start(struct rpc_driver *d)
{
    const struct rpc_load *l = d->load;
    uint64_t real;

    while ((real = rpc_realtime_ns()) + 1000000 < l->start_ns)
        driver_sleep(l->start_ns - real - 1000000);
    while ((real = rpc_realtime_ns()) < l->start_ns)
        sched_yield();
    uint64_t late = l->start_ns ? real - l->start_ns : 0;

    d->first_ns = wr_clock_ns() - late;
    d->from_ns = d->first_ns + l->warm_ns;
    d->to_ns = d->from_ns + l->measure_ns;
    d->next_arrival_ns = d->first_ns;
    d->seen->late_ns = late > l->warm_ns ? late - l->warm_ns : 0;
}

/* How much of the window there was from `from_ns` on. */
static uint64_t driver_window_since(const struct rpc_driver *d, uint64_t from_ns, uint64_t end_ns)
{
    uint64_t to = end_ns < d->to_ns ? end_ns : d->to_ns;

    return to < from_ns ? 0 : to - from_ns;
}

/* A server that stopped for long may still answer calls of an earlier load, and write to the memory
 * that they named: before that nothing begins. */
void rpc_drive(struct rpc_driver *d, const struct rpc_load *load, struct rpc_seen *ret,
               bool (*stop)(void))
{
    assert(load->depth && load->depth <= d->o.depth);
    assert(driver_is_bulk(load->op) ? load->size_b * load->depth <= d->o.bulk_b
                                    : load->size_b <= sizeof d->payload);
    assert(!load->off_ns || load->on_ns);
    d->load = load;
    d->turn = (d->turn + 1) & INT32_MAX; /* with which no cookie is ASKED */
    d->flows = driver_is_closed_loop(load);
    d->seen = ret;
    memset(ret, 0, sizeof *ret);
    memset(d->place, 0, d->o.depth * sizeof *d->place);
    wr_rng_init(&d->rng, load->seed, 0, 7);
    driver_drain(d);
    if (ret->unanswered)
        return;
    uint8_t *bulk = rpc_client_bulk(d->client);

    if (driver_is_bulk(load->op) && !driver_fetches(load->op))
        for (uint32_t k = 0; k < load->depth; k++)
            for (size_t i = 0; i + 8 <= load->size_b; i += 8) {
                uint64_t v = load->op == RPC_OP_PUT ? rpc_pattern(i) : rpc_storage_pattern(i);

                memcpy(bulk + k * load->size_b + i, &v, 8);
            }
    rpc_client_set_oversubscribed(d->client, d->o.oversubscribed && !load->alone);
    driver_await_start(d);
    struct rpc_usage before = rpc_usage_now();

    driver_run_window(d, stop);
    uint64_t end = wr_clock_ns();
    struct rpc_usage after = rpc_usage_now();

    ret->user_ns = after.user_ns - before.user_ns;
    ret->sys_ns = after.sys_ns - before.sys_ns;
    ret->cpu_ns = ret->user_ns + ret->sys_ns;
    ret->switches = after.switches - before.switches;
    ret->forced_switches = after.forced_switches - before.forced_switches;
    ret->elapsed_ns = driver_window_since(d, d->from_ns + ret->late_ns, end);
    if (load->slice_ns) {
        uint64_t n =
            (driver_window_since(d, d->from_ns, end) + load->slice_ns - 1) / load->slice_ns;

        ret->nslices = n < RPC_SLICES ? (uint32_t)n : RPC_SLICES;
    }
    driver_drain(d);
}

bool rpc_driver_ask(struct rpc_driver *d, struct rpc_used *ret)
{
    struct rpc_call call = {.op = RPC_OP_USAGE, .cookie = ASKED};
    uint64_t begun = wr_clock_ns();
    uint32_t vain = 0;

    d->asking = true;
    if (!rpc_client_start(d->client, &call))
        return false;
    rpc_client_flush(d->client);
    while (d->asking && rpc_client_under_way(d->client) && driver_may_wait(begun, vain))
        if (!rpc_client_step(d->client, 10000000)) {
            vain++;
            if (!rpc_client_server_alive(d->client))
                break;
        }
    if (d->asking)
        return false;
    *ret = d->used;
    return true;
}

bool rpc_driver_open(struct rpc_driver **ret, const struct rpc_opts *o, const char *address,
                     struct wr_err *err)
{
    struct rpc_driver *d = wr_zalloc(1, sizeof *d);

    d->o = *o;
    d->place = wr_zalloc(o->depth, sizeof *d->place);
    for (size_t i = 0; i < sizeof d->payload; i++)
        d->payload[i] = (uint8_t)(i * 31 + 7);
    if (!rpc_client_open(&d->client, o, address, driver_on_done, d, err)) {
        rpc_driver_close(d);
        return false;
    }
    *ret = d;
    return true;
}

void rpc_driver_close(struct rpc_driver *d)
{
    if (!d)
        return;
    rpc_client_close(d->client);
    free(d->place);
    free(d);
}

struct rpc_client *rpc_driver_client(struct rpc_driver *d)
{
    return d->client;
}
