/* compile.c -- statements to instructions.
 *
 *   FOR n REPETITIONS s      LOOP n, past     s...    LOOP_END back
 *   FOR EACH v IN r s        EACH v r, past   s...    EACH_END back
 *   FOR 3 SECONDS s          TIMED            s...    TIMED_END back
 *   IF c THEN a OTHERWISE b  IF c, else       a...    JUMP past    else: b...
 *   LET v BE e WHILE s       LET v e          s...
 *
 * A LET whose value is known now leaves no instruction. Slots are a stack: a
 * statement's are free again behind it.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "compile_priv.h"
#include "share_priv.h"

/* Bytes of a rank up to which peers are cached; tasks whose numbers fit half a cache word. */
enum { SMALL_RANK = 512, MOST_REMEMBERED = 1 << 29 };

static void code_stmt(struct nc_compiler *c, const struct nc_stmt *s);
static void code_stmts(struct nc_compiler *c, const struct nc_stmt *s);

static uint16_t code_new_slots(struct nc_compiler *c, uint32_t n, uint32_t at)
{
    uint32_t first = c->slots;

    if (first + n > NC_MOST_SLOTS) {
        if (!c->failed)
            nc_fail(&c->u->src, NC_SEMANTIC, at, c->err,
                    "more than %d variables and loops around one statement; simplify",
                    NC_MOST_SLOTS);
        c->failed = true;
        return 0;
    }
    c->slots += n;
    if (c->slots > c->p->nslots)
        c->p->nslots = c->slots;
    return (uint16_t)first;
}

static uint32_t code_emit(struct nc_compiler *c, struct nc_ins ins)
{
    wr_vec_push(&c->code, ins);
    return (uint32_t)(c->code.n - 1);
}

static uint32_t code_here(const struct nc_compiler *c)
{
    return (uint32_t)c->code.n;
}

/* ---- loops, LET, IF ---- */

static bool code_draws(const struct nx *x)
{
    if (!x)
        return false;
    if (x->op == NX_CALL && nc_func_find(x->func)->local)
        return true;
    for (uint32_t i = 0; i < x->nkid; i++)
        if (code_draws(x->kid[i]))
            return true;
    return false;
}

/* Does every execution do the same? Not when it draws tasks or moves them. */
static bool code_is_steady(const struct nc_stmt *s)
{
    for (; s; s = s->next) {
        for (const struct nc_let *l = s->lets; l; l = l->next)
            if (l->kind == NL_RANDOM)
                return false;
        if (s->kind == NS_ASSIGN || code_draws(s->count) || !code_is_steady(s->body) ||
            !code_is_steady(s->other))
            return false;
    }
    return true;
}

static void code_repeat(struct nc_compiler *c, const struct nc_stmt *s)
{
    uint32_t before = c->slots;
    struct nc_ins ins = {.op = NI_LOOP,
                         .at = s->at,
                         .sync = s->sync,
                         .steady = code_is_steady(s->body),
                         .e = nc_code(c, s->e, false),
                         .e2 = nc_code(c, s->warmup, false),
                         .slot = code_new_slots(c, 2, s->at)};
    uint32_t head = code_emit(c, ins);

    code_stmt(c, s->body);
    ins.op = NI_LOOP_END;
    ins.jump = head;
    code_emit(c, ins);
    c->code.v[head].jump = code_here(c);
    c->slots = before;
}

static void code_timed(struct nc_compiler *c, const struct nc_stmt *s)
{
    uint32_t before = c->slots;
    struct nc_ins ins = {.op = NI_TIMED,
                         .at = s->at,
                         .sync = s->sync,
                         .e = nc_code(c, s->e, false),
                         .e2 = nc_code(c, s->warmup, false),
                         .slot = code_new_slots(c, 1, s->at)};
    uint32_t head = code_emit(c, ins);

    code_stmt(c, s->body);
    ins.op = NI_TIMED_END;
    ins.jump = head;
    code_emit(c, ins);
    c->slots = before;
}

