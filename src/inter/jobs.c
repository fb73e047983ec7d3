#include "inter/jobs.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/str.h"
#include "base/units.h"
#include "source_priv.h"

/* Slices on edges that differ by less than this part of one are on the same edge. */
static const double same_edge = 1e-6;
/* A process that moves less than this part of what the busiest of its job moves takes no part. */
static const double next_to_nothing = 1e-3;
enum { MOST_CELLS = 200000000 };

void inter_note(struct inter_set *s, const char *fmt, ...)
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

static struct wr_text seconds(double s)
{
    return wr_text_time(s * 1e12);
}

/* ---- where each file's origin lies on the grid ---- */

static double first_time(const struct source *s)
{
    double first = INFINITY;

    for (size_t i = 0; i < s->slices.n; i++)
        first = fmin(first, s->slices.v[i].t_s);
    return first;
}

static bool place_by_clock(struct inter_set *set, const struct source *src, size_t n, double *at,
                           struct wr_err *err)
{
    size_t clocked = 0, without = 0;

    for (size_t i = 0; i < n; i++) {
        clocked += src[i].has_epoch;
        without = src[i].has_epoch ? without : i;
    }
    if (clocked && clocked < n)
        return wr_fail(err, WR_INPUT,
                       "%s does not tell the wall clock of its origin and others do, so they "
                       "cannot be laid side by side; give --align start to let all begin together",
                       src[without].path);
    set->clocked = clocked;
    for (size_t i = 0; i < n; i++)
        if (clocked && (!i || src[i].epoch_ns < set->epoch_ns))
            set->epoch_ns = src[i].epoch_ns;
    for (size_t i = 0; i < n; i++)
        at[i] = clocked ? (double)(src[i].epoch_ns - set->epoch_ns) / 1e9 : 0;
    return true;
}

static void place_by_start(const struct source *src, size_t n, double *at)
{
    for (size_t i = 0; i < n; i++)
        at[i] = -first_time(&src[i]);
}

/* ---- the grid ---- */

static bool is_multiple(double a, double b)
{
    double k = a / b;

    return fabs(k - round(k)) < same_edge * k;
}

static bool choose_slice(struct inter_set *set, const struct source *src, size_t n, double asked,
                         struct wr_err *err)
{
    double longest = 0;

    for (size_t i = 0; i < n; i++)
        longest = fmax(longest, src[i].slice_s);
    set->slice_s = asked > 0 ? asked : longest;
    if (asked > 0 && asked < longest * (1 - same_edge))
        return wr_fail(err, WR_INPUT,
                       "--slice is shorter than the slices of %s that were recorded; give at least "
                       "that",
                       seconds(longest).s);
    for (size_t i = 0; i < n; i++) {
        if (is_multiple(set->slice_s, src[i].slice_s))
            continue;
        if (asked > 0)
            inter_note(set,
                       "The slices of %s, %s long, do not fit into those of %s: bytes are spread "
                       "evenly within them.",
                       src[i].path, seconds(src[i].slice_s).s, seconds(set->slice_s).s);
        else
            return wr_fail(err, WR_INPUT,
                           "the slices of %s are %s long, which do not fit into those of %s; "
                           "record with the same --slice, or spread them with --slice here",
                           src[i].path, seconds(src[i].slice_s).s, seconds(longest).s);
    }
    for (size_t i = 0; i < n; i++)
        if (src[i].slice_s < longest * (1 - same_edge))
            inter_note(set,
                       "The slices of %s are %s long and those of others %s: the longer are used.",
                       src[i].path, seconds(src[i].slice_s).s, seconds(longest).s);
    return true;
}

/* The grid's edges are multiples of its slice on the wall clock, or since the origin. */
static void align_origin(struct inter_set *set, double *at, size_t n)
{
    if (!set->clocked)
        return;
    double slice_ns = round(set->slice_s * 1e9);
    double past = fmod((double)(set->epoch_ns % (int64_t)slice_ns), slice_ns) / 1e9;

    set->epoch_ns -= (int64_t)llround(past * 1e9);
    for (size_t i = 0; i < n; i++)
        at[i] += past;
}

static double edge_off(const struct inter_set *set, double t_s)
{
    double k = t_s / set->slice_s;

    return fabs(k - round(k));
}

static double end_of(const struct source *src, const double *at, size_t n)
{
    double end = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < src[i].slices.n; k++) {
            const struct source_slice *v = &src[i].slices.v[k];

            end = fmax(end, at[i] + v->t_s + v->dt_s);
        }
    return end;
}

