#include "stack/drive.h"

#include <stdlib.h>
#include <string.h>

#include "base/signals.h"

enum { STEPS = 8 };

/* Steps that call nothing, beside STACK_OPS: a collective call begins, one of its rounds, and the
 * first task tells the others that it is done. */
enum { COLLECT = STACK_OPS + 1, ROUND, TOLD };

/* Of a round: a window with holes is read before it is written. */
enum stage { NOTHING, EXCHANGE, FILL, WINDOW, STAGES = 3 };

struct step {
    uint8_t op; /* enum stack_operation; STACK_OPS: all tasks meet here; COLLECT, ROUND, TOLD */
    bool creating, counted;
};

struct task {
    struct ior_rank at;
    struct ior_event ev;
    struct step step[STEPS]; /* what is still to be called for `ev` and around it */
    uint8_t first, n;
    uint8_t running; /* the op under way; STACK_OPS: none */
    bool counted;
    bool opened; /* and not accessed since */
    uint32_t marks;
    uint64_t t_call;
    struct stack_task_sum sum;
    bool ended;
    /* a collective call */
    uint64_t t_collect, round;
    uint8_t stage; /* of the round */
};

struct collective {
    struct stack_part *part;  /* [tasks] of the call that is under way */
    struct stack_part *next;  /* of the one that some have begun while others still write */
    uint64_t *moved;          /* [tasks] bytes in an exchange */
    uint32_t here;            /* tasks that have come */
    uint64_t passing, t_pass; /* messages of an exchange over a fabric, and when they left */
    struct stack_cb_plan plan;
    struct stack_collected sum;
};

struct stack_drive {
    struct stack_engine *engine;
    struct stack_setup setup;
    const struct ior_test *test;
    struct stack_play *program; /* instead of a test */
    struct ior_where where;
    struct task *task;
    uint32_t phases_per_rep, met, ended;
    bool failed;
    struct stack_cb cb;
    struct collective coll;
    uint64_t end;
    WR_VEC(struct stack_phase) phase;
};

static void go_on(struct stack_drive *d, uint32_t client, uint64_t t);

static void push(struct task *k, uint32_t op, bool creating, bool counted)
{
    if (k->n < STEPS)
        k->step[k->n++] = (struct step){(uint8_t)op, creating, counted};
}

/* Of a shared file one task does what concerns the file as a whole. */
static bool speaks(const struct stack_drive *d, uint32_t client)
{
    return d->test->file_per_task || !client;
}

static bool by_calls(const struct stack_drive *d)
{
    return d->setup.api == STACK_POSIX;
}

static bool has(const struct stack_drive *d, enum stack_operation op)
{
    return d->setup.fs->operation[d->setup.api][op] != STACK_NONE;
}

static void plan_open(struct stack_drive *d, uint32_t client, struct task *k)
{
    bool writes = k->ev.writes, mine = speaks(d, client);
    bool empties = writes && !d->test->existing && has(d, STACK_OP_SET_SIZE);
    enum stack_operation op = !mine && !by_calls(d) ? STACK_OP_MOUNT
                              : writes              ? STACK_OP_CREATE
                                                    : STACK_OP_OPEN;

    if (mine && writes && !d->test->existing)
        push(k, STACK_OP_PROBE, false, false);
    /* A file system whose library hands an open file from task to task needs no second open. */
    bool joins = !mine && has(d, STACK_OP_JOIN);

    if (!joins)
        push(k, op, writes, true);
    if (!d->test->file_per_task)
        push(k, STACK_OPS, false, false);
    if (joins)
        push(k, STACK_OP_JOIN, writes, true);
    if (mine && empties)
        push(k, STACK_OP_SET_SIZE, false, true);
    if (empties && !d->test->file_per_task)
        push(k, TOLD, false, false);
}

/* After a phase: is the file as long as it should be? After the last one it goes. By system calls
 * every task asks for the size, and whether the file is there needs no open. */
static void plan_mark(struct stack_drive *d, uint32_t client, struct task *k)
{
    bool last = ++k->marks % d->phases_per_rep == 0, goes = last && !d->test->keep;

    if (by_calls(d))
        push(k, STACK_OP_GET_SIZE, false, false);
    if (by_calls(d) && goes && speaks(d, client))
        push(k, STACK_OP_PROBE, false, false);
    if (by_calls(d) || !speaks(d, client))
        return;
    push(k, STACK_OP_OPEN, false, false);
    push(k, STACK_OP_GET_SIZE, false, false);
    push(k, STACK_OP_CLOSE, false, false);
    if (!goes)
        return;
    push(k, STACK_OP_OPEN, false, false);
    push(k, STACK_OP_CLOSE, false, false);
    push(k, STACK_OP_DELETE, false, false);
}

