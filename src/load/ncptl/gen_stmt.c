/* gen_stmt.c -- loops, LET, IF and the statements of one set of tasks, in C.
 *
 * Expressions are evaluated in the order in which the interpreter evaluates them, since random
 * numbers depend on it.
 */
#include <assert.h>
#include <string.h>

#include "gen_priv.h"

static void gen_stmt(struct gen *g, const struct nc_stmt *s);

static void gen_stmts(struct gen *g, const struct nc_stmt *s)
{
    for (; s; s = s->next)
        gen_stmt(g, s);
}

/* ---- loops, LET, IF ---- */

static void gen_repeat(struct gen *g, const struct nc_stmt *s)
{
    uint32_t id = ++g->ids;

    if (!s->warmup) {
        gen_open(g, "for (int64_t n_%u = %s; n_%u > 0; n_%u--)", id, gen_int(g, s->e), id, id);
    } else {
        gen_line(g, "struct nc_loop loop_%u = {.count = %s, .warmups = %s, .sync = %s};", id,
                 gen_int(g, s->e), gen_int(g, s->warmup), s->sync ? "true" : "false");
        gen_open(g, "while (nc_loop_next(&loop_%u))", id);
    }
    gen_stmt(g, s->body);
    gen_close(g);
}

static void gen_timed_loop(struct gen *g, const struct nc_stmt *s)
{
    uint32_t id = ++g->ids;

    gen_line(
        g, "struct nc_timed timed_%u = {.nsecs = %s, .has_warmup = %s, .warmup = %s, .sync = %s};",
        id, gen_int(g, s->e), s->warmup ? "true" : "false", s->warmup ? gen_int(g, s->warmup) : "0",
        s->sync ? "true" : "false");
    gen_open(g, "while (nc_timed_next(&timed_%u))", id);
    gen_stmt(g, s->body);
    gen_close(g);
}

static void gen_each(struct gen *g, const struct nc_stmt *s)
{
    const char *each = wr_arena_printf(&g->arena, "each_%u", ++g->ids);

    gen_line(g, "struct nc_each %s = {0};", each);
    gen_line(g, "%s", "");
    gen_fill(g, each, s->ranges, s->nranges);
    g->name[s->bind->id] = gen_variable(g, "int64_t", "v_", s->name);
    gen_open(g, "while (nc_each_next(&%s, &%s))", each, g->name[s->bind->id]);
    gen_stmt(g, s->body);
    gen_close(g);
}

static void gen_let(struct gen *g, const struct nc_stmt *s)
{
    for (const struct nc_let *l = s->lets; l; l = l->next) {
        if (l->kind == NL_GROUP)
            continue; /* written where it is used */
        const char *e = l->kind == NL_VALUE
                            ? gen_int(g, l->e)
                            : wr_arena_printf(&g->arena, "nc_random_task(%s, %s, %s)",
                                              l->lo ? gen_int(g, l->lo) : "0",
                                              l->hi ? gen_int(g, l->hi) : "nc.tasks - 1",
                                              l->but ? gen_int(g, l->but) : "-1");

        g->name[l->bind->id] = gen_variable(g, "int64_t", "v_", l->name);
        gen_line(g, "%s = %s;", g->name[l->bind->id], e);
    }
    gen_stmt(g, s->body);
}

static void gen_if(struct gen *g, const struct nc_stmt *s)
{
    gen_open(g, "if (%s)", gen_test(g, s->e));
    gen_stmt(g, s->body);
    if (s->other) {
        g->indent--;
        gen_line(g, "} else {");
        g->indent++;
        gen_stmt(g, s->other);
    }
    gen_close(g);
}

static void gen_assert(struct gen *g, const struct nc_stmt *s)
{
    struct wr_str text = {0};

    gen_string(&text, s->text, false);
    gen_line(g, "nc_assert(%s, %s);", gen_test(g, s->e), wr_str_get(&text));
    wr_str_fini(&text);
}

