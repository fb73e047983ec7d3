/* tcp.c -- processes of several nodes over plain sockets: a connection for each client.
 *
 *   connection  | frame | message | frame | bytes of a bulk transfer | frame | message | ...
 *
 * Libraries that carry RMA over TCP spend more system calls on a message than it needs: here one to
 * send and one to receive, and several messages that go the same way, or come, share one. A
 * transfer to a client (WRITE) is followed by the answer on the same connection, so it needs no
 * acknowledgement; one from a client is requested (READ) and comes as DATA. Both are received in
 * place, without a copy.
 *
 * Received bytes are not trusted. A client's memory is written or read only by a server that knows
 * its key, which the client's requests carry; a server takes only DATA that it requested; a peer
 * that violates the protocol is disconnected. No peer makes another wait: what cannot be sent stays
 * in the connection's buffer until the kernel signals space, and a peer that does not take its
 * answers is not read from. A connection becomes a peer only after a hello with the token: before,
 * it is pending (tcp_pending.h).
 */
#include <assert.h>
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
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "rpc/tcp_socket.h"
#include "tcp_priv.h"

enum { BATCH = 64, ELSEWHERE = 16, ACCEPTS = 64, PAUSE_NS = 100000000, LAYOUT = 1 };
enum { RECV_BLOCK_NS = 50000000 }; /* a client sleeps in recv() for so long, and hardly longer */

/* What an epoll event is about: a peer by its number, a connection without a number yet, or the
 * listener. */
#define SEEN_PENDING UINT32_C(0x40000000)
#define SEEN_LISTENER UINT32_C(0x80000000)

/* ---- messages ---- */

static bool tcp_send(struct rpc_ep *ep, uint32_t peer, const struct rpc_head *head,
                     const void *payload)
{
    struct tcp *t = tcp_of(ep);
    struct frame f = {.kind = FRAME_MESSAGE, .len = sizeof *head + head->len};

    if (!t->conn[peer] || !tcp_conn_reserve(t, peer, sizeof f + f.len))
        return false;
    struct conn *c = t->conn[peer];

    tcp_conn_put(c, &f, sizeof f);
    tcp_conn_put(c, head, sizeof *head);
    tcp_conn_put(c, payload, head->len);
    tcp_conn_mark(t, peer);
    return true;
}

static void tcp_flush(struct rpc_ep *ep)
{
    tcp_conn_push_all(tcp_of(ep));
}

/* ---- connections whose hello has not been accepted ---- */

static uint32_t tcp_free_place(const struct tcp *t)
{
    if (t->n < t->peers)
        for (uint32_t i = 0; i < t->ep.o.peers; i++)
            if (!t->conn[i])
                return i;
    return UINT32_MAX;
}

/* What it says goes to the server, which meets it if that is a hello with the token; whatever else
 * it is, the connection is closed. What it sent behind its hello is the peer's. */
static void tcp_admit(struct tcp *t, uint32_t g, uint32_t len)
{
    struct rpc_pending_entry *entry = &t->pending->entry[g];
    uint32_t k = tcp_free_place(t), used = (uint32_t)sizeof(struct frame) + len;

    if (k != UINT32_MAX) {
        t->sender = entry;
        t->ep.on_msg(t->ep.ctx, k, entry->bytes + sizeof(struct frame), len);
        t->sender = NULL;
    }
    if (entry->fd >= 0) {
        rpc_pending_drop(t->pending, g);
        return;
    }
    struct conn *c = t->conn[k];

    if (!c || c->dead)
        return;
    memcpy(c->in, entry->bytes + used, entry->n - used);
    c->in_to = entry->n - used;
    tcp_conn_watch(t, k);
    tcp_conn_take_frames(t, k);
}

/* True: it said something whole. */
static bool tcp_read_pending(struct tcp *t, uint32_t g)
{
    const struct rpc_pending_entry *entry = &t->pending->entry[g];
    struct frame f = {.len = sizeof(struct rpc_head)};

    if (entry->fd < 0)
        return false;
    bool stays = rpc_pending_read(t->pending, g);

    if (entry->n >= sizeof f)
        memcpy(&f, entry->bytes, sizeof f);
    bool ours =
        entry->n < sizeof f || (f.kind == FRAME_MESSAGE && f.len >= sizeof(struct rpc_head) &&
                                f.len <= sizeof entry->bytes - sizeof f);

    if (!ours || !stays)
        rpc_pending_drop(t->pending, g);
    else if (entry->n >= sizeof f + f.len) {
        tcp_admit(t, g, (uint32_t)f.len);
        return true;
    }
    return false;
}

