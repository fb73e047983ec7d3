/* paper_chart.c -- the values of an item as a chart: published as marks, weir's as lines.
 *
 * A value stands in the chart when it has an x. Where one x is not a number, all are names, in the
 * order in which they come; weir's are then marks, too, and hollow.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "paper_priv.h"
#include "report/chart.h"

struct curves {
    const struct paper_result *of;
    struct wr_arena arena;
    WR_VEC(const char *) names; /* of the x axis; empty: numbers */
    WR_VEC(struct report_series) series;
};

static bool chart_is_number(const char *s)
{
    char *end;

    (void)strtod(s, &end);
    return *s && !*end;
}

static void chart_find_names(struct curves *c)
{
    bool names = false;

    for (size_t i = 0; i < c->of->got.n; i++) {
        const char *x = c->of->got.v[i].value->x;

        names |= x[0] && !chart_is_number(x);
    }
    for (size_t i = 0; names && i < c->of->got.n; i++) {
        const char *x = c->of->got.v[i].value->x;
        size_t k = 0;

        while (k < c->names.n && strcmp(c->names.v[k], x) != 0)
            k++;
        if (x[0] && k == c->names.n)
            wr_vec_push(&c->names, x);
    }
}

static double chart_x(const struct curves *c, const char *x)
{
    for (size_t i = 0; i < c->names.n; i++)
        if (!strcmp(c->names.v[i], x))
            return (double)i;
    return atof(x);
}

/* One curve of weir's numbers, or of the published. Curves of one name have one colour. */
static void chart_add(struct curves *c, const char *name, bool published, uint32_t ink)
{
    struct report_point *p = wr_arena_alloc(&c->arena, c->of->got.n * sizeof *p);
    bool names = c->names.n > 0; /* between which a line would mean nothing */
    size_t n = 0;

    for (size_t i = 0; i < c->of->got.n; i++) {
        const struct paper_value *v = c->of->got.v[i].value;

        if (strcmp(v->series, name) != 0 || !v->x[0] || (published && !v->published[0]))
            continue;
        p[n].x = chart_x(c, v->x);
        p[n].y = published ? atof(v->published) : c->of->got.v[i].weir;
        p[n].low = p[n].high = p[n].y;
        p[n++].open = names && !published;
    }
    if (n)
        wr_vec_push(&c->series,
                    (struct report_series){
                        .name = wr_arena_printf(&c->arena, "%s%s%s", name, name[0] ? ", " : "",
                                                published ? "published" : "weir"),
                        .point = p,
                        .n = n,
                        .marks_only = published || names,
                        .line_only = !published && !names,
                        .ink = ink});
}

static void chart_find_curves(struct curves *c)
{
    uint32_t ink = 0;

    for (size_t i = 0; i < c->of->got.n; i++) {
        const struct paper_value *v = c->of->got.v[i].value;
        size_t k = 0;

        while (k < i && (strcmp(c->of->got.v[k].value->series, v->series) != 0 ||
                         !c->of->got.v[k].value->x[0]))
            k++;
        if (!v->x[0] || k < i)
            continue;
        chart_add(c, v->series, true, ++ink);
        chart_add(c, v->series, false, ink);
    }
}

bool paper_has_chart(const struct paper_result *of)
{
    bool any = false;

    for (size_t i = 0; !any && i < of->got.n; i++)
        any = of->got.v[i].value->x[0] != '\0';
    return any && of->item->chart.title[0];
}

bool paper_chart(const struct paper_results *r, const struct paper_result *of, struct wr_err *err)
{
    const struct paper_chart *a = &of->item->chart;
    struct curves c = {.of = of};
    struct wr_str svg = {0}, path = {0};

    if (!paper_has_chart(of))
        return true;
    chart_find_names(&c);
    chart_find_curves(&c);
    report_chart_svg(
        &(struct report_chart){
            .title = a->title,
            .desc = a->title,
            .open_means = c.names.n ? "weir" : NULL,
            .x = {.label = a->x, .log = a->log_x, .category = c.names.v, .ncategories = c.names.n},
            .y = {.label = a->y, .log = a->log_y, .zero = !a->log_y},
            .series = c.series.v,
            .nseries = c.series.n},
        &svg);
    wr_str_addf(&path, "%s/%s/" PAPER_CHART, r->dir, of->item->id);
    bool ok = wr_output_text(path.s, &wr_format_svg, WR_FORCE, &svg, err);

    wr_str_fini(&svg);
    wr_str_fini(&path);
    wr_vec_fini(&c.names);
    wr_vec_fini(&c.series);
    wr_arena_fini(&c.arena);
    return ok;
}
