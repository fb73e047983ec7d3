/* uring.c -- rings of io_uring that the program makes and enters by syscall().
 *
 *   submission ring    requests, taken by the kernel in io_uring_enter (or by a kernel thread:
 *                      IORING_SETUP_SQPOLL); each is recorded before, with the row of its
 * descriptor completion ring    results; each is matched to its request by user_data and counted
 * with the bytes that it moved
 *
 * The library maps the rings itself at io_uring_setup, so that it never reads memory that the
 * program has unmapped, and unmaps them at close. Rings of programs that enter by their own
 * instruction (fio) are read at close only. Entries that were overwritten before are known by
 * number, because both rings count on: the number is in ring_missed, and their bytes are estimated
 * from the requests of the same ring that were seen.
 *
 * Invariant: a request is in the list of its bucket or in the free list. Both change under the
 * ring's lock only, and no system call is made under it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { RINGS = 32, NOTES_MOST = 1 << 16, FIXED = 64, SPIN = 100000 };

/* A request that was submitted and whose result has not been seen. */
struct note {
    uint64_t user_data; /* by which its result is found */
    uint32_t next;      /* + 1; 0: the last */
    uint16_t row,
        source; /* of its file; + 1: of the file that it reads from, if it copies; 0: none */
    uint8_t op;
};

/* A ring of io_uring, followed through the memory that it shares with the kernel. Up to cq_n set
 * when the ring is found, `fixed` when files are registered; the rest changes with requests. */
struct ring {
    int fd;                    /* -1: free */
    uint32_t pid, lock, flags; /* of the process; of this struct; of io_uring_setup */
    char *sq, *cq, *sqe;       /* mappings: submissions, completions, entries */
    size_t sq_b, cq_b, sqe_b;
    const uint32_t *sq_head, *sq_tail, *array; /* array NULL: requests are in order */
    const uint32_t *cq_tail;
    const char *cqe;
    uint32_t sq_mask, sq_n, cq_mask, cq_n; /* entries, and less one */
    uint32_t sq_seen, cq_seen;             /* recorded and counted so far */
    struct note *note;                     /* [notes], followed by the buckets */
    uint32_t *bucket, free,
        notes;                /* a hash table by user_data; first free note + 1; a power of two */
    size_t note_b;            /* of the mapping */
    uint64_t missed, unnoted; /* results, requests */
    uint64_t done, done_calls[2], done_bytes[2]; /* results that were seen */
    uint32_t done_row[2];                        /* of the last of each: reads, writes */
    uint16_t fixed[FIXED];                       /* row + 1 of registered files */
};

_Static_assert((NOTES_MOST & (NOTES_MOST - 1)) == 0, "ring_hash masks with a power of two");

static struct ring rings[RINGS];
static uint32_t rings_n; /* entries ever used */
uint32_t lib_rings, lib_rings_polled;

