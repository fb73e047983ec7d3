#include "stack/law.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB 1073741824.0

static const struct stack_shipped shipped[] = {
#include "stack_laws.inc"
    {NULL, NULL},
};

const struct stack_shipped *stack_shipped_laws(void)
{
    return shipped;
}

struct law_text {
    struct conf_key key; /* machine:state, or machine; /read, /write, /meta or /data may follow */
    double exec_ps, exec_per_byte_ps, wait_ps, wait_per_byte_ps, wait_knee_b, wait_after_ps;
    double stretch, low, high;
    bool assumed;
    struct conf_list exec_poly, wait_poly, total_poly; /* of double */
    const char *function;
    uint32_t cls, cls_b;
};

struct stack_laws_file {
    const char *title, *source;
    struct {
        uint32_t servers, clients, medium;
        uint64_t from_b, to_b;
        double stagger_read_ps, stagger_write_ps;
        double low, high;
    } at;
    struct {
        double latency_ps, bandwidth_bps;
        uint64_t buffer_read_b, buffer_write_b;
        double buffer_part;
        double queue_read_ps, queue_write_ps;
    } link;
    struct {
        double client_ps, server_ps;
    } between;
    struct conf_list states;
};

static const char *const medium_names[] = {"switched", "shared", NULL};

#define AT(field) offsetof(struct law_text, field)
#define TIME(key_, field_, help_)                                                                  \
    {                                                                                              \
        .key = key_, .type = CONF_TIME, .offset = AT(field_), .def = "0 s", .min = 0, .max = 1e21, \
        .help = help_                                                                              \
    }
#define REAL(key_, field_, max_, help_)                                                          \
    {                                                                                            \
        .key = key_, .type = CONF_REAL, .offset = AT(field_), .def = "0", .min = 0, .max = max_, \
        .help = help_                                                                            \
    }
#define POLY(key_, field_, help_)                                                           \
    {                                                                                       \
        .key = key_, .type = CONF_LIST, .offset = AT(field_), .def = "", .item = CONF_REAL, \
        .size = sizeof(double), .help = help_                                               \
    }

static const struct conf_row law_rows[] = {
    TIME("exec", exec_ps, "its own work"),
    REAL("exec_per_byte", exec_per_byte_ps, 1e15, "and so many picoseconds per byte"),
    TIME("wait", wait_ps, "what it waits for the storage"),
    REAL("wait_per_byte", wait_per_byte_ps, 1e15, "and so many picoseconds per byte"),
    REAL("wait_knee", wait_knee_b, 1e18, "bytes beyond which a byte costs another time; 0: never"),
    REAL("wait_per_byte_after", wait_after_ps, 1e15, "picoseconds per byte beyond the knee"),
    REAL("stretch", stretch, 1e6,
         "of a client's operation: it waits for answers so many times longer than servers and "
         "network take; of a server's request: its states and the answers of other servers "
         "take so many times longer; 0: no longer"),
    REAL("low", low, 1e9, "of a machine: eight of ten times lie between this"),
    REAL("high", high, 1e9, "and this times what the laws say; 0: nobody knows"),
    {.key = "assumed",
     .type = CONF_BOOL,
     .offset = AT(assumed),
     .def = "false",
     .help = "nobody measured it; shown wherever its time is"},
    POLY("exec_polynomial", exec_poly, "its work in seconds: terms of the GiB of all processes"),
    POLY("wait_polynomial", wait_poly, "its waiting likewise"),
    POLY("total_polynomial", total_poly, "of a machine: the whole activity takes at least that"),
    {.key = "function",
     .type = CONF_STRING,
     .offset = AT(function),
     .def = "",
     .help = "the name of the function in the published model"},
    {.key = "class",
     .type = CONF_CHOICE,
     .offset = AT(cls),
     .def = "control",
     .names = stack_class_names,
     .help = "its class in tables of functions"},
    {.key = "class_b",
     .type = CONF_CHOICE,
     .offset = AT(cls_b),
     .def = "control",
     .names = stack_class_names,
     .help = "and by the second way to tell the classes apart"},
    CONF_END,
};

