/* speed.h -- how fast would a simulation be by so many workers? A model, from measured costs.
 *
 *   step      |== own events ==|= uneven =|hand|        workers need each other's clocks
 *   (worker)  |==================|        |hand|        once in a step of simulated time
 *
 * One worker takes  e * r * S  for a step of length S in which r * S events happen. Of N workers
 * each has its share of them, pays for what it sends to others and for looking at their clocks,
 * and waits for the slowest and for the news of it. docs/models/parallel.md has the assumptions.
 */
#ifndef SIM_SPEED_H
#define SIM_SPEED_H

#include <stdbool.h>
#include <stdint.h>

/* What things cost on a machine. */
struct sim_costs {
    double event_ns; /* to execute an event */
    double cross_ns; /* more for one that goes to another partition: to send and to take it in */
    double look_ns;  /* to look at another's clock and to show one's own */
    double hand_ns;  /* until another worker sees what is shown */
};

/* What a simulation asks for. */
struct sim_demand {
    double events_per_us; /* of simulated time */
    double step_us;       /* between two times at which partitions need each other */
    double cross;         /* of all events, if every partition were one router group */
};

/* Times as fast as one. */
double sim_speed(const struct sim_costs *c, const struct sim_demand *d, uint32_t workers);

/* A message between nodes takes so long, and one more so much. */
struct sim_fabric {
    double latency_ns, message_ns;
};
/* The same over nodes with so many workers each: news between nodes is one collective per step,
 * and one message for every node that has a neighbour's events. */
double sim_speed_nodes(const struct sim_costs *c, const struct sim_demand *d,
                       const struct sim_fabric *f, uint32_t nodes, uint32_t workers);

/* Two threads hand a number to each other for `for_ns`: how long that takes, and the share of the
 * time in which both could run. False where there is but one processor, or no thread to be had. */
bool sim_hand_measure(uint64_t for_ns, double *ret_hand_ns, double *ret_share);

#endif
