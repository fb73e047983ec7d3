/* eval.c -- expressions in integer and in floating-point context.
 *
 * A failure does not stop the evaluation: the first one is remembered, the value
 * becomes 0 and the caller looks at e->bad when it is done.
 */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "prog_priv.h"
#include "share_priv.h"

enum { FUEL = 1 << 26 }; /* values of ranges that one evaluation may visit: about a second */

void nc_ev_init(struct nc_ev *e, const struct ncptl_prog *p, struct ncptl_rank *r)
{
    e->p = p;
    e->r = r;
    e->slot = r ? r->slot : NULL;
    e->map = r ? r->map : NULL;
    e->bad = NCF_NONE;
    e->where = e->now = NULL;
    e->drawn = 0;
    e->fuel = FUEL;
}

int64_t nc_ev_fail(struct nc_ev *e, enum nc_fault_kind kind, int64_t x, int64_t y)
{
    if (!e->bad) {
        e->bad = kind;
        e->where = e->now;
        e->x = x;
        e->y = y;
    }
    return 0;
}

int64_t nc_ev_ntasks(const struct nc_ev *e)
{
    return e->p->n;
}

int64_t nc_ev_proc_of(const struct nc_ev *e, int64_t task)
{
    return e->map ? e->map->proc[task] : task;
}

int64_t nc_ev_task_of(const struct nc_ev *e, int64_t proc)
{
    return e->map ? e->map->task[proc] : proc;
}

/* Keyed by processor and operation, so that the numbers do not depend on whether the text of an
 * earlier OUTPUTS was evaluated. */
double nc_ev_random(struct nc_ev *e)
{
    struct wr_rng g;

    wr_rng_init(&g, (uint64_t)(int64_t)e->p->seed, e->r ? e->r->proc : 0, e->drawn++);
    g.block = e->r ? e->r->nops : 0;
    g.left = 0;
    return wr_rng_unit(&g);
}

bool nc_quiet(struct nc_ev *e, const struct nc_node *x, int64_t *ret)
{
    enum nc_fault_kind before = e->bad;

    *ret = nc_int(e, x);
    if (e->bad == before)
        return true;
    e->bad = before;
    return false;
}

static int64_t eval_counter_int(const struct nc_ev *e, int64_t which);

/* ---- integer context ---- */

