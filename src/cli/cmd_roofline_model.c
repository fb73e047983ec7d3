/* cmd_roofline_model.c -- `weir roofline model`: rates that a service can reach, from parameters.
 *
 * rpc/roofline_params.h reads the parameters, stat/roofline.h has the model, roofline_tables.c and
 * roofline_chart.c print it.
 */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "cli/cli_figure.h"
#include "cli/cmd_roofline.h"
#include "cli/roofline_tables.h"
#include "cli/style.h"
#include "report/report.h"

struct model_opts {
    const char *points, *mix, *out, *system;
    uint32_t server_nodes, client_nodes, per_node, view, metric;
    uint64_t processes;
    bool json, csv, ascii, force;
};

static const char *const view_names[] = {"auto", "model", "grid", "mva", "points", "mix", NULL};
static const char *const metric_names[] = {"auto", "rpc", "bw", "iops", "sbw", NULL};

static const struct cli_opt model_rows[] = {
    {.name = "server-nodes",
     .type = CLI_U32,
     .offset = offsetof(struct model_opts, server_nodes),
     .value = "N",
     .def = "4",
     .help = "nodes full of servers in the allocation"},
    {.name = "client-nodes",
     .type = CLI_U32,
     .offset = offsetof(struct model_opts, client_nodes),
     .value = "N",
     .def = "16",
     .help = "nodes full of clients in the allocation"},
    {.name = "per-node",
     .type = CLI_U32,
     .offset = offsetof(struct model_opts, per_node),
     .value = "N",
     .help = "processes on a node, whatever the parameters say"},
    {.name = "processes",
     .letter = 'p',
     .type = CLI_U64,
     .offset = offsetof(struct model_opts, processes),
     .value = "N",
     .help = "divide so many processes into servers and clients as is best, instead of all "
             "processes of the allocation"},
    {.name = "points",
     .type = CLI_TEXT,
     .offset = offsetof(struct model_opts, points),
     .value = "FILE",
     .help = "print how far measured rates are from the model: a CSV file with the columns system, "
             "metric, servers, clients and measured (of all clients together, in the metric's "
             "unit)"},
    {.name = "mix",
     .type = CLI_TEXT,
     .offset = offsetof(struct model_opts, mix),
     .value = "METRIC=AMOUNT,...",
     .help = "what one operation of an application needs, as in rpc=2,bw=1MiB,iops=1,sbw=64KiB"},
    {.name = "view",
     .type = CLI_CHOICE,
     .offset = offsetof(struct model_opts, view),
     .value = "VIEW",
     .def = "auto",
     .help = "print one table: the allocation, every number of nodes up to it, the knee sharp and "
             "round, the measured points, or the mixed workload",
     .names = view_names},
    {.name = "metric",
     .type = CLI_CHOICE,
     .offset = offsetof(struct model_opts, metric),
     .value = "METRIC",
     .def = "auto",
     .help = "what is drawn; auto: the first that there is",
     .names = metric_names},
    {.name = "system",
     .type = CLI_TEXT,
     .offset = offsetof(struct model_opts, system),
     .value = "NAME",
     .help = "only this system of the table"},
    {.name = "svg",
     .type = CLI_TEXT,
     .offset = offsetof(struct model_opts, out),
     .value = "FILE",
     .help = "write the picture there"},
    CLI_FORCE(struct model_opts, force),
    {.name = "ascii",
     .type = CLI_FLAG,
     .offset = offsetof(struct model_opts, ascii),
     .help = "draw with ASCII characters only"},
    CLI_JSON(struct model_opts, json),
    CLI_CSV(struct model_opts, csv),
    CLI_OPT_END,
};

static bool roofline_model_parse_amount(double *ret, enum roofline_metric m, const char *text,
                                        struct wr_err *err)
{
    uint64_t bytes;

