/* far.c -- partitions that processes of other machines run, or that share no memory with this one
 * (near.h).
 *
 *      process 0                                  process 1
 *   part 0   part 1                            part 2   part 3
 *      |       |        one message for each      ^        ^
 *      v       v            other process         |        |
 *   pipe 0>2, pipe 1>3  ======================>  pipe 0>2, pipe 1>3
 *   clocks of 0 and 1                             clocks of 0 and 1
 *
 * Each process has a pipe for every pair and a shown clock for every partition. What a thread puts
 * into a pipe to a far partition is copied, cell by cell, into the pipe of the same name over
 * there, and then the clock is: who sees it sees all that was sent before, as among threads. So
 * crew.c looks, waits and settles the same way whoever runs the others.
 *
 * Whichever thread gets the lock does it, when it shows something worth a message, when it looks,
 * and while it waits.
 *
 * Idle stretches. A process whose partitions all rest, with empty pipes, says so: when its next
 * event is, and how many cells it has sent to and had from each other. If for all pairs as many
 * were had as were sent, these states are a cut through the run that no message crosses, and no
 * event after it is earlier than the earliest of them, whatever has happened since.
 *
 * Stopping. Process 0 asks how far the others are, while its first partition does nothing, which
 * keeps everybody near; nobody jumps from the question to the answer's answer, a time that nobody
 * has reached. That time is in every message from then on, before clocks that could lead past it.
 */
#include "sim/far.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "crew_priv.h"

enum kind { NEWS = SIM_PEERS_FAR, STOP_WANTED, STOP_ASK, STOP_SAY, STOP_GO };
enum section { CELLS, CLOCK, REST, WISH };

enum {
    NAP_NS = 50000,
    ENOUGH = 128, /* cells that are worth a message */
    STEPS = 8,    /* clocks are shown so many times in the time that others may be ahead */
};

struct news {
    struct sim_peers_head head; /* extra: the stretch, so that `until` is known to be of this one */
    uint64_t until, floor;
};

struct part_news {
    uint32_t what, from, to, n; /* n: cells that follow, or the process that settles */
    uint64_t clock, settles;    /* of a CLOCK; of REST the clock is the next event, of WISH what
                                   partition `to` shall be beyond */
};

/* Another process. */
struct there {
    uint64_t out, in;          /* cells sent and had */
    uint64_t *clock, *settles; /* [local] as last told */
    uint64_t *wish;            /* [local] it waits until one is beyond; SIM_NEVER: it does not */
    uint32_t *lp;
    struct wr_bytes
        late; /* messages that did not fit in pipes, each behind its length; from `used` on */
    size_t used;
    /* its last state of rest: */
    bool rests;
    uint64_t rest_next, *rest_out, *rest_in; /* [size] */
};

struct sim_far {
    pthread_mutex_t lock;
    struct sim_crew *c;
    struct sim_peers *peers;
    uint32_t rank, size;
    struct there *there; /* [size], this one's own state of rest among them */
    struct wr_bytes buf;
    uint64_t margin, step; /* no clock is further ahead of others; clocks are shown so often */
    uint32_t round;
    bool stopping; /* nobody jumps */
    bool wanted, asked_for;
    uint32_t answers;
    uint64_t furthest;
};

uint32_t sim_far_first(uint32_t partitions, uint32_t processes, uint32_t rank)
{
    return (uint32_t)((uint64_t)partitions * rank / processes);
}

static uint32_t first_of(const struct sim_far *f, uint32_t rank)
{
    return sim_far_first(f->c->n, f->size, rank);
}

static struct sim_pipe *pipe_of(const struct sim_far *f, uint32_t from, uint32_t to)
{
    return &f->c->pipe[from * f->c->n + to];
}

/* ---- sending ---- */

static void begin_news(struct sim_far *f)
{
    struct news head = {.head = {.kind = NEWS, .extra = f->round}};

    head.until = atomic_load(f->c->until);
    head.floor = atomic_load(&f->c->all->floor);
    f->buf.n = 0;
    wr_bytes_put(&f->buf, &head, sizeof head);
}

