/* store_xfer.c -- the protocol: whoever receives data asks for it, block by block.
 *
 *   write   client          server            read    client            server
 *             --- request --->                          ---- pull ------->
 *             <--- pull ------  [room]                                     device
 *             ---- data ----->                          <--- data --------
 *                              device                   ---- pull ------->   next block
 *             <--- pull ------  next block                  ...
 *                 ...
 *             <--- ack -------
 *
 * `pulls` blocks of a request are under way at once. A slot knows what every step of its chain
 * cost; the slot that ends last gives the request's causes.
 */
#include "store_priv.h"

static uint64_t msg_user(enum store_msg kind, uint32_t handle)
{
    return (uint64_t)kind << 32 | handle;
}

static void control(struct store *s, uint32_t src, uint32_t dst, uint16_t app, uint64_t user)
{
    s->wire.send(s->wire.ctx, src, dst, s->p.control_b, app, STORE_REQUEST, user);
}

static uint32_t site_node(const struct store *s, const struct store_req *q)
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

static void req_ended(struct store *s, uint32_t h)
{
    struct store_req q = *store_req(s, h);

    wr_pool_give(&s->reqs, h);
    if (q.from == FROM_OP) {
        store_op_part(s, q.owner, q.ps);
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

static void next_block(struct store *s, uint32_t h);

static void take_slot(struct store *s, uint32_t req, uint32_t *ret)
{
    const struct store_req *q = store_req(s, req);
    uint32_t h = wr_pool_take(&s->slots);
    struct store_slot *x = store_slot(s, h);

    *x = (struct store_slot){.req = req, .entry = WR_NIL, .mark_ps = s->sim->now};
    for (int c = 0; c < CAUSES; c++)
        x->ps[c] = q->ps[c];
    *ret = h;
}

static void open_slots(struct store *s, uint32_t req)
{
    struct store_req *q = store_req(s, req);
    uint64_t first = q->at / s->p.block_b, blocks = (q->end - 1) / s->p.block_b - first + 1;

    q->live = (uint32_t)(blocks < s->p.pulls ? blocks : s->p.pulls);
    for (uint32_t i = 0, n = q->live; i < n; i++) {
        uint32_t h;

        take_slot(s, req, &h);
        next_block(s, h);
    }
}

static void slot_ended(struct store *s, uint32_t h)
{
    struct store_slot x = *store_slot(s, h);
    struct store_req *q = store_req(s, x.req);

    wr_pool_give(&s->slots, h);
    if (--q->live)
        return;
    for (int c = 0; c < CAUSES; c++)
        q->ps[c] = x.ps[c];
    q->mark_ps = s->sim->now;
    if (q->mode == MODE_WRITE)
        control(s, site_node(s, q), q->node, q->app, msg_user(MSG_ACK, x.req));
    else
        req_ended(s, x.req);
}

static uint32_t disk_of(const struct store *s, uint32_t site, uint64_t at, bool fast)
{
    const struct store_site *t = &s->site[site];
    uint64_t block = at / s->p.block_b;

    return fast ? t->fast + (uint32_t)(block % t->nfast) : t->slow + (uint32_t)(block % t->nslow);
}

/* To a device of a site; the slow ones are behind the storage-area network. */
static void to_disk(struct store *s, uint32_t site, uint32_t h, bool fast, bool write)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_san *san = &s->p.san;
    double ps = san->latency_ps;

    x->fast = fast;
    x->write = write;
    x->disk = disk_of(s, site, store_slot_at(s, x), fast);
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

static void pull(struct store *s, uint32_t h)
{
    const struct store_req *q = store_req(s, store_slot(s, h)->req);
    bool write = q->mode == MODE_WRITE;
    uint32_t site = site_node(s, q);

    control(s, write ? site : q->node, write ? q->node : site, q->app, msg_user(MSG_PULL, h));
}

static void send_data(struct store *s, uint32_t h)
{
    const struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);
    bool write = q->mode == MODE_WRITE;
    uint32_t site = site_node(s, q);

    s->wire.send(s->wire.ctx, write ? q->node : site, write ? site : q->node, x->bytes, q->app,
                 STORE_DATA, msg_user(MSG_DATA, h));
}

/* One block of a slot's own, to or from another site, for as long as the slot waits. */
static void child(struct store *s, uint32_t h, enum store_mode mode, uint32_t site, uint64_t at)
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

static void begin_write(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);

    x->step = STEP_ROOM;
    if (s->site[q->site].role != ROLE_BUFFER || q->granted)
        pull(s, h);
    else
        store_buf_claim(s, q->site, h, x->bytes);
}

