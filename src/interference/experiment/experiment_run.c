/* experiment_run.c -- runs the trials of an experiment that are not done, one after the other.
 *
 * Owns the output directory and its mark, experiment.yaml, which holds a fingerprint of the
 * command: runs of different commands are not comparable and never share a directory. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/output.h"
#include "experiment_priv.h"

/* Identifies what makes runs comparable: command, slice and rate of the path. */
static uint64_t experiment_fingerprint(const struct experiment *e)
{
    struct wr_str text = {0};
    uint64_t h;

    wr_str_addf(&text, "%s\n%.17g\n%.17g\n", e->spec.command, e->spec.slice_ps,
                e->spec.path.rate_bps);
    h = wr_hash(1469598103934665603u, wr_str_get(&text), text.n); /* as earlier marks have it */
    wr_str_fini(&text);
    return h;
}

static bool experiment_check_mark(const char *path, uint64_t print, struct wr_err *err)
{
    char *text;
    size_t len;
    uint64_t was = 0;

    if (!wr_file_peek(&text, &len, path, 1 << 20, err))
        return false;
    bool same = sscanf(text, "# runs of %" SCNx64, &was) == 1 && was == print;

    free(text);
    return same || wr_fail(err, WR_INPUT,
                           "%s belongs to an experiment with another command, slice or path; "
                           "choose another output directory",
                           path);
}

static bool experiment_open_directory(const struct experiment *e, struct wr_err *err)
{
    static const struct wr_format mark = {
        .name = "an experiment", .endings = ".yaml", .begins = "# runs of "};
    static const struct wr_format *const marks[] = {&mark, NULL};
    struct wr_str path = {0}, text = {0};

    if (!wr_output_dir(e->out, marks, e->force, NULL, err))
        return false;
    wr_str_addf(&path, "%s/experiment.yaml", e->out);
    wr_str_addf(&text, "# runs of %016" PRIx64 "\n", experiment_fingerprint(e));
    conf_dump(e->conf, &text, false);
    bool ok =
        (access(path.s, F_OK) || experiment_check_mark(path.s, experiment_fingerprint(e), err)) &&
        wr_output_text(path.s, &mark, e->force ? WR_FORCE : 0, &text, err);

    wr_str_fini(&path);
    wr_str_fini(&text);
    return ok;
}

static bool experiment_pause(const struct experiment *e, bool (*stop)(void))
{
    for (double left = e->spec.pause_ps / 1e12; left > 0 && !(stop && stop()); left -= 0.05)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    return !(stop && stop());
}

bool experiment_run(const struct experiment *e, struct wr_progress *progress, bool (*stop)(void),
                    bool *ret_interrupted, struct wr_err *err)
{
    bool interrupted = false, ok = experiment_open_directory(e, err), first = true;

    for (size_t i = 0; ok && !interrupted && i < e->trials.n; i++) {
        if (progress)
            wr_progress_set(progress, (double)i);
        if (experiment_done(e, &e->trials.v[i]))
            continue;
        if (!first && !experiment_pause(e, stop)) {
            interrupted = true;
            break;
        }
        first = false;
        ok = experiment_trial_run(e, &e->trials.v[i], stop, &interrupted, err);
    }
    if (ok)
        *ret_interrupted = interrupted;
    return ok;
}
