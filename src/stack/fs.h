/* fs.h -- a file system as machines: what a machine file says, compact.
 *
 *   pvfs2.yaml --stack_fs_open--> machines, states, transitions, messages
 *                                   |
 *      operation "write" ──> MPI_File_write_at ─jump─> ADIOI_PVFS2_WriteContig ─fork─> client_io_sm
 *      message IO ─────────> unexpected_sm ─dispatch─> io_sm
 *
 * A machine is a layer's agent in one activity; a state does one thing, leaves with a code, and
 * the code picks the next state. Everything is numbers in arrays: a state is one cache line, and
 * the engine (stack_engine.h) walks from one to the next without looking at a name.
 *
 * What a state does:
 *   run       computes
 *   wait      computes, then waits for the storage under it
 *   jump      into a nested machine, which returns the code
 *   fork      children of the same node, and waits for all of them
 *   send      what `message` prepared, to `count` servers; an answer from each comes back
 *   receive   takes one answer; while there are more it stays where it is
 *   reply     answers the sender
 *   flow      the data of the request
 *   dispatch  becomes the machine that serves the message
 *   take      so much of a resource, and waits while others have it
 *   spawn     children that run in the background
 *   sleep     waits in the background: not counted as waiting time
 */
#ifndef STACK_FS_H
#define STACK_FS_H

#include "base/str.h"
#include "conf/conf.h"
#include "stack/expr.h"

enum stack_does {
    STACK_RUN,
    STACK_WAIT,
    STACK_JUMP_TO,
    STACK_FORK,
    STACK_SEND,
    STACK_RECEIVE,
    STACK_REPLY,
    STACK_FLOW,
    STACK_DISPATCH,
    STACK_TAKE,
    STACK_SPAWN,
    STACK_SLEEP,
};

enum stack_class { STACK_CONTROL, STACK_COMMUNICATION, STACK_DATA, STACK_CLASSES };

extern const char *const stack_class_names[];

enum stack_side { STACK_CLIENT, STACK_SERVER, STACK_BOTH };

/* A call is a function of a library above the file system's own machines (MPI-IO, ADIO). */
/* A layer is what states go through below them (Job, BMI, Trove): it has no line in the file
 * system's own log. */
enum stack_kind { STACK_MACHINE, STACK_CALL_OF, STACK_LAYER };

/* What an application asks for. */
#define STACK_OPERATIONS(X) \
    X(PROBE, probe)         \
    X(OPEN, open)           \
    X(CREATE, create)       \
    X(SET_SIZE, set_size)   \
    X(WRITE, write)         \
    X(READ, read)           \
    X(SYNC, sync)           \
    X(GET_SIZE, get_size)   \
    X(CLOSE, close)         \
    X(JOIN, join)           \
    X(DELETE, delete)       \
    X(MOUNT, mount)

enum stack_operation {
#define X(id, name) STACK_OP_##id,
    STACK_OPERATIONS(X)
#undef X
        STACK_OPS
};

extern const char *const stack_operation_names[];

/* How an application calls the file system: through MPI-IO, or by system calls. */
enum stack_api { STACK_MPIIO, STACK_POSIX, STACK_APIS };

/* The variables that every agent has, before the file system's own. The first five are those of
 * the published model. */
#define STACK_VARS_OF_ALL(X)                                                            \
    X(ID, id)                         /* of the agent */                                \
    X(DATA_SYSTEM, data_system)       /* what it wants is in memory */                  \
    X(OPERATION, operation)           /* what was asked for */                          \
    X(IN_PROCESS, request_in_process) /* answers that are to come */                    \
    X(COD, cod_operation)             /* the last code */                               \
    X(BYTES, bytes)                   /* of the operation */                            \
    X(OFFSET, offset)                                                                   \
    X(WRITES, writes)   /* 1: it writes */                                              \
    X(OBJECT, object)   /* which object of the file */                                  \
    X(STATUS, status)   /* what the answers said; 0: all is well */                     \
    X(ANSWER, answer)   /* what a good answer leads to */                               \
    X(I, i)             /* which of several messages, answers, children */              \
    X(PHASE, phase)     /* of an answer: 0 answer, 1 sent, 2 data moved, 3 data kept */ \
    X(COUNT, count)     /* messages sent together */                                    \
    X(FIRST, first)     /* of the data files that a request is about */                 \
    X(HANDLES, handles) /* and how many */                                              \
    X(LENGTH, length)   /* bytes that this request moves; 0: its share of all */        \
    X(WHO, who)         /* the client that it is done for */

