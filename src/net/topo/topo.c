/* topo.c -- the table of topologies, and the functions by which they build their wiring.
 *
 * Owns the arrays of struct topo. A build function calls topo_check_size, topo_alloc, then
 * topo_cable and topo_attach for every cable and terminal. Invariants: a port is used once; the
 * two ends of a cable name each other; every terminal is attached.
 */
#include "net/topo/topo.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/topo/gateway.h"
#include "topo_priv.h"

/* Both tables from one list, in the order `weir list topologies` shows. */
#define TOPOLOGIES(ROW)      \
    ROW(topo_dragonfly)      \
    ROW(topo_dragonfly_xc)   \
    ROW(topo_dragonfly_plus) \
    ROW(topo_fat_tree)       \
    ROW(topo_torus)          \
    ROW(topo_mesh)           \
    ROW(topo_hyperx)         \
    ROW(topo_slim_fly)       \
    ROW(topo_crossbar)       \
    ROW(topo_file)

#define ROW_OPS(ops) &ops,
#define ROW_KIND(ops) &ops.kind,

const struct topo_ops *const topo_table[] = {TOPOLOGIES(ROW_OPS) NULL};
const struct conf_kind *const topo_kinds[] = {TOPOLOGIES(ROW_KIND) NULL};

/* 8 bytes per port: 2 GiB of wiring is more than any machine built so far needs, and a mistyped
 * number must not exhaust the memory of the user's computer. */
enum { MAX_PORTS = UINT16_MAX, MAX_TERMS = 1 << 28 };
static const uint64_t max_wiring = 1u << 28;

bool topo_check_size(uint64_t nrouters, uint64_t nports, uint64_t nterms, struct wr_err *err)
{
    if (nports > MAX_PORTS)
        return wr_fail(err, WR_INPUT,
                       "a router would have %llu ports, at most %u are possible; use fewer nodes "
                       "or links per router",
                       (unsigned long long)nports, MAX_PORTS);
    if (nterms > MAX_TERMS)
        return wr_fail(err, WR_INPUT,
                       "the machine would have %llu terminals, at most %u are possible; lower the "
                       "sizes",
                       (unsigned long long)nterms, MAX_TERMS);
    if (!nrouters || !nterms)
        return wr_fail(err, WR_INPUT, "the machine would be empty; every size must be at least 1");
    if (nrouters > max_wiring / (nports ? nports : 1))
        return wr_fail(err, WR_INPUT,
                       "%llu routers of %llu ports need %llu MiB of wiring alone, at most %llu MiB "
                       "are allowed; lower the sizes",
                       (unsigned long long)nrouters, (unsigned long long)nports,
                       (unsigned long long)(nrouters * nports * sizeof(struct topo_port) >> 20),
                       (unsigned long long)(max_wiring * sizeof(struct topo_port) >> 20));
    return true;
}

void topo_alloc(struct topo *t, uint32_t nrouters, uint32_t nports, uint32_t nterms,
                uint32_t ngroups)
{
    assert(!t->port && nrouters && nports <= MAX_PORTS && ngroups);
    t->nrouters = nrouters;
    t->nports = nports;
    t->nterms = nterms;
    t->ngroups = ngroups;
    t->class_name[TOPO_INJECT] = "inject";
    t->class_name[TOPO_EJECT] = "eject";
    t->nclasses = TOPO_OWN;
    t->port = wr_zalloc((size_t)nrouters * nports, sizeof *t->port);
    t->term = wr_zalloc_aligned(nterms, sizeof *t->term);
    t->group = wr_zalloc(nrouters, sizeof *t->group);
    for (uint32_t i = 0; i < nterms; i++)
        t->term[i] = (struct topo_end){.router = TOPO_NONE};
}

static struct topo_port *topo_empty_port(struct topo *t, struct topo_end at)
{
    assert(at.router < t->nrouters && at.port < t->nports);
    struct topo_port *p = &t->port[(uint64_t)at.router * t->nports + at.port];

    assert(p->kind == TOPO_EMPTY);
    return p;
}

void topo_cable(struct topo *t, struct topo_end a, struct topo_end b, uint8_t cls)
{
    assert(cls >= TOPO_OWN && a.router != b.router);
    *topo_empty_port(t, a) = (struct topo_port){b.router, b.port, cls, TOPO_ROUTER};
    *topo_empty_port(t, b) = (struct topo_port){a.router, a.port, cls, TOPO_ROUTER};
}

void topo_attach(struct topo *t, uint32_t term, struct topo_end at)
{
    assert(term < t->nterms && t->term[term].router == TOPO_NONE);
    *topo_empty_port(t, at) = (struct topo_port){term, 0, TOPO_EJECT, TOPO_TERMINAL};
    t->term[term] = at;
}

static void topo_release(struct topo *t)
{
    if (t->ops->fini)
        t->ops->fini(t);
    topo_gateways_free(t->gateways);
    free(t->port);
    free(t->term);
    free(t->group);
}

bool topo_open(struct topo *ret, const struct topo_ops *ops, const void *params, struct wr_err *err)
{
    struct topo t = {.ops = ops, .params = params, .ngroups = 1};

    assert(ops && params);
    if (!ops->build(&t, err)) {
        topo_release(&t);
        return wr_wrap(err, "topology %s", ops->kind.name);
    }
    assert(t.port && t.nclasses >= TOPO_OWN && t.nclasses <= TOPO_MAX_CLASSES);
    *ret = t;
    return true;
}

void topo_close(struct topo *t)
{
    topo_release(t);
    *t = (struct topo){0};
}

const struct topo_ops *topo_find(const char *name)
{
    for (const struct topo_ops *const *o = topo_table; *o; o++)
        if (!strcmp((*o)->kind.name, name))
            return *o;
    return NULL;
}

void topo_router_name(const struct topo *t, uint32_t router, char name[TOPO_NAME_MAX])
{
    assert(router < t->nrouters);
    if (t->ops->router_name)
        t->ops->router_name(t, router, name);
    else
        snprintf(name, TOPO_NAME_MAX, "r%u", router);
}

void topo_term_name(const struct topo *t, uint32_t term, char name[TOPO_NAME_MAX])
{
    assert(term < t->nterms);
    if (t->ops->term_name)
        t->ops->term_name(t, term, name);
    else
        snprintf(name, TOPO_NAME_MAX, "n%u", term);
}
