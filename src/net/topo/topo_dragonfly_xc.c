/* topo_dragonfly_xc.c -- groups whose routers form a grid, groups joined all-to-all.
 *
 * Faanes et al., "Cray Cascade: a Scalable HPC System based on a Dragonfly
 * Network", SC 2012; Alverson, Froese, Kaplan, Roweth, "Cray XC Series
 * Network", 2012: an Aries router has 15 links in its chassis (green), 3 to each
 * of the 5 others in its column (black) and 10 to other groups (blue).
 */
#include "net/topo/topo_dragonfly_xc.h"

#include <stdio.h>

#include "net/topo/gateway.h"
#include "topo_priv.h"

enum { ROW = TOPO_OWN, COLUMN, GLOBAL };

#define IN(field) offsetof(struct topo_dragonfly_xc_params, field)

static const struct conf_row rows[] = {
    {.key = "groups",
     .type = CONF_U32,
     .offset = IN(groups),
     .min = 1,
     .max = TOPO_MAX_GATEWAY_GROUPS,
     .help = "Number of groups."},
    {.key = "rows",
     .type = CONF_U32,
     .offset = IN(rows),
     .def = "6",
     .min = 1,
     .max = TOPO_XC_MAX_LINE,
     .help = "Rows of routers in a group (chassis)."},
    {.key = "columns",
     .type = CONF_U32,
     .offset = IN(columns),
     .def = "16",
     .min = 1,
     .max = TOPO_XC_MAX_LINE,
     .help = "Routers in a row (blades of a chassis)."},
    {.key = "nodes",
     .type = CONF_U32,
     .offset = IN(nodes),
     .def = "4",
     .min = 1,
     .max = 60000,
     .help = "Terminals per router."},
    {.key = "row_links",
     .type = CONF_U32,
     .offset = IN(row_links),
     .def = "1",
     .min = 1,
     .max = 256,
     .help = "Parallel links per pair of routers in a row."},
    {.key = "column_links",
     .type = CONF_U32,
     .offset = IN(column_links),
     .def = "3",
     .min = 1,
     .max = 256,
     .help = "Parallel links per pair of routers in a column."},
    {.key = "globals",
     .type = CONF_U32,
     .offset = IN(globals),
     .def = "10",
     .min = 0,
     .max = 60000,
     .help = "Global links per router."},
    {.key = "arrangement",
     .type = CONF_CHOICE,
     .offset = IN(arrangement),
     .def = "absolute",
     .names = topo_arrangement_names,
     .help = "Which global port goes to which group."},
    CONF_END,
};

static void dragonfly_xc_plug_lines(struct topo *t, uint32_t r)
{
    const struct topo_dragonfly_xc_params *x = t->params;
    struct topo_xc_place at = topo_xc_place(t, r);

    for (uint32_t c = at.column + 1; c < x->columns; c++)
        for (uint32_t k = 0; k < x->row_links; k++)
            topo_cable(t, (struct topo_end){r, (uint16_t)(topo_xc_row_port(t, at.column, c) + k)},
                       (struct topo_end){r + c - at.column,
                                         (uint16_t)(topo_xc_row_port(t, c, at.column) + k)},
                       ROW);
    for (uint32_t y = at.row + 1; y < x->rows; y++)
        for (uint32_t k = 0; k < x->column_links; k++)
            topo_cable(t, (struct topo_end){r, (uint16_t)(topo_xc_column_port(t, at.row, y) + k)},
                       (struct topo_end){r + (y - at.row) * x->columns,
                                         (uint16_t)(topo_xc_column_port(t, y, at.row) + k)},
                       COLUMN);
}

