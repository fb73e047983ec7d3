/* route_groups.c -- reads a machine of groups off its wiring. */
#include "route_groups_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FAR = UINT8_MAX };

static bool groups_is_local_port(const struct route_groups *g, uint32_t r,
                                 const struct topo_port *p)
{
    return p->kind == TOPO_ROUTER && g->group[p->peer] == g->group[r];
}

static bool groups_is_global(const struct route_groups *g, uint32_t r, const struct topo_port *p)
{
    return p->kind == TOPO_ROUTER && g->group[p->peer] != g->group[r];
}

/* Slots, and the members of each group in slot order: member[g * nslots + slot]. */
static uint32_t *groups_list_members(struct route_groups *g, uint32_t *size)
{
    const struct topo *t = g->topo;

    g->slot = wr_zalloc(t->nrouters, sizeof *g->slot);
    for (uint32_t r = 0; r < t->nrouters; r++) {
        g->slot[r] = (uint16_t)size[g->group[r]]++;
        if (size[g->group[r]] > g->nslots)
            g->nslots = size[g->group[r]];
    }
    uint32_t *member = wr_alloc((size_t)g->ngroups * g->nslots * sizeof *member);

    memset(member, 0xff, (size_t)g->ngroups * g->nslots * sizeof *member);
    for (uint32_t r = 0; r < t->nrouters; r++)
        member[(uint64_t)g->group[r] * g->nslots + g->slot[r]] = r;
    return member;
}

/* Breadth first from router `to` over the cables of its group, until all `size`
 * of it are met. A cable has two ends, so the distance from is the distance to. */
static void groups_measure_from(struct route_groups *g, uint32_t to, uint32_t size, uint32_t *queue)
{
    const struct topo *t = g->topo;
    uint32_t head = 0, tail = 0;
    uint16_t slot = g->slot[to];

    g->dist[(uint64_t)to * g->nslots + slot] = 0;
    queue[tail++] = to;
    while (head < tail && tail < size) {
        uint32_t r = queue[head++];
        uint8_t d = g->dist[(uint64_t)r * g->nslots + slot];

        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, r, p);
            uint8_t *far = &g->dist[(uint64_t)port->peer * g->nslots + slot];

            if (!groups_is_local_port(g, r, port) || *far != FAR)
                continue;
            *far = (uint8_t)(d + 1);
            queue[tail++] = port->peer;
        }
    }
}

static bool groups_is_dead(const struct topo *t, uint32_t r)
{
    for (uint32_t p = 0; p < t->nports; p++) {
        uint8_t kind = topo_port(t, r, p)->kind;

        if (kind == TOPO_ROUTER || kind == TOPO_TERMINAL)
            return false;
    }
    return true;
}

static bool groups_measure_locals(struct route_groups *g, const uint32_t *size,
                                  const uint32_t *member, struct wr_err *err)
{
    const struct topo *t = g->topo;
    size_t ncells = (size_t)t->nrouters * g->nslots;
    uint32_t *queue = wr_alloc(g->nslots * sizeof *queue);
    bool ok = true;

    g->dist = wr_alloc(ncells);
    memset(g->dist, FAR, ncells);
    for (uint32_t r = 0; r < t->nrouters; r++)
        groups_measure_from(g, r, size[g->group[r]], queue);
    for (uint32_t r = 0; ok && r < t->nrouters; r++)
        for (uint32_t s = 0; ok && s < g->nslots; s++) {
            uint32_t to = member[(uint64_t)g->group[r] * g->nslots + s];
            uint8_t d = g->dist[(uint64_t)r * g->nslots + s];

            if (d == FAR && to != ROUTE_NONE && !groups_is_dead(t, r) && !groups_is_dead(t, to))
                ok = wr_fail(err, WR_INPUT,
                             "router %u cannot reach router %u without leaving group %u; use "
                             "`kind: table`, which may",
                             r, to, g->group[r]);
            if (d != FAR && d > g->local_hops)
                g->local_hops = d;
        }
    free(queue);
    if (ok && g->local_hops > GROUPS_MAX_LOCAL)
        ok = wr_fail(err, WR_INPUT,
                     "two routers of a group are %u hops apart, at most %d are possible here; use "
                     "`kind: table`",
                     g->local_hops, GROUPS_MAX_LOCAL);
    return ok;
}

