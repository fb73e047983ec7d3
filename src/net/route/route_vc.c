/* route_vc.c -- the channel schemes, and why none of them can deadlock.
 *
 * Every argument has the same form: give each (link, channel) a rank such that
 * any two consecutive hops of any packet have increasing ranks. Then the
 * dependency graph has no cycle.
 *
 * SEGMENTS (machines of groups). A path visits groups; the local hops in the
 * i-th group and the global link that leaves it are segment i. Rank, first by
 * segment, then local before global:
 *
 *     L0 < G0 < L1 < G1 < L2 < ...
 *
 * A packet enters the next segment when it crosses a global link or turns at
 * its intermediate router, and never goes back. What remains is the order
 * among the local hops of one segment:
 *   - direct: a segment has at most one local hop;
 *   - classes: hops have ascending link class, so rank by class;
 *   - leaves: terminals are on leaves only, so a segment that starts at a leaf
 *     goes up (and ends, or leaves the group, or goes down), and one that
 *     starts at a spine, behind a global link, goes down (and ends, or goes up
 *     and leaves). The first kind ranks up < down, the second down < up, and a
 *     segment number is always of the same kind;
 *   - counted: the j-th local hop of a segment has a channel of its own.
 *
 * STUDY (machines of groups, as the reference study numbers them). Local hops
 * so far (0 or 1) in the source group, 2 in the intermediate group, 3 in the
 * destination group; traffic inside a group 0, then 1:
 *
 *     L0 < L1 < G0 < G1 < L2 < G2 < L3
 *
 * The link to a terminal may have channels, too; a terminal takes what comes, so they depend on
 * nothing. That traffic from the same router is on channel 0 and from the same group on 1 follows
 * from the study's timings of Checkpoint; for traffic from other groups, 1 when it comes straight
 * over a global link and 0 after a local hop fits its MILC best (docs/models/mfnetsim.md).
 *
 * A packet that turns away from the minimal path does so at a router with a
 * global link of its own or at its first router, so there are at most as many
 * local hops in the source group as the group is wide.
 *
 * DATELINE (rings of a torus in dimension order). 0 while the packet has still
 * to cross the cable between the last and the first router of its ring, 1
 * otherwise (Dally & Seitz 1987; here without a bit in the packet, from where it
 * is and where it goes). Going up a ring of k:
 *
 *     (0,vc0) < (1,vc0) < .. < (k-1,vc0) < (0,vc1) < (1,vc1) < .. < (k-2,vc1)
 *
 * The cable at k-1 is never used on channel 1: a packet there on channel 1 has arrived.
 * Going down is the mirror on the other links. Dimensions are visited in
 * order, so rank by dimension first. Lines that are not rings (mesh) and
 * all-to-all lines (hyperx) are the same without the second half.
 *
 * UP AND DOWN (trees; one channel). Routers have ranks, a link to a higher rank
 * goes up. A path goes up, then down: up links by rank, then down links by
 * falling rank.
 *
 * COUNTED (anything). The channel is the number of hops made so far: every hop
 * ranks above the one before. It needs as many channels as the longest path has
 * hops.
 *
 * TWO WALKS. By an intermediate router, the first walk uses one set of channels
 * and the second another, ranked above; each is one of the schemes above.
 */
#include "route_vc_priv.h"

#include <assert.h>

#include "net/route/route.h"
#include "route_groups_priv.h"

bool route_vc_fits(uint32_t nvcs, const char *instead, struct wr_err *err)
{
    if (nvcs <= ROUTE_MAX_VCS)
        return true;
    return wr_fail(err, WR_INPUT,
                   "it would need %u virtual channels and routers have at most %d; use `kind: %s`",
                   nvcs, ROUTE_MAX_VCS, instead);
}

bool route_vc_segments(struct route_group_vcs *ret, uint32_t segments, uint32_t each,
                       struct wr_err *err)
{
    assert(segments && each);
    if (!route_vc_fits(segments * each, "table", err))
        return false;
    ret->nvcs = segments * each;
    ret->ejects = false;
    for (uint32_t state = 0; state < 256; state++) {
        uint32_t segment = state & GROUPS_SEGMENT;
        uint32_t local = (state & ~GROUPS_LAST) / GROUPS_LOCAL;
        uint32_t vc = segment * each + (local < each ? local : each - 1);

        ret->vc[0][state] = ret->vc[1][state] = (uint8_t)vc;
    }
    return true;
}

void route_vc_study(struct route_group_vcs *ret)
{
    ret->nvcs = 4;
    ret->ejects = true;
    for (uint32_t state = 0; state < 256; state++) {
        uint32_t segment = state & GROUPS_SEGMENT;
        bool moved = (state & ~GROUPS_LAST) >= GROUPS_LOCAL;

        ret->vc[0][state] = segment == 0 ? moved : 2;
        ret->vc[1][state] = segment == 0 ? moved : 3;
        ret->eject[state] = segment == 0 ? moved : !moved;
    }
}
