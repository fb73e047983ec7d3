/* timing.c -- reads a file of timing models and evaluates a timing model.
 *
 * The rows below are the keys of such a file. timing_bind_all() assigns each entry to the states or
 * the machine that it names; states without one take no time and are listed in `missing`.
 * stack_job.c and calib.c open timing models; the engine evaluates them. Once opened they are
 * read-only, except for vary.c, which scales them before a run.
 */
#include "stack/timing.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB 1073741824.0

static const struct stack_shipped shipped[] = {
#include "stack_timing.inc"
    {NULL, NULL},
};

const struct stack_shipped *stack_shipped_timings(void)
{
    return shipped;
}

/* The rows of `states`, as they are written; times in ps. */
struct timing_text {
    struct conf_key key; /* machine:state, or machine; /read, /write, /meta or /data may follow */
    double exec_ps, exec_per_message_ps, exec_per_byte_ps, wait_ps, wait_per_byte_ps, wait_knee_b,
        wait_after_ps;
    double slowdown, low, high;
    double former_slowdown; /* the same by its key before version 0.2, `stretch` */
    bool assumed;
    struct conf_list exec_poly, wait_poly, total_poly; /* of double */
    struct conf_list piece_b, piece_us;                /* likewise */
    const char *function;
    uint32_t cls, cls_b;
};

/* The file, section by section; its fields are the keys (the rows below), times in ps. Constant
 * after reading. stack_timings has the meaning of each. */
struct stack_timings_file {
    const char *title, *source, *base; /* base: a file that has what this one has not */
    struct {
        uint32_t servers, clients, medium;
        bool alone;
        uint32_t servers_from, clients_from;
        uint64_t from_b, to_b, process_from_b, process_to_b;
        struct conf_list patterns; /* of const char * */
        double trust[3];
        double stagger_read_ps, stagger_write_ps;
        double low, high, together;
    } at;
    struct {
        double latency_ps, bandwidth_bps;
        uint64_t buffer_read_b, buffer_write_b;
        double buffer_part;
        double queue_read_ps, queue_write_ps;
        double parallel;
        double buffer_wait_ps, apart_read, apart_write;
    } link;
    struct {
        uint64_t cache_b;
        double cache_bps, write_bps, read_bps;
    } device;
    struct {
        double client_ps, server_ps;
    } between;
    struct conf_list states;
};

static const char *const medium_names[] = {"switched", "shared", NULL};

#define AT(field) offsetof(struct timing_text, field)
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

static const struct conf_row timing_rows[] = {
    TIME("exec", exec_ps, "its own work"),
    REAL("exec_per_byte", exec_per_byte_ps, 1e15, "and so many picoseconds per byte"),
    TIME("exec_per_message", exec_per_message_ps, "and of a state that sends, for each message"),
    TIME("wait", wait_ps, "what it waits for the storage"),
    REAL("wait_per_byte", wait_per_byte_ps, 1e15, "and so many picoseconds per byte"),
    REAL("wait_knee", wait_knee_b, 1e18, "bytes beyond which a byte costs another time; 0: never"),
    REAL("wait_per_byte_after", wait_after_ps, 1e15, "picoseconds per byte beyond the knee"),
    REAL("slowdown", slowdown, 1e6,
         "of a client's operation: it waits for answers so many times longer than servers and "
         "network take; of a server's request: its states and the answers of other servers "
         "take so many times longer; 0: no longer"),
    REAL("stretch", former_slowdown, 1e6, "the former name of `slowdown`"),
    REAL("low", low, 1e9, "of a machine: eight of ten times lie between this"),
    REAL("high", high, 1e9, "and this times what the timing models say; 0: unknown"),
    {.key = "assumed",
     .type = CONF_BOOL,
     .offset = AT(assumed),
     .def = "false",
     .help = "its time is assumed, not measured; shown wherever its time is"},
    POLY("wait_sizes", piece_b,
         "instead of wait_per_byte: bytes at which the time of a byte may change, ascending"),
    POLY("wait_times", piece_us, "and the microseconds that so many bytes take, beside the wait"),
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
     .help = "and its class by the second assignment of classes"},
    CONF_END,
};

#undef AT
#define AT(field) \
    offsetof(struct stack_timings_file, at.field) - offsetof(struct stack_timings_file, at)
