/* What a driver counts, on a transport that answers on request; and sockets between this
 * process and itself. */
#include <arpa/inet.h>
#include <netinet/in.h>
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
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "rpc/driver.h"
#include "rpc/tcp_socket.h"

enum { TOKEN = 7, ANSWER_NS = 2000000, DEPTH = 4 };

/* ---- a transport whose answers take two milliseconds, however one waits ---- */

struct slow {
    struct rpc_ep ep;
    struct rpc_head asked[DEPTH];
    uint32_t n;
};

static struct slow *of(struct rpc_ep *ep)
{
    return (struct slow *)(void *)ep;
}

static bool slow_open(struct rpc_ep **ret, const struct rpc_ep_opts *o, struct wr_err *err)
{
    struct slow *s = calloc(1, sizeof *s);

    (void)err;
    assert_non_null(s);
    s->ep.o = *o;
    *ret = &s->ep;
    return true;
}

static void slow_close(struct rpc_ep *ep)
{
    free(of(ep));
}

static bool slow_connect(struct rpc_ep *ep, const char *address, struct wr_err *err)
{
    extern const struct rpc_transport slow;

    (void)address;
    (void)err;
    ep->t = &slow;
    return true;
}

static size_t slow_introduce(struct rpc_ep *ep, void *into, size_t size)
{
    (void)ep;
    (void)into;
    (void)size;
    return 0;
}

static bool slow_send(struct rpc_ep *ep, uint32_t peer, const struct rpc_head *head,
                      const void *payload)
{
    struct slow *s = of(ep);

    (void)peer;
    (void)payload;
    if (head->kind == RPC_BYE)
        return true;
    assert_in_range(s->n, 0, DEPTH - 1);
    s->asked[s->n++] = *head;
    return true;
}

static void slow_flush(struct rpc_ep *ep)
{
    (void)ep;
}

static uint32_t slow_progress(struct rpc_ep *ep)
{
    (void)ep;
    return 0;
}

static bool slow_blocks(struct rpc_ep *ep)
{
    (void)ep;
    return true;
}

/* Answers all that it was asked; with those that were asked meanwhile, as by a client that goes on
 * at once, for another time. */
static uint32_t slow_wait(struct rpc_ep *ep, uint64_t timeout_ns)
{
    struct slow *s = of(ep);
    uint32_t answers = 0;

    (void)timeout_ns;
    for (int round = 0; round < 2; round++) {
        struct rpc_head asked[DEPTH];
        uint32_t n = s->n;

        nanosleep(&(struct timespec){0, ANSWER_NS}, NULL);
        memcpy(asked, s->asked, sizeof asked);
        s->n = 0;
        for (uint32_t i = 0; i < n; i++) {
            asked[i].kind = RPC_RESPONSE;
            asked[i].status = RPC_OK;
            asked[i].len = 0;
            ep->on_msg(ep->ctx, 0, &asked[i], sizeof asked[i]);
        }
        answers += n;
    }
    return answers;
}

static bool slow_alive(struct rpc_ep *ep, uint32_t peer)
{
    (void)ep;
    (void)peer;
    return true;
}

extern const struct rpc_transport slow;
const struct rpc_transport slow = {.name = "slow",
                                   .looks = 1,
                                   .detects_exit = true,
                                   .open = slow_open,
                                   .close = slow_close,
                                   .connect = slow_connect,
                                   .introduce = slow_introduce,
                                   .send = slow_send,
                                   .flush = slow_flush,
                                   .progress = slow_progress,
                                   .blocks = slow_blocks,
                                   .wait = slow_wait,
                                   .alive = slow_alive};

/* However slow the machine is, some window is long enough for a call. */
static void drive(const struct rpc_load *like, struct rpc_seen *seen)
{
    struct rpc_opts o = {
        .transport = &slow, .token = {{TOKEN, 0}}, .wait = RPC_BLOCK, .depth = DEPTH};
    struct rpc_load l = *like;
    struct rpc_driver *d;
    struct wr_err err;

    if (!rpc_driver_open(&d, &o, "", &err))
        fail_msg("%s", err.text);
    for (l.measure_ns = 30000000; l.measure_ns < UINT64_C(1) << 40; l.measure_ns *= 4) {
        rpc_drive(d, &l, seen, NULL);
        if (seen->calls > 1)
            break;
    }
    rpc_driver_close(d);
    assert_int_equal(seen->bad_data + seen->failed, 0);
}

