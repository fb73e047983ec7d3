/* doc_page.c -- a report as one HTML file that needs nothing else.
 *
 * Everything is there without scripts: figures as SVG, their data as links. With the viewer's code
 * the same document stands in the page as data, and the code draws it anew.
 */
#include <string.h>

#include "doc_priv.h"
#include "report/page.h"
#include "sha256_priv.h"

enum { LARGEST_LINK = 200000 }; /* a picture that is larger is not there twice */

static void doc_page_put_link(const char *id, const char *ending, const char *type,
                              const char *words, const struct wr_str *data, struct wr_str *out)
{
    wr_str_addf(out, "<a download=\"%s.%s\" href=\"data:%s;base64,", id, ending, type);
    report_base64(out, wr_str_get(data), data->n);
    wr_str_addf(out, "\">%s</a>", words);
}

/* Large data are in the page once: where its code runs, that saves them. Who reads without scripts
 * learns how to get them. */
static void doc_page_put_figure(const struct report_figure *f, bool alone, bool coded,
                                struct wr_str *out)
{
    struct wr_str csv = {0}, svg = {0};

    if (!alone) {
        wr_str_add(out, "<h3>");
        report_escape(out, f->chart.title ? f->chart.title : "");
        wr_str_add(out, "</h3>\n");
    }
    wr_str_addf(out, "<figure id=\"%s\">\n", f->id);
    report_figure_svg_inline(f, out);
    wr_str_add(out, "<figcaption>");
    report_escape(out, f->chart.desc ? f->chart.desc : "");
    wr_str_add(out, "</figcaption>\n<p class=\"save\">Save: ");
    report_figure_csv(f, &csv);
    if (!coded || csv.n < LARGEST_LINK)
        doc_page_put_link(f->id, "csv", "text/csv", "data (CSV)", &csv, out);
    else
        wr_str_addf(
            out, "data: picture <code>%s</code> of <code>weir report</code>, written to a CSV file",
            f->id);
    report_figure_svg(f, &svg);
    if (svg.n < LARGEST_LINK) {
        wr_str_add(out, " ");
        doc_page_put_link(f->id, "svg", "image/svg+xml", "picture (SVG)", &svg, out);
    }
    wr_str_add(out, "</p>\n</figure>\n");
    wr_str_fini(&csv);
    wr_str_fini(&svg);
}

static void doc_page_put_sheet(const struct report_sheet *s, struct wr_str *out)
{
    struct wr_str csv = {0};

    report_table_html(&s->table, s->title ? s->title : "", out);
    report_table_csv(&s->table, &csv);
    wr_str_add(out, "<p class=\"save\">Save: ");
    doc_page_put_link(s->id, "csv", "text/csv", "table (CSV)", &csv, out);
    wr_str_add(out, "</p>\n");
    wr_str_fini(&csv);
}

static void doc_page_put_section(const struct report_section *s, bool coded, struct wr_str *out)
{
    bool alone = s->figure.n == 1, said = alone && s->says == s->figure.v[0].chart.desc;

    wr_str_addf(out, "<section id=\"%s\" aria-labelledby=\"%s-h\">\n<h2 id=\"%s-h\">", s->id, s->id,
                s->id);
    report_escape(out, s->title);
    wr_str_add(out, "</h2>\n");
    if (!said && *s->says) {
        wr_str_add(out, "<p class=\"says\">");
        report_escape(out, s->says);
        wr_str_add(out, "</p>\n");
    }
    for (size_t i = 0; i < s->figure.n; i++)
        doc_page_put_figure(&s->figure.v[i], alone, coded, out);
    for (size_t i = 0; i < s->sheet.n; i++)
        doc_page_put_sheet(&s->sheet.v[i], out);
    wr_str_add(out, "</section>\n");
}

static void doc_page_put_warning(void *ctx, const char *text)
{
    wr_str_add(ctx, "<p class=\"warning\" role=\"note\">");
    report_escape(ctx, text);
    wr_str_add(ctx, "</p>\n");
}

static void doc_page_put_contents(const struct report_doc *d, struct wr_str *out)
{
    if (d->section.n < 3)
        return;
    wr_str_add(out, "<nav aria-label=\"Sections\"><ul>\n");
    for (size_t i = 0; i < d->section.n; i++) {
        wr_str_addf(out, "<li><a href=\"#%s\">", d->section.v[i].id);
        report_escape(out, d->section.v[i].title);
        wr_str_add(out, "</a></li>\n");
    }
    wr_str_add(out, "</ul></nav>\n");
}

static void doc_page_put_sources(const struct report_doc *d, struct wr_str *out)
{
    static const char *const head[] = {"run file", "state", "weir", "seed", "started", "command"};
    struct report_table t = {.ncols = 6, .nleft = 6};

    for (size_t i = 0; i < 6; i++)
        report_table_add(&t, "%s", head[i]);
    for (size_t i = 0; i < d->in->v.n; i++) {
        const struct report_input *in = &d->in->v.v[i];
        const struct run_info *info = in->run ? run_info(in->run) : NULL;

        report_table_add(&t, "%s", in->path);
        report_table_add(&t, "%s", info ? run_status_name(info->status) : "points");
        report_table_add(&t, "%s", info ? info->weir_version : "");
        if (info)
            report_table_add(&t, "%llu", (unsigned long long)info->seed);
        else
            report_table_add(&t, "%s", "");
        report_table_add(&t, "%s", info ? info->started : "");
        report_table_add(&t, "%s", info ? info->command : "");
    }
    wr_str_add(out, "<section id=\"sources\" aria-labelledby=\"sources-h\">\n"
                    "<h2 id=\"sources-h\">Run files</h2>\n");
    report_table_html(&t, "Read again with weir show; the file holds its whole configuration.",
                      out);
    wr_str_add(out, "</section>\n");
    report_table_fini(&t);
}

void report_doc_page(const struct report_doc *d, const struct report_bundled *code,
                     struct wr_str *out)
{
    report_page_begin("report", d->title, code, out);
    wr_str_add(out, "<main id=\"weir-static\">\n<h1>");
    report_escape(out, d->title);
    wr_str_add(out, "</h1>\n");
    doc_warnings(d, doc_page_put_warning, out);
    doc_page_put_contents(d, out);
    for (size_t i = 0; i < d->section.n; i++)
        doc_page_put_section(&d->section.v[i], code != NULL, out);
    doc_page_put_sources(d, out);
    wr_str_add(out, "</main>\n<script type=\"application/json\" id=\"weir-report\">");
    report_doc_json(d, out);
    wr_str_add(out, "</script>\n");
    if (code) {
        wr_str_add(out, "<script>");
        wr_str_add(out, code->js);
        wr_str_add(out, "</script>\n");
    }
    report_page_end(out);
}
