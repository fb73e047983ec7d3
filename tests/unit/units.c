/* Quantities: what text means, what is refused and how, and that text and value agree. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/units.h"

typedef bool parse_double_fn(double *ret, const char *text, struct wr_err *err);
typedef bool parse_whole_fn(uint64_t *ret, const char *text, struct wr_err *err);
typedef struct wr_text text_double_fn(double v);
typedef struct wr_text text_whole_fn(uint64_t v);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void times_are_picoseconds(void **state)
{
    static const struct {
        const char *text;
        double ps;
    } cases[] = {
        {"1 ps", 1},
        {"0.25 ps", 0.25},
        {"726.6 ns", 726600},
        {"726.609003 ns", 726609.003},
        {"726.6090031234 ns", 726609.0031234},
        {"0.1 us", 100e3},
        {"0.1 \u00b5s", 100e3},
        {"0.1 \u03bcs", 100e3},
        {"5ms", 5e9},
        {"  1.5   s ", 1.5e12},
        {"2 min", 120e12},
        {"1 h", 3600e12},
        {"1e3 ns", 1e6},
        {"1E-3 ns", 1},
        {"+3 ns", 3000},
        {".5 ns", 500},
        {"5. ns", 5000},
        {"0", 0},
        {"0.000", 0},
        {"-0", 0},
        {"0 h", 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct wr_err err = {0};
        double v = -1;

        if (!wr_parse_time(&v, cases[i].text, &err))
            fail_msg("%s: %s", cases[i].text, err.text);
        if (v != cases[i].ps || signbit(v))
            fail_msg("%s is %.17g ps", cases[i].text, v);
    }
}

static void rates_are_bytes_per_second(void **state)
{
    static const struct {
        const char *text;
        double bps;
    } cases[] = {
        {"25 GB/s", 25e9},
        {"16 GiB/s", 16.0 * (1 << 30)},
        {"5.25GiB/s", 5637144576.0},
        {"200 Gbit/s", 25e9},
        {"1 bit/s", 0.125},
        {"1 kbit/s", 125},
        {"8 Kibit/s", 1024},
        {"3 B/s", 3},
        {"3 bytes/s", 3},
        {"1 TB/s", 1e12},
        {"1 PiB/s", 0x1p50},
        {"0.1 EB/s", 1e17},
        {"1e-3 B/s", 1e-3},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct wr_err err = {0};
        double v = -1;

        if (!wr_parse_rate(&v, cases[i].text, &err))
            fail_msg("%s: %s", cases[i].text, err.text);
        if (v != cases[i].bps)
            fail_msg("%s is %.17g B/s", cases[i].text, v);
    }
}

static void bytes_are_whole_and_exact(void **state)
{
    static const struct {
        const char *text;
        uint64_t b;
    } cases[] = {
        {"4 KiB", 4096},
        {"166666666 B", 166666666},
        {"1 byte", 1},
        {"17 bytes", 17},
        {"1.5 KiB", 1536},
        {"0.5 kB", 500},
        {"0.0009765625 KiB", 1},
        {"18446744073709551615 B", UINT64_MAX},
        {"15.9990234375 EiB", UINT64_MAX - (UINT64_C(1) << 50) + 1},
        {"9007199254740993 B", 9007199254740993},
        {"18.446744073709551615 EB", UINT64_MAX},
        {"1e3 kB", 1000000},
        {"0", 0},
        {"0e99999999999 B", 0},
        {"0.00e-9999 B", 0},
        {"1.000000000000000000000000000000000000000000000000000000000000000000000000000 B", 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct wr_err err = {0};
        uint64_t v = 7;

        if (!wr_parse_bytes(&v, cases[i].text, &err))
            fail_msg("%s: %s", cases[i].text, err.text);
        if (v != cases[i].b)
            fail_msg("%s is %llu B", cases[i].text, (unsigned long long)v);
    }
}

static void fractions_and_numbers_need_no_unit(void **state)
{
    struct wr_err err = {0};
    uint64_t n;
    double v;

    (void)state;
    assert_true(wr_parse_fraction(&v, "20 %", &err) && v == 0.2);
    assert_true(wr_parse_fraction(&v, "20%", &err) && v == 0.2);
    assert_true(wr_parse_fraction(&v, "0.2", &err) && v == 0.2);
    assert_true(wr_parse_fraction(&v, "27.3 %", &err) && v == 0.273);
    assert_true(wr_parse_real(&v, "-1.5e3", &err) && v == -1500);
    assert_true(wr_parse_real(&v, "-0", &err) && v == 0 && signbit(v));
    assert_true(wr_parse_u64(&n, "1e6", &err) && n == 1000000);
    assert_true(wr_parse_u64(&n, "2.50e2", &err) && n == 250);
    /* More digits than a double holds are still rounded to the nearest. */
    assert_true(wr_parse_real(&v,
                              "0.10000000000000000555111512312578270211815834045410156250000000000"
                              "0000000000000000000000000000001",
                              &err) &&
                v == 0.1);
}

