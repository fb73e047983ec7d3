/* Reports of run files: what they say is what the files hold. */
#include "unit/run_help.h"

#include <jansson.h>
#include <math.h>
#include <sqlite3.h>

#include "base/rng.h"
#include "report/doc.h"
#include "report/report.h"
#include "report/report_trace.h"
#include "report/sections/sections.h"

enum { RISE = 5 };

/* A curve that saturates at `knee`: latency 1000/(1 - load/knee) ns below it. */
static void put_curve(struct run *run, const char *series, double knee, uint64_t seed, double bias)
{
    struct wr_err err;

    for (int i = 1; i <= RISE; i++) {
        double load = 0.1 * i;
        struct run_sweep p = {.series = series,
                              .load = load,
                              .seed = seed,
                              .offered = load,
                              .accepted = fmin(load, knee),
                              .lat_mean_ns = bias + (load < knee ? 4000 / (1 - load / knee) : 9e5),
                              .lat_min_ns = NAN,
                              .lat_p50_ns = 4000,
                              .lat_p99_ns = NAN,
                              .lat_max_ns = 1e6,
                              .hops_mean = 2.5,
                              .nonminimal_frac = 0.25,
                              .saturated = load >= knee,
                              .sim_end_ns = 1e6,
                              .wall_s = 1};

        must(run_put_sweep(run, &p, &err), err);
    }
}

static void make_sweep(const char *path, const char *series, double knee)
{
    struct run *run;
    struct wr_err err;

    must(run_create(&run, path, &plain_meta, &err), err);
    put_curve(run, series, knee, 1, 0);
    must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
}

enum as { AS_TEXT, AS_PAGE, AS_JSON, AS_SVG, AS_CSV };

/* The report of runs; SVG and CSV are of its first figure. */
static bool write_as(enum as as, const char *const *runs, size_t n, struct wr_str *out,
                     struct wr_err *err)
{
    struct report_inputs in;
    struct report_doc doc;

    if (!report_inputs_open(&in, runs, n, err))
        return false;
    bool ok = report_doc_open(&doc, &in, report_sections, NULL, err);

    if (ok && as == AS_TEXT)
        report_doc_text(&doc, &(struct report_text_style){.ascii = true, .width = 200}, out);
    if (ok && as == AS_PAGE)
        report_doc_page(&doc, NULL, out);
    if (ok && as == AS_JSON)
        report_doc_json(&doc, out);
    if (ok && as == AS_SVG)
        report_figure_svg(&doc.section.v[0].figure.v[0], out);
    if (ok && as == AS_CSV)
        report_figure_csv(&doc.section.v[0].figure.v[0], out);
    if (ok)
        report_doc_close(&doc);
    report_inputs_close(&in);
    return ok;
}

static void name_in(const struct place *p, char *ret, size_t size, const char *leaf)
{
    snprintf(ret, size, "%s/%s", p->dir, leaf);
}

/* What a damaged file says: numbers that cannot be, and names that a terminal would obey. */
static void a_damaged_run_is_reported_in_little_and_harmlessly(void **state)
{
    static const char sql[] =
        "INSERT INTO fact_app VALUES(0, 'a' || char(27) || ']0;owned' || char(7), 2, 0, '', '');"
        "INSERT INTO fact_rank(app, rank, node, elapsed_ps, compute_ps, comm_ps, idle_ps) VALUES"
        "(0, 0, 0, 4000000, 1000000, 1000000, '1e999'), (0, 1, 1, 4000000, 1e400, 1000000, 1e300);"
        "INSERT INTO fact_link VALUES(1, 1, 1, 1, 1e400, 1, 1e300, -1e400, 1e400)";
    struct place *p = *state;
    const char *runs[] = {p->path};
    struct wr_err err;
    sqlite3 *db;

    complete(create(p->path));
    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
    for (int as = AS_TEXT; as <= AS_JSON; as++) {
        struct wr_str out = {0};

        must(write_as((enum as)as, runs, 1, &out, &err), err);
        assert_true(out.n < 1 << 20);
        assert_non_null(strstr(out.s, "that cannot be"));
        assert_non_null(strstr(out.s, "owned"));
        assert_null(strchr(out.s, '\033'));
        assert_null(strchr(out.s, '\007'));
        wr_str_fini(&out);
    }
}

