/* cmd_state_describe.c -- `weir state describe`: statistics of a series of latencies.
 *
 * Density, states by thresholds or by a model, and distributions of sojourn times
 * (state/describe.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/cli_table.h"
#include "cli/state_opts.h"
#include "cli/state_print.h"
#include "stat/sample.h"
#include "state/describe.h"
#include "state/estimate.h"
#include "state/model/model.h"

struct describe_opts {
    struct state_rows_opts rows;
    const char *model, *window;
    uint32_t bandwidth, bootstrap;
    uint64_t seed;
    bool json, qq;
};

static const char *const bandwidth_names[] = {"nrd0", "nrd", "scott", "silverman", NULL};

static const struct cli_opt describe_rows[] = {
    {.name = "bandwidth",
     .type = CLI_CHOICE,
     .offset = offsetof(struct describe_opts, bandwidth),
     .value = "RULE",
     .def = "nrd0",
     .help = "how wide the kernels of the density are",
     .names = bandwidth_names},
    {.name = "model",
     .letter = 'm',
     .type = CLI_TEXT,
     .offset = offsetof(struct describe_opts, model),
     .value = "MODEL.json",
     .help = "label by this model's most probable path instead of the density's valleys"},
    {.name = "split",
     .former = "window",
     .type = CLI_TEXT,
     .offset = offsetof(struct describe_opts, window),
     .value = "TIME",
     .help = "one row for each stretch of this length, as in --split=24h"},
    {.name = "bootstrap",
     .type = CLI_U32,
     .offset = offsetof(struct describe_opts, bootstrap),
     .value = "N",
     .def = "500",
     .help = "sets drawn for the p-values of fitted distributions; 0: none"},
    {.name = "seed",
     .type = CLI_U64,
     .offset = offsetof(struct describe_opts, seed),
     .value = "N",
     .def = "1",
     .help = "seed of those sets"},
    {.name = "qq",
     .type = CLI_FLAG,
     .offset = offsetof(struct describe_opts, qq),
     .help = "the quantiles of sojourn times and those of the fitted distributions"},
    STATE_ROWS(struct describe_opts, rows),
    CLI_JSON(struct describe_opts, json),
    CLI_OPT_END,
};

/* All results of one series. */
struct view {
    const struct state_series *s;
    struct state_density density;
    struct state_cuts cuts;
    struct state_kpss kpss;
    double q[5]; /* quantiles of latency: 5, 25, 50, 75, 95 % */
    uint8_t *label;
    int nlabels;
    bool by_model;
    double *sojourn;
    uint8_t *during;
    size_t nsojourns;
    struct state_family_fit fit[STATE_FAMILIES];
};

static const double printed_q[5] = {0.05, 0.25, 0.5, 0.75, 0.95};

static void describe_quantiles(double ret[5], const double *latency, size_t n)
{
    double *x = wr_alloc((n + 1) * sizeof *x);

    memcpy(x, latency, n * sizeof *x);
    stat_sort(x, n);
    for (int i = 0; i < 5; i++)
        ret[i] = stat_quantile(x, n, printed_q[i]);
    free(x);
}

static bool describe_label_by_model(struct view *v, const struct hmm_model *m, struct wr_err *err)
{
    struct state_data_opts o = {.nblocks = m->nblocks, .day_offset_s = m->day_offset_s};
    struct state_data d;
    struct hmm_work w;

    state_data_init(&d, v->s, 1, &o);
    if (!hmm_work_init(&w, d.data.n, 0, m->k)) {
        state_data_fini(&d);
        return wr_fail(err, WR_SYSTEM, "not enough memory; describe less with --from and --to");
    }
    uint8_t *path = wr_alloc(d.data.n);
    size_t at = 0;

    hmm_work_bind(&w, &d.data);
    hmm_viterbi(path, &w, m);
    for (size_t i = 0; i < d.data.n; i++)
        if (!isnan(d.x[i]))
            v->label[at++] = path[i];
    v->nlabels = m->k;
    v->by_model = true;
    free(path);
    hmm_work_fini(&w);
    state_data_fini(&d);
    return true;
}

static void describe_view_fini(struct view *v)
{
    free(v->label);
    free(v->sojourn);
    free(v->during);
}

