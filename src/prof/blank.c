/* blank.c -- fills in the heads of the profiles that the sampler makes: of an unprofiled process,
 * and the shared one. Called by sampler.c only; the layout is that of form.h. */
#include "blank.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernel.h"

/* Fields that both have, and the layout, limited by RLIMIT_FSIZE. */
static void blank_finish(struct prof_head *h, const struct prof_blank *b)
{
    assert(h->names_max > 0 && h->slots_max > 0 && b->slice_ns > 0 && b->host && b->job);
    struct rlimit most;

    memcpy(h->magic, PROF_MAGIC, sizeof h->magic);
    h->version = PROF_VERSION;
    h->order = PROF_ORDER;
    h->log_max = PROF_LOG;
    h->children_max = h->shared ? PROF_CHILDREN : 0;
    h->slice_ns = b->slice_ns;
    h->adaptive = b->adaptive;
    h->job_ns = b->job_ns;
    h->real_ns = b->now_ns;
    h->mono_ns = b->now_ns - b->offset_ns;
    h->uid = getuid();
    h->rank = h->nranks = -1;
    h->state = PROF_LIVE;
    h->launcher = h->sampler = (uint32_t)getpid();
    snprintf(h->host, sizeof h->host, "%s", b->host);
    snprintf(h->job, sizeof h->job, "%.63s", b->job);
    prof_lay_out(h);
    if (!getrlimit(RLIMIT_FSIZE, &most))
        prof_fit(h, most.rlim_cur);
}

struct prof_blank_process prof_blank_process(pid_t pid)
{
    struct prof_blank_process p = {.pid = pid};

    prof_kernel_stat(pid, &p.start, &p.parent);
    p.seen = prof_kernel_seen_by(pid, p.parent, &p.nested);
    p.pid_ns = p.nested && p.parent ? prof_kernel_pid_ns(p.parent) : 0;
    p.pid_ns = p.pid_ns == prof_kernel_pid_ns(getpid()) ? 0 : p.pid_ns;
    prof_kernel_exe(pid, p.exe, sizeof p.exe);
    return p;
}

void prof_blank_kernel(struct prof_head *h, struct prof_name names[PROF_NAMES],
                       const struct prof_blank *b, const struct prof_blank_process *p)
{
    assert(p->pid > 0);
    *h = (struct prof_head){.clock = PROF_KERNEL,
                            .names_max = PROF_NAMES,
                            .slots_max = 1,
                            .pid = (uint32_t)p->seen,
                            .ppid = (uint32_t)p->parent,
                            .pid_start = prof_start_in(p->start, p->pid_ns),
                            .names_n = PROF_ROW_FIRST + 1,
                            .slots_n = 1};
    blank_finish(h, b);
    /* Its start is known in clock ticks (10 ms) after boot. */
    h->start_ns = b->offset_ns + (int64_t)p->start * (1000000000 / (int64_t)sysconf(_SC_CLK_TCK));
    h->start_ns = h->start_ns < h->real_ns ? h->start_ns : h->real_ns;
    snprintf(h->exe, sizeof h->exe, "%s", p->exe);
    names[PROF_ROW_COUNTERS].kind = PROF_K_COUNTERS;
    names[PROF_ROW_FIRST].kind = PROF_K_KERNEL;
    snprintf(names[PROF_ROW_FIRST].path, sizeof names->path, "(kernel counters)");
}

void prof_blank_shared(struct prof_head *h, struct prof_name names[PROF_ROW_FIRST],
                       const struct prof_blank *b, uint32_t clock, uint64_t capacity_b)
{
    assert(clock <= PROF_PRECISE);
    static const enum prof_kind kinds[PROF_ROW_FIRST] = {[PROF_ROW_OTHER] = PROF_K_OTHER,
                                                         [PROF_ROW_MPI] = PROF_K_MPI,
                                                         [PROF_ROW_MPI_COLL] = PROF_K_MPI_COLL,
                                                         [PROF_ROW_REST] = PROF_K_REST,
                                                         [PROF_ROW_COUNTERS] = PROF_K_COUNTERS};
    pid_t parent;

    *h = (struct prof_head){.clock = clock,
                            .names_max = PROF_ROW_FIRST,
                            .slots_max = PROF_SLOTS,
                            .pid = (uint32_t)getpid(),
                            .ppid = (uint32_t)getppid(),
                            .names_n = PROF_ROW_FIRST,
                            .shared = 1,
                            .capacity_b = capacity_b};
    blank_finish(h, b);
    h->start_ns = h->real_ns;
    prof_kernel_stat(getpid(), &h->pid_start, &parent);
    snprintf(h->exe, sizeof h->exe, "(processes without a profile of their own)");
    for (int i = 0; i < PROF_ROW_FIRST; i++)
        names[i].kind = kinds[i];
    snprintf(names[PROF_ROW_REST].path, sizeof names->path, "(other storage)");
}
