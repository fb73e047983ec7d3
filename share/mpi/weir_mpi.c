/* weir_mpi.c -- MPI for one simulated rank.
 *
 * Compiled into each program by weir-cc. The simulator loads one copy of the program for each rank,
 * so static variables belong to one rank. Operations take simulated time in weir_host->step();
 * their data is copied separately (post, take, put, part of struct weir_host). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi.h"
#include "weir.h"
#include "weir_host.h"

const struct weir_host *weir_host;

struct weir_comm {
    uint64_t key;     /* the same for all members, and for no other communicator */
    int n, me;        /* members, and this rank's place */
    uint32_t *rank;   /* of the job, by place */
    uint32_t *sorted; /* the same, ascending */
    uint64_t ncolls, nsplits;
};

struct weir_comm weir_world, weir_self;

struct weir_request {
    bool done, receives;
    void *data;
    size_t size;
    uint32_t from; /* a rank of the job */
    int source, tag;
    int64_t wire;
    uint64_t number;
    MPI_Request *parts; /* MPI_Ibcast: messages; NULL: it is one */
    int nparts;
};

struct weir_group {
    int n;
    uint32_t rank[];
};

static bool mpi_begun, mpi_over;

/* ---- faults ---- */

static void mpi_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

static void mpi_fail(const char *fmt, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    weir_host->fail(weir_host->rank, text);
}

static void *mpi_alloc(size_t n)
{
    void *p = malloc(n ? n : 1);

    if (!p)
        mpi_fail("out of memory; use fewer ranks or smaller arrays");
    return p;
}

/* A program that ends itself ends its rank, not the simulator. */
void exit(int status)
{
    if (status)
        mpi_fail("exit(%d)", status);
    weir_host->end(weir_host->rank);
}

void abort(void)
{
    mpi_fail("abort()");
}

/* ---- datatypes ---- */

static const size_t mpi_sizes[WEIR_DATATYPES] = {
    [MPI_BYTE] = 1,
    [MPI_CHAR] = 1,
    [MPI_SIGNED_CHAR] = 1,
    [MPI_UNSIGNED_CHAR] = 1,
    [MPI_SHORT] = sizeof(short),
    [MPI_UNSIGNED_SHORT] = sizeof(short),
    [MPI_INT] = sizeof(int),
    [MPI_UNSIGNED] = sizeof(int),
    [MPI_LONG] = sizeof(long),
    [MPI_UNSIGNED_LONG] = sizeof(long),
    [MPI_LONG_LONG] = sizeof(long long),
    [MPI_UNSIGNED_LONG_LONG] = sizeof(long long),
    [MPI_INT32_T] = 4,
    [MPI_UINT32_T] = 4,
    [MPI_INT64_T] = 8,
    [MPI_UINT64_T] = 8,
    [MPI_FLOAT] = sizeof(float),
    [MPI_DOUBLE] = sizeof(double),
};

static size_t *mpi_types; /* of the program: their sizes; 0: none */
static int mpi_ntypes;

static size_t mpi_size(const char *call, MPI_Datatype type)
{
    int own = type - WEIR_DATATYPES;

    if (type < 0 || own >= mpi_ntypes || (own >= 0 && !mpi_types[own]))
        mpi_fail("%s: there is no datatype %d", call, type);
    return own < 0 ? mpi_sizes[type] : mpi_types[own];
}

static size_t mpi_bytes(const char *call, int n, MPI_Datatype type)
{
    if (n < 0)
        mpi_fail("%s: a count of %d; give 0 or more", call, n);
    return (size_t)n * mpi_size(call, type);
}

static MPI_Datatype mpi_new_type(size_t size)
{
    int i = 0;

    while (i < mpi_ntypes && mpi_types[i])
        i++;
    if (i == mpi_ntypes) {
        mpi_types = realloc(mpi_types, (size_t)++mpi_ntypes * sizeof *mpi_types);
        if (!mpi_types)
            mpi_fail("out of memory; use fewer datatypes");
    }
    mpi_types[i] = size;
    return WEIR_DATATYPES + i;
}

int MPI_Type_contiguous(int n, MPI_Datatype old, MPI_Datatype *ret)
{
    *ret = mpi_new_type(mpi_bytes("MPI_Type_contiguous", n, old));
    return MPI_SUCCESS;
}

int MPI_Type_create_struct(int n, const int *lengths, const MPI_Aint *at, const MPI_Datatype *types,
                           MPI_Datatype *ret)
{
    size_t size = 0;

    for (int i = 0; i < n; i++) {
        if ((size_t)at[i] != size)
            mpi_fail("MPI_Type_create_struct: a type with gaps is not simulated; send its parts");
        size += mpi_bytes("MPI_Type_create_struct", lengths[i], types[i]);
    }
    *ret = mpi_new_type(size);
    return MPI_SUCCESS;
}

int MPI_Type_commit(MPI_Datatype *type)
{
    mpi_size("MPI_Type_commit", *type);
    return MPI_SUCCESS;
}

