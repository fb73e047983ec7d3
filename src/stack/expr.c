/* expr.c -- compiles the expressions of machine files, and evaluates them.
 *
 * A recursive-descent parser: one function for each level of C's operators, from ?: down to names
 * and numbers. fs.c compiles, the engine evaluates.
 *
 * Invariant: code that stack_expr() accepted never uses more than STACK_EXPR_DEEP numbers of the
 *            stack, and evaluating it cannot fail.
 */
#include "stack/expr.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    struct stack_codes *out;
    const struct stack_names *names;
    const char *text, *at;
    struct wr_err *err;
    int depth;  /* of the stack of numbers */
    int inside; /* parentheses and operators: the parser's own depth */
};

static bool expr_ternary(struct parser *p);

static bool expr_fail(const struct parser *p, const char *what)
{
    struct wr_text near = wr_text_clip(p->at);

    return wr_fail(p->err, WR_INPUT, "column %zu of the expression: %s%s%s%s; %s",
                   (size_t)(p->at - p->text) + 1, what, *p->at ? " at \"" : " at its end", near.s,
                   *p->at ? "\"" : "", "write it as in C, as in `object == DIR ? 0 : meta`");
}

static void expr_skip_blanks(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t')
        p->at++;
}

static bool expr_emit(struct parser *p, enum stack_op op, uint32_t arg, uint32_t nargs, int grows)
{
    p->depth += grows;
    if (p->depth > STACK_EXPR_DEEP)
        return expr_fail(p, "this is nested too deep");
    wr_vec_push(&p->out->code, (struct stack_code){(uint8_t)op, (uint8_t)nargs, arg});
    return true;
}

static bool expr_emit_number(struct parser *p, int64_t value)
{
    wr_vec_push(&p->out->number, value);
    return expr_emit(p, STACK_PUSH, (uint32_t)p->out->number.n - 1, 0, 1);
}

static bool expr_accept(struct parser *p, const char *word)
{
    size_t n = strlen(word);

    expr_skip_blanks(p);
    if (strncmp(p->at, word, n))
        return false;
    p->at += n;
    return true;
}

static size_t expr_name_length(const char *s)
{
    size_t n = 0;

    if (!isalpha((unsigned char)*s) && *s != '_')
        return 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    return n;
}

static bool expr_number(struct parser *p)
{
    int64_t v = 0;

    while (isdigit((unsigned char)*p->at)) {
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p->at - '0', &v))
            return expr_fail(p, "this number is too large");
        p->at++;
    }
    return expr_emit_number(p, v);
}

static bool expr_arguments(struct parser *p, uint32_t *ret)
{
    uint32_t n = 0;

    if (expr_accept(p, "(") && !expr_accept(p, ")")) {
        do {
            if (!expr_ternary(p))
                return false;
            n++;
        } while (expr_accept(p, ","));
        if (!expr_accept(p, ")"))
            return expr_fail(p, "here \")\" is missing");
    }
    *ret = n;
    return true;
}

static bool expr_name(struct parser *p)
{
    const char *word = p->at;
    size_t len = expr_name_length(word);
    struct stack_name found;
    uint32_t nargs = 0;

    if (!p->names->find(p->names->ctx, word, len, &found))
        return expr_fail(p, "nothing has this name");
    p->at += len;
    if (found.kind == STACK_IS_NUMBER)
        return expr_emit_number(p, found.number);
    if (found.kind == STACK_IS_VAR)
        return expr_emit(p, STACK_LOAD, (uint32_t)found.number, 0, 1);
    expr_skip_blanks(p);
    if (!expr_arguments(p, &nargs))
        return false;
    if (nargs != found.nargs) {
        p->at = word;
        return wr_fail(
            p->err, WR_INPUT,
            "column %zu of the expression: %.*s takes %u values, not %u; give it so many",
            (size_t)(word - p->text) + 1, (int)len, word, found.nargs, nargs);
    }
    return expr_emit(p, STACK_CALL, (uint32_t)found.number, nargs, 1 - (int)nargs);
}

