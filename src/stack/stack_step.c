/* stack_step.c -- parses the commands of `weir stack step`.
 *
 * One function for each command, in a table; stack_step_parse() finds the command and calls it. The
 * verb executes what comes out. Nothing here changes a simulation.
 */
#include "stack/stack_step.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

enum { MOST_WORDS = 8, LONG_WORD = 200 };

struct words {
    char word[MOST_WORDS][LONG_WORD];
    size_t n;
};

static bool step_split_words(struct words *w, const char *line, struct wr_err *err)
{
    w->n = 0;
    for (;;) {
        line += strspn(line, " \t\r\n");
        size_t len = strcspn(line, " \t\r\n");

        if (!len || *line == '#')
            return true;
        if (len >= LONG_WORD || w->n == MOST_WORDS)
            return wr_fail(err, WR_INPUT, "this is too long for a command; `help` shows them");
        memcpy(w->word[w->n], line, len);
        w->word[w->n++][len] = 0;
        line += len;
    }
}

struct context {
    const struct stack_fs *fs;
    uint32_t clients, servers;
};

typedef bool reader(struct stack_step_command *c, const struct words *w, const struct context *x,
                    struct wr_err *err);

static bool step_parse_number(uint64_t *ret, const char *text, uint64_t least, uint64_t most,
                              struct wr_err *err)
{
    uint64_t v;

    if (!wr_parse_u64(&v, text, err) || v < least || v > most)
        return wr_fail(err, WR_INPUT, "\"%s\" is no number from %llu to %llu; give one",
                       wr_text_clip(text).s, (unsigned long long)least, (unsigned long long)most);
    *ret = v;
    return true;
}

static bool step_parse_plain(struct stack_step_command *c, const struct words *w,
                             const struct context *x, struct wr_err *err)
{
    (void)c;
    (void)x;
    return w->n == 1 || wr_fail(err, WR_INPUT, "%s takes nothing more; leave \"%s\" out",
                                w->word[0], wr_text_clip(w->word[1]).s);
}

static bool step_parse_setup(struct stack_step_command *c, const struct words *w,
                             const struct context *x, struct wr_err *err)
{
    (void)x;
    for (size_t i = 1; i < w->n; i += 2) {
        bool servers = !strcmp(w->word[i], "servers");
        uint64_t v;

        if ((!servers && strcmp(w->word[i], "tasks")) || i + 1 == w->n)
            return wr_fail(err, WR_INPUT,
                           "say setup, or setup servers N tasks N; \"%s\" is not understood",
                           wr_text_clip(w->word[i]).s);
        if (!step_parse_number(&v, w->word[i + 1], 1, 1000000, err))
            return false;
        *(servers ? &c->servers : &c->tasks) = (uint32_t)v;
    }
    return true;
}

static bool step_parse_events(struct stack_step_command *c, const struct words *w,
                              const struct context *x, struct wr_err *err)
{
    (void)x;
    c->n = 1;
    if (w->n > 2)
        return wr_fail(err, WR_INPUT, "say step, or step N");
    return w->n == 1 || step_parse_number(&c->n, w->word[1], 1, 1000000000, err);
}

/* "client 2" from word `at` on */
static bool step_parse_agent(struct stack_step_command *c, const struct words *w, size_t at,
                             const struct context *x, struct wr_err *err)
{
    bool server = at < w->n && !strcmp(w->word[at], "server");
    uint64_t v = 0;
    uint32_t most = server ? x->servers : x->clients;

    if (at >= w->n || w->n > at + 2 || (!server && strcmp(w->word[at], "client")))
        return wr_fail(err, WR_INPUT, "say which agent: client 0, or server 0");
    if (at + 1 < w->n && !step_parse_number(&v, w->word[at + 1], 0, most ? most - 1 : 0, err))
        return false;
    c->node = (uint32_t)v + (server ? x->clients : 0);
    return true;
}

static bool step_parse_look(struct stack_step_command *c, const struct words *w,
                            const struct context *x, struct wr_err *err)
{
    return step_parse_agent(c, w, 1, x, err);
}

static bool step_parse_until_state(struct stack_step_command *c, const char *name,
                                   const struct stack_fs *fs, struct wr_err *err)
{
    c->state = stack_find_state(fs, name, strlen(name));
    if (c->state != STACK_NONE)
        return true;
    struct stack_text best = stack_like_state(fs, name);

    return wr_fail(err, WR_INPUT, "%s has no state \"%s\"; %s%s%s", fs->name, wr_text_clip(name).s,
                   *best.s ? "did you mean " : "say machine:state", best.s, *best.s ? "?" : "");
}

