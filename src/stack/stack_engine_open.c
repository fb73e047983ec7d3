/* stack_engine_open.c -- opens and closes an engine, and answers questions about it.
 *
 * From a setup to nodes, files, caches, counters and event handlers. Everything that an event
 * handler needs is allocated here or in pools.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "stack_engine_priv.h"

enum { MOST_ACTIVITIES = 1u << 26, MOST_WORKS = 1u << 27 };

/* Where roles are not apart, the first servers keep metadata and the last keep data; those in the
 * middle may keep both, but none has nothing to do. */
static bool engine_check_roles(const struct stack_setup *s, struct wr_err *err)
{
    uint32_t metas = s->metas ? s->metas : s->servers, datas = s->datas ? s->datas : s->servers;

    if (s->fs->apart && s->datas)
        return wr_fail(err, WR_INPUT, "all servers of %s keep data; leave data_servers out",
                       s->fs->name);
    if (s->fs->apart)
        return true;
    if ((s->metas || s->datas) && s->fs->placed)
        return wr_fail(err, WR_INPUT, "%s says itself what its servers keep; leave the roles out",
                       s->fs->name);
    if (metas > s->servers || datas > s->servers)
        return wr_fail(err, WR_INPUT, "%u servers for %s, but there are %u in all; give fewer",
                       metas > s->servers ? metas : datas, metas > s->servers ? "metadata" : "data",
                       s->servers);
    if ((uint64_t)metas + datas < s->servers)
        return wr_fail(
            err, WR_INPUT,
            "%u servers for metadata and %u for data leave some of %u without work; give "
            "more of them",
            metas, datas, s->servers);
    return true;
}

static bool engine_check_setup(const struct stack_setup *s, struct wr_err *err)
{
    if (!s->servers || !s->clients)
        return wr_fail(err, WR_INPUT, "no %s; give at least one",
                       s->servers ? "clients" : "servers");
    if (!engine_check_roles(s, err))
        return false;
    uint32_t datas = s->datas ? s->datas : s->servers;
    uint32_t metas = s->metas && !s->fs->apart ? s->metas : s->servers;

    if (s->dfiles > datas)
        return wr_fail(err, WR_INPUT, "%u data files for %u servers; give at most as many",
                       s->dfiles, datas);
    if (s->start != UINT32_MAX && s->start >= metas)
        return wr_fail(err, WR_INPUT, "there is no server %u for metadata; the last is %u",
                       s->start, metas - 1);
    if (s->wire &&
        (uint64_t)s->servers + (s->fs->apart ? (s->metas ? s->metas : 1) : 0) + s->clients >
            s->wire->nodes)
        return wr_fail(err, WR_INPUT,
                       "the machine has %u nodes, too few for all clients and servers; take a "
                       "larger one",
                       s->wire->nodes);
    if ((uint64_t)s->servers + s->metas + s->clients > 1u << 24)
        return wr_fail(err, WR_INPUT, "more than %u nodes; give fewer servers or clients",
                       1u << 24);
    return true;
}

static void engine_init_files(struct stack_engine *e)
{
    e->file = wr_zalloc(e->setup.files, sizeof *e->file);
    for (uint32_t i = 0; i < e->setup.files; i++) {
        e->file[i].meta = stack_world_meta(e, i);
        e->file[i].loaded = wr_zalloc(e->dfiles / 8 + 1, 1);
    }
}

/* Servers start at the same time, each on its own. */
static void engine_start_servers(struct stack_engine *e)
{
    for (uint32_t i = 0; e->fs->starts != STACK_NONE && i < e->servers; i++) {
        uint32_t h = stack_begin(e, e->clients + i, e->fs->starts, 0);
        struct activity *a = activity_at(e, h);

        a->by = UINT32_MAX;
        a->background = 1;
        stack_report_begin(e, a);
        stack_post(e, 0, h, 0, PHASE_BEGIN, 0, WR_NIL);
    }
}

bool stack_engine_open(struct stack_engine **ret, const struct stack_setup *setup,
                       struct wr_err *err)
{
    assert(setup->fs && setup->timings && setup->done);
    if (!engine_check_setup(setup, err))
        return false;
    struct stack_engine *e = wr_zalloc(1, sizeof *e);
    uint32_t metas = setup->fs->apart ? (setup->metas ? setup->metas : 1) : 0;
    uint32_t nodes = setup->clients + metas + setup->servers + 1;
    const struct stack_timings *l = setup->timings;

