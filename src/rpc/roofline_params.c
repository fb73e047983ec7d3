/* roofline_params.c -- reads the parameters of rooflines (roofline_params.h).
 *
 * Two sources fill the same columns: a CSV table with a line per system, and the summary of a run
 * file that `weir roofline collect` wrote. params_make_system() checks both in one place.
 * Invariant: a system that has a metric has all four of its rates, and each range has lo <= hi.
 */
#include "rpc/roofline_params.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/units.h"
#include "run/reader.h"

#define GIB 1073741824.0

const struct roofline_metric_row roofline_metrics[ROOFLINE_METRICS] = {
    {"rpc", "kops/s", 1e3, "RPC rate"},
    {"bw", "GiB/s", GIB, "network bandwidth"},
    {"iops", "kops/s", 1e3, "storage operations"},
    {"sbw", "GiB/s", GIB, "storage bandwidth"},
};
const char *const roofline_metric_names[] = {"rpc", "bw", "iops", "sbw", NULL};

/* ---- a table ---- */

enum { SYSTEM, PER_NODE, NODE_BW, RATES, SOCKETS = RATES + 4 * ROOFLINE_METRICS };
enum { CONNECTIVITY = SOCKETS + 3, NCOLUMNS = CONNECTIVITY + 1 };

/* Those after the rates describe the system and are not looked at. */
static const char *const names[NCOLUMNS] = {
    "system",
    "cores_usable",
    "client_node_bw_gibps",
    "client_rpc_kops_min",
    "client_rpc_kops_max",
    "server_rpc_kops_min",
    "server_rpc_kops_max",
    "client_bw_gibps_min",
    "client_bw_gibps_max",
    "server_bw_gibps_min",
    "server_bw_gibps_max",
    "client_iops_kops_min",
    "client_iops_kops_max",
    "server_iops_kops_min",
    "server_iops_kops_max",
    "client_sbw_gibps_min",
    "client_sbw_gibps_max",
    "server_sbw_gibps_min",
    "server_sbw_gibps_max",
    "sockets",
    "cores_total",
    "nics",
    "nic_connectivity",
};

struct taker {
    struct roofline_params *p;
    double per_node;
    struct wr_err *err;
    bool ok;
};

static bool params_set_rates(struct roofline_system *s, enum roofline_metric m, const double *col,
                             struct wr_err *err)
{
    int known = 0;

    for (int i = 0; i < 4; i++)
        known += !isnan(col[i]);
    if (!known)
        return true;
    if (known < 4)
        return wr_fail(err, WR_INPUT,
                       "system %s has some of the four rates of %s and not the others; give all "
                       "four columns or none",
                       wr_text_clip(s->name).s, roofline_metrics[m].name);
    struct stat_range c = {col[0], col[1]}, v = {col[2], col[3]};

    if (!(c.lo >= 1e-9 && v.lo >= 1e-9 && c.hi >= c.lo && v.hi >= v.lo && c.hi <= 1e12 &&
          v.hi <= 1e12))
        return wr_fail(err, WR_INPUT,
                       "system %s: the rates of %s are not from 1e-9 to 1e12, least first; "
                       "correct them",
                       wr_text_clip(s->name).s, roofline_metrics[m].name);
    s->has[m] = true;
    s->roof[m] = (struct stat_roof){
        .client = c, .server = v, .node = {INFINITY, INFINITY}, .per_node = s->per_node};
    return true;
}

/* A client's node takes what a server's node gives, unless it is known better: they have the
 * same NICs. What comes from storage passes them too. */
static void params_put_node_ceiling(struct roofline_system *s, double node_bw)
{
    static const enum roofline_metric through[] = {ROOFLINE_BW, ROOFLINE_SBW};

    if (!s->has[ROOFLINE_BW] && isnan(node_bw))
        return;
    const struct stat_range *server = &s->roof[ROOFLINE_BW].server;
    struct stat_range node = {server->lo * s->per_node, server->hi * s->per_node};

    if (!isnan(node_bw))
        node = (struct stat_range){node_bw, node_bw};
    for (size_t i = 0; i < sizeof through / sizeof *through; i++)
        s->roof[through[i]].node = node;
}

