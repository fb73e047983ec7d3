/* store_xfer.c -- the protocol: the receiver of data pulls it, block by block.
 *
 *   write   client          server            read    client            server
 *             --- request --->                          ---- pull ------->
 *             <--- pull ------  [space]                                    device
 *             ---- data ----->                          <--- data --------
 *                              device                   ---- pull ------->   next block
 *             <--- pull ------  next block                  ...
 *                 ...
 *             <--- ack -------
 *
 * `pulls` blocks of a request are under way at once. A slot knows what every step of its chain
 * cost; the slot that ends last gives the request's causes.
 */
#include <assert.h>

#include "store_priv.h"

static uint64_t xfer_msg_user(enum store_msg kind, uint32_t handle)
{
    return (uint64_t)kind << 32 | handle;
}

static void xfer_send_control(struct store *s, uint32_t src, uint32_t dst, uint16_t app,
                              uint64_t user)
{
    s->wire.send(s->wire.ctx, src, dst, s->p.control_b, app, STORE_REQUEST, user);
}

static uint32_t xfer_site_node(const struct store *s, const struct store_req *q)
{
    return s->site[q->site].node;
}

/* ---- requests ---- */

uint32_t store_req_new(struct store *s, const struct store_req *like)
{
    uint32_t h = wr_pool_take(&s->reqs);

    *store_req(s, h) = *like;
    return h;
}

static void xfer_req_ended(struct store *s, uint32_t h)
{
    struct store_req q = *store_req(s, h);

    wr_pool_give(&s->reqs, h);
    if (q.from == FROM_OP) {
        store_op_request_ended(s, q.owner, q.ps);
    } else if (q.from == FROM_DRAIN) {
        store_buf_drained(s, &q);
    } else {
        struct store_slot *x = store_slot(s, q.owner);

        for (int c = 0; c < CAUSES; c++)
            x->ps[c] += q.ps[c];
        x->mark_ps = s->sim->now;
        store_slot_step(s, q.owner);
    }
}

/* ---- slots ---- */

static void xfer_next_block(struct store *s, uint32_t h);

static void xfer_new_slot(struct store *s, uint32_t req, uint32_t *ret)
{
    const struct store_req *q = store_req(s, req);
    uint32_t h = wr_pool_take(&s->slots);
    struct store_slot *x = store_slot(s, h);

    *x = (struct store_slot){.req = req, .entry = WR_NIL, .mark_ps = s->sim->now};
    for (int c = 0; c < CAUSES; c++)
        x->ps[c] = q->ps[c];
    *ret = h;
}

static void xfer_open_slots(struct store *s, uint32_t req)
{
    struct store_req *q = store_req(s, req);
    uint64_t first = q->at / s->p.block_b, blocks = (q->end - 1) / s->p.block_b - first + 1;

    assert(q->at < q->end);
    q->live = (uint32_t)(blocks < s->p.pulls ? blocks : s->p.pulls);
    for (uint32_t i = 0, n = q->live; i < n; i++) {
        uint32_t h;

        xfer_new_slot(s, req, &h);
        xfer_next_block(s, h);
    }
}

static void xfer_slot_ended(struct store *s, uint32_t h)
{
    struct store_slot x = *store_slot(s, h);
    struct store_req *q = store_req(s, x.req);

    assert(q->live > 0);
    wr_pool_give(&s->slots, h);
    if (--q->live)
        return;
    for (int c = 0; c < CAUSES; c++)
        q->ps[c] = x.ps[c];
    q->mark_ps = s->sim->now;
    if (q->mode == MODE_WRITE)
        xfer_send_control(s, xfer_site_node(s, q), q->node, q->app, xfer_msg_user(MSG_ACK, x.req));
    else
        xfer_req_ended(s, x.req);
}

static uint32_t xfer_disk(const struct store *s, uint32_t site, uint64_t at, bool fast)
{
    const struct store_site *t = &s->site[site];
    uint64_t block = at / s->p.block_b;

    return fast ? t->fast + (uint32_t)(block % t->nfast) : t->slow + (uint32_t)(block % t->nslow);
}

