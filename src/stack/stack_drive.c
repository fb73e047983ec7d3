/* stack_drive.c -- the tasks of a test: which calls each makes, and when.
 *
 *   ior_next(), stack_play_next() --> steps of a task --> stack_engine_call() --> drive_on_done()
 *
 * Owns the tasks, the phases that IOR would print, and the state of a collective call. A task has a
 * short queue of steps; when it is empty the next event of the test fills it (drive_plan). The
 * engine calls back when a call has ended (drive_on_done) or bytes have passed (drive_on_passed).
 *
 * Invariants: a task has at most one call in the engine; barriers and collective calls complete
 * when all tasks have arrived; a task's queue never exceeds STEPS.
 */
#include "stack/stack_drive.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/signals.h"

enum { STEPS = 8 };

/* Steps that call nothing, after the STACK_OPS of the engine: the begin of a collective call, one
 * of its rounds, and a broadcast from the first task. */
enum { COLLECT = STACK_OPS + 1, ROUND, BROADCAST };

/* Of a round: a window with holes is read before it is written. */
enum stage { NOTHING, EXCHANGE, FILL, WINDOW, STAGES = 3 };

struct step {
    uint8_t
        op; /* enum stack_operation; STACK_OPS: a barrier of all tasks; COLLECT, ROUND, BROADCAST */
    bool creating, counted;
};

/* A task of the test. `at` and `ev` change with every event of the test, the steps with every call;
 * `sum` only grows. Times are in ns. */
struct task {
    struct ior_rank at;
    struct ior_event ev;
    struct step step[STEPS]; /* what is still to be called for `ev` and around it */
    uint8_t first, n;        /* steps [first, n) are left */
    uint8_t running;         /* the op under way; STACK_OPS: none */
    bool counted;            /* its time is part of the phase */
    bool opened;             /* and not accessed since */
    uint32_t marks;          /* phases of the test that it has ended */
    uint64_t t_call;         /* when the op under way began */
    struct stack_task_sum sum;
    bool ended;
    /* a collective call */
    uint64_t t_collect, round; /* when the task came to it; its round in two-phase I/O */
    uint8_t stage;             /* of the round */
};

/* The collective call in progress, at most one at a time; `sum` is over all of them. */
struct collective {
    struct stack_part *part;   /* [tasks] of the call that is under way */
    struct stack_part *next;   /* of the one that some have begun while others still write */
    uint64_t *moved;           /* [tasks] bytes in an exchange */
    uint32_t here;             /* tasks that have come */
    uint64_t passing, t_pass;  /* messages of an exchange over a fabric, and when they left */
    struct stack_cb_plan plan; /* aggregators and rounds of the call */
    struct stack_collected sum;
};

/* Up to `task` set by drive_open(). `met` counts the tasks at the barrier, `ended` those that are
 * done, `end` is when the last one was, `phase` has what IOR would print. */
struct stack_drive {
    struct stack_engine *engine;
    struct stack_setup setup;
    const struct ior_test *test;
    struct stack_play *program; /* instead of a test */
    struct ior_where where;     /* tasks of the test and of a node, and the seed */
    struct task *task;          /* [clients] */
    uint32_t phases_per_rep;    /* of a repetition: writing, reading; set up */
    uint32_t met, ended;
    bool failed;        /* an operation did: the test stops */
    struct stack_cb cb; /* parameters of collective buffering; set up */
    struct collective coll;
    uint64_t end;                     /* ns */
    WR_VEC(struct stack_phase) phase; /* by number of marks */
};

static void drive_go_on(struct stack_drive *d, uint32_t client, uint64_t t);

static void drive_push(struct task *k, uint32_t op, bool creating, bool counted)
{
    if (k->n < STEPS)
        k->step[k->n++] = (struct step){(uint8_t)op, creating, counted};
}

/* Whether the task acts for the file as a whole: each for its own file, the first for a shared one.
 */
static bool drive_acts_for_file(const struct stack_drive *d, uint32_t client)
{
    return d->test->file_per_task || !client;
}

