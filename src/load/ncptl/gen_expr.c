/* gen_expr.c -- expressions and ranges in C.
 *
 * C leaves open in which order operands are evaluated, and random numbers depend on it: where more
 * than one operand draws, each is put in a variable of its own, from left to right. */
#include <inttypes.h>
#include <string.h>

#include "gen_priv.h"

static const char *const gen_counters[] = {
    [NCC_ELAPSED] = "NCC_ELAPSED",
    [NCC_BYTES_SENT] = "NCC_BYTES_SENT",
    [NCC_BYTES_RECEIVED] = "NCC_BYTES_RECEIVED",
    [NCC_TOTAL_BYTES] = "NCC_TOTAL_BYTES",
    [NCC_MSGS_SENT] = "NCC_MSGS_SENT",
    [NCC_MSGS_RECEIVED] = "NCC_MSGS_RECEIVED",
    [NCC_TOTAL_MSGS] = "NCC_TOTAL_MSGS",
    [NCC_BIT_ERRORS] = "NCC_BIT_ERRORS",
    [NCC_BYTES_WRITTEN] = "NCC_BYTES_WRITTEN",
    [NCC_BYTES_READ] = "NCC_BYTES_READ",
    [NCC_IOS_COMPLETED] = "NCC_IOS_COMPLETED",
};

/* ---- questions ---- */

static bool gen_any_range(const struct nc_range *r, uint32_t n, bool (*ask)(const struct nx *))
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < r[i].n; k++)
            if (ask(r[i].e[k]))
                return true;
        for (uint32_t k = 0; k < r[i].ngens; k++)
            if (gen_any_range(r[i].gens[k].ranges, r[i].gens[k].nranges, ask))
                return true;
        if (ask(r[i].last) || ask(r[i].where))
            return true;
    }
    return false;
}

static bool gen_any(const struct nx *x, bool (*ask)(const struct nx *))
{
    for (uint32_t i = 0; i < x->nkid; i++)
        if (ask(x->kid[i]))
            return true;
    return gen_any_range(x->ranges, x->nranges, ask);
}

bool gen_timed(const struct nx *x)
{
    return x && ((x->op == NX_COUNTER && x->i == NCC_ELAPSED) || gen_any(x, gen_timed));
}

bool gen_draws(const struct nx *x)
{
    if (!x)
        return false;
    if (x->op == NX_CALL) {
        const struct nc_func *f = nc_func_find(x->func);

        if (f->local && f->shape != NC_SHAPE_FILE)
            return true;
    }
    return gen_any(x, gen_draws);
}

/* Is the value known only when the program runs? */
static bool gen_varies(const struct nx *x)
{
    if (!x)
        return false;
    if (x->nranges) /* going through their values may take long */
        return true;
    switch (x->op) {
    case NX_VAR:
    case NX_NTASKS:
    case NX_MYTASK:
    case NX_COUNTER:
        return true;
    case NX_CALL: {
        const struct nc_func *f = nc_func_find(x->func);

        /* KNOMIAL_*: the number of tasks is an argument that may be left out */
        if (f->local || f->map || f->shape == NC_SHAPE_FILE || !strncmp(f->name, "KNOMIAL", 7))
            return true;
        break;
    }
    default:
        break;
    }
    return gen_any(x, gen_varies);
}

bool gen_ranges_mention(struct gen *g, const struct nc_range *r, uint32_t n, const char *variable)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < r[i].n; k++)
            if (gen_mentions(g, r[i].e[k], variable))
                return true;
        for (uint32_t k = 0; k < r[i].ngens; k++)
            if (gen_ranges_mention(g, r[i].gens[k].ranges, r[i].gens[k].nranges, variable))
                return true;
        if (gen_mentions(g, r[i].last, variable) || gen_mentions(g, r[i].where, variable))
            return true;
    }
    return false;
}

bool gen_mentions(struct gen *g, const struct nx *x, const char *variable)
{
    if (!x)
        return false;
    if (x->op == NX_VAR && g->name[x->bind->id] && !strcmp(g->name[x->bind->id], variable))
        return true;
    for (uint32_t i = 0; i < x->nkid; i++)
        if (gen_mentions(g, x->kid[i], variable))
            return true;
    return gen_ranges_mention(g, x->ranges, x->nranges, variable);
}

static const char *gen_rel(struct gen *g, const struct nx *x, bool real);

/* ---- operands ---- */

static const char *gen_number(struct gen *g, int64_t v)
{
    if (v == INT64_MIN)
        return "INT64_MIN";
    return wr_arena_printf(
        &g->arena, v > INT32_MAX || v < -INT32_MAX ? "INT64_C(%" PRId64 ")" : "%" PRId64, v);
}

