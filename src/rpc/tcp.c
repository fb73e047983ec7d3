/* tcp.c -- processes of several nodes over plain sockets: a connection for each client.
 *
 *   connection  | frame | message | frame | bytes of a bulk transfer | frame | message | ...
 *
 * Libraries that carry RMA over TCP spend more system calls on a message than it needs: here one to
 * send and one to receive, and several messages that go the same way, or come, share one. A
 * transfer to a client (WRITE) is followed by the answer on the same connection, so nobody confirms
 * it; one from a client is asked for (READ) and comes as DATA. Both are received in the place where
 * they belong.
 *
 * What comes is anybody's bytes. A client's memory is written or read only by who knows its key,
 * which its requests carry; a server takes DATA only that it asked for; whoever does not keep to
 * the form is disconnected. No peer makes another wait: what cannot leave stays in its connection's
 * buffer until the kernel tells that there is room, and a peer that does not take its answers is
 * not read from. A connection has a place among the peers only after a hello with the token:
 * before, it is a guest (tcp_guests.h).
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "rpc/tcp_guests.h"
#include "rpc/tcp_socket.h"
#include "rpc/transport.h"

enum { IN_B = 16384, OUT_B = 65536, MOVES = 64, BATCH = 64, ELSEWHERE = 16, PULLS = 16 };
enum { ACCEPTS = 64, SHUT_NS = 100000000 };
enum { DOZE_NS = 50000000 }; /* a client sleeps in recv() for so long, and hardly longer */
enum { MESSAGE_MOST = RPC_INLINE_MOST + sizeof(struct rpc_head), LAYOUT = 1 };

/* What epoll tells of: a peer by its number, a guest, or the door. */
#define SEEN_GUEST UINT32_C(0x40000000)
#define SEEN_DOOR UINT32_C(0x80000000)

enum frame_kind { FRAME_MESSAGE = 0x7765, FRAME_WRITE, FRAME_READ, FRAME_DATA };

struct frame {
    uint32_t kind, cookie;
    uint64_t len;
    uint64_t at, key; /* WRITE, READ: of the client's memory */
};

/* Bytes that leave from where they are, after so many of the connection's small ones. */
struct move {
    const uint8_t *at; /* NULL: they were cut off, and zeros leave instead */
    uint64_t left;
    uint32_t after, cookie;
    bool tell; /* on_bulk when they are gone */
};

/* What a server asked for and waits for. */
struct asked {
    uint64_t len;
    uint8_t *at; /* NULL: it was cut off, and goes nowhere */
    uint32_t cookie;
};

struct conn {
    int fd; /* -1: none */
    bool dead;
    bool listed; /* in dirty[] */
    bool here;   /* of this node */
    bool full;   /* all that was asked for came, and there may be more */
    bool ends;   /* the other end sends no more: read on to the end */
    uint32_t in_from, in_to, out_from, out_to;
    uint64_t left; /* bytes of a bulk transfer that are yet to come; 0: none is coming */
    uint8_t *into; /* where they go; NULL: nowhere */
    bool tell;     /* they are the first of those that were asked for */
    bool stuck;    /* of a server: nothing can leave until the kernel tells so */
    bool gated;    /* of a server: not read from until there is room for an answer */
    uint32_t asked_from, nasked;
    struct asked asked[MOVES]; /* a ring: a client sends data in the order it was asked for them */
    uint32_t nmoves;
    struct move move[MOVES];
    uint8_t in[IN_B], out[OUT_B];
};

struct tcp {
    struct rpc_ep ep;
    int door, epoll;  /* of a server */
    uint64_t shut_ns; /* since when nobody is let in for want of descriptors; 0: the door is open */
    uint32_t peers;   /* as many as there are descriptors for */
    struct rpc_guests *guests;
    struct rpc_guest *speaks; /* the one whose message is being taken */
    struct conn *conn[RPC_PEERS];
    uint32_t high; /* conn[] from here on are empty */
    uint32_t n;    /* connections */
    uint32_t *dirty, ndirty;
    uint64_t key;
    uint32_t looks; /* at the one connection, since one looked elsewhere */
    uint32_t last;  /* connection that something came from */
};

