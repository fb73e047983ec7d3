/* route_priv.h -- the routings of the table, and what several of them share. */
#ifndef NET_ROUTE_ROUTE_PRIV_H
#define NET_ROUTE_ROUTE_PRIV_H

#include "net/route/route.h"
#include "net/route/route_params.h"

extern const struct route_ops route_minimal, route_valiant, route_ugal_l, route_ugal_g, route_par;
extern const struct route_ops route_dimension_order, route_updown, route_table_paths;

extern const char *const route_choice_names[];   /* enum route_choice */
extern const char *const route_channels_names[]; /* enum route_channels */
extern const char *const route_weight_names[];   /* enum route_weight */
extern const char *const route_via_names[];      /* enum route_via */

/* Rows that several routings have. */
#define ROUTE_ROW_CHOICE(at, preset)                                                              \
    {                                                                                             \
        .key = "choice", .type = CONF_CHOICE, .offset = at, .def = preset,                        \
        .names = route_choice_names,                                                              \
        .help = "Among equally short ways: always the same one for a destination, a random one, " \
                "or the least loaded."                                                            \
    }
#define ROUTE_ROW_CHANNELS(at)                                                             \
    {                                                                                      \
        .key = "channels", .type = CONF_CHOICE, .offset = at, .def = "study",              \
        .names = route_channels_names,                                                     \
        .help = "Virtual channels of a machine of groups: as the reference study numbers " \
                "them (4), or one for each group visited."                                 \
    }
#define ROUTE_ROW_VIA(at)                                                                         \
    {                                                                                             \
        .key = "via", .type = CONF_CHOICE, .offset = at, .def = "auto", .names = route_via_names, \
        .help = "Where the random intermediate is: a third group, a router, or a node's router; " \
                "auto: a group if there are groups, else a router."                               \
    }
#define ROUTE_ROW_FACTOR(at, preset)                                                   \
    {                                                                                  \
        .key = "factor", .type = CONF_REAL, .offset = at, .def = preset, .max = 1e6,   \
        .help = "Stay minimal while the minimal load is at most this often the other." \
    }
#define ROUTE_ROW_BIAS(at)                                                   \
    {                                                                        \
        .key = "bias", .type = CONF_BYTES, .offset = at, .def = "0 B",       \
        .help = "Added to the non-minimal load before the two are compared." \
    }
#define ROUTE_ROW_WEIGHT(at, preset)                                                      \
    {                                                                                     \
        .key = "weight", .type = CONF_CHOICE, .offset = at, .def = preset,                \
        .names = route_weight_names,                                                      \
        .help = "Compare the loads of the two ports, or each times the hops of its path." \
    }

/* Stay minimal? Loads in bytes, already weighted. */
static inline bool route_rule_minimal(const struct route_rule *rule, double q_min, double q_non)
{
    return q_min <= rule->factor * q_non + (double)rule->bias;
}

#endif
