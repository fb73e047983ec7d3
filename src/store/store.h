/* store.h -- STORAGE: a request of a rank -> its completion.
 *
 *   rank --store_begin--> client --request--> server --blocks--> device
 *     ^                     |  <---pull---      |  \--drain--> I/O node --> external storage
 *     +------done-----------+  ----data-->      +--ack-->
 *
 * Storage lives on nodes of the machine: burst-buffer servers, I/O nodes, and with local burst
 * buffers every compute node. Whatever travels between nodes goes over the wire,
 * packet by packet with all other messages; devices are models (store/dev/), and so is the
 * storage-area network behind I/O nodes: a formula. docs/models/storage.md says what is modelled.
 *
 * An operation's time is divided over the causes of base/cause.h; the parts add up
 * to the picosecond.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/cause.h"
#include "base/err.h"
#include "base/hist.h"
#include "conf/conf.h"
#include "sim/sim.h"

/* ---- settings: storage: ---- */

enum store_policy { STORE_NEAREST, STORE_HASHED, STORE_ROUND_ROBIN, STORE_EXPLICIT };
enum store_drain {
    STORE_DRAIN_NEVER,
    STORE_DRAIN_WATERMARKS,
    STORE_DRAIN_SCHEDULE,
    STORE_DRAIN_AT_ONCE
};
enum store_reserve { STORE_RESERVE_REQUEST, STORE_RESERVE_BLOCK };

struct store_assign {
    const char *clients; /* a set of nodes */
    uint32_t server;
};

/* How a file is divided: stripes of size_b go round robin over `count` servers. */
struct store_stripe {
    uint64_t size_b;
    uint32_t count, layout; /* servers of a file, 0: all; one after another, or spread evenly */
};

struct store_buffer {
    uint64_t capacity_b;             /* 0: no limit */
    double high, low;                /* watermarks, fractions of the capacity */
    uint32_t drain, reserve;         /* enum store_drain, store_reserve */
    uint32_t streams;                /* requests that drain at a time */
    double period_ps;                /* of STORE_DRAIN_SCHEDULE */
    bool write_through;              /* a write ends when the servers have it, too */
    bool flush_on_close, keep_reads; /* a close waits for the drain; what was read is buffered */
};

struct store_san {
    double latency_ps, bandwidth; /* 0: no limit */
};

enum store_times { STORE_TIMES_EXPONENTIAL, STORE_TIMES_CONSTANT };

/* What was measured: the range of each number, and with how many requests of a server at a time. */
struct store_service_measured {
    uint32_t requests; /* 0: not known */
    double server_min_ps, server_max_ps, latency_min_ps, latency_max_ps;
    double bandwidth_min, bandwidth_max;
};

/* The software of servers and clients as measured (store_service.c). All zero: there is none. */
struct store_service_params {
    const char *title;
    double server_ps, client_ps, latency_ps; /* for a request */
    double bandwidth, client_bandwidth;      /* of a server, of a client; 0: no limit */
    uint32_t concurrency, times;
    struct store_service_measured measured;
};

extern const struct conf_row store_service_rows[];

/* One struct for all kinds; each kind has the rows that mean something to it (store_conf.c, which
 * explains the keys). Constant after reading. */
struct store_params {
    const char *servers, *io_nodes; /* sets of nodes */
    uint32_t numbering, policy;     /* of servers; enum store_policy */
    struct conf_list assign;        /* struct store_assign */
    struct store_stripe stripe;
    uint64_t block_b, control_b;         /* most of one access of a device; of a control message */
    uint32_t pulls;                      /* blocks of a request in progress at a time */
    struct conf_plugin device, external; /* of the buffers; of the slow storage */
    uint32_t devices, externals;         /* of each site */
    struct store_buffer buffer;
    struct store_san san;
    uint64_t threshold_b;                   /* smaller writes are buffered where a site has both */
    double client_ps, server_ps, jitter_ps; /* software at either end; a random time on top */
    struct store_service_params service;
    bool metadata, one_object;
};

/* Where blocks go first: the decision that makes an architecture. */
enum store_arch { STORE_LOCAL, STORE_COMPUTE, STORE_SIDE };

struct store_kind {
    struct conf_kind kind; /* first: storage: {kind: compute-bb, ...} */
    enum store_arch arch;
};

extern const struct conf_kind *const store_kinds[]; /* ends with NULL */

/* Whether a device can be opened; one that is not there can. */
bool store_try_device(const struct conf_plugin *device, struct wr_err *err);

/* ---- the network between nodes ---- */

/* What a message is, for latencies and for the wire's `cls`. */
enum store_class { STORE_REQUEST, STORE_DATA, STORE_CLASSES };
extern const char *const store_class_names[]; /* "io_request", "io_data" */

struct store_wire {
    void *ctx;
    /* Carry a message; then call store_arrived with `user`. */
    void (*send)(void *ctx, uint32_t src_node, uint32_t dst_node, uint64_t bytes, uint16_t app,
                 enum store_class cls, uint64_t user);
    uint32_t (*lp)(void *ctx, uint32_t node); /* the logical process that a node's events are for */
};

/* ---- operations ---- */

enum store_op_kind {
    STORE_OPEN,
    STORE_CLOSE,
    STORE_READ,
    STORE_WRITE,
    STORE_FLUSH,
    STORE_OP_KINDS
};

/* An operation that a rank begins. */
struct store_op {
    uint32_t node;
    uint16_t app;
    enum store_op_kind kind;
    int64_t file; /* the job's own number of it */
    uint64_t offset, bytes;
    uint64_t user; /* given to store_done */
};