    if (m == ROOFLINE_BW || m == ROOFLINE_SBW) {
        if (!wr_parse_bytes(&bytes, text, err))
            return false;
        *ret = (double)bytes;
    } else if (!wr_parse_real(ret, text, err))
        return false;
    if (!(*ret >= 0 && *ret <= 1e18))
        return wr_fail(err, WR_INPUT, "%s is not an amount; give 0 or more", text);
    return true;
}

static bool roofline_model_parse_mix(double *amount, const char *text, struct wr_arena *arena,
                                     struct wr_err *err)
{
    char *rest = wr_arena_strdup(arena, text), *word;
    double sum = 0;

    while ((word = strsep(&rest, ","))) {
        char *value = strchr(word, '=');
        int m = 0;

        if (value)
            *value++ = '\0';
        while (m < ROOFLINE_METRICS && strcmp(roofline_metrics[m].name, word) != 0)
            m++;
        if (!value || m == ROOFLINE_METRICS)
            return wr_fail(err, WR_INPUT,
                           "--mix: \"%s\" is not METRIC=AMOUNT; write it as in rpc=2,bw=1MiB",
                           wr_text_clip(word).s);
        if (!roofline_model_parse_amount(&amount[m], (enum roofline_metric)m, value, err))
            return wr_wrap(err, "--mix: %s", word);
        sum += amount[m];
    }
    if (!(sum > 0))
        return wr_fail(err, WR_INPUT, "--mix: an operation needs nothing; give an amount above 0");
    return true;
}

static bool roofline_model_check_opts(const struct model_opts *o, struct wr_err *err)
{
    if (!o->server_nodes || !o->client_nodes || o->server_nodes > 10000 || o->client_nodes > 10000)
        return wr_fail(err, WR_INPUT,
                       "--server-nodes and --client-nodes are from 1 to 10000; give other numbers");
    if (o->processes == 1)
        return wr_fail(err, WR_INPUT, "one process cannot be divided; give --processes 2 or more");
    if (o->view == 1 + ROOFLINE_VIEW_MIX && !o->mix)
        return wr_fail(err, WR_INPUT, "there is no mixed workload to show; give --mix");
    return true;
}

static bool roofline_model_keep_one_system(struct roofline_params *p, const char *name,
                                           struct wr_err *err)
{
    const struct roofline_system *s = roofline_find(p, name);
    size_t kept = 0;

    if (!s)
        return wr_fail(err, WR_UNKNOWN, "there is no system \"%s\"; the first is %s",
                       wr_text_clip(name).s, wr_text_clip(p->system.v[0].name).s);
    const char *its = s->name;

    p->system.v[0] = *s;
    p->system.n = 1;
    for (size_t i = 0; i < p->seen.n; i++)
        if (p->seen.v[i].system == its)
            p->seen.v[kept++] = p->seen.v[i];
    p->seen.n = kept;
    return true;
}

static bool roofline_model_pick_metric(enum roofline_metric *ret, const struct roofline_params *p,
                                       uint32_t want, struct wr_err *err)
{
    for (int m = 0; m < ROOFLINE_METRICS; m++)
        for (size_t i = 0; i < p->system.n; i++)
            if (p->system.v[i].has[m] && (!want || want == 1 + (uint32_t)m)) {
                *ret = (enum roofline_metric)m;
                return true;
            }
    return wr_fail(err, WR_INPUT, "no system has rates of that metric; choose another --metric");
}

/* Without --view: all views that the options select; CSV holds one table. */
static void roofline_model_print_all(const struct cli_call *call, const struct roofline_ask *ask,
                                     enum cli_format format, enum roofline_metric m)
{
    const struct model_opts *o = call->opts;
    const struct {
        bool wanted;
        enum roofline_view view;
        const char *name;
    } parts[] = {{true, ROOFLINE_VIEW_MODEL, "model"},
                 {ask->params->seen.n, ROOFLINE_VIEW_POINTS, "points"},
                 {o->mix, ROOFLINE_VIEW_MIX, "mix"}};
    bool json = format == CLI_AS_JSON;
    struct wr_str picture = {0};

