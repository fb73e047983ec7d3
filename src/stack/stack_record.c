/* stack_record.c -- writes a simulated test into a run file.
 *
 * Owns the sample of each kind of operation (struct stack_firsts), which is filled by hooks while
 * the engine runs. stack_record() writes the summary, the job, phases, states, messages, parameters
 * and samples when the run has ended.
 */
#include "stack/stack_record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "stack/stack_log.h"

/* The own time of a state: its work, and its waiting for storage or data. */
static uint64_t record_own_ns(const struct stack_fs *fs, uint16_t state,
                              const struct stack_sum *sum)
{
    assert(state < fs->state.n);
    const struct stack_state *s = &fs->state.v[state];
    /* the time of a layer of its own is counted there */
    bool own = s->does == STACK_WAIT && s->below == STACK_NONE &&
               (fs->machine.v[s->machine].kind != STACK_LAYER || s->cls == STACK_DATA);

    return sum->exec_ns + sum->between_ns + (own ? sum->wait_ns : 0);
}

/* Waiting of a layer that waits for the one below is not its own: only work counts, and the
 * waiting of states that wait for storage or data. Starting the library happens once, before
 * anything is asked for. */
void stack_bottleneck(const struct stack_fs *fs, const struct stack_counts *k, struct wr_str *out)
{
    double *cost = wr_zalloc(fs->layer.n, sizeof *cost), data = 0, all = 0;
    size_t worst = 0;
    uint16_t mount, start = stack_start_state(fs, &mount);

    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < fs->state.n; i++) {
            const struct stack_sum *sum = &k->state[side][i];
            const struct stack_state *st = &fs->state.v[i];
            double own = (double)record_own_ns(fs, (uint16_t)i, sum);

            if (i == start)
                own -= (double)(sum->exec_ns + sum->between_ns);
            if (st->does == STACK_FLOW)
                data += (double)sum->wait_ns;
            cost[fs->machine.v[st->machine].layer_id] += own;
            all += own;
        }
    for (size_t i = 1; i < fs->layer.n; i++)
        if (cost[i] > cost[worst])
            worst = i;
    if (data > cost[worst])
        wr_str_addf(out, "moving data between clients and servers, %.1f %% of all time",
                    100 * data / (data + all));
    else
        wr_str_addf(out, "layer %s, %.1f %% of all time", fs->layer.v[worst],
                    data + all > 0 ? 100 * cost[worst] / (data + all) : 0);
    free(cost);
}

/* --- samples of operations ------------------------------------------------------------ */

enum { MOST_STEPS = 20000, NOT_SAMPLED = STACK_OPS };

/* One step of a sampled operation: a visit of a state, or (`sent`) a message. */
struct step {
    uint8_t operation; /* enum stack_operation */
    bool sent;
    union {
        struct stack_visit visit;
        struct stack_sent message;
    };
};

/* The first operation of each kind, step by step; filled by hooks while the simulation runs. */
struct stack_firsts {
    const struct stack_fs *fs;
    bool seen[STACK_OPS];      /* the first has begun */
    WR_VEC(uint8_t) operation; /* by number of the activity: what it is a part of */
    WR_VEC(uint32_t) parent;   /* likewise: the activity it belongs to */
    WR_VEC(struct step) step;  /* of all operations, in the order of time */
    uint32_t steps[STACK_OPS]; /* of each; at most MOST_STEPS are kept */
};

struct stack_firsts *stack_firsts_open(void)
{
    return wr_zalloc(1, sizeof(struct stack_firsts));
}

void stack_firsts_of(struct stack_firsts *s, const struct stack_fs *fs)
{
    assert(fs && !s->step.n);
    s->fs = fs;
}

void stack_firsts_close(struct stack_firsts *s)
{
    if (!s)
        return;
    wr_vec_fini(&s->operation);
    wr_vec_fini(&s->parent);
    wr_vec_fini(&s->step);
    free(s);
}