static struct tcp *of(struct rpc_ep *ep)
{
    return (struct tcp *)(void *)ep;
}

/* ---- connections ---- */

/* Told once for whatever comes, and when there is room again for what could not leave: what is not
 * told again need not be looked at again by the kernel either. */
static void watch(const struct tcp *t, uint32_t k)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                            .data = {.u32 = k}};

    epoll_ctl(t->epoll, EPOLL_CTL_MOD, t->conn[k]->fd, &e);
}

static void mark(struct tcp *t, uint32_t k)
{
    if (!t->conn[k]->listed)
        t->dirty[t->ndirty++] = k;
    t->conn[k]->listed = true;
}

static void release(struct tcp *t, uint32_t k)
{
    struct conn *c = t->conn[k];

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

/* Gone, or not one of ours. Whoever has met it is told by alive(), and forgets it. */
static void drop(struct tcp *t, uint32_t k)
{
    struct conn *c = t->conn[k];

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
        if (m.tell)
            t->ep.on_bulk(t->ep.ctx, m.cookie, false);
    }
    for (; c->nasked; c->nasked--)
        t->ep.on_bulk(t->ep.ctx, c->asked[c->asked_from++ % MOVES].cookie, false);
}

static void adopt(struct tcp *t, uint32_t k, int fd)
{
    t->conn[k] = wr_zalloc(1, sizeof *t->conn[k]);
    t->conn[k]->fd = fd;
    t->conn[k]->here = rpc_socket_stays(fd);
    t->n++;
    t->high = k >= t->high ? k + 1 : t->high;
}

/* ---- out ---- */

/* How many small bytes leave before the next move, or in all. */
static uint32_t small_ones(const struct conn *c)
{
    return (c->nmoves ? c->move[0].after : c->out_to) - c->out_from;
}

static void gone_out(struct tcp *t, struct conn *c, uint64_t n)
{
    uint32_t small = small_ones(c);

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
    if (m.tell)
        t->ep.on_bulk(t->ep.ctx, m.cookie, true);
}

static struct iovec tcp_first_move(const struct conn *c)
{
    static const uint8_t zeros[OUT_B];
    const struct move *m = &c->move[0];
    bool some = !m->at && m->left > sizeof zeros;

    return (struct iovec){(void *)(uintptr_t)(m->at ? m->at : zeros),
                          some ? sizeof zeros : m->left};
}

/* As much as the kernel takes. True: something left. */
static bool push(struct tcp *t, uint32_t k)
{
    struct conn *c = t->conn[k];
    bool some = false;

    while (!c->dead && !c->stuck && (c->out_from != c->out_to || c->nmoves)) {
        struct iovec part[2] = {{c->out + c->out_from, small_ones(c)}, {NULL, 0}};

        if (c->nmoves)
            part[1] = tcp_first_move(c);
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
            drop(t, k);
        else
            gone_out(t, c, (uint64_t)n);
        some = true;
    }
    return some;
}

/* Room at the end for so many small bytes; what has left makes it. */
static bool make_room(struct tcp *t, uint32_t k, size_t n)
{
    struct conn *c = t->conn[k];

    if (OUT_B - c->out_to >= n)
        return true;
    push(t, k);
    if (c->out_from) {
        memmove(c->out, c->out + c->out_from, c->out_to - c->out_from);
        for (uint32_t i = 0; i < c->nmoves; i++)
            c->move[i].after -= c->out_from;
        c->out_to -= c->out_from;
        c->out_from = 0;
    }
    return !c->dead && OUT_B - c->out_to >= n;
}

static void put(struct conn *c, const void *bytes, size_t n)
{
    if (n)
        memcpy(c->out + c->out_to, bytes, n);
    c->out_to += (uint32_t)n;
}

static void put_move(struct conn *c, const uint8_t *at, uint64_t len, uint32_t cookie, bool tell)
{
    c->move[c->nmoves++] = (struct move){at, len, c->out_to, cookie, tell};
}

static bool tcp_send(struct rpc_ep *ep, uint32_t peer, const struct rpc_head *head,
                     const void *payload)
{
    struct tcp *t = of(ep);
    struct frame f = {.kind = FRAME_MESSAGE, .len = sizeof *head + head->len};

    if (!t->conn[peer] || !make_room(t, peer, sizeof f + f.len))
        return false;
    struct conn *c = t->conn[peer];

    put(c, &f, sizeof f);
    put(c, head, sizeof *head);
    put(c, payload, head->len);
    mark(t, peer);
    return true;
}

