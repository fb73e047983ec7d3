/* parse_msg.c -- task descriptions, sizes and message specifications.
 *
 *   message = count [UNIQUE] [size] [alignment] MESSAGES [touching] [tag] [buffer]
 *
 * Size and alignment both begin like <expr unit> or <type>; the word after the
 * unit decides which one was read.
 */
#include <assert.h>

#include "ast_priv.h"

static struct nc_tasks *msg_new_tasks(struct nc_parser *p, enum nc_tasks_kind kind)
{
    struct nc_tasks *t = wr_arena_alloc(&p->u->arena, sizeof *t);

    t->kind = kind;
    t->at = nc_peek(p, 0)->at;
    return t;
}

static struct nc_tasks *msg_all_tasks(struct nc_parser *p)
{
    struct nc_tasks *t = msg_new_tasks(p, NC_ALL);

    nc_take(p, NK_ALL);
    if (nc_take(p, NK_OTHER)) {
        t->kind = NC_OTHERS;
        return nc_need(p, NK_TASKS, "ALL OTHER") ? t : NULL;
    }
    if (!nc_need(p, NK_TASKS, "ALL"))
        return NULL;
    if (nc_at_kind(p, NT_NAME) && !nc_io_verb(p, 0))
        t->name = nc_need_name(p, "a variable");
    return t;
}

struct nc_tasks *nc_tasks(struct nc_parser *p)
{
    if (nc_at(p, NK_ALL))
        return msg_all_tasks(p);

    struct nc_tasks *t = msg_new_tasks(p, NC_ONE);
    if (!nc_take(p, NK_TASKS)) {
        nc_unexpected(p, "a statement or tasks (ALL TASKS, TASK 0, TASKS t SUCH THAT ...)");
        return NULL;
    }
    if (nc_take(p, NK_GROUP)) {
        t->kind = NC_GROUP;
        return (t->name = nc_need_name(p, "the name of a task group")) ? t : NULL;
    }
    if (nc_at_kind(p, NT_LBRACE)) {
        t->kind = NC_RANGES;
        return nc_ranges(p, &t->ranges, &t->nranges) ? t : NULL;
    }
    if (nc_at_kind(p, NT_NAME) && nc_peek(p, 1)->kw == NK_SUCH) {
        t->kind = NC_SUCH;
        t->name = nc_need_name(p, "a variable");
        nc_take(p, NK_SUCH);
        return nc_need(p, NK_THAT, "SUCH") && (t->e = nc_rel(p)) ? t : NULL;
    }
    return (t->e = nc_expr(p)) ? t : NULL;
}

/* ---- sizes ---- */

struct unit {
    enum nc_kw kw;
    int64_t bytes;      /* 0: bits, rounded up */
    bool type;          /* may stand alone, as in PAGE SIZED */
    const char *plural; /* where the language has no keyword for it */
};

/* INTEGER and PAGE depend on the machine; these are the reference's. */
static const struct unit units[] = {
    {NK_BITS, 0, false, NULL},
    {NK_BYTES, 1, true, NULL},
    {NK_HALFWORDS, 2, true, NULL},
    {NK_WORDS, 4, true, NULL},
    {NK_INTEGERS, 4, true, NULL},
    {NK_DOUBLEWORDS, 8, true, NULL},
    {NK_QUADWORDS, 16, true, NULL},
    {NK_PAGES, 4096, true, NULL},
    {NK_KILOBYTE, 1 << 10, false, "kilobytes"},
    {NK_MEGABYTE, 1 << 20, false, "megabytes"},
    {NK_GIGABYTE, 1 << 30, false, "gigabytes"},
};

static const struct unit *msg_unit_at(const struct nc_parser *p)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (nc_at(p, units[i].kw) ||
            (units[i].plural && nc_word_is(nc_peek(p, 0), units[i].plural, units[i].plural)))
            return &units[i];
    return NULL;
}

static bool msg_at_type(const struct nc_parser *p)
{
    const struct unit *u = msg_unit_at(p);

    return u && u->type;
}

struct nx *nc_type(struct nc_parser *p)
{
    const struct unit *u = msg_unit_at(p);
    uint32_t at = nc_peek(p, 0)->at;

