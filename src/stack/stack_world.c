/* stack_world.c -- the files, the clients' caches, and the builtins of machine files.
 *
 * stack_world_ask() evaluates a builtin for the activity that is being stepped (engine->cur) at
 * engine->now: first the builtins that only read, then those that change something (world_change).
 */
#include <assert.h>

#include "base/rng.h"
#include "stack_engine_priv.h"

enum { RNG_TARGETS = 0x7461 }; /* what random numbers are for */

static uint32_t world_placed(struct stack_engine *e, uint32_t expr, uint32_t file, uint32_t dfile)
{
    struct activity about = {.file = file, .var = {[STACK_VAR_I] = dfile}};
    struct activity *cur = e->cur;
    int64_t at = activity_eval(e, &about, expr, e->now);

    e->cur = cur;
    return at < 0 || at >= e->servers ? 0 : (uint32_t)at;
}

static uint32_t world_first_server(const struct stack_engine *e)
{
    if (e->setup.start != UINT32_MAX)
        return e->setup.start;
    return e->fs->placed ? 0 : e->metas / 2;
}

uint32_t stack_world_meta(struct stack_engine *e, uint32_t file)
{
    assert(e->metas > 0);
    if (e->fs->placed)
        return world_placed(e, e->fs->place_meta, file, 0);
    return (uint32_t)(((uint64_t)world_first_server(e) + file) % e->metas);
}

/* The first data file may lie with the metadata: that server keeps data, too. */
static bool world_keeps_both(const struct stack_engine *e, uint32_t meta)
{
    return meta >= e->servers - e->datas;
}

bool stack_world_stuffs(const struct stack_engine *e, uint32_t meta)
{
    return e->fs->stuffs && e->dfiles > 1 && world_keeps_both(e, meta);
}

/* The first data file lies with the metadata; the others go down from the last server, one step
 * further for each file so that no server gets all the second ones. */
static uint32_t world_server(struct stack_engine *e, uint32_t file, uint32_t dfile)
{
    assert(file < e->setup.files);
    uint32_t n = e->datas, first = e->servers - n, meta = e->file[file].meta;

    if (e->fs->placed)
        return world_placed(e, e->fs->place_data, file, dfile);
    if (!world_keeps_both(e, meta))
        return first + (uint32_t)(((uint64_t)file + dfile) % n);
    if (!dfile || n == 1)
        return meta;
    meta -= first;
    uint32_t place = (n - 1 - (dfile - 1 + file) % (n - 1)); /* 1..n-1 */

    /* the place-th server that is not `meta`, counted from 0 upwards */
    return first + (place - 1 < meta ? place - 1 : place);
}

static uint64_t world_strip_b(const struct stack_engine *e)
{
    return e->fs->strip_b;
}

/* A client cuts an operation as it knows the file, and requests say how it was cut. */
static bool world_is_whole(const struct stack_engine *e, const struct activity *a)
{
    return e->dfiles == 1 || a->stuffed;
}

/* Bytes of [0, end) in data file d of n. */
static uint64_t world_bytes_below(uint64_t end, uint64_t strip, uint64_t n, uint64_t d)
{
    uint64_t row = strip * n, full = end / row, rest = end % row, from = d * strip;

    return full * strip + (rest <= from ? 0 : rest - from >= strip ? strip : rest - from);
}

static uint64_t world_share(const struct stack_engine *e, const struct activity *a, uint32_t dfile)
{
    uint64_t from = (uint64_t)a->var[STACK_VAR_OFFSET];
    uint64_t end = from + (uint64_t)a->var[STACK_VAR_BYTES];

    if (world_is_whole(e, a))
        return dfile ? 0 : end - from;
    return world_bytes_below(end, world_strip_b(e), e->dfiles, dfile) -
           world_bytes_below(from, world_strip_b(e), e->dfiles, dfile);
}

