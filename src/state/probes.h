/* probes.h -- measured latencies: a table of probes, as text and in memory.
 *
 *   t_seconds,op,bytes,latency_seconds[,target]
 *   0.000027,write,1048576,0.002844750
 *   # gap of 3600 s: the job ended
 *
 * Columns are known by name and come in any order; t_seconds and latency_seconds must be there.
 * Times never decrease for one target. An empty latency is a probe that gave none: it is
 * left out. Lines that begin with # are remarks.
 */
#ifndef STATE_PROBES_H
#define STATE_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct state_probe {
    double t_s, latency_s;
    uint64_t bytes; /* 0: not given */
    uint16_t op;    /* index into names */
    uint16_t target;
};

struct state_probes {
    struct state_probe *v;
    size_t n, cap;
    char **op, **target; /* names; "" when the file has no such column */
    size_t nops, ntargets;
    uint64_t line;  /* of the last row */
    size_t skipped; /* rows without a latency */
};

/* `name` stands for the text in messages: name:line:column. */
bool state_probes_parse(struct state_probes *ret, const char *name, const char *text, size_t len,
                        struct wr_err *err);
bool state_probes_read(struct state_probes *ret, const char *path, struct wr_err *err);
void state_probes_fini(struct state_probes *p);

/* One path's latencies in time order. */
struct state_series {
    char *name; /* file, target and operation */
    double *t, *latency;
    size_t n;
};

struct state_choice {
    const char *op;     /* NULL: the only one there is */
    const char *target; /* NULL: all */
    uint64_t bytes;     /* 0: the only size there is */
    bool any_size;
    double from_s, to_s; /* only from_s <= t < to_s; both 0: all */
};

/* The series of one file, one per target. Free each and the array. */
bool state_choose(struct state_series **ret, size_t *ret_n, const struct state_probes *p,
                  const char *name, const struct state_choice *choice, struct wr_err *err);

/* Reads and chooses from several files. */
bool state_load(struct state_series **ret, size_t *ret_n, char *const *paths, size_t npaths,
                const struct state_choice *choice, struct wr_err *err);
void state_series_free(struct state_series *s, size_t n);

/* The step by which latencies seem to be rounded, 0 when they are not: most values occur more than
 * once and all are multiples of it. */
double state_rounding(const double *latency, size_t n);

#endif