/* ---- what is said ---- */

/* OUTPUTS and BACKEND EXECUTES: a format and its values. */
static void gen_items(struct gen *g, const struct nc_stmt *s, const char *call)
{
    struct wr_str fmt = {0}, values = {0};
    uint32_t drawing = 0;
    bool timed = false;

    for (const struct nc_item *it = s->items; it; it = it->next) {
        drawing += gen_draws(it->e);
        timed |= gen_timed(it->e);
    }
    for (const struct nc_item *it = s->items; it; it = it->next) {
        if (it->e) {
            const char *value = gen_real(g, it->e);

            if (drawing > 1 && gen_draws(it->e)) {
                const char *v = gen_variable(g, "double", "draw_", "number");

                gen_line(g, "%s = %s;", v, value);
                value = v;
            }
            wr_str_add(&fmt, "%.10g");
            wr_str_addf(&values, ", %s", value);
        } else if (!it->value_of) { /* no key has a value */
            for (const char *c = it->text; *c; c++)
                wr_str_addn(&fmt, *c == '%' ? "%%" : c, *c == '%' ? 2 : 1);
        }
    }
    struct wr_str text = {0};
    gen_string(&text, fmt.n ? wr_str_get(&fmt) : "%s", false);
    gen_line(g, "%s(%s, %s%s);", call, timed ? "true" : "false", wr_str_get(&text),
             fmt.n ? wr_str_get(&values) : ", \"\"");
    wr_str_fini(&text);
    wr_str_fini(&fmt);
    wr_str_fini(&values);
}

static void gen_says(struct gen *g, const struct nc_stmt *s)
{
    if (s->kind == NS_BACKEND) {
        gen_line(g, "nc_executes();");
        gen_items(g, s, "nc_backend");
        return;
    }
    gen_open(g, "if (nc_speaks())");
    gen_items(g, s, "nc_output");
    gen_close(g);
}

static const char *const gen_aggregates[] = {
    [NCPTL_ALL_DATA] = "NCPTL_ALL_DATA",
    [NCPTL_ONLY] = "NCPTL_ONLY",
    [NCPTL_MEAN] = "NCPTL_MEAN",
    [NCPTL_HARMONIC_MEAN] = "NCPTL_HARMONIC_MEAN",
    [NCPTL_GEOMETRIC_MEAN] = "NCPTL_GEOMETRIC_MEAN",
    [NCPTL_MEDIAN] = "NCPTL_MEDIAN",
    [NCPTL_MAD] = "NCPTL_MAD",
    [NCPTL_STDEV] = "NCPTL_STDEV",
    [NCPTL_VARIANCE] = "NCPTL_VARIANCE",
    [NCPTL_SUM] = "NCPTL_SUM",
    [NCPTL_MINIMUM] = "NCPTL_MINIMUM",
    [NCPTL_MAXIMUM] = "NCPTL_MAXIMUM",
    [NCPTL_FINAL] = "NCPTL_FINAL",
    [NCPTL_PERCENTILE] = "NCPTL_PERCENTILE",
    [NCPTL_HISTOGRAM] = "NCPTL_HISTOGRAM",
};

static void gen_column(struct gen *g, const struct nc_stmt *s, const struct nc_column *c)
{
    unsigned line, column;

    nc_place(&g->u->src, s->at, &line, &column);
    wr_str_add(&g->columns, "    {.title = ");
    gen_string(&g->columns, c->value_of ? "" : c->title, false);
    wr_str_addf(&g->columns,
                ", .aggregate = %s, .table = %u, .timed = %s, .source = %uu << 12 | %uu},\n",
                gen_aggregates[c->aggregate], g->table, gen_timed(c->e) ? "true" : "false",
                line & 0xfffff, column & 0xfff);
}