#define COUNT(key_, field_, help_)                                                             \
    {                                                                                          \
        .key = key_, .type = CONF_U32, .offset = AT(field_), .def = "1", .min = 1, .max = 1e6, \
        .help = help_                                                                          \
    }
#define REAL_AT(key_, field_, help_)                                                             \
    {                                                                                            \
        .key = key_, .type = CONF_REAL, .offset = AT(field_), .def = "0", .min = 0, .max = 1e12, \
        .help = help_                                                                            \
    }
#define BYTES(key_, field_, help_)                                                         \
    {                                                                                      \
        .key = key_, .type = CONF_BYTES, .offset = AT(field_), .def = "0 B", .help = help_ \
    }

static const struct conf_row at_rows[] = {
    COUNT("servers", servers, "servers of the measurement, the most of several"),
    COUNT("clients", clients, "client processes of the measurement, the most of several"),
    {.key = "servers_from",
     .type = CONF_U32,
     .offset = AT(servers_from),
     .def = "0",
     .min = 0,
     .max = 1e6,
     .help = "the fewest servers; 0: as many as the most"},
    {.key = "clients_from",
     .type = CONF_U32,
     .offset = AT(clients_from),
     .def = "0",
     .min = 0,
     .max = 1e6,
     .help = "the fewest processes; 0: as many as the most"},
    {.key = "medium",
     .type = CONF_CHOICE,
     .offset = AT(medium),
     .def = "switched",
     .names = medium_names,
     .help = "whether every node has a link of its own or all share one"},
    {.key = "alone",
     .type = CONF_BOOL,
     .offset = AT(alone),
     .def = "false",
     .help = "a flow's timing model is of one that has the medium for itself; else of one that "
             "shares it "
             "with those of so many servers and clients"},
    TIME("stagger_read", stagger_read_ps,
         "processes begin to read, after an open, within this of each other"),
    TIME("stagger_write", stagger_write_ps, "and to write"),
    BYTES("from", from_b, "the bytes of the smallest call that was measured"),
    BYTES("to", to_b, "and of the largest"),
    BYTES("process_from", process_from_b, "the least bytes of a process"),
    BYTES("process_to", process_to_b, "and the most; 0: those of a call"),
    {.key = "patterns",
     .type = CONF_LIST,
     .offset = AT(patterns),
     .def = "",
     .item = CONF_STRING,
     .size = sizeof(const char *),
     .help = "what was measured: files of their own (own), one file (one), random, collective"},
    REAL_AT("trust_sizes", trust[0], "mean error at sizes left out"),
    REAL_AT("trust_setups", trust[1], "and with numbers of servers and processes left out"),
    REAL_AT("trust_patterns", trust[2], "and of patterns left out"),
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
     .help = "and this times what the timing models say"},
    {.key = "together",
     .type = CONF_REAL,
     .offset = AT(together),
     .def = "0",
     .min = 0,
     .max = 1,
     .help = "how far reads and writes of one run are slow together, because of the state in which "
             "it found devices and machine: their correlation"},
    CONF_END,
};

#undef AT
#define AT(field) \
    offsetof(struct stack_timings_file, link.field) - offsetof(struct stack_timings_file, link)
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
    {.key = "parallel",
     .type = CONF_REAL,
     .offset = AT(parallel),
     .def = "0",
     .min = 0,
     .max = 1,
     .help = "of a shared medium: n flows together are as fast as one times n to this power; 0: "
             "no faster, 1: they are not in each other's way"},
    REAL("apart_read", apart_read, 0.9,
         "of the flows of one read the first gets so much more of its links than the mean, and the "
         "last so much less: they end one after another"),
    REAL("apart_write", apart_write, 0.9, "and of those of one write"),
    TIME("buffer_wait", buffer_wait_ps,
         "from one buffer of a flow to its next nothing of it moves for so long: one receive is "
         "outstanding"),
    CONF_END,
};

#undef AT
#define AT(field) \
    offsetof(struct stack_timings_file, device.field) - offsetof(struct stack_timings_file, device)
#define RATE(key_, field_, help_)                                                              \
    {                                                                                          \
        .key = key_, .type = CONF_RATE, .offset = AT(field_), .def = "1000000 GB/s", .min = 1, \
        .max = 1e15, .help = help_                                                             \
    }

