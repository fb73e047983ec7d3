/* sim_engine.c -- partitions execute their events in the same order, whatever the number of workers
 * and processes. Processes are threads here, joined by a link that keeps messages in memory. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "sim/engine.h"
#include "sim/peers.h"

enum {
    PARTITIONS = 4,
    LPS = 4, /* of a partition */
    KIND = 3,
    NOTE = 4,
    LOOKAHEAD = 1000,
    TTL = 11,
    PROCESSES = 4,
};

/* ---- a link in memory ---- */

struct message {
    struct message *next;
    size_t bytes;
    uint32_t from;
    unsigned char data[];
};

struct wire {
    pthread_mutex_t lock;
    struct message *first[PROCESSES], **last[PROCESSES];
    bool gone[PROCESSES];
};

struct wire_link {
    struct sim_link link;
    struct wire *wire;
    struct message *held; /* given out by the last poll */
};

static void wire_post(struct sim_link *l, uint32_t to, const void *data, size_t bytes)
{
    struct wire *w = ((struct wire_link *)l)->wire;
    struct message *m = wr_alloc(sizeof *m + bytes);

    *m = (struct message){.bytes = bytes, .from = l->rank};
    memcpy(m->data, data, bytes);
    pthread_mutex_lock(&w->lock);
    *w->last[to] = m;
    w->last[to] = &m->next;
    pthread_mutex_unlock(&w->lock);
}

static const void *wire_poll(struct sim_link *l, uint32_t *ret_from, size_t *ret_bytes)
{
    struct wire_link *mine = (struct wire_link *)l;
    struct wire *w = mine->wire;

    free(mine->held);
    pthread_mutex_lock(&w->lock);
    struct message *m = mine->held = w->first[l->rank];

    if (m) {
        w->first[l->rank] = m->next;
        if (!m->next)
            w->last[l->rank] = &w->first[l->rank];
    }
    for (uint32_t i = 0; !m && i < l->size; i++)
        if (w->gone[i])
            snprintf(l->lost, sizeof l->lost, "process %u ended", i);
    pthread_mutex_unlock(&w->lock);
    if (!m)
        return NULL;
    *ret_from = m->from;
    *ret_bytes = m->bytes;
    return m->data;
}

static void wire_wait(struct sim_link *l, uint64_t ns)
{
    (void)l;
    (void)ns;
}

static int wire_close(struct sim_link *l, bool well)
{
    struct wire_link *mine = (struct wire_link *)l;

    (void)well;
    free(mine->held);
    free(mine);
    return 0;
}

static const struct sim_link_ops wire_ops = {
    .name = "memory", .post = wire_post, .poll = wire_poll, .wait = wire_wait, .close = wire_close};

static struct sim_peers *wire_join(struct wire *w, uint32_t rank, uint32_t size)
{
    struct wire_link *l = wr_zalloc(1, sizeof *l);
    struct sim_peers *p;

    l->link = (struct sim_link){.ops = &wire_ops, .rank = rank, .size = size, .local = size};
    l->wire = w;
    sim_peers_open(&p, &l->link);
    return p;
}

static void wire_open(struct wire *w)
{
    *w = (struct wire){0};
    pthread_mutex_init(&w->lock, NULL);
    for (uint32_t i = 0; i < PROCESSES; i++)
        w->last[i] = &w->first[i];
}

static void wire_drain(struct wire *w)
{
    for (uint32_t i = 0; i < PROCESSES; i++)
        while (w->first[i]) {
            struct message *m = w->first[i];

            w->first[i] = m->next;
            free(m);
        }
}

/* ---- a model that knows nothing but numbers ---- */

struct model;

struct site {
    struct model *m;
    struct sim_partition *partition;
    uint64_t hash, seq, last, notes;
    WR_VEC(uint64_t) word; /* what came with events */
    uint32_t ends;
    bool early; /* something was not in its time */
};

struct model {
    struct sim_engine *engine;
    struct site site[PARTITIONS];
    uint32_t local; /* the number of partitions of this process */
    bool stop;      /* is wanted in the last stretch */
    bool last_stretch, early;
    uint64_t stops, windows, beats;
    uint32_t dies; /* this process ends after so many stretches; 0: never */
};

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static void send(struct site *s, uint32_t lp, uint64_t r, uint32_t ttl)
{
    uint32_t to = (uint32_t)(r >> 8) % (PARTITIONS * LPS), q = to / LPS;
    uint64_t t = s->partition->sim->now + LOOKAHEAD + (r >> 20) % 3000, data[3] = {r, r ^ 1, lp};
    struct sim_event e = sim_event(t, to, sim_subkey(KIND, lp), (uint32_t)s->seq++, ttl, 0);

    if (q == s->partition->id) {
        wr_vec_push(&s->word, r);
        e.arg2 = (uint32_t)s->word.n - 1;
        sim_calendar_push(&s->partition->sim->queue, &e);
    } else
        sim_partition_send(s->partition, q, &e, data, r & 4 ? sizeof data : 8);
}

