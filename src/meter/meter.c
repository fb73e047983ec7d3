#include "meter/meter.h"

#include <stdlib.h>

#include "base/mem.h"

void meter_init(struct meter *m, uint32_t nnodes, uint64_t from_ps, uint64_t to_ps)
{
    *m = (struct meter){.nnodes = nnodes, .window_from_ps = from_ps, .window_to_ps = to_ps};
    m->node = wr_zalloc_aligned(nnodes, sizeof *m->node);
    m->latency = wr_zalloc_aligned(METER_NEARS, sizeof *m->latency);
    m->packet = wr_zalloc_aligned(1, sizeof *m->packet);
}

void meter_fini(struct meter *m)
{
    free(m->node);
    free(m->latency);
    free(m->packet);
    *m = (struct meter){0};
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
