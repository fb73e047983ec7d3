/* form.h -- the format of a profile, shared by the preloaded library, the sampler and the readers.
 *
 *   head      one page: process, job, times, and the layout of the rest
 *   names     struct prof_name[names_max]: what each row stands for (a mount, a file, ...)
 *   slots     slots_max times slot_b bytes: one per thread, counters that only it changes
 *   log       struct prof_rec[log_max]: "between from and to this row of this slot grew to this"
 *   children  struct prof_child[children_max]: the ends of processes that it waited for
 *
 * The file is a shared mapping, so it survives any end of the process. Numbers are in the byte
 * order of the machine; `order` identifies it. The parts grow by counters in the head (names_n,
 * slots_n, log_n). An entry is claimed first and filled later, so it is valid only when its own
 * mark (kind, tid, ready) is set. docs/formats/profile.md is the description.
 *
 * Writers: the calls and bytes of a slot are stored by its thread only. Its times and the log are
 * written by the sampler in the sampled clock, by the thread in the others. Counters never
 * decrease.
 */
#ifndef PROF_FORM_FORM_H
#define PROF_FORM_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "prof/form/io.h"

#define PROF_MAGIC "WEIRPROF"
#define PROF_ENDING ".wprof" /* of a profile's name in the job's directory */
/* HOST-PID-shared.wprof: made by the launcher, for processes that cannot have a file of their own.
 */
#define PROF_SHARED "-shared" PROF_ENDING

enum {
    PROF_VERSION = 3,
    PROF_ORDER = 0x01020304,
    PROF_HEAD_B = 4096,
    PROF_NAMES = 32,        /* rows for mounts, and those with a fixed place */
    PROF_WRITTEN = 16,      /* more rows, for files that are written, reported or not */
    PROF_NAMES_MOST = 4096, /* with a row per file */
    PROF_FRAMES = 8,        /* callers of a call path, at most */
    PROF_PATHS = 256,       /* more rows, for call paths when they are recorded */
    PROF_MODULES = 32,      /* and for the ELF files of those paths */
    PROF_COUNTERS = 8,      /* hardware counters, per thread when requested */
    PROF_SLOTS = 1024,
    PROF_LOG = 1 << 19,
    PROF_SIZES = 16,       /* classes of sizes: each four times the one before */
    PROF_QUIET_SLOTS = 64, /* allocated before a system-call filter is set, and records */
    PROF_QUIET_LOG = 400,
    PROF_CHILDREN = 4096, /* ends of children, at most */
};

/* The source of times. */
enum prof_clock {
    PROF_SAMPLED, /* no clock in the process: a sampler reads the slots at slice edges */
    PROF_COARSE,  /* the kernel's tick, read in the process */
    PROF_PRECISE, /* every call timed */
    PROF_KERNEL,  /* an unprofiled process: the kernel's counters, read by the sampler */
};

/* What a call does. Bytes are counted for the first two. */
enum prof_op { PROF_READ, PROF_WRITE, PROF_SYNC, PROF_OPEN, PROF_META, PROF_OPS };

/* The words of a row. Each is (name, unit): metrics of the run file are made from this table.
 * The estimates are bytes moved by mappings, and by requests of rings that were not seen; they are
 * not in the counted bytes. `async` are the counted bytes that the kernel's rchar and wchar do not
 * include (prof/form/io.h). */
#define PROF_WORDS(X)      \
    X(read_calls, "")      \
    X(write_calls, "")     \
    X(sync_calls, "")      \
    X(open_calls, "")      \
    X(meta_calls, "")      \
    X(read_bytes, "B")     \
    X(write_bytes, "B")    \
    X(read_estimate, "B")  \
    X(read_time, "ns")     \
    X(write_time, "ns")    \
    X(sync_time, "ns")     \
    X(open_time, "ns")     \
    X(meta_time, "ns")     \
    X(write_estimate, "B") \
    X(read_async, "B")     \
    X(write_async, "B")

enum prof_word {
#define X(name, unit) PROF_W_##name,
    PROF_WORDS(X)
#undef X
        PROF_WORDS_N,
    PROF_CALLS = PROF_W_read_calls, /* + op */
    PROF_BYTES = PROF_W_read_bytes, /* + PROF_READ or PROF_WRITE */
    PROF_TIME = PROF_W_read_time,   /* + op */
};

/* Two cache lines; a read or write without a clock touches the first only. */
struct prof_row {
    uint64_t word[16];
};

