/* fork.c -- a link over sockets between this process and others that it starts.
 *
 * For machines without MPI, and for tests: processes are forked before anything is built, each pair
 * has a socket, and a process that is gone is an end of file. Messages are a length and that many
 * bytes; what a socket does not take at once waits here.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "sim/peers.h"

struct end {
    int fd;
    bool over;           /* it has said that it ends */
    struct wr_bytes out; /* from `sent` on: posted, and not taken by the socket */
    size_t sent;
    struct wr_bytes in; /* from `used` on: has come */
    size_t used;
};

struct forked {
    struct sim_link link;
    struct end *end; /* [size] */
    pid_t *child;    /* [size] of process 0 */
    uint32_t next;   /* whose turn it is to be polled */
    uint32_t gone;   /* the process that ended, when the link is lost */
};

/* In the place of a length: nothing follows, all is well; or because the process of that number is
 * gone: whoever sees a chain of ends is told where it began. */
static uint64_t goodbye(const struct forked *f, bool well)
{
    return UINT64_MAX - (well ? 0 : 1 + f->gone);
}

static void blame(struct forked *f, uint32_t who)
{
    if (f->link.lost[0])
        return;
    f->gone = who;
    snprintf(f->link.lost, sizeof f->link.lost, "process %u ended", who);
}

static void lose(struct forked *f, uint32_t who)
{
    if (!f->end[who].over)
        blame(f, who);
    close(f->end[who].fd);
    f->end[who].fd = -1;
}

static void flush(struct forked *f, uint32_t to)
{
    struct end *e = &f->end[to];

    while (e->fd >= 0 && e->sent < e->out.n) {
        ssize_t n =
            send(e->fd, e->out.v + e->sent, e->out.n - e->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n > 0)
            e->sent += (size_t)n;
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return;
        else if (errno != EINTR)
            lose(f, to);
    }
    e->out.n = e->sent = 0;
}

static void post(struct sim_link *l, uint32_t to, const void *data, size_t bytes)
{
    struct forked *f = (struct forked *)l;
    uint64_t length = bytes;

    if (f->end[to].fd < 0)
        return;
    wr_bytes_put(&f->end[to].out, &length, sizeof length);
    wr_bytes_put(&f->end[to].out, data, bytes);
    flush(f, to);
}

/* A whole message of what has come? */
static const void *whole(struct forked *f, struct end *e, size_t *ret_bytes)
{
    uint64_t length;

    if (e->in.n - e->used < sizeof length)
        return NULL;
    memcpy(&length, e->in.v + e->used, sizeof length);
    if (length >= UINT64_MAX - f->link.size) {
        e->over = true;
        if (length < UINT64_MAX)
            blame(f, (uint32_t)(UINT64_MAX - 1 - length));
        return NULL;
    }
    if (e->in.n - e->used - sizeof length < length)
        return NULL;
    const void *data = e->in.v + e->used + sizeof length;

    e->used += sizeof length + length;
    *ret_bytes = length;
    return data;
}

