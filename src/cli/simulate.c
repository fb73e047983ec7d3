#include "cli/simulate.h"

#include <stdlib.h>

#include "base/file.h"

enum { MOST_INPUT = 1 << 30 };

/* The files that the configuration was read from, and those it names. */
static bool put_inputs(struct run *run, const struct conf *conf, struct wr_err *err)
{
    const struct conf_input *input;
    const char *const *path;
    size_t ninputs = conf_inputs(conf, &input), npaths = conf_paths(conf, &path);
    bool ok = true;

    for (size_t i = 0; ok && i < ninputs; i++)
        ok = run_put_input(run, input[i].path, input[i].text, input[i].len, err);
    for (size_t i = 0; ok && i < npaths; i++) {
        char *text;
        size_t len;

        if (!wr_file_read(&text, &len, path[i], MOST_INPUT, err))
            return false;
        ok = run_put_input(run, path[i], text, len, err);
        free(text);
    }
    return ok;
}

bool simulate_create(struct run **ret, const char *path, const struct conf *conf, uint64_t seed,
                     const struct cli_call *call, bool force, struct wr_err *err)
{
    struct wr_str config = {0}, command = {0};
    struct wr_err ignored;
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
    if (!ok)
        return false;
    if (!put_inputs(run, conf, err)) {
        run_finish(run, RUN_FAILED, err->text, &ignored);
        return false;
    }
    *ret = run;
    return true;
}

enum wr_progress_mode simulate_progress(bool always, bool quiet)
{
    return quiet ? WR_PROGRESS_NEVER : always ? WR_PROGRESS_ALWAYS : WR_PROGRESS_AUTO;
}
