/* crew_priv.h -- what partitions show each other. */
#ifndef SIM_CREW_PRIV_H
#define SIM_CREW_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "sim/crew.h"
#include "sim/far.h"
#include "sim/near.h"

/* What a partition shows beside what is in its pipes. */
struct shown {
    _Alignas(128) _Atomic uint64_t clock;  /* as in its pipes */
    _Alignas(128) _Atomic uint64_t wish;   /* others': somebody waits until it is beyond */
    _Alignas(128) _Atomic uint64_t turn;   /* odd: it rests, and what follows holds */
    _Atomic uint64_t next, sent, received; /* its next event; events from it and taken in */
    _Alignas(128) _Atomic uint32_t asleep; /* 1: whoever shows something shall wake it */
    _Atomic uint32_t cpu;                  /* that it was on when it last looked */
    _Atomic uint32_t settles_lp;           /* it waits in an event of this process and time, */
    _Atomic uint64_t settles;              /* or has gone on from there */
};

/* What all look at. It lies in one block with what each of them shows and with the pipes, which
 * processes of one machine have in common (near.h). */
struct common {
    /* What lies before is executed, in this round, and in the next: who has begun that one and
     * wants to stop shall not stop others in the one before. */
    _Alignas(128) _Atomic uint64_t until[2];
    _Alignas(128) _Atomic uint64_t floor; /* nobody does anything before: all rested and nothing was
                                             on its way */
    _Atomic uint32_t jumpers;             /* who are about to raise it */
};

struct own_sim {
    _Alignas(128) struct sim sim;
};

struct sim_crew {
    uint32_t n, spins;
    uint32_t first, local; /* partitions [first, first + local) are this process's */
    struct sim_peers *peers;
    struct sim_far *far;   /* has the others, who hear by messages, or */
    struct sim_near *near; /* has what is shown, for others to look at; NULL both: all are here */
    _Atomic bool lost;     /* a process is gone */
    struct own_sim *own;   /* [n] */
    struct sim_part *part;
    struct common *all;
    struct shown *shown;     /* [n] */
    struct sim_pipe *pipe;   /* [n * n] from (row) to */
    _Atomic uint64_t *until; /* of this round */
    uint64_t margin;         /* no clock is further ahead of another */
    sim_pulse *pulse;
    void *pulse_ctx;
    bool stops; /* it was felt, in this round */
    /* Meetings: threads wait for the next round, and are counted when they have done theirs. */
    pthread_t *thread;
    uint32_t threads; /* that were started, and the caller's */
    pthread_mutex_t lock;
    pthread_cond_t go, done;
    uint64_t round;
    uint32_t working;
    bool over;
};

static inline uint64_t crew_later(uint64_t t, uint64_t by)
{
    return t > SIM_NEVER - by ? SIM_NEVER : t + by;
}

/* Several may do it at once. */
static inline void crew_lower(_Atomic uint64_t *v, uint64_t to)
{
    uint64_t old = atomic_load(v);

    while (to < old && !atomic_compare_exchange_weak(v, &old, to))
        ;
}

/* Was it lower? */
static inline bool crew_raise(_Atomic uint64_t *v, uint64_t to)
{
    uint64_t old = atomic_load(v);

    while (to > old && !atomic_compare_exchange_weak(v, &old, to))
        ;
    return to > old;
}

#endif
