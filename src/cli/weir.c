/* weir.c -- the table of verbs and the way into it. */
#include <stddef.h>

#include "cli/cli.h"

const struct cli_verb cli_verbs[] = {{.name = NULL}};

int cli_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 0;
}
