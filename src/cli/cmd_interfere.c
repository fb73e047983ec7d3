/* cmd_interfere.c -- `weir interfere`: who slows whom when jobs share a server. */
#include "cli/cli.h"
#include "cli/interfere.h"

static const struct cli_verb *const subs[] = {&cli_interfere_predict, &cli_interfere_tables, NULL};

const struct cli_verb cli_cmd_interfere = {
    .name = "interfere",
    .summary = "predict how jobs that share a server slow each other",
    .about = "Jobs that write through one file server or one link share what it can carry, in "
             "proportion to their weights. From volumes, starts, weights and caps follows when "
             "each is done.",
    .subs = subs,
};
