/* ioload_account_priv.h -- one process's slices, in memory shared with its parent. */
#ifndef IOLOAD_ACCOUNT_PRIV_H
#define IOLOAD_ACCOUNT_PRIV_H

#include "ioload/ioload.h"

enum { IOLOAD_MOST_SLICES = 1 << 20, IOLOAD_MOST_CELLS = 1 << 26 };

struct account {
    struct ioload_cell *cell;    /* [n] one per slice, zero at the start */
    size_t n;                    /* cells there are */
    int64_t origin_ns, slice_ns; /* where the first slice begins, and its length */
};

enum account_kind { ACCOUNT_WRITE, ACCOUNT_SYNC };

/* A call of `kind` from t0 to t1 that moved `len_b` bytes. False: there are no more cells. */
bool account_add(struct account *a, enum account_kind kind, int64_t t0, int64_t t1, uint64_t len_b);

#endif
