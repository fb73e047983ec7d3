/* progress.h -- one line on a terminal that says how far, how fast, how long still.
 *
 *     run: 41 %  1.2 ms of 3 ms  0.3 ms/s  6 s left
 *
 * The line is rewritten in place at most ten times a second and wiped at the end, so
 * that it never mixes with results. Without a terminal nothing is written unless
 * it was asked for; then each update is a line of its own, every few seconds, as a
 * batch job's log wants it.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum wr_progress_mode {
    WR_PROGRESS_AUTO,   /* when stderr is a terminal */
    WR_PROGRESS_ALWAYS, /* on request */
    WR_PROGRESS_NEVER,  /* silent */
};

struct wr_progress {
    const char *what; /* "run" */
    const char *unit; /* what `done` counts: "ms", "points"; may be "" */
    double total;     /* of `unit`; 0: not known, no percentage and no end in sight */
    FILE *to;         /* NULL: silent */
    bool rewrite;     /* a terminal: the line is rewritten in place */
    uint64_t (*now_ns)(void);
    uint64_t started_ns, next_ns;
    double first; /* `done` at the first call: resumed work has a head start */
    bool begun, dirty;
};

void wr_progress_init(struct wr_progress *p, enum wr_progress_mode mode, const char *what,
                      const char *unit, double total);
/* Cheap enough to be called every few thousand events. */
void wr_progress_set(struct wr_progress *p, double done);
/* Wipes the line. Safe to call twice, and before an error is printed. */
void wr_progress_fini(struct wr_progress *p);

#endif
