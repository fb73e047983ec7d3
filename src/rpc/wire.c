#include "rpc/wire.h"

const char *const rpc_op_names[] = {"noop", "get", "put", "sread", "swrite", NULL};
const char *const rpc_drop_names[] = {"taken", "short", "magic",  "version",
                                      "token", "kind",  "length", "stranger"};
