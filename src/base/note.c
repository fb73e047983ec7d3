/* note.c -- prints notes unless the command is quiet (note.h).
 *
 * The flag is the process's, as its standard error is; threads read it only.
 */
#include "base/note.h"

#include <stdarg.h>
#include <stdio.h>

static bool note_quiet;

void wr_note_set_quiet(bool quiet)
{
    note_quiet = quiet;
}

bool wr_note_is_quiet(void)
{
    return note_quiet;
}

void wr_note(const char *fmt, ...)
{
    va_list args;

    if (note_quiet)
        return;
    flockfile(stderr); /* a line stays whole when threads write */
    fputs("weir: ", stderr);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    funlockfile(stderr);
}
