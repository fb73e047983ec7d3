/* bench_rpc.c -- rates of the RPC layer: one server, some clients, this machine.
 *
 *   bench.rpc [--apart] [TRANSPORT [PROVIDER [CASE]]]
 *
 * Best of several windows; one line per case, of those whose name begins with CASE. Beside the rate
 * what a call costs, of clients and server together: processor time, and how often a process was
 * switched for another. These say more than rates on a machine that others use too, and how many
 * processors did so is printed.
 *
 * --apart: the server has the first processor and clients have the second, as one would bind the
 * two ends of any ping-pong. Without it the kernel decides, and some put two that talk to each
 * other on one processor.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bare_socket.h"
#include "rpc/driver.h"
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
    volatile uint64_t start_ns; /* set when all are ready */
    struct {
        uint64_t calls, bytes, elapsed_ns, bad;
        struct cost cost;
    } seen[64];
    volatile struct cost server;
};

static bool apart;

static void serve(const struct rpc_opts *o, struct board *b)
{
    struct rpc_server *s;
    struct wr_err err;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (apart)
        bare_settle_on(0);
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

    if (apart)
        bare_settle_on(1);
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
    o.oversubscribed = cases[c].clients + 1 > 2;
    o.depth = cases[c].depth;
    o.bulk_b = cases[c].size;
    o.peers = cases[c].clients;
    memset(b, 0, sizeof *b);
    pid_t server = fork();

    if (!server && o.oversubscribed)
        rpc_share_processors();
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
        if (!(pid[k] = fork())) {
            if (o.oversubscribed)
                rpc_share_processors();
            o.ticks = rpc_tick();
            call(&o, b, k, l);
        }
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
static void print_limits(const char *when)
{
    struct rpc_limits l = rpc_limits_probe(0.3);

    printf("limits %-25s line %9.1f, TCP %9.1f kops/s, memcpy %.1f GiB/s\n", when,
           l.line_rate / 1e3, l.socket_rate / 1e3, l.copy_bps / (1 << 30));
}

/* ---- results ---- */

struct result {
    double best, sum, cost[2]; /* of a call: switches, us of processor time */
    double others;             /* processors that were busy with other processes */
    uint64_t bad;
};

/* Seconds of all processors at work, but for those of ours. */
static double others_s(void)
{
    return rpc_machine_time().busy_s - bare_cpu_us() / 1e6;
}

/* The same number of processes, sockets alone; windows of both in turn, so that both see the same
 * machine. */
static void measure(const struct rpc_opts *o, size_t c, struct board *b, struct result *ours,
                    struct result *bare)
{
    struct bare like = {.clients = cases[c].clients,
                        .depth = cases[c].depth,
                        .answer_b = cases[c].size,
                        .put = cases[c].op == RPC_OP_PUT,
                        .apart = apart,
                        .looks =
                            cases[c].clients == 1 && cases[c].wait != RPC_BLOCK && !cases[c].size};

    double begun = -(double)rpc_realtime_ns(), others = -others_s();

    for (int i = 0; i < WINDOWS; i++) {
        double rate = window(o, c, b, &ours->bad, ours->cost), us = 0;

        ours->best = rate > ours->best ? rate : ours->best;
        ours->sum += rate;
        if (o->transport == &rpc_shm)
            continue;
        rate = bare_window(&like, &us) * (double)(cases[c].size ? cases[c].size : 1);
        bare->best = rate > bare->best ? rate : bare->best;
        bare->sum += rate;
        bare->cost[1] += us / WINDOWS;
    }
    others = 1e9 * (others + others_s()) / (begun + (double)rpc_realtime_ns());
    ours->others = others > 0 ? others : 0;
}

static void print_case(size_t c, const struct result *ours, const struct result *bare)
{
    double unit = cases[c].size ? 1 << 30 : 1e3;

    printf("%-32s best %9.1f, mean %9.1f %s; a call: %.2f us CPU, %.2f switches; others: %.1f "
           "CPU%s\n",
           cases[c].name, ours->best / unit, ours->sum / WINDOWS / unit,
           cases[c].size ? "GiB/s" : "kops/s", ours->cost[1], ours->cost[0], ours->others,
           ours->bad ? "  FAULTS" : "");
    if (bare->sum > 0)
        printf("  %-30s      %9.1f,      %9.1f         %.2f us CPU; of it %.0f %%, %.0f %%\n",
               "bare sockets, as many", bare->best / unit, bare->sum / WINDOWS / unit,
               bare->cost[1], 100 * ours->best / bare->best, 100 * ours->sum / bare->sum);
}

int main(int argc, char **argv)
{
    struct wr_err err;

    apart = argc > 1 && !strcmp(argv[1], "--apart");
    argc -= apart;
    argv += apart;
    struct rpc_opts o = {.transport = rpc_transport_find(argc > 1 ? argv[1] : "shm", &err),
                         .provider = argc > 2 && *argv[2] ? argv[2] : NULL,
                         .token = {{0x1234567890abcdef, 0xfedcba0987654321}},
                         .spin_us = 50};
    struct board *b =
        mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (!o.transport || b == MAP_FAILED) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    print_limits("before");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct result ours = {.best = 0}, bare = {.best = 0};

        if (argc > 3 && strncmp(cases[c].name, argv[3], strlen(argv[3])) != 0)
            continue;
        measure(&o, c, b, &ours, &bare);
        print_case(c, &ours, &bare);
    }
    return 0;
}
