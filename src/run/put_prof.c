/* put_prof.c -- facts of a profiled or recorded job: processes, their use of mounts and files,
 * access sizes, and phases of I/O. */
#include <assert.h>

#include "writer_priv.h"

static void put_prof_bind_ints(sqlite3_stmt *s, int at, const int64_t *value, int n)
{
    for (int i = 0; i < n; i++)
        if (value[i] == RUN_NULL)
            sqlite3_bind_null(s, at + i);
        else
            sqlite3_bind_int64(s, at + i, value[i]);
}

bool run_put_process(struct run *run, const struct run_process *p, struct wr_err *err)
{
    assert(p->host && p->command && p->counted_by);
    sqlite3_stmt *s = run_begin(run, RUN_S_PROCESS, err);
    const char *const text[] = {p->host, p->command, p->counted_by};

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, p->app);
    sqlite3_bind_int64(s, 2, p->rank);
    for (int i = 0; i < 3; i++)
        sqlite3_bind_text(s, 3 + i, text[i], -1, SQLITE_STATIC);
    put_prof_bind_ints(s, 6,
                       (const int64_t[]){p->pid, p->ppid, p->threads, p->start_ps, p->end_ps,
                                         p->io_start_ps, p->io_end_ps, p->library_read,
                                         p->library_written, p->kernel_read, p->kernel_written,
                                         p->start_read, p->unexplained_read, p->unexplained_written,
                                         p->booked_read, p->booked_written, p->images, p->mpi_rank},
                       18);
    return run_step(run, RUN_S_PROCESS, err);
}

bool run_put_access(struct run *run, const struct run_access *a, struct wr_err *err)
{
    assert(a->low_b >= 0 && (a->high_b == RUN_NULL || a->high_b > a->low_b));
    sqlite3_stmt *s = run_begin(run, RUN_S_ACCESS, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, a->app);
    sqlite3_bind_text(s, 2, a->op, -1, SQLITE_STATIC);
    put_prof_bind_ints(s, 3, (const int64_t[]){a->low_b, a->high_b, a->calls}, 3);
    return run_step(run, RUN_S_ACCESS, err);
}

bool run_put_use(struct run *run, const struct run_use *u, struct wr_err *err)
{
    uint32_t id;

    if (!run_intern(run, u->entity, &id, err))
        return false;
    sqlite3_stmt *s = run_begin(run, RUN_S_USE, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, u->app);
    sqlite3_bind_int64(s, 2, u->rank);
    sqlite3_bind_int64(s, 3, id);
    put_prof_bind_ints(s, 4,
                       (const int64_t[]){u->bytes_read, u->bytes_written, u->reads, u->writes,
                                         u->syncs, u->opens, u->metas},
                       7);
    return run_step(run, RUN_S_USE, err);
}

bool run_put_io_phase(struct run *run, const struct run_io_phase *p, struct wr_err *err)
{
    assert(p->op && p->entity && p->source && p->n > 0 && p->bytes >= 0 && p->dt_ps >= 0);
    const char *const word[] = {p->op, p->entity, p->source};
    uint32_t id[3];

    for (int i = 0; i < 3; i++)
        if (!run_intern(run, word[i], &id[i], err))
            return false;
    sqlite3_stmt *s = run_begin(run, RUN_S_IO_PHASE, err);

    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, p->app);
    sqlite3_bind_int64(s, 2, p->rank);
    sqlite3_bind_int64(s, 3, (int64_t)p->seq);
    for (int i = 0; i < 3; i++)
        sqlite3_bind_int64(s, 4 + i, id[i]);
    put_prof_bind_ints(
        s, 7, (const int64_t[]){p->t_ps, p->dt_ps, p->offset_b, p->bytes, p->n, p->io_ps}, 6);
    return run_step(run, RUN_S_IO_PHASE, err);
}