static bool drive_uses_posix(const struct stack_drive *d)
{
    return d->setup.api == STACK_POSIX;
}

static bool drive_has_operation(const struct stack_drive *d, enum stack_operation op)
{
    return d->setup.fs->operation[d->setup.api][op] != STACK_NONE;
}

static void drive_plan_open(struct stack_drive *d, uint32_t client, struct task *k)
{
    bool writes = k->ev.writes, mine = drive_acts_for_file(d, client);
    bool empties = writes && !d->test->existing && drive_has_operation(d, STACK_OP_SET_SIZE);
    enum stack_operation op = !mine && !drive_uses_posix(d) ? STACK_OP_MOUNT
                              : writes                      ? STACK_OP_CREATE
                                                            : STACK_OP_OPEN;

    if (mine && writes && !d->test->existing)
        drive_push(k, STACK_OP_PROBE, false, false);
    /* A file system whose library hands an open file from task to task needs no second open. */
    bool joins = !mine && drive_has_operation(d, STACK_OP_JOIN);

    if (!joins)
        drive_push(k, op, writes, true);
    if (!d->test->file_per_task)
        drive_push(k, STACK_OPS, false, false);
    if (joins)
        drive_push(k, STACK_OP_JOIN, writes, true);
    if (mine && empties)
        drive_push(k, STACK_OP_SET_SIZE, false, true);
    if (empties && !d->test->file_per_task)
        drive_push(k, BROADCAST, false, false);
}

/* After a phase: is the file as long as it should be? After the last one it goes. By system calls
 * every task asks for the size, and whether the file is there needs no open. */
static void drive_plan_mark(struct stack_drive *d, uint32_t client, struct task *k)
{
    bool last = ++k->marks % d->phases_per_rep == 0, goes = last && !d->test->keep;

    if (drive_uses_posix(d))
        drive_push(k, STACK_OP_GET_SIZE, false, false);
    if (drive_uses_posix(d) && goes && drive_acts_for_file(d, client))
        drive_push(k, STACK_OP_PROBE, false, false);
    if (drive_uses_posix(d) || !drive_acts_for_file(d, client))
        return;
    drive_push(k, STACK_OP_OPEN, false, false);
    drive_push(k, STACK_OP_GET_SIZE, false, false);
    drive_push(k, STACK_OP_CLOSE, false, false);
    if (!goes)
        return;
    drive_push(k, STACK_OP_OPEN, false, false);
    drive_push(k, STACK_OP_CLOSE, false, false);
    drive_push(k, STACK_OP_DELETE, false, false);
}

/* Where the library lets one task flush a shared file for all, barriers surround the flush. Tasks
 * that stop at a deadline would never reach them. */
static void drive_plan_flush(struct stack_drive *d, uint32_t client, struct task *k)
{
    bool once = d->setup.fs->once[d->setup.api][STACK_OP_SYNC] && !d->test->file_per_task &&
                !d->test->deadline_s && !d->test->least_s;

    if (once)
        drive_push(k, STACK_OPS, false, false);
    if (!once || !client)
        drive_push(k, STACK_OP_SYNC, false, true);
    if (once)
        drive_push(k, STACK_OPS, false, false);
}

/* The phase that the task is in. */
static struct stack_phase *drive_phase(struct stack_drive *d, const struct task *k)
{
    assert(d->phases_per_rep > 0);
    while (d->phase.n <= k->marks) {
        int64_t rep = (int64_t)(d->phase.n / d->phases_per_rep);

        wr_vec_push(&d->phase, (struct stack_phase){.open_first = UINT64_MAX,
                                                    .io_first = UINT64_MAX,
                                                    .close_first = UINT64_MAX,
                                                    .rep = rep});
    }
    return &d->phase.v[k->marks];
}

static void drive_widen_span(uint64_t *first, uint64_t *last, uint64_t from, uint64_t to)
{
    assert(from <= to);
    if (from < *first)
        *first = from;
    if (to > *last)
        *last = to;
}

