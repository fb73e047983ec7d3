/* cause.c -- dividing time over causes.
 *
 * Pure functions of the accounts that callers own (ps[CAUSES], in picoseconds). What they add
 * always sums to the length of the interval that was divided.
 */
#include "base/cause.h"

#include <stddef.h>

const char *const cause_names[] = {
    [CAUSE_COMPUTE] = "compute",           [CAUSE_IDLE] = "idle",
    [CAUSE_SOFTWARE] = "software",         [CAUSE_TRANSFER] = "transfer",
    [CAUSE_NETWORK] = "network",           [CAUSE_NIC] = "nic",
    [CAUSE_PARTNER] = "partner",           [CAUSE_DEVICE] = "device",
    [CAUSE_DEVICE_QUEUE] = "device_queue", [CAUSE_DEVICE_OTHERS] = "device_others",
    [CAUSE_RESERVE] = "reserve",           [CAUSES] = NULL,
};

void cause_split(uint64_t *ps, uint64_t from_ps, uint64_t end_ps, const struct cause_trip *t)
{
    const struct {
        uint64_t until;
        enum cause cause;
    } leg[] = {
        {t->begin_ps, CAUSE_PARTNER}, {t->post_ps, CAUSE_SOFTWARE},
        {t->first_ps, CAUSE_NIC},     {t->first_ps + t->idle_ps, CAUSE_TRANSFER},
        {end_ps, CAUSE_NETWORK},
    };

    for (size_t i = 0; i < sizeof leg / sizeof *leg && from_ps < end_ps; i++) {
        uint64_t until = leg[i].until < end_ps ? leg[i].until : end_ps;

        if (until > from_ps) {
            ps[leg[i].cause] += until - from_ps;
            from_ps = until;
        }
    }
}

void cause_share(uint64_t *ps, uint64_t len_ps, const uint64_t *part, uint64_t whole_ps)
{
    uint64_t left = len_ps;

    for (int i = 0; whole_ps && i < CAUSES; i++) {
        uint64_t share = len_ps == whole_ps
                             ? part[i]
                             : (uint64_t)((unsigned __int128)len_ps * part[i] / whole_ps);

        share = share < left ? share : left;
        ps[i] += share;
        left -= share;
    }
    ps[CAUSE_SOFTWARE] += left;
}
