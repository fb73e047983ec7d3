/* Curves in a terminal and as SVG. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/chart.h"
#include "report/ink.h"

static const struct report_point rising[] = {
    {.x = 0, .y = 0}, {.x = 5, .y = 5, .open = true}, {.x = 10, .y = 10}};

static struct report_chart chart_of(const struct report_series *s, size_t n)
{
    return (struct report_chart){.title = "A title",
                                 .desc = "What is seen.",
                                 .x = {.label = "load"},
                                 .y = {.label = "latency"},
                                 .series = s,
                                 .nseries = n};
}

/* Every tag that opens closes, in order, and & is only in entities. */
static void assert_well_formed(const char *s)
{
    char open[64][32];
    int depth = 0;

    for (; *s; s++) {
        if (*s == '&' && !memchr(s, ';', strnlen(s, 7)))
            fail_msg("a bare & at: %.40s", s);
        if (*s == '&')
            assert_true(strchr("alqg#", s[1]) != NULL);
        if (*s != '<')
            continue;
        const char *end = strchr(s, '>');
        char name[32] = "";

        assert_non_null(end);
        if (s[1] == '/') {
            sscanf(s + 2, "%31[a-zA-Z]", name);
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (end[-1] != '/') {
            sscanf(s + 1, "%31[a-zA-Z]", name);
            assert_true(depth < 64 && name[0]);
            strcpy(open[depth++], name);
        }
        s = end;
    }
    assert_int_equal(depth, 0);
}

static void a_rising_line_is_drawn_with_dots_marks_and_ticks(void **state)
{
    (void)state;
    struct report_series s = {.name = "up", .point = rising, .n = 3};
    struct report_chart c = chart_of(&s, 1);
    struct wr_str out = {0};

    report_chart_text(&c, &(struct report_text_style){.width = 30, .height = 11, .ascii = true},
                      &out);
    assert_string_equal(out.s, "A title\n"
                               "  latency\n"
                               " 10 +                    ..a\n"
                               "    |              ......\n"
                               "    |         ..A..\n"
                               "    |   ......\n"
                               "  0 +a..\n"
                               "    ++----------+----------+\n"
                               "     0          5         10\n"
                               "              load\n"
                               "  a up\n");
    wr_str_fini(&out);
}

static void a_terminal_with_unicode_gets_finer_dots(void **state)
{
    (void)state;
    struct report_series s = {.name = "up", .point = rising, .n = 3};
    struct report_chart c = chart_of(&s, 1);
    struct wr_str plain = {0}, colour = {0};

    report_chart_text(&c, &(struct report_text_style){.width = 40}, &plain);
    report_chart_text(&c, &(struct report_text_style){.width = 40, .colour = true}, &colour);
    assert_non_null(strstr(plain.s, "●"));
    assert_non_null(strstr(plain.s, "\xe2\xa1")); /* the first bytes of a Braille pattern */
    assert_null(strstr(plain.s, "\033"));
    char entry[48];
    snprintf(entry, sizeof entry, "\033[%sm●\033[0m up",
             palette_colours[palette_of("up")].terminal);
    assert_non_null(strstr(colour.s, entry));
    wr_str_fini(&plain);
    wr_str_fini(&colour);
}

static void a_number_that_is_none_breaks_the_line(void **state)
{
    (void)state;
    struct report_point p[] = {{.x = 0, .y = 0}, {.x = 1, .y = NAN}, {.x = 2, .y = 2}};
    struct report_series s = {.name = "gap", .point = p, .n = 3};
    struct report_chart c = chart_of(&s, 1);
    struct wr_str out = {0};

    report_chart_svg(&c, &out);
    assert_non_null(strstr(out.s, "stroke-linecap=\"round\" d=\"M64.00"));
    const char *d = strstr(strstr(out.s, "class=\"line\""), " d=\"M") + strlen(" d=\"M");
    const char *end = strchr(d, '"');
    assert_non_null(memchr(d, 'M', (size_t)(end - d)));
    assert_null(memchr(d, 'L', (size_t)(end - d)));
    wr_str_fini(&out);
}

static void names_cannot_break_out_of_a_picture(void **state)
{
    (void)state;
    struct report_series s = {.name = "</text><script>\"'&\x01", .point = rising, .n = 3};
    struct report_chart c = chart_of(&s, 1);
    struct wr_str out = {0};

    c.title = c.desc = c.x.label = c.y.label = s.name;
    report_chart_svg(&c, &out);
    assert_well_formed(out.s);
    assert_null(strstr(out.s, "<script"));
    assert_null(strchr(out.s, '\x01'));
    wr_str_fini(&out);
}

static void a_picture_names_and_describes_itself(void **state)
{
    (void)state;
    struct report_series s[] = {{.name = "a", .point = rising, .n = 3},
                                {.name = "b", .point = rising, .n = 3, .marks_only = true},
                                {.name = "c", .point = rising, .n = 3, .line_only = true}};
    struct report_chart c = chart_of(s, 3);
    struct wr_str out = {0}, inside = {0};
    int marks = 0;

    report_chart_svg(&c, &out);
    assert_well_formed(out.s);
    assert_non_null(strstr(out.s, "role=\"img\" aria-labelledby=\"chart-title chart-desc\""));
    assert_non_null(strstr(out.s, "<title id=\"chart-title\">A title</title>"));
    assert_non_null(strstr(out.s, "<desc id=\"chart-desc\">What is seen.</desc>"));
    assert_non_null(strstr(out.s, "prefers-color-scheme:dark"));
    for (const char *m = out.s; (m = strstr(m, "class=\"mark")); m++)
        marks++;
    assert_int_equal(marks, 2 * 3 + 2); /* two series with marks, and their legend */
    assert_non_null(strstr(out.s, "<title>a: 5, 5</title>"));

    report_chart_svg_inline(&c, "p7", &inside);
    assert_well_formed(inside.s);
    assert_null(strstr(inside.s, "<style>"));
    assert_non_null(strstr(inside.s, "clip-path=\"url(#p7-clip)\""));
    wr_str_fini(&out);
    wr_str_fini(&inside);
}

/* Some viewers know no variables, some no style sheets at all. */
static void a_picture_has_its_colours_without_a_style_sheet(void **state)
{
    (void)state;
    struct report_series s[] = {{.name = "a", .point = rising, .n = 3},
                                {.name = "b", .point = rising, .n = 3, .guide = true}};
    struct report_chart c = chart_of(s, 2);
    struct wr_str out = {0};

    report_chart_svg(&c, &out);
    const char *css = strstr(out.s, "<style>"), *shapes = strstr(out.s, "</style>");
    const char *variable = strstr(css, ":var(");

    assert_true(strstr(css, "@supports") < variable);
    assert_null(strstr(shapes, "var("));
    assert_non_null(strstr(shapes, "<rect class=\"ground\" width=\"100%\" height=\"100%\" "
                                   "fill=\"#ffffff\"/>"));
    char group[80];
    const char *light = palette_colours[palette_of("a")].light;
    snprintf(group, sizeof group, "<g class=\"s%u\" fill=\"%s\" stroke=\"%s\">", palette_of("a"),
             light, light);
    assert_non_null(strstr(shapes, group));
    assert_non_null(strstr(shapes, "<g class=\"guide\" fill=\"#555555\" stroke=\"#555555\">"));
    for (const char *l = shapes; (l = strstr(l, "class=\"line\"")); l++)
        assert_int_equal(strncmp(l, "class=\"line\" fill=\"none\"", 24), 0);
    wr_str_fini(&out);
}

/* The labels of the axes, each as <text class="dim" ...>label</text>, in order. */
static void assert_labels(const struct report_chart *c, const char *want)
{
    struct wr_str out = {0}, labels = {0};

    report_chart_svg(c, &out);
    for (const char *t = out.s; (t = strstr(t, "<text class=\"dim\"")); t++) {
        const char *from = strchr(t, '>') + 1, *to = strchr(from, '<');

        wr_str_addn(&labels, from, (size_t)(to - from));
        wr_str_add(&labels, " ");
    }
    assert_string_equal(labels.s, want);
    wr_str_fini(&out);
    wr_str_fini(&labels);
}

static void ticks_are_round_numbers_that_hold_the_points(void **state)
{
    (void)state;
    struct report_point p[] = {{.x = 0.013, .y = 3.7}, {.x = 0.29, .y = 181}};
    struct report_series s = {.name = "s", .point = p, .n = 2};
    struct report_chart c = chart_of(&s, 1);

    c.x.zero = true;
    c.y.zero = true;
    assert_labels(&c, "0.00 0.05 0.10 0.15 0.20 0.25 0.30 0 50 100 150 200 ");
    c.y.log = true;
    assert_labels(&c, "0.00 0.05 0.10 0.15 0.20 0.25 0.30 2 5 10 20 50 100 200 ");
    p[1].y = 4e9;
    assert_labels(&c, "0.00 0.05 0.10 0.15 0.20 0.25 0.30 1 100 10k 1M 100M 10G ");
    c.x.min = 0.1;
    c.x.max = 0.2;
    c.y = (struct report_axis){.label = "y", .min = 0, .max = 100};
    assert_labels(&c, "0.10 0.12 0.14 0.16 0.18 0.20 0 20 40 60 80 100 ");
}

/* Whatever the points, both renderers answer with a picture free of non-numbers. */
static void assert_draws(const struct report_point *p, size_t n)
{
    for (int variant = 0; variant < 16; variant++) {
        struct report_series s = {
            .name = "s", .point = p, .n = n, .steps = variant & 4, .line_only = variant & 8};
        struct report_chart c = chart_of(&s, n ? 1 : 0);
        struct wr_str svg = {0}, text = {0};

        c.x.log = variant & 1;
        c.y.log = variant & 2;
        c.x.zero = c.y.zero = variant & 4;
        report_chart_svg(&c, &svg);
        report_chart_text(&c, &(struct report_text_style){.ascii = variant & 1}, &text);
        assert_well_formed(svg.s);
        for (const char *t = strstr(svg.s, "</style>"); *t; t++)
            if (!strncmp(t, "nan", 3) || !strncmp(t, "inf", 3))
                fail_msg("not a number: %.60s", t);
        assert_true(text.n > 100);
        wr_str_fini(&svg);
        wr_str_fini(&text);
    }
}

static void labels_of_large_values_have_a_unit_with_the_right_prefix(void **state)
{
    (void)state;
    struct report_point p[] = {{.x = 0, .y = 1}, {.x = 2, .y = 3e5}};
    struct report_series s = {.name = "s", .point = p, .n = 2};
    struct report_chart c = chart_of(&s, 1);
    struct wr_str out = {0};

    c.x = (struct report_axis){.label = "x", .min = 0, .max = 2};
    c.y = (struct report_axis){.label = "latency", .unit = "us", .log = true};
    assert_labels(&c, "0.0 0.5 1.0 1.5 2.0 1 us 10 us 100 us 1 ms 10 ms 100 ms 1 s ");
    c.y.log = false;
    c.y.zero = true;
    assert_labels(&c, "0.0 0.5 1.0 1.5 2.0 0 50 ms 100 ms 150 ms 200 ms 250 ms 300 ms ");
    c.y.unit = "MB/s";
    assert_labels(&c,
                  "0.0 0.5 1.0 1.5 2.0 0 50 GB/s 100 GB/s 150 GB/s 200 GB/s 250 GB/s 300 GB/s ");
    report_chart_svg(&c, &out);
    assert_non_null(strstr(out.s, ">latency</text>")); /* the unit is not said twice */
    wr_str_fini(&out);
    c.y.unit = "calls";
    assert_labels(&c, "0.0 0.5 1.0 1.5 2.0 0 50k 100k 150k 200k 250k 300k ");
    p[1].y = 300;
    c.y.unit = "us";
    assert_labels(&c, "0.0 0.5 1.0 1.5 2.0 0 50 100 150 200 250 300 ");
}

static void any_points_at_all_make_a_picture(void **state)
{
    (void)state;
    static const double hard[] = {0,        -1,     1e-300, 1e300,        -1e300, NAN,
                                  INFINITY, 5e-324, 1,      1.0000000001, 1e15};
    enum { N = sizeof hard / sizeof *hard };

    assert_draws(NULL, 0);
    for (int i = 0; i < N; i++) {
        assert_draws(&(struct report_point){.x = 1, .y = hard[i]}, 1);
        for (int j = 0; j < N; j++) {
            struct report_point p[] = {{.x = hard[j], .y = hard[i]},
                                       {.x = hard[i], .y = hard[j], .low = hard[i], .high = 2},
                                       {.x = 2, .y = 3, .low = -1, .high = 4}};

            assert_draws(p, 2);
            assert_draws(p, 3);
        }
    }
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;

    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

static void series_with_points_stay_apart_by_marks(void **state)
{
    (void)state;
    struct report_series s[14];

    for (int i = 0; i < 14; i++)
        s[i] = (struct report_series){
            .name = "a rather long name of a series", .point = rising, .n = 3};
    struct report_chart c = chart_of(s, 14);
    struct wr_str out = {0};

    report_chart_svg(&c, &out);
    for (size_t k = 2; k < PALETTE_MARKS; k++) /* 3 points, and in the legend */
        assert_int_equal(count(out.s, palette_mark(k)), 4);
    /* The 13th and 14th have the first marks again, and dashes. */
    assert_int_equal(count(out.s, palette_mark(0)), 8);
    assert_int_equal(count(out.s, "stroke-dasharray=\"7 4\""), 4);
    wr_str_fini(&out);
}

static void lines_and_guides_stay_apart_by_dashes(void **state)
{
    (void)state;
    struct report_series s[6];

    for (int i = 0; i < 6; i++)
        s[i] = (struct report_series){
            .name = "a line", .point = rising, .n = 3, .line_only = true, .guide = i % 2};
    struct report_chart c = chart_of(s, 6);
    struct wr_str out = {0};

    report_chart_svg(&c, &out);
    for (size_t k = 1; k < 6; k++) {
        char dash[48];

        snprintf(dash, sizeof dash, "stroke-dasharray=\"%s\"", palette_dash(k));
        assert_int_equal(count(out.s, dash), 2); /* and in the legend */
    }
    wr_str_fini(&out);
}

/* Of a steep line, one that lies on another, and one that lies aside. */
static void every_line_shows_its_letter(void **state)
{
    static const struct report_point steep[] = {{.x = 5, .y = 0}, {.x = 5.01, .y = 20}};
    struct report_series s[] = {
        {.name = "up", .point = rising, .n = 3, .line_only = true},
        {.name = "the same", .point = rising, .n = 3, .line_only = true},
        {.name = "steep", .point = steep, .n = 2, .line_only = true},
        {.name = "points", .point = rising, .n = 3, .marks_only = true},
    };
    struct report_chart c = chart_of(s, 4);
    struct wr_str out = {0};

    (void)state;
    report_chart_text(&c, &(struct report_text_style){.ascii = true, .width = 60}, &out);
    char *legend = strstr(out.s, "  .a. up");
    assert_non_null(legend);
    assert_non_null(strstr(legend, "  .a. up  .b. the same  .c. steep  d points\n"));
    *legend = '\0';
    char *plot = strstr(out.s, " 20 +");
    for (const char *letter = "abcd"; *letter; letter++)
        if (!strchr(plot, *letter))
            fail_msg("no %c in\n%s", *letter, out.s);
    wr_str_fini(&out);
}

/* A band is an area in a page; in a terminal its two ends are dotted. */
static void a_terminal_shows_the_range_of_a_fan(void **state)
{
    static const struct report_point level[] = {{.x = 0, .y = 10, .low = 2, .high = 18},
                                                {.x = 10, .y = 10, .low = 2, .high = 18}};
    struct report_series s[] = {
        {.name = "median", .point = level, .n = 2, .line_only = true, .fan = true}};
    struct report_chart c = chart_of(s, 1);
    struct wr_str out = {0};
    size_t rows = 0;

    (void)state;
    report_chart_text(&c, &(struct report_text_style){.ascii = true, .width = 60}, &out);
    *strstr(out.s, "+-") = '\0';
    for (char *rest = out.s, *line; (line = strsep(&rest, "\n"));)
        rows += strstr(line, ".   .   .") || strstr(line, ".....");
    assert_int_equal(rows, 3);
    wr_str_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rising_line_is_drawn_with_dots_marks_and_ticks),
        cmocka_unit_test(a_terminal_with_unicode_gets_finer_dots),
        cmocka_unit_test(a_number_that_is_none_breaks_the_line),
        cmocka_unit_test(names_cannot_break_out_of_a_picture),
        cmocka_unit_test(a_picture_names_and_describes_itself),
        cmocka_unit_test(a_picture_has_its_colours_without_a_style_sheet),
        cmocka_unit_test(ticks_are_round_numbers_that_hold_the_points),
        cmocka_unit_test(labels_of_large_values_have_a_unit_with_the_right_prefix),
        cmocka_unit_test(any_points_at_all_make_a_picture),
        cmocka_unit_test(series_with_points_stay_apart_by_marks),
        cmocka_unit_test(lines_and_guides_stay_apart_by_dashes),
        cmocka_unit_test(every_line_shows_its_letter),
        cmocka_unit_test(a_terminal_shows_the_range_of_a_fan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
