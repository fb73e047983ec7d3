/* hdd_priv.h -- a disk's mechanics: where a byte is, how long the head takes to it.
 *
 *   zone 0 (outer)   zone 1      ...      a zone's tracks hold the same number of bytes;
 *   |cyl 0|cyl 1|...|cyl k|...            a cylinder is one track of each head
 *
 * Tracks and cylinders are skewed so that a sequential transfer never misses a
 * turn; what switching costs is in the zone's sustained rate, and so in L_track.
 */
#ifndef STORE_DEV_HDD_PRIV_H
#define STORE_DEV_HDD_PRIV_H

#include "conf/conf.h"
#include "dev_priv.h"

enum { HDD_MOST_ZONES = 32, HDD_MOST_QUEUE = DEV_MOST_QUEUE };

struct hdd_zone_params {
    double share, rate;
};

struct hdd_seek_params {
    double track, average, full, write;
};

struct hdd_params {
    uint64_t capacity, cache, read_ahead;
    uint32_t rpm, heads, write_queue, read_queue;
    struct conf_list zones; /* of struct hdd_zone_params */
    struct hdd_seek_params seek;
    double overhead, interface;
};

/* Cylinders with as many bytes on a track. */
struct hdd_zone {
    uint64_t first_b, end_b; /* of the disk */
    double track_b;          /* bytes of a track */
    double first_cyl;
};

/* Platters and arm. Constant after hdd_mech_open() up to write_ps. */
struct hdd_mech {
    struct hdd_zone zone[HDD_MOST_ZONES];
    uint32_t nzones, heads;
    uint64_t capacity, turn_ps; /* bytes; a revolution */
    uint64_t phase_ps;          /* angle at time 0 */
    double cylinders;
    double a, b;     /* seek of d cylinders: a + b sqrt(d) up to a third of the stroke */
    double c, e;     /* c + e d beyond */
    double write_ps; /* a write's head must settle for longer */
    /* Changes with every access: */
    uint64_t free_ps, at_b; /* busy until; the byte behind the last one accessed */
    uint64_t seeks;         /* so far */
    double cyl;             /* where the head is */
};

bool hdd_mech_open(struct hdd_mech *ret, const struct hdd_params *p, struct wr_err *err);

/* L_request / L_track * 60 / RPM, over all zones that the request touches. */
uint64_t hdd_transfer_ps(const struct hdd_mech *m, uint64_t offset_b, uint64_t bytes);

/* Seek and rotational latency of an access that starts at `t_ps`. */
uint64_t hdd_position_ps(const struct hdd_mech *m, uint64_t t_ps, uint64_t offset_b, bool write);

/* Does it: the mechanics are busy until the answer. */
uint64_t hdd_access(struct hdd_mech *m, uint64_t t_ps, uint64_t offset_b, uint64_t bytes,
                    bool write);

#endif
