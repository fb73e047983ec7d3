/* interfere_predict_runs.c -- `weir interfere predict` with run files: what they teach, and how
 * well they are predicted from each other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/cli_table.h"
#include "cli/interfere_predict.h"

static const double mib = 1 << 20;

/* Weights by nodes, processes or equal are the rules of the same names. */
static const enum interference_rule predict_rules[] = {
    [INTERFERENCE_WEIGHT_NODES] = INTERFERENCE_RULE_NODES,
    [INTERFERENCE_WEIGHT_PROCESSES] = INTERFERENCE_RULE_PROCESSES,
    [INTERFERENCE_WEIGHT_EQUAL] = INTERFERENCE_RULE_JOBS};

enum interference_weights interfere_weights_learnt(enum interference_weights given,
                                                   const struct interference_training *l)
{
    static const enum interference_weights by[] = {
        [INTERFERENCE_RULE_NODES] = INTERFERENCE_WEIGHT_NODES,
        [INTERFERENCE_RULE_PROCESSES] = INTERFERENCE_WEIGHT_PROCESSES,
        [INTERFERENCE_RULE_JOBS] = INTERFERENCE_WEIGHT_EQUAL};

    return given == INTERFERENCE_WEIGHT_AUTO ? by[l->rule] : given;
}

void interfere_weights_words(struct wr_str *out, uint32_t given,
                             const struct interference_training *l)
{
    const char *by =
        interference_weights_names[interfere_weights_learnt((enum interference_weights)given, l)];

    wr_str_addf(out,
                given == INTERFERENCE_WEIGHT_EQUAL || !strcmp(by, "equal") ? "weights are equal"
                                                                           : "weights by %s",
                by);
    if (given != INTERFERENCE_WEIGHT_AUTO)
        wr_str_add(out, ", as --weights says");
    else if (l->rule_known)
        wr_str_addf(out, ": nearest to the shares in %zu overlap%s", l->overlaps,
                    l->overlaps == 1 ? "" : "s");
    else
        wr_str_addf(out, ": %zu overlap%s cannot decide; choose with --weights", l->overlaps,
                    l->overlaps == 1 ? "" : "s");
}

static struct interference_weighting predict_runs_how(uint32_t weights,
                                                      const struct interference_training *l)
{
    enum interference_weights by = interfere_weights_learnt((enum interference_weights)weights, l);

    return (struct interference_weighting){.rule = predict_rules[by],
                                           .fitted = weights == INTERFERENCE_WEIGHT_AUTO};
}

static const char *predict_runs_shown_mode(const char *mode)
{
    return *mode ? mode : "unknown";
}

/* Which times of the training set's jobs are used, and of how many jobs. */
static void predict_runs_time_words(struct wr_str *out, const struct interference_training *l)
{
    static const char *const which[] = {
        [INTERFERENCE_IO_PHASE] = "the I/O phase (first to last byte, and the flush)",
        [INTERFERENCE_LIFE] = "the life, as no I/O phase is recorded,",
        [INTERFERENCE_SLICES] = "the slices with I/O"};
    size_t n[3] = {0};
    const char *sep = "run times:";

    for (size_t i = 0; i < l->groups.n; i++)
        for (size_t k = 0; k < l->groups.v[i].set.njobs; k++)
            n[l->groups.v[i].set.job[k].timed]++;
    for (int t = 0; t < 3; t++)
        if (n[t]) {
            wr_str_addf(out, "%s %s of %zu job%s", sep, which[t], n[t], n[t] == 1 ? "" : "s");
            sep = ";";
        }
}

/* ---- what was learnt ---- */

static void predict_runs_print_alone(FILE *out, enum cli_format format,
                                     const struct interference_training *l)
{
    static const struct cli_column columns[] = {
        {"mode", NULL},
        {"processes", NULL},
        {"nodes", NULL},
        {"runs", NULL},
        {"mid_mib_s", "MiB/s alone"},
        {"low_mib_s", "slowest"},
        {"high_mib_s", "fastest"},
    };
    struct cli_table *t = cli_table_open(out, format, columns, 7);

    for (size_t i = 0; i < l->configs.n; i++) {
        const struct interference_config *a = &l->configs.v[i];

        cli_table_text(t, predict_runs_shown_mode(a->mode));
        cli_table_int(t, (int64_t)a->processes);
        cli_table_int(t, (int64_t)a->nodes);
        cli_table_int(t, (int64_t)a->rates.n);
        cli_table_real(t, cli_round(a->mid_bps / mib, 1e3));
        cli_table_real(t, cli_round(a->low_bps / mib, 1e3));
        cli_table_real(t, cli_round(a->high_bps / mib, 1e3));
    }
    cli_table_close(t);
}

