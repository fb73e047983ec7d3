#include "prof/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "prof/read/archive.h"
#include "prof/read/places.h"

#define PLACE_JOB PROF_ENDING "-job" /* hidden, and no profile */

enum { TRIES = 3, TEXT_MOST = 65536 };

static char *place_job_file(const char *dir)
{
    struct wr_str path = {0};

    wr_str_addf(&path, "%s/%s", dir, PLACE_JOB);
    return path.s;
}

/* What is needed to finish the job's work later: two texts, each ended by a zero byte. */
static bool place_mark(struct prof_place *p, const char *out, const char *command)
{
    char *path = place_job_file(p->dir);
    char *full = *out == '/' ? NULL : realpath(".", NULL);
    struct wr_str text = {0};

    wr_str_addf(&text, "%s%s%s", full ? full : "", full ? "/" : "", out);
    wr_str_addn(&text, "", 1);
    wr_str_add(&text, command);
    wr_str_addn(&text, "", 1);
    p->lock = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = p->lock >= 0 && !flock(p->lock, LOCK_EX | LOCK_NB) &&
              write(p->lock, text.s, text.n) == (ssize_t)text.n;

    wr_str_fini(&text);
    free(full);
    free(path);
    return ok;
}

static bool place_make_in(struct prof_place *ret, const char *where, const char *out,
                          const char *command)
{
    /* One who cleans up may take it away before it is locked. */
    for (int i = 0; i < TRIES; i++) {
        struct prof_place p = {.lock = -1};
        struct wr_str path = {0};

        wr_str_addf(&path, "%s/" PROF_PLACE_NAME "%d-XXXXXX", where, (int)getpid());
        p.dir = path.s;
        if (!mkdtemp(p.dir)) {
            prof_place_fini(&p);
            return false;
        }
        if (place_mark(&p, out, command)) {
            *ret = p;
            return true;
        }
        int why = errno;

        prof_place_remove(&p);
        errno = why;
    }
    return false;
}

bool prof_place_make(struct prof_place *ret, const char *out, const char *command,
                     struct wr_err *err)
{
    const char *where[PROF_PLACES];
    size_t n = prof_places(where);

    for (size_t i = 0; i < n; i++)
        if (place_make_in(ret, where[i], out, command))
            return true;
    return wr_fail_errno(err, "cannot make a directory for profiles; name one with --dir");
}

bool prof_place_given(struct prof_place *ret, const char *dir, struct wr_err *err)
{
    if (mkdir(dir, 0700) && errno != EEXIST)
        return wr_fail_errno(err, "cannot make the directory %s; name another with --dir", dir);
    if (access(dir, W_OK))
        return wr_fail_errno(err, "cannot write into %s; name another with --dir", dir);
    char *full = realpath(dir, NULL);

    *ret = (struct prof_place){.dir = full ? full : wr_strdup(dir), .lock = -1};
    return true;
}

/* The mark goes last: without it nobody would know what the rest is. */
void prof_place_remove(struct prof_place *p)
{
    DIR *d = opendir(p->dir);
    const struct dirent *e;

    while (d && (e = readdir(d)))
        if (strstr(e->d_name, PROF_ENDING) && strcmp(e->d_name, PLACE_JOB))
            unlinkat(dirfd(d), e->d_name, 0);
    if (d) {
        unlinkat(dirfd(d), PLACE_JOB, 0);
        closedir(d);
    }
    rmdir(p->dir);
    prof_place_fini(p);
}

void prof_place_fini(struct prof_place *p)
{
    free(p->dir);
    if (p->lock >= 0)
        close(p->lock);
    *p = (struct prof_place){.lock = -1};
}

/* The process that is in the directory's name, for one that has no mark yet. */
static bool place_maker_gone(const char *dir)
{
    const char *leaf = strrchr(dir, '/') + 1 + strlen(PROF_PLACE_NAME);
    long pid = strtol(leaf, NULL, 10);

    return pid > 1 && strchr(leaf, '-') && kill((pid_t)pid, 0) && errno == ESRCH;
}

static bool place_is_ours(const char *dir)
{
    struct stat st;

    return !lstat(dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
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
    char *text = wr_zalloc(TEXT_MOST + 1, 1);
    ssize_t n = pread(l->place.lock, text, TEXT_MOST, 0);
    const char *second = n > 0 ? memchr(text, 0, (size_t)n) : NULL;
    bool whole =
        second && second + 1 < text + n && memchr(second + 1, 0, (size_t)(text + n - second) - 1);

    if (whole) {
        l->out = wr_strdup(text);
        l->command = wr_strdup(second + 1);
    }
    free(text);
    return whole;
}

static void place_look(const char *dir, void (*each)(void *ctx, struct prof_left *l), void *ctx)
{
    struct prof_left l = {.place = {.lock = -1}};
    char *path = place_job_file(dir);
    struct stat st;

    if (place_is_ours(dir))
        l.place.lock = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    bool none = l.place.lock < 0 && errno == ENOENT;

    free(path);
    if (none && place_is_ours(dir) && place_maker_gone(dir))
        rmdir(dir); /* fails unless it is empty */
    if (l.place.lock < 0)
        return;
    if (fstat(l.place.lock, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
        !st.st_nlink || flock(l.place.lock, LOCK_EX | LOCK_NB)) {
        close(l.place.lock); /* in use */
        return;
    }
    l.place.dir = wr_strdup(dir);
    enum place_state state = place_state(dir);

    if (!place_read_mark(&l) || state == PLACE_EMPTY) {
        prof_place_remove(&l.place); /* it was killed before anything was counted */
    } else {
        l.running = state == PLACE_RUNNING;
        each(ctx, &l);
        prof_place_fini(&l.place);
    }
    free(l.out);
    free(l.command);
}

void prof_place_left(void (*each)(void *ctx, struct prof_left *l), void *ctx)
{
    const char *where[PROF_PLACES];
    size_t places = prof_places(where);

    for (size_t i = 0; i < places; i++) {
        struct wr_str pattern = {0};
        glob_t g;

        wr_str_addf(&pattern, "%s/" PROF_PLACE_NAME "*", where[i]);
        if (!glob(pattern.s, 0, NULL, &g)) {
            for (size_t n = 0; n < g.gl_pathc; n++)
                place_look(g.gl_pathv[n], each, ctx);
            globfree(&g);
        }
        wr_str_fini(&pattern);
    }
}
