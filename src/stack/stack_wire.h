/* stack_wire.h -- a network that carries the agents' messages instead of the plain link.
 *
 * It has a clock of its own, in picoseconds. The engine runs both: it lets the network go on while
 * that has something to do before the engine's next event, one event at a time, because every
 * arrival may make agents send something more. What leaves at t nanoseconds leaves at 1000 t; what
 * arrives between two nanoseconds is there at the later one.
 */
#ifndef STACK_WIRE_H
#define STACK_WIRE_H

#include <stdint.h>

struct stack_wire {
    void *ctx;
    uint32_t nodes; /* that it connects: clients come first, then servers */
    /* Never in its past; `tag` comes back in arrived(). */
    void (*send)(void *ctx, uint32_t from, uint32_t to, uint64_t bytes, uint32_t tag,
                 uint64_t t_ns);
    uint64_t (*next_ps)(void *ctx); /* when its next event happens; UINT64_MAX: there is none */
    void (*step)(void *ctx);        /* that event */
    void (*close)(void *ctx);
    /* Set by the engine. */
    void (*arrived)(void *to, uint32_t tag, uint64_t t_ns);
    void *to;
};

#endif