static bool describe_view_init(struct view *v, const struct state_series *s,
                               const struct hmm_model *m, const struct describe_opts *o,
                               struct wr_err *err)
{
    *v = (struct view){.s = s};
    state_density_of(&v->density, s->latency, s->n, (enum stat_bandwidth)o->bandwidth);
    state_cuts3(&v->cuts, s->latency, s->n);
    v->kpss = state_stationarity(s->latency, s->n);
    describe_quantiles(v->q, s->latency, s->n);
    v->label = wr_alloc(s->n);
    v->sojourn = wr_alloc((s->n + 1) * sizeof *v->sojourn);
    v->during = wr_alloc(s->n + 1);
    state_label(v->label, s->latency, s->n, &v->cuts);
    v->nlabels = (int)v->cuts.n + 1;
    if (m && !describe_label_by_model(v, m, err)) {
        describe_view_fini(v);
        return false;
    }
    v->nsojourns = state_sojourns(v->sojourn, v->during, s->t, v->label, s->n);
    state_fit_families(v->fit, v->sojourn, v->nsojourns, o->bootstrap, o->seed);
    return true;
}

static json_t *describe_fit_json(const struct state_family_fit *f)
{
    if (!f->fits)
        return json_null();
    json_t *params = json_object();

    for (int i = 0; i < f->family->nparams; i++)
        json_object_set_new(params, f->family->param[i], state_json_real(f->p[i]));
    return json_pack("{so, so, so, so, so, so, so, so, so}", "params", params, "loglik",
                     state_json_real(f->loglik), "aic", state_json_real(f->aic), "ks_D",
                     state_json_real(f->ks), "ks_p_exact", state_json_real(f->ks_p_exact),
                     "ks_p_asymptotic", state_json_real(f->ks_p_limit), "ks_p_fitted",
                     state_json_real(f->ks_p_fitted), "qq_theoretical",
                     state_json_reals(f->qq_fitted, STATE_QQ), "qq_sample",
                     state_json_reals(f->qq_sample, STATE_QQ));
}

static json_t *describe_extrema_json(const struct stat_extremum *e, size_t n)
{
    json_t *all = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(
            all,
            json_pack("{so, so, so, so}", "log10_s", state_json_real(e[i].x), "seconds",
                      state_json_real(pow(10, e[i].x)), "density", state_json_real(e[i].density),
                      "depth_local", e[i].depth > 0 ? state_json_real(e[i].depth) : json_null()));
    return all;
}

static json_t *describe_json(const struct view *v)
{
    json_t *fits = json_object(), *name = json_string(v->s->name), *all;

    for (int i = 0; i < STATE_FAMILIES; i++)
        json_object_set_new(fits, v->fit[i].family->name, describe_fit_json(&v->fit[i]));
    all = json_pack("{so, sI, so, so, so, so, so, so}", "series", name ? name : json_string("?"),
                    "observations", (json_int_t)v->s->n, "quantile_p",
                    state_json_reals(printed_q, 5), "quantile_s", state_json_reals(v->q, 5),
                    "bandwidth", state_json_real(v->density.h), "minima",
                    describe_extrema_json(v->density.minima, v->density.nminima), "maxima",
                    describe_extrema_json(v->density.maxima, v->density.nmaxima), "cuts3_log10",
                    state_json_reals(v->cuts.log10_s, v->cuts.n));
    json_object_set_new(all, "cuts3_bandwidth", state_json_real(v->cuts.h));
    json_object_set_new(all, "labels", json_string(v->by_model ? "model" : "density"));
    json_object_set_new(all, "kpss",
                        json_pack("{so, so}", "statistic", state_json_real(v->kpss.statistic), "p",
                                  state_json_real(v->kpss.p)));
    json_object_set_new(all, "sojourns", json_integer((json_int_t)v->nsojourns));
    json_object_set_new(all, "qq_p", state_json_reals(state_qq_p, STATE_QQ));
    json_object_set_new(all, "distributions", fits);
    return all;
}

static void describe_print_states(const struct view *v, FILE *out)
{
    static const struct cli_column columns[] = {
        {"state", NULL},        {"from", NULL},  {"to", NULL},           {"observations", NULL},
        {"median_s", "median"}, {"stays", NULL}, {"stay_s", "mean stay"}};
    struct cli_table *t = cli_table_open(out, CLI_AS_TEXT, columns, 7);
    double *x = wr_alloc((v->s->n + 1) * sizeof *x);

    for (int k = 0; k < v->nlabels; k++) {
        size_t n = 0, stays = 0;
        double sum = 0;

        for (size_t i = 0; i < v->s->n; i++)
            if (v->label[i] == k)
                x[n++] = v->s->latency[i];
        for (size_t i = 0; i < v->nsojourns; i++)
            if (v->during[i] == k) {
                stays++;
                sum += v->sojourn[i];
            }
        stat_sort(x, n);
        cli_table_int(t, k);
        cli_table_text(t, state_text_s(n ? x[0] : NAN).s);
        cli_table_text(t, state_text_s(n ? x[n - 1] : NAN).s);
        cli_table_int(t, (int64_t)n);
        cli_table_text(t, state_text_s(stat_quantile(x, n, 0.5)).s);
        cli_table_int(t, (int64_t)stays);
        cli_table_text(t, state_text_s(stays ? sum / (double)stays : NAN).s);
    }
    cli_table_close(t);
    free(x);
    fputc('\n', out);
}

