/* stack_log.c -- reads directories of logs, and tables that were made of logs.
 *
 * Finds out what a directory or table is, which test each run is of, and gives each file to its
 * reader: stack_log_sm.c, stack_log_calls.c, stack_log_runs.c. All samples end in struct stack_log.
 *
 * Invariant: every sample has the number of a test in log->test, from 1.
 */
#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "stack_log_priv.h"

enum { MOST_LOG = 1u << 30 };

/* --- text that may be compressed ---------------------------------------------------- */

static bool log_ends_with(const char *name, const char *tail)
{
    size_t n = strlen(name), k = strlen(tail);

    return n >= k && !strcmp(name + n - k, tail);
}

static bool log_read_text(struct wr_str *out, const char *path, struct wr_err *err)
{
    char *text;
    size_t len;

    if (!wr_file_read(&text, &len, path, MOST_LOG, err))
        return false;
    wr_str_add(out, "");
    wr_str_addn(out, text, len);
    free(text);
    return true;
}

/* --- a directory -------------------------------------------------------------------- */

/* What meta.json, or without it the names of the files and IOR's output, say of a run. */
struct place {
    uint32_t servers, clients;
    bool meta;                /* there is a meta.json */
    char *ior;                /* its command, or NULL */
    struct stack_ior_out out; /* of IOR */
    uint16_t test;            /* its number in the log */
    size_t ior_rows;          /* rows of IOR that it added */
};

static bool log_read_meta(struct place *p, const char *dir, struct wr_err *err)
{
    char path[4096];
    json_error_t why;

    snprintf(path, sizeof path, "%s/meta.json", dir);
    if (access(path, F_OK))
        return true;
    json_t *j = json_load_file(path, 0, &why);

    if (!j)
        return wr_fail(err, WR_INPUT, "%s:%d:%d: %s; mend it or take it away", path, why.line,
                       why.column, why.text);
    json_int_t servers = json_integer_value(json_object_get(j, "nservers"));
    json_int_t clients = json_integer_value(json_object_get(j, "nprocs"));

    const char *ior = json_string_value(json_object_get(j, "ior"));

    p->ior = ior ? wr_strdup(ior) : NULL;
    json_decref(j);
    if (servers < 1 || clients < 1 || servers > 1000000 || clients > 1000000)
        return wr_fail(err, WR_INPUT, "%s says no nservers and nprocs; add them", path);
    p->servers = (uint32_t)servers;
    p->clients = (uint32_t)clients;
    p->meta = true;
    return true;
}

static bool log_read_ior(struct stack_log *log, struct place *p, const char *dir,
                         struct wr_err *err)
{
    struct wr_str text = {0};
    char path[4096];

    snprintf(path, sizeof path, "%s/ior.out", dir);
    if (access(path, F_OK))
        return true;
    bool ok = log_read_text(&text, path, err) && stack_log_ior(log, path, text.s, &p->out, err);

    wr_str_fini(&text);
    if (!ok)
        return false;
    if (p->meta && p->clients != p->out.tasks)
        return wr_fail(err, WR_INPUT,
                       "%s is of %u tasks, meta.json of %u: these are different runs; keep each in "
                       "a directory of its own",
                       path, p->out.tasks, p->clients);
    p->clients = p->out.tasks;
    if (!p->ior && *p->out.command)
        p->ior = wr_strdup(p->out.command);
    return true;
}

/* The run's own command; without one what IOR's rows show, with a file for each process. */
static bool log_find_test(struct stack_log *log, struct place *p, const char *dir,
                          struct wr_err *err)
{
    char rows[160];

    snprintf(rows, sizeof rows, "ior -a MPIIO -b %" PRIu64 " -t %" PRIu64 " -F",
             p->out.bytes ? p->out.bytes : 1, p->out.transfer ? p->out.transfer : 1);
    if (!p->ior && !p->out.bytes)
        return wr_fail(err, WR_INPUT,
                       "%s has no IOR command: add meta.json with \"ior\", or ior.out", dir);
    if (!stack_log_test(log, dir, p->servers, p->clients, p->ior ? p->ior : rows, &p->test, err))
        return false;
    uint64_t block = stack_test_at(log, p->test)->bytes;

