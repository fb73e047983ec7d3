/* log_calls.c -- the calls of MPI-IO and ADIO, what they take themselves, and what IOR printed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "log_priv.h"

uint16_t log_function(const struct stack_fs *fs, const char *name, uint8_t *ret_io)
{
    static const struct {
        const char *tail;
        uint8_t io;
    } tails[] = {{"", 2}, {"_c", 2}, {"_read", 0}, {"_write", 1}};
    char stem[128];
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        size_t k = strlen(tails[i].tail);

        if (n >= sizeof stem || n <= k || strcmp(name + n - k, tails[i].tail))
            continue;
        memcpy(stem, name, n - k);
        stem[n - k] = 0;
        uint16_t m = stack_find_function(fs, stem);

        if (m == STACK_NONE)
            continue;
        *ret_io = tails[i].io;
        return m;
    }
    return STACK_NONE;
}

bool log_data(struct stack_log *log, uint32_t node, const char *function, double start, double took,
              uint64_t moved, uint64_t bytes)
{
    bool writes = !strcmp(function, "ADIOI_PVFS2_WriteContig");

    if ((!writes && strcmp(function, "ADIOI_PVFS2_ReadContig")) || !moved)
        return false;
    wr_vec_push(&log->io, (struct stack_io_sample){writes, bytes, took, moved, 0});
    double *span = log->span[writes];

    span[0] = span[1] > 0 ? fmin(span[0], start) : start;
    span[1] = fmax(span[1], start + took);
    for (size_t i = log->start.n; i-- > 0;) { /* calls of a process stand together */
        struct stack_start *s = &log->start.v[i];

        if (s->node != node || s->writes != writes)
            continue;
        s->start = fmin(s->start, start);
        s->calls++;
        return true;
    }
    wr_vec_push(&log->start, (struct stack_start){node, writes, start, took, 1});
    return true;
}

static void call_line(struct stack_log *log, uint32_t node, uint64_t size, const char *function,
                      double start, double took, uint64_t bytes)
{
    uint8_t io;
    uint16_t m = log_function(log->fs, function, &io);

    log_data(log, node, function, start, took, bytes, size);
    if (m == STACK_NONE) {
        log->unknown++;
        return;
    }
    wr_vec_push(&log->op, (struct stack_op_sample){m, io, size, took, 0});
    wr_vec_push(&log->call, (struct stack_call_at){.node = node,
                                                   .function = m,
                                                   .layer = log->fs->machine.v[m].layer_id,
                                                   .start = start,
                                                   .took = took});
}

void stack_log_calls(struct stack_log *log, const char *name, char *text, uint32_t node,
                     uint64_t size)
{
    uint64_t n = 0;

    for (char *line; (line = strsep(&text, "\n"));) {
        char layer[32], function[64];
        double start, took;
        unsigned long long bytes;

        n++;
        if (!*line && !text)
            break;
        log->lines++;
        if (!text ||
            sscanf(line, "%lf %lf %31s %63s %llu", &start, &took, layer, function, &bytes) != 5)
            log_fault(log, &log->cut, name, n, strlen(line) + 1,
                      "no start, duration, layer, function and bytes");
        else if (!(took >= 0) || !(took < 1e9) || !(start >= 0) || !(start < 1e12))
            log_fault(log, &log->jumps, name, n, 1, "a call that takes no time that can be");
        else
            call_line(log, node, size, function, start, took, bytes);
    }
}

/* --- calls inside calls ------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const struct stack_call_at *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->layer < y->layer ? -1 : x->layer > y->layer;
}

/* The clocks of state machines and calls differ by whole quarters of an hour: time zones. NaN: only
 * one of them is there. */
static double same_clock(struct stack_log *log)
{
    double calls = NAN, states = NAN;

    for (size_t i = 0; i < log->call.n; i++) {
        const struct stack_call_at *c = &log->call.v[i];
        double *first = c->by_day ? &states : &calls;

        if (isnan(*first) || c->start < *first)
            *first = c->start;
    }
    if (isnan(calls) || isnan(states))
        return NAN;
    double shift = round((calls - states) / 900) * 900;

    for (size_t i = 0; i < log->call.n; i++)
        if (log->call.v[i].by_day)
            log->call.v[i].start += shift;
    return shift;
}

/* What moves data while processes write and none reads is of a write. A state of which nobody can
 * tell counts for both. */
