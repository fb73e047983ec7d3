/* sec_bars.c -- a figure of bars from a query, for the sections of profiles and of the I/O stack.
 *
 * Rows are: a group, a name, then values named by their columns, which are the parts of a bar.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sections_priv.h"

struct bars_reading {
    struct report_section *s;
    WR_VEC(struct report_bar) bar;
    size_t most;        /* bars of the figure */
    double longest_sum; /* of the longest bar so far, and its name */
    const char *longest;
};

static bool sec_bars_on_row(void *ctx, const struct run_rows *q)
{
    struct bars_reading *b = ctx;
    size_t nparts = (size_t)run_rows_cols(q) - 2;
    struct report_part *part = wr_arena_alloc(b->s->arena, (nparts + 1) * sizeof *part);
    double sum = 0;

    for (size_t i = 0; i < nparts; i++) {
        double v = run_rows_real(q, (int)i + 2);

        part[i] = (struct report_part){wr_arena_strdup(b->s->arena, run_rows_name(q, (int)i + 2)),
                                       isfinite(v) ? v : 0};
        sum += part[i].value;
    }
    if (!(sum > 0))
        return true;
    struct report_bar bar = {.group = wr_arena_strdup(b->s->arena, run_rows_text(q, 0, NULL)),
                             .name = wr_arena_strdup(b->s->arena, run_rows_text(q, 1, NULL)),
                             .part = part,
                             .nparts = nparts};

    if (sum > b->longest_sum) {
        b->longest_sum = sum;
        b->longest = bar.name;
    }
    wr_vec_push(&b->bar, bar);
    return b->bar.n < b->most;
}

bool sections_draw_bars(struct report_section *s, struct run_reader *r,
                        const struct sections_bars *what, size_t most, struct wr_err *err)
{
    struct bars_reading b = {.s = s, .most = most};

    assert(most > 0);
    bool ok = run_each(r, what->sql, NULL, sec_bars_on_row, &b, err);

    if (ok && b.bar.n) {
        struct report_bar *kept = wr_arena_alloc(s->arena, b.bar.n * sizeof *kept);
        struct report_figure *f = report_add_figure(s, what->id, REPORT_BARS);

        memcpy(kept, b.bar.v, b.bar.n * sizeof *kept);
        f->bar = kept;
        f->nbars = b.bar.n;
        f->chart = (struct report_chart){
            .title = what->title,
            .desc = wr_arena_printf(s->arena, "%s %s.", what->desc, b.longest),
            .x = {.label = what->label, .unit = what->unit, .zero = true}};
    }
    wr_vec_fini(&b.bar);
    return ok;
}
