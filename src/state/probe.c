/* probe.c -- probes storage paths: one thread per target, one queue of results.
 *
 * The caller's thread takes results from the queue. A thread that hangs in a system call is not
 * waited for: it is detached, and the last user of struct probe_pool frees it.
 * Invariant: queue, users, ending and the busy_ fields of workers change under `lock` only.
 */
#include "state/probe.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "target_priv.h"

enum { QUEUE = 256, WORDS = 256 };

struct entry {
    struct state_probe_result r;
    char words[WORDS];
};

struct worker {
    struct probe_pool *pool;
    size_t index;
    struct target target;
    uint64_t busy_since_ns; /* 0: idle; under the lock, as what follows */
    int64_t busy_unix_ns;
    bool reading, reported, done;
};

/* The pool of workers, shared by all threads. The last user frees it, because a thread that hangs
 * may end much later. Fields after the lock change under it, but for o and begin_ns. */
struct probe_pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct entry queue[QUEUE];
    size_t head, count, users, n;
    bool ending;
    uint64_t begin_ns;
    struct state_probe_opts o;
    struct worker *workers;
};

static void probe_leave(struct probe_pool *c)
{
    pthread_mutex_lock(&c->lock);
    bool last = !--c->users;

    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (!last)
        return;
    for (size_t i = 0; i < c->n; i++)
        target_close(&c->workers[i].target);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->changed);
    free(c->workers);
    free(c);
}

/* Results are never waited for: when the caller is far behind, the oldest are lost. */
static void probe_put(struct probe_pool *c, const struct state_probe_result *r, const char *words)
{
    pthread_mutex_lock(&c->lock);
    if (c->count == QUEUE) {
        c->head++;
        c->count--;
    }
    struct entry *e = &c->queue[(c->head + c->count++) % QUEUE];

    e->r = *r;
    snprintf(e->words, sizeof e->words, "%.*s", WORDS - 1, words ? words : "");
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

int64_t state_wall_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void probe_set_time(const struct probe_pool *c, struct state_probe_result *r)
{
    r->unix_ns = (int64_t)wr_clock_ns() + c->o.mono_to_unix_ns;
    r->clock_step_ns = c->o.wall_ns() - r->unix_ns;
}

static double probe_thread_cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* NULL: it is over. */
static void probe_set_busy(struct worker *w, const struct state_probe_result *r)
{
    pthread_mutex_lock(&w->pool->lock);
    w->busy_since_ns = r ? wr_clock_ns() : 0;
    w->busy_unix_ns = r ? r->unix_ns : 0;
    w->reading = r && r->read;
    w->reported = false;
    pthread_mutex_unlock(&w->pool->lock);
}

static void probe_once(struct worker *w, uint64_t number)
{
    struct state_probe_result r = {.target = w->index, .direct = w->target.direct};
    struct wr_err err = {0};

    for (int read = 0; read < 2; read++) {
        double cpu = probe_thread_cpu_s();

        r.read = read;
        probe_set_time(w->pool, &r);
        probe_set_busy(w, &r);
        bool ok = read ? target_read(&w->target, &r.latency_s, &err)
                       : target_write(&w->target, number, &r.latency_s, &err);

        probe_set_busy(w, NULL);
        r.kind = !ok ? STATE_PROBE_FAILED : read ? STATE_PROBE_READ : STATE_PROBE_WRITE;
        r.cost_s = probe_thread_cpu_s() - cpu;
        probe_put(w->pool, &r, ok ? NULL : err.text);
        if (!ok)
            return;
    }
}

/* False: the end came first. */
static bool probe_wait_until(struct probe_pool *c, uint64_t when_ns)
{
    bool go;

    pthread_mutex_lock(&c->lock);
    for (;;) {
        uint64_t now = wr_clock_ns();

        go = !c->ending;
        if (!go || now >= when_ns)
            break;
        struct timespec until;
        uint64_t wait = when_ns - now;

        clock_gettime(CLOCK_MONOTONIC, &until);
        wait += (uint64_t)until.tv_nsec;
        until.tv_sec += (time_t)(wait / 1000000000);
        until.tv_nsec = (long)(wait % 1000000000);
        pthread_cond_timedwait(&c->changed, &c->lock, &until);
    }
    pthread_mutex_unlock(&c->lock);
    return go;
}

static void *probe_work(void *arg)
{
    struct worker *w = arg;
    struct probe_pool *c = w->pool;
    struct wr_rng g;

    wr_rng_init(&g, c->o.seed, (uint32_t)w->index, 0x7072);
    uint64_t done = 0;

    for (uint64_t i = 0; !c->o.most || done < c->o.most; i++, done++) {
        double at = ((double)i + c->o.jitter * (wr_rng_unit(&g) - (i ? 0.5 : 0))) * c->o.interval_s;

        if (!probe_wait_until(c, c->begin_ns + (uint64_t)fmax(at * 1e9, 0)))
            break;
        /* After a hang, go on with the next that is due; do not catch up. */
        uint64_t due = (uint64_t)((double)(wr_clock_ns() - c->begin_ns) / 1e9 / c->o.interval_s);

        i = due > i ? due : i;
        probe_once(w, i);
    }
    pthread_mutex_lock(&c->lock);
    w->done = true;
    pthread_mutex_unlock(&c->lock);
    probe_leave(c);
    return NULL;
}

static bool probe_open_all(struct probe_pool *c, const struct state_target *targets,
                           struct wr_err *err)
{
    for (size_t i = 0; i < c->n; i++) {
        struct worker *w = &c->workers[i];

        *w = (struct worker){.pool = c, .index = i};
        if (!target_open(&w->target, targets[i].text, (size_t)c->o.bytes, c->o.devices, err)) {
            c->n = i;
            return false;
        }
    }
    return true;
}

static struct probe_pool *probe_open(const struct state_target *targets, size_t n,
                                     const struct state_probe_opts *opts, struct wr_err *err)
{
    struct probe_pool *c = wr_zalloc(1, sizeof *c);
    pthread_condattr_t attr;

    c->o = *opts;
    c->o.hang_s = c->o.hang_s > 0 ? c->o.hang_s : 30;
    c->n = n;
    c->users = 1;
    c->workers = wr_zalloc(n, sizeof *c->workers);
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &attr);
    pthread_condattr_destroy(&attr);
    if (!probe_open_all(c, targets, err)) {
        probe_leave(c);
        return NULL;
    }
    c->begin_ns = wr_clock_ns();
    if (!c->o.wall_ns)
        c->o.wall_ns = state_wall_ns;
    if (!c->o.mono_to_unix_ns)
        c->o.mono_to_unix_ns = c->o.wall_ns() - (int64_t)c->begin_ns;
    return c;
}

