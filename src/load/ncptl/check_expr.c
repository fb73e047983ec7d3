/* check_expr.c -- resolves names in expressions and task descriptions.
 *
 * A name is a variable in scope, a predeclared variable, or an error. Where all tasks must agree on
 * a value (struct nc_rules), counters and random numbers are refused.
 */
#include <assert.h>
#include <string.h>

#include "check_priv.h"
#include "func_priv.h"

static const struct {
    const char *name;
    bool ours; /* weir's own: a program may use the name for something else */
} predeclared[] = {
    [NCC_ELAPSED] = {"elapsed_usecs", false},
    [NCC_BYTES_SENT] = {"bytes_sent", false},
    [NCC_BYTES_RECEIVED] = {"bytes_received", false},
    [NCC_TOTAL_BYTES] = {"total_bytes", false},
    [NCC_MSGS_SENT] = {"msgs_sent", false},
    [NCC_MSGS_RECEIVED] = {"msgs_received", false},
    [NCC_TOTAL_MSGS] = {"total_msgs", false},
    [NCC_BIT_ERRORS] = {"bit_errors", false},
    [NCC_BYTES_WRITTEN] = {"bytes_written", true},
    [NCC_BYTES_READ] = {"bytes_read", true},
    [NCC_IOS_COMPLETED] = {"ios_completed", true},
};

enum { NPREDECLARED = sizeof predeclared / sizeof predeclared[0] };

/* Index of a predeclared variable (enum nc_counter), or -1. */
static int check_predeclared(const char *name)
{
    for (int i = 0; i < NPREDECLARED; i++)
        if (!strcmp(predeclared[i].name, name))
            return i;
    return -1;
}

struct nc_bind *nc_new_bind(struct nc_checker *c, enum nc_bind_kind kind, const char *name,
                            uint32_t at)
{
    int i = check_predeclared(name);

    assert(name);
    if (!strcmp(name, "num_tasks") || (i >= 0 && !predeclared[i].ours)) {
        nc_fail(&c->u->src, NC_SEMANTIC, at, c->err,
                "%s is predeclared and cannot be defined again; choose another name", name);
        return NULL;
    }
    struct nc_bind *b = wr_arena_alloc(&c->u->arena, sizeof *b);
    *b = (struct nc_bind){.name = name, .kind = kind, .at = at, .id = c->u->nbinds++};
    return b;
}

struct nc_bind *nc_lookup(const struct nc_checker *c, const char *name, bool group)
{
    for (const struct nc_scope *s = c->scope; s; s = s->up)
        if (s->bind && (s->bind->kind == NB_GROUP) == group && !strcmp(s->bind->name, name))
            return s->bind;
    return NULL;
}

void nc_warn_unused(struct nc_checker *c, const struct nc_bind *b)
{
    if (b && !b->used)
        nc_warn(&c->u->src, b->at, &c->u->warnings, "%s is defined but never used; remove it",
                b->name);
}

static bool check_fail_undeclared(struct nc_checker *c, const struct nx *x)
{
    struct wr_nearest near = {.want = x->name};

    for (const struct nc_scope *s = c->scope; s; s = s->up)
        if (s->bind && s->bind->kind != NB_GROUP)
            wr_nearest_try(&near, s->bind->name);
    for (int i = 0; i < NPREDECLARED; i++)
        wr_nearest_try(&near, predeclared[i].name);
    wr_nearest_try(&near, "num_tasks");
    if (near.best)
        return nc_fail(&c->u->src, NC_SEMANTIC, x->at, c->err,
                       "variable %s is not declared; did you mean %s?", x->name, near.best);
    return nc_fail(&c->u->src, NC_SEMANTIC, x->at, c->err,
                   "variable %s is not declared; bind it with LET, or declare it as a parameter "
                   "at the top (%s IS \"...\" AND COMES FROM ...)",
                   x->name, x->name);
}

static bool check_resolve_name(struct nc_checker *c, struct nx *x, const struct nc_rules *rules)
{
    int i = check_predeclared(x->name);

    x->bind = nc_lookup(c, x->name, false);
    for (int k = 0; k < 2; k++) {
        struct nc_bind *late = c->late[k];

        if (!late || strcmp(late->name, x->name))
            continue;
        if (x->bind)
            nc_warn(&c->u->src, x->at, &c->u->warnings,
                    "%s here is the surrounding variable, not the task; rename one of them",
                    x->name);
        else
            x->bind = late;
    }
    if (x->bind) {
        x->bind->used = true;
        return true;
    }
    if (!strcmp(x->name, "num_tasks")) {
        x->op = NX_NTASKS;
        return true;
    }
    if (i < 0)
        return check_fail_undeclared(c, x);
    if (!rules->counters)
        return nc_fail(&c->u->src, NC_SEMANTIC, x->at, c->err,
                       "%s is not allowed within %s, where all tasks must agree; use it in LOGS or "
                       "OUTPUTS",
                       x->name, rules->where);
    x->op = NX_COUNTER;
    x->i = i;
    return true;
}

static bool check_call(struct nc_checker *c, struct nx *x, const struct nc_rules *rules)
{
    const struct nc_func *f = nc_func_find(x->func);

    assert(f);
    if (f->local && !rules->random)
        return nc_fail(&c->u->src, NC_SEMANTIC, x->at, c->err,
                       "%s is not allowed within %s, where all tasks must agree; use %s", f->name,
                       rules->where,
                       x->func == NK_FILE_DATA ? "STATIC_FILE_DATA" : "LET ... BE A RANDOM TASK");
    return true;
}

