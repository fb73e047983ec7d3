/* stack_engine.h -- simulates a file system: activities step through its machines.
 *
 *   call ──> client node ══request══> server node ──> storage
 *              │  ^                     │
 *              │  └─────answer──────────┘
 *              └── flow: the data, both nodes at work
 *
 * A node is a process: a client or a server. It does one thing at a time; what arrives meanwhile
 * waits in its queue. An activity (an operation, a request being served) runs from state to state
 * until it has to wait for an answer, for the storage or for data; then the node takes the next
 * from its queue. So one event carries an activity through many states.
 *
 * Time is in nanoseconds here and not, as elsewhere, in picoseconds: a pebibyte over Fast Ethernet
 * takes longer than 2^64 of those.
 *
 * Data move as flows, not as packets: a flow has work to do (by its timing model, or bytes over the
 * link's bandwidth) and a speed, the smallest share that its client's and its server's link give
 * it, relative to the share that the timing model was measured with. What a flow carries is counted
 * when it ends, in the messages it would have taken.
 *
 * Invariants: every activity that begins ends; bytes that clients send or get are the bytes that
 * servers get or send; no time is negative; the same setup gives the same run, to the bit.
 */
#ifndef STACK_ENGINE_H
#define STACK_ENGINE_H

#include "stack/stack_wire.h"
#include "stack/timing.h"
#include "stack/twophase.h"

struct stack_engine;

#define STACK_FOREVER (UINT64_MAX / 2)         /* 292 years */
#define STACK_WIRE_FOREVER (UINT64_MAX / 2000) /* 106 days: a fabric's clock has picoseconds */

enum stack_action { STACK_COMPLETE, STACK_DEFERRED, STACK_TERMINATED };

/* One visit of a state. */
struct stack_visit {
    uint32_t node; /* clients first, then servers */
    uint32_t op;   /* number of the activity, in the order they began */
    uint16_t state;
    uint8_t action;                  /* enum stack_action */
    uint8_t writes;                  /* 0 of a read, 1 of a write, 2 of neither */
    int64_t tag, code;               /* that it left with */
    uint64_t t_ns, exec_ns, wait_ns; /* entered at; work; then waiting */
};

/* One activity: an operation of a client, or a request that a server serves. */
struct stack_activity {
    uint32_t node, seq; /* seq: as the file system's own log counts them, per node */
    uint32_t file;
    uint32_t parent;  /* the activity it belongs to, or UINT32_MAX */
    uint16_t machine; /* it is named after */
    uint16_t root;    /* the machine it began with; of a request, the one that serves it */
    uint8_t writes;   /* 0 reads, 1 writes, 2 neither */
    uint64_t t_ns, end_ns;
};

/* A message that has left: its length without the header; data: those of a whole flow. */
struct stack_sent {
    uint32_t from, to;
    uint32_t op; /* the activity that sent it */
    uint16_t message;
    bool answer, data;
    uint64_t bytes, t_ns;
};

/* Callbacks for every visit, activity and message; each may be NULL. */
struct stack_hooks {
    void *ctx;
    void (*visit)(void *ctx, const struct stack_visit *v);
    void (*begin)(void *ctx, uint32_t op, const struct stack_activity *a);
    void (*end)(void *ctx, uint32_t op, const struct stack_activity *a);
    void (*message)(void *ctx, const struct stack_sent *sent);
};

/* A state that fails: some of its visits leave with a code that they would not have. */
struct stack_fault {
    uint16_t state;
    int64_t code;
    uint64_t first, times; /* visits before it, and how many fail; 0: none does */
};

