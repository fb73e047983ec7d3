/* validation.c -- reads quantities of run files and pairs simulated with measured ones
 * (validation.h).
 *
 * Owns the queries that say what a quantity is. Every query gives (job, quantity, unit, samples, n,
 * sum, sum of squares): a value that is not a mean over samples has n = 1. Files are read one after
 * the other; then the values are sorted by job and quantity, so that those of one quantity are
 * neighbours.
 */
#include "report/validation.h"

#include <assert.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat/dist.h"
#include "stat/moments.h"

static const double level = 0.95; /* of the intervals */

/* The name of the job `app`; a second one of the same name is "NAME #2". */
#define JOB                                                                                  \
    "coalesce((SELECT name || CASE WHEN k > 1 THEN ' #' || k ELSE '' END FROM (SELECT app, " \
    "name, row_number() OVER (PARTITION BY name ORDER BY app) AS k FROM app_stat) a WHERE "  \
    "a.app = t.app), '')"
#define ONE(expr_) "1, " expr_ ", 0"
#define OVER(expr_) "count(" expr_ "), sum(" expr_ "), sum(1.0 * " expr_ " * " expr_ ")"
#define OF_JOB(name_, unit_, expr_)                                                             \
    "SELECT " JOB ", '" name_ "', '" unit_ "', '', " ONE(expr_) " FROM app_stat t WHERE " expr_ \
                                                                " >= 0"
#define OF_RANKS(name_, column_)                                          \
    "SELECT " JOB ", '" name_                                             \
    "', 'ns', 'ranks', " OVER(column_) " FROM rank_stat t WHERE " column_ \
                                       " IS NOT NULL GROUP BY app"
#define EACH_RANK(name_, column_)                                                    \
    "SELECT " JOB ", '" name_                                                        \
    " of rank ' || rank, 'ns', '', " ONE(column_) " FROM rank_stat t WHERE " column_ \
                                                  " IS NOT NULL"
#define OF_PHASE(name_, unit_, column_)          \
    "SELECT '', access || ' " name_ "', '" unit_ \
    "', 'repetitions', " OVER(column_) " FROM stack_phase GROUP BY access"
/* Sums over the slices of all ranks, of files whose maker kept such. */
#define OF_SLICES(name_, unit_, metric_)                                                        \
    "SELECT " JOB ", '" name_ "', '" unit_ "', '', 1, sum(value), 0 FROM (SELECT "              \
    "CAST(substr(entity, 6) AS INTEGER) AS app, value FROM slice WHERE metric = '" metric_ "' " \
    "AND entity GLOB 'rank:*') t GROUP BY app"
#define PERCENTILE(name_, column_) \
    "SELECT " JOB ", class || ' latency " name_ "', 'ns', '', " ONE(column_) " FROM latency t"

/* Keys of the summary that describe how a run was made, and not what came out of it. */
#define NOT_RESULTS                                                                               \
    "('epoch_ns', 'slice_ns', 'clock_step_ns', 'clock_error_ns', 'clock_synchronised', 'nodes', " \
    "'nodes_down', 'routers', 'groups', 'jobs', 'timing_measured', 'events')"

static const struct {
    const char *sql;
    bool by_rank;
} validate_queries[] = {
    {OF_JOB("elapsed", "ns", "elapsed_ns"), false},
    {OF_RANKS("elapsed of ranks", "elapsed_ns"), false},
    {OF_RANKS("compute", "compute_ns"), false},
    {OF_RANKS("communication", "comm_ns"), false},
    {OF_RANKS("I/O", "io_ns"), false},
    {OF_JOB("throughput", "B/s", "1e9 * (bytes_read + bytes_written) / elapsed_ns"), false},
    {OF_JOB("throughput during I/O", "B/s", "1e9 * (bytes_read + bytes_written) / io_mean_ns"),
     false},
    {OF_JOB("bytes read", "B", "bytes_read"), false},
    {OF_JOB("bytes written", "B", "bytes_written"), false},
    {OF_JOB("bytes sent", "B", "bytes_sent"), false},
    {OF_JOB("messages sent", "", "msgs_sent"), false},
    {OF_JOB("ranks", "", "ranks"), false},
    {"SELECT " JOB ", class || ' latency', 'ns', 'samples', sum(n), sum(n * (low_ns + "
     "high_ns) / 2), sum(n * (low_ns + high_ns) / 2 * (low_ns + high_ns) / 2) FROM latency_hist t "
     "GROUP BY app, class",
     false},
    {OF_SLICES("time in reads", "ns", "read_time"), false},
    {OF_SLICES("time in writes", "ns", "write_time"), false},
    {OF_SLICES("reads", "", "read_calls"), false},
    {OF_SLICES("writes", "", "write_calls"), false},
    {PERCENTILE("p50", "p50_ns"), false},
    {PERCENTILE("p99", "p99_ns"), false},
    {OF_PHASE("bandwidth", "B/s", "bytes_per_s"), false},
    {OF_PHASE("IOPS", "1/s", "iops"), false},
    {OF_PHASE("latency", "ns", "latency_ns"), false},
    {"SELECT '', key, unit, '', " ONE(
         "value") " FROM summary WHERE NOT volatile AND "
                  "typeof(value) IN ('integer', 'real') AND key NOT IN " NOT_RESULTS,
     false},
    {EACH_RANK("elapsed", "elapsed_ns"), true},
    {EACH_RANK("I/O", "io_ns"), true},
};

