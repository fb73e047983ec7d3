/* Every verb that writes a file, and every file that it writes: inputs stay, what is not weir's
 * stays without --force, endings mean formats, and nothing is left behind. */
#include <ctype.h>
#include <dirent.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "cli/cli.h"
#include "run/reader.h"
#include "verb_place.h"

/* What --force and what an own earlier file mean to a row. */
enum rule {
    DERIVED,  /* drawn from data: replaced when weir wrote it */
    DATA,     /* measured or fitted: replaced with --force */
    RUN_FILE, /* as DATA, and what is no run file is never replaced */
};

struct row {
    const char *verb, *option; /* as in the table of options */
    const char *words;         /* @ stands for the file that is written */
    const char *ending, *input;
    enum rule rule;
    bool only_refused; /* what it does when it works takes a machine of its own */
};

/* clang-format off */
static const struct row rows[] = {
    {"run", "output", "run examples/ring.yaml -o @", ".weir", "examples/ring.yaml", RUN_FILE, false},
    {"run", "logs", "run logs.yaml -o scrap.weir --logs @", ".log", "logs.yaml", DERIVED, false},
    {"sweep", "output", "sweep examples/ring.yaml -l 10% -o @", ".weir", "examples/ring.yaml", RUN_FILE, false},
    {"validate", "html", "validate jobs.weir jobs2.weir -o @", ".html", "jobs.weir", DERIVED, false},
    {"validate", "svg", "validate jobs.weir jobs2.weir -o @", ".svg", "jobs2.weir", DERIVED, false},
    {"compare", "html", "compare jobs.weir jobs2.weir -o @", ".html", "jobs.weir", DERIVED, false},
    {"compare", "output", "compare jobs.weir jobs2.weir -o @", ".csv", "jobs.weir", DERIVED, false},
    {"show", "output", "show t.weir summary -o @", ".csv", "t.weir", DERIVED, false},
    {"show", "output", "show t.weir summary -o @", ".json", "t.weir", DATA, false},
    {"export", "output", "export t.weir latency -o @", ".csv", "t.weir", DERIVED, false},
    {"export", "output", "export t.weir latency summary -o @", ".json", "t.weir", DATA, false},
    {"export", "output", "export t.weir -o @", ".db", "t.weir", DERIVED, false},
    {"topo", "output", "topo examples/torus-8x8x8.yaml -o @", ".txt", "examples/torus-8x8x8.yaml", DERIVED, false},
    {"topo", "output", "topo examples/torus-8x8x8.yaml -o @", ".svg", "examples/torus-8x8x8.yaml", DERIVED, false},
    {"topo", "svg", "topo examples/torus-8x8x8.yaml --svg @", ".svg", "examples/torus-8x8x8.yaml", DERIVED, false},
    {"place", "svg", "place examples/two-jobs.yaml --svg @", ".svg", "examples/two-jobs.yaml", DERIVED, false},
    {"report", "output", "report t.weir -o @", ".txt", "t.weir", DERIVED, false},
    {"report", "output", "report t.weir -o @", ".html", "t.weir", DERIVED, false},
    {"report", "output", "report t.weir -o @", ".svg", "t.weir", DERIVED, false},
    {"report", "output", "report t.weir -o @", ".csv", "t.weir", DERIVED, false},
    {"report", "output", "report t.weir -o @", ".json", "t.weir", DERIVED, false},
    {"lang events", "logs", "lang events logs.ncptl --tasks 2 --logs @", ".log", "logs.ncptl", DERIVED, false},
    {"lang compile", "output", "lang compile logs.ncptl -o @", ".c", "logs.ncptl", DERIVED, false},
    {"lang goal", "output", "lang goal examples/goal/ring.goal -o @", ".bin", "examples/goal/ring.goal", DATA, false},
    {"lang goal", "output", "lang goal examples/goal/ring.goal -o @", ".goal", "examples/goal/ring.goal", DATA, false},
    {"dev fit", "output", "dev fit nvme examples/devices/d3-s4510.csv -o @", ".yaml", "examples/devices/d3-s4510.csv", DATA, false},
    {"state fit", "output", "state fit probes.csv --states 1 -o @", ".json", "probes.csv", DERIVED, false},
    {"state fit", "output", "state fit probes.csv --states 1 --per-target -o @", ".json", "probes.csv", DERIVED, false},
    {"state fit", "path", "state fit probes.csv --states 1 --path @", ".csv", "probes.csv", DERIVED, false},
    {"state import", "output", "state import probes.csv -o @", ".weir", "probes.csv", RUN_FILE, false},
    {"state probe", "output", "state probe . -n 1 -i 1ms -o @", ".csv", NULL, DATA, false},
    {"state probe", "run", "state probe . -n 1 -i 1ms -o scrap.csv --run @", ".weir", NULL, RUN_FILE, false},
    {"stack run", "output", "stack run -o @ -- ior -a MPIIO -b 1m -t 1m", ".weir", NULL, RUN_FILE, false},
    {"stack run", "state-times", "stack run --state-times @ -- ior -a MPIIO -b 1m -t 1m", ".csv", NULL, DERIVED, false},
    {"stack trace", "output", "stack trace -o @ -- ior -a MPIIO -b 1m -t 1m", ".txt", NULL, DERIVED, false},
    {"stack trace", "output", "stack trace -o @ -- ior -a MPIIO -b 1m -t 1m", ".svg", NULL, DERIVED, false},
    {"stack trace", "output", "stack trace -o @ -- ior -a MPIIO -b 1m -t 1m", ".json", NULL, DERIVED, false},
    {"stack trace", "output", "stack trace -o @ -- ior -a MPIIO -b 1m -t 1m", ".csv", NULL, DERIVED, false},
    {"stack calibrate", "output", "stack calibrate --logs functions.csv -o @", ".yaml", "functions.csv", DERIVED, false},
    {"stack validate", "svg", "stack validate --logs functions.csv --svg @", ".svg", "functions.csv", DERIVED, false},
    {"stack validate", "output", "stack validate --logs functions.csv -o @", ".weir", "functions.csv", RUN_FILE, false},
    {"profile", "output", "profile -o @ -- true", ".weir", NULL, RUN_FILE, true},
    {"profile show", "output", "profile show profiles -o @", ".weir", NULL, RUN_FILE, true},
    {"interfere", "svg", "interfere io.weir --svg @", ".svg", "io.weir", DERIVED, false},
    {"interfere import", "output", "interfere import slices.csv -o @", ".weir", "slices.csv", RUN_FILE, false},
    {"import darshan", "output", "import darshan examples/darshan/ior.darshan -o @", ".weir", "examples/darshan/ior.darshan", RUN_FILE, false},
    {"roofline model", "svg", "roofline model examples/roofline/four-systems.csv -o @", ".svg", "examples/roofline/four-systems.csv", DERIVED, false},
    {"roofline collect", "output", "roofline collect -o @", ".weir", NULL, RUN_FILE, true},
    {"roofline collect", "service", "roofline collect -o scrap.weir --service @", ".yaml", NULL, DATA, true},
    {"roofline polling", "output", "roofline polling -o @", ".weir", NULL, RUN_FILE, true},
    {"roofline polling", "svg", "roofline polling --from-run t.weir --svg @", ".svg", "t.weir", DERIVED, true},
    {"io-load", "output", "io-load . --total 64KiB --block 4KiB --output @", ".weir", NULL, RUN_FILE, false},
};

