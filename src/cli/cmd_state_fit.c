/* cmd_state_fit.c -- `weir state fit` and `weir state loglik`: hidden Markov models of series.
 *
 * state/estimate.h fits each path with 1 to N states; the verb chooses, prints and writes models.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/signals.h"
#include "cli/cli_table.h"
#include "cli/state_opts.h"
#include "cli/state_print.h"
#include "report/report.h"
#include "state/estimate.h"
#include "state/model/model.h"
#include "state/scaling.h"

struct fit_opts {
    struct state_rows_opts rows;
    const char *states, *rounding, *day_offset, *out, *path;
    uint32_t emission, initial, choose, starts, day_parts;
    uint64_t seed;
    bool json, profile, per_target, force;
};

static const char *const emission_names[] = {"lognormal", "weibull", "mixture", NULL};
static const char *const initial_names[] = {"uniform", "estimated", NULL};
static const char *const choose_names[] = {"bic", "held-out", NULL};

static const struct cli_opt fit_rows[] = {
    {.name = "states",
     .letter = 'k',
     .type = CLI_TEXT,
     .offset = offsetof(struct fit_opts, states),
     .value = "N",
     .def = "3",
     .help = "how many states, or 1-N: the best number up to N"},
    {.name = "choose",
     .type = CLI_CHOICE,
     .offset = offsetof(struct fit_opts, choose),
     .value = "HOW",
     .def = "bic",
     .help = "what decides the number of states",
     .names = choose_names},
    {.name = "emission",
     .type = CLI_CHOICE,
     .offset = offsetof(struct fit_opts, emission),
     .value = "NAME",
     .def = "lognormal",
     .help = "how latencies are spread within a state",
     .names = emission_names},
    {.name = "rounding",
     .type = CLI_TEXT,
     .offset = offsetof(struct fit_opts, rounding),
     .value = "STEP",
     .def = "0",
     .help = "latencies are rounded to multiples of this: a time, 0 for exact, or auto"},
    {.name = "day-parts",
     .type = CLI_U32,
     .offset = offsetof(struct fit_opts, day_parts),
     .value = "N",
     .def = "1",
     .help = "cut the day into N equal parts with rates of their own"},
    {.name = "day-offset",
     .type = CLI_TEXT,
     .offset = offsetof(struct fit_opts, day_offset),
     .value = "TIME",
     .def = "0",
     .help = "the time of day at which the series has t = 0"},
    {.name = "initial",
     .type = CLI_CHOICE,
     .offset = offsetof(struct fit_opts, initial),
     .value = "HOW",
     .def = "uniform",
     .help = "the state of a series before its first observation",
     .names = initial_names},
    {.name = "starts",
     .type = CLI_U32,
     .offset = offsetof(struct fit_opts, starts),
     .value = "N",
     .def = "24",
     .help = "begin the climb at N places, and at twice as many that grow from the fit with one "
             "state less"},
    {.name = "seed",
     .type = CLI_U64,
     .offset = offsetof(struct fit_opts, seed),
     .value = "N",
     .def = "1",
     .help = "seed of the random starts"},
    {.name = "profile",
     .type = CLI_FLAG,
     .offset = offsetof(struct fit_opts, profile),
     .help = "95 % profile-likelihood intervals of all parameters, which takes longer"},
    {.name = "per-target",
     .type = CLI_FLAG,
     .offset = offsetof(struct fit_opts, per_target),
     .help = "one model for each target and file instead of one for all"},
    {.name = "path",
     .type = CLI_TEXT,
     .offset = offsetof(struct fit_opts, path),
     .value = "OUT.csv",
     .help = "write the most probable states, the smoothed and the filtered probabilities"},
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct fit_opts, out),
     .value = "MODEL.json",
     .help = "write the model there; `weir state forecast` and others read it"},
    CLI_FORCE(struct fit_opts, force),
    STATE_ROWS(struct fit_opts, rows),
    CLI_JSON(struct fit_opts, json),
    CLI_OPT_END,
};

/* "3" or "1-5". */
static bool state_fit_parse_states(const char *text, int *ret_most, bool *ret_choose,
                                   struct wr_err *err)
{
    char *end;
    long from = strtol(text, &end, 10), to = from;
    bool range = *end == '-';

