/* Profiles of many processes, and a small capacity for them: everything is counted, and what cannot
 * be distinguished is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "prof/read/archive.h"
#include "prof_fixture.h"
#include "prof_make.h"

enum { EACH = 25 * 4096, KIB = 1024 };

static const char *const clocks[] = {"sampled", "coarse", "precise"};

static void check_children(const struct prof_job *j, int n, const char *clock)
{
    double written = fixture_total(j, PROF_W_write_bytes),
           calls = fixture_total(j, PROF_W_write_calls);

    if (written != (double)n * EACH || calls != (double)n * 25 || j->dropped_calls)
        print_error("%s: %.0f bytes in %.0f calls, %llu dropped\n", clock, written, calls,
                    (unsigned long long)j->dropped_calls);
    assert_true(written == (double)n * EACH);
    assert_true(calls == (double)n * 25);
    assert_true(j->dropped_calls == 0);
}

/* So that one who waits for her children until the end is no hindrance. */
static void zombies_are_collected(void **state)
{
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_open(&l);
    l.capacity_b = 4 << 20;
    for (int c = 0; c < 3; c++) {
        assert_int_equal(fixture_way(&l, &j, "zombies", clocks[c]), 0);
        check_children(&j, 400, clocks[c]);
        prof_job_fini(&j);
    }
    fixture_close(&l);
}

static void processes_beyond_the_capacity_are_counted_together(void **state)
{
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_open(&l);
    l.capacity_b = 300 * KIB;
    for (int c = 0; c < 3; c++) {
        assert_int_equal(fixture_way(&l, &j, "crowd", clocks[c]), 0);
        check_children(&j, 60, clocks[c]);
        assert_true(j.sharers > 30 && j.sharers < 60);
        assert_true(j.procs.n + j.sharers == 62); /* 61, and one for those that share */
        assert_non_null(strstr(wr_str_get(&j.warnings), "could not have profiles of their own"));
        prof_job_fini(&j);
    }
    fixture_close(&l);
}

/* /dev/shm of a container. */
static void the_profiles_of_1500_children_fit_in_64_megabytes(void **state)
{
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_open(&l);
    if (mount("none", l.profiles, "tmpfs", 0, "size=64m")) {
        print_message("skipped: a small disk cannot be mounted here\n");
        fixture_close(&l);
        skip();
    }
    int status = fixture_way(&l, &j, "many_children", "sampled");

    umount(l.profiles);
    fixture_close(&l);
    assert_int_equal(status, 0);
    check_children(&j, 1500, "sampled");
    assert_int_equal(j.sharers, 0);
    assert_int_equal(j.procs.n, 1501);
    prof_job_fini(&j);
}

static int launch_way(struct fixture *l, const char *way)
{
    char *argv[] = {l->ways, (char *)way, l->data, NULL};
    struct prof_launch launch = {.argv = argv,
                                 .lib = l->lib,
                                 .dir = l->profiles,
                                 .job = "lab",
                                 .clock = "sampled",
                                 .slice_ns = 50000000};
    struct wr_err err = {0};
    struct prof_hold hold;
    int status = -1;

    prof_hold_begin(&hold);
    assert_true(prof_launch(&launch, &hold, &status, &err));
    prof_hold_end(&hold);
    return status;
}

/* Nothing but the archive and the shared profile, however long the job was. */
static void profiles_of_ended_processes_are_in_the_archive(void **state)
{
    int files = 0, archives = 0;
    struct fixture l;

    (void)state;
    fixture_open(&l);
    assert_int_equal(launch_way(&l, "zombies"), 0);
    DIR *d = opendir(l.profiles);

    for (struct dirent *e; (e = readdir(d));) {
        size_t n = strlen(e->d_name);

        archives += n > 7 && !strcmp(e->d_name + n - 7, PROF_ARCHIVE_ENDING);
        files += n > 6 && !strcmp(e->d_name + n - 6, PROF_ENDING);
    }
    closedir(d);
    fixture_clear(l.profiles);
    fixture_clear(l.data);
    fixture_close(&l);
    assert_int_equal(archives, 1);
    assert_int_equal(files, 1);
}

/* Not a byte is left: the job runs all the same. Space for the shared profile, but for little else.
 */
static void a_full_disk_loses_nothing(void **state)
{
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_open(&l);
    for (int c = 0; c < 3; c++) {
        if (mount("none", l.profiles, "tmpfs", 0, "size=1500k")) {
            print_message("skipped: a small disk cannot be mounted here\n");
            fixture_close(&l);
            skip();
        }
        int status = fixture_way(&l, &j, "crowd", clocks[c]);

        umount(l.profiles);
        assert_int_equal(status, 0);
        check_children(&j, 60, clocks[c]);
        assert_true(j.sharers > 20);
        prof_job_fini(&j);
    }
    fixture_close(&l);
}

/* The limit on file sizes is the command's alone: it is set in a child. */
static int with_file_limit(struct fixture *l, struct prof_job *ret, rlim_t limit, const char *clock)
{
    char script[PATH_MAX + 256];
    char *argv[] = {(char *)"/bin/sh", (char *)"-c", script, NULL};

    snprintf(script, sizeof script, "ulimit -f %llu; exec '%s' small '%s'",
             (unsigned long long)limit / 512, l->ways, l->data);
    return fixture_run(l, ret, argv, clock, 50000000, 0);
}