    e->fs = setup->fs;
    e->timings = l;
    e->setup = *setup;
    e->hooks = setup->hooks;
    e->clients = setup->clients;
    e->servers = metas + setup->servers;
    e->metas = metas ? metas : setup->metas ? setup->metas : setup->servers;
    e->datas = setup->datas ? setup->datas : setup->servers;
    e->dfiles = setup->dfiles                                 ? setup->dfiles
                : e->fs->stripes && e->fs->stripes < e->datas ? e->fs->stripes
                                                              : e->datas;
    e->medium = nodes - 1;
    for (int i = 0; i < 2; i++)
        e->between[i] = stack_ns(l->between_ns[i]);
    e->stuck = STACK_NONE;
    if (!e->setup.fault.times)
        e->setup.fault.state = STACK_NONE;
    e->share_ref = l->alone ? 1
                   : l->medium == STACK_SHARED
                       ? 1.0 / ((double)l->servers * l->clients)
                       : 1.0 / (l->servers > l->clients ? l->servers : l->clients);
    e->node = wr_zalloc(nodes, sizeof *e->node);
    for (uint32_t i = 0; i < nodes; i++) {
        e->node[i].flow = e->node[i].running = WR_NIL;
        e->node[i].seq = i < e->clients ? 2 : 1;
    }
    e->cache = wr_zalloc(e->clients, sizeof *e->cache);
    for (uint32_t i = 0; i < e->clients; i++)
        for (int k = 0; k < CACHED; k++)
            e->cache[i].at[k].file = UINT32_MAX;
    /* what is called through the system was mounted, and connected, when the node started */
    for (uint32_t i = 0; i < e->clients; i++)
        e->node[i].mounted = setup->api == STACK_POSIX;
    if (e->fs->connects && setup->api != STACK_POSIX)
        e->connected = wr_zalloc(((size_t)e->clients * e->servers + 63) / 64, sizeof *e->connected);
    stack_hold_init(&e->hold, (uint64_t)nodes);
    engine_init_files(e);
    for (int i = 0; i < 2; i++) {
        e->counts.state[i] = wr_zalloc(e->fs->state.n, sizeof *e->counts.state[i]);
        e->counts.io[i] = wr_zalloc(e->fs->state.n, sizeof *e->counts.io[i]);
        e->counts.total[i] = wr_zalloc(e->fs->machine.n, sizeof *e->counts.total[i]);
    }
    e->counts.message = wr_zalloc(e->fs->message.n, sizeof *e->counts.message);
    wr_pool_init(&e->activities, "activities", sizeof(struct activity), MOST_ACTIVITIES);
    wr_pool_init(&e->works, "answers", sizeof(struct work), MOST_WORKS);
    sim_init(&e->sim);
    stack_wire_join(e);
    sim_handle(&e->sim, KIND_ARRIVE, stack_on_arrive, e);
    sim_handle(&e->sim, KIND_NODE, stack_on_node, e);
    sim_handle(&e->sim, KIND_FLOW, stack_flow_event, e);
    sim_handle(&e->sim, KIND_MOVE, stack_flow_move, e);
    sim_handle(&e->sim, KIND_LATER, stack_on_later, e);
    engine_start_servers(e);
    *ret = e;
    return true;
}

void stack_engine_close(struct stack_engine *e)
{
    if (!e)
        return;
    sim_fini(&e->sim);
    wr_pool_fini(&e->activities);
    wr_pool_fini(&e->works);
    stack_hold_fini(&e->hold);
    for (uint32_t i = 0; i < e->setup.files; i++)
        free(e->file[i].loaded);
    for (int i = 0; i < 2; i++) {
        free(e->counts.state[i]);
        free(e->counts.io[i]);
        free(e->counts.total[i]);
    }
    free(e->counts.message);
    free(e->file);
    free(e->cache);
    free(e->connected);
    free(e->node);
    free(e);
}

void stack_engine_put_file(struct stack_engine *e, uint32_t file, uint64_t bytes)
{
    assert(file < e->setup.files);
    struct object *f = &e->file[file];

    f->made = f->linked = true;
    f->size = bytes;
    f->stuffed = stack_world_stuffs(e, f->meta) && bytes <= e->fs->strip_b;
}

void stack_engine_later(struct stack_engine *e, uint32_t client, uint64_t t_ns)
{
    assert(client < e->clients && t_ns >= e->sim.now);
    sim_at(&e->sim, t_ns, client, sim_subkey(KIND_LATER, 0), e->seq++, LATER_TIME, 0);
}

bool stack_engine_run(struct stack_engine *e, uint64_t until_ns, uint64_t most_events)
{
    if (e->setup.wire)
        return stack_wire_run(e, until_ns, most_events);
    return e->stuck == STACK_NONE && sim_run(&e->sim, until_ns, most_events);
}

uint16_t stack_engine_stuck(const struct stack_engine *e)
{
    return e->stuck;
}

uint64_t stack_engine_now(const struct stack_engine *e)
{
    return e->sim.now;
}

uint64_t stack_engine_events(const struct stack_engine *e)
{
    return sim_events(&e->sim);
}

uint64_t stack_engine_progress(const struct stack_engine *e)
{
    return sim_events(&e->sim) + e->wire_steps;
}

const struct stack_counts *stack_engine_counts(const struct stack_engine *e)
{
    return &e->counts;
}

struct stack_sum stack_engine_function(const struct stack_engine *e, const struct stack_function *f)
{
    struct stack_sum sum = {0};

    assert(f->state < e->fs->state.n || f->machine < e->fs->machine.n);
    for (int w = 0; w < 2; w++) {
        const struct stack_sum *s =
            f->state == STACK_NONE ? &e->counts.total[w][f->machine] : &e->counts.io[w][f->state];

        if (f->writes < 2 && f->writes != w)
            continue;
        sum.n += s->n;
        sum.exec_ns += f->waits ? s->wait_ns : s->exec_ns;
    }
    return sum;
}

uint32_t stack_engine_nodes(const struct stack_engine *e)
{
    return e->clients + e->servers;
}

void stack_engine_look(const struct stack_engine *e, uint32_t node, struct stack_look *ret)
{
    assert(node < e->clients + e->servers);
    const struct node *n = &e->node[node];

    *ret = (struct stack_look){
        .node = node,
        .busy = n->running != WR_NIL,
        .state = STACK_NONE,
        .queued = n->queued,
        .busy_until_ns = n->busy_until,
    };
    if (n->running == WR_NIL)
        return;
    const struct activity *a = activity_at(e, n->running);

    ret->state = a->state;
    ret->since_ns = a->t_enter;
    memcpy(ret->var, a->var, sizeof ret->var);
}