static bool stack_expr_unary(struct parser *p)
{
    bool ok;

    if (++p->inside > 4 * STACK_EXPR_DEEP)
        return expr_fail(p, "this is nested too deep");
    expr_skip_blanks(p);
    if (expr_accept(p, "-")) {
        ok = stack_expr_unary(p) && expr_emit(p, STACK_NEG, 0, 0, 0);
    } else if (p->at[0] == '!' && p->at[1] != '=') {
        p->at++;
        ok = stack_expr_unary(p) && expr_emit(p, STACK_NOT, 0, 0, 0);
    } else if (expr_accept(p, "(")) {
        ok = expr_ternary(p) && (expr_accept(p, ")") || expr_fail(p, "here \")\" is missing"));
    } else if (isdigit((unsigned char)*p->at)) {
        ok = expr_number(p);
    } else if (expr_name_length(p->at)) {
        ok = expr_name(p);
    } else {
        ok = expr_fail(p, "a number or a name is missing");
    }
    p->inside--;
    return ok;
}

/* The operators of two values, loosest first; the longer of two that begin alike comes first. */
static const struct level {
    struct {
        const char *word;
        enum stack_op op;
    } ops[4];
} levels[] = {
    {{{"==", STACK_EQ}, {"!=", STACK_NE}}},
    {{{"<=", STACK_LE}, {">=", STACK_GE}, {"<", STACK_LT}, {">", STACK_GT}}},
    {{{"+", STACK_ADD}, {"-", STACK_SUB}}},
    {{{"*", STACK_MUL}, {"/", STACK_DIV}, {"%", STACK_MOD}}},
};

enum { LEVELS = sizeof levels / sizeof *levels };

static bool expr_binary(struct parser *p, size_t level)
{
    if (level == LEVELS)
        return stack_expr_unary(p);
    if (!expr_binary(p, level + 1))
        return false;
    for (size_t i = 0; i < 4 && levels[level].ops[i].word;) {
        if (!expr_accept(p, levels[level].ops[i].word)) {
            i++;
            continue;
        }
        if (!expr_binary(p, level + 1) || !expr_emit(p, levels[level].ops[i].op, 0, 0, -1))
            return false;
        i = 0;
    }
    return true;
}

/* a && b, a || b: the second is not looked at when the first decides. */
static bool stack_expr_logic(struct parser *p, bool or)
{
    if (!(or ? stack_expr_logic(p, false) : expr_binary(p, 0)))
        return false;
    while (expr_accept(p, or ? "||" : "&&")) {
        if (!expr_emit(p, or ? STACK_OR : STACK_AND, 0, 0, -1))
            return false;
        size_t hole = p->out->code.n - 1;

        if (!(or ? stack_expr_logic(p, false) : expr_binary(p, 0)) ||
            !expr_emit(p, STACK_BOOL, 0, 0, 0))
            return false;
        p->out->code.v[hole].arg = (uint32_t)p->out->code.n;
    }
    return true;
}

static bool expr_ternary(struct parser *p)
{
    if (++p->inside > 4 * STACK_EXPR_DEEP)
        return expr_fail(p, "this is nested too deep");
    if (!stack_expr_logic(p, true))
        return false;
    if (expr_accept(p, "?")) {
        if (!expr_emit(p, STACK_ELSE, 0, 0, -1))
            return false;
        size_t otherwise = p->out->code.n - 1;

        if (!expr_ternary(p) || !expr_emit(p, STACK_JUMP, 0, 0, -1))
            return false;
        size_t over = p->out->code.n - 1;

        p->out->code.v[otherwise].arg = (uint32_t)p->out->code.n;
        if (!expr_accept(p, ":"))
            return expr_fail(p, "here \":\" is missing");
        if (!expr_ternary(p))
            return false;
        p->out->code.v[over].arg = (uint32_t)p->out->code.n;
    }
    p->inside--;
    return true;
}

