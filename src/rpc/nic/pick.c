#include <string.h>

#include "rpc/nic/nic.h"

const char *const nic_bucket_names[] = {"all", "package", "numa", "passthrough", NULL};
const char *const nic_policy_names[] = {"byset",      "bycore",      "random",
                                        "roundrobin", "leastloaded", NULL};

static bool intersect(const struct nic_cpus *a, const struct nic_cpus *b)
{
    for (size_t i = 0; i < NIC_CPUS / 64; i++)
        if (a->w[i] & b->w[i])
            return true;
    return false;
}

/* Is the NIC near to a CPU that shares `place` with the one we are on? */
static bool shares(const struct nic_machine *m, const uint16_t *place, const struct nic *nic,
                   uint32_t cpu)
{
    if (cpu >= NIC_CPUS || place[cpu] == NIC_NOWHERE)
        return false;
    for (uint32_t c = 0; c < NIC_CPUS; c++)
        if (place[c] == place[cpu] && nic_cpus_has(&m->cpus, c) && nic_cpus_has(&nic->local, c))
            return true;
    return false;
}

static bool in_all(const struct nic_machine *m, const struct nic_ask *ask, const struct nic *nic)
{
    (void)m;
    (void)ask;
    (void)nic;
    return true;
}

static bool in_package(const struct nic_machine *m, const struct nic_ask *ask,
                       const struct nic *nic)
{
    return shares(m, m->package, nic, ask->cpu);
}

static bool in_numa(const struct nic_machine *m, const struct nic_ask *ask, const struct nic *nic)
{
    return shares(m, m->numa, nic, ask->cpu);
}

static bool near_binding(const struct nic_machine *m, const struct nic_ask *ask,
                         const struct nic *nic)
{
    (void)m;
    return intersect(&nic->local, &ask->bound);
}

static bool (*const bucket_has[])(const struct nic_machine *m, const struct nic_ask *ask,
                                  const struct nic *nic) = {in_all, in_package, in_numa,
                                                            near_binding};

static uint32_t gather(uint32_t *list, const struct nic_machine *m, const struct nic_ask *ask,
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
    struct nic_load *load;
    struct wr_rng *rng;
    const uint32_t *list;
    uint32_t n;
};

static uint32_t by_set(const struct choosing *c)
{
    return nic_cpus_nth(&c->ask->bound, 0) % c->n;
}

static uint32_t by_core(const struct choosing *c)
{
    return c->ask->cpu % c->n;
}

static uint32_t by_chance(const struct choosing *c)
{
    return wr_rng_below(c->rng, c->n);
}

static uint32_t in_turn(const struct choosing *c)
{
    return c->load->turn[c->list[0]]++ % c->n;
}

/* Of equals the next in turn, so that buckets that overlap do not all begin with the first. */
static uint32_t least_loaded(const struct choosing *c)
{
    uint32_t first = in_turn(c), best = first;

    for (uint32_t k = 1; k < c->n; k++) {
        uint32_t i = (first + k) % c->n;

        if (c->load->owners[c->list[i]] < c->load->owners[c->list[best]])
            best = i;
    }
    return best;
}

static uint32_t (*const policies[])(const struct choosing *c) = {by_set, by_core, by_chance,
                                                                 in_turn, least_loaded};

bool nic_pick(struct nic_choice *ret, const struct nic_machine *m, const struct nic_ask *ask,
              struct nic_load *load, struct wr_rng *rng, struct wr_err *err)
{
    uint32_t list[NIC_MOST];
    struct nic_choice choice = {.candidates = gather(list, m, ask, ask->bucket)};

    if (!nic_candidates(m))
        return wr_fail(err, WR_INPUT,
                       "the machine has no NIC; give another topology, or use shared memory");
    if (!choice.candidates) {
        choice.fell_back = true;
        choice.candidates = gather(list, m, ask, NIC_ALL);
    }
    struct choosing c = {ask, load, rng, list, choice.candidates};
    enum nic_policy policy = ask->bucket == NIC_PASSTHROUGH ? NIC_BYSET : ask->policy;

    choice.nic = list[policies[policy](&c)];
    load->owners[choice.nic]++;
    *ret = choice;
    return true;
}