    if (!u || !u->type) {
        nc_unexpected(p, "BYTE, HALFWORD, WORD, INTEGER, DOUBLEWORD, QUADWORD or PAGE");
        return NULL;
    }
    p->pos++;
    return nc_number(p, at, u->bytes);
}

struct nx *nc_bytes(struct nc_parser *p, struct nx *e)
{
    const struct unit *u = msg_unit_at(p);
    uint32_t at = nc_peek(p, 0)->at;

    if (!e)
        return NULL;
    if (!u) {
        nc_unexpected(p, "a unit of size such as BYTE or KILOBYTE");
        return NULL;
    }
    p->pos++;
    if (!u->bytes)
        return nc_node(p, NX_BYTES, at, e, NULL, NULL);
    return u->bytes == 1 ? e : nc_node(p, NX_MUL, at, e, nc_number(p, at, u->bytes), NULL);
}

struct nx *nc_sized(struct nc_parser *p)
{
    struct nx *x;

    if (msg_at_type(p)) {
        x = nc_type(p);
        return x && nc_need(p, NK_SIZED, "the type") ? x : NULL;
    }
    return nc_bytes(p, nc_expr(p));
}

bool nc_count(struct nc_parser *p, struct nx **ret)
{
    *ret = NULL;
    return nc_take(p, NK_AN) || (*ret = nc_expr(p)) != NULL;
}

/* ---- the parts of a message ---- */

static void msg_uniqueness(struct nc_parser *p, struct nc_msg *m)
{
    if (nc_take(p, NK_UNIQUE))
        m->unique = NC_YES;
    else if (nc_take(p, NK_NONUNIQUE))
        m->unique = NC_NO;
}

/* Reads `x ALIGNED` when x has just been read; false when neither word follows. */
static bool msg_take_alignment(struct nc_parser *p, struct nc_msg *m, struct nx *x)
{
    assert(x);
    if (nc_take(p, NK_ALIGNED))
        m->aligned = NC_ALIGNED;
    else if (nc_take(p, NK_MISALIGNED))
        m->aligned = NC_MISALIGNED;
    else
        return false;
    m->align = x;
    return true;
}

/* [size] [alignment], up to MESSAGES (or, for REDUCES, up to the item's type). */
static bool msg_size_and_alignment(struct nc_parser *p, struct nc_msg *m, bool may_size)
{
    for (;;) {
        struct nx *x;

        if (nc_take(p, NK_UNALIGNED)) {
            m->aligned = NC_UNALIGNED;
            return true;
        }
        if (msg_at_type(p)) {
            bool aligns = nc_peek(p, 1)->kw == NK_ALIGNED || nc_peek(p, 1)->kw == NK_MISALIGNED;

            if (!aligns && !(may_size && nc_peek(p, 1)->kw == NK_SIZED))
                return true; /* REDUCES: the item's type; otherwise the caller complains */
            x = nc_type(p);
        } else if (nc_expr_begins(p)) {
            if (!(x = nc_bytes(p, nc_expr(p))))
                return false;
        } else {
            return true;
        }
        if (msg_take_alignment(p, m, x))
            return true;
        if (!may_size)
            return nc_unexpected(p, "ALIGNED or MISALIGNED after a number of bytes");
        nc_take(p, NK_SIZED);
        m->size = x;
        may_size = false;
    }
}

static bool msg_touching(struct nc_parser *p, struct nc_msg *m)
{
    bool with = nc_at(p, NK_WITH);

    if (!with && !nc_at(p, NK_WITHOUT))
        return true;
    p->pos++;
    if (nc_take(p, NK_VERIFICATION)) {
        m->touch = with ? NC_VERIFY : NC_UNTOUCHED;
        return true;
    }
    m->touch = with ? NC_TOUCH : NC_UNTOUCHED;
    return nc_take(p, NK_DATA) ? nc_need(p, NK_TOUCHING, "DATA")
                               : nc_unexpected(p, "DATA TOUCHING or VERIFICATION");
}

