/* limit.c -- a path of limited bandwidth: a server that reads at a given rate (token bucket).
 *
 *   write ─> socket's buffer ─┐
 *   write ─> socket's buffer ─┼─ in turn, a piece each, while there are tokens ─> discarded
 *   write ─> socket's buffer ─┘
 *
 * Tokens are added at the rate, and at most keep_s of them are kept, so a pause is not made up
 * for. Writers see the limit as a full socket buffer: their calls take longer. The connections are
 * served round robin. One process, one thread; struct server is its whole state.
 */
#include <assert.h>
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
#include "ioload_process_priv.h"

/* Bytes of a read; of a client's send buffer; connections at once; the longest poll. */
enum { PIECE = 16384, BUFFER = 65536, MOST = 4096, IDLE_MS = 50 };
static const double keep_s = 0.01; /* of the rate: the depth of the token bucket */

static bool limit_socket_address(struct sockaddr_un *ret, const char *path, struct wr_err *err)
{
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof ret->sun_path)
        return wr_fail(err, WR_INPUT,
                       "%s is too long for a socket, which may have %zu bytes; give a shorter path",
                       path, sizeof ret->sun_path - 1);
    memcpy(ret->sun_path, path, strlen(path) + 1);
    return true;
}

static bool limit_open_socket(int *ret, struct wr_err *err)
{
    *ret = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return *ret >= 0 || wr_fail_errno(err, "cannot open a socket; close other programs");
}

/* Small buffers, so that a call ends about when the server has read its bytes. */
bool ioload_connect(int *ret, const char *path, struct wr_err *err)
{
    struct sockaddr_un at;
    int fd, size = BUFFER;

    if (!limit_socket_address(&at, path, err) || !limit_open_socket(&fd, err))
        return false;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    if (connect(fd, (struct sockaddr *)&at, sizeof at)) {
        wr_fail_read(err, "%s: no server listens there; start `weir io-limit %s` first", path,
                     path);
        close(fd);
        return false;
    }
    *ret = fd;
    return true;
}

struct server {
    const struct ioload_limit *l;
    int listener;
    struct pollfd v[MOST];     /* [0] is the listener's; [1, n) the connections */
    size_t n, turn;            /* entries of v; the connection that was read last, from 0 */
    double tokens;             /* bytes that may be read now */
    uint64_t then_ns;          /* when tokens were added last */
    struct ioload_carried sum; /* the result so far */
    char piece[PIECE];
};

/* A socket without a listener may be replaced; any other file may not. */
static bool limit_clear_stale(const struct sockaddr_un *at, struct wr_err *err)
{
    struct stat st;
    int fd;

    if (lstat(at->sun_path, &st))
        return true;
    if (!S_ISSOCK(st.st_mode))
        return wr_fail(err, WR_INPUT, "%s exists and is no socket; give another path",
                       at->sun_path);
    if (!limit_open_socket(&fd, err))
        return false;
    bool used = !connect(fd, (const struct sockaddr *)at, sizeof *at);

    close(fd);
    if (used)
        return wr_fail(err, WR_INPUT, "%s is in use by another path; give another", at->sun_path);
    unlink(at->sun_path);
    return true;
}

static bool limit_listen(int *ret, const char *path, struct wr_err *err)
{
    struct sockaddr_un at;
    int fd;

    if (!limit_socket_address(&at, path, err) || !limit_clear_stale(&at, err) ||
        !limit_open_socket(&fd, err))
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

static void limit_accept(struct server *s)
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

static void limit_refill_tokens(struct server *s)
{
    uint64_t now = wr_clock_ns();
    double dt = (double)(now - s->then_ns) / 1e9;

    s->then_ns = now;
    s->tokens = fmin(s->tokens + dt * s->l->rate_bps, fmax(keep_s * s->l->rate_bps, PIECE));
    s->sum.busy_s += s->n > 1 ? dt : 0;
}

/* Reads at most a piece from one connection; false: the stream has ended and was acknowledged. */
static bool limit_read_piece(struct server *s, struct pollfd *from)
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

/* Every readable connection is read once before any is read twice. */
static void limit_read_round(struct server *s)
{
    for (size_t k = 1; k < s->n; k++) {
        size_t i = 1 + (s->turn + k) % (s->n - 1);

        if (!s->v[i].revents)
            continue;
        if (s->tokens < PIECE)
            return; /* the next round begins with this connection */
        s->turn = i - 1;
        if (!limit_read_piece(s, &s->v[i]))
            s->v[i].fd = -1;
    }
}

static void limit_drop_closed(struct server *s)
{
    size_t kept = 1;

    for (size_t i = 1; i < s->n; i++)
        if (s->v[i].fd >= 0)
            s->v[kept++] = s->v[i];
    s->n = kept;
}

static void limit_wait_for_tokens(const struct server *s)
{
    double missing_s = (PIECE - s->tokens) / s->l->rate_bps;

    if (missing_s <= 0)
        return;
    missing_s = fmin(missing_s, IDLE_MS / 1e3);
    struct timespec delay = {.tv_nsec = (long)(missing_s * 1e9)};

    nanosleep(&delay, NULL);
}

static void limit_serve(struct server *s)
{
    uint64_t began = wr_clock_ns();

    s->then_ns = began;
    while (!(s->l->stop && s->l->stop())) {
        if (s->l->length_s > 0 && (double)(wr_clock_ns() - began) / 1e9 >= s->l->length_s)
            break;
        limit_wait_for_tokens(s);
        if (poll(s->v, s->n, IDLE_MS) < 0)
            continue;
        limit_refill_tokens(s);
        if (s->v[0].revents)
            limit_accept(s);
        limit_read_round(s);
        limit_drop_closed(s);
    }
}

bool ioload_limit_serve(struct ioload_carried *ret, const struct ioload_limit *l,
                        struct wr_err *err)
{
    assert(l->path && l->rate_bps > 0);
    struct server *s = wr_zalloc(1, sizeof *s);
    bool ok = limit_listen(&s->listener, l->path, err);

    if (ok) {
        s->l = l;
        s->v[0] = (struct pollfd){.fd = s->listener, .events = POLLIN};
        s->n = 1;
        limit_serve(s);
        for (size_t i = 0; i < s->n; i++)
            close(s->v[i].fd);
        unlink(l->path);
        *ret = s->sum;
    }
    free(s);
    return ok;
}
