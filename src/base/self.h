/* self.h -- where this program is, and where the files are that were built or installed with it.
 *
 *              build tree           installed
 *   program    BUILD/weir           PREFIX/bin/weir
 *   libraries  BUILD/lib/           PREFIX/LIBDIR/weir/
 *   data       BUILD/share/weir/    PREFIX/share/weir/
 *
 * All are found relative to the program's own file, so that a tree may be moved.
 */
#ifndef BASE_SELF_H
#define BASE_SELF_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

enum { WR_SELF_PATH = 4096 };

/* The program's own file. */
bool wr_self_path(char ret[WR_SELF_PATH], struct wr_err *err);
/* A shared object that the program loads or preloads. False: there is none of that name. */
bool wr_self_find_library(struct wr_str *ret, const char *leaf);
/* A data file that came with the program, by its name in share/weir/ or share/weir/examples/.
 * False, with `ret` untouched: there is none, or the name is absolute or leads upwards. */
bool wr_self_find_data(struct wr_str *ret, const char *name);
/* The same for a file, not a directory: "state" is a device, and examples/state a directory. */
bool wr_self_find_file(struct wr_str *ret, const char *name);
/* The program's folder, for messages. */
void wr_self_folder(struct wr_str *ret);

#endif
