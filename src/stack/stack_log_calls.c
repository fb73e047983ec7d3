/* stack_log_calls.c -- the calls of MPI-IO and ADIO, their own time, and IOR's output.
 *
 * Called by stack_log.c for adio.N, mpi.N, ior.out and rows of functions.csv. Calls are kept until
 * their run is complete; stack_log_nest() then subtracts inner calls from outer ones and forgets
 * them.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stack_log_priv.h"

/* Clocks of calls and of state machines differ by time zones: multiples of a quarter of an hour. */
#define CALLS_ZONE_S 900
/* An inner call may end this much after the outer one: the clocks count microseconds. */
#define CALLS_CLOCK_SLACK_S 3e-6
/* Samples of data may lie this much outside of the span of reads or writes. */
#define CALLS_SPAN_SLACK_S 1e-3
/* IOR prints rounded numbers: bandwidth times time gives the bytes to half a percent. */
#define CALLS_BW_ROUNDING 0.005
/* Two processes began apart when more than this lies between them: less is scheduling. */
#define CALLS_APART_S 0.02
/* Processes that each is compared with, so that n processes cost n and not n^2. */
enum { CALLS_MOST_PAIRS = 64 };

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

static void calls_add_data(struct stack_log *log, const struct stack_data_call *c)
{
    assert(c->test > 0 && c->took >= 0);
    wr_vec_push(&log->io, (struct stack_io_sample){c->writes, c->test, c->took, c->moved, 0});
    double *span = log->span[c->writes];

    span[0] = span[1] > 0 ? fmin(span[0], c->start) : c->start;
    span[1] = fmax(span[1], c->start + c->took);
    for (size_t i = log->start.n; i-- > 0;) { /* calls of a process stand together */
        struct stack_start *s = &log->start.v[i];

        if (s->node != c->node || s->writes != c->writes)
            continue;
        s->start = fmin(s->start, c->start);
        s->calls++;
        return;
    }
    wr_vec_push(&log->start, (struct stack_start){c->node, c->writes, c->start, c->took, 1});
}

/* ADIO's calls are the accesses; MPI-IO's stand for them in runs that have none of those. */
bool log_data(struct stack_log *log, uint32_t node, const char *function, double start, double took,
              uint64_t moved, uint16_t test)
{
    static const struct {
        const char *name;
        bool writes, mpi;
    } calls[] = {
        {"ADIOI_PVFS2_WriteContig", true, false}, {"ADIOI_PVFS2_ReadContig", false, false},
        {"MPI_File_write_at", true, true},        {"MPI_File_write_at_c", true, true},
        {"MPI_File_read_at", false, true},        {"MPI_File_read_at_c", false, true},
    };

    for (size_t i = 0; moved && i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(function, calls[i].name))
            continue;
        struct stack_data_call c = {calls[i].writes, test, node, start, took, moved};

        if (calls[i].mpi)
            wr_vec_push(&log->mpi, c);
        else
            calls_add_data(log, &c);
        return true;
    }
    return false;
}

static void calls_use_mpi_data(struct stack_log *log)
{
    bool missing = log->io.n == log->io_before;

    for (size_t i = 0; missing && i < log->mpi.n; i++)
        calls_add_data(log, &log->mpi.v[i]);
    log->mpi.n = 0;
}

static void calls_add_line(struct stack_log *log, uint32_t node, uint16_t test,
                           const char *function, double start, double took, uint64_t bytes)
{
    uint8_t io;
    uint16_t m = log_function(log->fs, function, &io);

    log_data(log, node, function, start, took, bytes, test);
    if (m == STACK_NONE) {
        log->unknown++;
        return;
    }
    wr_vec_push(&log->op, (struct stack_op_sample){m, io, test, took, 0});
    wr_vec_push(&log->call, (struct stack_call_at){.node = node,
                                                   .function = m,
                                                   .layer = log->fs->machine.v[m].layer_id,
                                                   .start = start,
                                                   .took = took});
}

void stack_log_calls(struct stack_log *log, const char *name, char *text, uint32_t node,
                     uint16_t test)
{
    uint64_t n = 0;

    assert(test > 0);
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
            stack_log_fault(log, &log->cut, name, n, strlen(line) + 1,
                            "no start, duration, layer, function and bytes");
        else if (!(took >= 0) || !(took < 1e9) || !(start >= 0) || !(start < 1e12))
            stack_log_fault(log, &log->jumps, name, n, 1, "a call that takes no time that can be");
        else
            calls_add_line(log, node, test, function, start, took, bytes);
    }
}

