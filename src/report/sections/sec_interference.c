/* sec_interference.c -- jobs that shared a server: what each got, and what rules of sharing would
 * have given. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interference/analyse.h"
#include "sections_priv.h"

static bool sec_interference_has_io(struct run_reader *r, bool *ret, struct wr_err *err)
{
    double n = 0;

    return run_number(r,
                      "SELECT 1 FROM series WHERE metric IN ('write_bytes', 'read_bytes') AND "
                      "(entity GLOB 'app:*' OR entity GLOB 'rank:*') LIMIT 1",
                      &n, ret, err);
}

static void sec_interference_tabulate(struct report_section *s, const struct interference_set *set,
                                      const struct interference_analysis *a)
{
    static const char *const head[] = {"job",     "processes", "start s",       "runtime s",
                                       "time of", "life s",    "overall MB/s",  "overlap MB/s",
                                       "from",    "to",        "no other MB/s", "slowdown"};
    struct report_table *t = report_add_sheet(
        s, "jobs", "Bandwidth of each job; during the overlap with its 95 % interval.", 12, 1);

    for (size_t i = 0; i < t->ncols; i++)
        report_table_add(t, "%s", head[i]);
    for (size_t i = 0; i < set->njobs; i++) {
        const struct interference_job *j = &set->job[i];
        const struct interference_result *r = &a->job[i];

        report_table_add(t, "%s", j->name);
        report_table_add(t, "%zu", interference_processes(j));
        report_table_number(t, j->start_s, 3);
        report_table_number(t, j->runtime_s, 3);
        report_table_add(t, "%s", interference_timed_names[j->timed]);
        report_table_number(t, j->life_s, 3);
        report_table_number(t, r->overall_bps / 1e6, 3);
        report_table_number(t, r->overlap_bps.mid / 1e6, 3);
        report_table_number(t, r->overlap_bps.low / 1e6, 3);
        report_table_number(t, r->overlap_bps.high / 1e6, 3);
        report_table_number(t, r->single_bps / 1e6, 3);
        report_table_number(t, r->slowdown, 3);
    }
    report_table_drop_empty(t);
}

/* Shares in the overlap, and those that each rule of sharing would give. */
static void sec_interference_draw_shares(struct report_section *s,
                                         const struct interference_set *set,
                                         const struct interference_analysis *a)
{
    struct report_bar *bar = wr_arena_alloc(s->arena, (1 + INTERFERENCE_RULES) * sizeof *bar);

    for (int k = 0; k <= INTERFERENCE_RULES; k++) {
        struct report_part *part = wr_arena_alloc(s->arena, set->njobs * sizeof *part);

        for (size_t i = 0; i < set->njobs; i++)
            part[i] = (struct report_part){
                .name = wr_arena_strdup(s->arena, set->job[i].name),
                .value = 100 * (k ? interference_rule_share(set, (enum interference_rule)(k - 1), i)
                                  : a->job[i].share)};
        bar[k] = (struct report_bar){
            .name =
                k ? wr_arena_printf(s->arena, "by %s", interference_rule_names[k - 1]) : "observed",
            .group = "",
            .part = part,
            .nparts = set->njobs};
    }
    struct report_figure *f = report_add_figure(s, "shares", REPORT_BARS);
    f->bar = bar;
    f->nbars = 1 + INTERFERENCE_RULES;
    f->chart = (struct report_chart){
        .title = "Bandwidth shares during the overlap: observed and predicted",
        .desc = wr_arena_printf(
            s->arena,
            "Each job's share of the total bandwidth, and its share under fair sharing by "
            "nodes, processes or jobs; fair sharing by %s is nearest.",
            interference_rule_names[a->nearest]),
        .x = {.label = "share", .unit = "%", .max = 100}};
}

/* Each pair of jobs: what they got of each other's together. */
static void sec_interference_tabulate_pairs(struct report_section *s,
                                            const struct interference_set *set,
                                            const struct interference_analysis *a)
{
    struct report_table *t = report_add_sheet(
        s, "pairs",
        "Ratio of bandwidths of each pair of jobs during the overlap: observed, and "
        "predicted by each rule.",
        3 + INTERFERENCE_RULES, 2);

    report_table_add(t, "job");
    report_table_add(t, "and");
    report_table_add(t, "observed");
    for (int k = 0; k < INTERFERENCE_RULES; k++)
        report_table_add(t, "by %s", interference_rule_names[k]);
    for (size_t i = 0; i < set->njobs; i++)
        for (size_t j = i + 1; j < set->njobs; j++) {
            report_table_add(t, "%s", set->job[i].name);
            report_table_add(t, "%s", set->job[j].name);
            report_table_number(t, a->job[i].share / a->job[j].share, 3);
            for (int k = 0; k < INTERFERENCE_RULES; k++)
                report_table_number(t,
                                    interference_rule_share(set, (enum interference_rule)k, i) /
                                        interference_rule_share(set, (enum interference_rule)k, j),
                                    3);
        }
}

