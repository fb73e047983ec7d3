#include "kernel.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_text(char *to, size_t room, const char *path)
{
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(to, 1, room - 1, f) : 0;

    to[n] = 0;
    if (f)
        fclose(f);
    return n > 0;
}

bool prof_kernel_io(pid_t pid, struct prof_io *ret)
{
    char path[64], text[512];
    struct prof_io io;

    snprintf(path, sizeof path, "/proc/%d/io", (int)pid);
    if (!read_text(text, sizeof text, path) ||
        sscanf(text, "rchar: %" SCNu64 " wchar: %" SCNu64 " syscr: %" SCNu64 " syscw: %" SCNu64,
               &io.rchar, &io.wchar, &io.syscr, &io.syscw) != 4)
        return false;
    *ret = io;
    return true;
}

static bool kernel_stat(pid_t pid, char *ret_state, uint64_t *ret_start, pid_t *ret_parent)
{
    char path[64], text[1024], state;
    uint64_t start;
    int parent;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (!read_text(text, sizeof text, path))
        return false;
    const char *s = strrchr(text, ')');

    if (!s || sscanf(s + 1,
                     " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                     "%*s %" SCNu64,
                     &state, &parent, &start) != 3)
        return false;
    *ret_state = state;
    *ret_start = start;
    *ret_parent = parent;
    return true;
}

bool prof_kernel_stat(pid_t pid, uint64_t *ret_start, pid_t *ret_parent)
{
    char state;

    return kernel_stat(pid, &state, ret_start, ret_parent);
}

enum prof_life prof_kernel_life(pid_t pid, uint64_t start)
{
    uint64_t found;
    pid_t parent;
    char state;

    if (!start) /* there was no /proc to read it from */
        return !kill(pid, 0) || errno == EPERM ? PROF_RUNS : PROF_GONE;
    if (!kernel_stat(pid, &state, &found, &parent) || found != start)
        return PROF_GONE;
    return state == 'Z' || state == 'X' ? PROF_ZOMBIE : PROF_RUNS;
}

bool prof_kernel_has_library(pid_t pid)
{
    char path[64], line[4096];
    bool found = false;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");

    while (f && !found && fgets(line, sizeof line, f))
        found = strstr(line, "/libweir-prof.so") != NULL;
    if (f)
        fclose(f);
    return found;
}

void prof_kernel_exe(pid_t pid, char *ret, size_t room)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(path, ret, room - 1);

    ret[n > 0 ? n : 0] = 0;
}

/* The children of all its threads. */
static size_t add_children(pid_t pid, pid_t *ret, size_t n, size_t room)
{
    char path[320], text[16384];

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    const struct dirent *e;

    while (d && (e = readdir(d))) {
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, e->d_name);
        if (!read_text(text, sizeof text, path))
            continue;
        for (char *s = text, *end; n < room; s = end) {
            long child = strtol(s, &end, 10);

            if (end == s)
                break;
            ret[n++] = (pid_t)child;
        }
    }
    if (d)
        closedir(d);
    return n;
}

size_t prof_kernel_family(pid_t root, pid_t *ret, size_t room)
{
    size_t n = 0;

    if (room)
        ret[n++] = root;
    for (size_t i = 0; i < n; i++)
        n = add_children(ret[i], ret, n, room);
    return n;
}
