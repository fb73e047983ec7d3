/* clocks.c -- aligns profiles whose wall clocks differ, and warns about it.
 *
 * On one machine the difference is exact, from the monotonic clock. Between machines it is only
 * checked, by the time at which ranks left MPI_Init. Called by prof_job_make. */
#include <assert.h>
#include <string.h>

#include "profile_job_priv.h"

static int64_t clocks_offset_of(const struct prof_head *h)
{
    return h->real_ns - h->mono_ns;
}

/* Implausible times are not shifted; job_check_span refuses them later. */
static bool clocks_can_shift(int64_t from, int64_t to, int64_t by)
{
    return from > 0 && from < INT64_MAX / 2 && to < INT64_MAX / 2 && from + by >= 0;
}

static void clocks_shift_one(int64_t *t, int64_t by)
{
    *t += clocks_can_shift(*t, *t, by) ? by : 0;
}

static void clocks_shift(struct prof_file *f, int64_t by)
{
    struct prof_head *h = &f->head;

    clocks_shift_one(&h->real_ns, by);
    clocks_shift_one(&h->start_ns, by);
    clocks_shift_one(&h->end_ns, by);
    clocks_shift_one(&h->sampled_ns, by);
    clocks_shift_one(&h->mpi_init_ns, by);
    for (uint32_t i = 0; i < f->nslots; i++)
        if (clocks_can_shift(f->slot[i].from_ns, f->slot[i].edge_ns, by)) {
            f->slot[i].from_ns += by;
            f->slot[i].edge_ns += by;
        }
    for (size_t i = 0; i < f->nrec; i++)
        if (clocks_can_shift(f->rec[i].from_ns, f->rec[i].to_ns, by)) {
            f->rec[i].from_ns += by;
            f->rec[i].to_ns += by;
        }
}

/* The profile of a machine that started first, by the monotonic clock. */
static const struct prof_head *clocks_first_of(const struct prof_job *j, const char *host)
{
    const struct prof_head *first = NULL;

    for (size_t i = 0; i < j->nfiles; i++) {
        const struct prof_head *h = &j->file[i].head;

        if (!strcmp(h->host, host) && (!first || h->mono_ns < first->mono_ns))
            first = h;
    }
    return first;
}

/* Difference of a profile's wall clock to that of the first profile; 0: implausible. */
static int64_t clocks_behind_first(const struct prof_head *h, const struct prof_head *first)
{
    assert(!strcmp(h->host, first->host));
    const int64_t range = INT64_MAX / 4;
    bool sane = h->mono_ns >= 0 && h->mono_ns < range && h->real_ns < range &&
                first->mono_ns >= 0 && first->real_ns < range;

    return sane ? clocks_offset_of(first) - clocks_offset_of(h) : 0;
}

/* Wall clock minus monotonic clock is the same for all processes of a machine unless the clock was
 * set: later profiles are then shifted to the first. Differences above an hour mean another boot.
 */
void prof_job_align(struct prof_job *j)
{
    const int64_t least = 1000000, most = INT64_C(3600000000000);
    const struct prof_head *first = NULL;
    int64_t set = j->step_ns, far = 0;

    for (size_t i = 0; i < j->nfiles; i++) {
        struct prof_file *f = &j->file[i];

        /* Files are sorted by machine. */
        if (!first || strcmp(first->host, f->head.host))
            first = clocks_first_of(j, f->head.host);
        int64_t by = clocks_behind_first(&f->head, first);

        if (by > most || by < -most)
            far = by;
        else if (by > least || by < -least) {
            set = set ? set : -by;
            clocks_shift(f, by);
        }
    }
    if (set)
        prof_job_warn(
            j, "the clock was set by %.3f s while the job ran; slices go on as it was at the start",
            (double)set / 1e9);
    if (far)
        prof_job_warn(j,
                      "the clock was set by %.0f s between profiles; their slices are not aligned",
                      -(double)far / 1e9);
}

/* All ranks leave MPI_Init at about the same time; a larger difference means that clocks disagree.
 */
void prof_job_check_clocks(struct prof_job *j)
{
    const struct prof_head *low = NULL, *high = NULL;

    for (size_t i = 0; i < j->nfiles; i++) {
        const struct prof_head *h = &j->file[i].head;

        if (!h->mpi || h->mpi_init_ns <= 0)
            continue;
        low = !low || h->mpi_init_ns < low->mpi_init_ns ? h : low;
        high = !high || h->mpi_init_ns > high->mpi_init_ns ? h : high;
    }
    int64_t limit = (int64_t)j->slice_ns > 2000000000 ? (int64_t)j->slice_ns : 2000000000;

    if (low && strcmp(low->host, high->host) && high->mpi_init_ns - low->mpi_init_ns > limit)
        prof_job_warn(
            j,
            "the clocks of %s and %s disagree by about %.1f s (ranks leave MPI_Init together); "
            "set them before comparing slices",
            low->host, high->host, (double)(high->mpi_init_ns - low->mpi_init_ns) / 1e9);
}
