/* form.h -- the profile of one process, as the preloaded library writes it and readers read it.
 *
 *   head      one page: what, who, when, and how the rest is laid out
 *   names     struct prof_name[names_max]: what each row stands for (a mount, a file, ...)
 *   slots     slots_max times slot_b bytes: one per thread, counters that only it changes
 *   log       struct prof_rec[log_max]: "between from and to this row of this slot grew to this"
 *
 * The file is a shared mapping, so it survives whatever ends the process. Every number is in
 * the machine's own byte order; `order` tells. Parts grow by counters in the head (names_n,
 * slots_n, log_n) that are claimed first and filled after, so a reader believes an entry only when
 * its own mark (kind, tid, ready) says so. docs/formats/profile.md is the prose.
 *
 * Who writes what. A slot's calls and bytes: its thread, by plain stores. Its times and the log: in
 * the sampled clock the sampler outside, else the thread itself. Nothing is ever taken back.
 */
#ifndef PROF_FORM_FORM_H
#define PROF_FORM_FORM_H

#include <stdbool.h>
#include <stdint.h>

#define PROF_MAGIC "WEIRPROF"
#define PROF_ENDING ".wprof" /* of a profile's name in the job's directory */
/* HOST-PID-shared.wprof: the launcher's, for processes that find no room for their own. */
#define PROF_SHARED "-shared" PROF_ENDING

enum {
    PROF_VERSION = 2,
    PROF_ORDER = 0x01020304,
    PROF_HEAD_B = 4096,
    PROF_NAMES = 32,        /* rows for mounts, and those with a fixed place */
    PROF_WRITTEN = 16,      /* rows more for files that are written, told or not */
    PROF_NAMES_MOST = 4096, /* with a row per file */
    PROF_FRAMES = 8,        /* callers of a call path, at most */
    PROF_PATHS = 256,       /* rows more for call paths, when they are asked for */
    PROF_MODULES = 32,      /* and for the files that they lead through */
    PROF_COUNTERS = 8,      /* of the processor, told per thread when they are asked for */
    PROF_SLOTS = 1024,
    PROF_LOG = 1 << 19,
};

/* Where time comes from. */
enum prof_clock {
    PROF_SAMPLED, /* no clock in the process: a sampler reads the slots at slice edges */
    PROF_COARSE,  /* the kernel's tick, read in the process */
    PROF_PRECISE, /* every call timed */
    PROF_KERNEL,  /* not the library: the kernel's counters of a process, read from outside */
};

/* What a call does. Bytes are counted for the first two. */
enum prof_op { PROF_READ, PROF_WRITE, PROF_SYNC, PROF_OPEN, PROF_META, PROF_OPS };

/* The words of a row. Each is (name, unit): metrics of the run file are made from this table.
 * The estimates are bytes that mappings moved, told apart from the counted ones. */
#define PROF_WORDS(X)     \
    X(read_calls, "")     \
    X(write_calls, "")    \
    X(sync_calls, "")     \
    X(open_calls, "")     \
    X(meta_calls, "")     \
    X(read_bytes, "B")    \
    X(write_bytes, "B")   \
    X(read_estimate, "B") \
    X(read_time, "ns")    \
    X(write_time, "ns")   \
    X(sync_time, "ns")    \
    X(open_time, "ns")    \
    X(meta_time, "ns")    \
    X(write_estimate, "B")

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

/* Rows with a fixed place; mounts and files follow. In the rows of MPI `meta` are all calls
 * that are not I/O. */
enum prof_fixed {
    PROF_ROW_OTHER,    /* pipes, sockets, terminals: not storage, not in the totals */
    PROF_ROW_MPI,      /* MPI, and MPI-IO done by one rank alone */
    PROF_ROW_MPI_COLL, /* collective MPI-IO */
    PROF_ROW_REST,     /* storage that found no row of its own any more */
    PROF_ROW_COUNTERS, /* its first words are the processor's counters, changed by the sampler */
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
    PROF_K_KERNEL, /* a process without the library: what the kernel counted, wherever it went */
    PROF_K_PATH,   /* calls on storage from one place in the program, counted a second time */
    PROF_K_COUNTERS,
    PROF_K_MODULE, /* a program or library that such a path leads through; counts nothing */
    PROF_KINDS
};

struct prof_name {
    uint32_t kind;    /* written last */
    uint32_t mount;   /* of a file: the row of its mount */
    uint64_t dev, id; /* of a mount: its device and number; of a file: device and inode */
    char fs[24];      /* ext4, nfs4, ... */
    char path[208];   /* cut when longer */
};

/* Of a call path: `dev` frames in the place of the path's text, the direct caller first; none: all
 * paths that found no row. */
struct prof_frame {
    uint32_t module; /* row; 0: not known, and the offset is an address */
    uint32_t pad;
    uint64_t offset; /* in the module's file */
};

_Static_assert(PROF_FRAMES * sizeof(struct prof_frame) < 208, "frames fit in a name");

/* A call under way: op + 1 in the low byte, the row above it; 0: none. */
static inline uint64_t prof_flight(enum prof_op op, uint32_t row)
{
    return (uint64_t)op + 1 + ((uint64_t)row << 8);
}

/* One thread's. After it: uint64_t logged[names_max], private to who writes the log, then
 * struct prof_row row[names_max]. */
