/* figure_machine.c -- groups of routers in a ring, and the links between and within them.
 *
 * A line's strength is the load of the links that it stands for, both directions together, at
 * their mean over all slices; the inside of a group is as strong as the load of its own links, and
 * its rim has the colour of the job that has most ranks there.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figure_priv.h"
#include "report_svg_priv.h"

enum { RING = 300, SPOT = 13, MOST_NAMED = 8 };

static double machine_mean_of(const double *v, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += isfinite(v[i]) ? v[i] : 0;
    return n ? sum / (double)n : 0;
}

/* The job with most ranks in a spot, or SIZE_MAX. */
static size_t machine_main_job(const struct report_spot *s, struct figure_names *jobs)
{
    size_t best = SIZE_MAX;
    double most = 0;

    for (size_t i = 0; i < s->njobs; i++)
        if (s->job[i].value > most) {
            most = s->job[i].value;
            best = figure_name(jobs, s->job[i].name);
        }
    return best;
}

static void machine_job_names(const struct report_figure *f,
                              void (*fn)(void *ctx, const char *name), void *ctx)
{
    const struct report_machine *m = &f->machine;

    for (size_t i = 0; i < m->nspots; i++)
        for (size_t k = 0; k < m->spot[i].njobs; k++)
            fn(ctx, m->spot[i].job[k].name);
}

static double machine_heaviest(const struct report_machine *m, bool within)
{
    double top = 0;

    for (size_t i = 0; i < m->nbundles; i++)
        if ((m->bundle[i].a == m->bundle[i].b) == within)
            top = fmax(top, machine_mean_of(m->bundle[i].load, m->nslices));
    return top > 0 ? top : 1;
}

static void machine_put_between(const struct report_machine *m, const struct report_bundle *b,
                                double top, const double centre[2], struct wr_str *out)
{
    const struct report_spot *p = &m->spot[b->a], *q = &m->spot[b->b];
    double load = machine_mean_of(b->load, m->nslices), sat = machine_mean_of(b->sat, m->nslices);
    double x0 = centre[0] + RING * p->x, y0 = centre[1] + RING * p->y;
    double x1 = centre[0] + RING * q->x, y1 = centre[1] + RING * q->y;

    /* Bent towards the middle, and the two directions apart. */
    double bend = b->a < b->b ? 0.62 : 0.72;
    double cx = centre[0] + ((x0 + x1) / 2 - centre[0]) * bend;
    double cy = centre[1] + ((y0 + y1) / 2 - centre[1]) * bend;

    wr_str_addf(out,
                "<path class=\"line\" fill=\"none\" stroke-opacity=\"%.2f\" stroke-width=\"%.2f\" "
                "d=\"M%.1f %.1fQ%.1f "
                "%.1f %.1f %.1f\"><title>",
                fmin(0.04 + 0.96 * load / top, 1), 0.3 + 1.2 * load / top, x0, y0, cx, cy, x1, y1);
    report_escape(out, p->label);
    wr_str_add(out, " to ");
    report_escape(out, q->label);
    wr_str_addf(out, ": %.0f links, busy %.3g %%, saturated %.3g %%</title></path>\n", b->n,
                100 * load, 100 * sat);
}

/* The dashes of a rim identify the job of a group without colour. */
static const char *machine_dash_of(size_t job)
{
    return job == SIZE_MAX || !*palette_dash(job) ? "none" : palette_dash(job);
}

/* Rims as the groups have them, with the names of jobs; the height used. With no `out`, only
 * measures. */
static double machine_put_rims(const struct figure_names *jobs, double top, struct wr_str *out)
{
    struct svg_entry e = {12, top + 14};

    for (size_t k = 0; k < jobs->v.n; k++) {
        double width = 48 + svg_text_width(jobs->v.v[k]);

        svg_entry_next(&e, width);
        if (out) {
            svg_group(jobs->ink.v[k], out);
            wr_str_addf(out,
                        "<path class=\"line\" fill=\"none\" stroke-width=\"4\" "
                        "stroke-dasharray=\"%s\" d=\"M%.1f %.1fh26\"/></g>",
                        machine_dash_of(k), e.x, e.y - 4);
            svg_text(e.x + 31, e.y, "", jobs->v.v[k], out);
        }
        e.x += width;
    }
    return jobs->v.n ? e.y + 8 - top : 0;
}

