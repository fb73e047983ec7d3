/* gen_priv.h -- from the checked tree to a program in C.
 *
 * The generator walks the tree that compile.c walks and writes what step_*.c does, as calls of the
 * runtime in share/lang. Every variable of the program is a static one of the C program, so that
 * the functions that some conditions become see them:
 *
 *   v_NAME   parameters, LET and FOR EACH       t_NAME   the task of a description
 *   c_NAME   within a comprehension             draw_N   a random number drawn in its turn
 */
#ifndef LOAD_NCPTL_GEN_PRIV_H
#define LOAD_NCPTL_GEN_PRIV_H

#include "compile_priv.h"
#include "ncptl_tool.h"

struct gen {
    const struct ncptl_unit *u;
    struct wr_arena arena;
    const char **name;          /* of each binding, at the moment */
    WR_VEC(const char *) names; /* declared so far */
    WR_VEC(const char *) tags;  /* texts that are tags; the first is number 1 */
    struct wr_str decls, helpers, columns;
    struct wr_str *out; /* the function being written */
    unsigned indent;
    uint32_t ids, table, ncolumns;
    bool reads;
};

/* gen.c */
void gen_line(struct gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void gen_open(struct gen *g, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));                       /* ... { */
void gen_close(struct gen *g);                                   /* } */
void gen_string(struct wr_str *out, const char *s, bool format); /* format: % is doubled */
/* A name for a variable, declared as `type`; NULL type: it may be declared already, as int64_t. */
const char *gen_variable(struct gen *g, const char *type, const char *prefix, const char *name);
void gen_source(struct gen *g, uint32_t at); /* the line as a comment, and where it is */

/* gen_expr.c: expressions, as text that lives as long as the generator. */
const char *gen_int(struct gen *g, const struct nx *x);
const char *gen_real(struct gen *g, const struct nx *x);
const char *gen_test(struct gen *g, const struct nx *x); /* without parentheses around it all */
bool gen_timed(const struct nx *x);                      /* depends on elapsed_usecs */
bool gen_draws(const struct nx *x);                      /* random numbers */
bool gen_mentions(struct gen *g, const struct nx *x, const char *variable);
bool gen_ranges_mention(struct gen *g, const struct nc_range *r, uint32_t n, const char *variable);
/* Puts the values of ranges into the struct nc_each of that name. */
void gen_fill(struct gen *g, const char *each, const struct nc_range *r, uint32_t n);
const char *gen_in(struct gen *g, const char *value, const struct nc_range *r, uint32_t n);

/* gen_set.c: sets of tasks. */
struct gen_set {
    const struct nc_tasks *t, *def; /* def: what TASK GROUP stands for */
    const char *var;
    bool named; /* the program may use the variable */
};

struct gen_set gen_set(struct gen *g, const struct nc_tasks *t, const char *other,
                       const char *unnamed);
/* Opens as many blocks as it returns: what follows is done for each member, in its variable.
 * `self`: for ALL OTHER TASKS. */
unsigned gen_each_member(struct gen *g, const struct gen_set *s, const char *self);
/* Likewise, what follows is done if the task of that name is a member. */
unsigned gen_if_member(struct gen *g, const struct gen_set *s, const char *task, const char *self);
bool gen_set_depends(struct gen *g, const struct gen_set *inner, const struct gen_set *outer);
void gen_close_all(struct gen *g, unsigned blocks);

/* gen_msg.c: messages and collectives. */
void gen_comm(struct gen *g, const struct nc_stmt *s);
void gen_reduce(struct gen *g, const struct nc_stmt *s);
/* The members as a struct nc_set; returns a pointer to it. */
const char *gen_members(struct gen *g, const struct gen_set *s, const char *self);

/* gen_stmt.c */
void gen_sentence(struct gen *g, const struct nc_stmt *s);

#endif
