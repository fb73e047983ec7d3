/* transport.c -- the table of transports, and looking one up by name. */
#include "rpc/transport.h"

#include <string.h>

#include "base/str.h"
#include "base/units.h"

const struct rpc_transport *const rpc_transports[] = {&rpc_shm, &rpc_tcp, &rpc_fabric, NULL};

const struct rpc_transport *rpc_transport_find(const char *name, struct wr_err *err)
{
    struct wr_str all = {0};

    for (size_t i = 0; rpc_transports[i]; i++)
        if (!strcmp(rpc_transports[i]->name, name))
            return rpc_transports[i];
    for (size_t i = 0; rpc_transports[i]; i++)
        wr_str_addf(&all, "%s%s", i ? ", " : "", rpc_transports[i]->name);
    wr_fail(err, WR_UNKNOWN, "no transport \"%s\"; there is %s", wr_text_clip(name).s,
            wr_str_get(&all));
    wr_str_fini(&all);
    return NULL;
}
