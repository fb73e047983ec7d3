/* cmd_state_model.c -- `weir state simulate`, `validate` and `forecast`: what a model is good for.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/cli_table.h"
#include "cli/state_opts.h"
#include "cli/state_print.h"
#include "stat/sample.h"
#include "state/lib/forecast.h"
#include "state/model/model.h"
#include "state/model/simulate.h"
#include "state/validate.h"

/* ---- simulate ---- */

struct simulate_opts {
    const char *interval, *length, *op, *bytes;
    uint32_t series;
    uint64_t seed;
    bool states, json, csv;
};

static const struct cli_opt simulate_rows[] = {
    {.name = "for",
     .type = CLI_TEXT,
     .offset = offsetof(struct simulate_opts, length),
     .value = "TIME",
     .def = "24h",
     .help = "how long the series is"},
    {.name = "interval",
     .letter = 'i',
     .type = CLI_TEXT,
     .offset = offsetof(struct simulate_opts, interval),
     .value = "TIME",
     .def = "60s",
     .help = "time from one probe to the next"},
    {.name = "series",
     .type = CLI_U32,
     .offset = offsetof(struct simulate_opts, series),
     .value = "N",
     .def = "1",
     .help = "so many independent series, distinguished by a column target"},
    {.name = "op",
     .type = CLI_TEXT,
     .offset = offsetof(struct simulate_opts, op),
     .value = "OP",
     .def = "write",
     .help = "what to call the operation"},
    {.name = "bytes",
     .type = CLI_TEXT,
     .offset = offsetof(struct simulate_opts, bytes),
     .value = "SIZE",
     .def = "1MiB",
     .help = "what to call its size"},
    {.name = "with-states",
     .former = "states",
     .type = CLI_FLAG,
     .offset = offsetof(struct simulate_opts, states),
     .help = "a last column with the hidden state"},
    {.name = "seed",
     .type = CLI_U64,
     .offset = offsetof(struct simulate_opts, seed),
     .value = "N",
     .def = "1",
     .help = "seed of the draws"},
    {.name = "json",
     .type = CLI_FLAG,
     .offset = offsetof(struct simulate_opts, json),
     .help = "print JSON instead of CSV"},
    {.name = "csv",
     .type = CLI_FLAG,
     .offset = offsetof(struct simulate_opts, csv),
     .help = "print CSV, as without it"},
    CLI_OPT_END,
};

/* The columns of a table of probes; the last two may be missing. */
enum { DRAWN_COLUMNS = 6 };

static struct cli_table *state_model_open_drawn(const struct cli_call *call)
{
    const struct simulate_opts *o = call->opts;
    struct cli_column columns[DRAWN_COLUMNS] = {
        {"t_seconds", NULL}, {"op", NULL}, {"bytes", NULL}, {"latency_seconds", NULL}};
    int n = 4;

    if (o->series > 1)
        columns[n++] = (struct cli_column){"target", NULL};
    if (o->states)
        columns[n++] = (struct cli_column){"state", NULL};
    struct cli_column *kept = wr_arena_alloc(call->arena, sizeof columns);

    memcpy(kept, columns, sizeof columns);
    return cli_table_open(call->out, CLI_AS_JSON, kept, n);
}

static void state_model_add_drawn(struct cli_table *json, const struct simulate_opts *o, double t,
                                  double latency_s, uint64_t bytes, uint32_t series, uint8_t state)
{
    char name[16];

    snprintf(name, sizeof name, "s%u", series);
    cli_table_real(json, t);
    cli_table_text(json, o->op);
    cli_table_int(json, (int64_t)bytes);
    cli_table_real(json, latency_s);
    if (o->series > 1)
        cli_table_text(json, name);
    if (o->states)
        cli_table_int(json, state);
}

/* `json`: NULL for CSV. */
static void state_model_print_drawn(const struct cli_call *call, struct cli_table *json,
                                    const double *t, const double *x, const uint8_t *s, size_t n,
                                    uint64_t bytes, uint32_t series)
{
    const struct simulate_opts *o = call->opts;

    for (size_t i = 0; i < n; i++) {
        if (json) {
            state_model_add_drawn(json, o, t[i], exp(x[i]), bytes, series, s[i]);
            continue;
        }
        fprintf(call->out, "%.6f,%s,%llu,%.9g", t[i], o->op, (unsigned long long)bytes, exp(x[i]));
        if (o->series > 1)
            fprintf(call->out, ",s%u", series);
        if (o->states)
            fprintf(call->out, ",%u", s[i]);
        fputc('\n', call->out);
    }
}

