/* Where in time the profiler puts what it counts, and who did it: volumes, edges, long calls,
 * files, programs that cannot be preloaded. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "base/file.h"
#include "prof/counters.h"
#include "prof_fixture.h"

enum { MIB = 1 << 20 };

static const char *const clocks[] = {"sampled", "coarse", "precise"};

static const struct prof_entity *entity(const struct prof_job *j, const char *name)
{
    for (size_t i = 0; i < j->entities.n; i++)
        if (strstr(j->entities.v[i].name, name))
            return &j->entities.v[i];
    return NULL;
}

static void a_gigabyte_by_eight_threads_in_four_processes_is_found_exactly(void **state)
{
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_open(&l);
    for (int c = 0; c < 3; c++) {
        int threads = 0;

        assert_int_equal(fixture_way(&l, &j, "mix", clocks[c]), 0);
        assert_int_equal(j.procs.n, 4);
        assert_true(fixture_total(&j, PROF_W_write_bytes) == 768.0 * MIB);
        assert_true(fixture_total(&j, PROF_W_read_bytes) == 256.0 * MIB);
        assert_true(fixture_total(&j, PROF_W_write_calls) == 32 * 768);
        assert_true(fixture_total(&j, PROF_W_read_calls) == 32 * 256);
        for (size_t i = 0; i < j.procs.n; i++)
            assert_true(j.entities.v[j.procs.v[i].entity].total[PROF_W_write_bytes] == 192.0 * MIB);
        /* And of each the eight threads, and the first one, which opened the file. */
        for (size_t i = 0; i < j.entities.n; i++)
            if (j.entities.v[i].kind == PROF_E_THREAD &&
                j.entities.v[i].total[PROF_W_write_bytes] > 0) {
                assert_true(j.entities.v[i].total[PROF_W_write_bytes] == 24.0 * MIB);
                assert_true(j.entities.v[i].total[PROF_W_read_calls] == 256);
                threads++;
            }
        assert_int_equal(threads, 32);
        prof_job_fini(&j);
    }
    fixture_close(&l);
}

/* The slices of an entity hold together what its total says. */
static void slices_add_up_to_totals_for_every_entity(void **state)
{
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_open(&l);
    for (int c = 0; c < 3; c++) {
        fixture_way(&l, &j, "mix", clocks[c]);
        for (size_t e = 0; e < j.entities.n; e++) {
            double sum = 0;

            for (size_t i = 0; i < j.cells.n; i++)
                sum += j.cells.v[i].entity == e ? j.cells.v[i].value[PROF_W_write_bytes] : 0;
            assert_true(sum == j.entities.v[e].total[PROF_W_write_bytes]);
        }
        prof_job_fini(&j);
    }
    fixture_close(&l);
}

/* When the writes of one process began and ended, as it saw it. */
struct ticks {
    int64_t n, behind; /* the coarse clock was behind by so many us at most */
    int64_t *us;       /* [3 + 2 * n] from the fourth on: began, ended, began, ... */
};

static struct ticks read_ticks(const struct fixture *l, uint32_t pid)
{
    struct wr_err err = {0};
    char path[200], *text;
    size_t len;

    snprintf(path, sizeof path, "%s/times.%u", l->dir, pid);
    if (!wr_file_read(&text, &len, path, 1 << 20, &err))
        fail_msg("%s", err.text);
    unlink(path);
    int64_t *us = (int64_t *)(void *)text;
    struct ticks t = {.n = us[1], .behind = us[2], .us = us};

    assert_true(us[0] == pid && len == (size_t)(2 * t.n + 3) * 8);
    return t;
}

/* How far from an edge the slices of a process are really divided, in us: 0 when what is booked
 * before the edge can be what was done before it, give or take a call. */
static int64_t off_at(const struct ticks *t, int64_t edge_us, int64_t booked)
{
    const int64_t *began = t->us + 3, *ended = began + 1;

    if (booked > 1 && began[2 * (booked - 2)] > edge_us)
        return began[2 * (booked - 2)] - edge_us;
    if (booked + 1 < t->n && ended[2 * (booked + 1)] < edge_us)
        return ended[2 * (booked + 1)] - edge_us;
    return 0;
}

enum { TICK_SLICE = 20000000, EDGES = 25 };