/* Bit c: a cable of class c joins the router and the one in that slot. */
static uint16_t *groups_list_classes(const struct route_groups *g)
{
    const struct topo *t = g->topo;
    uint16_t *classes = wr_zalloc((size_t)t->nrouters * g->nslots, sizeof *classes);

    _Static_assert(TOPO_MAX_CLASSES <= 16, "a class is a bit");
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, r, p);

            if (groups_is_local_port(g, r, port))
                classes[(uint64_t)r * g->nslots + g->slot[port->peer]] |=
                    (uint16_t)(1u << port->cls);
        }
    return classes;
}

/* May a packet that came by `first` go on to `slot` by a cable of higher class? */
static bool groups_ascends(const struct route_groups *g, const uint16_t *classes,
                           const struct topo_port *first, uint32_t slot)
{
    return classes[(uint64_t)first->peer * g->nslots + slot] >> (first->cls + 1);
}

/* Is local port p of router r a candidate towards a slot of its group? */
static bool groups_leads(const struct route_groups *g, const uint16_t *classes, uint32_t r,
                         const struct topo_port *p, uint32_t slot)
{
    uint8_t d = g->dist[(uint64_t)r * g->nslots + slot];

    if (d == FAR || g->dist[(uint64_t)p->peer * g->nslots + slot] + 1 != d)
        return false;
    return g->shape != GROUPS_CLASSES || d < 2 || groups_ascends(g, classes, p, slot);
}

static bool groups_all_ascend(const struct route_groups *g, const uint16_t *classes)
{
    const struct topo *t = g->topo;

    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t s = 0; s < g->nslots; s++) {
            bool found = g->dist[(uint64_t)r * g->nslots + s] != 2;

            for (uint32_t p = 0; !found && p < t->nports; p++)
                found = groups_is_local_port(g, r, topo_port(t, r, p)) &&
                        groups_ascends(g, classes, topo_port(t, r, p), s);
            if (!found)
                return false;
        }
    return true;
}

/* Every local cable joins a router with terminals and one without, and no
 * global link starts at one with terminals. */
static bool groups_all_leaves(const struct route_groups *g)
{
    const struct topo *t = g->topo;
    uint8_t *leaf = wr_zalloc(t->nrouters, 1);
    bool ok = true;

    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++)
            leaf[r] |= topo_port(t, r, p)->kind == TOPO_TERMINAL;
    for (uint32_t r = 0; ok && r < t->nrouters; r++)
        for (uint32_t p = 0; ok && p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, r, p);

            if (groups_is_local_port(g, r, port))
                ok = leaf[r] != leaf[port->peer];
            else if (groups_is_global(g, r, port))
                ok = !leaf[r];
        }
    free(leaf);
    return ok;
}

static void groups_find_shape(struct route_groups *g, const uint16_t *classes)
{
    g->seg_vcs = 1;
    if (g->local_hops <= 1)
        g->shape = GROUPS_DIRECT;
    else if (g->local_hops == 2 && groups_all_ascend(g, classes))
        g->shape = GROUPS_CLASSES;
    else if (g->local_hops == 2 && groups_all_leaves(g))
        g->shape = GROUPS_LEAVES;
    else {
        g->shape = GROUPS_COUNTED;
        g->seg_vcs = g->local_hops;
    }
}

static void groups_list_locals(struct route_groups *g, const uint16_t *classes)
{
    const struct topo *t = g->topo;
    uint64_t ncells = (uint64_t)t->nrouters * g->nslots, n = 0;
    uint32_t *first = wr_zalloc(ncells + 1, sizeof *first);
    uint16_t *mine = wr_alloc(t->nports * sizeof *mine); /* the router's local ports */
    WR_VEC(uint16_t) ports = {0};
    bool choice = false;

    g->local = wr_zalloc(ncells, sizeof *g->local);
    for (uint32_t r = 0; r < t->nrouters; r++) {
        uint32_t nmine = 0;

        for (uint32_t p = 0; p < t->nports; p++)
            if (groups_is_local_port(g, r, topo_port(t, r, p)))
                mine[nmine++] = (uint16_t)p;
        for (uint32_t s = 0; s < g->nslots; s++, n++) {
            first[n] = (uint32_t)ports.n;
            for (uint32_t i = 0; i < nmine; i++)
                if (groups_leads(g, classes, r, topo_port(t, r, mine[i]), s))
                    wr_vec_push(&ports, mine[i]);
            if (ports.n > first[n])
                g->local[n] = ports.v[first[n]];
            choice |= ports.n > first[n] + 1;
        }
    }
    first[n] = (uint32_t)ports.n;
    free(mine);
    if (choice) {
        g->local_first = first;
        g->local_port = ports.v;
    } else {
        free(first);
        wr_vec_fini(&ports);
    }
}

