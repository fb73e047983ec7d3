/* A server over TCP under attack: by connections that have no token, and by clients that have it
 * and do not keep their side. Others are served meanwhile, and nothing is left behind. */
#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "rpc/rpc.h"

enum { SIZE = 1 << 16, PEERS = 1024, PATIENCE = 20000, MESSAGES = 200000, HELD = 400 };
enum { CUT_B = 32 << 20 };

static const struct wr_token token = {{77, 78}};

struct board {
    char address[RPC_ADDRESS];
    volatile int ready;
};

static struct board *board;

static struct rpc_opts opts(void)
{
    return (struct rpc_opts){.transport = &rpc_tcp,
                             .token = token,
                             .wait = RPC_BLOCK,
                             .depth = 4,
                             .bulk_b = SIZE,
                             .peers = PEERS};
}

/* ---- the server ---- */

static pid_t serve(rlim_t files)
{
    struct rpc_opts o = opts();
    struct rpc_server *s;
    struct wr_err err;

    memset(board, 0, sizeof *board);
    pid_t pid = fork();

    if (pid) {
        while (!board->ready && !waitpid(pid, NULL, WNOHANG))
            usleep(1000);
        assert_true(board->ready);
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (files)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){files, files});
    if (!rpc_server_open(&s, &o, &err))
        _exit(1);
    rpc_server_address(s, board->address);
    board->ready = 1;
    for (;;)
        rpc_server_step(s, 20000000);
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static unsigned files_of(pid_t pid)
{
    char path[64];
    unsigned n = 0;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);

    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static unsigned server_port(void)
{
    unsigned port = 0;

    assert_int_equal(sscanf(board->address, "tcp:127.0.0.1:%u", &port), 1);
    return port;
}

/* Sockets of the server's in CLOSE_WAIT: the other end is gone, and it did not see that. */
static unsigned close_waits(void)
{
    FILE *f = fopen("/proc/net/tcp", "r");
    unsigned local, state, n = 0, port = server_port();
    char line[512];

    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, " %*d: %*x:%x %*x:%*x %x", &local, &state) == 2)
            n += local == port && state == 8;
    fclose(f);
    return n;
}

/* Until the server has as many descriptors as before, however long that takes on this machine. */
static void settles(pid_t server, unsigned files)
{
    for (int i = 0; i < PATIENCE && (files_of(server) > files || close_waits()); i++)
        usleep(1000);
    assert_true(files_of(server) <= files);
    assert_int_equal(close_waits(), 0);
}

/* ---- a good client ---- */

struct answers {
    uint32_t n, failed;
};

static void on_answer(void *ctx, uint64_t cookie, enum rpc_status status, const void *payload,
                      uint32_t len)
{
    struct answers *a = ctx;

    (void)cookie;
    (void)payload;
    (void)len;
    a->n++;
    a->failed += status != RPC_OK;
}

/* Connects, and gets and puts what it got. */
static void good_client_is_served(void)
{
    static const enum rpc_op ops[] = {RPC_OP_NOOP, RPC_OP_GET, RPC_OP_PUT};
    struct rpc_opts o = opts();
    struct answers a = {0, 0};
    struct rpc_client *c;
    struct wr_err err = {.code = WR_NONE};

    if (!rpc_client_open(&c, &o, board->address, on_answer, &a, &err))
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < 12; i++) {
        struct rpc_call call = {.op = ops[i % 3], .bulk_len = SIZE};

        assert_true(rpc_client_start(c, &call));
        rpc_client_flush(c);
        for (int steps = 0; a.n == i && steps < PATIENCE / 20; steps++)
            rpc_client_step(c, 20000000);
        if (a.n == i)
            fail_msg("call %u of a good client is not answered", i);
    }
    assert_int_equal(a.failed, 0);
    rpc_client_close(c);
}

/* ---- without the token ---- */

static int connect_raw(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)server_port()),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static void short_messages_and_closed_connections_leave_nothing_behind(void **state)
{
    enum { CONNECTIONS = 1300 };
    pid_t server = serve(0);
    unsigned files = files_of(server);

    (void)state;
    for (int i = 0; i < CONNECTIONS; i++) {
        int fd = connect_raw();

        assert_int_equal(send(fd, "sixteen bytes...", 16, MSG_NOSIGNAL), 16);
        close(fd);
    }
    good_client_is_served();
    settles(server, files);
    good_client_is_served();
    end(server);
}

