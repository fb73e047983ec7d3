/* sec_stack.c -- the I/O stack: where operations spent their time, and the first of each kind
 * through all layers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/agreement.h"
#include "sections_priv.h"

enum {
    SINCE = 5,
    SINCE_CHECK = 8,
    MOST_BARS = 40,
    MOST_LANES = 12,
    MOST_STEPS = 200,
    ALL_STEPS = 20000,
    MOST_OPERATIONS = 6
};

/* ---- bars ---- */

static const struct sections_bars pictures[] = {
    {"layers", "Time by layer",
     "Summed over all processes; work is what a layer does itself, wait what it waits for others. "
     "Most is spent in",
     "time", "ms",
     "SELECT side, layer, work_ns / 1e6 AS work, wait_ns / 1e6 AS \"wait for others\" FROM "
     "stack_layer"},
    {"classes", "Time by class",
     "What data, control and communication cost themselves, summed over all processes; most does",
     "time", "ms", "SELECT side, class, own_ns / 1e6 AS own FROM stack_class"},
    {"states", "How many agents were in which state",
     "The mean number of agents in each state while the test went on, up to a dozen of the fullest "
     "of clients and of servers; the fullest of all is",
     "agents", "",
     "SELECT side, what, occupancy AS agents FROM (SELECT side, machine || ':' || state AS what, "
     "occupancy, row_number() OVER (PARTITION BY side ORDER BY occupancy DESC) AS place, "
     "max(occupancy) OVER (PARTITION BY side) AS most FROM stack_state) "
     "WHERE place <= 12 AND occupancy > most / 1000 ORDER BY side, occupancy DESC"},
    {"measured", "Measured and assumed times",
     "What states cost themselves, by whether their times are measured or assumed; most does",
     "time", "ms",
     "SELECT side, layer, sum(CASE WHEN measured THEN own_ns END) / 1e6 AS measured, sum(CASE WHEN "
     "measured THEN 0 ELSE own_ns END) / 1e6 AS assumed FROM stack_state GROUP BY side, layer"},
};

/* ---- one operation through all layers ---- */

struct lane {
    bool server;
    int64_t node;
};

/* The steps of one operation, from which the sequence figure is made. */
struct walk {
    struct report_section *s;
    struct lane lane[MOST_LANES];
    size_t nlanes;
    WR_VEC(struct report_step) step;
    double first_ns; /* when the operation began */
};

/* The lane of a node; -1 where there are too many. */
static int sec_stack_lane_of(struct walk *w, bool server, int64_t node)
{
    for (size_t i = 0; i < w->nlanes; i++)
        if (w->lane[i].server == server && w->lane[i].node == node)
            return (int)i;
    if (w->nlanes == MOST_LANES)
        return -1;
    w->lane[w->nlanes] = (struct lane){server, node};
    return (int)w->nlanes++;
}

static bool sec_stack_on_step(void *ctx, const struct run_rows *q)
{
    struct walk *w = ctx;
    const char *kind = run_rows_text(q, 1, NULL);
    bool message = strcmp(kind, "state") != 0,
         server = !strcmp(run_rows_text(q, 2, NULL), "server");
    double t = run_rows_real(q, 0);
    int lane = sec_stack_lane_of(w, server, run_rows_int(q, 3)), to = -1;

    if (!w->step.n)
        w->first_ns = t;
    /* An answer and data go to the other side; between servers, both are one. */
    if (message && run_rows_type(q, 4) != RUN_T_NULL)
        to = sec_stack_lane_of(w, !server || run_rows_int(q, 7), run_rows_int(q, 4));
    if (lane < 0 || (message && to < 0))
        return true;
    wr_vec_push(&w->step, (struct report_step){
                              .t0 = (t - w->first_ns) / 1e3,
                              .t1 = (t - w->first_ns + (message ? 0 : run_rows_real(q, 6))) / 1e3,
                              .lane = lane,
                              .to = to,
                              .label = wr_arena_strdup(w->s->arena, run_rows_text(q, 5, NULL)),
                              .cls = wr_arena_strdup(w->s->arena,
                                                     message ? kind : run_rows_text(q, 8, NULL))});
    return w->step.n < ALL_STEPS;
}

static int sec_stack_by_length(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x < *y) - (*x > *y);
}

/* Of more steps than a picture can hold, all messages and the longest states are kept. */
static void sec_stack_keep_longest(struct walk *w)
{
    size_t states = 0, places, n = 0;
    double *length = wr_alloc((w->step.n + 1) * sizeof *length);

    for (size_t i = 0; i < w->step.n; i++)
        if (w->step.v[i].to < 0)
            length[states++] = w->step.v[i].t1 - w->step.v[i].t0;
    qsort(length, states, sizeof *length, sec_stack_by_length);
    places = w->step.n - states < MOST_STEPS ? MOST_STEPS - (w->step.n - states) : 0;
    double least = places < states ? length[places] : -1;
    free(length);
    for (size_t i = 0; i < w->step.n; i++)
        if (w->step.v[i].to >= 0 || w->step.v[i].t1 - w->step.v[i].t0 > least)
            w->step.v[n++] = w->step.v[i];
    w->step.n = n;
}

