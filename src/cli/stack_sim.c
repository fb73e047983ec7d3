/* stack_sim.c -- from options and an IOR command line to a simulation. */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/stack.h"

static const char *laws_for(const struct stack_opts *o, const struct stack_fs *fs)
{
    size_t n = strlen(fs->name);

    if (o->laws)
        return o->laws;
    for (const struct stack_shipped *l = stack_shipped_laws(); l->name; l++)
        if (!strncmp(l->name, fs->name, n) && l->name[n] == '-' && !strcmp(l->name + n, "-default"))
            return "default";
    return NULL;
}

static bool open_laws(struct stack_sim *s, const struct stack_opts *o, struct wr_err *err)
{
    const char *name = laws_for(o, s->fs);
    static const char none[] = "title: no times\nstates: {}\n";

    return name ? stack_laws_open(&s->laws, s->fs, name, err)
                : stack_laws_open_text(&s->laws, s->fs, "no times", none, sizeof none - 1, err);
}

static bool first_server(const struct stack_opts *o, uint32_t *ret, struct wr_err *err)
{
    uint64_t v;

    *ret = UINT32_MAX;
    if (!o->start)
        return true;
    if (!wr_parse_u64(&v, o->start, err) || v >= UINT32_MAX)
        return wr_fail(err, WR_INPUT, "--first-server %s is no server; give a number from 0",
                       wr_text_clip(o->start).s);
    *ret = (uint32_t)v;
    return true;
}

static bool cb_buffer(const struct stack_opts *o, struct stack_cb *cb, struct wr_err *err)
{
    if (!wr_parse_bytes(&cb->buffer_b, o->cb_buffer, err) || !cb->buffer_b)
        return wr_fail(err, WR_INPUT, "--cb-buffer-size %s is no size; give one as 16MiB",
                       wr_text_clip(o->cb_buffer).s);
    return true;
}

static bool open_test(struct stack_sim *s, const struct stack_opts *o, const struct cli_call *call,
                      struct wr_err *err)
{
    struct wr_str command = {0};

    if (!o->servers)
        return wr_fail(err, WR_INPUT, "--servers 0: nobody could answer; give at least 1");
    if (!o->tasks)
        return wr_fail(err, WR_INPUT, "--tasks 0: nobody would ask; give at least 1");
    for (int i = 0; i < call->nargs; i++)
        wr_str_addf(&command, "%s%s", i ? " " : "", call->args[i]);
    s->has_test = ior_parse(&s->test, wr_str_get(&command), o->tasks, err);
    wr_str_fini(&command);
    return s->has_test;
}

bool cli_stack_open(struct stack_sim *ret, const struct stack_opts *o, const struct cli_call *call,
                    const struct stack_hooks *hooks, struct wr_err *err)
{
    struct stack_sim *s = ret;

    *s = (struct stack_sim){0};
    if (stack_fs_open(&s->fs, o->fs, err) && open_laws(s, o, err) && open_test(s, o, call, err)) {
        s->setup = (struct stack_setup){.fs = s->fs,
                                        .laws = s->laws,
                                        .servers = o->servers,
                                        .dfiles = o->dfiles,
                                        .cb = {.mode = o->cb, .nodes = o->cb_nodes}};
        if (hooks)
            s->setup.hooks = *hooks;
        if (first_server(o, &s->setup.start, err) && cb_buffer(o, &s->setup.cb, err) &&
            stack_drive_open(&s->drive, &s->setup, &s->test, o->tasks, o->seed, err))
            return true;
    }
    cli_stack_close(s);
    return false;
}

void cli_stack_close(struct stack_sim *s)
{
    stack_drive_close(s->drive);
    if (s->has_test)
        ior_fini(&s->test);
    stack_laws_close(s->laws);
    stack_fs_close(s->fs);
    *s = (struct stack_sim){0};
}
