/* paths.c -- breadth-first search from 64 routers at once, and tables of hops built by it.
 *
 * One word per router has a bit for each source of the search (Then et al., "The more the merrier:
 * efficient multi-source graph traversal", VLDB 2014).
 */
#include "net/topo/paths.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

/* The frontier of a search: routers reached in one step, each once, and from which sources. */
struct front {
    uint64_t *who; /* [nrouters], 0 when not in the list */
    uint32_t *list, n;
};

static void paths_step(const struct topo *t, uint64_t *seen, struct front *now, struct front *then)
{
    for (uint32_t i = 0; i < now->n; i++) {
        uint32_t r = now->list[i];
        const struct topo_port *port = topo_port(t, r, 0);

        for (uint32_t p = 0; p < t->nports; p++) {
            if (port[p].kind != TOPO_ROUTER)
                continue;
            uint32_t peer = port[p].peer;
            uint64_t fresh = now->who[r] & ~seen[peer];

            if (!fresh)
                continue;
            if (!then->who[peer])
                then->list[then->n++] = peer;
            then->who[peer] |= fresh;
        }
    }
    for (uint32_t i = 0; i < now->n; i++)
        now->who[now->list[i]] = 0;
    now->n = 0;
    /* After the loop: two routers of one frontier may reach a third for the same source. */
    for (uint32_t i = 0; i < then->n; i++)
        seen[then->list[i]] |= then->who[then->list[i]];
}

void topo_search(const struct topo *t, const uint32_t *sources, uint32_t n, topo_visit *visit,
                 void *arg)
{
    uint64_t *words = wr_zalloc(3 * (size_t)t->nrouters, sizeof *words);
    uint32_t *lists = wr_alloc(2 * (size_t)t->nrouters * sizeof *lists);
    uint64_t *seen = words + 2 * (size_t)t->nrouters;
    struct front front[2] = {{.who = words, .list = lists},
                             {.who = words + t->nrouters, .list = lists + t->nrouters}};
    struct front *now = &front[0], *then = &front[1];

    assert(n <= 64);
    for (uint32_t i = 0; i < n; i++) {
        if (!now->who[sources[i]])
            now->list[now->n++] = sources[i];
        now->who[sources[i]] |= UINT64_C(1) << i;
        seen[sources[i]] = now->who[sources[i]];
    }
    for (uint32_t hops = 0; now->n; hops++) {
        for (uint32_t i = 0; i < now->n; i++)
            visit(arg, now->list[i], now->who[now->list[i]], hops);
        paths_step(t, seen, now, then);
        struct front *swap = now;
        now = then;
        then = swap;
    }
    free(words);
    free(lists);
}

struct filling {
    struct topo_paths *paths;
    uint32_t first; /* the router of bit 0 */
};

static void paths_store_hops(void *arg, uint32_t router, uint64_t who, uint32_t hops)
{
    struct filling *f = arg;
    struct topo_paths *p = f->paths;

    if (hops > p->diameter)
        p->diameter = hops;
    for (; who; who &= who - 1) {
        uint64_t dst = f->first + (uint32_t)__builtin_ctzll(who);
        uint64_t at = dst * p->topo->nrouters + router;

        if (p->hops8)
            p->hops8[at] = (uint8_t)(hops < UINT8_MAX ? hops : UINT8_MAX);
        else
            p->hops16[at] = (uint16_t)(hops < UINT16_MAX ? hops : UINT16_MAX);
    }
}

static void paths_fill(struct topo_paths *p)
{
    uint32_t n = p->topo->nrouters;

    p->diameter = 0;
    for (uint32_t first = 0; first < n; first += 64) {
        uint32_t sources[64] = {0}, count = n - first < 64 ? n - first : 64;
        struct filling f = {.paths = p, .first = first};

        for (uint32_t i = 0; i < count; i++)
            sources[i] = first + i;
        topo_search(p->topo, sources, count, paths_store_hops, &f);
    }
}

/* May tables of `width` bytes an entry be built? */
static bool paths_affordable(const struct topo *t, uint64_t width, struct wr_err *err)
{
    uint64_t bytes = (uint64_t)t->nrouters * t->nrouters * width;

    if (bytes <= TOPO_PATHS_MAX_BYTES)
        return true;
    return wr_fail(err, WR_INPUT,
                   "shortest-path tables for %u routers need %llu MiB, at most %llu MiB are "
                   "allowed; use a topology with a closed form and no failures, or fewer routers",
                   t->nrouters, (unsigned long long)(bytes >> 20),
                   (unsigned long long)(TOPO_PATHS_MAX_BYTES >> 20));
}

bool topo_paths_build(struct topo_paths *ret, const struct topo *t, struct wr_err *err)
{
    assert(t->nrouters);
    struct topo_paths p = {.topo = t};
    size_t entries = (size_t)t->nrouters * t->nrouters;

    if (!paths_affordable(t, 1, err))
        return false;
    p.hops8 = wr_alloc(entries);
    memset(p.hops8, 0xff, entries);
    paths_fill(&p);
    if (p.diameter >= UINT8_MAX) {
        free(p.hops8);
        p.hops8 = NULL;
        if (!paths_affordable(t, 2, err))
            return false;
        p.hops16 = wr_alloc(entries * 2);
        memset(p.hops16, 0xff, entries * 2);
        paths_fill(&p);
        assert(p.diameter < UINT16_MAX); /* 32,000 routers at most fit the tables */
    }
    *ret = p;
    return true;
}

void topo_paths_free(struct topo_paths *p)
{
    free(p->hops8);
    free(p->hops16);
    *p = (struct topo_paths){0};
}

uint32_t topo_paths_next(const struct topo_paths *p, uint32_t here, uint32_t dst, uint16_t *ports)
{
    const struct topo *t = p->topo;

    wr_check(here < t->nrouters && dst < t->nrouters && here != dst);
    const struct topo_port *port = topo_port(t, here, 0);
    uint32_t hops = topo_paths_hops(p, here, dst), n = 0;

    if (hops == TOPO_NONE)
        return 0;
    for (uint32_t i = 0; i < t->nports && n < TOPO_MAX_NEXT; i++)
        if (port[i].kind == TOPO_ROUTER && topo_paths_hops(p, port[i].peer, dst) + 1 == hops)
            ports[n++] = (uint16_t)i;
    return n;
}
