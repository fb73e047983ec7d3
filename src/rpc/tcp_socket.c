/* tcp_socket.c -- sockets for RPCs: addresses, listening, connecting, options.
 *
 * No state. Within a node pacing is switched off, since there is no network to share.
 */
#include "rpc/tcp_socket.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { GONE_MS = 30000 }; /* what is not confirmed for so long went to a dead node */
enum { WAITING = 4096 };  /* backlog of listen(); the kernel has a limit of its own */

static bool socket_parse_address(struct sockaddr_in *ret, const char *text, struct wr_err *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    char node[64];
    unsigned port = 0;
    int n = sscanf(text, "%63[0-9.]:%5u", node, &port);

    if (n < 1 || port > 65535 || inet_pton(AF_INET, node, &at.sin_addr) != 1 ||
        at.sin_addr.s_addr == htonl(INADDR_ANY))
        return wr_fail(err, WR_INPUT,
                       "\"%.60s\" is no address of an interface; give one as 10.0.0.7 or "
                       "10.0.0.7:5000",
                       text);
    at.sin_port = htons((uint16_t)port);
    *ret = at;
    return true;
}

/* ---- pacing ---- */

/* Between processes of one node there is no network to share with others: what paces packets, as
 * BBR does, only costs time there. A socket that was connected with it is paced ever after, even
 * under another; so it is set before, where that is possible. */
static void socket_disable_pacing(int fd)
{
    static const char plain[] = "reno";

    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, plain, sizeof plain - 1);
}

static bool socket_is_loopback(const struct sockaddr_in *at)
{
    return ntohl(at->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

bool rpc_socket_stays(int fd)
{
    struct sockaddr_in near = {.sin_port = 0}, far = {.sin_port = 0};
    socklen_t near_len = sizeof near, far_len = sizeof far;

    return !getsockname(fd, (struct sockaddr *)&near, &near_len) &&
           !getpeername(fd, (struct sockaddr *)&far, &far_len) &&
           near.sin_addr.s_addr == far.sin_addr.s_addr;
}

int rpc_socket_cpu(int fd)
{
    int cpu = -1;
    socklen_t len = sizeof cpu;

    return getsockopt(fd, SOL_SOCKET, SO_INCOMING_CPU, &cpu, &len) ? -1 : cpu;
}

void rpc_socket_settle(int fd)
{
    assert(fd >= 0);
    unsigned gone_ms = GONE_MS;
    int on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &gone_ms, sizeof gone_ms);
    if (rpc_socket_stays(fd))
        socket_disable_pacing(fd);
}

/* ---- servers ---- */

bool rpc_socket_listen(int *ret, const char *at, struct wr_err *err)
{
    const char *bind_to = at && *at ? at : "127.0.0.1";
    struct sockaddr_in where;
    int on = 1;

    if (!socket_parse_address(&where, bind_to, err))
        return false;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && where.sin_port)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd >= 0 && socket_is_loopback(&where))
        socket_disable_pacing(fd);
    if (fd < 0 || bind(fd, (struct sockaddr *)&where, sizeof where) || listen(fd, WAITING)) {
        wr_fail_errno(err, "cannot listen at %s; give another address or port with bind", bind_to);
        if (fd >= 0)
            close(fd);
        return false;
    }
    *ret = fd;
    return true;
}

int rpc_socket_accept(int listener, uint32_t *ret_address)
{
    struct sockaddr_in from = {.sin_port = 0};
    socklen_t len = sizeof from;
    int fd = accept4(listener, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return fd;
    *ret_address = from.sin_addr.s_addr;
    return fd;
}

void rpc_socket_name(int fd, char into[RPC_SOCKET_NAME])
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t len = sizeof at;
    char node[INET_ADDRSTRLEN] = "";

    getsockname(fd, (struct sockaddr *)&at, &len);
    inet_ntop(AF_INET, &at.sin_addr, node, sizeof node);
    snprintf(into, RPC_SOCKET_NAME, "%s:%u", node, ntohs(at.sin_port));
}

/* ---- clients ---- */

/* From the interface that was chosen, whatever port. */
static bool socket_bind_source(int fd, const char *from, struct wr_err *err)
{
    struct sockaddr_in at;

    if (!from || !*from)
        return true;
    if (!socket_parse_address(&at, from, err))
        return false;
    at.sin_port = 0;
    if (bind(fd, (struct sockaddr *)&at, sizeof at))
        return wr_fail_errno(err, "cannot use the interface at %s; give another with bind", from);
    return true;
}

bool rpc_socket_connect(int *ret, const char *to, const char *from, uint32_t block_us,
                        struct wr_err *err)
{
    struct timeval block = {.tv_usec = block_us};
    struct sockaddr_in at;

    if (!socket_parse_address(&at, to, err))
        return false;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return wr_fail_errno(err, "no socket; close some files");
    if (socket_is_loopback(&at))
        socket_disable_pacing(fd);
    bool ok = socket_bind_source(fd, from, err);

    if (ok && connect(fd, (struct sockaddr *)&at, sizeof at))
        ok = wr_fail_errno(err, "no server is at %.60s; start it first", to);
    if (!ok) {
        close(fd);
        return false;
    }
    rpc_socket_settle(fd);
    if (block_us)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &block, sizeof block);
    *ret = fd;
    return true;
}