static void a_sweep_is_shown_in_a_sentence_a_picture_and_a_table(void **state)
{
    struct place *p = *state;
    const char *runs[] = {p->path};
    struct wr_str out = {0};
    struct wr_err err;

    make_sweep(p->path, "minimal", 0.45);
    must(write_as(AS_TEXT, runs, 1, &out, &err), err);
    /* 4/(1 - 0.1/0.45) = 5.143 us at 10 %; twice that at load 0.275, and by a straight line between
     * the points at 20 % (7.2 us) and 30 % (12 us): 26.4 %. */
    assert_non_null(strstr(out.s,
                           "minimal takes a mean of 5.143 us at 10 % load and twice as long at "
                           "26.4 %;"));
    assert_non_null(strstr(out.s, "minimal carries up to 45 % of the injection bandwidth"));
    assert_non_null(strstr(out.s, "curve    load %  offered %  accepted %  mean us"));
    assert_non_null(strstr(out.s, "minimal   50.00      50.00       45.00  900.000"));
    assert_non_null(strstr(out.s, "yes"));
    wr_str_fini(&out);
}

static void csv_has_the_columns_of_the_view_unrounded(void **state)
{
    struct place *p = *state;
    const char *runs[] = {p->path};
    struct wr_str out = {0};
    struct wr_err err;

    make_sweep(p->path, "a, \"b\"", 0.45);
    must(report_sweep_csv(runs, 1, &out, &err), err);
    assert_non_null(strstr(out.s, "series,load,offered,accepted,lat_mean_ns,lat_p50_ns,lat_p99_ns,"
                                  "lat_max_ns,hops_mean,nonminimal_frac,saturated,seeds\n"));
    assert_non_null(
        strstr(out.s, "\"a, \"\"b\"\"\",0.1,0.1,0.1,5142.85714286,4000,,1000000,2.5,0.25,0,1\n"));
    wr_str_fini(&out);
}

static void seeds_of_a_point_become_a_mean_with_its_interval(void **state)
{
    struct place *p = *state;
    const char *runs[] = {p->path};
    struct wr_str svg = {0}, csv = {0};
    struct run *run;
    struct wr_err err;

    must(run_create(&run, p->path, &plain_meta, &err), err);
    for (uint64_t seed = 1; seed <= 3; seed++)
        put_curve(run, "minimal", 0.6, seed, 100.0 * (double)seed);
    must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
    must(report_sweep_csv(runs, 1, &csv, &err), err);
    assert_non_null(strstr(csv.s, "minimal,0.1,0.1,0.1,5000,4000,,1000000,2.5,0.25,0,3\n"));
    /* Student's 4.303 with a deviation of 100 ns of three seeds: 248 ns. */
    must(write_as(AS_SVG, runs, 1, &svg, &err), err);
    assert_non_null(strstr(svg.s, "<title>minimal: 10, 5 (4.75159 to 5.24841)</title>"));
    assert_non_null(strstr(svg.s, "class=\"bar\""));
    wr_str_fini(&svg);
    wr_str_fini(&csv);
}

static void curves_of_several_files_keep_apart(void **state)
{
    struct place *p = *state;
    char a[128], b[128], c[128];
    const char *runs[] = {a, b, c};
    struct wr_str out = {0};
    struct wr_err err;

    name_in(p, a, sizeof a, "first.weir");
    name_in(p, b, sizeof b, "second.weir");
    name_in(p, c, sizeof c, "third.weir");
    make_sweep(a, "minimal", 0.25);
    make_sweep(b, "minimal", 0.45);
    make_sweep(c, "adaptive", 0.35);
    must(write_as(AS_PAGE, runs, 3, &out, &err), err);
    assert_non_null(strstr(out.s, "minimal (second) carries the most, up to 45 % of the injection "
                                  "bandwidth, and minimal (first) the least, up to 25 %"));
    assert_non_null(strstr(out.s, ">adaptive<"));
    assert_null(strstr(out.s, "adaptive (third)"));
    wr_str_fini(&out);
}

