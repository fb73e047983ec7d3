/* What the library cannot see is counted from outside, or named: programs without it, however short
 * they live, and system calls that a program makes by itself. */
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "prof/sampler.h"
#include "prof_fixture.h"

enum { MIB = 1 << 20, SLICE = 50000000 };

/* `script` with $INLINE, $STATIC, $BOTH (static and by instructions of its own) and $D, a
 * directory, in it. */
static int outside_run(struct fixture *l, struct prof_job *j, const char *script)
{
    char path[PATH_MAX];
    struct wr_str command = {0};
    static const char *const names[][2] = {{"INLINE", "tests/prof-inline"},
                                           {"BOTH", "tests/prof-inline-static"},
                                           {"STATIC", "tests/prof-static"}};

    for (int i = 0; i < 3; i++) {
        assert_non_null(realpath(names[i][1], path));
        wr_str_addf(&command, "%s='%s'; ", names[i][0], path);
    }
    wr_str_addf(&command, "D='%s'; %s", l->data, script);
    char *argv[] = {(char *)"/bin/bash", (char *)"-c", command.s, NULL};
    int status = fixture_run(l, j, argv, "sampled", SLICE, 0);

    wr_str_fini(&command);
    return status;
}

static uint64_t outside_unexplained(const struct prof_job *j, int op)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < j->procs.n; i++)
        sum += j->procs.v[i].balance.unexplained[op];
    return sum;
}

static size_t outside_by_kernel(const struct prof_job *j)
{
    size_t n = 0;

    for (size_t i = 0; i < j->procs.n; i++)
        n += j->procs.v[i].kernel;
    return n;
}

#define SPACE(more) "U='unshare -rmpf " more "'; $U true 2> /dev/null || U=; $U "

/* Exact, whichever layer counted them. `by_kernel`: processes. */
static const struct seen {
    const char *script;
    double mib;
    size_t by_kernel;
} all_seen[] = {
    {"$STATIC $D/a 32 0", 32, 1},
    {"$STATIC $D/a 32 0; true", 32, 1},
    {"$STATIC $D/a 4 40; $STATIC $D/a 4 120; $STATIC $D/a 4 0", 12, 3},
    {"(exec $STATIC $D/a 5 0); true", 5, 1},
    {"bash -c \"bash -c '$STATIC $D/a 5 0; true'; true\"; true", 5, 1},
    {"$INLINE fork $D/a 6; true", 6, 1},
    {"$INLINE exec $D/a 7; true", 7, 1},
    {"$BOTH fork $D/a 6; true", 6, 1}, /* its child is known as part of it */
    /* A child of a static program that has the library is counted once, by that. */
    {"$BOTH shell \"dd if=/dev/zero of=$D/a bs=1M count=6 status=none\" 0; true", 6, 1},
    {"env -i $INLINE write $D/a 8; true", 8, 1},
    {"unset LD_PRELOAD; $INLINE write $D/a 8; true", 8, 1},
    {"$STATIC $D/a 1 0 & $STATIC $D/b 1 0 & $STATIC $D/c 1 0 & wait", 3, 3},
    /* Another root, in which there is no library, where one may ask for it. */
    {"ln $STATIC $D/s; if [ $EUID = 0 ]; then chroot $D /s /a 3 0; else $STATIC $D/a 3 0; fi; "
     "true",
     3, 1},
    /* As in a container: other numbers of processes, with or without a /proc that has them, another
     * root. Where namespaces are not allowed, without. */
    {SPACE("--mount-proc") "bash -c \"$STATIC $D/a 3 0; head -c 2M /dev/zero > $D/b; true\"; true",
     5, 1},
    {SPACE("") "bash -c \"$STATIC $D/a 3 0; head -c 2M /dev/zero > $D/b; true\"; true", 5, 1},
    {SPACE("--mount-proc") "bash -c \"bash -c '$STATIC $D/a 3 300; true'; true\"; true", 3, 1},
    {SPACE("") "$STATIC $D/a 3 300; true", 3, 1},
    {"ln $STATIC $D/s; " SPACE("") "bash -c \"if [ $EUID = 0 ]; then chroot $D /s /a 3 0; else "
                                   "$STATIC $D/a 3 0; fi; true\"; true",
     3, 1},
    /* Only the launcher waits for it, whose child it becomes. */
    {"(setsid bash -c \"sleep 0.1; $STATIC $D/a 9 0; true\" &); sleep 0.5", 9, 1},
    {"$STATIC $D/a 2 0 & kill -9 $!; wait; $STATIC $D/a 2 0; true", -1, 1},
};

