/* cmd_interfere_alone.c -- `weir interfere alone`: what jobs that were together take alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/cli_table.h"
#include "cli/interfere.h"
#include "cli/interfere_predict.h"
#include "interference/training.h"
#include "stat/share.h"

struct alone_opts {
    struct cli_list jobs;
    uint32_t weights, op;
    bool json;
};

static const struct cli_opt alone_rows[] = {
    {.name = "job",
     .type = CLI_LIST,
     .offset = offsetof(struct alone_opts, jobs),
     .value = "KEY=VALUE,...",
     .help = "one job that was seen: time=202s, and where it has them name=A, start=5s, nodes=3, "
             "processes=36, weight=2.5; may be given several times"},
    {.name = "weights",
     .type = CLI_CHOICE,
     .offset = offsetof(struct alone_opts, weights),
     .value = "BY",
     .def = "auto",
     .help = "what a job weighs that has no weight: the number of its nodes, of its processes, all "
             "equal, or what the overlaps of the run files show: auto, which is nodes without any",
     .names = interference_weights_names},
    {.name = "op",
     .type = CLI_CHOICE,
     .offset = offsetof(struct alone_opts, op),
     .value = "OP",
     .def = "write",
     .help = "which bytes of run files count",
     .names = interference_op_names},
    CLI_JSON(struct alone_opts, json),
    CLI_OPT_END,
};

/* One job, from a run file or from words. */
struct seen {
    const char *run, *name;
    double time_s, start_s, weight, nodes, processes;
    double by_weight_s, by_bytes_s, alone_s; /* NaN: not known */
};

struct all_seen {
    WR_VEC(struct seen) v;
};

/* ---- words ---- */

static bool alone_parse_seconds(double *ret, const char *text, struct wr_err *err)
{
    double ps;

    if (!wr_parse_time(&ps, text, err))
        return false;
    *ret = ps / 1e12;
    return true;
}

static const struct {
    const char *key;
    size_t offset;
    bool (*read)(double *ret, const char *text, struct wr_err *err);
} fields[] = {
    {"time", offsetof(struct seen, time_s), alone_parse_seconds},
    {"start", offsetof(struct seen, start_s), alone_parse_seconds},
    {"weight", offsetof(struct seen, weight), wr_parse_real},
    {"nodes", offsetof(struct seen, nodes), wr_parse_real},
    {"processes", offsetof(struct seen, processes), wr_parse_real},
};
enum { NFIELDS = sizeof fields / sizeof fields[0] };

static bool alone_read_pair(struct seen *job, char *word, struct wr_err *err)
{
    char *value = strchr(word, '=');
    struct wr_nearest near = {.want = word};

    if (!value || !value[1])
        return wr_fail(err, WR_INPUT, "\"%s\" has no value; write time=202s", wr_text_clip(word).s);
    *value++ = 0;
    if (!strcmp(word, "name")) {
        job->name = value;
        return true;
    }
    for (size_t i = 0; i < NFIELDS; i++) {
        void *at = (char *)job + fields[i].offset;

        if (!strcmp(fields[i].key, word))
            return fields[i].read(at, value, err) || wr_wrap(err, "%s", word);
        wr_nearest_try(&near, fields[i].key);
    }
    return wr_fail(err, WR_UNKNOWN, "a job has no \"%s\"; %s%s%s", wr_text_clip(word).s,
                   near.best ? "did you mean "
                             : "it has name, time, start, weight, nodes, processes",
                   near.best ? near.best : "", near.best ? "?" : "");
}

static bool alone_read_job(struct all_seen *all, const char *text, struct wr_arena *arena,
                           struct wr_err *err)
{
    struct seen job = {.run = "",
                       .name = wr_arena_printf(arena, "%c", 'A' + (int)(all->v.n % 26)),
                       .time_s = NAN,
                       .weight = NAN,
                       .nodes = NAN,
                       .processes = NAN,
                       .by_bytes_s = NAN,
                       .alone_s = NAN};
    char *words = wr_arena_strdup(arena, text), *save = NULL;