/* --- calls inside calls ------------------------------------------------------------- */

static int calls_compare_starts(const void *a, const void *b)
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
static double calls_align_clocks(struct stack_log *log)
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
    double shift = round((calls - states) / CALLS_ZONE_S) * CALLS_ZONE_S;

    for (size_t i = 0; i < log->call.n; i++)
        if (log->call.v[i].by_day)
            log->call.v[i].start += shift;
    return shift;
}

/* A sample that moves data while processes write and none reads belongs to a write. A sample whose
 * direction is unknown counts for both. */
static void calls_set_directions(struct stack_log *log, double shift)
{
    for (size_t i = 0; i < log->moving.n; i++) {
        const struct stack_moving *m = &log->moving.v[i];
        bool in[2];

        for (int w = 0; w < 2; w++)
            in[w] = log->span[w][1] > 0 && m->t + shift >= log->span[w][0] - CALLS_SPAN_SLACK_S &&
                    m->t + shift <= log->span[w][1] + CALLS_SPAN_SLACK_S;
        *(m->op ? &log->op.v[m->at].io : &log->state.v[m->at].io) = in[0] == in[1] ? 2 : in[1];
    }
    log->moving.n = 0;
    memset(log->span, 0, sizeof log->span);
}

static void calls_add_state(struct stack_log *log, uint16_t state, double s, uint16_t test)
{
    wr_vec_push(&log->state, (struct stack_sample){.state = state,
                                                   .io = 2,
                                                   .test = test,
                                                   .exec_us = (float)(s * 1e6),
                                                   .wait_us = -1,
                                                   .between_us = -1});
}

/* A library's call is its first and its last state; its own time is shared between those that
 * work. */
static void calls_add_own_time(struct stack_log *log, const struct stack_call_at *c, double own,
                               uint16_t test)
{
    const struct stack_fs *fs = log->fs;

    assert(own >= 0);
    for (size_t m = 0; m < fs->machine.n; m++) {
        const struct stack_machine *k = &fs->machine.v[m];
        uint16_t at[2] = {k->first, (uint16_t)(k->first + k->nstates - 1)};
        int first = fs->state.v[at[0]].does == STACK_RUN ? 0 : 1;
        int n = at[0] == at[1] ? 1 : 2 - first;

        if (k->function_id != c->function || k->kind != STACK_CALL_OF)
            continue;
        for (int i = first; i < first + n && i < 2; i++)
            calls_add_state(log, at[i], own / n, test);
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
static void calls_add_start_slope(struct stack_log *log, const struct stack_start *a,
                                  const struct stack_start *b, uint16_t test)
{
    double by = b->start - a->start, slope = (b->took - a->took) / by;

    if (a->writes == b->writes && a->calls == 1 && b->calls == 1 && fabs(by) > CALLS_APART_S &&
        isfinite(slope))
        wr_vec_push(&log->start_slope, (struct stack_start_slope){test, slope});
}

/* From the first to the last that began to read, and to write. */
static void calls_add_stagger(struct stack_log *log, uint16_t test)
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
            wr_vec_push(&log->stagger, (struct stack_stagger){w, test, last - first});
    }
    for (size_t i = 0; i < log->start.n; i++)
        for (size_t j = i + 1; j < log->start.n && j < i + CALLS_MOST_PAIRS; j++)
            calls_add_start_slope(log, &log->start.v[i], &log->start.v[j], test);
    log->start.n = 0;
}

/* Whether a library's call goes on into a layer below. */
static bool calls_goes_deeper(const struct stack_fs *fs, uint16_t function)
{
    for (size_t m = 0; m < fs->machine.n; m++) {
        const struct stack_machine *k = &fs->machine.v[m];

        for (uint16_t i = k->first; k->function_id == function && i < k->first + k->nstates; i++)
            if (fs->state.v[i].does == STACK_JUMP_TO || fs->state.v[i].does == STACK_FORK)
                return true;
    }
    return false;
}