static void drive_account(struct stack_drive *d, struct task *k, uint64_t t)
{
    struct stack_phase *p = drive_phase(d, k);

    switch (k->running) {
    case STACK_OP_OPEN:
    case STACK_OP_CREATE:
    case STACK_OP_MOUNT:
    case STACK_OP_JOIN:
        drive_widen_span(&p->open_first, &p->open_last, k->t_call, t);
        p->writes = k->ev.writes;
        p->opened++;
        k->opened = true;
        break;
    case STACK_OP_SET_SIZE: /* IOR's open makes the file empty */
        drive_widen_span(&p->open_first, &p->open_last, k->t_call, t);
        break;
    case STACK_OP_SYNC: /* and its writing ends when the data are kept */
        drive_widen_span(&p->io_first, &p->io_last, k->t_call, t);
        p->io_ns += t - k->t_call;
        break;
    case STACK_OP_WRITE:
    case STACK_OP_READ:
        drive_widen_span(&p->io_first, &p->io_last, k->t_call, t);
        p->transfers++;
        p->bytes += k->ev.bytes;
        p->io_ns += t - k->t_call;
        if (d->program) { /* it need not open a file, nor close it */
            p->opened |= 1;
            p->writes = k->ev.writes;
            p->open_first = k->t_call < p->open_first ? k->t_call : p->open_first;
        }
        break;
    case STACK_OP_CLOSE:
        drive_widen_span(&p->close_first, &p->close_last, k->t_call, t);
        break;
    default:
        break;
    }
}

static void drive_barrier(struct stack_drive *d, uint64_t t)
{
    assert(d->met < d->where.ntasks);
    if (++d->met < d->where.ntasks)
        return;
    d->met = 0;
    for (uint32_t i = 0; i < d->where.ntasks; i++)
        stack_engine_later(d->engine, i, t);
}

/* A broadcast from the first task along a binomial tree, one message for each task. */
static void drive_broadcast(struct stack_drive *d, uint64_t t)
{
    if (++d->met < d->where.ntasks)
        return;
    d->met = 0;
    for (uint32_t i = 0, hops = 0; i < d->where.ntasks; i++) {
        while (1u << hops <= i)
            hops++;
        stack_engine_later(d->engine, i, t + hops * stack_ns(d->setup.timings->latency_ns));
    }
}

static void drive_release(struct stack_drive *d, uint64_t t)
{
    d->coll.here = 0;
    for (uint32_t i = 0; i < d->where.ntasks; i++)
        stack_engine_later(d->engine, i, t);
}

/* How much later than task 0 a task begins its first access after an open, in ns. */
static double drive_stagger_ns(const struct stack_timings *l, double all_ns, uint32_t client,
                               uint32_t n);

/* All tasks know the offsets of the others. Where each then accesses the file by itself, processes
 * are scheduled one after another, as after an open. */
static void drive_leave_collect(struct stack_drive *d, uint64_t t)
{
    uint32_t n = d->where.ntasks;

    d->coll.here = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct task *k = &d->task[i];
        double all = d->setup.timings->stagger_ns[k->ev.writes];
        bool apart = k->opened && !d->coll.plan.two_phase && !d->program && n > 1;

        k->opened = false;
        stack_engine_later(
            d->engine, i,
            t + (apart ? stack_ns(drive_stagger_ns(d->setup.timings, all, i, n)) : 0));
    }
}

/* A collective call begins when all tasks have arrived and know the offsets of the others. */
static void drive_collect(struct stack_drive *d, uint32_t client, uint64_t t)
{
    struct task *k = &d->task[client];
    struct collective *c = &d->coll;
    uint32_t n = d->where.ntasks, hops = 0;

    assert(c->here < n);
    k->t_collect = t;
    k->round = 0;
    k->stage = 0;
    c->next[c->here++] = (struct stack_part){k->ev.offset, k->ev.bytes, client};
    if (c->here < n)
        return;
    struct stack_part *spare = c->part;

    c->part = c->next;
    c->next = spare;
    stack_cb_plan(&c->plan, c->part, n, &d->cb);
    while (1u << hops < n)
        hops++;
    for (uint32_t i = 1; i < n; i++) /* a collective call is about one file */
        c->plan.two_phase &= d->task[i].ev.file == d->task[0].ev.file;
    c->sum.calls++;
    c->sum.two_phase += c->plan.two_phase;
    for (uint32_t i = 0; i < n; i++)
        drive_push(&d->task[i],
                   c->plan.two_phase      ? ROUND
                   : d->task[i].ev.writes ? STACK_OP_WRITE
                                          : STACK_OP_READ,
                   false, true);
    drive_leave_collect(d, t + hops * stack_ns(d->setup.timings->latency_ns));
}

