/* put.c -- one function per kind of fact. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "writer_priv.h"

enum { INPUT_RAW_MAX = 4096, INPUT_LEVEL = 6, MOST_KINDS = INT16_MAX };

static void bind_int(sqlite3_stmt *s, int at, int64_t value)
{
    if (value == RUN_NULL)
        sqlite3_bind_null(s, at);
    else
        sqlite3_bind_int64(s, at, value);
}

/* SQLite's integers end at 2^63 - 1; no count of bytes or picoseconds gets there. */
static void bind_count(sqlite3_stmt *s, int at, uint64_t value)
{
    sqlite3_bind_int64(s, at, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
    sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC); /* NULL binds NULL */
}

static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

static uint64_t hash_text(const char *s)
{
    uint64_t h = 0;

    for (; *s; s++)
        h = mix(h + (unsigned char)*s);
    return h;
}

/* Walks the places `hash` may be in: *at is the next place to look at, and the
 * id found there is returned, 0 at an empty one. */
static uint32_t ids_probe(const struct run_ids *ids, uint64_t hash, uint32_t *at)
{
    while (ids->cap) {
        uint32_t i = (uint32_t)(hash + (*at)++) & (ids->cap - 1);

        if (!ids->slot[i].id || ids->slot[i].hash == hash)
            return ids->slot[i].id;
    }
    return 0;
}

static void ids_place(struct run_ids *ids, uint64_t hash, uint32_t id)
{
    uint32_t i = (uint32_t)hash & (ids->cap - 1);

    while (ids->slot[i].id)
        i = (i + 1) & (ids->cap - 1);
    ids->slot[i].hash = hash;
    ids->slot[i].id = id;
}

static void ids_add(struct run_ids *ids, uint64_t hash, uint32_t id)
{
    if (2 * (ids->n + 1) > ids->cap) {
        struct run_ids old = *ids;

        ids->cap = old.cap ? 2 * old.cap : 64;
        ids->slot = wr_zalloc(ids->cap, sizeof *ids->slot);
        for (uint32_t i = 0; i < old.cap; i++)
            if (old.slot[i].id)
                ids_place(ids, old.slot[i].hash, old.slot[i].id);
        free(old.slot);
    }
    ids_place(ids, hash, id);
    ids->n++;
}

/* The dictionary's id of a text, which is added when new. */
static bool intern(struct run *run, const char *text, uint32_t *ret, struct wr_err *err)
{
    uint64_t hash = hash_text(text);
    uint32_t at = 0, id;

    while ((id = ids_probe(&run->text_ids, hash, &at)))
        if (!strcmp(run->text.v[id - 1], text)) {
            *ret = id;
            return true;
        }
    sqlite3_stmt *s = run_begin(run, RUN_S_DICT, err);
    if (!s)
        return false;
    id = (uint32_t)run->text.n + 1;
    sqlite3_bind_int64(s, 1, id);
    bind_text(s, 2, text);
    if (!run_step(run, RUN_S_DICT, err))
        return false;
    wr_vec_push(&run->text, wr_strdup(text));
    ids_add(&run->text_ids, hash, id);
    *ret = id;
    return true;
}

bool run_put_input(struct run *run, const char *path, const void *content, size_t len,
                   struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_INPUT, err);
    size_t packed_len = 0;
    void *packed = NULL;

    if (!s)
        return false;
    if (len > INPUT_RAW_MAX) {
        size_t room = ZSTD_compressBound(len);

        packed = wr_alloc(room);
        packed_len = ZSTD_compress(packed, room, content, len, INPUT_LEVEL);
        if (ZSTD_isError(packed_len) || packed_len >= len) {
            free(packed);
            packed = NULL;
        }
    }
    bind_text(s, 1, path);
    bind_count(s, 2, len);
    bind_text(s, 3, packed ? "zstd" : "raw");
    if (len)
        sqlite3_bind_blob64(s, 4, packed ? packed : content, packed ? packed_len : len,
                            SQLITE_STATIC);
    else
        sqlite3_bind_zeroblob(s, 4, 0);
    bool ok = run_step(run, RUN_S_INPUT, err);
    free(packed);
    return ok;
}

static sqlite3_stmt *begin_summary(struct run *run, const char *key, const char *unit,
                                   bool is_volatile, struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_SUMMARY, err);

    if (!s)
        return NULL;
    bind_text(s, 1, key);
    bind_text(s, 2, unit);
    sqlite3_bind_int(s, 3, is_volatile);
    sqlite3_bind_null(s, 4);
    sqlite3_bind_null(s, 5);
    return s;
}

