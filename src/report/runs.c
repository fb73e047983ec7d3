/* runs.c -- reads groups of run files: their place in a study, and the times of their jobs
 * (runs.h).
 *
 * A run file is opened, read into a struct report_member and closed again. Incomplete runs are left
 * out of directories and refused by name. Members of a directory are ordered by their number in the
 * study, then by name.
 */
#include "report/runs.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "base/units.h"

const char *const report_measure_names[] = {
    [REPORT_ELAPSED] = "elapsed", [REPORT_COMPUTE] = "compute", [REPORT_COMM] = "comm",
    [REPORT_IO] = "io",           [REPORT_IDLE] = "idle",       [REPORT_MESSAGE] = "latency",
};

/* What `cls` a job's own messages have; those inside a node cross no network. */
#define OWN_MESSAGES "class IN ('message_point', 'message_collective')"

/* ---- one run file ---- */

/* The jobs of a member while its run file is read. */
struct reading {
    struct report_runs *runs;
    struct report_member *m;
    WR_VEC(struct report_job) jobs;
};

static double runs_real(const struct run_rows *q, int col)
{
    return run_rows_type(q, col) == RUN_T_NULL ? NAN : run_rows_real(q, col);
}

static bool runs_read_job(void *ctx, const struct run_rows *q)
{
    struct reading *in = ctx;
    struct report_job j = {.app = run_rows_int(q, 0),
                           .name = wr_arena_strdup(&in->runs->arena, run_rows_text(q, 1, NULL)),
                           .ranks = (uint64_t)run_rows_int(q, 2),
                           .elapsed_max_ns = runs_real(q, 3),
                           .message_p99_ns = NAN};

    for (int i = 0; i < REPORT_MESSAGE; i++)
        j.ns[i] = runs_real(q, 4 + i);
    j.ns[REPORT_MESSAGE] = NAN;
    wr_vec_push(&in->jobs, j);
    return in->jobs.n < UINT16_MAX;
}

static bool runs_read_choice(void *ctx, const struct run_rows *q)
{
    struct reading *in = ctx;
    struct report_member *m = in->m;

    if (m->nchoices == REPORT_MOST_AXES)
        return false;
    m->choice[m->nchoices++] = (struct report_choice){
        wr_arena_strdup(&in->runs->arena, run_rows_text(q, 0, NULL)),
        wr_arena_strdup(&in->runs->arena, run_rows_text(q, 1, NULL)),
    };
    return true;
}

static bool runs_read_place(void *ctx, const struct run_rows *q)
{
    struct reading *in = ctx;

    in->m->study = wr_arena_strdup(&in->runs->arena, run_rows_text(q, 0, NULL));
    if (run_rows_type(q, 1) != RUN_T_NULL)
        in->m->place = run_rows_int(q, 1);
    in->m->of = run_rows_int(q, 2);
    return false;
}

/* Mean and 99th percentile of a histogram, cell by cell in ascending order. */
struct cells {
    double sum_ns, n;
    double below, at_n, q; /* the quantile is in the cell where at_n of n is passed */
    double p99_ns;
};

static bool runs_read_mean(void *ctx, const struct run_rows *q)
{
    struct cells *c = ctx;

    c->n = run_rows_real(q, 0);
    c->sum_ns = run_rows_real(q, 1);
    return false;
}

static bool runs_read_cell(void *ctx, const struct run_rows *q)
{
    struct cells *c = ctx;
    double low = run_rows_real(q, 0), high = run_rows_real(q, 1), n = run_rows_real(q, 2);

    if (c->below + n > c->at_n) {
        c->p99_ns = low + (high - low) * (c->at_n - c->below + 0.5) / (n + 0.5);
        return false;
    }
    c->below += n;
    return true;
}

static bool runs_read_latency(struct run_reader *r, struct report_job *j, struct wr_err *err)
{
    struct cells c = {.p99_ns = NAN};
    char app[24];

    snprintf(app, sizeof app, "%lld", (long long)j->app);
    if (!run_each(
            r,
            /* Of the view `latency`, the percentiles would be worked out as well. */
            "SELECT sum(n), sum(sum_ps) / 1000.0 FROM fact_hist WHERE app = CAST(?1 AS INTEGER) "
            "AND " OWN_MESSAGES,
            app, runs_read_mean, &c, err))
        return false;
    if (!(c.n > 0))
        return true;
    j->ns[REPORT_MESSAGE] = c.sum_ns / c.n;
    c.at_n = 0.99 * (c.n - 1);
    if (!run_each(
            r,
            "SELECT low_ns, high_ns, sum(n) FROM latency_hist WHERE app = CAST(?1 AS INTEGER) "
            "AND " OWN_MESSAGES " GROUP BY low_ns, high_ns ORDER BY low_ns",
            app, runs_read_cell, &c, err))
        return false;
    j->message_p99_ns = c.p99_ns;
    return true;
}

