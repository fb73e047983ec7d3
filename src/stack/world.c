/* world.c -- the files, what clients remember of them, and the questions of machines. */
#include "base/rng.h"
#include "engine_priv.h"

enum { RNG_TARGETS = 0x7461 }; /* what random numbers are for */

static uint32_t placed(struct stack_engine *e, uint32_t expr, uint32_t file, uint32_t dfile)
{
    struct act about = {.file = file, .var = {[STACK_VAR_I] = dfile}};
    struct act *cur = e->cur;
    int64_t at = act_eval(e, &about, expr, e->now);

    e->cur = cur;
    return at < 0 || at >= e->servers ? 0 : (uint32_t)at;
}

static uint32_t first_server(const struct stack_engine *e)
{
    if (e->setup.start != UINT32_MAX)
        return e->setup.start;
    return e->fs->placed ? 0 : e->metas / 2;
}

uint32_t stack_world_meta(struct stack_engine *e, uint32_t file)
{
    if (e->fs->placed)
        return placed(e, e->fs->place_meta, file, 0);
    return (uint32_t)(((uint64_t)first_server(e) + file) % e->metas);
}

/* The first data file may lie with the metadata: that server keeps data, too. */
static bool both(const struct stack_engine *e, uint32_t meta)
{
    return meta >= e->servers - e->datas;
}

bool stack_world_stuffs(const struct stack_engine *e, uint32_t meta)
{
    return e->fs->stuffs && e->dfiles > 1 && both(e, meta);
}

/* The first data file lies with the metadata; the others go down from the last server, one step
 * further for each file so that no server gets all the second ones. */
uint32_t stack_world_server(struct stack_engine *e, uint32_t file, uint32_t dfile)
{
    uint32_t n = e->datas, first = e->servers - n, meta = e->file[file].meta;

    if (e->fs->placed)
        return placed(e, e->fs->place_data, file, dfile);
    if (!both(e, meta))
        return first + (uint32_t)(((uint64_t)file + dfile) % n);
    if (!dfile || n == 1)
        return meta;
    meta -= first;
    uint32_t place = (n - 1 - (dfile - 1 + file) % (n - 1)); /* 1..n-1 */

    /* the place-th server that is not `meta`, counted from 0 upwards */
    return first + (place - 1 < meta ? place - 1 : place);
}

static uint64_t strip_of(const struct stack_engine *e)
{
    return e->fs->strip_b;
}

/* A client cuts an operation as it knows the file, and requests say how it was cut. */
static bool whole(const struct stack_engine *e, const struct act *a)
{
    return e->dfiles == 1 || a->stuffed;
}

/* Bytes of [0, end) in data file d of n. */
static uint64_t below(uint64_t end, uint64_t strip, uint64_t n, uint64_t d)
{
    uint64_t row = strip * n, full = end / row, rest = end % row, from = d * strip;

    return full * strip + (rest <= from ? 0 : rest - from >= strip ? strip : rest - from);
}

uint64_t stack_world_share(const struct stack_engine *e, const struct act *a, uint32_t dfile)
{
    uint64_t from = (uint64_t)a->var[STACK_VAR_OFFSET];
    uint64_t end = from + (uint64_t)a->var[STACK_VAR_BYTES];

    if (whole(e, a))
        return dfile ? 0 : end - from;
    return below(end, strip_of(e), e->dfiles, dfile) - below(from, strip_of(e), e->dfiles, dfile);
}

void stack_world_extent(const struct stack_engine *e, const struct act *a, uint32_t dfile,
                        uint64_t *from, uint64_t *to)
{
    uint64_t begin = (uint64_t)a->var[STACK_VAR_OFFSET];
    uint64_t end = begin + (uint64_t)a->var[STACK_VAR_BYTES];

    *from = whole(e, a) ? begin : below(begin, strip_of(e), e->dfiles, dfile);
    *to = whole(e, a) ? end : below(end, strip_of(e), e->dfiles, dfile);
}

uint64_t stack_world_moves(const struct stack_engine *e, const struct act *a)
{
    int64_t length = a->var[STACK_VAR_LENGTH];

    return length > 0 ? (uint64_t)length
                      : stack_world_share(e, a, (uint32_t)a->var[STACK_VAR_FIRST]);
}

/* How many data files the operation touches, and which is the nth: they follow each other from the
 * first one's, around; in the order of their numbers. */
