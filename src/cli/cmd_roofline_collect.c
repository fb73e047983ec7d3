/* cmd_roofline_collect.c -- `weir roofline collect`: measures a service with real RPCs
 * (rpc/collect.h).
 *
 * Writes peaks and points to a run file, from which `weir roofline model` reads its parameters.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/note.h"
#include "base/self.h"
#include "base/signals.h"
#include "base/units.h"
#include "cli/cli_table.h"
#include "cli/cmd_roofline.h"
#include "rpc/collect.h"
#include "rpc/service.h"

struct collect_opts {
    const char *out, *service;
    struct cli_list sets;
    bool force, json;
};

static const struct cli_opt collect_rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct collect_opts, out),
     .value = "FILE",
     .def = "roofline.weir",
     .help = "write the run file there"},
    {.name = "service",
     .type = CLI_TEXT,
     .offset = offsetof(struct collect_opts, service),
     .value = "FILE",
     .help = "write the service to this file, for `storage: {service: FILE}` of simulations"},
    {.name = "force",
     .letter = 'f',
     .type = CLI_FLAG,
     .offset = offsetof(struct collect_opts, force),
     .help = "replace a run file or service that is there already"},
    {.name = "set",
     .type = CLI_LIST,
     .offset = offsetof(struct collect_opts, sets),
     .value = "KEY=VALUE",
     .help = "override one value of the specification, as in --set clients=8; may be given several "
             "times"},
    CLI_JSON(struct collect_opts, json),
    CLI_OPT_END,
};

static const struct cli_column columns[] = {
    {"case", NULL},
    {"clients", NULL},
    {"depth", NULL},
    {"rate", "calls/s"},
    {"bandwidth_mib_s", "MiB/s"},
    {"p50_us", "p50, us"},
    {"p99_us", "p99, us"},
    {"p9999_us", "p99.99, us"},
    {"of_limit_percent", "of limit, %"},
    {"client_cpu", "CPU, clients"},
    {"server_cpu", "servers"},
    {"foreign_cpu", "others"},
    {"faults", NULL},
};

static void collect_add_case(struct cli_table *t, const struct rpc_collected *c,
                             const struct rpc_spec *s, uint32_t which)
{
    const struct rpc_case *k = (const struct rpc_case *)s->cases.items + which;
    const struct wr_hist *h = &c->latency_ps[which];
    double n = 0, sum[6] = {0}, faults = 0;
    uint32_t clients = 0;

    for (size_t i = 0; i < c->window.n; i++) {
        const struct rpc_window *w = &c->window.v[i];

        if (w->of != which)
            continue;
        const double v[] = {w->rate,       w->bps,        rpc_of_limit(c, s, k, w),
                            w->client_cpu, w->server_cpu, w->foreign};

        for (int j = 0; j < 6; j++)
            sum[j] += v[j];
        faults += (double)(w->failed + w->bad_data + w->unanswered);
        clients = w->clients;
        n++;
    }
    if (n == 0)
        return;
    cli_table_text(t, k->name);
    cli_table_int(t, clients);
    cli_table_int(t, k->depth);
    cli_table_real(t, cli_round_digits(sum[0] / n, 4));
    cli_table_real(t, k->op == RPC_OP_NOOP ? NAN : cli_round_digits(sum[1] / n / (1 << 20), 4));
    cli_table_real(t, cli_round_digits(wr_hist_quantile(h, 0.5) / 1e6, 3));
    cli_table_real(t, cli_round_digits(wr_hist_quantile(h, 0.99) / 1e6, 3));
    cli_table_real(t, cli_round_digits(wr_hist_quantile(h, 0.9999) / 1e6, 3));
    cli_table_real(t, cli_round_digits(sum[2] / n, 3));
    cli_table_real(t, cli_round_digits(sum[3] / n, 2));
    cli_table_real(t, cli_round_digits(sum[4] / n, 2));
    cli_table_real(t, cli_round_digits(sum[5] / n, 2));
    cli_table_int(t, (int64_t)faults);
}

/* What is moved from memory that fits the cache may be faster than data of an application. */
static void collect_warn_cache(FILE *out, const struct rpc_spec *s)
{
    const struct rpc_case *k = s->cases.items;
    uint64_t cache = rpc_cache_b(), most = 0;

    for (size_t i = 0; i < s->cases.n; i++)
        if (!strcmp(rpc_case_metric(&k[i]), "bw") && k[i].size_b > most)
            most = k[i].size_b;
    if (most && RPC_SOURCES * most < cache)
        fprintf(
            out,
            "\nwhat is got comes from %s of a server's memory, which fit the last-level cache of "
            "%s; give larger sizes to measure memory too\n",
            wr_text_bytes(RPC_SOURCES * most).s, wr_text_bytes(cache).s);
}

