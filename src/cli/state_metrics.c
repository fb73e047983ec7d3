/* state_metrics.c -- a page of numbers in Prometheus' text format, served by a thread of its own.
 *
 * `weir state watch` opens it. The thread accepts one connection at a time, reads the request head
 * with a time limit, calls `fill` and closes the connection. `fill` runs in that thread, so the
 * caller's callback takes its own lock. state_metrics_close() ends the thread before it returns.
 */
#include "cli/state_metrics.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum { TIMEOUT_NS = 1000000000 };

/* Set up before the thread starts; only `ending` changes while it runs. */
struct state_metrics {
    int fd; /* listens */
    unsigned port;
    void (*fill)(void *arg, struct wr_str *out); /* called by the thread */
    void *arg;
    pthread_t thread;
    atomic_bool ending; /* set by state_metrics_close(), read by the thread */
};

/* The head of the request, to the empty line at its end: what was not read when a socket is closed
 * takes the answer with it. */
static void metrics_read_head(int fd, char *ask, size_t size)
{
    uint64_t end = wr_clock_ns() + TIMEOUT_NS;
    size_t n = 0;

    ask[0] = '\0';
    while (n + 1 < size && !strstr(ask, "\r\n\r\n") && wr_clock_ns() < end) {
        ssize_t got = recv(fd, ask + n, size - 1 - n, 0);

        if (got <= 0)
            break;
        n += (size_t)got;
        ask[n] = '\0';
    }
}

/* One request, one answer, one second of timeout: a scraper asks for /metrics and nothing else. */
static void metrics_reply(struct state_metrics *m, int fd)
{
    struct timeval timeout = {.tv_sec = TIMEOUT_NS / 1000000000};
    struct wr_str body = {0}, all = {0};
    char ask[8192];

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    metrics_read_head(fd, ask, sizeof ask);
    bool known = !strncmp(ask, "GET /metrics ", 13);

    if (known)
        m->fill(m->arg, &body);
    else
        wr_str_add(&body, "ask for /metrics\n");
    wr_str_addf(&all,
                "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %zu\r\n"
                "Connection: close\r\n\r\n%s",
                known ? "200 OK" : "404 Not Found", body.n, wr_str_get(&body));
    for (size_t sent = 0; sent < all.n;) {
        ssize_t n = send(fd, all.s + sent, all.n - sent, MSG_NOSIGNAL);

        if (n <= 0)
            break;
        sent += (size_t)n;
    }
    wr_str_fini(&body);
    wr_str_fini(&all);
}

static void *metrics_serve(void *arg)
{
    struct state_metrics *m = arg;

    while (!atomic_load(&m->ending)) {
        struct pollfd p = {.fd = m->fd, .events = POLLIN};

        if (poll(&p, 1, 200) <= 0)
            continue;
        int fd = accept4(m->fd, NULL, NULL, SOCK_CLOEXEC);

        if (fd >= 0) {
            metrics_reply(m, fd);
            close(fd);
        }
    }
    return NULL;
}

bool state_metrics_open(struct state_metrics **ret, unsigned port,
                        void (*fill)(void *arg, struct wr_str *out), void *arg, struct wr_err *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 8) ||
        getsockname(fd, (struct sockaddr *)&at, &len)) {
        wr_fail_errno(err, "cannot listen on port %u; give --prometheus a port that is free", port);
        if (fd >= 0)
            close(fd);
        return false;
    }
    struct state_metrics *m = wr_zalloc(1, sizeof *m);

    m->fd = fd;
    m->port = ntohs(at.sin_port);
    m->fill = fill;
    m->arg = arg;
    if (pthread_create(&m->thread, NULL, metrics_serve, m)) {
        close(fd);
        free(m);
        return wr_fail(err, WR_SYSTEM, "cannot start a thread for the metrics; try again later");
    }
    *ret = m;
    return true;
}

unsigned state_metrics_port(const struct state_metrics *m)
{
    return m->port;
}

void state_metrics_close(struct state_metrics *m)
{
    if (!m)
        return;
    atomic_store(&m->ending, true);
    pthread_join(m->thread, NULL);
    close(m->fd);
    free(m);
}
