/* map.h -- the one hash map: from a key of 64 bits to a number of 64 bits.
 *
 *   entry  | key value | empty | key value | key value | empty | ...     cap of them, a power of
 * two
 *
 * Open addressing with linear probing (Knuth, TAOCP 3, 6.4): an entry lies at its home, the highest
 * bits of the key times 2^64 / golden ratio, or in the next empty place behind it. At most half of
 * the places are used, so a search ends. Removing an entry moves those up that it had pushed away,
 * so there are no marks of removed ones.
 *
 * Integers and addresses are keys as they are: wr_map_get, wr_map_at, wr_map_remove. Texts and
 * structs stay in an array of the caller: the key is their hash (hash.h), the value their index,
 * and the caller compares, because hashes of different texts may be equal: wr_map_find, wr_map_add.
 * A map is used in one of these two ways.
 *
 * A map has no order, so that results cannot depend on it: keep an array beside it to visit all.
 * Zero-initialise it. Growing allocates; a map does not shrink.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#define WR_MAP_NONE UINT64_MAX /* the one number that is no value: there is no such key */

struct wr_map {
    struct wr_map_entry {
        uint64_t key;
        uint64_t value; /* WR_MAP_NONE: the place is empty, and its key means nothing */
    } * entry;          /* [cap]; NULL while cap is 0 */
    uint32_t n, cap;    /* entries in use, places; 2 n <= cap */
};

/* The value of a key, or WR_MAP_NONE. */
uint64_t wr_map_get(const struct wr_map *m, uint64_t key);

/* Where the value of a key is, 0 when the key is new; valid until the map changes. WR_MAP_NONE must
 * not be stored there. */
uint64_t *wr_map_at(struct wr_map *m, uint64_t key);

/* Returns whether the key was there. */
bool wr_map_remove(struct wr_map *m, uint64_t key);

/* Whether the caller's element of that index is the one that is looked for. */
typedef bool wr_map_same(const void *ctx, uint64_t index);

/* The index of the element with this hash for which `same` holds, or WR_MAP_NONE. */
uint64_t wr_map_find(const struct wr_map *m, uint64_t hash, wr_map_same *same, const void *ctx);

/* Adds an element that wr_map_find does not find. */
void wr_map_add(struct wr_map *m, uint64_t hash, uint64_t index);

void wr_map_clear(struct wr_map *m); /* keeps its memory */
void wr_map_fini(struct wr_map *m);

#endif