static void programs_without_the_library_are_counted_by_the_kernel(void **state)
{
    struct fixture l;
    int bad = 0;

    (void)state;
    fixture_needs_proc("the kernel's counters are read there");
    fixture_open(&l);
    for (size_t i = 0; i < sizeof all_seen / sizeof all_seen[0]; i++) {
        const struct seen *s = &all_seen[i];
        struct prof_job j;
        int status = outside_run(&l, &j, s->script);
        double written = fixture_total(&j, PROF_W_write_bytes);
        bool right = !status && (s->mib < 0 || written == s->mib * MIB) &&
                     outside_by_kernel(&j) >= s->by_kernel && !outside_unexplained(&j, 1);

        if (!right)
            print_error("%s: status %d, %.0f bytes written, %zu processes by the kernel, %" PRIu64
                        " bytes unexplained\n",
                        s->script, status, written, outside_by_kernel(&j),
                        outside_unexplained(&j, 1));
        bad += !right;
        prof_job_fini(&j);
    }
    fixture_close(&l);
    assert_int_equal(bad, 0);
}

static void a_thousand_short_static_children_are_counted_exactly(void **state)
{
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_needs_proc("the kernel's counters are read there");
    fixture_open(&l);
    assert_int_equal(
        outside_run(&l, &j, "for ((i = 0; i < 1000; i++)); do $STATIC $D/a 1 0; done; true"), 0);
    assert_true(fixture_total(&j, PROF_W_write_bytes) == 1000.0 * MIB);
    assert_true(fixture_total(&j, PROF_M_KERNEL_WRITE) == 1000.0 * MIB);
    assert_int_equal(outside_by_kernel(&j), 1000);
    assert_int_equal(j.procs.n, 1001);
    prof_job_fini(&j);
    fixture_close(&l);
}

static void two_thousand_programs_that_do_nothing_leave_nothing_unexplained(void **state)
{
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_needs_proc("the kernel's counters are read there");
    fixture_open(&l);
    assert_int_equal(outside_run(&l, &j, "for ((i = 0; i < 2000; i++)); do /bin/true; done"), 0);
    assert_int_equal(j.procs.n, 2001);
    assert_true(fixture_total(&j, PROF_W_write_bytes) == 0);
    assert_true(outside_unexplained(&j, 1) == 0 && outside_unexplained(&j, 0) < 65536);
    assert_null(j.warnings.s && strstr(j.warnings.s, "were not seen") ? j.warnings.s : NULL);
    prof_job_fini(&j);
    fixture_close(&l);
}

/* The difference is named: of which process, how much, and that it is more than a hundredth. */
static void what_a_program_does_by_itself_is_unexplained(void **state)
{
    static const struct {
        const char *script;
        uint64_t read, written;
    } ways[] = {
        {"$INLINE write $D/a 32; true", 0, 32 * MIB},
        {"head -c 8M /dev/zero > $D/a; $INLINE read $D/a 8; true", 8 * MIB, 0},
    };
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_needs_proc("the kernel's counters are read there");
    fixture_open(&l);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(outside_run(&l, &j, ways[i].script), 0);
        assert_true(outside_unexplained(&j, 1) == ways[i].written);
        uint64_t read = outside_unexplained(&j, 0);

        assert_true(read >= ways[i].read && read < ways[i].read + 65536);
        assert_true(fixture_total(&j, PROF_M_UNEXPLAINED_WRITE) == (double)ways[i].written);
        assert_non_null(strstr(wr_str_get(&j.warnings), "were not seen"));
        assert_non_null(strstr(wr_str_get(&j.warnings), "(prof-inline)"));
        prof_job_fini(&j);
    }
    fixture_close(&l);
}

/* On a disk: the pages that it made dirty are known. Now and then the kernel hands requests to a
 * worker of its own, whose pages it does not count as the process's: it is tried again. */
