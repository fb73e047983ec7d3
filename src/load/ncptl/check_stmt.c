/* check_stmt.c -- semantic checks of statements: scopes, and rules that the grammar cannot express.
 *
 * Runs once after parsing. Fills `bind` of every statement and `pull` of RECEIVES; check_expr.c
 * resolves the names in expressions. After nc_check() the tree does not change.
 */
#include <ctype.h>
#include <string.h>

#include "check_priv.h"

static const struct nc_rules in_let = {.where = "a LET binding"};
static const struct nc_rules in_message = {.where = "a message specification"};
static const struct nc_rules in_condition = {.where = "the condition of IF", .my_task = true};
static const struct nc_rules in_assert = {.where = "ASSERT"};
static const struct nc_rules in_loop = {.where = "the bounds of a loop"};
static const struct nc_rules in_assign = {.where = "a processor assignment"};
static const struct nc_rules in_default = {.where = "a parameter's default"};
static const struct nc_rules in_local = {.where = "this statement", .random = true};
static const struct nc_rules in_text = {
    .where = "text", .counters = true, .random = true, .real = true};

static bool check_stmts(struct nc_checker *c, struct nc_stmt *s);
static bool check_stmt(struct nc_checker *c, struct nc_stmt *s);

static bool check_fail(struct nc_checker *c, uint32_t at, const char *text)
{
    return nc_fail(&c->u->src, NC_SEMANTIC, at, c->err, "%s", text);
}

/* Runs `check` with `b` in scope; b may be NULL. */
static bool check_in_scope(struct nc_checker *c, struct nc_bind *b,
                           bool (*check)(struct nc_checker *, struct nc_stmt *), struct nc_stmt *s)
{
    struct nc_scope inner = {.bind = b, .up = c->scope};

    c->scope = &inner;
    bool ok = check(c, s);
    c->scope = inner.up;
    return ok;
}

static void check_push_scope(struct nc_checker *c, struct nc_bind *b)
{
    struct nc_scope *inner = wr_arena_alloc(&c->u->arena, sizeof *inner);

    *inner = (struct nc_scope){.bind = b, .up = c->scope};
    c->scope = inner;
}

static bool check_source(struct nc_checker *c, struct nc_tasks *t)
{
    if (t->kind == NC_OTHERS)
        return check_fail(
            c, t->at,
            "ALL OTHER TASKS cannot act: other than which? Use it after TO, or write TASKS "
            "t SUCH THAT t <> ...");
    return nc_check_tasks(c, t);
}

static bool check_target(struct nc_checker *c, struct nc_tasks *t)
{
    if (t->kind == NC_ALL)
        return check_fail(
            c, t->at,
            "ALL TASKS cannot be a target; write ALL OTHER TASKS, or TASKS t SUCH THAT "
            "t >= 0 to include the sender");
    return nc_check_tasks(c, t);
}

/* ---- loops, LET, IF ---- */

static bool check_random_task(struct nc_checker *c, struct nc_let *l)
{
    if (c->uneven)
        return check_fail(
            c, l->at,
            "A RANDOM TASK is drawn by all tasks together, but MY TASK lets only some come "
            "here; move it out of the IF");
    return nc_check_expr(c, l->lo, &in_let) && nc_check_expr(c, l->hi, &in_let) &&
           nc_check_expr(c, l->but, &in_let);
}

static bool check_binding(struct nc_checker *c, struct nc_let *l)
{
    static const enum nc_bind_kind kinds[] = {
        [NL_VALUE] = NB_LET, [NL_GROUP] = NB_GROUP, [NL_RANDOM] = NB_RANDOM};
    bool ok = l->kind == NL_GROUP    ? check_source(c, l->tasks)
              : l->kind == NL_RANDOM ? check_random_task(c, l)
                                     : nc_check_expr(c, l->e, &in_let);

    if (!ok || !(l->bind = nc_new_bind(c, kinds[l->kind], l->name, l->at)))
        return false;
    l->bind->group = l->tasks;
    return true;
}

/* Each binding sees those before it; the statement sees them all. */
static bool check_let(struct nc_checker *c, struct nc_stmt *s)
{
    const struct nc_scope *outer = c->scope;
    bool ok = true;

    for (struct nc_let *l = s->lets; ok && l; l = l->next) {
        ok = check_binding(c, l);
        if (ok)
            check_push_scope(c, l->bind);
    }
    ok = ok && check_stmt(c, s->body);
    c->scope = outer;
    for (struct nc_let *l = s->lets; ok && l; l = l->next)
        nc_warn_unused(c, l->bind);
    return ok;
}

