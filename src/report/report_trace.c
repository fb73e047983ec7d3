/* report_trace.c -- time lines for viewers of traces: the JSON that Chrome's tracing and Perfetto
 * read.
 *
 *   app:0        a process of the trace: a bar from its start to its end, its metrics as counters
 *     rank 3     a thread of it: what it did, and its marks
 *   machine      and every other entity of `slice`: a process with counters
 *
 * Times are microseconds. What a rank did has bars where it was recorded (view timeline) only: sums
 * of a rank's time do not say when.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/doc.h"
#include "report/json.h"
#include "report/report_trace.h"

/* One trace being written. */
struct tracing {
    FILE *out;
    struct wr_str line; /* the event that is being made */
    bool any;           /* an event was written: the next begins with a comma */
    bool intervals;     /* the run has intervals of ranks */
};

/* Writes the event that is in `line`. */
static void trace_put_event(struct tracing *t)
{
    fputs(t->any ? ",\n" : "\n", t->out);
    fwrite(t->line.s, 1, t->line.n, t->out);
    t->any = true;
}

static void trace_begin_event(struct tracing *t, const char *phase, const char *name,
                              int64_t process)
{
    t->line.n = 0;
    wr_str_add(&t->line, "{");
    report_json_member(&t->line, "ph", phase);
    report_json_member(&t->line, "name", name);
    report_json_number(&t->line, "pid", (double)process);
}

static void trace_name_process(struct tracing *t, int64_t process, const char *name)
{
    trace_begin_event(t, "M", "process_name", process);
    report_json_key(&t->line, "args");
    wr_str_add(&t->line, "{");
    report_json_member(&t->line, "name", name);
    wr_str_add(&t->line, "}}");
    trace_put_event(t);
}

static bool trace_put_app(void *ctx, const struct run_rows *q)
{
    struct tracing *t = ctx;
    int64_t app = run_rows_int(q, 0);

    trace_name_process(t, app, run_rows_text(q, 1, NULL));
    if (run_rows_type(q, 3) == RUN_T_NULL)
        return true;
    trace_begin_event(t, "X", run_rows_text(q, 1, NULL), app);
    report_json_number(&t->line, "tid", -1);
    report_json_number(&t->line, "ts", fmax(run_rows_real(q, 2), 0) / 1e3);
    report_json_number(&t->line, "dur", run_rows_real(q, 3) / 1e3);
    wr_str_add(&t->line, "}");
    trace_put_event(t);
    return true;
}

/* What it did most of the time; where it did several things, for how long each. */
static bool trace_put_interval(void *ctx, const struct run_rows *q)
{
    static const char *const did[] = {"compute", "communication", "I/O", "idle"};
    struct tracing *t = ctx;
    int several = 0;

    for (int i = 0; i < 4; i++)
        several += run_rows_real(q, 5 + i) > 0;
    trace_begin_event(t, "X", run_rows_text(q, 4, NULL), run_rows_int(q, 0));
    report_json_number(&t->line, "tid", (double)run_rows_int(q, 1));
    report_json_number(&t->line, "ts", run_rows_real(q, 2) / 1e3);
    report_json_number(&t->line, "dur", run_rows_real(q, 3) / 1e3);
    if (several > 1) {
        report_json_key(&t->line, "args");
        wr_str_add(&t->line, "{");
        for (int i = 0; i < 4; i++)
            if (run_rows_real(q, 5 + i) > 0)
                report_json_number(&t->line, did[i], run_rows_real(q, 5 + i) / 1e3);
        wr_str_add(&t->line, "}");
    }
    wr_str_add(&t->line, "}");
    trace_put_event(t);
    t->intervals = true;
    return !ferror(t->out);
}

static bool trace_put_mark(void *ctx, const struct run_rows *q)
{
    struct tracing *t = ctx;

    trace_begin_event(t, "i", "mark", run_rows_int(q, 0));
    report_json_number(&t->line, "tid", (double)run_rows_int(q, 1));
    report_json_number(&t->line, "ts", run_rows_real(q, 2) / 1e3);
    report_json_member(&t->line, "s", "t");
    wr_str_add(&t->line, "}");
    trace_put_event(t);
    return true;
}

/* Jobs have their own numbers; other entities come after them. */
enum { OTHERS = 100000 };

static bool trace_put_entity(void *ctx, const struct run_rows *q)
{
    if (run_rows_type(q, 1) == RUN_T_NULL)
        trace_name_process(ctx, OTHERS + run_rows_int(q, 2), run_rows_text(q, 0, NULL));
    return true;
}

static bool trace_put_slice(void *ctx, const struct run_rows *q)
{
    struct tracing *t = ctx;
    bool job = run_rows_type(q, 0) != RUN_T_NULL;

    trace_begin_event(t, "C", run_rows_text(q, 2, NULL),
                      job ? run_rows_int(q, 0) : OTHERS + run_rows_int(q, 1));
    report_json_number(&t->line, "ts", run_rows_real(q, 3) / 1e6);
    report_json_key(&t->line, "args");
    wr_str_add(&t->line, "{");
    report_json_number(&t->line, "value", run_rows_real(q, 4));
    wr_str_add(&t->line, "}}");
    trace_put_event(t);
    return !ferror(t->out);
}

/* The number of the job that an entity is, or NULL. */
#define JOB "CASE WHEN e.text GLOB 'app:[0-9]*' THEN CAST(substr(e.text, 5) AS INTEGER) END"

bool report_trace(struct run_reader *r, FILE *out, bool *ret_ranks, struct wr_err *err)
{
    struct tracing t = {.out = out};

    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
    bool ok =
        run_each(r, "SELECT app, name, start_ns, elapsed_ns FROM app_stat ORDER BY app", NULL,
                 trace_put_app, &t, err) &&
        (run_info(r)->format_minor < 9 || /* older files have no intervals */
         run_each(r,
                  "SELECT k.app, k.rank, k.t_ns + coalesce(a.start_ns, 0), k.dt_ns, k.did, "
                  "k.compute_ns, k.comm_ns, k.io_ns, k.idle_ns "
                  "FROM timeline k JOIN app_stat a ON a.app = k.app ORDER BY k.app, k.rank, k.t_ns",
                  NULL, trace_put_interval, &t, err)) &&
        run_each(r,
                 "SELECT m.app, m.rank, m.t_ns + coalesce(a.start_ns, 0) FROM mark m JOIN "
                 "app_stat a ON a.app = m.app",
                 NULL, trace_put_mark, &t, err) &&
        run_each(r,
                 "SELECT DISTINCT e.text, " JOB ", e.id FROM fact_series s JOIN dict e ON e.id = "
                 "s.entity",
                 NULL, trace_put_entity, &t, err) &&
        run_each(r,
                 "SELECT " JOB ", e.id, m.text, f.t_ps, f.value FROM fact_slice f JOIN "
                 "fact_series s ON s.id = f.series JOIN dict e ON e.id = s.entity JOIN dict m ON "
                 "m.id = s.metric",
                 NULL, trace_put_slice, &t, err);
    fputs("\n]}\n", out);
    wr_str_fini(&t.line);
    *ret_ranks = t.intervals;
    return ok;
}
