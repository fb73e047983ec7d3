/* shm.c -- processes of one node: a mapped segment with two rings for each client.
 *
 *   segment  | head: pid, layout, the server's doorbell | pair 0 | pair 1 | ...
 *   pair     | state | client's doorbell | up: 64 slots | down: 64 slots |
 *   slot     | seq | len | message, at most 248 bytes |      4 cache lines, a short one is in 1
 *
 * Each ring has one writer and one reader. A slot is full when its seq is the number of
 * the message it should hold, so a message costs the transfer of one cache line and no other
 * word is shared. No ring can overflow: a client has fewer calls under way than a ring has slots;
 * when a call is answered its request has been read, and those before it.
 *
 * A side that blocks sets `asleep` in its doorbell, then checks its ring once more; a side that has
 * sent reads the doorbell of the other. The fence between the two steps on both sides makes sure
 * that one of them sees the other.
 *
 * Segments are anonymous files that are found through /proc/PID/fd, so that nothing is left
 * behind however a process ends; they are sealed, so that no peer can shorten them while they are
 * mapped.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "rpc/transport.h"

enum { SLOTS = 64, SLOT_B = 256, BODY_B = SLOT_B - 8, BATCH = 32, LAYOUT = 2 };
enum { PAIR_FREE, PAIR_CLAIMED };

static const char magic[8] = "weirrpc1";

struct doorbell {
    _Alignas(64) _Atomic uint32_t rung;
    _Atomic uint32_t asleep;
    _Atomic uint32_t cpu; /* 1 + the processor on which its owner waited last; 0: not known */
};

struct slot {
    _Alignas(64) _Atomic uint64_t full; /* seq, and the length above it */
    uint8_t body[BODY_B];
};
_Static_assert(sizeof(struct slot) == SLOT_B, "a slot is four cache lines");
_Static_assert((SLOTS & (SLOTS - 1)) == 0, "numbers of messages wrap around");

struct pair {
    _Alignas(64) _Atomic uint32_t state;
    _Atomic int32_t pid;
    struct doorbell doorbell; /* the client's */
    struct slot up[SLOTS], down[SLOTS];
};

/* The server's shared memory; clients map it and take a pair each. */
struct segment {
    char magic[8];
    uint32_t layout, npairs;                /* version; pairs behind */
    int32_t pid;                            /* the server's */
    _Alignas(64) _Atomic uint32_t arrivals; /* clients so far: the server looks for new ones */
    struct doorbell doorbell;               /* the server's */
    struct pair pair[];
};

/* What a client's hello carries. */
struct introduction {
    int32_t pid, fd; /* of the client, and of its offered memory there */
    uint64_t bulk_b;
};

/* Of a pair, what only we look at. */
struct side {
    struct slot *in, *out;  /* the rings that we read and write */
    uint32_t read, written; /* messages so far */
    bool active, dirty;     /* dirty: written to since the last flush */
    uint8_t *bulk;          /* the peer's memory */
    size_t bulk_b;
};

/* An endpoint over shared memory. Up to bulk_fd, `mine`, `npairs` and `side` are set up. */
struct shm {
    struct rpc_ep ep;
    struct segment *seg; /* mapped */
    size_t seg_b;
    int seg_fd, bulk_fd;   /* of the segment; of our offered memory */
    uint32_t mine;         /* a client's pair */
    uint32_t last;         /* the pair that a server heard of last */
    uint32_t arrivals;     /* of which the server knows */
    uint32_t npairs, high; /* high: pairs from here on were never active */
    struct side *side;     /* [npairs]; of a client one */
};

static struct shm *shm_of(struct rpc_ep *ep)
{
    return (struct shm *)(void *)ep;
}

/* ---- memory that others can map ---- */

static bool shm_make_memory(void **ret, int *ret_fd, size_t size, const char *name,
                            struct wr_err *err)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *at = MAP_FAILED;

    assert(size);
    if (fd >= 0 && !ftruncate(fd, (off_t)size) &&
        !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        wr_fail_errno(err, "no shared memory of %zu bytes; ask for less", size);
        if (fd >= 0)
            close(fd);
        return false;
    }
    *ret = at;
    *ret_fd = fd;
    return true;
}

