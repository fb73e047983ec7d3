/* link_mpi.c -- a link over MPI, built as a shared object of its own: weir itself is linked with no
 * MPI, so one program runs under the launcher of any MPI. Loaded by launched.c, called by peers.c.
 *
 * A message is sent by a nonblocking send of a copy; the copy is used again when it has left. An
 * arriving message is found by a matched probe. A message longer than MPI can count is sent in
 * pieces. Invariant: all calls come from one thread at a time (MPI_THREAD_SERIALIZED).
 */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/link.h"

enum { WHOLE = 1, PIECE = 2, MAX_PIECE = 1 << 30 }; /* tags; bytes of one MPI message */

/* The copy of a message that is being sent. */
struct send_buffer {
    struct send_buffer *next;
    MPI_Request request;
    size_t capacity;
    unsigned char data[];
};

/* A link over MPI; `comm` and `mine` are set up. */
struct mpi_link {
    struct sim_link link;
    MPI_Comm comm;                    /* its own, so that no other message matches */
    struct send_buffer *away, *spare; /* being sent, the oldest last; free */
    unsigned char *in;                /* the message that was received last */
    size_t in_capacity;
    struct {
        unsigned char *v;
        size_t n;
    } * pieces; /* [size] pieces of a long message received so far, by sender */
    bool mine;  /* MPI was initialised here, and is finalised here */
};

static void mpi_link_lost(struct mpi_link *m, const char *what, uint32_t who, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int n;

    if (m->link.lost[0])
        return;
    MPI_Error_string(code, text, &n);
    snprintf(m->link.lost, sizeof m->link.lost, "process %u cannot be %s: %.60s", who, what, text);
}

static void *mpi_link_must(void *p)
{
    if (!p) {
        fputs("weir: out of memory; use fewer processes or a smaller machine\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 4);
    }
    return p;
}

static void mpi_link_reap(struct mpi_link *m)
{
    for (struct send_buffer **at = &m->away; *at;) {
        struct send_buffer *p = *at;
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

static struct send_buffer *mpi_link_buffer(struct mpi_link *m, size_t bytes)
{
    struct send_buffer *p = m->spare;

    if (p)
        m->spare = p->next;
    if (p && p->capacity >= bytes)
        return p;
    size_t capacity = bytes < 4096 ? 4096 : bytes + bytes / 4;

    p = mpi_link_must(realloc(p, sizeof *p + capacity));
    p->capacity = capacity;
    return p;
}

static void mpi_link_post(struct sim_link *l, uint32_t to, const void *data, size_t bytes)
{
    struct mpi_link *m = (struct mpi_link *)l;

    mpi_link_reap(m);
    for (size_t at = 0; at < bytes || !bytes;) {
        size_t n = bytes - at < MAX_PIECE ? bytes - at : MAX_PIECE;
        struct send_buffer *p = mpi_link_buffer(m, n);
        int tag = at + n < bytes ? PIECE : WHOLE;

        memcpy(p->data, (const unsigned char *)data + at, n);
        int code = MPI_Isend(p->data, (int)n, MPI_BYTE, (int)to, tag, m->comm, &p->request);

        if (code != MPI_SUCCESS) {
            mpi_link_lost(m, "sent to", to, code);
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

static void mpi_link_keep_piece(struct mpi_link *m, uint32_t from, size_t n)
{
    m->pieces[from].v = mpi_link_must(realloc(m->pieces[from].v, m->pieces[from].n + n));
    memcpy(m->pieces[from].v + m->pieces[from].n, m->in, n);
    m->pieces[from].n += n;
}

/* The last piece has arrived: the received message is all of them. */
static void mpi_link_join_pieces(struct mpi_link *m, uint32_t from, size_t *n)
{
    mpi_link_keep_piece(m, from, *n);
    free(m->in);
    m->in = m->pieces[from].v;
    *n = m->in_capacity = m->pieces[from].n;
    m->pieces[from].v = NULL;
    m->pieces[from].n = 0;
}

static const void *mpi_link_poll(struct sim_link *l, uint32_t *ret_from, size_t *ret_bytes)
{
    struct mpi_link *m = (struct mpi_link *)l;

    for (;;) {
        MPI_Message message;
        MPI_Status status;
        int there = 0, count;
        int code = MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, m->comm, &there, &message, &status);

        if (code != MPI_SUCCESS)
            mpi_link_lost(m, "heard of", (l->rank + 1) % l->size, code);
        if (code != MPI_SUCCESS || !there)
            return NULL;
        MPI_Get_count(&status, MPI_BYTE, &count);
        size_t n = (size_t)count;
        uint32_t from = (uint32_t)status.MPI_SOURCE;

        if (n > m->in_capacity) {
            m->in_capacity = n + n / 4;
            free(m->in);
            m->in = mpi_link_must(malloc(m->in_capacity));
        }
        code = MPI_Mrecv(m->in, count, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS) {
            mpi_link_lost(m, "heard of", from, code);
            return NULL;
        }
        if (status.MPI_TAG == PIECE) {
            mpi_link_keep_piece(m, from, n);
            continue;
        }
        if (m->pieces[from].n)
            mpi_link_join_pieces(m, from, &n);
        *ret_from = from;
        *ret_bytes = n;
        return m->in;
    }
}

static uint64_t mpi_link_clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* MPI has no wait with a time limit, so this polls and yields the processor. */
static void mpi_link_wait(struct sim_link *l, uint64_t ns)
{
    struct mpi_link *m = (struct mpi_link *)l;
    uint64_t until = mpi_link_clock_ns() + ns;
    int there = 0;

    mpi_link_reap(m);
    while (!there && mpi_link_clock_ns() < until) {
        if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, m->comm, &there, MPI_STATUS_IGNORE))
            return; /* poll says what is wrong */
        if (!there)
            sched_yield();
    }
}

static void mpi_link_free_buffers(struct send_buffer *p)
{
    while (p) {
        struct send_buffer *next = p->next;

        free(p);
        p = next;
    }
}

static int mpi_link_close(struct sim_link *l, bool well)
{
    struct mpi_link *m = (struct mpi_link *)l;

    if (!well) /* another process may be blocked for ever */
        MPI_Abort(m->comm, 1);
    while (m->away)
        mpi_link_reap(m);
    MPI_Comm_free(&m->comm);
    if (m->mine)
        MPI_Finalize();
    mpi_link_free_buffers(m->spare);
    for (uint32_t i = 0; i < l->size; i++)
        free(m->pieces[i].v);
    free(m->pieces);
    free(m->in);
    free(m);
    return 0;
}

static const struct sim_link_ops ops = {.name = "MPI",
                                        .post = mpi_link_post,
                                        .poll = mpi_link_poll,
                                        .wait = mpi_link_wait,
                                        .close = mpi_link_close};

static uint32_t mpi_link_count_local(MPI_Comm comm)
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
    struct mpi_link *m = mpi_link_must(calloc(1, sizeof *m));

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
                                .local = mpi_link_count_local(m->comm)};
    m->pieces = mpi_link_must(calloc((size_t)size, sizeof *m->pieces));
    if (can < MPI_THREAD_SERIALIZED && size > 1) {
        snprintf(why, why_bytes, "this MPI allows no threads; run with another one");
        mpi_link_close(&m->link, true);
        return NULL;
    }
    return &m->link;
}
