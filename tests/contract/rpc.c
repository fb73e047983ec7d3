/* Every transport in the table, present and future, keeps what RPC promises. */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "rpc/driver.h"
#include "rpc/worker_pool.h"

/* Providers keep what they found out about themselves until the end. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfabric.so";
}

enum { SIZE = 1 << 20, TOKEN = 77, PATIENCE_MS = 20000 };
#define PATIENCE_NS UINT64_C(20000000000)

/* Every transport, and the providers it is tested with. */
static const struct way {
    const struct rpc_transport *transport;
    const char *provider;
    bool slow; /* tens of milliseconds for a message: only what is sent and received is looked at */
    bool locks; /* it shares locks with its peers: a process that is killed may leave one locked for
                   ever */
} ways[] = {{&rpc_shm, NULL, false, false},
            {&rpc_tcp, NULL, false, false},
            {&rpc_fabric, "tcp;ofi_rxm", false, false},
            {&rpc_fabric, "net", false, false},
            {&rpc_fabric, "sockets", true, false},
            {&rpc_fabric, "shm", false, true}};

static uint32_t max_peers = 4; /* of a server */

static struct rpc_opts opts_of(const struct rpc_transport *t)
{
    return (struct rpc_opts){.transport = t,
                             .token = {{TOKEN, TOKEN}},
                             .wait = RPC_ADAPTIVE,
                             .spin_us = 20,
                             .oversubscribed = true,
                             .depth = 4,
                             .bulk_b = SIZE,
                             .peers = max_peers,
                             .hello_ms = PATIENCE_MS};
}

struct board {
    char address[RPC_ADDRESS], why[256];
    volatile int state; /* 1: ready, 2: failed */
    volatile bool met;  /* a client that is to be killed */
    volatile uint64_t dropped[RPC_DROPS], refused;
};

static struct board *board;

/* How long one has waited, not how late it is: a process that was stopped for long meanwhile, or
 * all of us, still gets its turn. */
struct patience {
    uint64_t looked_ns, waited_ns;
};

static bool patient(struct patience *p)
{
    enum { PIECE_NS = 20000000 };
    uint64_t now = wr_clock_ns(), since = p->looked_ns ? now - p->looked_ns : 0;

    p->waited_ns += since < PIECE_NS ? since : PIECE_NS;
    p->looked_ns = now;
    return p->waited_ns < PATIENCE_NS;
}

static pid_t serve(const struct rpc_opts *o)
{
    memset(board, 0, sizeof *board);
    pid_t pid = fork();

    if (pid) {
        while (!board->state)
            usleep(1000);
        return pid;
    }
    struct rpc_server *s;
    struct wr_err err;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!rpc_server_open(&s, o, &err)) {
        snprintf(board->why, sizeof board->why, "%.250s", err.text);
        board->state = 2;
        _exit(1);
    }
    rpc_server_address(s, board->address);
    board->state = 1;
    for (;;) {
        rpc_server_step(s, 20000000);
        for (int i = 0; i < RPC_DROPS; i++)
            board->dropped[i] = rpc_server_stats(s)->dropped[i];
        board->refused = rpc_server_stats(s)->refused;
    }
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    rpc_pool_remove_shm(pid);
}

struct answer {
    int n;
    enum rpc_status status;
    uint32_t len;
    uint8_t payload[RPC_INLINE_MOST];
};

static void take(void *ctx, uint64_t cookie, enum rpc_status status, const void *payload,
                 uint32_t len)
{
    struct answer *a = ctx;

    assert_int_equal(cookie, 42);
    a->n++;
    a->status = status;
    a->len = len;
    memcpy(a->payload, payload, len);
}

static enum rpc_status ask(struct rpc_client *c, struct answer *a, struct rpc_call call)
{
    struct patience p = {0};
    int before = a->n;

    call.cookie = 42;
    assert_true(rpc_client_start(c, &call));
    rpc_client_flush(c);
    while (a->n == before && patient(&p))
        rpc_client_step(c, 10000000);
    assert_int_equal(a->n, before + 1);
    return a->status;
}

