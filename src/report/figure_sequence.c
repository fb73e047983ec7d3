/* figure_sequence.c -- activities and messages of components over time, which runs downwards.
 *
 *   client   server   disk
 *     |        |       |
 *     |------->|       |     a message, from lane to lane
 *     |        █       |     what a lane does
 *     |        |------>|
 *
 * Steps are drawn in equal distances, not to scale: they differ by powers of ten. Their times stand
 * next to them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "figure_priv.h"
#include "report_svg_priv.h"

enum { ROW = 22, HEAD = 34, TIMES = 76, MOST_STEPS = 200 };

static double sequence_lane_x(const struct report_sequence *q, int lane)
{
    double w = (SVG_WIDTH - TIMES - SVG_RIGHT) / fmax((double)q->nlanes, 1);

    return TIMES + w * (lane + 0.5);
}

/* How a step is drawn: the place and the colour of its class, in the picture `id`. */
struct step_ink {
    const char *id;
    size_t k;
    uint32_t ink;
};

static void sequence_put_message(const struct report_sequence *q, const struct report_step *s,
                                 const struct step_ink *k, double y, struct wr_str *out)
{
    double x0 = sequence_lane_x(q, s->lane), x1 = sequence_lane_x(q, s->to), d = x1 > x0 ? -7 : 7;

    svg_group(k->ink, out);
    wr_str_addf(out,
                "<path class=\"line\" fill=\"none\" stroke-width=\"1.5\" stroke-dasharray=\"%s\" "
                "d=\"M%.1f %.1fH%.1f\"/><path class=\"line\" fill=\"none\" stroke-width=\"1.5\" "
                "d=\"M%.1f %.1fm%.1f -4l%.1f 4l%.1f 4\"/></g>",
                *palette_dash(k->k) ? palette_dash(k->k) : "none", x0, y, x1, x1, y, d, -d, d);
    svg_text((x0 + x1) / 2, y - 3, "text-anchor=\"middle\" font-size=\"11\"", s->label, out);
}

static void sequence_put_work(const struct report_sequence *q, const struct report_step *s,
                              const struct step_ink *k, double y, struct wr_str *out)
{
    double x = sequence_lane_x(q, s->lane);
    struct wr_str title = {0};

    wr_str_addf(&title, "%s: %.6g to %.6g", s->label, s->t0, s->t1);
    svg_area(&(struct svg_area){k->id, k->k, k->ink, x - 5, y - ROW / 2.0, 10, ROW - 4},
             wr_str_get(&title), out);
    wr_str_fini(&title);
    svg_text(x + 9, y + 2, "font-size=\"11\"", s->label, out);
}

static void sequence_class_names(const struct report_figure *f,
                                 void (*fn)(void *ctx, const char *name), void *ctx)
{
    for (size_t i = 0; i < f->sequence.nsteps; i++)
        fn(ctx, f->sequence.step[i].cls);
}