/* NULL: not there, not ours to map, not of that size, or not sealed against shortening. */
static void *shm_map_peer(int32_t pid, int32_t fd, size_t size)
{
    char path[64];
    struct stat st;

    assert(size);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    int own = open(path, O_RDWR | O_CLOEXEC);

    if (own < 0)
        return NULL;
    int seals = fcntl(own, F_GET_SEALS);
    void *at = MAP_FAILED;

    if (!fstat(own, &st) && seals >= 0 && seals & F_SEAL_SHRINK && (uint64_t)st.st_size >= size)
        at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
    close(own);
    return at == MAP_FAILED ? NULL : at;
}

/* ---- bells ---- */

static void shm_futex(_Atomic uint32_t *word, int op, uint32_t value,
                      const struct timespec *timeout)
{
    syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

static void shm_ring_doorbell(struct doorbell *b)
{
    if (!atomic_load_explicit(&b->asleep, memory_order_relaxed))
        return;
    atomic_fetch_add(&b->rung, 1);
    shm_futex(&b->rung, FUTEX_WAKE, 1, NULL);
}

static bool shm_has_work(struct shm *s);

static struct doorbell *shm_doorbell_of(const struct shm *s, bool server)
{
    return server ? &s->seg->doorbell : &s->seg->pair[s->ep.o.server ? s->last : s->mine].doorbell;
}

/* Written only when the owner has moved, so that the line stays shared and reading it is cheap. */
static enum rpc_where shm_where(struct rpc_ep *ep)
{
    struct shm *s = shm_of(ep);
    struct doorbell *own = shm_doorbell_of(s, ep->o.server),
                    *other = shm_doorbell_of(s, !ep->o.server);
    uint32_t here = (uint32_t)sched_getcpu() + 1;

    if (atomic_load_explicit(&own->cpu, memory_order_relaxed) != here)
        atomic_store_explicit(&own->cpu, here, memory_order_relaxed);
    uint32_t there = atomic_load_explicit(&other->cpu, memory_order_relaxed);

    return !here || !there ? RPC_CPU_UNKNOWN : here == there ? RPC_CPU_SAME : RPC_CPU_OTHER;
}

static uint32_t shm_wait(struct rpc_ep *ep, uint64_t timeout_ns)
{
    struct shm *s = shm_of(ep);
    struct doorbell *b = shm_doorbell_of(s, ep->o.server);
    struct timespec t = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};
    uint32_t seen = atomic_load(&b->rung);

    atomic_store(&b->asleep, 1);
    atomic_thread_fence(memory_order_seq_cst);
    if (!shm_has_work(s))
        shm_futex(&b->rung, FUTEX_WAIT, seen, &t);
    atomic_store(&b->asleep, 0);
    return 0;
}

/* ---- messages ---- */

/* The rings are set also for a free pair: reading or writing them then does no harm. */
static void shm_reset_side(struct shm *s, uint32_t pair, bool active)
{
    struct pair *p = &s->seg->pair[pair];

    assert(pair < s->npairs);
    s->side[pair] = (struct side){.in = s->ep.o.server ? p->up : p->down,
                                  .out = s->ep.o.server ? p->down : p->up,
                                  .active = active};
}

static void shm_make_sides(struct shm *s)
{
    s->side = wr_zalloc(s->npairs, sizeof *s->side);
    for (uint32_t i = 0; i < s->npairs; i++)
        shm_reset_side(s, i, false);
}

static struct slot *shm_next_slot(const struct side *side)
{
    return &side->in[side->read % SLOTS];
}

static uint64_t shm_load_slot(const struct side *side)
{
    return atomic_load_explicit(&shm_next_slot(side)->full, memory_order_acquire);
}

static bool shm_has_message(const struct side *side)
{
    return (uint32_t)shm_load_slot(side) == side->read + 1;
}

/* Word by word, as it was written: a wider read would have to wait for the writes. */
static void shm_copy_word(uint8_t *to, const struct rpc_head *head, size_t at)
{
    uint64_t word;

    memcpy(&word, (const uint8_t *)head + at, sizeof word);
    atomic_store_explicit((_Atomic uint64_t *)(void *)(to + at), word, memory_order_relaxed);
}

