/* units.c -- parses quantities with units and writes them back.
 *
 *     text --units_scan--> decimal digits, power of ten, unit --> double or whole number
 *     value --units_shortest--> decimal digits --units_compose--> text
 *
 * The digits stay decimal until the unit's power of ten was applied, so a value is rounded once.
 * Tables at the top list dimensions, prefixes and units; everything else follows from them.
 */
#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

enum dim { DIM_COUNT, DIM_NUMBER, DIM_FRACTION, DIM_BYTES, DIM_RATE, DIM_TIME };

static const struct {
    const char *one;     /* what a value of this kind is called */
    const char *example; /* what to write */
    const char *units;   /* those that fit */
} dims[] = {
    [DIM_COUNT] = {"a whole number", "33", NULL},
    [DIM_NUMBER] = {"a number", "1.5", NULL},
    [DIM_FRACTION] = {"a fraction", "20 % or 0.2", "%"},
    [DIM_BYTES] = {"a number of bytes", "4 KiB",
                   "B, kB, MB, GB, TB, PB, EB, KiB, MiB, GiB, TiB, PiB, EiB"},
    [DIM_RATE] = {"a rate", "25 GB/s",
                  "B/s, kB/s, MB/s, GB/s, TB/s, PB/s, KiB/s, MiB/s, GiB/s, TiB/s, PiB/s, "
                  "bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s"},
    [DIM_TIME] = {"a time", "726.6 ns", "ps, ns, us, ms, s, min, h"},
};

/* A unit is worth mul * 10^exp10 * 2^exp2 of what is stored. */
struct unit {
    enum dim dim;
    int exp10, exp2, mul;
};

static const struct prefix {
    const char *text;
    int exp10, exp2;
} prefixes[] = {{"", 0, 0},    {"k", 3, 0},   {"M", 6, 0},   {"G", 9, 0},   {"T", 12, 0},
                {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20}, {"Gi", 0, 30},
                {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60}};
enum { NPREFIXES = sizeof prefixes / sizeof prefixes[0] };

static const struct base_unit {
    const char *text;
    struct unit unit;
    bool prefixed;
} bases[] = {
    {"B", {DIM_BYTES, 0, 0, 1}, true},       {"bytes", {DIM_BYTES, 0, 0, 1}, false},
    {"byte", {DIM_BYTES, 0, 0, 1}, false},   {"B/s", {DIM_RATE, 0, 0, 1}, true},
    {"bit/s", {DIM_RATE, 0, -3, 1}, true},   {"bytes/s", {DIM_RATE, 0, 0, 1}, false},
    {"ps", {DIM_TIME, 0, 0, 1}, false},      {"ns", {DIM_TIME, 3, 0, 1}, false},
    {"us", {DIM_TIME, 6, 0, 1}, false},      {"\u00b5s", {DIM_TIME, 6, 0, 1}, false},
    {"\u03bcs", {DIM_TIME, 6, 0, 1}, false}, {"ms", {DIM_TIME, 9, 0, 1}, false},
    {"s", {DIM_TIME, 12, 0, 1}, false},      {"min", {DIM_TIME, 12, 0, 60}, false},
    {"h", {DIM_TIME, 12, 0, 3600}, false},   {"%", {DIM_FRACTION, -2, 0, 1}, false},
};
enum { NBASES = sizeof bases / sizeof bases[0] };

/* digits * 10^exp10, no leading or trailing zeros in digits; zero has none. */
struct decimal {
    bool negative;
    int n;
    int exp10;
    char digits[64];
};

enum { MOST_DIGITS = 60, LARGEST_EXPONENT = 100000 };

struct wr_text wr_text_clip(const char *text)
{
    struct wr_text t;
    size_t most = sizeof t.s - 4, n = strlen(text), keep = n < sizeof t.s ? n : most;

    /* Do not cut inside a character: continuation bytes are 10xxxxxx. */
    while (keep < n && keep && ((unsigned char)text[keep] & 0xc0) == 0x80)
        keep--;
    for (size_t i = 0, len; i < keep; i += len ? len : 1) {
        uint32_t c = 0;

        len = wr_utf8_next(text + i, keep - i, &c);
        if (len && c >= 0x20 && wr_utf8_is_harmless(c))
            memcpy(t.s + i, text + i, len);
        else
            memset(t.s + i, '?', len ? len : 1);
    }
    snprintf(t.s + keep, sizeof t.s - keep, "%s", keep < n ? "..." : "");
    return t;
}

