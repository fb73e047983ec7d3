/* sec_time.c -- metrics over time, one picture each.
 *
 * Of the entities that have a metric, those that say most are drawn: jobs, else the machine, else
 * what there is. A few are drawn one by one; many (every router) as their mean and their largest.
 *
 * A run may hold a million slices, and a picture has few dots: slices are gathered into at most
 * MOST_STEPS steps, flows as rates, all else as means. Where the file has them gathered already,
 * and that leaves enough steps, those are read. Metrics that are 0 from the beginning to the end
 * are not drawn.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"

#include "run/slices.h"
#include "sections_priv.h"

enum { MAX_METRICS = 32, MOST_DRAWN = 16, ONE_BY_ONE = 8, MOST_STEPS = 400, ENOUGH_STEPS = 100 };

/* What a slice of a metric holds: what there was (a level, or something measured then), or what
 * flowed, which is drawn by the second. Time that flowed by the second is how many did it. */
enum holds { LEVEL, FLOW, TIME };

/* Those that have better words than their names. */
static const struct known {
    const char *name, *title, *label;
} known[] = {
    {"sent_bytes", "Message bytes sent", "sent"},
    {"write_bytes", "Write bandwidth", "written"},
    {"read_bytes", "Read bandwidth", "read"},
    {"bytes_posted", "Bytes injected into the network", "injected"},
    {"bytes_arrived", "Bytes delivered by the network", "delivered"},
    {"bytes", "Throughput of links by class", "throughput"},
    {"packets_in_flight", "Packets in flight", "packets in flight"},
    {"messages_queued", "Messages queued at NICs", "messages queued"},
    {"inflight", "Requests in flight", "requests in flight"},
    {"waiting", "Requests waiting for buffer space", "requests waiting"},
    {"dirty_bytes", "Dirty bytes in buffers", "dirty"},
    {"write_time", "Processes in writes", "in writes"},
    {"read_time", "Processes in reads", "in reads"},
    {"open_time", "Processes in opens", "in opens"},
    {"sync_time", "Processes in flushes", "in flushes"},
    {"meta_time", "Processes in other metadata calls", "in calls"},
    {"mpi_time", "Processes in MPI", "in MPI"},
    {"mpiio_time", "Processes in MPI-IO", "in MPI-IO"},
    {"mpiio_collective_time", "Processes in collective MPI-IO", "in MPI-IO"},
    {"busy_time", "Busy devices", "busy"},
    {"write_calls", "Writes", "writes"},
    {"read_calls", "Reads", "reads"},
    {"open_calls", "Opens", "opens"},
    {"sync_calls", "Flushes", "flushes"},
    {"meta_calls", "Other metadata calls", "calls"},
    {"seeks", "Seeks of devices", "seeks"},
    {"rate", "Calls answered", "rate"},
    {"foreign_cpu", "CPUs used by other processes", "CPUs"},
};

/* One picture: a metric of entities of one sort. */
struct metric {
    const char *name, *unit;
    const char *title, *label; /* the name in words */
    const char *kind;          /* of entities: "app", "machine" */
    enum holds holds;
    double entities;
    size_t first, n; /* its curves */
};

/* What was read of a curve: a step of the picture gathers several slices. */
struct step {
    double sum, most, n;
};

struct curve {
    const char *name;
    struct step *step;
};

/* State of the section: metrics, then their series are listed; then the slices are read once and
 * added to the curves. Times are in ps of the run, steps are the points of a curve. */
struct time_read {
    struct report_section *s;
    struct run_reader *r;
    struct metric metric[MAX_METRICS];
    size_t nmetrics;
    WR_VEC(struct curve) curve;
    WR_VEC(uint32_t) of_series; /* curve + 1 of each series that is drawn */
    double first_ps, end_ps, slice_ps, step_ps;
    size_t nsteps;
    struct run_slices slices;
    bool gathered; /* read as the file has gathered them */
    struct report_unit u;
};