static int64_t eval_divide(struct nc_ev *e, int64_t a, int64_t b)
{
    if (!b)
        return nc_ev_fail(e, NCF_DIV_ZERO, a, 0);
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

/* The operators that programs seldom use. */
static int64_t eval_binary(struct nc_ev *e, const struct nc_node *x, int64_t a, int64_t b)
{
    switch (x->op) {
    case NX_DIV:
        return eval_divide(e, a, b);
    case NX_POW:
        return nc_power(e, a, b);
    case NX_SHL:
        return nc_shift(a, b);
    case NX_SHR:
        return nc_shift(a, b == INT64_MIN ? INT64_MAX : -b);
    case NX_AND:
        return a & b;
    case NX_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static double eval_file_data(struct nc_ev *e, const struct nc_node *x)
{
    int64_t column = nc_int(e, x->kid[0]), row = nc_int(e, x->kid[1]);
    double value = 0;

    e->now = x;
    if (e->bad)
        return 0;
    switch (nc_share_cell(e->p->share, x->src, column, row, &value)) {
    case NC_CELL_OK:
        return value;
    case NC_CELL_NO_FILE:
        return (double)nc_ev_fail(e, NCF_FILE, 0, 0);
    case NC_CELL_NONE:
        break;
    }
    return (double)nc_ev_fail(e, NCF_FILE_CELL, column, row);
}

static int64_t eval_call_int(struct nc_ev *e, const struct nc_node *x)
{
    int64_t args[NC_MOST_ARGS + 1];

    if (x->func->shape == NC_SHAPE_FILE)
        return nc_trunc(eval_file_data(e, x));
    for (uint32_t i = 0; i < x->nkid; i++)
        args[i] = nc_int(e, x->kid[i]);
    args[x->nkid] = x->i;
    e->now = x;
    return e->bad ? 0 : x->func->in(e, args, x->nkid);
}

static int64_t eval_other(struct nc_ev *e, const struct nc_node *x)
{
    int64_t a;

    switch (x->op) {
    case NX_NTASKS:
        return e->p->n;
    case NX_MYTASK:
        return e->r ? e->r->task : 0;
    case NX_COUNTER:
        return eval_counter_int(e, x->i);
    case NX_NEG:
        a = nc_int(e, x->kid[0]);
        e->now = x;
        return a == INT64_MIN ? nc_ev_fail(e, NCF_OVERFLOW, a, 0) : -a;
    case NX_NOT:
        return ~nc_int(e, x->kid[0]);
    case NX_COND:
        return nc_int(e, x->kid[nc_true(e, x->kid[1]) ? 0 : 2]);
    case NX_REAL:
        return nc_trunc(floor(nc_real(e, x->kid[0]) + 0.5));
    case NX_BYTES:
        a = nc_int(e, x->kid[0]);
        return a / 8 + (a % 8 != 0);
    default:
        return eval_call_int(e, x);
    }
}

int64_t nc_int(struct nc_ev *e, const struct nc_node *x)
{
    int64_t a, b, result;

    switch (x->op) {
    case NX_CONST:
        return x->i;
    case NX_SLOT:
        return e->slot[x->i];
    case NX_TMP:
        return e->tmp[x->i];
    default:
        break;
    }
    if (x->op < NX_POW || x->op > NX_XOR)
        return eval_other(e, x);
    a = nc_value(e, x->kid[0]);
    b = nc_value(e, x->kid[1]);
    e->now = x;
    switch (x->op) {
    case NX_ADD:
        return __builtin_add_overflow(a, b, &result) ? nc_ev_fail(e, NCF_OVERFLOW, a, b) : result;
    case NX_SUB:
        return __builtin_sub_overflow(a, b, &result) ? nc_ev_fail(e, NCF_OVERFLOW, a, b) : result;
    case NX_MUL:
        return __builtin_mul_overflow(a, b, &result) ? nc_ev_fail(e, NCF_OVERFLOW, a, b) : result;
    case NX_MOD:
        if (a >= 0 && b > 0) /* mostly just below or just above the divisor */
            return a < b ? a : a - b < b ? a - b : a % b;
        return nc_modulo(e, a, b);
    default:
        return eval_binary(e, x, a, b);
    }
}

/* ---- floating-point context ---- */

static int64_t eval_counter_int(const struct nc_ev *e, int64_t which)
{
    /* A simulated network makes no bit errors. */
    return nc_counter_value(&e->r->counters, 0, (enum nc_counter)which);
}

static double eval_counter(const struct nc_ev *e, int64_t which)
{
    if (which == NCC_ELAPSED)
        return (double)(int64_t)(e->r->now_ps - e->r->counters.start_ps) / 1e6;
    return (double)eval_counter_int(e, which);
}

static double eval_call_real(struct nc_ev *e, const struct nc_node *x)
{
    double args[NC_MOST_ARGS];
    int64_t whole[NC_MOST_ARGS + 1];

    if (x->func->shape == NC_SHAPE_FILE)
        return eval_file_data(e, x);
    for (uint32_t i = 0; i < x->nkid; i++) {
        args[i] = nc_real(e, x->kid[i]);
        whole[i] = nc_trunc(args[i]);
    }
    whole[x->nkid] = x->i;
    e->now = x;
    if (e->bad)
        return 0;
    return x->func->dn ? x->func->dn(e, args, x->nkid) : (double)x->func->in(e, whole, x->nkid);
}

static double eval_binary_real(struct nc_ev *e, const struct nc_node *x)
{
    double a = nc_real(e, x->kid[0]), b = nc_real(e, x->kid[1]);
    int64_t i = nc_trunc(a), j = nc_trunc(b);

    e->now = x;
    switch (x->op) {
    case NX_ADD:
        return a + b;
    case NX_SUB:
        return a - b;
    case NX_MUL:
        return a * b;
    case NX_DIV:
        /* A clock that has not moved yet is no mistake of the program. */
        return b == 0 && !(x->dep & NC_DEP_TIME) ? (double)nc_ev_fail(e, NCF_DIV_ZERO, i, 0)
                                                 : a / b;
    case NX_MOD:
        return (double)nc_modulo(e, i, j);
    case NX_POW:
        return nc_dpower(e, a, b);
    case NX_SHL:
        return (double)nc_shift(i, j);
    case NX_SHR:
        return (double)nc_shift(i, j == INT64_MIN ? INT64_MAX : -j);
    case NX_AND:
        return (double)(i & j);
    case NX_OR:
        return (double)(i | j);
    default:
        return (double)(i ^ j);
    }
}

double nc_real(struct nc_ev *e, const struct nc_node *x)
{
    switch (x->op) {
    case NX_CONST:
        return x->d;
    case NX_SLOT:
        return (double)e->slot[x->i];
    case NX_TMP:
        return (double)e->tmp[x->i];
    case NX_NTASKS:
        return e->p->n;
    case NX_MYTASK:
        return e->r ? e->r->task : 0;
    case NX_COUNTER:
        return eval_counter(e, x->i);
    case NX_NEG:
        return -nc_real(e, x->kid[0]);
    case NX_NOT:
        return (double)~nc_trunc(nc_real(e, x->kid[0]));
    case NX_COND:
        return nc_real(e, x->kid[nc_true(e, x->kid[1]) ? 0 : 2]);
    case NX_REAL:
        return nc_real(e, x->kid[0]);
    case NX_CALL:
        return eval_call_real(e, x);
    default:
        return eval_binary_real(e, x);
    }
}

/* ---- conditions ---- */

/* a compared with b: -1, 0 or 1; 2 when a NaN is among them, which is equal to nothing. */
static bool eval_order_holds(int op, int order)
{
    switch (op) {
    case NX_EQ:
        return order == 0;
    case NX_NE:
        return order != 0;
    case NX_LT:
        return order == -1;
    case NX_GT:
        return order == 1;
    case NX_LE:
        return order == -1 || order == 0;
    default:
        return order == 1 || order == 0;
    }
}

static bool eval_compare_real(struct nc_ev *e, const struct nc_node *x)
{
    double a = nc_real(e, x->kid[0]), b = nc_real(e, x->kid[1]);

    return eval_order_holds(x->op, a < b ? -1 : a > b ? 1 : a == b ? 0 : 2);
}

static bool eval_compare(struct nc_ev *e, const struct nc_node *x)
{
    int64_t a = nc_int(e, x->kid[0]), b = nc_int(e, x->kid[1]);

    return eval_order_holds(x->op, a < b ? -1 : a > b);
}

/* An operand as a whole number, whatever the context. */
static int64_t eval_whole(struct nc_ev *e, const struct nc_node *owner, const struct nc_node *x)
{
    return owner->real ? nc_trunc(nc_real(e, x)) : nc_int(e, x);
}

static bool eval_in_ranges(struct nc_ev *e, const struct nc_node *x)
{
    if (x->real) {
        double d = nc_real(e, x->kid[0]);

        if (d != floor(d))
            return false;
    }
    return nc_in_ranges(e, x->ranges, x->nranges, eval_whole(e, x, x->kid[0]));
}

static bool eval_within(struct nc_ev *e, const struct nc_node *x)
{
    int64_t v = eval_whole(e, x, x->kid[0]), a = eval_whole(e, x, x->kid[1]),
            b = eval_whole(e, x, x->kid[2]);

    return a <= b ? a <= v && v <= b : b <= v && v <= a;
}

bool nc_true(struct nc_ev *e, const struct nc_node *x)
{
    switch (x->op) {
    case NX_CONST:
        return x->i;
    case NX_LAND:
        return nc_true(e, x->kid[0]) && nc_true(e, x->kid[1]);
    case NX_LOR:
        return nc_true(e, x->kid[0]) || nc_true(e, x->kid[1]);
    case NX_DIVIDES: {
        int64_t a = eval_whole(e, x, x->kid[0]), b = eval_whole(e, x, x->kid[1]);

        e->now = x;
        return nc_modulo(e, b, a) == 0;
    }
    case NX_EVEN:
        return eval_whole(e, x, x->kid[0]) % 2 == 0;
    case NX_ODD:
        return eval_whole(e, x, x->kid[0]) % 2 != 0;
    case NX_IN:
        return eval_in_ranges(e, x);
    case NX_NOT_IN:
        return !eval_in_ranges(e, x);
    case NX_WITHIN:
        return eval_within(e, x);
    case NX_NOT_WITHIN:
        return !eval_within(e, x);
    default:
        return x->real ? eval_compare_real(e, x) : eval_compare(e, x);
    }
}
