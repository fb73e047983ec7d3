/* solve.c -- which task can satisfy a condition, without trying them all.
 *
 * TASKS t SUCH THAT <condition>, and the senders of a given receiver, are the tasks t
 * that make a condition true. nc_solve() returns a lower bound: no solution lies in
 * [x, bound). The caller tests the bound, then continues from bound+1. So every rule
 * below may return too small a bound but never too large a one.
 *
 * An equation f(t) = v is turned inside out, one operator at a time, until t
 * stands alone. On the way v is a "comb",
 *
 *         lo      lo+len      lo+period
 *     ....|########|...........|########|..........     within [min, max]
 *
 * which holds a number (len 1), an interval, the multiples of k (period k) and
 * what division and MOD make of them:
 *
 *     g + c = comb    g = comb shifted by -c
 *     g / c = comb    g = comb stretched by c
 *     g MOD m = comb  g = comb repeated with period m
 *
 * Where t occurs twice, or under an operator without a rule, the bound is x
 * itself: every task is tried. The grades say in advance how tight the bounds are.
 */
#include "prog_priv.h"

enum {
    LEAPS = 64
}; /* alternations between two conditions; then the bound found so far is returned */

static const int64_t infinity = INT64_MAX / 4;

struct comb {
    int64_t lo, len, period; /* period 0: only one tooth */
    int64_t min, max;
};

static struct comb comb_interval(int64_t lo, int64_t hi)
{
    if (lo < -infinity)
        lo = -infinity;
    if (hi > infinity)
        hi = infinity;
    return (struct comb){.lo = lo, .len = hi >= lo ? hi - lo + 1 : 0, .min = lo, .max = hi};
}

static bool solve_has(const struct nc_node *x, int tmp)
{
    return x->tmps >> tmp & 1;
}

/* The first element >= x, or NC_NO_TASK. Tasks are never negative. */
static int64_t comb_next(const struct comb *c, int64_t x)
{
    if (x < c->min)
        x = c->min;
    if (x > c->max || c->len <= 0)
        return NC_NO_TASK;
    if (!c->period) {
        if (x < c->lo)
            x = c->lo;
        return x - c->lo < c->len && x <= c->max ? x : NC_NO_TASK;
    }
    int64_t into = (x - c->lo) % c->period;
    into += into < 0 ? c->period : 0;
    if (into >= c->len)
        x += c->period - into;
    return x <= c->max ? x : NC_NO_TASK;
}

static bool solve_is_small(int64_t v)
{
    return v > -infinity / 2 && v < infinity / 2;
}

/* Ends of intervals: infinite ones do not move. */
static int64_t comb_end_add(int64_t end, int64_t by)
{
    if (end >= infinity || end <= -infinity)
        return end;
    int64_t sum = end + by; /* both far from 64 bits */
    return sum > infinity ? infinity : sum < -infinity ? -infinity : sum;
}

static int64_t comb_end_scale(int64_t end, int64_t by)
{
    int64_t result;

    if (end >= infinity || end <= -infinity)
        return end;
    if (__builtin_mul_overflow(end, by, &result) || result > infinity || result < -infinity)
        return end < 0 ? -infinity : infinity;
    return result;
}

static int64_t comb_end(const struct comb *c)
{
    int64_t end = c->lo + c->len - 1;

    return end < c->max ? end : c->max;
}

/* g + by = comb */
static bool comb_shift(struct comb *c, int64_t by)
{
    if (!c->period) {
        *c = comb_interval(comb_end_add(c->lo, -by), comb_end_add(comb_end(c), -by));
        return true;
    }
    c->lo -= by;
    c->min = comb_end_add(c->min, -by);
    c->max = comb_end_add(c->max, -by);
    return true;
}

/* -g = comb */
static bool comb_mirror(struct comb *c)
{
    int64_t min = c->min;

    if (!c->period) {
        *c = comb_interval(-comb_end(c), -c->lo);
        return true;
    }
    c->lo = -(c->lo + c->len - 1);
    c->min = -c->max;
    c->max = -min;
    return true;
}

/* g / c, rounded towards zero: each tooth becomes c times as wide, and negative
 * ones begin a little earlier. */
