/* nic/pick.c -- which NIC a process takes: buckets of candidates, policies within a bucket.
 *
 * Both are tables of functions. Pure but for the counters of struct nic_load, which the caller
 * keeps.
 */
#include <assert.h>
#include <string.h>

#include "rpc/nic/nic.h"

const char *const nic_bucket_names[] = {"all", "package", "numa", "passthrough", NULL};
const char *const nic_policy_names[] = {"byset",      "bycore",      "random",
                                        "roundrobin", "leastloaded", NULL};

static bool pick_intersects(const struct nic_cpus *a, const struct nic_cpus *b)
{
    for (size_t i = 0; i < NIC_CPUS / 64; i++)
        if (a->w[i] & b->w[i])
            return true;
    return false;
}

/* Is the NIC near to a CPU that shares `place` with the one we are on? */
static bool pick_shares(const struct nic_machine *m, const uint16_t *place, const struct nic *nic,
                        uint32_t cpu)
{
    if (cpu >= NIC_CPUS || place[cpu] == NIC_NOWHERE)
        return false;
    for (uint32_t c = 0; c < NIC_CPUS; c++)
        if (place[c] == place[cpu] && nic_cpus_has(&m->cpus, c) && nic_cpus_has(&nic->local, c))
            return true;
    return false;
}

static bool pick_in_all(const struct nic_machine *m, const struct nic_ask *ask,
                        const struct nic *nic)
{
    (void)m;
    (void)ask;
    (void)nic;
    return true;
}

static bool pick_in_package(const struct nic_machine *m, const struct nic_ask *ask,
                            const struct nic *nic)
{
    return pick_shares(m, m->package, nic, ask->cpu);
}

static bool pick_in_numa(const struct nic_machine *m, const struct nic_ask *ask,
                         const struct nic *nic)
{
    return pick_shares(m, m->numa, nic, ask->cpu);
}

static bool pick_near_binding(const struct nic_machine *m, const struct nic_ask *ask,
                              const struct nic *nic)
{
    (void)m;
    return pick_intersects(&nic->local, &ask->bound);
}

static bool (*const bucket_has[])(const struct nic_machine *m, const struct nic_ask *ask,
                                  const struct nic *nic) = {pick_in_all, pick_in_package,
                                                            pick_in_numa, pick_near_binding};

static uint32_t pick_list(uint32_t *list, const struct nic_machine *m, const struct nic_ask *ask,
                          enum nic_bucket bucket)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->nnics; i++)
        if (!m->nic[i].left_out && bucket_has[bucket](m, ask, &m->nic[i]))
            list[n++] = i;
    return n;
}

/* What a policy may look at. */
struct choosing {
    const struct nic_ask *ask;
    struct nic_load *load; /* what others took so far */
    struct wr_rng *rng;
    const uint32_t *list; /* [n] candidates */
    uint32_t n;
};

static uint32_t pick_by_set(const struct choosing *c)
{
    return nic_cpus_nth(&c->ask->bound, 0) % c->n;
}

static uint32_t pick_by_core(const struct choosing *c)
{
    return c->ask->cpu % c->n;
}

static uint32_t pick_at_random(const struct choosing *c)
{
    return wr_rng_below(c->rng, c->n);
}

static uint32_t pick_round_robin(const struct choosing *c)
{
    return c->load->turn[c->list[0]]++ % c->n;
}

/* Of equals the next in turn, so that buckets that overlap do not all begin with the first. */
static uint32_t pick_least_loaded(const struct choosing *c)
{
    uint32_t first = pick_round_robin(c), best = first;

    for (uint32_t k = 1; k < c->n; k++) {
        uint32_t i = (first + k) % c->n;

        if (c->load->owners[c->list[i]] < c->load->owners[c->list[best]])
            best = i;
    }
    return best;
}

static uint32_t (*const policies[])(const struct choosing *c) = {
    pick_by_set, pick_by_core, pick_at_random, pick_round_robin, pick_least_loaded};

bool nic_pick(struct nic_choice *ret, const struct nic_machine *m, const struct nic_ask *ask,
              struct nic_load *load, struct wr_rng *rng, struct wr_err *err)
{
    assert(ask->bucket <= NIC_PASSTHROUGH && ask->policy <= NIC_LEASTLOADED);
    assert(m->nnics <= NIC_MOST);
    uint32_t list[NIC_MOST];
    struct nic_choice choice = {.candidates = pick_list(list, m, ask, ask->bucket)};

    if (!nic_candidates(m))
        return wr_fail(err, WR_INPUT,
                       "the machine has no NIC; give another topology, or use shared memory");
    if (!choice.candidates) {
        choice.fell_back = true;
        choice.candidates = pick_list(list, m, ask, NIC_ALL);
    }
    struct choosing c = {ask, load, rng, list, choice.candidates};
    enum nic_policy policy = ask->bucket == NIC_PASSTHROUGH ? NIC_BYSET : ask->policy;

    choice.nic = list[policies[policy](&c)];
    load->owners[choice.nic]++;
    *ret = choice;
    return true;
}
