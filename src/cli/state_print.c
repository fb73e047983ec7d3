/* state_print.c -- prints fitted state models as text, JSON and CSV for `weir state fit` and
 * others.
 *
 * Reads struct state_estimate and struct hmm_model (state/), changes nothing.
 */
#include "cli/state_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/cli_table.h"
#include "state/model/model.h"

struct wr_text state_text_s(double s)
{
    static const struct {
        double least, scale;
        const char *unit;
    } units[] = {{86400, 86400, "d"}, {3600, 3600, "h"},  {120, 60, "min"},
                 {1, 1, "s"},         {1e-3, 1e-3, "ms"}, {0, 1e-6, "us"}};
    struct wr_text t;
    size_t i = 0;

    if (!isfinite(s)) {
        snprintf(t.s, sizeof t.s, "-");
        return t;
    }
    while (s < units[i].least && i + 1 < sizeof units / sizeof units[0])
        i++;
    snprintf(t.s, sizeof t.s, "%.4g %s", s / units[i].scale, units[i].unit);
    return t;
}

/* Standard errors in the shape of the model: of ln q where rates are, of q by the delta method. */
static json_t *state_print_errors_json(const struct state_estimate *e)
{
    const struct hmm_model *m = &e->fit.model;
    int k = m->k, at = m->nblocks * k * (k - 1);
    json_t *all = json_object(), *blocks = json_array(), *lows = json_array();

    for (int b = 0, p = 0; b < m->nblocks; b++) {
        json_t *rows = json_array();

        for (int i = 0; i < k; i++) {
            double row[HMM_STATES];

            for (int j = 0; j < k; j++) {
                row[j] = i == j ? NAN : e->se[p] * m->q[b][i * k + j];
                p += i != j;
            }
            json_array_append_new(rows, state_json_reals(row, (size_t)k));
        }
        json_array_append_new(blocks, rows);
    }
    json_object_set(all, "Q", m->nblocks > 1 ? blocks : json_array_get(blocks, 0));
    json_decref(blocks);
    json_object_set_new(all, m->family == HMM_WEIBULL ? "logscale" : "meanlog",
                        state_json_reals(e->se + at, (size_t)k));
    double sd[HMM_STATES];

    for (int s = 0; s < k; s++)
        sd[s] = e->se[at + k + s] * m->emit[s][HMM_SPREAD];
    json_object_set_new(all, m->family == HMM_WEIBULL ? "inverse_shape" : "sdlog",
                        state_json_reals(sd, (size_t)k));
    json_object_set_new(all, "theta", state_json_reals(e->se, (size_t)e->nparams));
    for (int i = 0; i < e->nparams; i++)
        if (e->fit.low[i] || e->fit.high[i])
            json_array_append_new(lows, json_integer(i));
    json_object_set_new(all, "theta_at_bound", lows);
    return all;
}

static json_t *state_print_profiles_json(const struct state_estimate *e)
{
    json_t *all = json_array();

    for (int i = 0; i < e->nparams; i++)
        json_array_append_new(all, json_pack("[o, o]", state_json_real(e->profile[i].low),
                                             state_json_real(e->profile[i].high)));
    return all;
}

json_t *state_numbers_json(const struct state_estimate *all, int most)
{
    json_t *list = json_array();

    for (int k = 1; k <= most; k++) {
        const struct state_estimate *e = &all[k - 1];

        json_array_append_new(list, json_pack("{si, so, si, so, so, so}", "states", k, "loglik",
                                              state_json_real(e->fit.loglik), "parameters",
                                              e->nparams, "aic", state_json_real(e->aic), "bic",
                                              state_json_real(e->bic), "held_out",
                                              state_json_real(e->held_out)));
    }
    return list;
}

