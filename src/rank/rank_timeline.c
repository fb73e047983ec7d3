/* rank_timeline.c -- timelines: what some ranks of each job did, and when.
 *
 *   compute  ======          ====      ==
 *   comm           ==========    ======
 *            |- 1 -|-- 2 ----|- 3|- 4 -|5       intervals: one after the other, without gaps
 *
 * Owns the intervals of the ranks that are recorded. All memory is allocated at the start: `most`
 * intervals for each such rank. An interval shorter than the resolution is merged with the next,
 * and keeps how long the rank did each activity. When all intervals of a rank are used, its
 * resolution doubles and shorter intervals are merged. So a timeline covers a run of any length.
 *
 * Invariants: intervals of a rank touch; what it did in them adds up to their length, and over all
 * of them to the rank's accounts. A rank's intervals follow from its own accounts alone.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "rank_priv.h"

struct line {
    uint64_t resolution_ps, end_ps;
    uint32_t n;
    struct rank_interval *v; /* [most] */
};

struct rank_lines {
    uint32_t most, nlines;
    uint32_t *of; /* [ranks] its line, or WR_NIL */
    struct line *line;
    struct rank_interval *space;
};

/* The number of recorded ranks of a job; they are equally far apart. */
static uint32_t line_recorded(const struct rank_timeline *how, uint32_t ranks)
{
    return how->ranks < ranks ? how->ranks : ranks;
}

void rank_timeline_open(struct ranks *rs, const struct rank_timeline *how)
{
    uint32_t n = 0;

    if (!how->ranks)
        return;
    assert(how->most > 1); /* line_coarsen merges at least two */
    struct rank_lines *ls = rs->lines = wr_zalloc(1, sizeof *ls);

    for (uint32_t i = 0; i < rs->njobs; i++)
        ls->nlines += line_recorded(how, rs->job[i].load.ranks);
    ls->most = how->most;
    ls->of = rank_open_buckets(rs->n);
    ls->line = wr_zalloc(ls->nlines, sizeof *ls->line);
    ls->space = wr_zalloc((size_t)ls->nlines * ls->most, sizeof *ls->space);
    for (uint32_t i = 0; i < rs->njobs; i++) {
        const struct rank_jobs *j = &rs->job[i];
        uint32_t some = line_recorded(how, j->load.ranks);

        for (uint32_t k = 0; k < some; k++, n++) {
            ls->of[j->first + (uint64_t)k * j->load.ranks / some] = n;
            ls->line[n] = (struct line){.resolution_ps = how->resolution_ps,
                                        .v = ls->space + (size_t)n * ls->most};
        }
    }
}

void rank_timeline_close(struct ranks *rs)
{
    if (!rs->lines)
        return;
    free(rs->lines->of);
    free(rs->lines->line);
    free(rs->lines->space);
    free(rs->lines);
}

uint64_t rank_timeline_bytes(const struct ranks *rs)
{
    const struct rank_lines *ls = rs->lines;

    if (!ls)
        return 0;
    return rs->n * sizeof *ls->of + ls->nlines * (sizeof *ls->line + ls->most * sizeof *ls->space);
}

/* ---- recording ---- */

static enum rank_did line_did(uint32_t account)
{
    return account == RANK_COMPUTE ? RANK_DID_COMPUTE
           : account == RANK_IO    ? RANK_DID_IO
           : account == RANK_IDLE  ? RANK_DID_IDLE
                                   : RANK_DID_COMM;
}

static uint64_t line_length(const struct rank_interval *x)
{
    uint64_t sum = 0;

    for (int d = 0; d < RANK_DIDS; d++)
        sum += x->ps[d];
    return sum;
}

/* Doubles the resolution: intervals that are shorter are merged with the next. */
static void line_coarsen(struct line *l)
{
    uint32_t n = 0;

    l->resolution_ps = l->resolution_ps ? 2 * l->resolution_ps : 1;
    for (uint32_t i = 0; i < l->n; i++) {
        if (!n || line_length(&l->v[n - 1]) >= l->resolution_ps) {
            l->v[n++] = l->v[i];
            continue;
        }
        for (int d = 0; d < RANK_DIDS; d++)
            l->v[n - 1].ps[d] += l->v[i].ps[d];
    }
    l->n = n;
}

static void line_add(struct line *l, uint32_t most, enum rank_did did, uint64_t t_ps, uint64_t ps)
{
    struct rank_interval *last = l->n ? &l->v[l->n - 1] : NULL;
    uint64_t length = last ? line_length(last) : 0;

    if (last && (last->ps[did] == length || length < l->resolution_ps)) {
        last->ps[did] += ps;
        return;
    }
    if (l->n < most) {
        l->v[l->n] = (struct rank_interval){.t_ps = t_ps};
        l->v[l->n++].ps[did] = ps;
        return;
    }
    while (l->n == most)
        line_coarsen(l);
    line_add(l, most, did, t_ps, ps); /* now n < most */
}

void rank_timeline_add(struct ranks *rs, const struct rank *r, uint64_t ps)
{
    uint32_t at = rs->lines->of[rank_index(rs, r)];
    uint64_t t_ps = r->since_ps - rs->job[r->job].start_ps;

    if (at == WR_NIL || !ps)
        return;
    struct line *l = &rs->lines->line[at];

    assert(t_ps == l->end_ps);
    l->end_ps += ps;
    line_add(l, rs->lines->most, line_did(r->account), t_ps, ps);
}

/* ---- asking ---- */

uint32_t ranks_intervals(const struct ranks *rs, uint32_t i, const struct rank_interval **ret)
{
    if (!rs->lines || rs->lines->of[i] == WR_NIL)
        return 0;
    *ret = rs->lines->line[rs->lines->of[i]].v;
    return rs->lines->line[rs->lines->of[i]].n;
}

/* ---- from one process to another ---- */

void rank_timeline_pack(const struct ranks *rs, uint32_t i, struct wr_bytes *out)
{
    const struct rank_interval *v = NULL;
    uint32_t n = ranks_intervals(rs, i, &v);

    wr_bytes_u64(out, n);
    for (uint32_t k = 0; k < n; k++) {
        wr_bytes_u64(out, v[k].t_ps);
        wr_bytes_many(out, v[k].ps, RANK_DIDS);
    }
}

void rank_timeline_take(struct ranks *rs, uint32_t i, struct wr_reader *in)
{
    uint32_t at = rs->lines ? rs->lines->of[i] : WR_NIL;
    uint32_t most = at == WR_NIL ? 0 : rs->lines->most;
    uint32_t n = (uint32_t)wr_read_below(in, (uint64_t)most + 1);

    for (uint32_t k = 0; k < n; k++) {
        struct rank_interval *x = &rs->lines->line[at].v[k];

        x->t_ps = wr_read_u64(in);
        wr_read_many(in, x->ps, RANK_DIDS);
    }
    if (n)
        rs->lines->line[at].n = n;
}