/* Files that are not written whole, or whose name is no name of a file. */
static const struct {
    const char *verb, *option, *why;
} others[] = {
    {"study run", "output", "a directory"},
    {"study list", "output", "a directory, which is looked into"},
    {"interfere experiment", "output", "a directory"},
    {"paper run", "output", "a directory"},
    {"lang bench", "output", "how the names begin of what profile and run write"},
    {"roofline serve", "ticket", "a ticket, which is there as long as its server"},
    {"stack calibrate", "logs", "an input"},
    {"stack validate", "logs", "an input"},
};
/* clang-format on */

enum { NROWS = sizeof rows / sizeof *rows };

/* ---- a place with inputs ---- */

/* Whether results count as said, too. */
static bool with_results;

/* In a process of its own, as a user would; what it says on stderr goes to `said`. */
static int weir(const char *line, char *said, size_t size)
{
    int ends[2], status;

    fflush(NULL);
    unlink("scrap.weir");
    unlink("scrap.csv");
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();

    if (!child) {
        char *words = strdup(line), *argv[40];
        int argc = verb_split(words, argv);

        dup2(ends[1], STDERR_FILENO);
        FILE *errors = fdopen(ends[1], "w");
        FILE *out = with_results ? errors : fopen("/dev/null", "w");
        status = cli_main(argc, argv, out, errors);

        fflush(NULL);
        _exit(status);
    }
    close(ends[1]);
    size_t n = 0;

    for (ssize_t got; n < size - 1 && (got = read(ends[0], said + n, size - 1 - n)) > 0;)
        n += (size_t)got;
    said[n] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char said[8192];

static void must(const char *line)
{
    if (weir(line, said, sizeof said))
        fail_msg("weir %s: %s", line, said);
}

/* Calls of a file system's clients, of three sizes. */
static void write_functions(void)
{
    static const char *const names[] = {"WriteContig", "ReadContig"};
    FILE *f = fopen("functions.csv", "w");

    assert_non_null(f);
    fputs("run,file_size,side,layer,function,start,duration,node,kind,io,op_seq,extra,exec_or_bytes"
          "\n",
          f);
    for (int mib = 8; mib <= 32; mib *= 2)
        for (int i = 0; i < 2; i++)
            fprintf(f,
                    "F_S1P1_b%04d_r0,%d,client,AD_PVFS,ADIOI_PVFS2_%s,%d.0,0.%02d,0,call,,,,%d\n",
                    mib, mib << 20, names[i], 1 + i, mib, mib << 20);
    fclose(f);
    f = fopen("runs.csv", "w");
    assert_non_null(f);
    fputs("run,nservers,nprocs,ior_cmd\n", f);
    for (int mib = 8; mib <= 32; mib *= 2)
        fprintf(f, "F_S1P1_b%04d_r0,1,1,ior -a MPIIO -b %dm -t %dm -F\n", mib, mib, mib);
    fclose(f);
}

static int set_up(void **state)
{
    (void)state;
    verb_place_enter();
    /* A copy: what is tested here may destroy its inputs. */
    assert_int_equal(system("cp -r '" WEIR_SOURCE_DIR "/examples' ."), 0);
    mkdir("profiles", 0777);
    verb_write("slices.csv", "app,bytes,t_s\nA,10,0\nA,10,1\nA,10,2\n");
    verb_write_job();
    verb_write("probes.csv", "t_seconds,op,bytes,latency_seconds\n");
    write_functions();
    FILE *f = fopen("probes.csv", "a");

    for (int i = 0; i < 40; i++)
        fprintf(f, "%d,write,1048576,%g\n", i * 60, 0.004 + 0.0001 * (i * 7 % 11));
    fclose(f);
    must("run -q examples/ring.yaml -o t.weir");
    must("run -q logs.yaml -o jobs.weir");
    must("run -q logs.yaml -o jobs2.weir");
    must("io-load . --total 64KiB --block 4KiB --slice 1ms --output io.weir");
    return 0;
}

/* ---- what is checked ---- */

static const char *line_of(const struct row *r, const char *out, const char *more)
{
    static char line[1024];
    const char *at = strchr(r->words, '@'), *verb_end = r->words + strlen(r->verb);

    snprintf(line, sizeof line, "%.*s%s%.*s%s%s", (int)(verb_end - r->words), r->words, more,
             (int)(at - verb_end), verb_end, out, at + 1);
    return line;
}

static void name_of(char *ret, size_t size, const struct row *r)
{
    snprintf(ret, size, "out%s", r->ending);
}

static void none_left(const char *line)
{
    DIR *d = opendir(".");

    for (const struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, "weir-part"))
            fail_msg("weir %s left %s", line, e->d_name);
    closedir(d);
}

