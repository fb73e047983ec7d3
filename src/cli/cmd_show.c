/* cmd_show.c -- `weir show RUN [VIEW]`: an overview of a run file, or one of its views.
 *
 * sections[] has the queries of the overview; a part without rows is not printed.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/note.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/cli_rows.h"
#include "cli/show.h"
#include "cli/style.h"
#include "cli/text.h"
#include "report/report_trace.h"
#include "report/sections/sections.h"

struct show_opts {
    bool json, csv, config, plot, trace;
    const char *input;
    uint64_t limit;
};

static const struct cli_opt show_rows[] = {
    CLI_JSON(struct show_opts, json),
    CLI_CSV(struct show_opts, csv),
    {.name = "limit",
     .type = CLI_U64,
     .offset = offsetof(struct show_opts, limit),
     .value = "N",
     .help = "print at most N rows of the view"},
    {.name = "config",
     .type = CLI_FLAG,
     .offset = offsetof(struct show_opts, config),
     .help = "print the resolved configuration of the run, and nothing else"},
    {.name = "input",
     .type = CLI_TEXT,
     .offset = offsetof(struct show_opts, input),
     .value = "FILE",
     .help = "print a file the run has read as it was then, and nothing else"},
    {.name = "plot",
     .type = CLI_FLAG,
     .offset = offsetof(struct show_opts, plot),
     .help = "draw the main pictures of the run in the terminal"},
    {.name = "trace",
     .type = CLI_FLAG,
     .offset = offsetof(struct show_opts, trace),
     .help = "print its time lines as JSON for viewers of traces (Chrome, Perfetto)"},
    CLI_OPT_END,
};

/* The overview, top to bottom. */
static const struct section {
    const char *name;
    uint32_t since; /* the minor version of the format that brought it */
    const char *title, *sql;
} sections[] = {
    {"summary", 0, "summary", "SELECT key, value, unit FROM summary"},
    {"app_stat", 0, "applications",
     "SELECT app, name, ranks, msgs_sent, bytes_sent, elapsed_ns FROM app_stat LIMIT 10"},
    {"time", 1, "where their time went, mean over ranks",
     "SELECT app, name, elapsed_mean_ns, compute_mean_ns, send_mean_ns, recv_mean_ns,"
     " await_mean_ns, coll_mean_ns, io_mean_ns, idle_mean_ns FROM app_stat"
     " WHERE idle_mean_ns IS NOT NULL LIMIT 10"},
    {"why", 2, "why, mean over ranks",
     "SELECT c.app AS app, a.name AS name, during, cause, sum(time_ns) / a.ranks AS mean_ns,"
     " sum(time_ns) / (a.elapsed_mean_ns * a.ranks) AS of_elapsed"
     " FROM cause_stat c JOIN app_stat a ON a.app = c.app WHERE during IN ('comm', 'io')"
     " GROUP BY c.app, during, cause LIMIT 40"},
    {"collectives", 1, "collectives, mean over ranks",
     "SELECT app, coll, count(*) AS ranks, avg(n) AS mean_n, avg(time_ns) AS mean_ns"
     " FROM coll_stat GROUP BY app, coll LIMIT 20"},
    {"sweep", 0, "load sweep",
     "SELECT series, load, offered, accepted, lat_mean_ns, lat_p50_ns, lat_p99_ns, hops_mean,"
     " nonminimal_frac, saturated FROM sweep"},
    {"latency", 0, "latency",
     "SELECT app, class, n, mean_ns, min_ns, p50_ns, p99_ns, max_ns FROM latency LIMIT 12"},
    {"link_class", 0, "links",
     "SELECT class, count(*) AS links, sum(bytes) AS bytes, avg(utilization) AS mean_utilization,"
     " max(utilization) AS max_utilization, sum(saturated_ns > 0) AS links_saturated,"
     " max(saturated_ns) AS max_saturated_ns FROM link_stat GROUP BY class"},
    {"servers", 3, "storage, by sort of device",
     "SELECT role, device, model, count(*) AS devices, sum(reads) AS reads, sum(writes) AS writes,"
     " sum(bytes_read) AS bytes_read, sum(bytes_written) AS bytes_written, sum(seeks) AS seeks,"
     " avg(busy_ns) AS mean_busy_ns, max(busy_ns) AS max_busy_ns, max(queue_max) AS queue_max"
     " FROM server_stat GROUP BY role, device, model"},
    {"busiest_links", 0, "busiest links",
     "SELECT entity, class, dst_kind || ':' || dst AS \"to\", bytes, busy_ns, saturated_ns,"
     " utilization FROM link_stat WHERE busy_ns > 0"
     " ORDER BY busy_ns DESC, src_kind, src, port LIMIT 5"},
    {"series", 0, "time series",
     "SELECT metric, unit, count(*) AS entities, min(dt_ns) AS dt_ns FROM series"
     " GROUP BY metric, unit"},
};