static void describe_print_fits(const struct view *v, FILE *out, bool qq)
{
    static const struct cli_column columns[] = {{"distribution", "distribution of sojourn times"},
                                                {"first", NULL},
                                                {"second", NULL},
                                                {"aic", "AIC"},
                                                {"ks_D", "K-S distance"},
                                                {"p", "p"}};
    struct cli_table *t = cli_table_open(out, CLI_AS_TEXT, columns, 6);

    for (int i = 0; i < STATE_FAMILIES; i++) {
        const struct state_family_fit *f = &v->fit[i];
        char text[64];

        if (!f->fits)
            continue;
        cli_table_text(t, f->family->name);
        for (int j = 0; j < 2; j++) {
            if (j < f->family->nparams)
                snprintf(text, sizeof text, "%s %.4g", f->family->param[j], f->p[j]);
            cli_table_text(t, j < f->family->nparams ? text : "");
        }
        cli_table_real(t, f->aic);
        cli_table_real(t, f->ks);
        cli_table_real(t, f->ks_p_fitted);
    }
    cli_table_close(t);
    for (int i = 0; qq && i < STATE_FAMILIES; i++) {
        if (!v->fit[i].fits)
            continue;
        fprintf(out, "\n%s: part, quantile of sojourn times, of the distribution\n",
                v->fit[i].family->name);
        for (int q = 0; q < STATE_QQ; q++)
            fprintf(out, "%5.2f %12.6g %12.6g\n", state_qq_p[q], v->fit[i].qq_sample[q],
                    v->fit[i].qq_fitted[q]);
    }
}

static void describe_print_view(const struct view *v, FILE *out, bool qq)
{
    fprintf(out, "%s: %zu latencies, median %s, 5 %% below %s, 5 %% above %s\n", v->s->name,
            v->s->n, state_text_s(v->q[2]).s, state_text_s(v->q[0]).s, state_text_s(v->q[4]).s);
    if (isnan(v->kpss.p))
        fprintf(out, "level: too few latencies that differ to decide whether it moves\n");
    else
        fprintf(out, "level: KPSS statistic %.4g, p %s%.3g (below 0.05: it moves)\n",
                v->kpss.statistic,
                v->kpss.p <= 0.01  ? "<= "
                : v->kpss.p >= 0.1 ? ">= "
                                   : "",
                v->kpss.p);
    fprintf(out, "density of log10: bandwidth %.4g, %zu hills, valleys at", v->density.h,
            v->density.nmaxima);
    for (size_t i = 0; i < v->density.nminima; i++)
        fprintf(out, "%s %s", i ? "," : "", state_text_s(pow(10, v->density.minima[i].x)).s);
    fprintf(out, "%s\n\n", v->density.nminima ? "" : " no place");
    describe_print_states(v, out);
    if (v->nsojourns > 1)
        describe_print_fits(v, out, qq);
    else
        fprintf(out, "too few changes of state to say anything of their times; probe longer\n");
}

/* One row for each window of time of one series. */
static void describe_add_windows(struct cli_table *t, const struct describe_opts *o,
                                 const struct state_series *s, double len, bool named)
{
    for (size_t from = 0, to; from < s->n; from = to) {
        double start = s->t[0] + floor((s->t[from] - s->t[0]) / len) * len, q[5];
        struct state_density d = {0};

        for (to = from + 1; to < s->n && s->t[to] < start + len; to++)
            ;
        describe_quantiles(q, s->latency + from, to - from);
        if (to - from > 1)
            state_density_of(&d, s->latency + from, to - from, (enum stat_bandwidth)o->bandwidth);
        if (named)
            cli_table_text(t, s->name);
        cli_table_real(t, start);
        cli_table_int(t, (int64_t)(to - from));
        for (int i = 0; i < 5; i += 2)
            if (o->json)
                cli_table_real(t, q[i]);
            else
                cli_table_text(t, state_text_s(q[i]).s);
        cli_table_int(t, (int64_t)d.nminima);
        cli_table_real(t, state_stationarity(s->latency + from, to - from).p);
    }
}

