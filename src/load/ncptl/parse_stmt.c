/* parse_stmt.c -- statements.
 *
 *   sentence = simple { THEN simple }
 *   simple   = "{" [ sentence ] "}" | FOR ... | LET ... | IF ... | ASSERT ... | tasks action
 *
 * Records in unit->indent where format.c begins a line.
 */
#include "ast_priv.h"

static struct nc_stmt *stmt_simple(struct nc_parser *p);
static struct nc_stmt *stmt_list(struct nc_parser *p);

static struct nc_stmt *stmt_new(struct nc_parser *p, enum nc_stmt_kind kind)
{
    struct nc_stmt *s = wr_arena_alloc(&p->u->arena, sizeof *s);

    s->kind = kind;
    s->at = nc_peek(p, 0)->at;
    return s;
}

/* The statement a loop, LET or IF applies to; on its own line when formatted. */
static struct nc_stmt *stmt_body(struct nc_parser *p)
{
    struct nc_stmt *s;

    p->indent++;
    if (!nc_at_kind(p, NT_LBRACE))
        p->u->indent[p->pos] = (uint8_t)(p->indent < 100 ? p->indent + 1 : 100);
    else
        p->indent--;
    bool block = nc_at_kind(p, NT_LBRACE);
    s = stmt_simple(p);
    if (!block)
        p->indent--;
    return s;
}

/* In nanoseconds, a unit of weir's own: NANOSECONDS is no keyword, so that programs may
 * use it as a name; where a unit stands no name can. */
