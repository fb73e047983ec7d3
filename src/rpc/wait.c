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
enum { NAP_NS = 50000, NAP_FIRST_NS = 20000, NAP_MOST_NS = 5000000, NAPS = 512 };
enum { VAIN_NS = 20000000, SLICE_NS = 100000, TICK_US = 50000 };
enum { SERIES = 32, TRIAL = 8, PATIENCE = 4, PATIENCE_MOST = 64, LONGEST_NS = 2000000 };

void rpc_waiter_init(struct rpc_waiter *w, const struct rpc_opts *o)
{
    *w = (struct rpc_waiter){.asked = o->wait,
                             .policy = o->wait,
                             .crowded = o->crowded,
                             .spin_ns = 1000ull * o->spin_us,
                             .trial = {.length = SERIES, .patience = PATIENCE}};
}

/* ---- sleeping ---- */

static void nap(struct rpc_waiter *w, uint64_t most_ns)
{
    uint64_t ns = w->in_vain && w->nap_ns ? w->nap_ns : NAP_FIRST_NS;

    w->nap_ns = ns < NAP_MOST_NS / 2 ? 2 * ns : NAP_MOST_NS;
    ns = ns < most_ns ? ns : most_ns;
    nanosleep(&(struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)}, NULL);
}

/* Sleeps in vain are what an idle process does: they must not take the processor. Looking at its
 * clock costs nothing that matters then. */
static uint32_t sleep_watched(struct rpc_waiter *w, struct rpc_ep *ep, uint64_t timeout_ns)
{
    uint64_t wall = wr_clock_ns(), cpu = wr_clock_cpu_ns();
    uint32_t n = ep->t->wait(ep, timeout_ns);

    w->vain_wall_ns += wr_clock_ns() - wall;
    w->vain_cpu_ns += wr_clock_cpu_ns() - cpu;
    if (w->vain_cpu_ns < VAIN_NS && w->vain_wall_ns < 10ull * VAIN_NS)
        return n;
    /* One that never sleeps may still get little of a busy machine. */
    w->policy = w->vain_cpu_ns > w->vain_wall_ns / 16 ? RPC_NAP : w->asked;
    w->vain_wall_ns = w->vain_cpu_ns = 0;
    return n;
}

static uint32_t sleep_now(struct rpc_waiter *w, struct rpc_ep *ep, uint64_t timeout_ns, bool busy)
{
    uint64_t most = busy && timeout_ns > NAP_NS ? NAP_NS : timeout_ns;
    /* What did not sleep while a connection came or went may do so afterwards. */
    bool again = w->asked != RPC_NAP && ep->t->blocks(ep) && w->in_vain % NAPS == NAPS - 1;

    uint32_t n = 0;

    w->sleeps++;
    if (w->policy == RPC_NAP && !again)
        nap(w, most);
    else if (w->in_vain && !busy)
        n = sleep_watched(w, ep, most);
    else
        n = ep->t->wait(ep, most);
    w->in_vain += !n;
    return n;
}

/* ---- looking or sleeping ---- */

/* Whoever finds what it looks for again and again would never let others run. */
void rpc_waiter_end_turn(struct rpc_waiter *w)
{
    w->turn = 0;
    sched_yield();
}