enum { NSECTIONS = sizeof sections / sizeof sections[0] };

static bool show_is_known(const struct section *s, const struct run_info *info)
{
    return info->format_minor >= s->since;
}

static void show_put_words(FILE *out, const char *text)
{
    /* Whatever a file says, a terminal gets no control characters of it. */
    for (; *text; text++)
        fputc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, out);
}

static bool show_head_inputs(FILE *out, struct run_reader *r, struct wr_err *err)
{
    struct run_rows *q;
    bool ok, more = false;
    int n = 0;

    if (!run_query(&q, r, "SELECT path FROM input ORDER BY id", NULL, 0, err))
        return false;
    while ((ok = run_rows_next(q, &more, err)) && more) {
        fputs(n++ ? ", " : "inputs   ", out);
        show_put_words(out, run_rows_text(q, 0, NULL));
    }
    fputs(n ? "\n" : "", out);
    run_rows_close(q);
    return ok;
}

static void show_head_line(FILE *out, const char *what, const char *text)
{
    if (!*text)
        return;
    fprintf(out, "%-9s", what);
    show_put_words(out, text);
    fputc('\n', out);
}

static bool show_text_head(FILE *out, struct run_reader *r, struct wr_err *err)
{
    const struct run_info *info = run_info(r);
    struct wr_str text = {0};

    wr_str_addf(&text, "%s%s%s", run_status_name(info->status), *info->reason ? ": " : "",
                info->reason);
    if (info->status == RUN_RUNNING)
        wr_str_addf(&text, ", written by process %lld on %s", (long long)info->pid, info->host);
    show_head_line(out, "run", run_path(r));
    show_head_line(out, "status", wr_str_get(&text));
    text.n = 0;
    wr_str_addf(&text, "weir %s (%s), started %s on %s", info->weir_version, info->kind,
                info->started, info->host);
    show_head_line(out, "made by", wr_str_get(&text));
    show_head_line(out, "command", info->command);
    text.n = 0;
    wr_str_addf(&text, "%llu", (unsigned long long)info->seed);
    show_head_line(out, "seed", wr_str_get(&text));
    wr_str_fini(&text);
    return show_head_inputs(out, r, err);
}

static void show_text_more(FILE *out, struct run_reader *r)
{
    struct wr_str words = {0}, text = {0};

    wr_str_addf(&words, "More with `weir show %s VIEW`; VIEW is", run_path(r));
    for (const struct run_view *v = run_views; v->name; v++)
        wr_str_addf(&words, "%s %s", v == run_views ? "" : v[1].name ? "," : " or", v->name);
    wr_str_add(&words, ".");
    cli_text_wrap(&text, words.s);
    fprintf(out, "\n%s", text.s);
    wr_str_fini(&words);
    wr_str_fini(&text);
}

static bool show_text_overview(FILE *out, struct run_reader *r, struct wr_err *err)
{
    if (!show_text_head(out, r, err))
        return false;
    for (int i = 0; i < NSECTIONS; i++) {
        char title[64];
        struct cli_rows_opts rows = {.unless_empty = true, .title = title};

        if (!show_is_known(&sections[i], run_info(r)))
            continue;

        snprintf(title, sizeof title, "\n%s", sections[i].title);
        if (!cli_rows_query(out, r, sections[i].sql, &rows, err))
            return false;
    }
    show_text_more(out, r);
    return true;
}

