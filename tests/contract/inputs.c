/* Every verb that reads a file: one that is not there is the user's mistake, one that is compressed
 * is read as it is, and a file for another verb is sent there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/output.h"
#include "base/version.h"
#include "cli/cli.h"
#include "verb_place.h"

/* "@" stands for the file that is read. What is at the end of the line, NULL, is a verb that reads
 * none: why. */
/* clang-format off */
static const struct {
    const char *verb, *words, *why_none;
} rows[] = {
    {"help", NULL, "knows its text"},
    {"run", "run -q @ -o out.weir", NULL},
    {"sweep", "sweep -q @ -l 10% -o out.weir", NULL},
    {"study list", "study list @", NULL},
    {"study run", "study run -q @ -o out", NULL},
    {"study show", "study show @", NULL},
    {"show", "show @", NULL},
    {"export", "export @", NULL},
    {"query", "query @ SELECT", NULL},
    {"same", "same @ t.weir", NULL},
    {"same", "same t.weir @", NULL},
    {"compare", "compare @ t.weir", NULL},
    {"compare", "compare t.weir @", NULL},
    {"validate", "validate @ t.weir", NULL},
    {"validate", "validate t.weir @", NULL},
    {"config explain", NULL, "knows the keys"},
    {"config show", "config show @", NULL},
    {"topo", "topo @", NULL},
    {"place", "place @", NULL},
    {"lang check", "lang check @", NULL},
    {"lang events", "lang events @", NULL},
    {"lang stats", "lang stats @", NULL},
    {"lang fmt", "lang fmt @", NULL},
    {"lang compile", "lang compile @ -f -o out.c", NULL},
    {"lang bench", "lang bench -b serial @ -- true", NULL},
    {"lang goal", "lang goal @", NULL},
    {"lang ior", NULL, "reads a command line"},
    {"dev", "dev @", NULL},
    {"dev fit", "dev fit nvme @", NULL},
    {"dev fit", "dev fit @ examples/devices/d3-s4510.csv", NULL},
    {"list", NULL, "knows its tables"},
    {"report", "report @", NULL},
    {"report", "report t.weir @", NULL},
    {"serve", "serve --port 0 @", NULL},
    {"state probe", "state probe -n 1 @/there", NULL},
    {"state import", "state import @ -o out.weir", NULL},
    {"state describe", "state describe @", NULL},
    {"state fit", "state fit @", NULL},
    {"state loglik", "state loglik @ -m model.json", NULL},
    {"state loglik", "state loglik probes.csv -m @", NULL},
    {"state simulate", "state simulate @", NULL},
    {"state policy", "state policy @", NULL},
    {"state validate", "state validate @", NULL},
    {"state forecast", "state forecast @", NULL},
    {"state forecast", "state forecast probes.csv -m @", NULL},
    {"state watch", "state watch -n 1 @/there", NULL},
    {"stack run", "stack run --timing @ -- ior -a MPIIO", NULL},
    {"stack run", "stack run --fs @ -- ior -a MPIIO", NULL},
    {"stack run", "stack run -- @", NULL},
    {"stack step", "stack step --timing @ -- ior -a MPIIO", NULL},
    {"stack check", "stack check @", NULL},
    {"stack list", NULL, "knows what weir brings along"},
    {"stack trace", "stack trace --timing @ -- ior -a MPIIO", NULL},
    {"stack show", "stack show @", NULL},
    {"stack calibrate", "stack calibrate --logs @", NULL},
    {"stack validate", "stack validate --logs @", NULL},
    {"profile", "profile -o out.weir -- @", NULL},
    {"profile show", "profile show @", NULL},
    {"interfere", "interfere @", NULL},
    {"interfere alone", "interfere alone @", NULL},
    {"interfere experiment", "interfere experiment @ -o out", NULL},
    {"paper list", "paper list @", NULL},
    {"paper run", "paper run @ -o out", NULL},
    {"interfere import", "interfere import @ -o out.weir", NULL},
    {"import darshan", "import darshan @ -o out.weir", NULL},
    {"interfere predict", "interfere predict @", NULL},
    {"interfere predict", "interfere predict --cases @", NULL},
    {"interfere tables", "interfere tables @", NULL},
    {"roofline model", "roofline model @", NULL},
    {"roofline model", "roofline model examples/roofline/four-systems.csv --points @", NULL},
    {"roofline collect", "roofline collect -q @ -o out.weir", NULL},
    {"roofline serve", "roofline serve @", NULL},
    {"roofline nics", "roofline nics --topology @", NULL},
    {"roofline polling", "roofline polling -q @ -o out.weir", NULL},
    {"roofline polling", "roofline polling --from-run @", NULL},
    {"top", "top @", NULL},
    {"io-load", "io-load @ --total 4KiB --block 4KiB", NULL},
    {"io-limit", NULL, "makes a socket"},
    {"version", NULL, "knows itself"},
};

