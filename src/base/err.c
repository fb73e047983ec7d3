#include "base/err.h"

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

bool(wr_fail_errno)(struct wr_err *err, const char *fmt, ...)
{
    const char *why = strerror(errno);
    va_list ap;

    err->code = WR_SYSTEM;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    char *advice = err->text + strlen(err->text), rest[sizeof err->text];

    for (char *s = err->text; (s = strstr(s, "; ")); s++)
        advice = s;
    memcpy(rest, advice, strlen(advice) + 1);
    snprintf(advice, sizeof err->text - (size_t)(advice - err->text), ": %s%s", why, rest);
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
        [WR_BUG] = 3,  [WR_SYSTEM] = 4, [WR_INTERRUPTED] = 130,
    };

    return status[code];
}