static const char *gen_double(struct gen *g, double d)
{
    const char *text = wr_arena_printf(&g->arena, "%.17g", d);

    return strpbrk(text, ".en") ? text : wr_arena_printf(&g->arena, "%s.0", text);
}

/* The operands in order; those that draw in variables when there are several, whose assignments
 * are added to `before`. */
static void gen_operands(struct gen *g, const struct nx *x, bool real, const char **ret,
                         struct wr_str *before)
{
    uint32_t drawing = 0;

    for (uint32_t i = 0; i < x->nkid; i++)
        drawing += gen_draws(x->kid[i]);
    for (uint32_t i = 0; i < x->nkid; i++) {
        ret[i] = nc_is_rel(x->kid[i]->op) ? gen_rel(g, x->kid[i], real)
                 : real                   ? gen_real(g, x->kid[i])
                                          : gen_int(g, x->kid[i]);
        if (drawing > 1 && gen_draws(x->kid[i])) {
            const char *v = gen_variable(g, real ? "double" : "int64_t", "draw_", "number");

            wr_str_addf(before, "%s = %s, ", v, ret[i]);
            ret[i] = v;
        }
    }
}

static const char *gen_sequenced(struct gen *g, struct wr_str *before, const char *value)
{
    const char *text =
        before->n ? wr_arena_printf(&g->arena, "(%s%s)", wr_str_get(before), value) : value;

    wr_str_fini(before);
    return text;
}

/* ---- calls ---- */

static const char *gen_arguments(struct gen *g, const char *const *v, uint32_t n, const char *fn)
{
    struct wr_str out = {0};

    for (uint32_t i = 0; i < n; i++) {
        wr_str_add(&out, i ? ", " : "");
        if (fn)
            wr_str_addf(&out, "%s(%s)", fn, v[i]);
        else
            wr_str_add(&out, v[i]);
    }
    const char *text = wr_arena_strdup(&g->arena, wr_str_get(&out));
    wr_str_fini(&out);
    return text;
}

static const char *gen_file(struct gen *g, const struct nx *x)
{
    struct wr_str out = {0};

    wr_str_add(&out, "nc_file_data(");
    gen_string(&out, x->name, false);
    wr_str_addf(&out, ", %s, %s, ", gen_int(g, x->kid[0]), gen_int(g, x->kid[1]));
    gen_string(&out, x->colsep, false);
    wr_str_add(&out, ", ");
    gen_string(&out, x->rowsep, false);
    wr_str_add(&out, ")");
    const char *text = wr_arena_strdup(&g->arena, wr_str_get(&out));
    wr_str_fini(&out);
    return text;
}

static const char *gen_call(struct gen *g, const struct nx *x, bool real)
{
    const struct nc_func *f = nc_func_find(x->func);
    const char *v[NC_MOST_ARGS], *text;
    struct wr_str before = {0};

    if (f->shape == NC_SHAPE_FILE)
        return real ? gen_file(g, x) : wr_arena_printf(&g->arena, "nc_trunc(%s)", gen_file(g, x));
    gen_operands(g, x, real, v, &before);
    if (real && f->dn) {
        text = wr_arena_printf(&g->arena, "%s(&nc, NC_REALS(%s))", f->dn_name,
                               gen_arguments(g, v, x->nkid, NULL));
    } else {
        const char *args = gen_arguments(g, v, x->nkid, real ? "nc_trunc" : NULL);

        text = f->shape == NC_SHAPE_MESH
                   ? wr_arena_printf(&g->arena, "%s(&nc, NC_MESH(%s, %" PRId64 "))", f->in_name,
                                     args, x->i)
                   : wr_arena_printf(&g->arena, "%s(&nc, NC_INTS(%s))", f->in_name, args);
        if (real)
            text = wr_arena_printf(&g->arena, "(double)%s", text);
    }
    return gen_sequenced(g, &before, text);
}

/* ---- integer context ---- */

/* With the operands %1$s and %2$s. */
static const char *gen_int_form(enum nc_op op)
{
    switch (op) {
    case NX_NEG:
        return "nc_neg(%1$s)";
    case NX_NOT:
        return "~(%1$s)";
    case NX_POW:
        return "nc_power(&nc, %1$s, %2$s)";
    case NX_MUL:
        return "nc_mul(%1$s, %2$s)";
    case NX_DIV:
        return "nc_div(%1$s, %2$s)";
    case NX_MOD:
        return "nc_mod(%1$s, %2$s)";
    case NX_SHL:
        return "nc_shift(%1$s, %2$s)";
    case NX_SHR:
        return "nc_right(%1$s, %2$s)";
    case NX_AND:
        return "((%1$s) & (%2$s))";
    case NX_ADD:
        return "nc_add(%1$s, %2$s)";
    case NX_SUB:
        return "nc_sub(%1$s, %2$s)";
    case NX_OR:
        return "((%1$s) | (%2$s))";
    case NX_XOR:
        return "((%1$s) ^ (%2$s))";
    case NX_BYTES:
        return "nc_bits_to_bytes(%1$s)";
    default:
        return NULL;
    }
}