static void next_series(struct rpc_trial *t)
{
    /* Who sleeps must be woken, which costs the other side. What was never tried counts as short.
     */
    bool sleeps = 2ull * t->mean_ns[1] < t->mean_ns[0];

    if (t->on_trial) {
        bool won = t->sleeps == sleeps;

        t->patience = won                           ? PATIENCE
                      : t->patience < PATIENCE_MOST ? 2 * t->patience
                                                    : PATIENCE_MOST;
        t->series = t->patience;
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

    w->in_vain = 0;
    w->vain_wall_ns = w->vain_cpu_ns = 0;
    if (!t->began_ns)
        return;
    if (w->where != RPC_SOMEWHERE) { /* one need not find out */
        t->began_ns = 0;
        return;
    }
    uint64_t took = wr_clock_ns() - t->began_ns;

    t->began_ns = 0;
    if (took > LONGEST_NS) { /* nobody called */
        if (t->sleeps)
            return;
        took = LONGEST_NS;
    }
    t->sum_ns += took;
    t->n++;
    bool hopeless = t->on_trial && t->sum_ns > 4ull * TRIAL * t->mean_ns[!t->sleeps];

    if (t->n < t->length && !hopeless)
        return;
    t->mean_ns[t->sleeps] = (uint32_t)(t->sum_ns / t->n) + 1;
    next_series(t);
}

/* Can it be woken by the kernel, and is so? */
static bool is_woken(const struct rpc_waiter *w, const struct rpc_ep *ep)
{
    return ep->t->kernel_wakes && w->policy == RPC_ADAPTIVE;
}

/* With more processes than processors, and beside the one it waits for, whoever looks keeps the
 * processor from it. */
static bool sleeps_first(const struct rpc_waiter *w, const struct rpc_ep *ep)
{
    if (w->policy == RPC_ADAPTIVE && !w->crowded && w->where != RPC_SOMEWHERE)
        return w->where == RPC_BESIDE;
    return is_woken(w, ep) && (w->crowded || w->trial.sleeps);
}

/* Asked once for a wait, and now and then in a long one. */
static void find_out_where(struct rpc_waiter *w, struct rpc_ep *ep)
{
    if (ep->t->where && !w->crowded && w->rounds % ASK_WHERE == 1)
        w->where = ep->t->where(ep);
}

bool rpc_waiter_dozes(const struct rpc_waiter *w, const struct rpc_ep *ep)
{
    return ep->t->wait_takes && (w->policy == RPC_BLOCK || sleeps_first(w, ep));
}

/* Between looks one does not let others run unless they are one's own: a stranger may keep the
 * processor for milliseconds, and after a while one sleeps anyway. */
static uint32_t look_or_sleep(struct rpc_waiter *w, struct rpc_ep *ep, uint64_t timeout_ns,
                              bool busy)
{
    struct rpc_trial *t = &w->trial;
    bool sleeps = sleeps_first(w, ep);

    /* There is no choice, so nothing is timed. */
    if (sleeps && (w->crowded || w->where == RPC_BESIDE))
        return sleep_now(w, ep, timeout_ns, busy);
    if (!sleeps && !w->crowded && w->rounds < ep->t->looks) {
        rpc_pause();
        return 0;
    }
    if (!t->began_ns)
        t->began_ns = wr_clock_ns();
    /* Asking for the time costs more than a look. */
    if (!sleeps && w->rounds % ASK_TIME == 0)
        sleeps = wr_clock_ns() - t->began_ns > w->spin_ns;
    if (sleeps)
        return sleep_now(w, ep, timeout_ns, busy);
    if (w->crowded)
        sched_yield();
    else
        rpc_pause();
    return 0;
}

uint32_t rpc_waiter_idle(struct rpc_waiter *w, struct rpc_ep *ep, uint64_t timeout_ns, bool busy)
{
    w->rounds++;
    find_out_where(w, ep);
    if (w->policy == RPC_POLL) {
        /* Whom we wait for may need the processor we are on, whatever we were told. */
        if (w->crowded || w->rounds % (POLL_LOOKS * ep->t->looks) == 0 || w->where == RPC_BESIDE)
            sched_yield();
        else
            rpc_pause();
        return 0;
    }
    if (w->policy == RPC_BLOCK || w->in_vain)
        return sleep_now(w, ep, timeout_ns, busy);
    return look_or_sleep(w, ep, timeout_ns, busy);
}

/* The kernel's struct sched_attr, as of its first version. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice_ns, deadline_ns, period_ns;
};

/* Who lets others run gives away a slice: a short one where the kernel can (Linux 6.12), so that
 * strangers do not have a long one before it is our turn again. */
void rpc_join_crowd(void)
{
    struct attributes mine = {.size = sizeof mine}, crowd;

    if (syscall(SYS_sched_getattr, 0, &mine, sizeof mine, 0) || mine.policy != SCHED_OTHER)
        return;
    crowd = mine;
    crowd.policy = SCHED_BATCH;
    crowd.slice_ns = SLICE_NS;
    syscall(SYS_sched_setattr, 0, &crowd, 0);
}

static void only_wake(int signal)
{
    (void)signal;
}

/* Again and again, so that one that comes just before a sleep is followed by another. */
bool rpc_tick(void)
{
    struct sigaction a = {.sa_handler = only_wake};
    struct itimerval t = {{.tv_usec = TICK_US}, {.tv_usec = TICK_US}};

    return !sigaction(SIGALRM, &a, NULL) && !setitimer(ITIMER_REAL, &t, NULL);
}

/* ---- does sleeping sleep? ---- */

static bool sleeps_once(struct rpc_ep *ep)
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

/* Once is enough: what looks again and again does so every time, but an interrupt may be charged
 * to whoever sleeps. */
void rpc_waiter_test(struct rpc_waiter *w, struct rpc_ep *ep)
{
    if (w->policy == RPC_POLL || w->policy == RPC_NAP)
        return;
    for (int tries = 0; ep->t->blocks(ep) && tries < 4; tries++)
        if (sleeps_once(ep))
            return;
    w->policy = RPC_NAP;
}
