/* cmd_stack_step.c -- `weir stack step`: through a run by hand, or by a script. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/signals.h"
#include "cli/stack.h"
#include "stack/draw.h"
#include "stack/step.h"

struct step_opts {
    struct stack_opts s;
    bool json;
};

static const struct cli_opt step_rows[] = {
    STACK_OPTS(struct step_opts),
    CLI_JSON(struct step_opts, json),
    CLI_OPT_END,
};

/* What one event did, and what the run is to stop at. */
struct session {
    const struct cli_call *call;
    struct stack_opts opts;
    struct stack_sim *sim;
    struct stack_trace what; /* the last event's visits and messages */
    bool over, trace;
    double speed;
    uint16_t until_state;
    uint32_t until_node;
    bool met;
};

static void on_visit(void *ctx, const struct stack_visit *v)
{
    struct session *s = ctx;

    wr_vec_push(&s->what.visit, *v);
    s->met |= v->state == s->until_state || v->node == s->until_node;
}

static void on_message(void *ctx, const struct stack_sent *sent)
{
    struct session *s = ctx;

    wr_vec_push(&s->what.sent, *sent);
}

static struct stack_engine *engine(const struct session *s)
{
    return stack_drive_engine(s->sim->drive);
}

static void end(struct stack_sim *sim)
{
    if (sim)
        cli_stack_close(sim);
    free(sim);
}

static bool begin(struct session *s, struct wr_err *err)
{
    struct stack_hooks hooks = {.ctx = s, .visit = on_visit, .message = on_message};
    struct stack_sim *sim = wr_zalloc(1, sizeof *sim); /* the run keeps pointers into it */

    if (!cli_stack_open(sim, &s->opts, s->call, &hooks, err)) {
        free(sim);
        return false;
    }
    end(s->sim);
    s->sim = sim;
    s->over = false;
    s->what.fs = sim->fs;
    s->what.clients = sim->setup.clients;
    stack_drive_begin(sim->drive);
    return true;
}

static uint32_t servers_of(const struct session *s)
{
    return stack_engine_nodes(engine(s)) - s->sim->setup.clients;
}

static void tell_setup(const struct session *s)
{
    fprintf(s->call->out, "%s; times: %s\n%u clients, %u servers, %" PRIu64 " bytes in all\n",
            s->sim->fs->title, s->sim->laws->title, s->sim->setup.clients, servers_of(s),
            s->sim->setup.all_b);
}

static void tell_where(const struct session *s)
{
    fprintf(s->call->out, "%.6f s, %" PRIu64 " events%s\n", stack_s(stack_engine_now(engine(s))),
            stack_engine_events(engine(s)), s->over ? "; the run is over" : "");
}

static void tell_event(struct session *s, bool loud)
{
    size_t v = 0, m = 0;

    while (loud && (v < s->what.visit.n || m < s->what.sent.n)) {
        bool message = v == s->what.visit.n ||
                       (m < s->what.sent.n && s->what.sent.v[m].t_ns < s->what.visit.v[v].t_ns);

        if (message)
            stack_draw_sent(&s->what, &s->what.sent.v[m++], 0, s->call->out);
        else
            stack_draw_visit(&s->what, &s->what.visit.v[v++], 0, s->call->out);
    }
    s->what.visit.n = s->what.sent.n = 0;
}

/* Simulated time passes no faster than `speed` allows. */
static void keep_pace(const struct session *s, const struct timespec *began, uint64_t from_ns)
{
    struct timespec now;

    if (!(s->speed > 0))
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double real =
        (double)(now.tv_sec - began->tv_sec) + 1e-9 * (double)(now.tv_nsec - began->tv_nsec);
    double ahead = stack_s(stack_engine_now(engine(s)) - from_ns) / s->speed - real;

    while (ahead > 0.001 && !wr_interrupted()) {
        double nap = ahead < 0.1 ? ahead : 0.1;

        nanosleep(&(struct timespec){0, (long)(nap * 1e9)}, NULL);
        ahead -= nap;
    }
}

