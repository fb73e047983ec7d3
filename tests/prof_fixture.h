/* prof_fixture.h -- runs a command under the profiler and reads what is left. */
#ifndef PROF_FIXTURE_H
#define PROF_FIXTURE_H

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prof/launch.h"
#include "prof/read/profile_job.h"

/* Tests are run in the build directory. */
#define FIXTURE_WAYS "tests/prof-ways"
#define FIXTURE_LIB "lib/libweir-prof.so"

struct fixture {
    char dir[64], profiles[96], data[96];
    char lib[PATH_MAX], ways[PATH_MAX];
    uint32_t callers;    /* as asked for; set after fixture_open */
    uint64_t capacity_b; /* of running processes' profiles; 0: the usual */
    struct prof_counters *counters;
    const char *sockets;
};

/* What only /proc shows is not tested where it is not mounted. */
__attribute__((unused)) static void fixture_needs_proc(const char *what)
{
    if (!access("/proc/self/stat", R_OK))
        return;
    print_message("skipped: %s, and /proc is not mounted\n", what);
    skip();
}

static void fixture_clear(const char *dir)
{
    DIR *d = opendir(dir);

    for (struct dirent *e; d && (e = readdir(d));)
        unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}

static void fixture_open(struct fixture *l)
{
    l->callers = 0;
    l->capacity_b = 0;
    l->counters = NULL;
    l->sockets = NULL;
    snprintf(l->dir, sizeof l->dir, "weir-lab-XXXXXX");
    assert_non_null(mkdtemp(l->dir));
    snprintf(l->profiles, sizeof l->profiles, "%s/profiles", l->dir);
    snprintf(l->data, sizeof l->data, "%s/data", l->dir);
    assert_int_equal(mkdir(l->profiles, 0700), 0);
    assert_int_equal(mkdir(l->data, 0700), 0);
    assert_non_null(realpath(FIXTURE_LIB, l->lib));
    assert_non_null(realpath(FIXTURE_WAYS, l->ways));
}

static void fixture_close(struct fixture *l)
{
    fixture_clear(l->profiles);
    fixture_clear(l->data);
    rmdir(l->profiles);
    rmdir(l->data);
    rmdir(l->dir);
}

/* The job's profile; the data it left is removed. Returns the exit status. */
static int fixture_run(struct fixture *l, struct prof_job *ret, char **argv, const char *clock,
                       uint64_t slice_ns, uint32_t files)
{
    struct prof_launch launch = {.argv = argv,
                                 .lib = l->lib,
                                 .dir = l->profiles,
                                 .job = "lab",
                                 .clock = clock,
                                 .slice_ns = slice_ns,
                                 .files = files,
                                 .callers = l->callers,
                                 .capacity_b = l->capacity_b,
                                 .sockets = l->sockets,
                                 .counters = l->counters};
    struct wr_err err = {0};
    struct prof_hold hold;
    int status = -1;

    *ret = (struct prof_job){0};
    prof_hold_begin(&hold);
    bool ran = prof_launch(&launch, &hold, &status, &err);

    prof_hold_end(&hold);
    if (!ran || !prof_job_read(ret, l->profiles, &err))
        print_error("%s\n", err.text);
    assert_int_equal(err.code, WR_NONE);
    fixture_clear(l->profiles);
    fixture_clear(l->data);
    return status;
}

__attribute__((unused)) static int fixture_way(struct fixture *l, struct prof_job *ret,
                                               const char *way, const char *clock)
{
    char *argv[] = {l->ways, (char *)way, l->data, NULL};

    return fixture_run(l, ret, argv, clock, 50000000, 0);
}

static double fixture_total(const struct prof_job *j, unsigned m)
{
    return j->entities.v[j->apps.v[0].entity].total[m];
}

#endif
