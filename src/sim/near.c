#include "sim/near.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { BEFORE = 128 }; /* bytes that the memory begins with: whose it is */

struct sim_near {
    struct sim_peers *peers;
    pthread_mutex_t lock; /* of peers, which one thread at a time may use */
    void *map;
    size_t bytes;
    int fd; /* until all have it */
};

/* Where process 0 has it. Where processes have other numbers elsewhere, as in containers, something
 * else may be found there, and does not begin with the mark. */
struct offer {
    uint64_t bytes, mark; /* 0: there is none */
    int64_t pid, fd;
};

static bool map(struct sim_near *n)
{
    void *p = mmap(NULL, n->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, n->fd, 0);

    n->map = p == MAP_FAILED ? NULL : p;
    return n->map;
}

static bool make(struct sim_near *n, struct offer *ret)
{
    struct offer o = {.bytes = n->bytes, .pid = getpid()};

    if (getrandom(&o.mark, sizeof o.mark, 0) != sizeof o.mark || !o.mark)
        return false;
    n->fd = memfd_create("weir", MFD_CLOEXEC);
    if (n->fd < 0 || ftruncate(n->fd, (off_t)n->bytes) || !map(n))
        return false;
    *(uint64_t *)n->map = o.mark;
    o.fd = n->fd;
    *ret = o;
    return true;
}

static bool take(struct sim_near *n, const struct offer *o)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)o->pid, (long long)o->fd);
    n->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    return n->fd >= 0 && !fstat(n->fd, &st) && S_ISREG(st.st_mode) &&
           (uint64_t)st.st_size == o->bytes && map(n) && *(uint64_t *)n->map == o->mark;
}

static bool may_share(const struct sim_peers *p)
{
    return !sim_peers_are_apart(p) && sim_peers_local(p) == sim_peers_size(p);
}

static bool open_everywhere(struct sim_near *n)
{
    struct offer o = {0};
    struct wr_err err;

    if (!sim_peers_rank(n->peers) && may_share(n->peers))
        (void)make(n, &o);
    if (!sim_peers_tell(n->peers, &o, sizeof o, &err) || !o.bytes)
        return false;
    bool ok = n->map || (may_share(n->peers) && take(n, &o)) ||
              wr_fail(&err, WR_SYSTEM, "cannot share memory; nobody does");

    return sim_peers_agree(n->peers, ok, &err);
}

struct sim_near *sim_near_open(struct sim_peers *peers, size_t bytes)
{
    struct sim_near *n = wr_zalloc(1, sizeof *n);

    *n = (struct sim_near){.peers = peers, .bytes = BEFORE + bytes, .fd = -1};
    pthread_mutex_init(&n->lock, NULL);
    bool ok = open_everywhere(n);

    if (n->fd >= 0)
        close(n->fd);
    if (ok)
        return n;
    sim_near_close(n);
    return NULL;
}

void sim_near_close(struct sim_near *n)
{
    if (!n)
        return;
    if (n->map)
        munmap(n->map, n->bytes);
    pthread_mutex_destroy(&n->lock);
    free(n);
}

void *sim_near_memory(struct sim_near *n)
{
    return (char *)n->map + BEFORE;
}

bool sim_near_lost(struct sim_near *n)
{
    bool lost;

    if (pthread_mutex_trylock(&n->lock))
        return false; /* whoever has it sees it */
    while (sim_peers_poll(n->peers))
        ;
    lost = sim_peers_lost(n->peers);
    pthread_mutex_unlock(&n->lock);
    return lost;
}
