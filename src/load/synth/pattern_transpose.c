/* pattern_transpose.c -- row r, column c sends to row c, column r.
 *
 * Nodes fill a matrix of `rows` rows line by line; node r*cols + c sends to c*rows + r,
 * its place in the transposed matrix. With a square matrix of a power of two
 * this is the transpose of Dally and Towles, "Principles and Practices of
 * Interconnection Networks", section 3.2.
 */
#include <math.h>
#include <stddef.h>

#include "synth_priv.h"

struct transpose_params {
    uint32_t rows;
    bool self;
};

static const struct conf_row transpose_rows[] = {
    {"rows", CONF_U32, offsetof(struct transpose_params, rows), "0", .min = 0, .max = 1e9,
     .help = "Rows of the matrix of nodes; 0: as many as columns."},
    SYNTH_SELF_ROW(struct transpose_params),
    CONF_END,
};

static uint32_t transpose_rows_of(const struct synth_pattern *p)
{
    const struct transpose_params *t = p->params;

    return t->rows ? t->rows : (uint32_t)lround(sqrt(p->nnodes));
}

static bool transpose_init(struct synth_pattern *p, struct wr_err *err)
{
    const struct transpose_params *t = p->params;
    uint64_t rows = transpose_rows_of(p);

    if (!t->rows && rows * rows != p->nnodes)
        return wr_fail(err, WR_INPUT,
                       "%u nodes do not fill a square; set rows to a number that divides them",
                       p->nnodes);
    if (p->nnodes % rows)
        return wr_fail(err, WR_INPUT, "%u nodes do not fill %u rows; set rows to a divisor",
                       p->nnodes, (uint32_t)rows);
    if (rows == 1 || rows == p->nnodes)
        return wr_fail(err, WR_INPUT,
                       "a single row or column transposes to itself; set rows between 2 and %u",
                       p->nnodes / 2);
    return true;
}

static uint32_t transpose_dest(const struct synth_pattern *p, uint32_t src, struct wr_rng *rng,
                               uint64_t nth)
{
    const struct transpose_params *t = p->params;
    uint32_t rows = transpose_rows_of(p), cols = p->nnodes / rows;
    uint32_t dest = src % cols * rows + src / cols;

    (void)rng;
    (void)nth;
    return dest == src && !t->self ? SYNTH_SKIP : dest;
}

const struct synth_pattern_ops synth_pattern_transpose = {
    .kind = {"transpose", "row r, column c of a matrix of nodes to row c, column r", transpose_rows,
             sizeof(struct transpose_params)},
    .init = transpose_init,
    .dest = transpose_dest,
};
