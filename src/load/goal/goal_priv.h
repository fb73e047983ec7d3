/* goal_priv.h -- the binary form, and little-endian numbers anywhere. */
#ifndef LOAD_GOAL_GOAL_PRIV_H
#define LOAD_GOAL_GOAL_PRIV_H

#include <stdint.h>

#include "goal.h"

/*   0  u64 magic      8  u32 ranks     12  u8 max cpu     13  u8 max nic
 *  14  per rank: u64 start, u64 end, counted from byte 8
 *
 * A rank: u32 operations, u32 roots, the roots as u32, the records, the appendix (u32). A record:
 *   0 u32 needs   4 i8 type   5 u32 peer   9 u64 size   17 u32 tag   21 u8 cpu   22 u8 nic
 *  23 u32 dependents   27 u32 first   31 u32 start-dependents   35 u32 first           39 bytes
 */
enum {
    GOAL_MAGIC = 4223,
    GOAL_MAGIC_CONSUMED = 2342,
    GOAL_BASE = 8,
    GOAL_TABLE = 14,
    GOAL_TABLE_ROW = 16,
    GOAL_RECORD = 39,
};

static inline uint32_t goal_get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t goal_get64(const uint8_t *p)
{
    return goal_get32(p) | (uint64_t)goal_get32(p + 4) << 32;
}

static inline void goal_put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static inline void goal_put64(uint8_t *p, uint64_t v)
{
    goal_put32(p, (uint32_t)v);
    goal_put32(p + 4, (uint32_t)(v >> 32));
}

struct goal_edge {
    uint32_t then, first;
    bool at_start;
};

/* Edges that were added between labels become edges between operations: label i
 * stands for the operation *(int64_t *)((char *)ops + i * stride). */
void goal_relabel(struct goal_builder *b, const int64_t *ops, size_t stride);

#endif
