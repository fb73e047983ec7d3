/* check_priv.h -- which binding every name means, and what may stand where. */
#ifndef LOAD_NCPTL_CHECK_PRIV_H
#define LOAD_NCPTL_CHECK_PRIV_H

#include "ast_priv.h"

/* Innermost first. Variables and task groups are two name spaces in one chain. */
struct nc_scope {
    struct nc_bind *bind;
    const struct nc_scope *up;
};

struct nc_checker {
    struct ncptl_unit *u;
    struct wr_err *err;
    const struct nc_scope *scope;
    /* In a message specification a name means the surrounding variable first
     * and only then the sender's or receiver's own (the reference knows only
     * the former, its manual shows the latter). */
    struct nc_bind *late[2];
    unsigned uneven; /* inside an IF that asks for MY TASK: tasks go different ways */
};

/* What a place allows; `where` completes "... is not allowed within". */
struct nc_rules {
    const char *where;
    bool counters, random, my_task;
    bool real; /* floating-point context */
};

bool nc_check_expr(struct nc_checker *c, struct nx *x, const struct nc_rules *rules);
bool nc_check_ranges(struct nc_checker *c, struct nc_range *r, uint32_t n,
                     const struct nc_rules *rules);

/* Resolves a task description; its variable becomes t->bind, not yet in scope. */
bool nc_check_tasks(struct nc_checker *c, struct nc_tasks *t);

/* A new binding; complains about predeclared names. NULL on failure. */
struct nc_bind *nc_new_bind(struct nc_checker *c, enum nc_bind_kind kind, const char *name,
                            uint32_t at);
struct nc_bind *nc_lookup(const struct nc_checker *c, const char *name, bool group);

bool nc_tasks_mention(const struct nc_tasks *t, const char *name);
bool nc_same_expr(const struct nx *a, const struct nx *b); /* as written; NULL is 1 */
void nc_warn_unused(struct nc_checker *c, const struct nc_bind *b);

#endif
