/* fail.c -- marks cables and routers as failed, and finds pairs of nodes that are cut off. */
#include "net/topo/fail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/topo/gateway.h"

enum { PAIRS_NAMED = 4 };

static struct topo_port *fail_port_at(struct topo *t, uint32_t router, uint32_t port)
{
    return &t->port[(uint64_t)router * t->nports + port];
}

static bool fail_check_failure(const struct topo *t, const struct topo_failure *f,
                               struct wr_err *err)
{
    uint32_t far = f->b == TOPO_NONE ? f->a : f->b, cables = 0;
    char a[TOPO_NAME_MAX], b[TOPO_NAME_MAX];

    if (f->a >= t->nrouters || far >= t->nrouters)
        return wr_fail(err, WR_INPUT,
                       "failed router %u does not exist; routers are numbered 0 to %u",
                       f->a >= t->nrouters ? f->a : far, t->nrouters - 1);
    if (f->b == TOPO_NONE)
        return true;
    for (uint32_t p = 0; p < t->nports; p++) {
        const struct topo_port *port = topo_port(t, f->a, p);

        cables +=
            (port->kind == TOPO_ROUTER || (port->kind == TOPO_DEAD && port->cls != TOPO_EJECT)) &&
            port->peer == f->b;
    }
    if (cables && f->cables <= cables)
        return true;
    topo_router_name(t, f->a, a);
    topo_router_name(t, f->b, b);
    if (!cables)
        return wr_fail(err, WR_INPUT,
                       "no cable between %s and %s can fail; name two routers that are joined", a,
                       b);
    return wr_fail(err, WR_INPUT, "%u cables between %s and %s cannot fail, there are %u; lower it",
                   f->cables, a, b, cables);
}

/* Returns 1 if the cable was alive. */
static uint32_t fail_kill_cable(struct topo *t, uint32_t router, uint32_t port)
{
    struct topo_port *near = fail_port_at(t, router, port);

    if (near->kind != TOPO_ROUTER)
        return 0;
    fail_port_at(t, near->peer, near->peer_port)->kind = TOPO_DEAD;
    near->kind = TOPO_DEAD;
    return 1;
}

static void fail_apply(struct topo *t, const struct topo_failure *f)
{
    uint32_t left = f->cables ? f->cables : UINT32_MAX;

    t->nfailed += f->b == TOPO_NONE;
    for (uint32_t p = 0; p < t->nports && left; p++) {
        struct topo_port *port = fail_port_at(t, f->a, p);

        if (port->kind == TOPO_TERMINAL && f->b == TOPO_NONE)
            port->kind = TOPO_DEAD;
        else if (port->kind == TOPO_ROUTER && (f->b == TOPO_NONE || port->peer == f->b)) {
            t->nfailed += fail_kill_cable(t, f->a, p);
            left--;
        }
    }
}

bool topo_fail(struct topo *t, const struct topo_failure *v, size_t n, struct wr_err *err)
{
    for (size_t i = 0; i < n; i++)
        if (!fail_check_failure(t, &v[i], err))
            return false;
    for (size_t i = 0; i < n; i++)
        fail_apply(t, &v[i]);
    if (n && t->gateways)
        topo_gateways_build(t);
    return true;
}

bool topo_router_by_name(const struct topo *t, const char *name, uint32_t *ret, struct wr_err *err)
{
    struct wr_nearest near = {.want = name};
    char each[TOPO_NAME_MAX], best[TOPO_NAME_MAX], *end;

    for (uint32_t r = 0; r < t->nrouters; r++) {
        topo_router_name(t, r, each);
        if (!strcmp(each, name)) {
            *ret = r;
            return true;
        }
    }
    unsigned long number = strtoul(name, &end, 10);
    if (*name >= '0' && *name <= '9' && !*end && number < t->nrouters) {
        *ret = (uint32_t)number;
        return true;
    }
    /* The names are made on the fly: keep the best one so far ourselves. */
    for (uint32_t r = 0; r < t->nrouters; r++) {
        topo_router_name(t, r, each);
        wr_nearest_try(&near, each);
        if (near.best == each) {
            memcpy(best, each, sizeof best);
            near.best = best;
        }
    }
    topo_router_name(t, t->nrouters - 1, each);
    return wr_fail(err, WR_UNKNOWN, "no router \"%s\"; did you mean %s? (numbers 0 to %u work too)",
                   name, near.best ? near.best : each, t->nrouters - 1);
}