static void code_each(struct nc_compiler *c, const struct nc_stmt *s)
{
    uint32_t before = c->slots;

    c->tmps = 0;
    struct nc_ins ins = {.op = NI_EACH,
                         .at = s->at,
                         .ranges = nc_code_ranges(c, s->ranges, s->nranges),
                         .nranges = s->nranges,
                         .id = c->ids++};
    ins.slot = code_new_slots(c, 1, s->at);
    ins.state = code_new_slots(c, 2, s->at);
    c->place[s->bind->id] = (struct nc_place){NP_SLOT, ins.slot};
    for (uint32_t i = 0; i < ins.nranges; i++)
        ins.listed |= ins.ranges[i].kind == NR_COMP || (ins.ranges[i].dep & NC_DEP_MAP);
    uint32_t head = code_emit(c, ins);
    code_stmt(c, s->body);
    ins.op = NI_EACH_END;
    ins.jump = head;
    code_emit(c, ins);
    c->code.v[head].jump = code_here(c);
    c->slots = before;
}

static void code_binding(struct nc_compiler *c, const struct nc_let *l)
{
    struct nc_ins ins = {.op = NI_LET, .at = l->at};

    c->tmps = 0;
    if (l->kind == NL_GROUP)
        return; /* compiled where it is used */
    if (l->kind == NL_RANDOM) {
        ins.op = NI_RANDOM;
        ins.e = nc_code(c, l->lo, false);
        ins.e2 = nc_code(c, l->hi, false);
        ins.e3 = nc_code(c, l->but, false);
    } else {
        ins.e = nc_code(c, l->e, false);
        if (ins.e->op == NX_CONST) {
            c->place[l->bind->id] = (struct nc_place){NP_CONST, ins.e->i};
            return;
        }
    }
    ins.slot = code_new_slots(c, 1, l->at);
    c->place[l->bind->id] = (struct nc_place){NP_SLOT, ins.slot};
    code_emit(c, ins);
}

static void code_let(struct nc_compiler *c, const struct nc_stmt *s)
{
    uint32_t before = c->slots;

    for (const struct nc_let *l = s->lets; l; l = l->next)
        code_binding(c, l);
    code_stmt(c, s->body);
    c->slots = before;
}

static void code_if(struct nc_compiler *c, const struct nc_stmt *s)
{
    c->tmps = 0;
    struct nc_node *cond = nc_code(c, s->e, false);

    if (cond->op == NX_CONST) {
        if (cond->i)
            code_stmt(c, s->body);
        else if (s->other)
            code_stmt(c, s->other);
        return;
    }
    uint32_t test = code_emit(c, (struct nc_ins){.op = NI_IF, .at = s->at, .e = cond});
    code_stmt(c, s->body);
    if (s->other) {
        uint32_t skip = code_emit(c, (struct nc_ins){.op = NI_JUMP, .at = s->at});

        c->code.v[test].jump = code_here(c);
        code_stmt(c, s->other);
        c->code.v[skip].jump = code_here(c);
    } else {
        c->code.v[test].jump = code_here(c);
    }
}

/* ---- messages ---- */

/* Strings become numbers that programs will hardly use. */
static int64_t code_hash_tag(const char *s)
{
    return (int64_t)(nc_mix(wr_hash_text(WR_HASH_INIT, s)) >> 2 | 1ull << 61);
}

struct nc_msg nc_inherit(const struct nc_msg *sent, const struct nc_msg *received)
{
    struct nc_msg m = *sent;

    if (!received)
        return m;
    if (received->async)
        m.async = received->async;
    if (received->unique)
        m.unique = received->unique;
    if (received->aligned) {
        m.aligned = received->aligned;
        m.align = received->align;
    }
    if (received->touch)
        m.touch = received->touch;
    if (received->has_tag) {
        m.has_tag = true;
        m.tag = received->tag;
        m.tag_text = received->tag_text;
    }
    if (received->buffer) {
        m.buffer = received->buffer;
        m.buf = received->buf;
        m.ofs = received->ofs;
    }
    return m;
}