/* Those that cannot send all of it stay on the list, unless the kernel will tell when they can. */
static uint32_t push_all(struct tcp *t)
{
    uint32_t some = 0, kept = 0;

    for (uint32_t i = 0; i < t->ndirty; i++) {
        uint32_t k = t->dirty[i];

        some += push(t, k);
        const struct conn *c = t->conn[k];

        if (!c->dead && !c->stuck && (c->out_from != c->out_to || c->nmoves))
            t->dirty[kept++] = k;
        else
            t->conn[k]->listed = false;
    }
    t->ndirty = kept;
    return some;
}

static void tcp_flush(struct rpc_ep *ep)
{
    push_all(of(ep));
}

/* ---- in ---- */

static bool within(const struct tcp *t, const struct frame *f)
{
    return f->key == t->key && f->at <= t->ep.o.bulk_b && f->len <= t->ep.o.bulk_b - f->at &&
           f->len;
}

/* Bytes of a bulk transfer begin. */
static void expect(struct conn *c, uint8_t *into, uint64_t len, bool tell)
{
    c->into = into;
    c->left = len;
    c->tell = tell;
}

static bool take_read(struct tcp *t, uint32_t k, const struct frame *f)
{
    struct conn *c = t->conn[k];
    struct frame data = {.kind = FRAME_DATA, .cookie = f->cookie, .len = f->len};

    if (t->ep.o.server || !within(t, f) || c->nmoves == MOVES || !make_room(t, k, sizeof data))
        return false;
    put(c, &data, sizeof data);
    put_move(c, t->ep.bulk + f->at, f->len, 0, false);
    mark(t, k);
    return true;
}

static bool take_data(struct tcp *t, uint32_t k, const struct frame *f)
{
    struct conn *c = t->conn[k];
    const struct asked *a = &c->asked[c->asked_from % MOVES];

    if (!c->nasked || a->cookie != f->cookie || a->len != f->len)
        return false;
    expect(c, a->at, f->len, true);
    return true;
}

/* How many bytes of `in` a frame takes; 0: it is not whole, UINT32_MAX: it is none. */
static uint32_t take_frame(struct tcp *t, uint32_t k, const uint8_t *at, uint32_t n)
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
        ok = !t->ep.o.server && within(t, &f);
        if (ok)
            expect(t->conn[k], t->ep.bulk + f.at, f.len, false);
        break;
    case FRAME_READ:
        ok = take_read(t, k, &f);
        break;
    case FRAME_DATA:
        ok = take_data(t, k, &f);
        break;
    default:
        break;
    }
    return ok ? sizeof f : UINT32_MAX;
}

static void bulk_came(struct tcp *t, struct conn *c, uint64_t n)
{
    if (c->into)
        c->into += n;
    c->left -= n;
    if (c->left || !c->tell)
        return;
    c->nasked--;
    t->ep.on_bulk(t->ep.ctx, c->asked[c->asked_from++ % MOVES].cookie, true);
}

/* What a server takes from a peer it answers with one message at most, or with two later. */
static bool tcp_may_answer(struct tcp *t, uint32_t k)
{
    enum { ANSWER_B = sizeof(struct frame) + MESSAGE_MOST };
    struct conn *c = t->conn[k];

    c->gated = OUT_B - c->out_to < ANSWER_B && !make_room(t, k, ANSWER_B);
    return !c->gated;
}

/* All that is whole. A message may make its connection go. */
static uint32_t take_frames(struct tcp *t, uint32_t k)
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
            bulk_came(t, c, n);
            continue;
        }
        if (t->ep.o.server && !tcp_may_answer(t, k))
            break;
        uint32_t used = take_frame(t, k, c->in + c->in_from, n);

        if (t->conn[k] != c || c->dead)
            return taken + 1;
        if (used == UINT32_MAX) {
            drop(t, k);
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
static uint32_t pull(struct tcp *t, uint32_t k, int flags)
{
    struct conn *c = t->conn[k];

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
        drop(t, k);
        return 1;
    }
    t->last = k;
    c->full = (size_t)n == (direct ? part[0].iov_len : 0) + part[1].iov_len;
    uint64_t bulk = direct ? ((uint64_t)n < c->left ? (uint64_t)n : c->left) : 0;

    c->in_to += (uint32_t)((uint64_t)n - bulk);
    if (bulk)
        bulk_came(t, c, bulk);
    return take_frames(t, k) + (bulk > 0);
}