    for (char *w = strtok_r(words, ",", &save); w; w = strtok_r(NULL, ",", &save))
        if (!alone_read_pair(&job, w, err))
            return false;
    if (!(job.time_s > 0))
        return wr_fail(err, WR_INPUT, "the run time is missing; add time=202s");
    wr_vec_push(&all->v, job);
    return true;
}

/* Weights come from what is counted; jobs of which nothing is known weigh alike. */
static bool alone_set_weights(struct seen *job, enum interference_weights by, struct wr_err *err)
{
    double count = by == INTERFERENCE_WEIGHT_PROCESSES ? job->processes
                   : by == INTERFERENCE_WEIGHT_EQUAL   ? 1
                                                       : job->nodes;

    if (isnan(job->weight))
        job->weight = isnan(count) ? 1 : count;
    if (!(job->weight > 0 && job->weight < 1e15))
        return wr_fail(err, WR_INPUT, "job %s weighs %s; give a weight above 0",
                       wr_text_clip(job->name).s, wr_text_real(job->weight).s);
    return true;
}

static bool alone_solve(struct seen *v, size_t n, enum interference_weights by, struct wr_err *err)
{
    struct stat_share_seen *s = wr_zalloc(n, sizeof *s);
    double *alone = wr_zalloc(n, sizeof *alone);
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++) {
        ok = alone_set_weights(&v[i], by, err);
        s[i] = (struct stat_share_seen){v[i].start_s, v[i].start_s + v[i].time_s, v[i].weight};
    }
    if (ok)
        stat_share_alone(alone, s, n);
    for (size_t i = 0; ok && i < n; i++)
        v[i].by_weight_s = alone[i];
    free(s);
    free(alone);
    return ok;
}

/* ---- run files ---- */

/* The time the server worked for a job: its part of the bytes of each slice, in which it was
 * running. */
static double alone_time_by_bytes(const struct interference_set *s,
                                  const struct interference_job *j)
{
    double sum = 0;

    for (size_t k = j->first; k < j->after; k++) {
        double all = 0;

        for (size_t i = 0; i < s->njobs; i++)
            all += interference_job_bytes(s, &s->job[i], k);
        sum += all > 0 ? s->slice_s * interference_job_bytes(s, j, k) / all : 0;
    }
    return sum;
}

static bool alone_add_group(struct all_seen *all, const struct interference_training *l,
                            const struct interference_group *g, enum interference_weights by,
                            struct wr_err *err)
{
    size_t first = all->v.n;

    for (size_t i = 0; i < g->set.njobs; i++) {
        const struct interference_job *j = &g->set.job[i];
        const struct interference_config *a = interference_find_config(
            l, j->mode ? j->mode : "", interference_processes(j), j->nnodes);

        wr_vec_push(&all->v, (struct seen){.run = g->name,
                                           .name = j->name,
                                           .time_s = j->runtime_s,
                                           .start_s = j->start_s,
                                           .weight = NAN,
                                           .nodes = (double)j->nnodes,
                                           .processes = (double)interference_processes(j),
                                           .by_bytes_s = alone_time_by_bytes(&g->set, j),
                                           .alone_s = a ? j->volume_b / a->mid_bps : NAN});
    }
    return alone_solve(all->v.v + first, g->set.njobs, by, err);
}

static bool alone_read_runs(struct all_seen *all, struct interference_training *l,
                            const struct cli_call *call, struct wr_err *err)
{
    const struct alone_opts *o = call->opts;

    if (!interference_training_add(l, (const char *const *)call->args, (size_t)call->nargs,
                                   INTERFERENCE_BOTH_ROLES, (enum interference_op)o->op, err) ||
        !interference_training_fit(l, true, err))
        return false;
    enum interference_weights by =
        interfere_weights_learnt((enum interference_weights)o->weights, l);

    for (size_t i = 0; i < l->groups.n; i++)
        if (l->groups.v[i].set.njobs > 1 && !alone_add_group(all, l, &l->groups.v[i], by, err))
            return false;
    return all->v.n ||
           wr_fail(err, WR_INPUT, "no two jobs of these runs went on together; give runs that did");
}

/* ---- the verb ---- */

