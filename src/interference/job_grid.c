/* job_grid.c -- places the slices of several run files on one grid of time.
 *
 * Steps: read each file (source_priv.h), find the position of its origin on the common clock,
 * choose the length of a slice, then add each job's bytes to the slices of the grid. Slices that
 * do not start on an edge of the grid are spread in proportion to time.
 *
 * Invariant: the bytes of a job on the grid add up to the bytes of its slices in the file.
 */
#include "interference/job_grid.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/str.h"
#include "base/units.h"
#include "source_priv.h"

const char *const interference_timed_names[] = {"I/O phase", "life", "slices"};

/* Edges closer than this fraction of a slice are equal. */
static const double same_edge = 1e-6;
/* Edges further apart are worth a note: the bytes of a slice may be seen in its neighbour. */
static const double edge_matters = 1e-3;
/* A process that moves less than this fraction of the busiest of its job does not take part. */
static const double next_to_nothing = 1e-3;
enum { MOST_CELLS = 200000000 }; /* of all series: 1.6 GB of doubles */

__attribute__((format(printf, 2, 3))) static void grid_add_note(struct interference_set *s,
                                                                const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < s->notes.n; i++)
        if (!strcmp(s->notes.v[i], text))
            return;
    wr_vec_push(&s->notes, wr_arena_strdup(&s->arena, text));
}

static struct wr_text grid_seconds(double s)
{
    return wr_text_time(s * 1e12);
}

/* ---- where each file's origin lies on the grid ---- */

static double grid_first_time(const struct source *s)
{
    double first = INFINITY;

    for (size_t i = 0; i < s->slices.n; i++)
        first = fmin(first, s->slices.v[i].t_s);
    return first;
}

static bool grid_place_by_clock(struct interference_set *set, const struct source *src, size_t n,
                                double *at, struct wr_err *err)
{
    size_t clocked = 0, without = 0;

    for (size_t i = 0; i < n; i++) {
        clocked += src[i].has_epoch;
        without = src[i].has_epoch ? without : i;
    }
    if (clocked && clocked < n)
        return wr_fail(err, WR_INPUT,
                       "%s does not record the wall clock of its origin and others do, so they "
                       "cannot be aligned; set align to start to let all begin together",
                       src[without].path);
    set->clocked = clocked;
    for (size_t i = 0; i < n; i++)
        if (clocked && (!i || src[i].epoch_ns < set->epoch_ns))
            set->epoch_ns = src[i].epoch_ns;
    for (size_t i = 0; i < n; i++)
        at[i] = clocked ? (double)(src[i].epoch_ns - set->epoch_ns) / 1e9 : 0;
    return true;
}

static void grid_place_by_start(const struct source *src, size_t n, double *at)
{
    for (size_t i = 0; i < n; i++)
        at[i] = -grid_first_time(&src[i]);
}

/* ---- the grid ---- */

static bool grid_is_multiple(double a, double b)
{
    double k = a / b;

    return fabs(k - round(k)) < same_edge * k;
}

static bool grid_choose_slice(struct interference_set *set, const struct source *src, size_t n,
                              double requested, struct wr_err *err)
{
    double longest = 0;

    for (size_t i = 0; i < n; i++)
        longest = fmax(longest, src[i].slice_s);
    set->slice_s = requested > 0 ? requested : longest;
    if (requested > 0 && requested < longest * (1 - same_edge))
        return wr_fail(err, WR_INPUT,
                       "slice: shorter than the recorded slices of %s; give at least that",
                       grid_seconds(longest).s);
    for (size_t i = 0; i < n; i++) {
        if (grid_is_multiple(set->slice_s, src[i].slice_s))
            continue;
        if (requested > 0)
            grid_add_note(
                set,
                "The slices of %s, %s long, do not fit into those of %s: bytes are spread "
                "evenly within them.",
                src[i].path, grid_seconds(src[i].slice_s).s, grid_seconds(set->slice_s).s);
        else
            return wr_fail(err, WR_INPUT,
                           "the slices of %s are %s long, which do not fit into those of %s; "
                           "record with the same slice, or set slice here to spread them",
                           src[i].path, grid_seconds(src[i].slice_s).s, grid_seconds(longest).s);
    }
    for (size_t i = 0; i < n; i++)
        if (src[i].slice_s < longest * (1 - same_edge))
            grid_add_note(
                set, "The slices of %s are %s long and those of others %s: the longer are used.",
                src[i].path, grid_seconds(src[i].slice_s).s, grid_seconds(longest).s);
    return true;
}

