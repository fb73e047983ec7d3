/* func_math.c -- arithmetic and the functions of the language, in both contexts.
 *
 * The text of this file is also part of every program that `weir lang compile` writes: it
 * uses nothing but func_math_priv.h and what that includes.
 */
#include <math.h>

#include "func_math_priv.h"

int64_t nc_trunc(double d)
{
    if (!(d > -0x1p63))
        return d != d ? 0 : INT64_MIN;
    return d >= 0x1p63 ? INT64_MAX : (int64_t)d;
}

int64_t nc_modulo(struct nc_ev *e, int64_t a, int64_t b)
{
    if (!b)
        return nc_ev_fail(e, NCF_MOD_ZERO, a, 0);
    if (b == -1 || b == 1)
        return 0;
    if (b == INT64_MIN) /* has no absolute value */
        return a >= 0 ? a : a == INT64_MIN ? 0 : INT64_MAX + a + 1;
    if (b < 0)
        b = -b;
    a %= b;
    return a < 0 ? a + b : a;
}

int64_t nc_power(struct nc_ev *e, int64_t base, int64_t exponent)
{
    int64_t result = 1;

    if (!base && exponent <= 0)
        return nc_ev_fail(e, NCF_ZERO_POWER, base, exponent);
    if (base == 1 || (base == -1 && exponent % 2 == 0))
        return 1;
    if (base == -1)
        return -1;
    if (exponent < 0 || !base)
        return 0;
    if (exponent > 63)
        return nc_ev_fail(e, NCF_OVERFLOW, base, exponent);
    for (; exponent; exponent--)
        if (__builtin_mul_overflow(result, base, &result))
            return nc_ev_fail(e, NCF_OVERFLOW, base, exponent);
    return result;
}

double nc_dpower(struct nc_ev *e, double base, double exponent)
{
    if ((base == 0 && exponent <= 0) || (base < 0 && exponent != trunc(exponent)))
        return (double)nc_ev_fail(e, NCF_ZERO_POWER, nc_trunc(base), nc_trunc(exponent));
    return pow(base, exponent);
}

int64_t nc_shift(int64_t a, int64_t by)
{
    if (by >= 64 || by <= -64)
        return by > 0 || a >= 0 ? 0 : -1;
    if (by >= 0)
        return (int64_t)((uint64_t)a << by);
    /* To the right the sign stays; C leaves that to the compiler, so shift its complement. */
    uint64_t sign = a < 0 ? UINT64_MAX : 0;
    return (int64_t)((((uint64_t)a ^ sign) >> -by) ^ sign);
}

/* ---- counters ---- */

int64_t nc_counter_value(const struct ncptl_counters *c, int64_t bit_errors, enum nc_counter which)
{
    switch (which) {
    case NCC_BYTES_SENT:
        return c->bytes_sent;
    case NCC_BYTES_RECEIVED:
        return c->bytes_received;
    case NCC_TOTAL_BYTES:
        return c->bytes_sent + c->bytes_received;
    case NCC_MSGS_SENT:
        return c->msgs_sent;
    case NCC_MSGS_RECEIVED:
        return c->msgs_received;
    case NCC_TOTAL_MSGS:
        return c->msgs_sent + c->msgs_received;
    case NCC_BIT_ERRORS:
        return bit_errors;
    case NCC_BYTES_WRITTEN:
        return c->bytes_written;
    case NCC_BYTES_READ:
        return c->bytes_read;
    case NCC_IOS_COMPLETED:
        return c->ios_completed;
    case NCC_ELAPSED:
        break;
    }
    return 0;
}

/* ---- roots, logarithms, bits ---- */

int64_t nc_f_abs(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    (void)n;
    return a[0] == INT64_MIN ? nc_ev_fail(e, NCF_OVERFLOW, a[0], 0) : a[0] < 0 ? -a[0] : a[0];
}

double nc_d_abs(struct nc_ev *e, const double *a, uint32_t n)
{
    (void)e, (void)n;
    return fabs(a[0]);
}

int64_t nc_f_bits(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    (void)e, (void)n;
    return a[0] ? 64 - __builtin_clzll((uint64_t)a[0]) : 0;
}

/* r^n <= x, without overflow */
static bool math_power_fits(int64_t r, int64_t n, int64_t x)
{
    int64_t product = 1;

    for (; n; n--)
        if (__builtin_mul_overflow(product, r, &product) || product > x)
            return false;
    return true;
}

