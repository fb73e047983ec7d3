/* engine_priv.h -- what the files of the engine share. */
#ifndef STACK_ENGINE_PRIV_H
#define STACK_ENGINE_PRIV_H

#include "base/pool.h"
#include "hold_priv.h"
#include "sim/sim.h"
#include "stack/engine.h"

enum { KIND_ARRIVE, KIND_NODE, KIND_FLOW, KIND_MOVE, KIND_LATER };

/* What a client waited for: a time, or bytes of another client. */
enum { LATER_TIME, LATER_PASSED };

/* Phases of what comes back to an activity; 0..3 as in fs.h. */
enum { PHASE_ANSWER, PHASE_SENT, PHASE_MOVED, PHASE_KEPT, PHASE_STORED, PHASE_PADDED, PHASE_BEGIN };

/* Something for a node's queue: an answer for one of its activities, or a new request. */
struct work {
    uint32_t next; /* in the queue */
    uint32_t act;  /* the activity it is for */
    uint32_t node;
    uint32_t op;   /* the activity's number, should its place have another by then */
    uint32_t peer; /* of an answer: the server's activity, for its data */
    uint32_t i;
    uint16_t phase;
    bool shows, stuffed; /* the answer says whether the file's data are in one place */
    int64_t status;
};

/* An activity; of a server's, the flow of its data is part of it. */
struct act {
    int64_t var[STACK_VARS];
    uint64_t t_begin, t_enter, t_exit; /* of the activity, of its state */
    uint64_t t_sent;                   /* when it was asked for */
    uint64_t exec_ns;
    uint64_t lost; /* a bit for the number, modulo 64, of each message that failed */
    int64_t code, tag;
    uint32_t node, parent, file, op;
    uint32_t asker, asker_i; /* whose request it serves */
    uint32_t asker_node, asker_op;
    uint32_t by;   /* of one that nobody waits for: the number of the activity that began it */
    uint32_t peer; /* the server's activity that answered last */
    uint32_t left; /* answers and children to come */
    uint16_t state, frame[STACK_DEEPEST];
    uint16_t message;  /* made ready to be sent */
    uint16_t prepared; /* the state that did so */
    uint16_t serving;  /* the message that it is the answer to */
    uint16_t machine, named;
    uint8_t depth, side, ready, open;
    bool creating : 1, background : 1;
    bool sent : 1; /* of its flow: who sends is done */
    bool stuffed;  /* as it knows the file, or as who asked it does: the data are in one place */
    bool shows;    /* its answer tells so */
    uint32_t seq;
    /* The flow. */
    uint32_t res[2], prev[2], next[2]; /* the nodes whose links it uses, and its neighbours there */
    uint32_t gen;
    double work_ns, speed;
    double ahead_ns; /* work that is left when who sends is done; 0: as much as is left now */
    uint64_t t_speed;
    uint64_t flow_b;
};

struct node {
    uint64_t busy_until;
    uint32_t first, last; /* of the queue */
    uint32_t queued;
    uint32_t flows, flow; /* flows through its link, and the first of them */
    uint32_t data[2];     /* of reads and writes that have begun, their constant included */
    uint32_t flows_seen;  /* when all their speeds were last set */
    uint32_t running;     /* its latest activity */
    uint32_t seq;
    bool waking, mounted;
};

struct object {
    uint64_t size;
    uint32_t meta;
    bool made, linked, stuffed;
    uint8_t *loaded; /* a bit per data file: its server knows the attributes */
};

enum { CACHED = 4 };

struct cache {
    uint64_t dir_until, dir_cap_until;
    struct {
        uint32_t file; /* UINT32_MAX: free */
        uint64_t attr_until, size_until, name_until, cap_until;
        bool stuffed;      /* of the attributes */
        uint64_t from, to; /* bytes that are in memory */
    } at[CACHED];
    uint32_t oldest;
};

struct stack_engine {
    const struct stack_fs *fs;
    const struct stack_laws *laws;
    struct stack_setup setup;
    struct stack_hooks hooks;
    struct sim sim;
    struct wr_pool acts, works;
    struct node *node; /* clients, servers, and one for the medium */
    struct object *file;
    struct cache *cache; /* [clients] */
    uint64_t *connected; /* clients x servers bits, or NULL */
    struct stack_hold hold;
    uint32_t clients, servers, dfiles, medium;
    uint32_t metas, datas; /* of the servers; apart: those with metadata come first */
    uint32_t seq, ops;
    uint16_t stuck; /* a state of a machine that runs in a circle without waiting */
    uint64_t now;   /* of the state being entered */
    struct act *cur;
    uint64_t between[2]; /* [client, server] ns from one state to the next */
    double share_ref;    /* of a link, where the laws were measured */
    uint64_t faults;     /* visits of the state that is to fail */
    uint64_t wire_steps; /* events of the fabric */
    struct stack_counts counts;
};

