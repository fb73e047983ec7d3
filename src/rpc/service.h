/* service.h -- a measured service as a file that simulations read: `storage: {service: FILE}`.
 *
 * From the peaks C and S of a collection (peak.h): a request occupies a server for 1 / S, and a
 * lone call takes 1 / C, of which 1 / C - 1 / S passes at the client and on the way. Of bytes
 * likewise.
 */
#ifndef RPC_SERVICE_H
#define RPC_SERVICE_H

#include "base/output.h"
#include "rpc/collect.h"

extern const struct wr_format rpc_service_format;

/* Fails where calls were not measured both of a lone client and of saturated servers. */
bool rpc_service_text(struct wr_str *out, const struct rpc_collected *c, const struct rpc_spec *s,
                      struct wr_err *err);

#endif