/* For the edges while a process ticked; the first and last slices are left out. */
static void offs_of(const struct prof_job *j, const struct prof_proc *p, const struct ticks *t,
                    int64_t *ret)
{
    uint32_t first = (uint32_t)((t->us[3] * 1000 - j->origin_ns) / TICK_SLICE) + 1;
    int64_t booked = 0;
    uint32_t slice = 0;

    for (size_t i = 0; i < j->cells.n; i++) {
        const struct prof_cell *c = &j->cells.v[i];

        if (c->entity != p->entity)
            continue;
        for (; slice < c->slice; slice++)
            if (slice >= first && slice < first + EDGES)
                ret[slice - first] =
                    off_at(t, (j->origin_ns + (int64_t)(slice + 1) * TICK_SLICE) / 1000, booked);
        booked += (int64_t)c->value[PROF_W_write_calls];
    }
    assert_int_equal(booked, t->n);
    assert_true(slice > first + EDGES);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

struct aligned {
    int64_t low, mid, high; /* how far edges were off, in us */
    int64_t between;        /* the middle difference of the two processes */
    int64_t behind;         /* the coarse clock was, at most */
    int64_t late_us;        /* what the profile says of the sampler */
};

static struct aligned align_two(struct fixture *l, const char *clock)
{
    char *argv[] = {l->ways, (char *)"ticks", l->data, NULL};
    int64_t off[2 * EDGES], between[EDGES];
    struct ticks t[2];
    struct prof_job j;

    assert_int_equal(fixture_run(l, &j, argv, clock, TICK_SLICE, 0), 0);
    assert_int_equal(j.procs.n, 2);
    assert_true(j.origin_ns % TICK_SLICE == 0);
    for (int i = 0; i < 2; i++) {
        t[i] = read_ticks(l, j.procs.v[i].head->pid);
        offs_of(&j, &j.procs.v[i], &t[i], off + i * EDGES);
    }
    for (int i = 0; i < EDGES; i++)
        between[i] = llabs(off[i] - off[EDGES + i]);
    qsort(off, (size_t)2 * EDGES, sizeof *off, by_size);
    qsort(between, EDGES, sizeof *between, by_size);
    struct aligned a = {.low = off[0],
                        .mid = off[EDGES],
                        .high = off[2 * EDGES - 1],
                        .between = between[EDGES / 2],
                        .behind = t[0].behind > t[1].behind ? t[0].behind : t[1].behind,
                        .late_us = (int64_t)j.late_ns / 1000};

    for (int i = 0; i < 2; i++)
        free(t[i].us);
    prof_job_fini(&j);
    return a;
}

/* Two processes write all the time and know when. With a clock in the process no edge may be off by
 * more than that clock is behind and 1 ms. The sampler may be late, as late as it says; half of all
 * edges must be right within 1 ms, in one of a few tries, as others may want the machine. */
static void slices_of_two_processes_are_aligned_within_a_millisecond(void **state)
{
    struct aligned a;
    struct fixture l;

    (void)state;
    fixture_open(&l);
    a = align_two(&l, "precise");
    assert_true(a.low > -1000 && a.high < 1000);
    a = align_two(&l, "coarse");
    assert_true(a.low > -1000 && a.high < 1000 + a.behind);
    for (int i = 0; i < 5; i++) {
        a = align_two(&l, "sampled");
        assert_true(a.low > -1000 - a.late_us && a.high < 1000 + a.late_us);
        if (a.mid < 1000 && a.between < 1000)
            break;
        print_message("the sampler was late by %lld us in the middle\n", (long long)a.mid);
    }
    assert_true(a.mid < 1000 && a.between < 1000);
    fixture_close(&l);
}

/* A call that blocks for 400 ms moves its bytes in at least four slices of 100 ms, not in the last.
 */
static void a_long_call_is_spread_over_its_slices(void **state)
{
    struct fixture l;

    (void)state;
    fixture_open(&l);
    for (int c = 0; c < 3; c++) {
        char *argv[] = {l.ways, (char *)"long_call", l.data, NULL};
        struct prof_job j;
        int slices = 0, seen = 0;

        assert_int_equal(fixture_run(&l, &j, argv, clocks[c], 50000000, 0), 0);
        assert_true(fixture_total(&j, PROF_W_read_bytes) == MIB);
        for (size_t i = 0; i < j.cells.n; i++) {
            if (j.cells.v[i].entity != j.apps.v[0].entity)
                continue;
            slices += j.cells.v[i].value[PROF_W_read_bytes] > 0;
            seen += j.cells.v[i].value[PROF_W_read_calls] > 0;
        }
        /* Bytes while it lasted, the calls themselves when they ended. */
        assert_in_range(slices, 5, 200);
        assert_true(seen >= 1 && seen <= fixture_total(&j, PROF_W_read_calls));
        prof_job_fini(&j);
    }
    fixture_close(&l);
}

static void files_are_counted_separately_when_asked_for(void **state)
{
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_needs_proc("names of files are read there");
    fixture_open(&l);
    char *argv[] = {l.ways, (char *)"files", l.data, NULL};

    fixture_run(&l, &j, argv, "sampled", 50000000, 100);
    for (int i = 1; i <= 3; i++) {
        char name[32];

        snprintf(name, sizeof name, "/file%d", i);
        assert_non_null(entity(&j, name));
        assert_true(entity(&j, name)->total[PROF_W_write_bytes] == 4096.0 * i);
    }
    assert_true(fixture_total(&j, PROF_W_write_bytes) == 6 * 4096.0);
    /* In a chroot the mount is not listed. */
    const struct prof_entity *mount = entity(&j, "mount:/");

    mount = mount ? mount : entity(&j, "mount:unknown ");
    assert_non_null(mount);
    assert_true(mount->total[PROF_W_write_bytes] == 6 * 4096.0);
    prof_job_fini(&j);
    /* More files than rows: what is left over counts for the mount. */
    fixture_run(&l, &j, argv, "sampled", 50000000, 1);
    assert_true(fixture_total(&j, PROF_W_write_bytes) == 6 * 4096.0);
    prof_job_fini(&j);
    fixture_close(&l);
}

/* Who wrote to whose files is known without asking for files. */
static void files_of_ones_own_are_distinguished_from_a_shared_one(void **state)
{
    static const struct {
        const char *way, *mode;
    } modes[] = {{"own_files", "private"}, {"fork", "shared"}, {"mix", "shared"}, {"write", NULL}};
    struct fixture l;

    (void)state;
    fixture_open(&l);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        for (uint32_t files = 0; files < 20; files += 10) {
            char *argv[] = {l.ways, (char *)modes[i].way, l.data, NULL};
            struct prof_job j;

            assert_int_equal(fixture_run(&l, &j, argv, "sampled", 50000000, files), 0);
            const char *mode = prof_job_file_mode(&j);

            if (modes[i].mode ? !mode || strcmp(mode, modes[i].mode) : mode != NULL)
                fail_msg("%s: %s", modes[i].way, mode ? mode : "not known");
            assert_true((entity(&j, "file:") != NULL) == (files > 0));
            prof_job_fini(&j);
        }
    fixture_close(&l);
}

/* prof-ways has frame pointers, so that all of a path is known. */
static void calls_are_counted_by_where_they_come_from(void **state)
{
    static const struct {
        const char *name;
        double written, calls;
    } paths[] = {{"call:way_callers>alpha>fill", 2 * MIB, 512},
                 {"call:way_callers>beta>fill", MIB, 256},
                 {"call:main>way_callers>beta", 8, 1},
                 {"gamma_thread", MIB, 1}};
    struct fixture l;

    (void)state;
    fixture_needs_proc("the addresses of code are read there");
    fixture_open(&l);
    l.callers = 3;
    for (int c = 0; c < 3; c++) {
        struct prof_job j;
        double all = 0;

        assert_int_equal(fixture_way(&l, &j, "callers", clocks[c]), 0);
        for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
            const struct prof_entity *e = entity(&j, paths[i].name);

            if (!e || e->total[PROF_W_write_bytes] != paths[i].written ||
                e->total[PROF_W_write_calls] != paths[i].calls)
                fail_msg("%s, clock %s: %.0f bytes", paths[i].name, clocks[c],
                         e ? e->total[PROF_W_write_bytes] : -1);
        }
        for (size_t i = 0; i < j.entities.n; i++)
            if (j.entities.v[i].kind == PROF_E_CALL)
                all += j.entities.v[i].total[PROF_W_write_bytes];
        /* Each call has one path, and paths are no part of the totals. */
        assert_true(all == 4.0 * MIB + 8);
        assert_true(fixture_total(&j, PROF_W_write_bytes) == all);
        prof_job_fini(&j);
    }
    fixture_close(&l);
}

