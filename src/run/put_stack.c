/* put_stack.c -- facts of a simulated file-system stack: states, messages, phases, parameters,
 * steps. */
#include "writer_priv.h"

static void put_stack_bind_texts(sqlite3_stmt *s, int at, const char *const *text, int n)
{
    for (int i = 0; i < n; i++)
        sqlite3_bind_text(s, at + i, text[i], -1, SQLITE_STATIC);
}

static void put_stack_bind_counts(sqlite3_stmt *s, int at, const uint64_t *count, int n)
{
    for (int i = 0; i < n; i++)
        sqlite3_bind_int64(s, at + i, count[i] > INT64_MAX ? INT64_MAX : (int64_t)count[i]);
}

static void put_stack_bind_ints(sqlite3_stmt *s, int at, const int64_t *value, int n)
{
    for (int i = 0; i < n; i++)
        if (value[i] == RUN_NULL)
            sqlite3_bind_null(s, at + i);
        else
            sqlite3_bind_int64(s, at + i, value[i]);
}

bool run_put_stack_state(struct run *run, const struct run_stack_state *f, struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_STACK_STATE, err);

    if (!s)
        return false;
    put_stack_bind_texts(
        s, 1, (const char *const[]){f->side, f->layer, f->agent, f->machine, f->state, f->class},
        6);
    put_stack_bind_counts(s, 7,
                          (const uint64_t[]){f->layer_at, f->visits, f->work_ns, f->wait_ns,
                                             f->own_ns, f->between_ns, f->measured},
                          7);
    return run_step(run, RUN_S_STACK_STATE, err);
}

bool run_put_stack_message(struct run *run, const struct run_stack_message *m, struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_STACK_MESSAGE, err);

    if (!s)
        return false;
    put_stack_bind_texts(s, 1, &m->message, 1);
    put_stack_bind_counts(
        s, 2, (const uint64_t[]){m->requests, m->request_b, m->answers, m->answer_b}, 4);
    return run_step(run, RUN_S_STACK_MESSAGE, err);
}

bool run_put_stack_phase(struct run *run, const struct run_stack_phase *p, struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_STACK_PHASE, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, p->phase);
    put_stack_bind_texts(s, 2, &p->access, 1);
    put_stack_bind_ints(s, 3, &p->rep, 1);
    put_stack_bind_counts(s, 4,
                          (const uint64_t[]){p->transfers, p->bytes, p->open_ns, p->io_ns,
                                             p->close_ns, p->total_ns, p->busy_ns},
                          7);
    return run_step(run, RUN_S_STACK_PHASE, err);
}

bool run_put_stack_param(struct run *run, const char *name, int64_t value, const char *source,
                         const char *help, struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_STACK_PARAM, err);

    if (!s)
        return false;
    put_stack_bind_texts(s, 1, &name, 1);
    put_stack_bind_ints(s, 2, &value, 1);
    put_stack_bind_texts(s, 3, (const char *const[]){source, help}, 2);
    return run_step(run, RUN_S_STACK_PARAM, err);
}

bool run_put_stack_step(struct run *run, const struct run_stack_step *f, struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_STACK_STEP, err);

    if (!s)
        return false;
    put_stack_bind_texts(s, 1, &f->operation, 1);
    put_stack_bind_counts(s, 2, &f->t_ns, 1);
    put_stack_bind_texts(s, 3, &f->kind, 1);
    put_stack_bind_ints(s, 4, (const int64_t[]){f->node, f->peer}, 2);
    put_stack_bind_texts(s, 6, (const char *const[]){f->layer, f->what, f->class}, 3);
    put_stack_bind_ints(s, 9, (const int64_t[]){f->work_ns, f->wait_ns, f->bytes}, 3);
    put_stack_bind_texts(s, 12, &f->side, 1);
    put_stack_bind_ints(s, 13, (const int64_t[]){f->op, f->parent}, 2);
    return run_step(run, RUN_S_STACK_STEP, err);
}

bool run_put_stack_check(struct run *run, const struct run_stack_check *c, struct wr_err *err)
{
    sqlite3_stmt *s = run_begin(run, RUN_S_STACK_CHECK, err);
    const double value[] = {c->p10_s, c->measured_s, c->p90_s, c->simulated_s, c->low_s, c->high_s};

    if (!s)
        return false;
    put_stack_bind_texts(s, 1, (const char *const[]){c->kind, c->name}, 2);
    put_stack_bind_counts(s, 3, (const uint64_t[]){c->bytes, c->n}, 2);
    for (int i = 0; i < 6; i++)
        sqlite3_bind_double(s, 5 + i, value[i]); /* NaN becomes NULL */
    return run_step(run, RUN_S_STACK_CHECK, err);
}
