/* cmd_config.c -- `weir config`: what a configuration resolves to, and what may stand in one. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "conf/conf.h"
#include "world/config.h"

struct show_opts {
    struct cli_list sets;
    bool machine, plain, json;
};

static const struct cli_opt show_rows[] = {
    CLI_SET(struct show_opts, sets),
    {.name = "machine-only",
     .former = "machine",
     .type = CLI_FLAG,
     .offset = offsetof(struct show_opts, machine),
     .help = "FILE describes a machine only, not a run"},
    {.name = "plain",
     .type = CLI_FLAG,
     .offset = offsetof(struct show_opts, plain),
     .help = "do not say where values came from"},
    CLI_JSON(struct show_opts, json),
    CLI_OPT_END,
};

/* A file name may be no UTF-8, which JSON cannot say. */
static json_t *config_json_text(const char *text)
{
    json_t *s = json_string(text);

    return s ? s : json_string("(not UTF-8)");
}

/* The stored value as JSON has it; quantities in the unit beside them. */
static json_t *config_json_value(const struct conf_value *v)
{
    switch (v->row->type) {
    case CONF_BOOL:
        return json_boolean(*(const bool *)v->at);
    case CONF_U32:
        return json_integer(*(const uint32_t *)v->at);
    case CONF_U64:
    case CONF_BYTES: {
        uint64_t n = *(const uint64_t *)v->at;

        /* JSON's integers end at 2^63 here; the text beside it is exact. */
        return n > INT64_MAX ? json_real((double)n) : json_integer((json_int_t)n);
    }
    case CONF_REAL:
    case CONF_FRACTION:
    case CONF_RATE:
    case CONF_TIME:
        return json_real(*(const double *)v->at);
    default:
        return config_json_text(v->text);
    }
}

static void config_add_json(const struct conf_value *v, void *arg)
{
    json_array_append_new(arg, json_pack("{so, so, ss*, so, so}", "key", config_json_text(v->key),
                                         "value", config_json_value(v), "unit", v->unit, "text",
                                         config_json_text(v->text), "origin",
                                         config_json_text(v->origin)));
}

static void config_print_json(const struct conf *conf, FILE *out)
{
    json_t *values = json_array(), *files = json_array(), *left = json_array();
    const struct conf_input *in;
    const char *const *words;

    conf_each(conf, config_add_json, values);
    for (size_t i = 0, n = conf_inputs(conf, &in); i < n; i++)
        json_array_append_new(files, config_json_text(in[i].path));
    for (size_t i = 0, n = conf_left_out(conf, &words); i < n; i++)
        json_array_append_new(left, config_json_text(words[i]));
    json_t *all = json_pack("{so, so, so}", "values", values, "files", files, "left_out", left);
    json_dumpf(all, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(all);
}

static int config_show_main(const struct cli_call *call, struct wr_err *err)
{
    const struct show_opts *o = call->opts;
    union {
        struct world_config run;
        struct world_machine machine;
    } into = {0};
    struct conf *conf;
    struct wr_str text = {0};

    if (!conf_load(&conf, &into, o->machine ? world_machine_rows : world_rows, call->args[0],
                   o->sets.v, o->sets.n, err))
        return cli_error(err);
    if (o->json) {
        config_print_json(conf, call->out);
    } else {
        conf_dump(conf, &text, !o->plain);
        fputs(wr_str_get(&text), call->out);
    }
    wr_str_fini(&text);
    conf_close(conf);
    return 0;
}

static const struct cli_verb config_show = {
    .name = "show",
    .summary = "print a configuration with every default filled in",
    .args = "FILE",
    .min_args = 1,
    .max_args = 1,
    .input = 1,
    .about = "Reads FILE as `weir run` would, with the files it includes, and prints every value "
             "with its origin: a line and column of a file, a --set, or the default.\n\n"
             "The output is a configuration again and reads back to the same values; file names "
             "in it are meant relative to the current directory.",
    .examples = "weir config show examples/uniform-1056.yaml\n"
                "weir config show examples/uniform-1056.yaml --set traffic.load=30%\n",
    .opts = show_rows,
    .opts_size = sizeof(struct show_opts),
    .main = config_show_main,
};

struct explain_opts {
    bool json;
};

static const struct cli_opt explain_rows[] = {
    CLI_JSON(struct explain_opts, json),
    CLI_OPT_END,
};

static void config_add_row(const struct conf_about *about, void *arg)
{
    const struct conf_row *row = about->row;
    json_t *o = json_pack("{ss, ss, ss*, sb, ss*, ss}", "key", about->key, "type", about->type,
                          "default", row->def && row->def[0] ? row->def : NULL, "required",
                          !row->def && row->type != CONF_SECTION, "allowed", about->allowed, "help",
                          row->help);
    json_t *names = json_array();

    for (size_t i = 0; row->names && row->names[i]; i++)
        json_array_append_new(names, json_string(row->names[i]));
    for (size_t i = 0; row->kinds && row->kinds[i]; i++)
        json_array_append_new(names, json_string(row->kinds[i]->name));
    for (size_t i = 0; row->files && row->files->shipped[i].name; i++)
        json_array_append_new(names, json_string(row->files->shipped[i].name));
    if (json_array_size(names))
        json_object_set(o, "choices", names);
    json_decref(names);
    json_array_append_new(arg, o);
}

static int config_explain_main(const struct cli_call *call, struct wr_err *err)
{
    const struct explain_opts *o = call->opts;
    const char *key = call->nargs ? call->args[0] : NULL;
    struct wr_str text = {0};

    if (o->json) {
        json_t *all = json_array();
        bool ok = conf_each_row(world_rows, key, config_add_row, all, err);

        if (ok) {
            json_dumpf(all, call->out, JSON_INDENT(2));
            fputc('\n', call->out);
        }
        json_decref(all);
        return ok ? 0 : cli_error(err);
    }
    if (!conf_explain(world_rows, key, &text, err))
        return cli_error(err);
    fputs(wr_str_get(&text), call->out);
    wr_str_fini(&text);
    return 0;
}

static void config_explain_complete(char **args, int at, FILE *out)
{
    struct wr_str text = {0};
    struct wr_err ignored;

    (void)args;
    if (at || !conf_explain(world_rows, NULL, &text, &ignored))
        return;
    /* Each line begins with a key. */
    for (char *save, *line = strtok_r(text.s, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save))
        fprintf(out, "%.*s\n", (int)strcspn(line, " "), line);
    wr_str_fini(&text);
}

static const struct cli_verb config_explain = {
    .name = "explain",
    .summary = "explain a key of a configuration",
    .args = "[KEY]",
    .max_args = 1,
    .about = "Prints the type, unit, default, range and meaning of KEY, or one line for each key "
             "there is.\n\n"
             "In a key, NAME stands for a name of your own and N for a place in a list; the "
             "parameters of a plug-in are found under its kind.",
    .examples = "weir config explain\n"
                "weir config explain machine.router.delay\n"
                "weir config explain machine.topology.dragonfly\n",
    .opts = explain_rows,
    .opts_size = sizeof(struct explain_opts),
    .main = config_explain_main,
    .complete = config_explain_complete,
};

static const struct cli_verb *const config_verbs[] = {&config_show, &config_explain, NULL};

const struct cli_verb cli_cmd_config = {
    .name = "config",
    .summary = "show what a configuration resolves to, explain its keys",
    .subs = config_verbs,
};
