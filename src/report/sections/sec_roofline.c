/* sec_roofline.c -- the roof of a data service that was measured: what a client gets against
 * servers per client.
 *
 * Run files of the same host and transport are one service: their ranges are taken together, and
 * the rates that each has measured with its number of servers are drawn in one picture.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sections_priv.h"
#include "stat/roofline.h"

enum { STEPS = 72, MOST_POINTS = 400, MOST_SERVICES = 6 };

/* As `weir roofline model` has them; through: the clients' node is a ceiling, too. */
static const struct kind {
    const char *name, *title, *unit;
    double scale;
    bool through;
} kinds[] = {
    {"rpc", "RPCs", "kops/s", 1e3, false},
    {"bw", "Network bandwidth", "GiB/s", 1024.0 * 1024 * 1024, true},
    {"iops", "Storage operations", "kops/s", 1e3, false},
    {"sbw", "Storage bandwidth", "GiB/s", 1024.0 * 1024 * 1024, true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct point {
    double servers, clients, v;
    bool disturbed; /* others used the machine meanwhile */
};

struct metric {
    double end[4];  /* client_min, client_max, server_min, server_max; NaN: not measured */
    bool disturbed; /* a peak comes from a window that others disturbed */
    struct stat_roof roof;
    struct point point[MOST_POINTS];
    size_t npoints;
};

/* The measurements of one host and transport, over all runs given. */
struct service {
    const char *name; /* its host and transport */
    struct metric metric[KINDS];
    double per_node;
    size_t runs;
};

/* ---- reading ---- */

/* A range of several runs is as wide as theirs together. */
static void sec_roofline_widen(double *end, int which, double v)
{
    if (!(v > 0) || !isfinite(v))
        return;
    if (isnan(*end))
        *end = v;
    else
        *end = which % 2 ? fmax(*end, v) : fmin(*end, v);
}

static void sec_roofline_on_end(struct service *s, const char *key, double v)
{
    static const char *const ends[] = {"client_min", "client_max", "server_min", "server_max"};

    for (int k = 0; k < KINDS; k++) {
        size_t n = strlen(kinds[k].name);

        for (int e = 0; !strncmp(key, kinds[k].name, n) && key[n] == '.' && e < 4; e++)
            if (!strcmp(key + n + 1, ends[e]))
                sec_roofline_widen(&s->metric[k].end[e], e, v / kinds[k].scale);
        if (!strncmp(key, kinds[k].name, n) && key[n] == '.' && strstr(key, "_disturbed") && v > 0)
            s->metric[k].disturbed = true;
    }
}

/* METRIC.SERVERS.CLIENTS: the metric, or NULL. */
static struct metric *sec_roofline_point_of_key(struct service *s, const char *key,
                                                struct point *ret)
{
    for (int k = 0; k < KINDS; k++) {
        size_t n = strlen(kinds[k].name);
        char *end;

        if (strncmp(key, kinds[k].name, n) != 0 || key[n] != '.')
            continue;
        double servers = (double)strtoul(key + n + 1, &end, 10);
        double clients = *end == '.' ? (double)strtoul(end + 1, NULL, 10) : 0;

        *ret = (struct point){.servers = servers, .clients = clients, .v = 1 / kinds[k].scale};
        return servers > 0 && servers < 1e5 && clients > 0 && clients < 1e5 ? &s->metric[k] : NULL;
    }
    return NULL;
}

static void sec_roofline_on_point(struct service *s, const char *key, double v)
{
    struct point p;
    struct metric *m = sec_roofline_point_of_key(s, key, &p);

    if (!m || !(v > 0) || m->npoints == MOST_POINTS)
        return;
    p.v *= v;
    m->point[m->npoints++] = p;
}

/* Keys come in order, so that the point of the same run is the last one of its kind. */
static void sec_roofline_mark_point(struct service *s, const char *key)
{
    struct point p;
    struct metric *m = sec_roofline_point_of_key(s, key, &p);

    for (size_t i = m ? m->npoints : 0; i-- > 0;)
        if (m->point[i].servers == p.servers && m->point[i].clients == p.clients) {
            m->point[i].disturbed = true;
            return;
        }
}

static bool sec_roofline_on_key(void *ctx, const struct run_rows *q)
{
    struct service *s = ctx;
    const char *key = run_rows_text(q, 0, NULL) + strlen("roofline.");
    double v = run_rows_real(q, 1);

    if (!strcmp(key, "per_node") && v >= 1)
        s->per_node = v;
    else if (!strncmp(key, "point.", 6))
        sec_roofline_on_point(s, key + 6, v);
    else if (!strncmp(key, "point_disturbed.", 16) && v > 0)
        sec_roofline_mark_point(s, key + 16);
    else
        sec_roofline_on_end(s, key, v);
    return true;
}

static bool sec_roofline_on_name(void *ctx, const struct run_rows *q)
{
    wr_str_addf(ctx, "%s%s", ((struct wr_str *)ctx)->n ? ", " : "", run_rows_text(q, 0, NULL));
    return true;
}

/* The service that a run belongs to; NULL: there are too many. */
static struct service *sec_roofline_service_of(struct service *all, size_t *n, const char *name,
                                               struct wr_arena *arena)
{
    for (size_t i = 0; i < *n; i++)
        if (!strcmp(all[i].name, name))
            return &all[i];
    if (*n == MOST_SERVICES)
        return NULL;
    struct service *s = &all[(*n)++];

    s->name = wr_arena_strdup(arena, name);
    s->per_node = 1;
    for (int k = 0; k < KINDS; k++)
        for (int e = 0; e < 4; e++)
            s->metric[k].end[e] = NAN;
    return s;
}

static bool sec_roofline_read_run(struct service *all, size_t *n, struct run_reader *r,
                                  struct wr_arena *arena, struct wr_err *err)
{
    struct wr_str name = {0};
    double any;
    bool found = false;
    bool ok = run_number(r, "SELECT 1 FROM summary WHERE key GLOB 'roofline.*' LIMIT 1", &any,
                         &found, err);

    if (!ok || !found)
        return ok;
    ok = run_each(r,
                  "SELECT value FROM meta WHERE key = 'host' UNION ALL SELECT value FROM summary "
                  "WHERE key = 'transport'",
                  NULL, sec_roofline_on_name, &name, err);
    struct service *s = ok ? sec_roofline_service_of(all, n, wr_str_get(&name), arena) : NULL;

    wr_str_fini(&name);
    if (!s)
        return ok;
    s->runs++;
    return run_each(r, "SELECT key, value FROM summary WHERE key GLOB 'roofline.*' ORDER BY key",
                    NULL, sec_roofline_on_key, s, err);
}

/* False: it was not measured. */
static bool sec_roofline_make_roof(struct metric *m, const struct kind *k, double per_node)
{
    for (int e = 0; e < 4; e++)
        if (isnan(m->end[e]))
            return false;
    m->roof = (struct stat_roof){.client = {m->end[0], m->end[1]},
                                 .server = {m->end[2], m->end[3]},
                                 .node = {INFINITY, INFINITY},
                                 .per_node = per_node};
    if (k->through)
        m->roof.node = (struct stat_range){m->end[2] * per_node, m->end[3] * per_node};
    return m->roof.client.hi >= m->roof.client.lo && m->roof.server.hi >= m->roof.server.lo;
}

/* ---- drawing ---- */

/* Measured rates, a series for each number of servers. */
static void sec_roofline_draw_points(struct report_section *s, const struct metric *m,
                                     struct report_curves *c)
{
    for (size_t i = 0; i < m->npoints; i++) {
        const struct point *p = &m->point[i];
        struct report_curve *of =
            report_curve(s, c,
                         wr_arena_printf(s->arena, "measured, %.0f server%s", p->servers,
                                         p->servers > 1 ? "s" : ""));

        wr_vec_push(&of->point, (struct report_point){.x = p->servers / p->clients,
                                                      .y = p->v / p->clients,
                                                      .open = p->disturbed});
    }
}

/* The largest number of processes that was measured, divided as is best. */
struct best {
    double servers, clients, y;
};

static struct best sec_roofline_choose(const struct metric *m)
{
    double processes = 2;

    for (size_t i = 0; i < m->npoints; i++)
        processes = fmax(processes, m->point[i].servers + m->point[i].clients);
    struct best b = {.servers = (double)stat_roof_best_servers(&m->roof, (uint64_t)processes)};

    b.clients = processes - b.servers;
    b.y = stat_roof_mva(&m->roof, 1, b.servers, b.clients, STAT_SERVICE_EXP);
    return b;
}

/* From well below the knee to above it, and all points. */
static void sec_roofline_choose_range(const struct metric *m, const struct best *b, double *from,
                                      double *to)
{
    struct stat_range knee = stat_roof_knee(&m->roof);

    *from = fmin(knee.lo / 8, b->servers / b->clients / 2);
    *to = fmax(knee.hi * 8, b->servers / b->clients * 2);
    for (size_t i = 0; i < m->npoints; i++) {
        *from = fmin(*from, m->point[i].servers / m->point[i].clients / 2);
        *to = fmax(*to, m->point[i].servers / m->point[i].clients * 2);
    }
    *from = fmax(*from, 1e-4); /* thousands of clients at one server take long to add up */
}

/* What queueing leaves of the roof, all clients together. */
static struct stat_range sec_roofline_mva_total(const struct metric *m, const struct point *p)
{
    return (struct stat_range){
        p->clients * stat_roof_mva(&m->roof, 0, p->servers, p->clients, STAT_SERVICE_EXP),
        p->clients * stat_roof_mva(&m->roof, 1, p->servers, p->clients, STAT_SERVICE_EXP)};
}

/* How far measured rates are from the range with queueing. */
static const char *sec_roofline_put_distance(struct report_section *s, const struct metric *m)
{
    double worst = 0;

    if (!m->npoints)
        return "";
    for (size_t i = 0; i < m->npoints; i++) {
        double off = stat_range_distance(sec_roofline_mva_total(m, &m->point[i]), m->point[i].v);

        if (isnan(off))
            return " How far measured rates are from the roof is not known: its range is too wide.";
        worst = fabs(off) > fabs(worst) ? off : worst;
    }
    if (fabs(worst) < 0.05)
        return " What was measured is within the range with queueing.";
    return wr_arena_printf(s->arena,
                           " What was measured is at most %.3g %% %s the range with queueing.",
                           fabs(worst), worst > 0 ? "above" : "below");
}

static const char *sec_roofline_put_summary(struct report_section *s, const struct metric *m,
                                            const struct kind *k, const struct best *b)
{
    return wr_arena_printf(s->arena,
                           "The knee is at %.3g servers per client: left of it more servers help, "
                           "right of it the clients are the limit. Of %.0f processes, %.0f should "
                           "be %s: each client then gets %.4g %s.%s%s",
                           stat_roof_knee_mid(&m->roof), b->servers + b->clients, b->servers,
                           b->servers > 1 ? "servers" : "the server", b->y, k->unit,
                           sec_roofline_put_distance(s, m),
                           m->disturbed ? " Others used the machine while the peaks were measured, "
                                          "so the roof may be too low."
                                        : "");
}

static bool sec_roofline_any_disturbed(const struct metric *m)
{
    bool any = false;

    for (size_t i = 0; i < m->npoints; i++)
        any = any || m->point[i].disturbed;
    return any;
}

static void sec_roofline_draw_metric(struct report_section *s, const struct metric *m,
                                     const struct kind *k, const char *id, const char *whose)
{
    struct best b = sec_roofline_choose(m);
    double from, to, step[STEPS + 1];
    struct report_curves measured = {0};
    struct report_point *roof = wr_arena_alloc(s->arena, (STEPS + 1) * sizeof *roof);
    struct report_point *mva = wr_arena_alloc(s->arena, (STEPS + 1) * sizeof *mva);
    struct report_point *best = wr_arena_alloc(s->arena, sizeof *best);
    struct report_mark *mark = wr_arena_alloc(s->arena, sizeof *mark);

    sec_roofline_choose_range(m, &b, &from, &to);
    stat_roof_steps(&m->roof, from, to, step, STEPS + 1);
    for (int i = 0; i <= STEPS; i++) {
        double x = step[i];
        struct stat_range r = stat_roof_at(&m->roof, x, 1).client;

        /* The roof is a bound: the high end, with the band of what is not known below it. The same
         * parameters give the curve with queueing, so that it is never above the roof. */
        roof[i] = (struct report_point){x, r.hi, r.lo, r.hi, false};
        mva[i] =
            (struct report_point){.x = x, .y = stat_roof_mva(&m->roof, 1, x, 1, STAT_SERVICE_EXP)};
    }
    sec_roofline_draw_points(s, m, &measured);
    size_t n = measured.v.n;
    const struct report_series *points =
        report_series(s, &measured, (struct report_series){.marks_only = true});
    struct report_series *series = wr_arena_alloc(s->arena, (n + 3) * sizeof *series);
    series[0] = (struct report_series){
        .name = "roof", .point = roof, .n = STEPS + 1, .line_only = true, .fan = true};
    series[1] = (struct report_series){
        .name = "with queueing (MVA)", .point = mva, .n = STEPS + 1, .line_only = true};
    *best = (struct report_point){.x = b.servers / b.clients, .y = b.y};
    series[2] = (struct report_series){.name = wr_arena_printf(s->arena,
                                                               "best of %.0f processes: %.0f "
                                                               "server%s, %.0f client%s",
                                                               b.servers + b.clients, b.servers,
                                                               b.servers > 1 ? "s" : "", b.clients,
                                                               b.clients > 1 ? "s" : ""),
                                       .point = best,
                                       .n = 1,
                                       .marks_only = true};
    if (n)
        memcpy(series + 3, points, n * sizeof *series);
    *mark = (struct report_mark){.at = stat_roof_knee_mid(&m->roof), .label = "knee"};
    report_add_figure(s, id, REPORT_LINES)->chart = (struct report_chart){
        .title = wr_arena_printf(s->arena, "%s per client: roofline%s", k->title, whose),
        .desc = sec_roofline_put_summary(s, m, k, &b),
        .open_means =
            sec_roofline_any_disturbed(m) ? "measured while others used the machine" : NULL,
        .x = {.label = "servers per client", .log = true, .min = from, .max = to},
        .y = {.label = "per client", .unit = k->unit, .log = true},
        .series = series,
        .nseries = n + 3,
        .mark = mark,
        .nmarks = 1};
}

static void sec_roofline_tabulate(struct report_section *s, const struct metric *m,
                                  const struct kind *k, const char *id, const char *whose)
{
    static const char *const head[] = {"servers",   "clients", "measured",
                                       "roof, low", "high",    "with queueing, low",
                                       "high",      "off %",   "disturbed"};
    struct report_table *t = report_add_sheet(
        s, wr_arena_printf(s->arena, "%s-points", id),
        wr_arena_printf(s->arena,
                        "%s%s: what was measured beside the model, all clients together, in %s.",
                        k->title, whose, k->unit),
        9, 0);

    for (size_t i = 0; i < t->ncols; i++)
        report_table_add(t, "%s", head[i]);
    for (size_t i = 0; i < m->npoints; i++) {
        const struct point *p = &m->point[i];
        struct stat_roof_point at = stat_roof_at(&m->roof, p->servers, p->clients);
        struct stat_range mva = sec_roofline_mva_total(m, p);
        double off = stat_range_distance(mva, p->v);

        report_table_number(t, p->servers, 0);
        report_table_number(t, p->clients, 0);
        report_table_number(t, p->v, 3);
        report_table_number(t, at.total.lo, 3);
        report_table_number(t, at.total.hi, 3);
        report_table_number(t, mva.lo, 3);
        report_table_number(t, mva.hi, 3);
        if (isnan(off))
            report_table_add(t, "not known");
        else
            report_table_number(t, off, 1);
        report_table_add(t, p->disturbed ? "yes" : "no");
    }
}

static void sec_roofline_draw_service(struct report_section *s, struct service *v, size_t number,
                                      bool several)
{
    const char *whose = several ? wr_arena_printf(s->arena, ", %s", v->name) : "";

    for (int k = 0; k < KINDS; k++) {
        struct metric *m = &v->metric[k];
        const char *id =
            several ? wr_arena_printf(s->arena, "%s-%zu", kinds[k].name, number) : kinds[k].name;

        if (!sec_roofline_make_roof(m, &kinds[k], v->per_node))
            continue;
        sec_roofline_draw_metric(s, m, &kinds[k], id, whose);
        if (m->npoints)
            sec_roofline_tabulate(s, m, &kinds[k], id, whose);
    }
}

/* Which side limits a service: the knee of each of its rates. */
static const char *sec_roofline_words(struct report_section *s, struct service *v)
{
    struct wr_str w = {0};

    for (int k = 0; k < KINDS; k++)
        if (sec_roofline_make_roof(&v->metric[k], &kinds[k], v->per_node))
            wr_str_addf(&w, "%s%s at %.3g", w.n ? ", " : "", kinds[k].title,
                        stat_roof_knee_mid(&v->metric[k].roof));
    const char *kept =
        w.n ? wr_arena_printf(s->arena,
                              "With fewer servers per client than at the knee the servers limit "
                              "the service, with more the clients do: %s.",
                              w.s)
            : NULL;

    wr_str_fini(&w);
    return kept;
}

static bool sec_roofline_make(const struct report_inputs *in, size_t which,
                              struct report_section *s, struct wr_err *err)
{
    struct service *all = wr_zalloc(MOST_SERVICES, sizeof *all);
    size_t n = 0, runs = 0;
    bool ok = true;

    (void)which;
    for (size_t i = 0; ok && i < in->v.n; i++)
        if (in->v.v[i].run)
            ok = sec_roofline_read_run(all, &n, in->v.v[i].run, s->arena, err);
    for (size_t i = 0; ok && i < n; i++) {
        sec_roofline_draw_service(s, &all[i], i + 1, n > 1);
        runs += all[i].runs;
    }
    s->says = wr_arena_printf(
        s->arena,
        "Throughput per client of a data service against servers per client, from "
        "%zu run%s: the roofline with its band of uncertainty, the prediction of the "
        "queueing model, measured points, and the best division of processes.",
        runs, runs == 1 ? "" : "s");
    const char *words = ok && n == 1 ? sec_roofline_words(s, &all[0]) : NULL;

    s->says = words ? words : s->says;
    free(all);
    return ok;
}

const struct report_maker report_roofline = {
    .id = "roofline", .group = "roofline", .title = "Roofline", .make = sec_roofline_make};
