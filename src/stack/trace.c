#include "stack/trace.h"

#include <inttypes.h>
#include <stdlib.h>

static void on_visit(void *ctx, const struct stack_visit *v)
{
    struct stack_trace *t = ctx;

    if (t->most && t->visit.n >= t->most)
        t->full = true;
    else
        wr_vec_push(&t->visit, *v);
}

static void put(struct stack_trace *t, uint32_t op, const struct stack_activity *a)
{
    while (t->act.n <= op)
        wr_vec_push(&t->act, (struct stack_activity){.machine = STACK_NONE});
    uint32_t parent = t->act.v[op].machine == STACK_NONE ? a->parent : t->act.v[op].parent;

    t->act.v[op] = *a;
    t->act.v[op].parent = parent; /* who asked may be gone by the end */
}

static void on_activity(void *ctx, uint32_t op, const struct stack_activity *a)
{
    struct stack_trace *t = ctx;

    if (!t->full)
        put(t, op, a);
}

static void on_message(void *ctx, const struct stack_sent *sent)
{
    struct stack_trace *t = ctx;

    if (!t->full)
        wr_vec_push(&t->sent, *sent);
}

struct stack_hooks stack_trace_hooks(struct stack_trace *t)
{
    return (struct stack_hooks){
        .ctx = t,
        .visit = on_visit,
        .begin = on_activity,
        .end = on_activity,
        .message = on_message,
    };
}

#define TELL(hook_, ...)                             \
    for (int i = 0; i < 2; i++)                      \
        if (((struct stack_both *)ctx)->of[i].hook_) \
    ((struct stack_both *)ctx)->of[i].hook_(((struct stack_both *)ctx)->of[i].ctx, __VA_ARGS__)

static void both_visit(void *ctx, const struct stack_visit *v)
{
    TELL(visit, v);
}

static void both_begin(void *ctx, uint32_t op, const struct stack_activity *a)
{
    TELL(begin, op, a);
}

static void both_end(void *ctx, uint32_t op, const struct stack_activity *a)
{
    TELL(end, op, a);
}

static void both_message(void *ctx, const struct stack_sent *sent)
{
    TELL(message, sent);
}

struct stack_hooks stack_both_hooks(struct stack_both *both)
{
    return (struct stack_hooks){.ctx = both,
                                .visit = both_visit,
                                .begin = both_begin,
                                .end = both_end,
                                .message = both_message};
}

void stack_trace_fini(struct stack_trace *t)
{
    wr_vec_fini(&t->visit);
    wr_vec_fini(&t->act);
    wr_vec_fini(&t->sent);
}

const char *stack_action_name(uint8_t action)
{
    static const char *const names[] = {"COMPLETE", "DEFERRED", "TERMINATE"};

    return names[action];
}

struct order {
    uint32_t node, seq, op, at;
};

static int by_activity(const void *a, const void *b)
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

static void row(const struct stack_trace *t, const char *run, const struct stack_visit *v,
                uint32_t step, FILE *out)
{
    const struct stack_fs *fs = t->fs;
    const struct stack_activity *a = &t->act.v[v->op];
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
        const struct stack_activity *a = &t->act.v[v->op];

        uint8_t kind = t->fs->machine.v[t->fs->state.v[v->state].machine].kind;

        if (calls || (kind == STACK_MACHINE && t->fs->machine.v[a->machine].kind == STACK_MACHINE))
            o[n++] = (struct order){v->node, a->seq, v->op, (uint32_t)i};
    }
    qsort(o, n, sizeof *o, by_activity);
    fputs("run,side,node,op_seq,op_machine,io,step,machine,state,user_tag,action,return_code,"
          "exec_us,wait_us\n",
          out);
    uint32_t step = 0;

    for (size_t i = 0; i < n; i++) {
        step = i && o[i].op == o[i - 1].op ? step + 1 : 1;
        row(t, run, &t->visit.v[o[i].at], step, out);
    }
    free(o);
}
