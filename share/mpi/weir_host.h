/* weir_host.h -- the functions of the simulator that the object of a rank calls.
 *
 * The simulator sets `weir_host` in each copy of the object before it calls main(). Every call may
 * switch to other ranks and returns in the simulated future. */
#ifndef WEIR_HOST_H
#define WEIR_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weir_do {
    WEIR_SEND,
    WEIR_RECV,
    WEIR_WAIT_SOME,
    WEIR_COLL,
    WEIR_COMPUTE,
    WEIR_OPEN,
    WEIR_CLOSE,
    WEIR_READ,
    WEIR_WRITE,
    WEIR_FLUSH,
};

/* As in load.h of the simulator. */
enum weir_coll {
    WEIR_BARRIER,
    WEIR_BCAST,
    WEIR_REDUCE,
    WEIR_ALLREDUCE,
    WEIR_ALLGATHER,
    WEIR_ALLTOALL,
    WEIR_GATHER,
    WEIR_SCATTER,
    WEIR_REDUCE_SCATTER,
    WEIR_SCAN,
};

struct weir_op {
    enum weir_do what;
    enum weir_coll coll;
    const char *name; /* of the call, for messages */
    uint32_t peer;    /* SEND, RECV; COLL: the root. Ranks of the job */
    uint64_t bytes;
    int64_t tag;
    uint64_t ps;  /* COMPUTE */
    int64_t file; /* OPEN and below */
    uint64_t offset;
    bool together;      /* READ, WRITE: with others */
    bool *done;         /* SEND, RECV, READ, WRITE: set when complete; NULL: return when complete */
    const uint32_t *of; /* COLL: the members, ascending ranks of the job */
    uint32_t n;
    uint64_t key; /* COLL: the same for all members, and for no other set */
};

struct weir_host {
    void *rank;
    uint32_t me, n;
    void (*step)(void *rank, const struct weir_op *op);
    uint64_t (*now_ps)(void *rank);
    void (*end)(void *rank) __attribute__((noreturn));                   /* as after main() */
    void (*fail)(void *rank, const char *why) __attribute__((noreturn)); /* ends the simulation */
    /* Data of messages: number `number` of those from one rank to another with one tag. */
    void (*post)(void *rank, uint32_t to, int64_t tag, uint64_t number, const void *data, size_t n);
    /* How long it is; at most n bytes of it are copied. */
    size_t (*take)(void *rank, uint32_t from, int64_t tag, uint64_t number, void *data, size_t n);
    /* Parts of collectives: of the member at `place` of `members`. */
    void (*put)(void *rank, uint64_t key, uint64_t number, uint32_t place, uint32_t members,
                const void *data, size_t n);
    const void *(*part)(void *rank, uint64_t key, uint64_t number, uint32_t place);
    void (*leave)(void *rank, uint64_t key, uint64_t number); /* parts are no longer needed */
};

extern const struct weir_host *weir_host;

#endif
