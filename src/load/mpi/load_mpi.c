/* load_mpi.c -- MPI programs in C as a workload.
 *
 *   open()   one copy of the shared object and one stack for each rank
 *   next()   switches to the rank, which runs until a call of MPI takes simulated time:
 *            then the rank has stored the operation in r->op and switched back
 *   done()   sets the flag of a request that is complete
 *
 * Owns the objects, stacks and arguments of all ranks until close(). A rank is executed by one
 * thread at a time; what ranks share (mpi_data.c, the names of calls) is locked.
 *
 * docs/decisions/2026-11-18-mpi-programs.md says why it is so; share/mpi/weir_host.h is what the
 * object sees. */
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/scratch.h"
#include "load_mpi.h"
#include "mpi_data_priv.h"
#include "mpi_stack_priv.h"
#include "weir_host.h"

enum { LARGEST_OBJECT = 1 << 30, MOST_CALLS = 64 };

struct mpi_params {
    const char *file, *args;
    uint64_t stack_b;
};

static const struct conf_row mpi_rows[] = {
    {.key = "file",
     .type = CONF_PATH,
     .offset = offsetof(struct mpi_params, file),
     .help = "the program, made by `weir-cc app.c -o app.so`"},
    {.key = "args",
     .type = CONF_STRING,
     .offset = offsetof(struct mpi_params, args),
     .def = "",
     .help = "the words that main() gets after the program's name, separated by blanks"},
    {.key = "stack",
     .type = CONF_BYTES,
     .offset = offsetof(struct mpi_params, stack_b),
     .def = "256 KiB",
     .min = 16384,
     .max = 1 << 30,
     .help = "stack of a rank; memory is used as it is touched"},
    CONF_END,
};

struct mpi_program;

/* One rank. Its state in the simulator is a pointer to this. Fixed by open(): p to argv; the rest
 * changes while it runs. */
struct mpi_rank {
    struct mpi_program *p;
    struct mpi_stack stack;
    struct weir_host host;
    void *object;
    int (*main)(int argc, char **argv);
    char **argv; /* its own: a program may change its words */
    uint64_t now_ps;
    const struct weir_op *op; /* what it asks for */
    bool ended;
    char fault[256]; /* "" unless it failed */
};

/* One job. Fixed by open() but for the names of calls, which `lock` protects. */
struct mpi_program {
    const char *file;
    char *words; /* of the arguments, cut */
    WR_VEC(char *) args;
    struct mpi_rank *rank;
    uint32_t ranks;
    struct mpi_data *data;
    pthread_mutex_t lock;
    char *calls[MOST_CALLS]; /* names of MPI's functions, as operations came from them */
    uint32_t ncalls;
};

/* ---- what the object calls ---- */

static void mpi_suspend(struct mpi_rank *r, const struct weir_op *op)
{
    r->op = op;
    mpi_stack_leave(&r->stack);
}

static void mpi_host_step(void *rank, const struct weir_op *op)
{
    mpi_suspend(rank, op);
}

static uint64_t mpi_host_now_ps(void *rank)
{
    return ((struct mpi_rank *)rank)->now_ps;
}

static void mpi_host_end(void *rank) __attribute__((noreturn));
static void mpi_host_fail(void *rank, const char *why) __attribute__((noreturn));

static void mpi_host_end(void *rank)
{
    struct mpi_rank *r = rank;

    r->ended = true;
    for (;;)
        mpi_suspend(r, NULL);
}

static void mpi_host_fail(void *rank, const char *why)
{
    struct mpi_rank *r = rank;

    snprintf(r->fault, sizeof r->fault, "%s", why);
    mpi_host_end(rank);
}

static void mpi_host_post(void *rank, uint32_t to, int64_t tag, uint64_t number, const void *data,
                          size_t n)
{
    struct mpi_rank *r = rank;

    mpi_data_post(r->p->data, (struct mpi_message_key){r->host.me, to, tag, number}, data, n);
}

static size_t mpi_host_take(void *rank, uint32_t from, int64_t tag, uint64_t number, void *data,
                            size_t n)
{
    struct mpi_rank *r = rank;

    return mpi_data_take(r->p->data, (struct mpi_message_key){from, r->host.me, tag, number}, data,
                         n);
}

