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

#endif
