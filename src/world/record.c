#include "world/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

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
        size_t len, first = 0;

        /* Two jobs may run the same program. */
        while (strcmp(path[first], path[i]) != 0)
            first++;
        if (first < i)
            continue;
        if (!wr_file_read(&text, &len, path[i], WORLD_MOST_INPUT, err))
            return false;
        ok = run_put_input(run, path[i], text, len, err);
        free(text);
    }
    return ok;
}

void world_record_config(const struct conf *conf, const char *part, struct wr_str *out)
{
    if (part)
        conf_dump_part(conf, part, out);
    else
        conf_dump(conf, out, false);
}

bool world_record(struct run **ret, const struct world_record *how, struct wr_err *err)
{
    struct wr_str config = {0};
    struct wr_err ignored;
    struct run *run;

    world_record_config(how->conf, how->part, &config);
    struct run_meta meta = {.kind = how->kind ? how->kind : "sim",
                            .command = how->command,
                            .config = wr_str_get(&config),
                            .seed = how->seed,
                            .force = how->force};
    bool ok = run_create(&run, how->path, &meta, err);

    wr_str_fini(&config);
    if (!ok)
        return false;
    if (!put_inputs(run, how->conf, err)) {
        run_finish(run, RUN_FAILED, err->text, &ignored);
        return false;
    }
    *ret = run;
    return true;
}
