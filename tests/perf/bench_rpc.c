/* bench_rpc.c -- rates of the RPC layer: one server, some clients, this machine.
 *
 *   bench.rpc [TRANSPORT [PROVIDER [CASE]]]
 *
 * Best of several windows; one line per case, of those whose name begins with CASE. Beside the rate
 * what a call costs, of clients and server together: processor time, and how often a process was
 * switched for another. These say more than rates on a machine that others use too.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rpc/drive.h"
#include "rpc/limits.h"

enum { WINDOWS = 5 };

static const struct {
    const char *name;
    uint32_t clients, depth;
    enum rpc_op op;
    size_t size;
    enum rpc_wait wait;
} cases[] = {
    {"sync, 1 client, poll", 1, 1, RPC_OP_NOOP, 0, RPC_POLL},
    {"sync, 1 client, adaptive", 1, 1, RPC_OP_NOOP, 0, RPC_ADAPTIVE},
    {"sync, 1 client, block", 1, 1, RPC_OP_NOOP, 0, RPC_BLOCK},
    {"sync, 8 clients, adaptive", 8, 1, RPC_OP_NOOP, 0, RPC_ADAPTIVE},
    {"depth 16, 1 client, poll", 1, 16, RPC_OP_NOOP, 0, RPC_POLL},
    {"depth 16, 8 clients, adaptive", 8, 16, RPC_OP_NOOP, 0, RPC_ADAPTIVE},
    {"get 4 MiB, 1 client", 1, 1, RPC_OP_GET, 4 << 20, RPC_ADAPTIVE},
    {"put 4 MiB, 1 client", 1, 1, RPC_OP_PUT, 4 << 20, RPC_ADAPTIVE},
};

struct cost {
    uint64_t switches, cpu_ns;
};

struct board {
    char address[RPC_ADDRESS];
    volatile int ready; /* 1: the server is */
    _Atomic uint32_t clients_ready;
    volatile uint64_t start_ns; /* told when all are */
    struct {
        uint64_t calls, bytes, elapsed_ns, bad;
        struct cost cost;
    } seen[64];
    volatile struct cost server;
};

static void serve(const struct rpc_opts *o, struct board *b)
{
    struct rpc_server *s;
    struct wr_err err;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!rpc_server_open(&s, o, &err)) {
        fprintf(stderr, "%s\n", err.text);
        _exit(1);
    }
    rpc_server_address(s, b->address);
    __sync_synchronize();
    b->ready = 1;
    for (uint32_t steps = 0;; steps++) {
        rpc_server_step(s, 100000000);
        if (steps % 256 == 0) {
            struct rpc_usage u = rpc_usage_now();

            b->server.switches = u.switches + u.forced_switches;
            b->server.cpu_ns = u.user_ns + u.sys_ns;
        }
    }
}

static void call(const struct rpc_opts *o, struct board *b, uint32_t k, struct rpc_load l)
{
    static struct rpc_seen seen;
    struct rpc_driver *d;
    struct wr_err err;

    if (!rpc_driver_open(&d, o, b->address, &err)) {
        fprintf(stderr, "%s\n", err.text);
        _exit(1);
    }
    b->clients_ready++;
    while (!b->start_ns)
        usleep(1000);
    l.start_ns = b->start_ns;
    rpc_drive(d, &l, &seen, NULL);
    b->seen[k].calls = seen.calls;
    b->seen[k].bytes = seen.bytes;
    b->seen[k].elapsed_ns = seen.elapsed_ns;
    b->seen[k].bad = seen.bad_data + seen.failed + seen.unanswered;
    b->seen[k].cost = (struct cost){seen.switches + seen.forced_switches, seen.cpu_ns};
    rpc_driver_close(d);
    _exit(0);
}

static double window(const struct rpc_opts *base, size_t c, struct board *b, uint64_t *bad,
                     double cost[2])
{
    struct rpc_opts o = *base;
    pid_t pid[64];
    double rate = 0;

    o.wait = cases[c].wait;
    o.crowded = cases[c].clients + 1 > 2;
    o.depth = cases[c].depth;
    o.bulk_b = cases[c].size;
    o.peers = cases[c].clients;
    memset(b, 0, sizeof *b);
    pid_t server = fork();

    if (!server)
        serve(&o, b);
    while (!b->ready && !waitpid(server, NULL, WNOHANG))
        usleep(1000);
    o.bulk_b = cases[c].size * cases[c].depth;
    struct rpc_load l = {.op = cases[c].op,
                         .size_b = cases[c].size,
                         .depth = cases[c].depth,
                         .warm_ns = 100000000,
                         .measure_ns = 400000000};

    for (uint32_t k = 0; k < cases[c].clients; k++)
        if (!(pid[k] = fork()))
            call(&o, b, k, l);
    while (b->clients_ready < cases[c].clients && !waitpid(-1, NULL, WNOHANG))
        usleep(1000);
    b->start_ns = rpc_realtime_ns() + 50000000;
    double n = -(double)b->server.switches, ns = -(double)b->server.cpu_ns, calls = 0;

    for (uint32_t k = 0; k < cases[c].clients; k++) {
        waitpid(pid[k], NULL, 0);
        n += (double)b->seen[k].cost.switches;
        ns += (double)b->seen[k].cost.cpu_ns;
        calls += (double)b->seen[k].calls * 1.25; /* the warm-up has its share of switches */
        if (b->seen[k].elapsed_ns)
            rate += (double)(cases[c].size ? b->seen[k].bytes : b->seen[k].calls) * 1e9 /
                    (double)b->seen[k].elapsed_ns;
        *bad += b->seen[k].bad;
    }
    cost[0] += (n + (double)b->server.switches) / (calls + 1) / WINDOWS;
    cost[1] += (ns + (double)b->server.cpu_ns) / (calls + 1) / 1e3 / WINDOWS;
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    return rate;
}

