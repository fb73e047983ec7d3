/* route_params.h -- the settings of every routing, as its rows fill them.
 *
 * The rows are beside each routing's code; the structs are here so that a
 * caller without a configuration file can write one down.
 */
#ifndef NET_ROUTE_ROUTE_PARAMS_H
#define NET_ROUTE_ROUTE_PARAMS_H

#include <stdint.h>

/* Among equally good ports. */
enum route_choice {
    ROUTE_FIXED,  /* always the same one for a destination */
    ROUTE_RANDOM, /* drawn per packet and router */
    ROUTE_LEAST,  /* the least loaded, ties drawn */
};

/* Channels of machines of groups; see route_vc.c. */
enum route_channels {
    ROUTE_STUDY, /* 4: source group 0 then 1, intermediate 2, destination 3 */
    ROUTE_PHASE, /* one per group visited */
};

/* What a load is multiplied with before minimal and non-minimal are compared. */
enum route_weight {
    ROUTE_BY_PORT, /* 1: the bytes at the port */
    ROUTE_BY_HOPS, /* the hops of the whole path */
};

struct route_minimal_params {
    uint32_t choice;   /* enum route_choice */
    uint32_t channels; /* enum route_channels */
};

/* Stay minimal if  q_min * w_min <= factor * q_non * w_non + bias. */
struct route_rule {
    double factor;
    uint64_t bias;   /* bytes */
    uint32_t weight; /* enum route_weight */
};

struct route_par_params {
    struct route_rule rule;
    uint32_t choice;
    uint32_t channels;
};

/* Which intermediates are drawn. */
enum route_via {
    ROUTE_VIA_AUTO,  /* a group if the machine has groups, else a router */
    ROUTE_VIA_GROUP, /* a third group, anywhere in it */
    ROUTE_VIA_ROUTER,
    ROUTE_VIA_NODE, /* its router: one with more nodes is drawn more often */
};

struct route_valiant_params {
    uint32_t via;    /* enum route_via */
    uint32_t choice; /* enum route_choice */
};

/* What UGAL-G takes for the load of a path. */
enum route_measure {
    ROUTE_MEASURE_AUTO,    /* gateway if the machine has groups, else path */
    ROUTE_MEASURE_GATEWAY, /* the global link by which it leaves the source group */
    ROUTE_MEASURE_PATH,    /* all its links */
};

struct route_ugal_params {
    struct route_rule rule;
    uint32_t via;     /* enum route_via */
    uint32_t choice;  /* enum route_choice */
    uint32_t measure; /* enum route_measure; UGAL-G only */
};

/* dimension-order and table */
struct route_plain_params {
    uint32_t choice; /* enum route_choice */
};

/* Among the ways up. */
enum route_updown_choice {
    ROUTE_UPDOWN_ECMP,   /* by a hash of source and destination: a flow keeps its path */
    ROUTE_UPDOWN_RANDOM, /* drawn per packet and router */
    ROUTE_UPDOWN_LEAST,  /* the least loaded */
};

struct route_updown_params {
    uint32_t choice; /* enum route_updown_choice */
};

#endif
