/* record.c -- creates a run file with the resolved configuration and all inputs; sends the inputs
 * to the other processes of a run; and a digest of both, by which processes check that they have
 * the same. */
#include "world/record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"

typedef bool with_input(void *ctx, const char *path, const char *text, size_t len,
                        struct wr_err *err);

/* The files that the configuration was read from, and those it names. */
static bool record_each_input(const struct conf *conf, with_input *fn, void *ctx,
                              struct wr_err *err)
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

static bool record_put_input(void *ctx, const char *path, const char *text, size_t len,
                             struct wr_err *err)
{
    return run_put_input(ctx, path, text, len, err);
}

static bool record_digest_input(void *ctx, const char *path, const char *text, size_t len,
                                struct wr_err *err)
{
    uint64_t *h = ctx;

    (void)path;
    (void)err;
    *h = wr_hash(*h, text, len);
    return true;
}

/* The sizes of a file's name and content; a file without a name ends the list. */
struct record_head {
    uint64_t path, text;
};

static bool record_send_input(void *ctx, const char *path, const char *text, size_t len,
                              struct wr_err *err)
{
    struct record_head head = {strlen(path), len};

    assert(head.path);
    return sim_peers_broadcast(ctx, &head, sizeof head, err) &&
           sim_peers_broadcast(ctx, (void *)path, head.path, err) &&
           sim_peers_broadcast(ctx, (void *)text, head.text, err);
}

/* Takes one file; *ret_more is false after the last. */
static bool record_receive_input(struct sim_peers *peers, bool *ret_more, struct wr_err *err)
{
    struct record_head head;

    if (!sim_peers_broadcast(peers, &head, sizeof head, err))
        return false;
    *ret_more = head.path != 0;
    if (!*ret_more)
        return true;
    char *path = wr_alloc(head.path + 1), *text = wr_alloc(head.text + 1);
    bool ok = sim_peers_broadcast(peers, path, head.path, err) &&
              sim_peers_broadcast(peers, text, head.text, err);

    path[head.path] = '\0';
    if (ok)
        wr_file_supply(path, text, head.text);
    free(path);
    free(text);
    return ok;
}

bool world_record_share(struct sim_peers *peers, const struct conf *conf, struct wr_err *err)
{
    struct record_head end = {0};
    bool more = true;

    assert(!conf == (sim_peers_rank(peers) != 0));
    if (!conf) {
        while (more)
            if (!record_receive_input(peers, &more, err))
                return false;
        return true;
    }
    bool ok = record_each_input(conf, record_send_input, peers, err);

    return sim_peers_broadcast(peers, &end, sizeof end, err) && ok;
}

bool world_record_digest(const struct conf *conf, uint64_t *ret, struct wr_err *err)
{
    struct wr_str config = {0};
    uint64_t h = WR_HASH_INIT;

    conf_dump(conf, &config, false);
    h = wr_hash(h, wr_str_get(&config), config.n);
    wr_str_fini(&config);
    if (!record_each_input(conf, record_digest_input, &h, err))
        return false;
    *ret = h;
    return true;
}

void world_record_config(const struct conf *conf, const char *section, struct wr_str *out)
{
    if (section)
        conf_dump_part(conf, section, out);
    else
        conf_dump(conf, out, false);
}

bool world_record(struct run **ret, const struct world_record *how, struct wr_err *err)
{
    struct wr_str config = {0};
    struct wr_err ignored;
    struct run *run;

    world_record_config(how->conf, how->section, &config);
    struct run_meta meta = {.kind = how->kind ? how->kind : "sim",
                            .command = how->command,
                            .config = wr_str_get(&config),
                            .seed = how->seed,
                            .force = how->force};
    bool ok = run_create(&run, how->path, &meta, err);

    wr_str_fini(&config);
    if (!ok)
        return false;
    if (!record_each_input(how->conf, record_put_input, run, err)) {
        run_finish(run, RUN_FAILED, err->text, &ignored);
        return false;
    }
    *ret = run;
    return true;
}
