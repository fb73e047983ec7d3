/* fs_rows.c -- the keys of a machine file: type, default, range and help of each.
 *
 * One row for each field of fs_priv.h; fs.c compiles what they read.
 */
#include "fs_priv.h"

static const char *const does_names[] = {"run",     "wait",  "jump", "fork",     "send",
                                         "receive", "reply", "flow", "dispatch", "take",
                                         "spawn",   "sleep", NULL};
static const char *const role_names[] = {"together", "apart", NULL};
const char *const stack_class_names[] = {"control", "communication", "data", NULL};
static const char *const side_names[] = {"client", "server", "both", NULL};
static const char *const kind_names[] = {"machine", "call", "layer", NULL};

const char *const stack_operation_names[] = {
#define X(id, name) #name,
    STACK_OPERATIONS(X)
#undef X
        NULL};

#define AT(field) offsetof(struct stack_state_text, field)
#define TEXT(key_, field_, def_, help_)                                                    \
    {                                                                                      \
        .key = key_, .type = CONF_STRING, .offset = AT(field_), .def = def_, .help = help_ \
    }
#define TEXTS(key_, field_, help_)                                                            \
    {                                                                                         \
        .key = key_, .type = CONF_LIST, .offset = AT(field_), .def = "", .item = CONF_STRING, \
        .size = sizeof(char *), .help = help_                                                 \
    }

static const struct conf_row state_rows[] = {
    {.key = "does",
     .type = CONF_CHOICE,
     .offset = AT(does),
     .def = "run",
     .names = does_names,
     .help = "what the state does"},
    {.key = "class",
     .type = CONF_CHOICE,
     .offset = AT(cls),
     .def = "control",
     .names = stack_class_names,
     .help = "what its time is spent for"},
    TEXT("machine", machine, "", "the nested machine of a jump"),
    TEXTS("fork", fork, "children, each \"machine\" or \"machine if expression\""),
    TEXT("below", below, "",
         "the layer's machine that a wait or flow waits for, or that does a part of a send's or "
         "reply's work"),
    TEXT("message", message, "", "the message that is made ready here"),
    TEXT("instead", instead, "",
         "another message, \"name if expression\", that is made ready in its place"),
    TEXT("count", count, "1", "how many of it"),
    TEXT("to", to, "0", "the server of the message number i"),
    TEXTS("pass", pass, "variables that the message, or the child, has otherwise"),
    TEXTS("set", set, "what is changed: \"variable = expression\", or a call"),
    TEXT("resource", resource, "", "what a take takes"),
    TEXT("of", of, "0", "which of the node's resources of this name: a number"),
    TEXT("amount", amount, "1", "and how much of it"),
    TEXT("code", code, "0", "the code that the state leaves with"),
    TEXT("then", then, "", "the code after the waiting, when it is another one"),
    TEXT("if", when, "", "a wait that is 0 here does not wait"),
    TEXT("data_code", data_code, "",
         "of a wait: with this code it is for a data file, and has the timing model /data instead "
         "of /meta"),
    TEXT("tag", tag, "", "how an answer is called"),
    TEXT("function", function, "", "the function that tables of real runs know it as"),
    TEXT("bytes", bytes, "", "length of a reply, when it is not the message's"),
    {.key = "phase",
     .type = CONF_U32,
     .offset = AT(phase),
     .def = "0",
     .max = 3,
     .help = "of a reply: 0 the answer, 3 that the data are kept"},
    {.key = "data",
     .type = CONF_BOOL,
     .offset = AT(data),
     .def = "false",
     .help = "of a receive: after an answer its data begin to move"},
    {.key = "pull",
     .type = CONF_BOOL,
     .offset = AT(pull),
     .def = "false",
     .help = "of a flow: the request offered the memory, so it begins at once"},
    {.key = "failed",
     .type = CONF_BOOL,
     .offset = AT(failed),
     .def = "false",
     .help = "of a send: the second time it sends only what failed"},
    TEXTS("next", next,
          "\"code -> state\", \"default -> state\"; the states return and terminate "
          "are everywhere"),
    CONF_END,
};

