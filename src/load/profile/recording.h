/* recording.h -- what the ranks of a recorded job did, read from a run file.
 *
 *   weir import: view io_phase                  phases as they are
 *   weir profile, interfere import, io-load,    a phase for each rank, slice and kind of call:
 *   a simulation: slices of ranks               the slice's calls, bytes and time
 *
 *   rank 0   [open ][write n=4        ][read]          phases, by start; they may overlap
 *            t      t                  t
 *
 * A phase is n requests; request k began at t + k * dt / n. Bytes and time are divided among them
 * so that the parts add up. A phase of MPI, MPI-IO or metadata has no request that is simulated:
 * MPI is time that passes, the others time that does not. All ranks have the same number of
 * barriers.
 */
#ifndef LOAD_PROFILE_RECORDING_H
#define LOAD_PROFILE_RECORDING_H

#include "base/mem.h"
#include "base/str.h"
#include "load/load.h"

enum recording_op {
    RECORDING_OPEN,
    RECORDING_READ,
    RECORDING_WRITE,
    RECORDING_SYNC,
    RECORDING_META,
    RECORDING_MPI,
    RECORDING_IN_MPIIO, /* its requests are phases of their own */
    RECORDING_BARRIER,
    RECORDING_OPS,
};

struct recording_phase {
    uint64_t t_ps, dt_ps; /* since the job's start */
    uint64_t io_ps;       /* time in its requests, all together */
    uint64_t n, bytes, offset;
    uint32_t file;
    uint8_t op;
    bool placed; /* the offset was recorded */
};

/* Filled by recording_read, then only read: all partitions share it. */
struct recording {
    uint32_t ranks;
    struct recording_phase *phase; /* by rank, then t_ps */
    size_t nphases;
    size_t *first;    /* [ranks + 1]: a rank's phases */
    uint64_t *end_ps; /* [ranks]: when it ended */
    uint64_t n[RECORDING_OPS], bytes[RECORDING_OPS];
    uint64_t measured, files; /* reads and writes whose order and time are recorded */
    bool slices;              /* made from slices */
    bool calls_assumed;       /* bytes without calls became requests of RECORDING_REQUEST */
};

enum { RECORDING_REQUEST = 1 << 20 };

/* `job`: name or number of one of several jobs in the file; "": the only one. */
bool recording_read(struct recording *ret, const char *path, const char *job, struct wr_err *err);
void recording_fini(struct recording *r);

#endif
