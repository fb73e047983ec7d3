/* limit.c -- a path that carries so much and no more.
 *
 *   write ─> socket's buffer ─┐
 *   write ─> socket's buffer ─┼─ in turn, a piece each, while there are tokens ─> forgotten
 *   write ─> socket's buffer ─┘
 *
 * Tokens come at the rate and at most a few milliseconds' worth are kept, so a pause is not
 * made up for. Writers feel the limit as a full buffer: their calls take longer.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "process_priv.h"

enum { PIECE = 16384, BUFFER = 65536, MOST = 4096, IDLE_MS = 50 };
static const double keep_s = 0.01;

static bool address(struct sockaddr_un *ret, const char *path, struct wr_err *err)
{
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof ret->sun_path)
        return wr_fail(err, WR_INPUT,
                       "%s is too long for a socket, which may have %zu bytes; give a shorter path",
                       path, sizeof ret->sun_path - 1);
    memcpy(ret->sun_path, path, strlen(path) + 1);
    return true;
}

static bool open_socket(int *ret, struct wr_err *err)
{
    *ret = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return *ret >= 0 || wr_fail_errno(err, "cannot open a socket; close other programs");
}

/* Small buffers: a call ends about when its bytes were carried. */
bool ioload_connect(int *ret, const char *path, struct wr_err *err)
{
    struct sockaddr_un at;
    int fd, size = BUFFER;

    if (!address(&at, path, err) || !open_socket(&fd, err))
        return false;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    if (connect(fd, (struct sockaddr *)&at, sizeof at)) {
        wr_fail_errno(err, "%s: nobody carries anything there; start `weir io-limit %s` first",
                      path, path);
        close(fd);
        return false;
    }
    *ret = fd;
    return true;
}

struct server {
    const struct ioload_limit *l;
    int listener;
    struct pollfd v[MOST]; /* [0] is the listener's */
    size_t n, turn;
    double tokens;
    uint64_t then_ns;
    struct ioload_carried sum;
    char piece[PIECE];
};

/* A socket that nobody listens to any more may be replaced; nothing else may. */
static bool clear_stale(const struct sockaddr_un *at, struct wr_err *err)
{
    struct stat st;
    int fd;

    if (lstat(at->sun_path, &st))
        return true;
    if (!S_ISSOCK(st.st_mode))
        return wr_fail(err, WR_INPUT, "%s exists and is no socket; give another path",
                       at->sun_path);
    if (!open_socket(&fd, err))
        return false;
    bool used = !connect(fd, (const struct sockaddr *)at, sizeof *at);

    close(fd);
    if (used)
        return wr_fail(err, WR_INPUT, "%s is in use by another path; give another", at->sun_path);
    unlink(at->sun_path);
    return true;
}

static bool listen_there(int *ret, const char *path, struct wr_err *err)
{
    struct sockaddr_un at;
    int fd;

    if (!address(&at, path, err) || !clear_stale(&at, err) || !open_socket(&fd, err))
        return false;
    if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, MOST)) {
        wr_fail_errno(err, "%s: cannot listen there; name a path in a directory you may write to",
                      path);
        close(fd);
        return false;
    }
    *ret = fd;
    return true;
}

static void greet(struct server *s)
{
    int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return;
    if (s->n == MOST) {
        close(fd);
        return;
    }
    s->v[s->n++] = (struct pollfd){.fd = fd, .events = POLLIN};
    s->sum.connections++;
}

static void refill(struct server *s)
{
    uint64_t now = wr_clock_ns();
    double dt = (double)(now - s->then_ns) / 1e9;

    s->then_ns = now;
    s->tokens = fmin(s->tokens + dt * s->l->rate_bps, fmax(keep_s * s->l->rate_bps, PIECE));
    s->sum.busy_s += s->n > 1 ? dt : 0;
}

/* At most a piece from one connection; false: it is done and was answered. */
static bool take_piece(struct server *s, struct pollfd *from)
{
    double most = fmin(s->tokens, PIECE);
    ssize_t n = most >= 1 ? read(from->fd, s->piece, (size_t)most) : -1;

    if (n > 0) {
        s->tokens -= (double)n;
        s->sum.bytes += (uint64_t)n;
    }
    if (n > 0 || (n < 0 && (most < 1 || errno == EAGAIN || errno == EINTR)))
        return true;
    (void)!send(from->fd, "k", 1, MSG_NOSIGNAL);
    close(from->fd);
    return false;
}

/* Every connection that has something gets its turn before anybody gets a second one. */
static void take_round(struct server *s)
{
    for (size_t k = 1; k < s->n; k++) {
        size_t i = 1 + (s->turn + k) % (s->n - 1);

        if (!s->v[i].revents)
            continue;
        if (s->tokens < PIECE)
            return; /* the next round begins with the one whose turn it is */
        s->turn = i - 1;
        if (!take_piece(s, &s->v[i]))
            s->v[i].fd = -1;
    }
}

static void forget_gone(struct server *s)
{
    size_t kept = 1;

    for (size_t i = 1; i < s->n; i++)
        if (s->v[i].fd >= 0)
            s->v[kept++] = s->v[i];
    s->n = kept;
}

static void wait_for_tokens(const struct server *s)
{
    double missing_s = (PIECE - s->tokens) / s->l->rate_bps;

    if (missing_s <= 0)
        return;
    missing_s = fmin(missing_s, IDLE_MS / 1e3);
    struct timespec nap = {.tv_nsec = (long)(missing_s * 1e9)};

    nanosleep(&nap, NULL);
}

static void serve(struct server *s)
{
    uint64_t began = wr_clock_ns();

    s->then_ns = began;
    while (!(s->l->stop && s->l->stop())) {
        if (s->l->length_s > 0 && (double)(wr_clock_ns() - began) / 1e9 >= s->l->length_s)
            break;
        wait_for_tokens(s);
        if (poll(s->v, s->n, IDLE_MS) < 0)
            continue;
        refill(s);
        if (s->v[0].revents)
            greet(s);
        take_round(s);
        forget_gone(s);
    }
}

bool ioload_limit_serve(struct ioload_carried *ret, const struct ioload_limit *l,
                        struct wr_err *err)
{
    struct server *s = wr_zalloc(1, sizeof *s);
    bool ok = listen_there(&s->listener, l->path, err);

    if (ok) {
        s->l = l;
        s->v[0] = (struct pollfd){.fd = s->listener, .events = POLLIN};
        s->n = 1;
        serve(s);
        for (size_t i = 0; i < s->n; i++)
            close(s->v[i].fd);
        unlink(l->path);
        *ret = s->sum;
    }
    free(s);
    return ok;
}
