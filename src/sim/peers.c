#include "sim/peers.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum kind { GATHER, TELL };
enum {
    SPINS = 1 << 8,  /* looks before a waiting process naps ... */
    NAP_NS = 100000, /* ... for so long */
};

/* A message that came before somebody waited for it. */
struct kept {
    struct kept *next;
    uint32_t from;
    size_t bytes;
    unsigned char data[];
};

struct sim_peers {
    struct sim_link *link;
    struct kept *first, **last;
    sim_peers_far *far;
    void *far_ctx;
    bool apart;
};

void sim_peers_open(struct sim_peers **ret, struct sim_link *link)
{
    struct sim_peers *p = wr_zalloc(1, sizeof *p);

    p->link = link;
    p->last = &p->first;
    *ret = p;
}

int sim_peers_close(struct sim_peers *p, bool well)
{
    if (!p)
        return 0;
    int status = p->link->ops->close(p->link, well);

    while (p->first) {
        struct kept *k = p->first;

        p->first = k->next;
        free(k);
    }
    free(p);
    return status;
}

uint32_t sim_peers_rank(const struct sim_peers *p)
{
    return p->link->rank;
}

uint32_t sim_peers_size(const struct sim_peers *p)
{
    return p->link->size;
}

uint32_t sim_peers_local(const struct sim_peers *p)
{
    return p->link->local;
}

const char *sim_peers_transport(const struct sim_peers *p)
{
    return p->link->ops->name;
}

void sim_peers_keep_apart(struct sim_peers *p)
{
    p->apart = true;
}

bool sim_peers_are_apart(const struct sim_peers *p)
{
    return p->apart;
}

const char *sim_peers_lost(const struct sim_peers *p)
{
    return p->link->lost[0] ? p->link->lost : NULL;
}

void sim_peers_listen(struct sim_peers *p, sim_peers_far *fn, void *ctx)
{
    p->far = fn;
    p->far_ctx = ctx;
}

void sim_peers_post(struct sim_peers *p, uint32_t to, const void *data, size_t bytes)
{
    p->link->ops->post(p->link, to, data, bytes);
}

void sim_peers_nap(struct sim_peers *p, uint64_t ns)
{
    p->link->ops->nap(p->link, ns);
}

static void keep(struct sim_peers *p, uint32_t from, const void *data, size_t bytes)
{
    struct kept *k = wr_alloc(sizeof *k + bytes);

    *k = (struct kept){.from = from, .bytes = bytes};
    memcpy(k->data, data, bytes);
    *p->last = k;
    p->last = &k->next;
}

bool sim_peers_poll(struct sim_peers *p)
{
    struct sim_peers_head head;
    uint32_t from;
    size_t bytes;
    const void *data = p->link->ops->poll(p->link, &from, &bytes);

    if (!data)
        return false;
    assert(bytes >= sizeof head);
    memcpy(&head, data, sizeof head);
    if (head.kind < SIM_PEERS_FAR)
        keep(p, from, data, bytes);
    else if (p->far) /* or its crew has gone home */
        p->far(p->far_ctx, from, data, bytes);
    return true;
}

/* The next of a kind from somebody; to be freed. NULL: somebody is gone. */
static struct kept *await(struct sim_peers *p, uint32_t kind, uint32_t from)
{
    for (uint32_t i = 0;; i++) {
        for (struct kept **at = &p->first; *at; at = &(*at)->next) {
            struct kept *k = *at;
            struct sim_peers_head head;

            memcpy(&head, k->data, sizeof head);
            if (k->from != from || head.kind != kind)
                continue;
            *at = k->next;
            if (!*at)
                p->last = at;
            return k;
        }
        if (sim_peers_poll(p)) {
            i = 0;
            continue;
        }
        if (p->link->lost[0])
            return NULL;
        if (i < SPINS)
            sched_yield();
        else
            sim_peers_nap(p, NAP_NS);
    }
}

static bool gone(const struct sim_peers *p, struct wr_err *err)
{
    return wr_fail(err, WR_CHECK,
                   "%s; the run is incomplete: see what that process said, and run it again",
                   p->link->lost);
}

static void post_kind(struct sim_peers *p, uint32_t to, uint32_t kind, const void *data,
                      size_t bytes)
{
    struct sim_peers_head head = {.kind = kind};
    unsigned char *buf = wr_alloc(sizeof head + bytes);

    memcpy(buf, &head, sizeof head);
    if (bytes)
        memcpy(buf + sizeof head, data, bytes);
    sim_peers_post(p, to, buf, sizeof head + bytes);
    free(buf);
}

bool sim_peers_gather(struct sim_peers *p, const void *data, size_t bytes, sim_peers_take *take,
                      void *ctx, struct wr_err *err)
{
    if (p->link->rank) {
        post_kind(p, 0, GATHER, data, bytes);
        return true;
    }
    for (uint32_t from = 1; from < p->link->size; from++) {
        struct kept *k = await(p, GATHER, from);

        if (!k)
            return gone(p, err);
        take(ctx, from, k->data + sizeof(struct sim_peers_head),
             k->bytes - sizeof(struct sim_peers_head));
        free(k);
    }
    return true;
}

bool sim_peers_tell(struct sim_peers *p, void *data, size_t bytes, struct wr_err *err)
{
    if (!p->link->rank) {
        for (uint32_t to = 1; to < p->link->size; to++)
            post_kind(p, to, TELL, data, bytes);
        return true;
    }
    struct kept *k = await(p, TELL, 0);

    if (!k)
        return gone(p, err);
    assert(k->bytes == sizeof(struct sim_peers_head) + bytes);
    memcpy(data, k->data + sizeof(struct sim_peers_head), bytes);
    free(k);
    return true;
}

static void take_error(void *ctx, uint32_t from, const void *data, size_t bytes)
{
    struct wr_err *first = ctx;
    struct wr_err theirs;

    assert(bytes == sizeof theirs);
    memcpy(&theirs, data, sizeof theirs);
    if (first->code == WR_NONE && theirs.code != WR_NONE)
        (void)wr_fail(first, theirs.code, "process %u: %s", from, theirs.text);
}

bool sim_peers_agree(struct sim_peers *p, bool ok, struct wr_err *err)
{
    struct wr_err first = {.code = WR_NONE}, lost;

    if (!p || p->link->size == 1)
        return ok;
    if (!ok)
        first = *err;
    if (!sim_peers_gather(p, &first, sizeof first, take_error, &first, &lost) ||
        !sim_peers_tell(p, &first, sizeof first, &lost)) {
        if (ok)
            *err = lost;
        return false;
    }
    if (first.code != WR_NONE && ok)
        *err = first;
    return first.code == WR_NONE;
}

static void take_least(void *ctx, uint32_t from, const void *data, size_t bytes)
{
    uint64_t *least = ctx, theirs;

    (void)from;
    for (size_t i = 0; i < bytes / sizeof theirs; i++) {
        memcpy(&theirs, (const char *)data + i * sizeof theirs, sizeof theirs);
        least[i] = theirs < least[i] ? theirs : least[i];
    }
}

bool sim_peers_least(struct sim_peers *p, uint64_t *value, uint32_t n, struct wr_err *err)
{
    return sim_peers_gather(p, value, n * sizeof *value, take_least, value, err) &&
           sim_peers_tell(p, value, n * sizeof *value, err);
}