static void drive_pass(void *ctx, uint32_t task, uint32_t aggregator, uint64_t bytes)
{
    struct stack_drive *d = ctx;
    bool writes = d->task[task].ev.writes;

    stack_engine_pass(d->engine, writes ? task : aggregator, writes ? aggregator : task, bytes,
                      d->coll.t_pass);
}

static void drive_on_passed(void *ctx, uint64_t t)
{
    struct stack_drive *d = ctx;

    assert(d->coll.passing > 0);
    if (--d->coll.passing)
        return;
    d->coll.sum.ns += t - d->coll.t_pass;
    drive_release(d, t);
}

/* Bytes go from task to task, over the fabric where there is one; else each has one link, or all
 * share one. */
static void drive_exchange(struct stack_drive *d, uint64_t round, uint64_t t)
{
    struct collective *c = &d->coll;
    const struct stack_timings *l = d->setup.timings;

    if (++c->here < d->where.ntasks)
        return;
    struct stack_exchange x = stack_cb_exchange(&c->plan, round, c->moved);
    double b = l->medium == STACK_SHARED ? (double)x.all_b : (double)x.most_b;
    uint64_t took = x.messages ? stack_ns(l->latency_ns + b * l->ns_per_b) : 0;

    c->sum.rounds++;
    c->sum.messages += x.messages;
    c->sum.bytes += x.all_b;
    c->passing = x.messages;
    c->t_pass = t;
    if (d->setup.wire && x.messages) {
        stack_cb_each(&c->plan, round, drive_pass, d);
        return;
    }
    c->sum.ns += took;
    drive_release(d, t + took);
}

/* The window of a task in this round; empty when it has none. */
static struct stack_window drive_window(const struct stack_drive *d, uint32_t client,
                                        const struct task *k)
{
    if (client >= d->coll.plan.aggregators)
        return (struct stack_window){0};
    return stack_cb_window(&d->coll.plan, client, k->round);
}

static bool drive_access_window(struct stack_drive *d, uint32_t client, enum stage stage,
                                uint64_t t)
{
    struct task *k = &d->task[client];
    struct stack_window w = drive_window(d, client, k);
    bool writes = k->ev.writes && stage != FILL;

    if (!w.bytes || (stage == FILL && w.covered == w.bytes))
        return false;
    if (stage == FILL)
        d->coll.sum.holes_b += w.bytes - w.covered;
    k->running = writes ? STACK_OP_WRITE : STACK_OP_READ;
    k->counted = false;
    k->t_call = t;
    stack_engine_call(d->engine, client,
                      &(struct stack_call){.op = k->running,
                                           .file = (uint32_t)(uint64_t)k->ev.file,
                                           .bytes = w.bytes,
                                           .offset = w.from},
                      t);
    return true;
}

/* The next stage of a round; true: the task waits for something. */
static bool drive_round(struct stack_drive *d, uint32_t client, uint64_t t)
{
    static const enum stage stages[2][STAGES] = {{WINDOW, EXCHANGE, NOTHING},
                                                 {EXCHANGE, FILL, WINDOW}};
    struct task *k = &d->task[client];

    if (k->stage == STAGES) {
        k->stage = 0;
        k->round++;
    }
    if (k->round == d->coll.plan.rounds) {
        struct stack_phase *p = drive_phase(d, k);

        drive_widen_span(&p->io_first, &p->io_last, k->t_collect, t);
        p->transfers++;
        p->bytes += k->ev.bytes;
        p->io_ns += t - k->t_collect;
        *(k->ev.writes ? &k->sum.written_b : &k->sum.read_b) += k->ev.bytes;
        return false;
    }
    enum stage stage = stages[k->ev.writes][k->stage++];

    drive_push(k, ROUND, false, false);
    if (stage == EXCHANGE) {
        drive_exchange(d, k->round, t);
        return true;
    }
    return stage != NOTHING && drive_access_window(d, client, stage, t);
}

