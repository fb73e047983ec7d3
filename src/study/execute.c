/* execute.c -- inspects all runs of a study, then executes those that are not done.
 *
 * study_inspect() loads every configuration and opens every machine once (runs that differ in the
 * seed only share one), so that errors are found before anything is simulated. study_execute() then
 * hands the runs to study_pool.c, the most expensive first, each in a process of its own.
 *
 * Owns the lock of the output directory while it executes. States and costs of runs are written in
 * the parent only; a worker returns a struct result.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/signals.h"
#include "rank/rank.h"
#include "study/study_pool.h"
#include "study_priv.h"
#include "world/record.h"
#include "world/world.h"

/* ---- looking ---- */

/* Opens the machine, which finds errors that only it can find. Returns the number of ranks. */
static bool execute_try_open(struct study *s, const struct conf *conf,
                             const struct study_config *all, double *ret_ranks, struct wr_err *err)
{
    const struct world_config *c = &all->run;

    if (study_of_stack(s))
        return study_stack_try(&all->stack, ret_ranks, err);
    uint64_t before = study_rss(getpid());
    struct world *w;

    if (!world_open(&w, conf, c, err))
        return false;
    uint64_t grown = study_rss(getpid()) - before;
    const struct ranks *ranks = world_ranks(w);

    if (grown < UINT64_MAX / 2 && grown > s->open_b)
        s->open_b = grown;
    *ret_ranks = ranks ? ranks_count(ranks) : net_nodes(world_net(w));
    world_close(w);
    return true;
}

/* The first of the runs that differ from this one in the seed only: its machine opens as this
 * one's would. */
static size_t execute_first_like(const struct study *s, const struct study_run *r)
{
    size_t at = 0;

    for (size_t d = 0; d < s->ndims; d++)
        at = at * s->dim[d].n + (s->dim[d].is_seed ? 0 : r->choice[d]);
    return at;
}

/* What inspection found out about one run. */
struct look {
    double ranks, wall_s; /* 0: not known */
};

static bool execute_inspect_one(struct study *s, size_t i, const char *dir, bool open,
                                struct look *ret, struct wr_err *err)
{
    struct study_run *r = &s->run[i];
    struct study_config c = {0};
    struct conf *conf;

    if (!study_load(s, r, &conf, &c, err))
        return wr_wrap(err, "run %s", r->name);
    if (dir)
        study_look(conf, s->section, study_path(s, r, dir), &r->state, &ret->wall_s);
    bool ok = !open || r->state == STUDY_DONE || execute_try_open(s, conf, &c, &ret->ranks, err);

    conf_close(conf);
    return ok || wr_wrap(err, "run %s", r->name);
}

/* Seconds of an earlier run of the same point if there was one; else ranks times the mean of those.
 */
static void execute_guess_costs(struct study *s, const struct look *look)
{
    double seconds = 0, ranks = 0;

    for (size_t i = 0; i < s->nruns; i++)
        if (look[i].wall_s > 0 && look[i].ranks > 0) {
            seconds += look[i].wall_s;
            ranks += look[i].ranks;
        }
    for (size_t i = 0; i < s->nruns; i++) {
        double like = look[execute_first_like(s, &s->run[i])].ranks;

        like = like > 0 ? like : 1;
        s->run[i].cost = look[i].wall_s > 0 ? look[i].wall_s
                         : ranks > 0        ? like * seconds / ranks
                                            : like;
    }
}

bool study_inspect(struct study *s, const char *dir, size_t only, struct wr_err *err)
{
    struct look *look = wr_zalloc(s->nruns, sizeof *look);
    bool ok = true;

    assert(only == SIZE_MAX || only < s->nruns);
    for (size_t i = 0; ok && i < s->nruns; i++)
        if (only == SIZE_MAX || i == only)
            ok = execute_inspect_one(s, i, dir,
                                     only != SIZE_MAX || execute_first_like(s, &s->run[i]) == i,
                                     &look[i], err);
    if (ok)
        execute_guess_costs(s, look);
    free(look);
    return ok;
}

/* ---- one run, in its own process ---- */

