/* Any bytes as a permutation file: valid destinations, or one clear error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "load/synth/permfile.h"
#include "load/synth/synth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    enum { NODES = 16 };

    for (int many = 0; many < 2; many++) {
        struct wr_err err = {0};
        uint32_t *to = NULL, seen = 0;

        if (!synth_permfile_parse(&to, "fuzz", (const char *)data, len, NODES, many, &err)) {
            if (to || err.code != WR_INPUT || strncmp(err.text, "fuzz:", 5) != 0)
                abort();
            continue;
        }
        for (uint32_t i = 0; i < NODES; i++) {
            if (to[i] == SYNTH_SKIP)
                continue;
            if (to[i] >= NODES || (!many && (seen >> to[i] & 1)))
                abort();
            seen |= 1u << to[i];
        }
        free(to);
    }
    return 0;
}
