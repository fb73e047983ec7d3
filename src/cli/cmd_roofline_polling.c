/* cmd_roofline_polling.c -- `weir roofline polling`: cost and latency of each way to wait.
 *
 * rpc/polling.h measures; roofline_polling.c prints the run file.
 */
#include <string.h>

#include "base/note.h"
#include "base/self.h"
#include "base/signals.h"
#include "cli/cli_figure.h"
#include "cli/cmd_roofline.h"
#include "cli/style.h"
#include "report/report.h"
#include "rpc/energy.h"
#include "rpc/polling.h"

struct polling_opts {
    const char *out, *from, *svg;
    uint32_t view, metric;
    struct cli_list sets;
    bool force, json, csv, ascii;
};

static const char *const view_names[] = {"policies", "slices", NULL};

static const struct cli_opt polling_opt_rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct polling_opts, out),
     .value = "FILE",
     .def = "polling.weir",
     .help = "write the run file there"},
    {.name = "force",
     .letter = 'f',
     .type = CLI_FLAG,
     .offset = offsetof(struct polling_opts, force),
     .help = "replace a run file that is there already"},
    {.name = "from-run",
     .former = "from",
     .type = CLI_TEXT,
     .offset = offsetof(struct polling_opts, from),
     .value = "RUN",
     .help = "measure nothing: show what an earlier run file holds"},
    {.name = "set",
     .type = CLI_LIST,
     .offset = offsetof(struct polling_opts, sets),
     .value = "KEY=VALUE",
     .help = "override one value of the specification, as in --set burst=1s; may be given several "
             "times"},
    {.name = "view",
     .type = CLI_CHOICE,
     .offset = offsetof(struct polling_opts, view),
     .value = "VIEW",
     .def = "policies",
     .help = "print a line for each policy, or for each slice of time",
     .names = view_names},
    {.name = "svg",
     .type = CLI_TEXT,
     .offset = offsetof(struct polling_opts, svg),
     .value = "FILE.svg",
     .help = "write a picture of --metric there"},
    {.name = "metric",
     .type = CLI_CHOICE,
     .offset = offsetof(struct polling_opts, metric),
     .value = "METRIC",
     .def = "rate",
     .help = "what the picture shows",
     .names = roofline_polling_metrics},
    {.name = "ascii",
     .type = CLI_FLAG,
     .offset = offsetof(struct polling_opts, ascii),
     .help = "draw with ASCII characters only"},
    CLI_JSON(struct polling_opts, json),
    CLI_CSV(struct polling_opts, csv),
    CLI_OPT_END,
};

/* ---- show ---- */

/* Warns where one kind of sleep was requested and another was used. */
static bool cmd_polling_warn_fallbacks(FILE *out, struct run_reader *run, struct wr_err *err)
{
    struct run_rows *q;
    bool more, ok;

    if (!run_query(&q, run,
                   "SELECT key, value FROM summary WHERE key LIKE 'polling.%.server_waits'", NULL,
                   0, err))
        return false;
    while ((ok = run_rows_next(q, &more, err)) && more) {
        char requested[16] = "";
        size_t n;

        if (sscanf(run_rows_text(q, 0, &n), "polling.%15[a-z].", requested) == 1 &&
            strcmp(requested, run_rows_text(q, 1, &n)) != 0)
            fprintf(out,
                    "under \"%s\" the server waits by \"%s\": waiting does not sleep on this "
                    "transport; take another provider to compare\n",
                    requested, run_rows_text(q, 1, &n));
    }
    run_rows_close(q);
    return ok;
}

static bool cmd_polling_draw_text(const struct cli_call *call, struct run_reader *run,
                                  struct wr_err *err)
{
    static const uint32_t shown[] = {0, 2}; /* rate, server_cpu */
    const struct polling_opts *o = call->opts;
    struct report_text_style style = cli_style(call->out, o->ascii);
    bool ok = true;

    for (size_t i = 0; ok && i < 2; i++) {
        struct wr_str picture = {0};

        ok = roofline_polling_chart(&picture, run, shown[i], &style, err);
        if (ok)
            fprintf(call->out, "\n%s", wr_str_get(&picture));
        wr_str_fini(&picture);
    }
    return ok;
}

static bool cmd_polling_print(const struct cli_call *call, struct run_reader *run,
                              struct wr_err *err)
{
    const struct polling_opts *o = call->opts;
    struct wr_str svg = {0};
    enum cli_format format;

    if (!cli_format_of(o->json, o->csv, &format, err))
        return false;
    if (o->svg) {
        bool ok = roofline_polling_chart(&svg, run, o->metric, NULL, err) &&
                  cli_figure_write(o->svg, &svg, o->force ? WR_FORCE : 0, err);

        wr_str_fini(&svg);
        if (!ok)
            return false;
    }
    if (!roofline_polling_print(call->out, run, (enum roofline_polling_view)o->view, format, err))
        return false;
    if (format != CLI_AS_TEXT || o->view != POLLING_POLICIES)
        return true;
    return cmd_polling_warn_fallbacks(call->out, run, err) && cmd_polling_draw_text(call, run, err);
}

