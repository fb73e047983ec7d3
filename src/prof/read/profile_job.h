/* profile_job.h -- all profiles of a directory on one grid of slices.
 *
 *   file, file, ...  ->  processes (one per process, over all its images)
 *                    ->  apps (one per job name), ranks, threads, mounts, files: entities
 *                    ->  cells: what each entity did in each slice
 *
 * A record "from, to, grew to" is spread evenly over the slices between from and to. The grid
 * starts on a slice edge of the wall clock, origin_ns. A prof_job is complete when prof_job_make
 * returns and only read afterwards.
 */
#ifndef PROF_READ_PROFILE_JOB_H
#define PROF_READ_PROFILE_JOB_H

#include "base/mem.h"
#include "base/str.h"
#include "prof/read/profile_file.h"

/* Metrics of an entity: the words of storage, then others. */
enum prof_metric {
    PROF_M_STORAGE = 0, /* + enum prof_word */
    PROF_M_MPI_CALLS = PROF_WORDS_N,
    PROF_M_MPI_TIME,
    PROF_M_MPIIO_TIME,
    PROF_M_MPIIO_READ,
    PROF_M_MPIIO_WRITE,
    PROF_M_MPIIO_COLL_TIME, /* the collective part of MPI-IO */
    PROF_M_MPIIO_COLL_READ,
    PROF_M_MPIIO_COLL_WRITE,
    PROF_M_KERNEL_READ, /* storage bytes that only the kernel counted */
    PROF_M_KERNEL_WRITE,
    PROF_M_UNEXPLAINED_READ, /* not in storage's bytes: their target is unknown */
    PROF_M_UNEXPLAINED_WRITE,
    PROF_M_COUNTER, /* + which of the job's counters */
    PROF_M_INFLIGHT = PROF_M_COUNTER + PROF_COUNTERS,
    PROF_METRICS
};

enum prof_entity_kind {
    PROF_E_APP,
    PROF_E_RANK,
    PROF_E_THREAD,
    PROF_E_MOUNT,
    PROF_E_FILE,
    PROF_E_CALL
};

struct prof_entity {
    char *name; /* "app:0", "rank:0.3", "thread:0.3.1", "mount:/scratch", "file:/scratch/a",
                   "call:main>save>put" */
    enum prof_entity_kind kind;
    double total[PROF_METRICS];
};

struct prof_cell {
    uint32_t slice, entity;
    double value[PROF_METRICS];
};

/* Bytes of a process, read [0] and written [1]: counted by the library, by the kernel alone
 * (unprofiled programs), and by neither (outside.c). */
struct prof_balance {
    uint64_t kernel[2];    /* rchar and wchar of itself, without its children */
    uint64_t seen[2];      /* by the library, of those that the kernel counts, storage or not */
    uint64_t by_kernel[2]; /* taken from the kernel's counters */
    uint64_t start;        /* read before the library was ready, and by the library itself */
    uint64_t unexplained[2];
    uint64_t mapped; /* estimate: written through mappings by a process that was killed */
    bool known;      /* the kernel's counters are known */
};

struct prof_proc {
    uint32_t app, rank;           /* its row in rank_stat */
    const struct prof_head *head; /* of what it executed last */
    int64_t start_ns, end_ns;
    int64_t io_start_ns, io_end_ns;   /* of its I/O, to a slice; 0: none */
    uint32_t entity, threads, images; /* threads: with any activity */
    bool alive, kernel;               /* kernel: unprofiled */
    bool sampled;                     /* of these: its counters were also read while it ran */
    double other[2];                  /* bytes read and written that are not storage */
    uint32_t mapped_mount;            /* entity of balance.mapped */
    struct prof_balance balance;
};

/* The counters of a process on a mount or file. */
struct prof_use {
    uint32_t proc, entity;
    uint64_t word[PROF_WORDS_N];
};

struct prof_end; /* the end of a process, recorded by its parent (outside.c) */

/* A thread slot of a file: a thread, or one image of the main thread of a process that executes
 * others. */
struct prof_thread {
    uint32_t proc, tid;
    uint32_t number; /* in its process, in order of appearance */
    uint32_t entity; /* UINT32_MAX: none; it did nothing, or it is the only thread */
    size_t first;    /* its index, or that of its earlier image */
    bool busy;
};

struct prof_app {
    const char *name;
    uint32_t entity, ranks;
    int64_t start_ns, end_ns;
    uint64_t jumps[2], unplaced[2], sizes[2][PROF_SIZES]; /* as in struct prof_slot */
};

/* A job: all profiles of a directory, on one time line. Filled by prof_job_read(), then constant.
 */
struct prof_job {
    struct prof_file *file; /* [nfiles] */
    size_t nfiles;
    uint64_t slice_ns;              /* of `cells` */
    bool adaptive;                  /* slice_ns follows from the duration of the job */
    int64_t origin_ns, end_ns;      /* wall clock; end of the last slice that holds something */
    int64_t last_ns;                /* latest time in any profile */
    struct prof_head launcher;      /* head of the shared profile; version 0: none */
    WR_VEC(struct prof_app) apps;   /* programs */
    WR_VEC(struct prof_proc) procs; /* processes; several files if one executes another program */
    WR_VEC(struct prof_thread) threads;  /* all thread slots, file by file */
    WR_VEC(struct prof_entity) entities; /* what counters are of; enum prof_entity_kind */
    WR_VEC(struct prof_cell) cells;      /* by slice, then by entity; each pair once */
    WR_VEC(struct prof_use) uses;        /* by process, then by entity; each pair once */
    WR_VEC(struct prof_end) ends;        /* of processes without a profile */
    uint64_t left;                       /* processes that still ran when the command had ended */
    uint64_t
        ends_unseen; /* processes that executed an unprofiled program and whose end was not seen */
    uint64_t children_lost; /* ends of children beyond the capacity of their parents' tables */
    uint64_t rings_unseen, ring_missed; /* of io_uring: see form.h */
    uint64_t mapped_unknown; /* bytes that killed processes had mapped for writing, and of which
                              * nothing shows what was written */
    uint64_t dropped_calls, dropped_recs, torn; /* sums of the files' */
    uint64_t late_ns;                           /* the largest of the files' */
    uint64_t sharers; /* processes without a file of their own, counted as one */
    bool filtered;    /* a process has a system-call filter: see src/prof/lib/quiet.c */
    int64_t step_ns;  /* by which the wall clock was set while the job ran */
    const char *counter[PROF_COUNTERS]; /* names, in the heads of files; NULL: no more */
    uint32_t clock;                     /* enum prof_clock of most */
    struct wr_str warnings;             /* one line each */
};

/* The name of a metric in a run file; NULL: no such counter. */
const char *prof_metric_name(const struct prof_job *j, unsigned metric);
const char *prof_metric_unit(unsigned metric);

/* Fails when there is nothing to read; problems of single files become warnings. */
bool prof_job_read(struct prof_job *ret, const char *dir, struct wr_err *err);
/* From files that were read already; they become the job's. */
bool prof_job_make(struct prof_job *ret, struct prof_file *files, size_t n, struct wr_err *err);
void prof_job_fini(struct prof_job *j);

/* "private": the processes of each job wrote to files of their own; "shared": to the same files;
 * NULL: neither for nine tenths of the bytes, not known, or only one process. */
const char *prof_job_file_mode(const struct prof_job *j);

#endif