static struct nc_cmsg *code_msg(struct nc_compiler *c, const struct nc_msg *sent,
                                const struct nc_msg *received, bool unsuspecting)
{
    struct nc_msg m = nc_inherit(sent, received);
    struct nc_cmsg *out = wr_arena_alloc(&c->p->arena, sizeof *out);

    out->flags =
        (m.async == NC_YES ? NCPTL_F_ASYNC : 0) | (m.unique == NC_YES ? NCPTL_F_UNIQUE : 0) |
        (m.touch == NC_TOUCH ? NCPTL_F_TOUCH : 0) | (m.touch == NC_VERIFY ? NCPTL_F_VERIFY : 0) |
        (m.aligned == NC_MISALIGNED ? NCPTL_F_MISALIGN : 0) | (unsuspecting ? NCPTL_F_UNSUSP : 0);
    out->count = nc_code(c, m.count, false);
    out->size = nc_code(c, m.size, false);
    out->align = m.aligned > NC_UNALIGNED ? nc_code(c, m.align, false) : NULL;
    out->ofs = nc_code(c, m.ofs, false);
    out->buf = m.buffer == NC_BUF_NUMBER ? nc_code(c, m.buf, false) : NULL;
    if (m.tag_text) {
        out->tag_text = m.tag_text;
        out->tag_hash = code_hash_tag(m.tag_text);
    } else {
        out->tag = nc_code(c, m.tag, false);
    }
    out->plain = !out->tag_text && !out->tag && !out->align && !out->ofs && !out->buf;
    return out;
}

static void code_comm(struct nc_compiler *c, const struct nc_stmt *s)
{
    struct nc_ins ins = {.at = s->at};

    if (s->kind == NS_RECV) {
        ins.op = s->pull ? NI_RECV_PULL : NI_RECV;
        ins.pair = s->pull ? nc_new_pair(c, s->dst, s->src) : nc_new_pair(c, s->src, s->dst);
        ins.msg = code_msg(c, s->msg, NULL, false);
    } else {
        ins.op = s->kind == NS_SEND ? NI_SEND : NI_MCAST;
        ins.pair = nc_new_pair(c, s->src, s->dst);
        ins.msg = code_msg(c, s->msg, NULL, s->unsuspecting);
        if (s->kind == NS_SEND && !s->unsuspecting)
            ins.rmsg = code_msg(c, s->msg, s->rmsg, false);
    }
    code_emit(c, ins);
}

static void code_reduce(struct nc_compiler *c, const struct nc_stmt *s)
{
    struct nc_ins ins = {.op = NI_REDUCE, .at = s->at};

    if (s->dst)
        ins.pair = nc_new_pair(c, s->src, s->dst);
    else
        ins.set = nc_new_set(c, s->src);
    ins.msg = code_msg(c, s->msg, NULL, false);
    if (s->rmsg)
        ins.rmsg = code_msg(c, s->msg, s->rmsg, false);
    code_emit(c, ins);
}

/* ---- what one set of tasks does ---- */

static void code_items(struct nc_compiler *c, const struct nc_stmt *s, struct nc_ins *ins)
{
    size_t n = 0;

    for (const struct nc_item *it = s->items; it; it = it->next)
        n++;
    ins->items = s->items;
    ins->item_nodes = wr_arena_alloc(&c->p->arena, (n ? n : 1) * sizeof *ins->item_nodes);
    n = 0;
    for (const struct nc_item *it = s->items; it; it = it->next, n++) {
        ins->item_nodes[n] = nc_code(c, it->e, true);
        ins->timed |= it->e && (ins->item_nodes[n]->dep & NC_DEP_TIME);
    }
}

