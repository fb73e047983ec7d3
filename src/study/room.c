/* room.c -- is there memory for one more?
 *
 * What a run will need is not known before; what others of the same study needed is, and
 * what opening its machine took. Those that run now may still grow to that.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "study_priv.h"

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

static bool read_number(const char *path, uint64_t *ret)
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

/* What the machine has left, and the control group if it has a limit; UINT64_MAX: unknown. */
static uint64_t available(void)
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
    if (read_number("/sys/fs/cgroup/memory.max", &limit) &&
        read_number("/sys/fs/cgroup/memory.current", &used)) {
        uint64_t rest = limit > used ? limit - used : 0;

        left = rest < left ? rest : left;
    }
    return left;
}

bool study_room(uint64_t need_b, const pid_t *running, size_t n)
{
    uint64_t left = available(), claimed = need_b + need_b / 8;

    if (left == UINT64_MAX)
        return true;
    for (size_t i = 0; i < n; i++) {
        uint64_t has = study_rss(running[i]);

        claimed += need_b > has ? need_b - has : 0;
    }
    return claimed <= left;
}