static void a_page_needs_nothing_from_elsewhere(void **state)
{
    struct place *p = *state;
    const char *runs[] = {p->path};
    char html[128];
    struct wr_str out = {0};
    struct wr_err err;
    struct stat st;

    make_sweep(p->path, "<b>minimal", 0.45);
    must(write_as(AS_PAGE, runs, 1, &out, &err), err);
    assert_int_equal(strncmp(out.s, "<!DOCTYPE html>", 15), 0);
    assert_non_null(strstr(out.s, "default-src 'none'"));
    /* The one script is data; links lead into the page or are the data themselves. */
    for (const char *at = out.s; (at = strstr(at, "<script")); at++)
        assert_int_equal(strncmp(at, "<script type=\"application/json\" id=\"weir-report\">", 48),
                         0);
    for (const char *at = out.s; (at = strstr(at, " href=\"")); at++)
        assert_true(at[7] == '#' || !strncmp(at + 7, "data:", 5));
    assert_null(strstr(out.s, "<b>"));
    assert_null(strstr(out.s, " src="));
    assert_non_null(strstr(out.s, "</html>\n"));

    name_in(p, html, sizeof html, "report.html");
    must(wr_output_text(html, &report_page_format, 0, &out, &err), err);
    assert_int_equal(stat(html, &st), 0);
    assert_int_equal(st.st_size, out.n);
    strcat(html, ".part");
    assert_int_equal(stat(html, &st), -1);
    wr_str_fini(&out);
}

static void an_unfinished_run_says_so_on_its_page(void **state)
{
    struct place *p = *state;
    const char *runs[] = {p->path};
    struct wr_str out = {0};
    struct run *run;
    struct wr_err err;

    must(run_create(&run, p->path, &plain_meta, &err), err);
    put_curve(run, "minimal", 0.45, 1, 0);
    must(run_finish(run, RUN_INCOMPLETE, "stopped by the user", &err), err);
    must(write_as(AS_PAGE, runs, 1, &out, &err), err);
    assert_non_null(strstr(out.s, "class=\"warning\""));
    assert_non_null(strstr(out.s, "is incomplete, stopped by the user"));
    wr_str_fini(&out);
}

static void what_cannot_be_reported_is_said_once(void **state)
{
    struct place *p = *state;
    const char *runs[] = {p->path};
    struct wr_str out = {0};
    struct run *run;
    struct wr_err err = {0};
    char path[160];
    bool has = true;

    assert_false(write_as(AS_PAGE, runs, 1, &out, &err));
    must(run_create(&run, p->path, &plain_meta, &err), err);
    must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
    assert_false(report_sweep_csv(runs, 1, &out, &err));
    assert_int_equal(err.code, WR_INPUT);
    assert_non_null(strstr(err.text, "holds no load sweep; make one with `weir sweep`"));
    assert_int_equal(out.n, 0);
    must(report_has_sweep(p->path, &has, &err), err);
    assert_false(has);

    wr_str_add(&out, "text");
    name_in(p, path, sizeof path, "nowhere/report.html");
    assert_false(wr_output_text(path, &report_page_format, 0, &out, &err));
    assert_int_equal(err.code, WR_SYSTEM);
    assert_false(wr_output_text("/dev/full", &report_page_format, 0, &out, &err));
    assert_non_null(strstr(err.text, "No space left"));
    assert_false(wr_output_text(p->dir, &report_page_format, WR_FORCE, &out, &err));
    wr_str_fini(&out);
}

static void write_file(const char *path, const char *text)
{
    struct wr_str s = {0};
    struct wr_err err;

    wr_str_add(&s, text);
    must(wr_output_text(path, &wr_format_csv, WR_FORCE, &s, &err), err);
    wr_str_fini(&s);
}