/* Rows with a fixed index; mounts and files follow. In the rows of MPI `meta` are all calls that
 * are not I/O. */
enum prof_fixed {
    PROF_ROW_OTHER,    /* pipes, sockets, terminals: not storage, not in the totals */
    PROF_ROW_MPI,      /* MPI, and MPI-IO done by one rank alone */
    PROF_ROW_MPI_COLL, /* collective MPI-IO */
    PROF_ROW_REST,     /* storage without a row of its own, when all rows are used */
    PROF_ROW_COUNTERS, /* its first words are the hardware counters, written by the sampler */
    PROF_ROW_FIRST,
};

enum prof_kind {
    PROF_K_NONE, /* not (yet) written */
    PROF_K_OTHER,
    PROF_K_MPI,
    PROF_K_MPI_COLL,
    PROF_K_REST,
    PROF_K_MOUNT,
    PROF_K_FILE,
    PROF_K_KERNEL, /* an unprofiled process: all that the kernel counted */
    PROF_K_PATH,   /* a call path; its calls are counted in the row of their file as well */
    PROF_K_COUNTERS,
    PROF_K_MODULE, /* an ELF file of a call path; counts nothing */
    PROF_K_SOCKET, /* connections to a server that the user declared as storage */
    PROF_KINDS
};

struct prof_name {
    uint32_t kind;    /* written last */
    uint32_t mount;   /* of a file: the row of its mount */
    uint64_t dev, id; /* of a mount: its device and number; of a file: device and inode */
    char fs[24];      /* ext4, nfs4, ... */
    char path[208];   /* cut when longer */
};

/* A call path stores `dev` frames in `path`, the direct caller first; 0 frames: all paths without a
 * row. */
struct prof_frame {
    uint32_t module; /* its row; 0: not known, and `offset` is an address */
    uint32_t pad;
    uint64_t offset; /* in the module's file */
};

_Static_assert(PROF_FRAMES * sizeof(struct prof_frame) < 208, "frames fit in a name");

/* A call in flight: op + 1 in the low byte, its row above; 0: none. */
static inline uint64_t prof_in_flight(enum prof_op op, uint32_t row)
{
    return (uint64_t)op + 1 + ((uint64_t)row << 8);
}

/* The slot of one thread. It is followed by uint64_t logged[names_max], private to the writer of
 * the log, then struct prof_row row[names_max]. */
struct prof_slot {
    uint64_t in_flight;     /* see prof_in_flight */
    uint64_t want;          /* bytes requested by that call */
    int64_t edge_ns;        /* in-process clocks: end of the current slice */
    int64_t from_ns;        /* and its start: what is not logged happened since */
    uint64_t mpi_in_flight; /* the MPI call around it, if any */
    uint64_t mpi_began;
    uint32_t tid;            /* 0: the slot was never used */
    uint32_t source;         /* row + 1 of the source, for a call that copies from a descriptor */
    uint32_t path, mpi_path; /* row + 1 of the call path of each; 0: none */
    /* Of reads and writes on storage that are system calls: those that do not start where the
     * previous one on the descriptor ended, those whose position is not known (asynchronous
     * requests), and the number of calls by size class. */
    uint64_t jumps[2], unplaced[2], pad[4];
    uint64_t sizes[2][PROF_SIZES];
};

/* The class of a size: 0 below 4 bytes, 1 below 16, ...; the last has no upper limit. */
static inline uint32_t prof_size_class(uint64_t n)
{
    uint32_t c = (uint32_t)(63 - __builtin_clzll(n | 1)) / 2;

    return c < PROF_SIZES ? c : PROF_SIZES - 1;
}

/* Between from and to (wall clock, ns) the words of a row of a slot grew to these. */
struct prof_rec {
    uint32_t ready; /* 1: written whole */
    uint16_t slot, row;
    int64_t from_ns, to_ns;
    uint64_t calls_in_flight; /* calls of this slot in flight at `to` */
    uint64_t word[PROF_WORDS_N];
};

enum prof_state {
    PROF_LIVE = 1, /* running, or killed */
    PROF_ENDED,
};

enum prof_io_known {
    PROF_IO_START = 1,
    PROF_IO_END = 2,
    PROF_IO_SAMPLED = 4, /* io_end was read while it ran */
    PROF_IO_EXEC = 8,    /* it executed another program; io_end, if known, is from then */
};

/* The first page of a profile. The process writes it; the sampler and the launcher write the fields
 * that say so. */
