/* route_walk_priv.h -- a walk: always one hop nearer to a router.
 *
 * Walks of one kind cannot deadlock among themselves on their channels. A
 * routing that goes by an intermediate router walks twice, the second time on
 * channels above those of the first: `mid` and GROUPS_LAST in route_pkt say
 * which of the two walks it is.
 *
 *   groups   machines of groups: local, global, local     (route_groups_priv.h)
 *   grid     torus, mesh, hyperx in dimension order
 *   next     any shortest way, by the topology's closed form
 *   paths    any shortest way, from tables; also when cables failed
 */
#ifndef NET_ROUTE_WALK_PRIV_H
#define NET_ROUTE_WALK_PRIV_H

#include "net/topo/paths.h"
#include "net/topo/topo_grid.h"
#include "route_groups_priv.h"

struct walk_grid {
    const struct topo_grid *grid;
    uint32_t *coord; /* [nrouters * ndims] */
    bool all_to_all; /* hyperx: one hop per dimension */
};

/* How packets walk through a machine, minimally or over an intermediate. Constant after
 * walk_init_*(); one of the last three is used. */
struct route_walk {
    const struct topo *topo;
    /* The next hop of a packet towards router `to`, and how many there are: */
    struct route_hop (*hop)(const struct route_walk *w, struct route_pkt *p, uint32_t here,
                            uint32_t to, const struct route_view *view, struct wr_rng *rng);
    uint32_t (*hops)(const struct route_walk *w, uint32_t from, uint32_t to);
    uint32_t choice;   /* enum route_choice */
    uint32_t max_hops; /* of one walk */
    uint32_t nvcs;     /* of all walks */
    uint32_t second;   /* where the second walk's channels begin (groups: segments) */
    uint8_t turned;    /* route_pkt.state when the second walk begins */
    uint8_t straight;  /* the same of a packet with one walk only */
    bool counted;      /* the channel is the number of hops so far */
    struct route_groups groups;
    struct walk_grid grid;
    struct topo_paths paths;
};

/* Where a routing wants its intermediate to be. */
enum walk_turns { WALK_STRAIGHT, WALK_BY_ROUTER, WALK_BY_GROUP };

/* Each takes the topology or refuses with a reason. */
bool walk_init_groups(struct route_walk *w, const struct topo *t, uint32_t choice,
                      uint32_t channels, enum walk_turns turns, struct wr_err *err);
bool walk_init_grid(struct route_walk *w, const struct topo *t, uint32_t choice,
                    enum walk_turns turns, struct wr_err *err);
bool walk_init_any(struct route_walk *w, const struct topo *t, uint32_t choice,
                   enum walk_turns turns, struct wr_err *err);
bool walk_init_paths(struct route_walk *w, const struct topo *t, uint32_t choice,
                     enum walk_turns turns, struct wr_err *err);
void walk_fini(struct route_walk *w);

/* For a routing that is one walk: keep it as rt->priv, free it, ask it. */
typedef bool walk_init(struct route_walk *w, const struct topo *t, uint32_t choice,
                       enum walk_turns turns, struct wr_err *err);
extern const struct conf_row walk_plain_rows[]; /* of struct route_plain_params */
bool walk_open_plain(struct route *rt, walk_init *init, struct wr_err *err);
void walk_adopt(struct route *rt, const struct route_walk *w);
void walk_release(struct route *rt);
struct route_hop walk_decide(const struct route *rt, struct route_pkt *p, uint32_t here,
                             const struct route_view *view, struct wr_rng *rng);

#endif