/* Where the library lets one task flush a shared file for all, it waits for the others and they for
 * it. Tasks that stop at a deadline would never meet. */
static void plan_flush(struct stack_drive *d, uint32_t client, struct task *k)
{
    bool once = d->setup.fs->once[d->setup.api][STACK_OP_SYNC] && !d->test->file_per_task &&
                !d->test->deadline_s && !d->test->least_s;

    if (once)
        push(k, STACK_OPS, false, false);
    if (!once || !client)
        push(k, STACK_OP_SYNC, false, true);
    if (once)
        push(k, STACK_OPS, false, false);
}

/* The phase that the task is in. */
static struct stack_phase *phase_of(struct stack_drive *d, const struct task *k)
{
    while (d->phase.n <= k->marks) {
        int64_t rep = (int64_t)(d->phase.n / d->phases_per_rep);

        wr_vec_push(&d->phase, (struct stack_phase){.open_first = UINT64_MAX,
                                                    .io_first = UINT64_MAX,
                                                    .close_first = UINT64_MAX,
                                                    .rep = rep});
    }
    return &d->phase.v[k->marks];
}

static void span(uint64_t *first, uint64_t *last, uint64_t from, uint64_t to)
{
    if (from < *first)
        *first = from;
    if (to > *last)
        *last = to;
}

static void account(struct stack_drive *d, struct task *k, uint64_t t)
{
    struct stack_phase *p = phase_of(d, k);

    switch (k->running) {
    case STACK_OP_OPEN:
    case STACK_OP_CREATE:
    case STACK_OP_MOUNT:
    case STACK_OP_JOIN:
        span(&p->open_first, &p->open_last, k->t_call, t);
        p->writes = k->ev.writes;
        p->opened++;
        k->opened = true;
        break;
    case STACK_OP_SET_SIZE: /* IOR's open makes the file empty */
        span(&p->open_first, &p->open_last, k->t_call, t);
        break;
    case STACK_OP_SYNC: /* and its writing ends when the data are kept */
        span(&p->io_first, &p->io_last, k->t_call, t);
        p->io_ns += t - k->t_call;
        break;
    case STACK_OP_WRITE:
    case STACK_OP_READ:
        span(&p->io_first, &p->io_last, k->t_call, t);
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
        span(&p->close_first, &p->close_last, k->t_call, t);
        break;
    default:
        break;
    }
}

static void meet(struct stack_drive *d, uint64_t t)
{
    if (++d->met < d->where.ntasks)
        return;
    d->met = 0;
    for (uint32_t i = 0; i < d->where.ntasks; i++)
        stack_engine_later(d->engine, i, t);
}

/* The first task tells the others along a binomial tree, a message each, and goes on. */
static void told(struct stack_drive *d, uint64_t t)
{
    if (++d->met < d->where.ntasks)
        return;
    d->met = 0;
    for (uint32_t i = 0, hops = 0; i < d->where.ntasks; i++) {
        while (1u << hops <= i)
            hops++;
        stack_engine_later(d->engine, i, t + hops * stack_ns(d->setup.laws->latency_ns));
    }
}

static void release(struct stack_drive *d, uint64_t t)
{
    d->coll.here = 0;
    for (uint32_t i = 0; i < d->where.ntasks; i++)
        stack_engine_later(d->engine, i, t);
}

/* A collective call begins when all are there and know of each other's offsets. */
static void collect(struct stack_drive *d, uint32_t client, uint64_t t)
{
    struct task *k = &d->task[client];
    struct collective *c = &d->coll;
    uint32_t n = d->where.ntasks, hops = 0;

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
        push(&d->task[i],
             c->plan.two_phase      ? ROUND
             : d->task[i].ev.writes ? STACK_OP_WRITE
                                    : STACK_OP_READ,
             false, true);
    release(d, t + hops * stack_ns(d->setup.laws->latency_ns));
}

static void pass(void *ctx, uint32_t task, uint32_t aggregator, uint64_t bytes)
{
    struct stack_drive *d = ctx;
    bool writes = d->task[task].ev.writes;

    stack_engine_pass(d->engine, writes ? task : aggregator, writes ? aggregator : task, bytes,
                      d->coll.t_pass);
}

static void passed(void *ctx, uint64_t t)
{
    struct stack_drive *d = ctx;

    if (--d->coll.passing)
        return;
    d->coll.sum.ns += t - d->coll.t_pass;
    release(d, t);
}

/* Bytes go from task to task, over the fabric where there is one; else each has one link, or all
 * share one. */
