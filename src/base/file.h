/* file.h -- a whole file at once. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* The content of a file, followed by a zero byte that is not counted; free() it. A
 * file longer than `most` bytes is refused. */
bool wr_file_read(char **ret, size_t *ret_len, const char *path, size_t most, struct wr_err *err);

#endif