static bool ring_lock(struct ring *r)
{
    for (int i = 0; i < SPIN; i++) {
        uint32_t none = 0;

        if (__atomic_compare_exchange_n(&r->lock, &none, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return true;
    }
    return false; /* held by the thread that this signal handler interrupted: skip */
}

static void ring_unlock(struct ring *r)
{
    __atomic_store_n(&r->lock, 0, __ATOMIC_RELEASE);
}

static struct ring *ring_of(int fd)
{
    for (uint32_t i = 0; i < rings_n; i++)
        if (rings[i].fd == fd && rings[i].pid == lib.pid && rings[i].sq)
            return &rings[i];
    return NULL;
}

static uint32_t ring_hash(const struct ring *r, uint64_t user_data)
{
    return (uint32_t)((user_data * 0x9e3779b97f4a7c15u) >> 40) & (r->notes - 1);
}

/* The operations that are counted; `moves`: copies from `splice_fd_in`. */
static const struct ring_op {
    uint8_t opcode, op;
    bool moves;
} ring_ops[] = {
    {IORING_OP_READ, PROF_READ, false},       {IORING_OP_WRITE, PROF_WRITE, false},
    {IORING_OP_READ_FIXED, PROF_READ, false}, {IORING_OP_WRITE_FIXED, PROF_WRITE, false},
    {IORING_OP_READV, PROF_READ, false},      {IORING_OP_WRITEV, PROF_WRITE, false},
    {IORING_OP_RECV, PROF_READ, false},       {IORING_OP_SEND, PROF_WRITE, false},
    {IORING_OP_RECVMSG, PROF_READ, false},    {IORING_OP_SENDMSG, PROF_WRITE, false},
    {IORING_OP_SPLICE, PROF_WRITE, true},     {IORING_OP_FSYNC, PROF_SYNC, false},
    {IORING_OP_OPENAT, PROF_OPEN, false},     {IORING_OP_SYNC_FILE_RANGE, PROF_SYNC, false},
    {IORING_OP_OPENAT2, PROF_OPEN, false},    {IORING_OP_FALLOCATE, PROF_META, false},
    {IORING_OP_STATX, PROF_META, false},      {IORING_OP_UNLINKAT, PROF_META, false},
    {IORING_OP_RENAMEAT, PROF_META, false},   {IORING_OP_FADVISE, PROF_META, false},
};

static const struct ring_op *ring_op_of(uint8_t opcode)
{
    for (size_t i = 0; i < sizeof ring_ops / sizeof ring_ops[0]; i++)
        if (ring_ops[i].opcode == opcode)
            return &ring_ops[i];
    return NULL;
}

static uint32_t ring_row(const struct ring *r, const struct io_uring_sqe *e, enum prof_op op)
{
    if (op == PROF_OPEN || (op == PROF_META && e->opcode != IORING_OP_FALLOCATE))
        return PROF_ROW_REST;
    if (!(e->flags & IOSQE_FIXED_FILE)) {
        uint32_t row = lib_fd(e->fd);
        bool gone = row == PROF_ROW_OTHER && lib_sys(SYS_fcntl, e->fd, F_GETFD) < 0;

        return gone ? PROF_ROW_REST : row; /* closed before the ring was read */
    }
    return (uint32_t)e->fd < FIXED && r->fixed[e->fd] ? r->fixed[e->fd] - 1u : PROF_ROW_REST;
}

static void ring_record(struct ring *r, const struct io_uring_sqe *e)
{
    const struct ring_op *o = ring_op_of(e->opcode);
    uint32_t i = r->free, h = ring_hash(r, e->user_data);

    if (e->opcode == IORING_OP_CLOSE && !(e->flags & IOSQE_FIXED_FILE))
        lib_fd_closed(e->fd);
    if (!o)
        return;
    if (!i) {
        r->unnoted++;
        return;
    }
    struct note *n = &r->note[i - 1];

    r->free = n->next;
    *n = (struct note){.user_data = e->user_data, .next = r->bucket[h], .op = o->op};
    n->row = (uint16_t)ring_row(r, e, o->op);
    n->source = o->moves ? (uint16_t)(lib_fd(e->splice_fd_in) + 1) : 0;
    r->bucket[h] = i;
}

/* Removes the oldest (or newest) request with this user_data; NULL: none. */
static struct note *ring_take(struct ring *r, uint64_t user_data, bool newest)
{
    uint32_t *found = NULL;

    for (uint32_t *at = &r->bucket[ring_hash(r, user_data)]; *at; at = &r->note[*at - 1].next)
        if (r->note[*at - 1].user_data == user_data) {
            found = at;
            if (newest)
                break;
        }
    if (!found)
        return NULL;
    uint32_t i = *found;

    *found = r->note[i - 1].next;
    r->note[i - 1].next = r->free;
    r->free = i;
    return &r->note[i - 1];
}

static const struct io_uring_sqe *ring_sqe(const struct ring *r, uint32_t i)
{
    uint32_t at = r->array ? r->array[i & r->sq_mask] : i & r->sq_mask;
    size_t size = r->flags & IORING_SETUP_SQE128 ? 128 : 64;

    return at < r->sq_n ? (const struct io_uring_sqe *)(r->sqe + at * size) : NULL;
}

/* Records requests up to `to`; entries that were reused are lost. */
static void ring_record_to(struct ring *r, uint32_t to)
{
    if ((int32_t)(to - r->sq_seen) <= 0)
        return;
    if (to - r->sq_seen > r->sq_n) {
        r->unnoted += to - r->sq_seen - r->sq_n;
        r->sq_seen = to - r->sq_n;
    }
    for (; r->sq_seen != to; r->sq_seen++) {
        const struct io_uring_sqe *e = ring_sqe(r, r->sq_seen);

        if (e)
            ring_record(r, e);
    }
}

/* The requests that the kernel has taken; a polling thread takes all. */
static uint32_t ring_taken(const struct ring *r)
{
    bool polled = r->flags & IORING_SETUP_SQPOLL;

    return __atomic_load_n(polled ? r->sq_tail : r->sq_head, __ATOMIC_ACQUIRE);
}

static void ring_count(struct ring *r, const struct note *n, int32_t res)
{
    uint64_t bytes = n->op <= PROF_WRITE && res > 0 ? (uint64_t)res : 0;

    r->done++;
    if (n->op <= PROF_WRITE && n->row != PROF_ROW_OTHER) {
        r->done_calls[n->op]++;
        r->done_bytes[n->op] += bytes;
        r->done_row[n->op] = n->row;
    }
    lib_count_async(n->op, n->row, bytes);
    if (n->source)
        lib_count_async(PROF_READ, n->source - 1u, bytes);
}

static void ring_results(struct ring *r)
{
    uint32_t tail = __atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE);
    size_t size = r->flags & IORING_SETUP_CQE32 ? 32 : 16;

    if (tail - r->cq_seen > r->cq_n) {
        r->missed += tail - r->cq_seen - r->cq_n;
        r->cq_seen = tail - r->cq_n;
    }
    for (; r->cq_seen != tail; r->cq_seen++) {
        const struct io_uring_cqe *c =
            (const struct io_uring_cqe *)(r->cqe + (r->cq_seen & r->cq_mask) * size);
        bool more = c->flags & IORING_CQE_F_MORE;
        const struct note *n = ring_take(r, c->user_data, false);

        if (!n) { /* no I/O, or a request that was not recorded */
            r->missed += r->unnoted > 0;
            r->unnoted -= r->unnoted > 0;
            continue;
        }
        struct note done = *n;

        if (more) { /* one request, many results */
            uint32_t h = ring_hash(r, c->user_data), i = r->free;

            r->free = r->note[i - 1].next;
            r->note[i - 1].next = r->bucket[h];
            r->bucket[h] = i;
        }
        ring_count(r, &done, c->res);
    }
}

/* Estimates missed requests by the mean of those that were seen. */
static void ring_estimate(struct ring *r)
{
    if (!r->missed)
        return;
    if (lib.head)
        __atomic_fetch_add(&lib.head->ring_missed, r->missed, __ATOMIC_RELAXED);
    for (int op = PROF_READ; op <= PROF_WRITE; op++)
        if (r->done_bytes[op])
            lib_estimate(
                op, r->done_row[op],
                (uint64_t)((double)r->missed * (double)r->done_bytes[op] / (double)r->done + 0.5));
    r->missed = 0;
}

static char *ring_map(int fd, size_t n, uint64_t at)
{
    char *p = (char *)lib_sys(SYS_mmap, (void *)NULL, n, PROT_READ, MAP_SHARED, (long)fd, (long)at);

    return p == MAP_FAILED ? NULL : p;
}

static void ring_free(struct ring *r)
{
    if (r->sq)
        lib_sys(SYS_munmap, r->sq, r->sq_b);
    if (r->cq && r->cq != r->sq)
        lib_sys(SYS_munmap, r->cq, r->cq_b);
    if (r->sqe)
        lib_sys(SYS_munmap, r->sqe, r->sqe_b);
    if (r->note)
        lib_sys(SYS_munmap, r->note, r->note_b);
    *r = (struct ring){.fd = -1, .lock = r->lock};
}

static bool ring_make_requests(struct ring *r)
{
    uint32_t n = 64;

    while (n < 4 * r->cq_n && n < NOTES_MOST)
        n *= 2;
    r->note_b = n * (sizeof *r->note + sizeof *r->bucket);
    void *at = (void *)lib_sys(SYS_mmap, (void *)NULL, r->note_b, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L);

    if (at == MAP_FAILED)
        return false;
    r->note = at;
    r->bucket = (uint32_t *)(r->note + n);
    r->notes = n;
    for (uint32_t i = 0; i < n; i++)
        r->note[i].next = i + 1 < n ? i + 2 : 0;
    r->free = 1;
    return true;
}

static bool ring_open(struct ring *r, int fd, const struct io_uring_params *p)
{
    bool one = p->features & IORING_FEAT_SINGLE_MMAP;
    size_t array_b = p->sq_off.array + p->sq_entries * sizeof(uint32_t);
    size_t cqes_b = p->cq_off.cqes + p->cq_entries * (p->flags & IORING_SETUP_CQE32 ? 32ul : 16ul);

    r->flags = p->flags;
    r->sq_n = p->sq_entries;
    r->cq_n = p->cq_entries;
    r->sqe_b = p->sq_entries * (p->flags & IORING_SETUP_SQE128 ? 128ul : 64ul);
    r->sq_b = one && cqes_b > array_b ? cqes_b : array_b;
    r->cq_b = cqes_b;
    if (!(r->sq = ring_map(fd, r->sq_b, IORING_OFF_SQ_RING)) ||
        !(r->cq = one ? r->sq : ring_map(fd, r->cq_b, IORING_OFF_CQ_RING)) ||
        !(r->sqe = ring_map(fd, r->sqe_b, IORING_OFF_SQES)) || !ring_make_requests(r))
        return false;
    r->sq_head = (const uint32_t *)(r->sq + p->sq_off.head);
    r->sq_tail = (const uint32_t *)(r->sq + p->sq_off.tail);
    r->sq_mask = *(const uint32_t *)(r->sq + p->sq_off.ring_mask);
    r->array =
        p->flags & (1U << 16) /* NO_SQARRAY */ ? NULL : (uint32_t *)(r->sq + p->sq_off.array);
    r->cq_tail = (const uint32_t *)(r->cq + p->cq_off.tail);
    r->cq_mask = *(const uint32_t *)(r->cq + p->cq_off.ring_mask);
    r->cqe = r->cq + p->cq_off.cqes;
    return true;
}

static struct ring *ring_claim(void)
{
    for (uint32_t i = 0; i < RINGS; i++) {
        uint32_t old = __atomic_load_n(&rings[i].pid, __ATOMIC_RELAXED);

        if (old != lib.pid && __atomic_compare_exchange_n(&rings[i].pid, &old, lib.pid, false,
                                                          __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            /* A ring of the parent is not followed in a child. */
            rings[i] = (struct ring){.fd = -1, .pid = lib.pid};
            if (i >= rings_n)
                rings_n = i + 1;
            return &rings[i];
        }
    }
    return NULL;
}

static void ring_unfollowed(void)
{
    if (lib.head)
        __atomic_fetch_add(&lib.head->rings_unseen, 1, __ATOMIC_RELAXED);
}

LIB_SLOW void lib_ring_made(int fd, const struct io_uring_params *p)
{
    int saved = errno;

    if (fd < 0 || !lib_slot() || !lib.head)
        return;
    /* Memory provided by the program (NO_MMAP) cannot be mapped. */
    bool can = !lib.quiet && !(p->flags & (1U << 14) /* NO_MMAP */) && p->sq_entries &&
               p->cq_entries && p->sq_entries <= 1 << 20 && p->cq_entries <= 1 << 21;
    struct ring *r = can ? ring_claim() : NULL;

    if (r && ring_open(r, fd, p)) {
        lib_rings++;
        lib_rings_polled += !!(p->flags & IORING_SETUP_SQPOLL);
        __atomic_store_n(&r->fd, fd, __ATOMIC_RELEASE);
    } else {
        if (r)
            ring_free(r);
        ring_unfollowed();
    }
    errno = saved;
}

/* Rows of registered files, which requests name by index. */
LIB_SLOW void lib_ring_registered(int fd, unsigned what, const void *arg, unsigned n)
{
    struct ring *r = ring_of(fd);
    const int32_t *fds = arg;
    uint32_t from = 0;

    if (!r || !arg)
        return;
    if (what == IORING_REGISTER_FILES_UPDATE) {
        const struct io_uring_files_update *u = arg;

        from = u->offset;
        fds = (const int32_t *)(uintptr_t)u->fds;
    } else if (what != IORING_REGISTER_FILES) {
        return;
    }
    for (uint32_t i = 0; i < n && from + i < FIXED; i++)
        r->fixed[from + i] = fds[i] >= 0 ? (uint16_t)(lib_fd(fds[i]) + 1) : 0;
}

/* Records requests before io_uring_enter and returns their number; lib_ring_after removes those
 * that the kernel did not take. */
unsigned lib_ring_before(int fd, unsigned submits)
{
    struct ring *r = ring_of(fd);
    unsigned seen = 0;

    if (!r || !lib_slot() || !ring_lock(r))
        return 0;
    ring_record_to(r, ring_taken(r));
    ring_results(r);
    if (!(r->flags & IORING_SETUP_SQPOLL)) {
        uint32_t waits = __atomic_load_n(r->sq_tail, __ATOMIC_ACQUIRE) - r->sq_seen;

        seen = submits < waits ? submits : waits;
        ring_record_to(r, r->sq_seen + seen);
    }
    ring_unlock(r);
    return seen;
}

void lib_ring_after(int fd, unsigned seen, long taken)
{
    struct ring *r = ring_of(fd);
    int saved = errno;

    if (!r || !ring_lock(r))
        return;
    unsigned kept = taken > 0 ? (unsigned)taken : 0;

    for (uint32_t i = kept; i < seen; i++) {
        const struct io_uring_sqe *e = ring_sqe(r, --r->sq_seen);

        if (e && ring_op_of(e->opcode))
            ring_take(r, e->user_data, true);
    }
    ring_results(r);
    ring_unlock(r);
    errno = saved;
}

static void ring_look_at(struct ring *r)
{
    if (r->fd < 0 || r->pid != lib.pid || !r->sq || !ring_lock(r))
        return;
    ring_record_to(r, ring_taken(r));
    ring_results(r);
    ring_unlock(r);
}

void lib_ring_look(void)
{
    int saved = errno;

    for (uint32_t i = 0; i < rings_n; i++)
        ring_look_at(&rings[i]);
    errno = saved;
}

void lib_ring_end(void)
{
    if (!lib_rings)
        return;
    lib_ring_look();
    for (uint32_t i = 0; i < rings_n; i++)
        if (rings[i].sq && rings[i].pid == lib.pid)
            ring_estimate(&rings[i]);
}

LIB_SLOW void lib_ring_closed(int fd)
{
    struct ring *r = ring_of(fd);
    int saved = errno;

    if (!r || lib.quiet)
        return;
    ring_look_at(r);
    ring_estimate(r);
    if (ring_lock(r)) {
        lib_rings--;
        lib_rings_polled -= !!(r->flags & IORING_SETUP_SQPOLL);
        ring_free(r);
        ring_unlock(r);
    }
    errno = saved;
}

/* A polled ring is submitted to without a call; it is read when the program waits for events. */
#define WAIT(name, proto, args)             \
    LIB_API int name proto                  \
    {                                       \
        if (lib_unlikely(lib_rings_polled)) \
            lib_ring_look();                \
        int r = LIB_REAL(name) args;        \
                                            \
        if (lib_unlikely(lib_rings_polled)) \
            lib_ring_look();                \
        return r;                           \
    }

WAIT(epoll_wait, (int fd, struct epoll_event *e, int n, int ms), (fd, e, n, ms))
WAIT(epoll_pwait, (int fd, struct epoll_event *e, int n, int ms, const sigset_t *mask),
     (fd, e, n, ms, mask))
