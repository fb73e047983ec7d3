/* topo_fat_tree.c -- fat trees of any number of levels, tapered where asked.
 *
 * Extended generalized fat trees with parallel cables: Ohring, Ibel, Das,
 * Kumar, "On Generalized Fat Trees", IPPS 1995. The k-ary n-tree of Petrini
 * and Vanneschi (IPPS 1997) is the one with k/2 cables up and down in every
 * level below the top.
 */
#include "net/topo/topo_fat_tree.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "topo_priv.h"

enum { UP_DOWN = TOPO_OWN };

static const char *const class_names[] = {"leaf",   "spine",  "core",  "level4",
                                          "level5", "level6", "level7"};

#define IN(field) offsetof(struct topo_fat_tree_params, field)

static const struct conf_row rows[] = {
    {.key = "radix",
     .type = CONF_U32,
     .offset = IN(radix),
     .def = "0",
     .max = 60000,
     .help = "Ports of every switch; 0: the lists `down` and `up` say."},
    {.key = "levels",
     .type = CONF_U32,
     .offset = IN(levels),
     .def = "3",
     .min = 1,
     .max = TOPO_MAX_LEVELS,
     .help = "Levels of switches, with `radix`."},
    {.key = "nodes",
     .type = CONF_U32,
     .offset = IN(nodes),
     .def = "0",
     .max = 60000,
     .help = "Terminals per leaf switch, with `radix`; more than half of it tapers; 0: half."},
    {.key = "uplinks",
     .type = CONF_U32,
     .offset = IN(uplinks),
     .def = "0",
     .max = 60000,
     .help = "Cables up from a leaf switch, with `radix`; 0: all ports that nodes leave."},
    {.key = "pods",
     .type = CONF_U32,
     .offset = IN(pods),
     .def = "0",
     .max = 60000,
     .help = "Subtrees below the top switches, with `radix`; 0: as many as these have ports."},
    {.key = "down",
     .type = CONF_LIST,
     .offset = IN(down),
     .def = "",
     .size = sizeof(uint32_t),
     .item = CONF_U32,
     .min = 1,
     .max = 60000,
     .help = "Instead of `radix`: ports downwards of a switch in each level, leaves first."},
    {.key = "up",
     .type = CONF_LIST,
     .offset = IN(up),
     .def = "",
     .size = sizeof(uint32_t),
     .item = CONF_U32,
     .min = 1,
     .max = 60000,
     .help = "Instead of `radix`: ports upwards in each level but the top."},
    {.key = "width",
     .type = CONF_LIST,
     .offset = IN(width),
     .def = "",
     .size = sizeof(uint32_t),
     .item = CONF_U32,
     .min = 1,
     .max = 60000,
     .help = "Parallel cables per pair of switches in each level but the top, or one for all; 1."},
    CONF_END,
};

const struct topo_tree *topo_tree(const struct topo *t)
{
    return t->ops == &topo_fat_tree ? t->priv : NULL;
}

static bool fat_tree_read_radix(struct topo_tree *f, const struct topo_fat_tree_params *p,
                                struct wr_err *err)
{
    uint32_t nodes = p->nodes ? p->nodes : p->levels == 1 ? p->radix : p->radix / 2;
    uint32_t uplinks = p->uplinks ? p->uplinks : nodes < p->radix ? p->radix - nodes : 0;

