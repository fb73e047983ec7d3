/* cmd_state.c -- `weir state`: the state of a storage path; the verbs are in cmd_state_*.c. */
#include <string.h>

#include "base/units.h"
#include "cli/state_opts.h"

bool state_seconds(double *ret_s, const char *name, const char *text, struct wr_err *err)
{
    double ps;

    if (!wr_parse_time(&ps, text, err))
        return wr_wrap(err, "--%s", name);
    *ret_s = ps / 1e12;
    return true;
}

bool state_rows_choice(struct state_choice *ret, const struct state_rows_opts *o,
                       struct wr_err *err)
{
    struct state_choice c = {.op = o->op, .target = o->target, .any_size = o->any_size};

    if (o->bytes && !wr_parse_bytes(&c.bytes, o->bytes, err))
        return wr_wrap(err, "--bytes");
    if (o->from && !state_seconds(&c.from_s, "from", o->from, err))
        return false;
    if (o->to && !state_seconds(&c.to_s, "to", o->to, err))
        return false;
    if (o->from && !o->to)
        c.to_s = 1e300;
    if (o->to && c.to_s <= c.from_s)
        return wr_fail(err, WR_INPUT, "--to is not after --from; leave a time between them");
    *ret = c;
    return true;
}

static const struct cli_verb *const subs[] = {&cli_state_probe,
                                              &cli_state_import,
                                              &cli_state_describe,
                                              &cli_state_fit,
                                              &cli_state_loglik,
                                              &cli_state_simulate,
                                              &cli_state_validate,
                                              &cli_state_forecast,
                                              &cli_state_policy,
                                              &cli_state_watch,
                                              NULL};

const struct cli_verb cli_cmd_state = {
    .name = "state",
    .summary = "probe a storage path, model its latency, forecast it",
    .about =
        "Probes write and read a megabyte now and then and keep the latencies. A "
        "continuous-time hidden Markov model is fitted to them: the path is idle, in "
        "transition or busy, stays so for exponential times, and each state spreads latencies "
        "in its own way. The model predicts in which state the path is, what latency to expect "
        "and when to write.",
    .subs = subs,
};
