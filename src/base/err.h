/* err.h -- errors carry context outward.
 *
 * A function that can fail returns bool and takes a `struct wr_err *` last.
 * The place that finds the fault calls wr_fail() once; each caller that knows
 * more adds its context in front with wr_wrap(). Out-parameters stay untouched
 * on failure. Assertions are only for our own mistakes.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

enum wr_code {
    WR_NONE = 0,
    WR_CHECK,       /* a check the user asked for did not hold */
    WR_INPUT,       /* the user's input is wrong */
    WR_UNKNOWN,     /* a name that no table has (also the user's input) */
    WR_BUG,         /* our mistake */
    WR_SYSTEM,      /* the machine said no: disk, memory, permission */
    WR_INTERRUPTED, /* the user pressed Ctrl-C; what was done is kept */
    WR_EXISTS,      /* an output is there already and WR_FORCE would replace it (the user's input);
                     * the text ends with what to do, to which cli adds the option */
};

struct wr_err {
    enum wr_code code;
    char text[2048];
};

/* Both return false, so that `return wr_fail(...)` reads as one sentence. */
bool wr_fail(struct wr_err *err, enum wr_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool wr_wrap(struct wr_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* errno as text follows after ": ", before the advice, which is what comes after the
 * last "; ". */
bool wr_fail_errno(struct wr_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same, after a file could not be read: a name that leads nowhere (it is not there, it is a
 * directory) is the user's input, the rest is the system's. */
bool wr_fail_read(struct wr_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* That they return false is known where they are called, to compilers and
 * analysers too: what a failure left untouched is then not taken for read. */
static inline bool wr_false(bool always)
{
    (void)always;
    return false;
}
#define wr_fail(...) wr_false(wr_fail(__VA_ARGS__))
#define wr_wrap(...) wr_false(wr_wrap(__VA_ARGS__))
#define wr_fail_errno(...) wr_false(wr_fail_errno(__VA_ARGS__))
#define wr_fail_read(...) wr_false(wr_fail_read(__VA_ARGS__))

/* The process exit status for an error: 1 check, 2 input, 3 bug, 4 system. */
int wr_exit_status(enum wr_code code);

#endif
