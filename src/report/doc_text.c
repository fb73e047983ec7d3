/* doc_text.c -- writes a report for a terminal: title, warnings, then each section. */
#include "doc_priv.h"

static void doc_text_put_warning(void *ctx, const char *text)
{
    wr_str_addf(ctx, "%s\n", text);
}

void report_doc_text(const struct report_doc *d, const struct report_text_style *style,
                     struct wr_str *out)
{
    unsigned width = style->width ? style->width : 76;

    doc_warnings(d, doc_text_put_warning, out);
    for (size_t i = 0; i < d->section.n; i++) {
        const struct report_section *s = &d->section.v[i];
        bool said = false;

        if (d->section.n > 1)
            wr_str_addf(out, "%s## %s\n", i ? "\n" : "", s->title);
        for (size_t k = 0; k < s->figure.n; k++) {
            const char *desc = s->figure.v[k].chart.desc;

            said |= desc == s->says;
            report_figure_text(&s->figure.v[k], style, out);
            if (desc)
                report_wrap(out, desc, width);
            wr_str_add(out, "\n");
        }
        if (!said && *s->says) {
            report_wrap(out, s->says, width);
            wr_str_add(out, "\n");
        }
        for (size_t k = 0; k < s->sheet.n; k++) {
            if (s->sheet.v[k].title && s->sheet.n > 1)
                wr_str_addf(out, "%s\n", s->sheet.v[k].title);
            report_table_text(&s->sheet.v[k].table, out);
            wr_str_add(out, k + 1 < s->sheet.n ? "\n" : "");
        }
    }
}