/* To a device of a site; the slow ones are behind the storage-area network. */
static void xfer_to_disk(struct store *s, uint32_t site, uint32_t h, bool fast, bool write)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_san *san = &s->p.san;
    double ps = san->latency_ps;

    x->fast = fast;
    x->write = write;
    x->disk = xfer_disk(s, site, store_slot_at(s, x), fast);
    if (!fast && san->bandwidth > 0)
        ps += (double)x->bytes / san->bandwidth * 1e12;
    if (fast || ps <= 0) {
        store_disk_submit(s, x->disk, h, write);
        return;
    }
    x->ps[CAUSE_TRANSFER] += store_ps(ps);
    x->mark_ps += store_ps(ps);
    store_event(s, s->site[site].node, x->mark_ps, STORE_EV_SAN, 0, h, 0);
}

void store_slot_slow(struct store *s, uint32_t h)
{
    const struct store_slot *x = store_slot(s, h);

    store_disk_submit(s, x->disk, h, x->write);
}

static void xfer_send_pull(struct store *s, uint32_t h)
{
    const struct store_req *q = store_req(s, store_slot(s, h)->req);
    bool write = q->mode == MODE_WRITE;
    uint32_t site = xfer_site_node(s, q);

    xfer_send_control(s, write ? site : q->node, write ? q->node : site, q->app,
                      xfer_msg_user(MSG_PULL, h));
}

static void xfer_send_data(struct store *s, uint32_t h)
{
    const struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);
    bool write = q->mode == MODE_WRITE;
    uint32_t site = xfer_site_node(s, q);

    s->wire.send(s->wire.ctx, write ? q->node : site, write ? site : q->node, x->bytes, q->app,
                 STORE_DATA, xfer_msg_user(MSG_DATA, h));
}

/* One block of a slot's own, to or from another site, for as long as the slot waits. */
static void xfer_begin_child(struct store *s, uint32_t h, enum store_mode mode, uint32_t site,
                             uint64_t at)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *like = store_req(s, x->req);
    struct store_req q = {.owner = h,
                          .node = s->site[like->site].node,
                          .site = site,
                          .mode = (uint8_t)mode,
                          .from = FROM_SLOT,
                          .app = like->app,
                          .file = like->file,
                          .at = at,
                          .end = at + x->bytes,
                          .bytes = x->bytes,
                          .small = like->small,
                          .mark_ps = s->sim->now};

    store_req_begin(s, store_req_new(s, &q));
}

/* ---- blocks ---- */

static void xfer_begin_write(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);

    x->step = STEP_SPACE;
    if (s->site[q->site].role != ROLE_BUFFER || q->granted)
        xfer_send_pull(s, h);
    else
        store_buf_claim(s, q->site, h, x->bytes);
}

static void xfer_begin_keep(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);

    x->step = STEP_SPACE;
    store_buf_claim(s, store_req(s, x->req)->site, h, x->bytes);
}

/* A server with both sorts of devices: what was there before the run is where an operation of
 * this size would have put it. */
static bool xfer_was_placed_fast(const struct store *s, const struct store_req *q)
{
    return s->site[q->site].role == ROLE_BOTH && q->small &&
           !store_buf_is_slow(s, q->site, q->app, q->file);
}

/* Whether the block is read from the buffer's device; otherwise from where it was drained to. */
static bool xfer_find_in_buffer(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);
    struct store_buf *b = &s->site[q->site].buf;

    if (!b->track)
        return s->site[q->site].nfast;
    x->entry = store_buf_find(s, q->site, q->app, q->file, x->at, x->bytes);
    bool here = x->entry != WR_NIL || xfer_was_placed_fast(s, q);

    *(here ? &b->hit_b : &b->miss_b) += x->bytes;
    if (x->entry != WR_NIL)
        store_buf_hold(s, x->entry);
    return here;
}

static void xfer_begin_take(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);
    uint64_t at;

    x->step = STEP_SERVE;
    if (xfer_find_in_buffer(s, h)) {
        xfer_to_disk(s, q->site, h, true, false);
        return;
    }
    uint32_t site = store_place(s, q->node, q->app, q->file, x->at, &at);

    xfer_begin_child(s, h, MODE_READ, site, at);
}

static void xfer_begin_move(struct store *s, uint32_t h)
{
    store_slot(s, h)->step = STEP_SOURCE;
    xfer_to_disk(s, store_req(s, store_slot(s, h)->req)->site, h, true, false);
}

