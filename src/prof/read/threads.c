/* threads.c -- numbers the thread slots of all profiles within their processes, and makes entities
 * of threads. Called by prof_job_make after processes are numbered. */
#include <assert.h>
#include <stdlib.h>

#include "profile_job_priv.h"

/* Whether the thread has any counts that are reported. */
static bool threads_is_busy(const struct prof_file *f, uint32_t slot)
{
    assert(slot < f->nslots);
    for (uint32_t row = 0; row < f->nnames; row++)
        if (f->name[row].kind != PROF_K_OTHER && f->name[row].kind != PROF_K_NONE &&
            f->name[row].kind != PROF_K_COUNTERS &&
            prof_row_sum(&f->row[(size_t)slot * f->nnames + row]))
            return true;
    return false;
}

/* After exec only the main thread continues, with the same number. */
static void threads_number(struct prof_job *j, const size_t *proc_of)
{
    size_t *main_of = wr_zalloc(j->procs.n, sizeof *main_of); /* place + 1 in threads */

    for (size_t i = 0; i < j->nfiles; i++)
        for (uint32_t s = 0; s < j->file[i].nslots; s++) {
            struct prof_thread t = {.proc = (uint32_t)proc_of[i],
                                    .tid = j->file[i].slot[s].tid,
                                    .entity = UINT32_MAX,
                                    .first = j->threads.n,
                                    .busy = threads_is_busy(&j->file[i], s)};
            bool is_main = t.busy && t.tid == j->file[i].head.pid;

            if (is_main && main_of[t.proc]) {
                t.first = main_of[t.proc] - 1;
                t.number = j->threads.v[t.first].number;
            } else if (t.busy) {
                t.number = j->procs.v[t.proc].threads++;
            }
            if (is_main && !main_of[t.proc])
                main_of[t.proc] = j->threads.n + 1;
            wr_vec_push(&j->threads, t);
        }
    free(main_of);
}

void prof_job_threads(struct prof_job *j, const size_t *proc_of)
{
    assert(!j->threads.n);
    threads_number(j, proc_of);
    for (size_t i = 0; i < j->threads.n; i++) {
        struct prof_thread *t = &j->threads.v[i];
        const struct prof_proc *p = &j->procs.v[t->proc];

        /* Where a process has one thread its own series says it all. */
        if (t->busy && p->threads > 1)
            t->entity =
                t->first < i
                    ? j->threads.v[t->first].entity
                    : prof_job_entity(j, PROF_E_THREAD,
                                      prof_job_name("thread:%u.%u.%u", p->app, p->rank, t->number));
    }
}