static void mpi_host_put(void *rank, uint64_t key, uint64_t number, uint32_t place,
                         uint32_t members, const void *data, size_t n)
{
    struct mpi_rank *r = rank;

    mpi_data_put(r->p->data, (struct mpi_coll_key){key, number}, place, members, data, n);
}

static const void *mpi_host_part(void *rank, uint64_t key, uint64_t number, uint32_t place)
{
    struct mpi_rank *r = rank;
    const void *part = mpi_data_part(r->p->data, (struct mpi_coll_key){key, number}, place);

    if (!part)
        mpi_host_fail(rank,
                      "the data of a collective is not here; call it on all ranks in the same "
                      "order, and run MPI programs in one process");
    return part;
}

static void mpi_host_leave(void *rank, uint64_t key, uint64_t number)
{
    mpi_data_leave(((struct mpi_rank *)rank)->p->data, (struct mpi_coll_key){key, number});
}

static void mpi_entry(void *arg)
{
    struct mpi_rank *r = arg;
    int argc = 0;

    while (r->argv[argc])
        argc++;
    int status = r->main(argc, r->argv);

    if (status)
        snprintf(r->fault, sizeof r->fault, "main() returned %d", status);
    mpi_host_end(r);
}

/* ---- opening ---- */

static void mpi_close(struct load *l)
{
    struct mpi_program *p = l->priv;

    if (!p)
        return;
    for (uint32_t i = 0; i < p->ranks; i++) {
        struct mpi_rank *r = &p->rank[i];

        mpi_stack_close(&r->stack);
        if (r->object)
            dlclose(r->object);
        for (size_t k = 0; r->argv && r->argv[k]; k++)
            free(r->argv[k]);
        free(r->argv);
    }
    for (uint32_t i = 0; i < p->ncalls; i++)
        free(p->calls[i]);
    mpi_data_free(p->data);
    pthread_mutex_destroy(&p->lock);
    wr_vec_fini(&p->args);
    free(p->words);
    free(p->rank);
    free(p);
    l->priv = NULL;
}

/* The linker knows objects by name and file: each copy has both of its own. */
static void *mpi_load_copy(const struct wr_scratch *scratch, uint32_t i, const char *bytes,
                           size_t n)
{
    char name[64], *path = NULL;
    void *object = NULL;
    int fd = memfd_create("weir-rank", MFD_CLOEXEC);
    ssize_t put = fd < 0 ? -1 : 0;

    for (size_t at = 0; at < n && put >= 0; at += (size_t)put)
        put = write(fd, bytes + at, n - at);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (put >= 0 && asprintf(&path, "%s/%u.so", scratch->dir, i) > 0 && !symlink(name, path)) {
        object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        unlink(path);
    }
    free(path);
    if (fd >= 0)
        close(fd);
    return object;
}

static bool mpi_not_loaded(const char *file, struct wr_err *err)
{
    const char *why = dlerror();

    if (!why)
        return wr_fail_errno(err, "cannot load %s for each rank", file);
    /* The name of a copy says nothing to the user. */
    const char *colon = strstr(why, ".so: ");
    return wr_fail(err, WR_INPUT, "%s cannot be loaded: %s; make it with `weir-cc app.c -o app.so`",
                   file, colon ? colon + 5 : why);
}

static bool mpi_find(struct mpi_rank *r, const char *file, struct wr_err *err)
{
    const struct weir_host **host = (const struct weir_host **)dlsym(r->object, "weir_host");

    *(void **)&r->main = dlsym(r->object, "main");
    if (!host || !r->main)
        return wr_fail(err, WR_INPUT, "%s has no %s; make it with `weir-cc app.c -o app.so`", file,
                       host ? "main()" : "MPI of weir's");
    *host = &r->host;
    return true;
}

static void mpi_copy_arguments(struct mpi_rank *r)
{
    const struct mpi_program *p = r->p;

    r->argv = wr_zalloc(p->args.n + 2, sizeof *r->argv);
    r->argv[0] = wr_strdup(p->file);
    for (size_t i = 0; i < p->args.n; i++)
        r->argv[i + 1] = wr_strdup(p->args.v[i]);
}

