/* stack_job.c -- opens a simulation of a test on a file system from a few keys.
 *
 * The verbs of `weir stack` and the runs of a study fill a struct stack_config (rows below) and
 * call stack_sim_open(). It opens the file system, the timing models, the test and the drive, in
 * this order; stack_sim_close() closes what was opened, also after a failure.
 */
#include "stack/stack_job.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define AT(field) offsetof(struct stack_config, field)
#define WORD(key_, field_, def_, help_)                                                    \
    {                                                                                      \
        .key = key_, .type = CONF_STRING, .offset = AT(field_), .def = def_, .help = help_ \
    }
#define COUNT(key_, field_, least_, def_, help_)                                         \
    {                                                                                    \
        .key = key_, .type = CONF_U32, .offset = AT(field_), .def = def_, .min = least_, \
        .max = 1u << 24, .help = help_                                                   \
    }

const struct conf_row stack_config_rows[] = {
    WORD("fs", fs, "pvfs2", "the file system: shipped (`weir stack list`), or a machine file"),
    WORD("timing", timings, "",
         "timing models of the states: shipped ones or a file; by default the file system's own"),
    WORD("laws", former_timings, "", "the former name of `timing`"),
    WORD("test", test, NULL,
         "an IOR command line, or a coNCePTuaL program (x.ncptl) and its options"),
    WORD("args", args, "", "more options of the test, after the others"),
    COUNT("servers", servers, 1, "1", "file servers"),
    COUNT("meta_servers", metas, 0, "0",
          "servers for metadata: besides, where those are apart; otherwise the first of them"),
    COUNT("data_servers", datas, 0, "0", "the last servers, that keep data; 0: all"),
    COUNT("tasks", tasks, 1, "1", "processes, each on a node of its own"),
    COUNT("data_files", dfiles, 0, "0", "servers that a file is spread over; 0: as it says itself"),
    WORD("first_server", first_server, "", "the server of the first file"),
    {.key = "seed",
     .type = CONF_U64,
     .offset = AT(seed),
     .def = "1",
     .help = "seed of random orders, and of what varies"},
    {.key = "vary",
     .type = CONF_BOOL,
     .offset = AT(vary),
     .def = "false",
     .help = "draw how much longer this run takes than the timing models say, from their bands"},
    {.key = "collective_buffering",
     .type = CONF_CHOICE,
     .offset = AT(cb),
     .def = "automatic",
     .names = stack_cb_mode_names,
     .help = "whether collective calls gather at aggregators, as ROMIO's hints say"},
    COUNT("cb_nodes", cb_nodes, 0, "0",
          "aggregators; 0: one of each node, which on a shared medium is one"),
    {.key = "cb_buffer_size",
     .type = CONF_BYTES,
     .offset = AT(cb_buffer_b),
     .def = "16 MiB",
     .min = 1,
     .max = 1e18,
     .help = "bytes that an aggregator handles at a time"},
    WORD("fault", fault, "", "a state that fails: \"machine:state=-110@1*1\""),
    WORD("net", net, "",
         "a machine file: messages travel over its fabric, not the timing models' link"),
    {.key = "set",
     .type = CONF_LIST,
     .item = CONF_STRING,
     .size = sizeof(char *),
     .offset = AT(set),
     .def = "",
     .help = "overrides of the machine file: \"stripes=4\""},
    CONF_END,
};

static bool job_is_given(const char *text)
{
    return text && *text;
}

static bool job_first_server(const struct stack_config *c, uint32_t *ret, struct wr_err *err)
{
    uint64_t v;

    *ret = UINT32_MAX;
    if (!job_is_given(c->first_server))
        return true;
    if (!wr_parse_u64(&v, c->first_server, err) || v >= UINT32_MAX)
        return wr_fail(err, WR_INPUT, "first_server: %s is no server; give a number from 0",
                       wr_text_clip(c->first_server).s);
    *ret = (uint32_t)v;
    return true;
}

static bool job_open_drive(struct stack_sim *s, const struct stack_config *c, struct wr_err *err)
{
    struct stack_play *program = s->program;

    s->program = NULL; /* the drive closes it */
    return program ? stack_drive_open_program(&s->drive, &s->setup, program, c->tasks, c->seed, err)
                   : stack_drive_open(&s->drive, &s->setup, &s->test, c->tasks, c->seed, err);
}

