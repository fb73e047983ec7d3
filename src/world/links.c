/* links.c -- time slices of the links between and within groups: for how long they were sending,
 * and for how long packets waited for them. Links of the same two groups are taken together, so
 * that a machine of thousands of links has as many series as it has pairs of groups, and only those
 * that were used.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "world_priv.h"

enum { FEWEST_GROUPS = 3, MOST_GROUPS = 128 };
enum { PAIR_BUSY, PAIR_SATURATED, PAIR_METRICS };

static const char *const metrics[] = {
    [PAIR_BUSY] = "busy_time", [PAIR_SATURATED] = "saturated_time"};

struct world_pair {
    uint64_t before[PAIR_METRICS], now[PAIR_METRICS]; /* ps, summed over links */
    uint32_t series[PAIR_METRICS];
    bool open;
};

void world_links_open(struct world *w)
{
    size_t n = w->network.topo.ngroups;

    if (n >= FEWEST_GROUPS && n <= MOST_GROUPS)
        w->pair = wr_zalloc(n * n, sizeof *w->pair);
}

static void links_add_up(struct world *w)
{
    const struct topo *t = &w->network.topo;

    for (size_t i = 0; i < (size_t)t->ngroups * t->ngroups; i++)
        for (int m = 0; m < PAIR_METRICS; m++)
            w->pair[i].now[m] = 0;
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, r, p);
            struct net_link_stat s;

            if (port->kind != TOPO_ROUTER)
                continue;
            net_link_stat(w->net, r, p, &s);
            struct world_pair *pair =
                &w->pair[(size_t)t->group[r] * t->ngroups + t->group[port->peer]];
            pair->now[PAIR_BUSY] += s.busy_ps;
            pair->now[PAIR_SATURATED] += s.saturated_ps;
        }
}

static bool links_open_pair(struct world *w, struct run *run, size_t i, struct wr_err *err)
{
    struct world_pair *p = &w->pair[i];
    char entity[48];

    snprintf(entity, sizeof entity, "links:%zu>%zu", i / w->network.topo.ngroups,
             i % w->network.topo.ngroups);
    for (int m = 0; m < PAIR_METRICS; m++)
        if (!run_open_series(
                run, &(struct run_series){entity, metrics[m], "ns", (int64_t)w->c->slice_ps},
                &p->series[m], err))
            return false;
    p->open = true;
    return true;
}

/* A slice in which nothing happened is left out. */
bool world_links_put(struct world *w, struct run *run, uint64_t t_ps, struct wr_err *err)
{
    int64_t dt = (int64_t)w->c->slice_ps, from = (int64_t)t_ps - dt;
    size_t n = w->network.topo.ngroups;

    if (!w->pair)
        return true;
    links_add_up(w);
    for (size_t i = 0; i < n * n; i++)
        for (int m = 0; m < PAIR_METRICS; m++) {
            struct world_pair *p = &w->pair[i];
            uint64_t ps = p->now[m] - p->before[m];

            p->before[m] = p->now[m];
            if (!ps)
                continue;
            if ((!p->open && !links_open_pair(w, run, i, err)) ||
                !run_put_slice(run, p->series[m], from, dt, (double)ps / 1e3, err))
                return false;
        }
    return true;
}

void world_links_close(struct world *w)
{
    free(w->pair);
    w->pair = NULL;
}
