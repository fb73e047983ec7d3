/* fail.h -- cables and routers that are declared dead.
 *
 * Applied to a built topology before any other module reads it. A dead port keeps its
 * peer and class but is TOPO_DEAD, so nothing goes through it; a dead router
 * takes its terminals with it. The gateways of families of groups are listed
 * again without the dead ones, and t->nfailed says that closed forms are off.
 */
#ifndef NET_TOPO_FAIL_H
#define NET_TOPO_FAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "net/topo/topo.h"

struct topo_failure {
    uint32_t a;
    uint32_t b;      /* the router at the cable's other end; TOPO_NONE: router a itself */
    uint32_t cables; /* how many of those between a and b, lowest port first; 0: all */
};

/* All or nothing: a failure that names no such router or cable is refused. */
bool topo_fail(struct topo *t, const struct topo_failure *v, size_t n, struct wr_err *err);

/* A router by name ("g3r7", a name of a topology file) or number. */
bool topo_router_by_name(const struct topo *t, const char *name, uint32_t *ret, struct wr_err *err);

/* Is this terminal's router alive? */
static inline bool topo_term_alive(const struct topo *t, uint32_t term)
{
    return topo_port(t, t->term[term].router, t->term[term].port)->kind == TOPO_TERMINAL;
}

/* Which routers still reach each other: component[r] counts from 0 in the order of
 * routers; returns the number of components. A dead router is a component of its own. */
uint32_t topo_components(const struct topo *t, uint32_t *component);

/* Unordered pairs of live terminals with no live path; the first few by name
 * are appended to `names` (may be NULL), one pair per line. */
uint64_t topo_cut_pairs(const struct topo *t, struct wr_str *names);

/* Fails with the pairs that are cut off, if any. */
bool topo_check_joined(const struct topo *t, struct wr_err *err);

#endif
