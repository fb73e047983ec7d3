/* gen_set.c -- sets of tasks in C: loops over their members, and tests.
 *
 *   ALL TASKS t        for (t_t = 0; t_t < nc.tasks; t_t++)
 *   TASK e             t_to = e; if (nc_is_task(t_to))
 *   t SUCH THAT rel    for (...) if (rel)
 *   TASKS {ranges}     for (...) if (nc_in(...))
 *   ALL OTHER TASKS    for (...) if (t_to != self)
 */
#include <assert.h>
#include <string.h>

#include "gen_priv.h"

/* All names of the variable, here and where a group was defined, mean this one. */
static void gen_set_place(struct gen *g, const struct gen_set *s)
{
    for (const struct nc_tasks *t = s->t;; t = t->group->group) {
        if (t->bind)
            g->name[t->bind->id] = s->var;
        if (t->kind != NC_GROUP)
            break;
    }
}

struct gen_set gen_set(struct gen *g, const struct nc_tasks *t, const char *other,
                       const char *unnamed)
{
    assert(t && unnamed);
    struct gen_set s = {.t = t, .def = t};
    const char *name = t->name;

    while (s.def->kind == NC_GROUP)
        s.def = s.def->group->group;
    if (!name)
        name = s.def->name;
    s.named = t->bind || s.def->bind || s.def->kind == NC_SUCH || s.def->kind == NC_RANGES;
    s.var = wr_arena_printf(&g->arena, "t_%s", name ? name : unnamed);
    if (other && !strcmp(other, s.var)) /* both call it t */
        s.var = wr_arena_printf(&g->arena, "%s_too", s.var);
    gen_set_place(g, &s);
    return s;
}

static const char *gen_set_test(struct gen *g, const struct gen_set *s)
{
    gen_set_place(g, s);
    if (s->def->kind == NC_RANGES)
        return gen_in(g, s->var, s->def->ranges, s->def->nranges);
    return gen_test(g, s->def->e);
}

unsigned gen_each_member(struct gen *g, const struct gen_set *s, const char *self)
{
    assert(s->def->kind != NC_OTHERS || self);
    gen_variable(g, NULL, "", s->var);
    if (s->def->kind == NC_ONE) {
        gen_set_place(g, s);
        gen_line(g, "%s = %s;", s->var, gen_int(g, s->def->e));
        gen_open(g, "if (nc_is_task(%s))", s->var);
        return 1;
    }
    gen_open(g, "for (%s = 0; %s < nc.tasks; %s++)", s->var, s->var, s->var);
    if (s->def->kind == NC_ALL)
        return 1;
    if (s->def->kind == NC_OTHERS)
        gen_open(g, "if (%s != %s)", s->var, self);
    else
        gen_open(g, "if (%s)", gen_set_test(g, s));
    return 2;
}

unsigned gen_if_member(struct gen *g, const struct gen_set *s, const char *task, const char *self)
{
    assert(s->def->kind != NC_OTHERS || self);
    if (s->named)
        gen_line(g, "%s = %s;", gen_variable(g, NULL, "", s->var), task);
    switch (s->def->kind) {
    case NC_ALL:
        gen_set_place(g, s);
        return 0;
    case NC_ONE:
        gen_set_place(g, s);
        gen_open(g, "if (%s == %s)", task, gen_int(g, s->def->e));
        return 1;
    case NC_OTHERS:
        gen_open(g, "if (%s != %s)", task, self);
        return 1;
    default:
        gen_open(g, "if (%s)", gen_set_test(g, s));
        return 1;
    }
}

bool gen_set_depends(struct gen *g, const struct gen_set *inner, const struct gen_set *outer)
{
    gen_set_place(g, outer);
    gen_set_place(g, inner);
    return inner->def->kind == NC_OTHERS || gen_mentions(g, inner->def->e, outer->var) ||
           gen_ranges_mention(g, inner->def->ranges, inner->def->nranges, outer->var);
}

void gen_close_all(struct gen *g, unsigned blocks)
{
    while (blocks--)
        gen_close(g);
}