static void a_ring_that_is_not_followed_is_estimated_by_its_pages(void **state)
{
    uint64_t most = 0;
    int status = 0;
    struct fixture l;

    (void)state;
    fixture_needs_proc("the kernel's counters are read there");
    fixture_open(&l);
    for (int i = 0; i < 8 && !status && most <= 15 * MIB; i++) {
        struct prof_job j;

        status = outside_run(&l, &j,
                             "$INLINE ring $D/a 16 || exit $?; df --output=fstype $D | "
                             "grep -qE 'ext|xfs|btrfs' || exit 78");
        most = outside_unexplained(&j, 1) > most ? outside_unexplained(&j, 1) : most;
        prof_job_fini(&j);
    }
    fixture_close(&l);
    if (status)
        print_message("left out: no ring, or not on a disk (%d)\n", status);
    else
        assert_true(most > 15 * MIB && most < 17 * MIB);
}

enum { TMPFS = 0x01021994, RAMFS = 0x858458f6 };

static bool outside_in_memory(const char *dir)
{
    struct statfs s;

    assert_int_equal(statfs(dir, &s), 0);
    return s.f_type == TMPFS || (uint32_t)s.f_type == RAMFS;
}

/* Nothing runs in a process that is killed. Where pages go to a disk the kernel has counted those
 * that were made dirty; elsewhere the profile says how much was mapped. */
static void what_a_killed_program_stored_in_mappings_is_estimated_or_named(void **state)
{
    char dir[] = "/dev/shm/weir-prof-outside-XXXXXX";
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_needs_proc("the kernel's counters are read there");
    fixture_open(&l);
    const char *const at[] = {l.data, mkdtemp(dir) ? dir : l.data};

    for (int i = 0; i < 2; i++) {
        char *argv[] = {l.ways, (char *)"mmap_killed", (char *)at[i], NULL};
        bool memory = outside_in_memory(at[i]);

        assert_int_equal(fixture_run(&l, &j, argv, "sampled", SLICE, 0), 128 + SIGKILL);
        assert_true(fixture_total(&j, PROF_W_write_estimate) == (memory ? 0 : MIB));
        assert_true(fixture_total(&j, PROF_M_UNEXPLAINED_WRITE) == 0);
        assert_int_equal(j.mapped_unknown, memory ? MIB : 0);
        assert_true(memory == !!strstr(wr_str_get(&j.warnings), "mapped for writing"));
        prof_job_fini(&j);
    }
    fixture_clear(dir);
    rmdir(dir);
    fixture_close(&l);
}

/* A child that moves a mebibyte for each byte that it reads, and writes a byte then. */
struct stepping {
    pid_t pid;
    int go, done;
};

/* `by_exec`: it has the library first, and then executes the static program. */
static struct stepping outside_start_steps(const struct fixture *l, int steps, bool by_exec)
{
    char path[PATH_MAX], mib[12], file[PATH_MAX + 2], host[64] = "", sampler[96], dir[PATH_MAX];
    int go[2], done[2];

    assert_non_null(realpath("tests/prof-static", path));
    assert_non_null(realpath(l->profiles, dir));
    assert_true(!pipe2(go, O_CLOEXEC) && !pipe2(done, O_CLOEXEC));
    gethostname(host, sizeof host - 1);
    snprintf(sampler, sizeof sampler, "%s:%d", host, (int)getpid());
    snprintf(mib, sizeof mib, "%d", steps);
    snprintf(file, sizeof file, "%s/a", l->data);
    struct stepping s = {.pid = fork(), .go = go[1], .done = done[0]};

    if (!s.pid) {
        dup2(go[0], 0);
        dup2(done[1], 1);
        setenv("WEIR_PROF_DIR", dir, 1);
        setenv("WEIR_PROF_JOB", "lab", 1);
        setenv("WEIR_PROF_SLICE", "50ms", 1);
        setenv("WEIR_PROF_SAMPLER", sampler, 1);
        setenv("LD_PRELOAD", l->lib, 1);
        if (by_exec)
            execl("/bin/sh", "sh", "-c", "exec \"$0\" \"$1\" \"$2\" -", path, file, mib, NULL);
        else
            execl(path, path, file, mib, "-", NULL);
        _exit(127);
    }
    close(go[0]);
    close(done[1]);
    return s;
}

/* One look, so late that a slice has ended and all processes are searched. Returns when it was
 * entered. */
static int64_t outside_look(struct prof_sampler *s)
{
    int64_t begin = prof_sampler_now(s);

    while (prof_sampler_now(s) < begin + 3 * SLICE)
        usleep(2000);
    prof_sampler_look(s, prof_sampler_now(s));
    return begin;
}