static uint8_t record_operation_of(struct stack_firsts *s, const struct stack_activity *a)
{
    if (a->parent != UINT32_MAX)
        return a->parent < s->operation.n ? s->operation.v[a->parent] : NOT_SAMPLED;
    /* the start of servers comes before stack_firsts_of() */
    for (int n = 0; s->fs && n < (int)STACK_APIS * STACK_OPS; n++) {
        const uint16_t *machine = s->fs->operation[n / STACK_OPS];
        uint8_t i = (uint8_t)(n % STACK_OPS);

        if (machine[i] == a->root && !s->seen[i]) {
            for (size_t k = 0; k < STACK_OPS; k++)
                s->seen[k] |= machine[k] == a->root;
            return i;
        }
    }
    return NOT_SAMPLED;
}

static void record_on_begin(void *ctx, uint32_t op, const struct stack_activity *a)
{
    struct stack_firsts *s = ctx;

    while (s->operation.n <= op) {
        wr_vec_push(&s->operation, (uint8_t)NOT_SAMPLED);
        wr_vec_push(&s->parent, UINT32_MAX);
    }
    s->operation.v[op] = record_operation_of(s, a);
    s->parent.v[op] = a->parent;
}

static bool record_is_sampled(struct stack_firsts *s, uint32_t op)
{
    uint8_t of = op < s->operation.n ? s->operation.v[op] : (uint8_t)NOT_SAMPLED;

    return of < STACK_OPS && s->steps[of]++ < MOST_STEPS;
}

static void record_on_visit(void *ctx, const struct stack_visit *v)
{
    struct stack_firsts *s = ctx;

    if (record_is_sampled(s, v->op))
        wr_vec_push(&s->step, (struct step){.operation = s->operation.v[v->op], .visit = *v});
}

static void record_on_message(void *ctx, const struct stack_sent *m)
{
    struct stack_firsts *s = ctx;

    if (record_is_sampled(s, m->op))
        wr_vec_push(&s->step,
                    (struct step){.operation = s->operation.v[m->op], .sent = true, .message = *m});
}

struct stack_hooks stack_firsts_hooks(struct stack_firsts *s)
{
    return (struct stack_hooks){
        .ctx = s, .visit = record_on_visit, .begin = record_on_begin, .message = record_on_message};
}

/* --- the run file ----------------------------------------------------------------------- */

static int64_t record_node_number(const struct stack_setup *setup, uint32_t node)
{
    return node < setup->clients ? node : node - setup->clients;
}

static bool record_put_step(struct run *run, const struct stack_setup *setup,
                            const struct stack_firsts *s, const struct step *x, struct wr_err *err)
{
    const struct stack_fs *fs = setup->fs;
    uint32_t from = x->sent ? x->message.from : x->visit.node;
    uint32_t op = x->sent ? x->message.op : x->visit.op;
    struct run_stack_step f = {
        .operation = stack_operation_names[x->operation],
        .side = from < setup->clients ? "client" : "server",
        .node = record_node_number(setup, from),
        .peer = RUN_NULL,
        .work_ns = RUN_NULL,
        .wait_ns = RUN_NULL,
        .bytes = RUN_NULL,
        .op = op,
        .parent = s->parent.v[op] == UINT32_MAX ? RUN_NULL : (int64_t)s->parent.v[op],
    };
    struct stack_text text;

    if (x->sent) {
        f.kind = x->message.data ? "data" : x->message.answer ? "answer" : "request";
        f.t_ns = x->message.t_ns;
        f.what = fs->message.v[x->message.message].name;
        f.peer = record_node_number(setup, x->message.to);
        f.bytes = (int64_t)x->message.bytes;
        return run_put_stack_step(run, &f, err);
    }
    const struct stack_state *st = &fs->state.v[x->visit.state];

    text = stack_state_text(fs, x->visit.state);
    f.kind = "state";
    f.t_ns = x->visit.t_ns;
    f.what = text.s;
    f.layer = fs->machine.v[st->machine].layer;
    f.class = stack_class_names[st->cls];
    f.work_ns = (int64_t)x->visit.exec_ns;
    f.wait_ns = (int64_t)x->visit.wait_ns;
    return run_put_stack_step(run, &f, err);
}