static bool shm_has_work(struct shm *s)
{
    if (!s->ep.o.server)
        return shm_has_message(&s->side[s->mine]);
    if (atomic_load_explicit(&s->seg->arrivals, memory_order_acquire) != s->arrivals)
        return true;
    for (uint32_t i = 0; i < s->high; i++)
        if (s->side[i].active && shm_has_message(&s->side[i]))
            return true;
    return false;
}

static bool shm_send(struct rpc_ep *ep, uint32_t peer, const struct rpc_head *head,
                     const void *payload)
{
    struct shm *s = shm_of(ep);
    struct side *side = &s->side[ep->o.server ? peer : s->mine];
    struct slot *slot = &side->out[side->written % SLOTS];

    wr_check(head->len <= BODY_B - sizeof *head);
    shm_copy_word(slot->body, head, 0);
    shm_copy_word(slot->body, head, 8);
    shm_copy_word(slot->body, head, 16);
    shm_copy_word(slot->body, head, 24);
    shm_copy_word(slot->body, head, 32);
    if (head->len)
        memcpy(slot->body + sizeof *head, payload, head->len);
    atomic_store_explicit(&slot->full, (sizeof *head + head->len) << 32 | ++side->written,
                          memory_order_release);
    side->dirty = true;
    return true;
}

static void shm_flush(struct rpc_ep *ep)
{
    struct shm *s = shm_of(ep);

    if (!ep->o.server) {
        if (!s->side[s->mine].dirty)
            return;
        s->side[s->mine].dirty = false;
        atomic_thread_fence(memory_order_seq_cst);
        shm_ring_doorbell(&s->seg->doorbell);
        return;
    }
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < s->high; i++)
        if (s->side[i].dirty) {
            s->side[i].dirty = false;
            shm_ring_doorbell(&s->seg->pair[i].doorbell);
        }
}

static uint32_t shm_read_pair(struct shm *s, uint32_t pair)
{
    struct side *side = &s->side[pair];
    uint64_t full;
    uint32_t n = 0;

    /* A message may end the pair; what it holds then belongs to the next client. */
    while (n < BATCH && side->active && (uint32_t)(full = shm_load_slot(side)) == side->read + 1) {
        const struct slot *slot = shm_next_slot(side);
        size_t len = full >> 32;

        side->read++;
        n++;
        __builtin_prefetch(shm_next_slot(side));
        s->ep.on_msg(s->ep.ctx, s->ep.o.server ? pair : 0, slot->body, len < BODY_B ? len : BODY_B);
    }
    return n;
}

/* To look at many pairs once takes long enough. */
static void shm_spin(struct shm *s)
{
    enum { FEW = 16 };

    for (uint32_t looks = 0; looks < s->ep.eager && s->high <= FEW && !shm_has_work(s); looks++)
        rpc_pause();
}

static void shm_find_arrivals(struct shm *s)
{
    s->arrivals = atomic_load_explicit(&s->seg->arrivals, memory_order_acquire);
    for (uint32_t i = 0; i < s->npairs; i++) {
        bool claimed =
            atomic_load_explicit(&s->seg->pair[i].state, memory_order_acquire) == PAIR_CLAIMED;

        if (claimed && !s->side[i].active) {
            shm_reset_side(s, i, true);
            s->high = i >= s->high ? i + 1 : s->high;
        }
    }
}

static uint32_t shm_progress(struct rpc_ep *ep)
{
    struct shm *s = shm_of(ep);
    uint32_t n = 0;

    shm_spin(s);
    if (!ep->o.server)
        return shm_read_pair(s, s->mine);
    if (atomic_load_explicit(&s->seg->arrivals, memory_order_acquire) != s->arrivals)
        shm_find_arrivals(s);
    for (uint32_t i = 0; i < s->high; i++) {
        uint32_t read = s->side[i].active ? shm_read_pair(s, i) : 0;

        s->last = read ? i : s->last;
        n += read;
    }
    return n;
}

/* ---- memory of others ---- */

static struct rpc_ref shm_refer(struct rpc_ep *ep, size_t at, size_t len)
{
    (void)ep;
    return (struct rpc_ref){.at = at, .len = len};
}

