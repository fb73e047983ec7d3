/* step.c -- a wall clock that goes back by a second when the file that WEIR_STEP names is there.
 *
 * Preloaded into a program, and part of the test that is its launcher.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *t)
{
    const char *file = id == CLOCK_REALTIME ? getenv("WEIR_STEP") : NULL;
    int r = (int)syscall(SYS_clock_gettime, id, t);

    if (!r && file && !syscall(SYS_access, file, F_OK))
        t->tv_sec--;
    return r;
}
