/* store_conf.c -- the keys of `storage:` for each architecture: type, default, range and help.
 *
 * A kind of storage is a table of rows and the architecture that they describe (struct store_kind).
 */
#include <stddef.h>

#include "store/dev/dev.h"
#include "store/store.h"

static const char *const policy_names[] = {"nearest", "hashed", "round-robin", "explicit", NULL};
static const char *const drain_names[] = {"never", "watermarks", "schedule", "at-once", NULL};
static const char *const numbering_names[] = {"ascending", "descending", NULL};
static const char *const layout_names[] = {"consecutive", "spread", NULL};
static const char *const times_names[] = {"exponential", "constant", NULL};
static const char *const reserve_names[] = {"request", "block", NULL};

#define IN(struct_, field_) offsetof(struct struct_, field_)
#define AT(field_) offsetof(struct store_params, field_)
#define LONGEST 1e15
#define MOST_BYTES 0x1p60

static const struct conf_row assign_rows[] = {
    {.key = "clients",
     .type = CONF_STRING,
     .offset = IN(store_assign, clients),
     .help = "a set of nodes, such as \"0-31\" or \"group 4\""},
    {.key = "server",
     .type = CONF_U32,
     .offset = IN(store_assign, server),
     .help = "the number of the server that has their data"},
    CONF_END,
};

static const struct conf_row stripe_rows[] = {
    {.key = "size",
     .type = CONF_BYTES,
     .offset = IN(store_stripe, size_b),
     .def = "16 MiB",
     .min = 512,
     .max = MOST_BYTES,
     .help = "bytes of a file on one server before the next one's turn"},
    {.key = "count",
     .type = CONF_U32,
     .offset = IN(store_stripe, count),
     .def = "1",
     .max = 1 << 20,
     .help = "servers that share a file; 0: all of them"},
    {.key = "layout",
     .type = CONF_CHOICE,
     .offset = IN(store_stripe, layout),
     .def = "consecutive",
     .names = layout_names,
     .help = "the servers of a file follow one another, or are spread evenly over all"},
    CONF_END,
};

static const struct conf_row san_rows[] = {
    {.key = "latency",
     .type = CONF_TIME,
     .offset = IN(store_san, latency_ps),
     .def = "50 us",
     .max = LONGEST,
     .help = "what the storage-area network adds to every block"},
    {.key = "bandwidth",
     .type = CONF_RATE,
     .offset = IN(store_san, bandwidth),
     .def = "8 GB/s",
     .min = 0,
     .max = 1e18,
     .help = "and its rate; 0 B/s: no limit"},
    CONF_END,
};

/* ---- buffers ---- */

#define ROW_CAPACITY(def_)                                                             \
    {                                                                                  \
        .key = "capacity", .type = CONF_BYTES, .offset = IN(store_buffer, capacity_b), \
        .def = def_, .max = MOST_BYTES, .help = "size of each buffer; 0 B: no limit"   \
    }
#define ROW_HIGH                                                                               \
    {                                                                                          \
        .key = "high", .type = CONF_FRACTION, .offset = IN(store_buffer, high), .def = "70 %", \
        .min = 0, .max = 1,                                                                    \
        .help = "watermarks: draining begins when more of the capacity is not yet drained"     \
    }
#define ROW_LOW                                                                              \
    {                                                                                        \
        .key = "low", .type = CONF_FRACTION, .offset = IN(store_buffer, low), .def = "30 %", \
        .min = 0, .max = 1, .help = "watermarks: and ends when no more than this is"         \
    }
#define ROW_DRAIN(def_)                                                                      \
    {                                                                                        \
        .key = "drain", .type = CONF_CHOICE, .offset = IN(store_buffer, drain), .def = def_, \
        .names = drain_names,                                                                \
        .help = "when blocks go on to slower storage: by watermarks, at every period, as "   \
                "soon as they are there, or never"                                           \
    }
#define ROW_PERIOD                                                                               \
    {                                                                                            \
        .key = "period", .type = CONF_TIME, .offset = IN(store_buffer, period_ps), .def = "1 s", \
        .min = 1e6, .max = 1e18, .help = "schedule: everything is drained at multiples of this"  \
    }
