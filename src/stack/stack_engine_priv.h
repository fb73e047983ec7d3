/* stack_engine_priv.h -- the state of an engine, shared by its files.
 *
 * stack_engine.c steps activities, stack_flow.c moves data, stack_world.c has files and caches,
 * hold.c and lock.c have what outlives an activity, stack_wire.c connects to a fabric, below.c has
 * the layers below a state.
 */
#ifndef STACK_ENGINE_PRIV_H
#define STACK_ENGINE_PRIV_H

#include "base/pool.h"
#include "hold_priv.h"
#include "sim/sim.h"
#include "stack/stack_engine.h"

enum { KIND_ARRIVE, KIND_NODE, KIND_FLOW, KIND_MOVE, KIND_LATER };

/* What a client waited for: a time, or bytes of another client. */
enum { LATER_TIME, LATER_PASSED };

/* Phases of what comes back to an activity; 0..3 as in fs.h. */
enum { PHASE_ANSWER, PHASE_SENT, PHASE_MOVED, PHASE_KEPT, PHASE_STORED, PHASE_PADDED, PHASE_BEGIN };

/* A work item of a node's queue: an answer for one of its activities, or a new request. */
struct work {
    uint32_t next;       /* in the queue */
    uint32_t activity;   /* the activity it is for */
    uint32_t node;       /* of that activity */
    uint32_t op;         /* the activity's number, should its place have another by then */
    uint32_t peer;       /* of an answer: the server's activity, for its data */
    uint32_t i;          /* which of the requests of the activity's state it answers */
    uint16_t phase;      /* PHASE_... */
    bool shows, stuffed; /* the answer says whether the file's data are in one place */
    int64_t status;      /* of an answer; 0: well */
};

/* An activity: an operation, or a request being served. Set up by stack_begin(); the variables,
 * state and times change with every state. A server's activity contains the flow of its data, which
 * is set when the flow begins and changes with its speed. */
struct activity {
    int64_t var[STACK_VARS];           /* variables of the machine file; STACK_VAR_... first */
    uint64_t t_begin, t_enter, t_exit; /* of the activity, of its state */
    uint64_t t_sent;                   /* when it was asked for */
    uint64_t exec_ns;                  /* work of its state, before it waits */
    int64_t code, tag;                 /* that its state leaves with */
    uint32_t node;
    uint32_t parent; /* the activity that began it and waits for it; WR_NIL: none */
    uint32_t file;
    uint32_t op; /* its number, from 0 in the order in which activities begin */
    uint32_t requester,
        requester_i; /* the activity whose request it serves, and the number of the request */
    uint32_t requester_node, requester_op;
    uint32_t by;   /* of a background activity: the number of the activity that began it */
    uint32_t peer; /* the server's activity that answered last */
    uint32_t left; /* answers and children to come */
    uint32_t lost; /* works of the messages that failed, by their number `i`; WR_NIL: none */
    uint16_t state, frame[STACK_DEEPEST]; /* where it is; states to return to, `depth` of them */
    uint16_t message;                     /* made ready to be sent */
    uint16_t prepared;                    /* the state that did so */
    uint16_t serving;                     /* the message that it is the answer to */
    uint16_t machine;                     /* that it began in */
    uint16_t named; /* of a server's: the first machine that is not common; STACK_NONE: none yet */
    uint8_t depth;  /* of frame[] */
    uint8_t side;   /* 0 of a client, 1 of a server */
    uint8_t ready;  /* ends of its flow that are, of 2 */
    uint8_t open;   /* 0: it has ended, and its place may be used again */
    bool creating : 1, background : 1; /* it may make the file; no activity waits for it */
    bool sent : 1;                     /* of its flow: the sender is done */
    bool stuffed; /* what it, or its requester, knows of the file: the data are in one place */
    bool shows;   /* its answer says so */
    uint32_t seq; /* its number at its node */
    /* The flow. */
    uint32_t res[2], prev[2], next[2]; /* the nodes whose links it uses, and its neighbours there */
    uint32_t gen;          /* changes with its speed: an event of an older one is void */
    double work_ns, speed; /* left at t_speed, as on an idle link; what is done of it in a ns */
    double most_speed;     /* of a flow alone on its links: its buffers follow one after another */
    double device_ns; /* what the server's storage takes for it alone; 0: it is never the slower */
    double all_ns;    /* the work it began with */
    double weight;    /* of its part of a link, around 1 */
    double ahead_ns;  /* work that is left when the sender is done; 0: as much as is left now */
    uint64_t t_speed; /* when its speed was set */
    uint64_t flow_b;  /* bytes of the flow */
};