/* `dies`: the server is killed at work. Where it shares locks with clients they may hang; a client
 * that hangs is killed by the worker pool. */
static void each(bool slow_too, bool dies,
                 void (*check)(const struct rpc_transport *t, const struct rpc_opts *o, pid_t pid))
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct rpc_opts o = opts_of(ways[i].transport);

        if ((ways[i].slow && !slow_too) || (ways[i].locks && dies))
            continue;

        o.provider = ways[i].provider;
        pid_t pid = serve(&o);

        if (board->state == 2) {
            print_message("%s: skipped: %s\n", o.provider ? o.provider : "", board->why);
            waitpid(pid, NULL, 0);
            continue;
        }
        check(ways[i].transport, &o, pid);
        end(pid);
    }
}

static void open_client(struct rpc_client **ret, const struct rpc_opts *o, struct answer *a)
{
    struct wr_err err = {0};

    *a = (struct answer){0};
    if (!rpc_client_open(ret, o, board->address, take, a, &err))
        fail_msg("%s, %s: %s", o->transport->name, o->provider ? o->provider : "", err.text);
}

static void check_echo(const struct rpc_transport *t, const struct rpc_opts *o, pid_t pid)
{
    struct rpc_client *c;
    struct answer a;
    uint8_t payload[RPC_INLINE_MOST];

    (void)t;
    (void)pid;
    open_client(&c, o, &a);
    for (uint32_t len = 0; len <= rpc_client_inlined(c); len = len * 2 + 1) {
        for (uint32_t i = 0; i < len; i++)
            payload[i] = (uint8_t)(i + len);
        for (int again = 0; again < 10; again++) {
            struct rpc_call call = {.op = RPC_OP_NOOP, .payload = payload, .len = len};

            assert_int_equal(ask(c, &a, call), RPC_OK);
            assert_int_equal(a.len, len);
            assert_memory_equal(a.payload, payload, len);
        }
    }
    rpc_client_close(c);
}

static void small_payloads_come_back_as_they_went(void **state)
{
    (void)state;
    each(true, false, check_echo);
}

static void check_bulk(const struct rpc_transport *t, const struct rpc_opts *o, pid_t pid)
{
    struct rpc_client *c;
    struct answer a;

    (void)t;
    (void)pid;
    open_client(&c, o, &a);
    uint8_t *mine = rpc_client_bulk(c);

    memset(mine, 0xee, SIZE);
    assert_int_equal(ask(c, &a, (struct rpc_call){.op = RPC_OP_GET, .at = 64, .bulk_len = 4000}),
                     RPC_OK);
    for (size_t i = 0; i < 4000; i += 8) {
        uint64_t v;

        memcpy(&v, mine + 64 + i, 8);
        assert_true(v == rpc_pattern(i));
    }
    assert_int_equal(mine[63], 0xee);
    assert_int_equal(mine[64 + 4000], 0xee);
    /* What goes up is looked at there. */
    assert_int_equal(ask(c, &a, (struct rpc_call){.op = RPC_OP_PUT, .at = 64, .bulk_len = 4000}),
                     RPC_OK);
    assert_int_equal(ask(c, &a, (struct rpc_call){.op = RPC_OP_PUT, .at = 72, .bulk_len = 4000}),
                     RPC_BAD_DATA);
    assert_int_equal(ask(c, &a, (struct rpc_call){.op = RPC_OP_GET, .bulk_len = SIZE}), RPC_OK);
    rpc_client_close(c);
}

static void bulk_data_arrives_both_ways_and_nowhere_else(void **state)
{
    (void)state;
    each(true, false, check_bulk);
}