    if (end != text && range)
        to = strtol(end + 1, &end, 10);
    if (end == text || *end || from < 1 || to > HMM_STATES || to < from || (range && from != 1))
        return wr_fail(err, WR_INPUT,
                       "--states %s: give a number from 1 to %d, or a range such as "
                       "1-5",
                       text, HMM_STATES);
    *ret_most = (int)to;
    *ret_choose = range;
    return true;
}

static bool state_fit_parse_rounding(double *ret, const char *text, const struct state_series *s,
                                     size_t n, struct wr_err *err)
{
    if (strcmp(text, "auto") != 0)
        return state_seconds(ret, "rounding", text, err);
    *ret = 0;
    for (size_t i = 0; i < n; i++) {
        double r = state_rounding(s[i].latency, s[i].n);

        *ret = i == 0 || r < *ret ? r : *ret;
    }
    return true;
}

static bool state_fit_interrupted(void *arg)
{
    (void)arg;
    return wr_interrupted();
}

/* The number of states that the chosen score prefers. */
static int state_fit_best_of(const struct state_estimate *e, int most, bool held_out)
{
    int best = 1;

    for (int k = 2; k <= most; k++) {
        const struct state_estimate *a = &e[k - 1], *b = &e[best - 1];

        if (held_out ? a->held_out > b->held_out : a->bic < b->bic)
            best = k;
    }
    return best;
}

/* Which columns come first depends on what was fitted. */
static const struct wr_format fit_states = {.name = "a table of states",
                                            .endings = ".csv",
                                            .begins = "",
                                            .holds = "t_seconds,viterbi,gamma0,"};

static bool state_fit_write_path(const char *path, const struct state_series *s, size_t n,
                                 const struct state_estimate *e,
                                 const struct state_estimate_opts *o, unsigned flags,
                                 struct wr_err *err)
{
    struct wr_str text = {0};
    FILE *f = open_memstream(&text.s, &text.n);

    if (!f)
        return wr_fail_errno(err, "not enough memory for the path; choose less with --from");
    bool ok = state_print_path(f, s, n, &e->fit.model, o->rounding_s, err);

    if (fclose(f) && ok)
        ok = wr_fail_errno(err, "not enough memory for the path; choose less with --from");
    ok = ok && wr_output_text(path, &fit_states, flags, &text, err);
    wr_str_fini(&text);
    return ok;
}

/* One model, or with --per-target a list of them. */
static const struct wr_format fit_model = {
    .name = "a model", .endings = ".json", .begins = "{\n \"states\": ", .holds = "\"emission\": "};
static const struct wr_format fit_models = {.name = "a list of models",
                                            .endings = ".json",
                                            .begins = "[\n {\n  \"states\": ",
                                            .holds = "\"emission\": "};

static bool state_fit_write_model(const char *path, const struct wr_format *f, unsigned flags,
                                  const json_t *model, struct wr_err *err)
{
    struct wr_str text = {0};
    char *dump = json_dumps(model, JSON_INDENT(1));

    wr_str_addf(&text, "%s\n", dump ? dump : "");
    bool ok = wr_output_text(path, f, flags, &text, err);

    free(dump);
    wr_str_fini(&text);
    return ok;
}

/* Fits one set of series. `ret_json` is new. */
static bool state_fit_one(const struct cli_call *call, const struct state_series *s, size_t n,
                          const struct state_probed *probed, json_t **ret_json, struct wr_err *err)
{
    const struct fit_opts *o = call->opts;
    struct state_estimate_opts eo = {.family = (enum hmm_family)o->emission,
                                     .initial = (enum hmm_initial)o->initial,
                                     .nblocks = (int)o->day_parts,
                                     .starts = (int)o->starts,
                                     .seed = o->seed,
                                     .errors = true,
                                     .profiles = o->profile,
                                     .stop = state_fit_interrupted};
    bool choose;

    if (!state_fit_parse_states(o->states, &eo.k, &choose, err) ||
        !state_fit_parse_rounding(&eo.rounding_s, o->rounding, s, n, err) ||
        !state_seconds(&eo.day_offset_s, "day-offset", o->day_offset, err))
        return false;
    if (o->day_parts < 1 || o->day_parts > HMM_BLOCKS)
        return wr_fail(err, WR_INPUT, "--day-parts %u: give a number from 1 to %d", o->day_parts,
                       HMM_BLOCKS);
    struct state_estimate *e = wr_zalloc((size_t)eo.k, sizeof *e);
    bool ok = state_estimate(e, s, n, &eo, err);
    int tried = eo.k;

    if (ok && choose) {
        ok = state_held_out(e, s, n, &eo, err);
        eo.k = state_fit_best_of(e, tried, o->choose == 1);
        if (ok && eo.k < tried) { /* again, for its standard errors */
            struct state_estimate was = e[eo.k - 1];

            ok = state_estimate(e, s, n, &eo, err);
            e[eo.k - 1].held_out = was.held_out;
        }
    }
    if (ok && o->path && !wr_interrupted())
        ok = state_fit_write_path(o->path, s, n, &e[eo.k - 1], &eo, o->force ? WR_FORCE : 0, err);
    if (ok) {
        *ret_json = state_estimate_json(&e[eo.k - 1], s, n, eo.rounding_s);
        state_probed_json(*ret_json, probed);
        if (choose)
            json_object_set_new(*ret_json, "numbers_of_states", state_numbers_json(e, tried));
        if (!o->json)
            state_estimate_print(call->out, &e[eo.k - 1], e, choose ? tried : 0, s, n);
    }
    free(e);
    return ok;
}