static int64_t math_root(struct nc_ev *e, int64_t n, int64_t x)
{
    if (!n || x < 0 || (n < 0 && !x))
        return nc_ev_fail(e, NCF_ROOT, n, x);
    if (n < 0) /* 1 / ROOT(-n, x), as the manual says */
        return x == 1;
    if (n == 1 || x <= 1)
        return x;
    if (n > 62)
        return 1;
    int64_t r = (int64_t)pow((double)x, 1.0 / (double)n);
    while (!math_power_fits(r, n, x))
        r--;
    while (math_power_fits(r + 1, n, x))
        r++;
    return r;
}

int64_t nc_f_root(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    (void)n;
    return math_root(e, a[0], a[1]);
}

double nc_d_root(struct nc_ev *e, const double *a, uint32_t n)
{
    (void)n;
    if (a[0] == 0 || a[1] < 0)
        return (double)nc_ev_fail(e, NCF_ROOT, nc_trunc(a[0]), nc_trunc(a[1]));
    return pow(a[1], 1.0 / a[0]);
}

int64_t nc_f_sqrt(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    (void)n;
    return math_root(e, 2, a[0]);
}

double nc_d_sqrt(struct nc_ev *e, const double *a, uint32_t n)
{
    (void)n;
    return a[0] < 0 ? (double)nc_ev_fail(e, NCF_ROOT, 2, nc_trunc(a[0])) : sqrt(a[0]);
}

int64_t nc_f_cbrt(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    (void)n;
    return math_root(e, 3, a[0]);
}

double nc_d_cbrt(struct nc_ev *e, const double *a, uint32_t n)
{
    (void)n;
    return a[0] < 0 ? (double)nc_ev_fail(e, NCF_ROOT, 3, nc_trunc(a[0])) : cbrt(a[0]);
}

int64_t nc_f_log10(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    int64_t x = a[0], digits = 0;

    (void)n;
    if (x <= 0)
        return nc_ev_fail(e, NCF_LOG, x, 0);
    while (x /= 10)
        digits++;
    return digits;
}

double nc_d_log10(struct nc_ev *e, const double *a, uint32_t n)
{
    (void)n;
    return a[0] <= 0 ? (double)nc_ev_fail(e, NCF_LOG, nc_trunc(a[0]), 0) : log10(a[0]);
}

int64_t nc_f_factor10(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    int64_t x = a[0], scale = 1;

    (void)e, (void)n;
    while (x / scale >= 10 || x / scale <= -10)
        scale *= 10;
    return x / scale * scale;
}

double nc_d_factor10(struct nc_ev *e, const double *a, uint32_t n)
{
    double x = fabs(a[0]), scale;

    (void)e, (void)n;
    if (x == 0 || !isfinite(x))
        return a[0];
    scale = pow(10, floor(log10(x)));
    return copysign(floor(x / scale) * scale, a[0]);
}

int64_t nc_f_same(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    (void)e, (void)n;
    return a[0];
}

double nc_d_ceiling(struct nc_ev *e, const double *a, uint32_t n)
{
    (void)e, (void)n;
    return ceil(a[0]);
}

double nc_d_floor(struct nc_ev *e, const double *a, uint32_t n)
{
    (void)e, (void)n;
    return floor(a[0]);
}

double nc_d_round(struct nc_ev *e, const double *a, uint32_t n)
{
    (void)e, (void)n;
    return round(a[0]);
}

int64_t nc_f_min(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    int64_t best = a[0];

    (void)e;
    for (uint32_t i = 1; i < n; i++)
        best = a[i] < best ? a[i] : best;
    return best;
}

double nc_d_min(struct nc_ev *e, const double *a, uint32_t n)
{
    double best = a[0];

    (void)e;
    for (uint32_t i = 1; i < n; i++)
        best = a[i] < best ? a[i] : best;
    return best;
}

int64_t nc_f_max(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    int64_t best = a[0];

    (void)e;
    for (uint32_t i = 1; i < n; i++)
        best = a[i] > best ? a[i] : best;
    return best;
}

double nc_d_max(struct nc_ev *e, const double *a, uint32_t n)
{
    double best = a[0];

    (void)e;
    for (uint32_t i = 1; i < n; i++)
        best = a[i] > best ? a[i] : best;
    return best;
}

/* ---- trees ---- */

int64_t nc_f_tree_parent(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    int64_t arity = n > 1 ? a[1] : 2;

    if (arity < 1)
        return nc_ev_fail(e, NCF_TREE, arity, 0);
    return a[0] <= 0 ? -1 : (a[0] - 1) / arity;
}