static void groups_list_exits(struct route_groups *g)
{
    const struct topo *t = g->topo;
    WR_VEC(struct groups_exit) exits = {0};

    g->exit_first = wr_alloc((t->nrouters + 1ul) * sizeof *g->exit_first);
    g->exits_differ = wr_zalloc(t->nrouters, 1);
    for (uint32_t r = 0; r < t->nrouters; r++) {
        g->exit_first[r] = (uint32_t)exits.n;
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, r, p);

            if (!groups_is_global(g, r, port))
                continue;
            wr_vec_push(&exits, (struct groups_exit){g->group[port->peer], (uint16_t)p});
            if (g->group[port->peer] != exits.v[g->exit_first[r]].group)
                g->exits_differ[r] = 1;
        }
    }
    g->exit_first[t->nrouters] = (uint32_t)exits.n;
    g->exit = exits.v;
}

/* Global hops between groups. Where every two share a cable, which is usual,
 * this looks at each cable once. */
static uint8_t *groups_measure_groups(const struct route_groups *g)
{
    const struct topo *t = g->topo;
    uint64_t n = g->ngroups;
    uint8_t *dist = wr_alloc(n * n);
    uint32_t *queue = wr_alloc(n * sizeof *queue);

    memset(dist, FAR, n * n);
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t i = g->exit_first[r]; i < g->exit_first[r + 1]; i++) {
            assert(g->exit); /* a group without exits has no entry in exit_first either */
            dist[g->group[r] * n + g->exit[i].group] = 1;
        }
    for (uint32_t to = 0; to < n; to++) {
        uint32_t head = 0, tail = 0;

        dist[to * n + to] = 0;
        for (uint32_t from = 0; from < n; from++)
            if (dist[to * n + from] == 1)
                queue[tail++] = from;
        while (head < tail && tail + 1 < n) {
            uint32_t mid = queue[head++];

            for (uint32_t from = 0; from < n; from++)
                if (dist[mid * n + from] == 1 && dist[to * n + from] == FAR) {
                    dist[to * n + from] = (uint8_t)(dist[to * n + mid] + 1);
                    queue[tail++] = from;
                }
        }
    }
    free(queue);
    return dist;
}

static bool groups_is_way(const uint8_t *dist, uint64_t n, uint32_t from, uint32_t via, uint32_t to)
{
    return from != to && dist[from * n + to] != FAR &&
           dist[via * n + to] + 1 == dist[from * n + to];
}

static struct groups_way groups_way_by(const struct route_groups *g, uint32_t r,
                                       const struct groups_exit *e)
{
    return (struct groups_way){.from = r,
                               .port = e->port,
                               .slot = g->slot[r],
                               .land = g->slot[topo_port(g->topo, r, e->port)->peer]};
}

/* Every exit, for every group it leads nearer to: in the first call, without g->way, counted; in
 * the second, written at the cursors. Most exits lead nearer only to the group they enter, so
 * others are searched only where some pair of groups shares no cable. */
static void groups_each_way(struct route_groups *g, const uint8_t *dist, bool far, uint32_t *cursor)
{
    uint64_t n = g->ngroups;

    for (uint32_t r = 0; r < g->topo->nrouters; r++)
        for (uint32_t i = g->exit_first[r]; i < g->exit_first[r + 1]; i++) {
            const struct groups_exit *e = &g->exit[i];

            assert(e);
            uint32_t lo = far ? 0 : e->group, hi = far ? g->ngroups : e->group + 1;

            for (uint32_t to = lo; to < hi; to++) {
                uint32_t *at = &cursor[g->group[r] * n + to];

                if (!groups_is_way(dist, n, g->group[r], e->group, to))
                    continue;
                if (g->way)
                    g->way[*at] = groups_way_by(g, r, e);
                ++*at;
            }
        }
}

