/* interfere.h -- the verbs below `weir interfere`. */
#ifndef CLI_INTERFERE_H
#define CLI_INTERFERE_H

#include "cli/cli.h"

extern const struct cli_verb cli_interfere_import;
extern const struct cli_verb cli_interfere_predict;
extern const struct cli_verb cli_interfere_alone;
extern const struct cli_verb cli_interfere_experiment;
extern const struct cli_verb cli_interfere_tables;

#endif