static bool comb_stretch(struct comb *k, int64_t c)
{
    if (c <= 0)
        return false;
    if (!k->period) {
        int64_t lo = comb_end_scale(k->lo, c),
                hi = comb_end_add(comb_end_scale(comb_end(k), c), c - 1);

        *k = comb_interval(k->lo <= 0 ? comb_end_add(lo, -(c - 1)) : lo, hi);
        return true;
    }
    if (comb_end_scale(k->period, c) >= infinity || comb_end_scale(k->lo, c) >= infinity)
        return false;
    k->len = k->len * c + c - 1;
    k->lo = k->lo * c - (c - 1);
    k->period *= c;
    k->min = comb_end_add(comb_end_scale(k->min, c), -(c - 1));
    k->max = comb_end_add(comb_end_scale(k->max, c), c - 1);
    return true;
}

/* x with a x = gcd(a, m) modulo m, for 0 <= a < m, by Euclid's algorithm. */
static int64_t solve_mod_inverse(int64_t a, int64_t m, int64_t *gcd)
{
    int64_t r0 = m, r1 = a, x0 = 0, x1 = 1;

    while (r1) {
        int64_t q = r0 / r1, r = r0 - q * r1, x = x0 - q * x1;

        r0 = r1;
        r1 = r;
        x0 = x1;
        x1 = x;
    }
    *gcd = r0;
    return x0 < 0 ? x0 + m : x0;
}

/* g * c, where the comb has teeth of one element: a congruence. */
static bool comb_shrink_teeth(struct comb *k, int64_t c)
{
    int64_t m = k->period, gcd, want = k->lo % m;

    if (k->len != 1 || k->min > -infinity || k->max < infinity || m > INT32_MAX)
        return false;
    want += want < 0 ? m : 0;
    int64_t x = solve_mod_inverse((c % m + m) % m, m, &gcd);

    if (want % gcd) {
        k->len = 0; /* no solution */
        return true;
    }
    k->period = m / gcd;
    k->lo = want / gcd * x % k->period;
    return true;
}

/* g * c */
static bool comb_shrink(struct comb *k, int64_t c)
{
    if (!c)
        return false;
    if (k->period)
        return comb_shrink_teeth(k, c);
    if (c < 0) {
        comb_mirror(k);
        c = -c;
    }
    int64_t lo = k->lo, hi = comb_end(k);
    *k = comb_interval(lo <= -infinity ? lo : lo / c - (lo % c < 0), hi >= infinity ? hi : hi / c);
    return true;
}

static bool comb_mod(struct comb *k, int64_t m)
{
    if (!m || k->period)
        return false;
    m = m < 0 ? -m : m;
    int64_t lo = k->lo > 0 ? k->lo : 0, hi = comb_end(k);
    if (hi > m - 1)
        hi = m - 1;
    *k = (struct comb){.lo = lo,
                       .len = hi >= lo ? hi - lo + 1 : 0,
                       .period = m,
                       .min = -infinity,
                       .max = infinity};
    return true;
}

static int64_t solve_comb(struct nc_ev *e, const struct nc_node *f, struct comb c, int tmp,
                          int64_t x);
static int64_t solve_branch(struct nc_ev *e, const struct nc_node *cond, bool no,
                            const struct nc_node *f, struct comb c, int tmp, int64_t x);

/* The values in a small comb without period, one after the other. */
static int64_t solve_each_point(struct nc_ev *e, const struct nc_node *f, struct comb c, int tmp,
                                int64_t x,
                                int64_t (*solve)(struct nc_ev *, const struct nc_node *, int64_t,
                                                 int, int64_t))
{
    int64_t best = NC_NO_TASK;

    if (c.period || c.len > 4)
        return x;
    for (int64_t v = c.lo; v < c.lo + c.len; v++) {
        int64_t t = solve(e, f, v, tmp, x);

        if (t != NC_NO_TASK && (best == NC_NO_TASK || t < best))
            best = t;
    }
    return best;
}

static int64_t solve_xor_point(struct nc_ev *e, const struct nc_node *f, int64_t v, int tmp,
                               int64_t x)
{
    bool left = solve_has(f->kid[0], tmp);
    int64_t mask;

    if (!nc_quiet(e, f->kid[left ? 1 : 0], &mask))
        return x;
    return solve_comb(e, f->kid[left ? 0 : 1], comb_interval(v ^ mask, v ^ mask), tmp, x);
}

