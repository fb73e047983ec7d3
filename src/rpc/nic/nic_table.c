/* nic/nic_table.c -- what the processes of a job took, in a file they share.
 *
 *   | head: magic, turns of the buckets | owner | owner | ...
 *
 * The file is locked while it is read, changed and written back; a lock dies with its holder.
 * An owner is a process and when it started, so that another process with its number is not taken
 * for it. When no owner is left the turns begin anew, and the file is removed: by the last owner if
 * it ends by itself, else by the next process that takes a NIC, of whatever job. A process that
 * waited for the lock of a file that was removed meanwhile opens it anew.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rpc/nic/nic.h"

enum { MOST_OWNERS = 8192 };

static const char tables_dir[] = "/dev/shm", tables_name[] = "weir-nics";

struct owner {
    int64_t pid;
    uint64_t started; /* clock ticks after boot */
    uint32_t nic, spare;
};

struct table {
    char magic[8];
    uint32_t turn[NIC_MOST];
    uint32_t n, spare;
    struct owner owner[MOST_OWNERS];
};

static const char magic[8] = "weirnic1";

/* 0: there is no such process, or it is a zombie. */
static uint64_t nic_table_started(int64_t pid)
{
    char path[64], text[1024];
    unsigned long long ticks = 0;

    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    FILE *f = fopen(path, "r");

    if (!f)
        return 0;
    size_t n = fread(text, 1, sizeof text - 1, f);

    fclose(f);
    text[n] = '\0';
    /* Its name may hold anything, but ends with the last bracket; the time is field 22. */
    char *at = strrchr(text, ')');

    if (at && strspn(at, ") ") == 2 && strchr("ZX", at[2]))
        return 0;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at)
        ticks = strtoull(at, NULL, 10);
    return ticks ? ticks : 1;
}

static void nic_table_reap(struct table *t)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < t->n; i++)
        if (nic_table_started(t->owner[i].pid) == t->owner[i].started)
            t->owner[kept++] = t->owner[i];
    t->n = kept;
    if (!kept)
        memset(t->turn, 0, sizeof t->turn);
}

/* What is not one of ours, or was cut off, begins anew. */
static void nic_table_load(struct table *t, int fd)
{
    ssize_t got = pread(fd, t, sizeof *t, 0);
    size_t head = offsetof(struct table, owner);

    if (got < (ssize_t)head || memcmp(t->magic, magic, sizeof magic) != 0 || t->n > MOST_OWNERS ||
        (size_t)got < head + t->n * sizeof t->owner[0])
        memset(t, 0, sizeof *t);
    memcpy(t->magic, magic, sizeof magic);
    nic_table_reap(t);
}

static bool nic_table_store(const struct table *t, int fd, const char *path, struct wr_err *err)
{
    size_t len = offsetof(struct table, owner) + t->n * sizeof t->owner[0];

    assert(t->n <= MOST_OWNERS);
    if (pwrite(fd, t, len, 0) != (ssize_t)len || ftruncate(fd, (off_t)len))
        return wr_fail_errno(err, "cannot write %s; free some space there", path);
    return true;
}

static bool nic_table_pick(struct table *t, struct nic_choice *ret, const struct nic_machine *m,
                           const struct nic_ask *ask, struct wr_rng *rng, struct wr_err *err)
{
    struct nic_load load = {{0}, {0}};

    assert(t->n <= MOST_OWNERS);
    if (t->n == MOST_OWNERS)
        return wr_fail(err, WR_INPUT, "%d processes of this job took NICs; start fewer",
                       MOST_OWNERS);
    memcpy(load.turn, t->turn, sizeof load.turn);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->owner[i].nic < NIC_MOST)
            load.owners[t->owner[i].nic]++;
    if (!nic_pick(ret, m, ask, &load, rng, err))
        return false;
    memcpy(t->turn, load.turn, sizeof t->turn);
    t->owner[t->n++] =
        (struct owner){.pid = getpid(), .started = nic_table_started(getpid()), .nic = ret->nic};
    return true;
}

/* The file, locked; -1: errno says why not, 0 that it is not ours. Without O_CREAT one that is gone
 * is not made; with LOCK_NB the call does not wait for the lock. */
static int nic_table_open(const char *path, int flags, int lock)
{
    struct stat st;

    for (;;) {
        int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0600);

        if (fd < 0)
            return -1;
        if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
            close(fd);
            errno = 0;
            return -1;
        }
        int failed;

        while ((failed = flock(fd, LOCK_EX | lock)) && errno == EINTR)
            ;
        if (!failed && !fstat(fd, &st) && st.st_nlink)
            return fd;
        close(fd);
        if (failed)
            return -1;
    }
}

bool nic_table_take(struct nic_choice *ret, const char *path, const struct nic_machine *m,
                    const struct nic_ask *ask, struct wr_rng *rng, struct wr_err *err)
{
    int fd = nic_table_open(path, O_CREAT, 0);
    struct nic_choice choice;

    if (fd < 0 && errno)
        return wr_fail_errno(err, "cannot open %s, where a job's processes share NICs; remove it",
                             path);
    if (fd < 0)
        return wr_fail(err, WR_SYSTEM, "%s belongs to another user; remove it", path);
    struct table *t = calloc(1, sizeof *t);
    bool ok = t != NULL || wr_fail(err, WR_SYSTEM, "no memory for the table; free some");

    if (ok) {
        nic_table_load(t, fd);
        ok = nic_table_pick(t, &choice, m, ask, rng, err) && nic_table_store(t, fd, path, err);
    }
    free(t);
    close(fd);
    if (ok)
        *ret = choice;
    return ok;
}

/* ---- the end ---- */

/* Forgets the dead, and with `own` this process. */
static void nic_table_tidy(const char *path, bool own, int lock)
{
    int fd = nic_table_open(path, 0, lock);
    struct table *t = fd < 0 ? NULL : calloc(1, sizeof *t);
    struct wr_err err;
    uint32_t kept = 0;

    if (t) {
        nic_table_load(t, fd);
        for (uint32_t i = 0; i < t->n; i++)
            if (!own || t->owner[i].pid != getpid())
                t->owner[kept++] = t->owner[i];
        t->n = kept;
        if (!kept)
            unlink(path);
        else
            nic_table_store(t, fd, path, &err); /* what cannot be written is as it was */
    }
    free(t);
    if (fd >= 0)
        close(fd);
}

void nic_table_leave(const char *path)
{
    nic_table_tidy(path, true, 0);
}

void nic_tables_collect(const char *dir)
{
    DIR *d = opendir(dir ? dir : tables_dir);
    char begin[64], path[512];
    struct dirent *each;
    size_t n = (size_t)snprintf(begin, sizeof begin, "%s-%u-", tables_name, (unsigned)geteuid());

    while (d && (each = readdir(d))) {
        if (strncmp(each->d_name, begin, n) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", dir ? dir : tables_dir, each->d_name);
        nic_table_tidy(path, false, LOCK_NB);
    }
    if (d)
        closedir(d);
}

void nic_table_path(char *into, size_t size)
{
    static const char *const jobs[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"};
    const char *job = NULL;
    char key[64];

    for (size_t i = 0; !job && i < sizeof jobs / sizeof *jobs; i++)
        job = getenv(jobs[i]);
    if (job && *job)
        snprintf(key, sizeof key, "job-%.40s", job);
    else
        snprintf(key, sizeof key, "session-%ld", (long)getsid(0));
    for (char *c = key; *c; c++)
        if (*c == '/')
            *c = '_';
    snprintf(into, size, "%s/%s-%u-%s", tables_dir, tables_name, (unsigned)geteuid(), key);
}