/* What is in a pipe, shown by its writer, goes into the message. */
static void add_cells(struct sim_far *f, uint32_t to, uint32_t from_part, uint32_t to_part)
{
    struct sim_pipe *pipe = pipe_of(f, from_part, to_part);
    uint32_t tail = atomic_load_explicit(&pipe->tail, memory_order_acquire), n = tail - pipe->got;
    uint32_t at = pipe->got % SIM_PIPE, left = SIM_PIPE - at, upper = n < left ? n : left;
    struct part_news s = {.what = CELLS, .from = from_part, .to = to_part, .n = n};

    if (!n)
        return;
    wr_bytes_put(&f->buf, &s, sizeof s);
    wr_bytes_put(&f->buf, &pipe->ring[at], upper * sizeof *pipe->ring);
    wr_bytes_put(&f->buf, &pipe->ring[0], (n - upper) * sizeof *pipe->ring);
    pipe->got = pipe->tail_seen = tail;
    sim_pipe_free(pipe);
    f->there[to].out += n;
}

/* Threads here wait for its partitions: it should say so when they are there. */
static void add_wishes(struct sim_far *f, uint32_t q0, uint32_t q1)
{
    for (uint32_t q = q0; q < q1; q++) {
        uint64_t t = atomic_load_explicit(&f->c->shown[q].wish, memory_order_relaxed);
        struct part_news s = {.what = WISH, .to = q, .clock = t};

        if (t == SIM_NEVER)
            continue;
        atomic_store_explicit(&f->c->shown[q].wish, SIM_NEVER, memory_order_relaxed);
        if (t >= atomic_load_explicit(&f->c->shown[q].clock, memory_order_relaxed))
            wr_bytes_put(&f->buf, &s, sizeof s);
    }
}

/* All that is new for a process: clocks are read before the pipes they are about. */
static void send_news(struct sim_far *f, uint32_t to)
{
    struct sim_crew *c = f->c;
    struct there *t = &f->there[to];
    uint32_t q0 = first_of(f, to), q1 = first_of(f, to + 1);
    struct part_news clock[SIM_MAX_PARTS];
    size_t empty;

    begin_news(f);
    empty = f->buf.n;
    for (uint32_t i = 0; i < c->local; i++) {
        struct shown *s = &c->shown[c->first + i];

        clock[i] = (struct part_news){.what = CLOCK, .from = c->first + i};
        clock[i].settles = atomic_load(&s->settles);
        clock[i].n = atomic_load(&s->settles_lp);
        clock[i].clock = atomic_load(&s->clock);
        for (uint32_t q = q0; q < q1; q++)
            add_cells(f, to, c->first + i, q);
    }
    for (uint32_t i = 0; i < c->local; i++) {
        if (clock[i].clock == t->clock[i] && clock[i].settles == t->settles[i] &&
            clock[i].n == t->lp[i])
            continue;
        t->clock[i] = clock[i].clock;
        t->settles[i] = clock[i].settles;
        t->lp[i] = clock[i].n;
        if (t->clock[i] > t->wish[i])
            t->wish[i] = SIM_NEVER;
        wr_bytes_put(&f->buf, &clock[i], sizeof clock[i]);
    }
    add_wishes(f, q0, q1);
    if (f->buf.n > empty)
        sim_peers_post(f->peers, to, f->buf.v, f->buf.n);
}

static void send_all(struct sim_far *f)
{
    for (uint32_t to = 0; to < f->size; to++)
        if (to != f->rank)
            send_news(f, to);
}

/* Is it worth a message? Others can go on when a clock has moved on, and wait for cells no longer
 * than for the clock; but cells should not come all at once. */
