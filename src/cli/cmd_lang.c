/* cmd_lang.c -- `weir lang check|events|stats|fmt`: coNCePTuaL programs without a network.
 *
 * struct subject is the program opened for all four; load/ncptl does the work.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/note.h"
#include "cli/cli.h"
#include "cli/cli_json.h"
#include "cli/cli_table.h"
#include "cli/lang.h"
#include "load/ncptl/ncptl_tool.h"

struct lang_opts {
    uint32_t tasks;
    uint32_t seed;
    uint64_t most;
    const char *logs;
    bool json, unchecked, write, force;
};

#define TASKS_ROW                                                              \
    {                                                                          \
        .name = "tasks", .letter = 'T', .type = CLI_U32,                       \
        .offset = offsetof(struct lang_opts, tasks), .value = "N", .def = "4", \
        .help = "how many tasks run the program"                               \
    }
#define SEED_ROW                                                                                   \
    {                                                                                              \
        .name = "seed", .type = CLI_U32, .offset = offsetof(struct lang_opts, seed), .value = "N", \
        .def = "1", .help = "seed of random tasks and numbers"                                     \
    }
#define MOST_ROW                                                                                   \
    {                                                                                              \
        .name = "most", .type = CLI_U64, .offset = offsetof(struct lang_opts, most), .value = "N", \
        .def = "50000000", .help = "stop looking for deadlocks after N operations; 0: never"       \
    }

/* A program made ready from `PROG [options]`. */
struct subject {
    struct ncptl_unit *unit;
    struct ncptl_prog *prog;
};

static void lang_close_subject(struct subject *s)
{
    ncptl_close(s->prog);
    ncptl_unit_close(s->unit);
}

static bool lang_open_subject(struct subject *s, const struct cli_call *call, struct wr_err *err)
{
    const struct lang_opts *o = call->opts;
    struct ncptl_start how = {.ntasks = o->tasks,
                              .seed = (int)o->seed,
                              .args = (const char *const *)call->args + 1,
                              .nargs = (size_t)call->nargs - 1};

    *s = (struct subject){0};
    if (!ncptl_read(&s->unit, call->args[0], err))
        return false;
    if (ncptl_start(&s->prog, s->unit, &how, err))
        return true;
    ncptl_unit_close(s->unit);
    return false;
}

/* `-- --help` asks for the program's own options. */
static bool lang_printed_usage(const struct subject *s, const struct cli_call *call)
{
    struct wr_str text = {0};

    if (!ncptl_help_wanted(s->prog))
        return false;
    ncptl_usage(s->unit, &text);
    fprintf(call->out, "options of %s, after `--`:\n%s", call->args[0], wr_str_get(&text));
    wr_str_fini(&text);
    return true;
}

/* ---- check ---- */

static const struct cli_opt check_rows[] = {
    TASKS_ROW, SEED_ROW, MOST_ROW, CLI_JSON(struct lang_opts, json), CLI_OPT_END,
};

static void lang_print_checked(const struct cli_call *call, uint32_t ntasks, bool complete)
{
    const struct lang_opts *o = call->opts;

    if (o->json)
        cli_json_print(call->out,
                       json_pack("{s:o, s:b, s:I, s:b}", "program", cli_json_string(call->args[0]),
                                 "ok", 1, "tasks", (json_int_t)ntasks, "complete", (int)complete));
    else
        fprintf(call->out,
                complete ? "%s: ok with %u tasks\n"
                         : "%s: ok with %u tasks as far as --most allows\n",
                call->args[0], ntasks);
}

static int lang_check_main(const struct cli_call *call, struct wr_err *err)
{
    const struct lang_opts *o = call->opts;
    struct subject s;
    bool complete, ok;

    if (!lang_open_subject(&s, call, err))
        return cli_error(err);
    if (!wr_note_is_quiet())
        fputs(ncptl_warnings(s.unit), stderr);
    if (!(ok = lang_printed_usage(&s, call))) {
        ok = ncptl_verify(s.prog, o->most, &complete, err);
        if (ok)
            lang_print_checked(call, ncptl_ntasks(s.prog), complete);
    }
    lang_close_subject(&s);
    return ok ? 0 : cli_error(err);
}

