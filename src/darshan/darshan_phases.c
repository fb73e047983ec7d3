/* darshan_phases.c -- phases of I/O from counters, heatmaps and traces.
 *
 * All divisions (over ranks, bins of time, sizes) round cumulative sums, so that the parts add up
 * to the whole. Times are whole picoseconds.
 */
#include "darshan/darshan_phases.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As many phases of records of all ranks as a job may have: more are given to fewer ranks each. */
enum { PHASES_MOST_RANKS = 1 << 20, PHASES_MOST_SHARED = 1 << 22 };

const uint64_t darshan_size_low[DARSHAN_SIZES + 1] = {
    0, 101, 1025, 10241, 102401, 1048577, 4194305, 10485761, 104857601, 1073741825, UINT64_MAX,
};

/* One kind of access of a record. */
struct phases_access {
    int64_t n, bytes;
    double time_s, start_s, end_s;
    const int64_t *sizes; /* histogram; NULL: none */
};

struct phases_maker {
    struct darshan_phases *to;
    const struct darshan_log *log;
    const struct darshan_trace **trace; /* by module, id, rank */
    size_t ntraces;
    const struct darshan_heatmap **heat[DARSHAN_KNOWN]; /* by rank; NULL: the module has none */
    double *weight[2];                                  /* by rank: bytes that no record explains */
    uint64_t most_parts; /* ranks that a record of all ranks is divided over */
    bool by_size;
};

static int64_t phases_ps(double s, double most_s)
{
    return s > 0 ? (int64_t)llround((s < most_s ? s : most_s) * 1e12) : 0;
}

/* part k of `whole`, which is divided at from/all and to/all */
static uint64_t phases_share(uint64_t whole, uint64_t from, uint64_t to, uint64_t all)
{
    return all ? (uint64_t)((unsigned __int128)whole * to / all) -
                     (uint64_t)((unsigned __int128)whole * from / all)
               : 0;
}

/* ---- files ---- */

static int phases_by_file(const void *a, const void *b)
{
    const struct darshan_file *x = a, *y = b;

    return x->id != y->id ? (x->id < y->id ? -1 : 1) : 0;
}

static void phases_add_file(struct phases_maker *mk, uint64_t id)
{
    wr_vec_push(&mk->to->files, (struct darshan_file){.id = id});
}

static uint32_t phases_file(const struct phases_maker *mk, uint64_t id)
{
    struct darshan_file want = {.id = id};
    const struct darshan_file *f =
        bsearch(&want, mk->to->files.v, mk->to->files.n, sizeof want, phases_by_file);

    assert(f);
    return (uint32_t)(f - mk->to->files.v);
}

static void phases_collect_files(struct phases_maker *mk)
{
    static const enum darshan_module of[] = {DARSHAN_POSIX, DARSHAN_STDIO, DARSHAN_MPIIO};
    struct darshan_phases *to = mk->to;
    size_t n = 0;

    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (size_t k = 0; k < mk->log->records[of[i]].n; k++)
            phases_add_file(mk, mk->log->records[of[i]].v[k].id);
    for (size_t i = 0; i < mk->log->traces.n; i++)
        phases_add_file(mk, mk->log->traces.v[i].id);
    if (to->files.n)
        qsort(to->files.v, to->files.n, sizeof *to->files.v, phases_by_file);
    for (size_t i = 0; i < to->files.n; i++)
        if (!i || to->files.v[i].id != to->files.v[i - 1].id)
            to->files.v[n++] = to->files.v[i];
    to->files.n = n;
    for (size_t i = 0; i < n; i++)
        to->files.v[i].name = darshan_name(mk->log, to->files.v[i].id);
    for (size_t i = 0; i < mk->log->records[DARSHAN_POSIX].n; i++)
        to->files.v[phases_file(mk, mk->log->records[DARSHAN_POSIX].v[i].id)].posix = true;
}

/* ---- traces ---- */

static int phases_compare_trace(const struct darshan_trace *x, enum darshan_module m, uint64_t id)
{
    if (x->module != m)
        return x->module < m ? -1 : 1;
    return x->id != id ? (x->id < id ? -1 : 1) : 0;
}