int64_t nc_f_tree_child(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    int64_t arity = n > 2 ? a[2] : 2, child;

    if (arity < 1)
        return nc_ev_fail(e, NCF_TREE, arity, 0);
    if (a[1] < 0 || a[1] >= arity)
        return -1;
    if (__builtin_mul_overflow(a[0], arity, &child) ||
        __builtin_add_overflow(child, a[1] + 1, &child))
        return nc_ev_fail(e, NCF_OVERFLOW, a[0], arity);
    return child;
}

/* The largest power of k that is not above x > 0. */
static int64_t math_top_power(int64_t x, int64_t k)
{
    int64_t power = 1;

    while (x / power >= k)
        power *= k;
    return power;
}

int64_t nc_knomial_parent(int64_t task, int64_t k, int64_t n)
{
    return task <= 0 || task >= n ? -1 : task % math_top_power(task, k);
}

int64_t nc_f_knomial_parent(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    int64_t k = n > 1 ? a[1] : 2;

    if (k < 2)
        return nc_ev_fail(e, NCF_KNOMIAL, k, 0);
    return nc_knomial_parent(a[0], k, n > 2 ? a[2] : nc_ev_ntasks(e));
}

/* Counts the children of a task, or finds the one numbered `want`.
 *
 * Task t has digits in base k; its children set one of the zero digits above
 * the topmost to 1..k-1. In ascending order: t + d*power for d = 1..k-1, then
 * with the next power. */
static int64_t math_knomial_children(int64_t t, int64_t k, int64_t n, int64_t want, bool count)
{
    int64_t seen = 0, power = 1;

    if (t < 0 || t >= n || (t > 0 && (power = math_top_power(t, k)) > (n - 1) / k))
        return count ? 0 : -1;
    for (power *= t > 0 ? k : 1; power <= n - 1 - t; power *= k) {
        int64_t here = (n - 1 - t) / power;

        here = here < k - 1 ? here : k - 1;
        if (!count && want < seen + here)
            return t + (want - seen + 1) * power;
        seen += here;
        if (power > (n - 1) / k)
            break;
    }
    return count ? seen : -1;
}

int64_t nc_f_knomial_child(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    int64_t k = n > 2 ? a[2] : 2, ntasks = n > 3 ? a[3] : nc_ev_ntasks(e);

    if (k < 2)
        return nc_ev_fail(e, NCF_KNOMIAL, k, 0);
    return a[1] < 0 ? -1 : math_knomial_children(a[0], k, ntasks, a[1], false);
}

int64_t nc_f_knomial_children(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    int64_t k = n > 1 ? a[1] : 2, ntasks = n > 2 ? a[2] : nc_ev_ntasks(e);

    if (k < 2)
        return nc_ev_fail(e, NCF_KNOMIAL, k, 0);
    return a[0] >= ntasks ? -1 : math_knomial_children(a[0], k, ntasks, 0, true);
}

/* ---- meshes ---- */

/* x, y, z of a task on a mesh; false when it lies outside or the mesh is none. */
static bool math_mesh_place(struct nc_ev *e, const int64_t *dim, int64_t task, int64_t *ret)
{
    int64_t size = 1;

    ret[0] = ret[1] = ret[2] = 0;
    for (int d = 0; d < 3; d++)
        if (dim[d] <= 0 || __builtin_mul_overflow(size, dim[d], &size)) {
            nc_ev_fail(e, NCF_MESH, dim[d], d);
            return false;
        }
    ret[0] = ret[1] = ret[2] = -1;
    if (task < 0 || task >= size)
        return false;
    ret[0] = task % dim[0];
    ret[1] = task / dim[0] % dim[1];
    ret[2] = task / dim[0] / dim[1];
    return true;
}

int64_t nc_mesh_neighbor(struct nc_ev *e, const int64_t *dim, int64_t wrap, int64_t task,
                         const int64_t *step)
{
    int64_t at[3];

    if (!math_mesh_place(e, dim, task, at))
        return -1;
    for (int d = 0; d < 3; d++) {
        if (__builtin_add_overflow(at[d], step[d], &at[d]))
            return nc_ev_fail(e, NCF_OVERFLOW, at[d], step[d]);
        if (wrap >> d & 1)
            at[d] = nc_modulo(e, at[d], dim[d]);
        if (at[d] < 0 || at[d] >= dim[d])
            return -1;
    }
    return (at[2] * dim[1] + at[1]) * dim[0] + at[0];
}

int64_t nc_f_mesh_neighbor(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    return nc_mesh_neighbor(e, a, a[n], a[3], a + 4);
}

