/* interfere_predict.h -- `weir interfere predict`, and its part that learns from run files. */
#ifndef CLI_INTERFERE_PREDICT_H
#define CLI_INTERFERE_PREDICT_H

#include "base/str.h"
#include "cli/cli.h"
#include "interference/interference_cases.h"
#include "interference/training.h"

struct interfere_predict_opts {
    const char *cases, *capacity, *mode;
    struct cli_list jobs, from;
    uint32_t weights, op;
    bool json, check, schedule, together;
};

/* The weights that are meant: those given, or, with `auto`, those of the rule that the overlaps
 * are nearest to. */
enum interference_weights interfere_weights_learnt(enum interference_weights given,
                                                   const struct interference_training *l);
/* Which these are and why, as a phrase without an end. */
void interfere_weights_words(struct wr_str *out, uint32_t given,
                             const struct interference_training *l);

/* Runs that were seen, predicted from runs alone and compared. */
bool interfere_predict_seen(const struct cli_call *call, const struct interfere_predict_opts *o,
                            struct wr_err *err);

/* The jobs of --job, with capacity and caps that were learnt. */
bool interfere_predict_asked(struct interference_cases *ret, const struct interfere_predict_opts *o,
                             struct wr_err *err);

#endif
