#include "prof/place.h"

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

#define PLACE_JOB PROF_ENDING "-job" /* hidden, and no profile */

enum { TEXT_MOST = 65536 };

static char *place_job_file(const char *dir)
{
    struct wr_str path = {0};

    wr_str_addf(&path, "%s/%s", dir, PLACE_JOB);
    return path.s;
}

/* What is needed to finish the job's work later: two texts, each ended by a zero byte. */
static bool place_mark(const char *dir, const char *out, const char *command)
{
    char *path = place_job_file(dir);
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

bool prof_place_make(struct wr_scratch *ret, const char *out, const char *command,
                     struct wr_err *err)
{
    const char *where[PROF_PLACES];
    size_t n = prof_places(where);

    for (size_t i = 0; i < n; i++) {
        if (!wr_scratch_make(ret, where[i], PROF_PLACE_NAME))
            continue;
        if (place_mark(ret->dir, out, command))
            return true;
        int why = errno;

        wr_scratch_remove(ret);
        errno = why;
    }
    return wr_fail_errno(err, "cannot make a directory for profiles; name one with --dir");
}

bool prof_place_given(struct wr_scratch *ret, const char *dir, struct wr_err *err)
{
    if (mkdir(dir, 0700) && errno != EEXIST)
        return wr_fail_errno(err, "cannot make the directory %s; name another with --dir", dir);
    if (access(dir, W_OK))
        return wr_fail_errno(err, "cannot write into %s; name another with --dir", dir);
    char *full = realpath(dir, NULL);

    *ret = (struct wr_scratch){.dir = full ? full : wr_strdup(dir), .lock = -1};
    return true;
}

enum place_state { PLACE_EMPTY, PLACE_ENDED, PLACE_RUNNING };

static bool place_ends(const char *name, const char *ending)
{
    size_t n = strlen(name), e = strlen(ending);

    return *name != '.' && n > e && !strcmp(name + n - e, ending);
}

/* Of one file of it. A process that is gone leaves its profile as it was. */
static enum place_state place_file(const char *dir, const char *name)
{
    enum place_state state = PLACE_EMPTY;
    struct wr_err ignored = {0};
    struct wr_str path = {0};
    struct prof_file f;

    if (place_ends(name, PROF_ARCHIVE_ENDING))
        return PLACE_ENDED;
    if (!place_ends(name, PROF_ENDING))
        return PLACE_EMPTY;
    wr_str_addf(&path, "%s/%s", dir, name);
    if (prof_file_glance(&f, path.s, &ignored)) {
        if (f.head.shared)
            state = f.nseats ? PLACE_ENDED : PLACE_EMPTY;
        else
            state = prof_file_alive(&f.head) ? PLACE_RUNNING : PLACE_ENDED;
        prof_file_fini(&f);
    }
    wr_str_fini(&path);
    return state;
}

static enum place_state place_state(const char *dir)
{
    DIR *d = opendir(dir);
    const struct dirent *e;
    enum place_state state = PLACE_EMPTY;

    while (d && state != PLACE_RUNNING && (e = readdir(d))) {
        enum place_state one = place_file(dir, e->d_name);

        state = one > state ? one : state;
    }
    if (d)
        closedir(d);
    return state;
}

static bool place_read_mark(struct prof_left *l)
{
    char *path = place_job_file(l->place->dir), *text = wr_zalloc(TEXT_MOST + 1, 1);
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

struct place_seen {
    void (*each)(void *ctx, struct prof_left *l);
    void *ctx;
};

static void place_look(void *ctx, struct wr_scratch *s)
{
    const struct place_seen *seen = ctx;
    struct prof_left l = {.place = s};
    enum place_state state = place_state(s->dir);

    if (!place_read_mark(&l) || state == PLACE_EMPTY) {
        wr_scratch_remove(s); /* it was killed before anything was counted */
    } else {
        l.running = state == PLACE_RUNNING;
        seen->each(seen->ctx, &l);
    }
    free(l.out);
    free(l.command);
}

void prof_place_left(void (*each)(void *ctx, struct prof_left *l), void *ctx)
{
    struct place_seen seen = {each, ctx};
    const char *where[PROF_PLACES];
    size_t n = prof_places(where);

    for (size_t i = 0; i < n; i++)
        wr_scratch_left(where[i], PROF_PLACE_NAME, place_look, &seen);
}
