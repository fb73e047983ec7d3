/* IOR command lines: read as IOR reads them, refused for its reasons, and turned into operations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "load/ior/ior.h"
#include "load/kinds/load_kinds.h"
#include "load/load.h"

static struct ior_test parse(const char *command, uint32_t tasks)
{
    struct ior_test t;
    struct wr_err err;

    if (!ior_parse(&t, command, tasks, &err))
        fail_msg("%s: %s", command, err.text);
    return t;
}

static void defaults_are_those_of_the_benchmark(void **state)
{
    static const char *const same[] = {"",
                                       "ior",
                                       "/usr/bin/ior",
                                       "IOR -w -r",
                                       "ior -wr -b 1m",
                                       "ior -t256k -s1 -i 1 -o testFile",
                                       "ior -O api=posix"};

    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        struct ior_test t = parse(same[i], 4);

        assert_string_equal(t.api, "POSIX");
        assert_string_equal(t.file, "testFile");
        assert_int_equal(t.block, 1 << 20);
        assert_int_equal(t.transfer, 256 << 10);
        assert_int_equal(t.segments, 1);
        assert_int_equal(t.reps, 1);
        assert_true(t.write && t.read && !t.check_read && !t.check_write);
        assert_false(t.file_per_task || t.collective || t.reorder || t.random_offset);
        ior_fini(&t);
    }
}

static void letters_names_and_sizes_are_read(void **state)
{
    struct ior_test t =
        parse("ior -a mpiio -b 205m -t1M -F -s 4 -wCek -i 3 -Q 2 -N 3 -d 7 "
              "-o 'my file' --posix.odirect -v -v -O segmentCount=5,fsyncPerWrite=1",
              8);

    (void)state;
    assert_string_equal(t.api, "MPIIO");
    assert_int_equal(t.block, 205ll << 20);
    assert_int_equal(t.transfer, 1 << 20);
    assert_int_equal(t.segments, 5);
    assert_int_equal(t.reps, 3);
    assert_int_equal(t.task_offset, 2);
    assert_int_equal(t.tasks, 3);
    assert_int_equal(t.delay_s, 7);
    assert_string_equal(t.file, "my file");
    assert_true(t.file_per_task && t.write && t.reorder && t.fsync && t.keep && t.fsync_each);
    assert_false(t.read);
    ior_fini(&t);
    t = parse("-b 1t -t 1g -W -c", 1);
    assert_true(t.block == 1ll << 40 && t.transfer == 1 << 30 && t.check_write && !t.write);
    /* What the API cannot do is left out, as IOR does with a warning. */
    assert_false(t.collective);
    assert_string_equal(wr_str_get(&t.notes),
                        "collective not available in POSIX: -c is left out\n");
    ior_fini(&t);
}

/* IOR's WARN_RESET: a warning, and the test runs with another value. */
static void what_ior_only_warns_about_is_done_its_way_with_a_note(void **state)
{
    struct ior_test t = parse("-i 0 -d -3 -N 9", 8);

    (void)state;
    assert_true(t.reps == 1 && t.delay_s == 0 && t.tasks == 0);
    assert_string_equal(wr_str_get(&t.notes),
                        "too few test repetitions: -i 1 is used\n"
                        "inter-test delay must be nonnegative value: -d 0 is used\n"
                        "more tasks requested (9) than available (8)\n");
    ior_fini(&t);
    t = parse("-w -z -R --random-offset-seed=7 --collective -b 1p -t 1t", 1);
    assert_true(t.offset_seed == 7 && t.block == 1ll << 50 && t.random_offset && t.check_read);
    ior_fini(&t);
}

