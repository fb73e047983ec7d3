/* nic/cpus.c -- sets of CPUs: counting, parsing and writing lists such as 0-3,8. */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "rpc/nic/nic.h"

uint32_t nic_cpus_count(const struct nic_cpus *c)
{
    uint32_t n = 0;

    for (size_t i = 0; i < NIC_CPUS / 64; i++)
        n += (uint32_t)__builtin_popcountll(c->w[i]);
    return n;
}

uint32_t nic_cpus_nth(const struct nic_cpus *c, uint32_t n)
{
    for (uint32_t cpu = 0; cpu < NIC_CPUS; cpu++)
        if (nic_cpus_has(c, cpu) && !n--)
            return cpu;
    return 0;
}

static bool cpus_number(uint32_t *ret, const char **at)
{
    char *end;

    if (!isdigit((unsigned char)**at))
        return false;
    unsigned long v = strtoul(*at, &end, 10);

    if (v >= NIC_CPUS)
        return false;
    *ret = (uint32_t)v;
    *at = end;
    return true;
}

bool nic_cpus_parse(struct nic_cpus *ret, const char *text, struct wr_err *err)
{
    struct nic_cpus c = {{0}};
    const char *at = text;

    do {
        uint32_t from, to;

        if (!cpus_number(&from, &at))
            break;
        to = from;
        if (*at == '-') {
            at++;
            if (!cpus_number(&to, &at) || to < from)
                break;
        }
        for (uint32_t cpu = from; cpu <= to; cpu++)
            nic_cpus_add(&c, cpu);
        if (!*at) {
            *ret = c;
            return true;
        }
    } while (*at++ == ',');
    return wr_fail(err, WR_INPUT,
                   "\"%s\" is not a list of CPUs below %d; write it as in 0-3,8", /* no more */
                   wr_text_clip(text).s, NIC_CPUS);
}

void nic_cpus_text(const struct nic_cpus *c, char *into, size_t size)
{
    size_t n = 0;

    assert(size);
    into[0] = '\0';
    for (uint32_t cpu = 0; cpu < NIC_CPUS && n < size; cpu++) {
        uint32_t to = cpu;

        if (!nic_cpus_has(c, cpu))
            continue;
        while (nic_cpus_has(c, to + 1))
            to++;
        n += (size_t)snprintf(into + n, size - n, "%s%u", n ? "," : "", cpu);
        if (to > cpu && n < size)
            n += (size_t)snprintf(into + n, size - n, "-%u", to);
        cpu = to;
    }
}
