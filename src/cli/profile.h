/* profile.h -- what the verbs of `weir profile` share. */
#ifndef CLI_PROFILE_H
#define CLI_PROFILE_H

#include "cli/cli.h"

extern const struct cli_verb cli_profile_show;

struct profile_made {
    const char *command; /* the command line; NULL: not known */
    bool force, failed;  /* failed: the run ends as failed, with this reason */
    const char *reason;
    bool here; /* the job ran on this machine, just now */
};

/* The profiles in a directory as a run file; warnings go to standard error. */
bool profile_to_run(const char *dir, const char *path, const struct profile_made *made,
                    struct wr_err *err);

#endif