#undef AT
#define AT(field) offsetof(struct stack_machine_text, field)
static const struct conf_row machine_rows[] = {
    TEXT("layer", layer, NULL, "the layer it belongs to"),
    TEXT("agent", agent, NULL, "the agent whose activity it is"),
    {.key = "side",
     .type = CONF_CHOICE,
     .offset = AT(side),
     .def = "client",
     .names = side_names,
     .help = "where it runs"},
    {.key = "kind",
     .type = CONF_CHOICE,
     .offset = AT(kind),
     .def = "machine",
     .names = kind_names,
     .help = "a state machine of the file system, a call of a library above it, or a layer that "
             "states go through below them"},
    TEXT("function", function, "",
         "what callers know it as; else its name, or serve_ and the message that it serves"),
    {.key = "common",
     .type = CONF_BOOL,
     .offset = AT(common),
     .def = "false",
     .help = "every request goes through it, so none is named after it"},
    {.key = "states",
     .type = CONF_TABLE,
     .offset = AT(states),
     .rows = state_rows,
     .size = sizeof(struct stack_state_text),
     .min = 1,
     .max = 1000,
     .help = "the states; it begins in the first"},
    CONF_END,
};

#undef AT
#define AT(field) offsetof(struct stack_message_text, field)
static const struct conf_row message_rows[] = {
    TEXT("serves", serves, NULL, "the machine of the server that does what it asks for"),
    TEXT("request", request, NULL, "its length in bytes, without the header"),
    TEXT("response", response, NULL, "and that of the answer"),
    CONF_END,
};

#undef AT
#define AT(field) offsetof(struct stack_operation_text, field)
static const struct conf_row operation_rows[] = {
    TEXT("machine", machine, NULL, "where the operation begins"),
    {.key = "once",
     .type = CONF_BOOL,
     .offset = AT(once),
     .def = "false",
     .help = "of a shared file the first task does it for all, when all are there"},
    CONF_END,
};

#undef AT
#define AT(field) offsetof(struct stack_param_text, field)
static const struct conf_row param_rows[] = {
    TEXT("value", value, NULL, "a whole number, or bytes with their unit"),
    TEXT("source", source, "not measured", "where the value is from; shown wherever the value is"),
    TEXT("help", help, "", "what it is"),
    CONF_END,
};

#undef AT
#define AT(field) offsetof(struct stack_resource_text, field)
static const struct conf_row resource_rows[] = {
    TEXT("limit", limit, NULL, "how much of it there is"),
    CONF_END,
};

#undef AT
#define AT(field) offsetof(struct stack_file, place.field) - offsetof(struct stack_file, place)
static const struct conf_row place_rows[] = {
    TEXT("meta", meta, "", "the server of a file's metadata, by `file`"),
    TEXT("data", data, "", "the server of its data file number `i`"),
    CONF_END,
};

#undef AT
#define AT(field) offsetof(struct stack_file, field)
#define BYTES(key_, field_, def_, max_, help_)                                                     \
    {                                                                                              \
        .key = key_, .type = CONF_BYTES, .offset = AT(field_), .def = def_, .min = 1, .max = max_, \
        .help = help_                                                                              \
    }
#define TIME(key_, field_, def_, help_)                                                           \
    {                                                                                             \
        .key = key_, .type = CONF_TIME, .offset = AT(field_), .def = def_, .min = 0, .max = 1e18, \
        .help = help_                                                                             \
    }
#define TABLE(key_, field_, rows_, type_, help_)                              \
    {                                                                         \
        .key = key_, .type = CONF_TABLE, .offset = AT(field_), .rows = rows_, \
        .size = sizeof(type_), .min = 1, .max = 1000, .help = help_           \
    }