static const struct conf_row device_rows[] = {
    BYTES("cache", cache_b, "bytes that a server's page cache takes before its disk has to"),
    RATE("cache_rate", cache_bps, "of the page cache"),
    RATE("write_rate", write_bps, "of the disk, for what the cache does not take"),
    RATE("read_rate", read_bps, "of the disk, for what is not in the cache"),
    CONF_END,
};

#undef AT
#define AT(field)                                        \
    offsetof(struct stack_timings_file, between.field) - \
        offsetof(struct stack_timings_file, between)
static const struct conf_row between_rows[] = {
    TIME("client", client_ps, "on clients"),
    TIME("server", server_ps, "on servers"),
    CONF_END,
};

#undef AT
#define AT(field) offsetof(struct stack_timings_file, field)
static const struct conf_row file_rows[] = {
    {.key = "title",
     .type = CONF_STRING,
     .offset = AT(title),
     .help = "the timing models in words"},
    {.key = "source",
     .type = CONF_STRING,
     .offset = AT(source),
     .def = "not measured",
     .help = "where the times come from; shown wherever they are used"},
    {.key = "base",
     .type = CONF_STRING,
     .offset = AT(base),
     .def = "",
     .help = "other shipped models of the file system: states that are not here are as there"},
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
    {.key = "device",
     .type = CONF_SECTION,
     .offset = AT(device),
     .rows = device_rows,
     .help = "what a server keeps data on; without it that takes no time of its own"},
    {.key = "between",
     .type = CONF_SECTION,
     .offset = AT(between),
     .rows = between_rows,
     .help = "what passes from the end of a state to the begin of the next"},
    {.key = "states",
     .type = CONF_TABLE,
     .offset = AT(states),
     .rows = timing_rows,
     .size = sizeof(struct timing_text),
     .min = 0,
     .max = 1000,
     .help = "machine:state, or a machine; /read or /write may follow, or /meta or /data"},
    CONF_END,
};

static struct stack_timing timing_affine(double constant_ps, double per_byte_ps, double knee_b,
                                         double after_ps)
{
    return (struct stack_timing){
        .given = true,
        .constant_ns = constant_ps * 1e-3,
        .per_byte_ns = per_byte_ps * 1e-3,
        .knee_b = knee_b,
        .after_ns = after_ps * 1e-3,
    };
}

static bool timing_polynomial(struct stack_timings *l, struct stack_timing *ret,
                              const struct conf_list *list, struct wr_err *err)
{
    const double *v = list->items;

    if (list->n > STACK_POLY)
        return conf_fail(l->conf, &v[STACK_POLY], err, "more than %d terms; leave the last out",
                         STACK_POLY);
    if (!list->n)
        return true;
    *ret = (struct stack_timing){.given = true, .poly = true};
    memcpy(ret->term, v, list->n * sizeof *v);
    if (list->n > 2 && l->to_b) /* a line may go on; a curve beyond its points means nothing */
        ret->most_x = (double)l->to_b * l->clients / GIB;
    return true;
}

/* Points that neither fall nor go back. */
static bool timing_pieces(struct stack_timings *l, struct stack_timing *ret,
                          const struct timing_text *t, struct wr_err *err)
{
    const double *b = t->piece_b.items, *us = t->piece_us.items;

    if (!t->piece_b.n && !t->piece_us.n)
        return true;
    if (t->piece_b.n != t->piece_us.n || t->piece_b.n > STACK_PIECES)
        return conf_fail(l->conf, t->piece_b.n ? b : us, err,
                         "%zu wait_sizes and %zu wait_times; give as many, at most %d",
                         t->piece_b.n, t->piece_us.n, STACK_PIECES);
    for (size_t i = 0; i < t->piece_b.n; i++) {
        if (!(b[i] > (i ? b[i - 1] : 0)) || !(us[i] >= (i ? us[i - 1] : 0)) || !(us[i] < 1e15))
            return conf_fail(l->conf, b[i] > (i ? b[i - 1] : 0) ? &us[i] : &b[i], err,
                             "wait_sizes grow and wait_times do not fall; mend the %zu. of them",
                             i + 1);
        ret->piece_b[i] = b[i];
        ret->piece_ns[i] = us[i] * 1e3;
    }
    ret->pieces = (uint32_t)t->piece_b.n;
    return true;
}