int MPI_Type_free(MPI_Datatype *type)
{
    mpi_size("MPI_Type_free", *type);
    if (*type >= WEIR_DATATYPES)
        mpi_types[*type - WEIR_DATATYPES] = 0;
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

int MPI_Type_size(MPI_Datatype type, int *size)
{
    *size = (int)mpi_bytes("MPI_Type_size", 1, type);
    return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    size_t size = mpi_bytes("MPI_Get_count", 1, type);

    *count = status->weir_bytes % size ? MPI_UNDEFINED : (int)(status->weir_bytes / size);
    return MPI_SUCCESS;
}

/* ---- start and end, time ---- */

static uint64_t mpi_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static int mpi_ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Takes `rank`. */
static void mpi_comm_make(struct weir_comm *c, uint64_t key, uint32_t *rank, int n)
{
    *c = (struct weir_comm){.key = key, .n = n, .rank = rank};
    c->sorted = mpi_alloc((size_t)n * sizeof *rank);
    memcpy(c->sorted, rank, (size_t)n * sizeof *rank);
    qsort(c->sorted, (size_t)n, sizeof *rank, mpi_ascending);
    while (rank[c->me] != weir_host->me)
        c->me++;
}

int MPI_Init(int *argc, char ***argv)
{
    uint32_t *all = mpi_alloc(weir_host->n * sizeof *all), *self = mpi_alloc(sizeof *self);

    (void)argc, (void)argv;
    if (mpi_begun)
        mpi_fail("MPI_Init is called twice");
    mpi_begun = true;
    for (uint32_t i = 0; i < weir_host->n; i++)
        all[i] = i;
    *self = weir_host->me;
    mpi_comm_make(&weir_world, 1, all, (int)weir_host->n);
    mpi_comm_make(&weir_self, mpi_mix(2 + (uint64_t)weir_host->me), self, 1);
    return MPI_SUCCESS;
}

int MPI_Initialized(int *flag)
{
    *flag = mpi_begun;
    return MPI_SUCCESS;
}

int MPI_Finalized(int *flag)
{
    *flag = mpi_over;
    return MPI_SUCCESS;
}

int MPI_Abort(MPI_Comm comm, int status)
{
    (void)comm;
    mpi_fail("MPI_Abort with status %d", status);
}

double MPI_Wtime(void)
{
    return (double)weir_host->now_ps(weir_host->rank) * 1e-12;
}

double MPI_Wtick(void)
{
    return 1e-12;
}

int MPI_Get_processor_name(char *name, int *n)
{
    *n = snprintf(name, MPI_MAX_PROCESSOR_NAME, "rank-%u", weir_host->me);
    return MPI_SUCCESS;
}

void weir_compute(double usecs)
{
    struct weir_op op = {.what = WEIR_COMPUTE, .name = "weir_compute"};

    op.ps = usecs > 0 ? (uint64_t)(usecs * 1e6 + 0.5) : 0;
    weir_host->step(weir_host->rank, &op);
}

/* ---- messages ---- */

static void mpi_check(const char *call, MPI_Comm comm)
{
    if (!mpi_begun || mpi_over)
        mpi_fail("%s is called %s", call, mpi_over ? "after MPI_Finalize" : "before MPI_Init");
    if (!comm)
        mpi_fail("%s on MPI_COMM_NULL", call);
}

static uint32_t mpi_peer(const char *call, MPI_Comm comm, int peer)
{
    if (peer < 0 || peer >= comm->n)
        mpi_fail("%s: there is no rank %d among %d", call, peer, comm->n);
    return comm->rank[peer];
}

/* How many messages went to or came from a rank with a tag: their numbers. */
static struct mpi_counter {
    bool used, receives;
    uint32_t peer;
    int64_t wire;
    uint64_t n;
} * mpi_counters;
static size_t mpi_ncounters, mpi_counter_cap;

static struct mpi_counter *mpi_probe(bool receives, uint32_t peer, int64_t wire)
{
    size_t i = mpi_mix((uint64_t)wire + 2 * (uint64_t)peer + receives) & (mpi_counter_cap - 1);

    for (;; i = (i + 1) & (mpi_counter_cap - 1)) {
        struct mpi_counter *c = &mpi_counters[i];

        if (!c->used || (c->receives == receives && c->peer == peer && c->wire == wire))
            return c;
    }
}

static void mpi_grow_counters(void)
{
    struct mpi_counter *old = mpi_counters;
    size_t cap = mpi_counter_cap;

    mpi_counter_cap = cap ? 2 * cap : 16;
    mpi_counters = mpi_alloc(mpi_counter_cap * sizeof *mpi_counters);
    memset(mpi_counters, 0, mpi_counter_cap * sizeof *mpi_counters);
    for (size_t i = 0; i < cap; i++)
        if (old[i].used)
            *mpi_probe(old[i].receives, old[i].peer, old[i].wire) = old[i];
    free(old);
}

static uint64_t mpi_number(bool receives, uint32_t peer, int64_t wire)
{
    if (2 * mpi_ncounters >= mpi_counter_cap)
        mpi_grow_counters();
    struct mpi_counter *c = mpi_probe(receives, peer, wire);

    if (!c->used) {
        *c = (struct mpi_counter){.used = true, .receives = receives, .peer = peer, .wire = wire};
        mpi_ncounters++;
    }
    return c->n++;
}

/* Tags as they are on MPI_COMM_WORLD, so that what is said about messages can be read; those of
 * other communicators are beyond. */
static int64_t mpi_wire(MPI_Comm comm, int tag)
{
    uint64_t mixed = mpi_mix(comm->key * 0x9e3779b97f4a7c15 + (uint64_t)(uint32_t)tag);

    return comm == MPI_COMM_WORLD && tag >= 0 ? tag : (int64_t)(mixed >> 2 | UINT64_C(1) << 62);
}

static void mpi_send(const char *call, const void *data, size_t n, uint32_t to, int64_t wire,
                     bool *done)
{
    struct weir_op op = {
        .what = WEIR_SEND, .name = call, .peer = to, .bytes = n, .tag = wire, .done = done};

    weir_host->post(weir_host->rank, to, wire, mpi_number(false, to, wire), data, n);
    weir_host->step(weir_host->rank, &op);
}

static void mpi_recv(const char *call, struct weir_request *r, bool wait)
{
    struct weir_op op = {.what = WEIR_RECV,
                         .name = call,
                         .peer = r->from,
                         .bytes = r->size,
                         .tag = r->wire,
                         .done = wait ? NULL : &r->done};

    r->number = mpi_number(true, r->from, r->wire);
    weir_host->step(weir_host->rank, &op);
}

static void mpi_set_status(MPI_Status *status, int source, int tag, size_t bytes)
{
    if (status)
        *status = (MPI_Status){.MPI_SOURCE = source, .MPI_TAG = tag, .weir_bytes = bytes};
}

/* The data of a receive that is complete. */
static void mpi_arrived(const char *call, const struct weir_request *r, MPI_Status *status)
{
    size_t n = weir_host->take(weir_host->rank, r->from, r->wire, r->number, r->data, r->size);

    if (n == SIZE_MAX)
        mpi_fail("%s: the data from rank %d with tag %d is not in this process; run MPI programs "
                 "with --processes 1",
                 call, r->source, r->tag);
    if (n > r->size)
        mpi_fail("%s: a message of %zu bytes from rank %d with tag %d does not fit %zu bytes", call,
                 n, r->source, r->tag, r->size);
    mpi_set_status(status, r->source, r->tag, n);
}

int MPI_Send(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    mpi_check("MPI_Send", comm);
    if (to != MPI_PROC_NULL)
        mpi_send("MPI_Send", data, mpi_bytes("MPI_Send", n, type), mpi_peer("MPI_Send", comm, to),
                 mpi_wire(comm, tag), NULL);
    return MPI_SUCCESS;
}

static struct weir_request mpi_receive(const char *call, void *data, int n, MPI_Datatype type,
                                       int from, int tag, MPI_Comm comm)
{
    return (struct weir_request){.receives = true,
                                 .data = data,
                                 .size = mpi_bytes(call, n, type),
                                 .from = mpi_peer(call, comm, from),
                                 .source = from,
                                 .tag = tag,
                                 .wire = mpi_wire(comm, tag)};
}

int MPI_Recv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    mpi_check("MPI_Recv", comm);
    if (from == MPI_PROC_NULL) {
        mpi_set_status(status, MPI_PROC_NULL, -1, 0);
        return MPI_SUCCESS;
    }
    struct weir_request r = mpi_receive("MPI_Recv", data, n, type, from, tag, comm);

    mpi_recv("MPI_Recv", &r, true);
    mpi_arrived("MPI_Recv", &r, status);
    return MPI_SUCCESS;
}

