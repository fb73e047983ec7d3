/* cmd_paper.c -- `weir paper`: the figures and tables of publications, listed and made. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/cli_table.h"
#include "paper/paper.h"

/* ---- list ---- */

struct paper_list_opts {
    bool json;
};

static const struct cli_opt paper_list_rows[] = {
    CLI_JSON(struct paper_list_opts, json),
    CLI_OPT_END,
};

static void paper_list_one(struct cli_table *t, const struct paper *p)
{
    double whole_s = 0, quick_s = 0;
    int64_t missing = 0;

    for (size_t i = 0; i < paper_count(p); i++) {
        const struct paper_item *item = paper_item(p, i);

        missing += item->missing[0] != '\0';
        whole_s += item->missing[0] ? 0 : paper_estimate_s(item, false);
        quick_s += item->missing[0] ? 0 : paper_estimate_s(item, true);
    }
    cli_table_text(t, p->name);
    if (p->about.year)
        cli_table_int(t, p->about.year);
    else
        cli_table_null(t);
    cli_table_int(t, (int64_t)paper_count(p));
    cli_table_int(t, missing);
    cli_table_real(t, whole_s);
    cli_table_real(t, quick_s);
    cli_table_text(t, p->about.title);
}

static int paper_list_all(const struct cli_call *call, enum cli_format format, struct wr_err *err)
{
    static const struct cli_column columns[] = {
        {"paper", NULL},         {"year", NULL},          {"items", NULL}, {"missing", NULL},
        {"whole_s", "whole, s"}, {"quick_s", "quick, s"}, {"title", NULL}};
    const char *const *names;
    size_t n;

    if (!paper_names(&names, &n, call->arena, err))
        return cli_error(err);
    struct cli_table *t =
        cli_table_open(call->out, format, columns, sizeof columns / sizeof columns[0]);
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++) {
        struct paper *p = NULL;

        ok = paper_open(&p, names[i], err);
        if (ok)
            paper_list_one(t, p);
        paper_close(p);
    }
    cli_table_close(t);
    return ok ? 0 : cli_error(err);
}

static int paper_list_items(const struct cli_call *call, enum cli_format format, struct wr_err *err)
{
    static const struct cli_column columns[] = {
        {"item", NULL},    {"from", NULL},   {"whole_s", "whole, s"}, {"quick_s", "quick, s"},
        {"reduced", NULL}, {"values", NULL}, {"shows", NULL},         {"missing", NULL}};
    struct paper *p;

    if (!paper_open(&p, call->args[0], err))
        return cli_error(err);
    struct cli_table *t =
        cli_table_open(call->out, format, columns, sizeof columns / sizeof columns[0]);

    for (size_t i = 0; i < paper_count(p); i++) {
        const struct paper_item *item = paper_item(p, i);
        bool missing = item->missing[0] != '\0';

        cli_table_text(t, item->id);
        cli_table_text(t, paper_sources[item->source]);
        cli_table_real(t, missing ? NAN : paper_estimate_s(item, false));
        cli_table_real(t, missing ? NAN : paper_estimate_s(item, true));
        cli_table_bool(t, paper_is_reduced(p, item));
        cli_table_int(t, (int64_t)item->values.n);
        cli_table_text(t, item->caption);
        if (missing)
            cli_table_text(t, item->missing);
        else
            cli_table_null(t);
    }
    cli_table_close(t);
    paper_close(p);
    return 0;
}

static int paper_list_main(const struct cli_call *call, struct wr_err *err)
{
    const struct paper_list_opts *o = call->opts;
    enum cli_format format = o->json ? CLI_AS_JSON : CLI_AS_TEXT;

    return call->nargs ? paper_list_items(call, format, err) : paper_list_all(call, format, err);
}

/* The first argument of both verbs. */
static void paper_complete(char **args, int at, FILE *out)
{
    struct wr_arena arena = {0};
    struct wr_err ignored;
    const char *const *names;
    struct paper *p = NULL;
    size_t n = 0;

    if (!at && paper_names(&names, &n, &arena, &ignored))
        for (size_t i = 0; i < n; i++)
            fprintf(out, "%s\n", names[i]);
    if (at && paper_open(&p, args[0], &ignored))
        for (size_t i = 0; i < paper_count(p); i++)
            fprintf(out, "%s\n", paper_item(p, i)->id);
    paper_close(p);
    wr_arena_fini(&arena);
}

