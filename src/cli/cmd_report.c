/* cmd_report.c -- weir report: run files as text, CSV, JSON, a picture or a page. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/style.h"
#include "report/report.h"

struct report_opts {
    const char *out;
    uint32_t format, picture;
    bool ascii, json;
};

enum format { FORMAT_AUTO, FORMAT_TEXT, FORMAT_HTML, FORMAT_SVG, FORMAT_CSV, FORMAT_JSON };
static const char *const format_names[] = {"auto", "text", "html", "svg", "csv", "json", NULL};

static const struct cli_opt report_rows[] = {
    {"output", 'o', CLI_TEXT, offsetof(struct report_opts, out), "FILE", NULL,
     "write there instead of standard output", NULL},
    {"format", 0, CLI_CHOICE, offsetof(struct report_opts, format), "FORMAT", "auto",
     "what to write; auto: by the name of the output file, else text", format_names},
    {"picture", 0, CLI_CHOICE, offsetof(struct report_opts, picture), "WHICH", "latency",
     "which picture of a load sweep is written as SVG", report_picture_names},
    {"ascii", 0, CLI_FLAG, offsetof(struct report_opts, ascii), NULL, NULL,
     "draw with ASCII characters only", NULL},
    CLI_JSON(struct report_opts, json),
    CLI_OPT_END,
};

static enum format format_of(const struct report_opts *o)
{
    static const struct {
        const char *ending;
        enum format format;
    } endings[] = {{".html", FORMAT_HTML},
                   {".htm", FORMAT_HTML},
                   {".svg", FORMAT_SVG},
                   {".csv", FORMAT_CSV},
                   {".json", FORMAT_JSON}};

    if (o->json)
        return FORMAT_JSON;
    if (o->format != FORMAT_AUTO)
        return o->format;
    for (size_t i = 0; o->out && i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(o->out), e = strlen(endings[i].ending);

        if (n > e && !strcmp(o->out + n - e, endings[i].ending))
            return endings[i].format;
    }
    return FORMAT_TEXT;
}

static bool make_sweep(const struct cli_call *call, struct wr_str *text, struct wr_err *err)
{
    const struct report_opts *o = call->opts;
    const char *const *runs = (const char *const *)call->args;
    struct report_text_style style = cli_style(o->out ? NULL : call->out, o->ascii);
    size_t n = (size_t)call->nargs;

    switch (format_of(o)) {
    case FORMAT_HTML:
        return report_sweep_page(runs, n, text, err);
    case FORMAT_SVG:
        return report_sweep_svg(runs, n, o->picture, text, err);
    case FORMAT_CSV:
        return report_sweep_csv(runs, n, text, err);
    case FORMAT_JSON:
        return report_sweep_json(runs, n, text, err);
    default:
        return report_sweep_text(runs, n, &style, text, err);
    }
}

static bool make_single(const struct cli_call *call, struct wr_str *text, struct wr_err *err)
{
    const struct report_opts *o = call->opts;
    struct report_text_style style = cli_style(o->out ? NULL : call->out, o->ascii);

    switch (format_of(call->opts)) {
    case FORMAT_HTML:
        return report_run_page(call->args[0], text, err);
    case FORMAT_JSON:
        return report_run_json(call->args[0], text, err);
    case FORMAT_SVG:
    case FORMAT_CSV:
        return wr_fail(err, WR_INPUT,
                       "%s holds no load sweep, and only a sweep is written as %s; use html, or "
                       "`weir show %s latency`",
                       call->args[0], format_names[format_of(call->opts)], call->args[0]);
    default:
        return report_run_text(call->args[0], &style, text, err);
    }
}

static int report_main(const struct cli_call *call, struct wr_err *err)
{
    const struct report_opts *o = call->opts;
    struct wr_str text = {0};
    bool sweep = true, ok = true;

    if (call->nargs == 1)
        ok = report_has_sweep(call->args[0], &sweep, err);
    ok = ok && (sweep ? make_sweep : make_single)(call, &text, err);
    if (ok && o->out)
        ok = report_write(o->out, &text, err);
    else if (ok)
        fwrite(wr_str_get(&text), 1, text.n, call->out);
    wr_str_fini(&text);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_cmd_report = {
    .name = "report",
    .summary = "draw run files: text, CSV, JSON, a picture or a page",
    .args = "RUN...",
    .min_args = 1,
    .max_args = -1,
    .about =
        "Of load sweeps, draws latency against load and accepted against offered load, and tells "
        "the numbers; the curves of several run files are laid over each other. Points of somebody "
        "else's are laid over as marks from a file that ends in .csv, whose first line names its "
        "columns: series, load (a fraction), and any of those that `-o FILE.csv` writes. Of any "
        "other run, "
        "alone, draws the distribution of latencies, how busy the links of each class were, and "
        "the time series it holds.\n\n"
        "A page (.html) needs no other file and no network, and follows the reader's choice of "
        "light or dark.",
    .examples = "weir report sweep.weir\n"
                "weir report minimal.weir adaptive.weir -o report.html\n"
                "weir report sweep.weir measured.csv -o comparison.svg\n"
                "weir report sweep.weir --picture=accepted -o accepted.svg\n",
    .opts = report_rows,
    .opts_size = sizeof(struct report_opts),
    .main = report_main,
};
