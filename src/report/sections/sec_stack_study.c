/* sec_stack_study.c -- the section of a study of the I/O stack: bandwidth of all file systems in
 * one figure.
 *
 * Applies to a study whose runs are all of kind "stack". The first axis whose choices are numbers,
 * most often that of servers, is the x axis; the file system and all other choices name a curve.
 * Repetitions (the axis `seed`) become one point with the range from the smallest to the largest.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sections_priv.h"

bool sections_is_stack_study(const struct report_inputs *in)
{
    if (!in->study || !in->runs.member.n)
        return false;
    for (size_t i = 0; i < in->v.n; i++)
        if (!in->v.v[i].run || strcmp(run_info(in->v.v[i].run)->kind, "stack") != 0)
            return false;
    return true;
}

enum { LINEAR_SPAN = 30 }; /* bandwidths that span more are drawn on a logarithmic axis */

/* One combination of choices in one phase of the test, over its repetitions. */
struct cell {
    const char *curve, *at;
    double x;
    double sum, low, high; /* bytes/s */
    double iops;           /* sum */
    size_t n;
};

struct reading {
    struct report_section *s;
    const char *axis; /* of x; NULL: there is none of numbers */
    const char *curve, *at;
    double x; /* of the run that is read */
    size_t runs, assumed;
    struct phase {
        const char *access;
        WR_VEC(struct cell) cell;
    } phase[2];
};

static bool sec_stack_study_number(const char *text, double *ret)
{
    char *end;

    *ret = strtod(text, &end);
    return end != text && !*end && isfinite(*ret);
}

static const char *sec_stack_study_find_axis(const struct report_runs *runs)
{
    const struct report_member *first = &runs->member.v[0];

    for (size_t k = 0; k < first->nchoices; k++) {
        bool numbers = strcmp(first->choice[k].axis, "seed") != 0, differ = false;
        double x;

        for (size_t i = 0; numbers && i < runs->member.n; i++) {
            const char *label = report_label(&runs->member.v[i], first->choice[k].axis);

            numbers = label && sec_stack_study_number(label, &x);
            differ |= numbers && strcmp(label, first->choice[k].label) != 0;
        }
        if (numbers && differ)
            return first->choice[k].axis;
    }
    return NULL;
}

static bool sec_stack_study_on_phase(void *ctx, const struct run_rows *q)
{
    struct reading *in = ctx;
    double rate = run_rows_real(q, 1);

    for (int p = 0; p < 2; p++) {
        struct phase *f = &in->phase[p];
        size_t i = 0;

        if (strcmp(f->access, run_rows_text(q, 0, NULL)) != 0)
            continue;
        while (i < f->cell.n &&
               (strcmp(f->cell.v[i].curve, in->curve) != 0 || strcmp(f->cell.v[i].at, in->at) != 0))
            i++;
        if (i == f->cell.n)
            wr_vec_push(&f->cell, (struct cell){.curve = in->curve,
                                                .at = in->at,
                                                .x = in->x,
                                                .low = INFINITY,
                                                .high = -INFINITY});
        struct cell *c = &f->cell.v[i];

        c->sum += rate;
        c->low = fmin(c->low, rate);
        c->high = fmax(c->high, rate);
        c->iops += run_rows_real(q, 2);
        c->n++;
    }
    return true;
}

/* What the run is called in the figure: "lustre, shared" at servers 4. */
static void sec_stack_study_name(struct reading *in, const struct report_member *m)
{
    const char *fs = m->njobs ? m->job[0].name : "";
    struct wr_str name = {0};

    wr_str_add(&name, fs);
    in->at = "";
    in->x = 0;
    for (size_t i = 0; i < m->nchoices; i++) {
        const struct report_choice *c = &m->choice[i];

        if (in->axis && !strcmp(c->axis, in->axis)) {
            in->at = c->label;
            sec_stack_study_number(c->label, &in->x);
        } else if (strcmp(c->axis, "seed") != 0 && strcmp(c->label, fs) != 0) {
            wr_str_addf(&name, "%s%s", name.n ? ", " : "", c->label);
        }
    }
    in->curve = wr_arena_strdup(in->s->arena, wr_str_get(&name));
    wr_str_fini(&name);
}

static const double mib = 1 << 20;

static struct report_point sec_stack_study_point(const struct cell *c, double x)
{
    return (struct report_point){x, c->sum / (double)c->n / mib, c->low / mib, c->high / mib,
                                 false};
}

