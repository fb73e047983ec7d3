/* profile_dir.c -- the directory of a job's profiles: created, marked, found again after a crash.
 *
 * A directory that weir made is locked while the launcher lives (base/scratch.h) and holds a mark
 * with the run file and the command, so that a later `weir profile` can finish the work of a
 * launcher that was killed. Called by `weir profile`.
 */
#include "prof/profile_dir.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "prof/read/archive.h"
#include "prof/read/places.h"

#define DIR_JOB PROF_ENDING "-job" /* hidden, and no profile */

enum { TEXT_MOST = 65536 };

static char *dir_job_file(const char *dir)
{
    struct wr_str path = {0};

    wr_str_addf(&path, "%s/%s", dir, DIR_JOB);
    return path.s;
}

/* The mark: path of the run file and command, each ended by a zero byte. */
static bool dir_write_mark(const char *dir, const char *out, const char *command)
{
    assert(*dir);
    char *path = dir_job_file(dir);
    char *full = *out == '/' ? NULL : realpath(".", NULL);
    struct wr_str text = {0};

    wr_str_addf(&text, "%s%s%s", full ? full : "", full ? "/" : "", out);
    wr_str_addn(&text, "", 1);
    wr_str_add(&text, command);
    wr_str_addn(&text, "", 1);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, text.s, text.n) == (ssize_t)text.n;

    if (fd >= 0)
        close(fd);
    wr_str_fini(&text);
    free(full);
    free(path);
    return ok;
}

bool prof_dir_make(struct wr_scratch *ret, const char *out, const char *command, struct wr_err *err)
{
    const char *where[PROF_PLACES];
    size_t n = prof_places(where);

    for (size_t i = 0; i < n; i++) {
        if (!wr_scratch_make(ret, where[i], PROF_PLACE_NAME))
            continue;
        if (dir_write_mark(ret->dir, out, command))
            return true;
        int why = errno;

        wr_scratch_remove(ret);
        errno = why;
    }
    return wr_fail_errno(
        err, "cannot make a directory for profiles; set dir to one that can be written");
}

bool prof_dir_given(struct wr_scratch *ret, const char *dir, struct wr_err *err)
{
    if (mkdir(dir, 0700) && errno != EEXIST)
        return wr_fail_errno(err, "dir: cannot make %s; name another", dir);
    if (access(dir, W_OK))
        return wr_fail_errno(err, "dir: cannot write into %s; name another", dir);
    char *full = realpath(dir, NULL);

    *ret = (struct wr_scratch){.dir = full ? full : wr_strdup(dir), .lock = -1};
    return true;
}

enum dir_use { DIR_EMPTY, DIR_ENDED, DIR_RUNNING };

static bool dir_name_ends(const char *name, const char *ending)
{
    size_t n = strlen(name), e = strlen(ending);

    return *name != '.' && n > e && !strcmp(name + n - e, ending);
}

/* The state of one file. The profile of a killed process stays as it was. */
static enum dir_use dir_file_state(const char *dir, const char *name)
{
    enum dir_use state = DIR_EMPTY;
    struct wr_err ignored = {0};
    struct wr_str path = {0};
    struct prof_file f;

    if (dir_name_ends(name, PROF_ARCHIVE_ENDING))
        return DIR_ENDED;
    if (!dir_name_ends(name, PROF_ENDING))
        return DIR_EMPTY;
    wr_str_addf(&path, "%s/%s", dir, name);
    if (prof_file_glance(&f, path.s, &ignored)) {
        if (f.head.shared)
            state = f.nslots ? DIR_ENDED : DIR_EMPTY;
        else
            state = prof_file_alive(&f.head) ? DIR_RUNNING : DIR_ENDED;
        prof_file_fini(&f);
    }
    wr_str_fini(&path);
    return state;
}

static enum dir_use dir_state(const char *dir)
{
    DIR *d = opendir(dir);
    const struct dirent *e;
    enum dir_use state = DIR_EMPTY;

    while (d && state != DIR_RUNNING && (e = readdir(d))) {
        enum dir_use one = dir_file_state(dir, e->d_name);

        state = one > state ? one : state;
    }
    if (d)
        closedir(d);
    return state;
}

static bool dir_read_mark(struct prof_left *l)
{
    assert(!l->out && !l->command);
    char *path = dir_job_file(l->place->dir), *text = wr_zalloc(TEXT_MOST + 1, 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    ssize_t n = fd >= 0 ? read(fd, text, TEXT_MOST) : 0;
    const char *second = n > 0 ? memchr(text, 0, (size_t)n) : NULL;
    bool whole =
        second && second + 1 < text + n && memchr(second + 1, 0, (size_t)(text + n - second) - 1);

    if (whole) {
        l->out = wr_strdup(text);
        l->command = wr_strdup(second + 1);
    }
    if (fd >= 0)
        close(fd);
    free(text);
    free(path);
    return whole;
}

struct dir_visitor {
    void (*each)(void *ctx, struct prof_left *l);
    void *ctx;
};

static void dir_visit(void *ctx, struct wr_scratch *s)
{
    const struct dir_visitor *seen = ctx;
    struct prof_left l = {.place = s};
    enum dir_use state = dir_state(s->dir);

    if (!dir_read_mark(&l) || state == DIR_EMPTY) {
        wr_scratch_remove(s); /* killed before anything was counted */
    } else {
        l.running = state == DIR_RUNNING;
        seen->each(seen->ctx, &l);
    }
    free(l.out);
    free(l.command);
}

void prof_dir_left(void (*each)(void *ctx, struct prof_left *l), void *ctx)
{
    struct dir_visitor seen = {each, ctx};
    const char *where[PROF_PLACES];
    size_t n = prof_places(where);

    for (size_t i = 0; i < n; i++)
        wr_scratch_left(where[i], PROF_PLACE_NAME, dir_visit, &seen);
}
