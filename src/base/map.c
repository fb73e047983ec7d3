/* map.c -- the hash map of map.h: probing, growing, removing.
 *
 * Readers of programs, topologies and configurations call it while they set up; a few event
 * handlers do too, on maps of a rank's own.
 *
 * Invariant: no place between an entry's home and the entry is empty.
 */
#include "base/map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MAP_FIRST_CAP = 8 };

static uint32_t map_home(const struct wr_map *m, uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - __builtin_ctz(m->cap)));
}

static uint32_t map_next(const struct wr_map *m, uint32_t at)
{
    return (at + 1) & (m->cap - 1);
}

/* The place of a key, or the empty one where it belongs. */
static uint32_t map_place(const struct wr_map *m, uint64_t key)
{
    uint32_t at = map_home(m, key);

    while (m->entry[at].value != WR_MAP_NONE && m->entry[at].key != key)
        at = map_next(m, at);
    return at;
}

static uint32_t map_empty_place(const struct wr_map *m, uint64_t key)
{
    uint32_t at = map_home(m, key);

    while (m->entry[at].value != WR_MAP_NONE)
        at = map_next(m, at);
    return at;
}

/* Makes every value WR_MAP_NONE: all bits are set. */
static void map_empty_all(struct wr_map *m)
{
    memset(m->entry, 0xff, m->cap * sizeof *m->entry);
}

/* Before an entry is added: afterwards at most half of the places are used. */
static void map_reserve(struct wr_map *m)
{
    struct wr_map old = *m;

    if (2 * (old.n + 1) <= old.cap)
        return;
    assert(old.cap <= UINT32_MAX / 2);
    m->cap = old.cap ? 2 * old.cap : MAP_FIRST_CAP;
    m->entry = wr_alloc(m->cap * sizeof *m->entry);
    map_empty_all(m);
    for (uint32_t i = 0; i < old.cap; i++)
        if (old.entry[i].value != WR_MAP_NONE)
            m->entry[map_empty_place(m, old.entry[i].key)] = old.entry[i];
    free(old.entry);
}

uint64_t wr_map_get(const struct wr_map *m, uint64_t key)
{
    return m->n ? m->entry[map_place(m, key)].value : WR_MAP_NONE;
}

uint64_t *wr_map_at(struct wr_map *m, uint64_t key)
{
    map_reserve(m);
    struct wr_map_entry *e = &m->entry[map_place(m, key)];

    if (e->value == WR_MAP_NONE) {
        *e = (struct wr_map_entry){.key = key};
        m->n++;
    }
    return &e->value;
}

bool wr_map_remove(struct wr_map *m, uint64_t key)
{
    uint32_t gap = m->n ? map_place(m, key) : 0;

    if (!m->n || m->entry[gap].value == WR_MAP_NONE)
        return false;
    m->n--;
    for (uint32_t at = map_next(m, gap); m->entry[at].value != WR_MAP_NONE; at = map_next(m, at)) {
        uint32_t mask = m->cap - 1, home = map_home(m, m->entry[at].key);

        if (((at - home) & mask) < ((at - gap) & mask))
            continue; /* its home lies behind the gap */
        m->entry[gap] = m->entry[at];
        gap = at;
    }
    m->entry[gap].value = WR_MAP_NONE;
    return true;
}

uint64_t wr_map_find(const struct wr_map *m, uint64_t hash, wr_map_same *same, const void *ctx)
{
    assert(same);
    if (!m->n)
        return WR_MAP_NONE;
    for (uint32_t at = map_home(m, hash); m->entry[at].value != WR_MAP_NONE; at = map_next(m, at))
        if (m->entry[at].key == hash && same(ctx, m->entry[at].value))
            return m->entry[at].value;
    return WR_MAP_NONE;
}

void wr_map_add(struct wr_map *m, uint64_t hash, uint64_t index)
{
    assert(index != WR_MAP_NONE);
    map_reserve(m);
    m->entry[map_empty_place(m, hash)] = (struct wr_map_entry){hash, index};
    m->n++;
}

void wr_map_clear(struct wr_map *m)
{
    if (m->n)
        map_empty_all(m);
    m->n = 0;
}

void wr_map_fini(struct wr_map *m)
{
    free(m->entry);
    *m = (struct wr_map){0};
}
