/* hold_priv.h -- what lasts longer than an activity: cells, resources, locks.
 *
 *   (kind, node, file, number) --hash--> entry
 *       cell       a number that a node remembers
 *       resource   how much is left, and its waiters, first come first served
 *       locks      of a data file: all of them; of a client in it: its own
 *
 * Entries come from pools and stay: handlers never allocate.
 */
#ifndef STACK_HOLD_PRIV_H
#define STACK_HOLD_PRIV_H

#include "base/pool.h"
#include "stack/fs.h"

struct activity;
struct stack_engine;

enum stack_held { HELD_CELL, HELD_RESOURCE, HELD_LOCKS, HELD_MINE };

/* Found by (kind, node, file, number), which are constant; the rest changes. */
struct entry {
    uint32_t next; /* in the bucket */
    uint32_t kind; /* and, of a cell or resource, its number: kind + 4 * number */
    uint32_t node, file;
    int64_t number;
    int64_t value;        /* of a cell; of a resource: what is left */
    uint32_t first, last; /* waiters, or locks */
    uint32_t n;           /* of a resource: 1 if it has a limit; of locks: callbacks so far */
};

/* An activity that waits for a resource. */
struct waiter {
    uint32_t next, activity;
    int64_t amount; /* that it wants */
};

/* A lock of a byte range of a data file; not granted: a request that waits for it. */
struct lock {
    uint32_t next, mine; /* in the data file; of the same client there */
    uint32_t client;
    bool writes, granted;
    uint32_t called; /* 0, or the number of the callback that wants it back */
    uint64_t from, to;
};

struct stack_hold {
    uint32_t *bucket; /* [mask + 1] lists of entries; allocated once */
    uint32_t mask;    /* a power of two, less one */
    struct wr_pool entry, waiter, lock;
};

void stack_hold_init(struct stack_hold *h, uint64_t nodes);
void stack_hold_fini(struct stack_hold *h);

/* NULL when there is none and `make` is false. */
struct entry *stack_hold_find(struct stack_hold *h, uint32_t kind, uint32_t node, uint32_t file,
                              int64_t number, bool make);

int64_t stack_cell(struct stack_engine *e, const struct activity *a, const int64_t *v);
int64_t stack_keep(struct stack_engine *e, const struct activity *a, const int64_t *v);

/* True: the activity has it; otherwise it is resumed when it has. */
bool stack_take(struct stack_engine *e, struct activity *a, const struct stack_state *s,
                uint64_t t);
int64_t stack_give(struct stack_engine *e, const struct activity *a, const int64_t *v);
int64_t stack_waiting(struct stack_engine *e, const struct activity *a, const int64_t *v);

/* lock.c: the builtins about locks. */
int64_t stack_lock_ask(struct stack_engine *e, const struct activity *a, uint32_t builtin,
                       const int64_t *v);

#endif