static const struct cli_verb paper_list = {
    .name = "list",
    .summary = "list papers, or the figures and tables of one",
    .args = "[NAME|FILE]",
    .max_args = 1,
    .about = "Without an argument, names the papers: how many items (figures, tables, equations) "
             "each has, how many of them weir cannot make yet, and about how long the others take, "
             "whole and with --quick. With a paper, lists its items: what each is made from (a "
             "simulation, a measurement on this machine, or reference data), how long it takes, "
             "whether --quick reduces it, what it shows, and why it is missing.",
    .examples = "weir paper list\nweir paper list mfnetsim\nweir paper list lwm2 --json\n",
    .opts = paper_list_rows,
    .opts_size = sizeof(struct paper_list_opts),
    .main = paper_list_main,
    .complete = paper_complete,
};

/* ---- run ---- */

struct paper_run_opts {
    const char *out;
    bool quick, force, json, progress;
};

static const struct cli_opt paper_run_rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct paper_run_opts, out),
     .value = "DIRECTORY",
     .def = "paper",
     .help = "where figures, tables and the page go; steps that are done already are not repeated"},
    {.name = "quick",
     .type = CLI_FLAG,
     .offset = offsetof(struct paper_run_opts, quick),
     .help = "a reduced version, in seconds"},
    {.name = "force",
     .letter = 'f',
     .type = CLI_FLAG,
     .offset = offsetof(struct paper_run_opts, force),
     .help = "write into a directory that holds other files"},
    CLI_PROGRESS(struct paper_run_opts, progress),
    CLI_JSON(struct paper_run_opts, json),
    CLI_OPT_END,
};

static void paper_print_values(FILE *out, const struct paper_results *r, bool json)
{
    static const struct cli_column columns[] = {
        {"item", NULL}, {"value", NULL},      {"unit", NULL}, {"published", NULL},
        {"weir", NULL}, {"difference", NULL}, {"exact", NULL}};
    struct cli_table *t = cli_table_open(out, json ? CLI_AS_JSON : CLI_AS_TEXT, columns, 7);

    for (size_t i = 0; i < paper_count(r->paper); i++)
        for (size_t k = 0; k < r->v[i].got.n; k++) {
            const struct paper_got *g = &r->v[i].got.v[k];
            struct wr_str weir = {0}, difference = {0};

            paper_put_number(g, &weir);
            paper_put_difference(g, &difference);
            cli_table_text(t, r->v[i].item->id);
            cli_table_text(t, g->value->name);
            cli_table_text(t, g->value->unit);
            cli_table_text(t, g->value->published);
            cli_table_text(t, wr_str_get(&weir));
            cli_table_text(t, wr_str_get(&difference));
            cli_table_bool(t, g->value->exact);
            wr_str_fini(&weir);
            wr_str_fini(&difference);
        }
    cli_table_close(t);
}

static void paper_print_items(FILE *out, const struct paper_results *r, bool json)
{
    static const struct cli_column columns[] = {
        {"item", NULL}, {"state", NULL}, {"seconds", "s"}, {"values", NULL}, {"why", NULL}};
    struct cli_table *t = cli_table_open(out, json ? CLI_AS_JSON : CLI_AS_TEXT, columns, 5);

    for (size_t i = 0; i < paper_count(r->paper); i++) {
        const struct paper_result *res = &r->v[i];

        cli_table_text(t, res->item->id);
        cli_table_text(t, paper_state_names[res->state]);
        cli_table_real(t, cli_round(res->seconds, 10));
        cli_table_int(t, (int64_t)res->got.n);
        if (res->why || res->item->missing[0])
            cli_table_text(t, res->why ? res->why : res->item->missing);
        else
            cli_table_null(t);
    }
    cli_table_close(t);
}