static bool check_uses_my_task(const struct nx *x)
{
    if (x->op == NX_MYTASK)
        return true;
    for (uint32_t i = 0; i < x->nkid; i++)
        if (check_uses_my_task(x->kid[i]))
            return true;
    return false;
}

static bool check_if(struct nc_checker *c, struct nc_stmt *s)
{
    bool uneven, ok;

    if (!nc_check_expr(c, s->e, &in_condition))
        return false;
    uneven = check_uses_my_task(s->e);
    c->uneven += uneven;
    ok = check_stmt(c, s->body) && (!s->other || check_stmt(c, s->other));
    c->uneven -= uneven;
    return ok;
}

static bool check_loop(struct nc_checker *c, struct nc_stmt *s)
{
    if (s->kind == NS_TIMED && c->uneven)
        return check_fail(
            c, s->at,
            "all tasks decide together when a timed loop ends, but MY TASK lets only some "
            "come here; move it out of the IF");
    return nc_check_expr(c, s->e, &in_loop) && nc_check_expr(c, s->warmup, &in_loop) &&
           check_stmt(c, s->body);
}

static bool check_each(struct nc_checker *c, struct nc_stmt *s)
{
    if (!nc_check_ranges(c, s->ranges, s->nranges, &in_loop) ||
        !(s->bind = nc_new_bind(c, NB_EACH, s->name, s->at)) ||
        !check_in_scope(c, s->bind, check_stmt, s->body))
        return false;
    nc_warn_unused(c, s->bind);
    return true;
}

/* ---- messages ---- */

static bool check_message(struct nc_checker *c, struct nc_msg *m, struct nc_bind *from,
                          struct nc_bind *to)
{
    bool ok;

    if (!m)
        return true;
    c->late[0] = from;
    c->late[1] = to;
    ok = nc_check_expr(c, m->count, &in_message) && nc_check_expr(c, m->size, &in_message) &&
         nc_check_expr(c, m->align, &in_message) && nc_check_expr(c, m->tag, &in_message) &&
         nc_check_expr(c, m->buf, &in_message) && nc_check_expr(c, m->ofs, &in_message);
    c->late[0] = c->late[1] = NULL;
    if (ok && m->unique == NC_YES && m->buffer)
        nc_warn(&c->u->src, m->at, &c->u->warnings,
                "UNIQUE and BUFFER contradict each other; choose one");
    if (ok && m->aligned > NC_UNALIGNED && m->ofs)
        nc_warn(&c->u->src, m->at, &c->u->warnings,
                "an alignment and an offset into a buffer contradict each other; choose one");
    return ok;
}

static bool check_dst(struct nc_checker *c, struct nc_stmt *s)
{
    return check_target(c, s->dst);
}

static void check_unused_tasks(struct nc_checker *c, const struct nc_tasks *t)
{
    if (t)
        nc_warn_unused(c, t->bind);
}

static bool check_verification(struct nc_checker *c, const struct nc_stmt *s)
{
    bool sent = s->msg->touch == NC_VERIFY, received = sent;

    if (s->rmsg && s->rmsg->touch)
        received = s->rmsg->touch == NC_VERIFY;
    if (sent != received)
        return check_fail(
            c, s->rmsg->at,
            "sender and receiver must agree on VERIFICATION; say it on both sides or on "
            "neither");
    return true;
}

static bool check_send(struct nc_checker *c, struct nc_stmt *s)
{
    if (!check_source(c, s->src) || !check_in_scope(c, s->src->bind, check_dst, s) ||
        !check_message(c, s->msg, s->src->bind, s->dst->bind) ||
        !check_message(c, s->rmsg, s->src->bind, s->dst->bind) || !check_verification(c, s))
        return false;
    check_unused_tasks(c, s->src);
    check_unused_tasks(c, s->dst);
    return true;
}

static bool check_mcast(struct nc_checker *c, struct nc_stmt *s)
{
    if (!check_source(c, s->src) || !check_in_scope(c, s->src->bind, check_dst, s) ||
        !check_message(c, s->msg, s->src->bind, NULL))
        return false;
    check_unused_tasks(c, s->src);
    check_unused_tasks(c, s->dst);
    return true;
}