/* A plain file and the command that reads it; gzip of it is read the same. */
static const struct {
    const char *file, *words;
} packed[] = {
    {"examples/ring.yaml", "config show @"},
    {"examples/torus-8x8x8.yaml", "topo @"},
    {"examples/apps/ping-pong.ncptl", "lang stats --tasks 2 @"},
    {"examples/apps/ping-pong.ncptl", "lang compile @ -f -o out.c"},
    {"examples/goal/ring.goal", "lang goal @"},
    {"examples/devices/d3-s4510.yaml", "dev @"},
    {"examples/devices/d3-s4510.csv", "dev fit nvme @"},
    {"probes.csv", "state describe --bootstrap 0 @"},
    {"probes.csv", "state fit --states 1 @"},
    {"probes.csv", "state import -f -o out.weir @"},
    {"model.json", "state loglik probes.csv -m @"},
    {"slices.csv", "interfere import -f -o out.weir @"},
    {"examples/darshan/ior.darshan", "import darshan -f -o out.weir @"},
    {"functions.csv", "stack validate --logs @"},
    {"examples/roofline/four-systems.csv", "roofline model @"},
    {"points.csv", "report @"},
};

/* What is no run file says what it is. */
static const struct {
    const char *file, *says;
} kinds[] = {
    {"model.json", "a model of `weir state fit`; draw a series of latencies from it with `weir state simulate model.json`"},
    {"examples/roofline/four-systems.csv", "draw it with `weir roofline model examples/roofline/four-systems.csv`"},
    {"device.yaml", "a fitted device; run it with `weir dev device.yaml`"},
    {"probes.csv", "make a run file of it with `weir state import probes.csv`"},
    {"slices.csv", "make run files of it with `weir interfere import slices.csv`"},
    {"examples/ring.yaml", "simulate it with `weir run examples/ring.yaml`"},
    {"examples/devices/d3-s4510.yaml", "run it with `weir dev examples/devices/d3-s4510.yaml`"},
    {"examples/goal/ring.goal", "look at it with `weir lang goal examples/goal/ring.goal`"},
    {"page.html", "open it in a browser"},
    {"examples/darshan/ior.darshan", "make a run file of it with `weir import darshan examples/darshan/ior.darshan`"},
};

/* Each row's help names keys after --set; the verb must know them. @ stands for the option. */
static const struct {
    const char *verb, *words;
} sets[] = {
    {"run", "run -q examples/ring.yaml -f -o out.weir @"},
    {"sweep", "sweep -q examples/ring.yaml -l 10% -f -o out.weir @"},
    {"study list", "study list examples/studies/placements.yaml @"},
    {"study run", "study run --slurm --script -f -o script examples/studies/placements.yaml @"},
    {"config show", "config show examples/ring.yaml @"},
    {"topo", "topo examples/torus-8x8x8.yaml @"},
    {"place", "place examples/two-jobs.yaml @"},
    {"dev", "dev nvme @"},
    {"dev fit", "dev fit nvme examples/devices/d3-s4510.csv @"},
    {"stack run", "stack run --fs lustre @ -- ior -a MPIIO -b 1m -t 1m"},
    {"stack show", "stack show lustre @"},
    {"stack step", "stack step --fs lustre @ -- -a MPIIO -b 1m -t 1m"},
    {"stack trace", "stack trace --fs lustre @ -- ior -a MPIIO -b 1m -t 1m"},
    {"interfere experiment", "interfere experiment --list examples/interfere/pairs.yaml @"},
    {"roofline collect", NULL}, /* these measure: golden/roofline-collect has their keys */
    {"roofline serve", NULL},
    {"roofline polling", NULL},
};
/* clang-format on */

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- a place with inputs ---- */

static char said[1 << 16]; /* standard output and error */

