/* limits.h -- what this machine could do at most, to compare with: measured in a moment. */
#ifndef RPC_LIMITS_H
#define RPC_LIMITS_H

struct rpc_limits {
    double line_rate;   /* round trips per second of a cache line between two threads */
    double socket_rate; /* round trips per second of a byte over TCP on the loopback */
    double copy_bps;    /* bytes per second of memcpy, 4 MiB at a time */
};

struct rpc_limits rpc_limits_probe(double seconds_each);

/* Bytes of the last-level cache; 0: unknown. */
unsigned long rpc_cache_b(void);

/* Processor time of the whole machine that was used, and idle, in seconds since boot. */
struct rpc_machine_time {
    double busy_s, idle_s;
};
struct rpc_machine_time rpc_machine_time(void);

#endif