/* Each thread has its own number as a counter; those that were there for a moment may have none. */
static void check_counters(const struct prof_job *j)
{
    int own = 0, of_none = 0;
    double us = 0;

    assert_string_equal(prof_metric_name(j, PROF_M_COUNTER), "TIME_US");
    assert_string_equal(prof_metric_name(j, PROF_M_COUNTER + 1), "TID");
    for (size_t i = 0; i < j->threads.n; i++) {
        const struct prof_thread *t = &j->threads.v[i];
        const double *total = t->entity == UINT32_MAX ? NULL : j->entities.v[t->entity].total;

        own += total && total[PROF_M_COUNTER + 1] == t->tid;
        of_none += total && total[PROF_M_COUNTER + 1] == 0;
        us += total ? total[PROF_M_COUNTER] : 0;
        assert_true(!total || total[PROF_M_COUNTER + 1] == t->tid ||
                    total[PROF_M_COUNTER + 1] == 0);
    }
    assert_true(own > of_none && own > 16);
    assert_true(us > 0 && fixture_total(j, PROF_M_COUNTER) >= us);
    assert_true(fixture_total(j, PROF_W_write_bytes) == 768.0 * MIB);
}

static void counters_are_read_for_each_thread(void **state)
{
    struct wr_err err = {0};
    char lib[PATH_MAX];
    struct fixture l;

    (void)state;
    fixture_open(&l);
    assert_non_null(realpath("lib/libprof-papi.so", lib));
    setenv("WEIR_PAPI_LIB", lib, 1);
    assert_true(prof_counters_open(&l.counters, "TIME_US,TID", &err));
    for (int c = 0; c < 3; c++) {
        struct prof_job j;

        assert_int_equal(fixture_way(&l, &j, "mix", clocks[c]), 0);
        check_counters(&j);
        prof_job_fini(&j);
    }
    const char *why;

    assert_int_equal(prof_counters_missed(l.counters, &why), 0);
    prof_counters_close(l.counters);
    fixture_close(&l);
}