enum what { TIME, RATE, FRACTION, REAL, BYTES, WHOLE };

static bool parse_as(enum what what, const char *text, struct wr_err *err)
{
    static parse_double_fn *const doubles[] = {[TIME] = wr_parse_time,
                                               [RATE] = wr_parse_rate,
                                               [FRACTION] = wr_parse_fraction,
                                               [REAL] = wr_parse_real};
    static parse_whole_fn *const wholes[] = {[BYTES] = wr_parse_bytes, [WHOLE] = wr_parse_u64};
    double v = 12345;
    uint64_t n = 12345;
    bool ok = what < BYTES ? doubles[what](&v, text, err) : wholes[what](&n, text, err);

    if (!ok && (v != 12345 || n != 12345))
        fail_msg("%s: the result was touched", text);
    return ok;
}

#define TIME_UNITS "ps, ns, us, ms, s, min, h"
#define BYTE_UNITS "B, kB, MB, GB, TB, PB, EB, KiB, MiB, GiB, TiB, PiB, EiB"
#define RATE_UNITS                                                                          \
    "B/s, kB/s, MB/s, GB/s, TB/s, PB/s, KiB/s, MiB/s, GiB/s, TiB/s, PiB/s, bit/s, kbit/s, " \
    "Mbit/s, Gbit/s, Tbit/s"

