/* polling.c -- `weir roofline polling`: cost and rate of each way to wait.
 *
 * Starts one server and its clients (worker_pool.h), lets them call in bursts, and reads processor
 * time and energy from outside, slice by slice.
 */
#include "rpc/polling.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "rpc/energy.h"
#include "rpc/worker.h"
#include "rpc/worker_commands.h"
#include "rpc/worker_pool.h"

#define SECOND UINT64_C(1000000000)
#define IN(field) offsetof(struct rpc_polling_spec, field)

const struct conf_row rpc_polling_rows[] = {
    {.key = "transport",
     .type = CONF_STRING,
     .offset = IN(transport),
     .def = "shm",
     .help = "shm: memory shared by processes of a node; tcp: sockets; fabric: libfabric"},
    {.key = "provider",
     .type = CONF_STRING,
     .offset = IN(provider),
     .def = "",
     .help = "of libfabric, as `fi_info -l` names them"},
    {.key = "bind",
     .type = CONF_STRING,
     .offset = IN(bind),
     .def = "",
     .help = "address of the interface that is used; without, the loopback"},
    {.key = "policies",
     .type = CONF_LIST,
     .item = CONF_CHOICE,
     .names = rpc_wait_names,
     .offset = IN(policies),
     .def = "",
     .help = "ways to wait that are compared; without, block, poll and adaptive"},
    {.key = "clients",
     .type = CONF_U32,
     .offset = IN(clients),
     .def = "1",
     .min = 1,
     .max = 1000,
     .help = "client processes of the one server"},
    {.key = "depth",
     .type = CONF_U32,
     .offset = IN(depth),
     .def = "1",
     .min = 1,
     .max = 63,
     .help = "calls of a client that are under way together"},
    {.key = "spindown",
     .type = CONF_TIME,
     .offset = IN(spindown_ps),
     .def = "50 us",
     .min = 0,
     .max = 1e12,
     .help = "adaptive: how long one looks before one sleeps"},
    {.key = "burst",
     .type = CONF_TIME,
     .offset = IN(burst_ps),
     .def = "500 ms",
     .min = 1e9,
     .max = 1e15,
     .help = "how long clients call"},
    {.key = "gap",
     .type = CONF_TIME,
     .offset = IN(gap_ps),
     .def = "500 ms",
     .min = 1e9,
     .max = 1e15,
     .help = "how long they do not"},
    {.key = "periods",
     .type = CONF_U32,
     .offset = IN(periods),
     .def = "3",
     .min = 1,
     .max = 1000,
     .help = "how often burst and gap are measured, after one that does not count"},
    {.key = "slice",
     .type = CONF_TIME,
     .offset = IN(slice_ps),
     .def = "100 ms",
     .min = 1e9,
     .max = 1e14,
     .help = "how finely time is divided"},
    {.key = "powercap",
     .type = CONF_STRING,
     .offset = IN(powercap),
     .def = "/sys/class/powercap",
     .help = "where the kernel shows the packages' energy; in a container perhaps elsewhere"},
    CONF_END,
};

bool rpc_polling_check(const struct rpc_polling_spec *s, const struct conf *c, struct wr_err *err)
{
    if (!rpc_transport_find(s->transport, err))
        return conf_fail(c, &s->transport, err, "no transport \"%s\"; take shm, tcp or fabric",
                         s->transport);
    if (s->burst_ps < s->slice_ps)
        return conf_fail(c, &s->burst_ps, err,
                         "a burst is shorter than a slice; give a longer burst or a shorter slice");
    if (s->gap_ps < 2 * s->slice_ps)
        return conf_fail(c, &s->gap_ps, err,
                         "a gap is shorter than two slices; give a longer gap or a shorter slice");
    if ((s->burst_ps + s->gap_ps) * s->periods / s->slice_ps > RPC_SLICES)
        return conf_fail(c, &s->slice_ps, err,
                         "these are more than %d slices; give fewer periods or a longer slice",
                         RPC_SLICES);
    return true;
}

uint32_t rpc_polling_slices(const struct rpc_polling_spec *s)
{
    return (uint32_t)((s->burst_ps + s->gap_ps) * s->periods / s->slice_ps + 1e-6);
}

