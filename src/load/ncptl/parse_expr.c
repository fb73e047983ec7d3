/* parse_expr.c -- numbers, conditions and ranges.
 *
 *   or       = and { \/ and }
 *   and      = relation { /\ relation }
 *   relation = cond [ (= <> < ...) cond | IS property ]
 *   cond     = add [ IF or OTHERWISE cond ]
 *   add      = mult { (+ - | XOR) mult }
 *   mult     = unary { (* / MOD << >> &) unary }
 *   unary    = (+ - NOT) unary | power
 *   power    = primary [ ** unary ]
 *
 * One function expr_X per production X. After an opening parenthesis a number or a condition may
 * follow, so one descent reads both, and the operator of the node says which it is (nc_is_rel).
 */
#include <stdlib.h>
#include <string.h>

#include "ast_priv.h"
#include "func_priv.h"

enum { DEEPEST = 500 };

static struct nx *expr_or(struct nc_parser *p);
static struct nx *expr_cond(struct nc_parser *p);
static struct nx *expr_unary(struct nc_parser *p);

static struct nx *expr_new_node(struct nc_parser *p, enum nc_op op, uint32_t at, uint32_t nkid)
{
    struct nx *x = wr_arena_alloc(&p->u->arena, sizeof *x);

    *x = (struct nx){.op = (uint8_t)op, .at = at, .nkid = nkid, .depth = 1};
    if (nkid)
        x->kid = wr_arena_alloc(&p->u->arena, nkid * sizeof *x->kid);
    return x;
}

/* Gives x the kid; NULL when the tree becomes too deep to evaluate safely. */
static struct nx *expr_set_kid(struct nc_parser *p, struct nx *x, uint32_t i, struct nx *kid)
{
    if (kid->depth >= DEEPEST) {
        nc_fail(&p->u->src, NC_SYNTAX, x->at, p->err,
                "this expression is nested more than %d deep; split it with LET", DEEPEST);
        return NULL;
    }
    if (kid->depth >= x->depth)
        x->depth = (uint16_t)(kid->depth + 1);
    x->kid[i] = kid;
    return x;
}

struct nx *nc_node(struct nc_parser *p, enum nc_op op, uint32_t at, struct nx *a, struct nx *b,
                   struct nx *c)
{
    struct nx *kids[] = {a, b, c};
    uint32_t n = c ? 3 : b ? 2 : a ? 1 : 0;
    struct nx *x = expr_new_node(p, op, at, n);

    for (uint32_t i = 0; x && i < n; i++)
        x = expr_set_kid(p, x, i, kids[i]);
    return x;
}

struct nx *nc_number(struct nc_parser *p, uint32_t at, int64_t value)
{
    struct nx *x = expr_new_node(p, NX_CONST, at, 0);

    x->i = value;
    x->d = (double)value;
    return x;
}

bool nc_expr_begins(const struct nc_parser *p)
{
    switch (nc_peek(p, 0)->kind) {
    case NT_INT:
    case NT_NAME:
    case NT_LPAREN:
    case NT_PLUS:
    case NT_MINUS:
        return true;
    case NT_WORD:
        break;
    default:
        return false;
    }
    enum nc_kw kw = nc_peek(p, 0)->kw;
    return kw == NK_NOT || kw == NK_MY || kw == NK_REAL ||
           (nc_func_find(kw) && nc_peek(p, 1)->kind == NT_LPAREN);
}

/* The kind a place asks for: a number or a condition. */
static struct nx *expr_as_number(struct nc_parser *p, struct nx *x)
{
    if (x && nc_is_rel(x->op)) {
        nc_fail(&p->u->src, NC_SYNTAX, x->at, p->err,
                "a number is needed here, this is a condition; write <number> IF <condition> "
                "OTHERWISE <number>");
        return NULL;
    }
    return x;
}

static struct nx *expr_as_rel(struct nc_parser *p, struct nx *x)
{
    if (x && !nc_is_rel(x->op)) {
        nc_unexpected(p, "a comparison such as = or <");
        return NULL;
    }
    return x;
}

