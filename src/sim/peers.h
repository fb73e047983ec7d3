/* peers.h -- the processes that run one simulation together, when they speak to each other all at
 * once: before it begins, when they meet, and when it ends.
 *
 * Process 0 is where everything comes together: it has the run file, the terminal and the last
 * word. All processes must call the same functions in the same order. What partitions tell each
 * other while they run is far.c's, and may come in between.
 */
#ifndef SIM_PEERS_H
#define SIM_PEERS_H

#include "base/err.h"
#include "sim/link.h"

struct sim_peers;

void sim_peers_open(struct sim_peers **ret, struct sim_link *link); /* takes it */
/* Returns the worst exit status of the processes that were started here; 0: all is well. */
int sim_peers_close(struct sim_peers *p, bool well);
uint32_t sim_peers_rank(const struct sim_peers *p);
uint32_t sim_peers_size(const struct sim_peers *p);
uint32_t sim_peers_local(const struct sim_peers *p);
const char *sim_peers_transport(const struct sim_peers *p);
/* Even on one machine they shall have no memory in common (near.h), and speak by messages. */
void sim_peers_keep_apart(struct sim_peers *p);
bool sim_peers_are_apart(const struct sim_peers *p);
/* Who is gone; NULL: nobody. */
const char *sim_peers_lost(const struct sim_peers *p);

/* Process 0 gets what the others have, one after the other. */
typedef void sim_peers_take(void *ctx, uint32_t from, const void *data, size_t bytes);
bool sim_peers_gather(struct sim_peers *p, const void *data, size_t bytes, sim_peers_take *take,
                      void *ctx, struct wr_err *err);
/* All get what process 0 has, of a size that all know. */
bool sim_peers_tell(struct sim_peers *p, void *data, size_t bytes, struct wr_err *err);
/* Did it go well everywhere? If not, all fail with the error of the first that failed. */
bool sim_peers_agree(struct sim_peers *p, bool ok, struct wr_err *err);
/* Of each of `n` values the least of all. */
bool sim_peers_least(struct sim_peers *p, uint64_t *value, uint32_t n, struct wr_err *err);

/* For far.c: messages of its kinds go to `fn` whenever they come. */
enum { SIM_PEERS_FAR = 16 }; /* kinds from here on */
typedef void sim_peers_far(void *ctx, uint32_t from, const void *data, size_t bytes);
void sim_peers_listen(struct sim_peers *p, sim_peers_far *fn, void *ctx);
/* Take in what has come; false: nothing. */
bool sim_peers_poll(struct sim_peers *p);
void sim_peers_post(struct sim_peers *p, uint32_t to, const void *data, size_t bytes);
void sim_peers_nap(struct sim_peers *p, uint64_t ns);

/* A message begins with this. */
struct sim_peers_head {
    uint32_t kind, extra;
};

/* This process and R - 1 that it starts, linked by sockets, on this machine. */
bool sim_link_fork(struct sim_link **ret, uint32_t processes, struct wr_err *err);

#endif
