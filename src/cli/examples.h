/* examples.h -- the examples that came with the program, by name. */
#ifndef CLI_EXAMPLES_H
#define CLI_EXAMPLES_H

#include "base/err.h"
#include "base/mem.h"
#include "cli/text.h"

/* Every configuration below share/weir/examples, sorted: its name as `weir run` takes it, and the
 * first sentence of its opening comment. Memory is the arena's. */
bool cli_examples(struct cli_pair **ret, size_t *ret_n, struct wr_arena *arena, struct wr_err *err);

#endif
