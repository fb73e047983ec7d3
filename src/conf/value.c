/* value.c -- scalars: one entry of a table per type says how to read, write and compare it.
 *
 * bind.c calls the parsers, conf_dump.c the writers, explain.c the words and ranges. What is
 * written reads back to the same value. Also quotes scalars and comments for YAML.
 */
#include <assert.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "conf_priv.h"

struct value_at {
    struct conf *c;
    const struct conf_row *row;
    const struct conf_node *node;
};

static bool value_parse_bool(const struct value_at *v, void *ret, struct wr_err *err)
{
    static const struct {
        const char *text;
        bool value;
    } words[] = {{"true", true}, {"false", false}, {"yes", true},
                 {"no", false},  {"on", true},     {"off", false}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(v->node->text, words[i].text)) {
            *(bool *)ret = words[i].value;
            return true;
        }
    return wr_fail(err, WR_INPUT, "\"%s\" is neither true nor false; write one of them",
                   wr_text_clip(v->node->text).s);
}

static bool value_parse_u32(const struct value_at *v, void *ret, struct wr_err *err)
{
    uint64_t wide;

    if (!wr_parse_u64(&wide, v->node->text, err))
        return false;
    if (wide > UINT32_MAX)
        return wr_fail(err, WR_INPUT, "\"%s\" is too large; write at most %u",
                       wr_text_clip(v->node->text).s, UINT32_MAX);
    *(uint32_t *)ret = (uint32_t)wide;
    return true;
}

static bool value_parse_u64(const struct value_at *v, void *ret, struct wr_err *err)
{
    return wr_parse_u64(ret, v->node->text, err);
}

static bool value_parse_real(const struct value_at *v, void *ret, struct wr_err *err)
{
    return wr_parse_real(ret, v->node->text, err);
}

static bool value_parse_fraction(const struct value_at *v, void *ret, struct wr_err *err)
{
    return wr_parse_fraction(ret, v->node->text, err);
}

static bool value_parse_bytes(const struct value_at *v, void *ret, struct wr_err *err)
{
    return wr_parse_bytes(ret, v->node->text, err);
}

static bool value_parse_rate(const struct value_at *v, void *ret, struct wr_err *err)
{
    return wr_parse_rate(ret, v->node->text, err);
}

static bool value_parse_time(const struct value_at *v, void *ret, struct wr_err *err)
{
    return wr_parse_time(ret, v->node->text, err);
}

static bool value_parse_string(const struct value_at *v, void *ret, struct wr_err *err)
{
    (void)err;
    *(const char **)ret = v->node->text;
    return true;
}

static bool value_parse_path(const struct value_at *v, void *ret, struct wr_err *err)
{
    if (!v->node->text[0])
        return wr_fail(err, WR_INPUT, "the file name is empty; write one");
    const char *path = conf_path_beside(v->c, v->node->src, v->node->text);

    wr_vec_push(&v->c->paths, path);
    *(const char **)ret = path;
    return true;
}

static bool value_parse_choice(const struct value_at *v, void *ret, struct wr_err *err)
{
    struct wr_nearest near = {.want = v->node->text};
    struct wr_str all = {0};

    for (uint32_t i = 0; v->row->names[i]; i++) {
        const char *name = v->row->names[i];

        if (!strcmp(name, v->node->text)) {
            *(uint32_t *)ret = i;
            wr_str_fini(&all);
            return true;
        }
        wr_nearest_try(&near, name);
        wr_str_addf(&all, "%s%s", i ? ", " : "", name);
    }
    wr_fail(err, WR_UNKNOWN, "no choice \"%s\"; %s%s%swrite one of %.1500s",
            wr_text_clip(v->node->text).s, near.best ? "did you mean \"" : "",
            near.best ? near.best : "", near.best ? "\"? Or " : "", wr_str_get(&all));
    wr_str_fini(&all);
    return false;
}

