/* study_memory.c -- decides whether one more run fits in memory.
 *
 * What a run will need is not known before it ends. The estimate is the largest of what opening its
 * machine took, what finished runs of the study needed and what running ones hold; each running
 * process is assumed to grow to it. Called by execute.c before it starts a run beside others.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "study_priv.h"

/* The new run gets this part of its estimate on top: an estimate from other runs is not a bound. */
enum { SPARE_PART = 8 };

uint64_t study_rss(pid_t pid)
{
    char path[48];
    unsigned long long pages = 0;

    snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
    FILE *f = fopen(path, "r");

    if (!f)
        return 0;
    if (fscanf(f, "%*u %llu", &pages) != 1)
        pages = 0;
    fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool study_memory_read_number(const char *path, uint64_t *ret)
{
    unsigned long long v;
    FILE *f = fopen(path, "r");
    bool ok = f && fscanf(f, "%llu", &v) == 1;

    if (f)
        fclose(f);
    if (ok)
        *ret = v;
    return ok;
}

/* Bytes available on the node, and in the control group if that has a limit; UINT64_MAX: unknown.
 */
static uint64_t study_memory_available(void)
{
    uint64_t left = UINT64_MAX, limit, used;
    unsigned long long kib;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "r");

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
            left = kib * 1024;
    if (f)
        fclose(f);
    if (study_memory_read_number("/sys/fs/cgroup/memory.max", &limit) &&
        study_memory_read_number("/sys/fs/cgroup/memory.current", &used)) {
        uint64_t rest = limit > used ? limit - used : 0;

        left = rest < left ? rest : left;
    }
    return left;
}

bool study_memory_fits(uint64_t need_b, const pid_t *running, size_t n)
{
    uint64_t left = study_memory_available(), claimed = need_b + need_b / SPARE_PART;

    if (left == UINT64_MAX)
        return true;
    for (size_t i = 0; i < n; i++) {
        uint64_t has = study_rss(running[i]);

        claimed += need_b > has ? need_b - has : 0;
    }
    return claimed <= left;
}
