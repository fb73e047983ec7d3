/* Tables of slices: the measured runs as their summary knows them, and what is refused. */
#include "interference_help.h"

#include "base/csv.h"
#include "interference/import.h"

static const char slices_path[] = WEIR_SOURCE_DIR "/tests/data/interfere/nfs_slices_250ms.csv.zst";
static const char summary_path[] = WEIR_SOURCE_DIR "/tests/data/interfere/nfs_summary.csv";

/* A row of the summary, read apart from the import. */
enum { RUN, APP, MODE, REP, LOAD, NP, NODES, MIB, START, RUNTIME, RATE, ACTIVE_S, WIRE, COUNT };
static const char *const names[COUNT] = {"run",
                                         "app",
                                         "mode",
                                         "rep",
                                         "load1",
                                         "np",
                                         "nodes",
                                         "mib",
                                         "start_s",
                                         "runtime_s",
                                         "throughput_mib_s",
                                         "allactive_s",
                                         "wire_allactive_mib_s"};

struct known {
    char run[64], app[8];
    double v[COUNT];
};

struct all_known {
    struct known v[128];
    size_t n;
};

static void add_known(void *ctx, const char *const *text, const double *col)
{
    struct all_known *k = ctx;
    struct known *row = &k->v[k->n++];

    snprintf(row->run, sizeof row->run, "%s", text[RUN]);
    snprintf(row->app, sizeof row->app, "%s", text[APP]);
    memcpy(row->v, col, sizeof row->v);
}

static void read_known(struct all_known *k)
{
    struct wr_csv_shape shape = {
        .names = names, .n = COUNT, .needed = COUNT, .row = add_known, .texts = 7};
    struct wr_err err = {0};

    must(wr_csv_read(&shape, summary_path, k, &err), err);
}

static void import_all(const char *dir)
{
    struct interference_import im;
    struct wr_err err = {0};
    size_t n = 0;

    must(interference_import_read(&im, slices_path, 0, &err), err);
    assert_true(im.slice_s == 0.25);
    must(interference_import_jobs(&im, summary_path, &err), err);
    must(interference_import_write(&im, &(struct interference_import_to){.path = dir}, &n, &err),
         err);
    assert_int_equal(n, 48);
    interference_import_fini(&im);
}

static const struct interference_job *find(const struct interference_set *s, const char *name)
{
    for (size_t i = 0; i < s->njobs; i++)
        if (!strcmp(s->job[i].name, name))
            return &s->job[i];
    fail_msg("no job %s", name);
    return NULL;
}

/* Volume, processes, nodes and run time exactly; how long all clients were active within a slice;
 * the throughput of the job that ended first, which has put everything on the wire by then, within
 * 5 %. */
static void the_measured_runs_are_as_their_summary_says(void **state)
{
    struct place *p = *state;
    struct all_known *known = calloc(1, sizeof *known);
    double off = 0;
    size_t jobs = 0, firsts = 0;

    read_known(known);
    assert_int_equal(known->n, 75);
    import_all(p->path);
    for (size_t i = 0; i < known->n; i++) {
        const struct known *k = &known->v[i];
        char path[256];
        const char *list = path;
        struct interference_set s;
        struct interference_analysis a;
        struct wr_err err = {0};

        snprintf(path, sizeof path, "%s/%s.weir", p->path, k->run);
        must(interference_load(&s, &list, 1, &(struct interference_load){0}, &err), err);
        const struct interference_job *j = find(&s, k->app);

        assert_true(fabs(j->volume_b / (1 << 20) - k->v[MIB]) < 1e-3);
        assert_int_equal(j->nranks, (size_t)k->v[NP]);
        assert_int_equal(j->nnodes, (size_t)k->v[NODES]);
        assert_true(fabs(j->runtime_s - k->v[RUNTIME]) < 1e-9);
        assert_true(fabs(j->volume_b / j->runtime_s / (1 << 20) - k->v[RATE]) < 0.006);
        interference_analyse(&a, &s, NULL, INTERFERENCE_NODES);
        if (!(fabs(a.overlap_s - k->v[ACTIVE_S]) <= 0.2601))
            fail_msg("%s: all are active for %g s, %g are known", k->run, a.overlap_s,
                     k->v[ACTIVE_S]);
        if (fabs(k->v[RUNTIME] - k->v[ACTIVE_S]) < 0.02) {
            double got = a.job[j - s.job].overlap_bps.mid / (1 << 20);

            firsts++;
            if (fabs(got / k->v[WIRE] - 1) > 0.05)
                fail_msg("%s: %s gets %g, %g is known", k->run, k->app, got, k->v[WIRE]);
        }
        interference_analysis_fini(&a);
        interference_analyse(&a, &s, NULL, INTERFERENCE_ALL_PROCESSES);
        off += fabs(a.job[j - s.job].overlap_bps.mid / (1 << 20) / k->v[WIRE] - 1);
        jobs++;
        interference_analysis_fini(&a);
        interference_set_fini(&s);
    }
    assert_true(firsts > 30);
    /* What processes hand to their client in the overlap against what the wire carries. */
    if (off / (double)jobs > 0.06)
        fail_msg("throughput in the overlap is off by %g on average", off / (double)jobs);
    free(known);
}

static bool parse(const char *text, double slice_s, struct wr_err *err)
{
    struct interference_import im;

    *err = (struct wr_err){0};
    if (!interference_import_parse(&im, "t.csv", text, strlen(text), slice_s, err))
        return false;
    interference_import_fini(&im);
    return true;
}