static void gen_log(struct gen *g, const struct nc_stmt *s)
{
    gen_open(g, "if (nc_logs(%u))", g->ncolumns);
    for (const struct nc_column *c = s->columns; c; c = c->next) {
        gen_column(g, s, c);
        if (c->param)
            gen_line(g, "nc_percentile(%u, %s);", g->ncolumns, gen_real(g, c->param));
        gen_line(g, "nc_log(%u, %s);", g->ncolumns, gen_real(g, c->e));
        g->ncolumns++;
    }
    gen_line(g, "nc_logged();");
    gen_close(g);
}

/* ---- files ---- */

/* In the order in which the interpreter evaluates. */
static void gen_access(struct gen *g, const struct nc_stmt *s, const struct gen_set *set)
{
    uint32_t id = ++g->ids;
    bool writes = s->kind == NS_WRITE;
    bool same = !gen_mentions(g, s->e, set->var) && !gen_draws(s->e);
    const char *with = s->collectively ? gen_members(g, set, NULL) : NULL;
    const char *flags = s->async && s->collectively ? "NCPTL_F_ASYNC | NCPTL_F_COLL"
                        : s->async                  ? "NCPTL_F_ASYNC"
                        : s->collectively           ? "NCPTL_F_COLL"
                                                    : "0";

    g->reads |= !writes;
    if (with && set->named && set->def->kind != NC_ALL) /* it was the loop's */
        gen_line(g, "%s = nc.task;", set->var);
    gen_open(g, "for (int64_t k_%u = 0, n_%u = %s; k_%u < n_%u; k_%u++)", id, id,
             s->count ? gen_int(g, s->count) : "1", id, id, id);
    gen_line(g, "int64_t file_%u = %s;", id, gen_int(g, s->e));
    gen_line(g, "int64_t bytes_%u = %s;", id, gen_int(g, s->size));
    if (s->offset)
        gen_line(g, "int64_t offset_%u = k_%u ? NC_NEXT : %s;", id, id, gen_int(g, s->offset));
    gen_line(g, "%s", "");
    gen_line(g, "nc_%s(file_%u, bytes_%u, %s, %s, %s);", writes ? "write" : "read", id, id,
             s->offset ? wr_arena_printf(&g->arena, "offset_%u", id) : "NC_NEXT", flags,
             with && same ? with : "NULL");
    if (with && !same && !s->async)
        gen_line(g, "nc_io_barrier(%s);", with);
    gen_close(g);
}

/* ---- what one set of tasks does ---- */

static void gen_touch(struct gen *g, const struct nc_stmt *s)
{
    uint32_t id = ++g->ids;

    if (s->kind == NS_TOUCH_BUFFER) {
        gen_line(g, "nc_touch_buffers(%s);",
                 s->e                           ? gen_int(g, s->e)
                 : s->buffers == NC_BUFFERS_ALL ? "-1"
                                                : "-2");
        return;
    }
    gen_line(g, "struct nc_touch touch_%u = {.times = 1, .word = 4};", id);
    gen_line(g, "%s", "");
    if (s->times)
        gen_line(g, "touch_%u.times = %s;", id, gen_int(g, s->times));
    if (s->word)
        gen_line(g, "touch_%u.word = %s;", id, gen_int(g, s->word));
    if (s->region)
        gen_line(g, "touch_%u.region = %s;", id, gen_int(g, s->region));
    if (s->stride) {
        gen_line(g, "touch_%u.stride = %s;", id, gen_int(g, s->stride));
        gen_line(g, "touch_%u.has_stride = true;", id);
    }
    if (s->accesses) {
        gen_line(g, "touch_%u.accesses = %s;", id, gen_int(g, s->accesses));
        gen_line(g, "touch_%u.has_accesses = true;", id);
    }
    if (s->random)
        gen_line(g, "touch_%u.random = true;", id);
    gen_line(g, "nc_touch(touch_%u);", id);
}

