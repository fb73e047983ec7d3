/* recording.c -- reads a run file's job: ranks, phases of I/O, and where in files they are.
 *
 * A run file may be damaged: numbers are checked before they are used. Offsets that were not
 * recorded are assumed: the requests of a kind to a file follow one another, rank by rank, so that
 * ranks that share a file have a region each.
 */
#include "recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recording_priv.h"

enum { RECORDING_MOST_RANKS = 1 << 20, RECORDING_PHASES_SINCE = 11 };

static const char *const recording_ops[] = {
    [RECORDING_OPEN] = "open",      [RECORDING_READ] = "read",       [RECORDING_WRITE] = "write",
    [RECORDING_SYNC] = "sync",      [RECORDING_META] = "meta",       [RECORDING_MPI] = "mpi",
    [RECORDING_IN_MPIIO] = "mpiio", [RECORDING_BARRIER] = "barrier",
};

bool recording_number(struct recording_maker *m, double v, double most, uint64_t *ret)
{
    if (!(v >= 0 && v <= most)) {
        m->bad = true;
        return wr_fail(m->err, WR_INPUT,
                       "%s holds a number that cannot be (%.6g); is it damaged? Look at it with "
                       "`weir show %s`",
                       m->path, v, m->path);
    }
    *ret = (uint64_t)llround(v);
    return true;
}

/* ---- which job ---- */

struct recording_choice {
    struct recording_maker *m;
    const char *want;
    struct wr_str names;
    size_t jobs, found;
};

static bool recording_on_app(void *ctx, const struct run_rows *q)
{
    struct recording_choice *c = ctx;
    const char *name = run_rows_text(q, 1, NULL);
    char number[32];
    uint64_t app, ranks;

    if (!recording_number(c->m, run_rows_real(q, 0), UINT32_MAX - 1, &app) ||
        !recording_number(c->m, run_rows_real(q, 2), RECORDING_MOST_RANKS, &ranks))
        return false;
    snprintf(number, sizeof number, "%llu", (unsigned long long)app);
    wr_str_addf(&c->names, "%s%s", c->jobs++ ? ", " : "", *name ? name : number);
    if (*c->want && strcmp(c->want, name) != 0 && strcmp(c->want, number) != 0)
        return true;
    if (!c->found++) {
        double start = run_rows_real(q, 3);

        c->m->app = (uint32_t)app;
        c->m->ranks = (uint32_t)ranks;
        c->m->start_ns = start > 0 ? start : 0;
    }
    return true;
}

static bool recording_choose(struct recording_maker *m, const char *job, struct wr_err *err)
{
    struct recording_choice c = {.m = m, .want = job};
    bool ok = run_each(m->run, "SELECT app, name, ranks, start_ns FROM app_stat ORDER BY app", NULL,
                       recording_on_app, &c, err) &&
              !m->bad;

    if (ok && !c.jobs)
        ok =
            wr_fail(err, WR_INPUT,
                    "%s holds no job; give a run file of `weir profile` or `weir import`", m->path);
    else if (ok && !c.found)
        ok = wr_fail(err, WR_INPUT, "%s has no job \"%s\"; its jobs are %s", m->path, job,
                     wr_str_get(&c.names));
    else if (ok && c.found > 1)
        ok = wr_fail(err, WR_INPUT,
                     "%s has several jobs%s; choose one with `job:` and its %s: they are %s",
                     m->path, *job ? " of that name" : "", *job ? "number" : "name or number",
                     wr_str_get(&c.names));
    else if (ok && !m->ranks)
        ok = wr_fail(err, WR_INPUT, "%s: its job has no ranks; record it with `weir profile`",
                     m->path);
    wr_str_fini(&c.names);
    return ok;
}

/* ---- lives ---- */

static bool recording_on_life(void *ctx, const struct run_rows *q)
{
    struct recording_maker *m = ctx;
    uint64_t rank, begin, end;

    if (!recording_number(m, run_rows_real(q, 0), UINT32_MAX, &rank) ||
        !recording_number(m, fmax(run_rows_real(q, 1), 0) * 1000, 9e18, &begin) ||
        !recording_number(m, fmax(run_rows_real(q, 2), 0) * 1000, 9e18, &end))
        return false;
    if (rank < m->ranks) {
        m->begin_ps[rank] = begin;
        m->end_ps[rank] = end;
    }
    return true;
}

/* By the process, where there is one; otherwise from the job's start for as long as the rank took.
 */
