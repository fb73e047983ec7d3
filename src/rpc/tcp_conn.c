/* tcp_conn.c -- one connection: small bytes and moves that leave, frames and bulk data that come.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "rpc/tcp_socket.h"
#include "tcp_priv.h"

enum { PULLS = 16, MESSAGE_MOST = RPC_INLINE_MOST + sizeof(struct rpc_head) };

/* ---- connections ---- */

/* Edge-triggered: the kernel reports new data once, and space for sending once after there was
 * none. */
void tcp_conn_watch(const struct tcp *t, uint32_t k)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                            .data = {.u32 = k}};

    epoll_ctl(t->epoll, EPOLL_CTL_MOD, t->conn[k]->fd, &e);
}

void tcp_conn_release(struct tcp *t, uint32_t k)
{
    struct conn *c = t->conn[k];

    assert(c && t->n);
    if (c->fd >= 0)
        close(c->fd);
    for (uint32_t i = 0; c->listed && i < t->ndirty; i++)
        if (t->dirty[i] == k)
            t->dirty[i] = t->dirty[--t->ndirty];
    free(c);
    t->conn[k] = NULL;
    t->n--;
    while (t->high && !t->conn[t->high - 1])
        t->high--;
}

void tcp_conn_drop(struct tcp *t, uint32_t k)
{
    struct conn *c = t->conn[k];

    assert(c);
    if (c->dead)
        return;
    c->dead = true;
    t->ep.deaths++;
    close(c->fd);
    c->fd = -1;
    c->out_from = c->out_to = 0;
    c->left = 0;
    for (uint32_t n = c->nmoves; n; n--) {
        struct move m = c->move[0];

        memmove(c->move, c->move + 1, --c->nmoves * sizeof m);
        if (m.notify)
            t->ep.on_bulk(t->ep.ctx, m.cookie, false);
    }
    for (; c->nasked; c->nasked--)
        t->ep.on_bulk(t->ep.ctx, c->asked[c->asked_from++ % MOVES].cookie, false);
}

void tcp_conn_adopt(struct tcp *t, uint32_t k, int fd)
{
    assert(k < RPC_PEERS && !t->conn[k] && fd >= 0);
    t->conn[k] = wr_zalloc(1, sizeof *t->conn[k]);
    t->conn[k]->fd = fd;
    t->conn[k]->here = rpc_socket_stays(fd);
    t->n++;
    t->high = k >= t->high ? k + 1 : t->high;
}

/* ---- out ---- */

/* How many small bytes leave before the next move, or in all. */
static uint32_t tcp_conn_small(const struct conn *c)
{
    return (c->nmoves ? c->move[0].after : c->out_to) - c->out_from;
}

static void tcp_conn_gone_out(struct tcp *t, struct conn *c, uint64_t n)
{
    uint32_t small = tcp_conn_small(c);

    wr_check(n <= small + (c->nmoves ? c->move[0].left : 0));
    if (n < small) {
        c->out_from += (uint32_t)n;
        return;
    }
    c->out_from += small;
    if (!c->nmoves) {
        c->out_from = c->out_to = 0;
        return;
    }
    if (c->move[0].at)
        c->move[0].at += n - small;
    c->move[0].left -= n - small;
    if (c->move[0].left)
        return;
    struct move m = c->move[0];

    memmove(c->move, c->move + 1, --c->nmoves * sizeof m);
    if (m.notify)
        t->ep.on_bulk(t->ep.ctx, m.cookie, true);
}

static struct iovec tcp_conn_first_move(const struct conn *c)
{
    static const uint8_t zeros[OUT_B];
    const struct move *m = &c->move[0];
    bool some = !m->at && m->left > sizeof zeros;

    return (struct iovec){(void *)(uintptr_t)(m->at ? m->at : zeros),
                          some ? sizeof zeros : m->left};
}

