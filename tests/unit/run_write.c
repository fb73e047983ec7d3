/* What makers put is what the views give back. */
#include "unit/run_help.h"

#include "run/slices.h"

#include <math.h>

#include "base/rng.h"
#include "base/version.h"

static void a_finished_run_says_what_made_it(void **state)
{
    const char *path = ((struct place *)*state)->path;
    struct run_meta meta = {
        .kind = "sim", .command = "weir run a.yaml", .config = "seed: 1\n", .seed = UINT64_MAX};
    struct wr_err err = {0};
    struct run *run;

    must(run_create(&run, path, &meta, &err), err);
    complete(run);

    struct run_reader *r = reopen(path);
    const struct run_info *info = run_info(r);
    assert_int_equal(info->status, RUN_COMPLETE);
    assert_string_equal(info->kind, "sim");
    assert_string_equal(info->command, "weir run a.yaml");
    assert_string_equal(info->config, "seed: 1\n");
    assert_string_equal(info->weir_version, wr_version());
    assert_true(info->seed == UINT64_MAX);
    assert_int_equal(info->pid, getpid());
    assert_int_equal(strlen(info->started), strlen("2026-01-01T00:00:00Z"));
    assert_true(number(r, "SELECT value FROM summary WHERE key = 'wall_s'") >= 0);
    assert_true(number(r, "SELECT value FROM summary WHERE key = 'max_rss_bytes'") > 1e5);
    run_close(r);
}

static void every_promised_view_begins_with_its_columns(void **state)
{
    const char *path = ((struct place *)*state)->path;
    struct wr_err err = {0};

    complete(create(path));
    struct run_reader *r = reopen(path);
    for (const struct run_view *v = run_views; v->name; v++) {
        struct wr_str sql = {0}, names = {0};
        struct run_rows *q;

        wr_str_addf(&sql, "SELECT * FROM %s", v->name);
        must(run_query(&q, r, sql.s, NULL, 0, &err), err);
        for (int i = 0; i < run_rows_cols(q); i++)
            wr_str_addf(&names, "%s%s", i ? "," : "", run_rows_name(q, i));
        run_rows_close(q);
        assert_memory_equal(names.s, v->columns, strlen(v->columns));
        assert_true(names.s[strlen(v->columns)] == ',' || !names.s[strlen(v->columns)]);
        wr_str_fini(&sql);
        wr_str_fini(&names);
    }
    run_close(r);
}

static void what_programs_leave_is_kept(void **state)
{
    const char *path = ((struct place *)*state)->path;
    struct wr_err err = {0};
    struct run *run = create(path);
    struct run_log log = {.app = 1,
                          .rank = 7,
                          .table = 2,
                          .column = 5,
                          .row = 3,
                          .title = "Bytes",
                          .aggregate = "(mean)",
                          .value = 2.5};

    must(run_put_coll(run, 1, 7, "allreduce", 20, 1500, &err), err);
    must(run_put_cause(run, 1, 7, "io", "device", 4500, &err), err);
    must(run_put_mark(run, 1, 7, 4, 2500, &err), err);
    must(run_put_log(run, &log, &err), err);
    must(run_put_output(run, 1, 7, 3500, "hello", &err), err);
    complete(run);
    struct run_reader *r = reopen(path);
    assert_line(r, "SELECT app, rank, coll, n, time_ns FROM coll_stat", "1|7|allreduce|20|1.5");
    assert_line(r, "SELECT app, rank, during, cause, time_ns FROM cause_stat", "1|7|io|device|4.5");
    assert_line(r, "SELECT app, rank, mark, t_ns FROM mark", "1|7|4|2.5");
    assert_line(r, "SELECT tab, col, title, aggregate, row, value FROM log",
                "2|5|Bytes|(mean)|3|2.5");
    assert_line(r, "SELECT app, rank, t_ns, text FROM output", "1|7|3.5|hello");
    run_close(r);
}