static const char *gen_filled(struct gen *g, const char *form, const char *a, const char *b)
{
    struct wr_str out = {0};

    for (const char *s = form; *s; s++)
        if (!strncmp(s, "%1$s", 4) || !strncmp(s, "%2$s", 4)) {
            wr_str_add(&out, s[1] == '1' ? a : b);
            s += 3;
        } else {
            wr_str_addn(&out, s, 1);
        }
    const char *text = wr_arena_strdup(&g->arena, wr_str_get(&out));
    wr_str_fini(&out);
    return text;
}
static const char *gen_choice(struct gen *g, const struct nx *x, bool real)
{
    return wr_arena_printf(&g->arena, "(%s ? %s : %s)", gen_rel(g, x->kid[1], real),
                           real ? gen_real(g, x->kid[0]) : gen_int(g, x->kid[0]),
                           real ? gen_real(g, x->kid[2]) : gen_int(g, x->kid[2]));
}

const char *gen_int(struct gen *g, const struct nx *x)
{
    struct wr_str before = {0};
    struct wr_err ignored;
    const char *v[2] = {"", ""};
    int64_t value;

    if (!gen_varies(x) && nc_constant(g->u, x, &value, &ignored))
        return gen_number(g, value);
    switch (x->op) {
    case NX_CONST:
        return gen_number(g, x->i);
    case NX_VAR:
        return g->name[x->bind->id];
    case NX_NTASKS:
        return "nc.tasks";
    case NX_MYTASK:
        return "nc.task";
    case NX_COUNTER:
        return wr_arena_printf(&g->arena, "nc_count(%s)", gen_counters[x->i]);
    case NX_COND:
        return gen_choice(g, x, false);
    case NX_REAL:
        return wr_arena_printf(&g->arena, "nc_round(%s)", gen_real(g, x->kid[0]));
    case NX_CALL:
        return gen_call(g, x, false);
    default:
        gen_operands(g, x, false, v, &before);
        return gen_sequenced(g, &before, gen_filled(g, gen_int_form(x->op), v[0], v[1]));
    }
}

/* ---- floating-point context ---- */

static const char *gen_real_form(enum nc_op op, bool timed)
{
    switch (op) {
    case NX_NEG:
        return "-(%1$s)";
    case NX_NOT:
        return "(double)~nc_trunc(%1$s)";
    case NX_POW:
        return "nc_dpower(&nc, %1$s, %2$s)";
    case NX_MUL:
        return "(%1$s * %2$s)";
    case NX_DIV:
        return timed ? "nc_ratio(%1$s, %2$s, true)" : "nc_ratio(%1$s, %2$s, false)";
    case NX_MOD:
        return "(double)nc_mod(nc_trunc(%1$s), nc_trunc(%2$s))";
    case NX_SHL:
        return "(double)nc_shift(nc_trunc(%1$s), nc_trunc(%2$s))";
    case NX_SHR:
        return "(double)nc_right(nc_trunc(%1$s), nc_trunc(%2$s))";
    case NX_AND:
        return "(double)(nc_trunc(%1$s) & nc_trunc(%2$s))";
    case NX_ADD:
        return "(%1$s + %2$s)";
    case NX_SUB:
        return "(%1$s - %2$s)";
    case NX_OR:
        return "(double)(nc_trunc(%1$s) | nc_trunc(%2$s))";
    default:
        return "(double)(nc_trunc(%1$s) ^ nc_trunc(%2$s))";
    }
}

const char *gen_real(struct gen *g, const struct nx *x)
{
    struct wr_str before = {0};
    const char *v[2] = {"", ""};

    switch (x->op) {
    case NX_CONST:
        return gen_double(g, x->d);
    case NX_VAR:
        return wr_arena_printf(&g->arena, "(double)%s", g->name[x->bind->id]);
    case NX_NTASKS:
        return "(double)nc.tasks";
    case NX_MYTASK:
        return "(double)nc.task";
    case NX_COUNTER:
        return wr_arena_printf(&g->arena, "nc_counted(%s)", gen_counters[x->i]);
    case NX_COND:
        return gen_choice(g, x, true);
    case NX_REAL:
        return gen_real(g, x->kid[0]);
    case NX_CALL:
        return gen_call(g, x, true);
    default:
        gen_operands(g, x, true, v, &before);
        return gen_sequenced(g, &before,
                             gen_filled(g, gen_real_form(x->op, gen_timed(x)), v[0], v[1]));
    }
}

