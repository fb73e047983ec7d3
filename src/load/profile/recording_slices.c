/* recording_slices.c -- phases from slices of ranks.
 *
 * A slice has calls that ended in it, and bytes and time of all calls that were under way. So bytes
 * without calls belong to a call that ends later: they wait for it, and the phase begins where they
 * began. Ranks have a file each, or one together when the summary's file_mode is `shared`: slices
 * do not name files.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recording_priv.h"

enum slices_metric { SLICES_CALLS, SLICES_BYTES, SLICES_TIME, SLICES_METRICS };

/* By operation, as the metrics of slices are called. */
static const char *const slices_names[RECORDING_OPS][SLICES_METRICS] = {
    [RECORDING_OPEN] = {"open_calls", NULL, "open_time"},
    [RECORDING_READ] = {"read_calls", "read_bytes", "read_time"},
    [RECORDING_WRITE] = {"write_calls", "write_bytes", "write_time"},
    [RECORDING_SYNC] = {"sync_calls", NULL, "sync_time"},
    [RECORDING_META] = {"meta_calls", NULL, "meta_time"},
    [RECORDING_MPI] = {NULL, NULL, "mpi_time"},
};

/* One value of a rank's slice. */
struct slices_cell {
    uint32_t rank;
    uint8_t op, metric;
    uint64_t t_ps, dt_ps, value;
};

struct slices_reading {
    struct recording_maker *m;
    WR_VEC(struct slices_cell) cells;
    bool bytes; /* some rank moves some */
};

static bool slices_parse_rank(const char *entity, uint32_t app, uint32_t ranks, uint32_t *ret)
{
    char prefix[32], *end;
    int n = snprintf(prefix, sizeof prefix, "rank:%u.", app);

    if (strncmp(entity, prefix, (size_t)n) != 0 || entity[n] < '0' || entity[n] > '9')
        return false;
    unsigned long rank = strtoul(entity + n, &end, 10);

    if (*end || rank >= ranks)
        return false;
    *ret = (uint32_t)rank;
    return true;
}

static bool slices_parse_metric(const char *name, struct slices_cell *c)
{
    for (int op = 0; op < RECORDING_OPS; op++)
        for (int k = 0; k < SLICES_METRICS; k++)
            if (slices_names[op][k] && !strcmp(name, slices_names[op][k])) {
                c->op = (uint8_t)op;
                c->metric = (uint8_t)k;
                return true;
            }
    return false;
}

static bool slices_on_row(void *ctx, const struct run_rows *q)
{
    struct slices_reading *in = ctx;
    struct slices_cell c = {0};
    double value = run_rows_real(q, 4);
    const char *metric = run_rows_text(q, 1, NULL);
    bool mpiio = !strcmp(metric, "mpiio_time");

    if (!slices_parse_rank(run_rows_text(q, 0, NULL), in->m->app, in->m->ranks, &c.rank))
        return true;
    if (mpiio) { /* is part of mpi_time, and its calls on storage are in the slices as well */
        c.op = RECORDING_MPI;
        c.metric = SLICES_BYTES;
    } else if (!slices_parse_metric(metric, &c)) {
        return true;
    }
    double from = run_rows_real(q, 2) - in->m->start_ns, dt = run_rows_real(q, 3);

    if (from < 0) { /* the slice begins before the job */
        dt += from;
        from = 0;
    }
    if (!recording_number(in->m, from * 1000, 9e18, &c.t_ps) ||
        !recording_number(in->m, fmax(dt, 0) * 1000, 9e18, &c.dt_ps) ||
        !recording_number(in->m, value * (c.metric == SLICES_TIME || mpiio ? 1000 : 1), 9e18,
                          &c.value))
        return false;
    in->bytes |= c.metric == SLICES_BYTES && !mpiio && c.value;
    wr_vec_push(&in->cells, c);
    return true;
}

static int slices_by_rank(const void *a, const void *b)
{
    const struct slices_cell *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    if (x->t_ps != y->t_ps)
        return x->t_ps < y->t_ps ? -1 : 1;
    return x->metric < y->metric ? -1 : x->metric > y->metric;
}

/* ---- phases ---- */

