/* cmd_export.c -- `weir export RUN [TABLE...]`: tables of a run file for other programs.
 *
 * The tables are the views of run/reader.h, whole and with every digit.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/cli_rows.h"
#include "run/export.h"

struct export_opts {
    const char *out;
    bool force, json;
};

static const struct cli_opt export_rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct export_opts, out),
     .value = "FILE",
     .help = "write there; the ending is the format: .csv (one table) .json .db .sqlite; without "
             "an ending, or with a slash at the end, a directory with a CSV file for each table"},
    CLI_FORCE(struct export_opts, force),
    CLI_JSON(struct export_opts, json),
    CLI_OPT_END,
};

static const struct wr_format export_json = {.name = "such tables in JSON", .endings = ".json"};
static const struct wr_format *const export_formats[] = {&wr_format_csv, &export_json,
                                                         &run_export_format, NULL};

/* One run and what is asked of it. */
struct export_job {
    const struct cli_call *call;
    const struct export_opts *o;
    struct run_reader *r;
    const char **table; /* names of views */
    size_t n;
};

static bool export_count(const struct export_job *j, const char *table, double *ret,
                         struct wr_err *err)
{
    char sql[128];
    bool found;

    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
    return run_number(j->r, sql, ret, &found, err);
}

static bool export_list(const struct export_job *j, struct wr_err *err)
{
    static const struct cli_column columns[] = {{"table", NULL}, {"rows", NULL}, {"what", NULL}};
    struct cli_table *t =
        cli_table_open(j->call->out, j->o->json ? CLI_AS_JSON : CLI_AS_TEXT, columns, 3);
    bool ok = true;

    for (const struct run_view *v = run_views; ok && v->name; v++) {
        double rows = 0;

        if ((ok = export_count(j, v->name, &rows, err))) {
            cli_table_text(t, v->name);
            cli_table_int(t, (int64_t)rows);
            cli_table_text(t, v->summary);
        }
    }
    cli_table_close(t);
    return ok;
}

/* The tables that were named; without names those that have rows. */
static bool export_choose(struct export_job *j, struct wr_err *err)
{
    struct wr_nearest near;

    for (int i = 1; i < j->call->nargs; i++) {
        const struct run_view *v = run_views;

        near = (struct wr_nearest){.want = j->call->args[i]};
        for (; v->name && strcmp(v->name, j->call->args[i]) != 0; v++)
            wr_nearest_try(&near, v->name);
        if (!v->name && near.best)
            return wr_fail(err, WR_UNKNOWN, "no table \"%s\"; did you mean %s?", j->call->args[i],
                           near.best);
        if (!v->name)
            return wr_fail(err, WR_UNKNOWN, "no table \"%s\"; `weir export %s` lists them",
                           j->call->args[i], j->call->args[0]);
        j->table[j->n++] = v->name;
    }
    for (const struct run_view *v = run_views; j->call->nargs == 1 && v->name; v++) {
        double rows = 0;

        if (!export_count(j, v->name, &rows, err))
            return false;
        if (rows > 0)
            j->table[j->n++] = v->name;
    }
    return true;
}

static bool export_print(const struct export_job *j, const char *table, enum cli_format format,
                         FILE *out, struct wr_err *err)
{
    struct cli_rows_opts rows = {.format = format};
    char sql[128];

    snprintf(sql, sizeof sql, "SELECT * FROM %s", table);
    return cli_rows_query(out, j->r, sql, &rows, err);
}

static bool export_print_json(const struct export_job *j, FILE *out, struct wr_err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < j->n; i++) {
        fprintf(out, "%s\"%s\": ", i ? ",\n" : "{\n", j->table[i]);
        ok = export_print(j, j->table[i], CLI_AS_JSON, out, err);
    }
    fputs(j->n ? "}\n" : "{}\n", out);
    return ok;
}

static bool export_one_table(const struct export_job *j, struct wr_err *err)
{
    return j->n == 1 ||
           wr_fail(err, WR_INPUT,
                   "CSV holds one table; name one (`weir export %s` lists them), or write to a "
                   "directory, .json or .db",
                   j->call->args[0]);
}

static bool export_print_all(const struct export_job *j, bool json, FILE *out, struct wr_err *err)
{
    if (json)
        return export_print_json(j, out, err);
    return export_one_table(j, err) && export_print(j, j->table[0], CLI_AS_CSV, out, err);
}

