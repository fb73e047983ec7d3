/* cmd_compare.c -- `weir compare BASE WITH...`: slowdown of each job, and its causes.
 *
 * Prints what report/compare.h computes, or writes it as a page of sections.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cli_table.h"
#include "report/compare.h"
#include "report/doc.h"
#include "report/report.h"
#include "report/sections/sections.h"
#include "report/web/bundle.h"

struct compare_opts {
    const char *out;
    struct cli_list base, with;
    uint64_t seed;
    bool csv, json, force;
};

static const struct cli_opt compare_rows[] = {
    {.name = "base",
     .type = CLI_LIST,
     .offset = offsetof(struct compare_opts, base),
     .value = "RUN",
     .help = "a run to compare with; may be given several times, for several seeds or jobs"},
    {.name = "with",
     .type = CLI_LIST,
     .offset = offsetof(struct compare_opts, with),
     .value = "RUN",
     .help = "a run with other jobs; may be given several times, for several seeds"},
    {.name = "html",
     .type = CLI_TEXT,
     .offset = offsetof(struct compare_opts, out),
     .value = "FILE",
     .help = "write a page (HTML, nothing else needed to see it) instead of text"},
    CLI_FORCE(struct compare_opts, force),
    {.name = "seed",
     .type = CLI_U64,
     .offset = offsetof(struct compare_opts, seed),
     .value = "N",
     .def = "1",
     .help = "draw the resamples of the intervals from this seed"},
    CLI_CSV(struct compare_opts, csv),
    CLI_JSON(struct compare_opts, json),
    CLI_OPT_END,
};

/* ---- which runs ---- */

static void cmd_compare_add_words(const char **v, size_t *n, const char *const *more, size_t nmore)
{
    for (size_t i = 0; i < nmore; i++)
        v[(*n)++] = more[i];
}

static bool cmd_compare_study(struct report_comparisons *list, const struct cli_call *call,
                              struct wr_err *err)
{
    const struct compare_opts *o = call->opts;
    const char *dir = wr_arena_strdup(call->arena, call->args[0]), *colon = strrchr(dir, ':');
    struct report_runs all, chosen;

    if (!report_runs_open(&chosen, (const char *const *)call->args, 1, err))
        return false;
    if (colon)
        dir = wr_arena_strndup(call->arena, dir, (size_t)(colon - dir));
    bool ok = report_runs_open(&all, &dir, 1, err);

    if (ok) {
        ok = report_compare_study(list, &all, &chosen, o->seed, err);
        if (ok && !list->v.n)
            ok =
                wr_fail(err, WR_INPUT,
                        "%s: no run with several jobs among those chosen; give the runs to compare "
                        "as BASE WITH...",
                        call->args[0]);
        report_runs_close(&all);
    }
    report_runs_close(&chosen);
    return ok;
}

static bool cmd_compare_groups(struct report_comparisons *list, const struct cli_call *call,
                               struct wr_err *err)
{
    const struct compare_opts *o = call->opts;
    const char *const *args = (const char *const *)call->args;
    size_t nargs = (size_t)call->nargs, nbase = 0, nwith = 0, most = nargs + o->base.n + o->with.n;
    const char **base = wr_arena_alloc(call->arena, (most + 1) * sizeof *base);
    const char **with = wr_arena_alloc(call->arena, (most + 1) * sizeof *with);
    struct report_runs b, w;

    cmd_compare_add_words(base, &nbase, o->base.v, o->base.n);
    if (!nbase && nargs) {
        cmd_compare_add_words(base, &nbase, args, 1);
        cmd_compare_add_words(with, &nwith, args + 1, nargs - 1);
    } else {
        cmd_compare_add_words(with, &nwith, args, nargs);
    }
    cmd_compare_add_words(with, &nwith, o->with.v, o->with.n);
    if (!nbase || !nwith)
        return wr_fail(err, WR_INPUT,
                       "two groups of runs are compared; give them as BASE WITH..., or with --base "
                       "and --with");
    if (!report_runs_open(&b, base, nbase, err))
        return false;
    if (!report_runs_open(&w, with, nwith, err)) {
        report_runs_close(&b);
        return false;
    }
    bool ok = report_compare_add(list, "", &b, &w, o->seed, err);

