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

#include "base/mem.h"
#include "goal_priv.h"

enum { MAX_WORD = 255, MAX_RANKS = 1 << 28, MAX_OPS = 1 << 30, UNDEFINED = -1 };

struct token {
    char text[MAX_WORD + 1]; /* a word, or one of : { }; "" at the end */
    uint32_t line, column;
};

struct label {
    uint64_t hash;
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
    uint32_t *table; /* open addressing into labels; UINT32_MAX: empty */
    uint32_t cap;
    uint8_t *seen; /* [nranks] */
    struct wr_err *err;
};

#define fail_at(t, token, fmt, ...)                                                          \
    wr_fail((t)->err, WR_INPUT, "%s:%u:%u: " fmt, (t)->name, (token)->line, (token)->column, \
            ##__VA_ARGS__)

/* ---- words ---- */

static int next_char(struct text *t)
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

static int peek_char(struct text *t)
{
    int c = getc(t->in);

    if (c != EOF)
        ungetc(c, t->in);
    return c;
}

static void skip_line(struct text *t)
{
    int c;

    do
        c = peek_char(t);
    while (c != '\n' && c != EOF && next_char(t) != EOF);
}

static bool skip_comment(struct text *t, const struct token *at)
{
    int last = 0, c;

    while ((c = next_char(t)) != EOF) {
        if (last == '*' && c == '/')
            return true;
        last = c;
    }
    return fail_at(t, at, "this remark has no end; write */ behind it");
}

static bool is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

static bool is_mark(int c)
{
    return c == ':' || c == '{' || c == '}';
}

/* Blanks and remarks; leaves the token's place on what follows. */
static bool skip(struct text *t)
{
    for (;;) {
        int c = peek_char(t);

        t->tok.line = t->line;
        t->tok.column = t->column;
        if (is_space(c)) {
            next_char(t);
        } else if (c == '#') {
            skip_line(t);
        } else if (c == '/') {
            next_char(t);
            c = next_char(t);
            if (c == '/')
                skip_line(t);
            else if (c != '*')
                return fail_at(t, &t->tok, "a lone \"/\"; remarks begin with #, // or /*");
            else if (!skip_comment(t, &t->tok))
                return false;
        } else {
            return true;
        }
    }
}

static bool next(struct text *t)
{
    size_t n = 0;

    if (!skip(t))
        return false;
    for (int c = peek_char(t); c != EOF && !is_space(c) && c != '#' && c != '/'; c = peek_char(t)) {
        if (is_mark(c) && n)
            break;
        if (n == MAX_WORD)
            return fail_at(t, &t->tok, "a word of more than %d characters; shorten it", MAX_WORD);
        if (c == 0)
            return fail_at(t, &t->tok, "a zero byte; a schedule is text, or binary from its start");
        t->tok.text[n++] = (char)next_char(t);
        if (is_mark(c))
            break;
    }
    t->tok.text[n] = 0;
    return true;
}

static bool at(const struct text *t, const char *word)
{
    return !strcmp(t->tok.text, word);
}

static bool unexpected(struct text *t, const char *what)
{
    if (ferror(t->in))
        return wr_fail_errno(t->err, "%s", t->name);
    if (!*t->tok.text)
        return fail_at(t, &t->tok, "the text ends here; expected %s", what);
    return fail_at(t, &t->tok, "expected %s instead of \"%.60s\"", what, t->tok.text);
}

static bool need(struct text *t, const char *word, const char *what)
{
    return at(t, word) ? next(t) : unexpected(t, what);
}

/* Digits and, when `unit` is not 0, that letter behind them. */
static bool number(struct text *t, const char *what, char unit, uint64_t most, uint64_t *ret)
{
    const char *p = t->tok.text;
    uint64_t v = 0;
    bool large = false;

    for (; *p >= '0' && *p <= '9'; p++) {
        large |= v > (UINT64_MAX - 9) / 10;
        v = v * 10 + (uint64_t)(*p - '0');
    }
    if (p == t->tok.text || *p != unit || (unit && p[1]))
        return unexpected(t, what);
    if (large || v > most)
        return fail_at(t, &t->tok, "%.60s is too large: at most %" PRIu64 " here", t->tok.text,
                       most);
    *ret = v;
    return next(t);
}

/* ---- labels ---- */

static uint64_t hash_text(const char *s)
{
    uint64_t h = 0xcbf29ce484222325;

    for (; *s; s++)
        h = (h ^ (uint8_t)*s) * 0x100000001b3;
    return h ^ h >> 31;
}

static void grow_labels(struct text *t)
{
    if (t->cap && t->labels.n * 2 < t->cap)
        return;
    t->cap = t->cap ? t->cap * 2 : 256;
    free(t->table);
    t->table = wr_alloc(t->cap * sizeof *t->table);
    memset(t->table, 0xff, t->cap * sizeof *t->table);
    for (uint32_t i = 0; i < t->labels.n; i++) {
        uint32_t k = (uint32_t)t->labels.v[i].hash & (t->cap - 1);

        while (t->table[k] != UINT32_MAX)
            k = (k + 1) & (t->cap - 1);
        t->table[k] = i;
    }
}

/* The label that this token names, made when it is new. */
static uint32_t label_of(struct text *t, const struct token *tok)
{
    struct label l = {.hash = hash_text(tok->text),
                      .name = t->names.n,
                      .op = UNDEFINED,
                      .line = tok->line,
                      .column = tok->column};

    grow_labels(t);
    uint32_t k = (uint32_t)l.hash & (t->cap - 1);

    for (; t->table[k] != UINT32_MAX; k = (k + 1) & (t->cap - 1)) {
        const struct label *have = &t->labels.v[t->table[k]];

        if (have->hash == l.hash && !strcmp(t->names.s + have->name, tok->text))
            return t->table[k];
    }
    t->table[k] = (uint32_t)t->labels.n;
    wr_vec_push(&t->labels, l);
    wr_str_addn(&t->names, tok->text, strlen(tok->text) + 1);
    return t->table[k];
}

static void clear_rank(struct text *t)
{
    goal_builder_clear(t->b);
    t->labels.n = 0;
    t->names.n = 0;
    if (t->cap)
        memset(t->table, 0xff, t->cap * sizeof *t->table);
}

/* ---- statements ---- */

static bool options(struct text *t, struct goal_op *op)
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

        while (i < 3 && !at(t, words[i].word))
            i++;
        if (i == 3)
            return true;
        if (!next(t) || !number(t, words[i].what, 0, words[i].most, &v))
            return false;
        if (i == 0)
            op->tag = (uint32_t)v;
        else
            *(i == 1 ? &op->cpu : &op->nic) = (uint8_t)v;
    }
}

