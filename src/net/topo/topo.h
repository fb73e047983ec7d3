/* topo.h -- a topology: which port is connected to which.
 *
 * It knows nothing of packets, time or queues. Built once and read-only afterwards, so that all
 * workers may read it. topo_fail (fail.h) is the only function that changes it, before routing.
 *
 *   terminal t --- term[t] = {router, port}
 *   router r, port p --- port[r * nports + p] = {peer, peer_port, class, kind}
 *
 * A cable has two ends and carries one link each way. A terminal is the connection of a NIC; a
 * node with several rails has several terminals.
 */
#ifndef NET_TOPO_TOPO_H
#define NET_TOPO_TOPO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "conf/conf.h"

/* A dead port keeps its peer, so that a failure can be named, and carries nothing. */
enum topo_port_kind { TOPO_EMPTY, TOPO_TERMINAL, TOPO_ROUTER, TOPO_DEAD };

/* Link classes: the first two are every topology's; its own follow. */
enum { TOPO_INJECT, TOPO_EJECT, TOPO_OWN };
enum { TOPO_MAX_CLASSES = 16, TOPO_MAX_NEXT = 256, TOPO_NAME_MAX = 64 };
#define TOPO_NONE UINT32_MAX

/* A port of a router: where its cable leads. */
struct topo_port {
    uint32_t peer;      /* router or terminal */
    uint16_t peer_port; /* on a terminal: 0 */
    uint8_t cls;        /* link class of the outgoing link */
    uint8_t kind;       /* enum topo_port_kind */
};

/* One end of a cable. */
struct topo_end {
    uint32_t router;
    uint16_t port;
};

/* A wired machine. Constant after topo_open(), and topo_fail() for what is declared dead. */
struct topo {
    const struct topo_ops *ops;
    const void *params;                /* of its kind; the caller's */
    uint32_t nterms, nrouters, nports; /* nports: of the largest router */
    uint32_t ngroups;                  /* what the topology calls a group, pod, ...; at least 1 */
    const char *class_name[TOPO_MAX_CLASSES]; /* of links */
    uint32_t nclasses;
    struct topo_port *port;         /* [nrouters * nports] */
    struct topo_end *term;          /* [nterms] */
    uint32_t *group;                /* [nrouters] */
    struct topo_gateways *gateways; /* cables between groups (gateway.h); NULL: no such family */
    uint32_t nfailed; /* cables and routers declared dead; not 0: closed forms no longer hold */
    void *priv;       /* the topology's own: coordinates, tables; freed by fini */
};

/* Closed forms of the literature for this topology, which tests compare with the wiring. 0: there
 * is none. Bisection in cables (links each way), for equal halves. */
struct topo_facts {
    uint64_t terminals, routers, cables; /* cables between routers */
    uint32_t degree;   /* router-to-router ports used on every router, 0: varies */
    uint32_t diameter; /* router-to-router hops between routers with terminals */
    uint64_t bisection;
};

/* What next() returns. A shortest path of a machine of groups may cross a third group; minimal
 * routing on such a machine never does. */
enum topo_minimal {
    TOPO_SHORTEST,  /* every shortest path, and nothing else */
    TOPO_ONE_CABLE, /* the shortest of the paths with no cable between groups (inside a
                       group) or exactly one (to another group) */
};

struct topo_ops {
    struct conf_kind kind; /* name, summary, rows, params_size */
    /* Fill everything above from t->params; topo_open has set ops and params.
     * Numbers that do not fit are refused with what would. */
    bool (*build)(struct topo *t, struct wr_err *err);
    void (*fini)(struct topo *t); /* priv only; may be NULL */
    /* The ports of `here` that lead minimally towards `dst` (here != dst), by
     * closed form, always in the same order; how many, at least 1 and at most
     * TOPO_MAX_NEXT (the first ones, if there are more). Each port once. Valid
     * while t->nfailed is 0. NULL: tables are used (paths.h). What "minimally"
     * means is `minimal`. */
    uint32_t (*next)(const struct topo *t, uint32_t here, uint32_t dst, uint16_t *ports);
    void (*facts)(const struct topo *t, struct topo_facts *ret); /* may be NULL */
    enum topo_minimal minimal;
    /* The natural halving cut: 0 or 1 for a router. NULL: by the terminals' order. */
    uint32_t (*half)(const struct topo *t, uint32_t router);
    /* The conventional name of a router, "g3r7"; NULL: "r" and its number. */
    void (*router_name)(const struct topo *t, uint32_t router, char name[TOPO_NAME_MAX]);
    void (*term_name)(const struct topo *t, uint32_t term, char name[TOPO_NAME_MAX]);
};

extern const struct topo_ops *const topo_table[];  /* ends with NULL */
extern const struct conf_kind *const topo_kinds[]; /* the same, for conf rows */

/* For build functions: refuse what would not fit in 16-bit ports or in memory,
 * saying which number to lower. */
bool topo_check_size(uint64_t nrouters, uint64_t nports, uint64_t nterms, struct wr_err *err);

/* For build functions: allocate the tables, then plug cables and terminals.
 * topo_cable and topo_attach assert that a port is used once. */
void topo_alloc(struct topo *t, uint32_t nrouters, uint32_t nports, uint32_t nterms,
                uint32_t ngroups);
void topo_cable(struct topo *t, struct topo_end a, struct topo_end b, uint8_t cls);
void topo_attach(struct topo *t, uint32_t term, struct topo_end at);

bool topo_open(struct topo *ret, const struct topo_ops *ops, const void *params,
               struct wr_err *err);
void topo_close(struct topo *t);

const struct topo_ops *topo_find(const char *name); /* NULL when there is none */

void topo_router_name(const struct topo *t, uint32_t router, char name[TOPO_NAME_MAX]);
void topo_term_name(const struct topo *t, uint32_t term, char name[TOPO_NAME_MAX]);

static inline const struct topo_port *topo_port(const struct topo *t, uint32_t router,
                                                uint32_t port)
{
    return &t->port[(uint64_t)router * t->nports + port];
}

#endif