    if (p->meta && p->out.bytes && block % p->out.bytes)
        return wr_fail(err, WR_INPUT,
                       "%s/ior.out is of %" PRIu64 " bytes of each task, meta.json of %" PRIu64
                       ": these are different runs; keep each in a directory of its own",
                       dir, p->out.bytes, block);
    return true;
}

enum file_kind { OTHER, CLIENT_LOG, SERVER_LOG, CALLS };

/* "client.3.log.gz" */
static enum file_kind log_file_kind(const char *name, uint32_t *ret_node)
{
    static const struct {
        const char *begin;
        enum file_kind kind;
    } kinds[] = {
        {"client.", CLIENT_LOG}, {"server.", SERVER_LOG}, {"adio.", CALLS}, {"mpi.", CALLS}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].begin);
        char *end;

        if (strncmp(name, kinds[i].begin, n) || !isdigit((unsigned char)name[n]))
            continue;
        unsigned long node = strtoul(name + n, &end, 10);

        *ret_node = node < UINT32_MAX ? (uint32_t)node : UINT32_MAX;
        bool gz = log_ends_with(name, ".gz");
        size_t tail = strlen(end) - (gz ? 3 : 0);

        if (kinds[i].kind == CALLS ? tail == 0 : tail == 4 && !strncmp(end, ".log", 4))
            return kinds[i].kind;
    }
    return OTHER;
}

static bool log_read_one(struct stack_log *log, const char *dir, const char *name,
                         const struct place *p, struct wr_err *err)
{
    struct wr_str text = {0};
    char path[4096];
    uint32_t node;
    enum file_kind kind = log_file_kind(name, &node);

    if (kind == OTHER)
        return true;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (node >= (kind == SERVER_LOG ? p->servers : p->clients))
        return wr_fail(err, WR_INPUT,
                       "%s is of %s %u, but the run has %u: logs of different runs are mixed; keep "
                       "each in a directory of its own",
                       path, kind == SERVER_LOG ? "server" : "process", node,
                       kind == SERVER_LOG ? p->servers : p->clients);
    bool ok = log_read_text(&text, path, err);

    if (ok && kind == CALLS)
        stack_log_calls(log, path, text.s, node, p->test);
    else if (ok)
        ok = stack_log_text(log, path, text.s, text.n, kind == SERVER_LOG, node, p->test, err);
    wr_str_fini(&text);
    return ok;
}

/* Without meta.json, servers are counted by their logs. */
static void log_count_servers(struct place *p, struct dirent **names, int n)
{
    uint32_t node;

    for (int i = 0; !p->meta && i < n; i++)
        if (log_file_kind(names[i]->d_name, &node) == SERVER_LOG && node < 1000000 &&
            node >= p->servers)
            p->servers = node + 1;
}

/* Without calls the latency that IOR printed is the time of a read or write. */
static void log_io_from_ior(struct stack_log *log, size_t first, uint16_t test)
{
    for (size_t i = first; i < log->ior.n; i++) {
        const struct stack_ior_row *r = &log->ior.v[i];

        if (r->latency_s > 0)
            wr_vec_push(&log->io,
                        (struct stack_io_sample){r->writes, test, r->latency_s, r->xfer_b, 0});
    }
}

static bool log_read_files(struct stack_log *log, const char *dir, struct dirent **names, int n,
                           const struct place *p, struct wr_err *err)
{
    size_t states = log->state.n, io = log->io.n;

    for (int i = 0; i < n; i++)
        if (!log_read_one(log, dir, names[i]->d_name, p, err))
            return false;
    if (log->state.n > states)
        wr_vec_push(&log->run, p->test);
    stack_log_nest(log, p->test);
    if (log->io.n == io)
        log_io_from_ior(log, log->ior.n - p->ior_rows, p->test);
    return true;
}

static bool log_add_files(struct stack_log *log, const char *dir, struct dirent **names, int n,
                          struct wr_err *err)
{
    struct place p = {0};
    size_t ior = log->ior.n;
    bool ok = log_read_meta(&p, dir, err) && log_read_ior(log, &p, dir, err);