/* A client, a server, or (the last) the shared medium. Everything changes while running. */
struct node {
    uint64_t busy_until;  /* ns; it enters one state at a time */
    uint32_t first, last; /* of the queue */
    uint32_t queued;      /* works in it */
    uint32_t flows, flow; /* flows through its link, and the first of them */
    double weight;        /* of all of them */
    uint32_t data[2];     /* of reads and writes that have begun, their constant included */
    uint64_t data_b[2];   /* and their bytes */
    uint32_t flows_seen;  /* when all their speeds were last set */
    uint64_t stored_b;    /* of a server: what was written to it */
    uint32_t running;     /* its latest activity */
    uint32_t seq;         /* activities so far */
    bool waking, mounted; /* an event at busy_until is scheduled; a client has mounted */
};

/* A file of the simulated file system. */
struct object {
    uint64_t size;              /* bytes */
    uint32_t meta;              /* the server of its metadata; set when it is used first */
    bool made, linked, stuffed; /* it exists; has a name; its data are with its metadata */
    uint8_t *loaded;            /* a bit per data file: its server knows the attributes */
};

enum { CACHED = 4 };

/* What a client remembers: times until which an entry is valid, in ns. */
struct cache {
    uint64_t dir_until, dir_cap_until; /* attributes of the directory, and the capability */
    struct {
        uint32_t file; /* UINT32_MAX: free */
        uint64_t attr_until, size_until, name_until, cap_until;
        bool stuffed;      /* of the attributes */
        uint64_t from, to; /* bytes that are in memory */
    } at[CACHED];
    uint32_t oldest; /* the entry that is replaced next, modulo CACHED */
};

/* Up to `metas` and `datas` set by stack_engine_open(), the rest changes while running. */
struct stack_engine {
    const struct stack_fs *fs;
    const struct stack_timings *timings;
    struct stack_setup setup;
    struct stack_hooks hooks; /* called for every visit, activity and message */
    struct sim sim;           /* times are in ns here */
    struct wr_pool activities, works;
    struct node *node;                 /* clients, servers, and one for the medium */
    struct object *file;               /* [setup.files] */
    struct cache *cache;               /* [clients] */
    uint64_t *connected;               /* clients x servers bits, or NULL */
    struct stack_hold hold;            /* cells, resources and locks */
    uint32_t clients, servers, dfiles; /* dfiles: data files of a file */
    uint32_t medium;                   /* the node that stands for it */
    uint32_t metas, datas;             /* of the servers; apart: those with metadata come first */
    uint32_t seq, ops;                 /* events and activities so far */
    uint16_t stuck;             /* a state of a machine that runs in a circle without waiting */
    uint64_t now;               /* of the state being entered */
    struct activity *cur;       /* the activity that enters it */
    uint64_t between[2];        /* [client, server] ns from one state to the next */
    double share_ref;           /* of a link, where the timing models were measured */
    uint64_t faults;            /* visits of the state that is to fail */
    uint64_t wire_steps;        /* events of the fabric */
    struct stack_counts counts; /* grow */
};

static inline struct activity *activity_at(const struct stack_engine *e, uint32_t h)
{
    return wr_pool_at(&e->activities, h);
}

static inline uint32_t activity_handle(const struct stack_engine *e, const struct activity *a)
{
    return (uint32_t)((size_t)((const unsigned char *)a - e->activities.base) / e->activities.size);
}

