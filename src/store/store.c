/* store.c -- opens storage: sites, devices, pools, event handlers; and begins operations.
 *
 * The simulated world opens it (store_open, or store_open_partitions with one struct store for each
 * partition) and calls store_begin() for an operation of a rank. Sites and devices are shared
 * arrays; a partition changes only those at its own nodes.
 *
 * Invariant: pools and arrays are allocated here; event handlers never allocate.
 */
#include "store/store.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store_priv.h"

enum { POOL_CAP = 1 << 28, BUCKETS = 1 << 16 };
enum { JITTER_PURPOSE = 0x6a697474 }; /* "jitt": how late a node answers a pull */

const char *const store_class_names[] = {"io_request", "io_data", NULL};

/* ---- events ---- */

void store_event(struct store *s, uint32_t node, uint64_t t_ps, uint32_t kind, uint32_t key,
                 uint32_t arg, uint32_t arg2)
{
    sim_at(s->sim, t_ps, s->wire.lp(s->wire.ctx, node), sim_subkey(s->kind0 + kind, key),
           s->seq[node]++, arg, arg2);
}

uint64_t store_jitter(struct store *s, uint32_t node)
{
    return s->rng ? store_ps(s->p.jitter_ps * wr_rng_unit(&s->rng[node])) : 0;
}

static void store_on_begin(void *ctx, const struct sim_event *e)
{
    store_op_start(ctx, e->arg);
}

static void store_on_answer(void *ctx, const struct sim_event *e)
{
    store_slot_answer(ctx, e->arg);
}

static void store_on_serve(void *ctx, const struct sim_event *e)
{
    if (e->arg2)
        store_pull_serve(ctx, e->arg);
    else
        store_req_serve(ctx, e->arg);
}

static void store_on_nic(void *ctx, const struct sim_event *e)
{
    store_slot_passed(ctx, e->arg);
}

static void store_on_san(void *ctx, const struct sim_event *e)
{
    store_slot_slow(ctx, e->arg);
}

static void store_on_disk(void *ctx, const struct sim_event *e)
{
    store_disk_ended(ctx, e->arg2, e->arg);
    store_slot_step(ctx, e->arg);
}

static void store_on_tick(void *ctx, const struct sim_event *e)
{
    store_buf_tick(ctx, e->arg);
}

void store_begin(struct store *s, const struct store_op *op)
{
    assert(op->node < s->nodes && op->app < s->napps && op->kind < STORE_OP_KINDS);
    uint32_t h = wr_pool_take(&s->tasks);
    struct store_app *a = &s->app[op->app];
    *store_task(s, h) = (struct store_task){.user = op->user,
                                            .next = WR_NIL,
                                            .node = op->node,
                                            .app = op->app,
                                            .kind = (uint8_t)op->kind,
                                            .file = op->file,
                                            .offset = op->offset,
                                            .bytes = op->bytes,
                                            .t0_ps = s->sim->now,
                                            .mark_ps = s->sim->now};
    a->calls[op->kind]++;
    a->inflight[op->kind]++;
    a->since_ps[op->kind] += s->sim->now;
    if (op->kind == STORE_WRITE)
        store_audit_asked(s, store_task(s, h));
    store_event(s, op->node,
                s->sim->now + store_ps(s->p.client_ps) + store_service_client_ps(s, op->bytes) +
                    store_jitter(s, op->node),
                STORE_EV_BEGIN, 0, h, 0);
}

/* ---- setting up ---- */

static void store_open_buf(const struct store *s, struct store_site *t)
{
    const struct store_buffer *p = &s->p.buffer;
    struct store_buf *b = &t->buf;
    bool watermarks = p->drain == STORE_DRAIN_WATERMARKS;

    *b = (struct store_buf){.flush = WR_NIL, .wait_list = {WR_NIL, WR_NIL}};
    for (int l = 0; l < ENTRY_LISTS; l++)
        b->list[l] = (struct store_list){WR_NIL, WR_NIL};
    if (t->role == ROLE_SLOW)
        return;
    b->track = t->role != ROLE_BUFFER || p->drain != STORE_DRAIN_NEVER;
    b->capacity_b = p->capacity_b;
    b->high_b = (uint64_t)(p->high * (double)p->capacity_b);
    b->low_b = watermarks ? (uint64_t)(p->low * (double)p->capacity_b) : 0;
}

