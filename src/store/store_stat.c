/* store_stat.c -- counters of storage as of a time, and the check that they add up.
 *
 * Only reads, so it may be called at any time between events. store_check() is called at the end of
 * a run: invariants 1 to 4 of store_priv.h.
 */
#include <assert.h>
#include <inttypes.h>

#include "base/str.h"
#include "store_priv.h"

static const char *store_stat_role(const struct store_site *t)
{
    return t->role == ROLE_CLIENT ? "client" : t->io ? "io_node" : "server";
}

void store_look(struct store *s, uint64_t t_ps)
{
    s->look_ps = t_ps;
}

/* The clock stands at the last event. */
static uint64_t store_stat_time_ps(const struct store *s)
{
    return s->look_ps > s->sim->now ? s->look_ps : s->sim->now;
}

uint64_t store_pending(const struct store *s)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < store_partitions(s); i++)
        sum += store_each(s, i)->tasks.used;
    return sum;
}

uint32_t store_disks(const struct store *s)
{
    return s->ndisks;
}

uint64_t store_assumed(const struct store *s, struct wr_str *out)
{
    uint64_t sum = 0;
    bool said[2] = {false, false}; /* of external devices, of the others */

    for (uint32_t i = 0; i < s->ndisks; i++) {
        const struct store_disk *d = &s->disk[i];

        sum += d->dev.assumed;
        if (!d->dev.assumed || said[d->fast])
            continue;
        wr_str_add(out, out->n ? "; " : "");
        dev_assumption(&d->dev, out);
        said[d->fast] = true;
    }
    sum += store_service_crowded(s, out);
    return sum;
}

void store_disk_stat(const struct store *s, uint32_t i, struct store_disk_stat *ret)
{
    assert(i < s->ndisks);
    const struct store_disk *d = &s->disk[i];
    uint64_t now = store_stat_time_ps(s);

    *ret = (struct store_disk_stat){
        .site = d->site,
        .node = s->site[d->site].node,
        .role = store_stat_role(&s->site[d->site]),
        .device = d->fast ? "fast" : "slow",
        .model = d->dev.ops->kind.name,
        .index = d->index,
        .reads = d->reads,
        .writes = d->writes,
        .bytes_read = d->read_b,
        .bytes_written = d->written_b,
        .busy_ps = d->busy_ps - (d->until_ps > now ? d->until_ps - now : 0),
        .seeks = d->dev.seeks,
        .queue_ps = d->queue_ps + d->queue * (now - d->queue_since_ps),
        .queue = d->queue,
        .queue_most = d->queue_most,
    };
}

uint32_t store_sites(const struct store *s)
{
    return s->nsites;
}

void store_site_stat(const struct store *s, uint32_t i, struct store_site_stat *ret)
{
    assert(i < s->nsites);
    const struct store_site *t = &s->site[i];
    const struct store_buf *b = &t->buf;

    *ret = (struct store_site_stat){
        .node = t->node,
        .role = store_stat_role(t),
        .requests = t->requests,
        .used_b = b->track ? b->used_b : b->in_b,
        .used_most_b = b->track ? b->used_most_b : b->in_b,
        .dirty_b = b->dirty_b + b->inflight_b,
        .in_b = b->in_b,
        .out_b = b->out_b,
        .absorbed_b = b->absorbed_b,
        .evicted_b = b->evicted_b,
        .hit_b = b->hit_b,
        .miss_b = b->miss_b,
        .waits = b->waits,
        .wait_ps = b->wait_ps,
        .waiting = b->waiting,
    };
}

void store_app_stat(const struct store *s, uint32_t app, struct store_app_stat *ret)
{
    assert(app < s->napps);
    *ret = (struct store_app_stat){0};
    for (uint32_t i = 0; i < store_partitions(s); i++) {
        const struct store_app *a = &store_each(s, i)->app[app];

        ret->bytes_read += a->read_b;
        ret->bytes_written += a->written_b;
        for (int k = 0; k < STORE_OP_KINDS; k++) {
            ret->calls[k] += a->calls[k];
            ret->time_ps[k] +=
                a->ended_ps[k] + a->inflight[k] * store_stat_time_ps(s) - a->since_ps[k];
            ret->inflight += a->inflight[k];
        }
    }
}

