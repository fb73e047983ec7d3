/* A crew over several processes executes every partition's events in the same order as one process
 * does, whatever the link does in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "sim/crew.h"
#include "sim/near.h"

enum {
    PARTS = 4,
    LPS = 4, /* of a partition */
    KIND = 3,
    NOTE = 4,
    LOOKAHEAD = 1000,
    TTL = 8,
};

struct model;

struct note {
    uint64_t t;
    uint32_t lp;
};

/* A partition of a model that knows nothing but numbers. */
struct site {
    struct model *m;
    struct sim_part *part;
    uint64_t hash, seq, last;
    WR_VEC(uint64_t) word; /* what came with events */
    WR_VEC(struct note) note;
    uint32_t executed;
};

struct model {
    struct sim_crew *crew;
    struct site site[PARTS];
    uint32_t dies_at; /* partition 2 ends its process at this event; 0: never */
    bool apart;       /* processes share no memory */
    bool stop;        /* is wanted in the last stretch */
    bool last_stretch;
    uint64_t jumps, stops;
};

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static void send(struct site *s, uint32_t lp, uint64_t r, uint32_t ttl)
{
    uint32_t to = (uint32_t)(r >> 8) % (PARTS * LPS), q = to / LPS;
    uint64_t t = s->part->sim->now + LOOKAHEAD + (r >> 20) % 3000, data[3] = {r, r ^ 1, lp};
    struct sim_event e = sim_event(t, to, sim_lane(KIND, lp), (uint32_t)s->seq++, ttl, 0);

    if (q == s->part->me) {
        wr_vec_push(&s->word, r);
        e.arg2 = (uint32_t)s->word.n - 1;
        sim_calendar_push(&s->part->sim->queue, &e);
    } else
        sim_part_send(s->part, q, &e, data, r & 4 ? sizeof data : 8);
}

/* All shall know it at once, who comes after. */
static void announce(struct site *s, uint32_t lp)
{
    struct sim_event e = sim_event(s->part->sim->now, lp, sim_lane(NOTE, 0), 0, 0, 0);

    for (uint32_t q = 0; q < PARTS; q++)
        if (q != s->part->me)
            sim_part_send(s->part, q, &e, NULL, 0);
    wr_vec_push(&s->note, (struct note){e.t, lp});
}

/* How many notes were made before now? */
static uint64_t ask_all(struct site *s, uint32_t lp)
{
    uint64_t now = s->part->sim->now, n = 0;

    for (uint32_t q = 0; q < PARTS; q++)
        if (q != s->part->me)
            sim_part_settle(s->part, q, lp);
    for (size_t i = 0; i < s->note.n; i++)
        n += s->note.v[i].t < now || (s->note.v[i].t == now && s->note.v[i].lp < lp);
    return n;
}

static void on_event(void *ctx, const struct sim_event *e)
{
    struct site *s = ctx;
    uint32_t lp = sim_dst(e), ttl = e->arg;
    uint64_t now = s->part->sim->now, r = mix(mix(mix(lp, now), e->key), e->seq);

    if (s->m->dies_at && s->part->me == 2 && ++s->executed == s->m->dies_at)
        _exit(3);
    s->last = now;
    s->hash = mix(mix(mix(s->hash, e->t), e->key), s->word.v[e->arg2]);
    if (r % 7 == 0)
        announce(s, lp);
    if (r % 11 == 0)
        s->hash = mix(s->hash, ask_all(s, lp));
    if (r % 13 == 0 && now > 10)
        sim_part_await(s->part, (s->part->me + 1) % PARTS, now - 10);
    if (!ttl)
        return;
    send(s, lp, r, ttl - 1);
    if (r % 3 == 0)
        send(s, lp, mix(r, 1), ttl - 1);
    if (r % 5 == 0) { /* nobody may have anything to do for long */
        wr_vec_push(&s->word, r);
        sim_at(s->part->sim, now + (r & 16 ? 2000000000u : 7), lp, sim_lane(KIND, lp),
               (uint32_t)s->seq++, ttl - 1, (uint32_t)s->word.n - 1);
    }
}

