/* Any bytes as a set of nodes and as a map file: nodes of the machine, or one clear error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "rank/place/place.h"
#include "rank/place/place_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { NODES = 24, RANKS = 5 };

static void try_set(const uint8_t *data, size_t len)
{
    uint32_t router[NODES], group[NODES];
    int32_t owner[NODES];
    struct place p = {.nnodes = NODES,
                      .nrouters = NODES / 2,
                      .ngroups = 3,
                      .rails = 1,
                      .router = router,
                      .group = group,
                      .owner = owner,
                      .nfree = NODES};
    char *text = wr_alloc(len + 1);
    struct wr_err err = {0};

    for (uint32_t i = 0; i < NODES; i++) {
        router[i] = i / 2;
        group[i] = i / 8;
        owner[i] = PLACE_FREE;
    }
    memcpy(text, data, len);
    text[len] = 0;
    if (!place_exclude(&p, text, &err) && (err.code != WR_INPUT || p.nexcluded))
        abort();
    if (p.nfree + p.nexcluded != NODES)
        abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char *const where[] = {"a=b"};

    try_set(data, len);
    for (size_t nwhere = 0; nwhere < 2; nwhere++) {
        struct place_file f = {
            .ranks = RANKS, .nnodes = NODES, .rails = 2, .where = where, .nwhere = nwhere};
        uint32_t node[RANKS], line[RANKS];
        struct wr_err err = {0};

        if (!place_file_parse(&f, "fuzz", (const char *)data, len, node, line, &err)) {
            if (err.code != WR_INPUT)
                abort();
            continue;
        }
        for (int r = 0; r < RANKS; r++)
            if (node[r] >= NODES || !line[r])
                abort();
    }
    return 0;
}