    if (p->down.n || p->up.n)
        return wr_fail(err, WR_INPUT, "both radix and the lists down and up are given; keep one");
    if (p->levels < 1 || p->levels > TOPO_MAX_LEVELS)
        return wr_fail(err, WR_INPUT, "%u levels are not possible; use 1 to %u", p->levels,
                       TOPO_MAX_LEVELS);
    if ((uint64_t)nodes + (p->levels > 1 ? uplinks : 0) > p->radix || !nodes ||
        (p->levels > 1 && !uplinks))
        return wr_fail(err, WR_INPUT,
                       "%u nodes and %u uplinks do not fit a leaf switch of radix %u; together "
                       "they may take at most %u ports, each at least 1",
                       nodes, uplinks, p->radix, p->radix);
    if (p->levels > 2 && p->radix % 2)
        return wr_fail(err, WR_INPUT,
                       "radix %u cannot be halved in the middle levels; use %u or %u, or lists",
                       p->radix, p->radix - 1, p->radix + 1);
    if (p->pods > p->radix)
        return wr_fail(err, WR_INPUT, "%u pods do not fit top switches of radix %u; use at most %u",
                       p->pods, p->radix, p->radix);
    f->nlevels = p->levels;
    for (uint32_t l = 0; l < f->nlevels; l++) {
        f->level[l].down = p->radix / 2;
        f->level[l].up = p->radix / 2;
    }
    f->level[f->nlevels - 1].down = p->pods ? p->pods : p->radix;
    f->level[f->nlevels - 1].up = 0;
    f->level[0].down = nodes;
    f->level[0].up = p->levels > 1 ? uplinks : 0;
    return true;
}

static bool fat_tree_read_lists(struct topo_tree *f, const struct topo_fat_tree_params *p,
                                struct wr_err *err)
{
    const uint32_t *down = p->down.items, *up = p->up.items;

    if (!p->down.n || p->down.n > TOPO_MAX_LEVELS || p->up.n + 1 != p->down.n)
        return wr_fail(err, WR_INPUT,
                       "down has %zu and up %zu entries; give radix, or one entry of down per "
                       "level (at most %u) and one of up per level but the top",
                       p->down.n, p->up.n, TOPO_MAX_LEVELS);
    f->nlevels = (uint32_t)p->down.n;
    for (uint32_t l = 0; l < f->nlevels; l++) {
        f->level[l].down = down[l];
        f->level[l].up = l + 1 < f->nlevels ? up[l] : 0;
        if (!down[l] || (l + 1 < f->nlevels && !up[l]))
            return wr_fail(err, WR_INPUT, "level %u has no ports down or up; use at least 1", l);
    }
    return true;
}

static bool fat_tree_read_width(struct topo_tree *f, const struct conf_list *width,
                                struct wr_err *err)
{
    const uint32_t *v = width->items;

    if (width->n > 1 && width->n + 1 != f->nlevels)
        return wr_fail(err, WR_INPUT,
                       "width has %zu entries for %u levels; give one per level but the top, or "
                       "one for all",
                       width->n, f->nlevels);
    f->level[0].children = f->level[0].down;
    for (uint32_t l = 0; l + 1 < f->nlevels; l++) {
        struct topo_level *here = &f->level[l], *above = &f->level[l + 1];

        here->width = !width->n ? 1 : width->n == 1 ? v[0] : v[l];
        if (!here->width || here->up % here->width || above->down % here->width)
            return wr_fail(err, WR_INPUT,
                           "%u parallel cables divide neither or not both of the %u ports up and "
                           "the %u ports down above; use a common divisor as width",
                           here->width, here->up, above->down);
        here->parents = here->up / here->width;
        above->children = above->down / here->width;
    }
    return true;
}

/* Counts switches from the wiring rule: a subtree of level l has the product of
 * parents below l as its roots, and there is one per path of children above. */
static bool fat_tree_count(struct topo *t, struct topo_tree *f, struct wr_err *err)
{
    uint64_t subtrees = 1, copies = 1, base = 0, leaves = 1, nports = 0, cables, least = UINT64_MAX;

    for (uint32_t l = f->nlevels - 1; l > 0; l--) {
        f->level[l].subtrees = (uint32_t)subtrees;
        subtrees *= f->level[l].children;
        if (!topo_check_size(subtrees, 1, subtrees, err))
            return false;
    }
    f->level[0].subtrees = (uint32_t)subtrees;
    for (uint32_t l = 0; l < f->nlevels; l++) {
        struct topo_level *v = &f->level[l];
        uint64_t ports = (uint64_t)v->down + v->up;

        if (!topo_check_size(copies, 1, 1, err)) /* before it is multiplied */
            return false;
        leaves *= l ? v->children : 1;
        v->leaves_per_sub = (uint32_t)leaves;
        v->copies = (uint32_t)copies;
        v->base = (uint32_t)base;
        base += v->subtrees * copies;
        nports = ports > nports ? ports : nports;
        cables = v->subtrees * copies * v->up;
        if (!topo_check_size(base, nports, subtrees * f->level[0].down, err))
            return false;
        if (v->up && cables < least) {
            least = cables;
            f->narrowest = l;
        }
        copies *= v->parents ? v->parents : 1;
    }
    uint32_t pods = f->nlevels > 1 ? f->level[f->nlevels - 1].children : 1;

    topo_alloc(t, (uint32_t)base, (uint32_t)nports, (uint32_t)subtrees * f->level[0].down, pods);
    return true;
}