static bool record_put_states(struct run *run, const struct stack_setup *setup,
                              const struct stack_counts *k, struct wr_err *err)
{
    const struct stack_fs *fs = setup->fs;

    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < fs->state.n; i++) {
            const struct stack_sum *sum = &k->state[side][i];
            const struct stack_state *st = &fs->state.v[i];
            const struct stack_machine *m = &fs->machine.v[st->machine];

            if (sum->n && !run_put_stack_state(
                              run,
                              &(struct run_stack_state){
                                  .side = side ? "server" : "client",
                                  .layer = m->layer,
                                  .agent = m->agent,
                                  .machine = m->name,
                                  .state = fs->state_name.v[i],
                                  .class = stack_class_names[st->cls],
                                  .layer_at = m->layer_id,
                                  .visits = sum->n,
                                  .work_ns = sum->exec_ns,
                                  .wait_ns = sum->wait_ns,
                                  .own_ns = record_own_ns(fs, (uint16_t)i, sum) +
                                            (st->does == STACK_FLOW ? sum->wait_ns : 0),
                                  .between_ns = sum->between_ns,
                                  .measured = stack_state_measured(setup->timings, (uint16_t)i),
                              },
                              err))
                return false;
        }
    return true;
}

static bool record_put_messages(struct run *run, const struct stack_fs *fs,
                                const struct stack_counts *k, struct wr_err *err)
{
    for (size_t i = 0; i < fs->message.n; i++) {
        const struct stack_traffic *m = &k->message[i];

        if (m->requests && !run_put_stack_message(
                               run,
                               &(struct run_stack_message){fs->message.v[i].name, m->requests,
                                                           m->request_b, m->answers, m->answer_b},
                               err))
            return false;
    }
    return run_put_stack_message(
        run, &(struct run_stack_message){"data", k->data_messages, k->data_b, 0, 0}, err);
}

static bool record_put_phases(struct run *run, const struct stack_drive *d, struct wr_err *err)
{
    const struct stack_phase *p;
    size_t n = stack_drive_phases(d, &p);

    for (size_t i = 0; i < n; i++)
        if (p[i].opened &&
            !run_put_stack_phase(
                run,
                &(struct run_stack_phase){
                    .phase = (uint32_t)i,
                    .access = p[i].writes ? "write" : "read",
                    .rep = p[i].rep,
                    .transfers = p[i].transfers,
                    .bytes = p[i].bytes,
                    .open_ns = p[i].open_last - p[i].open_first,
                    .io_ns = p[i].transfers ? p[i].io_last - p[i].io_first : 0,
                    .close_ns = p[i].close_last ? p[i].close_last - p[i].close_first : 0,
                    .total_ns = p[i].close_last ? p[i].close_last - p[i].open_first : 0,
                    .busy_ns = p[i].io_ns,
                },
                err))
            return false;
    return true;
}

static bool record_put_params(struct run *run, const struct stack_fs *fs, struct wr_err *err)
{
    for (size_t i = 0; i < fs->param.n; i++)
        if (!run_put_stack_param(run, fs->param.v[i].name, fs->param.v[i].value,
                                 fs->param.v[i].source, fs->param.v[i].help, err))
            return false;
    return true;
}

/* The best of each access over all repetitions: what tables of many runs show. */
static bool record_put_best(struct run *run, const struct stack_drive *d, struct wr_err *err)
{
    const struct stack_phase *p;
    size_t n = stack_drive_phases(d, &p);
    double bw[2] = {0}, iops[2] = {0};

    for (size_t i = 0; i < n; i++) {
        double total = stack_s(p[i].close_last - p[i].open_first);
        double io = p[i].transfers ? stack_s(p[i].io_last - p[i].io_first) : 0;
        int w = p[i].writes;

        if (!p[i].opened || total <= 0)
            continue;
        if ((double)p[i].bytes / total > bw[w])
            bw[w] = (double)p[i].bytes / total;
        if (io > 0 && (double)p[i].transfers / io > iops[w])
            iops[w] = (double)p[i].transfers / io;
    }
    return run_put_real(run, "write_bytes_per_s", bw[1], "B/s", err) &&
           run_put_real(run, "read_bytes_per_s", bw[0], "B/s", err) &&
           run_put_real(run, "write_iops", iops[1], "1/s", err) &&
           run_put_real(run, "read_iops", iops[0], "1/s", err);
}