/* All that a connection has, as it is told of only once. One that sends without end is told of
 * again when it was the others' turn. Answers leave with the requests they belong to: whom they
 * wake can begin while others are served. */
static uint32_t drain(struct tcp *t, uint32_t k)
{
    const struct conn *c = t->conn[k];
    uint32_t some = 0;
    int pulls = 0;

    do
        some += pull(t, k, MSG_DONTWAIT);
    while (t->conn[k] == c && !c->dead && !c->gated && (c->full || c->ends) && ++pulls < PULLS);
    if (t->conn[k] != c)
        return some;
    if (c->listed)
        push(t, k);
    if (pulls == PULLS && !c->dead)
        watch(t, k);
    return some;
}

/* ---- guests ---- */

static uint32_t tcp_free_place(const struct tcp *t)
{
    if (t->n < t->peers)
        for (uint32_t i = 0; i < t->ep.o.peers; i++)
            if (!t->conn[i])
                return i;
    return UINT32_MAX;
}

/* What it says goes to the server, which meets it if that is a hello with the token; whatever else
 * it is, the guest goes. What it sent behind its hello is the peer's. */
static void tcp_let_speak(struct tcp *t, uint32_t g, uint32_t len)
{
    struct rpc_guest *guest = &t->guests->guest[g];
    uint32_t k = tcp_free_place(t), used = (uint32_t)sizeof(struct frame) + len;

    if (k != UINT32_MAX) {
        t->speaks = guest;
        t->ep.on_msg(t->ep.ctx, k, guest->bytes + sizeof(struct frame), len);
        t->speaks = NULL;
    }
    if (guest->fd >= 0) {
        rpc_guests_drop(t->guests, g);
        return;
    }
    struct conn *c = t->conn[k];

    if (!c || c->dead)
        return;
    memcpy(c->in, guest->bytes + used, guest->n - used);
    c->in_to = guest->n - used;
    watch(t, k);
    take_frames(t, k);
}

/* True: it said something whole. */
static bool tcp_hear_guest(struct tcp *t, uint32_t g)
{
    const struct rpc_guest *guest = &t->guests->guest[g];
    struct frame f = {.len = sizeof(struct rpc_head)};

    if (guest->fd < 0)
        return false;
    bool stays = rpc_guests_hear(t->guests, g);

    if (guest->n >= sizeof f)
        memcpy(&f, guest->bytes, sizeof f);
    bool ours =
        guest->n < sizeof f || (f.kind == FRAME_MESSAGE && f.len >= sizeof(struct rpc_head) &&
                                f.len <= sizeof guest->bytes - sizeof f);

    if (!ours || !stays)
        rpc_guests_drop(t->guests, g);
    else if (guest->n >= sizeof f + f.len) {
        tcp_let_speak(t, g, (uint32_t)f.len);
        return true;
    }
    return false;
}

static void tcp_watch_door(struct tcp *t, int op)
{
    struct epoll_event e = {.events = EPOLLIN, .data = {.u32 = SEEN_DOOR}};

    epoll_ctl(t->epoll, op, t->door, &e);
}

/* No descriptor is left, because others in this process took them: the door is closed for a
 * moment, as else it would be told of again and again. */
static void tcp_shut_door(struct tcp *t, uint64_t now)
{
    if (rpc_guests_drop_oldest(t->guests))
        return;
    t->shut_ns = now;
    tcp_watch_door(t, EPOLL_CTL_DEL);
}

/* Most have said their hello before they are let in. Those who come after so many wait until it was
 * the others' turn. */
