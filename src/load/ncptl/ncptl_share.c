/* ncptl_share.c -- what the ranks of a program look up together (share_priv.h).
 *
 * Each part has its own lock. No lock is held while another is taken, except those of pins and
 * maps: computing one evaluates expressions, which may read files and draws.
 */
#include "share_priv.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "mt_priv.h"
#include "scan_priv.h"

enum {
    BLOCKS = 64,       /* of draws kept at hand */
    CHECKPOINT = 1024, /* blocks between saved states */
    PIN_BUCKETS = 1024,
    LARGEST_FILE = 64 << 20,
};

struct block {
    uint64_t number, used;
    bool valid;
    uint64_t word[NC_MT_N];
};

struct generator {
    struct nc_mt mt;
    uint64_t next; /* the block it makes next */
};

struct file {
    struct file *next;
    const char *name;
    char *text; /* NULL: it could not be read */
};

struct nc_share {
    uint32_t n;

    pthread_mutex_t map_lock;
    WR_VEC(struct nc_map *) maps; /* maps.v[e] is version first + e */
    uint32_t first;
    WR_VEC(uint32_t) users; /* ranks at that version */
    uint32_t ranks;

    pthread_mutex_t draw_lock;
    struct generator tip, replay;
    WR_VEC(struct nc_mt) saved; /* before block i * CHECKPOINT */
    struct block *blocks;
    uint64_t clock;

    pthread_mutex_t file_lock;
    struct file *files;

    pthread_mutex_t pin_lock;
    struct nc_pin *bucket[PIN_BUCKETS];
    size_t bytes;
    uint64_t lookups;
};

struct nc_share *nc_share_new(uint32_t n, int seed)
{
    struct nc_share *s = wr_zalloc(1, sizeof *s);

    assert(n);
    s->n = n;
    pthread_mutex_init(&s->map_lock, NULL);
    pthread_mutex_init(&s->draw_lock, NULL);
    pthread_mutex_init(&s->file_lock, NULL);
    pthread_mutex_init(&s->pin_lock, NULL);
    nc_mt_seed(&s->tip.mt, (uint64_t)(int64_t)seed);
    s->replay = s->tip;
    wr_vec_push(&s->saved, s->tip.mt);
    return s;
}

static void share_free_map(struct nc_map *m)
{
    if (!m)
        return;
    free(m->proc);
    free(m->task);
    free(m);
}

static void share_free_pin(struct nc_pin *pin)
{
    free(pin->list);
    free(pin->out_at);
    free(pin->in_at);
    free(pin->out);
    free(pin->in);
    free(pin->values);
    free(pin);
}

void nc_share_free(struct nc_share *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->maps.n; i++)
        share_free_map(s->maps.v[i]);
    wr_vec_fini(&s->maps);
    wr_vec_fini(&s->users);
    wr_vec_fini(&s->saved);
    free(s->blocks);
    for (struct file *f = s->files, *next; f; f = next) {
        next = f->next;
        free(f->text);
        free(f);
    }
    for (size_t i = 0; i < PIN_BUCKETS; i++)
        for (struct nc_pin *p = s->bucket[i], *next; p; p = next) {
            next = p->chain;
            share_free_pin(p);
        }
    pthread_mutex_destroy(&s->map_lock);
    pthread_mutex_destroy(&s->draw_lock);
    pthread_mutex_destroy(&s->file_lock);
    pthread_mutex_destroy(&s->pin_lock);
    free(s);
}

/* ---- maps ---- */

static struct nc_map *share_copy_map(const struct nc_map *old, uint32_t n)
{
    struct nc_map *m = wr_zalloc(1, sizeof *m);

    m->proc = wr_alloc(n * sizeof *m->proc);
    m->task = wr_alloc(n * sizeof *m->task);
    for (uint32_t i = 0; i < n; i++) {
        m->proc[i] = old ? old->proc[i] : i;
        m->task[i] = old ? old->task[i] : i;
    }
    return m;
}

/* An identity keeps no table, so that ranks on it pay nothing. */
static void share_drop_identity(struct nc_map *m, uint32_t n)
{
    uint32_t i = 0;

    while (i < n && m->proc[i] == i)
        i++;
    if (i < n)
        return;
    m->identity = true;
    free(m->proc);
    free(m->task);
    m->proc = m->task = NULL;
}

