/* topo_lab.h -- opening topologies that must be good, and ones that must be refused. */
#ifndef TESTS_TOPO_LAB_H
#define TESTS_TOPO_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "net/topo/topo.h"

/* A list of a configuration, from its items. */
#define U32S(...)                                                                       \
    {                                                                                   \
        (uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t) \
    }

static inline struct topo topo_lab_open(const struct topo_ops *ops, const void *params)
{
    struct wr_err err = {0};
    struct topo t;

    if (!topo_open(&t, ops, params, &err))
        fail_msg("%s", err.text);
    return t;
}

/* The error says this, and nothing was touched. */
static inline void topo_lab_refused(const struct topo_ops *ops, const void *params,
                                    const char *says)
{
    struct wr_err err = {0};
    struct topo t = {.nports = 77};

    assert_false(topo_open(&t, ops, params, &err));
    if (!strstr(err.text, says))
        fail_msg("\"%s\" does not say \"%s\"", err.text, says);
    assert_int_equal(err.code, WR_INPUT);
    assert_int_equal(t.nports, 77);
}

#endif
