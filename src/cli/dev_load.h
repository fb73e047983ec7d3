/* dev_load.h -- a device by name: one that weir brings along, a model, or a file. */
#ifndef CLI_DEV_LOAD_H
#define CLI_DEV_LOAD_H

#include <stdio.h>

#include "store/dev/dev_drive.h"

/* A name with a slash or a dot is a file's; others are looked up first. */
bool dev_load_set(struct conf **ret, struct dev_set *into, const char *name,
                  const char *const *sets, size_t nsets, struct wr_err *err);

/* The names, one per line. */
void dev_load_names(FILE *out);

#endif