static bool job_open_test(struct stack_sim *s, const struct stack_config *c, struct wr_err *err)
{
    if (!c->servers)
        return wr_fail(err, WR_INPUT, "servers: 0 servers cannot answer; give at least 1");
    if (!c->tasks)
        return wr_fail(err, WR_INPUT, "tasks: 0 tasks make no calls; give at least 1");
    wr_str_addf(&s->words, "%s%s%s", c->test, job_is_given(c->args) ? " " : "",
                job_is_given(c->args) ? c->args : "");
    const char *command = wr_str_get(&s->words);

    if (stack_play_knows(command))
        return stack_play_open(&s->program, command, c->tasks, c->seed, err);
    s->has_test = ior_parse(&s->test, command, c->tasks, err);
    return s->has_test;
}

/* "create_sm:create_metafile=-28@2*3" */
static bool job_parse_fault(const struct stack_config *c, const struct stack_fs *fs,
                            struct stack_fault *ret, struct wr_err *err)
{
    const char *text = c->fault, *equals = text ? strchr(text, '=') : NULL;
    long long code;
    unsigned long long nth = 1, times = 1;
    char *end;

    if (!job_is_given(text))
        return true;
    size_t len = equals ? (size_t)(equals - text) : strlen(text);
    struct stack_fault f = {.state = stack_find_state(fs, text, len)};

    if (f.state == STACK_NONE)
        return wr_fail(err, WR_INPUT, "fault: %s: %s has no such state; did you mean %s?",
                       wr_text_clip(text).s, fs->name, stack_like_state(fs, text).s);
    code = equals ? strtoll(equals + 1, &end, 10) : 0;
    if (equals && end != equals + 1 && *end == '@')
        nth = strtoull(end + 1, &end, 10);
    if (equals && end != equals + 1 && *end == '*')
        times = strtoull(end + 1, &end, 10);
    if (!equals || end == equals + 1 || *end || !code || !nth || !times)
        return wr_fail(err, WR_INPUT,
                       "fault: %s is not understood; write it as %s=-110@1*1, the code not 0",
                       wr_text_clip(text).s, stack_state_text(fs, f.state).s);
    f.code = code;
    f.first = nth - 1;
    f.times = times;
    *ret = f;
    return true;
}

/* Whether the timing models were fitted on conditions like those of the test. */
static void job_find_extrapolation(struct stack_sim *s)
{
    const struct ior_test *t = &s->test;
    struct stack_requested a = {
        .servers = s->setup.servers, .clients = s->setup.clients, .fabric = s->setup.wire != NULL};

    if (s->has_test) {
        a.call_b = (uint64_t)t->transfer;
        a.process_b = (uint64_t)t->block * (uint64_t)t->segments;
        a.one_file = !t->file_per_task;
        a.random = t->random_offset;
        a.collective = t->collective;
    }
    if (stack_timings_beyond(s->timings, &a, &s->beyond)) {
        s->setup.beyond = s->beyond.s;
        wr_str_addf(&s->label, "extrapolated: %s", s->beyond.s);
    }
}

bool stack_sim_open(struct stack_sim *ret, const struct stack_config *c,
                    const struct stack_hooks *hooks, struct wr_err *err)
{
    struct stack_sim *s = ret;

    assert(c->fs && c->test);
    *s = (struct stack_sim){.wire = c->wire};
    if (stack_fs_open_with(&s->fs, c->fs, c->set.items, c->set.n, err) &&
        stack_timings_for(&s->timings, s->fs,
                          job_is_given(c->timings) ? c->timings : c->former_timings, err) &&
        (!c->vary || stack_timings_vary(s->timings, s->fs, c->seed, err)) &&
        job_open_test(s, c, err)) {
        s->setup = (struct stack_setup){
            .fs = s->fs,
            .timings = s->timings,
            .servers = c->servers,
            .metas = c->metas,
            .datas = c->datas,
            .test = wr_str_get(&s->words),
            .wire = c->wire,
            .dfiles = c->dfiles,
            .cb = {.mode = c->cb, .buffer_b = c->cb_buffer_b, .nodes = c->cb_nodes}};
        if (hooks)
            s->setup.hooks = *hooks;
        if (job_first_server(c, &s->setup.start, err) &&
            job_parse_fault(c, s->fs, &s->setup.fault, err) && job_open_drive(s, c, err)) {
            job_find_extrapolation(s);
            return true;
        }
    }
    stack_sim_close(s);
    return false;
}

void stack_sim_close(struct stack_sim *s)
{
    stack_drive_close(s->drive);
    stack_play_close(s->program);
    if (s->wire)
        s->wire->close(s->wire->ctx);
    wr_str_fini(&s->words);
    wr_str_fini(&s->beyond);
    wr_str_fini(&s->label);
    if (s->has_test)
        ior_fini(&s->test);
    stack_timings_close(s->timings);
    stack_fs_close(s->fs);
    *s = (struct stack_sim){0};
}
