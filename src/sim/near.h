/* near.h -- memory that the processes of one simulation share, when all of them are on one machine.
 *
 *   process 0      process 1        what partitions show each other lies there, so crew.c looks,
 *       \            /              waits and wakes as it does among the threads of a process;
 *      [ shown, pipes ]             processes speak (peers.h) when they meet, and not while they
 * run
 *
 * It has no name and is gone with the last process that has it, whatever ends them.
 */
#ifndef SIM_NEAR_H
#define SIM_NEAR_H

#include "sim/peers.h"

struct sim_near;

/* `bytes` of memory, cleared, for all processes of `peers`, which must all call it. NULL: some of
 * them cannot have it, and so none has. What is never touched costs nothing. */
struct sim_near *sim_near_open(struct sim_peers *peers, size_t bytes);
void sim_near_close(struct sim_near *n);
void *sim_near_memory(struct sim_near *n); /* on 128 bytes */

/* A thread has waited for long, perhaps for a process that is gone: is one? */
bool sim_near_lost(struct sim_near *n);

#endif