static void machine_put_spot(const struct report_machine *m, uint32_t i, double inside,
                             struct figure_names *jobs, const double centre[2], struct wr_str *out)
{
    const struct report_spot *s = &m->spot[i];
    double x = centre[0] + RING * s->x, y = centre[1] + RING * s->y;
    size_t job = machine_main_job(s, jobs);

    wr_str_addf(
        out,
        "<circle class=\"ground\" fill=\"%s\" stroke=\"none\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/>",
        svg_light(SVG_BG), x, y, SPOT);
    svg_group_named("guide", SVG_DIM, out);
    wr_str_addf(out,
                "<circle class=\"fill\" stroke=\"none\" fill-opacity=\"%.3f\" cx=\"%.1f\" "
                "cy=\"%.1f\" r=\"%d\"/></g>",
                0.55 * fmin(inside, 1), x, y, SPOT); /* the number on it is still read */
    if (job == SIZE_MAX)
        svg_group_named("guide", SVG_DIM, out);
    else
        svg_group(jobs->ink.v[job], out);
    wr_str_addf(out,
                "<circle class=\"line\" fill=\"none\" stroke-width=\"%d\" stroke-dasharray=\"%s\" "
                "cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" pointer-events=\"all\"><title>",
                job == SIZE_MAX ? 1 : 4, machine_dash_of(job), x, y, SPOT);
    report_escape(out, s->label);
    for (size_t k = 0; k < s->njobs; k++) {
        wr_str_add(out, ", ");
        report_escape(out, s->job[k].name);
        wr_str_addf(out, ": %.0f ranks", s->job[k].value);
    }
    wr_str_add(out, "</title></circle></g>\n");
    char number[16];
    snprintf(number, sizeof number, "%u", i);
    svg_text(x, y + 4, "text-anchor=\"middle\" font-size=\"10\"", number, out);
}

static void machine_svg(const struct report_figure *f, bool whole, struct wr_str *out)
{
    const struct report_machine *m = &f->machine;
    struct figure_names jobs;
    double legend_top = svg_top(&f->chart, whole), between = machine_heaviest(m, false);
    double within = machine_heaviest(m, true), *inside = wr_zalloc(m->nspots + 1, sizeof *inside);

    figure_names_open(&jobs, f);
    double top = legend_top + machine_put_rims(&jobs, legend_top, NULL) + 8;
    double centre[2] = {SVG_WIDTH / 2.0, top + RING + SPOT + 6};
    svg_begin(&f->chart, whole ? "chart" : f->id, whole, centre[1] + RING + SPOT + 12, out);
    svg_group_named("guide", SVG_DIM, out);
    for (size_t i = 0; i < m->nbundles; i++) {
        if (m->bundle[i].a != m->bundle[i].b)
            machine_put_between(m, &m->bundle[i], between, centre, out);
        else
            inside[m->bundle[i].a] = machine_mean_of(m->bundle[i].load, m->nslices) / within;
    }
    wr_str_add(out, "</g>\n");
    for (uint32_t i = 0; i < m->nspots; i++)
        machine_put_spot(m, i, inside[i], &jobs, centre, out);
    machine_put_rims(&jobs, legend_top, out);
    svg_end(out);
    free(inside);
    figure_names_fini(&jobs);
}

static int machine_by_load(const void *a, const void *b)
{
    double x = ((const double *)a)[0], y = ((const double *)b)[0];

    return (y > x) - (y < x);
}

/* A ring says little in a terminal; the heaviest links do. */
static void machine_text(const struct report_figure *f, const struct report_text_style *style,
                         struct wr_str *out)
{
    const struct report_machine *m = &f->machine;
    double(*by)[2] = wr_zalloc(m->nbundles + 1, sizeof *by);
    unsigned cols = figure_width(style) - 46;

