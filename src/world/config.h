/* config.h -- what a user may write about a run, one row per parameter.
 *
 * A machine file holds the rows of `machine`; a run file's configuration holds all of
 * them, with `machine:` inline or naming a machine file.
 */
#ifndef WORLD_CONFIG_H
#define WORLD_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "conf/conf.h"
#include "rank/coll/coll.h"

struct world_link {
    struct conf_key key;
    double bandwidth, latency_ps;
    uint64_t buffer_b;
};

struct world_router {
    double delay_ps, credit_delay_ps, switch_time_ps;
    uint32_t arbitration, accounting, switching, queueing, ejection;
    bool credit_on_link;
};

struct world_nic {
    uint64_t packet_b;
    double message_gap_ps;
    uint32_t rails, rail_choice;
};

struct world_failure {
    const char *router, *to; /* a link between two routers, or a whole router when `to` is "" */
};

struct world_machine {
    const char *name;
    struct conf_plugin topology;
    struct conf_list links; /* struct world_link, by class */
    struct world_router router;
    struct world_nic nic;
    struct conf_plugin routing;
    struct conf_list failures; /* struct world_failure */
};

struct world_traffic {
    struct conf_plugin pattern, injection, size;
    double load; /* of the injection bandwidth of a node */
    double warmup_ps, measure_ps, drain_ps;
    uint64_t messages; /* per node; 0: as long as warm-up and measurement last */
    bool beside_jobs;
};

struct world_job {
    const char *name;
    struct conf_plugin program, placement;
    uint32_t ranks, per_node, deal;
    double start_ps;
};

struct world_io {
    double time_ps; /* of any access to a file, where no storage is modelled */
};

struct world_timeline {
    uint32_t ranks, intervals;
    double resolution_ps;
};

struct world_config {
    const char *title;
    uint64_t seed;
    struct world_machine machine;
    struct world_traffic traffic;
    struct conf_list jobs;   /* struct world_job */
    struct conf_list active; /* names of the jobs that run; none: all */
    const char *exclude;     /* nodes that no job gets */
    struct conf_plugin mpi;
    struct coll_choice collectives;
    struct world_io io;
    struct conf_plugin storage; /* kind NULL: none is modelled */
    double slice_ps;            /* 0: no time series */
    struct world_timeline timeline;
};

extern const struct conf_row world_rows[];         /* a run: struct world_config */
extern const struct conf_row world_machine_rows[]; /* a machine file: struct world_machine */

#endif
