/* rank_accounts.h -- every rank's accounts add up to its time, and the causes to their
 * accounts, whatever it did. */
#ifndef TESTS_RANK_ACCOUNTS_H
#define TESTS_RANK_ACCOUNTS_H

#include "rank/rank.h"

static inline void rank_check_accounts(const struct ranks *rs)
{
    for (uint32_t i = 0; i < ranks_count(rs); i++) {
        struct rank_stat s;
        uint64_t sum = 0, colls = 0, comm = 0, io = 0;
        const uint64_t *a = s.account_ps;

        ranks_stat(rs, i, &s);
        for (int k = 0; k < RANK_ACCOUNTS; k++)
            sum += a[k];
        for (int c = 0; c < LOAD_COLLS; c++)
            colls += s.coll_ps[c];
        assert_int_equal(sum + colls, s.elapsed_ps);
        for (int c = 0; c < CAUSES; c++) {
            assert_true(s.comm_why_ps[c] <= s.elapsed_ps && s.io_why_ps[c] <= s.elapsed_ps);
            comm += s.comm_why_ps[c];
            io += s.io_why_ps[c];
        }
        assert_int_equal(comm, a[RANK_SEND] + a[RANK_RECV] + a[RANK_WAIT] + colls);
        assert_int_equal(io, a[RANK_IO]);
    }
}

#endif
