#include "base/signals.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The only variables of the house that are global: a signal handler can reach
 * nothing else, and Ctrl-C is meant for the whole process. */
static volatile sig_atomic_t interrupted;
static struct timespec first; /* when it came */

/* A batch system, or timeout(1), may send the same wish twice in a row, to the
 * process and to its group. That is one wish. */
enum { SAME_WISH_MS = 250 };

static const int stops[] = {SIGINT, SIGTERM};

static void on_stop(int sig)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!interrupted) {
        first = now;
        interrupted = 1;
        return;
    }
    if ((now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000 < SAME_WISH_MS)
        return;
    signal(sig, SIG_DFL);
    raise(sig);
}

void wr_interrupt_catch(void)
{
    struct sigaction take = {.sa_handler = on_stop, .sa_flags = SA_RESTART};

    sigemptyset(&take.sa_mask);
    interrupted = 0;
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        struct sigaction was;

        /* Started with nohup or in a shell's background: stay deaf. */
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
        if (was.sa_handler == on_stop)
            signal(stops[i], SIG_DFL);
    }
    interrupted = 0;
}

bool wr_interrupted(void)
{
    return interrupted;
}

#ifdef WEIR_SANITIZED

void wr_crash_explain(void)
{
}

#else

static void on_crash(int sig)
{
    static const char text[] =
        "weir: ended by a fault of its own, which is our mistake; please report it with the "
        "command, its input and the output of `weir version`\n";
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);

    (void)n;
    (void)sig;
    _exit(3);
}

void wr_crash_explain(void)
{
    static const int faults[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    /* A stack of its own: a stack that overflowed has no room for the handler. */
    static unsigned char spare[16384];
    stack_t stack = {.ss_sp = spare, .ss_size = sizeof spare};
    struct sigaction say = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};

    sigemptyset(&say.sa_mask);
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigaction(faults[i], &say, NULL);
}

#endif
