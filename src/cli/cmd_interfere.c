/* cmd_interfere.c -- `weir interfere`: slowdowns of jobs that share a server. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/cli_figure.h"
#include "cli/cli_table.h"
#include "cli/interfere.h"
#include "cli/style.h"
#include "cli/top.h"
#include "interference/analyse.h"
#include "report/report.h"

static const double mib = 1 << 20;

struct runs_opts {
    struct cli_list alone;
    const char *slice, *svg;
    uint32_t op, align, active;
    const char *interval;
    bool plot, ascii, follow, json, force;
};

static const struct cli_opt runs_rows[] = {
    {.name = "alone",
     .type = CLI_LIST,
     .offset = offsetof(struct runs_opts, alone),
     .value = "NAME=RUN",
     .help = "what a job did when it ran alone, to show by how much it is slowed; may be given "
             "several times, also for one job: then the middle one counts"},
    {.name = "op",
     .type = CLI_CHOICE,
     .offset = offsetof(struct runs_opts, op),
     .value = "OP",
     .def = "write",
     .help = "which bytes count",
     .names = interference_op_names},
    {.name = "active",
     .type = CLI_CHOICE,
     .offset = offsetof(struct runs_opts, active),
     .value = "WHO",
     .def = "all",
     .help = "jobs overlap while all processes of each are active in every slice, while any is, or "
             "from the moment when the last client node has begun to that when the first has "
             "ended, flushing included",
     .names = interference_active_names},
    {.name = "align",
     .type = CLI_CHOICE,
     .offset = offsetof(struct runs_opts, align),
     .value = "BY",
     .def = "clock",
     .help = "lay runs side by side by the wall clock, or let all begin together",
     .names = interference_align_names},
    {.name = "slice",
     .letter = 's',
     .type = CLI_TEXT,
     .offset = offsetof(struct runs_opts, slice),
     .value = "TIME",
     .help = "the length of the slices of the analysis; without it the longest of the runs'"},
    {.name = "svg",
     .type = CLI_TEXT,
     .offset = offsetof(struct runs_opts, svg),
     .value = "FILE",
     .help = "draw what each job moves over time"},
    CLI_FORCE(struct runs_opts, force),
    {.name = "plot",
     .type = CLI_FLAG,
     .offset = offsetof(struct runs_opts, plot),
     .help = "draw it in the terminal"},
    {.name = "ascii",
     .type = CLI_FLAG,
     .offset = offsetof(struct runs_opts, ascii),
     .help = "with nothing beyond ASCII"},
    {.name = "follow",
     .type = CLI_FLAG,
     .offset = offsetof(struct runs_opts, follow),
     .help = "show jobs that are running now, as `weir top` does; RUN are then directories of "
             "profiles, or none for all of this machine"},
    {.name = "interval",
     .letter = 'i',
     .type = CLI_TEXT,
     .offset = offsetof(struct runs_opts, interval),
     .value = "TIME",
     .def = "2s",
     .help = "with --follow: how long between two looks"},
    CLI_JSON(struct runs_opts, json),
    CLI_OPT_END,
};

/* ---- jobs alone ---- */

static bool overlap_read_alone(struct interference_alone *ret, const char *path,
                               enum interference_op op, struct wr_err *err)
{
    struct interference_load how = {.op = op};
    struct interference_set s;

    if (!interference_load(&s, &path, 1, &how, err))
        return false;
    bool one = s.njobs == 1;

    if (one)
        *ret = (struct interference_alone){s.job[0].volume_b, s.job[0].runtime_s};
    else
        wr_fail(err, WR_INPUT, "%s holds %zu jobs; give a run with one", path, s.njobs);
    interference_set_fini(&s);
    return one;
}

static size_t overlap_find_job(const struct interference_set *s, const char *name, size_t n)
{
    size_t i = 0;

    while (i < s->njobs && (strncmp(s->job[i].name, name, n) != 0 || s->job[i].name[n]))
        i++;
    return i;
}

