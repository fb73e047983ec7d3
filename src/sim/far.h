/* far.h -- partitions that other processes run. */
#ifndef SIM_FAR_H
#define SIM_FAR_H

#include "sim/peers.h"

struct sim_crew;
struct sim_far;

/* Which partitions a process runs: [first[rank], first[rank + 1]). */
uint32_t sim_far_first(uint32_t partitions, uint32_t processes, uint32_t rank);

/* For crew.c. Any of this process's threads may call these. */
struct sim_far *sim_far_open(struct sim_crew *c, struct sim_peers *peers, uint64_t margin);
void sim_far_close(struct sim_far *f);
/* Take in what has come. */
void sim_far_look(struct sim_far *f);
/* Something was shown: others get to know it now, or when it is worth a message. */
void sim_far_show(struct sim_far *f, bool now);
/* A partition waits: show all, take in what comes, and let others work. */
void sim_far_relax(struct sim_far *f, uint32_t turn);
/* All of all processes rest and nothing is on its way: the earliest next event, which may be
 * jumped to. */
bool sim_far_quiet(struct sim_far *f, uint64_t *ret);
/* All processes stop soon, at one time; called by the first partition's thread, which is between
 * two events. */
void sim_far_stop(struct sim_far *f);
bool sim_far_stop_wanted(struct sim_far *f);
/* A stretch is over: of each of `n` values the least of all. False: somebody is gone. */
bool sim_far_meet(struct sim_far *f, uint64_t *values, uint32_t n);

#endif
