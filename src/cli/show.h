/* show.h -- the overview of a run file, for verbs that have just written one. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include <stdio.h>

#include "base/err.h"

/* What `weir show PATH --json` prints. */
bool cli_show_json(FILE *out, const char *path, struct wr_err *err);

#endif
