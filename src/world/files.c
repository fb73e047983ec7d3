/* files.c -- storage in the simulation: chooses the nodes of servers and I/O nodes, assigns
 * clients to servers, and connects store/ with ranks and network. Errors name the place in the
 * configuration. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "files_priv.h"

static const struct store_params *files_params(const struct world *w)
{
    return w->c->storage.params;
}

static enum store_arch files_arch(const struct world *w)
{
    return ((const struct store_kind *)w->c->storage.kind)->arch;
}

static bool files_is_default(const struct conf *conf, const void *field)
{
    return !strcmp(conf_origin(conf, field), "default");
}

/* ---- settings that contradict one another ---- */

static bool files_check_buffer(const struct world *w, const struct conf *conf, struct wr_err *err)
{
    const struct store_params *p = files_params(w);
    const struct store_buffer *b = &p->buffer;
    bool drains = files_arch(w) != STORE_COMPUTE || w->files->nio;

    if (!drains && b->capacity_b && !files_is_default(conf, &b->capacity_b))
        return conf_fail(conf, &b->capacity_b, err,
                         "a buffer of %s fills up and has no I/O nodes to drain through; give "
                         "storage.io_nodes, or `capacity: 0 B` for no limit",
                         wr_text_bytes(b->capacity_b).s);
    if (!drains)
        return true;
    if (b->capacity_b && b->capacity_b < p->block_b)
        return conf_fail(conf, &b->capacity_b, err,
                         "a buffer of %s does not hold a block of %s; raise the capacity or lower "
                         "storage.block",
                         wr_text_bytes(b->capacity_b).s, wr_text_bytes(p->block_b).s);
    if (b->capacity_b && b->drain == STORE_DRAIN_NEVER && files_arch(w) != STORE_SIDE)
        return conf_fail(conf, &b->drain, err,
                         "a buffer that is never drained fills up; choose another way to drain, or "
                         "`capacity: 0 B` for no limit");
    if (!b->capacity_b && b->drain == STORE_DRAIN_WATERMARKS)
        return conf_fail(conf, &b->drain, err,
                         "watermarks are parts of a capacity; give storage.buffer.capacity, or "
                         "drain by schedule or at-once");
    if (b->low > b->high)
        return conf_fail(conf, &b->low, err,
                         "draining would end before it begins; choose `low` below `high`");
    return true;
}

static bool files_check_stripe(const struct world *w, const struct conf *conf, struct wr_err *err)
{
    const struct store_params *p = files_params(w);

    if (p->stripe.count == 1 || p->stripe.size_b % p->block_b == 0)
        return true;
    return conf_fail(conf, &p->stripe.size_b, err,
                     "stripes of %s cut blocks of %s; choose a multiple of storage.block",
                     wr_text_bytes(p->stripe.size_b).s, wr_text_bytes(p->block_b).s);
}

/* Parameters that only the device can refuse are refused at their place in the configuration. */
static bool files_check_device(const struct conf *conf, const struct conf_plugin *device,
                               struct wr_err *err)
{
    struct wr_err inner;

    return store_try_device(device, &inner) || conf_fail(conf, device, err, "%s", inner.text);
}

/* ---- nodes ---- */

/* All nodes, group by group; group g's are first[g]..first[g + 1] - 1. free() both. */
static uint32_t *files_by_group(const struct place *place, uint32_t **ret_first)
{
    uint32_t *first = wr_zalloc((size_t)place->ngroups + 2, sizeof *first);
    uint32_t *node = wr_alloc(place->nnodes * sizeof *node);

    for (uint32_t i = 0; i < place->nnodes; i++)
        first[place->group[i] + 2]++;
    for (uint32_t g = 2; g < place->ngroups + 2; g++)
        first[g] += first[g - 1];
    for (uint32_t i = 0; i < place->nnodes; i++)
        node[first[place->group[i] + 1]++] = i;
    *ret_first = first;
    return node;
}

/* The nodes of a set that are up, group by group; free() it. */
static bool files_list_nodes(const struct place *place, const char *set, bool descending,
                             uint32_t **ret, uint32_t *ret_n, struct wr_err *err)
{
    bool *in = wr_zalloc(place->nnodes, sizeof *in);

    if (!place_nodes(place, set, in, err)) {
        free(in);
        return false;
    }
    uint32_t *first, *all = files_by_group(place, &first), n = 0;
    uint32_t *list = wr_alloc(place->nnodes * sizeof *list);

    for (uint32_t g = 0; g < place->ngroups; g++)
        for (uint32_t i = first[g]; i < first[g + 1]; i++) {
            uint32_t k = all[descending ? first[g] + first[g + 1] - 1 - i : i];

            if (in[k] && place->owner[k] != PLACE_DOWN)
                list[n++] = k;
        }
    free(in);
    free(all);
    free(first);
    *ret = list;
    *ret_n = n;
    return true;
}

