/* cli.h -- `weir VERB ...`: one row per verb, one file cmd_<verb>.c each. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/err.h"

struct cli_verb {
    const char *name;
    const char *summary; /* one line for `weir help` */
    const char *usage;   /* the text of `weir VERB --help`, ends with a newline */
    /* argv[0] is the verb. Returns the exit status; on an error fills `err`
     * and returns wr_exit_status(err->code). */
    int (*main)(int argc, char **argv, struct wr_err *err);
};

extern const struct cli_verb cli_verbs[]; /* ends with .name == NULL */

int cli_main(int argc, char **argv);

#endif