static int overlap_by_rate(const void *a, const void *b)
{
    const struct interference_alone *x = a, *y = b;
    double rx = x->volume_b / x->runtime_s, ry = y->volume_b / y->runtime_s;

    return rx < ry ? -1 : rx > ry;
}

/* Several runs alone of one job: the middle one. */
static bool overlap_read_alones(struct interference_alone *ret, const struct interference_set *s,
                                const struct runs_opts *o, struct wr_err *err)
{
    struct interference_alone *got = wr_zalloc(o->alone.n + 1, sizeof *got);
    size_t *whose = wr_zalloc(o->alone.n + 1, sizeof *whose);
    bool ok = true;

    for (size_t i = 0; ok && i < o->alone.n; i++) {
        const char *text = o->alone.v[i], *eq = strchr(text, '=');

        whose[i] = eq ? overlap_find_job(s, text, (size_t)(eq - text)) : s->njobs;
        if (!eq)
            ok = wr_fail(err, WR_INPUT, "--alone %s: write NAME=RUN", wr_text_clip(text).s);
        else if (whose[i] == s->njobs)
            ok = wr_fail(err, WR_UNKNOWN, "--alone: there is no job \"%.*s\"; the first is \"%s\"",
                         (int)(eq - text), text, s->job[0].name);
        else
            ok = overlap_read_alone(&got[i], eq + 1, (enum interference_op)o->op, err) ||
                 wr_wrap(err, "--alone");
    }
    for (size_t j = 0; ok && j < s->njobs; j++) {
        struct interference_alone *mine = wr_zalloc(o->alone.n + 1, sizeof *mine);
        size_t n = 0;

        for (size_t i = 0; i < o->alone.n; i++)
            if (whose[i] == j)
                mine[n++] = got[i];
        qsort(mine, n, sizeof *mine, overlap_by_rate);
        ret[j] = n ? mine[n / 2] : (struct interference_alone){NAN, NAN};
        free(mine);
    }
    free(got);
    free(whose);
    return ok;
}

/* ---- tables ---- */

static const struct cli_column job_columns[] = {
    {"job", NULL},
    {"processes", NULL},
    {"nodes", NULL},
    {"start_s", "start, s"},
    {"runtime_s", "run time, s"},
    {"time_of", "time of"},
    {"life_s", "life, s"},
    {"volume_mib", "MiB"},
    {"overall_mib_s", "overall, MiB/s"},
    {"overlap_mib_s", "overlap, MiB/s"},
    {"share_percent", "share, %"},
    {"process_spread_percent", "spread of processes, %"},
    {"alone_s", "alone, s"},
    {"slowdown", NULL},
};

static void overlap_print_jobs(FILE *out, const struct interference_set *s,
                               const struct interference_analysis *a)
{
    struct cli_table *t =
        cli_table_open(out, CLI_AS_TEXT, job_columns, sizeof job_columns / sizeof job_columns[0]);

    for (size_t i = 0; i < s->njobs; i++) {
        const struct interference_job *j = &s->job[i];
        const struct interference_result *r = &a->job[i];

        cli_table_text(t, j->name);
        cli_table_int(t, (int64_t)interference_processes(j));
        cli_table_int(t, (int64_t)j->nnodes);
        cli_table_real(t, cli_round(j->start_s, 1e3));
        cli_table_real(t, cli_round(j->runtime_s, 1e3));
        cli_table_text(t, interference_timed_names[j->timed]);
        cli_table_real(t, cli_round(j->life_s, 1e3));
        cli_table_real(t, cli_round(j->volume_b / mib, 10));
        cli_table_real(t, cli_round(r->overall_bps / mib, 1e2));
        cli_table_real(t, cli_round(r->overlap_bps.mid / mib, 1e2));
        cli_table_real(t, cli_round(100 * r->share, 10));
        cli_table_real(t, cli_round(100 * r->spread, 10));
        cli_table_real(t, cli_round(r->alone_s, 1e3));
        cli_table_real(t, cli_round(r->slowdown, 1e2));
    }
    cli_table_close(t);
}