static uint32_t spans(const struct stack_engine *e, const struct act *a)
{
    uint64_t from = (uint64_t)a->var[STACK_VAR_OFFSET], bytes = (uint64_t)a->var[STACK_VAR_BYTES];

    if (!bytes || whole(e, a))
        return 1;
    uint64_t strips = (from + bytes - 1) / strip_of(e) - from / strip_of(e) + 1;

    return strips < e->dfiles ? (uint32_t)strips : e->dfiles;
}

static uint32_t span(const struct stack_engine *e, const struct act *a, int64_t i)
{
    uint64_t from = (uint64_t)a->var[STACK_VAR_OFFSET];

    if (i < 0 || i >= e->dfiles || whole(e, a))
        return 0;
    if (spans(e, a) == e->dfiles)
        return (uint32_t)i;
    return (uint32_t)((from / strip_of(e) + (uint64_t)i) % e->dfiles);
}

/* The data file with the most bytes is that of the operation's first strip, of its second (the
 * first that is whole), or of its last. */
static uint64_t largest(const struct stack_engine *e, const struct act *a)
{
    uint64_t from = (uint64_t)a->var[STACK_VAR_OFFSET], bytes = (uint64_t)a->var[STACK_VAR_BYTES];
    uint64_t most = 0;

    if (!bytes || whole(e, a))
        return bytes;
    uint64_t first = from / strip_of(e), last = (from + bytes - 1) / strip_of(e);
    uint64_t strip[] = {first, first + (first < last), last};

    for (int i = 0; i < 3; i++) {
        uint64_t share = stack_world_share(e, a, (uint32_t)(strip[i] % e->dfiles));

        most = share > most ? share : most;
    }
    return most;
}

static struct cache *cache_of(struct stack_engine *e, const struct act *a)
{
    return a->node < e->clients ? &e->cache[a->node] : NULL;
}

enum { DIR = 1, METAFILE = 3, DATAFILE = 4 }; /* as machine files number objects */

static uint32_t slot(const struct cache *c, uint32_t file)
{
    uint32_t i = 0;

    while (i < CACHED && c->at[i].file != file)
        i++;
    return i;
}

/* What is cached may be old: who finds it knows the file as it was. */
static int64_t acache(struct stack_engine *e, struct act *a, int64_t object, bool size)
{
    const struct cache *c = cache_of(e, a);

    if (!c)
        return 0;
    if (object == DIR)
        return e->now < c->dir_until;
    uint32_t i = slot(c, a->file);
    bool hit =
        i < CACHED && e->now < c->at[i].attr_until && (!size || e->now < c->at[i].size_until);

    if (hit)
        a->stuffed = c->at[i].stuffed;
    return hit;
}

static uint32_t slot_for(struct cache *c, uint32_t file)
{
    uint32_t i = slot(c, file);

    if (i == CACHED) {
        i = c->oldest++ % CACHED;
        c->at[i].file = file;
        c->at[i].attr_until = c->at[i].size_until = c->at[i].name_until = 0;
        c->at[i].cap_until = 0;
        c->at[i].from = c->at[i].to = 0;
    }
    return i;
}

static void acache_put(struct stack_engine *e, const struct act *a, int64_t object, bool size)
{
    struct cache *c = cache_of(e, a);

    if (!c)
        return;
    if (object == DIR) {
        c->dir_until = e->now + e->fs->acache_ns;
        return;
    }
    uint32_t i = slot_for(c, a->file);

    c->at[i].stuffed = a->stuffed;
    c->at[i].attr_until = e->now + e->fs->acache_ns;
    if (size)
        c->at[i].size_until = e->now + e->fs->acache_size_ns;
}

static void acache_drop(struct stack_engine *e, const struct act *a, int64_t object, bool size)
{
    struct cache *c = cache_of(e, a);
    uint32_t i = c ? slot(c, a->file) : CACHED;

    if (c && object == DIR)
        c->dir_until = 0;
    else if (i < CACHED) {
        c->at[i].size_until = 0;
        if (!size)
            c->at[i].attr_until = 0;
    }
}

static uint64_t *capability(struct stack_engine *e, const struct act *a, int64_t object)
{
    struct cache *c = cache_of(e, a);

    if (!c)
        return NULL;
    return object == DIR ? &c->dir_cap_until : &c->at[slot_for(c, a->file)].cap_until;
}