static bool cmd_polling_print_file(const struct cli_call *call, const char *path,
                                   struct wr_err *err)
{
    struct run_reader *run;
    double n = 0;
    bool found;

    if (!run_open(&run, path, err))
        return false;
    bool ok =
        run_number(run, "SELECT count(*) FROM summary WHERE key LIKE 'polling.%'", &n, &found, err);

    if (ok && n < 1)
        ok = wr_fail(err, WR_INPUT,
                     "%s holds no comparison of policies; take a run of `weir roofline polling`",
                     path);
    ok = ok && cmd_polling_print(call, run, err);
    run_close(run);
    return ok;
}

/* ---- measure ---- */

static void cmd_polling_print_progress(const char *what)
{
    wr_note("%s", what);
}

static bool cmd_polling_measure_all(struct run *run, const struct rpc_polling_spec *s,
                                    const struct rpc_polling_how *how, uint32_t *done,
                                    struct wr_err *err)
{
    static const uint32_t usual[] = {RPC_BLOCK, RPC_POLL, RPC_ADAPTIVE};
    const uint32_t *policies = s->policies.n ? s->policies.items : usual;
    size_t n = s->policies.n ? s->policies.n : 3;

    for (size_t i = 0; i < n; i++) {
        enum rpc_wait policy = (enum rpc_wait)policies[i];
        struct rpc_polled polled;
        char line[64];

        snprintf(line, sizeof line, "measuring policy %s", rpc_wait_names[policy]);
        if (how->progress)
            how->progress(line);
        if (!rpc_polling_measure(&polled, s, policy, how, err))
            return wr_wrap(err, "policy %s", rpc_wait_names[policy]);
        bool ok = rpc_polled_put(run, &polled, s, err) && run_flush(run, err);

        rpc_polled_fini(&polled);
        if (!ok)
            return false;
        ++*done;
    }
    return true;
}

/* What was measured before something went wrong is kept; without anything there is no file. */
static bool cmd_polling_measure(const struct cli_call *call, const struct rpc_polling_spec *s,
                                const struct conf *conf, struct wr_err *err)
{
    const struct polling_opts *o = call->opts;
    char program[WR_SELF_PATH];
    struct rpc_polling_how how = {
        .program = program, .stop = wr_interrupted, .progress = cmd_polling_print_progress};
    struct run *run;
    struct wr_err ending = {0};
    uint32_t done = 0;

    if (!wr_self_path(program, err) ||
        !roofline_run_create(&run, call, o->out, o->force, false, 0, conf, err))
        return false;
    wr_interrupt_catch();
    bool ok = run_put_text(run, "transport", s->transport, err) &&
              cmd_polling_measure_all(run, s, &how, &done, err);

    if (ok)
        return run_finish(run, RUN_COMPLETE, NULL, err) &&
               cmd_polling_print_file(call, o->out, err);
    if (!done) {
        run_abandon(run);
        return false;
    }
    run_finish(run, RUN_INCOMPLETE, err->text, &ending);
    return wr_wrap(err, "%u of the policies are in %s", done, o->out);
}

static void cmd_polling_warn_power(const char *root)
{
    struct rpc_energy energy;

    if (!rpc_energy_open(&energy, root))
        wr_note("the packages' power cannot be read in %s: compare processor time, or name the "
                "place with powercap",
                root);
}

static int cmd_polling_main(const struct cli_call *call, struct wr_err *err)
{
    const struct polling_opts *o = call->opts;
    struct rpc_polling_spec s = {0};
    struct conf *conf;

    if (o->svg && !cli_figure_check(o->svg, o->force ? WR_FORCE : 0, err))
        return cli_error(err);
    if (o->from)
        return cmd_polling_print_file(call, o->from, err) ? 0 : cli_error(err);
    if (!conf_load(&conf, &s, rpc_polling_rows, call->nargs ? call->args[0] : NULL, o->sets.v,
                   o->sets.n, err))
        return cli_error(err);
    bool ok = rpc_polling_check(&s, conf, err);

    if (ok)
        cmd_polling_warn_power(s.powercap);
    ok = ok && cmd_polling_measure(call, &s, conf, err);
    conf_close(conf);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_roofline_polling = {
    .name = "polling",
    .summary = "compare ways to wait: what rate they bring and what processor time they cost",
    .args = "[SPEC.yaml]",
    .max_args = 1,
    .input = 1,
    .about =
        "A server waits for calls by sleeping (block), by looking again and again (poll), or by "
        "looking for some microseconds and then sleeping (adaptive). For each policy clients call "
        "in bursts with gaps between them, and the rate, the processor time of server and clients, "
        "and the power of the processors' packages are recorded every 100 ms. Where sleeping does "
        "not sleep on a transport, the table says what is done instead.",
    .examples = "weir roofline polling\n"
                "weir roofline polling --set transport=fabric --set 'provider=tcp;ofi_rxm'\n"
                "weir roofline polling --from-run p.weir --metric server_cpu --svg cpu.svg\n"
                "weir roofline polling --from-run polling.weir --view slices --csv\n",
    .opts = polling_opt_rows,
    .opts_size = sizeof(struct polling_opts),
    .main = cmd_polling_main,
};
