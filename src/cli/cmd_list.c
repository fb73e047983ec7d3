/* cmd_list.c -- `weir list`: the tables of plug-ins, one of them, or one plug-in's parameters; and
 * the examples that came with the program. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/self.h"
#include "cli/cli.h"
#include "cli/dev_load.h"
#include "cli/examples.h"
#include "cli/text.h"
#include "conf/conf.h"
#include "load/kinds/load_kinds.h"
#include "load/synth/synth.h"
#include "net/route/route.h"
#include "net/topo/topo.h"
#include "rank/coll/coll.h"
#include "rank/place/place.h"
#include "rank/rank.h"
#include "store/dev/dev.h"
#include "store/store.h"

struct list_opts {
    bool json;
};

static const struct cli_opt list_rows[] = {
    CLI_JSON(struct list_opts, json),
    CLI_OPT_END,
};

/* A table of plug-ins and the key of the configuration that picks from it. */
struct list_table {
    const char *name, *one, *summary;
    const struct conf_kind *const *kinds; /* ends with NULL; NULL: files, the examples */
    const struct conf_files *files;       /* those that weir brings along; NULL: none */
};

static const struct list_table tables[] = {
    {"topologies", "topology", "how routers and nodes are wired", topo_kinds, NULL},
    {"routings", "routing", "which way packets take", route_kinds, NULL},
    {"patterns", "pattern", "which node sends to which", synth_pattern_kinds, NULL},
    {"injections", "injection", "when messages are sent", synth_inject_kinds, NULL},
    {"sizes", "size", "how long messages are", synth_size_kinds, NULL},
    {"placements", "placement", "which rank sits on which node", place_kinds, NULL},
    {"programs", "program", "what the ranks of a job do", load_kinds, NULL},
    {"mpis", "mpi", "what MPI costs them", rank_mpi_kinds, NULL},
    {"collectives", "collective", "how collectives are done", coll_kinds, NULL},
    {"storages", "storage", "where files of jobs are", store_kinds, NULL},
    {"devices", "device", "how long a disk or flash drive takes", dev_kinds, &dev_files},
    {"examples", "example", "configurations to run, and the parts of some", NULL, NULL},
};

enum { NTABLES = sizeof tables / sizeof tables[0] };

static const struct list_table *list_find_table(const char *name, struct wr_err *err)
{
    struct wr_nearest near = {.want = name};

    for (size_t i = 0; i < NTABLES; i++) {
        if (!strcmp(tables[i].name, name) || !strcmp(tables[i].one, name))
            return &tables[i];
        wr_nearest_try(&near, tables[i].name);
        wr_nearest_try(&near, tables[i].one);
    }
    if (near.best)
        wr_fail(err, WR_UNKNOWN, "no list \"%s\"; did you mean `weir list %s`?", name, near.best);
    else
        wr_fail(err, WR_UNKNOWN, "no list \"%s\"; `weir list` names them", name);
    return NULL;
}

static const struct conf_kind *list_find_kind(const struct list_table *t, const char *name,
                                              struct wr_err *err)
{
    struct wr_nearest near = {.want = name};

    for (size_t i = 0; t->kinds[i]; i++) {
        if (!strcmp(t->kinds[i]->name, name))
            return t->kinds[i];
        wr_nearest_try(&near, t->kinds[i]->name);
    }
    for (size_t i = 0; t->files && t->files->shipped[i].name; i++)
        wr_nearest_try(&near, t->files->shipped[i].name);
    if (near.best)
        wr_fail(err, WR_UNKNOWN, "no %s \"%s\"; did you mean %s?", t->one, name, near.best);
    else
        wr_fail(err, WR_UNKNOWN, "no %s \"%s\"; `weir list %s` names them", t->one, name, t->name);
    return NULL;
}