static uint32_t drive_file(const struct task *k)
{
    return (uint32_t)(uint64_t)k->ev.file;
}

/* True when the task waits for something now. */
static bool drive_do_step(struct stack_drive *d, uint32_t client, uint64_t t)
{
    struct task *k = &d->task[client];
    struct step s = k->step[k->first++];

    if (k->first == k->n)
        k->first = k->n = 0;
    if (s.op == STACK_OPS) {
        drive_barrier(d, t);
        return true;
    }
    if (s.op == BROADCAST) {
        drive_broadcast(d, t);
        return true;
    }
    if (s.op == COLLECT) {
        drive_collect(d, client, t);
        return true;
    }
    if (s.op == ROUND)
        return drive_round(d, client, t);
    if (!drive_has_operation(d, s.op))
        return false;
    bool data = s.op == STACK_OP_WRITE || s.op == STACK_OP_READ;

    k->running = s.op;
    k->counted = s.counted;
    k->t_call = t;
    stack_engine_call(d->engine, client,
                      &(struct stack_call){.op = s.op,
                                           .file = drive_file(k),
                                           .bytes = data ? k->ev.bytes : 0,
                                           .offset = data ? k->ev.offset : 0,
                                           .creating = s.creating},
                      t);
    return true;
}

static enum ior_op drive_next_event(struct stack_drive *d, uint32_t client, uint64_t t,
                                    uint64_t *ret_sleep_ns)
{
    struct task *k = &d->task[client];
    uint64_t now_ps = t > UINT64_MAX / 1000 ? UINT64_MAX : t * 1000;

    if (d->program) {
        enum ior_op op =
            stack_play_next(d->program, d->engine, client, now_ps, &k->ev, ret_sleep_ns);

        if (op == IOR_OPEN || op == IOR_WRITE || op == IOR_READ)
            k->marks = !k->ev.writes; /* writes are its first phase, reads the second */
        return op;
    }
    enum ior_op op = ior_next(d->test, &d->where, &k->at, now_ps, &k->ev);

    *ret_sleep_ns = k->ev.seconds * 1000000000;
    return op;
}

/* On one machine each process more waits for those before it; processes on nodes of their own begin
 * within the same time, however many they are. */
static double drive_stagger_ns(const struct stack_timings *l, double all_ns, uint32_t client,
                               uint32_t n)
{
    bool measured = l->alone && l->medium == STACK_SHARED && l->clients > 1;

    assert(n > 1 && client < n);
    return all_ns * client / (measured ? l->clients - 1 : n - 1);
}

/* Processes that open at the same time are not scheduled at the same time: the first access of each
 * is later than that of the one before. Tasks that passed a barrier before have waited already. */
static bool drive_stagger(struct stack_drive *d, uint32_t client, uint64_t t)
{
    struct task *k = &d->task[client];
    double all = d->setup.timings->stagger_ns[k->ev.writes];
    uint32_t n = d->where.ntasks;

    if (!k->opened || d->program || !(all > 0) || n < 2)
        return false;
    k->opened = false;
    stack_engine_later(d->engine, client,
                       t + stack_ns(drive_stagger_ns(d->setup.timings, all, client, n)));
    return true;
}

/* True: the task goes on now. With a file for each task, each is a collective of one; in a larger
 * collective tasks are staggered when all have arrived. */
static bool drive_plan_access(struct stack_drive *d, uint32_t client, uint64_t t)
{
    struct task *k = &d->task[client];
    bool together = (d->test->collective && !d->test->file_per_task) || k->ev.together;

    drive_push(k,
               together                ? COLLECT
               : k->ev.op == IOR_WRITE ? STACK_OP_WRITE
                                       : STACK_OP_READ,
               false, true);
    return together || !drive_stagger(d, client, t);
}