static bool runs_read_member(struct report_runs *runs, struct run_reader *r,
                             struct report_member *m, struct wr_err *err)
{
    struct reading in = {.runs = runs, .m = m};
    bool ok =
        run_each(r,
                 "SELECT substr(key, 9), value FROM meta WHERE key GLOB 'axis.[0-9][0-9].*' "
                 "ORDER BY key",
                 NULL, runs_read_choice, &in, err) &&
        run_each(
            r,
            "SELECT value, (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'study_place'), "
            "(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'study_runs') FROM meta WHERE "
            "key = 'study'",
            NULL, runs_read_place, &in, err) &&
        run_each(r,
                 "SELECT app, name, ranks, elapsed_ns, elapsed_mean_ns, compute_mean_ns, "
                 "comm_mean_ns, io_mean_ns, idle_mean_ns FROM app_stat ORDER BY app",
                 NULL, runs_read_job, &in, err);

    for (size_t i = 0; ok && i < in.jobs.n; i++)
        ok = runs_read_latency(r, &in.jobs.v[i], err);
    m->njobs = in.jobs.n;
    m->job = wr_arena_alloc(&runs->arena, (in.jobs.n + 1) * sizeof *m->job);
    if (in.jobs.n)
        memcpy(m->job, in.jobs.v, in.jobs.n * sizeof *m->job);
    wr_vec_fini(&in.jobs);
    return ok;
}

/* Does the member have all the choices in `want`? "axis=choice,axis=choice" */
static bool runs_is_chosen(const struct report_member *m, char *want)
{
    bool ok = true;

    for (char *next; ok && want && *want; want = next) {
        char *equals = strchr(want, '=');

        next = strchr(want, ',');
        if (next)
            *next = '\0';
        if (equals && (!next || equals < next)) {
            *equals = '\0';
            const char *label = report_label(m, want);

            ok = label && !strcmp(label, equals + 1);
            *equals = '=';
        } else {
            ok = false;
        }
        if (next)
            *next++ = ',';
    }
    return ok;
}

/* `named`: by itself, not found in a directory. */
static bool runs_add_file(struct report_runs *runs, const char *path, bool named, char *want,
                          struct wr_err *err)
{
    struct report_member m = {
        .path = wr_arena_strdup(&runs->arena, path), .study = "", .place = -1};
    struct run_reader *r;
    struct wr_err inner;

    if (!run_open_until(&r, path, runs->access.deadline_ns, named ? err : &inner)) {
        runs->left_out += !named;
        return !named;
    }
    if (run_info(r)->status != RUN_COMPLETE) {
        const char *status = run_status_name(run_info(r)->status);

        run_close(r);
        if (named)
            return wr_fail(err, WR_INPUT, "%s is %s; give runs that are complete", path, status);
        runs->left_out++;
        return true;
    }
    m.seed = run_info(r)->seed;
    bool ok = runs_read_member(runs, r, &m, err);

    run_close(r);
    if (ok && runs_is_chosen(&m, want))
        wr_vec_push(&runs->member, m);
    return ok;
}

/* ---- directories ---- */

static int runs_by_place(const void *a, const void *b)
{
    const struct report_member *x = a, *y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return strcmp(x->path, y->path);
}

static bool runs_is_run_file(const char *name)
{
    size_t n = strlen(name);

    return n > 5 && !strcmp(name + n - 5, ".weir");
}

static bool runs_is_link(const char *path)
{
    struct stat st;

    return lstat(path, &st) || !S_ISREG(st.st_mode);
}

static bool runs_add_dir(struct report_runs *runs, const char *dir, char *want, struct wr_err *err)
{
    size_t before = runs->member.n;
    DIR *d = opendir(dir);
    bool ok = true, profiles = false;

    if (!d)
        return wr_fail_read(err, "cannot read the directory %s; check its name", dir);
    for (const struct dirent *e; ok && (e = readdir(d));) {
        profiles = profiles || strstr(e->d_name, ".wprof");
        if (runs_is_run_file(e->d_name)) {
            struct wr_str path = {0};

            wr_str_addf(&path, "%s/%s", dir, e->d_name);
            if (!runs->access.no_links || !runs_is_link(path.s))
                ok = runs_add_file(runs, path.s, false, want, err);
            wr_str_fini(&path);
        }
    }
    closedir(d);
    if (ok && runs->member.n > before)
        qsort(runs->member.v + before, runs->member.n - before, sizeof *runs->member.v,
              runs_by_place);
    if (ok && runs->member.n == before && want)
        return wr_fail(err, WR_INPUT,
                       "no complete run of %s has %s; `weir study show %s` lists what is there",
                       dir, want, dir);
    if (ok && runs->member.n == before && profiles)
        return wr_fail(err, WR_INPUT,
                       "%s holds profiles; make a run file of them with `weir profile show %s -o "
                       "RUN`, and report that",
                       dir, dir);
    if (ok && runs->member.n == before)
        return wr_fail(err, WR_INPUT, "%s holds no complete run file; run a study into it", dir);
    return ok;
}

