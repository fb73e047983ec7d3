#include "cli/simulate.h"

bool simulate_create(struct run **ret, const char *path, const struct conf *conf, uint64_t seed,
                     const struct cli_call *call, bool force, struct wr_err *err)
{
    struct wr_str config = {0}, command = {0};
    const struct conf_input *input;
    size_t ninputs = conf_inputs(conf, &input);
    struct run *run;

    conf_dump(conf, &config, false);
    wr_str_addf(&command, "%s ", call->who);
    run_command_line(&command, call->argc - 1, call->argv + 1);
    struct run_meta meta = {.kind = "sim",
                            .command = wr_str_get(&command),
                            .config = wr_str_get(&config),
                            .seed = seed,
                            .force = force};
    bool ok = run_create(&run, path, &meta, err);

    wr_str_fini(&config);
    wr_str_fini(&command);
    for (size_t i = 0; ok && i < ninputs; i++)
        if (!run_put_input(run, input[i].path, input[i].text, input[i].len, err)) {
            struct wr_err ignored;

            run_finish(run, RUN_FAILED, err->text, &ignored);
            return false;
        }
    if (ok)
        *ret = run;
    return ok;
}

enum wr_progress_mode simulate_progress(bool always, bool quiet)
{
    return quiet ? WR_PROGRESS_NEVER : always ? WR_PROGRESS_ALWAYS : WR_PROGRESS_AUTO;
}