static bool msg_tag(struct nc_parser *p, struct nc_msg *m)
{
    if (!nc_take(p, NK_USING))
        return true;
    if (!nc_need(p, NK_TAG, "USING"))
        return false;
    m->has_tag = true;
    if (nc_at_kind(p, NT_STRING))
        return (m->tag_text = nc_need_string(p, "a tag")) != NULL;
    return (m->tag = nc_expr(p)) != NULL;
}

/* FROM|INTO [expr unit INTO] BUFFER expr | THE DEFAULT BUFFER */
static bool msg_buffer(struct nc_parser *p, struct nc_msg *m, enum nc_kw preposition)
{
    if (!nc_at(p, preposition))
        return true;
    /* RECEIVES ... FROM TASK: that FROM belongs to the statement. */
    enum nc_kw next = nc_peek(p, 1)->kw;
    if (next == NK_TASKS || next == NK_ALL)
        return true;
    p->pos++;
    if (!nc_at(p, NK_BUFFERS) && !nc_at(p, NK_THE)) {
        if (!(m->ofs = nc_bytes(p, nc_expr(p))) || !nc_need(p, NK_INTO, "the offset"))
            return false;
    }
    if (nc_take(p, NK_THE)) {
        m->buffer = NC_BUF_DEFAULT;
        return nc_need(p, NK_DEFAULT, "THE") && nc_need(p, NK_BUFFERS, "THE DEFAULT");
    }
    m->buffer = NC_BUF_NUMBER;
    return nc_need(p, NK_BUFFERS, "the offset") && (m->buf = nc_expr(p)) != NULL;
}

static struct nc_msg *msg_new_msg(struct nc_parser *p)
{
    struct nc_msg *m = wr_arena_alloc(&p->u->arena, sizeof *m);

    m->at = m->count_at = nc_peek(p, 0)->at;
    return m;
}

struct nc_msg *nc_message(struct nc_parser *p, bool receiving)
{
    struct nc_msg *m = msg_new_msg(p);

    if (!nc_count(p, &m->count))
        return NULL;
    msg_uniqueness(p, m);
    if (!msg_size_and_alignment(p, m, true))
        return NULL;
    if (!nc_take(p, NK_MESSAGES)) {
        nc_unexpected(p, msg_unit_at(p) ? "how many messages first, as in A 5 BYTE MESSAGE"
                                        : "MESSAGE after the number and size of messages");
        return NULL;
    }
    return msg_touching(p, m) && msg_tag(p, m) && msg_buffer(p, m, receiving ? NK_INTO : NK_FROM)
               ? m
               : NULL;
}

struct nc_msg *nc_received(struct nc_parser *p)
{
    struct nc_msg *m = msg_new_msg(p);
    uint32_t from = p->pos;

    if (nc_take(p, NK_ASYNCHRONOUSLY))
        m->async = NC_YES;
    else if (nc_take(p, NK_SYNCHRONOUSLY))
        m->async = NC_NO;
    if (nc_take(p, NK_AS)) {
        nc_take(p, NK_AN);
        msg_uniqueness(p, m);
        if (!msg_size_and_alignment(p, m, false) || !nc_need(p, NK_MESSAGES, "AS A"))
            return NULL;
    }
    if (!msg_touching(p, m) || !msg_tag(p, m) || !msg_buffer(p, m, NK_INTO))
        return NULL;
    if (p->pos == from) {
        nc_unexpected(p, "how they receive it (ASYNCHRONOUSLY, AS A ... MESSAGE, ...)");
        return NULL;
    }
    return m;
}

struct nc_msg *nc_reduced(struct nc_parser *p, bool target)
{
    struct nc_msg *m = msg_new_msg(p);

    if (!target || nc_take(p, NK_AS)) {
        m->count_at = nc_peek(p, 0)->at;
        if (!nc_count(p, &m->count))
            return NULL;
        msg_uniqueness(p, m);
        if (!msg_size_and_alignment(p, m, false))
            return NULL;
        m->type_at = nc_peek(p, 0)->at;
        m->type = nc_peek(p, 0)->kw;
        if (!(m->size = nc_type(p)))
            return NULL;
    }
    return msg_touching(p, m) && msg_tag(p, m) && msg_buffer(p, m, target ? NK_INTO : NK_FROM)
               ? m
               : NULL;
}