static bool timing_bind_state(struct stack_timings *l, const struct timing_text *t, uint16_t state,
                              uint16_t machine, uint8_t writes, struct wr_err *err)
{
    assert(writes <= 2 && (state < STACK_NONE || machine < STACK_NONE));
    for (uint8_t w = 0; w < 2; w++) {
        if (writes < 2 && writes != w)
            continue;
        if (state == STACK_NONE) {
            double slowdown = t->slowdown > 0 ? t->slowdown : t->former_slowdown;

            if (slowdown > 0)
                l->slowdown[w][machine] = slowdown;
            l->band[writes][machine] = (struct stack_band){t->low, t->high};
            if (!timing_polynomial(l, &l->total[w][machine], &t->total_poly, err))
                return false;
            continue;
        }
        l->assumed[state] |= t->assumed;
        l->exec[w][state] = timing_affine(t->exec_ps, t->exec_per_byte_ps, 0, 0);
        l->exec[w][state].per_message_ns = t->exec_per_message_ps * 1e-3;
        l->wait[w][state] =
            timing_affine(t->wait_ps, t->wait_per_byte_ps, t->wait_knee_b, t->wait_after_ps);
        if (!timing_pieces(l, &l->wait[w][state], t, err) ||
            !timing_polynomial(l, &l->exec[w][state], &t->exec_poly, err) ||
            !timing_polynomial(l, &l->wait[w][state], &t->wait_poly, err))
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
static uint8_t timing_way(const char *slash, bool *ret_data)
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

static bool timing_bind(struct stack_timings *l, const struct stack_fs *fs,
                        const struct timing_text *t, struct wr_err *err)
{
    const char *name = t->key.name, *slash = strrchr(name, '/');
    bool data;
    uint8_t writes = timing_way(slash, &data);
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

        return conf_fail(
            l->conf, t, err, "%s has no state \"%s\"; %s%s%s", fs->name, wr_text_clip(name).s,
            *best.s ? "did you mean " : "its machine file has them", best.s, *best.s ? "?" : "");
    }
    if (data && (state == STACK_NONE || !fs->state.v[state].has_data_code))
        return conf_fail(
            l->conf, t, err,
            "\"%s\" knows no data files: only states with a data_code do; leave %s out",
            wr_text_clip(name).s, slash);
    return timing_bind_state(l, t, state, m, writes, err);
}

/* A jump takes no time of its own; the layers below take theirs from the states above. */
static bool timing_takes_time(const struct stack_fs *fs, const struct stack_state *s)
{
    return s->does != STACK_JUMP_TO && fs->machine.v[s->machine].kind != STACK_LAYER;
}

static const char *const pattern_names[] = {"own", "one", "random", "collective"};

static bool timing_patterns(struct stack_timings *l, struct wr_err *err)
{
    const char *const *v = l->file->at.patterns.items;

    for (size_t i = 0; i < l->file->at.patterns.n; i++) {
        int k = 0;

        while (k < STACK_PATTERNS && strcmp(v[i], pattern_names[k]))
            k++;
        if (k == STACK_PATTERNS)
            return conf_fail(l->conf, &v[i], err,
                             "no pattern \"%s\"; there are own, one, random and collective",
                             wr_text_clip(v[i]).s);
        l->patterns |= 1u << k;
    }
    if (!l->patterns)
        l->patterns = 1u << STACK_OWN_FILES;
    return true;
}

static bool timing_is_shipped(const struct stack_fs *fs, const char *name)
{
    size_t n = strlen(fs->name);

    for (const struct stack_shipped *s = shipped; s->name; s++)
        if (!strncmp(s->name, fs->name, n) && s->name[n] == '-' && !strcmp(s->name + n + 1, name))
            return true;
    return false;
}

/* The states of the models that these are based on; their flows are of another medium. */
static bool timing_copy_base(struct stack_timings *l, const struct stack_fs *fs, struct wr_err *err)
{
    const char *name = l->file->base;
    struct stack_timings *base;

    if (!name || !*name)
        return true;
    if (!timing_is_shipped(fs, name)) /* so no file is its own base */
        return conf_fail(l->conf, &l->file->base, err,
                         "base \"%s\" is not shipped for %s; `weir stack list` shows what is",
                         wr_text_clip(name).s, fs->name);
    if (!stack_timings_open(&base, fs, name, err))
        return false;
    for (int w = 0; w < 2; w++)
        for (size_t i = 0; i < fs->state.n; i++) {
            l->exec[w][i] = base->exec[w][i];
            l->wait[w][i] = base->wait[w][i];
            if (fs->state.v[i].does == STACK_FLOW)
                l->wait[w][i] = (struct stack_timing){0};
        }
    memcpy(l->assumed, base->assumed, fs->state.n * sizeof *l->assumed);
    for (int i = 0; i < 2; i++)
        l->between_ns[i] = l->between_ns[i] > 0 ? l->between_ns[i] : base->between_ns[i];
    stack_timings_close(base);
    return true;
}

static bool timing_bind_all(struct stack_timings *l, const struct stack_fs *fs, struct wr_err *err)
{
    const struct stack_timings_file *f = l->file;
    const struct timing_text *t = f->states.items;

    l->title = f->title;
    l->source = f->source;
    l->servers = f->at.servers;
    l->clients = f->at.clients;
    l->medium = f->at.medium;
    l->alone = f->at.alone;
    l->servers_from = f->at.servers_from ? f->at.servers_from : l->servers;
    l->clients_from = f->at.clients_from ? f->at.clients_from : l->clients;
    l->process_from_b = f->at.process_to_b ? f->at.process_from_b : f->at.from_b;
    l->process_to_b = f->at.process_to_b ? f->at.process_to_b : f->at.to_b;
    for (int i = 0; i < 3; i++)
        l->trust[i] = f->at.trust[i];
    if (!timing_patterns(l, err))
        return false;
    l->from_b = f->at.from_b;
    l->to_b = f->at.to_b;
    l->stagger_ns[0] = f->at.stagger_read_ps * 1e-3;
    l->stagger_ns[1] = f->at.stagger_write_ps * 1e-3;
    l->io = (struct stack_band){f->at.low, f->at.high};
    l->together = f->at.together;
    l->latency_ns = f->link.latency_ps * 1e-3;
    l->ns_per_b = 1e9 / f->link.bandwidth_bps;
    l->buffer_b[0] = f->link.buffer_read_b;
    l->buffer_b[1] = f->link.buffer_write_b;
    l->buffer_part = f->link.buffer_part;
    l->queue_ns[0] = f->link.queue_read_ps * 1e-3;
    l->queue_ns[1] = f->link.queue_write_ps * 1e-3;
    l->queues = l->queue_ns[0] > 0 || l->queue_ns[1] > 0;
    l->parallel = f->link.parallel;
    l->apart[0] = f->link.apart_read;
    l->apart[1] = f->link.apart_write;
    l->buffer_wait_ns = f->link.buffer_wait_ps * 1e-3;
    l->device = f->device.cache_b > 0;
    l->cache_b = f->device.cache_b;
    l->cache_ns = 1e9 / f->device.cache_bps;
    l->disk_ns[0] = 1e9 / f->device.read_bps;
    l->disk_ns[1] = 1e9 / f->device.write_bps;
    l->between_ns[0] = f->between.client_ps * 1e-3;
    l->between_ns[1] = f->between.server_ps * 1e-3;
    l->assumed = wr_zalloc(fs->state.n, sizeof *l->assumed);
    for (int w = 0; w < 3; w++)
        l->band[w] = wr_zalloc(fs->machine.n, sizeof *l->band[w]);
    for (int w = 0; w < 2; w++) {
        l->slowdown[w] = wr_zalloc(fs->machine.n, sizeof *l->slowdown[w]);
        l->exec[w] = wr_zalloc(fs->state.n, sizeof *l->exec[w]);
        l->wait[w] = wr_zalloc(fs->state.n, sizeof *l->wait[w]);
        l->total[w] = wr_zalloc(fs->machine.n, sizeof *l->total[w]);
    }
    if (!timing_copy_base(l, fs, err))
        return false;
    for (size_t i = 0; i < f->states.n; i++)
        if (!timing_bind(l, fs, &t[i], err))
            return false;
    for (size_t i = 0; i < fs->state.n; i++)
        if (timing_takes_time(fs, &fs->state.v[i]) &&
            (!l->exec[0][i].given || !l->exec[1][i].given))
            wr_vec_push(&l->missing, (uint16_t)i);
    return true;
}

static bool timing_read(struct stack_timings **ret, const struct stack_fs *fs, const char *name,
                        const char *text, size_t len, struct wr_err *err)
{
    struct stack_timings *l = wr_zalloc(1, sizeof *l);

    l->file = wr_zalloc(1, sizeof *l->file);
    bool ok = text ? conf_load_text(&l->conf, l->file, file_rows, name, text, len, NULL, 0, err)
                   : conf_load(&l->conf, l->file, file_rows, name, NULL, 0, err);

    if (!ok || !timing_bind_all(l, fs, err)) {
        stack_timings_close(l);
        return false;
    }
    l->name = l->title;
    *ret = l;
    return true;
}

bool stack_timings_open_text(struct stack_timings **ret, const struct stack_fs *fs,
                             const char *name, const char *text, size_t len, struct wr_err *err)
{
    assert(fs && text);
    return timing_read(ret, fs, name, text, len, err);
}

bool stack_timings_open(struct stack_timings **ret, const struct stack_fs *fs, const char *name,
                        struct wr_err *err)
{
    assert(fs && name);
    struct wr_nearest near = {.want = name};
    size_t n = strlen(fs->name);

    for (const struct stack_shipped *s = shipped; s->name; s++) {
        if (strncmp(s->name, fs->name, n) || s->name[n] != '-')
            continue;
        wr_nearest_try(&near, s->name + n + 1);
        if (!strcmp(s->name + n + 1, name))
            return timing_read(ret, fs, s->name, s->text, strlen(s->text), err);
    }
    if (!strchr(name, '/') && !strchr(name, '.'))
        return wr_fail(err, WR_UNKNOWN, "no timing models \"%s\" for %s; %s%s%s",
                       wr_text_clip(name).s, fs->name,
                       near.best ? "did you mean " : "`weir stack list` shows them",
                       near.best ? near.best : "", near.best ? "?" : "");
    return timing_read(ret, fs, name, NULL, 0, err);
}

void stack_timings_close(struct stack_timings *l)
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
        free(l->slowdown[w]);
    }
    for (int w = 0; w < 3; w++)
        free(l->band[w]);
    free(l->assumed);
    wr_vec_fini(&l->function);
    wr_vec_fini(&l->missing);
    free(l);
}

