/* cmd_report.c -- `weir report RUN|DIR...`: run files as text, CSV, JSON, a picture or a page.
 *
 * The ending of the output chooses the format; report/doc.h makes the document.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cli_figure.h"
#include "cli/style.h"
#include "report/report.h"
#include "report/sections/sections.h"
#include "report/web/bundle.h"

struct report_opts {
    const char *out, *picture, *section;
    uint32_t format;
    bool ascii, json, force;
};

enum format {
    FORMAT_AUTO,
    FORMAT_TEXT,
    FORMAT_HTML,
    FORMAT_SVG,
    FORMAT_CSV,
    FORMAT_JSON,
    FORMAT_PDF,
    FORMAT_PNG,
};
static const char *const format_names[] = {"auto", "text", "html", "svg", "csv",
                                           "json", "pdf",  "png",  NULL};

static const struct cli_opt report_rows[] = {
    {"output", 'o', CLI_TEXT, offsetof(struct report_opts, out), "FILE", NULL,
     "write there instead of standard output; the ending says what: .txt .html .htm .svg .csv "
     ".json .pdf .png",
     NULL, NULL, NULL, 0},
    CLI_FORCE(struct report_opts, force),
    {"format", 0, CLI_CHOICE, offsetof(struct report_opts, format), "FORMAT", "auto",
     "what to write; auto: by the ending of the output file, else text", format_names, NULL, NULL,
     0},
    {"picture", 0, CLI_TEXT, offsetof(struct report_opts, picture), "WHICH", NULL,
     "which picture is written as SVG or CSV, by the end of its name; default: the first", NULL,
     NULL, NULL, 0},
    {"section", 0, CLI_TEXT, offsetof(struct report_opts, section), "WHICH", NULL,
     "only this section", NULL, NULL, NULL, 0},
    {"ascii", 0, CLI_FLAG, offsetof(struct report_opts, ascii), NULL, NULL,
     "draw with ASCII characters only", NULL, NULL, NULL, 0},
    CLI_JSON(struct report_opts, json),
    CLI_OPT_END,
};

static const struct wr_format *const report_formats[] = {
    &report_text_format, &report_page_format, &wr_format_svg,  &wr_format_csv,
    &report_json_format, &cli_format_pdf,     &cli_format_png, NULL};

static enum format cmd_report_format_of(const struct report_opts *o)
{
    const struct wr_format *f;
    struct wr_err ignored;

    if (o->json)
        return FORMAT_JSON;
    if (o->format != FORMAT_AUTO)
        return o->format;
    if (!o->out || !wr_output_format(&f, o->out, report_formats, &ignored))
        return FORMAT_TEXT;
    for (size_t i = 0; report_formats[i]; i++)
        if (report_formats[i] == f)
            return (enum format)(FORMAT_TEXT + i);
    return FORMAT_TEXT;
}

static bool cmd_report_is_picture(enum format f)
{
    return f == FORMAT_SVG || f == FORMAT_PDF || f == FORMAT_PNG;
}

/* The ending has the last word, also where --format says something else. */
static bool cmd_report_check_out(const struct report_opts *o, struct wr_err *err)
{
    const struct wr_format *f;

    if (!o->out || !wr_output_format(&f, o->out, report_formats, err))
        return !o->out;
    unsigned flags = o->force ? WR_FORCE : 0;

    if (cmd_report_is_picture(cmd_report_format_of(o)))
        return cli_figure_check(o->out, flags, err);
    return wr_output_check(o->out, report_formats[cmd_report_format_of(o) - FORMAT_TEXT], flags,
                           err);
}

/* "links-busy", or the end of it: "busy". */
static bool cmd_report_is_named(const char *id, const char *name)
{
    size_t n = strlen(id), k = strlen(name);

    return n >= k && !strcmp(id + n - k, name) && (n == k || id[n - k - 1] == '-');
}

static bool cmd_report_find_picture(const struct report_doc *d, const char *name,
                                    const struct report_figure **ret, struct wr_err *err)
{
    struct wr_str known = {0};

    for (size_t i = 0; i < d->section.n; i++)
        for (size_t k = 0; k < d->section.v[i].figure.n; k++) {
            const struct report_figure *f = &d->section.v[i].figure.v[k];

            if (!name || cmd_report_is_named(f->id, name)) {
                *ret = f;
                wr_str_fini(&known);
                return true;
            }
            wr_str_addf(&known, "%s%s", known.n ? ", " : "", f->id);
        }
    if (name && known.n)
        wr_fail(err, WR_UNKNOWN, "no picture \"%s\"; there are %s", name, known.s);
    else
        wr_fail(err, WR_INPUT, "these runs hold nothing that is drawn; try `weir show %s`",
                d->in->v.v[0].path);
    wr_str_fini(&known);
    return false;
}

