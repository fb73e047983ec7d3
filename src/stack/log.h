/* log.h -- what a real file system wrote down about its states.
 *
 *   DIR/meta.json             servers and processes of the run
 *   DIR/client.N.log[.gz]     the log of state machines ("sm") of a client and of a server
 *   DIR/server.N.log[.gz]
 *   DIR/adio.N, DIR/mpi.N     start, duration, layer, function, bytes of every call
 *
 * or tables that were made of such logs, told apart by their heads (functions.csv, states.csv).
 * Every visit of a state becomes a sample: its own time, and how long it then waited. A line that
 * stops in its middle, and a clock that goes back, cost the sample they touch and are counted.
 */
#ifndef STACK_LOG_H
#define STACK_LOG_H

#include "stack/fs.h"

struct stack_sample {
    uint16_t state;
    bool deferred;
    uint64_t bytes; /* per process, of the run */
    float exec_us, wait_us;
};

/* A read or write of an application, from its call to its end. */
struct stack_io_sample {
    bool writes;
    uint64_t bytes;
    double seconds;
};

struct stack_log {
    const struct stack_fs *fs;
    uint32_t servers, clients; /* of all runs; 0: nothing was read */
    WR_VEC(struct stack_sample) state;
    WR_VEC(struct stack_io_sample) io;
    WR_VEC(float) answer_us;             /* what servers took for requests that move no data */
    uint64_t lines, cut, jumps, unknown; /* faults that were passed over */
};

/* Adds a directory of logs, or a table; of a table only runs whose name begins with `only`. */
bool stack_log_add(struct stack_log *log, const char *path, const char *only, struct wr_err *err);
void stack_log_fini(struct stack_log *log);

/* Lines of one log, for tests and fuzzing; `server`: it is one's. */
void stack_log_text(struct stack_log *log, char *text, size_t len, bool server, uint64_t bytes);

#endif
