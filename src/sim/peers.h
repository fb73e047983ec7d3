/* peers.h -- the processes that run one simulation: collective operations among them.
 *
 * Used at set-up, between windows (engine.c), at time slices and at the end (world/). Process 0
 * has the run file and the terminal, and decides. All processes must call the same functions in
 * the same order. Messages of different functions may overtake one another; each is kept until
 * its function is called.
 */
#ifndef SIM_PEERS_H
#define SIM_PEERS_H

#include "base/err.h"
#include "sim/link.h"

struct sim_peers;

void sim_peers_open(struct sim_peers **ret, struct sim_link *link); /* owns `link` from now on */
/* Returns the worst exit status of the processes that were started here; 0: no failure. */
int sim_peers_close(struct sim_peers *p, bool well);
uint32_t sim_peers_rank(const struct sim_peers *p);
uint32_t sim_peers_size(const struct sim_peers *p);
uint32_t sim_peers_local(const struct sim_peers *p);
/* Says which process is lost; NULL: none is. */
const char *sim_peers_lost(const struct sim_peers *p);

/* Gather: process 0 calls `take` with the data of each other process, in the order of ranks. */
typedef void sim_peers_take(void *ctx, uint32_t from, const void *data, size_t bytes);
bool sim_peers_gather(struct sim_peers *p, const void *data, size_t bytes, sim_peers_take *take,
                      void *ctx, struct wr_err *err);
/* Broadcast: all get the data of process 0; all pass the same size. */
bool sim_peers_broadcast(struct sim_peers *p, void *data, size_t bytes, struct wr_err *err);
/* True if `ok` is true in all processes; otherwise all fail with the error of the lowest rank that
 * failed. `p` may be NULL: one process. */
bool sim_peers_agree(struct sim_peers *p, bool ok, struct wr_err *err);

/* Between windows (engine.c): one message to each process, and one from each. sim_peers_buffer
 * returns an empty buffer to append to; sim_peers_send sends it. The data returned by
 * sim_peers_receive is valid until the next call; NULL: a process is lost. */
struct wr_bytes *sim_peers_buffer(struct sim_peers *p, uint32_t to);
void sim_peers_send(struct sim_peers *p, uint32_t to);
const void *sim_peers_receive(struct sim_peers *p, uint32_t from, size_t *ret_bytes);

#endif
