/* sec_boxes.c -- the sections "boxes" and "causes": times of ranks and messages of each job.
 *
 * Box plots of message latency, communication and I/O time, and bars of time by cause, over the
 * runs of a study or the files given. boxes_read() and boxes_causes() also serve sec_jobs.c, which
 * shows the same of one run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare.h"
#include "run/trial.h"
#include "sec_boxes_priv.h"
#include "sections_priv.h"
#include "stat/sample.h"

const struct boxes_kind boxes_kinds[BOXES_OF] = {
    [BOXES_MESSAGE] = {"latency", "Message latency", "message latency"},
    [BOXES_COMM] = {"comm", "Communication time per rank", "communication"},
    [BOXES_IO] = {"io", "I/O time per rank", "I/O time"},
};

/* ---- reading ---- */

struct ranks {
    WR_VEC(double) v[2]; /* comm, io */
};

static bool sec_boxes_on_rank(void *ctx, const struct run_rows *q)
{
    struct ranks *r = ctx;

    for (int i = 0; i < 2; i++)
        if (run_rows_type(q, i) != RUN_T_NULL)
            wr_vec_push(&r->v[i], run_rows_real(q, i));
    return true;
}

static struct report_box sec_boxes_box_of(double *x, size_t n)
{
    struct report_box b = {.min = NAN};
    double sum = 0, most = 0;

    for (size_t i = 0; i < n; i++) {
        sum += x[i];
        most = fmax(most, x[i]);
    }
    if (!n || !(most > 0))
        return b;
    stat_sort(x, n);
    return (struct report_box){.min = x[0],
                               .q1 = stat_quantile(x, n, 0.25),
                               .median = stat_quantile(x, n, 0.5),
                               .q3 = stat_quantile(x, n, 0.75),
                               .max = x[n - 1],
                               .mean = sum / (double)n,
                               .n = (double)n};
}

/* Quartiles are where a quarter, a half, ... of all messages is passed. */
struct cells {
    struct report_box b;
    double below;
};

static bool sec_boxes_on_cell(void *ctx, const struct run_rows *q)
{
    struct cells *c = ctx;
    double mid = (run_rows_real(q, 0) + run_rows_real(q, 1)) / 2, n = run_rows_real(q, 2);
    double *const at[] = {&c->b.q1, &c->b.median, &c->b.q3};

    for (int i = 0; i < 3; i++)
        if (c->below <= c->b.n * (i + 1) / 4 && c->below + n > c->b.n * (i + 1) / 4)
            *at[i] = fmin(fmax(mid, c->b.min), c->b.max);
    c->below += n;
    return true;
}

static bool sec_boxes_on_ends(void *ctx, const struct run_rows *q)
{
    struct cells *c = ctx;

    c->b.n = run_rows_real(q, 0);
    c->b.mean = run_rows_real(q, 1) / c->b.n;
    c->b.min = run_rows_real(q, 2);
    c->b.max = run_rows_real(q, 3);
    return false;
}

#define OWN "app = CAST(?1 AS INTEGER) AND class IN ('message_point', 'message_collective')"

bool boxes_read(struct report_box ret[BOXES_OF], struct run_reader *r, int64_t app,
                struct wr_err *err)
{
    struct ranks ranks = {0};
    struct cells c = {.b = {.n = 0}};
    char arg[24];

    snprintf(arg, sizeof arg, "%lld", (long long)app);
    bool ok = run_each(r, "SELECT comm_ns, io_ns FROM rank_stat WHERE app = CAST(?1 AS INTEGER)",
                       arg, sec_boxes_on_rank, &ranks, err) &&
              run_each(r,
                       /* The view `latency` would work out percentiles as well. */
                       "SELECT sum(n), sum(sum_ps) / 1000.0, min(min_ps) / 1000.0, max(max_ps) "
                       "/ 1000.0 FROM fact_hist WHERE n > 0 AND " OWN,
                       arg, sec_boxes_on_ends, &c, err);
    if (ok && c.b.n > 0)
        ok = run_each(r,
                      "SELECT low_ns, high_ns, sum(n) FROM latency_hist WHERE " OWN
                      " GROUP BY low_ns, high_ns ORDER BY low_ns",
                      arg, sec_boxes_on_cell, &c, err);
    if (ok) {
        ret[BOXES_MESSAGE] = c.b.n > 0 ? c.b : (struct report_box){.min = NAN};
        ret[BOXES_COMM] = sec_boxes_box_of(ranks.v[0].v, ranks.v[0].n);
        ret[BOXES_IO] = sec_boxes_box_of(ranks.v[1].v, ranks.v[1].n);
    }
    wr_vec_fini(&ranks.v[0]);
    wr_vec_fini(&ranks.v[1]);
    return ok;
}

