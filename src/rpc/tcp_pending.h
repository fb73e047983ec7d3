/* tcp_pending.h -- connections that have not shown the token yet.
 *
 * Any process that reaches the port can open one, so each costs little and not for long: a
 * descriptor and RPC_GUEST_B bytes for RPC_GUEST_NS, RPC_GUESTS_FROM of one address and RPC_GUESTS
 * in all. Where these are taken a new one replaces the oldest, so that silent connections keep no
 * client out. All of them together have at most a quarter of the descriptors that the process may
 * open: the others are for peers with the token.
 */
#ifndef RPC_TCP_PENDING_H
#define RPC_TCP_PENDING_H

#include <stdbool.h>
#include <stdint.h>

enum { RPC_PENDING = 256, RPC_PENDING_FROM = 128, RPC_PENDING_B = 512 };
#define RPC_PENDING_NS UINT64_C(1000000000)

struct rpc_pending_entry {
    int fd;            /* -1: this place is free */
    uint32_t address;  /* IPv4, as it travels */
    uint32_t n;        /* bytes so far */
    uint64_t since_ns; /* when it was accepted */
    uint8_t bytes[RPC_PENDING_B];
};

/* n counts the places of entry[] that are taken, and never exceeds most. */
struct rpc_pending {
    uint32_t n, most;
    uint64_t oldest_ns; /* none came before */
    struct rpc_pending_entry entry[RPC_PENDING];
};

/* How many of `peers` the descriptors of this process suffice for; pending connections get their
 * share. */
uint32_t rpc_pending_init(struct rpc_pending *g, uint32_t peers);
void rpc_pending_fini(struct rpc_pending *g);
/* The place of a new one, which owns the descriptor from now on. */
uint32_t rpc_pending_add(struct rpc_pending *g, int fd, uint32_t address, uint64_t now_ns);
/* Takes what came. false: it is gone, or has sent more than it may. */
bool rpc_pending_read(struct rpc_pending *g, uint32_t k);
/* Its descriptor, which is the caller's from now on. */
int rpc_pending_take(struct rpc_pending *g, uint32_t k);
void rpc_pending_drop(struct rpc_pending *g, uint32_t k);
/* For want of descriptors. false: there was none to drop. */
bool rpc_pending_drop_oldest(struct rpc_pending *g);
/* Those whose time is over. How long until the next one's is, UINT64_MAX: there is none. */
uint64_t rpc_pending_expire(struct rpc_pending *g, uint64_t now_ns);

#endif