static bool worth(const struct sim_far *f, uint32_t to)
{
    const struct sim_crew *c = f->c;
    const struct there *t = &f->there[to];
    uint32_t cells = 0;

    for (uint32_t i = 0; i < c->local; i++) {
        uint32_t from = c->first + i;
        uint64_t clock = atomic_load_explicit(&c->shown[from].clock, memory_order_relaxed);

        if (clock > t->wish[i] || clock >= crew_later(t->clock[i], f->step))
            return true;
        for (uint32_t q = first_of(f, to); q < first_of(f, to + 1); q++) {
            const struct sim_pipe *pipe = pipe_of(f, from, q);

            cells += atomic_load_explicit(&pipe->tail, memory_order_relaxed) - pipe->got;
        }
    }
    return cells >= ENOUGH;
}

void sim_far_show(struct sim_far *f, bool now)
{
    if (now)
        pthread_mutex_lock(&f->lock);
    else if (pthread_mutex_trylock(&f->lock))
        return; /* whoever has it sends */
    for (uint32_t to = 0; to < f->size; to++)
        if (to != f->rank && (now || worth(f, to)))
            send_news(f, to);
    pthread_mutex_unlock(&f->lock);
}

/* ---- taking in ---- */

/* False: there is no room for them now. */
static bool take_cells(struct sim_far *f, uint32_t who, const struct part_news *s,
                       const unsigned char *data)
{
    struct sim_pipe *pipe = pipe_of(f, s->from, s->to);
    uint32_t at = pipe->put % SIM_PIPE, left = SIM_PIPE - at, upper = s->n < left ? s->n : left;

    if (!sim_pipe_room(pipe, s->n))
        return false;
    memcpy(&pipe->ring[at], data, upper * sizeof *pipe->ring);
    memcpy(&pipe->ring[0], data + upper * sizeof *pipe->ring, (s->n - upper) * sizeof *pipe->ring);
    pipe->put += s->n;
    sim_pipe_show(pipe);
    f->there[who].in += s->n;
    return true;
}

static void take_wish(struct sim_far *f, uint32_t who, const struct part_news *s)
{
    _Atomic uint64_t *wish = &f->c->shown[s->to].wish;
    uint64_t *theirs = &f->there[who].wish[s->to - f->c->first];

    if (s->clock < *theirs)
        *theirs = s->clock;
    if (s->clock < atomic_load_explicit(wish, memory_order_relaxed))
        atomic_store_explicit(wish, s->clock, memory_order_relaxed);
}

/* The order of settle() in crew.c: a time never goes with an earlier one's process. */
static void take_clock(struct sim_far *f, const struct part_news *s)
{
    struct shown *shown = &f->c->shown[s->from];

    if (atomic_load(&shown->clock) < s->clock) {
        atomic_store(&shown->clock, s->clock);
        for (uint32_t i = f->c->first; i < f->c->first + f->c->local; i++)
            atomic_store_explicit(&pipe_of(f, s->from, i)->clock, s->clock, memory_order_release);
    }
    if (atomic_load(&shown->settles) == s->settles && atomic_load(&shown->settles_lp) == s->n)
        return;
    atomic_store(&shown->settles_lp, 0);
    atomic_store(&shown->settles, s->settles);
    atomic_store(&shown->settles_lp, s->n);
}

static void take_head(struct sim_far *f, const struct news *head)
{
    (void)crew_raise(&f->c->all->floor, head->floor);
    if (head->head.extra == f->round)
        crew_lower(f->c->until, head->until);
}

/* Sections of a message from `at` on; returns where it went on not, for want of room. */
static size_t take_sections(struct sim_far *f, uint32_t who, const unsigned char *data, size_t at,
                            size_t bytes)
{
    struct there *t = &f->there[who];
    struct part_news s;

    while (at < bytes) {
        size_t body = at + sizeof s;

        memcpy(&s, data + at, sizeof s);
        switch ((enum section)s.what) {
        case CELLS:
            if (!take_cells(f, who, &s, data + body))
                return at;
            body += s.n * sizeof(union sim_cell);
            break;
        case CLOCK:
            take_clock(f, &s);
            break;
        case WISH:
            take_wish(f, who, &s);
            break;
        case REST:
            t->rests = true;
            t->rest_next = s.clock;
            memcpy(t->rest_out, data + body, f->size * sizeof(uint64_t));
            body += f->size * sizeof(uint64_t);
            memcpy(t->rest_in, data + body, f->size * sizeof(uint64_t));
            body += f->size * sizeof(uint64_t);
            break;
        }
        at = body;
    }
    return at;
}

