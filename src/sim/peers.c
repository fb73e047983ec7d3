/* peers.c -- gather, broadcast and agreement among processes, over a link (link.h).
 *
 * Owns the link, the outgoing buffers and the messages that have arrived before their function was
 * called. A message begins with its kind; await returns the oldest of one kind from one process.
 * Called by one thread at a time: the caller's between runs, the last worker at a barrier.
 */
#include "sim/peers.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"

enum kind { GATHER, BROADCAST, WINDOW };
enum {
    SPINS = 1 << 8,   /* spin limit: polls before a process blocks ... */
    WAIT_NS = 100000, /* ... for this long at most */
};

/* A message begins with this. */
struct head {
    uint32_t kind, unused;
};

/* A message that has arrived and was not requested yet. */
struct kept {
    struct kept *next;
    uint32_t from;
    size_t bytes;
    unsigned char data[];
};

struct sim_peers {
    struct sim_link *link;
    struct kept *first, **last; /* messages not requested yet, oldest first */
    struct wr_bytes *out;       /* [size] outgoing messages of a window */
    struct kept *received;      /* what sim_peers_receive returned last */
};

void sim_peers_open(struct sim_peers **ret, struct sim_link *link)
{
    struct sim_peers *p = wr_zalloc(1, sizeof *p);

    p->link = link;
    p->last = &p->first;
    p->out = wr_zalloc(link->size, sizeof *p->out);
    *ret = p;
}

int sim_peers_close(struct sim_peers *p, bool well)
{
    if (!p)
        return 0;
    uint32_t size = p->link->size;
    int status = p->link->ops->close(p->link, well);

    for (uint32_t i = 0; i < size; i++)
        wr_bytes_fini(&p->out[i]);
    free(p->out);
    free(p->received);

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

const char *sim_peers_lost(const struct sim_peers *p)
{
    return p->link->lost[0] ? p->link->lost : NULL;
}

static void peers_keep(struct sim_peers *p, uint32_t from, const void *data, size_t bytes)
{
    struct kept *k = wr_alloc(sizeof *k + bytes);

    *k = (struct kept){.from = from, .bytes = bytes};
    memcpy(k->data, data, bytes);
    *p->last = k;
    p->last = &k->next;
}

/* Keeps one message that has arrived; false: none has. */
static bool peers_poll(struct sim_peers *p)
{
    uint32_t from;
    size_t bytes;
    const void *data = p->link->ops->poll(p->link, &from, &bytes);

    if (!data)
        return false;
    assert(bytes >= sizeof(struct head));
    peers_keep(p, from, data, bytes);
    return true;
}

/* The oldest message of a kind from a process; free() it. NULL: a process is lost. */
static struct kept *peers_await(struct sim_peers *p, uint32_t kind, uint32_t from)
{
    for (uint32_t i = 0;; i++) {
        for (struct kept **at = &p->first; *at; at = &(*at)->next) {
            struct kept *k = *at;
            struct head head;

            memcpy(&head, k->data, sizeof head);
            if (k->from != from || head.kind != kind)
                continue;
            *at = k->next;
            if (!*at)
                p->last = at;
            return k;
        }
        if (peers_poll(p)) {
            i = 0;
            continue;
        }
        if (p->link->lost[0])
            return NULL;
        if (i < SPINS)
            sched_yield();
        else
            p->link->ops->wait(p->link, WAIT_NS);
    }
}

static bool peers_fail_lost(const struct sim_peers *p, struct wr_err *err)
{
    return wr_fail(err, WR_CHECK,
                   "%s; the run is incomplete: see what that process said, and run it again",
                   p->link->lost);
}

static void peers_post_kind(struct sim_peers *p, uint32_t to, uint32_t kind, const void *data,
                            size_t bytes)
{
    struct head head = {.kind = kind};
    unsigned char *buf = wr_alloc(sizeof head + bytes);

    memcpy(buf, &head, sizeof head);
    if (bytes)
        memcpy(buf + sizeof head, data, bytes);
    p->link->ops->post(p->link, to, buf, sizeof head + bytes);
    free(buf);
}

bool sim_peers_gather(struct sim_peers *p, const void *data, size_t bytes, sim_peers_take *take,
                      void *ctx, struct wr_err *err)
{
    if (p->link->rank) {
        peers_post_kind(p, 0, GATHER, data, bytes);
        return true;
    }
    for (uint32_t from = 1; from < p->link->size; from++) {
        struct kept *k = peers_await(p, GATHER, from);

        if (!k)
            return peers_fail_lost(p, err);
        take(ctx, from, k->data + sizeof(struct head), k->bytes - sizeof(struct head));
        free(k);
    }
    return true;
}

bool sim_peers_broadcast(struct sim_peers *p, void *data, size_t bytes, struct wr_err *err)
{
    if (!p->link->rank) {
        for (uint32_t to = 1; to < p->link->size; to++)
            peers_post_kind(p, to, BROADCAST, data, bytes);
        return true;
    }
    struct kept *k = peers_await(p, BROADCAST, 0);

    if (!k)
        return peers_fail_lost(p, err);
    assert(k->bytes == sizeof(struct head) + bytes);
    memcpy(data, k->data + sizeof(struct head), bytes);
    free(k);
    return true;
}

static void peers_take_error(void *ctx, uint32_t from, const void *data, size_t bytes)
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
    if (!sim_peers_gather(p, &first, sizeof first, peers_take_error, &first, &lost) ||
        !sim_peers_broadcast(p, &first, sizeof first, &lost)) {
        if (ok)
            *err = lost;
        return false;
    }
    if (first.code != WR_NONE && ok)
        *err = first;
    return first.code == WR_NONE;
}

struct wr_bytes *sim_peers_buffer(struct sim_peers *p, uint32_t to)
{
    assert(to < p->link->size && to != p->link->rank);
    struct wr_bytes *b = &p->out[to];

    b->n = 0;
    wr_bytes_put(b, &(struct head){.kind = WINDOW}, sizeof(struct head));
    return b;
}

void sim_peers_send(struct sim_peers *p, uint32_t to)
{
    p->link->ops->post(p->link, to, p->out[to].v, p->out[to].n);
}

const void *sim_peers_receive(struct sim_peers *p, uint32_t from, size_t *ret_bytes)
{
    assert(from < p->link->size && from != p->link->rank);
    free(p->received);
    p->received = peers_await(p, WINDOW, from);
    if (!p->received)
        return NULL;
    *ret_bytes = p->received->bytes - sizeof(struct head);
    return p->received->data + sizeof(struct head);
}
