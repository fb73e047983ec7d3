/* topo_file.h -- a machine described by a text list of routers, nodes and links.
 *
 *     class optical                     # declares a link class
 *     router sw0 group rack1            # a router, and what it is grouped with
 *     node n0 sw0                       # a terminal
 *     link sw0 sw1 class optical x4     # four cables of that class
 *
 * The format is described in docs/formats/topology-file.md.
 */
#ifndef NET_TOPO_TOPO_FILE_H
#define NET_TOPO_TOPO_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "net/topo/topo.h"

extern const struct topo_ops topo_file;

struct topo_file_params {
    const char *path;
};

/* Builds from text; `name` stands for the file in messages. Takes `text`, which
 * must come from malloc, also on failure; t->ops must be &topo_file. */
bool topo_file_build(struct topo *t, const char *name, char *text, size_t len, struct wr_err *err);

/* The text a topology of this kind was built from, so that it can be stored
 * with a run. NULL for other kinds. */
const char *topo_file_text(const struct topo *t, size_t *ret_len);

#endif
