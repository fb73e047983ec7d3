/* cmd_roofline.c -- `weir roofline`: what rate a data service can reach. */
#include "cli/cmd_roofline.h"
#include "cli/cli.h"

static const struct cli_verb *const subs[] = {&cli_roofline_collect, &cli_roofline_model,
                                              &cli_roofline_nics,    &cli_roofline_polling,
                                              &cli_roofline_serve,   NULL};

const struct cli_verb cli_cmd_roofline = {
    .name = "roofline",
    .summary = "predict and measure rates of servers and clients of a service",
    .about = "A service of user-level servers is bound by its clients or by its servers. From what "
             "one client and one server reach alone follows what any number of both reach "
             "together, how many servers a job needs, and how far a measured rate is from that.",
    .subs = subs,
};