/* Of load sweeps, CSV is the table of all points, which can be read again. */
static bool cmd_report_only_sweeps(const struct report_inputs *in)
{
    for (size_t i = 0; i < in->v.n; i++)
        if (!in->v.v[i].sweep)
            return false;
    return true;
}

static bool cmd_report_write_doc(const struct cli_call *call, const struct report_doc *d,
                                 struct wr_str *text, struct wr_err *err)
{
    const struct report_opts *o = call->opts;
    struct report_text_style style = cli_style(o->out ? NULL : call->out, o->ascii);
    const struct report_figure *f;

    switch (cmd_report_format_of(o)) {
    case FORMAT_HTML:
        report_doc_page(d, web_bundle(), text);
        return true;
    case FORMAT_JSON:
        report_doc_json(d, text);
        return true;
    case FORMAT_SVG:
    case FORMAT_PDF:
    case FORMAT_PNG:
    case FORMAT_CSV:
        if (!cmd_report_find_picture(d, o->picture, &f, err))
            return false;
        (cmd_report_format_of(o) == FORMAT_CSV ? report_figure_csv : report_figure_svg)(f, text);
        return true;
    default:
        if (o->picture && !cmd_report_find_picture(d, o->picture, &f, err))
            return false;
        if (o->picture)
            report_figure_text(f, &style, text);
        else
            report_doc_text(d, &style, text);
        return true;
    }
}

static bool cmd_report_make(const struct cli_call *call, struct wr_str *text, struct wr_err *err)
{
    const struct report_opts *o = call->opts;
    const char *const *runs = (const char *const *)call->args;
    size_t n = (size_t)call->nargs;
    struct report_inputs in;
    struct report_doc doc;

    if (!report_inputs_open(&in, runs, n, err))
        return false;
    if (cmd_report_format_of(o) == FORMAT_CSV && !o->picture && cmd_report_only_sweeps(&in)) {
        report_inputs_close(&in);
        return report_sweep_csv(runs, n, text, err);
    }
    if (!report_doc_open(&doc, &in, report_sections, o->section, err)) {
        report_inputs_close(&in);
        return false;
    }
    bool ok = doc.section.n || !o->section;

    if (!ok)
        wr_fail(err, WR_INPUT,
                "these runs have no section \"%s\"; leave --section out to see which they have",
                o->section);
    ok = ok && cmd_report_write_doc(call, &doc, text, err);
    report_doc_close(&doc);
    report_inputs_close(&in);
    return ok;
}

static int cmd_report_main(const struct cli_call *call, struct wr_err *err)
{
    const struct report_opts *o = call->opts;
    struct wr_str text = {0};
    bool ok = cmd_report_check_out(o, err) && cmd_report_make(call, &text, err);

    if (ok && !o->out && (o->format == FORMAT_PDF || o->format == FORMAT_PNG))
        ok = wr_fail(err, WR_INPUT, "a picture in %s is written to a file; name it with --output",
                     format_names[o->format]);
    else if (ok && o->out && cmd_report_is_picture(cmd_report_format_of(o)))
        ok = cli_figure_write(o->out, &text, o->force ? WR_FORCE : 0, err);
    else if (ok && o->out)
        ok = wr_output_text(o->out, report_formats[cmd_report_format_of(o) - FORMAT_TEXT],
                            o->force ? WR_FORCE : 0, &text, err);
    else if (ok)
        fwrite(wr_str_get(&text), 1, text.n, call->out);
    wr_str_fini(&text);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_cmd_report = {
    .name = "report",
    .summary = "draw run files: text, CSV, JSON, a picture or a page",
    .args = "RUN|DIR...",
    .min_args = 1,
    .max_args = -1,
    .about =
        "Shows what the runs hold, in sections: a picture, a sentence that says what it shows, and "
        "the numbers. Which sections there are depends on what made the runs: load sweeps, jobs, "
        "links, time series, studies, ... Several runs are reported one after the other and side "
        "by side; a directory (or DIR:axis=choice,...) is a study and reported as one.\n\n"
        "Of load sweeps, the curves of several run files are drawn in one chart. A file "
        "that ends in .csv adds measured points as marks; its first line names its "
        "columns: series, load (a fraction), and any of those that `-o FILE.csv` writes.\n\n"
        "A page (.html) needs no other file and no network, and follows the reader's choice of "
        "light or dark; every picture's data can be saved from it. As .json, the same is data, "
        "described in docs/formats/report.md. As .svg and .csv, it is one picture, or its data.",
    .examples = "weir report sweep.weir\n"
                "weir report minimal.weir adaptive.weir -o report.html\n"
                "weir report sweep.weir measured.csv -o comparison.svg\n"
                "weir report sweep.weir --picture=accepted -o accepted.svg\n"
                "weir report study/ -o study.html\n",
    .opts = report_rows,
    .opts_size = sizeof(struct report_opts),
    .main = cmd_report_main,
};
