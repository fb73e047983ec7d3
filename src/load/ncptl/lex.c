/* lex.c -- program text to tokens; error messages and warnings with their place in the text.
 *
 * Called once per program by parse_program.c. The last token is always NT_END, so the parser may
 * look ahead without a bound. Comments are kept beside the tokens for format.c.
 */
#include "lex_priv.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 100 }; /* columns of the offending line that a message quotes */

static const char *const fault_names[] = {
    [NC_SYNTAX] = "syntax error",
    [NC_SEMANTIC] = "semantic error",
    [NC_RUNTIME] = "runtime error",
    [NC_COMMUNICATION] = "communication error",
};

void nc_place(const struct nc_src *src, uint32_t at, unsigned *line, unsigned *column)
{
    *line = *column = 1;
    for (uint32_t i = 0; i < at && i < src->len; i++) {
        ++*column;
        if (src->text[i] == '\n') {
            ++*line;
            *column = 1;
        }
    }
}

/* The line around `at` and a caret; long lines are shown around the caret. */
static void lex_quote_line(const struct nc_src *src, uint32_t at, struct wr_str *out)
{
    size_t from = at, to = at;

    while (from > 0 && src->text[from - 1] != '\n' && at - from < SHOWN - 20)
        from--;
    while (to < src->len && src->text[to] != '\n' && src->text[to] != '\r' && to - from < SHOWN)
        to++;
    wr_str_add(out, "\n    ");
    for (size_t i = from; i < to; i++)
        wr_str_addf(out, "%c", isprint((unsigned char)src->text[i]) ? src->text[i] : ' ');
    wr_str_addf(out, "\n    %*s^", (int)(at - from), "");
}

static void lex_message(const struct nc_src *src, uint32_t at, const char *kind, struct wr_str *out,
                        const char *fmt, va_list ap) __attribute__((format(printf, 5, 0)));

static void lex_message(const struct nc_src *src, uint32_t at, const char *kind, struct wr_str *out,
                        const char *fmt, va_list ap)
{
    char text[1024];
    unsigned line, column;

    if (at > src->len)
        at = (uint32_t)src->len;
    vsnprintf(text, sizeof text, fmt, ap);
    nc_place(src, at, &line, &column);
    wr_str_addf(out, "%s:%u:%u: %s: %s", src->name, line, column, kind, text);
    lex_quote_line(src, at, out);
}

bool nc_fail(const struct nc_src *src, enum nc_fault fault, uint32_t at, struct wr_err *err,
             const char *fmt, ...)
{
    struct wr_str out = {0};
    va_list ap;

    va_start(ap, fmt);
    lex_message(src, at, fault_names[fault], &out, fmt, ap);
    va_end(ap);
    wr_fail(err, fault == NC_COMMUNICATION ? WR_CHECK : WR_INPUT, "%s", wr_str_get(&out));
    wr_str_fini(&out);
    return false;
}

void nc_warn(const struct nc_src *src, uint32_t at, struct wr_str *warnings, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    lex_message(src, at, "warning", warnings, fmt, ap);
    va_end(ap);
    wr_str_add(warnings, "\n");
}

struct lexer {
    const struct nc_src *src;
    struct wr_arena *arena;
    struct wr_str *warnings;
    struct wr_err *err;
    struct nc_lexed *out;
    uint32_t at;
};

static char lex_peek(const struct lexer *l, uint32_t ahead)
{
    return l->at + ahead < l->src->len ? l->src->text[l->at + ahead] : '\0';
}

static bool lex_is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void lex_push(struct lexer *l, struct nc_tok tok)
{
    wr_vec_push(&l->out->toks, tok);
    l->at = tok.at + tok.len;
}

static void lex_word(struct lexer *l)
{
    uint32_t n = 1;

    while (lex_is_name_char(lex_peek(l, n)))
        n++;
    char *low = wr_arena_strndup(l->arena, l->src->text + l->at, n);
    for (uint32_t i = 0; i < n; i++)
        low[i] = (char)tolower((unsigned char)low[i]);

    struct nc_tok tok = {.kind = NT_NAME, .at = l->at, .len = n, .text = low, .text_len = n};
    tok.kw = nc_keyword(low, n);
    if (tok.kw) {
        size_t have = l->out->toks.n;

        tok.kind = NT_WORD;
        /* "64-byte page-aligned": one hyphen before a keyword is white space. */
        if (have && l->out->toks.v[have - 1].kind == NT_MINUS)
            l->out->toks.n--;
    }
    lex_push(l, tok);
}