bool run_put_count(struct run *run, const char *key, uint64_t value, const char *unit,
                   struct wr_err *err)
{
    sqlite3_stmt *s = begin_summary(run, key, unit, false, err);

    if (!s)
        return false;
    bind_count(s, 4, value);
    return run_step(run, RUN_S_SUMMARY, err);
}

bool run_put_real(struct run *run, const char *key, double value, const char *unit,
                  struct wr_err *err)
{
    sqlite3_stmt *s = begin_summary(run, key, unit, false, err);

    if (!s)
        return false;
    sqlite3_bind_double(s, 4, value);
    return run_step(run, RUN_S_SUMMARY, err);
}

bool run_put_volatile(struct run *run, const char *key, double value, const char *unit,
                      struct wr_err *err)
{
    sqlite3_stmt *s = begin_summary(run, key, unit, true, err);

    if (!s)
        return false;
    sqlite3_bind_double(s, 4, value);
    return run_step(run, RUN_S_SUMMARY, err);
}

bool run_put_text(struct run *run, const char *key, const char *value, struct wr_err *err)
{
    sqlite3_stmt *s = begin_summary(run, key, "", false, err);

    if (!s)
        return false;
    bind_text(s, 5, value);
    return run_step(run, RUN_S_SUMMARY, err);
}

bool run_put_meta(struct run *run, const char *key, const char *value, struct wr_err *err)
{
    return run_put_meta_text(run, key, value, err);
}

bool run_put_app(struct run *run, const struct run_app *app, struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_APP, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, app->app);
    bind_text(s, 2, app->name);
    bind_count(s, 3, app->ranks);
    bind_int(s, 4, app->start_ps);
    bind_text(s, 5, app->workload);
    bind_text(s, 6, app->placement);
    return run_step(run, RUN_S_APP, err);
}

bool run_put_rank(struct run *run, const struct run_rank *rank, struct wr_err *err)
{
    const int64_t rest[] = {
        rank->node,        rank->msgs_sent,  rank->bytes_sent, rank->msgs_recvd,
        rank->bytes_recvd, rank->elapsed_ps, rank->compute_ps, rank->comm_ps,
        rank->io_ps,       rank->wait_ps,    rank->bytes_read, rank->bytes_written,
        rank->send_ps,     rank->recv_ps,    rank->await_ps,   rank->coll_ps,
        rank->idle_ps,
    };
    sqlite3_stmt *s = run_begin(run, RUN_S_RANK, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, rank->app);
    bind_count(s, 2, rank->rank);
    for (int i = 0; i < (int)(sizeof rest / sizeof rest[0]); i++)
        bind_int(s, 3 + i, rest[i]);
    return run_step(run, RUN_S_RANK, err);
}

bool run_put_coll(struct run *run, uint32_t app, uint64_t rank, const char *coll, uint64_t n,
                  uint64_t ps, struct wr_err *err)
{
    uint32_t id;

    if (!intern(run, coll, &id, err))
        return false;
    sqlite3_stmt *s = run_begin(run, RUN_S_COLL, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, app);
    bind_count(s, 2, rank);
    sqlite3_bind_int64(s, 3, id);
    bind_count(s, 4, n);
    bind_count(s, 5, ps);
    return run_step(run, RUN_S_COLL, err);
}

bool run_put_cause(struct run *run, uint32_t app, uint64_t rank, const char *during,
                   const char *cause, uint64_t ps, struct wr_err *err)
{
    uint32_t when, why;

    if (!intern(run, during, &when, err) || !intern(run, cause, &why, err))
        return false;
    sqlite3_stmt *s = run_begin(run, RUN_S_CAUSE, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, app);
    bind_count(s, 2, rank);
    sqlite3_bind_int64(s, 3, when);
    sqlite3_bind_int64(s, 4, why);
    bind_count(s, 5, ps);
    return run_step(run, RUN_S_CAUSE, err);
}

bool run_put_mark(struct run *run, uint32_t app, uint64_t rank, uint32_t mark, uint64_t t_ps,
                  struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_MARK, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, app);
    bind_count(s, 2, rank);
    sqlite3_bind_int64(s, 3, mark);
    bind_count(s, 4, t_ps);
    return run_step(run, RUN_S_MARK, err);
}

bool run_put_interval(struct run *run, const struct run_interval *x, struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_INTERVAL, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, x->app);
    bind_count(s, 2, x->rank);
    bind_count(s, 3, x->t_ps);
    bind_count(s, 4, x->compute_ps);
    bind_count(s, 5, x->comm_ps);
    bind_count(s, 6, x->io_ps);
    bind_count(s, 7, x->idle_ps);
    return run_step(run, RUN_S_INTERVAL, err);
}

