/* topo.h -- a topology is wiring: which port is plugged into which.
 *
 * It knows nothing of packets, time or queues. Built once, read-only
 * afterwards, so every worker may ask it anything.
 *
 *   terminal t --- term[t] = {router, port}
 *   router r, port p --- port[r * nports + p] = {peer, peer_port, class, kind}
 *
 * A cable has two ends and carries one link each way. A terminal is where a
 * NIC is plugged in; a node with several rails owns several terminals.
 */
#ifndef NET_TOPO_TOPO_H
#define NET_TOPO_TOPO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "conf/conf.h"

enum topo_port_kind { TOPO_EMPTY, TOPO_TERMINAL, TOPO_ROUTER };

/* Link classes: the first two are every topology's; its own follow. */
enum { TOPO_INJECT, TOPO_EJECT, TOPO_OWN };
enum { TOPO_MAX_CLASSES = 8, TOPO_MAX_NEXT = 64 };

struct topo_port {
    uint32_t peer;      /* router or terminal */
    uint16_t peer_port; /* on a terminal: 0 */
    uint8_t cls;        /* link class of the outgoing link */
    uint8_t kind;       /* enum topo_port_kind */
};

struct topo_end {
    uint32_t router;
    uint16_t port;
};

struct topo {
    const struct topo_ops *ops;
    const void *params;
    uint32_t nterms, nrouters, nports; /* nports: of the largest router */
    uint32_t ngroups;                  /* what the topology calls a group, pod, ...; at least 1 */
    const char *class_name[TOPO_MAX_CLASSES];
    uint32_t nclasses;
    struct topo_port *port; /* [nrouters * nports] */
    struct topo_end *term;  /* [nterms] */
    uint32_t *group;        /* [nrouters] */
    void *priv;             /* the topology's own: coordinates, tables; freed by fini */
};

/* Closed forms a textbook gives for this topology, to check the wiring against.
 * 0 where there is none. Bisection in cables (links each way), for equal halves. */
struct topo_facts {
    uint64_t terminals, routers, cables; /* cables between routers */
    uint32_t degree;   /* router-to-router ports used on every router, 0: varies */
    uint32_t diameter; /* router-to-router hops */
    uint64_t bisection;
};

struct topo_ops {
    struct conf_kind kind; /* name, summary, rows, params_size */
    /* Fill everything above from t->params; topo_open has set ops and params.
     * Numbers that do not fit are refused with what would. */
    bool (*build)(struct topo *t, struct wr_err *err);
    void (*fini)(struct topo *t); /* priv only; may be NULL */
    /* The ports of `here` that lead minimally towards `dst` (here != dst), by
     * closed form, always in the same order; how many. NULL: tables are used. */
    uint32_t (*next)(const struct topo *t, uint32_t here, uint32_t dst, uint16_t *ports);
    void (*facts)(const struct topo *t, struct topo_facts *ret); /* may be NULL */
};

extern const struct topo_ops *const topo_table[];  /* ends with NULL */
extern const struct conf_kind *const topo_kinds[]; /* the same, for conf rows */

/* For build functions: allocate the tables, then plug cables and terminals.
 * topo_cable and topo_attach assert that a port is used once. */
void topo_alloc(struct topo *t, uint32_t nrouters, uint32_t nports, uint32_t nterms,
                uint32_t ngroups);
void topo_cable(struct topo *t, struct topo_end a, struct topo_end b, uint8_t cls);
void topo_attach(struct topo *t, uint32_t term, struct topo_end at);

bool topo_open(struct topo *ret, const struct topo_ops *ops, const void *params,
               struct wr_err *err);
void topo_close(struct topo *t);

static inline const struct topo_port *topo_port(const struct topo *t, uint32_t router,
                                                uint32_t port)
{
    return &t->port[(uint64_t)router * t->nports + port];
}

#endif