enum stack_var {
#define X(id, name) STACK_VAR_##id,
    STACK_VARS_OF_ALL(X)
#undef X
        STACK_VARS_COMMON,
    STACK_VARS = 28
};

/* The builtins of machine files. The number is how many arguments each takes. */
#define STACK_BUILTINS(X)                                                                  \
    X(SERVERS, servers, 0) /* how many there are */                                        \
    X(CLIENTS, clients, 0)                                                                 \
    X(HERE, here, 0)         /* this node's number among its like */                       \
    X(EXISTS, exists, 0)     /* the file has a name */                                     \
    X(STUFFED, stuffed, 0)   /* its data are in one place; a client may not know */        \
    X(WHOLE, whole, 0)       /* what the operation, or its requester, knows of it */       \
    X(DFILES, dfiles, 0)     /* its data files, once it is not */                          \
    X(META, meta, 0)         /* the server that has its metadata */                        \
    X(STRIP, strip, 0)       /* bytes of a strip */                                        \
    X(EAGER, eager, 0)       /* bytes that a request may carry */                          \
    X(LEFT, left, 0)         /* answers still to come */                                   \
    X(LOADED, loaded, 0)     /* the server has the object's attributes in memory */        \
    X(MOUNTED, mounted, 0)   /* this client knows the file system */                       \
    X(SPANS, spans, 0)       /* data files that the operation touches */                   \
    X(SPAN, span, 1)         /* the number of the nth of them */                           \
    X(SHARE, share, 1)       /* bytes of the operation in a data file */                   \
    X(DSERVER, dserver, 1)   /* the server of a data file */                               \
    X(CREATING, creating, 0) /* the call may make the file */                              \
    X(FILE, file, 0)         /* its number */                                              \
    X(SIZE, size, 0)         /* and how long it is, with what is being written */          \
    X(METAS, metas, 0)       /* servers that keep metadata */                              \
    X(DATAS, datas, 0)       /* and those that keep data */                                \
    X(SHUFFLED, shuffled, 1) /* servers for data in an order drawn for the file */         \
    X(FIRST_SERVER, first_server, 0)                                                       \
    X(CACHED, cached, 0)       /* the client has these bytes in memory */                  \
    X(CELL, cell, 2)           /* what the node remembers: (cell, number) */               \
    X(WAITING, waiting, 2)     /* waiters of a resource: (resource, key) */                \
    X(LOCKED, locked, 1)       /* `who` has a lock of these bytes: (data file) */          \
    X(CONFLICTS, conflicts, 1) /* locks of others that stand against it */                 \
    X(UNCALLED, uncalled, 1)   /* those that were not asked back yet */                    \
    X(HOLDER, holder, 2)       /* (data file, n): the client of the nth of them */         \
    X(WRITER, writer, 1)       /* another client that may write there, or -1 */            \
    X(LARGEST, largest, 0)     /* most bytes of the operation in one data file */          \
    X(MIN, min, 2)                                                                         \
    X(MAX, max, 2)                                                                         \
    X(ACACHE, acache, 2) /* attributes of an object (and, 1, its size) are cached */       \
    X(ACACHE_PUT, acache_put, 2)                                                           \
    X(ACACHE_DROP, acache_drop, 2) /* (object, 1: the size alone) */                       \
    X(CAPCACHE, capcache, 1)       /* what it is allowed to do with an object is cached */ \
    X(CAPCACHE_PUT, capcache_put, 1)                                                       \
    X(CAPCACHE_DROP, capcache_drop, 1)                                                     \
    X(NCACHE, ncache, 0) /* the name is cached */                                          \
    X(NCACHE_PUT, ncache_put, 0)                                                           \
    X(NCACHE_DROP, ncache_drop, 0)                                                         \
    X(MOUNT_DONE, mount_done, 0)                                                           \
    X(MAKE, make, 0)             /* the file's objects are made */                         \
    X(LINK, link, 0)             /* it gets its name */                                    \
    X(UNLINK, unlink, 0)         /* and loses it */                                        \
    X(UNSTUFF, unstuff, 0)       /* its data spread over its data files */                 \
    X(SHOW, show, 0)             /* the answer says whether they are in one place */       \
    X(LOAD, load, 0)             /* the server reads the object's attributes */            \
    X(SETTLE, settle, 0)         /* bytes of the request are kept here */                  \
    X(CACHE_FILL, cache_fill, 0) /* the client has these bytes now */                      \
    X(CACHE_DROP, cache_drop, 0) /* and forgets all of the file */                         \
    X(KEEP, keep, 3)             /* (cell, number, value) */                               \
    X(GIVE, give, 3)             /* (resource, key, amount) */                             \
    X(ENQUEUE, enqueue, 1)       /* `who` asks for a lock of a data file */                \
    X(CALL_BACK, call_back, 1)   /* all that stand against it were asked back */           \
    X(GRANT, grant, 1)           /* it gets the lock */                                    \
    X(CANCEL, cancel, 1)         /* it gives its locks of the data file back */