    for (size_t i = 0; i < m->nbundles; i++) {
        by[i][0] = machine_mean_of(m->bundle[i].load, m->nslices);
        by[i][1] = (double)i;
    }
    qsort(by, m->nbundles, sizeof *by, machine_by_load);
    wr_str_addf(out, "%s: the heaviest links\n", f->chart.title);
    for (size_t i = 0; i < m->nbundles && i < MOST_NAMED; i++) {
        const struct report_bundle *b = &m->bundle[(size_t)by[i][1]];
        unsigned n = by[0][0] > 0 ? (unsigned)lround(by[i][0] / by[0][0] * cols) : 0;

        wr_str_addf(out, "  %-10.10s %10.10s to %-10.10s %6.2f %% ", b->cls, m->spot[b->a].label,
                    m->spot[b->b].label, 100 * by[i][0]);
        for (unsigned k = 0; k < n; k++)
            wr_str_add(out, style->ascii ? "#" : "█");
        wr_str_add(out, "\n");
    }
    free(by);
}

static void machine_put_numbers(const char *key, const double *v, size_t n, struct wr_str *out)
{
    report_json_key(out, key);
    wr_str_add(out, "[");
    for (size_t i = 0; i < n; i++) {
        report_json_comma(out);
        /* Four digits of a fraction are more than a colour shows. */
        if (isfinite(v[i]))
            wr_str_addf(out, "%.4g", v[i]);
        else
            wr_str_add(out, "null");
    }
    wr_str_add(out, "]");
}

static void machine_json_spot(const struct report_spot *s, size_t id, struct wr_str *out)
{
    report_json_comma(out);
    wr_str_add(out, "{");
    report_json_number(out, "id", (double)id);
    report_json_member(out, "label", s->label);
    report_json_number(out, "x", s->x);
    report_json_number(out, "y", s->y);
    report_json_key(out, "jobs");
    wr_str_add(out, "[");
    for (size_t i = 0; i < s->njobs; i++) {
        report_json_comma(out);
        wr_str_add(out, "{");
        report_json_member(out, "name", s->job[i].name);
        report_json_number(out, "ranks", s->job[i].value);
        wr_str_add(out, "}");
    }
    wr_str_add(out, "]}");
}

static void machine_json(const struct report_figure *f, struct wr_str *out)
{
    const struct report_machine *m = &f->machine;

    report_json_key(out, "groups");
    wr_str_add(out, "[");
    for (size_t i = 0; i < m->nspots; i++)
        machine_json_spot(&m->spot[i], i, out);
    wr_str_add(out, "]");
    report_json_key(out, "links");
    wr_str_add(out, "[");
    for (size_t i = 0; i < m->nbundles; i++) {
        const struct report_bundle *b = &m->bundle[i];

        report_json_comma(out);
        wr_str_add(out, "{");
        report_json_number(out, "a", b->a);
        report_json_number(out, "b", b->b);
        report_json_member(out, "class", b->cls);
        report_json_number(out, "n", b->n);
        machine_put_numbers("load", b->load, m->nslices, out);
        machine_put_numbers("sat", b->sat, m->nslices, out);
        wr_str_add(out, "}");
    }
    wr_str_add(out, "]");
    report_json_key(out, "slices");
    wr_str_add(out, "{");
    report_json_number(out, "n", (double)m->nslices);
    report_json_number(out, "dt_ns", m->dt_ns);
    wr_str_add(out, "}");
}

static void machine_csv(const struct report_figure *f, struct report_table *t)
{
    static const char *const columns[] = {"a", "b", "class", "slice", "load", "saturated"};
    const struct report_machine *m = &f->machine;

    figure_head(t, columns, 6, 3);
    for (size_t i = 0; i < m->nbundles; i++)
        for (size_t k = 0; k < m->nslices; k++) {
            report_table_add(t, "%u", m->bundle[i].a);
            report_table_add(t, "%u", m->bundle[i].b);
            report_table_add(t, "%s", m->bundle[i].cls);
            report_table_add(t, "%zu", k);
            report_table_add(t, "%.4g", m->bundle[i].load[k]);
            report_table_add(t, "%.4g", m->bundle[i].sat[k]);
        }
}

const struct figure_ops figure_machine = {machine_svg, machine_text, machine_json, machine_csv,
                                          machine_job_names};
