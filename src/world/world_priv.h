/* world_priv.h -- what a world is made of. */
#ifndef WORLD_WORLD_PRIV_H
#define WORLD_WORLD_PRIV_H

#include "load/synth/synth.h"
#include "world/world.h"

struct world_source {
    struct synth_source synth;
    struct synth_msg next; /* what it posts when its event comes */
    uint64_t posted;
};

struct world {
    const struct conf *conf;
    const struct world_config *c;
    struct world_parts parts;
    struct sim sim;
    struct net *net;
    struct synth_traffic traffic;
    double mean_gap_ps;
    struct world_source *source; /* [nodes] */
    uint32_t *group;             /* [nodes] */
    bool *down;                  /* [nodes] neither sends nor is addressed; NULL: all are up */
    uint32_t nodes_up;
    struct meter meter;
    uint64_t end_ps;
    /* time series: what was counted at the last slice's end */
    uint32_t series[TOPO_MAX_CLASSES + 4];
    uint64_t before[TOPO_MAX_CLASSES + 4];
};

bool world_slices_open(struct world *w, struct run *run, struct wr_err *err);
bool world_slices_put(struct world *w, struct run *run, uint64_t t_ps, struct wr_err *err);

#endif