/* As CSV or JSON, into memory first: what is there is judged by the text that shall replace it. */
static bool export_write(const struct export_job *j, const char *path, const struct wr_format *f,
                         struct wr_err *err)
{
    struct wr_str text = {0};
    FILE *out = open_memstream(&text.s, &text.n);

    if (!out)
        return wr_fail_errno(err, "not enough memory for the tables; export fewer at once");
    bool ok = export_print_all(j, f == &export_json, out, err);

    if (fclose(out) && ok)
        ok = wr_fail_errno(err, "not enough memory for the tables; export fewer at once");
    ok = ok && wr_output_text(path, f, j->o->force ? WR_FORCE : 0, &text, err);
    free(text.s);
    return ok;
}

static bool export_write_directory(const struct export_job *j, struct wr_err *err)
{
    static const struct wr_format *const marks[] = {NULL};
    bool ok = wr_output_dir(j->o->out, marks, j->o->force, NULL, err);

    for (size_t i = 0; ok && i < j->n; i++) {
        struct export_job one = *j;
        struct wr_str path = {0};

        one.table = &j->table[i];
        one.n = 1;
        wr_str_addf(&path, "%s/%s.csv", j->o->out, j->table[i]);
        ok = export_write(&one, path.s, &wr_format_csv, err);
        wr_str_fini(&path);
    }
    return ok;
}

static bool export_is_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct stat st;

    if (!stat(path, &st))
        return S_ISDIR(st.st_mode);
    return (slash && !slash[1]) || !strchr(slash ? slash : path, '.');
}

static bool export_all(struct export_job *j, struct wr_err *err)
{
    const char *out = j->o->out;
    const struct wr_format *f;

    if (j->call->nargs == 1 && !out)
        return export_list(j, err);
    if (!export_choose(j, err))
        return false;
    if (!out)
        return export_print_all(j, j->o->json, j->call->out, err);
    if (export_is_directory(out))
        return export_write_directory(j, err);
    if (!wr_output_format(&f, out, export_formats, err))
        return false;
    if (j->o->json && f != &export_json)
        return wr_fail(err, WR_INPUT, "%s is no name of JSON; leave out --json", out);
    if (f == &run_export_format)
        return run_export(j->r, j->table, j->n, out, j->o->force, err);
    return export_write(j, out, f, err);
}

static int export_main(const struct cli_call *call, struct wr_err *err)
{
    struct export_job j = {.call = call, .o = call->opts};
    size_t views = 0;

    while (run_views[views].name)
        views++;
    j.table = wr_arena_alloc(call->arena, (views + (size_t)call->nargs) * sizeof *j.table);
    if (!run_open(&j.r, call->args[0], err))
        return cli_error(err);
    bool ok = export_all(&j, err);

    run_close(j.r);
    return ok ? 0 : cli_error(err);
}

static void export_complete(char **args, int at, FILE *out)
{
    (void)args;
    for (const struct run_view *v = run_views; at >= 1 && v->name; v++)
        fprintf(out, "%s\n", v->name);
}

const struct cli_verb cli_cmd_export = {
    .name = "export",
    .summary = "write tables of a run file as CSV, JSON or a database",
    .args = "RUN [TABLE...]",
    .min_args = 1,
    .max_args = -1,
    .about =
        "Without a table and without --output, lists the tables and how many rows each has. "
        "Otherwise writes the tables that are named, or all that have rows, whole and with "
        "every digit: to one CSV file each in a directory, to a JSON object with an array of "
        "rows for each, or to an SQLite database of plain tables. One table alone also goes "
        "to standard output, as CSV or with --json. The contents of the files that a run has read "
        "are whole in a database; in CSV and JSON their sizes stand for them.\n\n"
        "`weir show` prints the same tables for people. Times are nanoseconds (_ns); "
        "docs/formats/run-file.md explains the columns.",
    .examples = "weir export a.weir\n"
                "weir export a.weir link_stat -o links.csv\n"
                "weir export a.weir latency slice -o a.json\n"
                "weir export a.weir -o a.db\n"
                "weir export a.weir -o tables/\n",
    .opts = export_rows,
    .opts_size = sizeof(struct export_opts),
    .main = export_main,
    .complete = export_complete,
};