static bool files_take_nodes(const struct conf *conf, const char *const *set, bool descending,
                             struct place *place, uint32_t **ret, uint32_t *ret_n,
                             struct wr_err *err)
{
    struct wr_err inner;

    if (!*set || !**set)
        return true;
    if (!files_list_nodes(place, *set, descending, ret, ret_n, &inner) ||
        !place_exclude(place, *set, &inner))
        return conf_fail(conf, set, err, "%s", inner.text);
    return true;
}

/* The servers first..first+n-1 are those of a group; none there: of the next one that has any. */
static void files_servers_near(const struct world_files *f, const struct place *place,
                               uint32_t group, uint32_t *first, uint32_t *n)
{
    for (uint32_t k = 0; k < place->ngroups; k++) {
        uint32_t g = (group + k) % place->ngroups;

        *first = 0;
        while (*first < f->nservers && place->group[f->server[*first]] != g)
            ++*first;
        *n = 0;
        while (*first + *n < f->nservers && place->group[f->server[*first + *n]] == g)
            ++*n;
        if (*n)
            return;
    }
}

/* A group's clients are shared out evenly, in the order of nodes. */
static void files_homes_nearest(struct world_files *f, const struct place *place, const bool *keeps)
{
    uint32_t *first, *node = files_by_group(place, &first);

    for (uint32_t g = 0; g < place->ngroups; g++) {
        uint32_t clients = 0, at = 0, server = 0, n = 0;

        files_servers_near(f, place, g, &server, &n);
        for (uint32_t i = first[g]; i < first[g + 1]; i++)
            clients += !keeps[node[i]];
        for (uint32_t i = first[g]; i < first[g + 1]; i++)
            if (!keeps[node[i]])
                f->home[node[i]] = server + (uint32_t)((uint64_t)at++ * n / clients);
    }
    free(node);
    free(first);
}

static bool files_homes_explicit(struct world *w, const struct conf *conf,
                                 const struct place *place, struct wr_err *err)
{
    const struct conf_list *list = &files_params(w)->assign;
    const struct store_assign *a = list->items;
    struct world_files *f = w->files;
    bool ok = true;

    for (size_t k = 0; ok && k < list->n; k++) {
        bool *in = wr_zalloc(place->nnodes, sizeof *in);
        struct wr_err inner;

        if (a[k].server >= f->nservers)
            ok = conf_fail(conf, &a[k].server, err,
                           "there are %u servers, from 0; choose one of them", f->nservers);
        else if (!place_nodes(place, a[k].clients, in, &inner))
            ok = conf_fail(conf, &a[k].clients, err, "%s", inner.text);
        for (uint32_t i = 0; ok && i < place->nnodes; i++)
            if (in[i])
                f->home[i] = a[k].server;
        free(in);
    }
    return ok;
}

static bool files_find_homes(struct world *w, const struct conf *conf, const struct place *place,
                             struct wr_err *err)
{
    struct world_files *f = w->files;
    bool *keeps = wr_zalloc(place->nnodes, sizeof *keeps), ok = true;
    uint32_t turn = 0;

    for (uint32_t i = 0; i < f->nservers; i++)
        keeps[f->server[i]] = true;
    for (uint32_t i = 0; i < f->nio; i++)
        keeps[f->io[i]] = true;
    files_homes_nearest(f, place, keeps);
    if (files_params(w)->policy == STORE_ROUND_ROBIN)
        for (uint32_t i = 0; i < place->nnodes; i++)
            if (!keeps[i])
                f->home[i] = turn++ % f->nservers;
    if (files_params(w)->policy == STORE_EXPLICIT)
        ok = files_homes_explicit(w, conf, place, err);
    free(keeps);
    return ok;
}

static bool files_check_apart(const struct world *w, const struct conf *conf, struct wr_err *err)
{
    const struct world_files *f = w->files;

    for (uint32_t i = 0; i < f->nservers; i++)
        for (uint32_t k = 0; k < f->nio; k++)
            if (f->server[i] == f->io[k])
                return conf_fail(conf, &files_params(w)->io_nodes, err,
                                 "node %u is a server already; choose other I/O nodes", f->io[k]);
    return true;
}

bool world_files_plan(struct world *w, const struct conf *conf, struct place *place,
                      struct wr_err *err)
{
    const struct store_params *p = files_params(w);
    struct world_files *f = w->files = wr_zalloc(1, sizeof *f);

