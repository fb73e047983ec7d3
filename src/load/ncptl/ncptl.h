/* ncptl.h -- coNCePTuaL programs as resumable ranks.
 *
 *   text --ncptl_parse--> unit --ncptl_start(tasks, parameters)--> prog
 *                                                                   |
 *   rank 0..n-1, a few words each:   op = ncptl_next(prog, rank, &event)
 *
 * Nothing is unrolled: a rank is a program counter, its loop counters and its
 * message counters, and ncptl_next() computes the next operation from them. A
 * program of 1e9 operations on 1e5 ranks starts at once.
 *
 * The caller provides the time. Before each ncptl_next() it writes the clock into
 * rank->now_ps; after NCPTL_TIMED_CHECK it also writes rank->again, the same
 * answer to every rank (a timed loop ends by a collective decision).
 *
 * A prog is shared by any number of threads, each stepping ranks of its own.
 * What ranks must look up and cannot compute (share_priv.h) is kept once in
 * the prog, behind a lock.
 */
#ifndef LOAD_NCPTL_NCPTL_H
#define LOAD_NCPTL_NCPTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "ncptl_event.h"

/* ---- the text ---- */

struct ncptl_unit; /* a program that was parsed and checked */

/* The text is copied. `name` stands for the file in messages. */
bool ncptl_parse(struct ncptl_unit **ret, const char *name, const char *text, size_t len,
                 struct wr_err *err);
bool ncptl_read(struct ncptl_unit **ret, const char *path, struct wr_err *err);
void ncptl_unit_close(struct ncptl_unit *u);

const char *ncptl_warnings(const struct ncptl_unit *u); /* lines, or "" */
void ncptl_usage(const struct ncptl_unit *u, struct wr_str *out);
void ncptl_format(const struct ncptl_unit *u, struct wr_str *out); /* `weir lang fmt` */

/* ---- a program ready to run; its unit must stay open as long ---- */

struct ncptl_prog;

struct ncptl_start {
    uint32_t ntasks;
    int seed;                /* of A RANDOM TASK and the RANDOM_* functions; 0: 1 */
    const char *const *args; /* the program's own options, as on a command line */
    size_t nargs;
};

bool ncptl_start(struct ncptl_prog **ret, const struct ncptl_unit *u, const struct ncptl_start *how,
                 struct wr_err *err);
void ncptl_close(struct ncptl_prog *p);

uint32_t ncptl_ntasks(const struct ncptl_prog *p);     /* --tasks among the options wins */
const char *ncptl_logfile(const struct ncptl_prog *p); /* --logfile, or NULL */
bool ncptl_help_wanted(const struct ncptl_prog *p);

/* ---- what a rank does: the operations of ncptl_event.h ---- */

/* The place of a processor in the group, or -1. */
int64_t ncptl_group_index(const struct ncptl_group *g, uint32_t proc);

/* 8 bytes more for each changing variable and 16 for each loop around the current
 * statement: below 320 bytes for up to 10 words of them. */
struct ncptl_rank {
    uint64_t now_ps; /* written by the caller */
    double weight;   /* how many times the operation happens; 1 unless `fold` */
    bool again;      /* written by the caller after NCPTL_TIMED_CHECK */
    bool fold;       /* written by the caller before the first step: run counted loops once */

    /* The rest is written by the interpreter only. */
    uint8_t phase, fault;
    uint32_t pc, proc, task, epoch;
    uint32_t warm;  /* loops around the statement that are warming up */
    uint64_t nops;  /* operations so far */
    uint64_t draws; /* random tasks drawn so far */
    int64_t cur, left;
    const void *culprit;      /* the expression that failed */
    const struct nc_map *map; /* processors of tasks; NULL: task i on processor i */
    struct nc_pin *pin[3];    /* what the statement looks up, and the groups of its operation */
    struct nc_cold *cold;     /* files, stored counters; NULL: none so far */
    struct ncptl_counters counters;
    struct ncptl_pending pending;
    int64_t slot[];
};

/* Initialise all ranks of a run before the first step of any. */
size_t ncptl_rank_size(const struct ncptl_prog *p); /* bytes to give each rank */
void ncptl_rank_init(const struct ncptl_prog *p, struct ncptl_rank *r, uint32_t proc);
void ncptl_rank_fini(const struct ncptl_prog *p, struct ncptl_rank *r);

enum ncptl_op ncptl_next(const struct ncptl_prog *p, struct ncptl_rank *r, struct ncptl_event *ret);

/* After NCPTL_FAIL: fills `err` and returns false. */
bool ncptl_fault(const struct ncptl_prog *p, const struct ncptl_rank *r, struct wr_err *err);

/* The text of an OUTPUT or BACKEND operation just returned. */
bool ncptl_text(const struct ncptl_prog *p, struct ncptl_rank *r, const struct ncptl_event *ev,
                struct wr_str *out, struct wr_err *err);

/* ---- what LOGS write ---- */

const struct ncptl_column *ncptl_column(const struct ncptl_prog *p, uint32_t i);

/* The value that a LOG operation just returned gives to one of its columns. */
bool ncptl_log_value(const struct ncptl_prog *p, struct ncptl_rank *r, uint32_t column, double *ret,
                     struct wr_err *err);

/* "line:column" of a statement, for messages; writes at most n bytes. */
void ncptl_where(const struct ncptl_prog *p, uint32_t stmt, char *buf, size_t n);

#endif
