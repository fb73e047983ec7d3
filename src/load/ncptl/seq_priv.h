/* seq_priv.h -- the patterns of {1, 2, 4, ..., 64}, one value at a time.
 *
 * The text of this file is also part of every program that `weir lang compile` writes.
 */
#ifndef LOAD_NCPTL_SEQ_PRIV_H
#define LOAD_NCPTL_SEQ_PRIV_H

#include <stdbool.h>
#include <stdint.h>

/* A range whose pattern was recognised. */
enum nc_seq_kind { NC_SEQ_LIST, NC_SEQ_ADD, NC_SEQ_MUL, NC_SEQ_DIV, NC_SEQ_REAL };

struct nc_seq {
    enum nc_seq_kind kind;
    int64_t first, last, step;
    double rfirst, rlast, rstep; /* SEQ_REAL */
};

/* The pattern of n terms (at least one) up to `last`, in whole numbers; false: there is none. */
bool nc_seq_whole(const int64_t *terms, uint32_t n, int64_t last, struct nc_seq *ret);

/* A geometric one of three terms or more, their values in floating-point context beside. */
bool nc_seq_real(const int64_t *terms, const double *real, uint32_t n, double last,
                 struct nc_seq *ret);

/* Element `i`, whose predecessor is `prev`; false after the last. */
bool nc_seq_term(const struct nc_seq *s, int64_t i, int64_t prev, int64_t *ret);

/* Of NC_SEQ_ADD: is this a value? */
bool nc_seq_has(const struct nc_seq *s, int64_t value);

#endif
