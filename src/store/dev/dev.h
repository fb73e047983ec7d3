/* dev.h -- a storage device: a request goes in, the time at which it is done comes out.
 *
 *   dev_open(&d, &plugin, seed, entity)     parameters checked, memory taken
 *   done_ps = dev_submit(&d, &request)      arrivals must not go back in time
 *   done_ps = dev_flush(&d, t_ps)           when all that was written is on the medium
 *
 * A device that chooses among the reads that wait for it (dev_queue is more than 1) is given one
 * at a time, when the one before is done: dev_choose says which.
 *
 * A device (struct dev_ops) owns one decision: service time. It knows no network, no
 * files and no clients, keeps a state of fixed size and never allocates after it
 * was opened. Invariants, which tests/contract/dev.c holds every entry of the table to:
 *
 *  1. A request is done at its arrival or later, by at least bytes / interface rate.
 *  2. On a device in the same state, more bytes never take less time.
 *  3. Same parameters, seed, entity and requests: same times, to the picosecond.
 *  4. Where `in_order` is set, requests are done in the order in which they came.
 */
#ifndef STORE_DEV_DEV_H
#define STORE_DEV_DEV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "conf/conf.h"

struct dev_req {
    uint64_t t_ps; /* arrival, not before that of the request before */
    uint64_t offset_b, bytes;
    bool write;
    uint64_t waited_ps; /* before t_ps, in the queue of a device that chooses */
};

/* A device. Set up by dev_open(); last_ps, seeks, assumed and what priv points to change with
 * requests. */
struct dev {
    const struct dev_ops *ops;
    const void *params; /* of its kind; the caller's */
    uint64_t seed;
    uint32_t entity;  /* which of many devices: its randomness is its own */
    uint64_t last_ps; /* arrival of the last request: they come in order */
    uint64_t seeks;   /* so far */
    uint64_t assumed; /* requests so far whose time follows from an assumption */
    void *priv;       /* the kind's own state */
};

struct dev_ops {
    struct conf_kind kind; /* first, so that a kind leads back to its table entry */
    bool in_order;         /* first come, first done */
    bool (*open)(struct dev *d, struct wr_err *err); /* sets priv */
    /* What is assumed of those that d->assumed counts, and what to do about it; NULL: nothing. */
    void (*assumption)(const struct dev *d, struct wr_str *out);
    uint64_t (*submit)(struct dev *d, const struct dev_req *r);
    uint64_t (*flush)(struct dev *d, uint64_t t_ps); /* NULL: nothing is ever behind */
    /* Bytes per second that no request exceeds; 0: no limit. */
    double (*interface_bps)(const struct dev *d);
    /* Reads that it chooses among, and how long one would take to its first byte if it were
     * the next, from t_ps on. NULL: first come, first served. */
    uint32_t (*queue)(const struct dev *d);
    uint64_t (*reach_ps)(const struct dev *d, uint64_t t_ps, const struct dev_req *r);
};

extern const struct dev_ops *const dev_table[]; /* ends with NULL */
extern const struct conf_kind *const dev_kinds[];

/* Where a device is named, a file may be, as `weir dev fit -o` writes it (dev_drive.h). */
extern const struct conf_files dev_files;

/* The plug-in and its parameters must outlive the device. */
bool dev_open(struct dev *ret, const struct conf_plugin *plug, uint64_t seed, uint32_t entity,
              struct wr_err *err);
void dev_close(struct dev *d);
uint64_t dev_submit(struct dev *d, const struct dev_req *r);
uint64_t dev_flush(struct dev *d, uint64_t t_ps);

/* A sentence about d->assumed requests; nothing when there are none. */
void dev_assumption(const struct dev *d, struct wr_str *out);

enum { DEV_MOST_QUEUE = 256 };

/* Reads that the device chooses among, at most DEV_MOST_QUEUE; 1: it does not choose. */
uint32_t dev_queue(const struct dev *d);

/* Which of the n waiting reads is next, the oldest being number 0: that which the device reaches
 * first. One that `passed` says was overtaken as often as twice the queue is long goes first, so
 * every read is served. */
uint32_t dev_choose(const struct dev *d, uint64_t t_ps, const struct dev_req *waiting, uint32_t n,
                    uint64_t passed);

/* The least time that `bytes` take on the device's interface. */
uint64_t dev_interface_ps(const struct dev *d, uint64_t bytes);

#endif