static const struct cli_column pair_columns[] = {
    {"pair", NULL},
    {"overall_ratio", "overall"},
    {"overlap_ratio", "in the overlap"},
    {"processes_ratio", "processes"},
    {"nodes_ratio", "nodes"},
};

struct ratios {
    double overall, overlap, processes, nodes;
};

static struct ratios overlap_ratios(const struct interference_set *s,
                                    const struct interference_analysis *a, size_t i, size_t k)
{
    return (struct ratios){
        a->job[i].overall_bps / a->job[k].overall_bps,
        a->job[i].overlap_bps.mid / a->job[k].overlap_bps.mid,
        (double)interference_processes(&s->job[i]) / (double)interference_processes(&s->job[k]),
        (double)s->job[i].nnodes / (double)s->job[k].nnodes,
    };
}

static void overlap_print_pairs(FILE *out, const struct interference_set *s,
                                const struct interference_analysis *a)
{
    struct cli_table *t = cli_table_open(out, CLI_AS_TEXT, pair_columns,
                                         sizeof pair_columns / sizeof pair_columns[0]);

    for (size_t i = 0; i < s->njobs; i++)
        for (size_t k = i + 1; k < s->njobs; k++) {
            struct ratios r = overlap_ratios(s, a, i, k);
            struct wr_str name = {0};

            wr_str_addf(&name, "%s : %s", s->job[i].name, s->job[k].name);
            cli_table_text(t, wr_str_get(&name));
            cli_table_real(t, cli_round(r.overall, 1e3));
            cli_table_real(t, cli_round(r.overlap, 1e3));
            cli_table_real(t, cli_round(r.processes, 1e3));
            cli_table_real(t, cli_round(r.nodes, 1e3));
            wr_str_fini(&name);
        }
    cli_table_close(t);
}

static void overlap_print_text(const struct cli_call *call, const struct interference_set *s,
                               const struct interference_analysis *a)
{
    const struct runs_opts *o = call->opts;
    struct wr_str words = {0}, shown = {0};

    overlap_print_jobs(call->out, s, a);
    if (s->njobs > 1) {
        fputs("\nratios of throughput, and of what could explain them\n", call->out);
        overlap_print_pairs(call->out, s, a);
    }
    interference_verdict(s, a, &words);
    wr_str_add(&shown, "\n");
    report_wrap(&shown, wr_str_get(&words), 100);
    for (size_t i = 0; i < s->notes.n; i++) {
        words.n = 0;
        wr_str_addf(&words, "note: %s\n", s->notes.v[i]);
        wr_str_add(&shown, "\n");
        report_wrap(&shown, wr_str_get(&words), 100);
    }
    if (o->plot) {
        struct report_text_style style = cli_style(call->out, o->ascii);
        struct report_chart chart;

        interference_chart(&chart, s, a, call->arena);
        wr_str_add(&shown, "\n");
        report_chart_text(&chart, &style, &shown);
    }
    fputs(wr_str_get(&shown), call->out);
    wr_str_fini(&shown);
    wr_str_fini(&words);
}

/* ---- JSON ---- */

/* What is not known is null, and not 0. */
static json_t *overlap_json_real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *overlap_job_json(const struct interference_job *j,
                                const struct interference_result *r)
{
    return json_pack(
        "{s:s, s:s, s:s?, s:I, s:I, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:[o, o], s:o, s:o, s:o, "
        "s:o, s:o, s:o, s:b}",
        "name", j->name, "run", j->path, "mode", j->mode, "processes",
        (json_int_t)interference_processes(j), "nodes", (json_int_t)j->nnodes, "start_s",
        overlap_json_real(j->start_s), "runtime_s", overlap_json_real(j->runtime_s), "time_of",
        interference_timed_names[j->timed], "life_s", overlap_json_real(j->life_s), "volume_mib",
        overlap_json_real(j->volume_b / mib), "overall_mib_s",
        overlap_json_real(r->overall_bps / mib), "overlap_mib_s",
        overlap_json_real(r->overlap_bps.mid / mib), "overlap_mib_s_95",
        overlap_json_real(r->overlap_bps.low / mib), overlap_json_real(r->overlap_bps.high / mib),
        "share", overlap_json_real(r->share), "process_spread", overlap_json_real(r->spread),
        "overlap_part", overlap_json_real(r->overlap_part), "alone_s",
        overlap_json_real(r->alone_s), "slowdown", overlap_json_real(r->slowdown), "single_mib_s",
        overlap_json_real(r->single_bps / mib), "saturates", r->saturates);
}