static MPI_Request mpi_request(struct weir_request r)
{
    MPI_Request new = mpi_alloc(sizeof *new);

    *new = r;
    return new;
}

int MPI_Isend(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *ret)
{
    mpi_check("MPI_Isend", comm);
    *ret = mpi_request((struct weir_request){.done = to == MPI_PROC_NULL});
    if (to != MPI_PROC_NULL)
        mpi_send("MPI_Isend", data, mpi_bytes("MPI_Isend", n, type),
                 mpi_peer("MPI_Isend", comm, to), mpi_wire(comm, tag), &(*ret)->done);
    return MPI_SUCCESS;
}

int MPI_Irecv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *ret)
{
    mpi_check("MPI_Irecv", comm);
    if (from == MPI_PROC_NULL) {
        *ret = mpi_request((struct weir_request){.done = true, .source = from});
        return MPI_SUCCESS;
    }
    *ret = mpi_request(mpi_receive("MPI_Irecv", data, n, type, from, tag, comm));
    mpi_recv("MPI_Irecv", *ret, false);
    return MPI_SUCCESS;
}

static bool mpi_is_done(MPI_Request r)
{
    for (int i = 0; i < r->nparts; i++)
        if (!r->parts[i]->done)
            return false;
    return r->parts || r->done;
}