struct nx *nc_expr(struct nc_parser *p)
{
    return expr_as_number(p, expr_cond(p));
}

struct nx *nc_rel(struct nc_parser *p)
{
    return expr_as_rel(p, expr_or(p));
}

/* ---- ranges ---- */

static struct nx **expr_keep_list(struct nc_parser *p, struct nx **v, size_t n)
{
    struct nx **kept = wr_arena_alloc(&p->u->arena, n * sizeof *kept);

    if (n)
        memcpy(kept, v, n * sizeof *kept);
    return kept;
}

static bool expr_comprehension(struct nc_parser *p, struct nc_range *r)
{
    WR_VEC(struct nc_gen) gens = {0};
    bool ok = true;

    r->kind = NR_COMP;
    while (ok && nc_at(p, NK_FOR)) {
        struct nc_gen g = {.at = nc_peek(p, 2)->at};

        nc_take(p, NK_FOR);
        ok = nc_need(p, NK_EACH, "FOR") &&
             (g.name = nc_need_name(p, "a variable after FOR EACH")) &&
             nc_need(p, NK_IN, "the variable") && nc_ranges(p, &g.ranges, &g.nranges);
        if (ok)
            wr_vec_push(&gens, g);
    }
    if (ok && nc_take(p, NK_WHERE))
        ok = (r->where = nc_rel(p)) != NULL;
    if (ok && gens.n) {
        r->gens = wr_arena_alloc(&p->u->arena, gens.n * sizeof *gens.v);
        memcpy(r->gens, gens.v, gens.n * sizeof *gens.v);
        r->ngens = (uint32_t)gens.n;
    }
    wr_vec_fini(&gens);
    return ok;
}

/* After the opening brace and the first value. */
static bool expr_range_rest(struct nc_parser *p, struct nc_range *r, struct nx *first)
{
    WR_VEC(struct nx *) list = {0};
    bool ok = true;

    wr_vec_push(&list, first);
    while (ok && nc_take_kind(p, NT_COMMA)) {
        struct nx *x;

        if (nc_take_kind(p, NT_ELLIPSIS)) {
            r->kind = NR_ELLIPSIS;
            ok = nc_need_kind(p, NT_COMMA, ", and the last value after ...") &&
                 (r->last = nc_expr(p));
            break;
        }
        ok = (x = nc_expr(p)) != NULL;
        if (ok)
            wr_vec_push(&list, x);
    }
    r->e = expr_keep_list(p, list.v, list.n);
    r->n = (uint32_t)list.n;
    wr_vec_fini(&list);
    return ok;
}

static bool expr_range(struct nc_parser *p, struct nc_range *ret)
{
    struct nc_range r = {.kind = NR_LIST, .at = nc_peek(p, 0)->at};
    struct nx *first;

    if (!nc_enter(p) || !nc_need_kind(p, NT_LBRACE, "{ to begin a range"))
        return false;
    if (!(first = nc_expr(p)))
        return false;
    if (nc_at(p, NK_FOR)) {
        r.e = expr_keep_list(p, &first, 1);
        r.n = 1;
        if (!expr_comprehension(p, &r))
            return false;
    } else if (!expr_range_rest(p, &r, first)) {
        return false;
    }
    if (!nc_need_kind(p, NT_RBRACE, ", or } to end the range"))
        return false;
    p->depth--;
    *ret = r;
    return true;
}

bool nc_ranges(struct nc_parser *p, struct nc_range **ret, uint32_t *nret)
{
    WR_VEC(struct nc_range) list = {0};
    struct nc_range r;
    bool ok;

    do {
        ok = expr_range(p, &r);
        if (ok)
            wr_vec_push(&list, r);
    } while (ok && nc_peek(p, 1)->kind == NT_LBRACE && nc_take_kind(p, NT_COMMA));
    if (ok) {
        *ret = wr_arena_alloc(&p->u->arena, list.n * sizeof *list.v);
        memcpy(*ret, list.v, list.n * sizeof *list.v);
        *nret = (uint32_t)list.n;
    }
    wr_vec_fini(&list);
    return ok;
}

