/* compare_priv.h -- what the files that compare runs share. */
#ifndef REPORT_COMPARE_PRIV_H
#define REPORT_COMPARE_PRIV_H

#include "report/compare.h"

/* A job in the base and with others, of the same seed. */
struct pair {
    const struct report_member *base, *with;
    const struct report_job *alone, *shared;
};

/* compare_crowd.c: fills `crowd`. Runs that do not say which job uses which server add nothing. */
bool compare_crowd(struct report_compared *c, const struct pair *pairs, size_t n,
                   struct wr_err *err);

#endif