static bool mpi_open_rank(struct mpi_program *p, uint32_t i, const struct wr_scratch *scratch,
                          const char *bytes, size_t n, size_t stack_b, struct wr_err *err)
{
    struct mpi_rank *r = &p->rank[i];

    *r = (struct mpi_rank){.p = p};
    r->host = (struct weir_host){.rank = r,
                                 .me = i,
                                 .n = p->ranks,
                                 .step = mpi_host_step,
                                 .now_ps = mpi_host_now_ps,
                                 .end = mpi_host_end,
                                 .fail = mpi_host_fail,
                                 .post = mpi_host_post,
                                 .take = mpi_host_take,
                                 .put = mpi_host_put,
                                 .part = mpi_host_part,
                                 .leave = mpi_host_leave};
    mpi_copy_arguments(r);
    if (!(r->object = mpi_load_copy(scratch, i, bytes, n)))
        return mpi_not_loaded(p->file, err);
    if (!mpi_find(r, p->file, err))
        return false;
    if (!mpi_stack_open(&r->stack, stack_b, mpi_entry, r))
        return wr_fail_errno(err, "no memory for the stack of rank %u; make stack: smaller", i);
    return true;
}

static bool mpi_open_ranks(struct mpi_program *p, const struct mpi_params *want, struct wr_err *err)
{
    const char *tmp = getenv("TMPDIR");
    struct wr_scratch scratch;
    bool ok = true;
    char *bytes;
    size_t n;

    if (!wr_file_read(&bytes, &n, want->file, LARGEST_OBJECT, err))
        return wr_wrap(err, "the program");
    if (n < 4 || memcmp(bytes, "\177ELF", 4))
        ok = wr_fail(err, WR_INPUT,
                     "%s is no shared object; make one with `weir-cc app.c -o app.so`", want->file);
    else if (!wr_scratch_make(&scratch, tmp ? tmp : "/tmp", "weir-mpi-"))
        ok = wr_fail_errno(err, "cannot make a directory in %s", tmp ? tmp : "/tmp");
    else {
        for (uint32_t i = 0; ok && i < p->ranks; i++)
            ok = mpi_open_rank(p, i, &scratch, bytes, n, want->stack_b, err);
        wr_scratch_remove(&scratch);
    }
    free(bytes);
    return ok;
}

static bool mpi_open(struct load *l, const struct load_start *how, struct wr_err *err)
{
    const struct mpi_params *want = l->params;
    struct mpi_program *p = wr_zalloc(1, sizeof *p);
    char *save = NULL;

#if !defined(__x86_64__) && !defined(__aarch64__)
    free(p);
    return wr_fail(err, WR_INPUT, "MPI programs run on x86-64 and AArch64 only; use another kind");
#endif
    l->priv = p;
    pthread_mutex_init(&p->lock, NULL);
    p->file = want->file;
    p->data = mpi_data_new();
    p->words = wr_strdup(want->args ? want->args : "");
    for (char *w = strtok_r(p->words, " \t\n", &save); w; w = strtok_r(NULL, " \t\n", &save))
        wr_vec_push(&p->args, w);
    bool ok = how->ranks || wr_fail(err, WR_INPUT, "%s needs ranks:, how many run it", want->file);
    p->rank = wr_zalloc(how->ranks ? how->ranks : 1, sizeof *p->rank);
    p->ranks = how->ranks;
    if (!ok || !mpi_open_ranks(p, want, err)) {
        mpi_close(l);
        return false;
    }
    l->ranks = how->ranks;
    l->rank_size = sizeof(struct mpi_rank *);
    return true;
}

static void mpi_rank_init(const struct load *l, void *rank, uint32_t i)
{
    const struct mpi_program *p = l->priv;

    assert(i < p->ranks);
    *(struct mpi_rank **)rank = &p->rank[i];
}

/* ---- running ---- */

/* The number of a call's name. */
static uint32_t mpi_call(struct mpi_program *p, const char *name)
{
    uint32_t i = 0;

    pthread_mutex_lock(&p->lock);
    while (i < p->ncalls && strcmp(p->calls[i], name))
        i++;
    if (i == p->ncalls && i < MOST_CALLS)
        p->calls[p->ncalls++] = wr_strdup(name);
    pthread_mutex_unlock(&p->lock);
    return i;
}

