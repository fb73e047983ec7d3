/* lib_priv.h -- internals of libweir-prof.so: what a wrapper does around a call.
 *
 *     ssize_t write(int fd, const void *buf, size_t n)
 *     {
 *         struct lib_call c = lib_begin(PROF_WRITE, lib_fd(fd), n);
 *         ssize_t r = LIB_REAL(write)(fd, buf, n);
 *
 *         lib_end(&c, PROF_WRITE, r);
 *         return r;
 *     }
 *
 * Invariants
 *  1. errno after a wrapper is what the real call left: the fast path calls nothing, code that
 * calls anything saves and restores it.
 *  2. The library holds no descriptor, no lock around a call, and no memory of malloc.
 *  3. A thread's slot is reached through a page that the kernel clears in a forked child
 *     (MADV_WIPEONFORK), so that a child, however it was made, never counts for its parent.
 *  4. No function of the C library that this library wraps is called from inside it:
 *     its own system calls use lib_sys(), which is neither wrapped nor a cancellation point.
 *  5. A pointer of the program is dereferenced after the kernel has, or after lib_reach (reach.c).
 *  6. After the process has set a system-call filter the library makes no system calls (quiet.c).
 *
 * Assertions here are static only: a library inside another program must not end it, and its code
 * runs in signal handlers and forked children. A condition that does not hold drops the call
 * (lib_slot_slow) or leaves the process unprofiled.
 */
#ifndef PROF_LIB_PRIV_H
#define PROF_LIB_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#include "prof/form/form.h"
#include "real_priv.h"

#define LIB_API __attribute__((visibility("default")))
#define LIB_HOT __attribute__((always_inline)) static inline
#define LIB_SLOW __attribute__((noinline, cold))
#define LIB_TLS __thread __attribute__((tls_model("initial-exec")))
#define lib_likely(x) __builtin_expect(!!(x), 1)
#define lib_unlikely(x) __builtin_expect(!!(x), 0)

enum { LIB_FDS = 65536, LIB_BIG = 65536 };

/* The state of the process, which has one profile. Set by core_use_profile when a profile starts
 * (at load, and in each forked child); own_rchar, *_ready, *_rows, tsc_mul, quiet and still change
 * later. */
struct lib_state {
    struct prof_head *head; /* NULL: nothing is recorded */
    /* in the profile, as form.h has them: */
    struct prof_name *names;
    char *slots;
    struct prof_rec *log;
    struct prof_child *children;
    uint64_t own_rchar;                  /* bytes that the library itself read, in this process */
    uint64_t rows_off, slot_b, slice_ns; /* rows in a slot; bytes of a slot; as in the head */
    int64_t offset_ns;                   /* wall clock minus CLOCK_MONOTONIC */
    int64_t job_ns;                      /* start of the job, for adaptive slices */
    uint64_t tsc_base, tsc_mul;          /* ns = (tsc - base) * mul >> 32, after mono_base */
    int64_t mono_base;                   /* ns */
    int (*gettime)(clockid_t, struct timespec *); /* of the vDSO, without the C library */
    uint64_t log_ready, slots_ready, names_ready; /* entries with allocated pages */
    char *map; /* mapping of the process's own file; NULL: none */
    uint64_t map_b;
    uint32_t names_max;
    uint32_t clock, pid;       /* enum prof_clock; of this process */
    uint32_t pid_ns;           /* its PID namespace; 0: the launcher's, or not known */
    uint32_t proc_pid;         /* its number in /proc, which may be another namespace's; 0: none */
    uint32_t files, file_rows; /* requested, and claimed */
    uint32_t callers, path_rows; /* functions per call path; rows of paths claimed */
    uint32_t rw;   /* clock of reads and writes; PROF_PRECISE also when callers are recorded */
    bool shared;   /* uses the launcher's shared profile: it cannot have a file of its own */
    bool adaptive; /* as in the head */
    bool quiet;    /* the library makes no system calls any more (quiet.c) */
    bool still;    /* nor reads the TSC: only the kernel's coarse clock is used */
};

