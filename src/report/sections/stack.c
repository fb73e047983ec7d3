/* stack.c -- the I/O stack: where operations spent their time, function by function and state by
 * state. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sections_priv.h"

enum { MOST_BARS = 14 };

struct work {
    const char *side, *name;
    double work_s, wait_s, visits;
};

struct works {
    struct wr_arena *arena;
    WR_VEC(struct work) v;
};

static struct work *work_named(struct works *w, const char *side, const char *name)
{
    for (size_t i = w->v.n; i-- > 0;)
        if (!strcmp(w->v.v[i].name, name) && !strcmp(w->v.v[i].side, side))
            return &w->v.v[i];
    wr_vec_push(&w->v, (struct work){.side = wr_arena_strdup(w->arena, side),
                                     .name = wr_arena_strdup(w->arena, name)});
    return &w->v.v[w->v.n - 1];
}

static bool take_work(void *ctx, const struct run_rows *q)
{
    struct work *w = work_named(ctx, run_rows_text(q, 0, NULL), run_rows_text(q, 1, NULL));
    const char *what = run_rows_text(q, 2, NULL);

    if (!strcmp(what, "work_s"))
        w->work_s += run_rows_real(q, 3);
    else if (!strcmp(what, "wait_s"))
        w->wait_s += run_rows_real(q, 3);
    else
        w->visits += run_rows_real(q, 3);
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct work *x = a, *y = b;
    double p = x->work_s + x->wait_s, q = y->work_s + y->wait_s;

    return (q > p) - (q < p);
}

/* The longest of each side; groups stand together. */
static void draw(struct report_section *s, const struct works *w, const char *id, const char *title)
{
    static const char *const sides[] = {"client", "server"};
    struct report_bar *bar = wr_arena_alloc(s->arena, 2 * MOST_BARS * sizeof *bar);
    size_t n = 0;

    for (int side = 0; side < 2; side++)
        for (size_t i = 0, k = 0; i < w->v.n && k < MOST_BARS; i++) {
            const struct work *v = &w->v.v[i];
            struct report_part *part;

            if (strcmp(v->side, sides[side]) != 0 || !(v->work_s + v->wait_s > 0))
                continue;
            part = wr_arena_alloc(s->arena, 2 * sizeof *part);
            part[0] = (struct report_part){"work", 1e3 * v->work_s};
            part[1] = (struct report_part){"wait for others", 1e3 * v->wait_s};
            bar[n++] = (struct report_bar){v->name, sides[side], part, 2};
            k++;
        }
    if (!n)
        return;
    struct report_figure *f = report_add_figure(s, id, REPORT_BARS);
    f->bar = bar;
    f->nbars = n;
    f->chart = (struct report_chart){
        .title = title,
        .desc = wr_arena_printf(s->arena,
                                "Time summed over all processes; work is what is done by itself, "
                                "wait what others are waited for. The longest is %s.",
                                w->v.v[0].name),
        .x = {.label = "time", .unit = "ms", .zero = true}};
}

static bool make_by(struct report_section *s, struct run_reader *r, const char *name_sql,
                    const char *id, const char *title, struct wr_err *err)
{
    struct works w = {.arena = s->arena};
    /* state.SIDE.FUNCTION:STATE.WHAT */
    const char *sql = wr_arena_printf(
        s->arena,
        "WITH k AS (SELECT substr(key, 7, 6) AS side, substr(key, 14) AS rest, value FROM summary"
        " WHERE key GLOB 'state.client.*' OR key GLOB 'state.server.*'), m AS (SELECT side,"
        " substr(rest, 1, length(rest) - 7) AS name, substr(rest, length(rest) - 5) AS what, value "
        "FROM k)"
        " SELECT side, %s, what, value FROM m",
        name_sql);
    bool ok = report_each(r, sql, NULL, take_work, &w, err);

    if (ok && w.v.n) {
        qsort(w.v.v, w.v.n, sizeof *w.v.v, by_time);
        draw(s, &w, id, title);
    }
    wr_vec_fini(&w.v);
    return ok;
}

static bool make_stack(const struct report_inputs *in, size_t which, struct report_section *s,
                       struct wr_err *err)
{
    struct run_reader *r = in->v.v[which].run;

    if (strcmp(run_info(r)->kind, "stack") != 0)
        return true;
    s->says = "Where operations on files spent their time in the layers of the file system.";
    return make_by(s, r,
                   "CASE WHEN instr(name, ':') > 0 THEN substr(name, 1, instr(name, ':') - 1)"
                   " ELSE name END",
                   "functions", "Time by function", err) &&
           make_by(s, r, "name", "states", "Time by state", err) &&
           report_add_query(
               s, "phases", "What the test reached.", r,
               "SELECT key, value, unit FROM summary WHERE key GLOB '*_bw_MiBps' OR key"
               " IN ('servers', 'clients', 'bytes_written', 'bytes_read', "
               "'data_messages', 'file_system', 'laws')",
               NULL, err);
}

const struct report_maker report_stack = {
    .id = "stack", .group = "stack", .title = "The I/O stack", .each = true, .make = make_stack};
