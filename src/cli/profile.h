/* profile.h -- what the verbs of `weir profile` share. */
#ifndef CLI_PROFILE_H
#define CLI_PROFILE_H

#include "cli/cli.h"
#include "prof/prof_run_file.h"

extern const struct cli_verb cli_profile_show;

/* The profiles in a directory as a run file (prof/prof_run_file.h); prints the warnings. */
bool profile_write_run(const char *dir, const char *path, const struct prof_run_how *how,
                       struct wr_err *err);

#endif