    p.ior_rows = log->ior.n - ior;
    if (ok)
        log_count_servers(&p, names, n);
    if (ok && (!p.servers || !p.clients))
        ok = wr_fail(err, WR_INPUT,
                     "%s has neither meta.json nor ior.out with server logs: the numbers of "
                     "servers and processes are unknown; add one",
                     dir);
    ok = ok && log_find_test(log, &p, dir, err);
    struct stack_run_name name = {.whole = true};

    snprintf(name.name, sizeof name.name, "%s", dir);
    wr_vec_push(&log->named, name);
    log->run_now = log->named.n;
    ok = ok && log_read_files(log, dir, names, n, &p, err);
    if (ok)
        log_run_ended(log, dir, p.test);
    free(p.ior);
    return ok;
}

static bool log_add_dir(struct stack_log *log, const char *dir, struct wr_err *err)
{
    struct dirent **names;
    int n = scandir(dir, &names, NULL, alphasort);

    if (n < 0)
        return wr_fail_read(err, "%s cannot be read; give a directory of logs", dir);
    bool ok = log_add_files(log, dir, names, n, err);

    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
    return ok;
}

/* --- tables made of logs ------------------------------------------------------------ */

enum { OPEN_ROWS = 256 };

int log_cells(char *line, char *cell[LOG_CELLS])
{
    int n = 0;

    line[strcspn(line, "\r")] = 0; /* lines may end as another system has them */
    while (line && n < LOG_CELLS)
        cell[n++] = strsep(&line, ",");
    return n;
}

/* The last state of each activity that is under way, to see what passes until its next. */
struct open_row {
    uint64_t key;
    size_t sample;
    double end;
};

/* A table that is being read. */
struct table {
    struct stack_log *log;
    const char *name, *only; /* of the file; prefixes of runs */
    /* Columns; -1: there is none. */
    int run, side, node, start, function, duration, kind, io, op, state, exec, wait, action, moved,
        code, tag, extra;
    char of[128];  /* the run of the rows before */
    uint16_t test; /* of that run */
    bool states;   /* rows are visits of states; else of functions */
    struct open_row open[OPEN_ROWS];
};

static const struct {
    const char *name;
    size_t offset;
} heads[] = {
#define HEAD(name_, field_)                   \
    {                                         \
        name_, offsetof(struct table, field_) \
    }
    HEAD("run", run),           HEAD("side", side),
    HEAD("node", node),         HEAD("start", start),
    HEAD("function", function), HEAD("duration", duration),
    HEAD("kind", kind),         HEAD("io", io),
    HEAD("op_seq", op),         HEAD("state", state),
    HEAD("exec", exec),         HEAD("wait", wait),
    HEAD("action", action),     HEAD("exec_or_bytes", moved),
    HEAD("error_code", code),   HEAD("user_tag", tag),
    HEAD("extra", extra),
};

static void log_find_columns(struct table *t, char *const *head, int n)
{
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        int *at = (int *)((char *)t + heads[i].offset);

        *at = -1;
        for (int k = 0; k < n; k++)
            if (!strcmp(head[k], heads[i].name))
                *at = k;
    }
}

/* What runs.csv says of the run. */
static bool log_table_test(struct table *t, const char *run, struct wr_err *err)
{
    for (size_t i = 0; i < t->log->listed.n; i++)
        if (!strcmp(t->log->listed.v[i].name, run)) {
            t->test = t->log->listed.v[i].test;
            return true;
        }
    return wr_fail(
        err, WR_INPUT,
        "%s: nothing says what the run %s was: put a runs.csv with run, nservers, nprocs "
        "and ior_cmd beside the table",
        t->name, wr_text_clip(run).s);
}

static uint64_t log_row_key(const struct table *t, char **cell)
{
    uint64_t h =
        UINT64_C(1469598103934665603); /* rows that collide replace each other: fits stay */
    const int columns[] = {t->side, t->node, t->op};

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (columns[i] >= 0)
            h = wr_hash_text(h, cell[columns[i]]);
    return h;
}

/* "read", "write" or nothing. */
static uint8_t log_row_io(const struct table *t, char **cell)
{
    const char *io = t->io < 0 ? "" : cell[t->io];

    return !strcmp(io, "read") ? 0 : !strcmp(io, "write") ? 1 : 2;
}