void stack_world_extent(const struct stack_engine *e, const struct activity *a, uint32_t dfile,
                        uint64_t *from, uint64_t *to)
{
    uint64_t begin = (uint64_t)a->var[STACK_VAR_OFFSET];
    uint64_t end = begin + (uint64_t)a->var[STACK_VAR_BYTES];

    *from =
        world_is_whole(e, a) ? begin : world_bytes_below(begin, world_strip_b(e), e->dfiles, dfile);
    *to = world_is_whole(e, a) ? end : world_bytes_below(end, world_strip_b(e), e->dfiles, dfile);
}

uint64_t stack_world_moves(const struct stack_engine *e, const struct activity *a)
{
    int64_t length = a->var[STACK_VAR_LENGTH];

    return length > 0 ? (uint64_t)length : world_share(e, a, (uint32_t)a->var[STACK_VAR_FIRST]);
}

/* How many data files the operation touches, and which is the nth: they follow each other from the
 * first one's, around; in the order of their numbers. */
static uint32_t world_spans(const struct stack_engine *e, const struct activity *a)
{
    uint64_t from = (uint64_t)a->var[STACK_VAR_OFFSET], bytes = (uint64_t)a->var[STACK_VAR_BYTES];

    if (!bytes || world_is_whole(e, a))
        return 1;
    uint64_t strips = (from + bytes - 1) / world_strip_b(e) - from / world_strip_b(e) + 1;

    return strips < e->dfiles ? (uint32_t)strips : e->dfiles;
}

static uint32_t world_span(const struct stack_engine *e, const struct activity *a, int64_t i)
{
    uint64_t from = (uint64_t)a->var[STACK_VAR_OFFSET];

    if (i < 0 || i >= e->dfiles || world_is_whole(e, a))
        return 0;
    if (world_spans(e, a) == e->dfiles)
        return (uint32_t)i;
    return (uint32_t)((from / world_strip_b(e) + (uint64_t)i) % e->dfiles);
}

/* The data file with the most bytes is that of the operation's first strip, of its second (the
 * first that is whole), or of its last. */
static uint64_t world_largest_share(const struct stack_engine *e, const struct activity *a)
{
    uint64_t from = (uint64_t)a->var[STACK_VAR_OFFSET], bytes = (uint64_t)a->var[STACK_VAR_BYTES];
    uint64_t most = 0;

    if (!bytes || world_is_whole(e, a))
        return bytes;
    uint64_t first = from / world_strip_b(e), last = (from + bytes - 1) / world_strip_b(e);
    uint64_t strip[] = {first, first + (first < last), last};

    for (int i = 0; i < 3; i++) {
        uint64_t share = world_share(e, a, (uint32_t)(strip[i] % e->dfiles));

        most = share > most ? share : most;
    }
    return most;
}

static struct cache *world_cache(struct stack_engine *e, const struct activity *a)
{
    return a->node < e->clients ? &e->cache[a->node] : NULL;
}

enum { DIR = 1, METAFILE = 3, DATAFILE = 4 }; /* as machine files number objects */

static uint32_t world_slot(const struct cache *c, uint32_t file)
{
    uint32_t i = 0;

    while (i < CACHED && c->at[i].file != file)
        i++;
    return i;
}

/* A cache hit; the activity then knows the file as it was when it was cached. */
static int64_t world_acache(struct stack_engine *e, struct activity *a, int64_t object, bool size)
{
    const struct cache *c = world_cache(e, a);

    if (!c)
        return 0;
    if (object == DIR)
        return e->now < c->dir_until;
    uint32_t i = world_slot(c, a->file);
    bool hit =
        i < CACHED && e->now < c->at[i].attr_until && (!size || e->now < c->at[i].size_until);

    if (hit)
        a->stuffed = c->at[i].stuffed;
    return hit;
}

