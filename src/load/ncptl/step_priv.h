/* step_priv.h -- the interpreter of one rank: what its instructions share.
 *
 * A struct nc_step lives for one call of ncptl_next(); what must survive is in struct ncptl_rank.
 */
#ifndef LOAD_NCPTL_STEP_PRIV_H
#define LOAD_NCPTL_STEP_PRIV_H

#include "base/map.h"
#include "share_priv.h"

/* What an instruction did. */
enum nc_did {
    NC_GO,    /* no event; continue at r->pc */
    NC_YIELD, /* the event is filled */
    NC_STOP,  /* e->bad says why */
};

struct nc_step {
    const struct ncptl_prog *p;
    struct ncptl_rank *r;
    const struct nc_ins *in;
    struct ncptl_event *ev;
    struct nc_ev *e;
};

struct nc_saved {
    struct nc_saved *next;
    struct ncptl_counters counters;
    uint64_t at_ps;
};

/* State that few ranks have, allocated at first use. */
struct nc_cold {
    struct nc_saved *saved;     /* STORES ITS COUNTERS */
    struct nc_saved *frozen;    /* the counters as they were before the warmup */
    struct wr_map next_in_file; /* offset at which the next access to a file begins */
};

struct nc_cold *nc_cold(struct ncptl_rank *r);

/* Fills what every event has and counts it. */
enum nc_did nc_yield(struct nc_step *s, enum ncptl_op op, uint32_t flags);

/* step_comm.c */
enum nc_did nc_step_send(struct nc_step *s);
enum nc_did nc_step_recv(struct nc_step *s);
enum nc_did nc_step_recv_pull(struct nc_step *s);
enum nc_did nc_step_mcast(struct nc_step *s);
enum nc_did nc_step_reduce(struct nc_step *s);
enum nc_did nc_step_barrier(struct nc_step *s);

/* step_local.c */
enum nc_did nc_step_local(struct nc_step *s);
enum nc_did nc_step_io(struct nc_step *s);
enum nc_did nc_step_assign(struct nc_step *s);

/* step_loop.c */
enum nc_did nc_step_loop(struct nc_step *s);
enum nc_did nc_step_loop_end(struct nc_step *s);
enum nc_did nc_step_each(struct nc_step *s);
enum nc_did nc_step_each_end(struct nc_step *s);
enum nc_did nc_step_timed(struct nc_step *s);
enum nc_did nc_step_timed_end(struct nc_step *s);

#endif