static void sequence_svg(const struct report_figure *f, bool whole, struct wr_str *out)
{
    const struct report_sequence *q = &f->sequence;
    struct figure_names classes;
    size_t n = q->nsteps < MOST_STEPS ? q->nsteps : MOST_STEPS;
    const char *id = whole ? "chart" : f->id;
    double legend_top = svg_top(&f->chart, whole);

    figure_names_open(&classes, f);
    double top = legend_top +
                 svg_swatches(id, classes.v.v, classes.ink.v, classes.v.n, legend_top, NULL) + 8;
    svg_begin(&f->chart, id, whole, top + HEAD + ROW * ((double)n + 1), out);
    svg_hatches(id, classes.v.n, out);
    svg_swatches(id, classes.v.v, classes.ink.v, classes.v.n, legend_top, out);
    for (size_t i = 0; i < q->nlanes; i++) {
        svg_text(sequence_lane_x(q, (int)i), top + 16, "text-anchor=\"middle\"", q->lane[i], out);
        wr_str_addf(
            out, "<path class=\"grid\" fill=\"none\" stroke=\"%s\" d=\"M%.1f %.1fv%.1f\"/>\n",
            svg_light(SVG_GRID), sequence_lane_x(q, (int)i), top + 22, HEAD - 22 + ROW * (double)n);
    }
    for (size_t i = 0; i < n; i++) {
        const struct report_step *s = &q->step[i];
        double y = top + HEAD + ROW * ((double)i + 0.5);
        char time[32];

        snprintf(time, sizeof time, "%.5g", s->t0);
        svg_text(TIMES - 16, y + 3, "class=\"dim\" text-anchor=\"end\" font-size=\"11\"", time,
                 out);
        size_t k = figure_name(&classes, s->cls);
        struct step_ink ink = {id, k, classes.ink.v[k]};

        (s->to >= 0 && s->to != s->lane ? sequence_put_message : sequence_put_work)(q, s, &ink, y,
                                                                                    out);
    }
    svg_text(8, top + 16, "class=\"dim\"", f->chart.x.unit ? f->chart.x.unit : "", out);
    svg_end(out);
    figure_names_fini(&classes);
}

static void sequence_text(const struct report_figure *f, const struct report_text_style *style,
                          struct wr_str *out)
{
    const struct report_sequence *q = &f->sequence;
    const char *arrow = style->ascii ? "->" : "→";

    wr_str_addf(out, "%s\n", f->chart.title);
    for (size_t i = 0; i < q->nsteps && i < 40; i++) {
        const struct report_step *s = &q->step[i];

        wr_str_addf(out, "%12.6g %s  %s", s->t0, f->chart.x.unit ? f->chart.x.unit : "",
                    q->lane[s->lane]);
        if (s->to >= 0 && s->to != s->lane)
            wr_str_addf(out, " %s %s", arrow, q->lane[s->to]);
        wr_str_addf(out, ": %s\n", s->label);
    }
    if (q->nsteps > 40)
        wr_str_addf(out, "%12s ... %zu more\n", "", q->nsteps - 40);
}

static void sequence_json(const struct report_figure *f, struct wr_str *out)
{
    const struct report_sequence *q = &f->sequence;

    report_json_key(out, "lanes");
    wr_str_add(out, "[");
    for (size_t i = 0; i < q->nlanes; i++) {
        report_json_comma(out);
        report_json_text(out, q->lane[i]);
    }
    wr_str_add(out, "]");
    report_json_key(out, "steps");
    wr_str_add(out, "[");
    for (size_t i = 0; i < q->nsteps; i++) {
        const struct report_step *s = &q->step[i];

        report_json_comma(out);
        wr_str_add(out, "{");
        report_json_number(out, "t0", s->t0);
        report_json_number(out, "t1", s->t1);
        report_json_number(out, "lane", s->lane);
        if (s->to >= 0)
            report_json_number(out, "to", s->to);
        report_json_member(out, "label", s->label);
        report_json_member(out, "class", s->cls);
        wr_str_add(out, "}");
    }
    wr_str_add(out, "]");
}

static void sequence_csv(const struct report_figure *f, struct report_table *t)
{
    static const char *const columns[] = {"t0", "t1", "lane", "to", "label", "class"};
    const struct report_sequence *q = &f->sequence;

    figure_head(t, columns, 6, 0);
    for (size_t i = 0; i < q->nsteps; i++) {
        const struct report_step *s = &q->step[i];

        figure_number(t, s->t0);
        figure_number(t, s->t1);
        report_table_add(t, "%s", q->lane[s->lane]);
        report_table_add(t, "%s", s->to >= 0 ? q->lane[s->to] : "");
        report_table_add(t, "%s", s->label);
        report_table_add(t, "%s", s->cls);
    }
}

const struct figure_ops figure_sequence = {sequence_svg, sequence_text, sequence_json, sequence_csv,
                                           sequence_class_names};