static void points_of_a_table_are_laid_over_as_marks(void **state)
{
    struct place *p = *state;
    char table[128];
    const char *runs[] = {p->path, table};
    struct wr_str svg = {0}, csv = {0}, again = {0};
    struct wr_err err;

    make_sweep(p->path, "minimal", 0.45);
    name_in(p, table, sizeof table, "measured.csv");
    write_file(table, "load,lat_mean_ns,series\r\n0.15,5500,minimal\n\n0.25,9000,\"a \"\"b\"\"\"");
    must(write_as(AS_SVG, runs, 2, &svg, &err), err);
    assert_non_null(strstr(svg.s, "<title>minimal (measured): 15, 5.5</title>"));
    assert_non_null(strstr(svg.s, "<title>a &quot;b&quot;: 25, 9</title>"));
    int lines = 0;
    for (const char *l = svg.s; (l = strstr(l, "class=\"line\"")); l++)
        lines++;
    assert_int_equal(lines, 2); /* the run's, and in the legend */

    /* What is written can be read: all of a sweep comes back as points. */
    must(report_sweep_csv(runs, 1, &csv, &err), err);
    write_file(table, csv.s);
    must(report_sweep_csv((const char *[]){table}, 1, &again, &err), err);
    assert_string_equal(again.s, csv.s);
    wr_str_fini(&svg);
    wr_str_fini(&csv);
    wr_str_fini(&again);
}

static void a_fault_in_a_table_is_reported_with_its_place(void **state)
{
    struct place *p = *state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "no column \"\" is known; begin with a line of names like series,load"},
        {"series,laod\n", ":1:8: no column \"laod\" is known; did you mean load?"},
        {"series,accepted\n", ":1:1: column load is missing"},
        {"series,load,load\n", ":1:13: column load comes twice"},
        {"series,load\n", ": no points"},
        {"series,load\na,0.1\nb\n", ":3:1: 1 fields where the first line has 2"},
        {"series,load\na,0.1,7\n", ":2:3: more fields than the first line has"},
        {"series,load\na,fast\n", ":2:3: \"fast\" is not a number"},
        {"series,load\na,inf\n", ":2:3: \"inf\" is not a number"},
        {"series,load\n\"a,0.1\n", ":2:1: a quote is never closed"},
        {"series,load\n\"a\"b,0.1\n", ":2:1: something follows the closing quote"},
    };
    char table[128];
    const char *runs[] = {table};

    name_in(p, table, sizeof table, "t.csv");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wr_str out = {0};
        struct wr_err err = {0};

        write_file(table, cases[i].text);
        assert_false(report_sweep_csv(runs, 1, &out, &err));
        if (!strstr(err.text, cases[i].words))
            fail_msg("%s", err.text);
        assert_int_equal(err.code, WR_INPUT);
        assert_int_equal(out.n, 0);
    }
}

/* 100 local links busy 1 .. 100 % and 10 global ones all busy 50 %. */
static void put_links(struct run *run)
{
    struct wr_err err;

    for (uint32_t i = 0; i < 110; i++) {
        struct run_link l = {.src_kind = "router",
                             .dst_kind = "router",
                             .cls = i < 100 ? "local" : "global",
                             .src = i,
                             .dst = i + 1,
                             .busy_ps = i < 100 ? (i + 1) * 10000000ull : 500000000,
                             .saturated_ps = i < 100 ? 0 : 250000000,
                             .bytes_per_s = NAN};

        must(run_put_link(run, &l, &err), err);
    }
}

static void put_slices(struct run *run, uint32_t entities, const char *metric)
{
    struct wr_err err;
    uint32_t id[32];

    for (uint32_t e = 0; e < entities; e++) {
        char name[32];

        snprintf(name, sizeof name, "router:%u", e);
        must(run_open_series(run, &(struct run_series){name, metric, "B", 1000000}, &id[e], &err),
             err);
    }
    for (int64_t t = 0; t < 10; t++)
        for (uint32_t e = 0; e < entities; e++)
            must(run_put_slice(run, id[e], t * 1000000, 1000000, (double)(t * 10 + e), &err), err);
}