extern struct lib_state lib;
extern uint16_t lib_fd_row[LIB_FDS];  /* row + 1; 0: not known */
extern uint64_t lib_fd_next[LIB_FDS]; /* where the next call on it would go on; LIB_JUMPED: it was
                                       * sent elsewhere since the last */
extern LIB_TLS struct prof_slot **lib_mine;

#define LIB_JUMPED (UINT64_C(1) << 63)

/* A system call by the library, as syscall() makes it (raw.c). */
__attribute__((visibility("hidden"))) long lib_sys(long number, ...);

struct prof_slot *lib_slot_slow(void);
uint32_t lib_fd_slow(int fd);

LIB_HOT struct prof_slot *lib_slot(void)
{
    struct prof_slot *s = *lib_mine;

    return lib_likely(s != NULL) ? s : lib_slot_slow();
}

/* The row of a descriptor's file or mount. */
LIB_HOT uint32_t lib_fd(int fd)
{
    uint16_t r;
    unsigned at = (unsigned)fd;

    if (lib_likely(at < LIB_FDS && (r = lib_fd_row[at])))
        return r - 1u;
    return lib_fd_slow(fd);
}

struct lib_call {
    struct prof_slot *slot; /* NULL: not counted */
    uint64_t *word;         /* of the row */
    int64_t t0;             /* wall clock, ns; 0: not read */
};

/* The wall clock in ns, precise or coarse. */
int64_t lib_now_precise(void);
LIB_HOT int64_t lib_now_coarse(void)
{
    struct timespec t;

    lib.gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec + lib.offset_ns;
}

/* The words of a row. */
LIB_HOT uint64_t *lib_words(struct prof_slot *s, uint32_t row)
{
    return (uint64_t *)((char *)s + lib.rows_off + (uint64_t)row * sizeof(struct prof_row));
}

/* Whether this thread's current slice has not ended. */
LIB_HOT bool lib_in_slice(const struct prof_slot *s)
{
    return lib_now_coarse() < s->edge_ns;
}

/* A row that exists in this profile: the shared one has one row for all storage. */
LIB_HOT uint32_t lib_row(uint32_t row)
{
    return row < lib.names_max ? row : PROF_ROW_REST;
}

/* The row of a call's path in the program, in which it is counted as well (callers.c). */
uint32_t lib_caller_row(const void *frame, const void *caller);
void lib_callers_init(void);
void lib_count_caller(struct lib_call *c, enum prof_op op, uint64_t calls, int64_t bytes);
uint64_t *lib_path_words(const struct lib_call *c); /* NULL: the call has no path */

/* Inside an MPI call the path is that of the MPI call. */
LIB_HOT void lib_mark(struct prof_slot *s, const void *frame, const void *caller)
{
    uint32_t mark = s->mpi_in_flight ? s->mpi_path : lib_caller_row(frame, caller) + 1;

    __atomic_store_n(&s->path, mark, __ATOMIC_RELAXED);
}

void lib_next_slice(struct prof_slot *s);
int64_t lib_clock_begin(uint64_t want, bool bulk);
void lib_clock_end(struct lib_call *c, enum prof_op op, int64_t bytes);

LIB_HOT struct lib_call lib_begin(enum prof_op op, uint32_t row, uint64_t want)
{
    struct lib_call c = {.slot = *lib_mine};

    if (lib_unlikely(!c.slot)) {
        c.slot = lib_slot_slow();
        if (!c.slot)
            return c;
        row = lib_row(row); /* the row was found before the profile existed */
    }
    if (lib_unlikely(lib.callers))
        lib_mark(c.slot, __builtin_frame_address(0), __builtin_return_address(0));
    c.word = lib_words(c.slot, row);
    __atomic_store_n(&c.slot->want, want, __ATOMIC_RELAXED);
    __atomic_store_n(&c.slot->in_flight, prof_in_flight(op, row), __ATOMIC_RELAXED);
    if (lib_unlikely(lib.clock))
        c.t0 = lib_clock_begin(want, op <= PROF_WRITE);
    return c;
}

