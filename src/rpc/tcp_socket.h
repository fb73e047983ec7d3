/* tcp_socket.h -- sockets as RPCs want them: without delay, and within a node without pacing. */
#ifndef RPC_TCP_SOCKET_H
#define RPC_TCP_SOCKET_H

#include <stdint.h>

#include "base/err.h"

enum { RPC_SOCKET_NAME = 32 };

/* Addresses are ADDRESS or ADDRESS:PORT, in numbers. */
bool rpc_socket_listen(int *ret, const char *at, struct wr_err *err); /* NULL or "": loopback */
/* Below 0: no connection is waiting, or errno says what failed. */
int rpc_socket_accept(int listener, uint32_t *ret_address);
void rpc_socket_settle(int fd); /* of one that was accepted, once it is known to be wanted */
bool rpc_socket_stays(int fd);  /* is the other end of this node? */
int rpc_socket_cpu(int fd);     /* the processor that took in what came last; -1: not known */
void rpc_socket_name(int fd, char into[RPC_SOCKET_NAME]);
/* From an interface, unless `from` is NULL or "". It sleeps in recv() for so long, 0: for ever. */
bool rpc_socket_connect(int *ret, const char *to, const char *from, uint32_t block_us,
                        struct wr_err *err);

#endif
