/* counters.h -- counters of the processor, or of the kernel, for single threads of other processes.
 *
 * PAPI is opened when counters are requested, and attached from the launcher: the profiled program
 * gets no extra descriptor, memory or call.
 */
#ifndef PROF_COUNTERS_H
#define PROF_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "prof/form/form.h"

struct prof_counters;

/* "PAPI_TOT_INS,PAPI_TOT_CYC". All of them are tried on this process; the error says why one
 * cannot be counted here. */
bool prof_counters_open(struct prof_counters **ret, const char *list, struct wr_err *err);
void prof_counters_close(struct prof_counters *c); /* NULL is fine */

size_t prof_counters_n(const struct prof_counters *c);
const char *prof_counters_name(const struct prof_counters *c, size_t i);

/* Starts counting; false: it cannot be counted (prof_counters_missed). */
bool prof_counters_attach(struct prof_counters *c, uint32_t tid, int *ret_handle);
/* The counts since it was attached, also after the thread has ended. */
bool prof_counters_read(struct prof_counters *c, int handle, uint64_t value[PROF_COUNTERS]);
void prof_counters_detach(struct prof_counters *c, int handle);

/* How many threads could not be counted, and why the first of them. */
size_t prof_counters_missed(const struct prof_counters *c, const char **ret_why);

#endif