/* MESH_NEIGHBOR(dims, g, steps) = v: walk the steps backwards from v. */
static int64_t solve_mesh_point(struct nc_ev *e, const struct nc_node *f, int64_t v, int tmp,
                                int64_t x)
{
    int64_t arg[7], back[3];
    enum nc_fault_kind before = e->bad;

    if (v < 0)
        return x; /* all tasks off the mesh */
    for (int i = 0; i < 7; i++)
        if (i != 3 && (solve_has(f->kid[i], tmp) || !nc_quiet(e, f->kid[i], &arg[i])))
            return x;
    for (int d = 0; d < 3; d++) {
        if (!solve_is_small(arg[4 + d]))
            return x;
        back[d] = -arg[4 + d];
    }
    int64_t g = nc_mesh_neighbor(e, arg, f->i, v, back);
    if (e->bad != before) {
        e->bad = before;
        return x;
    }
    return g < 0 ? NC_NO_TASK : solve_comb(e, f->kid[3], comb_interval(g, g), tmp, x);
}

static bool solve_argument(struct nc_ev *e, const struct nc_node *f, uint32_t i, int64_t def,
                           int tmp, int64_t *ret)
{
    *ret = def;
    return i >= f->nkid || (!solve_has(f->kid[i], tmp) && nc_quiet(e, f->kid[i], ret));
}

static int64_t solve_tree_point(struct nc_ev *e, const struct nc_node *f, int64_t v, int tmp,
                                int64_t x)
{
    bool parent = f->func->kw == NK_TREE_PARENT;
    int64_t arity, child = 0;

    if (v < 0 || !solve_is_small(v) || !solve_argument(e, f, parent ? 1 : 2, 2, tmp, &arity) ||
        arity < 1 || !solve_is_small(arity) ||
        (!parent && !solve_argument(e, f, 1, 0, tmp, &child)))
        return x;
    if (parent)
        return solve_comb(e, f->kid[0],
                          comb_interval(comb_end_add(comb_end_scale(v, arity), 1),
                                        comb_end_add(comb_end_scale(v, arity), arity)),
                          tmp, x);
    if (child < 0 || child >= arity || (v - child - 1) % arity)
        return NC_NO_TASK;
    int64_t t = (v - child - 1) / arity;
    return solve_comb(e, f->kid[0], comb_interval(t, t), tmp, x);
}

/* KNOMIAL_PARENT(g) = v: g is v with one more digit on top. */
static int64_t solve_knomial_point(struct nc_ev *e, const struct nc_node *f, int64_t v, int tmp,
                                   int64_t x)
{
    int64_t k, n, best = NC_NO_TASK;

    if (f->func->kw == NK_KNOMIAL_CHILD) {
        if (v < 0 || !solve_argument(e, f, 2, 2, tmp, &k) || k < 2 ||
            !solve_argument(e, f, 3, nc_ev_ntasks(e), tmp, &n) || solve_has(f->kid[1], tmp))
            return x;
        int64_t t = nc_knomial_parent(v, k, n);
        return t < 0 ? NC_NO_TASK : solve_comb(e, f->kid[0], comb_interval(t, t), tmp, x);
    }
    if (v < 0 || !solve_argument(e, f, 1, 2, tmp, &k) || k < 2 ||
        !solve_argument(e, f, 2, nc_ev_ntasks(e), tmp, &n))
        return x;
    for (int64_t power = 1; power < n; power *= k) {
        /* v + power, v + 2 power, ..., v + (k-1) power */
        struct comb c = {.lo = v + power,
                         .len = 1,
                         .period = power,
                         .min = v + power,
                         .max = comb_end_add(v, comb_end_scale(power, k - 1))};
        int64_t t =
            v < power && solve_is_small(k) ? solve_comb(e, f->kid[0], c, tmp, x) : NC_NO_TASK;

        if (!solve_is_small(k))
            return x;
        if (t != NC_NO_TASK && (best == NC_NO_TASK || t < best))
            best = t;
        if (power > n / k)
            break;
    }
    return best;
}