/* Whether the requester has not ended. */
static inline bool stack_requester_is_open(const struct stack_engine *e, const struct activity *a)
{
    const struct activity *b = a->requester == WR_NIL ? NULL : activity_at(e, a->requester);

    return b && b->open && b->op == a->requester_op;
}

/* Sends a work item to its activity, where it arrives at `t`. */
void stack_put(struct stack_engine *e, uint64_t t, struct work w);
/* A work item without its event, for a wire that delivers it. */
uint32_t stack_work(struct stack_engine *e, struct work w);
void stack_post(struct stack_engine *e, uint64_t t, uint32_t activity, uint32_t i, uint16_t phase,
                int64_t status, uint32_t peer);

/* stack_world.c: files, caches, and what machines may ask. */
int64_t stack_world_ask(void *ctx, uint32_t builtin, const int64_t *args);
/* What a request moves: its own length, or its share of the operation. */
uint64_t stack_world_moves(const struct stack_engine *e, const struct activity *a);
/* The bytes of the operation in a data file, as that file counts them. */
void stack_world_extent(const struct stack_engine *e, const struct activity *a, uint32_t dfile,
                        uint64_t *from, uint64_t *to);
/* The server of a file's metadata. */
bool stack_world_stuffs(const struct stack_engine *e, uint32_t meta);
uint32_t stack_world_meta(struct stack_engine *e, uint32_t file);

/* below.c: the layers under a state take `budget` of its time from `t` on; what they leave of it.
 * All of it is taken when one of them waits. */
uint64_t stack_below(struct stack_engine *e, struct activity *a, uint16_t machine, uint64_t t,
                     uint64_t budget);
/* What the layers take for each byte they move, beside the network: the storage. */
double stack_below_per_byte(struct stack_engine *e, struct activity *a, uint16_t machine,
                            uint64_t t);
/* stack_engine.c, for the layers below */
uint64_t stack_exec_of(const struct stack_engine *e, const struct activity *a, size_t at);
uint16_t stack_next_of(const struct stack_fs *fs, const struct stack_state *s, int64_t code);
void stack_visited(struct stack_engine *e, struct activity *a, uint16_t state, uint64_t t_enter,
                   uint64_t exec, uint64_t wait, int64_t code, enum stack_action action);

/* stack_engine.c: activities begin, and what happens to a node. */
uint32_t stack_begin(struct stack_engine *e, uint32_t node, uint16_t machine, uint64_t t);
void stack_report_begin(struct stack_engine *e, struct activity *a);
void stack_on_arrive(void *ctx, const struct sim_event *ev);
void stack_on_node(void *ctx, const struct sim_event *ev);
void stack_on_later(void *ctx, const struct sim_event *ev);

/* stack_wire.c: messages over a fabric, where there is one. */
void stack_wire_join(struct stack_engine *e);
/* stack_flow.c: what has arrived over a fabric at `t` is kept from then on. */
uint64_t stack_flow_landed(struct stack_engine *e, struct activity *a, uint64_t t);
void stack_wire_flow(struct stack_engine *e, uint32_t activity, uint32_t from, uint32_t to,
                     uint64_t t);
void stack_deliver(struct stack_engine *e, uint32_t from, uint32_t to, uint64_t bytes, uint64_t t,
                   uint64_t there, struct work w);
bool stack_wire_run(struct stack_engine *e, uint64_t until_ns, uint64_t most_events);

/* stack_flow.c */
void stack_flow_ready(struct stack_engine *e, struct activity *server, uint64_t t);
void stack_flow_pull(struct stack_engine *e, struct activity *server, uint64_t t);
void stack_flow_event(void *ctx, const struct sim_event *ev);
void stack_flow_move(void *ctx, const struct sim_event *ev);

static inline int64_t activity_eval(struct stack_engine *e, struct activity *a, uint32_t at,
                                    uint64_t t)
{
    e->cur = a;
    e->now = t;
    return stack_eval(&e->fs->codes, at, a->var, stack_world_ask, e);
}

#endif