/* ---- primaries ---- */

/* ( w [*] [, h [*] [, d [*]]] ), padded to three dimensions. */
static bool expr_mesh_dims(struct nc_parser *p, struct nx *call)
{
    uint32_t at = nc_peek(p, 0)->at, n = 0;

    if (!nc_need_kind(p, NT_LPAREN, "( and the dimensions of the mesh"))
        return false;
    do {
        struct nx *x = nc_expr(p);

        if (!x)
            return false;
        if (n == 3)
            return nc_fail(&p->u->src, NC_SEMANTIC, x->at, p->err,
                           "a mesh has at most three dimensions; remove the others");
        if (!expr_set_kid(p, call, n, x))
            return false;
        if (nc_take_kind(p, NT_STAR))
            call->i |= 1 << n;
        n++;
    } while (nc_take_kind(p, NT_COMMA));
    for (uint32_t d = n; d < 3; d++)
        call->kid[d] = nc_number(p, at, 1);
    call->nkid = n; /* how many were given, for expr_mesh_offsets() */
    return nc_need_kind(p, NT_RPAREN, ", * or ) after a dimension");
}

static bool expr_mesh_offsets(struct nc_parser *p, struct nx *call, uint32_t ndims)
{
    uint32_t at = nc_peek(p, 0)->at, n = 0;

    if (!nc_need_kind(p, NT_LPAREN, "( and the steps along each dimension"))
        return false;
    do {
        struct nx *x = nc_expr(p);

        if (!x || (n < 3 && !expr_set_kid(p, call, 4 + n, x)))
            return false;
        n++;
    } while (nc_take_kind(p, NT_COMMA));
    if (n != ndims)
        return nc_fail(&p->u->src, NC_SEMANTIC, at, p->err,
                       "the mesh has %u dimension(s) but %u step(s) are given; give one step per "
                       "dimension",
                       ndims, n);
    for (; n < 3; n++)
        call->kid[4 + n] = nc_number(p, at, 0);
    return nc_need_kind(p, NT_RPAREN, ", or ) after a step");
}

/* MESH_NEIGHBOR((w, h), task, (dx, dy)) and its two sisters. */
static struct nx *expr_mesh_call(struct nc_parser *p, enum nc_kw kw, uint32_t at)
{
    struct nx *call = expr_new_node(p, NX_CALL, at, 7), *x;

    call->func = kw;
    if (!expr_mesh_dims(p, call))
        return NULL;
    uint32_t ndims = call->nkid;
    if (!nc_need_kind(p, NT_COMMA, ", and a task after the dimensions") || !(x = nc_expr(p)) ||
        !expr_set_kid(p, call, 3, x) || !nc_need_kind(p, NT_COMMA, ", and a third argument"))
        return NULL;
    if (kw == NK_MESH_NEIGHBOR) {
        if (!expr_mesh_offsets(p, call, ndims))
            return NULL;
        call->nkid = 7;
    } else {
        if (!(x = nc_expr(p)) || !expr_set_kid(p, call, 4, x))
            return NULL;
        call->nkid = 5;
    }
    return nc_need_kind(p, NT_RPAREN, ") to end the argument list") ? call : NULL;
}

/* FILE_DATA("file" [, column [, row [, "colseps" [, "rowseps"]]]]) */
static struct nx *expr_file_call(struct nc_parser *p, enum nc_kw kw, uint32_t at)
{
    struct nx *call = expr_new_node(p, NX_CALL, at, 2), *x;
    const char **seps[] = {&call->colsep, &call->rowsep};