static void make_single(const char *path)
{
    struct wr_hist *h = calloc(1, sizeof *h);
    struct run *run;
    struct wr_err err;

    for (uint64_t i = 1; i <= 1000; i++)
        wr_hist_add(h, i * 10000); /* 10 ns .. 10 us */
    must(run_create(&run, path, &plain_meta, &err), err);
    must(run_put_text(run, "title", "A machine & its run", &err), err);
    must(run_put_real(run, "sim_end_ns", 1e6, "ns", &err), err);
    must(run_put_latency(run, RUN_ALL_APPS, "packet", h, &err), err);
    put_links(run);
    put_slices(run, 3, "queue");
    put_slices(run, 20, "sent");
    must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
    free(h);
}

static void a_single_run_shows_latencies_links_and_slices(void **state)
{
    struct place *p = *state;
    struct wr_str text = {0}, page = {0};
    struct wr_err err;

    make_single(p->path);
    must(write_as(AS_TEXT, (const char *[]){p->path}, 1, &text, &err), err);
    assert_non_null(strstr(text.s, "packet  1000"));
    assert_non_null(strstr(text.s, "Median latency of packet 5.0"));
    assert_non_null(
        strstr(text.s, "The busiest link is of class local with a utilisation of 100 %"));
    assert_non_null(
        strstr(text.s, "local     100   50.50   1.00  50.50  90.10  99.01  100.00         0.00"));
    assert_non_null(
        strstr(text.s, "global     10   50.00  50.00  50.00  50.00  50.00   50.00        25.00"));
    assert_non_null(strstr(text.s, "Highest at 9 us, where router:2 reaches 92 MB/s."));
    /* Twenty routers are too many to draw one by one. */
    assert_non_null(strstr(text.s, "Highest at 9 us, where one reaches 109 MB/s."));
    assert_non_null(strstr(text.s, "mean of all"));
    must(write_as(AS_PAGE, (const char *[]){p->path}, 1, &page, &err), err);
    assert_non_null(strstr(page.s, "<h1>A machine &amp; its run</h1>"));
    assert_non_null(strstr(page.s, "CDF of link utilisation"));
    wr_str_fini(&text);
    wr_str_fini(&page);
}

static void an_empty_run_has_a_page_all_the_same(void **state)
{
    struct place *p = *state;
    struct wr_str page = {0};
    struct run *run;
    struct wr_err err;

    must(run_create(&run, p->path, &plain_meta, &err), err);
    must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
    must(write_as(AS_PAGE, (const char *[]){p->path}, 1, &page, &err), err);
    assert_null(strstr(page.s, "<svg"));
    assert_non_null(strstr(page.s, "weir run x.yaml"));
    wr_str_fini(&page);
}

/* Are these words in the report of one run? */
static void assert_shown(enum as as, const char *path, const char *const *words, size_t n)
{
    struct wr_str out = {0};
    struct wr_err err;

    must(write_as(as, &path, 1, &out, &err), err);
    for (size_t i = 0; i < n; i++)
        if (!strstr(out.s, words[i]))
            fail_msg("\"%s\" is not in: %s", words[i], out.s);
    wr_str_fini(&out);
}

static struct run *make(struct place *p, const char *kind)
{
    struct run_meta meta = plain_meta;
    struct wr_err err;
    struct run *run;

    meta.kind = kind;
    must(run_create(&run, p->path, &meta, &err), err);
    return run;
}

static void put_real(struct run *run, const char *key, double v, const char *unit)
{
    struct wr_err err;

    must(run_put_real(run, key, v, unit, &err), err);
}

static void a_measured_service_has_a_roof_with_its_knee(void **state)
{
    struct place *p = *state;
    struct run *run = make(p, "rpc");
    struct wr_err err;

    /* C = 100, S = 400 thousands: the knee is at 100 / 400 servers per client, and of 18 processes
     * 18 * 100 / (100 + 400) = 3.6 should be servers: with 4, 14 clients get 100 each. */
    put_real(run, "roofline.rpc.client_min", 100e3, "1/s");
    put_real(run, "roofline.rpc.client_max", 100e3, "1/s");
    put_real(run, "roofline.rpc.server_min", 400e3, "1/s");
    put_real(run, "roofline.rpc.server_max", 400e3, "1/s");
    put_real(run, "roofline.point.rpc.2.16", 800e3, "1/s");
    must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
    assert_shown(
        AS_JSON, p->path,
        (const char *[]){"\"marks\":[{\"x\":0.25,\"label\":\"knee\"}]",
                         "measured, 2 servers\",\"style\":\"marks\",\"x\":[0.125],\"y\":[50]",
                         "best of 18 processes: 4 servers, 14 clients\",\"style\":\"marks\"",
                         "\"style\":\"fan\""},
        4);
    assert_shown(AS_TEXT, p->path, (const char *[]){"2       16   800.000    800.000  800.000"}, 1);
}

