/* cmd_sweep.c -- `weir sweep FILE`: latency and throughput against offered load.
 *
 * study/sweep.h simulates each load; the chart and table are those of report/sweep_curves.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/signals.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/cli_simulate.h"
#include "cli/style.h"
#include "report/doc.h"
#include "report/report.h"
#include "report/sections/sections.h"
#include "study/study_sweep.h"
#include "world/config.h"

struct sweep_opts {
    struct cli_list loads, routings, sets;
    const char *out;
    uint32_t seeds, jobs;
    bool force, progress, json;
};

static const struct cli_opt sweep_rows[] = {
    {.name = "load",
     .letter = 'l',
     .type = CLI_LIST,
     .offset = offsetof(struct sweep_opts, loads),
     .value = "LOAD",
     .help = "a load (\"20%\") or from:to:step (\"5%:30%:5%\"); may be given several times; by "
             "default 10%:90%:10%"},
    {.name = "routing",
     .letter = 'r',
     .type = CLI_LIST,
     .offset = offsetof(struct sweep_opts, routings),
     .value = "ROUTING",
     .help = "a routing, one curve each, as machine.routing would be written; may be given "
             "several times; by default the configuration's",
     .offer = cli_offer_routings},
    {.name = "seeds",
     .type = CLI_U32,
     .offset = offsetof(struct sweep_opts, seeds),
     .value = "N",
     .def = "1",
     .help = "repeat every point with N seeds, counted up from the configuration's"},
    {.name = "jobs",
     .letter = 'j',
     .type = CLI_U32,
     .offset = offsetof(struct sweep_opts, jobs),
     .value = "N",
     .def = "0",
     .help = "points simulated at once; 0: one per core"},
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct sweep_opts, out),
     .value = "RUN",
     .def = "sweep.weir",
     .help = "the run file to write"},
    {.name = "force",
     .letter = 'f',
     .type = CLI_FLAG,
     .offset = offsetof(struct sweep_opts, force),
     .help = "replace an existing run file"},
    CLI_SET(struct sweep_opts, sets),
    CLI_JSON(struct sweep_opts, json),
    CLI_PROGRESS(struct sweep_opts, progress),
    CLI_OPT_END,
};

typedef WR_VEC(double) load_list;

enum { MOST_LOADS = 10000 };

static bool sweep_bad_load(const char *text, struct wr_err *err)
{
    struct wr_err inner = *err;

    return wr_fail(err, WR_INPUT, "--load %s: %s; write it as 20%% or 5%%:30%%:5%%", text,
                   inner.text);
}

/* "a" or "a:b:step". */
static bool sweep_add_loads(load_list *list, const char *text, struct wr_arena *arena,
                            struct wr_err *err)
{
    char *copy = wr_arena_strdup(arena, text), *second = strchr(copy, ':');
    char *third = second ? strchr(second + 1, ':') : NULL;
    double from, to, step;

    if (second)
        *second++ = '\0';
    if (third)
        *third++ = '\0';
    if (!wr_parse_fraction(&from, copy, err))
        return sweep_bad_load(text, err);
    if (!second) {
        wr_vec_push(list, from);
        return true;
    }
    if (!third) {
        wr_fail(err, WR_INPUT, "a range has a step");
        return sweep_bad_load(text, err);
    }
    if (!wr_parse_fraction(&to, second, err) || !wr_parse_fraction(&step, third, err))
        return sweep_bad_load(text, err);
    if (!(step > 0) || to < from || (to - from) / step > MOST_LOADS) {
        wr_fail(err, WR_INPUT, "the step must lead from the first to the last");
        return sweep_bad_load(text, err);
    }
    /* Counted, not added up: 0.1 is not a binary number. */
    for (int i = 0; from + i * step <= to + step * 1e-9; i++)
        wr_vec_push(list, round((from + i * step) * 1e12) / 1e12);
    return true;
}

static bool sweep_list_loads(load_list *list, const struct cli_call *call, struct wr_err *err)
{
    const struct sweep_opts *o = call->opts;

    if (!o->loads.n)
        return sweep_add_loads(list, "10%:90%:10%", call->arena, err);
    for (size_t i = 0; i < o->loads.n; i++)
        if (!sweep_add_loads(list, o->loads.v[i], call->arena, err))
            return false;
    return true;
}

