/* output.c -- writes files beside their target and renames them when they are complete.
 *
 * See output.h for the rules. A struct wr_output is open from wr_output_open() or
 * wr_output_append() until commit, end or abandon. Invariant: while `part` is set its file is
 * locked and is removed by base/signals.c if a signal ends the process.
 */
#include "base/output.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/signals.h"

const struct wr_format wr_format_svg = {
    .name = "an SVG picture", .endings = ".svg", .begins = "<svg", .holds = WR_SVG_MARK};
const struct wr_format wr_format_csv = {.name = "such a table in CSV", .endings = ".csv"};
const struct wr_format wr_format_log = {.name = "such a log", .endings = ".log .txt"};

enum { HEAD = 4096, LEAST_LINE = 4 };

/* ---- what was written ---- */

/* What was written since wr_outputs_begin(). A directory that was only opened is not yet; what is
 * written into it is said of the directory. Guarded by a lock, because files are written by
 * threads. */
struct output_name {
    char *name;
    bool written;
};

static pthread_mutex_t output_names_lock = PTHREAD_MUTEX_INITIALIZER;
static WR_VEC(struct output_name) output_names;

void wr_outputs_begin(void)
{
    pthread_mutex_lock(&output_names_lock);
    for (size_t i = 0; i < output_names.n; i++)
        free(output_names.v[i].name);
    wr_vec_fini(&output_names);
    pthread_mutex_unlock(&output_names_lock);
}

/* Is `name` that, or in that directory? */
static bool output_is_within(const char *name, const char *that)
{
    size_t n = strlen(that);

    while (n > 1 && that[n - 1] == '/')
        n--;
    return !strncmp(name, that, n) && (!name[n] || name[n] == '/');
}

static void output_add_name(const char *name, bool written)
{
    bool known = false;

    pthread_mutex_lock(&output_names_lock);
    for (size_t i = 0; !known && i < output_names.n; i++)
        if ((known = output_is_within(name, output_names.v[i].name)))
            output_names.v[i].written |= written;
    if (!known)
        wr_vec_push(&output_names, (struct output_name){wr_strdup(name), written});
    pthread_mutex_unlock(&output_names_lock);
}

void wr_output_note(const char *name)
{
    output_add_name(name, true);
}

void wr_outputs_each(void (*call)(void *ctx, const char *name), void *ctx)
{
    for (size_t i = 0; i < output_names.n; i++)
        if (output_names.v[i].written && !access(output_names.v[i].name, F_OK))
            call(ctx, output_names.v[i].name);
}

/* ---- endings ---- */

