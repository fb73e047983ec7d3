/* interference_tables.h -- throughputs of jobs alone and in pairs, and what predicts them.
 *
 *   mode,storage,run,p,q,app,nproc,window,throughput_mib_s
 *   private,hdd,standalone,,,A,12,overall,95.5
 *   private,hdd,concurrent,1,12,P,1,overall,47.3
 *   private,hdd,concurrent,1,12,Q,12,overall,51.8
 *
 * All jobs move the same volume. A pair's run times are predicted from the two jobs' own
 * throughputs alone, in three ways.
 */
#ifndef INTERFERENCE_INTERFERENCE_TABLES_H
#define INTERFERENCE_INTERFERENCE_TABLES_H

#include "base/err.h"
#include "base/mem.h"

enum interference_method {
    INTERFERENCE_EQUATIONS,    /* the published equations, with processes */
    INTERFERENCE_BY_PROCESSES, /* the model: capacity is the larger throughput, caps are their own
                                */
    INTERFERENCE_BY_NODES,
    INTERFERENCE_METHODS
};
extern const char *const interference_method_names[];

/* One job of one pair. */
struct interference_seen {
    const char *mode, *storage;
    double p, q;            /* processes of the pair */
    double processes;       /* of this job */
    double alone_s, seen_s; /* run times */
    double predicted_s[INTERFERENCE_METHODS];
};

struct interference_tables {
    WR_VEC(struct interference_seen) seen; /* two for each pair: P, then Q */
    struct wr_arena arena;
};

/* Part of the seen time by which a method is off. */
double interference_error(const struct interference_seen *s, enum interference_method m);

bool interference_tables_read(struct interference_tables *ret, const char *path, double volume_mib,
                              double per_node, struct wr_err *err);
void interference_tables_fini(struct interference_tables *t);

#endif