static int64_t capcache(struct stack_engine *e, const struct act *a, uint32_t fact, int64_t object)
{
    uint64_t *until = capability(e, a, object);

    if (!until)
        return 0;
    if (fact != STACK_FACT_CAPCACHE)
        *until = fact == STACK_FACT_CAPCACHE_PUT ? e->now + e->fs->capcache_ns : 0;
    return e->now < *until;
}

static int64_t ncache(struct stack_engine *e, const struct act *a, int what)
{
    struct cache *c = cache_of(e, a);
    uint32_t i = c ? slot(c, a->file) : CACHED;

    if (!c)
        return 0;
    if (what > 0 && e->fs->ncache_ns) {
        i = slot_for(c, a->file);
        c->at[i].name_until = e->now + e->fs->ncache_ns;
    } else if (what < 0 && i < CACHED) {
        c->at[i].name_until = 0;
    }
    return i < CACHED && e->now < c->at[i].name_until;
}

/* One stretch of each file; what touches it makes it longer, anything else takes its place, and
 * the oldest bytes go when it is longer than the memory. */
static void cache_fill(struct stack_engine *e, const struct act *a)
{
    struct cache *c = cache_of(e, a);
    uint64_t from = (uint64_t)a->var[STACK_VAR_OFFSET];
    uint64_t to = from + (uint64_t)a->var[STACK_VAR_BYTES];

    if (!c || !e->fs->cache_b)
        return;
    uint32_t i = slot_for(c, a->file);

    if (from <= c->at[i].to && c->at[i].from <= to) {
        from = from < c->at[i].from ? from : c->at[i].from;
        to = to > c->at[i].to ? to : c->at[i].to;
    }
    c->at[i].from = to - from > e->fs->cache_b ? to - e->fs->cache_b : from;
    c->at[i].to = to;
}

static void cache_drop(struct stack_engine *e, const struct act *a)
{
    struct cache *c = cache_of(e, a);
    uint32_t i = c ? slot(c, a->file) : CACHED;

    if (i < CACHED)
        c->at[i].from = c->at[i].to = 0;
}

static bool cached(struct stack_engine *e, const struct act *a)
{
    const struct cache *c = cache_of(e, a);
    uint64_t from = (uint64_t)a->var[STACK_VAR_OFFSET];
    uint64_t to = from + (uint64_t)a->var[STACK_VAR_BYTES];
    uint32_t i = c ? slot(c, a->file) : CACHED;

    return i < CACHED && from < to && c->at[i].from <= from && to <= c->at[i].to;
}

static void make(struct stack_engine *e, struct object *f)
{
    f->made = true;
    f->size = 0;
    f->stuffed = stack_world_stuffs(e, f->meta);
    for (uint32_t i = 0; i < e->dfiles / 8 + 1; i++)
        f->loaded[i] = 0;
    f->loaded[0] = 1;
}

static bool load(const struct stack_engine *e, const struct act *a, bool now)
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
static void settle(struct stack_engine *e, const struct act *a)
{
    uint64_t b = stack_world_moves(e, a);
    struct stack_counts *k = &e->counts;

    *(a->var[STACK_VAR_WRITES] ? &k->client_out_b : &k->client_in_b) += b;
    *(a->var[STACK_VAR_WRITES] ? &k->server_in_b : &k->server_out_b) += b;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t r = a % b;

        a = b;
        b = r;
    }
    return a;
}

/* Steps of a length that meets every server once, from a server drawn for the file. */
static int64_t shuffled(const struct stack_engine *e, const struct act *a, int64_t i)
{
    struct wr_rng r;
    uint32_t n = e->datas;

    wr_rng_init(&r, e->setup.seed, a->file, RNG_TARGETS);
    uint32_t from = wr_rng_below(&r, n), step = n > 1 ? 1 + wr_rng_below(&r, n - 1) : 0;

    while (n > 1 && gcd(step, n) > 1)
        step = step % (n - 1) + 1;
    return (int64_t)((from + (uint64_t)(i < 0 ? 0 : i) * step) % n);
}

static int64_t here(const struct stack_engine *e, const struct act *a)
{
    return a->node < e->clients ? a->node : a->node - e->clients;
}