static bool sweep_run(const struct study_sweep *s, struct run *run, const struct sweep_opts *o,
                      bool *ret_interrupted, struct wr_err *err)
{
    struct wr_progress progress;
    struct wr_err ignored;
    size_t points = s->nloads * s->seeds * (s->nroutings ? s->nroutings : 1);

    wr_progress_init(&progress, simulate_progress(o->progress), "sweep", "points", (double)points);
    wr_interrupt_catch();
    bool ok = study_sweep_run(s, run, &progress, ret_interrupted, err);

    wr_progress_fini(&progress);
    wr_interrupt_release();
    if (!ok) {
        run_finish(run, RUN_FAILED, err->text, &ignored);
        return false;
    }
    return run_finish(run, *ret_interrupted ? RUN_INCOMPLETE : RUN_COMPLETE,
                      *ret_interrupted ? "interrupted" : NULL, err);
}

static bool sweep_draw_points(const struct sweep_opts *o, const struct report_text_style *style,
                              struct wr_str *text, struct wr_err *err)
{
    static const struct report_maker *const makers[] = {&report_sweeps, NULL};
    struct report_inputs in;
    struct report_doc doc;

    if (!report_inputs_open(&in, &o->out, 1, err))
        return false;
    bool ok = report_doc_open(&doc, &in, makers, NULL, err);

    if (ok) {
        report_doc_text(&doc, style, text);
        report_doc_close(&doc);
    }
    report_inputs_close(&in);
    return ok;
}

/* What was finished, drawn for people or as rows for programs. */
static bool sweep_print_points(const struct sweep_opts *o, FILE *out, struct wr_err *err)
{
    struct wr_str text = {0};
    struct report_text_style style = cli_style(out, false);
    bool any = false;
    bool ok = report_has_sweep(o->out, &any, err);

    if (ok && any)
        ok = o->json ? report_sweep_json(&o->out, 1, &text, err)
                     : sweep_draw_points(o, &style, &text, err);
    else if (ok && o->json)
        wr_str_add(&text, "[]\n");
    if (ok)
        fputs(wr_str_get(&text), out);
    if (ok && any && !o->json)
        fprintf(out, "make a page of it with `weir report %s -o sweep.html`\n", o->out);
    wr_str_fini(&text);
    return ok;
}

static int sweep_main(const struct cli_call *call, struct wr_err *err)
{
    const struct sweep_opts *o = call->opts;
    struct world_config c = {0};
    struct conf *conf;
    struct run *run;
    load_list loads = {0};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    bool interrupted = false;

    if (!sweep_list_loads(&loads, call, err) ||
        !conf_load(&conf, &c, world_rows, call->args[0], o->sets.v, o->sets.n, err)) {
        wr_vec_fini(&loads);
        return cli_error(err);
    }
    if (c.jobs.n && !c.traffic.beside_jobs) {
        conf_fail(conf, &c.jobs, err,
                  "a sweep varies the load of traffic, and jobs have none beside them; set "
                  "traffic.beside_jobs=true, or run it with `weir run`");
        wr_vec_fini(&loads);
        conf_close(conf);
        return cli_error(err);
    }
    struct study_sweep s = {
        .file = call->args[0],
        .sets = o->sets.v,
        .nsets = o->sets.n,
        .routings = o->routings.v,
        .nroutings = o->routings.n,
        .series = c.machine.routing.kind->name,
        .loads = loads.v,
        .nloads = loads.n,
        .seeds = o->seeds ? o->seeds : 1,
        .jobs = o->jobs     ? o->jobs
                : cores > 0 ? (uint32_t)cores
                            : 1,
    };
    bool ok = study_sweep_check(&s, err) &&
              simulate_create(&run, o->out, conf, c.seed, call, o->force, err) &&
              (!c.title || run_put_text(run, "title", c.title, err)) &&
              sweep_run(&s, run, o, &interrupted, err) && sweep_print_points(o, call->out, err);

    if (ok && interrupted)
        ok = wr_fail(err, WR_INTERRUPTED, "interrupted; %s holds the points that were finished",
                     o->out);
    conf_close(conf);
    wr_vec_fini(&loads);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_cmd_sweep = {
    .name = "sweep",
    .summary = "simulate many loads and routings: latency over throughput",
    .args = "FILE",
    .min_args = 1,
    .max_args = 1,
    .input = 1,
    .about = "Simulates what FILE describes under each load and each routing, several points at "
             "once, and writes one run file with a row per point.\n\n"
             "A point is marked saturated when less than 95 % of what is offered arrives, or when "
             "traffic.drain passes before everything measured has arrived.",
    .examples = "weir sweep examples/uniform-1056.yaml --load 5%:35%:5% -r minimal -r par\n",
    .opts = sweep_rows,
    .opts_size = sizeof(struct sweep_opts),
    .main = sweep_main,
};