static void silent_connections_keep_no_client_out(void **state)
{
    int fd[HELD];
    pid_t server = serve(0);
    unsigned files = files_of(server);

    (void)state;
    for (int i = 0; i < HELD; i++)
        fd[i] = connect_raw();
    good_client_is_served();
    settles(server, files); /* by itself: all are still connected */
    for (int i = 0; i < HELD; i++)
        close(fd[i]);
    end(server);
}

static void descriptors_are_kept_for_those_with_the_token(void **state)
{
    int fd[HELD];
    pid_t server = serve(64);

    (void)state;
    for (int i = 0; i < HELD; i++) {
        fd[i] = connect_raw();
        if (i % 16 == 0)
            assert_true(files_of(server) < 48);
    }
    good_client_is_served();
    for (int i = 0; i < HELD; i++)
        close(fd[i]);
    end(server);
}

/* ---- with the token ---- */

static void hear(void *ctx, uint32_t peer, const void *bytes, size_t len)
{
    (void)peer;
    (void)bytes;
    (void)len;
    ++*(uint32_t *)ctx;
}

static void ignore_bulk(void *ctx, uint64_t cookie, bool ok)
{
    (void)ctx;
    (void)cookie;
    (void)ok;
}

/* Below the client, which would keep its side: what comes is taken only when one asks for it. */
static struct rpc_ep *say_hello(void)
{
    struct rpc_ep_opts o = {.depth = 1, .peers = 1, .bulk_b = SIZE};
    uint8_t about[64];
    static uint32_t heard;
    struct rpc_ep *ep;
    struct wr_err err;

    assert_true(rpc_tcp.open(&ep, &o, &err));
    ep->ctx = &heard;
    ep->on_msg = hear;
    ep->on_bulk = ignore_bulk;
    assert_true(rpc_tcp.connect(ep, board->address, &err));
    uint32_t n = (uint32_t)rpc_tcp.introduce(ep, about, sizeof about);
    struct rpc_head h = rpc_head_of(RPC_HELLO, 0, &token, 0, n, 0);

    heard = 0;
    assert_true(rpc_tcp.send(ep, 0, &h, about));
    rpc_tcp.flush(ep);
    for (int i = 0; !heard && i < PATIENCE / 20; i++)
        rpc_tcp.wait(ep, 20000000);
    assert_int_equal(heard, 1);
    return ep;
}

static void request(struct rpc_ep *ep, enum rpc_op op, uint32_t id)
{
    struct rpc_ref ref = rpc_tcp.refer(ep, 0, SIZE);
    struct rpc_head h = rpc_head_of(RPC_REQUEST, op, &token, id, sizeof ref, 0);

    assert_true(rpc_tcp.send(ep, 0, &h, &ref));
    rpc_tcp.flush(ep);
}

static void puts_without_data_delay_no_other_client(void **state)
{
    pid_t server = serve(0);
    unsigned files = files_of(server);
    struct rpc_ep *bad = say_hello();

    (void)state;
    for (uint32_t i = 0; i < 200; i++)
        request(bad, RPC_OP_PUT, i);
    good_client_is_served();
    rpc_tcp.close(bad);
    settles(server, files);
    end(server);
}

/* Together they hold all pieces of memory; those that are not used are taken back. */
static void many_puts_without_data_delay_others_briefly(void **state)
{
    enum { MANY = 80 };
    struct rpc_ep *bad[MANY];
    pid_t server = serve(0);
    unsigned files = files_of(server);

    (void)state;
    for (int k = 0; k < MANY; k++) {
        bad[k] = say_hello();
        for (uint32_t i = 0; i < 20; i++)
            request(bad[k], RPC_OP_PUT, i);
    }
    good_client_is_served();
    uint32_t *heard = bad[0]->ctx;

    *heard = 0; /* one that goes on after all is answered, whatever the answer is */
    for (int i = 0; *heard < 20 && i < PATIENCE; i++)
        rpc_tcp.wait(bad[0], 20000000);
    assert_int_equal(*heard, 20);
    for (int k = 0; k < MANY; k++)
        rpc_tcp.close(bad[k]);
    settles(server, files);
    end(server);
}