/* What a worker returns through its pipe. */
struct result {
    bool ok, interrupted;
    struct wr_err err;
};

/* Metadata only: the results are those of the same run executed alone. */
bool study_put_point(const struct study *s, const struct study_run *r, struct run *run,
                     struct wr_err *err)
{
    char key[160], number[24];
    bool ok = run_put_meta(run, "study", s->c.name, err);

    snprintf(number, sizeof number, "%zu", s->nruns);
    ok = ok && run_put_meta(run, "study_runs", number, err);
    snprintf(number, sizeof number, "%zu", (size_t)(r - s->run));
    ok = ok && run_put_meta(run, "study_place", number, err);
    for (size_t d = 0; ok && d < s->ndims; d++) {
        snprintf(key, sizeof key, "axis.%02zu.%s", d, s->dim[d].name);
        ok = run_put_meta(run, key, s->dim[d].choice[r->choice[d]].label, err);
    }
    return ok;
}

/* Into an open run file, which is closed whatever happens. */
static bool execute_fill_run_file(struct world *w, struct run *run, enum world_end *ret,
                                  struct wr_err *err)
{
    struct wr_err ignored;

    if (!world_run(w, run, NULL, ret, err) || !world_write(w, run, err)) {
        run_finish(run, RUN_FAILED, err->text, &ignored);
        return false;
    }
    if (*ret == WORLD_INTERRUPTED)
        return run_finish(run, RUN_INCOMPLETE, "interrupted", err);
    return run_finish(run, RUN_COMPLETE, NULL, err);
}

static bool execute_simulate(struct study *s, const struct study_run *r, const char *dir,
                             bool *interrupted, struct wr_err *err)
{
    struct study_config c = {0};
    struct wr_str command = {0};
    struct wr_err ignored;
    struct conf *conf;
    struct world *w;
    struct run *run;
    enum world_end end = WORLD_DONE;

    if (!study_load(s, r, &conf, &c, err))
        return false;
    if (study_of_stack(s)) {
        bool done = study_stack_run(s, r, conf, &c.stack, dir, interrupted, err);

        conf_close(conf);
        return done;
    }
    if (!world_open(&w, conf, &c.run, err)) {
        conf_close(conf);
        return false;
    }
    study_command(s, r, dir, &command);
    bool ok = world_record(&run,
                           &(struct world_record){.path = study_path(s, r, dir),
                                                  .conf = conf,
                                                  .section = "run",
                                                  .command = wr_str_get(&command),
                                                  .seed = c.run.seed,
                                                  .force = true},
                           err);
    bool placed = ok && (!c.run.title || run_put_text(run, "title", c.run.title, err)) &&
                  study_put_point(s, r, run, err);

    if (ok && !placed)
        run_finish(run, RUN_FAILED, err->text, &ignored);
    ok = placed && execute_fill_run_file(w, run, &end, err);
    *interrupted = ok && end == WORLD_INTERRUPTED;
    wr_str_fini(&command);
    world_close(w);
    conf_close(conf);
    return ok;
}

/* ---- all of them ---- */

struct executing {
    struct study *s;
    const struct study_how *how;
    struct study_outcome *out;
    size_t *todo; /* runs, heaviest first */
    size_t ntodo;
    double cost, done_cost; /* of all in todo; of those that ended */
    uint64_t peak_b;        /* the largest resident set of a run that ended */
};

static void execute_task(void *ctx, size_t task, void *result)
{
    const struct executing *x = ctx;
    struct result *r = result;

    r->ok =
        execute_simulate(x->s, &x->s->run[x->todo[task]], x->how->dir, &r->interrupted, &r->err);
}

static void execute_show_progress(void *ctx, size_t running)
{
    const struct executing *x = ctx;

    (void)running;
    wr_progress_set(x->how->progress, x->cost > 0 ? (double)x->ntodo * x->done_cost / x->cost : 0);
}

static bool execute_task_done(void *ctx, size_t task, const struct study_ended *end,
                              struct wr_err *err)
{
    struct executing *x = ctx;
    struct study_run *r = &x->s->run[x->todo[task]];
    const struct result *got = end->result;