/* MESH_COORDINATE(dims, g, axis) = comb, as division and MOD. */
static int64_t solve_coordinate(struct nc_ev *e, const struct nc_node *f, struct comb c, int tmp,
                                int64_t x)
{
    int64_t dim[3], axis;

    for (uint32_t d = 0; d < 3; d++)
        if (!solve_argument(e, f, d, 1, tmp, &dim[d]) || dim[d] <= 0 || !solve_is_small(dim[d]))
            return x;
    if (!solve_argument(e, f, 4, 0, tmp, &axis) || axis < 0 || axis > 2 || c.lo < 0)
        return x;
    int64_t below = axis > 1 ? dim[0] * dim[1] : axis > 0 ? dim[0] : 1;
    if (!solve_is_small(below) || !comb_mod(&c, dim[axis]) || !comb_stretch(&c, below))
        return x;
    return solve_comb(e, f->kid[3], c, tmp, x);
}

static int64_t solve_call(struct nc_ev *e, const struct nc_node *f, struct comb c, int tmp,
                          int64_t x)
{
    switch (f->func->kw) {
    case NK_MESH_NEIGHBOR:
        return solve_each_point(e, f, c, tmp, x, solve_mesh_point);
    case NK_MESH_COORDINATE:
        return solve_coordinate(e, f, c, tmp, x);
    case NK_TREE_PARENT:
    case NK_TREE_CHILD:
        return solve_each_point(e, f, c, tmp, x, solve_tree_point);
    case NK_KNOMIAL_PARENT:
    case NK_KNOMIAL_CHILD:
        return solve_each_point(e, f, c, tmp, x, solve_knomial_point);
    default:
        return x;
    }
}

/* kid[0] op kid[1] = comb where only one of them depends on tmp. */
static int64_t solve_binary(struct nc_ev *e, const struct nc_node *f, struct comb c, int tmp,
                            int64_t x)
{
    bool left = solve_has(f->kid[0], tmp);
    const struct nc_node *g = f->kid[left ? 0 : 1];
    int64_t v;
    bool ok = false;

    if (solve_has(f->kid[left ? 1 : 0], tmp) || !nc_quiet(e, f->kid[left ? 1 : 0], &v) ||
        !solve_is_small(v))
        return x;
    switch (f->op) {
    case NX_ADD:
        ok = comb_shift(&c, v);
        break;
    case NX_SUB: /* g - v, or v - g */
        ok = left ? comb_shift(&c, -v) : comb_mirror(&c) && comb_shift(&c, -v);
        break;
    case NX_MUL:
        ok = comb_shrink(&c, v);
        break;
    case NX_DIV:
        ok = left && comb_stretch(&c, v);
        break;
    case NX_MOD:
        ok = left && comb_mod(&c, v);
        break;
    case NX_SHL: /* which loses bits on the left unless a task is shifted a little */
        ok = left && g->op == NX_TMP && v >= 0 && v <= 30 && comb_shrink(&c, (int64_t)1 << v);
        break;
    case NX_SHR:
        ok = left && v >= 0 && v < 60 && c.lo >= 0 && comb_stretch(&c, (int64_t)1 << v);
        break;
    case NX_XOR:
        return solve_each_point(e, f, c, tmp, x, solve_xor_point);
    default:
        break;
    }
    return ok ? solve_comb(e, g, c, tmp, x) : x;
}

static int64_t solve_comb(struct nc_ev *e, const struct nc_node *f, struct comb c, int tmp,
                          int64_t x)
{
    int64_t a, b;

    switch (f->op) {
    case NX_TMP:
        return f->i == tmp ? comb_next(&c, x) : x;
    case NX_NEG:
        comb_mirror(&c);
        return solve_comb(e, f->kid[0], c, tmp, x);
    case NX_COND: /* one branch or the other */
        a = solve_branch(e, f->kid[1], false, f->kid[0], c, tmp, x);
        b = solve_branch(e, f->kid[1], true, f->kid[2], c, tmp, x);
        return a == NC_NO_TASK ? b : b == NC_NO_TASK ? a : a < b ? a : b;
    case NX_CALL:
        return solve_call(e, f, c, tmp, x);
    case NX_ADD:
    case NX_SUB:
    case NX_MUL:
    case NX_DIV:
    case NX_MOD:
    case NX_SHL:
    case NX_SHR:
    case NX_XOR:
        return solve_binary(e, f, c, tmp, x);
    default:
        return x;
    }
}

