/* launch.h -- a command with libweir-prof.so preloaded, sampled from here while it runs. */
#ifndef PROF_LAUNCH_H
#define PROF_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct prof_counters;

enum { PROF_ROOM_B = 64 << 20 };

struct prof_launch {
    char **argv;       /* the command, ends with NULL */
    const char *lib;   /* libweir-prof.so; NULL: where it was built or installed */
    const char *dir;   /* of the profiles; exists */
    const char *job;   /* its name */
    const char *clock; /* "sampled", "coarse", "precise" */
    uint64_t slice_ns;
    uint32_t files;                 /* rows for files; 0: none */
    struct prof_counters *counters; /* of the processor; NULL: none */
    uint32_t callers;               /* tell so many callers of each call; 0: none */
    uint64_t room_b;                /* for profiles of running processes; 0: PROF_ROOM_B */
};

/* From here on signals that would end this process wait for the launch, which passes them on, and
 * for what follows it: nothing is left half-done. */
struct prof_hold {
    sigset_t before; /* what the command gets */
    int fd;
};

void prof_hold_begin(struct prof_hold *h);
void prof_hold_end(struct prof_hold *h);

/* Runs the command to its end; SIGINT, SIGTERM and SIGHUP are passed on to it. `ret_status`: as a
 * shell would give it. */
bool prof_launch(const struct prof_launch *l, const struct prof_hold *hold, int *ret_status,
                 struct wr_err *err);

/* The library, as it is found from where the program lies. */
bool prof_find_library(struct wr_str *ret, struct wr_err *err);

#endif
