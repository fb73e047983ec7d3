/* cmd_import.h -- the verbs below `weir import`, one per format of other tools. */
#ifndef CLI_CMD_IMPORT_H
#define CLI_CMD_IMPORT_H

#include "cli/cli.h"

extern const struct cli_verb cli_import_darshan;

#endif
