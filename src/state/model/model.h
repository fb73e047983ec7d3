/* model.h -- a model as a JSON file, which `weir state fit --json` writes and everything reads.
 *
 *   {"states": 3, "emission": "lognormal",
 *    "Q": [[-0.0006, 0.0005, 0.0001], ...],       per second
 *    "meanlog": [...], "sdlog": [...],            ln seconds
 *    "initial": [0.333, 0.333, 0.333]}
 *
 * Keys about the probes it was learned from may be there (struct state_probed). Other keys (what
 * the fit reached, standard errors) are ignored by the reader. docs/formats/state-model.md names
 * them all.
 */
#ifndef STATE_MODEL_H
#define STATE_MODEL_H

#include <jansson.h>

#include "base/err.h"
#include "state/hmm/hmm.h"

/* What a model was learned from, and how latencies depend on the size of a request. */
struct state_probed {
    uint64_t bytes; /* "probe_bytes": of the probes; 0: not known */
    char op[8];     /* "probe_op": "read" or "write"; "": not known */
    /* "fixed_share": the part of a probe's latency that does not depend on its size, from probes of
     * several sizes; NaN: not known. "probe_sizes": the least and the most of them. */
    double fixed_share;
    uint64_t least_b, most_b;
};

/* The same as below, with what the model was learned from. */
bool state_model_read_probed(struct hmm_model *ret, struct state_probed *ret_probed,
                             const char *path, struct wr_err *err);
/* Adds the keys that are known. */
void state_probed_json(json_t *model, const struct state_probed *p);

bool state_model_parse(struct hmm_model *ret, const char *name, const char *text, size_t len,
                       struct wr_err *err);
bool state_model_read(struct hmm_model *ret, const char *path, struct wr_err *err);

/* A new object with the keys above. */
json_t *state_model_json(const struct hmm_model *m);

/* Numbers as an array; NaN and infinities become null. */
json_t *state_json_reals(const double *v, size_t n);
json_t *state_json_real(double v);

#endif
