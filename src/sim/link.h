/* link.h -- messages between the processes of one simulation: what a transport must be able to do.
 *
 *   process 0 <---> process 1          every process is linked with every other; what one posts to
 *       ^  \           ^               another comes in the order it was posted in, and whole
 *       |   +--> process 2
 *
 * A link is used by one thread at a time. Nothing here needs anything else of weir, so that a
 * transport can be a shared object of its own (sim/mpi): it is opened when a launcher
 * of that kind has started the process, and nothing is linked that may not be there.
 */
#ifndef SIM_LINK_H
#define SIM_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_link;

struct sim_link_ops {
    const char *name;
    /* A copy of the message is on its way, or the link is lost. Never waits. */
    void (*post)(struct sim_link *l, uint32_t to, const void *data, size_t bytes);
    /* The next message, there until the next call; NULL: none has come. */
    const void *(*poll)(struct sim_link *l, uint32_t *ret_from, size_t *ret_bytes);
    /* Nothing is to be done for so long, unless a message comes. */
    void (*nap)(struct sim_link *l, uint64_t ns);
    /* All that was posted has left; the link is gone. Returns the worst exit status of processes
     * that it started. Not well: somebody may not answer any more, and need not be waited for. */
    int (*close)(struct sim_link *l, bool well);
};

struct sim_link {
    const struct sim_link_ops *ops;
    uint32_t rank, size;
    uint32_t local; /* processes on this machine, this one among them */
    char lost[120]; /* which process is gone; "": none */
};

/* What a shared object offers under the name SIM_LINK_OPEN. An `abi` that it does not know, or a
 * launcher of another kind: NULL with the reason in `why`. */
enum { SIM_LINK_ABI = 1 };
#define SIM_LINK_OPEN "weir_link_open"
typedef struct sim_link *sim_link_open(uint32_t abi, char *why, size_t why_bytes);

#endif