static bool recording_read_lives(struct recording_maker *m, struct wr_err *err)
{
    char number[16];
    bool processes = run_info(m->run)->format_minor >= 10;

    snprintf(number, sizeof number, "%u", m->app);
    return run_each(m->run,
                    "SELECT rank, 0, elapsed_ns FROM rank_stat WHERE app = CAST(?1 AS INTEGER)"
                    " AND elapsed_ns IS NOT NULL",
                    number, recording_on_life, m, err) &&
           !m->bad &&
           (!processes ||
            run_each(m->run,
                     "SELECT p.rank, p.start_ns - a.start_ns, p.end_ns - a.start_ns FROM process p"
                     " JOIN app_stat a ON a.app = p.app WHERE p.app = CAST(?1 AS INTEGER)"
                     " AND p.start_ns IS NOT NULL AND p.end_ns IS NOT NULL"
                     " AND a.start_ns IS NOT NULL",
                     number, recording_on_life, m, err)) &&
           !m->bad;
}

/* ---- phases as they are ---- */

static bool recording_parse_op(const char *name, uint8_t *ret)
{
    for (int i = 0; i < RECORDING_OPS; i++)
        if (!strcmp(name, recording_ops[i])) {
            *ret = (uint8_t)i;
            return true;
        }
    return false;
}

static bool recording_on_phase(void *ctx, const struct run_rows *q)
{
    struct recording_maker *m = ctx;
    struct recording_row r = {0};
    uint64_t rank, file;

    if (!recording_number(m, run_rows_real(q, 0), UINT32_MAX, &rank) ||
        !recording_number(m, run_rows_real(q, 1), 9e18, &r.seq) ||
        !recording_number(m, run_rows_real(q, 2) * 1000, 9e18, &r.p.t_ps) ||
        !recording_number(m, run_rows_real(q, 3) * 1000, 9e18, &r.p.dt_ps) ||
        !recording_number(m, run_rows_real(q, 5), UINT32_MAX, &file) ||
        !recording_number(m, run_rows_real(q, 7), 9e18, &r.p.bytes) ||
        !recording_number(m, run_rows_real(q, 8), 9e18, &r.p.n) ||
        !recording_number(m, run_rows_real(q, 9) * 1000, 9e18, &r.p.io_ps))
        return false;
    if (rank >= m->ranks || !r.p.n || !recording_parse_op(run_rows_text(q, 4, NULL), &r.p.op))
        return true;
    r.rank = (uint32_t)rank;
    r.p.file = (uint32_t)file;
    r.p.placed = run_rows_type(q, 6) != RUN_T_NULL;
    /* Whole numbers are exact; a real may have lost digits. */
    r.p.bytes = (uint64_t)run_rows_int(q, 7);
    r.p.n = (uint64_t)run_rows_int(q, 8);
    if (r.p.placed && !recording_number(m, run_rows_real(q, 6), 4e18, &r.p.offset))
        return false;
    if (!strcmp(run_rows_text(q, 10, NULL), "measured") &&
        (r.p.op == RECORDING_READ || r.p.op == RECORDING_WRITE))
        m->to->measured += r.p.n;
    m->to->files = m->to->files > file + 1 ? m->to->files : file + 1;
    wr_vec_push(&m->rows, r);
    return true;
}

/* Files are numbered by their names, so that a run file that says the same gives the same. */
static bool recording_from_phases(struct recording_maker *m, struct wr_err *err)
{
    char number[16];

    if (run_info(m->run)->format_minor < RECORDING_PHASES_SINCE)
        return true;
    snprintf(number, sizeof number, "%u", m->app);
    return run_each(m->run,
                    "WITH f AS (SELECT entity, row_number() OVER (ORDER BY entity) - 1 AS file"
                    " FROM (SELECT DISTINCT entity FROM io_phase WHERE app = CAST(?1 AS INTEGER)))"
                    " SELECT p.rank, p.seq, p.t_ns, p.dt_ns, p.op, f.file, p.offset_b, p.bytes,"
                    " p.n, p.io_ns, p.source FROM io_phase p JOIN f ON f.entity = p.entity"
                    " WHERE p.app = CAST(?1 AS INTEGER)",
                    number, recording_on_phase, m, err) &&
           !m->bad;
}

/* ---- in order ---- */

static int recording_by_time(const void *a, const void *b)
{
    const struct recording_row *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->p.t_ps != y->p.t_ps)
        return x->p.t_ps < y->p.t_ps ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

