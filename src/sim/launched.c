/* launched.c -- finds the launcher of this process by its environment, and loads the shared object
 * of that launcher's MPI (sim/mpi). Called once, by the verb that runs a simulation. */
#include "sim/launched.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/self.h"

/* The environment variable that each launcher sets. The first row whose variable is set is used.
 * The shared object "mpi" is the one that the site's mpicc built, if that is neither Open MPI nor
 * MPICH. */
static const struct launcher {
    const char *variable;
    bool counts;        /* its value is the number of processes */
    const char *mpi[4]; /* shared objects to try, in this order */
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", true, {"openmpi", "mpi"}},
    {"PMI_SIZE", true, {"mpich", "mpi"}},
    {"PMIX_RANK", false, {"openmpi", "mpi", "mpich"}},
};

static const struct launcher *launched_find_launcher(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *value = getenv(launchers[i].variable);

        if (value)
            return launchers[i].counts && strtoul(value, NULL, 10) < 2 ? NULL : &launchers[i];
    }
    return NULL;
}

static bool launched_open_object(struct sim_link **ret, const char *path, struct wr_err *err)
{
    char why[200] = "";
    /* RTLD_GLOBAL: an MPI loads plug-ins of its own, which must find its symbols. */
    void *object = dlopen(path, RTLD_NOW | RTLD_GLOBAL);

    if (!object)
        return wr_fail(err, WR_SYSTEM, "cannot load %s: %s; is that MPI installed here?", path,
                       dlerror());
    sim_link_open *open = (sim_link_open *)dlsym(object, SIM_LINK_OPEN);
    struct sim_link *link = open ? open(SIM_LINK_ABI, why, sizeof why) : NULL;

    if (!open)
        return wr_fail(err, WR_INPUT, "%s has no %s: it is no link of weir; correct WEIR_MPI", path,
                       SIM_LINK_OPEN);
    if (!link)
        return wr_fail(err, WR_SYSTEM, "%s: %s", path, why);
    *ret = link;
    return true;
}

static bool launched_open_named(struct sim_link **ret, const char *mpi, bool *found,
                                struct wr_err *err)
{
    struct wr_str path = {0};
    char leaf[80];

    snprintf(leaf, sizeof leaf, "libweir-link-%.40s.so", mpi);
    *found = wr_self_find_library(&path, leaf);
    bool ok = *found && launched_open_object(ret, path.s, err);

    wr_str_fini(&path);
    return ok;
}

bool sim_link_launched(struct sim_link **ret, struct wr_err *err)
{
    const struct launcher *l = launched_find_launcher();
    const char *given = getenv("WEIR_MPI");
    struct sim_link *link = NULL;
    bool found = false, ok = true;

    if (!l) {
        *ret = NULL;
        return true;
    }
    if (given && strchr(given, '/')) {
        found = true;
        ok = launched_open_object(&link, given, err);
    } else if (given)
        ok = launched_open_named(&link, given, &found, err);
    for (size_t i = 0; !given && !found && l->mpi[i]; i++)
        ok = launched_open_named(&link, l->mpi[i], &found, err);
    if (!found)
        return wr_fail(err, WR_SYSTEM,
                       "started by a launcher of %s, but libweir-link-%s.so is not installed with "
                       "weir; build weir where that MPI's mpicc is, or start it without a launcher",
                       given ? given : l->mpi[0], given ? given : l->mpi[0]);
    if (!ok)
        return false;
    if (link->size == 1) {
        link->ops->close(link, true);
        link = NULL;
    }
    *ret = link;
    return true;
}
