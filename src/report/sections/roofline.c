/* roofline.c -- the roof of a data service that was measured: what a client gets against servers
 * per client. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sections_priv.h"
#include "stat/roofline.h"

enum { STEPS = 72, MOST_METRICS = 8, MOST_POINTS = 400 };

struct point {
    double servers, clients, v;
};

struct metric {
    char name[64];
    const char *unit;
    struct stat_roof roof;
    struct point point[MOST_POINTS];
    size_t npoints;
};

struct found {
    struct wr_arena *arena;
    struct metric *v; /* [MOST_METRICS] */
    size_t n;
    double per_node;
};

static struct metric *metric_named(struct found *f, const char *name, size_t n)
{
    for (size_t i = 0; i < f->n; i++)
        if (strlen(f->v[i].name) == n && !strncmp(f->v[i].name, name, n))
            return &f->v[i];
    if (f->n == MOST_METRICS || n >= sizeof f->v[0].name)
        return NULL;
    struct metric *m = &f->v[f->n++];
    memcpy(m->name, name, n);
    m->roof.node = (struct stat_range){INFINITY, INFINITY};
    m->roof.per_node = 1;
    return m;
}

/* roofline.METRIC.client_min, ... and roofline.point.METRIC.SERVERS.CLIENTS */
static bool take_key(void *ctx, const struct run_rows *q)
{
    static const char *const ends[] = {"client_min", "client_max", "server_min", "server_max"};
    struct found *f = ctx;
    const char *key = run_rows_text(q, 0, NULL) + strlen("roofline.");
    bool point = !strncmp(key, "point.", 6);

    key += point ? 6 : 0;
    const char *dot = strchr(key, '.');
    struct metric *m = dot ? metric_named(f, key, (size_t)(dot - key)) : NULL;
    if (!m)
        return true;
    m->unit = wr_arena_strdup(f->arena, run_rows_text(q, 2, NULL));
    double v = run_rows_real(q, 1), *const to[] = {&m->roof.client.lo, &m->roof.client.hi,
                                                   &m->roof.server.lo, &m->roof.server.hi};
    for (int i = 0; i < 4 && !point; i++)
        if (!strcmp(dot + 1, ends[i]))
            *to[i] = v;
    const char *second = strchr(dot + 1, '.');
    if (point && second && m->npoints < MOST_POINTS)
        m->point[m->npoints++] = (struct point){(double)strtoul(dot + 1, NULL, 10),
                                                (double)strtoul(second + 1, NULL, 10), v};
    return true;
}

static void draw_points(struct report_section *s, const struct metric *m, struct report_curves *c)
{
    for (size_t i = 0; i < m->npoints; i++) {
        const struct point *p = &m->point[i];
        double servers = p->servers;
        struct report_curve *of = report_curve(
            s, c,
            wr_arena_printf(s->arena, "measured, %.0f server%s", servers, servers > 1 ? "s" : ""));

        if (p->clients > 0)
            wr_vec_push(&of->point,
                        (struct report_point){.x = servers / p->clients, .y = p->v / p->clients});
    }
}