static bool size_grid(struct inter_set *set, const struct source *src, const double *at, size_t n,
                      struct wr_err *err)
{
    double end = end_of(src, at, n), cells = 0, gap = 0;

    for (size_t i = 0; i < n; i++)
        gap = fmax(gap, at[i]);
    double slices = ceil(end / set->slice_s - same_edge);

    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < src[i].apps.n; a++)
            cells += slices * (double)(src[i].apps.v[a].nranks + 1);
    if (!(cells <= MOST_CELLS))
        return wr_fail(err, WR_INPUT,
                       "from the first slice to the last there are %.6g s and %.4g slices%s; give "
                       "a longer --slice, or fewer runs",
                       end, slices,
                       gap > end / 2 ? ", because the runs are far apart on the clock" : "");
    set->nslices = (size_t)slices;
    return true;
}

/* ---- bytes on the grid ---- */

/* A slice that spans several of the grid's is spread in proportion to time. */
static void lay(const struct inter_set *set, double *row, double t_s, double dt_s, double bytes)
{
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

static void measure(const struct inter_set *set, struct inter_job *j, const struct source_app *app,
                    double at)
{
    double *moved = wr_zalloc(inter_rows(j), sizeof *moved), most = 0;

    j->first = set->nslices;
    j->after = 0;
    for (size_t r = 0; r < inter_rows(j); r++) {
        for (size_t k = 0; k < set->nslices; k++) {
            double b = inter_bytes(set, j, r, k);

            if (!(b > 0))
                continue;
            moved[r] += b;
            j->first = k < j->first ? k : j->first;
            j->after = k + 1 > j->after ? k + 1 : j->after;
        }
        j->volume_b += moved[r];
        most = fmax(most, moved[r]);
    }
    for (size_t r = 0; r < inter_rows(j); r++) {
        j->counts[r] = moved[r] > next_to_nothing * most;
        j->nactive += j->counts[r];
    }
    free(moved);
    double seen_from = (double)j->first * set->slice_s, seen_to = (double)j->after * set->slice_s;

    j->start_s = isnan(app->start_s) ? seen_from : at + app->start_s;
    j->runtime_s = app->elapsed_s > 0 ? app->elapsed_s : seen_to - j->start_s;
}

static void note_busy(const struct inter_set *set, struct inter_job *j, size_t rank, double end_s)
{
    double after = ceil(end_s / set->slice_s - same_edge);
    uint32_t k = (uint32_t)wr_index(after, set->nslices);

    if (k > j->busy_to[rank])
        j->busy_to[rank] = k;
}

static void add_job(struct inter_set *set, const struct source *src, size_t a, double at)
{
    const struct source_app *app = &src->apps.v[a];
    struct inter_job *j = &set->job[set->njobs];
    bool any = false;

    *j = (struct inter_job){.name = app->name,
                            .path = src->path,
                            .host = src->host,
                            .mode = src->mode,
                            .nranks = app->nranks ? app->nranks : 1,
                            .nnodes = app->nnodes ? app->nnodes : 1,
                            .whole_only = !app->by_rank};
    j->bytes = wr_zalloc(inter_rows(j) * set->nslices, sizeof *j->bytes);
    j->busy_to = wr_zalloc(inter_rows(j), sizeof *j->busy_to);
    j->counts = wr_zalloc(inter_rows(j), sizeof *j->counts);
    j->node = wr_alloc(inter_rows(j) * sizeof *j->node);
    for (size_t r = 0; r < inter_rows(j); r++)
        j->node[r] = r < app->node.n ? app->node.v[r] : -1;
    for (size_t i = 0; i < src->slices.n; i++) {
        const struct source_slice *v = &src->slices.v[i];

        if (v->app != a)
            continue;
        note_busy(set, j, app->by_rank ? v->rank : 0, at + v->t_s + v->dt_s);
        if (v->flush)
            continue;
        any = true;
        lay(set, j->bytes + (app->by_rank ? v->rank : 0) * set->nslices, at + v->t_s, v->dt_s,
            v->bytes);
    }
    if (!any) {
        inter_note(set, "Job %s of %s moves nothing and is left out.", app->name, src->path);
        free(j->bytes);
        free(j->busy_to);
        free(j->node);
        free(j->counts);
        return;
    }
    measure(set, j, app, at);
    set->njobs++;
}

/* ---- what a reader should know ---- */

static bool several_hosts(const struct source *src, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (strcmp(src[i].host, src[0].host) != 0)
            return true;
    return false;
}

static void note_clocks(struct inter_set *set, const struct source *src, size_t n)
{
    bool hosts = several_hosts(src, n);

    for (size_t i = 0; i < n && set->clocked; i++) {
        if (fabs(src[i].clock_step_s) > set->slice_s / 2)
            inter_note(set,
                       "The clock of %s jumped by %s during the run, more than half a slice: what "
                       "overlaps with it is not sure.",
                       src[i].path, seconds(fabs(src[i].clock_step_s)).s);
        if (hosts && src[i].clock_error_s > set->slice_s / 2)
            inter_note(set,
                       "The clock of %s (%s) may be off by %s, more than half a slice, and the "
                       "runs are of several machines: synchronise their clocks.",
                       src[i].path, src[i].host, seconds(src[i].clock_error_s).s);
    }
}

static void note_files(struct inter_set *set, const struct source *src, const double *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (src[i].incomplete)
            inter_note(set, "%s is incomplete: its job may have gone on.", src[i].path);
        if (edge_off(set, at[i]) > 1e-3 && is_multiple(set->slice_s, src[i].slice_s))
            inter_note(set,
                       "The slices of %s do not begin on the edges of the others': bytes are "
                       "spread evenly within them.",
                       src[i].path);
    }
    for (size_t i = 0; i < set->njobs; i++) {
        const struct inter_job *j = &set->job[i];

        if (j->whole_only)
            inter_note(set, "Job %s has no slices per process: it counts as a whole.", j->name);
        else if (j->nactive < j->nranks)
            inter_note(set, "%zu of %zu processes of job %s move next to nothing and are left out.",
                       j->nranks - j->nactive, j->nranks, j->name);
    }
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Jobs of several files may have one name: then the file's is added. */
static void make_names_unique(struct inter_set *set)
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
                    wr_arena_printf(&set->arena, "%s@%s", base, file_name(set->job[k].path));
    }
    for (size_t i = 0; i < set->njobs; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(set->job[i].name, set->job[k].name))
                set->job[i].name = wr_arena_printf(&set->arena, "%s#%zu", set->job[i].name, i + 1);
}