struct causing {
    struct boxes_causes *c;
    struct wr_arena *arena;
};

static bool sec_boxes_on_cause(void *ctx, const struct run_rows *q)
{
    struct causing *in = ctx;
    const char *name = report_cause_words(run_rows_text(q, 0, NULL));

    if (run_rows_real(q, 1) > 0)
        wr_vec_push(&in->c->part, (struct report_part){.name = wr_arena_strdup(in->arena, name),
                                                       .value = run_rows_real(q, 1)});
    return true;
}

/* None of a job whose time was not divided: the parts must be the whole. */
bool boxes_causes(struct boxes_causes *ret, struct run_reader *r, int64_t app,
                  struct wr_arena *arena, struct wr_err *err)
{
    struct causing in = {ret, arena};
    char arg[24];

    if (run_info(r)->format_minor < 2) /* older files do not know causes */
        return true;
    snprintf(arg, sizeof arg, "%lld", (long long)app);
    return run_each(r,
                    "WITH job AS (SELECT * FROM app_stat WHERE app = CAST(?1 AS INTEGER)), "
                    "known AS (SELECT cause, time_ns FROM cause_stat WHERE app = CAST(?1 AS "
                    "INTEGER)) SELECT cause, sum(time_ns) / (SELECT ranks FROM job) FROM known "
                    "WHERE (SELECT sum(time_ns) FROM known) >= 0.9 * (SELECT ranks * "
                    "coalesce(elapsed_mean_ns, 0) FROM job) GROUP BY cause ORDER BY cause",
                    arg, sec_boxes_on_cause, &in, err);
}

/* ---- drawing ---- */

void boxes_figure(struct report_section *s, const char *id, const char *title, const char *label,
                  const struct report_box *boxes, size_t n)
{
    struct report_box *b = wr_arena_alloc(s->arena, (n + 1) * sizeof *b);
    const struct report_box *most = boxes;
    double low = INFINITY, high = 0, largest = 0;

    for (size_t i = 0; i < n; i++) {
        b[i] = boxes[i];
        largest = fmax(largest, b[i].n);
        low = fmin(low, b[i].min > 0 ? b[i].min : low);
        high = fmax(high, b[i].max);
        most = b[i].median > most->median ? &boxes[i] : most;
    }
    struct report_unit u = report_unit(high / 10);

    for (size_t i = 0; i < n; i++) {
        double *const v[] = {&b[i].min, &b[i].q1, &b[i].median, &b[i].q3, &b[i].max, &b[i].mean};

        for (int k = 0; k < 6; k++)
            *v[k] /= u.ns;
    }
    struct report_figure *f = report_add_figure(s, id, REPORT_BOXES);
    f->box = b;
    f->nboxes = n;
    f->chart = (struct report_chart){
        .title = title,
        .desc = wr_arena_printf(
            s->arena,
            largest > 1 ? "The highest median is %.4g %s (%s%s%s). %s"
                        : "The highest value is %.4g %s (%s%s%s).%s",
            most->median / u.ns, u.name, most->group, *most->group ? ", " : "", most->name,
            largest > 1 ? "Whiskers reach from the minimum to the maximum, boxes from the first to "
                          "the third quartile; the bar is the median, the mark the mean."
                        : ""),
        .y = {.label = label, .unit = u.name, .log = high > 100 * low, .zero = high <= 100 * low}};
}

