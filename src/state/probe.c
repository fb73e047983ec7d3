#include "state/probe.h"

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
    struct crew *crew;
    size_t index;
    struct target target;
    uint64_t busy_since_ns; /* 0: idle; under the lock, as what follows */
    int64_t busy_unix_ns;
    bool reading, told, done;
};

/* Shared by all threads; the last to leave frees it, because a hung one may leave much later. */
struct crew {
    pthread_mutex_t lock;
    pthread_cond_t news;
    struct entry queue[QUEUE];
    size_t head, count, users, n;
    bool ending;
    uint64_t begin_ns;
    struct state_probe_opts o;
    struct worker *workers;
};

static void leave(struct crew *c)
{
    pthread_mutex_lock(&c->lock);
    bool last = !--c->users;

    pthread_cond_broadcast(&c->news);
    pthread_mutex_unlock(&c->lock);
    if (!last)
        return;
    for (size_t i = 0; i < c->n; i++)
        target_close(&c->workers[i].target);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->news);
    free(c->workers);
    free(c);
}

/* Results are never waited for: when the caller is far behind, the oldest are lost. */
static void put(struct crew *c, const struct state_probe_result *r, const char *words)
{
    pthread_mutex_lock(&c->lock);
    if (c->count == QUEUE) {
        c->head++;
        c->count--;
    }
    struct entry *e = &c->queue[(c->head + c->count++) % QUEUE];

    e->r = *r;
    snprintf(e->words, sizeof e->words, "%.*s", WORDS - 1, words ? words : "");
    pthread_cond_broadcast(&c->news);
    pthread_mutex_unlock(&c->lock);
}

int64_t state_wall_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void set_time(const struct crew *c, struct state_probe_result *r)
{
    r->unix_ns = (int64_t)wr_clock_ns() + c->o.mono_to_unix_ns;
    r->clock_step_ns = c->o.wall_ns() - r->unix_ns;
}

static double thread_cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* NULL: it is over. */
static void set_busy(struct worker *w, const struct state_probe_result *r)
{
    pthread_mutex_lock(&w->crew->lock);
    w->busy_since_ns = r ? wr_clock_ns() : 0;
    w->busy_unix_ns = r ? r->unix_ns : 0;
    w->reading = r && r->read;
    w->told = false;
    pthread_mutex_unlock(&w->crew->lock);
}

static void one_probe(struct worker *w, uint64_t number)
{
    struct state_probe_result r = {.target = w->index, .direct = w->target.direct};
    struct wr_err err = {0};

    for (int read = 0; read < 2; read++) {
        double cpu = thread_cpu_s();

        r.read = read;
        set_time(w->crew, &r);
        set_busy(w, &r);
        bool ok = read ? target_read(&w->target, &r.latency_s, &err)
                       : target_write(&w->target, number, &r.latency_s, &err);

        set_busy(w, NULL);
        r.kind = !ok ? STATE_PROBE_FAILED : read ? STATE_PROBE_READ : STATE_PROBE_WRITE;
        r.cost_s = thread_cpu_s() - cpu;
        put(w->crew, &r, ok ? NULL : err.text);
        if (!ok)
            return;
    }
}

/* False: the end came first. */
static bool wait_until(struct crew *c, uint64_t when_ns)
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
        pthread_cond_timedwait(&c->news, &c->lock, &until);
    }
    pthread_mutex_unlock(&c->lock);
    return go;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct crew *c = w->crew;
    struct wr_rng g;

    wr_rng_init(&g, c->o.seed, (uint32_t)w->index, 0x7072);
    uint64_t done = 0;

    for (uint64_t i = 0; !c->o.most || done < c->o.most; i++, done++) {
        double at = ((double)i + c->o.jitter * (wr_rng_unit(&g) - (i ? 0.5 : 0))) * c->o.interval_s;

        if (!wait_until(c, c->begin_ns + (uint64_t)fmax(at * 1e9, 0)))
            break;
        /* After a hang, go on with the next that is due; do not catch up. */
        uint64_t due = (uint64_t)((double)(wr_clock_ns() - c->begin_ns) / 1e9 / c->o.interval_s);

        i = due > i ? due : i;
        one_probe(w, i);
    }
    pthread_mutex_lock(&c->lock);
    w->done = true;
    pthread_mutex_unlock(&c->lock);
    leave(c);
    return NULL;
}