static void announce(struct site *s, uint32_t lp)
{
    struct sim_event e = sim_event(s->partition->sim->now, lp, sim_subkey(NOTE, 0), 0, 0, 0);

    for (uint32_t q = 0; q < PARTITIONS; q++)
        if (q != s->partition->id)
            sim_partition_notify(s->partition, q, &e);
}

static void on_event(void *ctx, const struct sim_event *e)
{
    struct site *s = ctx;
    uint32_t lp = sim_dst(e), ttl = e->arg;
    uint64_t now = s->partition->sim->now, r = mix(mix(mix(lp, now), e->key), e->seq);

    s->last = now;
    s->hash = mix(mix(mix(s->hash, e->t), e->key), s->word.v[e->arg2]);
    if (r % 7 == 0)
        announce(s, lp);
    if (!ttl)
        return;
    send(s, lp, r, ttl - 1);
    if (r % 3 == 0)
        send(s, lp, mix(r, 1), ttl - 1);
    if (r % 5 == 0) { /* a long time in which nothing may happen */
        wr_vec_push(&s->word, r);
        sim_at(s->partition->sim, now + (r & 16 ? 2000000000u : 7), lp, sim_subkey(KIND, lp),
               (uint32_t)s->seq++, ttl - 1, (uint32_t)s->word.n - 1);
    }
}

static void receive(void *ctx, const struct sim_event *e, const void *data, uint32_t bytes)
{
    struct site *s = ctx;
    struct sim_event mine = *e;
    uint64_t word[3] = {0};

    if (sim_kind(e) == NOTE) {
        s->notes = mix(s->notes, 0) + mix(e->t, e->key); /* from several senders, in any order */
        return;
    }
    memcpy(word, data, bytes);
    s->early |= e->t <= s->last;
    s->early |= bytes != 8 && (word[1] != (word[0] ^ 1) || word[2] != sim_in_port(e));
    wr_vec_push(&s->word, word[0]);
    mine.arg2 = (uint32_t)s->word.n - 1;
    sim_calendar_push(&s->partition->sim->queue, &mine);
}

static uint64_t end_window(void *ctx, uint64_t end)
{
    struct site *s = ctx;

    s->early |= s->last >= end;
    s->ends++;
    return SIM_NEVER;
}

static bool heartbeat(void *ctx)
{
    struct model *m = ctx;

    m->beats++;
    return m->stop && m->last_stretch && !m->stops;
}

static void open_model(struct model *m, struct sim_peers *peers)
{
    struct wr_err err;

    if (!sim_engine_open(&m->engine, PARTITIONS, LOOKAHEAD, peers, &err))
        abort();
    m->local = sim_engine_local(m->engine);
    for (uint32_t i = 0; i < PARTITIONS; i++) {
        struct site *s = &m->site[i];

        s->m = m;
        s->partition = sim_engine_partition(m->engine, i);
        s->partition->model =
            (struct sim_model){.ctx = s, .receive = receive, .end_window = end_window};
        sim_handle(s->partition->sim, KIND, on_event, s);
        wr_vec_push(&s->word, 0);
        if (i - sim_engine_first(m->engine) >= m->local)
            continue;
        for (uint32_t k = 0; k < LPS; k++)
            sim_at(s->partition->sim, 5 + k, i * LPS + k, sim_subkey(KIND, k), k, TTL, 0);
    }
}

/* In stretches, as simulations are. A stop ends one early, at a time that all have reached and none
 * has passed. */
static void run_model(struct model *m, struct sim_peers *peers)
{
    uint64_t until = 50000, reached;
    uint32_t stretches = 0;
    bool more = true;

    while (more && !(m->dies && ++stretches > m->dies)) {
        m->last_stretch = until == SIM_NEVER;
        more = sim_engine_run(m->engine, until, heartbeat, m, &reached);
        if (peers && sim_peers_lost(peers))
            return;
        for (uint32_t i = 0; i < PARTITIONS; i++)
            m->early |= m->site[i].last >= reached;
        m->stops += reached < until;
        if (reached >= until)
            until = until < 1000000 ? until + 50000 : SIM_NEVER;
    }
}

static void close_model(struct model *m)
{
    m->windows = sim_engine_partition(m->engine, sim_engine_first(m->engine))->work.windows;
    for (uint32_t i = 0; i < PARTITIONS; i++) {
        m->early |= m->site[i].early;
        free(m->site[i].word.v);
    }
    sim_engine_close(m->engine);
}

/* ---- one process of several ---- */

struct process {
    struct wire *wire;
    uint32_t rank, size;
    bool stop, lost;
    uint32_t dies;
    struct model m;
    pthread_t thread;
};