static void take_news(struct sim_far *f, uint32_t who, const void *data, size_t bytes)
{
    struct there *t = &f->there[who];
    size_t at = sizeof(struct news);

    if (t->used == t->late.n) {
        struct news head;

        memcpy(&head, data, sizeof head);
        take_head(f, &head);
        at = take_sections(f, who, data, at, bytes);
        if (at == bytes)
            return;
        t->late.n = t->used = 0;
    }
    uint64_t length = bytes, from = at;

    wr_bytes_put(&t->late, &length, sizeof length);
    wr_bytes_put(&t->late, &from, sizeof from);
    wr_bytes_put(&t->late, data, bytes);
}

/* What did not fit has room now, perhaps. A partition that waits looks, and makes room. */
static void take_late(struct sim_far *f, uint32_t who)
{
    struct there *t = &f->there[who];
    uint64_t length, from;

    while (t->used < t->late.n) {
        unsigned char *v = t->late.v + t->used;

        memcpy(&length, v, sizeof length);
        memcpy(&from, v + sizeof length, sizeof from);
        const unsigned char *data = v + 2 * sizeof length;
        struct news head;

        memcpy(&head, data, sizeof head);
        take_head(f, &head);
        from = take_sections(f, who, data, from, length);
        if (from < length) {
            memcpy(v + sizeof length, &from, sizeof from);
            return;
        }
        t->used += 2 * sizeof length + length;
    }
}

static void say(struct sim_far *f, uint32_t to, uint32_t kind, uint64_t value)
{
    struct news m = {.head = {.kind = kind, .extra = f->round}, .until = value};

    sim_peers_post(f->peers, to, &m, sizeof m);
}

static uint64_t furthest_here(const struct sim_far *f)
{
    const struct sim_crew *c = f->c;
    uint64_t t = atomic_load(&c->all->floor);

    for (uint32_t i = c->first; i < c->first + c->local; i++) {
        uint64_t clock = atomic_load(&c->shown[i].clock);

        t = clock > t ? clock : t;
    }
    return t;
}

static void take(void *ctx, uint32_t from, const void *data, size_t bytes)
{
    struct sim_far *f = ctx;
    struct news m;

    assert(bytes >= sizeof m);
    memcpy(&m, data, sizeof m);
    switch ((enum kind)m.head.kind) {
    case NEWS:
        take_news(f, from, data, bytes);
        break;
    case STOP_WANTED:
        f->wanted |= m.head.extra == f->round;
        break;
    case STOP_ASK:
        f->stopping = m.head.extra == f->round;
        say(f, from, STOP_SAY, furthest_here(f));
        break;
    case STOP_SAY:
        f->answers++;
        f->furthest = m.until > f->furthest ? m.until : f->furthest;
        break;
    case STOP_GO:
        take_head(f, &m);
        f->stopping = false;
        break;
    }
}

static void poll_all(struct sim_far *f)
{
    for (uint32_t i = 0; i < f->size; i++)
        if (f->there[i].used < f->there[i].late.n)
            take_late(f, i);
    while (sim_peers_poll(f->peers))
        ;
    if (sim_peers_lost(f->peers))
        atomic_store(&f->c->lost, true);
}

void sim_far_look(struct sim_far *f)
{
    if (pthread_mutex_trylock(&f->lock))
        return;
    poll_all(f);
    pthread_mutex_unlock(&f->lock);
}

void sim_far_relax(struct sim_far *f, uint32_t turn)
{
    bool tired = turn >= f->c->spins;

    pthread_mutex_lock(&f->lock);
    send_all(f);
    poll_all(f);
    if (tired && f->c->local == 1)
        sim_peers_nap(f->peers, NAP_NS);
    pthread_mutex_unlock(&f->lock);
    if (tired && f->c->local > 1)
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
#ifdef __x86_64__
    else
        __builtin_ia32_pause();
#endif
}