enum { VALIDATE_QUERIES = sizeof validate_queries / sizeof *validate_queries };

/* ---- values of files ---- */

/* One quantity of one run. */
struct validate_value {
    const char *job, *name, *unit, *samples;
    uint32_t order; /* of the query */
    uint32_t place; /* in which it was read: keeps what is equal apart in that order */
    bool measured;  /* which side */
    uint64_t n;
    double mean, m2;
};

/* What is read so far, and of which file. */
struct validate_reading {
    struct report_validation *v;
    const struct report_validate_how *how;
    WR_VEC(struct validate_value) value;
    WR_VEC(const char *) jobs[2]; /* names in the files of each side */
    uint32_t order;
    bool measured;
};

/* The simulated name of a measured job, by "SIMULATED=MEASURED". */
static const char *validate_job_name(struct validate_reading *in, const char *name)
{
    for (size_t i = 0; in->measured && i < in->how->njobs; i++) {
        const char *equals = strchr(in->how->jobs[i], '=');

        if (equals && !strcmp(equals + 1, name))
            return wr_arena_strndup(&in->v->arena, in->how->jobs[i],
                                    (size_t)(equals - in->how->jobs[i]));
    }
    return wr_arena_strdup(&in->v->arena, name);
}

static void validate_keep_job(struct validate_reading *in, const char *job)
{
    for (size_t i = 0; i < in->jobs[in->measured].n; i++)
        if (!strcmp(in->jobs[in->measured].v[i], job))
            return;
    wr_vec_push(&in->jobs[in->measured], job);
}

static bool validate_is_wanted(const struct report_validate_how *how, const char *name)
{
    for (size_t i = 0; i < how->nonly; i++)
        if (!fnmatch(how->only[i], name, 0))
            return true;
    return !how->nonly;
}

static bool validate_on_row(void *ctx, const struct run_rows *q)
{
    struct validate_reading *in = ctx;
    double n = run_rows_real(q, 4), sum = run_rows_real(q, 5), squares = run_rows_real(q, 6);
    const char *job = validate_job_name(in, run_rows_text(q, 0, NULL));

    if (*job)
        validate_keep_job(in, job);
    if (!(n >= 1) || !isfinite(sum) || !validate_is_wanted(in->how, run_rows_text(q, 1, NULL)))
        return true;
    struct validate_value v = {
        .job = job,
        .name = wr_arena_strdup(&in->v->arena, run_rows_text(q, 1, NULL)),
        .unit = wr_arena_strdup(&in->v->arena, run_rows_text(q, 2, NULL)),
        .samples = wr_arena_strdup(&in->v->arena, run_rows_text(q, 3, NULL)),
        .order = in->order,
        .place = (uint32_t)in->value.n,
        .measured = in->measured,
        .n = (uint64_t)n,
        .mean = sum / n,
    };

    v.m2 = v.n > 1 ? fmax(0, squares - sum * v.mean) : 0;
    wr_vec_push(&in->value, v);
    return true;
}

static bool validate_read_file(struct validate_reading *in, const struct report_member *m,
                               struct wr_err *err)
{
    struct run_reader *r;
    bool ok = true;

    if (!report_member_open(&r, m, err))
        return false;
    for (in->order = 0; ok && in->order < VALIDATE_QUERIES; in->order++)
        if (in->how->by_rank || !validate_queries[in->order].by_rank)
            ok = run_each(r, validate_queries[in->order].sql, NULL, validate_on_row, in, err);
    report_member_close(m, r);
    return ok;
}

static bool validate_read_side(struct validate_reading *in, const struct report_runs *runs,
                               bool measured, struct wr_err *err)
{
    bool ok = true;

    in->measured = measured;
    for (size_t i = 0; ok && i < runs->member.n; i++)
        ok = validate_read_file(in, &runs->member.v[i], err);
    return ok;
}