/* How many bytes of an ordinal's ending are at `ahead`: st, nd, rd, th. */
static uint32_t lex_ordinal(const struct lexer *l, uint32_t ahead)
{
    char a = (char)tolower((unsigned char)lex_peek(l, ahead));
    char b = (char)tolower((unsigned char)lex_peek(l, ahead + 1));

    return (a == 's' && b == 't') || ((a == 'n' || a == 'r') && b == 'd') || (a == 't' && b == 'h')
               ? 2
               : 0;
}

/* "64megabyte" is 64 and a keyword, not 64M and rubbish. */
static bool lex_keyword_follows(const struct lexer *l, uint32_t ahead)
{
    char low[32];
    uint32_t n = 0;

    while (n < sizeof low && lex_is_name_char(lex_peek(l, ahead + n))) {
        low[n] = (char)tolower((unsigned char)lex_peek(l, ahead + n));
        n++;
    }
    return n > 1 && n < sizeof low && nc_keyword(low, n);
}

static void lex_scale(struct nc_tok *tok, double by)
{
    tok->real *= by;
    if (by >= 0x1p62 || __builtin_mul_overflow(tok->value, (int64_t)by, &tok->value))
        tok->big = tok->big || tok->real != 0;
}

static void lex_exponent(struct lexer *l, struct nc_tok *tok, uint32_t *n)
{
    unsigned e = 0;

    for (*n += 1; isdigit((unsigned char)lex_peek(l, *n)); *n += 1)
        e = e < 400 ? e * 10 + (unsigned)(lex_peek(l, *n) - '0') : e;
    tok->real *= pow(10.0, e);
    for (; e && !tok->big && tok->value; e--)
        if (__builtin_mul_overflow(tok->value, 10, &tok->value))
            tok->big = true;
}

static void lex_number(struct lexer *l)
{
    static const char letters[] = "kmgt";
    struct nc_tok tok = {.kind = NT_INT, .at = l->at};
    uint32_t n = 0;

    for (; isdigit((unsigned char)lex_peek(l, n)); n++) {
        int digit = lex_peek(l, n) - '0';

        tok.real = tok.real * 10 + digit;
        if (__builtin_mul_overflow(tok.value, 10, &tok.value) ||
            __builtin_add_overflow(tok.value, digit, &tok.value))
            tok.big = true;
    }
    char c = (char)tolower((unsigned char)lex_peek(l, n));
    const char *m = c ? strchr(letters, c) : NULL;
    if (lex_keyword_follows(l, n)) {
        m = NULL;
    } else if (c == 'e' && isdigit((unsigned char)lex_peek(l, n + 1))) {
        lex_exponent(l, &tok, &n);
        n += lex_ordinal(l, n);
    } else if (lex_ordinal(l, n)) {
        n += 2;
        m = NULL;
    } else if (m) {
        lex_scale(&tok, ldexp(1.0, 10 * (int)(m - letters + 1)));
        n++;
        n += lex_ordinal(l, n);
    }
    tok.len = n;
    lex_push(l, tok);
}

/* One escape, at the backslash; false when it means nothing. */
static bool lex_escape(struct lexer *l, uint32_t n, char *ret, bool *keep)
{
    static const char from[] = "ntr\\\"", to[] = "\n\t\r\\\"";
    char c = lex_peek(l, n + 1);
    const char *f = c ? strchr(from, c) : NULL;

    *keep = f != NULL;
    if (f)
        *ret = to[f - from];
    return f || c == '\n' || (c == '\r' && lex_peek(l, n + 2) == '\n');
}

