/* Equal runs are equal, and a difference is named. */
#include "unit/run_help.h"

#include <math.h>

/* What differs from the plain run; each test sets one. */
struct twist {
    uint64_t seed, packets;
    double slice;
    int64_t rank_elapsed;
    uint64_t link_bytes, latency;
    const char *input, *config, *extra, *cls, *entity;
    double accepted;
    enum run_status status;
    bool backwards; /* open the series in the other order */
};

static const struct twist plain = {.seed = 7,
                                   .packets = 5,
                                   .slice = 1.5,
                                   .rank_elapsed = 1000,
                                   .link_bytes = 4096,
                                   .latency = 777,
                                   .input = "a: 1\n",
                                   .config = "title: a\nload: 20 %\n",
                                   .cls = "local",
                                   .entity = "node:0",
                                   .accepted = 0.2,
                                   .status = RUN_COMPLETE};

static void put_slices(struct run *run, const struct twist *t)
{
    struct run_series s[2] = {
        {.entity = t->entity, .metric = "bytes", .unit = "B", .dt_ps = 10},
        {.entity = "node:1", .metric = "bytes", .unit = "B", .dt_ps = 10},
    };
    struct wr_err err = {0};
    uint32_t id[2];

    for (int i = 0; i < 2; i++)
        must(run_open_series(run, &s[i ^ t->backwards], &id[i ^ t->backwards], &err), err);
    for (int i = 0; i < 2; i++)
        must(run_put_slice(run, id[i], 0, 10, t->slice, &err), err);
}

static void make(const char *path, const struct twist *t)
{
    struct run_meta meta = {
        .kind = "sim", .command = path, .config = t->config, .seed = t->seed, .force = true};
    struct run_link link = {.src_kind = "router",
                            .dst_kind = "router",
                            .cls = t->cls,
                            .bytes = t->link_bytes,
                            .bytes_per_s = NAN};
    struct run_app app = {.app = 0, .name = "halo", .ranks = 1};
    struct run_rank rank = run_rank_unknown(0, 0);
    struct run_sweep point = {.series = "minimal", .load = 0.2, .accepted = t->accepted};
    struct wr_hist *hist = calloc(1, sizeof *hist);
    struct wr_err err = {0};
    struct run *run;

    wr_hist_add(hist, t->latency);
    rank.elapsed_ps = t->rank_elapsed;
    must(run_create(&run, path, &meta, &err), err);
    must(run_put_count(run, "packets", t->packets, "", &err), err);
    if (t->extra)
        must(run_put_count(run, t->extra, 1, "", &err), err);
    must(run_put_volatile(run, "rate", (double)rand(), "1/s", &err), err);
    must(run_put_input(run, "x.yaml", t->input, strlen(t->input), &err), err);
    put_slices(run, t);
    must(run_put_app(run, &app, &err), err);
    must(run_put_rank(run, &rank, &err), err);
    must(run_put_link(run, &link, &err), err);
    must(run_put_latency(run, RUN_ALL_APPS, "packet", hist, &err), err);
    must(run_put_sweep(run, &point, &err), err);
    must(run_finish(run, t->status, NULL, &err), err);
    free(hist);
}

static void equal_runs_are_the_same_although_their_times_and_files_differ(void **state)
{
    const struct place *p = *state;
    struct twist t = plain;
    struct wr_err err = {0};
    char other[128];

    snprintf(other, sizeof other, "%s/b.weir", p->dir);
    t.input = "a: 1 # one\n";
    make(p->path, &plain);
    make(other, &t);
    must(run_same(p->path, other, &err), err);
}

static void the_order_in_which_names_were_met_does_not_matter(void **state)
{
    const struct place *p = *state;
    struct twist t = plain;
    struct wr_err err = {0};
    char other[128];

    snprintf(other, sizeof other, "%s/b.weir", p->dir);
    t.backwards = true;
    make(p->path, &plain);
    make(other, &t);
    must(run_same(p->path, other, &err), err);
}

static void every_kind_of_difference_is_found_and_named(void **state)
{
    const struct place *p = *state;
    struct {
        const char *words;
        struct twist t;
    } twists[] = {
        {"meta(key = seed)", plain},
        {"summary(key = packets).value = 5", plain},
        {"slice(t_ps = 0, entity", plain},
        {"rank_stat(app = 0", plain},
        {"link_stat(src_kind", plain},
        {"latency", plain},
        {"extra", plain},
        {".class = local", plain},
        {"entity = node:0", plain},
        {"sweep(series = minimal", plain},
        {"meta(key = status)", plain},
        {"meta(key = config).value = load: 20 % in", plain},
    };
    char other[128];

    twists[0].t.seed = 8;
    twists[1].t.packets = 6;
    twists[2].t.slice = 1.25;
    twists[3].t.rank_elapsed = 1001;
    twists[4].t.link_bytes = 4097;
    twists[5].t.latency = 778;
    twists[6].t.extra = "extra";
    twists[7].t.cls = "global";
    twists[8].t.entity = "node:9";
    twists[9].t.accepted = 0.25;
    twists[10].t.status = RUN_INCOMPLETE;
    twists[11].t.config = "title: a\nload: 21 %\n";
    snprintf(other, sizeof other, "%s/b.weir", p->dir);
    make(p->path, &plain);
    for (size_t i = 0; i < sizeof twists / sizeof twists[0]; i++) {
        struct wr_err err = {0};

        make(other, &twists[i].t);
        assert_false(run_same(p->path, other, &err));
        if (!strstr(err.text, twists[i].words))
            fail_msg("\"%s\" does not say \"%s\"", err.text, twists[i].words);
        assert_int_equal(err.code, WR_CHECK);
        assert_false(run_same(other, p->path, &err));
    }
}

static void a_file_that_cannot_be_read_is_not_a_difference(void **state)
{
    const struct place *p = *state;
    struct wr_err err = {0};

    make(p->path, &plain);
    assert_false(run_same(p->path, "no/such.weir", &err));
    assert_int_equal(err.code, WR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(equal_runs_are_the_same_although_their_times_and_files_differ),
        IN_PLACE(the_order_in_which_names_were_met_does_not_matter),
        IN_PLACE(every_kind_of_difference_is_found_and_named),
        IN_PLACE(a_file_that_cannot_be_read_is_not_a_difference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
