/* stack_trace.h -- a trace in memory: visits of states, activities, messages.
 *
 * The hooks of stack_engine.h with memory behind them. For one operation or a small run: a visit is
 * seventy bytes.
 */
#ifndef STACK_TRACE_H
#define STACK_TRACE_H

#include <stdio.h>

#include "stack/stack_engine.h"

/* A recording. Up to `timings` set by the caller; the hooks fill the rest. */
struct stack_trace {
    const struct stack_fs *fs;
    uint32_t clients;                    /* nodes from here on are servers */
    uint64_t most;                       /* visits; 0: all */
    bool full;                           /* there were more */
    bool assumed;                        /* its times are assumed: pictures and texts say so */
    const char *beyond;                  /* or why they are extrapolated, or NULL */
    const struct stack_timings *timings; /* or NULL: marks states whose times are assumed */
    WR_VEC(struct stack_visit) visit;
    WR_VEC(struct stack_activity) activity; /* by number */
    WR_VEC(struct stack_sent) sent;
};

struct stack_hooks stack_trace_hooks(struct stack_trace *t);
void stack_trace_fini(struct stack_trace *t);

/* Two sets of hooks in one; must live as long as the hooks are used. */
struct stack_both {
    struct stack_hooks of[2];
};
struct stack_hooks stack_both_hooks(struct stack_both *both);

/* Visits of each activity together, in the order activities began, as the file system's own log
 * would have them: CSV with the columns
 * run,side,node,op_seq,op_machine,io,step,machine,state,user_tag,action,return_code,exec_us,wait_us.
 * `calls`: with the libraries above. */
void stack_trace_csv(struct stack_trace *t, const char *run, bool calls, FILE *out);

const char *stack_action_name(uint8_t action);

#endif
