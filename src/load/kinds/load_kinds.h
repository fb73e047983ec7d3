/* load_kinds.h -- the workloads that a job's `program:` may name.
 *
 * This module sees all workloads. Modules that parse or list programs use it; a workload sees only
 * the contract in load/load.h.
 */
#ifndef LOAD_KINDS_LOAD_KINDS_H
#define LOAD_KINDS_LOAD_KINDS_H

#include "load/load.h"

extern const struct load_ops *const load_table[];  /* ends with NULL */
extern const struct conf_kind *const load_kinds[]; /* the same, for configuration rows */

#endif