enum stack_builtin {
#define X(id, name, nargs) STACK_BUILTIN_##id,
    STACK_BUILTINS(X)
#undef X
        STACK_BUILTINS_ALL
};

enum {
    STACK_NONE = UINT16_MAX,
    STACK_RETURN = UINT16_MAX - 1,
    STACK_TERMINATE = UINT16_MAX - 2,
    STACK_DEEPEST = 8,  /* machines inside machines */
    STACK_MOST = 60000, /* states, messages, transitions of a file system */
};

struct stack_next {
    int64_t code;
    uint16_t to;
    bool any; /* default */
};

/* A state of a machine. Constant after stack_fs_open(), as is all of struct stack_fs. Expressions
 * are indices into stack_fs.codes; `set`, `pass`, `next`, `fork` are ranges of the arrays there. */
struct stack_state {
    const char *function; /* what tables of real runs know it as, or NULL */
    uint8_t does, cls;    /* enum stack_does; the class of time */
    uint8_t nset, npass, nnext, nfork;
    bool receives_data; /* of an answer: the data begin to move */
    bool pulls;         /* flow: the other end has offered its memory already */
    bool resends;       /* send: the second time only what failed */
    bool has_code, has_then, has_when, has_tag, has_bytes;
    bool has_data_code; /* what it waits for depends on whether it leaves with this code */
    int64_t data_code;
    uint16_t machine;     /* of which it is a state */
    uint16_t target;      /* jump */
    uint16_t below;       /* the layer that its waiting, or part of its work, is spent in */
    uint16_t message;     /* prepared here, or STACK_NONE */
    uint16_t instead;     /* in its place, where `swap` is not 0; or STACK_NONE */
    uint16_t phase;       /* reply */
    uint16_t resource;    /* take */
    uint32_t key, amount; /* take, give: which of the resource's instances, and how much */
    uint32_t code, then, when, tag, count, to, bytes, swap; /* expressions, where has_... */
    uint32_t set, pass, next, fork;                         /* the first of them */
};

/* Which timing model a visit uses: that of `io` (0 of a read, 1 of a write, 2 of neither); for
 * states with a timing model of data files, 0 for metadata and 1 for a data file. */
static inline uint8_t stack_way(const struct stack_state *s, uint8_t io, int64_t code)
{
    return s->has_data_code ? code == s->data_code : io;
}

/* A state machine: an operation, a request, or a piece of them that states jump to. */
struct stack_machine {
    const char *name, *layer, *agent;
    const char *function;    /* what callers know it as; its name, when nothing else is said */
    uint16_t function_id;    /* the first machine of the same function */
    uint8_t side, kind;      /* enum stack_side, stack_kind */
    bool moves;              /* has a state of class data */
    bool common;             /* what every request goes through: no request is named after it */
    uint16_t first, nstates; /* in stack_fs.state */
    uint16_t layer_id;       /* in stack_fs.layer */
};

/* A kind of message. */
struct stack_message {
    const char *name;
    uint16_t serves;            /* the machine */
    bool down;                  /* it goes to a client */
    uint32_t request, response; /* expressions: bytes without the header */
};

/* A parameter of the file system that a user may set, and the source of its default. */
struct stack_param {
    const char *name, *text, *source, *help;
    int64_t value;
};

/* What activities take and give back; each node has one of it for each key. */
struct stack_resource {
    const char *name;
    uint32_t limit; /* expression */
};

/* A background activity that a state begins. */
struct stack_fork {
    uint16_t machine;
    uint32_t when; /* expression */
};