static bool stmt_time_unit(struct nc_parser *p, int64_t *nsecs)
{
    static const struct {
        enum nc_kw kw;
        int64_t nsecs;
    } units[] = {
        {NK_MICROSECONDS, 1000},   {NK_MILLISECONDS, 1000000}, {NK_SECONDS, 1000000000},
        {NK_MINUTES, 60000000000}, {NK_HOURS, 3600000000000},  {NK_DAYS, 86400000000000},
    };

    if (nc_word_is(nc_peek(p, 0), "nanosecond", "nanoseconds")) {
        p->pos++;
        *nsecs = 1;
        return true;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (nc_take(p, units[i].kw)) {
            *nsecs = units[i].nsecs;
            return true;
        }
    return false;
}

/* expr unit, in nanoseconds */
static struct nx *stmt_duration(struct nc_parser *p)
{
    struct nx *x = nc_expr(p);
    uint32_t at = nc_peek(p, 0)->at;
    int64_t nsecs;

    if (!x)
        return NULL;
    if (!stmt_time_unit(p, &nsecs)) {
        nc_unexpected(p, "a unit of time such as MICROSECONDS");
        return NULL;
    }
    return nsecs == 1 ? x : nc_node(p, NX_MUL, at, x, nc_number(p, at, nsecs), NULL);
}

/* AWAITS COMPLETION [OF [ALL] [THEIR] SENDS | RECEIVES | READS | WRITES]; what follows OF is
 * weir's own. */
static struct nc_stmt *stmt_await(struct nc_parser *p, struct nc_stmt *s)
{
    s->kind = NS_WAIT;
    s->mode = NCPTL_EVERYTHING;
    if (!nc_need(p, NK_COMPLETIONS, "AWAITS"))
        return NULL;
    if (!nc_take(p, NK_OF))
        return s;
    nc_take(p, NK_ALL);
    nc_take(p, NK_THEIR);
    if (nc_take(p, NK_SENDS)) {
        s->mode = NCPTL_SENDS;
    } else if (nc_take(p, NK_RECEIVES)) {
        s->mode = NCPTL_RECVS;
    } else if (nc_word_is(nc_peek(p, 0), "reads", "read") ||
               nc_word_is(nc_peek(p, 0), "writes", "write")) {
        s->mode = NCPTL_IOS;
        p->pos++;
    } else {
        nc_unexpected(p, "SENDS, RECEIVES, READS or WRITES after COMPLETION OF");
        return NULL;
    }
    return s;
}

/* ---- loops, LET, IF ---- */

static struct nc_stmt *stmt_each_loop(struct nc_parser *p, struct nc_stmt *s)
{
    s->kind = NS_EACH;
    s->at = nc_peek(p, 0)->at;
    if (!(s->name = nc_need_name(p, "a variable after FOR EACH")) ||
        !nc_need(p, NK_IN, "the variable") || !nc_ranges(p, &s->ranges, &s->nranges))
        return NULL;
    return (s->body = stmt_body(p)) ? s : NULL;
}

/* PLUS e WARMUP REPETITIONS|unit [AND A SYNCHRONIZATION] */
static bool stmt_warmup_clause(struct nc_parser *p, struct nc_stmt *s)
{
    int64_t nsecs = 1;
    struct nx *x;
    uint32_t at;

    if (!nc_take(p, NK_PLUS))
        return true;
    if (!(x = nc_expr(p)) || !nc_need(p, NK_WARMUP, "the number of warmups"))
        return false;
    at = nc_peek(p, 0)->at;
    if (s->kind == NS_REPEAT) {
        if (!nc_need(p, NK_REPETITIONS, "WARMUP"))
            return false;
    } else if (!stmt_time_unit(p, &nsecs)) {
        return nc_unexpected(p, "a unit of time after WARMUP");
    }
    s->warmup = nsecs == 1 ? x : nc_node(p, NX_MUL, at, x, nc_number(p, at, nsecs), NULL);
    if (nc_at(p, NK_AND) && nc_peek(p, 1)->kw == NK_AN && nc_peek(p, 2)->kw == NK_SYNCHRONIZATION) {
        p->pos += 3;
        s->sync = true;
    }
    return s->warmup != NULL;
}

static struct nc_stmt *stmt_for_loop(struct nc_parser *p)
{
    struct nc_stmt *s = stmt_new(p, NS_REPEAT);
    int64_t nsecs;
    uint32_t at;

    nc_take(p, NK_FOR);
    if (nc_take(p, NK_EACH))
        return stmt_each_loop(p, s);
    if (!(s->e = nc_expr(p)))
        return NULL;
    at = nc_peek(p, 0)->at;
    if (stmt_time_unit(p, &nsecs)) {
        s->kind = NS_TIMED;
        if (nsecs > 1 && !(s->e = nc_node(p, NX_MUL, at, s->e, nc_number(p, at, nsecs), NULL)))
            return NULL;
    } else if (!nc_take(p, NK_REPETITIONS)) {
        nc_unexpected(p, "REPETITIONS or a unit of time");
        return NULL;
    }
    if (!stmt_warmup_clause(p, s))
        return NULL;
    return (s->body = stmt_body(p)) ? s : NULL;
}

/* A RANDOM TASK [OTHER THAN e | LESS THAN e [BUT NOT e] | GREATER THAN ... | IN [e, e] ...] */
static bool stmt_random_task(struct nc_parser *p, struct nc_let *l)
{
    uint32_t at = nc_peek(p, 0)->at;

    l->kind = NL_RANDOM;
    if (nc_take(p, NK_OTHER))
        return nc_need(p, NK_THAN, "OTHER") && (l->but = nc_expr(p)) != NULL;
    if (nc_take(p, NK_LESS)) {
        if (!nc_need(p, NK_THAN, "LESS") || !(l->hi = nc_expr(p)) ||
            !(l->hi = nc_node(p, NX_SUB, at, l->hi, nc_number(p, at, 1), NULL)))
            return false;
    } else if (nc_take(p, NK_GREATER)) {
        if (!nc_need(p, NK_THAN, "GREATER") || !(l->lo = nc_expr(p)) ||
            !(l->lo = nc_node(p, NX_ADD, at, l->lo, nc_number(p, at, 1), NULL)))
            return false;
    } else if (nc_take(p, NK_IN)) {
        if (!nc_need_kind(p, NT_LBRACKET, "[ after IN") || !(l->lo = nc_expr(p)) ||
            !nc_need_kind(p, NT_COMMA, ", between the bounds") || !(l->hi = nc_expr(p)) ||
            !nc_need_kind(p, NT_RBRACKET, "] after the bounds"))
            return false;
    } else {
        return true;
    }
    if (!nc_take(p, NK_BUT))
        return true;
    return nc_need(p, NK_NOT, "BUT") && (l->but = nc_expr(p)) != NULL;
}

static struct nc_let *stmt_let_binding(struct nc_parser *p)
{
    struct nc_let *l = wr_arena_alloc(&p->u->arena, sizeof *l);

    l->at = nc_peek(p, 0)->at;
    if (!(l->name = nc_need_name(p, "a variable")) || !nc_need(p, NK_BE, "the variable"))
        return NULL;
    if (nc_at(p, NK_AN) && nc_peek(p, 1)->kw == NK_RANDOM) {
        p->pos += 2;
        return nc_need(p, NK_TASKS, "A RANDOM") && stmt_random_task(p, l) ? l : NULL;
    }
    if (nc_at(p, NK_TASKS) || nc_at(p, NK_ALL)) {
        l->kind = NL_GROUP;
        return (l->tasks = nc_tasks(p)) ? l : NULL;
    }
    l->kind = NL_VALUE;
    return (l->e = nc_expr(p)) ? l : NULL;
}

static struct nc_stmt *stmt_let(struct nc_parser *p)
{
    struct nc_stmt *s = stmt_new(p, NS_LET);
    struct nc_let **tail = &s->lets;

    nc_take(p, NK_LET);
    do {
        if (!(*tail = stmt_let_binding(p)))
            return NULL;
        tail = &(*tail)->next;
    } while (nc_take(p, NK_AND));
    return nc_need(p, NK_WHILE, "the bindings") && (s->body = stmt_body(p)) ? s : NULL;
}

static struct nc_stmt *stmt_if(struct nc_parser *p)
{
    struct nc_stmt *s = stmt_new(p, NS_IF);

    nc_take(p, NK_IF);
    if (!(s->e = nc_rel(p)) || !nc_need(p, NK_THEN, "the condition") || !(s->body = stmt_body(p)))
        return NULL;
    if (nc_at(p, NK_OTHERWISE)) {
        p->u->indent[p->pos] = (uint8_t)(p->indent < 100 ? p->indent + 1 : 100);
        nc_take(p, NK_OTHERWISE);
        if (!(s->other = nc_at(p, NK_IF) ? stmt_simple(p) : stmt_body(p)))
            return NULL;
    }
    return s;
}

static struct nc_stmt *stmt_block(struct nc_parser *p)
{
    struct nc_stmt *s = stmt_new(p, NS_BLOCK);

    nc_take_kind(p, NT_LBRACE);
    if (nc_take_kind(p, NT_RBRACE))
        return s;
    p->indent++;
    s->body = stmt_list(p);
    p->indent--;
    p->u->indent[p->pos] = (uint8_t)(p->indent < 100 ? p->indent + 1 : 100);
    if (!s->body || !nc_need_kind(p, NT_RBRACE, "THEN, or } to match the { before"))
        return NULL;
    return s;
}

static struct nc_stmt *stmt_assertion(struct nc_parser *p)
{
    struct nc_stmt *s = stmt_new(p, NS_ASSERT);

    nc_take(p, NK_ASSERT);
    if (!nc_need(p, NK_THAT, "ASSERT") || !(s->text = nc_need_string(p, "a text in quotes")) ||
        !nc_need(p, NK_WITH, "the text"))
        return NULL;
    return (s->e = nc_rel(p)) ? s : NULL;
}

/* ---- what tasks do ---- */

static struct nc_stmt *stmt_send(struct nc_parser *p, struct nc_stmt *s)
{
    uint32_t unsusp = 0;

    s->kind = NS_SEND;
    if (!(s->msg = nc_message(p, false)) || !nc_need(p, NK_TO, "the message"))
        return NULL;
    if (nc_at(p, NK_UNSUSPECTING)) {
        unsusp = nc_peek(p, 0)->at;
        s->unsuspecting = nc_take(p, NK_UNSUSPECTING);
    }
    if (!(s->dst = nc_tasks(p)))
        return NULL;
    if (!nc_take(p, NK_WHO))
        return s;
    if (s->unsuspecting) {
        nc_fail(&p->u->src, NC_SYNTAX, unsusp, p->err,
                "UNSUSPECTING tasks receive nothing here, so WHO RECEIVES cannot follow; remove "
                "one of the two");
        return NULL;
    }
    if (!nc_need(p, NK_RECEIVES, "WHO") || !nc_need(p, NK_THEM, "WHO RECEIVES"))
        return NULL;
    return (s->rmsg = nc_received(p)) ? s : NULL;
}

static struct nc_stmt *stmt_receive(struct nc_parser *p, struct nc_stmt *s)
{
    s->kind = NS_RECV;
    s->dst = s->src; /* the receivers came first */
    if (!(s->msg = nc_message(p, true)) || !nc_need(p, NK_FROM, "the message"))
        return NULL;
    return (s->src = nc_tasks(p)) ? s : NULL;
}

static struct nc_stmt *stmt_multicast(struct nc_parser *p, struct nc_stmt *s)
{
    s->kind = NS_MCAST;
    if (!(s->msg = nc_message(p, false)) || !nc_need(p, NK_TO, "the message"))
        return NULL;
    return (s->dst = nc_tasks(p)) ? s : NULL;
}

static struct nc_stmt *stmt_reduce(struct nc_parser *p, struct nc_stmt *s)
{
    s->kind = NS_REDUCE;
    if (!(s->msg = nc_reduced(p, false)))
        return NULL;
    if (!nc_take(p, NK_TO))
        return s;
    if (!nc_at(p, NK_TASKS) && !nc_at(p, NK_ALL))
        return (s->rmsg = nc_reduced(p, false)) ? s : NULL;
    if (!(s->dst = nc_tasks(p)))
        return NULL;
    if (!nc_take(p, NK_WHO))
        return s;
    if (!nc_need(p, NK_RECEIVES, "WHO") || !nc_need(p, NK_THE, "WHO RECEIVES") ||
        !nc_need(p, NK_RESULTS, "WHO RECEIVES THE"))
        return NULL;
    return (s->rmsg = nc_reduced(p, true)) ? s : NULL;
}

static bool stmt_item(struct nc_parser *p, struct nc_item ***tail)
{
    struct nc_item *it = wr_arena_alloc(&p->u->arena, sizeof *it);

    if (nc_at_kind(p, NT_STRING)) {
        it->text = nc_need_string(p, "a string");
    } else if (nc_take(p, NK_THE)) {
        it->value_of = true;
        if (!nc_need(p, NK_VALUE, "THE") || !nc_need(p, NK_OF, "THE VALUE") ||
            !(it->text = nc_need_string(p, "a key in quotes")))
            return false;
    } else if (!(it->e = nc_expr(p))) {
        return false;
    }
    **tail = it;
    *tail = &it->next;
    return true;
}

static struct nc_stmt *stmt_items(struct nc_parser *p, struct nc_stmt *s, enum nc_stmt_kind kind)
{
    struct nc_item **tail = &s->items;

    s->kind = kind;
    do {
        if (!stmt_item(p, &tail))
            return NULL;
    } while (nc_take(p, NK_AND));
    return s;
}

static struct nc_stmt *stmt_touch_region(struct nc_parser *p, struct nc_stmt *s)
{
    s->kind = NS_TOUCH;
    if (!nc_at(p, NK_AN)) {
        if (!(s->accesses = nc_expr(p)) || !(s->word = nc_type(p)) ||
            !nc_need(p, NK_OF, "the type"))
            return NULL;
    }
    if (!nc_need(p, NK_AN, "TOUCHES"))
        return NULL;
    if (!nc_at(p, NK_MEMORY) && !(s->region = nc_sized(p)))
        return NULL;
    if (!nc_need(p, NK_MEMORY, "the size") || !nc_need(p, NK_REGION, "MEMORY"))
        return NULL;
    if (nc_expr_begins(p) && (!(s->times = nc_expr(p)) || !nc_need(p, NK_TIMES, "how many")))
        return NULL;
    if (!nc_take(p, NK_WITH))
        return s;
    s->random = nc_take(p, NK_RANDOM);
    if (!nc_need(p, NK_STRIDE, "WITH"))
        return NULL;
    if (s->random)
        return s;

    uint32_t at = nc_peek(p, 0)->at;
    struct nx *n = nc_expr(p), *type = n ? nc_type(p) : NULL;
    return type && (s->stride = nc_node(p, NX_MUL, at, n, type, NULL)) ? s : NULL;
}

static struct nc_stmt *stmt_touch(struct nc_parser *p, struct nc_stmt *s)
{
    s->kind = NS_TOUCH_BUFFER;
    if (nc_take(p, NK_ALL)) {
        s->buffers = NC_BUFFERS_ALL;
        return nc_need(p, NK_MESSAGES, "ALL") && nc_need(p, NK_BUFFERS, "ALL MESSAGE") ? s : NULL;
    }
    if (nc_take(p, NK_THE)) {
        s->buffers = NC_BUFFERS_CURRENT;
        return nc_need(p, NK_CURRENT, "THE") && nc_need(p, NK_MESSAGES, "THE CURRENT") &&
                       nc_need(p, NK_BUFFERS, "THE CURRENT MESSAGE")
                   ? s
                   : NULL;
    }
    if (nc_take(p, NK_MESSAGES)) {
        s->buffers = NC_BUFFERS_ONE;
        return nc_need(p, NK_BUFFERS, "MESSAGE") && (s->e = nc_expr(p)) ? s : NULL;
    }
    return stmt_touch_region(p, s);
}

/* IS ASSIGNED TO PROCESSOR e | A RANDOM PROCESSOR */
static struct nc_stmt *stmt_assign(struct nc_parser *p, struct nc_stmt *s)
{
    s->kind = NS_ASSIGN;
    if (!nc_need(p, NK_ASSIGNED, "IS") || !nc_need(p, NK_TO, "ASSIGNED"))
        return NULL;
    if (nc_take(p, NK_AN)) {
        s->random = true;
        return nc_need(p, NK_RANDOM, "A") && nc_need(p, NK_PROCESSORS, "A RANDOM") ? s : NULL;
    }
    return nc_need(p, NK_PROCESSORS, "ASSIGNED TO") && (s->e = nc_expr(p)) ? s : NULL;
}

static struct nc_stmt *stmt_compute(struct nc_parser *p, struct nc_stmt *s)
{
    if (nc_take(p, NK_AGGREGATES)) {
        s->kind = NS_AGGREGATE;
        return s;
    }
    s->kind = NS_COMPUTE;
    return nc_need(p, NK_FOR, "COMPUTES") && (s->e = stmt_duration(p)) ? s : NULL;
}

static struct nc_stmt *stmt_counters(struct nc_parser *p, struct nc_stmt *s, enum nc_stmt_kind kind)
{
    s->kind = kind;
    return nc_need(p, NK_THEIR, "the verb") && nc_need(p, NK_COUNTERS, "ITS") ? s : NULL;
}

static struct nc_stmt *stmt_action(struct nc_parser *p, struct nc_stmt *s)
{
    enum nc_kw kw = nc_peek(p, 0)->kw;

    if (!kw)
        return nc_io_stmt(p, s);
    p->pos++;
    switch (kw) {
    case NK_SENDS:
        return stmt_send(p, s);
    case NK_RECEIVES:
        return stmt_receive(p, s);
    case NK_MULTICASTS:
        return stmt_multicast(p, s);
    case NK_REDUCES:
        return stmt_reduce(p, s);
    case NK_AWAITS:
        return stmt_await(p, s);
    case NK_SYNCHRONIZES:
        s->kind = NS_SYNC;
        return s;
    case NK_OUTPUTS:
        return stmt_items(p, s, NS_OUTPUT);
    case NK_BACKEND:
        return nc_need(p, NK_EXECUTES, "BACKEND") ? stmt_items(p, s, NS_BACKEND) : NULL;
    case NK_LOGS:
        return nc_log_stmt(p, s);
    case NK_COMPUTES:
        return stmt_compute(p, s);
    case NK_SLEEPS:
        s->kind = NS_SLEEP;
        return nc_need(p, NK_FOR, "SLEEPS") && (s->e = stmt_duration(p)) ? s : NULL;
    case NK_TOUCHES:
        return stmt_touch(p, s);
    case NK_RESETS:
        return stmt_counters(p, s, NS_RESET);
    case NK_STORES:
        return stmt_counters(p, s, NS_STORE);
    case NK_RESTORES:
        return stmt_counters(p, s, NS_RESTORE);
    case NK_ARE:
        return stmt_assign(p, s);
    default:
        break;
    }
    p->pos--;
    nc_unexpected(p, "what the tasks do (SEND, RECEIVE, COMPUTE, WRITE, ...)");
    return NULL;
}

static struct nc_stmt *stmt_task(struct nc_parser *p)
{
    struct nc_stmt *s = stmt_new(p, NS_WAIT);
    uint8_t async = NC_UNSAID;

    if (!(s->src = nc_tasks(p)))
        return NULL;
    if (nc_io_verb(p, 0) || (nc_at(p, NK_ASYNCHRONOUSLY) && nc_io_verb(p, 1)))
        return nc_io_stmt(p, s);
    if (nc_take(p, NK_ASYNCHRONOUSLY))
        async = NC_YES;
    else if (nc_take(p, NK_SYNCHRONOUSLY))
        async = NC_NO;
    if (async && !nc_at(p, NK_SENDS) && !nc_at(p, NK_RECEIVES) && !nc_at(p, NK_MULTICASTS)) {
        nc_unexpected(p, "SENDS, RECEIVES, MULTICASTS, READS or WRITES");
        return NULL;
    }
    if (!stmt_action(p, s))
        return NULL;
    if (s->msg)
        s->msg->async = async;
    return s;
}

static struct nc_stmt *stmt_simple(struct nc_parser *p)
{
    struct nc_stmt *s;

    if (!nc_enter(p))
        return NULL;
    if (nc_at_kind(p, NT_LBRACE))
        s = stmt_block(p);
    else if (nc_at(p, NK_FOR))
        s = stmt_for_loop(p);
    else if (nc_at(p, NK_LET))
        s = stmt_let(p);
    else if (nc_at(p, NK_IF))
        s = stmt_if(p);
    else if (nc_at(p, NK_ASSERT))
        s = stmt_assertion(p);
    else
        s = stmt_task(p);
    p->depth--;
    return s;
}

/* simple { THEN simple } */
static struct nc_stmt *stmt_list(struct nc_parser *p)
{
    struct nc_stmt *first = NULL, **tail = &first;

    do {
        p->u->indent[p->pos] = (uint8_t)(p->indent < 100 ? p->indent + 1 : 100);
        if (!(*tail = stmt_simple(p)))
            return NULL;
        tail = &(*tail)->next;
    } while (nc_take(p, NK_THEN));
    return first;
}

struct nc_stmt *nc_sentence(struct nc_parser *p)
{
    struct nc_stmt *s = stmt_new(p, NS_BLOCK);

    return (s->body = stmt_list(p)) ? s : NULL;
}