static void *run_process(void *ctx)
{
    struct process *p = ctx;
    struct sim_peers *peers = p->size > 1 ? wire_join(p->wire, p->rank, p->size) : NULL;

    p->m.stop = p->stop;
    p->m.dies = p->dies;
    open_model(&p->m, peers);
    run_model(&p->m, peers);
    p->lost = peers && sim_peers_lost(peers);
    if (p->dies) {
        pthread_mutex_lock(&p->wire->lock);
        p->wire->gone[p->rank] = true;
        pthread_mutex_unlock(&p->wire->lock);
    }
    close_model(&p->m);
    sim_peers_close(peers, true);
    return NULL;
}

static struct process *run_by(uint32_t processes, bool stop, uint32_t dies)
{
    static struct wire wire;
    struct process *p = wr_zalloc(processes, sizeof *p);

    wire_open(&wire);
    for (uint32_t i = 0; i < processes; i++) {
        p[i] = (struct process){.wire = &wire, .rank = i, .size = processes, .stop = stop};
        p[i].dies = i == 1 ? dies : 0;
        assert_int_equal(pthread_create(&p[i].thread, NULL, run_process, &p[i]), 0);
    }
    for (uint32_t i = 0; i < processes; i++)
        pthread_join(p[i].thread, NULL);
    wire_drain(&wire);
    return p;
}

/* Whose partition it is. */
static const struct site *site_of(const struct process *p, uint32_t processes, uint32_t partition)
{
    for (uint32_t i = 0;; i++)
        if (partition < sim_engine_first_of(PARTITIONS, processes, i + 1))
            return &p[i].m.site[partition];
}

static void compare(uint32_t processes, bool stop)
{
    struct process *one = run_by(1, false, 0), *many = run_by(processes, stop, 0);

    for (uint32_t i = 0; i < PARTITIONS; i++) {
        assert_int_not_equal(site_of(one, 1, i)->hash, 0);
        assert_int_equal(site_of(one, 1, i)->hash, site_of(many, processes, i)->hash);
        assert_true(site_of(many, processes, i)->notes);
        assert_int_equal(site_of(many, processes, i)->ends, many->m.windows);
    }
    for (uint32_t i = 0; i < processes; i++) {
        assert_false(many[i].m.early);
        assert_int_equal(many[i].m.windows, many->m.windows);
        assert_int_equal(many[i].m.stops, stop);
    }
    if (!stop)
        assert_int_equal(many->m.windows, one->m.windows);
    /* Seconds of simulated time in windows of a nanosecond: most of them are skipped. */
    assert_true(one->m.windows < 100000);
    free(one);
    free(many);
}

static void partitions_of_one_process_execute_the_same_order_every_time(void **state)
{
    (void)state;
    compare(1, false);
}

static void two_processes_execute_the_same_order_as_one(void **state)
{
    (void)state;
    compare(2, false);
}

static void so_do_three_and_as_many_as_there_are_partitions(void **state)
{
    (void)state;
    compare(3, false);
    compare(PARTITIONS, false);
}

static void a_stop_ends_all_at_one_time(void **state)
{
    (void)state;
    compare(1, true);
    compare(3, true);
}

static void a_process_that_ends_early_is_noticed_by_the_others(void **state)
{
    struct process *p = run_by(3, false, 5);

    (void)state;
    assert_true(p[0].lost && p[2].lost);
    free(p);
}

/* An error of one is the error of all, and says whose it is. */
struct agreeing {
    struct wire *wire;
    uint32_t rank;
    pthread_t thread;
    bool ok;
};

static void *agree(void *ctx)
{
    struct agreeing *a = ctx;
    struct sim_peers *peers = wire_join(a->wire, a->rank, 3);
    struct wr_err err;

    a->ok = sim_peers_agree(peers, true, &err);
    bool agreed = sim_peers_agree(
        peers, a->rank != 2 || wr_fail(&err, WR_SYSTEM, "no memory; take less"), &err);

    a->ok = a->ok && !agreed && err.code == WR_SYSTEM &&
            !strcmp(err.text,
                    a->rank == 2 ? "no memory; take less" : "process 2: no memory; take less");
    sim_peers_close(peers, true);
    return NULL;
}

static void processes_agree_on_the_first_error(void **state)
{
    struct agreeing a[3];
    struct wire wire;

    (void)state;
    wire_open(&wire);
    for (uint32_t i = 0; i < 3; i++) {
        a[i] = (struct agreeing){.wire = &wire, .rank = i};
        assert_int_equal(pthread_create(&a[i].thread, NULL, agree, &a[i]), 0);
    }
    for (uint32_t i = 0; i < 3; i++) {
        pthread_join(a[i].thread, NULL);
        assert_true(a[i].ok);
    }
    wire_drain(&wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partitions_of_one_process_execute_the_same_order_every_time),
        cmocka_unit_test(two_processes_execute_the_same_order_as_one),
        cmocka_unit_test(so_do_three_and_as_many_as_there_are_partitions),
        cmocka_unit_test(a_stop_ends_all_at_one_time),
        cmocka_unit_test(a_process_that_ends_early_is_noticed_by_the_others),
        cmocka_unit_test(processes_agree_on_the_first_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
