/* sec_flows.c -- traffic matrices of a run: bytes sent from each group of routers to each other.
 *
 * sec_machine.c and sec_study.c call machine_flows(). Bytes are counted at the ends of messages, so
 * the route does not matter.
 */
#include <math.h>
#include <string.h>

#include "sec_machine_priv.h"

enum { MOST_APPS = 4 }; /* of more, only all together */

struct flows {
    const struct machine *m;
    struct wr_arena *arena;
    struct {
        int64_t app;
        const char *name;
        double *bytes;   /* [from * n + to] */
    } of[MOST_APPS + 1]; /* the first: all */
    size_t n;
    bool more; /* more applications than there are matrices */
};

static double *flows_matrix_of(struct flows *f, int64_t app, const char *name)
{
    size_t i = 1;

    while (i < f->n && f->of[i].app != app)
        i++;
    if (i > MOST_APPS) {
        f->more = true;
        return NULL;
    }
    if (i == f->n) {
        f->of[i].app = app;
        f->of[i].name = wr_arena_strdup(f->arena, name);
        f->of[i].bytes = wr_arena_alloc(f->arena, f->m->n * f->m->n * sizeof(double));
        f->n++;
    }
    return f->of[i].bytes;
}

static bool flows_on_row(void *ctx, const struct run_rows *q)
{
    struct flows *f = ctx;
    int64_t a = run_rows_int(q, 1), b = run_rows_int(q, 2);

    if (a < 0 || b < 0 || (size_t)a >= f->m->n || (size_t)b >= f->m->n)
        return true;
    double *own = flows_matrix_of(f, run_rows_int(q, 0), run_rows_text(q, 4, NULL));
    size_t at = (size_t)a * f->m->n + (size_t)b;

    f->of[0].bytes[at] += run_rows_real(q, 3);
    if (own)
        own[at] += run_rows_real(q, 3);
    return true;
}

static void flows_draw(const struct flows *f, size_t k, struct report_section *s, const char *id,
                       const char *whose)
{
    size_t n = f->m->n, at = 0;
    const char **name = wr_arena_alloc(s->arena, n * sizeof *name);
    const double *v = f->of[k].bytes;
    double all = 0, within = 0;

    for (size_t i = 0; i < n; i++)
        name[i] = wr_arena_printf(s->arena, "%zu", i);
    for (size_t i = 0; i < n * n; i++) {
        all += v[i];
        within += i / n == i % n ? v[i] : 0;
        at = v[i] > v[at] ? i : at;
    }
    if (!(all > 0))
        return;
    struct report_figure *fig = report_add_figure(s, id, REPORT_MATRIX);
    fig->matrix = (struct report_matrix){
        .row = name, .col = name, .nrows = n, .ncols = n, .value = v, .unit = "B"};
    fig->chart = (struct report_chart){
        .title = wr_arena_printf(s->arena, "Traffic matrix: bytes sent between groups%s%s%s",
                                 k ? " by " : "", k ? f->of[k].name : "", whose),
        .desc = wr_arena_printf(s->arena,
                                "By source and destination of messages, whatever their route: %.4g "
                                "MB in all, %.3g %% of "
                                "them within a group; the most, %.4g MB, from group %zu to %zu.",
                                all / 1e6, 100 * within / all, v[at] / 1e6, at / n, at % n),
        .x = {.label = "to group"},
        .y = {.label = "from group"}};
}

bool machine_flows(const struct machine *m, struct run_reader *r, struct report_section *s,
                   const char *id, const char *whose, bool each, struct wr_err *err)
{
    struct flows f = {.m = m, .arena = s->arena, .n = 1};

    if (run_info(r)->format_minor < 7)
        return true;
    f.of[0].bytes = wr_arena_alloc(s->arena, m->n * m->n * sizeof(double));
    if (!run_each(r,
                  "SELECT f.app, f.src_group, f.dst_group, f.bytes, coalesce(a.name, 'traffic')"
                  " FROM flow_stat f LEFT JOIN app_stat a ON a.app = f.app",
                  NULL, flows_on_row, &f, err))
        return false;
    flows_draw(&f, 0, s, id, whose);
    for (size_t k = 1; each && !f.more && f.n > 2 && k < f.n; k++)
        flows_draw(&f, k, s, wr_arena_printf(s->arena, "%s-%zu", id, k), whose);
    return true;
}
