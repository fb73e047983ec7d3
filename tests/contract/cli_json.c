/* Every verb that prints a result prints it as JSON with --json; those that print none are listed
 * here with the reason. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "verb_place.h"

/* clang-format off */
static const struct {
    const char *verb, *why;
} without_json[] = {
    {"help", "text for people; `weir internal verbs` lists them for programs"},
    {"lang fmt", "the program itself"},
    {"lang compile", "a program in C"},
};

/* Run elsewhere: they need a profiled program, several processes or a user. */
static const struct {
    const char *verb, *where;
} elsewhere[] = {
    {"lang bench", "golden/json"},
    {"profile", "golden/json"},
    {"profile show", "golden/json"},
    {"paper run", "golden/paper"},
    {"roofline collect", "golden/json"},
    {"roofline polling", "golden/json"},
    {"roofline serve", "golden/json"},
    {"interfere tables", "golden/interfere"},
    {"serve", "golden/json"},
    {"stack step", "golden/stack-step: a dialogue, of which the tables are JSON"},
};

/* One command for each of the others; a later one may read what an earlier one wrote. */
static const struct {
    const char *verb, *words;
} commands[] = {
    {"run", "examples/ring.yaml -o t.weir --json"},
    {"sweep", "examples/ring.yaml -l 10% -o s.weir --json"},
    {"study run", "examples/studies/placements.yaml --only 1 -o made --json"},
    {"study list", "examples/studies/placements.yaml --json"},
    {"study show", "made --json"},
    {"stack run", "--json -- ior -a MPIIO -b 1m -t 1m"},
    {"stack trace", "--json -- ior -a MPIIO -b 1m -t 1m"},
    {"stack calibrate", "--json --logs functions.csv"},
    {"stack validate", "--json --logs functions.csv"},
    {"stack check", "share/stack/pvfs2.yaml --json"},
    {"stack list", "--json"},
    {"stack show", "pvfs2 --json"},
    {"lang check", "logs.ncptl -T 2 --json"},
    {"lang events", "logs.ncptl -T 2 --json"},
    {"lang stats", "logs.ncptl -T 2 --json"},
    {"lang goal", "examples/goal/ring.goal --json"},
    {"lang ior", "--json -- ior -b 2m -t 1m"},
    {"top", "-n 1 -i 10ms --json"},
    {"io-load", ". --total 64KiB --block 4KiB --slice 1ms -o io.weir --json"},
    {"io-limit", "path.sock --for 10ms --json"},
    {"state probe", ". -n 1 -i 1ms -o mine.csv --json"},
    {"state watch", ". -n 1 -i 1ms --json"},
    {"state import", "probes.csv --json"},
    {"state describe", "probes.csv --bootstrap 0 --json"},
    {"state fit", "probes.csv --states 1 -o model.json --json"},
    {"state loglik", "probes.csv -m model.json --json"},
    {"state simulate", "model.json --for 10min --json"},
    {"state validate", "probes.csv --states 1 --json"},
    {"state forecast", "probes.csv --states 1 --json"},
    {"roofline model", "examples/roofline/four-systems.csv --json"},
    {"roofline nics", "--hwloc-xml share/papers/data/rooflines-aurora-like.xml --json"},
    {"interfere experiment", "examples/interfere/pairs.yaml --list --json"},
    {"interfere", "io.weir --json"},
    {"interfere import", "slices.csv -o slices.weir --json"},
    {"interfere predict", "--capacity 95MB/s --job volume=16GB --job volume=8GB --json"},
    {"interfere alone", "slices.weir --json"},
    {"dev", "nvme --json"},
    {"dev fit", "nvme examples/devices/d3-s4510.csv --json"},
    {"compare", "jobs.weir jobs.weir --json"},
    {"import darshan", "examples/darshan/ior.darshan -o ior.weir --json"},
    {"state policy", "examples/state/titan.json --for 24h --json"},
    {"paper list", "--json"},
    {"same", "t.weir t.weir --json"},
    {"validate", "jobs.weir jobs.weir --json"},
    {"show", "t.weir --json"},
    {"export", "t.weir latency summary --json"},
    {"report", "t.weir --json"},
    {"topo", "examples/ring.yaml --json"},
    {"place", "examples/two-jobs.yaml --json"},
    {"query", "t.weir VALUES(1) --json"},
    {"config show", "examples/ring.yaml --json"},
    {"config explain", "traffic.load --json"},
    {"list", "topologies --json"},
    {"version", "--json"},
};
/* clang-format on */

enum { NCOMMANDS = sizeof commands / sizeof *commands };

/* ---- a place with inputs ---- */

static void write_probes(void)
{
    FILE *f = fopen("probes.csv", "w");

    assert_non_null(f);
    fputs("t_seconds,op,bytes,latency_seconds\n", f);
    for (int i = 0; i < 400; i++)
        fprintf(f, "%d,write,1048576,%g\n", i * 60, 0.004 + 0.0001 * (i * 7 % 11));
    fclose(f);
}