static bool params_make_system(struct roofline_system *ret, const char *name, const double *col,
                               double per_node, struct wr_err *err)
{
    struct roofline_system s = {.name = name, .per_node = per_node > 0 ? per_node : col[PER_NODE]};

    if (isnan(s.per_node))
        s.per_node = 1;
    if (!(s.per_node >= 1 && s.per_node <= 1e6) || s.per_node != floor(s.per_node))
        return wr_fail(err, WR_INPUT,
                       "system %s has %g processes on a node; give a whole number from 1 on",
                       wr_text_clip(name).s, s.per_node);
    if (!isnan(col[NODE_BW]) && !(col[NODE_BW] >= 1e-9))
        return wr_fail(err, WR_INPUT,
                       "system %s: client_node_bw_gibps is %g; give a number above 0 or leave it "
                       "empty",
                       wr_text_clip(name).s, col[NODE_BW]);
    for (int m = 0; m < ROOFLINE_METRICS; m++)
        if (!params_set_rates(&s, (enum roofline_metric)m, col + RATES + 4 * m, err))
            return false;
    params_put_node_ceiling(&s, col[NODE_BW]);
    *ret = s;
    return true;
}

static void params_on_csv_system(void *ctx, const char *const *text, const double *col)
{
    struct taker *t = ctx;
    struct roofline_system s;

    if (!t->ok)
        return;
    const char *name = wr_arena_strdup(&t->p->arena, text[SYSTEM]);

    if (roofline_find(t->p, name))
        t->ok =
            wr_fail(t->err, WR_INPUT, "system %s comes twice; leave one out", wr_text_clip(name).s);
    else
        t->ok = params_make_system(&s, name, col, t->per_node, t->err);
    if (t->ok)
        wr_vec_push(&t->p->system, s);
}

bool roofline_params_parse(struct roofline_params *ret, const char *name, const char *text,
                           size_t len, double per_node, struct wr_err *err)
{
    static const struct wr_csv_shape shape = {.names = names,
                                              .n = NCOLUMNS,
                                              .needed = 1,
                                              .row = params_on_csv_system,
                                              .texts = 1u << SYSTEM | 1u << CONNECTIVITY};
    struct roofline_params p = {0};
    struct taker t = {&p, per_node, err, true};
    bool ok = wr_csv_parse(&shape, name, text, len, &t, err);

    if (ok && !t.ok)
        ok = wr_wrap(err, "%s", name);
    if (ok && !p.system.n)
        ok = wr_fail(err, WR_INPUT, "%s has no system; add a line below the names", name);
    if (!ok) {
        roofline_params_fini(&p);
        return false;
    }
    *ret = p;
    return true;
}

/* ---- a run file ---- */

static bool params_find_metric(enum roofline_metric *ret, const char *name)
{
    for (int m = 0; m < ROOFLINE_METRICS; m++)
        if (!strcmp(roofline_metrics[m].name, name)) {
            *ret = (enum roofline_metric)m;
            return true;
        }
    return false;
}

static bool params_column_of_key(const char *key, size_t n, int *ret_col, double *ret_scale)
{
    static const char *const ends[] = {"client_min", "client_max", "server_min", "server_max"};

    for (int m = 0; m < ROOFLINE_METRICS; m++)
        for (int e = 0; e < 4; e++) {
            char want[64];
            int len =
                snprintf(want, sizeof want, "roofline.%s.%s", roofline_metrics[m].name, ends[e]);

            if ((size_t)len == n && !memcmp(want, key, n)) {
                *ret_col = RATES + 4 * m + e;
                *ret_scale = roofline_metrics[m].scale;
                return true;
            }
        }
    if (n == 17 && !memcmp(key, "roofline.per_node", n)) {
        *ret_col = PER_NODE;
        *ret_scale = 1;
        return true;
    }
    return false;
}