static void paper_print(const struct cli_call *call, const struct paper_results *r)
{
    const struct paper_run_opts *o = call->opts;

    fputs(o->json ? "{\"items\":\n" : "", call->out);
    paper_print_items(call->out, r, o->json);
    fputs(o->json ? ", \"values\":\n" : "\n", call->out);
    paper_print_values(call->out, r, o->json);
    fputs(o->json ? "}\n" : "", call->out);
}

/* What failed is said once more, whole: tables shorten words. */
static bool paper_judge(const struct paper_results *r, struct wr_err *err)
{
    for (size_t i = 0; i < paper_count(r->paper); i++)
        if (r->v[i].why)
            fprintf(stderr, "weir: %s: %s\n", r->v[i].item->id, r->v[i].why);
    if (r->failed && r->differ)
        return wr_fail(err, WR_CHECK,
                       "%zu of the items of %s failed, and %zu of the values that must be equal to "
                       "the published are not; see the tables and %s/ITEM/log.txt",
                       r->failed, r->paper->name, r->differ, r->dir);
    if (r->failed)
        return wr_fail(err, WR_CHECK, "%zu %s of %s failed; %s/ITEM/log.txt has what they said",
                       r->failed, r->failed == 1 ? "item" : "items", r->paper->name, r->dir);
    if (r->differ)
        return wr_fail(err, WR_CHECK,
                       "%zu %s of %s must be equal to the published and %s not; see the tables",
                       r->differ, r->differ == 1 ? "value" : "values", r->paper->name,
                       r->differ == 1 ? "is" : "are");
    return true;
}

static bool paper_run_open(const struct cli_call *call, const struct paper *p, struct wr_err *err)
{
    const struct paper_run_opts *o = call->opts;
    struct paper_call what = {.dir = o->out,
                              .items = (const char *const *)call->args + 1,
                              .nitems = (size_t)call->nargs - 1,
                              .quick = o->quick,
                              .force = o->force,
                              .progress = o->progress ? WR_PROGRESS_ALWAYS : WR_PROGRESS_AUTO};
    struct paper_results r;

    if (!paper_run(&r, p, &what, err))
        return false;
    bool ok = paper_write(&r, err);

    if (ok) {
        paper_print(call, &r);
        fflush(call->out);
        ok = paper_judge(&r, err);
    }
    paper_results_fini(&r);
    return ok;
}

static int paper_run_main(const struct cli_call *call, struct wr_err *err)
{
    struct paper *p;

    if (!paper_open(&p, call->args[0], err))
        return cli_error(err);
    bool ok = paper_run_open(call, p, err);

    paper_close(p);
    return ok ? 0 : cli_error(err);
}

static const struct cli_verb paper_run_verb = {
    .name = "run",
    .summary = "make the figures and tables of a paper",
    .args = "NAME|FILE [ITEM...]",
    .min_args = 1,
    .max_args = -1,
    .about =
        "Makes the items of a paper, all or those named, each in a folder of its own below the "
        "output directory: pictures (SVG), values.csv with the published numbers beside weir's, "
        "and log.txt; and of all of them one page, index.html, and the same as Markdown. The "
        "recipe of a paper is a file: which of weir's own commands make an item, and which numbers "
        "are compared (docs/formats/paper.md).\n\n"
        "The same command again makes what is not there yet. A step that is done is repeated when "
        "the recipe, weir's version or --quick has changed. Ctrl-C keeps the steps that are done. "
        "When a step fails, the other items go on.\n\n"
        "Exit status 1: a step failed, or a number that must be equal to the published one is not.",
    .examples = "weir paper run mfnetsim --quick -o mfnetsim\n"
                "weir paper run rooflines table2 fig13 -o rooflines\n",
    .opts = paper_run_rows,
    .opts_size = sizeof(struct paper_run_opts),
    .main = paper_run_main,
    .complete = paper_complete,
};

static const struct cli_verb *const paper_subs[] = {&paper_list, &paper_run_verb, NULL};

const struct cli_verb cli_cmd_paper = {
    .name = "paper",
    .summary = "make figures and tables of publications, beside the published",
    .about = "weir implements models of published studies. These verbs make the studies' figures "
             "and tables again, and put the published numbers beside weir's.",
    .subs = paper_subs,
};