/* Bytes in slices that end before, or begin before, a time. */
static double outside_written(const struct prof_job *j, int64_t ns, bool begun)
{
    double sum = 0;

    for (size_t i = 0; i < j->cells.n; i++) {
        const struct prof_cell *c = &j->cells.v[i];
        int64_t at = j->origin_ns + (int64_t)(c->slice + !begun) * (int64_t)j->slice_ns;

        if (c->entity == j->apps.v[0].entity && at <= ns)
            sum += c->value[PROF_W_write_bytes];
    }
    return sum;
}

/* The sampler looks between the steps of the program, however long that takes: what it moved in a
 * step is in the slices between the two looks. */
static void a_program_without_the_library_is_sliced_by_looking_at_it(bool by_exec)
{
    enum { STEPS = 4 };
    int64_t before[STEPS], after[STEPS];
    struct prof_job j = {0};
    struct prof_sampler *s;
    struct wr_err err = {0};
    struct fixture l;
    siginfo_t info;
    char c = 0;

    fixture_needs_proc("the kernel's counters are read there");
    fixture_open(&l);
    struct prof_sampling what = {
        .dir = l.profiles, .job = "lab", .slice_ns = SLICE, .capacity_b = PROF_CAPACITY_B};

    assert_true(prof_sampler_open(&s, &what, &err));
    struct stepping p = outside_start_steps(&l, STEPS, by_exec);

    for (int i = 0; i < STEPS; i++) {
        before[i] = outside_look(s);
        assert_int_equal(write(p.go, &c, 1), 1);
        assert_int_equal(read(p.done, &c, 1), 1);
        outside_look(s);
        after[i] = prof_sampler_now(s);
    }
    assert_int_equal(waitid(P_PID, (id_t)p.pid, &info, WEXITED | WNOWAIT), 0);
    prof_sampler_close(s, prof_sampler_now(s));
    waitpid(p.pid, NULL, 0);
    close(p.go);
    close(p.done);
    assert_true(prof_job_read(&j, l.profiles, &err));
    assert_true(fixture_total(&j, PROF_W_write_bytes) == STEPS * (MIB + 1.0));
    assert_true(j.procs.n == 1 && j.procs.v[0].kernel && j.procs.v[0].sampled);
    for (int i = 0; i < STEPS; i++) {
        assert_true(outside_written(&j, before[i] - SLICE, false) <= i * (MIB + 1.0));
        assert_true(outside_written(&j, after[i], true) >= (i + 1) * (MIB + 1.0));
    }
    prof_job_fini(&j);
    fixture_clear(l.profiles);
    fixture_close(&l);
}

static void a_static_program_is_sliced_by_looking_at_it(void **state)
{
    (void)state;
    a_program_without_the_library_is_sliced_by_looking_at_it(false);
}

static void a_static_program_that_a_shell_executes_is_sliced_by_looking_at_it(void **state)
{
    (void)state;
    a_program_without_the_library_is_sliced_by_looking_at_it(true);
}

static void a_process_that_ends_unseen_is_reported(void **state)
{
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_needs_proc("the kernel's counters are read there");
    fixture_open(&l);
    assert_int_equal(outside_run(&l, &j, "$INLINE ignore $D/a 8; true"), 0);
    assert_true(fixture_total(&j, PROF_W_write_bytes) == 8 * MIB || j.ends_unseen == 1);
    prof_job_fini(&j);
    assert_int_equal(outside_run(&l, &j, "setsid sleep 3 & exit 0"), 0);
    assert_int_equal(j.left, 1);
    assert_non_null(strstr(wr_str_get(&j.warnings), "run on"));
    prof_job_fini(&j);
    fixture_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_without_the_library_are_counted_by_the_kernel),
        cmocka_unit_test(a_thousand_short_static_children_are_counted_exactly),
        cmocka_unit_test(two_thousand_programs_that_do_nothing_leave_nothing_unexplained),
        cmocka_unit_test(what_a_program_does_by_itself_is_unexplained),
        cmocka_unit_test(a_ring_that_is_not_followed_is_estimated_by_its_pages),
        cmocka_unit_test(what_a_killed_program_stored_in_mappings_is_estimated_or_named),
        cmocka_unit_test(a_static_program_is_sliced_by_looking_at_it),
        cmocka_unit_test(a_static_program_that_a_shell_executes_is_sliced_by_looking_at_it),
        cmocka_unit_test(a_process_that_ends_unseen_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
