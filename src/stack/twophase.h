/* twophase.h -- collective buffering as ROMIO does it: which aggregator has which bytes, in which
 * round.
 *
 *   tasks' parts of the file    |--0--|--1--|--2--|--3--|
 *   file domains                |   of task 0   |   of task 1   |     as many as aggregators
 *   rounds                      |-1-|-2-|-3-|-4-| ...                 windows of cb_buffer_size
 *
 * In every round each aggregator gets its window's bytes from the tasks that have them (exchange)
 * and writes it; reading goes the other way. What a window does not get it has to read before it
 * writes. By itself ROMIO does so only when tasks' parts lie between each other; parts in the order
 * of their tasks are written by each task alone. This file only plans; it knows no time.
 */
#ifndef STACK_TWOPHASE_H
#define STACK_TWOPHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stack_cb_mode { STACK_CB_AUTOMATIC, STACK_CB_ENABLE, STACK_CB_DISABLE };

extern const char *const stack_cb_mode_names[];

/* ROMIO's hints romio_cb_write and romio_cb_read, cb_nodes, cb_buffer_size. */
struct stack_cb {
    enum stack_cb_mode mode;
    uint32_t nodes;    /* aggregators; 0: every task, each being on a node of its own */
    uint64_t buffer_b; /* 0: 16 MiB */
};

/* What a task asks for in one collective call. */
struct stack_part {
    uint64_t from, bytes;
    uint32_t task;
};

struct stack_cb_plan {
    bool two_phase;
    uint32_t aggregators; /* the first tasks */
    uint64_t buffer_b;
    uint64_t from, domain_b;       /* the whole begins there; bytes of a file domain */
    uint64_t rounds;               /* of the aggregator that needs most */
    const struct stack_part *part; /* by offset */
    uint32_t n;
};

/* One aggregator's bytes of one round. */
struct stack_window {
    uint64_t from, bytes; /* bytes 0: it has nothing to do in this round */
    uint64_t covered;     /* bytes that tasks have; less than `bytes`: there are holes */
    uint64_t remote_b;    /* of these, from other tasks than itself */
    uint32_t messages;    /* in which they come */
};

/* Sorts `part`, which has to stay as long as the plan. */
void stack_cb_plan(struct stack_cb_plan *ret, struct stack_part *part, uint32_t n,
                   const struct stack_cb *cb);
struct stack_window stack_cb_window(const struct stack_cb_plan *p, uint32_t aggregator,
                                    uint64_t round);
/* The most bytes that one task sends or gets in a round; and the bytes and messages of all. */
struct stack_exchange {
    uint64_t most_b, all_b, messages;
};
struct stack_exchange stack_cb_exchange(const struct stack_cb_plan *p, uint64_t round,
                                        uint64_t *by_task);

/* Every message of a round: what a task has of an aggregator's window. */
typedef void stack_cb_message(void *ctx, uint32_t task, uint32_t aggregator, uint64_t bytes);
void stack_cb_each(const struct stack_cb_plan *p, uint64_t round, stack_cb_message *fn, void *ctx);

#endif