static bool output_is_special(const char *path)
{
    struct stat st;

    return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* ".svg" of "dir.d/a.b.svg"; NULL: none. A leading dot begins a hidden name. */
static const char *output_ending(const char *path)
{
    const char *slash = strrchr(path, '/'), *leaf = slash ? slash + 1 : path;
    const char *dot = strrchr(leaf, '.');

    return dot && dot > leaf && dot[1] ? dot : NULL;
}

/* Is the word one of those in ".html .htm"? */
static bool output_has_ending(const char *endings, const char *ending)
{
    size_t n = strlen(ending);

    for (const char *p = endings; *p; p += *p == ' ') {
        size_t len = strcspn(p, " ");

        if (len == n && !memcmp(p, ending, n))
            return true;
        p += len;
    }
    return false;
}

bool wr_output_format(const struct wr_format **ret, const char *path,
                      const struct wr_format *const *formats, struct wr_err *err)
{
    const char *ending = output_ending(path);
    struct wr_str known = {0};

    if (!ending || output_is_special(path)) {
        *ret = formats[0];
        return true;
    }
    assert(formats[0]);
    for (size_t i = 0; formats[i]; i++) {
        if (!formats[i]->endings || output_has_ending(formats[i]->endings, ending)) {
            *ret = formats[i];
            wr_str_fini(&known);
            return true;
        }
        wr_str_addf(&known, "%s%s", known.n ? " " : "", formats[i]->endings);
    }
    wr_fail(err, WR_INPUT, "%s: %s cannot be written here; give a name that ends in %s", path,
            ending, wr_str_get(&known));
    wr_str_fini(&known);
    return false;
}

static bool output_check_ending(const char *path, const struct wr_format *format,
                                struct wr_err *err)
{
    const struct wr_format *const one[] = {format, NULL}, *ignored;

    return wr_output_format(&ignored, path, one, err);
}

/* ---- what is there ---- */

static bool output_busy(const char *name, struct wr_err *err)
{
    return wr_fail(err, WR_INPUT,
                   "%s is being written by another run; wait until it ends, or choose another name",
                   name);
}

static bool output_holds(const struct wr_format *f, const char *head, size_t n)
{
    size_t len = strlen(f->holds);

    if (!f->holds_at)
        return memmem(head, n, f->holds, len);
    return n >= f->holds_at + len && !memcmp(head + f->holds_at, f->holds, len);
}

/* Does what is there begin as weir's own? `text`: what shall replace it, where that is known. */
static bool output_is_own(const struct wr_format *f, const char *head, size_t n,
                          const struct wr_str *text)
{
    if (!n)
        return true; /* nothing is lost */
    if (f->begins) {
        size_t len = f->begins_n ? f->begins_n : strlen(f->begins);

        return n >= len && !memcmp(head, f->begins, len) && (!f->holds || output_holds(f, head, n));
    }
    if (!text)
        return false;
    /* A brace alone begins any JSON. */
    size_t line = strcspn(wr_str_get(text), "\n") + 1;

    return line > LEAST_LINE && line <= text->n && line <= n && !memcmp(head, text->s, line);
}

static bool output_judge(const char *name, const struct wr_format *f, unsigned flags, bool own,
                         struct wr_err *err)
{
    if (!own && f->own_only)
        return wr_fail(err, WR_INPUT, "%s exists and is not %s, so it stays; choose another name",
                       name, f->name);
    if (flags & WR_FORCE || (own && !f->data))
        return true;
    if (own)
        return wr_fail(err, WR_EXISTS, "%s exists; choose another name or replace it", name);
    return wr_fail(err, WR_EXISTS,
                   "%s exists and is not %s that weir wrote; choose another name or replace it",
                   name, f->name);
}

static bool output_is_input(const char *name, const struct stat *st, unsigned flags,
                            struct wr_err *err)
{
    if (flags & WR_IN_PLACE || !wr_input_is(st))
        return false;
    (void)wr_fail(err, WR_INPUT, "%s is an input of this command, so it stays; choose another name",
                  name);
    return true;
}

/* May a regular file be replaced? */
static bool output_may_replace(const char *name, const char *target, const struct wr_format *f,
                               unsigned flags, const struct wr_str *text, struct wr_err *err)
{
    int fd = open(target, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char head[HEAD];
    struct stat st;

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) /* nothing is there */
        return true;
    if (fd < 0 || fstat(fd, &st)) {
        wr_fail_errno(err, "%s exists and cannot be read; choose another name", name);
        if (fd >= 0)
            close(fd);
        return false;
    }
    /* A process that appends to a table holds a lock on it. */
    bool busy = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
    ssize_t n = pread(fd, head, sizeof head, 0);

    close(fd);
    if (output_is_input(name, &st, flags, err))
        return false;
    if (busy)
        return output_busy(name, err);
    if (n < 0)
        return wr_fail(err, WR_INPUT, "%s exists and cannot be read; choose another name", name);
    return output_judge(name, f, flags,
                        flags & WR_IN_PLACE || output_is_own(f, head, (size_t)n, text), err);
}

/* The file that is meant, behind links; NULL, with an error, when there can be none. */
static char *output_target(const char *name, const struct wr_format *f, struct wr_err *err)
{
    char *real = realpath(name, NULL);
    struct stat st;

    if (real && !stat(real, &st) && !S_ISREG(st.st_mode)) {
        free(real);
        (void)wr_fail(err, WR_INPUT, "%s exists and is not %s, so it stays; choose another name",
                      name, f->name);
        return NULL;
    }
    if (real)
        return real;
    if (!lstat(name, &st) && S_ISLNK(st.st_mode)) {
        (void)wr_fail(err, WR_INPUT, "%s is a link to nothing; remove it or choose another name",
                      name);
        return NULL;
    }
    return wr_strdup(name);
}

static bool output_check(const char *path, const struct wr_format *format, unsigned flags,
                         const struct wr_str *text, struct wr_err *err)
{
    if (!output_check_ending(path, format, err))
        return false;
    if (output_is_special(path) && !format->own_only)
        return true;
    char *target = output_target(path, format, err);
    bool ok = target && output_may_replace(path, target, format, flags, text, err);

    free(target);
    return ok;
}

bool wr_output_check(const char *path, const struct wr_format *format, unsigned flags,
                     struct wr_err *err)
{
    /* By its first line it can be judged when there is one. */
    return output_check(path, format, format->begins ? flags : flags | WR_FORCE, NULL, err);
}

/* ---- the part ---- */

static char *output_part(const char *target, const char *tail)
{
    const char *slash = strrchr(target, '/'), *leaf = slash ? slash + 1 : target;
    struct wr_str part = {0};

    wr_str_addn(&part, target, (size_t)(leaf - target));
    wr_str_addf(&part, ".%s.weir-part%s", leaf, tail);
    return part.s;
}

static int output_fail_place(const struct wr_output *o, struct wr_err *err)
{
    (void)wr_fail_errno(err, "cannot write %s; choose a place that may be written", o->name);
    return -1;
}

/* A file system without locks: a part of its own mixes with no other's. */
static int output_open_apart(struct wr_output *o, mode_t mode, struct wr_err *err)
{
    char tail[32];

    unlink(o->part);
    free(o->part);
    snprintf(tail, sizeof tail, "-%ld", (long)getpid());
    o->part = output_part(o->target, tail);
    int fd = open(o->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);

    return fd < 0 ? output_fail_place(o, err) : fd;
}

/* Is what was opened and locked still what has the part's name? Not so when another writer has
 * renamed or removed it in between. */
static bool output_has_name(const struct wr_output *o, int fd)
{
    struct stat held, named;

    return !fstat(fd, &held) && !stat(o->part, &named) && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

/* An open, locked, empty part; -1 with an error. */
static int output_lock(struct wr_output *o, mode_t mode, struct wr_err *err)
{
    for (;;) {
        int fd = open(o->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode);

        if (fd < 0)
            return output_fail_place(o, err);
        if (flock(fd, LOCK_EX | LOCK_NB)) {
            bool busy = errno == EWOULDBLOCK;

            close(fd);
            if (!busy)
                return output_open_apart(o, mode, err);
            (void)output_busy(o->name, err);
            return -1;
        }
        bool mine = output_has_name(o, fd);

        if (mine && !ftruncate(fd, 0))
            return fd;
        if (mine)
            (void)output_fail_place(o, err);
        close(fd);
        if (mine)
            return -1;
    }
}

static void output_fini(struct wr_output *o)
{
    free(o->target);
    free(o->part);
    *o = (struct wr_output){0};
}

/* The new file gets the permissions of the one that it replaces. */
static void output_copy_mode(const struct wr_output *o, int fd)
{
    struct stat st;

    if (!stat(o->target, &st) && fchmod(fd, st.st_mode & 0777))
        return; /* it keeps those of a new file */
}

static bool output_open(struct wr_output *ret, const char *path, const struct wr_format *format,
                        unsigned flags, const struct wr_str *text, struct wr_err *err)
{
    struct wr_output o = {.name = path, .flags = flags};

    if (!output_check_ending(path, format, err))
        return false;
    if (output_is_special(path) && !format->own_only) {
        if (!(o.f = fopen(path, "we")))
            return wr_fail_errno(err, "cannot write %s; choose another file", path);
        *ret = o;
        return true;
    }
    if (!(o.target = output_target(path, format, err)))
        return false;
    o.part = output_part(o.target, "");
    int fd = output_lock(&o, flags & WR_PRIVATE ? 0600 : 0666, err);

    if (fd < 0) {
        output_fini(&o);
        return false;
    }
    wr_temporary_add(o.part);
    if (!(flags & WR_PRIVATE))
        output_copy_mode(&o, fd);
    if (!(o.f = fdopen(fd, "w+"))) {
        wr_fail_errno(err, "cannot write %s; close other files", path);
        close(fd);
    }
    if (!o.f || !output_may_replace(path, o.target, format, flags, text, err)) {
        wr_output_abandon(&o);
        return false;
    }
    *ret = o;
    return true;
}

bool wr_output_open(struct wr_output *ret, const char *path, const struct wr_format *format,
                    unsigned flags, struct wr_err *err)
{
    return output_open(ret, path, format, flags, NULL, err);
}

void wr_output_abandon(struct wr_output *o)
{
    if (o->part) {
        unlink(o->part);
        wr_temporary_remove(o->part);
    }
    if (o->f)
        fclose(o->f);
    output_fini(o);
}

/* All bytes are with the file system, as far as it says so before the file is closed: some report
 * a full disk only when a descriptor is. */
static bool output_flush(struct wr_output *o, struct wr_err *err)
{
    bool ok = !fflush(o->f) && !ferror(o->f);

    /* What failed before has been forgotten; the next byte fails in the same way. */
    if (!ok && write(fileno(o->f), "", 1) == 1)
        errno = EIO;
    if (ok && o->part) {
        int again = dup(fileno(o->f));

        ok = again < 0 || !close(again);
    }
    return ok ||
           wr_fail_errno(err, "cannot write %s; free some space or choose another place", o->name);
}

bool wr_output_publish(struct wr_output *o, struct wr_err *err)
{
    assert(o->f); /* open */
    if (!output_flush(o, err))
        return false;
    if (!o->part)
        return true;
    if (rename(o->part, o->target))
        return wr_fail_errno(err, "cannot write %s; choose a place that may be written", o->name);
    wr_temporary_remove(o->part);
    free(o->part);
    o->part = NULL;
    wr_output_note(o->name);
    return true;
}

bool wr_output_end(struct wr_output *o, struct wr_err *err)
{
    assert(o->f);
    bool ok = output_flush(o, err);

    if (fclose(o->f) && ok)
        ok =
            wr_fail_errno(err, "cannot write %s; free some space or choose another place", o->name);
    o->f = NULL;
    output_fini(o);
    return ok;
}

bool wr_output_commit(struct wr_output *o, struct wr_err *err)
{
    struct stat st;

    /* What was read only after it was opened is an input, too. */
    if ((o->part && !stat(o->target, &st) && output_is_input(o->name, &st, o->flags, err)) ||
        !wr_output_publish(o, err)) {
        wr_output_abandon(o);
        return false;
    }
    return wr_output_end(o, err);
}

bool wr_output_append(struct wr_output *ret, const char *path, struct wr_err *err)
{
    struct wr_output o = {.name = path, .f = fopen(path, "ae")};

    if (!o.f)
        return wr_fail_errno(err, "cannot write %s; choose a place that may be written", path);
    if (flock(fileno(o.f), LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        fclose(o.f);
        return output_busy(path, err);
    }
    wr_output_note(path);
    *ret = o;
    return true;
}

bool wr_output_text(const char *path, const struct wr_format *format, unsigned flags,
                    const struct wr_str *text, struct wr_err *err)
{
    struct wr_output o;

    if (!output_open(&o, path, format, flags, text, err))
        return false;
    fwrite(wr_str_get(text), 1, text->n, o.f); /* its failure is seen when it is closed */
    return wr_output_commit(&o, err);
}

/* ---- directories ---- */

static bool output_is_mark(int dir, const char *name, const struct wr_format *const *marks)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char head[HEAD];
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
    bool found = false;

    for (size_t i = 0; n > 0 && marks[i]; i++)
        found |= output_is_own(marks[i], head, (size_t)n, NULL);
    if (fd >= 0)
        close(fd);
    return found;
}

bool wr_output_dir(const char *path, const struct wr_format *const *marks, bool force,
                   bool *ret_made, struct wr_err *err)
{
    bool made = !mkdir(path, 0777), strange = false, known = false;
    DIR *d = made || errno == EEXIST ? opendir(path) : NULL;

    if (!d)
        return wr_fail_errno(err, "cannot make the directory %s; choose another", path);
    for (const struct dirent *e; !made && !known && (e = readdir(d));) {
        if (e->d_name[0] == '.') /* hidden, as unfinished files are */
            continue;
        known = output_is_mark(dirfd(d), e->d_name, marks);
        strange = true;
    }
    closedir(d);
    if (strange && !known && !force)
        return wr_fail(err, WR_EXISTS,
                       "%s exists and holds nothing of this kind that weir wrote; choose another "
                       "directory or use it nevertheless",
                       path);
    if (ret_made)
        *ret_made = made;
    output_add_name(path, false);
    return true;
}