static void receive(void *ctx, const struct sim_event *e, const void *data, uint32_t bytes)
{
    struct site *s = ctx;
    struct sim_event mine = *e;
    uint64_t word[3] = {0};

    if (sim_kind(e) == NOTE) {
        wr_vec_push(&s->note, (struct note){e->t, sim_dst(e)});
        return;
    }
    memcpy(word, data, bytes);
    assert_true(bytes == 8 || (word[1] == (word[0] ^ 1) && word[2] == sim_door(e)));
    wr_vec_push(&s->word, word[0]);
    mine.arg2 = (uint32_t)s->word.n - 1;
    sim_calendar_push(&s->part->sim->queue, &mine);
}

static bool pulse(void *ctx)
{
    struct model *m = ctx;

    return m->stop && m->last_stretch && !m->stops;
}

static void open_model(struct model *m, struct sim_peers *peers)
{
    uint64_t reach[PARTS * PARTS];
    struct wr_err err;

    for (uint32_t i = 0; i < PARTS * PARTS; i++)
        reach[i] = LOOKAHEAD;
    assert_true(sim_crew_open(&m->crew, PARTS, reach, peers, &err));
    for (uint32_t i = 0; i < PARTS; i++) {
        struct site *s = &m->site[i];

        s->m = m;
        s->part = sim_crew_part(m->crew, i);
        s->part->mind = (struct sim_mind){.ctx = s, .receive = receive};
        sim_handle(s->part->sim, KIND, on_event, s);
        wr_vec_push(&s->word, 0);
        for (uint32_t k = 0; k < LPS; k++)
            sim_at(s->part->sim, 5 + k, i * LPS + k, sim_lane(KIND, k), k, TTL, 0);
    }
}

/* In stretches, as worlds do; a stop ends one early, at a time that all have reached and none has
 * passed. */
static void run_model(struct model *m)
{
    uint64_t until = 50000, reached;
    bool more = true;

    while (more && !sim_crew_lost(m->crew)) {
        m->last_stretch = until == SIM_NEVER;
        more = sim_crew_run(m->crew, until, pulse, m, &reached);
        for (uint32_t i = 0; i < PARTS; i++)
            assert_true(sim_crew_lost(m->crew) || m->site[i].last < reached);
        m->stops += reached < until;
        if (reached >= until)
            until = until < 1000000 ? until + 50000 : SIM_NEVER;
    }
}

static void close_model(struct model *m)
{
    for (uint32_t i = 0; i < PARTS; i++) {
        m->jumps += sim_crew_part(m->crew, i)->work.jumps;
        free(m->site[i].word.v);
        free(m->site[i].note.v);
    }
    sim_crew_close(m->crew);
}

struct result {
    uint64_t hash[PARTS], jumps;
    bool lost;
};

static void take(void *ctx, uint32_t from, const void *data, size_t bytes)
{
    struct result *all = ctx, one;

    (void)from;
    assert_int_equal(bytes, sizeof one);
    memcpy(&one, data, sizeof one);
    for (uint32_t i = 0; i < PARTS; i++)
        all->hash[i] ^= one.hash[i];
    all->jumps += one.jumps;
}

/* The orders of all partitions, found by so many processes. */
static void run_by(uint32_t processes, struct model *m, struct result *ret)
{
    struct sim_peers *peers = NULL;
    struct sim_link *link;
    struct wr_err err;

    if (processes > 1) {
        assert_true(sim_link_fork(&link, processes, &err));
        sim_peers_open(&peers, link);
        if (m->apart)
            sim_peers_keep_apart(peers);
    }
    uint32_t rank = peers ? sim_peers_rank(peers) : 0;

    open_model(m, peers);
    assert_true(sim_peers_agree(peers, true, &err));
    run_model(m);
    struct result r = {.lost = sim_crew_lost(m->crew)};

    for (uint32_t i = 0; i < sim_crew_local(m->crew); i++)
        r.hash[sim_crew_first(m->crew) + i] = m->site[sim_crew_first(m->crew) + i].hash;
    close_model(m);
    r.jumps = m->jumps;
    if (peers && !r.lost)
        assert_true(sim_peers_gather(peers, &r, sizeof r, take, &r, &err));
    if (rank) {
        sim_peers_close(peers, !r.lost);
        _exit(0);
    }
    if (r.lost)
        assert_string_equal(sim_peers_lost(peers), "process 2 ended");
    assert_int_equal(sim_peers_close(peers, !r.lost), r.lost ? 3 : 0);
    *ret = r;
}

