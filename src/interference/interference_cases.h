/* interference_cases.h -- jobs that share a server, from a file of cases or the command line.
 *
 *   {"cases": [
 *     {"id": "two", "capacity_mib_s": 100,
 *      "apps": [{"name": "A", "volume": 2000, "weight": 1, "start": 5, "cap": 50},
 *               {"name": "B", "volume": 20000, "nodes": 3}]}]}
 *
 * Volumes are MiB, times s, rates MiB/s. `capacity_mib_s` may be a list: by number of active
 * jobs. Keys that say nothing to the model (a note, a description) are kept and written
 * back; one that looks like a misspelt key is refused.
 */
#ifndef INTERFERENCE_INTERFERENCE_CASES_H
#define INTERFERENCE_INTERFERENCE_CASES_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "stat/share.h"

/* What a job's weight is when none is given: the number of its nodes, ...; `auto`, as the runs at
 * hand show, which is nodes where there are none. */
enum interference_weights {
    INTERFERENCE_WEIGHT_NODES,
    INTERFERENCE_WEIGHT_PROCESSES,
    INTERFERENCE_WEIGHT_EQUAL,
    INTERFERENCE_WEIGHT_AUTO
};
extern const char *const interference_weights_names[]; /* ends with NULL */

struct interference_app {
    const char *name;
    double volume, start, weight, cap; /* NaN: not given; a cap is INFINITY then */
    double nodes, processes;
    const char *weight_from; /* "given", "default" (1), or what it was counted by */
};

struct interference_case {
    const char *id;
    json_t *from; /* the object it was read from */
    struct stat_share_capacity capacity;
    struct interference_app *app;
    struct stat_share_job *job; /* the same for the model, once weighed */
    size_t napps;
};

struct interference_cases {
    json_t *all; /* the whole file */
    struct interference_case *v;
    size_t n;
    const char *note; /* what a reader should know, or NULL */
    struct wr_arena arena;
};

/* All cases of a file, ready for the model. `name` stands for it in messages. */
bool interference_cases_parse(struct interference_cases *ret, const char *name, const char *text,
                              size_t len, enum interference_weights by, struct wr_err *err);
bool interference_cases_read(struct interference_cases *ret, const char *path,
                             enum interference_weights by, struct wr_err *err);

/* One case from words such as "95 MiB/s" and "name=A,volume=16GB,nodes=3,start=5s". */
bool interference_cases_words(struct interference_cases *ret, const char *capacity,
                              const char *const *jobs, size_t njobs, enum interference_weights by,
                              struct wr_err *err);
void interference_cases_fini(struct interference_cases *c);

/* The cases with their predictions: every key of the original, with "predicted" in the place of
 * "expected". */
json_t *interference_cases_json(const struct interference_cases *c);

/* Whether what the file expects is what the model says, to the case's "tolerance_rel"
 * (1e-6 without one). Numbers in files are rounded: 1e-6 apart is equal too. */
bool interference_cases_check(const struct interference_cases *c, size_t *ret_checked,
                              struct wr_err *err);

#endif