static void check_bounds(const struct rpc_transport *t, const struct rpc_opts *o, pid_t pid)
{
    struct rpc_client *c;
    struct answer a;

    (void)t;
    (void)pid;
    open_client(&c, o, &a);
    assert_int_equal(ask(c, &a, (struct rpc_call){.op = RPC_OP_GET, .bulk_len = SIZE + 1}),
                     RPC_BAD_RANGE);
    assert_int_equal(ask(c, &a, (struct rpc_call){.op = RPC_OP_GET, .bulk_len = 0}), RPC_BAD_RANGE);
    assert_int_equal(ask(c, &a, (struct rpc_call){.op = RPC_OP_SREAD, .bulk_len = 4096}),
                     RPC_BAD_OP);
    assert_int_equal(ask(c, &a, (struct rpc_call){.op = RPC_OP_NOOP}), RPC_OK);
    rpc_client_close(c);
}

static void what_is_out_of_bounds_is_refused_and_the_server_goes_on(void **state)
{
    (void)state;
    each(false, false, check_bounds);
}

static void check_token(const struct rpc_transport *t, const struct rpc_opts *o, pid_t pid)
{
    struct rpc_opts other = *o;
    struct rpc_client *c = NULL;
    struct answer a = {0};
    struct wr_err err;

    (void)t;
    (void)pid;
    other.token.word[1]++;
    other.hello_ms = 200;
    assert_false(rpc_client_open(&c, &other, board->address, take, &a, &err));
    assert_null(c);
    for (struct patience p = {0}; !board->dropped[RPC_DROP_TOKEN] && patient(&p);)
        usleep(1000); /* the server may get its turn only now */
    assert_true(board->dropped[RPC_DROP_TOKEN] > 0);
}

static void without_the_token_no_client_is_served(void **state)
{
    (void)state;
    each(false, false, check_token);
}

struct met {
    int n;
    struct rpc_head head;
};

static void keep_head(void *ctx, uint32_t peer, const void *bytes, size_t len)
{
    struct met *m = ctx;

    (void)peer;
    assert_true(len >= sizeof m->head);
    memcpy(&m->head, bytes, sizeof m->head);
    m->n++;
}

static void ignore_bulk(void *ctx, uint64_t cookie, bool ok)
{
    (void)ctx;
    (void)cookie;
    (void)ok;
}

/* A hello as a later version would send it: below the client, which cannot. */
static void check_version(const struct rpc_transport *t, const struct rpc_opts *o, pid_t pid)
{
    struct rpc_ep_opts eo = {.provider = o->provider, .depth = 1, .peers = 1};
    struct rpc_head h = {.magic = RPC_MAGIC,
                         .version = RPC_VERSION + 1,
                         .kind = RPC_HELLO,
                         .token = {{TOKEN, TOKEN}},
                         .id = 7};
    uint8_t about[RPC_INLINE_MOST];
    struct met met = {.n = 0};
    struct rpc_ep *ep;
    struct wr_err err;

    (void)pid;
    assert_true(t->open(&ep, &eo, &err));
    ep->ctx = &met;
    ep->on_msg = keep_head;
    ep->on_bulk = ignore_bulk;
    assert_true(t->connect(ep, board->address, &err));
    h.len = (uint32_t)t->introduce(ep, about, sizeof about);
    while (!t->send(ep, 0, &h, about))
        t->progress(ep);
    t->flush(ep);
    for (struct patience p = {0}; !met.n && patient(&p);)
        if (!t->progress(ep))
            usleep(1000);
    assert_int_equal(met.n, 1);
    assert_true(met.head.kind == RPC_RESPONSE && met.head.id == 7);
    assert_int_equal(met.head.status, RPC_BAD_VERSION);
    t->close(ep);
}

static void another_version_gets_an_answer_that_says_so(void **state)
{
    (void)state;
    each(false, false, check_version);
}

static struct rpc_seen seen;
static pid_t victim;

/* Asked now and then while a load is driven. */
static bool kill_the_server_once_it_has_answered(void)
{
    if (victim && seen.calls) {
        kill(victim, SIGKILL);
        victim = 0;
    }
    return false;
}