static bool state_model_simulate(const struct cli_call *call, const struct hmm_model *m,
                                 struct wr_err *err)
{
    const struct simulate_opts *o = call->opts;
    double len, step, share[HMM_STATES];
    uint64_t bytes;

    if (!state_seconds(&len, "for", o->length, err) ||
        !state_seconds(&step, "interval", o->interval, err))
        return false;
    if (!wr_parse_bytes(&bytes, o->bytes, err))
        return wr_wrap(err, "--bytes");
    if (!o->series)
        return wr_fail(err, WR_INPUT, "--series 0 draws nothing; give at least 1");
    if (!(step > 0) || !(len / step < 1e9) || strchr(o->op, ','))
        return wr_fail(err, WR_INPUT,
                       "--for and --interval give no sensible number of probes; give "
                       "at most a thousand million, and an --op without commas");
    size_t n = (size_t)floor(len / step);
    double *t = wr_alloc((n + 1) * sizeof *t), *x = wr_alloc((n + 1) * sizeof *x);
    uint8_t *s = wr_alloc(n + 1);

    struct cli_table *json = o->json ? state_model_open_drawn(call) : NULL;

    if (!json)
        fprintf(call->out, "t_seconds,op,bytes,latency_seconds%s%s\n",
                o->series > 1 ? ",target" : "", o->states ? ",state" : "");
    hmm_stationary(share, m, 0);
    for (size_t i = 0; i < n; i++)
        t[i] = (double)i * step;
    for (uint32_t k = 0; k < o->series; k++) {
        struct wr_rng g;

        /* Times must not decrease within a file: later series follow the first. */
        for (size_t i = 0; k && i < n; i++)
            t[i] += (double)n * step;
        wr_rng_init(&g, o->seed, k, 0x73696d);
        state_simulate(x, s, t, n, m, share, &g);
        state_model_print_drawn(call, json, t, x, s, n, bytes, k);
    }
    if (json)
        cli_table_close(json);
    free(t);
    free(x);
    free(s);
    return true;
}

static int state_model_simulate_main(const struct cli_call *call, struct wr_err *err)
{
    struct hmm_model m;

    if (!state_model_read(&m, call->args[0], err) || !state_model_simulate(call, &m, err))
        return cli_error(err);
    return 0;
}

const struct cli_verb cli_state_simulate = {
    .name = "simulate",
    .summary = "draw a series of latencies from a model",
    .args = "MODEL.json",
    .min_args = 1,
    .max_args = 1,
    .input = 1,
    .about =
        "Draws a hidden path with all its jumps, and a latency at every probe, beginning at the "
        "model's long run. The output is a table of probes like a measured one.",
    .examples = "weir state simulate model.json --for 168h > week.csv\n",
    .opts = simulate_rows,
    .opts_size = sizeof(struct simulate_opts),
    .main = state_model_simulate_main,
};

/* ---- validate ---- */

struct validate_opts {
    struct state_rows_opts rows;
    const char *model, *truth, *train;
    uint32_t states, starts, rounds;
    uint64_t seed;
    bool json, no_rolling;
};

static const struct cli_opt validate_rows[] = {
    {.name = "train",
     .type = CLI_TEXT,
     .offset = offsetof(struct validate_opts, train),
     .value = "SHARE",
     .def = "50%",
     .help = "of one file, the part that trains"},
    {.name = "model",
     .letter = 'm',
     .type = CLI_TEXT,
     .offset = offsetof(struct validate_opts, model),
     .value = "MODEL.json",
     .help = "judge this model instead of one fitted to the training part"},
    {.name = "truth",
     .type = CLI_TEXT,
     .offset = offsetof(struct validate_opts, truth),
     .value = "MODEL.json",
     .help = "score this model too, as when the series was simulated from it"},
    {.name = "states",
     .letter = 'k',
     .type = CLI_U32,
     .offset = offsetof(struct validate_opts, states),
     .value = "N",
     .def = "3",
     .help = "states of the model that is fitted"},
    {.name = "starts",
     .type = CLI_U32,
     .offset = offsetof(struct validate_opts, starts),
     .value = "N",
     .def = "24",
     .help = "starts of that fit"},
    {.name = "rounds",
     .type = CLI_U32,
     .offset = offsetof(struct validate_opts, rounds),
     .value = "N",
     .def = "200",
     .help = "simulated test parts for the quantiles' band"},
    {.name = "seed",
     .type = CLI_U64,
     .offset = offsetof(struct validate_opts, seed),
     .value = "N",
     .def = "1",
     .help = "seed of the fit and the simulations"},
    {.name = "no-rolling",
     .type = CLI_FLAG,
     .offset = offsetof(struct validate_opts, no_rolling),
     .help = "leave out the forecaster that learns as it goes"},
    STATE_ROWS(struct validate_opts, rows),
    CLI_JSON(struct validate_opts, json),
    CLI_OPT_END,
};