/* Plugs the cables up from the switches of level l. */
static void fat_tree_plug_level(struct topo *t, const struct topo_tree *f, uint32_t l)
{
    const struct topo_level *here = &f->level[l], *above = &f->level[l + 1];

    for (uint32_t i = 0; i < here->subtrees * here->copies; i++) {
        uint32_t below = i / here->copies, copy = i % here->copies;

        for (uint32_t k = 0; k < here->up; k++) {
            uint32_t parent = k / here->width, cable = k % here->width;
            struct topo_end up = {
                above->base + below / above->children * above->copies + copy +
                    here->copies * parent,
                (uint16_t)(below % above->children * here->width + cable),
            };

            topo_cable(t, (struct topo_end){here->base + i, (uint16_t)(here->down + k)}, up,
                       (uint8_t)(UP_DOWN + l));
        }
    }
}

static bool fat_tree_build(struct topo *t, struct wr_err *err)
{
    const struct topo_fat_tree_params *p = t->params;
    struct topo_tree f = {0};

    if (!(p->radix ? fat_tree_read_radix(&f, p, err) : fat_tree_read_lists(&f, p, err)) ||
        !fat_tree_read_width(&f, &p->width, err) || !fat_tree_count(t, &f, err))
        return false;
    for (uint32_t i = 0; i < t->nterms; i++)
        topo_attach(t, i, (struct topo_end){i / f.level[0].down, (uint16_t)(i % f.level[0].down)});
    for (uint32_t l = 0; l + 1 < f.nlevels; l++) {
        t->class_name[UP_DOWN + l] = class_names[l];
        fat_tree_plug_level(t, &f, l);
    }
    t->nclasses = UP_DOWN + f.nlevels - 1;
    /* A top switch stands above all pods; it is counted to one so that all have one. */
    for (uint32_t r = 0; r < t->nrouters; r++) {
        struct topo_switch s = topo_tree_switch(&f, r);

        uint32_t per_pod = f.level[s.level].subtrees / t->ngroups;

        assert(per_pod || s.level + 1 == f.nlevels);
        t->group[r] = s.level + 1 == f.nlevels ? s.copy % t->ngroups : s.below / per_pod;
    }
    t->priv = wr_alloc(sizeof f);
    *(struct topo_tree *)t->priv = f;
    return true;
}

static void fat_tree_fini(struct topo *t)
{
    free(t->priv);
}

/* Hops between any two switches. Going up from level l one chooses a parent,
 * going down one chooses a child. So a path must reach the level under whose
 * roots both stand, and, when both are above the leaves, dip to the level from
 * which the same copies can be chosen; whichever of the two comes first. */
static uint32_t fat_tree_hops(const struct topo_tree *f, struct topo_switch a, struct topo_switch b)
{
    uint32_t low = a.level < b.level ? a.level : b.level;
    uint32_t high = a.level > b.level ? a.level : b.level;
    uint32_t sub[2] = {a.below, b.below}, level[2] = {a.level, b.level}, bottom = low;

    for (int i = 0; i < 2; i++)
        for (; level[i] < high; level[i]++)
            sub[i] /= f->level[level[i] + 1].children;
    while (sub[0] != sub[1]) {
        high++;
        sub[0] /= f->level[high].children;
        sub[1] /= f->level[high].children;
    }
    /* The copies' digits below level j agree when they are equal modulo copies[j]. */
    while (a.copy % f->level[bottom].copies != b.copy % f->level[bottom].copies)
        bottom--;
    uint32_t up_first = high - a.level + high - bottom + b.level - bottom;
    uint32_t down_first = a.level - bottom + high - bottom + high - b.level;

    return up_first < down_first ? up_first : down_first;
}