/* ---- idle stretches ---- */

/* Do all partitions of this process rest, with nothing in any pipe? Their earliest next event.
 * Read twice: whoever went on in between has another turn. */
static bool rest_here(const struct sim_far *f, uint64_t *ret)
{
    const struct sim_crew *c = f->c;
    uint64_t turn[SIM_MAX_PARTS], next = SIM_NEVER;

    for (uint32_t i = 0; i < c->local; i++) {
        const struct shown *s = &c->shown[c->first + i];

        turn[i] = atomic_load_explicit(&s->turn, memory_order_acquire);
        if (!(turn[i] & 1))
            return false;
        uint64_t t = atomic_load_explicit(&s->next, memory_order_acquire);

        next = t < next ? t : next;
    }
    for (uint32_t i = 0; i < c->local; i++)
        for (uint32_t q = 0; q < c->n; q++) {
            const struct sim_pipe *in = pipe_of(f, q, c->first + i),
                                  *out = pipe_of(f, c->first + i, q);

            if (atomic_load(&in->head) != atomic_load(&in->tail) ||
                atomic_load(&out->head) != atomic_load(&out->tail))
                return false;
        }
    for (uint32_t i = 0; i < c->local; i++)
        /* cppcheck-suppress uninitvar; the loop above has been through all of them */
        if (atomic_load_explicit(&c->shown[c->first + i].turn, memory_order_acquire) != turn[i])
            return false;
    *ret = next;
    return true;
}

/* Say so, unless it was said. */
static void tell_rest(struct sim_far *f, uint64_t next)
{
    struct there *me = &f->there[f->rank];
    bool known = me->rests && me->rest_next == next;

    for (uint32_t i = 0; i < f->size; i++)
        known = known && me->rest_out[i] == f->there[i].out && me->rest_in[i] == f->there[i].in;
    if (known)
        return;
    me->rests = true;
    me->rest_next = next;
    for (uint32_t i = 0; i < f->size; i++) {
        me->rest_out[i] = f->there[i].out;
        me->rest_in[i] = f->there[i].in;
    }
    struct part_news s = {.what = REST, .clock = next};

    begin_news(f);
    wr_bytes_put(&f->buf, &s, sizeof s);
    wr_bytes_put(&f->buf, me->rest_out, f->size * sizeof *me->rest_out);
    wr_bytes_put(&f->buf, me->rest_in, f->size * sizeof *me->rest_in);
    for (uint32_t to = 0; to < f->size; to++)
        if (to != f->rank)
            sim_peers_post(f->peers, to, f->buf.v, f->buf.n);
}

/* Has everything that was sent before these states of rest been had before them? */
static bool nothing_between(const struct sim_far *f, uint64_t *ret)
{
    uint64_t next = SIM_NEVER;

    for (uint32_t a = 0; a < f->size; a++) {
        const struct there *t = &f->there[a];

        if (!t->rests)
            return false;
        next = t->rest_next < next ? t->rest_next : next;
        for (uint32_t b = 0; b < f->size; b++)
            if (b != a && t->rest_out[b] != f->there[b].rest_in[a])
                return false;
    }
    *ret = next;
    return true;
}

bool sim_far_quiet(struct sim_far *f, uint64_t *ret)
{
    uint64_t next;
    bool quiet = false;

    if (pthread_mutex_trylock(&f->lock))
        return false;
    if (rest_here(f, &next))
        tell_rest(f, next);
    if (!f->stopping && nothing_between(f, &next)) {
        (void)crew_raise(&f->c->all->floor, next);
        quiet = true;
        *ret = next;
    }
    pthread_mutex_unlock(&f->lock);
    return quiet;
}

/* ---- stopping ---- */