static bool state_fit_all(const struct cli_call *call, const struct state_series *s, size_t n,
                          const struct state_probed *probed, struct wr_err *err)
{
    const struct fit_opts *o = call->opts;
    json_t *all = o->per_target ? json_array() : NULL;
    unsigned flags = o->force ? WR_FORCE : 0;
    bool ok =
        !o->out || wr_output_check(o->out, o->per_target ? &fit_models : &fit_model, flags, err);

    ok = ok && (!o->path || wr_output_check(o->path, &fit_states, flags, err));
    for (size_t i = 0; ok && i < (o->per_target ? n : 1); i++) {
        json_t *one;

        ok = state_fit_one(call, s + i, o->per_target ? 1 : n, probed, &one, err) &&
             !wr_interrupted();
        if (ok && all)
            json_array_append_new(all, one);
        else if (ok)
            all = one;
        if (ok && o->per_target && !o->json)
            fputc('\n', call->out);
    }
    if (wr_interrupted())
        wr_fail(err, WR_INTERRUPTED, "interrupted before the fit was done; nothing was written");
    else if (ok && o->out)
        ok = state_fit_write_model(o->out, o->per_target ? &fit_models : &fit_model, flags, all,
                                   err);
    if (ok && o->json) {
        json_dumpf(all, call->out, JSON_INDENT(1));
        fputc('\n', call->out);
    }
    if (all)
        json_decref(all);
    return ok && !err->code;
}