static void collect_print_cases(const struct cli_call *call, const struct rpc_collected *c,
                                const struct rpc_spec *s)
{
    const struct collect_opts *o = call->opts;
    struct cli_table *t = cli_table_open(call->out, o->json ? CLI_AS_JSON : CLI_AS_TEXT, columns,
                                         sizeof columns / sizeof *columns);
    size_t disturbed = 0;

    for (uint32_t i = 0; i < s->cases.n; i++)
        collect_add_case(t, c, s, i);
    cli_table_close(t);
    for (size_t i = 0; i < c->window.n; i++)
        disturbed += rpc_window_disturbed(&c->window.v[i]);
    if (o->json)
        return;
    if (disturbed)
        fprintf(call->out,
                "\n%zu of %zu windows were disturbed by others, and measuring them again "
                "(`repeats`) did "
                "not help; measure on an idle machine\n",
                disturbed, c->window.n);
    collect_warn_cache(call->out, s);
    if (strcmp(c->waits, rpc_wait_names[s->wait]) != 0)
        fprintf(call->out, "\nthe transport cannot sleep: servers wait by \"%s\"\n", c->waits);
    for (size_t i = 0; i < c->trouble.n; i++)
        fprintf(call->out, "%s\n", c->trouble.v[i]);
    fprintf(call->out, "\nrun file: %s; go on with `weir roofline model %s`\n", o->out, o->out);
}

static void collect_print_progress(void *ctx, const char *what)
{
    (void)ctx;
    wr_note("%s", what);
}

static bool collect_write_run(struct run *run, const struct rpc_collected *c,
                              const struct rpc_spec *s, struct wr_err *err)
{
    enum run_status status = RUN_COMPLETE;
    const char *reason = NULL;

    if (c->interrupted) {
        status = RUN_INCOMPLETE;
        reason = "interrupted";
    } else if (c->trouble.n) {
        status = RUN_INCOMPLETE;
        reason = c->trouble.v[0];
    }
    bool ok = rpc_collected_put(run, c, s, err);
    struct wr_err ending = {0};

    if (!run_finish(run, ok ? status : RUN_FAILED, ok ? reason : "could not be written",
                    ok ? err : &ending))
        return false;
    return ok;
}

static bool collect_write_service(const struct collect_opts *o, const struct rpc_collected *c,
                                  const struct rpc_spec *s, struct wr_err *err)
{
    struct wr_str text = {0};
    bool ok = rpc_service_text(&text, c, s, err) &&
              wr_output_text(o->service, &rpc_service_format, o->force ? WR_FORCE : 0, &text, err);

    wr_str_fini(&text);
    return ok;
}

static bool collect_run_cases(const struct cli_call *call, struct rpc_spec *s,
                              const struct conf *conf, struct wr_err *err)
{
    const struct collect_opts *o = call->opts;
    char program[WR_SELF_PATH];
    struct rpc_collect_opts how = {
        .program = program, .stop = wr_interrupted, .progress = collect_print_progress};
    struct rpc_collected c;
    struct run *run;

    if (o->service &&
        !wr_output_check(o->service, &rpc_service_format, o->force ? WR_FORCE : 0, err))
        return false;
    if (!wr_self_path(program, err) ||
        !roofline_run_create(&run, call, o->out, o->force, true, s->seed, conf, err))
        return false;
    wr_interrupt_catch();
    if (!rpc_collect(&c, s, &how, err)) {
        run_abandon(run); /* it never began */
        return false;
    }
    bool ok = collect_write_run(run, &c, s, err);

    if (ok)
        collect_print_cases(call, &c, s);
    if (ok && o->service)
        ok = collect_write_service(o, &c, s, err);
    if (ok && c.interrupted)
        ok = wr_fail(err, WR_INTERRUPTED, "interrupted; what was measured is in %s", o->out);
    else if (ok && c.trouble.n)
        ok = wr_fail(err, WR_SYSTEM, "%s; the rest is in %s", c.trouble.v[0], o->out);
    rpc_collected_fini(&c, s);
    return ok;
}

static int collect_main(const struct cli_call *call, struct wr_err *err)
{
    const struct collect_opts *o = call->opts;
    struct rpc_spec s = {0};
    struct conf *conf;

    if (!conf_load(&conf, &s, rpc_spec_rows, call->nargs ? call->args[0] : NULL, o->sets.v,
                   o->sets.n, err))
        return cli_error(err);
    bool ok = rpc_spec_check(&s, conf, call->arena, err) && collect_run_cases(call, &s, conf, err);

    conf_close(conf);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_roofline_collect = {
    .name = "collect",
    .summary = "measure what servers and clients reach, with real RPCs",
    .args = "[SPEC.yaml]",
    .max_args = 1,
    .input = 1,
    .about =
        "Starts servers and clients (or with `attach:` only clients, of servers that run already), "
        "lets them work through all cases, and writes a run file with "
        "the parameters of the model. Without a specification one server and four clients on this "
        "machine run the standard cases over shared memory. Processes say when they are ready, "
        "begin together, and are measured in one common window after a warm-up. One that dies or "
        "hangs is reported, and the rest is kept; none is left behind.\n"
        "\n"
        "Every result is also printed in percent of what the machine can do at most: round trips "
        "of a "
        "cache line or of a byte over TCP, and memcpy, probed before and after. Windows in which "
        "others used more than a tenth of a processor, or a tenth of the calls is missing from "
        "some sub-windows, are measured again, and marked if that does not help. "
        "docs/models/roofline.md "
        "describes cases and keys.\n"
        "\n"
        "With --service the measured service is left in a file that simulations put between "
        "requests and devices: storage: {kind: compute-bb, service: FILE}.",
    .examples = "weir roofline collect -o here.weir\n"
                "weir roofline collect spec.yaml --set clients=8 --service here.yaml\n"
                "weir roofline model here.weir\n",
    .opts = collect_rows,
    .opts_size = sizeof(struct collect_opts),
    .main = collect_main,
};