static inline struct act *act_at(const struct stack_engine *e, uint32_t h)
{
    return wr_pool_at(&e->acts, h);
}

static inline uint32_t act_handle(const struct stack_engine *e, const struct act *a)
{
    return (uint32_t)((size_t)((const unsigned char *)a - e->acts.base) / e->acts.size);
}

/* Whether who asked is still there. */
static inline bool stack_asker(const struct stack_engine *e, const struct act *a)
{
    const struct act *b = a->asker == WR_NIL ? NULL : act_at(e, a->asker);

    return b && b->open && b->op == a->asker_op;
}

/* Puts something on its way to its activity, where it arrives at `t`. */
void stack_put(struct stack_engine *e, uint64_t t, struct work w);
/* The same for who brings it there himself. */
uint32_t stack_work(struct stack_engine *e, struct work w);
void stack_post(struct stack_engine *e, uint64_t t, uint32_t act, uint32_t i, uint16_t phase,
                int64_t status, uint32_t peer);

/* world.c: files, caches, and what machines may ask. */
int64_t stack_world_ask(void *ctx, uint32_t fact, const int64_t *args);
uint32_t stack_world_server(struct stack_engine *e, uint32_t file, uint32_t dfile);
uint64_t stack_world_share(const struct stack_engine *e, const struct act *a, uint32_t dfile);
/* What a request moves: its own length, or its share of the operation. */
uint64_t stack_world_moves(const struct stack_engine *e, const struct act *a);
/* The bytes of the operation in a data file, as that file counts them. */
void stack_world_extent(const struct stack_engine *e, const struct act *a, uint32_t dfile,
                        uint64_t *from, uint64_t *to);
/* The server of a file's metadata. */
bool stack_world_stuffs(const struct stack_engine *e, uint32_t meta);
uint32_t stack_world_meta(struct stack_engine *e, uint32_t file);

/* below.c: the layers under a state take `budget` of its time from `t` on; what they leave of it.
 * All of it is taken when one of them waits. */
uint64_t stack_below(struct stack_engine *e, struct act *a, uint16_t machine, uint64_t t,
                     uint64_t budget);
/* What the layers take for each byte they move, beside the network: the storage. */
double stack_below_per_byte(struct stack_engine *e, struct act *a, uint16_t machine, uint64_t t);
/* engine.c, for the layers below */
uint64_t stack_exec_of(const struct stack_engine *e, const struct act *a, size_t at);
uint16_t stack_next_of(const struct stack_fs *fs, const struct stack_state *s, int64_t code);
void stack_visited(struct stack_engine *e, struct act *a, uint16_t state, uint64_t t_enter,
                   uint64_t exec, uint64_t wait, int64_t code, enum stack_action action);

/* engine.c: activities begin, and what happens to a node. */
uint32_t stack_begin(struct stack_engine *e, uint32_t node, uint16_t machine, uint64_t t);
void stack_tell_begin(struct stack_engine *e, struct act *a);
void stack_on_arrive(void *ctx, const struct sim_event *ev);
void stack_on_node(void *ctx, const struct sim_event *ev);
void stack_on_later(void *ctx, const struct sim_event *ev);

/* wire.c: messages over a fabric, where there is one. */
void stack_wire_join(struct stack_engine *e);
/* flow.c: what has arrived over a fabric at `t` is kept from then on. */
uint64_t stack_flow_landed(struct stack_engine *e, struct act *a, uint64_t t);
void stack_wire_flow(struct stack_engine *e, uint32_t act, uint32_t from, uint32_t to, uint64_t t);
void stack_deliver(struct stack_engine *e, uint32_t from, uint32_t to, uint64_t bytes, uint64_t t,
                   uint64_t there, struct work w);
bool stack_wire_run(struct stack_engine *e, uint64_t until_ns, uint64_t most_events);

/* flow.c */
void stack_flow_ready(struct stack_engine *e, struct act *server, uint64_t t);
void stack_flow_pull(struct stack_engine *e, struct act *server, uint64_t t);
void stack_flow_event(void *ctx, const struct sim_event *ev);
void stack_flow_move(void *ctx, const struct sim_event *ev);

static inline int64_t act_eval(struct stack_engine *e, struct act *a, uint32_t at, uint64_t t)
{
    e->cur = a;
    e->now = t;
    return stack_eval(&e->fs->codes, at, a->var, stack_world_ask, e);
}

#endif
