/* stack_log_sm.c -- logs of state machines: a visit of a state is a pair of lines of one address.
 *
 *   [D 18:32:21.296610] [SM Entering]: (0x5600) client_io_sm:init (status: 0)
 *   [D 18:32:21.296614] [SM Exiting]: (0x5600) client_io_sm:init (error code: 0), (action:
 * COMPLETE)
 *
 * Called by stack_log.c for each client.N.log and server.N.log. A line that is cut off or a clock
 * that jumps is counted as a fault; what was open then has no time.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stack_log_priv.h"

enum { OPEN_STATES = 8 };

/* Threads write their lines a little late; a clock that was set goes back further. */
#define THREADS_S 0.05
/* No state works that long, however busy the machine: the clock was set. */
#define LONGEST_WORK_S 60.0

/* An activity is an address in the log; at most one is open under it. */
struct open_activity {
    uint64_t address;            /* as printed; reused after the activity has ended */
    uint32_t depth;              /* of the arrays */
    uint16_t state[OPEN_STATES]; /* entered and not left, one inside another */
    double t_enter[OPEN_STATES]; /* s of the day */
    uint8_t phase[OPEN_STATES];  /* of what arrived: the tag on entering */
    int64_t last;                /* the sample that waits or was left, or -1 */
    bool waits;                  /* that sample does; else it was left */
    double t_exit, t_begin;      /* when; when the activity began, NaN: not known */
};

/* A log file that is being read. The first five fields are set up. */
struct reader {
    struct stack_log *log;
    const char *name; /* of the file */
    bool server;
    uint32_t node; /* N of client.N.log */
    uint16_t test;
    uint64_t line;     /* number of the line being read */
    double last, days; /* s: the latest time so far; of the midnights passed */
    uint16_t mount;    /* the function of a process's first operation, that it does once */
    uint32_t mounts;
    uint64_t again; /* the line of the second one */
    WR_VEC(struct open_activity) activity;
};

static struct open_activity *sm_activity(struct reader *r, uint64_t address)
{
    for (size_t i = r->activity.n; i-- > 0;)
        if (r->activity.v[i].address == address)
            return &r->activity.v[i];
    wr_vec_push(&r->activity,
                (struct open_activity){.address = address, .last = -1, .t_begin = NAN});
    return &r->activity.v[r->activity.n - 1];
}

/* Whether an activity is between the begin and the end of a state. A waiting activity has left its
 * state. */
static bool sm_any_state_open(const struct reader *r)
{
    for (size_t i = 0; i < r->activity.n; i++)
        if (r->activity.v[i].depth && r->activity.v[i].last < 0)
            return true;
    return false;
}

/* What was open cannot be timed. */
static void sm_clock_jump(struct reader *r, double to, const char *what)
{
    stack_log_fault(r->log, &r->log->jumps, r->name, r->line, 4, what);
    r->activity.n = 0;
    r->last = to;
}

/* "[D 18:32:21.296610] "; the day may end meanwhile. */
static bool sm_parse_time(struct reader *r, const char **line, double *ret)
{
    unsigned h, m;
    int n = 0;
    double s;

    if (sscanf(*line, "[%*c %2u:%2u:%lf] %n", &h, &m, &s, &n) != 3 || !n)
        return false;
    double t = h * 3600.0 + m * 60.0 + s + r->days;

    if (t < r->last - 43200) {
        r->days += 86400;
        t += 86400;
    }
    if (t < r->last - THREADS_S)
        sm_clock_jump(r, t, "the clock jumps back");
    else if (t > r->last + LONGEST_WORK_S && sm_any_state_open(r))
        sm_clock_jump(r, t, "the clock jumps ahead");
    r->last = fmax(t, r->last);
    *line += n;
    *ret = t;
    return true;
}

/* "(0x55..) machine:state" */
static bool sm_parse_name(const char **line, uint64_t *address, const char **name, size_t *len)
{
    char *end;

    if (strncmp(*line, "(0x", 3))
        return false;
    *address = strtoull(*line + 3, &end, 16);
    if (*end != ')' || end[1] != ' ')
        return false;
    *name = end + 2;
    *len = strcspn(*name, " ");
    *line = *name + *len;
    return **line == ' ';
}

static void sm_entering(struct reader *r, struct open_activity *a, uint16_t state, uint8_t phase,
                        double t)
{
    assert(a->depth <= OPEN_STATES);
    if (a->last >= 0) {
        struct stack_sample *s = &r->log->state.v[a->last];

        s->took_us = (float)(fmax(t - s->t_s, 0) * 1e6);
        *(a->waits ? &s->wait_us : &s->between_us) = (float)(fmax(t - a->t_exit, 0) * 1e6);
        a->last = -1;
    }
    /* a request begins when it is taken, not when its place was made ready */
    if (isnan(a->t_begin) ||
        (state != STACK_NONE && r->log->fs->state.v[state].does == STACK_DISPATCH))
        a->t_begin = t;
    if (a->depth == OPEN_STATES)
        a->depth = 0;
    a->state[a->depth] = state;
    a->phase[a->depth] = phase;
    a->t_enter[a->depth++] = t;
}

/* The activity is over: an operation of a client, or a request. The direction of its data is set
 * later, from the calls above. */
