/* roofline_tables.c -- prints rooflines for `weir roofline model`, one table per view.
 *
 * views[] has the columns of each view and the function that fills its rows. The numbers come from
 * stat/roofline.h; nothing is computed here but units and rounding.
 */
#include "cli/roofline_tables.h"

#include <math.h>
#include <stddef.h>

static void roofline_put_range(struct cli_table *t, struct stat_range r)
{
    cli_table_real(t, r.lo);
    cli_table_real(t, r.hi);
}

static void roofline_put_name(struct cli_table *t, const struct roofline_system *s,
                              enum roofline_metric m)
{
    cli_table_text(t, s->name);
    cli_table_text(t, roofline_metrics[m].name);
}

/* The third ceiling's columns: empty where there is none. */
static void roofline_put_third(struct cli_table *t, const struct stat_roof *r, double servers,
                               double clients)
{
    struct stat_roof_point p = stat_roof_at(r, servers, clients);

    if (isinf(r->node.lo)) {
        for (int i = 0; i < 5; i++)
            cli_table_null(t);
        return;
    }
    roofline_put_range(t, p.client);
    roofline_put_range(t, p.total);
    cli_table_text(t, stat_bound_names[p.bound_hi]);
}

#define THIRD                                                                                   \
    {"node_per_client_min", NULL}, {"node_per_client_max", NULL}, {"node_agg_limit_min", NULL}, \
        {"node_agg_limit_max", NULL},                                                           \
    {                                                                                           \
        "node_bound", NULL                                                                      \
    }

/* ---- the model of an allocation ---- */

static const struct cli_column model_columns[] = {
    {"system", NULL},
    {"metric", NULL},
    {"unit", NULL},
    {"client_min", NULL},
    {"client_max", NULL},
    {"server_min", NULL},
    {"server_max", NULL},
    {"xstar_min", NULL},
    {"xstar_mid", NULL},
    {"xstar_max", NULL},
    {"clients_per_server_max", NULL},
    {"clients_per_server_min", NULL},
    {"node_agg_min", NULL},
    {"node_agg_max", NULL},
    {"servers", NULL},
    {"clients", NULL},
    {"x", NULL},
    {"per_client_min", NULL},
    {"per_client_max", NULL},
    {"per_server_min", NULL},
    {"per_server_max", NULL},
    {"agg_min", NULL},
    {"agg_max", NULL},
    {"bound_min", NULL},
    {"bound_max", NULL},
    {"mva_agg_min", NULL},
    {"mva_agg_max", NULL},
    {"node_xstar_mid", NULL},
    THIRD,
    {"best_servers", NULL},
    {"best_clients", NULL},
    {"best_agg_min", NULL},
    {"best_agg_max", NULL},
    {"disturbed", NULL},
};

static void roofline_put_best(struct cli_table *t, const struct stat_roof *r, uint64_t processes)
{
    if (processes < 2) {
        for (int i = 0; i < 4; i++)
            cli_table_null(t);
        return;
    }
    uint64_t servers = stat_roof_best_servers(r, processes);
    struct stat_roof_point p = stat_roof_at(r, (double)servers, (double)(processes - servers));

    cli_table_int(t, (int64_t)servers);
    cli_table_int(t, (int64_t)(processes - servers));
    roofline_put_range(t, p.total);
}

static void roofline_put_at(struct cli_table *t, const struct stat_roof *two, double servers,
                            double clients)
{
    struct stat_roof_point p = stat_roof_at(two, servers, clients);

    cli_table_int(t, (int64_t)servers);
    cli_table_int(t, (int64_t)clients);
    cli_table_real(t, p.x);
    roofline_put_range(t, p.client);
    roofline_put_range(t, p.server);
    roofline_put_range(t, p.total);
    cli_table_text(t, stat_bound_names[p.bound_lo]);
    cli_table_text(t, stat_bound_names[p.bound_hi]);
}

