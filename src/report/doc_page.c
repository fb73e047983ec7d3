/* doc_page.c -- a report as one HTML file that needs nothing else.
 *
 * Everything is there without scripts: figures as SVG, their data as links. With the viewer's code
 * the same document stands in the page as data, and the code draws it anew. Nothing runs but what
 * the content security policy names by its hash.
 */
#include <string.h>

#include "base/version.h"
#include "doc_priv.h"
#include "sha256_priv.h"

enum { LARGEST_LINK = 200000 }; /* a picture that is larger is not there twice */

static const char page_css[] =
    "html{background:var(--bg);color:var(--fg);"
    "font:16px/1.5 system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\n"
    "body{max-width:60rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.6rem;line-height:1.25}h2{font-size:1.3rem;margin:2.6rem 0 .4rem}"
    "h3{font-size:1.05rem;margin:1.6rem 0 .3rem}\n"
    "a{color:var(--c0)}nav ul{padding:0;margin:.5rem 0;list-style:none;display:flex;"
    "flex-wrap:wrap;gap:.1rem 1.2rem}\n"
    "figure{margin:0}figure svg{width:100%;max-width:52rem;height:auto;display:block}\n"
    "figcaption,.note,.says{max-width:46rem}.note,caption{color:var(--dim)}\n"
    ".says{white-space:pre-line}.save{font-size:.85rem;margin:.2rem 0}\n"
    ".warning{border-left:4px solid var(--c1);padding:.2rem .8rem}\n"
    ".scroll{overflow-x:auto;max-height:36rem}table{border-collapse:collapse;font-size:.9rem;"
    "font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;padding:.4rem 0}\n"
    "th,td{padding:.2rem .8rem .2rem 0;text-align:right;white-space:nowrap;"
    "border-bottom:1px solid var(--grid)}th.w,td.w{text-align:left}\n"
    "th{vertical-align:bottom}tbody tr:hover{background:var(--grid)}\n"
    "@media print{body{max-width:none;margin:0}nav,.save{display:none}"
    "figure,tr{break-inside:avoid}h2,h3{break-after:avoid}"
    ".scroll{overflow:visible;max-height:none}}\n";

static void put_hash(const char *text, struct wr_str *out)
{
    uint8_t hash[32];

    report_sha256(text, strlen(text), hash);
    wr_str_add(out, " 'sha256-");
    report_base64(out, hash, sizeof hash);
    wr_str_add(out, "'");
}

static void put_head(const struct report_doc *d, const struct report_bundled *code,
                     struct wr_str *out)
{
    struct wr_str css = {0};

    wr_str_add(&css, "\n");
    report_svg_css(&css);
    wr_str_add(&css, page_css);
    wr_str_add(out, "<!DOCTYPE html>\n<html lang=\"en\" data-weir=\"report\">\n<head>\n"
                    "<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"
                    "img-src data:;base-uri 'none';form-action 'none';style-src");
    put_hash(wr_str_get(&css), out);
    if (code)
        put_hash(code->css, out);
    if (code) {
        wr_str_add(out, ";script-src");
        put_hash(code->js, out);
    }
    wr_str_add(out, "\">\n<title>");
    report_escape(out, d->title);
    wr_str_addf(out, "</title>\n<meta name=\"generator\" content=\"weir %s\">\n<style>",
                wr_version_number());
    wr_str_addn(out, css.s, css.n);
    wr_str_add(out, "</style>\n");
    if (code) {
        wr_str_add(out, "<style>");
        wr_str_add(out, code->css);
        wr_str_add(out, "</style>\n");
    }
    wr_str_add(out, "</head>\n<body>\n");
    wr_str_fini(&css);
}

static void put_link(const char *id, const char *ending, const char *type, const char *words,
                     const struct wr_str *data, struct wr_str *out)
{
    wr_str_addf(out, "<a download=\"%s.%s\" href=\"data:%s;base64,", id, ending, type);
    report_base64(out, wr_str_get(data), data->n);
    wr_str_addf(out, "\">%s</a>", words);
}

/* Large data are in the page once: where its code runs, that saves them. Who reads without scripts
 * is told how to get them. */
static void put_figure(const struct report_figure *f, bool alone, bool coded, struct wr_str *out)
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
        put_link(f->id, "csv", "text/csv", "data (CSV)", &csv, out);
    else
        wr_str_addf(out, "data by <code>weir report ... --picture=%s -o data.csv</code>", f->id);
    report_figure_svg(f, &svg);
    if (svg.n < LARGEST_LINK) {
        wr_str_add(out, " ");
        put_link(f->id, "svg", "image/svg+xml", "picture (SVG)", &svg, out);
    }
    wr_str_add(out, "</p>\n</figure>\n");
    wr_str_fini(&csv);
    wr_str_fini(&svg);
}

static void put_sheet(const struct report_sheet *s, struct wr_str *out)
{
    struct wr_str csv = {0};

    report_table_html(&s->table, s->title ? s->title : "", out);
    report_table_csv(&s->table, &csv);
    wr_str_add(out, "<p class=\"save\">Save: ");
    put_link(s->id, "csv", "text/csv", "table (CSV)", &csv, out);
    wr_str_add(out, "</p>\n");
    wr_str_fini(&csv);
}

static void put_section(const struct report_section *s, bool coded, struct wr_str *out)
{
    bool alone = s->figure.n == 1, told = alone && s->says == s->figure.v[0].chart.desc;

    wr_str_addf(out, "<section id=\"%s\" aria-labelledby=\"%s-h\">\n<h2 id=\"%s-h\">", s->id, s->id,
                s->id);
    report_escape(out, s->title);
    wr_str_add(out, "</h2>\n");
    if (!told && *s->says) {
        wr_str_add(out, "<p class=\"says\">");
        report_escape(out, s->says);
        wr_str_add(out, "</p>\n");
    }
    for (size_t i = 0; i < s->figure.n; i++)
        put_figure(&s->figure.v[i], alone, coded, out);
    for (size_t i = 0; i < s->sheet.n; i++)
        put_sheet(&s->sheet.v[i], out);
    wr_str_add(out, "</section>\n");
}

static void put_warning(void *ctx, const char *text)
{
    wr_str_add(ctx, "<p class=\"warning\" role=\"note\">");
    report_escape(ctx, text);
    wr_str_add(ctx, "</p>\n");
}

static void put_contents(const struct report_doc *d, struct wr_str *out)
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

static void put_sources(const struct report_doc *d, struct wr_str *out)
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
                    "<h2 id=\"sources-h\">Where this comes from</h2>\n");
    report_table_html(&t, "Read again with weir show; the file holds its whole configuration.",
                      out);
    wr_str_add(out, "</section>\n");
    report_table_fini(&t);
}

void report_doc_page(const struct report_doc *d, const struct report_bundled *code,
                     struct wr_str *out)
{
    put_head(d, code, out);
    wr_str_add(out, "<main id=\"weir-static\">\n<h1>");
    report_escape(out, d->title);
    wr_str_add(out, "</h1>\n");
    doc_warnings(d, put_warning, out);
    put_contents(d, out);
    for (size_t i = 0; i < d->section.n; i++)
        put_section(&d->section.v[i], code != NULL, out);
    put_sources(d, out);
    wr_str_add(out, "</main>\n<script type=\"application/json\" id=\"weir-report\">");
    report_doc_json(d, out);
    wr_str_add(out, "</script>\n");
    if (code) {
        wr_str_add(out, "<script>");
        wr_str_add(out, code->js);
        wr_str_add(out, "</script>\n");
    }
    wr_str_add(out, "</body>\n</html>\n");
}