struct recording_place {
    uint32_t file, rank;
    uint8_t op;
    size_t phase;
};

static int recording_by_file(const void *a, const void *b)
{
    const struct recording_place *x = a, *y = b;

    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return x->phase < y->phase ? -1 : x->phase > y->phase; /* by rank, then time */
}

/* Offsets that were not recorded. */
static bool recording_place_phases(struct recording *r, const char *path, struct wr_err *err)
{
    struct recording_place *at = wr_zalloc(r->nphases + 1, sizeof *at);
    uint64_t offset = 0;
    size_t n = 0;
    bool ok = true;

    for (size_t i = 0; i < r->nphases; i++)
        if (!r->phase[i].placed && r->phase[i].bytes)
            at[n++] = (struct recording_place){
                .file = r->phase[i].file, .op = r->phase[i].op, .phase = i};
    qsort(at, n, sizeof *at, recording_by_file);
    for (size_t i = 0; ok && i < n; i++) {
        struct recording_phase *p = &r->phase[at[i].phase];

        if (!i || at[i].file != at[i - 1].file || at[i].op != at[i - 1].op)
            offset = 0;
        p->offset = offset;
        ok = p->bytes <= INT64_MAX - offset ||
             wr_fail(err, WR_INPUT, "%s: a file is longer than 2^63 bytes; is it damaged?", path);
        offset += p->bytes;
    }
    free(at);
    return ok;
}

static bool recording_order(struct recording_maker *m, struct wr_err *err)
{
    struct recording *r = m->to;

    r->ranks = m->ranks;
    r->nphases = m->rows.n;
    r->phase = wr_zalloc(r->nphases + 1, sizeof *r->phase);
    r->first = wr_zalloc((size_t)r->ranks + 1, sizeof *r->first);
    if (m->rows.n)
        qsort(m->rows.v, m->rows.n, sizeof *m->rows.v, recording_by_time);
    for (size_t i = 0, rank = 0; i <= r->nphases; i++) {
        while (rank <= r->ranks && (i == r->nphases || rank <= m->rows.v[i].rank))
            r->first[rank++] = i;
        if (i == r->nphases)
            break;
        r->phase[i] = m->rows.v[i].p;
        r->n[r->phase[i].op] += r->phase[i].n;
        r->bytes[r->phase[i].op] += r->phase[i].bytes;
    }
    return recording_place_phases(r, m->path, err);
}

/* A rank with other barriers than the rest would wait for ever. */
static bool recording_check_barriers(const struct recording *r, const char *path,
                                     struct wr_err *err)
{
    uint64_t first = 0;

    for (uint32_t i = 0; i < r->ranks && r->n[RECORDING_BARRIER]; i++) {
        uint64_t n = 0;

        for (size_t k = r->first[i]; k < r->first[i + 1]; k++)
            n += r->phase[k].op == RECORDING_BARRIER ? r->phase[k].n : 0;
        if (i && n != first)
            return wr_fail(err, WR_INPUT,
                           "%s: rank %u has %llu barriers and rank 0 %llu; is the file damaged?",
                           path, i, (unsigned long long)n, (unsigned long long)first);
        first = n;
    }
    return true;
}

static bool recording_make(struct recording_maker *m, const char *job, struct wr_err *err)
{
    if (!recording_choose(m, job, err))
        return false;
    m->begin_ps = wr_zalloc(m->ranks, sizeof *m->begin_ps);
    m->to->end_ps = m->end_ps = wr_zalloc(m->ranks, sizeof *m->end_ps);
    return recording_read_lives(m, err) && recording_from_phases(m, err) &&
           (m->rows.n || recording_from_slices(m, err)) && recording_order(m, err) &&
           recording_check_barriers(m->to, m->path, err);
}

bool recording_read(struct recording *ret, const char *path, const char *job, struct wr_err *err)
{
    struct recording r = {0};
    struct recording_maker m = {.path = path, .to = &r, .err = err};

    if (!run_open(&m.run, path, err))
        return false;
    bool ok = recording_make(&m, job, err);

    run_close(m.run);
    wr_vec_fini(&m.rows);
    free(m.begin_ps);
    if (!ok) {
        recording_fini(&r);
        return false;
    }
    *ret = r;
    return true;
}

void recording_fini(struct recording *r)
{
    free(r->phase);
    free(r->first);
    free(r->end_ps);
}
