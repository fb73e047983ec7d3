/* cmd_state_policy.c -- `weir state policy`: what write-when-idle saves on a simulated path.
 *
 * state/policy_trial.h simulates; the verb reads the model and prints the table.
 */
#include <math.h>

#include "base/units.h"
#include "cli/cli_table.h"
#include "cli/state_opts.h"
#include "state/model/model.h"
#include "state/policy_trial.h"

struct policy_opts {
    const char *size, *period, *interval, *length;
    uint64_t seed;
    bool known, csv, json;
};

static const struct cli_opt policy_rows[] = {
    {.name = "size",
     .type = CLI_TEXT,
     .offset = offsetof(struct policy_opts, size),
     .value = "SIZE",
     .def = "2GiB",
     .help = "how much a write has, in requests of the probes' size"},
    {.name = "period",
     .type = CLI_TEXT,
     .offset = offsetof(struct policy_opts, period),
     .value = "TIME",
     .def = "1h",
     .help = "one write in each such time"},
    {.name = "interval",
     .letter = 'i',
     .type = CLI_TEXT,
     .offset = offsetof(struct policy_opts, interval),
     .value = "TIME",
     .def = "60s",
     .help = "time from one probe to the next; after each a write may begin"},
    {.name = "for",
     .type = CLI_TEXT,
     .offset = offsetof(struct policy_opts, length),
     .value = "TIME",
     .def = "720h",
     .help = "how long is simulated"},
    {.name = "known",
     .type = CLI_FLAG,
     .offset = offsetof(struct policy_opts, known),
     .help = "begin with the model; without it the library learns from the probes alone"},
    {.name = "seed",
     .type = CLI_U64,
     .offset = offsetof(struct policy_opts, seed),
     .value = "N",
     .def = "1",
     .help = "seed of the path and of the latencies"},
    CLI_CSV(struct policy_opts, csv),
    CLI_JSON(struct policy_opts, json),
    CLI_OPT_END,
};

static bool policy_parse(struct state_trial_how *ret, const struct policy_opts *o,
                         const struct state_probed *probed, struct wr_err *err)
{
    double for_s;
    uint64_t size;

    if (!state_seconds(&ret->period_s, "period", o->period, err) ||
        !state_seconds(&ret->step_s, "interval", o->interval, err) ||
        !state_seconds(&for_s, "for", o->length, err))
        return false;
    if (!wr_parse_bytes(&size, o->size, err))
        return wr_wrap(err, "--size");
    if (!(ret->step_s > 0) || !(ret->period_s >= 2 * ret->step_s) ||
        !(for_s >= 2 * ret->period_s) || !(for_s / ret->step_s <= 1e7))
        return wr_fail(err, WR_INPUT,
                       "--for %s is to hold two or more periods of two or more intervals, and at "
                       "most ten million intervals; change --for, --period or --interval",
                       o->length);
    ret->probes = (double)size / (double)(probed->bytes ? probed->bytes : 1 << 20);
    if (!(ret->probes >= 1))
        return wr_fail(err, WR_INPUT, "--size %s is less than a probe; give at least %s", o->size,
                       wr_text_bytes(probed->bytes ? probed->bytes : 1 << 20).s);
    ret->periods = (uint32_t)(for_s / ret->period_s);
    ret->seed = o->seed;
    ret->known = o->known;
    return true;
}

static void policy_print(const struct cli_call *call, enum cli_format format,
                         const struct state_trial *t)
{
    static const struct cli_column columns[] = {
        {"policy", NULL},         {"mean_s", "mean s"},     {"p90_s", "p90 s"},
        {"waited_s", "waited s"}, {"regret_s", "regret s"}, {"low_s", "95 % from"},
        {"high_s", "to"},         {"relative", "x oracle"},
    };
    struct cli_table *table = cli_table_open(call->out, format, columns, 8);
    double scale = format == CLI_AS_TEXT ? 1000 : 1e12;

    for (int p = 0; p < STATE_POLICIES; p++) {
        const struct state_trial_policy *x = &t->policy[p];

        cli_table_text(table, state_policy_names[p]);
        cli_table_real(table, cli_round(x->mean_s, scale));
        cli_table_real(table, cli_round(x->p90_s, scale));
        cli_table_real(table, cli_round(x->waited_s, scale));
        cli_table_real(table, cli_round(x->regret.mid, scale) + 0.0);
        cli_table_real(table, cli_round(x->regret.low, scale) + 0.0);
        cli_table_real(table, cli_round(x->regret.high, scale) + 0.0);
        cli_table_real(table, cli_round(x->mean_s / t->policy[STATE_ORACLE].mean_s, scale));
    }
    cli_table_close(table);
}

static int policy_main(const struct cli_call *call, struct wr_err *err)
{
    const struct policy_opts *o = call->opts;
    struct state_trial_how how;
    struct state_probed probed;
    struct state_trial trial;
    struct hmm_model m;
    enum cli_format format;

    if (!cli_format_of(o->json, o->csv, &format, err) ||
        !state_model_read_probed(&m, &probed, call->args[0], err) ||
        !policy_parse(&how, o, &probed, err) || !state_policy_try(&trial, &m, &how, err))
        return cli_error(err);
    policy_print(call, format, &trial);
    if (format == CLI_AS_TEXT && isnan(trial.saved))
        fprintf(call->out, "\n%u writes; when they are made makes no difference on this path\n",
                how.periods);
    else if (format == CLI_AS_TEXT)
        fprintf(call->out,
                "\n%u writes; waiting until the path is idle saves %.0f %% of what always writing "
                "at once loses against the oracle\n",
                how.periods, 100 * trial.saved);
    if (!probed.bytes)
        fputs("weir: the model does not say the size of its probes; 1 MiB is assumed\n", stderr);
    return 0;
}

const struct cli_verb cli_state_policy = {
    .name = "policy",
    .summary = "show what writing when the path is idle saves, on a simulated path",
    .args = "MODEL.json",
    .min_args = 1,
    .max_args = 1,
    .input = 1,
    .about =
        "Simulates the hidden path of a model, as a storage device of kind `state` follows it, and "
        "an application that writes once in each period. `always` writes when the period begins; "
        "`when idle` asks libweir-state after every probe, waits while a write now is "
        "expected to cost more than a later one (in the idle state, if that is reached in time; "
        "else at the end of the period), and writes at its last chance; "
        "`oracle` writes at the cheapest chance. A write takes as long as its requests of the "
        "probes' size do on average in the states that they meet.\n\n"
        "Regret is the mean cost of a write less the oracle's, with the interval of 95 % over "
        "periods.",
    .examples = "weir state policy titan.json\n"
                "weir state policy path.json --period 30min --interval 10s\n"
                "weir state policy titan.json --size 20GiB --period 4h --known --json\n",
    .opts = policy_rows,
    .opts_size = sizeof(struct policy_opts),
    .main = policy_main,
};
