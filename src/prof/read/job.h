/* job.h -- all profiles of a directory, laid on one grid of slices.
 *
 *   file, file, ...  ->  processes (one per process, whatever it executed)
 *                    ->  apps (one per job name), ranks, threads, mounts, files: entities
 *                    ->  cells: what each entity did in each slice
 *
 * A record "from, to, grew to" is spread evenly over the slices between from and to. The grid
 * begins on a slice edge of the wall clock, origin_ns.
 */
#ifndef PROF_READ_JOB_H
#define PROF_READ_JOB_H

#include "base/mem.h"
#include "base/str.h"
#include "prof/read/file.h"

/* What is told of an entity: the words of storage, then what else there is. */
enum prof_metric {
    PROF_M_STORAGE = 0, /* + enum prof_word */
    PROF_M_MPI_CALLS = PROF_WORDS_N,
    PROF_M_MPI_TIME,
    PROF_M_MPIIO_TIME,
    PROF_M_MPIIO_READ,
    PROF_M_MPIIO_WRITE,
    PROF_M_MPIIO_COLL_TIME, /* of MPI-IO the part that is collective */
    PROF_M_MPIIO_COLL_READ,
    PROF_M_MPIIO_COLL_WRITE,
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

struct prof_proc {
    uint32_t app, rank;           /* its row in rank_stat */
    const struct prof_head *head; /* of what it executed last */
    int64_t start_ns, end_ns;
    uint32_t entity, threads, images; /* threads: those that did something */
    bool alive, kernel;               /* kernel: not preloaded, what the kernel counted */
    double other[2];                  /* bytes read and written that are not storage */
};

/* A seat of a file: a thread, or one image of the main thread of a process that executes others. */
struct prof_thread {
    uint32_t proc, tid;
    uint32_t number; /* in its process, in the order they came */
    uint32_t entity; /* UINT32_MAX: none, because it did nothing or its process has no other */
    size_t first;    /* its place, or that of an earlier image */
    bool busy;
};

struct prof_app {
    const char *name;
    uint32_t entity, ranks;
    int64_t start_ns, end_ns;
};

struct prof_job {
    struct prof_file *file;
    size_t nfiles;
    uint64_t slice_ns;
    int64_t origin_ns, end_ns; /* wall clock; end of the last slice that holds something */
    WR_VEC(struct prof_app) apps;
    WR_VEC(struct prof_proc) procs;
    WR_VEC(struct prof_thread) threads; /* all seats, file by file */
    WR_VEC(struct prof_entity) entities;
    WR_VEC(struct prof_cell) cells; /* by slice, then by entity; each pair once */
    uint64_t dropped_calls, dropped_recs, torn, late_ns;
    uint64_t sharers; /* processes that had no room for a profile and are one here */
    bool filtered;    /* processes filter their system calls: see src/prof/lib/quiet.c */
    int64_t step_ns;  /* by which the wall clock was set while the job ran */
    const char *counter[PROF_COUNTERS]; /* names, in the heads of files; NULL: no more */
    uint32_t clock;                     /* enum prof_clock of most */
    struct wr_str warnings;             /* one line each */
};

/* What it is called in a run file; NULL: there is no such counter. */
const char *prof_metric_name(const struct prof_job *j, unsigned metric);
const char *prof_metric_unit(unsigned metric);

/* Fails when there is nothing to read; what is wrong with single files becomes warnings. */
bool prof_job_read(struct prof_job *ret, const char *dir, struct wr_err *err);
/* From files that were read already; they become the job's. */
bool prof_job_make(struct prof_job *ret, struct prof_file *files, size_t n, struct wr_err *err);
void prof_job_fini(struct prof_job *j);

/* "private": the processes of each job wrote to files of their own; "shared": to one file or the
 * same few; NULL: neither by nine tenths, not known, or one process, for whom it is the same. */
const char *prof_job_file_mode(const struct prof_job *j);

#endif