static void value_text_bool(const struct conf_row *row, const void *at, struct wr_str *out)
{
    (void)row;
    wr_str_add(out, *(const bool *)at ? "true" : "false");
}

static void value_text_u32(const struct conf_row *row, const void *at, struct wr_str *out)
{
    (void)row;
    wr_str_add(out, wr_text_u64(*(const uint32_t *)at).s);
}

static void value_text_u64(const struct conf_row *row, const void *at, struct wr_str *out)
{
    (void)row;
    wr_str_add(out, wr_text_u64(*(const uint64_t *)at).s);
}

static void value_text_real(const struct conf_row *row, const void *at, struct wr_str *out)
{
    (void)row;
    wr_str_add(out, wr_text_real(*(const double *)at).s);
}

static void value_text_fraction(const struct conf_row *row, const void *at, struct wr_str *out)
{
    (void)row;
    wr_str_add(out, wr_text_fraction(*(const double *)at).s);
}

static void value_text_bytes(const struct conf_row *row, const void *at, struct wr_str *out)
{
    (void)row;
    wr_str_add(out, wr_text_bytes(*(const uint64_t *)at).s);
}

static void value_text_rate(const struct conf_row *row, const void *at, struct wr_str *out)
{
    (void)row;
    wr_str_add(out, wr_text_rate(*(const double *)at).s);
}

static void value_text_time(const struct conf_row *row, const void *at, struct wr_str *out)
{
    (void)row;
    wr_str_add(out, wr_text_time(*(const double *)at).s);
}

static void value_text_string(const struct conf_row *row, const void *at, struct wr_str *out)
{
    const char *s = *(const char *const *)at;

    (void)row;
    wr_str_add(out, s ? s : "");
}

static void value_text_choice(const struct conf_row *row, const void *at, struct wr_str *out)
{
    wr_str_add(out, row->names[*(const uint32_t *)at]);
}

static void value_text_plugin(const struct conf_row *row, const void *at, struct wr_str *out)
{
    const struct conf_plugin *p = at;

    (void)row;
    wr_str_add(out, p->kind ? p->kind->name : "");
}

static double value_number_u32(const void *at)
{
    return *(const uint32_t *)at;
}

static double value_number_u64(const void *at)
{
    return (double)*(const uint64_t *)at;
}

static double value_number_double(const void *at)
{
    return *(const double *)at;
}

