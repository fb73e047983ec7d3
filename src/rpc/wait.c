/* wait.c -- how a client or server waits: spin, block in the kernel, or sleep for bounded times.
 *
 * A struct rpc_waiter belongs to one endpoint and is used by its thread only. rpc_waiter_idle() is
 * called each time nothing was found, rpc_waiter_happened() when something was. Where spinning and
 * blocking may both be right, the waiter measures both in short series (struct rpc_trial).
 *
 * Invariant: `policy` is what was asked for, or RPC_TIMED once blocking was found to use the
 * processor.
 */
#include <assert.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "rpc/rpc.h"

const char *const rpc_wait_names[] = {"block", "poll", "adaptive", "nap", NULL};

enum { POLL_LOOKS = 32, ASK_TIME = 4, ASK_WHERE = 64 };
enum { TIMED_BUSY_NS = 50000, TIMED_FIRST_NS = 20000, TIMED_MOST_NS = 5000000, TIMED_RETRY = 512 };
enum { IDLE_NS = 20000000, SLICE_NS = 100000, TICK_US = 50000 };
enum { SERIES = 32, TRIAL = 8, TRIAL_EVERY = 4, TRIAL_EVERY_MOST = 64, LONGEST_NS = 2000000 };

void rpc_waiter_init(struct rpc_waiter *w, const struct rpc_opts *o)
{
    assert(o->wait <= RPC_TIMED);
    *w = (struct rpc_waiter){.asked = o->wait,
                             .policy = o->wait,
                             .oversubscribed = o->oversubscribed,
                             .spin_ns = 1000ull * o->spin_us,
                             .trial = {.length = SERIES, .trial_every = TRIAL_EVERY}};
}

/* ---- sleeping ---- */

static void wait_timed(struct rpc_waiter *w, uint64_t most_ns)
{
    uint64_t ns = w->idle_sleeps && w->sleep_ns ? w->sleep_ns : TIMED_FIRST_NS;

    w->sleep_ns = ns < TIMED_MOST_NS / 2 ? 2 * ns : TIMED_MOST_NS;
    ns = ns < most_ns ? ns : most_ns;
    nanosleep(&(struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)}, NULL);
}

/* Sleeps in vain are what an idle process does: they must not take the processor. Looking at its
 * clock costs nothing that matters then. */
static uint32_t wait_block_watched(struct rpc_waiter *w, struct rpc_ep *ep, uint64_t timeout_ns)
{
    uint64_t wall = wr_clock_ns(), cpu = wr_clock_cpu_ns();
    uint32_t n = ep->t->wait(ep, timeout_ns);

    w->idle_wall_ns += wr_clock_ns() - wall;
    w->idle_cpu_ns += wr_clock_cpu_ns() - cpu;
    if (w->idle_cpu_ns < IDLE_NS && w->idle_wall_ns < 10ull * IDLE_NS)
        return n;
    /* One that never sleeps may still get little of a busy machine. */
    w->policy = w->idle_cpu_ns > w->idle_wall_ns / 16 ? RPC_TIMED : w->asked;
    w->idle_wall_ns = w->idle_cpu_ns = 0;
    return n;
}

static uint32_t wait_block(struct rpc_waiter *w, struct rpc_ep *ep, uint64_t timeout_ns, bool busy)
{
    uint64_t most = busy && timeout_ns > TIMED_BUSY_NS ? TIMED_BUSY_NS : timeout_ns;
    /* What did not sleep while a connection came or went may do so afterwards. */
    bool again = w->asked != RPC_TIMED && ep->t->blocks(ep) &&
                 w->idle_sleeps % TIMED_RETRY == TIMED_RETRY - 1;

    uint32_t n = 0;

    w->sleeps++;
    if (w->policy == RPC_TIMED && !again)
        wait_timed(w, most);
    else if (w->idle_sleeps && !busy)
        n = wait_block_watched(w, ep, most);
    else
        n = ep->t->wait(ep, most);
    w->idle_sleeps += !n;
    return n;
}