/* The grid's edges are multiples of its slice on the wall clock, or since the origin. */
static void grid_align_origin(struct interference_set *set, double *at, size_t n)
{
    if (!set->clocked)
        return;
    double slice_ns = round(set->slice_s * 1e9);
    double past = fmod((double)(set->epoch_ns % (int64_t)slice_ns), slice_ns) / 1e9;

    set->epoch_ns -= (int64_t)llround(past * 1e9);
    for (size_t i = 0; i < n; i++)
        at[i] += past;
}

static double grid_edge_offset(const struct interference_set *set, double t_s)
{
    double k = t_s / set->slice_s;

    return fabs(k - round(k));
}

static double grid_end(const struct source *src, const double *at, size_t n)
{
    double end = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < src[i].slices.n; k++) {
            const struct source_slice *v = &src[i].slices.v[k];

            end = fmax(end, at[i] + v->t_s + v->dt_s);
        }
    return end;
}

static bool grid_set_size(struct interference_set *set, const struct source *src, const double *at,
                          size_t n, struct wr_err *err)
{
    double end = grid_end(src, at, n), cells = 0, gap = 0;

    for (size_t i = 0; i < n; i++)
        gap = fmax(gap, at[i]);
    /* At least one, also when a slice is much longer than the runs. */
    double slices = fmax(1, ceil(end / set->slice_s - same_edge));

    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < src[i].apps.n; a++)
            cells += slices * (double)(src[i].apps.v[a].nranks + 1);
    if (!(cells <= MOST_CELLS))
        return wr_fail(err, WR_INPUT,
                       "from the first slice to the last there are %.6g s and %.4g slices%s; give "
                       "a longer slice, or fewer runs",
                       end, slices,
                       gap > end / 2 ? ", because the runs are far apart on the clock" : "");
    set->nslices = (size_t)slices;
    return true;
}

/* ---- bytes on the grid ---- */

/* Adds one slice of a file. One that spans several slices of the grid is spread by time. */
static void grid_add_slice(const struct interference_set *set, double *row, double t_s, double dt_s,
                           double bytes)
{
    assert(t_s >= -same_edge * set->slice_s && dt_s > 0 && set->nslices > 0);
    double from = t_s / set->slice_s, to = (t_s + dt_s) / set->slice_s;

    if (fabs(from - round(from)) < same_edge)
        from = round(from);
    if (fabs(to - round(to)) < same_edge)
        to = round(to);
    size_t first = wr_index(from, set->nslices),
           last = wr_index(fmax(ceil(to) - 1, from), set->nslices);
    double rest = bytes;

    for (size_t k = first; k < last && k < set->nslices; k++) {
        double part = bytes * (fmin(to, (double)k + 1) - fmax(from, (double)k)) / (to - from);

        row[k] += part;
        rest -= part;
    }
    row[last < set->nslices ? last : set->nslices - 1] += rest;
}

/* Slices of one process, [first, after). */
struct active_range {
    size_t first, after;
};

static struct active_range grid_active_slices(const struct interference_set *set,
                                              const struct interference_job *j, size_t r)
{
    struct active_range s = {set->nslices, 0};

    for (size_t k = 0; k < set->nslices; k++)
        if (interference_bytes(set, j, r, k) > 0) {
            s.first = k < s.first ? k : s.first;
            s.after = k + 1;
        }
    return s;
}

/* The I/O phase of a job: of the processes that take part, from the first byte of the operation to
 * the last, or to the end of the flush after it. A slice is cut to the process's own first and last
 * I/O. False: not recorded for all of them. */
static bool grid_find_phase(const struct interference_set *set, struct interference_job *j,
                            const struct source_app *app, double at, const uint32_t *flushed_to)
{
    double from = INFINITY, to = -INFINITY;

    for (size_t r = 0; r < interference_rows(j); r++) {
        struct source_phase own =
            r < app->phase.n ? app->phase.v[r] : (struct source_phase){NAN, NAN};
        struct active_range s = grid_active_slices(set, j, r);
        size_t after = s.after > flushed_to[r] ? s.after : flushed_to[r];

        if (!j->counts[r])
            continue;
        if (j->whole_only || isnan(own.from_s) || isnan(own.to_s))
            return false;
        from = fmin(from, fmax((double)s.first * set->slice_s, at + own.from_s));
        to = fmax(to, fmin((double)after * set->slice_s, at + own.to_s));
    }
    if (!(to > from))
        return false;
    j->start_s = from;
    j->runtime_s = to - from;
    return true;
}