static bool units_fail_form(enum dim dim, const char *text, struct wr_err *err)
{
    return wr_fail(err, WR_INPUT, "\"%s\" is not %s; write one such as %s", wr_text_clip(text).s,
                   dims[dim].one, dims[dim].example);
}

static bool units_fail_large(enum dim dim, const char *text, struct wr_err *err)
{
    if (dim == DIM_BYTES || dim == DIM_COUNT)
        return wr_fail(err, WR_INPUT, "\"%s\" is too large; write at most %s%s",
                       wr_text_clip(text).s, wr_text_u64(UINT64_MAX).s,
                       dim == DIM_BYTES ? " B" : "");
    return wr_fail(err, WR_INPUT, "\"%s\" is too large to be stored; write a smaller value",
                   wr_text_clip(text).s);
}

static const char *units_skip_space(const char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    return s;
}

/* [e[+-]digits] after the mantissa; an e that no digit follows belongs to the unit. */
static const char *units_scan_exponent(const char *s, int *exp10)
{
    int e = 0;

    if (*s != 'e' && *s != 'E')
        return s;
    const char *p = s + 1;
    bool minus = *p == '-';
    p += *p == '-' || *p == '+';
    if (!isdigit((unsigned char)*p))
        return s;
    for (; isdigit((unsigned char)*p); p++)
        if (e < LARGEST_EXPONENT)
            e = e * 10 + (*p - '0');
    *exp10 += minus ? -e : e;
    return p;
}

/* Reads a decimal number from the start of `s`; returns what follows it, or
 * NULL when there is none. Digits beyond those that can matter are remembered
 * as a single last 1 when any of them is not 0: enough to round correctly. */
static const char *units_scan_decimal(struct decimal *d, const char *s)
{
    bool any = false, point = false, more = false;

    *d = (struct decimal){.negative = *s == '-'};
    s += *s == '-' || *s == '+';
    for (; isdigit((unsigned char)*s) || (*s == '.' && !point); s++) {
        if (*s == '.') {
            point = true;
            continue;
        }
        any = true;
        if (d->n == MOST_DIGITS) {
            more |= *s != '0';
            d->exp10 += !point;
            continue;
        }
        d->exp10 -= point;
        if (d->n || *s != '0')
            d->digits[d->n++] = *s;
    }
    if (!any)
        return NULL;
    if (more) {
        d->digits[d->n++] = '1';
        d->exp10--;
    }
    s = units_scan_exponent(s, &d->exp10);
    while (d->n && d->digits[d->n - 1] == '0') {
        d->n--;
        d->exp10++;
    }
    d->digits[d->n] = '\0';
    return s;
}

static bool units_find(const char *text, struct unit *ret)
{
    for (size_t p = 0; p < NPREFIXES; p++) {
        size_t n = strlen(prefixes[p].text);

        if (strncmp(text, prefixes[p].text, n))
            continue;
        for (size_t b = 0; b < NBASES; b++) {
            if ((n && !bases[b].prefixed) || strcmp(text + n, bases[b].text))
                continue;
            *ret = bases[b].unit;
            ret->exp10 += prefixes[p].exp10;
            ret->exp2 += prefixes[p].exp2;
            return true;
        }
    }
    return false;
}

/* "Gb/s", "Gbps", "GBps", "Kb", "KB": readers disagree on what they mean. */
static bool units_fail_ambiguous(enum dim dim, const char *text, const char *unit,
                                 struct wr_err *err)
{
    size_t n = unit[0] && strchr("kKMGTPE", unit[0]) ? 1 : 0;
    char letter = unit[0] == 'K' ? 'k' : unit[0];
    const char *rest = unit + n;
    const char *end = dim == DIM_RATE ? "/s" : "";

    if (n)
        n += *rest == 'i';
    rest = unit + n;
    if (n == 1 && unit[0] == 'K' && *rest == 'B')
        return wr_fail(err, WR_INPUT,
                       "\"%s\" is ambiguous; write kB%s for 1000 bytes or KiB%s for 1024",
                       wr_text_clip(text).s, end, end);
    if (strcmp(rest, "b") && strcmp(rest, "b/s") && strcmp(rest, "bps") && strcmp(rest, "Bps"))
        return true;
    if (dim == DIM_BYTES)
        return wr_fail(err, WR_INPUT, "\"%s\" is ambiguous; write bytes as %.*sB",
                       wr_text_clip(text).s, n ? 1 : 0, &letter);
    return wr_fail(err, WR_INPUT,
                   "\"%s\" is ambiguous; write %.*sbit/s for bits or %.*sB/s for bytes",
                   wr_text_clip(text).s, n ? 1 : 0, &letter, n ? 1 : 0, &letter);
}

