/* stack_log.h -- the samples of real logs: states, operations and calls of a file system.
 *
 * A run is one execution of a test; a test is an IOR command with so many servers and processes.
 * Every sample knows its run and its test.
 *
 *   DIR/meta.json             servers and processes of the run, and its IOR command
 *   DIR/client.N.log[.gz]     the log of state machines ("sm") of a client and of a server
 *   DIR/server.N.log[.gz]
 *   DIR/adio.N, DIR/mpi.N     start, duration, layer, function, bytes of every call
 *   DIR/ior.out               what IOR printed
 *
 * or tables that were made of such logs, distinguished by their heads (functions.csv, states.csv),
 * with a runs.csv beside them that has the servers, processes and IOR command of every run.
 * Every visit of a state becomes a sample: its own time, how long it then waited, and what passed
 * until the next. Every operation, request and call becomes one: how long it took. Of calls inside
 * calls the outer one's own time is what the inner ones leave. A simulated run can be put into the
 * same form (replay.h), so that the two are compared by like means.
 */
#ifndef STACK_LOG_H
#define STACK_LOG_H

#include "stack/fs.h"

struct stack_sample {
    uint16_t state;
    bool deferred, server;
    uint8_t io;    /* 0 of a read, 1 of a write, 2 of neither, or unknown */
    uint16_t run;  /* its number, from 1; 0: unknown */
    bool alone;    /* of a table of functions: all states of the run may be in another */
    uint8_t phase; /* what arrived, of those in fs.h: the last two bits of PVFS2's tags */
    uint16_t test; /* its number, from 1 */
    uint32_t op;   /* the operation of its run, with its node; 0: unknown */
    double t_s;    /* when it was entered, by the clock of the run's logs */
    float exec_us, wait_us, between_us; /* below 0: not known */
    float took_us;                      /* until the next was entered; 0: not known */
};

/* A tag of PVFS2 counts data files in steps of four; what is left is the phase. */
static inline uint8_t stack_phase(uint64_t tag)
{
    return tag & 3;
}

/* A read or write of an application, from its call to its end. */
struct stack_io_sample {
    bool writes;
    uint16_t test; /* its number, from 1 */
    double seconds;
    uint64_t moved; /* by this call */
    uint16_t run;   /* its number, from 1 */
};

/* An IOR command with so many servers and processes: what runs are repetitions of. */
struct stack_log_test {
    uint32_t servers, clients;
    uint64_t bytes;    /* per process */
    uint64_t transfer; /* of a call */
    uint64_t calls;    /* per process and phase */
    bool shared;       /* one file for all */
    bool random, collective, reorder;
    char ior[160];
};

/* The median time of a run's calls (of an even number, the later one). */
struct stack_log_run {
    char name[200];
    uint16_t test;
    double took[2]; /* reading, writing; NaN: it did not */
};

/* An operation of a client, a request of a server, or a call of a library. */
struct stack_op_sample {
    uint16_t function; /* the first machine of this name */
    uint8_t io;        /* 0 reads, 1 writes, 2 neither */
    uint16_t test;     /* its number, from 1 */
    double seconds;
    uint16_t run; /* its number, from 1 */
};

/* When a process began to read or write for the first time in a run. */
struct stack_start {
    uint32_t node;
    bool writes;
    double start, took;
    uint32_t calls;
};

/* How much longer a process takes, for each second that it begins after another of its run: 0 where
 * they are not in each other's way, -1 where they share what they are waiting for. */
struct stack_start_slope {
    uint16_t test;
    double slope;
};

/* From the first process that began to read or write to the last one. */
struct stack_stagger {
    bool writes;
    uint16_t test;
    double seconds;
};

/* A row of IOR's table. */
struct stack_ior_row {
    bool writes;
    uint64_t block_b, xfer_b;
    double bw_MiBps, iops, latency_s, open_s, wrrd_s, close_s, total_s;
    int64_t iter;
};

/* A run by its name, to recognise one that is in two tables; each directory is a run. */
struct stack_run_name {
    char name[128];
    bool whole; /* all its states were read */
};

/* A run of a table, and its test. */
struct stack_listed {
    char name[128];
    uint16_t test;
};

/* A sample of a state or operation that moves data, until the calls above give its direction. */
struct stack_moving {
    bool op; /* of log->op, not of log->state */
    size_t at;
    double t; /* from midnight */
};

/* A call that moves data. */
struct stack_data_call {
    bool writes;
    uint16_t test;
    uint32_t node;
    double start, took;
    uint64_t moved;
};