static void grid_time_job(const struct interference_set *set, struct interference_job *j,
                          const struct source_app *app, double at, const uint32_t *flushed_to)
{
    double seen_from = (double)j->first * set->slice_s, seen_to = (double)j->after * set->slice_s;

    j->start_s = isnan(app->start_s) ? seen_from : at + app->start_s;
    j->life_s = app->elapsed_s > 0 ? app->elapsed_s : NAN;
    j->timed = isnan(j->life_s) ? INTERFERENCE_SLICES : INTERFERENCE_LIFE;
    j->runtime_s = isnan(j->life_s) ? seen_to - j->start_s : j->life_s;
    if (grid_find_phase(set, j, app, at, flushed_to))
        j->timed = INTERFERENCE_IO_PHASE;
}

/* Volume, processes that take part, and the slices with bytes. */
static void grid_measure_job(const struct interference_set *set, struct interference_job *j)
{
    double *moved = wr_zalloc(interference_rows(j), sizeof *moved), most = 0;

    j->first = set->nslices;
    j->after = 0;
    for (size_t r = 0; r < interference_rows(j); r++) {
        for (size_t k = 0; k < set->nslices; k++) {
            double b = interference_bytes(set, j, r, k);

            if (!(b > 0))
                continue;
            moved[r] += b;
            j->first = k < j->first ? k : j->first;
            j->after = k + 1 > j->after ? k + 1 : j->after;
        }
        j->volume_b += moved[r];
        most = fmax(most, moved[r]);
    }
    for (size_t r = 0; r < interference_rows(j); r++) {
        j->counts[r] = moved[r] > next_to_nothing * most;
        j->nactive += j->counts[r];
    }
    free(moved);
}

/* Extends `to`, the slice after the last, to the end of a slice of the file. */
static void grid_extend(const struct interference_set *set, uint32_t *to, double end_s)
{
    double after = ceil(end_s / set->slice_s - same_edge);
    uint32_t k = (uint32_t)wr_index(after, set->nslices);

    if (k > *to)
        *to = k;
}

static void grid_add_job(struct interference_set *set, const struct source *src, size_t a,
                         double at)
{
    const struct source_app *app = &src->apps.v[a];
    struct interference_job *j = &set->job[set->njobs];
    uint32_t *flushed_to;
    bool any = false;

    *j = (struct interference_job){.name = app->name,
                                   .path = src->path,
                                   .host = src->host,
                                   .mode = src->mode,
                                   .nranks = app->nranks ? app->nranks : 1,
                                   .nnodes = app->nnodes ? app->nnodes : 1,
                                   .whole_only = !app->by_rank};
    j->bytes = wr_zalloc(interference_rows(j) * set->nslices, sizeof *j->bytes);
    j->busy_to = wr_zalloc(interference_rows(j), sizeof *j->busy_to);
    j->counts = wr_zalloc(interference_rows(j), sizeof *j->counts);
    flushed_to = wr_zalloc(interference_rows(j), sizeof *flushed_to);
    j->node = wr_alloc(interference_rows(j) * sizeof *j->node);
    for (size_t r = 0; r < interference_rows(j); r++)
        j->node[r] = r < app->node.n ? app->node.v[r] : -1;
    for (size_t i = 0; i < src->slices.n; i++) {
        const struct source_slice *v = &src->slices.v[i];

        if (v->app != a)
            continue;
        size_t rank = app->by_rank ? v->rank : 0;

        grid_extend(set, &j->busy_to[rank], at + v->t_s + v->dt_s);
        if (v->what == SOURCE_FLUSHES)
            grid_extend(set, &flushed_to[rank], at + v->t_s + v->dt_s);
        if (v->what != SOURCE_MOVES)
            continue;
        any = true;
        grid_add_slice(set, j->bytes + rank * set->nslices, at + v->t_s, v->dt_s, v->bytes);
    }
    if (!any) {
        grid_add_note(set, "Job %s of %s moves nothing and is left out.", app->name, src->path);
        free(j->bytes);
        free(j->busy_to);
        free(j->node);
        free(j->counts);
        free(flushed_to);
        return;
    }
    grid_measure_job(set, j);
    grid_time_job(set, j, app, at, flushed_to);
    free(flushed_to);
    set->njobs++;
}

/* ---- what a reader should know ---- */

static bool grid_several_hosts(const struct source *src, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (strcmp(src[i].host, src[0].host) != 0)
            return true;
    return false;
}

static void grid_note_clocks(struct interference_set *set, const struct source *src, size_t n)
{
    bool hosts = grid_several_hosts(src, n);

    for (size_t i = 0; i < n && set->clocked; i++) {
        if (fabs(src[i].clock_step_s) > set->slice_s / 2)
            grid_add_note(
                set,
                "The clock of %s jumped by %s during the run, more than half a slice: what "
                "overlaps with it is not sure.",
                src[i].path, grid_seconds(fabs(src[i].clock_step_s)).s);
        if (hosts && src[i].clock_error_s > set->slice_s / 2)
            grid_add_note(set,
                          "The clock of %s (%s) may be off by %s, more than half a slice, and the "
                          "runs are of several machines: synchronise their clocks.",
                          src[i].path, src[i].host, grid_seconds(src[i].clock_error_s).s);
    }
}

