/* kernel.h -- the kernel's counters and state of a process, and the processes of a job, from /proc.
 */
#ifndef PROF_KERNEL_H
#define PROF_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "prof/form/io.h"

/* I/O counters, with those of the children that it has waited for. */
bool prof_kernel_io(pid_t pid, struct prof_io *ret);
/* I/O counters of its running threads only. */
bool prof_kernel_own(pid_t pid, struct prof_io *ret);
/* Its state at this moment, as a record of its end; `now_ns` is the wall clock. */
bool prof_kernel_child(struct prof_child *ret, pid_t pid, int64_t now_ns);
/* Start time in clock ticks after boot, and parent; false: it is gone. */
bool prof_kernel_stat(pid_t pid, uint64_t *ret_start, pid_t *ret_parent);
/* The state of the process that started at `start` (0: not known). A zombie does nothing any more,
 * unless it is a main thread that ended before the others. */
enum prof_life { PROF_GONE, PROF_ZOMBIE, PROF_RUNS };
enum prof_life prof_kernel_life(pid_t pid, uint64_t start);
/* Whether libweir-prof.so is mapped there. A forked child that has made no call yet has the library
 * and no profile. */
bool prof_kernel_has_library(pid_t pid);
/* Its number in the PID namespace of its parent; whether it is in another than this process. */
pid_t prof_kernel_seen_by(pid_t pid, pid_t parent, bool *ret_nested);
/* Its PID namespace; 0: not known. */
uint32_t prof_kernel_pid_ns(pid_t pid);
/* Its executable; "" when it is gone. */
void prof_kernel_exe(pid_t pid, char *ret, size_t cap);
/* The number of the newest process: it changes whenever one is made. `fd`: /proc/loadavg; 0: not
 * known. */
uint64_t prof_kernel_newest(int fd);
size_t prof_kernel_children(pid_t pid, pid_t *ret, size_t cap);
/* root and its descendants, root first; at most `cap`. */
size_t prof_kernel_family(pid_t root, pid_t *ret, size_t cap);

#endif
