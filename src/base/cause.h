/* cause.h -- why time passes: the words in which a simulated run says it.
 *
 * The time that a rank spends in communication or I/O is divided over causes, so that the parts
 * add up to the whole, to the picosecond. The transfer of a message, from the moment its sender
 * begins with it:
 *
 *   begin_ps      post_ps       first_ps            first_ps + idle_ps       end_ps
 *      |  software   |     nic      |     transfer         |     network        |
 *      sender's      waits in       as long as it takes     what others on the
 *      processor     its NIC        on an idle network      network cost it
 *
 * A receiver that waits before the message was begun waits for its partner.
 */
#ifndef BASE_CAUSE_H
#define BASE_CAUSE_H

#include <stdint.h>

enum cause {
    CAUSE_COMPUTE,
    CAUSE_IDLE,
    CAUSE_SOFTWARE,      /* processors that handle messages and requests */
    CAUSE_TRANSFER,      /* messages, as if alone on the network */
    CAUSE_NETWORK,       /* contention, detours, back-pressure */
    CAUSE_NIC,           /* queueing behind other messages of the same NIC */
    CAUSE_PARTNER,       /* another rank was not ready */
    CAUSE_DEVICE,        /* service of the storage device */
    CAUSE_DEVICE_QUEUE,  /* waiting for the device behind the same job's requests */
    CAUSE_DEVICE_OTHERS, /* waiting for the device behind other jobs' requests */
    CAUSE_RESERVE,       /* waiting for space in a buffer */
    CAUSES,
};

extern const char *const cause_names[]; /* "compute", ... ends with NULL */

/* The trip of a message or access: one passage, from its begin to its end. */
struct cause_trip {
    uint64_t begin_ps; /* the software began with it */
    uint64_t post_ps;  /* the NIC got it */
    uint64_t first_ps; /* its first packet began to leave */
    uint64_t idle_ps;  /* from first_ps to the end, were it alone */
};

/* Divides from_ps..end_ps, spent waiting for the end of the trip, and adds to ps[CAUSES]. */
void cause_split(uint64_t *ps, uint64_t from_ps, uint64_t end_ps, const struct cause_trip *t);

/* Adds `len_ps` to ps[CAUSES], divided as `part` divides `whole_ps`; what rounding leaves is
 * software. `part` may sum to less than the whole: the rest is software, too. */
void cause_share(uint64_t *ps, uint64_t len_ps, const uint64_t *part, uint64_t whole_ps);

#endif
