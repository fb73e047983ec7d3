/* Every way of doing I/O that the profiler covers: a known volume is done, and found exactly. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "prof_fixture.h"

enum { MIB = 1 << 20, CHUNKS = 256, LINES = MIB / 32, ANY = -1, NOT_BUILT = 77 };

#define W(name_, read_, written_, reads_, writes_, opens_, ...)                                \
    {                                                                                          \
        .name = name_, .read = read_, .written = written_, .reads = reads_, .writes = writes_, \
        .opens = opens_, ##__VA_ARGS__                                                         \
    }

/* What prof-ways does; calls ANY: not given. */
static const struct way {
    const char *name;
    int64_t read, written, reads, writes, opens, syncs;
    int status, processes;
    int64_t estimate;
} ways[] = {
    W("write", 0, MIB, 0, CHUNKS, 1),
    W("pwrite", 0, MIB, 0, CHUNKS, 1),
    W("pwrite64", 0, MIB, 0, CHUNKS, 1),
    W("writev", 0, MIB, 0, CHUNKS, 1),
    W("pwritev", 0, MIB, 0, CHUNKS, 1),
    W("pwritev64", 0, MIB, 0, CHUNKS, 1),
    W("pwritev2", 0, MIB, 0, CHUNKS, 1),
    W("read", MIB, 0, CHUNKS, 0, 1),
    W("pread", MIB, 0, CHUNKS, 0, 1),
    W("pread64", MIB, 0, CHUNKS, 0, 1),
    W("readv", MIB, 0, CHUNKS, 0, 1),
    W("preadv", MIB, 0, CHUNKS, 0, 1),
    W("preadv2", MIB, 0, CHUNKS, 0, 1),
    W("short_read", MIB / 2, 0, 2, 0, 1),
    W("fwrite", 0, MIB, 0, CHUNKS, 1),
    W("fwrite_unlocked", 0, MIB, 0, CHUNKS, 1),
    W("fputs", 0, MIB, 0, LINES, 1),
    W("fputs_unlocked", 0, MIB, 0, LINES, 1),
    W("fputc", 0, 8192, 0, 8192, 1),
    W("fputc_unlocked", 0, 8192, 0, 8192, 1),
    W("fprintf", 0, MIB, 0, LINES, 1),
    W("vfprintf", 0, MIB, 0, LINES, 1),
    W("dprintf", 0, 4096 * 32, 0, 4096, 1),
    W("fread", MIB, MIB, CHUNKS, LINES, 1),
    W("fread_unlocked", MIB, MIB, CHUNKS, LINES, 1),
    W("fgets", MIB, MIB, LINES + 1, LINES, 1),
    W("fgetc", 8192, MIB, 8192, LINES, 1),
    W("getline", MIB, MIB, LINES + 1, LINES, 1),
    W("sendfile", MIB, MIB, 1, 1, 2),
    W("copy_file_range", MIB, 2 * MIB, ANY, ANY, 2),
    W("splice", MIB, 2 * MIB, CHUNKS, 2 * CHUNKS, 2),
    W("fallocate", 0, 0, 0, 0, 1),
    W("sync", 0, 0, 0, 0, 1, .syncs = 4),
    W("open", 0, 0, 0, 0, 8),
    W("aio_write", 0, MIB, 0, 16, 1),
    W("aio_read", MIB, 0, 16, 0, 1),
    W("lio_listio", 0, MIB, 0, 16, 1),
    W("libaio", MIB, MIB, 16, 16, 1),
    W("io_uring", MIB, MIB, 16, 16, 1, .syncs = 1),
    W("sys_write", 0, MIB, 0, CHUNKS, 1, .syncs = 1),
    W("sys_read", MIB, 0, CHUNKS, 0, 1),
    W("sys_copy", MIB, 2 * MIB, ANY, ANY, 2),
    W("sys_exit", 0, MIB, 0, CHUNKS, 1),
    W("ring", MIB + 100, MIB, 17, 16, 1, .syncs = 1),
    W("ring_fixed", MIB + 100, MIB, 17, 16, 1, .syncs = 1),
    W("ring_polled", MIB + 100, MIB, 17, 16, 1, .syncs = 1),
    /* What the ring still holds is counted, the rest is as many requests like these. */
    W("ring_inline", 0, MIB / 64 * 8, 0, 8, 1, .estimate = MIB / 64 * 56),
    W("socket", 0, 0, 0, 0, 0, .processes = 2),
    W("mmap", 0, 0, 0, 0, 1, .syncs = 1, .estimate = MIB),
    W("mmap_end", 0, 0, 0, 0, 1, .estimate = MIB),
    W("mmap_exec", 0, MIB, 0, CHUNKS, 2, .estimate = MIB),
    W("dup", 0, 86 * 3 * 4096, 0, 86 * 3, 1),
    W("unlinked", 0, MIB, 0, CHUNKS, 1),
    W("tmpfile", 0, MIB, 0, CHUNKS, ANY),
    W("fork", 0, 3 * MIB, 0, 3 * CHUNKS, 1, .processes = 3),
    W("raw_fork", 0, 2 * MIB, 0, 2 * CHUNKS, 1, .processes = 2),
    W("exec", 0, 2 * MIB, 0, 2 * CHUNKS, 2),
    W("spawn", 0, MIB, 0, CHUNKS, 1, .processes = 2),
    W("vfork", 0, 2 * MIB, 0, 2 * CHUNKS, ANY, .processes = 2),
    W("system", 0, MIB, ANY, CHUNKS, ANY, .processes = ANY),
    W("threads", 0, 8 * MIB, 0, 8 * CHUNKS, 1),
    W("many_threads", 0, MIB, 0, 2048, 1),
    W("small_stack", 0, MIB, 0, CHUNKS, 1),
    W("inherited", 0, MIB, 0, CHUNKS, 1),
    W("stdout", 0, MIB, 0, LINES, 1),
    W("_exit", 0, MIB, 0, CHUNKS, 1),
    W("abort", 0, MIB, 0, CHUNKS, 1, .status = 128 + SIGABRT),
    W("kill", 0, MIB, 0, CHUNKS, 1, .status = 128 + SIGKILL),
    W("term", 0, MIB, 0, CHUNKS, 1, .status = 128 + SIGTERM),
    W("segv", 0, MIB, 0, CHUNKS, 1, .status = 128 + SIGSEGV),
    W("cancel", 0, MIB, 0, CHUNKS, ANY),
    W("pipe", 0, 0, 0, 0, 0),
    W("reuse", 0, MIB, 0, CHUNKS, 1),
    W("bad_pointers", 0, 4096, ANY, ANY, ANY),
    W("filtered", 0, 6 * MIB, 0, 6 * CHUNKS, 2, .processes = 2),
    W("filtered_by_number", 0, 6 * MIB, 0, 6 * CHUNKS, 2, .processes = 2),
    W("filter_inherited", 0, 3 * MIB, 0, 3 * CHUNKS, 1, .processes = 3),
    W("old_kernel", 0, 8 * MIB, 0, 8 * CHUNKS, 1),
    W("strict", 0, MIB, 0, CHUNKS, 1),
    W("errno", 0, MIB, ANY, ANY, ANY, .syncs = 1),
};