static void predict_runs_print_capacity(FILE *out, enum cli_format format,
                                        const struct interference_training *l)
{
    static const struct cli_column columns[] = {{"mode", NULL},
                                                {"active", "active jobs"},
                                                {"capacity_mib_s", "server, MiB/s"},
                                                {"runs", NULL}};
    struct cli_table *t = cli_table_open(out, format, columns, 4);

    for (size_t i = 0; i < l->capacities.n; i++)
        for (size_t k = 0; k < l->capacities.v[i].n; k++) {
            cli_table_text(t, predict_runs_shown_mode(l->capacities.v[i].mode));
            cli_table_int(t, (int64_t)k + 1);
            cli_table_real(t, cli_round(l->capacities.v[i].by_active[k] / mib, 1e3));
            cli_table_int(t, (int64_t)l->capacities.v[i].runs[k]);
        }
    cli_table_close(t);
}

static void predict_runs_print_rules(FILE *out, const struct interference_training *l)
{
    static const char *const by[] = {"processes", "nodes"};

    if (isnan(l->rule_off[0]))
        return;
    fprintf(out, "\nshares in %zu overlap%s differ from those by", l->overlaps,
            l->overlaps == 1 ? "" : "s");
    for (int r = 0; r < INTERFERENCE_RULES; r++)
        fprintf(out, "%s %s by %.1f points", r ? "," : "", interference_rule_names[r],
                100 * l->rule_off[r]);
    fputc('\n', out);
    for (int i = 0; i < 2; i++)
        if (l->pairs[i] > 2)
            fprintf(out,
                    "they follow the ratio of %s to the power of %.2f +- %.2f (%zu pairs; 1: "
                    "sharing is by %s, 0: they do not matter)\n",
                    by[i], l->slope[i], l->slope_sd[i], l->pairs[i], by[i]);
}

/* ---- predictions against what was seen ---- */

struct seen {
    const char *group;
    const struct interference_job *job;
    struct interference_prediction predicted;
};

struct all_seen {
    WR_VEC(struct seen) v;
    size_t cases; /* run times of other runs that ranges are made of, at least */
};

static double predict_runs_error(const struct seen *s)
{
    return s->predicted.runtime_s / s->job->runtime_s - 1;
}

static bool predict_runs_group(struct all_seen *all, const struct interference_training *l,
                               const struct interference_group *g,
                               struct interference_weighting how, struct wr_err *err)
{
    struct interference_prediction *predicted = wr_zalloc(g->set.njobs, sizeof *predicted);
    bool ok = interference_predict_group(predicted, l, g, how, err);
    size_t cases = interference_range_cases(l, g);

    for (size_t i = 0; ok && i < g->set.njobs; i++)
        wr_vec_push(&all->v, (struct seen){g->name, &g->set.job[i], predicted[i]});
    all->cases = all->cases && all->cases < cases ? all->cases : cases;
    free(predicted);
    return ok;
}

static bool predict_runs_all(struct all_seen *all, struct interference_training *l,
                             struct interference_weighting how, struct wr_err *err)
{
    interference_calibrate(l, how);
    for (size_t i = 0; i < l->groups.n; i++)
        if (l->groups.v[i].role & INTERFERENCE_IS_PREDICTED && l->groups.v[i].set.njobs > 1 &&
            !predict_runs_group(all, l, &l->groups.v[i], how, err))
            return wr_wrap(err, "%s", l->groups.v[i].name);
    return true;
}

static const struct cli_column seen_columns[] = {
    {"run", NULL},           {"job", NULL},           {"mode", NULL},
    {"processes", NULL},     {"nodes", NULL},         {"weight", NULL},
    {"start_s", "start, s"}, {"alone_s", "alone, s"}, {"seen_s", "seen, s"},
    {"time_of", "time of"},  {"life_s", "life, s"},   {"predicted_s", "predicted, s"},
    {"low_s", "from"},       {"high_s", "to"},        {"error_percent", "off, %"},
};

