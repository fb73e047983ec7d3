/* recording_replay.h -- the next request of a rank of a recording.
 *
 *   phases begun      heap by the time of their next request (those with several requests)
 *   phases to come    in the recording's order
 *
 * The rank's recorded time runs along: `free_ps` is when it had ended all requests so far. What
 * lies between that and the next request was computation, and is computed again, but for the time
 * that the rank was in MPI-IO, until `mpiio_ps`; time in requests is left to the model. Requests
 * that overlapped when recorded (threads, or phases whose order is assumed) are made one after
 * another, with no computation between them.
 *
 * Nothing is allocated after replay_open: a heap holds at most the rank's phases of several
 * requests.
 */
#ifndef LOAD_PROFILE_RECORDING_REPLAY_H
#define LOAD_PROFILE_RECORDING_REPLAY_H

#include "recording.h"

/* A phase of which requests are left. */
struct replay_begun {
    uint64_t t_ps, k; /* its next request, and when it began */
    size_t phase;
};

struct replay_request {
    const struct recording_phase *phase;
    uint64_t offset, bytes, io_ps;
};

/* The state of a rank. */
struct replay_rank {
    struct replay_begun *heap;
    size_t n, next, end; /* of the heap; phases to come */
    uint64_t free_ps, mpiio_ps, end_ps;
    struct replay_request held; /* comes after the computation before it; phase NULL: none */
};

enum replay_step { REPLAY_COMPUTE, REPLAY_REQUEST, REPLAY_END };

/* How many entries all heaps need; ret_first[i] is where rank i's begins. */
size_t replay_heap_size(const struct recording *r, size_t *ret_first);

void replay_open(struct replay_rank *s, const struct recording *r, uint32_t rank,
                 struct replay_begun *heap);
/* *ret_ps: of the computation; *ret: the request. */
enum replay_step replay_next(struct replay_rank *s, const struct recording *r, uint64_t *ret_ps,
                             struct replay_request *ret);

#endif
