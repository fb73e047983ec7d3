/* place_file.h -- reads a file that maps ranks to nodes: plain numbers, or CSV. */
#ifndef RANK_PLACE_PLACE_FILE_H
#define RANK_PLACE_PLACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct place_file {
    uint32_t ranks;  /* the job's */
    uint32_t nnodes; /* nodes are 0..nnodes-1 */
    uint32_t rails;  /* a terminal t of a CSV file belongs to node t / rails */
    /* CSV: "column=value" pairs that a line must match to count. */
    const char *const *where;
    size_t nwhere;
};

/* Either one node per line (more with blanks between) in the order of ranks, # begins a
 * remark; or CSV whose first line names a column `rank` and a column `node`,
 * `node_id`, `terminal` or `terminal_id`. Fills node[ranks]; every rank must
 * have a node. `line[rank]` is where in the text. */
bool place_file_parse(const struct place_file *f, const char *name, const char *text, size_t len,
                      uint32_t *node, uint32_t *line, struct wr_err *err);

#endif
