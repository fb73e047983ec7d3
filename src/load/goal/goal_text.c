/* goal_text.c -- the text of a schedule, read once, one rank in memory at a time.
 *
 *   schedule  = "num_ranks" N {rank}
 *   rank      = "rank" N "{" {statement} "}"
 *   statement = [label ":"] "send" BYTES "to" N {option}
 *             | [label ":"] "recv" BYTES "from" (N | "-1") {option}
 *             | [label ":"] "calc" NANOSECONDS {option}
 *             | label ("requires" | "irequires") label
 *   option    = ("tag" | "cpu" | "nic") N
 *
 * Labels hold inside their rank, and may be used before they are given.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "goal_priv.h"

enum { MAX_WORD = 255, MAX_RANKS = 1 << 24, MAX_OPS = 1 << 30, UNDEFINED = -1 };

struct token {
    char text[MAX_WORD + 1]; /* a word, or one of : { }; "" at the end */
    uint32_t line, column;
};

struct label {
    size_t name;           /* in the names */
    int64_t op;            /* or UNDEFINED */
    uint32_t line, column; /* first use */
};

struct text {
    FILE *in;
    const char *name;
    uint32_t line, column; /* of the next character */
    struct token tok;
    uint32_t nranks;
    struct goal_builder *b;
    struct wr_str names; /* labels of this rank, each ends with a NUL */
    WR_VEC(struct label) labels;
    struct wr_map by_name; /* a label's name to its index in `labels` */
    uint8_t *seen;         /* [nranks] */
    struct wr_err *err;
};

