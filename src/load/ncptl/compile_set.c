/* compile_set.c -- task descriptions to sets and pairs of sets.
 *
 * Each set has the slots that it depends on (the key of the cache in ncptl_share.c) and a grade
 * that says how solve.c can enumerate it.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "compile_priv.h"

struct slot_list {
    uint8_t seen[NC_MOST_SLOTS];
};

static void code_collect_range_slots(const struct nc_rng *r, uint32_t n, struct slot_list *out);

static void code_collect_slots(const struct nc_node *x, struct slot_list *out)
{
    if (!x || !(x->dep & NC_DEP_SLOT))
        return;
    if (x->op == NX_SLOT)
        out->seen[x->i] = 1;
    for (uint32_t i = 0; i < x->nkid; i++)
        code_collect_slots(x->kid[i], out);
    code_collect_range_slots(x->ranges, x->nranges, out);
}

static void code_collect_range_slots(const struct nc_rng *r, uint32_t n, struct slot_list *out)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; r[i].e && k < (r[i].kind == NR_COMP ? 1 : r[i].n); k++)
            code_collect_slots(r[i].e[k], out);
        code_collect_slots(r[i].last, out);
        code_collect_slots(r[i].where, out);
        for (uint32_t g = 0; g < r[i].ngens; g++)
            code_collect_range_slots(r[i].gens[g].ranges, r[i].gens[g].nranges, out);
    }
}

static const uint16_t *code_keep_slots(struct nc_compiler *c, const struct slot_list *seen,
                                       uint32_t *ret)
{
    uint16_t list[NC_MOST_SLOTS] = {0};
    uint32_t n = 0;

    for (uint32_t i = 0; i < NC_MOST_SLOTS; i++)
        if (seen->seen[i])
            list[n++] = (uint16_t)i;
    uint16_t *kept = wr_arena_alloc(&c->p->arena, (n ? n : 1) * sizeof *kept);
    memcpy(kept, list, n * sizeof *kept);
    *ret = n;
    return kept;
}

/* TASKS {ranges} is TASKS t SUCH THAT t IS IN ranges. */
static struct nc_node *code_membership(struct nc_compiler *c, const struct nc_tasks *t, int tmp)
{
    struct nc_node *in = wr_arena_alloc(&c->p->arena, sizeof *in);
    struct nc_node *var = wr_arena_alloc(&c->p->arena, sizeof *var);

    *var =
        (struct nc_node){.op = NX_TMP, .at = t->at, .i = tmp, .dep = NC_DEP_TMP, .tmps = 1u << tmp};
    *in = (struct nc_node){.op = NX_IN, .at = t->at, .nkid = 1, .dep = NC_DEP_TMP};
    in->kid = wr_arena_alloc(&c->p->arena, sizeof *in->kid);
    in->kid[0] = var;
    in->ranges = nc_code_ranges(c, t->ranges, t->nranges);
    in->nranges = t->nranges;
    in->tmps = var->tmps;
    for (uint32_t i = 0; i < t->nranges; i++) {
        in->dep |= in->ranges[i].dep;
        in->tmps |= in->ranges[i].tmps;
    }
    return in;
}

static void code_place_tmp(struct nc_compiler *c, const struct nc_bind *b, int tmp)
{
    if (b)
        c->place[b->id] = (struct nc_place){NP_TMP, tmp};
}

static void code_fill_set(struct nc_compiler *c, const struct nc_tasks *t, struct nc_set *ret)
{
    struct nc_set s = {.tmp = -1, .id = c->ids++};
    const struct nc_tasks *def = t;
    struct slot_list seen = {0};

    assert(t);
    while (def->kind == NC_GROUP)
        def = def->group->group;
    if (t->bind || def->bind || def->kind == NC_SUCH || def->kind == NC_RANGES)
        s.tmp = nc_new_tmp(c, t->at);
    /* TASK GROUP g has three names for one variable: here, and where defined. */
    for (const struct nc_tasks *k = t; s.tmp >= 0; k = k->group->group) {
        code_place_tmp(c, k->bind, s.tmp);
        if (k->kind != NC_GROUP)
            break;
    }
    s.kind = def->kind == NC_RANGES ? NC_SUCH : def->kind;
    s.e = def->kind == NC_RANGES ? code_membership(c, def, s.tmp) : nc_code(c, def->e, false);
    if (s.e) {
        s.dep = s.e->dep;
        s.tmps = s.tmp >= 0 ? s.e->tmps & ~(1u << s.tmp) : s.e->tmps;
        code_collect_slots(s.e, &seen);
    }
    s.slots = code_keep_slots(c, &seen, &s.nslots);
    s.grade = s.kind == NC_ONE    ? NC_POINTWISE
              : s.kind != NC_SUCH ? NC_EXACT
                                  : nc_grade_rel(s.e, s.tmp);
    *ret = s;
}

struct nc_set *nc_new_set(struct nc_compiler *c, const struct nc_tasks *t)
{
    struct nc_set *s = wr_arena_alloc(&c->p->arena, sizeof *s);

    code_fill_set(c, t, s);
    return s;
}

/* How well the senders of a receiver can be found. */
static enum nc_grade code_inverse_grade(const struct nc_pair *p)
{
    int tmp = p->outer.tmp;
    bool depends = tmp >= 0 && (p->inner.tmps >> tmp & 1);
    enum nc_grade g = p->outer.grade;

    if (!depends)
        return g;
    enum nc_grade in =
        p->inner.kind == NC_ONE ? nc_grade_equal(p->inner.e, tmp) : nc_grade_rel(p->inner.e, tmp);
    return g == NC_POINTWISE || in == NC_POINTWISE ? NC_POINTWISE : g < in ? g : in;
}

struct nc_pair *nc_new_pair(struct nc_compiler *c, const struct nc_tasks *outer,
                            const struct nc_tasks *inner)
{
    struct nc_pair *p = wr_arena_alloc(&c->p->arena, sizeof *p);
    struct slot_list seen = {0};

    assert(outer && inner);
    code_fill_set(c, outer, &p->outer);
    code_fill_set(c, inner, &p->inner);
    p->id = c->ids++;
    p->dep = p->outer.dep | p->inner.dep;
    code_collect_slots(p->outer.e, &seen);
    code_collect_slots(p->inner.e, &seen);
    p->slots = code_keep_slots(c, &seen, &p->nslots);
    p->inverse = code_inverse_grade(p);
    return p;
}