static uint32_t tcp_answer_door(struct tcp *t)
{
    uint64_t now = wr_clock_ns();
    uint32_t some = 0, address;

    for (int i = 0; i < ACCEPTS; i++) {
        int fd = rpc_socket_accept(t->door, &address);

        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE)
                tcp_shut_door(t, now);
            break;
        }
        uint32_t g = rpc_guests_add(t->guests, fd, address, now);
        struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP, .data = {.u32 = SEEN_GUEST | g}};

        epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &e);
        some += tcp_hear_guest(t, g);
    }
    return some;
}

/* How long one may sleep before there is something to do for them. */
static uint64_t tcp_mind_guests(struct tcp *t)
{
    if (!t->guests->n && !t->shut_ns)
        return UINT64_MAX;
    uint64_t now = wr_clock_ns();

    if (t->shut_ns && now - t->shut_ns >= SHUT_NS) {
        t->shut_ns = 0;
        tcp_watch_door(t, EPOLL_CTL_ADD);
    }
    return t->shut_ns ? SHUT_NS : rpc_guests_expire(t->guests, now);
}

/* What epoll told of a peer. While it is gated nothing is read, so afterwards all is; one that ends
 * meanwhile will take no answers. */
static uint32_t tcp_turn_to(struct tcp *t, uint32_t k, uint32_t what)
{
    struct conn *c = t->conn[k];
    bool read = what & ~(uint32_t)EPOLLOUT, was_gated = c->gated;
    uint32_t some = 0;

    c->ends |= (what & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    if (what & EPOLLOUT && c->stuck) {
        c->stuck = false;
        mark(t, k);
        some += push(t, k);
    }
    if (was_gated && c->ends)
        drop(t, k);
    if (c->dead || (was_gated && !tcp_may_answer(t, k)))
        return some;
    if (was_gated)
        some += take_frames(t, k);
    if (t->conn[k] == c && (read || was_gated) && !c->dead && !c->gated)
        some += drain(t, k);
    return some;
}

static uint32_t look_everywhere(struct tcp *t, int timeout_ms)
{
    struct epoll_event e[BATCH];
    uint64_t guests_ms = tcp_mind_guests(t) / 1000000;
    int n = epoll_wait(t->epoll, e, BATCH,
                       guests_ms < (uint64_t)timeout_ms ? (int)guests_ms + 1 : timeout_ms);
    uint32_t some = 0;

    t->looks = 0;
    for (int i = 0; i < n; i++) {
        uint32_t k = e[i].data.u32, what = e[i].events;

        if (k == SEEN_DOOR)
            some += tcp_answer_door(t);
        else if (k & SEEN_GUEST)
            some += tcp_hear_guest(t, k & ~SEEN_GUEST);
        else if (t->conn[k])
            some += tcp_turn_to(t, k, what);
    }
    return some;
}

/* Of one connection alone one asks itself, and only now and then who else is there. */
static uint32_t tcp_progress(struct rpc_ep *ep)
{
    struct tcp *t = of(ep);
    uint32_t some = t->ndirty ? push_all(t) : 0;

    if (!ep->o.server)
        return some + (t->conn[0] ? pull(t, 0, MSG_DONTWAIT) : 0);
    if (t->n == 1 && t->looks++ < ELSEWHERE)
        return some + pull(t, t->high - 1, MSG_DONTWAIT);
    return some + look_everywhere(t, 0);
}

static bool tcp_blocks(struct rpc_ep *ep)
{
    (void)ep;
    return true;
}

/* Of the connection that a client has: the receiving itself is the sleep, unless something is to be
 * sent or the sleep is to be short. */
static uint32_t doze(struct tcp *t, uint64_t timeout_ns)
{
    struct timespec limit = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};
    struct pollfd p = {.fd = t->conn[0] ? t->conn[0]->fd : -1,
                       .events = (short)(POLLIN | (t->ndirty ? POLLOUT : 0))};

    if (p.fd >= 0 && !t->ndirty && timeout_ns >= DOZE_NS)
        return pull(t, 0, 0);
    if (ppoll(&p, 1, &limit, NULL) <= 0 || p.fd < 0)
        return 0;
    return tcp_progress(&t->ep);
}

