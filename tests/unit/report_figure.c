/* Figures: every kind can be drawn, described and written, and says the same in each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above first. */
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc.h"
#include "report/figure.h"
#include "report/ink.h"

static const struct report_point points[] = {{1, 2, 1, 3, true}, {2, NAN, 0, 0, false}};
static const struct report_series series[] = {{.name = "a <b>", .point = points, .n = 2}};
static const struct report_mark marks[] = {{1.5, false, "knee"}};
static const struct report_band bands[] = {{1, 1.5, "both"}};
static const struct report_box boxes[] = {{"alone", "random", 1, 2, 3, 4, 5, 3.5, 9},
                                          {"both", "random", 2, 3, 4, 5, 60, 7, 9}};
static const struct report_part parts[] = {{"work", 3}, {"wait", 1.25}};
static const struct report_bar bars[] = {{"client", "one", parts, 2}};
static const double load[] = {0.25, 0.75}, sat[] = {0, 0.5};
static const struct report_part job[] = {{"milc", 12}};
static const struct report_spot spots[] = {{"g0", 0, -0.9, job, 1}, {"g1", 0, 0.9, NULL, 0}};
static const struct report_bundle bundles[] = {{0, 1, "global", 2, load, sat},
                                               {1, 1, "local", 4, sat, sat}};
static const char *const names[] = {"x", "y"};
static const double values[] = {1, 2, 3, NAN};
static const struct report_step steps[] = {{0, 1, 0, 1, "write", "request"},
                                           {1, 3.5, 1, -1, "disk", "work"}};

static const struct report_figure figures[REPORT_KINDS] = {
    [REPORT_LINES] = {.id = "l",
                      .kind = REPORT_LINES,
                      .chart = {.title = "T",
                                .desc = "D",
                                .x = {.label = "load", .unit = "%"},
                                .y = {.label = "y"},
                                .series = series,
                                .nseries = 1,
                                .mark = marks,
                                .nmarks = 1,
                                .band = bands,
                                .nbands = 1}},
    [REPORT_BOXES] = {.id = "b",
                      .kind = REPORT_BOXES,
                      .chart = {.title = "T", .desc = "D", .y = {.label = "t", .unit = "ms"}},
                      .box = boxes,
                      .nboxes = 2},
    [REPORT_BARS] = {.id = "r",
                     .kind = REPORT_BARS,
                     .chart = {.title = "T", .desc = "D", .x = {.label = "t", .unit = "s"}},
                     .bar = bars,
                     .nbars = 1},
    [REPORT_MACHINE] = {.id = "m",
                        .kind = REPORT_MACHINE,
                        .chart = {.title = "T", .desc = "D"},
                        .machine = {spots, 2, bundles, 2, 2, 1000}},
    [REPORT_MATRIX] =
        {.id = "x",
         .kind = REPORT_MATRIX,
         .chart = {.title = "T", .desc = "D", .x = {.label = "to"}, .y = {.label = "from"}},
         .matrix = {names, names, 2, 2, values, "B"}},
    [REPORT_SEQUENCE] = {.id = "s",
                         .kind = REPORT_SEQUENCE,
                         .chart = {.title = "T", .desc = "D", .x = {.label = "t", .unit = "us"}},
                         .sequence = {names, 2, steps, 2}},
};

/* What each says, in CSV and on hovering over its SVG. */
static const struct {
    const char *csv, *svg, *text;
} said[REPORT_KINDS] = {
    [REPORT_LINES] = {"series,x,y,low,high\na <b>,1,2,1,3\na <b>,2,,,\n",
                      "a &lt;b&gt;: 1, 2 (1 to 3)", "load, %"},
    [REPORT_BOXES] = {"group,name,n,min,q1,median,q3,max,mean\nrandom,alone,9,1,2,3,4,5,3.5\n"
                      "random,both,9,2,3,4,5,60,7\n",
                      "random, both: min 2, quartiles 3 to 5, median 4, max 60, mean 7, n 9",
                      "t, ms"},
    [REPORT_BARS] = {"group,name,part,value\none,client,work,3\none,client,wait,1.25\n",
                     "wait: 1.25 s", "4.25"},
    [REPORT_MACHINE] =
        {"a,b,class,slice,load,saturated\n0,1,global,0,0.25,0\n0,1,global,1,0.75,0.5\n"
         "1,1,local,0,0,0\n1,1,local,1,0.5,0.5\n",
         "g0 to g1: 2 links, busy 50 %, saturated 25 %", "50.00 %"},
    [REPORT_MATRIX] = {"row,col,value\nx,x,1\nx,y,2\ny,x,3\ny,y,\n", "y to x: 3 B",
                       "shades: linear, 0 to 3 B; empty: none"},
    [REPORT_SEQUENCE] = {"t0,t1,lane,to,label,class\n0,1,x,y,write,request\n1,3.5,y,,disk,work\n",
                         "disk: 1 to 3.5", "x -> y: write"},
};