static void sec_interference_draw(struct report_section *s, const struct interference_set *set,
                                  const struct interference_analysis *a)
{
    struct report_figure *f = report_add_figure(s, "time", REPORT_LINES);

    interference_chart(&f->chart, set, a, s->arena);
    f->chart.x = (struct report_axis){.label = "time", .unit = "s"};
    f->chart.y = (struct report_axis){.label = "bandwidth", .unit = "MiB/s", .zero = true};
    for (size_t i = 0; i < f->chart.nseries; i++) /* names are the set's */
        ((struct report_series *)f->chart.series)[i].name =
            wr_arena_strdup(s->arena, f->chart.series[i].name);
    if (a->overlaps) {
        struct report_band *band = wr_arena_alloc(s->arena, sizeof *band);

        *band = (struct report_band){(double)a->from * set->slice_s, (double)a->to * set->slice_s,
                                     "all active"};
        f->chart.band = band;
        f->chart.nbands = 1;
        f->chart.nseries -= f->chart.series[f->chart.nseries - 1].guide;
    }
    sec_interference_tabulate(s, set, a);
    if (a->overlaps && set->njobs > 1) {
        sec_interference_draw_shares(s, set, a);
        sec_interference_tabulate_pairs(s, set, a);
    }
}

/* The files in which jobs move bytes; of a study only those that were measured, because programs
 * that were simulated do more than that. */
static bool sec_interference_list_files(const struct report_inputs *in, const char **ret_paths,
                                        size_t *ret_n, double *ret_jobs, struct wr_err *err)
{
    const char *clock = "SELECT 1 FROM summary WHERE key = 'epoch_ns'";

    for (size_t i = 0; i < in->v.n; i++) {
        struct run_reader *r = in->v.v[i].run;
        bool io = false, found = false, clocked = !in->study;
        double own = 0, one;

        if (r && (!sec_interference_has_io(r, &io, err) ||
                  (in->study && !run_number(r, clock, &one, &clocked, err)) ||
                  !run_number(r, "SELECT count(*) FROM app_stat", &own, &found, err)))
            return false;
        if (io && clocked) {
            ret_paths[(*ret_n)++] = in->v.v[i].path;
            *ret_jobs += own;
        }
    }
    return true;
}

/* One job alone shares nothing, and its slices may be many. Runs that cannot be laid side by side
 * are not drawn. */
static void sec_interference_draw_together(struct report_section *s, const char *const *paths,
                                           size_t n, bool predict)
{
    struct interference_load how = {
        .op = INTERFERENCE_BOTH, .align = INTERFERENCE_BY_CLOCK, .most = SECTIONS_MOST_SLICES};
    struct interference_analysis a;
    struct interference_set set;
    struct wr_err refused;

    if (!interference_load(&set, paths, n, &how, &refused)) {
        if (predict)
            sections_predict(s, paths, n, NULL, NULL);
        return;
    }
    if (set.njobs > 1) {
        interference_analyse(&a, &set, NULL, INTERFERENCE_ALL_PROCESSES);
        if (!a.overlaps) {
            interference_analysis_fini(&a);
            interference_analyse(&a, &set, NULL, INTERFERENCE_ANY_PROCESS);
        }
        sec_interference_draw(s, &set, &a);
        if (predict)
            sections_predict(s, paths, n, &set, &a);
        interference_analysis_fini(&a);
    }
    interference_set_fini(&set);
}

/* The model of sharing has one server; simulated jobs may each have used their own of many. */
static bool sec_interference_one_server(const struct report_inputs *in, bool *ret,
                                        struct wr_err *err)
{
    *ret = true;
    for (size_t i = 0; i < in->v.n; i++) {
        struct run_reader *r = in->v.v[i].run;
        double n = 0;
        bool found;

        if (!r || run_info(r)->format_minor < 3) /* older files know no storage */
            continue;
        if (!run_number(r, "SELECT count(*) FROM server_stat WHERE reads + writes > 0", &n, &found,
                        err))
            return false;
        *ret = *ret && n <= 1;
    }
    return true;
}

static bool sec_interference_make(const struct report_inputs *in, size_t which,
                                  struct report_section *s, struct wr_err *err)
{
    const char **paths = wr_arena_alloc(s->arena, (in->v.n + 1) * sizeof *paths);
    double jobs = 0;
    size_t n = 0;
    bool one;

    (void)which;
    if (!sec_interference_list_files(in, paths, &n, &jobs, err) ||
        !sec_interference_one_server(in, &one, err))
        return false;
    if (jobs < 2)
        return true;
    if (!in->study)
        sec_interference_draw_together(s, paths, n, one);
    else if (one)
        sections_predict(s, paths, n, NULL, NULL);
    return true;
}

const struct report_maker report_interference = {.id = "interference",
                                                 .group = "interference",
                                                 .title = "Jobs that share storage",
                                                 .make = sec_interference_make};