/* Of short sleeps milliseconds are too coarse. */
static uint32_t tcp_wait(struct rpc_ep *ep, uint64_t timeout_ns)
{
    enum { MS = 1000000, SHORT_MS = 10, MOST_MS = 1000 };
    struct tcp *t = of(ep);

    if (!ep->o.server)
        return doze(t, timeout_ns);
    uint32_t some = t->ndirty ? push_all(t) : 0;
    struct pollfd p = {.fd = t->epoll, .events = POLLIN};
    uint64_t ms = timeout_ns / MS;

    if (some)
        return some;
    if (ms < SHORT_MS) {
        ppoll(&p, 1, &(struct timespec){0, (long)timeout_ns}, NULL);
        ms = 0;
    }
    return look_everywhere(t, ms < MOST_MS ? (int)ms : MOST_MS);
}

/* Within a node a packet is taken in where it was sent. */
static enum rpc_where tcp_where(struct rpc_ep *ep)
{
    const struct tcp *t = of(ep);
    const struct conn *c = t->conn[ep->o.server ? t->last : 0];
    int there;

    if (!c || c->dead || !c->here || (there = rpc_socket_cpu(c->fd)) < 0)
        return RPC_SOMEWHERE;
    return sched_getcpu() == there ? RPC_BESIDE : RPC_ELSEWHERE;
}

/* ---- memory of others ---- */

static struct rpc_ref tcp_refer(struct rpc_ep *ep, size_t at, size_t len)
{
    return (struct rpc_ref){.at = at, .key = of(ep)->key, .len = len};
}

static enum rpc_moved tcp_bulk(struct rpc_ep *ep, const struct rpc_bulk *b)
{
    struct tcp *t = of(ep);
    struct conn *c = t->conn[b->peer];
    bool writes = b->way == RPC_TO_PEER;
    struct frame f = {.kind = writes ? FRAME_WRITE : FRAME_READ,
                      .cookie = (uint32_t)b->cookie,
                      .len = b->ref.len,
                      .at = b->ref.at,
                      .key = b->ref.key};

    if (!c || c->dead)
        return RPC_MOVES_NOT;
    if (c->nmoves == MOVES || c->nasked == MOVES || !make_room(t, b->peer, sizeof f))
        return c->dead ? RPC_MOVES_NOT : RPC_MOVES_LATER;
    put(c, &f, sizeof f);
    if (writes)
        put_move(c, ep->bulk + b->at, b->ref.len, (uint32_t)b->cookie, true);
    else
        c->asked[(c->asked_from + c->nasked++) % MOVES] =
            (struct asked){b->ref.len, ep->bulk + b->at, (uint32_t)b->cookie};
    mark(t, b->peer);
    return RPC_MOVES;
}

static void tcp_cut_off(struct rpc_ep *ep, uint32_t peer, uint64_t cookie)
{
    struct conn *c = of(ep)->conn[peer];

    for (uint32_t i = 0; c && i < c->nmoves; i++)
        if (c->move[i].tell && c->move[i].cookie == cookie)
            c->move[i].at = NULL;
    for (uint32_t i = 0; c && i < c->nasked; i++) {
        struct asked *a = &c->asked[(c->asked_from + i) % MOVES];

        if (a->cookie != cookie)
            continue;
        a->at = NULL;
        if (!i && c->left && c->tell)
            c->into = NULL;
    }
}

/* ---- who is who ---- */

static size_t tcp_introduce(struct rpc_ep *ep, void *into, size_t size)
{
    uint32_t layout = LAYOUT;

    (void)ep;
    if (size < sizeof layout)
        return 0;
    memcpy(into, &layout, sizeof layout);
    return sizeof layout;
}

/* The guest that speaks gets the place of a peer. */
static bool tcp_meet(struct rpc_ep *ep, uint32_t peer, const void *bytes, size_t len)
{
    struct tcp *t = of(ep);
    uint32_t layout;

    if (len != sizeof layout || !t->speaks || t->conn[peer])
        return false;
    memcpy(&layout, bytes, sizeof layout);
    if (layout != LAYOUT)
        return false;
    int fd = rpc_guests_take(t->guests, (uint32_t)(t->speaks - t->guests->guest));

    rpc_socket_settle(fd);
    adopt(t, peer, fd);
    return true;
}

static void tcp_forget(struct rpc_ep *ep, uint32_t peer)
{
    if (of(ep)->conn[peer])
        release(of(ep), peer);
}