static const struct value_type {
    const char *words;
    const char *example;
    size_t size;
    bool (*parse)(const struct value_at *v, void *ret, struct wr_err *err); /* NULL: no scalar */
    void (*text)(const struct conf_row *row, const void *at, struct wr_str *out);
    double (*number)(const void *at); /* NULL: has no range */
    const char *unit;                 /* of the stored number */
} types[] = {
    [CONF_BOOL] = {.words = "true or false",
                   .example = "true",
                   .size = sizeof(bool),
                   .parse = value_parse_bool,
                   .text = value_text_bool},
    [CONF_U32] = {.words = "a whole number",
                  .example = "33",
                  .size = sizeof(uint32_t),
                  .parse = value_parse_u32,
                  .text = value_text_u32,
                  .number = value_number_u32},
    [CONF_U64] = {.words = "a whole number",
                  .example = "33",
                  .size = sizeof(uint64_t),
                  .parse = value_parse_u64,
                  .text = value_text_u64,
                  .number = value_number_u64},
    [CONF_REAL] = {.words = "a number",
                   .example = "1.5",
                   .size = sizeof(double),
                   .parse = value_parse_real,
                   .text = value_text_real,
                   .number = value_number_double},
    [CONF_FRACTION] = {.words = "a fraction",
                       .example = "20 %",
                       .size = sizeof(double),
                       .parse = value_parse_fraction,
                       .text = value_text_fraction,
                       .number = value_number_double},
    [CONF_BYTES] = {.words = "a number of bytes",
                    .example = "4 KiB",
                    .size = sizeof(uint64_t),
                    .parse = value_parse_bytes,
                    .text = value_text_bytes,
                    .number = value_number_u64,
                    .unit = "B"},
    [CONF_RATE] = {.words = "a rate",
                   .example = "25 GB/s",
                   .size = sizeof(double),
                   .parse = value_parse_rate,
                   .text = value_text_rate,
                   .number = value_number_double,
                   .unit = "B/s"},
    [CONF_TIME] = {.words = "a time",
                   .example = "726.6 ns",
                   .size = sizeof(double),
                   .parse = value_parse_time,
                   .text = value_text_time,
                   .number = value_number_double,
                   .unit = "ps"},
    [CONF_STRING] = {.words = "a text",
                     .size = sizeof(char *),
                     .parse = value_parse_string,
                     .text = value_text_string},
    [CONF_PATH] = {.words = "a file name",
                   .size = sizeof(char *),
                   .parse = value_parse_path,
                   .text = value_text_string},
    [CONF_CHOICE] = {.words = "one of a few names",
                     .size = sizeof(uint32_t),
                     .parse = value_parse_choice,
                     .text = value_text_choice},
    [CONF_SECTION] = {.words = "a mapping", .example = "{key: value}"},
    [CONF_PLUGIN] = {.words = "the name of a kind or a mapping with `kind:`",
                     .size = sizeof(struct conf_plugin),
                     .text = value_text_plugin},
    [CONF_LIST] = {.words = "a list",
                   .example = "[first, second]",
                   .size = sizeof(struct conf_list)},
    [CONF_TABLE] = {.words = "a mapping of names",
                    .example = "{name: {key: value}}",
                    .size = sizeof(struct conf_list)},
};

size_t conf_type_size(enum conf_type type)
{
    return types[type].size;
}

bool conf_is_scalar(enum conf_type type)
{
    return types[type].parse != NULL;
}

const char *conf_type_words(enum conf_type type)
{
    return types[type].words;
}

const char *conf_type_example(enum conf_type type)
{
    return types[type].example;
}

void conf_value_text(const struct conf_row *row, const void *field, struct wr_str *out)
{
    assert(types[row->type].text);
    types[row->type].text(row, field, out);
}

const char *conf_type_unit(enum conf_type type)
{
    return types[type].unit;
}

static void value_add_bound(const struct conf_row *row, double v, struct wr_str *out)
{
    switch (row->type) {
    case CONF_BYTES:
        wr_str_add(out, wr_text_bytes(v < 0x1p64 ? (uint64_t)v : UINT64_MAX).s);
        break;
    case CONF_REAL:
    case CONF_FRACTION:
    case CONF_RATE:
    case CONF_TIME:
        types[row->type].text(row, &v, out);
        break;
    case CONF_U64: /* 2^64 is the least double beyond the largest of them */
        wr_str_addf(out, "%llu", (unsigned long long)(v < 0x1p64 ? (uint64_t)v : UINT64_MAX));
        break;
    default:
        wr_str_add(out, wr_text_real(v).s);
    }
}

bool conf_range_words(const struct conf_row *row, struct wr_str *out)
{
    struct conf_row r = *row;

    if (row->type == CONF_LIST && !row->rows)
        r.type = row->item;
    if (r.min >= r.max || (conf_is_scalar(r.type) && !types[r.type].number))
        return false;
    if (r.max < DBL_MAX && r.min > -DBL_MAX) {
        value_add_bound(&r, r.min, out);
        wr_str_add(out, " to ");
        value_add_bound(&r, r.max, out);
    } else {
        wr_str_add(out, r.max < DBL_MAX ? "at most " : "at least ");
        value_add_bound(&r, r.max < DBL_MAX ? r.max : r.min, out);
    }
    return true;
}

static bool value_check_range(const struct conf_row *row, double v, const char *text,
                              struct wr_err *err)
{
    struct wr_str allowed = {0};

