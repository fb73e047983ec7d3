/* load_profile.c -- a recorded job as a workload: its requests in their order, and what lay
 * between.
 *
 * open() reads the run file and allocates the heaps of all ranks; the state of a rank is a struct
 * replay_rank. Of a Darshan log a run file is made first, as `weir import` does.
 * docs/models/profile-program.md says what is replayed, and how much of it is assumed.
 */
#include "load_profile.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/scratch.h"
#include "darshan/darshan.h"
#include "darshan/darshan_to_run.h"
#include "recording_replay.h"

struct profile_params {
    const char *file, *job;
};

static const struct conf_row profile_rows[] = {
    {.key = "file",
     .type = CONF_PATH,
     .offset = offsetof(struct profile_params, file),
     .help = "the run file of the job: of `weir profile`, `weir import`, or any with slices of "
             "ranks; or a Darshan log"},
    {.key = "job",
     .type = CONF_STRING,
     .offset = offsetof(struct profile_params, job),
     .def = "",
     .help = "which job of the file, by name or number, when it has several"},
    CONF_END,
};

struct profile_program {
    struct recording rec;
    size_t *heap_first; /* [ranks] */
    struct replay_begun *heap;
};

static bool profile_read_log(struct recording *ret, const char *path, const char *job,
                             const char *scratch, struct wr_err *err)
{
    struct wr_str run = {0}, notes = {0};
    struct darshan_log log;

    if (!darshan_open(&log, path, err))
        return false;
    wr_str_addf(&run, "%s/job.weir", scratch);
    bool ok =
        darshan_to_run(&log, wr_str_get(&run), &(struct darshan_to_run_how){0}, &notes, err) &&
        recording_read(ret, wr_str_get(&run), job, err);

    darshan_fini(&log);
    wr_str_fini(&run);
    wr_str_fini(&notes);
    return ok;
}

static bool profile_read(struct recording *ret, const struct profile_params *par,
                         struct wr_err *err)
{
    const char *job = par->job ? par->job : "", *tmp = getenv("TMPDIR");
    struct wr_scratch scratch;

    if (!darshan_is_log(par->file))
        return recording_read(ret, par->file, job, err);
    tmp = tmp && *tmp ? tmp : "/tmp";
    if (!wr_scratch_make(&scratch, tmp, "weir-replay-"))
        return wr_fail_errno(err, "cannot make a directory in %s; set TMPDIR to another", tmp);
    bool ok = profile_read_log(ret, par->file, job, scratch.dir, err);

    wr_scratch_remove(&scratch);
    return ok;
}

static bool profile_open(struct load *l, const struct load_start *how, struct wr_err *err)
{
    const struct profile_params *par = l->params;
    struct recording rec;

    if (!profile_read(&rec, par, err))
        return false;
    if (how->ranks && how->ranks != rec.ranks) {
        wr_fail(err, WR_INPUT,
                "%s was recorded with %u ranks and the job has %u; set the job's ranks to %u, or "
                "leave them out",
                par->file, rec.ranks, how->ranks, rec.ranks);
        recording_fini(&rec);
        return false;
    }
    struct profile_program *p = wr_zalloc(1, sizeof *p);

    p->rec = rec;
    p->heap_first = wr_zalloc(rec.ranks, sizeof *p->heap_first);
    p->heap = wr_zalloc(replay_heap_size(&rec, p->heap_first) + 1, sizeof *p->heap);
    l->priv = p;
    l->ranks = rec.ranks;
    l->rank_size = sizeof(struct replay_rank);
    return true;
}

static void profile_close(struct load *l)
{
    struct profile_program *p = l->priv;

    recording_fini(&p->rec);
    free(p->heap_first);
    free(p->heap);
    free(p);
}

static void profile_rank_init(const struct load *l, void *rank, uint32_t i)
{
    const struct profile_program *p = l->priv;

    assert(i < l->ranks);
    replay_open(rank, &p->rec, i, p->heap + p->heap_first[i]);
}

static enum load_kind profile_next(const struct load *l, void *rank, uint64_t now_ps,
                                   struct load_op *ret)
{
    static const enum load_kind kinds[RECORDING_OPS] = {
        [RECORDING_OPEN] = LOAD_OPEN,   [RECORDING_READ] = LOAD_READ,
        [RECORDING_WRITE] = LOAD_WRITE, [RECORDING_SYNC] = LOAD_FLUSH,
        [RECORDING_MPI] = LOAD_SLEEP,   [RECORDING_BARRIER] = LOAD_COLL,
    };
    const struct profile_program *p = l->priv;
    struct replay_request q;
    uint64_t ps;

    (void)now_ps;
    switch (replay_next(rank, &p->rec, &ps, &q)) {
    case REPLAY_COMPUTE:
        ret->ps = ps;
        return LOAD_COMPUTE;
    case REPLAY_END:
        return LOAD_END;
    default:
        ret->file = q.phase->file;
        ret->offset = q.offset;
        ret->bytes = q.bytes;
        ret->ps = q.io_ps; /* of MPI: its messages are not recorded, its time passes */
        ret->mode = LOAD_MODE_ANY;
        ret->coll = LOAD_BARRIER;
        ret->group = load_group_all(l->ranks);
        return kinds[q.phase->op];
    }
}

/* What was assumed, as a line that the program printed. */
static bool profile_finish(struct load *l, const struct load_out *out, struct wr_err *err)
{
    const struct profile_program *p = l->priv;
    const struct profile_params *par = l->params;
    const struct recording *r = &p->rec;
    uint64_t all = r->n[RECORDING_READ] + r->n[RECORDING_WRITE];
    struct wr_str line = {0};
    bool ok = true;

    wr_str_addf(&line,
                "replayed from %s: %" PRIu64 " reads and writes, the order and time of %" PRIu64
                " measured",
                par->file, all, r->measured);
    if (r->measured < all)
        wr_str_addf(&line, ", of %" PRIu64 " assumed: %s", all - r->measured,
                    r->slices ? "evenly within slices, one file for each rank or for all"
                              : "evenly within the bins of a heatmap, or from first to last");
    if (r->calls_assumed)
        wr_str_add(&line, "; bytes without calls as requests of 1 MiB");
    if (r->n[RECORDING_MPI])
        wr_str_add(&line, "; time in MPI passes as recorded, without messages");
    if (out->text)
        ok = out->text(out->ctx, 0, 0, wr_str_get(&line), err);
    wr_str_fini(&line);
    return ok;
}

const struct load_ops load_profile = {
    .kind = {"profile", "recorded jobs: run files of profiles and Darshan logs", profile_rows,
             sizeof(struct profile_params)},
    .open = profile_open,
    .close = profile_close,
    .rank_init = profile_rank_init,
    .next = profile_next,
    .finish = profile_finish,
};