/* Until one of what is under way is complete. */
static void mpi_wait_some(const char *call)
{
    struct weir_op op = {.what = WEIR_WAIT_SOME, .name = call};

    weir_host->step(weir_host->rank, &op);
}

static void mpi_complete(const char *call, MPI_Request *request, MPI_Status *status)
{
    for (int i = 0; i < (*request)->nparts; i++)
        mpi_complete(call, &(*request)->parts[i], status);
    free((*request)->parts);
    if ((*request)->receives)
        mpi_arrived(call, *request, status);
    free(*request);
    *request = MPI_REQUEST_NULL;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    mpi_check("MPI_Wait", MPI_COMM_WORLD);
    while (*request && !mpi_is_done(*request))
        mpi_wait_some("MPI_Wait");
    if (*request)
        mpi_complete("MPI_Wait", request, status);
    return MPI_SUCCESS;
}

/* A test takes no simulated time, so a loop of tests would never end: a failed one takes 0.1 us. */
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    mpi_check("MPI_Test", MPI_COMM_WORLD);
    *flag = !*request || mpi_is_done(*request);
    if (*request && *flag)
        mpi_complete("MPI_Test", request, status);
    else if (*request)
        weir_compute(0.1);
    return MPI_SUCCESS;
}

int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses)
{
    for (int i = 0; i < n; i++)
        MPI_Wait(&requests[i], statuses ? &statuses[i] : NULL);
    return MPI_SUCCESS;
}

int MPI_Waitany(int n, MPI_Request *requests, int *which, MPI_Status *status)
{
    int left = 0;

    mpi_check("MPI_Waitany", MPI_COMM_WORLD);
    *which = MPI_UNDEFINED;
    for (int i = 0; i < n; i++)
        left += requests[i] != NULL;
    for (; left; mpi_wait_some("MPI_Waitany"))
        for (int i = 0; i < n; i++)
            if (requests[i] && mpi_is_done(requests[i])) {
                *which = i;
                mpi_complete("MPI_Waitany", &requests[i], status);
                return MPI_SUCCESS;
            }
    return MPI_SUCCESS;
}

int MPI_Sendrecv(const void *sent, int nsent, MPI_Datatype sent_type, int to, int sent_tag,
                 void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                 MPI_Status *status)
{
    MPI_Request r;

    MPI_Irecv(data, n, type, from, tag, comm, &r);
    MPI_Send(sent, nsent, sent_type, to, sent_tag, comm);
    return MPI_Wait(&r, status);
}

/* ---- collectives ---- */

/* A collective instance: the communicator, and its number among the collectives on it. */
struct mpi_coll {
    MPI_Comm comm;
    uint64_t number;
};

/* Stores this rank's contribution and returns when the collective is complete for this rank. */
static struct mpi_coll mpi_coll_run(const char *call, enum weir_coll coll, MPI_Comm comm, int root,
                                    const void *part, size_t part_bytes, size_t bytes)
{
    struct mpi_coll m;

    mpi_check(call, comm);
    m = (struct mpi_coll){comm, comm->ncolls++};
    struct weir_op op = {.what = WEIR_COLL,
                         .coll = coll,
                         .name = call,
                         .peer = mpi_peer(call, comm, root),
                         .bytes = bytes,
                         .of = comm->sorted,
                         .n = (uint32_t)comm->n,
                         .key = comm->key};

    weir_host->put(weir_host->rank, comm->key, m.number, (uint32_t)comm->me, (uint32_t)comm->n,
                   part, part_bytes);
    if (comm->n > 1)
        weir_host->step(weir_host->rank, &op);
    return m;
}

static const char *mpi_part(const struct mpi_coll *m, int place)
{
    return weir_host->part(weir_host->rank, m->comm->key, m->number, (uint32_t)place);
}

static void mpi_part_to(const struct mpi_coll *m, int place, void *to, size_t skip, size_t n)
{
    if (n)
        memcpy(to, mpi_part(m, place) + skip, n);
}

static void mpi_leave(const struct mpi_coll *m)
{
    weir_host->leave(weir_host->rank, m->comm->key, m->number);
}

int MPI_Barrier(MPI_Comm comm)
{
    struct mpi_coll m = mpi_coll_run("MPI_Barrier", WEIR_BARRIER, comm, 0, NULL, 0, 0);

    mpi_leave(&m);
    return MPI_SUCCESS;
}

int MPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    size_t bytes = mpi_bytes("MPI_Bcast", n, type);
    bool sends = comm && comm->me == root;
    struct mpi_coll m =
        mpi_coll_run("MPI_Bcast", WEIR_BCAST, comm, root, data, sends ? bytes : 0, bytes);

    if (!sends)
        mpi_part_to(&m, root, data, 0, bytes);
    mpi_leave(&m);
    return MPI_SUCCESS;
}

