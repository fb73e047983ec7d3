#include "single_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

struct single_unit single_unit(double ns)
{
    static const struct single_unit units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t i = 0;

    while (i < 3 && !(ns >= units[i].ns))
        i++;
    return units[i];
}

struct single_curve *single_curve(struct single *s, struct single_curves *c, const char *name)
{
    for (size_t i = c->v.n; i-- > 0;)
        if (!strcmp(c->v.v[i].name, name))
            return &c->v.v[i];
    wr_vec_push(&c->v, (struct single_curve){.name = wr_arena_strdup(&s->text, name)});
    return &c->v.v[c->v.n - 1];
}

const struct report_series *single_series(struct single *s, struct single_curves *c,
                                          struct report_series shape)
{
    struct report_series *series = wr_arena_alloc(&s->text, (c->v.n + 1) * sizeof *series);

    for (size_t i = 0; i < c->v.n; i++) {
        size_t n = c->v.v[i].point.n;
        struct report_point *p = wr_arena_alloc(&s->text, (n + 1) * sizeof *p);

        if (n)
            memcpy(p, c->v.v[i].point.v, n * sizeof *p);
        series[i] = shape;
        series[i].name = c->v.v[i].name;
        series[i].point = p;
        series[i].n = n;
        wr_vec_fini(&c->v.v[i].point);
    }
    wr_vec_fini(&c->v);
    return series;
}

static bool read_summary(struct single *s, struct wr_err *err)
{
    struct run_rows *q;
    bool more, ok;

    if (!run_query(&q, s->run, "SELECT key, value, unit FROM summary", NULL, 0, err))
        return false;
    s->summary = (struct table){.ncols = 3, .nleft = 1, .units = true};
    table_add(&s->summary, "what");
    table_add(&s->summary, "value");
    table_add(&s->summary, "unit");
    while ((ok = run_rows_next(q, &more, err)) && more)
        for (int c = 0; c < 3; c++)
            table_add(&s->summary, "%s", run_rows_text(q, c, NULL));
    run_rows_close(q);
    return ok;
}

static void single_fini(struct single *s)
{
    run_close(s->run);
    wr_vec_fini(&s->chart);
    table_fini(&s->summary);
    table_fini(&s->latency);
    table_fini(&s->links);
    wr_arena_fini(&s->text);
}

static bool single_read(struct single *ret, const char *path, struct wr_err *err)
{
    struct single s = {0};

    if (!run_open(&s.run, path, err))
        return false;
    if (!read_summary(&s, err) || !single_latency(&s, err) || !single_links(&s, err) ||
        !single_slices(&s, err)) {
        single_fini(&s);
        return wr_wrap(err, "%s", path);
    }
    *ret = s;
    return true;
}

/* A table that has more than its head. */
static bool has_rows(const struct table *t)
{
    return t->cell.n > t->ncols;
}

bool report_run_text(const char *run, const struct report_text_style *style, struct wr_str *out,
                     struct wr_err *err)
{
    struct single s;

    if (!single_read(&s, run, err))
        return false;
    const struct table *tables[] = {&s.summary, &s.latency, &s.links};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (has_rows(tables[i])) {
            table_text(tables[i], out);
            wr_str_add(out, "\n");
        }
    for (size_t i = 0; i < s.chart.n; i++) {
        report_chart_text(&s.chart.v[i], style, out);
        report_wrap(out, s.chart.v[i].desc, style->width ? style->width : 76);
        wr_str_add(out, "\n");
    }
    single_fini(&s);
    return true;
}

bool report_run_json(const char *run, struct wr_str *out, struct wr_err *err)
{
    struct single s;

    if (!single_read(&s, run, err))
        return false;
    report_json(out, json_pack("{so, so, so}", "summary", table_json(&s.summary), "latency",
                               table_json(&s.latency), "links", table_json(&s.links)));
    single_fini(&s);
    return true;
}

bool report_run_page(const char *run, struct wr_str *out, struct wr_err *err)
{
    struct page_sources sources;
    struct single s;

    if (!single_read(&s, run, err))
        return false;
    page_sources_init(&sources);
    bool ok = page_sources_add(&sources, s.run, err);
    if (ok) {
        page_begin(sources.title, &sources, out);
        for (size_t i = 0; i < s.chart.n; i++)
            page_figure(&s.chart.v[i], wr_arena_printf(&s.text, "chart%zu", i), out);
        wr_str_add(out, "<h2>The numbers</h2>\n");
        if (has_rows(&s.latency))
            table_html(&s.latency, "Latencies, by what was timed.", out);
        if (has_rows(&s.links))
            table_html(&s.links, "Links, by class: the part of the time each was sending.", out);
        table_html(&s.summary, "Summary of the run.", out);
        page_end(&sources, out);
    }
    page_sources_fini(&sources);
    single_fini(&s);
    return ok;
}