static bool show_json_overview(FILE *out, struct run_reader *r, struct wr_err *err)
{
    const struct run_info *info = run_info(r);
    const struct {
        const char *key, *value;
    } texts[] = {
        {"path", run_path(r)},      {"status", run_status_name(info->status)},
        {"reason", info->reason},   {"kind", info->kind},
        {"command", info->command}, {"weir_version", info->weir_version},
        {"host", info->host},       {"started", info->started},
    };

    fputs("{\n\"run\": {", out);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        fprintf(out, "\"%s\": ", texts[i].key);
        cli_json_text(out, texts[i].value, strlen(texts[i].value));
        fputs(", ", out);
    }
    fprintf(out, "\"seed\": %llu}", (unsigned long long)info->seed);
    for (int i = 0; i < NSECTIONS; i++) {
        struct cli_rows_opts rows = {.format = CLI_AS_JSON};

        if (!show_is_known(&sections[i], info))
            continue;
        fprintf(out, ",\n\"%s\": ", sections[i].name);
        if (!cli_rows_query(out, r, sections[i].sql, &rows, err))
            return false;
    }
    fputs("}\n", out);
    return true;
}

bool cli_show_json(FILE *out, const char *path, struct wr_err *err)
{
    struct run_reader *r;

    if (!run_open(&r, path, err))
        return false;
    bool ok = show_json_overview(out, r, err);

    run_close(r);
    return ok;
}

static bool show_fail_view(const char *name, const char *nearest, struct wr_err *err)
{
    struct wr_str known = {0};

    for (const struct run_view *v = run_views; v->name; v++)
        wr_str_addf(&known, "%s%s", v == run_views ? "" : ", ", v->name);
    if (nearest)
        wr_fail(err, WR_UNKNOWN, "no view \"%s\"; did you mean %s?", name, nearest);
    else
        wr_fail(err, WR_UNKNOWN, "no view \"%s\"; there are %s", name, wr_str_get(&known));
    wr_str_fini(&known);
    return false;
}

static bool show_print_view(const struct cli_call *call, struct run_reader *r, const char *name,
                            enum cli_format format, struct wr_err *err)
{
    const struct show_opts *o = call->opts;
    struct cli_rows_opts rows = {.format = format, .limit = o->limit};
    struct wr_nearest near = {.want = name};
    const struct run_view *v = run_views;

    for (; v->name && strcmp(v->name, name) != 0; v++)
        wr_nearest_try(&near, v->name);
    if (!v->name)
        return show_fail_view(name, near.best, err);
    return cli_rows_query(call->out, r, wr_arena_printf(call->arena, "SELECT * FROM %s", v->name),
                          &rows, err);
}

/* Into a file or pipe as it is; a terminal gets no control characters of it. */
static void show_print_as_stored(FILE *out, const char *text, size_t n)
{
    struct wr_str shown = {0};

    if (isatty(fileno(out)))
        wr_str_add_harmless(&shown, text, n);
    else
        wr_str_addn(&shown, text, n);
    fwrite(wr_str_get(&shown), 1, shown.n, out);
    wr_str_fini(&shown);
}

static bool show_print_input(const struct cli_call *call, struct run_reader *r, struct wr_err *err)
{
    const struct show_opts *o = call->opts;
    char *content;
    size_t len;

    if (!run_input(r, o->input, &content, &len, err))
        return false;
    show_print_as_stored(call->out, content, len);
    free(content);
    return true;
}