/* ---- looking or sleeping ---- */

/* A waiter that finds a message at every check would never let others run. */
void rpc_waiter_yield(struct rpc_waiter *w)
{
    w->turn = 0;
    sched_yield();
}

static void wait_next_series(struct rpc_trial *t)
{
    assert(t->n && t->trial_every);
    /* A side that blocks must be woken, which costs the other side: blocking must be twice as
     * short. A way that was never tried counts as short. */
    bool sleeps = 2ull * t->mean_ns[1] < t->mean_ns[0];

    if (t->on_trial) {
        bool won = t->sleeps == sleeps;

        t->trial_every = won                                 ? TRIAL_EVERY
                         : t->trial_every < TRIAL_EVERY_MOST ? 2 * t->trial_every
                                                             : TRIAL_EVERY_MOST;
        t->series = t->trial_every;
    }
    t->on_trial = !t->on_trial && !t->series;
    t->series -= t->series > 0;
    t->sleeps = t->on_trial ? !sleeps : sleeps;
    t->length = t->on_trial ? TRIAL : SERIES;
    t->n = 0;
    t->sum_ns = 0;
}

void rpc_waiter_learn(struct rpc_waiter *w)
{
    struct rpc_trial *t = &w->trial;

    w->idle_sleeps = 0;
    w->idle_wall_ns = w->idle_cpu_ns = 0;
    if (!t->began_ns)
        return;
    if (w->where != RPC_CPU_UNKNOWN) { /* one need not find out */
        t->began_ns = 0;
        return;
    }
    uint64_t took = wr_clock_ns() - t->began_ns;

    t->began_ns = 0;
    if (took > LONGEST_NS) { /* no call came */
        if (t->sleeps)
            return;
        took = LONGEST_NS;
    }
    t->sum_ns += took;
    t->n++;
    bool worse = t->on_trial && t->sum_ns > 4ull * TRIAL * t->mean_ns[!t->sleeps];

    if (t->n < t->length && !worse)
        return;
    t->mean_ns[t->sleeps] = (uint32_t)(t->sum_ns / t->n) + 1;
    wait_next_series(t);
}

/* Can it be woken by the kernel, and is so? */
static bool wait_kernel_wakes(const struct rpc_waiter *w, const struct rpc_ep *ep)
{
    return ep->t->kernel_wakes && w->policy == RPC_ADAPTIVE;
}

/* On an oversubscribed machine, or on the same processor, spinning would keep the processor from
 * the process that is waited for. */
static bool wait_blocks_first(const struct rpc_waiter *w, const struct rpc_ep *ep)
{
    if (w->policy == RPC_ADAPTIVE && !w->oversubscribed && w->where != RPC_CPU_UNKNOWN)
        return w->where == RPC_CPU_SAME;
    return wait_kernel_wakes(w, ep) && (w->oversubscribed || w->trial.sleeps);
}

/* Asked once for a wait, and now and then in a long one. */
static void wait_find_cpu(struct rpc_waiter *w, struct rpc_ep *ep)
{
    if (ep->t->where && !w->oversubscribed && w->rounds % ASK_WHERE == 1)
        w->where = ep->t->where(ep);
}

bool rpc_waiter_blocks_first(const struct rpc_waiter *w, const struct rpc_ep *ep)
{
    return ep->t->wait_takes && (w->policy == RPC_BLOCK || wait_blocks_first(w, ep));
}

/* A spinning waiter yields only on an oversubscribed machine: elsewhere an unrelated process may
 * keep the processor for milliseconds, and after spin_ns the waiter blocks anyway. */