/* Messages from the root to each, as asynchronous multicasts are simulated. */
int MPI_Ibcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *ret)
{
    enum { TAG = -77 }; /* no program can use it */
    struct weir_request r = {0};

    mpi_check("MPI_Ibcast", comm);
    r.parts = mpi_alloc((size_t)comm->n * sizeof *r.parts);
    for (int i = 0; comm->me == root && i < comm->n; i++)
        if (i != root)
            MPI_Isend(data, n, type, i, TAG, comm, &r.parts[r.nparts++]);
    if (comm->me != root)
        MPI_Irecv(data, n, type, root, TAG, comm, &r.parts[r.nparts++]);
    *ret = mpi_request(r);
    return MPI_SUCCESS;
}

/* ---- reductions ---- */

#define MPI_APPLY(T, logical)                     \
    do {                                          \
        T *x = to;                                \
        const T *y = from;                        \
        for (int i = 0; i < n; i++)               \
            switch (op) {                         \
            case MPI_SUM:                         \
                x[i] = (T)(x[i] + y[i]);          \
                break;                            \
            case MPI_PROD:                        \
                x[i] = (T)(x[i] * y[i]);          \
                break;                            \
            case MPI_MAX:                         \
                x[i] = x[i] > y[i] ? x[i] : y[i]; \
                break;                            \
            case MPI_MIN:                         \
                x[i] = x[i] < y[i] ? x[i] : y[i]; \
                break;                            \
            default:                              \
                logical;                          \
                break;                            \
            }                                     \
    } while (0)

#define MPI_BITS(T)                             \
    x[i] = op == MPI_LAND   ? (T)(x[i] && y[i]) \
           : op == MPI_LOR  ? (T)(x[i] || y[i]) \
           : op == MPI_BAND ? (T)(x[i] & y[i])  \
                            : (T)(x[i] | y[i])

static void mpi_apply(void *to, const void *from, int n, MPI_Datatype type, MPI_Op op)
{
    if (type >= WEIR_DATATYPES)
        mpi_fail("a datatype of the program's own has no reduction");
    switch (type) {
    case MPI_FLOAT:
        MPI_APPLY(float, mpi_fail("a float has no logical or bitwise reduction"));
        break;
    case MPI_DOUBLE:
        MPI_APPLY(double, mpi_fail("a double has no logical or bitwise reduction"));
        break;
    case MPI_SHORT:
        MPI_APPLY(short, MPI_BITS(short));
        break;
    case MPI_UNSIGNED_SHORT:
        MPI_APPLY(unsigned short, MPI_BITS(unsigned short));
        break;
    case MPI_INT:
    case MPI_INT32_T:
        MPI_APPLY(int32_t, MPI_BITS(int32_t));
        break;
    case MPI_UNSIGNED:
    case MPI_UINT32_T:
        MPI_APPLY(uint32_t, MPI_BITS(uint32_t));
        break;
    case MPI_LONG:
    case MPI_LONG_LONG:
    case MPI_INT64_T:
        MPI_APPLY(int64_t, MPI_BITS(int64_t));
        break;
    case MPI_UNSIGNED_LONG:
    case MPI_UNSIGNED_LONG_LONG:
    case MPI_UINT64_T:
        MPI_APPLY(uint64_t, MPI_BITS(uint64_t));
        break;
    case MPI_SIGNED_CHAR:
        MPI_APPLY(signed char, MPI_BITS(signed char));
        break;
    default:
        MPI_APPLY(unsigned char, MPI_BITS(unsigned char));
        break;
    }
}

/* The parts of places 0 to last, always in this order: the same bits every time. */
static void mpi_fold(const struct mpi_coll *m, int last, void *to, int n, MPI_Datatype type,
                     MPI_Op op)
{
    mpi_part_to(m, 0, to, 0, mpi_bytes("a reduction", n, type));
    for (int i = 1; i <= last; i++)
        mpi_apply(to, mpi_part(m, i), n, type, op);
    mpi_leave(m);
}

int MPI_Reduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
    size_t bytes = mpi_bytes("MPI_Reduce", n, type);
    struct mpi_coll m = mpi_coll_run("MPI_Reduce", WEIR_REDUCE, comm, root,
                                     from == MPI_IN_PLACE ? to : from, bytes, bytes);

    if (comm->me == root)
        mpi_fold(&m, comm->n - 1, to, n, type, op);
    else
        mpi_leave(&m);
    return MPI_SUCCESS;
}

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    size_t bytes = mpi_bytes("MPI_Allreduce", n, type);
    struct mpi_coll m = mpi_coll_run("MPI_Allreduce", WEIR_ALLREDUCE, comm, 0,
                                     from == MPI_IN_PLACE ? to : from, bytes, bytes);

    mpi_fold(&m, comm->n - 1, to, n, type, op);
    return MPI_SUCCESS;
}

int MPI_Scan(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    size_t bytes = mpi_bytes("MPI_Scan", n, type);
    struct mpi_coll m = mpi_coll_run("MPI_Scan", WEIR_SCAN, comm, 0,
                                     from == MPI_IN_PLACE ? to : from, bytes, bytes);

    mpi_fold(&m, comm->me, to, n, type, op);
    return MPI_SUCCESS;
}

