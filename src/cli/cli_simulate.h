/* cli_simulate.h -- what verbs that simulate share: the run file's head and the progress line. */
#ifndef CLI_CLI_SIMULATE_H
#define CLI_CLI_SIMULATE_H

#include "base/progress.h"
#include "cli/cli.h"
#include "conf/conf.h"
#include "run/run.h"

/* A run file with the resolved configuration and every input, so that it can be rerun. */
bool simulate_create(struct run **ret, const char *path, const struct conf *conf, uint64_t seed,
                     const struct cli_call *call, bool force, struct wr_err *err);

enum wr_progress_mode simulate_progress(bool always);

#endif
