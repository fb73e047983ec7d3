/* func_priv.h -- the language's own functions.
 *
 * One row per function gives its arguments and both of its meanings: in
 * integer context and in floating-point context. A function that has no
 * answer calls nc_ev_fail(), which remembers why, and returns 0.
 */
#ifndef LOAD_NCPTL_FUNC_PRIV_H
#define LOAD_NCPTL_FUNC_PRIV_H

#include "lex_priv.h"

struct nc_ev;

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
};

const struct nc_func *nc_func_find(enum nc_kw kw); /* NULL: not a function */

enum nc_counter {
    NCC_ELAPSED,
    NCC_BYTES_SENT,
    NCC_BYTES_RECEIVED,
    NCC_TOTAL_BYTES,
    NCC_MSGS_SENT,
    NCC_MSGS_RECEIVED,
    NCC_TOTAL_MSGS,
    NCC_BIT_ERRORS,
    NCC_BYTES_WRITTEN,
    NCC_BYTES_READ,
    NCC_IOS_COMPLETED,
};

/* Arithmetic that the operators and the functions share. */
int64_t nc_modulo(struct nc_ev *e, int64_t a, int64_t b);
int64_t nc_power(struct nc_ev *e, int64_t base, int64_t exponent);
double nc_dpower(struct nc_ev *e, double base, double exponent);
int64_t nc_shift(int64_t a, int64_t by); /* left; negative: right */
int64_t nc_trunc(double d);              /* towards zero, clamped to 64 bits */

/* x, y, z of a task on a mesh; false when it lies outside or the mesh is none. */
bool nc_mesh_place(struct nc_ev *e, const int64_t *dim, int64_t task, int64_t *ret);
int64_t nc_mesh_neighbor(struct nc_ev *e, const int64_t *dim, int64_t wrap, int64_t task,
                         const int64_t *step);
int64_t nc_knomial_parent(int64_t task, int64_t k, int64_t n);

#endif