static bool check_declares_variable(const struct nc_tasks *t)
{
    return t->name != NULL;
}

/* In which direction the variables of RECEIVES flow; see the language page. */
static bool check_receive_direction(struct nc_checker *c, struct nc_stmt *s)
{
    const struct nc_tasks *names[] = {s->dst, s->src};

    if (s->dst->kind == NC_OTHERS || !check_declares_variable(s->src) ||
        !check_declares_variable(s->dst)) {
        s->pull = s->dst->kind != NC_OTHERS && !check_declares_variable(s->src);
        return true;
    }
    for (int i = 0; i < 2; i++)
        if (!strcmp(s->src->name, s->dst->name) || nc_lookup(c, names[i]->name, false))
            return nc_fail(&c->u->src, NC_SEMANTIC, names[i]->at, c->err,
                           "variable %s is ambiguous in this RECEIVES; rename it", names[i]->name);
    s->pull = nc_tasks_mention(s->src, s->dst->name);
    return true;
}

static bool check_recv_src(struct nc_checker *c, struct nc_stmt *s)
{
    return check_source(c, s->src);
}

static bool check_recv_dst(struct nc_checker *c, struct nc_stmt *s)
{
    return nc_check_tasks(c, s->dst);
}

static bool check_recv(struct nc_checker *c, struct nc_stmt *s)
{
    bool ok;

    if (!check_receive_direction(c, s))
        return false;
    if (s->pull)
        ok = nc_check_tasks(c, s->dst) && check_in_scope(c, s->dst->bind, check_recv_src, s);
    else
        ok = check_source(c, s->src) && check_in_scope(c, s->src->bind, check_recv_dst, s);
    if (!ok || !check_message(c, s->msg, s->src->bind, s->dst->bind))
        return false;
    check_unused_tasks(c, s->src);
    check_unused_tasks(c, s->dst);
    return true;
}

static bool check_reduce_spec(struct nc_checker *c, const struct nc_msg *m)
{
    char word[32];
    size_t n = 0;

    if (m->touch == NC_VERIFY)
        return check_fail(c, m->at, "REDUCES cannot verify its data; use WITH DATA TOUCHING");
    if (!m->type || m->type == NK_INTEGERS || m->type == NK_DOUBLEWORDS)
        return true;
    for (const char *s = nc_keyword_text(m->type); *s && n + 1 < sizeof word; s++)
        word[n++] = (char)toupper((unsigned char)*s);
    word[n] = '\0';
    return nc_fail(&c->u->src, NC_SEMANTIC, m->type_at, c->err,
                   "only INTEGERS and DOUBLEWORDS can be reduced, not %s", word);
}

static bool check_reduce_dst(struct nc_checker *c, struct nc_stmt *s)
{
    return !s->dst || check_source(c, s->dst);
}

static bool check_reduce(struct nc_checker *c, struct nc_stmt *s)
{
    struct nc_msg *to = s->rmsg;

    if (!check_source(c, s->src) || !check_in_scope(c, s->src->bind, check_reduce_dst, s) ||
        !check_message(c, s->msg, NULL, NULL) || !check_message(c, to, NULL, NULL) ||
        !check_reduce_spec(c, s->msg) || (to && !check_reduce_spec(c, to)))
        return false;
    if (to && to->type && to->type != s->msg->type)
        return check_fail(
            c, to->type_at,
            "what is reduced and the result must have one type; write the same twice");
    if (to && to->type && !nc_same_expr(s->msg->count, to->count))
        return check_fail(
            c, to->count_at,
            "as many values come out of a reduction as go in; write the same number twice");
    check_unused_tasks(c, s->src);
    check_unused_tasks(c, s->dst);
    return true;
}

/* ---- statements of one set of tasks ---- */

static bool check_local_exprs(struct nc_checker *c, struct nc_stmt *s)
{
    struct nx *all[] = {s->e,        s->region, s->times, s->stride,
                        s->accesses, s->count,  s->size,  s->offset};
    const struct nc_rules *rules = s->kind == NS_ASSIGN ? &in_assign : &in_local;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (!nc_check_expr(c, all[i], rules))
            return false;
    for (struct nc_item *it = s->items; it; it = it->next)
        if (!nc_check_expr(c, it->e, &in_text))
            return false;
    for (struct nc_column *col = s->columns; col; col = col->next)
        if (!nc_check_expr(c, col->e, &in_text) || !nc_check_expr(c, col->param, &in_loop))
            return false;
    return true;
}

