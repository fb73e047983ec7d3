/* fd.c -- what descriptors and paths are on: mounts, and files when they are asked for.
 *
 * A table says for each descriptor which row it counts in. It is filled at open, or at the first
 * use of a descriptor that came from elsewhere, by one statx(); it is cleared at close.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib_priv.h"

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000
#endif

enum { MOUNTS = 256, TEXT = 65536, FILES_HASH = 16384 };

/* One line of mountinfo. */
struct mount {
    uint64_t id, dev;
    const char *path, *fs;
    uint32_t len;
    uint16_t row; /* 0: none yet */
    bool storage;
};

uint16_t lib_fd_row[LIB_FDS];
static struct {
    struct mount v[MOUNTS];
    uint32_t n;
    char text[TEXT];
} mounts;
static uint16_t files[FILES_HASH]; /* row, by device and inode; 0: free */
static uint16_t cwd_row;           /* row + 1 */

static const char *const not_storage[] = {
    "proc",     "sysfs",      "cgroup", "cgroup2", "devpts",  "debugfs",     "tracefs",  "bpf",
    "configfs", "securityfs", "mqueue", "pstore",  "fusectl", "binfmt_misc", "devtmpfs", NULL};

static uint64_t decimal(const char **s)
{
    uint64_t n = 0;

    while (**s >= '0' && **s <= '9')
        n = n * 10 + (uint64_t)(*(*s)++ - '0');
    return n;
}

/* Ends the word at *s and steps behind it. */
static char *word(char **s)
{
    char *w = *s;

    while (**s && **s != ' ')
        ++*s;
    if (**s)
        *(*s)++ = 0;
    return w;
}

/* "\040" in a mount point is a blank. */
static void unescape(char *s)
{
    char *to = s;

    for (; *s; s++) {
        bool octal = *s == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
                     s[3] >= '0' && s[3] <= '7';

        *to++ = octal ? (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + s[3] - '0') : *s;
        s += octal ? 3 : 0;
    }
    *to = 0;
}

/* 36 35 98:0 /root /mount/point options optional... - fstype source options */
static void add_line(char *line)
{
    struct mount m = {0};
    const char *s = word(&line);
    char *dash;

    m.id = decimal(&s);
    word(&line);
    s = word(&line);
    unsigned major = (unsigned)decimal(&s);

    s += *s == ':';
    m.dev = makedev(major, (unsigned)decimal(&s));
    word(&line);
    char *path = word(&line);

    dash = strstr(line, " - ");
    if (!dash || mounts.n == MOUNTS)
        return;
    unescape(path);
    m.path = path;
    m.len = (uint32_t)strlen(path);
    dash += 3;
    m.fs = word(&dash);
    m.storage = true;
    for (int i = 0; not_storage[i]; i++)
        m.storage = m.storage && strcmp(m.fs, not_storage[i]);
    mounts.v[mounts.n++] = m;
}

/* A mount keeps its row when the table is read again. */
static void read_mounts(void)
{
    struct {
        uint64_t id;
        uint16_t row;
    } old[MOUNTS];
    uint32_t nold = mounts.n;
    size_t n = 0;
    long got;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    for (uint32_t i = 0; i < nold; i++) {
        old[i].id = mounts.v[i].id;
        old[i].row = mounts.v[i].row;
    }
    while (n + 1 < TEXT && (got = syscall(SYS_read, fd, mounts.text + n, TEXT - 1 - n)) > 0)
        n += (size_t)got;
    syscall(SYS_close, fd);
    mounts.text[n] = 0;
    mounts.n = 0;
    for (char *at = mounts.text, *end; (end = strchr(at, '\n')); at = end + 1) {
        *end = 0;
        add_line(at);
    }
    for (uint32_t i = 0; i < mounts.n; i++)
        for (uint32_t k = 0; k < nold; k++)
            if (old[k].id == mounts.v[i].id)
                mounts.v[i].row = old[k].row;
}

void lib_mounts_init(void)
{
    if (lib.head && lib_enter_slow()) {
        read_mounts();
        lib_leave_slow();
    }
}

static struct mount *find_mount(const struct statx *x)
{
    uint64_t dev = makedev(x->stx_dev_major, x->stx_dev_minor);
    bool known = x->stx_mask & STATX_MNT_ID;

    for (uint32_t i = 0; i < mounts.n; i++)
        if (known ? mounts.v[i].id == x->stx_mnt_id : mounts.v[i].dev == dev)
            return &mounts.v[i];
    return NULL;
}

static uint32_t mount_row(struct mount *m)
{
    if (!m->storage)
        return PROF_ROW_OTHER;
    if (m->row)
        return m->row;
    uint32_t row = lib_name_claim();
    struct prof_name *name = &lib.names[row];

    m->row = (uint16_t)row;
    if (row == PROF_ROW_REST)
        return row;
    name->mount = row;
    name->dev = m->dev;
    name->id = m->id;
    lib_put(name->fs, sizeof name->fs, 0, m->fs);
    lib_put(name->path, sizeof name->path, 0, m->path);
    __atomic_store_n(&name->kind, PROF_K_MOUNT, __ATOMIC_RELEASE);
    return row;
}

/* Was it opened to be written to? */
static bool is_written(int fd)
{
    long how = syscall(SYS_fcntl, fd, F_GETFL);

    return how >= 0 && (how & O_ACCMODE) != O_RDONLY;
}

/* A row per file while there are rows, then the mount's. As many as the user asked for are for any
 * file; some more are for files that are written, because it matters who shares these. */