static void check_gone(const struct rpc_transport *t, const struct rpc_opts *o, pid_t pid)
{
    struct rpc_load l = {.op = RPC_OP_NOOP, .depth = 2, .measure_ns = 10 * PATIENCE_NS};
    struct rpc_driver *d;
    struct wr_err err;

    /* Once as if it were on another node, where only its silence shows it. */
    char *life = strchr(board->address, '@');

    if (t == &rpc_fabric && !strcmp(o->provider, "tcp;ofi_rxm") && life)
        *life = '\0';
    assert_true(rpc_driver_open(&d, o, board->address, &err));
    /* The server is a child of this process: until it is waited for, it is a zombie. */
    signal(SIGCHLD, SIG_IGN);
    victim = pid;
    rpc_drive(d, &l, &seen, kill_the_server_once_it_has_answered);
    signal(SIGCHLD, SIG_DFL);
    assert_true(seen.server_gone);
    print_message("%s: missed after %.2f s\n", o->provider ? o->provider : o->transport->name,
                  1e-9 * (double)seen.elapsed_ns);
    assert_true(seen.calls > 0 && seen.elapsed_ns < l.measure_ns);
    rpc_driver_close(d);
}

static void a_server_that_dies_is_missed_and_what_was_measured_kept(void **state)
{
    (void)state;
    each(false, true, check_gone);
}

/* On a busy machine, or with a slow disk, the server may not get its turn in so short a time. */
static void drive_until_answered(struct rpc_driver *d, struct rpc_load *l, const char *what)
{
    for (;; l->measure_ns *= 2) {
        rpc_drive(d, l, &seen, NULL);
        if (seen.calls)
            break;
        if (l->measure_ns > 8000000000)
            fail_msg("%s: no call was answered in %.2f s", what, 1e-9 * (double)seen.elapsed_ns);
    }
    if (seen.failed || seen.bad_data || seen.unanswered || seen.server_gone)
        fail_msg("%s: of %lu calls %lu failed, %lu had bad data, %lu were not answered%s", what,
                 seen.calls, seen.failed, seen.bad_data, seen.unanswered,
                 seen.server_gone ? "; the server is gone" : "");
}

static bool stop_the_server_once_it_has_answered(void)
{
    if (victim && seen.calls) {
        kill(victim, SIGSTOP);
        waitpid(victim, NULL, WUNTRACED);
        victim = 0;
    }
    return false;
}

/* What it answers when it goes on, after all clients gave up, is no answer to others' calls. */
static void a_server_that_stops_for_long_does_not_spoil_what_follows(void **state)
{
    struct rpc_load get = {.op = RPC_OP_GET, .size_b = 4096, .depth = 4, .measure_ns = 300000000},
                    put = {.op = RPC_OP_PUT, .size_b = 8192, .depth = 4, .measure_ns = 300000000};
    struct rpc_opts o = opts_of(&rpc_shm);
    struct rpc_driver *d;
    struct wr_err err;
    pid_t pid = serve(&o);

    (void)state;
    assert_true(rpc_driver_open(&d, &o, board->address, &err));
    do {
        victim = pid;
        rpc_drive(d, &get, &seen, stop_the_server_once_it_has_answered);
        assert_int_equal(seen.failed + seen.bad_data, 0);
        assert_false(seen.server_gone);
        if (seen.unanswered) { /* until these are, it may write to our memory */
            rpc_drive(d, &put, &seen, NULL);
            assert_true(seen.unanswered && !seen.elapsed_ns && !seen.calls);
        }
        kill(pid, SIGCONT);
    } while (victim || !seen.unanswered);
    drive_until_answered(d, &put, "after a stop");
    drive_until_answered(d, &get, "after a stop");
    rpc_driver_close(d);
    end(pid);
}