static bool check_node(struct nc_checker *c, struct nx *x, const struct nc_rules *rules)
{
    switch (x->op) {
    case NX_CONST:
        if (x->big && !rules->real)
            return nc_fail(&c->u->src, NC_SEMANTIC, x->at, c->err,
                           "this number needs more than 64 bits; use a smaller one");
        return true;
    case NX_VAR:
        return check_resolve_name(c, x, rules);
    case NX_MYTASK:
        if (!rules->my_task)
            return nc_fail(&c->u->src, NC_SEMANTIC, x->at, c->err,
                           "MY TASK is allowed only within the condition of IF; use ALL TASKS t");
        nc_warn(&c->u->src, x->at, &c->u->warnings,
                "MY TASK lets tasks go different ways, which is seldom what is meant");
        return true;
    case NX_CALL:
        return check_call(c, x, rules);
    default:
        return true;
    }
}

bool nc_check_expr(struct nc_checker *c, struct nx *x, const struct nc_rules *rules)
{
    struct nc_rules inner = *rules;

    if (!x)
        return true;
    if (!check_node(c, x, rules))
        return false;
    if (x->op == NX_REAL)
        inner.real = true;
    for (uint32_t i = 0; i < x->nkid; i++)
        if (!nc_check_expr(c, x->kid[i], &inner))
            return false;
    inner.real = false;
    return nc_check_ranges(c, x->ranges, x->nranges, &inner);
}

static bool check_comprehension(struct nc_checker *c, struct nc_range *r, uint32_t g,
                                const struct nc_rules *rules)
{
    if (g == r->ngens)
        return nc_check_expr(c, r->where, rules) && nc_check_expr(c, r->e[0], rules);

    struct nc_gen *gen = &r->gens[g];
    if (!nc_check_ranges(c, gen->ranges, gen->nranges, rules) ||
        !(gen->bind = nc_new_bind(c, NB_COMP, gen->name, gen->at)))
        return false;
    struct nc_scope inner = {.bind = gen->bind, .up = c->scope};
    c->scope = &inner;
    bool ok = check_comprehension(c, r, g + 1, rules);
    c->scope = inner.up;
    return ok;
}

bool nc_check_ranges(struct nc_checker *c, struct nc_range *r, uint32_t n,
                     const struct nc_rules *rules)
{
    for (uint32_t i = 0; i < n; i++) {
        bool ok = true;

        if (r[i].kind == NR_COMP) {
            ok = check_comprehension(c, &r[i], 0, rules);
        } else {
            for (uint32_t k = 0; ok && k < r[i].n; k++)
                ok = nc_check_expr(c, r[i].e[k], rules);
            ok = ok && nc_check_expr(c, r[i].last, rules);
        }
        if (!ok)
            return false;
    }
    return true;
}

static bool check_task_group(struct nc_checker *c, struct nc_tasks *t)
{
    t->group = nc_lookup(c, t->name, true);
    if (!t->group)
        return nc_fail(&c->u->src, NC_SEMANTIC, t->at, c->err,
                       "there is no task group %s; define it with LET %s BE TASKS ...", t->name,
                       t->name);
    t->group->used = true;
    return true;
}

bool nc_check_tasks(struct nc_checker *c, struct nc_tasks *t)
{
    static const struct nc_rules rules = {.where = "a task description"};

    if (t->kind == NC_GROUP && !check_task_group(c, t))
        return false;
    if (t->name && !(t->bind = nc_new_bind(c, NB_TASK, t->name, t->at)))
        return false;
    if (t->kind == NC_GROUP)
        t->bind->used = true;
    if (t->kind != NC_SUCH)
        return nc_check_expr(c, t->e, &rules) && nc_check_ranges(c, t->ranges, t->nranges, &rules);
    struct nc_scope inner = {.bind = t->bind, .up = c->scope};
    c->scope = &inner;
    bool ok = nc_check_expr(c, t->e, &rules);
    c->scope = inner.up;
    return ok;
}

/* ---- questions about what was written ---- */

static bool check_ranges_mention(const struct nc_range *r, uint32_t n, const char *name);

static bool check_mentions(const struct nx *x, const char *name)
{
    if (!x)
        return false;
    if (x->op == NX_VAR && !strcmp(x->name, name))
        return true;
    for (uint32_t i = 0; i < x->nkid; i++)
        if (check_mentions(x->kid[i], name))
            return true;
    return check_ranges_mention(x->ranges, x->nranges, name);
}

static bool check_ranges_mention(const struct nc_range *r, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < r[i].n; k++)
            if (check_mentions(r[i].e[k], name))
                return true;
        for (uint32_t g = 0; g < r[i].ngens; g++)
            if (check_ranges_mention(r[i].gens[g].ranges, r[i].gens[g].nranges, name))
                return true;
        if (check_mentions(r[i].last, name) || check_mentions(r[i].where, name))
            return true;
    }
    return false;
}

bool nc_tasks_mention(const struct nc_tasks *t, const char *name)
{
    return check_mentions(t->e, name) || check_ranges_mention(t->ranges, t->nranges, name);
}

bool nc_same_expr(const struct nx *a, const struct nx *b)
{
    if (!a && !b)
        return true;
    if (!a || !b) {
        const struct nx *x = a ? a : b;

        return x->op == NX_CONST && x->i == 1;
    }
    if (a->op != b->op || a->func != b->func || a->nkid != b->nkid || a->i != b->i || a->nranges ||
        b->nranges || (a->name != NULL) != (b->name != NULL) ||
        (a->name && strcmp(a->name, b->name)))
        return false;
    for (uint32_t i = 0; i < a->nkid; i++)
        if (!nc_same_expr(a->kid[i], b->kid[i]))
            return false;
    return true;
}