/* ---- sections ---- */

/* What is drawn of a job in a run: where it stands, and what it is called there. */
struct entry {
    const char *job, *group, *name;
    const char *run_name;
    struct report_box box[BOXES_OF];
    struct report_bar bar;
};

typedef WR_VEC(struct entry) entry_list;

static struct run_reader *sec_boxes_reader_of(const struct report_inputs *in, const char *path)
{
    for (size_t i = 0; i < in->v.n; i++)
        if (in->v.v[i].run && !strcmp(in->v.v[i].path, path))
            return in->v.v[i].run;
    return NULL;
}

/* A job of an experiment stands with the size it has and those it ran with; its repetitions are
 * distinguished by their numbers. */
static bool sec_boxes_name_trial(struct entry *e, const struct report_member *m,
                                 struct wr_arena *arena)
{
    struct run_trial t;
    struct wr_str group = {0};
    size_t others = 0;

    if (m->nchoices || !run_trial_parse(&t, m->path))
        return false;
    wr_str_addf(&group, "%.*s, %u ", (int)t.mode_len, t.mode, t.size[t.job]);
    for (size_t i = 0; i < t.n; i++)
        if (i != t.job)
            wr_str_addf(&group, "%s%u", others++ ? "+" : "with ", t.size[i]);
    if (!others)
        wr_str_add(&group, "alone");
    e->group = wr_arena_strdup(arena, wr_str_get(&group));
    e->name = wr_arena_printf(arena, "r%u", t.repetition);
    wr_str_fini(&group);
    return true;
}

/* Choices on the axes of workloads name what a job runs with; all others where it stands. */
static void sec_boxes_name_entry(struct entry *e, const struct report_inputs *in,
                                 const struct report_member *m, const bool *loads,
                                 struct wr_arena *arena)
{
    struct wr_str group = {0}, name = {0};
    const char *seed = NULL;

    if (sec_boxes_name_trial(e, m, arena))
        return;
    for (size_t i = 0; i < m->nchoices; i++) {
        struct wr_str *to = loads[i] ? &name : &group;

        if (!strcmp(m->choice[i].axis, "seed"))
            seed = m->choice[i].label;
        else
            wr_str_addf(to, "%s%s", to->n ? ", " : "", m->choice[i].label);
    }
    if (!m->nchoices)
        wr_str_add(&name, report_short_name(arena, m->path));
    e->group = wr_arena_strdup(arena, wr_str_get(&group));
    /* Where a run is not of a study, it is not known whether other jobs ran at the same time. */
    e->name = in->study && m->nchoices && m->njobs == 1 && name.n ? "alone"
              : name.n                                            ? wr_arena_strdup(arena, name.s)
                                                                  : "all";
    if (seed) /* a repetition stands beside the others of its group */
        e->name = strcmp(e->name, "all") != 0 ? wr_arena_printf(arena, "%s, seed %s", e->name, seed)
                                              : wr_arena_printf(arena, "seed %s", seed);
    wr_str_fini(&group);
    wr_str_fini(&name);
}

static bool sec_boxes_is_twin(const struct entry *a, const struct entry *b)
{
    return !strcmp(a->job, b->job) && !strcmp(a->group, b->group) && !strcmp(a->name, b->name);
}

/* Entries of one name would be drawn at one place: the names of the runs distinguish them. */
static void sec_boxes_name_apart(entry_list *list, struct wr_arena *arena)
{
    bool *twin = wr_zalloc(list->n + 1, sizeof *twin);

    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; k < i; k++)
            if (sec_boxes_is_twin(&list->v[i], &list->v[k]))
                twin[i] = twin[k] = true;
    for (size_t i = 0; i < list->n; i++)
        if (twin[i])
            list->v[i].name =
                wr_arena_printf(arena, "%s, %s", list->v[i].name, list->v[i].run_name);
    free(twin);
}

/* Jobs of an experiment by size; "1 alone" stands before "1 with 3". */
static int sec_boxes_by_group(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int group = strverscmp(x->group, y->group);

    return group ? group : strverscmp(x->run_name, y->run_name);
}