static void xfer_next_block(struct store *s, uint32_t h)
{
    static void (*const begin[])(struct store *, uint32_t) = {
        [MODE_WRITE] = xfer_begin_write, [MODE_READ] = xfer_send_pull,
        [MODE_KEEP] = xfer_begin_keep,   [MODE_TAKE] = xfer_begin_take,
        [MODE_MOVE] = xfer_begin_move,
    };
    struct store_slot *x = store_slot(s, h);
    struct store_req *q = store_req(s, x->req);

    if (q->at >= q->end) {
        xfer_slot_ended(s, h);
        return;
    }
    uint64_t rest = q->end - q->at, space = s->p.block_b - q->at % s->p.block_b;

    x->at = q->at;
    x->bytes = rest < space ? rest : space;
    x->entry = WR_NIL;
    q->at += x->bytes;
    begin[q->mode](s, h);
}

/* ---- at the server ---- */

void store_req_begin(struct store *s, uint32_t h)
{
    const struct store_req *q = store_req(s, h);

    if (q->mode == MODE_WRITE || q->mode == MODE_META)
        xfer_send_control(s, q->node, xfer_site_node(s, q), q->app, xfer_msg_user(MSG_ASK, h));
    else
        xfer_open_slots(s, h);
}

void store_req_serve(struct store *s, uint32_t h)
{
    struct store_req *q = store_req(s, h);
    const struct store_site *t = &s->site[q->site];

    store_service_served(s, q->site);
    q->ps[CAUSE_SOFTWARE] += s->sim->now - q->mark_ps;
    q->mark_ps = s->sim->now;
    if (q->mode == MODE_META) {
        xfer_send_control(s, t->node, q->node, q->app, xfer_msg_user(MSG_ACK, h));
        return;
    }
    bool whole = t->role == ROLE_BUFFER && t->buf.capacity_b &&
                 s->p.buffer.reserve == STORE_RESERVE_REQUEST && q->bytes <= t->buf.capacity_b;
    uint32_t scout;

    if (!whole) {
        xfer_open_slots(s, h);
        return;
    }
    xfer_new_slot(s, h, &scout);
    store_slot(s, scout)->step = STEP_SCOUT;
    store_buf_claim(s, q->site, scout, q->bytes);
}

void store_pull_serve(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);
    const struct store_site *t = &s->site[q->site];

    store_service_served(s, q->site);
    x->ps[CAUSE_SOFTWARE] += s->sim->now - x->mark_ps;
    x->mark_ps = s->sim->now;
    x->step = STEP_SERVE;
    if (t->role == ROLE_SLOW)
        xfer_to_disk(s, q->site, h, false, false);
    else if (xfer_find_in_buffer(s, h))
        xfer_to_disk(s, q->site, h, true, false);
    else if (t->role == ROLE_BOTH)
        xfer_to_disk(s, q->site, h, false, false);
    else
        xfer_begin_child(
            s, h, MODE_READ,
            s->nservers +
                (uint32_t)(store_hash(q->app, q->file + (int64_t)(x->at / s->p.block_b)) % s->nio),
            x->at);
}

/* A block has come to its server. */
static void xfer_take_in(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);
    enum store_role role = s->site[q->site].role;
    bool fast = role == ROLE_BUFFER ||
                (role == ROLE_BOTH && q->small && store_buf_reserve(s, q->site, x->bytes));

    x->step = STEP_COMMIT;
    xfer_to_disk(s, q->site, h, fast, true);
}

/* A block on its way to or from the devices of a server passes its NIC. False: there is no such
 * limit. */
static bool xfer_pass_nic(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);

    if (!s->service || !(s->p.service.bandwidth > 0) || q->site >= s->nservers)
        return false;
    uint64_t until = store_service_nic_ps(s, q->site, x->bytes);

    x->ps[CAUSE_NIC] += until - s->sim->now;
    x->mark_ps = until;
    store_event(s, xfer_site_node(s, q), until, STORE_EV_NIC, 0, h, 0);
    return true;
}

void store_slot_passed(struct store *s, uint32_t h)
{
    if (store_req(s, store_slot(s, h)->req)->mode == MODE_WRITE)
        xfer_take_in(s, h);
    else
        xfer_send_data(s, h);
}

/* ---- steps ---- */

static void xfer_step_scout(struct store *s, uint32_t h)
{
    struct store_slot x = *store_slot(s, h);
    struct store_req *q = store_req(s, x.req);

    wr_pool_give(&s->slots, h);
    for (int c = 0; c < CAUSES; c++)
        q->ps[c] = x.ps[c];
    q->mark_ps = s->sim->now;
    q->granted = true;
    xfer_open_slots(s, x.req);
}