static void what_others_disturbed_or_is_hardly_known_is_marked(void **state)
{
    struct place *p = *state;
    struct run *run = make(p, "rpc");
    struct wr_err err;

    put_real(run, "roofline.rpc.client_min", 0.5e3, "1/s");
    put_real(run, "roofline.rpc.client_max", 175e3, "1/s");
    put_real(run, "roofline.rpc.client_disturbed", 1, "");
    put_real(run, "roofline.rpc.server_min", 400e3, "1/s");
    put_real(run, "roofline.rpc.server_max", 400e3, "1/s");
    put_real(run, "roofline.point.rpc.1.2", 80e3, "1/s");
    put_real(run, "roofline.point_disturbed.rpc.1.2", 1, "");
    must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
    assert_shown(AS_TEXT, p->path,
                 (const char *[]){"not known", "measured while others used the machine",
                                  "the roof may be too low"},
                 3);
    assert_shown(AS_JSON, p->path, (const char *[]){"\"open\":[1]"}, 1);
}

static void a_stack_is_shown_by_layer_and_one_operation_step_by_step(void **state)
{
    static const struct run_stack_state states[] = {
        {.side = "client",
         .layer = "ADIO",
         .agent = "a",
         .machine = "write",
         .state = "enter",
         .class = "control",
         .layer_at = 1,
         .visits = 2,
         .work_ns = 250000,
         .wait_ns = 500000,
         .own_ns = 250000,
         .measured = true},
        {.side = "server",
         .layer = "Trove",
         .agent = "t",
         .machine = "io",
         .state = "go",
         .class = "data",
         .layer_at = 2,
         .visits = 2,
         .work_ns = 500000,
         .own_ns = 500000},
    };
    static const struct run_stack_step steps[] = {
        {.operation = "write",
         .kind = "state",
         .side = "client",
         .layer = "ADIO",
         .what = "write:enter",
         .class = "control",
         .t_ns = 1000,
         .peer = RUN_NULL,
         .work_ns = 250,
         .bytes = RUN_NULL},
        {.operation = "write",
         .kind = "request",
         .side = "client",
         .layer = "BMI",
         .what = "IO",
         .class = "communication",
         .t_ns = 2000,
         .peer = 1,
         .bytes = 100},
        {.operation = "write",
         .kind = "answer",
         .side = "server",
         .layer = "BMI",
         .what = "IO",
         .class = "communication",
         .t_ns = 4000,
         .node = 1,
         .bytes = 10},
    };
    struct place *p = *state;
    struct run *run = make(p, "stack");
    struct wr_err err;

    for (size_t i = 0; i < 2; i++)
        must(run_put_stack_state(run, &states[i], &err), err);
    for (size_t i = 0; i < 3; i++)
        must(run_put_stack_step(run, &steps[i], &err), err);
    must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
    assert_shown(
        AS_JSON, p->path,
        (const char *[]){
            "{\"group\":\"client\",\"name\":\"ADIO\",\"parts\":[{\"name\":\"work\","
            "\"value\":0.25},{\"name\":\"wait for others\",\"value\":0.5}]}",
            "\"lanes\":[\"client 0\",\"server 1\"]",
            "{\"t0\":1,\"t1\":1,\"lane\":0,\"to\":1,\"label\":\"IO\",\"class\":\"request\"}",
            "{\"t0\":3,\"t1\":3,\"lane\":1,\"to\":0,\"label\":\"IO\",\"class\":\"answer\"}"},
        4);
}