json_t *state_estimate_json(const struct state_estimate *e, const struct state_series *s, size_t n,
                            double rounding_s)
{
    const struct hmm_model *m = &e->fit.model;
    json_t *all = state_model_json(m), *names = json_array();
    double share[HMM_STATES], theta[HMM_PARAMS];

    for (size_t i = 0; i < n; i++) {
        json_t *name = json_string(s[i].name);

        json_array_append_new(names, name ? name : json_string("?"));
    }
    hmm_stationary(share, m, 0);
    hmm_params_get(theta, m);
    json_object_set_new(all, "loglik", state_json_real(e->fit.loglik));
    json_object_set_new(all, "parameters", json_integer(e->nparams));
    json_object_set_new(all, "observations", json_integer((json_int_t)e->n));
    json_object_set_new(all, "aic", state_json_real(e->aic));
    json_object_set_new(all, "bic", state_json_real(e->bic));
    json_object_set_new(all, "held_out", state_json_real(e->held_out));
    json_object_set_new(all, "converged", json_boolean(e->fit.converged));
    json_object_set_new(all, "largest_gradient", state_json_real(e->fit.grad_most));
    json_object_set_new(all, "starts_at_best", state_json_real(e->fit.best_share));
    json_object_set_new(all, "stationary", state_json_reals(share, (size_t)m->k));
    json_object_set_new(all, "theta", state_json_reals(theta, (size_t)e->nparams));
    json_object_set_new(all, "rounding_s", json_real(rounding_s));
    if (e->has_errors)
        json_object_set_new(all, "standard_errors", state_print_errors_json(e));
    if (e->has_profiles)
        json_object_set_new(all, "profile_95", state_print_profiles_json(e));
    json_object_set_new(all, "series", names);
    return all;
}

static void state_print_numbers(FILE *out, const struct state_estimate *all, int tried)
{
    static const struct cli_column columns[] = {{"states", NULL},
                                                {"loglik", "log-likelihood"},
                                                {"parameters", NULL},
                                                {"bic", "BIC"},
                                                {"held_out", "held-out score"}};
    struct cli_table *t = cli_table_open(out, CLI_AS_TEXT, columns, 5);

    for (int k = 1; k <= tried; k++) {
        cli_table_int(t, k);
        cli_table_real(t, all[k - 1].fit.loglik);
        cli_table_int(t, all[k - 1].nparams);
        cli_table_real(t, all[k - 1].bic);
        cli_table_real(t, all[k - 1].held_out);
    }
    cli_table_close(t);
    fputc('\n', out);
}

/* "x1.23": a factor that is as likely upwards as downwards; "bound" where there is none. */
static struct wr_text state_error_text(const struct state_estimate *e, int at)
{
    struct wr_text t;

    if (e->fit.low[at] || e->fit.high[at])
        snprintf(t.s, sizeof t.s, "at bound");
    else if (isfinite(e->se[at]))
        snprintf(t.s, sizeof t.s, "x/ %.3g", exp(e->se[at]));
    else
        snprintf(t.s, sizeof t.s, "-");
    return t;
}

static void state_print_states(FILE *out, const struct state_estimate *e)
{
    static const struct cli_column columns[] = {{"state", NULL},           {"median", NULL},
                                                {"error", NULL},           {"spread", "sd of ln"},
                                                {"sd_error", "error"},     {"stay", "mean stay"},
                                                {"share", "share of time"}};
    const struct hmm_model *m = &e->fit.model;
    struct cli_table *t = cli_table_open(out, CLI_AS_TEXT, columns, 7);
    int k = m->k, at = m->nblocks * k * (k - 1);
    double share[HMM_STATES];

    hmm_stationary(share, m, 0);
    for (int s = 0; s < k; s++) {
        struct wr_text pct;

        snprintf(pct.s, sizeof pct.s, "%.1f %%", 100 * share[s]);
        cli_table_int(t, s);
        cli_table_text(t, state_text_s(exp(m->emit[s][HMM_LOC])).s);
        cli_table_text(t, state_error_text(e, at + s).s);
        cli_table_real(t, m->emit[s][HMM_SPREAD]);
        cli_table_text(t, state_error_text(e, at + k + s).s);
        cli_table_text(t, state_text_s(-1 / m->q[0][s * k + s]).s);
        cli_table_text(t, pct.s);
    }
    cli_table_close(t);
    fputc('\n', out);
}