static void a_client_that_reads_no_answers_delays_no_other(void **state)
{
    static const uint8_t payload[RPC_INLINE_MOST];
    pid_t server = serve(0);
    unsigned files = files_of(server);
    struct rpc_ep *bad = say_hello();
    struct rpc_head h = rpc_head_of(RPC_REQUEST, RPC_OP_NOOP, &token, 0, sizeof payload, 1);
    uint32_t full = 0;

    (void)state;
    /* Until nothing leaves any more, as the server does not read any more. */
    for (int i = 0; i < MESSAGES && full < 100; i++) {
        full = rpc_tcp.send(bad, 0, &h, payload) ? 0 : full + 1;
        if (full)
            usleep(1000);
    }
    assert_int_equal(full, 100);
    good_client_is_served();
    struct rpc_ep *other = say_hello(); /* one that gets, and does not take */

    for (uint32_t i = 0; i < 500; i++)
        request(other, RPC_OP_GET, i);
    good_client_is_served();
    rpc_tcp.close(bad);
    rpc_tcp.close(other);
    settles(server, files);
    good_client_is_served();
    end(server);
}

/* Who was slow for a while finds all its answers. */
static void who_reads_late_gets_all_its_answers(void **state)
{
    enum { CALLS = 3000 };
    static const uint8_t payload[RPC_INLINE_MOST];
    pid_t server = serve(0);
    struct rpc_ep *slow = say_hello();
    uint32_t *heard = slow->ctx, sent = 0;

    (void)state;
    *heard = 0;
    for (int full = 0; sent < CALLS && full < 100;) {
        struct rpc_head h = rpc_head_of(RPC_REQUEST, RPC_OP_NOOP, &token, sent, sizeof payload, 1);
        bool ok = rpc_tcp.send(slow, 0, &h, payload);

        sent += ok;
        full = ok ? 0 : full + 1;
        if (!ok)
            usleep(1000);
    }
    for (int i = 0; *heard < sent && i < PATIENCE; i++)
        rpc_tcp.wait(slow, 20000000);
    assert_int_equal(*heard, sent);
    rpc_tcp.close(slow);
    end(server);
}

/* ---- transfers that are cut off ---- */

/* As it travels, before a message or the bytes of a transfer (src/rpc/tcp_priv.h). */
struct framed {
    uint32_t kind, cookie;
    uint64_t len, at, key;
};
enum { FRAME_MESSAGE = 0x7765, FRAME_WRITE, FRAME_READ, FRAME_DATA };

struct served {
    struct rpc_ep *ep;
    uint32_t moved, met;
};

static void meet_all(void *ctx, uint32_t peer, const void *bytes, size_t len)
{
    struct served *s = ctx;
    const uint8_t *payload = (const uint8_t *)bytes + sizeof(struct rpc_head);

    s->met += rpc_tcp.meet(s->ep, peer, payload, len - sizeof(struct rpc_head));
}

static void count_moves(void *ctx, uint64_t cookie, bool ok)
{
    (void)cookie;
    ((struct served *)ctx)->moved += ok;
}

/* A server's endpoint alone, and a socket that has said hello to it. */
static int open_served(struct served *s)
{
    struct rpc_ep_opts o = {.server = true, .peers = 1, .bulk_b = CUT_B};
    struct {
        struct framed frame;
        struct rpc_head head;
        uint32_t layout;
    } hello = {{.kind = FRAME_MESSAGE, .len = sizeof hello.head + sizeof hello.layout},
               rpc_head_of(RPC_HELLO, 0, &token, 0, sizeof hello.layout, 0),
               1};
    size_t hello_b = sizeof hello.frame + hello.frame.len;
    struct wr_err err;

    assert_true(rpc_tcp.open(&s->ep, &o, &err));
    s->ep->ctx = s;
    s->ep->on_msg = meet_all;
    s->ep->on_bulk = count_moves;
    rpc_tcp.address(s->ep, board->address);
    int fd = connect_raw();

    assert_int_equal(send(fd, &hello, hello_b, 0), hello_b);
    for (int i = 0; !s->met && i < PATIENCE; i++)
        rpc_tcp.wait(s->ep, 1000000);
    assert_int_equal(s->met, 1);
    return fd;
}