/* The names of the lanes, clients before servers; steps are moved to where their lanes are. */
static const char **sec_stack_order_lanes(struct walk *w)
{
    const char **name = wr_arena_alloc(w->s->arena, w->nlanes * sizeof *name);
    int place[MOST_LANES] = {0};

    for (size_t i = 0; i < w->nlanes; i++) {
        const struct lane *a = &w->lane[i];

        for (size_t k = 0; k < w->nlanes; k++) {
            const struct lane *b = &w->lane[k];

            place[i] += b->server < a->server || (b->server == a->server && b->node < a->node);
        }
        name[place[i]] = wr_arena_printf(w->s->arena, "%s %lld", a->server ? "server" : "client",
                                         (long long)a->node);
    }
    for (size_t i = 0; i < w->step.n; i++) {
        struct report_step *s = &w->step.v[i];

        s->lane = place[s->lane];
        s->to = s->to < 0 ? -1 : place[s->to];
    }
    return name;
}

static void sec_stack_draw_walk(struct walk *w, const char *operation)
{
    struct report_section *s = w->s;
    size_t all = w->step.n;
    double end = 0, messages = 0;

    for (size_t i = 0; i < all; i++) {
        end = fmax(end, w->step.v[i].t1);
        messages += w->step.v[i].to >= 0;
    }
    sec_stack_keep_longest(w);
    struct report_step *step = wr_arena_alloc(s->arena, w->step.n * sizeof *step);
    struct report_figure *f =
        report_add_figure(s, wr_arena_printf(s->arena, "operation-%s", operation), REPORT_SEQUENCE);
    const char **lane = sec_stack_order_lanes(w);
    const char *left =
        w->step.n < all
            ? wr_arena_printf(s->arena, "; %zu states that are too short to see are left out",
                              all - w->step.n)
            : "";

    memcpy(step, w->step.v, w->step.n * sizeof *step);
    struct report_unit u = report_unit(1e3 * end);

    f->sequence = (struct report_sequence){lane, w->nlanes, step, w->step.n};
    f->chart = (struct report_chart){
        .title = wr_arena_printf(s->arena, "The first %s, through all layers", operation),
        .desc = wr_arena_printf(s->arena,
                                "It takes %.4g %s and %.0f messages. Boxes are states, coloured by "
                                "their layer, arrows the messages between clients and servers%s.",
                                1e3 * end / u.ns, u.name, messages, left),
        .x = {.label = "time", .unit = "us"}};
}

static bool sec_stack_draw_operation(struct report_section *s, struct run_reader *r,
                                     const char *operation, struct wr_err *err)
{
    struct walk w = {.s = s};
    /* A server that sends to a node that is no client sends to one of its own. */
    bool ok = run_each(
        r,
        "SELECT t_ns, kind, side, node, peer, what, work_ns + wait_ns, side = 'server' AND peer "
        "NOT "
        "IN (SELECT node FROM stack_step c WHERE c.operation = ?1 AND c.side = 'client'), layer "
        "FROM stack_step WHERE operation = ?1 AND (kind <> 'state' OR work_ns + wait_ns > 0) ORDER "
        "BY t_ns",
        operation, sec_stack_on_step, &w, err);

    if (ok && w.step.n)
        sec_stack_draw_walk(&w, operation);
    wr_vec_fini(&w.step);
    return ok;
}

/* ---- measured against simulated ---- */

/* Simulated against measured times, by kind. */
struct checks {
    struct report_agreement a;
    double worst; /* how far reads and writes are off */
};

static bool sec_stack_on_check(void *ctx, const struct run_rows *q)
{
    struct checks *c = ctx;
    double x = run_rows_real(q, 1), y = run_rows_real(q, 2);

    report_agreement_add(&c->a, run_rows_text(q, 0, NULL), x, y);
    if (run_rows_int(q, 3))
        c->worst = fmax(c->worst, fabs(y / x - 1));
    return true;
}

static bool sec_stack_draw_checks(struct report_section *s, struct run_reader *r, bool *ret_any,
                                  struct wr_err *err)
{
    struct checks c = {.worst = 0};
    struct report_chart chart = {.title = "Times: simulated against measured",
                                 .x = {.label = "measured", .unit = "s"},
                                 .y = {.label = "simulated", .unit = "s"}};

    *ret_any = false;
    if (run_info(r)->format_minor < SINCE_CHECK)
        return true;
    report_agreement_init(&c.a, s);
    bool ok = run_each(r,
                       "SELECT CASE kind WHEN 'io' THEN 'reads and writes' WHEN 'class' THEN "
                       "'classes' ELSE kind || 's' END, measured_s, simulated_s, kind = 'io' FROM "
                       "stack_check WHERE measured_s > 0 AND simulated_s > 0 ORDER BY kind = 'io'",
                       NULL, sec_stack_on_check, &c, err);