/* Everything that `from` reaches gets its number; a plain stack, because there
 * may be as many components as routers. */
static void fail_flood(const struct topo *t, uint32_t from, uint32_t number, uint32_t *component,
                       uint32_t *stack)
{
    uint32_t n = 0;

    component[from] = number;
    stack[n++] = from;
    while (n) {
        const struct topo_port *port = topo_port(t, stack[--n], 0);

        for (uint32_t p = 0; p < t->nports; p++)
            if (port[p].kind == TOPO_ROUTER && component[port[p].peer] == TOPO_NONE) {
                component[port[p].peer] = number;
                stack[n++] = port[p].peer;
            }
    }
}

uint32_t topo_components(const struct topo *t, uint32_t *component)
{
    uint32_t *stack = wr_alloc(t->nrouters * sizeof *stack), number = 0;

    for (uint32_t r = 0; r < t->nrouters; r++)
        component[r] = TOPO_NONE;
    for (uint32_t r = 0; r < t->nrouters; r++)
        if (component[r] == TOPO_NONE)
            fail_flood(t, r, number++, component, stack);
    free(stack);
    return number;
}

static void fail_name_pairs(const struct topo *t, const uint32_t *component, struct wr_str *names)
{
    uint32_t named = 0;

    for (uint32_t i = 0; i < t->nterms && named < PAIRS_NAMED; i++)
        for (uint32_t j = i + 1; j < t->nterms && named < PAIRS_NAMED; j++) {
            uint32_t a = t->term[i].router, b = t->term[j].router;
            char term[2][TOPO_NAME_MAX], router[2][TOPO_NAME_MAX];

            if (component[a] == component[b] || !topo_term_alive(t, i) || !topo_term_alive(t, j))
                continue;
            topo_term_name(t, i, term[0]);
            topo_term_name(t, j, term[1]);
            topo_router_name(t, a, router[0]);
            topo_router_name(t, b, router[1]);
            wr_str_addf(names, "%s on %s and %s on %s\n", term[0], router[0], term[1], router[1]);
            named++;
        }
}

uint64_t topo_cut_pairs(const struct topo *t, struct wr_str *names)
{
    uint32_t *component = wr_alloc(t->nrouters * sizeof *component),
             n = topo_components(t, component);
    uint64_t *size = wr_zalloc(n, sizeof *size), alive = 0, joined = 0;

    for (uint32_t i = 0; i < t->nterms; i++)
        if (topo_term_alive(t, i)) {
            size[component[t->term[i].router]]++;
            alive++;
        }
    for (uint32_t i = 0; i < n; i++)
        joined += size[i] * (size[i] ? size[i] - 1 : 0) / 2;
    uint64_t cut = alive * (alive ? alive - 1 : 0) / 2 - joined;

    if (cut && names)
        fail_name_pairs(t, component, names);
    free(component);
    free(size);
    return cut;
}

bool topo_check_joined(const struct topo *t, struct wr_err *err)
{
    struct wr_str names = {0}, list = {0};
    uint64_t cut = topo_cut_pairs(t, &names);

    if (!cut)
        return true;
    /* One sentence: the pairs are lines, the first four of them. */
    for (const char *line = wr_str_get(&names), *end; (end = strchr(line, '\n')); line = end + 1)
        wr_str_addf(&list, "%s%.*s", list.n ? "; " : "", (int)(end - line), line);
    wr_fail(err, WR_INPUT,
            "%llu pairs of nodes are cut off from each other (%s%s); declare fewer failures",
            (unsigned long long)cut, wr_str_get(&list), cut > PAIRS_NAMED ? "; ..." : "");
    wr_str_fini(&names);
    wr_str_fini(&list);
    return false;
}
