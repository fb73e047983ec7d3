/* study_pool.h -- tasks as processes on the local cores.
 *
 *   parent   start ... poll ... done(task, result)      one pipe from each worker
 *               \                    ^
 *   child        work(task) -> result, _exit
 *
 * Tasks are handed out in their order. A worker is a fork of the caller: it has a
 * copy of the caller's memory, and its changes stay its own. `done` decides what a worker that died
 * means.
 */
#ifndef STUDY_STUDY_POOL_H
#define STUDY_STUDY_POOL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* How a worker ended. */
struct study_ended {
    const void *result; /* NULL: it died before it had one */
    const char *how;    /* then: "was killed by signal 9 (Killed)" */
    uint64_t peak_b;    /* the most memory it held */
    double wall_s;
};

struct study_pool {
    void *ctx;
    uint32_t jobs; /* at once, at least 1 */
    size_t ntasks, result_size;
    /* In the worker: fills the zeroed result. */
    void (*work)(void *ctx, size_t task, void *result);
    /* In the parent. False ends all. */
    bool (*done)(void *ctx, size_t task, const struct study_ended *end, struct wr_err *err);
    /* May the task start beside `n` running ones? NULL: always. The first always may. */
    bool (*may_start)(void *ctx, size_t task, const pid_t *running, size_t n);
    /* Called several times a second; NULL: not. */
    void (*tick)(void *ctx, size_t running);
};

/* Ctrl-C (after wr_interrupt_catch) asks the workers to end, waits for them and hands what they
 * had to `done`; *ret_interrupted then. */
bool study_pool_run(const struct study_pool *p, bool *ret_interrupted, struct wr_err *err);

/* The default for jobs: one per core. */
uint32_t study_pool_cores(void);

#endif
