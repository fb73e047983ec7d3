/* A receiver computes who sends to it by turning the target expression inside out, a
 * sender just evaluates it. For any expression both must agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "load/ncptl/ncptl.h"

enum { CASES = 1500, DEPTH = 3 };

/* ---- random programs ---- */

struct gen {
    struct wr_rng rng;
    struct wr_str text;
    const char *var[2];
    uint32_t nvars;
    uint32_t n; /* tasks */
};

static uint32_t below(struct gen *g, uint32_t n)
{
    return wr_rng_below(&g->rng, n);
}

static void add(struct gen *g, const char *s)
{
    wr_str_add(&g->text, s);
}

static void number(struct gen *g)
{
    uint32_t pick = below(g, 5);

    if (pick == 0)
        add(g, "num_tasks");
    else
        wr_str_addf(&g->text, "%u", below(g, pick < 4 ? 6 : g->n + 3));
}

static void leaf(struct gen *g)
{
    if (below(g, 3))
        add(g, g->var[below(g, g->nvars)]);
    else
        number(g);
}

static void condition(struct gen *g, int depth);

static void expr(struct gen *g, int depth);

static void call(struct gen *g, int depth)
{
    static const char *const calls[] = {"TREE_PARENT(",   "TREE_CHILD(", "KNOMIAL_PARENT(",
                                        "KNOMIAL_CHILD(", "ABS(",        "MIN("};
    uint32_t pick = below(g, 8);

    if (pick < 6) {
        add(g, calls[pick]);
        expr(g, depth - 1);
        if (pick == 1 || pick == 3 || pick == 5) {
            add(g, ", ");
            number(g);
        }
        if (pick < 4 && below(g, 2))
            wr_str_addf(&g->text, ", %u", 2 + below(g, 4));
        add(g, ")");
        return;
    }
    uint32_t w = 1 + below(g, 7), h = 1 + below(g, 7);
    const char *wrap = below(g, 2) ? "*" : "";
    wr_str_addf(&g->text, "%s((%u%s, %u%s), ", pick == 6 ? "MESH_NEIGHBOR" : "MESH_COORDINATE", w,
                wrap, h, wrap);
    expr(g, depth - 1);
    if (pick == 6)
        wr_str_addf(&g->text, ", (%d, %d))", (int)below(g, 5) - 2, (int)below(g, 5) - 2);
    else
        wr_str_addf(&g->text, ", %u)", below(g, 3));
}

static void expr(struct gen *g, int depth)
{
    static const char *const ops[] = {" + ",   " - ",  " * ",  " / ", " MOD ",
                                      " XOR ", " << ", " >> ", " & "};
    uint32_t pick = depth ? below(g, 12) : 0;

    if (!depth || pick == 0) {
        leaf(g);
    } else if (pick < 8) {
        add(g, "(");
        expr(g, depth - 1);
        add(g, ops[below(g, 9)]);
        if (below(g, 3))
            number(g);
        else
            expr(g, depth - 1);
        add(g, ")");
    } else if (pick < 10) {
        add(g, "("); /* a hyphen right before a function's name would be dropped */
        call(g, depth);
        add(g, ")");
    } else if (pick == 10) {
        add(g, "(");
        expr(g, depth - 1);
        add(g, " IF ");
        condition(g, depth - 1);
        add(g, " OTHERWISE ");
        expr(g, depth - 1);
        add(g, ")");
    } else {
        add(g, "(0-(");
        expr(g, depth - 1);
        add(g, "))");
    }
}

static void comparison(struct gen *g, int depth)
{
    static const char *const rels[] = {" = ", " <> ", " < ", " > ", " <= ", " >= ", " DIVIDES "};

    expr(g, depth - 1);
    add(g, rels[below(g, 7)]);
    if (below(g, 2))
        number(g);
    else
        expr(g, depth - 1);
}

static void condition(struct gen *g, int depth)
{
    if (depth < 1)
        depth = 1;
    switch (below(g, 8)) {
    case 0:
    case 1:
        add(g, "(");
        condition(g, depth - 1);
        add(g, below(g, 2) ? " /\\ " : " \\/ ");
        condition(g, depth - 1);
        add(g, ")");
        break;
    case 2:
        expr(g, depth - 1);
        add(g, below(g, 2) ? " IS EVEN" : " IS ODD");
        break;
    case 3:
        expr(g, depth - 1);
        wr_str_addf(&g->text, " IS %sIN {%u, %u, ..., %u}", below(g, 3) ? "" : "NOT ", below(g, 5),
                    5 + below(g, 4), 10 + below(g, g->n + 10));
        break;
    case 4:
        expr(g, depth - 1);
        wr_str_addf(&g->text, " IS IN {%u, %u}, {%u, ..., num_tasks}", below(g, g->n + 1),
                    below(g, g->n + 1), below(g, g->n + 1));
        break;
    default:
        comparison(g, depth);
    }
}

