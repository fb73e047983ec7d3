/* stack_trace.c -- keeps visits, activities and messages in memory, and writes visits as CSV.
 *
 * Its functions are the hooks of an engine (stack_engine.h) while a simulation runs; draw.c and
 * stack_trace_csv() read the trace afterwards.
 */
#include "stack/stack_trace.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

static void trace_on_visit(void *ctx, const struct stack_visit *v)
{
    struct stack_trace *t = ctx;

    if (t->most && t->visit.n >= t->most)
        t->full = true;
    else
        wr_vec_push(&t->visit, *v);
}

static void trace_put_activity(struct stack_trace *t, uint32_t op, const struct stack_activity *a)
{
    while (t->activity.n <= op)
        wr_vec_push(&t->activity, (struct stack_activity){.machine = STACK_NONE});
    uint32_t parent =
        t->activity.v[op].machine == STACK_NONE ? a->parent : t->activity.v[op].parent;

    t->activity.v[op] = *a;
    t->activity.v[op].parent = parent; /* the requester may have ended before */
}

static void trace_on_activity(void *ctx, uint32_t op, const struct stack_activity *a)
{
    struct stack_trace *t = ctx;

    if (!t->full)
        trace_put_activity(t, op, a);
}

static void trace_on_message(void *ctx, const struct stack_sent *sent)
{
    struct stack_trace *t = ctx;

    if (!t->full)
        wr_vec_push(&t->sent, *sent);
}

struct stack_hooks stack_trace_hooks(struct stack_trace *t)
{
    return (struct stack_hooks){
        .ctx = t,
        .visit = trace_on_visit,
        .begin = trace_on_activity,
        .end = trace_on_activity,
        .message = trace_on_message,
    };
}

#define CALL_HOOK(hook_, ...)                        \
    for (int i = 0; i < 2; i++)                      \
        if (((struct stack_both *)ctx)->of[i].hook_) \
    ((struct stack_both *)ctx)->of[i].hook_(((struct stack_both *)ctx)->of[i].ctx, __VA_ARGS__)

static void trace_both_visit(void *ctx, const struct stack_visit *v)
{
    CALL_HOOK(visit, v);
}

static void trace_both_begin(void *ctx, uint32_t op, const struct stack_activity *a)
{
    CALL_HOOK(begin, op, a);
}

static void trace_both_end(void *ctx, uint32_t op, const struct stack_activity *a)
{
    CALL_HOOK(end, op, a);
}

static void trace_both_message(void *ctx, const struct stack_sent *sent)
{
    CALL_HOOK(message, sent);
}

struct stack_hooks stack_both_hooks(struct stack_both *both)
{
    return (struct stack_hooks){.ctx = both,
                                .visit = trace_both_visit,
                                .begin = trace_both_begin,
                                .end = trace_both_end,
                                .message = trace_both_message};
}

void stack_trace_fini(struct stack_trace *t)
{
    wr_vec_fini(&t->visit);
    wr_vec_fini(&t->activity);
    wr_vec_fini(&t->sent);
}

const char *stack_action_name(uint8_t action)
{
    static const char *const names[] = {"COMPLETE", "DEFERRED", "TERMINATE"};

    assert(action < sizeof names / sizeof *names);
    return names[action];
}

struct order {
    uint32_t node, seq, op, at;
};

static int trace_compare_activities(const void *a, const void *b)
{
    const struct order *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void trace_csv_row(const struct stack_trace *t, const char *run, const struct stack_visit *v,
                          uint32_t step, FILE *out)
{
    assert(v->op < t->activity.n);
    const struct stack_fs *fs = t->fs;
    const struct stack_activity *a = &t->activity.v[v->op];
    static const char *const io[] = {"read", "write", ""};
    bool server = v->node >= t->clients;

    fprintf(out, "%s,%s,%u,%u,%s,%s,%u,%s,%s,%" PRId64 ",%s,%" PRId64 ",%.3f,%.3f\n", run,
            server ? "server" : "client", server ? v->node - t->clients : v->node, a->seq,
            fs->machine.v[a->machine].name, io[a->writes], step,
            fs->machine.v[fs->state.v[v->state].machine].name, fs->state_name.v[v->state], v->tag,
            stack_action_name(v->action), v->code, (double)v->exec_ns * 1e-3,
            (double)v->wait_ns * 1e-3);
}

void stack_trace_csv(struct stack_trace *t, const char *run, bool calls, FILE *out)
{
    struct order *o = wr_zalloc(t->visit.n + 1, sizeof *o);
    size_t n = 0;

    for (size_t i = 0; i < t->visit.n; i++) {
        const struct stack_visit *v = &t->visit.v[i];
        const struct stack_activity *a = &t->activity.v[v->op];

        uint8_t kind = t->fs->machine.v[t->fs->state.v[v->state].machine].kind;

        if (calls || (kind == STACK_MACHINE && t->fs->machine.v[a->machine].kind == STACK_MACHINE))
            o[n++] = (struct order){v->node, a->seq, v->op, (uint32_t)i};
    }
    qsort(o, n, sizeof *o, trace_compare_activities);
    fputs("run,side,node,op_seq,op_machine,io,step,machine,state,user_tag,action,return_code,"
          "exec_us,wait_us\n",
          out);
    uint32_t step = 0;

    for (size_t i = 0; i < n; i++) {
        step = i && o[i].op == o[i - 1].op ? step + 1 : 1;
        trace_csv_row(t, run, &t->visit.v[o[i].at], step, out);
    }
    free(o);
}
