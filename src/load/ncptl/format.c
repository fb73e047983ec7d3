/* format.c -- a program in its usual dress: keywords in capitals, one statement per
 * line, bodies indented, comments where they were. */
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

static void newline(struct printer *p)
{
    if (!p->fresh)
        wr_str_add(p->out, "\n");
    p->fresh = true;
    p->column = 0;
}

static void put(struct printer *p, const char *s, size_t n, bool space)
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

static void begin_line(struct printer *p, unsigned indent)
{
    newline(p);
    p->column = indent;
}

/* Is a space written between two tokens? */
static bool apart(const struct nc_tok *a, const struct nc_tok *b, bool unary)
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
static bool is_unary(const struct ncptl_unit *u, uint32_t i)
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

static void put_comment(struct printer *p, const struct nc_comment *c)
{
    uint32_t n = c->len;
    const char *s = p->u->src.text + c->at;

    while (n && isspace((unsigned char)s[n - 1]))
        n--;
    put(p, s, n, true);
    newline(p);
}

/* Comments before token i: those behind a statement stay on its line. */
static void comments(struct printer *p, uint32_t i)
{
    size_t n = p->u->lexed.comments.n;
    unsigned mark = p->u->indent[i];

    for (; p->comment < n && p->u->lexed.comments.v[p->comment].before <= i; p->comment++) {
        const struct nc_comment *c = &p->u->lexed.comments.v[p->comment];

        if (c->own_line || p->fresh)
            begin_line(p, mark ? (mark - 1) * STEP : p->indent + 2 * STEP);
        put_comment(p, c);
        p->column = mark ? 0 : p->indent + 2 * STEP;
    }
}

static void put_word(struct printer *p, const struct nc_tok *t, bool space)
{
    char word[64];
    size_t n = t->len < sizeof word ? t->len : sizeof word;

    for (size_t i = 0; i < n; i++)
        word[i] = (char)toupper((unsigned char)p->u->src.text[t->at + i]);
    put(p, word, n, space);
}

static bool apart_from_last(const struct ncptl_unit *u, uint32_t i)
{
    const struct nc_tok *t = u->lexed.toks.v;

    return i && apart(&t[i - 1], &t[i], is_unary(u, i - 1));
}

/* Of this token and all that stick to it. */
static size_t run_length(const struct ncptl_unit *u, uint32_t i)
{
    size_t n = u->lexed.toks.v[i].len;

    while (++i + 1 < u->lexed.toks.n && !u->indent[i] && !apart_from_last(u, i))
        n += u->lexed.toks.v[i].len;
    return n;
}

static void put_token(struct printer *p, uint32_t i)
{
    const struct nc_tok *t = &p->u->lexed.toks.v[i];
    unsigned mark = p->u->indent[i];
    bool space = apart_from_last(p->u, i);

    if (mark) {
        p->indent = (mark - 1) * STEP;
        begin_line(p, p->indent);
    } else if (space && p->column + 1 + run_length(p->u, i) > WIDTH) {
        begin_line(p, p->indent + 2 * STEP);
    }
    if (t->kind == NT_WORD)
        put_word(p, t, space);
    else
        put(p, p->u->src.text + t->at, t->len, space);
}

/* An empty line between sentences where the author left one. */
static bool gap_before(const struct ncptl_unit *u, uint32_t i)
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

    for (uint32_t i = 0; i < n; i++) {
        bool trailing = p.comment < u->lexed.comments.n &&
                        u->lexed.comments.v[p.comment].before == i &&
                        !u->lexed.comments.v[p.comment].own_line;

        if (trailing)
            comments(&p, i);
        if (i && u->indent[i] == 1 && gap_before(u, i)) {
            newline(&p);
            wr_str_add(out, "\n");
        }
        comments(&p, i);
        put_token(&p, i);
    }
    comments(&p, n);
    newline(&p);
}
