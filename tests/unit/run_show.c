/* `weir show`, `weir query` and `weir same` as a user types them. */
#include "unit/run_help.h"

#include <jansson.h>
#include <math.h>

#include "cli/cli.h"

struct said {
    int status;
    char *out, *err;
};

static struct said weir(const char *line, const char *path)
{
    char *argv[16] = {(char[]){"weir"}}, *words = NULL;
    struct said said = {0};
    size_t n;
    int argc = 1;

    /* % stands for the run file; words are separated by '|'. */
    assert_true(asprintf(&words, "%s", line) > 0);
    for (char *at, *w = strtok_r(words, "|", &at); w; w = strtok_r(NULL, "|", &at))
        argv[argc++] = strcmp(w, "%") ? w : (char *)path;
    FILE *out = open_memstream(&said.out, &n), *err = open_memstream(&said.err, &n);
    said.status = cli_main(argc, argv, out, err);
    fclose(out);
    fclose(err);
    free(words);
    return said;
}

static void forget(struct said *said)
{
    free(said->out);
    free(said->err);
}

static void assert_says(const char *line, const char *path, int status, const char *out)
{
    struct said said = weir(line, path);

    assert_string_equal(said.err, "");
    assert_string_equal(said.out, out);
    assert_int_equal(said.status, status);
    forget(&said);
}

static void assert_complains(const char *line, const char *path, int status, const char *words)
{
    struct said said = weir(line, path);

    if (!strstr(said.err, words))
        fail_msg("\"%s\" does not say \"%s\"", said.err, words);
    assert_int_equal(said.status, status);
    forget(&said);
}

static void make(const char *path)
{
    struct run_meta meta = {.kind = "sim",
                            .command = "weir run \x1b[2J.yaml",
                            .config = "title: x\n",
                            .seed = UINT64_MAX};
    struct run_link link = {.src_kind = "router",
                            .dst_kind = "router",
                            .cls = "global",
                            .src = 4,
                            .dst = 2,
                            .port = 1,
                            .bytes = 4096,
                            .packets = 1,
                            .busy_ps = 250000,
                            .bytes_per_s = NAN};
    struct wr_hist *hist = calloc(1, sizeof *hist);
    struct wr_err err = {0};
    struct run *run;

    for (uint64_t i = 1; i <= 3; i++)
        wr_hist_add(hist, i * 1000);
    must(run_create(&run, path, &meta, &err), err);
    must(run_put_input(run, "x.yaml", "title: x # here\n", 16, &err), err);
    must(run_put_count(run, "packets", 3, "", &err), err);
    must(run_put_real(run, "sim_end_ns", 1000, "ns", &err), err);
    must(run_put_link(run, &link, &err), err);
    must(run_put_latency(run, RUN_ALL_APPS, "packet", hist, &err), err);
    complete(run);
    free(hist);
}

static void the_overview_shows_status_numbers_and_links(void **state)
{
    static const char *const parts[] = {
        "status   complete\n",
        "seed     18446744073709551615\n",
        "command  weir run \\x1b[2J.yaml\n",
        "inputs   x.yaml\n",
        "\nlatency\napp  class   n  mean_ns  min_ns   p50_ns   p99_ns  max_ns\n",
        "\n-    packet  3        2       1  2.00233  2.00691       3\n",
        "router:4.1  global  router:2   4096      250             0         0.25\n",
    };
    const char *path = ((struct place *)*state)->path;

    make(path);
    struct said said = weir("show|%", path);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!strstr(said.out, parts[i]))
            fail_msg("no \"%s\" in:\n%s", parts[i], said.out);
    assert_null(strchr(said.out, '\x1b'));
    assert_null(strstr(said.out, "load sweep"));
    assert_int_equal(said.status, 0);
    forget(&said);
}

