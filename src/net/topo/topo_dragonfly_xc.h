/* topo_dragonfly_xc.h -- the two-dimensional dragonfly of Cray XC machines.
 *
 *   a group        column 0    1         15
 *        row 0      [ ]--------[ ]-- ... [ ]   all-to-all in a row (one chassis)
 *                    |||       |||       |||   all-to-all in a column, in bundles
 *        row 5      [ ]--------[ ]-- ... [ ]
 *
 *   router = (group * rows + row) * columns + column
 *   ports: terminals, other columns of the row, other rows of the column, global
 */
#ifndef NET_TOPO_TOPO_DRAGONFLY_XC_H
#define NET_TOPO_TOPO_DRAGONFLY_XC_H

#include <stdint.h>

#include "net/topo/topo.h"

extern const struct topo_ops topo_dragonfly_xc;

enum { TOPO_XC_MAX_LINE = 64 }; /* rows, and columns */

/* groups may be 0 here: t->ngroups is what was built. */
struct topo_dragonfly_xc_params {
    uint32_t groups, rows, columns, nodes, row_links, column_links, globals, arrangement;
};

struct topo_xc_place {
    uint32_t row, column;
};

static inline struct topo_xc_place topo_xc_place(const struct topo *t, uint32_t router)
{
    const struct topo_dragonfly_xc_params *x = t->params;

    return (struct topo_xc_place){router / x->columns % x->rows, router % x->columns};
}

/* The first of the row_links ports from column `from` to column `to`. */
static inline uint16_t topo_xc_row_port(const struct topo *t, uint32_t from, uint32_t to)
{
    const struct topo_dragonfly_xc_params *x = t->params;

    return (uint16_t)(x->nodes + (to < from ? to : to - 1) * x->row_links);
}

/* The first of the column_links ports from row `from` to row `to`. */
static inline uint16_t topo_xc_column_port(const struct topo *t, uint32_t from, uint32_t to)
{
    const struct topo_dragonfly_xc_params *x = t->params;

    return (uint16_t)(x->nodes + (x->columns - 1) * x->row_links +
                      (to < from ? to : to - 1) * x->column_links);
}

static inline uint16_t topo_xc_first_global(const struct topo *t)
{
    const struct topo_dragonfly_xc_params *x = t->params;

    return (uint16_t)(x->nodes + (x->columns - 1) * x->row_links + (x->rows - 1) * x->column_links);
}

#endif