static void predict_runs_print_seen(FILE *out, enum cli_format format, const struct all_seen *all)
{
    struct cli_table *t =
        cli_table_open(out, format, seen_columns, sizeof seen_columns / sizeof seen_columns[0]);
    double scale = format == CLI_AS_TEXT ? 1e2 : 1e9;

    for (size_t i = 0; i < all->v.n; i++) {
        const struct seen *s = &all->v.v[i];

        cli_table_text(t, s->group);
        cli_table_text(t, s->job->name);
        cli_table_text(t, predict_runs_shown_mode(s->job->mode ? s->job->mode : ""));
        cli_table_int(t, (int64_t)interference_processes(s->job));
        cli_table_int(t, (int64_t)s->job->nnodes);
        cli_table_real(t, s->predicted.weight);
        cli_table_real(t, cli_round(s->job->start_s, scale));
        cli_table_real(t, cli_round(s->predicted.alone_s, scale));
        cli_table_real(t, cli_round(s->job->runtime_s, scale));
        cli_table_text(t, interference_timed_names[s->job->timed]);
        cli_table_real(t, cli_round(s->job->life_s, scale));
        cli_table_real(t, cli_round(s->predicted.runtime_s, scale));
        cli_table_real(t, cli_round(s->predicted.low_s, scale));
        cli_table_real(t, cli_round(s->predicted.high_s, scale));
        cli_table_real(t, cli_round(100 * predict_runs_error(s), format == CLI_AS_TEXT ? 10 : 1e9));
    }
    cli_table_close(t);
}

struct sum {
    double mean, most;
    size_t held; /* in their range */
};

static struct sum predict_runs_summarise(const struct all_seen *all)
{
    struct sum s = {0};

    for (size_t i = 0; i < all->v.n; i++) {
        double e = fabs(predict_runs_error(&all->v.v[i]));

        s.mean += e / (double)all->v.n;
        s.most = fmax(s.most, e);
        s.held += all->v.v[i].job->runtime_s >= all->v.v[i].predicted.low_s &&
                  all->v.v[i].job->runtime_s <= all->v.v[i].predicted.high_s;
    }
    return s;
}

static void predict_runs_print_text(FILE *out, const struct interference_training *l,
                                    const struct all_seen *all, uint32_t weights)
{
    struct sum s = predict_runs_summarise(all);
    struct wr_str words = {0};

    predict_runs_print_alone(out, CLI_AS_TEXT, l);
    fputc('\n', out);
    predict_runs_print_capacity(out, CLI_AS_TEXT, l);
    predict_runs_print_rules(out, l);
    if (!all->v.n) {
        predict_runs_time_words(&words, l);
        fprintf(out, "\n%s\n", wr_str_get(&words));
        wr_str_fini(&words);
        fputs("no run holds jobs that went on together; there is nothing to predict\n", out);
        return;
    }
    fputc('\n', out);
    predict_runs_print_seen(out, CLI_AS_TEXT, all);
    predict_runs_time_words(&words, l);
    wr_str_add(&words, "\n");
    interfere_weights_words(&words, weights, l);
    fprintf(out, "\n%s\n", wr_str_get(&words));
    wr_str_fini(&words);
    fprintf(out,
            "%zu run times, each predicted without its own run: off by %.1f %% on average, %.1f "
            "%% at most\n",
            all->v.n, 100 * s.mean, 100 * s.most);
    if (all->cases < INTERFERENCE_RANGE_LEAST)
        fprintf(out,
                "the %.0f %% ranges hold %zu of them; they are a measured NFS server's, because "
                "only %zu other run times are known\n",
                100 * INTERFERENCE_RANGE, s.held, all->cases);
    else
        fprintf(out,
                "the %.0f %% ranges hold %zu of them; they are made of the errors of the others\n",
                100 * INTERFERENCE_RANGE, s.held);
}

static void predict_runs_print_json(FILE *out, const struct interference_training *l,
                                    const struct all_seen *all, uint32_t weights)
{
    struct sum s = predict_runs_summarise(all);

    fputs("{\"alone\":\n", out);
    predict_runs_print_alone(out, CLI_AS_JSON, l);
    fputs(", \"capacity\":\n", out);
    predict_runs_print_capacity(out, CLI_AS_JSON, l);
    fputs(", \"predicted\":\n", out);
    predict_runs_print_seen(out, CLI_AS_JSON, all);
    fprintf(
        out, ", \"weights\": \"%s\", \"weights_from\": \"%s\"",
        interference_weights_names[interfere_weights_learnt((enum interference_weights)weights, l)],
        weights != INTERFERENCE_WEIGHT_AUTO ? "given"
        : l->rule_known                     ? "overlaps"
                                            : "default");
    if (!isnan(l->rule_off[0]))
        for (int r = 0; r < INTERFERENCE_RULES; r++)
            fprintf(out, ", \"share_off_%s\": %.9g", interference_rule_names[r], l->rule_off[r]);
    if (all->v.n)
        fprintf(out,
                ", \"mean_error_percent\": %.9g, \"max_error_percent\": %.9g, \"range_part\": %g, "
                "\"range_from\": \"%s\", \"range_cases\": %zu, \"range_holds\": %zu",
                100 * s.mean, 100 * s.most, INTERFERENCE_RANGE,
                all->cases < INTERFERENCE_RANGE_LEAST ? "prior" : "residuals", all->cases, s.held);
    fputs("}\n", out);
}

