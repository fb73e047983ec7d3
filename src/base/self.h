/* self.h -- where this program and what belongs to it is. */
#ifndef BASE_SELF_H
#define BASE_SELF_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

enum { WR_SELF_PATH = 4096 };

/* The program's own file. */
bool wr_self_path(char ret[WR_SELF_PATH], struct wr_err *err);
/* A shared object that was built or installed with the program: beside it, or in the lib folder
 * next to it. False: there is none of that name. */
bool wr_self_find_library(struct wr_str *ret, const char *leaf);
/* The program's folder, for messages. */
void wr_self_folder(struct wr_str *ret);

#endif