static bool units_fail_unknown(enum dim dim, const char *text, const char *unit, struct wr_err *err)
{
    char names[NPREFIXES * NBASES][16];
    struct wr_nearest near = {.want = unit};
    size_t n = 0;

    if ((dim == DIM_BYTES || dim == DIM_RATE) && !units_fail_ambiguous(dim, text, unit, err))
        return false;
    for (size_t b = 0; b < NBASES; b++)
        for (size_t p = 0; p < (bases[b].prefixed ? NPREFIXES : 1); p++)
            if (bases[b].unit.dim == dim) {
                snprintf(names[n], sizeof names[n], "%s%s", prefixes[p].text, bases[b].text);
                wr_nearest_try(&near, names[n++]);
            }
    if (near.best)
        return wr_fail(err, WR_INPUT,
                       "\"%s\" has the unknown unit \"%s\"; did you mean %s? Units that fit: %s",
                       wr_text_clip(text).s, wr_text_clip(unit).s, near.best, dims[dim].units);
    return wr_fail(err, WR_INPUT, "\"%s\" has the unknown unit \"%s\"; units that fit: %s",
                   wr_text_clip(text).s, wr_text_clip(unit).s, dims[dim].units);
}

/* The text after the number must be a unit of this dimension. */
static bool units_check_unit(struct unit *ret, enum dim dim, const struct decimal *d,
                             const char *text, const char *unit, struct wr_err *err)
{
    bool bare_is_fine = !dims[dim].units || dim == DIM_FRACTION || !d->n;

    if (!*unit && bare_is_fine) {
        *ret = (struct unit){.dim = dim, .mul = 1};
        return true;
    }
    if (!*unit)
        return wr_fail(err, WR_INPUT, "\"%s\" has no unit; write one such as %s (units: %s)",
                       wr_text_clip(text).s, dims[dim].example, dims[dim].units);
    if (!dims[dim].units)
        return wr_fail(err, WR_INPUT, "\"%s\" is not %s; remove \"%s\"", wr_text_clip(text).s,
                       dims[dim].one, wr_text_clip(unit).s);
    if (!units_find(unit, ret))
        return units_fail_unknown(dim, text, unit, err);
    if (ret->dim != dim)
        return wr_fail(err, WR_INPUT, "\"%s\" is %s, not %s; units that fit: %s",
                       wr_text_clip(text).s, dims[ret->dim].one, dims[dim].one, dims[dim].units);
    return true;
}

static bool units_looks_infinite(const char *s)
{
    s += *s == '-' || *s == '+';
    s += *s == '.';
    return !strncasecmp(s, "inf", 3) || !strncasecmp(s, "nan", 3);
}

/* Number and unit; spaces around both are free. */
static bool units_scan(struct decimal *d, struct unit *unit, enum dim dim, const char *text,
                       struct wr_err *err)
{
    const char *s = units_skip_space(text);
    const char *rest = units_scan_decimal(d, s);
    char name[64];

    if (!rest && units_looks_infinite(s))
        return wr_fail(err, WR_INPUT, "\"%s\" is not finite; write %s such as %s",
                       wr_text_clip(text).s, dims[dim].one, dims[dim].example);
    if (!rest)
        return units_fail_form(dim, text, err);
    rest = units_skip_space(rest);

    size_t n = strlen(rest);
    while (n && (rest[n - 1] == ' ' || rest[n - 1] == '\t'))
        n--;
    snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : (int)sizeof name - 1, rest);
    if (!units_check_unit(unit, dim, d, text, name, err))
        return false;
    if (d->negative && d->n && dim != DIM_NUMBER)
        return wr_fail(err, WR_INPUT, "\"%s\" is negative; write %s of 0 or more",
                       wr_text_clip(text).s, dims[dim].one);
    return true;
}

static bool units_parse_double(double *ret, enum dim dim, const char *text, struct wr_err *err)
{
    struct decimal d;
    struct unit u;
    char shifted[96];

    if (!units_scan(&d, &u, dim, text, err))
        return false;
    if (!d.n) {
        *ret = d.negative && dim == DIM_NUMBER ? -0.0 : 0.0;
        return true;
    }
    snprintf(shifted, sizeof shifted, "%s%se%d", d.negative ? "-" : "", d.digits,
             d.exp10 + u.exp10);
    double v = ldexp(strtod(shifted, NULL), u.exp2) * u.mul;

    if (!isfinite(v))
        return units_fail_large(dim, text, err);
    if (v == 0)
        return wr_fail(err, WR_INPUT, "\"%s\" is too small to be stored; write 0 or a larger value",
                       wr_text_clip(text).s);
    *ret = v;
    return true;
}

