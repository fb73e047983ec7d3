/* stack_logs.c -- opens logs, file system and timing models for `weir stack calibrate` and
 * `validate`.
 *
 * Both verbs share the options of STACK_LOG_OPTS. Messages that name an option are made here;
 * stack/log.h does not know the command line.
 */
#include "cli/stack_logs.h"
#include "base/note.h"

#include <inttypes.h>
#include <unistd.h>

bool cli_stack_see(const struct stack_log_opts *o, enum stack_see *ret, struct wr_err *err)
{
    if (o->shared && o->switched)
        return wr_fail(err, WR_INPUT, "--shared and --switched exclude each other; leave one out");
    *ret = o->shared ? STACK_SEE_SHARED : o->switched ? STACK_SEE_SWITCHED : STACK_SEE_ITSELF;
    return true;
}

bool cli_stack_logs(struct stack_log *ret, const struct stack_log_opts *o,
                    const struct stack_fs *fs, struct wr_err *err)
{
    struct stack_log *log = ret;

    *log = (struct stack_log){.fs = fs};
    if (!o->logs.n)
        return wr_fail(err, WR_INPUT, "no logs; give --logs DIR, once for each run");
    for (size_t i = 0; i < o->logs.n; i++)
        if (!stack_log_add(log, o->logs.v[i], o->only, err))
            return false;
    if (!o->noisy && !stack_log_together(log, err))
        return wr_wrap(err, "without --noisy");
    stack_log_drop_duplicates(log);
    if (!log->state.n && !log->io.n)
        return wr_fail(err, WR_INPUT, "no run of %s fits; see --only", o->logs.v[0]);
    if ((log->cut || log->jumps) && !o->partial)
        return wr_fail(err, WR_INPUT, "%s (%" PRIu64 " such lines); --partial leaves them out",
                       log->fault, log->cut + log->jumps);
    if (log->cut || log->jumps)
        wr_note("%" PRIu64 " lines are cut off and the clock jumps %" PRIu64
                " times; what they touch is left out",
                log->cut, log->jumps);
    return true;
}

int cli_stack_with(const struct cli_call *call, const struct stack_log_opts *o, const char *timings,
                   cli_stack_work *work, struct wr_err *err)
{
    struct stack_timings *l = NULL;
    struct stack_fs *fs;

    if (!stack_fs_open(&fs, o->fs, err))
        return cli_error(err);
    bool ok = stack_timings_open(&l, fs, timings, err) && work(call, fs, l, err);

    stack_timings_close(l);
    stack_fs_close(fs);
    return ok ? 0 : cli_error(err);
}