    report_runs_close(&b);
    report_runs_close(&w);
    return ok;
}

/* ---- what is printed ---- */

static const enum report_measure shown[] = {REPORT_ELAPSED, REPORT_COMM, REPORT_IO, REPORT_MESSAGE};

/* CSV and JSON: one table of everything. */
static void cmd_compare_print_flat(const struct report_comparisons *list, enum cli_format format,
                                   FILE *out)
{
    static const struct cli_column columns[] = {
        {"group", NULL}, {"job", NULL},     {"what", NULL},    {"during", NULL},
        {"cause", NULL}, {"base_ns", NULL}, {"with_ns", NULL}, {"change_ns", NULL},
        {"times", NULL}, {"low", NULL},     {"high", NULL},    {"over", NULL},
        {"seeds", NULL},
    };
    struct cli_table *t = cli_table_open(out, format, columns, 13);

    for (size_t g = 0; g < list->v.n; g++)
        for (size_t j = 0; j < list->v.v[g].c.job.n; j++) {
            const struct report_compared *c = &list->v.v[g].c.job.v[j];

            for (size_t i = 0; i < sizeof shown / sizeof *shown + c->cause.n; i++) {
                bool is_cause = i >= sizeof shown / sizeof *shown;
                const struct report_cause *k =
                    is_cause ? &c->cause.v[i - sizeof shown / sizeof *shown] : NULL;
                const struct report_change *m = is_cause ? NULL : &c->change[shown[i]];
                double base = k ? k->base_ns : m->base_ns, with = k ? k->with_ns : m->with_ns;

                cli_table_text(t, list->v.v[g].group);
                cli_table_text(t, c->job);
                cli_table_text(t, k ? "cause" : report_measure_names[shown[i]]);
                cli_table_text(t, k ? k->during : "");
                cli_table_text(t, k ? k->cause : "");
                cli_table_real(t, base);
                cli_table_real(t, with);
                cli_table_real(t, with - base);
                cli_table_real(t, k ? NAN : m->ratio.mid);
                cli_table_real(t, k ? NAN : m->ratio.low);
                cli_table_real(t, k ? NAN : m->ratio.high);
                cli_table_text(t, k ? "" : report_over_names[m->over]);
                cli_table_int(t, (int64_t)c->pairs);
            }
        }
    cli_table_close(t);
}

static void cmd_compare_print_changes(const struct report_compare *c, FILE *out)
{
    static const struct cli_column columns[] = {
        {"job", NULL},          {"seeds", NULL},        {"what", NULL},
        {"base_ms", "base ms"}, {"with_ms", "with ms"}, {"times", NULL},
        {"low", "95 % from"},   {"high", "to"},         {"over", NULL},
    };
    struct cli_table *t = cli_table_open(out, CLI_AS_TEXT, columns, 9);

    for (size_t j = 0; j < c->job.n; j++)
        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
            const struct report_compared *k = &c->job.v[j];
            const struct report_change *m = &k->change[shown[i]];

            if (isnan(m->base_ns) || (!(m->base_ns > 0) && !(m->with_ns > 0)))
                continue;
            cli_table_text(t, k->job);
            cli_table_int(t, (int64_t)k->pairs);
            cli_table_text(t, report_measure_names[shown[i]]);
            cli_table_real(t, m->base_ns / 1e6);
            cli_table_real(t, m->with_ns / 1e6);
            cli_table_real(t, m->ratio.mid);
            cli_table_real(t, m->ratio.low);
            cli_table_real(t, m->ratio.high);
            cli_table_text(t, report_over_names[m->over]);
        }
    cli_table_close(t);
}

