/* prof_collect.c -- moves the profile of an ended process into the job's archive.
 *
 * Owns the archive file and its length. A frame is appended whole or not at all; the profile's own
 * file is removed only after its frame is written. Called by sampler.c.
 */
#include "prof/prof_collect.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "prof/read/archive.h"

struct prof_collect {
    char *path; /* of the archive */
    int fd;     /* < 0: nothing was collected yet */
    off_t len;
};

struct prof_collect *prof_collect_open(const char *dir, const char *host)
{
    struct prof_collect *c = wr_zalloc(1, sizeof *c);
    struct wr_str path = {0};

    wr_str_addf(&path, "%s/%s-%d%s", dir, host, (int)getpid(), PROF_ARCHIVE_ENDING);
    c->path = path.s;
    c->fd = -1;
    return c;
}

void prof_collect_close(struct prof_collect *c)
{
    if (c->fd >= 0)
        close(c->fd);
    free(c->path);
    free(c);
}

/* A lease for reading is refused while a process has the file open or mapped for writing, in
 * any namespace. Without leases the caller's `sure` decides. */
static bool collect_in_use(const char *path, bool sure)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool used = !sure;

    if (fd < 0)
        return true;
    if (!fcntl(fd, F_SETLEASE, F_RDLCK)) {
        fcntl(fd, F_SETLEASE, F_UNLCK);
        used = false;
    } else if (errno == EAGAIN) {
        used = true;
    }
    close(fd);
    return used;
}

static bool collect_append(struct prof_collect *c, const struct wr_str *frame)
{
    assert(frame->n > sizeof(struct prof_frame_head) && c->len >= 0);
    if (c->fd < 0)
        c->fd = open(c->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (c->fd < 0)
        return false;
    if (pwrite(c->fd, frame->s, frame->n, c->len) == (ssize_t)frame->n) {
        c->len += (off_t)frame->n;
        return true;
    }
    /* Remove a partial frame; the next one is written at the same offset. */
    while (ftruncate(c->fd, c->len) && errno == EINTR)
        ;
    return false;
}

enum prof_collected prof_collect(struct prof_collect *c, const char *path, bool sure)
{
    struct prof_file f;
    struct wr_str frame = {0};
    struct wr_err ignored = {0};

    if (collect_in_use(path, sure))
        return PROF_IN_USE;
    if (!prof_file_read(&f, path, &ignored))
        return PROF_CANNOT;
    bool ok = prof_archive_add(&frame, &f) && collect_append(c, &frame);

    prof_file_fini(&f);
    wr_str_fini(&frame);
    if (ok)
        unlink(path);
    return ok ? PROF_COLLECTED : PROF_CANNOT;
}
