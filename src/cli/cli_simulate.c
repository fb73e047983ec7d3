/* cli_simulate.c -- creates the run file of a simulation and chooses when progress is printed.
 *
 * Shared by `weir run` and `weir sweep`, so that both record the resolved configuration and every
 * input file in the same way.
 */
#include "cli/cli_simulate.h"

#include "world/record.h"

bool simulate_create(struct run **ret, const char *path, const struct conf *conf, uint64_t seed,
                     const struct cli_call *call, bool force, struct wr_err *err)
{
    struct wr_str command = {0};

    wr_str_addf(&command, "%s ", call->who);
    run_command_line(&command, call->argc - 1, call->argv + 1);
    bool ok = world_record(ret,
                           &(struct world_record){.path = path,
                                                  .conf = conf,
                                                  .command = wr_str_get(&command),
                                                  .seed = seed,
                                                  .force = force},
                           err);

    wr_str_fini(&command);
    return ok;
}

enum wr_progress_mode simulate_progress(bool always)
{
    return always ? WR_PROGRESS_ALWAYS : WR_PROGRESS_AUTO;
}
