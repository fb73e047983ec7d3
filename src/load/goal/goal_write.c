/* goal_write.c -- builds the graph of a rank, and writes schedules as binary and as text.
 *
 * A builder holds one rank; goal_writer_rank() appends it to the file and may then be called with
 * the next. The header and the table of ranks are written last, by goal_writer_close().
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "goal_priv.h"

struct goal_builder {
    WR_VEC(struct goal_op) ops;
    WR_VEC(struct goal_edge) edges;
};

struct goal_builder *goal_builder_new(void)
{
    return wr_zalloc(1, sizeof(struct goal_builder));
}

void goal_builder_free(struct goal_builder *b)
{
    if (!b)
        return;
    wr_vec_fini(&b->ops);
    wr_vec_fini(&b->edges);
    free(b);
}

void goal_builder_clear(struct goal_builder *b)
{
    b->ops.n = b->edges.n = 0;
}

uint32_t goal_count(const struct goal_builder *b)
{
    return (uint32_t)b->ops.n;
}

uint32_t goal_add(struct goal_builder *b, const struct goal_op *op)
{
    wr_vec_push(&b->ops, *op);
    return (uint32_t)b->ops.n - 1;
}

void goal_require(struct goal_builder *b, uint32_t then, uint32_t first, bool at_start)
{
    wr_vec_push(&b->edges, (struct goal_edge){then, first, at_start});
}

void goal_relabel(struct goal_builder *b, const int64_t *ops, size_t stride)
{
    assert(ops || !b->edges.n);
    for (size_t i = 0; i < b->edges.n; i++) {
        struct goal_edge *e = &b->edges.v[i];

        e->then = (uint32_t) * (const int64_t *)((const char *)ops + e->then * stride);
        e->first = (uint32_t) * (const int64_t *)((const char *)ops + e->first * stride);
    }
}

/* ---- binary ---- */

struct goal_writer {
    FILE *out;
    uint32_t nranks;
    uint8_t max_cpu, max_nic;
    uint8_t *table;
    uint64_t at; /* of the next rank, from byte 8 */
};

struct goal_writer *goal_writer_new(FILE *out, uint32_t nranks)
{
    struct goal_writer *w = wr_zalloc(1, sizeof *w);

    assert(nranks);
    w->out = out;
    w->nranks = nranks;
    w->table = wr_zalloc(nranks, GOAL_TABLE_ROW);
    w->at = GOAL_TABLE - GOAL_BASE + (uint64_t)nranks * GOAL_TABLE_ROW;
    /* A rank that is never written is empty, at the end of the table. */
    for (uint32_t i = 0; i < nranks; i++) {
        goal_put64(w->table + 16ull * i, w->at);
        goal_put64(w->table + 16ull * i + 8, w->at);
    }
    return w;
}

static bool goal_write_bytes(struct goal_writer *w, const void *bytes, size_t n, struct wr_err *err)
{
    if (n && fwrite(bytes, 1, n, w->out) != n)
        return wr_fail_errno(err, "writing the schedule");
    w->at += n;
    return true;
}

static bool goal_write_word(struct goal_writer *w, uint32_t v, struct wr_err *err)
{
    uint8_t b[4];

    goal_put32(b, v);
    return goal_write_bytes(w, b, sizeof b, err);
}

/* Where each operation's dependents begin in the appendix: those of completion
 * first, then those of the start, operation after operation. */
struct index {
    uint32_t *needs, *nafter, *nstart, *first; /* [ops] each */
    uint32_t *word;
};

static void goal_index_init(struct index *x, const struct goal_builder *b)
{
    size_t n = b->ops.n;
    uint32_t at = 0;

    assert(b->ops.n <= UINT32_MAX && b->edges.n <= UINT32_MAX);
    x->needs = wr_zalloc(4 * n + 1, sizeof *x->needs);
    x->nafter = x->needs + n;
    x->nstart = x->nafter + n;
    x->first = x->nstart + n;
    x->word = wr_alloc((b->edges.n + 1) * sizeof *x->word);
    for (size_t i = 0; i < b->edges.n; i++) {
        const struct goal_edge *e = &b->edges.v[i];

        x->needs[e->then]++;
        (e->at_start ? x->nstart : x->nafter)[e->first]++;
    }
    for (size_t i = 0; i < n; i++) {
        x->first[i] = at;
        at += x->nafter[i] + x->nstart[i];
        x->nafter[i] = x->nstart[i] = 0; /* counted again while the words are put */
    }
    for (int starts = 0; starts < 2; starts++)
        for (size_t i = 0; i < b->edges.n; i++) {
            const struct goal_edge *e = &b->edges.v[i];
            uint32_t f = e->first;

            if (e->at_start != (starts == 1))
                continue;
            x->word[x->first[f] + x->nafter[f] + x->nstart[f]] = e->then;
            (starts ? x->nstart : x->nafter)[f]++;
        }
}

static void goal_index_fini(struct index *x)
{
    free(x->needs);
    free(x->word);
}

