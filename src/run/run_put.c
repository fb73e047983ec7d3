/* run_put.c -- writes facts, one function per table.
 *
 * Each function begins its statement (run_begin), binds it in the order of the SQL in writer.c, and
 * steps it. Texts that many facts share are stored once in `dict`; slices are collected and
 * inserted sorted. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/hash.h"
#include "writer_priv.h"

enum { INPUT_RAW_MAX = 4096, INPUT_LEVEL = 6, MOST_KINDS = INT16_MAX };

static void put_bind_int(sqlite3_stmt *s, int at, int64_t value)
{
    if (value == RUN_NULL)
        sqlite3_bind_null(s, at);
    else
        sqlite3_bind_int64(s, at, value);
}

/* SQLite's integers end at 2^63 - 1; no count of bytes or picoseconds gets there. */
static void put_bind_count(sqlite3_stmt *s, int at, uint64_t value)
{
    sqlite3_bind_int64(s, at, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static void put_bind_text(sqlite3_stmt *s, int at, const char *text)
{
    sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC); /* NULL binds NULL */
}

struct put_text_wanted {
    const struct run *run;
    const char *text;
};

static bool put_same_text(const void *ctx, uint64_t index)
{
    const struct put_text_wanted *want = ctx;

    return !strcmp(want->run->text.v[index], want->text);
}

/* The dictionary's id of a text, which is added when new. */
bool run_intern(struct run *run, const char *text, uint32_t *ret, struct wr_err *err)
{
    assert(text);
    uint64_t hash = wr_hash_text(WR_HASH_INIT, text);
    uint64_t known =
        wr_map_find(&run->text_index, hash, put_same_text, &(struct put_text_wanted){run, text});

    if (known != WR_MAP_NONE) {
        *ret = (uint32_t)known + 1;
        return true;
    }
    sqlite3_stmt *s = run_begin(run, RUN_S_DICT, err);
    if (!s)
        return false;
    uint32_t id = (uint32_t)run->text.n + 1;

    sqlite3_bind_int64(s, 1, id);
    put_bind_text(s, 2, text);
    if (!run_step(run, RUN_S_DICT, err))
        return false;
    wr_map_add(&run->text_index, hash, run->text.n);
    wr_vec_push(&run->text, wr_strdup(text));
    *ret = id;
    return true;
}

bool run_put_input(struct run *run, const char *path, const void *content, size_t len,
                   struct wr_err *err)
{
    assert(path && (content || !len));
    sqlite3_stmt *s = run_begin(run, RUN_S_INPUT, err);
    size_t packed_len = 0;
    void *packed = NULL;

    if (!s)
        return false;
    if (len > INPUT_RAW_MAX) {
        size_t bound = ZSTD_compressBound(len);

        packed = wr_alloc(bound);
        packed_len = ZSTD_compress(packed, bound, content, len, INPUT_LEVEL);
        if (ZSTD_isError(packed_len) || packed_len >= len) {
            free(packed);
            packed = NULL;
        }
    }
    put_bind_text(s, 1, path);
    put_bind_count(s, 2, len);
    put_bind_text(s, 3, packed ? "zstd" : "raw");
    if (len)
        sqlite3_bind_blob64(s, 4, packed ? packed : content, packed ? packed_len : len,
                            SQLITE_STATIC);
    else
        sqlite3_bind_zeroblob(s, 4, 0);
    bool ok = run_step(run, RUN_S_INPUT, err);
    free(packed);
    return ok;
}

static sqlite3_stmt *put_begin_summary(struct run *run, const char *key, const char *unit,
                                       bool is_volatile, struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_SUMMARY, err);

    if (!s)
        return NULL;
    put_bind_text(s, 1, key);
    put_bind_text(s, 2, unit);
    sqlite3_bind_int(s, 3, is_volatile);
    sqlite3_bind_null(s, 4);
    sqlite3_bind_null(s, 5);
    return s;
}

bool run_put_count(struct run *run, const char *key, uint64_t value, const char *unit,
                   struct wr_err *err)
{
    sqlite3_stmt *s = put_begin_summary(run, key, unit, false, err);

    if (!s)
        return false;
    put_bind_count(s, 4, value);
    return run_step(run, RUN_S_SUMMARY, err);
}

bool run_put_real(struct run *run, const char *key, double value, const char *unit,
                  struct wr_err *err)
{
    sqlite3_stmt *s = put_begin_summary(run, key, unit, false, err);

