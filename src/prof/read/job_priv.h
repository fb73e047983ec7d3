/* job_priv.h -- what the parts that lay profiles on one grid share. */
#ifndef PROF_READ_JOB_PRIV_H
#define PROF_READ_JOB_PRIV_H

#include "prof/read/job.h"

/* A place for an entity; mounts and files of the same name share one. Takes the name. */
uint32_t prof_job_entity(struct prof_job *j, enum prof_entity_kind kind, char *name);
char *prof_job_name(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A line more of what is wrong with single files. */
void prof_job_warn(struct prof_job *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Times of a machine whose clock was set in between, on the clock as it was first; and what remains
 * between machines (clocks.c). */
void prof_job_align(struct prof_job *j);
void prof_job_check_clocks(struct prof_job *j);

/* Numbers the threads of each process (threads.c). `proc_of`: by file. */
void prof_job_threads(struct prof_job *j, const size_t *proc_of);

/* Programs and libraries that call paths lead through, opened when they are met (modules.c). */
struct prof_modules;
struct prof_modules *prof_modules_open(void);
void prof_modules_close(struct prof_modules *m);
/* "call:main>save>put": the outermost function first. */
char *prof_modules_path(struct prof_modules *m, const struct prof_file *f, uint32_t row);

#endif