static void begin_keep(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);

    x->step = STEP_ROOM;
    store_buf_claim(s, store_req(s, x->req)->site, h, x->bytes);
}

/* A server with both sorts of devices: what was there before the run is where an operation of
 * this size would have put it. */
static bool was_put_there(const struct store *s, const struct store_req *q)
{
    return s->site[q->site].role == ROLE_BOTH && q->small &&
           !store_buf_is_slow(s, q->site, q->app, q->file);
}

/* Of a block that is in the buffer, the device; else whoever has it. */
static bool from_buffer(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);
    struct store_buf *b = &s->site[q->site].buf;

    if (!b->track)
        return s->site[q->site].nfast;
    x->entry = store_buf_find(s, q->site, q->app, q->file, x->at, x->bytes);
    bool here = x->entry != WR_NIL || was_put_there(s, q);

    *(here ? &b->hit_b : &b->miss_b) += x->bytes;
    if (x->entry != WR_NIL)
        store_buf_hold(s, x->entry);
    return here;
}

static void begin_take(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);
    uint64_t at;

    x->step = STEP_SERVE;
    if (from_buffer(s, h)) {
        to_disk(s, q->site, h, true, false);
        return;
    }
    uint32_t site = store_place(s, q->node, q->app, q->file, x->at, &at);

    child(s, h, MODE_READ, site, at);
}

static void begin_move(struct store *s, uint32_t h)
{
    store_slot(s, h)->step = STEP_SOURCE;
    to_disk(s, store_req(s, store_slot(s, h)->req)->site, h, true, false);
}

static void next_block(struct store *s, uint32_t h)
{
    static void (*const begin[])(struct store *, uint32_t) = {
        [MODE_WRITE] = begin_write, [MODE_READ] = pull,       [MODE_KEEP] = begin_keep,
        [MODE_TAKE] = begin_take,   [MODE_MOVE] = begin_move,
    };
    struct store_slot *x = store_slot(s, h);
    struct store_req *q = store_req(s, x->req);

    if (q->at >= q->end) {
        slot_ended(s, h);
        return;
    }
    uint64_t rest = q->end - q->at, room = s->p.block_b - q->at % s->p.block_b;

    x->at = q->at;
    x->bytes = rest < room ? rest : room;
    x->entry = WR_NIL;
    q->at += x->bytes;
    begin[q->mode](s, h);
}

/* ---- at the server ---- */

void store_req_begin(struct store *s, uint32_t h)
{
    const struct store_req *q = store_req(s, h);

    if (q->mode == MODE_WRITE || q->mode == MODE_META)
        control(s, q->node, site_node(s, q), q->app, msg_user(MSG_ASK, h));
    else
        open_slots(s, h);
}

void store_req_serve(struct store *s, uint32_t h)
{
    struct store_req *q = store_req(s, h);
    const struct store_site *t = &s->site[q->site];

    q->ps[CAUSE_SOFTWARE] += s->sim->now - q->mark_ps;
    q->mark_ps = s->sim->now;
    if (q->mode == MODE_META) {
        control(s, t->node, q->node, q->app, msg_user(MSG_ACK, h));
        return;
    }
    bool whole = t->role == ROLE_BUFFER && t->buf.capacity_b &&
                 s->p.buffer.reserve == STORE_RESERVE_REQUEST && q->bytes <= t->buf.capacity_b;
    uint32_t scout;

    if (!whole) {
        open_slots(s, h);
        return;
    }
    take_slot(s, h, &scout);
    store_slot(s, scout)->step = STEP_SCOUT;
    store_buf_claim(s, q->site, scout, q->bytes);
}

