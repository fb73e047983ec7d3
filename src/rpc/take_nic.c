/* take_nic.c -- chooses a worker's NIC and sets the address or domain that its transport uses. */
#include "rpc/take_nic.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"

/* The first IPv4 address of an interface. */
static bool take_nic_address(char into[64], const char *name, struct wr_err *err)
{
    struct ifaddrs *all = NULL;
    bool found = false;

    if (getifaddrs(&all))
        return wr_fail_errno(err, "cannot list the network interfaces; give bind instead of nic");
    for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && !strcmp(i->ifa_name, name)) {
            const struct sockaddr_in *in = (const void *)i->ifa_addr;

            found = inet_ntop(AF_INET, &in->sin_addr, into, 64);
        }
    freeifaddrs(all);
    if (found)
        return true;
    if (!if_nametoindex(name))
        return wr_fail(err, WR_INPUT,
                       "there is no NIC \"%s\" here; `weir roofline nics` can list those there "
                       "are",
                       wr_text_clip(name).s);
    return wr_fail(err, WR_INPUT, "NIC %s has no IPv4 address; give it one, or take another",
                   wr_text_clip(name).s);
}

static void take_nic_own_cpus(struct nic_ask *ask)
{
    cpu_set_t *set = CPU_ALLOC(NIC_CPUS);
    size_t size = CPU_ALLOC_SIZE(NIC_CPUS);
    int cpu = sched_getcpu();

    ask->cpu = cpu > 0 ? (uint32_t)cpu : 0;
    if (set && !sched_getaffinity(0, size, set))
        for (uint32_t i = 0; i < NIC_CPUS; i++)
            if (CPU_ISSET_S(i, size, set))
                nic_cpus_add(&ask->bound, i);
    if (!nic_cpus_count(&ask->bound))
        nic_cpus_add(&ask->bound, ask->cpu);
    if (set)
        CPU_FREE(set);
}

/* Sockets do not go through libfabric: for them only what hwloc says of devices counts. */
static bool take_nic_restrict(struct nic_machine *m, const struct rpc_opts *o, struct wr_err *err)
{
    struct nic_offer offer[NIC_MOST];
    size_t n = o->transport == &rpc_fabric ? nic_offers(offer, NIC_MOST, o->provider) : 0;

    return nic_restrict(m, o->nic.only, offer, n, err);
}

static bool take_nic_pick(struct rpc_taken_nic *ret, const struct rpc_opts *o, struct wr_err *err)
{
    const struct rpc_nic *want = &o->nic;
    struct nic_ask ask = {.bucket = (enum nic_bucket)want->bucket,
                          .policy = (enum nic_policy)want->policy};
    struct nic_machine *m;
    struct nic_choice choice;
    struct wr_rng rng;
    char table[256];

    if (!nic_machine_open(&m, NULL, err))
        return false;
    take_nic_own_cpus(&ask);
    nic_table_path(table, sizeof table);
    nic_tables_collect(NULL);
    wr_rng_init(&rng, (uint64_t)getpid(), 0, 11);
    bool ok = take_nic_restrict(m, o, err) && nic_table_take(&choice, table, m, &ask, &rng, err);

    if (ok) {
        ret->picked = true;
        memcpy(ret->name, m->nic[choice.nic].name, NIC_NAME);
        memcpy(ret->domain, m->nic[choice.nic].fabric, NIC_NAME);
    }
    free(m);
    return ok;
}

bool rpc_take_nic(struct rpc_taken_nic *ret, struct rpc_opts *o, struct wr_err *err)
{
    struct rpc_taken_nic nic = {.name = ""};

    if (!o->nic.name && !o->nic.pick) {
        *ret = nic;
        return true;
    }
    if (o->nic.name)
        snprintf(nic.name, sizeof nic.name, "%s", o->nic.name);
    else if (!take_nic_pick(&nic, o, err))
        return false;
    /* A device of the fabric is named to libfabric; an interface, and for sockets any, has an
     * address. */
    if (o->transport != &rpc_fabric)
        nic.domain[0] = '\0';
    if (!nic.domain[0] && !take_nic_address(nic.address, nic.name, err)) {
        rpc_leave_nic(&nic);
        return false;
    }
    *ret = nic;
    o->bind = ret->address[0] ? ret->address : o->bind;
    o->domain = ret->domain[0] ? ret->domain : o->domain;
    return true;
}

void rpc_leave_nic(const struct rpc_taken_nic *nic)
{
    char table[256];

    if (!nic->picked)
        return;
    nic_table_path(table, sizeof table);
    nic_table_leave(table);
}
