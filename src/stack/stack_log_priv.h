/* stack_log_priv.h -- what the readers of logs share.
 */
#ifndef STACK_LOG_PRIV_H
#define STACK_LOG_PRIV_H

#include <stdio.h>

#include "stack/stack_log.h"

/* Counts a fault; the first is kept with its place. */
static inline void stack_log_fault(struct stack_log *log, uint64_t *count, const char *name,
                                   uint64_t line, size_t column, const char *what)
{
    if (!log->cut && !log->jumps)
        snprintf(log->fault, sizeof log->fault, "%s:%llu:%zu: %s", name, (unsigned long long)line,
                 column, what);
    ++*count;
}

/* Takes a call that moves data; false: it is another. */
bool log_data(struct stack_log *log, uint32_t node, const char *function, double start, double took,
              uint64_t moved, uint16_t test);

void log_run_ended(struct stack_log *log, const char *name, uint16_t test);
/* A line of a table into cells; how many. */
enum { LOG_CELLS = 20 };
int log_cells(char *line, char *cell[LOG_CELLS]);

/* The machine that a function is known by: MPI's names for large counts end with _c; of data,
 * _read or _write stand behind the name. */
uint16_t log_function(const struct stack_fs *fs, const char *name, uint8_t *ret_io);

#endif