static bool predict_runs_open_training(struct interference_training *l,
                                       const struct interfere_predict_opts *o,
                                       const char *const *seen, size_t nseen, struct wr_err *err)
{
    enum interference_op op = (enum interference_op)o->op;

    return (!o->from.n ||
            interference_training_add(l, o->from.v, o->from.n, INTERFERENCE_TRAINS, op, err)) &&
           (!nseen || interference_training_add(l, seen, nseen,
                                                o->from.n ? INTERFERENCE_IS_PREDICTED
                                                          : INTERFERENCE_BOTH_ROLES,
                                                op, err)) &&
           interference_training_fit(l, o->together, err);
}

bool interfere_predict_seen(const struct cli_call *call, const struct interfere_predict_opts *o,
                            struct wr_err *err)
{
    struct interference_training l = {0};
    struct all_seen all = {0};

    if (o->cases || o->capacity || o->jobs.n || o->schedule || o->check)
        return wr_fail(err, WR_INPUT,
                       "run files bring their own jobs and capacity; leave out --cases, "
                       "--capacity, --job, --schedule and --check");
    bool ok = predict_runs_open_training(&l, o, (const char *const *)call->args,
                                         (size_t)call->nargs, err) &&
              predict_runs_all(&all, &l, predict_runs_how(o->weights, &l), err);

    if (ok && o->json)
        predict_runs_print_json(call->out, &l, &all, o->weights);
    else if (ok)
        predict_runs_print_text(call->out, &l, &all, o->weights);
    wr_vec_fini(&all.v);
    interference_training_fini(&l);
    return ok;
}

/* ---- jobs of the command line ---- */

static const struct interference_capacity *predict_runs_find_mode(
    const struct interference_training *l, const char *mode, struct wr_err *err)
{
    const struct interference_capacity *c =
        mode ? interference_find_capacity(l, mode) : &l->capacities.v[0];

    if (!c)
        wr_fail(err, WR_UNKNOWN, "no run alone has the mode \"%s\"; the first has \"%s\"",
                wr_text_clip(mode).s, predict_runs_shown_mode(l->capacities.v[0].mode));
    else if (!mode && l->capacities.n > 1)
        wr_fail(err, WR_INPUT, "there are runs of %zu modes; choose one with --mode %s",
                l->capacities.n, predict_runs_shown_mode(c->mode));
    return !mode && l->capacities.n > 1 ? NULL : c;
}

static void predict_runs_add_caps(struct interference_cases *cs,
                                  const struct interference_training *l, const char *mode)
{
    struct interference_case *c = &cs->v[0];

    for (size_t i = 0; i < c->napps; i++) {
        struct interference_app *app = &c->app[i];
        size_t nodes = isnan(app->nodes) ? 1 : (size_t)app->nodes;
        size_t processes = isnan(app->processes) ? nodes : (size_t)app->processes;
        const struct interference_config *a = interference_find_config(l, mode, processes, nodes);

        if (!isinf(app->cap) || !a)
            continue;
        app->cap = c->job[i].cap = a->cap_bps / mib;
    }
}

bool interfere_predict_asked(struct interference_cases *ret, const struct interfere_predict_opts *o,
                             struct wr_err *err)
{
    struct interference_training l = {0};
    struct wr_str capacity = {0};
    bool ok = predict_runs_open_training(&l, o, NULL, 0, err);
    const struct interference_capacity *c = ok ? predict_runs_find_mode(&l, o->mode, err) : NULL;

    for (size_t k = 0; c && k < c->n; k++)
        wr_str_addf(&capacity, "%s%.17g B/s", k ? "," : "", c->by_active[k]);
    ok = c && interference_cases_words(
                  ret, o->capacity ? o->capacity : wr_str_get(&capacity), o->jobs.v, o->jobs.n,
                  interfere_weights_learnt((enum interference_weights)o->weights, &l), err);
    if (ok) {
        struct wr_str words = {0};

        predict_runs_add_caps(ret, &l, c->mode);
        predict_runs_time_words(&words, &l);
        wr_str_add(&words, "\n");
        interfere_weights_words(&words, o->weights, &l);
        ret->note = wr_arena_strdup(&ret->arena, wr_str_get(&words));
        wr_str_fini(&words);
    }
    wr_str_fini(&capacity);
    interference_training_fini(&l);
    return ok;
}
