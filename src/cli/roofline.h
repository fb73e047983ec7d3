/* roofline.h -- the verbs below `weir roofline`. */
#ifndef CLI_ROOFLINE_H
#define CLI_ROOFLINE_H

#include "cli/cli.h"

extern const struct cli_verb cli_roofline_model;
extern const struct cli_verb cli_roofline_nics;
extern const struct cli_verb cli_roofline_collect;

#endif