/* At most `n` events, until `until_ns`, or until what was asked for is met. */
static bool run(struct session *s, uint64_t n, uint64_t until_ns, bool loud, struct wr_err *err)
{
    struct timespec began;
    uint64_t from = stack_engine_now(engine(s));

    clock_gettime(CLOCK_MONOTONIC, &began);
    s->met = false;
    wr_interrupt_catch();
    for (uint64_t i = 0; i < n && !s->over && !s->met && !wr_interrupted(); i++) {
        uint64_t before = stack_engine_events(engine(s)), was;

        do { /* the fabric between two events of agents is none of the user's steps */
            was = stack_engine_progress(engine(s));
            s->over = !stack_engine_run(engine(s), until_ns, 1);
        } while (stack_engine_events(engine(s)) == before && !s->over && !wr_interrupted() &&
                 stack_engine_progress(engine(s)) > was);
        if (stack_engine_events(engine(s)) == before && !s->over)
            break;
        tell_event(s, loud || s->trace);
        keep_pace(s, &began, from);
    }
    bool stopped = wr_interrupted();

    wr_interrupt_release();
    uint16_t stuck = stack_engine_stuck(engine(s));

    if (stuck != STACK_NONE)
        return wr_fail(err, WR_INPUT,
                       "the machines run in a circle through %s; `setup` begins again",
                       stack_state_text(s->sim->fs, stuck).s);
    if (stopped)
        fprintf(s->call->out, "stopped; go on with `go` or `step`\n");
    tell_where(s);
    return true;
}

static void look(const struct session *s, uint32_t node)
{
    static const char *const published[] = {"ID", "DATA_SYSTEM", "OPERATION", "REQUEST_IN_PROCESS",
                                            "COD_OPERATION"};
    static const struct cli_column columns[] = {{"variable", NULL}, {"value", NULL}};
    const struct step_opts *o = s->call->opts;
    const struct stack_fs *fs = s->sim->fs;
    struct stack_look l;

    stack_engine_look(engine(s), node, &l);
    struct cli_table *t =
        cli_table_open(s->call->out, o->json ? CLI_AS_JSON : CLI_AS_TEXT, columns, 2);

    cli_table_text(t, "agent");
    cli_table_text(t, stack_node_name(&s->what, node).s);
    cli_table_text(t, "state");
    cli_table_text(t, l.state == STACK_NONE ? "idle" : stack_state_text(fs, l.state).s);
    cli_table_text(t, "layer");
    cli_table_text(t,
                   l.state == STACK_NONE ? "-" : fs->machine.v[fs->state.v[l.state].machine].layer);
    cli_table_text(t, "queue");
    cli_table_int(t, l.queued);
    cli_table_text(t, "busy until (s)");
    cli_table_real(t, stack_s(l.busy_until_ns));
    for (size_t i = 0; i < fs->var.n && l.state != STACK_NONE; i++) {
        bool operation = i == STACK_VAR_OPERATION && l.var[i] >= 0 && l.var[i] < STACK_OPS;

        cli_table_text(t, i < 5 ? published[i] : fs->var.v[i]);
        if (operation)
            cli_table_text(t, stack_operation_names[l.var[i]]);
        else
            cli_table_int(t, l.var[i]);
    }
    cli_table_close(t);
}

static void agents(const struct session *s)
{
    static const struct cli_column columns[] = {
        {"agent", NULL}, {"state", NULL}, {"queue", NULL}, {"busy_until_s", "busy until (s)"}};
    const struct step_opts *o = s->call->opts;
    struct cli_table *t =
        cli_table_open(s->call->out, o->json ? CLI_AS_JSON : CLI_AS_TEXT, columns, 4);

    for (uint32_t i = 0; i < stack_engine_nodes(engine(s)); i++) {
        struct stack_look l;

        stack_engine_look(engine(s), i, &l);
        cli_table_text(t, stack_node_name(&s->what, i).s);
        cli_table_text(t, l.state == STACK_NONE ? "idle" : stack_state_text(s->sim->fs, l.state).s);
        cli_table_int(t, l.queued);
        cli_table_real(t, stack_s(l.busy_until_ns));
    }
    cli_table_close(t);
}

