/* profile_job.c -- all profiles of a job on one grid of slices.
 *
 *   read files ─> drop duplicates ─> align clocks ─> check ─> add unprofiled processes (outside.c)
 *     ─> number processes, ranks and threads ─> spread records over slices ─> merge cells and uses
 *
 * prof_job_make owns the order of these steps. Files are sorted by host, process and start, so that
 * the images of one process are neighbours. Called by `weir profile` and by tests.
 */
#include "prof/read/profile_job.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "prof/read/archive.h"
#include "profile_job_priv.h"

static const char *const metric_names[PROF_METRICS] = {
#define X(name, unit) #name,
    PROF_WORDS(X)
#undef X
        [PROF_M_MPI_CALLS] = "mpi_calls",
    [PROF_M_MPI_TIME] = "mpi_time",
    [PROF_M_MPIIO_TIME] = "mpiio_time",
    [PROF_M_MPIIO_READ] = "mpiio_read_bytes",
    [PROF_M_MPIIO_WRITE] = "mpiio_write_bytes",
    [PROF_M_MPIIO_COLL_TIME] = "mpiio_collective_time",
    [PROF_M_MPIIO_COLL_READ] = "mpiio_collective_read_bytes",
    [PROF_M_MPIIO_COLL_WRITE] = "mpiio_collective_write_bytes",
    [PROF_M_KERNEL_READ] = "kernel_read_bytes",
    [PROF_M_KERNEL_WRITE] = "kernel_write_bytes",
    [PROF_M_UNEXPLAINED_READ] = "unexplained_read_bytes",
    [PROF_M_UNEXPLAINED_WRITE] = "unexplained_write_bytes",
    [PROF_M_INFLIGHT] = "inflight"};
static const char *const metric_units[PROF_METRICS] = {
#define X(name, unit) unit,
    PROF_WORDS(X)
#undef X
        [PROF_M_MPI_CALLS] = "",
    [PROF_M_MPI_TIME] = "ns",
    [PROF_M_MPIIO_TIME] = "ns",
    [PROF_M_MPIIO_READ] = "B",
    [PROF_M_MPIIO_WRITE] = "B",
    [PROF_M_MPIIO_COLL_TIME] = "ns",
    [PROF_M_MPIIO_COLL_READ] = "B",
    [PROF_M_MPIIO_COLL_WRITE] = "B",
    [PROF_M_KERNEL_READ] = "B",
    [PROF_M_KERNEL_WRITE] = "B",
    [PROF_M_UNEXPLAINED_READ] = "B",
    [PROF_M_UNEXPLAINED_WRITE] = "B",
    [PROF_M_INFLIGHT] = ""};

const char *prof_metric_name(const struct prof_job *j, unsigned metric)
{
    assert(metric < PROF_METRICS);
    bool counter = metric >= PROF_M_COUNTER && metric < PROF_M_INFLIGHT;

    return counter ? j->counter[metric - PROF_M_COUNTER] : metric_names[metric];
}

const char *prof_metric_unit(unsigned metric)
{
    assert(metric < PROF_METRICS);
    return metric >= PROF_M_COUNTER && metric < PROF_M_INFLIGHT ? "events" : metric_units[metric];
}

/* A record is spread over at most this many cells, over fewer when there are many cells, so that a
 * few bytes cannot allocate gigabytes. */
enum { SPREAD_MOST = 4096, SPREAD_FEW = 64, CELLS_MANY = 1 << 19 };

/* The entities that a row of a file counts for. */
struct row_entities {
    uint32_t mount, file, call; /* UINT32_MAX: none */
};

