/* route_pick.c -- chooses one of several equally good ports: fixed, random or least loaded. */
#include "route_pick_priv.h"

#include "base/check.h"

uint16_t route_pick_port(uint32_t choice, const uint16_t *ports, uint32_t n, uint32_t here,
                         uint32_t key, const struct route_view *view, struct wr_rng *rng)
{
    wr_check(n);
    if (n == 1)
        return ports[0];
    uint32_t at = route_pick_start(choice, here, key, n, rng);

    if (choice != ROUTE_LEAST)
        return ports[at];
    uint16_t best = ports[at];
    uint32_t load = view->load(view, here, best);

    for (uint32_t i = 1; i < n && load; i++) {
        if (++at == n)
            at = 0;
        uint32_t l = view->load(view, here, ports[at]);

        if (l < load) {
            load = l;
            best = ports[at];
        }
    }
    return best;
}