#define ROW_STREAMS                                                                          \
    {                                                                                        \
        .key = "streams", .type = CONF_U32, .offset = IN(store_buffer, streams), .def = "4", \
        .min = 1, .max = 65536, .help = "blocks that a buffer drains at the same time"       \
    }

static const struct conf_row compute_buffer_rows[] = {
    ROW_CAPACITY("1 TiB"),
    ROW_HIGH,
    ROW_LOW,
    ROW_DRAIN("watermarks"),
    ROW_PERIOD,
    ROW_STREAMS,
    {.key = "reserve",
     .type = CONF_CHOICE,
     .offset = IN(store_buffer, reserve),
     .def = "request",
     .names = reserve_names,
     .help = "space is reserved for a whole request before its first block is pulled, or block by "
             "block; a request that is larger than the buffer goes block by block"},
    CONF_END,
};

static const struct conf_row local_buffer_rows[] = {
    ROW_CAPACITY("256 GiB"),
    ROW_HIGH,
    ROW_LOW,
    ROW_DRAIN("watermarks"),
    ROW_PERIOD,
    ROW_STREAMS,
    {.key = "write_through",
     .type = CONF_BOOL,
     .offset = IN(store_buffer, write_through),
     .def = "false",
     .help = "a write is done when the servers have it, too"},
    {.key = "flush_on_close",
     .type = CONF_BOOL,
     .offset = IN(store_buffer, flush_on_close),
     .def = "false",
     .help = "closing a file waits until all of it that is here is drained"},
    {.key = "keep_reads",
     .type = CONF_BOOL,
     .offset = IN(store_buffer, keep_reads),
     .def = "true",
     .help = "blocks read from servers stay in the buffer if there is space"},
    CONF_END,
};

static const struct conf_row side_buffer_rows[] = {
    ROW_CAPACITY("1 TiB"), ROW_HIGH, ROW_LOW, ROW_DRAIN("watermarks"), ROW_PERIOD,
    ROW_STREAMS,           CONF_END,
};

static const struct conf_row reference_buffer_rows[] = {
    ROW_CAPACITY("0 B"),
    ROW_DRAIN("never"),
    CONF_END,
};

/* ---- a measured service ---- */

#define ROW_SPAN(key_, type_, field_, help_)                                                  \
    {                                                                                         \
        .key = key_, .type = type_, .offset = IN(store_service_measured, field_), .def = "0", \
        .max = 1e18, .help = help_                                                            \
    }

static const struct conf_row service_measured_rows[] = {
    {.key = "requests",
     .type = CONF_U32,
     .offset = IN(store_service_measured, requests),
     .def = "0",
     .help = "the most requests that a server had at a time when measured; 0: not known"},
    ROW_SPAN("server_cpu_min", CONF_TIME, server_min_ps, "the least that a request took a server"),
    ROW_SPAN("server_cpu_max", CONF_TIME, server_max_ps, "and the most"),
    ROW_SPAN("latency_min", CONF_TIME, latency_min_ps, "the least of a call without the server"),
    ROW_SPAN("latency_max", CONF_TIME, latency_max_ps, "and the most"),
    ROW_SPAN("bandwidth_min", CONF_RATE, bandwidth_min, "the least rate of a server"),
    ROW_SPAN("bandwidth_max", CONF_RATE, bandwidth_max, "and the most"),
    CONF_END,
};