static json_t *overlap_pairs_json(const struct interference_set *s,
                                  const struct interference_analysis *a)
{
    json_t *pairs = json_array();

    for (size_t i = 0; i < s->njobs; i++)
        for (size_t k = i + 1; k < s->njobs; k++) {
            struct ratios r = overlap_ratios(s, a, i, k);

            json_array_append_new(pairs, json_pack("{s:[s, s], s:o, s:o, s:o, s:o}", "jobs",
                                                   s->job[i].name, s->job[k].name, "overall_ratio",
                                                   overlap_json_real(r.overall), "overlap_ratio",
                                                   overlap_json_real(r.overlap), "processes_ratio",
                                                   overlap_json_real(r.processes), "nodes_ratio",
                                                   overlap_json_real(r.nodes)));
        }
    return pairs;
}

static json_t *overlap_json(const struct interference_set *s, const struct interference_analysis *a)
{
    if (!a->overlaps)
        return json_null();
    return json_pack(
        "{s:o, s:o, s:o, s:o}", "from_s", overlap_json_real((double)a->from * s->slice_s), "to_s",
        overlap_json_real((double)a->to * s->slice_s), "duration_s",
        overlap_json_real(a->overlap_s), "total_mib_s", overlap_json_real(a->total_bps / mib));
}

static void overlap_print_json(FILE *out, const struct interference_set *s,
                               const struct interference_analysis *a)
{
    json_t *jobs = json_array(), *notes = json_array(), *off = json_object();
    struct wr_str words = {0};

    for (size_t i = 0; i < s->njobs; i++)
        json_array_append_new(jobs, overlap_job_json(&s->job[i], &a->job[i]));
    for (size_t i = 0; i < s->notes.n; i++)
        json_array_append_new(notes, json_string(s->notes.v[i]));
    for (int r = 0; r < INTERFERENCE_RULES; r++)
        json_object_set_new(off, interference_rule_names[r], overlap_json_real(a->off[r]));
    interference_verdict(s, a, &words);
    if (words.n)
        words.s[words.n - 1] = 0;
    json_t *all = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:o}", "slice_s",
                            overlap_json_real(s->slice_s), "epoch_ns",
                            s->clocked ? json_integer(s->epoch_ns) : json_null(), "overlap",
                            overlap_json(s, a), "jobs", jobs, "pairs", overlap_pairs_json(s, a),
                            "saturated", a->known ? json_boolean(a->saturated) : json_null(),
                            "rule_off", off, "nearest_rule", interference_rule_names[a->nearest],
                            "verdict", wr_str_get(&words), "notes", notes);

    json_dumpf(all, out, JSON_INDENT(1));
    fputc('\n', out);
    json_decref(all);
    wr_str_fini(&words);
}

/* ---- the verb ---- */

static bool overlap_write_svg(const struct cli_call *call, const struct interference_set *s,
                              const struct interference_analysis *a, struct wr_err *err)
{
    const struct runs_opts *o = call->opts;
    struct report_chart chart;
    struct wr_str svg = {0};

    interference_chart(&chart, s, a, call->arena);
    report_chart_svg(&chart, &svg);
    bool ok = cli_figure_write(o->svg, &svg, o->force ? WR_FORCE : 0, err);

    wr_str_fini(&svg);
    return ok;
}