static const struct cli_verb lang_check = {
    .name = "check",
    .summary = "look for mistakes in a program, deadlocks included",
    .args = "PROG [-- OPTION...]",
    .min_args = 1,
    .max_args = -1,
    .input = 1,
    .about = "Reads the program, then runs its tasks against each other without a network or "
             "time: sends never block, receives and collectives do. What cannot end is "
             "reported with the tasks that each task waits for; so are messages that no task "
             "receives and asynchronous operations that no task awaits.\n\n"
             "What follows `--` are the program's own options; `-- --help` lists them.",
    .examples = "weir lang check ring.ncptl --tasks 16\n"
                "weir lang check halo.ncptl --tasks 64 -- --xdim=8 --ydim=8\n",
    .opts = check_rows,
    .opts_size = sizeof(struct lang_opts),
    .main = lang_check_main,
};

/* ---- events ---- */

static const struct cli_opt events_rows[] = {
    TASKS_ROW,
    SEED_ROW,
    {.name = "logs",
     .type = CLI_TEXT,
     .offset = offsetof(struct lang_opts, logs),
     .value = "FILE",
     .help = "write the log tables there"},
    CLI_FORCE(struct lang_opts, force),
    MOST_ROW,
    {.name = "unchecked",
     .type = CLI_FLAG,
     .offset = offsetof(struct lang_opts, unchecked),
     .help = "do not look for deadlocks and unmatched messages afterwards"},
    CLI_JSON(struct lang_opts, json),
    CLI_OPT_END,
};

/* The program names the file, and has no ending to say. */
static const struct wr_format own_log = {.name = "such a log"};

/* --logfile of the program: one file per processor, whose number replaces %p. */
static bool lang_write_each(const struct ncptl_log *log, const struct ncptl_prog *p, unsigned flags,
                            struct wr_err *err)
{
    const char *path = ncptl_logfile(p), *mark = strstr(path, "%p");
    bool ok = true;

    for (uint32_t i = 0; ok && i < ncptl_ntasks(p); i++) {
        struct wr_str name = {0}, text = {0};

        ncptl_log_print_one(log, i, &text);
        wr_str_addn(&name, path, mark ? (size_t)(mark - path) : strlen(path));
        if (mark)
            wr_str_addf(&name, "%u%s", i, mark + 2);
        if (text.n)
            ok = wr_output_text(wr_str_get(&name), &own_log, flags, &text, err);
        wr_str_fini(&name);
        wr_str_fini(&text);
    }
    return ok;
}

static bool lang_write_logs(const struct ncptl_log *log, const struct ncptl_prog *p,
                            const char *path, unsigned flags, struct wr_err *err)
{
    struct wr_str text = {0};

    if (ncptl_logfile(p) && !lang_write_each(log, p, flags, err))
        return false;
    if (!path)
        return true;
    ncptl_log_print(log, &text);
    bool ok = wr_output_text(path, &wr_format_log, flags, &text, err);
    wr_str_fini(&text);
    return ok;
}

/* Lines "TASK OPERATION ARGUMENTS" on their way to a table, as they come. */
struct event_table {
    struct cli_table *t;
    struct wr_str line; /* what has come of the next one */
};

static void lang_add_event(struct event_table *e)
{
    const char *op = strchr(e->line.s, ' '), *rest = op ? strchr(op + 1, ' ') : NULL;

    cli_table_int(e->t, atoll(e->line.s));
    cli_table_textn(e->t, op ? op + 1 : "",
                    rest ? (size_t)(rest - op - 1) : strlen(op ? op + 1 : ""));
    cli_table_text(e->t, rest ? rest + 1 : "");
    e->line.n = 0;
}

static ssize_t lang_take_events(void *cookie, const char *text, size_t n)
{
    struct event_table *e = cookie;

    for (const char *at = text, *stop = text + n, *end; at < stop; at = end + 1) {
        end = memchr(at, '\n', (size_t)(stop - at));
        wr_str_addn(&e->line, at, (size_t)((end ? end : stop) - at));
        if (!end)
            break;
        lang_add_event(e);
    }
    return (ssize_t)n;
}

