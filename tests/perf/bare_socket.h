/* bare_socket.h -- what sockets alone do: the limit of RPCs over TCP, with as many processes.
 *
 * A client sends 64 bytes for each call, all calls that are under way in one piece, and waits for
 * as many bytes, or for a transfer. The server has nothing to do but to answer. Nothing is checked,
 * nothing is timed, peers have no names.
 */
#ifndef TESTS_PERF_BARE_SOCKET_H
#define TESTS_PERF_BARE_SOCKET_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rpc/driver.h"

struct bare {
    uint32_t clients, depth;
    size_t answer_b; /* of a call; 0: as long as the question */
    bool put;        /* the transfer is the question */
    bool looks;      /* again and again, instead of sleeping */
    bool apart;      /* the server has the first processor, the clients the second */
};

enum { BARE_CALL_B = 64, BARE_MOST = 64 };

/* On the k-th processor of those we may use, where there are so many. */
static void bare_settle_on(int k)
{
    cpu_set_t all, one;

    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof all, &all) || CPU_COUNT(&all) <= k)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &all) && !k--)
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void bare_settle(int fd)
{
    int on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

static bool bare_send(int fd, const uint8_t *from, size_t n)
{
    while (n) {
        ssize_t put = send(fd, from, n, MSG_NOSIGNAL);

        if (put <= 0)
            return false;
        from += put;
        n -= (size_t)put;
    }
    return true;
}

static bool bare_receive(int fd, uint8_t *into, size_t n, bool looks)
{
    while (n) {
        ssize_t got = recv(fd, into, n, looks ? MSG_DONTWAIT : 0);

        if (got == 0 || (got < 0 && !looks))
            return false;
        into += got > 0 ? got : 0;
        n -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

static void bare_serve(const struct bare *b, int door, uint8_t *memory, size_t ask, size_t answer)
{
    int epoll = epoll_create1(0), fd = -1;
    struct epoll_event e[BARE_MOST];

    for (uint32_t k = 0; k < b->clients; k++) {
        fd = accept(door, NULL, NULL);
        bare_settle(fd);
        e[0] = (struct epoll_event){.events = EPOLLIN, .data = {.fd = fd}};
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, e);
    }
    while (b->clients == 1)
        if (!bare_receive(fd, memory, ask, b->looks) || !bare_send(fd, memory, answer))
            _exit(0);
    for (;;) {
        int n = epoll_wait(epoll, e, BARE_MOST, b->looks ? 0 : -1);

        for (int i = 0; i < n; i++)
            if (!bare_receive(e[i].data.fd, memory, ask, false) ||
                !bare_send(e[i].data.fd, memory, answer))
                _exit(0);
    }
}

static void bare_call(const struct bare *b, const struct sockaddr_in *at, uint8_t *memory,
                      size_t ask, size_t answer, volatile uint64_t *calls)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (connect(fd, (const struct sockaddr *)at, sizeof *at))
        _exit(1);
    bare_settle(fd);
    while (bare_send(fd, memory, ask) && bare_receive(fd, memory, answer, b->looks))
        *calls += b->depth;
    _exit(0);
}

static uint64_t bare_sum(const volatile uint64_t *calls, uint32_t clients)
{
    uint64_t n = 0;

    for (uint32_t k = 0; k < clients; k++)
        n += calls[8 * (size_t)k];
    return n;
}

static double bare_cpu_us(void)
{
    struct rusage u;

    getrusage(RUSAGE_CHILDREN, &u);
    return 1e6 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Calls per second in a window as long as those of the RPCs; processor time of a call in us. */
static double bare_window(const struct bare *b, double *ret_us)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof at;
    size_t small = (size_t)BARE_CALL_B * b->depth, large = b->answer_b ? b->answer_b : small;
    size_t ask = b->put ? large : small, answer = b->put ? small : large, size = large + 4096;
    int door = socket(AF_INET, SOCK_STREAM, 0);
    uint8_t *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile uint64_t *calls =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double before = bare_cpu_us();
    pid_t pid[BARE_MOST + 1];

    if (bind(door, (struct sockaddr *)&at, sizeof at) || listen(door, BARE_MOST) ||
        getsockname(door, (struct sockaddr *)&at, &len) || memory == MAP_FAILED)
        return 0;
    memset(memory, 1, size);
    for (uint32_t k = 0; k <= b->clients; k++)
        if (!(pid[k] = fork())) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (b->clients > 1)
                rpc_share_processors();
            if (b->apart)
                bare_settle_on(k < b->clients);
            if (k == b->clients)
                bare_serve(b, door, memory, ask, answer);
            bare_call(b, &at, memory, ask, answer, &calls[8 * (size_t)k]);
        }
    usleep(100000);
    uint64_t begun = rpc_realtime_ns(), n = bare_sum(calls, b->clients);

    usleep(400000);
    double s = (double)(rpc_realtime_ns() - begun) / 1e9;
    uint64_t all = bare_sum(calls, b->clients);

    for (uint32_t k = 0; k <= b->clients; k++)
        kill(pid[k], SIGKILL);
    for (uint32_t k = 0; k <= b->clients; k++)
        waitpid(pid[k], NULL, 0);
    *ret_us = (bare_cpu_us() - before) / (double)(all + 1);
    close(door);
    munmap(memory, size);
    munmap((void *)(uintptr_t)calls, 4096);
    return (double)(all - n) / s;
}

#endif
