/* unpack.h -- text that was compressed, plain. */
#ifndef BASE_UNPACK_H
#define BASE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Takes the next bytes of the plain text; false, with an error, ends it. */
typedef bool wr_unpack_put(void *ctx, const char *bytes, size_t n, struct wr_err *err);

/* gzip or zstd, as the first bytes say? */
bool wr_unpack_knows(const char *bytes, size_t n);

/* `name` stands before what is wrong with it. */
bool wr_unpack(const char *name, const char *bytes, size_t n, wr_unpack_put *put, void *ctx,
               struct wr_err *err);

/* The same for parts of a binary format that says how they are compressed: streams of zlib (RFC
 * 1950) or of bzip2, one after another. No bytes at all are an error. */
bool wr_unpack_zlib(const char *name, const char *bytes, size_t n, wr_unpack_put *put, void *ctx,
                    struct wr_err *err);
bool wr_unpack_bzip2(const char *name, const char *bytes, size_t n, wr_unpack_put *put, void *ctx,
                     struct wr_err *err);

#endif