/* Every cause that changed; the changes add up to that of elapsed. */
static void cmd_compare_print_causes(const struct report_compare *c, FILE *out)
{
    static const struct cli_column columns[] = {
        {"job", NULL},          {"during", NULL},       {"cause", NULL},
        {"base_ms", "base ms"}, {"with_ms", "with ms"}, {"change_ms", "change ms"},
        {"part", "part %"},
    };
    struct cli_table *t = cli_table_open(out, CLI_AS_TEXT, columns, 7);

    for (size_t j = 0; j < c->job.n; j++) {
        const struct report_compared *k = &c->job.v[j];
        double whole = k->change[REPORT_ELAPSED].with_ns - k->change[REPORT_ELAPSED].base_ns;

        for (size_t i = 0; i < k->cause.n; i++) {
            double change = k->cause.v[i].with_ns - k->cause.v[i].base_ns;

            cli_table_text(t, k->job);
            cli_table_text(t, k->cause.v[i].during);
            cli_table_text(t, k->cause.v[i].cause);
            cli_table_real(t, k->cause.v[i].base_ns / 1e6);
            cli_table_real(t, k->cause.v[i].with_ns / 1e6);
            cli_table_real(t, change / 1e6);
            cli_table_real(t, fabs(whole) > 1e-6 * k->change[REPORT_ELAPSED].base_ns
                                  ? 100 * change / whole
                                  : NAN);
        }
    }
    cli_table_close(t);
}

/* How a job's I/O depends on the other jobs that use its servers. */
static void cmd_compare_print_crowds(const struct report_compare *c, FILE *out)
{
    static const struct cli_column columns[] = {
        {"job", NULL},
        {"others", "clients of others"},
        {"ranks", NULL},
        {"base_ms", "base I/O ms"},
        {"with_ms", "with I/O ms"},
        {"times", NULL},
        {"waited_ms", "behind others ms"},
    };
    struct cli_table *t = cli_table_open(out, CLI_AS_TEXT, columns, 7);

    for (size_t j = 0; j < c->job.n; j++)
        for (size_t i = 0; i < c->job.v[j].crowd.n; i++) {
            const struct report_crowd *k = &c->job.v[j].crowd.v[i];

            cli_table_text(t, c->job.v[j].job);
            cli_table_int(t, k->others);
            cli_table_int(t, (int64_t)k->ranks);
            cli_table_real(t, k->base_ns / 1e6);
            cli_table_real(t, k->with_ns / 1e6);
            cli_table_real(t, k->base_ns > 0 ? k->with_ns / k->base_ns : NAN);
            cli_table_real(t, k->waited_ns / 1e6);
        }
    cli_table_close(t);
}

static void cmd_compare_print_text(const struct report_comparison *one, FILE *out)
{
    const struct report_compare *c = &one->c;
    struct wr_str text = {0};
    size_t causes = 0, pairs = 0, crowds = 0;

    if (*one->group)
        fprintf(out, "%s\n\n", one->group);
    cmd_compare_print_changes(c, out);
    for (size_t j = 0; j < c->job.n; j++) {
        causes += c->job.v[j].cause.n;
        crowds += c->job.v[j].crowd.n;
        pairs = c->job.v[j].pairs > pairs ? c->job.v[j].pairs : pairs;
        report_compare_words(&c->job.v[j], &text);
    }
    if (causes) {
        fputs("\nwhy, means over the ranks; the changes add up to that of elapsed\n", out);
        cmd_compare_print_causes(c, out);
    }
    if (crowds) {
        fputs("\nby how many clients of other jobs a rank's server has\n", out);
        cmd_compare_print_crowds(c, out);
    }
    fprintf(out, "\n%s", wr_str_get(&text));
    if (!causes)
        fputs("the runs do not say why; make them again with this weir to know\n", out);
    if (pairs < 2)
        fputs("one seed: intervals are over ranks, and say nothing about other seeds\n", out);
    if (c->unpaired)
        fprintf(out, "%zu runs were left out: the other group has none of their seed\n",
                c->unpaired);
    wr_str_fini(&text);
}