bool tcp_conn_push(struct tcp *t, uint32_t k)
{
    struct conn *c = t->conn[k];
    bool some = false;

    while (!c->dead && !c->stuck && (c->out_from != c->out_to || c->nmoves)) {
        struct iovec part[2] = {{c->out + c->out_from, tcp_conn_small(c)}, {NULL, 0}};

        if (c->nmoves)
            part[1] = tcp_conn_first_move(c);
        struct msghdr m = {.msg_iov = part, .msg_iovlen = 2};
        ssize_t n =
            c->nmoves ? sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT)
                      : send(c->fd, part[0].iov_base, part[0].iov_len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            c->stuck = t->ep.o.server;
            return some;
        }
        if (n < 0)
            tcp_conn_drop(t, k);
        else
            tcp_conn_gone_out(t, c, (uint64_t)n);
        some = true;
    }
    return some;
}

bool tcp_conn_reserve_slow(struct tcp *t, uint32_t k, size_t n)
{
    struct conn *c = t->conn[k];

    wr_check(n <= OUT_B);
    tcp_conn_push(t, k);
    if (c->out_from) {
        memmove(c->out, c->out + c->out_from, c->out_to - c->out_from);
        for (uint32_t i = 0; i < c->nmoves; i++)
            c->move[i].after -= c->out_from;
        c->out_to -= c->out_from;
        c->out_from = 0;
    }
    return !c->dead && OUT_B - c->out_to >= n;
}

/* Those that cannot send all of it stay on the list, unless epoll reports when they can. */
uint32_t tcp_conn_push_all(struct tcp *t)
{
    uint32_t some = 0, kept = 0;

    for (uint32_t i = 0; i < t->ndirty; i++) {
        uint32_t k = t->dirty[i];

        some += tcp_conn_push(t, k);
        const struct conn *c = t->conn[k];

        if (!c->dead && !c->stuck && (c->out_from != c->out_to || c->nmoves))
            t->dirty[kept++] = k;
        else
            t->conn[k]->listed = false;
    }
    t->ndirty = kept;
    return some;
}

/* ---- in ---- */

static bool tcp_conn_within(const struct tcp *t, const struct frame *f)
{
    return f->key == t->key && f->at <= t->ep.o.bulk_b && f->len <= t->ep.o.bulk_b - f->at &&
           f->len;
}

/* Bytes of a bulk transfer begin. */
static void tcp_conn_expect(struct conn *c, uint8_t *into, uint64_t len, bool notify)
{
    c->into = into;
    c->left = len;
    c->notify = notify;
}

static bool tcp_conn_take_read(struct tcp *t, uint32_t k, const struct frame *f)
{
    struct conn *c = t->conn[k];
    struct frame data = {.kind = FRAME_DATA, .cookie = f->cookie, .len = f->len};

    if (t->ep.o.server || !tcp_conn_within(t, f) || c->nmoves == MOVES ||
        !tcp_conn_reserve(t, k, sizeof data))
        return false;
    tcp_conn_put(c, &data, sizeof data);
    tcp_conn_put_move(c, t->ep.bulk + f->at, f->len, 0, false);
    tcp_conn_mark(t, k);
    return true;
}

static bool tcp_conn_take_data(struct tcp *t, uint32_t k, const struct frame *f)
{
    struct conn *c = t->conn[k];
    const struct asked *a = &c->asked[c->asked_from % MOVES];

    if (!c->nasked || a->cookie != f->cookie || a->len != f->len)
        return false;
    tcp_conn_expect(c, a->at, f->len, true);
    return true;
}

/* How many bytes of `in` a frame takes; 0: it is not whole, UINT32_MAX: it is none. */
static uint32_t tcp_conn_take_frame(struct tcp *t, uint32_t k, const uint8_t *at, uint32_t n)
{
    struct frame f;

    if (n < sizeof f)
        return 0;
    memcpy(&f, at, sizeof f);
    bool ok = false;

    switch (f.kind) {
    case FRAME_MESSAGE:
        if (f.len < sizeof(struct rpc_head) || f.len > MESSAGE_MOST)
            return UINT32_MAX;
        if (n < sizeof f + f.len)
            return 0;
        t->ep.on_msg(t->ep.ctx, t->ep.o.server ? k : 0, at + sizeof f, f.len);
        return (uint32_t)(sizeof f + f.len);
    case FRAME_WRITE:
        ok = !t->ep.o.server && tcp_conn_within(t, &f);
        if (ok)
            tcp_conn_expect(t->conn[k], t->ep.bulk + f.at, f.len, false);
        break;
    case FRAME_READ:
        ok = tcp_conn_take_read(t, k, &f);
        break;
    case FRAME_DATA:
        ok = tcp_conn_take_data(t, k, &f);
        break;
    default:
        break;
    }
    return ok ? sizeof f : UINT32_MAX;
}