#undef AT
#define AT(field) offsetof(struct stack_laws_file, at.field) - offsetof(struct stack_laws_file, at)
#define COUNT(key_, field_, help_)                                                             \
    {                                                                                          \
        .key = key_, .type = CONF_U32, .offset = AT(field_), .def = "1", .min = 1, .max = 1e6, \
        .help = help_                                                                          \
    }
#define BYTES(key_, field_, help_)                                                         \
    {                                                                                      \
        .key = key_, .type = CONF_BYTES, .offset = AT(field_), .def = "0 B", .help = help_ \
    }

static const struct conf_row at_rows[] = {
    COUNT("servers", servers, "servers of the measurement"),
    COUNT("clients", clients, "client processes of the measurement"),
    {.key = "medium",
     .type = CONF_CHOICE,
     .offset = AT(medium),
     .def = "switched",
     .names = medium_names,
     .help = "whether every node has a link of its own or all share one"},
    TIME("stagger_read", stagger_read_ps,
         "processes begin to read, after an open, within this of each other"),
    TIME("stagger_write", stagger_write_ps, "and to write"),
    BYTES("from", from_b, "the smallest size per process that was measured"),
    BYTES("to", to_b, "and the largest"),
    {.key = "low",
     .type = CONF_REAL,
     .offset = AT(low),
     .def = "1",
     .min = 0,
     .max = 1e6,
     .help = "eight of ten reads and writes take between this"},
    {.key = "high",
     .type = CONF_REAL,
     .offset = AT(high),
     .def = "1",
     .min = 0,
     .max = 1e6,
     .help = "and this times what the laws say"},
    CONF_END,
};

#undef AT
#define AT(field) \
    offsetof(struct stack_laws_file, link.field) - offsetof(struct stack_laws_file, link)
static const struct conf_row link_rows[] = {
    {.key = "latency",
     .type = CONF_TIME,
     .offset = AT(latency_ps),
     .def = "20 us",
     .min = 0,
     .max = 1e15,
     .help = "from one node to another"},
    {.key = "bandwidth",
     .type = CONF_RATE,
     .offset = AT(bandwidth_bps),
     .def = "1 GB/s",
     .min = 1,
     .max = 1e15,
     .help = "of a node's link"},
    BYTES("buffer_read", buffer_read_b,
          "a server that is read from is done when the last bytes, so many, are in the sockets' "
          "buffers; 0: when the client has them all"),
    BYTES("buffer_write", buffer_write_b, "and a client that writes, likewise"),
    {.key = "buffer_part",
     .type = CONF_REAL,
     .offset = AT(buffer_part),
     .def = "0.5",
     .min = 0,
     .max = 1,
     .help = "of a short flow at most this part: buffers grow while data arrive"},
    TIME("queue_read", queue_read_ps,
         "a message waits so long behind data that are read over the same link"),
    TIME("queue_write", queue_write_ps, "and behind data that are written"),
    CONF_END,
};

#undef AT
#define AT(field) \
    offsetof(struct stack_laws_file, between.field) - offsetof(struct stack_laws_file, between)
static const struct conf_row between_rows[] = {
    TIME("client", client_ps, "on clients"),
    TIME("server", server_ps, "on servers"),
    CONF_END,
};