static bool tcp_alive(struct rpc_ep *ep, uint32_t peer)
{
    return !of(ep)->conn[peer] || !of(ep)->conn[peer]->dead;
}

/* ---- open and connect ---- */

static void tcp_close(struct rpc_ep *ep)
{
    struct tcp *t = of(ep);

    for (uint32_t i = t->high; i; i--)
        if (t->conn[i - 1])
            release(t, i - 1);
    if (t->guests)
        rpc_guests_fini(t->guests);
    free(t->guests);
    if (t->door >= 0)
        close(t->door);
    if (t->epoll >= 0)
        close(t->epoll);
    if (ep->bulk)
        munmap(ep->bulk, ep->o.bulk_b);
    free(t->dirty);
    free(t);
}

static bool open_door(struct tcp *t, struct wr_err *err)
{
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (t->epoll < 0)
        return wr_fail_errno(err, "cannot wait for clients; close some files");
    if (!rpc_socket_listen(&t->door, t->ep.o.bind, err))
        return false;
    t->guests = wr_zalloc(1, sizeof *t->guests);
    t->peers = rpc_guests_init(t->guests, t->ep.o.peers);
    tcp_watch_door(t, EPOLL_CTL_ADD);
    return true;
}

static bool tcp_open(struct rpc_ep **ret, const struct rpc_ep_opts *o, struct wr_err *err)
{
    struct tcp *t = wr_zalloc(1, sizeof *t);
    bool ok = true;

    t->ep = (struct rpc_ep){.t = &rpc_tcp, .o = *o, .inlined = RPC_INLINE_MOST};
    t->door = t->epoll = -1;
    t->dirty = wr_zalloc(RPC_PEERS, sizeof *t->dirty);
    if (o->domain)
        ok = wr_fail(err, WR_INPUT, "\"%.60s\" is a device of libfabric; take transport: fabric",
                     o->domain);
    if (ok && o->bulk_b) {
        void *at =
            mmap(NULL, o->bulk_b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        ok = at != MAP_FAILED;
        if (ok)
            t->ep.bulk = at;
        else
            wr_fail_errno(err, "no memory of %zu bytes; ask for less", o->bulk_b);
    }
    if (ok && getrandom(&t->key, sizeof t->key, 0) != sizeof t->key)
        ok = wr_fail_errno(err, "no random key; check the kernel");
    ok = ok && (!o->server || open_door(t, err));
    if (!ok) {
        tcp_close(&t->ep);
        return false;
    }
    *ret = &t->ep;
    return true;
}

static void tcp_address(struct rpc_ep *ep, char into[RPC_ADDRESS])
{
    char at[RPC_SOCKET_NAME];

    rpc_socket_name(of(ep)->door, at);
    snprintf(into, RPC_ADDRESS, "tcp:%s", at);
}

static bool tcp_connect(struct rpc_ep *ep, const char *address, struct wr_err *err)
{
    int fd;

    if (strncmp(address, "tcp:", 4) != 0)
        return wr_fail(err, WR_INPUT, "\"%.60s\" is no address of TCP; give tcp:ADDRESS:PORT",
                       address);
    if (!rpc_socket_connect(&fd, address + 4, ep->o.bind, ep->o.ticks ? 0 : DOZE_NS / 1000, err))
        return false;
    adopt(of(ep), 0, fd);
    return true;
}

const struct rpc_transport rpc_tcp = {
    .name = "tcp",
    .summary = "TCP over plain sockets, between nodes",
    .looks = 8,
    .kernel_wakes = true,
    .wait_takes = true,
    .shuts_out = true,
    .tells_room = true,
    .open = tcp_open,
    .close = tcp_close,
    .address = tcp_address,
    .connect = tcp_connect,
    .introduce = tcp_introduce,
    .meet = tcp_meet,
    .forget = tcp_forget,
    .refer = tcp_refer,
    .send = tcp_send,
    .flush = tcp_flush,
    .progress = tcp_progress,
    .bulk = tcp_bulk,
    .cut_off = tcp_cut_off,
    .blocks = tcp_blocks,
    .wait = tcp_wait,
    .alive = tcp_alive,
    .where = tcp_where,
};
