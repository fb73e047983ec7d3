/* topo_fat_tree.h -- levels and subtrees of a fat tree.
 *
 *   level 2        [ ]   [ ]   [ ]   [ ]        top switches
 *                   |  X  |     |  X  |
 *   level 1      [ ] [ ]         [ ] [ ]
 *                 |X|             |X|           one pod below each child of the top
 *   level 0      [ ] [ ]         [ ] [ ]        leaf switches
 *                 |||  |||        |||  |||      terminals
 *
 * A switch of level l is (l, below, copy): `below` numbers the subtree it is
 * the root of, 0 .. subtrees-1, `copy` which of the equal roots of that subtree
 * it is. Ports: downward 0..down-1, then upward.
 *
 *   router = base[l] + below * copies[l] + copy     leaves come first
 */
#ifndef NET_TOPO_TOPO_FAT_TREE_H
#define NET_TOPO_TOPO_FAT_TREE_H

#include <stdint.h>

#include "net/topo/topo.h"

extern const struct topo_ops topo_fat_tree;

enum { TOPO_MAX_LEVELS = 8 };

/* The user's numbers: radix and what follows it, or the lists. */
struct topo_fat_tree_params {
    uint32_t radix, levels, nodes, uplinks, pods;
    struct conf_list down, up, width; /* uint32_t, leaf level first */
};

struct topo_level {
    uint32_t down, up;       /* ports in each direction */
    uint32_t width;          /* parallel cables to each parent */
    uint32_t children;       /* switches below (level 0: terminals) */
    uint32_t parents;        /* switches above; 0 at the top */
    uint32_t subtrees;       /* how many `below` there are */
    uint32_t copies;         /* roots of each */
    uint32_t base;           /* the level's first router */
    uint32_t leaves_per_sub; /* leaf switches in each subtree */
};

struct topo_tree {
    uint32_t nlevels;
    struct topo_level level[TOPO_MAX_LEVELS];
    uint32_t narrowest; /* the level with the fewest cables above it */
};

/* NULL when the topology is not a fat tree. */
const struct topo_tree *topo_tree(const struct topo *t);

struct topo_switch {
    uint32_t level, below, copy;
};

static inline struct topo_switch topo_tree_switch(const struct topo_tree *f, uint32_t router)
{
    uint32_t l = f->nlevels - 1;

    while (router < f->level[l].base)
        l--;
    uint32_t i = router - f->level[l].base;

    return (struct topo_switch){l, i / f->level[l].copies, i % f->level[l].copies};
}

#endif