static void xfer_step_space(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);

    if (q->mode == MODE_WRITE) {
        xfer_send_pull(s, h);
        return;
    }
    x->step = STEP_COMMIT;
    xfer_to_disk(s, q->site, h, true, true);
}

/* Client bytes are counted when they are where the architecture first keeps them. */
static void xfer_count_written(struct store *s, const struct store_slot *x,
                               const struct store_req *q)
{
    const struct store_site *t = &s->site[q->site];
    bool held = t->buf.track && x->fast,
         through = q->mode == MODE_KEEP && s->p.buffer.write_through;

    if (q->from != FROM_OP)
        return;
    s->app[q->app].written_b += x->bytes;
    store_audit_wrote(s, &(struct store_bytes){q->site, q->app, q->file, x->at, x->bytes},
                      through ? AUDIT_SENT
                      : held  ? AUDIT_BUFFER
                              : AUDIT_BEYOND);
}

static void xfer_commit_keep(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);
    uint64_t at;

    if (!s->p.buffer.write_through) {
        store_buf_wrote(s, q->site, x, true);
        xfer_next_block(s, h);
        return;
    }
    store_buf_wrote(s, q->site, x, false);
    s->through_b += x->bytes;
    uint32_t site = store_place(s, q->node, q->app, q->file, x->at, &at);

    x->step = STEP_SERVE; /* then it goes on */
    x->entry = WR_NIL;
    xfer_begin_child(s, h, MODE_WRITE, site, at);
}

/* On the large device of a server that has both; what is in its buffer of it may be old now. */
static void xfer_commit_slow(struct store *s, const struct store_slot *x, const struct store_req *q)
{
    store_buf_mark_slow(s, q->site, q->app, q->file);
    if (q->mode == MODE_WRITE)
        store_buf_forget(s, q->site, x);
}

static void xfer_step_commit(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);
    enum store_role role = s->site[q->site].role;

    xfer_count_written(s, x, q);
    if (q->mode == MODE_KEEP) {
        xfer_commit_keep(s, h);
        return;
    }
    if (role == ROLE_BUFFER || (role == ROLE_BOTH && x->fast))
        store_buf_wrote(s, q->site, x, true);
    else if (role == ROLE_BOTH)
        xfer_commit_slow(s, x, q);
    xfer_next_block(s, h);
}

static void xfer_step_source(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);

    if (q->mode == MODE_WRITE) {
        xfer_send_data(s, h);
        return;
    }
    x->step = STEP_COMMIT;
    xfer_to_disk(s, q->site, h, false, true);
}

/* A block that was read from a server stays in the local buffer if there is space. */
static void xfer_keep_read(struct store *s, const struct store_slot *x, const struct store_req *q)
{
    uint32_t h;

    if (!s->p.buffer.keep_reads || !store_buf_reserve(s, q->site, x->bytes))
        return;
    struct store_req like = *q;

    like.live = 1;
    like.from = FROM_SLOT;
    uint32_t req = store_req_new(s, &like);

    xfer_new_slot(s, req, &h);
    struct store_slot *y = store_slot(s, h);

    y->step = STEP_STRAY;
    y->at = x->at;
    y->bytes = x->bytes;
    s->kept_b += x->bytes;
    store_disk_submit(s, xfer_disk(s, q->site, x->at, true), h, true);
}

static void xfer_step_stray(struct store *s, uint32_t h)
{
    struct store_slot x = *store_slot(s, h);

    store_buf_wrote(s, store_req(s, x.req)->site, &x, false);
    wr_pool_give(&s->reqs, x.req);
    wr_pool_give(&s->slots, h);
}

static void xfer_step_serve(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);

    if (x->entry != WR_NIL)
        store_buf_release(s, x->entry);
    if (q->mode == MODE_READ) {
        if (!xfer_pass_nic(s, h))
            xfer_send_data(s, h);
        return;
    }
    if (q->mode == MODE_TAKE) {
        s->app[q->app].read_b += x->bytes;
        if (x->entry == WR_NIL)
            xfer_keep_read(s, x, q);
    } else {
        store_audit_came(s, &(struct store_bytes){q->site, q->app, q->file, x->at, x->bytes});
    }
    xfer_next_block(s, h);
}

