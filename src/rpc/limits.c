/* limits.c -- what this machine can do at most, measured in short probes.
 *
 * Cache-line round trips, TCP round trips and memory copies: the best of many short pieces, so that
 * other processes on the machine disturb the result little. No state.
 */
#include "rpc/limits.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

/* Per second, in the best of many short pieces: what the machine can do, not what others let us do
 * in this moment. Where they let us do little it takes longer. */
static double limits_best_rate(uint64_t ns, double (*piece)(void *ctx), void *ctx)
{
    enum { PIECES = 100, LONGER = 10 };
    uint64_t begun = wr_clock_ns(), last = begun, now = begun, most = ns * LONGER;
    double best = 0;

    for (int done = 0; now - begun < (done < PIECES ? most : ns); done++, last = now) {
        double n = piece(ctx);

        now = wr_clock_ns();
        if (!(n > 0))
            break;
        if (now > last && n * 1e9 > best * (double)(now - last))
            best = n * 1e9 / (double)(now - last);
    }
    return best;
}

/* ---- a cache line, to and fro ---- */

struct line_test {
    _Alignas(64) _Atomic uint64_t turn;
    _Alignas(64) _Atomic bool stop;
    _Alignas(64) uint64_t n; /* round trips so far; not shared */
};

/* After many checks without success the thread yields: the other thread may need the processor. */
static bool limits_await_line(struct line_test *c, uint64_t want)
{
    for (uint32_t looks = 1; atomic_load_explicit(&c->turn, memory_order_acquire) != want;
         looks++) {
        if (atomic_load_explicit(&c->stop, memory_order_relaxed))
            return false;
        if (looks % 256 == 0)
            sched_yield();
    }
    return true;
}

static void *limits_return_line(void *arg)
{
    struct line_test *c = arg;

    for (uint64_t n = 1; limits_await_line(c, n); n += 2)
        atomic_store_explicit(&c->turn, n + 1, memory_order_release);
    return NULL;
}

static double limits_bounce_line(void *ctx)
{
    enum { TRIPS = 64 };
    struct line_test *c = ctx;

    for (int i = 0; i < TRIPS; i++, c->n += 2) {
        atomic_store_explicit(&c->turn, c->n + 1, memory_order_release);
        limits_await_line(c, c->n + 2);
    }
    return TRIPS;
}

static double limits_line_rate(uint64_t ns)
{
    struct line_test c = {.turn = 0};
    pthread_t other;

    if (pthread_create(&other, NULL, limits_return_line, &c))
        return 0;
    double rate = limits_best_rate(ns, limits_bounce_line, &c);

    atomic_store(&c.stop, true);
    pthread_join(other, NULL);
    return rate;
}

/* ---- a byte over TCP ---- */

static bool limits_tcp_pair(int ends[2])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof at;
    int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ends[0] = ends[1] = -1;
    if (listener >= 0 && !bind(listener, (struct sockaddr *)&at, sizeof at) &&
        !listen(listener, 1) && !getsockname(listener, (struct sockaddr *)&at, &len)) {
        ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (ends[0] >= 0 && !connect(ends[0], (struct sockaddr *)&at, sizeof at))
            ends[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    }
    if (listener >= 0)
        close(listener);
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return ends[0] >= 0 && ends[1] >= 0;
}

/* Spins for about 100 us, then blocks: the other end may need this processor, and sched_yield()
 * would give it to unrelated processes for long. */
static bool limits_read_byte(int fd)
{
    char byte;

    for (uint32_t looks = 0; looks < 200; looks++) {
        ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);

        if (n >= 0)
            return n > 0;
    }
    return recv(fd, &byte, 1, 0) > 0;
}

static void *limits_echo(void *arg)
{
    int fd = *(int *)arg;

    while (limits_read_byte(fd))
        if (send(fd, "x", 1, MSG_NOSIGNAL) != 1)
            break;
    return NULL;
}

static double limits_call_echo(void *ctx)
{
    enum { BYTES = 8 };
    int fd = *(int *)ctx;

    for (int i = 0; i < BYTES; i++)
        if (send(fd, "x", 1, MSG_NOSIGNAL) != 1 || !limits_read_byte(fd))
            return 0;
    return BYTES;
}

static double limits_socket_rate(uint64_t ns)
{
    double rate = 0;
    pthread_t other;
    int ends[2];

    if (limits_tcp_pair(ends) && !pthread_create(&other, NULL, limits_echo, &ends[1])) {
        rate = limits_best_rate(ns, limits_call_echo, &ends[0]);
        shutdown(ends[0], SHUT_RDWR);
        pthread_join(other, NULL);
    }
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    return rate;
}

/* ---- copies ---- */

enum { PART = 4 << 20, PARTS = 4 };

struct copies {
    uint8_t *from, *to;
    size_t n;
};

static double limits_copy_part(void *ctx)
{
    struct copies *c = ctx;
    size_t at = c->n++ % PARTS * PART;

    memcpy(c->to + at, c->from + at, PART);
    __asm__ volatile("" ::"r"(c->to) : "memory");
    return PART;
}

static double limits_copy_bps(uint64_t ns)
{
    struct copies c = {malloc((size_t)PART * PARTS), malloc((size_t)PART * PARTS), 0};
    double rate = 0;

    if (c.from && c.to) {
        memset(c.from, 1, (size_t)PART * PARTS);
        memset(c.to, 2, (size_t)PART * PARTS);
        rate = limits_best_rate(ns, limits_copy_part, &c);
    }
    free(c.from);
    free(c.to);
    return rate;
}

struct rpc_limits rpc_limits_probe(double seconds_each)
{
    uint64_t ns = (uint64_t)(seconds_each * 1e9);

    assert(seconds_each > 0);
    return (struct rpc_limits){limits_line_rate(ns), limits_socket_rate(ns), limits_copy_bps(ns)};
}

/* The largest that the kernel lists: the C library multiplies it by the number of its owners. */
unsigned long rpc_cache_b(void)
{
    unsigned long most = 0;

    for (int i = 0; i < 8; i++) {
        char path[80], unit = ' ';
        unsigned long n;

        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        FILE *f = fopen(path, "r");

        if (!f)
            break;
        if (fscanf(f, "%lu%c", &n, &unit) >= 1) {
            n *= unit == 'K' ? 1024 : unit == 'M' ? 1 << 20 : 1;
            most = n > most ? n : most;
        }
        fclose(f);
    }
    return most;
}

struct rpc_machine_time rpc_machine_time(void)
{
    struct rpc_machine_time t = {0, 0};
    double v[8] = {0}, tick = (double)sysconf(_SC_CLK_TCK);
    FILE *f = fopen("/proc/stat", "r");

    if (!f)
        return t;
    /* user nice system idle iowait irq softirq steal */
    if (fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", v, v + 1, v + 2, v + 3, v + 4, v + 5,
               v + 6, v + 7) == 8) {
        t.busy_s = (v[0] + v[1] + v[2] + v[5] + v[6] + v[7]) / tick;
        t.idle_s = (v[3] + v[4]) / tick;
    }
    fclose(f);
    return t;
}
