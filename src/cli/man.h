/* man.h -- a verb's manual page in scdoc, from the same rows as its --help. */
#ifndef CLI_MAN_H
#define CLI_MAN_H

#include "cli/cli.h"

void cli_man_verb(const struct cli_verb *verb, struct wr_str *out);

#endif
