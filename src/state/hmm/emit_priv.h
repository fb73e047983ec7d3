/* emit_priv.h -- the table of emission families. */
#ifndef STATE_HMM_EMIT_PRIV_H
#define STATE_HMM_EMIT_PRIV_H

#include "state/hmm/hmm.h"

struct emit_ops {
    const char *name;
    int nparams;
    double (*log)(const double *p, double x);
    double (*log_between)(const double *p, double lo, double hi);
    double (*cdf)(const double *p, double x);
    /* d log density / d (location, ln spread, ..., logit of the weight). */
    void (*slope)(double *g, const double *p, double x, double lo, double hi, bool between);
    /* Improves p for observations with weights w[i * stride]; `scratch` holds n numbers. */
    void (*mstep)(double *p, const struct hmm_data *d, const double *w, int stride,
                  double *scratch);
};

extern const struct emit_ops emit_table[HMM_FAMILIES];

#endif
