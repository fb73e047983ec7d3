/* log.c -- directories of logs, and tables that were made of some. */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "log_priv.h"

enum { MOST_LOG = 1u << 30 };

/* --- text that may be compressed ---------------------------------------------------- */

static bool ends(const char *name, const char *tail)
{
    size_t n = strlen(name), k = strlen(tail);

    return n >= k && !strcmp(name + n - k, tail);
}

static bool read_text(struct wr_str *out, const char *path, struct wr_err *err)
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

static bool same_place(struct stack_log *log, const char *path, uint32_t servers, uint32_t clients,
                       struct wr_err *err)
{
    if (log->servers && (log->servers != servers || log->clients != clients))
        return wr_fail(err, WR_INPUT,
                       "%s is of %u servers and %u processes, the runs before of %u and %u; "
                       "calibrate each set-up by itself",
                       path, servers, clients, log->servers, log->clients);
    log->servers = servers;
    log->clients = clients;
    return true;
}

/* What meta.json, or without it the names of the files and IOR's output, say of a run. */
struct place {
    uint32_t servers, clients;
    uint64_t bytes;
    bool meta;
    char *ior; /* its command, or NULL */
    size_t ior_rows;
};

/* The bytes of "-b 205m" in a command. */
static uint64_t bytes_of(const char *ior, const char *option)
{
    const char *b = ior ? strstr(ior, option) : NULL;
    double bytes = b ? strtod(b + 3, NULL) : 0;
    char unit = b ? (char)tolower((unsigned char)b[3 + strspn(b + 3, "0123456789.")]) : 0;

    bytes *= unit == 'k' ? 1024.0 : unit == 'm' ? 1048576.0 : unit == 'g' ? 1073741824.0 : 1.0;
    return bytes > 0 && bytes < 9e18 ? (uint64_t)bytes : 0;
}

static bool read_meta(struct place *p, const char *dir, struct wr_err *err)
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

    p->bytes = bytes_of(ior, "-b ");
    p->ior = ior ? wr_strdup(ior) : NULL;
    json_decref(j);
    if (servers < 1 || clients < 1 || servers > 1000000 || clients > 1000000)
        return wr_fail(err, WR_INPUT, "%s says no nservers and nprocs; add them", path);
    p->servers = (uint32_t)servers;
    p->clients = (uint32_t)clients;
    p->meta = true;
    return true;
}

static bool read_ior(struct stack_log *log, struct place *p, const char *dir, struct wr_err *err)
{
    struct wr_str text = {0};
    char path[4096];
    uint64_t bytes;
    uint32_t tasks;

    snprintf(path, sizeof path, "%s/ior.out", dir);
    if (access(path, F_OK))
        return true;
    bool ok = read_text(&text, path, err) && stack_log_ior(log, path, text.s, &bytes, &tasks, err);

    wr_str_fini(&text);
    if (!ok)
        return false;
    if (p->meta && (p->clients != tasks || (p->bytes && p->bytes != bytes)))
        return wr_fail(err, WR_INPUT,
                       "%s is of %u tasks and %" PRIu64 " bytes each, meta.json of %u and %" PRIu64
                       ": these are different runs; keep each in a directory of its own",
                       path, tasks, bytes, p->clients, p->bytes);
    p->clients = tasks;
    p->bytes = bytes;
    return true;
}

enum file_kind { OTHER, CLIENT_LOG, SERVER_LOG, CALLS };

/* "client.3.log.gz" */
static enum file_kind kind_of(const char *name, uint32_t *ret_node)
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
        bool gz = ends(name, ".gz");
        size_t tail = strlen(end) - (gz ? 3 : 0);

        if (kinds[i].kind == CALLS ? tail == 0 : tail == 4 && !strncmp(end, ".log", 4))
            return kinds[i].kind;
    }
    return OTHER;
}

