/* paper_page.c -- what was made of a paper, as one HTML page that needs nothing else. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "paper_priv.h"
#include "report/chart.h"
#include "report/page.h"
#include "report/report_table.h"

enum { MOST_PICTURE = 16 << 20 };

static void page_paragraph(const char *class, const char *text, struct wr_str *out)
{
    if (!text[0])
        return;
    wr_str_addf(out, "<p class=\"%s\">", class);
    report_escape(out, text);
    wr_str_add(out, "</p>\n");
}

static void page_picture(const struct paper_results *r, const struct paper_item *item,
                         const struct paper_figure *f, struct wr_str *out)
{
    struct wr_str path = {0};
    struct wr_err absent;
    char *svg;
    size_t len;

    wr_str_addf(&path, "%s/%s/%s", r->dir, item->id, f->file);
    wr_str_add(out, "<figure>\n");
    if (wr_file_peek(&svg, &len, path.s, MOST_PICTURE, &absent)) {
        report_page_picture(svg, len, f->caption, out);
        free(svg);
    }
    wr_str_add(out, "<figcaption>");
    report_escape(out, f->caption);
    wr_str_addf(out,
                "</figcaption>\n<p class=\"save\"><a href=\"%s/%s\">%s/%s</a></p>\n</figure>\n",
                item->id, f->file, item->id, f->file);
    wr_str_fini(&path);
}

static void page_values(const struct paper_result *res, struct wr_str *out)
{
    static const char *const head[] = {"value", "unit", "published", "weir", "difference"};
    struct report_table t = {.ncols = 5, .nleft = 2};

    for (size_t i = 0; i < 5; i++)
        report_table_add(&t, "%s", head[i]);
    for (size_t i = 0; i < res->got.n; i++) {
        const struct paper_got *g = &res->got.v[i];
        struct wr_str weir = {0}, difference = {0};

        paper_put_number(g, &weir);
        paper_put_difference(g, &difference);
        report_table_add(&t, "%s", g->value->name);
        report_table_add(&t, "%s", g->value->unit);
        report_table_add(&t, "%s", g->value->published);
        report_table_add(&t, "%s", wr_str_get(&weir));
        report_table_add(&t, "%s%s", wr_str_get(&difference), g->differs ? " (must be equal)" : "");
        wr_str_fini(&weir);
        wr_str_fini(&difference);
    }
    if (res->got.n)
        report_table_html(&t, "Published and made by weir", out);
    report_table_fini(&t);
}

static void page_commands(const struct paper_results *r, const struct paper_item *item,
                          struct wr_str *out)
{
    const struct conf_list *steps = paper_steps(item, r->quick);
    const struct paper_step *s = steps->items;
    struct wr_str text = {0};

    for (size_t i = 0; i < steps->n; i++) {
        wr_str_add(&text, i ? "\n" : "");
        paper_command(&s[i], &text);
    }
    wr_str_add(out, "<pre>");
    report_escape(out, wr_str_get(&text));
    wr_str_add(out, "</pre>\n");
    wr_str_fini(&text);
}

static void page_item(const struct paper_results *r, const struct paper_result *res,
                      struct wr_str *out)
{
    const struct paper_item *item = res->item;
    const struct paper_figure *figure = item->figures.items;
    bool there = res->state == PAPER_MADE || res->state == PAPER_KEPT;

    wr_str_addf(out, "<section id=\"%s\" aria-labelledby=\"%s-h\">\n<h2 id=\"%s-h\">%s: ", item->id,
                item->id, item->id, item->id);
    report_escape(out, item->caption);
    wr_str_addf(out, "</h2>\n<p class=\"note\">From: %s%s.</p>\n", paper_sources[item->source],
                r->quick && paper_is_reduced(r->paper, item) ? ", reduced" : "");
    page_paragraph("warning", item->missing, out);
    if (res->state == PAPER_LEFT_OUT)
        page_paragraph("warning", "Not asked for.", out);
    page_paragraph("warning", res->why ? res->why : "", out);
    if (there && paper_has_chart(res))
        page_picture(r, item, &(struct paper_figure){PAPER_CHART, item->chart.title}, out);
    for (size_t i = 0; there && i < item->figures.n; i++)
        page_picture(r, item, &figure[i], out);
    page_values(res, out);
    page_paragraph("says", item->differs, out);
    if (there)
        page_commands(r, item, out);
    wr_str_add(out, "</section>\n");
}

void paper_put_page(const struct paper_results *r, struct wr_str *out)
{
    const struct paper_about *a = &r->paper->about;
    struct wr_str source = {0};

    report_page_begin("paper", a->title, NULL, out);
    wr_str_add(out, "<main>\n<h1>");
    report_escape(out, a->title);
    wr_str_add(out, "</h1>\n");
    paper_put_source(a, &source);
    page_paragraph("note", source.s, out);
    wr_str_fini(&source);
    page_paragraph("says", a->question, out);
    page_paragraph("says", a->says, out);
    page_paragraph("says", a->outlook, out);
    wr_str_add(out, "<nav aria-label=\"Items\"><ul>\n");
    for (size_t i = 0; i < r->paper->items.n; i++) {
        wr_str_addf(out, "<li><a href=\"#%s\">%s</a></li>\n", r->v[i].item->id, r->v[i].item->id);
    }
    wr_str_add(out, "</ul></nav>\n");
    for (size_t i = 0; i < r->paper->items.n; i++)
        page_item(r, &r->v[i], out);
    wr_str_add(out, "<p class=\"note\">Commands run in the folder of their item; {data} is the "
                    "folder of data beside the recipe, ");
    report_escape(out, r->paper->data);
    wr_str_add(out, ".</p>\n</main>\n");
    report_page_end(out);
}
