/* stack_sim.c -- from options and a command line to a simulation. */
#include "base/units.h"
#include "cli/stack.h"
#include "world/world_wire.h"

static bool stack_sim_cb_buffer(const struct stack_opts *o, uint64_t *ret, struct wr_err *err)
{
    if (!wr_parse_bytes(ret, o->cb_buffer, err) || !*ret)
        return wr_fail(err, WR_INPUT, "--cb-buffer-size %s is no size; give one as 16MiB",
                       wr_text_clip(o->cb_buffer).s);
    return true;
}

bool cli_stack_open(struct stack_sim *ret, const struct stack_opts *o, const struct cli_call *call,
                    const struct stack_hooks *hooks, struct wr_err *err)
{
    struct wr_str command = {0};

    for (int i = 0; i < call->nargs; i++)
        wr_str_addf(&command, "%s%s", i ? " " : "", call->args[i]);
    struct stack_config c = {
        .fs = o->fs,
        .timings = o->timings,
        .test = wr_str_get(&command),
        .servers = o->servers,
        .metas = o->metas,
        .datas = o->datas,
        .tasks = o->tasks,
        .dfiles = o->dfiles,
        .first_server = o->start,
        .seed = o->seed,
        .vary = o->vary,
        .cb = o->cb,
        .cb_nodes = o->cb_nodes,
        .fault = o->fault,
        .set = {.items = (void *)o->sets.v, .n = o->sets.n},
    };
    bool ok = stack_sim_cb_buffer(o, &c.cb_buffer_b, err) &&
              (!o->net || world_wire_open(&c.wire, o->net, o->seed, err)) &&
              stack_sim_open(ret, &c, hooks, err);

    wr_str_fini(&command);
    return ok;
}

void cli_stack_close(struct stack_sim *s)
{
    stack_sim_close(s);
}

void cli_stack_know(struct cli_stack_known *k, const struct stack_sim *s, uint16_t state,
                    const struct stack_sum *sum)
{
    *(stack_state_measured(s->timings, state) ? &k->measured_ns : &k->assumed_ns) +=
        sum->exec_ns + sum->wait_ns;
}

const char *cli_stack_known(const struct stack_sim *s, const struct cli_stack_known *k)
{
    if (!stack_timings_measured(s->timings) || (k->assumed_ns && !k->measured_ns))
        return "assumed";
    if (s->setup.beyond)
        return s->label.s;
    return k->assumed_ns > k->measured_ns / 100 ? "in part" : "measured";
}

const char *cli_stack_measured(const struct stack_sim *s)
{
    const struct stack_counts *c = stack_engine_counts(stack_drive_engine(s->drive));
    struct cli_stack_known k = {0};

    for (size_t i = 0; i < s->fs->state.n; i++)
        for (int side = 0; side < 2; side++)
            if (s->fs->machine.v[s->fs->state.v[i].machine].kind != STACK_LAYER)
                cli_stack_know(&k, s, (uint16_t)i, &c->state[side][i]);
    return cli_stack_known(s, &k);
}

bool cli_stack_run_create(struct run **ret, const char *path, bool force,
                          const struct cli_call *call, uint64_t seed, struct wr_err *err)
{
    struct wr_str command = {0};

    wr_str_add(&command, "weir stack ");
    run_command_line(&command, call->argc, call->argv);
    struct run_meta meta = {
        .kind = "stack", .command = wr_str_get(&command), .seed = seed, .force = force};
    bool ok = run_create(ret, path, &meta, err);

    wr_str_fini(&command);
    return ok;
}

bool cli_stack_run_close(struct run *run, bool ran, bool stopped, cli_stack_put *put, void *ctx,
                         struct wr_err *err)
{
    bool filled = ran && put(run, ctx, err);
    struct wr_err end = {0};

    return run_finish(run,
                      !filled   ? RUN_FAILED
                      : stopped ? RUN_INCOMPLETE
                                : RUN_COMPLETE,
                      !filled   ? err->text
                      : stopped ? "interrupted"
                                : NULL,
                      filled ? err : &end) &&
           filled;
}