/* A path that is fast for 40 probes and slow for 20, again and again. */
static void a_path_has_states_sojourns_and_a_forecast(void **state)
{
    struct place *p = *state;
    struct run *run = make(p, "probe");
    struct wr_err err;
    struct wr_rng rng;
    uint32_t id;

    wr_rng_init(&rng, 3, 0, 0);
    must(run_open_series(run, &(struct run_series){"target:disk", "write_latency", "s", 0}, &id,
                         &err),
         err);
    for (int i = 0; i < 1200; i++) {
        double base = (i + 3 * (i / 60)) % 60 < 40 ? 0.001 : 0.1;

        must(run_put_slice(run, id, i * 1000000000000ll, 0, base * exp(0.2 * wr_rng_normal(&rng)),
                           &err),
             err);
    }
    must(run_finish(run, RUN_COMPLETE, NULL, &err), err);
    assert_shown(AS_TEXT, p->path,
                 (const char *[]){"disk, write: probability density of latency", "1200 probes",
                                  "disk, write: latency and state over time",
                                  "disk, write: sojourn times of states",
                                  "disk, write: forecast of latency"},
                 5);
    /* Latencies do not add up to anything over time. */
    struct wr_str text = {0};

    must(write_as(AS_TEXT, (const char *[]){p->path}, 1, &text, &err), err);
    assert_null(strstr(text.s, "latency over time"));
    wr_str_fini(&text);
}

static void a_trace_has_a_counter_for_every_slice(void **state)
{
    struct place *p = *state;
    struct run_reader *r;
    struct wr_err err;
    char *text;
    size_t n, counters = 0;

    make_single(p->path);
    must(run_open(&r, p->path, &err), err);
    FILE *f = open_memstream(&text, &n);
    bool ranks;

    must(report_trace(r, f, &ranks, &err), err);
    fclose(f);
    run_close(r);
    json_t *j = json_loads(text, 0, NULL), *one;
    size_t i;
    assert_non_null(j);
    json_array_foreach(json_object_get(j, "traceEvents"), i, one) counters +=
        !strcmp(json_string_value(json_object_get(one, "ph")), "C");
    assert_int_equal(counters, 230);
    json_decref(j);
    free(text);
}

/* Names may hold anything; a document is JSON and harmless in a page all the same. */
static void odd_names_are_harmless(void **state)
{
    struct place *p = *state;
    const char *path = p->path;
    struct wr_str out = {0};
    struct wr_err err;

    make_sweep(p->path, "</script><script>alert(1)</script>\x01\xff\xc0\xaf\\\"", 0.45);
    must(write_as(AS_JSON, &path, 1, &out, &err), err);
    assert_null(strchr(out.s, '<'));
    json_t *j = json_loads(out.s, 0, NULL);
    assert_non_null(j);
    json_decref(j);
    out.n = 0;
    must(write_as(AS_PAGE, &path, 1, &out, &err), err);
    assert_null(strstr(out.s, "<script>alert"));
    wr_str_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(a_damaged_run_is_reported_in_little_and_harmlessly),
        IN_PLACE(a_sweep_is_shown_in_a_sentence_a_picture_and_a_table),
        IN_PLACE(csv_has_the_columns_of_the_view_unrounded),
        IN_PLACE(seeds_of_a_point_become_a_mean_with_its_interval),
        IN_PLACE(curves_of_several_files_keep_apart),
        IN_PLACE(a_page_needs_nothing_from_elsewhere),
        IN_PLACE(an_unfinished_run_says_so_on_its_page),
        IN_PLACE(what_cannot_be_reported_is_said_once),
        IN_PLACE(points_of_a_table_are_laid_over_as_marks),
        IN_PLACE(a_fault_in_a_table_is_reported_with_its_place),
        IN_PLACE(a_single_run_shows_latencies_links_and_slices),
        IN_PLACE(an_empty_run_has_a_page_all_the_same),
        IN_PLACE(a_measured_service_has_a_roof_with_its_knee),
        IN_PLACE(what_others_disturbed_or_is_hardly_known_is_marked),
        IN_PLACE(a_stack_is_shown_by_layer_and_one_operation_step_by_step),
        IN_PLACE(a_path_has_states_sojourns_and_a_forecast),
        IN_PLACE(a_trace_has_a_counter_for_every_slice),
        IN_PLACE(odd_names_are_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
