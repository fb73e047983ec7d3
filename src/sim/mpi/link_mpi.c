/* link_mpi.c -- a link over MPI, as a shared object of its own: weir itself knows no MPI, so one
 * program runs under whichever launcher started it.
 *
 * Messages go by nonblocking sends of copies, which are given back when they have left; what comes
 * is found by a matched probe. A message longer than MPI can count goes in pieces. All calls come
 * from one thread at a time (far.c has a lock).
 */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/link.h"

enum { WHOLE = 1, PIECE = 2, MOST = 1 << 30 };

/* A copy on its way. */
struct parcel {
    struct parcel *next;
    MPI_Request request;
    size_t room;
    unsigned char data[];
};

struct mpi_link {
    struct sim_link link;
    MPI_Comm comm;
    struct parcel *away, *spare; /* away: the oldest last */
    unsigned char *in;           /* what came last; pieces are put behind each other per sender */
    size_t in_room;
    struct {
        unsigned char *v;
        size_t n;
    } * pieces; /* [size] */
    bool mine;  /* MPI was initialised here */
};

static void lose(struct mpi_link *m, const char *what, uint32_t who, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n;

    if (m->link.lost[0])
        return;
    MPI_Error_string(code, text, &n);
    snprintf(m->link.lost, sizeof m->link.lost, "process %u cannot be %s: %.60s", who, what, text);
}

static void *must(void *p)
{
    if (!p) {
        fputs("weir: out of memory; use fewer processes or a smaller machine\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 4);
    }
    return p;
}

static void reap(struct mpi_link *m)
{
    for (struct parcel **at = &m->away; *at;) {
        struct parcel *p = *at;
        int done = 0;

        MPI_Test(&p->request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        p->next = m->spare;
        m->spare = p;
    }
}

static struct parcel *parcel_of(struct mpi_link *m, size_t bytes)
{
    struct parcel *p = m->spare;

    if (p)
        m->spare = p->next;
    if (p && p->room >= bytes)
        return p;
    size_t room = bytes < 4096 ? 4096 : bytes + bytes / 4;

    p = must(realloc(p, sizeof *p + room));
    p->room = room;
    return p;
}

static void post(struct sim_link *l, uint32_t to, const void *data, size_t bytes)
{
    struct mpi_link *m = (struct mpi_link *)l;

    reap(m);
    for (size_t at = 0; at < bytes || !bytes;) {
        size_t n = bytes - at < MOST ? bytes - at : MOST;
        struct parcel *p = parcel_of(m, n);
        int tag = at + n < bytes ? PIECE : WHOLE;

        memcpy(p->data, (const unsigned char *)data + at, n);
        int code = MPI_Isend(p->data, (int)n, MPI_BYTE, (int)to, tag, m->comm, &p->request);

        if (code != MPI_SUCCESS) {
            lose(m, "sent to", to, code);
            free(p);
            return;
        }
        p->next = m->away;
        m->away = p;
        at += n;
        if (!bytes)
            return;
    }
}

static void keep_piece(struct mpi_link *m, uint32_t from, size_t n)
{
    m->pieces[from].v = must(realloc(m->pieces[from].v, m->pieces[from].n + n));
    memcpy(m->pieces[from].v + m->pieces[from].n, m->in, n);
    m->pieces[from].n += n;
}

/* The last of several pieces has come: all of them. */
static void join_pieces(struct mpi_link *m, uint32_t from, size_t *n)
{
    keep_piece(m, from, *n);
    free(m->in);
    m->in = m->pieces[from].v;
    *n = m->in_room = m->pieces[from].n;
    m->pieces[from].v = NULL;
    m->pieces[from].n = 0;
}

static const void *poll_link(struct sim_link *l, uint32_t *ret_from, size_t *ret_bytes)
{
    struct mpi_link *m = (struct mpi_link *)l;

    for (;;) {
        MPI_Message message;
        MPI_Status status;
        int there = 0, count;
        int code = MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, m->comm, &there, &message, &status);

        if (code != MPI_SUCCESS)
            lose(m, "heard of", (l->rank + 1) % l->size, code);
        if (code != MPI_SUCCESS || !there)
            return NULL;
        MPI_Get_count(&status, MPI_BYTE, &count);
        size_t n = (size_t)count;
        uint32_t from = (uint32_t)status.MPI_SOURCE;

        if (n > m->in_room) {
            m->in_room = n + n / 4;
            free(m->in);
            m->in = must(malloc(m->in_room));
        }
        code = MPI_Mrecv(m->in, count, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS) {
            lose(m, "heard of", from, code);
            return NULL;
        }
        if (status.MPI_TAG == PIECE) {
            keep_piece(m, from, n);
            continue;
        }
        if (m->pieces[from].n)
            join_pieces(m, from, &n);
        *ret_from = from;
        *ret_bytes = n;
        return m->in;
    }
}

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* MPI cannot be waited for, and who sleeps is not woken by a message: look, and let others run. */
static void nap(struct sim_link *l, uint64_t ns)
{
    struct mpi_link *m = (struct mpi_link *)l;
    uint64_t until = clock_ns() + ns;
    int there = 0;

    reap(m);
    while (!there && clock_ns() < until) {
        if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, m->comm, &there, MPI_STATUS_IGNORE))
            return; /* poll says what is wrong */
        if (!there)
            sched_yield();
    }
}

static void free_parcels(struct parcel *p)
{
    while (p) {
        struct parcel *next = p->next;

        free(p);
        p = next;
    }
}

static int close_link(struct sim_link *l, bool well)
{
    struct mpi_link *m = (struct mpi_link *)l;

    if (!well) /* somebody may wait for ever */
        MPI_Abort(m->comm, 1);
    while (m->away)
        reap(m);
    MPI_Comm_free(&m->comm);
    if (m->mine)
        MPI_Finalize();
    free_parcels(m->spare);
    for (uint32_t i = 0; i < l->size; i++)
        free(m->pieces[i].v);
    free(m->pieces);
    free(m->in);
    free(m);
    return 0;
}

static const struct sim_link_ops ops = {
    .name = "MPI", .post = post, .poll = poll_link, .nap = nap, .close = close_link};

static uint32_t on_this_machine(MPI_Comm comm)
{
    MPI_Comm near;
    int n = 1;

    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MPI_Comm_size(near, &n);
    MPI_Comm_free(&near);
    return (uint32_t)n;
}

__attribute__((visibility("default"))) struct sim_link *weir_link_open(uint32_t abi, char *why,
                                                                       size_t why_bytes)
{
    int has = 0, can = MPI_THREAD_SINGLE, rank, size;

    if (abi != SIM_LINK_ABI) {
        snprintf(why, why_bytes, "it belongs to another version of weir; install both anew");
        return NULL;
    }
    struct mpi_link *m = must(calloc(1, sizeof *m));

    MPI_Initialized(&has);
    if (has)
        MPI_Query_thread(&can);
    else
        MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &can);
    m->mine = !has;
    MPI_Comm_dup(MPI_COMM_WORLD, &m->comm);
    MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(m->comm, &rank);
    MPI_Comm_size(m->comm, &size);
    m->link = (struct sim_link){.ops = &ops,
                                .rank = (uint32_t)rank,
                                .size = (uint32_t)size,
                                .local = on_this_machine(m->comm)};
    m->pieces = must(calloc((size_t)size, sizeof *m->pieces));
    if (can < MPI_THREAD_SERIALIZED && size > 1) {
        snprintf(why, why_bytes, "this MPI allows no threads; run with another one");
        close_link(&m->link, true);
        return NULL;
    }
    return &m->link;
}
