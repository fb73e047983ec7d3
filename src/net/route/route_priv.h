/* route_priv.h -- the routings of the table, and what several of them share. */
#ifndef NET_ROUTE_ROUTE_PRIV_H
#define NET_ROUTE_ROUTE_PRIV_H

#include "net/route/route.h"
#include "net/route/route_params.h"

extern const struct route_ops route_minimal;
extern const struct route_ops route_par;

extern const char *const route_weight_names[]; /* enum route_weight */

/* Stay minimal? Loads in bytes, hops of the whole paths. */
static inline bool route_rule_minimal(const struct route_rule *rule, uint32_t q_min, uint32_t h_min,
                                      uint32_t q_non, uint32_t h_non)
{
    double min = q_min, non = q_non;

    if (rule->weight == ROUTE_BY_HOPS) {
        min *= h_min;
        non *= h_non;
    }
    return min <= rule->factor * non + (double)rule->bias;
}

#endif
