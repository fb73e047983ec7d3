/* Names of a figure are distinguished without colour, and a name has one colour wherever it stands:
 * in figures of all sections, of runs as the program makes them. */
#include "unit/interference_help.h"

#include <math.h>
#include <sys/stat.h>

#include "base/cause.h"
#include "base/file.h"
#include "cli/cli.h"
#include "report/compare.h"
#include "report/doc.h"
#include "report/ink.h"
#include "report/sections/sections.h"

#define EXAMPLES WEIR_SOURCE_DIR "/examples/"

static char dir[] = "/tmp/weir-test-apart-XXXXXX";

static void weir(const char *line)
{
    char *words = wr_strdup(line), *argv[40] = {NULL}, *rest = words, *word;
    int argc = 0;
    FILE *out = fopen("/dev/null", "w");

    while ((word = strsep(&rest, " ")) && argc < 39)
        argv[argc++] = word;
    if (cli_main(argc, argv, out, out) != 0)
        fail_msg("%s", line);
    fclose(out);
    free(words);
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* 400 probes that are now fast, now slow. */
static void write_probes(void)
{
    FILE *f = fopen("probes.csv", "w");

    assert_non_null(f);
    fprintf(f, "t_seconds,op,bytes,latency_seconds\n");
    for (int i = 0; i < 400; i++)
        fprintf(f, "%d,write,1024,%g\n", 10 * i,
                (i / 20 % 2 ? 0.05 : 0.002) * (1 + 0.01 * (double)(i * 7919 % 83)));
    fclose(f);
}

static void write_roof(void)
{
    static const struct {
        const char *key;
        double v;
    } rows[] = {{"roofline.rpc.client_min", 90e3},       {"roofline.rpc.client_max", 100e3},
                {"roofline.rpc.server_min", 300e3},      {"roofline.rpc.server_max", 400e3},
                {"roofline.point.rpc.1.2", 150e3},       {"roofline.point.rpc.2.16", 600e3},
                {"roofline.point_disturbed.rpc.2.16", 1}};
    struct run_meta meta = {.command = "weir", .seed = 1};
    struct run *run;
    struct wr_err err;

    must(run_create(&run, "roof.weir", &meta, &err), err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        must(run_put_real(run, rows[i].key, rows[i].v, "", &err), err);
    must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
}

static void write_profile(void)
{
    static const struct run_access rows[] = {
        {.op = "read", .low_b = 64, .high_b = 256, .calls = 7},
        {.op = "read", .low_b = 4096, .high_b = 16384, .calls = 2},
        {.op = "write", .low_b = 64, .high_b = 256, .calls = 1},
        {.op = "write", .low_b = 4096, .high_b = 16384, .calls = 9}};
    struct run_meta meta = {.kind = "prof", .command = "weir", .seed = 1};
    struct run *run;
    struct wr_err err;

    must(run_create(&run, "prof.weir", &meta, &err), err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        must(run_put_access(run, &rows[i], &err), err);
    must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
}

/* Jobs of one and of three processes, alone and together, on a path of 40 MB/s. */
static void write_experiment(void)
{
    const int64_t epoch = 1794767908000000000, s = 1000000000;

    assert_int_equal(mkdir("pairs", 0777), 0);
    write_file("pairs/experiment.yaml", "command: x {run}\nsizes: [1, 3]\ntogether: [1+3]\n"
                                        "repetitions: 1\n");
    make_one("pairs/private.1.r1.P.weir", epoch, 0.25,
             (struct made_job){"P", 1, 8, 0, 4, 0, 40e6, 0, 0, 0, 0});
    make_one("pairs/private.3.r1.P.weir", epoch + 20 * s, 0.25,
             (struct made_job){"P", 3, 8, 0, 4, 0, 13e6, 0, 0, 0, 0});
    make_one("pairs/private.1+3.r1.P.weir", epoch + 40 * s, 0.25,
             (struct made_job){"P", 1, 8, 0, 8, 0, 20e6, 0, 0, 0, 0});
    make_one("pairs/private.1+3.r1.Q.weir", epoch + 40 * s, 0.25,
             (struct made_job){"Q", 3, 8, 0, 5, 0, 10e6, 0, 0, 0, 0});
}

/* Runs of every kind that there are sections for. */
static int make_runs(void **state)
{
    (void)state;
    if (!mkdtemp(dir) || chdir(dir))
        return -1;
    write_file("study.yaml",
               "run: " EXAMPLES "storage-storage-bb.yaml\n"
               "cross:\n"
               "  workload: {options: {small: {jobs: [small]}, large: {jobs: [large]}, "
               "both: {jobs: [small, large]}}}\n"
               "  routing: {key: machine.routing, values: [minimal, valiant]}\n");
    weir("weir study run study.yaml -j 1 -q");
    weir("weir run " EXAMPLES "two-jobs.yaml -q -o two.weir");
    weir("weir run " EXAMPLES "storage-storage-bb.yaml -q -o storage.weir");
    weir("weir sweep " EXAMPLES
         "ring.yaml -q -o sweep.weir -l 10% -l 30% -r dimension-order -r valiant -j 1");
    weir("weir stack run --fs lustre --servers 2 --tasks 2 -o stack.weir -- ior -a MPIIO -b 8m -t "
         "4m -F -C");
    write_probes();
    weir("weir state import probes.csv -o state.weir");
    write_file("fs.yaml", "stack: {test: ior -a MPIIO -b 8m -t 4m -F, tasks: 2}\n"
                          "cross:\n"
                          "  fs: {values: [pvfs2, lustre]}\n"
                          "  servers: {values: [1, 2]}\n");
    weir("weir study run fs.yaml -j 1 -q -o fs");
    write_file("written.yaml",
               "machine: {topology: {kind: crossbar, nodes: 4}, links: {default: {bandwidth: 10 "
               "GB/s, latency: 1 us}}}\n"
               "storage: {kind: reference, servers: \"3\", device: {kind: table, seek: 0 us}}\n"
               "jobs: [{name: writer, ranks: 2, program: {kind: ior, command: -w -b 8m -t 1m}}]\n");
    weir("weir run written.yaml -q -o simulated.weir");
    write_file("slices.csv", "app,rank,t_s,bytes,write_s\nwriter,0,0,8388608,0.005\n"
                             "writer,1,0,8388608,0.006\n");
    weir("weir interfere import slices.csv --slice 10ms -o measured.weir");
    write_roof();
    write_profile();
    write_experiment();
    return 0;
}

static int remove_runs(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return chdir("/") || system(command);
}

static const char *const documents[][2] = {
    {"study"},        {"two.weir"},   {"study/small-minimal.weir", "study/both-minimal.weir"},
    {"storage.weir"}, {"sweep.weir"}, {"stack.weir"},
    {"state.weir"},   {"roof.weir"},  {"prof.weir"},
    {"pairs"},        {"fs"},         {"simulated.weir", "measured.weir"},
};
enum { DOCUMENTS = sizeof documents / sizeof *documents };

typedef void each_figure(void *ctx, const struct report_doc *d, const struct report_section *s,
                         const struct report_figure *f);

static void in_all_documents(each_figure *fn, void *ctx)
{
    for (size_t i = 0; i < DOCUMENTS; i++) {
        struct report_inputs in;
        struct report_doc doc;
        struct wr_err err;

        must(report_inputs_open(&in, documents[i], documents[i][1] ? 2 : 1, &err), err);
        must(report_doc_open(&doc, &in, report_sections, NULL, &err), err);
        for (size_t k = 0; k < doc.section.n; k++)
            for (size_t j = 0; j < doc.section.v[k].figure.n; j++)
                fn(ctx, &doc, &doc.section.v[k], &doc.section.v[k].figure.v[j]);
        report_doc_close(&doc);
        report_inputs_close(&in);
    }
}

/* ---- apart ---- */

struct legend {
    const char *name[256];
    size_t n;
};

static void take_name(void *ctx, const char *name)
{
    struct legend *l = ctx;

    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->name[i], name))
            return;
    assert_true(l->n < 256);
    l->name[l->n++] = name;
}

/* Where the k-th series is in the legend: its letter with its name. */
static void assert_in_legend(const struct report_figure *f, const char *text, size_t k)
{
    const struct report_series *s = &f->chart.series[k];
    bool alone = f->chart.nseries == 1;
    char entry[300];

    snprintf(entry, sizeof entry, s->line_only ? alone ? "  ..%.0s %s" : "  .%s. %s" : "  %s %s",
             palette_glyph(k, true, false), s->name);
    if (!strstr(text, entry))
        fail_msg("%s: no \"%s\" in\n%s", f->id, entry, text);
}

static bool is_drawable(const struct report_figure *f, const struct report_point *p)
{
    return isfinite(p->x + p->y) && (!f->chart.y.log || p->y > 0) && (!f->chart.x.log || p->x > 0);
}

/* Its letter is in the plot, which ends with the axis. Points may hide each other; lines do not. */
static void assert_in_plot(const struct report_figure *f, const char *text, size_t k)
{
    const struct report_series *s = &f->chart.series[k];
    const char *end = strstr(text, "+-"), *at;
    size_t n = 0, i;

    for (i = 0; i < s->n; i++)
        n += is_drawable(f, &s->point[i]);
    if (!s->line_only || n < 2 || f->chart.nseries == 1)
        return;
    at = strchr(text, '\n');
    for (at = at ? strchr(at + 1, '\n') : NULL; at && at < end; at++)
        if (*at == *palette_glyph(k, true, false))
            return;
    fail_msg("%s: series %s is not seen in\n%s", f->id, s->name, text);
}

static void check_lines(const struct report_figure *f, const char *text)
{
    assert_true(f->chart.nseries <= 26); /* so many letters there are */
    for (size_t k = 0; k < f->chart.nseries; k++) {
        assert_in_legend(f, text, k);
        assert_in_plot(f, text, k);
    }
}

/* The legend of areas names all; rows of boxes are named themselves. */
static void check_names(const struct report_figure *f, const char *text)
{
    struct legend l = {.n = 0};

    report_figure_names(f, take_name, &l);
    for (size_t k = 0; k < l.n; k++) {
        char entry[300];

        if (f->kind == REPORT_BARS)
            snprintf(entry, sizeof entry, "  %s %s", palette_fill(k, true), l.name[k]);
        else
            snprintf(entry, sizeof entry, "  %s ", l.name[k]);
        if (!strstr(text, entry))
            fail_msg("%s: no \"%s\" in\n%s", f->id, entry, text);
    }
}

/* A section that is made once for each run has its number behind the name. */
static size_t maker_of(const struct report_section *s)
{
    for (size_t i = 0; report_sections[i]; i++) {
        size_t n = strlen(report_sections[i]->id);

        if (!strncmp(report_sections[i]->id, s->id, n) && (!s->id[n] || s->id[n] == '-'))
            return i;
    }
    fail_msg("nothing makes the section %s", s->id);
    return 0;
}

static void check_apart(void *ctx, const struct report_doc *d, const struct report_section *s,
                        const struct report_figure *f)
{
    (void)d;
    struct wr_str text = {0};
    bool *seen = ctx;

    report_figure_text(f, &(struct report_text_style){.ascii = true, .width = 100}, &text);
    assert_null(strchr(wr_str_get(&text), '\033'));
    if (f->kind == REPORT_LINES)
        check_lines(f, text.s);
    else if (f->kind == REPORT_BARS || f->kind == REPORT_BOXES)
        check_names(f, text.s);
    wr_str_fini(&text);
    seen[maker_of(s)] = true;
}

static void names_of_every_section_are_distinguished_without_colour(void **state)
{
    bool seen[64] = {false};

    (void)state;
    in_all_documents(check_apart, seen);
    for (size_t i = 0; report_sections[i]; i++)
        if (!seen[i] && strcmp(report_sections[i]->id, "summary") != 0) /* a table */
            fail_msg("no document has a figure of the section %s", report_sections[i]->id);
}

/* ---- colours ---- */

struct palette {
    size_t names, moved;
};

static const struct report_ink *ink_in(const struct report_figure *f, const char *name)
{
    for (size_t i = 0; i < f->ninks; i++)
        if (!strcmp(f->ink[i].name, name))
            return &f->ink[i];
    return NULL;
}

/* Does a name that stands beside this one in a figure of the document have the colour? */
static bool is_beside(const struct report_doc *d, const char *name, uint32_t colour)
{
    for (size_t k = 0; k < d->section.n; k++)
        for (size_t j = 0; j < d->section.v[k].figure.n; j++) {
            const struct report_figure *f = &d->section.v[k].figure.v[j];

            for (size_t i = 0; ink_in(f, name) && i < f->ninks; i++)
                if (f->ink[i].k == colour && strcmp(f->ink[i].name, name) != 0)
                    return true;
        }
    return false;
}

/* Its own colour, which depends on nothing but the name, unless another in its figures has that;
 * and in all figures of the document the same. */
static void check_colours(void *ctx, const struct report_doc *d, const struct report_section *s,
                          const struct report_figure *f)
{
    struct palette *p = ctx;

    for (size_t i = 0; i < f->ninks; i++) {
        const char *name = f->ink[i].name;

        for (size_t k = 0; k < d->section.n; k++)
            for (size_t j = 0; j < d->section.v[k].figure.n; j++) {
                const struct report_ink *there = ink_in(&d->section.v[k].figure.v[j], name);

                if (there && there->k != f->ink[i].k)
                    fail_msg("%s and %s: %s has the colours %u and %u", s->id, d->section.v[k].id,
                             name, f->ink[i].k, there->k);
            }
        p->names++;
        p->moved += f->ink[i].k != palette_of(name);
        if (f->ink[i].k != palette_of(name) && !is_beside(d, name, palette_of(name)))
            fail_msg("%s: %s has colour %u and not its own, %u", f->id, name, f->ink[i].k,
                     palette_of(name));
    }
}

static void a_name_has_the_same_colour_in_all_sections_of_all_documents(void **state)
{
    struct palette p = {0, 0};

    (void)state;
    in_all_documents(check_colours, &p);
    print_message("%zu of %zu moved aside\n", p.moved, p.names);
    assert_true(p.names > 100 && p.moved < p.names / 4);
}

/* Two names of a figure have two colours, as long as there are enough: seven are left for what is
 * no cause. */
static void check_one_to_one(void *ctx, const struct report_doc *d, const struct report_section *s,
                             const struct report_figure *f)
{
    size_t *figures = ctx;

    (void)d, (void)s;
    if (f->ninks > 7)
        return;
    ++*figures;
    for (size_t i = 0; i < f->ninks; i++)
        for (size_t k = 0; k < i; k++)
            if (f->ink[i].k == f->ink[k].k)
                fail_msg("%s: %s and %s have the colour %u", f->id, f->ink[i].name, f->ink[k].name,
                         f->ink[i].k);
}

static void names_of_a_figure_and_their_colours_are_one_to_one(void **state)
{
    size_t figures = 0;

    (void)state;
    in_all_documents(check_one_to_one, &figures);
    assert_true(figures > 50);
}

static void every_cause_has_a_colour_of_its_own_that_no_job_gets(void **state)
{
    static const char *const jobs[] = {"stencil", "fft", "A", "B", "milc", "job 7", "", "é"};

    (void)state;
    for (int a = 0; cause_names[a]; a++) {
        for (int b = 0; b < a; b++)
            assert_int_not_equal(palette_of(cause_names[a]), palette_of(cause_names[b]));
        for (size_t k = 0; k < sizeof jobs / sizeof *jobs; k++)
            assert_int_not_equal(palette_of(cause_names[a]), palette_of(jobs[k]));
        assert_int_equal(palette_of(cause_names[a]),
                         palette_of(report_cause_words(cause_names[a])));
    }
    assert_int_equal(palette_of("comm"), palette_of("communication"));
    assert_int_equal(palette_of("io"), palette_of("I/O"));
    /* Jobs that are numbered are neighbours, so that the first seven differ. */
    for (int a = 0; a < 7; a++)
        for (int b = 0; b < a; b++) {
            char x[8], y[8];

            snprintf(x, sizeof x, "job%d", a);
            snprintf(y, sizeof y, "job%d", b);
            assert_int_not_equal(palette_of(x), palette_of(y));
        }
}

static char *source_of(const char *path)
{
    char *text;
    size_t len;
    struct wr_err err;

    must(wr_file_read(&text, &len, path, 1 << 20, &err), err);
    return text;
}

/* Pages draw in their own code. */
static void pages_have_the_same_colours_marks_and_dashes(void **state)
{
    char *ink = source_of(WEIR_SOURCE_DIR "/web/src/draw/ink.ts");
    char *css = source_of(WEIR_SOURCE_DIR "/web/src/style.css");
    const char *at = strstr(ink, "series: [");

    (void)state;
    for (size_t i = 0; i < PALETTE_COLOURS; i++) {
        char light[32], dark[32];

        snprintf(light, sizeof light, "--c%zu: %s;", i, palette_colours[i].light);
        snprintf(dark, sizeof dark, "--c%zu: %s;", i, palette_colours[i].dark);
        assert_non_null(at = strstr(at, palette_colours[i].light));
        assert_non_null(strstr(css, light));
        assert_non_null(strstr(css, dark));
    }
    at = strchr(strchr(at, '\n') + 1, ']');
    assert_true(at < strstr(ink, "heat: [")); /* no more of them */
    for (size_t k = 0; k < PALETTE_MARKS; k++)
        assert_non_null(at = strstr(at, palette_mark(k)));
    at = strstr(at, "DASHES = [");
    for (size_t k = 0; k < 12; k++) {
        char dash[32];

        snprintf(dash, sizeof dash, "\"%s\",", palette_dash(k));
        assert_non_null(at = strstr(at + 1, dash));
    }
    free(ink);
    free(css);
}

static void marks_dashes_and_letters_do_not_repeat_soon(void **state)
{
    (void)state;
    for (size_t a = 0; a < 12; a++)
        for (size_t b = 0; b < a; b++) {
            assert_string_not_equal(palette_mark(a), palette_mark(b));
            assert_string_not_equal(palette_dash(a), palette_dash(b));
        }
    for (size_t a = 0; a < 26; a++)
        for (size_t b = 0; b < a; b++)
            for (int ascii = 0; ascii < 2; ascii++) {
                assert_string_not_equal(palette_glyph(a, ascii, false),
                                        palette_glyph(b, ascii, false));
                assert_string_not_equal(palette_glyph(a, ascii, true),
                                        palette_glyph(b, ascii, true));
                assert_string_not_equal(palette_fill(a, ascii), palette_fill(b, ascii));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_every_section_are_distinguished_without_colour),
        cmocka_unit_test(a_name_has_the_same_colour_in_all_sections_of_all_documents),
        cmocka_unit_test(names_of_a_figure_and_their_colours_are_one_to_one),
        cmocka_unit_test(every_cause_has_a_colour_of_its_own_that_no_job_gets),
        cmocka_unit_test(pages_have_the_same_colours_marks_and_dashes),
        cmocka_unit_test(marks_dashes_and_letters_do_not_repeat_soon),
    };

    return cmocka_run_group_tests(tests, make_runs, remove_runs);
}