static bool check_local(struct nc_checker *c, struct nc_stmt *s)
{
    if (s->kind == NS_ASSIGN && c->uneven)
        return check_fail(
            c, s->at,
            "all tasks must know which task runs where, but MY TASK lets only some come here; move "
            "the assignment out of the IF");
    if (!check_source(c, s->src) || !check_in_scope(c, s->src->bind, check_local_exprs, s))
        return false;
    check_unused_tasks(c, s->src);
    return true;
}

static bool check_stmt(struct nc_checker *c, struct nc_stmt *s)
{
    switch (s->kind) {
    case NS_BLOCK:
        return check_stmts(c, s->body);
    case NS_REPEAT:
    case NS_TIMED:
        return check_loop(c, s);
    case NS_EACH:
        return check_each(c, s);
    case NS_LET:
        return check_let(c, s);
    case NS_IF:
        return check_if(c, s);
    case NS_ASSERT:
        return nc_check_expr(c, s->e, &in_assert);
    case NS_SEND:
        return check_send(c, s);
    case NS_RECV:
        return check_recv(c, s);
    case NS_MCAST:
        return check_mcast(c, s);
    case NS_REDUCE:
        return check_reduce(c, s);
    default:
        return check_local(c, s);
    }
}

static bool check_stmts(struct nc_checker *c, struct nc_stmt *s)
{
    for (; s; s = s->next)
        if (!check_stmt(c, s))
            return false;
    return true;
}

/* ---- header ---- */

static bool check_is_long_option(const char *s)
{
    if (strncmp(s, "--", 2) || !s[2])
        return false;
    for (s += 2; *s; s++)
        if (!isalnum((unsigned char)*s) && *s != '-' && *s != '_')
            return false;
    return true;
}

static bool check_is_short_option(const char *s)
{
    return s[0] == '-' && (islower((unsigned char)s[1]) || isdigit((unsigned char)s[1])) && !s[2];
}

static bool check_param_options(struct nc_checker *c, struct nc_param *d)
{
    if (!check_is_long_option(d->longopt))
        return nc_fail(&c->u->src, NC_SEMANTIC, d->long_at, c->err,
                       "\"%s\" is no long option; write two dashes and letters, digits, - or _",
                       d->longopt);
    if (!check_is_short_option(d->shortopt))
        return nc_fail(&c->u->src, NC_SEMANTIC, d->short_at, c->err,
                       "\"%s\" is no short option; write a dash and one lower-case letter or digit",
                       d->shortopt);
    d->letter = d->shortopt[1];
    for (const struct nc_param *o = c->u->params; o != d; o = o->next) {
        if (!strcmp(o->name, d->name))
            return check_fail(c, d->at, "this parameter is declared twice; rename one");
        if (!strcmp(o->longopt, d->longopt))
            return check_fail(c, d->long_at, "this long option is declared twice; rename one");
        if (o->letter == d->letter)
            return check_fail(c, d->short_at, "this short option is declared twice; rename one");
    }
    return true;
}

static bool check_is_constant(struct nc_checker *c, const struct nx *x)
{
    if (x->op == NX_VAR)
        return nc_fail(&c->u->src, NC_SEMANTIC, x->at, c->err,
                       "a parameter's default must be constant, it cannot use %s; write a number",
                       x->name);
    for (uint32_t i = 0; i < x->nkid; i++)
        if (!check_is_constant(c, x->kid[i]))
            return false;
    return true;
}

bool nc_check(struct ncptl_unit *u, struct wr_err *err)
{
    struct nc_checker c = {.u = u, .err = err};

    for (struct nc_param *d = u->params; d; d = d->next) {
        if (!check_param_options(&c, d) || !check_is_constant(&c, d->def) ||
            !nc_check_expr(&c, d->def, &in_default) ||
            !(d->bind = nc_new_bind(&c, NB_PARAM, d->name, d->at)))
            return false;
        check_push_scope(&c, d->bind);
    }
    if (!check_stmts(&c, u->stmts))
        return false;
    for (struct nc_param *d = u->params; d; d = d->next)
        nc_warn_unused(&c, d->bind);
    return true;
}