static void take_all(int fd, void *into, size_t n, struct served *s)
{
    for (size_t got = 0; got < n;) {
        ssize_t some = recv(fd, (uint8_t *)into + got, n - got, MSG_DONTWAIT);

        assert_true(some != 0);
        got += some > 0 ? (size_t)some : 0;
        if (some < 0)
            rpc_tcp.wait(s->ep, 1000000);
    }
}

static void what_is_cut_off_leaves_memory_alone_and_the_rest_in_order(void **state)
{
    static uint8_t data[CUT_B];
    struct served s = {.moved = 0};
    int fd = open_served(&s);
    struct rpc_bulk from = {.way = RPC_FROM_PEER, .ref = {.len = CUT_B / 2}, .cookie = 5};
    struct rpc_bulk to = {.way = RPC_TO_PEER, .ref = {.len = CUT_B}, .cookie = 6};
    struct framed f, reply = {.kind = FRAME_DATA, .cookie = 5, .len = CUT_B / 2};

    (void)state;
    memset(data, 0xaa, sizeof data);
    assert_int_equal(rpc_tcp.bulk(s.ep, &from), RPC_MOVES);
    rpc_tcp.flush(s.ep);
    take_all(fd, &f, sizeof f, &s);
    assert_true(f.kind == FRAME_READ && f.cookie == 5);
    assert_int_equal(send(fd, &reply, sizeof reply, 0), sizeof reply);
    assert_int_equal(send(fd, data, 1000, 0), 1000);
    for (int i = 0; s.ep->bulk[999] != 0xaa && i < PATIENCE; i++)
        rpc_tcp.wait(s.ep, 1000000);
    rpc_tcp.cut_off(s.ep, 0, 5); /* in the middle */
    for (size_t sent = 1000; sent < CUT_B / 2;) {
        ssize_t n = send(fd, data, CUT_B / 2 - sent, MSG_DONTWAIT);

        sent += n > 0 ? (size_t)n : 0;
        rpc_tcp.wait(s.ep, 1000000);
    }
    for (int i = 0; !s.moved && i < PATIENCE; i++)
        rpc_tcp.wait(s.ep, 1000000);
    assert_int_equal(s.moved, 1);
    assert_int_equal(s.ep->bulk[1000], 0);
    assert_int_equal(s.ep->bulk[CUT_B / 2 - 1], 0);
    /* The other way: more than a connection holds, so that the end leaves after the cut. */
    memset(s.ep->bulk, 0xbb, CUT_B);
    assert_int_equal(rpc_tcp.bulk(s.ep, &to), RPC_MOVES);
    rpc_tcp.flush(s.ep);
    rpc_tcp.cut_off(s.ep, 0, 6);
    take_all(fd, &f, sizeof f, &s);
    assert_true(f.kind == FRAME_WRITE && f.len == CUT_B);
    take_all(fd, data, CUT_B, &s);
    assert_true(data[0] == 0xbb && data[CUT_B - 1] == 0);
    assert_int_equal(s.moved, 2);
    close(fd);
    rpc_tcp.close(s.ep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_messages_and_closed_connections_leave_nothing_behind),
        cmocka_unit_test(silent_connections_keep_no_client_out),
        cmocka_unit_test(descriptors_are_kept_for_those_with_the_token),
        cmocka_unit_test(puts_without_data_delay_no_other_client),
        cmocka_unit_test(many_puts_without_data_delay_others_briefly),
        cmocka_unit_test(a_client_that_reads_no_answers_delays_no_other),
        cmocka_unit_test(who_reads_late_gets_all_its_answers),
        cmocka_unit_test(what_is_cut_off_leaves_memory_alone_and_the_rest_in_order),
    };

    signal(SIGPIPE, SIG_IGN);
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
