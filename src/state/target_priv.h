/* target_priv.h -- one opened target. */
#ifndef STATE_TARGET_PRIV_H
#define STATE_TARGET_PRIV_H

#include "state/probe.h"

struct target {
    int fd;
    bool direct, device;
    char *dir; /* to check for free space; NULL for a device */
    void *buffer;
    size_t len;
};

bool target_open(struct target *ret, const char *text, size_t len, bool devices,
                 struct wr_err *err);
void target_close(struct target *t);

/* One write and one read; latencies in seconds. */
bool target_write(struct target *t, uint64_t stamp, double *ret_s, struct wr_err *err);
bool target_read(struct target *t, double *ret_s, struct wr_err *err);

#endif