void store_pull_serve(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);
    const struct store_site *t = &s->site[q->site];

    x->ps[CAUSE_SOFTWARE] += s->sim->now - x->mark_ps;
    x->mark_ps = s->sim->now;
    x->step = STEP_SERVE;
    if (t->role == ROLE_SLOW)
        to_disk(s, q->site, h, false, false);
    else if (from_buffer(s, h))
        to_disk(s, q->site, h, true, false);
    else if (t->role == ROLE_BOTH)
        to_disk(s, q->site, h, false, false);
    else
        child(
            s, h, MODE_READ,
            s->nservers +
                (uint32_t)(store_hash(q->app, q->file + (int64_t)(x->at / s->p.block_b)) % s->nio),
            x->at);
}

/* A block has come to its server. */
static void take_in(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);
    enum store_role role = s->site[q->site].role;
    bool fast = role == ROLE_BUFFER ||
                (role == ROLE_BOTH && q->small && store_buf_room(s, q->site, x->bytes));

    x->step = STEP_COMMIT;
    to_disk(s, q->site, h, fast, true);
}

/* ---- steps ---- */

static void step_scout(struct store *s, uint32_t h)
{
    struct store_slot x = *store_slot(s, h);
    struct store_req *q = store_req(s, x.req);

    wr_pool_give(&s->slots, h);
    for (int c = 0; c < CAUSES; c++)
        q->ps[c] = x.ps[c];
    q->mark_ps = s->sim->now;
    q->granted = true;
    open_slots(s, x.req);
}

static void step_room(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);

    if (q->mode == MODE_WRITE) {
        pull(s, h);
        return;
    }
    x->step = STEP_COMMIT;
    to_disk(s, q->site, h, true, true);
}

/* Client bytes are counted when they are where the architecture first keeps them. */
static void written(struct store *s, const struct store_slot *x, const struct store_req *q)
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

static void commit_keep(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);
    uint64_t at;

    if (!s->p.buffer.write_through) {
        store_buf_wrote(s, q->site, x, true);
        next_block(s, h);
        return;
    }
    store_buf_wrote(s, q->site, x, false);
    s->through_b += x->bytes;
    uint32_t site = store_place(s, q->node, q->app, q->file, x->at, &at);

    x->step = STEP_SERVE; /* then it goes on */
    x->entry = WR_NIL;
    child(s, h, MODE_WRITE, site, at);
}

/* On the large device of a server that has both; what is in its buffer of it may be old now. */
static void commit_slow(struct store *s, const struct store_slot *x, const struct store_req *q)
{
    store_buf_mark_slow(s, q->site, q->app, q->file);
    if (q->mode == MODE_WRITE)
        store_buf_forget(s, q->site, x);
}

static void step_commit(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);
    enum store_role role = s->site[q->site].role;

    written(s, x, q);
    if (q->mode == MODE_KEEP) {
        commit_keep(s, h);
        return;
    }
    if (role == ROLE_BUFFER || (role == ROLE_BOTH && x->fast))
        store_buf_wrote(s, q->site, x, true);
    else if (role == ROLE_BOTH)
        commit_slow(s, x, q);
    next_block(s, h);
}

static void step_source(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);

    if (q->mode == MODE_WRITE) {
        send_data(s, h);
        return;
    }
    x->step = STEP_COMMIT;
    to_disk(s, q->site, h, false, true);
}

/* A block that came from elsewhere stays in the local buffer if there is room now. */
static void keep_read(struct store *s, const struct store_slot *x, const struct store_req *q)
{
    uint32_t h;

    if (!s->p.buffer.keep_reads || !store_buf_room(s, q->site, x->bytes))
        return;
    struct store_req like = *q;

    like.live = 1;
    like.from = FROM_SLOT;
    uint32_t req = store_req_new(s, &like);

    take_slot(s, req, &h);
    struct store_slot *y = store_slot(s, h);

    y->step = STEP_STRAY;
    y->at = x->at;
    y->bytes = x->bytes;
    s->kept_b += x->bytes;
    store_disk_submit(s, disk_of(s, q->site, x->at, true), h, true);
}