    if (row->min >= row->max || (v >= row->min && v <= row->max))
        return true;
    conf_range_words(row, &allowed);
    wr_fail(err, WR_INPUT, "%s is out of range; allowed: %s", text, wr_str_get(&allowed));
    wr_str_fini(&allowed);
    return false;
}

bool conf_count_check(const struct conf_row *row, size_t n, struct wr_err *err)
{
    char text[40];

    if (row->type == CONF_LIST && !row->rows)
        return true;
    snprintf(text, sizeof text, "the number of items, %zu,", n);
    return value_check_range(row, (double)n, text, err);
}

bool conf_value_parse(struct conf *c, const struct conf_row *row, const struct conf_node *node,
                      void *ret, struct wr_err *err)
{
    const struct value_type *type = &types[row->type];
    union {
        bool b;
        uint32_t u32;
        uint64_t u64;
        double d;
        const char *s;
    } v;

    assert(conf_is_scalar(row->type) && node->type == CONF_NODE_SCALAR);
    if (!type->parse(&(struct value_at){c, row, node}, &v, err))
        return false;
    if (type->number && !value_check_range(row, type->number(&v), wr_text_clip(node->text).s, err))
        return false;
    memcpy(ret, &v, type->size);
    return true;
}

static bool value_is_plain(const char *text)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.";
    static const char rest[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.+-%";

    if (text[0] == '-' && text[1] >= '0' && text[1] <= '9')
        text++;
    if (!*text || !strchr(first, *text))
        return false;
    for (const char *s = text + 1; *s; s++)
        if (!strchr(rest, *s) && !(*s == ' ' && s[1] && s[1] != ' '))
            return false;
    return true;
}

/* The characters that YAML takes as line breaks or does not print. */
static bool value_needs_escape(uint32_t cp)
{
    return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0x2028 || cp == 0x2029 || cp == 0xfeff ||
           cp == 0xfffe || cp == 0xffff;
}

/* Takes one character off *s: false, one byte and U+FFFD when it is no UTF-8.
 * Shortest forms only and no halves of UTF-16, as libyaml has it. */
static bool value_next_character(const char **s, uint32_t *ret)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)*s;
    unsigned more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 0, n = 1;
    uint32_t cp = more ? *p & (0x3fu >> more) : *p;

    while (n <= more && (p[n] & 0xc0) == 0x80)
        cp = cp << 6 | (p[n++] & 63);
    bool ok = n == more + 1 && (more || *p < 0x80) && cp >= least[more] && cp <= 0x10ffff &&
              !(cp >= 0xd800 && cp < 0xe000);
    *s += ok ? n : 1;
    *ret = ok ? cp : 0xfffd;
    return ok;
}

bool conf_is_utf8(const char *text)
{
    uint32_t cp;

    while (*text)
        if (!value_next_character(&text, &cp))
            return false;
    return true;
}

void conf_quote(struct wr_str *out, const char *text)
{
    if (value_is_plain(text)) {
        wr_str_add(out, text);
        return;
    }
    wr_str_add(out, "\"");
    while (*text) {
        const char *start = text;
        uint32_t cp;
        bool ok = value_next_character(&text, &cp);

        if (!ok || value_needs_escape(cp))
            wr_str_addf(out, "\\u%04x", cp);
        else if (cp == '"' || cp == '\\')
            wr_str_addf(out, "\\%c", (int)cp);
        else
            wr_str_addn(out, start, (size_t)(text - start));
    }
    wr_str_add(out, "\"");
}

/* Text of any bytes as part of a YAML comment: line ends and invalid UTF-8 become `?`. */
void conf_comment(struct wr_str *out, const char *text)
{
    while (*text) {
        const char *start = text;
        uint32_t cp;

        if (!value_next_character(&text, &cp) || value_needs_escape(cp))
            wr_str_add(out, "?");
        else
            wr_str_addn(out, start, (size_t)(text - start));
    }
}