/* "name =", not "name ==". */
static bool expr_assignment(struct parser *p, struct stack_name *ret, bool *store)
{
    size_t len = expr_name_length(p->at);
    const char *after = p->at + len;

    *store = false;
    while (*after == ' ')
        after++;
    if (!len || *after != '=' || after[1] == '=')
        return true;
    if (!p->names->find(p->names->ctx, p->at, len, ret) || ret->kind != STACK_IS_VAR)
        return expr_fail(p, "only a variable can be set");
    p->at = after + 1;
    *store = true;
    return true;
}

bool stack_expr(uint32_t *ret, struct stack_codes *codes, const struct stack_names *names,
                const char *text, bool assign, struct wr_err *err)
{
    struct parser p = {.out = codes, .names = names, .text = text, .at = text, .err = err};
    struct stack_name target = {0};
    size_t start = codes->code.n, numbers = codes->number.n;
    bool store = false;

    assert(text && names->find);
    expr_skip_blanks(&p);
    bool ok = (!assign || expr_assignment(&p, &target, &store)) && expr_ternary(&p);

    expr_skip_blanks(&p);
    if (ok && *p.at)
        ok = expr_fail(&p, "nothing may follow here");
    ok = ok && (!store || expr_emit(&p, STACK_STORE, (uint32_t)target.number, 0, 0)) &&
         expr_emit(&p, STACK_END, 0, 0, 0);
    if (!ok) {
        codes->code.n = start;
        codes->number.n = numbers;
        return false;
    }
    *ret = (uint32_t)start;
    return true;
}

void stack_codes_fini(struct stack_codes *codes)
{
    wr_vec_fini(&codes->code);
    wr_vec_fini(&codes->number);
}

static int64_t expr_wrap(enum stack_op op, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;

    switch (op) {
    case STACK_MUL:
        return (int64_t)(x * y);
    case STACK_ADD:
        return (int64_t)(x + y);
    case STACK_SUB:
        return (int64_t)(x - y);
    case STACK_DIV:
        return !b ? 0 : b == -1 ? (int64_t)-x : a / b;
    case STACK_MOD:
        return !b || b == -1 ? 0 : a % b;
    case STACK_LT:
        return a < b;
    case STACK_LE:
        return a <= b;
    case STACK_GT:
        return a > b;
    case STACK_GE:
        return a >= b;
    case STACK_EQ:
        return a == b;
    default:
        return a != b;
    }
}

int64_t stack_eval_code(const struct stack_codes *codes, uint32_t at, int64_t *var, stack_ask *ask,
                        void *ctx)
{
    const struct stack_code *code = codes->code.v;
    int64_t stack[STACK_EXPR_DEEP + 1];
    size_t n = 0;

    for (;;) {
        const struct stack_code *c = &code[at++];

        switch (c->op) {
        case STACK_PUSH:
            stack[n++] = codes->number.v[c->arg];
            break;
        case STACK_LOAD:
            stack[n++] = var[c->arg];
            break;
        case STACK_STORE:
            var[c->arg] = stack[n - 1];
            break;
        case STACK_CALL:
            n -= c->nargs;
            stack[n] = ask(ctx, c->arg, stack + n);
            n++;
            break;
        case STACK_NEG:
            stack[n - 1] = (int64_t) - (uint64_t)stack[n - 1];
            break;
        case STACK_NOT:
            stack[n - 1] = !stack[n - 1];
            break;
        case STACK_BOOL:
            stack[n - 1] = !!stack[n - 1];
            break;
        case STACK_AND:
        case STACK_OR:
            if (!stack[n - 1] == (c->op == STACK_AND)) {
                stack[n - 1] = c->op == STACK_OR;
                at = c->arg;
            } else {
                n--;
            }
            break;
        case STACK_ELSE:
            if (!stack[--n])
                at = c->arg;
            break;
        case STACK_JUMP:
            at = c->arg;
            break;
        case STACK_END:
            return stack[n - 1];
        default:
            n--;
            stack[n - 1] = expr_wrap(c->op, stack[n - 1], stack[n]);
        }
    }
}