/* Sites without their devices; their number. */
static void store_plan_sites(struct store *s, const struct store_setup *set)
{
    static const uint8_t server_role[] = {
        [STORE_LOCAL] = ROLE_SLOW, [STORE_COMPUTE] = ROLE_BUFFER, [STORE_SIDE] = ROLE_BOTH};
    uint32_t n = 0;

    assert(s->p.block_b > 0);
    for (uint32_t i = 0; i < set->nservers; i++)
        s->site[n++] = (struct store_site){.node = set->server[i], .role = server_role[s->arch]};
    for (uint32_t i = 0; i < set->nio; i++)
        s->site[n++] = (struct store_site){.node = set->io[i], .role = ROLE_SLOW, .io = true};
    for (uint32_t i = 0; i < set->nodes; i++) {
        s->local[i] = WR_NIL;
        if (s->arch != STORE_LOCAL || !set->compute[i])
            continue;
        s->local[i] = n;
        s->site[n++] = (struct store_site){.node = i, .role = ROLE_CLIENT};
    }
    s->nsites = n;
    for (uint32_t i = 0; i < n; i++) {
        struct store_site *t = &s->site[i];

        t->nfast = t->role == ROLE_SLOW ? 0 : s->p.devices;
        t->nslow = t->role == ROLE_SLOW || t->role == ROLE_BOTH ? s->p.externals : 0;
        t->fast = s->ndisks;
        t->slow = t->fast + t->nfast;
        s->ndisks += t->nfast + t->nslow;
        store_open_buf(s, t);
    }
}

bool store_try_device(const struct conf_plugin *device, struct wr_err *err)
{
    struct dev dev;

    if (!device->kind)
        return true;
    if (!dev_open(&dev, device, 0, 0, err))
        return false;
    dev_close(&dev);
    return true;
}

static bool store_open_disks(struct store *s, struct wr_err *err)
{
    s->disk = wr_zalloc(s->ndisks ? s->ndisks : 1, sizeof *s->disk);
    s->share = wr_zalloc((size_t)(s->ndisks ? s->ndisks : 1) * s->napps, sizeof *s->share);
    for (uint32_t i = 0; i < s->nsites; i++)
        for (uint32_t k = 0; k < s->site[i].nfast + s->site[i].nslow; k++) {
            const struct store_site *t = &s->site[i];
            uint32_t at = t->fast + k;
            bool fast = k < t->nfast;

            s->disk[at].site = i;
            s->disk[at].index = fast ? k : k - t->nfast;
            s->disk[at].fast = fast;
            s->disk[at].head = WR_NIL;
            s->disk[at].app = &s->share[(size_t)at * s->napps];
            s->disk[at].wait_list = (struct store_list){WR_NIL, WR_NIL};
            if (!dev_open(&s->disk[at].dev, fast ? &s->p.device : &s->p.external, s->seed, at, err))
                return false;
            s->disk[at].choice = dev_queue(&s->disk[at].dev);
        }
    return true;
}

static void store_open_apps(struct store *s)
{
    s->app = wr_zalloc(s->napps, sizeof *s->app);
    for (uint32_t i = 0; i < s->napps; i++)
        s->app[i].latency = wr_zalloc(STORE_CLASSES, sizeof *s->app[i].latency);
}

static void store_open_pools(struct store *s)
{
    wr_pool_init(&s->tasks, "I/O operations", sizeof(struct store_task), POOL_CAP);
    wr_pool_init(&s->reqs, "I/O requests", sizeof(struct store_req), POOL_CAP);
    wr_pool_init(&s->slots, "blocks under way", sizeof(struct store_slot), POOL_CAP);
    wr_pool_init(&s->spans, "blocks at devices", sizeof(struct store_span), POOL_CAP);
    wr_pool_init(&s->entries, "blocks in buffers", sizeof(struct store_entry), POOL_CAP);
    wr_pool_init(&s->ranges, "ranges of blocks in buffers", sizeof(struct store_range), POOL_CAP);
}

static void store_open_buckets(struct store *s)
{
    s->nbuckets = BUCKETS;
    s->bucket = wr_alloc(s->nbuckets * sizeof *s->bucket);
    memset(s->bucket, 0xff, s->nbuckets * sizeof *s->bucket);
}