#undef AT
#define AT(field) offsetof(struct stack_laws_file, field)
static const struct conf_row file_rows[] = {
    {.key = "title", .type = CONF_STRING, .offset = AT(title), .help = "the laws in words"},
    {.key = "source",
     .type = CONF_STRING,
     .offset = AT(source),
     .def = "not measured",
     .help = "where the times come from; shown wherever they are used"},
    {.key = "at",
     .type = CONF_SECTION,
     .offset = AT(at),
     .rows = at_rows,
     .help = "where flows were measured"},
    {.key = "link",
     .type = CONF_SECTION,
     .offset = AT(link),
     .rows = link_rows,
     .help = "the network between the nodes"},
    {.key = "between",
     .type = CONF_SECTION,
     .offset = AT(between),
     .rows = between_rows,
     .help = "what passes from the end of a state to the begin of the next"},
    {.key = "states",
     .type = CONF_TABLE,
     .offset = AT(states),
     .rows = law_rows,
     .size = sizeof(struct law_text),
     .min = 0,
     .max = 1000,
     .help = "machine:state, or a machine; /read or /write may follow, or /meta or /data"},
    CONF_END,
};

static struct stack_law affine(double constant_ps, double per_byte_ps, double knee_b,
                               double after_ps)
{
    return (struct stack_law){
        .given = true,
        .constant_ns = constant_ps * 1e-3,
        .per_byte_ns = per_byte_ps * 1e-3,
        .knee_b = knee_b,
        .after_ns = after_ps * 1e-3,
    };
}

static bool polynomial(struct stack_laws *l, struct stack_law *ret, const struct conf_list *list,
                       struct wr_err *err)
{
    const double *v = list->items;

    if (list->n > STACK_POLY)
        return conf_fail(l->conf, &v[STACK_POLY], err, "more than %d terms; leave the last out",
                         STACK_POLY);
    if (!list->n)
        return true;
    *ret = (struct stack_law){.given = true, .poly = true};
    memcpy(ret->term, v, list->n * sizeof *v);
    if (list->n > 2 && l->to_b) /* a line may go on; a curve beyond its points means nothing */
        ret->most_x = (double)l->to_b * l->clients / GIB;
    return true;
}

static bool bind_state(struct stack_laws *l, const struct law_text *t, uint16_t state,
                       uint16_t machine, uint8_t writes, struct wr_err *err)
{
    for (uint8_t w = 0; w < 2; w++) {
        if (writes < 2 && writes != w)
            continue;
        if (state == STACK_NONE) {
            l->stretch[machine] = t->stretch;
            l->band[writes][machine] = (struct stack_band){t->low, t->high};
            if (!polynomial(l, &l->total[w][machine], &t->total_poly, err))
                return false;
            continue;
        }
        l->assumed[state] |= t->assumed;
        l->exec[w][state] = affine(t->exec_ps, t->exec_per_byte_ps, 0, 0);
        l->wait[w][state] =
            affine(t->wait_ps, t->wait_per_byte_ps, t->wait_knee_b, t->wait_after_ps);
        if (!polynomial(l, &l->exec[w][state], &t->exec_poly, err) ||
            !polynomial(l, &l->wait[w][state], &t->wait_poly, err))
            return false;
    }
    if (t->function && *t->function)
        wr_vec_push(&l->function, (struct stack_function){
                                      .name = t->function,
                                      .cls = {(uint8_t)t->cls, (uint8_t)t->cls_b},
                                      .state = state,
                                      .machine = machine,
                                      .writes = writes,
                                      .waits = t->wait_poly.n > 0,
                                  });
    return true;
}

/* 0 of reads or metadata, 1 of writes or data files, 2 of either. */
static uint8_t way_of(const char *slash, bool *ret_data)
{
    static const char *const ways[] = {"/read", "/write", "/meta", "/data"};

    *ret_data = false;
    for (uint8_t i = 0; slash && i < 4; i++)
        if (!strcmp(slash, ways[i])) {
            *ret_data = i > 1;
            return i % 2;
        }
    return 2;
}

static bool bind(struct stack_laws *l, const struct stack_fs *fs, const struct law_text *t,
                 struct wr_err *err)
{
    const char *name = t->key.name, *slash = strrchr(name, '/');
    bool data;
    uint8_t writes = way_of(slash, &data);
    size_t len = writes < 2 ? (size_t)(slash - name) : strlen(name);
    char machine[160];
    uint16_t state = stack_find_state(fs, name, len), m = STACK_NONE;