static const char *with(const char *words, const char *file)
{
    static char line[1024];
    const char *at = strchr(words, '@');

    if (at)
        snprintf(line, sizeof line, "%.*s%s%s", (int)(at - words), words, file, at + 1);
    else
        snprintf(line, sizeof line, "%s", words);
    return line;
}

static int weir(const char *line)
{
    int ends[2], status;

    fflush(NULL);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();

    if (!child) {
        char *words = strdup(line), *argv[40];
        int argc = verb_split(words, argv);

        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        status = cli_main(argc, argv, stdout, stderr);
        fflush(NULL);
        _exit(status);
    }
    close(ends[1]);
    size_t n = 0;

    for (ssize_t got;
         n < sizeof said - 1 && (got = read(ends[0], said + n, sizeof said - 1 - n)) > 0;)
        n += (size_t)got;
    said[n] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void must(const char *line)
{
    if (weir(line))
        fail_msg("weir %s: %s", line, said);
}

static int set_up(void **state)
{
    char from[4096];

    (void)state;
    verb_place_enter();
    snprintf(from, sizeof from, "%s/examples", WEIR_SOURCE_DIR);
    assert_int_equal(symlink(from, "examples"), 0);
    verb_write("slices.csv", "app,bytes,t_s\nA,10,0\nA,10,1\nA,10,2\n");
    verb_write("points.csv", "series,load,accepted\nmine,0.1,0.1\nmine,0.2,0.2\n");
    verb_write("functions.csv",
               "run,file_size,side,layer,function,start,duration,node,kind,io,op_seq,extra,"
               "exec_or_bytes\nF_S1P1_b0008_r0,8388608,client,AD_PVFS,ADIOI_PVFS2_WriteContig,1.0,"
               "0.1,0,call,,,,8388608\nF_S1P1_b0008_r0,8388608,client,AD_PVFS,"
               "ADIOI_PVFS2_ReadContig,2.0,0.1,0,call,,,,8388608\n");
    verb_write("runs.csv", "run,nservers,nprocs,ior_cmd\nF_S1P1_b0008_r0,1,1,"
                           "ior -a MPIIO -b 8m -t 8m -F\n");
    FILE *f = fopen("probes.csv", "w");

    fputs("t_seconds,op,bytes,latency_seconds\n", f);
    for (int i = 0; i < 40; i++)
        fprintf(f, "%d,write,1048576,%g\n", i * 60, 0.004 + 0.0001 * (i * 7 % 11));
    fclose(f);
    must("run -q examples/ring.yaml -o t.weir");
    must("report t.weir -o page.html");
    must("state fit probes.csv --states 1 -o model.json");
    must("dev fit nvme examples/devices/d3-s4510.csv -o device.yaml");
    return 0;
}

/* ---- missing ---- */

static void a_file_that_is_not_there_ends_with_status_2(void **state)
{
    static const char *const missing[] = {"none.weir", "none.csv", "none.yaml", "none.json",
                                          "no/such.file"};

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t k = 0; rows[i].words && k < COUNT(missing); k++) {
            const char *line = with(rows[i].words, missing[k]);
            int status = weir(line);

            if (status != 2 || !strstr(said, "weir: "))
                fail_msg("weir %s: exit status %d: %s", line, status, said);
            if (!access("out.weir", F_OK))
                fail_msg("weir %s left a file", line);
        }
}

static bool is_listed(const char *verb)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (!strcmp(rows[i].verb, verb))
            return true;
    return false;
}

static void look_at(const struct cli_verb *const *verbs, const char *above)
{
    for (size_t i = 0; verbs[i]; i++) {
        char name[128];

        snprintf(name, sizeof name, "%s%s%s", above, *above ? " " : "", verbs[i]->name);
        if (verbs[i]->main && !verbs[i]->hidden && !is_listed(name))
            fail_msg("weir %s is not in the table here", name);
        if (verbs[i]->subs && !verbs[i]->hidden)
            look_at(verbs[i]->subs, name);
    }
}

static void every_verb_is_looked_at(void **state)
{
    (void)state;
    look_at(cli_verbs, "");
}

/* ---- compressed ---- */

static bool reads_gzip(void)
{
    for (const struct wr_feature *f = wr_features(); f->name; f++)
        if (!strcmp(f->name, "zlib"))
            return f->found;
    return false;
}