/* Cut to the rank's life. */
static void slices_put(struct recording_maker *m, const struct recording_row *row)
{
    struct recording_row r = *row;
    uint64_t begin = m->begin_ps[r.rank], end = r.p.t_ps + r.p.dt_ps;

    if (r.p.t_ps < begin)
        r.p.t_ps = begin < end ? begin : end;
    if (end > m->end_ps[r.rank] && m->end_ps[r.rank] >= r.p.t_ps)
        end = m->end_ps[r.rank];
    r.p.dt_ps = end > r.p.t_ps ? end - r.p.t_ps : 0;
    r.seq = r.p.op;
    wr_vec_push(&m->rows, r);
}

/* Bytes whose call was never seen: of the last phase of that kind, or requests of their own. */
static void slices_put_rest(struct recording_maker *m, struct recording_row *wait, bool any)
{
    struct recording_phase *last = any ? &m->rows.v[m->rows.n - 1].p : NULL;

    if (wait->p.bytes && last) {
        last->bytes += wait->p.bytes;
        last->io_ps += wait->p.io_ps;
    } else if (wait->p.bytes) {
        wait->p.n = (wait->p.bytes + RECORDING_REQUEST - 1) / RECORDING_REQUEST;
        m->to->calls_assumed = true;
        slices_put(m, wait);
    } else if (wait->p.io_ps) { /* time without a call */
        wait->p.op = RECORDING_META;
        wait->p.n = 1;
        slices_put(m, wait);
    }
}

/* The cells of one rank and kind, by time. */
static void slices_put_kind(struct recording_maker *m, const struct slices_cell *c, size_t n,
                            bool shared)
{
    struct recording_row wait = {.rank = c->rank};
    bool waits = false, any = false;

    for (size_t i = 0, next; i < n; i = next) {
        uint64_t v[SLICES_METRICS] = {0};

        for (next = i; next < n && c[next].t_ps == c[i].t_ps; next++)
            v[c[next].metric] += c[next].value;
        if (c->op == RECORDING_MPI) {
            uint64_t mpi = v[SLICES_TIME] > v[SLICES_BYTES] ? v[SLICES_TIME] - v[SLICES_BYTES] : 0;

            v[SLICES_CALLS] = mpi > 0;
            v[SLICES_TIME] = mpi;
            v[SLICES_BYTES] = 0;
        }
        if (!waits)
            wait.p = (struct recording_phase){
                .t_ps = c[i].t_ps, .op = c->op, .file = shared ? 0 : c->rank};
        wait.p.dt_ps = c[i].t_ps + c[i].dt_ps - wait.p.t_ps;
        wait.p.bytes += v[SLICES_BYTES];
        wait.p.io_ps += v[SLICES_TIME];
        wait.p.n = v[SLICES_CALLS];
        waits = !wait.p.n && (wait.p.bytes || wait.p.io_ps);
        if (wait.p.n) {
            slices_put(m, &wait);
            any = true;
        }
    }
    if (waits)
        slices_put_rest(m, &wait, any);
}

static bool slices_is_shared(struct recording_maker *m, bool *ret, struct wr_err *err)
{
    double found = 0;
    bool any = false;

    if (!run_number(m->run,
                    "SELECT count(*) FROM summary WHERE key = 'file_mode' AND value = 'shared'",
                    &found, &any, err))
        return false;
    *ret = found > 0;
    return true;
}

bool recording_from_slices(struct recording_maker *m, struct wr_err *err)
{
    struct slices_reading in = {.m = m};
    bool shared;

    if (!slices_is_shared(m, &shared, err))
        return false;
    bool ok = run_each(m->run,
                       "SELECT entity, metric, t_ns, dt_ns, value FROM slice"
                       " WHERE entity LIKE 'rank:%' AND value > 0",
                       NULL, slices_on_row, &in, err) &&
              !m->bad;

    if (ok && !in.bytes)
        ok = wr_fail(err, WR_INPUT,
                     "%s does not say in which order its ranks read and wrote: it has neither "
                     "phases of I/O nor slices of ranks; record the job with `weir profile`, or "
                     "import a Darshan log with `weir import darshan`",
                     m->path);
    if (ok && in.cells.n)
        qsort(in.cells.v, in.cells.n, sizeof *in.cells.v, slices_by_rank);
    for (size_t i = 0, next; ok && i < in.cells.n; i = next) {
        const struct slices_cell *c = &in.cells.v[i];

        for (next = i;
             next < in.cells.n && in.cells.v[next].rank == c->rank && in.cells.v[next].op == c->op;
             next++)
            ;
        slices_put_kind(m, c, next - i, shared);
    }
    m->to->files = shared ? 1 : m->ranks;
    m->to->slices = true;
    wr_vec_fini(&in.cells);
    return ok;
}
