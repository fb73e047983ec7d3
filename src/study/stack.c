/* stack.c -- a run of a study that is a test on a file system. */
#include <string.h>

#include "study_priv.h"
#include "world/record.h"
#include "world/wire.h"

bool study_of_stack(const struct study *s)
{
    return !strcmp(s->part, "stack");
}

static bool open_sim(struct stack_sim *ret, const struct stack_config *of,
                     const struct stack_hooks *hooks, struct wr_err *err)
{
    struct stack_config c = *of;

    return (!c.net || !*c.net || world_wire_open(&c.wire, c.net, c.seed, err)) &&
           stack_sim_open(ret, &c, hooks, err);
}

bool study_stack_try(const struct stack_config *c, double *ret_ranks, struct wr_err *err)
{
    struct stack_sim sim;

    if (!open_sim(&sim, c, NULL, err))
        return false;
    *ret_ranks = sim.setup.clients;
    stack_sim_close(&sim);
    return true;
}

/* Into an open run file, which is closed whatever happens. */
static bool fill(struct stack_sim *sim, struct stack_firsts *firsts, struct run *run,
                 bool *ret_interrupted, struct wr_err *err)
{
    struct wr_err ignored;

    stack_drive_begin(sim->drive);
    if (!stack_drive_run(sim->drive, ret_interrupted, err) ||
        !stack_store(run, &sim->setup, sim->drive, firsts, err)) {
        run_finish(run, RUN_FAILED, err->text, &ignored);
        return false;
    }
    return *ret_interrupted ? run_finish(run, RUN_INCOMPLETE, "interrupted", err)
                            : run_finish(run, RUN_COMPLETE, NULL, err);
}

bool study_stack_run(struct study *s, const struct study_run *r, const struct conf *conf,
                     const struct stack_config *c, const char *dir, bool *ret_interrupted,
                     struct wr_err *err)
{
    struct stack_firsts *firsts = stack_firsts_open();
    struct stack_hooks hooks = stack_firsts_hooks(firsts);
    struct wr_str command = {0};
    struct wr_err ignored;
    struct stack_sim sim;
    struct run *run;
    bool ok = open_sim(&sim, c, &hooks, err);

    if (ok) {
        stack_firsts_of(firsts, sim.fs);
        study_command(s, r, dir, &command);
        ok = world_record(&run,
                          &(struct world_record){.path = study_path(s, r, dir),
                                                 .kind = "stack",
                                                 .conf = conf,
                                                 .part = s->part,
                                                 .command = wr_str_get(&command),
                                                 .seed = c->seed,
                                                 .force = true},
                          err);
        if (ok && !study_put_point(s, r, run, err)) {
            run_finish(run, RUN_FAILED, err->text, &ignored);
            ok = false;
        }
        ok = ok && fill(&sim, firsts, run, ret_interrupted, err);
        wr_str_fini(&command);
        stack_sim_close(&sim);
    }
    stack_firsts_close(firsts);
    return ok;
}
