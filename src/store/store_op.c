/* store_op.c -- operations of ranks, and which server has which bytes of a file.
 *
 * store.c starts an operation when the client's software is done (store_op_start). It ends when all
 * its requests have ended (store_op_request_ended) or what it flushes is drained
 * (store_op_flushed).
 */
#include <assert.h>

#include "store_priv.h"

/* ---- striping ---- */

/* Bytes of 0..x of a file that are on the j-th of its servers. */
static uint64_t op_bytes_on_server(const struct store_stripe *st, uint32_t count, uint64_t x,
                                   uint32_t j)
{
    if (count == 1)
        return x;
    uint64_t stripe = x / st->size_b, turn = stripe % count;
    uint64_t partial = turn > j ? st->size_b : turn == j ? x % st->size_b : 0;

    return stripe / count * st->size_b + partial;
}

static uint32_t op_stripe_count(const struct store *s)
{
    uint32_t n = s->p.stripe.count;

    return !n || n > s->nservers ? s->nservers : n;
}

/* The j-th server of a file as this node sees it. */
static uint32_t op_server(const struct store *s, uint32_t node, uint16_t app, int64_t file,
                          uint32_t j)
{
    uint32_t count = op_stripe_count(s), step = s->p.stripe.layout ? s->nservers / count : 1;
    uint64_t first = s->p.policy == STORE_HASHED ? store_hash(app, file) : s->home[node];

    return (uint32_t)((first + (uint64_t)j * step) % s->nservers);
}

bool store_home(const struct store *s, uint32_t node, uint32_t *ret)
{
    if (s->p.policy == STORE_HASHED || op_stripe_count(s) != 1)
        return false;
    *ret = s->home[node];
    return true;
}

uint32_t store_place(const struct store *s, uint32_t node, uint16_t app, int64_t file,
                     uint64_t offset, uint64_t *ret_at)
{
    assert(s->p.stripe.size_b > 0 && node < s->nodes);
    uint32_t count = op_stripe_count(s), j = (uint32_t)(offset / s->p.stripe.size_b % count);

    *ret_at = op_bytes_on_server(&s->p.stripe, count, offset, j);
    return op_server(s, node, app, file, j);
}

/* ---- beginning ---- */

static void op_ended(struct store *s, uint32_t h)
{
    struct store_task t = *store_task(s, h);
    struct store_app *a = &s->app[t.app];

    wr_pool_give(&s->tasks, h);
    a->inflight[t.kind]--;
    a->since_ps[t.kind] -= t.t0_ps;
    a->ended_ps[t.kind] += s->sim->now - t.t0_ps;
    if (t.kind == STORE_WRITE)
        a->asked_b += t.bytes;
    s->done(s->done_ctx, t.user, t.ps);
}

static void op_begin_req(struct store *s, uint32_t h, struct store_req *q)
{
    const struct store_task *t = store_task(s, h);

    assert(q->site < s->nsites && q->at <= q->end);
    q->owner = h;
    q->node = t->node;
    q->from = FROM_OP;
    q->app = t->app;
    q->file = t->file;
    q->bytes = q->end - q->at;
    q->small = t->bytes < s->p.threshold_b;
    q->mark_ps = s->sim->now;
    for (int c = 0; c < CAUSES; c++)
        q->ps[c] = t->ps[c];
    store_req_begin(s, store_req_new(s, q));
}

static void op_ask_server(struct store *s, uint32_t h)
{
    struct store_task *t = store_task(s, h);

    if (!s->p.metadata) {
        op_ended(s, h);
        return;
    }
    struct store_req q = {.mode = MODE_META, .site = op_server(s, t->node, t->app, t->file, 0)};

    t->left = 1;
    op_begin_req(s, h, &q);
}

static void op_start_open(struct store *s, uint32_t h)
{
    op_ask_server(s, h);
}

static void op_start_flush(struct store *s, uint32_t h)
{
    struct store_task *t = store_task(s, h);
    bool drains = s->arch == STORE_LOCAL && s->p.buffer.drain != STORE_DRAIN_NEVER &&
                  (t->kind == STORE_FLUSH || s->p.buffer.flush_on_close);

    if (!drains || !store_buf_flush(s, s->local[t->node], h))
        op_ask_server(s, h);
}

/* What it waited for is drained; the last drain's causes share out its waiting. */
void store_op_flushed(struct store *s, uint32_t h, const uint64_t *ps)
{
    struct store_task *t = store_task(s, h);
    uint64_t whole = 0;

    for (int c = 0; c < CAUSES; c++)
        whole += ps[c];
    cause_share(t->ps, s->sim->now - t->mark_ps, ps, whole);
    t->mark_ps = s->sim->now;
    op_ask_server(s, h);
}

static void op_start_transfer(struct store *s, uint32_t h)
{
    struct store_task *t = store_task(s, h), was = *t;
    bool write = t->kind == STORE_WRITE;

    if (!t->bytes) {
        op_ended(s, h);
        return;
    }
    if (s->arch == STORE_LOCAL) {
        struct store_req q = {.mode = write ? MODE_KEEP : MODE_TAKE,
                              .site = s->local[t->node],
                              .at = t->offset,
                              .end = t->offset + t->bytes};

        t->left = 1;
        op_begin_req(s, h, &q);
        return;
    }
    uint32_t count = op_stripe_count(s);
    uint64_t first = was.offset / s->p.stripe.size_b,
             last = (was.offset + was.bytes - 1) / s->p.stripe.size_b;

    if (last - first + 1 < count) /* only so many servers have a part of it */
        t->left = (uint32_t)(last - first + 1);
    else
        t->left = count;
    for (uint32_t j = 0; j < count; j++) {
        struct store_req q = {
            .mode = write ? MODE_WRITE : MODE_READ,
            .at = op_bytes_on_server(&s->p.stripe, count, was.offset, j),
            .end = op_bytes_on_server(&s->p.stripe, count, was.offset + was.bytes, j),
        };

        q.site = op_server(s, was.node, was.app, was.file, j);
        if (q.end > q.at)
            op_begin_req(s, h, &q);
    }
}

typedef void start_fn(struct store *s, uint32_t task);

void store_op_start(struct store *s, uint32_t h)
{
    static start_fn *const start[STORE_OP_KINDS] = {
        [STORE_OPEN] = op_start_open,     [STORE_CLOSE] = op_start_flush,
        [STORE_READ] = op_start_transfer, [STORE_WRITE] = op_start_transfer,
        [STORE_FLUSH] = op_start_flush,
    };
    struct store_task *t = store_task(s, h);

    t->ps[CAUSE_SOFTWARE] += s->sim->now - t->mark_ps;
    t->mark_ps = s->sim->now;
    start[t->kind](s, h);
}

/* A request of it has ended; the last one's causes are the operation's. */
void store_op_request_ended(struct store *s, uint32_t h, const uint64_t *ps)
{
    struct store_task *t = store_task(s, h);

    assert(t->left > 0);
    if (--t->left)
        return;
    for (int c = 0; c < CAUSES; c++)
        t->ps[c] = ps[c];
    op_ended(s, h);
}
