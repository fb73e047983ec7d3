/* tcp_pending.c -- connections that have not sent a handshake with the token yet.
 *
 * See tcp_pending.h for the limits. Invariant: n entries have fd >= 0, and n <= most.
 */
#include "rpc/tcp_pending.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- descriptors ---- */

static uint32_t pending_open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    uint32_t n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

uint32_t rpc_pending_init(struct rpc_pending *g, uint32_t peers)
{
    enum { OTHERS = 16, LEAST = 8 }; /* files that the process opens later */
    struct rlimit limit;
    uint64_t may = getrlimit(RLIMIT_NOFILE, &limit) ? 1024 : limit.rlim_cur;
    uint64_t used = pending_open_files() + OTHERS, left = may > used + LEAST ? may - used : LEAST;

    g->n = 0;
    g->most = left / 4 < RPC_PENDING ? (uint32_t)(left / 4) : RPC_PENDING;
    for (uint32_t i = 0; i < RPC_PENDING; i++)
        g->entry[i].fd = -1;
    return peers < left - g->most ? peers : (uint32_t)(left - g->most);
}

void rpc_pending_fini(struct rpc_pending *g)
{
    for (uint32_t i = 0; i < RPC_PENDING; i++)
        if (g->entry[i].fd >= 0)
            rpc_pending_drop(g, i);
}

/* ---- come and go ---- */

int rpc_pending_take(struct rpc_pending *g, uint32_t k)
{
    int fd = g->entry[k].fd;

    assert(fd >= 0 && g->n);
    g->entry[k].fd = -1;
    g->n--;
    return fd;
}

void rpc_pending_drop(struct rpc_pending *g, uint32_t k)
{
    close(rpc_pending_take(g, k));
}

/* Of an address, or with NULL of all. UINT32_MAX: there are fewer than `least`. */
static uint32_t pending_oldest(const struct rpc_pending *g, const uint32_t *address, uint32_t least)
{
    uint32_t oldest = UINT32_MAX, n = 0;

    for (uint32_t i = 0; i < RPC_PENDING; i++) {
        const struct rpc_pending_entry *k = &g->entry[i];

        if (k->fd < 0 || (address && k->address != *address))
            continue;
        n++;
        if (oldest == UINT32_MAX || k->since_ns < g->entry[oldest].since_ns)
            oldest = i;
    }
    return n < least ? UINT32_MAX : oldest;
}

bool rpc_pending_drop_oldest(struct rpc_pending *g)
{
    uint32_t k = pending_oldest(g, NULL, 1);

    if (k == UINT32_MAX)
        return false;
    rpc_pending_drop(g, k);
    return true;
}

uint32_t rpc_pending_add(struct rpc_pending *g, int fd, uint32_t address, uint64_t now_ns)
{
    uint32_t k = pending_oldest(g, &address, RPC_PENDING_FROM);

    assert(fd >= 0 && g->n <= g->most);
    if (k == UINT32_MAX && g->n == g->most)
        k = pending_oldest(g, NULL, 1);
    if (k != UINT32_MAX)
        rpc_pending_drop(g, k);
    else
        for (k = 0; g->entry[k].fd >= 0;)
            k++;
    if (!g->n)
        g->oldest_ns = now_ns;
    g->n++;
    g->entry[k].fd = fd;
    g->entry[k].address = address;
    g->entry[k].n = 0;
    g->entry[k].since_ns = now_ns;
    return k;
}

bool rpc_pending_read(struct rpc_pending *g, uint32_t k)
{
    struct rpc_pending_entry *entry = &g->entry[k];

    assert(entry->fd >= 0 && entry->n <= RPC_PENDING_B);
    ssize_t n = recv(entry->fd, entry->bytes + entry->n, RPC_PENDING_B - entry->n, MSG_DONTWAIT);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    entry->n += (uint32_t)n;
    return n > 0;
}

uint64_t rpc_pending_expire(struct rpc_pending *g, uint64_t now_ns)
{
    if (!g->n)
        return UINT64_MAX;
    if (now_ns - g->oldest_ns < RPC_PENDING_NS)
        return RPC_PENDING_NS - (now_ns - g->oldest_ns);
    g->oldest_ns = now_ns;
    for (uint32_t i = 0; i < RPC_PENDING; i++) {
        if (g->entry[i].fd < 0)
            continue;
        if (now_ns - g->entry[i].since_ns >= RPC_PENDING_NS)
            rpc_pending_drop(g, i);
        else if (g->entry[i].since_ns < g->oldest_ns)
            g->oldest_ns = g->entry[i].since_ns;
    }
    return g->n ? RPC_PENDING_NS - (now_ns - g->oldest_ns) : UINT64_MAX;
}
