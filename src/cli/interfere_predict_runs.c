/* interfere_predict_runs.c -- `weir interfere predict` with run files: what they teach, and how
 * well they are predicted from each other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/interfere_predict.h"
#include "cli/table.h"

static const double mib = 1 << 20;

/* Weights by nodes, processes or equal are the rules of the same names. */
static const enum inter_rule predict_rules[] = {[INTERFERE_NODES] = INTER_RULE_NODES,
                                                [INTERFERE_PROCESSES] = INTER_RULE_PROCESSES,
                                                [INTERFERE_EQUAL] = INTER_RULE_JOBS};

enum interfere_weights interfere_weights_learnt(enum interfere_weights given,
                                                const struct inter_lesson *l)
{
    static const enum interfere_weights by[] = {[INTER_RULE_NODES] = INTERFERE_NODES,
                                                [INTER_RULE_PROCESSES] = INTERFERE_PROCESSES,
                                                [INTER_RULE_JOBS] = INTERFERE_EQUAL};

    return given == INTERFERE_AUTO ? by[l->rule] : given;
}

void interfere_weights_words(struct wr_str *out, uint32_t given, const struct inter_lesson *l)
{
    const char *by =
        interfere_weights_names[interfere_weights_learnt((enum interfere_weights)given, l)];

    wr_str_addf(out,
                given == INTERFERE_EQUAL || !strcmp(by, "equal") ? "weights are equal"
                                                                 : "weights by %s",
                by);
    if (given != INTERFERE_AUTO)
        wr_str_add(out, ", as --weights says");
    else if (l->rule_told)
        wr_str_addf(out, ": nearest to the shares in %zu overlap%s", l->overlaps,
                    l->overlaps == 1 ? "" : "s");
    else
        wr_str_addf(out, ": %zu overlap%s cannot tell; choose with --weights", l->overlaps,
                    l->overlaps == 1 ? "" : "s");
}

static struct inter_how predict_how(uint32_t weights, const struct inter_lesson *l)
{
    enum interfere_weights by = interfere_weights_learnt((enum interfere_weights)weights, l);

    return (struct inter_how){.rule = predict_rules[by], .fitted = weights == INTERFERE_AUTO};
}

static const char *shown_mode(const char *mode)
{
    return *mode ? mode : "unknown";
}

static double digits(double v, double scale)
{
    return round(v * scale) / scale;
}

/* ---- what was learnt ---- */

static void print_alone(FILE *out, enum cli_format format, const struct inter_lesson *l)
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

    for (size_t i = 0; i < l->alike.n; i++) {
        const struct inter_alike *a = &l->alike.v[i];

        cli_table_text(t, shown_mode(a->mode));
        cli_table_int(t, (int64_t)a->processes);
        cli_table_int(t, (int64_t)a->nodes);
        cli_table_int(t, (int64_t)a->rates.n);
        cli_table_real(t, digits(a->mid_bps / mib, 1e3));
        cli_table_real(t, digits(a->low_bps / mib, 1e3));
        cli_table_real(t, digits(a->high_bps / mib, 1e3));
    }
    cli_table_close(t);
}

static void print_capacity(FILE *out, enum cli_format format, const struct inter_lesson *l)
{
    static const struct cli_column columns[] = {{"mode", NULL},
                                                {"active", "active jobs"},
                                                {"capacity_mib_s", "server, MiB/s"},
                                                {"runs", NULL}};
    struct cli_table *t = cli_table_open(out, format, columns, 4);

    for (size_t i = 0; i < l->carried.n; i++)
        for (size_t k = 0; k < l->carried.v[i].n; k++) {
            cli_table_text(t, shown_mode(l->carried.v[i].mode));
            cli_table_int(t, (int64_t)k + 1);
            cli_table_real(t, digits(l->carried.v[i].by_active[k] / mib, 1e3));
            cli_table_int(t, (int64_t)l->carried.v[i].runs[k]);
        }
    cli_table_close(t);
}

