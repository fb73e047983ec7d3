/* func_priv.h -- the language's own functions.
 *
 * One row per function gives its arguments and both of its meanings: in
 * integer context and in floating-point context. A function that has no
 * answer calls nc_ev_fail(), which remembers why, and returns 0.
 */
#ifndef LOAD_NCPTL_FUNC_PRIV_H
#define LOAD_NCPTL_FUNC_PRIV_H

#include "func_math_priv.h"
#include "lex_priv.h"

enum nc_shape { NC_SHAPE_PLAIN, NC_SHAPE_MESH, NC_SHAPE_FILE };

enum { NC_MOST_ARGS = 64 };

struct nc_func {
    enum nc_kw kw;
    const char *name;
    uint8_t min, max; /* arguments */
    uint8_t shape;
    bool local; /* tasks may get different answers: not where all must agree */
    bool map;   /* depends on which task runs on which processor */
    int64_t (*in)(struct nc_ev *e, const int64_t *a, uint32_t n);
    double (*dn)(struct nc_ev *e, const double *a, uint32_t n);
    const char *in_name, *dn_name; /* of both, in C */
};

const struct nc_func *nc_func_find(enum nc_kw kw); /* NULL: not a function */

#endif
