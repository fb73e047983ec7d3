/* recording_replay.c -- merges the phases of a rank into one sequence of requests, by recorded
 * time.
 *
 * Invariant: the heap's first entry is the earliest request of all phases begun; of two at the same
 * time the phase that comes first in the recording is first. */
#include "recording_replay.h"

#include <string.h>

#include "base/check.h"

size_t replay_heap_size(const struct recording *r, size_t *ret_first)
{
    size_t all = 0;

    for (uint32_t i = 0; i < r->ranks; i++) {
        ret_first[i] = all;
        for (size_t k = r->first[i]; k < r->first[i + 1]; k++)
            all += r->phase[k].n > 1;
    }
    return all;
}

void replay_open(struct replay_rank *s, const struct recording *r, uint32_t rank,
                 struct replay_begun *heap)
{
    *s = (struct replay_rank){
        .heap = heap, .next = r->first[rank], .end = r->first[rank + 1], .end_ps = r->end_ps[rank]};
}

/* ---- the heap ---- */

static bool replay_before(const struct replay_begun *a, const struct replay_begun *b)
{
    return a->t_ps != b->t_ps ? a->t_ps < b->t_ps : a->phase < b->phase;
}

static void replay_sink(struct replay_rank *s)
{
    struct replay_begun top = s->heap[0];
    size_t i = 0;

    for (size_t k; (k = 2 * i + 1) < s->n; i = k) {
        if (k + 1 < s->n && replay_before(&s->heap[k + 1], &s->heap[k]))
            k++;
        if (!replay_before(&s->heap[k], &top))
            break;
        s->heap[i] = s->heap[k];
    }
    s->heap[i] = top;
}

static void replay_push(struct replay_rank *s, struct replay_begun b)
{
    size_t i = s->n++;

    for (; i && replay_before(&b, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = b;
}

/* ---- requests ---- */

/* The first k of n parts of `whole`. */
static uint64_t replay_sum(uint64_t whole, uint64_t k, uint64_t n)
{
    return (uint64_t)((unsigned __int128)whole * k / n);
}

static struct replay_request replay_request_of(const struct recording_phase *p, uint64_t k)
{
    uint64_t from = replay_sum(p->bytes, k, p->n);

    return (struct replay_request){.phase = p,
                                   .offset = p->offset + from,
                                   .bytes = replay_sum(p->bytes, k + 1, p->n) - from,
                                   .io_ps = replay_sum(p->io_ps, k + 1, p->n) -
                                            replay_sum(p->io_ps, k, p->n)};
}

/* The earliest request of all phases; false: there is none. */
static bool replay_take(struct replay_rank *s, const struct recording *r,
                        struct replay_request *ret, uint64_t *ret_t_ps)
{
    if (s->next < s->end && (!s->n || r->phase[s->next].t_ps < s->heap[0].t_ps)) {
        const struct recording_phase *p = &r->phase[s->next];

        if (p->n > 1)
            replay_push(s,
                        (struct replay_begun){p->t_ps + replay_sum(p->dt_ps, 1, p->n), 1, s->next});
        s->next++;
        *ret = replay_request_of(p, 0);
        *ret_t_ps = p->t_ps;
        return true;
    }
    if (!s->n)
        return false;
    struct replay_begun *b = &s->heap[0];
    const struct recording_phase *p = &r->phase[b->phase];

    wr_check(b->k < p->n);
    *ret = replay_request_of(p, b->k);
    *ret_t_ps = b->t_ps;
    if (++b->k < p->n)
        b->t_ps = p->t_ps + replay_sum(p->dt_ps, b->k, p->n);
    else
        *b = s->heap[--s->n];
    if (s->n)
        replay_sink(s);
    return true;
}

enum replay_step replay_next(struct replay_rank *s, const struct recording *r, uint64_t *ret_ps,
                             struct replay_request *ret)
{
    struct replay_request q = s->held;
    uint64_t t_ps, gap = 0;
    bool more;

    if (q.phase) {
        s->held.phase = NULL;
        *ret = q;
        return REPLAY_REQUEST;
    }
    do {
        more = replay_take(s, r, &q, &t_ps);
        if (!more)
            t_ps = s->end_ps;
        if (t_ps > s->free_ps) {
            uint64_t from = s->mpiio_ps > s->free_ps ? s->mpiio_ps : s->free_ps;

            gap += t_ps > from ? t_ps - from : 0;
            s->free_ps = t_ps;
        }
        if (more && q.phase->op == RECORDING_IN_MPIIO)
            s->mpiio_ps = t_ps + q.io_ps > s->mpiio_ps ? t_ps + q.io_ps : s->mpiio_ps;
        else if (more)
            s->free_ps += q.io_ps;
        /* These took their time, and are not simulated. */
    } while (more && (q.phase->op == RECORDING_META || q.phase->op == RECORDING_IN_MPIIO));
    if (!more) {
        *ret_ps = gap;
        return gap ? REPLAY_COMPUTE : REPLAY_END;
    }
    if (!gap) {
        *ret = q;
        return REPLAY_REQUEST;
    }
    s->held = q;
    *ret_ps = gap;
    return REPLAY_COMPUTE;
}
