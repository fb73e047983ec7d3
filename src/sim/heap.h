/* heap.h -- a 4-ary heap of events: the queue for what is far away, and the
 * yardstick for the queues that are meant to beat it. */
#ifndef SIM_HEAP_H
#define SIM_HEAP_H

#include <stddef.h>

#include "sim/event.h"

struct sim_heap {
    struct sim_event *v;
    size_t n, cap;
};

void sim_heap_fini(struct sim_heap *h);
void sim_heap_push(struct sim_heap *h, const struct sim_event *e);
void sim_heap_pop(struct sim_heap *h, struct sim_event *ret); /* not empty */

#endif
