/* training_priv.h -- shared by training.c, sharing.c and predict.c. */
#ifndef INTERFERENCE_TRAINING_PRIV_H
#define INTERFERENCE_TRAINING_PRIV_H

#include "interference/training.h"

/* With one process the file modes are the same: an unknown mode matches any. */
bool training_any_mode(const char *mode, size_t processes);

/* A run may be given for training and for prediction: it counts once. */
bool training_same_run(const struct interference_group *a, const struct interference_group *b);
bool training_seen_before(const struct interference_training *t, size_t group);

/* ret[k - 1]: the capacity with k = 1 ... c->n active jobs, fitted without group `but`. */
void training_capacity(double *ret, const struct interference_training *t,
                       const struct interference_capacity *c, const struct interference_group *but);

/* Fits the sharing of the server in all overlaps and chooses the rule (sharing.c). */
void training_sharing(struct interference_training *t);

#endif