static void take_directions(struct stack_log *log, double shift)
{
    static const double slack = 1e-3;

    for (size_t i = 0; i < log->moving.n; i++) {
        const struct stack_moving *m = &log->moving.v[i];
        bool in[2];

        for (int w = 0; w < 2; w++)
            in[w] = log->span[w][1] > 0 && m->t + shift >= log->span[w][0] - slack &&
                    m->t + shift <= log->span[w][1] + slack;
        *(m->op ? &log->op.v[m->at].io : &log->state.v[m->at].io) = in[0] == in[1] ? 2 : in[1];
    }
    log->moving.n = 0;
    memset(log->span, 0, sizeof log->span);
}

static void state_took(struct stack_log *log, uint16_t state, double s, uint64_t bytes)
{
    wr_vec_push(&log->state, (struct stack_sample){.state = state,
                                                   .io = 2,
                                                   .bytes = bytes,
                                                   .exec_us = (float)(s * 1e6),
                                                   .wait_us = -1,
                                                   .between_us = -1});
}

/* A library's call is its first and its last state; its own time is shared between those that
 * work. */
static void own_time(struct stack_log *log, const struct stack_call_at *c, double own,
                     uint64_t bytes)
{
    const struct stack_fs *fs = log->fs;

    for (size_t m = 0; m < fs->machine.n; m++) {
        const struct stack_machine *k = &fs->machine.v[m];
        uint16_t at[2] = {k->first, (uint16_t)(k->first + k->nstates - 1)};
        int first = fs->state.v[at[0]].does == STACK_RUN ? 0 : 1;
        int n = at[0] == at[1] ? 1 : 2 - first;

        if (k->function_id != c->function || k->kind != STACK_CALL_OF)
            continue;
        for (int i = first; i < first + n && i < 2; i++)
            state_took(log, at[i], own / n, bytes);
    }
}

uint16_t stack_start_state(const struct stack_fs *fs, uint16_t *ret_operation)
{
    uint16_t m = fs->operation[STACK_MPIIO][STACK_OP_MOUNT];

    for (int deep = 0; m != STACK_NONE && deep < STACK_DEEPEST; deep++) {
        uint16_t first = fs->machine.v[m].first, below = STACK_NONE;

        for (uint16_t i = first; i < first + fs->machine.v[m].nstates; i++) {
            const struct stack_state *s = &fs->state.v[i];

            if (s->does == STACK_JUMP_TO)
                below = s->target;
            if (s->does != STACK_FORK || !s->nfork || i < first + 2 ||
                fs->state.v[i - 1].does != STACK_RUN)
                continue;
            *ret_operation = fs->machine.v[fs->fork.v[s->fork].machine].function_id;
            return (uint16_t)(i - 1);
        }
        m = below;
    }
    return STACK_NONE;
}

/* Two processes that began so far apart that it shows. */
static void take_lean(struct stack_log *log, const struct stack_start *a,
                      const struct stack_start *b, uint64_t bytes)
{
    static const double apart = 0.02;
    double by = b->start - a->start, slope = (b->took - a->took) / by;

    if (a->writes == b->writes && a->calls == 1 && b->calls == 1 && fabs(by) > apart &&
        isfinite(slope))
        wr_vec_push(&log->lean, (struct stack_lean){bytes, slope});
}

/* From the first to the last that began to read, and to write. */
static void take_stagger(struct stack_log *log, uint64_t bytes)
{
    for (int w = 0; w < 2; w++) {
        double first = INFINITY, last = -INFINITY;
        size_t n = 0;

        for (size_t i = 0; i < log->start.n; i++)
            if (log->start.v[i].writes == w) {
                first = fmin(first, log->start.v[i].start);
                last = fmax(last, log->start.v[i].start);
                n++;
            }
        if (n > 1 && last >= first && isfinite(last - first))
            wr_vec_push(&log->stagger, (struct stack_stagger){w, bytes, last - first});
    }
    for (size_t i = 0; i < log->start.n; i++)
        for (size_t j = i + 1; j < log->start.n && j < i + 64; j++)
            take_lean(log, &log->start.v[i], &log->start.v[j], bytes);
    log->start.n = 0;
}