static int phases_by_trace(const void *a, const void *b)
{
    const struct darshan_trace *x = *(const struct darshan_trace *const *)a,
                               *y = *(const struct darshan_trace *const *)b;
    int order = phases_compare_trace(x, y->module, y->id);

    if (!order)
        order = x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : 0;
    return order ? order : (x < y ? -1 : x > y);
}

static void phases_sort_traces(struct phases_maker *mk)
{
    mk->ntraces = mk->log->traces.n;
    mk->trace = wr_zalloc(mk->ntraces + 1, sizeof *mk->trace);
    for (size_t i = 0; i < mk->ntraces; i++)
        mk->trace[i] = &mk->log->traces.v[i];
    qsort(mk->trace, mk->ntraces, sizeof *mk->trace, phases_by_trace);
}

/* The first trace of a file. */
static size_t phases_find_trace(const struct phases_maker *mk, enum darshan_module m, uint64_t id)
{
    size_t low = 0, high = mk->ntraces;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (phases_compare_trace(mk->trace[mid], m, id) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void phases_put(struct phases_maker *mk, const struct darshan_phase *p)
{
    struct darshan_phases *to = mk->to;

    if (!p->n)
        return;
    to->n[p->op] += p->n;
    to->bytes[p->op] += p->bytes;
    if (p->op <= DARSHAN_WRITE)
        to->by_source[p->source] += p->n;
    if (p->op == DARSHAN_WRITE) {
        struct darshan_file *f = &to->files.v[p->file];

        to->shared_writes |= f->writer && f->writer != p->rank + 1;
        f->writer = p->rank + 1;
    }
    if (p->op <= DARSHAN_OPEN && p->t_ps + p->dt_ps > to->end_ps)
        to->end_ps = p->t_ps + p->dt_ps;
    wr_vec_push(&to->list, *p);
}

/* Puts a trace's requests, and takes them off what is left of the record's counters. */
static void phases_put_trace(struct phases_maker *mk, const struct darshan_trace *t,
                             struct phases_access rest[2])
{
    double most_s = mk->log->run_time_s + 1;

    if (t->rank < 0 || t->rank >= mk->to->ranks)
        return;
    for (uint64_t i = 0; i < t->nwrites + t->nreads; i++) {
        const struct darshan_segment *s = &t->segment[i];
        enum darshan_op op = i < t->nwrites ? DARSHAN_WRITE : DARSHAN_READ;
        struct darshan_phase p = {.rank = (uint32_t)t->rank,
                                  .file = phases_file(mk, t->id),
                                  .op = (uint8_t)op,
                                  .source = DARSHAN_MEASURED,
                                  .offset = s->offset < 0 ? -1 : s->offset,
                                  .bytes = s->length > 0 ? (uint64_t)s->length : 0,
                                  .n = 1,
                                  .t_ps = phases_ps(s->start_s, most_s)};
        int64_t end = phases_ps(s->end_s, most_s);

        p.dt_ps = p.io_ps = end > p.t_ps ? end - p.t_ps : 0;
        phases_put(mk, &p);
        rest[op].n--;
        if (__builtin_sub_overflow(rest[op].bytes, (int64_t)p.bytes, &rest[op].bytes))
            rest[op].bytes = INT64_MIN; /* a damaged log: nothing is left */
        rest[op].time_s -= (double)p.io_ps / 1e12;
        mk->to->time_s[op] += (double)p.io_ps / 1e12;
    }
}

/* ---- requests between the first and the last ---- */

/* `n` requests of p, in the bins of time where the rank has bytes: the part of the window in a bin
 * counts by the bin's bytes. */
static bool phases_put_binned(struct phases_maker *mk, const struct darshan_phase *p,
                              const struct darshan_heatmap *h)
{
    const int64_t *bin = p->op == DARSHAN_WRITE ? h->write : h->read;
    double width = h->width_s * 1e12, a = (double)p->t_ps, b = a + (double)p->dt_ps, all = 0;
    uint32_t first = (uint32_t)fmin(a / width, h->nbins), last;
    uint64_t done = 0;

    last = (uint32_t)fmin(b / width + 1, h->nbins);
    for (uint32_t i = first; i < last; i++)
        if (bin[i] > 0)
            all += (double)bin[i] * (fmin(b, (i + 1) * width) - fmax(a, i * width));
    if (!(all > 0))
        return false;
    double sum = 0;

    for (uint32_t i = first; i < last; i++) {
        double from = fmax(a, i * width), to = fmin(b, (i + 1) * width);
        struct darshan_phase part = *p;

        if (bin[i] <= 0 || !(to > from))
            continue;
        sum += (double)bin[i] * (to - from);
        uint64_t until = (uint64_t)((double)p->n * fmin(sum / all, 1) + 0.5);

        if (until > p->n || i + 1 == last)
            until = p->n;
        part.source = DARSHAN_BINNED;
        part.n = until - done;
        part.bytes = phases_share(p->bytes, done, until, p->n);
        part.io_ps = (int64_t)phases_share((uint64_t)p->io_ps, done, until, p->n);
        part.t_ps = (int64_t)from;
        part.dt_ps = (int64_t)(to - from);
        phases_put(mk, &part);
        done = until;
    }
    if (done < p->n) { /* the last bins are empty */
        struct darshan_phase part = *p;

        part.n = p->n - done;
        part.bytes = phases_share(p->bytes, done, p->n, p->n);
        part.io_ps = (int64_t)phases_share((uint64_t)p->io_ps, done, p->n, p->n);
        part.t_ps = p->t_ps + p->dt_ps;
        part.dt_ps = 0;
        phases_put(mk, &part);
    }
    return true;
}

static void phases_put_rank(struct phases_maker *mk, enum darshan_module m,
                            const struct darshan_phase *p)
{
    const struct darshan_heatmap *h =
        mk->heat[m] && p->op <= DARSHAN_WRITE ? mk->heat[m][p->rank] : NULL;

    if (!p->n)
        return;
    if (!h || !phases_put_binned(mk, p, h))
        phases_put(mk, p);
}

/* A record of all ranks: by weight, each rank a run of requests that follow one another. */
static void phases_put_shared(struct phases_maker *mk, enum darshan_module m,
                              const struct darshan_phase *p)
{
    uint64_t ranks = mk->to->ranks, parts = mk->most_parts < ranks ? mk->most_parts : ranks;
    const double *weight = p->op <= DARSHAN_WRITE && parts == ranks ? mk->weight[p->op] : NULL;
    double all = 0, sum = 0;
    uint64_t done = 0;

    for (uint64_t i = 0; weight && i < ranks; i++)
        all += weight[i];
    mk->to->fewer += parts < ranks && p->n >= parts;
    for (uint64_t i = 0; i < parts && done < p->n; i++) {
        struct darshan_phase part = *p;
        uint64_t until;

        if (all > 0) {
            sum += weight[i];
            until = i + 1 == parts ? p->n : (uint64_t)((double)p->n * (sum / all) + 0.5);
        } else {
            until = done + phases_share(p->n, i, i + 1, parts);
        }
        until = until < done ? done : until > p->n ? p->n : until;
        part.rank = (uint32_t)(i * ranks / parts);
        part.n = until - done;
        part.bytes = phases_share(p->bytes, done, until, p->n);
        part.io_ps = (int64_t)phases_share((uint64_t)p->io_ps, done, until, p->n);
        phases_put_rank(mk, m, &part);
        done = until;
    }
}

static void phases_put_some(struct phases_maker *mk, enum darshan_module m, int64_t rank,
                            struct darshan_phase *p)
{
    if (rank < 0) {
        phases_put_shared(mk, m, p);
    } else {
        p->rank = (uint32_t)rank;
        phases_put_rank(mk, m, p);
    }
}

/* Sizes by the histogram: each bin's requests lie at the same fraction f between the bin's bounds,
 * the f for which the bytes add up. False when no f does. */
static bool phases_by_sizes(const struct phases_access *a, uint64_t ret[DARSHAN_SIZES])
{
    double low = 0, high = 0, n = 0;
    uint64_t sum = 0, last = 0;

    for (int i = 0; i < DARSHAN_SIZES; i++) {
        double c = (double)a->sizes[i],
               top = i + 1 < DARSHAN_SIZES ? (double)darshan_size_low[i + 1] - 1 : (double)a->bytes;

        if (a->sizes[i] < 0)
            return false;
        n += c;
        low += c * (double)darshan_size_low[i];
        high += c * top;
    }
    if (n != (double)a->n || !(low <= (double)a->bytes && (double)a->bytes <= high))
        return false;
    double f = high > low ? ((double)a->bytes - low) / (high - low) : 0;

    for (uint64_t i = 0; i < DARSHAN_SIZES; i++) {
        double top = i + 1 < DARSHAN_SIZES ? (double)darshan_size_low[i + 1] - 1 : (double)a->bytes;

        ret[i] =
            (uint64_t)((double)a->sizes[i] * ((double)darshan_size_low[i] * (1 - f) + f * top));
        sum += ret[i];
        last = a->sizes[i] ? i : last;
    }
    if (sum > (uint64_t)a->bytes && ret[last] < sum - (uint64_t)a->bytes)
        return false;
    ret[last] += (uint64_t)a->bytes - sum; /* what rounding left, also downwards */
    return true;
}

/* Puts requests that no trace has. */
static void phases_put_access(struct phases_maker *mk, enum darshan_module m, int64_t rank,
                              uint32_t file, enum darshan_op op, const struct phases_access *a)
{
    double most_s = mk->log->run_time_s + 1;
    struct darshan_phase p = {.file = file,
                              .op = (uint8_t)op,
                              .source = DARSHAN_SPREAD,
                              .offset = -1,
                              .n = a->n > 0 ? (uint64_t)a->n : a->bytes > 0,
                              .bytes = a->bytes > 0 ? (uint64_t)a->bytes : 0,
                              .t_ps = phases_ps(a->start_s, most_s)};
    int64_t end = phases_ps(a->end_s, most_s);
    uint64_t bytes[DARSHAN_SIZES];

    p.dt_ps = end > p.t_ps ? end - p.t_ps : 0;
    p.io_ps = a->time_s > 0 && a->time_s < 1e6 * most_s * mk->to->ranks
                  ? (int64_t)fmin(a->time_s * 1e12, 4e18)
                  : 0;
    mk->to->time_s[op] += (double)p.io_ps / 1e12;
    if (op == DARSHAN_SYNC && p.n) { /* each after the writes before it */
        p.t_ps += p.dt_ps / (int64_t)p.n;
        p.dt_ps = p.n > 1 ? p.dt_ps : 0;
    }
    if (!a->sizes || !mk->by_size || a->n <= 0 || !phases_by_sizes(a, bytes)) {
        phases_put_some(mk, m, rank, &p);
        return;
    }
    struct darshan_phase whole = p;
    uint64_t done = 0;

    for (int i = 0; i < DARSHAN_SIZES; i++) {
        uint64_t n = (uint64_t)a->sizes[i];

        p.n = n;
        p.bytes = bytes[i];
        p.io_ps = (int64_t)phases_share((uint64_t)whole.io_ps, done, done + n, whole.n);
        phases_put_some(mk, m, rank, &p);
        done += n;
    }
}

/* ---- records ---- */

/* First to last call, or from open to close, or the whole job. */
static void phases_window(struct phases_access *a, double open_s, double close_s, double run_s)
{
    if (a->start_s >= 0 && a->end_s > a->start_s)
        return;
    if (a->start_s > 0) { /* one call that took no time */
        a->end_s = a->start_s;
        return;
    }
    a->start_s = open_s > 0 ? open_s : 0;
    a->end_s = close_s > a->start_s ? close_s : run_s;
}

/* The sum of counters that are recorded; of a damaged log, as much as a counter holds. */
static int64_t phases_sum(const int64_t *count, const int *which, size_t n)
{
    int64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        if (count[which[i]] > 0 && __builtin_add_overflow(sum, count[which[i]], &sum))
            return INT64_MAX;
    return sum;
}

static void phases_view(struct phases_access a[DARSHAN_OPS], enum darshan_module m,
                        const struct darshan_record *r, double run_s)
{
    const int64_t *c = r->count;
    const double *f = r->real;
    bool stdio = m == DARSHAN_STDIO;
    double open = f[stdio ? STDIO_F_OPEN_START : POSIX_F_OPEN_START];
    double close = f[stdio ? STDIO_F_CLOSE_END : POSIX_F_CLOSE_END];

    memset(a, 0, DARSHAN_OPS * sizeof *a);
    if (stdio) {
        a[DARSHAN_READ] =
            (struct phases_access){c[STDIO_READS],        c[STDIO_BYTES_READ], f[STDIO_F_READ_TIME],
                                   f[STDIO_F_READ_START], f[STDIO_F_READ_END], NULL};
        a[DARSHAN_WRITE] = (struct phases_access){c[STDIO_WRITES],       c[STDIO_BYTES_WRITTEN],
                                                  f[STDIO_F_WRITE_TIME], f[STDIO_F_WRITE_START],
                                                  f[STDIO_F_WRITE_END],  NULL};
        a[DARSHAN_OPEN] = (struct phases_access){
            c[STDIO_OPENS], 0, f[STDIO_F_META_TIME], open, f[STDIO_F_OPEN_END], NULL};
    } else {
        bool mpi = m == DARSHAN_MPIIO;
        static const int mpi_reads[] = {MPIIO_INDEP_READS, MPIIO_COLL_READS, MPIIO_SPLIT_READS,
                                        MPIIO_NB_READS};
        static const int mpi_writes[] = {MPIIO_INDEP_WRITES, MPIIO_COLL_WRITES, MPIIO_SPLIT_WRITES,
                                         MPIIO_NB_WRITES};
        static const int mpi_opens[] = {MPIIO_INDEP_OPENS, MPIIO_COLL_OPENS};
        static const int syncs[] = {POSIX_FSYNCS, POSIX_FDSYNCS};
        int64_t reads = mpi ? phases_sum(c, mpi_reads, 4) : c[POSIX_READS];
        int64_t writes = mpi ? phases_sum(c, mpi_writes, 4) : c[POSIX_WRITES];

        a[DARSHAN_READ] =
            (struct phases_access){reads,
                                   c[mpi ? MPIIO_BYTES_READ : POSIX_BYTES_READ],
                                   f[POSIX_F_READ_TIME],
                                   f[POSIX_F_READ_START],
                                   f[POSIX_F_READ_END],
                                   &c[mpi ? MPIIO_SIZE_READ_0_100 : POSIX_SIZE_READ_0_100]};
        a[DARSHAN_WRITE] =
            (struct phases_access){writes,
                                   c[mpi ? MPIIO_BYTES_WRITTEN : POSIX_BYTES_WRITTEN],
                                   f[POSIX_F_WRITE_TIME],
                                   f[POSIX_F_WRITE_START],
                                   f[POSIX_F_WRITE_END],
                                   &c[mpi ? MPIIO_SIZE_WRITE_0_100 : POSIX_SIZE_WRITE_0_100]};
        a[DARSHAN_OPEN] = (struct phases_access){mpi ? phases_sum(c, mpi_opens, 2) : c[POSIX_OPENS],
                                                 0,
                                                 f[POSIX_F_META_TIME],
                                                 open,
                                                 f[POSIX_F_OPEN_END],
                                                 NULL};
        a[DARSHAN_SYNC] = (struct phases_access){mpi ? c[MPIIO_SYNCS] : phases_sum(c, syncs, 2),
                                                 0,
                                                 0,
                                                 a[DARSHAN_WRITE].start_s,
                                                 a[DARSHAN_WRITE].end_s,
                                                 NULL};
    }
    for (int op = 0; op < DARSHAN_OPS; op++)
        if (a[op].n < 0)
            a[op].n = 0;
    for (int op = 0; op < DARSHAN_OPS; op++)
        phases_window(&a[op], open, op == DARSHAN_OPEN ? open : close,
                      op == DARSHAN_OPEN ? 0 : run_s);
}

static void phases_count_sizes(struct darshan_phases *to, const struct phases_access a[2])
{
    for (int op = DARSHAN_READ; op <= DARSHAN_WRITE; op++)
        for (int i = 0; a[op].sizes && i < DARSHAN_SIZES; i++)
            if (a[op].sizes[i] > 0)
                to->sizes[op][i] += (uint64_t)a[op].sizes[i];
}

static void phases_put_record(struct phases_maker *mk, enum darshan_module m,
                              const struct darshan_record *r)
{
    static const enum darshan_module traced[DARSHAN_KNOWN] = {
        [DARSHAN_POSIX] = DARSHAN_DXT_POSIX, [DARSHAN_MPIIO] = DARSHAN_DXT_MPIIO};
    struct phases_access a[DARSHAN_OPS];
    uint32_t file = phases_file(mk, r->id);
    int64_t before[2];

    if (r->rank >= mk->to->ranks)
        return;
    phases_view(a, m, r, mk->log->run_time_s);
    phases_count_sizes(mk->to, a);
    mk->to->shared += r->rank < 0;
    if (m == DARSHAN_POSIX && r->count[POSIX_STATS] > 0)
        mk->to->metas += (uint64_t)r->count[POSIX_STATS];
    before[0] = a[DARSHAN_READ].n;
    before[1] = a[DARSHAN_WRITE].n;
    for (size_t i = traced[m] ? phases_find_trace(mk, traced[m], r->id) : mk->ntraces;
         i < mk->ntraces && !phases_compare_trace(mk->trace[i], traced[m], r->id); i++)
        if (r->rank < 0 || mk->trace[i]->rank == r->rank)
            phases_put_trace(mk, mk->trace[i], a);
    for (int op = 0; op < DARSHAN_OPS; op++) {
        if (op <= DARSHAN_WRITE && a[op].n != before[op])
            a[op].sizes = NULL; /* those of the rest are not known */
        if (a[op].n > 0 || a[op].bytes > 0)
            phases_put_access(mk, m, r->rank, file, (enum darshan_op)op, &a[op]);
    }
}

/* ---- time in MPI-IO ---- */

static int64_t phases_collective(const struct darshan_record *r)
{
    const int64_t *c = r->count;

    return c[MPIIO_INDEP_READS] || c[MPIIO_INDEP_WRITES] || c[MPIIO_SPLIT_READS] ||
                   c[MPIIO_SPLIT_WRITES] || c[MPIIO_NB_READS] || c[MPIIO_NB_WRITES]
               ? -1
               : c[MPIIO_COLL_READS] + c[MPIIO_COLL_WRITES];
}

/* How often each rank made collective calls on a file, where all made the same ones. */
static void phases_count_collectives(struct phases_maker *mk)
{
    const struct darshan_phases *to = mk->to;

    for (size_t i = 0; i < mk->log->records[DARSHAN_MPIIO].n; i++) {
        const struct darshan_record *r = &mk->log->records[DARSHAN_MPIIO].v[i];
        struct darshan_file *f = &to->files.v[phases_file(mk, r->id)];
        int64_t calls = phases_collective(r);

        if (r->rank < 0) {
            f->mpiio = to->ranks;
            f->calls = calls > 0 && calls % to->ranks == 0 ? calls / to->ranks : -1;
        } else {
            f->calls = !f->mpiio++ || f->calls == calls ? calls : -1;
        }
    }
    for (size_t i = 0; i < to->files.n; i++)
        if (to->files.v[i].mpiio != to->ranks || to->ranks == 1)
            to->files.v[i].calls = -1;
    for (size_t i = 0; i < mk->ntraces; i++) { /* traces that lost some */
        const struct darshan_trace *t = mk->trace[i];
        struct darshan_file *f = &to->files.v[phases_file(mk, t->id)];

        if (t->module == DARSHAN_DXT_MPIIO && f->calls >= 0 &&
            t->nwrites + t->nreads != (uint64_t)f->calls)
            f->calls = -1;
    }
}

static void phases_put_call(struct phases_maker *mk, uint32_t rank, uint32_t file,
                            const struct darshan_segment *s)
{
    double most_s = mk->log->run_time_s + 1;
    struct darshan_phase p = {.rank = rank,
                              .file = file,
                              .op = DARSHAN_IN_MPIIO,
                              .source = DARSHAN_MEASURED,
                              .offset = -1,
                              .n = 1,
                              .t_ps = phases_ps(s->start_s, most_s)};
    int64_t end = phases_ps(s->end_s, most_s);

    p.dt_ps = p.io_ps = end > p.t_ps ? end - p.t_ps : 0;
    phases_put(mk, &p);
    if (mk->to->files.v[file].calls < 1)
        return;
    p.op = DARSHAN_BARRIER;
    p.t_ps += p.dt_ps;
    p.dt_ps = p.io_ps = 0;
    phases_put(mk, &p);
}

/* What has no traces, of a traced record the opens: calls of each rank at equal distances, each
 * with its part of the time. */
static void phases_put_calls(struct phases_maker *mk, const struct darshan_record *r, uint32_t file,
                             bool traced)
{
    int64_t each = mk->to->files.v[file].calls;
    struct phases_access a[DARSHAN_OPS];

    phases_view(a, DARSHAN_MPIIO, r, mk->log->run_time_s);
    for (int op = traced ? DARSHAN_OPEN : DARSHAN_READ; op <= DARSHAN_OPEN; op++) {
        uint64_t n = (uint64_t)a[op].n, ranks = r->rank < 0 ? mk->to->ranks : 1;
        bool meet = each > 0 && op != DARSHAN_OPEN && n % ranks == 0;

        if (!n || ranks > mk->most_parts)
            continue;
        for (uint64_t i = 0; i < ranks; i++) {
            double end = fmax(a[op].end_s, a[op].start_s), most_s = mk->log->run_time_s + 1;
            struct darshan_phase p = {.rank = r->rank < 0 ? (uint32_t)i : (uint32_t)r->rank,
                                      .file = file,
                                      .op = DARSHAN_IN_MPIIO,
                                      .source = DARSHAN_SPREAD,
                                      .offset = -1,
                                      .n = phases_share(n, i, i + 1, ranks),
                                      .t_ps = phases_ps(a[op].start_s, most_s)};

            p.dt_ps = phases_ps(end, most_s) - p.t_ps;
            p.io_ps = phases_ps(a[op].time_s * (double)p.n / (double)n, (double)p.dt_ps / 1e12);
            phases_put(mk, &p);
            p.op = DARSHAN_BARRIER;
            p.t_ps += p.n ? p.io_ps / (int64_t)p.n : 0;
            p.io_ps = 0;
            if (meet)
                phases_put(mk, &p);
        }
    }
}

static void phases_put_mpiio(struct phases_maker *mk, const struct darshan_record *r)
{
    uint32_t file = phases_file(mk, r->id);
    size_t i = phases_find_trace(mk, DARSHAN_DXT_MPIIO, r->id);
    bool traced = false;

    if (r->rank >= mk->to->ranks)
        return;
    for (; i < mk->ntraces && !phases_compare_trace(mk->trace[i], DARSHAN_DXT_MPIIO, r->id); i++) {
        const struct darshan_trace *t = mk->trace[i];

        if (t->rank < 0 || t->rank >= mk->to->ranks || (r->rank >= 0 && t->rank != r->rank))
            continue;
        traced = true;
        for (uint64_t k = 0; k < t->nwrites + t->nreads; k++)
            phases_put_call(mk, (uint32_t)t->rank, file, &t->segment[k]);
    }
    phases_put_calls(mk, r, file, traced);
}

/* ---- heatmaps ---- */

static void phases_find_heatmaps(struct phases_maker *mk)
{
    static const struct {
        const char *name;
        enum darshan_module m;
    } of[] = {{"heatmap:POSIX", DARSHAN_POSIX},
              {"heatmap:STDIO", DARSHAN_STDIO},
              {"heatmap:MPIIO", DARSHAN_MPIIO}};

    for (size_t i = 0; i < mk->log->heatmaps.n; i++) {
        const struct darshan_heatmap *h = &mk->log->heatmaps.v[i];
        const char *name = darshan_name(mk->log, h->id);

        for (size_t k = 0; name && k < sizeof of / sizeof *of; k++)
            if (!strcmp(name, of[k].name) && h->rank >= 0 && h->rank < mk->to->ranks) {
                if (!mk->heat[of[k].m])
                    mk->heat[of[k].m] = wr_zalloc(mk->to->ranks, sizeof *mk->heat[of[k].m]);
                mk->heat[of[k].m][h->rank] = h;
            }
    }
}

/* What a rank's heatmap has beyond its own records belongs to records of all ranks. */
static void phases_weigh_ranks(struct phases_maker *mk)
{
    const struct darshan_heatmap **heat = mk->heat[DARSHAN_POSIX];

    for (int op = 0; heat && op < 2; op++) {
        double *w = mk->weight[op] = wr_zalloc(mk->to->ranks, sizeof *w);

        for (uint32_t i = 0; i < mk->to->ranks; i++)
            for (uint32_t k = 0; heat[i] && k < heat[i]->nbins; k++)
                w[i] += fmax((double)(op ? heat[i]->write[k] : heat[i]->read[k]), 0);
        for (size_t i = 0; i < mk->log->records[DARSHAN_POSIX].n; i++) {
            const struct darshan_record *r = &mk->log->records[DARSHAN_POSIX].v[i];

            if (r->rank >= 0 && r->rank < mk->to->ranks)
                w[r->rank] -= (double)r->count[op ? POSIX_BYTES_WRITTEN : POSIX_BYTES_READ];
        }
        for (uint32_t i = 0; i < mk->to->ranks; i++)
            w[i] = fmax(w[i], 0);
    }
}

/* ---- all of it ---- */

static void phases_limit(struct phases_maker *mk)
{
    static const enum darshan_module of[] = {DARSHAN_POSIX, DARSHAN_STDIO, DARSHAN_MPIIO};
    uint64_t shared = 1;

    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (size_t k = 0; k < mk->log->records[of[i]].n; k++)
            shared += mk->log->records[of[i]].v[k].rank < 0;
    mk->by_size = shared * DARSHAN_OPS * mk->to->ranks <= PHASES_MOST_SHARED / DARSHAN_SIZES;
    mk->most_parts = PHASES_MOST_SHARED / (shared * DARSHAN_OPS);
    if (!mk->most_parts)
        mk->most_parts = 1;
}

static int phases_by_time(const void *a, const void *b)
{
    const struct darshan_phase *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->t_ps != y->t_ps)
        return x->t_ps < y->t_ps ? -1 : 1;
    /* At one time: a call of MPI-IO, its requests (opens, reads, writes, syncs), its end; then as
     * files and offsets are ordered. */
    static const uint8_t first[DARSHAN_OPS] = {
        [DARSHAN_IN_MPIIO] = 0, [DARSHAN_OPEN] = 1, [DARSHAN_READ] = 2,
        [DARSHAN_WRITE] = 3,    [DARSHAN_SYNC] = 4, [DARSHAN_BARRIER] = 5};

    if (x->op != y->op)
        return first[x->op] < first[y->op] ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? -1 : 1) : (x->n > y->n) - (x->n < y->n);
}