static bool units_fail_whole(enum dim dim, const char *text, struct wr_err *err)
{
    return wr_fail(err, WR_INPUT, "\"%s\" is not a whole number%s; round it yourself",
                   wr_text_clip(text).s, dim == DIM_BYTES ? " of bytes" : "");
}

/* Exact: digits * 10^e * 2^s is taken apart as digits * 5^e * 2^(e+s). */
static bool units_parse_whole(uint64_t *ret, enum dim dim, const char *text, struct wr_err *err)
{
    struct decimal d;
    struct unit u;
    unsigned __int128 v = 0;

    if (!units_scan(&d, &u, dim, text, err))
        return false;

    int e = d.exp10 + u.exp10, twos = u.exp2 + e;
    if (d.n && d.n + e > 40)
        return units_fail_large(dim, text, err);
    if (d.n > 38 || e < -40)
        return d.n ? units_fail_whole(dim, text, err) : (*ret = 0, true);
    for (int i = 0; i < d.n; i++)
        v = v * 10 + (unsigned)(d.digits[i] - '0');
    for (; v && e < 0; e++) {
        if (v % 5)
            return units_fail_whole(dim, text, err);
        v /= 5;
    }
    for (; v && e > 0; e--) {
        if (v > UINT64_MAX)
            return units_fail_large(dim, text, err);
        v *= 5;
    }
    for (; v && twos < 0; twos++) {
        if (v & 1)
            return units_fail_whole(dim, text, err);
        v >>= 1;
    }
    for (; v && twos > 0; twos--) {
        if (v > UINT64_MAX)
            return units_fail_large(dim, text, err);
        v <<= 1;
    }
    if (v > UINT64_MAX)
        return units_fail_large(dim, text, err);
    *ret = (uint64_t)v;
    return true;
}

bool wr_parse_u64(uint64_t *ret, const char *text, struct wr_err *err)
{
    return units_parse_whole(ret, DIM_COUNT, text, err);
}

bool wr_parse_bytes(uint64_t *ret, const char *text, struct wr_err *err)
{
    return units_parse_whole(ret, DIM_BYTES, text, err);
}

bool wr_parse_real(double *ret, const char *text, struct wr_err *err)
{
    return units_parse_double(ret, DIM_NUMBER, text, err);
}

bool wr_parse_fraction(double *ret, const char *text, struct wr_err *err)
{
    return units_parse_double(ret, DIM_FRACTION, text, err);
}

bool wr_parse_rate(double *ret_bps, const char *text, struct wr_err *err)
{
    return units_parse_double(ret_bps, DIM_RATE, text, err);
}

bool wr_parse_time(double *ret_ps, const char *text, struct wr_err *err)
{
    return units_parse_double(ret_ps, DIM_TIME, text, err);
}

/* The fewest digits that read back to v. */
static struct decimal units_shortest(double v)
{
    struct decimal d = {0};
    char text[40];

    for (int p = 0; p < 17; p++) {
        snprintf(text, sizeof text, "%.*e", p, v);
        if (strtod(text, NULL) == v)
            break;
    }
    units_scan_decimal(&d, text);
    return d;
}

/* How many digits stand before the point; at most 0 for what is less than 1. */
static int units_magnitude(const struct decimal *d)
{
    return d->n + d->exp10;
}

/* 1500, 0.0015, 1.5e21: positional while that is short. */
static struct wr_text units_compose(const struct decimal *d, const char *unit)
{
    struct wr_text t;
    int whole = units_magnitude(d), n = d->n;
    const char *sign = d->negative ? "-" : "", *gap = *unit ? " " : "";
    const char zeros[] = "000000000000000000000";

    if (!n)
        snprintf(t.s, sizeof t.s, "%s0%s%s", sign, gap, unit);
    else if (whole > 20 || whole < -5)
        snprintf(t.s, sizeof t.s, "%s%c%s%.20se%d%s%s", sign, d->digits[0], n > 1 ? "." : "",
                 d->digits + 1, whole - 1, gap, unit);
    else if (whole <= 0)
        snprintf(t.s, sizeof t.s, "%s0.%.*s%.20s%s%s", sign, -whole, zeros, d->digits, gap, unit);
    else if (whole >= n)
        snprintf(t.s, sizeof t.s, "%s%.20s%.*s%s%s", sign, d->digits, whole - n, zeros, gap, unit);
    else
        snprintf(t.s, sizeof t.s, "%s%.*s.%.20s%s%s", sign, whole, d->digits, d->digits + whole,
                 gap, unit);
    return t;
}