static void code_columns(struct nc_compiler *c, const struct nc_stmt *s, struct nc_ins *ins)
{
    ins->column = (uint32_t)c->columns.n;
    for (const struct nc_column *col = s->columns; col; col = col->next) {
        struct nc_column_code code = {.e = nc_code(c, col->e, true),
                                      .param = nc_code(c, col->param, true),
                                      .tmp = ins->set->tmp};

        code.info = (struct ncptl_column){.title = col->value_of ? "" : col->title,
                                          .aggregate = col->aggregate,
                                          .table = c->table,
                                          .timed = code.e->dep & NC_DEP_TIME,
                                          .source = s->at};
        if (code.param && code.param->op == NX_CONST)
            code.info.param = code.param->d;
        wr_vec_push(&c->columns, code);
    }
    ins->ncolumns = (uint32_t)c->columns.n - ins->column;
}

static void code_local(struct nc_compiler *c, const struct nc_stmt *s)
{
    static const struct {
        enum nc_iop op;
        enum ncptl_op yields;
    } what[] = {
        [NS_WAIT] = {NI_LOCAL, NCPTL_WAIT},
        [NS_SYNC] = {NI_BARRIER, NCPTL_BARRIER},
        [NS_OUTPUT] = {NI_LOCAL, NCPTL_OUTPUT},
        [NS_LOG] = {NI_LOCAL, NCPTL_LOG},
        [NS_AGGREGATE] = {NI_LOCAL, NCPTL_AGGREGATE},
        [NS_RESET] = {NI_LOCAL, NCPTL_RESET},
        [NS_STORE] = {NI_LOCAL, NCPTL_STORE},
        [NS_RESTORE] = {NI_LOCAL, NCPTL_RESTORE},
        [NS_COMPUTE] = {NI_LOCAL, NCPTL_COMPUTE},
        [NS_SLEEP] = {NI_LOCAL, NCPTL_SLEEP},
        [NS_TOUCH] = {NI_LOCAL, NCPTL_TOUCH},
        [NS_TOUCH_BUFFER] = {NI_LOCAL, NCPTL_TOUCH},
        [NS_ASSIGN] = {NI_ASSIGN, NCPTL_END},
        [NS_BACKEND] = {NI_LOCAL, NCPTL_BACKEND},
        [NS_OPEN] = {NI_LOCAL, NCPTL_OPEN},
        [NS_CLOSE] = {NI_LOCAL, NCPTL_CLOSE},
        [NS_WRITE] = {NI_IO, NCPTL_WRITE},
        [NS_READ] = {NI_IO, NCPTL_READ},
        [NS_FLUSH] = {NI_LOCAL, NCPTL_FLUSH},
    };
    struct nc_ins ins = {.op = what[s->kind].op,
                         .yields = what[s->kind].yields,
                         .at = s->at,
                         .random = s->random,
                         .async = s->async,
                         .coll = s->collectively,
                         .mode = s->mode,
                         .buffers = s->kind == NS_TOUCH_BUFFER ? (uint8_t)(s->buffers + 1) : 0,
                         .table = c->table};

    ins.set = nc_new_set(c, s->src);
    ins.e = nc_code(c, s->e, false);
    if (s->kind == NS_TOUCH) {
        ins.e = nc_code(c, s->accesses, false);
        ins.e2 = nc_code(c, s->word, false);
        ins.e3 = nc_code(c, s->region, false);
        ins.e4 = nc_code(c, s->times, false);
        ins.e5 = nc_code(c, s->stride, false);
    } else {
        ins.e2 = nc_code(c, s->count, false);
        ins.e3 = nc_code(c, s->size, false);
        ins.e4 = nc_code(c, s->offset, false);
    }
    code_items(c, s, &ins);
    code_columns(c, s, &ins);
    code_emit(c, ins);
}