    if (!files_take_nodes(conf, &p->servers, p->numbering, place, &f->server, &f->nservers, err) ||
        !files_take_nodes(conf, &p->io_nodes, false, place, &f->io, &f->nio, err))
        return false;
    if (!f->nservers)
        return conf_fail(conf, &p->servers, err,
                         "storage has no server; name nodes that are up, such as \"last 1 of every "
                         "group\"");
    f->home = wr_zalloc(place->nnodes, sizeof *f->home);
    return files_check_apart(w, conf, err) && files_check_buffer(w, conf, err) &&
           files_check_stripe(w, conf, err) && files_check_device(conf, &p->device, err) &&
           files_check_device(conf, &p->external, err) && files_find_homes(w, conf, place, err);
}

/* ---- the wire ---- */

static void files_wire_send(void *ctx, uint32_t src, uint32_t dst, uint64_t bytes, uint16_t app,
                            enum store_class cls, uint64_t user)
{
    world_partition_send(ctx, src, dst, bytes, app, (uint8_t)(RANK_CLASSES + cls), user);
}

void world_files_arrived(struct world_partition *partition, const struct net_msg *m)
{
    struct cause_trip trip = world_trip(partition->w, m, true);

    store_arrived(partition->store, m->user, &trip);
}

void world_files_begin(void *ctx, const struct rank_access *io, uint64_t user)
{
    static const enum store_op_kind act[LOAD_KINDS] = {
        [LOAD_OPEN] = STORE_OPEN,   [LOAD_CLOSE] = STORE_CLOSE, [LOAD_READ] = STORE_READ,
        [LOAD_WRITE] = STORE_WRITE, [LOAD_FLUSH] = STORE_FLUSH,
    };
    struct world_partition *partition = ctx;
    struct store_op op = {.node = io->node,
                          .app = io->app,
                          .kind = act[io->kind],
                          .file = io->file,
                          .offset = io->offset,
                          .bytes = io->bytes,
                          .user = user};

    store_begin(partition->store, &op);
}

static void files_on_done(void *ctx, uint64_t user, const uint64_t *ps)
{
    struct world_partition *partition = ctx;

    ranks_accessed(partition->rank, user, ps);
}

bool world_files_open(struct world *w, const struct conf *conf, struct wr_err *err)
{
    const struct world_files *f = w->files;
    uint32_t nodes = net_nodes(w->net);
    bool *compute = wr_zalloc(nodes, sizeof *compute);

    for (uint32_t i = 0; i < w->njobs; i++)
        for (uint32_t r = 0; r < w->job[i].load.ranks; r++)
            compute[w->job[i].node[r]] = true;
    struct store_setup setup = {
        .sim = w->sim,
        .first_kind = WORLD_EV_STORE,
        .wire = {.ctx = &w->partition[0], .send = files_wire_send, .lp = world_lp},
        .done = files_on_done,
        .done_ctx = &w->partition[0],
        .plug = &w->c->storage,
        .seed = w->c->seed,
        .napps = w->njobs,
        .nodes = nodes,
        .server = f->server,
        .nservers = f->nservers,
        .io = f->io,
        .nio = f->nio,
        .home = f->home,
        .compute = compute,
    };
    struct store_partition partitions[SIM_MAX_PARTITIONS];
    struct store *stores[SIM_MAX_PARTITIONS];
    struct wr_err inner;

    for (uint32_t i = 0; i < w->npartitions; i++)
        partitions[i] = (struct store_partition){
            .sim = w->partition[i].sim, .wire_ctx = &w->partition[i], .done_ctx = &w->partition[i]};
    bool ok = w->engine ? store_open_partitions(stores, &setup, partitions, w->npartitions,
                                                w->node_partition, &inner)
                        : store_open(stores, &setup, &inner);

    for (uint32_t i = 0; ok && i < w->npartitions; i++)
        w->partition[i].store = stores[i];
    w->store = ok ? stores[0] : NULL;

    free(compute);
    return ok || conf_fail(conf, &w->c->storage, err, "%s", inner.text);
}

void world_files_close(struct world *w)
{
    store_close(w->store);
    if (!w->files)
        return;
    free(w->files->server);
    free(w->files->io);
    free(w->files->home);
    free(w->files->series);
    free(w->files->before);
    free(w->files);
}

bool world_files_check(const struct world *w, struct wr_err *err)
{
    if (ranks_state(w->rank) != RANKS_ENDED && store_pending(w->store))
        return store_report_stall(w->store, err);
    return store_check(w->store, err);
}
