/* func_math_priv.h -- arithmetic, the functions of the language, and how they fail.
 *
 * The text of this file is also part of every program that `weir lang compile` writes. What
 * evaluates (struct nc_ev: the interpreter, or the compiled program) provides the nc_ev_*
 * functions.
 */
#ifndef LOAD_NCPTL_FUNC_MATH_PRIV_H
#define LOAD_NCPTL_FUNC_MATH_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "ncptl_event.h"

struct nc_ev;

enum nc_fault_kind {
    NCF_NONE,
    NCF_DIV_ZERO,
    NCF_MOD_ZERO,
    NCF_ZERO_POWER,
    NCF_OVERFLOW,
    NCF_ROOT,
    NCF_LOG,
    NCF_TREE,
    NCF_KNOMIAL,
    NCF_MESH,
    NCF_COORDINATE,
    NCF_RANDOM,
    NCF_PATTERN,
    NCF_TOO_MANY,
    NCF_FILE,
    NCF_FILE_CELL,
    NCF_NEGATIVE,
    NCF_OFFSET,
    NCF_ASSERT,
    NCF_RESTORE,
    NCF_PROCESSOR,
    NCF_PERCENTILE,
    NCF_NKINDS,
};

/* What a failure means, for the author of the program; {x} and {y} are its operands. */
extern const char *const nc_fault_text[NCF_NKINDS];

enum nc_counter {
    NCC_ELAPSED,
    NCC_BYTES_SENT,
    NCC_BYTES_RECEIVED,
    NCC_TOTAL_BYTES,
    NCC_MSGS_SENT,
    NCC_MSGS_RECEIVED,
    NCC_TOTAL_MSGS,
    NCC_BIT_ERRORS,
    NCC_BYTES_WRITTEN,
    NCC_BYTES_READ,
    NCC_IOS_COMPLETED,
};

/* The value of a counter; 0 for NCC_ELAPSED, which is a time and no whole number. */
int64_t nc_counter_value(const struct ncptl_counters *c, int64_t bit_errors, enum nc_counter which);

/* Of what evaluates. */
int64_t nc_ev_fail(struct nc_ev *e, enum nc_fault_kind kind, int64_t x, int64_t y); /* 0 */
int64_t nc_ev_ntasks(const struct nc_ev *e);
int64_t nc_ev_proc_of(const struct nc_ev *e, int64_t task);
int64_t nc_ev_task_of(const struct nc_ev *e, int64_t proc);
double nc_ev_random(struct nc_ev *e); /* [0, 1) */

/* Arithmetic that the operators and the functions share. */
int64_t nc_modulo(struct nc_ev *e, int64_t a, int64_t b);
int64_t nc_power(struct nc_ev *e, int64_t base, int64_t exponent);
double nc_dpower(struct nc_ev *e, double base, double exponent);
int64_t nc_shift(int64_t a, int64_t by); /* left; negative: right */
int64_t nc_trunc(double d);              /* towards zero, clamped to 64 bits */

int64_t nc_mesh_neighbor(struct nc_ev *e, const int64_t *dim, int64_t wrap, int64_t task,
                         const int64_t *step);
int64_t nc_knomial_parent(int64_t task, int64_t k, int64_t n);

/* The functions: f_ in integer context, d_ in floating-point context. MESH_* have the
 * dimensions that wrap as one argument more, a[n]. */
int64_t nc_f_abs(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_bits(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_root(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_sqrt(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_cbrt(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_log10(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_factor10(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_same(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_min(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_max(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_tree_parent(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_tree_child(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_knomial_parent(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_knomial_child(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_knomial_children(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_mesh_neighbor(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_mesh_coordinate(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_mesh_distance(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_processor_of(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_task_of(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_random_uniform(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_random_gaussian(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_random_poisson(struct nc_ev *e, const int64_t *a, uint32_t n);
int64_t nc_f_random_pareto(struct nc_ev *e, const int64_t *a, uint32_t n);
double nc_d_abs(struct nc_ev *e, const double *a, uint32_t n);
double nc_d_root(struct nc_ev *e, const double *a, uint32_t n);
double nc_d_sqrt(struct nc_ev *e, const double *a, uint32_t n);
double nc_d_cbrt(struct nc_ev *e, const double *a, uint32_t n);
double nc_d_log10(struct nc_ev *e, const double *a, uint32_t n);
double nc_d_factor10(struct nc_ev *e, const double *a, uint32_t n);
double nc_d_ceiling(struct nc_ev *e, const double *a, uint32_t n);
double nc_d_floor(struct nc_ev *e, const double *a, uint32_t n);
double nc_d_round(struct nc_ev *e, const double *a, uint32_t n);
double nc_d_min(struct nc_ev *e, const double *a, uint32_t n);
double nc_d_max(struct nc_ev *e, const double *a, uint32_t n);
double nc_d_random_uniform(struct nc_ev *e, const double *a, uint32_t n);
double nc_d_random_gaussian(struct nc_ev *e, const double *a, uint32_t n);
double nc_d_random_poisson(struct nc_ev *e, const double *a, uint32_t n);
double nc_d_random_pareto(struct nc_ev *e, const double *a, uint32_t n);

#endif