static struct stat_range roofline_mva_total(const struct stat_roof *r, double servers,
                                            double clients)
{
    return (struct stat_range){clients * stat_roof_mva(r, 0, servers, clients, STAT_SERVICE_EXP),
                               clients * stat_roof_mva(r, 1, servers, clients, STAT_SERVICE_EXP)};
}

/* Every metric of every system that has it. */
typedef void put_fn(struct cli_table *t, const struct roofline_system *s, enum roofline_metric m,
                    const struct roofline_ask *ask);

static void roofline_put_each(struct cli_table *t, const struct roofline_ask *ask, put_fn *put)
{
    for (size_t i = 0; i < ask->params->system.n; i++)
        for (int m = 0; m < ROOFLINE_METRICS; m++)
            if (ask->params->system.v[i].has[m])
                put(t, &ask->params->system.v[i], (enum roofline_metric)m, ask);
}

static void roofline_put_model_row(struct cli_table *t, const struct roofline_system *s,
                                   enum roofline_metric m, const struct roofline_ask *ask)
{
    const struct stat_roof *r = &s->roof[m];
    struct stat_roof two = roofline_two_ceilings(*r);
    struct stat_range knee = stat_roof_knee(&two);
    double servers = ask->server_nodes * s->per_node, clients = ask->client_nodes * s->per_node;

    roofline_put_name(t, s, m);
    cli_table_text(t, roofline_metrics[m].unit);
    roofline_put_range(t, r->client);
    roofline_put_range(t, r->server);
    cli_table_real(t, knee.lo);
    cli_table_real(t, stat_roof_knee_mid(&two));
    cli_table_real(t, knee.hi);
    cli_table_real(t, 1 / knee.lo);
    cli_table_real(t, 1 / knee.hi);
    roofline_put_range(t,
                       (struct stat_range){r->server.lo * s->per_node, r->server.hi * s->per_node});
    roofline_put_at(t, &two, servers, clients);
    roofline_put_range(t, roofline_mva_total(r, servers, clients));
    cli_table_real(t, isinf(r->node.lo) ? NAN : stat_roof_knee_mid(r));
    roofline_put_third(t, r, servers, clients);
    roofline_put_best(t, r, ask->processes ? ask->processes : (uint64_t)(servers + clients));
    cli_table_int(t, (int64_t)(s->disturbed[m][0] + s->disturbed[m][1]));
}

static void roofline_put_model(struct cli_table *t, const struct roofline_ask *ask)
{
    roofline_put_each(t, ask, roofline_put_model_row);
}

/* ---- every number of nodes up to the allocation's ---- */

static const struct cli_column grid_columns[] = {
    {"system", NULL},
    {"metric", NULL},
    {"server_nodes", NULL},
    {"client_nodes", NULL},
    {"servers", NULL},
    {"clients", NULL},
    {"x", NULL},
    {"per_client_min", NULL},
    {"per_client_max", NULL},
    {"per_server_min", NULL},
    {"per_server_max", NULL},
    {"agg_min", NULL},
    {"agg_max", NULL},
    {"bound_min", NULL},
    {"bound_max", NULL},
    {"mva_agg_min", NULL},
    {"mva_agg_max", NULL},
    THIRD,
};

static void roofline_put_grid_of(struct cli_table *t, const struct roofline_system *s,
                                 enum roofline_metric m, const struct roofline_ask *ask)
{
    const struct stat_roof *r = &s->roof[m];
    struct stat_roof two = roofline_two_ceilings(*r);

    for (uint32_t a = 1; a <= ask->server_nodes; a++)
        for (uint32_t b = 1; b <= ask->client_nodes; b++) {
            double servers = a * s->per_node, clients = b * s->per_node;

            roofline_put_name(t, s, m);
            cli_table_int(t, a);
            cli_table_int(t, b);
            roofline_put_at(t, &two, servers, clients);
            roofline_put_range(t, roofline_mva_total(r, servers, clients));
            roofline_put_third(t, r, servers, clients);
        }
}