/* An operation has ended, now and at its node. ps[CAUSES] adds up to its time. */
typedef void store_done(void *ctx, uint64_t user, const uint64_t *ps);

enum {
    STORE_EV_BEGIN,
    STORE_EV_ANSWER,
    STORE_EV_SERVE,
    STORE_EV_NIC,
    STORE_EV_SAN,
    STORE_EV_DISK,
    STORE_EV_TICK,
    STORE_EV_KINDS
};

/* What store_open() needs; arrays are copied. */
struct store_setup {
    struct sim *sim;
    uint32_t first_kind; /* STORE_EV_KINDS event kinds from here on are the storage's */
    struct store_wire wire;
    store_done *done; /* called when an operation has ended */
    void *done_ctx;
    const struct conf_plugin *plug; /* one of store_kinds */
    uint64_t seed;
    uint32_t napps;
    uint32_t nodes;
    const uint32_t *server; /* [nservers] their nodes, by number of the server */
    uint32_t nservers;
    const uint32_t *io; /* [nio] nodes of I/O nodes */
    uint32_t nio;
    const uint32_t *home; /* [nodes] the server of each node's data; not for STORE_HASHED */
    const bool *compute;  /* [nodes] ranks may be here: with local burst buffers it has one */
};

struct store;

bool store_open(struct store **ret, const struct store_setup *setup, struct wr_err *err);
void store_close(struct store *s);

/* The same in partitions: one `struct store` for each, for what happens at its nodes; arrays are
 * shared. The wire calls the store of the node that a message comes to. Counters are read from the
 * first, while no partition runs. Closing the first closes all. */
struct store_partition {
    struct sim *sim;
    void *wire_ctx, *done_ctx;
};

bool store_open_partitions(struct store **ret, const struct store_setup *setup,
                           const struct store_partition *partitions, uint32_t npartitions,
                           const uint8_t *partition_of_node, struct wr_err *err);

/* The counters of a partition as bytes, for a process that did not execute it: there they are put
 * into the same partition, and then read from the first as if all had been executed here. Called
 * while no partition runs, with all clocks at one time. */
void store_pack_accounts(const struct store *s, struct wr_bytes *out);
void store_take_accounts(struct store *s, struct wr_reader *in);

/* A message to a node in another partition: what it is about, as bytes, when it leaves; and there,
 * the word for store_arrived. Returns how many bytes, a multiple of 8. */
enum { STORE_MOST_PACKED = 320 };
uint32_t store_pack(struct store *s, uint64_t user, void *buf);
uint64_t store_unpack(struct store *s, const void *buf);

/* Inside handlers. */
void store_begin(struct store *s, const struct store_op *op);
void store_arrived(struct store *s, uint64_t user, const struct cause_trip *trip);

/* ---- what was counted; any time ---- */

/* No event happens before t_ps: counters are reported as of that time. */
void store_look(struct store *s, uint64_t t_ps);

uint64_t store_pending(const struct store *s); /* operations under way */
/* The one server that has all of a node's data; false: it is not one. */
bool store_home(const struct store *s, uint32_t node, uint32_t *ret);

/* A device of a server, an I/O node or a compute node. */
struct store_disk_stat {
    uint32_t site; /* number of the server; I/O nodes and compute nodes follow */
    uint32_t node;
    const char *role;   /* "server", "io_node", "client" */
    const char *device; /* "fast", "slow" */
    const char *model;  /* the kind of device */
    uint32_t index;     /* among the devices of its sort there */
    uint64_t reads, writes, bytes_read, bytes_written;
    uint64_t busy_ps, seeks;
    uint64_t queue_ps; /* blocks in it, summed over time */
    uint32_t queue, queue_most;
};

uint32_t store_disks(const struct store *s);
/* Requests to devices whose times follow from an assumption; adds what is assumed, in words. */
uint64_t store_assumed(const struct store *s, struct wr_str *out);
void store_disk_stat(const struct store *s, uint32_t i, struct store_disk_stat *ret);

/* A server, an I/O node or a compute node with a buffer. */
struct store_site_stat {
    uint32_t node;
    const char *role;
    uint64_t requests;            /* that came to it */
    uint64_t used_b, used_most_b; /* of its buffer */
    uint64_t dirty_b;             /* not yet drained */
    uint64_t in_b, out_b;         /* written into the buffer, drained */
    uint64_t absorbed_b;          /* written again before they were drained */
    uint64_t evicted_b;
    uint64_t hit_b, miss_b;  /* read */
    uint64_t waits, wait_ps; /* for space in the buffer */
    uint32_t waiting;
};

uint32_t store_sites(const struct store *s);
void store_site_stat(const struct store *s, uint32_t i, struct store_site_stat *ret);

struct store_app_stat {
    uint64_t calls[STORE_OP_KINDS];
    uint64_t time_ps[STORE_OP_KINDS]; /* in operations, those under way included */
    uint64_t bytes_read, bytes_written;
    uint32_t inflight;
};

void store_app_stat(const struct store *s, uint32_t app, struct store_app_stat *ret);
const struct wr_hist *store_latency(const struct store *s, uint32_t app, enum store_class cls);

/* Conservation, when nothing is under way: every request has ended, and what clients wrote is on
 * devices or in buffers. False says what does not hold. */
bool store_check(const struct store *s, struct wr_err *err);

/* Operations are outstanding and no event is left: reports what they wait for. Fills `err`, returns
 * false. */
bool store_report_stall(const struct store *s, struct wr_err *err);

#endif
