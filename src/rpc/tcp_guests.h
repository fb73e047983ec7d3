/* tcp_guests.h -- connections that have not shown the token yet.
 *
 * Anybody who reaches the port can open one, so each costs little and not for long: a descriptor
 * and RPC_GUEST_B bytes for RPC_GUEST_NS, RPC_GUESTS_FROM of one address and RPC_GUESTS in all.
 * Where these are taken a new one replaces the oldest, so that connections which say nothing keep
 * nobody out. All of them together have at most a quarter of the descriptors that the process may
 * open: the others are for peers with the token.
 */
#ifndef RPC_TCP_GUESTS_H
#define RPC_TCP_GUESTS_H

#include <stdbool.h>
#include <stdint.h>

enum { RPC_GUESTS = 256, RPC_GUESTS_FROM = 128, RPC_GUEST_B = 512 };
#define RPC_GUEST_NS UINT64_C(1000000000)

struct rpc_guest {
    int fd;           /* -1: this place is free */
    uint32_t address; /* IPv4, as it travels */
    uint32_t n;       /* bytes so far */
    uint64_t since_ns;
    uint8_t bytes[RPC_GUEST_B];
};

/* n counts the places of guest[] that are taken, and never exceeds most. */
struct rpc_guests {
    uint32_t n, most;
    uint64_t oldest_ns; /* none came before */
    struct rpc_guest guest[RPC_GUESTS];
};

/* How many of `peers` the descriptors of this process suffice for; the guests get their share. */
uint32_t rpc_guests_init(struct rpc_guests *g, uint32_t peers);
void rpc_guests_fini(struct rpc_guests *g);
/* The place of a new one, which owns the descriptor from now on. */
uint32_t rpc_guests_add(struct rpc_guests *g, int fd, uint32_t address, uint64_t now_ns);
/* Takes what came. false: it is gone, or has sent more than it may. */
bool rpc_guests_hear(struct rpc_guests *g, uint32_t k);
/* Its descriptor, which is the caller's from now on. */
int rpc_guests_take(struct rpc_guests *g, uint32_t k);
void rpc_guests_drop(struct rpc_guests *g, uint32_t k);
/* For want of descriptors. false: there was none to drop. */
bool rpc_guests_drop_oldest(struct rpc_guests *g);
/* Those whose time is over. How long until the next one's is, UINT64_MAX: there is none. */
uint64_t rpc_guests_expire(struct rpc_guests *g, uint64_t now_ns);

#endif