struct prof_head {
    /* Set once, at the start: */
    char magic[8];
    uint32_t version, order; /* of the format; PROF_ORDER as this machine has it in memory */
    uint32_t clock;          /* enum prof_clock */
    uint32_t names_max, slots_max, log_max, children_max; /* entries that the file has space for */
    uint64_t names_at, slots_at, slot_b, log_at,
        children_at;          /* offsets in the file; bytes of a slot */
    uint64_t slice_ns;        /* width of the log's records in time */
    int64_t real_ns, mono_ns; /* the wall clock and CLOCK_MONOTONIC at one moment */
    uint64_t tsc_hz;          /* precise clock: of the processor's counter; 0: clock_gettime */
    int64_t start_ns, end_ns; /* wall clock; end 0: not known */
    uint64_t pid_start;       /* with pid and host it identifies the process: prof_start_in */
    uint32_t pid, ppid, uid;
    int32_t rank, nranks;                /* of MPI, or from the environment; -1: not known */
    uint32_t mpi;                        /* 1: MPI was initialised, rank and nranks are MPI's */
    int64_t mpi_init_ns;                 /* end of MPI_Init: almost the same time on all ranks */
    char host[64], job[64], fs_note[64]; /* machine; name of the job; unused */
    char exe[512];                       /* path of the program */
    char argv[1024];                     /* arguments, each ended by a zero byte; truncated */
    uint32_t argv_b;
    /* Changes while the process runs. */
    uint32_t state;                        /* enum prof_state */
    uint32_t names_n, slots_n;             /* entries claimed */
    uint64_t log_n;                        /* records claimed */
    uint64_t dropped_calls, dropped_bytes; /* of threads without a slot */
    uint64_t dropped_recs;                 /* the log was full: totals are right, slices are not */
    int64_t sampled_ns;                    /* time of the last sample */
    uint64_t late_ns;                      /* largest delay of a sample */
    uint32_t sampler;                      /* its pid; 0: none */
    /* Set once, at the start. */
    uint32_t counters;               /* number of names below; set by the sampler */
    char counter[PROF_COUNTERS][48]; /* names of hardware counters */
    uint32_t callers;                /* recorded per call; 0: none */
    uint32_t files; /* requested by the user; 0: rows of files only show which are shared */
    /* The shared profile. Its slots are threads of any process; storage has one row. */
    uint32_t shared;             /* 1: this is it */
    uint32_t sharers;            /* processes that use it */
    uint64_t capacity_b, used_b; /* limit on the files of running processes, and their size */
    /* By the launcher: how often its wall clock was set while the job ran, and the sum. Times in
     * profiles continue as before. */
    uint32_t steps;
    uint32_t quiet;    /* the process has a system-call filter: the library makes no calls */
    int64_t step_ns;   /* that sum */
    uint32_t launcher; /* its pid, on the same machine; 0: none */
    /* Of io_uring: rings that could not be followed, requests whose result was not seen. */
    uint32_t rings_unseen;
    uint64_t ring_missed;
    /* The kernel's counters: when the library was ready; and at the end or at exec, otherwise as
     * last read by the sampler. */
    struct prof_io io_start, io_end;
    uint32_t io_known;   /* enum prof_io_known */
    uint32_t objects;    /* ELF files loaded before the library was ready */
    uint64_t own_rchar;  /* bytes that the library itself read */
    uint32_t children_n; /* claimed; beyond children_max only counted */
    uint32_t forked;     /* a forked child: the program was not loaded again */
    uint32_t
        adaptive;    /* slices grow with the job's age: see prof_slice_at; slice_ns is the first */
    int64_t job_ns;  /* wall clock: start of the job, by the launcher */
    int64_t exec_ns; /* of PROF_IO_EXEC */
    uint32_t left;   /* by the launcher: processes that still ran when the command had ended */
    /* Of files that are mapped shared and writable now: bytes that no estimate covers yet, on file
     * systems whose dirtied pages the kernel counts [0], and in memory [1]; the row of the last. */
    uint32_t mapped_row;
    uint32_t pid_root; /* the first process of a PID namespace: others know it by another number */
    uint64_t mapped_b[2];
};

