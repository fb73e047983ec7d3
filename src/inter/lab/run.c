/* run.c -- the trials of an experiment that are not done yet, one after the other. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/output.h"
#include "trial_priv.h"

/* What makes runs comparable: with another command in the same directory they would not be. */
static uint64_t print_of(const struct lab *l)
{
    struct wr_str text = {0};
    uint64_t h = 1469598103934665603u;

    wr_str_addf(&text, "%s\n%.17g\n%.17g\n", l->spec.command, l->spec.slice_ps,
                l->spec.path.rate_bps);
    for (size_t i = 0; i < text.n; i++)
        h = (h ^ (unsigned char)text.s[i]) * 1099511628211u;
    wr_str_fini(&text);
    return h;
}

static bool check_mark(const char *path, uint64_t print, struct wr_err *err)
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
                           "choose another directory with --output",
                           path);
}

static bool open_directory(const struct lab *l, struct wr_err *err)
{
    static const struct wr_format mark = {
        .name = "an experiment", .endings = ".yaml", .begins = "# runs of "};
    static const struct wr_format *const marks[] = {&mark, NULL};
    struct wr_str path = {0}, text = {0};

    if (!wr_output_dir(l->out, marks, l->force, NULL, err))
        return false;
    wr_str_addf(&path, "%s/experiment.yaml", l->out);
    wr_str_addf(&text, "# runs of %016" PRIx64 "\n", print_of(l));
    conf_dump(l->conf, &text, false);
    bool ok = (access(path.s, F_OK) || check_mark(path.s, print_of(l), err)) &&
              wr_output_text(path.s, &mark, l->force ? WR_FORCE : 0, &text, err);

    wr_str_fini(&path);
    wr_str_fini(&text);
    return ok;
}

static bool pause_between(const struct lab *l, bool (*stop)(void))
{
    for (double left = l->spec.pause_ps / 1e12; left > 0 && !(stop && stop()); left -= 0.05)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    return !(stop && stop());
}

bool lab_run(const struct lab *l, struct wr_progress *progress, bool (*stop)(void),
             bool *ret_interrupted, struct wr_err *err)
{
    bool interrupted = false, ok = open_directory(l, err), first = true;

    for (size_t i = 0; ok && !interrupted && i < l->trials.n; i++) {
        if (progress)
            wr_progress_set(progress, (double)i);
        if (lab_done(l, &l->trials.v[i]))
            continue;
        if (!first && !pause_between(l, stop)) {
            interrupted = true;
            break;
        }
        first = false;
        ok = lab_trial_run(l, &l->trials.v[i], stop, &interrupted, err);
    }
    if (ok)
        *ret_interrupted = interrupted;
    return ok;
}
