/* stack.h -- what the verbs below `weir stack` share. */
#ifndef CLI_STACK_H
#define CLI_STACK_H

#include "cli/cli.h"
#include "cli/cli_table.h"
#include "run/run.h"
#include "stack/stack_job.h"

extern const struct cli_verb cli_stack_run, cli_stack_trace, cli_stack_step, cli_stack_check,
    cli_stack_show, cli_stack_list, cli_stack_calibrate, cli_stack_validate;

/* The options of every verb that simulates. */
struct stack_opts {
    const char *fs, *timings;
    uint32_t servers, metas, datas, tasks, dfiles;
    struct cli_list sets;
    const char *net;
    uint64_t seed;
    bool vary;
    const char *start; /* --first-server */
    uint32_t cb, cb_nodes;
    const char *cb_buffer, *fault;
};

#define STACK_OPT(name_, type_, struct_, field_, value_, def_, help_)                       \
    {                                                                                       \
        .name = name_, .type = type_, .offset = offsetof(struct_, field_), .value = value_, \
        .def = def_, .help = help_                                                          \
    }
/* The option was called --laws before version 0.2. */
#define STACK_TIMING(struct_, field_, def_, help_)                                                 \
    {                                                                                              \
        .name = "timing", .former = "laws", .type = CLI_TEXT, .offset = offsetof(struct_, field_), \
        .value = "NAME|FILE", .def = def_, .help = help_                                           \
    }
#define STACK_SET(struct_, field_)                                                      \
    {                                                                                   \
        .name = "set", .type = CLI_LIST, .offset = offsetof(struct_, field_),           \
        .value = "KEY=VALUE",                                                           \
        .help = "override a value of the machine file, as in --set stripes=4 or --set " \
                "params.rpc_size.value=1MiB; may be given several times"                \
    }
#define STACK_OPTS(struct_)                                                                        \
    STACK_OPT("fs", CLI_TEXT, struct_, s.fs, "NAME|FILE", "pvfs2",                                 \
              "the file system: shipped (`weir stack list`), or a machine file"),                  \
        STACK_TIMING(struct_, s.timings, NULL,                                                     \
                     "how long states take: shipped timing models of the file system, or a file"), \
        STACK_OPT("servers", CLI_U32, struct_, s.servers, "N", "1", "file servers"),               \
        STACK_OPT(                                                                                 \
            "meta-servers", CLI_U32, struct_, s.metas, "N", "0",                                   \
            "servers for metadata: besides the others where those are apart (0: one), else the "   \
            "first of them (0: all)"),                                                             \
        STACK_OPT("data-servers", CLI_U32, struct_, s.datas, "N", "0",                             \
                  "the last of the servers, that keep data; 0: all"),                              \
        STACK_SET(struct_, s.sets),                                                                \
        STACK_OPT("net", CLI_TEXT, struct_, s.net, "FILE", NULL,                                   \
                  "a machine file: messages travel over its fabric, simulated packet by packet"),  \
        {.name = "tasks",                                                                          \
         .letter = 'T',                                                                            \
         .type = CLI_U32,                                                                          \
         .offset = offsetof(struct_, s.tasks),                                                     \
         .value = "N",                                                                             \
         .def = "1",                                                                               \
         .help = "processes that run the test, each on a node of its own"},                        \
        STACK_OPT("data-files", CLI_U32, struct_, s.dfiles, "N", "0",                              \
                  "servers that a file is spread over; 0: all"),                                   \
        STACK_OPT("first-server", CLI_TEXT, struct_, s.start, "N", NULL,                           \
                  "the server of the first file's metadata instead of the one in the middle"),     \
        {.name = "cb",                                                                             \
         .type = CLI_CHOICE,                                                                       \
         .offset = offsetof(struct_, s.cb),                                                        \
         .value = "WHEN",                                                                          \
         .def = "automatic",                                                                       \
         .names = stack_cb_mode_names,                                                             \
         .help = "collective buffering of -c, as the hints of ROMIO: automatic (when tasks' "      \
                 "parts lie between each other), enable or disable"},                              \
        STACK_OPT("cb-nodes", CLI_U32, struct_, s.cb_nodes, "N", "0",                              \
                  "tasks that gather; 0: one of each node, which on a shared medium is one"),      \
        STACK_OPT("cb-buffer-size", CLI_TEXT, struct_, s.cb_buffer, "BYTES", "16 MiB",             \
                  "what each of them gathers before it writes"),                                   \
        STACK_OPT("fault", CLI_TEXT, struct_, s.fault, "MACHINE:STATE=CODE[@N][*M]", NULL,         \
                  "let the Nth visit of a state (the first), and M in all (one), leave with a "    \
                  "code, to see the ways that errors take"),                                       \
        STACK_OPT("seed", CLI_U64, struct_, s.seed, "N", "1",                                      \
                  "seed of random orders, and of --vary"),                                         \
        STACK_OPT(                                                                                 \
            "vary", CLI_FLAG, struct_, s.vary, NULL, NULL,                                         \
            "draw how much longer this run takes than the timing models say, from their bands")