/* All run files that were compared are what the page comes from. */
static bool cmd_compare_write_page(const struct report_comparisons *list,
                                   const struct cli_call *call, struct wr_err *err)
{
    static const struct report_maker *const makers[] = {&report_slowdowns, &report_boxes,
                                                        &report_causes, NULL};
    const struct compare_opts *o = call->opts;
    size_t n = 0, most = (size_t)call->nargs + o->base.n + o->with.n;
    const char **all = wr_arena_alloc(call->arena, (most + 1) * sizeof *all);
    struct report_inputs in;
    struct report_doc doc;
    struct wr_str page = {0};

    cmd_compare_add_words(all, &n, o->base.v, o->base.n);
    cmd_compare_add_words(all, &n, (const char *const *)call->args, (size_t)call->nargs);
    cmd_compare_add_words(all, &n, o->with.v, o->with.n);
    if (!report_inputs_open(&in, all, n, err))
        return false;
    in.compared = list;
    bool ok = report_doc_open(&doc, &in, makers, NULL, err);

    if (ok) {
        doc.title = doc.section.n ? doc.section.v[0].title : "Comparison";
        report_doc_page(&doc, web_bundle(), &page);
        ok = wr_output_text(o->out, &report_page_format, o->force ? WR_FORCE : 0, &page, err);
        report_doc_close(&doc);
    }
    report_inputs_close(&in);
    wr_str_fini(&page);
    return ok;
}

static int cmd_compare_main(const struct cli_call *call, struct wr_err *err)
{
    const struct compare_opts *o = call->opts;
    bool study = call->nargs == 1 && !o->base.n && !o->with.n;
    struct report_comparisons list = {0};
    enum cli_format format;
    bool ok = cli_format_of(o->json, o->csv, &format, err);

    if (ok && o->out && format != CLI_AS_TEXT)
        ok = wr_fail(err, WR_INPUT, "a page (.html) is no JSON or CSV; leave out one of them");
    if (ok && o->out)
        ok = wr_output_check(o->out, &report_page_format, o->force ? WR_FORCE : 0, err);
    ok = ok && (study ? cmd_compare_study(&list, call, err) : cmd_compare_groups(&list, call, err));
    if (ok && o->out)
        ok = cmd_compare_write_page(&list, call, err);
    else if (ok && format != CLI_AS_TEXT)
        cmd_compare_print_flat(&list, format, call->out);
    for (size_t i = 0; i < list.v.n && ok && format == CLI_AS_TEXT && !o->out; i++) {
        fputs(i ? "\n\n" : "", call->out);
        cmd_compare_print_text(&list.v.v[i], call->out);
    }
    report_comparisons_close(&list);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_cmd_compare = {
    .name = "compare",
    .summary = "show how much sharing slowed each job, how certain, and why",
    .args = "[BASE] RUN...",
    .max_args = -1,
    .about =
        "Compares runs in which jobs share the machine with runs in which they do not (BASE, or "
        "--base). For each job that both have: how many times as long its elapsed time, its "
        "communication, its I/O and its messages take, with a bootstrap interval of 95 % over "
        "pairs of runs with the same seed. With one pair the interval is over ranks. Then the "
        "mean rank's time by cause in both, whose changes add up to the change of the elapsed "
        "time; and the same in words.\n\n"
        "A run is a run file or, of a study, DIR:axis=choice,... which stands for all its runs "
        "with these choices. With one argument, which must be a study's directory, every run "
        "with several jobs is compared with the runs in which its jobs are alone.",
    .examples = "weir compare alone.weir together.weir\n"
                "weir compare --base a1.weir --base a2.weir --with b1.weir --with b2.weir\n"
                "weir compare placements:placement=random,routing=par\n"
                "weir compare dir:workload=fft,routing=par dir:workload=both,routing=par\n",
    .opts = compare_rows,
    .opts_size = sizeof(struct compare_opts),
    .main = cmd_compare_main,
};