/* The first section with pictures is the one that says what the run was made for. */
static bool show_print_plot(const struct cli_call *call, struct wr_err *err)
{
    struct report_text_style style = cli_style(call->out, false);
    const char *path = call->args[0];
    struct report_inputs in;
    struct report_doc doc;
    struct wr_str text = {0};

    if (!report_inputs_open(&in, &path, 1, err))
        return false;
    if (!report_doc_open(&doc, &in, report_sections, NULL, err)) {
        report_inputs_close(&in);
        return false;
    }
    for (size_t i = 0; i < doc.section.n && !text.n; i++)
        for (size_t k = 0; k < doc.section.v[i].figure.n; k++) {
            const struct report_figure *f = &doc.section.v[i].figure.v[k];

            report_figure_text(f, &style, &text);
            report_wrap(&text, f->chart.desc ? f->chart.desc : "", style.width ? style.width : 76);
            wr_str_add(&text, "\n");
        }
    bool ok = text.n > 0;

    fputs(wr_str_get(&text), call->out);
    wr_str_fini(&text);
    report_doc_close(&doc);
    report_inputs_close(&in);
    return ok || wr_fail(err, WR_INPUT, "%s holds nothing that is drawn; leave --plot out", path);
}

static bool show_print_trace(const struct cli_call *call, struct run_reader *r, struct wr_err *err)
{
    bool ranks;

    if (!report_trace(r, call->out, &ranks, err))
        return false;
    if (!ranks && !strcmp(run_info(r)->kind, "sim"))
        wr_note("the trace has no bars of what ranks did: no rank was recorded; simulate with "
                "`--set timeline.ranks=64`");
    return true;
}

static bool show_run(const struct cli_call *call, struct run_reader *r, struct wr_err *err)
{
    const struct show_opts *o = call->opts;
    enum cli_format format;

    if (!cli_format_of(o->json, o->csv, &format, err))
        return false;
    if (o->config) {
        show_print_as_stored(call->out, run_info(r)->config, strlen(run_info(r)->config));
        return true;
    }
    if (o->plot)
        return show_print_plot(call, err);
    if (o->trace)
        return show_print_trace(call, r, err);
    if (o->input)
        return show_print_input(call, r, err);
    if (call->nargs > 1)
        return show_print_view(call, r, call->args[1], format, err);
    if (format == CLI_AS_CSV)
        return wr_fail(err, WR_INPUT,
                       "--csv needs one table; name a VIEW, as in `weir show %s "
                       "summary --csv`",
                       run_path(r));
    return (format == CLI_AS_JSON ? show_json_overview : show_text_overview)(call->out, r, err);
}

static int show_main(const struct cli_call *call, struct wr_err *err)
{
    struct run_reader *r;

    if (!run_open(&r, call->args[0], err))
        return cli_error(err);
    bool ok = show_run(call, r, err);
    run_close(r);
    return ok ? 0 : cli_error(err);
}

static void show_complete(char **args, int at, FILE *out)
{
    (void)args;
    for (const struct run_view *v = run_views; at == 1 && v->name; v++)
        fprintf(out, "%s\n", v->name);
}

const struct cli_verb cli_cmd_show = {
    .name = "show",
    .summary = "print the tables of a run file",
    .args = "RUN [VIEW]",
    .min_args = 1,
    .max_args = 2,
    .about =
        "Without VIEW, an overview: what made the file, whether the run is complete, the headline "
        "numbers, latencies and the busiest links.\n\n"
        "With VIEW, that view whole: summary, app_stat, rank_stat, link_stat, latency, "
        "latency_hist, slice, series, sweep, meta or input. Times are nanoseconds (_ns). Text "
        "tables shorten long words; --csv and --json give everything.\n\n"
        "With --plot, the main pictures (box plots, curves, roofs), drawn with characters. With "
        "--trace, the time lines of jobs, of ranks that were recorded (key timeline.ranks) and of "
        "everything in `slice`, for chrome://tracing or ui.perfetto.dev.\n\n"
        "A run that was killed reads as incomplete, with what it had written until then.",
    .examples = "weir show a.weir\n"
                "weir show a.weir latency\n"
                "weir show a.weir link_stat --csv > links.csv\n"
                "weir show a.weir --config > again.yaml\n"
                "weir show a.weir --plot\n"
                "weir show a.weir --trace > trace.json\n",
    .opts = show_rows,
    .opts_size = sizeof(struct show_opts),
    .main = show_main,
    .complete = show_complete,
};