/* roofline.WHAT.METRIC.SERVERS.CLIENTS; false: another key. */
static bool params_point_of_key(struct roofline_seen *ret, const char *key, const char *what)
{
    char metric[8];
    unsigned servers, clients;
    size_t n = strlen(what);
    struct roofline_seen seen = {.system = NULL};

    if (strncmp(key, "roofline.", 9) != 0 || strncmp(key + 9, what, n) != 0 || key[9 + n] != '.' ||
        sscanf(key + 10 + n, "%7[a-z].%u.%u", metric, &servers, &clients) != 3 || !servers ||
        !clients || !params_find_metric(&seen.metric, metric))
        return false;
    seen.servers = servers;
    seen.clients = clients;
    *ret = seen;
    return true;
}

static void params_add_run_point(struct roofline_params *p, const char *key, double rate)
{
    struct roofline_seen seen;

    if (!(rate > 0) || !params_point_of_key(&seen, key, "point"))
        return;
    seen.measured = rate / roofline_metrics[seen.metric].scale;
    wr_vec_push(&p->seen, seen);
}

/* The marks of what was measured while others used the machine: of peaks, and of points. */
static void params_apply_run_mark(struct roofline_params *p, struct roofline_system *s,
                                  const char *key, double v)
{
    struct roofline_seen of;
    char metric[8], side[8], word[16];
    enum roofline_metric m;

    if (sscanf(key, "roofline.%7[a-z].%7[a-z]_%15[a-z_]", metric, side, word) == 3 &&
        params_find_metric(&m, metric)) {
        int which = !strcmp(side, "server");

        if (!strcmp(word, "disturbed"))
            s->disturbed[m][which] = v;
        if (!strcmp(word, "from_point"))
            s->from_point[m][which] = v > 0;
    }
    if (!params_point_of_key(&of, key, "point_disturbed"))
        return;
    for (size_t i = 0; i < p->seen.n; i++) {
        struct roofline_seen *seen = &p->seen.v[i];

        if (seen->metric == of.metric && seen->servers == of.servers && seen->clients == of.clients)
            seen->disturbed = v;
    }
}

static bool params_read_marks(struct run_reader *run, struct roofline_params *p,
                              struct roofline_system *s, struct wr_err *err)
{
    struct run_rows *q;
    bool more, ok;

    if (!run_query(&q, run, "SELECT key, value FROM summary WHERE key GLOB 'roofline.*_*'", NULL, 0,
                   err))
        return false;
    while ((ok = run_rows_next(q, &more, err)) && more)
        params_apply_run_mark(p, s, run_rows_text(q, 0, NULL), run_rows_real(q, 1));
    run_rows_close(q);
    return ok;
}

static bool params_read(struct run_reader *run, struct roofline_params *p, double *col,
                        struct wr_err *err)
{
    struct run_rows *q;
    bool more, ok;

    if (!run_query(&q, run, "SELECT key, value FROM summary WHERE key LIKE 'roofline.%'", NULL, 0,
                   err))
        return false;
    while ((ok = run_rows_next(q, &more, err)) && more) {
        size_t n;
        const char *key = run_rows_text(q, 0, &n);
        int at;
        double scale;

        if (params_column_of_key(key, n, &at, &scale))
            col[at] = run_rows_real(q, 1) / scale;
        else
            params_add_run_point(p, key, run_rows_real(q, 1));
    }
    run_rows_close(q);
    return ok;
}

static bool params_from_run(struct roofline_params *ret, const char *path, double per_node,
                            struct wr_err *err)
{
    struct roofline_params p = {0};
    struct run_reader *run;
    struct roofline_system s;
    double col[NCOLUMNS];

    for (int i = 0; i < NCOLUMNS; i++)
        col[i] = NAN;
    if (!run_open(&run, path, err))
        return false;
    bool ok = params_read(run, &p, col, err);

