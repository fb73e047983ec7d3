/* interfere_predict.h -- `weir interfere predict`, and its part that learns from run files. */
#ifndef CLI_INTERFERE_PREDICT_H
#define CLI_INTERFERE_PREDICT_H

#include "cli/cli.h"
#include "cli/interfere_cases.h"
#include "inter/learn.h"

struct interfere_predict_opts {
    const char *cases, *capacity, *mode;
    struct cli_list jobs, from;
    uint32_t weights, op;
    bool json, check, schedule, together;
};

/* Runs that were seen, predicted from runs alone and compared. */
bool interfere_predict_seen(const struct cli_call *call, const struct interfere_predict_opts *o,
                            struct wr_err *err);

/* The jobs of --job, with capacity and caps that were learnt. */
bool interfere_predict_asked(struct interfere_cases *ret, const struct interfere_predict_opts *o,
                             struct wr_err *err);

#endif