static bool drive_plan(struct stack_drive *d, uint32_t client, uint64_t t)
{
    struct task *k = &d->task[client];
    int64_t file = k->ev.file;
    uint64_t sleep_ns;

    switch (drive_next_event(d, client, t, &sleep_ns)) {
    case IOR_BARRIER:
        k->opened = false;
        drive_push(k, STACK_OPS, false, false);
        break;
    case IOR_OPEN:
        drive_plan_open(d, client, k);
        break;
    case IOR_WRITE:
    case IOR_READ:
        return drive_plan_access(d, client, t);
    case IOR_FLUSH:
        drive_plan_flush(d, client, k);
        break;
    case IOR_CLOSE:
        drive_push(k, STACK_OP_CLOSE, false, true);
        break;
    case IOR_SLEEP:
        stack_engine_later(d->engine, client, t + sleep_ns);
        break;
    case IOR_MARK:
        k->ev.file = file;
        drive_plan_mark(d, client, k);
        break;
    default:
        k->ended = true;
        d->ended++;
        d->end = t;
        k->sum.end_ns = t;
        break;
    }
    return k->ev.op != IOR_SLEEP && !k->ended;
}

static void drive_go_on(struct stack_drive *d, uint32_t client, uint64_t t)
{
    struct task *k = &d->task[client];

    for (;;) {
        if (k->first < k->n) {
            if (drive_do_step(d, client, t))
                return;
        } else if (!drive_plan(d, client, t)) {
            return;
        }
    }
}

static void drive_on_done(void *ctx, uint32_t client, int64_t status, uint64_t t)
{
    struct stack_drive *d = ctx;
    struct task *k = &d->task[client];
    uint8_t op = k->running;

    assert(client < d->where.ntasks && !k->ended);
    k->running = STACK_OPS;
    if (op < STACK_OPS)
        k->sum.io_ns += t - k->t_call;
    if (k->counted && (op == STACK_OP_WRITE || op == STACK_OP_READ))
        *(op == STACK_OP_WRITE ? &k->sum.written_b : &k->sum.read_b) += k->ev.bytes;
    if (op < STACK_OPS && k->counted) {
        k->running = op;
        drive_account(d, k, t);
        k->running = STACK_OPS;
        d->failed |= status != 0;
    } else if (op == STACK_OP_WRITE || op == STACK_OP_READ) {
        d->failed |= status != 0; /* a window of a collective call */
    }
    if (op == STACK_OP_PROBE && !status) { /* it is there: it goes first */
        uint8_t opened = !drive_uses_posix(d);

        memmove(k->step + opened + 1, k->step + k->first,
                (size_t)(k->n - k->first) * sizeof *k->step);
        k->n = (uint8_t)(k->n - k->first + opened + 1);
        k->first = 0;
        k->step[0] = (struct step){STACK_OP_CLOSE, false, false};
        k->step[opened] = (struct step){STACK_OP_DELETE, false, false};
    }
    drive_go_on(d, client, t);
}

static uint64_t drive_total_bytes(const struct ior_test *t, uint32_t tasks)
{
    double all = (double)t->block * (double)t->segments * tasks;

    return all > 9e18 ? (uint64_t)9e18 : (uint64_t)all;
}

/* IOR without a back end does not know its name. */
static bool drive_find_api(enum stack_api *ret, const struct ior_test *t,
                           const struct stack_setup *s, struct wr_err *err)
{
    static const char *const names[] = {"MPIIO", "POSIX"};
    int api = 0;

    if (!strcmp(t->api, "DUMMY"))
        return wr_fail(err, WR_INPUT, "-a DUMMY does no I/O; use -a MPIIO or -a POSIX");
    while (api < STACK_APIS && strcmp(names[api], t->api))
        api++;
    if (api == STACK_APIS)
        return wr_fail(err, WR_INPUT,
                       "unrecognized I/O API %s, as in an IOR that was built without it; use -a "
                       "MPIIO or -a POSIX",
                       t->api);
    if (s->fs->operation[api][STACK_OP_WRITE] == STACK_NONE)
        return wr_fail(err, WR_INPUT,
                       "unrecognized I/O API POSIX: %s has no machines for system calls; use -a "
                       "MPIIO, or give it `posix:`",
                       s->fs->name);
    if (api == STACK_POSIX && s->timings->function.n)
        return wr_fail(err, WR_INPUT,
                       "these timing models are of whole calls of MPI-IO; use others, or -a MPIIO");
    *ret = (enum stack_api)api;
    return true;
}