static uint32_t world_slot_for(struct cache *c, uint32_t file)
{
    uint32_t i = world_slot(c, file);

    if (i == CACHED) {
        i = c->oldest++ % CACHED;
        c->at[i].file = file;
        c->at[i].attr_until = c->at[i].size_until = c->at[i].name_until = 0;
        c->at[i].cap_until = 0;
        c->at[i].from = c->at[i].to = 0;
    }
    return i;
}

static void world_acache_put(struct stack_engine *e, const struct activity *a, int64_t object,
                             bool size)
{
    struct cache *c = world_cache(e, a);

    if (!c)
        return;
    if (object == DIR) {
        c->dir_until = e->now + e->fs->acache_ns;
        return;
    }
    uint32_t i = world_slot_for(c, a->file);

    c->at[i].stuffed = a->stuffed;
    c->at[i].attr_until = e->now + e->fs->acache_ns;
    if (size)
        c->at[i].size_until = e->now + e->fs->acache_size_ns;
}

static void world_acache_drop(struct stack_engine *e, const struct activity *a, int64_t object,
                              bool size)
{
    struct cache *c = world_cache(e, a);
    uint32_t i = c ? world_slot(c, a->file) : CACHED;

    if (c && object == DIR)
        c->dir_until = 0;
    else if (i < CACHED) {
        c->at[i].size_until = 0;
        if (!size)
            c->at[i].attr_until = 0;
    }
}

static uint64_t *world_capability(struct stack_engine *e, const struct activity *a, int64_t object)
{
    struct cache *c = world_cache(e, a);

    if (!c)
        return NULL;
    return object == DIR ? &c->dir_cap_until : &c->at[world_slot_for(c, a->file)].cap_until;
}

static int64_t world_capcache(struct stack_engine *e, const struct activity *a, uint32_t builtin,
                              int64_t object)
{
    uint64_t *until = world_capability(e, a, object);

    if (!until)
        return 0;
    if (builtin != STACK_BUILTIN_CAPCACHE)
        *until = builtin == STACK_BUILTIN_CAPCACHE_PUT ? e->now + e->fs->capcache_ns : 0;
    return e->now < *until;
}

static int64_t world_ncache(struct stack_engine *e, const struct activity *a, int what)
{
    struct cache *c = world_cache(e, a);
    uint32_t i = c ? world_slot(c, a->file) : CACHED;

    if (!c)
        return 0;
    if (what > 0 && e->fs->ncache_ns) {
        i = world_slot_for(c, a->file);
        c->at[i].name_until = e->now + e->fs->ncache_ns;
    } else if (what < 0 && i < CACHED) {
        c->at[i].name_until = 0;
    }
    return i < CACHED && e->now < c->at[i].name_until;
}

/* The cache has one range of each file. An access that touches it extends it, any other replaces
 * it; the first bytes go when it exceeds the cache. */
static void world_cache_fill(struct stack_engine *e, const struct activity *a)
{
    struct cache *c = world_cache(e, a);
    uint64_t from = (uint64_t)a->var[STACK_VAR_OFFSET];
    uint64_t to = from + (uint64_t)a->var[STACK_VAR_BYTES];

    if (!c || !e->fs->cache_b)
        return;
    uint32_t i = world_slot_for(c, a->file);

    if (from <= c->at[i].to && c->at[i].from <= to) {
        from = from < c->at[i].from ? from : c->at[i].from;
        to = to > c->at[i].to ? to : c->at[i].to;
    }
    c->at[i].from = to - from > e->fs->cache_b ? to - e->fs->cache_b : from;
    c->at[i].to = to;
}

static void world_cache_drop(struct stack_engine *e, const struct activity *a)
{
    struct cache *c = world_cache(e, a);
    uint32_t i = c ? world_slot(c, a->file) : CACHED;

    if (i < CACHED)
        c->at[i].from = c->at[i].to = 0;
}

