/* route_groups_priv.h -- a machine of groups (dragonflies) as routings see it.
 *
 *   here --local--> gateway ==global==> router --local--> destination
 *
 * Everything is read off the wiring once: the port from each router to each
 * other of its group, and the global links ("ways") that bring a packet from
 * one group nearer to another. So a failed cable is simply not there: a local
 * walk becomes longer, a pair of groups is joined through a third.
 *
 * A packet's path is a sequence of segments, the local hops it makes in one
 * group, with a global link after each but the last. How far it is travels in
 * route_pkt.state:
 *
 *   bit 7      last phase: on its way to the destination, not to `mid`
 *   bits 6..4  local hops made in this segment
 *   bits 3..0  segment
 */
#ifndef NET_ROUTE_GROUPS_PRIV_H
#define NET_ROUTE_GROUPS_PRIV_H

#include "net/route/route.h"
#include "net/route/route_params.h"
#include "route_vc_priv.h"

enum {
    GROUPS_LAST = 0x80,
    GROUPS_LOCAL = 0x10, /* one local hop */
    GROUPS_SEGMENT = 0x0f,
    GROUPS_MAX_LOCAL = 7,
};

/* How local hops inside one segment are kept from waiting for each other in a circle. */
enum groups_shape {
    GROUPS_DIRECT,  /* every two routers of a group share a cable: one hop, nothing to order */
    GROUPS_CLASSES, /* at most two hops, of ascending link class (rows before columns) */
    GROUPS_LEAVES,  /* leaves and spines: up before down; see route_vc.c */
    GROUPS_COUNTED, /* anything else: a channel per hop */
};

struct groups_way {
    uint32_t from; /* the router where the global link starts */
    uint16_t port; /* of it */
    uint16_t slot; /* of it in its group */
    uint16_t land; /* slot of the router at the other end, in that one's group */
};

struct groups_exit {
    uint32_t group; /* where this global link leads */
    uint16_t port;
};

/* The wiring of a machine of groups, as routings need it. Constant after groups_init(). */
struct route_groups {
    const struct topo *topo;
    const uint32_t *group; /* of a router */
    uint16_t *slot;        /* a router's index in its group */
    uint32_t ngroups;
    uint32_t nslots; /* routers of the largest group */

    uint16_t *local;       /* [nrouters * nslots] first port towards a router of the group */
    uint8_t *dist;         /* the same, hops; UINT8_MAX: not there */
    uint32_t *local_first; /* where several ports do: [nrouters * nslots + 1] into local_port */
    uint16_t *local_port;  /* both NULL when there is never a choice */

    struct groups_way *way; /* from a group nearer to another */
    uint32_t *way_first;    /* [ngroups * ngroups + 1] into way */
    bool one_way;           /* way[from * ngroups + to] is the only one */
    bool only;              /* nor is there ever a choice of local ports: one path to anywhere */
    bool alike;        /* ... and what holds for the first group holds for all: groups_alike() */
    uint64_t per_slot; /* 2^64 / nslots, rounded up: divides any 32-bit number by nslots > 1 */

    uint32_t *exit_first; /* [nrouters + 1] into exit */
    struct groups_exit *exit;
    uint8_t *exits_differ; /* [nrouters] global links to two groups or more */

    enum groups_shape shape;
    uint32_t local_hops;  /* longest walk inside a group */
    uint32_t global_hops; /* most global links on a minimal path */
    uint32_t seg_vcs;     /* channels that one segment needs */
    uint32_t choice;      /* enum route_choice */
    struct route_group_vcs vcs;
};

/* Reads the wiring; fails when live routers of a group cannot reach each other
 * inside it or a group cannot reach another. */
bool groups_init(struct route_groups *g, const struct topo *t, uint32_t choice, struct wr_err *err);
void groups_fini(struct route_groups *g);

/* Numbers the channels for paths of up to `segments` groups. The study's scheme is for
 * whole machines; after failures, which lengthen paths, segments are counted. */
bool groups_channels(struct route_groups *g, uint32_t channels, uint32_t segments,
                     struct wr_err *err);
/* Most hops of a path with so many global links. */
uint32_t groups_max_hops(const struct route_groups *g, uint32_t globals);

/* What a decision may look at. */
struct groups_ask {
    uint32_t here;
    uint32_t dst; /* the packet's destination, for the fixed choice */
    const struct route_view *view;
    struct wr_rng *rng;
};

/* Four words: stays in registers. */
struct groups_step {
    uint32_t port;
    uint32_t way;      /* to remember in route_pkt.way */
    uint32_t crosses;  /* takes a global link */
    uint32_t arriving; /* here is already in the group */
};