static void tests_that_ior_refuses_are_refused_for_its_reasons(void **state)
{
    static const char *const cases[][2] = {
        {"-b 1m -t 3m", "block size must be a multiple of transfer size"},
        {"-b 5m -t 2m", "block size must be a multiple of transfer size"},
        {"-b 0 -t 1m", "block size must not be smaller than transfer size"},
        {"-t 0", "test will not complete with zero transfer size"},
        {"-t -8", "transfer size must be non-negative integer"},
        {"-b -8", "block size must be non-negative integer"},
        {"-b 20 -t 4", "block size must be a multiple of access size"},
        {"-b 24 -t 12", "transfer size must be a multiple of access size"},
        {"-b 1m -t 1m -z", "random offsets (-z) are within a block"},
        {"-C -Z", "both constant and random task re-ordering specified"},
        {"-z -Z", "random offset and random reorder tasks specified with single-shared-file"},
        {"-z -C", "random offset and constant reorder tasks specified with single-shared-file"},
        {"-a HDF5 -z", "random offset not available with HDF5"},
        {"-a NCMPI -F", "file-per-proc not available in current NCMPI"},
        {"-a XYZ", "unrecognized IO API \"XYZ\""},
        {"-s -1", "segment count must be positive value"},
        {"-N 0", "too few tasks for testing"},
        {"-a MPIIO -c -z", "random offset not available with collective MPIIO"},
        {"-a MPIIO -V -z", "random offset not available with MPIIO fileviews"},
        {"-a MPIIO --mpiio.useFileView -z", "random offset not available with MPIIO fileviews"},
        {"-a MPIIO -P", "shared file pointer not implemented"},
        {"-w -z -R", "requires to set the random seed"},
        {"--random-offset-seed", "option `--random-offset-seed' has no value"},
        {"--block 4m", "unknown option `--block'"},
        {"-y", "unknown option `-y'"},
        {"-b", "option `-b' has no value"},
        {"-b 4q", "-b \"4q\" is not a number of bytes"},
        {"-b 4mb", "-b \"4mb\" is not a number of bytes"},
        {"-b 99999999999999999999", "-b 99999999999999999999 is too large"},
        {"-b 9000000t", "-b 9000000t is too large"},
        {"-s 4k", "-s \"4k\" is not a number"},
        {"-O blocks=4", "-O: unrecognized parameter name \"blocks\""},
        {"-O 4m", "-O \"4m\" has no `=`"},
        {"extra", "non-option argument: \"extra\""},
        {"-f script", "-f is not simulated"},
        {"-o 'abc", "a quote ' is not closed"},
        {"-b 1000000t -s 1000000", "the file would be larger than any"},
        {"-R", "use -G"},
        {"-r -R", "use -G"},
        {"-a MPIIO -c -D 3", "tasks that stop at a time"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ior_test t;
        struct wr_err err = {0};

        if (ior_parse(&t, cases[i][0], 8, &err))
            fail_msg("%s was accepted", cases[i][0]);
        assert_int_equal(err.code, WR_INPUT);
        if (!strstr(err.text, cases[i][1]))
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i][0], err.text, cases[i][1]);
    }
}

/* ---- operations ---- */

/* One letter per operation, and transfers as [file+]offset/8. */
static void trace(const char *command, uint32_t tasks, uint32_t per_node, uint32_t rank,
                  const char *want)
{
    struct ior_test t = parse(command, tasks);
    struct ior_where w = {t.tasks ? (uint32_t)t.tasks : tasks, per_node, 1};
    struct ior_rank r;
    struct ior_event ev;
    struct wr_str got = {0};
    int64_t first = -1;

    ior_rank_init(&r, rank);
    while (ior_next(&t, &w, &r, 0, &ev) != IOR_END) {
        wr_str_addf(&got, "%c", ".|owrfcsm"[ev.op]);
        if (ev.op == IOR_WRITE || ev.op == IOR_READ)
            wr_str_addf(&got, "%d", (int)(ev.offset / 8));
        if (ev.op == IOR_OPEN) {
            first = first < 0 ? ev.file : first;
            if (ev.file != first)
                wr_str_addf(&got, "%+d", (int)(ev.file - first));
        }
        wr_str_add(&got, " ");
    }
    if (strcmp(wr_str_get(&got), want) != 0)
        fail_msg("%s: got \"%s\", want \"%s\"", command, wr_str_get(&got), want);
    wr_str_fini(&got);
    ior_fini(&t);
}