static bool read_one(struct stack_log *log, const char *dir, const char *name,
                     const struct place *p, struct wr_err *err)
{
    struct wr_str text = {0};
    char path[4096];
    uint32_t node;
    enum file_kind kind = kind_of(name, &node);

    if (kind == OTHER)
        return true;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (node >= (kind == SERVER_LOG ? p->servers : p->clients))
        return wr_fail(err, WR_INPUT,
                       "%s is of %s %u, but the run has %u: logs of different runs are mixed; keep "
                       "each in a directory of its own",
                       path, kind == SERVER_LOG ? "server" : "process", node,
                       kind == SERVER_LOG ? p->servers : p->clients);
    bool ok = read_text(&text, path, err);

    if (ok && kind == CALLS)
        stack_log_calls(log, path, text.s, node, p->bytes);
    else if (ok)
        ok = stack_log_text(log, path, text.s, text.n, kind == SERVER_LOG, node, p->bytes, err);
    wr_str_fini(&text);
    return ok;
}

/* Servers are counted when nobody says how many there were. */
static void count_servers(struct place *p, struct dirent **names, int n)
{
    uint32_t node;

    for (int i = 0; !p->meta && i < n; i++)
        if (kind_of(names[i]->d_name, &node) == SERVER_LOG && node < 1000000 && node >= p->servers)
            p->servers = node + 1;
}

/* Without calls the latency that IOR printed is the time of a read or write. */
static void io_from_ior(struct stack_log *log, size_t first)
{
    for (size_t i = first; i < log->ior.n; i++) {
        const struct stack_ior_row *r = &log->ior.v[i];

        if (r->latency_s > 0)
            wr_vec_push(&log->io, (struct stack_io_sample){r->writes, r->block_b, r->latency_s,
                                                           r->xfer_b, 0});
    }
}

static bool read_files(struct stack_log *log, const char *dir, struct dirent **names, int n,
                       const struct place *p, struct wr_err *err)
{
    size_t states = log->state.n, io = log->io.n;

    if (!same_place(log, dir, p->servers, p->clients, err) ||
        (p->ior && !log_test(log, dir, p->bytes, p->ior, err)))
        return false;
    for (int i = 0; i < n; i++)
        if (!read_one(log, dir, names[i]->d_name, p, err))
            return false;
    if (log->state.n > states)
        wr_vec_push(&log->run, p->bytes);
    stack_log_nest(log, p->bytes);
    if (log->io.n == io)
        io_from_ior(log, log->ior.n - p->ior_rows);
    return true;
}

static bool add_files(struct stack_log *log, const char *dir, struct dirent **names, int n,
                      struct wr_err *err)
{
    struct place p = {0};
    size_t ior = log->ior.n;
    bool ok = read_meta(&p, dir, err) && read_ior(log, &p, dir, err);

    p.ior_rows = log->ior.n - ior;
    if (ok)
        count_servers(&p, names, n);
    if (ok && (!p.servers || !p.clients))
        ok = wr_fail(err, WR_INPUT,
                     "%s has neither meta.json nor ior.out with server logs: nobody says how "
                     "many servers and processes there were; add one",
                     dir);
    struct stack_run_name name = {.whole = true};

    snprintf(name.name, sizeof name.name, "%s", dir);
    wr_vec_push(&log->named, name);
    log->run_now = log->named.n;
    ok = ok && read_files(log, dir, names, n, &p, err);
    if (ok)
        log_run_ended(log, dir, p.bytes);
    free(p.ior);
    return ok;
}

static bool add_dir(struct stack_log *log, const char *dir, struct wr_err *err)
{
    struct dirent **names;
    int n = scandir(dir, &names, NULL, alphasort);

    if (n < 0)
        return wr_fail_read(err, "%s cannot be read; give a directory of logs", dir);
    bool ok = add_files(log, dir, names, n, err);

    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
    return ok;
}

/* --- tables made of logs ------------------------------------------------------------ */

enum { MOST_CELLS = 20, OPEN_ROWS = 256 };

static int cells_of(char *line, char *cell[MOST_CELLS])
{
    int n = 0;

    line[strcspn(line, "\r")] = 0; /* lines may end as another system has them */
    while (line && n < MOST_CELLS)
        cell[n++] = strsep(&line, ",");
    return n;
}

/* The last state of each activity that is under way, to see what passes until its next. */
struct open_row {
    uint64_t key;
    size_t sample;
    double end;
};

