/* team.c -- a simulation in several processes: between two runs of the engine, process 0 gathers
 * the counters of the others, decides how to continue, and broadcasts the decision.
 *
 *   process 0                          the others
 *   sim_engine_run ...................... sim_engine_run       to the same time
 *   accounts of their partitions  <---  packed             world_meet
 *   whether it needs everything   --->
 *   [ everything                  <---  packed ]           once in a run
 *   decides
 *   its decision                  --->                     world_follow
 */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/signals.h"
#include "sim/peers.h"
#include "world_priv.h"

static void team_pack_shares(const struct world *w, bool all, struct wr_bytes *out)
{
    uint32_t first = sim_engine_first(w->engine), local = sim_engine_local(w->engine);

    wr_bytes_u64(out, wr_interrupted());
    for (uint32_t i = first; i < first + local; i++) {
        struct wr_bytes packed = {0};

        world_pack_partition(w, i, all, &packed);
        wr_bytes_u64(out, i);
        wr_bytes_u64(out, packed.n);
        wr_bytes_put(out, packed.v, packed.n);
        wr_bytes_fini(&packed);
    }
}

struct taking {
    struct world *w;
    bool all, ok, interrupted;
    struct wr_err *err;
};

static void team_take_shares(void *ctx, uint32_t from, const void *data, size_t bytes)
{
    struct taking *t = ctx;
    struct wr_reader in = {.at = data, .end = (const unsigned char *)data + bytes};

    (void)from;
    t->interrupted |= wr_read_u64(&in);
    while (t->ok && in.at < in.end) {
        uint32_t i = (uint32_t)wr_read_below(&in, t->w->npartitions);
        size_t n = wr_read_count(&in, 1);

        t->ok = world_take_partition(t->w, i, t->all, in.at, n, t->err);
        in.at += n;
    }
}

static bool team_gather(struct world *w, bool all, bool *interrupted, struct wr_err *err)
{
    struct taking t = {.w = w, .all = all, .ok = true, .interrupted = wr_interrupted(), .err = err};
    struct wr_bytes out = {0};

    if (!world_leads(w))
        team_pack_shares(w, all, &out);
    bool ok = sim_peers_gather(w->peers, out.v, out.n, team_take_shares, &t, err) && t.ok;

    wr_bytes_fini(&out);
    w->whole |= all;
    *interrupted = t.interrupted;
    return ok;
}

/* Process 0 must say why a run cannot continue; for that it may need everything of the others. */
static bool team_must_know(const struct world *w)
{
    if (!w->rank || w->whole)
        return false;
    enum ranks_state state = ranks_state(w->rank);

    return state == RANKS_STUCK || state == RANKS_FAILED;
}

bool world_meet(struct world *w, bool all, bool *ret_interrupted, struct wr_err *err)
{
    uint64_t more;

    if (!w->peers) {
        *ret_interrupted = wr_interrupted();
        return true;
    }
    if (!team_gather(w, all, ret_interrupted, err))
        return false;
    more = world_leads(w) && team_must_know(w);
    if (!sim_peers_broadcast(w->peers, &more, sizeof more, err))
        return false;
    bool ignored;

    return !more || team_gather(w, true, &ignored, err);
}

struct verdict {
    uint64_t unfinished;
    uint32_t code; /* enum wr_code; WR_NONE: go on */
};

bool world_follow(struct world *w, bool ok, struct wr_err *err)
{
    struct verdict v = {.unfinished = w->meter.unfinished, .code = ok ? WR_NONE : err->code};

    if (!w->peers)
        return ok;
    if (!sim_peers_broadcast(w->peers, &v, sizeof v, err))
        return false;
    w->meter.unfinished = v.unfinished;
    if (ok && v.code != WR_NONE)
        return wr_fail(err, (enum wr_code)v.code, "process 0 has ended the run; see what it said");
    return ok;
}