/* The part of the page between "## view" and the next heading. */
static char *section_of(const char *page, const char *view)
{
    char head[64];

    snprintf(head, sizeof head, "\n## %s\n", view);
    const char *from = strstr(page, head);
    if (!from) {
        fail_msg("docs/formats/run-file.md has no section on %s", view);
        return NULL;
    }
    const char *to = strstr(from + 1, "\n## ");
    return strndup(from, to ? (size_t)(to - from) : strlen(from));
}

static void every_column_of_every_view_is_documented(void **state)
{
    const char *path = ((struct place *)*state)->path;
    FILE *f = fopen(WEIR_SOURCE_DIR "/docs/formats/run-file.md", "r");
    struct wr_err err = {0};
    char *page = NULL;
    size_t cap = 0;

    assert_non_null(f);
    assert_true(getdelim(&page, &cap, '\0', f) > 0);
    fclose(f);
    complete(create(path));
    struct run_reader *r = reopen(path);
    for (const struct run_view *v = run_views; v->name; v++) {
        char *section = section_of(page, v->name), sql[64], quoted[64];
        struct run_rows *q;

        snprintf(sql, sizeof sql, "SELECT * FROM %s", v->name);
        must(run_query(&q, r, sql, NULL, 0, &err), err);
        for (int i = 0; i < run_rows_cols(q); i++) {
            snprintf(quoted, sizeof quoted, "`%s`", run_rows_name(q, i));
            if (!strstr(section, quoted))
                fail_msg("the section on %s does not mention %s", v->name, quoted);
        }
        run_rows_close(q);
        free(section);
    }
    run_close(r);
    free(page);
}

static void a_summary_line_put_again_replaces_the_first(void **state)
{
    const char *path = ((struct place *)*state)->path;
    struct wr_err err = {0};
    struct run *run = create(path);

    must(run_put_count(run, "packets", 1, "", &err), err);
    must(run_put_real(run, "sim_end_ns", 0.5, "ns", &err), err);
    must(run_put_text(run, "why", "because", &err), err);
    must(run_put_count(run, "packets", UINT64_C(1) << 53 | 1, "", &err), err);
    must(run_put_real(run, "unknown", NAN, "ns", &err), err);
    complete(run);

    struct run_reader *r = reopen(path);
    assert_line(r, "SELECT * FROM summary", "packets|9007199254740993||0");
    assert_line(r, "SELECT * FROM summary WHERE key = 'sim_end_ns'", "sim_end_ns|0.5|ns|0");
    assert_line(r, "SELECT * FROM summary WHERE key = 'why'", "why|because||0");
    assert_true(is_null(r, "SELECT value FROM summary WHERE key = 'unknown'"));
    run_close(r);
}

static const struct {
    const char *col;
    double q;
} quantiles[] = {{"p01", 0.01}, {"p25", 0.25}, {"p50", 0.5},   {"p75", 0.75},
                 {"p90", 0.9},  {"p99", 0.99}, {"p999", 0.999}};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void check_latency(struct run_reader *r, const char *cls, const struct wr_hist *h,
                          double *sorted)
{
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
        char sql[128];
        double exact = sorted[(size_t)(quantiles[i].q * (double)(h->n - 1) + 0.5)] / 1000;

        snprintf(sql, sizeof sql, "SELECT %s_ns FROM latency WHERE class = '%s'", quantiles[i].col,
                 cls);
        double got = number(r, sql), want = wr_hist_quantile(h, quantiles[i].q) / 1000;
        assert_true(fabs(got - want) <= 1e-9 * want);
        assert_true(fabs(got - exact) <= 0.01 * exact);
    }
}

