/* compare_page.c -- comparisons as a page: words, bars of causes, crowds, tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "page_priv.h"
#include "report/compare.h"

/* Colours that stay apart for most eyes, on light and dark ground alike. */
static const struct {
    const char *cause, *colour, *words;
} causes[] = {
    {"compute", "#9a9a9a", "computing"},
    {"idle", "#d0d0d0", "idle"},
    {"software", "#56b4e9", "software"},
    {"transfer", "#0072b2", "transfer"},
    {"network", "#d55e00", "network"},
    {"nic", "#e69f00", "NIC"},
    {"partner", "#cc79a7", "other ranks"},
    {"device", "#009e73", "device"},
    {"device_queue", "#6cbf84", "device, behind own requests"},
    {"device_others", "#b2182b", "device, behind other jobs"},
    {"reserve", "#7b5ea7", "room in a buffer"},
    {"unknown", "#404040", "not known"},
};

enum { NCAUSES = sizeof causes / sizeof *causes, WIDE = 832, LEFT = 210, BAR = 18, STEP = 24 };

static double by_cause(const struct report_compared *c, const char *cause, bool with)
{
    double sum = 0;

    for (size_t i = 0; i < c->cause.n; i++)
        if (!strcmp(c->cause.v[i].cause, cause))
            sum += with ? c->cause.v[i].with_ns : c->cause.v[i].base_ns;
    return sum;
}

static void add_bar(const struct report_compared *c, bool with, double scale, double y,
                    struct wr_str *out)
{
    double x = LEFT;

    wr_str_addf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 8, y + 13);
    report_escape(out, with ? "with others" : c->job);
    wr_str_add(out, with ? "</text>\n" : " alone</text>\n");
    for (size_t i = 0; i < NCAUSES; i++) {
        double ns = by_cause(c, causes[i].cause, with), w = ns * scale;

        if (!(w > 0))
            continue;
        wr_str_addf(out,
                    "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>"
                    "%s: %.4g ms</title></rect>\n",
                    x, y, w, BAR, causes[i].colour, causes[i].words, ns / 1e6);
        x += w;
    }
    wr_str_addf(
        out, "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\">%.4g ms</text>\n", x + 6, y + 13,
        c->change[REPORT_ELAPSED].base_ns > 0
            ? (with ? c->change[REPORT_ELAPSED].with_ns : c->change[REPORT_ELAPSED].base_ns) / 1e6
            : 0);
}