const struct conf_row store_service_rows[] = {
    {.key = "title",
     .type = CONF_STRING,
     .offset = IN(store_service_params, title),
     .def = "",
     .help = "what was measured, in words"},
    {.key = "server_cpu",
     .type = CONF_TIME,
     .offset = IN(store_service_params, server_ps),
     .def = "0",
     .max = LONGEST,
     .help = "for how long a request occupies a processor of its server; others wait"},
    {.key = "client_cpu",
     .type = CONF_TIME,
     .offset = IN(store_service_params, client_ps),
     .def = "0",
     .max = LONGEST,
     .help = "software of the client, once for every operation"},
    {.key = "latency",
     .type = CONF_TIME,
     .offset = IN(store_service_params, latency_ps),
     .def = "0",
     .max = LONGEST,
     .help =
         "rest of a call that waits for no other; lower it by what the simulated network takes"},
    {.key = "bandwidth",
     .type = CONF_RATE,
     .offset = IN(store_service_params, bandwidth),
     .def = "0",
     .min = 0,
     .max = 1e18,
     .help = "rate at which a server moves data, to and from all clients together; 0: no limit"},
    {.key = "client_bandwidth",
     .type = CONF_RATE,
     .offset = IN(store_service_params, client_bandwidth),
     .def = "0",
     .min = 0,
     .max = 1e18,
     .help = "rate at which a client handles data besides; 0: no limit"},
    {.key = "concurrency",
     .type = CONF_U32,
     .offset = IN(store_service_params, concurrency),
     .def = "1",
     .min = 1,
     .max = 1024,
     .help = "requests that a server handles at the same time"},
    {.key = "times",
     .type = CONF_CHOICE,
     .offset = IN(store_service_params, times),
     .def = "exponential",
     .names = times_names,
     .help = "how server_cpu varies from request to request"},
    {.key = "measured",
     .type = CONF_SECTION,
     .offset = IN(store_service_params, measured),
     .rows = service_measured_rows,
     .def = "",
     .help = "ranges of what was measured"},
    CONF_END,
};

#define ROW_SERVICE                                                                                \
    {                                                                                              \
        .key = "service", .type = CONF_SECTION, .offset = AT(service), .rows = store_service_rows, \
        .include = true, .def = "",                                                                \
        .help = "servers as measured by `weir roofline collect`: requests "                        \
                "queue for their processors and NICs; replaces client_overhead and "               \
                "server_overhead"                                                                  \
    }

/* ---- rows that several kinds share ---- */

#define ROW_SERVERS(def_, help_)                                                                 \
    {                                                                                            \
        .key = "servers", .type = CONF_STRING, .offset = AT(servers), .def = def_, .help = help_ \
    }
#define ROW_NUMBERING(def_)                                                                    \
    {                                                                                          \
        .key = "numbering", .type = CONF_CHOICE, .offset = AT(numbering), .def = def_,         \
        .names = numbering_names, .help = "how the servers of one group are numbered, by node" \
    }
#define ROW_POLICY(def_)                                                                         \
    {                                                                                            \
        .key = "policy", .type = CONF_CHOICE, .offset = AT(policy), .def = def_,                 \
        .names = policy_names,                                                                   \
        .help = "which server has a client's data: the nearest (a group's nodes are shared out " \
                "evenly to its servers), one by the file, one after another by node, or as "     \
                "`assign` says"                                                                  \
    }
#define ROW_ASSIGN                                                                                \
    {                                                                                             \
        .key = "assign", .type = CONF_LIST, .offset = AT(assign), .def = "", .rows = assign_rows, \
        .size = sizeof(struct store_assign),                                                      \
        .help = "explicit: servers of sets of nodes; the last that names a node counts"           \
    }
#define ROW_STRIPE                                                                        \
    {                                                                                     \
        .key = "stripe", .type = CONF_SECTION, .offset = AT(stripe), .rows = stripe_rows, \
        .def = "", .help = "files over several servers"                                   \
    }
#define ROW_BLOCK(def_)                                                                         \
    {                                                                                           \
        .key = "block", .type = CONF_BYTES, .offset = AT(block_b), .def = def_, .min = 512,     \
        .max = 1 << 30, .help = "bytes that are moved and written at once; what a buffer keeps" \
    }
#define ROW_PULLS                                                                                  \
    {                                                                                              \
        .key = "pulls", .type = CONF_U32, .offset = AT(pulls), .def = "4", .min = 1, .max = 65536, \
        .help = "blocks of a request that are under way at the same time"                          \
    }
#define ROW_CONTROL                                                                    \
    {                                                                                  \
        .key = "control", .type = CONF_BYTES, .offset = AT(control_b), .def = "128 B", \
        .max = 1 << 20, .help = "size of requests, pulls and acknowledgements"         \
    }