static void step_stray(struct store *s, uint32_t h)
{
    struct store_slot x = *store_slot(s, h);

    store_buf_wrote(s, store_req(s, x.req)->site, &x, false);
    wr_pool_give(&s->reqs, x.req);
    wr_pool_give(&s->slots, h);
}

static void step_serve(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);

    if (x->entry != WR_NIL)
        store_buf_release(s, x->entry);
    if (q->mode == MODE_READ) {
        send_data(s, h);
        return;
    }
    if (q->mode == MODE_TAKE) {
        s->app[q->app].read_b += x->bytes;
        if (x->entry == WR_NIL)
            keep_read(s, x, q);
    } else {
        store_audit_came(s, &(struct store_bytes){q->site, q->app, q->file, x->at, x->bytes});
    }
    next_block(s, h);
}

void store_slot_step(struct store *s, uint32_t h)
{
    static void (*const step[])(struct store *, uint32_t) = {
        [STEP_SCOUT] = step_scout,   [STEP_ROOM] = step_room,   [STEP_COMMIT] = step_commit,
        [STEP_SOURCE] = step_source, [STEP_SERVE] = step_serve, [STEP_STRAY] = step_stray,
    };

    step[store_slot(s, h)->step](s, h);
}

/* ---- messages ---- */

void store_slot_answer(struct store *s, uint32_t h)
{
    struct store_slot *x = store_slot(s, h);

    x->ps[CAUSE_SOFTWARE] += s->sim->now - x->mark_ps;
    x->mark_ps = s->sim->now;
    send_data(s, h);
}

static void split(uint64_t *ps, uint64_t *mark, uint64_t now, const struct cause_trip *trip)
{
    cause_split(ps, *mark, now, trip);
    *mark = now;
}

static void on_ask(struct store *s, uint32_t h, const struct cause_trip *trip)
{
    struct store_req *q = store_req(s, h);
    struct store_site *t = &s->site[q->site];
    uint64_t now = s->sim->now;

    split(q->ps, &q->mark_ps, now, trip);
    t->requests++;
    if (s->p.server_ps > 0)
        store_event(s, t->node, now + store_ps(s->p.server_ps), STORE_EV_SERVE, 0, h, 0);
    else
        store_req_serve(s, h);
}

static void on_pull(struct store *s, uint32_t h, const struct cause_trip *trip)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);
    uint64_t now = s->sim->now;

    split(x->ps, &x->mark_ps, now, trip);
    if (q->mode == MODE_WRITE && q->from != FROM_DRAIN && s->rng) {
        store_event(s, q->node, now + store_jitter(s, q->node), STORE_EV_ANSWER, 0, h, 0);
    } else if (q->mode == MODE_WRITE && q->from != FROM_DRAIN) {
        send_data(s, h);
    } else if (q->mode == MODE_WRITE) { /* the block is read where it is drained */
        x->step = STEP_SOURCE;
        to_disk(s, store_entry(s, q->owner)->site, h, true, false);
    } else {
        s->site[q->site].requests++;
        if (s->p.server_ps > 0)
            store_event(s, site_node(s, q), now + store_ps(s->p.server_ps), STORE_EV_SERVE, 0, h,
                        1);
        else
            store_pull_serve(s, h);
    }
}

static void on_data(struct store *s, uint32_t h, const struct cause_trip *trip)
{
    struct store_slot *x = store_slot(s, h);
    const struct store_req *q = store_req(s, x->req);

    split(x->ps, &x->mark_ps, s->sim->now, trip);
    if (q->mode == MODE_WRITE) {
        take_in(s, h);
        return;
    }
    if (q->from == FROM_OP)
        s->app[q->app].read_b += x->bytes;
    next_block(s, h);
}

static void on_ack(struct store *s, uint32_t h, const struct cause_trip *trip)
{
    struct store_req *q = store_req(s, h);

    split(q->ps, &q->mark_ps, s->sim->now, trip);
    req_ended(s, h);
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
        on_ask(s, h, trip);
        break;
    case MSG_PULL:
        on_pull(s, h, trip);
        break;
    case MSG_DATA:
        on_data(s, h, trip);
        break;
    case MSG_ACK:
        on_ack(s, h, trip);
        break;
    }
}
