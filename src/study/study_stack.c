/* study_stack.c -- runs of a study whose base is a test on a file system (`stack:`).
 *
 * The counterpart of what execute.c does for `run:` with world/. The simulation is opened and
 * closed within one call; the run file is finished in every case.
 */
#include <assert.h>
#include <string.h>

#include "study_priv.h"
#include "world/record.h"
#include "world/world_wire.h"

bool study_of_stack(const struct study *s)
{
    return !strcmp(s->section, "stack");
}

static bool study_stack_open(struct stack_sim *ret, const struct stack_config *of,
                             const struct stack_hooks *hooks, struct wr_err *err)
{
    struct stack_config c = *of;

    return (!c.net || !*c.net || world_wire_open(&c.wire, c.net, c.seed, err)) &&
           stack_sim_open(ret, &c, hooks, err);
}

bool study_stack_try(const struct stack_config *c, double *ret_ranks, struct wr_err *err)
{
    struct stack_sim sim;

    if (!study_stack_open(&sim, c, NULL, err))
        return false;
    *ret_ranks = sim.setup.clients;
    stack_sim_close(&sim);
    return true;
}

/* Into an open run file, which is closed whatever happens. */
static bool study_stack_fill(struct stack_sim *sim, struct stack_firsts *firsts, struct run *run,
                             bool *ret_interrupted, struct wr_err *err)
{
    struct wr_err ignored;

    stack_drive_begin(sim->drive);
    if (!stack_drive_run(sim->drive, ret_interrupted, err) ||
        !stack_record(run, &sim->setup, sim->drive, firsts, err)) {
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
    bool ok = study_stack_open(&sim, c, &hooks, err);

    assert(study_of_stack(s));
    if (ok) {
        stack_firsts_of(firsts, sim.fs);
        study_command(s, r, dir, &command);
        ok = world_record(&run,
                          &(struct world_record){.path = study_path(s, r, dir),
                                                 .kind = "stack",
                                                 .conf = conf,
                                                 .section = s->section,
                                                 .command = wr_str_get(&command),
                                                 .seed = c->seed,
                                                 .force = true},
                          err);
        if (ok && !study_put_point(s, r, run, err)) {
            run_finish(run, RUN_FAILED, err->text, &ignored);
            ok = false;
        }
        ok = ok && study_stack_fill(&sim, firsts, run, ret_interrupted, err);
        wr_str_fini(&command);
        stack_sim_close(&sim);
    }
    stack_firsts_close(firsts);
    return ok;
}