static bool lex_string(struct lexer *l)
{
    struct wr_str text = {0};
    uint32_t n = 1;

    for (;; n++) {
        char c = lex_peek(l, n);
        bool keep = true;

        if (l->at + n >= l->src->len || (c == '\\' && l->at + n + 1 >= l->src->len)) {
            wr_str_fini(&text);
            return nc_fail(l->src, NC_SYNTAX, l->at, l->err,
                           "this string has no end; close it with \"");
        }
        if (c == '"')
            break;
        if (c == '\\') {
            if (!lex_escape(l, n, &c, &keep))
                nc_warn(l->src, l->at + n, l->warnings,
                        "unknown escape \\%c is left out; use \\n \\t \\r \\\" or \\\\",
                        lex_peek(l, n + 1));
            n += lex_peek(l, n + 1) == '\r' && lex_peek(l, n + 2) == '\n' ? 2 : 1;
        }
        if (keep)
            wr_str_addn(&text, &c, 1);
    }
    lex_push(l, (struct nc_tok){.kind = NT_STRING,
                                .at = l->at,
                                .len = n + 1,
                                .text = wr_arena_strndup(l->arena, wr_str_get(&text), text.n),
                                .text_len = text.n});
    wr_str_fini(&text);
    return true;
}

static bool lex_symbol(struct lexer *l)
{
    /* Longer spellings first. */
    static const struct {
        char text[4];
        enum nc_tok_kind kind;
    } symbols[] = {
        {"...", NT_ELLIPSIS}, {"**", NT_POWER},   {"<<", NT_SHL},     {">>", NT_SHR},
        {"<>", NT_NE},        {"<=", NT_LE},      {">=", NT_GE},      {"/\\", NT_AND},
        {"\\/", NT_OR},       {",", NT_COMMA},    {".", NT_PERIOD},   {"{", NT_LBRACE},
        {"}", NT_RBRACE},     {"[", NT_LBRACKET}, {"]", NT_RBRACKET}, {"(", NT_LPAREN},
        {")", NT_RPAREN},     {"+", NT_PLUS},     {"-", NT_MINUS},    {"*", NT_STAR},
        {"/", NT_SLASH},      {"&", NT_BITAND},   {"|", NT_BITOR},    {"=", NT_EQ},
        {"<", NT_LT},         {">", NT_GT},
    };

    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        size_t n = strlen(symbols[i].text);

        if (l->src->len - l->at >= n && !memcmp(l->src->text + l->at, symbols[i].text, n)) {
            lex_push(l, (struct nc_tok){.kind = symbols[i].kind, .at = l->at, .len = (uint32_t)n});
            return true;
        }
    }
    unsigned char c = (unsigned char)lex_peek(l, 0);
    if (isprint(c))
        return nc_fail(l->src, NC_SYNTAX, l->at, l->err,
                       "the character %c has no meaning outside a string; remove it", c);
    return nc_fail(l->src, NC_SYNTAX, l->at, l->err,
                   "byte 0x%02x has no meaning outside a string; remove it", c);
}

static void lex_comment(struct lexer *l)
{
    uint32_t n = 0;
    size_t from = l->at;

    while (l->at + n < l->src->len && lex_peek(l, n) != '\n')
        n++;
    while (from > 0 && (l->src->text[from - 1] == ' ' || l->src->text[from - 1] == '\t'))
        from--;
    wr_vec_push(&l->out->comments,
                (struct nc_comment){.at = l->at,
                                    .len = n,
                                    .before = (uint32_t)l->out->toks.n,
                                    .own_line = !from || l->src->text[from - 1] == '\n'});
    l->at += n;
}

static bool lex_all(struct lexer *l)
{
    while (l->at < l->src->len) {
        unsigned char c = (unsigned char)lex_peek(l, 0);

        if (isspace(c)) {
            l->at++;
        } else if (c == '#') {
            lex_comment(l);
        } else if (isalpha(c)) {
            lex_word(l);
        } else if (isdigit(c)) {
            lex_number(l);
        } else if (!(c == '"' ? lex_string(l) : lex_symbol(l))) {
            return false;
        }
    }
    lex_push(l, (struct nc_tok){.kind = NT_END, .at = (uint32_t)l->src->len});
    return true;
}

bool nc_lex(struct nc_lexed *ret, const struct nc_src *src, struct wr_arena *arena,
            struct wr_str *warnings, struct wr_err *err)
{
    struct nc_lexed out = {0};
    struct lexer l = {.src = src, .arena = arena, .warnings = warnings, .err = err, .out = &out};

    if (!lex_all(&l)) {
        nc_lexed_fini(&out);
        return false;
    }
    *ret = out;
    return true;
}

void nc_lexed_fini(struct nc_lexed *lexed)
{
    wr_vec_fini(&lexed->toks);
    wr_vec_fini(&lexed->comments);
}