static uint32_t wait_spin_or_block(struct rpc_waiter *w, struct rpc_ep *ep, uint64_t timeout_ns,
                                   bool busy)
{
    struct rpc_trial *t = &w->trial;
    bool sleeps = wait_blocks_first(w, ep);

    /* There is no choice, so nothing is timed. */
    if (sleeps && (w->oversubscribed || w->where == RPC_CPU_SAME))
        return wait_block(w, ep, timeout_ns, busy);
    if (!sleeps && !w->oversubscribed && w->rounds < ep->t->looks) {
        rpc_pause();
        return 0;
    }
    if (!t->began_ns)
        t->began_ns = wr_clock_ns();
    /* Asking for the time costs more than a look. */
    if (!sleeps && w->rounds % ASK_TIME == 0)
        sleeps = wr_clock_ns() - t->began_ns > w->spin_ns;
    if (sleeps)
        return wait_block(w, ep, timeout_ns, busy);
    if (w->oversubscribed)
        sched_yield();
    else
        rpc_pause();
    return 0;
}

uint32_t rpc_waiter_idle(struct rpc_waiter *w, struct rpc_ep *ep, uint64_t timeout_ns, bool busy)
{
    w->rounds++;
    wait_find_cpu(w, ep);
    if (w->policy == RPC_POLL) {
        /* The process that is waited for may need this processor. */
        if (w->oversubscribed || w->rounds % (POLL_LOOKS * ep->t->looks) == 0 ||
            w->where == RPC_CPU_SAME)
            sched_yield();
        else
            rpc_pause();
        return 0;
    }
    if (w->policy == RPC_BLOCK || w->idle_sleeps)
        return wait_block(w, ep, timeout_ns, busy);
    return wait_spin_or_block(w, ep, timeout_ns, busy);
}

/* The kernel's struct sched_attr, as of its first version. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice_ns, deadline_ns, period_ns;
};

/* sched_yield() gives away a time slice: a short one where the kernel can set it (Linux 6.12), so
 * that unrelated processes do not run for long in between. */
void rpc_share_processors(void)
{
    struct attributes mine = {.size = sizeof mine}, crowd;

    if (syscall(SYS_sched_getattr, 0, &mine, sizeof mine, 0) || mine.policy != SCHED_OTHER)
        return;
    crowd = mine;
    crowd.policy = SCHED_BATCH;
    crowd.slice_ns = SLICE_NS;
    syscall(SYS_sched_setattr, 0, &crowd, 0);
}

static void wait_on_alarm(int signal)
{
    (void)signal;
}

/* Again and again, so that one that comes just before a sleep is followed by another. */
bool rpc_tick(void)
{
    struct sigaction a = {.sa_handler = wait_on_alarm};
    struct itimerval t = {{.tv_usec = TICK_US}, {.tv_usec = TICK_US}};

    return !sigaction(SIGALRM, &a, NULL) && !setitimer(ITIMER_REAL, &t, NULL);
}

/* ---- does sleeping sleep? ---- */

static bool wait_test_block(struct rpc_ep *ep)
{
    enum { TRY_NS = 5000000 };
    uint64_t wall = wr_clock_ns(), cpu = wr_clock_cpu_ns();

    while (wr_clock_ns() - wall < TRY_NS) {
        uint64_t before = wr_clock_ns();

        ep->t->wait(ep, TRY_NS);
        if (wr_clock_cpu_ns() - cpu > TRY_NS / 2)
            return false;
        /* One that returns at once without anything is no sleep either. */
        if (wr_clock_ns() - before < TRY_NS / 100 && wr_clock_cpu_ns() - cpu > TRY_NS / 10)
            return false;
    }
    return wr_clock_cpu_ns() - cpu < TRY_NS / 4;
}

/* Once is enough: what looks again and again does so every time, but an interrupt may be charged to
 * a process that sleeps. */
void rpc_waiter_test(struct rpc_waiter *w, struct rpc_ep *ep)
{
    if (w->policy == RPC_POLL || w->policy == RPC_TIMED)
        return;
    assert(ep->t->wait && ep->t->blocks);
    for (int tries = 0; ep->t->blocks(ep) && tries < 4; tries++)
        if (wait_test_block(ep))
            return;
    w->policy = RPC_TIMED;
}
