/* files_priv.h -- the nodes of storage, and what of it was counted at the last slice's end. */
#ifndef WORLD_FILES_PRIV_H
#define WORLD_FILES_PRIV_H

#include "world_priv.h"

struct world_files {
    uint32_t *server, nservers; /* nodes, by number */
    uint32_t *io, nio;
    uint32_t *home;   /* [nodes] whose server is which */
    uint32_t *series; /* time series, and what they had counted */
    uint64_t *before;
};

#endif
