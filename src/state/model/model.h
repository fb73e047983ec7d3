/* model.h -- a model as a JSON file, which `weir state fit --json` writes and everything reads.
 *
 *   {"states": 3, "emission": "lognormal",
 *    "Q": [[-0.0006, 0.0005, 0.0001], ...],       per second
 *    "meanlog": [...], "sdlog": [...],            ln seconds
 *    "initial": [0.333, 0.333, 0.333]}
 *
 * Other keys (what the fit reached, standard errors) are ignored by the reader. docs/formats/
 * state-model.md names them all.
 */
#ifndef STATE_MODEL_H
#define STATE_MODEL_H

#include <jansson.h>

#include "base/err.h"
#include "state/hmm/hmm.h"

bool state_model_parse(struct hmm_model *ret, const char *name, const char *text, size_t len,
                       struct wr_err *err);
bool state_model_read(struct hmm_model *ret, const char *path, struct wr_err *err);

/* A new object with the keys above. */
json_t *state_model_json(const struct hmm_model *m);

/* Numbers as an array; NaN and infinities become null. */
json_t *state_json_reals(const double *v, size_t n);
json_t *state_json_real(double v);

#endif