static void gen_assign(struct gen *g, const struct nc_stmt *s)
{
    struct gen_set set = gen_set(g, s->src, NULL, "task");
    unsigned blocks = gen_each_member(g, &set, NULL);

    if (s->random)
        gen_line(g, "nc_assign_random(%s);", set.var);
    else
        gen_line(g, "nc_assign(%s, %s);", set.var, gen_int(g, s->e));
    gen_close_all(g, blocks);
    gen_line(g, "nc_assigned();");
}

static void gen_wait(struct gen *g, const struct nc_stmt *s)
{
    static const char *const of[] = {"NCPTL_SENDS", "NCPTL_RECVS", "NCPTL_IOS"};

    if (s->mode == NCPTL_EVERYTHING) {
        gen_line(g, "nc_wait(NCPTL_EVERYTHING);");
        return;
    }
    for (int i = 0; i < 3; i++)
        if (s->mode == 1 << i)
            gen_line(g, "nc_wait(%s);", of[i]);
}

static void gen_action(struct gen *g, const struct nc_stmt *s, const struct gen_set *set)
{
    static const char *const calls[] = {
        [NS_RESET] = "nc_reset",     [NS_STORE] = "nc_store", [NS_RESTORE] = "nc_restore",
        [NS_COMPUTE] = "nc_compute", [NS_SLEEP] = "nc_sleep", [NS_CLOSE] = "nc_close",
        [NS_FLUSH] = "nc_flush",
    };
    static const char *const modes[] = {"NCPTL_MODE_ANY", "NCPTL_MODE_READ", "NCPTL_MODE_WRITE"};

    switch (s->kind) {
    case NS_WAIT:
        gen_wait(g, s);
        break;
    case NS_SYNC:
        gen_line(g, "nc_barrier(%s);", gen_members(g, set, NULL));
        break;
    case NS_OUTPUT:
    case NS_BACKEND:
        gen_says(g, s);
        break;
    case NS_LOG:
        gen_log(g, s);
        break;
    case NS_AGGREGATE:
        gen_line(g, "nc_aggregate(%u);", g->table);
        break;
    case NS_TOUCH:
    case NS_TOUCH_BUFFER:
        gen_touch(g, s);
        break;
    case NS_OPEN:
        gen_line(g, "nc_open(%s, %s);", gen_int(g, s->e), modes[s->mode]);
        break;
    case NS_WRITE:
    case NS_READ:
        gen_access(g, s, set);
        break;
    default:
        gen_line(g, "%s(%s);", calls[s->kind], s->e ? gen_int(g, s->e) : "");
        break;
    }
}

static void gen_local(struct gen *g, const struct nc_stmt *s)
{
    struct gen_set set = gen_set(g, s->src, NULL, "task");
    unsigned blocks = gen_if_member(g, &set, "nc.task", NULL);

    gen_action(g, s, &set);
    gen_close_all(g, blocks);
}

/* ---- statements ---- */

static void gen_stmt(struct gen *g, const struct nc_stmt *s)
{
    if (s->kind == NS_BLOCK) {
        gen_stmts(g, s->body);
        return;
    }
    gen_source(g, s->at);
    switch (s->kind) {
    case NS_REPEAT:
        gen_repeat(g, s);
        break;
    case NS_EACH:
        gen_each(g, s);
        break;
    case NS_TIMED:
        gen_timed_loop(g, s);
        break;
    case NS_LET:
        gen_let(g, s);
        break;
    case NS_IF:
        gen_if(g, s);
        break;
    case NS_SEND:
    case NS_RECV:
    case NS_MCAST:
        gen_comm(g, s);
        break;
    case NS_REDUCE:
        gen_reduce(g, s);
        break;
    case NS_ASSERT:
        gen_assert(g, s);
        break;
    case NS_ASSIGN:
        gen_assign(g, s);
        break;
    default:
        gen_local(g, s);
        break;
    }
}

void gen_sentence(struct gen *g, const struct nc_stmt *s)
{
    assert(s->kind == NS_BLOCK);
    gen_stmts(g, s->body);
}
