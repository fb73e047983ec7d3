/* meter.c -- set-up of meters, their sums, and their transfer between processes; see meter.h. */
#include "meter/meter.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

void meter_init(struct meter *m, uint32_t nnodes, uint64_t from_ps, uint64_t to_ps)
{
    assert(from_ps <= to_ps);
    *m = (struct meter){.nnodes = nnodes, .window_from_ps = from_ps, .window_to_ps = to_ps};
    m->node = wr_alloc_pages(nnodes, sizeof *m->node);
    m->latency = wr_zalloc_aligned(METER_NEARS, sizeof *m->latency);
    m->packet = wr_zalloc_aligned(1, sizeof *m->packet);
}

void meter_fini(struct meter *m)
{
    wr_free_pages(m->node, m->nnodes, sizeof *m->node);
    free(m->latency);
    free(m->packet);
    *m = (struct meter){0};
}

void meter_init_share(struct meter *m, const struct meter *whole)
{
    assert(whole->node);
    meter_init(m, 0, whole->window_from_ps, whole->window_to_ps);
    m->node = whole->node;
    m->nnodes = whole->nnodes;
}

void meter_fini_share(struct meter *m)
{
    m->node = NULL;
    meter_fini(m);
}

void meter_clear(struct meter *m)
{
    m->window_sent_b = m->window_recvd_b = m->measured = m->unfinished = 0;
    for (int i = 0; i < METER_NEARS; i++)
        m->latency[i] = (struct wr_hist){0};
    *m->packet = (struct wr_hist){0};
}

/* `unfinished` is counted up where a message is sent and down where it arrives. */
void meter_add(struct meter *whole, const struct meter *share)
{
    assert(whole != share && whole->node == share->node);
    whole->window_sent_b += share->window_sent_b;
    whole->window_recvd_b += share->window_recvd_b;
    whole->measured += share->measured;
    whole->unfinished += share->unfinished;
    for (int i = 0; i < METER_NEARS; i++)
        wr_hist_merge(&whole->latency[i], &share->latency[i]);
    wr_hist_merge(whole->packet, share->packet);
}

enum { NODE_WORDS = sizeof(struct meter_node) / sizeof(uint64_t) };
_Static_assert(sizeof(struct meter_node) == NODE_WORDS * sizeof(uint64_t), "64-bit words");

void meter_pack_accounts(const struct meter *m, const uint8_t *partition_of, uint32_t me,
                         struct wr_bytes *out)
{
    wr_bytes_u64(out, m->window_sent_b);
    wr_bytes_u64(out, m->window_recvd_b);
    wr_bytes_u64(out, m->measured);
    wr_bytes_u64(out, m->unfinished);
    for (int i = 0; i < METER_NEARS; i++)
        wr_bytes_hist(out, &m->latency[i]);
    wr_bytes_hist(out, m->packet);
    for (uint32_t i = 0; i < m->nnodes; i++)
        if (partition_of[i] == me)
            wr_bytes_many(out, (const uint64_t *)&m->node[i], NODE_WORDS);
}

void meter_take_accounts(struct meter *m, const uint8_t *partition_of, uint32_t me,
                         struct wr_reader *in)
{
    m->window_sent_b = wr_read_u64(in);
    m->window_recvd_b = wr_read_u64(in);
    m->measured = wr_read_u64(in);
    m->unfinished = wr_read_u64(in);
    for (int i = 0; i < METER_NEARS; i++)
        wr_read_hist(in, &m->latency[i]);
    wr_read_hist(in, m->packet);
    for (uint32_t i = 0; i < m->nnodes; i++)
        if (partition_of[i] == me)
            wr_read_many(in, (uint64_t *)&m->node[i], NODE_WORDS);
}

void meter_all(const struct meter *m, struct wr_hist *ret)
{
    *ret = m->latency[0];
    for (int i = 1; i < METER_NEARS; i++)
        wr_hist_merge(ret, &m->latency[i]);
}

double meter_accepted(const struct meter *m, double window_ps)
{
    double sum = 0;

    if (window_ps > 0)
        return (double)m->window_recvd_b / window_ps * 1e12 / m->nnodes;
    for (uint32_t i = 0; i < m->nnodes; i++) {
        const struct meter_node *n = &m->node[i];

        if (n->t_last_ps > n->t_first_ps)
            sum += (double)(n->bytes_recvd - n->first_bytes) /
                   (double)(n->t_last_ps - n->t_first_ps) * 1e12;
    }
    return sum / m->nnodes;
}
