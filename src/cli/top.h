/* top.h -- the live table, for `weir top` and `weir interfere --follow`. */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "cli/cli.h"

/* How `weir top` repeats. */
struct cli_follow {
    double interval_s;
    uint32_t count; /* 0: until Ctrl-C */
    bool json;
};

bool cli_follow_interval(double *ret, const char *text, struct wr_err *err);
/* The call's arguments are directories of profiles; none: all of this machine. */
bool cli_follow(const struct cli_call *call, const struct cli_follow *f, struct wr_err *err);

#endif