    if (!report_agreement_chart(&c.a, &chart) || !ok)
        return ok;
    chart.desc = wr_arena_printf(s->arena,
                                 "Each mark is a median at one size; on the line the simulation "
                                 "predicts what was measured. Reads and writes are off by %.3g %% "
                                 "at most.",
                                 100 * c.worst);
    report_add_figure(s, "check", REPORT_LINES)->chart = chart;
    s->says =
        wr_arena_printf(s->arena,
                        "How well the timing models of a file system predict logs of the real one: "
                        "reads and writes within %.3g %%.",
                        100 * c.worst);
    *ret_any = true;
    return report_add_query(
        s, "checks", "What was measured and what is simulated, function by function.", r,
        "SELECT bytes AS \"bytes B\", kind, name, n, round(p10_s, 6) AS \"p10 s\", "
        "round(measured_s, 6) AS \"measured s\", round(p90_s, 6) AS \"p90 s\", "
        "round(simulated_s, 6) AS \"simulated s\", round(100 * error, 2) AS \"error %\", "
        "round(low_s, 6) AS \"low s\", round(high_s, 6) AS \"high s\" FROM stack_check",
        NULL, err);
}

/* The names of the operations that are drawn. */
struct operations {
    struct wr_arena *arena;
    const char *v[MOST_OPERATIONS];
    size_t n;
};

static bool sec_stack_on_operation(void *ctx, const struct run_rows *q)
{
    struct operations *o = ctx;

    o->v[o->n++] = wr_arena_strdup(o->arena, run_rows_text(q, 0, NULL));
    return o->n < MOST_OPERATIONS;
}

static bool sec_stack_on_text(void *ctx, const struct run_rows *q)
{
    wr_str_add(ctx, run_rows_text(q, 0, NULL));
    return false;
}

/* How far the times can be trusted: assumed, or outside what their models were fitted on. */
static bool sec_stack_trust_text(struct run_reader *r, struct wr_str *out, struct wr_err *err)
{
    return run_each(
        r,
        "SELECT ' The times are extrapolated: ' || value || '.' FROM summary WHERE key = "
        "'extrapolated' UNION ALL SELECT ' The times are assumed: ' || value || '.' FROM "
        "summary WHERE " SECTIONS_ASSUMED_TIMES,
        NULL, sec_stack_on_text, out, err);
}

static bool sec_stack_make(const struct report_inputs *in, size_t which, struct report_section *s,
                           struct wr_err *err)
{
    struct run_reader *r = in->v.v[which].run;
    struct operations o = {.arena = s->arena};
    struct wr_str worst = {0};
    bool checks;

    if (strcmp(run_info(r)->kind, "stack") != 0 || run_info(r)->format_minor < SINCE)
        return true;
    if (!sec_stack_draw_checks(s, r, &checks, err))
        return false;
    if (checks)
        return true;
    bool ok = run_each(r, "SELECT value FROM summary WHERE key = 'bottleneck'", NULL,
                       sec_stack_on_text, &worst, err);
    for (size_t i = 0; ok && i < sizeof pictures / sizeof *pictures; i++)
        ok = sections_draw_bars(s, r, &pictures[i], MOST_BARS, err);
    ok = ok && run_each(r,
                        "SELECT operation, min(t_ns) FROM stack_step GROUP BY operation ORDER BY "
                        "operation IN ('write', 'read') DESC, min(t_ns)",
                        NULL, sec_stack_on_operation, &o, err);
    for (size_t i = 0; ok && i < o.n; i++)
        ok = sec_stack_draw_operation(s, r, o.v[i], err);
    ok = ok &&
         report_add_query(
             s, "phases", "What the test reached, phase by phase.", r,
             "SELECT access, rep, transfers, bytes AS \"bytes B\", round(total_ns / "
             "1e6, 3) AS \"total ms\", round(io_ns / 1e6, 3) AS \"wr/rd ms\", "
             "round(io_ns / 1e6 * (SELECT value FROM summary WHERE key = 'io_low'), 3) "
             "AS \"low ms\", round(io_ns / 1e6 * (SELECT value FROM summary WHERE key "
             "= 'io_high'), 3) AS \"high ms\", round(bytes_per_s / 1e6, 3) AS \"rate MB/s\", "
             "round(iops, 3) AS iops, round(latency_ns / 1e3, 3) AS \"latency us\" "
             "FROM stack_phase",
             NULL, err) &&
         report_add_query(s, "messages", "What was sent.", r, "SELECT * FROM stack_message", NULL,
                          err);
    struct wr_str how = {0};

    ok = ok && sec_stack_trust_text(r, &how, err);
    s->says =
        wr_arena_printf(s->arena,
                        "Where operations on files spent their time in the layers of the file "
                        "system; the bottleneck is %s.%s",
                        worst.n ? worst.s : "not known", wr_str_get(&how));
    wr_str_fini(&how);
    wr_str_fini(&worst);
    return ok;
}

const struct report_maker report_stack = {.id = "stack",
                                          .group = "stack",
                                          .title = "The I/O stack",
                                          .each = true,
                                          .make = sec_stack_make};