int64_t nc_solve_equal(struct nc_ev *e, const struct nc_node *expr, int64_t value, int tmp,
                       int64_t x)
{
    return solve_is_small(value) ? solve_comb(e, expr, comb_interval(value, value), tmp, x) : x;
}

static enum nc_op solve_negated(enum nc_op op)
{
    static const struct {
        uint8_t op, opposite;
    } pairs[] = {{NX_EQ, NX_NE},
                 {NX_LT, NX_GE},
                 {NX_GT, NX_LE},
                 {NX_EVEN, NX_ODD},
                 {NX_IN, NX_NOT_IN},
                 {NX_LAND, NX_LOR},
                 {NX_WITHIN, NX_NOT_WITHIN}};

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (op == pairs[i].op)
            return pairs[i].opposite;
        if (op == pairs[i].opposite)
            return pairs[i].op;
    }
    return NX_CONST; /* DIVIDES has no opposite of its own */
}

static enum nc_op flipped(enum nc_op op) /* v < f is f > v */
{
    return op == NX_LT   ? NX_GT
           : op == NX_GT ? NX_LT
           : op == NX_LE ? NX_GE
           : op == NX_GE ? NX_LE
                         : op;
}

/* f <op> v */
static int64_t solve_compare(struct nc_ev *e, const struct nc_node *rel, enum nc_op op, int tmp,
                             int64_t x)
{
    bool left = solve_has(rel->kid[0], tmp);
    const struct nc_node *f = rel->kid[left ? 0 : 1];
    struct comb c;
    int64_t v;

    if (solve_has(rel->kid[left ? 1 : 0], tmp) || !nc_quiet(e, rel->kid[left ? 1 : 0], &v) ||
        !solve_is_small(v))
        return x;
    switch (left ? op : flipped(op)) {
    case NX_EQ:
        c = comb_interval(v, v);
        break;
    case NX_LT:
        c = comb_interval(-infinity, v - 1);
        break;
    case NX_LE:
        c = comb_interval(-infinity, v);
        break;
    case NX_GT:
        c = comb_interval(v + 1, infinity);
        break;
    default:
        c = comb_interval(v, infinity);
        break;
    }
    return solve_comb(e, f, c, tmp, x);
}

static int64_t solve_multiple(struct nc_ev *e, const struct nc_node *f, int64_t of, int64_t rest,
                              int tmp, int64_t x)
{
    struct comb c = {.lo = rest, .len = 1, .period = of, .min = -infinity, .max = infinity};

    return solve_comb(e, f, c, tmp, x);
}

static int64_t solve_divides(struct nc_ev *e, const struct nc_node *rel, int tmp, int64_t x)
{
    int64_t v;

    if (solve_has(rel->kid[0], tmp) || !nc_quiet(e, rel->kid[0], &v) || !v || !solve_is_small(v))
        return x;
    return solve_multiple(e, rel->kid[1], v < 0 ? -v : v, 0, tmp, x);
}

static int64_t solve_earlier(int64_t a, int64_t b)
{
    return a == NC_NO_TASK ? b : b == NC_NO_TASK ? a : a < b ? a : b;
}

static int64_t solve_list(struct nc_ev *e, const struct nc_node *rel, const struct nc_rng *r,
                          int tmp, int64_t x)
{
    int64_t best = NC_NO_TASK, v;

    for (uint32_t k = 0; k < r->n; k++)
        best = solve_earlier(
            best, nc_quiet(e, r->e[k], &v) ? nc_solve_equal(e, rel->kid[0], v, tmp, x) : x);
    return best;
}

static int64_t solve_range(struct nc_ev *e, const struct nc_node *rel, const struct nc_rng *r,
                           int tmp, int64_t x)
{
    enum nc_fault_kind before = e->bad;
    struct nc_seq s;

    if (r->kind == NR_COMP || (r->tmps >> tmp & 1))
        return x;
    if (r->kind == NR_LIST)
        return solve_list(e, rel, r, tmp, x);
    bool known = nc_seq_of(e, r, &s);
    e->bad = before;
    if (!known || s.kind != NC_SEQ_ADD || !solve_is_small(s.first) || !solve_is_small(s.last) ||
        !solve_is_small(s.step))
        return x;
    struct comb c = s.step > 0 ? comb_interval(s.first, s.last) : comb_interval(s.last, s.first);
    if (s.step > 1 || s.step < -1) {
        c.lo = s.first;
        c.len = c.len ? 1 : 0;
        c.period = s.step < 0 ? -s.step : s.step;
    }
    return solve_comb(e, rel->kid[0], c, tmp, x);
}

