/* lang.h -- the verbs below `weir lang` that live in files of their own. */
#ifndef CLI_LANG_H
#define CLI_LANG_H

#include "cli/cli.h"

extern const struct cli_verb cli_lang_goal, cli_lang_ior;

#endif
