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
#include "stack/stack_step.h"

struct step_opts {
    struct stack_opts s;
    bool json;
};

static const struct cli_opt step_rows[] = {
    STACK_OPTS(struct step_opts),
    CLI_JSON(struct step_opts, json),
    CLI_OPT_END,
};

/* One event carries a node through several states, some of them later than the event: what it does
 * until it has come to the last one. */
struct ahead {
    struct stack_look look;
    uint64_t to_ns; /* when it leaves look.state */
};

/* What one event did, and what the run is to stop at. */
struct session {
    const struct cli_call *call;
    struct stack_opts opts;
    struct stack_sim *sim;
    struct stack_trace what;    /* the last event's visits and messages */
    WR_VEC(struct ahead) ahead; /* visits that end after the last event */
    uint64_t at_ns;             /* a time without an event that the session has come to */
    bool over, trace;
    double speed;
    uint16_t until_state;
    uint32_t until_node;
    bool met;
    uint64_t met_ns; /* when the state was entered that was asked for */
};

static struct stack_engine *step_engine(const struct session *s)
{
    return stack_drive_engine(s->sim->drive);
}

/* The time that the session has come to. */
static uint64_t step_now_us(const struct session *s)
{
    uint64_t event = stack_engine_now(step_engine(s));

    return s->at_ns > event ? s->at_ns : event;
}

static void step_record_ahead(struct session *s, const struct stack_visit *v)
{
    struct ahead a = {.to_ns = v->t_ns + v->exec_ns + v->wait_ns};

    if (a.to_ns <= stack_engine_now(step_engine(s)) ||
        s->what.fs->machine.v[s->what.fs->state.v[v->state].machine].kind == STACK_LAYER)
        return;
    stack_engine_look(step_engine(s), v->node, &a.look);
    a.look.state = v->state;
    a.look.since_ns = v->t_ns;
    wr_vec_push(&s->ahead, a);
}

static void step_drop_passed(struct session *s)
{
    uint64_t event = stack_engine_now(step_engine(s));
    size_t n = 0;

    for (size_t i = 0; i < s->ahead.n; i++)
        if (s->ahead.v[i].to_ns > event)
            s->ahead.v[n++] = s->ahead.v[i];
    s->ahead.n = n;
}

/* An agent as it is now: in the last state that it has entered by now. */
static struct stack_look step_agent_now(const struct session *s, uint32_t node)
{
    struct stack_look l;
    const struct ahead *best = NULL;

    stack_engine_look(step_engine(s), node, &l);
    for (size_t i = 0; i < s->ahead.n; i++) {
        const struct ahead *a = &s->ahead.v[i];

        if (a->look.node == node && a->look.since_ns <= step_now_us(s) &&
            (!best || a->look.since_ns >= best->look.since_ns))
            best = a;
    }
    bool there = l.state != STACK_NONE && l.since_ns <= step_now_us(s);

    if (!best || (there && l.since_ns >= best->look.since_ns) ||
        (best->to_ns <= step_now_us(s) && (there || l.state == STACK_NONE)))
        return l;
    uint64_t until = l.busy_until_ns;

    l = best->look;
    l.busy_until_ns = until;
    return l;
}

static void step_on_visit(void *ctx, const struct stack_visit *v)
{
    struct session *s = ctx;

    step_record_ahead(s, v);
    wr_vec_push(&s->what.visit, *v);
    if (s->met || (v->state != s->until_state && v->node != s->until_node))
        return;
    s->met = true;
    s->met_ns = v->t_ns;
}

static void step_on_message(void *ctx, const struct stack_sent *sent)
{
    struct session *s = ctx;

    wr_vec_push(&s->what.sent, *sent);
}

static void step_end(struct stack_sim *sim)
{
    if (sim)
        cli_stack_close(sim);
    free(sim);
}

