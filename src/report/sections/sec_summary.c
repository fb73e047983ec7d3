/* sec_summary.c -- the section "summary": the table summary of one run file, as it is. */
#include "sections_priv.h"

static bool sec_summary_add_line(void *ctx, const struct run_rows *q)
{
    for (int c = 0; c < 3; c++)
        report_table_add(ctx, "%s", run_rows_text(q, c, NULL));
    return true;
}

static bool sec_summary_make(const struct report_inputs *in, size_t which, struct report_section *s,
                             struct wr_err *err)
{
    struct report_table *t = report_add_sheet(s, "table", "Summary of the run.", 3, 1);

    t->units = true;
    report_table_add(t, "what");
    report_table_add(t, "value");
    report_table_add(t, "unit");
    if (!run_each(in->v.v[which].run, "SELECT key, value, unit FROM summary", NULL,
                  sec_summary_add_line, t, err))
        return false;
    s->says = "The headline numbers, as weir show prints them.";
    if (t->cell.n == t->ncols)
        report_drop_sheet(s);
    return true;
}

const struct report_maker report_summary = {
    .id = "summary", .group = "run", .title = "Summary", .each = true, .make = sec_summary_make};
