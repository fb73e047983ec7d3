/* hash.h -- the one hash function: FNV-1a (Fowler, Noll and Vo), 64 and 32 bits.
 *
 * For tables and for distinguishing texts, not against an adversary. Values are the same on every
 * machine, so they may be stored. A hash of several parts is made by passing the value of the first
 * part on to the next; it begins with WR_HASH_INIT.
 *
 * The low bits of a 64-bit value are well mixed but for short keys: a table that takes the low bits
 * folds it with wr_hash_fold() first.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WR_HASH_INIT UINT64_C(0xcbf29ce484222325)
#define WR_HASH_PRIME UINT64_C(0x100000001b3)

/* One number, in one step. */
static inline uint64_t wr_hash_u64(uint64_t h, uint64_t x)
{
    return (h ^ x) * WR_HASH_PRIME;
}

static inline uint64_t wr_hash(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;

    for (size_t i = 0; i < n; i++)
        h = wr_hash_u64(h, b[i]);
    return h;
}

static inline uint64_t wr_hash_text(uint64_t h, const char *text)
{
    return wr_hash(h, text, strlen(text));
}

/* The high half mixed into the low one. */
static inline uint64_t wr_hash_fold(uint64_t h)
{
    return h ^ h >> 31;
}

/* FNV-1a of 32 bits, where a value must be short. */
static inline uint32_t wr_hash32_text(const char *text)
{
    uint32_t h = UINT32_C(2166136261);

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT32_C(16777619);
    return h;
}

#endif