static void compare_by(uint32_t processes, bool stop, bool apart)
{
    struct model one = {0}, many = {.stop = stop, .apart = apart};
    struct result a, b;

    run_by(1, &one, &a);
    run_by(processes, &many, &b);
    assert_memory_equal(a.hash, b.hash, sizeof a.hash);
    for (uint32_t i = 0; i < PARTS; i++)
        assert_int_not_equal(a.hash[i], 0);
    assert_true(a.jumps && b.jumps);
    assert_int_equal(many.stops, stop);
}

/* In memory that they share, and by messages. */
static void compare(uint32_t processes, bool stop)
{
    compare_by(processes, stop, false);
    compare_by(processes, stop, true);
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
    compare(PARTS, false);
}

static void a_stop_ends_all_processes_at_one_time(void **state)
{
    (void)state;
    compare(3, true);
}

static void a_process_that_dies_ends_the_others(void **state)
{
    struct model m = {.dies_at = 50}, apart = {.dies_at = 50, .apart = true};
    struct result r;

    (void)state;
    run_by(3, &m, &r);
    assert_true(r.lost);
    run_by(3, &apart, &r);
    assert_true(r.lost);
}

/* Memory is there for all or for none, cleared, and one. */
static void processes_of_a_machine_share_memory(void **state)
{
    (void)state;
    for (uint32_t apart = 0; apart < 2; apart++) {
        struct sim_peers *peers;
        struct sim_link *link;
        struct wr_err err;

        assert_true(sim_link_fork(&link, 3, &err));
        sim_peers_open(&peers, link);
        uint32_t rank = sim_peers_rank(peers);

        if (apart && rank == 2) /* whoever of them it is that cannot */
            sim_peers_keep_apart(peers);
        struct sim_near *near = sim_near_open(peers, (size_t)1 << 33);
        bool ok = apart ? !near : near != NULL;

        if (near) {
            _Atomic uint32_t *v = sim_near_memory(near);

            atomic_fetch_add(&v[1u << 28], 1 + rank);
            ok = sim_peers_agree(peers, ok, &err) && v[1u << 28] == 6 && !v[1];
        }
        sim_near_close(near);
        int status = sim_peers_close(peers, true);

        if (rank)
            _exit(ok ? 0 : 1);
        assert_true(ok);
        assert_int_equal(status, 0);
    }
}

/* An error of one is the error of all, and says whose it is. */
static void processes_agree_on_the_first_error(void **state)
{
    struct sim_peers *peers;
    struct sim_link *link;
    struct wr_err err;

    (void)state;
    assert_true(sim_link_fork(&link, 3, &err));
    sim_peers_open(&peers, link);
    uint32_t rank = sim_peers_rank(peers);
    uint64_t least = 10 - rank;
    bool ok = sim_peers_least(peers, &least, 1, &err) && least == 8;

    ok = ok && sim_peers_agree(peers, true, &err);
    bool agreed =
        sim_peers_agree(peers, rank != 2 || wr_fail(&err, WR_SYSTEM, "no memory; take less"), &err);

    ok = ok && !agreed && err.code == WR_SYSTEM &&
         !strcmp(err.text, rank == 2 ? "no memory; take less" : "process 2: no memory; take less");
    int status = sim_peers_close(peers, true);

    if (rank)
        _exit(ok ? 0 : 1);
    assert_true(ok);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_processes_execute_the_same_order_as_one),
        cmocka_unit_test(so_do_three_and_as_many_as_there_are_partitions),
        cmocka_unit_test(a_stop_ends_all_processes_at_one_time),
        cmocka_unit_test(a_process_that_dies_ends_the_others),
        cmocka_unit_test(processes_of_a_machine_share_memory),
        cmocka_unit_test(processes_agree_on_the_first_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