static void phases_come_in_order_with_their_barriers(void **state)
{
    (void)state;
    trace("-b 16 -t 8", 2, 1, 0, "| o w0 w1 c | m | o r0 r1 c | m ");
    trace("-b 16 -t 8 -w -e -g", 2, 1, 1, "| o | w2 w3 | f c | m ");
    trace("-b 16 -t 8 -w -Y", 1, 1, 0, "| o w0 f w1 f c | m ");
    trace("-b 8 -t 8 -W -R -G 1", 1, 1, 0, "| o r0 c | m | o r0 c | m ");
    trace("-b 8 -t 8 -w -i 3 -d 2", 1, 1, 0, "| o w0 c | m s | o w0 c | m s | o w0 c | m ");
    trace("-b 8 -t 8 -w -i 2 -m", 1, 1, 0, "| o w0 c | m | o+1 w0 c | m ");
    trace("-s 0 -w -b 8 -t 8", 1, 1, 0, "| o c | m ");
    trace("-b 8 -t 8 -N 2", 4, 1, 3, "");
    trace("-a DUMMY -b 8 -t 8 -w", 1, 1, 0, "| | m ");
}

static void offsets_follow_the_segments(void **state)
{
    (void)state;
    /* Shared: i*N*b + r*b + j*t. A file per task: i*b + j*t. */
    trace("-b 16 -t 8 -s 2 -w", 3, 1, 1, "| o w2 w3 w8 w9 c | m ");
    trace("-b 16 -t 8 -s 2 -w -F", 3, 1, 1, "| o w0 w1 w2 w3 c | m ");
}

static void readers_may_take_what_others_wrote(void **state)
{
    (void)state;
    trace("-b 8 -t 8 -C", 4, 1, 0, "| o w0 c | m | o r1 c | m ");
    trace("-b 8 -t 8 -C", 4, 2, 3, "| o w3 c | m | o r1 c | m ");
    trace("-b 8 -t 8 -C -Q 3", 4, 1, 0, "| o w0 c | m | o r3 c | m ");
    trace("-b 8 -t 8 -C -F -w -r -W", 4, 1, 1, "| o w0 c | m | o+2 r0 c | m | o+1 r0 c | m ");
}

/* Every transfer of the file belongs to one task, in an order that the seed decides. */
static void random_offsets_are_a_permutation(void **state)
{
    enum { TASKS = 5, EACH = 37 };

    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        struct ior_test t =
            parse(shared ? "-b 296 -t 8 -z -w -s 2" : "-b 296 -t 8 -z -w -s 2 -F", TASKS);
        uint32_t sequential = 0;

        for (uint64_t seed = 1; seed < 3; seed++) {
            uint8_t seen[TASKS][2 * TASKS * EACH] = {0};
            struct ior_where w = {TASKS, 1, seed};

            for (uint32_t i = 0; i < TASKS; i++) {
                struct ior_rank r;
                struct ior_event ev;
                uint64_t last = 0;

                ior_rank_init(&r, i);
                while (ior_next(&t, &w, &r, 0, &ev) != IOR_END)
                    if (ev.op == IOR_WRITE) {
                        seen[shared ? 0 : i][ev.offset / 8]++;
                        sequential += ev.offset == last + 8;
                        last = ev.offset;
                    }
            }
            for (int k = 0; k < 2 * EACH * (shared ? TASKS : 1); k++)
                for (int i = 0; i < (shared ? 1 : TASKS); i++)
                    assert_int_equal(seen[i][k], 1);
        }
        assert_true(sequential < 2 * TASKS * EACH / 4);
        ior_fini(&t);
    }
}