static bool probe_start_all(struct probe_pool *c, struct wr_err *err)
{
    for (size_t i = 0; i < c->n; i++) {
        pthread_t t;

        pthread_mutex_lock(&c->lock);
        bool started = !pthread_create(&t, NULL, probe_work, &c->workers[i]);

        c->users += started;
        pthread_mutex_unlock(&c->lock);
        if (!started)
            return wr_fail(err, WR_SYSTEM, "cannot start a thread; probe fewer targets at once");
        pthread_detach(t);
    }
    return true;
}

/* One result, or word of a hang; false when there is nothing yet. */
static bool probe_next_result(struct probe_pool *c, struct entry *ret)
{
    uint64_t now = wr_clock_ns();
    bool found = c->count > 0;

    if (found) {
        *ret = c->queue[c->head % QUEUE];
        c->head++;
        c->count--;
    }
    for (size_t i = 0; !found && i < c->n; i++) {
        struct worker *w = &c->workers[i];

        if (!w->busy_since_ns || w->reported ||
            (double)(now - w->busy_since_ns) < c->o.hang_s * 1e9)
            continue;
        *ret = (struct entry){.r = {.target = i,
                                    .kind = STATE_PROBE_HANGS,
                                    .read = w->reading,
                                    .unix_ns = w->busy_unix_ns}};
        ret->r.latency_s = (double)(now - w->busy_since_ns) / 1e9;
        w->reported = found = true;
    }
    return found;
}

static bool probe_all_done(const struct probe_pool *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (!c->workers[i].done)
            return false;
    return true;
}

/* A short wait, which a result ends. */
static void probe_await_result(struct probe_pool *c)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 50000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&c->changed, &c->lock, &until);
}

bool state_probe_run(const struct state_target *targets, size_t n,
                     const struct state_probe_opts *opts,
                     bool (*take)(void *arg, const struct state_probe_result *r,
                                  struct wr_err *err),
                     void *arg, struct wr_err *err)
{
    assert(n && opts->interval_s > 0 && take);
    struct probe_pool *c = probe_open(targets, n, opts, err);

    if (!c)
        return false;
    bool ok = probe_start_all(c, err);
    uint64_t end_ns =
        opts->length_s > 0 ? c->begin_ns + (uint64_t)(opts->length_s * 1e9) : UINT64_MAX;
    uint64_t give_up_ns = 0;

    pthread_mutex_lock(&c->lock);
    for (;;) {
        struct entry e;

        if (ok && probe_next_result(c, &e)) {
            pthread_mutex_unlock(&c->lock);
            e.r.words = e.words;
            ok = take(arg, &e.r, err);
            pthread_mutex_lock(&c->lock);
            continue;
        }
        if (!ok || probe_all_done(c))
            break;
        if (!c->ending && (wr_clock_ns() >= end_ns || (opts->stop && opts->stop()))) {
            c->ending = true;
            give_up_ns = wr_clock_ns() + 2000000000u; /* for what is under way */
            pthread_cond_broadcast(&c->changed);
        }
        if (c->ending && wr_clock_ns() >= give_up_ns)
            break;
        probe_await_result(c);
    }
    c->ending = true;
    pthread_mutex_unlock(&c->lock);
    probe_leave(c);
    return ok;
}
