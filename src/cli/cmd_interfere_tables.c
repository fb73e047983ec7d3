/* cmd_interfere_tables.c -- `weir interfere tables`: predictions against a study's tables. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "cli/interfere.h"
#include "cli/interfere_tables.h"
#include "cli/table.h"

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

static double tenth(double v)
{
    return round(10 * v) / 10;
}

static void print_pairs(FILE *out, enum cli_format format, const struct interfere_tables *tables)
{
    struct cli_table *t =
        cli_table_open(out, format, pair_columns, sizeof pair_columns / sizeof pair_columns[0]);
    bool text = format == CLI_AS_TEXT;

    for (size_t i = 0; i < tables->seen.n; i++) {
        const struct interfere_seen *s = &tables->seen.v[i];
        char pair[64];

        snprintf(pair, sizeof pair, "%g+%g", s->p, s->q);
        cli_table_text(t, s->mode);
        cli_table_text(t, s->storage);
        cli_table_text(t, pair);
        cli_table_real(t, s->processes);
        cli_table_real(t, text ? tenth(s->alone_s) : s->alone_s);
        cli_table_real(t, text ? tenth(s->seen_s) : s->seen_s);
        for (int m = 0; m < INTERFERE_METHODS; m++) {
            double off = 100 * interfere_error(s, (enum interfere_method)m);

            cli_table_real(t, text ? tenth(s->predicted_s[m]) : s->predicted_s[m]);
            cli_table_real(t, text ? tenth(off) : off);
        }
    }
    cli_table_close(t);
}

struct summary {
    size_t n;
    double sum, most, most_above_one;
};

/* All jobs of the mode and storage of `like`. */
static struct summary sum_up(const struct interfere_tables *tables,
                             const struct interfere_seen *like, enum interfere_method m)
{
    struct summary sum = {.most_above_one = NAN}; /* absent when there is no such pair */

    for (size_t i = 0; i < tables->seen.n; i++) {
        const struct interfere_seen *s = &tables->seen.v[i];
        double off = 100 * fabs(interfere_error(s, m));

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

static bool first_of_kind(const struct interfere_tables *tables, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(tables->seen.v[k].mode, tables->seen.v[i].mode) &&
            !strcmp(tables->seen.v[k].storage, tables->seen.v[i].storage))
            return false;
    return true;
}

static void print_summary(FILE *out, enum cli_format format, const struct interfere_tables *tables)
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
        for (int m = 0; first_of_kind(tables, i) && m < INTERFERE_METHODS; m++) {
            const struct interfere_seen *s = &tables->seen.v[i];
            struct summary sum = sum_up(tables, s, (enum interfere_method)m);
            double mean = sum.sum / (double)sum.n;

            cli_table_text(t, s->mode);
            cli_table_text(t, s->storage);
            cli_table_text(t, interfere_method_names[m]);
            cli_table_int(t, (int64_t)sum.n);
            cli_table_real(t, text ? tenth(mean) : mean);
            cli_table_real(t, text ? tenth(sum.most) : sum.most);
            cli_table_real(t, text ? tenth(sum.most_above_one) : sum.most_above_one);
        }
    cli_table_close(t);
}

static bool print_tables(const struct cli_call *call, struct wr_err *err)
{
    const struct tables_opts *o = call->opts;
    enum cli_format format = o->json ? CLI_AS_JSON : CLI_AS_TEXT;
    struct interfere_tables tables;
    uint64_t volume;

    if (!wr_parse_bytes(&volume, o->volume, err))
        return wr_wrap(err, "--volume");
    if (!volume || !o->per_node)
        return wr_fail(err, WR_INPUT, "--%s is 0; give more", volume ? "per-node" : "volume");
    if (!interfere_tables_read(&tables, call->args[0], (double)volume / (1 << 20), o->per_node,
                               err))
        return false;
    fputs(o->json ? "{\"pairs\":\n" : "", call->out);
    print_pairs(call->out, format, &tables);
    fputs(o->json ? ", \"summary\":\n" : "\n", call->out);
    print_summary(call->out, format, &tables);
    fputs(o->json ? "}\n" : "", call->out);
    interfere_tables_fini(&tables);
    return true;
}

static int tables_main(const struct cli_call *call, struct wr_err *err)
{
    return print_tables(call, err) ? 0 : cli_error(err);
}

const struct cli_verb cli_interfere_tables = {
    .name = "tables",
    .summary = "predict every pair of a study's tables, and tell how far off",
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
    .main = tables_main,
};