static bool step_begin(struct session *s, struct wr_err *err)
{
    struct stack_hooks hooks = {.ctx = s, .visit = step_on_visit, .message = step_on_message};
    struct stack_sim *sim = wr_zalloc(1, sizeof *sim); /* the run keeps pointers into it */

    if (!cli_stack_open(sim, &s->opts, s->call, &hooks, err)) {
        free(sim);
        return false;
    }
    step_end(s->sim);
    s->sim = sim;
    s->over = false;
    s->at_ns = 0;
    s->ahead.n = 0;
    s->what.fs = sim->fs;
    s->what.clients = sim->setup.clients;
    stack_drive_begin(sim->drive);
    return true;
}

static uint32_t step_servers_of(const struct session *s)
{
    return stack_engine_nodes(step_engine(s)) - s->sim->setup.clients;
}

static void step_print_setup(const struct session *s)
{
    fprintf(s->call->out, "%s; times: %s\n%u clients, %u servers, %" PRIu64 " bytes in all\n",
            s->sim->fs->title, s->sim->timings->title, s->sim->setup.clients, step_servers_of(s),
            s->sim->setup.all_b);
}

static void step_print_position(const struct session *s)
{
    fprintf(s->call->out, "%.6f s, %" PRIu64 " events%s\n", stack_s(step_now_us(s)),
            stack_engine_events(step_engine(s)), s->over ? "; the run is over" : "");
}

static void step_print_event(struct session *s, bool loud)
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
static void step_keep_pace(const struct session *s, const struct timespec *began, uint64_t from_ns)
{
    struct timespec now;

    if (!(s->speed > 0))
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double real =
        (double)(now.tv_sec - began->tv_sec) + 1e-9 * (double)(now.tv_nsec - began->tv_nsec);
    double ahead = stack_s(stack_engine_now(step_engine(s)) - from_ns) / s->speed - real;

    while (ahead > 0.001 && !wr_interrupted()) {
        double pause = ahead < 0.1 ? ahead : 0.1;

        nanosleep(&(struct timespec){0, (long)(pause * 1e9)}, NULL);
        ahead -= pause;
    }
}

/* Events until `until_ns`, at most `n`, or until what was asked for is met. */
static void step_run_events(struct session *s, uint64_t n, uint64_t until_ns, bool loud)
{
    struct timespec began;
    uint64_t from = stack_engine_now(step_engine(s));
    bool met = s->met;

    clock_gettime(CLOCK_MONOTONIC, &began);
    for (uint64_t i = 0; i < n && !s->over && s->met == met && !wr_interrupted(); i++) {
        uint64_t before = stack_engine_events(step_engine(s)), was;

        do { /* the fabric between two events of agents is none of the user's steps */
            was = stack_engine_progress(step_engine(s));
            s->over = !stack_engine_run(step_engine(s), until_ns, 1);
        } while (stack_engine_events(step_engine(s)) == before && !s->over && !wr_interrupted() &&
                 stack_engine_progress(step_engine(s)) > was);
        if (stack_engine_events(step_engine(s)) == before && !s->over) {
            s->at_ns = until_ns; /* nothing more happens until then */
            break;
        }
        step_drop_passed(s);
        step_print_event(s, loud || s->trace);
        step_keep_pace(s, &began, from);
    }
}

static bool step_run_until(struct session *s, uint64_t n, uint64_t until_ns, bool loud,
                           struct wr_err *err)
{
    s->met = false;
    wr_interrupt_catch();
    step_run_events(s, n, until_ns, loud);
    if (s->met && s->met_ns > stack_engine_now(step_engine(s)))
        step_run_events(s, UINT64_MAX, s->met_ns, loud); /* what others do before */
    bool stopped = wr_interrupted();

    wr_interrupt_release();
    uint16_t stuck = stack_engine_stuck(step_engine(s));

    if (stuck != STACK_NONE)
        return wr_fail(err, WR_INPUT,
                       "the machines run in a circle through %s; `setup` begins again",
                       stack_state_text(s->sim->fs, stuck).s);
    if (stopped)
        fprintf(s->call->out, "stopped; go on with `go` or `step`\n");
    step_print_position(s);
    return true;
}

