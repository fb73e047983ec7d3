/* store.h -- a simulated test becomes a run file: the views stack_* of docs/formats/run-file.md. */
#ifndef STACK_STORE_H
#define STACK_STORE_H

#include "run/run.h"
#include "stack/drive.h"

/* The layer that costs most, in words; also when nothing cost anything. */
void stack_bottleneck(const struct stack_fs *fs, const struct stack_counts *k, struct wr_str *out);

/* What a state costs itself: its work, and its waiting for storage or data. */
uint64_t stack_own_ns(const struct stack_fs *fs, uint16_t state, const struct stack_sum *sum);

/* The first operation of each kind, kept while it happens. The file system is told before the first
 * of them begins. */
struct stack_firsts;
struct stack_firsts *stack_firsts_open(void);
void stack_firsts_of(struct stack_firsts *s, const struct stack_fs *fs);
void stack_firsts_close(struct stack_firsts *s);
struct stack_hooks stack_firsts_hooks(struct stack_firsts *s);

/* Everything that there is to say of it. `sample` may be NULL. */
bool stack_store(struct run *run, const struct stack_setup *setup, const struct stack_drive *drive,
                 const struct stack_firsts *sample, struct wr_err *err);

#endif