static void the_overview_as_json_reads_back(void **state)
{
    const char *path = ((struct place *)*state)->path;
    json_error_t why;

    make(path);
    struct said said = weir("show|%|--json", path);
    json_t *json = json_loads(said.out, JSON_DECODE_INT_AS_REAL, &why), *latency;
    if (!json)
        fail_msg("%s in:\n%s", why.text, said.out);
    assert_string_equal(json_string_value(json_object_get(json_object_get(json, "run"), "status")),
                        "complete");
    latency = json_array_get(json_object_get(json, "latency"), 0);
    assert_true(json_real_value(json_object_get(latency, "mean_ns")) == 2);
    assert_int_equal(json_array_size(json_object_get(json, "sweep")), 0);
    json_decref(json);
    forget(&said);
}

static void every_view_can_be_shown_in_every_format(void **state)
{
    static const char *const formats[] = {"", "|--csv", "|--json"};
    const char *path = ((struct place *)*state)->path;

    make(path);
    for (const struct run_view *v = run_views; v->name; v++)
        for (int f = 0; f < 3; f++) {
            char line_[128];

            snprintf(line_, sizeof line_, "show|%%|%s%s", v->name, formats[f]);
            struct said said = weir(line_, path);
            assert_string_equal(said.err, "");
            assert_int_equal(said.status, 0);
            assert_true(strlen(said.out) > 2);
            forget(&said);
        }
}

static void one_view_is_printed_whole_or_up_to_a_limit(void **state)
{
    const char *path = ((struct place *)*state)->path;

    make(path);
    assert_says("show|%|latency_hist", path, 0,
                "app  class   low_ns  high_ns  n\n"
                "-    packet   1.000    1.004  1\n"
                "-    packet   2.000    2.008  1\n"
                "-    packet   2.992    3.008  1\n");
    assert_says("show|%|latency_hist|--limit|1|--csv", path, 0,
                "app,class,low_ns,high_ns,n\n,packet,1,1.004,1\n");
    assert_complains("show|%|latencies", path, 2, "did you mean latency?");
    assert_complains("show|%|--csv", path, 2, "name a VIEW");
    assert_complains("show|%|latency|--csv|--json", path, 2, "exclude");
}

static void configuration_and_inputs_come_out_as_they_went_in(void **state)
{
    const char *path = ((struct place *)*state)->path;

    make(path);
    assert_says("show|%|--config", path, 0, "title: x\n");
    assert_says("show|%|--input|x.yaml", path, 0, "title: x # here\n");
    assert_complains("show|%|--input|y.yaml", path, 2, "lists them");
}

static void a_query_prints_what_was_asked(void **state)
{
    const char *path = ((struct place *)*state)->path;

    make(path);
    assert_says("query|%|SELECT class, bytes, busy_ns FROM link_stat", path, 0,
                "class   bytes  busy_ns\nglobal   4096      250\n");
    assert_says("query|%|SELECT 1 AS one, NULL AS none, x'00ff' AS blob|--json", path, 0,
                "[\n  {\"one\": 1, \"none\": null, \"blob\": \"<2 bytes>\"}\n]\n");
    assert_complains("query|%|DELETE FROM meta", path, 2, "only read");
    assert_complains("query|%|SELECT x FROM summary", path, 2, "no such column");
    assert_complains("query|%", path, 2, "RUN SQL");
    assert_complains("query|no.run|SELECT 1", path, 2, "no such file");
}

static void same_answers_with_its_status(void **state)
{
    const struct place *p = *state;
    char other[128], line_[256];

    snprintf(other, sizeof other, "%s/b.weir", p->dir);
    make(p->path);
    make(other);
    snprintf(line_, sizeof line_, "same|%%|%s", other);
    struct said said = weir(line_, p->path);
    assert_int_equal(said.status, 0);
    forget(&said);

    unlink(other);
    complete(create(other));
    assert_complains(line_, p->path, 1, "they differ: meta(key = seed)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(the_overview_shows_status_numbers_and_links),
        IN_PLACE(the_overview_as_json_reads_back),
        IN_PLACE(every_view_can_be_shown_in_every_format),
        IN_PLACE(one_view_is_printed_whole_or_up_to_a_limit),
        IN_PLACE(configuration_and_inputs_come_out_as_they_went_in),
        IN_PLACE(a_query_prints_what_was_asked),
        IN_PLACE(same_answers_with_its_status),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
