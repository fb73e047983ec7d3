/* rank_accounts.h -- every rank's accounts add up to its time, whatever it did. */
#ifndef TESTS_RANK_ACCOUNTS_H
#define TESTS_RANK_ACCOUNTS_H

#include "rank/rank.h"

static inline void rank_check_accounts(const struct ranks *rs)
{
    for (uint32_t i = 0; i < ranks_count(rs); i++) {
        struct rank_stat s;
        uint64_t sum = 0;

        ranks_stat(rs, i, &s);
        for (int k = 0; k < RANK_ACCOUNTS; k++)
            sum += s.account_ps[k];
        for (int c = 0; c < LOAD_COLLS; c++)
            sum += s.coll_ps[c];
        assert_int_equal(sum, s.elapsed_ps);
    }
}

#endif
