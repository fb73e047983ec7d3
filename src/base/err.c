/* err.c -- the text and code of an error.
 *
 * A struct wr_err is the caller's. Functions here write at most its size and never allocate, so an
 * error can be reported when memory is short.
 */
#include "base/err.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool(wr_fail)(struct wr_err *err, enum wr_code code, const char *fmt, ...)
{
    va_list ap;

    err->code = code;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    return false;
}

/* errno goes before the advice. */
__attribute__((format(printf, 3, 0))) static void err_add_errno(struct wr_err *err, int why,
                                                                const char *fmt, va_list ap)
{
    err->code = WR_SYSTEM;
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    char *advice = err->text + strlen(err->text), rest[sizeof err->text];

    for (char *s = err->text; (s = strstr(s, "; ")); s++)
        advice = s;
    memcpy(rest, advice, strlen(advice) + 1);
    snprintf(advice, sizeof err->text - (size_t)(advice - err->text), ": %s%s", strerror(why),
             rest);
}

bool(wr_fail_errno)(struct wr_err *err, const char *fmt, ...)
{
    int why = errno;
    va_list ap;

    va_start(ap, fmt);
    err_add_errno(err, why, fmt, ap);
    va_end(ap);
    return false;
}

bool(wr_fail_read)(struct wr_err *err, const char *fmt, ...)
{
    static const int leads_nowhere[] = {ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG, ENXIO};
    int why = errno;
    va_list ap;

    va_start(ap, fmt);
    err_add_errno(err, why, fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < sizeof leads_nowhere / sizeof *leads_nowhere; i++)
        if (why == leads_nowhere[i])
            err->code = WR_INPUT;
    return false;
}

bool(wr_wrap)(struct wr_err *err, const char *fmt, ...)
{
    char inner[sizeof err->text];
    va_list ap;

    memcpy(inner, err->text, sizeof inner);
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    size_t n = strlen(err->text);
    snprintf(err->text + n, sizeof err->text - n, ": %s", inner);
    return false;
}

int wr_exit_status(enum wr_code code)
{
    static const int status[] = {
        [WR_NONE] = 0, [WR_CHECK] = 1,  [WR_INPUT] = 2,         [WR_UNKNOWN] = 2,
        [WR_BUG] = 3,  [WR_SYSTEM] = 4, [WR_INTERRUPTED] = 130, [WR_EXISTS] = 2,
    };

    assert((size_t)code < sizeof status / sizeof *status);
    return status[code];
}