static double timing_pieces_ns(const struct stack_timing *timing, double x_b)
{
    assert(timing->pieces > 0 && timing->pieces <= STACK_PIECES);
    double from_b = 0, from_ns = 0;
    uint32_t i = 0;

    while (i + 1 < timing->pieces && x_b > timing->piece_b[i]) {
        from_b = timing->piece_b[i];
        from_ns = timing->piece_ns[i++];
    }
    return from_ns +
           (x_b - from_b) * (timing->piece_ns[i] - from_ns) / (timing->piece_b[i] - from_b);
}

uint64_t stack_timing_ns(const struct stack_timing *timing, double x_b, double all_b)
{
    double ns = 0;

    if (timing->poly) {
        double x = all_b / GIB;

        if (timing->most_x > 0 && x > timing->most_x)
            x = timing->most_x;

        for (int i = STACK_POLY; i-- > 0;)
            ns = ns * x + timing->term[i];
        return stack_ns(ns * 1e9);
    }
    ns = timing->constant_ns;
    if (timing->pieces)
        ns += timing_pieces_ns(timing, x_b);
    else if (timing->knee_b > 0 && x_b > timing->knee_b)
        ns += timing->per_byte_ns * timing->knee_b + timing->after_ns * (x_b - timing->knee_b);
    else
        ns += timing->per_byte_ns * x_b;
    return stack_ns(ns);
}

bool stack_timings_measured(const struct stack_timings *timings)
{
    return !strstr(timings->source, "not measured");
}

bool stack_state_measured(const struct stack_timings *timings, uint16_t state)
{
    return stack_timings_measured(timings) && !timings->assumed[state];
}

/* Without a name: the file system's `default`, or none, and nothing takes time. */
bool stack_timings_for(struct stack_timings **ret, const struct stack_fs *fs, const char *name,
                       struct wr_err *err)
{
    static const char none[] = "title: no times\nstates: {}\n";
    size_t n = strlen(fs->name);

    if (name && *name)
        return stack_timings_open(ret, fs, name, err);
    for (const struct stack_shipped *l = shipped; l->name; l++)
        if (!strncmp(l->name, fs->name, n) && !strcmp(l->name + n, "-default"))
            return stack_timings_open(ret, fs, "default", err);
    return stack_timings_open_text(ret, fs, "no times", none, sizeof none - 1, err);
}