enum { NWAYS = sizeof ways / sizeof ways[0] };

static int check(const char *way, const char *clock, const char *what, double got, int64_t want)
{
    if (want == ANY || got == (double)want)
        return 0;
    print_error("%s, clock %s: %.0f %s, not %lld\n", way, clock, got, what, (long long)want);
    return 1;
}

static int try(struct fixture *l, const struct way *w, const char *clock)
{
    struct prof_job j;
    int status = fixture_way(l, &j, w->name, clock), bad = 0;

    if (status == NOT_BUILT) {
        print_message("%s is left out: its library or the kernel's part is not there\n", w->name);
        prof_job_fini(&j);
        return 0;
    }
    bad += check(w->name, clock, "exit status", status, w->status);
    bad += check(w->name, clock, "bytes read", fixture_total(&j, PROF_W_read_bytes), w->read);
    bad +=
        check(w->name, clock, "bytes written", fixture_total(&j, PROF_W_write_bytes), w->written);
    bad += check(w->name, clock, "reads", fixture_total(&j, PROF_W_read_calls), w->reads);
    bad += check(w->name, clock, "writes", fixture_total(&j, PROF_W_write_calls), w->writes);
    bad += check(w->name, clock, "opens", fixture_total(&j, PROF_W_open_calls), w->opens);
    bad += check(w->name, clock, "syncs", fixture_total(&j, PROF_W_sync_calls), w->syncs);
    bad += check(w->name, clock, "bytes in mappings", fixture_total(&j, PROF_W_write_estimate),
                 w->estimate);
    bad += check(w->name, clock, "processes", (double)j.procs.n, w->processes ? w->processes : 1);
    bad += check(w->name, clock, "dropped calls", (double)j.dropped_calls, 0);
    bad += check(w->name, clock, "bytes written that are unexplained",
                 fixture_total(&j, PROF_M_UNEXPLAINED_WRITE), 0);
    /* The C library's own files, and streams that read ahead. */
    bad += check(w->name, clock, "(many) bytes read that are unexplained",
                 fixture_total(&j, PROF_M_UNEXPLAINED_READ) > 16384, 0);
    prof_job_fini(&j);
    return bad;
}