/* ---- conditions ---- */

/* %1$s and %2$s are whole numbers in DIVIDES, EVEN and ODD. */
static const char *gen_rel_form(enum nc_op op)
{
    switch (op) {
    case NX_EQ:
        return "(%1$s == %2$s)";
    case NX_NE:
        return "(%1$s != %2$s)";
    case NX_LT:
        return "(%1$s < %2$s)";
    case NX_GT:
        return "(%1$s > %2$s)";
    case NX_LE:
        return "(%1$s <= %2$s)";
    case NX_GE:
        return "(%1$s >= %2$s)";
    case NX_DIVIDES:
        return "(nc_mod(%2$s, %1$s) == 0)";
    case NX_EVEN:
        return "(%1$s % 2 == 0)";
    default:
        return "(%1$s % 2 != 0)";
    }
}

static bool gen_wants_whole(enum nc_op op)
{
    return op == NX_DIVIDES || op == NX_EVEN || op == NX_ODD || op == NX_WITHIN ||
           op == NX_NOT_WITHIN;
}

static const char *gen_in_real(struct gen *g, const struct nx *x);

/* A comparison of a variable with itself is known, and compilers warn of it. */
static const char *gen_same(const struct nx *x)
{
    if (x->op < NX_EQ || x->op > NX_GE || x->kid[0]->op != NX_VAR || x->kid[1]->op != NX_VAR ||
        x->kid[0]->bind != x->kid[1]->bind)
        return NULL;
    return x->op == NX_EQ || x->op == NX_LE || x->op == NX_GE ? "true" : "false";
}

static const char *gen_within(struct gen *g, const struct nx *x, const char *const *v)
{
    return wr_arena_printf(&g->arena, "%snc_within(%s, %s, %s)", x->op == NX_WITHIN ? "" : "!",
                           v[0], v[1], v[2]);
}

static const char *gen_rel(struct gen *g, const struct nx *x, bool real)
{
    struct wr_str before = {0};
    const char *v[3] = {"", "", ""}, *text = gen_same(x);

    if (text)
        return text;
    switch (x->op) {
    case NX_LAND:
    case NX_LOR:
        return wr_arena_printf(&g->arena, "(%s %s %s)", gen_rel(g, x->kid[0], real),
                               x->op == NX_LAND ? "&&" : "||", gen_rel(g, x->kid[1], real));
    case NX_IN:
    case NX_NOT_IN:
        text = real ? gen_in_real(g, x) : gen_in(g, gen_int(g, x->kid[0]), x->ranges, x->nranges);
        return x->op == NX_IN ? text : wr_arena_printf(&g->arena, "!%s", text);
    default:
        break;
    }
    gen_operands(g, x, real, v, &before);
    for (uint32_t i = 0; real && gen_wants_whole(x->op) && i < x->nkid; i++)
        v[i] = wr_arena_printf(&g->arena, "nc_trunc(%s)", v[i]);
    text = x->op == NX_WITHIN || x->op == NX_NOT_WITHIN
               ? gen_within(g, x, v)
               : gen_filled(g, gen_rel_form(x->op), v[0], v[1]);
    return gen_sequenced(g, &before, text);
}

const char *gen_test(struct gen *g, const struct nx *x)
{
    const char *text = gen_rel(g, x, false);
    size_t n = strlen(text);
    int depth = 0;

    for (size_t i = 0; i < n && text[0] == '('; i++) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (!depth)
            return i + 1 == n ? wr_arena_strndup(&g->arena, text + 1, n - 2) : text;
    }
    return text;
}

/* ---- ranges ---- */

static const char *gen_terms(struct gen *g, const struct nc_range *r, bool real)
{
    struct wr_str out = {0};

    for (uint32_t i = 0; i < r->n; i++)
        wr_str_addf(&out, "%s%s", i ? ", " : "", real ? gen_real(g, r->e[i]) : gen_int(g, r->e[i]));
    const char *text = wr_arena_strdup(&g->arena, wr_str_get(&out));
    wr_str_fini(&out);
    return text;
}

