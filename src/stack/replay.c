/* replay.c -- simulates the test of a log and records the run as a log.
 *
 * calib.c, calib_flow.c, band.c and `weir stack validate` compare the medians of such a log with
 * those of the real one. The hooks of the engine fill the same samples that the readers of logs
 * fill; layers below a state are folded into it, because real logs do not have them.
 */
#include "stack/replay.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "stack/stack_drive.h"

struct recorder {
    struct stack_log *log;
    uint16_t test;
    uint64_t moved;
    uint32_t clients;
    WR_VEC(uint64_t) below_ns; /* [activities] what layers took of the state that comes next */
};

/* A real log knows nothing of the layers below: what they take of a state's work is its own. */
static uint64_t replay_work(struct recorder *r, const struct stack_visit *v, bool *ret_layer)
{
    const struct stack_state *s = &r->log->fs->state.v[v->state];

    while (r->below_ns.n <= v->op)
        wr_vec_push(&r->below_ns, 0);
    uint64_t *below = &r->below_ns.v[v->op], took = *below;

    *ret_layer = r->log->fs->machine.v[s->machine].kind == STACK_LAYER;
    *below = *ret_layer ? took + v->exec_ns : 0;
    return s->does == STACK_SEND || s->does == STACK_REPLY ? v->exec_ns + took : v->exec_ns;
}

static void replay_on_visit(void *ctx, const struct stack_visit *v)
{
    struct recorder *r = ctx;
    bool deferred = v->action == STACK_DEFERRED, layer;
    uint64_t work = replay_work(r, v, &layer);

    if (layer)
        return;
    wr_vec_push(
        &r->log->state,
        (struct stack_sample){.state = v->state,
                              .deferred = deferred,
                              .server = v->node >= r->clients,
                              .io = stack_way(&r->log->fs->state.v[v->state], v->writes, v->code),
                              .phase = stack_phase((uint64_t)v->tag),
                              .test = r->test,
                              .op = v->op + 1,
                              .t_s = stack_s(v->t_ns),
                              .took_us = (float)((double)(work + v->wait_ns) * 1e-3),
                              .exec_us = (float)((double)work * 1e-3),
                              .wait_us = deferred ? (float)((double)v->wait_ns * 1e-3) : -1,
                              .between_us = -1});
}

static void replay_on_end(void *ctx, uint32_t op, const struct stack_activity *a)
{
    struct recorder *r = ctx;
    const struct stack_fs *fs = r->log->fs;
    double took = (double)(a->end_ns - a->t_ns) * 1e-9;
    uint16_t f = fs->machine.v[a->root].function_id;

    (void)op;
    wr_vec_push(&r->log->op, (struct stack_op_sample){f, a->writes, r->test, took, 0});
    for (int api = 0; api < STACK_APIS; api++) {
        const uint16_t *machine = fs->operation[api];
        bool writes = a->root == machine[STACK_OP_WRITE];

        if (writes || a->root == machine[STACK_OP_READ])
            wr_vec_push(&r->log->io, (struct stack_io_sample){writes, r->test, took, r->moved, 0});
    }
}

static void replay_add_phases(struct stack_log *log, const struct stack_drive *d, uint64_t bytes)
{
    const struct stack_phase *p;
    size_t n = stack_drive_phases(d, &p);

    for (size_t i = 0; i < n; i++) {
        double total = stack_s(p[i].close_last - p[i].open_first);

        if (p[i].opened)
            wr_vec_push(&log->ior,
                        (struct stack_ior_row){
                            .writes = p[i].writes,
                            .block_b = bytes,
                            .xfer_b = bytes,
                            .bw_MiBps = total > 0 ? (double)p[i].bytes / 1048576 / total : 0,
                            .wrrd_s = stack_s(p[i].io_last - p[i].io_first),
                            .total_s = total,
                            .iter = p[i].rep});
    }
}

static bool replay_run(struct stack_log *log, const struct stack_setup *with,
                       const struct ior_test *test, uint16_t number, struct wr_err *err)
{
    struct recorder r = {
        .log = log, .test = number, .moved = (uint64_t)test->transfer, .clients = with->clients};
    struct stack_setup setup = *with;
    struct stack_drive *d;
    bool stopped;

    assert(with->fs == log->fs && test->transfer > 0);
    setup.hooks = (struct stack_hooks){.ctx = &r, .visit = replay_on_visit, .end = replay_on_end};
    if (!stack_drive_open(&d, &setup, test, with->clients, 1, err))
        return false;
    stack_drive_begin(d);
    bool ok = stack_drive_run(d, &stopped, err);

    if (ok && stopped)
        ok = wr_fail(err, WR_INTERRUPTED, "interrupted");
    if (ok)
        replay_add_phases(log, d, (uint64_t)test->block);
    stack_drive_close(d);
    wr_vec_fini(&r.below_ns);
    return ok;
}

/* A log of one run. The tests' numbers are those of `of`. */
bool stack_replay_log(struct stack_log *ret, const struct stack_log *of,
                      const struct stack_timings *timings, uint16_t number, struct wr_err *err)
{
    assert(number > 0 && number <= of->test.n);
    const struct stack_log_test *t = stack_test_at(of, number);
    struct stack_setup setup = {.fs = of->fs,
                                .timings = timings,
                                .servers = t->servers,
                                .clients = t->clients,
                                .start = UINT32_MAX};
    struct stack_log log = {.fs = of->fs};
    struct ior_test test;

    if (!ior_parse(&test, t->ior, t->clients, err))
        return false;
    bool ok = replay_run(&log, &setup, &test, number, err);

    ior_fini(&test);
    if (!ok) {
        stack_log_fini(&log);
        return wr_wrap(err, "%s", stack_test_text(t).s);
    }
    for (size_t i = 0; i < of->test.n; i++)
        wr_vec_push(&log.test, of->test.v[i]);
    wr_vec_push(&log.run, number);
    *ret = log;
    return true;
}

bool stack_replay(struct stack_log *ret, const struct stack_fs *fs,
                  const struct stack_timings *timings, uint32_t servers, uint32_t clients,
                  uint64_t bytes, struct wr_err *err)
{
    assert(servers > 0 && clients > 0 && bytes > 0);
    struct stack_log of = {.fs = fs};
    char command[128];
    uint16_t test;

    snprintf(command, sizeof command, "ior -a MPIIO -b %" PRIu64 " -t %" PRIu64 " -F", bytes,
             bytes);
    bool ok = stack_log_test(&of, "the test", servers, clients, command, &test, err) &&
              stack_replay_log(ret, &of, timings, test, err);

    stack_log_fini(&of);
    return ok;
}