/* The largest decimal step in which the value is at least 1. */
struct step {
    const char *unit;
    int exp10;
};

static struct wr_text units_in_steps(struct decimal d, const struct step *steps)
{
    while (steps->exp10 && units_magnitude(&d) <= steps->exp10)
        steps++;
    d.exp10 -= steps->exp10;
    return units_compose(&d, steps->unit);
}

struct wr_text wr_text_u64(uint64_t v)
{
    struct wr_text t;

    snprintf(t.s, sizeof t.s, "%llu", (unsigned long long)v);
    return t;
}

struct wr_text wr_text_real(double v)
{
    struct decimal d = units_shortest(v);

    return units_compose(&d, "");
}

struct wr_text wr_text_fraction(double v)
{
    struct decimal d = units_shortest(v);

    d.exp10 += 2;
    return units_compose(&d, "%");
}

struct wr_text wr_text_time(double v_ps)
{
    static const struct step steps[] = {{"s", 12}, {"ms", 9}, {"us", 6}, {"ns", 3}, {"ps", 0}};
    static const struct {
        double ps;
        const char *unit;
    } long_ones[] = {{3600e12, "h"}, {60e12, "min"}};

    for (size_t i = 0; i < 2; i++)
        if (v_ps >= long_ones[i].ps && v_ps < 1e5 * 3600e12 && fmod(v_ps, long_ones[i].ps) == 0) {
            struct decimal d = units_shortest(v_ps / long_ones[i].ps);

            return units_compose(&d, long_ones[i].unit);
        }
    if (v_ps == 0)
        return (struct wr_text){"0 s"};
    return units_in_steps(units_shortest(v_ps), steps);
}

static const struct prefix *units_binary_prefix(double v)
{
    const struct prefix *best = NULL;

    for (size_t p = 0; p < NPREFIXES; p++)
        if (prefixes[p].exp2 && v >= ldexp(1, prefixes[p].exp2))
            best = &prefixes[p];
    return best;
}

/* Binary units where they are shorter: 5.25 GiB/s rather than 5.637144576 GB/s. */
struct wr_text wr_text_rate(double v_bps)
{
    static const struct step steps[] = {{"EB/s", 18}, {"PB/s", 15}, {"TB/s", 12}, {"GB/s", 9},
                                        {"MB/s", 6},  {"kB/s", 3},  {"B/s", 0}};
    struct wr_text decimal = units_in_steps(units_shortest(v_bps), steps);
    const struct prefix *p = units_binary_prefix(v_bps);
    char unit[8];

    if (!p)
        return decimal;
    struct decimal d = units_shortest(ldexp(v_bps, -p->exp2));
    snprintf(unit, sizeof unit, "%sB/s", p->text);
    struct wr_text binary = units_compose(&d, unit);
    return strlen(binary.s) < strlen(decimal.s) ? binary : decimal;
}

/* The shorter of decimal and binary (when that ends within three places), or
 * plain when both are long. */
struct wr_text wr_text_bytes(uint64_t v)
{
    static const struct step steps[] = {{"EB", 18}, {"PB", 15}, {"TB", 12}, {"GB", 9},
                                        {"MB", 6},  {"kB", 3},  {"B", 0}};
    struct wr_text digits = wr_text_u64(v), best;
    struct decimal d;

    units_scan_decimal(&d, digits.s);
    best = units_in_steps(d, steps);
    for (size_t p = 0; p < NPREFIXES; p++) {
        unsigned __int128 milli = (unsigned __int128)v * 1000;

        if (!prefixes[p].exp2 || v >> prefixes[p].exp2 == 0 ||
            milli & (((unsigned __int128)1 << prefixes[p].exp2) - 1))
            continue;
        char unit[8], text[32];
        snprintf(text, sizeof text, "%llue-3", (unsigned long long)(milli >> prefixes[p].exp2));
        units_scan_decimal(&d, text);
        snprintf(unit, sizeof unit, "%sB", prefixes[p].text);
        struct wr_text binary = units_compose(&d, unit);
        if (strlen(binary.s) <= strlen(best.s))
            best = binary;
    }
    if (strlen(digits.s) + strlen(" B") + 1 < strlen(best.s))
        snprintf(best.s, sizeof best.s, "%.40s B", digits.s);
    return best;
}