static void grid_note_files(struct interference_set *set, const struct source *src,
                            const double *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (src[i].incomplete)
            grid_add_note(set, "%s is incomplete: its job may have gone on.", src[i].path);
        if (grid_edge_offset(set, at[i]) > edge_matters &&
            grid_is_multiple(set->slice_s, src[i].slice_s))
            grid_add_note(set,
                          "The slices of %s do not begin on the edges of the others': bytes are "
                          "spread evenly within them.",
                          src[i].path);
    }
    for (size_t i = 0; i < set->njobs; i++) {
        const struct interference_job *j = &set->job[i];

        if (j->whole_only)
            grid_add_note(set, "Job %s has no slices per process: it counts as a whole.", j->name);
        else if (j->nactive < j->nranks)
            grid_add_note(set,
                          "%zu of %zu processes of job %s move next to nothing and are left out.",
                          j->nranks - j->nactive, j->nranks, j->name);
    }
}

static const char *grid_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Jobs of different files with one name get the file's name added. */
static void grid_make_names_unique(struct interference_set *set)
{
    for (size_t i = 0; i < set->njobs; i++) {
        bool twice = false;

        for (size_t k = 0; k < set->njobs; k++)
            twice |= k != i && !strcmp(set->job[i].name, set->job[k].name);
        if (!twice)
            continue;
        const char *base = set->job[i].name;

        for (size_t k = i; k < set->njobs; k++)
            if (!strcmp(set->job[k].name, base))
                set->job[k].name =
                    wr_arena_printf(&set->arena, "%s@%s", base, grid_file_name(set->job[k].path));
    }
    for (size_t i = 0; i < set->njobs; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(set->job[i].name, set->job[k].name))
                set->job[i].name = wr_arena_printf(&set->arena, "%s#%zu", set->job[i].name, i + 1);
}

static bool grid_lay_out(struct interference_set *set, const struct source *src, size_t n,
                         const struct interference_load *how, struct wr_err *err)
{
    double *at = wr_zalloc(n, sizeof *at);
    size_t apps = 0;
    bool ok = true;

    if (how->align == INTERFERENCE_BY_CLOCK)
        ok = grid_place_by_clock(set, src, n, at, err);
    else
        grid_place_by_start(src, n, at);
    ok = ok && grid_choose_slice(set, src, n, how->slice_s, err);
    if (ok && how->most)
        set->slice_s *= fmax(1, ceil(grid_end(src, at, n) / set->slice_s / (double)how->most));
    if (ok)
        grid_align_origin(set, at, n);
    ok = ok && grid_set_size(set, src, at, n, err);
    for (size_t i = 0; i < n; i++)
        apps += src[i].apps.n;
    set->job = wr_arena_alloc(&set->arena, (apps + 1) * sizeof *set->job);
    for (size_t i = 0; ok && i < n; i++)
        for (size_t a = 0; a < src[i].apps.n; a++)
            grid_add_job(set, &src[i], a, at[i]);
    if (ok) {
        grid_make_names_unique(set);
        grid_note_clocks(set, src, n);
        grid_note_files(set, src, at, n);
    }
    free(at);
    return ok;
}

bool interference_load(struct interference_set *ret, const char *const *paths, size_t n,
                       const struct interference_load *how, struct wr_err *err)
{
    struct interference_set set = {0};
    struct source *src = wr_zalloc(n + 1, sizeof *src);
    size_t read = 0;
    bool ok = true;

    for (; ok && read < n; read += ok)
        ok = source_read(&src[read], paths[read], how->op, how->most, &set.arena, err);
    ok = ok && grid_lay_out(&set, src, n, how, err);
    for (size_t i = 0; i < read; i++)
        source_fini(&src[i]);
    free(src);
    if (!ok) {
        interference_set_fini(&set);
        return false;
    }
    *ret = set;
    return true;
}

void interference_set_fini(struct interference_set *s)
{
    for (size_t i = 0; i < s->njobs; i++) {
        free(s->job[i].bytes);
        free(s->job[i].busy_to);
        free(s->job[i].node);
        free(s->job[i].counts);
    }
    wr_vec_fini(&s->notes);
    wr_arena_fini(&s->arena);
    *s = (struct interference_set){0};
}

double interference_job_bytes(const struct interference_set *s, const struct interference_job *j,
                              size_t slice)
{
    assert(slice < s->nslices);
    double sum = 0;

    for (size_t r = 0; r < interference_rows(j); r++)
        sum += interference_bytes(s, j, r, slice);
    return sum;
}