static void a_call_takes_as_long_as_its_answer_whatever_the_loop(void **state)
{
    static const struct rpc_load loads[] = {
        {.op = RPC_OP_NOOP, .depth = 1},
        {.op = RPC_OP_NOOP, .depth = DEPTH},
        {.op = RPC_OP_NOOP, .depth = DEPTH, .rate = 500},
        {.op = RPC_OP_NOOP, .depth = DEPTH, .think_ns = 1000000},
        {.op = RPC_OP_NOOP, .depth = 2, .on_ns = 5000000, .off_ns = 2000000},
    };
    static struct rpc_seen seen;

    (void)state;
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        drive(&loads[i], &seen);
        if (seen.latency_ps.min < 1000ull * ANSWER_NS)
            fail_msg("load %zu: %g us for an answer that takes %d", i,
                     (double)seen.latency_ps.min / 1e6, ANSWER_NS / 1000);
    }
}

static bool at_once(void)
{
    return true;
}

/* Ten seconds ago the warm-up began, which took one. */
static void what_was_missed_of_a_window_does_not_count(void **state)
{
    const uint64_t second = 1000000000;
    struct rpc_opts o = {
        .transport = &slow, .token = {{TOKEN, 0}}, .wait = RPC_BLOCK, .depth = DEPTH};
    static struct rpc_seen seen;
    struct rpc_driver *d;
    struct wr_err err;

    (void)state;
    if (!rpc_driver_open(&d, &o, "", &err))
        fail_msg("%s", err.text);
    uint64_t begun = rpc_realtime_ns();
    struct rpc_load l = {.op = RPC_OP_NOOP,
                         .depth = 1,
                         .start_ns = begun - 10 * second,
                         .warm_ns = second,
                         .measure_ns = 3600 * second};

    rpc_drive(d, &l, &seen, at_once);
    assert_true(seen.late_ns >= 9 * second);
    assert_true(seen.elapsed_ns > 0 && seen.elapsed_ns + seen.late_ns < 3600 * second);
    assert_true(seen.elapsed_ns <= rpc_realtime_ns() - begun);
    l.measure_ns = second; /* all of it */
    rpc_drive(d, &l, &seen, NULL);
    assert_true(seen.late_ns > second && !seen.elapsed_ns && !seen.calls);
    l.start_ns = 0;
    l.measure_ns = 1000;
    rpc_drive(d, &l, &seen, NULL);
    assert_true(!seen.late_ns && seen.elapsed_ns == 1000);
    rpc_driver_close(d);
}

/* ---- one processor ---- */

struct board {
    char address[RPC_ADDRESS];
    _Atomic int ready;
    _Atomic uint64_t sleeps;
};

static void serve(const struct rpc_opts *o, struct board *b)
{
    struct rpc_server *s;
    struct wr_err err;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!rpc_server_open(&s, o, &err))
        _exit(1);
    rpc_server_address(s, b->address);
    b->ready = 1;
    for (;;) {
        rpc_server_step(s, 100000000);
        b->sleeps = rpc_server_sleeps(s);
    }
}

static void count_answer(void *ctx, uint64_t cookie, enum rpc_status status, const void *payload,
                         uint32_t len)
{
    (void)cookie;
    (void)payload;
    (void)len;
    *(uint32_t *)ctx += status == RPC_OK;
}

/* They would look for an hour before they sleep. */
static void share_a_processor(const struct rpc_transport *t)
{
    enum { CALLS = 50 };
    struct rpc_opts o = {.transport = t,
                         .token = {{TOKEN, 0}},
                         .wait = RPC_ADAPTIVE,
                         .spin_us = 3600u * 1000000,
                         .depth = 1,
                         .peers = 1};
    struct board *b =
        mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cpu_set_t all, one;
    struct rpc_client *c;
    struct wr_err err;
    uint32_t answers = 0;

    assert_true(b != MAP_FAILED);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && !CPU_COUNT(&one); cpu--)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    pid_t server = fork();

    if (!server)
        serve(&o, b);
    while (!b->ready && !waitpid(server, NULL, WNOHANG))
        usleep(1000);
    if (!rpc_client_open(&c, &o, b->address, count_answer, &answers, &err))
        fail_msg("%s", err.text);
    uint64_t before = rpc_client_sleeps(c) + b->sleeps;

    while (answers < CALLS) {
        if (!rpc_client_under_way(c))
            rpc_client_start(c, &(struct rpc_call){.op = RPC_OP_NOOP});
        rpc_client_flush(c);
        rpc_client_step(c, 1000000000);
    }
    uint64_t after = rpc_client_sleeps(c) + b->sleeps;

    rpc_client_close(c);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    sched_setaffinity(0, sizeof all, &all);
    munmap(b, sizeof *b);
    assert_true(after > before);
}

