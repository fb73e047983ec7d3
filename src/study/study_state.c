/* study_state.c -- decides whether an existing run file is the run that would be executed now.
 *
 * It is when it is complete and was made by the same version from the same resolved configuration
 * and the same contents of all files that the configuration names. Reads only.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/version.h"
#include "run/reader.h"
#include "study_priv.h"
#include "world/record.h"

/* The files that values name (programs, placements) may have changed under the same name. */
static bool study_state_same_inputs(const struct conf *conf, struct run_reader *r)
{
    const char *const *path;
    size_t n = conf_paths(conf, &path);
    struct wr_err ignored;
    bool same = true;

    for (size_t i = 0; same && i < n; i++) {
        char *then = NULL, *now = NULL;
        size_t nthen, nnow;

        same = run_input(r, path[i], &then, &nthen, &ignored) &&
               wr_file_read(&now, &nnow, path[i], WORLD_MOST_INPUT, &ignored) && nthen == nnow &&
               !memcmp(then, now, nnow);
        free(then);
        free(now);
    }
    return same;
}

static bool study_state_is_current(const struct conf *conf, const char *section,
                                   struct run_reader *r)
{
    struct wr_str config = {0};

    world_record_config(conf, section, &config);
    bool same = !strcmp(run_info(r)->config, wr_str_get(&config)) &&
                !strcmp(run_info(r)->weir_version, wr_version()) &&
                study_state_same_inputs(conf, r);

    wr_str_fini(&config);
    return same;
}

static enum study_state study_state_of(const struct conf *conf, const char *section,
                                       struct run_reader *r)
{
    switch (run_info(r)->status) {
    case RUN_RUNNING:
        return STUDY_BUSY;
    case RUN_INCOMPLETE:
        return STUDY_TORN;
    case RUN_FAILED:
        return STUDY_FAILED;
    default:
        return study_state_is_current(conf, section, r) ? STUDY_DONE : STUDY_OLD;
    }
}

void study_look(const struct conf *conf, const char *section, const char *path,
                enum study_state *ret_state, double *ret_wall_s)
{
    struct run_reader *r;
    struct wr_err ignored;
    struct stat st;
    bool found;

    assert(conf && path);
    *ret_state = STUDY_ABSENT;
    if (stat(path, &st))
        return;
    if (!run_peek(&r, path, &ignored)) {
        *ret_state = STUDY_TORN;
        return;
    }
    *ret_state = study_state_of(conf, section, r);
    if (*ret_state == STUDY_DONE || *ret_state == STUDY_OLD)
        run_number(r, "SELECT value FROM summary WHERE key = 'wall_s'", ret_wall_s, &found,
                   &ignored);
    run_close(r);
}