typedef bool read_entry(struct entry *e, struct run_reader *r, int64_t app, struct wr_arena *arena,
                        struct wr_err *err);

static bool sec_boxes_read_boxes(struct entry *e, struct run_reader *r, int64_t app,
                                 struct wr_arena *arena, struct wr_err *err)
{
    (void)arena;
    return boxes_read(e->box, r, app, err);
}

static bool sec_boxes_read_bar(struct entry *e, struct run_reader *r, int64_t app,
                               struct wr_arena *arena, struct wr_err *err)
{
    struct boxes_causes c = {0};
    bool ok = boxes_causes(&c, r, app, arena, err);
    struct report_part *part = wr_arena_alloc(arena, (c.part.n + 1) * sizeof *part);

    if (c.part.n)
        memcpy(part, c.part.v, c.part.n * sizeof *part);
    e->bar = (struct report_bar){.part = part, .nparts = c.part.n};
    wr_vec_fini(&c.part);
    return ok;
}

static bool sec_boxes_read_entries(entry_list *list, const struct report_inputs *in, read_entry *fn,
                                   struct wr_arena *arena, struct wr_err *err)
{
    bool loads[REPORT_MOST_AXES], ok = true;

    report_workload_axes(&in->runs, loads);
    for (size_t i = 0; ok && i < in->runs.member.n; i++) {
        const struct report_member *m = &in->runs.member.v[i];
        struct run_reader *r = sec_boxes_reader_of(in, m->path);

        for (size_t j = 0; r && ok && j < m->njobs; j++) {
            struct entry e = {.job = m->job[j].name, .run_name = report_short_name(arena, m->path)};

            sec_boxes_name_entry(&e, in, m, loads, arena);
            ok = fn(&e, r, m->job[j].app, arena, err);
            wr_vec_push(list, e);
        }
    }
    if (sections_is_experiment(in) && list->n)
        qsort(list->v, list->n, sizeof *list->v, sec_boxes_by_group);
    sec_boxes_name_apart(list, arena);
    return ok;
}

static bool sec_boxes_is_first_of_job(const entry_list *list, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(list->v[k].job, list->v[i].job))
            return false;
    return true;
}

/* By group, so that boxes and bars of one stand together; otherwise as they came. */
static size_t sec_boxes_gather(const entry_list *list, const char *job, size_t *ret)
{
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++) {
        bool seen = strcmp(list->v[i].job, job) != 0;

        for (size_t k = 0; k < i && !seen; k++)
            seen = !strcmp(list->v[k].job, job) && !strcmp(list->v[k].group, list->v[i].group);
        for (size_t k = i; k < list->n && !seen; k++)
            if (!strcmp(list->v[k].job, job) && !strcmp(list->v[k].group, list->v[i].group))
                ret[n++] = k;
    }
    return n;
}

static void sec_boxes_draw_job(struct report_section *s, const entry_list *list, const char *job,
                               const size_t *of, size_t nof)
{
    struct report_box *b = wr_zalloc(nof + 1, sizeof *b);

    for (enum boxes_of k = 0; k < BOXES_OF; k++) {
        size_t n = 0;

        for (size_t i = 0; i < nof; i++)
            if (list->v[of[i]].box[k].n > 0) {
                b[n] = list->v[of[i]].box[k];
                b[n].name = list->v[of[i]].name;
                b[n++].group = list->v[of[i]].group;
            }
        if (n)
            boxes_figure(s, wr_arena_printf(s->arena, "%s-%s", boxes_kinds[k].id, job),
                         wr_arena_printf(s->arena, "%s: %s", job, boxes_kinds[k].title),
                         boxes_kinds[k].label, b, n);
    }
    free(b);
}

/* The largest part of a bar, in words. */
static const struct report_part *sec_boxes_largest_part(const struct report_bar *bar)
{
    const struct report_part *most = &bar->part[0];

    for (size_t k = 1; k < bar->nparts; k++)
        most = bar->part[k].value > most->value ? &bar->part[k] : most;
    return most;
}