static int list_print_json(FILE *out, json_t *all)
{
    json_dumpf(all, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(all);
    return 0;
}

/* Names and summaries: of the tables themselves or of one table's plug-ins. */
static int list_print_pairs(const struct cli_call *call, const struct cli_pair *pairs, size_t n)
{
    const struct list_opts *o = call->opts;
    struct wr_str text = {0};

    if (o->json) {
        json_t *all = json_array();

        for (size_t i = 0; i < n; i++)
            json_array_append_new(
                all, json_pack("{ss, ss}", "name", pairs[i].head, "summary", pairs[i].text));
        return list_print_json(call->out, all);
    }
    cli_text_pairs(&text, pairs, n);
    fputs(wr_str_get(&text), call->out);
    wr_str_fini(&text);
    return 0;
}

static int list_print_tables(const struct cli_call *call)
{
    struct cli_pair pairs[NTABLES];

    for (size_t i = 0; i < NTABLES; i++)
        pairs[i] = (struct cli_pair){tables[i].name, tables[i].summary};
    return list_print_pairs(call, pairs, NTABLES);
}

/* "Intel D3-S4510 (ssd)": what the text of a shipped device says of it. */
static const char *list_shipped_summary(const struct cli_call *call, const char *name)
{
    struct dev_set set = {0};
    struct wr_err ignored;
    struct conf *conf;

    if (!dev_load_set(&conf, &set, name, NULL, 0, &ignored))
        return "";
    const char *text =
        wr_arena_printf(call->arena, "%s (%s)", set.title ? set.title : "", set.device.kind->name);

    conf_close(conf);
    return text;
}

static int list_print_kinds(const struct cli_call *call, const struct list_table *t)
{
    WR_VEC(struct cli_pair) pairs = {0};

    for (size_t i = 0; t->kinds[i]; i++)
        wr_vec_push(&pairs, (struct cli_pair){t->kinds[i]->name, t->kinds[i]->summary});
    for (size_t i = 0; t->files && t->files->shipped[i].name; i++) {
        const char *name = t->files->shipped[i].name;

        wr_vec_push(&pairs, (struct cli_pair){name, list_shipped_summary(call, name)});
    }
    int status = list_print_pairs(call, pairs.v, pairs.n);
    wr_vec_fini(&pairs);
    return status;
}

static int list_print_examples(const struct cli_call *call, struct wr_err *err)
{
    struct cli_pair *pairs;
    size_t n;

    if (!cli_examples(&pairs, &n, call->arena, err))
        return cli_error(err);
    return list_print_pairs(call, pairs, n);
}

static bool list_fail_example(const struct cli_call *call, const char *name, struct wr_err *err)
{
    struct wr_nearest near = {.want = name};
    struct cli_pair *pairs;
    size_t n;

    if (!cli_examples(&pairs, &n, call->arena, err))
        return false;
    for (size_t i = 0; i < n; i++)
        wr_nearest_try(&near, pairs[i].head);
    if (near.best)
        return wr_fail(err, WR_UNKNOWN, "no example \"%s\"; did you mean %s?", name, near.best);
    return wr_fail(err, WR_UNKNOWN, "no example \"%s\"; `weir list examples` names them", name);
}

/* The file itself, to begin one's own with. */
static int list_print_example(const struct cli_call *call, const char *name, struct wr_err *err)
{
    enum { MOST_EXAMPLE = 1 << 20 };
    struct wr_str path = {0};
    char *text;
    size_t len;
    bool ok = wr_self_find_file(&path, name) || list_fail_example(call, name, err);

    ok = ok && wr_file_read(&text, &len, path.s, MOST_EXAMPLE, err);
    wr_str_fini(&path);
    if (!ok)
        return cli_error(err);
    fwrite(text, 1, len, call->out);
    free(text);
    return 0;
}

static const char *list_row_text(const struct conf_row *row, struct wr_arena *arena)
{
    struct wr_str text = {0};

    wr_str_add(&text, row->help);
    for (size_t i = 0; row->names && row->names[i]; i++)
        wr_str_addf(&text, "%s%s", i ? ", " : " (", row->names[i]);
    if (row->names)
        wr_str_add(&text, ")");
    if (!row->def)
        wr_str_add(&text, " [must be given]");
    else if (row->def[0])
        wr_str_addf(&text, " [%s]", row->def);
    const char *copy = wr_arena_strdup(arena, wr_str_get(&text));
    wr_str_fini(&text);
    return copy;
}

static json_t *list_row_json(const struct conf_row *row)
{
    json_t *o = json_pack("{ss, ss*, sb, ss}", "key", row->key, "default",
                          row->def && row->def[0] ? row->def : NULL, "required", !row->def, "help",
                          row->help);

    if (row->names) {
        json_t *names = json_array();

        for (size_t i = 0; row->names[i]; i++)
            json_array_append_new(names, json_string(row->names[i]));
        json_object_set_new(o, "choices", names);
    }
    return o;
}

static int list_print_kind(const struct cli_call *call, const struct conf_kind *kind)
{
    const struct list_opts *o = call->opts;
    struct wr_str text = {0};
    WR_VEC(struct cli_pair) pairs = {0};

    if (o->json) {
        json_t *rows = json_array();

        for (const struct conf_row *row = kind->rows; row && row->key; row++)
            json_array_append_new(rows, list_row_json(row));
        return list_print_json(call->out, json_pack("{ss, ss, so}", "name", kind->name, "summary",
                                                    kind->summary, "parameters", rows));
    }
    for (const struct conf_row *row = kind->rows; row && row->key; row++)
        wr_vec_push(&pairs, (struct cli_pair){row->key, list_row_text(row, call->arena)});
    wr_str_addf(&text, "%s -- %s\n\n", kind->name, kind->summary);
    if (!pairs.n)
        wr_str_add(&text, "It has no parameters.\n");
    cli_text_pairs(&text, pairs.v, pairs.n);
    fputs(text.s, call->out);
    wr_str_fini(&text);
    wr_vec_fini(&pairs);
    return 0;
}

static const char *list_shipped_text(const struct list_table *t, const char *name)
{
    for (size_t i = 0; t->files && t->files->shipped[i].name; i++)
        if (!strcmp(t->files->shipped[i].name, name))
            return t->files->shipped[i].text;
    return NULL;
}

static int list_main(const struct cli_call *call, struct wr_err *err)
{
    if (!call->nargs)
        return list_print_tables(call);
    const struct list_table *t = list_find_table(call->args[0], err);
    if (!t)
        return cli_error(err);
    if (!t->kinds)
        return call->nargs == 1 ? list_print_examples(call, err)
                                : list_print_example(call, call->args[1], err);
    if (call->nargs == 1)
        return list_print_kinds(call, t);
    const char *text = list_shipped_text(t, call->args[1]);

    if (text)
        return fputs(text, call->out) < 0;
    const struct conf_kind *kind = list_find_kind(t, call->args[1], err);
    return kind ? list_print_kind(call, kind) : cli_error(err);
}

static void list_complete_examples(FILE *out)
{
    struct wr_arena arena = {0};
    struct wr_err ignored = {0};
    struct cli_pair *pairs;
    size_t n;

    if (cli_examples(&pairs, &n, &arena, &ignored))
        for (size_t i = 0; i < n; i++)
            fprintf(out, "%s\n", pairs[i].head);
    wr_arena_fini(&arena);
}

static void list_complete(char **args, int at, FILE *out)
{
    struct wr_err ignored = {0};
    const struct list_table *t = at == 1 ? list_find_table(args[0], &ignored) : NULL;

    for (size_t i = 0; !at && i < NTABLES; i++)
        fprintf(out, "%s\n", tables[i].name);
    if (t && !t->kinds)
        list_complete_examples(out);
    for (size_t i = 0; t && t->kinds && t->kinds[i]; i++)
        fprintf(out, "%s\n", t->kinds[i]->name);
    for (size_t i = 0; t && t->files && t->files->shipped[i].name; i++)
        fprintf(out, "%s\n", t->files->shipped[i].name);
}

const struct cli_verb cli_cmd_list = {
    .name = "list",
    .summary = "list plug-ins (topologies, routings, ...), parameters, examples",
    .args = "[TABLE [NAME]]",
    .max_args = 2,
    .about =
        "Without arguments, names the tables of plug-ins. With a table, names what is in it. "
        "With a plug-in's name too, lists its parameters: the key to write in a "
        "configuration, what it means, and in brackets its default; of a device that weir brings "
        "along, its file.\n\n"
        "`weir list examples` names the configurations that are installed with weir. `weir run` "
        "and every other verb that reads a configuration, a program or a model finds them by "
        "these names from any directory; with an example's name too, its text is printed.",
    .examples = "weir list\nweir list topologies\nweir list topologies dragonfly\n"
                "weir list examples\nweir list examples ring.yaml\n",
    .opts = list_rows,
    .opts_size = sizeof(struct list_opts),
    .main = list_main,
    .complete = list_complete,
};