static bool holds(const char *path, const char *text)
{
    char buf[64] = "";
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(buf, 1, sizeof buf - 1, f) : 0;

    if (f)
        fclose(f);
    return n == strlen(text) && !memcmp(buf, text, n);
}

/* Refused: exit status 2, and one line that has `word` in it. */
static void refused(const char *line, const char *word)
{
    int status = weir(line, said, sizeof said);

    if (status != 2 || !strstr(said, word))
        fail_msg("weir %s: exit status %d: %s (not refused with \"%s\")", line, status, said, word);
    const char *error = strstr(said, "weir: ");

    if (!error || !strchr(error, '\n'))
        fail_msg("weir %s says not in one line why: %s", line, said);
    none_left(line);
}

/* Can this row also be written as a picture? */
static bool draws(const struct row *r)
{
    return !strcmp(r->option, "svg") || !strcmp(r->verb, "report") ||
           !strcmp(r->verb, "stack trace") || !strcmp(r->verb, "topo") ||
           !strcmp(r->verb, "validate");
}

static void an_ending_that_cannot_be_written_is_refused(void **state)
{
    static const char *const bad[] = {"out.docx", "out.xls", "out.pdf", "out.png"};

    (void)state;
    for (size_t i = 0; i < NROWS; i++)
        for (size_t k = 0; k < (draws(&rows[i]) ? 2 : 4); k++) {
            const char *line = line_of(&rows[i], bad[k], "");

            if (!strcmp(rows[i].verb, "profile show")) /* of a directory without profiles */
                continue;
            refused(line, "cannot be written here; give a name that ends in .");
            if (!access(bad[k], F_OK))
                fail_msg("weir %s left %s", line, bad[k]);
        }
}