static void phases_make_all(struct phases_maker *mk)
{
    static const enum darshan_module of[] = {DARSHAN_POSIX, DARSHAN_STDIO, DARSHAN_MPIIO};

    phases_collect_files(mk);
    phases_sort_traces(mk);
    phases_find_heatmaps(mk);
    phases_weigh_ranks(mk);
    phases_limit(mk);
    phases_count_collectives(mk);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (size_t k = 0; k < mk->log->records[of[i]].n; k++) {
            const struct darshan_record *r = &mk->log->records[of[i]].v[k];

            if (of[i] != DARSHAN_MPIIO || !mk->to->files.v[phases_file(mk, r->id)].posix)
                phases_put_record(mk, of[i], r);
            else
                phases_put_mpiio(mk, r);
        }
    if (mk->to->list.n)
        qsort(mk->to->list.v, mk->to->list.n, sizeof *mk->to->list.v, phases_by_time);
}

bool darshan_phases_make(struct darshan_phases *ret, const struct darshan_log *log,
                         struct wr_err *err)
{
    struct darshan_phases to = {.end_ps = (int64_t)llround(log->run_time_s * 1e12)};
    struct phases_maker mk = {.to = &to, .log = log};

    if (log->nprocs > PHASES_MOST_RANKS)
        return wr_fail(err, WR_INPUT,
                       "%s: its job has %lld processes, and %d is the most that is imported; is "
                       "the log damaged?",
                       log->path, (long long)log->nprocs, PHASES_MOST_RANKS);
    if (!(log->run_time_s < 1e6))
        return wr_fail(err, WR_INPUT,
                       "%s: its job ran for %.6g s, and 1e6 s is the most that is imported; is the "
                       "log damaged?",
                       log->path, log->run_time_s);
    to.ranks = (uint32_t)log->nprocs;
    phases_make_all(&mk);
    free(mk.trace);
    for (int m = 0; m < DARSHAN_KNOWN; m++)
        free(mk.heat[m]);
    free(mk.weight[0]);
    free(mk.weight[1]);
    *ret = to;
    return true;
}

void darshan_phases_fini(struct darshan_phases *p)
{
    wr_vec_fini(&p->list);
    wr_vec_fini(&p->files);
}
