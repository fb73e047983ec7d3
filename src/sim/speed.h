/* speed.h -- a model of the speed-up of a simulation with several workers, from measured costs.
 * Used to choose a number of threads (world/auto.c) and by benchmarks.
 *
 *   window    |== own events ==|= uneven =|barrier|
 *   (worker)  |==================|        |barrier|
 *
 * One worker takes  e * r * S  for a window of length S in which r * S events happen. Of N workers
 * each has its share of them, pays for what it sends to others, and waits at the barrier for the
 * slowest. docs/models/parallel.md has the assumptions.
 */
#ifndef SIM_SPEED_H
#define SIM_SPEED_H

#include <stdbool.h>
#include <stdint.h>

/* Costs on one computer. */
struct sim_costs {
    double event_ns;    /* to execute an event */
    double cross_ns;    /* in addition for one that is sent to another partition */
    double handover_ns; /* until another worker sees a store; a barrier takes several of these */
};

/* Properties of a simulation. */
struct sim_demand {
    double events_per_us; /* of simulated time */
    double step_us;       /* length of a window: the lookahead */
    double cross;         /* fraction of events that cross, if each router group is a partition */
};

/* The speed-up over one worker. */
double sim_speed(const struct sim_costs *c, const struct sim_demand *d, uint32_t workers);

/* The network between nodes: time of one message, and of each further one. */
struct sim_fabric {
    double latency_ns, message_ns;
};
/* The speed-up of `nodes` with `workers` each. After each window, a node exchanges a message with
 * every other node that it sends events to. */
double sim_speed_nodes(const struct sim_costs *c, const struct sim_demand *d,
                       const struct sim_fabric *f, uint32_t nodes, uint32_t workers);

/* Measures for `for_ns` how long two threads take to hand a number to each other, and the fraction
 * of the time in which both could run. False: only one processor, or no thread could be started. */
bool sim_handover_measure(uint64_t for_ns, double *ret_handover_ns, double *ret_share);

#endif