static void tcp_watch_listener(struct tcp *t, int op)
{
    struct epoll_event e = {.events = EPOLLIN, .data = {.u32 = SEEN_LISTENER}};

    epoll_ctl(t->epoll, op, t->listener, &e);
}

/* No descriptor is left, because others in this process took them: the listener leaves epoll for
 * a moment, which would otherwise report it again and again. */
static void tcp_pause_accept(struct tcp *t, uint64_t now)
{
    if (rpc_pending_drop_oldest(t->pending))
        return;
    t->paused_ns = now;
    tcp_watch_listener(t, EPOLL_CTL_DEL);
}

/* Most have sent their hello before they are accepted. Connections beyond ACCEPTS wait until the
 * peers were served. */
static uint32_t tcp_accept_all(struct tcp *t)
{
    uint64_t now = wr_clock_ns();
    uint32_t some = 0, address;

    for (int i = 0; i < ACCEPTS; i++) {
        int fd = rpc_socket_accept(t->listener, &address);

        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE)
                tcp_pause_accept(t, now);
            break;
        }
        uint32_t g = rpc_pending_add(t->pending, fd, address, now);
        struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP, .data = {.u32 = SEEN_PENDING | g}};

        epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &e);
        some += tcp_read_pending(t, g);
    }
    return some;
}

/* How long one may sleep before there is something to do for them. */
static uint64_t tcp_expire_pending(struct tcp *t)
{
    if (!t->pending->n && !t->paused_ns)
        return UINT64_MAX;
    uint64_t now = wr_clock_ns();

    if (t->paused_ns && now - t->paused_ns >= PAUSE_NS) {
        t->paused_ns = 0;
        tcp_watch_listener(t, EPOLL_CTL_ADD);
    }
    return t->paused_ns ? PAUSE_NS : rpc_pending_expire(t->pending, now);
}

/* An epoll event of a peer. While it is gated nothing is read, so afterwards all is; one that ends
 * meanwhile will take no answers. */
static uint32_t tcp_serve_event(struct tcp *t, uint32_t k, uint32_t what)
{
    struct conn *c = t->conn[k];
    bool read = what & ~(uint32_t)EPOLLOUT, was_gated = c->gated;
    uint32_t some = 0;

    c->ends |= (what & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    if (what & EPOLLOUT && c->stuck) {
        c->stuck = false;
        tcp_conn_mark(t, k);
        some += tcp_conn_push(t, k);
    }
    if (was_gated && c->ends)
        tcp_conn_drop(t, k);
    if (c->dead || (was_gated && !tcp_conn_may_answer(t, k)))
        return some;
    if (was_gated)
        some += tcp_conn_take_frames(t, k);
    if (t->conn[k] == c && (read || was_gated) && !c->dead && !c->gated)
        some += tcp_conn_drain(t, k);
    return some;
}

static uint32_t tcp_poll_events(struct tcp *t, int timeout_ms)
{
    struct epoll_event e[BATCH];
    uint64_t pending_ms = tcp_expire_pending(t) / 1000000;
    int n = epoll_wait(t->epoll, e, BATCH,
                       pending_ms < (uint64_t)timeout_ms ? (int)pending_ms + 1 : timeout_ms);
    uint32_t some = 0;

    t->looks = 0;
    for (int i = 0; i < n; i++) {
        uint32_t k = e[i].data.u32, what = e[i].events;

        if (k == SEEN_LISTENER)
            some += tcp_accept_all(t);
        else if (k & SEEN_PENDING)
            some += tcp_read_pending(t, k & ~SEEN_PENDING);
        else if (t->conn[k])
            some += tcp_serve_event(t, k, what);
    }
    return some;
}

/* A server with one connection reads it directly, and polls for others now and then only. */
static uint32_t tcp_progress(struct rpc_ep *ep)
{
    struct tcp *t = tcp_of(ep);
    uint32_t some = t->ndirty ? tcp_conn_push_all(t) : 0;

    if (!ep->o.server)
        return some + (t->conn[0] ? tcp_conn_pull(t, 0, MSG_DONTWAIT) : 0);
    if (t->n == 1 && t->looks++ < ELSEWHERE)
        return some + tcp_conn_pull(t, t->high - 1, MSG_DONTWAIT);
    return some + tcp_poll_events(t, 0);
}

static bool tcp_blocks(struct rpc_ep *ep)
{
    (void)ep;
    return true;
}

/* Of the connection that a client has: the receiving itself is the sleep, unless something is to be
 * sent or the sleep is to be short. */
static uint32_t tcp_block(struct tcp *t, uint64_t timeout_ns)
{
    struct timespec limit = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};
    struct pollfd p = {.fd = t->conn[0] ? t->conn[0]->fd : -1,
                       .events = (short)(POLLIN | (t->ndirty ? POLLOUT : 0))};

    if (p.fd >= 0 && !t->ndirty && timeout_ns >= RECV_BLOCK_NS)
        return tcp_conn_pull(t, 0, 0);
    if (ppoll(&p, 1, &limit, NULL) <= 0 || p.fd < 0)
        return 0;
    return tcp_progress(&t->ep);
}