static int64_t record_ps(uint64_t ns)
{
    return ns > INT64_MAX / 1000 ? RUN_NULL : (int64_t)(ns * 1000);
}

/* The test as a job, so that whatever shows jobs shows it. */
static bool record_put_job(struct run *run, const struct stack_setup *setup,
                           const struct stack_drive *d, struct wr_err *err)
{
    if (!run_put_app(run,
                     &(struct run_app){
                         .name = setup->fs->name, .ranks = setup->clients, .workload = setup->test},
                     err))
        return false;
    for (uint32_t i = 0; i < setup->clients; i++) {
        struct stack_task_sum sum = stack_drive_task(d, i);
        struct run_rank r = run_rank_unknown(0, i);

        r.node = i;
        r.elapsed_ps = record_ps(sum.end_ns);
        r.io_ps = record_ps(sum.io_ns);
        r.compute_ps = r.comm_ps = 0;
        r.idle_ps = record_ps(sum.end_ns > sum.io_ns ? sum.end_ns - sum.io_ns : 0);
        r.bytes_read = (int64_t)sum.read_b;
        r.bytes_written = (int64_t)sum.written_b;
        if (!run_put_rank(run, &r, err))
            return false;
    }
    return true;
}

static bool record_put_summary(struct run *run, const struct stack_setup *setup,
                               const struct stack_drive *d, struct wr_err *err)
{
    const struct stack_engine *e = stack_drive_engine((struct stack_drive *)d);
    const struct stack_counts *k = stack_engine_counts(e);
    struct wr_str worst = {0};

    stack_bottleneck(setup->fs, k, &worst);
    bool ok =
        run_put_text(run, "fs", setup->fs->name, err) &&
        run_put_text(run, "file_system", setup->fs->title, err) &&
        run_put_text(run, "timing", setup->timings->title, err) &&
        run_put_text(run, "timing_source", setup->timings->source, err) &&
        run_put_count(run, "timing_measured", stack_timings_measured(setup->timings), "", err) &&
        (!setup->beyond || run_put_text(run, "extrapolated", setup->beyond, err)) &&
        run_put_count(run, "servers", setup->servers, "", err) &&
        run_put_count(run, "clients", setup->clients, "", err) &&
        run_put_count(run, "data_messages", k->data_messages, "", err) &&
        run_put_count(run, "bytes_written", k->client_out_b, "B", err) &&
        run_put_count(run, "bytes_read", k->client_in_b, "B", err) &&
        run_put_count(run, "exchange_messages", stack_drive_collected(d).messages, "", err) &&
        run_put_count(run, "exchange_bytes", stack_drive_collected(d).bytes, "B", err) &&
        run_put_count(run, "events", stack_engine_events(e), "", err) &&
        run_put_count(run, "test_ns", stack_drive_end(d), "ns", err) &&
        run_put_real(run, "sim_end_ns", (double)stack_engine_now(e), "ns", err) &&
        (!stack_band_known(setup->timings->io) ||
         (run_put_real(run, "io_low", setup->timings->io.low, "", err) &&
          run_put_real(run, "io_high", setup->timings->io.high, "", err))) &&
        run_put_text(run, "bottleneck", wr_str_get(&worst), err) && record_put_best(run, d, err);

    wr_str_fini(&worst);
    return ok;
}

bool stack_record(struct run *run, const struct stack_setup *setup, const struct stack_drive *drive,
                  const struct stack_firsts *sample, struct wr_err *err)
{
    const struct stack_counts *k =
        stack_engine_counts(stack_drive_engine((struct stack_drive *)drive));

    assert(setup->fs && k);
    if (!record_put_summary(run, setup, drive, err) || !record_put_job(run, setup, drive, err) ||
        !record_put_phases(run, drive, err) || !record_put_states(run, setup, k, err) ||
        !record_put_messages(run, setup->fs, k, err) || !record_put_params(run, setup->fs, err))
        return false;
    for (size_t i = 0; sample && i < sample->step.n; i++)
        if (!record_put_step(run, setup, sample, &sample->step.v[i], err))
            return false;
    return true;
}