/* Curves over the axis of numbers; without one, a category for each combination. */
static void sec_stack_study_draw(struct reading *in, const struct phase *p)
{
    const char **name = wr_arena_alloc(in->s->arena, (p->cell.n + 1) * sizeof *name);
    struct report_curves curves = {0};
    const struct cell *best = &p->cell.v[0];
    double least = INFINITY;

    for (size_t i = 0; i < p->cell.n; i++) {
        const struct cell *c = &p->cell.v[i];

        name[i] = c->curve;
        least = fmin(least, c->low);
        best = c->sum / (double)c->n > best->sum / (double)best->n ? c : best;
        wr_vec_push(&report_curve(in->s, &curves, in->axis ? c->curve : p->access)->point,
                    sec_stack_study_point(c, in->axis ? c->x : (double)i));
    }
    size_t n = curves.v.n;
    const struct report_series *series =
        report_series(in->s, &curves, (struct report_series){.marks_only = !in->axis});
    struct report_axis x = {.label = in->axis, .zero = true};

    if (!in->axis)
        x = (struct report_axis){
            .label = "configuration", .category = name, .ncategories = p->cell.n};
    report_add_figure(in->s, p->access, REPORT_LINES)->chart = (struct report_chart){
        .title = wr_arena_printf(in->s->arena, "Bandwidth of %ss by file system", p->access),
        .desc = wr_arena_printf(in->s->arena,
                                "Highest at %.0f MiB/s: %s%s%s%s%s. Bars reach from the smallest "
                                "to the largest repetition.",
                                best->sum / (double)best->n / mib, best->curve,
                                in->axis ? " (" : "", in->axis ? in->axis : "",
                                in->axis ? wr_arena_printf(in->s->arena, " %s", best->at) : "",
                                in->axis ? ")" : ""),
        .x = x,
        .y = {.label = "bandwidth",
              .unit = "MiB/s",
              .zero = true,
              .log = best->high > LINEAR_SPAN * least},
        .series = series,
        .nseries = n};
}

static void sec_stack_study_tabulate(struct reading *in)
{
    struct report_table *t = report_add_sheet(
        in->s, "table", "Bandwidth and operations per second, means over repetitions.", 8, 3);
    static const char *const head[] = {"file system", NULL,        "access",    "runs",
                                       "mean MiB/s",  "min MiB/s", "max MiB/s", "iops"};

    for (size_t i = 0; i < 8; i++)
        report_table_add(t, "%s", head[i] ? head[i] : in->axis ? in->axis : "at");
    for (int p = 0; p < 2; p++)
        for (size_t i = 0; i < in->phase[p].cell.n; i++) {
            const struct cell *c = &in->phase[p].cell.v[i];

            report_table_add(t, "%s", c->curve);
            report_table_add(t, "%s", c->at);
            report_table_add(t, "%s", in->phase[p].access);
            report_table_add(t, "%zu", c->n);
            report_table_number(t, c->sum / (double)c->n / mib, 1);
            report_table_number(t, c->low / mib, 1);
            report_table_number(t, c->high / mib, 1);
            report_table_number(t, c->iops / (double)c->n, 1);
        }
    report_table_drop_empty(t);
}

/* Assumed times compare configurations; they do not predict a place. */
static bool sec_stack_study_read_trust(struct reading *in, struct run_reader *r, struct wr_err *err)
{
    bool found;
    double one;

    if (!run_number(r, "SELECT 1 FROM summary WHERE " SECTIONS_ASSUMED_TIMES " LIMIT 1", &one,
                    &found, err))
        return false;
    in->runs++;
    in->assumed += found;
    return true;
}

static const char *sec_stack_study_words(const struct reading *in)
{
    const char *what = "Bandwidth of reads and writes of the same test on every file system.";

    return !in->assumed ? what
           : in->assumed == in->runs
               ? wr_arena_printf(in->s->arena, "%s All times are assumed, not measured.", what)
               : wr_arena_printf(in->s->arena,
                                 "%s The times of %zu of %zu runs are assumed, not measured.", what,
                                 in->assumed, in->runs);
}

static bool sec_stack_study_make(const struct report_inputs *in, size_t which,
                                 struct report_section *s, struct wr_err *err)
{
    struct reading r = {.s = s, .phase = {{.access = "write"}, {.access = "read"}}};
    bool ok = true;

    (void)which;
    if (!sections_is_stack_study(in))
        return true;
    r.axis = sec_stack_study_find_axis(&in->runs);
    for (size_t i = 0; ok && i < in->runs.member.n; i++) {
        if (!in->runs.member.v[i].run)
            continue;
        sec_stack_study_name(&r, &in->runs.member.v[i]);
        ok = run_each(in->runs.member.v[i].run,
                      "SELECT access, avg(bytes_per_s), avg(iops) FROM stack_phase WHERE "
                      "bytes_per_s > 0 GROUP BY access",
                      NULL, sec_stack_study_on_phase, &r, err) &&
             sec_stack_study_read_trust(&r, in->runs.member.v[i].run, err);
    }
    for (int p = 0; ok && p < 2; p++)
        if (r.phase[p].cell.n)
            sec_stack_study_draw(&r, &r.phase[p]);
    if (ok && s->figure.n) {
        s->says = sec_stack_study_words(&r);
        sec_stack_study_tabulate(&r);
    }
    for (int p = 0; p < 2; p++)
        wr_vec_fini(&r.phase[p].cell);
    return ok;
}

const struct report_maker report_stack_study = {
    .id = "file-systems", .group = "study", .title = "File systems", .make = sec_stack_study_make};