    call->func = kw;
    call->colsep = " \t";
    call->rowsep = "\n";
    call->kid[0] = call->kid[1] = nc_number(p, at, 1);
    if (!(call->name = nc_need_string(p, "a file name in quotes")))
        return NULL;
    for (uint32_t i = 0; i < 2 && nc_take_kind(p, NT_COMMA); i++)
        if (!(x = nc_expr(p)) || !expr_set_kid(p, call, i, x))
            return NULL;
    for (uint32_t i = 0; i < 2 && nc_take_kind(p, NT_COMMA); i++)
        if (!(*seps[i] = nc_need_string(p, "separators in quotes")))
            return NULL;
    return nc_need_kind(p, NT_RPAREN, ") to end the argument list") ? call : NULL;
}

static struct nx *expr_plain_call(struct nc_parser *p, const struct nc_func *f, uint32_t at)
{
    WR_VEC(struct nx *) args = {0};
    struct nx *call = NULL, *x;

    do {
        if (!(x = nc_expr(p)))
            goto out;
        wr_vec_push(&args, x);
    } while (nc_take_kind(p, NT_COMMA));
    if (args.n < f->min || args.n > f->max) {
        nc_fail(&p->u->src, NC_SEMANTIC, at, p->err,
                "%s takes %u to %u arguments but is given %zu; see the language page", f->name,
                f->min, f->max, args.n);
        goto out;
    }
    call = expr_new_node(p, NX_CALL, at, (uint32_t)args.n);
    call->func = f->kw;
    for (uint32_t i = 0; call && i < args.n; i++)
        call = expr_set_kid(p, call, i, args.v[i]);
    if (!nc_need_kind(p, NT_RPAREN, ", or ) after an argument"))
        call = NULL;
out:
    wr_vec_fini(&args);
    return call;
}

static struct nx *expr_call(struct nc_parser *p, uint32_t at)
{
    enum nc_kw kw = nc_peek(p, 0)->kw;
    const struct nc_func *f = nc_func_find(kw);

    if (!f && kw)
        nc_fail(&p->u->src, NC_SYNTAX, at, p->err,
                "expected a number or a variable but %s is a keyword; no variable can have this "
                "name",
                nc_peek(p, 0)->text);
    else if (!f)
        nc_unexpected(p, "a number or a variable");
    if (!f)
        return NULL;
    nc_take(p, kw);
    if (!nc_need_kind(p, NT_LPAREN, "( after a function's name"))
        return NULL;
    switch (f->shape) {
    case NC_SHAPE_MESH:
        return expr_mesh_call(p, kw, at);
    case NC_SHAPE_FILE:
        return expr_file_call(p, kw, at);
    case NC_SHAPE_PLAIN:
        break;
    }
    return expr_plain_call(p, f, at);
}

static struct nx *expr_primary(struct nc_parser *p)
{
    const struct nc_tok *tok = nc_peek(p, 0);
    struct nx *x;

    switch (tok->kind) {
    case NT_INT:
        x = nc_number(p, tok->at, tok->value);
        x->d = tok->real;
        x->big = tok->big;
        p->pos++;
        return x;
    case NT_NAME:
        x = expr_new_node(p, NX_VAR, tok->at, 0);
        x->name = tok->text;
        p->pos++;
        return x;
    case NT_LPAREN:
        p->pos++;
        x = expr_or(p);
        return x && nc_need_kind(p, NT_RPAREN, ") to match the ( before") ? x : NULL;
    default:
        break;
    }
    if (nc_take(p, NK_MY))
        return nc_need(p, NK_TASKS, "MY") ? expr_new_node(p, NX_MYTASK, tok->at, 0) : NULL;
    if (nc_take(p, NK_REAL)) {
        if (!nc_need_kind(p, NT_LPAREN, "( after REAL") || !(x = nc_expr(p)) ||
            !nc_need_kind(p, NT_RPAREN, ") to end REAL"))
            return NULL;
        return nc_node(p, NX_REAL, tok->at, x, NULL, NULL);
    }
    return expr_call(p, tok->at);
}

/* ---- operators, tightest first ---- */

static struct nx *expr_power(struct nc_parser *p)
{
    struct nx *base = expr_primary(p), *exponent;
    uint32_t at = nc_peek(p, 0)->at;

