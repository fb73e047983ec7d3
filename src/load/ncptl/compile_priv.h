/* compile_priv.h -- from the tree to a program for one number of tasks. */
#ifndef LOAD_NCPTL_COMPILE_PRIV_H
#define LOAD_NCPTL_COMPILE_PRIV_H

#include "prog_priv.h"

/* Where a binding's value is found. */
enum nc_place_kind { NP_NOWHERE, NP_CONST, NP_SLOT, NP_TMP };

struct nc_place {
    enum nc_place_kind kind;
    int64_t i; /* the value, or an index */
};

struct nc_compiler {
    struct ncptl_prog *p;
    const struct ncptl_unit *u;
    struct wr_err *err;
    struct nc_place *place; /* by binding */
    WR_VEC(struct nc_ins) code;
    WR_VEC(struct nc_column_code) columns;
    uint32_t slots; /* in use here */
    uint32_t tmps;
    uint32_t ids; /* of sets and pairs */
    uint32_t table;
    bool failed; /* err is filled */
};

/* compile.c: what the receiver (or NULL) does not say is as the sender said. */
struct nc_msg nc_inherit(const struct nc_msg *sent, const struct nc_msg *received);

/* compile_expr.c: NULL only for NULL. On a failure c->failed is set and the
 * result is some harmless node. */
struct nc_node *nc_code(struct nc_compiler *c, const struct nx *x, bool real);
struct nc_rng *nc_code_ranges(struct nc_compiler *c, const struct nc_range *r, uint32_t n);
int nc_new_tmp(struct nc_compiler *c, uint32_t at);

/* compile_set.c: temporaries begin anew for every statement. */
struct nc_set *nc_new_set(struct nc_compiler *c, const struct nc_tasks *t);
struct nc_pair *nc_new_pair(struct nc_compiler *c, const struct nc_tasks *outer,
                            const struct nc_tasks *inner);

#endif
