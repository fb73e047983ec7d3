/* conf_rows.h -- a small machine with every type of row, for the tests of conf/. */
#ifndef TESTS_UNIT_CONF_ROWS_H
#define TESTS_UNIT_CONF_ROWS_H

#include <float.h>

#include "conf/conf.h"

struct dragonfly {
    uint32_t groups, routers;
    double taper;
};

static const struct conf_row dragonfly_rows[] = {{.key = "groups",
                                                  .type = CONF_U32,
                                                  .offset = offsetof(struct dragonfly, groups),
                                                  .def = "33",
                                                  .min = 1,
                                                  .max = 65536,
                                                  .help = "number of groups"},
                                                 {.key = "routers",
                                                  .type = CONF_U32,
                                                  .offset = offsetof(struct dragonfly, routers),
                                                  .def = "32",
                                                  .min = 1,
                                                  .max = 65536,
                                                  .help = "routers of a group"},
                                                 {.key = "taper",
                                                  .type = CONF_FRACTION,
                                                  .offset = offsetof(struct dragonfly, taper),
                                                  .def = "50 %",
                                                  .min = 0,
                                                  .max = 1,
                                                  .help = "share of global links kept"},
                                                 CONF_END};

struct torus {
    struct conf_list dims;
    uint32_t routers;
    bool wrap;
};

static const struct conf_row torus_rows[] = {{.key = "dims",
                                              .type = CONF_LIST,
                                              .item = CONF_U32,
                                              .offset = offsetof(struct torus, dims),
                                              .def = "[4, 4]",
                                              .min = 1,
                                              .max = 1024,
                                              .help = "length of each dimension"},
                                             {.key = "routers",
                                              .type = CONF_U32,
                                              .offset = offsetof(struct torus, routers),
                                              .def = "1",
                                              .min = 1,
                                              .max = 64,
                                              .help = "routers of a place"},
                                             {.key = "wrap",
                                              .type = CONF_BOOL,
                                              .offset = offsetof(struct torus, wrap),
                                              .def = "true",
                                              .help = "a torus, not a mesh"},
                                             CONF_END};

static const struct conf_kind kind_dragonfly = {"dragonfly", "groups of routers, all to all",
                                                dragonfly_rows, sizeof(struct dragonfly)};
static const struct conf_kind kind_torus = {"torus", "a grid that closes on itself", torus_rows,
                                            sizeof(struct torus)};
static const struct conf_kind kind_single = {"single", "one router", NULL, 0};
static const struct conf_kind *const toy_kinds[] = {&kind_dragonfly, &kind_torus, &kind_single,
                                                    NULL};

struct link {
    struct conf_key key;
    double bandwidth, latency;
    uint64_t buffer;
};

static const struct conf_row link_rows[] = {{.key = "bandwidth",
                                             .type = CONF_RATE,
                                             .offset = offsetof(struct link, bandwidth),
                                             .min = 1,
                                             .max = DBL_MAX,
                                             .help = "of one link"},
                                            {.key = "latency",
                                             .type = CONF_TIME,
                                             .offset = offsetof(struct link, latency),
                                             .def = "10 ns",
                                             .min = 0,
                                             .max = 1e12,
                                             .help = "of propagation"},
                                            {.key = "buffer",
                                             .type = CONF_BYTES,
                                             .offset = offsetof(struct link, buffer),
                                             .def = "16 KiB",
                                             .min = 64,
                                             .max = 1 << 30,
                                             .help = "per virtual channel"},
                                            CONF_END};

struct job {
    const char *name, *trace;
    uint32_t ranks, order;
    struct conf_plugin where;
};

static const char *const orders[] = {"linear", "random", "striped", NULL};

/* Files of a place, as `where:` of a job may name one. */
struct place {
    const char *note;
    struct conf_plugin place;
};

static const struct conf_row place_rows[3];

static const struct conf_text toy_shipped[] = {
    {"small", "note: a torus of four\nplace: {kind: torus, dims: [2, 2]}\n"},
    {NULL, NULL},
};
static const struct conf_files toy_files = {
    .key = "place", .rows = place_rows, .shipped = toy_shipped, .help = "write one"};

static const struct conf_row place_rows[3] = {{.key = "note",
                                               .type = CONF_STRING,
                                               .offset = offsetof(struct place, note),
                                               .def = "",
                                               .help = "what it is"},
                                              {.key = "place",
                                               .type = CONF_PLUGIN,
                                               .offset = offsetof(struct place, place),
                                               .kinds = toy_kinds,
                                               .files = &toy_files,
                                               .help = "the place itself"},
                                              CONF_END};