static bool world_is_cached(struct stack_engine *e, const struct activity *a)
{
    const struct cache *c = world_cache(e, a);
    uint64_t from = (uint64_t)a->var[STACK_VAR_OFFSET];
    uint64_t to = from + (uint64_t)a->var[STACK_VAR_BYTES];
    uint32_t i = c ? world_slot(c, a->file) : CACHED;

    return i < CACHED && from < to && c->at[i].from <= from && to <= c->at[i].to;
}

static void world_make(struct stack_engine *e, struct object *f)
{
    f->made = true;
    f->size = 0;
    f->stuffed = stack_world_stuffs(e, f->meta);
    for (uint32_t i = 0; i < e->dfiles / 8 + 1; i++)
        f->loaded[i] = 0;
    f->loaded[0] = 1;
}

static bool world_load(const struct stack_engine *e, const struct activity *a, bool now)
{
    uint32_t d = (uint32_t)a->var[STACK_VAR_FIRST];
    struct object *f = &e->file[a->file];

    if (a->var[STACK_VAR_OBJECT] != DATAFILE || d >= e->dfiles)
        return true;
    if (now)
        f->loaded[d / 8] |= (uint8_t)(1u << d % 8);
    return f->loaded[d / 8] >> d % 8 & 1;
}

/* Bytes that came with a request, or go with its answer, without a flow. */
static void world_count_inline(struct stack_engine *e, const struct activity *a)
{
    uint64_t b = stack_world_moves(e, a);
    struct stack_counts *k = &e->counts;

    *(a->var[STACK_VAR_WRITES] ? &k->client_out_b : &k->client_in_b) += b;
    *(a->var[STACK_VAR_WRITES] ? &k->server_in_b : &k->server_out_b) += b;
}

static uint32_t world_gcd(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t r = a % b;

        a = b;
        b = r;
    }
    return a;
}

/* Steps of a length that meets every server once, from a server drawn for the file. */
static int64_t world_shuffled(const struct stack_engine *e, const struct activity *a, int64_t i)
{
    struct wr_rng r;
    uint32_t n = e->datas;

    wr_rng_init(&r, e->setup.seed, a->file, RNG_TARGETS);
    uint32_t from = wr_rng_below(&r, n), step = n > 1 ? 1 + wr_rng_below(&r, n - 1) : 0;

    while (n > 1 && world_gcd(step, n) > 1)
        step = step % (n - 1) + 1;
    return (int64_t)((from + (uint64_t)(i < 0 ? 0 : i) * step) % n);
}

static int64_t world_node_number(const struct stack_engine *e, const struct activity *a)
{
    return a->node < e->clients ? a->node : a->node - e->clients;
}

static int64_t world_change(struct stack_engine *e, struct activity *a, uint32_t builtin,
                            const int64_t *v)
{
    struct object *f = &e->file[a->file];

    switch (builtin) {
    case STACK_BUILTIN_ACACHE_PUT:
        world_acache_put(e, a, v[0], v[1]);
        break;
    case STACK_BUILTIN_ACACHE_DROP:
        world_acache_drop(e, a, v[0], v[1]);
        break;
    case STACK_BUILTIN_CAPCACHE_PUT:
    case STACK_BUILTIN_CAPCACHE_DROP:
        return world_capcache(e, a, builtin, v[0]);
    case STACK_BUILTIN_NCACHE_PUT:
    case STACK_BUILTIN_NCACHE_DROP:
        world_ncache(e, a, builtin == STACK_BUILTIN_NCACHE_PUT ? 1 : -1);
        break;
    case STACK_BUILTIN_MOUNT_DONE:
        e->node[a->node].mounted = true;
        break;
    case STACK_BUILTIN_MAKE:
        world_make(e, f);
        break;
    case STACK_BUILTIN_LINK:
        f->linked = true;
        break;
    case STACK_BUILTIN_UNLINK:
        f->linked = false;
        break;
    case STACK_BUILTIN_UNSTUFF:
        f->stuffed = false;
        break;
    case STACK_BUILTIN_SHOW:
        a->stuffed = f->stuffed;
        a->shows = true;
        break;
    case STACK_BUILTIN_LOAD:
        world_load(e, a, true);
        break;
    case STACK_BUILTIN_SETTLE:
        world_count_inline(e, a);
        break;
    case STACK_BUILTIN_CACHE_FILL:
        world_cache_fill(e, a);
        break;
    case STACK_BUILTIN_CACHE_DROP:
        world_cache_drop(e, a);
        break;
    case STACK_BUILTIN_KEEP:
        return stack_keep(e, a, v);
    case STACK_BUILTIN_GIVE:
        return stack_give(e, a, v);
    default:
        return stack_lock_ask(e, a, builtin, v);
    }
    return 0;
}

