/* topo_split.c -- balances routers or groups over partitions; see split.h.
 *
 * A unit is a group or a router; `of` and `ret` are the partition of each unit.
 */
#include "net/topo/split.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The weight of a busy terminal, in ports: ports that only forward packets make little work. */
enum { PORTS_PER_BUSY = 256 };

static uint32_t split_live_ports(const struct topo *t, uint32_t r)
{
    uint32_t n = 0;

    for (uint32_t p = 0; p < t->nports; p++)
        n += topo_port(t, r, p)->kind == TOPO_TERMINAL || topo_port(t, r, p)->kind == TOPO_ROUTER;
    return n;
}

/* In the order of unit numbers, in which neighbours follow one another: unit i goes to the
 * partition that contains the middle of its work, when all work is cut into equal lengths. Empty
 * partitions are left out. */
static uint32_t split_cut_evenly(const uint64_t *work, uint32_t units, uint32_t want, uint16_t *ret)
{
    uint64_t all = 0, before = 0, last = UINT64_MAX;
    uint32_t n = 0;

    for (uint32_t i = 0; i < units; i++)
        all += work[i];
    for (uint32_t i = 0; i < units; i++) {
        uint64_t at = all ? (2 * before + work[i]) * want / (2 * all) : 0;

        if (work[i] && at != last) {
            last = at;
            n++;
        }
        ret[i] = (uint16_t)(n ? n - 1 : 0);
        before += work[i];
    }
    return n ? n : 1;
}

/* Unit after unit to the next partition, round robin. */
static uint32_t split_round_robin(const uint64_t *work, uint32_t units, uint32_t want,
                                  uint16_t *ret)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < units; i++) {
        ret[i] = (uint16_t)(n % want);
        n += work[i] != 0;
    }
    return n < want ? (n ? n : 1) : want;
}

/* The work of the partition that has most. */
static uint64_t split_most_work(const uint64_t *work, uint32_t units, const uint16_t *of)
{
    uint64_t sum[TOPO_MAX_PARTITIONS] = {0}, most = 0;

    for (uint32_t i = 0; i < units; i++) {
        sum[of[i]] += work[i];
        most = sum[of[i]] > most ? sum[of[i]] : most;
    }
    return most;
}

/* Cables between groups that lie in different partitions. */
static uint64_t split_cut_cables(const struct topo *t, const uint16_t *of_group)
{
    uint64_t n = 0;

    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, r, p);

            n += port->kind == TOPO_ROUTER && r < port->peer &&
                 of_group[t->group[r]] != of_group[t->group[port->peer]];
        }
    return n;
}

/* Uses round robin if that is better balanced and cuts no more cables. */
static void split_try_round_robin(const struct topo *t, const uint64_t *work, uint32_t units,
                                  uint32_t want, uint32_t n, uint16_t *of)
{
    uint16_t *turns = wr_zalloc(units, sizeof *turns);

    if (split_round_robin(work, units, want, turns) == n &&
        split_cut_cables(t, turns) <= split_cut_cables(t, of) &&
        split_most_work(work, units, turns) < split_most_work(work, units, of))
        memcpy(of, turns, units * sizeof *of);
    free(turns);
}

static void split_count_cables(const struct topo *t, struct topo_split *s)
{
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, r, p);

            if (port->kind != TOPO_ROUTER || s->partition_of[port->peer] == s->partition_of[r])
                continue;
            s->cables += r < port->peer;
            s->cut_of_class |= UINT64_C(1) << port->cls;
        }
}

/* The estimated work of a router. */
static uint64_t split_work_of(const struct topo *t, uint32_t r, const uint32_t *busy)
{
    return split_live_ports(t, r) + (busy ? (uint64_t)busy[r] * PORTS_PER_BUSY : 0);
}

void topo_split(const struct topo *t, uint32_t want, const uint32_t *busy, struct topo_split *ret)
{
    bool by_group = t->ngroups >= want && t->ngroups > 1;
    uint32_t units = by_group ? t->ngroups : t->nrouters;
    uint64_t *work = wr_zalloc(units, sizeof *work);
    uint16_t *of = wr_zalloc(units, sizeof *of);
    struct topo_split s = {.groups_whole = by_group};

    assert(t->nrouters && ret);
    if (want > TOPO_MAX_PARTITIONS)
        want = TOPO_MAX_PARTITIONS;
    for (uint32_t r = 0; r < t->nrouters; r++)
        work[by_group ? t->group[r] : r] += split_work_of(t, r, busy);
    s.n = split_cut_evenly(work, units, want ? want : 1, of);
    if (by_group && want > 1)
        split_try_round_robin(t, work, units, want, s.n, of);
    s.partition_of = wr_zalloc(t->nrouters, sizeof *s.partition_of);
    s.ports = wr_zalloc(s.n, sizeof *s.ports);
    for (uint32_t r = 0; r < t->nrouters; r++) {
        s.partition_of[r] = of[by_group ? t->group[r] : r];
        s.ports[s.partition_of[r]] += split_live_ports(t, r);
    }
    split_count_cables(t, &s);
    free(work);
    free(of);
    assert(s.n && s.n <= TOPO_MAX_PARTITIONS);
    *ret = s;
}

void topo_split_free(struct topo_split *s)
{
    free(s->partition_of);
    free(s->ports);
    *s = (struct topo_split){0};
}
