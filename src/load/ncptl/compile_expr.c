/* compile_expr.c -- expressions and ranges of the tree to nodes, with constants folded.
 *
 * A node lists what its value depends on (dep, tmps). A node without dependencies is replaced by
 * its value, unless the evaluation fails: then it fails at run time, if it is reached.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "compile_priv.h"

int nc_new_tmp(struct nc_compiler *c, uint32_t at)
{
    if (c->tmps < NC_TMPS)
        return (int)c->tmps++;
    if (!c->failed)
        nc_fail(&c->u->src, NC_SEMANTIC, at, c->err,
                "more than %d variables in one statement; simplify it", NC_TMPS);
    c->failed = true;
    return 0;
}

static struct nc_node *code_new_node(struct nc_compiler *c, enum nc_op op, bool real, uint32_t at)
{
    struct nc_node *x = wr_arena_alloc(&c->p->arena, sizeof *x);

    *x = (struct nc_node){.op = (uint8_t)op, .real = real, .at = at};
    return x;
}

static struct nc_node *code_constant(struct nc_compiler *c, bool real, uint32_t at, int64_t i,
                                     double d)
{
    struct nc_node *x = code_new_node(c, NX_CONST, real, at);

    if (real)
        x->d = d;
    else
        x->i = i;
    return x;
}

static struct nc_node *code_variable(struct nc_compiler *c, const struct nx *x, bool real)
{
    const struct nc_place *at = &c->place[x->bind->id];
    struct nc_node *n;

    assert(x->bind && at->kind != NP_NOWHERE);
    if (at->kind == NP_CONST)
        return code_constant(c, real, x->at, at->i, (double)at->i);
    n = code_new_node(c, at->kind == NP_SLOT ? NX_SLOT : NX_TMP, real, x->at);
    n->i = at->i;
    if (at->kind == NP_SLOT) {
        n->dep = NC_DEP_SLOT;
    } else {
        n->dep = NC_DEP_TMP;
        n->tmps = 1u << at->i;
    }
    return n;
}

static void code_add_dependencies(struct nc_node *n, uint16_t dep, uint32_t tmps)
{
    n->dep |= dep;
    n->tmps |= tmps;
}

/* Replaces a node by its value when that is known now. What would fail is left to
 * fail when, and only if, it is reached. */
static struct nc_node *code_fold(struct nc_compiler *c, struct nc_node *n)
{
    struct nc_ev e;
    int64_t i = 0;
    double d = 0;

    if (n->dep || c->failed)
        return n;
    nc_ev_init(&e, c->p, NULL);
    if (nc_is_rel(n->op))
        i = nc_true(&e, n);
    else if (n->real)
        d = nc_real(&e, n);
    else
        i = nc_int(&e, n);
    if (e.bad)
        return n;
    return code_constant(c, n->real && !nc_is_rel(n->op), n->at, i, d);
}

static bool code_is_const(const struct nc_node *n)
{
    return n->op == NX_CONST;
}

/* Conditions whose one side is known, and conditional expressions likewise. */
static struct nc_node *code_simplify(struct nc_node *n)
{
    switch (n->op) {
    case NX_LAND:
        return !code_is_const(n->kid[0]) ? n : n->kid[0]->i ? n->kid[1] : n->kid[0];
    case NX_LOR:
        return !code_is_const(n->kid[0]) ? n : n->kid[0]->i ? n->kid[0] : n->kid[1];
    case NX_COND:
        return !code_is_const(n->kid[1]) ? n : n->kid[n->kid[1]->i ? 0 : 2];
    default:
        return n;
    }
}

static void code_call(struct nc_node *n, const struct nx *x)
{
    n->func = nc_func_find(x->func);
    n->i = x->i;
    n->src = x;
    if (n->func->local && n->func->shape != NC_SHAPE_FILE)
        n->dep |= NC_DEP_RANDOM;
    if (n->func->map)
        n->dep |= NC_DEP_MAP;
}

static struct nc_node *code_operation(struct nc_compiler *c, const struct nx *x, bool real)
{
    struct nc_node *n = code_new_node(c, x->op, real, x->at);
    bool file = x->op == NX_CALL && nc_func_find(x->func)->shape == NC_SHAPE_FILE;