static bool peer(struct text *t, struct goal_op *op)
{
    uint64_t v;

    if (op->type == GOAL_RECV && at(t, "-1")) {
        op->peer = GOAL_ANY;
        return next(t);
    }
    if (!number(t, "the number of a rank", 0, t->nranks - 1, &v))
        return false;
    op->peer = (uint32_t)v;
    return true;
}

static bool operation(struct text *t)
{
    struct goal_op op = {.type = at(t, "send")   ? GOAL_SEND
                                 : at(t, "recv") ? GOAL_RECV
                                 : at(t, "calc") ? GOAL_CALC
                                                 : 0};
    bool ok;

    if (!op.type)
        return unexpected(t, "send, recv or calc");
    if (!next(t))
        return false;
    if (op.type == GOAL_CALC)
        ok = number(t, "nanoseconds after calc", 0, UINT64_MAX / 1000, &op.size);
    else
        ok = number(t, "a size with its unit, as in 100b", 'b', INT64_MAX, &op.size) &&
             need(t, op.type == GOAL_SEND ? "to" : "from",
                  op.type == GOAL_SEND ? "\"to\" and a rank" : "\"from\" and a rank") &&
             peer(t, &op);
    if (!ok || !options(t, &op))
        return false;
    if (goal_count(t->b) == MAX_OPS)
        return fail_at(t, &t->tok, "more than %d operations in a rank; divide the schedule",
                       MAX_OPS);
    goal_add(t->b, &op);
    return true;
}

/* label ":" operation | label "requires" label */
static bool labelled(struct text *t)
{
    struct token first = t->tok;
    uint32_t l;

    if (is_mark(*first.text) || !*first.text)
        return unexpected(t, "a label, send, recv, calc or }");
    if (!next(t))
        return false;
    l = label_of(t, &first);
    if (at(t, ":")) {
        if (t->labels.v[l].op != UNDEFINED)
            return fail_at(t, &first, "the label \"%.60s\" is given twice in this rank; rename one",
                           first.text);
        t->labels.v[l].op = goal_count(t->b);
        return next(t) && operation(t);
    }
    bool at_start = at(t, "irequires");

    if (!at_start && !at(t, "requires"))
        return unexpected(t, "\":\", requires or irequires after a label");
    if (!next(t))
        return false;
    if (!*t->tok.text || is_mark(*t->tok.text))
        return unexpected(t, "the label of what is required");
    /* Labels for now; numbers of operations when the rank is complete. */
    goal_require(t->b, l, label_of(t, &t->tok), at_start);
    return next(t);
}

static bool statement(struct text *t)
{
    if (!at(t, "send") && !at(t, "recv") && !at(t, "calc"))
        return labelled(t);
    return operation(t);
}

static bool resolve(struct text *t)
{
    for (size_t i = 0; i < t->labels.n; i++)
        if (t->labels.v[i].op == UNDEFINED)
            return fail_at(t, &t->labels.v[i],
                           "no operation of this rank is labelled \"%.60s\"; label one",
                           t->names.s + t->labels.v[i].name);
    return true;
}

static bool rank(struct text *t, struct goal_writer *w)
{
    struct token where = t->tok;
    uint64_t r;

    if (!need(t, "rank", "\"rank\" and a number"))
        return false;
    where = t->tok;
    if (!number(t, "the number of a rank", 0, t->nranks - 1, &r))
        return false;
    if (t->seen[r])
        return fail_at(t, &where, "rank %u is there twice; join the two", (uint32_t)r);
    t->seen[r] = 1;
    if (!need(t, "{", "{ after the rank's number"))
        return false;
    clear_rank(t);
    while (!at(t, "}"))
        if (!statement(t))
            return false;
    if (!resolve(t))
        return false;
    goal_relabel(t->b, t->labels.n ? &t->labels.v[0].op : NULL, sizeof(struct label));
    return goal_writer_rank(w, (uint32_t)r, t->b, t->err) && next(t);
}

static bool schedule(struct text *t, FILE *out)
{
    uint64_t n;

    if (!next(t) || !need(t, "num_ranks", "num_ranks and how many there are") ||
        !number(t, "the number of ranks", 0, MAX_RANKS, &n))
        return false;
    if (!n)
        return wr_fail(t->err, WR_INPUT, "%s: a schedule of no ranks; give it at least one",
                       t->name);
    t->nranks = (uint32_t)n;
    t->seen = wr_zalloc(n, 1);
    struct goal_writer *w = goal_writer_new(out, t->nranks);

    while (*t->tok.text)
        if (!rank(t, w)) {
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
    bool ok = schedule(&t, out);

    goal_builder_free(t.b);
    wr_vec_fini(&t.labels);
    wr_str_fini(&t.names);
    free(t.table);
    free(t.seen);
    return ok;
}
