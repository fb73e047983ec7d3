/* Any bytes: either one error with its place, or a program that formats to one of the
 * same meaning, whose ranks run for a while without harm, and that can be written in C: always the
 * same, with a comment that ends for each that begins, and braces in pairs. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "load/ncptl/ncptl_tool.h"

enum { MOST_TEXT = 4096, MOST_OPS = 2000, MOST_TASKS = 9 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_error(const struct wr_err *err)
{
    assert(err->code == WR_INPUT || err->code == WR_CHECK);
    assert(strlen(err->text) > 8);
}

/* A few operations of each rank, as text. */
static void dump_some(const struct ncptl_prog *p, struct wr_str *out)
{
    size_t size = ncptl_rank_size(p);
    uint32_t n = ncptl_ntasks(p);
    char *ranks = wr_alloc(size * n);

    for (uint32_t i = 0; i < n; i++)
        ncptl_rank_init(p, (struct ncptl_rank *)(ranks + i * size), i);
    for (uint32_t i = 0; i < n; i++) {
        struct ncptl_rank *r = (struct ncptl_rank *)(ranks + i * size);
        struct ncptl_event ev;
        struct wr_err err;

        for (int k = 0; k < MOST_OPS / MOST_TASKS; k++) {
            enum ncptl_op op = ncptl_next(p, r, &ev);

            if (op == NCPTL_END || op == NCPTL_FAIL || !ncptl_dump_event(p, r, &ev, out, &err))
                break;
            wr_str_add(out, "\n");
            r->now_ps += 1000;
            r->again = k % 3 == 0;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        ncptl_rank_fini(p, (struct ncptl_rank *)(ranks + i * size));
    free(ranks);
}

static bool run(const struct ncptl_unit *u, uint32_t n, struct wr_str *out)
{
    struct ncptl_start how = {.ntasks = n};
    struct ncptl_prog *p;
    struct wr_err err = {0};
    bool complete;

    if (!ncptl_start(&p, u, &how, &err)) {
        check_error(&err);
        return false;
    }
    if (!ncptl_verify(p, MOST_OPS, &complete, &err))
        check_error(&err);
    dump_some(p, out);
    ncptl_close(p);
    return true;
}

static void check_format(const struct ncptl_unit *u, uint32_t n, const struct wr_str *events)
{
    struct wr_str text = {0}, again = {0}, other = {0};
    struct ncptl_unit *v;
    struct wr_err err;

    ncptl_format(u, &text);
    assert(ncptl_parse(&v, "formatted", wr_str_get(&text), text.n, &err));
    ncptl_format(v, &again);
    assert(!strcmp(wr_str_get(&text), wr_str_get(&again)));
    run(v, n, &other);
    assert(!strcmp(wr_str_get(events), wr_str_get(&other)));
    ncptl_unit_close(v);
    wr_str_fini(&text);
    wr_str_fini(&again);
    wr_str_fini(&other);
}

/* Braces outside of comments, strings and characters are in pairs. */
static void check_c(const char *s)
{
    long depth = 0;

    for (; *s; s++) {
        if (!strncmp(s, "/*", 2)) {
            s = strstr(s, "*/");
            assert(s);
            s++;
        } else if (*s == '"' || *s == '\'') {
            char end = *s++;

            for (; *s != end; s++) {
                assert(*s && *s != '\n');
                s += *s == '\\';
            }
        } else {
            depth += *s == '{' ? 1 : *s == '}' ? -1 : 0;
        }
        assert(depth >= 0);
    }
    assert(!depth);
}

static void check_generate(const struct ncptl_unit *u, const struct ncptl_target *how)
{
    struct wr_str once = {0}, again = {0};
    struct wr_err err = {0};

    if (ncptl_generate(u, how, &once, &err)) {
        check_c(wr_str_get(&once));
        assert(ncptl_generate(u, how, &again, &err));
        assert(!strcmp(wr_str_get(&once), wr_str_get(&again)));
    } else {
        check_error(&err);
    }
    wr_str_fini(&once);
    wr_str_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct ncptl_unit *u;
    struct wr_err err = {0};
    struct wr_str events = {0};
    /* Seeds are plain programs; their length chooses the number of tasks. */
    uint32_t n = 1 + (uint32_t)(len % MOST_TASKS);

    if (len > MOST_TEXT)
        return 0;
    if (!ncptl_parse(&u, "fuzz", (const char *)data, len, &err)) {
        check_error(&err);
        assert(!strncmp(err.text, "fuzz:", 5));
        return 0;
    }
    if (run(u, n, &events))
        check_format(u, n, &events);
    check_generate(u, &(struct ncptl_target){.serial = n % 3 == 0, .mpiio = n % 3 == 1});
    wr_str_fini(&events);
    ncptl_unit_close(u);
    return 0;
}