static void fill(struct forked *f, uint32_t from)
{
    enum { MOST = 1 << 16 };
    struct end *e = &f->end[from];

    if (e->used) {
        memmove(e->in.v, e->in.v + e->used, e->in.n - e->used);
        e->in.n -= e->used;
        e->used = 0;
    }
    if (e->in.n + MOST > e->in.cap)
        wr_vec_grow((void **)&e->in.v, &e->in.cap, e->in.n + MOST, 1);
    ssize_t n = recv(e->fd, e->in.v + e->in.n, MOST, MSG_DONTWAIT);

    if (n > 0)
        e->in.n += (size_t)n;
    else if (!n || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
        lose(f, from);
}

static const void *poll_link(struct sim_link *l, uint32_t *ret_from, size_t *ret_bytes)
{
    struct forked *f = (struct forked *)l;

    for (uint32_t i = 0; i < l->size; i++) {
        uint32_t from = f->next;
        struct end *e = &f->end[from];
        const void *data = from == l->rank ? NULL : whole(f, e, ret_bytes);

        f->next = (from + 1) % l->size;
        if (!data && e->fd >= 0) {
            flush(f, from);
            fill(f, from);
            data = whole(f, e, ret_bytes);
        }
        if (data) {
            *ret_from = from;
            return data;
        }
    }
    return NULL;
}

static void nap(struct sim_link *l, uint64_t ns)
{
    struct forked *f = (struct forked *)l;
    struct pollfd *fd = wr_alloc(l->size * sizeof *fd);

    for (uint32_t i = 0; i < l->size; i++) {
        const struct end *e = &f->end[i];

        fd[i] = (struct pollfd){.fd = e->fd, .events = POLLIN};
        if (e->sent < e->out.n)
            fd[i].events |= POLLOUT;
    }
    (void)ppoll(fd, l->size, &(struct timespec){.tv_nsec = (long)ns}, NULL);
    free(fd);
}

/* What was posted leaves, however long the other takes, unless it is gone. */
static void drain(struct forked *f, uint32_t to)
{
    struct end *e = &f->end[to];

    while (e->fd >= 0 && e->sent < e->out.n) {
        (void)poll(&(struct pollfd){.fd = e->fd, .events = POLLOUT}, 1, -1);
        flush(f, to);
    }
}

static int reap(struct forked *f, uint32_t i)
{
    int status;

    while (waitpid(f->child[i], &status, 0) < 0)
        if (errno != EINTR)
            return 0;
    if (WIFSIGNALED(status))
        return 128 + WTERMSIG(status);
    return WEXITSTATUS(status);
}

static int close_link(struct sim_link *l, bool well)
{
    struct forked *f = (struct forked *)l;
    int worst = 0;

    for (uint32_t i = 0; i < l->size; i++) {
        if (f->end[i].fd >= 0 && (well || l->lost[0])) {
            uint64_t bye = goodbye(f, well);

            wr_bytes_put(&f->end[i].out, &bye, sizeof bye);
            if (well)
                drain(f, i);
            flush(f, i);
        }
        if (f->end[i].fd >= 0)
            close(f->end[i].fd);
        free(f->end[i].out.v);
        free(f->end[i].in.v);
    }
    for (uint32_t i = 1; !l->rank && i < l->size; i++) {
        int status = f->child[i] > 0 ? reap(f, i) : 0;

        worst = status > worst ? status : worst;
    }
    free(f->end);
    free(f->child);
    free(f);
    return worst;
}

static const struct sim_link_ops ops = {
    .name = "sockets", .post = post, .poll = poll_link, .nap = nap, .close = close_link};

static struct forked *make(uint32_t size)
{
    struct forked *f = wr_zalloc(1, sizeof *f);

    f->link = (struct sim_link){.ops = &ops, .size = size, .local = size};
    f->end = wr_zalloc(size, sizeof *f->end);
    f->child = wr_zalloc(size, sizeof *f->child);
    for (uint32_t i = 0; i < size; i++)
        f->end[i].fd = -1;
    return f;
}

/* fd[i * n + j]: i's end of the socket to j. */
static void close_fds(const int *fd, uint32_t n, uint32_t but)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            if (i != but && fd[i * n + j] >= 0)
                close(fd[i * n + j]);
}

static bool make_fds(int *fd, uint32_t n, struct wr_err *err)
{
    for (uint32_t i = 0; i < n * n; i++)
        fd[i] = -1;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++) {
            int both[2];

            if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both)) {
                (void)wr_fail_errno(err, "cannot link %u processes; ask for fewer", n);
                close_fds(fd, n, n);
                return false;
            }
            fd[i * n + j] = both[0];
            fd[j * n + i] = both[1];
        }
    return true;
}

/* In a process that was started: who started it must not leave it behind. */
static void follow(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
}

bool sim_link_fork(struct sim_link **ret, uint32_t processes, struct wr_err *err)
{
    uint32_t n = processes, me = 0;
    pid_t parent = getpid();
    int *fd = wr_alloc((size_t)n * n * sizeof *fd);

    if (!make_fds(fd, n, err)) {
        free(fd);
        return false;
    }
    struct forked *f = make(n);

    fflush(NULL); /* what is still to be printed is printed once */
    for (uint32_t i = 1; !me && i < n; i++) {
        f->child[i] = fork();
        if (f->child[i] < 0) {
            (void)wr_fail_errno(err, "cannot start %u processes; ask for fewer", n);
            close_fds(fd, n, n); /* those that were started see it and end */
            free(fd);
            close_link(&f->link, false);
            return false;
        }
        if (!f->child[i]) {
            me = i;
            follow(parent);
        }
    }
    close_fds(fd, n, me);
    f->link.rank = me;
    for (uint32_t i = 0; i < n; i++)
        f->end[i].fd = fd[me * n + i];
    free(fd);
    *ret = &f->link;
    return true;
}