static const char list_sql[] =
    /* The sorts of entities in the order in which they are worth a picture, and of each what moved
     * before how often. What was measured now and then, without slices, is a latency of a path,
     * which has a section of its own. */
    "WITH rated AS (SELECT metric, unit, entity, CASE WHEN instr(entity, ':') = 0 THEN entity"
    " ELSE substr(entity, 1, instr(entity, ':') - 1) END AS kind FROM series"
    " WHERE dt_ns > 0 OR metric NOT GLOB '*_latency'),"
    " ranked AS (SELECT metric, max(unit) AS unit, kind, count(*) AS n,"
    " CASE kind WHEN 'app' THEN 0 WHEN 'machine' THEN 1 WHEN 'class' THEN 2 WHEN 'server' THEN 3"
    " WHEN 'rank' THEN 8 WHEN 'thread' THEN 9 WHEN 'file' THEN 7 WHEN 'links' THEN 99 ELSE 5 END"
    " AS place FROM rated GROUP BY metric, kind)"
    " SELECT metric, unit, kind, n, replace(metric, '_', ' '), min(place) FROM ranked"
    " WHERE place < 99 GROUP BY metric ORDER BY min(place), metric NOT GLOB '*bytes*',"
    " metric GLOB '*_calls', metric LIMIT 32";

static bool sec_time_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && !strcmp(text + n - m, end);
}

/* Bytes and nanoseconds flow, unless they are what is there at the end of a slice. */
static enum holds sec_time_what_holds(const char *metric, const char *unit)
{
    if (!strcmp(metric, "dirty_bytes"))
        return LEVEL;
    if (!strcmp(unit, "ns"))
        return TIME;
    return *unit == 'B' || sec_time_ends_with(metric, "_calls") || !strcmp(metric, "seeks") ||
                   !strcmp(metric, "failed")
               ? FLOW
               : LEVEL;
}

static void sec_time_name_metric(struct metric *m, const char *words, struct wr_arena *a)
{
    char *title = wr_arena_strdup(a, words);

    *title = (char)toupper((unsigned char)*title);
    m->title = title;
    m->label = wr_arena_strdup(a, words);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, m->name)) {
            m->title = known[i].title;
            m->label = known[i].label;
        }
}

static bool sec_time_list_metric(void *ctx, const struct run_rows *q)
{
    struct time_read *in = ctx;
    struct wr_arena *a = in->s->arena;
    struct metric *m = &in->metric[in->nmetrics++];

    *m = (struct metric){
        .name = wr_arena_strdup(a, run_rows_text(q, 0, NULL)),
        .unit = wr_arena_strdup(a, run_rows_text(q, 1, NULL)),
        .kind = wr_arena_strdup(a, run_rows_text(q, 2, NULL)),
        .entities = run_rows_real(q, 3),
    };
    m->holds = sec_time_what_holds(m->name, m->unit);
    sec_time_name_metric(m, run_rows_text(q, 4, NULL), a);
    return in->nmetrics < MAX_METRICS;
}

static bool sec_time_is_many(const struct metric *m)
{
    return m->entities > ONE_BY_ONE;
}

/* The series of one metric; jobs are called what they are called. */
static bool sec_time_add_series(void *ctx, const struct run_rows *q)
{
    struct time_read *in = ctx;
    struct metric *m = &in->metric[in->nmetrics - 1];
    size_t id = (size_t)run_rows_int(q, 0);
    const char *name = run_rows_text(q, run_rows_type(q, 1) == RUN_T_NULL ? 2 : 1, NULL);

    if (id > 1u << 24)
        return true;
    while (in->of_series.n <= id)
        wr_vec_push(&in->of_series, 0);
    if (!m->n || !sec_time_is_many(m)) {
        wr_vec_push(&in->curve, (struct curve){.name = sec_time_is_many(m)
                                                           ? "mean of all"
                                                           : wr_arena_strdup(in->s->arena, name)});
        m->n++;
    }
    in->of_series.v[id] = (uint32_t)in->curve.n;
    return true;
}

static bool sec_time_on_slice(void *ctx, const struct run_heap *h)
{
    struct time_read *in = ctx;
    double at = ((double)h->t_ps - in->first_ps) / in->step_ps;
    size_t i = at < 0 ? 0 : (size_t)at;
    struct step *st =
        &in->curve.v[in->of_series.v[h->series] - 1].step[i < in->nsteps ? i : in->nsteps - 1];

    st->sum += h->sum;
    st->most = st->n > 0 ? fmax(st->most, h->most) : h->most;
    st->n += h->n;
    return true;
}