static void percentiles_of_the_view_are_those_of_the_histogram(void **state)
{
    enum { N = 20000 };
    const char *path = ((struct place *)*state)->path, *classes[] = {"wide", "narrow", "one"};
    struct wr_err err = {0};
    struct run *run = create(path);
    struct wr_hist *hist[3];
    double *value[3];
    struct wr_rng rng;

    wr_rng_init(&rng, 1, 0, 0);
    for (int k = 0; k < 3; k++) {
        size_t n = k == 2 ? 1 : N;

        hist[k] = calloc(1, sizeof *hist[k]);
        value[k] = calloc(n, sizeof *value[k]);
        for (size_t i = 0; i < n; i++) {
            value[k][i] = floor(k ? 500 + 300 * wr_rng_unit(&rng) : 1e6 * exp(wr_rng_normal(&rng)));
            wr_hist_add(hist[k], (uint64_t)value[k][i]);
        }
        qsort(value[k], n, sizeof *value[k], by_value);
        must(run_put_latency(run, k - 1, classes[k], hist[k], &err), err);
    }
    complete(run);

    struct run_reader *r = reopen(path);
    for (int k = 0; k < 3; k++) {
        char sql[256];

        check_latency(r, classes[k], hist[k], value[k]);
        snprintf(sql, sizeof sql, "SELECT mean_ns * 1000 FROM latency WHERE class = '%s'",
                 classes[k]);
        assert_true(fabs(number(r, sql) - wr_hist_mean(hist[k])) <= 1e-12 * wr_hist_mean(hist[k]));
        snprintf(sql, sizeof sql,
                 "SELECT n = %.0f AND min_ns = %.3f AND max_ns = %.3f FROM latency"
                 " WHERE class = '%s'",
                 (double)hist[k]->n, (double)hist[k]->min / 1000, (double)hist[k]->max / 1000,
                 classes[k]);
        assert_true(number(r, sql) == 1);
        snprintf(sql, sizeof sql, "SELECT sum(n) FROM latency_hist WHERE class = '%s'", classes[k]);
        assert_true(number(r, sql) == (double)hist[k]->n);
        free(hist[k]);
        free(value[k]);
    }
    assert_true(is_null(r, "SELECT app FROM latency WHERE class = 'wide'"));
    assert_true(number(r, "SELECT app FROM latency WHERE class = 'one'") == 1);
    assert_true(number(r, "SELECT count(*) FROM latency_hist WHERE high_ns <= low_ns") == 0);
    run_close(r);
}

static void an_empty_histogram_has_no_percentiles(void **state)
{
    const char *path = ((struct place *)*state)->path;
    struct wr_hist *h = calloc(1, sizeof *h);
    struct wr_err err = {0};
    struct run *run = create(path);

    must(run_put_latency(run, RUN_ALL_APPS, "packet", h, &err), err);
    complete(run);
    free(h);

    struct run_reader *r = reopen(path);
    assert_line(r, "SELECT * FROM latency", "|packet|0||||||||||");
    run_close(r);
}

static void an_application_is_the_sum_of_its_ranks(void **state)
{
    const char *path = ((struct place *)*state)->path;
    struct wr_err err = {0};
    struct run *run = create(path);

    for (uint32_t app = 0; app < 2; app++) {
        struct run_app a = {.app = app, .name = app ? "lu" : "halo", .ranks = 4, .start_ps = 1500};

        must(run_put_app(run, &a, &err), err);
    }
    for (uint64_t i = 0; i < 4; i++) {
        struct run_rank rank = run_rank_unknown(1, i);

        rank.node = (int64_t)(10 + i);
        rank.msgs_sent = 2;
        rank.bytes_sent = 1000;
        rank.elapsed_ps = (int64_t)(1000 * i + 1);
        must(run_put_rank(run, &rank, &err), err);
    }
    complete(run);

    struct run_reader *r = reopen(path);
    assert_line(r,
                "SELECT app, name, ranks, msgs_sent, bytes_sent, elapsed_ns, elapsed_mean_ns,"
                " start_ns FROM app_stat WHERE app = 1",
                "1|lu|4|8|4000|3.001|1.501|1.5");
    assert_true(is_null(r, "SELECT elapsed_ns FROM app_stat WHERE app = 0"));
    assert_line(r, "SELECT node, elapsed_ns, app_name FROM rank_stat WHERE rank = 2",
                "12|2.001|lu");
    assert_true(is_null(r, "SELECT io_ns FROM rank_stat WHERE rank = 2"));
    run_close(r);
}

