/* Collective calls as ROMIO does them: what is planned, and what a run of it moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above first. */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "stack/stack_drive.h"
#include "stack/stack_wire.h"

/* --- the plan, byte by byte --------------------------------------------------------- */

enum { TASKS = 7, FILE_B = 400 };

/* Which task has a byte, or -1. */
static void lay(int8_t *owner, const struct stack_part *part)
{
    memset(owner, -1, FILE_B);
    for (int i = 0; i < TASKS; i++)
        for (uint64_t b = 0; b < part[i].bytes; b++)
            owner[part[i].from + b] = (int8_t)part[i].task;
}

static void check_plan(const struct stack_cb_plan *p, const int8_t *owner)
{
    uint8_t seen[FILE_B] = {0};
    uint64_t covered = 0, messages = 0, remote = 0, all = 0;

    for (uint64_t round = 0; round <= p->rounds; round++) {
        uint64_t moved[TASKS];
        struct stack_exchange x = stack_cb_exchange(p, round, moved);

        all += x.all_b;
        for (uint32_t a = 0; a < p->aggregators; a++) {
            struct stack_window w = stack_cb_window(p, a, round);
            bool from[TASKS] = {0};

            assert_true(w.bytes <= p->buffer_b);
            assert_true(!w.bytes || round < p->rounds);
            covered += w.covered;
            messages += w.messages;
            for (uint64_t b = w.from; b < w.from + w.bytes; b++) {
                assert_int_equal(seen[b]++, 0); /* no other task writes it */
                if (owner[b] < 0 || owner[b] == (int)a)
                    continue;
                remote++;
                from[owner[b]] = true;
            }
            for (int i = 0; i < TASKS; i++)
                messages -= from[i];
        }
    }
    uint64_t bytes = 0;

    for (int b = 0; b < FILE_B; b++) {
        assert_true(owner[b] < 0 || seen[b]);
        bytes += owner[b] >= 0;
    }
    assert_int_equal(covered, bytes);
    assert_int_equal(messages, 0);
    assert_int_equal(all, remote);
}

static void every_byte_is_gathered_once_and_written_once(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int k = 0; k < 500; k++) {
        struct stack_part part[TASKS];
        uint64_t at = 0;
        uint32_t turn;
        int8_t owner[FILE_B];
        struct stack_cb cb = {.mode = STACK_CB_ENABLE};
        struct stack_cb_plan p;

#define DICE(n) \
    ((uint32_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 33) % (n))
        turn = DICE(TASKS);
        for (uint32_t i = 0; i < TASKS; i++) {
            at += DICE(3) ? 0 : DICE(10);
            part[i] = (struct stack_part){at, DICE(40), (i * 3 + turn) % TASKS};
            at += part[i].bytes;
        }
        cb.nodes = DICE(TASKS + 1);
        cb.buffer_b = 1 + DICE(60);
        lay(owner, part);
        stack_cb_plan(&p, part, TASKS, &cb);
        check_plan(&p, owner);
    }
}

static void parts_in_the_order_of_their_tasks_are_left_alone(void **state)
{
    struct stack_part part[] = {{0, 10, 0}, {10, 10, 1}, {25, 10, 2}};
    struct stack_part mixed[] = {{10, 10, 0}, {0, 10, 1}, {25, 10, 2}};
    struct stack_cb cb = {0};
    struct stack_cb_plan p;

    (void)state;
    stack_cb_plan(&p, part, 3, &cb);
    assert_false(p.two_phase);
    stack_cb_plan(&p, mixed, 3, &cb);
    assert_true(p.two_phase);
    cb.mode = STACK_CB_DISABLE;
    stack_cb_plan(&p, mixed, 3, &cb);
    assert_false(p.two_phase);
}

/* --- runs --------------------------------------------------------------------------- */

struct sums {
    struct stack_collected c;
    uint64_t out_b, in_b, transfers, bytes, end_ns, unstuffs;
};

static struct sums run_with(const char *models, const char *command, struct stack_cb cb,
                            struct stack_wire *wire)
{
    struct wr_err err = {0};
    struct stack_fs *fs = NULL;
    struct stack_timings *timings = NULL;
    struct ior_test test;
    struct stack_drive *d = NULL;
    struct sums s = {0};
    bool stopped;
    const struct stack_phase *p;

    if (!stack_fs_open(&fs, "pvfs2", &err) || !stack_timings_open(&timings, fs, models, &err) ||
        !ior_parse(&test, command, 4, &err))
        fail_msg("%s", err.text);
    struct stack_setup setup = {
        .fs = fs, .timings = timings, .servers = 3, .start = UINT32_MAX, .cb = cb, .wire = wire};

    if (!stack_drive_open(&d, &setup, &test, 4, 1, &err))
        fail_msg("%s", err.text);
    stack_drive_begin(d);
    if (!stack_drive_run(d, &stopped, &err))
        fail_msg("%s: %s", command, err.text);
    const struct stack_counts *k = stack_engine_counts(stack_drive_engine(d));

