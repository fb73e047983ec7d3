/* store_op.c -- operations of ranks, and which server has what. */
#include "store_priv.h"

/* ---- striping ---- */

/* Bytes of 0..x of a file that are on the j-th of its servers. */
static uint64_t on_server(const struct store_stripe *st, uint32_t count, uint64_t x, uint32_t j)
{
    if (count == 1)
        return x;
    uint64_t stripe = x / st->size_b, turn = stripe % count;
    uint64_t part = turn > j ? st->size_b : turn == j ? x % st->size_b : 0;

    return stripe / count * st->size_b + part;
}

static uint32_t stripes(const struct store *s)
{
    uint32_t n = s->p.stripe.count;

    return !n || n > s->nservers ? s->nservers : n;
}

/* The j-th server of a file as this node sees it. */
static uint32_t server_of(const struct store *s, uint32_t node, uint16_t app, int64_t file,
                          uint32_t j)
{
    uint32_t count = stripes(s), step = s->p.stripe.layout ? s->nservers / count : 1;
    uint64_t first = s->p.policy == STORE_HASHED ? store_hash(app, file) : s->home[node];

    return (uint32_t)((first + (uint64_t)j * step) % s->nservers);
}

bool store_home(const struct store *s, uint32_t node, uint32_t *ret)
{
    if (s->p.policy == STORE_HASHED || stripes(s) != 1)
        return false;
    *ret = s->home[node];
    return true;
}

uint32_t store_place(const struct store *s, uint32_t node, uint16_t app, int64_t file,
                     uint64_t offset, uint64_t *ret_at)
{
    uint32_t count = stripes(s), j = (uint32_t)(offset / s->p.stripe.size_b % count);

    *ret_at = on_server(&s->p.stripe, count, offset, j);
    return server_of(s, node, app, file, j);
}

/* ---- beginning ---- */

static void ended(struct store *s, uint32_t h)
{
    struct store_task t = *store_task(s, h);
    struct store_app *a = &s->app[t.app];

    wr_pool_give(&s->tasks, h);
    a->inflight[t.act]--;
    a->since_ps[t.act] -= t.t0_ps;
    a->ended_ps[t.act] += s->sim->now - t.t0_ps;
    if (t.act == STORE_WRITE)
        a->asked_b += t.bytes;
    s->done(s->done_ctx, t.user, t.ps);
}

static void begin_req(struct store *s, uint32_t h, struct store_req *q)
{
    const struct store_task *t = store_task(s, h);

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

static void ask_server(struct store *s, uint32_t h)
{
    struct store_task *t = store_task(s, h);

    if (!s->p.metadata) {
        ended(s, h);
        return;
    }
    struct store_req q = {.mode = MODE_META, .site = server_of(s, t->node, t->app, t->file, 0)};

    t->left = 1;
    begin_req(s, h, &q);
}

static void start_open(struct store *s, uint32_t h)
{
    ask_server(s, h);
}

static void start_flush(struct store *s, uint32_t h)
{
    struct store_task *t = store_task(s, h);
    bool drains = s->arch == STORE_LOCAL && s->p.buffer.drain != STORE_DRAIN_NEVER &&
                  (t->act == STORE_FLUSH || s->p.buffer.flush_on_close);

    if (!drains || !store_buf_flush(s, s->local[t->node], h))
        ask_server(s, h);
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
    ask_server(s, h);
}

static void start_move(struct store *s, uint32_t h)
{
    struct store_task *t = store_task(s, h), was = *t;
    bool write = t->act == STORE_WRITE;

    if (!t->bytes) {
        ended(s, h);
        return;
    }
    if (s->arch == STORE_LOCAL) {
        struct store_req q = {.mode = write ? MODE_KEEP : MODE_TAKE,
                              .site = s->local[t->node],
                              .at = t->offset,
                              .end = t->offset + t->bytes};

        t->left = 1;
        begin_req(s, h, &q);
        return;
    }
    uint32_t count = stripes(s);
    uint64_t first = was.offset / s->p.stripe.size_b,
             last = (was.offset + was.bytes - 1) / s->p.stripe.size_b;

    if (last - first + 1 < count) /* only so many servers have a part of it */
        t->left = (uint32_t)(last - first + 1);
    else
        t->left = count;
    for (uint32_t j = 0; j < count; j++) {
        struct store_req q = {
            .mode = write ? MODE_WRITE : MODE_READ,
            .at = on_server(&s->p.stripe, count, was.offset, j),
            .end = on_server(&s->p.stripe, count, was.offset + was.bytes, j),
        };

        q.site = server_of(s, was.node, was.app, was.file, j);
        if (q.end > q.at)
            begin_req(s, h, &q);
    }
}

typedef void start_fn(struct store *s, uint32_t task);

void store_op_start(struct store *s, uint32_t h)
{
    static start_fn *const start[STORE_ACTS] = {
        [STORE_OPEN] = start_open,  [STORE_CLOSE] = start_flush, [STORE_READ] = start_move,
        [STORE_WRITE] = start_move, [STORE_FLUSH] = start_flush,
    };
    struct store_task *t = store_task(s, h);

    t->ps[CAUSE_SOFTWARE] += s->sim->now - t->mark_ps;
    t->mark_ps = s->sim->now;
    start[t->act](s, h);
}

/* A request of it has ended; the last one's causes are the operation's. */
void store_op_part(struct store *s, uint32_t h, const uint64_t *ps)
{
    struct store_task *t = store_task(s, h);

    if (--t->left)
        return;
    for (int c = 0; c < CAUSES; c++)
        t->ps[c] = ps[c];
    ended(s, h);
}