    if (state == STACK_NONE && len < sizeof machine) {
        memcpy(machine, name, len);
        machine[len] = 0;
        m = stack_find_machine(fs, machine);
    }
    if (state == STACK_NONE && m == STACK_NONE) {
        struct stack_text best = stack_like_state(fs, name);

        return conf_fail(l->conf, t, err, "%s has no state \"%s\"; %s%s%s", fs->name,
                         wr_text_clip(name).s,
                         *best.s ? "did you mean " : "`weir stack run --by state` lists them",
                         best.s, *best.s ? "?" : "");
    }
    if (data && (state == STACK_NONE || !fs->state.v[state].has_data_code))
        return conf_fail(
            l->conf, t, err,
            "\"%s\" knows no data files: only states with a data_code do; leave %s out",
            wr_text_clip(name).s, slash);
    return bind_state(l, t, state, m, writes, err);
}

/* A jump takes no time of its own; the layers below take theirs from the states above. */
static bool takes_time(const struct stack_fs *fs, const struct stack_state *s)
{
    return s->does != STACK_JUMP_TO && fs->machine.v[s->machine].kind != STACK_LAYER;
}

static bool bind_all(struct stack_laws *l, const struct stack_fs *fs, struct wr_err *err)
{
    const struct stack_laws_file *f = l->file;
    const struct law_text *t = f->states.items;

    l->title = f->title;
    l->source = f->source;
    l->servers = f->at.servers;
    l->clients = f->at.clients;
    l->medium = f->at.medium;
    l->from_b = f->at.from_b;
    l->to_b = f->at.to_b;
    l->stagger_ns[0] = f->at.stagger_read_ps * 1e-3;
    l->stagger_ns[1] = f->at.stagger_write_ps * 1e-3;
    l->io = (struct stack_band){f->at.low, f->at.high};
    l->latency_ns = f->link.latency_ps * 1e-3;
    l->ns_per_b = 1e9 / f->link.bandwidth_bps;
    l->buffer_b[0] = f->link.buffer_read_b;
    l->buffer_b[1] = f->link.buffer_write_b;
    l->buffer_part = f->link.buffer_part;
    l->queue_ns[0] = f->link.queue_read_ps * 1e-3;
    l->queue_ns[1] = f->link.queue_write_ps * 1e-3;
    l->queues = l->queue_ns[0] > 0 || l->queue_ns[1] > 0;
    l->between_ns[0] = f->between.client_ps * 1e-3;
    l->between_ns[1] = f->between.server_ps * 1e-3;
    l->stretch = wr_zalloc(fs->machine.n, sizeof *l->stretch);
    l->assumed = wr_zalloc(fs->state.n, sizeof *l->assumed);
    for (int w = 0; w < 3; w++)
        l->band[w] = wr_zalloc(fs->machine.n, sizeof *l->band[w]);
    for (int w = 0; w < 2; w++) {
        l->exec[w] = wr_zalloc(fs->state.n, sizeof *l->exec[w]);
        l->wait[w] = wr_zalloc(fs->state.n, sizeof *l->wait[w]);
        l->total[w] = wr_zalloc(fs->machine.n, sizeof *l->total[w]);
    }
    for (size_t i = 0; i < f->states.n; i++)
        if (!bind(l, fs, &t[i], err))
            return false;
    for (size_t i = 0; i < fs->state.n; i++)
        if (takes_time(fs, &fs->state.v[i]) && (!l->exec[0][i].given || !l->exec[1][i].given))
            wr_vec_push(&l->missing, (uint16_t)i);
    return true;
}