    if (!s)
        return false;
    sqlite3_bind_double(s, 4, value);
    return run_step(run, RUN_S_SUMMARY, err);
}

bool run_put_volatile(struct run *run, const char *key, double value, const char *unit,
                      struct wr_err *err)
{
    sqlite3_stmt *s = put_begin_summary(run, key, unit, true, err);

    if (!s)
        return false;
    sqlite3_bind_double(s, 4, value);
    return run_step(run, RUN_S_SUMMARY, err);
}

bool run_put_text(struct run *run, const char *key, const char *value, struct wr_err *err)
{
    sqlite3_stmt *s = put_begin_summary(run, key, "", false, err);

    if (!s)
        return false;
    put_bind_text(s, 5, value);
    return run_step(run, RUN_S_SUMMARY, err);
}

bool run_put_meta(struct run *run, const char *key, const char *value, struct wr_err *err)
{
    return run_put_meta_text(run, key, value, err);
}

bool run_put_app(struct run *run, const struct run_app *app, struct wr_err *err)
{
    assert(app->name);
    sqlite3_stmt *s = run_begin(run, RUN_S_APP, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, app->app);
    put_bind_text(s, 2, app->name);
    put_bind_count(s, 3, app->ranks);
    put_bind_int(s, 4, app->start_ps);
    put_bind_text(s, 5, app->workload);
    put_bind_text(s, 6, app->placement);
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
    put_bind_count(s, 2, rank->rank);
    for (int i = 0; i < (int)(sizeof rest / sizeof rest[0]); i++)
        put_bind_int(s, 3 + i, rest[i]);
    return run_step(run, RUN_S_RANK, err);
}

bool run_put_coll(struct run *run, uint32_t app, uint64_t rank, const char *coll, uint64_t n,
                  uint64_t ps, struct wr_err *err)
{
    uint32_t id;

    if (!run_intern(run, coll, &id, err))
        return false;
    sqlite3_stmt *s = run_begin(run, RUN_S_COLL, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, app);
    put_bind_count(s, 2, rank);
    sqlite3_bind_int64(s, 3, id);
    put_bind_count(s, 4, n);
    put_bind_count(s, 5, ps);
    return run_step(run, RUN_S_COLL, err);
}

bool run_put_cause(struct run *run, uint32_t app, uint64_t rank, const char *during,
                   const char *cause, uint64_t ps, struct wr_err *err)
{
    assert(!strcmp(during, "comm") || !strcmp(during, "io"));
    uint32_t when, why;

    if (!run_intern(run, during, &when, err) || !run_intern(run, cause, &why, err))
        return false;
    sqlite3_stmt *s = run_begin(run, RUN_S_CAUSE, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, app);
    put_bind_count(s, 2, rank);
    sqlite3_bind_int64(s, 3, when);
    sqlite3_bind_int64(s, 4, why);
    put_bind_count(s, 5, ps);
    return run_step(run, RUN_S_CAUSE, err);
}

bool run_put_mark(struct run *run, uint32_t app, uint64_t rank, uint32_t mark, uint64_t t_ps,
                  struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_MARK, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, app);
    put_bind_count(s, 2, rank);
    sqlite3_bind_int64(s, 3, mark);
    put_bind_count(s, 4, t_ps);
    return run_step(run, RUN_S_MARK, err);
}

bool run_put_interval(struct run *run, const struct run_interval *x, struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_INTERVAL, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, x->app);
    put_bind_count(s, 2, x->rank);
    put_bind_count(s, 3, x->t_ps);
    put_bind_count(s, 4, x->compute_ps);
    put_bind_count(s, 5, x->comm_ps);
    put_bind_count(s, 6, x->io_ps);
    put_bind_count(s, 7, x->idle_ps);
    return run_step(run, RUN_S_INTERVAL, err);
}

bool run_put_log(struct run *run, const struct run_log *log, struct wr_err *err)
{
    uint32_t title, aggregate;

    if (!run_intern(run, log->title, &title, err) ||
        !run_intern(run, log->aggregate, &aggregate, err))
        return false;
    sqlite3_stmt *s = run_begin(run, RUN_S_LOG, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, log->app);
    put_bind_count(s, 2, log->rank);
    sqlite3_bind_int64(s, 3, log->table);
    sqlite3_bind_int64(s, 4, log->column);
    sqlite3_bind_int64(s, 5, title);
    sqlite3_bind_int64(s, 6, aggregate);
    put_bind_count(s, 7, log->row);
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
    put_bind_count(s, 2, rank);
    put_bind_count(s, 3, t_ps);
    put_bind_text(s, 4, text);
    return run_step(run, RUN_S_OUTPUT, err);
}