/* Of short sleeps milliseconds are too coarse. */
static uint32_t tcp_wait(struct rpc_ep *ep, uint64_t timeout_ns)
{
    enum { MS = 1000000, SHORT_MS = 10, MOST_MS = 1000 };
    struct tcp *t = tcp_of(ep);

    if (!ep->o.server)
        return tcp_block(t, timeout_ns);
    uint32_t some = t->ndirty ? tcp_conn_push_all(t) : 0;
    struct pollfd p = {.fd = t->epoll, .events = POLLIN};
    uint64_t ms = timeout_ns / MS;

    if (some)
        return some;
    if (ms < SHORT_MS) {
        ppoll(&p, 1, &(struct timespec){0, (long)timeout_ns}, NULL);
        ms = 0;
    }
    return tcp_poll_events(t, ms < MOST_MS ? (int)ms : MOST_MS);
}

/* Within a node a packet is taken in where it was sent. */
static enum rpc_where tcp_where(struct rpc_ep *ep)
{
    const struct tcp *t = tcp_of(ep);
    const struct conn *c = t->conn[ep->o.server ? t->last : 0];
    int there;

    if (!c || c->dead || !c->here || (there = rpc_socket_cpu(c->fd)) < 0)
        return RPC_CPU_UNKNOWN;
    return sched_getcpu() == there ? RPC_CPU_SAME : RPC_CPU_OTHER;
}

/* ---- memory of others ---- */

static struct rpc_ref tcp_refer(struct rpc_ep *ep, size_t at, size_t len)
{
    return (struct rpc_ref){.at = at, .key = tcp_of(ep)->key, .len = len};
}

static enum rpc_moved tcp_bulk(struct rpc_ep *ep, const struct rpc_bulk *b)
{
    struct tcp *t = tcp_of(ep);
    struct conn *c = t->conn[b->peer];
    bool writes = b->way == RPC_TO_PEER;
    struct frame f = {.kind = writes ? FRAME_WRITE : FRAME_READ,
                      .cookie = (uint32_t)b->cookie,
                      .len = b->ref.len,
                      .at = b->ref.at,
                      .key = b->ref.key};

    wr_check(b->at + b->ref.len <= ep->o.bulk_b);
    if (!c || c->dead)
        return RPC_MOVES_NOT;
    if (c->nmoves == MOVES || c->nasked == MOVES || !tcp_conn_reserve(t, b->peer, sizeof f))
        return c->dead ? RPC_MOVES_NOT : RPC_MOVES_LATER;
    tcp_conn_put(c, &f, sizeof f);
    if (writes)
        tcp_conn_put_move(c, ep->bulk + b->at, b->ref.len, (uint32_t)b->cookie, true);
    else
        c->asked[(c->asked_from + c->nasked++) % MOVES] =
            (struct asked){b->ref.len, ep->bulk + b->at, (uint32_t)b->cookie};
    tcp_conn_mark(t, b->peer);
    return RPC_MOVES;
}

static void tcp_cut_off(struct rpc_ep *ep, uint32_t peer, uint64_t cookie)
{
    struct conn *c = tcp_of(ep)->conn[peer];

    for (uint32_t i = 0; c && i < c->nmoves; i++)
        if (c->move[i].notify && c->move[i].cookie == cookie)
            c->move[i].at = NULL;
    for (uint32_t i = 0; c && i < c->nasked; i++) {
        struct asked *a = &c->asked[(c->asked_from + i) % MOVES];

        if (a->cookie != cookie)
            continue;
        a->at = NULL;
        if (!i && c->left && c->notify)
            c->into = NULL;
    }
}