/* Two files become one series: the second goes on where the first ends. */
static void state_model_append_series(struct state_series *to, const struct state_series *a,
                                      const struct state_series *b)
{
    size_t n = a->n + b->n;
    double shift = 0;

    *to = (struct state_series){.name = b->name, .n = n};
    to->t = wr_alloc((n + 1) * sizeof *to->t);
    to->latency = wr_alloc((n + 1) * sizeof *to->latency);
    if (b->t[0] <= a->t[a->n - 1]) /* another clock: one usual step later */
        shift = a->t[a->n - 1] - b->t[0] +
                (a->n > 1 ? (a->t[a->n - 1] - a->t[0]) / (double)(a->n - 1) : 1);
    memcpy(to->t, a->t, a->n * sizeof *to->t);
    memcpy(to->latency, a->latency, a->n * sizeof *to->latency);
    for (size_t i = 0; i < b->n; i++) {
        to->t[a->n + i] = b->t[i] + shift;
        to->latency[a->n + i] = b->latency[i];
    }
}

static json_t *state_model_json_scores(const struct state_forecaster_row *r, int h)
{
    const struct state_scores *s = &r->at[h];
    json_t *all = json_pack(
        "{so, so, so, so, so, so, so, so, so, so, so}", "logs_ln", state_json_real(s->logs_ln),
        "crps_ln", state_json_real(s->crps_ln), "crps_ms", state_json_real(s->crps_ms),
        "pinball_ms_0.5", state_json_real(s->pinball_ms[0]), "pinball_ms_0.9",
        state_json_real(s->pinball_ms[1]), "pinball_ms_0.99", state_json_real(s->pinball_ms[2]),
        "brier_exceed", state_json_real(s->brier), "pit_ks_D", state_json_real(s->pit_ks),
        "pit_mean", state_json_real(s->pit_mean), "pit_var_x12", state_json_real(s->pit_var12),
        "mae_ms_median", state_json_real(s->mae_ms));

    if (!isnan(r->alpha[h]))
        json_object_set_new(all, "alpha", json_real(r->alpha[h]));
    return all;
}

static void state_model_print_validation_json(FILE *out, const struct state_validation *v,
                                              const struct hmm_model *m)
{
    json_t *horizons = json_object(), *all;

    for (int h = 0; h < v->nhorizons; h++) {
        json_t *rows = json_object();
        char key[16];

        for (int r = 0; r < v->nrows; r++)
            json_object_set_new(rows, v->row[r].name, state_model_json_scores(&v->row[r], h));
        snprintf(key, sizeof key, "%d", state_horizons[h]);
        json_object_set_new(horizons, key, rows);
    }
    all = json_pack("{sI, sI, sf, so, so}", "n", (json_int_t)v->n, "n_train", (json_int_t)v->train,
                    "threshold_s", v->threshold_s, "horizons", horizons, "model",
                    state_model_json(m));
    json_object_set_new(all, "qq",
                        json_pack("{so, so, so, so, so, so, si, so}", "p",
                                  state_json_reals(state_mc_p, STATE_MC), "observed_log10",
                                  state_json_reals(v->observed, STATE_MC), "model_stationary_log10",
                                  state_json_reals(v->model, STATE_MC), "mc_mean_log10",
                                  state_json_reals(v->mc_mean, STATE_MC), "mc_lo95",
                                  state_json_reals(v->mc_low, STATE_MC), "mc_hi95",
                                  state_json_reals(v->mc_high, STATE_MC), "inside_95", v->inside,
                                  "histogram_overlap", state_json_real(v->overlap)));
    json_dumpf(all, out, JSON_INDENT(1));
    fputc('\n', out);
    json_decref(all);
}

