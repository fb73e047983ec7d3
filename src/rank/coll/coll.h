/* coll.h -- collective operations as schedules: the peers of a member in each step.
 *
 *   allreduce by recursive doubling, 6 members      0 1 2 3 4 5
 *     step 0   fold      0 -> 1, 2 -> 3             . * . * * *
 *     step 1             1 <-> 3, 4 <-> 5           . = . = = =
 *     step 2             1 <-> 4, 3 <-> 5
 *     step 3   unfold    1 -> 0, 3 -> 2             * * * * * *
 *
 * A schedule is a pure function: (member, size, step) -> peers and bytes. The state of a rank in a
 * collective is therefore one number, the step, and nothing is stored for all members. A step also
 * says which blocks its messages carry (struct coll_piece): the simulator only counts bytes, but a
 * test follows the data and checks that every member ends with the right blocks. Called by
 * rank/rank_coll.c.
 *
 * The algorithms and the sizes at which they are used are MPICH's: R. Thakur, R. Rabenseifner,
 * W. Gropp, Optimization of Collective Communication Operations in MPICH, IJHPCA 19(1), 2005.
 */
#ifndef RANK_COLL_COLL_H
#define RANK_COLL_COLL_H

#include <stdbool.h>
#include <stdint.h>

#include "conf/conf.h"
#include "load/load.h"

/* One member's view. Ranks and root are places in the group. */
struct coll_call {
    uint32_t rank, size, root;
    uint64_t bytes; /* as enum load_coll says */
};

/* The blocks of a message: (first + i) mod (number of blocks) for i < n; with
 * COLL_BIT only those i that have the bit. How many blocks there are is the
 * schedule's own: `nblocks`. */
enum { COLL_NO_BIT = -1 };

struct coll_piece {
    uint32_t first, n;
    int32_t bit;
};

enum { COLL_SENDS = 1, COLL_RECVS = 2 };

struct coll_step {
    uint8_t what; /* COLL_SENDS | COLL_RECVS; 0: nothing for this member */
    bool combine; /* what comes is combined with what is there; else it takes its place */
    bool go_on;   /* begin this and the next step; the next without waits for all */
    uint32_t to, from;
    uint64_t send_b, recv_b;
    struct coll_piece sent, got;
};

struct coll_ops {
    struct conf_kind kind; /* for `weir list collectives`: "allreduce ring" */
    const char *name;      /* collectives: {allreduce: ring} */
    enum load_coll coll;
    bool pof2; /* only for a power of two of members */
    /* Into how many blocks the data is cut; blocks are numbered from the root's for
     * schedules that are `relative`. */
    uint32_t (*nblocks)(const struct coll_call *c);
    bool relative;
    /* Step i, *ret zeroed; false: the schedule ended before it. Never called with size 1. */
    bool (*step)(const struct coll_call *c, uint32_t i, struct coll_step *ret);
};

/* All algorithms, those of a collective together; ends with NULL. */
extern const struct coll_ops *const coll_table[];
extern const struct conf_kind *const coll_kinds[]; /* the same, for lists */

/* Which algorithm each collective takes: 0, by size as MPICH does, or a place from 1 among its
 * algorithms. */
struct coll_choice {
    uint32_t algo[LOAD_COLLS];
};

extern const struct conf_row coll_rows[]; /* of struct coll_choice */

/* An algorithm that needs a power of two gives way to the automatic one otherwise. */
const struct coll_ops *coll_pick(const struct coll_choice *choice, enum load_coll coll,
                                 uint32_t size, uint64_t bytes);

bool coll_step(const struct coll_ops *ops, const struct coll_call *c, uint32_t i,
               struct coll_step *ret);

#endif
