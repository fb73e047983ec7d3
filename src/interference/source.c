/* source.c -- reads the jobs and slices of one run file, simulated, measured or imported.
 *
 * Called by job_grid.c. A run file may be damaged: numbers are checked against
 * INTERFERENCE_MOST_RANKS and physical limits before anything is allocated for them.
 */
#include "source_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/units.h"
#include "run/slices.h"

const char *const interference_op_names[] = {"write", "read", "both", NULL};
const char *const interference_align_names[] = {"clock", "start", NULL};

/* By operation: the metrics of bytes, as SQL. */
static const char *const metric_in[] = {"('write_bytes')", "('read_bytes')",
                                        "('write_bytes', 'read_bytes')"};
/* Metrics of a process that is active without moving bytes. */
static const char busy_in[] = "('inflight', 'sync_time')";
/* Run files have the I/O phases of processes since this minor version. */
enum { SINCE_PHASES = 10 };

/* Calls `row` for each row of a query. */
static bool source_each_row(struct run_reader *r, const char *sql, const char *const *args,
                            size_t nargs,
                            bool (*row)(struct source *s, struct run_rows *q,
                                        struct wr_arena *arena, struct wr_err *err),
                            struct source *s, struct wr_arena *arena, struct wr_err *err)
{
    struct run_rows *q;
    bool more, ok;

    if (!run_query(&q, r, sql, args, nargs, err))
        return false;
    while ((ok = run_rows_next(q, &more, err)) && more)
        if (!row(s, q, arena, err)) {
            ok = false;
            break;
        }
    run_rows_close(q);
    return ok;
}

static bool source_summary_row(struct source *s, struct run_rows *q, struct wr_arena *arena,
                               struct wr_err *err)
{
    const char *key = run_rows_text(q, 0, NULL);

    (void)err;
    if (!strcmp(key, "epoch_ns") && run_rows_type(q, 1) == RUN_T_INT) {
        s->has_epoch = true;
        s->epoch_ns = run_rows_int(q, 1);
    } else if (!strcmp(key, "clock_error_ns")) {
        s->clock_error_s = run_rows_real(q, 1) / 1e9;
    } else if (!strcmp(key, "clock_step_ns")) {
        s->clock_step_s = run_rows_real(q, 1) / 1e9;
    } else if (!strcmp(key, "file_mode")) {
        s->mode = wr_arena_strdup(arena, run_rows_text(q, 1, NULL));
    }
    return true;
}

static double source_real_or_nan(struct run_rows *q, int col)
{
    return run_rows_type(q, col) == RUN_T_NULL ? NAN : run_rows_real(q, col);
}

static bool source_check_ranks(const struct source *s, double ranks, struct wr_err *err)
{
    if (ranks >= 0 && ranks <= INTERFERENCE_MOST_RANKS)
        return true;
    return wr_fail(err, WR_INPUT,
                   "%s: a job has %.6g ranks, and %d is the most that is analysed; is the file "
                   "damaged? Look at it with `weir show %s`",
                   s->path, ranks, INTERFERENCE_MOST_RANKS, s->path);
}

static bool source_app_row(struct source *s, struct run_rows *q, struct wr_arena *arena,
                           struct wr_err *err)
{
    double ranks = run_rows_real(q, 2), number = run_rows_real(q, 0);
    struct source_app app = {.number = (uint32_t)wr_index(number, UINT32_MAX),
                             .name = wr_arena_strdup(arena, run_rows_text(q, 1, NULL)),
                             .nranks = wr_index(ranks, INTERFERENCE_MOST_RANKS),
                             .nnodes = (size_t)run_rows_int(q, 5),
                             .start_s = source_real_or_nan(q, 3) / 1e9,
                             .elapsed_s = source_real_or_nan(q, 4) / 1e9};

    if (!source_check_ranks(s, ranks, err))
        return false;
    if (!(number >= 0 && number < UINT32_MAX))
        return wr_fail(err, WR_INPUT, "%s: a job has the number %.6g; is the file damaged?",
                       s->path, number);
    if (!*app.name)
        app.name = wr_arena_printf(arena, "job%u", app.number);
    wr_vec_push(&s->apps, app);
    return true;
}

static struct source_app *source_find_app(struct source *s, uint32_t number)
{
    for (size_t i = 0; i < s->apps.n; i++)
        if (s->apps.v[i].number == number)
            return &s->apps.v[i];
    return NULL;
}

/* The job and rank of a row that begins with both. *ret_app is NULL where the run file names no
 * such job. */
static bool source_read_rank(struct source *s, struct run_rows *q, struct source_app **ret_app,
                             size_t *ret_rank, struct wr_err *err)
{
    double app = run_rows_real(q, 0), rank = run_rows_real(q, 1);

    *ret_app = app >= 0 && app < UINT32_MAX ? source_find_app(s, (uint32_t)app) : NULL;
    if (!*ret_app)
        return true;
    if (!source_check_ranks(s, rank, err))
        return false;
    *ret_rank = (size_t)rank;
    return true;
}

