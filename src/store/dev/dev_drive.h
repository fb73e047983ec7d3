/* dev_drive.h -- a device alone under a workload, and the parameter sets that weir brings along.
 *
 *   title: ...
 *   device: {kind: hdd, ...}
 *   file: {size: 512 MB, extents: 2, apart: 820 GB}    where on the device the records lie
 */
#ifndef STORE_DEV_DRIVE_H
#define STORE_DEV_DRIVE_H

#include "base/hist.h"
#include "store/dev/dev.h"

struct dev_file {
    uint64_t size, apart;
    uint32_t extents;
};

struct dev_set {
    const char *title;
    struct conf_plugin device;
    struct dev_file file;
};

extern const struct conf_row dev_set_rows[];

/* The sets that weir brings along: names and texts, YAML of dev_set_rows. */
extern const struct conf_text dev_shipped[]; /* ends with a NULL name */

struct dev_load {
    const char *name; /* "random read" */
    uint64_t record_b;
    bool write, random;
};

enum { DEV_LOADS = 4, DEV_MOST_DEPTH = 1024 };

extern const struct dev_load dev_loads[DEV_LOADS];

struct dev_result {
    uint64_t requests, bytes, elapsed_ps; /* until the last is done, writes on the medium */
    struct wr_hist latency_ps;
};

/* Is the file one that the records fit in? */
bool dev_file_check(const struct dev_file *f, struct wr_err *err);

/* As many records as the file has, `depth` of them under way at any time, from a device that
 * was just opened. Random records are drawn with replacement, keyed by the device's seed. */
void dev_drive(struct dev *d, const struct dev_file *f, const struct dev_load *load, uint32_t depth,
               struct dev_result *ret);
/* At most `most` of them. */
void dev_drive_some(struct dev *d, const struct dev_file *f, const struct dev_load *load,
                    uint32_t depth, uint64_t most, struct dev_result *ret);

#endif