bool run_put_link(struct run *run, const struct run_link *link, struct wr_err *err)
{
    uint32_t src_kind, dst_kind, cls;

    if (!run_intern(run, link->src_kind, &src_kind, err) ||
        !run_intern(run, link->dst_kind, &dst_kind, err) || !run_intern(run, link->cls, &cls, err))
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
    put_bind_count(s, 5, link->bytes);
    put_bind_count(s, 6, link->packets);
    put_bind_count(s, 7, link->busy_ps);
    put_bind_count(s, 8, link->saturated_ps);
    sqlite3_bind_double(s, 9, link->bytes_per_s);
    return run_step(run, RUN_S_LINK, err);
}

bool run_put_server(struct run *run, const struct run_server *x, struct wr_err *err)
{
    const uint64_t rest[] = {x->reads,   x->writes, x->bytes_read, x->bytes_written,
                             x->busy_ps, x->seeks,  x->queue_ps,   x->queue_max};
    uint32_t role, device, model;

    if (!run_intern(run, x->role, &role, err) || !run_intern(run, x->device, &device, err) ||
        !run_intern(run, x->model, &model, err))
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
        put_bind_count(s, 7 + i, rest[i]);
    return run_step(run, RUN_S_SERVER, err);
}

bool run_put_buffer(struct run *run, const struct run_buffer *x, struct wr_err *err)
{
    const uint64_t rest[] = {x->requests, x->used_b, x->used_max_b, x->dirty_b,
                             x->in_b,     x->out_b,  x->absorbed_b, x->evicted_b,
                             x->hit_b,    x->miss_b, x->waits,      x->wait_ps};
    uint32_t role;

    if (!run_intern(run, x->role, &role, err))
        return false;
    sqlite3_stmt *s = run_begin(run, RUN_S_BUFFER, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, x->server);
    sqlite3_bind_int64(s, 2, x->node);
    sqlite3_bind_int64(s, 3, role);
    for (int i = 0; i < (int)(sizeof rest / sizeof rest[0]); i++)
        put_bind_count(s, 4 + i, rest[i]);
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
    put_bind_count(s, 4, f->msgs);
    put_bind_count(s, 5, f->bytes);
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

static bool put_hist_cell(struct run *run, int64_t hist, uint32_t cell, uint64_t n,
                          struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_HIST_CELL, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, hist);
    put_bind_count(s, 2, wr_hist_cell_low(cell));
    put_bind_count(s, 3, wr_hist_cell_next(cell));
    put_bind_count(s, 4, n);
    return run_step(run, RUN_S_HIST_CELL, err);
}

bool run_put_latency(struct run *run, int64_t app, const char *cls, const struct wr_hist *ps,
                     struct wr_err *err)
{
    assert(app >= RUN_ALL_APPS && cls);
    assert(!ps->n || ps->min <= ps->max);
    sqlite3_stmt *s = run_begin(run, RUN_S_HIST, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, app);
    put_bind_text(s, 2, cls);
    put_bind_count(s, 3, ps->n);
    sqlite3_bind_double(s, 4, (double)ps->sum);
    put_bind_int(s, 5, ps->n ? (int64_t)ps->min : RUN_NULL);
    put_bind_int(s, 6, ps->n ? (int64_t)ps->max : RUN_NULL);
    if (!run_step(run, RUN_S_HIST, err))
        return false;

    int64_t hist = sqlite3_last_insert_rowid(run->db);
    for (uint32_t i = 0; i < WR_HIST_CELLS; i++)
        if (ps->cell[i] && !put_hist_cell(run, hist, i, ps->cell[i], err))
            return false;
    return true;
}

bool run_open_series(struct run *run, const struct run_series *series, uint32_t *ret_id,
                     struct wr_err *err)
{
    assert(series->entity && series->metric && series->unit && series->dt_ps >= 0);
    uint32_t entity, metric, unit;

    if (!run_intern(run, series->entity, &entity, err) ||
        !run_intern(run, series->metric, &metric, err) ||
        !run_intern(run, series->unit, &unit, err))
        return false;
    uint64_t key = (uint64_t)entity << 32 | metric, known = wr_map_get(&run->series_ids, key);

    if (known != WR_MAP_NONE) {
        *ret_id = (uint32_t)known;
        return true;
    }
    sqlite3_stmt *s = run_begin(run, RUN_S_SERIES, err);
    if (!s)
        return false;
    uint32_t id = (uint32_t)run->series_dt_ps.n + 1;