static int64_t change(struct stack_engine *e, struct act *a, uint32_t fact, const int64_t *v)
{
    struct object *f = &e->file[a->file];

    switch (fact) {
    case STACK_FACT_ACACHE_PUT:
        acache_put(e, a, v[0], v[1]);
        break;
    case STACK_FACT_ACACHE_DROP:
        acache_drop(e, a, v[0], v[1]);
        break;
    case STACK_FACT_CAPCACHE_PUT:
    case STACK_FACT_CAPCACHE_DROP:
        return capcache(e, a, fact, v[0]);
    case STACK_FACT_NCACHE_PUT:
    case STACK_FACT_NCACHE_DROP:
        ncache(e, a, fact == STACK_FACT_NCACHE_PUT ? 1 : -1);
        break;
    case STACK_FACT_MOUNT_DONE:
        e->node[a->node].mounted = true;
        break;
    case STACK_FACT_MAKE:
        make(e, f);
        break;
    case STACK_FACT_LINK:
        f->linked = true;
        break;
    case STACK_FACT_UNLINK:
        f->linked = false;
        break;
    case STACK_FACT_UNSTUFF:
        f->stuffed = false;
        break;
    case STACK_FACT_SHOW:
        a->stuffed = f->stuffed;
        a->shows = true;
        break;
    case STACK_FACT_LOAD:
        load(e, a, true);
        break;
    case STACK_FACT_SETTLE:
        settle(e, a);
        break;
    case STACK_FACT_CACHE_FILL:
        cache_fill(e, a);
        break;
    case STACK_FACT_CACHE_DROP:
        cache_drop(e, a);
        break;
    case STACK_FACT_KEEP:
        return stack_keep(e, a, v);
    case STACK_FACT_GIVE:
        return stack_give(e, a, v);
    default:
        return stack_lock_ask(e, a, fact, v);
    }
    return 0;
}

int64_t stack_world_ask(void *ctx, uint32_t fact, const int64_t *v)
{
    struct stack_engine *e = ctx;
    struct act *a = e->cur;
    const struct object *f = &e->file[a->file];

    switch (fact) {
    case STACK_FACT_SERVERS:
        return e->servers;
    case STACK_FACT_CLIENTS:
        return e->clients;
    case STACK_FACT_HERE:
        return here(e, a);
    case STACK_FACT_EXISTS:
        return f->linked;
    case STACK_FACT_STUFFED:
        return a->side ? f->stuffed : a->stuffed;
    case STACK_FACT_WHOLE:
        return a->stuffed;
    case STACK_FACT_DFILES:
        return e->dfiles;
    case STACK_FACT_META:
        return f->meta;
    case STACK_FACT_STRIP:
        return (int64_t)e->fs->strip_b;
    case STACK_FACT_EAGER:
        return (int64_t)e->fs->eager_b;
    case STACK_FACT_LEFT:
        return a->left;
    case STACK_FACT_LOADED:
        return load(e, a, false);
    case STACK_FACT_MOUNTED:
        return e->node[a->node].mounted;
    case STACK_FACT_SPANS:
        return spans(e, a);
    case STACK_FACT_SPAN:
        return span(e, a, v[0]);
    case STACK_FACT_SHARE:
        return v[0] < 0 || v[0] >= e->dfiles ? 0 : (int64_t)stack_world_share(e, a, (uint32_t)v[0]);
    case STACK_FACT_DSERVER:
        return v[0] < 0 || v[0] >= e->dfiles ? 0 : stack_world_server(e, a->file, (uint32_t)v[0]);
    case STACK_FACT_CREATING:
        return a->creating;
    case STACK_FACT_FILE:
        return a->file;
    case STACK_FACT_SIZE:
        return (int64_t)f->size;
    case STACK_FACT_METAS:
        return e->metas;
    case STACK_FACT_DATAS:
        return e->datas;
    case STACK_FACT_SHUFFLED:
        return shuffled(e, a, v[0]);
    case STACK_FACT_FIRST_SERVER:
        return first_server(e);
    case STACK_FACT_CACHED:
        return cached(e, a);
    case STACK_FACT_CELL:
        return stack_cell(e, a, v);
    case STACK_FACT_WAITING:
        return stack_waiting(e, a, v);
    case STACK_FACT_LARGEST:
        return (int64_t)largest(e, a);
    case STACK_FACT_MIN:
        return v[0] < v[1] ? v[0] : v[1];
    case STACK_FACT_MAX:
        return v[0] > v[1] ? v[0] : v[1];
    case STACK_FACT_ACACHE:
        return acache(e, a, v[0], v[1]);
    case STACK_FACT_CAPCACHE:
        return capcache(e, a, fact, v[0]);
    case STACK_FACT_NCACHE:
        return ncache(e, a, 0);
    default:
        return change(e, a, fact, v);
    }
}