static void tcp_conn_bulk_came(struct tcp *t, struct conn *c, uint64_t n)
{
    wr_check(n <= c->left);
    if (c->into)
        c->into += n;
    c->left -= n;
    if (c->left || !c->notify)
        return;
    c->nasked--;
    t->ep.on_bulk(t->ep.ctx, c->asked[c->asked_from++ % MOVES].cookie, true);
}

bool tcp_conn_may_answer(struct tcp *t, uint32_t k)
{
    enum { ANSWER_B = sizeof(struct frame) + MESSAGE_MOST };
    struct conn *c = t->conn[k];

    c->gated = !tcp_conn_reserve(t, k, ANSWER_B);
    return !c->gated;
}

/* All that is whole. A message may make its connection go. */
uint32_t tcp_conn_take_frames(struct tcp *t, uint32_t k)
{
    struct conn *c = t->conn[k];
    uint32_t taken = 0;

    while (c->in_from != c->in_to && !c->dead) {
        uint32_t n = c->in_to - c->in_from;

        if (c->left) {
            n = n < c->left ? n : (uint32_t)c->left;
            if (c->into)
                memcpy(c->into, c->in + c->in_from, n);
            c->in_from += n;
            tcp_conn_bulk_came(t, c, n);
            continue;
        }
        if (t->ep.o.server && !tcp_conn_may_answer(t, k))
            break;
        uint32_t used = tcp_conn_take_frame(t, k, c->in + c->in_from, n);

        if (t->conn[k] != c || c->dead)
            return taken + 1;
        if (used == UINT32_MAX) {
            tcp_conn_drop(t, k);
            return taken + 1;
        }
        if (!used)
            break;
        c->in_from += used;
        taken++;
    }
    memmove(c->in, c->in + c->in_from, c->in_to - c->in_from);
    c->in_to -= c->in_from;
    c->in_from = 0;
    return taken;
}

/* What a bulk transfer lacks comes to its place, what follows it behind. */
uint32_t tcp_conn_pull(struct tcp *t, uint32_t k, int flags)
{
    struct conn *c = t->conn[k];

    wr_check(c->in_from <= c->in_to && c->in_to <= IN_B);
    if (c->dead || c->gated)
        return 0;
    bool direct = c->left && c->into; /* else what comes is in `in`, perhaps to be forgotten */
    struct iovec part[2] = {{c->into, c->left}, {c->in + c->in_to, IN_B - c->in_to}};
    struct msghdr m = {.msg_iov = part, .msg_iovlen = 2};
    ssize_t n =
        direct ? recvmsg(c->fd, &m, flags) : recv(c->fd, part[1].iov_base, part[1].iov_len, flags);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0) {
        tcp_conn_drop(t, k);
        return 1;
    }
    t->last = k;
    c->full = (size_t)n == (direct ? part[0].iov_len : 0) + part[1].iov_len;
    uint64_t bulk = direct ? ((uint64_t)n < c->left ? (uint64_t)n : c->left) : 0;

    c->in_to += (uint32_t)((uint64_t)n - bulk);
    if (bulk)
        tcp_conn_bulk_came(t, c, bulk);
    return tcp_conn_take_frames(t, k) + (bulk > 0);
}

/* Reads all that a connection has, since it is reported only once. A peer that sends without end is
 * reported again after the others were served. Answers leave with the requests they belong to, so
 * that the client can go on while others are served. */
uint32_t tcp_conn_drain(struct tcp *t, uint32_t k)
{
    const struct conn *c = t->conn[k];
    uint32_t some = 0;
    int pulls = 0;

    do
        some += tcp_conn_pull(t, k, MSG_DONTWAIT);
    while (t->conn[k] == c && !c->dead && !c->gated && (c->full || c->ends) && ++pulls < PULLS);
    if (t->conn[k] != c)
        return some;
    if (c->listed)
        tcp_conn_push(t, k);
    if (pulls == PULLS && !c->dead)
        tcp_conn_watch(t, k);
    return some;
}