static const struct nc_map *share_map_or_null(const struct nc_map *m)
{
    return m && !m->identity ? m : NULL;
}

static void share_drop_maps(struct nc_share *s, size_t gone)
{
    assert(gone <= s->maps.n);
    for (size_t i = 0; i < gone; i++)
        share_free_map(s->maps.v[i]);
    memmove(s->users.v, s->users.v + gone, (s->users.n - gone) * sizeof *s->users.v);
    memmove(s->maps.v, s->maps.v + gone, (s->maps.n - gone) * sizeof *s->maps.v);
    s->users.n -= gone;
    s->maps.n -= gone;
    s->first += (uint32_t)gone;
}

/* Versions that every rank has left, oldest first. */
static void share_drop_old_maps(struct nc_share *s)
{
    size_t gone = 0;

    while (gone + 1 < s->users.n && !s->users.v[gone])
        gone++;
    if (gone)
        share_drop_maps(s, gone);
}

void nc_share_enter(struct nc_share *s)
{
    pthread_mutex_lock(&s->map_lock);
    if (!s->ranks++) {
        if (s->maps.n)
            share_drop_maps(s, s->maps.n);
        s->first = 0;
        /* Version 0 is the identity and has no storage. */
        wr_vec_push(&s->maps, NULL);
        wr_vec_push(&s->users, 0);
    }
    assert(!s->first); /* all ranks begin before any has gone on */
    s->users.v[0]++;
    pthread_mutex_unlock(&s->map_lock);
}

bool nc_share_advance(struct nc_share *s, uint32_t epoch, nc_map_fn *make, void *ctx,
                      const struct nc_map **ret, uint64_t *draws)
{
    bool ok = true;

    pthread_mutex_lock(&s->map_lock);
    size_t at = epoch - s->first;
    if (at + 1 == s->maps.n) {
        struct nc_map *m = share_copy_map(share_map_or_null(s->maps.v[at]), s->n);

        ok = make(ctx, m, s->n);
        if (ok) {
            share_drop_identity(m, s->n);
            wr_vec_push(&s->maps, m);
            wr_vec_push(&s->users, 0);
        } else {
            share_free_map(m);
        }
    }
    if (ok) {
        *ret = share_map_or_null(s->maps.v[at + 1]);
        *draws = s->maps.v[at + 1]->draws;
        s->users.v[at]--;
        s->users.v[at + 1]++;
        share_drop_old_maps(s);
    }
    pthread_mutex_unlock(&s->map_lock);
    return ok;
}

void nc_share_leave(struct nc_share *s, uint32_t epoch)
{
    assert(epoch >= s->first && epoch - s->first < s->users.n);
    assert(s->users.v[epoch - s->first] && s->ranks);
    pthread_mutex_lock(&s->map_lock);
    s->users.v[epoch - s->first]--;
    s->ranks--;
    pthread_mutex_unlock(&s->map_lock);
}

/* ---- draws ---- */

static struct block *share_find_block(struct nc_share *s, uint64_t number)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        if (s->blocks[i].valid && s->blocks[i].number == number)
            return &s->blocks[i];
    return NULL;
}

static struct block *share_oldest_block(struct nc_share *s)
{
    struct block *b = &s->blocks[0];

    for (unsigned i = 0; i < BLOCKS; i++) {
        if (!s->blocks[i].valid)
            return &s->blocks[i];
        if (s->blocks[i].used < b->used)
            b = &s->blocks[i];
    }
    return b;
}

/* The generator that reaches the block soonest. */
static struct generator *share_nearest_generator(struct nc_share *s, uint64_t number)
{
    if (number >= s->tip.next)
        return &s->tip;
    uint64_t from = number / CHECKPOINT * CHECKPOINT;
    if (s->replay.next > number || s->replay.next < from) {
        s->replay.mt = s->saved.v[number / CHECKPOINT];
        s->replay.next = from;
    }
    return &s->replay;
}

static struct block *share_make_block(struct nc_share *s, uint64_t number)
{
    struct generator *g = share_nearest_generator(s, number);
    struct block *b = share_oldest_block(s);

    assert(s->blocks);
    for (bool done = false; !done; g->next++) {
        done = g->next == number;
        if (g == &s->tip && g->next && g->next % CHECKPOINT == 0)
            wr_vec_push(&s->saved, g->mt);
        nc_mt_block(&g->mt, b->word);
    }
    b->number = number;
    b->valid = true;
    return b;
}