static uint16_t calls_deepest_layer(const struct stack_log *log)
{
    uint16_t deepest = 0;

    for (size_t i = 0; i < log->call.n; i++)
        deepest = log->call.v[i].layer > deepest ? log->call.v[i].layer : deepest;
    return deepest;
}

void stack_log_nest(struct stack_log *log, uint16_t test)
{
    uint16_t mount = STACK_NONE, start = stack_start_state(log->fs, &mount);

    calls_use_mpi_data(log);
    calls_add_stagger(log, test);
    calls_set_directions(log, calls_align_clocks(log));
    if (log->call.n)
        qsort(log->call.v, log->call.n, sizeof *log->call.v, calls_compare_starts);
    uint16_t deepest = calls_deepest_layer(log);

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
            if (d->layer <= c->layer || d->start + d->took > end + CALLS_CLOCK_SLACK_S)
                continue;
            if (below == UINT16_MAX)
                below = d->layer;
            own -= d->layer == below ? d->took : 0;
            starts |= d->layer == below && d->function == mount;
        }
        /* what is below was not written down: what is its own is not known */
        if (below == UINT16_MAX && c->layer == deepest && calls_goes_deeper(log->fs, c->function))
            continue;
        if (starts && start != STACK_NONE)
            calls_add_state(log, start, own > 0 ? own : 0, test);
        else
            calls_add_own_time(log, c, own > 0 ? own : 0, test);
    }
    log->call.n = 0;
}

/* --- IOR's output ------------------------------------------------------------------- */

static bool calls_ior_row(const char *line, struct stack_ior_row *ret)
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

static bool calls_begins_with(const char *line, const char *with)
{
    return !strncmp(line, with, strlen(with));
}

/* bw = bytes / total, as IOR has it; a row that says otherwise is of another run or damaged. */
static bool calls_check_ior_row(const struct stack_ior_row *r, uint32_t tasks, const char *name,
                                uint64_t n, struct wr_err *err)
{
    double bytes = r->bw_MiBps * r->total_s * 1048576;
    double one = (double)r->block_b * tasks, segments = round(bytes / one);

    if (!tasks || one <= 0 || segments < 1 ||
        fabs(bytes / one - segments) > CALLS_BW_ROUNDING * segments + 0.01)
        return wr_fail(err, WR_INPUT,
                       "%s:%llu: bandwidth times time are %.0f bytes, which %u tasks of %.0f do "
                       "not make; is it the output of one run?",
                       name, (unsigned long long)n, bytes, tasks, (double)r->block_b);
    return true;
}

/* "Command line        : <path>/ior -a MPIIO ..."; the name of the file is not of interest. */
static void calls_ior_command(struct stack_ior_out *ret, const char *line)
{
    const char *c = strstr(line, "ior ");

    if (c)
        snprintf(ret->command, sizeof ret->command, "%s", c);
    ret->command[strcspn(ret->command, "\r")] = 0;
}

bool stack_log_ior(struct stack_log *log, const char *name, char *text, struct stack_ior_out *ret,
                   struct wr_err *err)
{
    struct stack_ior_out out = {0};
    uint64_t n = 0;
    bool table = false;
    size_t rows = 0;

    for (char *line; (line = strsep(&text, "\n"));) {
        struct stack_ior_row row;
        unsigned k;

        n++;
        log->lines++;
        if (sscanf(line, "tasks : %u", &k) == 1)
            out.tasks = k;
        if (calls_begins_with(line, "Command line"))
            calls_ior_command(&out, line);
        if (calls_begins_with(line, "access  "))
            table = true;
        if (calls_begins_with(line, "Summary of all"))
            table = false;
        if (!table || (!calls_begins_with(line, "write ") && !calls_begins_with(line, "read ")))
            continue;
        if (!text || !calls_ior_row(line, &row)) {
            stack_log_fault(log, &log->cut, name, n, strlen(line) + 1,
                            "a row of IOR that is not whole");
            continue;
        }
        if (!calls_check_ior_row(&row, out.tasks, name, n, err))
            return false;
        out.bytes = row.block_b;
        out.transfer = row.xfer_b;
        wr_vec_push(&log->ior, row);
        rows++;
    }
    if (!rows)
        return wr_fail(err, WR_INPUT,
                       "%s has no row of IOR's table; give the whole output of a run that ended",
                       name);
    *ret = out;
    return true;
}