static bool step_parse_until(struct stack_step_command *c, const struct words *w,
                             const struct context *x, struct wr_err *err)
{
    const char *what = w->n > 1 ? w->word[1] : "";
    double ps;

    if (!strcmp(what, "agent")) {
        c->what = STEP_UNTIL_AGENT;
        return step_parse_agent(c, w, 2, x, err);
    }
    if (w->n != 3 || (strcmp(what, "time") && strcmp(what, "state")))
        return wr_fail(err, WR_INPUT,
                       "say until time 1s, until state machine:state, or until agent server 0");
    if (!strcmp(what, "state")) {
        c->what = STEP_UNTIL_STATE;
        return step_parse_until_state(c, w->word[2], x->fs, err);
    }
    if (!wr_parse_time(&ps, w->word[2], err) || !(ps >= 0) || ps > 9e21)
        return wr_fail(err, WR_INPUT, "\"%s\" is no time; say 1.5s, 20ms or 300us",
                       wr_text_clip(w->word[2]).s);
    c->t_ns = (uint64_t)(ps * 1e-3);
    return true;
}

static bool step_parse_speed(struct stack_step_command *c, const struct words *w,
                             const struct context *x, struct wr_err *err)
{
    char *end = NULL;

    (void)x;
    if (w->n != 2)
        return wr_fail(err, WR_INPUT,
                       "say how many simulated seconds pass in one: speed 0.1; or speed max");
    if (!strcmp(w->word[1], "max")) {
        c->speed = 0;
        return true;
    }
    c->speed = strtod(w->word[1], &end);
    if (*end || !(c->speed >= 1e-9) || c->speed > 1e9)
        return wr_fail(err, WR_INPUT, "\"%s\" is no speed; give a number above 0, or max",
                       wr_text_clip(w->word[1]).s);
    return true;
}

static bool step_parse_trace(struct stack_step_command *c, const struct words *w,
                             const struct context *x, struct wr_err *err)
{
    (void)x;
    c->on = w->n == 2 && !strcmp(w->word[1], "on");
    if (w->n == 2 && (c->on || !strcmp(w->word[1], "off")))
        return true;
    return wr_fail(err, WR_INPUT, "say trace on, or trace off");
}

static const struct {
    const char *name;
    enum stack_step what;
    reader *read;
} commands[] = {
    {"setup", STEP_SETUP, step_parse_setup},      {"go", STEP_GO, step_parse_plain},
    {"step", STEP_EVENTS, step_parse_events},     {"s", STEP_EVENTS, step_parse_events},
    {"until", STEP_UNTIL_TIME, step_parse_until}, {"look", STEP_LOOK, step_parse_look},
    {"agents", STEP_AGENTS, step_parse_plain},    {"where", STEP_WHERE, step_parse_plain},
    {"speed", STEP_SPEED, step_parse_speed},      {"trace", STEP_TRACE, step_parse_trace},
    {"help", STEP_HELP, step_parse_plain},        {"quit", STEP_QUIT, step_parse_plain},
    {"q", STEP_QUIT, step_parse_plain},
};

bool stack_step_parse(struct stack_step_command *ret, const char *line, const struct stack_fs *fs,
                      uint32_t clients, uint32_t servers, struct wr_err *err)
{
    struct stack_step_command c = {.state = STACK_NONE};
    struct context x = {fs, clients, servers};
    struct words w;

    assert(line && fs);
    if (!step_split_words(&w, line, err))
        return false;
    if (!w.n) {
        *ret = c;
        return true;
    }
    struct wr_nearest near = {.want = w.word[0]};

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        wr_nearest_try(&near, commands[i].name);
        if (strcmp(commands[i].name, w.word[0]))
            continue;
        c.what = commands[i].what;
        if (!commands[i].read(&c, &w, &x, err))
            return false;
        *ret = c;
        return true;
    }
    return wr_fail(err, WR_INPUT, "there is no command \"%s\"; %s%s%s", wr_text_clip(w.word[0]).s,
                   near.best ? "did you mean " : "`help` shows them", near.best ? near.best : "",
                   near.best ? "?" : "");
}

const char *stack_step_help(void)
{
    return "setup [servers N] [tasks N]   begin again, perhaps with other numbers\n"
           "go                            run to the end\n"
           "step [N]                      one event, or N; s is short for it\n"
           "until time T                  run until a time, as 20ms\n"
           "until state MACHINE:STATE     run until an agent is in this state\n"
           "until agent server N          run until something happens there; or client N\n"
           "look client N                 what an agent does: state, queue, variables\n"
           "agents                        all of them, a line each\n"
           "where                         the time, and what is left to do\n"
           "speed X                       X simulated seconds in a second; max: no waiting\n"
           "trace on|off                  print every state on the way\n"
           "quit                          end; q is short for it\n";
}
