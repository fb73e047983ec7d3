/* calib_priv.h -- what the files that calibrate share. */
#ifndef STACK_CALIB_PRIV_H
#define STACK_CALIB_PRIV_H

#include "stack/calib.h"

/* Measured over told, of all samples: between which factors eight of ten lie. */
struct calib_bands {
    struct stack_band *of[3]; /* [reads, writes, neither][machines]; high 0: nothing is known */
    struct stack_band io;     /* reads and writes together */
    double error;             /* of the medians of reads and writes, as a mean logarithm */
};

/* Tells each size by laws that are calibrated with the others; two sizes, by both. */
bool calib_bands(struct calib_bands *ret, const struct stack_log *log,
                 const struct stack_laws *base, bool shared, struct wr_err *err);
void calib_bands_fini(struct calib_bands *b);

/* The text of the laws; `bands` may be NULL. */
bool calib_laws(struct wr_str *out, const struct stack_log *log, const struct stack_laws *base,
                const char *title, bool shared, const struct calib_bands *bands,
                struct wr_err *err);

#endif