static void what_cannot_be_imported_is_refused(void **state)
{
    static const struct {
        const char *text, *word;
    } bad[] = {
        {"", "t.csv:1:1"},
        {"app,bytes\n", "no rows"},
        {"app,bytes\nA,1\n", "no time"},
        {"app,bytes,t_s\nA,1,0\nA,1,\n", "no time"},
        {"app,bytes,t_s,slice_start_epoch\nA,1,0,\nA,1,,5\n", "leave one"},
        {"app,bytes,t_s\nA,1,0\n", "set slice"},
        {"app,bytes,t_s\nA,1,0\nA,1,1\nA,1,1.7\n", "set slice"},
        {"app,bytes,t_s\nA,1,0\nA,2,0\nA,1,1\n", "two rows"},
        {"app,bytes,t_s\n,1,0\nA,2,1\n", "names no app"},
        {"app,bytes,t_s\nA,-1,0\nA,2,1\n", "below 0"},
        {"app,bytes,t_s,rank\nA,1,0,-1\nA,2,1,0\n", "from 0"},
        {"app,bytes,t_s,rank\nA,1,0,0.5\nA,2,1,0\n", "from 0"},
        {"app,bytes,t_s,run\nA,1,0,../x\nA,2,1,y\n", "no name for a file"},
        {"app,bytes,t_s\nA,x,0\n", "t.csv:2:3"},
        {"app,byts,t_s\nA,1,0\n", "did you mean bytes"},
    };
    struct wr_err err;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (parse(bad[i].text, 0, &err))
            fail_msg("row %zu was taken", i);
        if (!strstr(err.text, bad[i].word) || strncmp(err.text, "t.csv", 5) != 0)
            fail_msg("\"%s\" does not speak of \"%s\"", err.text, bad[i].word);
    }
    assert_true(parse("app,bytes,t_s\nA,1,0\n", 1, &err));
}

static void a_damaged_compression_is_refused(void **state)
{
    char path[] = "/tmp/weir-import-XXXXXX";
    struct interference_import im;
    struct wr_err err;
    int fd = mkstemp(path);

    (void)state;
    assert_int_equal(write(fd, "\x28\xb5\x2f\xfd garbage", 12), 12);
    close(fd);
    assert_false(interference_import_read(&im, path, 0, &err));
    unlink(path);
    assert_int_equal(err.code, WR_INPUT);
    assert_non_null(strstr(err.text, "compression"));
}

/* One process writes 1, 2, 0, 4 bytes; another tool's columns in another order. */
static void a_table_becomes_a_run(void **state)
{
    struct place *p = *state;
    static const char text[] = "t_s,bytes,app,node,rank,read_bytes,fsync_s\n"
                               "2,1,A,7,0,10,0.5\n3,2,A,7,0,,\n5,4,A,7,0,,\n"
                               "2,8,A,8,0,,\n3,8,A,8,0,,\n2,100,B,8,0,,\n";
    struct interference_import im;
    struct wr_err err = {0};
    size_t n = 0;

    must(interference_import_parse(&im, "t", text, strlen(text), 0, &err), err);
    must(interference_import_write(
             &im, &(struct interference_import_to){.path = p->path, .mode = "shared"}, &n, &err),
         err);
    interference_import_fini(&im);
    struct run_reader *r = reopen(p->path);

    assert_line(r, "SELECT name, ranks, bytes_written, bytes_read FROM app_stat WHERE app = 0",
                "A|2|23|10");
    assert_line(r, "SELECT group_concat(node) FROM rank_stat", "7,8,8");
    assert_line(r,
                "SELECT group_concat((t_ns / 1e9) || '=' || value) FROM (SELECT * FROM slice WHERE "
                "entity = 'rank:0.0' AND metric = 'write_bytes' ORDER BY t_ns)",
                "2.0=1.0,3.0=2.0,5.0=4.0");
    assert_true(number(r, "SELECT sum(value) FROM slice WHERE metric = 'sync_time'") == 5e8);
    assert_line(r, "SELECT value FROM summary WHERE key = 'file_mode'", "shared");
    run_close(r);
}

/* The second file exists, so the first is taken back. */
static void either_all_runs_are_written_or_none(void **state)
{
    struct place *p = *state;
    static const char text[] = "run,t_s,bytes,app\nx,1,1,A\nx,2,1,A\ny,1,1,A\n";
    struct interference_import im;
    struct wr_err err = {0};
    char path[200];
    size_t n = 0;

    snprintf(path, sizeof path, "%s/y.weir", p->dir);
    complete(create(path));
    must(interference_import_parse(&im, "t", text, strlen(text), 0, &err), err);
    struct interference_import_to to = {.path = p->dir};

    assert_false(interference_import_write(&im, &to, &n, &err));
    snprintf(path, sizeof path, "%s/x.weir", p->dir);
    assert_int_not_equal(access(path, F_OK), 0);
    to.only = "x*";
    must(interference_import_write(&im, &to, &n, &err), err);
    assert_int_equal(n, 1);
    to.only = "z*";
    assert_false(interference_import_write(&im, &to, &n, &err));
    interference_import_fini(&im);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(the_measured_runs_are_as_their_summary_says),
        cmocka_unit_test(what_cannot_be_imported_is_refused),
        cmocka_unit_test(a_damaged_compression_is_refused),
        IN_PLACE(a_table_becomes_a_run),
        IN_PLACE(either_all_runs_are_written_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