/* Where each side has one job, it is the same one, whatever the names are. */
static void validate_pair_only_jobs(struct validate_reading *in)
{
    if (in->jobs[0].n != 1 || in->jobs[1].n != 1 || !strcmp(in->jobs[0].v[0], in->jobs[1].v[0]))
        return;
    in->v->renamed[0] = in->jobs[0].v[0];
    in->v->renamed[1] = in->jobs[1].v[0];
    for (size_t i = 0; i < in->value.n; i++)
        if (*in->value.v[i].job)
            in->value.v[i].job = in->v->renamed[0];
}

/* ---- pairs ---- */

static int validate_by_quantity(const void *a, const void *b)
{
    const struct validate_value *x = a, *y = b;
    int order = !*x->job - !*y->job; /* the run as a whole comes last */

    order = order ? order : strcmp(x->job, y->job);
    order = order ? order : x->order < y->order ? -1 : x->order > y->order;
    order = order ? order : strcmp(x->name, y->name);
    order = order ? order : strcmp(x->unit, y->unit);
    return order ? order : x->place < y->place ? -1 : x->place > y->place;
}

static bool validate_is_same(const struct validate_value *a, const struct validate_value *b)
{
    return a->order == b->order && !strcmp(a->job, b->job) && !strcmp(a->name, b->name) &&
           !strcmp(a->unit, b->unit);
}

/* The mean of one side over its runs; the error of it over runs, or over samples of one run. */
static struct report_estimate validate_estimate(const struct validate_value *v, size_t n,
                                                bool measured)
{
    struct report_estimate e = {.mean = NAN};
    struct stat_moments runs = {0};
    double m2 = 0;

    for (size_t i = 0; i < n; i++)
        if (v[i].measured == measured) {
            stat_moments_add(&runs, v[i].mean);
            e.n += v[i].n;
            m2 = v[i].m2;
        }
    e.runs = runs.n;
    if (!runs.n)
        return e;
    e.mean = runs.mean;
    if (runs.n > 1) {
        e.error = stat_moments_stddev(&runs) / sqrt((double)runs.n);
        e.freedom = (double)runs.n - 1;
    } else if (e.n > 1) {
        e.error = sqrt(m2 / ((double)e.n - 1) / (double)e.n);
        e.freedom = (double)e.n - 1;
    }
    return e;
}

/* Welch's interval of the logarithm of the ratio, with variances by the delta method. A side that
 * has one value counts as exact. */
static struct stat_interval validate_error(const struct report_quantity *q)
{
    struct stat_interval r = {q->simulated.mean / q->measured.mean - 1, NAN, NAN};
    double var[2] = {0}, freedom = 0;
    const struct report_estimate *side[2] = {&q->simulated, &q->measured};

    if (!(q->simulated.mean > 0) || !(q->measured.mean > 0) || q->over == REPORT_ERROR_ONE_RUN)
        return r;
    for (int i = 0; i < 2; i++) {
        bool counts = q->over != REPORT_ERROR_RUNS || side[i]->runs > 1;

        var[i] = counts ? pow(side[i]->error / side[i]->mean, 2) : 0;
        freedom += counts && side[i]->freedom > 0 ? var[i] * var[i] / side[i]->freedom : 0;
    }
    double all = var[0] + var[1];

    if (!(all > 0)) {
        r.low = r.high = r.mid;
        return r;
    }
    double half = stat_student_quantile((1 + level) / 2, all * all / freedom) * sqrt(all);

    r.low = (1 + r.mid) * exp(-half) - 1;
    r.high = (1 + r.mid) * exp(half) - 1;
    return r;
}

static void validate_add_quantity(struct report_validation *ret, const struct validate_value *v,
                                  size_t n)
{
    struct report_quantity q = {.job = v->job,
                                .name = v->name,
                                .unit = v->unit,
                                .samples = v->samples,
                                .simulated = validate_estimate(v, n, false),
                                .measured = validate_estimate(v, n, true),
                                .error = {NAN, NAN, NAN}};
    bool both = q.simulated.runs && q.measured.runs;

    /* Nothing on both sides, or nothing on the only side that has it. */
    if (!(q.simulated.mean != 0 && q.simulated.runs) && !(q.measured.mean != 0 && q.measured.runs))
        return;
    if (both) {
        q.over = q.simulated.runs > 1 || q.measured.runs > 1 ? REPORT_ERROR_RUNS
                 : q.simulated.n > 1 || q.measured.n > 1     ? REPORT_ERROR_SAMPLES
                                                             : REPORT_ERROR_ONE_RUN;
        q.error = validate_error(&q);
        ret->pairs++;
    }
    wr_vec_push(&ret->v, q);
}

