/* signals.h -- Ctrl-C ends long work cleanly; a crash says whose fault it is.
 *
 * Work that can stop half-way and keep what it has calls wr_interrupt_catch() first and
 * polls wr_interrupted() now and then. The first Ctrl-C (or SIGTERM, which a
 * batch system sends before it kills) sets the flag; a second one, a quarter of a second later or
 * more, ends the process at once, as without a handler. A verb that never calls
 * wr_interrupt_catch() ends with the first.
 */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

#include <stdbool.h>

void wr_interrupt_catch(void);
void wr_interrupt_release(void); /* the first one ends the process again; clears the flag */
bool wr_interrupted(void);       /* cheap: a load */

/* `path` is removed when a signal ends the process, until it is taken back. The text is the
 * caller's, and stays where it is meanwhile. */
void wr_temporary_add(const char *path);
void wr_temporary_remove(const char *path);

/* A file that grew too long (ulimit -f) is an error to report, not an end. */
void wr_xfsz_ignore(void);
/* In a child, before it executes another program: that as it was found. */
void wr_xfsz_restore(void);

/* From here on a failed assertion or a fault ends with status 3 (our bug) and
 * a request to report it. Sanitizers keep their own reports. */
void wr_crash_explain(void);

#endif