LIB_HOT void lib_add(uint64_t *word, uint64_t n)
{
    __atomic_store_n(word, *word + n, __ATOMIC_RELAXED);
}

/* Counts the size of an access, and whether it starts where the last one ended. `at` below zero: at
 * the descriptor's position. Accesses are assumed complete: a short one looks like a jump next
 * time. */
LIB_HOT void lib_access(struct prof_slot *s, enum prof_op op, int fd, uint64_t want, int64_t at)
{
    uint64_t *next = &lib_fd_next[fd], here = *next;
    bool jumped = at < 0 ? here & LIB_JUMPED : here != (uint64_t)at;

    lib_add(&s->sizes[op][prof_size_class(want)], 1);
    if (jumped)
        lib_add(&s->jumps[op], 1);
    __atomic_store_n(next, ((at < 0 ? here : (uint64_t)at) + want) & ~LIB_JUMPED, __ATOMIC_RELAXED);
}

/* The same when there may be no profile, or no storage. */
LIB_HOT void lib_access_of(const struct lib_call *c, enum prof_op op, uint32_t row, int fd,
                           uint64_t want, int64_t at)
{
    if (c->slot && row != PROF_ROW_OTHER && (unsigned)fd < LIB_FDS)
        lib_access(c->slot, op, fd, want, at);
}

/* `bytes`: result of the call; below zero: it failed, and counts as a call. */
LIB_HOT void lib_end(struct lib_call *c, enum prof_op op, int64_t bytes)
{
    if (lib_unlikely(!c->slot))
        return;
    if (lib_unlikely(lib.clock)) {
        lib_clock_end(c, op, bytes);
        return;
    }
    lib_add(&c->word[PROF_CALLS + op], 1);
    if (op <= PROF_WRITE)
        lib_add(&c->word[PROF_BYTES + op], bytes > 0 ? (uint64_t)bytes : 0);
    if (lib_unlikely(lib.callers))
        lib_count_caller(c, op, 1, bytes);
    __atomic_store_n(&c->slot->in_flight, 0, __ATOMIC_RELAXED);
}

/* Sets the row of a call that is known only afterwards, such as open. */
LIB_HOT void lib_move(struct lib_call *c, uint32_t row)
{
    if (c->slot)
        c->word = lib_words(c->slot, lib_row(row));
}

/* Ends a call whose bytes were counted before (a flush of buffers): adds its time only. */
void lib_end_time(struct lib_call *c, enum prof_op op);

/* The read side of a call that copied between descriptors, after lib_end of its write side. The
 * time belongs to the write. */
void lib_end_source(struct lib_call *c, uint32_t row, int64_t bytes);

/* Counts calls and bytes without time, for calls that affect several rows (lists of requests). */
void lib_count(enum prof_op op, uint32_t row, uint64_t calls, uint64_t bytes);
/* One asynchronous request, which the kernel's counters of this process do not include. */
void lib_count_async(enum prof_op op, uint32_t row, uint64_t bytes);
/* Marks counted bytes that the kernel's counters do not include. */
void lib_async(enum prof_op op, uint32_t row, int64_t bytes);
void lib_estimate(enum prof_op op, uint32_t row, uint64_t bytes);

/* Whether this memory can be read (reach.c); the second: as the text of a path. */
void lib_reach_init(void);
bool lib_reach(const void *p, size_t n);
bool lib_reach_text(const char *s);

/* True in a vforked child, which shares its parent's memory: its descriptors and its end are not
 * the parent's. */
bool lib_borrowed(void);

/* The rows of descriptors (fd.c). lib_call_opened moves the call from the row of its path's text to
 * that of the opened file. */
