/* route_machine.h -- machines and routings for tests, written as a user would. */
#ifndef CONTRACT_ROUTE_MACHINE_H
#define CONTRACT_ROUTE_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conf/conf.h"
#include "net/route/route.h"
#include "net/topo/fail.h"

struct machine_case {
    const char *text;
    const char *failed; /* cables "a-b" (all of them) or "a-b/n", and routers "r" */
};

struct plug {
    struct conf_plugin is;
    struct conf *conf;
};

static inline struct plug read_plug(const struct conf_kind *const *kinds, const char *text)
{
    const struct conf_row rows[] = {
        {.key = "is", .type = CONF_PLUGIN, .kinds = kinds, .help = "What is tested."}, CONF_END};
    struct plug plug = {0};
    struct wr_err err = {0};
    char yaml[512];
    int n = snprintf(yaml, sizeof yaml, "is: {kind: %s}\n", text);

    if (!conf_load_text(&plug.conf, &plug, rows, text, yaml, (size_t)n, NULL, 0, &err))
        fail_msg("%s", err.text);
    return plug;
}

static inline void fail_parts(struct topo *t, const char *text)
{
    struct wr_err err = {0};

    for (int used; *text; text += used) {
        struct topo_failure f = {.b = TOPO_NONE};

        if (sscanf(text, "%u-%u/%u %n", &f.a, &f.b, &f.cables, &used) != 3 &&
            sscanf(text, "%u-%u %n", &f.a, &f.b, &used) != 2 &&
            sscanf(text, "%u %n", &f.a, &used) != 1)
            fail_msg("cannot read \"%s\"", text);
        if (!topo_fail(t, &f, 1, &err))
            fail_msg("%s", err.text);
    }
}

struct machine {
    struct plug plug;
    struct topo t;
};

static inline struct machine open_machine(const struct machine_case *c)
{
    struct machine m = {.plug = read_plug(topo_kinds, c->text)};
    struct wr_err err = {0};

    if (!topo_open(&m.t, (const struct topo_ops *)m.plug.is.kind, m.plug.is.params, &err))
        fail_msg("%s", err.text);
    fail_parts(&m.t, c->failed);
    return m;
}

static inline void close_machine(struct machine *m)
{
    topo_close(&m->t);
    conf_close(m->plug.conf);
}

static inline bool try_route(struct route *ret, struct plug *plug, const char *text,
                             const struct topo *t)
{
    struct wr_err err = {0};

    *plug = read_plug(route_kinds, text);
    if (route_open(ret, (const struct route_ops *)plug->is.kind, plug->is.params, t, &err))
        return true;
    assert_int_equal(err.code, WR_INPUT);
    assert_non_null(strstr(err.text, "use "));
    conf_close(plug->conf);
    return false;
}

#endif
