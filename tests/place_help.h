/* place_help.h -- a small machine and a placement written as in a configuration. */
#ifndef TESTS_PLACE_HELP_H
#define TESTS_PLACE_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/topo/topo.h"
#include "net/topo/topo_dragonfly.h"
#include "rank/place/place.h"

/* Nine groups of four routers of two nodes: 72 nodes, node n on router n / 2, in group n / 8. */
static const struct topo_dragonfly_params help_small = {9, 4, 2, 2, 0};
/* The reference machine: 33 groups of 8 routers of 4 nodes. */
static const struct topo_dragonfly_params help_reference = {33, 8, 4, 4, 4};

static inline struct topo help_topo(const struct topo_dragonfly_params *params)
{
    struct topo t;
    struct wr_err err;

    if (!topo_open(&t, topo_find("dragonfly"), params, &err))
        fail_msg("%s", err.text);
    return t;
}

static inline struct place help_place(const struct topo *t, uint64_t seed)
{
    struct place p;
    struct wr_err err;

    if (!place_open(&p, t, 1, seed, &err))
        fail_msg("%s", err.text);
    return p;
}

struct help_how {
    struct conf_plugin plug;
    struct conf *conf;
};

/* "hybrid", "{kind: list, nodes: 0-3}"; `ret` must stay in place. */
static inline void help_how_open(struct help_how *ret, const char *yaml)
{
    static const struct conf_row rows[] = {
        {.key = "placement",
         .type = CONF_PLUGIN,
         .offset = offsetof(struct help_how, plug),
         .kinds = place_kinds},
        CONF_END,
    };
    char text[512];
    struct wr_err err;

    *ret = (struct help_how){0};
    snprintf(text, sizeof text, "placement: %s\n", yaml);
    struct conf *conf;

    if (!conf_load_text(&conf, ret, rows, "test", text, strlen(text), NULL, 0, &err))
        fail_msg("%s", err.text);
    ret->conf = conf;
}

static inline bool help_job(struct place *p, const char *yaml, uint32_t ranks, uint32_t per_node,
                            uint32_t *node, struct wr_err *err)
{
    struct help_how how;

    help_how_open(&how, yaml);
    struct place_job job = {.how = how.plug, .ranks = ranks, .per_node = per_node};
    bool ok = place_job(p, &job, node, err);

    conf_close(how.conf);
    return ok;
}

#endif
