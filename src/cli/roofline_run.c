/* roofline_run.c -- creates the run file of the verbs that measure: collect and polling. */
#include "cli/cmd_roofline.h"

bool roofline_run_create(struct run **ret, const struct cli_call *call, const char *out, bool force,
                         bool whole, uint64_t seed, const struct conf *conf, struct wr_err *err)
{
    const struct conf_input *input;
    struct wr_str command = {0}, dump = {0};

    run_command_line(&command, call->argc, call->argv);
    conf_dump(conf, &dump, false);
    struct run_meta meta = {.kind = "rpc",
                            .command = wr_str_get(&command),
                            .config = wr_str_get(&dump),
                            .seed = seed,
                            .force = force,
                            .whole = whole};
    struct run *run;
    bool ok = run_create(&run, out, &meta, err);

    wr_str_fini(&command);
    wr_str_fini(&dump);
    if (!ok)
        return false;
    for (size_t i = 0, n = conf_inputs(conf, &input); ok && i < n; i++)
        ok = run_put_input(run, input[i].path, input[i].text, input[i].len, err);
    if (!ok) {
        run_abandon(run);
        return false;
    }
    *ret = run;
    return true;
}