static bool source_rank_row(struct source *s, struct run_rows *q, struct wr_arena *arena,
                            struct wr_err *err)
{
    struct source_app *app;
    size_t rank;

    (void)arena;
    if (!source_read_rank(s, q, &app, &rank, err))
        return false;
    if (!app)
        return true;
    while (app->node.n <= rank)
        wr_vec_push(&app->node, -1);
    app->node.v[rank] = run_rows_int(q, 2);
    return true;
}

static bool source_phase_row(struct source *s, struct run_rows *q, struct wr_arena *arena,
                             struct wr_err *err)
{
    struct source_app *app;
    size_t rank;

    (void)arena;
    if (!source_read_rank(s, q, &app, &rank, err))
        return false;
    if (!app)
        return true;
    while (app->phase.n <= rank)
        wr_vec_push(&app->phase, (struct source_phase){NAN, NAN});
    app->phase.v[rank] = (struct source_phase){.from_s = source_real_or_nan(q, 2) / 1e9,
                                               .to_s = source_real_or_nan(q, 3) / 1e9};
    return true;
}

/* "app:3" or "rank:3.17"; false for what belongs to no job. */
static bool source_parse_entity(const char *text, bool *ret_rank, uint32_t *ret_app,
                                uint32_t *ret_no)
{
    bool rank = !strncmp(text, "rank:", 5);
    char *end;

    if (!rank && strncmp(text, "app:", 4) != 0)
        return false;
    text += rank ? 5 : 4;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long app = strtoul(text, &end, 10), no = 0;

    if (rank) {
        if (*end != '.' || end[1] < '0' || end[1] > '9')
            return false;
        no = strtoul(end + 1, &end, 10);
    }
    if (*end || app >= UINT32_MAX || no >= INTERFERENCE_MOST_RANKS)
        return false;
    *ret_rank = rank;
    *ret_app = (uint32_t)app;
    *ret_no = (uint32_t)no;
    return true;
}

/* A job without a row in app_stat is found by its series. */
static bool source_series_row(struct source *s, struct run_rows *q, struct wr_arena *arena,
                              struct wr_err *err)
{
    uint32_t number, no;
    double dt = run_rows_real(q, 1) / 1e9;
    bool rank;

    (void)err;
    if (!source_parse_entity(run_rows_text(q, 0, NULL), &rank, &number, &no))
        return true;
    struct source_app *app = source_find_app(s, number);

    if (!app) {
        wr_vec_push(&s->apps, (struct source_app){.number = number,
                                                  .name = wr_arena_printf(arena, "job%u", number),
                                                  .start_s = NAN,
                                                  .elapsed_s = NAN});
        app = &s->apps.v[s->apps.n - 1];
    }
    app->by_rank |= rank;
    if (rank && no >= app->nranks)
        app->nranks = no + 1;
    if (dt > s->slice_s)
        s->slice_s = dt;
    return true;
}

/* Series of a job's bytes, and of its flushes. */
static bool source_wanted_row(struct source *s, struct run_rows *q, struct wr_arena *arena,
                              struct wr_err *err)
{
    int64_t id = run_rows_int(q, 0);
    uint32_t number, no;
    bool rank;

    (void)arena, (void)err;
    if (id < 0 || id > 1 << 24 ||
        !source_parse_entity(run_rows_text(q, 1, NULL), &rank, &number, &no))
        return true;
    const struct source_app *app = source_find_app(s, number);

    /* A rank that has series of flushes only does not take part. */
    if (!app || app->by_rank != rank || (rank && no >= app->nranks))
        return true;
    while (s->wanted.n <= (size_t)id) {
        wr_vec_push(&s->wanted, 0);
        wr_vec_push(&s->series, (struct source_series){0});
    }
    s->wanted.v[id] = 1;
    s->series.v[id] = (struct source_series){.app = (uint32_t)(app - s->apps.v),
                                             .rank = no,
                                             .dt_s = run_rows_real(q, 2) / 1e12,
                                             .what = (enum source_what)run_rows_int(q, 3)};
    return true;
}

struct reading {
    struct source *s;
    double gathered_s; /* length of a gathered slice; 0: they are not gathered */
    struct wr_err *err;
    bool ok;
};

