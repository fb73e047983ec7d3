#include "stack/log.h"

#include <ctype.h>
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WEIR_HAVE_zlib
#include <zlib.h>
#endif

#include "base/file.h"

enum { MOST_LOG = 1u << 30, OPEN_STATES = 8 };

/* --- text that may be compressed ---------------------------------------------------- */

static bool ends(const char *name, const char *tail)
{
    size_t n = strlen(name), k = strlen(tail);

    return n >= k && !strcmp(name + n - k, tail);
}

static bool read_plain(struct wr_str *out, const char *path, struct wr_err *err)
{
    char *text;
    size_t len;

    if (!wr_file_read(&text, &len, path, MOST_LOG, err))
        return false;
    wr_str_addn(out, text, len);
    free(text);
    return true;
}

#ifdef WEIR_HAVE_zlib
static bool read_gzip(struct wr_str *out, const char *path, struct wr_err *err)
{
    gzFile f = gzopen(path, "rb");
    char buf[1 << 16];
    int n;

    if (!f)
        return wr_fail_errno(err, "%s cannot be read; check its name", path);
    while ((n = gzread(f, buf, sizeof buf)) > 0 && out->n < MOST_LOG)
        wr_str_addn(out, buf, (size_t)n);
    bool bad = n < 0;

    gzclose(f);
    return !bad || wr_fail(err, WR_INPUT, "%s is no whole gzip file; copy it again", path);
}
#else
static bool read_gzip(struct wr_str *out, const char *path, struct wr_err *err)
{
    (void)out;
    return wr_fail(err, WR_INPUT, "%s is compressed, and weir was built without zlib; gunzip it",
                   path);
}
#endif

static bool read_text(struct wr_str *out, const char *path, struct wr_err *err)
{
    wr_str_add(out, "");
    return ends(path, ".gz") ? read_gzip(out, path, err) : read_plain(out, path, err);
}

/* --- logs of state machines --------------------------------------------------------- */

/* An activity is an address in the log; at most one is open under it. */
struct open_act {
    uint64_t address;
    uint32_t depth;
    uint16_t state[OPEN_STATES]; /* entered and not left, one inside another */
    double t_enter[OPEN_STATES];
    int64_t waiting; /* the sample that waits, or -1 */
    double t_exit, t_request;
};

struct reader {
    struct stack_log *log;
    bool server;
    uint64_t bytes;
    double last, days;
    WR_VEC(struct open_act) act;
};

static struct open_act *act_of(struct reader *r, uint64_t address)
{
    for (size_t i = r->act.n; i-- > 0;)
        if (r->act.v[i].address == address)
            return &r->act.v[i];
    wr_vec_push(&r->act, (struct open_act){.address = address, .waiting = -1, .t_request = NAN});
    return &r->act.v[r->act.n - 1];
}

/* "[D 18:32:21.296610] "; the day may end meanwhile. */
static bool time_of(struct reader *r, const char **line, double *ret)
{
    unsigned h, m;
    int n = 0;
    double s;

    if (sscanf(*line, "[%*c %2u:%2u:%lf] %n", &h, &m, &s, &n) != 3 || !n)
        return false;
    double t = h * 3600.0 + m * 60.0 + s + r->days;

    if (t < r->last - 43200) {
        r->days += 86400;
        t += 86400;
    }
    if (t < r->last - 1e-6) {
        r->log->jumps++;
        r->act.n = 0; /* what was open cannot be timed */
    }
    r->last = t;
    *line += n;
    *ret = t;
    return true;
}

/* "(0x55..) machine:state" */
static bool name_of(const char **line, uint64_t *address, const char **name, size_t *len)
{
    char *end;

    if (strncmp(*line, "(0x", 3))
        return false;
    *address = strtoull(*line + 3, &end, 16);
    if (*end != ')' || end[1] != ' ')
        return false;
    *name = end + 2;
    *len = strcspn(*name, " ");
    *line = *name + *len;
    return **line == ' ';
}

static void entering(struct reader *r, struct open_act *a, uint16_t state, double t)
{
    if (a->waiting >= 0) {
        r->log->state.v[a->waiting].wait_us = (float)((t - a->t_exit) * 1e6);
        a->waiting = -1;
    }
    if (a->depth == OPEN_STATES)
        a->depth = 0;
    a->state[a->depth] = state;
    a->t_enter[a->depth++] = t;
}

static void request_times(struct reader *r, struct open_act *a, const char *name, size_t len,
                          bool enters, double t)
{
    static const char begins[] = "unexpected_sm:map_request",
                      answers[] = "final_response_sm:send_resp";

    if (enters && len == sizeof begins - 1 && !strncmp(name, begins, len))
        a->t_request = t;
    if (enters || len != sizeof answers - 1 || strncmp(name, answers, len) || isnan(a->t_request))
        return;
    wr_vec_push(&r->log->answer_us, (float)((t - a->t_request) * 1e6));
    a->t_request = NAN;
}