int64_t stack_world_ask(void *ctx, uint32_t builtin, const int64_t *v)
{
    struct stack_engine *e = ctx;
    struct activity *a = e->cur;
    const struct object *f = &e->file[a->file];

    switch (builtin) {
    case STACK_BUILTIN_SERVERS:
        return e->servers;
    case STACK_BUILTIN_CLIENTS:
        return e->clients;
    case STACK_BUILTIN_HERE:
        return world_node_number(e, a);
    case STACK_BUILTIN_EXISTS:
        return f->linked;
    case STACK_BUILTIN_STUFFED:
        return a->side ? f->stuffed : a->stuffed;
    case STACK_BUILTIN_WHOLE:
        return a->stuffed;
    case STACK_BUILTIN_DFILES:
        return e->dfiles;
    case STACK_BUILTIN_META:
        return f->meta;
    case STACK_BUILTIN_STRIP:
        return (int64_t)e->fs->strip_b;
    case STACK_BUILTIN_EAGER:
        return (int64_t)e->fs->eager_b;
    case STACK_BUILTIN_LEFT:
        return a->left;
    case STACK_BUILTIN_LOADED:
        return world_load(e, a, false);
    case STACK_BUILTIN_MOUNTED:
        return e->node[a->node].mounted;
    case STACK_BUILTIN_SPANS:
        return world_spans(e, a);
    case STACK_BUILTIN_SPAN:
        return world_span(e, a, v[0]);
    case STACK_BUILTIN_SHARE:
        return v[0] < 0 || v[0] >= e->dfiles ? 0 : (int64_t)world_share(e, a, (uint32_t)v[0]);
    case STACK_BUILTIN_DSERVER:
        return v[0] < 0 || v[0] >= e->dfiles ? 0 : world_server(e, a->file, (uint32_t)v[0]);
    case STACK_BUILTIN_CREATING:
        return a->creating;
    case STACK_BUILTIN_FILE:
        return a->file;
    case STACK_BUILTIN_SIZE:
        return (int64_t)f->size;
    case STACK_BUILTIN_METAS:
        return e->metas;
    case STACK_BUILTIN_DATAS:
        return e->datas;
    case STACK_BUILTIN_SHUFFLED:
        return world_shuffled(e, a, v[0]);
    case STACK_BUILTIN_FIRST_SERVER:
        return world_first_server(e);
    case STACK_BUILTIN_CACHED:
        return world_is_cached(e, a);
    case STACK_BUILTIN_CELL:
        return stack_cell(e, a, v);
    case STACK_BUILTIN_WAITING:
        return stack_waiting(e, a, v);
    case STACK_BUILTIN_LARGEST:
        return (int64_t)world_largest_share(e, a);
    case STACK_BUILTIN_MIN:
        return v[0] < v[1] ? v[0] : v[1];
    case STACK_BUILTIN_MAX:
        return v[0] > v[1] ? v[0] : v[1];
    case STACK_BUILTIN_ACACHE:
        return world_acache(e, a, v[0], v[1]);
    case STACK_BUILTIN_CAPCACHE:
        return world_capcache(e, a, builtin, v[0]);
    case STACK_BUILTIN_NCACHE:
        return world_ncache(e, a, 0);
    default:
        return world_change(e, a, builtin, v);
    }
}
