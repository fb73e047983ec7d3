/* energy.c -- energy counters of the processor packages, from the kernel's powercap files. */
#include "rpc/energy.h"

#include <assert.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

static bool energy_read_number(const char *path, uint64_t *ret)
{
    FILE *f = fopen(path, "r");
    unsigned long long v;

    if (!f)
        return false;
    bool ok = fscanf(f, "%llu", &v) == 1;

    fclose(f);
    if (ok)
        *ret = v;
    return ok;
}

/* Zones whose name begins with "package": what is below them is in them already. */
static bool energy_is_package(const char *zone)
{
    char path[320], name[32] = "";
    FILE *f;

    snprintf(path, sizeof path, "%s/name", zone);
    if (!(f = fopen(path, "r")))
        return false;
    if (!fgets(name, sizeof name, f))
        name[0] = '\0';
    fclose(f);
    return !strncmp(name, "package", 7);
}

static void energy_add_zone(struct rpc_energy *e, const char *zone)
{
    char path[320];
    uint64_t now, range = 0;
    uint32_t k = e->npackages;

    if (k == RPC_PACKAGES || !energy_is_package(zone))
        return;
    snprintf(path, sizeof path, "%s/max_energy_range_uj", zone);
    energy_read_number(path, &range);
    snprintf(path, sizeof path, "%s/energy_uj", zone);
    if (!energy_read_number(path, &now))
        return;
    snprintf(e->package[k].path, sizeof e->package[k].path, "%.299s", path);
    e->package[k].range_uj = range;
    e->package[k].last_uj = now;
    e->npackages++;
}

bool rpc_energy_open(struct rpc_energy *ret, const char *root)
{
    struct rpc_energy e = {.npackages = 0};
    struct dirent *each;

    DIR *dir = opendir(root);

    while (dir && (each = readdir(dir))) {
        char zone[300];

        if (each->d_name[0] == '.' ||
            snprintf(zone, sizeof zone, "%s/%s", root, each->d_name) >= (int)sizeof zone)
            continue;
        energy_add_zone(&e, zone);
    }
    if (dir)
        closedir(dir);
    if (!e.npackages)
        return false;
    *ret = e;
    return true;
}

double rpc_energy_read(struct rpc_energy *e)
{
    assert(e->npackages <= RPC_PACKAGES);
    for (uint32_t i = 0; i < e->npackages; i++) {
        uint64_t now, last = e->package[i].last_uj;

        if (!energy_read_number(e->package[i].path, &now))
            continue;
        e->joules +=
            1e-6 * (double)(now >= last ? now - last : now + e->package[i].range_uj - last);
        e->package[i].last_uj = now;
    }
    return e->joules;
}
