/* gen_msg.c -- messages, collectives and sets of processors in C.
 *
 * Writes calls of nc_send(), nc_receive(), ... of the runtime (share/lang) in the order in which
 * step_comm.c executes them: receives before sends, peers ascending.
 */
#include <string.h>

#include "gen_priv.h"

/* ---- what a message is ---- */

static int gen_tag(struct gen *g, const char *text)
{
    for (size_t i = 0; i < g->tags.n; i++)
        if (!strcmp(g->tags.v[i], text))
            return (int)i + 1;
    wr_vec_push(&g->tags, text);
    return (int)g->tags.n;
}

static void gen_flag(struct wr_str *out, bool is, const char *name)
{
    if (is)
        wr_str_addf(out, "%s%s", out->n ? " | " : "", name);
}

/* A struct nc_msg; what the receiver does not say is as the sender said. */
static const char *gen_msg(struct gen *g, const struct nc_msg *sent, const struct nc_msg *received,
                           bool unsuspecting, bool sized)
{
    struct nc_msg m = nc_inherit(sent, received);
    struct wr_str out = {0}, flags = {0};

    gen_flag(&flags, m.async == NC_YES, "NCPTL_F_ASYNC");
    gen_flag(&flags, m.unique == NC_YES, "NCPTL_F_UNIQUE");
    gen_flag(&flags, m.touch == NC_TOUCH, "NCPTL_F_TOUCH");
    gen_flag(&flags, m.touch == NC_VERIFY, "NCPTL_F_VERIFY");
    gen_flag(&flags, unsuspecting, "NCPTL_F_UNSUSP");
    gen_flag(&flags, m.aligned == NC_ALIGNED, "NCPTL_F_ALIGN");
    gen_flag(&flags, m.aligned == NC_MISALIGNED, "NCPTL_F_MISALIGN");
    gen_flag(&flags, m.buffer == NC_BUF_NUMBER, "NCPTL_F_BUF");
    wr_str_addf(&out, "(struct nc_msg){%s%s", sized ? ".bytes = " : ".flags = ",
                !sized   ? flags.n ? wr_str_get(&flags) : "0"
                : m.size ? gen_int(g, m.size)
                         : "0");
    if (sized && flags.n)
        wr_str_addf(&out, ", .flags = %s", wr_str_get(&flags));
    if (m.tag_text) {
        wr_str_add(&out, ", .tag_text = ");
        gen_string(&out, m.tag_text, false);
        wr_str_addf(&out, ", .tag_number = %d", gen_tag(g, m.tag_text));
    } else if (m.tag) {
        wr_str_addf(&out, ", .tag = %s", gen_int(g, m.tag));
    }
    if (m.aligned > NC_UNALIGNED)
        wr_str_addf(&out, ", .align = %s", gen_int(g, m.align));
    if (m.ofs)
        wr_str_addf(&out, ", .ofs = %s", gen_int(g, m.ofs));
    if (m.buffer == NC_BUF_NUMBER)
        wr_str_addf(&out, ", .buf = %s", gen_int(g, m.buf));
    wr_str_add(&out, "}");
    const char *text = wr_arena_strdup(&g->arena, wr_str_get(&out));
    wr_str_fini(&out);
    wr_str_fini(&flags);
    return text;
}

/* ---- messages ---- */

static void gen_call_count(struct gen *g, const struct nc_msg *m, const char *call)
{
    if (m->count) {
        const char *n = wr_arena_printf(&g->arena, "n_%u", ++g->ids);

        gen_line(g, "for (int64_t %s = %s; %s > 0; %s--)", n, gen_int(g, m->count), n, n);
        g->indent++;
        gen_line(g, "%s", call);
        g->indent--;
    } else {
        gen_line(g, "%s", call);
    }
}

static void gen_message(struct gen *g, const char *verb, const char *peer,
                        const struct nc_msg *sent, const struct nc_msg *received, bool unsuspecting)
{
    gen_call_count(g, sent,
                   wr_arena_printf(&g->arena, "nc_%s(%s, %s);", verb, peer,
                                   gen_msg(g, sent, received, unsuspecting, true)));
}

/* This task is an outer one: its inner ones are its peers. */
static void gen_as_outer(struct gen *g, const struct nc_stmt *s, const struct gen_set *outer,
                         const struct gen_set *inner, const char *verb)
{
    unsigned blocks = gen_if_member(g, outer, "nc.task", NULL);

    blocks += gen_each_member(g, inner, "nc.task");
    gen_message(g, verb, inner->var, s->msg, NULL, s->unsuspecting);
    gen_close_all(g, blocks);
}

