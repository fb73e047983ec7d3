/* cmd_lang_ior.c -- `weir lang ior`: prints the operations of an IOR command line (load/ior). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cli_table.h"
#include "cli/lang.h"
#include "load/ior/ior.h"

struct ior_opts {
    uint32_t tasks, per_node, seed;
    bool events, json;
};

static const struct cli_opt ior_rows[] = {
    {.name = "tasks",
     .letter = 'T',
     .type = CLI_U32,
     .offset = offsetof(struct ior_opts, tasks),
     .value = "N",
     .def = "4",
     .help = "how many tasks run the test"},
    {.name = "tasks-per-node",
     .type = CLI_U32,
     .offset = offsetof(struct ior_opts, per_node),
     .value = "N",
     .def = "1",
     .help = "tasks of a node, for the option -C of the test"},
    {.name = "seed",
     .type = CLI_U32,
     .offset = offsetof(struct ior_opts, seed),
     .value = "N",
     .def = "1",
     .help = "seed of random orders"},
    {.name = "events",
     .type = CLI_FLAG,
     .offset = offsetof(struct ior_opts, events),
     .help = "print every operation of every task"},
    CLI_JSON(struct ior_opts, json),
    CLI_OPT_END,
};

/* What all tasks do together. */
struct ior_totals {
    uint64_t count[IOR_MARK + 1], written, read;
};

static const char *const names[] = {
    [IOR_END] = "END",     [IOR_BARRIER] = "BARRIER", [IOR_OPEN] = "OPEN",
    [IOR_WRITE] = "WRITE", [IOR_READ] = "READ",       [IOR_FLUSH] = "FLUSH",
    [IOR_CLOSE] = "CLOSE", [IOR_SLEEP] = "SLEEP",     [IOR_MARK] = "MARK",
};

/* As `weir lang events` prints them. */
static void ior_cmd_print_event(FILE *out, const struct ior_test *t, const struct ior_where *w,
                                uint32_t rank, const struct ior_event *ev)
{
    fprintf(out, "%u %s", rank, names[ev->op]);
    switch (ev->op) {
    case IOR_BARRIER:
        fprintf(out, w->ntasks > 1 ? " {0-%u}" : " {%u}", w->ntasks - 1);
        break;
    case IOR_OPEN:
        fprintf(out, " %" PRId64 " %s", ev->file, ev->writes ? "write" : "read");
        break;
    case IOR_WRITE:
    case IOR_READ:
        fprintf(out, " %" PRId64 " %" PRIu64 " %" PRIu64 "%s", ev->file, ev->bytes, ev->offset,
                t->collective ? " coll" : "");
        break;
    case IOR_FLUSH:
    case IOR_CLOSE:
        fprintf(out, " %" PRId64, ev->file);
        break;
    case IOR_SLEEP:
        fprintf(out, " %" PRIu64, ev->seconds * 1000000);
        break;
    default:
        fprintf(out, " %u", ev->mark);
        break;
    }
    fputc('\n', out);
}

static void ior_cmd_walk_ranks(const struct ior_test *t, const struct ior_where *w, FILE *out,
                               struct ior_totals *sum)
{
    struct ior_rank r;
    struct ior_event ev;

    for (uint32_t i = 0; i < w->ntasks; i++) {
        ior_rank_init(&r, i);
        while (ior_next(t, w, &r, 0, &ev) != IOR_END) {
            sum->count[ev.op]++;
            sum->written += ev.op == IOR_WRITE ? ev.bytes : 0;
            sum->read += ev.op == IOR_READ ? ev.bytes : 0;
            if (out)
                ior_cmd_print_event(out, t, w, i, &ev);
        }
    }
}

static void ior_cmd_print_totals(const struct ior_totals *s, FILE *out, bool json)
{
    static const struct cli_column columns[] = {{"what", NULL}, {"count", NULL}};
    struct cli_table *table = cli_table_open(out, json ? CLI_AS_JSON : CLI_AS_TEXT, columns, 2);

    for (int i = IOR_BARRIER; i <= IOR_MARK; i++) {
        cli_table_text(table, names[i]);
        cli_table_int(table, (int64_t)s->count[i]);
    }
    cli_table_text(table, "bytes_written");
    cli_table_int(table, (int64_t)s->written);
    cli_table_text(table, "bytes_read");
    cli_table_int(table, (int64_t)s->read);
    cli_table_close(table);
}

static int ior_cmd_main(const struct cli_call *call, struct wr_err *err)
{
    const struct ior_opts *o = call->opts;
    struct wr_str command = {0}, text = {0};
    struct ior_totals sum = {0};
    struct ior_test t;

    if (!o->tasks || !o->per_node) {
        wr_fail(err, WR_INPUT, "no tasks; give --tasks and --tasks-per-node at least 1");
        return cli_error(err);
    }
    for (int i = 0; i < call->nargs; i++)
        wr_str_addf(&command, "%s%s", i ? " " : "", call->args[i]);
    bool ok = ior_parse(&t, wr_str_get(&command), o->tasks, err);

    if (ok) {
        struct ior_where w = {
            .ntasks = t.tasks ? (uint32_t)t.tasks : o->tasks,
            .per_node = o->per_node,
            .seed = o->seed,
        };

        ior_cmd_walk_ranks(&t, &w, o->events ? call->out : NULL, &sum);
        if (!o->events && !o->json) {
            ior_describe(&t, &w, &text);
            fprintf(call->out, "%s\n", wr_str_get(&text));
        }
        if (!o->events)
            ior_cmd_print_totals(&sum, call->out, o->json);
        ior_fini(&t);
    }
    wr_str_fini(&command);
    wr_str_fini(&text);
    return ok ? 0 : cli_error(err);
}

const struct cli_verb cli_lang_ior = {
    .name = "ior",
    .summary = "print what an IOR command line does",
    .args = "[--] COMMAND...",
    .max_args = -1,
    .about = "The command is what one would type to run the benchmark, behind -- or in quotes. "
             "Prints the test as IOR describes it and counts its operations, or prints them.",
    .examples = "weir lang ior --tasks 16 -- ior -a MPIIO -b 205m -t 1m -F -s 4\n"
                "weir lang ior --tasks 2 --events 'ior -b 2m -t 1m -w -e'\n",
    .opts = ior_rows,
    .opts_size = sizeof(struct ior_opts),
    .main = ior_cmd_main,
};
