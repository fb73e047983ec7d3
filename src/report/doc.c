/* doc.c -- opens the inputs of a report and runs the makers of its sections (doc.h).
 *
 * report_inputs_open() turns operands into open run files, tables of points and groups of runs;
 * report_doc_open() calls each maker, for each run or once, and drops sections that stay empty.
 * All text of a document lives in its arena; readers stay open until report_inputs_close().
 */
#include "report/doc.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "doc_priv.h"
#include "report/sweep_curves.h"
#include "run/kind.h"

enum { FEW_RUNS = 4 }; /* up to so many get sections of their own */

char *report_short_name(struct wr_arena *a, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash && slash[1] ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    return wr_arena_strndup(a, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

/* ---- inputs ---- */

struct opening {
    struct report_inputs *in;
    const char *title;
};

static bool doc_read_title(void *ctx, const struct run_rows *q)
{
    struct opening *o = ctx;

    o->title = wr_arena_strdup(&o->in->arena, run_rows_text(q, 0, NULL));
    return false;
}

/* Tables that weir prints have all kinds of columns; those of points have one that is called load.
 */
static bool doc_check_table(const char *path, struct wr_err *err)
{
    char head[4097];
    size_t n = wr_file_head(head, sizeof head - 1, path);

    head[n] = '\0';
    head[strcspn(head, "\r\n")] = '\0';
    return !n || strstr(head, "load") || strstr(head, "series") ||
           wr_fail(err, WR_INPUT,
                   "%s is not a table of points, whose first line names columns like series,load; "
                   "of a table that weir printed give the run file or the study",
                   path);
}

static bool doc_add_run(struct report_inputs *in, const char *path, struct wr_err *err)
{
    struct report_input i = {.path = wr_arena_strdup(&in->arena, path)};
    struct opening o = {.in = in, .title = ""};
    double n = 0;
    bool found = false;

    i.name = report_short_name(&in->arena, path);
    if (sweep_is_table(path)) {
        if (!run_kind_check(path, "a run file or a table of points", err) ||
            !doc_check_table(path, err))
            return false;
        i.sweep = true;
        i.title = i.name;
    } else if (!run_open_until(&i.run, path, in->access.deadline_ns, err)) {
        return false;
    } else if (!run_each(i.run, "SELECT value FROM summary WHERE key = 'title'", NULL,
                         doc_read_title, &o, err) ||
               !run_number(i.run, "SELECT 1 FROM sweep LIMIT 1", &n, &found, err)) {
        run_close(i.run);
        return wr_wrap(err, "%s", path);
    } else {
        i.sweep = found;
        i.title = *o.title ? o.title : i.name;
    }
    wr_vec_push(&in->v, i);
    return true;
}

/* Those that can stand side by side. */
static bool doc_open_runs(struct report_inputs *in, struct wr_err *err)
{
    const char **paths = wr_zalloc(in->v.n + 1, sizeof *paths);
    size_t n = 0;
    bool ok = true;

    for (size_t i = 0; i < in->v.n; i++)
        if (in->v.v[i].run && run_info(in->v.v[i].run)->status == RUN_COMPLETE)
            paths[n++] = in->v.v[i].path;
    if (n > 1)
        ok = report_runs_open_for(&in->runs, paths, n, &in->access, err);
    free(paths);
    return ok;
}

static bool doc_add_operand(struct report_inputs *in, const char *operand, struct wr_err *err)
{
    struct report_runs runs;

    if (sweep_is_table(operand) || !report_is_group(operand))
        return doc_add_run(in, operand, err);
    if (!report_runs_open_for(&runs, &operand, 1, &in->access, err))
        return false;
    bool ok = true;
    in->left_out += runs.left_out;
    for (size_t i = 0; ok && i < runs.member.n; i++)
        ok = doc_add_run(in, runs.member.v[i].path, err);
    if (!in->study && runs.member.n)
        in->study = wr_arena_strdup(&in->arena, *runs.member.v[0].study
                                                    ? runs.member.v[0].study
                                                    : report_short_name(&in->arena, operand));
    /* What was read of them for this is what they are compared by. */
    if (ok && !in->runs.member.n && in->v.n == runs.member.n)
        in->runs = runs;
    else
        report_runs_close(&runs);
    return ok;
}

/* Opening a file takes longer than most queries of it. */
static void doc_lend_readers(struct report_inputs *in)
{
    for (size_t i = 0; i < in->runs.member.n; i++)
        for (size_t k = 0; k < in->v.n; k++)
            if (!strcmp(in->runs.member.v[i].path, in->v.v[k].path))
                in->runs.member.v[i].run = in->v.v[k].run;
}

bool report_inputs_open(struct report_inputs *ret, const char *const *operands, size_t n,
                        struct wr_err *err)
{
    return report_inputs_open_for(ret, operands, n, &(struct report_access){0}, err);
}

bool report_inputs_open_for(struct report_inputs *ret, const char *const *operands, size_t n,
                            const struct report_access *access, struct wr_err *err)
{
    struct report_inputs in = {.access = *access};
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++)
        ok = doc_add_operand(&in, operands[i], err);
    if (ok && in.runs.member.n && n > 1) {
        report_runs_close(&in.runs);
        in.runs = (struct report_runs){0};
    }
    if (!ok || (!in.runs.member.n && !doc_open_runs(&in, err))) {
        report_inputs_close(&in);
        return false;
    }
    doc_lend_readers(&in);
    *ret = in;
    return true;
}

void report_inputs_close(struct report_inputs *in)
{
    for (size_t i = 0; i < in->v.n; i++)
        run_close(in->v.v[i].run);
    wr_vec_fini(&in->v);
    report_runs_close(&in->runs);
    wr_arena_fini(&in->arena);
}

/* ---- sections ---- */

static void doc_section_fini(struct report_section *s)
{
    for (size_t i = 0; i < s->sheet.n; i++)
        report_table_fini(&s->sheet.v[i].table);
    wr_vec_fini(&s->sheet);
    wr_vec_fini(&s->figure);
}

static bool doc_add_section(struct report_doc *d, const struct report_maker *m, size_t which,
                            bool several, struct wr_err *err)
{
    const char *name = several ? d->in->v.v[which].name : "";
    struct report_section s = {.group = m->group, .arena = &d->arena};

    s.id = several ? wr_arena_printf(&d->arena, "%s-%zu", m->id, which + 1) : m->id;
    s.title = several ? wr_arena_printf(&d->arena, "%s: %s", name, m->title) : m->title;
    if (!m->make(d->in, which, &s, err)) {
        doc_section_fini(&s);
        return m->each ? wr_wrap(err, "%s", d->in->v.v[which].path) : false;
    }
    if (!s.figure.n && !s.sheet.n) {
        doc_section_fini(&s);
        return true;
    }
    if (!s.says)
        s.says = s.figure.n && s.figure.v[0].chart.desc ? s.figure.v[0].chart.desc : "";
    wr_vec_push(&d->section, s);
    return true;
}

/* Of a study and of many runs, only the sections of all runs together. */
static bool doc_run_maker(struct report_doc *d, const struct report_maker *m, struct wr_err *err)
{
    bool ok = true;

    if (!m->each)
        return doc_add_section(d, m, 0, false, err);
    if (d->in->study || d->in->v.n > FEW_RUNS)
        return true;
    for (size_t i = 0; ok && i < d->in->v.n; i++)
        if (d->in->v.v[i].run)
            ok = doc_add_section(d, m, i, d->in->v.n > 1, err);
    return ok;
}

bool report_doc_open(struct report_doc *ret, const struct report_inputs *in,
                     const struct report_maker *const *makers, const char *only, struct wr_err *err)
{
    struct report_doc d = {.in = in};
    bool ok = true;

    assert(in && makers);
    d.title = in->study ? in->study : in->v.n ? in->v.v[0].title : "";
    for (size_t i = 0; ok && makers[i]; i++)
        if (!only || !strcmp(only, makers[i]->id))
            ok = doc_run_maker(&d, makers[i], err);
    if (!ok) {
        report_doc_close(&d);
        return false;
    }
    doc_choose_inks(&d);
    *ret = d;
    return true;
}

void report_doc_close(struct report_doc *d)
{
    for (size_t i = 0; i < d->section.n; i++)
        doc_section_fini(&d->section.v[i]);
    wr_vec_fini(&d->section);
    wr_arena_fini(&d->arena);
}

/* ---- for makers ---- */

/* Letters, digits and dashes: what may stand in an address and in a style sheet. */
static const char *doc_make_id(struct report_section *s, const char *what)
{
    char *id = wr_arena_printf(s->arena, "%s-%s", s->id, what);

    for (char *c = id; *c; c++)
        *c = (char)(isalnum((unsigned char)*c) ? *c : '-');
    return id;
}

struct report_figure *report_add_figure(struct report_section *s, const char *what,
                                        enum report_kind kind)
{
    wr_vec_push(&s->figure, (struct report_figure){.id = doc_make_id(s, what), .kind = kind});
    return &s->figure.v[s->figure.n - 1];
}

struct report_table *report_add_sheet(struct report_section *s, const char *what, const char *title,
                                      size_t ncols, size_t nleft)
{
    wr_vec_push(&s->sheet, (struct report_sheet){.id = doc_make_id(s, what),
                                                 .title = title,
                                                 .table = {.ncols = ncols, .nleft = nleft}});
    return &s->sheet.v[s->sheet.n - 1].table;
}

void report_drop_sheet(struct report_section *s)
{
    report_table_fini(&s->sheet.v[--s->sheet.n].table);
}

/* The table that report_add_query() fills; t is made with the first row, so that a query without
 * rows adds none. */
struct query_sheet {
    struct report_section *s;
    const char *what, *title;
    struct report_table *t;
};

static bool doc_query_row(void *ctx, const struct run_rows *q)
{
    struct query_sheet *k = ctx;
    int n = run_rows_cols(q);

    if (!k->t) {
        int left = 0;

        while (left < n && run_rows_type(q, left) == RUN_T_TEXT)
            left++;
        k->t = report_add_sheet(k->s, k->what, k->title, (size_t)n, (size_t)left);
        for (int i = 0; i < n; i++)
            report_table_add(k->t, "%s", run_rows_name(q, i));
    }
    for (int i = 0; i < n; i++)
        if (run_rows_type(q, i) == RUN_T_REAL)
            report_table_add(k->t, "%.10g", run_rows_real(q, i));
        else
            report_table_add(k->t, "%s", run_rows_text(q, i, NULL));
    return true;
}

bool report_add_query(struct report_section *s, const char *what, const char *title,
                      struct run_reader *r, const char *sql, const char *arg, struct wr_err *err)
{
    struct query_sheet k = {.s = s, .what = what, .title = title};

    return run_each(r, sql, arg, doc_query_row, &k, err);
}

struct report_unit report_unit(double ns)
{
    static const struct report_unit units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t i = 0;

    while (i < 3 && !(ns >= units[i].ns && isfinite(ns)))
        i++;
    return units[i];
}

struct report_curve *report_curve(struct report_section *s, struct report_curves *c,
                                  const char *name)
{
    for (size_t i = c->v.n; i-- > 0;)
        if (!strcmp(c->v.v[i].name, name))
            return &c->v.v[i];
    wr_vec_push(&c->v, (struct report_curve){.name = wr_arena_strdup(s->arena, name)});
    return &c->v.v[c->v.n - 1];
}

const struct report_series *report_series(struct report_section *s, struct report_curves *c,
                                          struct report_series shape)
{
    struct report_series *series = wr_arena_alloc(s->arena, (c->v.n + 1) * sizeof *series);

    for (size_t i = 0; i < c->v.n; i++) {
        size_t n = c->v.v[i].point.n;
        struct report_point *p = wr_arena_alloc(s->arena, (n + 1) * sizeof *p);

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