/* Everything but the handlers of events. */
static bool store_build(struct store **ret, const struct store_setup *set, struct wr_err *err)
{
    assert(set->plug->kind && set->done && set->napps > 0);
    struct store *s = wr_zalloc(1, sizeof *s);

    s->kind0 = set->first_kind;
    s->wire = set->wire;
    s->done = set->done;
    s->done_ctx = set->done_ctx;
    s->p = *(const struct store_params *)set->plug->params;
    s->arch = ((const struct store_kind *)set->plug->kind)->arch;
    if (s->arch == STORE_COMPUTE && !set->nio) { /* nowhere to drain to */
        s->p.buffer.drain = STORE_DRAIN_NEVER;
        s->p.buffer.capacity_b = 0;
    }
    s->seed = set->seed;
    s->napps = set->napps;
    s->nodes = set->nodes;
    s->nservers = set->nservers;
    s->nio = set->nio;
    s->site = wr_zalloc((size_t)set->nservers + set->nio + set->nodes, sizeof *s->site);
    s->local = wr_alloc(set->nodes * sizeof *s->local);
    s->home = wr_alloc(set->nodes * sizeof *s->home);
    s->seq = wr_zalloc(set->nodes, sizeof *s->seq);
    memcpy(s->home, set->home, set->nodes * sizeof *s->home);
    store_plan_sites(s, set);
    store_service_open(s);
    store_open_apps(s);
    store_open_pools(s);
    store_open_buckets(s);
    if (s->p.jitter_ps > 0) {
        s->rng = wr_zalloc(set->nodes, sizeof *s->rng);
        for (uint32_t i = 0; i < set->nodes; i++)
            wr_rng_init(&s->rng[i], s->seed, i, JITTER_PURPOSE);
    }
    if (!store_open_disks(s, err)) {
        store_close(s);
        return false;
    }
    *ret = s;
    return true;
}

static void store_register_handlers(struct store *s, struct sim *sim)
{
    static sim_handler *const handler[STORE_EV_KINDS] = {
        store_on_begin, store_on_answer, store_on_serve, store_on_nic,
        store_on_san,   store_on_disk,   store_on_tick};

    s->sim = sim;
    for (uint32_t k = 0; k < STORE_EV_KINDS; k++)
        sim_handle(s->sim, s->kind0 + k, handler[k], s);
}

bool store_open(struct store **ret, const struct store_setup *set, struct wr_err *err)
{
    if (!store_build(ret, set, err))
        return false;
    store_register_handlers(*ret, set->sim);
    store_audit_open(*ret);
    return true;
}

static struct store *store_open_partition(const struct store *whole, uint32_t i,
                                          const struct store_partition *partition)
{
    struct store *s = wr_zalloc(1, sizeof *s);
    uint32_t n = whole->partitions->n;

    *s = *whole;
    s->me = i;
    s->wire.ctx = partition->wire_ctx;
    s->done_ctx = partition->done_ctx;
    s->tasks = wr_pool_share(&whole->tasks, i, n);
    s->reqs = wr_pool_share(&whole->reqs, i, n);
    s->slots = wr_pool_share(&whole->slots, i, n);
    s->spans = wr_pool_share(&whole->spans, i, n);
    s->entries = wr_pool_share(&whole->entries, i, n);
    s->ranges = wr_pool_share(&whole->ranges, i, n);
    store_open_apps(s);
    store_open_buckets(s);
    store_register_handlers(s, partition->sim);
    store_audit_open(s);
    return s;
}

bool store_open_partitions(struct store **ret, const struct store_setup *set,
                           const struct store_partition *each, uint32_t npartitions,
                           const uint8_t *partition_of_node, struct wr_err *err)
{
    struct store *whole;

    assert(npartitions > 0 && partition_of_node);
    if (!store_build(&whole, set, err))
        return false;
    struct store_partition_set *partitions = whole->partitions = wr_zalloc(1, sizeof *partitions);

    partitions->whole = whole;
    partitions->n = npartitions;
    partitions->partition_of = partition_of_node;
    partitions->all = wr_zalloc(npartitions, sizeof(struct store *));
    for (uint32_t i = 0; i < npartitions; i++)
        partitions->all[i] = ret[i] = store_open_partition(whole, i, &each[i]);
    return true;
}

static void store_close_own(struct store *s)
{
    for (uint32_t i = 0; i < s->napps; i++)
        free(s->app[i].latency);
    free(s->bucket);
    free(s->app);
    store_audit_close(s);
}

void store_close(struct store *s)
{
    if (!s)
        return;
    struct store_partition_set *partitions = s->partitions;

    for (uint32_t i = 0; partitions && i < partitions->n; i++) {
        store_close_own(partitions->all[i]);
        free(partitions->all[i]);
    }
    if (partitions) {
        s = partitions->whole;
        free(partitions->all);
        free(partitions);
    }
    for (uint32_t i = 0; i < s->ndisks; i++)
        dev_close(&s->disk[i].dev);
    store_close_own(s);
    wr_pool_fini(&s->tasks);
    wr_pool_fini(&s->reqs);
    wr_pool_fini(&s->slots);
    wr_pool_fini(&s->spans);
    wr_pool_fini(&s->entries);
    wr_pool_fini(&s->ranges);
    free(s->share);
    free(s->disk);
    store_service_close(s);
    free(s->rng);
    free(s->seq);
    free(s->home);
    free(s->local);
    free(s->site);
    free(s);
}