struct table {
    struct stack_log *log;
    const char *name, *only;
    int run, size, side, node, start, function, duration, kind, io, op, state, exec, wait, action,
        moved, code, tag, extra;
    char of[128]; /* the run of the rows before */
    uint64_t bytes;
    bool states, tested;
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
    HEAD("run", run),           HEAD("file_size", size), HEAD("side", side),
    HEAD("node", node),         HEAD("start", start),    HEAD("function", function),
    HEAD("duration", duration), HEAD("kind", kind),      HEAD("io", io),
    HEAD("op_seq", op),         HEAD("state", state),    HEAD("exec", exec),
    HEAD("wait", wait),         HEAD("action", action),  HEAD("exec_or_bytes", moved),
    HEAD("error_code", code),   HEAD("user_tag", tag),   HEAD("extra", extra),
};

static void find_columns(struct table *t, char *const *head, int n)
{
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        int *at = (int *)((char *)t + heads[i].offset);

        *at = -1;
        for (int k = 0; k < n; k++)
            if (!strcmp(head[k], heads[i].name))
                *at = k;
    }
}

/* F_S5P5_b0205_r0: servers and processes stand in the name. */
static bool place_of(struct stack_log *log, const char *run, struct wr_err *err)
{
    const char *s = strstr(run, "_S");
    unsigned servers = 0, clients = 0;

    if (!s || sscanf(s, "_S%uP%u", &servers, &clients) != 2 || !servers || !clients)
        return wr_fail(err, WR_INPUT,
                       "the run %s does not say its servers and processes as in "
                       "A_S5P5; name it so",
                       wr_text_clip(run).s);
    return same_place(log, run, servers, clients, err);
}

static uint64_t key_of(const struct table *t, char **cell)
{
    uint64_t h = 1469598103934665603ull;
    const int columns[] = {t->side, t->node, t->op};

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (const char *c = columns[i] < 0 ? "" : cell[columns[i]]; *c; c++)
            h = (h ^ (unsigned char)*c) * 1099511628211ull;
    return h;
}

/* "read", "write" or nothing. */
static uint8_t io_of(const struct table *t, char **cell)
{
    const char *io = t->io < 0 ? "" : cell[t->io];

    return !strcmp(io, "read") ? 0 : !strcmp(io, "write") ? 1 : 2;
}

static uint8_t phase_of(char **cell, int tag)
{
    return tag < 0 ? 0 : stack_phase(strtoull(cell[tag], NULL, 10));
}

static void state_row(struct table *t, char **cell)
{
    struct stack_log *log = t->log;
    uint16_t s = stack_find_state(log->fs, cell[t->state], strlen(cell[t->state]));
    bool deferred = !strcmp(cell[t->action], "DEFERRED");
    double start = t->start < 0 ? 0 : strtod(cell[t->start], NULL);
    double exec = strtod(cell[t->exec], NULL), wait = strtod(cell[t->wait], NULL);
    int64_t code = t->code < 0 ? 0 : strtoll(cell[t->code], NULL, 10);
    uint64_t key = key_of(t, cell);
    struct open_row *o = &t->open[key % OPEN_ROWS];

    if (o->key == key && t->start >= 0 && o->sample < log->state.n && start >= o->end &&
        start < o->end + 1)
        log->state.v[o->sample].between_us = (float)((start - o->end) * 1e6);
    o->key = 0;
    log->unknown += s == STACK_NONE;
    if (s == STACK_NONE || !(exec >= 0) || !(wait >= 0))
        return;
    wr_vec_push(&log->state,
                (struct stack_sample){.state = s,
                                      .deferred = deferred,
                                      .server = t->side >= 0 && *cell[t->side] == 's',
                                      .io = stack_way(&log->fs->state.v[s], io_of(t, cell), code),
                                      .phase = phase_of(cell, t->tag),
                                      .bytes = t->bytes,
                                      .t_s = start,
                                      .took_us = (float)((exec + wait) * 1e6),
                                      .exec_us = (float)(exec * 1e6),
                                      .wait_us = deferred ? (float)(wait * 1e6) : -1,
                                      .between_us = -1});
    if (!deferred && !strcmp(cell[t->action], "COMPLETE"))
        *o = (struct open_row){key, log->state.n - 1, start + exec};
}

