/* rpc.c -- attacks `weir roofline serve` and sees whether others are served.
 *
 *   attack-rpc WEIR SECONDS
 *
 * Each kind of attack is a process of its own and goes on until it is killed; so is the server.
 * What they did is in memory that all share. Everything happens on the loopback. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "rpc/ticket.h"

enum { SIZE = 65536, HOLDS = 300, TRICKLES = 64, PAUSE_US = 5000 };

struct board {
    _Atomic uint64_t made, peers; /* connections without the token, and with it */
};

static struct board *board;
static struct rpc_ticket ticket;

/* ---- without the token ---- */

/* From addresses of its own, so that ports do not run out, and also from the good clients'. */
static int attack_connect(uint32_t turn)
{
    unsigned port = 0;
    struct sockaddr_in from = {.sin_family = AF_INET,
                               .sin_addr = {htonl(INADDR_LOOPBACK + turn % 4 * 256)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    sscanf(ticket.address, "tcp:127.0.0.1:%u", &port);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};

    if (fd < 0 || bind(fd, (struct sockaddr *)&from, sizeof from) ||
        connect(fd, (struct sockaddr *)&to, sizeof to)) {
        if (fd >= 0)
            close(fd);
        usleep(PAUSE_US);
        return -1;
    }
    board->made++;
    return fd;
}

static void attack_send(int fd, const void *bytes, size_t n)
{
    if (send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return;
}

/* Some bytes, then the end; every other time without a goodbye. */
static void attack_flood(void)
{
    for (uint32_t i = 0;; i++) {
        struct linger now = {.l_onoff = 1};
        int fd = attack_connect(i);

        if (fd < 0)
            continue;
        attack_send(fd, "sixteen bytes...", 16);
        if (i % 2)
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        close(fd);
    }
}

/* As many as it can have, and new ones for those that were closed. */
static void attack_hold(void)
{
    int fd[HOLDS];

    for (int i = 0; i < HOLDS; i++)
        fd[i] = -1;
    for (uint32_t i = 0;; i++) {
        int *k = &fd[i % HOLDS];
        char byte;
        bool closed = *k < 0 || recv(*k, &byte, 1, MSG_DONTWAIT) == 0 || errno != EAGAIN;

        if (closed && *k >= 0)
            close(*k);
        if (closed)
            *k = attack_connect(i);
        usleep(100);
    }
}

/* The beginning of a message, a byte at a time. */
static void attack_trickle(void)
{
    static const uint32_t frame[8] = {0x7765, 0, sizeof(struct rpc_head)};
    int fd[TRICKLES];

    for (;;) {
        for (uint32_t k = 0; k < TRICKLES; k++)
            fd[k] = attack_connect(k);
        for (size_t i = 0; i < sizeof frame; i++) {
            for (int k = 0; k < TRICKLES; k++)
                if (fd[k] >= 0)
                    attack_send(fd[k], (const uint8_t *)frame + i, 1);
            usleep(20000);
        }
        for (int k = 0; k < TRICKLES; k++)
            if (fd[k] >= 0)
                close(fd[k]);
    }
}

/* Bytes of all kinds, of which some look like frames. */
static void attack_rubbish(void)
{
    struct wr_rng rng;
    uint8_t bytes[1024];

    wr_rng_init(&rng, (uint64_t)getpid(), 0, 0);
    for (uint32_t i = 0;; i++) {
        int fd = attack_connect(i);

        if (fd < 0)
            continue;
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)wr_rng_below(&rng, 256);
        if (i % 2)
            memcpy(bytes, &(uint64_t[2]){0x7765, i % 512}, 16);
        attack_send(fd, bytes, wr_rng_below(&rng, sizeof bytes));
        usleep(i % 8 ? 0 : 1000);
        close(fd);
    }
}

/* ---- with the token ---- */

static void attack_hear(void *ctx, uint32_t peer, const void *bytes, size_t len)
{
    (void)peer;
    (void)bytes;
    (void)len;
    ++*(uint32_t *)ctx;
}

static void attack_ignore(void *ctx, uint64_t cookie, bool ok)
{
    (void)ctx;
    (void)cookie;
    (void)ok;
}

/* NULL: it was not let in this time. */
static struct rpc_ep *attack_hello(uint32_t *heard)
{
    struct rpc_ep_opts o = {.depth = 1, .peers = 1, .bulk_b = SIZE};
    uint8_t about[64];
    struct rpc_ep *ep;
    struct wr_err err;

    if (!rpc_tcp.open(&ep, &o, &err))
        return NULL;
    ep->ctx = heard;
    ep->on_msg = attack_hear;
    ep->on_bulk = attack_ignore;
    *heard = 0;
    bool ok = rpc_tcp.connect(ep, ticket.address, &err);

    if (ok) {
        uint32_t n = (uint32_t)rpc_tcp.introduce(ep, about, sizeof about);
        struct rpc_head h = rpc_head_of(RPC_HELLO, 0, &ticket.token, 0, n, 0);

        rpc_tcp.send(ep, 0, &h, about);
        rpc_tcp.flush(ep);
        for (int i = 0; !*heard && i < 100 && rpc_tcp.alive(ep, 0); i++)
            rpc_tcp.wait(ep, 10000000);
    }
    if (!*heard) {
        rpc_tcp.close(ep);
        return NULL;
    }
    board->peers++;
    return ep;
}

/* Asks for transfers and does its part of none. */
static void attack_stall(void)
{
    uint32_t heard;

    for (;;) {
        struct rpc_ep *ep = attack_hello(&heard);

        for (uint32_t i = 0; ep && i < 500; i++) {
            struct rpc_ref ref = rpc_tcp.refer(ep, 0, SIZE);
            struct rpc_head h = rpc_head_of(RPC_REQUEST, i % 8 ? RPC_OP_PUT : RPC_OP_GET,
                                            &ticket.token, i, sizeof ref, 0);

            rpc_tcp.send(ep, 0, &h, &ref);
        }
        if (ep)
            rpc_tcp.flush(ep);
        usleep(1500000);
        if (ep)
            rpc_tcp.close(ep);
    }
}

/* Asks and does not listen, until nothing leaves any more. */
static void attack_not_read(void)
{
    static const uint8_t payload[RPC_INLINE_MOST];
    struct rpc_head h = rpc_head_of(RPC_REQUEST, RPC_OP_NOOP, &ticket.token, 0, sizeof payload, 1);
    uint32_t heard;

    for (;;) {
        struct rpc_ep *ep = attack_hello(&heard);

        for (int full = 0; ep && full < 1000;)
            if (!rpc_tcp.send(ep, 0, &h, payload)) {
                full++;
                usleep(1000);
            }
        if (ep)
            rpc_tcp.close(ep);
        usleep(PAUSE_US);
    }
}

/* ---- those who must be served ---- */

struct good {
    uint32_t answers, failed;
};

static void good_answer(void *ctx, uint64_t cookie, enum rpc_status status, const void *payload,
                        uint32_t len)
{
    struct good *g = ctx;

    (void)cookie;
    (void)payload;
    (void)len;
    g->answers++;
    g->failed += status != RPC_OK;
}

/* Comes, calls, gets, puts and leaves. */
static bool good_client(struct wr_err *err)
{
    static const enum rpc_op ops[] = {RPC_OP_NOOP, RPC_OP_GET, RPC_OP_PUT};
    struct rpc_opts o = {.transport = &rpc_tcp,
                         .token = ticket.token,
                         .wait = RPC_BLOCK,
                         .depth = 1,
                         .bulk_b = SIZE};
    struct good g = {0, 0};
    struct rpc_client *c;

    if (!rpc_client_open(&c, &o, ticket.address, good_answer, &g, err))
        return false;
    for (uint32_t i = 0; i < 3; i++) {
        struct rpc_call call = {.op = ops[i], .bulk_len = SIZE};

        rpc_client_start(c, &call);
        rpc_client_flush(c);
        for (int steps = 0; g.answers == i && steps < 200; steps++)
            rpc_client_step(c, 50000000);
        if (g.answers == i || g.failed) {
            rpc_client_close(c);
            return wr_fail(err, WR_CHECK, "%s was %s", rpc_op_names[ops[i]],
                           g.failed ? "refused" : "not answered within 10 s");
        }
    }
    rpc_client_close(c);
    return true;
}

/* ---- the server ---- */

static unsigned server_files(pid_t pid)
{
    char path[64];
    unsigned n = 0;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static unsigned server_close_waits(void)
{
    FILE *f = fopen("/proc/net/tcp", "r");
    unsigned local, state, n = 0, port = 0;
    char line[512];

    sscanf(ticket.address, "tcp:127.0.0.1:%u", &port);
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, " %*d: %*x:%x %*x:%*x %x", &local, &state) == 2)
            n += local == port && state == 8;
    if (f)
        fclose(f);
    return n;
}