static uint32_t file_row(const struct statx *x, int fd, uint32_t mount)
{
    uint64_t dev = makedev(x->stx_dev_major, x->stx_dev_minor), ino = x->stx_ino;
    uint32_t h = (uint32_t)((ino * 0x9e3779b97f4a7c15u ^ dev * 0xff51afd7ed558ccdu) >> 40);

    for (h %= FILES_HASH; files[h]; h = (h + 1) % FILES_HASH)
        if (lib.names[files[h]].dev == dev && lib.names[files[h]].id == ino)
            return files[h];
    if (lib.file_rows >= lib.files &&
        (lib.file_rows >= lib.files + PROF_WRITTEN || !is_written(fd)))
        return mount;
    uint32_t row = lib_name_claim();
    struct prof_name *name = &lib.names[row];
    char link[64];

    if (row == PROF_ROW_REST)
        return mount;
    lib.file_rows++;
    lib_put_u64(link, sizeof link, lib_put(link, sizeof link, 0, "/proc/self/fd/"), (uint64_t)fd);
    name->mount = mount;
    name->dev = dev;
    name->id = ino;
    long n = syscall(SYS_readlink, link, name->path, sizeof name->path - 1);

    name->path[n > 0 ? n : 0] = 0;
    __atomic_store_n(&name->kind, PROF_K_FILE, __ATOMIC_RELEASE);
    files[h] = (uint16_t)row;
    return row;
}

static uint32_t resolve(const struct statx *x, int fd)
{
    uint32_t row = PROF_ROW_REST;

    if (!S_ISREG(x->stx_mode) && !S_ISDIR(x->stx_mode) && !S_ISBLK(x->stx_mode))
        return PROF_ROW_OTHER;
    if (!lib_enter_slow())
        return row;
    struct mount *m = find_mount(x);

    if (!m) {
        read_mounts();
        m = find_mount(x);
    }
    /* What is on no mount (a memfd) is memory. */
    row = !m ? (mounts.n == MOUNTS ? PROF_ROW_REST : PROF_ROW_OTHER) : mount_row(m);
    if (S_ISBLK(x->stx_mode) && fd >= 0)
        row = file_row(x, fd, PROF_ROW_REST); /* a disk itself is on no mount */
    else if (m && m->storage && fd >= 0 && !S_ISDIR(x->stx_mode))
        row = file_row(x, fd, row);
    lib_leave_slow();
    return row;
}

static bool ask(int fd, const char *path, int flags, struct statx *x)
{
    return !syscall(SYS_statx, fd, path, flags, STATX_TYPE | STATX_INO | STATX_MNT_ID, x);
}

LIB_SLOW uint32_t lib_fd_slow(int fd)
{
    struct statx x;
    int saved = errno;
    uint32_t row = PROF_ROW_OTHER;

    if (!lib_slot() || fd < 0)
        return row;
    if (ask(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, &x)) {
        row = resolve(&x, fd);
        if (fd < LIB_FDS && !lib_borrowed())
            lib_fd_row[fd] = (uint16_t)(row + 1);
    }
    errno = saved;
    return row;
}

void lib_fd_opened(int fd)
{
    if (fd < 0)
        return;
    lib_fd_closed(fd);
    lib_fd_slow(fd);
}

void lib_fd_closed(int fd)
{
    if ((unsigned)fd < LIB_FDS && !lib_borrowed())
        lib_fd_row[fd] = 0;
}

void lib_fd_copied(int from, int to)
{
    if ((unsigned)to < LIB_FDS && from != to && !lib_borrowed())
        lib_fd_row[to] = (unsigned)from < LIB_FDS ? lib_fd_row[from] : 0;
}

void lib_fd_closed_range(unsigned first, unsigned last)
{
    if (lib_borrowed())
        return;
    for (unsigned fd = first; fd <= last && fd < LIB_FDS; fd++)
        if (lib_fd_row[fd])
            lib_fd_row[fd] = 0;
}

void lib_cwd_changed(void)
{
    if (!lib_borrowed())
        cwd_row = 0;
}

static uint32_t cwd(void)
{
    struct statx x;
    int saved = errno;

    if (!cwd_row && ask(AT_FDCWD, ".", AT_STATX_DONT_SYNC, &x))
        cwd_row = (uint16_t)(resolve(&x, -1) + 1);
    errno = saved;
    return cwd_row ? cwd_row - 1u : PROF_ROW_REST;
}

/* By its text, without asking the kernel: links are not followed. The last of two mounts on
 * one place is the one that is seen. */
uint32_t lib_path_row(int dirfd, const char *path)
{
    struct mount *best = NULL;

    if (!lib_slot() || !path)
        return PROF_ROW_OTHER;
    if (*path != '/')
        return dirfd == AT_FDCWD ? cwd() : lib_fd(dirfd);
    for (uint32_t i = 0; i < mounts.n; i++) {
        struct mount *m = &mounts.v[i];
        bool root = m->len == 1;

        if ((!best || m->len >= best->len) && !strncmp(m->path, path, m->len) &&
            (root || !path[m->len] || path[m->len] == '/'))
            best = m;
    }
    if (!best)
        return PROF_ROW_REST;
    if (best->row || !best->storage)
        return best->storage ? best->row : PROF_ROW_OTHER;
    if (!lib_enter_slow())
        return PROF_ROW_REST;
    uint32_t row = mount_row(best);

    lib_leave_slow();
    return row;
}