static int state_fit_main(const struct cli_call *call, struct wr_err *err)
{
    const struct fit_opts *o = call->opts;
    struct state_choice choice;
    struct state_probed probed;
    struct state_series *s;
    size_t n;

    if (!state_rows_choice(&choice, &o->rows, err) ||
        !state_load(&s, &n, call->args, (size_t)call->nargs, &choice, err))
        return cli_error(err);
    if (!state_scaling(&probed, call->args, (size_t)call->nargs, &choice, err)) {
        state_series_free(s, n);
        return cli_error(err);
    }
    if (o->path && o->per_target && n > 1) {
        state_series_free(s, n);
        wr_fail(err, WR_INPUT,
                "--path holds the states of one model; choose a target with --target, or leave out "
                "--per-target");
        return cli_error(err);
    }
    wr_interrupt_catch();
    bool ok = state_fit_all(call, s, n, &probed, err);

    wr_interrupt_release();
    state_series_free(s, n);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_state_fit = {
    .name = "fit",
    .summary = "fit a hidden Markov model to measured latencies",
    .args = "DATA.csv...",
    .min_args = 1,
    .max_args = -1,
    .about =
        "Reads tables of probes (t_seconds,op,bytes,latency_seconds) and finds the model that "
        "makes them most likely. Steps may differ, gaps are steps like others; several files or "
        "targets are taken as independent series of one model unless --per-target is given.\n\n"
        "Rates are kept between 1e-6 per length of the series and 20 per median step, spreads "
        "between 0.001 and 10. What rests on a bound is marked: its value means nothing.\n\n"
        "Latencies that were rounded let a state shrink onto one value. With --rounding the "
        "model knows that each latency stands for an interval.\n\n"
        "The model says which probes it was learned from. Where the tables hold probes of other "
        "sizes, too (with --bytes, one of them is fitted), it also says which part of a latency "
        "does not depend on the size, from the line through the medians of all sizes: devices of "
        "simulations need it.",
    .examples = "weir state fit probes.csv --op write\n"
                "weir state fit probes.csv --op write --states 1-5 --json\n"
                "weir state fit monday.csv tuesday.csv --op read --day-parts 4 -o model.json\n",
    .opts = fit_rows,
    .opts_size = sizeof(struct fit_opts),
    .main = state_fit_main,
};

/* ---- loglik ---- */

struct loglik_opts {
    struct state_rows_opts rows;
    const char *model, *rounding;
    uint32_t initial;
    bool json;
};

static const char *const loglik_initial_names[] = {"model", "uniform", "stationary", NULL};

static const struct cli_opt loglik_rows[] = {
    {.name = "model",
     .letter = 'm',
     .type = CLI_TEXT,
     .offset = offsetof(struct loglik_opts, model),
     .value = "MODEL.json",
     .help = "the model, as `weir state fit -o` writes it"},
    {.name = "initial",
     .type = CLI_CHOICE,
     .offset = offsetof(struct loglik_opts, initial),
     .value = "HOW",
     .def = "model",
     .help = "the state of a series before its first observation",
     .names = loglik_initial_names},
    {.name = "rounding",
     .type = CLI_TEXT,
     .offset = offsetof(struct loglik_opts, rounding),
     .value = "STEP",
     .def = "0",
     .help = "latencies are rounded to multiples of this: a time, 0 for exact, or auto"},
    STATE_ROWS(struct loglik_opts, rows),
    CLI_JSON(struct loglik_opts, json),
    CLI_OPT_END,
};

static void state_fit_set_initial(struct hmm_model *m, uint32_t how)
{
    if (how == 2)
        hmm_stationary(m->initial, m, 0);
    for (int i = 0; how == 1 && i < m->k; i++)
        m->initial[i] = 1.0 / m->k;
}

static bool state_fit_print_loglik(const struct cli_call *call, const struct state_series *s,
                                   size_t n, const struct hmm_model *m, struct wr_err *err)
{
    const struct loglik_opts *o = call->opts;
    double rounding, loglik;
    size_t seen = 0;

    if (!state_fit_parse_rounding(&rounding, o->rounding, s, n, err) ||
        !state_loglik(&loglik, s, n, m, rounding, err))
        return false;
    for (size_t i = 0; i < n; i++)
        seen += s[i].n;
    if (o->json) {
        json_t *all =
            json_pack("{so, sI, so}", "loglik", state_json_real(loglik), "observations",
                      (json_int_t)seen, "per_observation", state_json_real(loglik / (double)seen));

        json_dumpf(all, call->out, JSON_INDENT(1));
        fputc('\n', call->out);
        json_decref(all);
    } else {
        fprintf(call->out, "log-likelihood %.9g of %zu observations, %.6g each\n", loglik, seen,
                loglik / (double)seen);
    }
    return true;
}

static int state_fit_loglik_main(const struct cli_call *call, struct wr_err *err)
{
    const struct loglik_opts *o = call->opts;
    struct state_choice choice;
    struct state_series *s;
    struct hmm_model m;
    size_t n;

    if (!o->model) {
        wr_fail(err, WR_INPUT, "no model; name one with --model, as `weir state fit -o` writes it");
        return cli_error(err);
    }
    if (!state_rows_choice(&choice, &o->rows, err) || !state_model_read(&m, o->model, err) ||
        !state_load(&s, &n, call->args, (size_t)call->nargs, &choice, err))
        return cli_error(err);
    state_fit_set_initial(&m, o->initial);
    bool ok = state_fit_print_loglik(call, s, n, &m, err);

    state_series_free(s, n);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_state_loglik = {
    .name = "loglik",
    .summary = "evaluate a model's likelihood on measured latencies",
    .args = "DATA.csv...",
    .min_args = 1,
    .max_args = -1,
    .about = "Prints the natural logarithm of the density that the model gives to the latencies, "
             "in seconds. Higher is better; the difference of two models on the same data counts.",
    .examples = "weir state loglik tuesday.csv --op write --model monday.json\n",
    .opts = loglik_rows,
    .opts_size = sizeof(struct loglik_opts),
    .main = state_fit_loglik_main,
};
