/* synth_help.h -- plug-ins of synthetic traffic from the YAML a user would write. */
#ifndef TESTS_SYNTH_HELP_H
#define TESTS_SYNTH_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above first. */
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/synth/synth.h"

struct loaded {
    struct conf *conf;
    struct conf_plugin plug;
};

static inline struct loaded load(const struct conf_kind *const *kinds, const char *yaml)
{
    const struct conf_row rows[] = {{.key = "it",
                                     .type = CONF_PLUGIN,
                                     .offset = offsetof(struct loaded, plug),
                                     .kinds = kinds,
                                     .help = "Under test."},
                                    CONF_END};
    struct loaded l = {0};
    struct wr_err err = {0};
    char text[512];

    snprintf(text, sizeof text, "it: %s\n", yaml);
    if (!conf_load_text(&l.conf, &l, rows, "test", text, strlen(text), NULL, 0, &err))
        fail_msg("%s: %s", yaml, err.text);
    return l;
}

/* A machine of `nnodes` in groups of four. */
struct shape {
    struct synth_pattern p;
    uint32_t *group;
};

static inline struct shape shape_of(uint32_t nnodes, uint64_t seed)
{
    struct shape s = {.group = malloc(nnodes * sizeof(uint32_t))};

    for (uint32_t i = 0; i < nnodes; i++)
        s.group[i] = i / 4;
    s.p = (struct synth_pattern){
        .nnodes = nnodes, .ngroups = (nnodes + 3) / 4, .group = s.group, .seed = seed};
    return s;
}

#endif