/* ---- gather, scatter, all to all: blocks of one size ---- */

int MPI_Gather(const void *from, int nfrom, MPI_Datatype tfrom, void *to, int nto, MPI_Datatype tto,
               int root, MPI_Comm comm)
{
    bool receives = comm && comm->me == root, in_place = from == MPI_IN_PLACE;
    size_t block = mpi_bytes("MPI_Gather", in_place ? nto : nfrom, in_place ? tto : tfrom);
    struct mpi_coll m =
        mpi_coll_run("MPI_Gather", WEIR_GATHER, comm, root,
                     in_place ? (char *)to + (size_t)root * block : from, block, block);

    for (int i = 0; receives && i < comm->n; i++)
        mpi_part_to(&m, i, (char *)to + (size_t)i * block, 0, block);
    mpi_leave(&m);
    return MPI_SUCCESS;
}

int MPI_Scatter(const void *from, int nfrom, MPI_Datatype tfrom, void *to, int nto,
                MPI_Datatype tto, int root, MPI_Comm comm)
{
    bool sends = comm && comm->me == root, in_place = to == MPI_IN_PLACE;
    size_t block = mpi_bytes("MPI_Scatter", in_place ? nfrom : nto, in_place ? tfrom : tto);
    struct mpi_coll m = mpi_coll_run("MPI_Scatter", WEIR_SCATTER, comm, root, from,
                                     sends ? block * (size_t)comm->n : 0, block);

    if (!in_place)
        mpi_part_to(&m, root, to, (size_t)comm->me * block, block);
    mpi_leave(&m);
    return MPI_SUCCESS;
}

int MPI_Allgather(const void *from, int nfrom, MPI_Datatype tfrom, void *to, int nto,
                  MPI_Datatype tto, MPI_Comm comm)
{
    bool in_place = from == MPI_IN_PLACE;
    size_t block = mpi_bytes("MPI_Allgather", in_place ? nto : nfrom, in_place ? tto : tfrom);

    mpi_check("MPI_Allgather", comm);
    struct mpi_coll m =
        mpi_coll_run("MPI_Allgather", WEIR_ALLGATHER, comm, 0,
                     in_place ? (char *)to + (size_t)comm->me * block : from, block, block);

    for (int i = 0; i < comm->n; i++)
        mpi_part_to(&m, i, (char *)to + (size_t)i * block, 0, block);
    mpi_leave(&m);
    return MPI_SUCCESS;
}

int MPI_Alltoall(const void *from, int nfrom, MPI_Datatype tfrom, void *to, int nto,
                 MPI_Datatype tto, MPI_Comm comm)
{
    bool in_place = from == MPI_IN_PLACE;
    size_t block = mpi_bytes("MPI_Alltoall", in_place ? nto : nfrom, in_place ? tto : tfrom);

    mpi_check("MPI_Alltoall", comm);
    struct mpi_coll m = mpi_coll_run("MPI_Alltoall", WEIR_ALLTOALL, comm, 0, in_place ? to : from,
                                     block * (size_t)comm->n, block);

    for (int i = 0; i < comm->n; i++)
        mpi_part_to(&m, i, (char *)to + (size_t)i * block, (size_t)comm->me * block, block);
    mpi_leave(&m);
    return MPI_SUCCESS;
}

/* ---- communicators ---- */

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    mpi_check("MPI_Comm_rank", comm);
    *rank = comm->me;
    return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    mpi_check("MPI_Comm_size", comm);
    *size = comm->n;
    return MPI_SUCCESS;
}

struct mpi_member {
    int color, key, place;
};

static int mpi_by_key(const void *a, const void *b)
{
    const struct mpi_member *x = a, *y = b;

    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : x->place - y->place;
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *ret)
{
    mpi_check("MPI_Comm_split", comm);
    struct mpi_member mine = {color, key, comm->me};
    struct mpi_member *all = mpi_alloc((size_t)comm->n * sizeof *all);
    uint64_t number = ++comm->nsplits;
    uint32_t *rank;
    int n = 0;

    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, comm);
    for (int i = 0; i < comm->n; i++)
        if (all[i].color == color)
            all[n++] = all[i];
    *ret = MPI_COMM_NULL;
    if (color != MPI_UNDEFINED) {
        qsort(all, (size_t)n, sizeof *all, mpi_by_key);
        rank = mpi_alloc((size_t)n * sizeof *rank);
        for (int i = 0; i < n; i++)
            rank[i] = comm->rank[all[i].place];
        *ret = mpi_alloc(sizeof **ret);
        mpi_comm_make(*ret, mpi_mix(mpi_mix(comm->key + number) + (uint64_t)(uint32_t)color + 1),
                      rank, n);
    }
    free(all);
    return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *ret)
{
    return MPI_Comm_split(comm, 0, comm ? comm->me : 0, ret);
}