bool sim_far_stop_wanted(struct sim_far *f)
{
    bool wanted = false;

    if (!f->rank && !pthread_mutex_trylock(&f->lock)) {
        wanted = f->wanted;
        pthread_mutex_unlock(&f->lock);
    }
    return wanted;
}

/* How far everybody is, while the caller's partition holds them all back. */
static void ask_all(struct sim_far *f)
{
    bool all = false;

    pthread_mutex_lock(&f->lock);
    f->stopping = true;
    f->answers = 0;
    f->furthest = furthest_here(f);
    for (uint32_t to = 1; to < f->size; to++)
        say(f, to, STOP_ASK, 0);
    pthread_mutex_unlock(&f->lock);
    for (uint32_t i = 0; !all; i++) {
        sim_far_relax(f, i);
        pthread_mutex_lock(&f->lock);
        all = f->answers + 1 >= f->size || atomic_load(&f->c->lost);
        pthread_mutex_unlock(&f->lock);
    }
}

void sim_far_stop(struct sim_far *f)
{
    if (f->rank) {
        pthread_mutex_lock(&f->lock);
        if (!f->asked_for)
            say(f, 0, STOP_WANTED, 0);
        f->asked_for = true;
        pthread_mutex_unlock(&f->lock);
        return;
    }
    ask_all(f);
    pthread_mutex_lock(&f->lock);
    crew_lower(f->c->until, crew_later(f->furthest, f->margin));
    for (uint32_t to = 1; to < f->size; to++)
        say(f, to, STOP_GO, atomic_load(f->c->until));
    f->stopping = f->wanted = false;
    pthread_mutex_unlock(&f->lock);
}

/* ---- meetings ---- */

bool sim_far_meet(struct sim_far *f, uint64_t *values, uint32_t n)
{
    struct wr_err ignored;
    bool ok;

    pthread_mutex_lock(&f->lock);
    send_all(f); /* that this one is there, others may still have to hear */
    ok = sim_peers_least(f->peers, values, n, &ignored);
    f->round++;
    f->wanted = f->asked_for = f->stopping = false;
    pthread_mutex_unlock(&f->lock);
    return ok;
}

/* ---- setting up ---- */

struct sim_far *sim_far_open(struct sim_crew *c, struct sim_peers *peers, uint64_t margin)
{
    struct sim_far *f = wr_zalloc(1, sizeof *f);
    uint64_t least = SIM_NEVER;

    pthread_mutex_init(&f->lock, NULL);
    f->c = c;
    f->peers = peers;
    f->rank = sim_peers_rank(peers);
    f->size = sim_peers_size(peers);
    f->margin = margin;
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t q = 0; q < c->n; q++)
            if (q != i && c->part[i].reach[q] < least)
                least = c->part[i].reach[q];
    f->step = least / STEPS + 1;
    f->there = wr_zalloc(f->size, sizeof *f->there);
    for (uint32_t i = 0; i < f->size; i++) {
        struct there *t = &f->there[i];

        t->clock = wr_zalloc(c->local, sizeof *t->clock);
        t->settles = wr_zalloc(c->local, sizeof *t->settles);
        t->lp = wr_zalloc(c->local, sizeof *t->lp);
        t->wish = wr_alloc(c->local * sizeof *t->wish);
        for (uint32_t k = 0; k < c->local; k++)
            t->wish[k] = SIM_NEVER;
        t->rest_out = wr_zalloc(f->size, sizeof *t->rest_out);
        t->rest_in = wr_zalloc(f->size, sizeof *t->rest_in);
    }
    sim_peers_listen(peers, take, f);
    return f;
}

void sim_far_close(struct sim_far *f)
{
    if (!f)
        return;
    sim_peers_listen(f->peers, NULL, NULL);
    for (uint32_t i = 0; i < f->size; i++) {
        struct there *t = &f->there[i];

        free(t->clock);
        free(t->settles);
        free(t->wish);
        free(t->lp);
        free(t->rest_out);
        free(t->rest_in);
        free(t->late.v);
    }
    free(f->there);
    free(f->buf.v);
    pthread_mutex_destroy(&f->lock);
    free(f);
}
