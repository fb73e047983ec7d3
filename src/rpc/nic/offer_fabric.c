/* offer_fabric.c -- what libfabric offers: the devices of the provider that it would take. */
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/nic/nic.h"

/* Opened when it is wanted: some of its drivers take 0.2 s to look for their hardware. */
struct offer_library {
    int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
                   const struct fi_info *hints, struct fi_info **ret);
    void (*freeinfo)(struct fi_info *info);
    struct fi_info *(*dupinfo)(const struct fi_info *info);
};

static bool offer_open_library(struct offer_library *lib)
{
    static const char *const names[] = {"fi_getinfo", "fi_freeinfo", "fi_dupinfo"};
    void *const at[] = {&lib->getinfo, &lib->freeinfo, &lib->dupinfo};
    void *so = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);

    for (int i = 0; i < 3; i++) {
        void *symbol = so ? dlsym(so, names[i]) : NULL;

        if (!symbol)
            return false;
        memcpy(at[i], &symbol, sizeof symbol);
    }
    return true;
}

static void offer_take(struct nic_offer *o, const struct fi_info *i)
{
    const struct fid_nic *nic = i->nic;

    *o = (struct nic_offer){.domain = ""};
    if (i->domain_attr && i->domain_attr->name)
        snprintf(o->domain, sizeof o->domain, "%s", i->domain_attr->name);
    if (nic && nic->device_attr && nic->device_attr->name)
        snprintf(o->device, sizeof o->device, "%s", nic->device_attr->name);
    if (nic && nic->bus_attr && nic->bus_attr->bus_type == FI_BUS_PCI) {
        const struct fi_pci_attr *p = &nic->bus_attr->attr.pci;

        snprintf(o->pci, sizeof o->pci, "%04x:%02x:%02x.%x", p->domain_id, p->bus_id, p->device_id,
                 p->function_id);
    }
}

static bool offer_same_provider(const struct fi_info *a, const struct fi_info *b)
{
    return !strcmp(a->fabric_attr->prov_name, b->fabric_attr->prov_name);
}

/* libfabric lists the provider that it prefers first; slower ones that come after it, as TCP over
 * the same machine's Ethernet, are not what a process would take. */
size_t nic_offers(struct nic_offer *ret, size_t most, const char *provider)
{
    struct offer_library lib;
    struct fi_info *hints, *all = NULL;
    size_t n = 0;

    if (!offer_open_library(&lib))
        return 0;
    hints = lib.dupinfo(NULL);
    hints->caps = FI_MSG | FI_RMA;
    hints->ep_attr->type = FI_EP_RDM;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    if (provider && *provider)
        hints->fabric_attr->prov_name = strdup(provider);
    if (!lib.getinfo(FI_VERSION(1, 14), NULL, NULL, 0, hints, &all))
        for (const struct fi_info *i = all; i && n < most; i = i->next)
            if (offer_same_provider(i, all))
                offer_take(&ret[n++], i);
    lib.freeinfo(hints);
    if (all)
        lib.freeinfo(all);
    return n;
}
