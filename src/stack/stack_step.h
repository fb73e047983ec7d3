/* stack_step.h -- the commands of `weir stack step`, one line each.
 *
 *   setup [servers N] [tasks N]      from the beginning, perhaps with other numbers
 *   go                               to the end
 *   step [N]                         one event, or N
 *   until time 1.5s                  until a time, a visit of a state, something at an agent
 *   until state client_io_sm:init
 *   until agent server 2
 *   look client 0                    what an agent is doing: state, queue, variables
 *   agents, where, speed 0.1, trace on, help, quit
 */
#ifndef STACK_STEP_H
#define STACK_STEP_H

#include "stack/fs.h"

enum stack_step {
    STEP_NOTHING, /* an empty line, or a remark after # */
    STEP_SETUP,
    STEP_GO,
    STEP_EVENTS,
    STEP_UNTIL_TIME,
    STEP_UNTIL_STATE,
    STEP_UNTIL_AGENT,
    STEP_LOOK,
    STEP_AGENTS,
    STEP_WHERE,
    STEP_SPEED,
    STEP_TRACE,
    STEP_HELP,
    STEP_QUIT,
};

struct stack_step_command {
    enum stack_step what;
    uint64_t n;              /* events */
    uint64_t t_ns;           /* a time, from the beginning */
    uint16_t state;          /* to be visited */
    uint32_t node;           /* an agent's; clients first */
    uint32_t servers, tasks; /* of a setup; 0: as they are */
    double speed;            /* simulated seconds per second; 0: as fast as it goes */
    bool on;                 /* trace */
};

/* `clients` and `servers` are those of the run, to know which agents there are. */
bool stack_step_parse(struct stack_step_command *ret, const char *line, const struct stack_fs *fs,
                      uint32_t clients, uint32_t servers, struct wr_err *err);

/* What can be said, a line for each command. */
const char *stack_step_help(void);

#endif