static void exiting(struct reader *r, struct open_act *a, uint16_t state, const char *rest,
                    double t)
{
    const char *action = strstr(rest, "(action: ");

    while (a->depth && a->state[a->depth - 1] != state)
        a->depth--;
    if (!a->depth)
        return;
    double exec = t - a->t_enter[--a->depth];
    bool deferred = action && !strncmp(action + 9, "DEFERRED", 8);

    if (state != STACK_NONE) {
        wr_vec_push(&r->log->state, (struct stack_sample){.state = state,
                                                          .deferred = deferred,
                                                          .bytes = r->bytes,
                                                          .exec_us = (float)(exec * 1e6),
                                                          .wait_us = -1});
        if (deferred) {
            a->waiting = (int64_t)r->log->state.n - 1;
            a->t_exit = t;
        }
    }
}

static void log_line(struct reader *r, const char *line)
{
    static const char enter[] = "[SM Entering]: ", leave[] = "[SM Exiting]: ";
    uint64_t address;
    const char *name;
    size_t len;
    double t;

    r->log->lines++;
    if (!time_of(r, &line, &t))
        return;
    bool enters = !strncmp(line, enter, sizeof enter - 1);

    if (!enters && strncmp(line, leave, sizeof leave - 1))
        return;
    line += enters ? sizeof enter - 1 : sizeof leave - 1;
    if (!name_of(&line, &address, &name, &len)) {
        r->log->cut++;
        return;
    }
    struct open_act *a = act_of(r, address);
    uint16_t state = stack_find_state(r->log->fs, name, len);

    r->log->unknown += state == STACK_NONE;
    if (r->server)
        request_times(r, a, name, len, enters, t);
    if (enters)
        entering(r, a, state, t);
    else if (strstr(line, "action: ") && strrchr(line, ')'))
        exiting(r, a, state, line, t);
    else
        r->log->cut++;
}

void stack_log_text(struct stack_log *log, char *text, size_t len, bool server, uint64_t bytes)
{
    struct reader r = {.log = log, .server = server, .bytes = bytes};
    char *end = text + len;

    while (text < end) {
        char *stop = memchr(text, '\n', (size_t)(end - text));

        if (!stop) {
            log->cut++; /* the writer was stopped in the middle of a line */
            break;
        }
        *stop = 0;
        log_line(&r, text);
        text = stop + 1;
    }
    wr_vec_fini(&r.act);
}

/* --- calls -------------------------------------------------------------------------- */

static void call_lines(struct stack_log *log, char *text)
{
    char *save = NULL;

    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char layer[32], function[64];
        double start, took;
        unsigned long long bytes;

        if (sscanf(line, "%lf %lf %31s %63s %llu", &start, &took, layer, function, &bytes) != 5) {
            log->cut++;
            continue;
        }
        bool writes = !strcmp(function, "ADIOI_PVFS2_WriteContig");

        if ((writes || !strcmp(function, "ADIOI_PVFS2_ReadContig")) && took >= 0 && bytes)
            wr_vec_push(&log->io, (struct stack_io_sample){writes, bytes, took});
    }
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

static bool read_meta(struct stack_log *log, const char *dir, uint64_t *ret_bytes,
                      struct wr_err *err)
{
    char path[4096];
    json_error_t why;

    snprintf(path, sizeof path, "%s/meta.json", dir);
    json_t *j = json_load_file(path, 0, &why);

    if (!j)
        return wr_fail(err, WR_INPUT, "%s: %s; give directories with meta.json beside the logs",
                       path, why.text);
    json_int_t servers = json_integer_value(json_object_get(j, "nservers"));
    json_int_t clients = json_integer_value(json_object_get(j, "nprocs"));
    const char *ior = json_string_value(json_object_get(j, "ior"));
    const char *b = ior ? strstr(ior, "-b ") : NULL;
    double bytes = b ? strtod(b + 3, NULL) : 0;
    char unit = b ? (char)tolower((unsigned char)b[3 + strspn(b + 3, "0123456789.")]) : 0;

    *ret_bytes = (uint64_t)(bytes * (unit == 'k'   ? 1024.0
                                     : unit == 'm' ? 1048576.0
                                     : unit == 'g' ? 1073741824.0
                                                   : 1.0));
    json_decref(j);
    if (servers < 1 || clients < 1 || servers > 1000000 || clients > 1000000)
        return wr_fail(err, WR_INPUT, "%s says no nservers and nprocs; add them", path);
    return same_place(log, dir, (uint32_t)servers, (uint32_t)clients, err);
}

