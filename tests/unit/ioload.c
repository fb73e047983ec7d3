/* The built-in writer: every byte accounted for, nothing left behind, and a limit that holds. */
#include "run_help.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "ioload/ioload.h"

static struct ioload_opts small(const struct place *at)
{
    return (struct ioload_opts){.dir = at->dir,
                                .processes = 3,
                                .block_b = 10000,
                                .total_b = 1000001,
                                .span_b = 1 << 20,
                                .sync = IOLOAD_SYNC_END,
                                .slice_ns = 10000000};
}

static uint64_t sum_of(const struct ioload_result *r)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < r->n; i++)
        bytes += r->rank[i].write_b;
    return bytes;
}

static void assert_cells_add_up(const struct ioload_result *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        struct ioload_cell sum = {0};

        for (size_t k = 0; k < r->nslices; k++) {
            const struct ioload_cell *c = &r->cell[i * r->stride + k];

            sum.write_b += c->write_b;
            sum.write_calls += c->write_calls;
            sum.write_ns += c->write_ns;
            sum.sync_calls += c->sync_calls;
            sum.sync_ns += c->sync_ns;
            assert_true(c->write_ns + c->sync_ns <= (uint64_t)r->slice_ns);
        }
        assert_int_equal(sum.write_b, r->rank[i].write_b);
        assert_int_equal(sum.write_calls, r->rank[i].write_calls);
        assert_int_equal(sum.sync_calls, r->rank[i].sync_calls);
        /* A call of no time takes a nanosecond. */
        assert_in_range(sum.write_ns, r->rank[i].write_ns,
                        r->rank[i].write_ns + r->rank[i].write_calls);
        assert_in_range(sum.sync_ns, r->rank[i].sync_ns,
                        r->rank[i].sync_ns + r->rank[i].sync_calls);
    }
}