void boxes_bars(struct report_section *s, const char *id, const char *title,
                const struct report_bar *bars, size_t n)
{
    struct report_bar *bar = wr_arena_alloc(s->arena, (n + 1) * sizeof *bar);
    const struct report_bar *longest = NULL;
    double most = 0;
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        double sum = 0;

        for (size_t k = 0; k < bars[i].nparts; k++)
            sum += bars[i].part[k].value;
        bar[kept] = bars[i];
        if (sum > most) {
            most = sum;
            longest = &bar[kept];
        }
        kept += sum > 0;
    }
    if (!kept)
        return;
    struct report_unit u = report_unit(most / 10);

    for (size_t i = 0; i < kept; i++)
        for (size_t k = 0; k < bar[i].nparts; k++)
            ((struct report_part *)bar[i].part)[k].value /= u.ns;
    struct report_figure *f = report_add_figure(s, id, REPORT_BARS);
    const struct report_part *part = sec_boxes_largest_part(longest);

    f->bar = bar;
    f->nbars = kept;
    f->chart = (struct report_chart){
        .title = title,
        .desc = wr_arena_printf(s->arena,
                                "Parts add up to the mean time of ranks. The longest, %s%s%s, "
                                "takes %.4g %s, and %.3g %% of that is %s.",
                                longest->group, *longest->group ? ", " : "", longest->name,
                                most / u.ns, u.name, 100 * part->value / (most / u.ns), part->name),
        .x = {.label = "time", .unit = u.name, .zero = true}};
}

static void sec_boxes_draw_bars(struct report_section *s, const entry_list *list, const char *job,
                                const size_t *of, size_t nof)
{
    struct report_bar *bar = wr_zalloc(nof + 1, sizeof *bar);

    for (size_t i = 0; i < nof; i++) {
        bar[i] = list->v[of[i]].bar;
        bar[i].name = list->v[of[i]].name;
        bar[i].group = list->v[of[i]].group;
    }
    boxes_bars(s, job, wr_arena_printf(s->arena, "%s: mean time per rank, by cause", job), bar,
               nof);
    free(bar);
}

typedef void draw_entries(struct report_section *s, const entry_list *list, const char *job,
                          const size_t *of, size_t nof);

static bool sec_boxes_make_by_job(const struct report_inputs *in, struct report_section *s,
                                  read_entry *read, draw_entries *draw, struct wr_err *err)
{
    entry_list list = {0};
    bool ok = in->runs.member.n < 2 || sec_boxes_read_entries(&list, in, read, s->arena, err);
    size_t *of = wr_zalloc(list.n + 1, sizeof *of);

    for (size_t i = 0; ok && i < list.n; i++)
        if (sec_boxes_is_first_of_job(&list, i))
            draw(s, &list, list.v[i].job, of, sec_boxes_gather(&list, list.v[i].job, of));
    free(of);
    wr_vec_fini(&list);
    return ok;
}

static bool sec_boxes_make(const struct report_inputs *in, size_t which, struct report_section *s,
                           struct wr_err *err)
{
    (void)which;
    if (sections_is_stack_study(in)) /* no job has others beside it; sec_stack_study.c shows it */
        return true;
    s->says = "Message latency, communication time and I/O time of each job.";
    return sec_boxes_make_by_job(in, s, sec_boxes_read_boxes, sec_boxes_draw_job, err);
}

static bool sec_boxes_make_causes(const struct report_inputs *in, size_t which,
                                  struct report_section *s, struct wr_err *err)
{
    (void)which;
    s->says = "Mean time of the ranks of each job, by cause.";
    return sec_boxes_make_by_job(in, s, sec_boxes_read_bar, sec_boxes_draw_bars, err);
}

const struct report_maker report_boxes = {.id = "boxes",
                                          .group = "study",
                                          .title = "Latency, communication and I/O",
                                          .make = sec_boxes_make};
const struct report_maker report_causes = {
    .id = "causes", .group = "study", .title = "Time by cause", .make = sec_boxes_make_causes};
