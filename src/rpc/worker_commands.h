/* worker_commands.h -- commands to a worker as JSON, written and read in one place. */
#ifndef RPC_WORKER_COMMANDS_H
#define RPC_WORKER_COMMANDS_H

#include <jansson.h>

#include "rpc/driver.h"

/* {"do": "open", ...}: be a server, or a client of the server at `address`. */
json_t *rpc_open_json(const struct rpc_opts *o, const char *address);
/* What points at text points into `j`. `ret_address` is NULL for a server. */
bool rpc_open_parse(struct rpc_opts *ret, const char **ret_address, const json_t *j,
                    struct wr_err *err);

/* {"do": "load", ...} */
json_t *rpc_load_json(const struct rpc_load *l);
void rpc_load_parse(struct rpc_load *ret, const json_t *j);

#endif