static bool drive_check_test(const struct ior_test *t, uint32_t tasks, const struct stack_setup *s,
                             struct wr_err *err)
{
    if ((double)t->block * (double)t->segments * tasks > 9e18)
        return wr_fail(err, WR_INPUT,
                       "the files are longer than 8 EiB; make -b, -s or the tasks "
                       "smaller");
    if ((t->fsync || t->fsync_each) && s->fs->operation[s->api][STACK_OP_SYNC] == STACK_NONE)
        return wr_fail(err, WR_INPUT, "%s has no sync; leave -e and -Y out", s->fs->name);
    return true;
}

static bool drive_open(struct stack_drive *d, struct stack_setup *setup, uint32_t n, uint64_t files,
                       uint64_t seed, struct wr_err *err)
{
    assert(n > 0 && !d->engine);
    if (files > 1u << 24)
        return wr_fail(err, WR_INPUT, "more than %u files; give fewer tasks", 1u << 24);
    d->where = (struct ior_where){.ntasks = n, .per_node = 1, .seed = seed};
    setup->clients = n;
    setup->files = (uint32_t)files;
    setup->done = drive_on_done;
    setup->passed = drive_on_passed;
    setup->done_ctx = d;
    setup->seed = seed;
    d->setup = *setup;
    if (!stack_engine_open(&d->engine, setup, err))
        return false;
    d->task = wr_zalloc(n, sizeof *d->task);
    d->cb = setup->cb;
    if (!d->cb.nodes && setup->timings->medium == STACK_SHARED)
        d->cb.nodes = 1; /* ROMIO takes one of each node, and here all are on one */
    d->coll.part = wr_zalloc(n, sizeof *d->coll.part);
    d->coll.next = wr_zalloc(n, sizeof *d->coll.next);
    d->coll.moved = wr_zalloc(n, sizeof *d->coll.moved);
    for (uint32_t i = 0; i < n; i++) {
        ior_rank_init(&d->task[i].at, i);
        d->task[i].running = STACK_OPS;
    }
    return true;
}

bool stack_drive_open(struct stack_drive **ret, struct stack_setup *setup,
                      const struct ior_test *test, uint32_t tasks, uint64_t seed,
                      struct wr_err *err)
{
    uint32_t n = test->tasks ? (uint32_t)test->tasks : tasks;

    assert(setup->fs && setup->timings);
    if (!drive_find_api(&setup->api, test, setup, err) || !drive_check_test(test, n, setup, err))
        return false;
    struct stack_drive *d = wr_zalloc(1, sizeof *d);
    uint64_t files =
        (uint64_t)(test->file_per_task ? n : 1) * (uint64_t)(test->multi_file ? test->reps : 1);

    d->test = test;
    d->phases_per_rep = (uint32_t)(test->write + test->read + test->check_write + test->check_read);
    setup->all_b = drive_total_bytes(test, n);
    if (!drive_open(d, setup, n, files, seed, err)) {
        stack_drive_close(d);
        return false;
    }
    if (!test->write)
        for (uint32_t i = 0; i < setup->files; i++)
            stack_engine_put_file(d->engine, i,
                                  test->file_per_task ? setup->all_b / n : setup->all_b);
    *ret = d;
    return true;
}

bool stack_drive_open_program(struct stack_drive **ret, struct stack_setup *setup,
                              struct stack_play *program, uint32_t tasks, uint64_t seed,
                              struct wr_err *err)
{
    /* every task opens what it uses, and nothing is done around it */
    static const struct ior_test plain = {.file_per_task = true, .existing = true, .keep = true};
    struct stack_drive *d = wr_zalloc(1, sizeof *d);