    assert(task < x->ntodo);
    (void)err;
    x->done_cost += r->cost;
    x->peak_b = end->peak_b > x->peak_b ? end->peak_b : x->peak_b;
    if (got && got->ok) {
        r->state = got->interrupted ? STUDY_TORN : STUDY_DONE;
        x->out->ran += !got->interrupted;
        return true;
    }
    r->state = got ? STUDY_FAILED : STUDY_TORN;
    if (!got && wr_interrupted())
        return true;
    x->out->failed++;
    wr_str_addf(&x->out->failures, "%s: %s\n", r->name, got ? got->err.text : end->how);
    return true;
}

static bool execute_may_start(void *ctx, size_t task, const pid_t *running, size_t n)
{
    const struct executing *x = ctx;
    uint64_t need = x->peak_b > x->s->open_b ? x->peak_b : x->s->open_b;

    (void)task;
    for (size_t i = 0; i < n; i++) {
        uint64_t has = study_rss(running[i]);

        need = has > need ? has : need;
    }
    return study_memory_fits(need, running, n);
}

struct weight {
    double cost;
    size_t run;
};

static int execute_heaviest_first(const void *a, const void *b)
{
    const struct weight *x = a, *y = b;

    if (x->cost != y->cost)
        return x->cost > y->cost ? -1 : 1;
    return x->run < y->run ? -1 : 1;
}

static void execute_list_work(struct executing *x)
{
    const struct study *s = x->s;
    struct weight *v = wr_alloc(s->nruns * sizeof *v);

    for (size_t i = 0; i < s->nruns; i++) {
        enum study_state state = s->run[i].state;

        if (x->how->only != SIZE_MAX && x->how->only != i)
            continue;
        if (!x->how->force && (state == STUDY_DONE || state == STUDY_BUSY)) {
            x->out->kept += state == STUDY_DONE;
            x->out->busy += state == STUDY_BUSY;
            continue;
        }
        v[x->ntodo++] = (struct weight){s->run[i].cost, i};
        x->cost += s->run[i].cost;
    }
    qsort(v, x->ntodo, sizeof *v, execute_heaviest_first);
    x->todo = wr_alloc((x->ntodo + 1) * sizeof *x->todo);
    for (size_t i = 0; i < x->ntodo; i++)
        x->todo[i] = v[i].run;
    free(v);
}

/* One study at a time in a directory; single runs of it (--only, tasks of a batch system) go side
 * by side. The lock is on the directory itself and is held by the process and its children. On a
 * file system that cannot lock directories there is no lock. False: another study holds it. */
static bool execute_lock_dir(const char *dir, bool shared, int *ret_fd, struct wr_err *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0 && flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) && errno == EWOULDBLOCK) {
        close(fd);
        return wr_fail(err, WR_INPUT,
                       "another study is being run into %s; wait until it has ended, or name "
                       "another directory",
                       dir);
    }
    *ret_fd = fd;
    return true;
}

bool study_execute(struct study *s, const struct study_how *how, struct study_outcome *ret,
                   struct wr_err *err)
{
    struct study_outcome out = {0};
    struct executing x = {.s = s, .how = how, .out = &out};
    int lock = -1;

    assert(how->dir && how->progress);
    if (!study_make_dir(how->dir, how->force, err) ||
        !execute_lock_dir(how->dir, how->only != SIZE_MAX, &lock, err))
        return false;
    execute_list_work(&x);
    how->progress->total = (double)x.ntodo;
    struct study_pool pool = {.ctx = &x,
                              .jobs = how->jobs ? how->jobs : study_pool_cores(),
                              .ntasks = x.ntodo,
                              .result_size = sizeof(struct result),
                              .work = execute_task,
                              .done = execute_task_done,
                              .may_start = how->jobs ? NULL : execute_may_start,
                              .tick = execute_show_progress};
    bool ok = study_pool_run(&pool, &out.interrupted, err);

    free(x.todo);
    if (lock >= 0)
        close(lock);
    if (ok)
        *ret = out;
    else
        wr_str_fini(&out.failures);
    return ok;
}
