#include "world/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

typedef bool with_input(void *ctx, const char *path, const char *text, size_t len,
                        struct wr_err *err);

/* The files that the configuration was read from, and those it names. */
static bool each_input(const struct conf *conf, with_input *fn, void *ctx, struct wr_err *err)
{
    const struct conf_input *input;
    const char *const *path;
    size_t ninputs = conf_inputs(conf, &input), npaths = conf_paths(conf, &path);
    bool ok = true;

    for (size_t i = 0; ok && i < ninputs; i++)
        ok = fn(ctx, input[i].path, input[i].text, input[i].len, err);
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
        ok = fn(ctx, path[i], text, len, err);
        free(text);
    }
    return ok;
}

static bool put_input(void *ctx, const char *path, const char *text, size_t len, struct wr_err *err)
{
    return run_put_input(ctx, path, text, len, err);
}

/* FNV-1a: to tell different texts, not to keep secrets. */
static uint64_t digest(uint64_t h, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return h;
}

static bool digest_input(void *ctx, const char *path, const char *text, size_t len,
                         struct wr_err *err)
{
    uint64_t *h = ctx;

    (void)path;
    (void)err;
    *h = digest(*h, text, len);
    return true;
}

bool world_record_digest(const struct conf *conf, uint64_t *ret, struct wr_err *err)
{
    struct wr_str config = {0};
    uint64_t h = 0xcbf29ce484222325u;

    conf_dump(conf, &config, false);
    h = digest(h, wr_str_get(&config), config.n);
    wr_str_fini(&config);
    if (!each_input(conf, digest_input, &h, err))
        return false;
    *ret = h;
    return true;
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
    if (!each_input(how->conf, put_input, run, err)) {
        run_finish(run, RUN_FAILED, err->text, &ignored);
        return false;
    }
    *ret = run;
    return true;
}