/* This task is an inner one: its peers are those whose inner one it is. */
static void gen_as_inner(struct gen *g, const struct nc_stmt *s, const struct gen_set *outer,
                         const struct gen_set *inner)
{
    bool depends = gen_set_depends(g, inner, outer);
    unsigned blocks = depends ? 0 : gen_if_member(g, inner, "nc.task", NULL);

    blocks += gen_each_member(g, outer, NULL);
    if (depends)
        blocks += gen_if_member(g, inner, "nc.task", outer->var);
    gen_message(g, "receive", outer->var, s->msg, s->kind == NS_SEND ? s->rmsg : NULL, false);
    gen_close_all(g, blocks);
}

/* Each root that this task hears from, and itself. */
static void gen_mcast(struct gen *g, const struct nc_stmt *s, const struct gen_set *outer,
                      const struct gen_set *inner)
{
    const char *hears = wr_arena_printf(&g->arena, "hears_%u", ++g->ids), *set;
    unsigned blocks = gen_each_member(g, outer, NULL), test;

    gen_line(g, "bool %s = %s == nc.task;", hears, outer->var);
    gen_line(g, "%s", "");
    test = gen_if_member(g, inner, "nc.task", outer->var);
    gen_line(g, "%s = true;", hears);
    gen_close_all(g, test);
    gen_open(g, "if (%s)", hears);
    set = gen_members(g, inner, outer->var);
    gen_call_count(g, s->msg,
                   wr_arena_printf(&g->arena, "nc_multicast(%s, %s, %s);", outer->var, set,
                                   gen_msg(g, s->msg, NULL, false, true)));
    gen_close_all(g, blocks + 1);
}

void gen_comm(struct gen *g, const struct nc_stmt *s)
{
    bool pull = s->kind == NS_RECV && s->pull;
    struct gen_set outer = gen_set(g, pull ? s->dst : s->src, NULL, pull ? "to" : "from");
    struct gen_set inner = gen_set(g, pull ? s->src : s->dst, outer.var, pull ? "from" : "to");

    if (s->kind == NS_MCAST) {
        gen_mcast(g, s, &outer, &inner);
        return;
    }
    if (s->kind == NS_RECV && pull) {
        gen_as_outer(g, s, &outer, &inner, "receive");
        return;
    }
    if (s->kind == NS_RECV || !s->unsuspecting)
        gen_as_inner(g, s, &outer, &inner);
    if (s->kind == NS_SEND)
        gen_as_outer(g, s, &outer, &inner, "send");
}

/* ---- sets and reductions ---- */

const char *gen_members(struct gen *g, const struct gen_set *s, const char *self)
{
    const char *set;

    if (s->def->kind == NC_ALL)
        return "nc_everyone()";
    set = gen_variable(g, "struct nc_set", "set_of_", s->var + 2);
    gen_line(g, "nc_set_clear(&%s);", set);
    unsigned blocks = gen_each_member(g, s, self);
    gen_line(g, "nc_set_add(&%s, %s);", set, s->var);
    gen_close_all(g, blocks);
    return wr_arena_printf(&g->arena, "&%s", set);
}

/* All that the outer ones see together. */
static const char *gen_seen(struct gen *g, const struct gen_set *outer, const struct gen_set *inner)
{
    const char *set = gen_variable(g, "struct nc_set", "set_of_", inner->var + 2);
    unsigned blocks;

    gen_line(g, "nc_set_clear(&%s);", set);
    blocks = gen_each_member(g, outer, NULL);
    blocks += gen_each_member(g, inner, outer->var);
    gen_line(g, "nc_set_add(&%s, %s);", set, inner->var);
    gen_close_all(g, blocks);
    return wr_arena_printf(&g->arena, "&%s", set);
}

void gen_reduce(struct gen *g, const struct nc_stmt *s)
{
    struct gen_set outer = gen_set(g, s->src, NULL, "from");
    const char *from = gen_members(g, &outer, NULL), *to = from;
    const char *count = s->msg->count ? gen_int(g, s->msg->count) : "1";

    if (s->dst) {
        struct gen_set inner = gen_set(g, s->dst, outer.var, "to");

        to = gen_set_depends(g, &inner, &outer) ? gen_seen(g, &outer, &inner)
                                                : gen_members(g, &inner, NULL);
    }
    gen_open(g, "if (nc_reduces(%s, %s))", from, to);
    const char *sends = gen_msg(g, s->msg, NULL, false, false);
    if (s->rmsg)
        sends = wr_arena_printf(&g->arena, "nc_set_mine(%s) ? %s : %s", from, sends,
                                gen_msg(g, s->msg, s->rmsg, false, false));
    gen_line(g, "nc_reduce(%s, %s, %s, %s, %s);", from, to, count, gen_int(g, s->msg->size), sends);
    gen_close(g);
}