    sqlite3_bind_int64(s, 1, id);
    sqlite3_bind_int64(s, 2, entity);
    sqlite3_bind_int64(s, 3, metric);
    sqlite3_bind_int64(s, 4, unit);
    sqlite3_bind_int64(s, 5, series->dt_ps);
    if (!run_step(run, RUN_S_SERIES, err))
        return false;
    wr_vec_push(&run->series_dt_ps, series->dt_ps);
    *wr_map_at(&run->series_ids, key) = id;
    *ret_id = id;
    return true;
}

/* Slices are inserted many at a time and in the table's order, so most are appended. */
enum { RUN_SLICE_ROWS = 32, RUN_ROWS_WAIT = 4096 };

static int put_by_time_and_series(const void *a, const void *b)
{
    const struct run_slice_row *x = a, *y = b;

    if (x->t_ps != y->t_ps)
        return x->t_ps < y->t_ps ? -1 : 1;
    return x->series < y->series ? -1 : x->series > y->series;
}

static void put_bind_slice(sqlite3_stmt *s, int first, const struct run_slice_row *r)
{
    sqlite3_bind_int64(s, first, r->t_ps);
    sqlite3_bind_int64(s, first + 1, r->series);
    put_bind_int(s, first + 2, r->dt_ps);
    sqlite3_bind_double(s, first + 3, r->value);
}

bool run_put_rows(struct run *run, struct wr_err *err)
{
    const struct run_slice_row *v = run->rows.v;
    size_t n = run->rows.n, i = 0;

    if (!n)
        return true;
    qsort(run->rows.v, n, sizeof *run->rows.v, put_by_time_and_series);
    run->rows.n = 0;
    while (i < n) {
        uint32_t many = n - i < RUN_SLICE_ROWS ? 1 : RUN_SLICE_ROWS;
        enum run_stmt which = many > 1 ? RUN_S_SLICES : RUN_S_SLICE;
        sqlite3_stmt *s = run_begin(run, which, err);

        if (!s)
            return false;
        for (uint32_t k = 0; k < many; k++)
            put_bind_slice(s, (int)(4 * k + 1), &v[i++]);
        if (!run_step_only(run, which, many, err))
            return false;
    }
    return true;
}

bool run_put_slice(struct run *run, uint32_t series, int64_t t_ps, int64_t dt_ps, double value,
                   struct wr_err *err)
{
    if (!series || series > run->series_dt_ps.n)
        return wr_fail(err, WR_BUG, "%s: slice of a series that was never opened", run->path);
    if (run->broken.code) {
        *err = run->broken;
        return false;
    }
    wr_vec_push(
        &run->rows,
        (struct run_slice_row){.t_ps = t_ps,
                               .dt_ps = dt_ps == run->series_dt_ps.v[series - 1] ? RUN_NULL : dt_ps,
                               .value = value,
                               .series = series});
    run->slices++;
    if (run->rows.n >= RUN_ROWS_WAIT && !run_put_rows(run, err))
        return false;
    return run_commit_in_time(run, err);
}

bool run_put_sweep(struct run *run, const struct run_sweep *p, struct wr_err *err)
{
    assert(p->series && p->place >= 0);
    const double reals[] = {p->offered,    p->accepted,   p->lat_mean_ns,
                            p->lat_min_ns, p->lat_p50_ns, p->lat_p99_ns,
                            p->lat_max_ns, p->hops_mean,  p->nonminimal_frac};
    sqlite3_stmt *s = run_begin(run, RUN_S_SWEEP, err);
    char seed[32]; /* as text: seeds are unsigned 64-bit, SQLite's integers are signed */

    if (!s)
        return false;
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)p->seed);
    put_bind_text(s, 1, p->series);
    sqlite3_bind_double(s, 2, p->load);
    put_bind_text(s, 3, seed);
    for (int i = 0; i < 9; i++)
        sqlite3_bind_double(s, 4 + i, reals[i]);
    sqlite3_bind_int(s, 13, p->saturated);
    put_bind_int(s, 14, p->packets);
    put_bind_int(s, 15, p->events);
    sqlite3_bind_double(s, 16, p->sim_end_ns);
    sqlite3_bind_double(s, 17, p->wall_s);
    if (p->place)
        sqlite3_bind_int64(s, 18, p->place);
    else
        sqlite3_bind_null(s, 18);
    return run_step(run, RUN_S_SWEEP, err);
}
