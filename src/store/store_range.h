/* store_range.h -- bytes of one block: ranges that do not overlap, in their order, each with a tag.
 *
 *   list --> [lo,hi) DIRTY --> [lo,hi) CLEAN --> ...         between ranges: no tag
 *
 * Ranges live in a pool, so a handler can change a list. Neighbours that touch and have the same
 * tag are one range; a list that was written from one end to the other is one range long.
 */
#ifndef STORE_STORE_RANGE_H
#define STORE_STORE_RANGE_H

#include <stdint.h>

#include "base/pool.h"

struct store_range {
    uint32_t next;
    uint32_t lo, hi, tag;
};

enum { STORE_RANGE_ANY = 0 }; /* no range has this tag */

static inline struct store_range *store_range(const struct wr_pool *p, uint32_t h)
{
    return wr_pool_at(p, h);
}

/* lo..hi has this tag from now on; STORE_RANGE_ANY: none. */
void store_range_set(struct wr_pool *p, uint32_t *list, uint64_t lo, uint64_t hi, uint32_t tag);
/* What has the tag `was` within lo..hi gets another. */
void store_range_turn(struct wr_pool *p, uint32_t *list, uint64_t lo, uint64_t hi, uint32_t was,
                      uint32_t tag);
/* What has no tag within lo..hi gets one. */
void store_range_fill(struct wr_pool *p, uint32_t *list, uint64_t lo, uint64_t hi, uint32_t tag);
/* How many bytes of lo..hi have a tag; STORE_RANGE_ANY: any tag. */
uint64_t store_range_bytes(const struct wr_pool *p, uint32_t list, uint64_t lo, uint64_t hi,
                           uint32_t tag);

#endif
