/* ioload.h -- the built-in writer: processes that write, each slice of time accounted for.
 *
 *   caller ── fork ──> process 0 ── pwrite, pwrite, ... fdatasync
 *          └─ fork ──> process 1 ── ...
 *              all wait for one moment, then write until they are done or asked to stop;
 *              what each did in each slice is in memory they share with the caller
 *
 * Files are unlinked before anything is written to them, so nothing is left behind however a
 * process ends. A call that spans several slices is spread over them in proportion to time,
 * its bytes to the last one; it is counted where it ends.
 */
#ifndef IOLOAD_IOLOAD_H
#define IOLOAD_IOLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "run/run.h"

enum ioload_file { IOLOAD_PRIVATE, IOLOAD_SHARED };
enum ioload_sync { IOLOAD_SYNC_NONE, IOLOAD_SYNC_END, IOLOAD_SYNC_BLOCK };
extern const char *const ioload_file_names[]; /* end with NULL */
extern const char *const ioload_sync_names[];

enum { IOLOAD_PROCESSES = 1024 }; /* at most */

struct ioload_opts {
    const char *dir;     /* where the files are */
    const char *through; /* the socket of a limited path instead; NULL: files */
    bool one_connection; /* through it: all processes share one, as on a client node */
    enum ioload_file file;
    enum ioload_sync sync;
    bool direct;
    uint32_t processes;
    uint64_t block_b;
    uint64_t total_b; /* all processes together; 0: no end but length_s */
    uint64_t span_b;  /* a process begins again at its first byte after so many */
    double rate_bps;  /* all processes together; 0: as fast as it goes */
    double length_s;  /* 0: no end but total_b */
    int64_t begin_ns; /* Unix; 0 or past: as soon as all are ready */
    int64_t slice_ns;
    bool (*stop)(void); /* polled */
};

/* What one process did in one slice. */
struct ioload_cell {
    uint64_t write_b, write_calls, write_ns;
    uint64_t sync_calls, sync_ns;
    uint64_t inflight; /* calls under way at its end */
};

struct ioload_rank {
    int64_t begin_ns, end_ns; /* Unix */
    uint64_t write_b, write_calls, write_ns, sync_calls, sync_ns;
};

struct ioload_result {
    int64_t origin_ns, slice_ns; /* the first slice begins there, on an edge */
    size_t nslices;              /* the last one that any process reached, plus one */
    uint32_t n;
    struct ioload_rank *rank;
    const struct ioload_cell *cell; /* cell[rank * stride + slice] */
    size_t stride, mapped_b;
    int64_t clock_step_ns; /* by which the wall clock jumped meanwhile */
    bool interrupted;
};

bool ioload_run(struct ioload_result *ret, const struct ioload_opts *o, struct wr_err *err);
void ioload_fini(struct ioload_result *r);

/* All of it as one job of a run file, by the names of docs/formats/run-file.md. */
struct ioload_job {
    const char *name, *workload;
    int64_t node;
};

bool ioload_put(struct run *run, const struct ioload_result *r, const struct ioload_opts *o,
                const struct ioload_job *job, struct wr_err *err);

/* A path of limited bandwidth: a server on a Unix socket that reads all connections in turn at
 * `rate_bps` together and discards what it reads. */
struct ioload_limit {
    const char *path;
    double rate_bps;
    double length_s; /* 0: until stopped */
    bool (*stop)(void);
};

struct ioload_carried {
    uint64_t bytes, connections;
    double busy_s; /* with at least one connection */
};

bool ioload_limit_serve(struct ioload_carried *ret, const struct ioload_limit *l,
                        struct wr_err *err);

#endif