static void add_legend(const struct report_compare *c, double y, struct wr_str *out)
{
    double x = LEFT;

    for (size_t i = 0; i < NCAUSES; i++) {
        double any = 0;

        for (size_t j = 0; j < c->job.n; j++)
            any += by_cause(&c->job.v[j], causes[i].cause, false) +
                   by_cause(&c->job.v[j], causes[i].cause, true);
        if (!(any > 0))
            continue;
        double w = 28 + 7.6 * (double)strlen(causes[i].words);

        if (x + w > WIDE) {
            x = LEFT;
            y += 20;
        }
        wr_str_addf(out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>"
                    "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                    x, y, causes[i].colour, x + 17, y + 11, causes[i].words);
        x += w;
    }
}

/* Each job's mean rank, alone and with others, in one scale for each job. */
static void add_bars(const struct report_compare *c, struct wr_str *out)
{
    double y = 4, height = (double)c->job.n * (2 * STEP + 14) + 50;

    wr_str_addf(out,
                "<figure>\n<svg class=\"wc\" viewBox=\"0 0 %d %.0f\" role=\"img\" "
                "aria-label=\"Where the time of each job goes, alone and with others\">\n",
                WIDE, height);
    for (size_t j = 0; j < c->job.n; j++, y += 2 * STEP + 14) {
        const struct report_change *e = &c->job.v[j].change[REPORT_ELAPSED];
        double scale = (WIDE - LEFT - 90) / fmax(fmax(e->base_ns, e->with_ns), 1);

        add_bar(&c->job.v[j], false, scale, y, out);
        add_bar(&c->job.v[j], true, scale, y + STEP, out);
    }
    add_legend(c, y, out);
    wr_str_add(out, "</svg>\n<figcaption>Where the time of each job's mean rank goes, alone and "
                    "with others. Each job has a scale of its own.</figcaption>\n</figure>\n");
}

/* Slowdown of I/O against the number of others on a rank's server. */
static void add_crowds(const struct report_compare *c, size_t group, struct wr_arena *arena,
                       struct wr_str *out)
{
    struct report_series *s = wr_arena_alloc(arena, (c->job.n + 1) * sizeof *s);
    size_t n = 0;

    for (size_t j = 0; j < c->job.n; j++) {
        const struct report_compared *k = &c->job.v[j];
        struct report_point *p = wr_arena_alloc(arena, (k->crowd.n + 1) * sizeof *p);

        for (size_t i = 0; i < k->crowd.n; i++)
            p[i] = (struct report_point){.x = k->crowd.v[i].others,
                                         .y = k->crowd.v[i].base_ns > 0
                                                  ? k->crowd.v[i].with_ns / k->crowd.v[i].base_ns
                                                  : NAN};
        if (k->crowd.n) {
            s[n] = (struct report_series){.name = k->job, .point = p, .n = k->crowd.n};
            n++;
        }
    }
    if (!n)
        return;
    page_figure(
        &(struct report_chart){
            .title = "Who shares the server",
            .desc = "How many times as long the I/O of a job's ranks takes, by how many ranks of "
                    "other jobs have their data on the same server.",
            .x = {.label = "ranks of other jobs on the server", .zero = true},
            .y = {.label = "I/O time, relative to alone", .zero = true},
            .series = s,
            .nseries = n},
        wr_arena_printf(arena, "crowd%zu", group), out);
}

static void add_changes(const struct report_compare *c, struct wr_str *out)
{
    static const enum report_measure shown[] = {REPORT_ELAPSED, REPORT_COMM, REPORT_IO,
                                                REPORT_MESSAGE};
    struct table t = {.ncols = 8, .nleft = 2};
    static const char *const head[] = {"job",   "what", "alone ms", "with others ms",
                                       "times", "from", "to",       "seeds"};

    for (size_t i = 0; i < 8; i++)
        table_add(&t, "%s", head[i]);
    for (size_t j = 0; j < c->job.n; j++)
        for (size_t i = 0; i < 4; i++) {
            const struct report_change *m = &c->job.v[j].change[shown[i]];

            if (isnan(m->ratio.mid))
                continue;
            table_add(&t, "%s", c->job.v[j].job);
            table_add(&t, "%s", report_measure_names[shown[i]]);
            table_number(&t, m->base_ns / 1e6, 4);
            table_number(&t, m->with_ns / 1e6, 4);
            table_number(&t, m->ratio.mid, 4);
            table_number(&t, m->ratio.low, 4);
            table_number(&t, m->ratio.high, 4);
            table_add(&t, "%zu", c->job.v[j].pairs);
        }
    table_html(&t,
               "Means over ranks, and intervals of 95 %: over seeds, or over ranks where there "
               "is one seed.",
               out);
    table_fini(&t);
}

void report_compare_page(const char *title, const struct report_compare *const *list,
                         const char *const *groups, size_t n, struct wr_str *out)
{
    struct page_sources none = {0};
    struct wr_arena arena = {0};

    page_begin(title, &none, out);
    for (size_t g = 0; g < n; g++) {
        struct wr_str words = {0};

        if (*groups[g]) {
            wr_str_add(out, "<h2>");
            report_escape(out, groups[g]);
            wr_str_add(out, "</h2>\n");
        }
        for (size_t j = 0; j < list[g]->job.n; j++)
            report_compare_words(&list[g]->job.v[j], &words);
        wr_str_add(out, "<p style=\"white-space:pre-line\">");
        report_escape(out, wr_str_get(&words));
        wr_str_add(out, "</p>\n");
        add_bars(list[g], out);
        add_crowds(list[g], g, &arena, out);
        add_changes(list[g], out);
        wr_str_fini(&words);
    }
    wr_str_add(out, "</main>\n</body>\n</html>\n");
    wr_arena_fini(&arena);
}