/* ---- introduction of peers ---- */

static size_t tcp_introduce(struct rpc_ep *ep, void *into, size_t size)
{
    uint32_t layout = LAYOUT;

    (void)ep;
    if (size < sizeof layout)
        return 0;
    memcpy(into, &layout, sizeof layout);
    return sizeof layout;
}

/* The pending connection whose message is being handled gets the place of a peer. */
static bool tcp_meet(struct rpc_ep *ep, uint32_t peer, const void *bytes, size_t len)
{
    struct tcp *t = tcp_of(ep);
    uint32_t layout;

    assert(peer < ep->o.peers);
    if (len != sizeof layout || !t->sender || t->conn[peer])
        return false;
    memcpy(&layout, bytes, sizeof layout);
    if (layout != LAYOUT)
        return false;
    int fd = rpc_pending_take(t->pending, (uint32_t)(t->sender - t->pending->entry));

    rpc_socket_settle(fd);
    tcp_conn_adopt(t, peer, fd);
    return true;
}

static void tcp_forget(struct rpc_ep *ep, uint32_t peer)
{
    if (tcp_of(ep)->conn[peer])
        tcp_conn_release(tcp_of(ep), peer);
}

static bool tcp_alive(struct rpc_ep *ep, uint32_t peer)
{
    return !tcp_of(ep)->conn[peer] || !tcp_of(ep)->conn[peer]->dead;
}

/* ---- open and connect ---- */

static void tcp_close(struct rpc_ep *ep)
{
    struct tcp *t = tcp_of(ep);

    for (uint32_t i = t->high; i; i--)
        if (t->conn[i - 1])
            tcp_conn_release(t, i - 1);
    if (t->pending)
        rpc_pending_fini(t->pending);
    free(t->pending);
    if (t->listener >= 0)
        close(t->listener);
    if (t->epoll >= 0)
        close(t->epoll);
    if (ep->bulk)
        munmap(ep->bulk, ep->o.bulk_b);
    free(t->dirty);
    free(t);
}

static bool tcp_listen(struct tcp *t, struct wr_err *err)
{
    assert(t->epoll < 0 && !t->pending);
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (t->epoll < 0)
        return wr_fail_errno(err, "cannot wait for clients; close some files");
    if (!rpc_socket_listen(&t->listener, t->ep.o.bind, err))
        return false;
    t->pending = wr_zalloc(1, sizeof *t->pending);
    t->peers = rpc_pending_init(t->pending, t->ep.o.peers);
    tcp_watch_listener(t, EPOLL_CTL_ADD);
    return true;
}

static bool tcp_open(struct rpc_ep **ret, const struct rpc_ep_opts *o, struct wr_err *err)
{
    struct tcp *t = wr_zalloc(1, sizeof *t);
    bool ok = true;

    t->ep = (struct rpc_ep){.t = &rpc_tcp, .o = *o, .inlined = RPC_INLINE_MOST};
    t->listener = t->epoll = -1;
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
    ok = ok && (!o->server || tcp_listen(t, err));
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

    assert(tcp_of(ep)->listener >= 0);
    rpc_socket_name(tcp_of(ep)->listener, at);
    snprintf(into, RPC_ADDRESS, "tcp:%s", at);
}

static bool tcp_connect(struct rpc_ep *ep, const char *address, struct wr_err *err)
{
    int fd;

    if (strncmp(address, "tcp:", 4) != 0)
        return wr_fail(err, WR_INPUT, "\"%.60s\" is no address of TCP; give tcp:ADDRESS:PORT",
                       address);
    if (!rpc_socket_connect(&fd, address + 4, ep->o.bind, ep->o.ticks ? 0 : RECV_BLOCK_NS / 1000,
                            err))
        return false;
    tcp_conn_adopt(tcp_of(ep), 0, fd);
    return true;
}

const struct rpc_transport rpc_tcp = {
    .name = "tcp",
    .summary = "TCP over plain sockets, between nodes",
    .looks = 8,
    .kernel_wakes = true,
    .wait_takes = true,
    .may_close_early = true,
    .signals_space = true,
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