static void links_keep_picoseconds_and_know_their_utilization(void **state)
{
    const char *path = ((struct place *)*state)->path;
    struct wr_err err = {0};
    struct run *run = create(path);
    struct run_link l = {.src_kind = "node",
                         .dst_kind = "router",
                         .cls = "inject",
                         .src = 3,
                         .dst = 1,
                         .port = 0,
                         .bytes = 4096,
                         .packets = 1,
                         .busy_ps = 726600,
                         .saturated_ps = 1,
                         .bytes_per_s = 16e9};

    must(run_put_link(run, &l, &err), err);
    l = (struct run_link){.src_kind = "router",
                          .dst_kind = "node",
                          .cls = "eject",
                          .src = 1,
                          .dst = 3,
                          .port = 5,
                          .bytes_per_s = NAN};
    must(run_put_link(run, &l, &err), err);
    must(run_put_real(run, "sim_end_ns", 1453.2, "ns", &err), err);
    complete(run);

    struct run_reader *r = reopen(path);
    assert_line(r, "SELECT * FROM link_stat WHERE src_kind = 'node'",
                "node|3|router|1|inject|0|4096|1|726.6|0.001|0.5|16000000000.0|node:3.0");
    assert_line(r, "SELECT dst_kind, dst, class, entity FROM link_stat WHERE src = 1",
                "node|3|eject|router:1.5");
    assert_true(is_null(r, "SELECT bytes_per_s FROM link_stat WHERE src = 1"));
    run_close(r);
}

static void a_slice_of_the_usual_width_and_a_last_short_one_both_come_back(void **state)
{
    const char *path = ((struct place *)*state)->path;
    struct run_series s = {
        .entity = "class:global", .metric = "bytes", .unit = "B", .dt_ps = 1000000};
    struct wr_err err = {0};
    struct run *run = create(path);
    uint32_t id, again, other;

    must(run_open_series(run, &s, &id, &err), err);
    must(run_open_series(run, &s, &again, &err), err);
    assert_int_equal(id, again);
    s.metric = "packets";
    must(run_open_series(run, &s, &other, &err), err);
    assert_int_not_equal(id, other);

    must(run_put_slice(run, id, 0, 1000000, 1.5, &err), err);
    must(run_put_slice(run, other, 0, 1000000, 2, &err), err);
    must(run_put_slice(run, id, 1000000, 250001, NAN, &err), err);
    complete(run);

    struct run_reader *r = reopen(path);
    assert_line(r, "SELECT * FROM slice WHERE metric = 'bytes' AND t_ns = 0",
                "0.0|1000.0|class:global|bytes|1.5|B");
    assert_line(r, "SELECT * FROM slice WHERE t_ns > 0", "1000.0|250.001|class:global|bytes||B");
    assert_true(number(r, "SELECT count(*) FROM slice") == 3);
    run_close(r);
}

static void a_thousand_names_each_find_their_own_series(void **state)
{
    enum { N = 1000 };
    const char *path = ((struct place *)*state)->path;
    struct wr_err err = {0};
    struct run *run = create(path);
    uint32_t id[N], again;

    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < N; i++) {
            char entity[32];
            struct run_series s = {.entity = entity, .metric = "depth", .unit = "", .dt_ps = 1};

            snprintf(entity, sizeof entity, "router:%u", i);
            must(run_open_series(run, &s, pass ? &again : &id[i], &err), err);
            if (pass)
                assert_int_equal(id[i], again);
            else
                must(run_put_slice(run, id[i], 5, 1, i, &err), err);
        }
    complete(run);

    struct run_reader *r = reopen(path);
    assert_true(number(r, "SELECT count(*) FROM slice WHERE entity = 'router:' ||"
                          " CAST(value AS INTEGER)") == N);
    run_close(r);
}

/* Two series of which one has a hole; the file as `status` ends it. */
static struct run_reader *make_long_run(const char *path, enum run_status status)
{
    struct wr_err err = {0};
    struct run_meta meta = plain_meta;
    uint32_t id[2];
    struct run *run;

