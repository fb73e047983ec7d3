/* cmd_version.c -- `weir version`: version, build options and libraries, for bug reports. */
#include <jansson.h>
#include <stdlib.h>

#include "base/version.h"
#include "cli/cli.h"

struct version_opts {
    bool json;
};

static const struct cli_opt version_rows[] = {
    CLI_JSON(struct version_opts, json),
    CLI_OPT_END,
};

static const char *version_state(const struct wr_feature *f)
{
    if (!f->found)
        return "no";
    return f->version[0] ? f->version : "yes";
}

static void version_print_text(FILE *out)
{
    fprintf(out, "weir %s\n", wr_version());
    fprintf(out, "built with %s, %s\n\n", wr_version_compiler(), wr_version_build());
    for (const struct wr_feature *f = wr_features(); f->name; f++) {
        fprintf(out, "%-13s %-14s %s", f->name, version_state(f), f->summary);
        if (!f->found && f->package[0])
            fprintf(out, " (missing: install %s, then build again)", f->package);
        fputc('\n', out);
    }
}

static void version_print_json(FILE *out)
{
    json_t *features = json_array();

    for (const struct wr_feature *f = wr_features(); f->name; f++)
        json_array_append_new(features, json_pack("{ss, sb, ss, ss, ss}", "name", f->name, "found",
                                                  f->found, "version", f->version, "package",
                                                  f->package, "summary", f->summary));
    json_t *all = json_pack("{ss, ss, ss, ss, so}", "version", wr_version_number(), "revision",
                            wr_version_revision(), "compiler", wr_version_compiler(), "build",
                            wr_version_build(), "features", features);
    json_dumpf(all, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(all);
}

static int version_main(const struct cli_call *call, struct wr_err *err)
{
    const struct version_opts *o = call->opts;

    (void)err;
    (o->json ? version_print_json : version_print_text)(call->out);
    return 0;
}

const struct cli_verb cli_cmd_version = {
    .name = "version",
    .summary = "print the version and what it was built with",
    .about = "Prints the version, the revision of the source, the compiler, and which optional "
             "parts were found when it was built. Put its output in a bug report.",
    .examples = "weir version\nweir version --json\n",
    .opts = version_rows,
    .opts_size = sizeof(struct version_opts),
    .main = version_main,
};