static enum rpc_moved shm_bulk(struct rpc_ep *ep, const struct rpc_bulk *b)
{
    struct shm *s = shm_of(ep);
    const struct side *side = &s->side[b->peer];

    wr_check(b->peer < s->npairs && b->at + b->ref.len <= ep->o.bulk_b);
    if (b->ref.at > side->bulk_b || b->ref.len > side->bulk_b - b->ref.at)
        return RPC_MOVES_NOT;
    if (b->way == RPC_TO_PEER)
        memcpy(side->bulk + b->ref.at, ep->bulk + b->at, b->ref.len);
    else
        memcpy(ep->bulk + b->at, side->bulk + b->ref.at, b->ref.len);
    ep->on_bulk(ep->ctx, b->cookie, true);
    return RPC_MOVES;
}

static size_t shm_introduce(struct rpc_ep *ep, void *into, size_t size)
{
    struct introduction i = {getpid(), shm_of(ep)->bulk_fd, ep->o.bulk_b};

    if (size < sizeof i)
        return 0;
    memcpy(into, &i, sizeof i);
    return sizeof i;
}

static bool shm_meet(struct rpc_ep *ep, uint32_t peer, const void *bytes, size_t len)
{
    struct side *side = &shm_of(ep)->side[peer];
    struct introduction i;

    if (len != sizeof i || side->bulk)
        return false;
    memcpy(&i, bytes, sizeof i);
    if (i.bulk_b > (UINT64_C(1) << 36) || i.pid <= 0)
        return false;
    if (i.bulk_b && !(side->bulk = shm_map_peer(i.pid, i.fd, i.bulk_b)))
        return false;
    side->bulk_b = i.bulk_b;
    return true;
}

static bool shm_alive(struct rpc_ep *ep, uint32_t peer)
{
    struct shm *s = shm_of(ep);
    int32_t pid = ep->o.server ? atomic_load(&s->seg->pair[peer].pid) : s->seg->pid;

    return !pid || !kill(pid, 0) || errno == EPERM;
}

/* The rings begin anew with the next client. */
static void shm_forget(struct rpc_ep *ep, uint32_t peer)
{
    struct shm *s = shm_of(ep);
    struct pair *p = &s->seg->pair[peer];

    assert(ep->o.server && peer < s->npairs);
    if (s->side[peer].bulk)
        munmap(s->side[peer].bulk, s->side[peer].bulk_b);
    shm_reset_side(s, peer, false);
    for (size_t i = 0; i < SLOTS; i++) {
        atomic_store_explicit(&p->up[i].full, 0, memory_order_relaxed);
        atomic_store_explicit(&p->down[i].full, 0, memory_order_relaxed);
    }
    atomic_store(&p->pid, 0);
    atomic_store(&p->doorbell.cpu, 0);
    atomic_store_explicit(&p->state, PAIR_FREE, memory_order_release);
}

/* ---- open and connect ---- */

static void shm_close(struct rpc_ep *ep)
{
    struct shm *s = shm_of(ep);

    for (uint32_t i = 0; s->side && i < s->npairs; i++)
        if (s->side[i].bulk)
            munmap(s->side[i].bulk, s->side[i].bulk_b);
    if (s->seg)
        munmap(s->seg, s->seg_b);
    if (s->seg_fd >= 0)
        close(s->seg_fd);
    if (ep->bulk)
        munmap(ep->bulk, ep->o.bulk_b);
    if (s->bulk_fd >= 0)
        close(s->bulk_fd);
    free(s->side);
    free(s);
}

static bool shm_make_segment(struct shm *s, struct wr_err *err)
{
    void *at;

    s->npairs = s->ep.o.peers;
    s->seg_b = sizeof *s->seg + s->npairs * sizeof s->seg->pair[0];
    if (!shm_make_memory(&at, &s->seg_fd, s->seg_b, "weir-rpc", err))
        return false;
    s->seg = at;
    memcpy(s->seg->magic, magic, sizeof magic);
    s->seg->layout = LAYOUT;
    s->seg->npairs = s->npairs;
    s->seg->pid = getpid();
    shm_make_sides(s);
    return true;
}

