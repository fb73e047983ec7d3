/* Any bytes over a socket to a server, and to a client: served, dropped, or disconnected; memory
 * that was not offered stays as it was, and who comes next is served. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc/rpc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { TOKEN = 5, BULK = 4096, STEPS = 6 };

static void on_msg(void *ctx, uint32_t peer, const void *bytes, size_t len)
{
    uint8_t sum = 0;

    (void)peer;
    for (size_t i = 0; i < len; i++) /* every byte must be readable */
        sum = (uint8_t)(sum + ((const uint8_t *)bytes)[i]);
    *(uint64_t *)ctx += 1 + (sum & 0);
}

static void on_bulk(void *ctx, uint64_t cookie, bool ok)
{
    (void)ctx;
    (void)cookie;
    (void)ok;
}

static struct sockaddr_in at_port(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static void pour(int fd, const uint8_t *data, size_t len)
{
    if (send(fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return;
}

/* One server for all inputs: whatever came before, it must still serve. */
static void to_server(const uint8_t *data, size_t len)
{
    static struct rpc_server *s;
    static char address[RPC_ADDRESS];
    struct rpc_opts o = {.transport = &rpc_tcp,
                         .token = {{TOKEN, 0}},
                         .wait = RPC_BLOCK,
                         .bulk_b = BULK,
                         .peers = 2};
    struct wr_err err;
    unsigned port = 0;

    if (!s) {
        if (!rpc_server_open(&s, &o, &err))
            abort();
        rpc_server_address(s, address);
    }
    sscanf(address, "tcp:127.0.0.1:%u", &port);
    struct sockaddr_in at = at_port((uint16_t)port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at)) {
        perror("fuzz_rpc_tcp: connect"); /* whether the server or the machine refuses */
        abort();
    }
    rpc_server_step(s, 0);
    pour(fd, data, len);
    for (int i = 0; i < STEPS; i++)
        rpc_server_step(s, 0);
    struct linger now = {.l_onoff = 1};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now); /* no port stays behind */
    close(fd);
    rpc_server_step(s, 0);
}

static void to_client(const uint8_t *data, size_t len)
{
    struct rpc_ep_opts o = {.depth = 1, .peers = 1, .bulk_b = BULK};
    struct sockaddr_in at = at_port(0);
    socklen_t size = sizeof at;
    static int door = -1;
    uint64_t heard = 0;
    struct rpc_ep *ep;
    struct wr_err err;
    char address[64];

    if (door < 0) {
        door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (door < 0 || bind(door, (struct sockaddr *)&at, sizeof at) || listen(door, 1))
            abort();
    }
    getsockname(door, (struct sockaddr *)&at, &size);
    snprintf(address, sizeof address, "tcp:127.0.0.1:%u", ntohs(at.sin_port));
    if (!rpc_tcp.open(&ep, &o, &err))
        abort();
    ep->ctx = &heard;
    ep->on_msg = on_msg;
    ep->on_bulk = on_bulk;
    if (!rpc_tcp.connect(ep, address, &err))
        abort();
    int fd = accept(door, NULL, NULL);

    pour(fd, data, len);
    for (int i = 0; i < STEPS; i++) /* what comes is taken by looking and by waiting */
        if (i % 2)
            rpc_tcp.wait(ep, 0);
        else
            rpc_tcp.progress(ep);
    for (size_t i = 0; i < BULK; i++) /* no client has its key */
        if (ep->bulk[i])
            abort();
    struct linger now = {.l_onoff = 1};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
    rpc_tcp.close(ep);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (!len)
        return 0;
    if (*data & 1)
        to_client(data + 1, len - 1);
    else
        to_server(data + 1, len - 1);
    return 0;
}