static uint8_t log_row_phase(char **cell, int tag)
{
    return tag < 0 ? 0 : stack_phase(strtoull(cell[tag], NULL, 10));
}

static void log_state_row(struct table *t, char **cell)
{
    struct stack_log *log = t->log;
    uint16_t s = stack_find_state(log->fs, cell[t->state], strlen(cell[t->state]));
    bool deferred = !strcmp(cell[t->action], "DEFERRED");
    double start = t->start < 0 ? 0 : strtod(cell[t->start], NULL);
    double exec = strtod(cell[t->exec], NULL), wait = strtod(cell[t->wait], NULL);
    int64_t code = t->code < 0 ? 0 : strtoll(cell[t->code], NULL, 10);
    uint64_t key = log_row_key(t, cell);
    struct open_row *o = &t->open[key % OPEN_ROWS];

    if (o->key == key && t->start >= 0 && o->sample < log->state.n && start >= o->end &&
        start < o->end + 1)
        log->state.v[o->sample].between_us = (float)((start - o->end) * 1e6);
    o->key = 0;
    log->unknown += s == STACK_NONE;
    if (s == STACK_NONE || !(exec >= 0) || !(wait >= 0))
        return;
    wr_vec_push(&log->state, (struct stack_sample){
                                 .state = s,
                                 .deferred = deferred,
                                 .server = t->side >= 0 && *cell[t->side] == 's',
                                 .io = stack_way(&log->fs->state.v[s], log_row_io(t, cell), code),
                                 .phase = log_row_phase(cell, t->tag),
                                 .test = t->test,
                                 .op = (uint32_t)(key ^ key >> 32) | 1,
                                 .t_s = start,
                                 .took_us = (float)((exec + wait) * 1e6),
                                 .exec_us = (float)(exec * 1e6),
                                 .wait_us = deferred ? (float)(wait * 1e6) : -1,
                                 .between_us = -1});
    if (!deferred && !strcmp(cell[t->action], "COMPLETE"))
        *o = (struct open_row){key, log->state.n - 1, start + exec};
}

/* A state that a table of functions has: how long it took, and how much of that it worked. */
static void log_function_state_row(struct table *t, char **cell, const char *name, double took)
{
    struct stack_log *log = t->log;
    uint16_t s = stack_find_state_function(log->fs, name);
    double exec = t->moved < 0 ? took : strtod(cell[t->moved], NULL);
    double start = t->start < 0 ? 0 : strtod(cell[t->start], NULL);

    uint64_t key = log_row_key(t, cell);

    log->unknown += s == STACK_NONE;
    if (s == STACK_NONE || !(exec >= 0))
        return;
    wr_vec_push(&log->state, (struct stack_sample){.state = s,
                                                   .server = t->side >= 0 && *cell[t->side] == 's',
                                                   .io = log_row_io(t, cell),
                                                   .alone = true,
                                                   .phase = log_row_phase(cell, t->extra),
                                                   .test = t->test,
                                                   .op = (uint32_t)(key ^ key >> 32) | 1,
                                                   .t_s = start,
                                                   .took_us = (float)(took * 1e6),
                                                   .exec_us = (float)(exec * 1e6),
                                                   .wait_us = -1,
                                                   .between_us = -1});
}

static void log_function_row(struct table *t, char **cell)
{
    struct stack_log *log = t->log;
    const char *name = cell[t->function];
    double took = strtod(cell[t->duration], NULL);
    double start = t->start < 0 ? 0 : strtod(cell[t->start], NULL);
    uint32_t node = t->node < 0 ? 0 : (uint32_t)strtoul(cell[t->node], NULL, 10);
    bool call = t->kind < 0 || !strcmp(cell[t->kind], "call");
    uint8_t io = 2;

    if (took >= 0 && !call && !strcmp(cell[t->kind], "state"))
        log_function_state_row(t, cell, name, took);
    if (!(took >= 0) || (!call && strcmp(cell[t->kind], "op")))
        return;
    uint64_t moved =
        t->moved < 0 ? stack_test_at(log, t->test)->transfer : strtoull(cell[t->moved], NULL, 10);

    log_data(log, node, name, start, took, moved, t->test);
    uint16_t m = log_function(log->fs, name, &io);

    log->unknown += m == STACK_NONE;
    if (m == STACK_NONE)
        return;
    wr_vec_push(&log->op, (struct stack_op_sample){m, io, t->test, took, 0});
    if (t->start >= 0 && t->node >= 0 && log->fs->machine.v[m].side == STACK_CLIENT)
        wr_vec_push(&log->call, (struct stack_call_at){.node = node,
                                                       .function = m,
                                                       .layer = log->fs->machine.v[m].layer_id,
                                                       .start = start,
                                                       .took = took});
}