static void exchange(struct stack_drive *d, uint64_t round, uint64_t t)
{
    struct collective *c = &d->coll;
    const struct stack_laws *l = d->setup.laws;

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
        stack_cb_each(&c->plan, round, pass, d);
        return;
    }
    c->sum.ns += took;
    release(d, t + took);
}

/* The window of a task in this round; empty when it has none. */
static struct stack_window window_of(const struct stack_drive *d, uint32_t client,
                                     const struct task *k)
{
    if (client >= d->coll.plan.aggregators)
        return (struct stack_window){0};
    return stack_cb_window(&d->coll.plan, client, k->round);
}

static bool window(struct stack_drive *d, uint32_t client, enum stage stage, uint64_t t)
{
    struct task *k = &d->task[client];
    struct stack_window w = window_of(d, client, k);
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
static bool round_of(struct stack_drive *d, uint32_t client, uint64_t t)
{
    static const enum stage stages[2][STAGES] = {{WINDOW, EXCHANGE, NOTHING},
                                                 {EXCHANGE, FILL, WINDOW}};
    struct task *k = &d->task[client];

    if (k->stage == STAGES) {
        k->stage = 0;
        k->round++;
    }
    if (k->round == d->coll.plan.rounds) {
        struct stack_phase *p = phase_of(d, k);

        span(&p->io_first, &p->io_last, k->t_collect, t);
        p->transfers++;
        p->bytes += k->ev.bytes;
        p->io_ns += t - k->t_collect;
        *(k->ev.writes ? &k->sum.written_b : &k->sum.read_b) += k->ev.bytes;
        return false;
    }
    enum stage stage = stages[k->ev.writes][k->stage++];

    push(k, ROUND, false, false);
    if (stage == EXCHANGE) {
        exchange(d, k->round, t);
        return true;
    }
    return stage != NOTHING && window(d, client, stage, t);
}

static uint32_t file_of(const struct task *k)
{
    return (uint32_t)(uint64_t)k->ev.file;
}

/* True when the task waits for something now. */
static bool do_step(struct stack_drive *d, uint32_t client, uint64_t t)
{
    struct task *k = &d->task[client];
    struct step s = k->step[k->first++];

    if (k->first == k->n)
        k->first = k->n = 0;
    if (s.op == STACK_OPS) {
        meet(d, t);
        return true;
    }
    if (s.op == TOLD) {
        told(d, t);
        return true;
    }
    if (s.op == COLLECT) {
        collect(d, client, t);
        return true;
    }
    if (s.op == ROUND)
        return round_of(d, client, t);
    if (!has(d, s.op))
        return false;
    bool data = s.op == STACK_OP_WRITE || s.op == STACK_OP_READ;

    k->running = s.op;
    k->counted = s.counted;
    k->t_call = t;
    stack_engine_call(d->engine, client,
                      &(struct stack_call){.op = s.op,
                                           .file = file_of(k),
                                           .bytes = data ? k->ev.bytes : 0,
                                           .offset = data ? k->ev.offset : 0,
                                           .creating = s.creating},
                      t);
    return true;
}

static enum ior_op next_event(struct stack_drive *d, uint32_t client, uint64_t t,
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

/* Processes that open at the same time are not let run at the same time: the first access of each
 * is later than the one before it. Who meets before has waited for the last anyway. */
static bool staggered(struct stack_drive *d, uint32_t client, uint64_t t)
{
    struct task *k = &d->task[client];
    double all = d->setup.laws->stagger_ns[k->ev.writes];
    uint32_t n = d->where.ntasks;

    if (!k->opened || d->program || !(all > 0) || n < 2)
        return false;
    k->opened = false;
    stack_engine_later(d->engine, client, t + stack_ns(all * client / (n - 1)));
    return true;
}

static bool plan(struct stack_drive *d, uint32_t client, uint64_t t)
{
    struct task *k = &d->task[client];
    int64_t file = k->ev.file;
    uint64_t sleep_ns;

    switch (next_event(d, client, t, &sleep_ns)) {
    case IOR_BARRIER:
        k->opened = false;
        push(k, STACK_OPS, false, false);
        break;
    case IOR_OPEN:
        plan_open(d, client, k);
        break;
    case IOR_WRITE:
    case IOR_READ:
        /* of a file that each task has for itself, each is a collective of one */
        push(k,
             (d->test->collective && !d->test->file_per_task) || k->ev.together ? COLLECT
             : k->ev.op == IOR_WRITE                                            ? STACK_OP_WRITE
                                                                                : STACK_OP_READ,
             false, true);
        return !staggered(d, client, t);
    case IOR_FLUSH:
        plan_flush(d, client, k);
        break;
    case IOR_CLOSE:
        push(k, STACK_OP_CLOSE, false, true);
        break;
    case IOR_SLEEP:
        stack_engine_later(d->engine, client, t + sleep_ns);
        break;
    case IOR_MARK:
        k->ev.file = file;
        plan_mark(d, client, k);
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

static void go_on(struct stack_drive *d, uint32_t client, uint64_t t)
{
    struct task *k = &d->task[client];

    for (;;) {
        if (k->first < k->n) {
            if (do_step(d, client, t))
                return;
        } else if (!plan(d, client, t)) {
            return;
        }
    }
}

static void done(void *ctx, uint32_t client, int64_t status, uint64_t t)
{
    struct stack_drive *d = ctx;
    struct task *k = &d->task[client];
    uint8_t op = k->running;

    k->running = STACK_OPS;
    if (op < STACK_OPS)
        k->sum.io_ns += t - k->t_call;
    if (k->counted && (op == STACK_OP_WRITE || op == STACK_OP_READ))
        *(op == STACK_OP_WRITE ? &k->sum.written_b : &k->sum.read_b) += k->ev.bytes;
    if (op < STACK_OPS && k->counted) {
        k->running = op;
        account(d, k, t);
        k->running = STACK_OPS;
        d->failed |= status != 0;
    } else if (op == STACK_OP_WRITE || op == STACK_OP_READ) {
        d->failed |= status != 0; /* a window of a collective call */
    }
    if (op == STACK_OP_PROBE && !status) { /* it is there: it goes first */
        uint8_t opened = !by_calls(d);

        memmove(k->step + opened + 1, k->step + k->first,
                (size_t)(k->n - k->first) * sizeof *k->step);
        k->n = (uint8_t)(k->n - k->first + opened + 1);
        k->first = 0;
        k->step[0] = (struct step){STACK_OP_CLOSE, false, false};
        k->step[opened] = (struct step){STACK_OP_DELETE, false, false};
    }
    go_on(d, client, t);
}

static uint64_t bytes_of(const struct ior_test *t, uint32_t tasks)
{
    double all = (double)t->block * (double)t->segments * tasks;

    return all > 9e18 ? (uint64_t)9e18 : (uint64_t)all;
}

/* IOR without a back end does not know its name. */
static bool find_api(enum stack_api *ret, const struct ior_test *t, const struct stack_setup *s,
                     struct wr_err *err)
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
    if (api == STACK_POSIX && s->laws->function.n)
        return wr_fail(err, WR_INPUT,
                       "these laws are of whole calls of MPI-IO; use other --laws, or -a MPIIO");
    *ret = (enum stack_api)api;
    return true;
}

static bool sound(const struct ior_test *t, uint32_t tasks, const struct stack_setup *s,
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

static bool open_drive(struct stack_drive *d, struct stack_setup *setup, uint32_t n, uint64_t files,
                       uint64_t seed, struct wr_err *err)
{
    if (files > 1u << 24)
        return wr_fail(err, WR_INPUT, "more than %u files; give fewer tasks", 1u << 24);
    d->where = (struct ior_where){.ntasks = n, .per_node = 1, .seed = seed};
    setup->clients = n;
    setup->files = (uint32_t)files;
    setup->done = done;
    setup->passed = passed;
    setup->done_ctx = d;
    setup->seed = seed;
    d->setup = *setup;
    if (!stack_engine_open(&d->engine, setup, err))
        return false;
    d->task = wr_zalloc(n, sizeof *d->task);
    d->cb = setup->cb;
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

    if (!find_api(&setup->api, test, setup, err) || !sound(test, n, setup, err))
        return false;
    struct stack_drive *d = wr_zalloc(1, sizeof *d);
    uint64_t files =
        (uint64_t)(test->file_per_task ? n : 1) * (uint64_t)(test->multi_file ? test->reps : 1);

    d->test = test;
    d->phases_per_rep = (uint32_t)(test->write + test->read + test->check_write + test->check_read);
    setup->all_b = bytes_of(test, n);
    if (!open_drive(d, setup, n, files, seed, err)) {
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

    if (setup->laws->function.n)
        wr_fail(err, WR_INPUT,
                "these laws need to know the bytes of the whole test, which a program does not "
                "tell; use other --laws");
    d->test = &plain;
    d->program = program;
    d->phases_per_rep = 2;
    setup->api = STACK_MPIIO;
    if (setup->laws->function.n || !open_drive(d, setup, tasks, STACK_PLAY_FILES, seed, err)) {
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
static void round_off(struct stack_phase *p)
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
        round_off(&d->phase.v[i]);
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
    return d->task[task].sum;
}
