/* record.h -- the head of a simulation's run file: all that is needed to run it again. */
#ifndef WORLD_RECORD_H
#define WORLD_RECORD_H

#include "conf/conf.h"
#include "run/run.h"
#include "sim/peers.h"

struct world_record {
    const char *kind; /* of the run; NULL: sim */
    const char *path;
    const struct conf *conf;
    const char *section; /* the key that holds the run's configuration; NULL: it is the whole */
    const char *command; /* as a shell would take it again */
    uint64_t seed;
    bool force; /* replace an existing run file */
};

/* Creates it with the resolved configuration and the contents of every input. */
bool world_record(struct run **ret, const struct world_record *how, struct wr_err *err);

/* Process 0 sends the contents of every input to the others, which find them in place of the files
 * (wr_file_supply). All call it; `conf` is process 0's, and NULL in the others. */
bool world_record_share(struct sim_peers *peers, const struct conf *conf, struct wr_err *err);

/* A number for the resolved configuration and the contents of every input: the same for two
 * processes that read the same. */
bool world_record_digest(const struct conf *conf, uint64_t *ret, struct wr_err *err);

/* The resolved configuration as it is stored. */
void world_record_config(const struct conf *conf, const char *section, struct wr_str *out);

enum { WORLD_MOST_INPUT = 1 << 30 }; /* bytes of a file that is kept */

#endif