static void a_deadline_ends_a_phase(void **state)
{
    struct ior_test t = parse("-b 1m -t 64k -w -D 2", 1);
    struct ior_where w = {1, 1, 1};
    struct ior_rank r;
    struct ior_event ev;
    uint64_t now = 5000000000000;
    int writes = 0;

    (void)state;
    ior_rank_init(&r, 0);
    while (ior_next(&t, &w, &r, now, &ev) != IOR_END) {
        writes += ev.op == IOR_WRITE;
        now += ev.op == IOR_WRITE ? 500000000000 : 0;
    }
    assert_int_equal(writes, 4);
    ior_fini(&t);
}

static void a_phase_that_is_too_short_begins_again(void **state)
{
    struct ior_test t = parse("-b 256k -t 64k -w -O minTimeDuration=3", 1);
    struct ior_where w = {1, 1, 1};
    struct ior_event ev;

    (void)state;
    for (uint64_t step = 0; step < 2; step++) {
        struct ior_rank r;
        uint64_t now = 7, writes = 0, first = 0;

        ior_rank_init(&r, 0);
        while (ior_next(&t, &w, &r, now, &ev) != IOR_END) {
            writes += ev.op == IOR_WRITE;
            first += ev.op == IOR_WRITE && !ev.offset;
            now += ev.op == IOR_WRITE ? step * 500000000000 : 0;
        }
        /* 4 writes take 2 s; where no time passes it would never end */
        assert_int_equal(writes, step ? 8 : 4);
        assert_int_equal(first, step ? 2 : 1);
    }
    ior_fini(&t);
}

static void a_command_is_a_workload(void **state)
{
    struct {
        const char *command;
        uint32_t per_node;
    } params = {"ior -a MPIIO -c -b 2m -t 1m -w", 1};
    struct conf_plugin plug = {.params = &params};
    struct load_start how = {.ranks = 3, .seed = 1};
    struct load_op op = {0};
    struct wr_err err;
    struct load l;
    char rank[512];

    (void)state;
    for (const struct conf_kind *const *k = load_kinds; *k; k++)
        if (!strcmp((*k)->name, "ior"))
            plug.kind = *k;
    assert_non_null(plug.kind);
    assert_true(load_open(&l, &plug, &how, &err));
    assert_true(l.rank_size <= sizeof rank);
    l.ops->rank_init(&l, rank, 1);
    assert_int_equal(l.ops->next(&l, rank, 0, &op), LOAD_COLL);
    assert_int_equal(op.coll, LOAD_BARRIER);
    assert_int_equal(load_group_size(&op.group), 3);
    op = (struct load_op){0};
    assert_int_equal(l.ops->next(&l, rank, 0, &op), LOAD_OPEN);
    assert_int_equal(op.mode, LOAD_MODE_WRITE);
    op = (struct load_op){0};
    assert_int_equal(l.ops->next(&l, rank, 0, &op), LOAD_WRITE);
    assert_int_equal(op.flags, LOAD_F_COLL);
    assert_int_equal(op.offset, 2 << 20);
    assert_int_equal(op.bytes, 1 << 20);
    load_close(&l);
    params.command = "ior -b 1m -t 2m";
    assert_false(load_open(&l, &plug, &how, &err));
    how.ranks = 0;
    params.command = "ior";
    assert_false(load_open(&l, &plug, &how, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_benchmark),
        cmocka_unit_test(letters_names_and_sizes_are_read),
        cmocka_unit_test(what_ior_only_warns_about_is_done_its_way_with_a_note),
        cmocka_unit_test(tests_that_ior_refuses_are_refused_for_its_reasons),
        cmocka_unit_test(phases_come_in_order_with_their_barriers),
        cmocka_unit_test(offsets_follow_the_segments),
        cmocka_unit_test(readers_may_take_what_others_wrote),
        cmocka_unit_test(random_offsets_are_a_permutation),
        cmocka_unit_test(a_deadline_ends_a_phase),
        cmocka_unit_test(a_phase_that_is_too_short_begins_again),
        cmocka_unit_test(a_command_is_a_workload),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
