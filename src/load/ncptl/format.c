/* format.c -- reformats a program: keywords in capitals, one statement per line, bodies indented,
 * comments kept where they were.
 *
 * Works on the tokens, with the line breaks and depths that the parser recorded in unit->indent, so
 * the result has the same tokens in the same order. Called by `weir lang fmt`.
 */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "ast_priv.h"
#include "func_priv.h"

enum { WIDTH = 100, STEP = 2 };

struct printer {
    const struct ncptl_unit *u;
    struct wr_str *out;
    size_t column;
    unsigned indent; /* of the current statement */
    bool fresh;      /* nothing on this line yet */
    uint32_t comment;
};

static void format_newline(struct printer *p)
{
    if (!p->fresh)
        wr_str_add(p->out, "\n");
    p->fresh = true;
    p->column = 0;
}

static void format_put(struct printer *p, const char *s, size_t n, bool space)
{
    if (p->fresh) {
        wr_str_addf(p->out, "%*s", (int)p->column, "");
        p->fresh = false;
    } else if (space) {
        wr_str_add(p->out, " ");
        p->column++;
    }
    wr_str_addn(p->out, s, n);
    p->column += n;
}

static void format_begin_line(struct printer *p, unsigned indent)
{
    format_newline(p);
    p->column = indent;
}

/* Is a space written between two tokens? */
static bool format_needs_space(const struct nc_tok *a, const struct nc_tok *b, bool unary)
{
    switch (b->kind) {
    case NT_COMMA:
    case NT_PERIOD:
    case NT_RPAREN:
    case NT_RBRACKET:
    case NT_RBRACE: /* of a range; those of blocks begin a line */
        return false;
    case NT_LPAREN: /* a function's arguments follow its name */
        if (a->kind == NT_WORD)
            return a->kw != NK_REAL && !nc_func_find(a->kw);
        return a->kind != NT_LPAREN && a->kind != NT_LBRACE && !unary;
    default:
        return a->kind != NT_LPAREN && a->kind != NT_LBRACKET && a->kind != NT_LBRACE && !unary;
    }
}

/* A sign rather than a difference: nothing before it can end an operand. */
static bool format_is_unary(const struct ncptl_unit *u, uint32_t i)
{
    const struct nc_tok *t = &u->lexed.toks.v[i];

    if (t->kind != NT_MINUS && t->kind != NT_PLUS)
        return false;
    if (!i)
        return true;
    switch (u->lexed.toks.v[i - 1].kind) {
    case NT_INT:
    case NT_NAME:
    case NT_RPAREN:
        return false;
    default:
        return true;
    }
}

static void format_put_comment(struct printer *p, const struct nc_comment *c)
{
    uint32_t n = c->len;
    const char *s = p->u->src.text + c->at;

    while (n && isspace((unsigned char)s[n - 1]))
        n--;
    format_put(p, s, n, true);
    format_newline(p);
}

/* Comments before token i: those behind a statement stay on its line. */
static void format_comments(struct printer *p, uint32_t i)
{
    size_t n = p->u->lexed.comments.n;
    unsigned mark = p->u->indent[i];

    for (; p->comment < n && p->u->lexed.comments.v[p->comment].before <= i; p->comment++) {
        const struct nc_comment *c = &p->u->lexed.comments.v[p->comment];

        if (c->own_line || p->fresh)
            format_begin_line(p, mark ? (mark - 1) * STEP : p->indent + 2 * STEP);
        format_put_comment(p, c);
        p->column = mark ? 0 : p->indent + 2 * STEP;
    }
}

static void format_put_word(struct printer *p, const struct nc_tok *t, bool space)
{
    char word[64];
    size_t n = t->len < sizeof word ? t->len : sizeof word;

    for (size_t i = 0; i < n; i++)
        word[i] = (char)toupper((unsigned char)p->u->src.text[t->at + i]);
    format_put(p, word, n, space);
}

static bool format_space_before(const struct ncptl_unit *u, uint32_t i)
{
    const struct nc_tok *t = u->lexed.toks.v;

    return i && format_needs_space(&t[i - 1], &t[i], format_is_unary(u, i - 1));
}

/* Of this token and all that stick to it. */
static size_t format_run_length(const struct ncptl_unit *u, uint32_t i)
{
    size_t n = u->lexed.toks.v[i].len;

    while (++i + 1 < u->lexed.toks.n && !u->indent[i] && !format_space_before(u, i))
        n += u->lexed.toks.v[i].len;
    return n;
}

static void format_put_token(struct printer *p, uint32_t i)
{
    const struct nc_tok *t = &p->u->lexed.toks.v[i];
    unsigned mark = p->u->indent[i];
    bool space = format_space_before(p->u, i);

    if (mark) {
        p->indent = (mark - 1) * STEP;
        format_begin_line(p, p->indent);
    } else if (space && p->column + 1 + format_run_length(p->u, i) > WIDTH) {
        format_begin_line(p, p->indent + 2 * STEP);
    }
    if (t->kind == NT_WORD)
        format_put_word(p, t, space);
    else
        format_put(p, p->u->src.text + t->at, t->len, space);
}

/* An empty line between sentences where the author left one. */
static bool format_blank_line_before(const struct ncptl_unit *u, uint32_t i)
{
    uint32_t at = u->lexed.toks.v[i].at, breaks = 0;

    for (size_t c = 0; c < u->lexed.comments.n; c++)
        if (u->lexed.comments.v[c].before == i && u->lexed.comments.v[c].own_line) {
            at = u->lexed.comments.v[c].at;
            break;
        }
    while (at > 0 && isspace((unsigned char)u->src.text[at - 1]))
        breaks += u->src.text[--at] == '\n';
    return breaks > 1;
}

void ncptl_format(const struct ncptl_unit *u, struct wr_str *out)
{
    struct printer p = {.u = u, .out = out, .fresh = true};
    uint32_t n = (uint32_t)u->lexed.toks.n - 1;

    assert(u->lexed.toks.n && u->indent);
    for (uint32_t i = 0; i < n; i++) {
        bool trailing = p.comment < u->lexed.comments.n &&
                        u->lexed.comments.v[p.comment].before == i &&
                        !u->lexed.comments.v[p.comment].own_line;

        if (trailing)
            format_comments(&p, i);
        if (i && u->indent[i] == 1 && format_blank_line_before(u, i)) {
            format_newline(&p);
            wr_str_add(out, "\n");
        }
        format_comments(&p, i);
        format_put_token(&p, i);
    }
    format_comments(&p, n);
    format_newline(&p);
}