bool run_put_log(struct run *run, const struct run_log *log, struct wr_err *err)
{
    uint32_t title, aggregate;

    if (!intern(run, log->title, &title, err) || !intern(run, log->aggregate, &aggregate, err))
        return false;
    sqlite3_stmt *s = run_begin(run, RUN_S_LOG, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, log->app);
    bind_count(s, 2, log->rank);
    sqlite3_bind_int64(s, 3, log->table);
    sqlite3_bind_int64(s, 4, log->column);
    sqlite3_bind_int64(s, 5, title);
    sqlite3_bind_int64(s, 6, aggregate);
    bind_count(s, 7, log->row);
    sqlite3_bind_double(s, 8, log->value);
    return run_step(run, RUN_S_LOG, err);
}

bool run_put_output(struct run *run, uint32_t app, uint64_t rank, uint64_t t_ps, const char *text,
                    struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_OUTPUT, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, app);
    bind_count(s, 2, rank);
    bind_count(s, 3, t_ps);
    bind_text(s, 4, text);
    return run_step(run, RUN_S_OUTPUT, err);
}

bool run_put_link(struct run *run, const struct run_link *link, struct wr_err *err)
{
    uint32_t src_kind, dst_kind, cls;

    if (!intern(run, link->src_kind, &src_kind, err) ||
        !intern(run, link->dst_kind, &dst_kind, err) || !intern(run, link->cls, &cls, err))
        return false;
    if (src_kind > MOST_KINDS)
        return wr_fail(err, WR_BUG, "%s: links from more than %d kinds of things", run->path,
                       MOST_KINDS);
    sqlite3_stmt *s = run_begin(run, RUN_S_LINK, err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, (int64_t)src_kind << 48 | (int64_t)link->src << 16 | link->port);
    sqlite3_bind_int64(s, 2, dst_kind);
    sqlite3_bind_int64(s, 3, link->dst);
    sqlite3_bind_int64(s, 4, cls);
    bind_count(s, 5, link->bytes);
    bind_count(s, 6, link->packets);
    bind_count(s, 7, link->busy_ps);
    bind_count(s, 8, link->saturated_ps);
    sqlite3_bind_double(s, 9, link->bytes_per_s);
    return run_step(run, RUN_S_LINK, err);
}

bool run_put_server(struct run *run, const struct run_server *x, struct wr_err *err)
{
    const uint64_t rest[] = {x->reads,   x->writes, x->bytes_read, x->bytes_written,
                             x->busy_ps, x->seeks,  x->queue_ps,   x->queue_max};
    uint32_t role, device, model;

    if (!intern(run, x->role, &role, err) || !intern(run, x->device, &device, err) ||
        !intern(run, x->model, &model, err))
        return false;
    sqlite3_stmt *s = run_begin(run, RUN_S_SERVER, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, x->server);
    sqlite3_bind_int64(s, 2, device);
    sqlite3_bind_int64(s, 3, x->idx);
    sqlite3_bind_int64(s, 4, x->node);
    sqlite3_bind_int64(s, 5, role);
    sqlite3_bind_int64(s, 6, model);
    for (int i = 0; i < (int)(sizeof rest / sizeof rest[0]); i++)
        bind_count(s, 7 + i, rest[i]);
    return run_step(run, RUN_S_SERVER, err);
}

bool run_put_buffer(struct run *run, const struct run_buffer *x, struct wr_err *err)
{
    const uint64_t rest[] = {x->requests, x->used_b, x->used_max_b, x->dirty_b,
                             x->in_b,     x->out_b,  x->absorbed_b, x->evicted_b,
                             x->hit_b,    x->miss_b, x->waits,      x->wait_ps};
    uint32_t role;

    if (!intern(run, x->role, &role, err))
        return false;
    sqlite3_stmt *s = run_begin(run, RUN_S_BUFFER, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, x->server);
    sqlite3_bind_int64(s, 2, x->node);
    sqlite3_bind_int64(s, 3, role);
    for (int i = 0; i < (int)(sizeof rest / sizeof rest[0]); i++)
        bind_count(s, 4 + i, rest[i]);
    return run_step(run, RUN_S_BUFFER, err);
}

bool run_put_flow(struct run *run, const struct run_flow *f, struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_FLOW, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, f->app);
    sqlite3_bind_int64(s, 2, f->src_group);
    sqlite3_bind_int64(s, 3, f->dst_group);
    bind_count(s, 4, f->msgs);
    bind_count(s, 5, f->bytes);
    return run_step(run, RUN_S_FLOW, err);
}

bool run_put_client(struct run *run, uint32_t node, uint32_t server, struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_CLIENT, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, node);
    sqlite3_bind_int64(s, 2, server);
    return run_step(run, RUN_S_CLIENT, err);
}