    if (x->op == NX_CALL)
        code_call(n, x);
    n->nkid = x->nkid;
    n->kid = wr_arena_alloc(&c->p->arena, x->nkid * sizeof(struct nc_node *));
    for (uint32_t i = 0; i < x->nkid; i++) {
        n->kid[i] = nc_code(c, x->kid[i], x->op == NX_REAL || (real && !file));
        code_add_dependencies(n, n->kid[i]->dep, n->kid[i]->tmps);
    }
    if (x->nranges) {
        n->ranges = nc_code_ranges(c, x->ranges, x->nranges);
        n->nranges = x->nranges;
        for (uint32_t i = 0; i < n->nranges; i++)
            code_add_dependencies(n, n->ranges[i].dep, n->ranges[i].tmps);
    }
    return code_fold(c, code_simplify(n));
}

struct nc_node *nc_code(struct nc_compiler *c, const struct nx *x, bool real)
{
    struct nc_node *n;

    if (!x)
        return NULL;
    switch (x->op) {
    case NX_CONST:
        return code_constant(c, real, x->at, x->i, x->d);
    case NX_VAR:
        return code_variable(c, x, real);
    case NX_NTASKS:
        return code_constant(c, real, x->at, c->p->n, c->p->n);
    case NX_MYTASK:
        n = code_new_node(c, NX_MYTASK, real, x->at);
        n->dep = NC_DEP_MYTASK;
        return n;
    case NX_COUNTER:
        n = code_new_node(c, NX_COUNTER, real, x->at);
        n->i = x->i;
        n->dep = x->i == NCC_ELAPSED ? NC_DEP_COUNTER | NC_DEP_TIME : NC_DEP_COUNTER;
        return n;
    default:
        return code_operation(c, x, real);
    }
}

/* ---- ranges ---- */

static void code_range_list(struct nc_compiler *c, const struct nc_range *from, struct nc_rng *r)
{
    bool both = from->kind == NR_ELLIPSIS && from->n > 2;

    r->e = wr_arena_alloc(&c->p->arena, from->n * sizeof *r->e);
    if (both)
        r->real = wr_arena_alloc(&c->p->arena, from->n * sizeof *r->real);
    for (uint32_t i = 0; i < from->n; i++) {
        r->e[i] = nc_code(c, from->e[i], false);
        r->dep |= r->e[i]->dep;
        r->tmps |= r->e[i]->tmps;
        if (both)
            r->real[i] = nc_code(c, from->e[i], true);
    }
    r->last = nc_code(c, from->last, false);
    if (r->last) {
        r->dep |= r->last->dep;
        r->tmps |= r->last->tmps;
    }
    if (both)
        r->rlast = nc_code(c, from->last, true);
}

/* Outside of the comprehension nothing depends on the variables of its generators. */
static void code_range_comp(struct nc_compiler *c, const struct nc_range *from, struct nc_rng *r)
{
    uint32_t own = 0;

    r->gens = wr_arena_alloc(&c->p->arena, from->ngens * sizeof *r->gens);
    r->ngens = from->ngens;
    for (uint32_t g = 0; g < from->ngens; g++) {
        struct nc_cgen *gen = &r->gens[g];

        gen->ranges = nc_code_ranges(c, from->gens[g].ranges, from->gens[g].nranges);
        gen->nranges = from->gens[g].nranges;
        for (uint32_t i = 0; i < gen->nranges; i++) {
            r->dep |= gen->ranges[i].dep;
            r->tmps |= gen->ranges[i].tmps;
        }
        gen->tmp = nc_new_tmp(c, from->gens[g].at);
        own |= 1u << gen->tmp;
        c->place[from->gens[g].bind->id] = (struct nc_place){NP_TMP, gen->tmp};
    }
    r->e = wr_arena_alloc(&c->p->arena, sizeof *r->e);
    r->e[0] = nc_code(c, from->e[0], false);
    r->dep |= r->e[0]->dep;
    r->tmps |= r->e[0]->tmps;
    r->where = nc_code(c, from->where, false);
    if (r->where) {
        r->dep |= r->where->dep;
        r->tmps |= r->where->tmps;
    }
    r->tmps &= ~own;
    if (!r->tmps)
        r->dep &= (uint16_t)~NC_DEP_TMP;
}

struct nc_rng *nc_code_ranges(struct nc_compiler *c, const struct nc_range *r, uint32_t n)
{
    struct nc_rng *out = wr_arena_alloc(&c->p->arena, (n ? n : 1) * sizeof *out);

    for (uint32_t i = 0; i < n; i++) {
        out[i] = (struct nc_rng){.kind = r[i].kind, .at = r[i].at, .n = r[i].n};
        if (r[i].kind == NR_COMP)
            code_range_comp(c, &r[i], &out[i]);
        else
            code_range_list(c, &r[i], &out[i]);
    }
    return out;
}