    if (ok) {
        const char *host = run_info(run)->host;

        ok = params_make_system(&s, wr_arena_strdup(&p.arena, host && *host ? host : "measured"),
                                col, per_node, err) &&
             params_read_marks(run, &p, &s, err);
    }
    if (ok && !s.has[0] && !s.has[1] && !s.has[2] && !s.has[3])
        ok = wr_fail(err, WR_INPUT,
                     "%s holds no parameters of a roofline; take a run of `weir roofline collect` "
                     "or a table",
                     path);
    run_close(run);
    if (!ok) {
        roofline_params_fini(&p);
        return false;
    }
    wr_vec_push(&p.system, s);
    size_t kept = 0;

    for (size_t i = 0; i < p.seen.n; i++)
        if (s.has[p.seen.v[i].metric]) {
            p.seen.v[kept] = p.seen.v[i];
            p.seen.v[kept++].system = s.name;
        }
    p.seen.n = kept;
    *ret = p;
    return true;
}

bool roofline_params_read(struct roofline_params *ret, const char *path, double per_node,
                          struct wr_err *err)
{
    char *text;
    size_t len;

    if (!wr_file_read(&text, &len, path, (size_t)1 << 32, err))
        return false;
    bool is_run = len >= 15 && !memcmp(text, "SQLite format 3", 15);
    bool ok = is_run ? params_from_run(ret, path, per_node, err)
                     : roofline_params_parse(ret, path, text, len, per_node, err);

    free(text);
    return ok;
}

/* ---- measured points ---- */

enum { P_SYSTEM, P_METRIC, P_SERVERS, P_CLIENTS, P_MEASURED, P_COLUMNS };
static const char *const point_names[P_COLUMNS] = {"system", "metric", "servers", "clients",
                                                   "measured"};

static void params_on_csv_point(void *ctx, const char *const *text, const double *col)
{
    struct taker *t = ctx;
    struct roofline_seen seen = {
        .servers = col[P_SERVERS], .clients = col[P_CLIENTS], .measured = col[P_MEASURED]};
    const struct roofline_system *s = roofline_find(t->p, text[P_SYSTEM]);

    if (!t->ok)
        return;
    if (!params_find_metric(&seen.metric, text[P_METRIC]))
        t->ok = wr_fail(t->err, WR_INPUT, "no metric \"%s\" is known; take rpc, bw, iops or sbw",
                        wr_text_clip(text[P_METRIC]).s);
    else if (!s || !s->has[seen.metric])
        t->ok = wr_fail(t->err, WR_INPUT,
                        "a point is of %s of system \"%s\", which has no parameters; add them",
                        roofline_metrics[seen.metric].name, wr_text_clip(text[P_SYSTEM]).s);
    else if (!(seen.servers >= 1 && seen.servers <= 1e7 && seen.clients >= 1 &&
               seen.clients <= 1e7 && seen.measured > 0))
        t->ok = wr_fail(t->err, WR_INPUT,
                        "a point of system %s is not of 1 to 1e7 servers and clients, or measured "
                        "nothing; correct it",
                        wr_text_clip(s->name).s);
    if (!t->ok)
        return;
    seen.system = s->name;
    wr_vec_push(&t->p->seen, seen);
}

bool roofline_points_read(struct roofline_params *p, const char *path, struct wr_err *err)
{
    static const struct wr_csv_shape shape = {.names = point_names,
                                              .n = P_COLUMNS,
                                              .needed = P_COLUMNS,
                                              .row = params_on_csv_point,
                                              .texts = 1u << P_SYSTEM | 1u << P_METRIC};
    struct taker t = {p, 0, err, true};

    if (!wr_csv_read(&shape, path, &t, err))
        return false;
    return t.ok || wr_wrap(err, "%s", path);
}

void roofline_params_fini(struct roofline_params *p)
{
    wr_vec_fini(&p->system);
    wr_vec_fini(&p->seen);
    wr_arena_fini(&p->arena);
}

const struct roofline_system *roofline_find(const struct roofline_params *p, const char *name)
{
    for (size_t i = 0; i < p->system.n; i++)
        if (!strcmp(p->system.v[i].name, name))
            return &p->system.v[i];
    return NULL;
}