static void state_model_print_validation(FILE *out, const struct state_validation *v)
{
    static const struct cli_column columns[] = {{"forecaster", NULL}, {"log", "log score"},
                                                {"crps", "CRPS, ms"}, {"p90", "pinball 90 %, ms"},
                                                {"brier", "Brier"},   {"pit", "PIT distance"}};
    static const struct cli_column qq[] = {
        {"part", NULL}, {"seen", NULL}, {"simulated", NULL}, {"low", "95 % from"}, {"high", "to"}};

    fprintf(out, "%zu observations train, %zu test; smaller is better\n", v->train,
            v->n - v->train);
    for (int h = 0; h < v->nhorizons; h++) {
        struct cli_table *t;

        fprintf(out, "\n%d step%s ahead\n", state_horizons[h], h ? "s" : "");
        t = cli_table_open(out, CLI_AS_TEXT, columns, 6);
        for (int r = 0; r < v->nrows; r++) {
            const struct state_scores *s = &v->row[r].at[h];

            cli_table_text(t, v->row[r].name);
            cli_table_real(t, s->logs_ln);
            cli_table_real(t, s->crps_ms);
            cli_table_real(t, s->pinball_ms[1]);
            cli_table_real(t, s->brier);
            cli_table_real(t, s->pit_ks);
        }
        cli_table_close(t);
    }
    fprintf(out,
            "\nquantiles of the test part; %d of %d within the band, histograms overlap by "
            "%.0f %%\n",
            v->inside, STATE_MC, 100 * v->overlap);
    struct cli_table *t = cli_table_open(out, CLI_AS_TEXT, qq, 5);

    for (int i = 0; i < STATE_MC; i++) {
        cli_table_real(t, state_mc_p[i]);
        cli_table_text(t, state_text_s(pow(10, v->observed[i])).s);
        cli_table_text(t, state_text_s(pow(10, v->mc_mean[i])).s);
        cli_table_text(t, state_text_s(pow(10, v->mc_low[i])).s);
        cli_table_text(t, state_text_s(pow(10, v->mc_high[i])).s);
    }
    cli_table_close(t);
}

static bool state_model_validate(const struct cli_call *call, const struct state_series *s,
                                 size_t n, struct wr_err *err)
{
    const struct validate_opts *o = call->opts;
    struct state_validate_opts vo = {.k = (int)o->states,
                                     .starts = (int)o->starts,
                                     .rounds = (int)o->rounds,
                                     .seed = o->seed,
                                     .rolling = !o->no_rolling};
    struct hmm_model m, truth, used;
    struct state_series both = {0};
    struct state_validation v;

    if (n != (size_t)call->nargs)
        return wr_fail(err, WR_INPUT, "several targets; choose one with --target");
    if (o->states < 1 || o->states > HMM_STATES)
        return wr_fail(err, WR_INPUT, "--states %u: give a number from 1 to %d", o->states,
                       HMM_STATES);
    if (!wr_parse_fraction(&vo.train_share, o->train, err))
        return wr_wrap(err, "--train");
    if (!(vo.train_share > 0 && vo.train_share < 1))
        return wr_fail(err, WR_INPUT,
                       "--train %s leaves nothing to train on or to test; give a part such as 50%%",
                       o->train);
    if ((o->model && !state_model_read(&m, o->model, err)) ||
        (o->truth && !state_model_read(&truth, o->truth, err)))
        return false;
    vo.model = o->model ? &m : NULL;
    vo.truth = o->truth ? &truth : NULL;
    if (n == 2) {
        state_model_append_series(&both, &s[0], &s[1]);
        vo.train = s[0].n;
    }
    bool ok = state_validate(&v, &used, n == 2 ? &both : s, &vo, err);

    if (ok && o->json)
        state_model_print_validation_json(call->out, &v, &used);
    else if (ok)
        state_model_print_validation(call->out, &v);
    free(both.t);
    free(both.latency);
    return ok;
}