static void a_limit_on_file_sizes_does_not_end_the_program(void **state)
{
    static const rlim_t limits[] = {8 * KIB, 24 * KIB, 64 * KIB, 1024 * KIB};
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_open(&l);
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 4; i++) {
            assert_int_equal(with_file_limit(&l, &j, limits[i], clocks[c]), 0);
            assert_true(fixture_total(&j, PROF_W_write_bytes) == 4096);
            prof_job_fini(&j);
        }
    fixture_close(&l);
}

/* A signal that comes before the command is there ends it all the same. */
static void a_signal_before_the_start_reaches_the_command(void **state)
{
    char *argv[] = {(char *)"sleep", (char *)"60", NULL};
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    struct wr_err err = {0};
    struct fixture l;

    (void)state;
    fixture_open(&l);
    for (int i = 0; i < 3; i++) {
        struct prof_launch launch = {.argv = argv,
                                     .lib = l.lib,
                                     .dir = l.profiles,
                                     .job = "lab",
                                     .clock = "sampled",
                                     .slice_ns = 50000000};
        struct prof_hold hold;
        int status = 0;

        prof_hold_begin(&hold);
        raise(signals[i]);
        assert_true(prof_launch(&launch, &hold, &status, &err));
        prof_hold_end(&hold);
        assert_int_equal(status, 128 + signals[i]);
    }
    fixture_clear(l.profiles);
    fixture_close(&l);
}

static void an_archive_is_read_as_the_files_were(void **state)
{
    struct make m = make_profile(7);
    struct wr_str bytes = {0};
    struct wr_err err = {0};
    struct prof_file a, b;
    size_t at = 0;

    (void)state;
    make_record(&m, 101000, 103000, 400);
    make_record(&m, 103000, 104500, 600);
    assert_true(prof_file_parse(&a, "a", m.bytes, m.len, &err));
    for (int i = 0; i < 3; i++)
        assert_true(prof_archive_add(&bytes, &a));
    assert_true(bytes.n < 3 * 2000);
    for (int i = 0; i < 3; i++) {
        assert_true(prof_archive_next(&b, "b", bytes.s, bytes.n, &at, &err));
        assert_int_equal(err.code, WR_NONE);
        assert_int_equal(b.nnames, a.nnames);
        assert_int_equal(b.nslots, a.nslots);
        assert_int_equal(b.nrec, a.nrec);
        assert_memory_equal(b.rec, a.rec, a.nrec * sizeof *a.rec);
        assert_memory_equal(b.name, a.name, a.nnames * sizeof *a.name);
        assert_memory_equal(b.row, a.row, (size_t)a.nslots * a.nnames * sizeof *a.row);
        assert_memory_equal(b.slot, a.slot, a.nslots * sizeof *a.slot);
        assert_string_equal(b.head.exe, a.head.exe);
        prof_file_fini(&b);
    }
    assert_false(prof_archive_next(&b, "b", bytes.s, bytes.n, &at, &err));
    assert_int_equal(at, bytes.n);
    prof_file_fini(&a);
    free(m.bytes);
    wr_str_fini(&bytes);
}

/* Whole frames before it are read, it is not, and nothing is believed. */
static void an_archive_cut_anywhere_gives_what_is_whole(void **state)
{
    struct make m = make_profile(7);
    struct wr_str bytes = {0};
    struct wr_err err = {0};
    struct prof_file f;
    size_t one;

    (void)state;
    assert_true(prof_file_parse(&f, "a", m.bytes, m.len, &err));
    assert_true(prof_archive_add(&bytes, &f));
    one = bytes.n;
    assert_true(prof_archive_add(&bytes, &f));
    prof_file_fini(&f);
    for (size_t cut = one; cut < bytes.n; cut++) {
        size_t at = 0;

        assert_true(prof_archive_next(&f, "b", bytes.s, cut, &at, &err));
        assert_int_equal(err.code, WR_NONE);
        prof_file_fini(&f);
        assert_int_equal(at, one);
        assert_false(prof_archive_next(&f, "b", bytes.s, cut, &at, &err));
    }
    /* A bit that fell: not a profile, or another one; never a crash. */
    for (size_t i = 0; i < one; i++) {
        size_t at = 0;

        bytes.s[i] ^= 4;
        err = (struct wr_err){0};
        if (prof_archive_next(&f, "b", bytes.s, one, &at, &err) && err.code == WR_NONE)
            prof_file_fini(&f);
        bytes.s[i] ^= 4;
    }
    free(m.bytes);
    wr_str_fini(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zombies_are_collected),
        cmocka_unit_test(processes_beyond_the_capacity_are_counted_together),
        cmocka_unit_test(the_profiles_of_1500_children_fit_in_64_megabytes),
        cmocka_unit_test(profiles_of_ended_processes_are_in_the_archive),
        cmocka_unit_test(a_full_disk_loses_nothing),
        cmocka_unit_test(a_limit_on_file_sizes_does_not_end_the_program),
        cmocka_unit_test(a_signal_before_the_start_reaches_the_command),
        cmocka_unit_test(an_archive_is_read_as_the_files_were),
        cmocka_unit_test(an_archive_cut_anywhere_gives_what_is_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
