#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "rpc/rpc.h"

const char *const rpc_wait_names[] = {"block", "poll", "adaptive", "nap", NULL};

enum { LOOKS = 64, POLL_LOOKS = 8, NAP_NS = 50000, NAP_FIRST_NS = 20000, NAP_MOST_NS = 5000000 };
enum { TRIAL_NS = 10000000 };

void rpc_waiter_init(struct rpc_waiter *w, const struct rpc_opts *o)
{
    *w = (struct rpc_waiter){
        .policy = o->wait, .crowded = o->crowded, .spin_ns = 1000ull * o->spin_us};
}

static void pause_a_little(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void nap(struct rpc_waiter *w, uint64_t most_ns)
{
    uint64_t ns = w->in_vain && w->nap_ns ? w->nap_ns : NAP_FIRST_NS;

    w->nap_ns = ns < NAP_MOST_NS / 2 ? 2 * ns : NAP_MOST_NS;
    ns = ns < most_ns ? ns : most_ns;
    nanosleep(&(struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)}, NULL);
}

/* Sleeps in vain are what an idle process does: they must not take the processor. Looking at its
 * clock costs nothing that matters then. */
static void sleep_watched(struct rpc_waiter *w, struct rpc_ep *ep, uint64_t timeout_ns)
{
    uint64_t wall = wr_clock_ns(), cpu = wr_clock_cpu_ns();

    ep->t->wait(ep, timeout_ns);
    w->trial_wall_ns += wr_clock_ns() - wall;
    w->trial_cpu_ns += wr_clock_cpu_ns() - cpu;
    if (w->trial_cpu_ns < TRIAL_NS && w->trial_wall_ns < 10ull * TRIAL_NS)
        return;
    /* One that never sleeps may still get little of a busy machine. */
    if (w->trial_cpu_ns > w->trial_wall_ns / 16)
        w->policy = RPC_NAP;
    w->trial_wall_ns = w->trial_cpu_ns = 0;
}

static void sleep_now(struct rpc_waiter *w, struct rpc_ep *ep, uint64_t timeout_ns, bool busy)
{
    uint64_t most = busy && timeout_ns > NAP_NS ? NAP_NS : timeout_ns;

    w->sleeps++;
    if (w->policy == RPC_NAP)
        nap(w, most);
    else if (w->in_vain && !busy)
        sleep_watched(w, ep, most);
    else
        ep->t->wait(ep, most);
    w->in_vain++;
}

static void look_again(struct rpc_waiter *w)
{
    if (!w->crowded && w->rounds < LOOKS) {
        pause_a_little();
        return;
    }
    sched_yield();
}

void rpc_waiter_idle(struct rpc_waiter *w, struct rpc_ep *ep, uint64_t timeout_ns, bool busy)
{
    w->rounds++;
    if (w->policy == RPC_BLOCK) {
        sleep_now(w, ep, timeout_ns, busy);
        return;
    }
    if (w->policy == RPC_POLL) {
        /* Whom we wait for may need the processor we are on, whatever we were told. */
        if (w->crowded || (w->rounds > LOOKS && w->rounds % POLL_LOOKS == 0))
            sched_yield();
        else
            pause_a_little();
        return;
    }
    if (w->in_vain) {
        sleep_now(w, ep, timeout_ns, busy);
        return;
    }
    look_again(w);
    if (w->rounds % 16) /* asking for the time costs more than a look */
        return;
    uint64_t now = wr_clock_ns();

    if (!w->last_ns)
        w->last_ns = now;
    else if (now - w->last_ns > w->spin_ns)
        sleep_now(w, ep, timeout_ns, busy);
}

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
