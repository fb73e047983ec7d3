/* profile_job_priv.h -- shared by the files that build a prof_job, in the order of its steps. */
#ifndef PROF_READ_PROFILE_JOB_PRIV_H
#define PROF_READ_PROFILE_JOB_PRIV_H

#include "prof/read/profile_job.h"

/* The index of an entity, added if new; mounts and files of one name are one entity. Takes the
 * name. */
uint32_t prof_job_entity(struct prof_job *j, enum prof_entity_kind kind, char *name);
char *prof_job_name(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Adds a warning. */
void prof_job_warn(struct prof_job *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Aligns times of a machine whose clock was set; checks clocks between machines (clocks.c). */
void prof_job_align(struct prof_job *j);
void prof_job_check_clocks(struct prof_job *j);

/* outside.c: keeps the ends of processes in a file; adds profiles of processes that left none;
 * after processes are numbered, computes the balance with the kernel's counters. */
void prof_job_ends(struct prof_job *j, const struct prof_file *f);
/* The launcher does not see the profiles of processes in PID namespaces, and may count such a
 * process by the kernel although it has the library: those are dropped, the others get the number
 * of the process's own profile. Files are to be sorted again. */
void prof_job_nested(struct prof_job *j);
void prof_job_outside(struct prof_job *j);
void prof_job_balance(struct prof_job *j, const size_t *proc_of);

/* Numbers the threads of each process (threads.c). `proc_of`: by file. */
void prof_job_threads(struct prof_job *j, const size_t *proc_of);

/* ELF files of call paths, opened when needed (modules.c). */
struct prof_modules;
struct prof_modules *prof_modules_open(void);
void prof_modules_close(struct prof_modules *m);
/* "call:main>save>put": the outermost function first. */
char *prof_modules_path(struct prof_modules *m, const struct prof_file *f, uint32_t row);

#endif