int MPI_Comm_free(MPI_Comm *comm)
{
    mpi_check("MPI_Comm_free", *comm);
    free((*comm)->rank);
    free((*comm)->sorted);
    free(*comm);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* ---- groups and attributes ---- */

int MPI_Comm_get_attr(MPI_Comm comm, int which, void *ret, int *flag)
{
    static int most = INT32_MAX;

    mpi_check("MPI_Comm_get_attr", comm);
    *flag = which == MPI_TAG_UB;
    if (*flag)
        *(int **)ret = &most;
    return MPI_SUCCESS;
}

static MPI_Group mpi_new_group(int n)
{
    MPI_Group g = mpi_alloc(sizeof *g + (size_t)n * sizeof *g->rank);

    g->n = n;
    return g;
}

int MPI_Comm_group(MPI_Comm comm, MPI_Group *ret)
{
    mpi_check("MPI_Comm_group", comm);
    *ret = mpi_new_group(comm->n);
    memcpy((*ret)->rank, comm->rank, (size_t)comm->n * sizeof *comm->rank);
    return MPI_SUCCESS;
}

int MPI_Group_incl(MPI_Group group, int n, const int *places, MPI_Group *ret)
{
    *ret = mpi_new_group(n);
    for (int i = 0; i < n; i++) {
        if (places[i] < 0 || places[i] >= group->n)
            mpi_fail("MPI_Group_incl: there is no rank %d among %d", places[i], group->n);
        (*ret)->rank[i] = group->rank[places[i]];
    }
    return MPI_SUCCESS;
}

int MPI_Group_free(MPI_Group *group)
{
    free(*group);
    *group = NULL;
    return MPI_SUCCESS;
}

/* The key must be the same on all members without communication. It is made from the members and
 * from the number of such groups created before, in the same order on all members. */
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *ret)
{
    uint64_t key = mpi_mix(comm->key + (uint64_t)(uint32_t)tag + 0x67726f7570);
    uint32_t *rank = mpi_alloc((size_t)group->n * sizeof *rank);

    mpi_check("MPI_Comm_create_group", comm);
    for (int i = 0; i < group->n; i++) {
        rank[i] = group->rank[i];
        key = mpi_mix(key + rank[i] + 1);
    }
    key = mpi_mix(key + mpi_number(false, UINT32_MAX, (int64_t)(key >> 1)));
    *ret = mpi_alloc(sizeof **ret);
    mpi_comm_make(*ret, key, rank, group->n);
    return MPI_SUCCESS;
}

/* ---- files ----
 *
 * The data is read and written at once, in real files; then the access takes the time of the
 * simulated storage, which knows the file by a number made of its name. */

struct weir_file {
    int fd, mode;
    char *name;
    int64_t id;
    MPI_Comm comm;
};

static void mpi_file_op(const char *call, MPI_File f, enum weir_do what, bool together,
                        MPI_Offset at, size_t bytes, bool *done)
{
    struct weir_op op = {.what = what,
                         .name = call,
                         .file = f->id,
                         .offset = (uint64_t)at,
                         .bytes = bytes,
                         .together = together,
                         .done = done};

    weir_host->step(weir_host->rank, &op);
}

static int64_t mpi_file_id(const char *path)
{
    uint64_t h = 0xcbf29ce484222325;

    for (; *path; path++)
        h = (h ^ (unsigned char)*path) * 0x100000001b3;
    return (int64_t)(mpi_mix(h) >> 1);
}

int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *ret)
{
    int how = mode & MPI_MODE_RDWR ? O_RDWR : mode & MPI_MODE_WRONLY ? O_WRONLY : O_RDONLY;
    char path[PATH_MAX];
    MPI_File f;

    (void)info;
    mpi_check("MPI_File_open", comm);
    how |=
        (mode & MPI_MODE_CREATE ? O_CREAT : 0) | (mode & MPI_MODE_EXCL && !comm->me ? O_EXCL : 0);
    int fd = open(name, how, 0666);
    if (fd < 0 || !realpath(name, path))
        return MPI_ERR_IO;
    f = mpi_alloc(sizeof *f);
    *f = (struct weir_file){
        .fd = fd, .mode = mode, .name = strdup(path), .id = mpi_file_id(path), .comm = comm};
    mpi_file_op("MPI_File_open", f, WEIR_OPEN, false, 0, 0, NULL);
    *ret = f;
    return MPI_SUCCESS;
}

int MPI_File_close(MPI_File *file)
{
    MPI_File f = *file;

    mpi_file_op("MPI_File_close", f, WEIR_CLOSE, false, 0, 0, NULL);
    if (f->mode & MPI_MODE_DELETE_ON_CLOSE)
        unlink(f->name);
    close(f->fd);
    free(f->name);
    free(f);
    *file = MPI_FILE_NULL;
    return MPI_SUCCESS;
}

int MPI_File_sync(MPI_File file)
{
    mpi_file_op("MPI_File_sync", file, WEIR_FLUSH, false, 0, 0, NULL);
    return MPI_SUCCESS;
}