static bool lay_out(struct inter_set *set, const struct source *src, size_t n,
                    const struct inter_load *how, struct wr_err *err)
{
    double *at = wr_zalloc(n, sizeof *at);
    size_t apps = 0;
    bool ok = true;

    if (how->align == INTER_BY_CLOCK)
        ok = place_by_clock(set, src, n, at, err);
    else
        place_by_start(src, n, at);
    ok = ok && choose_slice(set, src, n, how->slice_s, err);
    if (ok && how->most)
        set->slice_s *= fmax(1, ceil(end_of(src, at, n) / set->slice_s / (double)how->most));
    if (ok)
        align_origin(set, at, n);
    ok = ok && size_grid(set, src, at, n, err);
    for (size_t i = 0; i < n; i++)
        apps += src[i].apps.n;
    set->job = wr_arena_alloc(&set->arena, (apps + 1) * sizeof *set->job);
    for (size_t i = 0; ok && i < n; i++)
        for (size_t a = 0; a < src[i].apps.n; a++)
            add_job(set, &src[i], a, at[i]);
    if (ok) {
        make_names_unique(set);
        note_clocks(set, src, n);
        note_files(set, src, at, n);
    }
    free(at);
    return ok;
}

bool inter_load(struct inter_set *ret, const char *const *paths, size_t n,
                const struct inter_load *how, struct wr_err *err)
{
    struct inter_set set = {0};
    struct source *src = wr_zalloc(n + 1, sizeof *src);
    size_t read = 0;
    bool ok = true;

    for (; ok && read < n; read += ok)
        ok = source_read(&src[read], paths[read], how->op, how->most, &set.arena, err);
    ok = ok && lay_out(&set, src, n, how, err);
    for (size_t i = 0; i < read; i++)
        source_fini(&src[i]);
    free(src);
    if (!ok) {
        inter_fini(&set);
        return false;
    }
    *ret = set;
    return true;
}

void inter_fini(struct inter_set *s)
{
    for (size_t i = 0; i < s->njobs; i++) {
        free(s->job[i].bytes);
        free(s->job[i].busy_to);
        free(s->job[i].node);
        free(s->job[i].counts);
    }
    wr_vec_fini(&s->notes);
    wr_arena_fini(&s->arena);
    *s = (struct inter_set){0};
}

double inter_job_bytes(const struct inter_set *s, const struct inter_job *j, size_t slice)
{
    double sum = 0;

    for (size_t r = 0; r < inter_rows(j); r++)
        sum += inter_bytes(s, j, r, slice);
    return sum;
}
