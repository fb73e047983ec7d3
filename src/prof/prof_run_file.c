/* prof_run_file.c -- reads a directory of profiles and writes a run file of it.
 *
 * Invariant: a run file that was created is always finished. If storing fails, it is finished as
 * failed with the error as its reason, so that a reader can see it.
 */
#include "prof/prof_run_file.h"

#include <assert.h>
#include <sys/timex.h>

#include "prof/profile_to_run.h"
#include "prof/read/profile_job.h"
#include "run/run.h"

/* How far this machine's clock may be off, as its system says. */
static bool prof_put_clock_error(struct run *run, struct wr_err *err)
{
    struct timex t = {0};
    int state = adjtimex(&t);

    return state < 0 ||
           (run_put_volatile(run, "clock_error_ns", (double)t.esterror * 1000, "ns", err) &&
            run_put_volatile(run, "clock_synchronised", state != TIME_ERROR, "", err));
}

bool prof_run_file(const char *dir, const char *path, const struct prof_run_how *how,
                   struct wr_str *ret_warnings, struct wr_err *err)
{
    struct run_meta meta = {
        .kind = "prof", .command = how->command, .force = how->force, .whole = true};
    struct prof_job job = {0};
    struct run *run;

    assert(!how->failed || how->reason);
    if (!prof_job_read(&job, dir, err))
        return false;
    wr_str_add(ret_warnings, wr_str_get(&job.warnings));
    bool ok = run_create(&run, path, &meta, err);

    if (ok) {
        struct wr_err later = {0};

        ok = prof_to_run(run, &job, err) && (!how->here || prof_put_clock_error(run, err));
        bool ended = run_finish(run, !ok || how->failed ? RUN_FAILED : RUN_COMPLETE,
                                !ok           ? err->text
                                : how->failed ? how->reason
                                              : NULL,
                                &later);
        if (ok && !ended) {
            *err = later;
            ok = false;
        }
    }
    prof_job_fini(&job);
    return ok;
}