static void write_renderer(const char *text)
{
    mkdir("renderer", 0777);
    verb_write("renderer/rsvg-convert", text);
    assert_int_equal(chmod("renderer/rsvg-convert", 0755), 0);
}

/* With a stand-in for the renderer, and without one. */
static void pictures_are_rendered_or_the_package_is_named(void **state)
{
    char *path = strdup(getenv("PATH")), with[4096];

    (void)state;
    write_renderer("#!/bin/sh\nprintf '%%PDF %s\\n' \"$*\"; cat\n");
    snprintf(with, sizeof with, "%s/renderer:%s", verb_place, path);
    for (size_t i = 0; i < NROWS; i++) {
        char *got;
        size_t n;
        struct wr_err err;

        if (!draws(&rows[i]) || rows[i].only_refused)
            continue;
        setenv("PATH", "/nowhere", 1);
        int status = weir(line_of(&rows[i], "out.pdf", ""), said, sizeof said);

        if (status != 4 || !strstr(said, "install librsvg2-bin") || !access("out.pdf", F_OK))
            fail_msg("weir %s: status %d: %s", line_of(&rows[i], "out.pdf", ""), status, said);
        setenv("PATH", with, 1);
        must(line_of(&rows[i], "out.pdf", ""));
        assert_true(wr_file_peek(&got, &n, "out.pdf", 1 << 30, &err));
        if (strncmp(got, "%PDF --format pdf\n<svg", 22) != 0)
            fail_msg("weir %s: rendered from: %s", line_of(&rows[i], "out.pdf", ""), got);
        free(got);
        refused(line_of(&rows[i], "out.pdf", ""), "exists");
        unlink("out.pdf");
    }
    write_renderer("#!/bin/sh\nexit 1\n");
    assert_int_equal(weir("report t.weir -o out.png", said, sizeof said), 4);
    assert_non_null(strstr(said, "rsvg-convert could not make the picture"));
    assert_int_equal(access("out.png", F_OK), -1);
    none_left("report t.weir -o out.png");
    setenv("PATH", path, 1);
    free(path);
}

static void what_was_read_is_never_replaced_under_any_name(void **state)
{
    char out[64];

    (void)state;
    for (size_t i = 0; i < NROWS; i++)
        for (int how = 0; rows[i].input && how < 2; how++) {
            const struct row *r = &rows[i];
            char *before, *after;
            size_t n, m;
            struct wr_err err;

            name_of(out, sizeof out, r);
            assert_true(wr_file_peek(&before, &n, r->input, 1 << 30, &err));
            unlink(out);
            if (how)
                assert_int_equal(symlink(r->input, out), 0);
            else
                assert_int_equal(link(r->input, out), 0);
            if (!r->only_refused || r->rule == DERIVED)
                refused(line_of(r, out, " -f"), r->only_refused ? "" : "so it stays");
            assert_true(wr_file_peek(&after, &m, r->input, 1 << 30, &err));
            if (n != m || memcmp(before, after, n))
                fail_msg("weir %s changed its input", line_of(r, out, " -f"));
            free(before);
            free(after);
            unlink(out);
        }
}

