/* cmd_interfere_tables.c -- `weir interfere tables`: predictions against a study's tables. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "cli/cli_table.h"
#include "cli/interfere.h"
#include "interference/interference_tables.h"

struct tables_opts {
    const char *volume;
    uint32_t per_node;
    bool json;
};

static const struct cli_opt tables_rows[] = {
    {.name = "volume",
     .type = CLI_TEXT,
     .offset = offsetof(struct tables_opts, volume),
     .value = "SIZE",
     .def = "16000MiB",
     .help = "what each job moves"},
    {.name = "per-node",
     .type = CLI_U32,
     .offset = offsetof(struct tables_opts, per_node),
     .value = "N",
     .def = "12",
     .help = "processes on one node"},
    CLI_JSON(struct tables_opts, json),
    CLI_OPT_END,
};

static const struct cli_column pair_columns[] = {
    {"mode", NULL},
    {"storage", NULL},
    {"pair", NULL},
    {"processes", "job"},
    {"alone_s", "alone, s"},
    {"seen_s", "seen, s"},
    {"equations_s", "equations, s"},
    {"equations_error_percent", "off, %"},
    {"processes_s", "by processes, s"},
    {"processes_error_percent", "off, %"},
    {"nodes_s", "by nodes, s"},
    {"nodes_error_percent", "off, %"},
};

static void cmd_tables_print_pairs(FILE *out, enum cli_format format,
                                   const struct interference_tables *tables)
{
    struct cli_table *t =
        cli_table_open(out, format, pair_columns, sizeof pair_columns / sizeof pair_columns[0]);
    bool text = format == CLI_AS_TEXT;

    for (size_t i = 0; i < tables->seen.n; i++) {
        const struct interference_seen *s = &tables->seen.v[i];
        char pair[64];

        snprintf(pair, sizeof pair, "%g+%g", s->p, s->q);
        cli_table_text(t, s->mode);
        cli_table_text(t, s->storage);
        cli_table_text(t, pair);
        cli_table_real(t, s->processes);
        cli_table_real(t, text ? cli_round(s->alone_s, 10) : s->alone_s);
        cli_table_real(t, text ? cli_round(s->seen_s, 10) : s->seen_s);
        for (int m = 0; m < INTERFERENCE_METHODS; m++) {
            double off = 100 * interference_error(s, (enum interference_method)m);

            cli_table_real(t, text ? cli_round(s->predicted_s[m], 10) : s->predicted_s[m]);
            cli_table_real(t, text ? cli_round(off, 10) : off);
        }
    }
    cli_table_close(t);
}

struct summary {
    size_t n;
    double sum, most, most_above_one;
};

/* All jobs of the mode and storage of `like`. */
static struct summary cmd_tables_summarise(const struct interference_tables *tables,
                                           const struct interference_seen *like,
                                           enum interference_method m)
{
    struct summary sum = {.most_above_one = NAN}; /* absent when there is no such pair */

    for (size_t i = 0; i < tables->seen.n; i++) {
        const struct interference_seen *s = &tables->seen.v[i];
        double off = 100 * fabs(interference_error(s, m));

        if (strcmp(s->mode, like->mode) != 0 || strcmp(s->storage, like->storage) != 0)
            continue;
        sum.n++;
        sum.sum += off;
        sum.most = fmax(sum.most, off);
        if (s->p > 1 && s->q > 1)
            sum.most_above_one = fmax(sum.most_above_one, off);
    }
    return sum;
}

static bool cmd_tables_first_of_kind(const struct interference_tables *tables, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(tables->seen.v[k].mode, tables->seen.v[i].mode) &&
            !strcmp(tables->seen.v[k].storage, tables->seen.v[i].storage))
            return false;
    return true;
}

static void cmd_tables_print_summary(FILE *out, enum cli_format format,
                                     const struct interference_tables *tables)
{
    static const struct cli_column columns[] = {
        {"mode", NULL},
        {"storage", NULL},
        {"method", NULL},
        {"jobs", NULL},
        {"mean_error_percent", "mean error, %"},
        {"max_error_percent", "largest, %"},
        {"max_error_above_one_percent", "largest, both above one process, %"}};
    struct cli_table *t = cli_table_open(out, format, columns, 7);
    bool text = format == CLI_AS_TEXT;

    for (size_t i = 0; i < tables->seen.n; i++)
        for (int m = 0; cmd_tables_first_of_kind(tables, i) && m < INTERFERENCE_METHODS; m++) {
            const struct interference_seen *s = &tables->seen.v[i];
            struct summary sum = cmd_tables_summarise(tables, s, (enum interference_method)m);
            double mean = sum.sum / (double)sum.n;

            cli_table_text(t, s->mode);
            cli_table_text(t, s->storage);
            cli_table_text(t, interference_method_names[m]);
            cli_table_int(t, (int64_t)sum.n);
            cli_table_real(t, text ? cli_round(mean, 10) : mean);
            cli_table_real(t, text ? cli_round(sum.most, 10) : sum.most);
            cli_table_real(t, text ? cli_round(sum.most_above_one, 10) : sum.most_above_one);
        }
    cli_table_close(t);
}

static bool cmd_tables_print(const struct cli_call *call, struct wr_err *err)
{
    const struct tables_opts *o = call->opts;
    enum cli_format format = o->json ? CLI_AS_JSON : CLI_AS_TEXT;
    struct interference_tables tables;
    uint64_t volume;

    if (!wr_parse_bytes(&volume, o->volume, err))
        return wr_wrap(err, "--volume");
    if (!volume || !o->per_node)
        return wr_fail(err, WR_INPUT, "--%s is 0; give more", volume ? "per-node" : "volume");
    if (!interference_tables_read(&tables, call->args[0], (double)volume / (1 << 20), o->per_node,
                                  err))
        return false;
    fputs(o->json ? "{\"pairs\":\n" : "", call->out);
    cmd_tables_print_pairs(call->out, format, &tables);
    fputs(o->json ? ", \"summary\":\n" : "\n", call->out);
    cmd_tables_print_summary(call->out, format, &tables);
    fputs(o->json ? "}\n" : "", call->out);
    interference_tables_fini(&tables);
    return true;
}

static int cmd_tables_main(const struct cli_call *call, struct wr_err *err)
{
    return cmd_tables_print(call, err) ? 0 : cli_error(err);
}

const struct cli_verb cli_interfere_tables = {
    .name = "tables",
    .summary = "predict every pair of a study's tables, and print the errors",
    .args = "TABLES.csv",
    .min_args = 1,
    .max_args = 1,
    .about =
        "The file has the throughputs of jobs alone and in pairs, all of equal volumes. From those "
        "alone the run times of every pair are predicted: by the published two-job equations, and "
        "by the model of `weir interfere predict` with weights by processes and by nodes; there "
        "the capacity is the larger of the two throughputs and each job's cap its own.",
    .examples = "weir interfere tables tables.csv\n",
    .opts = tables_rows,
    .opts_size = sizeof(struct tables_opts),
    .main = cmd_tables_main,
};
