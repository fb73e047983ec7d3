#include "net/topo/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { BUSY = 256 }; /* ports that make as much work as one busy terminal */

static uint32_t live_ports(const struct topo *t, uint32_t r)
{
    uint32_t n = 0;

    for (uint32_t p = 0; p < t->nports; p++)
        n += topo_port(t, r, p)->kind == TOPO_TERMINAL || topo_port(t, r, p)->kind == TOPO_ROUTER;
    return n;
}

/* In the order of their numbers, which is that of space: unit i goes where its middle lies when
 * all work is cut into equal lengths. Parts that get nothing are left out. */
static uint32_t cut_evenly(const uint64_t *work, uint32_t units, uint32_t want, uint16_t *ret)
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

/* Dealt out like cards. */
static uint32_t deal(const uint64_t *work, uint32_t units, uint32_t want, uint16_t *ret)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < units; i++) {
        ret[i] = (uint16_t)(n % want);
        n += work[i] != 0;
    }
    return n < want ? (n ? n : 1) : want;
}

/* The work of the part that has most. */
static uint64_t most_work(const uint64_t *work, uint32_t units, const uint16_t *of)
{
    uint64_t sum[TOPO_MAX_PARTS] = {0}, most = 0;

    for (uint32_t i = 0; i < units; i++) {
        sum[of[i]] += work[i];
        most = sum[of[i]] > most ? sum[of[i]] : most;
    }
    return most;
}

/* Cables between groups that lie in different parts. */
static uint64_t cut_cables(const struct topo *t, const uint16_t *of_group)
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

/* Groups that are all as near to each other may be dealt out where that is more even. */
static void rather_deal(const struct topo *t, const uint64_t *work, uint32_t units, uint32_t want,
                        uint32_t n, uint16_t *of)
{
    uint16_t *dealt = wr_zalloc(units, sizeof *dealt);

    if (deal(work, units, want, dealt) == n && cut_cables(t, dealt) <= cut_cables(t, of) &&
        most_work(work, units, dealt) < most_work(work, units, of))
        memcpy(of, dealt, units * sizeof *of);
    free(dealt);
}

static void count_cables(const struct topo *t, struct topo_split *s)
{
    for (uint32_t r = 0; r < t->nrouters; r++)
        for (uint32_t p = 0; p < t->nports; p++) {
            const struct topo_port *port = topo_port(t, r, p);

            if (port->kind != TOPO_ROUTER || s->part[port->peer] == s->part[r])
                continue;
            s->cables += r < port->peer;
            s->cut_of_class |= UINT64_C(1) << port->cls;
        }
}

/* Ports count little where it is known who makes work: most of them only pass it on. */
static uint64_t work_of(const struct topo *t, uint32_t r, const uint32_t *busy)
{
    return live_ports(t, r) + (busy ? (uint64_t)busy[r] * BUSY : 0);
}

void topo_split(const struct topo *t, uint32_t want, const uint32_t *busy, struct topo_split *ret)
{
    bool by_group = t->ngroups >= want && t->ngroups > 1;
    uint32_t units = by_group ? t->ngroups : t->nrouters;
    uint64_t *work = wr_zalloc(units, sizeof *work);
    uint16_t *of = wr_zalloc(units, sizeof *of);
    struct topo_split s = {.groups_whole = by_group};

    if (want > TOPO_MAX_PARTS)
        want = TOPO_MAX_PARTS;
    for (uint32_t r = 0; r < t->nrouters; r++)
        work[by_group ? t->group[r] : r] += work_of(t, r, busy);
    s.n = cut_evenly(work, units, want ? want : 1, of);
    if (by_group && want > 1)
        rather_deal(t, work, units, want, s.n, of);
    s.part = wr_zalloc(t->nrouters, sizeof *s.part);
    s.ports = wr_zalloc(s.n, sizeof *s.ports);
    for (uint32_t r = 0; r < t->nrouters; r++) {
        s.part[r] = of[by_group ? t->group[r] : r];
        s.ports[s.part[r]] += live_ports(t, r);
    }
    count_cables(t, &s);
    free(work);
    free(of);
    *ret = s;
}

void topo_split_free(struct topo_split *s)
{
    free(s->part);
    free(s->ports);
    *s = (struct topo_split){0};
}