/* What the machine does for others in the same minute. */
static void tell_limits(const char *when)
{
    struct rpc_limits l = rpc_limits_probe(0.3);

    printf("limits %-25s line %9.1f, TCP %9.1f kops/s, memcpy %.1f GiB/s\n", when,
           l.line_rate / 1e3, l.socket_rate / 1e3, l.copy_bps / (1 << 30));
}

/* ---- a bare socket that sleeps ---- */

static bool to_and_fro(int fd, bool first)
{
    char message[64] = {0};

    return first ? send(fd, message, sizeof message, MSG_NOSIGNAL) == sizeof message &&
                       recv(fd, message, sizeof message, MSG_WAITALL) == sizeof message
                 : recv(fd, message, sizeof message, MSG_WAITALL) == sizeof message &&
                       send(fd, message, sizeof message, MSG_NOSIGNAL) == sizeof message;
}

static bool connected(int fd[2])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof at;
    int on = 1, door = socket(AF_INET, SOCK_STREAM, 0);

    fd[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(door, (struct sockaddr *)&at, sizeof at) || listen(door, 1) ||
        getsockname(door, (struct sockaddr *)&at, &len) ||
        connect(fd[0], (struct sockaddr *)&at, sizeof at))
        return false;
    fd[1] = accept(door, NULL, NULL);
    close(door);
    for (int i = 0; i < 2; i++)
        setsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd[1] >= 0;
}

static double cpu_us(int who)
{
    struct rusage u;

    getrusage(who, &u);
    return 1e6 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* What no RPC over TCP that sleeps can do without: the kernel's part of a call. */
static void tell_bare_socket(void)
{
    double best = 0, calls = 0, before = cpu_us(RUSAGE_SELF) + cpu_us(RUSAGE_CHILDREN);

    for (int i = 0; i < WINDOWS; i++) {
        int fd[2];
        double n = 0;

        if (!connected(fd))
            return;
        pid_t other = fork();

        if (!other) {
            close(fd[0]);
            while (to_and_fro(fd[1], false))
                ;
            _exit(0);
        }
        close(fd[1]);
        for (uint64_t end = rpc_realtime_ns() + 400000000; rpc_realtime_ns() < end; n++)
            to_and_fro(fd[0], true);
        close(fd[0]);
        waitpid(other, NULL, 0);
        best = n / 0.4 > best ? n / 0.4 : best;
        calls += n;
    }
    double us = cpu_us(RUSAGE_SELF) + cpu_us(RUSAGE_CHILDREN) - before;

    printf("%-32s best %9.1f, mean %9.1f kops/s; a call: %.2f us CPU\n", "bare socket, block",
           best / 1e3, calls / 0.4 / WINDOWS / 1e3, us / calls);
}

int main(int argc, char **argv)
{
    struct wr_err err;
    struct rpc_opts o = {.transport = rpc_transport_find(argc > 1 ? argv[1] : "shm", &err),
                         .provider = argc > 2 && *argv[2] ? argv[2] : NULL,
                         .token = 0x1234567890abcdef,
                         .spin_us = 50};
    struct board *b =
        mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (!o.transport || b == MAP_FAILED) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    tell_limits("before");
    if (o.transport != &rpc_shm)
        tell_bare_socket();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double best = 0, sum = 0, cost[2] = {0, 0};
        uint64_t bad = 0;

        if (argc > 3 && strncmp(cases[c].name, argv[3], strlen(argv[3])) != 0)
            continue;

        for (int i = 0; i < WINDOWS; i++) {
            double rate = window(&o, c, b, &bad, cost);

            best = rate > best ? rate : best;
            sum += rate;
        }
        double unit = cases[c].size ? 1 << 30 : 1e3;

        printf("%-32s best %9.1f, mean %9.1f %s; a call: %.2f us CPU, %.2f switches%s\n",
               cases[c].name, best / unit, sum / WINDOWS / unit, cases[c].size ? "GiB/s" : "kops/s",
               cost[1], cost[0], bad ? "  FAULTS" : "");
    }
    return 0;
}