static void check_load(const struct rpc_transport *t, const struct rpc_opts *o, pid_t pid)
{
    static const struct rpc_load loads[] = {
        {.op = RPC_OP_NOOP, .size_b = 8, .depth = 4, .warm_ns = 10000000, .measure_ns = 120000000},
        {.op = RPC_OP_NOOP, .depth = 1, .think_ns = 200000, .measure_ns = 120000000},
        {.op = RPC_OP_NOOP, .depth = 4, .rate = 2000, .measure_ns = 120000000},
        {.op = RPC_OP_NOOP,
         .depth = 1,
         .on_ns = 5000000,
         .off_ns = 20000000,
         .measure_ns = 120000000,
         .slice_ns = 10000000},
        {.op = RPC_OP_GET, .size_b = 65536, .depth = 4, .measure_ns = 120000000},
        {.op = RPC_OP_PUT, .size_b = SIZE / 4, .depth = 4, .measure_ns = 120000000},
    };
    struct rpc_driver *d;
    struct wr_err err;

    (void)t;
    (void)pid;
    assert_true(rpc_driver_open(&d, o, board->address, &err));
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        struct rpc_load l = loads[i];
        char what[64];

        snprintf(what, sizeof what, "%s %s, load %zu", o->transport->name,
                 o->provider ? o->provider : "", i);
        drive_until_answered(d, &l, what);
        assert_true(seen.elapsed_ns == l.measure_ns);
        assert_true(seen.latency_ps.n == seen.calls);
        if (loads[i].think_ns) /* pauses bound the rate from above */
            assert_true(seen.calls <= seen.elapsed_ns / loads[i].think_ns + 1);
        if (loads[i].rate > 0)
            assert_true((double)seen.calls < 2e-9 * l.rate * (double)seen.elapsed_ns);
        uint64_t in_slices = 0;

        for (uint32_t k = 0; k < seen.nslices; k++)
            in_slices += seen.slice_calls[k];
        assert_true(!loads[i].slice_ns || in_slices == seen.calls);
    }
    rpc_driver_close(d);
}

static void loads_are_driven_as_given(void **state)
{
    (void)state;
    each(false, false, check_load);
}

static void check_policies(const struct rpc_transport *t, const struct rpc_opts *o, pid_t pid)
{
    (void)pid;
    for (int w = RPC_BLOCK; w <= RPC_TIMED; w++) {
        struct rpc_opts own = *o;
        struct rpc_client *c;
        struct answer a;

        own.wait = w;
        open_client(&c, &own, &a);
        /* A transport that cannot sleep says so instead of pretending. */
        assert_true(rpc_client_waits(c) == (enum rpc_wait)w || rpc_client_waits(c) == RPC_TIMED);
        if (t == &rpc_shm)
            assert_int_equal(rpc_client_waits(c), w);
        for (int i = 0; i < 200; i++)
            assert_int_equal(ask(c, &a, (struct rpc_call){.op = RPC_OP_NOOP}), RPC_OK);
        rpc_client_close(c);
    }
}

static void every_way_to_wait_gets_its_answers(void **state)
{
    (void)state;
    each(false, false, check_policies);
}

