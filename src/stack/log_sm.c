/* log_sm.c -- logs of state machines: a visit of a state is a pair of lines of one address.
 *
 *   [D 18:32:21.296610] [SM Entering]: (0x5600) client_io_sm:init (status: 0)
 *   [D 18:32:21.296614] [SM Exiting]: (0x5600) client_io_sm:init (error code: 0), (action:
 * COMPLETE)
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "log_priv.h"

enum { OPEN_STATES = 8 };

/* Threads write their lines a little late; a clock that was set goes back further. */
#define THREADS_S 0.05
/* Nobody works that long in one state, however busy the machine: a clock was set. */
#define LONGEST_WORK_S 60.0

/* An activity is an address in the log; at most one is open under it. */
struct open_act {
    uint64_t address;
    uint32_t depth;
    uint16_t state[OPEN_STATES]; /* entered and not left, one inside another */
    double t_enter[OPEN_STATES];
    uint8_t phase[OPEN_STATES];
    int64_t last; /* the sample that waits or was left, or -1 */
    bool waits;
    double t_exit, t_begin;
};

struct reader {
    struct stack_log *log;
    const char *name;
    bool server;
    uint32_t node;
    uint64_t bytes, line;
    double last, days;
    uint16_t mount; /* the function of a process's first operation, that it does once */
    uint32_t mounts;
    uint64_t again; /* the line of the second one */
    WR_VEC(struct open_act) act;
};

static struct open_act *act_of(struct reader *r, uint64_t address)
{
    for (size_t i = r->act.n; i-- > 0;)
        if (r->act.v[i].address == address)
            return &r->act.v[i];
    wr_vec_push(&r->act, (struct open_act){.address = address, .last = -1, .t_begin = NAN});
    return &r->act.v[r->act.n - 1];
}

/* Is somebody in the middle of a state? Who waits has left the one it waits in. */
static bool somebody_works(const struct reader *r)
{
    for (size_t i = 0; i < r->act.n; i++)
        if (r->act.v[i].depth && r->act.v[i].last < 0)
            return true;
    return false;
}

/* What was open cannot be timed. */
static void jump(struct reader *r, double to, const char *what)
{
    log_fault(r->log, &r->log->jumps, r->name, r->line, 4, what);
    r->act.n = 0;
    r->last = to;
}

/* "[D 18:32:21.296610] "; the day may end meanwhile. */
static bool time_of(struct reader *r, const char **line, double *ret)
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
        jump(r, t, "the clock jumps back");
    else if (t > r->last + LONGEST_WORK_S && somebody_works(r))
        jump(r, t, "the clock jumps ahead");
    r->last = fmax(t, r->last);
    *line += n;
    *ret = t;
    return true;
}

/* "(0x55..) machine:state" */
static bool name_of(const char **line, uint64_t *address, const char **name, size_t *len)
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

static void entering(struct reader *r, struct open_act *a, uint16_t state, uint8_t phase, double t)
{
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

/* The activity is over: an operation of a client, or a request. Reads and writes look alike here;
 * the calls above will tell them apart. */
static void ended(struct reader *r, struct open_act *a, uint16_t state, double t)
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
                                                          .bytes = r->bytes,
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

static void exiting(struct reader *r, struct open_act *a, uint16_t state, const char *rest,
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
                                                          .bytes = r->bytes,
                                                          .t_s = t - exec,
                                                          .exec_us = (float)(exec * 1e6),
                                                          .wait_us = -1,
                                                          .between_us = -1});
        a->last = (int64_t)r->log->state.n - 1;
        a->waits = deferred;
        a->t_exit = t;
    }
    if (!strncmp(action, "TERMINATE", 9))
        ended(r, a, state, t);
}

/* "(status: 4)": who enters is told the tag of what arrived. */
static uint8_t phase_of(const char *rest)
{
    static const char status[] = "(status: ";
    const char *tag = strstr(rest, status);

    return tag ? stack_phase(strtoull(tag + sizeof status - 1, NULL, 10)) : 0;
}

static void log_line(struct reader *r, const char *line)
{
    static const char enter[] = "[SM Entering]: ", leave[] = "[SM Exiting]: ";
    const char *begin = line;
    uint64_t address;
    const char *name;
    size_t len;
    double t;

    r->log->lines++;
    r->line++;
    if (!time_of(r, &line, &t))
        return;
    bool enters = !strncmp(line, enter, sizeof enter - 1);

    if (!enters && strncmp(line, leave, sizeof leave - 1))
        return;
    line += enters ? sizeof enter - 1 : sizeof leave - 1;
    bool whole = name_of(&line, &address, &name, &len);

    if (!whole || (!enters && (!strstr(line, "(action: ") || !strrchr(line, ')')))) {
        log_fault(r->log, &r->log->cut, r->name, r->line, strlen(begin) + 1,
                  "the line stops in its middle");
        return;
    }
    struct open_act *a = act_of(r, address);
    uint16_t state = stack_find_state(r->log->fs, name, len);

    r->log->unknown += state == STACK_NONE;
    if (enters)
        entering(r, a, state, phase_of(line), t);
    else
        exiting(r, a, state, line, t);
}

static uint16_t mount_of(const struct stack_fs *fs)
{
    uint16_t operation = STACK_NONE;

    stack_start_state(fs, &operation);
    return operation;
}

bool stack_log_text(struct stack_log *log, const char *name, char *text, size_t len, bool server,
                    uint32_t node, uint64_t bytes, struct wr_err *err)
{
    struct reader r = {.log = log,
                       .name = name,
                       .server = server,
                       .node = node,
                       .bytes = bytes,
                       .mount = mount_of(log->fs)};
    char *end = text + len;

    while (text < end) {
        char *stop = memchr(text, '\n', (size_t)(end - text));

        if (!stop) {
            log_fault(log, &log->cut, name, r.line + 1, (size_t)(end - text) + 1,
                      "the log stops in the middle of a line");
            break;
        }
        *stop = 0;
        log_line(&r, text);
        text = stop + 1;
    }
    wr_vec_fini(&r.act);
    if (!r.again)
        return true;
    return wr_fail(err, WR_INPUT,
                   "%s:%" PRIu64 ":1: a process mounts the file system a second time: logs of "
                   "different runs are mixed; keep each in a directory of its own",
                   name, r.again);
}
