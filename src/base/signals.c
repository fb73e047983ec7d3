/* signals.c -- what is done when a signal arrives: stop at the next check, or clean up and end.
 *
 * Owns the only globals of base that handlers may touch: the flag that wr_interrupted() reads and
 * the table of temporary files. Handlers call async-signal-safe functions only.
 */
#include "base/signals.h"

#include <assert.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Global, since a signal handler can reach nothing else, and Ctrl-C is meant for the whole
 * process. */
static volatile sig_atomic_t interrupted;
static struct timespec first; /* when it came */

/* Files that must not outlive the process. A row is filled before it is counted and emptied before
 * it is reused, so a signal finds whole ones. A child has its parent's rows, which are not its own.
 */
enum { MOST_TEMPORARIES = 64 };
static struct {
    const char *volatile path;
    pid_t owner;
} temporary[MOST_TEMPORARIES];

static void signals_remove_temporaries(void)
{
    pid_t self = getpid();

    for (int i = 0; i < MOST_TEMPORARIES; i++)
        if (temporary[i].path && temporary[i].owner == self)
            unlink(temporary[i].path);
}

/* A batch system, or timeout(1), may send the same request twice in a row, to the
 * process and to its group. That is one request. */
enum { SAME_REQUEST_MS = 250 };

static const int stops[] = {SIGINT, SIGTERM};

static void signals_on_stop(int sig)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!interrupted) {
        first = now;
        interrupted = 1;
        return;
    }
    if ((now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000 <
        SAME_REQUEST_MS)
        return;
    signals_remove_temporaries();
    signal(sig, SIG_DFL);
    raise(sig);
}

/* What would end the process at once: it still does, without leaving anything half-written. */
static void signals_on_fatal(int sig)
{
    signals_remove_temporaries();
    signal(sig, SIG_DFL);
    raise(sig);
}

static bool signals_has_temporaries(void)
{
    for (int i = 0; i < MOST_TEMPORARIES; i++)
        if (temporary[i].path)
            return true;
    return false;
}

static const int fatal[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT};

/* Handlers of others are left alone. */
static void signals_exchange_handlers(void (*was)(int), void (*is)(int))
{
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) {
        struct sigaction now;

        sigaction(fatal[i], NULL, &now);
        if (now.sa_handler == was)
            signal(fatal[i], is);
    }
}

void wr_temporary_add(const char *path)
{
    assert(path);
    int i = 0;

    while (i < MOST_TEMPORARIES && temporary[i].path && temporary[i].owner == getpid())
        i++;
    if (i == MOST_TEMPORARIES)
        return; /* so many at once: a killed process may leave some */
    temporary[i].owner = getpid();
    temporary[i].path = path;
    signals_exchange_handlers(SIG_DFL, signals_on_fatal);
}

void wr_temporary_remove(const char *path)
{
    for (int i = 0; i < MOST_TEMPORARIES; i++)
        if (temporary[i].path == path)
            temporary[i].path = NULL;
    if (!signals_has_temporaries())
        signals_exchange_handlers(signals_on_fatal, SIG_DFL);
}

void wr_interrupt_catch(void)
{
    struct sigaction take = {.sa_handler = signals_on_stop, .sa_flags = SA_RESTART};

    sigemptyset(&take.sa_mask);
    interrupted = 0;
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        struct sigaction was;

        /* Started with nohup or in a shell's background: leave the signal ignored. */
        sigaction(stops[i], NULL, &was);
        if (was.sa_handler != SIG_IGN)
            sigaction(stops[i], &take, NULL);
    }
}

void wr_interrupt_release(void)
{
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        struct sigaction was;

        sigaction(stops[i], NULL, &was);
        if (was.sa_handler == signals_on_stop)
            signal(stops[i], signals_has_temporaries() ? signals_on_fatal : SIG_DFL);
    }
    interrupted = 0;
}

bool wr_interrupted(void)
{
    return interrupted;
}

static bool xfsz_taken; /* it was not ignored before */

void wr_xfsz_ignore(void)
{
    xfsz_taken |= signal(SIGXFSZ, SIG_IGN) != SIG_IGN;
}

void wr_xfsz_restore(void)
{
    if (xfsz_taken)
        signal(SIGXFSZ, SIG_DFL);
}

#ifdef WEIR_SANITIZED

void wr_crash_explain(void)
{
}

#else

static void signals_on_crash(int sig)
{
    static const char text[] =
        "weir: ended by a fault of its own, which is our mistake; please report it with the "
        "command, its input and the output of `weir version`\n";
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);

    (void)n;
    (void)sig;
    signals_remove_temporaries();
    _exit(3);
}

void wr_crash_explain(void)
{
    static const int faults[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    /* A stack of its own: a stack that overflowed has no space for the handler. */
    static unsigned char spare[16384];
    stack_t stack = {.ss_sp = spare, .ss_size = sizeof spare};
    struct sigaction say = {.sa_handler = signals_on_crash, .sa_flags = SA_ONSTACK};

    sigemptyset(&say.sa_mask);
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigaction(faults[i], &say, NULL);
}

#endif
