#include "stack/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "stack/drive.h"

struct recorder {
    struct stack_log *log;
    uint64_t bytes, moved;
    uint32_t clients;
    WR_VEC(uint64_t) below_ns; /* [activities] what layers took of the state that comes next */
};

/* A real log knows nothing of the layers below: what they take of a state's work is its own. */
static uint64_t work_of(struct recorder *r, const struct stack_visit *v, bool *ret_layer)
{
    const struct stack_state *s = &r->log->fs->state.v[v->state];

    while (r->below_ns.n <= v->op)
        wr_vec_push(&r->below_ns, 0);
    uint64_t *below = &r->below_ns.v[v->op], took = *below;

    *ret_layer = r->log->fs->machine.v[s->machine].kind == STACK_LAYER;
    *below = *ret_layer ? took + v->exec_ns : 0;
    return s->does == STACK_SEND || s->does == STACK_REPLY ? v->exec_ns + took : v->exec_ns;
}

static void on_visit(void *ctx, const struct stack_visit *v)
{
    struct recorder *r = ctx;
    bool deferred = v->action == STACK_DEFERRED, layer;
    uint64_t work = work_of(r, v, &layer);

    if (layer)
        return;
    wr_vec_push(
        &r->log->state,
        (struct stack_sample){.state = v->state,
                              .deferred = deferred,
                              .server = v->node >= r->clients,
                              .io = stack_way(&r->log->fs->state.v[v->state], v->writes, v->code),
                              .phase = stack_phase((uint64_t)v->tag),
                              .bytes = r->bytes,
                              .t_s = stack_s(v->t_ns),
                              .took_us = (float)((double)(work + v->wait_ns) * 1e-3),
                              .exec_us = (float)((double)work * 1e-3),
                              .wait_us = deferred ? (float)((double)v->wait_ns * 1e-3) : -1,
                              .between_us = -1});
}

static void on_end(void *ctx, uint32_t op, const struct stack_activity *a)
{
    struct recorder *r = ctx;
    const struct stack_fs *fs = r->log->fs;
    double took = (double)(a->end_ns - a->t_ns) * 1e-9;
    uint16_t f = fs->machine.v[a->root].function_id;

    (void)op;
    wr_vec_push(&r->log->op, (struct stack_op_sample){f, a->writes, r->bytes, took, 0});
    for (int api = 0; api < STACK_APIS; api++) {
        const uint16_t *machine = fs->operation[api];
        bool writes = a->root == machine[STACK_OP_WRITE];

        if (writes || a->root == machine[STACK_OP_READ])
            wr_vec_push(&r->log->io, (struct stack_io_sample){writes, r->bytes, took, r->moved, 0});
    }
}

static void take_phases(struct stack_log *log, const struct stack_drive *d, uint64_t bytes)
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

static bool run(struct stack_log *log, const struct stack_setup *with, const struct ior_test *test,
                uint64_t bytes, struct wr_err *err)
{
    struct recorder r = {
        .log = log, .bytes = bytes, .moved = (uint64_t)test->transfer, .clients = with->clients};
    struct stack_setup setup = *with;
    struct stack_drive *d;
    bool stopped;

    setup.hooks = (struct stack_hooks){.ctx = &r, .visit = on_visit, .end = on_end};
    if (!stack_drive_open(&d, &setup, test, with->clients, 1, err))
        return false;
    stack_drive_begin(d);
    bool ok = stack_drive_run(d, &stopped, err);

    if (ok && stopped)
        ok = wr_fail(err, WR_INTERRUPTED, "interrupted");
    if (ok)
        take_phases(log, d, bytes);
    stack_drive_close(d);
    wr_vec_fini(&r.below_ns);
    return ok;
}

static bool replay(struct stack_log *ret, const struct stack_setup *setup, const char *command,
                   uint64_t bytes, struct wr_err *err)
{
    struct stack_log log = {.fs = setup->fs, .servers = setup->servers, .clients = setup->clients};
    struct ior_test test;

    if (!ior_parse(&test, command, setup->clients, err))
        return false;
    bool ok = run(&log, setup, &test, bytes, err);

    ior_fini(&test);
    if (!ok) {
        stack_log_fini(&log);
        return false;
    }
    wr_vec_push(&log.run, bytes);
    *ret = log;
    return true;
}

bool stack_replay(struct stack_log *ret, const struct stack_fs *fs, const struct stack_laws *laws,
                  uint32_t servers, uint32_t clients, uint64_t bytes, struct wr_err *err)
{
    struct stack_setup setup = {
        .fs = fs, .laws = laws, .servers = servers, .clients = clients, .start = UINT32_MAX};
    char command[128];

    snprintf(command, sizeof command, "ior -a MPIIO -b %" PRIu64 " -t %" PRIu64 " -F", bytes,
             bytes);
    return replay(ret, &setup, command, bytes, err);
}

bool stack_replay_log(struct stack_log *ret, const struct stack_log *log,
                      const struct stack_laws *laws, uint64_t bytes, struct wr_err *err)
{
    struct stack_setup setup = {.fs = log->fs,
                                .laws = laws,
                                .servers = log->servers,
                                .clients = log->clients,
                                .start = UINT32_MAX};
    const char *command = stack_log_command(log, bytes);

    return command ? replay(ret, &setup, command, bytes, err)
                   : stack_replay(ret, log->fs, laws, log->servers, log->clients, bytes, err);
}