void lib_fd_opened(int fd);
void lib_call_opened(struct lib_call *c, int fd);
void lib_fd_closed(int fd);
void lib_fd_copied(int from, int to);
void lib_fd_closed_range(unsigned first, unsigned last);
uint32_t lib_path_row(int dirfd, const char *path);
void lib_cwd_changed(void);
void lib_mounts_need(void); /* reads the mounts, once */
void lib_rw_init(void);

void lib_clock_init(void);
/* Before time may be read by the TSC only. */
void lib_clock_settle(void);

/* Init and end (core.c). */
bool lib_enter_slow(void); /* false: this thread, or another, is in slow work */
void lib_leave_slow(void);
uint32_t lib_name_claim(void); /* a row, or PROF_ROW_REST */
void lib_mmap_end(void);
void lib_mmap_inherit(void);
void lib_end_process(void);

/* Parts of wrappers that sys.c uses for system calls made by number. */
void lib_mmap_made(void *at, size_t len, int prot, int flags, int fd);
void lib_mmap_touched(void *at, size_t len, bool goes);
uint32_t lib_mmap_row(const void *at);
uint64_t lib_iov_bytes(const struct iovec *v, int n);
struct io_event;
extern LIB_TLS bool lib_in_libaio; /* inside a function of libaio, which is counted */
void lib_aio_done(const struct io_event *e, long n);
/* Called before a system-call filter is set: true, no system calls from now on; undone on failure.
 */
bool lib_quiet_begin(void);
void lib_quiet_undo(void);

/* Connections that count as storage (socket.c). */
extern bool lib_sockets; /* some do */
void lib_socket_init(const char *list);
uint32_t lib_socket_row(int fd);

/* The kernel's counters (child.c, exec.c). pid 0 is this process. */
size_t lib_read_proc(char *to, size_t cap, uint64_t pid, const char *what);
void lib_own_read(uint64_t n);
bool lib_io(struct prof_io *ret, uint64_t pid);
void lib_io_note(uint32_t why); /* enum prof_io_known, more than PROF_IO_END */
/* Called before a wait. False: the wait fails with errno. */
bool lib_child_before(pid_t pid, int how);
bool lib_child_before_id(int type, unsigned id, int how);
void lib_child_init(void);
void lib_exec_before(void);
void lib_exec_failed(void);

/* Rings of io_uring, made and entered by syscall() (uring.c). */
struct io_uring_params;
void lib_ring_made(int fd, const struct io_uring_params *p);
void lib_ring_registered(int fd, unsigned what, const void *arg, unsigned n);
void lib_ring_closed(int fd);
void lib_ring_end(void); /* the process ends: count what is left in rings */
unsigned lib_ring_before(int fd, unsigned submits);
void lib_ring_after(int fd, unsigned seen, long taken);
void lib_ring_look(void);         /* reads rings that a kernel thread polls */
extern uint32_t lib_rings;        /* followed */
extern uint32_t lib_rings_polled; /* of these, polled by the kernel */

/* A forked child that uses the shared profile has one row for all storage. */
void lib_fd_share(void);
void lib_mmap_share(void);

/* The file of the counters (counter_file.c). _own: maps a new file, hidden, with a layout that
 * fits; NULL with errno. _publish: gives it its name. _shared: the launcher's; NULL: none. _leave:
 * unmaps the parent's file in a child. */
char *lib_counter_file_own(struct prof_head *h, const char *dir);
bool lib_counter_file_publish(void);
struct prof_head *lib_counter_file_shared(const char *dir, const char *host, uint64_t launcher);
void lib_counter_file_leave(char *map, uint64_t size);
/* Allocates pages before they are stored to: a full disk must not become a SIGBUS. */
bool lib_may_touch(void *at, size_t n);

/* Text without the C library's locale. */
size_t lib_put(char *to, size_t cap, size_t at, const char *text);
size_t lib_put_u64(char *to, size_t cap, size_t at, uint64_t n);

#endif