/* What stack_engine_open() needs; what it points to must outlive the engine. */
struct stack_setup {
    const struct stack_fs *fs;
    const struct stack_timings *timings;
    enum stack_api api;      /* that applications call */
    uint32_t clients, files; /* of the test */
    uint32_t servers;        /* of a file system whose roles are apart: those that keep data */
    uint32_t metas;          /* then: those that keep metadata; 0: one */
    uint32_t datas;   /* of a file system whose roles are not: the last servers, that keep data, and
                       * `metas` are the first, that keep metadata; 0: all */
    uint32_t dfiles;  /* of a file; 0: as the file system says */
    uint32_t start;   /* the server of the first file's metadata; UINT32_MAX: the median server */
    uint64_t seed;    /* of random placements */
    const char *test; /* in words, or NULL */
    const char *beyond;      /* why the test is extrapolated, or NULL; for output only */
    struct stack_wire *wire; /* what carries messages; NULL: the timing models' link */
    uint64_t all_b;          /* bytes of all processes together, for the published timing models */
    struct stack_fault fault;
    struct stack_cb cb; /* for stack_drive.c: how collective calls are buffered */
    struct stack_hooks hooks;
    /* A call has ended; the next may be begun here, at this time or later. */
    void (*done)(void *ctx, uint32_t client, int64_t status, uint64_t t_ns);
    /* What stack_engine_pass() sent is there. */
    void (*passed)(void *ctx, uint64_t t_ns);
    void *done_ctx;
};

bool stack_engine_open(struct stack_engine **ret, const struct stack_setup *setup,
                       struct wr_err *err);
void stack_engine_close(struct stack_engine *e);

/* What a client calls next; at most one call at a time. `t_ns` is not in the past. */
struct stack_call {
    enum stack_operation op;
    uint32_t file;
    uint64_t bytes, offset;
    bool creating; /* an open may make the file */
};

void stack_engine_call(struct stack_engine *e, uint32_t client, const struct stack_call *call,
                       uint64_t t_ns);

/* The file is there already, with so many bytes. */
void stack_engine_put_file(struct stack_engine *e, uint32_t file, uint64_t bytes);

/* Calls done() for a client at that time: for pauses. */
void stack_engine_later(struct stack_engine *e, uint32_t client, uint64_t t_ns);

/* Bytes go from one client to another over the fabric, and passed() is called. */
void stack_engine_pass(struct stack_engine *e, uint32_t from, uint32_t to, uint64_t bytes,
                       uint64_t t_ns);

/* Until nothing happens any more or `until_ns`; false when there is more to come. */
bool stack_engine_run(struct stack_engine *e, uint64_t until_ns, uint64_t most_events);
/* STACK_NONE, or a state of a machine that runs in a circle and never waits: nothing goes on. */
uint16_t stack_engine_stuck(const struct stack_engine *e);
uint64_t stack_engine_now(const struct stack_engine *e);
uint64_t stack_engine_events(const struct stack_engine *e);
/* Events of agents and of what carries their messages: as long as it grows, something goes on. */
uint64_t stack_engine_progress(const struct stack_engine *e);

/* Sums over all nodes of a side. */
struct stack_sum {
    uint64_t n, exec_ns, wait_ns;
    uint64_t between_ns; /* from its end to the begin of the next state */
};

struct stack_traffic {
    uint64_t requests, request_b, answers, answer_b;
};

struct stack_counts {
    struct stack_sum *state[2];     /* [client, server][states] */
    struct stack_sum *io[2];        /* [reading, writing][states], of both sides */
    struct stack_sum *total[2];     /* [reading, writing][machines]: whole activities */
    struct stack_traffic *message;  /* [messages] */
    uint64_t data_messages, data_b; /* of flows */
    uint64_t client_out_b, client_in_b, server_in_b, server_out_b; /* data alone */
    uint64_t begun, ended;                                         /* activities */
    uint64_t flows, flow_ns; /* that ended, and the sum of their times */
};

const struct stack_counts *stack_engine_counts(const struct stack_engine *e);

/* An agent as `weir stack step` shows it: what runs, and what waits. */
struct stack_look {
    uint32_t node;
    bool busy;               /* with an activity */
    uint16_t state;          /* of the activity it is in, or STACK_NONE */
    uint64_t since_ns;       /* when it entered that state; one event carries a node ahead of now */
    int64_t var[STACK_VARS]; /* of the activity */
    uint32_t queued;         /* works that wait */
    uint64_t busy_until_ns;
};

/* What a function of the published model took: times per call, and how many. */
struct stack_sum stack_engine_function(const struct stack_engine *e,
                                       const struct stack_function *f);

/* Clients and servers together. */
uint32_t stack_engine_nodes(const struct stack_engine *e);
void stack_engine_look(const struct stack_engine *e, uint32_t node, struct stack_look *ret);

#endif
