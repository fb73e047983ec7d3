/* expr.h -- the small sums that machine files are written with.
 *
 *     object == DIR ? 0 : meta            where a request goes
 *     352 + 8 * dfiles                    how long it is
 *     seen = seen + 1                     what a state changes
 *
 * Whole numbers, C's operators and their order, names and calls. A name is a constant or a
 * variable of the machine file, or a builtin of the engine; a call evaluates a builtin. Text
 * becomes code for a stack of numbers, once; running it never fails: sums wrap, a division by
 * zero is 0.
 */
#ifndef STACK_EXPR_H
#define STACK_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"

enum { STACK_EXPR_DEEP = 32 };

enum stack_op {
    STACK_PUSH, /* constant number arg */
    STACK_LOAD, /* variable arg */
    STACK_STORE,
    STACK_CALL, /* builtin arg, its arguments are on the stack */
    STACK_NEG,
    STACK_NOT,
    STACK_MUL,
    STACK_DIV,
    STACK_MOD,
    STACK_ADD,
    STACK_SUB,
    STACK_LT,
    STACK_LE,
    STACK_GT,
    STACK_GE,
    STACK_EQ,
    STACK_NE,
    STACK_BOOL,
    STACK_AND,  /* 0 on top: jump to arg and keep it; else drop it */
    STACK_OR,   /* not 0 on top: jump to arg with 1; else drop it */
    STACK_ELSE, /* drop; 0: jump to arg */
    STACK_JUMP,
    STACK_END,
};

struct stack_code {
    uint8_t op;
    uint8_t nargs; /* CALL */
    uint32_t arg;
};

/* Where all code of a file system lies; an expression is the index of its first step. */
struct stack_codes {
    WR_VEC(struct stack_code) code;
    WR_VEC(int64_t) number;
};

/* What a name means; false: the name is unknown. */
enum stack_name_kind { STACK_IS_NUMBER, STACK_IS_VAR, STACK_IS_BUILTIN };

struct stack_name {
    enum stack_name_kind kind;
    int64_t number; /* or the index of the variable or builtin */
    uint32_t nargs; /* of a builtin */
};

struct stack_names {
    bool (*find)(void *ctx, const char *name, size_t len, struct stack_name *ret);
    void *ctx;
};

/* Compiles `text` to the end of `codes`. `assign`: may be "name = expression", and may call what
 * changes something. A fault is reported with its column in the text, from 1. */
bool stack_expr(uint32_t *ret, struct stack_codes *codes, const struct stack_names *names,
                const char *text, bool assign, struct wr_err *err);
void stack_codes_fini(struct stack_codes *codes);

/* Evaluates builtin number `builtin` with its arguments. */
typedef int64_t stack_ask(void *ctx, uint32_t builtin, const int64_t *args);

int64_t stack_eval_code(const struct stack_codes *codes, uint32_t at, int64_t *var, stack_ask *ask,
                        void *ctx);

/* Most expressions are one number or one variable: no loop for these. */
static inline int64_t stack_eval(const struct stack_codes *codes, uint32_t at, int64_t *var,
                                 stack_ask *ask, void *ctx)
{
    const struct stack_code *c = &codes->code.v[at];

    if (c[1].op == STACK_END) {
        if (c->op == STACK_PUSH)
            return codes->number.v[c->arg];
        if (c->op == STACK_LOAD)
            return var[c->arg];
    }
    return stack_eval_code(codes, at, var, ask, ctx);
}

#endif