static bool lang_print_events(const struct cli_call *call, const struct ncptl_prog *prog,
                              struct ncptl_log *log, struct wr_err *err)
{
    static const struct cli_column columns[] = {
        {"task", NULL}, {"operation", NULL}, {"arguments", NULL}};
    const struct lang_opts *o = call->opts;
    struct event_table e = {0};

    if (!o->json)
        return ncptl_dump(prog, call->out, log, err);
    e.t = cli_table_open(call->out, CLI_AS_JSON, columns, 3);
    FILE *lines = fopencookie(&e, "w", (cookie_io_functions_t){.write = lang_take_events});
    bool ok = lines && ncptl_dump(prog, lines, log, err);

    if (lines)
        fclose(lines);
    else
        wr_fail_errno(err, "cannot print the events; free some memory");
    cli_table_close(e.t);
    wr_str_fini(&e.line);
    return ok;
}

static int lang_events_main(const struct cli_call *call, struct wr_err *err)
{
    const struct lang_opts *o = call->opts;
    struct subject s;
    bool complete, ok;

    if ((o->logs && !wr_output_check(o->logs, &wr_format_log, o->force ? WR_FORCE : 0, err)) ||
        !lang_open_subject(&s, call, err))
        return cli_error(err);
    if (!(ok = lang_printed_usage(&s, call))) {
        struct ncptl_log *log = ncptl_log_new(s.prog, false);

        ok = lang_print_events(call, s.prog, log, err) &&
             lang_write_logs(log, s.prog, o->logs, o->force ? WR_FORCE : 0, err) &&
             (o->unchecked || ncptl_verify(s.prog, o->most, &complete, err));
        ncptl_log_free(log);
    }
    lang_close_subject(&s);
    return ok ? 0 : cli_error(err);
}

static const struct cli_verb lang_events = {
    .name = "events",
    .summary = "print every operation of every task",
    .args = "PROG [-- OPTION...]",
    .min_args = 1,
    .max_args = -1,
    .input = 1,
    .about = "One line per operation: the processor, what it does, and attributes. Lines of one "
             "processor are in program order; nothing is said about the order between "
             "processors. Timed loops are run once, between TIMED_BEGIN and TIMED_END. Values "
             "that depend on elapsed time are shown as *.\n\n"
             "Afterwards the program is checked as `weir lang check` does; what is wrong then is "
             "reported and makes the command fail.",
    .examples = "weir lang events ring.ncptl --tasks 4\n"
                "weir lang events latency.ncptl --tasks 2 --logs tables.txt -- --reps=3\n",
    .opts = events_rows,
    .opts_size = sizeof(struct lang_opts),
    .main = lang_events_main,
};

/* ---- stats ---- */

static const struct cli_opt stats_rows[] = {
    TASKS_ROW,
    SEED_ROW,
    CLI_JSON(struct lang_opts, json),
    CLI_OPT_END,
};

