/* trial_priv.h -- one run of an experiment. */
#ifndef INTER_LAB_TRIAL_PRIV_H
#define INTER_LAB_TRIAL_PRIV_H

#include "inter/lab/lab.h"

/* Its run files are complete, or not there. */
bool lab_trial_run(const struct lab *l, const struct lab_trial *t, bool (*stop)(void),
                   bool *ret_interrupted, struct wr_err *err);

#endif
