/* permfile.h -- a permutation as text: the destination of each source.
 *
 *   # source destination
 *   0 5
 *   5 0        # the rest of a line after # is a remark
 *
 * A source is named at most once; one that is not named stays silent. Unless
 * `many` is set, a destination is named at most once, too.
 */
#ifndef LOAD_SYNTH_PERMFILE_H
#define LOAD_SYNTH_PERMFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* On success *ret is an array of `nnodes` destinations, SYNTH_SKIP for the
 * silent; free() it. `name` stands for the file in messages. */
bool synth_permfile_parse(uint32_t **ret, const char *name, const char *text, size_t len,
                          uint32_t nnodes, bool many, struct wr_err *err);

bool synth_permfile_read(uint32_t **ret, const char *path, uint32_t nnodes, bool many,
                         struct wr_err *err);

#endif
