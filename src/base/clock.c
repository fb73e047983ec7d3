/* clock.c -- clocks of the operating system: monotonic, processor time, calendar.
 *
 * No state. Nothing that is simulated may call it: results must not depend on the machine's speed.
 */
#include "base/clock.h"

#include <sys/resource.h>
#include <time.h>

static uint64_t clock_read_ns(clockid_t which)
{
    struct timespec t;

    clock_gettime(which, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t wr_clock_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

uint64_t wr_clock_cpu_ns(void)
{
    return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t wr_max_rss_b(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (uint64_t)use.ru_maxrss * 1024; /* Linux counts in KiB */
}

void wr_clock_utc_of(char into[WR_CLOCK_TEXT], int64_t unix_s)
{
    time_t t = (time_t)unix_s;
    struct tm parts = {0};

    gmtime_r(&t, &parts);
    if (!strftime(into, WR_CLOCK_TEXT, "%Y-%m-%dT%H:%M:%SZ", &parts))
        into[0] = '\0';
}

void wr_clock_utc(char into[WR_CLOCK_TEXT])
{
    wr_clock_utc_of(into, (int64_t)time(NULL));
}