enum rpc_phase rpc_polling_phase(const struct rpc_polling_spec *s, uint32_t slice)
{
    double period = s->burst_ps + s->gap_ps, tiny = s->slice_ps * 1e-6;
    double from = fmod(slice * s->slice_ps + tiny, period) - tiny, to = from + s->slice_ps;

    assert(s->slice_ps > 0 && s->gap_ps > 0);
    if (to <= s->burst_ps + tiny)
        return RPC_IN_BURST;
    if (from >= s->burst_ps + s->slice_ps - tiny && to <= period + tiny)
        return RPC_IN_GAP;
    return RPC_BETWEEN;
}

/* ---- a server and its clients ---- */

/* A measurement in progress. */
struct polling {
    const struct rpc_polling_spec *s;
    const struct rpc_polling_how *how;
    struct rpc_polled *p;      /* the results */
    struct rpc_member *member; /* the server, then the clients */
    size_t n;                  /* members */
    struct rpc_opts o;         /* of all of them */
};

static bool polling_await_ready(struct polling *g, size_t from, size_t n, struct wr_err *err)
{
    struct rpc_member **all = wr_zalloc(n, sizeof *all);

    assert(n && from + n <= g->n);
    for (size_t i = 0; i < n; i++)
        all[i] = &g->member[from + i];
    bool ok = rpc_pool_await(all, n, 60 * SECOND, g->how->stop);

    free(all);
    if (!ok)
        return wr_fail(err, WR_INTERRUPTED, "stopped before all were ready");
    for (size_t i = from; i < from + n; i++)
        if (!g->member[i].alive)
            return wr_fail(err, WR_SYSTEM, "%s; look at transport and provider", g->member[i].why);
    return true;
}

static void polling_copy_waits(char into[16], const struct rpc_member *m)
{
    const char *waits = json_string_value(json_object_get(m->answer, "waits"));

    snprintf(into, 16, "%s", waits ? waits : "?");
}

static bool polling_start(struct polling *g, struct wr_err *err)
{
    for (size_t i = 0; i < g->n; i++) {
        g->member[i].role = i ? "client" : "server";
        g->member[i].rank = (uint32_t)(i ? i - 1 : 0);
        if (!rpc_member_start(&g->member[i], g->how->program, NULL, NULL, err))
            return false;
    }
    rpc_member_say(&g->member[0], rpc_open_json(&g->o, NULL));
    if (!polling_await_ready(g, 0, 1, err))
        return false;
    const char *at = json_string_value(json_object_get(g->member[0].answer, "ready"));

    for (size_t i = 1; i < g->n; i++)
        rpc_member_say(&g->member[i], rpc_open_json(&g->o, at ? at : "nowhere"));
    if (!polling_await_ready(g, 1, g->n - 1, err))
        return false;
    polling_copy_waits(g->p->server_waits, &g->member[0]);
    polling_copy_waits(g->p->client_waits, &g->member[1]);
    return true;
}

/* ---- looking from outside, slice by slice ---- */

/* What was used up to a moment. */
struct reading {
    double t_s, server_s, client_s, joules;
};

/* Processor time of another process, in nanoseconds. */
static double polling_cpu_s(pid_t pid)
{
    struct timespec t;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
        return 0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct reading polling_read(const struct polling *g, struct rpc_energy *energy)
{
    struct reading r = {.t_s = 1e-9 * (double)wr_clock_ns(),
                        .server_s = polling_cpu_s(g->member[0].pid),
                        .joules = energy ? rpc_energy_read(energy) : NAN};

    for (size_t i = 1; i < g->n; i++)
        r.client_s += polling_cpu_s(g->member[i].pid);
    return r;
}

static bool polling_sleep_until(uint64_t real_ns, bool (*stop)(void))
{
    struct timespec t = {(time_t)(real_ns / SECOND), (long)(real_ns % SECOND)};

    while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL) == EINTR)
        if (stop && stop())
            return false;
    return !stop || !stop();
}

