/* budget_priv.h -- limits on reading one run file: instructions, rows, time, temporary space.
 *
 * A run file may come from an untrusted source, and a few damaged pages can yield unlimited rows (a
 * page that is its own child). The limits grow with the size of the file, as the needs of a valid
 * one do. The SQL of `weir query` is the user's own and is not limited.
 */
#ifndef RUN_BUDGET_PRIV_H
#define RUN_BUDGET_PRIV_H

#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* What ended a statement. */
enum run_spent {
    RUN_SPENT_NOTHING,
    RUN_SPENT_STEPS, /* more than a file of this size can need */
    RUN_SPENT_LIMIT, /* what the caller set */
    RUN_SPENT_TIME,
    RUN_SPENT_STOP,
};

/* Limits change only in run_budget_open and run_limit; the rest counts up as statements run. */
struct run_budget {
    uint64_t max_ops;     /* SQLite's instructions, over all statements; 0: any number */
    uint64_t max_text_b;  /* of the texts of one statement; 0: any number */
    uint64_t max_rows;    /* of one statement; 0: any number */
    uint64_t max_temp_b;  /* in temporary files at one time; 0: any */
    uint64_t deadline_ns; /* of wr_clock_ns; 0: none */
    const volatile sig_atomic_t *stop; /* set: end the statement; may be NULL */
    bool own;                          /* max_ops follows from the file's size */

    uint64_t ops, temp_b; /* instructions so far; bytes in temporary files now */
    enum run_spent spent; /* what ended the last statement */

    /* SQLite asks its VFS for temporary files: this one counts what is written to them. */
    sqlite3_vfs vfs, *base;
    char name[32]; /* of the VFS, which has no other user */
    sqlite3_io_methods methods;
    const sqlite3_io_methods *real; /* what `methods` calls */
};

/* For a file of `len_b` bytes. It must not move until run_budget_close. */
bool run_budget_open(struct run_budget *b, uint64_t len_b, uint64_t deadline_ns, bool locks);
void run_budget_close(struct run_budget *b); /* after the connections that use it */
/* Statements of this connection stop when the budget is spent. */
void run_budget_watch(struct run_budget *b, sqlite3 *db);

#endif