static void draw_metric(struct report_section *s, const struct metric *m)
{
    struct stat_range knee = stat_roof_knee(&m->roof);
    double from = fmax(knee.lo / 8, 1e-4), to = knee.hi * 8;
    struct report_curves measured = {0};
    struct report_point *roof = wr_arena_alloc(s->arena, (STEPS + 1) * sizeof *roof);
    struct report_point *mva = wr_arena_alloc(s->arena, (STEPS + 1) * sizeof *mva);
    struct report_mark *mark = wr_arena_alloc(s->arena, sizeof *mark);

    for (size_t i = 0; i < m->npoints; i++) {
        if (!(m->point[i].clients > 0 && m->point[i].servers > 0))
            continue;
        from = fmin(from, m->point[i].servers / m->point[i].clients / 2);
        to = fmax(to, m->point[i].servers / m->point[i].clients * 2);
    }
    for (int i = 0; i <= STEPS; i++) {
        double x = from * pow(to / from, (double)i / STEPS);
        struct stat_range r = stat_roof_at(&m->roof, x, 1).client;

        roof[i] = (struct report_point){x, stat_range_mid(r), r.lo, r.hi, false};
        mva[i] = (struct report_point){.x = x,
                                       .y = stat_roof_mva(&m->roof, 0.5, x, 1, STAT_SERVICE_EXP)};
    }
    draw_points(s, m, &measured);
    size_t n = measured.v.n;
    const struct report_series *points =
        report_series(s, &measured, (struct report_series){.marks_only = true});
    struct report_series *series = wr_arena_alloc(s->arena, (n + 2) * sizeof *series);
    series[0] = (struct report_series){
        .name = "roof", .point = roof, .n = STEPS + 1, .line_only = true, .fan = true};
    series[1] = (struct report_series){
        .name = "with queueing (MVA)", .point = mva, .n = STEPS + 1, .line_only = true};
    for (size_t i = 0; i < n; i++)
        series[i + 2] = points[i];
    *mark = (struct report_mark){.at = stat_roof_knee_mid(&m->roof), .label = "knee"};
    report_add_figure(s, m->name, REPORT_LINES)->chart = (struct report_chart){
        .title = wr_arena_printf(s->arena, "%s: what a client gets", m->name),
        .desc = wr_arena_printf(
            s->arena,
            "The knee is at %.3g servers per client: left of it more servers help, right of it "
            "the clients are the limit. Of 16 processes, %llu should be servers.",
            stat_roof_knee_mid(&m->roof), (unsigned long long)stat_roof_best_servers(&m->roof, 16)),
        .x = {.label = "servers per client", .log = true, .min = from, .max = to},
        .y = {.label = "per client", .unit = m->unit, .log = true},
        .series = series,
        .nseries = n + 2,
        .mark = mark,
        .nmarks = 1};
}

static void tabulate(struct report_section *s, const struct metric *m)
{
    static const char *const head[] = {"servers", "clients",       "measured", "roof, low",
                                       "high",    "with queueing", "off %"};
    struct report_table *t = report_add_sheet(
        s, wr_arena_printf(s->arena, "%s-points", m->name),
        wr_arena_printf(s->arena,
                        "%s: what was measured beside the model, all clients together, in %s.",
                        m->name, m->unit),
        7, 0);

    for (size_t i = 0; i < t->ncols; i++)
        report_table_add(t, "%s", head[i]);
    for (size_t i = 0; i < m->npoints; i++) {
        double servers = m->point[i].servers, clients = m->point[i].clients;

        if (!(servers > 0 && clients > 0 && clients < 1e5))
            continue;
        struct stat_roof_point at = stat_roof_at(&m->roof, servers, clients);
        double mva = clients * stat_roof_mva(&m->roof, 0.5, servers, clients, STAT_SERVICE_EXP);

        report_table_number(t, servers, 0);
        report_table_number(t, clients, 0);
        report_table_number(t, m->point[i].v, 1);
        report_table_number(t, at.total.lo, 1);
        report_table_number(t, at.total.hi, 1);
        report_table_number(t, mva, 1);
        report_table_number(t, 100 * (m->point[i].v / mva - 1), 1);
    }
}

static bool make_roofline(const struct report_inputs *in, size_t which, struct report_section *s,
                          struct wr_err *err)
{
    struct found f = {.arena = s->arena, .v = wr_zalloc(MOST_METRICS, sizeof *f.v)};
    bool ok = run_each(in->v.v[which].run,
                       "SELECT key, value, unit FROM summary WHERE key GLOB 'roofline.*'", NULL,
                       take_key, &f, err);

    for (size_t i = 0; ok && i < f.n; i++) {
        const struct stat_roof *r = &f.v[i].roof;

        if (!(r->client.lo > 0 && r->client.hi >= r->client.lo && r->server.lo > 0 &&
              r->server.hi >= r->server.lo && isfinite(r->client.hi + r->server.hi)))
            continue;
        draw_metric(s, &f.v[i]);
        if (f.v[i].npoints)
            tabulate(s, &f.v[i]);
    }
    free(f.v);
    return ok;
}

const struct report_maker report_roofline = {.id = "roofline",
                                             .group = "roofline",
                                             .title = "Roofline",
                                             .each = true,
                                             .make = make_roofline};