static bool put_cell(struct run *run, int64_t hist, uint32_t cell, uint64_t n, struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_HIST_CELL, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, hist);
    bind_count(s, 2, wr_hist_cell_low(cell));
    bind_count(s, 3, wr_hist_cell_next(cell));
    bind_count(s, 4, n);
    return run_step(run, RUN_S_HIST_CELL, err);
}

bool run_put_latency(struct run *run, int64_t app, const char *cls, const struct wr_hist *ps,
                     struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_HIST, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, app);
    bind_text(s, 2, cls);
    bind_count(s, 3, ps->n);
    sqlite3_bind_double(s, 4, (double)ps->sum);
    bind_int(s, 5, ps->n ? (int64_t)ps->min : RUN_NULL);
    bind_int(s, 6, ps->n ? (int64_t)ps->max : RUN_NULL);
    if (!run_step(run, RUN_S_HIST, err))
        return false;

    int64_t hist = sqlite3_last_insert_rowid(run->db);
    for (uint32_t i = 0; i < WR_HIST_CELLS; i++)
        if (ps->cell[i] && !put_cell(run, hist, i, ps->cell[i], err))
            return false;
    return true;
}

bool run_open_series(struct run *run, const struct run_series *series, uint32_t *ret_id,
                     struct wr_err *err)
{
    uint32_t entity, metric, unit, at = 0, id;

    if (!intern(run, series->entity, &entity, err) || !intern(run, series->metric, &metric, err) ||
        !intern(run, series->unit, &unit, err))
        return false;
    uint64_t hash = mix((uint64_t)entity << 32 | metric);
    while ((id = ids_probe(&run->series_ids, hash, &at)))
        if (run->series.v[id - 1].entity == entity && run->series.v[id - 1].metric == metric) {
            *ret_id = id;
            return true;
        }
    sqlite3_stmt *s = run_begin(run, RUN_S_SERIES, err);
    if (!s)
        return false;
    id = (uint32_t)run->series.n + 1;
    sqlite3_bind_int64(s, 1, id);
    sqlite3_bind_int64(s, 2, entity);
    sqlite3_bind_int64(s, 3, metric);
    sqlite3_bind_int64(s, 4, unit);
    sqlite3_bind_int64(s, 5, series->dt_ps);
    if (!run_step(run, RUN_S_SERIES, err))
        return false;
    wr_vec_push(&run->series, (struct run_series_key){
                                  .entity = entity, .metric = metric, .dt_ps = series->dt_ps});
    ids_add(&run->series_ids, hash, id);
    *ret_id = id;
    return true;
}

bool run_put_slice(struct run *run, uint32_t series, int64_t t_ps, int64_t dt_ps, double value,
                   struct wr_err *err)
{
    if (!series || series > run->series.n)
        return wr_fail(err, WR_BUG, "%s: slice of a series that was never opened", run->path);
    sqlite3_stmt *s = run_begin(run, RUN_S_SLICE, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, t_ps);
    sqlite3_bind_int64(s, 2, series);
    bind_int(s, 3, dt_ps == run->series.v[series - 1].dt_ps ? RUN_NULL : dt_ps);
    sqlite3_bind_double(s, 4, value);
    run->slices++;
    return run_step(run, RUN_S_SLICE, err);
}

bool run_put_sweep(struct run *run, const struct run_sweep *p, struct wr_err *err)
{
    const double reals[] = {p->offered,    p->accepted,   p->lat_mean_ns,
                            p->lat_min_ns, p->lat_p50_ns, p->lat_p99_ns,
                            p->lat_max_ns, p->hops_mean,  p->nonminimal_frac};
    sqlite3_stmt *s = run_begin(run, RUN_S_SWEEP, err);
    char seed[32]; /* as digits: SQLite's integers end before seeds do */

    if (!s)
        return false;
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)p->seed);
    bind_text(s, 1, p->series);
    sqlite3_bind_double(s, 2, p->load);
    bind_text(s, 3, seed);
    for (int i = 0; i < 9; i++)
        sqlite3_bind_double(s, 4 + i, reals[i]);
    sqlite3_bind_int(s, 13, p->saturated);
    bind_int(s, 14, p->packets);
    bind_int(s, 15, p->events);
    sqlite3_bind_double(s, 16, p->sim_end_ns);
    sqlite3_bind_double(s, 17, p->wall_s);
    if (p->place)
        sqlite3_bind_int64(s, 18, p->place);
    else
        sqlite3_bind_null(s, 18);
    return run_step(run, RUN_S_SWEEP, err);
}
