/* gen.c -- `weir lang compile`: a program in C, with all that it needs besides libc and MPI.
 *
 *   what it is and how it is compiled
 *   declarations of the runtime
 *   the program: variables, options, columns of logs, a function per sentence
 *   the runtime, for the chosen back end and kind of file access
 */
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen_priv.h"

static const struct {
    const char *name, *text;
} gen_texts[] = {
#include "lang_texts.inc"
};

/* ---- lines ---- */

static void gen_vline(struct gen *g, const char *end, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

static void gen_vline(struct gen *g, const char *end, const char *fmt, va_list ap)
{
    char *text = NULL;
    int n = vasprintf(&text, fmt, ap);

    if (n > 0 || *end == '{')
        for (unsigned i = 0; i < g->indent; i++)
            wr_str_add(g->out, "    ");
    wr_str_add(g->out, n > 0 ? text : "");
    wr_str_add(g->out, n > 0 && *end == '{' ? " " : "");
    wr_str_addf(g->out, "%s\n", end);
    free(text);
}

void gen_line(struct gen *g, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    gen_vline(g, "", fmt, ap);
    va_end(ap);
}

void gen_open(struct gen *g, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    gen_vline(g, "{", fmt, ap);
    va_end(ap);
    g->indent++;
}

void gen_close(struct gen *g)
{
    assert(g->indent);
    g->indent--;
    gen_line(g, "}");
}

void gen_string(struct wr_str *out, const char *s, bool format)
{
    wr_str_add(out, "\"");
    for (; *s; s++)
        if (*s == '\n')
            wr_str_add(out, "\\n");
        else if (*s == '"' || *s == '\\' || *s == '?') /* no trigraphs */
            wr_str_addf(out, "\\%c", *s);
        else if (*s == '%' && format)
            wr_str_add(out, "%%");
        else if (isprint((unsigned char)*s))
            wr_str_addn(out, s, 1);
        else
            wr_str_addf(out, "\\%03o", (unsigned)(unsigned char)*s);
    wr_str_add(out, "\"");
}

/* ---- names ---- */

static bool gen_taken(const struct gen *g, const char *name)
{
    for (size_t i = 0; i < g->names.n; i++)
        if (!strcmp(g->names.v[i], name))
            return true;
    return false;
}

const char *gen_variable(struct gen *g, const char *type, const char *prefix, const char *name)
{
    const char *text = wr_arena_printf(&g->arena, "%s%s", prefix, name);

    for (uint32_t i = 2; type && gen_taken(g, text); i++)
        text = wr_arena_printf(&g->arena, "%s%s_%u", prefix, name, i);
    if (!gen_taken(g, text)) {
        wr_vec_push(&g->names, text);
        wr_str_addf(&g->decls, "static %s %s;\n", type ? type : "int64_t", text);
    }
    return text;
}

/* ---- the source beside ---- */

/* One line, with nothing in it that would begin or end a comment. */
static void gen_comment(struct wr_str *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool mark =
            i + 1 < n && ((s[i] == '*' && s[i + 1] == '/') || (s[i] == '/' && s[i + 1] == '*'));
        bool plain = isprint((unsigned char)s[i]) || (unsigned char)s[i] >= 0x80;

        wr_str_addn(out, plain ? &s[i] : " ", 1);
        wr_str_add(out, mark ? " " : "");
    }
}

void gen_source(struct gen *g, uint32_t at)
{
    const char *text = g->u->src.text + at;
    size_t n = strcspn(text, "\n");
    struct wr_str line = {0};
    unsigned row, column;

    nc_place(&g->u->src, at, &row, &column);
    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    gen_comment(&line, text, n);
    if (g->out->n < 2 || strcmp(g->out->s + g->out->n - 2, "{\n"))
        gen_line(g, "%s", "");
    gen_line(g, "/* %u: %s */", row, wr_str_get(&line));
    gen_line(g, "nc_at(%u, %u);", row, column);
    wr_str_fini(&line);
}

/* ---- the program ---- */

static bool gen_params(struct gen *g, struct wr_str *out, struct wr_err *err)
{
    wr_str_add(out, "const struct nc_param nc_params[] = {\n");
    for (const struct nc_param *d = g->u->params; d; d = d->next) {
        int64_t def;

        if (!nc_constant(g->u, d->def, &def, err))
            return false;
        g->name[d->bind->id] = gen_variable(g, "int64_t", "v_", d->name);
        wr_str_addf(out, "    {&%s, ", g->name[d->bind->id]);
        if (def == INT64_MIN)
            wr_str_add(out, "INT64_MIN, ");
        else
            wr_str_addf(out, "INT64_C(%" PRId64 "), ", def);
        gen_string(out, d->longopt, false);
        wr_str_addf(out, ", '%c', ", d->letter);
        gen_string(out, d->help, false);
        wr_str_add(out, "},\n");
    }
    wr_str_add(out, "    {0},\n};\n\n");
    return true;
}

static void gen_sentences(struct gen *g, struct wr_str *out)
{
    for (const struct nc_stmt *s = g->u->stmts; s; s = s->next, g->table++) {
        g->out = out;
        wr_str_addf(out, "static void sentence_%u(void)\n{\n", g->table + 1);
        g->indent = 1;
        gen_sentence(g, s);
        wr_str_add(out, "}\n\n");
    }
    wr_str_add(out, "void nc_program(void)\n{\n");
    for (uint32_t i = 0; i < g->table; i++)
        wr_str_addf(out, "    sentence_%u();\n", i + 1);
    wr_str_add(out, "}\n");
}