static void every_way_is_found_exactly(const char *clock)
{
    struct fixture l;
    int bad = 0;

    fixture_open(&l);
    l.callers = strcmp(clock, "coarse") ? 0 : 3; /* it makes no difference */
    for (int i = 0; i < NWAYS; i++)
        bad += try(&l, &ways[i], clock);
    fixture_close(&l);
    assert_int_equal(bad, 0);
}

static void every_way_is_found_exactly_by_the_sampler(void **state)
{
    (void)state;
    every_way_is_found_exactly("sampled");
}

static void every_way_is_found_exactly_with_the_coarse_clock(void **state)
{
    (void)state;
    every_way_is_found_exactly("coarse");
}

static void every_way_is_found_exactly_with_the_precise_clock(void **state)
{
    (void)state;
    every_way_is_found_exactly("precise");
}

/* On request a server's connections are storage. */
static void connections_count_as_storage_when_asked_for(void **state)
{
    static const char *const names[] = {"server", "/nowhere,data/server", "5,10.0.0.1,nowhere"};
    enum { MOVED = 5 * 4096 };
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_open(&l);
    for (int i = 0; i < 3; i++) {
        double want = i < 2 ? MOVED : 0;

        l.sockets = names[i];
        assert_int_equal(fixture_way(&l, &j, "socket", "sampled"), 0);
        assert_true(fixture_total(&j, PROF_W_read_bytes) == want);
        assert_true(fixture_total(&j, PROF_W_write_bytes) == want);
        assert_true(fixture_total(&j, PROF_W_write_calls) == (i < 2 ? 5 : 0));
        /* The child's end is no connection to the server. */
        assert_true(fixture_total(&j, PROF_M_UNEXPLAINED_WRITE) == 0);
        prof_job_fini(&j);
    }
    fixture_close(&l);
}

static int without(struct fixture *l, const char *way)
{
    struct wr_str command = {0};

    wr_str_addf(&command, "'%s' %s '%s'", l->ways, way, l->data);
    int status = system(command.s);

    wr_str_fini(&command);
    fixture_clear(l->data);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Numbers and count of descriptors; umask, signal handlers and mask, locale, threads. */
static void a_program_is_what_it_would_be_without_the_library(void **state)
{
    static const char *const about[] = {"descriptors", "self"};
    static const char *const clocks[] = {"sampled", "coarse", "precise"};
    struct prof_job j;
    struct fixture l;

    (void)state;
    fixture_needs_proc("descriptors and threads are counted there");
    fixture_open(&l);
    for (int i = 0; i < 2; i++) {
        int plain = without(&l, about[i]);

        for (int c = 0; c < 3; c++) {
            assert_int_equal(fixture_way(&l, &j, about[i], clocks[c]), plain);
            prof_job_fini(&j);
        }
    }
    fixture_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_is_found_exactly_by_the_sampler),
        cmocka_unit_test(every_way_is_found_exactly_with_the_coarse_clock),
        cmocka_unit_test(every_way_is_found_exactly_with_the_precise_clock),
        cmocka_unit_test(connections_count_as_storage_when_asked_for),
        cmocka_unit_test(a_program_is_what_it_would_be_without_the_library),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