static void counters_that_are_not_there_are_said(void **state)
{
    static const struct {
        const char *list, *words;
    } bad[] = {{"TIME_US,NOTHING", "cannot count NOTHING here: no such event"},
               {"", "name one"},
               {"TID,,TID", "does not begin with a counter's name"},
               {"TID,TID,TID,TID,TID,TID,TID,TID,TID", "at most 8"}};
    struct prof_counters *c;
    char lib[PATH_MAX];

    (void)state;
    assert_non_null(realpath("lib/libprof-papi.so", lib));
    setenv("WEIR_PAPI_LIB", lib, 1);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct wr_err err = {0};

        assert_false(prof_counters_open(&c, bad[i].list, &err));
        if (!strstr(err.text, bad[i].words))
            fail_msg("\"%s\" does not say \"%s\"", err.text, bad[i].words);
    }
    struct wr_err err = {0};

    setenv("WEIR_PAPI_LIB", "/nowhere", 1);
    assert_false(prof_counters_open(&c, "TID", &err));
    assert_non_null(strstr(err.text, "WEIR_PAPI_LIB"));
    /* The real one, where it is and where it can count. */
    unsetenv("WEIR_PAPI_LIB");
    err = (struct wr_err){0};
    if (prof_counters_open(&c, "perf::TASK-CLOCK", &err))
        prof_counters_close(c);
    else
        print_message("no real counters: %s\n", err.text);
}

static void a_static_program_is_counted_by_the_kernel(void **state)
{
    char program[PATH_MAX], file[128];
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_needs_proc("the kernel's counters are read there");
    fixture_open(&l);
    snprintf(file, sizeof file, "%s/data", l.data);
    assert_non_null(realpath("tests/prof-static", program));
    /* One that lives for a while, and one that is quicker than any search. */
    char *argv[][5] = {{program, file, (char *)"3", (char *)"400", NULL},
                       {program, file, (char *)"3", (char *)"0", NULL}};

    for (int i = 0; i < 2; i++) {
        assert_int_equal(fixture_run(&l, &j, argv[i], "sampled", 50000000, 0), 0);
        assert_int_equal(j.procs.n, 1);
        assert_true(j.procs.v[0].kernel);
        assert_true(fixture_total(&j, PROF_W_write_bytes) == 3.0 * MIB);
        prof_job_fini(&j);
    }
    fixture_close(&l);
}

/* A shell that executes a static program: the shell is counted by the library, the program by the
 * kernel. */
