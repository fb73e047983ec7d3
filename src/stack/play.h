/* play.h -- a program of another language (coNCePTuaL) drives clients, one event after another.
 *
 *   load.h next()  ──stack_play_next──>  the events that stack_drive.h understands
 *
 * What a task does with files, its computing and sleeping, and collectives of all tasks (as
 * barriers) are simulated. Accesses that a program lets go on in the background are waited for.
 * Messages between tasks are not: a program that sends some is refused where it does.
 */
#ifndef STACK_PLAY_H
#define STACK_PLAY_H

#include "load/ior/ior.h"
#include "stack/stack_engine.h"

struct stack_play;

enum { STACK_PLAY_FILES = 1 << 16 }; /* that a program may use */

/* Whether the first word of a command names a program. */
bool stack_play_knows(const char *command);

/* `command`: the program's file, then its options. */
bool stack_play_open(struct stack_play **ret, const char *command, uint32_t tasks, uint64_t seed,
                     struct wr_err *err);
void stack_play_close(struct stack_play *p);

/* The next event of a task; `sleep_ns` of IOR_SLEEP. Files that are read before a task wrote them
 * are there, and long enough. IOR_END also when it cannot go on; then stack_play_failed says why.
 */
enum ior_op stack_play_next(struct stack_play *p, struct stack_engine *e, uint32_t task,
                            uint64_t now_ps, struct ior_event *ret, uint64_t *ret_sleep_ns);
/* Fails with what a program asked for that cannot be played; true: nothing. */
bool stack_play_failed(const struct stack_play *p, struct wr_err *err);

#endif
