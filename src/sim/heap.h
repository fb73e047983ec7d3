/* heap.h -- a 4-ary heap of events.
 *
 * The calendar keeps in it the events beyond its last bucket. Tests compare other queues with it.
 * Invariant: no event comes before its parent, v[(i - 1) / 4].
 */
#ifndef SIM_HEAP_H
#define SIM_HEAP_H

#include <stddef.h>

#include "sim/event.h"

struct sim_heap {
    struct sim_event *v; /* v[i] is not later than v[4 i + 1] to v[4 i + 4] */
    size_t n, cap;
};

void sim_heap_fini(struct sim_heap *h);
void sim_heap_push(struct sim_heap *h, const struct sim_event *e);
void sim_heap_pop(struct sim_heap *h, struct sim_event *ret); /* h->n > 0 */

#endif