static void roofline_put_grid(struct cli_table *t, const struct roofline_ask *ask)
{
    roofline_put_each(t, ask, roofline_put_grid_of);
}

/* ---- the knee, sharp and round ---- */

static const struct cli_column mva_columns[] = {
    {"system", NULL},
    {"metric", NULL},
    {"x_servers_per_client", NULL},
    {"roof_perclient_min", NULL},
    {"mva_exp_perclient_min", NULL},
    {"mva_det_perclient_min", NULL},
    {"roof_perclient_mid", NULL},
    {"mva_exp_perclient_mid", NULL},
    {"mva_det_perclient_mid", NULL},
    {"roof_perclient_max", NULL},
    {"mva_exp_perclient_max", NULL},
    {"mva_det_perclient_max", NULL},
};

static void roofline_put_mva_of(struct cli_table *t, const struct roofline_system *s,
                                enum roofline_metric m, const struct roofline_ask *ask)
{
    static const double parts[][2] = {{1, 16}, {1, 8}, {1, 5}, {1, 4}, {1, 3},
                                      {1, 2},  {1, 1}, {2, 1}, {4, 1}};
    const struct stat_roof *r = &s->roof[m];

    (void)ask;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        double servers = parts[i][0], clients = parts[i][1];
        struct stat_roof_point p = stat_roof_at(r, servers, clients);
        roofline_put_name(t, s, m);
        cli_table_real(t, p.x);
        for (int at = 0; at < 3; at++) {
            cli_table_real(t, stat_roof_bound(r, at / 2.0, servers, clients));
            cli_table_real(t, stat_roof_mva(r, at / 2.0, servers, clients, STAT_SERVICE_EXP));
            cli_table_real(t, stat_roof_mva(r, at / 2.0, servers, clients, STAT_SERVICE_DET));
        }
    }
}

static void roofline_put_mva(struct cli_table *t, const struct roofline_ask *ask)
{
    roofline_put_each(t, ask, roofline_put_mva_of);
}

/* ---- measured points ---- */

static const struct cli_column point_columns[] = {
    {"system", NULL},
    {"metric", NULL},
    {"unit", NULL},
    {"servers", NULL},
    {"clients", NULL},
    {"x", NULL},
    {"measured", NULL},
    {"agg_min", "roof, from"},
    {"agg_max", "to"},
    {"mva_agg_min", "MVA, from"},
    {"mva_agg_max", "to"},
    {"bound", NULL},
    {"roof_distance_percent", "from roof, %"},
    {"mva_distance_percent", "from MVA, %"},
    {"disturbed", NULL},
};

static void roofline_put_distance(struct cli_table *t, struct stat_range band, double v)
{
    cli_table_real_or(t, stat_range_distance(band, v), "not known");
}

static void roofline_put_points(struct cli_table *t, const struct roofline_ask *ask)
{
    for (size_t i = 0; i < ask->params->seen.n; i++) {
        const struct roofline_seen *seen = &ask->params->seen.v[i];
        const struct roofline_system *s = roofline_find(ask->params, seen->system);
        const struct stat_roof *r = &s->roof[seen->metric];
        struct stat_roof_point p = stat_roof_at(r, seen->servers, seen->clients);
        struct stat_range mva = roofline_mva_total(r, seen->servers, seen->clients);

        roofline_put_name(t, s, seen->metric);
        cli_table_text(t, roofline_metrics[seen->metric].unit);
        cli_table_real(t, seen->servers);
        cli_table_real(t, seen->clients);
        cli_table_real(t, p.x);
        cli_table_real(t, seen->measured);
        roofline_put_range(t, p.total);
        roofline_put_range(t, mva);
        cli_table_text(t, p.bound_lo == p.bound_hi ? stat_bound_names[p.bound_lo] : "either");
        roofline_put_distance(t, p.total, seen->measured);
        roofline_put_distance(t, mva, seen->measured);
        cli_table_bool(t, seen->disturbed > 0);
    }
}