    meta.force = true;
    must(run_create(&run, path, &meta, &err), err);
    for (int k = 0; k < 2; k++)
        must(run_open_series(run, &(struct run_series){k ? "app:1" : "app:0", "bytes", "B", 1000},
                             &id[k], &err),
             err);
    for (int64_t i = 0; i < RUN_GATHER_FROM; i++)
        for (int k = 0; k < 2; k++)
            if (!k || i / 100 != 3)
                must(run_put_slice(run, id[k], i * 1000, 1000, (double)(i % 7 - k), &err), err);
    must(run_finish(run, status, "stopped", &err), err);
    return reopen(path);
}

struct tally {
    double sum[3], most[3], n;
    int64_t last_ps;
};

static bool count_heap(void *ctx, const struct run_heap *h)
{
    struct tally *t = ctx;

    t->sum[h->series] += h->sum;
    t->most[h->series] = h->most > t->most[h->series] ? h->most : t->most[h->series];
    t->n += h->n;
    assert_true(h->t_ps >= t->last_ps);
    t->last_ps = h->t_ps;
    return true;
}

static void slices_of_a_long_run_are_gathered_and_none_is_lost(void **state)
{
    struct place *p = *state;
    struct run_reader *r = make_long_run(p->path, RUN_COMPLETE);
    const uint32_t both[] = {0, 1, 1}, one[] = {0, 0, 1};
    struct run_slices s;
    struct wr_err err;

    must(run_slices(&s, r, &err), err);
    assert_true(s.gathered && s.n == RUN_GATHER_FROM && s.nseries == 2 && s.dt_ps == 1000);
    assert_true(number(r, "SELECT count(*) FROM fact_gather") < RUN_GATHER_FROM / 4 + 1);
    for (int k = 0; k < 4; k++) {
        struct tally t = {0};

        must(run_each_slice(r, &s, k < 2 ? both : one, 3, k % 2, count_heap, &t, &err), err);
        assert_true(t.n == (k < 2 ? 2.0 : 1.0) * RUN_GATHER_FROM - 100);
        assert_true(t.most[1] == (k < 2 ? 6 : 0) && t.most[2] == 5);
        assert_true(t.sum[2] == number(r, "SELECT sum(value) FROM slice WHERE entity = 'app:1'"));
    }
    run_close(r);
    /* One that was stopped has its slices alone. */
    r = make_long_run(p->path, RUN_INCOMPLETE);
    must(run_slices(&s, r, &err), err);
    assert_false(s.gathered);
    run_close(r);
}

static void a_slice_of_no_series_is_our_mistake(void **state)
{
    struct wr_err err = {0};
    struct run *run = create(((struct place *)*state)->path);

    assert_false(run_put_slice(run, 1, 0, 1, 1, &err));
    assert_int_equal(err.code, WR_BUG);
    complete(run);
}

static void inputs_come_back_whole(void **state)
{
    enum { BIG = 1 << 20 };
    const char *path = ((struct place *)*state)->path;
    struct wr_err err = {0};
    struct run *run = create(path);
    char *big = malloc(BIG), *noise = malloc(BIG), *got;
    struct wr_rng rng;
    size_t len;

    wr_rng_init(&rng, 1, 0, 0);
    for (int i = 0; i < BIG; i++) {
        big[i] = (char)(i % 251);
        noise[i] = (char)wr_rng_u32(&rng);
    }
    must(run_put_input(run, "small.yaml", "a: 1\n", 5, &err), err);
    must(run_put_input(run, "empty", "", 0, &err), err);
    must(run_put_input(run, "big", big, BIG, &err), err);
    must(run_put_input(run, "noise", noise, BIG, &err), err);
    complete(run);

    struct run_reader *r = reopen(path);
    const struct {
        const char *name, *codec, *content;
        size_t len;
    } want[] = {{"small.yaml", "raw", "a: 1\n", 5},
                {"empty", "raw", "", 0},
                {"big", "zstd", big, BIG},
                {"noise", "raw", noise, BIG}};
    for (int i = 0; i < 4; i++) {
        char sql[64];

        must(run_input(r, want[i].name, &got, &len, &err), err);
        assert_int_equal(len, want[i].len);
        assert_memory_equal(got, want[i].content, len);
        assert_int_equal(got[len], 0);
        free(got);
        snprintf(sql, sizeof sql, "SELECT codec FROM input WHERE path = '%s'", want[i].name);
        assert_line(r, sql, want[i].codec);
    }
    assert_false(run_input(r, "nothing", &got, &len, &err));
    assert_int_equal(err.code, WR_UNKNOWN);
    run_close(r);
    free(big);
    free(noise);
}

