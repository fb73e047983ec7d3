/* ioload_account.c -- spreads one call over the slices of time that it spans.
 *
 * Bytes and time go to the slices in proportion; the call is counted in the slice where it ends.
 * Sums over slices equal the sums over calls exactly. Called by ioload_process.c, which is the only
 * writer of the cells.
 */
#include <assert.h>

#include "ioload_account_priv.h"

/* The part of `whole` that falls before `dt` of `length`; exact sums, because parts are
 * differences of this. */
static uint64_t account_bytes_before(uint64_t whole, int64_t dt, int64_t length)
{
    if (dt >= length)
        return whole;
    return (uint64_t)((unsigned __int128)whole * (uint64_t)dt / (uint64_t)length);
}

bool account_add(struct account *a, enum account_kind kind, int64_t t0, int64_t t1, uint64_t len_b)
{
    assert(a->slice_ns > 0);
    assert(t0 >= a->origin_ns);
    if (t1 <= t0)
        t1 = t0 + 1;
    size_t first = (size_t)((t0 - a->origin_ns) / a->slice_ns);
    size_t last = (size_t)((t1 - 1 - a->origin_ns) / a->slice_ns);
    uint64_t done_b = 0;

    if (last >= a->n)
        return false;
    for (size_t i = first; i <= last; i++) {
        struct ioload_cell *c = &a->cell[i];
        int64_t from = a->origin_ns + (int64_t)i * a->slice_ns, to = from + a->slice_ns;
        uint64_t upto_b = account_bytes_before(len_b, to - t0, t1 - t0);
        uint64_t spent = (uint64_t)((to < t1 ? to : t1) - (from > t0 ? from : t0));

        if (kind == ACCOUNT_WRITE) {
            c->write_b += upto_b - done_b;
            c->write_ns += spent;
            c->write_calls += i == last;
        } else {
            c->sync_ns += spent;
            c->sync_calls += i == last;
        }
        c->inflight += i < last;
        done_b = upto_b;
    }
    return true;
}
