/* parse_program.c -- header declarations and sentences, and the primitives of the parser.
 *
 * The parser is a recursive descent over the tokens of lex.c, one function per production, over
 * several files: parse_expr.c, parse_msg.c, parse_stmt.c, parse_io.c, parse_log.c. A function that
 * fails has set the error; the first one is reported. nc_enter() bounds the depth of recursion.
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ast_priv.h"

enum { NESTED = 200 };

const struct nc_tok *nc_peek(const struct nc_parser *p, uint32_t ahead)
{
    size_t last = p->u->lexed.toks.n - 1, i = (size_t)p->pos + ahead;

    assert(p->u->lexed.toks.n);
    return &p->u->lexed.toks.v[i < last ? i : last];
}

bool nc_at(const struct nc_parser *p, enum nc_kw kw)
{
    return nc_peek(p, 0)->kw == kw;
}

bool nc_at_kind(const struct nc_parser *p, enum nc_tok_kind kind)
{
    return nc_peek(p, 0)->kind == kind;
}

bool nc_take(struct nc_parser *p, enum nc_kw kw)
{
    bool there = nc_at(p, kw);

    p->pos += there;
    return there;
}

bool nc_take_kind(struct nc_parser *p, enum nc_tok_kind kind)
{
    bool there = nc_at_kind(p, kind);

    p->pos += there;
    return there;
}

bool nc_unexpected(struct nc_parser *p, const char *wanted)
{
    const struct nc_tok *tok = nc_peek(p, 0);
    int n = tok->len > 40 ? 40 : (int)tok->len;

    if (tok->kind == NT_END)
        return nc_fail(&p->u->src, NC_SYNTAX, tok->at, p->err,
                       "the program ends where %s should follow", wanted);
    return nc_fail(&p->u->src, NC_SYNTAX, tok->at, p->err, "expected %s but found %.*s", wanted, n,
                   p->u->src.text + tok->at);
}

bool nc_need(struct nc_parser *p, enum nc_kw kw, const char *after)
{
    char wanted[96], word[40];
    size_t n = 0;

    if (nc_take(p, kw))
        return true;
    for (const char *s = nc_keyword_text(kw); *s && n + 1 < sizeof word; s++)
        word[n++] = (char)toupper((unsigned char)*s);
    word[n] = '\0';
    snprintf(wanted, sizeof wanted, "%s after %s", word, after);
    return nc_unexpected(p, wanted);
}

bool nc_need_kind(struct nc_parser *p, enum nc_tok_kind kind, const char *what)
{
    return nc_take_kind(p, kind) || nc_unexpected(p, what);
}

const char *nc_need_name(struct nc_parser *p, const char *what)
{
    const struct nc_tok *tok = nc_peek(p, 0);

    if (tok->kind == NT_WORD) {
        nc_fail(&p->u->src, NC_SYNTAX, tok->at, p->err,
                "expected %s but %s is a keyword, which no variable can be called; rename it", what,
                tok->text);
        return NULL;
    }
    return nc_need_kind(p, NT_NAME, what) ? tok->text : NULL;
}

const char *nc_need_string(struct nc_parser *p, const char *what)
{
    const struct nc_tok *tok = nc_peek(p, 0);

    return nc_need_kind(p, NT_STRING, what) ? tok->text : NULL;
}

bool nc_enter(struct nc_parser *p)
{
    if (++p->depth <= NESTED)
        return true;
    return nc_fail(&p->u->src, NC_SYNTAX, nc_peek(p, 0)->at, p->err,
                   "nested more than %d deep; simplify", NESTED);
}

bool nc_word_is(const struct nc_tok *tok, const char *singular, const char *plural)
{
    return tok->kind == NT_NAME && (!strcmp(tok->text, singular) || !strcmp(tok->text, plural));
}

/* REQUIRE LANGUAGE VERSION "1.5" */
static bool parse_version_decl(struct nc_parser *p)
{
    uint32_t at;
    const char *version;

    if (!nc_need(p, NK_LANGUAGE, "REQUIRE") || !nc_need(p, NK_VERSION, "REQUIRE LANGUAGE"))
        return false;
    at = nc_peek(p, 0)->at;
    if (!(version = nc_need_string(p, "a version in quotes")))
        return false;
    if (strcmp(version, "1.5"))
        nc_warn(&p->u->src, at, &p->u->warnings,
                "the program asks for language version %s, this is 1.5; check what it does",
                version);
    return true;
}

/* name IS "help" AND COMES FROM "--long" OR "-x" WITH DEFAULT expr */
static bool parse_param_decl(struct nc_parser *p, struct nc_param ***tail)
{
    struct nc_param *d = wr_arena_alloc(&p->u->arena, sizeof *d);

    d->at = nc_peek(p, 0)->at;
    if (!(d->name = nc_need_name(p, "a parameter")) || !nc_need(p, NK_ARE, "the parameter") ||
        !(d->help = nc_need_string(p, "a description in quotes")) ||
        !nc_need(p, NK_AND, "the description") || !nc_need(p, NK_COMES, "AND") ||
        !nc_need(p, NK_FROM, "AND COMES"))
        return false;
    d->long_at = nc_peek(p, 0)->at;
    if (!(d->longopt = nc_need_string(p, "an option such as \"--reps\"")) ||
        !nc_need(p, NK_OR, "the long option"))
        return false;
    d->short_at = nc_peek(p, 0)->at;
    if (!(d->shortopt = nc_need_string(p, "an option such as \"-r\"")) ||
        !nc_need(p, NK_WITH, "the short option") || !nc_need(p, NK_DEFAULT, "WITH") ||
        !(d->def = nc_expr(p)))
        return false;
    **tail = d;
    *tail = &d->next;
    return true;
}

/* true and *more when a declaration was read; true without when none begins. */
static bool parse_header_decl(struct nc_parser *p, struct nc_param ***tail, bool *more)
{
    *more = true;
    p->u->indent[p->pos] = 1;
    if (nc_take(p, NK_REQUIRE))
        return parse_version_decl(p);
    if (nc_at(p, NK_THE) && nc_peek(p, 1)->kw == NK_BACKEND) {
        p->pos += 2;
        return nc_need(p, NK_DECLARES, "THE BACKEND") &&
               nc_need_string(p, "declarations in quotes") != NULL;
    }
    if (nc_at_kind(p, NT_NAME))
        return parse_param_decl(p, tail);
    *more = false;
    return true;
}

static bool parse_program(struct nc_parser *p)
{
    struct nc_param **params = &p->u->params;
    struct nc_stmt **stmts = &p->u->stmts;
    bool more;

    do {
        if (!parse_header_decl(p, &params, &more))
            return false;
        if (more)
            nc_take_kind(p, NT_PERIOD);
    } while (more);
    while (!nc_at_kind(p, NT_END)) {
        if (!(*stmts = nc_sentence(p)))
            return false;
        stmts = &(*stmts)->next;
        nc_take_kind(p, NT_PERIOD);
    }
    return true;
}

bool nc_parse(struct ncptl_unit *u, struct wr_err *err)
{
    struct nc_parser p = {.u = u, .err = err};

    if (!nc_lex(&u->lexed, &u->src, &u->arena, &u->warnings, err))
        return false;
    u->indent = wr_arena_alloc(&u->arena, u->lexed.toks.n + 1);
    return parse_program(&p);
}
