/* ncptl_tool.h -- tools for programs that need no network: event dumps, verification, statistics,
 * translation to C. Called by `weir lang`. */
#ifndef LOAD_NCPTL_NCPTL_TOOL_H
#define LOAD_NCPTL_NCPTL_TOOL_H

#include <stdio.h>

#include "load/ncptl/ncptl.h"
#include "load/ncptl/ncptl_log.h"

/* One line per operation, rank after rank, in the form of docs/models/ncptl.md.
 * `log` may be NULL. Timed loops are run once. */
bool ncptl_dump(const struct ncptl_prog *p, FILE *out, struct ncptl_log *log, struct wr_err *err);

/* The same for one operation; without the line's end. */
bool ncptl_dump_event(const struct ncptl_prog *p, struct ncptl_rank *r,
                      const struct ncptl_event *ev, struct wr_str *out, struct wr_err *err);

/* Runs all ranks against each other, sends never block, and reports
 * deadlocks, messages without a receive, receives without a message, asynchronous operations that
 * are never awaited and columns of logs that cannot have the value they ask for (elapsed_usecs is
 * not known here). Stops after `most` operations (0: never); *complete is false then. */
bool ncptl_verify(const struct ncptl_prog *p, uint64_t most, bool *complete, struct wr_err *err);

/* The program in C, complete but for libc and MPI: docs/models/ncptl.md. */
struct ncptl_target {
    bool serial; /* one process plays all tasks, without MPI */
    bool mpiio;  /* files by MPI-IO, not by POSIX calls */
};

bool ncptl_generate(const struct ncptl_unit *u, const struct ncptl_target *how, struct wr_str *out,
                    struct wr_err *err);

enum { NCPTL_CELLS = 64 };

struct ncptl_stats {
    double ops[NCPTL_NOPS]; /* how often, over all ranks */
    double messages, bytes; /* point to point */
    double mcast_bytes, reduce_bytes;
    double written, read;
    double compute_us, sleep_us;
    double min_sent, max_sent, min_bytes, max_bytes; /* per rank */
    double smallest, largest;                        /* message */
    uint32_t ncells; /* the matrix is ncells x ncells, of tasks per cell */
    double tasks_per_cell;
    double cell[NCPTL_CELLS][NCPTL_CELLS]; /* bytes from (row) to (column) */
};

/* Counted loops are run once and multiplied. */
bool ncptl_stats(const struct ncptl_prog *p, struct ncptl_stats *ret, struct wr_err *err);
void ncptl_stats_print(const struct ncptl_prog *p, const struct ncptl_stats *s, struct wr_str *out);

#endif