    if (setup->timings->function.n)
        wr_fail(err, WR_INPUT,
                "these timing models need to know the bytes of the whole test, which a program "
                "does not give; use others");
    d->test = &plain;
    d->program = program;
    d->phases_per_rep = 2;
    setup->api = STACK_MPIIO;
    if (setup->timings->function.n || !drive_open(d, setup, tasks, STACK_PLAY_FILES, seed, err)) {
        stack_drive_close(d);
        return false;
    }
    *ret = d;
    return true;
}

void stack_drive_close(struct stack_drive *d)
{
    if (!d)
        return;
    stack_engine_close(d->engine);
    stack_play_close(d->program);
    wr_vec_fini(&d->phase);
    free(d->coll.part);
    free(d->coll.next);
    free(d->coll.moved);
    free(d->task);
    free(d);
}

struct stack_engine *stack_drive_engine(struct stack_drive *d)
{
    return d->engine;
}

const struct ior_where *stack_drive_where(const struct stack_drive *d)
{
    return &d->where;
}

void stack_drive_begin(struct stack_drive *d)
{
    for (uint32_t i = 0; i < d->where.ntasks; i++)
        stack_engine_later(d->engine, i, 0);
}

/* A phase of a program may have no open, no close, or accesses after its last close; one that was
 * interrupted ends where it was. */
static void drive_complete_phase(struct stack_phase *p)
{
    if (p->open_last < p->open_first)
        p->open_last = p->open_first;
    uint64_t end = p->opened && p->open_last > p->io_last ? p->open_last : p->io_last;

    if (p->close_first > p->close_last)
        p->close_first = p->close_last = end;
    if (p->close_last < end)
        p->close_last = end;
}

bool stack_drive_run(struct stack_drive *d, bool *ret_interrupted, struct wr_err *err)
{
    bool stopped = false;
    uint64_t before = 0;

    assert(d->engine);
    while (stack_engine_run(d->engine, STACK_FOREVER, 1 << 20) && !stopped) {
        if (stack_engine_progress(d->engine) == before)
            return wr_fail(err, WR_INPUT, "the test would take more than %s; make it smaller",
                           d->setup.wire ? "106 days, after which a fabric's clock ends"
                                         : "292 years");
        before = stack_engine_progress(d->engine);
        stopped = wr_interrupted();
    }
    uint16_t stuck = stack_engine_stuck(d->engine);

    if (d->program && !stack_play_failed(d->program, err))
        return false;
    for (size_t i = 0; (d->program || stopped) && i < d->phase.n; i++)
        drive_complete_phase(&d->phase.v[i]);
    if (stuck != STACK_NONE)
        return wr_fail(err, WR_INPUT,
                       "the machines run in a circle through %s and never wait; let a code lead "
                       "out of it",
                       stack_state_text(d->setup.fs, stuck).s);
    if (!stopped && d->ended < d->where.ntasks)
        return wr_fail(
            err, WR_INPUT,
            "%u of %u tasks wait for something that never comes: the machines of %s have "
            "a gap; find it with `weir stack step`",
            d->where.ntasks - d->ended, d->where.ntasks, d->setup.fs->name);
    if (!stopped && d->failed)
        return wr_fail(err, WR_INPUT,
                       "an open, read or write failed in the simulated file system; see how with "
                       "`weir stack trace`");
    *ret_interrupted = stopped;
    return true;
}

size_t stack_drive_phases(const struct stack_drive *d, const struct stack_phase **ret)
{
    *ret = d->phase.v;
    return d->phase.n;
}

struct stack_collected stack_drive_collected(const struct stack_drive *d)
{
    return d->coll.sum;
}

uint64_t stack_drive_end(const struct stack_drive *d)
{
    return d->end;
}

struct stack_task_sum stack_drive_task(const struct stack_drive *d, uint32_t task)
{
    assert(task < d->where.ntasks);
    return d->task[task].sum;
}