void prof_job_warn(struct prof_job *j, const char *fmt, ...)
{
    char line[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    wr_str_addf(&j->warnings, "%s\n", line);
}

uint32_t prof_job_entity(struct prof_job *j, enum prof_entity_kind kind, char *name)
{
    /* Mounts and files are at the end of the list, after thousands of processes. */
    for (size_t i = j->entities.n; kind >= PROF_E_MOUNT && i-- > 0;) {
        if (j->entities.v[i].kind < PROF_E_MOUNT)
            break;
        if (j->entities.v[i].kind == kind && !strcmp(j->entities.v[i].name, name)) {
            free(name);
            return (uint32_t)i;
        }
    }
    wr_vec_push(&j->entities, (struct prof_entity){.name = name, .kind = kind});
    return (uint32_t)j->entities.n - 1;
}

char *prof_job_name(const char *fmt, ...)
{
    struct wr_str s = {0};
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    wr_str_add(&s, text);
    return s.s;
}

static uint32_t job_app(struct prof_job *j, const struct prof_head *h)
{
    for (size_t i = 0; i < j->apps.n; i++)
        if (!strcmp(j->apps.v[i].name, h->job))
            return (uint32_t)i;
    wr_vec_push(&j->apps, (struct prof_app){.name = h->job, .start_ns = INT64_MAX});
    uint32_t app = (uint32_t)j->apps.n - 1;

    j->apps.v[app].entity = prof_job_entity(j, PROF_E_APP, prof_job_name("app:%u", app));
    return app;
}

static bool job_same_process(const struct prof_head *a, const struct prof_head *b)
{
    return a->pid == b->pid && a->pid_start == b->pid_start && !strcmp(a->host, b->host);
}

/* Assigns each file to a process; after exec a process has another file. */
static void job_find_processes(struct prof_job *j, size_t *proc_of)
{
    for (size_t i = 0; i < j->nfiles; i++) {
        const struct prof_file *f = &j->file[i];
        const struct prof_head *h = &f->head;
        size_t p = j->procs.n;

        /* Files are sorted by process: an earlier image is the previous one. */
        if (p && job_same_process(j->procs.v[p - 1].head, h))
            p--;
        else
            wr_vec_push(&j->procs,
                        (struct prof_proc){.app = job_app(j, h), .start_ns = h->start_ns});
        struct prof_proc *proc = &j->procs.v[p];
        bool mpi = proc->head && proc->head->mpi && !h->mpi;

        proc->head = mpi ? proc->head : h;
        proc->images++;
        proc->kernel = h->clock == PROF_KERNEL;
        proc->sampled = proc->kernel && f->nrec > 0;
        proc->alive = prof_file_alive(h);
        proc->end_ns = h->end_ns > proc->end_ns ? h->end_ns : proc->end_ns;
        proc->end_ns = h->sampled_ns > proc->end_ns ? h->sampled_ns : proc->end_ns;
        proc_of[i] = p;
    }
}

/* MPI ranks first, by rank; then the others by start. */
static int job_by_rank(const void *a, const void *b)
{
    const struct prof_proc *x = a, *y = b;

    if (x->app != y->app)
        return x->app < y->app ? -1 : 1;
    if (x->head->mpi != y->head->mpi)
        return x->head->mpi ? -1 : 1;
    if (x->head->mpi && x->head->rank != y->head->rank)
        return x->head->rank < y->head->rank ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->head->pid < y->head->pid ? -1 : x->head->pid > y->head->pid;
}

static void job_number_ranks(struct prof_job *j, size_t *proc_of)
{
    size_t *new = wr_zalloc(j->procs.n, sizeof *new);

    for (size_t i = 0; i < j->procs.n; i++)
        j->procs.v[i].rank = (uint32_t)i; /* temporarily its old index */
    qsort(j->procs.v, j->procs.n, sizeof *j->procs.v, job_by_rank);
    for (size_t i = 0; i < j->procs.n; i++) {
        struct prof_proc *p = &j->procs.v[i];
        struct prof_app *app = &j->apps.v[p->app];

        new[p->rank] = i;
        p->rank = app->ranks++;
        p->entity = prof_job_entity(j, PROF_E_RANK, prof_job_name("rank:%u.%u", p->app, p->rank));
        app->start_ns = p->start_ns < app->start_ns ? p->start_ns : app->start_ns;
        app->end_ns = p->end_ns > app->end_ns ? p->end_ns : app->end_ns;
    }
    for (size_t i = 0; i < j->nfiles; i++)
        proc_of[i] = new[proc_of[i]];
    free(new);
}

static void job_add_cell(struct prof_job *j, uint32_t slice, uint32_t entity, const double *value)
{
    assert(entity < j->entities.n);
    struct prof_cell c = {.slice = slice, .entity = entity};

    memcpy(c.value, value, sizeof c.value);
    wr_vec_push(&j->cells, c);
}

/* Converts the growth of a row into metrics, by the kind of the row. */
static bool job_metrics(double *m, const struct prof_name *name, const double *word,
                        const uint32_t *counter)
{
    memset(m, 0, PROF_METRICS * sizeof *m);
    if (name->kind == PROF_K_OTHER || name->kind == PROF_K_NONE)
        return false;
    if (name->kind == PROF_K_COUNTERS) {
        for (int i = 0; i < PROF_COUNTERS; i++)
            if (counter[i] < PROF_COUNTERS)
                m[PROF_M_COUNTER + counter[i]] = word[i];
        return true;
    }
    if (name->kind != PROF_K_MPI && name->kind != PROF_K_MPI_COLL) {
        memcpy(m, word, PROF_WORDS_N * sizeof *m);
        m[PROF_M_KERNEL_READ] = name->kind == PROF_K_KERNEL ? word[PROF_W_read_bytes] : 0;
        m[PROF_M_KERNEL_WRITE] = name->kind == PROF_K_KERNEL ? word[PROF_W_write_bytes] : 0;
        return true;
    }
    for (int op = 0; op < PROF_OPS; op++)
        m[PROF_M_MPI_CALLS] += word[PROF_CALLS + op];
    for (int op = 0; op < PROF_META; op++)
        m[PROF_M_MPIIO_TIME] += word[PROF_TIME + op];
    m[PROF_M_MPI_TIME] = m[PROF_M_MPIIO_TIME] + word[PROF_TIME + PROF_META];
    m[PROF_M_MPIIO_READ] = word[PROF_BYTES + PROF_READ];
    m[PROF_M_MPIIO_WRITE] = word[PROF_BYTES + PROF_WRITE];
    if (name->kind == PROF_K_MPI_COLL) {
        m[PROF_M_MPIIO_COLL_TIME] = m[PROF_M_MPIIO_TIME];
        m[PROF_M_MPIIO_COLL_READ] = m[PROF_M_MPIIO_READ];
        m[PROF_M_MPIIO_COLL_WRITE] = m[PROF_M_MPIIO_WRITE];
    }
    return true;
}

/* The slice of a time; times before the origin are in the first. */
static uint32_t job_slice_at(const struct prof_job *j, int64_t ns)
{
    int64_t i = ns < j->origin_ns ? 0 : (ns - j->origin_ns) / (int64_t)j->slice_ns;

    return i > UINT32_MAX ? UINT32_MAX : (uint32_t)i;
}

struct growth {
    int64_t from_ns, to_ns;
    double value[PROF_METRICS];
    double calls_in_flight;
};

/* Spreads growth evenly over the slices from..to, for each entity. Calls are not divided: they go
 * to the slice in which they ended. */
static void job_spread(struct prof_job *j, const struct growth *g, const uint32_t *entities,
                       size_t n)
{
    assert(g->to_ns > g->from_ns && j->slice_ns > 0);
    uint32_t first = job_slice_at(j, g->from_ns), last = job_slice_at(j, g->to_ns - 1);
    double whole = (double)(g->to_ns - g->from_ns), part[PROF_METRICS], left[PROF_METRICS];

    uint32_t most = j->cells.n < CELLS_MANY ? SPREAD_MOST : SPREAD_FEW;
    uint32_t step = (last - first) / most + 1, s, next;

    memcpy(left, g->value, sizeof left);
    for (s = first; s <= last; s = next) {
        int64_t begin = j->origin_ns + (int64_t)s * (int64_t)j->slice_ns;
        int64_t end = begin + (int64_t)j->slice_ns * step;

        next = last - s < step ? last + 1 : s + step;
        int64_t a = begin > g->from_ns ? begin : g->from_ns, b = end < g->to_ns ? end : g->to_ns;

        for (int m = 0; m < PROF_METRICS; m++) {
            bool calls = m < PROF_OPS || m == PROF_M_MPI_CALLS;
            double even = b > a ? floor(g->value[m] * (double)(b - a) / whole) : 0;

            part[m] = next > last ? left[m] : calls ? 0 : even;
            left[m] -= part[m];
        }
        part[PROF_M_INFLIGHT] = next > last ? g->calls_in_flight : 0;
        for (size_t i = 0; i < n; i++)
            if (entities[i] != UINT32_MAX)
                job_add_cell(j, s, entities[i], part);
    }
}

static struct row_entities job_row_entities(struct prof_job *j, struct prof_modules *modules,
                                            const struct prof_file *f, uint32_t row)
{
    assert(row < f->nnames);
    const struct prof_name *n = &f->name[row];
    struct row_entities p = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    const struct prof_name *mount = n->kind == PROF_K_FILE ? &f->name[n->mount] : n;

    if (n->kind == PROF_K_KERNEL)
        p.mount = prof_job_entity(j, PROF_E_MOUNT, prof_job_name("mount:(by the kernel)"));
    if (mount->kind == PROF_K_MOUNT || mount->kind == PROF_K_REST || mount->kind == PROF_K_SOCKET)
        p.mount = prof_job_entity(j, PROF_E_MOUNT, prof_job_name("mount:%s", mount->path));
    if (n->kind == PROF_K_FILE && f->head.files)
        p.file = prof_job_entity(j, PROF_E_FILE, prof_job_name("file:%s", n->path));
    if (n->kind == PROF_K_PATH)
        p.call = prof_job_entity(j, PROF_E_CALL, prof_modules_path(modules, f, row));
    return p;
}

/* State while the records of one file are added. Records of one row and slot are in order; each is
 * the growth since the previous one. */
struct job_file_walk {
    struct prof_job *j;
    struct prof_modules *modules; /* names of functions */
    const struct prof_file *f;
    struct prof_proc *p;              /* the file's process */
    const struct prof_thread *thread; /* [slot] */
    uint32_t counter[PROF_COUNTERS];  /* index of the file's counters in the job's */
    uint64_t (*seen)[PROF_WORDS_N];   /* [slot * nnames + name]: values of the last record */
    struct row_entities *place;       /* [nnames] what a row is counted in */
    bool *placed;                     /* [nnames] it is known */
};

/* Extends the I/O phase of a process by from..to if storage was used. */
static void job_extend_phase(struct prof_proc *p, uint32_t kind, const double *grown, int64_t from,
                             int64_t to)
{
    bool any = false;

    for (int i = 0; i < PROF_WORDS_N; i++)
        any |= grown[i] > 0;
    if (!any || kind == PROF_K_MPI || kind == PROF_K_MPI_COLL || kind == PROF_K_COUNTERS)
        return;
    if (!p->io_start_ns || from < p->io_start_ns)
        p->io_start_ns = from;
    if (to > p->io_end_ns)
        p->io_end_ns = to;
}

static void job_add_growth(struct job_file_walk *w, uint32_t slot, uint32_t row,
                           const uint64_t *word, int64_t from_ns, int64_t to_ns,
                           uint64_t calls_in_flight)
{
    assert(slot < w->f->nslots && row < w->f->nnames);
    size_t at = (size_t)slot * w->f->nnames + row;
    struct growth g = {
        .from_ns = from_ns, .to_ns = to_ns, .calls_in_flight = (double)calls_in_flight};
    double grown[PROF_WORDS_N];
    bool any = calls_in_flight != 0;

    for (int i = 0; i < PROF_WORDS_N; i++) {
        uint64_t d = word[i] > w->seen[at][i] ? word[i] - w->seen[at][i] : 0;

        grown[i] = (double)d;
        any |= d != 0;
        w->seen[at][i] = word[i];
    }
    if (!any || !job_metrics(g.value, &w->f->name[row], grown, w->counter))
        return;
    if (!w->placed[row]) {
        w->place[row] = job_row_entities(w->j, w->modules, w->f, row);
        w->placed[row] = true;
    }
    if (w->place[row].call != UINT32_MAX) { /* counted in the row of the file as well */
        job_spread(w->j, &g, &w->place[row].call, 1);
        return;
    }
    job_extend_phase(w->p, w->f->name[row].kind, grown, from_ns, to_ns);
    uint32_t to[] = {w->j->apps.v[w->p->app].entity, w->p->entity, w->place[row].mount,
                     w->place[row].file, w->thread[slot].entity};

    job_spread(w->j, &g, to, sizeof to / sizeof to[0]);
}

/* Growth after the last record: the current slice, or the time since the last sample. */
static void job_add_last_growth(struct job_file_walk *w)
{
    const struct prof_file *f = w->f;
    const struct prof_head *h = &f->head;

    for (uint32_t slot = 0; slot < f->nslots; slot++) {
        int64_t from = f->slot[slot].from_ns, to = f->slot[slot].edge_ns;

        if (from <= 0 || to <= from) {
            from = h->sampled_ns > 0 ? h->sampled_ns : h->start_ns;
            to = h->end_ns > from ? h->end_ns : from + 1;
        }
        for (uint32_t row = 0; row < f->nnames; row++)
            job_add_growth(w, slot, row, f->row[(size_t)slot * f->nnames + row].word, from, to, 0);
    }
}

/* The index of a counter in the job. Jobs of one directory may have different ones; beyond
 * PROF_COUNTERS they are left out. */
static uint32_t job_counter(struct prof_job *j, const char *name)
{
    uint32_t i = 0;

    while (i < PROF_COUNTERS && j->counter[i] && strcmp(j->counter[i], name))
        i++;
    if (i < PROF_COUNTERS)
        j->counter[i] = name;
    return i;
}

static void job_add_use(struct job_file_walk *w, uint32_t entity, uint32_t row)
{
    assert(row < w->f->nnames && w->placed[row]);
    struct prof_use u = {.proc = (uint32_t)(w->p - w->j->procs.v), .entity = entity};

    if (entity == UINT32_MAX)
        return;
    for (uint32_t slot = 0; slot < w->f->nslots; slot++)
        for (int i = 0; i < PROF_WORDS_N; i++)
            u.word[i] += w->f->row[(size_t)slot * w->f->nnames + row].word[i];
    wr_vec_push(&w->j->uses, u);
}

static int job_by_use(const void *a, const void *b)
{
    const struct prof_use *x = a, *y = b;

    if (x->proc != y->proc)
        return x->proc < y->proc ? -1 : 1;
    return x->entity < y->entity ? -1 : x->entity > y->entity;
}

/* Adds up uses of one process and entity from several files. */
static void job_merge_uses(struct prof_job *j)
{
    size_t n = 0;

    if (j->uses.n)
        qsort(j->uses.v, j->uses.n, sizeof *j->uses.v, job_by_use);
    for (size_t i = 0; i < j->uses.n; i++) {
        if (n && !job_by_use(&j->uses.v[n - 1], &j->uses.v[i]))
            for (int k = 0; k < PROF_WORDS_N; k++)
                j->uses.v[n - 1].word[k] += j->uses.v[i].word[k];
        else
            j->uses.v[n++] = j->uses.v[i];
    }
    j->uses.n = n;
}

static void job_add_sizes(struct prof_app *a, const struct prof_file *f)
{
    for (uint32_t slot = 0; slot < f->nslots; slot++)
        for (int op = PROF_READ; op <= PROF_WRITE; op++) {
            a->jumps[op] += f->slot[slot].jumps[op];
            a->unplaced[op] += f->slot[slot].unplaced[op];
            for (int i = 0; i < PROF_SIZES; i++)
                a->sizes[op][i] += f->slot[slot].sizes[op][i];
        }
}

static void job_add_file(struct prof_job *j, const struct prof_file *f, struct prof_proc *p,
                         const struct prof_thread *thread, struct prof_modules *modules)
{
    assert(p->app < j->apps.n && (thread || !f->nslots));
    size_t n = (size_t)f->nslots * f->nnames;
    struct job_file_walk w = {.j = j,
                              .modules = modules,
                              .f = f,
                              .p = p,
                              .thread = thread,
                              .seen = wr_zalloc(n, sizeof *w.seen),
                              .place = wr_zalloc(f->nnames, sizeof *w.place),
                              .placed = wr_zalloc(f->nnames, sizeof *w.placed)};

    for (uint32_t i = 0; i < PROF_COUNTERS; i++)
        w.counter[i] = i < f->head.counters ? job_counter(j, f->head.counter[i]) : PROF_COUNTERS;
    for (size_t i = 0; i < f->nrec; i++) {
        const struct prof_rec *r = &f->rec[i];

        job_add_growth(&w, r->slot, r->row, r->word, r->from_ns, r->to_ns, r->calls_in_flight);
    }
    job_add_last_growth(&w);
    job_add_sizes(&j->apps.v[p->app], f);
    for (uint32_t row = 0; row < f->nnames; row++)
        if (w.placed[row]) {
            job_add_use(&w, w.place[row].mount, row);
            job_add_use(&w, w.place[row].file, row);
        }
    for (uint32_t slot = 0; slot < f->nslots; slot++)
        for (int op = PROF_READ; op <= PROF_WRITE; op++)
            p->other[op] +=
                (double)f->row[(size_t)slot * f->nnames + PROF_ROW_OTHER].word[PROF_BYTES + op];
    free(w.seen);
    free(w.place);
    free(w.placed);
}

/* Limits I/O phases to the life of the process: slices extend beyond it. */
static void job_cut_phases(struct prof_job *j)
{
    for (size_t i = 0; i < j->procs.n; i++) {
        struct prof_proc *p = &j->procs.v[i];

        if (p->io_start_ns && p->io_start_ns < p->start_ns)
            p->io_start_ns = p->start_ns;
        if (p->end_ns > p->io_start_ns && p->io_end_ns > p->end_ns)
            p->io_end_ns = p->end_ns;
    }
}

/* What only the kernel counted has no time: it is spread over the life of the process. */
static void job_add_balance(struct prof_job *j)
{
    assert(j->slice_ns > 0);
    for (size_t i = 0; i < j->procs.n; i++) {
        const struct prof_proc *p = &j->procs.v[i];
        struct growth g = {.from_ns = p->start_ns,
                           .to_ns = p->end_ns > p->start_ns ? p->end_ns : p->start_ns + 1};
        uint32_t to[] = {j->apps.v[p->app].entity, p->entity, p->mapped_mount};

        g.value[PROF_M_UNEXPLAINED_READ] = (double)p->balance.unexplained[0];
        g.value[PROF_M_UNEXPLAINED_WRITE] = (double)p->balance.unexplained[1];
        if (p->balance.unexplained[0] || p->balance.unexplained[1])
            job_spread(j, &g, to, 2);
        memset(g.value, 0, sizeof g.value);
        g.value[PROF_W_write_estimate] = (double)p->balance.mapped;
        if (p->balance.mapped)
            job_spread(j, &g, to, 3);
    }
}

static int job_by_slice(const void *a, const void *b)
{
    const struct prof_cell *x = a, *y = b;

    if (x->slice != y->slice)
        return x->slice < y->slice ? -1 : 1;
    return x->entity < y->entity ? -1 : x->entity > y->entity;
}

static void job_merge_cells(struct prof_job *j)
{
    size_t n = 0;

    if (j->cells.n)
        qsort(j->cells.v, j->cells.n, sizeof *j->cells.v, job_by_slice);
    for (size_t i = 0; i < j->cells.n; i++) {
        const struct prof_cell *c = &j->cells.v[i];
        struct prof_cell *last = n ? &j->cells.v[n - 1] : NULL;

        if (last && last->slice == c->slice && last->entity == c->entity)
            for (int m = 0; m < PROF_METRICS; m++)
                last->value[m] += c->value[m];
        else
            j->cells.v[n++] = *c;
    }
    j->cells.n = n;
    for (size_t i = 0; i < n; i++)
        for (int m = 0; m < PROF_M_INFLIGHT; m++)
            j->entities.v[j->cells.v[i].entity].total[m] += j->cells.v[i].value[m];
    if (n)
        j->end_ns = j->origin_ns + ((int64_t)j->cells.v[n - 1].slice + 1) * (int64_t)j->slice_ns;
}

static bool job_check_files(struct prof_job *j, struct wr_err *err)
{
    uint64_t cut = 0, clocks[PROF_KERNEL + 1] = {0};

    j->slice_ns = j->nfiles ? j->file[0].head.slice_ns : j->launcher.slice_ns;
    j->adaptive = j->nfiles ? j->file[0].head.adaptive : j->launcher.adaptive;
    j->origin_ns = j->nfiles ? 0 : j->launcher.start_ns;
    for (size_t i = 0; i < j->nfiles; i++) {
        const struct prof_file *f = &j->file[i];

        if (f->head.slice_ns != j->slice_ns)
            return wr_fail(err, WR_INPUT,
                           "%s has slices of %" PRIu64 " ms, others of %" PRIu64
                           " ms; keep each job in a directory of its own",
                           f->path, f->head.slice_ns / 1000000, j->slice_ns / 1000000);
        cut += f->cut;
        clocks[f->head.clock]++;
        j->torn += f->torn;
        j->dropped_calls += f->head.dropped_calls;
        j->dropped_recs += f->head.dropped_recs;
        j->filtered |= f->head.quiet != 0;
        j->rings_unseen += f->head.rings_unseen;
        j->ring_missed += f->head.ring_missed;
        j->sharers += f->head.shared ? f->head.sharers : 0;
        j->late_ns = f->head.late_ns > j->late_ns ? f->head.late_ns : j->late_ns;
        if (f->head.start_ns < j->origin_ns || !j->origin_ns)
            j->origin_ns = f->head.start_ns;
    }
    for (uint32_t c = 0; c <= PROF_KERNEL; c++)
        j->clock = clocks[c] > clocks[j->clock] ? c : j->clock;
    j->origin_ns -= j->origin_ns % (int64_t)j->slice_ns;
    if (cut)
        prof_job_warn(j, "%" PRIu64 " profiles are cut short; what they lost is not in the totals",
                      cut);
    if (j->dropped_calls)
        prof_job_warn(
            j, "%" PRIu64 " calls were not counted: more than %d threads at a time, or a full disk",
            j->dropped_calls, PROF_SLOTS);
    if (j->rings_unseen)
        prof_job_warn(
            j, "%" PRIu64 " rings of io_uring could not be followed: what they moved is not known",
            j->rings_unseen);
    if (j->sharers)
        prof_job_warn(j,
                      "%" PRIu64
                      " processes could not have profiles of their own: what they did is counted, "
                      "but as one process, and not by mount or file; give profiles more "
                      "space, or another directory",
                      j->sharers);
    if (j->dropped_recs)
        prof_job_warn(j,
                      "%" PRIu64
                      " records did not fit: totals are right, late slices are not; take longer "
                      "slices",
                      j->dropped_recs);
    prof_job_check_clocks(j);
    return true;
}

/* Refuses times that would need an absurd number of slices; sets last_ns and adaptive slices. */
static bool job_check_span(struct prof_job *j, struct wr_err *err)
{
    const int64_t most = 4000000; /* slices: half a year of 4 s */
    int64_t slice = (int64_t)(j->adaptive ? PROF_SLICE_LAST_NS : j->slice_ns);
    int64_t end = j->launcher.end_ns;

    if (end > INT64_MAX / 2 || (end - j->origin_ns) / slice > most)
        end = 0; /* implausible: ignored */
    for (size_t i = 0; i < j->nfiles; i++) {
        const struct prof_file *f = &j->file[i];
        const struct prof_head *h = &f->head;

        end = h->start_ns > end ? h->start_ns : end;
        end = h->exec_ns > end ? h->exec_ns : end;
        end = h->end_ns > end ? h->end_ns : end;
        end = h->sampled_ns > end ? h->sampled_ns : end;
        for (size_t r = 0; r < f->nrec; r++)
            end = f->rec[r].to_ns > end ? f->rec[r].to_ns : end;
        for (uint32_t s = 0; s < f->nslots; s++)
            end = f->slot[s].edge_ns > end ? f->slot[s].edge_ns : end;
        /* Half of the range is the year 2116; sums must not overflow. */
        if (end > INT64_MAX / 2 || j->origin_ns > INT64_MAX / 2 ||
            (end - j->origin_ns) / slice > most)
            return wr_fail(err, WR_INPUT,
                           "%s holds times that are years apart; it is damaged, leave it out",
                           f->path);
    }
    j->last_ns = end;
    if (j->adaptive) {
        j->slice_ns = prof_slice_at(end - j->origin_ns);
        j->origin_ns -= j->origin_ns % (int64_t)j->slice_ns;
    }
    return true;
}

static int job_by_process(const void *a, const void *b)
{
    const struct prof_head *x = &((const struct prof_file *)a)->head;
    const struct prof_head *y = &((const struct prof_file *)b)->head;
    int host = strcmp(x->host, y->host);

    if (host)
        return host;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->pid_start != y->pid_start)
        return x->pid_start < y->pid_start ? -1 : 1;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Drops profiles that are in the archive and in a file of their own (the launcher was killed in
 * between), and an unused shared profile. Keeps the recorded ends. */
static size_t job_drop_duplicates(struct prof_job *j)
{
    size_t kept = 0;

    for (size_t i = 0; i < j->nfiles; i++) {
        struct prof_head *h = &j->file[i].head, *last = kept ? &j->file[kept - 1].head : NULL;
        bool twice = last && job_same_process(h, last) && h->mono_ns == last->mono_ns &&
                     h->start_ns == last->start_ns && h->clock == last->clock &&
                     h->shared == last->shared;

        if (h->shared && h->steps)
            j->step_ns = h->step_ns;
        if (h->shared && !twice) {
            j->launcher = *h;
            j->left += h->left;
        }
        if (!twice)
            prof_job_ends(j, &j->file[i]);
        struct prof_file f = j->file[i];

        j->file[i] = (struct prof_file){0};
        if (twice || (f.head.shared && !f.nslots))
            prof_file_fini(&f);
        else
            j->file[kept++] = f;
    }
    return kept;
}

bool prof_job_make(struct prof_job *ret, struct prof_file *files, size_t n, struct wr_err *err)
{
    struct prof_job j = {.file = files, .nfiles = n, .warnings = ret->warnings};

    qsort(files, n, sizeof *files, job_by_process);
    j.nfiles = job_drop_duplicates(&j);
    prof_job_nested(&j);
    n = j.nfiles;
    if (n)
        qsort(files, n, sizeof *files, job_by_process);
    prof_job_align(&j);
    bool ok = (n || j.ends.n) && job_check_files(&j, err) && job_check_span(&j, err);

    if (ok)
        prof_job_outside(&j); /* from here on nothing fails: the job owns the files */
    if (!ok || !j.nfiles) {
        if (err->code == WR_NONE)
            wr_fail(err, WR_INPUT,
                    "no process left a profile; could the job write, and was libweir-prof.so "
                    "preloaded?");
        ret->warnings = j.warnings;
        wr_vec_fini(&j.ends);
        return false;
    }
    n = j.nfiles;
    qsort(j.file, n, sizeof *j.file, job_by_process);
    size_t *proc_of = wr_zalloc(n, sizeof *proc_of);
    struct prof_modules *modules = prof_modules_open();

    job_find_processes(&j, proc_of);
    job_number_ranks(&j, proc_of);
    prof_job_threads(&j, proc_of);
    for (size_t i = 0, slot = 0; i < n; slot += j.file[i++].nslots)
        job_add_file(&j, &j.file[i], &j.procs.v[proc_of[i]],
                     j.threads.v ? j.threads.v + slot : NULL, modules);
    prof_modules_close(modules);
    prof_job_balance(&j, proc_of);
    job_add_balance(&j);
    job_cut_phases(&j);
    free(proc_of);
    job_merge_cells(&j);
    job_merge_uses(&j);
    *ret = j;
    return true;
}

static bool job_is_profile(const char *name)
{
    size_t n = strlen(name), e = strlen(PROF_ENDING);

    return *name != '.' && n > e && !strcmp(name + n - e, PROF_ENDING);
}

static bool job_is_archive(const char *name)
{
    size_t n = strlen(name), e = strlen(PROF_ARCHIVE_ENDING);

    return *name != '.' && n > e && !strcmp(name + n - e, PROF_ARCHIVE_ENDING);
}

struct files {
    WR_VEC(struct prof_file) v;
};

static void job_read_profile(struct prof_job *j, struct files *files, const char *path)
{
    struct wr_err one = {0};
    struct prof_file f;

    if (prof_file_read(&f, path, &one))
        wr_vec_push(&files->v, f);
    else
        prof_job_warn(j, "%s", one.text);
}

static bool job_read_bytes(struct wr_str *ret, const char *path, struct wr_err *err)
{
    uint64_t len;
    int fd = prof_file_open(path, &len, err);
    char part[65536];
    ssize_t n;

    if (fd < 0)
        return false;
    while ((n = read(fd, part, sizeof part)) > 0)
        wr_str_addn(ret, part, (size_t)n);
    close(fd);
    return n == 0 || wr_fail_errno(err, "cannot read %s; try again", path);
}

static void job_read_archive(struct prof_job *j, struct files *files, const char *path)
{
    struct wr_str bytes = {0};
    struct wr_err one = {0};
    struct prof_file f;
    size_t at = 0;

    if (!job_read_bytes(&bytes, path, &one))
        prof_job_warn(j, "%s", one.text);
    while (prof_archive_next(&f, path, bytes.s, bytes.n, &at, &one)) {
        if (one.code == WR_NONE)
            wr_vec_push(&files->v, f);
        else
            prof_job_warn(j, "%s", one.text);
        one = (struct wr_err){0};
    }
    if (at < bytes.n)
        prof_job_warn(j, "%s is cut short or damaged behind byte %zu; what follows is left out",
                      path, at);
    wr_str_fini(&bytes);
}

bool prof_job_read(struct prof_job *ret, const char *dir, struct wr_err *err)
{
    DIR *d = opendir(dir);
    struct files found = {0};
    struct prof_job j = {0};
    const struct dirent *e;

    if (!d)
        return wr_fail_read(err, "cannot read %s; name the directory of a job's profiles", dir);
    while ((e = readdir(d))) {
        char *path = prof_job_name("%s/%s", dir, e->d_name);
        struct stat st;

        if ((job_is_profile(e->d_name) || job_is_archive(e->d_name)) && !lstat(path, &st))
            wr_input_note(&st);
        if (job_is_profile(e->d_name))
            job_read_profile(&j, &found, path);
        else if (job_is_archive(e->d_name))
            job_read_archive(&j, &found, path);
        free(path);
    }
    closedir(d);
    bool ok = found.v.n > 0;

    if (!ok && j.warnings.n)
        wr_fail(err, WR_INPUT, "%.*s", (int)strcspn(j.warnings.s, "\n"), j.warnings.s);
    else if (!ok)
        wr_fail(err, WR_INPUT,
                "no profiles in %s; could the job write there, and was libweir-prof.so preloaded?",
                dir);
    size_t n = found.v.n;

    ok = ok && prof_job_make(&j, found.v.v, n, err);
    if (ok) {
        *ret = j;
        return true;
    }
    for (size_t i = 0; i < n; i++)
        prof_file_fini(&found.v.v[i]);
    wr_vec_fini(&found.v);
    wr_str_fini(&j.warnings);
    return false;
}

void prof_job_fini(struct prof_job *j)
{
    for (size_t i = 0; i < j->nfiles; i++)
        prof_file_fini(&j->file[i]);
    free(j->file);
    for (size_t i = 0; i < j->entities.n; i++)
        free(j->entities.v[i].name);
    wr_vec_fini(&j->apps);
    wr_vec_fini(&j->procs);
    wr_vec_fini(&j->threads);
    wr_vec_fini(&j->entities);
    wr_vec_fini(&j->cells);
    wr_vec_fini(&j->ends);
    wr_vec_fini(&j->uses);
    wr_str_fini(&j->warnings);
    *j = (struct prof_job){0};
}
