/* darshan_phases.h -- what the ranks of a log did, as phases of I/O in order.
 *
 *   DXT        each request is a phase, as it was measured
 *   HEATMAP    requests of a record are placed where the rank's bins of time have bytes
 *   counters   requests of a record lie evenly between its first and its last
 *
 * A phase stands for `n` requests of one kind of a rank to one file. Requests and bytes of all
 * phases add up to the counters: what DXT did not record is added from them. A record of all ranks
 * together is divided over the ranks, by the bytes that their heatmaps leave unexplained, evenly
 * without heatmaps. Sizes come from the histogram of sizes where it agrees with count and bytes.
 *
 * POSIX and STDIO are counted; MPI-IO only for files that have no POSIX record, because its bytes
 * are POSIX's once more. Of the others the time in MPI-IO is kept: what a rank waited there for
 * other ranks was no computation. A collective call that all ranks made equally often ends with a
 * barrier.
 */
#ifndef DARSHAN_DARSHAN_PHASES_H
#define DARSHAN_DARSHAN_PHASES_H

#include "darshan/darshan.h"

enum darshan_op {
    DARSHAN_READ,
    DARSHAN_WRITE,
    DARSHAN_OPEN,
    DARSHAN_SYNC,
    DARSHAN_IN_MPIIO, /* calls of MPI-IO around such requests: their time, no bytes */
    DARSHAN_BARRIER,  /* the end of a collective one */
    DARSHAN_OPS,
};

enum darshan_source { DARSHAN_MEASURED, DARSHAN_BINNED, DARSHAN_SPREAD, DARSHAN_SOURCES };

struct darshan_phase {
    uint32_t rank, file; /* file: index into `files` */
    uint8_t op, source;
    int64_t offset; /* of the first request; -1: not known */
    uint64_t bytes, n;
    int64_t t_ps, dt_ps; /* since the job's start; requests begin at t + k * dt / n */
    int64_t io_ps;       /* time in them, all together */
};

struct darshan_file {
    uint64_t id;
    const char *name; /* NULL: not in the log */
    bool posix;       /* has a POSIX record */
    uint32_t writer;  /* the last rank that wrote it, plus 1; 0: none */
    uint32_t mpiio;   /* records of MPI-IO */
    int64_t calls;    /* collective calls of each rank; -1: not all ranks made the same */
};

/* Filled by darshan_phases_make, then only read. */
struct darshan_phases {
    WR_VEC(struct darshan_phase) list; /* by rank, then time */
    WR_VEC(struct darshan_file) files;
    uint32_t ranks;
    int64_t end_ps; /* of the job */
    uint64_t n[DARSHAN_OPS], bytes[DARSHAN_OPS];
    double time_s[DARSHAN_OPS];
    uint64_t metas;
    uint64_t sizes[2][DARSHAN_SIZES];    /* of reads and writes, where they are counted */
    uint64_t by_source[DARSHAN_SOURCES]; /* reads and writes */
    uint64_t shared, fewer;              /* records of all ranks; those given to some only */
    bool shared_writes;                  /* a file is written by several ranks */
};

bool darshan_phases_make(struct darshan_phases *ret, const struct darshan_log *log,
                         struct wr_err *err);
void darshan_phases_fini(struct darshan_phases *p);

/* Sizes of Darshan's histograms: bin i holds low[i] <= bytes < low[i + 1]. */
extern const uint64_t darshan_size_low[DARSHAN_SIZES + 1];

#endif