static bool sec_time_list_series(struct time_read *in, struct wr_err *err)
{
    static const char sql[] =
        "SELECT fs.id, CASE substr(e.text, 1, instr(e.text, ':'))"
        " WHEN 'app:' THEN (SELECT name FROM app_stat WHERE app = CAST(substr(e.text, 5) AS "
        "INTEGER))"
        " WHEN 'rank:' THEN (SELECT name FROM app_stat WHERE app = CAST(substr(e.text, 6) AS "
        "INTEGER))"
        " || ' rank ' || substr(e.text, instr(e.text, '.') + 1)"
        " WHEN 'class:' THEN substr(e.text, 7) WHEN 'target:' THEN substr(e.text, 8)"
        " WHEN 'server:' THEN 'server ' || substr(e.text, 8) END, e.text"
        " FROM fact_series fs JOIN dict e ON e.id = fs.entity JOIN dict m ON m.id = fs.metric"
        " WHERE m.text = ?1 AND (e.text = ?2 OR substr(e.text, 1, length(?2) + 1) = ?2 || ':')";
    size_t n = in->nmetrics;
    bool ok = true, more;

    for (in->nmetrics = 0; ok && in->nmetrics < n;) {
        struct metric *m = &in->metric[in->nmetrics++];
        const char *args[] = {m->name, m->kind};
        struct run_rows *q = NULL; /* closed whether or not its rows could be read */

        m->first = in->curve.n;
        ok = run_query(&q, in->r, sql, args, 2, err);
        while (ok && (ok = run_rows_next(q, &more, err)) && more)
            sec_time_add_series(in, q);
        run_rows_close(q);
    }
    return ok;
}

/* Thousands of bytes as kB, MB, ...; other units keep their numbers. */
static const char *sec_time_fit_unit(double *scale, double top, const char *unit,
                                     struct wr_arena *arena)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T", "P"};
    size_t k = 0;

    for (*scale = 1; *unit == 'B' && fabs(top) >= 1000 * *scale && k < 5; k++)
        *scale *= 1000;
    return wr_arena_printf(arena, "%s%s", prefix[k], unit);
}

struct drawing {
    double top, top_at;
    const char *top_who;
};

/* Entities of a machine leave out slices in which they have nothing; those that were measured one
 * after the other have none outside of their turn. */
static bool sec_time_takes_turns(const struct metric *m)
{
    return !strcmp(m->kind, "case") || !strcmp(m->kind, "target");
}

/* What a curve is in a step of `slices` slices: per slice, and of many entities their mean. */
static double sec_time_value_in(const struct metric *m, const struct step *st, double slices,
                                bool largest)
{
    if (largest)
        return st->most;
    if (sec_time_takes_turns(m) || (m->holds == LEVEL && !sec_time_is_many(m)))
        return st->n > 0 ? st->sum / st->n : 0;
    return st->sum / slices / (sec_time_is_many(m) ? m->entities : 1);
}

/* All steps from the first to the last. A slice holds until its end. */
static struct report_series sec_time_draw_curve(struct time_read *in, const struct metric *m,
                                                size_t k, bool largest, struct drawing *d)
{
    const struct curve *c = &in->curve.v[k];
    struct report_point *p = wr_arena_alloc(in->s->arena, (in->nsteps + 1) * sizeof *p);
    double one = in->slice_ps / (m->holds == TIME ? 1e3 : 1e12); /* in ns or s, the unit of flows */

    for (size_t i = 0; i <= in->nsteps; i++) {
        size_t at = i < in->nsteps ? i : in->nsteps - 1;
        double from = in->first_ps + in->step_ps * (double)at;
        /* The last step may be shorter than the others. */
        double slices = fmin(in->step_ps, in->end_ps - from) / in->slice_ps;
        double v =
            sec_time_value_in(m, &c->step[at], slices, largest) / (m->holds == LEVEL ? 1 : one);

        p[i].x = (i < in->nsteps ? from : in->end_ps) / 1e3 / in->u.ns;
        p[i].y = v;
        if (v > d->top || !d->top_who) {
            d->top = v;
            d->top_at = p[i].x;
            d->top_who = largest ? "one" : c->name;
        }
    }
    return (struct report_series){.name = largest ? "largest" : c->name,
                                  .point = p,
                                  .n = in->nsteps + 1,
                                  .line_only = true,
                                  .steps = true};
}

