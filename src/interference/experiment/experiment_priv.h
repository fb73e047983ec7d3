/* experiment_priv.h -- one trial of an experiment (experiment_trial.c), for experiment_run.c. */
#ifndef INTERFERENCE_EXPERIMENT_PRIV_H
#define INTERFERENCE_EXPERIMENT_PRIV_H

#include "interference/experiment/experiment.h"

/* Runs the trial. Afterwards its run files are complete or absent. */
bool experiment_trial_run(const struct experiment *e, const struct experiment_trial *t,
                          bool (*stop)(void), bool *ret_interrupted, struct wr_err *err);

#endif