/* ---- a mixed workload ---- */

static const struct cli_column mix_columns[] = {
    {"system", NULL},
    {"servers", NULL},
    {"clients", NULL},
    {"client_ops_min", "client, ops/s from"},
    {"client_ops_max", "to"},
    {"server_ops_min", "server, ops/s from"},
    {"server_ops_max", "to"},
    {"xstar_mid", "x*"},
    {"agg_ops_min", "all, ops/s from"},
    {"agg_ops_max", "to"},
    {"bound", NULL},
    {"best_servers", NULL},
    {"best_clients", NULL},
    {"best_agg_ops_min", "best, from"},
    {"best_agg_ops_max", "to"},
};

/* Amounts are operations and bytes; so the rates become operations and bytes per second. */
static struct stat_roof roofline_mix_of(const struct roofline_system *s, const double *amount)
{
    struct stat_roof roofs[ROOFLINE_METRICS];

    for (int m = 0; m < ROOFLINE_METRICS; m++) {
        struct stat_roof *r = &roofs[m];
        double scale = roofline_metrics[m].scale;

        *r = s->roof[m];
        r->client = (struct stat_range){r->client.lo * scale, r->client.hi * scale};
        r->server = (struct stat_range){r->server.lo * scale, r->server.hi * scale};
        r->node = (struct stat_range){r->node.lo * scale, r->node.hi * scale};
    }
    return stat_roof_mix(roofs, amount, ROOFLINE_METRICS);
}

static void roofline_put_mix(struct cli_table *t, const struct roofline_ask *ask)
{
    for (size_t i = 0; i < ask->params->system.n; i++) {
        const struct roofline_system *s = &ask->params->system.v[i];
        bool known = true;

        for (int m = 0; m < ROOFLINE_METRICS; m++)
            known = known && (s->has[m] || !(ask->amount[m] > 0));
        if (!known)
            continue;
        struct stat_roof mix = roofline_mix_of(s, ask->amount);
        double servers = ask->server_nodes * s->per_node, clients = ask->client_nodes * s->per_node;
        struct stat_roof_point p = stat_roof_at(&mix, servers, clients);

        cli_table_text(t, s->name);
        cli_table_int(t, (int64_t)servers);
        cli_table_int(t, (int64_t)clients);
        roofline_put_range(t, mix.client);
        roofline_put_range(t, mix.server);
        cli_table_real(t, stat_roof_knee_mid(&mix));
        roofline_put_range(t, p.total);
        cli_table_text(t, p.bound_lo == p.bound_hi ? stat_bound_names[p.bound_lo] : "either");
        roofline_put_best(t, &mix, ask->processes ? ask->processes : (uint64_t)(servers + clients));
    }
}

/* What fits a terminal: the allocation's line in short. CSV and JSON have all columns. */
static const struct cli_column short_columns[] = {
    {"system", NULL},          {"metric", NULL},  {"unit", NULL},
    {"client", "C"},           {"server", "S"},   {"xstar", "x*"},
    {"agg_min", "roof, from"}, {"agg_max", "to"}, {"mva_min", "MVA, from"},
    {"mva_max", "to"},         {"bound", NULL},   {"best", "best servers"},
};

static void roofline_put_short_row(struct cli_table *t, const struct roofline_system *s,
                                   enum roofline_metric m, const struct roofline_ask *ask)
{
    const struct stat_roof *r = &s->roof[m];
    double servers = ask->server_nodes * s->per_node, clients = ask->client_nodes * s->per_node;
    uint64_t all = ask->processes ? ask->processes : (uint64_t)(servers + clients);
    struct stat_roof_point p = stat_roof_at(r, servers, clients);