    assert_int_equal(k->begun, k->ended);
    assert_int_equal(k->client_out_b, k->server_in_b);
    assert_int_equal(k->client_in_b, k->server_out_b);
    s.c = stack_drive_collected(d);
    s.out_b = k->client_out_b;
    s.in_b = k->client_in_b;
    s.end_ns = stack_engine_now(stack_drive_engine(d));
    for (size_t i = 0; i < fs->message.n; i++)
        if (!strcmp(fs->message.v[i].name, "UNSTUFF"))
            s.unstuffs = k->message[i].requests;
    for (size_t i = 0, n = stack_drive_phases(d, &p); i < n; i++) {
        s.transfers += p[i].transfers;
        s.bytes += p[i].bytes;
    }
    stack_drive_close(d);
    ior_fini(&test);
    stack_timings_close(timings);
    stack_fs_close(fs);
    return s;
}

static struct sums run_over(const char *command, struct stack_cb cb, struct stack_wire *wire)
{
    return run_with("ethernet", command, cb, wire);
}

static struct sums run(const char *command, struct stack_cb cb)
{
    return run_over(command, cb, NULL);
}

static void an_aggregator_gets_what_the_others_have(void **state)
{
    /* 4 tasks of 1 MiB side by side, one gathers: of 4 rounds of 1 MiB three come from others */
    struct stack_cb one = {STACK_CB_ENABLE, 1, 1 << 20};
    struct sums s = run("ior -a MPIIO -c -b 1m -t 1m", one);

    (void)state;
    assert_int_equal(s.c.calls, 2); /* one to write, one to read */
    assert_int_equal(s.c.two_phase, 2);
    assert_int_equal(s.c.rounds, 8);
    assert_int_equal(s.c.messages, 6);
    assert_int_equal(s.c.bytes, 6 << 20);
    assert_int_equal(s.c.holes_b, 0);
    assert_int_equal(s.out_b, 4 << 20);
    assert_int_equal(s.in_b, 4 << 20);
    assert_int_equal(s.transfers, 8);
    assert_int_equal(s.bytes, 8 << 20);
    /* where every task gathers, each gets its own part: nothing is sent */
    s = run("ior -a MPIIO -c -b 1m -t 1m", (struct stack_cb){.mode = STACK_CB_ENABLE, .nodes = 4});
    assert_int_equal(s.c.messages, 0);
    assert_int_equal(s.out_b, 4 << 20);
}

/* ROMIO takes a task of each node: of tasks on one machine that is one, of tasks on nodes of their
 * own all. */
static void a_task_of_each_node_gathers(void **state)
{
    static const struct stack_cb on = {.mode = STACK_CB_ENABLE};

    (void)state;
    assert_int_equal(run_with("loopback", "ior -a MPIIO -c -b 1m -t 1m", on, NULL).c.messages, 6);
    assert_int_equal(run_with("default", "ior -a MPIIO -c -b 1m -t 1m", on, NULL).c.messages, 0);
}

/* As in the log of a real shared file: the first task spreads it over its servers, and the others
 * learn so with the attributes, because processes of one machine do not begin at the same time. */
static void a_new_shared_file_is_unstuffed_once(void **state)
{
    static const char *const commands[] = {"ior -a MPIIO -b 16m -t 4m",
                                           "ior -a MPIIO -b 16m -t 4m -c"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_with("loopback", commands[i], (struct stack_cb){0}, NULL).unstuffs, 1);
        assert_int_equal(run_with("ethernet", commands[i], (struct stack_cb){0}, NULL).unstuffs, 1);
    }
}

static void holes_are_read_before_a_window_is_written(void **state)
{
    /* the first of two transfers: each part is followed by a hole as long as itself */
    struct stack_cb cb = {STACK_CB_ENABLE, 1, 0};
    struct sums s = run("ior -a MPIIO -c -w -b 128k -t 64k", cb);

    (void)state;
    assert_int_equal(s.c.calls, 2);
    assert_int_equal(s.c.holes_b, 2 * 3 * 65536);
    /* in the first window nothing is there yet, and the second's end is beyond the file's */
    assert_int_equal(s.in_b, 6 * 65536);
    assert_int_equal(s.out_b, 2 * 7 * 65536);
    assert_int_equal(s.bytes, 4 * 128 << 10);
}

static void by_itself_only_reordered_reading_gathers(void **state)
{
    struct stack_cb automatic = {0};
    struct sums s = run("ior -a MPIIO -c -b 1m -t 1m", automatic);

    (void)state;
    assert_int_equal(s.c.calls, 2);
    assert_int_equal(s.c.two_phase, 0);
    s = run("ior -a MPIIO -c -C -b 1m -t 1m", automatic);
    assert_int_equal(s.c.two_phase, 1);
    assert_int_equal(s.in_b, 4 << 20);
    /* a file for each task: there is nothing to gather */
    s = run("ior -a MPIIO -c -F -b 1m -t 1m", (struct stack_cb){.mode = STACK_CB_ENABLE});
    assert_int_equal(s.c.calls, 0);
    assert_int_equal(s.out_b, 4 << 20);
}