static void code_stmt(struct nc_compiler *c, const struct nc_stmt *s)
{
    c->tmps = 0;
    switch (s->kind) {
    case NS_BLOCK:
        code_stmts(c, s->body);
        break;
    case NS_REPEAT:
        code_repeat(c, s);
        break;
    case NS_EACH:
        code_each(c, s);
        break;
    case NS_TIMED:
        code_timed(c, s);
        break;
    case NS_LET:
        code_let(c, s);
        break;
    case NS_IF:
        code_if(c, s);
        break;
    case NS_SEND:
    case NS_RECV:
    case NS_MCAST:
        code_comm(c, s);
        break;
    case NS_REDUCE:
        code_reduce(c, s);
        break;
    case NS_ASSERT:
        code_emit(c,
                  (struct nc_ins){
                      .op = NI_ASSERT, .at = s->at, .e = nc_code(c, s->e, false), .text = s->text});
        break;
    default:
        code_local(c, s);
        break;
    }
}

static void code_stmts(struct nc_compiler *c, const struct nc_stmt *s)
{
    for (; s && !c->failed; s = s->next)
        code_stmt(c, s);
}

static bool code_moves_tasks(const struct nc_compiler *c)
{
    for (size_t i = 0; i < c->code.n; i++)
        if (c->code.v[i].op == NI_ASSIGN)
            return true;
    return false;
}

/* Statements whose peers never change get a word of the rank that caches them, as
 * long as a rank stays small. */
static void code_cache_peers(struct nc_compiler *c)
{
    size_t most = (SMALL_RANK - sizeof(struct ncptl_rank)) / sizeof(int64_t);

    if (code_moves_tasks(c) || c->p->n > MOST_REMEMBERED)
        return;
    for (size_t i = 0; i < c->code.n && c->p->nslots < most; i++) {
        struct nc_ins *in = &c->code.v[i];

        if ((in->op == NI_SEND || in->op == NI_RECV || in->op == NI_RECV_PULL) && !in->pair->nslots)
            in->cache = (uint16_t)(1 + c->p->nslots++);
    }
}

bool nc_compile(struct ncptl_prog *p, const struct ncptl_unit *u, const int64_t *params,
                struct wr_err *err)
{
    struct nc_compiler c = {.p = p, .u = u, .err = err};
    size_t i = 0;

    assert(p->n && !p->code);
    c.place = wr_zalloc(u->nbinds + 1, sizeof *c.place);
    for (const struct nc_param *d = u->params; d; d = d->next)
        c.place[d->bind->id] = (struct nc_place){NP_CONST, params[i++]};
    for (const struct nc_stmt *s = u->stmts; s && !c.failed; s = s->next, c.table++)
        code_stmts(&c, s->body);
    code_emit(&c, (struct nc_ins){.op = NI_END, .at = (uint32_t)u->src.len});
    free(c.place);
    code_cache_peers(&c);

    p->ncode = (uint32_t)c.code.n;
    p->code = wr_arena_alloc(&p->arena, c.code.n * sizeof *c.code.v);
    memcpy(p->code, c.code.v, c.code.n * sizeof *c.code.v);
    p->ncolumns = (uint32_t)c.columns.n;
    p->columns = wr_arena_alloc(&p->arena, (c.columns.n + 1) * sizeof *c.columns.v);
    if (c.columns.n)
        memcpy(p->columns, c.columns.v, c.columns.n * sizeof *c.columns.v);
    wr_vec_fini(&c.code);
    wr_vec_fini(&c.columns);
    return !c.failed;
}

bool nc_constant(const struct ncptl_unit *u, const struct nx *x, int64_t *ret, struct wr_err *err)
{
    struct ncptl_prog p = {.src = u->src, .n = 1};
    struct nc_compiler c = {.p = &p, .u = u, .err = err};
    struct nc_ev e;

    p.share = nc_share_new(1, 1);
    c.place = wr_zalloc(u->nbinds + 1, sizeof *c.place);
    struct nc_node *n = nc_code(&c, x, false);
    nc_ev_init(&e, &p, NULL);
    int64_t value = nc_int(&e, n);
    bool ok = !c.failed && !e.bad;
    if (!c.failed && e.bad)
        nc_explain(&p, e.bad, e.where ? e.where->at : x->at, e.x, e.y, NULL, err);
    if (ok)
        *ret = value;
    free(c.place);
    nc_share_free(p.share);
    wr_arena_fini(&p.arena);
    return ok;
}