const struct conf_row stack_file_rows[] = {
    TEXT("title", title, NULL, "the file system in words"),
    BYTES("strip", strip_b, "64 KiB", 1e15, "bytes of a file that lie together on one server"),
    BYTES("eager", eager_b, "16 KiB", 1e15, "the longest message that is sent without asking"),
    BYTES("buffer", buffer_b, "256 KiB", 1e15, "data move in messages of this length"),
    {.key = "buffers",
     .type = CONF_U32,
     .offset = AT(buffers),
     .def = "8",
     .min = 1,
     .max = 1e6,
     .help = "that a server fills from its storage before the first of them leaves"},
    BYTES("header", header_b, "24 B", 1e15, "what the network adds to a message"),
    TIME("acache", acache_ps, "60 s", "how long a client believes the attributes it has seen"),
    TIME("acache_size", acache_size_ps, "10 s", "and the size of a file"),
    TIME("capcache", capcache_ps, "0 s",
         "how long a client may use what it is allowed to do with a file; 0: it asks every time"),
    TIME("ncache", ncache_ps, "0 s", "and the name of a file; 0: it asks every time"),
    {.key = "stuffing",
     .type = CONF_BOOL,
     .offset = AT(stuffs),
     .def = "false",
     .help = "a new file's data stay with its metadata until they outgrow a strip"},
    {.key = "roles",
     .type = CONF_CHOICE,
     .offset = AT(roles),
     .def = "together",
     .names = role_names,
     .help = "whether a server may keep both metadata and data"},
    {.key = "place",
     .type = CONF_SECTION,
     .offset = AT(place),
     .rows = place_rows,
     .help = "which servers keep a file; without it PVFS2's way"},
    {.key = "stripes",
     .type = CONF_U32,
     .offset = AT(stripes),
     .def = "0",
     .max = 1e6,
     .help = "servers that a file is spread over; 0: all that keep data"},
    {.key = "cache",
     .type = CONF_BYTES,
     .offset = AT(cache_b),
     .def = "0 B",
     .max = 1e18,
     .help = "bytes of a file that a client keeps in memory"},
    {.key = "connects",
     .type = CONF_BOOL,
     .offset = AT(connects),
     .def = "false",
     .help = "the first message to a server waits for a connection"},
    TEXTS("layers", layers, "from the application down, then from the network up the server"),
    TEXTS("codes", codes, "constants: \"NAME = 190\""),
    TEXTS("vars", vars, "variables of the machines' own"),
    TEXTS("cells", cells, "what a node remembers of a file from one activity to the next"),
    {.key = "params",
     .type = CONF_TABLE,
     .offset = AT(params),
     .def = "",
     .rows = param_rows,
     .size = sizeof(struct stack_param_text),
     .max = 1000,
     .help = "constants that may be set otherwise, each with its source"},
    {.key = "resources",
     .type = CONF_TABLE,
     .offset = AT(resources),
     .def = "",
     .rows = resource_rows,
     .size = sizeof(struct stack_resource_text),
     .max = 1000,
     .help = "what activities take and give back"},
    TABLE("messages", messages, message_rows, struct stack_message_text, "what is sent to servers"),
    TEXT("requests", requests, NULL, "the machine that takes every request of a server"),
    TEXT("starts", starts, "", "the machine that every server goes through before it serves"),
    TABLE("operations", operations[STACK_MPIIO], operation_rows, struct stack_operation_text,
          "what an application may ask for through MPI-IO"),
    {.key = "posix",
     .type = CONF_TABLE,
     .offset = AT(operations[STACK_POSIX]),
     .def = "",
     .rows = operation_rows,
     .size = sizeof(struct stack_operation_text),
     .max = 1000,
     .help = "and by system calls; without it -a POSIX is refused"},
    TABLE("machines", machines, machine_rows, struct stack_machine_text, "the state machines"),
    CONF_END,
};
