/* learn_priv.h -- what learn.c, sharing.c and predict.c know of each other. */
#ifndef INTER_LEARN_PRIV_H
#define INTER_LEARN_PRIV_H

#include "inter/learn.h"

/* One process has its file for itself in either mode: when its mode is not told it is any. */
bool learn_any_mode(const char *mode, size_t processes);

/* The same run may teach and be asked about, from two operands: it counts once. */
bool learn_same_run(const struct inter_group *a, const struct inter_group *b);
bool learn_seen_before(const struct inter_lesson *l, size_t group);

/* What the server carries with 1 ... c->n active, as other runs than that of `but` tell. */
void learn_capacity(double *ret, const struct inter_lesson *l, const struct inter_carried *c,
                    const struct inter_group *but);

/* How the server was shared in every overlap, and by which rule (sharing.c). */
void learn_sharing(struct inter_lesson *l);

#endif