static bool sec_time_is_zero(const struct report_series *series, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < series[i].n; j++)
            if (series[i].point[j].y != 0)
                return false;
    return true;
}

static void sec_time_draw_metric(struct time_read *in, const struct metric *m)
{
    size_t n = sec_time_is_many(m) ? 2 : m->n;
    struct report_series *series = wr_arena_alloc(in->s->arena, (n + 1) * sizeof *series);
    struct drawing d = {.top = 0};
    double scale;

    for (size_t i = 0; i < n; i++)
        series[i] = sec_time_draw_curve(in, m, m->first + (sec_time_is_many(m) ? 0 : i),
                                        sec_time_is_many(m) && i == 1, &d);
    if (sec_time_is_zero(series, n))
        return;
    const char *fit =
        sec_time_fit_unit(&scale, d.top, m->holds == TIME ? "" : m->unit, in->s->arena);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < series[i].n; j++)
            ((struct report_point *)series[i].point)[j].y /= scale;
    const char *unit = wr_arena_printf(in->s->arena, "%s%s", fit,
                                       m->holds != FLOW ? ""
                                       : *fit           ? "/s"
                                                        : "1/s");
    const char *of = sec_time_is_many(m) ? wr_arena_printf(in->s->arena, ", each %s", m->kind) : "";

    report_add_figure(in->s, m->name, REPORT_LINES)->chart = (struct report_chart){
        .title = wr_arena_printf(in->s->arena, "%s over time%s", m->title, of),
        .desc =
            wr_arena_printf(in->s->arena,
                            d.top / scale < 1e4 ? "Highest at %.4g %s, where %s reaches %.4g%s%s."
                                                : "Highest at %.4g %s, where %s reaches %.0f%s%s.",
                            d.top_at, in->u.name, d.top_who, d.top / scale, *unit ? " " : "", unit),
        .x = {.label = "time", .unit = in->u.name},
        .y = {.label = m->label, .unit = unit, .zero = true},
        .series = series,
        .nseries = n};
}

static bool sec_time_make_axis(struct time_read *in, struct wr_err *err)
{
    const struct run_slices *all = &in->slices;

    if (!run_slices(&in->slices, in->r, err))
        return false;
    in->gathered = all->gathered && all->n >= ENOUGH_STEPS * RUN_GATHER;
    double dt = all->dt_ps > 0 ? (double)all->dt_ps : 1e12, least = in->gathered ? RUN_GATHER : 1;
    /* Steps begin where what was gathered does. */
    double first = floor((double)all->first_ps / (dt * least)) * dt * least;
    double n = in->gathered ? (double)all->first_ps - first : 0;

    n = ceil((all->n + n / dt) / least);
    in->first_ps = in->gathered ? first : (double)all->first_ps;
    in->slice_ps = dt;
    in->step_ps = dt * least * ceil(n / MOST_STEPS);
    in->nsteps = wr_index(fmax(1, ceil(n * dt * least / in->step_ps)), MOST_STEPS + 1);
    in->end_ps = (double)all->last_ps + dt;
    in->u = report_unit(in->end_ps / 1e3);
    return true;
}

static bool sec_time_make(const struct report_inputs *in, size_t which, struct report_section *s,
                          struct wr_err *err)
{
    struct time_read t = {.s = s, .r = in->v.v[which].run};
    size_t before = s->figure.n;
    bool ok = run_each(t.r, list_sql, NULL, sec_time_list_metric, &t, err);

    if (ok && t.nmetrics) {
        ok = sec_time_make_axis(&t, err) && sec_time_list_series(&t, err);
        for (size_t i = 0; ok && i < t.curve.n; i++)
            t.curve.v[i].step = wr_arena_alloc(s->arena, t.nsteps * sizeof(struct step));
        ok = ok && run_each_slice(t.r, &t.slices, t.of_series.v, t.of_series.n, t.gathered,
                                  sec_time_on_slice, &t, err);
        for (size_t i = 0; ok && i < t.nmetrics && s->figure.n < before + MOST_DRAWN; i++)
            if (t.metric[i].n)
                sec_time_draw_metric(&t, &t.metric[i]);
    }
    wr_vec_fini(&t.curve);
    wr_vec_fini(&t.of_series);
    return ok;
}

const struct report_maker report_time = {
    .id = "time", .group = "run", .title = "Over time", .each = true, .make = sec_time_make};