static bool overlap_analyse_and_print(const struct cli_call *call, const struct interference_set *s,
                                      struct wr_err *err)
{
    const struct runs_opts *o = call->opts;
    struct interference_alone *alone = wr_arena_alloc(call->arena, (s->njobs + 1) * sizeof *alone);
    struct interference_analysis a;

    if (!overlap_read_alones(alone, s, o, err))
        return false;
    interference_analyse(&a, s, alone, (enum interference_active)o->active);
    bool ok = !o->svg || overlap_write_svg(call, s, &a, err);

    if (ok && o->json)
        overlap_print_json(call->out, s, &a);
    else if (ok)
        overlap_print_text(call, s, &a);
    interference_analysis_fini(&a);
    return ok;
}

/* A word that is no file may be a verb with a typo. */
static bool overlap_check_words(const struct cli_call *call, struct wr_err *err)
{
    struct wr_nearest near = {.want = call->args[0]};

    for (size_t i = 0; call->verb->subs[i]; i++)
        wr_nearest_try(&near, call->verb->subs[i]->name);
    if (near.best && access(call->args[0], F_OK))
        return wr_fail(err, WR_UNKNOWN,
                       "\"%s\" is no run file and no verb of %s; did you mean `%s %s`?",
                       wr_text_clip(call->args[0]).s, call->who, call->who, near.best);
    return true;
}

static int overlap_main(const struct cli_call *call, struct wr_err *err)
{
    const struct runs_opts *o = call->opts;
    struct interference_load how = {.op = (enum interference_op)o->op,
                                    .align = (enum interference_align)o->align};
    struct interference_set s;
    double ps = 0;

    if (o->follow) {
        struct cli_follow f = {.json = o->json};

        return cli_follow_interval(&f.interval_s, o->interval, err) && cli_follow(call, &f, err)
                   ? 0
                   : cli_error(err);
    }
    if (!call->nargs) {
        wr_fail(err, WR_INPUT, "%s needs RUN...; see `%s --help`", call->who, call->who);
        return cli_error(err);
    }
    if (!overlap_check_words(call, err))
        return cli_error(err);
    if (o->slice && !wr_parse_time(&ps, o->slice, err)) {
        wr_wrap(err, "--slice");
        return cli_error(err);
    }
    how.slice_s = ps / 1e12;
    if (!interference_load(&s, (const char *const *)call->args, (size_t)call->nargs, &how, err))
        return cli_error(err);
    bool ok = overlap_analyse_and_print(call, &s, err);

    interference_set_fini(&s);
    return ok ? 0 : cli_error(err);
}

static const struct cli_verb *const subs[] = {&cli_interfere_import, &cli_interfere_predict,
                                              &cli_interfere_alone,  &cli_interfere_experiment,
                                              &cli_interfere_tables, NULL};

const struct cli_verb cli_cmd_interfere = {
    .name = "interfere",
    .summary = "show and predict how jobs that share a server slow each other",
    .args = "RUN...",
    .max_args = -1,
    .about = "Lays the slices of jobs side by side, measured or simulated, and shows when they "
             "really overlapped and what each got: overall and in the active overlap, the longest "
             "stretch in which all processes of all jobs move something, without start-up and "
             "tails; how the shares compare with the numbers of processes and nodes; how evenly a "
             "job's processes are served; and with --alone by how much each is slowed.\n"
             "\n"
             "Jobs that write through one file server or one link share what it can carry, in "
             "proportion to their weights. From volumes, starts, weights and caps follows when "
             "each is done: the verbs below predict it. docs/models/interference.md has more.",
    .examples = "weir interfere a.weir b.weir --plot\n"
                "weir interfere a.weir b.weir --alone A=a-alone.weir --alone B=b-alone.weir\n"
                "weir interfere a.weir b.weir --svg overlap.svg --json\n",
    .opts = runs_rows,
    .opts_size = sizeof(struct runs_opts),
    .subs = subs,
    .main = overlap_main,
};