static void what_weir_did_not_write_stays_without_force(void **state)
{
    char out[64];

    (void)state;
    for (size_t i = 0; i < NROWS; i++) {
        const struct row *r = &rows[i];

        name_of(out, sizeof out, r);
        if (!strcmp(r->verb, "profile show") || (r->only_refused && r->rule == DERIVED))
            continue;
        verb_write(out, "my thesis\n");
        refused(line_of(r, out, ""), "exists");
        if (!holds(out, "my thesis\n"))
            fail_msg("weir %s replaced what it did not write", line_of(r, out, ""));
        unlink(out);
    }
}

static void with_force_it_is_replaced_unless_a_run_file_is_written(void **state)
{
    char out[64];

    (void)state;
    for (size_t i = 0; i < NROWS; i++) {
        const struct row *r = &rows[i];
        const char *line;

        if (r->only_refused)
            continue;
        name_of(out, sizeof out, r);
        verb_write(out, "my thesis\n");
        line = line_of(r, out, " -f");
        if (r->rule == RUN_FILE)
            refused(line, "is not a run file, so it stays");
        else
            must(line);
        if (holds(out, "my thesis\n") != (r->rule == RUN_FILE))
            fail_msg("weir %s: --force has not its meaning", line);
        none_left(line);
        unlink(out);
    }
}

static void an_earlier_output_is_replaced_as_its_kind_wants(void **state)
{
    char out[64];

    (void)state;
    for (size_t i = 0; i < NROWS; i++) {
        const struct row *r = &rows[i];
        struct stat first, second;

        if (r->only_refused)
            continue;
        name_of(out, sizeof out, r);
        must(line_of(r, out, ""));
        none_left(line_of(r, out, ""));
        assert_int_equal(stat(out, &first), 0);
        assert_int_equal(link(out, "first"), 0); /* its inode is not given to another */
        if (r->rule == DERIVED)
            must(line_of(r, out, ""));
        else
            refused(line_of(r, out, ""), "exists");
        must(line_of(r, out, " -f"));
        assert_int_equal(stat(out, &second), 0);
        if (first.st_ino == second.st_ino)
            fail_msg("weir %s writes into the file itself", line_of(r, out, " -f"));
        unlink("first");
        unlink(out);
    }
}

/* ---- what is said ---- */

static void every_verb_says_which_file_it_wrote(void **state)
{
    char out[64], line[128];

    (void)state;
    for (size_t i = 0; i < NROWS; i++) {
        if (rows[i].only_refused)
            continue;
        name_of(out, sizeof out, &rows[i]);
        unlink(out);
        must(line_of(&rows[i], out, ""));
        snprintf(line, sizeof line, "weir: wrote %s", out);
        if (!strstr(said, line))
            fail_msg("weir %s does not say that it wrote %s: %s", line_of(&rows[i], out, ""), out,
                     said);
        unlink(out);
    }
    must("study run examples/studies/placements.yaml --only 1 -o made");
    assert_non_null(strstr(said, "weir: wrote made\n"));
    assert_null(strstr(said, "wrote made/"));
}

static void with_quiet_no_verb_says_anything(void **state)
{
    char out[64];

    (void)state;
    with_results = true;
    for (size_t i = 0; i < NROWS; i++) {
        if (rows[i].only_refused)
            continue;
        name_of(out, sizeof out, &rows[i]);
        unlink(out);
        must(line_of(&rows[i], out, " -q"));
        if (*said)
            fail_msg("weir %s prints: %s", line_of(&rows[i], out, " -q"), said);
        unlink(out);
    }
    with_results = false;
}

/* ---- the table is complete ---- */

static const char *const output_names[] = {"output", "svg", "logs",  "state-times",
                                           "path",   "run", "ticket"};

static bool is_listed(const char *verb, const char *option)
{
    for (size_t i = 0; i < NROWS; i++)
        if (!strcmp(rows[i].verb, verb) && !strcmp(rows[i].option, option))
            return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i].verb, verb) && !strcmp(others[i].option, option))
            return true;
    return false;
}

static void look_at(const struct cli_verb *const *verbs, const char *above)
{
    for (size_t i = 0; verbs[i]; i++) {
        char name[128];
        bool writes = false, force = false;

        snprintf(name, sizeof name, "%s%s%s", above, *above ? " " : "", verbs[i]->name);
        for (const struct cli_opt *o = verbs[i]->opts; o && o->name; o++) {
            force |= !strcmp(o->name, "force");
            for (size_t k = 0; k < sizeof output_names / sizeof *output_names; k++)
                if (o->type == CLI_TEXT && !strcmp(o->name, output_names[k])) {
                    writes |= strcmp(name, "study list") != 0;
                    if (!is_listed(name, o->name))
                        fail_msg("weir %s --%s writes a file and is not in the table here", name,
                                 o->name);
                }
        }
        if (writes && !force)
            fail_msg("weir %s writes and has no --force", name);
        if (verbs[i]->subs)
            look_at(verbs[i]->subs, name);
    }
}