static void log_name_run(struct table *t)
{
    struct stack_log *log = t->log;
    struct stack_run_name name = {0};

    assert(*t->of);
    memcpy(name.name, t->of, sizeof name.name);
    for (log->run_now = 1; log->run_now <= log->named.n; log->run_now++)
        if (!strcmp(log->named.v[log->run_now - 1].name, name.name))
            break;
    if (log->run_now > log->named.n)
        wr_vec_push(&log->named, name);
    log->named.v[log->run_now - 1].whole |= t->states;
}

/* Rows of one run stand together. */
static bool log_begin_run(struct table *t, char **cell, struct wr_err *err)
{
    assert(t->run >= 0);
    if (!strcmp(t->of, cell[t->run]))
        return true;
    stack_log_nest(t->log, t->test);
    log_run_ended(t->log, t->of, t->test);
    if (!log_table_test(t, cell[t->run], err))
        return false;
    snprintf(t->of, sizeof t->of, "%s", cell[t->run]);
    log_name_run(t);
    memset(t->open, 0, sizeof t->open);
    if (t->states)
        wr_vec_push(&t->log->run, t->test);
    return true;
}

static bool log_table_head(struct table *t, char *line, int *ret_n, struct wr_err *err)
{
    char *head[LOG_CELLS];

    *ret_n = log_cells(line, head);
    log_find_columns(t, head, *ret_n);
    t->states = t->state >= 0 && t->exec >= 0 && t->wait >= 0 && t->action >= 0;
    if (t->run < 0 || (!t->states && (t->function < 0 || t->duration < 0)))
        return wr_fail(err, WR_INPUT,
                       "%s:1: the head has no run, and function and duration or "
                       "state, exec, wait and action; give functions.csv or states.csv",
                       t->name);
    return true;
}

/* Whether the name begins with one of the prefixes, "A_,C_". */
static bool log_is_wanted(const char *run, const char *only)
{
    for (;;) {
        size_t n = strcspn(only, ",");

        if (n && !strncmp(run, only, n))
            return true;
        if (!only[n])
            return false;
        only += n + 1;
    }
}

bool stack_log_table(struct stack_log *log, const char *name, char *text, const char *only,
                     struct wr_err *err)
{
    struct table t = {.log = log, .name = name, .only = only};
    char *cell[LOG_CELLS], *line = strsep(&text, "\n");
    uint64_t at = 1;
    int n;

    assert(log->fs);
    if (!log_table_head(&t, line, &n, err))
        return false;
    while ((line = strsep(&text, "\n"))) {
        size_t len = strlen(line);

        at++;
        if (log_cells(line, cell) < n) {
            if (len)
                stack_log_fault(log, &log->cut, name, at, len + 1, "the row stops in its middle");
            continue;
        }
        if (only && !log_is_wanted(cell[t.run], only))
            continue;
        if (!*cell[t.run])
            return wr_fail(err, WR_INPUT, "%s:%" PRIu64 ": the row names no run; give its name",
                           name, at);
        if (!log_begin_run(&t, cell, err))
            return false;
        log->lines++;
        if (t.states)
            log_state_row(&t, cell);
        else
            log_function_row(&t, cell);
    }
    stack_log_nest(log, t.test);
    log_run_ended(log, t.of, t.test);
    return true;
}