static void validate_pair(struct report_validation *ret, struct validate_reading *in)
{
    struct validate_value *v = in->value.v;
    size_t n = in->value.n;

    if (n)
        qsort(v, n, sizeof *v, validate_by_quantity);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && validate_is_same(&v[i], &v[end]);)
            end++;
        validate_add_quantity(ret, &v[i], end - i);
    }
}

static bool validate_fail_pairs(const struct validate_reading *in, struct wr_err *err)
{
    struct wr_str names[2] = {{0}, {0}};

    if (in->how->nonly)
        return wr_fail(err, WR_INPUT,
                       "no quantity \"%s\" is both simulated and measured; leave the choice out to "
                       "see their names",
                       in->how->only[0]);

    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < in->jobs[side].n && names[side].n < 200; i++)
            wr_str_addf(&names[side], "%s%s", i ? ", " : "", in->jobs[side].v[i]);
        if (!names[side].n)
            wr_str_add(&names[side], "none");
    }
    wr_fail(err, WR_INPUT,
            "no quantity is both simulated and measured (jobs: %s; %s); name a job that is called "
            "differently as SIMULATED=MEASURED, or give runs of the same quantities",
            names[0].s, names[1].s);
    wr_str_fini(&names[0]);
    wr_str_fini(&names[1]);
    return false;
}

bool report_validate(struct report_validation *ret, const struct report_runs *simulated,
                     const struct report_runs *measured, const struct report_validate_how *how,
                     struct wr_err *err)
{
    struct report_validation v = {0};
    struct validate_reading in = {.v = &v, .how = how};

    assert(how);
    bool ok = validate_read_side(&in, simulated, false, err) &&
              validate_read_side(&in, measured, true, err);

    if (ok) {
        validate_pair_only_jobs(&in);
        validate_pair(&v, &in);
        ok = v.pairs || validate_fail_pairs(&in, err);
    }
    wr_vec_fini(&in.value);
    wr_vec_fini(&in.jobs[0]);
    wr_vec_fini(&in.jobs[1]);
    if (ok)
        *ret = v;
    else
        report_validation_close(&v);
    return ok;
}

void report_validation_close(struct report_validation *v)
{
    wr_vec_fini(&v->v);
    wr_arena_fini(&v->arena);
}

/* ---- what a pair says ---- */

bool report_quantity_paired(const struct report_quantity *q)
{
    return q->simulated.runs && q->measured.runs;
}

bool report_quantity_beyond(const struct report_quantity *q, double tolerance)
{
    return report_quantity_paired(q) && !(fabs(q->error.mid) <= tolerance);
}

const char *report_quantity_over(const struct report_quantity *q)
{
    switch (q->over) {
    case REPORT_ERROR_RUNS:
        return "runs";
    case REPORT_ERROR_SAMPLES:
        return *q->samples ? q->samples : "samples";
    default:
        return "one run";
    }
}

const char *report_quantity_unit(const struct report_quantity *q, double *ret_scale)
{
    static const struct {
        const char *unit, *shown;
        double scale;
    } units[] = {
        {"ns", "s", 1e9},     {"ns", "ms", 1e6},    {"ns", "us", 1e3},
        {"B", "GB", 1e9},     {"B", "MB", 1e6},     {"B", "kB", 1e3},
        {"B/s", "GB/s", 1e9}, {"B/s", "MB/s", 1e6}, {"B/s", "kB/s", 1e3},
    };
    double most = fmax(q->simulated.mean, q->measured.mean); /* fmax leaves NaN out */

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(q->unit, units[i].unit) && most >= units[i].scale) {
            *ret_scale = units[i].scale;
            return units[i].shown;
        }
    *ret_scale = 1;
    return q->unit;
}

struct report_agreed report_validation_agreed(const struct report_validation *v)
{
    struct report_agreed a = {.worst = -1};

    for (size_t i = 0; i < v->v.n; i++) {
        const struct report_quantity *q = &v->v.v[i];
        double off = fabs(q->error.mid);

        if (!report_quantity_paired(q))
            continue;
        a.mean += off / (double)v->pairs;
        if (off > a.worst) {
            a.worst = off;
            a.furthest = q;
        }
    }
    return a;
}

bool report_is_simulated(const struct run_info *info)
{
    return !strcmp(info->kind, "sim") || !strcmp(info->kind, "stack");
}