const struct wr_hist *store_latency(const struct store *s, uint32_t app, enum store_class cls)
{
    if (!s->partitions)
        return &s->app[app].latency[cls];
    struct wr_hist *sum = &s->partitions->whole->app[app].latency[cls];

    *sum = (struct wr_hist){0};
    for (uint32_t i = 0; i < s->partitions->n; i++)
        wr_hist_merge(sum, &s->partitions->all[i]->app[app].latency[cls]);
    return sum;
}

/* ---- conservation ---- */

static bool store_stat_check_site(const struct store *s, uint32_t i, struct wr_err *err)
{
    const struct store_buf *b = &s->site[i].buf;

    if (b->in_b != b->out_b + b->dirty_b + b->inflight_b + b->absorbed_b)
        return wr_fail(err, WR_BUG,
                       "storage: node %u took %" PRIu64 " B into its buffer, but drained %" PRIu64
                       " B, holds %" PRIu64 " B and absorbed %" PRIu64 " B; please report it",
                       s->site[i].node, b->in_b, b->out_b, b->dirty_b + b->inflight_b,
                       b->absorbed_b);
    if (b->capacity_b && b->used_most_b > b->capacity_b)
        return wr_fail(err, WR_BUG,
                       "storage: node %u held %" PRIu64 " B in a buffer of %" PRIu64
                       " B; please report it",
                       s->site[i].node, b->used_most_b, b->capacity_b);
    return true;
}

struct writes {
    uint64_t clients, counted, through, kept;
};

/* Everything has ended; and what clients and buffers wrote, as the partitions counted it. */
static bool store_stat_check_partition(const struct store *s, struct writes *w, struct wr_err *err)
{
    if (s->tasks.used || s->reqs.used || s->slots.used)
        return wr_fail(err, WR_BUG,
                       "storage: %u operations, %u requests and %u blocks never ended; please "
                       "report it",
                       s->tasks.used, s->reqs.used, s->slots.used);
    for (uint32_t i = 0; i < s->napps; i++) {
        w->clients += s->app[i].asked_b;
        w->counted += s->app[i].written_b;
    }
    w->through += s->through_b;
    w->kept += s->kept_b;
    return true;
}

bool store_check(const struct store *s, struct wr_err *err)
{
    struct writes w = {0};
    uint64_t devices = 0, out = 0;

    for (uint32_t i = 0; i < store_partitions(s); i++)
        if (!store_stat_check_partition(store_each(s, i), &w, err))
            return false;
    for (uint32_t i = 0; i < s->nsites; i++) {
        if (!store_stat_check_site(s, i, err))
            return false;
        out += s->site[i].buf.out_b;
    }
    for (uint32_t i = 0; i < s->ndisks; i++)
        devices += s->disk[i].written_b;
    if (w.clients != w.counted || devices != w.clients + out + w.through + w.kept)
        return wr_fail(err, WR_BUG,
                       "storage: clients wrote %" PRIu64 " B, of which %" PRIu64
                       " B came to storage; devices wrote %" PRIu64 " B, %" PRIu64
                       " B of them drained, %" PRIu64 " B written through and %" PRIu64
                       " B kept reads; please report it",
                       w.clients, w.counted, devices, out, w.through, w.kept);
    return store_audit_check(s, err);
}

bool store_report_stall(const struct store *s, struct wr_err *err)
{
    uint32_t waiting = 0, full = 0;

    for (uint32_t i = 0; i < s->nsites; i++) {
        waiting += s->site[i].buf.waiting;
        full += s->site[i].buf.waiting > 0;
    }
    return wr_fail(err, WR_BUG,
                   "storage stands still after %.3f us: %u operations have not ended, %u blocks "
                   "wait for space in %u buffers; please report it",
                   (double)s->sim->now / 1e6, (uint32_t)store_pending(s), waiting, full);
}