static void every_option_that_names_an_output_is_looked_at(void **state)
{
    (void)state;
    look_at(cli_verbs, "");
}

/* ---- no other file opens outputs ---- */

/* clang-format off */
static const struct {
    const char *file, *call, *why;
} ways[] = {
    {"base/output.c", "", "this is the way"},
    {"cli/weir.c", "fopen(", "/dev/null, for what a quiet verb prints"},
    {"base/file.c", "tmpfile(", "what was compressed, without a name"},
    {"prof/", "", "the profiler's maps, which live in the profiled program"},
    {"load/goal/goal_read.c", "tmpfile(", "the binary form of a text, without a name"},
    {"rpc/store_uring.c", "mkostemp(", "what a server's storage is measured with"},
    {"rpc/nic/nic_table.c", "O_CREAT", "what processes of a job share while they run"},
    {"report/web/web_start.c", "O_CREAT", "the log of a study, which is refused where something is"},
    {"ioload/ioload.c", "mkostemp(", "what storage is loaded with, without a name"},
    {"state/target.c", "O_TMPFILE", "what a path is probed with, without a name"},
    {"state/target.c", "mkostemp(", "the same on file systems that have no O_TMPFILE"},
    {"base/scratch.c", "mkdtemp(", "directories that go with their process"},
    {"run/document.c", "sqlite3_open_v2(", "in memory, without a name"},
    {"paper/paper_step.c", "tmpfile(", "what a step says, until it is in the log; it has no name"},
    {"interference/experiment/experiment_trial.c", "mkdir(", "where each job of an experiment writes, in one of those"},
    {"interference/experiment/experiment_trial.c", "O_CREAT", "what a job says, in the experiment's own directory"},
    {"run/sql.c", "sqlite3_open_v2(", "opens what base/output.c made"},
    {"run/reader.c", "sqlite3_open_v2(", "a copy in a temporary database"},
    {"run/foreign.c", "sqlite3_open_v2(", "a schema in memory, to compare with"},
};
/* clang-format on */

static const char *const calls[] = {"O_CREAT",  "O_TMPFILE", "creat(",        "rename(",
                                    "mkdir(",   "mkdtemp(",  "mkostemp(",     "mkstemp(",
                                    "tmpfile(", "freopen(",  "sqlite3_open(", "sqlite3_open_v2(",
                                    "fopen("};

static bool is_allowed(const char *file, const char *call)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!strncmp(file, ways[i].file, strlen(ways[i].file)) &&
            (!*ways[i].call || !strcmp(call, ways[i].call)))
            return true;
    return false;
}

/* fopen() that only reads is anybody's. */
static bool only_reads(const char *at, const char *call)
{
    const char *end = strchr(at, ';');

    return !strcmp(call, "fopen(") && end && (memmem(at, (size_t)(end - at), ", \"r", 4) != NULL) &&
           !memmem(at, (size_t)(end - at), "+", 1);
}

static int look_into(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    const char *file = path + strlen(WEIR_SOURCE_DIR "/src/");
    struct wr_err err;
    char *text;
    size_t n;

    (void)st, (void)ftw;
    if (type != FTW_F || strcmp(path + strlen(path) - 2, ".c"))
        return 0;
    assert_true(wr_file_peek(&text, &n, path, 1 << 24, &err));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (const char *at = text; (at = strstr(at, calls[i])); at++)
            if ((at == text || (at[-1] != '_' && !isalnum((unsigned char)at[-1]))) &&
                !is_allowed(file, calls[i]) && !only_reads(at, calls[i]))
                fail_msg("src/%s: %s makes a file, and not by base/output.h", file, calls[i]);
    free(text);
    return 0;
}

static void no_file_is_made_in_another_way(void **state)
{
    (void)state;
    nftw(WEIR_SOURCE_DIR "/src", look_into, 16, FTW_PHYS);
}

/* ---- directories ---- */