static bool describe_print_windows(const struct cli_call *call, const struct state_series *s,
                                   size_t n, struct wr_err *err)
{
    static const struct cli_column columns[] = {
        {"series", NULL},    {"from_s", "from"}, {"observations", NULL}, {"p05_s", "5 %"},
        {"p50_s", "median"}, {"p95_s", "95 %"},  {"valleys", NULL},      {"kpss_p", "level p"}};
    const struct describe_opts *o = call->opts;
    bool named = n > 1 || o->json;
    double len;

    if (!state_seconds(&len, "split", o->window, err))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!(len > 0) || (s[i].t[s[i].n - 1] - s[i].t[0]) / len > 1e5)
            return wr_fail(err, WR_INPUT,
                           "--split %s cuts %s into too many pieces; give a longer one", o->window,
                           s[i].name);
    if (!named)
        fprintf(call->out, "%s\n", s->name);
    struct cli_table *t = cli_table_open(call->out, o->json ? CLI_AS_JSON : CLI_AS_TEXT,
                                         columns + !named, 8 - !named);

    for (size_t i = 0; i < n; i++)
        describe_add_windows(t, o, &s[i], len, named);
    cli_table_close(t);
    return true;
}

/* The same numbers of several targets, a row each. */
static void describe_print_side_by_side(FILE *out, const struct state_series *s, size_t n,
                                        const struct describe_opts *o)
{
    static const struct cli_column columns[] = {
        {"series", NULL}, {"observations", NULL}, {"p05", "5 %"},        {"median", NULL},
        {"p95", "95 %"},  {"valleys", NULL},      {"level_p", "level p"}};
    struct cli_table *t = cli_table_open(out, CLI_AS_TEXT, columns, 7);

    for (size_t i = 0; i < n; i++) {
        struct state_density d;
        double q[5];

        describe_quantiles(q, s[i].latency, s[i].n);
        state_density_of(&d, s[i].latency, s[i].n, (enum stat_bandwidth)o->bandwidth);
        cli_table_text(t, s[i].name);
        cli_table_int(t, (int64_t)s[i].n);
        for (int j = 0; j < 5; j += 2)
            cli_table_text(t, state_text_s(q[j]).s);
        cli_table_int(t, (int64_t)d.nminima);
        cli_table_real(t, state_stationarity(s[i].latency, s[i].n).p);
    }
    cli_table_close(t);
    fputc('\n', out);
}

static bool describe_series(const struct cli_call *call, const struct state_series *s, size_t n,
                            const struct hmm_model *m, struct wr_err *err)
{
    const struct describe_opts *o = call->opts;
    bool ok = true;

    if (o->window)
        return describe_print_windows(call, s, n, err);
    json_t *all = json_array();

    if (n > 1 && !o->json)
        describe_print_side_by_side(call->out, s, n, o);
    for (size_t i = 0; ok && i < n; i++) {
        struct view v;

        ok = describe_view_init(&v, &s[i], m, o, err);
        if (!ok)
            break;
        if (o->json) {
            json_array_append_new(all, describe_json(&v));
        } else {
            if (i)
                fputc('\n', call->out);
            describe_print_view(&v, call->out, o->qq);
        }
        describe_view_fini(&v);
    }
    if (ok && o->json) {
        json_dumpf(n == 1 ? json_array_get(all, 0) : all, call->out, JSON_INDENT(1));
        fputc('\n', call->out);
    }
    json_decref(all);
    return ok;
}

static int describe_main(const struct cli_call *call, struct wr_err *err)
{
    const struct describe_opts *o = call->opts;
    struct state_choice choice;
    struct state_series *s;
    struct hmm_model m;
    size_t n;

    if (!state_rows_choice(&choice, &o->rows, err) ||
        (o->model && !state_model_read(&m, o->model, err)) ||
        !state_load(&s, &n, call->args, (size_t)call->nargs, &choice, err))
        return cli_error(err);
    bool ok = describe_series(call, s, n, o->model ? &m : NULL, err);

    state_series_free(s, n);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_state_describe = {
    .name = "describe",
    .summary = "print density, states and sojourn times of measured latencies",
    .args = "DATA.csv...",
    .min_args = 1,
    .max_args = -1,
    .about =
        "Estimates the density of log10 latency; its valleys are borders of states. Latencies are "
        "labelled, and the times between changes of label are compared with distributions fitted "
        "by "
        "maximum likelihood. A p is that of the Kolmogorov-Smirnov distance for a distribution "
        "whose parameters "
        "were "
        "fitted, by drawing from it.\n\n"
        "Labels cut at valleys flicker where states overlap, which makes stays look short and "
        "never "
        "exponential. With --model the model's most probable path gives the labels: prefer it.",
    .examples = "weir state describe probes.csv --op write\n"
                "weir state describe probes.csv --op write --split 24h\n"
                "weir state describe probes.csv --op write --model model.json --qq\n",
    .opts = describe_rows,
    .opts_size = sizeof(struct describe_opts),
    .main = describe_main,
};
