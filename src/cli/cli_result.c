/* cli_result.c -- see cli_result.h.
 *
 * Called by weir.c around a verb, and by help, manual pages and completion for the rows.
 */
#include "cli/cli_result.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli_figure.h"

/* What the rows of this file fill, behind the verb's own struct. */
struct result_opts {
    const char *out;
    bool force;
};

static const struct wr_format result_text = {.name = "such a text", .endings = ".txt"};
static const struct wr_format result_json = {.name = "such a result in JSON", .endings = ".json"};
static const struct wr_format result_page = {.name = "a page", .endings = ".html .htm"};

static const struct cli_opt *result_row(const struct cli_verb *verb, const char *name)
{
    return cli_opt_find(verb->opts, name, strlen(name));
}

static bool result_has_output(const struct cli_verb *verb)
{
    return !verb->goes_on && result_row(verb, "json") && !result_row(verb, "output");
}

static size_t result_offset(const struct cli_verb *verb)
{
    return (verb->opts_size + 15) / 16 * 16;
}

size_t cli_result_size(const struct cli_verb *verb)
{
    return result_offset(verb) + sizeof(struct result_opts);
}

/* The endings of a verb, in the order in which they are shown; the first is that of other names. */
enum { MOST_FORMATS = 7 };

static void result_formats(const struct cli_verb *verb, const struct wr_format *ret[MOST_FORMATS])
{
    size_t n = 0;

    ret[n++] = &result_text;
    ret[n++] = &result_json;
    if (result_row(verb, "csv"))
        ret[n++] = &wr_format_csv;
    if (result_row(verb, "html"))
        ret[n++] = &result_page;
    if (result_row(verb, "svg")) {
        ret[n++] = &wr_format_svg;
        ret[n++] = &cli_format_pdf;
        ret[n++] = &cli_format_png;
    }
    ret[n] = NULL;
}

const struct cli_opt *cli_result_rows(const struct cli_verb *verb, struct wr_arena *arena)
{
    const struct wr_format *formats[MOST_FORMATS + 1];
    struct wr_str help = {0};
    size_t n = 0;

    if (!result_has_output(verb))
        return verb->opts;
    while (verb->opts[n].name)
        n++;
    struct cli_opt *rows = wr_arena_alloc(arena, (n + 3) * sizeof *rows);

    memcpy(rows, verb->opts, n * sizeof *rows);
    wr_str_add(&help, "write the result to a file; the ending is the format:");
    result_formats(verb, formats);
    for (size_t i = 0; formats[i]; i++)
        wr_str_addf(&help, " %s", formats[i]->endings);
    rows[n++] = (struct cli_opt){.name = "output",
                                 .letter = 'o',
                                 .type = CLI_TEXT,
                                 .offset = result_offset(verb) + offsetof(struct result_opts, out),
                                 .value = "FILE",
                                 .help = wr_arena_strdup(arena, help.s)};
    wr_str_fini(&help);
    if (!result_row(verb, "force")) {
        rows[n] = (struct cli_opt)CLI_FORCE(struct result_opts, force);
        rows[n++].offset += result_offset(verb);
    }
    rows[n] = (struct cli_opt)CLI_OPT_END;
    return rows;
}

/* Sets the text of one of the verb's own options that writes the whole by itself. */
static bool result_delegate(struct cli_result *r, const struct cli_verb *verb, const char *name,
                            char *opts, struct wr_err *err)
{
    const struct cli_opt *row = result_row(verb, name);
    const char **value = (const char **)(opts + row->offset);

    if (*value)
        return wr_fail(err, WR_INPUT, "--%s and --output name one file each; give one of them",
                       name);
    *value = r->path;
    r->path = NULL;
    return true;
}

bool cli_result_begin(struct cli_result *ret, const struct cli_verb *verb, void *opts, FILE *out,
                      struct wr_err *err)
{
    const struct result_opts *o = (void *)((char *)opts + result_offset(verb));
    const struct cli_opt *force = result_row(verb, "force");
    const struct wr_format *formats[MOST_FORMATS + 1];

    *ret = (struct cli_result){.out = out};
    if (!result_has_output(verb) || !o->out)
        return true;
    ret->path = o->out;
    ret->force = force ? *(bool *)((char *)opts + force->offset) : o->force;
    result_formats(verb, formats);
    if (!wr_output_format(&ret->format, ret->path, formats, err))
        return false;
    if (ret->format == &result_page || ret->format == &wr_format_svg ||
        ret->format == &cli_format_pdf || ret->format == &cli_format_png) {
        return result_delegate(ret, verb, ret->format == &result_page ? "html" : "svg", opts, err);
    }
    if (!wr_output_check(ret->path, ret->format, ret->force ? WR_FORCE : 0, err))
        return false;
    if (ret->format == &result_json)
        *(bool *)((char *)opts + result_row(verb, "json")->offset) = true;
    if (ret->format == &wr_format_csv)
        *(bool *)((char *)opts + result_row(verb, "csv")->offset) = true;
    if (!(ret->out = open_memstream(&ret->text, &ret->n)))
        return wr_fail_errno(err, "not enough memory for the result; free some");
    return true;
}

bool cli_result_end(struct cli_result *r, bool failed, struct wr_err *err)
{
    if (!r->path)
        return true;
    bool ok = !fclose(r->out) || wr_fail_errno(err, "not enough memory for the result; free some");
    struct wr_str text = {.s = r->text, .n = r->n};

    if (ok && !failed)
        ok = wr_output_text(r->path, r->format, r->force ? WR_FORCE : 0, &text, err);
    free(r->text);
    return ok;
}
