/* kernel.h -- what the kernel counts of a process, and which processes a job has. */
#ifndef PROF_KERNEL_H
#define PROF_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct prof_io {
    uint64_t rchar, wchar, syscr, syscw;
};

bool prof_kernel_io(pid_t pid, struct prof_io *ret);
/* When it started, in ticks after boot, and its parent; false: it is gone. */
bool prof_kernel_stat(pid_t pid, uint64_t *ret_start, pid_t *ret_parent);
/* Is the library loaded there? A forked child that has done nothing yet has it, and no profile. */
/* Is the process that began at `start` still there? A zombie does nothing any more, unless it is a
 * first thread that ended before the others. `start` 0: not known. */
enum prof_life { PROF_GONE, PROF_ZOMBIE, PROF_RUNS };
enum prof_life prof_kernel_life(pid_t pid, uint64_t start);
bool prof_kernel_has_library(pid_t pid);
/* What it executes. */
void prof_kernel_exe(pid_t pid, char *ret, size_t room);
/* The descendants of root, root first; at most `room`. */
size_t prof_kernel_family(pid_t root, pid_t *ret, size_t room);

#endif
