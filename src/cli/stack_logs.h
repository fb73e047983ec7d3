/* stack_logs.h -- what the verbs share that read logs of a real file system. */
#ifndef CLI_STACK_LOGS_H
#define CLI_STACK_LOGS_H

#include "cli/stack.h"
#include "stack/calib.h"

struct stack_log_opts {
    const char *fs, *only;
    struct cli_list logs;
    bool partial, shared, switched, noisy;
};

#define STACK_LOG_OPTS(struct_)                                                                  \
    STACK_OPT("fs", CLI_TEXT, struct_, l.fs, "NAME|FILE", "pvfs2",                               \
              "the file system whose logs these are"),                                           \
        STACK_OPT("logs", CLI_LIST, struct_, l.logs, "DIR", NULL,                                \
                  "a directory with the logs of a run, or functions.csv or states.csv made "     \
                  "of some; may be given several times"),                                        \
        STACK_OPT("only", CLI_TEXT, struct_, l.only, "PREFIX", NULL,                             \
                  "of a table, the runs whose names begin so; several prefixes with commas"),    \
        STACK_OPT("partial", CLI_FLAG, struct_, l.partial, NULL, NULL,                           \
                  "pass over lines that are cut off and clocks that jump, and what they touch"), \
        STACK_OPT("noisy", CLI_FLAG, struct_, l.noisy, NULL, NULL,                               \
                  "take runs together even when a byte takes six times as long in one of them"), \
        STACK_OPT("shared", CLI_FLAG, struct_, l.shared, NULL, NULL,                             \
                  "all nodes shared one link, as on a loopback"),                                \
        STACK_OPT(                                                                               \
            "switched", CLI_FLAG, struct_, l.switched, NULL, NULL,                               \
            "every node had a link of its own; with neither, what predicts tests left out better")

/* Which of the two was asked for; fails for both. */
bool cli_stack_see(const struct stack_log_opts *o, enum stack_see *ret, struct wr_err *err);

bool cli_stack_logs(struct stack_log *ret, const struct stack_log_opts *o,
                    const struct stack_fs *fs, struct wr_err *err);

typedef bool cli_stack_work(const struct cli_call *call, struct stack_fs *fs,
                            struct stack_timings *timings, struct wr_err *err);
/* Opens the file system and the timing models, works, and closes them; the exit status. */
int cli_stack_with(const struct cli_call *call, const struct stack_log_opts *o, const char *timings,
                   cli_stack_work *work, struct wr_err *err);

#endif