static void dragonfly_xc_plug_globals(struct topo *t, uint32_t r)
{
    const struct topo_dragonfly_xc_params *x = t->params;
    uint32_t size = x->rows * x->columns, g = r / size, first = topo_xc_first_global(t);

    for (uint32_t k = 0; k < x->globals; k++) {
        struct topo_far far = topo_arrange(x->arrangement, t->ngroups, size * x->globals, g,
                                           r % size * x->globals + k);

        if (far.group == TOPO_NONE || far.group < g)
            continue;
        topo_cable(t, (struct topo_end){r, (uint16_t)(first + k)},
                   (struct topo_end){far.group * size + far.index / x->globals,
                                     (uint16_t)(first + far.index % x->globals)},
                   GLOBAL);
    }
}

static bool dragonfly_xc_build(struct topo *t, struct wr_err *err)
{
    const struct topo_dragonfly_xc_params *x = t->params;
    uint32_t groups = x->groups, size = x->rows * x->columns;

    if (!x->rows || !x->columns || x->rows > TOPO_XC_MAX_LINE || x->columns > TOPO_XC_MAX_LINE)
        return wr_fail(err, WR_INPUT, "groups of %u x %u routers are not possible; use 1 to %u",
                       x->rows, x->columns, TOPO_XC_MAX_LINE);
    if (!topo_arrange_check(x->arrangement, &groups, size, x->globals, err))
        return false;
    uint64_t nrouters = (uint64_t)groups * size;
    uint64_t nports = (uint64_t)x->nodes + (uint64_t)(x->columns - 1) * x->row_links +
                      (uint64_t)(x->rows - 1) * x->column_links + x->globals;

    if (!topo_check_size(nrouters, nports, nrouters * x->nodes, err))
        return false;
    topo_alloc(t, (uint32_t)nrouters, (uint32_t)nports, (uint32_t)(nrouters * x->nodes), groups);
    t->class_name[ROW] = "row";
    t->class_name[COLUMN] = "column";
    t->class_name[GLOBAL] = "global";
    t->nclasses = GLOBAL + 1;
    for (uint32_t r = 0; r < t->nrouters; r++) {
        t->group[r] = r / size;
        for (uint32_t n = 0; n < x->nodes; n++)
            topo_attach(t, r * x->nodes + n, (struct topo_end){r, (uint16_t)n});
        dragonfly_xc_plug_lines(t, r);
        dragonfly_xc_plug_globals(t, r);
    }
    topo_gateways_build(t);
    return true;
}

/* The ways out of a router, gathered before they become ports: other columns
 * of its row, other rows of its column. */
struct ways {
    uint64_t columns, rows;
};

static void dragonfly_xc_add_ways(struct ways *w, struct topo_xc_place here,
                                  struct topo_xc_place to)
{
    if (here.column != to.column)
        w->columns |= UINT64_C(1) << to.column;
    if (here.row != to.row)
        w->rows |= UINT64_C(1) << to.row;
}

static void dragonfly_xc_put_ways(const struct topo *t, struct topo_ports *ret,
                                  struct topo_xc_place here, struct ways w)
{
    const struct topo_dragonfly_xc_params *x = t->params;

    for (; w.columns; w.columns &= w.columns - 1) {
        uint32_t to = (uint32_t)__builtin_ctzll(w.columns);

        for (uint32_t k = 0; k < x->row_links; k++)
            topo_ports_put(ret, topo_xc_row_port(t, here.column, to) + k);
    }
    for (; w.rows; w.rows &= w.rows - 1) {
        uint32_t to = (uint32_t)__builtin_ctzll(w.rows);

        for (uint32_t k = 0; k < x->column_links; k++)
            topo_ports_put(ret, topo_xc_column_port(t, here.row, to) + k);
    }
}

static uint32_t dragonfly_xc_hops(struct topo_xc_place a, struct topo_xc_place b)
{
    return (a.row != b.row) + (a.column != b.column);
}