static bool polling_watch(struct polling *g, uint64_t from_ns, struct wr_err *err)
{
    uint64_t slice_ns = (uint64_t)(g->s->slice_ps / 1e3);
    uint32_t n = rpc_polling_slices(g->s);
    struct rpc_energy energy;
    bool power = rpc_energy_open(&energy, g->s->powercap);
    struct reading last = {.t_s = 0};

    for (uint32_t k = 0; k <= n; k++) {
        if (!polling_sleep_until(from_ns + k * slice_ns, g->how->stop))
            return wr_fail(err, WR_INTERRUPTED, "stopped in the middle of a policy");
        struct reading now = polling_read(g, power ? &energy : NULL);
        double span = now.t_s - last.t_s;

        if (k)
            wr_vec_push(&g->p->slice,
                        (struct rpc_polled_slice){
                            .phase = rpc_polling_phase(g->s, k - 1),
                            .client_cpu = fmax(0, now.client_s - last.client_s) / span,
                            .server_cpu = fmax(0, now.server_s - last.server_s) / span,
                            .watts = (now.joules - last.joules) / span});
        last = now;
    }
    return true;
}

static bool polling_add_seen(struct polling *g, const struct rpc_member *m, struct wr_err *err)
{
    struct rpc_seen *seen = wr_alloc(sizeof *seen);
    bool ok = rpc_seen_parse(seen, json_object_get(m->answer, "seen"));

    if (!ok)
        wr_fail(err, WR_SYSTEM, "client %u reports nonsense; use the same weir everywhere",
                m->rank);
    else if (seen->server_gone)
        ok = wr_fail(err, WR_SYSTEM, "the server went away; start again");
    else {
        for (size_t k = 0; k < g->p->slice.n && k < seen->nslices; k++)
            g->p->slice.v[k].rate += seen->slice_calls[k] / (g->s->slice_ps / 1e12);
        wr_hist_merge(&g->p->latency_ps, &seen->latency_ps);
        g->p->faults += seen->failed + seen->bad_data + seen->unanswered;
    }
    free(seen);
    return ok;
}

/* One period goes by before anything counts, so that bursts begin where slices do. */
static bool polling_run(struct polling *g, struct wr_err *err)
{
    double period_ps = g->s->burst_ps + g->s->gap_ps;
    struct rpc_load l = {.op = RPC_OP_NOOP,
                         .depth = g->s->depth,
                         .on_ns = (uint64_t)(g->s->burst_ps / 1e3),
                         .off_ns = (uint64_t)(g->s->gap_ps / 1e3),
                         .start_ns = rpc_realtime_ns() + SECOND / 10,
                         .warm_ns = (uint64_t)(period_ps / 1e3),
                         .measure_ns = (uint64_t)(period_ps / 1e3) * g->s->periods,
                         .slice_ns = (uint64_t)(g->s->slice_ps / 1e3)};

    for (size_t i = 1; i < g->n; i++)
        rpc_member_say(&g->member[i], rpc_load_json(&l));
    if (!polling_watch(g, l.start_ns + l.warm_ns, err) || !polling_await_ready(g, 1, g->n - 1, err))
        return false;
    for (size_t i = 1; i < g->n; i++)
        if (!polling_add_seen(g, &g->member[i], err))
            return false;
    /* A server finds out only at work that it cannot sleep. */
    rpc_member_say(&g->member[0], json_pack("{ss}", "do", "usage"));
    if (!polling_await_ready(g, 0, 1, err))
        return false;
    const json_t *usage = json_object_get(g->member[0].answer, "usage");
    const char *waits = json_string_value(json_object_get(usage, "waits"));

    if (waits)
        snprintf(g->p->server_waits, sizeof g->p->server_waits, "%s", waits);
    return true;
}

bool rpc_polling_measure(struct rpc_polled *ret, const struct rpc_polling_spec *s,
                         enum rpc_wait policy, const struct rpc_polling_how *how,
                         struct wr_err *err)
{
    struct rpc_polled *p = wr_zalloc(1, sizeof *p);
    struct polling g = {
        .s = s,
        .how = how,
        .p = p,
        .n = 1 + (size_t)s->clients,
        .o = {.transport = rpc_transport_find(s->transport, err),
              .provider = s->provider,
              .bind = s->bind,
              .wait = policy,
              .spin_us = (uint32_t)(s->spindown_ps / 1e6),
              .oversubscribed = s->clients + 1 > (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
              .depth = s->depth,
              .peers = s->clients + 1}};
    void (*on_pipe)(int) = signal(SIGPIPE, SIG_IGN);