static bool open_all(struct crew *c, const struct state_target *targets, struct wr_err *err)
{
    for (size_t i = 0; i < c->n; i++) {
        struct worker *w = &c->workers[i];

        *w = (struct worker){.crew = c, .index = i};
        if (!target_open(&w->target, targets[i].text, (size_t)c->o.bytes, c->o.devices, err)) {
            c->n = i;
            return false;
        }
    }
    return true;
}

static struct crew *gather(const struct state_target *targets, size_t n,
                           const struct state_probe_opts *opts, struct wr_err *err)
{
    struct crew *c = wr_zalloc(1, sizeof *c);
    pthread_condattr_t attr;

    c->o = *opts;
    c->o.hang_s = c->o.hang_s > 0 ? c->o.hang_s : 30;
    c->n = n;
    c->users = 1;
    c->workers = wr_zalloc(n, sizeof *c->workers);
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->news, &attr);
    pthread_condattr_destroy(&attr);
    if (!open_all(c, targets, err)) {
        leave(c);
        return NULL;
    }
    c->begin_ns = wr_clock_ns();
    if (!c->o.wall_ns)
        c->o.wall_ns = state_wall_ns;
    if (!c->o.mono_to_unix_ns)
        c->o.mono_to_unix_ns = c->o.wall_ns() - (int64_t)c->begin_ns;
    return c;
}

static bool start_all(struct crew *c, struct wr_err *err)
{
    for (size_t i = 0; i < c->n; i++) {
        pthread_t t;

        pthread_mutex_lock(&c->lock);
        bool started = !pthread_create(&t, NULL, work, &c->workers[i]);

        c->users += started;
        pthread_mutex_unlock(&c->lock);
        if (!started)
            return wr_fail(err, WR_SYSTEM, "cannot start a thread; probe fewer targets at once");
        pthread_detach(t);
    }
    return true;
}

/* One result, or word of a hang; false when there is nothing yet. */
static bool next_result(struct crew *c, struct entry *ret)
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

        if (!w->busy_since_ns || w->told || (double)(now - w->busy_since_ns) < c->o.hang_s * 1e9)
            continue;
        *ret = (struct entry){.r = {.target = i,
                                    .kind = STATE_PROBE_HANGS,
                                    .read = w->reading,
                                    .unix_ns = w->busy_unix_ns}};
        ret->r.latency_s = (double)(now - w->busy_since_ns) / 1e9;
        w->told = found = true;
    }
    return found;
}

static bool all_done(const struct crew *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (!c->workers[i].done)
            return false;
    return true;
}

/* A short wait that news can end. */
static void pause_for_news(struct crew *c)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 50000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&c->news, &c->lock, &until);
}

bool state_probe_run(const struct state_target *targets, size_t n,
                     const struct state_probe_opts *opts,
                     bool (*take)(void *arg, const struct state_probe_result *r,
                                  struct wr_err *err),
                     void *arg, struct wr_err *err)
{
    struct crew *c = gather(targets, n, opts, err);

    if (!c)
        return false;
    bool ok = start_all(c, err);
    uint64_t end_ns =
        opts->length_s > 0 ? c->begin_ns + (uint64_t)(opts->length_s * 1e9) : UINT64_MAX;
    uint64_t patience_ns = 0;

    pthread_mutex_lock(&c->lock);
    for (;;) {
        struct entry e;

        if (ok && next_result(c, &e)) {
            pthread_mutex_unlock(&c->lock);
            e.r.words = e.words;
            ok = take(arg, &e.r, err);
            pthread_mutex_lock(&c->lock);
            continue;
        }
        if (!ok || all_done(c))
            break;
        if (!c->ending && (wr_clock_ns() >= end_ns || (opts->stop && opts->stop()))) {
            c->ending = true;
            patience_ns = wr_clock_ns() + 2000000000u; /* for what is under way */
            pthread_cond_broadcast(&c->news);
        }
        if (c->ending && wr_clock_ns() >= patience_ns)
            break;
        pause_for_news(c);
    }
    c->ending = true;
    pthread_mutex_unlock(&c->lock);
    leave(c);
    return ok;
}
