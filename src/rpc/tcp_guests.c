#include "rpc/tcp_guests.h"

#include <dirent.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- descriptors ---- */

static uint32_t guests_open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    uint32_t n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

uint32_t rpc_guests_init(struct rpc_guests *g, uint32_t peers)
{
    enum { OTHERS = 16, LEAST = 8 }; /* files that the process opens later */
    struct rlimit limit;
    uint64_t may = getrlimit(RLIMIT_NOFILE, &limit) ? 1024 : limit.rlim_cur;
    uint64_t used = guests_open_files() + OTHERS, left = may > used + LEAST ? may - used : LEAST;

    g->n = 0;
    g->most = left / 4 < RPC_GUESTS ? (uint32_t)(left / 4) : RPC_GUESTS;
    for (uint32_t i = 0; i < RPC_GUESTS; i++)
        g->guest[i].fd = -1;
    return peers < left - g->most ? peers : (uint32_t)(left - g->most);
}

void rpc_guests_fini(struct rpc_guests *g)
{
    for (uint32_t i = 0; i < RPC_GUESTS; i++)
        if (g->guest[i].fd >= 0)
            rpc_guests_drop(g, i);
}

/* ---- come and go ---- */

int rpc_guests_take(struct rpc_guests *g, uint32_t k)
{
    int fd = g->guest[k].fd;

    g->guest[k].fd = -1;
    g->n--;
    return fd;
}

void rpc_guests_drop(struct rpc_guests *g, uint32_t k)
{
    close(rpc_guests_take(g, k));
}

/* Of an address, or with NULL of all. UINT32_MAX: there are fewer than `least`. */
static uint32_t guests_oldest(const struct rpc_guests *g, const uint32_t *address, uint32_t least)
{
    uint32_t oldest = UINT32_MAX, n = 0;

    for (uint32_t i = 0; i < RPC_GUESTS; i++) {
        const struct rpc_guest *k = &g->guest[i];

        if (k->fd < 0 || (address && k->address != *address))
            continue;
        n++;
        if (oldest == UINT32_MAX || k->since_ns < g->guest[oldest].since_ns)
            oldest = i;
    }
    return n < least ? UINT32_MAX : oldest;
}

bool rpc_guests_drop_oldest(struct rpc_guests *g)
{
    uint32_t k = guests_oldest(g, NULL, 1);

    if (k == UINT32_MAX)
        return false;
    rpc_guests_drop(g, k);
    return true;
}

uint32_t rpc_guests_add(struct rpc_guests *g, int fd, uint32_t address, uint64_t now_ns)
{
    uint32_t k = guests_oldest(g, &address, RPC_GUESTS_FROM);

    if (k == UINT32_MAX && g->n == g->most)
        k = guests_oldest(g, NULL, 1);
    if (k != UINT32_MAX)
        rpc_guests_drop(g, k);
    else
        for (k = 0; g->guest[k].fd >= 0;)
            k++;
    if (!g->n)
        g->oldest_ns = now_ns;
    g->n++;
    g->guest[k].fd = fd;
    g->guest[k].address = address;
    g->guest[k].n = 0;
    g->guest[k].since_ns = now_ns;
    return k;
}

bool rpc_guests_hear(struct rpc_guests *g, uint32_t k)
{
    struct rpc_guest *guest = &g->guest[k];
    ssize_t n = recv(guest->fd, guest->bytes + guest->n, RPC_GUEST_B - guest->n, MSG_DONTWAIT);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    guest->n += (uint32_t)n;
    return n > 0;
}

uint64_t rpc_guests_expire(struct rpc_guests *g, uint64_t now_ns)
{
    if (!g->n)
        return UINT64_MAX;
    if (now_ns - g->oldest_ns < RPC_GUEST_NS)
        return RPC_GUEST_NS - (now_ns - g->oldest_ns);
    g->oldest_ns = now_ns;
    for (uint32_t i = 0; i < RPC_GUESTS; i++) {
        if (g->guest[i].fd < 0)
            continue;
        if (now_ns - g->guest[i].since_ns >= RPC_GUEST_NS)
            rpc_guests_drop(g, i);
        else if (g->guest[i].since_ns < g->oldest_ns)
            g->oldest_ns = g->guest[i].since_ns;
    }
    return g->n ? RPC_GUEST_NS - (now_ns - g->oldest_ns) : UINT64_MAX;
}