static bool goal_write_record(struct goal_writer *w, const struct goal_op *op,
                              const struct index *x, size_t i, struct wr_err *err)
{
    uint8_t p[GOAL_RECORD];

    goal_put32(p, x->needs[i]);
    p[4] = op->type;
    goal_put32(p + 5, op->peer);
    goal_put64(p + 9, op->size);
    goal_put32(p + 17, op->tag);
    p[21] = op->cpu;
    p[22] = op->nic;
    goal_put32(p + 23, x->nafter[i]);
    goal_put32(p + 27, x->first[i]);
    goal_put32(p + 31, x->nstart[i]);
    goal_put32(p + 35, x->first[i] + x->nafter[i]);
    if (op->cpu > w->max_cpu)
        w->max_cpu = op->cpu;
    if (op->nic > w->max_nic)
        w->max_nic = op->nic;
    return goal_write_bytes(w, p, sizeof p, err);
}

static bool goal_write_rank(struct goal_writer *w, const struct goal_builder *b,
                            const struct index *x, struct wr_err *err)
{
    uint32_t roots = 0;
    bool ok = true;

    for (size_t i = 0; i < b->ops.n; i++)
        roots += !x->needs[i];
    ok = goal_write_word(w, (uint32_t)b->ops.n, err) && goal_write_word(w, roots, err);
    for (uint32_t i = 0; ok && i < b->ops.n; i++)
        ok = x->needs[i] || goal_write_word(w, i, err);
    for (size_t i = 0; ok && i < b->ops.n; i++)
        ok = goal_write_record(w, &b->ops.v[i], x, i, err);
    for (size_t i = 0; ok && i < b->edges.n; i++)
        ok = goal_write_word(w, x->word[i], err);
    return ok;
}

bool goal_writer_rank(struct goal_writer *w, uint32_t rank, const struct goal_builder *b,
                      struct wr_err *err)
{
    uint8_t *row = w->table + 16ull * rank;
    struct index x;

    assert(rank < w->nranks);
    if (fseeko(w->out, (off_t)(GOAL_BASE + w->at), SEEK_SET))
        return wr_fail_errno(err, "writing the schedule");
    goal_put64(row, w->at);
    goal_index_init(&x, b);
    bool ok = goal_write_rank(w, b, &x, err);

    goal_index_fini(&x);
    goal_put64(row + 8, w->at);
    return ok;
}

void goal_writer_abandon(struct goal_writer *w)
{
    free(w->table);
    free(w);
}

bool goal_writer_close(struct goal_writer *w, struct wr_err *err)
{
    uint8_t head[GOAL_TABLE];

    goal_put64(head, GOAL_MAGIC);
    goal_put32(head + 8, w->nranks);
    head[12] = w->max_cpu;
    head[13] = w->max_nic;
    bool ok = !fseeko(w->out, 0, SEEK_SET) && fwrite(head, 1, sizeof head, w->out) == sizeof head &&
              fwrite(w->table, GOAL_TABLE_ROW, w->nranks, w->out) == w->nranks && !fflush(w->out);

    if (!ok)
        wr_fail_errno(err, "writing the schedule");
    goal_writer_abandon(w);
    return ok;
}

/* ---- text ---- */

static void goal_write_text_op(FILE *out, uint32_t i, const struct goal_op *op)
{
    fprintf(out, "l%u: ", i);
    if (op->type == GOAL_CALC)
        fprintf(out, "calc %" PRIu64, op->size);
    else
        fprintf(out, "%s %" PRIu64 "b %s ", op->type == GOAL_SEND ? "send" : "recv", op->size,
                op->type == GOAL_SEND ? "to" : "from");
    if (op->type != GOAL_CALC && op->peer == GOAL_ANY)
        fprintf(out, "-1");
    else if (op->type != GOAL_CALC)
        fprintf(out, "%u", op->peer);
    if (op->type != GOAL_CALC && op->tag)
        fprintf(out, " tag %u", op->tag);
    if (op->cpu)
        fprintf(out, " cpu %u", op->cpu);
    if (op->type != GOAL_CALC && op->nic)
        fprintf(out, " nic %u", op->nic);
    fputc('\n', out);
}

static bool goal_write_text_edges(const struct goal_rank *r, uint32_t first, uint32_t n,
                                  uint32_t id, const char *how, FILE *out, struct wr_err *err)
{
    for (uint32_t k = 0; k < n; k++) {
        uint32_t then = goal_word(r, first + k);

        if (then >= r->nops)
            return wr_fail(err, WR_INPUT,
                           "%s: rank %u: operation %u is to be started and there are %u; the file "
                           "is damaged",
                           r->g->name, r->rank, then, r->nops);
        fprintf(out, "l%u %s l%u\n", then, how, id);
    }
    return true;
}

bool goal_text_write(const struct goal *g, FILE *out, struct wr_err *err)
{
    struct goal_rank r;
    struct goal_op op;

    fprintf(out, "num_ranks %u\n", g->nranks);
    for (uint32_t k = 0; k < g->nranks; k++) {
        if (!goal_rank_open(&r, g, k, err))
            return false;
        fprintf(out, "\nrank %u {\n", k);
        for (uint32_t i = 0; i < r.nops; i++) {
            if (!goal_op_read(&r, i, &op, err))
                return false;
            goal_write_text_op(out, i, &op);
        }
        for (uint32_t i = 0; i < r.nops; i++)
            if (!goal_op_read(&r, i, &op, err) ||
                !goal_write_text_edges(&r, op.after, op.nafter, i, "requires", out, err) ||
                !goal_write_text_edges(&r, op.starts, op.nafter_start, i, "irequires", out, err))
                return false;
        fprintf(out, "}\n");
    }
    if (ferror(out))
        return wr_fail_errno(err, "writing the schedule");
    return true;
}