    for (size_t i = 0; i < 3; i++) {
        if (!parts[i].wanted || (format == CLI_AS_CSV && i))
            continue;
        if (json)
            fprintf(call->out, "%s\"%s\":\n", i ? ", " : "{", parts[i].name);
        else if (i)
            fputc('\n', call->out);
        roofline_print(call->out, format, parts[i].view, ask);
    }
    fputs(json ? "}\n" : "", call->out);
    if (format != CLI_AS_TEXT)
        return;
    struct report_text_style style = cli_style(call->out, o->ascii);

    roofline_chart_text(ask->params, m, &style, &picture);
    fprintf(call->out, "\n%s", wr_str_get(&picture));
    wr_str_fini(&picture);
}

static bool roofline_model_print(const struct cli_call *call, struct roofline_params *p,
                                 struct wr_err *err)
{
    const struct model_opts *o = call->opts;
    struct roofline_ask ask = {.params = p,
                               .server_nodes = o->server_nodes,
                               .client_nodes = o->client_nodes,
                               .processes = o->processes};
    enum cli_format format;
    enum roofline_metric m;

    if (!cli_format_of(o->json, o->csv, &format, err) ||
        (o->points && !roofline_points_read(p, o->points, err)) ||
        (o->mix && !roofline_model_parse_mix(ask.amount, o->mix, call->arena, err)) ||
        (o->system && !roofline_model_keep_one_system(p, o->system, err)) ||
        !roofline_model_pick_metric(&m, p, o->metric, err))
        return false;
    if (o->view == 1 + ROOFLINE_VIEW_POINTS && !p->seen.n)
        return wr_fail(err, WR_INPUT, "there are no points to show; give --points FILE");
    if (o->out) {
        struct wr_str svg = {0};

        roofline_chart_svg(p, m, &svg);
        bool ok = cli_figure_write(o->out, &svg, o->force ? WR_FORCE : 0, err);

        wr_str_fini(&svg);
        return ok;
    }
    if (o->view)
        roofline_print(call->out, format, (enum roofline_view)(o->view - 1), &ask);
    else
        roofline_model_print_all(call, &ask, format, m);
    if (format == CLI_AS_TEXT)
        roofline_print_notes(call->out, p);
    return true;
}

static int roofline_model_main(const struct cli_call *call, struct wr_err *err)
{
    const struct model_opts *o = call->opts;
    struct roofline_params p;

    if (!roofline_model_check_opts(o, err) ||
        !roofline_params_read(&p, call->args[0], o->per_node, err))
        return cli_error(err);
    bool ok = roofline_model_print(call, &p, err);

    roofline_params_fini(&p);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_roofline_model = {
    .name = "model",
    .summary = "predict rates of any number of servers and clients from those of one",
    .args = "PARAMETERS",
    .min_args = 1,
    .max_args = 1,
    .input = 1,
    .about =
        "C is what one synchronous client alone gets from an idle server, S what one server "
        "process of a saturated node gives. With x servers per client a client gets min(C, x S); "
        "waiting rounds the knee, which exact mean-value analysis predicts from the same two "
        "numbers. "
        "Bandwidth has a third ceiling, what the clients' node can take. The parameters are a "
        "table in CSV or a run file of `weir roofline collect`. docs/models/roofline.md has the "
        "equations and the table's columns.\n"
        "\n"
        "Printed are the allocation's roof, which side binds, and the best number of servers, and "
        "a picture of the rate of a client against servers per client. CSV and JSON have every "
        "column.",
    .examples = "weir roofline model systems.csv --server-nodes 2 --client-nodes 8\n"
                "weir roofline model systems.csv --view grid --csv\n"
                "weir roofline model run.weir --mix rpc=2,bw=1MiB --processes 128\n"
                "weir roofline model systems.csv --metric bw -o roof.svg\n",
    .opts = model_rows,
    .opts_size = sizeof(struct model_opts),
    .main = roofline_model_main,
};
