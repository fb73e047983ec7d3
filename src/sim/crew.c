#include "sim/crew.h"

#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "crew_priv.h"

enum {
    PULSE = 1 << 9,   /* batches between two pulses */
    SPINS = 1 << 11,  /* looks before a waiting thread sleeps ... */
    LEAST_SPINS = 32, /* ... when it had to sleep again and again */
    FAR_SPINS = 256,  /* or a process, to which a look costs more */
    NAP_NS = 1000000, /* ... until it is woken, at most so long */
    LOOK_EVERY = 16,  /* looks between two at whether all rest */
    CPU_EVERY = 64,   /* and at who is on which processor */
    TAKEN = 8,        /* events that are looked at before the first of them is taken in */
    MOST_SHOWS = 3,   /* because somebody waits, until one looks at the others again */
};

struct sim_pipe *sim_part_pipe(const struct sim_part *p, uint32_t to)
{
    return &p->crew->pipe[p->me * p->crew->n + to];
}

/* ---- clocks ---- */

/* What is shown is not in order with this look at who sleeps: that would cost every one of them a
 * hundred times more than it costs who sleeps to make all others catch up (relax). */
static void wake(const struct sim_crew *c, uint32_t q)
{
    struct shown *s = &c->shown[q];

    if (atomic_load_explicit(&s->asleep, memory_order_relaxed) && atomic_exchange(&s->asleep, 0))
        syscall(SYS_futex, &s->asleep, c->near ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void wake_all(const struct sim_part *p)
{
    const struct sim_crew *c = p->crew;

    for (uint32_t q = 0; q < c->n; q++)
        if (q != p->me)
            wake(c, q);
}

/* Everything sent so far, and then the clock: who sees it sees all that was sent before. */
static void show(struct sim_part *p, uint64_t clock)
{
    struct sim_crew *c = p->crew;
    struct shown *s = &c->shown[p->me];
    bool moved = clock > atomic_load_explicit(&s->clock, memory_order_relaxed);

    for (uint32_t q = 0; q < c->n; q++) {
        struct sim_pipe *pipe = sim_part_pipe(p, q);

        if (q == p->me || !(sim_pipe_show(pipe) | moved))
            continue;
        if (moved)
            atomic_store_explicit(&pipe->clock, clock, memory_order_release);
        wake(c, q);
    }
    if (!moved)
        return;
    atomic_store_explicit(&s->clock, clock, memory_order_release);
    if (clock > atomic_load_explicit(&s->wish, memory_order_relaxed))
        atomic_store_explicit(&s->wish, SIM_NEVER, memory_order_relaxed);
}

/* Waiting for q to be beyond `t`. A wish that gets lost costs the rest of a batch. */
static void wish(const struct sim_part *p, uint32_t q, uint64_t t)
{
    _Atomic uint64_t *w = &p->crew->shown[q].wish;

    if (t < atomic_load_explicit(w, memory_order_relaxed))
        atomic_store_explicit(w, t, memory_order_relaxed);
}

static struct sim_pipe *pipe_from(const struct sim_part *p, uint32_t q)
{
    return &p->crew->pipe[q * p->crew->n + p->me];
}

static uint64_t clock_of(const struct sim_part *p, uint32_t q)
{
    return atomic_load_explicit(&pipe_from(p, q)->clock, memory_order_acquire);
}

static void drain(struct sim_part *p, uint32_t from)
{
    struct sim_pipe *pipe = pipe_from(p, from);
    const struct sim_event *e[TAKEN];
    uint32_t n;

    do {
        for (n = 0; n < TAKEN && (e[n] = sim_pipe_get(pipe)); n++)
            if (p->mind.soon)
                p->mind.soon(p->mind.ctx, e[n]);
        for (uint32_t i = 0; i < n; i++)
            p->mind.receive(p->mind.ctx, e[i], sim_pipe_data(e[i]), e[i]->next);
        p->received += n;
    } while (n == TAKEN);
    sim_pipe_free(pipe);
}

/* The clock first, then what was sent before it. */
static void look(struct sim_part *p)
{
    struct sim_crew *c = p->crew;

    if (c->far)
        sim_far_look(c->far);
    for (uint32_t q = 0; q < c->n; q++) {
        if (q == p->me)
            continue;
        uint64_t clock = clock_of(p, q);

        drain(p, q);
        p->seen[q] = clock;
    }
}

static uint64_t known_clock(const struct sim_part *p, uint32_t q)
{
    return p->seen[q] > p->floor ? p->seen[q] : p->floor;
}

uint64_t sim_part_heard(const struct sim_part *p)
{
    uint64_t until = SIM_NEVER;

    for (uint32_t q = 0; q < p->crew->n; q++) {
        uint64_t t = q == p->me ? SIM_NEVER : crew_later(known_clock(p, q), p->reach[q]);

        until = t < until ? t : until;
    }
    return until;
}

/* What lies before may be executed. */
static uint64_t find_limit(const struct sim_part *p, uint64_t until)
{
    for (uint32_t q = 0; q < p->crew->n; q++) {
        if (q == p->me)
            continue;
        uint64_t seen = known_clock(p, q);
        uint64_t t = crew_later(seen, p->reach[q]);

        if (p->tight[q]) {
            uint64_t bound = p->mind.bound(p->mind.ctx, q, seen);

            t = bound < t ? bound : t;
        }
        until = t < until ? t : until;
    }
    return until;
}

static bool news(const struct sim_part *p)
{
    const struct sim_crew *c = p->crew;

    for (uint32_t q = 0; q < c->n; q++)
        if (q != p->me && (clock_of(p, q) != p->seen[q] || !sim_pipe_empty(pipe_from(p, q))))
            return true;
    return false;
}

/* ---- resting ---- */

/* Either another sees that this one sleeps, or this one sees what it shows. Where that cannot be
 * made sure, a nap is a nap. */
static void nap(const struct sim_part *p)
{
    const struct sim_crew *c = p->crew;
    struct shown *s = &c->shown[p->me];

    atomic_store(&s->asleep, 1);
    syscall(SYS_membarrier,
            c->near ? MEMBARRIER_CMD_GLOBAL_EXPEDITED : MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    if (!news(p))
        syscall(SYS_futex, &s->asleep, c->near ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, 1,
                &(struct timespec){.tv_nsec = NAP_NS}, NULL, 0);
    atomic_store(&s->asleep, 0);
}

static uint32_t show_cpu(const struct sim_part *p)
{
    _Atomic uint32_t *shown = &p->crew->shown[p->me].cpu;
    uint32_t cpu = (uint32_t)sched_getcpu();

    if (atomic_load_explicit(shown, memory_order_relaxed) != cpu)
        atomic_store_explicit(shown, cpu, memory_order_relaxed);
    return cpu;
}

/* Is somebody on the same processor, who cannot go on while this one looks whether it has? */
static bool in_the_way(const struct sim_part *p)
{
    uint32_t cpu = show_cpu(p);

    for (uint32_t q = 0; q < p->crew->n; q++) {
        const struct shown *s = &p->crew->shown[q];

        if (q != p->me && atomic_load_explicit(&s->cpu, memory_order_relaxed) == cpu &&
            !atomic_load_explicit(&s->asleep, memory_order_relaxed))
            return true;
    }
    return false;
}

static void look_for_lost(struct sim_crew *c)
{
    if (c->near && sim_near_lost(c->near))
        atomic_store(&c->lost, true);
}

static void relax(struct sim_part *p, uint32_t turn)
{
    struct sim_crew *c = p->crew;

    if (c->far) {
        sim_far_relax(c->far, turn);
        return;
    }
    if (turn < p->patience && (turn % CPU_EVERY || !in_the_way(p))) {
#ifdef __x86_64__
        __builtin_ia32_pause();
#endif
        return;
    }
    look_for_lost(c);
    nap(p);
    if (p->patience > LEAST_SPINS)
        p->patience /= 2;
}

/* Waited for so many looks. Where others have the processors, too, the one who is waited for may
 * not be running, and does so sooner if nobody spins. */
static void relaxed(struct sim_part *p, uint32_t turns)
{
    if (turns && turns <= p->patience && 2 * p->patience <= p->crew->spins)
        p->patience *= 2;
}

/* If all rest at the same moment and nothing is on its way: the earliest next event of all. Read
 * twice: whoever went on in between has another turn. */
static bool look_around(const struct sim_crew *c, uint64_t *ret)
{
    uint64_t turn[SIM_MAX_PARTS], next = SIM_NEVER, sent = 0, received = 0;

    if (c->far)
        return sim_far_quiet(c->far, ret);
    for (uint32_t q = 0; q < c->n; q++) {
        turn[q] = atomic_load(&c->shown[q].turn);
        if (!(turn[q] & 1))
            return false;
        uint64_t t = atomic_load_explicit(&c->shown[q].next, memory_order_acquire);

        next = t < next ? t : next;
        sent += atomic_load_explicit(&c->shown[q].sent, memory_order_acquire);
        received += atomic_load_explicit(&c->shown[q].received, memory_order_acquire);
    }
    for (uint32_t q = 0; q < c->n; q++)
        if (atomic_load_explicit(&c->shown[q].turn, memory_order_acquire) != turn[q])
            return false;
    *ret = next;
    return sent == received;
}

/* A process is gone: nobody waits any more, and whatever comes of it is thrown away. */
static bool broken(struct sim_part *p)
{
    if (!atomic_load_explicit(&p->crew->lost, memory_order_relaxed))
        return false;
    p->sim->limit = 0;
    return true;
}

/* All stop at a time that none of them has passed. The caller does not rest, so nobody jumps who
 * was not about to; and its clock stands, so nobody is done before all know. */
static void stop_soon(struct sim_part *p)
{
    struct sim_crew *c = p->crew;

    c->stops = true;
    if (c->far) {
        sim_far_stop(c->far);
        return;
    }
    for (uint32_t i = 0; atomic_load(&c->all->jumpers) && !broken(p); i++)
        relax(p, i);
    uint64_t t = atomic_load(&c->all->floor);

    for (uint32_t q = 0; q < c->n; q++) {
        uint64_t clock = atomic_load(&c->shown[q].clock);

        t = clock > t ? clock : t;
    }
    crew_lower(c->until, crew_later(t, c->margin));
}

static bool all_there(const struct sim_part *p, uint64_t until)
{
    for (uint32_t q = 0; q < p->crew->n; q++)
        if (q != p->me && clock_of(p, q) < until)
            return false;
    return true;
}

/* Others' clocks have moved on: does that let this one go on? If not it still rests, and shows
 * how far it would go: those who rest would otherwise wake each other for a step of a
 * credit's time, again and again, and never see that all rest. */
static bool may_go(struct sim_part *p, uint64_t next, uint64_t until, bool first)
{
    struct sim_crew *c = p->crew;
    bool moved = false;

    for (uint32_t q = 0; q < c->n; q++) {
        if (q == p->me)
            continue;
        uint64_t clock = clock_of(p, q);

        if (!sim_pipe_empty(pipe_from(p, q)))
            return true;
        moved |= clock != p->seen[q];
        p->seen[q] = clock;
    }
    if (!moved && !first)
        return false;
    uint64_t limit = find_limit(p, until);

    if (next < limit)
        return true;
    if (limit >= until) /* it says so, if it has not, and then waits for those who are not there */
        return atomic_load_explicit(&c->shown[p->me].clock, memory_order_relaxed) < until ||
               all_there(p, until);
    for (uint32_t q = 0; q < c->n; q++)
        if (q != p->me) /* the limit goes with the clock of one of them */
            wish(p, q, crew_later(p->seen[q], next - limit));
    show(p, limit);
    return false;
}

/* Shall all stop soon? Asked by the first partition of each process. */
static bool feel_pulse(const struct sim_part *p)
{
    const struct sim_crew *c = p->crew;

    if (p->me != c->first || c->stops) /* once is enough */
        return false;
    return (c->pulse && c->pulse(c->pulse_ctx)) || (c->far && sim_far_stop_wanted(c->far));
}

/* All jump, whoever has seen first that all rest: somebody may be waited for who has not. */
static void raise_floor(const struct sim_part *p, uint64_t to)
{
    if (crew_raise(&p->crew->all->floor, to))
        wake_all(p);
}

/* Whoever stops rests no more and then waits for those who may have seen it rest (stop_soon). */
static void jump(const struct sim_part *p)
{
    struct sim_crew *c = p->crew;
    uint64_t all;

    if (!look_around(c, &all))
        return;
    atomic_fetch_add(&c->all->jumpers, 1);
    if (look_around(c, &all))
        raise_floor(p, all);
    atomic_fetch_sub(&c->all->jumpers, 1);
}

/* Nothing to do before others have gone on: until they have, or all rest. */
static void rest(struct sim_part *p, uint64_t next, uint64_t until)
{
    struct sim_crew *c = p->crew;
    struct shown *s = &c->shown[p->me];
    uint64_t since = wr_clock_ns();
    uint32_t i = 0;
    bool stop = false;

    p->work.rests++;
    atomic_store_explicit(&s->next, next, memory_order_relaxed);
    atomic_store_explicit(&s->sent, p->sent, memory_order_relaxed);
    atomic_store_explicit(&s->received, p->received, memory_order_relaxed);
    atomic_fetch_add(&s->turn, 1);
    for (; !may_go(p, next, until, !i); i++) {
        if (atomic_load_explicit(c->until, memory_order_relaxed) != until || broken(p))
            break;
        bool due = c->far || i >= p->patience || i % LOOK_EVERY == LOOK_EVERY - 1;

        if (due)
            jump(p);
        if (atomic_load(&c->all->floor) > p->floor) {
            p->floor = atomic_load(&c->all->floor);
            p->work.jumps++;
            break;
        }
        stop = i >= p->patience && feel_pulse(p);
        if (stop)
            break;
        relax(p, i);
    }
    atomic_fetch_add(&s->turn, 1);
    relaxed(p, i);
    if (stop)
        stop_soon(p);
    p->work.rest_ns += wr_clock_ns() - since;
}

void sim_part_await(struct sim_part *p, uint32_t q, uint64_t t)
{
    uint64_t since = 0;
    uint32_t i = 0;

    look(p);
    for (; p->seen[q] <= t && !broken(p); i++) {
        if (!i) {
            show(p, p->sim->now);
            since = wr_clock_ns();
            p->work.asks++;
            wish(p, q, t);
        }
        relax(p, i);
        look(p);
    }
    relaxed(p, i);
    if (since)
        p->work.ask_ns += wr_clock_ns() - since;
}

/* Has q done what comes before (t, lp)? */
static bool settled(const struct sim_part *p, uint32_t q, uint64_t t, uint32_t lp)
{
    const struct shown *s = &p->crew->shown[q];

    return p->seen[q] > t || (atomic_load(&s->settles) == t && atomic_load(&s->settles_lp) > lp);
}

/* Whoever settles earlier, or at the same time in a process with a lower number, need not wait for
 * this one: the first of all can always go on. */
void sim_part_settle(struct sim_part *p, uint32_t q, uint32_t lp)
{
    struct shown *s = &p->crew->shown[p->me];
    uint64_t t = p->sim->now, since = 0;

    look(p);
    for (uint32_t i = 0; !settled(p, q, t, lp) && !broken(p); i++) {
        if (!i) {
            since = wr_clock_ns();
            p->work.asks++;
            show(p, t); /* what was sent so far: whoever sees the next words can see that */
            atomic_store(&s->settles_lp, 0); /* a time never goes with an earlier one's process */
            atomic_store(&s->settles, t);
            atomic_store(&s->settles_lp, lp);
            wake_all(p);
        }
        relax(p, i);
        look(p);
    }
    look(p); /* what q had sent when it settled */
    if (since)
        p->work.ask_ns += wr_clock_ns() - since;
}

/* The pipe is full: what is in it has to be taken out, and the other may be waiting for us. */
void sim_part_send_slow(struct sim_part *p, uint32_t to, const struct sim_event *e,
                        const void *data, uint32_t bytes)
{
    for (uint32_t i = 0; !sim_pipe_put(sim_part_pipe(p, to), e, data, bytes) && !broken(p); i++) {
        show(p, 0);
        look(p);
        relax(p, i);
    }
}

/* ---- running ---- */

/* Executes some of what lies before the limit, and shows how far it has come: at the end, and when
 * somebody waits for it. False: nothing is left before the limit, which may have been lowered. */
static bool run_batch(struct sim_part *p)
{
    struct sim *s = p->sim;

    for (uint32_t shows = 0;; shows++) {
        uint64_t before = s->queue.popped + s->rode;

        sim_run_part(s, SIM_BATCH);
        p->stride += (uint32_t)(s->queue.popped + s->rode - before) - p->stride / SIM_STRIDE;
        bool wished = s->now > atomic_load_explicit(s->wish, memory_order_relaxed);
        uint64_t next = sim_next(s), clock = next < s->limit ? next : s->limit;

        p->work.batches++;
        for (uint32_t q = 0; q < p->crew->n; q++) /* the next look will be at these */
            __builtin_prefetch(pipe_from(p, q));
        if (p->mind.tell)
            p->mind.tell(p->mind.ctx, clock);
        show(p, clock);
        if (p->crew->far)
            sim_far_show(p->crew->far, next >= s->limit);
        if (next >= s->limit)
            return false;
        if (!wished || shows == MOST_SHOWS)
            return true;
    }
}

static void run_part(struct sim_part *p)
{
    struct sim_crew *c = p->crew;
    struct sim *s = p->sim;
    uint64_t since = wr_clock_ns(), before = sim_events(s);

    for (uint64_t batch = 1;; batch++) {
        uint64_t until = atomic_load(c->until);

        show_cpu(p);
        look(p);
        s->limit = find_limit(p, until);
        bool more = run_batch(p);
        uint64_t next = sim_next(s);

        if (broken(p))
            break;
        if (batch % PULSE == 0) {
            look_for_lost(c);
            if (feel_pulse(p))
                stop_soon(p);
        }
        if (more)
            continue;
        if (s->limit >= until && all_there(p, until)) {
            look(p); /* what came last may still be for a time before */
            (void)find_limit(p, until);
            if (sim_next(s) >= until)
                break;
            continue;
        }
        rest(p, next, until);
    }
    p->work.events += sim_events(s) - before;
    p->work.run_ns += wr_clock_ns() - since;
}

static void *work(void *ctx)
{
    struct sim_part *p = ctx;
    struct sim_crew *c = p->crew;
    uint64_t round = 0;

    for (;;) {
        pthread_mutex_lock(&c->lock);
        while (c->round == round && !c->over)
            pthread_cond_wait(&c->go, &c->lock);
        round = c->round;
        bool over = c->over;
        pthread_mutex_unlock(&c->lock);
        if (over)
            return NULL;
        run_part(p);
        pthread_mutex_lock(&c->lock);
        if (!--c->working)
            pthread_cond_signal(&c->done);
        pthread_mutex_unlock(&c->lock);
    }
}

/* Agree on when the last event was and the next is. */
static void meet(struct sim_crew *c, uint64_t *last, uint64_t *next)
{
    uint64_t v[] = {SIM_NEVER - *last, *next};
    struct wr_err ignored;

    if (c->far ? !sim_far_meet(c->far, v, 2) : !sim_peers_least(c->peers, v, 2, &ignored)) {
        atomic_store(&c->lost, true);
        *next = SIM_NEVER;
        return;
    }
    *last = SIM_NEVER - v[0];
    *next = v[1];
}

bool sim_crew_run(struct sim_crew *c, uint64_t until, sim_pulse *pulse, void *ctx,
                  uint64_t *ret_until)
{
    uint64_t last = 0, next = SIM_NEVER;

    c->pulse = pulse;
    c->pulse_ctx = ctx;
    c->stops = false;
    pthread_mutex_lock(&c->lock);
    c->round++;
    c->until = &c->all->until[c->round % 2];
    crew_lower(c->until, until);
    atomic_store(&c->all->until[(c->round + 1) % 2], SIM_NEVER); /* all have left it */
    c->working = c->local - 1;
    pthread_cond_broadcast(&c->go);
    pthread_mutex_unlock(&c->lock);
    run_part(&c->part[c->first]);
    pthread_mutex_lock(&c->lock);
    while (c->working)
        pthread_cond_wait(&c->done, &c->lock);
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = c->first; i < c->first + c->local; i++) {
        for (uint32_t q = 0; q < c->n; q++)
            if (q != i)
                drain(&c->part[i], q);
        uint64_t t = sim_next(&c->own[i].sim);

        next = t < next ? t : next;
        last = c->own[i].sim.last > last ? c->own[i].sim.last : last;
    }
    *ret_until = atomic_load(c->until);
    if (c->peers)
        meet(c, &last, &next);
    for (uint32_t i = 0; i < c->n; i++)
        c->own[i].sim.now = c->own[i].sim.last = last;
    return next != SIM_NEVER;
}

/* ---- setting up ---- */

static void open_part(struct sim_crew *c, uint32_t i, const uint64_t *lookahead)
{
    struct sim_part *p = &c->part[i];

    sim_init(&c->own[i].sim);
    c->own[i].sim.wish = &c->shown[i].wish;
    atomic_store(&c->shown[i].wish, SIM_NEVER);
    *p = (struct sim_part){.sim = &c->own[i].sim, .crew = c, .me = i, .patience = c->spins};
    p->seen = wr_zalloc(c->n, sizeof *p->seen);
    p->reach = wr_zalloc(c->n, sizeof *p->reach);
    p->tight = wr_zalloc(c->n, sizeof *p->tight);
    for (uint32_t q = 0; q < c->n; q++) {
        p->reach[q] = lookahead[q * c->n + i];
        assert(p->reach[q]);
        if (q != i && p->reach[q] != SIM_NEVER)
            c->margin = crew_later(c->margin, p->reach[q]);
    }
}

static bool start_threads(struct sim_crew *c, struct wr_err *err)
{
    for (c->threads = 1; c->threads < c->local; c->threads++) {
        struct sim_part *p = &c->part[c->first + c->threads];

        errno = pthread_create(&c->thread[c->threads], NULL, work, p);
        if (errno)
            return wr_fail_errno(err, "cannot start %u threads; ask for fewer with -j", c->local);
    }
    return true;
}

/* The common block: in memory of all processes if they can have that, or in this one's own. Pages
 * that no pipe needs are never touched. */
static size_t block_bytes(const struct sim_crew *c)
{
    return sizeof *c->all + c->n * sizeof *c->shown + (size_t)c->n * c->n * sizeof *c->pipe;
}

static bool open_block(struct sim_crew *c, struct wr_err *err)
{
    size_t bytes = block_bytes(c);
    void *block;

    c->near = c->peers ? sim_near_open(c->peers, bytes) : NULL;
    if (c->near)
        block = sim_near_memory(c->near);
    else
        block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
        return wr_fail_errno(err, "cannot have pipes between %u threads; ask for fewer with -j",
                             c->n);
    c->all = block;
    c->shown = (struct shown *)(c->all + 1);
    c->pipe = (struct sim_pipe *)(c->shown + c->n);
    c->until = &c->all->until[0];
    atomic_store(&c->all->until[1], SIM_NEVER); /* of the first round */
    syscall(SYS_membarrier,
            c->near ? MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED
                    : MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
            0, 0);
    return true;
}

static void close_block(struct sim_crew *c)
{
    if (!c->near && c->all)
        munmap(c->all, block_bytes(c));
    sim_near_close(c->near);
}

/* Looks before a waiting thread sleeps: none where another needs its processor, of this machine or
 * of those that a launcher has bound this process to. */
static uint32_t spins_of(const struct sim_crew *c)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t mine;

    if (cpus < (long)c->local * (c->peers ? sim_peers_local(c->peers) : 1))
        return 0;
    if (!sched_getaffinity(0, sizeof mine, &mine) && CPU_COUNT(&mine) < (int)c->local)
        return 0;
    return c->peers && !c->near ? FAR_SPINS : SPINS;
}

bool sim_crew_open(struct sim_crew **ret, uint32_t n, const uint64_t *lookahead,
                   struct sim_peers *peers, struct wr_err *err)
{
    struct sim_crew *c = wr_zalloc_aligned(1, sizeof *c);
    uint32_t rank = peers ? sim_peers_rank(peers) : 0, size = peers ? sim_peers_size(peers) : 1;

    assert(n <= SIM_MAX_PARTS && n >= size);
    c->n = n;
    c->peers = size > 1 ? peers : NULL;
    c->first = sim_far_first(n, size, rank);
    c->local = sim_far_first(n, size, rank + 1) - c->first;
    if (!open_block(c, err)) {
        free(c);
        return false;
    }
    c->spins = spins_of(c);
    c->own = wr_zalloc_aligned(n, sizeof *c->own);
    c->part = wr_zalloc_aligned(n, sizeof *c->part);
    c->thread = wr_zalloc(n, sizeof *c->thread);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->go, NULL);
    pthread_cond_init(&c->done, NULL);
    for (uint32_t i = 0; i < n; i++)
        open_part(c, i, lookahead);
    if (c->peers && !c->near)
        c->far = sim_far_open(c, peers,
                              crew_later(0, c->margin > SIM_NEVER / 4 ? SIM_NEVER : 4 * c->margin));
    if (!start_threads(c, err)) {
        sim_crew_close(c);
        return false;
    }
    *ret = c;
    return true;
}

void sim_crew_close(struct sim_crew *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->over = true;
    pthread_cond_broadcast(&c->go);
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 1; i < c->threads; i++)
        pthread_join(c->thread[i], NULL);
    sim_far_close(c->far);
    for (uint32_t i = 0; i < c->n; i++) {
        sim_fini(&c->own[i].sim);
        free(c->part[i].seen);
        free(c->part[i].reach);
        free(c->part[i].tight);
    }
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->go);
    pthread_cond_destroy(&c->done);
    free(c->own);
    free(c->part);
    free(c->thread);
    close_block(c);
    free(c);
}

uint32_t sim_crew_size(const struct sim_crew *c)
{
    return c->n;
}

struct sim_part *sim_crew_part(struct sim_crew *c, uint32_t i)
{
    return &c->part[i];
}

uint32_t sim_crew_first(const struct sim_crew *c)
{
    return c->first;
}

uint32_t sim_crew_local(const struct sim_crew *c)
{
    return c->local;
}

bool sim_crew_lost(const struct sim_crew *c)
{
    return atomic_load(&c->lost);
}
