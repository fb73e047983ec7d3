/* cut.c -- assigns every router to one of two halves; see cut.h. Called by topo_describe. */
#include "net/topo/cut.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { UNDECIDED = 2, ROUNDS = 16 };

/* By the order of terminals: a router goes to the half of its terminals' mean. */
static void cut_place_by_terminals(const struct topo *t, uint8_t *side)
{
    for (uint32_t r = 0; r < t->nrouters; r++) {
        uint64_t sum = 0, n = 0;

        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, r, p);

            if (port->kind != TOPO_TERMINAL)
                continue;
            sum += port->peer;
            n++;
        }
        side[r] = !n ? UNDECIDED : 2 * sum > n * (t->nterms - 1);
    }
}

static uint8_t cut_majority(const struct topo *t, uint32_t r, const uint8_t *side)
{
    uint32_t votes[3] = {0};

    for (uint32_t p = 0; p < t->nports; p++) {
        const struct topo_port *port = topo_port(t, r, p);

        if (port->kind == TOPO_ROUTER)
            votes[side[port->peer]]++;
    }
    if (votes[0] == votes[1])
        return side[r];
    return votes[1] > votes[0];
}

/* Routers without terminals go to the half of most neighbours, from those next to terminals
 * inwards; a few rounds are enough for any machine with levels. */
static void cut_place_the_rest(const struct topo *t, uint8_t *side)
{
    uint8_t *fixed = wr_alloc(t->nrouters);
    bool changed = true;

    for (uint32_t r = 0; r < t->nrouters; r++)
        fixed[r] = side[r] != UNDECIDED;
    for (uint32_t round = 0; round < ROUNDS && changed; round++) {
        changed = false;
        for (uint32_t r = 0; r < t->nrouters; r++) {
            uint8_t to = fixed[r] ? side[r] : cut_majority(t, r, side);

            changed |= to != side[r];
            side[r] = to;
        }
    }
    /* As many neighbours in each half: both cost the same. */
    for (uint32_t r = 0; r < t->nrouters; r++)
        if (side[r] == UNDECIDED)
            side[r] = 0;
    free(fixed);
}

void topo_halve(const struct topo *t, struct topo_cut *ret)
{
    uint8_t *side = wr_alloc(t->nrouters);
    struct topo_cut cut = {0};

    if (t->ops->half) {
        for (uint32_t r = 0; r < t->nrouters; r++)
            side[r] = (uint8_t)t->ops->half(t, r);
    } else {
        cut_place_by_terminals(t, side);
        cut_place_the_rest(t, side);
    }
    for (uint32_t r = 0; r < t->nrouters; r++)
        assert(side[r] < 2);
    for (uint32_t i = 0; i < t->nterms; i++)
        cut.terms[side[t->term[i].router]]++;
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, r, p);

            if (port->kind == TOPO_ROUTER && port->peer > r && side[port->peer] != side[r]) {
                cut.cables++;
                cut.of_class[port->cls]++;
            }
        }
    free(side);
    *ret = cut;
}
