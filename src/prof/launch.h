/* launch.h -- runs a command with libweir-prof.so preloaded and samples it. */
#ifndef PROF_LAUNCH_H
#define PROF_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct prof_counters;

enum { PROF_CAPACITY_B = 64 << 20 };

struct prof_launch {
    char **argv;                    /* the command, ends with NULL */
    const char *lib;                /* libweir-prof.so; NULL: where it was built or installed */
    const char *dir;                /* of the profiles; exists */
    const char *job;                /* its name */
    const char *clock;              /* "sampled", "coarse", "precise" */
    uint64_t slice_ns;              /* 0: adaptive, grows with the job's age (form.h) */
    uint32_t files;                 /* rows for files; 0: none */
    struct prof_counters *counters; /* of the processor; NULL: none */
    uint32_t callers;               /* record this many callers of each call; 0: none */
    const char *sockets; /* connections that count as storage (lib/socket.c); NULL: none */
    uint64_t capacity_b; /* limit on the files of running processes; 0: PROF_CAPACITY_B */
};

/* Between prof_hold_begin and prof_hold_end SIGINT, SIGTERM and SIGHUP are blocked; prof_launch
 * forwards them to the command. So the run file is always written. */
struct prof_hold {
    sigset_t before; /* signal mask of the command */
    int fd;
};

void prof_hold_begin(struct prof_hold *h);
void prof_hold_end(struct prof_hold *h);

/* Runs the command to its end; SIGINT, SIGTERM and SIGHUP are passed on to it. `ret_status`: as a
 * shell would give it. */
bool prof_launch(const struct prof_launch *l, const struct prof_hold *hold, int *ret_status,
                 struct wr_err *err);

#endif