    if (!base || !nc_take_kind(p, NT_POWER))
        return base;
    if (!expr_as_number(p, base) || !(exponent = expr_as_number(p, expr_unary(p))))
        return NULL;
    return nc_node(p, NX_POW, at, base, exponent, NULL);
}

/* A sign before a literal is part of it, so that constants stay constants. */
static struct nx *expr_negate(struct nc_parser *p, uint32_t at, struct nx *x)
{
    if (x->op == NX_CONST && !x->big) {
        x->i = -x->i;
        x->d = -x->d;
        x->at = at;
        return x;
    }
    return nc_node(p, NX_NEG, at, x, NULL, NULL);
}

static struct nx *expr_unary(struct nc_parser *p)
{
    uint32_t at = nc_peek(p, 0)->at;
    bool minus, invert, plus;
    struct nx *x;

    if (!nc_enter(p))
        return NULL;
    minus = nc_take_kind(p, NT_MINUS);
    plus = !minus && nc_take_kind(p, NT_PLUS);
    invert = !minus && !plus && nc_take(p, NK_NOT);
    x = minus || plus || invert ? expr_as_number(p, expr_unary(p)) : expr_power(p);
    p->depth--;
    if (!x || !(minus || invert))
        return x;
    return minus ? expr_negate(p, at, x) : nc_node(p, NX_NOT, at, x, NULL, NULL);
}

struct binary {
    enum nc_tok_kind kind;
    enum nc_kw kw;
    enum nc_op op;
};

static const struct binary mult_ops[] = {
    {NT_STAR, 0, NX_MUL}, {NT_SLASH, 0, NX_DIV}, {NT_WORD, NK_MOD, NX_MOD},
    {NT_SHL, 0, NX_SHL},  {NT_SHR, 0, NX_SHR},   {NT_BITAND, 0, NX_AND},
};
static const struct binary add_ops[] = {
    {NT_PLUS, 0, NX_ADD},
    {NT_MINUS, 0, NX_SUB},
    {NT_BITOR, 0, NX_OR},
    {NT_WORD, NK_XOR, NX_XOR},
};
static const struct binary rel_ops[] = {
    {NT_EQ, 0, NX_EQ},
    {NT_NE, 0, NX_NE},
    {NT_LT, 0, NX_LT},
    {NT_GT, 0, NX_GT},
    {NT_LE, 0, NX_LE},
    {NT_GE, 0, NX_GE},
    {NT_WORD, NK_DIVIDES, NX_DIVIDES},
};

static const struct binary *expr_take_binary(struct nc_parser *p, const struct binary *ops,
                                             size_t n)
{
    const struct nc_tok *tok = nc_peek(p, 0);

    /* In a list of mesh dimensions, "4*," means wraparound. */
    if (tok->kind == NT_STAR &&
        (nc_peek(p, 1)->kind == NT_COMMA || nc_peek(p, 1)->kind == NT_RPAREN))
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (tok->kind == ops[i].kind && tok->kw == ops[i].kw) {
            p->pos++;
            return &ops[i];
        }
    return NULL;
}

static struct nx *expr_chain(struct nc_parser *p, struct nx *(*tighter)(struct nc_parser *),
                             const struct binary *ops, size_t n)
{
    struct nx *left = tighter(p), *right;
    const struct binary *b;
    uint32_t at;

    while (left && (at = nc_peek(p, 0)->at, b = expr_take_binary(p, ops, n))) {
        if (!expr_as_number(p, left) || !(right = expr_as_number(p, tighter(p))))
            return NULL;
        left = nc_node(p, b->op, at, left, right, NULL);
    }
    return left;
}

static struct nx *expr_mult(struct nc_parser *p)
{
    return expr_chain(p, expr_unary, mult_ops, sizeof mult_ops / sizeof mult_ops[0]);
}

static struct nx *expr_add(struct nc_parser *p)
{
    return expr_chain(p, expr_mult, add_ops, sizeof add_ops / sizeof add_ops[0]);
}