/* Calls of a file system's clients, of three sizes. */
static void write_functions(void)
{
    static const char *const names[] = {"WriteContig", "ReadContig"};
    FILE *f = fopen("functions.csv", "w"), *runs = fopen("runs.csv", "w");

    assert_non_null(f);
    assert_non_null(runs);
    fputs("run,file_size,side,layer,function,start,duration,node,kind,io,op_seq,extra,exec_or_bytes"
          "\n",
          f);
    fputs("run,nservers,nprocs,ior_cmd\n", runs);
    for (int mib = 8; mib <= 32; mib *= 2) {
        for (int i = 0; i < 2; i++)
            fprintf(f,
                    "F_S1P1_b%04d_r0,%d,client,AD_PVFS,ADIOI_PVFS2_%s,%d.0,0.%02d,0,call,,,,%d\n",
                    mib, mib << 20, names[i], 1 + i, mib, mib << 20);
        fprintf(runs, "F_S1P1_b%04d_r0,1,1,ior -a MPIIO -b %dm -t %dm -F\n", mib, mib, mib);
    }
    fclose(f);
    fclose(runs);
}

/* What the command prints; its status is in *ret_status. */
static char *weir(const char *verb, const char *words, int *ret_status, char **ret_errors)
{
    char line[512], *argv[40], *text;
    size_t n, m;
    FILE *out = open_memstream(&text, &n), *errors = open_memstream(ret_errors, &m);

    snprintf(line, sizeof line, "%s %s", verb, words);
    *ret_status = cli_main(verb_split(line, argv), argv, out, errors);
    fclose(out);
    fclose(errors);
    return text;
}

static int set_up(void **state)
{
    char *errors;
    int status;

    (void)state;
    verb_place_enter();
    assert_int_equal(symlink(WEIR_SOURCE_DIR "/examples", "examples"), 0);
    assert_int_equal(symlink(WEIR_SOURCE_DIR "/share", "share"), 0);
    assert_non_null(freopen("/dev/null", "r", stdin));
    verb_write("slices.csv",
               "app,rank,bytes,t_s\nA,0,10,0\nA,0,10,1\nA,0,10,2\nB,0,10,1\nB,0,10,2\n");
    verb_write_job();
    write_probes();
    write_functions();
    free(weir("run", "logs.yaml -o jobs.weir", &status, &errors));
    free(errors);
    return status;
}

/* ---- what is checked ---- */

static bool has_json(const struct cli_verb *v)
{
    return cli_opt_find(v->opts, "json", 4) != NULL;
}

#define FIND(table, name)                                               \
    ({                                                                  \
        bool found_ = false;                                            \
        for (size_t i_ = 0; i_ < sizeof(table) / sizeof *(table); i_++) \
            found_ |= !strcmp((table)[i_].verb, name);                  \
        found_;                                                         \
    })

static void look_at(const struct cli_verb *const *verbs, const char *above)
{
    for (size_t i = 0; verbs[i]; i++) {
        char name[128];

        snprintf(name, sizeof name, "%s%s%s", above, *above ? " " : "", verbs[i]->name);
        if (verbs[i]->subs && !verbs[i]->hidden)
            look_at(verbs[i]->subs, name);
        if (!verbs[i]->main || verbs[i]->hidden)
            continue;
        if (has_json(verbs[i]) == FIND(without_json, name))
            fail_msg("weir %s has --json or is in the list of those without; it is one of them",
                     name);
        if (has_json(verbs[i]) && FIND(commands, name) == FIND(elsewhere, name))
            fail_msg("weir %s has --json, and no command of it is tried here", name);
    }
}

static void every_verb_has_json_or_a_reason(void **state)
{
    (void)state;
    look_at(cli_verbs, "");
}

/* One value; verbs that go on print one on each line, and are stopped after the first here. */
static bool is_json(const char *verb, const char *text)
{
    json_error_t why;
    json_t *value = json_loads(text, JSON_DECODE_ANY, &why);

    if (!value)
        print_error("weir %s --json: %s at line %d of: %s\n", verb, why.text, why.line, text);
    json_decref(value);
    return value;
}

static void what_is_printed_is_json(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < NCOMMANDS; i++) {
        char *errors, *text;
        int status;

        text = weir(commands[i].verb, commands[i].words, &status, &errors);
        if (status)
            print_error("weir %s %s: status %d: %s\n", commands[i].verb, commands[i].words, status,
                        errors);
        wrong += status || !is_json(commands[i].verb, text);
        free(text);
        free(errors);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verb_has_json_or_a_reason),
        cmocka_unit_test(what_is_printed_is_json),
    };

    return cmocka_run_group_tests(tests, set_up, verb_place_leave);
}