void store_slot_step(struct store *s, uint32_t h)
{
    static void (*const step[])(struct store *, uint32_t) = {
        [STEP_SCOUT] = xfer_step_scout,   [STEP_SPACE] = xfer_step_space,
        [STEP_COMMIT] = xfer_step_commit, [STEP_SOURCE] = xfer_step_source,
        [STEP_SERVE] = xfer_step_serve,   [STEP_STRAY] = xfer_step_stray,
    };

    step[store_slot(s, h)->step](s, h);
}

/* ---- messages ---- */

void store_slot_answer(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);

    x->ps[CAUSE_SOFTWARE] += s->sim->now - x->mark_ps;
    x->mark_ps = s->sim->now;
    xfer_send_data(s, h);
}

static void xfer_split_causes(uint64_t *ps, uint64_t *mark, uint64_t now,
                              const struct cause_trip *trip)
{
    cause_split(ps, *mark, now, trip);
    *mark = now;
}

/* The server's software, for a request (arg2 0) or for a pull (1). False: it takes no time. */
static bool xfer_begin_serve(struct store *s, uint32_t site, uint32_t h, uint32_t arg2)
{
    bool queued = s->service && site < s->nservers;

    if (!queued && !(s->p.server_ps > 0))
        return false;
    store_event(s, s->site[site].node,
                queued ? store_service_cpu_ps(s, site) : s->sim->now + store_ps(s->p.server_ps),
                STORE_EV_SERVE, 0, h, arg2);
    return true;
}

static void xfer_on_ask(struct store *s, uint32_t h, const struct cause_trip *trip)
{
    struct store_req *q = store_req(s, h);
    struct store_site *t = &s->site[q->site];
    uint64_t now = s->sim->now;

    xfer_split_causes(q->ps, &q->mark_ps, now, trip);
    t->requests++;
    if (!xfer_begin_serve(s, q->site, h, 0))
        store_req_serve(s, h);
}

static void xfer_on_pull(struct store *s, uint32_t h, const struct cause_trip *trip)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);
    uint64_t now = s->sim->now;

    xfer_split_causes(x->ps, &x->mark_ps, now, trip);
    if (q->mode == MODE_WRITE && q->from != FROM_DRAIN && s->rng) {
        store_event(s, q->node, now + store_jitter(s, q->node), STORE_EV_ANSWER, 0, h, 0);
    } else if (q->mode == MODE_WRITE && q->from != FROM_DRAIN) {
        xfer_send_data(s, h);
    } else if (q->mode == MODE_WRITE) { /* the block is read where it is drained */
        x->step = STEP_SOURCE;
        xfer_to_disk(s, store_entry(s, q->owner)->site, h, true, false);
    } else {
        s->site[q->site].requests++;
        if (!xfer_begin_serve(s, q->site, h, 1))
            store_pull_serve(s, h);
    }
}

static void xfer_on_data(struct store *s, uint32_t h, const struct cause_trip *trip)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);

    xfer_split_causes(x->ps, &x->mark_ps, s->sim->now, trip);
    if (q->mode == MODE_WRITE) {
        if (!xfer_pass_nic(s, h))
            xfer_take_in(s, h);
        return;
    }
    if (q->from == FROM_OP)
        s->app[q->app].read_b += x->bytes;
    xfer_next_block(s, h);
}

static void xfer_on_ack(struct store *s, uint32_t h, const struct cause_trip *trip)
{
    struct store_req *q = store_req(s, h);

    xfer_split_causes(q->ps, &q->mark_ps, s->sim->now, trip);
    xfer_req_ended(s, h);
}

void store_arrived(struct store *s, uint64_t user, const struct cause_trip *trip)
{
    uint32_t h = (uint32_t)user;
    enum store_msg kind = (enum store_msg)(user >> 32);
    const struct store_req *q =
        store_req(s, kind == MSG_PULL || kind == MSG_DATA ? store_slot(s, h)->req : h);

    wr_hist_add(&s->app[q->app].latency[kind == MSG_DATA ? STORE_DATA : STORE_REQUEST],
                s->sim->now - trip->post_ps);
    switch (kind) {
    case MSG_ASK:
        xfer_on_ask(s, h, trip);
        break;
    case MSG_PULL:
        xfer_on_pull(s, h, trip);
        break;
    case MSG_DATA:
        xfer_on_data(s, h, trip);
        break;
    case MSG_ACK:
        xfer_on_ack(s, h, trip);
        break;
    }
}