static const struct cli_column columns[] = {
    {"run", NULL},
    {"job", NULL},
    {"weight", NULL},
    {"together_s", "together, s"},
    {"by_weight_s", "alone by weights, s"},
    {"by_bytes_s", "alone by bytes, s"},
    {"seen_s", "seen alone, s"},
    {"slowdown", NULL},
};

static double alone_round(double v, bool text)
{
    return text ? cli_round(v, 1e3) : v;
}

static void alone_print(FILE *out, const struct all_seen *all, bool json, bool runs)
{
    int skip = !runs;
    struct cli_table *t = cli_table_open(out, json ? CLI_AS_JSON : CLI_AS_TEXT, columns + skip,
                                         (int)(sizeof columns / sizeof columns[0]) - skip);

    for (size_t i = 0; i < all->v.n; i++) {
        const struct seen *s = &all->v.v[i];

        if (runs)
            cli_table_text(t, s->run);
        cli_table_text(t, s->name);
        cli_table_real(t, s->weight);
        cli_table_real(t, alone_round(s->time_s, !json));
        cli_table_real(t, alone_round(s->by_weight_s, !json));
        cli_table_real(t, alone_round(s->by_bytes_s, !json));
        cli_table_real(t, alone_round(s->alone_s, !json));
        cli_table_real(t, alone_round(s->time_s / s->by_weight_s, !json));
    }
    cli_table_close(t);
}

static void alone_print_errors(FILE *out, const struct all_seen *all)
{
    double sum[2] = {0};
    size_t n = 0;

    for (size_t i = 0; i < all->v.n; i++) {
        const struct seen *s = &all->v.v[i];

        if (isnan(s->alone_s))
            continue;
        n++;
        sum[0] += fabs(s->by_weight_s / s->alone_s - 1);
        sum[1] += fabs(s->by_bytes_s / s->alone_s - 1);
    }
    if (n)
        fprintf(out,
                "\nagainst %zu that were also seen alone: by weights off by %.1f %% on average, by "
                "bytes by %.1f %%\n",
                n, 100 * sum[0] / (double)n, 100 * sum[1] / (double)n);
}

static bool alone_print_all(const struct cli_call *call, struct all_seen *all,
                            struct interference_training *l, struct wr_err *err)
{
    const struct alone_opts *o = call->opts;

    if (!o->jobs.n == !call->nargs)
        return wr_fail(err, WR_INPUT, "give run files, or --job time=202s for each job");
    for (size_t i = 0; i < o->jobs.n; i++)
        if (!alone_read_job(all, o->jobs.v[i], call->arena, err))
            return wr_wrap(err, "--job %s", wr_text_clip(o->jobs.v[i]).s);
    if (o->jobs.n ? !alone_solve(all->v.v, all->v.n, (enum interference_weights)o->weights, err)
                  : !alone_read_runs(all, l, call, err))
        return false;
    alone_print(call->out, all, o->json, call->nargs);
    if (!o->json)
        alone_print_errors(call->out, all);
    if (!o->json && call->nargs) {
        struct wr_str words = {0};

        interfere_weights_words(&words, o->weights, l);
        fprintf(call->out, "%s\n", wr_str_get(&words));
        wr_str_fini(&words);
    }
    return true;
}

static int alone_main(const struct cli_call *call, struct wr_err *err)
{
    struct interference_training l = {0};
    struct all_seen all = {0};
    bool ok = alone_print_all(call, &all, &l, err);

    wr_vec_fini(&all.v);
    interference_training_fini(&l);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_interfere_alone = {
    .name = "alone",
    .summary = "predict run times alone of jobs that were measured together",
    .args = "[RUN...]",
    .max_args = -1,
    .about =
        "While jobs are active each has the part of the server that its weight is of all active "
        "weights; the sum of these parts over its run is what it would take alone. For two jobs "
        "that begin together these are the published equations, and for jobs that could each fill "
        "the server it is exact. Of run files the parts are also taken from the bytes that were "
        "moved, and jobs that were also seen alone are compared.",
    .examples = "weir interfere alone --job time=202s,nodes=5 --job time=337s,nodes=1\n"
                "weir interfere alone a.weir b.weir\n",
    .opts = alone_rows,
    .opts_size = sizeof(struct alone_opts),
    .main = alone_main,
};