void stack_log_nest(struct stack_log *log, uint64_t bytes)
{
    static const double slack = 3e-6; /* of clocks that count microseconds */

    uint16_t mount = STACK_NONE, start = stack_start_state(log->fs, &mount);

    take_stagger(log, bytes);
    take_directions(log, same_clock(log));
    if (log->call.n)
        qsort(log->call.v, log->call.n, sizeof *log->call.v, by_start);
    for (size_t i = 0; i < log->call.n; i++) {
        const struct stack_call_at *c = &log->call.v[i];
        double end = c->start + c->took, own = c->took;
        uint16_t below = UINT16_MAX;
        bool starts = false;

        if (log->fs->machine.v[c->function].kind != STACK_CALL_OF)
            continue;
        for (size_t j = i + 1; j < log->call.n && log->call.v[j].node == c->node; j++) {
            const struct stack_call_at *d = &log->call.v[j];

            if (d->start > end)
                break;
            if (d->layer <= c->layer || d->start + d->took > end + slack)
                continue;
            if (below == UINT16_MAX)
                below = d->layer;
            own -= d->layer == below ? d->took : 0;
            starts |= d->layer == below && d->function == mount;
        }
        if (starts && start != STACK_NONE)
            state_took(log, start, own > 0 ? own : 0, bytes);
        else
            own_time(log, c, own > 0 ? own : 0, bytes);
    }
    log->call.n = 0;
}

/* --- IOR's output ------------------------------------------------------------------- */

static bool ior_row(const char *line, struct stack_ior_row *ret)
{
    char access[16];
    double v[9];
    long long iter;

    if (sscanf(line, "%15s %lf %lf %lf %lf %lf %lf %lf %lf %lf %lld", access, &v[0], &v[1], &v[2],
               &v[3], &v[4], &v[5], &v[6], &v[7], &v[8], &iter) != 11)
        return false;
    bool writes = !strcmp(access, "write");

    if (!writes && strcmp(access, "read"))
        return false;
    for (int i = 0; i < 9; i++)
        if (!(v[i] >= 0) || v[i] > 1e15)
            return false;
    *ret = (struct stack_ior_row){writes,
                                  (uint64_t)(v[3] * 1024 + 0.5),
                                  (uint64_t)(v[4] * 1024 + 0.5),
                                  v[0],
                                  v[1],
                                  v[2],
                                  v[5],
                                  v[6],
                                  v[7],
                                  v[8],
                                  iter};
    return true;
}

static bool begins(const char *line, const char *with)
{
    return !strncmp(line, with, strlen(with));
}

/* bw = bytes / total, as IOR has it; a row that says otherwise is of another run or damaged. */
static bool sound_row(const struct stack_ior_row *r, uint32_t tasks, const char *name, uint64_t n,
                      struct wr_err *err)
{
    double bytes = r->bw_MiBps * r->total_s * 1048576;
    double one = (double)r->block_b * tasks, segments = round(bytes / one);

    if (!tasks || one <= 0 || segments < 1 ||
        fabs(bytes / one - segments) > 0.005 * segments + 0.01)
        return wr_fail(err, WR_INPUT,
                       "%s:%llu: bandwidth times time are %.0f bytes, which %u tasks of %.0f do "
                       "not make; is it the output of one run?",
                       name, (unsigned long long)n, bytes, tasks, (double)r->block_b);
    return true;
}

bool stack_log_ior(struct stack_log *log, const char *name, char *text, uint64_t *ret_bytes,
                   uint32_t *ret_tasks, struct wr_err *err)
{
    uint64_t n = 0, bytes = 0;
    uint32_t tasks = 0;
    bool table = false;
    size_t rows = 0;

    for (char *line; (line = strsep(&text, "\n"));) {
        struct stack_ior_row row;
        unsigned k;

        n++;
        log->lines++;
        if (sscanf(line, "tasks : %u", &k) == 1)
            tasks = k;
        if (begins(line, "access  "))
            table = true;
        if (begins(line, "Summary of all"))
            table = false;
        if (!table || (!begins(line, "write ") && !begins(line, "read ")))
            continue;
        if (!text || !ior_row(line, &row)) {
            log_fault(log, &log->cut, name, n, strlen(line) + 1, "a row of IOR that is not whole");
            continue;
        }
        if (!sound_row(&row, tasks, name, n, err))
            return false;
        bytes = row.block_b;
        wr_vec_push(&log->ior, row);
        rows++;
    }
    if (!rows)
        return wr_fail(err, WR_INPUT,
                       "%s has no row of IOR's table; give the whole output of a run that ended",
                       name);
    *ret_bytes = bytes;
    *ret_tasks = tasks;
    return true;
}