/* runs.csv in the directory of a table, once for all its tables. */
static bool log_read_runs(struct stack_log *log, const char *path, struct wr_err *err)
{
    const char *slash = strrchr(path, '/');
    struct wr_str text = {0};
    struct wr_str runs = {0};
    bool ok = true;

    wr_str_addf(&runs, "%.*sruns.csv", slash ? (int)(slash - path) + 1 : 0, path);
    if (access(runs.s, F_OK))
        wr_str_add(&runs, ".gz");
    if (!access(runs.s, F_OK))
        ok = log_read_text(&text, runs.s, err) && stack_log_runs(log, runs.s, text.s, err);
    wr_str_fini(&runs);
    wr_str_fini(&text);
    return ok;
}

bool stack_log_add(struct stack_log *log, const char *path, const char *only, struct wr_err *err)
{
    if (!log_ends_with(path, ".csv") && !log_ends_with(path, ".csv.gz"))
        return log_add_dir(log, path, err);
    struct wr_str text = {0};
    bool ok = log_read_runs(log, path, err) && log_read_text(&text, path, err) &&
              stack_log_table(log, path, text.s, only, err);

    wr_str_fini(&text);
    return ok;
}

/* --- the whole ---------------------------------------------------------------------- */

void stack_log_drop_duplicates(struct stack_log *log)
{
    size_t n = 0;

    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];

        if (!s->alone || !s->run || !log->named.v[s->run - 1].whole)
            log->state.v[n++] = *s;
    }
    log->state.n = n;
}

void stack_log_without(struct stack_log *ret, const struct stack_log *log, const bool *out)
{
    assert(out);
    *ret = (struct stack_log){.fs = log->fs};
    for (size_t i = 0; i < log->test.n; i++)
        wr_vec_push(&ret->test, log->test.v[i]);
#define COPY(field_, test_)                    \
    for (size_t i = 0; i < log->field_.n; i++) \
        if (!out[log->field_.v[i] test_])      \
    wr_vec_push(&ret->field_, log->field_.v[i])
    COPY(state, .test);
    COPY(io, .test);
    COPY(op, .test);
    COPY(of, .test);
    COPY(stagger, .test);
    COPY(start_slope, .test);
    COPY(run, );
#undef COPY
}

struct numbered {
    struct stack_log_test test;
    uint16_t number;
};

static int log_compare_tests(const void *a, const void *b)
{
    const struct stack_log_test *x = &((const struct numbered *)a)->test,
                                *y = &((const struct numbered *)b)->test;

#define BY(field_)              \
    if (x->field_ != y->field_) \
    return x->field_ < y->field_ ? -1 : 1
    BY(servers);
    BY(clients);
    BY(transfer);
    BY(bytes);
    BY(shared);
#undef BY
    return strcmp(x->ior, y->ior);
}

uint16_t *stack_log_tests(const struct stack_log *log, size_t *ret_n)
{
    struct numbered *v = wr_zalloc(log->test.n + 1, sizeof *v);
    bool *has = wr_zalloc(log->test.n + 1, sizeof *has);
    uint16_t *ret = wr_zalloc(log->test.n + 1, sizeof *ret);
    size_t n = 0;

    for (size_t i = 0; i < log->io.n; i++)
        has[log->io.v[i].test] = true;
    for (size_t i = 0; i < log->test.n; i++)
        if (has[i + 1])
            v[n++] = (struct numbered){log->test.v[i], (uint16_t)(i + 1)};
    qsort(v, n, sizeof *v, log_compare_tests);
    for (size_t i = 0; i < n; i++)
        ret[i] = v[i].number;
    free(v);
    free(has);
    *ret_n = n;
    return ret;
}

void stack_log_fini(struct stack_log *log)
{
    wr_vec_fini(&log->state);
    wr_vec_fini(&log->io);
    wr_vec_fini(&log->op);
    wr_vec_fini(&log->ior);
    wr_vec_fini(&log->run);
    wr_vec_fini(&log->test);
    wr_vec_fini(&log->listed);
    wr_vec_fini(&log->mpi);
    wr_vec_fini(&log->of);
    wr_vec_fini(&log->named);
    wr_vec_fini(&log->moving);
    wr_vec_fini(&log->stagger);
    wr_vec_fini(&log->start_slope);
    wr_vec_fini(&log->call);
    wr_vec_fini(&log->start);
}
