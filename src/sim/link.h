/* link.h -- messages between the processes of one simulation: the operations of a transport.
 *
 *   process 0 <---> process 1          every process has a link to every other; messages of a pair
 *       ^  \           ^               arrive whole, in the order in which they were posted
 *       |   +--> process 2
 *
 * Used by peers.c, by one thread at a time. This header includes nothing else of weir, so that a
 * transport can be a shared object of its own (sim/mpi). launched.c opens it when a launcher of
 * that kind has started the process; weir itself is linked with no MPI.
 */
#ifndef SIM_LINK_H
#define SIM_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_link;

struct sim_link_ops {
    const char *name;
    /* Sends a copy of the message. Does not block; a failure sets `lost`. */
    void (*post)(struct sim_link *l, uint32_t to, const void *data, size_t bytes);
    /* The next message, valid until the next call; NULL: none has arrived. */
    const void *(*poll)(struct sim_link *l, uint32_t *ret_from, size_t *ret_bytes);
    /* Blocks for up to `ns`, or until a message arrives. */
    void (*wait)(struct sim_link *l, uint64_t ns);
    /* Waits until all posted messages have left, and frees the link. Returns the worst exit status
     * of processes that it started. `well` false: other processes may not answer any more, and
     * are not waited for. */
    int (*close)(struct sim_link *l, bool well);
};

struct sim_link {
    const struct sim_link_ops *ops;
    uint32_t rank, size; /* of this process; of all */
    uint32_t local;      /* processes on this machine, including this one */
    char lost[120];      /* says which process is lost; "": none. The only field that changes */
};

/* The function that a shared object exports as SIM_LINK_OPEN. Returns NULL with the reason in
 * `why` for an unknown `abi` or a launcher of another kind. */
enum { SIM_LINK_ABI = 1 };
#define SIM_LINK_OPEN "weir_link_open"
typedef struct sim_link *sim_link_open(uint32_t abi, char *why, size_t why_bytes);

#endif
