/* scratch.c -- temporary directories that are locked while their owner lives.
 *
 * See scratch.h. A directory without a lock was left behind by a process that ended, and may be
 * removed by any later process of the same user on the same machine.
 */
#include "base/scratch.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"

enum { TRIES = 8, DEPTH = 16 };

/* Short, since the path of a socket is. */
static uint32_t scratch_machine(void)
{
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    return wr_hash32_text(host);
}

static char *scratch_path(const char *where, const char *prefix, const char *end)
{
    struct wr_str path = {0};

    wr_str_addf(&path, "%s/%s%08" PRIx32 "-%s", where, prefix, scratch_machine(), end);
    return path.s;
}

/* A process that cleans up may lock it before the process that made it does, and may remove it. */
static bool scratch_lock(struct wr_scratch *s, bool *ret_locked)
{
    struct stat st;

    s->lock = open(s->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s->lock < 0)
        return false;
    *ret_locked = !flock(s->lock, LOCK_EX | LOCK_NB);
    if (!*ret_locked && errno == EWOULDBLOCK)
        return false;
    return !fstat(s->lock, &st) && st.st_nlink > 0 && st.st_uid == geteuid();
}

bool wr_scratch_make(struct wr_scratch *ret, const char *where, const char *prefix)
{
    for (int i = 0; i < TRIES; i++) {
        struct wr_scratch s = {.dir = scratch_path(where, prefix, "XXXXXX"), .lock = -1};
        bool locked;

        if (!mkdtemp(s.dir)) {
            int why = errno;

            wr_scratch_fini(&s);
            errno = why;
            return false;
        }
        if (scratch_lock(&s, &locked)) {
            *ret = s;
            return true;
        }
        wr_scratch_fini(&s);
    }
    errno = EBUSY;
    return false;
}

static int scratch_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void wr_scratch_remove(struct wr_scratch *s)
{
    assert(!s->dir || s->lock >= 0); /* only what is locked is removed */
    if (s->dir)
        nftw(s->dir, scratch_remove_one, DEPTH, FTW_DEPTH | FTW_PHYS);
    wr_scratch_fini(s);
}

void wr_scratch_fini(struct wr_scratch *s)
{
    free(s->dir);
    if (s->lock >= 0)
        close(s->lock);
    *s = (struct wr_scratch){.lock = -1};
}

void wr_scratch_left(const char *where, const char *prefix,
                     void (*each)(void *ctx, struct wr_scratch *s), void *ctx)
{
    char *pattern = scratch_path(where, prefix, "??????");
    glob_t g;

    if (!glob(pattern, 0, NULL, &g)) {
        for (size_t i = 0; i < g.gl_pathc; i++) {
            struct wr_scratch s = {.dir = wr_strdup(g.gl_pathv[i]), .lock = -1};
            bool locked = false;

            if (scratch_lock(&s, &locked) && locked)
                each(ctx, &s);
            wr_scratch_fini(&s);
        }
        globfree(&g);
    }
    free(pattern);
}

static void scratch_clean_one(void *ctx, struct wr_scratch *s)
{
    (void)ctx;
    wr_scratch_remove(s);
}

void wr_scratch_clean(const char *where, const char *prefix)
{
    wr_scratch_left(where, prefix, scratch_clean_one, NULL);
}
