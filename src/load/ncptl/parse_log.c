/* parse_log.c -- LOGS aggregate AS "title" { AND aggregate AS "title" }
 *
 *   aggregate = [EACH] expr
 *             | A HISTOGRAM OF [THE] expr
 *             | THE function { AND [THE] function } [OF [THE]] expr
 */
#include <assert.h>

#include "ast_priv.h"

enum { MOST_FUNCTIONS = 32 };

struct function {
    enum ncptl_aggregate aggregate;
    struct nx *param;
};

/* One aggregate function that is spelled with keywords; false if none is here. */
static bool parse_log_named_function(struct nc_parser *p, struct function *ret)
{
    static const struct {
        enum nc_kw first, second, third;
        enum ncptl_aggregate aggregate;
    } names[] = {
        {NK_MEAN, 0, 0, NCPTL_MEAN},
        {NK_ARITHMETIC, NK_MEAN, 0, NCPTL_MEAN},
        {NK_HARMONIC, NK_MEAN, 0, NCPTL_HARMONIC_MEAN},
        {NK_GEOMETRIC, NK_MEAN, 0, NCPTL_GEOMETRIC_MEAN},
        {NK_MEDIAN, NK_ABSOLUTE, NK_DEVIATION, NCPTL_MAD},
        {NK_MEDIAN, 0, 0, NCPTL_MEDIAN},
        {NK_STANDARD, NK_DEVIATION, 0, NCPTL_STDEV},
        {NK_VARIANCE, 0, 0, NCPTL_VARIANCE},
        {NK_SUM, 0, 0, NCPTL_SUM},
        {NK_MINIMUM, 0, 0, NCPTL_MINIMUM},
        {NK_MAXIMUM, 0, 0, NCPTL_MAXIMUM},
        {NK_FINAL, 0, 0, NCPTL_FINAL},
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!nc_at(p, names[i].first))
            continue;
        if (names[i].second && nc_peek(p, 1)->kw != names[i].second)
            continue;
        if (names[i].third && nc_peek(p, 2)->kw != names[i].third)
            continue;
        p->pos += 1u + (names[i].second != 0) + (names[i].third != 0);
        *ret = (struct function){.aggregate = names[i].aggregate};
        return true;
    }
    return false;
}

/* A function, or an expression that turns out to be logged itself (*plain). */
static bool parse_log_function(struct nc_parser *p, struct function *ret, struct nx **plain)
{
    struct nx *x;

    *plain = NULL;
    if (parse_log_named_function(p, ret))
        return true;
    if (!(x = nc_expr(p)))
        return false;
    if (nc_take(p, NK_PERCENTILE))
        *ret = (struct function){.aggregate = NCPTL_PERCENTILE, .param = x};
    else
        *plain = x;
    return true;
}

/* THE f [AND [THE] f]* [OF [THE]] e, or THE e; the THE was taken. */
static bool parse_log_the_functions(struct nc_parser *p, struct function *f, size_t *n,
                                    struct nx **e)
{
    struct nx *plain;

    for (*n = 0;;) {
        if (*n == MOST_FUNCTIONS)
            return nc_unexpected(p, "at most 32 functions of one expression");
        if (!parse_log_function(p, &f[*n], &plain))
            return false;
        if (plain && *n)
            return nc_unexpected(p, "PERCENTILE after a number in a list of functions");
        if (plain) {
            f[(*n)++] = (struct function){.aggregate = NCPTL_ONLY};
            *e = plain;
            return true;
        }
        ++*n;
        if (!nc_take(p, NK_AND))
            break;
        nc_take(p, NK_THE);
    }
    if (nc_take(p, NK_OF))
        nc_take(p, NK_THE);
    return (*e = nc_expr(p)) != NULL;
}

static bool parse_log_aggregate(struct nc_parser *p, struct function *f, size_t *n, struct nx **e)
{
    assert(f && n && e);
    *n = 1;
    f[0] = (struct function){.aggregate = NCPTL_ALL_DATA};
    if (nc_take(p, NK_THE))
        return parse_log_the_functions(p, f, n, e);
    if (nc_take(p, NK_AN)) {
        f[0].aggregate = NCPTL_HISTOGRAM;
        if (!nc_need(p, NK_HISTOGRAM, "A") || !nc_need(p, NK_OF, "HISTOGRAM"))
            return false;
        nc_take(p, NK_THE);
    } else {
        nc_take(p, NK_EACH);
    }
    return (*e = nc_expr(p)) != NULL;
}

/* aggregate AS "title": as many columns as it has functions. */
static bool parse_log_columns(struct nc_parser *p, struct nc_column ***tail)
{
    struct function f[MOST_FUNCTIONS];
    const char *title;
    bool value_of;
    struct nx *e = NULL;
    size_t n;

    if (!parse_log_aggregate(p, f, &n, &e) || !nc_need(p, NK_AS, "what is logged"))
        return false;
    value_of = nc_take(p, NK_THE);
    if (value_of && (!nc_need(p, NK_VALUE, "THE") || !nc_need(p, NK_OF, "THE VALUE")))
        return false;
    if (!(title = nc_need_string(p, "the column's title in quotes")))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct nc_column *c = wr_arena_alloc(&p->u->arena, sizeof *c);

        *c = (struct nc_column){.aggregate = f[i].aggregate,
                                .param = f[i].param,
                                .e = e,
                                .title = title,
                                .value_of = value_of};
        **tail = c;
        *tail = &c->next;
    }
    return true;
}

struct nc_stmt *nc_log_stmt(struct nc_parser *p, struct nc_stmt *s)
{
    struct nc_column **tail = &s->columns;

    s->kind = NS_LOG;
    do {
        if (!parse_log_columns(p, &tail))
            return NULL;
    } while (nc_take(p, NK_AND));
    return s;
}