static int files_in(const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;

    for (struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static void every_byte_is_written_and_lies_in_a_slice(void **state)
{
    struct place *at = *state;

    for (int file = 0; ioload_file_names[file]; file++)
        for (int sync = 0; ioload_sync_names[sync]; sync++) {
            struct ioload_opts o = small(at);
            struct ioload_result r;
            struct wr_err err = {0};

            o.file = (enum ioload_file)file;
            o.sync = (enum ioload_sync)sync;
            must(ioload_run(&r, &o, &err), err);
            assert_int_equal(sum_of(&r), o.total_b);
            assert_int_equal(r.rank[0].write_b, 333334); /* the parts differ by a byte at most */
            assert_int_equal(r.rank[2].write_b, 333333);
            assert_int_equal(r.rank[0].write_calls, 34);
            assert_int_equal(r.rank[0].sync_calls, sync == IOLOAD_SYNC_NONE  ? 0
                                                   : sync == IOLOAD_SYNC_END ? 1
                                                                             : 35);
            assert_cells_add_up(&r);
            assert_int_equal(r.origin_ns % r.slice_ns, 0);
            assert_false(r.interrupted);
            ioload_fini(&r);
            assert_int_equal(files_in(at->dir), 0);
        }
}

static void processes_begin_together_when_they_are_signalled(void **state)
{
    struct ioload_opts o = small(*state);
    struct ioload_result r;
    struct wr_err err = {0};
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    o.begin_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + 150000000;
    must(ioload_run(&r, &o, &err), err);
    for (uint32_t i = 0; i < r.n; i++)
        assert_true(r.rank[i].begin_ns >= o.begin_ns);
    assert_int_equal(r.origin_ns, o.begin_ns / o.slice_ns * o.slice_ns);
    ioload_fini(&r);
}

static void a_rate_is_kept_and_a_time_ends_the_load(void **state)
{
    struct ioload_opts o = small(*state);
    struct ioload_result r;
    struct wr_err err = {0};

    o.total_b = 0;
    o.length_s = 0.4;
    o.rate_bps = 3e6;
    o.span_b = 40000; /* begins again many times */
    must(ioload_run(&r, &o, &err), err);
    /* Blocks are due at 0, 10, ... 390 ms: at most 40 of each process, fewer on a busy machine. */
    for (uint32_t i = 0; i < r.n; i++)
        assert_in_range(r.rank[i].write_calls, 1, 40);
    assert_cells_add_up(&r);
    ioload_fini(&r);
}

static bool at_once(void)
{
    return true;
}

static void a_load_that_is_stopped_keeps_what_it_did(void **state)
{
    struct place *at = *state;
    struct ioload_opts o = small(at);
    struct ioload_result r;
    struct wr_err err = {0};

    o.total_b = 0;
    o.length_s = 3600;
    o.stop = at_once;
    must(ioload_run(&r, &o, &err), err);
    assert_true(r.interrupted);
    assert_cells_add_up(&r);
    ioload_fini(&r);
    assert_int_equal(files_in(at->dir), 0);
}

static void the_run_file_holds_the_slices(void **state)
{
    struct place *at = *state;
    struct ioload_opts o = small(at);
    struct ioload_job job = {.name = "writer", .workload = "x", .node = 7};
    struct ioload_result r;
    struct wr_err err = {0};

    must(ioload_run(&r, &o, &err), err);
    struct run *run = create(at->path);

    must(ioload_put(run, &r, &o, &job, &err), err);
    complete(run);
    struct run_reader *in = reopen(at->path);

    assert_true(number(in, "SELECT sum(value) FROM slice WHERE metric = 'write_bytes'") == 1000001);
    assert_true(number(in, "SELECT sum(value) FROM slice WHERE metric = 'write_bytes'"
                           " AND entity = 'rank:0.1'") == (double)r.rank[1].write_b);
    assert_true(number(in, "SELECT value FROM summary WHERE key = 'epoch_ns'") ==
                (double)r.origin_ns);
    assert_line(in, "SELECT name, ranks, bytes_written FROM app_stat", "writer|3|1000001");
    assert_line(in, "SELECT node, count(*) FROM rank_stat GROUP BY node", "7|3");
    assert_line(in, "SELECT value FROM summary WHERE key = 'file_mode'", "private");
    run_close(in);
    ioload_fini(&r);
}

/* ---- the limited path, in a process of its own ---- */

static pid_t limit(const char *socket, double rate_bps)
{
    pid_t pid = fork();

    if (!pid) {
        struct ioload_limit l = {.path = socket, .rate_bps = rate_bps, .length_s = 60};
        struct ioload_carried got;
        struct wr_err err = {0};

        _exit(!ioload_limit_serve(&got, &l, &err));
    }
    for (int i = 0; i < 1000 && access(socket, F_OK); i++) {
        struct timespec delay = {.tv_nsec = 5000000};

        nanosleep(&delay, NULL);
    }
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void a_limited_path_carries_no_more_than_its_limit(void **state)
{
    struct place *at = *state;
    struct ioload_opts o = small(at);
    struct ioload_result r;
    struct wr_err err = {0};

    o.total_b = 3000000;
    o.through = at->path;
    for (int one = 0; one < 2; one++) {
        pid_t server = limit(at->path, 10e6);
        uint64_t from = wr_clock_ns();

        o.one_connection = one;
        must(ioload_run(&r, &o, &err), err);
        double s = (double)(wr_clock_ns() - from) / 1e9;

        end(server);
        unlink(at->path);
        assert_int_equal(sum_of(&r), 3000000);
        assert_cells_add_up(&r);
        /* A hundredth of a second's worth is saved up at the beginning. */
        if (s < 0.28)
            fail_msg("3 MB took %g s at 10 MB/s", s);
        ioload_fini(&r);
    }
}

/* Each of the three processes has a connection, so each gets a third while all write. */
static void a_limited_path_serves_connections_alike(void **state)
{
    struct place *at = *state;
    struct ioload_opts o = small(at);
    struct ioload_result r;
    struct wr_err err = {0};
    pid_t server = limit(at->path, 8e6);

    o.total_b = 0;
    o.length_s = 0.5;
    o.block_b = 50000;
    o.through = at->path;
    must(ioload_run(&r, &o, &err), err);
    end(server);
    for (uint32_t i = 0; i < r.n; i++) {
        double part = (double)r.rank[i].write_b / (double)sum_of(&r);

        if (part < 0.25 || part > 0.42)
            fail_msg("process %u got %g of all", i, part);
    }
    ioload_fini(&r);
}

static void what_cannot_be_run_is_refused(void **state)
{
    struct place *at = *state;
    struct wr_err err = {0};
    struct ioload_result r;
    struct {
        struct ioload_opts o;
        const char *word;
    } bad[] = {{small(at), "processes"}, {small(at), "block"},      {small(at), "no end"},
               {small(at), "slice"},     {small(at), "span"},       {small(at), "directory"},
               {small(at), "io-limit"},  {small(at), "direct I/O"}, {small(at), "free space"}};

    bad[0].o.processes = 0;
    bad[1].o.block_b = 0;
    bad[2].o.total_b = 0;
    bad[3].o.slice_ns = 10;
    bad[4].o.span_b = 1;
    bad[5].o.dir = "/nowhere/at/all";
    bad[6].o.through = "/nowhere/at/all";
    bad[7].o.direct = true;
    bad[8].o.total_b = bad[8].o.span_b = 1ull << 60;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        err = (struct wr_err){0};
        assert_false(ioload_run(&r, &bad[i].o, &err));
        if (!strstr(err.text, bad[i].word))
            fail_msg("\"%s\" does not speak of %s", err.text, bad[i].word);
    }
    assert_int_equal(files_in(at->dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(every_byte_is_written_and_lies_in_a_slice),
        IN_PLACE(processes_begin_together_when_they_are_signalled),
        IN_PLACE(a_rate_is_kept_and_a_time_ends_the_load),
        IN_PLACE(a_load_that_is_stopped_keeps_what_it_did),
        IN_PLACE(the_run_file_holds_the_slices),
        IN_PLACE(a_limited_path_carries_no_more_than_its_limit),
        IN_PLACE(a_limited_path_serves_connections_alike),
        IN_PLACE(what_cannot_be_run_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
