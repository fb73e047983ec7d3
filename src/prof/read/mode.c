/* mode.c -- the file mode of a job: private files, or a shared file.
 *
 * Each profile has rows for the first files that were opened for writing. A file in the profiles of
 * two processes is shared, also when one of them writes for the others (collective MPI-IO).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "prof/read/profile_job.h"

/* One process and one file that it opened or used. */
struct use {
    uint32_t app, proc;
    const char *where; /* host of a local file, or path of a file on a file server */
    uint64_t dev, id;
    double bytes;
};

/* File systems that are local to a machine: equal inode numbers on two machines are two files. */
static bool mode_is_local(const char *fs)
{
    static const char *const local[] = {"ext2", "ext3", "ext4",    "xfs", "btrfs", "tmpfs",
                                        "f2fs", "zfs",  "overlay", "",    "ramfs", NULL};

    for (int i = 0; local[i]; i++)
        if (!strcmp(fs, local[i]))
            return true;
    return false;
}

static int mode_by_file(const void *a, const void *b)
{
    const struct use *x = a, *y = b;

    if (x->app != y->app)
        return x->app < y->app ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->dev != y->dev)
        return x->dev < y->dev ? -1 : 1;
    int where = strcmp(x->where, y->where);

    return where ? where : x->proc < y->proc ? -1 : x->proc > y->proc;
}

static bool mode_same_file(const struct use *a, const struct use *b)
{
    return a->app == b->app && a->id == b->id && a->dev == b->dev && !strcmp(a->where, b->where);
}

static double mode_written(const struct prof_file *f, uint32_t row, bool *ret_any)
{
    double sum = 0;

    *ret_any = false;
    for (uint32_t s = 0; s < f->nslots; s++) {
        const struct prof_row *r = &f->row[(size_t)s * f->nnames + row];

        sum += (double)r->word[PROF_W_write_bytes] + (double)r->word[PROF_W_write_estimate];
        *ret_any |= prof_row_sum(r) != 0;
    }
    return sum;
}

struct uses {
    WR_VEC(struct use) v;
    double *wrote;   /* bytes written by each process */
    double *unknown; /* by app: bytes written to files without a row */
};

static void mode_add_uses(struct uses *u, const struct prof_job *j, const struct prof_file *f,
                          uint32_t proc)
{
    assert(proc < j->procs.n);
    uint32_t app = j->procs.v[proc].app;

    for (uint32_t row = 0; row < f->nnames; row++) {
        const struct prof_name *n = &f->name[row];
        bool any, storage = n->kind == PROF_K_REST || n->kind == PROF_K_MOUNT ||
                            n->kind == PROF_K_FILE || n->kind == PROF_K_KERNEL;
        double bytes = storage ? mode_written(f, row, &any) : 0;

        if (!storage || !any)
            continue;
        u->wrote[proc] += bytes;
        if (n->kind != PROF_K_FILE) {
            u->unknown[app] += bytes;
            continue;
        }
        bool local = mode_is_local(f->name[n->mount].fs);

        wr_vec_push(&u->v, (struct use){.app = app,
                                        .proc = proc,
                                        .where = local ? f->head.host : n->path,
                                        .dev = local ? n->dev : 0,
                                        .id = n->id,
                                        .bytes = bytes});
    }
}

static const char *mode_of_app(const struct uses *u, const struct prof_job *j, uint32_t app)
{
    assert(app < j->apps.n);
    const double most = 0.9;   /* fraction of the bytes that decides the mode */
    const double least = 0.01; /* a process that writes less does not count as a writer */
    double shared = 0, private = 0;
    size_t writers = 0;

    for (size_t i = 0, end; i < u->v.n; i = end) {
        double bytes = 0;

        for (end = i; end < u->v.n && mode_same_file(&u->v.v[i], &u->v.v[end]); end++)
            bytes += u->v.v[end].bytes;
        if (u->v.v[i].app != app)
            continue;
        *(u->v.v[i].proc != u->v.v[end - 1].proc ? &shared : &private) += bytes;
    }
    double all = shared + private + u->unknown[app];

    for (size_t i = 0; i < j->procs.n; i++)
        writers += j->procs.v[i].app == app && u->wrote[i] > least * all;
    if (all > 0 && shared >= most * all)
        return "shared";
    return all > 0 && private >= most * all && writers > 1 ? "private" : NULL;
}

const char *prof_job_file_mode(const struct prof_job *j)
{
    struct uses u = {.wrote = wr_zalloc(j->procs.n, sizeof *u.wrote),
                     .unknown = wr_zalloc(j->apps.n, sizeof *u.unknown)};
    const char *mode = NULL;

    for (size_t i = 0, slot = 0; i < j->nfiles; slot += j->file[i++].nslots)
        if (j->file[i].nslots)
            mode_add_uses(&u, j, &j->file[i], j->threads.v[slot].proc);
    if (u.v.n)
        qsort(u.v.v, u.v.n, sizeof *u.v.v, mode_by_file);
    for (uint32_t a = 0; a < j->apps.n; a++) {
        const char *one = mode_of_app(&u, j, a);

        mode = !a || (one && mode && !strcmp(one, mode)) ? one : NULL;
        if (!mode)
            break;
    }
    wr_vec_fini(&u.v);
    free(u.wrote);
    free(u.unknown);
    return mode;
}
