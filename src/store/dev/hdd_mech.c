/* hdd_mech.c -- seek curve, zones, rotation and transfer, after Parsons and Pai ("A mathematical
 * hard disk timing model for full system simulation", ISPASS 2013). */
#include <assert.h>
#include <math.h>

#include "hdd_priv.h"

static bool hdd_zones_open(struct hdd_mech *m, const struct hdd_params *p, struct wr_err *err)
{
    const struct hdd_zone_params *z = p->zones.items;
    double turns = 60.0 / p->rpm, share = 0;

    assert(p->zones.n <= HDD_MOST_ZONES);
    for (size_t i = 0; i < p->zones.n; i++) {
        struct hdd_zone *to = &m->zone[i];

        share += z[i].share;
        to->first_b = i ? m->zone[i - 1].end_b : 0;
        to->end_b = i + 1 == p->zones.n ? p->capacity : (uint64_t)(share * (double)p->capacity);
        to->track_b = z[i].rate * turns;
        to->first_cyl = m->cylinders;
        if (share > 1 + 1e-9 || to->end_b <= to->first_b || to->end_b > p->capacity)
            return wr_fail(err, WR_INPUT,
                           "the zones up to number %zu have %.6g %% of the disk; give shares "
                           "whose sum is 100 %%",
                           i + 1, share * 100);
        m->cylinders += (double)(to->end_b - to->first_b) / (to->track_b * p->heads);
    }
    m->nzones = (uint32_t)p->zones.n;
    if (fabs(share - 1) > 1e-9)
        return wr_fail(err, WR_INPUT,
                       "the zones have %.6g %% of the disk; give shares whose sum is 100 %%",
                       share * 100);
    return true;
}

/* Through (1, track) and (a third, average) with a root, then straight to (all, full): the
 * average seek is by custom that over a third of the cylinders. */
static bool hdd_curve_open(struct hdd_mech *m, const struct hdd_seek_params *s, struct wr_err *err)
{
    double third = m->cylinders / 3;

    if (!(third > 2))
        return wr_fail(err, WR_INPUT,
                       "the disk has %.3g cylinders; give it more capacity, fewer heads or a "
                       "lower rate",
                       m->cylinders);
    if (s->track > s->average || s->average > s->full)
        return wr_fail(err, WR_INPUT,
                       "seek times must grow: track %g ms, average %g ms, full %g ms; order them",
                       s->track * 1e-9, s->average * 1e-9, s->full * 1e-9);
    m->b = (s->average - s->track) / (sqrt(third) - 1);
    m->a = s->track - m->b;
    m->e = (s->full - s->average) / (m->cylinders - third);
    m->c = s->average - m->e * third;
    m->write_ps = s->write;
    return true;
}

bool hdd_mech_open(struct hdd_mech *ret, const struct hdd_params *p, struct wr_err *err)
{
    struct hdd_mech m = {
        .heads = p->heads, .capacity = p->capacity, .turn_ps = dev_ps(60e12 / p->rpm)};

    if (!hdd_zones_open(&m, p, err) || !hdd_curve_open(&m, &p->seek, err))
        return false;
    *ret = m;
    return true;
}

/* A seek over d cylinders, in picoseconds. */
static double hdd_seek_ps(const struct hdd_mech *m, double d)
{
    assert(d >= 0);
    if (d < 1)
        return 0;
    return d <= m->cylinders / 3 ? m->a + m->b * sqrt(d) : m->c + m->e * d;
}

static const struct hdd_zone *hdd_zone(const struct hdd_mech *m, uint64_t offset_b)
{
    uint32_t i = 0;

    while (i + 1 < m->nzones && offset_b >= m->zone[i].end_b)
        i++;
    return &m->zone[i];
}

static double hdd_cylinder(const struct hdd_mech *m, uint64_t offset_b)
{
    const struct hdd_zone *z = hdd_zone(m, offset_b);

    return z->first_cyl + floor((double)(offset_b - z->first_b) / (z->track_b * m->heads));
}

uint64_t hdd_transfer_ps(const struct hdd_mech *m, uint64_t offset_b, uint64_t bytes)
{
    double turns = 0;

    while (bytes) {
        const struct hdd_zone *z = hdd_zone(m, offset_b);
        uint64_t here = z->end_b > offset_b ? z->end_b - offset_b : bytes;

        here = here < bytes ? here : bytes;
        turns += (double)here / z->track_b;
        bytes -= here;
        offset_b += here;
    }
    return dev_ps(turns * (double)m->turn_ps);
}

uint64_t hdd_position_ps(const struct hdd_mech *m, uint64_t t_ps, uint64_t offset_b, bool write)
{
    assert(m->turn_ps > 0);
    /* The head is there already and nothing has turned away. */
    if (t_ps == m->free_ps && offset_b == m->at_b)
        return 0;
    const struct hdd_zone *z = hdd_zone(m, offset_b);
    double seek = hdd_seek_ps(m, fabs(hdd_cylinder(m, offset_b) - m->cyl));
    double tracks = (double)(offset_b - z->first_b) / z->track_b;
    uint64_t seek_ps = dev_ps(seek > 0 && write ? seek + m->write_ps : seek);
    uint64_t want = (uint64_t)((tracks - floor(tracks)) * (double)m->turn_ps);
    uint64_t angle = (t_ps + seek_ps + m->phase_ps) % m->turn_ps;

    return seek_ps + (want + m->turn_ps - angle) % m->turn_ps;
}

uint64_t hdd_access(struct hdd_mech *m, uint64_t t_ps, uint64_t offset_b, uint64_t bytes,
                    bool write)
{
    uint64_t start = dev_later(t_ps, m->free_ps);

    m->seeks += hdd_cylinder(m, offset_b) != m->cyl;
    start += hdd_position_ps(m, start, offset_b, write);
    m->free_ps = start + hdd_transfer_ps(m, offset_b, bytes);
    m->at_b = offset_b + bytes;
    m->cyl = hdd_cylinder(m, bytes ? m->at_b - 1 : m->at_b);
    return m->free_ps;
}