static enum load_kind mpi_message(const struct weir_op *op, struct load_op *ret)
{
    ret->peer = op->peer;
    ret->bytes = op->bytes;
    ret->tag = op->tag;
    if (op->done) {
        ret->flags = LOAD_F_ASYNC | LOAD_F_REPORT;
        ret->id = (uint64_t)(uintptr_t)op->done;
    }
    return op->what == WEIR_SEND ? LOAD_SEND : LOAD_RECV;
}

static enum load_kind mpi_access(const struct weir_op *op, struct load_op *ret)
{
    static const enum load_kind kinds[] = {[WEIR_OPEN] = LOAD_OPEN,
                                           [WEIR_CLOSE] = LOAD_CLOSE,
                                           [WEIR_READ] = LOAD_READ,
                                           [WEIR_WRITE] = LOAD_WRITE,
                                           [WEIR_FLUSH] = LOAD_FLUSH};

    ret->file = op->file;
    ret->bytes = op->bytes;
    ret->offset = op->offset;
    ret->flags = op->together ? LOAD_F_COLL : 0;
    if (op->done) {
        ret->flags |= LOAD_F_ASYNC | LOAD_F_REPORT;
        ret->id = (uint64_t)(uintptr_t)op->done;
    }
    return kinds[op->what];
}

static enum load_kind mpi_translate(struct mpi_rank *r, struct load_op *ret)
{
    const struct weir_op *op = r->op;

    assert(op && op->name);
    ret->where = mpi_call(r->p, op->name);
    switch (op->what) {
    case WEIR_SEND:
    case WEIR_RECV:
        return mpi_message(op, ret);
    case WEIR_WAIT_SOME:
        ret->flags = LOAD_F_SOME;
        ret->of = LOAD_SENDS | LOAD_RECVS | LOAD_IOS;
        return LOAD_WAIT;
    case WEIR_COMPUTE:
        ret->ps = op->ps;
        return LOAD_COMPUTE;
    case WEIR_COLL:
        break;
    default:
        return mpi_access(op, ret);
    }
    ret->coll = (uint8_t)op->coll;
    ret->bytes = op->bytes;
    ret->root = op->peer;
    ret->group = (struct load_group){.n = op->n,
                                     .step = 1,
                                     .hole = UINT32_MAX,
                                     .lead = LOAD_NO_RANK,
                                     .list = op->of,
                                     .key = op->key};
    return LOAD_COLL;
}

static enum load_kind mpi_next(const struct load *l, void *rank, uint64_t now_ps,
                               struct load_op *ret)
{
    struct mpi_rank *r = *(struct mpi_rank **)rank;

    (void)l;
    r->now_ps = now_ps;
    if (!r->ended)
        mpi_stack_enter(&r->stack);
    if (r->ended)
        return r->fault[0] ? LOAD_FAIL : LOAD_END;
    return mpi_translate(r, ret);
}

static void mpi_done(const struct load *l, void *rank, uint64_t id, enum load_event ev,
                     uint64_t now_ps)
{
    assert(id);
    (void)l, (void)rank, (void)ev, (void)now_ps;
    *(bool *)(uintptr_t)id = true;
}

static bool mpi_fault(const struct load *l, void *rank, struct wr_err *err)
{
    const struct mpi_program *p = l->priv;
    const struct mpi_rank *r = *(struct mpi_rank **)rank;

    return wr_fail(err, WR_INPUT, "%s: rank %u: %s", p->file, r->host.me, r->fault);
}

static void mpi_where(const struct load *l, uint32_t where, char *buf, size_t n)
{
    const struct mpi_program *p = l->priv;

    snprintf(buf, n, "%s", where < p->ncalls ? p->calls[where] : "");
}

const struct load_ops load_mpi = {
    .kind = {.name = "mpi",
             .summary = "a C program with MPI, compiled by weir-cc; it runs with your rights",
             .rows = mpi_rows,
             .params_size = sizeof(struct mpi_params)},
    .open = mpi_open,
    .close = mpi_close,
    .rank_init = mpi_rank_init,
    .next = mpi_next,
    .done = mpi_done,
    .fault = mpi_fault,
    .where = mpi_where,
};
