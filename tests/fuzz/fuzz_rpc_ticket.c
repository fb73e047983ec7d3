/* Any bytes as a server's ticket: one that can be written again, or one clear error. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/ticket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct rpc_ticket t;
    struct wr_err err = {0};

    memset(&t, 0x5a, sizeof t);
    if (!rpc_ticket_parse(&t, "fuzz", (const char *)data, len, &err)) {
        if (err.code != WR_INPUT || strncmp(err.text, "fuzz:", 5) != 0)
            abort();
        if (t.version[0] != 0x5a) /* untouched */
            abort();
        return 0;
    }
    if (!memchr(t.address, 0, sizeof t.address) || !memchr(t.provider, 0, sizeof t.provider))
        abort();
    return 0;
}