static uint32_t fat_tree_next_to_leaf(const struct topo_tree *f, struct topo_switch s,
                                      uint32_t leaf, uint16_t *ports)
{
    const struct topo_level *here = &f->level[s.level];
    struct topo_ports ret = {.v = ports};

    if (leaf / here->leaves_per_sub != s.below) {
        for (uint32_t k = 0; k < here->up; k++)
            topo_ports_put(&ret, here->down + k);
        return ret.n;
    }
    const struct topo_level *under = &f->level[s.level - 1];
    uint32_t child = leaf / under->leaves_per_sub % here->children;

    for (uint32_t k = 0; k < under->width; k++)
        topo_ports_put(&ret, child * under->width + k);
    return ret.n;
}

static uint32_t fat_tree_next(const struct topo *t, uint32_t here, uint32_t dst, uint16_t *ports)
{
    const struct topo_tree *f = t->priv;
    struct topo_switch s = topo_tree_switch(f, here), d;
    struct topo_ports ret = {.v = ports};

    if (dst < f->level[0].subtrees)
        return fat_tree_next_to_leaf(f, s, dst, ports);
    /* No terminal is above the leaves; this is for routings with an intermediate switch there. */
    d = topo_tree_switch(f, dst);
    uint32_t far = fat_tree_hops(f, s, d);
    for (uint32_t p = 0; p < t->nports; p++) {
        const struct topo_port *port = topo_port(t, here, p);

        if (port->kind == TOPO_ROUTER &&
            fat_tree_hops(f, topo_tree_switch(f, port->peer), d) + 1 == far)
            topo_ports_put(&ret, p);
    }
    return ret.n;
}

static void fat_tree_facts(const struct topo *t, struct topo_facts *ret)
{
    const struct topo_tree *f = topo_tree(t);
    const struct topo_level *narrow = &f->level[f->narrowest];

    *ret = (struct topo_facts){.terminals = (uint64_t)f->level[0].subtrees * f->level[0].down};
    for (uint32_t l = 0; l < f->nlevels; l++) {
        uint64_t switches = (uint64_t)f->level[l].subtrees * f->level[l].copies;

        ret->routers += switches;
        ret->cables += switches * f->level[l].up;
    }
    if (f->nlevels > 1 && t->ngroups > 1)
        ret->diameter = 2 * (f->nlevels - 1);
    if (f->nlevels > 1 && t->ngroups % 2 == 0)
        ret->bisection = (uint64_t)narrow->subtrees * narrow->copies * narrow->up / 2;
}

/* Half of the pods, cut off where there are fewest cables. */
static uint32_t fat_tree_half(const struct topo *t, uint32_t router)
{
    const struct topo_tree *f = topo_tree(t);

    return router < f->level[f->narrowest].base +
                        f->level[f->narrowest].subtrees * f->level[f->narrowest].copies &&
           t->group[router] >= t->ngroups / 2;
}

static void fat_tree_router_name(const struct topo *t, uint32_t router, char name[TOPO_NAME_MAX])
{
    struct topo_switch s = topo_tree_switch(topo_tree(t), router);

    snprintf(name, TOPO_NAME_MAX, "l%u.%u.%u", s.level, s.below, s.copy);
}

const struct topo_ops topo_fat_tree = {
    .kind = {.name = "fat-tree",
             .summary = "levels of switches, several ways up and one way down",
             .rows = rows,
             .params_size = sizeof(struct topo_fat_tree_params)},
    .build = fat_tree_build,
    .fini = fat_tree_fini,
    .next = fat_tree_next,
    .facts = fat_tree_facts,
    .half = fat_tree_half,
    .router_name = fat_tree_router_name,
};