static bool again(struct session *s, const struct stack_step_command *c, struct wr_err *err)
{
    struct stack_opts before = s->opts;

    if (c->servers)
        s->opts.servers = c->servers;
    if (c->tasks)
        s->opts.tasks = c->tasks;
    if (!begin(s, err)) {
        s->opts = before;
        return false;
    }
    tell_setup(s);
    return true;
}

/* False: the command could not be done; the session goes on. */
static bool obey(struct session *s, const struct stack_step_command *c, struct wr_err *err)
{
    s->until_state = STACK_NONE;
    s->until_node = UINT32_MAX;
    switch (c->what) {
    case STEP_SETUP:
        return again(s, c, err);
    case STEP_GO:
        return run(s, UINT64_MAX, STACK_FOREVER, false, err);
    case STEP_EVENTS:
        return run(s, c->n, STACK_FOREVER, true, err);
    case STEP_UNTIL_TIME:
        return run(s, UINT64_MAX, c->t_ns, false, err);
    case STEP_UNTIL_STATE:
        s->until_state = c->state;
        return run(s, UINT64_MAX, STACK_FOREVER, false, err);
    case STEP_UNTIL_AGENT:
        s->until_node = c->node;
        return run(s, UINT64_MAX, STACK_FOREVER, false, err);
    case STEP_LOOK:
        look(s, c->node);
        return true;
    case STEP_AGENTS:
        agents(s);
        return true;
    case STEP_WHERE:
        tell_where(s);
        return true;
    case STEP_SPEED:
        s->speed = c->speed;
        return true;
    case STEP_TRACE:
        s->trace = c->on;
        return true;
    case STEP_HELP:
        fputs(stack_step_help(), s->call->out);
        return true;
    default:
        return true;
    }
}

/* A script ends at its first wrong line; at a terminal one may try again. */
static int converse(struct session *s, struct wr_err *err)
{
    bool terminal = isatty(STDIN_FILENO);
    char *line = NULL;
    size_t cap = 0;
    int status = 0;

    tell_setup(s);
    if (terminal)
        fputs("`help` shows the commands; Ctrl-C stops a run, at the prompt it ends\n",
              s->call->out);
    for (;;) {
        struct stack_step_command c;

        if (terminal)
            fputs("step> ", s->call->out);
        fflush(s->call->out);
        if (getline(&line, &cap, stdin) < 0)
            break;
        struct wr_err wrong = {0};
        bool ok =
            stack_step_parse(&c, line, s->sim->fs, s->sim->setup.clients, servers_of(s), &wrong);

        if (ok && c.what == STEP_QUIT)
            break;
        if (ok && obey(s, &c, &wrong))
            continue;
        if (!terminal) {
            *err = wrong;
            status = cli_error(err);
            break;
        }
        fprintf(stderr, "%s\n", wrong.text);
    }
    free(line);
    return status;
}

static int step_main(const struct cli_call *call, struct wr_err *err)
{
    const struct step_opts *o = call->opts;
    struct session s = {
        .call = call, .opts = o->s, .until_state = STACK_NONE, .until_node = UINT32_MAX};

    if (!begin(&s, err))
        return cli_error(err);
    int status = converse(&s, err);

    end(s.sim);
    wr_vec_fini(&s.what.visit);
    wr_vec_fini(&s.what.sent);
    return status;
}

const struct cli_verb cli_stack_step = {
    .name = "step",
    .summary = "go through a run event by event, and look at agents",
    .args = "-- ior [OPTIONS]",
    .min_args = 1,
    .max_args = -1,
    .about =
        "Reads commands, a line each, from the terminal or from a pipe: step one event, run until "
        "a time, a state or an agent, and look at what an agent does: its state, its queue, its "
        "variables. `help` lists them. Ctrl-C stops what runs and keeps the session; at the prompt "
        "it ends it. A script ends at the first line that is wrong.",
    .examples = "weir stack step --servers 3 -- ior -a MPIIO -b 1m -t 1m -F\n"
                "printf 'until time 1ms\\nlook client 0\\n' | "
                "weir stack step -- ior -a MPIIO\n",
    .opts = step_rows,
    .opts_size = sizeof(struct step_opts),
    .main = step_main,
};
