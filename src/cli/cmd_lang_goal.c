/* cmd_lang_goal.c -- `weir lang goal`: look at a GOAL schedule, or turn it into its other form. */
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "cli/cli.h"
#include "cli/cli_table.h"
#include "cli/lang.h"
#include "load/goal/goal.h"

struct goal_opts {
    const char *out;
    bool text, json, force;
};

static const struct cli_opt goal_rows[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_TEXT,
     .offset = offsetof(struct goal_opts, out),
     .value = "OUT",
     .help = "write the schedule there: in binary (.bin), or as text (.goal .txt)"},
    CLI_FORCE(struct goal_opts, force),
    {.name = "text",
     .type = CLI_FLAG,
     .offset = offsetof(struct goal_opts, text),
     .help = "write it as text; without --output, print it"},
    CLI_JSON(struct goal_opts, json),
    CLI_OPT_END,
};

/* Bytes as they are: a binary schedule is written by mapping it. */
static bool goal_cmd_write_bytes(const struct goal *g, FILE *out, struct wr_err *err)
{
    if (fwrite(g->bytes, 1, g->len, out) != g->len)
        return wr_fail_errno(err, "writing the schedule");
    return true;
}

/* Other programs write schedules that begin the same, so none is replaced without --force. */
static const struct wr_format goal_binary = {.name = "a binary schedule",
                                             .endings = ".bin",
                                             .begins = "\x7f\x10\0\0\0\0\0", /* GOAL_MAGIC */
                                             .begins_n = 8,
                                             .data = true};
static const struct wr_format goal_text = {
    .name = "a schedule", .endings = ".goal .txt", .begins = "num_ranks ", .data = true};
static const struct wr_format *const goal_formats[] = {&goal_binary, &goal_text, NULL};

static bool goal_cmd_write_out(const struct goal *g, const struct goal_opts *o, struct wr_err *err)
{
    const struct wr_format *f = &goal_text;
    struct wr_output out;

    if ((!o->text && !wr_output_format(&f, o->out, goal_formats, err)) ||
        !wr_output_open(&out, o->out, f, o->force ? WR_FORCE : 0, err))
        return false;
    if (f == &goal_text ? goal_text_write(g, out.f, err) : goal_cmd_write_bytes(g, out.f, err))
        return wr_output_commit(&out, err);
    wr_output_abandon(&out);
    return false;
}

static void goal_cmd_print_totals(const struct goal *g, const struct goal_totals *t, FILE *out,
                                  bool json)
{
    static const struct cli_column columns[] = {{"what", NULL}, {"count", NULL}};
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"ranks", g->nranks},
        {"cpus", g->max_cpu + 1u},
        {"operations", t->ops},
        {"operations_longest_rank", t->longest},
        {"sends", t->sends},
        {"receives", t->recvs},
        {"computations", t->calcs},
        {"bytes_sent", t->bytes_sent},
        {"bytes_received", t->bytes_received},
        {"computed_ns", t->calc_ns},
        {"requirements", t->requires},
        {"requirements_of_start", t->starts},
    };
    struct cli_table *table = cli_table_open(out, json ? CLI_AS_JSON : CLI_AS_TEXT, columns, 2);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cli_table_text(table, rows[i].name);
        cli_table_int(table, (int64_t)rows[i].value);
    }
    cli_table_close(table);
}

static int goal_cmd_main(const struct cli_call *call, struct wr_err *err)
{
    const struct goal_opts *o = call->opts;
    struct goal_totals totals;
    struct goal g;

    if (!goal_open(&g, call->args[0], err))
        return cli_error(err);
    bool ok = goal_check(&g, &totals, err);

    if (ok && o->out)
        ok = goal_cmd_write_out(&g, o, err);
    else if (ok && o->text)
        ok = goal_text_write(&g, call->out, err);
    else if (ok)
        goal_cmd_print_totals(&g, &totals, call->out, o->json);
    goal_close(&g);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_lang_goal = {
    .name = "goal",
    .summary = "check, count or convert a GOAL schedule",
    .args = "FILE",
    .min_args = 1,
    .max_args = 1,
    .input = 1,
    .about = "FILE is a schedule as text or in binary; which, is seen from its beginning. It is "
             "read, every rank's graph is walked to its end, and what it does is counted. "
             "--output writes it in binary, the form that large schedules start fastest from, "
             "--text as text.",
    .examples = "weir lang goal ring.goal\n"
                "weir lang goal ring.goal -o ring.bin\n"
                "weir lang goal ring.bin --text\n",
    .opts = goal_rows,
    .opts_size = sizeof(struct goal_opts),
    .main = goal_cmd_main,
};
