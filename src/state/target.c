/* target.c -- one storage target: opens its nameless file or device, times a write or a read.
 *
 * Used by probe.c, one thread per target. On Lustre the object storage target is chosen through the
 * ioctl of liblustreapi. A block device is written only with what it holds.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "target_priv.h"

enum { ALIGN = 4096 };

/* Lustre's interface for choosing the object storage target of a new file (lustre_user.h): the
 * layout is set on a file that was opened without creating its objects. */
enum { LUSTRE_MAGIC = 0x0BD00BD0, LAYOUT_MAGIC = 0x0BD10BD0, RAID0 = 1 };

struct lustre_layout {
    uint32_t magic, pattern;
    uint64_t object[2];
    uint32_t stripe_size;
    uint16_t stripe_count, stripe_offset;
} __attribute__((packed));

static bool target_set_layout(int fd, const char *dir, unsigned ost, struct wr_err *err)
{
    struct lustre_layout l = {.magic = LAYOUT_MAGIC,
                              .pattern = RAID0,
                              .stripe_size = 1 << 20,
                              .stripe_count = 1,
                              .stripe_offset = (uint16_t)ost};

    if (ioctl(fd, _IOW('f', 154, long), &l))
        return wr_fail_errno(err,
                             "%s: cannot place a file on OST %u; `lfs osts` lists those there "
                             "are",
                             dir, ost);
    return true;
}

/* A file without a name, on the chosen OST if there is a choice. */
static bool target_open_nameless(int *ret, const char *dir, int ost, struct wr_err *err)
{
    char path[4096];
    int fd = -1;

    if (ost < 0)
        fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
        int delay = ost >= 0 ? O_NOCTTY | FASYNC : 0;

        if (snprintf(path, sizeof path, "%s/.weir-probe-%ld-XXXXXX", dir, (long)getpid()) >=
            (int)sizeof path)
            return wr_fail(err, WR_INPUT, "the path of a target is too long; give a shorter one");
        fd = mkostemp(path, O_CLOEXEC | delay);
        if (fd < 0)
            return wr_fail_read(err,
                                "%s: cannot make a file there; name a directory you may write "
                                "to",
                                dir);
        unlink(path);
    }
    if (ost >= 0 && !target_set_layout(fd, dir, (unsigned)ost, err)) {
        close(fd);
        return false;
    }
    *ret = fd;
    return true;
}

static bool target_open_directory(struct target *t, const char *text, struct wr_err *err)
{
    char *at = strstr(text, "@ost");
    char *dir = at ? strndup(text, (size_t)(at - text)) : wr_strdup(text);
    struct statfs fs;
    int ost = -1;
    bool ok = true;

    if (at) {
        char *end;
        long v = strtol(at + 4, &end, 10);

        ost = (int)v;
        if (!at[4] || *end || v < 0 || v > 65535)
            ok = wr_fail(err, WR_INPUT, "%s: write DIRECTORY@ostNUMBER", text);
        else if (statfs(dir, &fs) || (uint32_t)fs.f_type != (uint32_t)LUSTRE_MAGIC)
            ok = wr_fail(err, WR_INPUT,
                         "%s: %s is not on Lustre, so there is no OST to choose; "
                         "give the directory alone",
                         text, dir);
    }
    ok = ok && target_open_nameless(&t->fd, dir, ost, err);
    t->dir = dir;
    if (!ok)
        free(dir);
    return ok;
}

static bool target_open_device(struct target *t, const char *text, bool allowed, struct wr_err *err)
{
    if (!allowed)
        return wr_fail(err, WR_INPUT,
                       "%s is a block device; allow writing back what it holds by `devices`, or "
                       "give a directory",
                       text);
    /* O_EXCL: not while it is mounted. */
    t->fd = open(text, O_RDWR | O_EXCL | O_DIRECT | O_CLOEXEC);
    if (t->fd < 0)
        return wr_fail_errno(err, "%s: cannot open the device; check that it is not in use", text);
    t->device = t->direct = true;
    ssize_t got = pread(t->fd, t->buffer, t->len, 0);

    if (got != (ssize_t)t->len) {
        close(t->fd);
        return wr_fail_errno(err, "%s: cannot read the device; give a larger one", text);
    }
    return true;
}

