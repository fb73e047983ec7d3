/* parse_io.c -- weir's own statements: files.
 *
 * The words OPEN, CLOSE, READ, WRITE, FLUSH, FILE, BLOCK, OFFSET, COLLECTIVELY,
 * READING, WRITING and AT are not keywords: they mean something only where no
 * variable can stand, so programs that use them as names stay valid.
 */
#include "ast_priv.h"

static const struct {
    const char *singular, *plural;
    enum nc_stmt_kind kind;
} verbs[] = {
    {"open", "opens", NS_OPEN}, {"close", "closes", NS_CLOSE},  {"write", "writes", NS_WRITE},
    {"read", "reads", NS_READ}, {"flush", "flushes", NS_FLUSH},
};

static int io_verb_of(const struct nc_tok *tok)
{
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (nc_word_is(tok, verbs[i].singular, verbs[i].plural))
            return (int)i;
    return -1;
}

static bool io_is_file(const struct nc_tok *tok)
{
    return nc_word_is(tok, "file", "files");
}

/* After ALL TASKS a name may be a variable or one of these verbs. A variable is followed by a
 * verb, one of these verbs by FILE or a count. */
bool nc_io_verb(const struct nc_parser *p, uint32_t ahead)
{
    const struct nc_tok *tok = nc_peek(p, ahead), *next = nc_peek(p, ahead + 1);

    if (nc_word_is(tok, "collectively", "collectively"))
        return next->kw == NK_ASYNCHRONOUSLY || io_verb_of(next) >= 0;
    switch (io_verb_of(tok)) {
    case -1:
        return false;
    case 0:
    case 1:
    case 4:
        return io_is_file(next);
    default:
        return next->kw == NK_AN || next->kind == NT_INT || next->kind == NT_LPAREN ||
               next->kind == NT_MINUS || next->kw == NK_NOT || next->kw == NK_REAL ||
               (next->kind == NT_NAME && io_verb_of(next) < 0 &&
                !nc_word_is(next, "collectively", "collectively"));
    }
}

static bool io_need_word(struct nc_parser *p, const char *singular, const char *plural,
                         const char *what)
{
    if (!nc_word_is(nc_peek(p, 0), singular, plural))
        return nc_unexpected(p, what);
    p->pos++;
    return true;
}

static bool io_file_operand(struct nc_parser *p, struct nc_stmt *s)
{
    return io_need_word(p, "file", "files", "FILE and its number") && (s->e = nc_expr(p)) != NULL;
}

/* OPEN FILE e [FOR READING | FOR WRITING]; FOR may also begin the next sentence. */
static bool io_open_rest(struct nc_parser *p, struct nc_stmt *s)
{
    if (!io_file_operand(p, s))
        return false;
    const struct nc_tok *how = nc_peek(p, 1);

    if (!nc_at(p, NK_FOR))
        return true;
    if (nc_word_is(how, "reading", "reading"))
        s->mode = NCPTL_MODE_READ;
    else if (nc_word_is(how, "writing", "writing"))
        s->mode = NCPTL_MODE_WRITE;
    if (s->mode)
        p->pos += 2;
    return true;
}

static bool io_transfer_rest(struct nc_parser *p, struct nc_stmt *s)
{
    bool writes = s->kind == NS_WRITE;

    if (!nc_count(p, &s->count))
        return false;
    if (nc_word_is(nc_peek(p, 0), "block", "blocks"))
        return nc_unexpected(p, "the size of a block, as in 4 1 MEGABYTE BLOCKS");
    if (!(s->size = nc_sized(p)))
        return false;
    nc_take_kind(p, NT_MINUS); /* 1 megabyte-blocks */
    if (!io_need_word(p, "block", "blocks", "BLOCKS after their size") ||
        !nc_need(p, writes ? NK_TO : NK_FROM, "BLOCKS") || !io_file_operand(p, s))
        return false;
    if (!nc_word_is(nc_peek(p, 0), "at", "at"))
        return true;
    p->pos++;
    return io_need_word(p, "offset", "offset", "OFFSET after AT") &&
           (s->offset = nc_bytes(p, nc_expr(p))) != NULL;
}

struct nc_stmt *nc_io_stmt(struct nc_parser *p, struct nc_stmt *s)
{
    bool ok;

    for (;;) {
        if (nc_take(p, NK_ASYNCHRONOUSLY)) {
            s->async = true;
        } else if (nc_word_is(nc_peek(p, 0), "collectively", "collectively")) {
            s->collectively = true;
            p->pos++;
        } else {
            break;
        }
    }
    int v = io_verb_of(nc_peek(p, 0));
    if (v < 0) {
        nc_unexpected(p, "what the tasks do (SEND, RECEIVE, COMPUTE, WRITE, ...)");
        return NULL;
    }
    s->kind = verbs[v].kind;
    if ((s->async || s->collectively) && s->kind != NS_WRITE && s->kind != NS_READ) {
        nc_unexpected(p, "READ or WRITE after ASYNCHRONOUSLY or COLLECTIVELY");
        return NULL;
    }
    p->pos++;
    switch (s->kind) {
    case NS_OPEN:
        ok = io_open_rest(p, s);
        break;
    case NS_WRITE:
    case NS_READ:
        ok = io_transfer_rest(p, s);
        break;
    default:
        ok = io_file_operand(p, s);
        break;
    }
    return ok ? s : NULL;
}