#define ROW_DEVICE(def_, help_)                                                         \
    {                                                                                   \
        .key = "device", .type = CONF_PLUGIN, .offset = AT(device), .kinds = dev_kinds, \
        .files = &dev_files, .def = def_, .help = help_                                 \
    }
#define ROW_DEVICES                                                                         \
    {                                                                                       \
        .key = "devices", .type = CONF_U32, .offset = AT(devices), .def = "1", .min = 1,    \
        .max = 1024, .help = "how many of it in each place; blocks go to one after another" \
    }
#define ROW_EXTERNAL(help_)                                                                 \
    {                                                                                       \
        .key = "external", .type = CONF_PLUGIN, .offset = AT(external), .kinds = dev_kinds, \
        .files = &dev_files, .what = "device", .def = "hdd", .help = help_                  \
    }
#define ROW_EXTERNALS                                                                        \
    {                                                                                        \
        .key = "externals", .type = CONF_U32, .offset = AT(externals), .def = "8", .min = 1, \
        .max = 65536, .help = "how many of it in each place; blocks go to one after another" \
    }
#define ROW_BUFFER(rows_)                                                                      \
    {                                                                                          \
        .key = "buffer", .type = CONF_SECTION, .offset = AT(buffer), .rows = rows_, .def = "", \
        .help = "size of the burst buffer, and when it is drained"                             \
    }
#define ROW_SAN                                                                             \
    {                                                                                       \
        .key = "san", .type = CONF_SECTION, .offset = AT(san), .rows = san_rows, .def = "", \
        .help = "the storage-area network in front of external storage: a formula"          \
    }
#define ROW_CLIENT(def_)                                                                   \
    {                                                                                      \
        .key = "client_overhead", .type = CONF_TIME, .offset = AT(client_ps), .def = def_, \
        .max = LONGEST, .help = "software of the client, once for every operation"         \
    }
#define ROW_SERVER(def_)                                                                   \
    {                                                                                      \
        .key = "server_overhead", .type = CONF_TIME, .offset = AT(server_ps), .def = def_, \
        .max = LONGEST, .help = "software of a server, for every request that comes to it" \
    }
#define ROW_JITTER(def_)                                                                          \
    {                                                                                             \
        .key = "jitter", .type = CONF_TIME, .offset = AT(jitter_ps), .def = def_, .max = LONGEST, \
        .help = "operations begin later by a random time of at most this: what would be a "       \
                "tie is decided by the seed"                                                      \
    }
#define ROW_METADATA(def_)                                                         \
    {                                                                              \
        .key = "metadata", .type = CONF_BOOL, .offset = AT(metadata), .def = def_, \
        .help = "opening, closing and flushing a file asks its server"             \
    }
#define ROW_OBJECT(def_)                                                                   \
    {                                                                                      \
        .key = "one_object", .type = CONF_BOOL, .offset = AT(one_object), .def = def_,     \
        .help = "all files of all clients lie at the same place of the device, as in the " \
                "published study; else each has its own"                                   \
    }

#define SERVERS_HELP "nodes that are servers, such as \"last 2 of every group\"; no job gets them"

static const struct conf_row local_rows[] = {
    ROW_SERVERS("last 1 of every group", SERVERS_HELP),
    ROW_NUMBERING("ascending"),
    ROW_POLICY("hashed"),
    ROW_ASSIGN,
    ROW_STRIPE,
    ROW_BLOCK("1 MiB"),
    ROW_PULLS,
    ROW_CONTROL,
    ROW_DEVICE("nvme", "the burst buffer of every compute node"),
    ROW_DEVICES,
    ROW_EXTERNAL("what the servers have"),
    ROW_EXTERNALS,
    ROW_BUFFER(local_buffer_rows),
    ROW_SAN,
    ROW_CLIENT("2 us"),
    ROW_SERVER("5 us"),
    ROW_SERVICE,
    ROW_JITTER("0"),
    ROW_METADATA("true"),
    ROW_OBJECT("false"),
    CONF_END,
};