struct prof_slot {
    uint64_t flight;     /* see prof_flight */
    uint64_t want;       /* bytes that call asked for */
    int64_t edge_ns;     /* in-process clocks: where the slice ends that is being filled */
    int64_t from_ns;     /* and where it began: what is not logged happened since */
    uint64_t mpi_flight; /* the MPI call around it, if any */
    uint64_t mpi_began;
    uint32_t tid;            /* 0: nobody has had this slot */
    uint32_t source;         /* the call moves bytes from another descriptor: the row of that + 1 */
    uint32_t path, mpi_path; /* the calls' earmarks: rows + 1; 0: none */
};

/* Between from and to (wall clock, ns) the words of a row of a slot grew to these. */
struct prof_rec {
    uint32_t ready; /* 1: written whole */
    uint16_t slot, row;
    int64_t from_ns, to_ns;
    uint64_t flights; /* calls of this slot under way at `to` */
    uint64_t word[PROF_WORDS_N];
};

enum prof_state {
    PROF_LIVE = 1, /* or killed: nobody wrote the end */
    PROF_ENDED,
};

struct prof_head {
    char magic[8];
    uint32_t version, order;
    uint32_t clock; /* enum prof_clock */
    uint32_t names_max, slots_max, log_max;
    uint64_t names_at, slots_at, slot_b, log_at;
    uint64_t slice_ns;
    int64_t real_ns, mono_ns; /* the wall clock and CLOCK_MONOTONIC at one moment */
    uint64_t tsc_hz;          /* precise clock: of the processor's counter; 0: clock_gettime */
    int64_t start_ns, end_ns; /* wall clock; end 0: not known */
    uint64_t pid_start;       /* with pid and host: which process, also after exec */
    uint32_t pid, ppid, uid;
    int32_t rank, nranks; /* in MPI, or as the environment of the job says; -1: not told */
    uint32_t mpi;         /* 1: MPI was initialised, rank and nranks are MPI's */
    int64_t mpi_init_ns;  /* when MPI_Init was done: the same moment for all ranks, nearly */
    char host[64], job[64], fs_note[64];
    char exe[512];
    char argv[1024]; /* words, each ended by a zero byte; cut when longer */
    uint32_t argv_b;
    /* What changes while it runs. */
    uint32_t state;
    uint32_t names_n, slots_n;
    uint64_t log_n;
    uint64_t dropped_calls, dropped_bytes; /* of threads that found no slot */
    uint64_t dropped_recs;                 /* the log was full: totals are right, slices are not */
    int64_t sampled_ns;                    /* when the sampler last looked */
    uint64_t late_ns;                      /* and how late it was at worst */
    uint32_t sampler;                      /* its pid; 0: none */
    /* Said once, as above. */
    uint32_t counters; /* how many names follow; by the sampler */
    char counter[PROF_COUNTERS][48];
    uint32_t callers; /* as many of each call are told; 0: none */
    uint32_t files;   /* asked for by the user; 0: rows of files only tell who shares them */
    /* Of the shared profile. Its slots are threads of any process, storage has one row. */
    uint32_t shared;         /* 1: this is it */
    uint32_t sharers;        /* processes that came to it */
    uint64_t room_b, used_b; /* what profiles of running processes may take, and take */
    /* Of the launcher's clock, by the launcher: how often it was set while the job ran, and by how
     * much in all. Times in profiles go on as before. */
    uint32_t steps;
    uint32_t quiet; /* the process has a system-call filter: no call is added to its own */
    int64_t step_ns;
    uint32_t launcher; /* of the process, on the same machine; 0: none */
};

_Static_assert(sizeof(struct prof_head) <= PROF_HEAD_B, "the head is a page");
_Static_assert(sizeof(struct prof_name) == 256, "names");
_Static_assert(sizeof(struct prof_slot) == 64, "a slot begins with one cache line");
_Static_assert(sizeof(struct prof_rec) == 144, "records");

static inline uint64_t prof_slot_b(uint32_t names_max)
{
    uint64_t b = sizeof(struct prof_slot) + names_max * sizeof(uint64_t);

    b = (b + 127) & ~UINT64_C(127);
    return b + names_max * sizeof(struct prof_row);
}

/* Where the parts lie; names_max, slots_max and log_max are given. */
static inline void prof_lay_out(struct prof_head *h)
{
    h->names_at = PROF_HEAD_B;
    h->slots_at = h->names_at + h->names_max * sizeof(struct prof_name);
    h->slot_b = prof_slot_b(h->names_max);
    h->log_at = (h->slots_at + h->slot_b * h->slots_max + 4095) & ~UINT64_C(4095);
}

static inline uint64_t prof_file_b(const struct prof_head *h)
{
    return h->log_at + h->log_max * sizeof(struct prof_rec);
}

/* Fewer slots and a shorter log where a file may be no longer than `limit`. False: not even one
 * slot fits. */
static inline bool prof_fit(struct prof_head *h, uint64_t limit)
{
    if (prof_file_b(h) <= limit)
        return true;
    uint64_t half = (limit > h->slots_at ? limit - h->slots_at : 0) / 2 / h->slot_b;

    if (half < h->slots_max)
        h->slots_max = half ? (uint32_t)half : 1;
    prof_lay_out(h);
    if (h->log_at > limit)
        return false;
    uint64_t log = (limit - h->log_at) / sizeof(struct prof_rec);

    if (log < h->log_max)
        h->log_max = (uint32_t)log;
    return true;
}

/* What a process's profile takes from its beginning on: the head, a page of names, one slot. */
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

/* What a row has seen so far, as one number that only grows: has it changed since? */
static inline uint64_t prof_row_sum(const struct prof_row *r)
{
    uint64_t sum = 0;

    for (int i = 0; i < PROF_WORDS_N; i++)
        sum += r->word[i];
    return sum;
}

#endif