static const struct conf_row job_rows[] = {{.key = "name",
                                            .type = CONF_STRING,
                                            .offset = offsetof(struct job, name),
                                            .help = "what the tables call it"},
                                           {.key = "ranks",
                                            .type = CONF_U32,
                                            .offset = offsetof(struct job, ranks),
                                            .def = "4",
                                            .min = 1,
                                            .max = 1e6,
                                            .help = "number of ranks"},
                                           {.key = "order",
                                            .type = CONF_CHOICE,
                                            .offset = offsetof(struct job, order),
                                            .def = "linear",
                                            .names = orders,
                                            .help = "in which order ranks meet nodes"},
                                           {.key = "trace",
                                            .type = CONF_PATH,
                                            .offset = offsetof(struct job, trace),
                                            .def = "",
                                            .help = "a recorded trace"},
                                           {.key = "where",
                                            .type = CONF_PLUGIN,
                                            .offset = offsetof(struct job, where),
                                            .def = "",
                                            .kinds = toy_kinds,
                                            .files = &toy_files,
                                            .help = "a machine of its own"},
                                           CONF_END};

struct router {
    double delay, gain;
    bool cut_through;
};

static const struct conf_row router_rows[] = {{.key = "delay",
                                               .type = CONF_TIME,
                                               .offset = offsetof(struct router, delay),
                                               .def = "100 ns",
                                               .min = 0,
                                               .max = 1e12,
                                               .help = "of a packet's head"},
                                              {.key = "gain",
                                               .type = CONF_REAL,
                                               .offset = offsetof(struct router, gain),
                                               .def = "-1.5e-3",
                                               .min = -1,
                                               .max = 1,
                                               .help = "of the controller"},
                                              {.key = "cut_through",
                                               .type = CONF_BOOL,
                                               .offset = offsetof(struct router, cut_through),
                                               .def = "false",
                                               .help = "forward before the tail is here"},
                                              CONF_END};

struct machine {
    struct conf_plugin topology;
    struct conf_list links;
    struct router router;
};

static const struct conf_row machine_rows[] = {{.key = "topology",
                                                .type = CONF_PLUGIN,
                                                .offset = offsetof(struct machine, topology),
                                                .def = "dragonfly",
                                                .kinds = toy_kinds,
                                                .help = "the wiring"},
                                               {.key = "links",
                                                .type = CONF_TABLE,
                                                .offset = offsetof(struct machine, links),
                                                .def = "{local: {bandwidth: 5.25 GiB/s}}",
                                                .rows = link_rows,
                                                .size = sizeof(struct link),
                                                .help = "by class"},
                                               {.key = "router",
                                                .type = CONF_SECTION,
                                                .offset = offsetof(struct machine, router),
                                                .rows = router_rows,
                                                .include = true,
                                                .help = "every router's figures"},
                                               CONF_END};

struct fault {
    uint64_t at;
    double share;
};

static const struct conf_row fault_rows[] = {
    {.key = "at", .type = CONF_U64, .offset = offsetof(struct fault, at), .help = "which event"},
    {.key = "share",
     .type = CONF_FRACTION,
     .offset = offsetof(struct fault, share),
     .def = "10 %",
     .min = 0,
     .max = 1,
     .help = "of the links"},
    CONF_END};

struct toy {
    uint64_t seed;
    const char *title;
    struct machine machine;
    struct conf_list jobs;   /* of struct job */
    struct conf_list sizes;  /* of uint64_t */
    struct conf_list places; /* of struct conf_plugin */
    struct fault fault;
};

static const struct conf_row toy_rows[] = {{.key = "seed",
                                            .type = CONF_U64,
                                            .offset = offsetof(struct toy, seed),
                                            .def = "1",
                                            .help = "of all randomness"},
                                           {.key = "title",
                                            .type = CONF_STRING,
                                            .offset = offsetof(struct toy, title),
                                            .def = "",
                                            .help = "for the report"},
                                           {.key = "machine",
                                            .type = CONF_SECTION,
                                            .offset = offsetof(struct toy, machine),
                                            .rows = machine_rows,
                                            .include = true,
                                            .help = "what is simulated"},
                                           {.key = "jobs",
                                            .type = CONF_LIST,
                                            .offset = offsetof(struct toy, jobs),
                                            .def = "[{name: only}]",
                                            .rows = job_rows,
                                            .size = sizeof(struct job),
                                            .min = 1,
                                            .max = 1000,
                                            .help = "what runs on it"},
                                           {.key = "sizes",
                                            .type = CONF_LIST,
                                            .item = CONF_BYTES,
                                            .offset = offsetof(struct toy, sizes),
                                            .def = "",
                                            .min = 1,
                                            .max = 1e12,
                                            .help = "of messages"},
                                           {.key = "places",
                                            .type = CONF_LIST,
                                            .item = CONF_PLUGIN,
                                            .offset = offsetof(struct toy, places),
                                            .def = "",
                                            .kinds = toy_kinds,
                                            .help = "several machines"},
                                           {.key = "fault",
                                            .type = CONF_SECTION,
                                            .offset = offsetof(struct toy, fault),
                                            .def = "",
                                            .rows = fault_rows,
                                            .help = "what breaks, if anything"},
                                           CONF_END};

#endif