/* f IS IN ranges: the first that one of them allows. */
static int64_t solve_in(struct nc_ev *e, const struct nc_node *rel, int tmp, int64_t x)
{
    int64_t best = NC_NO_TASK;

    for (uint32_t i = 0; i < rel->nranges; i++)
        best = solve_earlier(best, solve_range(e, rel, &rel->ranges[i], tmp, x));
    return best;
}

static int64_t solve_rel(struct nc_ev *e, const struct nc_node *rel, bool no, int tmp, int64_t x);

/* Both must hold: take turns until they agree. */
static int64_t solve_both(struct nc_ev *e, const struct nc_node *rel, bool no, int tmp, int64_t x)
{
    for (int i = 0; i < LEAPS; i++) {
        int64_t a = solve_rel(e, rel->kid[0], no, tmp, x);
        int64_t b = a == NC_NO_TASK ? a : solve_rel(e, rel->kid[1], no, tmp, a);

        if (b == NC_NO_TASK || b == x)
            return b;
        x = b;
    }
    return x;
}

/* `no`: the condition must be false. */
static int64_t solve_rel(struct nc_ev *e, const struct nc_node *rel, bool no, int tmp, int64_t x)
{
    enum nc_op op = no ? solve_negated(rel->op) : rel->op;

    if (!solve_has(rel, tmp) || rel->real)
        return x;
    switch (op) {
    case NX_LAND:
        return solve_both(e, rel, no, tmp, x);
    case NX_LOR:
        return solve_earlier(solve_rel(e, rel->kid[0], no, tmp, x),
                             solve_rel(e, rel->kid[1], no, tmp, x));
    case NX_DIVIDES:
        return solve_divides(e, rel, tmp, x);
    case NX_EVEN:
    case NX_ODD:
        return solve_multiple(e, rel->kid[0], 2, op == NX_ODD, tmp, x);
    case NX_IN:
        return solve_in(e, rel, tmp, x);
    case NX_EQ:
    case NX_LT:
    case NX_GT:
    case NX_LE:
    case NX_GE:
        return solve_compare(e, rel, op, tmp, x);
    default:
        return x;
    }
}

int64_t nc_solve(struct nc_ev *e, const struct nc_node *rel, int tmp, int64_t x)
{
    return solve_rel(e, rel, false, tmp, x);
}

/* A branch of a conditional expression: it must be the chosen one and have a value
 * of the comb. */
static int64_t solve_branch(struct nc_ev *e, const struct nc_node *cond, bool no,
                            const struct nc_node *f, struct comb c, int tmp, int64_t x)
{
    int64_t v;

    if (!solve_has(f, tmp) && nc_quiet(e, f, &v) && (!solve_is_small(v) || comb_next(&c, v) != v))
        return NC_NO_TASK;
    for (int i = 0; i < LEAPS; i++) {
        int64_t a = solve_rel(e, cond, no, tmp, x);
        int64_t b = a == NC_NO_TASK || !solve_has(f, tmp) ? a : solve_comb(e, f, c, tmp, a);

        if (b == NC_NO_TASK || b == x)
            return b;
        x = b;
    }
    return x;
}

/* ---- grades ---- */

static uint32_t solve_paths(const struct nc_node *x, int tmp)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < x->nkid; i++)
        n += solve_has(x->kid[i], tmp);
    return n;
}