static void groups_list_ways(struct route_groups *g, const uint8_t *dist)
{
    uint64_t n = g->ngroups, total = 0;
    uint32_t *cursor = wr_zalloc(n * n, sizeof *cursor);
    bool far = g->global_hops > 1;

    groups_each_way(g, dist, far, cursor);
    g->one_way = true;
    g->way_first = wr_alloc((n * n + 1) * sizeof *g->way_first);
    for (uint64_t i = 0; i < n * n; i++) {
        bool self = i / n == i % n;

        /* A group has an unused way to itself, so that a list's number is its place. */
        g->one_way &= self || cursor[i] == 1;
        g->way_first[i] = (uint32_t)total;
        total += self ? 1 : cursor[i];
        cursor[i] = g->way_first[i];
    }
    g->way_first[n * n] = (uint32_t)total;
    g->way = wr_zalloc(total, sizeof *g->way);
    groups_each_way(g, dist, far, cursor);
    free(cursor);
}

/* Is every group a copy of the first, turned: routers in the same places, the same ports between
 * them and to the groups that are as far on? Most machines are built so; failures end it. */
static bool groups_all_alike(const struct route_groups *g)
{
    uint32_t n = g->ngroups, size = g->nslots;
    size_t cells = (size_t)size * size;

    if (size < 2 || g->topo->nrouters != n * size)
        return false;
    for (uint32_t r = 0; r < g->topo->nrouters; r++)
        if (g->group[r] != r / size || g->slot[r] != r % size)
            return false;
    for (uint32_t from = 1; from < n; from++) {
        if (memcmp(g->local, g->local + from * cells, cells * sizeof *g->local) != 0)
            return false;
        for (uint32_t far = 1; far < n; far++) {
            const struct groups_way *w = &g->way[(uint64_t)from * n + (from + far) % n];

            if (w->slot != g->way[far].slot || w->port != g->way[far].port)
                return false;
        }
    }
    return true;
}

static bool groups_check_groups(struct route_groups *g, const uint8_t *dist, struct wr_err *err)
{
    uint64_t n = g->ngroups;
    uint8_t *live = wr_zalloc(n, 1);
    bool ok = true;

    for (uint32_t r = 0; r < g->topo->nrouters; r++)
        live[g->group[r]] |= !groups_is_dead(g->topo, r);
    for (uint64_t i = 0; ok && i < n * n; i++) {
        if (dist[i] != FAR && dist[i] > g->global_hops)
            g->global_hops = dist[i];
        if (dist[i] == FAR && live[i / n] && live[i % n])
            ok = wr_fail(err, WR_INPUT,
                         "group %u is cut off from group %u: no global link leads there; repair a "
                         "link or remove the group",
                         (uint32_t)(i / n), (uint32_t)(i % n));
    }
    free(live);
    return ok;
}

bool groups_init(struct route_groups *g, const struct topo *t, uint32_t choice, struct wr_err *err)
{
    *g = (struct route_groups){
        .topo = t, .group = t->group, .ngroups = t->ngroups, .choice = choice};
    uint32_t *size = wr_zalloc(g->ngroups, sizeof *size);
    uint32_t *member = groups_list_members(g, size);
    bool ok = groups_measure_locals(g, size, member, err);

    free(size);
    free(member);
    if (!ok)
        return groups_fini(g), false;
    uint16_t *classes = groups_list_classes(g);

    groups_find_shape(g, classes);
    groups_list_locals(g, classes);
    free(classes);
    groups_list_exits(g);
    uint8_t *dist = groups_measure_groups(g);

    ok = groups_check_groups(g, dist, err);
    if (ok)
        groups_list_ways(g, dist);
    else
        groups_fini(g);
    g->only = ok && g->one_way && !g->local_first;
    g->alike = g->only && groups_all_alike(g);
    g->per_slot = UINT64_MAX / g->nslots + 1;
    free(dist);
    return ok;
}

bool groups_channels(struct route_groups *g, uint32_t channels, uint32_t segments,
                     struct wr_err *err)
{
    if (channels != ROUTE_STUDY || g->global_hops > 1 || g->seg_vcs > 1)
        return route_vc_segments(&g->vcs, segments, g->seg_vcs, err);
    route_vc_study(&g->vcs);
    return true;
}

uint32_t groups_max_hops(const struct route_groups *g, uint32_t globals)
{
    return globals * (g->local_hops + 1) + g->local_hops;
}

void groups_fini(struct route_groups *g)
{
    free(g->slot);
    free(g->local);
    free(g->dist);
    free(g->local_first);
    free(g->local_port);
    free(g->way);
    free(g->way_first);
    free(g->exit_first);
    free(g->exit);
    free(g->exits_differ);
    *g = (struct route_groups){0};
}
