/* weir-rpc.h -- calls between processes, of one node or of several, with bulk data by RMA.
 *
 *     server                                          client
 *     s = weir_rpc_server_open(&cfg, handle, ctx, ..) c = weir_rpc_client_open(&cfg, address, ..)
 *     address = weir_rpc_server_address(s)            weir_rpc_call(c, op, "question", 8, ...)
 *     while (...)                                     weir_rpc_get(c, place, at, len)
 *         weir_rpc_server_step(s, 100000)             weir_rpc_put(c, place, at, len)
 *     weir_rpc_server_close(s)                        weir_rpc_client_close(c)
 *
 * Over shared memory ("shm"), TCP ("tcp") or any provider of libfabric with reliable datagrams and
 * RMA ("fabric"; libfabric.so.1 is opened when it is asked for). Nothing is allocated and no thread
 * is started per call: everything happens inside step, call, get and put. A server or a client
 * belongs to one thread at a time.
 *
 * Servers listen on the loopback unless `bind` says otherwise, and drop and count every message
 * that does not carry the token, which servers and clients must agree on: 128 bits, as 32
 * hexadecimal digits in a file that only its owner may read, or in the environment
 * (WEIR_RPC_TOKEN).
 */
#ifndef WEIR_RPC_H
#define WEIR_RPC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when something is added; functions and fields are never taken away within one. */
#define WEIR_RPC_ABI 2

int weir_rpc_abi(void); /* of the library that is loaded */
const char *weir_rpc_version(void);

/* How one waits. */
enum {
    WEIR_RPC_ADAPTIVE, /* look for spin_us after the last thing that happened, then sleep */
    WEIR_RPC_BLOCK,    /* sleep at once */
    WEIR_RPC_POLL,     /* never sleep */
};

/* Zero is the default of every field but `size`. */
struct weir_rpc_config {
    size_t size;            /* sizeof(struct weir_rpc_config): later versions have more fields */
    const char *transport;  /* "shm", "tcp", "fabric"; NULL: shm */
    const char *provider;   /* of libfabric, as `fi_info -l` names them */
    const char *bind;       /* address of the interface; NULL: loopback */
    uint64_t token;         /* without a file and WEIR_RPC_TOKEN: for one machine alone */
    int wait;               /* one of the above */
    uint32_t spin_us;       /* 50 */
    uint32_t depth;         /* of a client: calls under way at most, 16 */
    uint32_t clients;       /* of a server: at most, 64 */
    size_t memory_b;        /* that a server shares by get and put, or a client moves to and fro */
    const char *token_file; /* NULL: the token is that of WEIR_RPC_TOKEN, if it is set */
};

/* Results; lengths are 0 or more. */
enum {
    WEIR_RPC_OK = 0,
    WEIR_RPC_BAD_RANGE = -1, /* longer than a message, or out of the memory of either side */
    WEIR_RPC_BAD_OP = -2,    /* the server knows no such operation */
    WEIR_RPC_BUSY = -3,      /* as many calls as may be are under way */
    WEIR_RPC_FAILED = -4,    /* data could not be moved */
    WEIR_RPC_GONE = -5,      /* the server does not live any more */
    WEIR_RPC_TOO_LATE = -6,  /* no answer within the timeout */
};

/* What went wrong, in words; a string of its own for each result. */
const char *weir_rpc_words(int result);

/* ---- server ---- */

/* Answers a call: writes at most `reply_size` bytes to `reply` and returns how many, or a result
 * below 0, which the caller gets. Called from weir_rpc_server_step. `op`: 0 to 127. */
typedef int weir_rpc_handler(void *ctx, unsigned op, const void *bytes, size_t len, void *reply,
                             size_t reply_size);

struct weir_rpc_server;
/* NULL: `why` (of why_size bytes, may be NULL) says what went wrong. */
struct weir_rpc_server *weir_rpc_server_open(const struct weir_rpc_config *config,
                                             weir_rpc_handler *handle, void *ctx, char *why,
                                             size_t why_size);
void weir_rpc_server_close(struct weir_rpc_server *s);          /* NULL is fine */
const char *weir_rpc_server_address(struct weir_rpc_server *s); /* for clients */
void *weir_rpc_server_memory(struct weir_rpc_server *s);        /* memory_b bytes */
/* Serves what there is; waits at most so long if there is nothing. */
void weir_rpc_server_step(struct weir_rpc_server *s, uint64_t timeout_us);
uint64_t weir_rpc_server_calls(const struct weir_rpc_server *s);   /* answered so far */
uint64_t weir_rpc_server_dropped(const struct weir_rpc_server *s); /* not ours, malformed */

/* ---- client ---- */

struct weir_rpc_client;
struct weir_rpc_client *weir_rpc_client_open(const struct weir_rpc_config *config,
                                             const char *address, char *why, size_t why_size);
void weir_rpc_client_close(struct weir_rpc_client *c); /* NULL is fine */
void *weir_rpc_client_memory(struct weir_rpc_client *c);
size_t weir_rpc_client_room(const struct weir_rpc_client *c); /* bytes that fit a message */

/* Calls and waits for the answer, of which at most `reply_size` bytes are written to `reply`: the
 * handler's result. */
int weir_rpc_call(struct weir_rpc_client *c, unsigned op, const void *bytes, size_t len,
                  void *reply, size_t reply_size);
/* Moves `len` bytes between `place` in the server's memory and `at` in the client's. */
int weir_rpc_get(struct weir_rpc_client *c, uint64_t place, size_t at, size_t len);
int weir_rpc_put(struct weir_rpc_client *c, uint64_t place, size_t at, size_t len);
/* How long the three wait; 0: 10 s. */
void weir_rpc_client_patience(struct weir_rpc_client *c, uint64_t timeout_us);

/* Several calls under way: start some, then step; `done` is called from step for each. */
typedef void weir_rpc_done(void *ctx, int result, const void *reply, size_t len);
int weir_rpc_start(struct weir_rpc_client *c, unsigned op, const void *bytes, size_t len,
                   weir_rpc_done *done, void *ctx);
/* Takes answers, without any waits at most so long. How many there were, or WEIR_RPC_GONE. */
int weir_rpc_step(struct weir_rpc_client *c, uint64_t timeout_us);

#ifdef __cplusplus
}
#endif

#endif