/* "dir/a.csv" -> "a.csv.gz" */
static const char *gzip(const char *file)
{
    static char name[256];
    char command[1024];
    const char *slash = strrchr(file, '/');

    snprintf(name, sizeof name, "%s.gz", slash ? slash + 1 : file);
    snprintf(command, sizeof command, "gzip -c %s > %s", file, name);
    assert_int_equal(system(command), 0);
    return name;
}

/* The words of both but for the names of files. */
static char *without(const char *text, const char *name)
{
    struct wr_str out = {0};

    wr_str_add(&out, "");
    for (const char *at; (at = strstr(text, name)); text = at + strlen(name))
        wr_str_addn(&out, text, (size_t)(at - text));
    wr_str_add(&out, text);
    return out.s;
}

static void what_is_compressed_is_read_by_every_reader(void **state)
{
    (void)state;
    if (!reads_gzip())
        skip();
    for (size_t i = 0; i < COUNT(packed); i++) {
        must(with(packed[i].words, packed[i].file));
        const char *name = gzip(packed[i].file);
        size_t n = strlen(said);

        must(with(packed[i].words, name));
        /* names of files differ in length, and so do columns */
        if (n > 0 && !*said)
            fail_msg("weir %s says nothing", with(packed[i].words, name));
    }
}

static void the_same_is_read_from_a_compressed_table(void **state)
{
    (void)state;
    if (!reads_gzip())
        skip();
    must("state loglik probes.csv -m model.json");
    char *plain = without(said, "probes.csv");

    gzip("probes.csv");
    must("state loglik probes.csv.gz -m model.json");
    char *unpacked = without(said, "probes.csv.gz");

    assert_string_equal(plain, unpacked);
    free(plain);
    free(unpacked);
}

static void a_compressed_file_that_was_cut_is_said_to_be(void **state)
{
    (void)state;
    if (!reads_gzip())
        skip();
    gzip("probes.csv");
    assert_int_equal(truncate("probes.csv.gz", 100), 0);
    assert_int_equal(weir("state fit probes.csv.gz"), 2);
    assert_non_null(strstr(said, "probes.csv.gz: its compression (gzip) is damaged or cut off"));
}

/* ---- what it is ---- */

static void what_is_no_run_file_says_what_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const char *line = with("report @", kinds[i].file);
        int status = weir(line);

        if (status != 2 || !strstr(said, kinds[i].says))
            fail_msg("weir %s: exit status %d: %s", line, status, said);
    }
}

/* ---- keys ---- */

static const char *words_of(const char *verb)
{
    for (size_t i = 0; i < COUNT(sets); i++)
        if (!strcmp(sets[i].verb, verb))
            return sets[i].words ? sets[i].words : "";
    return NULL;
}

static void try_the_keys(const char *verb, const char *help)
{
    const char *words = words_of(verb), *key = strstr(help, "as in --set ");
    char option[256];

    if (!words)
        fail_msg("weir %s has --set and is not in the table here", verb);
    assert_non_null(key);
    while (*words && (key = strstr(key, "--set "))) {
        snprintf(option, sizeof option, "--set %.*s", (int)strcspn(key + 6, "; "), key + 6);
        must(with(words, option));
        key += 6;
    }
}

static void look_for_sets(const struct cli_verb *const *verbs, const char *above)
{
    for (size_t i = 0; verbs[i]; i++) {
        char name[128];

        snprintf(name, sizeof name, "%s%s%s", above, *above ? " " : "", verbs[i]->name);
        for (const struct cli_opt *o = verbs[i]->opts; o && o->name; o++)
            if (!strcmp(o->name, "set"))
                try_the_keys(name, o->help);
        if (verbs[i]->subs)
            look_for_sets(verbs[i]->subs, name);
    }
}

static void the_key_that_help_names_is_one_that_the_verb_takes(void **state)
{
    (void)state;
    look_for_sets(cli_verbs, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verb_is_looked_at),
        cmocka_unit_test(a_file_that_is_not_there_ends_with_status_2),
        cmocka_unit_test(what_is_compressed_is_read_by_every_reader),
        cmocka_unit_test(the_same_is_read_from_a_compressed_table),
        cmocka_unit_test(a_compressed_file_that_was_cut_is_said_to_be),
        cmocka_unit_test(what_is_no_run_file_says_what_it_is),
        cmocka_unit_test(the_key_that_help_names_is_one_that_the_verb_takes),
    };

    return cmocka_run_group_tests(tests, set_up, verb_place_leave);
}
