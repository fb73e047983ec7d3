/* paper_markdown.c -- the page of a paper as Markdown, from which docs/papers is made.
 *
 * An item stands between <!-- item ID --> and <!-- end ID -->, so that a page can be checked, or
 * renewed, item by item.
 */
#include "paper_priv.h"

static void markdown_paragraph(const char *text, struct wr_str *out)
{
    if (text[0])
        wr_str_addf(out, "%s\n\n", text);
}

static void markdown_values(const struct paper_result *res, struct wr_str *out)
{
    if (!res->got.n)
        return;
    wr_str_add(out, "| value | unit | published | weir | difference |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < res->got.n; i++) {
        const struct paper_got *g = &res->got.v[i];

        wr_str_addf(out, "| %s | %s | %s | ", g->value->name, g->value->unit, g->value->published);
        paper_put_number(g, out);
        wr_str_add(out, " | ");
        paper_put_difference(g, out);
        wr_str_add(out, " |\n");
    }
    wr_str_add(out, "\n");
}

static void markdown_commands(const struct paper_results *r, const struct paper_item *item,
                              struct wr_str *out)
{
    const struct conf_list *steps = paper_steps(item, r->quick);
    const struct paper_step *s = steps->items;

    for (size_t i = 0; i < steps->n; i++) {
        wr_str_add(out, "    ");
        paper_command(&s[i], out);
        wr_str_add(out, "\n");
    }
    wr_str_add(out, "\n");
}

static void markdown_picture(const struct paper_item *item, const char *file, const char *caption,
                             struct wr_str *out)
{
    wr_str_addf(out, "![%s](%s/%s)\n\n%s\n\n", caption, item->id, file, caption);
}

static void markdown_item(const struct paper_results *r, const struct paper_result *res,
                          struct wr_str *out)
{
    const struct paper_item *item = res->item;
    const struct paper_figure *figure = item->figures.items;
    bool there = res->state == PAPER_MADE || res->state == PAPER_KEPT;

    wr_str_addf(out, "<!-- item %s -->\n## %s: %s\n\nFrom: %s%s.\n\n", item->id, item->id,
                item->caption, paper_sources[item->source],
                r->quick && paper_is_reduced(r->paper, item) ? ", reduced" : "");
    if (item->missing[0])
        wr_str_addf(out, "Missing: %s\n\n", item->missing);
    else if (!there)
        wr_str_addf(out, "Not made%s%s\n\n", res->why ? ": " : ".", res->why ? res->why : "");
    if (there && paper_has_chart(res))
        markdown_picture(item, PAPER_CHART, item->chart.title, out);
    for (size_t i = 0; there && i < item->figures.n; i++)
        markdown_picture(item, figure[i].file, figure[i].caption, out);
    markdown_values(res, out);
    markdown_paragraph(item->differs, out);
    if (there)
        markdown_commands(r, item, out);
    wr_str_addf(out, "<!-- end %s -->\n\n", item->id);
}

void paper_put_source(const struct paper_about *a, struct wr_str *out)
{
    wr_str_addf(out, "%s%s%s", a->authors, a->authors[0] ? ". " : "", a->venue);
    if (a->year)
        wr_str_addf(out, ", %u", a->year);
    wr_str_add(out, ".");
}

void paper_put_markdown(const struct paper_results *r, struct wr_str *out)
{
    const struct paper_about *a = &r->paper->about;

    wr_str_addf(out,
                "<!-- written by `weir paper run %s`%s from share/papers/%s.yaml -->\n# %s\n\n",
                r->paper->name, r->quick ? ", reduced," : "", r->paper->name, a->title);
    paper_put_source(a, out);
    wr_str_add(out, "\n\n");
    markdown_paragraph(a->question, out);
    markdown_paragraph(a->says, out);
    markdown_paragraph(a->outlook, out);
    wr_str_addf(out,
                "Everything below is made by `weir paper run %s -o DIR`%s; the commands under an "
                "item run in DIR/ITEM, and {data} is share/papers/data.\n\n",
                r->paper->name, r->quick ? ", reduced" : "");
    for (size_t i = 0; i < r->paper->items.n; i++)
        markdown_item(r, &r->v[i], out);
}