uint16_t groups_pick_local(const struct route_groups *g, const struct groups_ask *ask,
                           uint64_t cell);
/* Which of a list of ways, from 1; `way` is what the last step gave. */
uint16_t groups_pick_way(const struct route_groups *g, const struct groups_ask *ask, uint32_t list,
                         uint32_t to, uint16_t way);

/* Is there one next step towards `group` only, whatever loads are and whatever is drawn? */
bool groups_certain(const struct route_groups *g, uint32_t here, uint32_t group, uint16_t way);

/* The port towards router `slot` of the own group. */
static inline uint16_t groups_local(const struct route_groups *g, const struct groups_ask *ask,
                                    uint32_t slot)
{
    uint64_t cell = (uint64_t)ask->here * g->nslots + slot;

    return g->local_first ? groups_pick_local(g, ask, cell) : g->local[cell];
}

static inline uint32_t groups_div(const struct route_groups *g, uint32_t router)
{
    return (uint32_t)((unsigned __int128)router * g->per_slot >> 64);
}

static inline uint32_t groups_of_router(const struct route_groups *g, uint32_t router)
{
    return g->alike ? groups_div(g, router) : g->group[router];
}

/* groups_toward() where g->alike: only what is said of the first group is read, which is little
 * however large the machine is. */
static inline __attribute__((always_inline)) struct groups_step groups_alike(
    const struct route_groups *g, uint32_t here, uint32_t group, uint32_t to)
{
    uint32_t mine = groups_div(g, here), first = mine * g->nslots, slot = here - first;
    const uint16_t *local = g->local + slot * g->nslots;

    if (mine == group)
        return (struct groups_step){.port = local[to - first], .arriving = true};
    const struct groups_way *w = &g->way[group - mine + (group < mine ? g->ngroups : 0)];

    if (w->slot == slot)
        return (struct groups_step){.port = w->port, .crosses = true};
    return (struct groups_step){.port = local[w->slot]};
}

/* groups_toward() where g->only. */
static inline __attribute__((always_inline)) struct groups_step groups_only(
    const struct route_groups *g, uint32_t here, uint32_t group, uint32_t to)
{
    if (g->alike)
        return groups_alike(g, here, group, to);
    const uint16_t *local = g->local + (uint64_t)here * g->nslots;
    uint32_t mine = g->group[here];

    if (mine == group)
        return (struct groups_step){.port = local[g->slot[to]], .arriving = true};
    const struct groups_way *w = &g->way[mine * g->ngroups + group];

    if (w->from == here)
        return (struct groups_step){.port = w->port, .crosses = true};
    return (struct groups_step){.port = local[w->slot]};
}

/* The next step towards `group`, and there towards `to` (ROUTE_NONE: any of its
 * routers; then `here` is not in it). `way` is what the last step gave. */
static inline __attribute__((always_inline)) struct groups_step groups_toward(
    const struct route_groups *g, const struct groups_ask *ask, uint32_t group, uint32_t to,
    uint16_t way)
{
    uint32_t mine = g->group[ask->here];

    if (mine == group)
        return (struct groups_step){.port = groups_local(g, ask, g->slot[to]), .arriving = true};
    uint32_t list = mine * g->ngroups + group;

    way = g->one_way ? 0 : groups_pick_way(g, ask, list, to, way);
    const struct groups_way *w = way ? &g->way[g->way_first[list] + way - 1] : &g->way[list];

    if (w->from == ask->here)
        return (struct groups_step){.port = w->port, .crosses = true};
    return (struct groups_step){.port = groups_local(g, ask, w->slot), .way = way};
}

/* The channel for a step, and the packet's state after it. */
static inline struct route_hop groups_take(const struct route_groups *g, struct route_pkt *p,
                                           struct groups_step s, bool at_home)
{
    struct route_hop hop = {.port = (uint16_t)s.port, .vc = g->vcs.vc[at_home][p->state]};

    p->way = (uint16_t)s.way;
    if (s.crosses)
        p->state = (uint8_t)((p->state & (GROUPS_LAST | GROUPS_SEGMENT)) + 1);
    else
        p->state = (uint8_t)(p->state + GROUPS_LOCAL);
    return hop;
}

/* A group that is neither of the two, each as likely; ROUTE_NONE if there is none. */
uint32_t groups_draw(const struct route_groups *g, struct wr_rng *rng, uint32_t a, uint32_t b);

/* Hops of the path that groups_toward would take from `from` to `to`. */
uint32_t groups_hops(const struct route_groups *g, uint32_t from, uint32_t to);
/* The same to the nearest router of a group, and that router. */
uint32_t groups_enter(const struct route_groups *g, uint32_t from, uint32_t group,
                      uint32_t *ret_router);

#endif
