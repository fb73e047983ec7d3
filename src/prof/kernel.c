/* kernel.c -- reads /proc: I/O counters, start time, state, executable and children of a process.
 *
 * Stateless. A process may end at any moment, so every function may report that it is gone.
 */
#include "kernel.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool kernel_read_text(char *to, size_t cap, const char *path)
{
    assert(cap > 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    ssize_t got = fd >= 0 ? read(fd, to, cap - 1) : 0;

    /* A list of children may come in parts. */
    for (; got > 0; got = read(fd, to + n, cap - 1 - n))
        n += (size_t)got;
    to[n] = 0;
    if (fd >= 0)
        close(fd);
    return n > 0;
}

bool prof_kernel_io(pid_t pid, struct prof_io *ret)
{
    char path[64], text[512];

    snprintf(path, sizeof path, "/proc/%d/io", (int)pid);
    return kernel_read_text(text, sizeof text, path) && prof_io_parse(ret, text);
}

static void kernel_add_io(struct prof_io *to, const struct prof_io *more)
{
    to->rchar += more->rchar;
    to->wchar += more->wchar;
    to->syscr += more->syscr;
    to->syscw += more->syscw;
    to->read_bytes += more->read_bytes;
    to->write_bytes += more->write_bytes;
}

bool prof_kernel_own(pid_t pid, struct prof_io *ret)
{
    char path[320], text[512];
    struct prof_io sum = {0}, one;
    bool any = false;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    const struct dirent *e;

    while (d && (e = readdir(d))) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/io", (int)pid, e->d_name);
        if (!isdigit((unsigned char)e->d_name[0]) || !kernel_read_text(text, sizeof text, path) ||
            !prof_io_parse(&one, text))
            continue;
        kernel_add_io(&sum, &one);
        any = true;
    }
    if (d)
        closedir(d);
    if (any)
        *ret = sum;
    return any;
}

bool prof_kernel_child(struct prof_child *ret, pid_t pid, int64_t now_ns)
{
    struct prof_child c = {.ready = 1, .pid = (uint32_t)pid, .end_ns = now_ns};
    char path[64], text[1024];
    struct timespec boot;
    uint32_t parent;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (!kernel_read_text(text, sizeof text, path) ||
        !prof_stat_parse(text, c.comm, &parent, &c.pid_start) || !prof_kernel_io(pid, &c.io))
        return false;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    int64_t age = (int64_t)boot.tv_sec * 1000000000 + boot.tv_nsec -
                  (int64_t)c.pid_start * (1000000000 / (int64_t)sysconf(_SC_CLK_TCK));

    c.start_ns = age > 0 && age < now_ns ? now_ns - age : now_ns;
    *ret = c;
    return true;
}

static bool kernel_stat(pid_t pid, char *ret_state, uint64_t *ret_start, pid_t *ret_parent)
{
    char path[64], text[1024], state;
    uint64_t start;
    int parent;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (!kernel_read_text(text, sizeof text, path))
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

/* Its numbers in all PID namespaces from this one inwards. */
static size_t kernel_numbers(pid_t pid, pid_t *ret, size_t cap)
{
    assert(pid > 0 && cap > 0);
    char path[64], text[4096];
    size_t n = 0;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    char *s = kernel_read_text(text, sizeof text, path) ? strstr(text, "\nNSpid:") : NULL;

    if (!s)
        return 0;
    s += strlen("\nNSpid:");
    while (*s == '\t' && n < cap)
        ret[n++] = (pid_t)strtol(s, &s, 10);
    return n;
}

pid_t prof_kernel_seen_by(pid_t pid, pid_t parent, bool *ret_nested)
{
    enum { LEVELS = 32 }; /* the kernel's limit */
    assert(pid > 0);
    pid_t own[LEVELS], its[LEVELS];
    size_t n = kernel_numbers(pid, own, LEVELS);
    size_t level = n > 1 && parent > 0 ? kernel_numbers(parent, its, LEVELS) : 0;

    *ret_nested = n > 1;
    return level && level <= n ? own[level - 1] : pid;
}

uint32_t prof_kernel_pid_ns(pid_t pid)
{
    assert(pid > 0);
    char path[64], text[40];

    snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
    ssize_t n = readlink(path, text, sizeof text - 1);

    text[n > 0 ? n : 0] = 0;
    return n > 5 ? (uint32_t)strtoul(text + strlen("pid:["), NULL, 10) : 0;
}

void prof_kernel_exe(pid_t pid, char *ret, size_t cap)
{
    assert(cap > 1);
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(path, ret, cap - 1);

    ret[n > 0 ? n : 0] = 0;
}

static size_t kernel_add_children_of(pid_t pid, const char *thread, pid_t *ret, size_t n,
                                     size_t cap)
{
    char path[320], text[16384];

    snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, thread);
    if (!kernel_read_text(text, sizeof text, path))
        return n;
    for (char *s = text, *end; n < cap; s = end) {
        long child = strtol(s, &end, 10);

        if (end == s)
            break;
        ret[n++] = (pid_t)child;
    }
    return n;
}

/* The children of all its threads. */
static size_t kernel_add_children(pid_t pid, pid_t *ret, size_t n, size_t cap)
{
    assert(n <= cap);
    char path[64], main_thread[16];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    snprintf(main_thread, sizeof main_thread, "%d", (int)pid);
    if (!stat(path, &st) && st.st_nlink == 3) /* itself, its parent, one thread */
        return kernel_add_children_of(pid, main_thread, ret, n, cap);
    DIR *d = opendir(path);
    const struct dirent *e;

    while (d && (e = readdir(d)))
        if (isdigit((unsigned char)e->d_name[0]))
            n = kernel_add_children_of(pid, e->d_name, ret, n, cap);
    if (d)
        closedir(d);
    return n;
}

uint64_t prof_kernel_newest(int fd)
{
    char text[128];
    ssize_t n = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : 0;

    text[n > 0 ? n : 0] = 0;
    const char *last = strrchr(text, ' ');

    return last ? strtoull(last, NULL, 10) : 0;
}

size_t prof_kernel_children(pid_t pid, pid_t *ret, size_t cap)
{
    return kernel_add_children(pid, ret, 0, cap);
}

size_t prof_kernel_family(pid_t root, pid_t *ret, size_t cap)
{
    size_t n = 0;

    if (cap)
        ret[n++] = root;
    for (size_t i = 0; i < n; i++)
        n = kernel_add_children(ret[i], ret, n, cap);
    return n;
}
