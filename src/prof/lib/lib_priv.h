/* lib_priv.h -- the inside of libweir-prof.so: what a wrapper does around a call.
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
 *  1. errno after a wrapper is what the real call left: the fast path calls nothing, whatever
 *     calls something saves and restores it.
 *  2. The library holds no descriptor, no lock around a call, and no memory of malloc.
 *  3. A thread's slot is reached through a page that the kernel clears in a forked child
 *     (MADV_WIPEONFORK), so that a child, however it was made, never counts for its parent.
 *  4. No function of the C library that this library wraps is called from inside it:
 *     own work goes through syscall(), which is neither wrapped nor a place of cancellation.
 *  5. A pointer of the program's is read after the kernel has, or where it may be (reach.c).
 *  6. After the process has set a system-call filter there is no own work (quiet.c).
 */
#ifndef PROF_LIB_PRIV_H
#define PROF_LIB_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
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

/* The process's own state; one of each, because a process has one profile. */
struct lib_state {
    struct prof_head *head; /* NULL: nothing is recorded */
    struct prof_name *names;
    char *slots;
    struct prof_rec *log;
    uint64_t rows_off, slot_b, slice_ns;
    int64_t offset_ns;          /* wall clock minus CLOCK_MONOTONIC */
    uint64_t tsc_base, tsc_mul; /* ns = (tsc - base) * mul >> 32, after mono_base */
    int64_t mono_base;
    int (*gettime)(clockid_t, struct timespec *); /* the kernel's own, without the C library */
    uint64_t log_ready, slots_ready, names_ready; /* how many may be touched */
    char *map;                                    /* the own file, whole; NULL: none */
    uint64_t map_b;
    uint32_t names_max;
    uint32_t clock, pid;
    uint32_t files, file_rows; /* asked for, and claimed */
    uint32_t callers, path_rows;
    uint32_t rw; /* the clock for reads and writes; PROF_PRECISE also when callers are told */
    bool shared; /* counts in the launcher's profile: there was no room for its own */
    bool quiet;  /* no system call of the library's own any more (quiet.c) */
    bool
        still; /* nor the processor's counter, which precise clocks read: the kernel's tick alone */
};

extern struct lib_state lib;
extern uint16_t lib_fd_row[LIB_FDS]; /* row + 1; 0: not known */
extern LIB_TLS struct prof_slot **lib_mine;

struct prof_slot *lib_slot_slow(void);
uint32_t lib_fd_slow(int fd);

LIB_HOT struct prof_slot *lib_slot(void)
{
    struct prof_slot *s = *lib_mine;

    return lib_likely(s != NULL) ? s : lib_slot_slow();
}

/* The row of what a descriptor is open on. */
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

/* The wall clock in ns, as exact as the mode asks for. */
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

/* Is it still the slice that this thread fills? */
LIB_HOT bool lib_in_slice(const struct prof_slot *s)
{
    return lib_now_coarse() < s->edge_ns;
}

/* A row that there is: who shares a profile has one for all storage. */
LIB_HOT uint32_t lib_row(uint32_t row)
{
    return row < lib.names_max ? row : PROF_ROW_REST;
}

/* From where in the program a call comes: a row more that it counts in (callers.c). */
uint32_t lib_caller_row(const void *frame, const void *caller);
void lib_callers_init(void);
void lib_count_caller(struct lib_call *c, enum prof_op op, uint64_t calls, int64_t bytes);
uint64_t *lib_path_words(const struct lib_call *c); /* NULL: the call has no earmark */

/* What is done inside an MPI call is done for who called that. */
LIB_HOT void lib_mark(struct prof_slot *s, const void *frame, const void *caller)
{
    uint32_t mark = s->mpi_flight ? s->mpi_path : lib_caller_row(frame, caller) + 1;

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
        row = lib_row(row); /* it was found before the profile was */
    }
    if (lib_unlikely(lib.callers))
        lib_mark(c.slot, __builtin_frame_address(0), __builtin_return_address(0));
    c.word = lib_words(c.slot, row);
    __atomic_store_n(&c.slot->want, want, __ATOMIC_RELAXED);
    __atomic_store_n(&c.slot->flight, prof_flight(op, row), __ATOMIC_RELAXED);
    if (lib_unlikely(lib.clock))
        c.t0 = lib_clock_begin(want, op <= PROF_WRITE);
    return c;
}

LIB_HOT void lib_add(uint64_t *word, uint64_t n)
{
    __atomic_store_n(word, *word + n, __ATOMIC_RELAXED);
}

/* `bytes` is what the call returned; below zero: it failed, and counts as a call. */
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
    __atomic_store_n(&c->slot->flight, 0, __ATOMIC_RELAXED);
}

/* A call whose place is known only afterwards, as that of an open. */
LIB_HOT void lib_move(struct lib_call *c, uint32_t row)
{
    if (c->slot)
        c->word = lib_words(c->slot, lib_row(row));
}

/* The time of the call only: what it moved was counted before (a flush of buffers). */
void lib_end_time(struct lib_call *c, enum prof_op op);

/* The other side of a call that moved bytes from one descriptor to another, which ended as a write
 * just before. The time is the writer's. */
void lib_end_source(struct lib_call *c, uint32_t row, int64_t bytes);

/* More than one row is touched by one call (a list of requests): calls and bytes without a clock.
 */
void lib_count(enum prof_op op, uint32_t row, uint64_t calls, uint64_t bytes);
void lib_estimate(enum prof_op op, uint32_t row, uint64_t bytes);

/* May this memory be read (reach.c)? The second: as the text of a path. */
void lib_reach_init(void);
bool lib_reach(const void *p, size_t n);
bool lib_reach_text(const char *s);

/* True in a vforked child, which works in its parent's memory: what it does to its descriptors and
 * how it ends is not the parent's. */
bool lib_borrowed(void);

/* Descriptors: what they are open on (fd.c). Of one that was opened, better than by its path's
 * text, by which it was counted so far. */
void lib_fd_opened(int fd);
void lib_call_opened(struct lib_call *c, int fd);
void lib_fd_closed(int fd);
void lib_fd_copied(int from, int to);
void lib_fd_closed_range(unsigned first, unsigned last);
uint32_t lib_path_row(int dirfd, const char *path);
void lib_cwd_changed(void);
void lib_mounts_init(void);
void lib_rw_init(void);

void lib_clock_init(void);

/* Init and end (core.c). */
bool lib_enter_slow(void); /* false: this thread is inside already, or somebody else is */
void lib_leave_slow(void);
uint32_t lib_name_claim(void); /* a row, or PROF_ROW_REST */
void lib_mmap_end(void);
void lib_end_process(void);

/* A forked child that shares a profile has one row for all that its parent told apart. */
void lib_fd_share(void);
void lib_mmap_share(void);

/* Room for counters (room.c). The own file, mapped and hidden still, with a layout that fits; NULL:
 * there is no room, errno says why. Then the launcher's; NULL: there is none. */
char *lib_room_own(struct prof_head *h, const char *dir);
bool lib_room_show(void);
struct prof_head *lib_room_shared(const char *dir, const char *host, uint64_t launcher);
void lib_room_leave(char *map, uint64_t size);
/* Makes pages real before they are stored to: a full disk must not become a SIGBUS. */
bool lib_may_touch(void *at, size_t n);

/* Text without the C library's locale. */
size_t lib_put(char *to, size_t room, size_t at, const char *text);
size_t lib_put_u64(char *to, size_t room, size_t at, uint64_t n);

#endif
