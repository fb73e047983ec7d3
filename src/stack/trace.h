/* trace.h -- everything that happened, kept: visits of states, activities, messages.
 *
 * The hooks of engine.h with memory behind them. For one operation or a small run: a visit is
 * seventy bytes.
 */
#ifndef STACK_TRACE_H
#define STACK_TRACE_H

#include <stdio.h>

#include "stack/engine.h"

struct stack_trace {
    const struct stack_fs *fs;
    uint32_t clients;
    uint64_t most; /* visits; 0: all */
    bool full;
    bool assumed;                  /* its times are not measured: pictures and texts say so */
    const struct stack_laws *laws; /* or NULL: whose times are assumed in laws that are measured */
    WR_VEC(struct stack_visit) visit;
    WR_VEC(struct stack_activity) act; /* by number */
    WR_VEC(struct stack_sent) sent;
};

struct stack_hooks stack_trace_hooks(struct stack_trace *t);
void stack_trace_fini(struct stack_trace *t);

/* Two who want to hear of everything; lives as long as the hooks are used. */
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
