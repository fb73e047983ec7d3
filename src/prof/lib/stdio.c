/* stdio.c -- streams: counted where the program calls, not where the buffer is flushed.
 *
 * Calls that the C library makes internally cannot be intercepted, so nothing is
 * counted twice. Characters that a compiler puts into the buffer itself (putc_unlocked and
 * getc_unlocked as macros) pass unseen.
 */
/* The functions themselves, not the headers' inline versions of them. */
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1
#endif
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib_priv.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

#undef putc
#undef getc
#undef putchar
#undef getchar
#undef putc_unlocked
#undef getc_unlocked
#undef putchar_unlocked
#undef getchar_unlocked
#undef fputc_unlocked
#undef fgetc_unlocked
#undef fread_unlocked
#undef fwrite_unlocked

/* Without fileno(), which sets errno for streams that have no descriptor. */
LIB_HOT uint32_t stdio_row(FILE *f)
{
    return f ? lib_fd(f->_fileno) : PROF_ROW_OTHER;
}

/* STREAM(type, fputs, WRITE, stream, bytes after the call in r, prototype, arguments) */
#define STREAM(type, name, op, f, bytes, proto, args)              \
    LIB_API type name proto                                        \
    {                                                              \
        struct lib_call c = lib_begin(PROF_##op, stdio_row(f), 0); \
        type r = LIB_REAL(name) args;                              \
                                                                   \
        lib_end(&c, PROF_##op, (int64_t)(bytes));                  \
        return r;                                                  \
    }

#define BLOCK (const void *p, size_t size, size_t n, FILE *f)
STREAM(size_t, fwrite, WRITE, f, r *size, BLOCK, (p, size, n, f))
STREAM(size_t, fwrite_unlocked, WRITE, f, r *size, BLOCK, (p, size, n, f))
STREAM(size_t, fread, READ, f, r *size, (void *p, size_t size, size_t n, FILE *f), (p, size, n, f))
STREAM(size_t, fread_unlocked, READ, f, r *size, (void *p, size_t size, size_t n, FILE *f),
       (p, size, n, f))

#define CHAR_OUT(name) STREAM(int, name, WRITE, f, r != EOF, (int ch, FILE *f), (ch, f))
#define CHAR_IN(name) STREAM(int, name, READ, f, r != EOF, (FILE * f), (f))
int _IO_putc(int ch, FILE *f);
int _IO_getc(FILE *f);
CHAR_OUT(fputc)
CHAR_OUT(putc)
CHAR_OUT(_IO_putc)
CHAR_OUT(fputc_unlocked)
CHAR_OUT(putc_unlocked)
CHAR_IN(fgetc)
CHAR_IN(getc)
CHAR_IN(_IO_getc)
CHAR_IN(fgetc_unlocked)
CHAR_IN(getc_unlocked)
STREAM(int, putchar, WRITE, stdout, r != EOF, (int ch), (ch))
STREAM(int, putchar_unlocked, WRITE, stdout, r != EOF, (int ch), (ch))
STREAM(int, getchar, READ, stdin, r != EOF, (void), ())
STREAM(int, getchar_unlocked, READ, stdin, r != EOF, (void), ())

STREAM(int, fputs, WRITE, f, r == EOF ? 0 : strlen(s), (const char *s, FILE *f), (s, f))
STREAM(int, fputs_unlocked, WRITE, f, r == EOF ? 0 : strlen(s), (const char *s, FILE *f), (s, f))
STREAM(int, puts, WRITE, stdout, r == EOF ? 0 : strlen(s) + 1, (const char *s), (s))

/* A line that holds a zero byte is counted up to it. */
char *__fgets_chk(char *s, size_t cap, int n, FILE *f);
char *__fgets_unlocked_chk(char *s, size_t cap, int n, FILE *f);
STREAM(char *, fgets, READ, f, r ? strlen(r) : 0, (char *s, int n, FILE *f), (s, n, f))
STREAM(char *, fgets_unlocked, READ, f, r ? strlen(r) : 0, (char *s, int n, FILE *f), (s, n, f))
STREAM(char *, __fgets_chk, READ, f, r ? strlen(r) : 0, (char *s, size_t cap, int n, FILE *f),
       (s, cap, n, f))
STREAM(char *, __fgets_unlocked_chk, READ, f, r ? strlen(r) : 0,
       (char *s, size_t cap, int n, FILE *f), (s, cap, n, f))
#define DELIM (char **p, size_t *n, int stop, FILE *f)
STREAM(ssize_t, getline, READ, f, r, (char **p, size_t *n, FILE *f), (p, n, f))
STREAM(ssize_t, getdelim, READ, f, r, DELIM, (p, n, stop, f))
STREAM(ssize_t, __getdelim, READ, f, r, DELIM, (p, n, stop, f))

size_t __fread_chk(void *p, size_t cap, size_t size, size_t n, FILE *f);
size_t __fread_unlocked_chk(void *p, size_t cap, size_t size, size_t n, FILE *f);
STREAM(size_t, __fread_chk, READ, f, r *size, (void *p, size_t cap, size_t size, size_t n, FILE *f),
       (p, cap, size, n, f))
STREAM(size_t, __fread_unlocked_chk, READ, f, r *size,
       (void *p, size_t cap, size_t size, size_t n, FILE *f), (p, cap, size, n, f))

/* The printf family. */
int __vfprintf_chk(FILE *f, int flag, const char *fmt, va_list ap);
int __vprintf_chk(int flag, const char *fmt, va_list ap);
int __fprintf_chk(FILE *f, int flag, const char *fmt, ...);
int __printf_chk(int flag, const char *fmt, ...);
STREAM(int, vfprintf, WRITE, f, r, (FILE * f, const char *fmt, va_list ap), (f, fmt, ap))
STREAM(int, vprintf, WRITE, stdout, r, (const char *fmt, va_list ap), (fmt, ap))
STREAM(int, __vfprintf_chk, WRITE, f, r, (FILE * f, int flag, const char *fmt, va_list ap),
       (f, flag, fmt, ap))
STREAM(int, __vprintf_chk, WRITE, stdout, r, (int flag, const char *fmt, va_list ap),
       (flag, fmt, ap))

#define PRINT(name, last, proto, call) \
    LIB_API int name proto             \
    {                                  \
        va_list ap;                    \
                                       \
        va_start(ap, last);            \
        int r = call;                  \
                                       \
        va_end(ap);                    \
        return r;                      \
    }

PRINT(fprintf, fmt, (FILE * f, const char *fmt, ...), vfprintf(f, fmt, ap))
PRINT(printf, fmt, (const char *fmt, ...), vprintf(fmt, ap))
PRINT(__fprintf_chk, fmt, (FILE * f, int flag, const char *fmt, ...),
      __vfprintf_chk(f, flag, fmt, ap))
PRINT(__printf_chk, fmt, (int flag, const char *fmt, ...), __vprintf_chk(flag, fmt, ap))

/* What was counted when it was put now goes out: time of a write, nothing more. */
LIB_API int fflush(FILE *f)
{
    struct lib_call c = lib_begin(PROF_WRITE, stdio_row(f), LIB_BIG);
    int r = LIB_REAL(fflush)(f);

    lib_end_time(&c, PROF_WRITE);
    return r;
}

LIB_HOT void stdio_opened(struct lib_call *c, FILE *f)
{
    lib_call_opened(c, f ? f->_fileno : -1);
    lib_end(c, PROF_OPEN, 0);
}

#define FOPEN(name, proto, args)                                                   \
    LIB_API FILE *name proto                                                       \
    {                                                                              \
        struct lib_call c = lib_begin(PROF_OPEN, lib_path_row(AT_FDCWD, path), 0); \
        FILE *r = LIB_REAL(name) args;                                             \
                                                                                   \
        stdio_opened(&c, r);                                                       \
        return r;                                                                  \
    }

FOPEN(fopen, (const char *path, const char *how), (path, how))
FOPEN(fopen64, (const char *path, const char *how), (path, how))
FOPEN(freopen, (const char *path, const char *how, FILE *f), (path, how, f))
FOPEN(freopen64, (const char *path, const char *how, FILE *f), (path, how, f))

#define TMPFILE(name)                                               \
    LIB_API FILE *name(void)                                        \
    {                                                               \
        struct lib_call c = lib_begin(PROF_OPEN, PROF_ROW_REST, 0); \
        FILE *r = LIB_REAL(name)();                                 \
                                                                    \
        stdio_opened(&c, r);                                        \
        return r;                                                   \
    }

TMPFILE(tmpfile)
TMPFILE(tmpfile64)

LIB_API int fclose(FILE *f)
{
    struct lib_call c = lib_begin(PROF_OPEN, stdio_row(f), 0);

    if (f)
        lib_fd_closed(f->_fileno);
    int r = LIB_REAL(fclose)(f);

    lib_end_time(&c, PROF_OPEN);
    return r;
}

LIB_API FILE *popen(const char *command, const char *how)
{
    FILE *r = LIB_REAL(popen)(command, how);

    if (r)
        lib_fd_closed(r->_fileno);
    return r;
}

LIB_API int pclose(FILE *f)
{
    if (f)
        lib_fd_closed(f->_fileno);
    return LIB_REAL(pclose)(f);
}

/* Text to a descriptor. */
int __vdprintf_chk(int fd, int flag, const char *fmt, va_list ap);
int __dprintf_chk(int fd, int flag, const char *fmt, ...);

LIB_API int vdprintf(int fd, const char *fmt, va_list ap)
{
    struct lib_call c = lib_begin(PROF_WRITE, lib_fd(fd), 0);
    int r = LIB_REAL(vdprintf)(fd, fmt, ap);

    lib_end(&c, PROF_WRITE, r);
    return r;
}

LIB_API int __vdprintf_chk(int fd, int flag, const char *fmt, va_list ap)
{
    struct lib_call c = lib_begin(PROF_WRITE, lib_fd(fd), 0);
    int r = LIB_REAL(__vdprintf_chk)(fd, flag, fmt, ap);

    lib_end(&c, PROF_WRITE, r);
    return r;
}

LIB_API int dprintf(int fd, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int r = vdprintf(fd, fmt, ap);

    va_end(ap);
    return r;
}

LIB_API int __dprintf_chk(int fd, int flag, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int r = __vdprintf_chk(fd, flag, fmt, ap);

    va_end(ap);
    return r;
}
