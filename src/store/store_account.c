/* store_account.c -- the counters of a partition as bytes, for a process that did not execute it.
 *
 * The process that gathers the results unpacks them into its own copy of the partition, where they
 * would be if it had executed it. Called when no partition runs.
 */
#include <assert.h>
#include <stddef.h>

#include "store_priv.h"

/* Where a number is, and how wide: 8 or 4 bytes. */
struct place {
    size_t at, size;
};

#define PLACE(type, member)                                               \
    {                                                                     \
        offsetof(struct type, member), sizeof(((struct type *)0)->member) \
    }

static const struct place disk_places[] = {
    PLACE(store_disk, until_ps),
    PLACE(store_disk, busy_ps),
    PLACE(store_disk, queue_ps),
    PLACE(store_disk, queue_since_ps),
    PLACE(store_disk, reads),
    PLACE(store_disk, writes),
    PLACE(store_disk, read_b),
    PLACE(store_disk, written_b),
    PLACE(store_disk, queue),
    PLACE(store_disk, queue_most),
    PLACE(store_disk, dev.seeks),
    PLACE(store_disk, dev.assumed),
    {0},
};

static const struct place site_places[] = {
    PLACE(store_site, requests),        PLACE(store_site, crowded),
    PLACE(store_site, buf.used_b),      PLACE(store_site, buf.dirty_b),
    PLACE(store_site, buf.used_most_b), PLACE(store_site, buf.inflight_b),
    PLACE(store_site, buf.waiting),     PLACE(store_site, buf.in_b),
    PLACE(store_site, buf.out_b),       PLACE(store_site, buf.absorbed_b),
    PLACE(store_site, buf.evicted_b),   PLACE(store_site, buf.hit_b),
    PLACE(store_site, buf.miss_b),      PLACE(store_site, buf.waits),
    PLACE(store_site, buf.wait_ps),     {0},
};

static const struct place app_places[] = {
    PLACE(store_app, read_b), PLACE(store_app, written_b), PLACE(store_app, asked_b), {0}};

static const struct place own_places[] = {
    PLACE(store, through_b),    PLACE(store, kept_b),      PLACE(store, tasks.used),
    PLACE(store, reqs.used),    PLACE(store, slots.used),  PLACE(store, tasks.peak),
    PLACE(store, reqs.peak),    PLACE(store, slots.peak),  PLACE(store, spans.peak),
    PLACE(store, entries.peak), PLACE(store, ranges.peak), {0},
};

static void account_pack(const void *thing, const struct place *p, struct wr_bytes *out)
{
    for (; p->size; p++) {
        const char *at = (const char *)thing + p->at;

        wr_bytes_u64(out, p->size == 8 ? *(const uint64_t *)at : *(const uint32_t *)at);
    }
}

static void account_unpack(void *thing, const struct place *p, struct wr_reader *in)
{
    for (; p->size; p++) {
        char *at = (char *)thing + p->at;
        uint64_t x = wr_read_u64(in);

        if (p->size == 8)
            *(uint64_t *)at = x;
        else
            *(uint32_t *)at = (uint32_t)x;
    }
}

static bool store_account_owns(const struct store *s, uint32_t site)
{
    return !s->partitions || s->partitions->partition_of[s->site[site].node] == s->me;
}

static void account_pack_app(const struct store_app *a, struct wr_bytes *out)
{
    account_pack(a, app_places, out);
    wr_bytes_many(out, a->calls, STORE_OP_KINDS);
    wr_bytes_many(out, a->ended_ps, STORE_OP_KINDS);
    wr_bytes_many(out, a->since_ps, STORE_OP_KINDS);
    for (int k = 0; k < STORE_OP_KINDS; k++)
        wr_bytes_u64(out, a->inflight[k]);
    for (int c = 0; c < STORE_CLASSES; c++)
        wr_bytes_hist(out, &a->latency[c]);
}

static void account_unpack_app(struct store_app *a, struct wr_reader *in)
{
    assert(a->latency);
    account_unpack(a, app_places, in);
    wr_read_many(in, a->calls, STORE_OP_KINDS);
    wr_read_many(in, a->ended_ps, STORE_OP_KINDS);
    wr_read_many(in, a->since_ps, STORE_OP_KINDS);
    for (int k = 0; k < STORE_OP_KINDS; k++)
        a->inflight[k] = (uint32_t)wr_read_u64(in);
    for (int c = 0; c < STORE_CLASSES; c++)
        wr_read_hist(in, &a->latency[c]);
}

void store_pack_accounts(const struct store *s, struct wr_bytes *out)
{
    assert(!s->partitions || s != s->partitions->whole);
    account_pack(s, own_places, out);
    for (uint32_t i = 0; i < s->napps; i++)
        account_pack_app(&s->app[i], out);
    for (uint32_t i = 0; i < s->nsites; i++)
        if (store_account_owns(s, i))
            account_pack(&s->site[i], site_places, out);
    for (uint32_t i = 0; i < s->ndisks; i++)
        if (store_account_owns(s, s->disk[i].site))
            account_pack(&s->disk[i], disk_places, out);
}

void store_take_accounts(struct store *s, struct wr_reader *in)
{
    assert(!s->partitions || s != s->partitions->whole);
    store_audit_away(s);
    account_unpack(s, own_places, in);
    for (uint32_t i = 0; i < s->napps; i++)
        account_unpack_app(&s->app[i], in);
    for (uint32_t i = 0; i < s->nsites; i++)
        if (store_account_owns(s, i))
            account_unpack(&s->site[i], site_places, in);
    for (uint32_t i = 0; i < s->ndisks; i++)
        if (store_account_owns(s, s->disk[i].site))
            account_unpack(&s->disk[i], disk_places, in);
}