static void who_shares_a_processor_with_its_peer_does_not_look_in_vain(void **state)
{
    (void)state;
    share_a_processor(&rpc_shm);
    share_a_processor(&rpc_tcp);
}

/* ---- sockets ---- */

/* Without ticks, or a limit, it would sleep for ever. */
static void who_ticks_wakes_from_a_sleep_without_a_limit(void **state)
{
    struct rpc_opts o = {.transport = &rpc_tcp,
                         .token = {{TOKEN, 0}},
                         .wait = RPC_BLOCK,
                         .depth = 1,
                         .hello_ms = 1,
                         .ticks = rpc_tick()};
    char name[RPC_SOCKET_NAME], address[RPC_ADDRESS];
    struct rpc_client *c;
    struct wr_err err;
    int silent;

    (void)state;
    assert_true(o.ticks);
    assert_true(rpc_socket_listen(&silent, NULL, &err));
    rpc_socket_name(silent, name);
    snprintf(address, sizeof address, "tcp:%s", name);
    assert_false(rpc_client_open(&c, &o, address, NULL, NULL, &err));
    assert_non_null(strstr(err.text, "does not answer"));
    close(silent);
}

/* Who said hello sends messages with another token: dropped one by one, so that they can be
 * counted. */
static void all_is_read_of_one_who_sends_more_than_fits(void **state)
{
    enum { MESSAGES = 20000, FRAME_MESSAGE = 0x7765 };
    static struct framed {
        uint32_t kind, cookie;
        uint64_t len, at, key;
        struct rpc_head head;
    } sent[MESSAGES];
    struct {
        struct framed framed;
        uint32_t layout;
    } hello = {{.kind = FRAME_MESSAGE,
                .len = sizeof(struct rpc_head) + sizeof hello.layout,
                .head = {.magic = RPC_MAGIC,
                         .version = RPC_VERSION,
                         .kind = RPC_HELLO,
                         .token = {{TOKEN, 0}},
                         .len = sizeof hello.layout}},
               .layout = 1};
    const size_t hello_b = sizeof(struct framed) + sizeof hello.layout;
    struct rpc_opts o = {
        .transport = &rpc_tcp, .token = {{TOKEN, 0}}, .wait = RPC_BLOCK, .peers = 1};
    struct rpc_server *s;
    char address[RPC_ADDRESS];
    struct wr_err err;
    size_t gone = 0;
    int fd;

    (void)state;
    for (size_t i = 0; i < MESSAGES; i++) {
        sent[i].kind = FRAME_MESSAGE;
        sent[i].len = sizeof sent[i].head;
        sent[i].head =
            (struct rpc_head){.magic = RPC_MAGIC, .version = RPC_VERSION, .token = {{1, 0}}};
    }
    assert_true(rpc_server_open(&s, &o, &err));
    rpc_server_address(s, address);
    assert_true(rpc_socket_connect(&fd, address + 4, NULL, 0, &err));
    assert_int_equal(send(fd, &hello, hello_b, 0), hello_b);
    while (gone < sizeof sent) {
        ssize_t n = send(fd, (uint8_t *)sent + gone, sizeof sent - gone, MSG_DONTWAIT);

        gone += n > 0 ? (size_t)n : 0;
        rpc_server_step(s, 1000000);
    }
    const uint64_t *dropped = &rpc_server_stats(s)->dropped[RPC_DROP_TOKEN];

    while (*dropped < MESSAGES)
        rpc_server_step(s, 100000000);
    assert_int_equal(*dropped, MESSAGES);
    close(fd);
    rpc_server_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_takes_as_long_as_its_answer_whatever_the_loop),
        cmocka_unit_test(what_was_missed_of_a_window_does_not_count),
        cmocka_unit_test(who_shares_a_processor_with_its_peer_does_not_look_in_vain),
        cmocka_unit_test(all_is_read_of_one_who_sends_more_than_fits),
        cmocka_unit_test(who_ticks_wakes_from_a_sleep_without_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
