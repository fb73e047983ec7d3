/* state_print.h -- fitted models as text, JSON and CSV. */
#ifndef CLI_STATE_PRINT_H
#define CLI_STATE_PRINT_H

#include <jansson.h>
#include <stdio.h>

#include "state/estimate.h"

json_t *state_estimate_json(const struct state_estimate *e, const struct state_series *s, size_t n,
                            double rounding_s);

/* Of the fits with 1 .. most states. */
json_t *state_numbers_json(const struct state_estimate *all, int most);

/* `all` has `tried` estimates to compare, or 0. */
void state_estimate_print(FILE *out, const struct state_estimate *e,
                          const struct state_estimate *all, int tried, const struct state_series *s,
                          size_t n);

/* t_seconds,viterbi,gamma0..,filt0.. of every observation; a series column when there are several.
 */
bool state_print_path(FILE *out, const struct state_series *s, size_t n, const struct hmm_model *m,
                      double rounding_s, struct wr_err *err);

/* "4.25 ms" */
struct wr_text;
struct wr_text state_text_s(double seconds);

#endif