static void lang_print_json(const struct ncptl_prog *p, const struct ncptl_stats *s, FILE *out)
{
    json_t *ops = json_object(), *matrix = json_array();

    for (int op = NCPTL_SEND; op < NCPTL_NOPS; op++)
        if (s->ops[op] > 0 && op != NCPTL_TIMED_CHECK)
            json_object_set_new(ops, ncptl_op_name((enum ncptl_op)op), json_real(s->ops[op]));
    for (uint32_t i = 0; i < s->ncells; i++) {
        json_t *row = json_array();

        for (uint32_t k = 0; k < s->ncells; k++)
            json_array_append_new(row, json_real(s->cell[i][k]));
        json_array_append_new(matrix, row);
    }
    json_t *all = json_pack(
        "{s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:f, s:o}", "tasks",
        (json_int_t)ncptl_ntasks(p), "messages", s->messages, "bytes", s->bytes, "smallest_message",
        s->smallest, "largest_message", s->largest, "min_sent_per_task", s->min_sent,
        "max_sent_per_task", s->max_sent, "multicast_bytes", s->mcast_bytes, "reduced_bytes",
        s->reduce_bytes, "bytes_written", s->written, "bytes_read", s->read, "compute_us",
        s->compute_us, "sleep_us", s->sleep_us, "operations", ops, "tasks_per_cell",
        s->tasks_per_cell, "bytes_from_to", matrix);
    json_dumpf(all, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    fputc('\n', out);
    json_decref(all);
}

static int lang_stats_main(const struct cli_call *call, struct wr_err *err)
{
    const struct lang_opts *o = call->opts;
    struct ncptl_stats *stats = wr_arena_alloc(call->arena, sizeof *stats);
    struct subject s;
    bool ok, usage;

    if (!lang_open_subject(&s, call, err))
        return cli_error(err);
    usage = lang_printed_usage(&s, call);
    ok = usage || ncptl_stats(s.prog, stats, err);
    if (ok && !usage && o->json) {
        lang_print_json(s.prog, stats, call->out);
    } else if (ok && !usage) {
        struct wr_str text = {0};

        ncptl_stats_print(s.prog, stats, &text);
        fputs(wr_str_get(&text), call->out);
        wr_str_fini(&text);
    }
    lang_close_subject(&s);
    return ok ? 0 : cli_error(err);
}

static const struct cli_verb lang_stats = {
    .name = "stats",
    .summary = "count a program's messages and bytes, and draw which task sends to which",
    .args = "PROG [-- OPTION...]",
    .min_args = 1,
    .max_args = -1,
    .input = 1,
    .about = "Counted loops are run once and multiplied, so that programs of a billion messages "
             "are counted as fast as short ones. Timed loops count once.",
    .examples = "weir lang stats halo.ncptl --tasks 64 -- --xdim=8 --ydim=8\n",
    .opts = stats_rows,
    .opts_size = sizeof(struct lang_opts),
    .main = lang_stats_main,
};

/* ---- fmt ---- */

static const struct cli_opt fmt_rows[] = {
    {.name = "write",
     .letter = 'w',
     .type = CLI_FLAG,
     .offset = offsetof(struct lang_opts, write),
     .help = "change PROG itself instead of printing"},
    CLI_OPT_END,
};

static int lang_fmt_main(const struct cli_call *call, struct wr_err *err)
{
    const struct lang_opts *o = call->opts;
    struct ncptl_unit *unit;
    struct wr_str text = {0};
    bool ok = true;

    if (!ncptl_read(&unit, call->args[0], err))
        return cli_error(err);
    ncptl_format(unit, &text);
    if (o->write)
        ok = wr_output_text(call->args[0], &own_log, WR_IN_PLACE, &text, err);
    else
        fputs(wr_str_get(&text), call->out);
    wr_str_fini(&text);
    ncptl_unit_close(unit);
    return ok ? 0 : cli_error(err);
}

static const struct cli_verb lang_fmt = {
    .name = "fmt",
    .summary = "reformat a program",
    .args = "PROG",
    .min_args = 1,
    .max_args = 1,
    .input = 1,
    .about = "Keywords in capitals, one statement per line, bodies indented by two, lines of at "
             "most 100 characters, comments where they were. The program means the same.",
    .examples = "weir lang fmt ring.ncptl\n",
    .opts = fmt_rows,
    .opts_size = sizeof(struct lang_opts),
    .main = lang_fmt_main,
};

static const struct cli_verb *const subs[] = {&lang_check,    &lang_events,      &lang_stats,
                                              &lang_fmt,      &cli_lang_compile, &cli_lang_bench,
                                              &cli_lang_goal, &cli_lang_ior,     NULL};

const struct cli_verb cli_cmd_lang = {
    .name = "lang",
    .summary = "check, print, count and compile programs and schedules",
    .about = "coNCePTuaL programs describe what the ranks of an application send, compute and "
             "store; GOAL schedules list it; IOR command lines say it in a line. These verbs look "
             "at them without simulating.",
    .subs = subs,
};
