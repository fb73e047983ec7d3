/* rpc_wire.c -- names of operations and of reasons for dropping a message; see rpc_wire.h. */
#include "rpc/rpc_wire.h"

const char *const rpc_op_names[] = {"noop", "get", "put", "sread", "swrite", NULL};
const char *const rpc_drop_names[] = {"taken", "short", "magic",  "version",
                                      "token", "kind",  "length", "unexpected"};