/* When a call was, to find those inside it. */
struct stack_call_at {
    uint32_t node;
    uint16_t function;
    uint16_t layer;
    bool by_day; /* from midnight and not from the epoch */
    double start, took;
};

/* Samples of logs and tables; every stack_log_add() adds to them. */
struct stack_log {
    const struct stack_fs *fs;                 /* whose states they are; set before */
    WR_VEC(struct stack_sample) state;         /* visits of states */
    WR_VEC(struct stack_io_sample) io;         /* reads and writes of processes */
    WR_VEC(struct stack_op_sample) op;         /* whole operations and requests */
    WR_VEC(struct stack_ior_row) ior;          /* lines of IOR */
    WR_VEC(uint16_t) run;                      /* the test of each run that has states */
    WR_VEC(struct stack_log_test) test;        /* by number, from 1 */
    WR_VEC(struct stack_listed) listed;        /* what runs.csv says of runs */
    WR_VEC(struct stack_log_run) of;           /* runs, with how long each read and wrote */
    WR_VEC(struct stack_run_name) named;       /* by number, from 1 */
    size_t run_now;                            /* the number of the run that is being read */
    size_t io_before, op_before, state_before; /* samples of the runs before */
    WR_VEC(struct stack_stagger) stagger;
    WR_VEC(struct stack_start_slope) start_slope;
    WR_VEC(struct stack_call_at) call;  /* of the run that is being read */
    WR_VEC(struct stack_data_call) mpi; /* likewise: MPI-IO's accesses */
    WR_VEC(struct stack_start) start;   /* likewise */
    WR_VEC(struct stack_moving) moving; /* likewise */
    double span[2]
               [2]; /* likewise: [reads, writes] from the first one's begin to the last one's end */
    uint64_t lines, cut, jumps, unknown; /* faults that were passed over */
    char fault[300];                     /* the first of them, with its place */
};

/* Adds a directory of logs, or a table; of a table only runs whose name begins with one of the
 * prefixes in `only`, which commas part. */
bool stack_log_add(struct stack_log *log, const char *path, const char *only, struct wr_err *err);
void stack_log_fini(struct stack_log *log);

/* The number of a test; a new one when none before is equal. `name` is for messages. */
bool stack_log_test(struct stack_log *log, const char *name, uint32_t servers, uint32_t clients,
                    const char *ior, uint16_t *ret, struct wr_err *err);
static inline const struct stack_log_test *stack_test_at(const struct stack_log *log, uint16_t test)
{
    return &log->test.v[test - 1];
}
/* Tests that have reads or writes, ordered by servers, processes, bytes of a call and of a
 * process; free() them. */
uint16_t *stack_log_tests(const struct stack_log *log, size_t *ret_n);
/* A copy without the runs of some tests, [test]; their numbers stay. */
void stack_log_without(struct stack_log *ret, const struct stack_log *log, const bool *out);
/* "5 servers, 5 processes, 64 MiB by 4 MiB" */
struct stack_text stack_test_text(const struct stack_log_test *test);
/* "own files", "one file, random" */
struct stack_text stack_pattern_text(const struct stack_log_test *test);

/* When all is read: removes the states of a table of functions from runs whose states are all
 * known. */
void stack_log_drop_duplicates(struct stack_log *log);

/* Fails when a run takes so much longer than another that they are of different set-ups. */
bool stack_log_together(const struct stack_log *log, struct wr_err *err);

/* Text of one file, for tests and fuzzing; `name` stands in complaints. */
bool stack_log_text(struct stack_log *log, const char *name, char *text, size_t len, bool server,
                    uint32_t node, uint16_t test, struct wr_err *err);
void stack_log_calls(struct stack_log *log, const char *name, char *text, uint32_t node,
                     uint16_t test);
/* What IOR's output says of its run. */
struct stack_ior_out {
    uint64_t bytes, transfer; /* of a process and segment, of a call */
    uint32_t tasks;
    char command[160]; /* empty: it has none */
};
bool stack_log_ior(struct stack_log *log, const char *name, char *text, struct stack_ior_out *ret,
                   struct wr_err *err);
bool stack_log_runs(struct stack_log *log, const char *name, char *text, struct wr_err *err);
bool stack_log_table(struct stack_log *log, const char *name, char *text, const char *only,
                     struct wr_err *err);
/* The first open of a process also starts the library, in the state before the operation that it
 * then waits for: below the mount. STACK_NONE: there is no such state. */
uint16_t stack_start_state(const struct stack_fs *fs, uint16_t *ret_operation);

/* What calls take themselves, from the calls inside them, and how far apart processes began;
 * forgets log->call and log->start. */
void stack_log_nest(struct stack_log *log, uint16_t test);

#endif
