/* hwloc.c -- packages, NUMA nodes and NICs, as hwloc sees them. */
#include <assert.h>
#include <errno.h>
#include <hwloc.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "rpc/nic/nic.h"

bool nic_have_hwloc(void)
{
    return true;
}

static void hwloc_copy_set(struct nic_cpus *into, hwloc_const_bitmap_t set)
{
    unsigned cpu;

    if (!set || hwloc_bitmap_weight(set) < 0) /* all there are: nothing is known */
        return;
    hwloc_bitmap_foreach_begin(cpu, set) if (cpu < NIC_CPUS) nic_cpus_add(into, cpu);
    hwloc_bitmap_foreach_end();
}

static void hwloc_place_cpus(uint16_t *place, hwloc_topology_t t, hwloc_obj_type_t type)
{
    uint16_t number = 0;

    for (size_t i = 0; i < NIC_CPUS; i++)
        place[i] = NIC_NOWHERE;
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(t, type, o)); number++)
        for (uint32_t cpu = 0; cpu < NIC_CPUS; cpu++)
            if (hwloc_bitmap_isset(o->cpuset, cpu))
                place[cpu] = number;
}

static struct nic *hwloc_nic_of_parent(struct nic_machine *m, const char *pci)
{
    for (uint32_t i = 0; *pci && i < m->nnics; i++)
        if (!strcmp(m->nic[i].pci, pci))
            return &m->nic[i];
    return NULL;
}

/* The interface and the fabric's device of one PCI function are one NIC. */
static void hwloc_add_nic(struct nic_machine *m, hwloc_topology_t t, hwloc_obj_t dev)
{
    assert(m->nnics <= NIC_MOST);
    hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(t, dev), up = dev->parent;
    char pci[NIC_NAME] = "";
    bool fabric = dev->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS;

    if (up && up->type == HWLOC_OBJ_PCI_DEVICE)
        snprintf(pci, sizeof pci, "%04x:%02x:%02x.%x", (unsigned)up->attr->pcidev.domain,
                 up->attr->pcidev.bus, up->attr->pcidev.dev, up->attr->pcidev.func);
    struct nic *nic = hwloc_nic_of_parent(m, pci);

    if (!nic) {
        if (m->nnics == NIC_MOST)
            return;
        nic = &m->nic[m->nnics++];
        memcpy(nic->pci, pci, sizeof pci);
        hwloc_copy_set(&nic->local, near->cpuset);
    }
    snprintf(fabric ? nic->fabric : nic->name, NIC_NAME, "%s", dev->name ? dev->name : "");
}

/* Of a machine whose NICs hang nowhere, as in many virtual ones, the interfaces stand alone. */
static bool hwloc_is_nic(hwloc_obj_t dev, bool with_pci)
{
    bool kind = dev->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK ||
                dev->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS;

    return kind && (!with_pci || (dev->parent && dev->parent->type == HWLOC_OBJ_PCI_DEVICE));
}

static void hwloc_find_nics(struct nic_machine *m, hwloc_topology_t t)
{
    for (int with_pci = 1; with_pci >= 0 && !m->nnics; with_pci--)
        for (hwloc_obj_t o = NULL; (o = hwloc_get_next_osdev(t, o));)
            if (hwloc_is_nic(o, with_pci))
                hwloc_add_nic(m, t, o);
    for (uint32_t i = 0; i < m->nnics; i++)
        if (!m->nic[i].name[0])
            memcpy(m->nic[i].name, m->nic[i].fabric, NIC_NAME);
}

/* hwloc shows no interface that has no hardware, as those of containers: these are near to all
 * CPUs. */
static void hwloc_find_interfaces(struct nic_machine *m)
{
    struct ifaddrs *all = NULL;

    if (getifaddrs(&all))
        return;
    for (const struct ifaddrs *i = all; i && m->nnics < NIC_MOST; i = i->ifa_next) {
        bool up = (i->ifa_flags & (IFF_UP | IFF_LOOPBACK)) == IFF_UP;
        struct nic *nic = &m->nic[m->nnics];

        if (!up || !i->ifa_addr || i->ifa_addr->sa_family != AF_INET)
            continue;
        snprintf(nic->name, sizeof nic->name, "%s", i->ifa_name);
        nic->local = m->cpus;
        m->nnics += !m->nnics || strcmp(nic[-1].name, nic->name) != 0; /* one address is enough */
    }
    freeifaddrs(all);
}

static int hwloc_by_pci(const void *a, const void *b)
{
    const struct nic *x = a, *y = b;
    int order = strcmp(x->pci, y->pci);

    return order ? order : strcmp(x->name, y->name);
}

static bool hwloc_load_topology(hwloc_topology_t t, const char *xml, struct wr_err *err)
{
    hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (xml && hwloc_topology_set_xml(t, xml))
        return wr_fail(err, WR_INPUT, "%s: hwloc cannot read it; make one with `lstopo FILE.xml`",
                       xml);
    if (hwloc_topology_load(t))
        return wr_fail(err, xml ? WR_INPUT : WR_SYSTEM,
                       "%s: hwloc finds no topology; make a file with `lstopo FILE.xml`",
                       xml ? xml : "this machine");
    return true;
}

bool nic_machine_open(struct nic_machine **ret, const char *xml, struct wr_err *err)
{
    hwloc_topology_t t;

    if (hwloc_topology_init(&t))
        return wr_fail(err, WR_SYSTEM, "hwloc does not start; check its installation");
    bool ok = hwloc_load_topology(t, xml, err);

    if (ok) {
        struct nic_machine *m = wr_zalloc(1, sizeof *m);

        hwloc_copy_set(&m->cpus, hwloc_topology_get_topology_cpuset(t));
        hwloc_place_cpus(m->package, t, HWLOC_OBJ_PACKAGE);
        hwloc_place_cpus(m->numa, t, HWLOC_OBJ_NUMANODE);
        hwloc_find_nics(m, t);
        if (!xml && !m->nnics)
            hwloc_find_interfaces(m);
        qsort(m->nic, m->nnics, sizeof m->nic[0], hwloc_by_pci);
        *ret = m;
    }
    hwloc_topology_destroy(t);
    return ok;
}