    assert(s->clients && policy <= RPC_TIMED);
    p->policy = policy;
    g.member = wr_zalloc(g.n, sizeof *g.member);
    bool ok = g.o.transport && wr_token_make(&g.o.token, err) && polling_start(&g, err) &&
              polling_run(&g, err);

    rpc_pool_end(g.member, g.n);
    free(g.member);
    signal(SIGPIPE, on_pipe);
    if (ok)
        *ret = *p;
    else
        rpc_polled_fini(p);
    free(p);
    return ok;
}

void rpc_polled_fini(struct rpc_polled *p)
{
    wr_vec_fini(&p->slice);
}

/* ---- the run file ---- */

enum { MEASURES = 4 };
static const struct {
    const char *name, *unit;
    size_t offset;
} measures[MEASURES] = {
    {"rate", "1/s", offsetof(struct rpc_polled_slice, rate)},
    {"client_cpu", "", offsetof(struct rpc_polled_slice, client_cpu)},
    {"server_cpu", "", offsetof(struct rpc_polled_slice, server_cpu)},
    {"power", "W", offsetof(struct rpc_polled_slice, watts)},
};

static double polling_value(const struct rpc_polled_slice *s, int measure)
{
    double v;

    memcpy(&v, (const char *)s + measures[measure].offset, sizeof v);
    return v;
}

static double polling_mean(const struct rpc_polled *p, enum rpc_phase phase, int measure)
{
    double sum = 0, n = 0;

    for (size_t k = 0; k < p->slice.n; k++)
        if (p->slice.v[k].phase == phase) {
            sum += polling_value(&p->slice.v[k], measure);
            n++;
        }
    return sum / n;
}

static bool polling_put_means(struct run *run, const struct rpc_polled *p, const char *name,
                              struct wr_err *err)
{
    static const char *const phases[] = {"burst", "gap"};
    char key[96];

    for (int phase = RPC_IN_BURST; phase <= RPC_IN_GAP; phase++)
        for (int m = 0; m < MEASURES; m++) {
            double v = polling_mean(p, (enum rpc_phase)phase, m);

            snprintf(key, sizeof key, "polling.%s.%s.%s", name, phases[phase], measures[m].name);
            if (isfinite(v) && !run_put_real(run, key, v, measures[m].unit, err))
                return false;
        }
    return true;
}

bool rpc_polled_put(struct run *run, const struct rpc_polled *p, const struct rpc_polling_spec *s,
                    struct wr_err *err)
{
    const char *name = rpc_wait_names[p->policy];
    int64_t dt = (int64_t)s->slice_ps;
    char entity[48], key[96];
    uint32_t id[MEASURES];

    snprintf(entity, sizeof entity, "policy:%s", name);
    for (int m = 0; m < MEASURES; m++) {
        struct run_series series = {entity, measures[m].name, measures[m].unit, dt};

        if (!run_open_series(run, &series, &id[m], err))
            return false;
    }
    for (size_t k = 0; k < p->slice.n; k++)
        for (int m = 0; m < MEASURES; m++) {
            double v = polling_value(&p->slice.v[k], m);

            if (isfinite(v) && !run_put_slice(run, id[m], (int64_t)k * dt, dt, v, err))
                return false;
        }
    snprintf(key, sizeof key, "polling.%s.server_waits", name);
    if (!polling_put_means(run, p, name, err) || !run_put_text(run, key, p->server_waits, err))
        return false;
    snprintf(key, sizeof key, "polling.%s.client_waits", name);
    if (!run_put_text(run, key, p->client_waits, err))
        return false;
    snprintf(key, sizeof key, "polling.%s.faults", name);
    return run_put_count(run, key, p->faults, "", err) &&
           run_put_latency(run, RUN_ALL_APPS, name, &p->latency_ps, err);
}