static void print_rules(FILE *out, const struct inter_lesson *l)
{
    static const char *const by[] = {"processes", "nodes"};

    if (isnan(l->rule_off[0]))
        return;
    fprintf(out, "\nshares in %zu overlap%s differ from those by", l->overlaps,
            l->overlaps == 1 ? "" : "s");
    for (int r = 0; r < INTER_RULES; r++)
        fprintf(out, "%s %s by %.1f points", r ? "," : "", inter_rule_names[r],
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
    const struct inter_job *job;
    struct inter_told told;
};

struct all_seen {
    WR_VEC(struct seen) v;
    size_t cases; /* run times of other runs that ranges are made of, at least */
};

static double off(const struct seen *s)
{
    return s->told.runtime_s / s->job->runtime_s - 1;
}

static bool predict_group(struct all_seen *all, const struct inter_lesson *l,
                          const struct inter_group *g, struct inter_how how, struct wr_err *err)
{
    struct inter_told *told = wr_zalloc(g->set.njobs, sizeof *told);
    bool ok = inter_predict_group(told, l, g, how, err);
    size_t cases = inter_range_cases(l, g);

    for (size_t i = 0; ok && i < g->set.njobs; i++)
        wr_vec_push(&all->v, (struct seen){g->name, &g->set.job[i], told[i]});
    all->cases = all->cases && all->cases < cases ? all->cases : cases;
    free(told);
    return ok;
}

static bool predict_all(struct all_seen *all, struct inter_lesson *l, struct inter_how how,
                        struct wr_err *err)
{
    inter_calibrate(l, how);
    for (size_t i = 0; i < l->groups.n; i++)
        if (l->groups.v[i].part & INTER_IS_ASKED && l->groups.v[i].set.njobs > 1 &&
            !predict_group(all, l, &l->groups.v[i], how, err))
            return wr_wrap(err, "%s", l->groups.v[i].name);
    return true;
}

static const struct cli_column seen_columns[] = {
    {"run", NULL},
    {"job", NULL},
    {"mode", NULL},
    {"processes", NULL},
    {"nodes", NULL},
    {"weight", NULL},
    {"start_s", "start, s"},
    {"alone_s", "alone, s"},
    {"seen_s", "seen, s"},
    {"predicted_s", "predicted, s"},
    {"low_s", "from"},
    {"high_s", "to"},
    {"error_percent", "off, %"},
};

static void print_seen(FILE *out, enum cli_format format, const struct all_seen *all)
{
    struct cli_table *t =
        cli_table_open(out, format, seen_columns, sizeof seen_columns / sizeof seen_columns[0]);
    double scale = format == CLI_AS_TEXT ? 1e2 : 1e9;

    for (size_t i = 0; i < all->v.n; i++) {
        const struct seen *s = &all->v.v[i];

        cli_table_text(t, s->group);
        cli_table_text(t, s->job->name);
        cli_table_text(t, shown_mode(s->job->mode ? s->job->mode : ""));
        cli_table_int(t, (int64_t)inter_processes(s->job));
        cli_table_int(t, (int64_t)s->job->nnodes);
        cli_table_real(t, s->told.weight);
        cli_table_real(t, digits(s->job->start_s, scale));
        cli_table_real(t, digits(s->told.alone_s, scale));
        cli_table_real(t, digits(s->job->runtime_s, scale));
        cli_table_real(t, digits(s->told.runtime_s, scale));
        cli_table_real(t, digits(s->told.low_s, scale));
        cli_table_real(t, digits(s->told.high_s, scale));
        cli_table_real(t, digits(100 * off(s), format == CLI_AS_TEXT ? 10 : 1e9));
    }
    cli_table_close(t);
}

struct sum {
    double mean, most;
    size_t held; /* in their range */
};

static struct sum sum_up(const struct all_seen *all)
{
    struct sum s = {0};

    for (size_t i = 0; i < all->v.n; i++) {
        double e = fabs(off(&all->v.v[i]));

        s.mean += e / (double)all->v.n;
        s.most = fmax(s.most, e);
        s.held += all->v.v[i].job->runtime_s >= all->v.v[i].told.low_s &&
                  all->v.v[i].job->runtime_s <= all->v.v[i].told.high_s;
    }
    return s;
}

static void print_text(FILE *out, const struct inter_lesson *l, const struct all_seen *all,
                       uint32_t weights)
{
    struct sum s = sum_up(all);
    struct wr_str words = {0};

    print_alone(out, CLI_AS_TEXT, l);
    fputc('\n', out);
    print_capacity(out, CLI_AS_TEXT, l);
    print_rules(out, l);
    if (!all->v.n) {
        fputs("\nno run holds jobs that went on together; there is nothing to predict\n", out);
        return;
    }
    fputc('\n', out);
    print_seen(out, CLI_AS_TEXT, all);
    interfere_weights_words(&words, weights, l);
    fprintf(out, "\n%s\n", wr_str_get(&words));
    wr_str_fini(&words);
    fprintf(out,
            "%zu run times, each predicted without its own run: off by %.1f %% on average, %.1f "
            "%% at most\n",
            all->v.n, 100 * s.mean, 100 * s.most);
    if (all->cases < INTER_RANGE_LEAST)
        fprintf(out,
                "the %.0f %% ranges hold %zu of them; they are a measured NFS server's, because "
                "only %zu other run times are known\n",
                100 * INTER_RANGE, s.held, all->cases);
    else
        fprintf(out,
                "the %.0f %% ranges hold %zu of them; they are made of the errors of the others\n",
                100 * INTER_RANGE, s.held);
}

static void print_json(FILE *out, const struct inter_lesson *l, const struct all_seen *all,
                       uint32_t weights)
{
    struct sum s = sum_up(all);

    fputs("{\"alone\":\n", out);
    print_alone(out, CLI_AS_JSON, l);
    fputs(", \"capacity\":\n", out);
    print_capacity(out, CLI_AS_JSON, l);
    fputs(", \"predicted\":\n", out);
    print_seen(out, CLI_AS_JSON, all);
    fprintf(out, ", \"weights\": \"%s\", \"weights_from\": \"%s\"",
            interfere_weights_names[interfere_weights_learnt((enum interfere_weights)weights, l)],
            weights != INTERFERE_AUTO ? "given"
            : l->rule_told            ? "overlaps"
                                      : "default");
    if (!isnan(l->rule_off[0]))
        for (int r = 0; r < INTER_RULES; r++)
            fprintf(out, ", \"share_off_%s\": %.9g", inter_rule_names[r], l->rule_off[r]);
    if (all->v.n)
        fprintf(out,
                ", \"mean_error_percent\": %.9g, \"max_error_percent\": %.9g, \"range_part\": %g, "
                "\"range_from\": \"%s\", \"range_cases\": %zu, \"range_holds\": %zu",
                100 * s.mean, 100 * s.most, INTER_RANGE,
                all->cases < INTER_RANGE_LEAST ? "prior" : "residuals", all->cases, s.held);
    fputs("}\n", out);
}

static bool open_lesson(struct inter_lesson *l, const struct interfere_predict_opts *o,
                        const char *const *seen, size_t nseen, struct wr_err *err)
{
    enum inter_op op = (enum inter_op)o->op;

    return (!o->from.n || inter_lesson_add(l, o->from.v, o->from.n, INTER_TEACHES, op, err)) &&
           (!nseen || inter_lesson_add(l, seen, nseen, o->from.n ? INTER_IS_ASKED : INTER_DOES_BOTH,
                                       op, err)) &&
           inter_lesson_learn(l, o->together, err);
}

bool interfere_predict_seen(const struct cli_call *call, const struct interfere_predict_opts *o,
                            struct wr_err *err)
{
    struct inter_lesson l = {0};
    struct all_seen all = {0};

    if (o->cases || o->capacity || o->jobs.n || o->schedule || o->check)
        return wr_fail(err, WR_INPUT,
                       "run files bring their own jobs and capacity; leave out --cases, "
                       "--capacity, --job, --schedule and --check");
    bool ok = open_lesson(&l, o, (const char *const *)call->args, (size_t)call->nargs, err) &&
              predict_all(&all, &l, predict_how(o->weights, &l), err);

    if (ok && o->json)
        print_json(call->out, &l, &all, o->weights);
    else if (ok)
        print_text(call->out, &l, &all, o->weights);
    wr_vec_fini(&all.v);
    inter_lesson_fini(&l);
    return ok;
}

/* ---- jobs of the command line ---- */

static const struct inter_carried *asked_mode(const struct inter_lesson *l, const char *mode,
                                              struct wr_err *err)
{
    const struct inter_carried *c = mode ? inter_find_carried(l, mode) : &l->carried.v[0];

    if (!c)
        wr_fail(err, WR_UNKNOWN, "no run alone has the mode \"%s\"; the first has \"%s\"",
                wr_text_clip(mode).s, shown_mode(l->carried.v[0].mode));
    else if (!mode && l->carried.n > 1)
        wr_fail(err, WR_INPUT, "there are runs of %zu modes; choose one with --mode %s",
                l->carried.n, shown_mode(c->mode));
    return !mode && l->carried.n > 1 ? NULL : c;
}

static void add_caps(struct interfere_cases *cs, const struct inter_lesson *l, const char *mode)
{
    struct interfere_case *c = &cs->v[0];

    for (size_t i = 0; i < c->napps; i++) {
        struct interfere_app *app = &c->app[i];
        size_t nodes = isnan(app->nodes) ? 1 : (size_t)app->nodes;
        size_t processes = isnan(app->processes) ? nodes : (size_t)app->processes;
        const struct inter_alike *a = inter_find_alike(l, mode, processes, nodes);

        if (!isinf(app->cap) || !a)
            continue;
        app->cap = c->job[i].cap = a->cap_bps / mib;
    }
}

bool interfere_predict_asked(struct interfere_cases *ret, const struct interfere_predict_opts *o,
                             struct wr_err *err)
{
    struct inter_lesson l = {0};
    struct wr_str capacity = {0};
    bool ok = open_lesson(&l, o, NULL, 0, err);
    const struct inter_carried *c = ok ? asked_mode(&l, o->mode, err) : NULL;

    for (size_t k = 0; c && k < c->n; k++)
        wr_str_addf(&capacity, "%s%.17g B/s", k ? "," : "", c->by_active[k]);
    ok = c && interfere_cases_words(
                  ret, o->capacity ? o->capacity : wr_str_get(&capacity), o->jobs.v, o->jobs.n,
                  interfere_weights_learnt((enum interfere_weights)o->weights, &l), err);
    if (ok) {
        struct wr_str words = {0};

        add_caps(ret, &l, c->mode);
        interfere_weights_words(&words, o->weights, &l);
        ret->note = wr_arena_strdup(&ret->arena, wr_str_get(&words));
        wr_str_fini(&words);
    }
    wr_str_fini(&capacity);
    inter_lesson_fini(&l);
    return ok;
}