    roofline_put_name(t, s, m);
    cli_table_text(t, roofline_metrics[m].unit);
    cli_table_real(t, stat_range_mid(r->client));
    cli_table_real(t, stat_range_mid(r->server));
    cli_table_real(t, stat_roof_knee_mid(r));
    roofline_put_range(t, p.total);
    roofline_put_range(t, roofline_mva_total(r, servers, clients));
    cli_table_text(t, p.bound_lo == p.bound_hi ? stat_bound_names[p.bound_lo] : "either");
    cli_table_int(t, all < 2 ? 0 : (int64_t)stat_roof_best_servers(r, all));
}

static void roofline_put_short(struct cli_table *t, const struct roofline_ask *ask)
{
    roofline_put_each(t, ask, roofline_put_short_row);
}

/* ---- what is to be said against all that ---- */

static void roofline_note_peak(FILE *out, const struct roofline_system *s, enum roofline_metric m,
                               int side)
{
    if (s->disturbed[m][side] > 0)
        fprintf(out,
                "%s: %.0f peak%s of %s of %s from windows that others disturbed: the roof may be "
                "too low; measure again on an idle machine\n",
                s->name, s->disturbed[m][side], s->disturbed[m][side] > 1 ? "s" : "",
                side ? "S" : "C", roofline_metrics[m].name);
}

static void roofline_note_source(FILE *out, const struct roofline_system *s, enum roofline_metric m,
                                 int side)
{
    if (s->from_point[m][side])
        fprintf(out,
                "%s: %s of %s is what a measured point shows, which was faster than the windows "
                "that measure %s; measure with more samples\n",
                s->name, side ? "S" : "C", roofline_metrics[m].name, side ? "S" : "C");
}

static void roofline_note_width(FILE *out, const struct roofline_system *s, enum roofline_metric m,
                                int side)
{
    const struct stat_range *r = side ? &s->roof[m].server : &s->roof[m].client;

    if (r->hi > STAT_KNOWN * r->lo)
        fprintf(out,
                "%s: %s of %s is only known to be from %.4g to %.4g %s: inside that the distance "
                "of a rate is not known\n",
                s->name, side ? "S" : "C", roofline_metrics[m].name, r->lo, r->hi,
                roofline_metrics[m].unit);
}

void roofline_print_notes(FILE *out, const struct roofline_params *p)
{
    for (size_t i = 0; i < p->system.n; i++)
        for (int m = 0; m < ROOFLINE_METRICS; m++)
            for (int side = 0; p->system.v[i].has[m] && side < 2; side++) {
                roofline_note_peak(out, &p->system.v[i], (enum roofline_metric)m, side);
                roofline_note_source(out, &p->system.v[i], (enum roofline_metric)m, side);
                if (p->seen.n)
                    roofline_note_width(out, &p->system.v[i], (enum roofline_metric)m, side);
            }
}

/* One table of `weir roofline model`: its columns, and the function that adds its rows. */
struct view {
    const struct cli_column *columns;
    int n;
    void (*put)(struct cli_table *t, const struct roofline_ask *ask);
};
#define VIEW(columns, put)                                      \
    {                                                           \
        columns, (int)(sizeof columns / sizeof columns[0]), put \
    }

static const struct view views[ROOFLINE_VIEWS] = {
    [ROOFLINE_VIEW_MODEL] = VIEW(model_columns, roofline_put_model),
    [ROOFLINE_VIEW_GRID] = VIEW(grid_columns, roofline_put_grid),
    [ROOFLINE_VIEW_MVA] = VIEW(mva_columns, roofline_put_mva),
    [ROOFLINE_VIEW_POINTS] = VIEW(point_columns, roofline_put_points),
    [ROOFLINE_VIEW_MIX] = VIEW(mix_columns, roofline_put_mix),
};

void roofline_print(FILE *out, enum cli_format format, enum roofline_view view,
                    const struct roofline_ask *ask)
{
    static const struct view brief = VIEW(short_columns, roofline_put_short);
    const struct view *v =
        view == ROOFLINE_VIEW_MODEL && format == CLI_AS_TEXT ? &brief : &views[view];
    struct cli_table *t = cli_table_open(out, format, v->columns, v->n);

    v->put(t, ask);
    cli_table_close(t);
}
