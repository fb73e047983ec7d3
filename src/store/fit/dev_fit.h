/* dev_fit.h -- the parameters of a device model, fitted to measurements of a device.
 *
 *   points (what was asked for, what was measured)
 *      |
 *   the model under the same requests --> ln(model / measured), squared, summed, made least
 *
 * Any model of store/dev can be fitted: a parameter is a key of its configuration, and a trial is
 * that configuration with other values, driven as `weir dev` drives it.
 */
#ifndef STORE_FIT_FIT_H
#define STORE_FIT_FIT_H

#include "store/dev/dev_drive.h"

enum fit_what { FIT_IOPS, FIT_RATE, FIT_LATENCY };

extern const char *const fit_what_names[]; /* "IOPS", "MB/s", "us" */

/* One measurement: a workload, and one number that came of it. */
struct fit_point {
    bool write, random;
    uint64_t record_b;
    uint32_t depth;
    enum fit_what what;
    double value;           /* requests per second, 10^6 bytes per second, mean microseconds */
    double mean_us, p99_us; /* also measured, not fitted; NaN: not known */
};

enum { FIT_MOST_PARAMS = 12, FIT_MOST_POINTS = 1000, FIT_MOST_DEPTH = DEV_MOST_DEPTH };

struct fit_param {
    const char *key; /* device.bandwidth */
    double value;    /* in the stored unit */
    char text[64];   /* as it is written */
    /* The points do not determine it: the value is that of the start, or one of many that fit as
     * well. */
    bool undetermined;
};

/* What the model gives for a point. */
struct fit_model {
    double value, mean_us, p99_us;
};

struct fit {
    struct fit_param param[FIT_MOST_PARAMS];
    size_t nparams;
    struct fit_model *model; /* [points]; free() it */
    double rms;              /* of ln(model / measured): 0.01 is one per cent */
};

struct fit_how {
    /* The device to start from, with these overrides. */
    bool (*load)(const void *ctx, struct conf **ret, struct dev_set *into, const char *const *sets,
                 size_t nsets, struct wr_err *err);
    const void *ctx;
    const char *const *sets; /* for all trials */
    size_t nsets;
    const char *const *params; /* keys to fit; none: those of the model that the points speak of */
    size_t nparams;
    uint64_t seed;
};

/* Fewer points than parameters are refused. */
bool fit_device(struct fit *ret, const struct fit_how *how, const struct fit_point *points,
                size_t n, struct wr_err *err);

/* The words of a point: "random read". */
const char *fit_workload(const struct fit_point *p);

#endif
