/* share_priv.h -- what ranks look up together, behind locks.
 *
 *   maps    which task runs on which processor. Every IS ASSIGNED TO makes a new
 *           version; all ranks go through the same versions, each at its own time,
 *           so a version lives until the last rank has left it.
 *   draws   the random tasks, a stream that all ranks read at their own pace.
 *   files   what FILE_DATA read: each file once.
 *   pins    answers that no closed form gives: the members of a set, the pairs of
 *           sender and receiver, the values of a comprehension. Computed once per set of variable
 *           values, then shared; a rank pins the one it is reading. Those that
 *           no rank reads are freed when they take more than NC_PIN_BYTES together.
 *
 * Cost of a pin: one evaluation per task for a set or for TASK f(t), one per pair
 * of tasks for TASKS d SUCH THAT <no closed form>; 16 bytes per task and 8 per
 * message (or 4 per member).
 */
#ifndef LOAD_NCPTL_SHARE_PRIV_H
#define LOAD_NCPTL_SHARE_PRIV_H

#include "prog_priv.h"

enum { NC_PIN_BYTES = 256 << 20, NC_PIN_KEYS = 1024 };

struct nc_map {
    uint32_t *proc, *task; /* by task, by processor */
    uint64_t draws;        /* random processors drawn to make it */
    bool identity;
};

struct nc_pin {
    struct nc_pin *chain; /* with the same hash */
    uint32_t id, refs, nkey;
    uint64_t used; /* when, in lookups */
    size_t bytes;
    struct ncptl_group group; /* a set */
    uint32_t *list;           /* its members */
    /* Pairs: inner members of s are out[out_at[s]..out_at[s+1]), outer ones of d are
     * in[in_at[d]..in_at[d+1]), both ascending. */
    uint64_t *out_at, *in_at;
    uint32_t *out, *in;
    bool dense;      /* too many pairs to keep: try tasks one by one instead */
    int64_t *values; /* a comprehension */
    size_t nvalues;
    enum nc_fault_kind bad; /* computing it failed */
    const struct nc_node *where;
    int64_t x, y;
    int64_t key[];
};

enum nc_cell { NC_CELL_OK, NC_CELL_NO_FILE, NC_CELL_NONE };

struct nc_share *nc_share_new(uint32_t n, int seed);
void nc_share_free(struct nc_share *s);

/* A rank begins at version 0 and leaves where it ends. All ranks of a run begin
 * before any goes on. */
void nc_share_enter(struct nc_share *s);
void nc_share_leave(struct nc_share *s, uint32_t epoch);

/* Moves a rank from version `epoch` to the next. `make` fills a copy of the current
 * map for the first rank that comes to it. Returns the new map, NULL for the identity. */
typedef bool nc_map_fn(void *ctx, struct nc_map *map, uint32_t n);
bool nc_share_advance(struct nc_share *s, uint32_t epoch, nc_map_fn *make, void *ctx,
                      const struct nc_map **ret, uint64_t *draws);

uint64_t nc_share_draw(struct nc_share *s, uint64_t index); /* 63 random bits */

enum nc_cell nc_share_cell(struct nc_share *s, const struct nx *file, int64_t column, int64_t row,
                           double *ret);

/* Finds or computes; the caller unpins it. */
typedef void nc_pin_fn(void *ctx, struct nc_pin *pin);
struct nc_pin *nc_share_pin(struct nc_share *s, uint32_t id, const int64_t *key, uint32_t nkey,
                            nc_pin_fn *make, void *ctx);
void nc_share_unpin(struct nc_share *s, struct nc_pin *pin);

uint64_t nc_mix(uint64_t x); /* a number's share of a group's key */

#endif