static uint64_t cpu_ns_of(pid_t pid)
{
    struct timespec t;
    clockid_t clock;

    assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
    assert_int_equal(clock_gettime(clock, &t), 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Processor time, not time, so that it does not matter how busy the machine is, and no more than
 * the difference between one that sleeps and one that does not: how little it is, is measured (make
 * bench), since it depends on machine and sanitizer. Some transports turn out not to sleep only
 * after a message, and a server needs a moment to notice. */
static void check_idle(const struct rpc_transport *t, const struct rpc_opts *o, pid_t pid)
{
    enum { LOOK_NS = 150000000, TRIES = 20 };
    struct rpc_client *c;
    struct answer a;
    uint64_t used = LOOK_NS;

    (void)t;
    open_client(&c, o, &a);
    for (int i = 0; i < 20; i++)
        assert_int_equal(ask(c, &a, (struct rpc_call){.op = RPC_OP_NOOP}), RPC_OK);
    for (int i = 0; i < TRIES && used > LOOK_NS / 10; i++) {
        uint64_t before = cpu_ns_of(pid);

        usleep(LOOK_NS / 1000);
        used = cpu_ns_of(pid) - before;
    }
    print_message("%s: idle at %.2f %% of a processor\n",
                  o->provider ? o->provider : o->transport->name, 100.0 * (double)used / LOOK_NS);
    assert_true(used <= LOOK_NS / 10);
    assert_int_equal(ask(c, &a, (struct rpc_call){.op = RPC_OP_NOOP}), RPC_OK);
    rpc_client_close(c);
}

static void an_idle_server_leaves_the_processor_alone_and_still_answers(void **state)
{
    (void)state;
    each(false, false, check_idle);
}

static void say_hello_and_stay(const struct rpc_opts *o)
{
    struct rpc_client *c;
    struct answer a = {0};
    struct wr_err err;

    if (!rpc_client_open(&c, o, board->address, take, &a, &err))
        _exit(1);
    board->met = true;
    for (;;)
        pause();
}

/* Was it met before it was killed? `far`: its number means nothing to the server, as if it were on
 * another node. */
static bool comes_and_dies(const struct rpc_opts *o, bool far)
{
    int status;

    board->met = false;
    pid_t one = fork(), other = 0;

    if (!one && far && (unshare(CLONE_NEWPID) || (other = fork()))) {
        bool here = other > 0;

        while (here && !board->met && !waitpid(other, NULL, WNOHANG))
            usleep(1000);
        if (here && board->met)
            kill(other, SIGKILL); /* not from inside: it is the first one there */
        _exit(0);
    }
    if (!one)
        say_hello_and_stay(o);
    while (!far && !board->met && !waitpid(one, &status, WNOHANG))
        usleep(1000);
    if (!far && board->met)
        kill(one, SIGKILL);
    waitpid(one, &status, 0);
    rpc_pool_remove_shm(one);
    return board->met;
}

static void die_often(const struct rpc_opts *o, bool far)
{
    struct rpc_opts one = *o;

    for (uint32_t i = 0; i < one.peers + 1; i++) {
        one.hello_ms = 300; /* who finds no place has no answer */
        /* It takes a moment until the server has noticed, and a busy machine some more to answer.
         */
        for (struct patience p = {0}; !comes_and_dies(&one, far);) {
            usleep(20000);
            one.hello_ms += one.hello_ms < PATIENCE_MS / 2 ? one.hello_ms / 4 : 0;
            if (!patient(&p))
                fail_msg("%s %s: no free slot after %u exits", o->transport->name,
                         o->provider ? o->provider : "", i);
        }
    }
}

static bool has_namespaces(void)
{
    int status;
    pid_t one = fork();

    if (!one)
        _exit(unshare(CLONE_NEWPID) != 0);
    waitpid(one, &status, 0);
    return WIFEXITED(status) && !WEXITSTATUS(status);
}

static void check_deaths(const struct rpc_transport *t, const struct rpc_opts *o, pid_t pid)
{
    (void)pid;
    die_often(o, false);
    if (t != &rpc_fabric || strcmp(o->provider, "tcp;ofi_rxm") != 0)
        return;
    if (has_namespaces())
        die_often(o, true);
    else
        print_message("of deaths on other nodes: skipped, no namespaces for us\n");
}

static void clients_that_exited_free_their_slots(void **state)
{
    (void)state;
    max_peers = 1;
    each(false, false, check_deaths);
    max_peers = 4;
}

static void check_leaving(const struct rpc_transport *t, const struct rpc_opts *o, pid_t pid)
{
    (void)t;
    (void)pid;
    for (int i = 0; i < 8; i++) { /* twice as many as there are slots */
        struct rpc_client *c;
        struct answer a;

        open_client(&c, o, &a);
        assert_int_equal(ask(c, &a, (struct rpc_call){.op = RPC_OP_NOOP}), RPC_OK);
        struct rpc_used used;

        assert_int_equal(ask(c, &a, (struct rpc_call){.op = RPC_OP_USAGE}), RPC_OK);
        assert_int_equal(a.len, sizeof used);
        memcpy(&used, a.payload, sizeof used);
        assert_true(used.user_ns + used.sys_ns > 0 && !used.dropped && used.waits <= RPC_TIMED);
        rpc_client_close(c);
    }
}

static void clients_that_leave_free_their_slots(void **state)
{
    (void)state;
    each(false, false, check_leaving);
}

static void storage_is_read_and_written_through_the_server(void **state)
{
    static const struct rpc_load loads[] = {
        {.op = RPC_OP_SREAD, .size_b = 4096, .depth = 4},
        {.op = RPC_OP_SWRITE, .size_b = 4096, .depth = 4},
        {.op = RPC_OP_SREAD, .size_b = 65536, .depth = 2}, /* also what was written */
        {.op = RPC_OP_SWRITE, .size_b = 1 << 20, .depth = 1},
        {.op = RPC_OP_SREAD, .size_b = 4096, .depth = 4},
    };
    struct rpc_opts o = opts_of(&rpc_shm);
    struct rpc_driver *d;
    struct wr_err err;
    char dir[] = "/tmp/weir-test-store-XXXXXX";

    (void)state;
    assert_non_null(mkdtemp(dir));
    o.storage = dir;
    o.storage_b = 4 << 20;
    pid_t pid = serve(&o);

    if (board->state == 2) {
        print_message("skipped: %s\n", board->why);
        waitpid(pid, NULL, 0);
        rmdir(dir);
        return;
    }
    assert_true(rpc_driver_open(&d, &o, board->address, &err));
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        struct rpc_load l = loads[i];

        l.storage_b = o.storage_b;
        l.measure_ns = 50000000;
        l.seed = i;
        drive_until_answered(d, &l, "storage");
    }
    rpc_driver_close(d);
    end(pid);
    assert_int_equal(rmdir(dir), 0); /* its file had no name */
}

static void messages_that_are_not_ours_are_distinguished(void **state)
{
    struct rpc_head good = {.magic = RPC_MAGIC,
                            .version = RPC_VERSION,
                            .kind = RPC_REQUEST,
                            .token = {{TOKEN, TOKEN}},
                            .len = 8};
    struct rpc_head h = good, got;
    uint8_t bytes[48] = {0};

    (void)state;
#define TRY(field, value, want)                                                        \
    do {                                                                               \
        h = good;                                                                      \
        h.field = value;                                                               \
        memcpy(bytes, &h, sizeof h);                                                   \
        assert_int_equal(rpc_wire_take(&got, bytes, sizeof bytes, &good.token), want); \
    } while (0)
    TRY(op, RPC_OP_GET, RPC_TAKEN);
    TRY(magic, 1, RPC_DROP_MAGIC);
    TRY(version, RPC_VERSION + 1, RPC_DROP_VERSION);
    TRY(token.word[0], TOKEN + 1, RPC_DROP_TOKEN);
    TRY(token.word[1], TOKEN + 1, RPC_DROP_TOKEN);
    TRY(kind, 0, RPC_DROP_KIND);
    TRY(kind, RPC_KINDS, RPC_DROP_KIND);
    TRY(len, 9, RPC_DROP_LENGTH);
    TRY(len, UINT32_MAX, RPC_DROP_LENGTH);
    assert_int_equal(rpc_wire_take(&got, bytes, 39, &good.token), RPC_DROP_SHORT);
#undef TRY
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_that_are_not_ours_are_distinguished),
        cmocka_unit_test(small_payloads_come_back_as_they_went),
        cmocka_unit_test(bulk_data_arrives_both_ways_and_nowhere_else),
        cmocka_unit_test(what_is_out_of_bounds_is_refused_and_the_server_goes_on),
        cmocka_unit_test(without_the_token_no_client_is_served),
        cmocka_unit_test(another_version_gets_an_answer_that_says_so),
        cmocka_unit_test(a_server_that_dies_is_missed_and_what_was_measured_kept),
        cmocka_unit_test(loads_are_driven_as_given),
        cmocka_unit_test(a_server_that_stops_for_long_does_not_spoil_what_follows),
        cmocka_unit_test(every_way_to_wait_gets_its_answers),
        cmocka_unit_test(an_idle_server_leaves_the_processor_alone_and_still_answers),
        cmocka_unit_test(clients_that_leave_free_their_slots),
        cmocka_unit_test(clients_that_exited_free_their_slots),
        cmocka_unit_test(storage_is_read_and_written_through_the_server),
    };

    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