static pid_t server_start(const char *weir, const char *path)
{
    struct wr_err err;
    pid_t pid = fork();

    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

        dup2(null, 1);
        execl(weir, weir, "roofline", "serve", "--set", "transport=tcp", "-t", path, (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 1000 && access(path, F_OK) && !waitpid(pid, NULL, WNOHANG); i++)
        usleep(10000);
    if (!rpc_ticket_read(&ticket, path, &err)) {
        fprintf(stderr, "attack-rpc: %s\n", err.text);
        exit(2);
    }
    return pid;
}

static void (*const attacks[])(void) = {attack_flood,   attack_hold,  attack_trickle,
                                        attack_rubbish, attack_stall, attack_stall,
                                        attack_stall,   attack_stall, attack_not_read};
enum { ATTACKS = sizeof attacks / sizeof *attacks };

struct result {
    uint64_t served, worst_ns;
    unsigned held, left;
    bool failed;
};

static void serve_good(struct result *r)
{
    uint64_t begun = wr_clock_ns();
    struct wr_err err = {.code = WR_NONE};

    if (!good_client(&err)) {
        fprintf(stderr, "a good client after %llu others: %s\n", (unsigned long long)r->served,
                err.text);
        r->failed = true;
    }
    uint64_t took = wr_clock_ns() - begun;

    r->served += !r->failed;
    r->worst_ns = took > r->worst_ns ? took : r->worst_ns;
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/weir-attack-rpc-XXXXXX", path[64];
    pid_t attacker[ATTACKS];
    struct result r = {0};
    int status = -1;

    if (argc != 3 || !mkdtemp(dir)) {
        fprintf(stderr, "usage: attack-rpc WEIR SECONDS\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    snprintf(path, sizeof path, "%s/ticket", dir);
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t server = server_start(argv[1], path);
    unsigned files = server_files(server);
    uint64_t end_ns = wr_clock_ns() + 1000000000ull * strtoul(argv[2], NULL, 10);

    for (int i = 0; i < ATTACKS; i++)
        if (!(attacker[i] = fork())) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            attacks[i]();
        }
    while (!r.failed && wr_clock_ns() < end_ns) {
        unsigned held = server_files(server) - files;

        r.held = held > r.held ? held : r.held;
        serve_good(&r);
        usleep(PAUSE_US);
    }
    for (int i = 0; i < ATTACKS; i++) {
        kill(attacker[i], SIGKILL);
        waitpid(attacker[i], NULL, 0);
    }
    if (!r.failed)
        serve_good(&r); /* at once */
    for (int i = 0; i < 1000 && (server_files(server) > files || server_close_waits()); i++)
        usleep(10000);
    r.left = server_close_waits() + (server_files(server) - files);
    kill(server, SIGTERM);
    waitpid(server, &status, 0);
    bool ended = WIFEXITED(status) && !WEXITSTATUS(status) && access(path, F_OK);

    unlink(path);
    rmdir(dir);
    printf("rpc: %s s, %llu connections and %llu peers made, %u held at most, %llu good clients "
           "served, worst %.0f ms, %u sockets left%s\n",
           argv[2], (unsigned long long)board->made, (unsigned long long)board->peers, r.held,
           (unsigned long long)r.served, 1e-6 * (double)r.worst_ns, r.left,
           ended ? "" : ", the server did not end well");
    return r.failed || r.left || !ended;
}