#define fail_at(t, token, fmt, ...)                                                          \
    wr_fail((t)->err, WR_INPUT, "%s:%u:%u: " fmt, (t)->name, (token)->line, (token)->column, \
            ##__VA_ARGS__)

/* ---- words ---- */

static int goal_text_next_char(struct text *t)
{
    int c = getc(t->in);

    if (c == '\n') {
        t->line++;
        t->column = 1;
    } else if (c != EOF) {
        t->column++;
    }
    return c;
}

static int goal_text_peek_char(struct text *t)
{
    int c = getc(t->in);

    if (c != EOF)
        ungetc(c, t->in);
    return c;
}

static void goal_text_skip_line(struct text *t)
{
    int c;

    do
        c = goal_text_peek_char(t);
    while (c != '\n' && c != EOF && goal_text_next_char(t) != EOF);
}

static bool goal_text_skip_comment(struct text *t, const struct token *at)
{
    int last = 0, c;

    while ((c = goal_text_next_char(t)) != EOF) {
        if (last == '*' && c == '/')
            return true;
        last = c;
    }
    return fail_at(t, at, "this remark has no end; write */ behind it");
}

static bool goal_text_is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

static bool goal_text_is_mark(int c)
{
    return c == ':' || c == '{' || c == '}';
}

/* Blanks and remarks; leaves the token's place on what follows. */
static bool goal_text_skip_blanks(struct text *t)
{
    for (;;) {
        int c = goal_text_peek_char(t);

        t->tok.line = t->line;
        t->tok.column = t->column;
        if (goal_text_is_space(c)) {
            goal_text_next_char(t);
        } else if (c == '#') {
            goal_text_skip_line(t);
        } else if (c == '/') {
            goal_text_next_char(t);
            c = goal_text_next_char(t);
            if (c == '/')
                goal_text_skip_line(t);
            else if (c != '*')
                return fail_at(t, &t->tok, "a lone \"/\"; remarks begin with #, // or /*");
            else if (!goal_text_skip_comment(t, &t->tok))
                return false;
        } else {
            return true;
        }
    }
}

static bool goal_text_next_token(struct text *t)
{
    size_t n = 0;

    if (!goal_text_skip_blanks(t))
        return false;
    for (int c = goal_text_peek_char(t); c != EOF && !goal_text_is_space(c) && c != '#' && c != '/';
         c = goal_text_peek_char(t)) {
        if (goal_text_is_mark(c) && n)
            break;
        if (n == MAX_WORD)
            return fail_at(t, &t->tok, "a word of more than %d characters; shorten it", MAX_WORD);
        if (c == 0)
            return fail_at(t, &t->tok, "a zero byte; a schedule is text, or binary from its start");
        t->tok.text[n++] = (char)goal_text_next_char(t);
        if (goal_text_is_mark(c))
            break;
    }
    t->tok.text[n] = 0;
    return true;
}

static bool goal_text_at(const struct text *t, const char *word)
{
    return !strcmp(t->tok.text, word);
}

static bool goal_text_unexpected(struct text *t, const char *what)
{
    if (ferror(t->in))
        return wr_fail_errno(t->err, "%s", t->name);
    if (!*t->tok.text)
        return fail_at(t, &t->tok, "the text ends here; expected %s", what);
    return fail_at(t, &t->tok, "expected %s instead of \"%.60s\"", what, t->tok.text);
}

static bool goal_text_need(struct text *t, const char *word, const char *what)
{
    return goal_text_at(t, word) ? goal_text_next_token(t) : goal_text_unexpected(t, what);
}

/* Digits and, when `unit` is not 0, that letter behind them. */
static bool goal_text_number(struct text *t, const char *what, char unit, uint64_t most,
                             uint64_t *ret)
{
    const char *p = t->tok.text;
    uint64_t v = 0;
    bool large = false;

    for (; *p >= '0' && *p <= '9'; p++) {
        large |= v > (UINT64_MAX - 9) / 10;
        v = v * 10 + (uint64_t)(*p - '0');
    }
    if (p == t->tok.text || *p != unit || (unit && p[1]))
        return goal_text_unexpected(t, what);
    if (large || v > most)
        return fail_at(t, &t->tok, "%.60s is too large: at most %" PRIu64 " here", t->tok.text,
                       most);
    *ret = v;
    return goal_text_next_token(t);
}

/* ---- labels ---- */

struct label_wanted {
    const struct text *t;
    const char *name;
};

static bool goal_text_same_label(const void *ctx, uint64_t index)
{
    const struct label_wanted *want = ctx;

    return !strcmp(want->t->names.s + want->t->labels.v[index].name, want->name);
}

/* The label that this token names, made when it is new. */
static uint32_t goal_text_label(struct text *t, const struct token *tok)
{
    uint64_t hash = wr_hash_text(WR_HASH_INIT, tok->text);
    uint64_t known =
        wr_map_find(&t->by_name, hash, goal_text_same_label, &(struct label_wanted){t, tok->text});

    if (known != WR_MAP_NONE)
        return (uint32_t)known;
    wr_map_add(&t->by_name, hash, t->labels.n);
    wr_vec_push(&t->labels,
                (struct label){
                    .name = t->names.n, .op = UNDEFINED, .line = tok->line, .column = tok->column});
    wr_str_addn(&t->names, tok->text, strlen(tok->text) + 1);
    return (uint32_t)t->labels.n - 1;
}

static void goal_text_clear_rank(struct text *t)
{
    goal_builder_clear(t->b);
    t->labels.n = 0;
    t->names.n = 0;
    wr_map_clear(&t->by_name);
}

/* ---- statements ---- */

static bool goal_text_options(struct text *t, struct goal_op *op)
{
    static const struct {
        const char *word, *what;
        uint32_t most;
    } words[] = {{"tag", "a number after tag", UINT32_MAX},
                 {"cpu", "a number after cpu", UINT8_MAX},
                 {"nic", "a number after nic", UINT8_MAX}};

    for (;;) {
        uint64_t v;
        int i = 0;

        while (i < 3 && !goal_text_at(t, words[i].word))
            i++;
        if (i == 3)
            return true;
        if (!goal_text_next_token(t) || !goal_text_number(t, words[i].what, 0, words[i].most, &v))
            return false;
        if (i == 0)
            op->tag = (uint32_t)v;
        else
            *(i == 1 ? &op->cpu : &op->nic) = (uint8_t)v;
    }
}

static bool goal_text_peer(struct text *t, struct goal_op *op)
{
    uint64_t v;

    if (op->type == GOAL_RECV && goal_text_at(t, "-1")) {
        op->peer = GOAL_ANY;
        return goal_text_next_token(t);
    }
    if (!goal_text_number(t, "the number of a rank", 0, t->nranks - 1, &v))
        return false;
    op->peer = (uint32_t)v;
    return true;
}

static bool goal_text_operation(struct text *t)
{
    struct goal_op op = {.type = goal_text_at(t, "send")   ? GOAL_SEND
                                 : goal_text_at(t, "recv") ? GOAL_RECV
                                 : goal_text_at(t, "calc") ? GOAL_CALC
                                                           : 0};
    bool ok;

    if (!op.type)
        return goal_text_unexpected(t, "send, recv or calc");
    if (!goal_text_next_token(t))
        return false;
    if (op.type == GOAL_CALC)
        ok = goal_text_number(t, "nanoseconds after calc", 0, UINT64_MAX / 1000, &op.size);
    else
        ok = goal_text_number(t, "a size with its unit, as in 100b", 'b', INT64_MAX, &op.size) &&
             goal_text_need(t, op.type == GOAL_SEND ? "to" : "from",
                            op.type == GOAL_SEND ? "\"to\" and a rank" : "\"from\" and a rank") &&
             goal_text_peer(t, &op);
    if (!ok || !goal_text_options(t, &op))
        return false;
    if (goal_count(t->b) == MAX_OPS)
        return fail_at(t, &t->tok, "more than %d operations in a rank; divide the schedule",
                       MAX_OPS);
    goal_add(t->b, &op);
    return true;
}

/* label ":" operation | label "requires" label */
static bool goal_text_labelled(struct text *t)
{
    struct token first = t->tok;
    uint32_t l;

    if (goal_text_is_mark(*first.text) || !*first.text)
        return goal_text_unexpected(t, "a label, send, recv, calc or }");
    if (!goal_text_next_token(t))
        return false;
    l = goal_text_label(t, &first);
    if (goal_text_at(t, ":")) {
        if (t->labels.v[l].op != UNDEFINED)
            return fail_at(t, &first, "the label \"%.60s\" is given twice in this rank; rename one",
                           first.text);
        t->labels.v[l].op = goal_count(t->b);
        return goal_text_next_token(t) && goal_text_operation(t);
    }
    bool at_start = goal_text_at(t, "irequires");

    if (!at_start && !goal_text_at(t, "requires"))
        return goal_text_unexpected(t, "\":\", requires or irequires after a label");
    if (!goal_text_next_token(t))
        return false;
    if (!*t->tok.text || goal_text_is_mark(*t->tok.text))
        return goal_text_unexpected(t, "the label of what is required");
    /* Labels for now; numbers of operations when the rank is complete. */
    goal_require(t->b, l, goal_text_label(t, &t->tok), at_start);
    return goal_text_next_token(t);
}

static bool goal_text_statement(struct text *t)
{
    if (!goal_text_at(t, "send") && !goal_text_at(t, "recv") && !goal_text_at(t, "calc"))
        return goal_text_labelled(t);
    return goal_text_operation(t);
}

static bool goal_text_resolve_labels(struct text *t)
{
    for (size_t i = 0; i < t->labels.n; i++)
        if (t->labels.v[i].op == UNDEFINED)
            return fail_at(t, &t->labels.v[i],
                           "no operation of this rank is labelled \"%.60s\"; label one",
                           t->names.s + t->labels.v[i].name);
    return true;
}

static bool goal_text_rank(struct text *t, struct goal_writer *w)
{
    struct token where = t->tok;
    uint64_t r;

    if (!goal_text_need(t, "rank", "\"rank\" and a number"))
        return false;
    where = t->tok;
    if (!goal_text_number(t, "the number of a rank", 0, t->nranks - 1, &r))
        return false;
    if (t->seen[r])
        return fail_at(t, &where, "rank %u is there twice; join the two", (uint32_t)r);
    t->seen[r] = 1;
    if (!goal_text_need(t, "{", "{ after the rank's number"))
        return false;
    goal_text_clear_rank(t);
    while (!goal_text_at(t, "}"))
        if (!goal_text_statement(t))
            return false;
    if (!goal_text_resolve_labels(t))
        return false;
    goal_relabel(t->b, t->labels.n ? &t->labels.v[0].op : NULL, sizeof(struct label));
    return goal_writer_rank(w, (uint32_t)r, t->b, t->err) && goal_text_next_token(t);
}

static bool goal_text_schedule(struct text *t, FILE *out)
{
    uint64_t n;

    if (!goal_text_next_token(t) ||
        !goal_text_need(t, "num_ranks", "num_ranks and how many there are") ||
        !goal_text_number(t, "the number of ranks", 0, MAX_RANKS, &n))
        return false;
    if (!n)
        return wr_fail(t->err, WR_INPUT, "%s: a schedule of no ranks; give it at least one",
                       t->name);
    t->nranks = (uint32_t)n;
    t->seen = wr_zalloc(n, 1);
    struct goal_writer *w = goal_writer_new(out, t->nranks);

    while (*t->tok.text)
        if (!goal_text_rank(t, w)) {
            goal_writer_abandon(w);
            return false;
        }
    if (ferror(t->in)) {
        goal_writer_abandon(w);
        return wr_fail_errno(t->err, "%s", t->name);
    }
    return goal_writer_close(w, t->err);
}

bool goal_text_read(FILE *in, const char *name, FILE *out, struct wr_err *err)
{
    struct text t = {
        .in = in, .name = name, .line = 1, .column = 1, .b = goal_builder_new(), .err = err};
    bool ok = goal_text_schedule(&t, out);

    goal_builder_free(t.b);
    wr_vec_fini(&t.labels);
    wr_str_fini(&t.names);
    wr_map_fini(&t.by_name);
    free(t.seen);
    return ok;
}