/* Can f = v be turned inside out down to the variable? */
enum nc_grade nc_grade_equal(const struct nc_node *f, int tmp)
{
    if (!solve_has(f, tmp))
        return NC_EXACT; /* all or no task */
    if (f->op == NX_TMP)
        return NC_POINTWISE;
    if (f->op == NX_COND) {
        /* A branch without the variable gives all that the condition selects. */
        enum nc_grade sel = nc_grade_rel(f->kid[1], tmp);
        enum nc_grade a = solve_has(f->kid[0], tmp) ? nc_grade_equal(f->kid[0], tmp) : sel;
        enum nc_grade b = solve_has(f->kid[2], tmp) ? nc_grade_equal(f->kid[2], tmp) : sel;

        return a < b ? a : b;
    }
    if (solve_paths(f, tmp) != 1 || f->nranges)
        return NC_LOOSE;
    const struct nc_node *g = NULL;
    for (uint32_t i = 0; i < f->nkid; i++)
        if (solve_has(f->kid[i], tmp))
            g = f->kid[i];
    if (!g)
        return NC_LOOSE;
    switch (f->op) {
    case NX_NEG:
    case NX_ADD:
    case NX_SUB:
    case NX_MUL:
    case NX_XOR:
        return nc_grade_equal(g, tmp);
    case NX_DIV:
    case NX_SHR:
    case NX_MOD:
        return g == f->kid[0] ? nc_grade_equal(g, tmp) : NC_LOOSE;
    case NX_SHL:
        return g == f->kid[0] && g->op == NX_TMP ? NC_POINTWISE : NC_LOOSE;
    case NX_CALL:
        break;
    default:
        return NC_LOOSE;
    }
    switch (f->func->kw) {
    case NK_MESH_NEIGHBOR:
    case NK_MESH_COORDINATE:
        return g == f->kid[3] ? nc_grade_equal(g, tmp) : NC_LOOSE;
    case NK_TREE_PARENT:
    case NK_TREE_CHILD:
    case NK_KNOMIAL_PARENT:
    case NK_KNOMIAL_CHILD:
        return g == f->kid[0] ? nc_grade_equal(g, tmp) : NC_LOOSE;
    default:
        return NC_LOOSE;
    }
}

static enum nc_grade solve_grade_compare(const struct nc_node *rel, int tmp)
{
    if (solve_has(rel->kid[0], tmp) && solve_has(rel->kid[1], tmp))
        return NC_LOOSE;
    enum nc_grade g = nc_grade_equal(rel->kid[solve_has(rel->kid[0], tmp) ? 0 : 1], tmp);
    return rel->op == NX_EQ || g == NC_LOOSE ? g : NC_EXACT;
}

enum nc_grade nc_grade_rel(const struct nc_node *rel, int tmp)
{
    enum nc_grade a, b;

    if (!solve_has(rel, tmp))
        return NC_EXACT;
    if (rel->real)
        return NC_LOOSE;
    switch (rel->op) {
    case NX_LAND: /* one good half is enough to find few candidates */
        a = nc_grade_rel(rel->kid[0], tmp);
        b = nc_grade_rel(rel->kid[1], tmp);
        return a == NC_POINTWISE || b == NC_POINTWISE ? NC_POINTWISE : a < b ? a : b;
    case NX_LOR:
        a = nc_grade_rel(rel->kid[0], tmp);
        b = nc_grade_rel(rel->kid[1], tmp);
        return a < b ? a : b;
    case NX_NE:
    case NX_NOT_IN: /* most tasks pass */
        return NC_EXACT;
    case NX_EVEN:
    case NX_ODD:
    case NX_DIVIDES:
        a = nc_grade_equal(rel->kid[rel->op == NX_DIVIDES ? 1 : 0], tmp);
        return a == NC_LOOSE || (rel->op == NX_DIVIDES && solve_has(rel->kid[0], tmp)) ? NC_LOOSE
                                                                                       : NC_EXACT;
    case NX_IN:
        for (uint32_t i = 0; i < rel->nranges; i++)
            if (rel->ranges[i].kind == NR_COMP || (rel->ranges[i].tmps >> tmp & 1) ||
                (rel->ranges[i].kind == NR_ELLIPSIS && rel->ranges[i].n > 2))
                return NC_LOOSE;
        return nc_grade_equal(rel->kid[0], tmp) == NC_LOOSE ? NC_LOOSE : NC_EXACT;
    case NX_EQ:
    case NX_LT:
    case NX_GT:
    case NX_LE:
    case NX_GE:
        return solve_grade_compare(rel, tmp);
    default:
        return NC_LOOSE;
    }
}
