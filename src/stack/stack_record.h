/* stack_record.h -- a simulated test becomes a run file: the views stack_* of
 * docs/formats/run-file.md.
 *
 * `weir stack run -o` and the runs of a study call it.
 */
#ifndef STACK_STORE_H
#define STACK_STORE_H

#include "run/run.h"
#include "stack/stack_drive.h"

/* The layer that costs most, in words; also when nothing cost anything. */
void stack_bottleneck(const struct stack_fs *fs, const struct stack_counts *k, struct wr_str *out);

/* Samples the first operation of each kind while the engine runs. stack_firsts_of() sets the file
 * system before the first operation begins. */
struct stack_firsts;
struct stack_firsts *stack_firsts_open(void);
void stack_firsts_of(struct stack_firsts *s, const struct stack_fs *fs);
void stack_firsts_close(struct stack_firsts *s);
struct stack_hooks stack_firsts_hooks(struct stack_firsts *s);

/* Everything that there is to say of it. `sample` may be NULL. */
bool stack_record(struct run *run, const struct stack_setup *setup, const struct stack_drive *drive,
                  const struct stack_firsts *sample, struct wr_err *err);

#endif