/* The terms before the dots and the last one, as arguments. */
static const char *gen_up_to(struct gen *g, const struct nc_range *r)
{
    if (r->n < 3)
        return wr_arena_printf(&g->arena, "NC_INTS(%s), %s, NULL, 0", gen_terms(g, r, false),
                               gen_int(g, r->last));
    return wr_arena_printf(&g->arena, "NC_INTS(%s), %s, (const double[]){%s}, %s",
                           gen_terms(g, r, false), gen_int(g, r->last), gen_terms(g, r, true),
                           gen_real(g, r->last));
}

static void gen_fill_comp(struct gen *g, const char *each, const struct nc_range *r)
{
    for (uint32_t i = 0; i < r->ngens; i++) {
        const struct nc_gen *gen = &r->gens[i];
        const char *values = wr_arena_printf(&g->arena, "each_%u", ++g->ids);

        gen_line(g, "struct nc_each %s = {0};", values);
        gen_fill(g, values, gen->ranges, gen->nranges);
        g->name[gen->bind->id] = gen_variable(g, "int64_t", "c_", gen->name);
        gen_open(g, "while (nc_each_next(&%s, &%s))", values, g->name[gen->bind->id]);
    }
    if (r->where)
        gen_line(g, "if (%s)", gen_test(g, r->where));
    g->indent += r->where != NULL;
    gen_line(g, "nc_each_value(&%s, %s);", each, gen_int(g, r->e[0]));
    g->indent -= r->where != NULL;
    for (uint32_t i = 0; i < r->ngens; i++)
        gen_close(g);
}

void gen_fill(struct gen *g, const char *each, const struct nc_range *r, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (r[i].kind == NR_COMP)
            gen_fill_comp(g, each, &r[i]);
        else if (r[i].kind == NR_ELLIPSIS)
            gen_line(g, "nc_each_up_to(&%s, %s);", each, gen_up_to(g, &r[i]));
        for (uint32_t k = 0; r[i].kind == NR_LIST && k < r[i].n; k++)
            gen_line(g, "nc_each_value(&%s, %s);", each, gen_int(g, r[i].e[k]));
    }
}

/* A function of its own, which is called with the value. */
static const char *gen_in_function(struct gen *g, const struct nc_range *r, uint32_t n, bool real)
{
    const char *name = wr_arena_printf(&g->arena, "in_%u", ++g->ids);
    const char *each = wr_arena_printf(&g->arena, "each_%u", ++g->ids);
    struct wr_str *out = g->out, text = {0};
    unsigned indent = g->indent;

    g->out = &text;
    g->indent = 0;
    gen_line(g, "static bool %s(%s x)", name, real ? "double" : "int64_t");
    gen_line(g, "{");
    g->indent++;
    gen_line(g, "struct nc_each %s = {0};", each);
    gen_line(g, "%s", "");
    gen_fill(g, each, r, n);
    if (real)
        gen_line(g, "return nc_each_has(&%s, nc_trunc(x)) && x == (double)nc_trunc(x);", each);
    else
        gen_line(g, "return nc_each_has(&%s, x);", each);
    gen_close(g);
    gen_line(g, "%s", "");
    wr_str_addn(&g->helpers, wr_str_get(&text), text.n);
    wr_str_fini(&text);
    g->out = out;
    g->indent = indent;
    return name;
}

static const char *gen_in_real(struct gen *g, const struct nx *x)
{
    const char *value = gen_real(g, x->kid[0]);

    return wr_arena_printf(&g->arena, "%s(%s)", gen_in_function(g, x->ranges, x->nranges, true),
                           value);
}

const char *gen_in(struct gen *g, const char *value, const struct nc_range *r, uint32_t n)
{
    bool function = n > 1 && strchr(value, '('); /* evaluated once */
    struct wr_str out = {0};

    for (uint32_t i = 0; i < n; i++)
        function |= r[i].kind == NR_COMP;
    if (function)
        return wr_arena_printf(&g->arena, "%s(%s)", gen_in_function(g, r, n, false), value);
    for (uint32_t i = 0; i < n; i++) {
        wr_str_add(&out, i ? " || " : n > 1 ? "(" : "");
        if (r[i].kind == NR_ELLIPSIS)
            wr_str_addf(&out, "nc_in_up_to(%s, %s)", value, gen_up_to(g, &r[i]));
        else if (r[i].n)
            wr_str_addf(&out, "nc_in(%s, NC_INTS(%s))", value, gen_terms(g, &r[i], false));
        else
            wr_str_add(&out, "false");
    }
    wr_str_add(&out, n > 1 ? ")" : "");
    const char *text = wr_arena_strdup(&g->arena, wr_str_get(&out));
    wr_str_fini(&out);
    return text;
}