static int state_model_validate_main(const struct cli_call *call, struct wr_err *err)
{
    const struct validate_opts *o = call->opts;
    struct state_choice choice;
    struct state_series *s;
    size_t n;

    if (!state_rows_choice(&choice, &o->rows, err) ||
        !state_load(&s, &n, call->args, (size_t)call->nargs, &choice, err))
        return cli_error(err);
    bool ok = state_model_validate(call, s, n, err);

    state_series_free(s, n);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_state_validate = {
    .name = "validate",
    .summary = "score a model's forecasts beside those that need no model",
    .args = "TRAIN.csv [TEST.csv]",
    .min_args = 1,
    .max_args = 2,
    .about =
        "Fits a model to TRAIN and forecasts every observation of TEST from those at least 1, 5, "
        "15 "
        "and 60 steps before; of one file, its first half trains. Scores the model (hmm), the "
        "library's forecaster, which learns as it goes (rolling), and simple ones: the training "
        "part's log-normal distribution, its values, the last value, a moving average, an "
        "autoregression, "
        "the last sixty values.\n\n"
        "Then simulates the test part many times and prints whether its quantiles lie in the band.",
    .examples = "weir state validate monday.csv tuesday.csv --op write\n"
                "weir state validate probes.csv --op write --json\n",
    .opts = validate_rows,
    .opts_size = sizeof(struct validate_opts),
    .main = state_model_validate_main,
};

/* ---- forecast ---- */

struct forecast_opts {
    struct state_rows_opts rows;
    const char *model, *threshold;
    struct cli_list horizons;
    uint32_t states, window;
    bool alone, json;
};

static const struct cli_opt forecast_rows[] = {
    {.name = "horizon",
     .type = CLI_LIST,
     .offset = offsetof(struct forecast_opts, horizons),
     .value = "TIME",
     .help = "how far ahead; may be given several times; by default 1min, 5min, 15min and 1h"},
    {.name = "threshold",
     .type = CLI_TEXT,
     .offset = offsetof(struct forecast_opts, threshold),
     .value = "TIME",
     .help = "the probability of a latency above this; by default above four fifths of those seen"},
    {.name = "model",
     .letter = 'm',
     .type = CLI_TEXT,
     .offset = offsetof(struct forecast_opts, model),
     .value = "MODEL.json",
     .help = "begin with this model instead of learning one"},
    {.name = "model-only",
     .former = "alone",
     .type = CLI_FLAG,
     .offset = offsetof(struct forecast_opts, alone),
     .help = "forecast by the model of --model alone, without simple forecasters beside it"},
    {.name = "states",
     .letter = 'k',
     .type = CLI_U32,
     .offset = offsetof(struct forecast_opts, states),
     .value = "N",
     .def = "3",
     .help = "states of the model that is learned"},
    {.name = "window",
     .type = CLI_U32,
     .offset = offsetof(struct forecast_opts, window),
     .value = "N",
     .def = "720",
     .help = "the model is learned from the last N observations"},
    STATE_ROWS(struct forecast_opts, rows),
    CLI_JSON(struct forecast_opts, json),
    CLI_OPT_END,
};

static bool state_model_start_with_model(struct weir_state *w, const char *path, struct wr_err *err)
{
    double mu[HMM_STATES], sd[HMM_STATES];
    struct hmm_model m;

    if (!state_model_read(&m, path, err))
        return false;
    for (int i = 0; i < m.k; i++) {
        mu[i] = m.emit[i][HMM_LOC];
        sd[i] = m.emit[i][HMM_SPREAD];
    }
    if (m.family != HMM_LOGNORMAL || m.nblocks > 1 ||
        weir_state_set_model(w, m.k, m.q[0], mu, sd) != WEIR_STATE_OK)
        return wr_fail(err, WR_INPUT,
                       "%s: the forecaster takes log-normal models without parts of "
                       "the day, with as many states as --states says",
                       path);
    return true;
}

/* Where state 0 is sure there is no time until it, but one until it ends. */
static void state_model_print_wait(FILE *out, struct weir_state *w, double in_state_0)
{
    double q[HMM_STATES * HMM_STATES];

    weir_state_get_model(w, q, NULL, NULL);
    if (in_state_0 < 0.9995)
        fprintf(out, "expected time until state 0: %s", state_text_s(weir_state_time_to_idle(w)).s);
    else if (q[0] < 0)
        fprintf(out, "state 0 now, and for another %s on average", state_text_s(-1 / q[0]).s);
    else
        fputs("state 0 now, and no way out of it was seen", out);
}

static void state_model_print_now(FILE *out, struct weir_state *w)
{
    double p[HMM_STATES], mu[HMM_STATES], gain;
    int k = weir_state_probabilities(w, 0, p, HMM_STATES);
    double period = weir_state_period(w, &gain);

    weir_state_get_model(w, NULL, mu, NULL);
    for (int i = 0; i < k; i++)
        fprintf(out, "state %d (median %s): %.1f %%\n", i, state_text_s(exp(mu[i])).s, 100 * p[i]);
    if (k) {
        state_model_print_wait(out, w, p[0]);
        fprintf(out, "; the model is trusted with %.0f %%\n", 100 * weir_state_health(w));
    } else {
        fputs("too few probes for a model: simple forecasters alone\n", out);
    }
    if (period > 0)
        fprintf(
            out,
            "the series repeats every %s, which neither the model nor the forecasters beside "
            "it know: the mean at the same phase forecasts better, by up to %.1f nats a probe\n",
            state_text_s(period).s, gain);
    fputc('\n', out);
}

static json_t *state_model_json_now(struct weir_state *w)
{
    double p[HMM_STATES], mu[HMM_STATES], gain;
    int k = weir_state_probabilities(w, 0, p, HMM_STATES);
    double period = weir_state_period(w, &gain);

    weir_state_get_model(w, NULL, mu, NULL);
    return json_pack("{so, so, so, so, so, so, sI}", "probabilities",
                     state_json_reals(p, (size_t)k), "meanlog", state_json_reals(mu, (size_t)k),
                     "time_to_idle_s", state_json_real(weir_state_time_to_idle(w)), "health",
                     state_json_real(weir_state_health(w)), "period_s",
                     state_json_real(period > 0 ? period : NAN), "period_gain_nats",
                     state_json_real(period > 0 ? gain : NAN), "observations",
                     (json_int_t)weir_state_observations(w));
}

enum { MOST_HORIZONS = 64 };

/* How far ahead to look, in seconds. */
struct ahead {
    double s[MOST_HORIZONS];
    size_t n;
};

static bool state_model_read_horizons(struct ahead *ret, const struct cli_list *given,
                                      struct wr_err *err)
{
    static const char *const usual[] = {"1min", "5min", "15min", "1h"};

    ret->n = given->n ? given->n : sizeof usual / sizeof usual[0];
    if (ret->n > MOST_HORIZONS)
        return wr_fail(err, WR_INPUT, "%zu horizons; give at most %d at once", ret->n,
                       MOST_HORIZONS);
    for (size_t i = 0; i < ret->n; i++)
        if (!state_seconds(&ret->s[i], "horizon", given->n ? given->v[i] : usual[i], err))
            return false;
    return true;
}

/* Fewer checked forecasts than this are too few to know how far they err. */
enum { FEW_CHECKED = 30 };

static void state_model_print_little_known(FILE *out, struct weir_state *w,
                                           const struct ahead *ahead)
{
    double first = INFINITY;

    for (size_t i = 0; i < ahead->n; i++)
        if (weir_state_checked(w, ahead->s[i]) < FEW_CHECKED)
            first = fmin(first, ahead->s[i]);
    if (isfinite(first))
        fprintf(out,
                "\n%llu probes are too few to check forecasts %s ahead or more: there they lean on "
                "those of shorter horizons, and how far they err is not known\n",
                (unsigned long long)weir_state_observations(w), state_text_s(first).s);
}

static void state_model_print_horizons(const struct cli_call *call, struct weir_state *w,
                                       const struct ahead *ahead, double threshold, json_t *all)
{
    static const struct cli_column columns[] = {
        {"horizon", "ahead"}, {"median", NULL},       {"p90", "90 % below"}, {"p99", "99 % below"},
        {"mean", NULL},       {"exceed", "P(above)"}, {"checked", NULL}};
    const struct forecast_opts *o = call->opts;
    const double *h = ahead->s;
    json_t *list = json_array();
    struct cli_table *t = o->json ? NULL : cli_table_open(call->out, CLI_AS_TEXT, columns, 7);

    for (size_t i = 0; i < ahead->n; i++) {
        double q50 = weir_state_quantile(w, h[i], 0.5), q90 = weir_state_quantile(w, h[i], 0.9);
        double q99 = weir_state_quantile(w, h[i], 0.99), mean = weir_state_mean(w, h[i]);
        double above = weir_state_exceeds(w, h[i], threshold), p[HMM_STATES];
        uint64_t checked = weir_state_checked(w, h[i]);
        int k = weir_state_probabilities(w, h[i], p, HMM_STATES);

        if (o->json) {
            json_array_append_new(
                list, json_pack("{sf, so, so, so, so, so, so, so, sI}", "horizon_s", h[i],
                                "median_s", state_json_real(q50), "q90_s", state_json_real(q90),
                                "q99_s", state_json_real(q99), "mean_s", state_json_real(mean),
                                "p_exceed", state_json_real(above), "stays_idle",
                                state_json_real(weir_state_stays_idle(w, h[i])), "state_prob",
                                state_json_reals(p, (size_t)k), "checked", (json_int_t)checked));
            continue;
        }
        cli_table_text(t, state_text_s(h[i]).s);
        cli_table_text(t, state_text_s(q50).s);
        cli_table_text(t, state_text_s(q90).s);
        cli_table_text(t, state_text_s(q99).s);
        cli_table_text(t, state_text_s(mean).s);
        cli_table_real(t, round(above * 1e4) / 1e4);
        cli_table_int(t, (int64_t)checked);
    }
    if (t) {
        cli_table_close(t);
        state_model_print_little_known(call->out, w, ahead);
    }
    json_object_set_new(all, "forecast", list);
}

static bool state_model_forecast(const struct cli_call *call, struct weir_state *w,
                                 const struct state_series *s, struct wr_err *err)
{
    const struct forecast_opts *o = call->opts;
    double threshold = 0;
    struct ahead ahead;

    if ((o->threshold && !state_seconds(&threshold, "threshold", o->threshold, err)) ||
        !state_model_read_horizons(&ahead, &o->horizons, err))
        return false;
    if (!o->threshold) {
        double *x = wr_alloc((s->n + 1) * sizeof *x);

        memcpy(x, s->latency, s->n * sizeof *x);
        stat_sort(x, s->n);
        threshold = stat_quantile(x, s->n, 0.8);
        free(x);
    }
    if (o->model && !state_model_start_with_model(w, o->model, err))
        return false;
    for (size_t i = 0; i < s->n; i++)
        weir_state_observe(w, s->t[i], s->latency[i]);
    json_t *all = state_model_json_now(w);

    json_object_set_new(all, "threshold_s", json_real(threshold));
    if (!o->json) {
        fprintf(call->out, "%s: %zu observations; above means above %s\n", s->name, s->n,
                state_text_s(threshold).s);
        state_model_print_now(call->out, w);
    }
    state_model_print_horizons(call, w, &ahead, threshold, all);
    if (o->json) {
        json_dumpf(all, call->out, JSON_INDENT(1));
        fputc('\n', call->out);
    }
    json_decref(all);
    return true;
}

static int state_model_forecast_main(const struct cli_call *call, struct wr_err *err)
{
    const struct forecast_opts *o = call->opts;
    struct weir_state_config c = {.size = sizeof c,
                                  .states = (int)o->states,
                                  .window = (int)o->window,
                                  .refit_every = o->model ? -1 : 0,
                                  .alone = o->alone};
    struct state_choice choice;
    struct state_series *s;
    size_t n;

    if (o->alone && !o->model) {
        wr_fail(err, WR_INPUT, "--model-only needs a model; give it with --model MODEL.json");
        return cli_error(err);
    }
    if (!state_rows_choice(&choice, &o->rows, err) ||
        !state_load(&s, &n, call->args, 1, &choice, err))
        return cli_error(err);
    struct weir_state *w = weir_state_create(&c);

    if (!w)
        wr_fail(err, WR_INPUT,
                "--states and --window: give 1 to 6 states and a window of 64 to "
                "100000 observations");
    else if (n > 1)
        wr_fail(err, WR_INPUT, "%s holds several targets; choose one with --target", call->args[0]);
    bool ok = !err->code && state_model_forecast(call, w, s, err);

    weir_state_destroy(w);
    state_series_free(s, n);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_state_forecast = {
    .name = "forecast",
    .summary = "predict the latency of a path from its state now",
    .args = "DATA.csv",
    .min_args = 1,
    .max_args = 1,
    .about = "Feeds the probes to the forecaster of libweir-state, as if they had come one by one, "
             "and asks it after the last one. The forecast mixes a hidden Markov model with simple "
             "forecasters, each trusted as far as it was right; `checked` is how many forecasts so "
             "far ahead could be compared with what came. In the mean, latencies beyond the "
             "largest one seen count as that one. A series that repeats is named, because no "
             "forecaster here knows the time of day.",
    .examples = "weir state forecast probes.csv --op write\n"
                "weir state forecast probes.csv --op write --threshold 10ms --json\n",
    .opts = forecast_rows,
    .opts_size = sizeof(struct forecast_opts),
    .main = state_model_forecast_main,
};
