/* cmd_study.h -- the verbs of `weir study`. */
#ifndef CLI_CMD_STUDY_H
#define CLI_CMD_STUDY_H

#include "cli/cli.h"

extern const struct cli_verb cli_study_run, cli_study_list, cli_study_show;

#endif