static const struct conf_row compute_rows[] = {
    ROW_SERVERS("last 1 of every group", SERVERS_HELP),
    {.key = "io_nodes",
     .type = CONF_STRING,
     .offset = AT(io_nodes),
     .def = "",
     .help = "nodes through which burst buffers drain to external storage; none: they do not"},
    ROW_NUMBERING("ascending"),
    ROW_POLICY("nearest"),
    ROW_ASSIGN,
    ROW_STRIPE,
    ROW_BLOCK("1 MiB"),
    ROW_PULLS,
    ROW_CONTROL,
    ROW_DEVICE("nvme", "what burst-buffer servers have"),
    ROW_DEVICES,
    ROW_EXTERNAL("what is behind an I/O node"),
    ROW_EXTERNALS,
    ROW_BUFFER(compute_buffer_rows),
    ROW_SAN,
    ROW_CLIENT("2 us"),
    ROW_SERVER("5 us"),
    ROW_SERVICE,
    ROW_JITTER("0"),
    ROW_METADATA("true"),
    ROW_OBJECT("false"),
    CONF_END,
};

static const struct conf_row side_rows[] = {
    ROW_SERVERS("last 1 of every group", SERVERS_HELP),
    ROW_NUMBERING("ascending"),
    ROW_POLICY("hashed"),
    ROW_ASSIGN,
    ROW_STRIPE,
    {.key = "threshold",
     .type = CONF_BYTES,
     .offset = AT(threshold_b),
     .def = "64 KiB",
     .max = MOST_BYTES,
     .help = "operations of fewer bytes go to the fast devices, the others to the external ones"},
    ROW_BLOCK("1 MiB"),
    ROW_PULLS,
    ROW_CONTROL,
    ROW_DEVICE("ssd", "the fast device of a server"),
    ROW_DEVICES,
    ROW_EXTERNAL("the large device of a server"),
    ROW_EXTERNALS,
    ROW_BUFFER(side_buffer_rows),
    ROW_SAN,
    ROW_CLIENT("2 us"),
    ROW_SERVER("5 us"),
    ROW_SERVICE,
    ROW_JITTER("0"),
    ROW_METADATA("true"),
    ROW_OBJECT("false"),
    CONF_END,
};

/* The published 1,056-node study's: a burst buffer without limit, the device a table, software
 * free of charge, and all blocks of all clients in one object. */
static const struct conf_row reference_rows[] = {
    ROW_SERVERS("last 2 of every group", SERVERS_HELP),
    ROW_NUMBERING("descending"),
    ROW_POLICY("nearest"),
    ROW_ASSIGN,
    ROW_STRIPE,
    ROW_BLOCK("1 MB"),
    ROW_PULLS,
    ROW_CONTROL,
    ROW_DEVICE("table", "what burst-buffer servers have"),
    ROW_DEVICES,
    ROW_BUFFER(reference_buffer_rows),
    ROW_CLIENT("0"),
    ROW_SERVER("0"),
    ROW_SERVICE,
    ROW_JITTER("1 ns"),
    ROW_METADATA("false"),
    ROW_OBJECT("true"),
    CONF_END,
};

static const struct store_kind local = {
    .kind = {.name = "local-bb",
             .summary = "a burst buffer on every compute node, a cache of file servers",
             .rows = local_rows,
             .params_size = sizeof(struct store_params)},
    .arch = STORE_LOCAL,
};

static const struct store_kind compute = {
    .kind = {.name = "compute-bb",
             .summary = "burst-buffer nodes in the fabric, drained through I/O nodes",
             .rows = compute_rows,
             .params_size = sizeof(struct store_params)},
    .arch = STORE_COMPUTE,
};

static const struct store_kind side = {
    .kind = {.name = "storage-bb",
             .summary =
                 "I/O servers with fast devices for small requests and large ones for the rest",
             .rows = side_rows,
             .params_size = sizeof(struct store_params)},
    .arch = STORE_SIDE,
};

static const struct store_kind reference = {
    .kind = {.name = "reference",
             .summary = "the published study's compute-bb: pulls of 1 MB, no limit, no software",
             .rows = reference_rows,
             .params_size = sizeof(struct store_params)},
    .arch = STORE_COMPUTE,
};

const struct conf_kind *const store_kinds[] = {&local.kind, &compute.kind, &side.kind,
                                               &reference.kind, NULL};