static struct nx *expr_cond(struct nc_parser *p)
{
    struct nx *yes, *when, *no;
    uint32_t at, back;

    if (!nc_enter(p) || !(yes = expr_add(p)))
        return NULL;
    p->depth--;
    at = nc_peek(p, 0)->at;
    if (nc_is_rel(yes->op) || !nc_at(p, NK_IF))
        return yes;

    /* The next sentence may begin with IF when no period was written: then
     * THEN follows the condition where OTHERWISE should. */
    back = p->pos;
    nc_take(p, NK_IF);
    if (!nc_enter(p) || !(when = expr_as_rel(p, expr_or(p))))
        return NULL;
    p->depth--;
    if (nc_at(p, NK_THEN)) {
        p->pos = back;
        return yes;
    }
    if (!nc_need(p, NK_OTHERWISE, "the condition") || !nc_enter(p) ||
        !(no = expr_as_number(p, expr_cond(p))))
        return NULL;
    p->depth--;
    return nc_node(p, NX_COND, at, yes, when, no);
}

/* IS EVEN, IS ODD, IS [NOT] IN ranges, IS [NOT] IN [a, b] */
static struct nx *expr_property(struct nc_parser *p, struct nx *x, uint32_t at)
{
    bool inverted;
    struct nx *lo, *hi;

    if (nc_take(p, NK_EVEN))
        return nc_node(p, NX_EVEN, at, x, NULL, NULL);
    if (nc_take(p, NK_ODD))
        return nc_node(p, NX_ODD, at, x, NULL, NULL);
    inverted = nc_take(p, NK_NOT);
    if (!nc_take(p, NK_IN)) {
        nc_unexpected(p, inverted ? "IN after IS NOT" : "EVEN, ODD, IN or NOT IN after IS");
        return NULL;
    }
    if (nc_take_kind(p, NT_LBRACKET)) {
        nc_warn(&p->u->src, at, &p->u->warnings, "[a, b] is deprecated; write {a, ..., b}");
        if (!(lo = nc_expr(p)) || !nc_need_kind(p, NT_COMMA, ", between two bounds") ||
            !(hi = nc_expr(p)) || !nc_need_kind(p, NT_RBRACKET, "] to end the bounds"))
            return NULL;
        return nc_node(p, inverted ? NX_NOT_WITHIN : NX_WITHIN, at, x, lo, hi);
    }
    struct nx *in = nc_node(p, inverted ? NX_NOT_IN : NX_IN, at, x, NULL, NULL);
    return in && nc_ranges(p, &in->ranges, &in->nranges) ? in : NULL;
}

static struct nx *expr_relation(struct nc_parser *p)
{
    struct nx *left = expr_cond(p), *right;
    uint32_t at = nc_peek(p, 0)->at;
    const struct binary *b;

    if (!left || nc_is_rel(left->op))
        return left;
    if ((b = expr_take_binary(p, rel_ops, sizeof rel_ops / sizeof rel_ops[0]))) {
        if (!(right = nc_expr(p)))
            return NULL;
        return nc_node(p, b->op, at, left, right, NULL);
    }
    return nc_take(p, NK_ARE) ? expr_property(p, left, at) : left;
}

static struct nx *expr_logic(struct nc_parser *p, struct nx *(*tighter)(struct nc_parser *),
                             enum nc_tok_kind kind, enum nc_op op)
{
    struct nx *left = tighter(p), *right;
    uint32_t at;

    while (left && (at = nc_peek(p, 0)->at, nc_take_kind(p, kind))) {
        if (!expr_as_rel(p, left) || !(right = expr_as_rel(p, tighter(p))))
            return NULL;
        left = nc_node(p, op, at, left, right, NULL);
    }
    return left;
}

static struct nx *expr_and(struct nc_parser *p)
{
    return expr_logic(p, expr_relation, NT_AND, NX_LAND);
}

static struct nx *expr_or(struct nc_parser *p)
{
    return expr_logic(p, expr_and, NT_OR, NX_LOR);
}