static void a_program_that_becomes_a_static_one_is_counted_by_both(void **state)
{
    char program[PATH_MAX];
    struct wr_str command = {0};
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_needs_proc("the kernel's counters are read there");
    fixture_open(&l);
    assert_non_null(realpath("tests/prof-static", program));
    wr_str_addf(&command, "printf %%1000d 1 > %s/a; exec %s %s/b 2 600", l.data, program, l.data);
    char *argv[] = {(char *)"/bin/bash", (char *)"-c", command.s, NULL};

    assert_int_equal(fixture_run(&l, &j, argv, "sampled", 50000000, 0), 0);
    assert_int_equal(j.procs.n, 1);
    assert_int_equal(j.procs.v[0].images, 2);
    assert_true(fabs(fixture_total(&j, PROF_W_write_bytes) - (2.0 * MIB + 1000)) < 200);
    wr_str_fini(&command);
    prof_job_fini(&j);
    fixture_close(&l);
}

/* A process that was unprofiled for a while: its own profile replaces the kernel's counts.
 */
static void a_program_that_loads_the_library_late_is_counted_by_it(void **state)
{
    struct wr_str command = {0};
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_open(&l);
    wr_str_addf(&command, "sleep 0.5; LD_PRELOAD='%s' exec '%s' long_call '%s'", l.lib, l.ways,
                l.data);
    char *argv[] = {(char *)"/usr/bin/env",
                    (char *)"-u",
                    (char *)"LD_PRELOAD",
                    (char *)"/bin/sh",
                    (char *)"-c",
                    command.s,
                    NULL};

    assert_int_equal(fixture_run(&l, &j, argv, "sampled", 50000000, 0), 0);
    const struct prof_proc *late = NULL;

    for (size_t i = 0; i < j.procs.n; i++)
        if (j.procs.v[i].images == 2)
            late = &j.procs.v[i];
    assert_non_null(late);
    assert_false(late->kernel);
    assert_true(j.entities.v[late->entity].total[PROF_W_read_bytes] == MIB);
    wr_str_fini(&command);
    prof_job_fini(&j);
    fixture_close(&l);
}

/* A forked child that has done nothing yet is not unprofiled. */
static void an_idle_child_is_not_counted_by_the_kernel(void **state)
{
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_open(&l);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fixture_way(&l, &j, "long_call", "sampled"), 0);
        assert_int_equal(j.procs.n, 2);
        assert_false(j.procs.v[0].kernel || j.procs.v[1].kernel);
        assert_true(fixture_total(&j, PROF_W_read_bytes) == MIB);
        prof_job_fini(&j);
    }
    fixture_close(&l);
}

/* Times: what a program spent in a call that blocks, within what each clock can know. */
static void time_in_a_blocking_call_is_found(void **state)
{
    struct fixture l;

    (void)state;
    fixture_open(&l);
    for (int c = 0; c < 3; c++) {
        char *argv[] = {l.ways, (char *)"long_call", l.data, NULL};
        struct prof_job j;
        double seconds = 0;

        fixture_run(&l, &j, argv, clocks[c], 100000000, 0);
        /* The pipe is not storage, so its time is in no total: look at the rows themselves. */
        for (size_t f = 0; f < j.nfiles; f++)
            for (uint32_t s = 0; s < j.file[f].nslots; s++)
                seconds += 1e-9 * (double)j.file[f]
                                      .row[(size_t)s * j.file[f].nnames + PROF_ROW_OTHER]
                                      .word[PROF_TIME + PROF_WRITE];
        assert_true(seconds > 0.2 && seconds < 20);
        prof_job_fini(&j);
    }
    fixture_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gigabyte_by_eight_threads_in_four_processes_is_found_exactly),
        cmocka_unit_test(slices_add_up_to_totals_for_every_entity),
        cmocka_unit_test(slices_of_two_processes_are_aligned_within_a_millisecond),
        cmocka_unit_test(a_long_call_is_spread_over_its_slices),
        cmocka_unit_test(files_are_counted_separately_when_asked_for),
        cmocka_unit_test(files_of_ones_own_are_distinguished_from_a_shared_one),
        cmocka_unit_test(calls_are_counted_by_where_they_come_from),
        cmocka_unit_test(counters_are_read_for_each_thread),
        cmocka_unit_test(counters_that_are_not_there_are_said),
        cmocka_unit_test(a_static_program_is_counted_by_the_kernel),
        cmocka_unit_test(a_program_that_becomes_a_static_one_is_counted_by_both),
        cmocka_unit_test(a_program_that_loads_the_library_late_is_counted_by_it),
        cmocka_unit_test(an_idle_child_is_not_counted_by_the_kernel),
        cmocka_unit_test(time_in_a_blocking_call_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