_Static_assert(sizeof(struct prof_head) <= PROF_HEAD_B, "the head is a page");
_Static_assert(sizeof(struct prof_name) == 256, "names");
_Static_assert(sizeof(struct prof_slot) == 384, "a slot begins with whole cache lines");
_Static_assert(sizeof(struct prof_rec) == 160, "records");
_Static_assert(PROF_WORDS_N <= 16, "words");
_Static_assert(PROF_COUNTERS <= (int)PROF_WORDS_N, "hardware counters fit in a row");
_Static_assert((int)PROF_ROW_FIRST < PROF_NAMES, "fixed rows leave rows for mounts");
_Static_assert(PROF_NAMES + PROF_WRITTEN + PROF_PATHS + 1 + PROF_MODULES < PROF_NAMES_MOST,
               "rows for files");
_Static_assert(PROF_NAMES_MOST <= UINT16_MAX && PROF_SLOTS <= UINT16_MAX,
               "slot and row fit in a record");
_Static_assert(PROF_WRITE == PROF_READ + 1 && PROF_W_write_calls == PROF_CALLS + PROF_WRITE &&
                   PROF_W_write_bytes == PROF_BYTES + PROF_WRITE &&
                   PROF_W_meta_time == PROF_TIME + PROF_META,
               "words are indexed by operation");
_Static_assert(PROF_W_write_async == PROF_W_read_async + PROF_WRITE, "and so are async bytes");

static inline uint64_t prof_slot_b(uint32_t names_max)
{
    uint64_t b = sizeof(struct prof_slot) + names_max * sizeof(uint64_t);

    b = (b + 127) & ~UINT64_C(127);
    return b + names_max * sizeof(struct prof_row);
}

/* Sets the offsets from names_max, slots_max, log_max and children_max. */
static inline void prof_lay_out(struct prof_head *h)
{
    h->names_at = PROF_HEAD_B;
    h->slots_at = h->names_at + h->names_max * sizeof(struct prof_name);
    h->slot_b = prof_slot_b(h->names_max);
    h->log_at = (h->slots_at + h->slot_b * h->slots_max + 4095) & ~UINT64_C(4095);
    h->children_at = h->log_at + h->log_max * sizeof(struct prof_rec);
}

static inline uint64_t prof_file_b(const struct prof_head *h)
{
    return h->children_at + h->children_max * sizeof(struct prof_child);
}

/* Reduces children, slots and log so that the file is at most `limit` bytes. False: not even one
 * slot fits. */
static inline bool prof_fit(struct prof_head *h, uint64_t limit)
{
    if (prof_file_b(h) <= limit)
        return true;
    h->children_max = 0;
    uint64_t half = (limit > h->slots_at ? limit - h->slots_at : 0) / 2 / h->slot_b;

    if (half < h->slots_max)
        h->slots_max = half ? (uint32_t)half : 1;
    prof_lay_out(h);
    if (h->log_at > limit)
        return false;
    uint64_t log = (limit - h->log_at) / sizeof(struct prof_rec);

    if (log < h->log_max)
        h->log_max = (uint32_t)log;
    prof_lay_out(h);
    return true;
}

/* Bytes that a profile uses at its start: head, a page of names, one slot. */
static inline uint64_t prof_first_b(const struct prof_head *h)
{
    return PROF_HEAD_B + 4096 + ((h->slot_b + 4095) & ~UINT64_C(4095));
}

static inline uint64_t *prof_logged(struct prof_slot *s)
{
    return (uint64_t *)(s + 1);
}

static inline struct prof_row *prof_rows(struct prof_slot *s, uint32_t names_max)
{
    return (struct prof_row *)((char *)s + prof_slot_b(names_max) -
                               names_max * sizeof(struct prof_row));
}

/* Adaptive slices: 64 of 15.625 ms, then the length doubles with each doubling of the job's age, up
 * to 4 s. Each length is half of the next, so short slices lie within long ones. */
enum { PROF_SLICE_FIRST_NS = 15625000, PROF_SLICE_EACH = 64 };
#define PROF_SLICE_LAST_NS (UINT64_C(256) * PROF_SLICE_FIRST_NS)

static inline uint64_t prof_slice_at(int64_t age_ns)
{
    uint64_t slice = PROF_SLICE_FIRST_NS;

    while (slice < PROF_SLICE_LAST_NS && age_ns > 0 && (uint64_t)age_ns >= slice * PROF_SLICE_EACH)
        slice *= 2;
    return slice;
}

/* The sum of all words, which only grows: it changes when the row does. */
static inline uint64_t prof_row_sum(const struct prof_row *r)
{
    uint64_t sum = 0;

    for (int i = 0; i < PROF_WORDS_N; i++)
        sum += r->word[i];
    return sum;
}

#endif
