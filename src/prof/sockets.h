/* sockets.h -- which connections count as storage, as a user names them and as the library
 * compares.
 */
#ifndef PROF_SOCKETS_H
#define PROF_SOCKETS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

/* "2049,fileserver,10.0.0.7:9000,[fe80::1]:9000,/run/path.sock": names become their addresses. */
bool prof_sockets(struct wr_str *ret, const char *list, struct wr_err *err);

#endif
