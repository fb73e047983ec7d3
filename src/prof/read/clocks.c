/* clocks.c -- profiles whose wall clocks were not the same: laid on one where it is known how, and
 * told. */
#include <string.h>

#include "job_priv.h"

static int64_t clocks_offset_of(const struct prof_head *h)
{
    return h->real_ns - h->mono_ns;
}

/* What a damaged file may say stays as it is, and is refused later. */
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
    for (uint32_t i = 0; i < f->nseats; i++)
        if (clocks_can_shift(f->seat[i].from_ns, f->seat[i].edge_ns, by)) {
            f->seat[i].from_ns += by;
            f->seat[i].edge_ns += by;
        }
    for (size_t i = 0; i < f->nrec; i++)
        if (clocks_can_shift(f->rec[i].from_ns, f->rec[i].to_ns, by)) {
            f->rec[i].from_ns += by;
            f->rec[i].to_ns += by;
        }
}

/* Which of the machine's profiles began first, by a clock that is never set. */
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

/* By how much a profile's wall clock was behind that of the first on its machine; 0: not to be
 * believed. */
static int64_t clocks_behind_first(const struct prof_head *h, const struct prof_head *first)
{
    const int64_t range = INT64_MAX / 4;
    bool sane = h->mono_ns >= 0 && h->mono_ns < range && h->real_ns < range &&
                first->mono_ns >= 0 && first->real_ns < range;

    return sane ? clocks_offset_of(first) - clocks_offset_of(h) : 0;
}

/* The wall clock of a machine minus its monotonic clock is the same for all its processes, unless
 * it was set in between: then those that came later are put on the first one's. What is further
 * away was another day, or another boot. */
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

/* Clocks of several machines agree when their ranks left MPI_Init together. */
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
