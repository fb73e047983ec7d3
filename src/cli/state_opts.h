/* state_opts.h -- what the verbs below `weir state` share: which rows of which files. */
#ifndef CLI_STATE_OPTS_H
#define CLI_STATE_OPTS_H

#include "cli/cli.h"
#include "state/probes.h"

struct state_rows_opts {
    const char *op, *target, *bytes, *from, *to;
    bool any_size;
};

/* Rows of a table of options, for a struct with a member of the type above. */
#define STATE_ROWS(type_, field_)                                                              \
    {.name = "op",                                                                             \
     .type = CLI_TEXT,                                                                         \
     .offset = offsetof(type_, field_.op),                                                     \
     .value = "OP",                                                                            \
     .help = "only this operation (write, read); needed where a file holds several"},          \
        {.name = "target",                                                                     \
         .type = CLI_TEXT,                                                                     \
         .offset = offsetof(type_, field_.target),                                             \
         .value = "NAME",                                                                      \
         .help = "only this target of files that hold several"},                               \
        {.name = "bytes",                                                                      \
         .type = CLI_TEXT,                                                                     \
         .offset = offsetof(type_, field_.bytes),                                              \
         .value = "SIZE",                                                                      \
         .help = "only probes of this size, as in --bytes=1MiB"},                              \
        {.name = "any-size",                                                                   \
         .type = CLI_FLAG,                                                                     \
         .offset = offsetof(type_, field_.any_size),                                           \
         .help = "take probes of different sizes as one series"},                              \
        {.name = "from",                                                                       \
         .type = CLI_TEXT,                                                                     \
         .offset = offsetof(type_, field_.from),                                               \
         .value = "TIME",                                                                      \
         .help = "only from this time of the series on, as in --from=12h"},                    \
    {                                                                                          \
        .name = "to", .type = CLI_TEXT, .offset = offsetof(type_, field_.to), .value = "TIME", \
        .help = "only before this time of the series"                                          \
    }

bool state_rows_choice(struct state_choice *ret, const struct state_rows_opts *o,
                       struct wr_err *err);

/* "12h", "90 s" or plain seconds. */
bool state_seconds(double *ret_s, const char *name, const char *text, struct wr_err *err);

extern const struct cli_verb cli_state_probe, cli_state_describe, cli_state_fit, cli_state_loglik,
    cli_state_simulate, cli_state_validate, cli_state_forecast, cli_state_watch, cli_state_import,
    cli_state_policy;

#endif