int64_t nc_f_mesh_coordinate(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    int64_t at[3];

    (void)n;
    if (a[4] < 0 || a[4] > 2)
        return nc_ev_fail(e, NCF_COORDINATE, a[4], 0);
    math_mesh_place(e, a, a[3], at); /* a mesh that is none: 0, and it failed */
    return at[a[4]];
}

int64_t nc_f_mesh_distance(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    int64_t from[3], to[3], sum = 0;

    if (!math_mesh_place(e, a, a[3], from) || !math_mesh_place(e, a, a[4], to))
        return -1;
    for (int d = 0; d < 3; d++) {
        int64_t delta = from[d] < to[d] ? to[d] - from[d] : from[d] - to[d];

        if ((a[n] >> d & 1) && delta > a[d] / 2)
            delta = a[d] - delta;
        sum += delta;
    }
    return sum;
}

/* ---- processors of tasks ---- */

int64_t nc_f_processor_of(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    (void)n;
    if (a[0] < 0 || a[0] >= nc_ev_ntasks(e))
        return -1;
    return nc_ev_proc_of(e, a[0]);
}

int64_t nc_f_task_of(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    (void)n;
    if (a[0] < 0 || a[0] >= nc_ev_ntasks(e))
        return -1;
    return nc_ev_task_of(e, a[0]);
}

/* ---- random numbers, each task its own stream ---- */

int64_t nc_f_random_uniform(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    (void)n;
    if (a[0] >= a[1])
        return nc_ev_fail(e, NCF_RANDOM, a[0], a[1]);
    double width = (double)a[1] - (double)a[0];
    int64_t x = nc_trunc(floor((double)a[0] + nc_ev_random(e) * width));
    return x < a[0] ? a[0] : x >= a[1] ? a[1] - 1 : x;
}

double nc_d_random_uniform(struct nc_ev *e, const double *a, uint32_t n)
{
    (void)n;
    if (!(a[0] < a[1]))
        return (double)nc_ev_fail(e, NCF_RANDOM, nc_trunc(a[0]), nc_trunc(a[1]));
    return a[0] + nc_ev_random(e) * (a[1] - a[0]);
}

double nc_d_random_gaussian(struct nc_ev *e, const double *a, uint32_t n)
{
    double u = 1 - nc_ev_random(e), v = nc_ev_random(e); /* Box-Muller; u > 0 */

    (void)n;
    return a[0] + a[1] * sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

int64_t nc_f_random_gaussian(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    return nc_trunc(nc_d_random_gaussian(e, (double[]){(double)a[0], (double)a[1]}, n));
}

/* Counting exponential gaps until they exceed the mean, in pieces so that
 * exp() does not underflow; beyond 1e6 the normal approximation is exact enough. */
double nc_d_random_poisson(struct nc_ev *e, const double *a, uint32_t n)
{
    double mean = floor(a[0]), count = 0, left = mean, product = 1;

    if (!(a[0] >= 0))
        return (double)nc_ev_fail(e, NCF_RANDOM, nc_trunc(a[0]), 0);
    if (mean > 1e6)
        return round(fmax(0, nc_d_random_gaussian(e, (double[]){mean, sqrt(mean)}, n)));
    for (;;) {
        product *= 1 - nc_ev_random(e);
        while (product < 1 && left > 0) {
            double piece = fmin(left, 500);

            product *= exp(piece);
            left -= piece;
        }
        if (product <= 1)
            return count;
        count++;
    }
}

int64_t nc_f_random_poisson(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    return nc_trunc(nc_d_random_poisson(e, (double[]){(double)a[0]}, n));
}

/* Inverse transform; with two bounds the distribution is truncated to them. */
double nc_d_random_pareto(struct nc_ev *e, const double *a, uint32_t n)
{
    double shape = a[0], low = a[1], u = 1 - nc_ev_random(e);

    if (!(shape > 0) || !(low > 0) || (n > 2 && !(low <= a[2])))
        return (double)nc_ev_fail(e, NCF_RANDOM, nc_trunc(shape), nc_trunc(low));
    if (n == 2 || low == a[2])
        return low / pow(u, 1 / shape);
    return low / pow(1 - (1 - u) * (1 - pow(low / a[2], shape)), 1 / shape);
}

int64_t nc_f_random_pareto(struct nc_ev *e, const int64_t *a, uint32_t n)
{
    double d[3] = {(double)a[0], (double)a[1], n > 2 ? (double)a[2] : 0};

    return nc_trunc(round(nc_d_random_pareto(e, d, n)));
}