static void a_smaller_buffer_needs_more_rounds_and_the_same_bytes(void **state)
{
    uint64_t rounds = 0;

    (void)state;
    for (uint64_t b = 4 << 20; b >= 64 << 10; b /= 4) {
        struct sums s =
            run("ior -a MPIIO -c -b 1m -t 1m", (struct stack_cb){STACK_CB_ENABLE, 2, b});

        assert_true(s.c.rounds >= rounds);
        assert_int_equal(s.c.bytes, 2 * (3 << 20)); /* task 1 gathers what 2 and 3 have */
        assert_int_equal(s.out_b, 4 << 20);
        rounds = s.c.rounds;
    }
    assert_int_equal(rounds, 2 * (2 << 20) / (64 << 10));
}

/* --- over a fabric ------------------------------------------------------------------- */

/* A fabric of which everything is known: a message is there a microsecond later, and one of a MiB
 * or more takes many events on its way. */
enum { WAITING = 64, MANY = (1 << 20) + 10 };

struct lab {
    struct stack_wire wire;
    struct {
        uint64_t t_ps;
        uint32_t tag, steps;
    } at[WAITING];
    uint32_t n;
    uint64_t messages, bytes; /* between clients */
    uint64_t up, down;        /* of these, to the first one and from it */
};

static uint32_t first_of(const struct lab *l)
{
    uint32_t first = 0;

    for (uint32_t i = 1; i < l->n; i++)
        if (l->at[i].t_ps < l->at[first].t_ps)
            first = i;
    return first;
}

static void lab_send(void *ctx, uint32_t from, uint32_t to, uint64_t bytes, uint32_t tag,
                     uint64_t t_ns)
{
    struct lab *l = ctx;

    assert_true(l->n < WAITING);
    l->at[l->n].t_ps = t_ns * 1000 + 1000000;
    l->at[l->n].steps = bytes >= 1 << 20 ? MANY : 1;
    l->at[l->n++].tag = tag;
    if (from >= 4 || to >= 4)
        return;
    l->messages++;
    l->bytes += bytes;
    l->up += !to;
    l->down += !from;
}

static uint64_t lab_next(void *ctx)
{
    const struct lab *l = ctx;

    return l->n ? l->at[first_of(l)].t_ps : UINT64_MAX;
}

static void lab_step(void *ctx)
{
    struct lab *l = ctx;
    uint32_t i = first_of(l), tag = l->at[i].tag;
    uint64_t t = l->at[i].t_ps / 1000;

    if (--l->at[i].steps)
        return;
    l->at[i] = l->at[--l->n];
    l->wire.arrived(l->wire.to, tag, t);
}

static void lab_open(struct lab *l)
{
    *l = (struct lab){0};
    l->wire = (struct stack_wire){
        .ctx = l, .nodes = 7, .send = lab_send, .next_ps = lab_next, .step = lab_step};
}

static void what_tasks_exchange_goes_over_the_fabric(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l);
    struct sums s = run_over("ior -a MPIIO -c -b 256k -t 256k",
                             (struct stack_cb){STACK_CB_ENABLE, 1, 256 << 10}, &l.wire);

    assert_int_equal(s.c.messages, 6);
    assert_int_equal(l.messages, 6);
    assert_int_equal(l.bytes, s.c.bytes + 6 * 24); /* with their headers */
    assert_int_equal(l.up, 3);                     /* written */
    assert_int_equal(l.down, 3);                   /* and read */
    assert_int_equal(s.c.ns, 6 * 1000);            /* a message each in three rounds of four */
}

/* Its events are no events of agents, and nothing stands still. */
static void a_message_with_many_events_is_waited_for(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l);
    struct sums s = run_over("ior -a MPIIO -w -b 4m -t 4m -N 1", (struct stack_cb){0}, &l.wire);

    assert_int_equal(s.out_b, 4 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_gathered_once_and_written_once),
        cmocka_unit_test(parts_in_the_order_of_their_tasks_are_left_alone),
        cmocka_unit_test(an_aggregator_gets_what_the_others_have),
        cmocka_unit_test(a_task_of_each_node_gathers),
        cmocka_unit_test(a_new_shared_file_is_unstuffed_once),
        cmocka_unit_test(holes_are_read_before_a_window_is_written),
        cmocka_unit_test(by_itself_only_reordered_reading_gathers),
        cmocka_unit_test(a_smaller_buffer_needs_more_rounds_and_the_same_bytes),
        cmocka_unit_test(what_tasks_exchange_goes_over_the_fabric),
        cmocka_unit_test(a_message_with_many_events_is_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