static bool read_one(struct stack_log *log, const char *dir, const char *name, uint64_t bytes,
                     struct wr_err *err)
{
    bool client = !strncmp(name, "client.", 7) && strstr(name, ".log");
    bool server = !strncmp(name, "server.", 7) && strstr(name, ".log");
    struct wr_str text = {0};
    char path[4096];

    if (!client && !server && strncmp(name, "adio.", 5))
        return true;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    bool ok = read_text(&text, path, err);

    if (ok && !client && !server)
        call_lines(log, text.s);
    else if (ok)
        stack_log_text(log, text.s, text.n, server, bytes);
    wr_str_fini(&text);
    return ok;
}

static bool add_dir(struct stack_log *log, const char *dir, struct wr_err *err)
{
    struct dirent **names;
    uint64_t bytes;
    bool ok = read_meta(log, dir, &bytes, err);
    int n = ok ? scandir(dir, &names, NULL, alphasort) : 0;

    if (n < 0)
        return wr_fail_errno(err, "%s cannot be read; give a directory of logs", dir);
    for (int i = 0; i < n; i++) {
        ok = ok && read_one(log, dir, names[i]->d_name, bytes, err);
        free(names[i]);
    }
    if (n)
        free(names);
    return ok;
}

/* --- tables made of logs ------------------------------------------------------------ */

enum { MOST_CELLS = 20 };

static int cells_of(char *line, char *cell[MOST_CELLS])
{
    int n = 0;

    while (line && n < MOST_CELLS)
        cell[n++] = strsep(&line, ",");
    return n;
}

static int column(char *const *head, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(head[i], name))
            return i;
    return -1;
}

struct columns {
    int run, size, function, duration, kind, state, exec, wait, action;
};

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

static void table_row(struct stack_log *log, const struct columns *c, char **cell)
{
    uint64_t bytes = strtoull(cell[c->size], NULL, 10);

    if (c->state >= 0) {
        uint16_t s = stack_find_state(log->fs, cell[c->state], strlen(cell[c->state]));
        bool deferred = !strcmp(cell[c->action], "DEFERRED");

        log->unknown += s == STACK_NONE;
        if (s != STACK_NONE)
            wr_vec_push(&log->state,
                        (struct stack_sample){
                            .state = s,
                            .deferred = deferred,
                            .bytes = bytes,
                            .exec_us = strtof(cell[c->exec], NULL) * 1e6f,
                            .wait_us = deferred ? strtof(cell[c->wait], NULL) * 1e6f : -1});
        return;
    }
    bool writes = !strcmp(cell[c->function], "ADIOI_PVFS2_WriteContig");

    if (writes || !strcmp(cell[c->function], "ADIOI_PVFS2_ReadContig"))
        wr_vec_push(&log->io,
                    (struct stack_io_sample){writes, bytes, strtod(cell[c->duration], NULL)});
}

static bool table_rows(struct stack_log *log, char *text, const char *only, struct wr_err *err)
{
    char *head[MOST_CELLS], *cell[MOST_CELLS], *line = strsep(&text, "\n");
    int n = cells_of(line, head);
    struct columns c = {
        .run = column(head, n, "run"),
        .size = column(head, n, "file_size"),
        .function = column(head, n, "function"),
        .duration = column(head, n, "duration"),
        .state = column(head, n, "state"),
        .exec = column(head, n, "exec"),
        .wait = column(head, n, "wait"),
        .action = column(head, n, "action"),
    };
    bool states = c.state >= 0 && c.exec >= 0 && c.wait >= 0 && c.action >= 0;

    if (c.run < 0 || c.size < 0 || (!states && (c.function < 0 || c.duration < 0)))
        return wr_fail(err, WR_INPUT,
                       "the head has no run, file_size, and function and duration or "
                       "state, exec, wait and action; give functions.csv or states.csv");
    if (!states)
        c.state = -1;
    while ((line = strsep(&text, "\n"))) {
        if (cells_of(line, cell) < n) {
            log->cut += *line != 0;
            continue;
        }
        if (only && strncmp(cell[c.run], only, strlen(only)))
            continue;
        if (!place_of(log, cell[c.run], err))
            return false;
        log->lines++;
        table_row(log, &c, cell);
    }
    return true;
}

bool stack_log_add(struct stack_log *log, const char *path, const char *only, struct wr_err *err)
{
    if (!ends(path, ".csv") && !ends(path, ".csv.gz"))
        return add_dir(log, path, err);
    struct wr_str text = {0};
    bool ok = read_text(&text, path, err) &&
              (table_rows(log, text.s, only, err) || wr_wrap(err, "%s", path));

    wr_str_fini(&text);
    return ok;
}

void stack_log_fini(struct stack_log *log)
{
    wr_vec_fini(&log->state);
    wr_vec_fini(&log->io);
    wr_vec_fini(&log->answer_us);
}