static void every_kind_says_the_same_in_all_forms(void **state)
{
    (void)state;
    for (int k = 0; k < REPORT_KINDS; k++) {
        struct wr_str csv = {0}, svg = {0}, text = {0}, json = {0};

        report_figure_csv(&figures[k], &csv);
        report_figure_svg(&figures[k], &svg);
        report_figure_text(&figures[k], &(struct report_text_style){.ascii = true}, &text);
        report_figure_json(&figures[k], &json);
        assert_string_equal(csv.s, said[k].csv);
        if (!strstr(svg.s, said[k].svg))
            fail_msg("%s", svg.s);
        if (!strstr(text.s, said[k].text))
            fail_msg("%s", text.s);
        json_t *j = json_loads(json.s, 0, NULL);
        assert_non_null(j);
        assert_string_equal(json_string_value(json_object_get(j, "kind")), report_kind_names[k]);
        json_decref(j);
        assert_null(strstr(svg.s, "nan"));
        assert_null(strstr(svg.s, "inf"));
        wr_str_fini(&csv);
        wr_str_fini(&svg);
        wr_str_fini(&text);
        wr_str_fini(&json);
    }
}

static void a_matrix_over_more_than_two_decades_has_logarithmic_shades(void **state)
{
    static const double wide[] = {1, 1000, 1e6, 0};
    struct report_figure f = figures[REPORT_MATRIX];
    struct wr_str svg = {0}, text = {0};

    (void)state;
    f.matrix.value = wide;
    report_figure_svg(&f, &svg);
    report_figure_text(&f, &(struct report_text_style){.ascii = true}, &text);
    /* The middle decade is in the middle, and the least value can still be seen. */
    assert_non_null(strstr(svg.s, "fill-opacity=\"0.060\""));
    assert_non_null(strstr(svg.s, "fill-opacity=\"0.530\""));
    assert_non_null(strstr(svg.s, "fill-opacity=\"1.000\""));
    assert_non_null(strstr(svg.s, "shades: logarithmic, 1 B to 1 MB; empty: none"));
    assert_non_null(strstr(text.s, "shades: logarithmic, 1 B to 1 MB; empty: none"));
    assert_non_null(strstr(text.s, " .:\n"));
    wr_str_fini(&svg);
    wr_str_fini(&text);
}

static void one_value_is_a_mark_and_no_box(void **state)
{
    static const struct report_box one[] = {{"alone", "random", 3, 3, 3, 3, 3, 3, 1}};
    struct report_figure f = figures[REPORT_BOXES];
    struct wr_str svg = {0};

    (void)state;
    f.box = one;
    f.nboxes = 1;
    report_figure_svg(&f, &svg);
    assert_null(strstr(svg.s, "stroke-width=\"2.4\"")); /* no bar of a median */
    assert_non_null(strstr(svg.s, "random, alone: 3</title>"));
    wr_str_fini(&svg);
}

static void a_figure_without_data_is_empty_but_whole(void **state)
{
    (void)state;
    for (int k = 0; k < REPORT_KINDS; k++) {
        struct report_figure f = {.id = "e", .kind = (enum report_kind)k, .chart = {.title = "T"}};
        struct wr_str svg = {0}, text = {0};

        f.matrix.unit = "";
        f.chart.x.label = f.chart.y.label = "";
        report_figure_svg(&f, &svg);
        report_figure_text(&f, &(struct report_text_style){0}, &text);
        assert_non_null(strstr(svg.s, "</svg>"));
        assert_non_null(strstr(text.s, "T"));
        wr_str_fini(&svg);
        wr_str_fini(&text);
    }
}