static void state_print_rates(FILE *out, const struct state_estimate *e)
{
    static const struct cli_column columns[] = {
        {"part", "part of day"}, {"from", NULL},       {"to", NULL},       {"rate", "rate per s"},
        {"error", NULL},         {"low", "95 % from"}, {"high", "95 % to"}};
    const struct hmm_model *m = &e->fit.model;
    struct cli_table *t = cli_table_open(out, CLI_AS_TEXT, columns, e->has_profiles ? 7 : 5);
    int k = m->k, at = 0;

    for (int b = 0; b < m->nblocks; b++)
        for (int i = 0; i < k; i++)
            for (int j = 0; j < k; j++) {
                if (i == j)
                    continue;
                cli_table_int(t, b);
                cli_table_int(t, i);
                cli_table_int(t, j);
                cli_table_real(t, m->q[b][i * k + j]);
                cli_table_text(t, state_error_text(e, at).s);
                if (e->has_profiles) {
                    cli_table_real(t, exp(e->profile[at].low));
                    cli_table_real(t, exp(e->profile[at].high));
                }
                at++;
            }
    cli_table_close(t);
}

void state_estimate_print(FILE *out, const struct state_estimate *e,
                          const struct state_estimate *all, int tried, const struct state_series *s,
                          size_t n)
{
    double ties = n == 1 ? state_rounding(s[0].latency, s[0].n) : 0;

    if (n == 1)
        fprintf(out, "%s: ", s[0].name);
    else
        fprintf(out, "%zu series: ", n);
    fprintf(out, "%zu observations, log-likelihood %.9g%s\n\n", e->n, e->fit.loglik,
            e->fit.converged ? "" : " (not yet at a summit: give more --starts)");
    if (tried)
        state_print_numbers(out, all, tried);
    state_print_states(out, e);
    if (e->fit.model.k > 1)
        state_print_rates(out, e);
    if (ties > 0)
        fprintf(out, "\nmany latencies are the same, as if rounded to %s; try --rounding=auto\n",
                state_text_s(ties).s);
}

/* One series: Viterbi, smoothed, filtered. */
static bool state_print_one_path(FILE *out, const struct state_series *s, size_t index,
                                 bool several, const struct hmm_model *m, double rounding_s,
                                 struct wr_err *err)
{
    struct state_data_opts o = {
        .nblocks = m->nblocks, .day_offset_s = m->day_offset_s, .rounding_s = rounding_s};
    struct state_data d;
    struct hmm_work w;
    struct hmm_stats st;
    size_t k = (size_t)m->k, row = 0;

    state_data_init(&d, s, 1, &o);
    if (!hmm_work_init(&w, d.data.n, 0, m->k)) {
        state_data_fini(&d);
        return wr_fail(err, WR_SYSTEM, "not enough memory for the path; choose less with --from");
    }
    uint8_t *path = wr_alloc(d.data.n);
    double *filtered = wr_alloc(d.data.n * k * sizeof *filtered);

    hmm_work_bind(&w, &d.data);
    hmm_viterbi(path, &w, m);
    hmm_filter(filtered, &w, m);
    hmm_estep(&st, &w, m);
    for (size_t i = 0; i < d.data.n; i++) {
        if (isnan(d.x[i]))
            continue;
        if (several)
            fprintf(out, "%zu,", index);
        fprintf(out, "%.6f,%u", s->t[row++], path[i]);
        for (size_t j = 0; j < k; j++)
            fprintf(out, ",%.6g", w.alpha[i * k + j]);
        for (size_t j = 0; j < k; j++)
            fprintf(out, ",%.6g", filtered[i * k + j]);
        fputc('\n', out);
    }
    free(path);
    free(filtered);
    hmm_work_fini(&w);
    state_data_fini(&d);
    return true;
}

bool state_print_path(FILE *out, const struct state_series *s, size_t n, const struct hmm_model *m,
                      double rounding_s, struct wr_err *err)
{
    bool ok = true;

    fprintf(out, "%st_seconds,viterbi", n > 1 ? "series," : "");
    for (int j = 0; j < m->k; j++)
        fprintf(out, ",gamma%d", j);
    for (int j = 0; j < m->k; j++)
        fprintf(out, ",filt%d", j);
    fputc('\n', out);
    for (size_t i = 0; ok && i < n; i++)
        ok = state_print_one_path(out, &s[i], i, n > 1, m, rounding_s, err);
    return ok;
}