bool cli_stack_open(struct stack_sim *ret, const struct stack_opts *o, const struct cli_call *call,
                    const struct stack_hooks *hooks, struct wr_err *err);
void cli_stack_close(struct stack_sim *s);
/* "measured", "assumed", "in part", or "extrapolated" with the reason: a column of every table with
 * times. A hundredth of the time may be assumed in what is measured. */
struct cli_stack_known {
    uint64_t measured_ns, assumed_ns;
};
void cli_stack_know(struct cli_stack_known *k, const struct stack_sim *s, uint16_t state,
                    const struct stack_sum *sum);
const char *cli_stack_known(const struct stack_sim *s, const struct cli_stack_known *k);
/* Of the whole run; the layers below others take their time from those. */
const char *cli_stack_measured(const struct stack_sim *s);

/* A run file of the stack: made before anything is simulated, because what cannot be written should
 * be known then, and filled by `put` in the end. `ran` false: `err` says why there is nothing. */
typedef bool cli_stack_put(struct run *run, void *ctx, struct wr_err *err);
bool cli_stack_run_create(struct run **ret, const char *path, bool force,
                          const struct cli_call *call, uint64_t seed, struct wr_err *err);
bool cli_stack_run_close(struct run *run, bool ran, bool stopped, cli_stack_put *put, void *ctx,
                         struct wr_err *err);

/* stack_tables.c: the run in tables. */
enum stack_by {
    STACK_BY_LAYER,
    STACK_BY_CLASS,
    STACK_BY_AGENT,
    STACK_BY_STATE,
    STACK_BY_FUNCTION,
    STACK_BY_OPERATION,
};

void cli_stack_ior(const struct stack_sim *s, FILE *out, enum cli_format format);
/* The same as IOR itself prints it, for scripts that read its output. */
void cli_stack_ior_lines(const struct stack_sim *s, FILE *out);
void cli_stack_by(const struct stack_sim *s, enum stack_by by, FILE *out, enum cli_format format);
/* Functions of the published model and their classes; needs timing models that name some. */
void cli_stack_functions(const struct stack_sim *s, FILE *out, enum cli_format format);
/* Whole operations and requests, and the bands that the timing models give them. */
void cli_stack_operations(const struct stack_sim *s, FILE *out, enum cli_format format);
void cli_stack_messages(const struct stack_sim *s, FILE *out, enum cli_format format);
/* What collective calls did, in words; nothing when there were none. */
void cli_stack_collected(const struct stack_sim *s, struct wr_str *out);
/* The layer that works, or makes others wait, longest, in words. */
void cli_stack_bottleneck(const struct stack_sim *s, struct wr_str *out);
/* What should be known about the numbers: timing models that are missing, sizes beyond the
 * measured. */
void cli_stack_warn(const struct stack_sim *s, struct wr_str *out);

#endif