/* A run is of shared files, or of others' files, when its name says so. */
static bool table_test(struct table *t, uint64_t moved, struct wr_err *err)
{
    bool reorder = strstr(t->of, "_reorder"), shared = reorder || strstr(t->of, "_shared");
    char command[160];

    t->tested = true;
    snprintf(command, sizeof command, "ior -a MPIIO -b %" PRIu64 " -t %" PRIu64 "%s%s", t->bytes,
             moved, shared ? "" : " -F", reorder ? " -C" : "");
    return log_test(t->log, t->of, t->bytes, command, err);
}

/* A state that a table of functions has: how long it took, and how much of that it worked. */
static void lone_state(struct table *t, char **cell, const char *name, double took)
{
    struct stack_log *log = t->log;
    uint16_t s = stack_find_state_function(log->fs, name);
    double exec = t->moved < 0 ? took : strtod(cell[t->moved], NULL);
    double start = t->start < 0 ? 0 : strtod(cell[t->start], NULL);

    log->unknown += s == STACK_NONE;
    if (s == STACK_NONE || !(exec >= 0))
        return;
    wr_vec_push(&log->state, (struct stack_sample){.state = s,
                                                   .server = t->side >= 0 && *cell[t->side] == 's',
                                                   .io = io_of(t, cell),
                                                   .alone = true,
                                                   .phase = phase_of(cell, t->extra),
                                                   .bytes = t->bytes,
                                                   .t_s = start,
                                                   .took_us = (float)(took * 1e6),
                                                   .exec_us = (float)(exec * 1e6),
                                                   .wait_us = -1,
                                                   .between_us = -1});
}

static bool function_row(struct table *t, char **cell, struct wr_err *err)
{
    struct stack_log *log = t->log;
    const char *name = cell[t->function];
    double took = strtod(cell[t->duration], NULL);
    double start = t->start < 0 ? 0 : strtod(cell[t->start], NULL);
    uint32_t node = t->node < 0 ? 0 : (uint32_t)strtoul(cell[t->node], NULL, 10);
    bool call = t->kind < 0 || !strcmp(cell[t->kind], "call");
    uint8_t io = 2;

    if (took >= 0 && !call && !strcmp(cell[t->kind], "state"))
        lone_state(t, cell, name, took);
    if (!(took >= 0) || (!call && strcmp(cell[t->kind], "op")))
        return true;
    uint64_t moved = t->moved < 0 ? t->bytes : strtoull(cell[t->moved], NULL, 10);

    if (log_data(log, node, name, start, took, moved, t->bytes) && !t->tested &&
        !table_test(t, moved, err))
        return false;
    uint16_t m = log_function(log->fs, name, &io);

    log->unknown += m == STACK_NONE;
    if (m == STACK_NONE)
        return true;
    wr_vec_push(&log->op, (struct stack_op_sample){m, io, t->bytes, took, 0});
    if (t->start >= 0 && t->node >= 0 && log->fs->machine.v[m].side == STACK_CLIENT)
        wr_vec_push(&log->call, (struct stack_call_at){.node = node,
                                                       .function = m,
                                                       .layer = log->fs->machine.v[m].layer_id,
                                                       .start = start,
                                                       .took = took});
    return true;
}

static void name_run(struct table *t)
{
    struct stack_log *log = t->log;
    struct stack_run_name name = {0};

    memcpy(name.name, t->of, sizeof name.name);
    for (log->run_now = 1; log->run_now <= log->named.n; log->run_now++)
        if (!strcmp(log->named.v[log->run_now - 1].name, name.name))
            break;
    if (log->run_now > log->named.n)
        wr_vec_push(&log->named, name);
    log->named.v[log->run_now - 1].whole |= t->states;
}

/* Rows of one run stand together. */
static bool run_of(struct table *t, char **cell, struct wr_err *err)
{
    if (!strcmp(t->of, cell[t->run]))
        return true;
    if (!place_of(t->log, cell[t->run], err))
        return false;
    stack_log_nest(t->log, t->bytes);
    log_run_ended(t->log, t->of, t->bytes);
    t->tested = false;
    snprintf(t->of, sizeof t->of, "%s", cell[t->run]);
    name_run(t);
    memset(t->open, 0, sizeof t->open);
    t->bytes = strtoull(cell[t->size], NULL, 10);
    if (t->states)
        wr_vec_push(&t->log->run, t->bytes);
    return true;
}

