/* interfere_tables.h -- throughputs of jobs alone and in pairs, and what predicts them.
 *
 *   mode,storage,run,p,q,app,nproc,window,throughput_mib_s
 *   private,hdd,standalone,,,A,12,overall,95.5
 *   private,hdd,concurrent,1,12,P,1,overall,47.3
 *   private,hdd,concurrent,1,12,Q,12,overall,51.8
 *
 * All jobs move the same volume. A pair's run times are predicted from the two jobs' own
 * throughputs alone, in three ways.
 */
#ifndef CLI_INTERFERE_TABLES_H
#define CLI_INTERFERE_TABLES_H

#include "base/err.h"
#include "base/mem.h"

enum interfere_method {
    INTERFERE_EQUATIONS,    /* the published equations, with processes */
    INTERFERE_BY_PROCESSES, /* the model: capacity is the larger throughput, caps are their own */
    INTERFERE_BY_NODES,
    INTERFERE_METHODS
};
extern const char *const interfere_method_names[];

/* One job of one pair. */
struct interfere_seen {
    const char *mode, *storage;
    double p, q;            /* processes of the pair */
    double processes;       /* of this job */
    double alone_s, seen_s; /* run times */
    double predicted_s[INTERFERE_METHODS];
};

struct interfere_tables {
    WR_VEC(struct interfere_seen) seen; /* two for each pair: P, then Q */
    struct wr_arena arena;
};

/* Part of the seen time by which a method is off. */
double interfere_error(const struct interfere_seen *s, enum interfere_method m);

bool interfere_tables_read(struct interfere_tables *ret, const char *path, double volume_mib,
                           double per_node, struct wr_err *err);
void interfere_tables_fini(struct interfere_tables *t);

#endif