uint64_t nc_share_draw(struct nc_share *s, uint64_t index)
{
    pthread_mutex_lock(&s->draw_lock);
    if (!s->blocks)
        s->blocks = wr_zalloc(BLOCKS, sizeof *s->blocks);
    struct block *b = share_find_block(s, index / NC_MT_N);
    if (!b)
        b = share_make_block(s, index / NC_MT_N);
    b->used = ++s->clock;
    uint64_t word = b->word[index % NC_MT_N] >> 1;
    pthread_mutex_unlock(&s->draw_lock);
    return word;
}

/* ---- files ---- */

static char *share_read_text(const char *name)
{
    struct wr_err ignored;
    char *text;
    size_t len;

    return wr_file_read(&text, &len, name, LARGEST_FILE, &ignored) ? text : NULL;
}

static const char *share_file_text(struct nc_share *s, const char *name)
{
    struct file *f;

    pthread_mutex_lock(&s->file_lock);
    for (f = s->files; f && strcmp(f->name, name); f = f->next)
        ;
    if (!f) {
        f = wr_zalloc(1, sizeof *f);
        *f = (struct file){.next = s->files, .name = name, .text = share_read_text(name)};
        s->files = f;
    }
    pthread_mutex_unlock(&s->file_lock);
    return f->text;
}

enum nc_cell nc_share_cell(struct nc_share *s, const struct nx *file, int64_t column, int64_t row,
                           double *ret)
{
    const char *text = share_file_text(s, file->name);

    if (!text)
        return NC_CELL_NO_FILE;
    return nc_scan_cell(text, file->colsep, file->rowsep, column, row, ret) ? NC_CELL_OK
                                                                            : NC_CELL_NONE;
}

/* ---- pins ---- */

uint64_t nc_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static size_t share_pin_bucket(uint32_t id, const int64_t *key, uint32_t nkey)
{
    uint64_t h = nc_mix(id);

    for (uint32_t i = 0; i < nkey; i++)
        h = nc_mix(h ^ (uint64_t)key[i]);
    return h % PIN_BUCKETS;
}

/* The longest unread goes first. A walk over all pins, but only when one was
 * computed, which costs more. */
static void share_evict_pins(struct nc_share *s)
{
    while (s->bytes > NC_PIN_BYTES) {
        struct nc_pin **oldest = NULL;

        for (size_t i = 0; i < PIN_BUCKETS; i++)
            for (struct nc_pin **p = &s->bucket[i]; *p; p = &(*p)->chain)
                if (!(*p)->refs && (!oldest || (*p)->used < (*oldest)->used))
                    oldest = p;
        if (!oldest)
            return;
        struct nc_pin *gone = *oldest;
        *oldest = gone->chain;
        s->bytes -= gone->bytes;
        share_free_pin(gone);
    }
}

struct nc_pin *nc_share_pin(struct nc_share *s, uint32_t id, const int64_t *key, uint32_t nkey,
                            nc_pin_fn *make, void *ctx)
{
    size_t h = share_pin_bucket(id, key, nkey);
    struct nc_pin *pin;

    assert(nkey <= NC_PIN_KEYS && make);
    pthread_mutex_lock(&s->pin_lock);
    for (pin = s->bucket[h]; pin; pin = pin->chain)
        if (pin->id == id && pin->nkey == nkey && !memcmp(pin->key, key, nkey * sizeof *key))
            break;
    if (!pin) {
        pin = wr_zalloc(1, sizeof *pin + nkey * sizeof *key);
        pin->id = id;
        pin->nkey = nkey;
        if (nkey)
            memcpy(pin->key, key, nkey * sizeof *key);
        make(ctx, pin);
        pin->bytes += sizeof *pin + nkey * sizeof *key;
        pin->chain = s->bucket[h];
        s->bucket[h] = pin;
        s->bytes += pin->bytes;
        pin->refs++;
        share_evict_pins(s);
        pin->refs--;
    }
    pin->refs++;
    pin->used = ++s->lookups;
    pthread_mutex_unlock(&s->pin_lock);
    return pin;
}

void nc_share_unpin(struct nc_share *s, struct nc_pin *pin)
{
    assert(pin->refs);
    pthread_mutex_lock(&s->pin_lock);
    pin->refs--;
    pthread_mutex_unlock(&s->pin_lock);
}