static bool runs_is_dir(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Splits DIR:axis=choice at its colon, in place; NULL: it is no such thing. */
static char *runs_split_choices(char *operand)
{
    for (char *colon = operand; (colon = strchr(colon, ':')); colon++) {
        *colon = '\0';
        if (runs_is_dir(operand) && strchr(colon + 1, '='))
            return colon + 1;
        *colon = ':';
    }
    return NULL;
}

bool report_is_group(const char *operand)
{
    char *copy = wr_strdup(operand);
    bool group = runs_is_dir(operand) || runs_split_choices(copy);

    free(copy);
    return group;
}

static bool runs_add_operand(struct report_runs *runs, const char *operand, struct wr_err *err)
{
    char *copy = wr_arena_strdup(&runs->arena, operand), *want;

    if (runs_is_dir(operand))
        return runs_add_dir(runs, operand, NULL, err);
    if ((want = runs_split_choices(copy)))
        return runs_add_dir(runs, copy, want, err);
    return runs_add_file(runs, operand, true, NULL, err);
}

bool report_runs_open(struct report_runs *ret, const char *const *operands, size_t n,
                      struct wr_err *err)
{
    return report_runs_open_for(ret, operands, n, &(struct report_access){0}, err);
}

bool report_runs_open_for(struct report_runs *ret, const char *const *operands, size_t n,
                          const struct report_access *access, struct wr_err *err)
{
    struct report_runs runs = {.access = *access};

    for (size_t i = 0; i < n; i++)
        if (!runs_add_operand(&runs, operands[i], err)) {
            report_runs_close(&runs);
            return false;
        }
    *ret = runs;
    return true;
}

void report_runs_close(struct report_runs *r)
{
    wr_vec_fini(&r->member);
    wr_arena_fini(&r->arena);
}

bool report_member_open(struct run_reader **ret, const struct report_member *m, struct wr_err *err)
{
    if (!m->run)
        return run_open(ret, m->path, err);
    *ret = m->run;
    return true;
}

void report_member_close(const struct report_member *m, struct run_reader *r)
{
    if (r != m->run)
        run_close(r);
}

/* ---- questions ---- */

const struct report_job *report_job_named(const struct report_member *m, const char *name)
{
    for (size_t i = 0; i < m->njobs; i++)
        if (!strcmp(m->job[i].name, name))
            return &m->job[i];
    return NULL;
}

const char *report_label(const struct report_member *m, const char *axis)
{
    for (size_t i = 0; i < m->nchoices; i++)
        if (!strcmp(m->choice[i].axis, axis))
            return m->choice[i].label;
    return NULL;
}

bool report_alike(const struct report_member *a, const struct report_member *b, const bool *loads)
{
    if (a->nchoices != b->nchoices)
        return false;
    for (size_t i = 0; i < a->nchoices; i++) {
        const char *label = report_label(b, a->choice[i].axis);

        if ((loads && loads[i]) || !strcmp(a->choice[i].axis, "seed"))
            continue;
        if (!label || strcmp(label, a->choice[i].label) != 0)
            return false;
    }
    return true;
}

static bool runs_same_jobs(const struct report_member *a, const struct report_member *b)
{
    if (a->njobs != b->njobs)
        return false;
    for (size_t i = 0; i < a->njobs; i++)
        if (!report_job_named(b, a->job[i].name))
            return false;
    return true;
}

void report_workload_axes(const struct report_runs *r, bool *loads)
{
    memset(loads, 0, REPORT_MOST_AXES * sizeof *loads);
    if (!r->member.n)
        return;
    const struct report_member *first = &r->member.v[0];

    for (size_t axis = 0; axis < first->nchoices; axis++) {
        bool only[REPORT_MOST_AXES] = {0};

        only[axis] = true;
        for (size_t i = 0; i < r->member.n && !loads[axis]; i++)
            for (size_t k = 0; k < i && !loads[axis]; k++)
                loads[axis] = !runs_same_jobs(&r->member.v[i], &r->member.v[k]) &&
                              report_alike(&r->member.v[i], &r->member.v[k], only);
    }
}

struct column {
    double *at;
    size_t n;
};

static bool runs_read_rank(void *ctx, const struct run_rows *q)
{
    struct column *c = ctx;
    int64_t rank = run_rows_int(q, 0);

    if (rank >= 0 && (uint64_t)rank < c->n)
        c->at[rank] = runs_real(q, 1);
    return true;
}

bool report_rank_times(const struct report_member *m, const struct report_job *job,
                       enum report_measure what, double *ret, size_t n, struct wr_err *err)
{
    struct column c = {ret, n};
    struct run_reader *r;
    char sql[128], app[24];

    for (size_t i = 0; i < n; i++)
        ret[i] = NAN;
    if (what == REPORT_MESSAGE)
        return true;
    snprintf(app, sizeof app, "%lld", (long long)job->app);
    snprintf(sql, sizeof sql, "SELECT rank, %s_ns FROM rank_stat WHERE app = CAST(?1 AS INTEGER)",
             report_measure_names[what]);
    if (!report_member_open(&r, m, err))
        return false;
    bool ok = run_each(r, sql, app, runs_read_rank, &c, err);

    report_member_close(m, r);
    return ok;
}