/* O_DIRECT is set afterwards, so that a file system without it still gives a file. */
static void target_try_direct(struct target *t)
{
    int flags = fcntl(t->fd, F_GETFL);

    t->direct = flags >= 0 && !fcntl(t->fd, F_SETFL, flags | O_DIRECT) &&
                pwrite(t->fd, t->buffer, t->len, 0) == (ssize_t)t->len;
    if (!t->direct && flags >= 0)
        fcntl(t->fd, F_SETFL, flags & ~O_DIRECT);
}

bool target_open(struct target *ret, const char *text, size_t len, bool devices, struct wr_err *err)
{
    struct target t = {.fd = -1, .len = len};
    struct stat st;
    bool ok;

    if (posix_memalign(&t.buffer, ALIGN, len))
        return wr_fail(err, WR_SYSTEM, "not enough memory for a probe; make it smaller");
    memset(t.buffer, 0x5a, len);
    if (!stat(text, &st) && S_ISBLK(st.st_mode))
        ok = target_open_device(&t, text, devices, err);
    else
        ok = target_open_directory(&t, text, err);
    if (!ok) {
        free(t.buffer);
        return false;
    }
    if (!t.device)
        target_try_direct(&t);
    *ret = t;
    return true;
}

void target_close(struct target *t)
{
    close(t->fd);
    free(t->dir);
    free(t->buffer);
}

/* Never fills a disk: leaves at least so many probes' worth of space. */
#define TARGET_SPARE 64.0

static bool target_has_space(const struct target *t, struct wr_err *err)
{
    struct statvfs vfs;

    if (t->dir && !fstatvfs(t->fd, &vfs) &&
        (double)vfs.f_bavail * (double)vfs.f_frsize < TARGET_SPARE * (double)t->len)
        return wr_fail(err, WR_SYSTEM, "%s is nearly full; this probe was left out", t->dir);
    return true;
}

bool target_write(struct target *t, uint64_t stamp, double *ret_s, struct wr_err *err)
{
    assert(t->fd >= 0);
    if (!target_has_space(t, err))
        return false;
    /* Not the same bytes twice, for storage that would notice; a device gets its own back. */
    for (size_t i = 0; !t->device && i + sizeof stamp <= t->len; i += 512) {
        uint64_t v = (stamp + i) * 0x9e3779b97f4a7c15u;

        memcpy((char *)t->buffer + i, &v, sizeof v);
    }
    uint64_t from = wr_clock_ns();

    ssize_t n = pwrite(t->fd, t->buffer, t->len, 0);

    if (n >= 0 && n < (ssize_t)t->len)
        return wr_fail(
            err, WR_SYSTEM,
            "only %zd of %zu bytes were written; check the target's free space, your quota "
            "and `ulimit -f`",
            n, t->len);
    if (n < 0 || fdatasync(t->fd))
        return wr_fail_errno(err, "a write failed; check the target");
    *ret_s = (double)(wr_clock_ns() - from) / 1e9;
    return true;
}

bool target_read(struct target *t, double *ret_s, struct wr_err *err)
{
    assert(t->fd >= 0);
    if (!t->direct) /* ask the page cache to forget it; it may or may not */
        posix_fadvise(t->fd, 0, (off_t)t->len, POSIX_FADV_DONTNEED);
    uint64_t from = wr_clock_ns();

    if (pread(t->fd, t->buffer, t->len, 0) != (ssize_t)t->len)
        return wr_fail_errno(err, "a read failed; check the target");
    *ret_s = (double)(wr_clock_ns() - from) / 1e9;
    return true;
}