static void step_print_agent(const struct session *s, uint32_t node)
{
    static const char *const published[] = {"ID", "DATA_SYSTEM", "OPERATION", "REQUEST_IN_PROCESS",
                                            "COD_OPERATION"};
    static const struct cli_column columns[] = {{"variable", NULL}, {"value", NULL}};
    const struct step_opts *o = s->call->opts;
    const struct stack_fs *fs = s->sim->fs;
    struct stack_look l = step_agent_now(s, node);
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

static void step_list_agents(const struct session *s)
{
    static const struct cli_column columns[] = {
        {"agent", NULL}, {"state", NULL}, {"queue", NULL}, {"busy_until_s", "busy until (s)"}};
    const struct step_opts *o = s->call->opts;
    struct cli_table *t =
        cli_table_open(s->call->out, o->json ? CLI_AS_JSON : CLI_AS_TEXT, columns, 4);

    for (uint32_t i = 0; i < stack_engine_nodes(step_engine(s)); i++) {
        struct stack_look l = step_agent_now(s, i);

        cli_table_text(t, stack_node_name(&s->what, i).s);
        cli_table_text(t, l.state == STACK_NONE ? "idle" : stack_state_text(s->sim->fs, l.state).s);
        cli_table_int(t, l.queued);
        cli_table_real(t, stack_s(l.busy_until_ns));
    }
    cli_table_close(t);
}

static bool step_restart(struct session *s, const struct stack_step_command *c, struct wr_err *err)
{
    struct stack_opts before = s->opts;

    if (c->servers)
        s->opts.servers = c->servers;
    if (c->tasks)
        s->opts.tasks = c->tasks;
    if (!step_begin(s, err)) {
        s->opts = before;
        return false;
    }
    step_print_setup(s);
    return true;
}

/* False: the command could not be done; the session goes on. */
static bool step_execute(struct session *s, const struct stack_step_command *c, struct wr_err *err)
{
    s->until_state = STACK_NONE;
    s->until_node = UINT32_MAX;
    switch (c->what) {
    case STEP_SETUP:
        return step_restart(s, c, err);
    case STEP_GO:
        return step_run_until(s, UINT64_MAX, STACK_FOREVER, false, err);
    case STEP_EVENTS:
        return step_run_until(s, c->n, STACK_FOREVER, true, err);
    case STEP_UNTIL_TIME:
        return step_run_until(s, UINT64_MAX, c->t_ns, false, err);
    case STEP_UNTIL_STATE:
        s->until_state = c->state;
        return step_run_until(s, UINT64_MAX, STACK_FOREVER, false, err);
    case STEP_UNTIL_AGENT:
        s->until_node = c->node;
        return step_run_until(s, UINT64_MAX, STACK_FOREVER, false, err);
    case STEP_LOOK:
        step_print_agent(s, c->node);
        return true;
    case STEP_AGENTS:
        step_list_agents(s);
        return true;
    case STEP_WHERE:
        step_print_position(s);
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
static int step_read_commands(struct session *s, struct wr_err *err)
{
    bool terminal = isatty(STDIN_FILENO);
    char *line = NULL;
    size_t cap = 0;
    int status = 0;

    step_print_setup(s);
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
        bool ok = stack_step_parse(&c, line, s->sim->fs, s->sim->setup.clients, step_servers_of(s),
                                   &wrong);

        if (ok && c.what == STEP_QUIT)
            break;
        if (ok && step_execute(s, &c, &wrong))
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

    if (!step_begin(&s, err))
        return cli_error(err);
    int status = step_read_commands(&s, err);

    step_end(s.sim);
    wr_vec_fini(&s.what.visit);
    wr_vec_fini(&s.what.sent);
    wr_vec_fini(&s.ahead);
    return status;
}

const struct cli_verb cli_stack_step = {
    .name = "step",
    .goes_on = true,
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