static bool source_take_slice(void *ctx, const struct run_heap *h)
{
    struct reading *in = ctx;
    struct source *s = in->s;
    const struct source_series *of = &s->series.v[h->series];
    struct source_slice v = {.app = of->app,
                             .rank = of->rank,
                             .t_s = (double)h->t_ps / 1e12,
                             .dt_s = in->gathered_s > 0 ? in->gathered_s
                                     : h->dt_ps         ? (double)h->dt_ps / 1e12
                                                        : of->dt_s,
                             .bytes = h->sum,
                             .what = of->what};

    if (v.bytes == 0)
        return true;
    if (!(v.bytes > 0 && v.bytes < 1e30) || !(v.t_s >= 0 && v.t_s < 1e10) ||
        !(v.dt_s > 0 && v.dt_s < 1e7))
        return in->ok = wr_fail(in->err, WR_INPUT,
                                "%s: a slice at %.6g s of length %.6g s holds %.6g B; is the file "
                                "damaged? Look at it with `weir show %s`",
                                s->path, v.t_s, v.dt_s, v.bytes, s->path);
    if (v.dt_s > s->slice_s && v.what == SOURCE_MOVES)
        s->slice_s = v.dt_s;
    s->moves |= v.what == SOURCE_MOVES;
    wr_vec_push(&s->slices, v);
    return true;
}

static bool source_read_slices(struct source *s, struct run_reader *r, enum interference_op op,
                               size_t most, struct wr_err *err)
{
    struct reading in = {.s = s, .err = err, .ok = true};
    struct wr_str sql = {0};
    struct run_slices all;

    wr_str_addf(&sql,
                "SELECT fs.id, e.text, fs.dt_ps, CASE m.text WHEN 'inflight' THEN %d WHEN"
                " 'sync_time' THEN %d ELSE %d END FROM fact_series fs JOIN dict e ON"
                " e.id = fs.entity JOIN dict m ON m.id = fs.metric WHERE m.text IN %s OR m.text IN"
                " %s",
                SOURCE_IN_FLIGHT, op == INTERFERENCE_READ ? SOURCE_IN_FLIGHT : SOURCE_FLUSHES,
                SOURCE_MOVES, metric_in[op], busy_in);
    bool ok = run_slices(&all, r, err) &&
              source_each_row(r, wr_str_get(&sql), NULL, 0, source_wanted_row, s, NULL, err);

    wr_str_fini(&sql);
    bool gathered = ok && most && all.gathered && all.n > (double)most;
    if (gathered)
        in.gathered_s = (double)all.dt_ps * RUN_GATHER / 1e12;
    ok = ok &&
         run_each_slice(r, &all, s->wanted.v, s->wanted.n, gathered, source_take_slice, &in, err);
    return ok && in.ok;
}

static bool source_read_all(struct source *s, struct run_reader *r, enum interference_op op,
                            size_t most, struct wr_arena *arena, struct wr_err *err)
{
    struct wr_str series = {0};

    wr_str_addf(&series, "SELECT entity, dt_ns FROM series WHERE metric IN %s", metric_in[op]);
    bool ok = source_each_row(r, "SELECT key, value FROM summary", NULL, 0, source_summary_row, s,
                              arena, err) &&
              source_each_row(r,
                              "SELECT a.app, a.name, a.ranks, a.start_ns, a.elapsed_ns,"
                              " (SELECT count(DISTINCT node) FROM rank_stat k WHERE k.app = a.app)"
                              " FROM app_stat a ORDER BY a.app",
                              NULL, 0, source_app_row, s, arena, err) &&
              source_each_row(r, "SELECT app, rank, node FROM rank_stat WHERE node >= 0", NULL, 0,
                              source_rank_row, s, arena, err) &&
              (run_info(r)->format_minor < SINCE_PHASES ||
               source_each_row(r,
                               "SELECT app, rank, io_start_ns, io_end_ns FROM process WHERE"
                               " io_start_ns IS NOT NULL",
                               NULL, 0, source_phase_row, s, arena, err)) &&
              source_each_row(r, wr_str_get(&series), NULL, 0, source_series_row, s, arena, err) &&
              source_read_slices(s, r, op, most, err);

    wr_str_fini(&series);
    return ok;
}

bool source_read(struct source *ret, const char *path, enum interference_op op, size_t most,
                 struct wr_arena *arena, struct wr_err *err)
{
    struct source s = {
        .path = wr_arena_strdup(arena, path), .clock_error_s = NAN, .clock_step_s = NAN};
    struct run_reader *r;

    if (!run_open(&r, path, err))
        return false;
    const struct run_info *info = run_info(r);

    s.host = wr_arena_strdup(arena, info->host);
    s.incomplete = info->status != RUN_COMPLETE;
    bool ok = source_read_all(&s, r, op, most, arena, err);

    run_close(r);
    if (ok && !s.moves)
        ok = wr_fail(err, WR_INPUT,
                     "%s has no slices in which a job moves bytes by %s; record the job with `weir "
                     "profile`, or choose another op",
                     path, interference_op_names[op]);
    if (!ok) {
        source_fini(&s);
        return false;
    }
    *ret = s;
    return true;
}

void source_fini(struct source *s)
{
    for (size_t i = 0; i < s->apps.n; i++) {
        wr_vec_fini(&s->apps.v[i].node);
        wr_vec_fini(&s->apps.v[i].phase);
    }
    wr_vec_fini(&s->apps);
    wr_vec_fini(&s->slices);
    wr_vec_fini(&s->series);
    wr_vec_fini(&s->wanted);
}