static bool table_head(struct table *t, char *line, int *ret_n, struct wr_err *err)
{
    char *head[MOST_CELLS];

    *ret_n = cells_of(line, head);
    find_columns(t, head, *ret_n);
    t->states = t->state >= 0 && t->exec >= 0 && t->wait >= 0 && t->action >= 0;
    if (t->run < 0 || t->size < 0 || (!t->states && (t->function < 0 || t->duration < 0)))
        return wr_fail(err, WR_INPUT,
                       "%s:1: the head has no run, file_size, and function and duration or "
                       "state, exec, wait and action; give functions.csv or states.csv",
                       t->name);
    return true;
}

bool stack_log_table(struct stack_log *log, const char *name, char *text, const char *only,
                     struct wr_err *err)
{
    struct table t = {.log = log, .name = name, .only = only};
    char *cell[MOST_CELLS], *line = strsep(&text, "\n");
    uint64_t at = 1;
    int n;

    if (!table_head(&t, line, &n, err))
        return false;
    while ((line = strsep(&text, "\n"))) {
        size_t len = strlen(line);

        at++;
        if (cells_of(line, cell) < n) {
            if (len)
                log_fault(log, &log->cut, name, at, len + 1, "the row stops in its middle");
            continue;
        }
        if (only && strncmp(cell[t.run], only, strlen(only)))
            continue;
        if (!run_of(&t, cell, err))
            return false;
        log->lines++;
        if (t.states)
            state_row(&t, cell);
        else if (!function_row(&t, cell, err))
            return false;
    }
    stack_log_nest(log, t.bytes);
    log_run_ended(log, t.of, t.bytes);
    return true;
}

bool stack_log_add(struct stack_log *log, const char *path, const char *only, struct wr_err *err)
{
    if (!ends(path, ".csv") && !ends(path, ".csv.gz"))
        return add_dir(log, path, err);
    struct wr_str text = {0};
    bool ok = read_text(&text, path, err) && stack_log_table(log, path, text.s, only, err);

    wr_str_fini(&text);
    return ok;
}

/* --- the whole ---------------------------------------------------------------------- */

void stack_log_settle(struct stack_log *log)
{
    size_t n = 0;

    for (size_t i = 0; i < log->state.n; i++) {
        const struct stack_sample *s = &log->state.v[i];

        if (!s->alone || !s->run || !log->named.v[s->run - 1].whole)
            log->state.v[n++] = *s;
    }
    log->state.n = n;
}

void stack_log_without(struct stack_log *ret, const struct stack_log *log, uint64_t bytes)
{
    *ret = (struct stack_log){.fs = log->fs, .servers = log->servers, .clients = log->clients};
#define COPY(field_, size_)                    \
    for (size_t i = 0; i < log->field_.n; i++) \
        if (log->field_.v[i] size_ != bytes)   \
    wr_vec_push(&ret->field_, log->field_.v[i])
    COPY(state, .bytes);
    COPY(io, .bytes);
    COPY(op, .bytes);
    COPY(ior, .block_b);
    COPY(test, .bytes);
    COPY(of, .bytes);
    COPY(stagger, .bytes);
    COPY(lean, .bytes);
    COPY(run, );
#undef COPY
}

static int by_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

uint64_t *stack_log_sizes(const struct stack_log *log, size_t *ret_n)
{
    uint64_t *v = wr_zalloc(log->io.n + 1, sizeof *v);
    size_t n = 0;

    for (size_t i = 0; i < log->io.n; i++)
        v[i] = log->io.v[i].bytes;
    qsort(v, log->io.n, sizeof *v, by_u64);
    for (size_t i = 0; i < log->io.n; i++)
        if (!i || v[i] != v[i - 1])
            v[n++] = v[i];
    *ret_n = n;
    return v;
}

void stack_log_fini(struct stack_log *log)
{
    wr_vec_fini(&log->state);
    wr_vec_fini(&log->io);
    wr_vec_fini(&log->op);
    wr_vec_fini(&log->ior);
    wr_vec_fini(&log->run);
    wr_vec_fini(&log->test);
    wr_vec_fini(&log->of);
    wr_vec_fini(&log->named);
    wr_vec_fini(&log->moving);
    wr_vec_fini(&log->stagger);
    wr_vec_fini(&log->lean);
    wr_vec_fini(&log->call);
    wr_vec_fini(&log->start);
}