static bool read_laws(struct stack_laws **ret, const struct stack_fs *fs, const char *name,
                      const char *text, size_t len, struct wr_err *err)
{
    struct stack_laws *l = wr_zalloc(1, sizeof *l);

    l->file = wr_zalloc(1, sizeof *l->file);
    bool ok = text ? conf_load_text(&l->conf, l->file, file_rows, name, text, len, NULL, 0, err)
                   : conf_load(&l->conf, l->file, file_rows, name, NULL, 0, err);

    if (!ok || !bind_all(l, fs, err)) {
        stack_laws_close(l);
        return false;
    }
    l->name = l->title;
    *ret = l;
    return true;
}

bool stack_laws_open_text(struct stack_laws **ret, const struct stack_fs *fs, const char *name,
                          const char *text, size_t len, struct wr_err *err)
{
    return read_laws(ret, fs, name, text, len, err);
}

bool stack_laws_open(struct stack_laws **ret, const struct stack_fs *fs, const char *name,
                     struct wr_err *err)
{
    struct wr_nearest near = {.want = name};
    size_t n = strlen(fs->name);

    for (const struct stack_shipped *s = shipped; s->name; s++) {
        if (strncmp(s->name, fs->name, n) || s->name[n] != '-')
            continue;
        wr_nearest_try(&near, s->name + n + 1);
        if (!strcmp(s->name + n + 1, name))
            return read_laws(ret, fs, s->name, s->text, strlen(s->text), err);
    }
    if (!strchr(name, '/') && !strchr(name, '.'))
        return wr_fail(err, WR_UNKNOWN, "no laws \"%s\" for %s; %s%s%s", wr_text_clip(name).s,
                       fs->name, near.best ? "did you mean " : "`weir stack list` shows them",
                       near.best ? near.best : "", near.best ? "?" : "");
    return read_laws(ret, fs, name, NULL, 0, err);
}

void stack_laws_close(struct stack_laws *l)
{
    if (!l)
        return;
    if (l->conf)
        conf_close(l->conf);
    free(l->file);
    for (int w = 0; w < 2; w++) {
        free(l->exec[w]);
        free(l->wait[w]);
        free(l->total[w]);
    }
    for (int w = 0; w < 3; w++)
        free(l->band[w]);
    free(l->stretch);
    free(l->assumed);
    wr_vec_fini(&l->function);
    wr_vec_fini(&l->missing);
    free(l);
}

uint64_t stack_law_ns(const struct stack_law *law, double x_b, double all_b)
{
    double ns = 0;

    if (law->poly) {
        double x = all_b / GIB;

        if (law->most_x > 0 && x > law->most_x)
            x = law->most_x;

        for (int i = STACK_POLY; i-- > 0;)
            ns = ns * x + law->term[i];
        return stack_ns(ns * 1e9);
    }
    ns = law->constant_ns;
    if (law->knee_b > 0 && x_b > law->knee_b)
        ns += law->per_byte_ns * law->knee_b + law->after_ns * (x_b - law->knee_b);
    else
        ns += law->per_byte_ns * x_b;
    return stack_ns(ns);
}

bool stack_laws_measured(const struct stack_laws *laws)
{
    return !strstr(laws->source, "not measured");
}

bool stack_state_measured(const struct stack_laws *laws, uint16_t state)
{
    return stack_laws_measured(laws) && !laws->assumed[state];
}

/* What nobody named are the file system's `default`, or nothing takes time. */
bool stack_laws_for(struct stack_laws **ret, const struct stack_fs *fs, const char *name,
                    struct wr_err *err)
{
    static const char none[] = "title: no times\nstates: {}\n";
    size_t n = strlen(fs->name);

    if (name && *name)
        return stack_laws_open(ret, fs, name, err);
    for (const struct stack_shipped *l = shipped; l->name; l++)
        if (!strncmp(l->name, fs->name, n) && !strcmp(l->name + n, "-default"))
            return stack_laws_open(ret, fs, "default", err);
    return stack_laws_open_text(ret, fs, "no times", none, sizeof none - 1, err);
}