int MPI_File_get_size(MPI_File file, MPI_Offset *size)
{
    struct stat st;

    if (fstat(file->fd, &st))
        return MPI_ERR_IO;
    *size = st.st_size;
    return MPI_SUCCESS;
}

static bool mpi_file_read(MPI_File f, char *data, size_t bytes, MPI_Offset at, size_t *got)
{
    for (*got = 0; *got < bytes;) {
        ssize_t n = pread(f->fd, data + *got, bytes - *got, at + (MPI_Offset)*got);

        if (n < 0 && errno != EINTR)
            return false;
        if (!n)
            break; /* the end of the file */
        *got += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool mpi_file_write(MPI_File f, const char *data, size_t bytes, MPI_Offset at)
{
    for (size_t put = 0; put < bytes;) {
        ssize_t n = pwrite(f->fd, data + put, bytes - put, at + (MPI_Offset)put);

        if (n < 0 && errno != EINTR)
            return false;
        put += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static int mpi_reads(const char *call, MPI_File f, MPI_Offset at, void *data, int n,
                     MPI_Datatype type, bool together, MPI_Status *status, MPI_Request *ret)
{
    size_t bytes = mpi_bytes(call, n, type), got;

    if (at < 0 || !mpi_file_read(f, data, bytes, at, &got))
        return MPI_ERR_IO;
    if (ret)
        *ret = mpi_request((struct weir_request){0});
    mpi_file_op(call, f, WEIR_READ, together, at, bytes, ret ? &(*ret)->done : NULL);
    if (together && !ret)
        MPI_Barrier(f->comm);
    mpi_set_status(status, 0, 0, got);
    return MPI_SUCCESS;
}

static int mpi_writes(const char *call, MPI_File f, MPI_Offset at, const void *data, int n,
                      MPI_Datatype type, bool together, MPI_Status *status, MPI_Request *ret)
{
    size_t bytes = mpi_bytes(call, n, type);

    if (at < 0 || !mpi_file_write(f, data, bytes, at))
        return MPI_ERR_IO;
    if (ret)
        *ret = mpi_request((struct weir_request){0});
    mpi_file_op(call, f, WEIR_WRITE, together, at, bytes, ret ? &(*ret)->done : NULL);
    if (together && !ret)
        MPI_Barrier(f->comm);
    mpi_set_status(status, 0, 0, bytes);
    return MPI_SUCCESS;
}

int MPI_File_read_at(MPI_File file, MPI_Offset at, void *data, int n, MPI_Datatype type,
                     MPI_Status *status)
{
    return mpi_reads("MPI_File_read_at", file, at, data, n, type, false, status, NULL);
}

int MPI_File_write_at(MPI_File file, MPI_Offset at, const void *data, int n, MPI_Datatype type,
                      MPI_Status *status)
{
    return mpi_writes("MPI_File_write_at", file, at, data, n, type, false, status, NULL);
}

int MPI_File_read_at_all(MPI_File file, MPI_Offset at, void *data, int n, MPI_Datatype type,
                         MPI_Status *status)
{
    return mpi_reads("MPI_File_read_at_all", file, at, data, n, type, true, status, NULL);
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void *data, int n, MPI_Datatype type,
                          MPI_Status *status)
{
    return mpi_writes("MPI_File_write_at_all", file, at, data, n, type, true, status, NULL);
}

int MPI_File_iread_at(MPI_File file, MPI_Offset at, void *data, int n, MPI_Datatype type,
                      MPI_Request *ret)
{
    return mpi_reads("MPI_File_iread_at", file, at, data, n, type, false, NULL, ret);
}

int MPI_File_iwrite_at(MPI_File file, MPI_Offset at, const void *data, int n, MPI_Datatype type,
                       MPI_Request *ret)
{
    return mpi_writes("MPI_File_iwrite_at", file, at, data, n, type, false, NULL, ret);
}

int MPI_File_iread_at_all(MPI_File file, MPI_Offset at, void *data, int n, MPI_Datatype type,
                          MPI_Request *ret)
{
    return mpi_reads("MPI_File_iread_at_all", file, at, data, n, type, true, NULL, ret);
}

int MPI_File_iwrite_at_all(MPI_File file, MPI_Offset at, const void *data, int n, MPI_Datatype type,
                           MPI_Request *ret)
{
    return mpi_writes("MPI_File_iwrite_at_all", file, at, data, n, type, true, NULL, ret);
}

int MPI_Error_string(int code, char *text, int *n)
{
    *n = snprintf(text, MPI_MAX_ERROR_STRING, "%s",
                  code == MPI_ERR_IO ? strerror(errno) : "an error of MPI");
    return MPI_SUCCESS;
}

/* ---- the end ---- */

int MPI_Finalize(void)
{
    mpi_check("MPI_Finalize", MPI_COMM_WORLD);
    mpi_over = true;
    free(weir_world.rank);
    free(weir_world.sorted);
    free(weir_self.rank);
    free(weir_self.sorted);
    free(mpi_counters);
    free(mpi_types);
    return MPI_SUCCESS;
}