/* Two sections in which the same causes come in another order. */
static const struct report_part first_parts[] = {{"network", 3}, {"device", 1}, {"once", 1}};
static const struct report_part other_parts[] = {{"device", 3}, {"partner", 1}, {"network", 1}};
static const struct report_bar first_bar = {"a", "", first_parts, 3};
static const struct report_bar other_bar = {"a", "", other_parts, 3};

static void add_bars(struct report_section *s, const struct report_bar *bar)
{
    struct report_figure *f = report_add_figure(s, "bars", REPORT_BARS);

    f->bar = bar;
    f->nbars = 1;
    f->chart = (struct report_chart){.title = "T", .desc = "D", .x = {.label = "t"}};
}

static bool make_first(const struct report_inputs *in, size_t which, struct report_section *s,
                       struct wr_err *err)
{
    (void)in, (void)which, (void)err;
    add_bars(s, &first_bar);
    return true;
}

static bool make_other(const struct report_inputs *in, size_t which, struct report_section *s,
                       struct wr_err *err)
{
    (void)in, (void)which, (void)err;
    add_bars(s, &other_bar);
    return true;
}

static void a_cause_has_one_colour_in_the_whole_document(void **state)
{
    static const struct report_maker first = {.id = "f", .title = "F", .make = make_first};
    static const struct report_maker other = {.id = "o", .title = "O", .make = make_other};
    const struct report_maker *makers[] = {&first, &other, NULL};
    struct report_inputs in = {0};
    struct report_doc doc;
    struct wr_err err;
    struct wr_str json = {0}, svg = {0};
    char first_inks[80], other_inks[80], group[16];

    (void)state;
    assert_true(report_doc_open(&doc, &in, makers, NULL, &err));
    report_doc_json(&doc, &json);
    snprintf(first_inks, sizeof first_inks, "\"inks\":{\"network\":%u,\"device\":%u,\"once\":%u}",
             palette_of("network"), palette_of("device"), palette_of("once"));
    snprintf(other_inks, sizeof other_inks,
             "\"inks\":{\"device\":%u,\"partner\":%u,\"network\":%u}", palette_of("device"),
             palette_of("partner"), palette_of("network"));
    assert_non_null(strstr(json.s, first_inks));
    assert_non_null(strstr(json.s, other_inks));
    /* The first of the second's parts is drawn in its colour, and not hatched: it is the first. */
    report_figure_svg(&doc.section.v[1].figure.v[0], &svg);
    const char *part = strstr(svg.s, "<title>device");
    assert_non_null(part);
    while (strncmp(part, "<g class=\"s", 11) != 0)
        part--;
    snprintf(group, sizeof group, "<g class=\"s%u\"", palette_of("device"));
    assert_memory_equal(part, group, strlen(group));
    assert_null(strstr(svg.s, "#chart-h0"));
    assert_non_null(strstr(svg.s, "<pattern id=\"chart-h1\""));
    assert_non_null(strstr(svg.s, "url(#chart-h1)"));
    wr_str_fini(&json);
    wr_str_fini(&svg);
    report_doc_close(&doc);
}

static void an_axis_may_have_names(void **state)
{
    struct report_figure f = figures[REPORT_LINES];
    struct wr_str svg = {0}, text = {0}, json = {0};
    static const char *const jobs[] = {"milc, random", "nekbone, contiguous", "cosmoflow"};

    (void)state;
    f.chart.x = (struct report_axis){.label = "job", .category = jobs, .ncategories = 3};
    report_figure_svg(&f, &svg);
    report_figure_text(&f, &(struct report_text_style){.ascii = true}, &text);
    report_figure_json(&f, &json);
    assert_non_null(strstr(svg.s, ">nekbone, contiguous</text>"));
    assert_non_null(strstr(text.s, "   2 nekbone, contiguous\n"));
    assert_non_null(strstr(json.s, "\"categories\":[\"milc, random\",\"nekbone, contiguous\""));
    wr_str_fini(&svg);
    wr_str_fini(&text);
    wr_str_fini(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_says_the_same_in_all_forms),
        cmocka_unit_test(a_matrix_over_more_than_two_decades_has_logarithmic_shades),
        cmocka_unit_test(one_value_is_a_mark_and_no_box),
        cmocka_unit_test(a_figure_without_data_is_empty_but_whole),
        cmocka_unit_test(a_cause_has_one_colour_in_the_whole_document),
        cmocka_unit_test(an_axis_may_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
