/* offer.c -- which of a machine's NICs may be taken.
 *
 * A node has NICs that no process of a job should take: Ethernet for management beside InfiniBand
 * or Slingshot. Candidates are, the first that applies:
 *
 *   only      those whose names the user's patterns match
 *   offers    those that libfabric offers (offer_fabric.c), by device, interface or PCI address
 *   fabric    those with a device of a fabric, if any has one
 *
 * The others stay in the machine's list, with the reason, so that the numbers of NICs are the same
 * for all processes of a job, whatever each may take.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "rpc/nic/nic.h"

uint32_t nic_candidates(const struct nic_machine *m)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->nnics; i++)
        n += !m->nic[i].left_out;
    return n;
}

static bool offer_same(const char *a, const char *b)
{
    return *a && !strcmp(a, b);
}

static bool offer_is_of(const struct nic_offer *o, const struct nic *nic)
{
    return offer_same(o->device, nic->fabric) || offer_same(o->device, nic->name) ||
           offer_same(o->domain, nic->fabric) || offer_same(o->domain, nic->name) ||
           offer_same(o->pci, nic->pci);
}

/* False: of offers for none of these NICs, as those of shared memory, nothing follows. */
static bool offer_keep_offered(struct nic_machine *m, const struct nic_offer *o, size_t n)
{
    bool offered[NIC_MOST] = {false}, any = false;

    for (uint32_t i = 0; i < m->nnics; i++)
        for (size_t k = 0; k < n; k++)
            any |= offered[i] |= offer_is_of(&o[k], &m->nic[i]);
    for (uint32_t i = 0; any && i < m->nnics; i++)
        m->nic[i].left_out = offered[i] ? NULL : "libfabric does not offer it";
    return any;
}

static void offer_keep_fabric(struct nic_machine *m)
{
    bool any = false;

    for (uint32_t i = 0; i < m->nnics; i++)
        any |= m->nic[i].fabric[0] != '\0';
    for (uint32_t i = 0; any && i < m->nnics; i++)
        m->nic[i].left_out = m->nic[i].fabric[0] ? NULL : "no device of a fabric";
}

/* One pattern, of the interface or of the fabric's device. */
static bool offer_matches(const struct nic *nic, const char *pattern)
{
    return !fnmatch(pattern, nic->name, 0) || (nic->fabric[0] && !fnmatch(pattern, nic->fabric, 0));
}

/* "hsn*,!hsn3": matched by one that has no '!' (or there is none such), and by none that has. */
static bool offer_named(const struct nic *nic, const char *only)
{
    bool wanted = false, refused = false, any = false;

    for (const char *at = only; *at;) {
        size_t n = strcspn(at, ",");
        bool inverted = *at == '!';
        char pattern[64];

        snprintf(pattern, sizeof pattern, "%.*s", (int)(n - inverted), at + inverted);
        if (inverted)
            refused |= offer_matches(nic, pattern);
        else
            wanted |= offer_matches(nic, pattern);
        any |= !inverted;
        at += n + (at[n] == ',');
    }
    return (wanted || !any) && !refused;
}

static bool offer_keep_named(struct nic_machine *m, const char *only, struct wr_err *err)
{
    for (uint32_t i = 0; i < m->nnics; i++)
        m->nic[i].left_out = offer_named(&m->nic[i], only) ? NULL : "its name does not match";
    if (m->nnics && !nic_candidates(m))
        return wr_fail(err, WR_INPUT,
                       "none of the %u NICs is called \"%s\"; the first is %s, and `weir roofline "
                       "nics` can list all",
                       m->nnics, wr_text_clip(only).s, m->nic[0].name);
    return true;
}

bool nic_restrict(struct nic_machine *m, const char *only, const struct nic_offer *o, size_t n,
                  struct wr_err *err)
{
    if (only && *only)
        return offer_keep_named(m, only, err);
    if (!offer_keep_offered(m, o, n))
        offer_keep_fabric(m);
    return true;
}