static void program(struct gen *g)
{
    g->text.n = 0;
    g->var[0] = "t";
    g->nvars = 1;
    if (below(g, 2)) {
        add(g, "ALL TASKS t ");
    } else {
        add(g, "TASKS t SUCH THAT ");
        condition(g, 2);
    }
    add(g, " ASYNCHRONOUSLY SEND A 1 BYTE MESSAGE TO ");
    if (below(g, 3)) {
        add(g, "TASK ");
        expr(g, DEPTH);
    } else {
        add(g, "TASKS d SUCH THAT ");
        g->var[1] = "d";
        g->nvars = 2;
        condition(g, 2);
    }
    add(g, " THEN ALL TASKS AWAIT COMPLETION");
}

/* ---- pairs of sender and receiver, as both sides compute them ---- */

/* false when some rank cannot evaluate it at all (a division by zero) */
static bool matrices(const struct ncptl_prog *p, uint32_t n, uint8_t *sends, uint8_t *recvs)
{
    size_t size = ncptl_rank_size(p);
    char *ranks = wr_alloc(size * n);
    struct ncptl_event ev;
    bool ok = true;

    for (uint32_t i = 0; i < n; i++)
        ncptl_rank_init(p, (struct ncptl_rank *)(ranks + i * size), i);
    for (uint32_t i = 0; i < n; i++) {
        struct ncptl_rank *r = (struct ncptl_rank *)(ranks + i * size);
        enum ncptl_op op;
        int64_t last = -1;

        while ((op = ncptl_next(p, r, &ev)) != NCPTL_END && op != NCPTL_FAIL) {
            if (op == NCPTL_WAIT)
                continue;
            if (op == NCPTL_RECV) {
                assert_true((int64_t)ev.peer > last);
                last = ev.peer;
                recvs[ev.peer * n + i]++;
            } else {
                sends[i * n + ev.peer]++;
            }
        }
        ok = ok && op == NCPTL_END;
    }
    for (uint32_t i = 0; i < n; i++)
        ncptl_rank_fini(p, (struct ncptl_rank *)(ranks + i * size));
    free(ranks);
    return ok;
}

static void compare(const char *text, uint32_t n, uint64_t *decided)
{
    struct ncptl_unit *u;
    struct ncptl_prog *p;
    struct wr_err err;
    struct ncptl_start how = {.ntasks = n};

    if (!ncptl_parse(&u, "random", text, strlen(text), &err))
        fail_msg("%s\n%s", text, err.text);
    if (!ncptl_start(&p, u, &how, &err))
        fail_msg("%s\n%s", text, err.text);
    uint8_t *sends = wr_zalloc((size_t)n * n, 1), *recvs = wr_zalloc((size_t)n * n, 1);
    if (matrices(p, n, sends, recvs)) {
        ++*decided;
        for (uint32_t i = 0; i < n * n; i++)
            if (sends[i] != recvs[i] || sends[i] > 1)
                fail_msg("%s\nwith %u tasks, %u sends %u to %u, which expects %u", text, n, i / n,
                         sends[i], i % n, recvs[i]);
    }
    free(sends);
    free(recvs);
    ncptl_close(p);
    ncptl_unit_close(u);
}

static void every_message_sent_is_expected(void **state)
{
    static const uint32_t sizes[] = {1, 2, 3, 5, 8, 17, 40, 70, 130};
    const char *seed = getenv("WEIR_TEST_SEED");
    uint64_t decided = 0;

    (void)state;
    for (uint32_t i = 0; i < CASES; i++) {
        struct gen g = {.n = sizes[i % (sizeof sizes / sizeof sizes[0])]};

        wr_rng_init(&g.rng, seed ? strtoull(seed, NULL, 10) : 20, i, 0);
        program(&g);
        compare(wr_str_get(&g.text), g.n, &decided);
        wr_str_fini(&g.text);
    }
    assert_true(decided > CASES / 3); /* the others fail to evaluate */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_sent_is_expected),
    };

    return cmocka_run_group_tests_name("ncptl: senders and receivers", tests, NULL, NULL);
}