/* A file system: its machine file, compiled. */
struct stack_fs {
    const char *name, *title;
    struct wr_arena arena;    /* of strings and what is derived */
    struct conf *conf;        /* of the file: places of values */
    struct stack_file *file;  /* the text, typed: where a complaint points */
    struct stack_codes codes; /* all expressions */
    WR_VEC(struct stack_machine) machine;
    WR_VEC(struct stack_state) state; /* machine after machine */
    WR_VEC(const char *) state_name;  /* "machine:state" of each */
    WR_VEC(struct stack_next) next;
    WR_VEC(uint32_t) step; /* expressions of `set` and `pass` */
    WR_VEC(struct stack_fork) fork;
    WR_VEC(struct stack_message) message;
    WR_VEC(struct stack_param) param;
    WR_VEC(struct stack_resource) resource;
    WR_VEC(const char *) layer; /* in the order a call goes down, then up the server */
    WR_VEC(const char *) var;   /* names of activity.var[] */
    uint16_t operation[STACK_APIS][STACK_OPS]; /* its machine, or STACK_NONE */
    /* of a shared file, one task does it while the others wait */
    bool once[STACK_APIS][STACK_OPS];
    uint16_t serves; /* the machine that takes requests */
    uint16_t starts; /* what every server does first, or STACK_NONE */
    /* defaults of the file system */
    uint64_t strip_b;  /* of a data file in turn */
    uint64_t eager_b;  /* data up to this go with the request */
    uint64_t buffer_b; /* of a flow */
    uint64_t header_b; /* of every message */
    uint32_t buffers;  /* of a flow, filled from the storage before it begins */
    /* how long clients keep attributes, sizes, capabilities and names */
    uint64_t acache_ns, acache_size_ns, capcache_ns, ncache_ns;
    bool stuffs;   /* a new file's data stay with its metadata until they outgrow a strip */
    bool apart;    /* servers keep metadata or data, not both */
    bool connects; /* the first message to a server waits for a connection */
    bool placed;   /* by the two expressions */
    uint32_t place_meta, place_data; /* expressions: the server */
    uint64_t cache_b;                /* bytes of a file that a client keeps in memory */
    uint32_t stripes; /* data files of a file; 0: as many as there are servers for data */
};

/* A shipped file system by its name, or a machine file by its path. */
bool stack_fs_open(struct stack_fs **ret, const char *name, struct wr_err *err);
/* With overrides, as after --set: "stripes=4", "params.rpc_size.value=1 MiB". */
bool stack_fs_open_with(struct stack_fs **ret, const char *name, const char *const *sets,
                        size_t nsets, struct wr_err *err);
/* Reads without checking, for callers that report all faults. `text` NULL: `name` is a path. */
bool stack_fs_read(struct stack_fs **ret, const char *name, const char *text, size_t len,
                   struct wr_err *err);
bool stack_fs_open_text(struct stack_fs **ret, const char *name, const char *text, size_t len,
                        struct wr_err *err);
void stack_fs_close(struct stack_fs *fs);

/* The file systems that are shipped; NULL ends them. */
struct stack_shipped {
    const char *name, *text;
};
const struct stack_shipped *stack_shipped_fs(void);

/* "client_io_sm:init", to be used inside one expression */
struct stack_text {
    char s[200];
};
struct stack_text stack_state_text(const struct stack_fs *fs, uint16_t state);
uint16_t stack_find_machine(const struct stack_fs *fs, const char *name);
/* The first machine that is known as this function, or STACK_NONE. */
uint16_t stack_find_function(const struct stack_fs *fs, const char *name);
/* The state that is known as this function, or STACK_NONE. */
uint16_t stack_find_state_function(const struct stack_fs *fs, const char *name);
/* STACK_NONE when there is none; `name` as stack_state_text gives it. */
uint16_t stack_find_state(const struct stack_fs *fs, const char *name, size_t len);

/* The state whose name is most like this one; empty: none is. */
struct stack_text stack_like_state(const struct stack_fs *fs, const char *name);

/* Reports every fault of the machines once, with its place. Returns how many. Opening a file system
 * fails at the first. */
typedef void stack_report_fn(void *ctx, const char *text);
size_t stack_fs_check(const struct stack_fs *fs, stack_report_fn *report, void *ctx);

#endif
