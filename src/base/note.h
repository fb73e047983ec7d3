/* note.h -- what a command says on standard error besides its errors: notes, progress and the names
 * of the files that it wrote.
 *
 * A quiet command (`-q`) says none of it. The command line sets this once, before the verb runs.
 */
#ifndef BASE_NOTE_H
#define BASE_NOTE_H

#include <stdbool.h>

void wr_note_set_quiet(bool quiet);
bool wr_note_is_quiet(void);

/* One line, "weir: " and the text; nothing when the command is quiet. What a user must know because
 * a result is missing is an error, not a note. */
void wr_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