static bool shm_open_ep(struct rpc_ep **ret, const struct rpc_ep_opts *o, struct wr_err *err)
{
    struct shm *s = wr_zalloc(1, sizeof *s);
    void *bulk = NULL;

    s->ep = (struct rpc_ep){.t = &rpc_shm, .o = *o, .inlined = BODY_B - sizeof(struct rpc_head)};
    s->seg_fd = s->bulk_fd = -1;
    bool ok = true;

    if (o->depth >= SLOTS)
        ok = wr_fail(err, WR_INPUT,
                     "%u calls under way are too many for shared memory; give %d "
                     "or fewer",
                     o->depth, SLOTS - 1);
    ok = ok && (!o->bulk_b || shm_make_memory(&bulk, &s->bulk_fd, o->bulk_b, "weir-bulk", err));
    s->ep.bulk = bulk;
    ok = ok && (!o->server || shm_make_segment(s, err));
    if (!ok) {
        shm_close(&s->ep);
        return false;
    }
    *ret = &s->ep;
    return true;
}

static void shm_address(struct rpc_ep *ep, char into[RPC_ADDRESS])
{
    assert(ep->o.server);
    snprintf(into, RPC_ADDRESS, "shm:%d:%d", (int)getpid(), shm_of(ep)->seg_fd);
}

static bool shm_claim_pair(struct shm *s, struct wr_err *err)
{
    assert(!s->ep.o.server);
    for (uint32_t i = 0; i < s->npairs; i++) {
        uint32_t is = PAIR_FREE;

        if (!atomic_compare_exchange_strong(&s->seg->pair[i].state, &is, PAIR_CLAIMED))
            continue;
        s->mine = i;
        shm_reset_side(s, i, true);
        atomic_store(&s->seg->pair[i].pid, getpid());
        atomic_fetch_add(&s->seg->arrivals, 1);
        return true;
    }
    return wr_fail(err, WR_INPUT, "the server has %u clients and takes no more; start fewer",
                   s->npairs);
}

static bool shm_connect(struct rpc_ep *ep, const char *address, struct wr_err *err)
{
    struct shm *s = shm_of(ep);
    int pid, fd;

    if (sscanf(address, "shm:%d:%d", &pid, &fd) != 2 || pid <= 0 || fd < 0)
        return wr_fail(err, WR_INPUT, "\"%.60s\" is no address in shared memory; give shm:PID:FD",
                       address);
    struct segment *head = shm_map_peer(pid, fd, sizeof *head);

    if (!head)
        return wr_fail(err, WR_SYSTEM, "no server is at %.60s; start it first", address);
    bool ours = !memcmp(head->magic, magic, sizeof magic);
    uint32_t layout = head->layout, npairs = head->npairs;

    munmap(head, sizeof *head);
    if (!ours || layout != LAYOUT || !npairs || npairs > RPC_PEERS)
        return wr_fail(err, WR_INPUT,
                       "at %.60s is no server of this version; use the same weir "
                       "for servers and clients",
                       address);
    s->npairs = npairs;
    s->seg_b = sizeof *s->seg + npairs * sizeof s->seg->pair[0];
    if (!(s->seg = shm_map_peer(pid, fd, s->seg_b)))
        return wr_fail(err, WR_SYSTEM, "the server at %.60s went away; start it again", address);
    shm_make_sides(s);
    return shm_claim_pair(s, err);
}

static bool shm_blocks(struct rpc_ep *ep)
{
    (void)ep;
    return true;
}

const struct rpc_transport rpc_shm = {
    .name = "shm",
    .summary = "memory shared by the processes of a node",
    .looks = 64,
    .detects_exit = true,
    .open = shm_open_ep,
    .close = shm_close,
    .address = shm_address,
    .connect = shm_connect,
    .introduce = shm_introduce,
    .meet = shm_meet,
    .forget = shm_forget,
    .refer = shm_refer,
    .send = shm_send,
    .flush = shm_flush,
    .progress = shm_progress,
    .bulk = shm_bulk,
    .blocks = shm_blocks,
    .wait = shm_wait,
    .alive = shm_alive,
    .where = shm_where,
};