static void what_is_wrong_is_said_with_what_to_write(void **state)
{
    static const struct {
        enum what what;
        const char *text, *message;
    } cases[] = {
        {TIME, "5", "\"5\" has no unit; write one such as 726.6 ns (units: " TIME_UNITS ")"},
        {RATE, "25", "\"25\" has no unit; write one such as 25 GB/s (units: " RATE_UNITS ")"},
        {BYTES, "1e3", "\"1e3\" has no unit; write one such as 4 KiB (units: " BYTE_UNITS ")"},
        {TIME, "5 GB", "\"5 GB\" is a number of bytes, not a time; units that fit: " TIME_UNITS},
        {RATE, "25 GB", "\"25 GB\" is a number of bytes, not a rate; units that fit: " RATE_UNITS},
        {BYTES, "5 %", "\"5 %\" is a fraction, not a number of bytes; units that fit: " BYTE_UNITS},
        {FRACTION, "5 s", "\"5 s\" is a time, not a fraction; units that fit: %"},
        {TIME, "5 nss",
         "\"5 nss\" has the unknown unit \"nss\"; did you mean ns? Units that fit: " TIME_UNITS},
        {TIME, "5 ns x", "\"5 ns x\" has the unknown unit \"ns x\"; units that fit: " TIME_UNITS},
        {TIME, "5 fortnights",
         "\"5 fortnights\" has the unknown unit \"fortnights\"; units that fit: " TIME_UNITS},
        {RATE, "200 Gb/s", "\"200 Gb/s\" is ambiguous; write Gbit/s for bits or GB/s for bytes"},
        {RATE, "200 Gbps", "\"200 Gbps\" is ambiguous; write Gbit/s for bits or GB/s for bytes"},
        {RATE, "5 b/s", "\"5 b/s\" is ambiguous; write bit/s for bits or B/s for bytes"},
        {RATE, "5 Kb/s", "\"5 Kb/s\" is ambiguous; write kbit/s for bits or kB/s for bytes"},
        {RATE, "5 KB/s", "\"5 KB/s\" is ambiguous; write kB/s for 1000 bytes or KiB/s for 1024"},
        {BYTES, "5 KB", "\"5 KB\" is ambiguous; write kB for 1000 bytes or KiB for 1024"},
        {BYTES, "5 Mb", "\"5 Mb\" is ambiguous; write bytes as MB"},
        {TIME, "-5 ns", "\"-5 ns\" is negative; write a time of 0 or more"},
        {FRACTION, "-5 %", "\"-5 %\" is negative; write a fraction of 0 or more"},
        {WHOLE, "-5", "\"-5\" is negative; write a whole number of 0 or more"},
        {TIME, "nan", "\"nan\" is not finite; write a time such as 726.6 ns"},
        {REAL, "-.INF", "\"-.INF\" is not finite; write a number such as 1.5"},
        {REAL, "1e999", "\"1e999\" is too large to be stored; write a smaller value"},
        {TIME, "1e300 h", "\"1e300 h\" is too large to be stored; write a smaller value"},
        {REAL, "1e-999", "\"1e-999\" is too small to be stored; write 0 or a larger value"},
        {WHOLE, "18446744073709551616",
         "\"18446744073709551616\" is too large; write at most 18446744073709551615"},
        {BYTES, "16 EiB", "\"16 EiB\" is too large; write at most 18446744073709551615 B"},
        {WHOLE, "1e99999999999",
         "\"1e99999999999\" is too large; write at most 18446744073709551615"},
        {BYTES, "1.5 B", "\"1.5 B\" is not a whole number of bytes; round it yourself"},
        {BYTES, "0.1 KiB", "\"0.1 KiB\" is not a whole number of bytes; round it yourself"},
        {WHOLE, "1e-9", "\"1e-9\" is not a whole number; round it yourself"},
        {WHOLE, "5 B", "\"5 B\" is not a whole number; remove \"B\""},
        {REAL, "5x", "\"5x\" is not a number; remove \"x\""},
        {WHOLE, "", "\"\" is not a whole number; write one such as 33"},
        {WHOLE, "0x10", "\"0x10\" is not a whole number; remove \"x10\""},
        {TIME, "ns", "\"ns\" is not a time; write one such as 726.6 ns"},
        {RATE, "fast", "\"fast\" is not a rate; write one such as 25 GB/s"},
        {REAL, "1,5", "\"1,5\" is not a number; remove \",5\""},
        {REAL, ".", "\".\" is not a number; write one such as 1.5"},
        {TIME, "soon\n\033[2J", "\"soon??[2J\" is not a time; write one such as 726.6 ns"},
        {WHOLE, "an answer that is much longer than any message should be",
         "\"an answer that is much longer than any messa...\" is not a whole number; write one "
         "such as 33"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct wr_err err = {0};

        if (parse_as(cases[i].what, cases[i].text, &err))
            fail_msg("\"%s\" was accepted", cases[i].text);
        assert_string_equal(err.text, cases[i].message);
        assert_int_equal(err.code, WR_INPUT);
    }
}

static void text_uses_the_unit_a_person_would(void **state)
{
    (void)state;
    assert_string_equal(wr_text_time(726609.003).s, "726.609003 ns");
    assert_string_equal(wr_text_time(0).s, "0 s");
    assert_string_equal(wr_text_time(0.001).s, "0.001 ps");
    assert_string_equal(wr_text_time(1e6).s, "1 us");
    assert_string_equal(wr_text_time(1.5e12).s, "1.5 s");
    assert_string_equal(wr_text_time(90e12).s, "90 s");
    assert_string_equal(wr_text_time(120e12).s, "2 min");
    assert_string_equal(wr_text_time(7200e12).s, "2 h");
    assert_string_equal(wr_text_time(1e40).s, "1e28 s");
    assert_string_equal(wr_text_rate(25e9).s, "25 GB/s");
    assert_string_equal(wr_text_rate(5637144576.0).s, "5.25 GiB/s");
    assert_string_equal(wr_text_rate(0).s, "0 B/s");
    assert_string_equal(wr_text_rate(0.125).s, "0.125 B/s");
    assert_string_equal(wr_text_bytes(0).s, "0 B");
    assert_string_equal(wr_text_bytes(4096).s, "4 KiB");
    assert_string_equal(wr_text_bytes(1000).s, "1 kB");
    assert_string_equal(wr_text_bytes(1536).s, "1.5 KiB");
    assert_string_equal(wr_text_bytes(1500).s, "1.5 kB");
    assert_string_equal(wr_text_bytes(166666666).s, "166666666 B");
    assert_string_equal(wr_text_bytes(UINT64_MAX).s, "18446744073709551615 B");
    assert_string_equal(wr_text_bytes(UINT64_C(1) << 40).s, "1 TiB");
    assert_string_equal(wr_text_fraction(0.2).s, "20 %");
    assert_string_equal(wr_text_fraction(0.273).s, "27.3 %");
    assert_string_equal(wr_text_real(-0.0015).s, "-0.0015");
    assert_string_equal(wr_text_real(1e-300).s, "1e-300");
    assert_string_equal(wr_text_real(1.25e30).s, "1.25e30");
    assert_string_equal(wr_text_real(1e15).s, "1000000000000000");
}

static void check_double(double v, text_double_fn *text, parse_double_fn *parse)
{
    struct wr_err err = {0};
    struct wr_text t = text(v);
    double back = -1;

    if (!parse(&back, t.s, &err))
        fail_msg("%.17g -> %s: %s", v, t.s, err.text);
    if (memcmp(&back, &v, sizeof v))
        fail_msg("%.17g -> %s -> %.17g", v, t.s, back);
}

static void check_whole(uint64_t v, text_whole_fn *text, parse_whole_fn *parse)
{
    struct wr_err err = {0};
    struct wr_text t = text(v);
    uint64_t back = v + 1;

    if (!parse(&back, t.s, &err))
        fail_msg("%llu -> %s: %s", (unsigned long long)v, t.s, err.text);
    if (back != v)
        fail_msg("%llu -> %s -> %llu", (unsigned long long)v, t.s, (unsigned long long)back);
}

static void check_all(double v, uint64_t n)
{
    double positive = fabs(v);

    check_double(v, wr_text_real, wr_parse_real);
    check_double(positive, wr_text_time, wr_parse_time);
    check_double(positive, wr_text_rate, wr_parse_rate);
    check_double(positive, wr_text_fraction, wr_parse_fraction);
    check_whole(n, wr_text_bytes, wr_parse_bytes);
    check_whole(n, wr_text_u64, wr_parse_u64);
}

static void every_value_survives_being_written_and_read(void **state)
{
    struct wr_rng rng;

    (void)state;
    wr_rng_init(&rng, 1, 2, 3);
    for (int e = 0; e < 64; e++)
        for (int d = -1; d <= 1; d++)
            check_all(ldexp(1, e) + d, (UINT64_C(1) << e) + (uint64_t)d);
    for (uint64_t n = 1; n < UINT64_MAX / 10; n *= 10)
        for (int d = -1; d <= 1; d++)
            check_all((double)n * 3600 + d, n + (uint64_t)d);
    for (int i = 0; i < 5000; i++) {
        uint64_t bits = wr_rng_u64(&rng);
        double v;

        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            v = 1;
        check_all(v, bits >> (i % 64));
        check_all(floor(ldexp(1 + wr_rng_unit(&rng), i % 60)), bits >> (i % 64) << (i % 23));
    }
    check_all(5e-324, UINT64_MAX);
    check_all(1.7976931348623157e308, UINT64_MAX - 1);
    check_all(2.2250738585072014e-308, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_picoseconds),
        cmocka_unit_test(rates_are_bytes_per_second),
        cmocka_unit_test(bytes_are_whole_and_exact),
        cmocka_unit_test(fractions_and_numbers_need_no_unit),
        cmocka_unit_test(what_is_wrong_is_said_with_what_to_write),
        cmocka_unit_test(text_uses_the_unit_a_person_would),
        cmocka_unit_test(every_value_survives_being_written_and_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
