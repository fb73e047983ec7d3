/* lex_priv.h -- program text -> tokens, and messages that point into the text.
 *
 * A token has its byte offset; line and column are counted only for a
 * message. Words that mean the same (TASK and TASKS, A and AN) are
 * one keyword, so the parser never sees the difference.
 */
#ifndef LOAD_NCPTL_LEX_PRIV_H
#define LOAD_NCPTL_LEX_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

/* clang-format off */
enum nc_kw {
    NK_NONE,
    NK_ABS, NK_ABSOLUTE, NK_AGGREGATES, NK_ALIGNED, NK_ALL, NK_AN, NK_AND, NK_ARE, NK_ARITHMETIC,
    NK_AS, NK_ASSERT, NK_ASSIGNED, NK_ASYNCHRONOUSLY, NK_AWAITS, NK_BACKEND, NK_BE, NK_BITS,
    NK_BUFFERS, NK_BUT, NK_BYTES, NK_CBRT, NK_CEILING, NK_COMES, NK_COMPLETIONS, NK_COMPUTES,
    NK_COUNTERS, NK_CURRENT, NK_DATA, NK_DAYS, NK_DECLARES, NK_DEFAULT, NK_DEVIATION, NK_DIVIDES,
    NK_DOUBLEWORDS, NK_EACH, NK_EVEN, NK_EXECUTES, NK_FACTOR10, NK_FILE_DATA, NK_FINAL, NK_FLOOR,
    NK_FOR, NK_FROM, NK_GEOMETRIC, NK_GIGABYTE, NK_GREATER, NK_GROUP, NK_HALFWORDS, NK_HARMONIC,
    NK_HISTOGRAM, NK_HOURS, NK_IF, NK_IN, NK_INTEGERS, NK_INTO, NK_KILOBYTE, NK_KNOMIAL_CHILD,
    NK_KNOMIAL_CHILDREN, NK_KNOMIAL_PARENT, NK_LANGUAGE, NK_LESS, NK_LET, NK_LOG10, NK_LOGS,
    NK_MAX, NK_MAXIMUM, NK_MEAN, NK_MEDIAN, NK_MEGABYTE, NK_MEMORY, NK_MESH_COORDINATE,
    NK_MESH_DISTANCE, NK_MESH_NEIGHBOR, NK_MESSAGES, NK_MICROSECONDS, NK_MILLISECONDS, NK_MIN,
    NK_MINIMUM, NK_MINUTES, NK_MISALIGNED, NK_MOD, NK_MULTICASTS, NK_MY, NK_NONUNIQUE, NK_NOT,
    NK_ODD, NK_OF, NK_OR, NK_OTHER, NK_OTHERWISE, NK_OUTPUTS, NK_PAGES, NK_PERCENTILE, NK_PLUS,
    NK_PROCESSOR_OF, NK_PROCESSORS, NK_QUADWORDS, NK_RANDOM, NK_RANDOM_GAUSSIAN,
    NK_RANDOM_PARETO, NK_RANDOM_POISSON, NK_RANDOM_UNIFORM, NK_REAL, NK_RECEIVES, NK_REDUCES,
    NK_REGION, NK_REPETITIONS, NK_REQUIRE, NK_RESETS, NK_RESTORES, NK_RESULTS, NK_ROOT, NK_ROUND,
    NK_SECONDS, NK_SENDS, NK_SIZED, NK_SLEEPS, NK_SQRT, NK_STANDARD, NK_STATIC_FILE_DATA,
    NK_STORES, NK_STRIDE, NK_SUCH, NK_SUM, NK_SYNCHRONIZATION, NK_SYNCHRONIZES, NK_SYNCHRONOUSLY,
    NK_TAG, NK_TASK_OF, NK_TASKS, NK_THAN, NK_THAT, NK_THE, NK_THEIR, NK_THEM, NK_THEN, NK_TIMES,
    NK_TO, NK_TOUCHES, NK_TOUCHING, NK_TREE_CHILD, NK_TREE_PARENT, NK_UNALIGNED, NK_UNIQUE,
    NK_UNSUSPECTING, NK_USING, NK_VALUE, NK_VARIANCE, NK_VERIFICATION, NK_VERSION, NK_WARMUP,
    NK_WHERE, NK_WHILE, NK_WHO, NK_WITH, NK_WITHOUT, NK_WORDS, NK_XOR,
};
/* clang-format on */

enum nc_tok_kind {
    NT_END,
    NT_WORD, /* a keyword, in `kw` */
    NT_NAME, /* an identifier, lower case in `text` */
    NT_INT,
    NT_STRING, /* without quotes and escapes, in `text` */
    NT_COMMA,
    NT_ELLIPSIS,
    NT_PERIOD,
    NT_LBRACE,
    NT_RBRACE,
    NT_LBRACKET,
    NT_RBRACKET,
    NT_LPAREN,
    NT_RPAREN,
    NT_AND, /* /\ */
    NT_OR,  /* \/ */
    NT_PLUS,
    NT_MINUS,
    NT_STAR,
    NT_SLASH,
    NT_POWER,
    NT_SHL,
    NT_SHR,
    NT_BITAND,
    NT_BITOR,
    NT_EQ,
    NT_NE,
    NT_LT,
    NT_LE,
    NT_GT,
    NT_GE,
};

struct nc_tok {
    enum nc_tok_kind kind;
    enum nc_kw kw;
    uint32_t at, len; /* where in the text */
    const char *text; /* NAME: lower case; STRING: its value */
    size_t text_len;  /* STRING: may hold any byte */
    int64_t value;    /* INT, when it fits */
    double real;      /* INT, always */
    bool big;         /* INT that does not fit 64 bits */
};

struct nc_comment {
    uint32_t at, len;
    uint32_t before; /* the token that follows */
    bool own_line;   /* nothing but white space before it */
};

struct nc_src {
    const char *name; /* for messages */
    const char *text;
    size_t len;
};

/* What went wrong, in the words of the corpus of error programs. */
enum nc_fault { NC_SYNTAX, NC_SEMANTIC, NC_RUNTIME, NC_COMMUNICATION };

struct nc_lexed {
    WR_VEC(struct nc_tok) toks; /* the last one is NT_END */
    WR_VEC(struct nc_comment) comments;
};

bool nc_lex(struct nc_lexed *ret, const struct nc_src *src, struct wr_arena *arena,
            struct wr_str *warnings, struct wr_err *err);
void nc_lexed_fini(struct nc_lexed *lexed);

enum nc_kw nc_keyword(const char *word, size_t n); /* n lower-case bytes */
const char *nc_keyword_text(enum nc_kw kw);        /* the longest spelling, upper case */

/* file:line:column: kind of error: message, the line, and a caret under `at`. */
bool nc_fail(const struct nc_src *src, enum nc_fault fault, uint32_t at, struct wr_err *err,
             const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void nc_warn(const struct nc_src *src, uint32_t at, struct wr_str *warnings, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void nc_place(const struct nc_src *src, uint32_t at, unsigned *line, unsigned *column);

#endif
