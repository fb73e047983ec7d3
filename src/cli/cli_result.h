/* cli_result.h -- `-o FILE` of every verb that prints a result: the format by the ending.
 *
 * A verb that has --json and no output of its own gets -o and --force. Its result goes to the file:
 * as text (.txt), as --json or --csv would print it, or as the page or the figure that its --html
 * or
 * --svg would write.
 */
#ifndef CLI_CLI_RESULT_H
#define CLI_CLI_RESULT_H

#include "cli/cli.h"

/* All rows of the verb: its own and those that follow from them. Memory is the arena's. */
const struct cli_opt *cli_result_rows(const struct cli_verb *verb, struct wr_arena *arena);
/* Bytes of the struct that these rows fill; the verb's own comes first in it. */
size_t cli_result_size(const struct cli_verb *verb);

struct cli_result {
    const char *path; /* NULL: the result is printed */
    const struct wr_format *format;
    bool force;
    FILE *out; /* where the verb prints */
    char *text;
    size_t n;
};

/* Sets the verb's own options as the ending of -o wants it. */
bool cli_result_begin(struct cli_result *ret, const struct cli_verb *verb, void *opts, FILE *out,
                      struct wr_err *err);
/* Writes the file unless the verb failed. */
bool cli_result_end(struct cli_result *r, bool failed, struct wr_err *err);

#endif
