/* cmd_state_import.c -- `weir state import`: tables of probes as a run file, for reports. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli_json.h"
#include "cli/state_opts.h"
#include "run/run.h"

struct import_opts {
    const char *out;
    bool force, json;
};

static const struct cli_opt import_rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct import_opts, out),
     .value = "RUN",
     .def = "probes.weir",
     .help = "the run file to write"},
    {.name = "force",
     .letter = 'f',
     .type = CLI_FLAG,
     .offset = offsetof(struct import_opts, force),
     .help = "replace an existing run file"},
    CLI_JSON(struct import_opts, json),
    CLI_OPT_END,
};

/* The path that a target of a table is: its name, or that of the file where it has none. Several
 * tables of one target are distinguished by their files. */
static char *state_import_path_name(const char *target, const char *file, bool several)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    struct wr_str name = {0};

    wr_str_addf(&name, "target:%s", *target ? target : base);
    if (*target && several)
        wr_str_addf(&name, " in %s", base);
    return name.s;
}

/* A series for each target and operation that the table has. */
static bool state_import_open_series(struct run *run, uint32_t *ret, const struct state_probes *p,
                                     const char *file, bool several, struct wr_err *err)
{
    bool *there = wr_zalloc(p->ntargets * p->nops + 1, sizeof *there), ok = true;

    for (size_t i = 0; i < p->n; i++)
        there[p->v[i].target * p->nops + p->v[i].op] = true;
    for (size_t k = 0; ok && k < p->ntargets * p->nops; k++) {
        const char *op = p->op[k % p->nops];
        struct wr_str metric = {0};

        if (!there[k])
            continue;
        char *entity = state_import_path_name(p->target[k / p->nops], file, several);

        wr_str_addf(&metric, "%s_latency", *op ? op : "probe");
        ok = run_open_series(run, &(struct run_series){entity, metric.s, "s", 0}, &ret[k], err);
        wr_str_fini(&metric);
        free(entity);
    }
    free(there);
    return ok;
}

static bool state_import_put_table(struct run *run, const char *file, bool several, size_t *io_n,
                                   struct wr_err *err)
{
    struct state_probes p;

    if (!state_probes_read(&p, file, err))
        return false;
    uint32_t *series = wr_zalloc(p.ntargets * p.nops + 1, sizeof *series);
    bool ok = state_import_open_series(run, series, &p, file, several, err);

    for (size_t i = 0; ok && i < p.n; i++)
        ok = run_put_slice(run, series[p.v[i].target * p.nops + p.v[i].op],
                           (int64_t)(p.v[i].t_s * 1e12), (int64_t)(p.v[i].latency_s * 1e12),
                           p.v[i].latency_s, err);
    *io_n += p.n;
    free(series);
    state_probes_fini(&p);
    return ok;
}

/* Times are picoseconds in 63 bits: a hundred days. */
static bool state_import_check_table(const char *file, struct wr_err *err)
{
    struct state_probes p;
    bool ok = true;

    if (!state_probes_read(&p, file, err))
        return false;
    for (size_t i = 0; ok && i < p.n; i++)
        if (!(p.v[i].t_s >= 0 && p.v[i].t_s < 9e6 && p.v[i].latency_s < 9e6))
            ok = wr_fail(err, WR_INPUT,
                         "%s: a probe at %g s is outside of the hundred days that a run file can "
                         "hold; divide the table",
                         file, p.v[i].t_s);
    state_probes_fini(&p);
    return ok;
}

static bool state_import_table(const struct cli_call *call, size_t *ret_n, struct wr_err *err)
{
    const struct import_opts *o = call->opts;
    struct wr_str command = {0};
    struct run *run = NULL;
    bool ok = true;

    for (int i = 0; ok && i < call->nargs; i++)
        ok = state_import_check_table(call->args[i], err);
    if (!ok)
        return false;
    wr_str_addf(&command, "%s ", call->who);
    run_command_line(&command, call->argc - 1, call->argv + 1);
    struct run_meta meta = {
        .kind = "probe", .command = wr_str_get(&command), .force = o->force, .whole = true};

    ok = run_create(&run, o->out, &meta, err);
    wr_str_fini(&command);
    if (!ok)
        return false;
    for (int i = 0; ok && i < call->nargs; i++)
        ok = state_import_put_table(run, call->args[i], call->nargs > 1, ret_n, err);
    if (ok)
        return run_finish(run, RUN_COMPLETE, NULL, err);
    run_abandon(run);
    return false;
}

static int state_import_main(const struct cli_call *call, struct wr_err *err)
{
    const struct import_opts *o = call->opts;
    size_t n = 0;

    if (!state_import_table(call, &n, err))
        return cli_error(err);
    if (o->json)
        cli_json_print(call->out, json_pack("{s:I, s:o}", "probes", (json_int_t)n, "run",
                                            cli_json_string(o->out)));
    else
        fprintf(call->out, "%zu probes in %s; look at them with `weir report %s -o state.html`\n",
                n, o->out, o->out);
    return 0;
}

const struct cli_verb cli_state_import = {
    .name = "import",
    .summary = "make a run file of tables of probes",
    .args = "DATA.csv...",
    .min_args = 1,
    .max_args = -1,
    .about = "Reports and the viewer show run files: density, states over time, stays and forecast "
             "of each path. `weir state probe --run` writes one as it goes; this makes one of "
             "tables that were measured before or elsewhere, or that go on after a gap.",
    .examples = "weir state import probes.csv -o probes.weir\n"
                "weir report probes.weir -o state.html\n",
    .opts = import_rows,
    .opts_size = sizeof(struct import_opts),
    .main = state_import_main,
};