static bool gen_program(struct gen *g, struct wr_str *out, struct wr_err *err)
{
    struct wr_str params = {0}, sentences = {0};
    bool ok = gen_params(g, &params, err);

    if (ok) {
        gen_sentences(g, &sentences);
        wr_str_add(out, "\nconst char nc_source[] = ");
        gen_string(out, g->u->src.name, false);
        wr_str_addf(out, ";\nconst bool nc_reads = %s;\n\n%s%s%s", g->reads ? "true" : "false",
                    wr_str_get(&g->decls), g->decls.n ? "\n" : "", wr_str_get(&params));
        wr_str_addf(out, "struct ncptl_column nc_columns[] = {\n%s    {0},\n};\n",
                    wr_str_get(&g->columns));
        wr_str_addf(out, "const uint32_t nc_ncolumns = %u;\n\n", g->ncolumns);
        wr_str_addn(out, wr_str_get(&g->helpers), g->helpers.n);
        wr_str_addn(out, wr_str_get(&sentences), sentences.n);
    }
    wr_str_fini(&params);
    wr_str_fini(&sentences);
    return ok;
}

/* ---- the file ---- */

/* Without the headers of weir, whose text is here. */
static void gen_text(struct wr_str *out, const char *name)
{
    size_t i = 0;

    while (strcmp(gen_texts[i].name, name))
        i++;
    for (const char *s = gen_texts[i].text; *s;) {
        size_t n = strcspn(s, "\n") + 1;

        if (strncmp(s, "#include \"", 10))
            wr_str_addn(out, s, n);
        s += n;
    }
}

static void gen_head(const struct gen *g, const struct ncptl_target *how, struct wr_str *out)
{
    const char *slash = strrchr(g->u->src.name, '/'), *base = slash ? slash + 1 : g->u->src.name;
    int stem = (int)strcspn(base, ".");
    struct wr_str name = {0};

    gen_comment(&name, base, strlen(base));
    wr_str_addf(out, "/* %s, compiled by `weir lang compile -b %s --io %s`.\n *\n",
                wr_str_get(&name), how->serial ? "serial" : "mpi", how->mpiio ? "mpiio" : "posix");
    name.n = 0;
    gen_comment(&name, base, (size_t)stem);
    wr_str_addf(out, " *     %s -O2 %s.c -o %s -lm\n", how->serial ? "cc" : "mpicc",
                wr_str_get(&name), wr_str_get(&name));
    wr_str_addf(out, " *     %s./%s --help\n *\n", how->serial ? "" : "mpirun -n 4 ",
                wr_str_get(&name));
    wr_str_fini(&name);
    wr_str_add(
        out,
        " * What the program says is in the functions sentence_1, sentence_2, ...; each statement\n"
        " * stands above what it became. With WEIR_EVENTS=FILE the operations of all tasks are "
        "written\n"
        " * to FILE as `weir lang events` prints them; delays are left out then, and timed loops "
        "run\n"
        " * once. */\n#define _GNU_SOURCE\n#include <stdbool.h>\n#include <stddef.h>\n#include "
        "<stdint.h>\n");
    wr_str_add(out, how->serial
                        ? "\n"
                        : "\n#include <mpi.h>\n#ifdef __WEIR__\n#include <weir.h>\n#endif\n\n");
}

static void gen_runtime(const struct ncptl_target *how, struct wr_str *out)
{
    static const char *const parts[] = {
        "mem.h",
        "str.h",
        "seq_priv.h",
        "scan_priv.h",
        "dump_text_priv.h",
        "log_table_priv.h",
        "mt_priv.h",
        "str.c",
        "func_math.c",
        "fault_text.c",
        "seq.c",
        "scan.c",
        "dump_text.c",
        "log_table.c",
        "mt.c",
        "runtime.c",
    };

    wr_str_add(out, "\n/* ---- the same in every program ---- */\n");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        wr_str_add(out, "\n");
        gen_text(out, parts[i]);
    }
    wr_str_add(out, "\n");
    gen_text(out, how->serial ? "comm_serial.c" : "comm_mpi.c");
    wr_str_add(out, "\n");
    if (!how->serial) {
        wr_str_add(out, "#ifdef __WEIR__\n");
        gen_text(out, "clock_weir.c");
        wr_str_add(out, "\n#else\n");
        gen_text(out, "clock_mpi.c");
        wr_str_add(out, "\n");
    }
    gen_text(out, "clock.c");
    if (!how->serial)
        wr_str_add(out, "#endif\n");
    wr_str_add(out, "\n");
    gen_text(out, how->mpiio ? "io_mpiio.c" : "io_posix.c");
}

bool ncptl_generate(const struct ncptl_unit *u, const struct ncptl_target *how, struct wr_str *out,
                    struct wr_err *err)
{
    struct gen g = {.u = u};
    struct wr_str program = {0};
    bool ok;

    if (how->serial && how->mpiio)
        return wr_fail(err, WR_INPUT, "MPI-IO needs MPI; choose POSIX files for a serial program");
    g.name = wr_zalloc(u->nbinds + 1, sizeof *g.name);
    ok = gen_program(&g, &program, err);
    if (ok) {
        gen_head(&g, how, out);
        gen_text(out, "ncptl_event.h");
        wr_str_add(out, "\n");
        gen_text(out, "func_math_priv.h");
        wr_str_add(out, "\n");
        gen_text(out, "runtime_calls.h");
        wr_str_add(out, "\n/* ---- the program ---- */\n");
        wr_str_addn(out, wr_str_get(&program), program.n);
        gen_runtime(how, out);
    }
    wr_str_fini(&program);
    wr_str_fini(&g.decls);
    wr_str_fini(&g.helpers);
    wr_str_fini(&g.columns);
    wr_vec_fini(&g.names);
    wr_vec_fini(&g.tags);
    wr_arena_fini(&g.arena);
    free(g.name);
    return ok;
}