static void sm_activity_ended(struct reader *r, struct open_activity *a, uint16_t state, double t)
{
    const struct stack_machine *m =
        state == STACK_NONE ? NULL : &r->log->fs->machine.v[r->log->fs->state.v[state].machine];

    if (m && !r->server && m->function_id == r->mount && ++r->mounts == 2)
        r->again = r->line;
    if (m && !isnan(a->t_begin)) {
        if (m->moves)
            wr_vec_push(&r->log->moving, (struct stack_moving){true, r->log->op.n, a->t_begin});
        wr_vec_push(&r->log->op, (struct stack_op_sample){.function = m->function_id,
                                                          .io = 2,
                                                          .test = r->test,
                                                          .seconds = fmax(t - a->t_begin, 0)});
        if (!r->server)
            wr_vec_push(&r->log->call, (struct stack_call_at){.node = r->node,
                                                              .function = m->function_id,
                                                              .layer = m->layer_id,
                                                              .by_day = true,
                                                              .start = a->t_begin,
                                                              .took = fmax(t - a->t_begin, 0)});
    }
    a->t_begin = NAN;
    a->depth = 0;
    a->last = -1;
}

/* An address is reused: the begin of the activity identifies it. */
static uint32_t sm_operation_id(const struct reader *r, const struct open_activity *a)
{
    uint64_t us = isnan(a->t_begin) ? 0 : (uint64_t)(a->t_begin * 1e6);
    uint64_t h = (a->address ^ us * 0x9e3779b97f4a7c15ull) + r->node * 0xff51afd7ed558ccdull;

    return (uint32_t)(h ^ h >> 32) | 1;
}

static void sm_exiting(struct reader *r, struct open_activity *a, uint16_t state, const char *rest,
                       double t)
{
    static const char error[] = "(error code: ";
    const char *action = strstr(rest, "(action: ") + 9, *code = strstr(rest, error);

    while (a->depth && a->state[a->depth - 1] != state)
        a->depth--;
    if (!a->depth)
        return;
    double exec = fmax(t - a->t_enter[--a->depth], 0);
    bool deferred = !strncmp(action, "DEFERRED", 8);

    if (state != STACK_NONE) {
        uint8_t io = stack_way(&r->log->fs->state.v[state], 2,
                               code ? strtoll(code + sizeof error - 1, NULL, 10) : 0);

        if (r->log->fs->machine.v[r->log->fs->state.v[state].machine].moves)
            wr_vec_push(&r->log->moving, (struct stack_moving){false, r->log->state.n, t});
        wr_vec_push(&r->log->state, (struct stack_sample){.state = state,
                                                          .deferred = deferred,
                                                          .server = r->server,
                                                          .io = io,
                                                          .phase = a->phase[a->depth],
                                                          .test = r->test,
                                                          .op = sm_operation_id(r, a),
                                                          .t_s = t - exec,
                                                          .exec_us = (float)(exec * 1e6),
                                                          .wait_us = -1,
                                                          .between_us = -1});
        a->last = (int64_t)r->log->state.n - 1;
        a->waits = deferred;
        a->t_exit = t;
    }
    if (!strncmp(action, "TERMINATE", 9))
        sm_activity_ended(r, a, state, t);
}

/* "(status: 4)": the tag of what arrived. */
static uint8_t sm_parse_phase(const char *rest)
{
    static const char status[] = "(status: ";
    const char *tag = strstr(rest, status);

    return tag ? stack_phase(strtoull(tag + sizeof status - 1, NULL, 10)) : 0;
}

static void sm_line(struct reader *r, const char *line)
{
    static const char enter[] = "[SM Entering]: ", leave[] = "[SM Exiting]: ";
    const char *begin = line;
    uint64_t address;
    const char *name;
    size_t len;
    double t;

    r->log->lines++;
    r->line++;
    if (!sm_parse_time(r, &line, &t))
        return;
    bool enters = !strncmp(line, enter, sizeof enter - 1);

    if (!enters && strncmp(line, leave, sizeof leave - 1))
        return;
    line += enters ? sizeof enter - 1 : sizeof leave - 1;
    bool whole = sm_parse_name(&line, &address, &name, &len);

    if (!whole || (!enters && (!strstr(line, "(action: ") || !strrchr(line, ')')))) {
        stack_log_fault(r->log, &r->log->cut, r->name, r->line, strlen(begin) + 1,
                        "the line stops in its middle");
        return;
    }
    struct open_activity *a = sm_activity(r, address);
    uint16_t state = stack_find_state(r->log->fs, name, len);

    r->log->unknown += state == STACK_NONE;
    if (enters)
        sm_entering(r, a, state, sm_parse_phase(line), t);
    else
        sm_exiting(r, a, state, line, t);
}

static uint16_t sm_mount_function(const struct stack_fs *fs)
{
    uint16_t operation = STACK_NONE;

    stack_start_state(fs, &operation);
    return operation;
}

bool stack_log_text(struct stack_log *log, const char *name, char *text, size_t len, bool server,
                    uint32_t node, uint16_t test, struct wr_err *err)
{
    struct reader r = {.log = log,
                       .name = name,
                       .server = server,
                       .node = node,
                       .test = test,
                       .mount = sm_mount_function(log->fs)};
    char *end = text + len;

    assert(log->fs && test > 0);
    while (text < end) {
        char *stop = memchr(text, '\n', (size_t)(end - text));

        if (!stop) {
            stack_log_fault(log, &log->cut, name, r.line + 1, (size_t)(end - text) + 1,
                            "the log stops in the middle of a line");
            break;
        }
        *stop = 0;
        sm_line(&r, text);
        text = stop + 1;
    }
    wr_vec_fini(&r.activity);
    if (!r.again)
        return true;
    return wr_fail(err, WR_INPUT,
                   "%s:%" PRIu64 ":1: a process mounts the file system a second time: logs of "
                   "different runs are mixed; keep each in a directory of its own",
                   name, r.again);
}