static void directories_of_others_stay_as_they_are(void **state)
{
    static const char *const lines[] = {
        "study run -q examples/studies/placements.yaml -o full",
        "interfere experiment -q examples/interfere/pairs.yaml -o full",
        "interfere import runs.csv -o full",
    };

    (void)state;
    verb_write("runs.csv", "run,app,bytes,t_s\nr,A,10,0\nr,A,10,1\n");
    mkdir("full", 0777);
    verb_write("full/thesis.txt", "my thesis\n");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        int n = 0;

        refused(lines[i], "full exists and holds nothing");
        DIR *d = opendir("full");

        for (const struct dirent *e; (e = readdir(d));)
            n += e->d_name[0] != '.';
        closedir(d);
        assert_int_equal(n, 1);
    }
    must("interfere import runs.csv -o fresh");
    must("interfere import -f runs.csv -o fresh");
    must("interfere import -f runs.csv -o full");
    assert_true(holds("full/thesis.txt", "my thesis\n"));
}

/* ---- several at once ---- */

static void of_six_runs_of_one_target_the_first_wins(void **state)
{
    enum { N = 5 };
    char line[] = "run -q -f examples/ring.yaml -o same.weir";
    struct wr_err err;
    struct run_reader *r;
    int status;

    (void)state;
    /* The first goes on until it is asked to stop. */
    fflush(NULL);
    pid_t first = fork();

    if (!first) {
        char *argv[] = {(char *)"weir",
                        (char *)"run",
                        (char *)"-q",
                        (char *)"-f",
                        (char *)"examples/uniform-1056.yaml",
                        (char *)"--set",
                        (char *)"traffic.measure=1s",
                        (char *)"-o",
                        (char *)"same.weir",
                        NULL};

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGINT, SIG_DFL);
        _exit(cli_main(9, argv, fopen("/dev/null", "w"), stderr));
    }
    while (access("same.weir", F_OK) && !waitpid(first, &status, WNOHANG))
        usleep(1000);
    for (int i = 0; i < N; i++)
        refused(line, "same.weir is being written by another run");
    kill(first, SIGINT);
    waitpid(first, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    none_left("run");
    assert_true(run_open(&r, "same.weir", &err));
    assert_int_equal(run_info(r)->status, RUN_INCOMPLETE);
    run_close(r);
}

/* All begin at once, so that it is not known who is the first. */
static void of_six_that_begin_together_none_harms_another(void **state)
{
    enum { N = 6 };
    struct wr_err err;
    struct run_reader *r;
    pid_t child[N];
    int won = 0;

    (void)state;
    fflush(NULL);
    for (int i = 0; i < N; i++)
        if (!(child[i] = fork())) {
            char text[4096];
            int status = weir("run -q -f examples/ring.yaml -o all.weir", text, sizeof text);

            _exit(status == 2 && !strstr(text, "is being written by another run") ? 99 : status);
        }
    for (int i = 0; i < N; i++) {
        int status;

        waitpid(child[i], &status, 0);
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);
        won += !WEXITSTATUS(status);
    }
    assert_true(won >= 1);
    none_left("run");
    assert_true(run_open(&r, "all.weir", &err));
    assert_int_equal(run_info(r)->status, RUN_COMPLETE);
    run_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_that_names_an_output_is_looked_at),
        cmocka_unit_test(no_file_is_made_in_another_way),
        cmocka_unit_test(an_ending_that_cannot_be_written_is_refused),
        cmocka_unit_test(pictures_are_rendered_or_the_package_is_named),
        cmocka_unit_test(what_was_read_is_never_replaced_under_any_name),
        cmocka_unit_test(what_weir_did_not_write_stays_without_force),
        cmocka_unit_test(with_force_it_is_replaced_unless_a_run_file_is_written),
        cmocka_unit_test(an_earlier_output_is_replaced_as_its_kind_wants),
        cmocka_unit_test(every_verb_says_which_file_it_wrote),
        cmocka_unit_test(with_quiet_no_verb_says_anything),
        cmocka_unit_test(directories_of_others_stay_as_they_are),
        cmocka_unit_test(of_six_runs_of_one_target_the_first_wins),
        cmocka_unit_test(of_six_that_begin_together_none_harms_another),
    };

    return cmocka_run_group_tests(tests, set_up, verb_place_leave);
}
