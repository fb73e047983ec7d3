/* cut.h -- divides a machine into two halves and counts the cables between them. */
#ifndef NET_TOPO_CUT_H
#define NET_TOPO_CUT_H

#include <stdint.h>

#include "net/topo/topo.h"

struct topo_cut {
    uint64_t cables; /* live cables between the halves */
    uint64_t of_class[TOPO_MAX_CLASSES];
    uint64_t terms[2]; /* terminals in each half */
};

/* The topology's own halving (ops->half), or else the first half of the
 * terminals against the second, routers without terminals going where most of
 * their cables go. The halves are equal when the sizes allow it; the cables
 * between them bound the bisection from above. */
void topo_halve(const struct topo *t, struct topo_cut *ret);

#endif