/* Through the gateways that make the whole way shortest. */
static uint32_t dragonfly_xc_next_by_gateway(const struct topo *t, uint32_t here, uint32_t dst,
                                             uint16_t *ports)
{
    uint32_t n, best = UINT32_MAX;
    const struct topo_gateway *v = topo_gateways(t, t->group[here], t->group[dst], &n);
    struct topo_xc_place at = topo_xc_place(t, here), to = topo_xc_place(t, dst);
    struct topo_ports ret = {.v = ports};
    struct ways ways = {0};

    for (uint32_t i = 0; i < n; i++) {
        struct topo_xc_place out = topo_xc_place(t, v[i].router);
        uint32_t far =
            dragonfly_xc_hops(at, out) + dragonfly_xc_hops(topo_xc_place(t, v[i].far_router), to);

        if (far > best)
            continue;
        if (far < best) {
            best = far;
            ret.n = 0;
            ways = (struct ways){0};
        }
        if (v[i].router == here)
            topo_ports_put(&ret, v[i].port);
        else
            dragonfly_xc_add_ways(&ways, at, out);
    }
    dragonfly_xc_put_ways(t, &ret, at, ways);
    return ret.n;
}

static uint32_t dragonfly_xc_next(const struct topo *t, uint32_t here, uint32_t dst,
                                  uint16_t *ports)
{
    if (t->group[here] != t->group[dst])
        return dragonfly_xc_next_by_gateway(t, here, dst, ports);
    struct topo_xc_place at = topo_xc_place(t, here);
    struct topo_ports ret = {.v = ports};
    struct ways ways = {0};

    dragonfly_xc_add_ways(&ways, at, topo_xc_place(t, dst));
    dragonfly_xc_put_ways(t, &ret, at, ways);
    return ret.n;
}

static void dragonfly_xc_facts(const struct topo *t, struct topo_facts *ret)
{
    const struct topo_dragonfly_xc_params *x = t->params;
    uint64_t g = t->ngroups, size = (uint64_t)x->rows * x->columns, ports = size * x->globals;
    uint64_t each = g > 1 ? ports / (g - 1) : 0;
    uint64_t in_group =
        (uint64_t)(x->columns - 1) * x->row_links + (uint64_t)(x->rows - 1) * x->column_links;

    *ret = (struct topo_facts){
        .terminals = g * size * x->nodes,
        .routers = g * size,
        .cables = g * size * in_group / 2 + each * g * (g - 1) / 2,
    };
    /* Half of the groups against the other half, unless so many global links are
     * there that cutting every group in two, by columns or by rows, is cheaper. */
    uint64_t by_columns = (uint64_t)x->rows * x->columns * x->columns * x->row_links;
    uint64_t by_rows = (uint64_t)x->columns * x->rows * x->rows * x->column_links;

    if (g % 2 == 0 && each * g <= (by_columns < by_rows ? by_columns : by_rows))
        ret->bisection = each * (g / 2) * (g / 2);
    if (g == 1 || each * (g - 1) == ports)
        ret->degree = (uint32_t)(in_group + (g > 1 ? x->globals : 0));
    if (g == 1)
        ret->diameter = (x->rows > 1) + (x->columns > 1);
}

static void dragonfly_xc_router_name(const struct topo *t, uint32_t router,
                                     char name[TOPO_NAME_MAX])
{
    struct topo_xc_place at = topo_xc_place(t, router);

    /* Cray's own way to count: group, chassis, slot. */
    snprintf(name, TOPO_NAME_MAX, "g%uc%us%u", t->group[router], at.row, at.column);
}

const struct topo_ops topo_dragonfly_xc = {
    .kind = {.name = "dragonfly-xc",
             .summary = "Cray XC: groups are grids of routers, groups joined all-to-all",
             .rows = rows,
             .params_size = sizeof(struct topo_dragonfly_xc_params)},
    .build = dragonfly_xc_build,
    .next = dragonfly_xc_next,
    .facts = dragonfly_xc_facts,
    .minimal = TOPO_ONE_CABLE,
    .router_name = dragonfly_xc_router_name,
};