static void a_sweep_keeps_its_points_in_order(void **state)
{
    const char *path = ((struct place *)*state)->path;
    struct wr_err err = {0};
    struct run *run = create(path);
    struct run_sweep p = {.series = "valiant",
                          .load = 0.1,
                          .seed = UINT64_MAX,
                          .offered = 0.1,
                          .accepted = NAN,
                          .lat_mean_ns = 1234.5,
                          .packets = RUN_NULL,
                          .saturated = true};

    must(run_put_sweep(run, &p, &err), err);
    p.series = "minimal";
    p.seed = 1;
    must(run_put_sweep(run, &p, &err), err);
    complete(run);

    struct run_reader *r = reopen(path);
    assert_line(r,
                "SELECT series, load, offered, accepted, lat_mean_ns, saturated, seed, packets"
                " FROM sweep",
                "valiant|0.1|0.1||1234.5|1|18446744073709551615|");
    assert_true(number(r, "SELECT count(*) FROM sweep") == 2);
    run_close(r);
}

static void a_fact_put_twice_is_an_error_that_stays(void **state)
{
    struct wr_err err = {0}, second = {0};
    struct run *run = create(((struct place *)*state)->path);
    struct run_rank rank = run_rank_unknown(0, 0);

    must(run_put_rank(run, &rank, &err), err);
    assert_false(run_put_rank(run, &rank, &err));
    assert_false(run_put_count(run, "packets", 1, "", &second));
    assert_string_equal(err.text, second.text);
    assert_false(run_finish(run, RUN_COMPLETE, NULL, &second));
    assert_string_equal(err.text, second.text);

    struct run_reader *r = reopen(((struct place *)*state)->path);
    assert_int_equal(run_info(r)->status, RUN_FAILED);
    assert_string_equal(run_info(r)->reason, err.text);
    run_close(r);
}

static void a_command_line_can_be_given_to_a_shell_again(void **state)
{
    char *argv[] = {(char[]){"weir"}, (char[]){"run"},   (char[]){"it's"},
                    (char[]){""},     (char[]){"--set"}, (char[]){"a.b=4 KiB"}};
    struct wr_str out = {0};

    (void)state;
    run_command_line(&out, 6, argv);
    assert_string_equal(out.s, "weir run 'it'\\''s' '' --set 'a.b=4 KiB'");
    wr_str_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(a_finished_run_says_what_made_it),
        IN_PLACE(every_promised_view_begins_with_its_columns),
        IN_PLACE(every_column_of_every_view_is_documented),
        IN_PLACE(what_programs_leave_is_kept),
        IN_PLACE(a_summary_line_put_again_replaces_the_first),
        IN_PLACE(percentiles_of_the_view_are_those_of_the_histogram),
        IN_PLACE(an_empty_histogram_has_no_percentiles),
        IN_PLACE(an_application_is_the_sum_of_its_ranks),
        IN_PLACE(links_keep_picoseconds_and_know_their_utilization),
        IN_PLACE(a_slice_of_the_usual_width_and_a_last_short_one_both_come_back),
        IN_PLACE(a_thousand_names_each_find_their_own_series),
        IN_PLACE(slices_of_a_long_run_are_gathered_and_none_is_lost),
        IN_PLACE(a_slice_of_no_series_is_our_mistake),
        IN_PLACE(inputs_come_back_whole),
        IN_PLACE(a_sweep_keeps_its_points_in_order),
        IN_PLACE(a_fact_put_twice_is_an_error_that_stays),
        cmocka_unit_test(a_command_line_can_be_given_to_a_shell_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
