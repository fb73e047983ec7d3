/* fd.c -- the rows of descriptors and paths: mounts, and files when requested.
 *
 * A table holds the row of each descriptor. It is filled at open, or at the first use of an
 * inherited descriptor, by one statx(); it is cleared at close.
 *
 * Storage is a regular file, a directory or a block device, on a file system that stores data. A
 * mount that /proc/self/mountinfo does not list (in a chroot, or without /proc) is named by its
 * device: "unknown 8:1".
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib_priv.h"

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000
#endif

enum { MOUNTS = 256, UNLISTED = 64, TEXT = 65536, FILES_HASH = 16384 };

/* One line of mountinfo. */
struct mount {
    uint64_t id, dev;
    const char *path, *fs;
    uint32_t len;
    uint16_t row; /* 0: none yet */
    bool storage;
};

_Static_assert(FILES_HASH > 2 * (int)PROF_NAMES_MOST,
               "probing of files ends: the table is never full");
_Static_assert(PROF_NAMES_MOST < UINT16_MAX, "row + 1 fits in lib_fd_row");

uint16_t lib_fd_row[LIB_FDS];
uint64_t lib_fd_next[LIB_FDS];
static struct {
    struct mount v[MOUNTS];
    uint32_t n;
    bool ready; /* they were read once */
    char text[TEXT];
} mounts;
static uint16_t files[FILES_HASH]; /* row, by device and inode; 0: free */
static uint16_t cwd_row, root_row; /* row + 1; root_row: only if no mount is listed for / */

/* File systems that store no data, by name and statfs magic. Those without a name are internal to
 * the kernel; devtmpfs has the magic of tmpfs. */
static const struct {
    const char *name;
    uint32_t magic;
} not_storage[] = {
    {"proc", 0x9fa0},
    {"sysfs", 0x62656572},
    {"cgroup", 0x27e0eb},
    {"cgroup2", 0x63677270},
    {"devpts", 0x1cd1},
    {"debugfs", 0x64626720},
    {"tracefs", 0x74726163},
    {"bpf", 0xcafe4a11},
    {"configfs", 0x62656570},
    {"securityfs", 0x73636673},
    {"mqueue", 0x19800202},
    {"pstore", 0x6165676c},
    {"fusectl", 0x65735543},
    {"binfmt_misc", 0x42494e4d},
    {"devtmpfs", 0},
    {"", 0x6e736673 /* nsfs */},
    {"", 0x09041934 /* anon_inode */},
    {"", 0x50494446 /* pidfs */},
    {"", 0x444d4142 /* dma-buf */},
    {"", 0x5345434d /* secretmem */},
    {"", 0x958458f6 /* hugetlbfs: memory */},
};

enum { NOT_STORAGE = sizeof not_storage / sizeof not_storage[0], TMPFS = 0x01021994 };

static uint64_t fd_decimal(const char **s)
{
    uint64_t n = 0;

    while (**s >= '0' && **s <= '9')
        n = n * 10 + (uint64_t)(*(*s)++ - '0');
    return n;
}

/* Ends the word at *s and steps behind it. */
static char *fd_word(char **s)
{
    char *w = *s;

    while (**s && **s != ' ')
        ++*s;
    if (**s)
        *(*s)++ = 0;
    return w;
}

/* "\040" in a mount point is a blank. */
static void fd_unescape(char *s)
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
static void fd_add_mount(char *line)
{
    struct mount m = {0};
    const char *s = fd_word(&line);
    char *dash;

    m.id = fd_decimal(&s);
    fd_word(&line);
    s = fd_word(&line);
    unsigned major = (unsigned)fd_decimal(&s);

    s += *s == ':';
    m.dev = makedev(major, (unsigned)fd_decimal(&s));
    fd_word(&line);
    char *path = fd_word(&line);

    dash = strstr(line, " - ");
    if (!dash || mounts.n == MOUNTS)
        return;
    fd_unescape(path);
    m.path = path;
    m.len = (uint32_t)strlen(path);
    dash += 3;
    m.fs = fd_word(&dash);
    m.storage = true;
    for (int i = 0; i < NOT_STORAGE; i++)
        m.storage = m.storage && strcmp(m.fs, not_storage[i].name);
    mounts.v[mounts.n++] = m;
}

/* A mount keeps its row when the table is read again. */
static void fd_read_mounts(void)
{
    struct {
        uint64_t id;
        uint16_t row;
    } old[MOUNTS];
    uint32_t nold = mounts.n;
    size_t n = 0;
    long got;
    int fd = (int)lib_sys(SYS_openat, AT_FDCWD, "/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    for (uint32_t i = 0; i < nold; i++) {
        old[i].id = mounts.v[i].id;
        old[i].row = mounts.v[i].row;
    }
    while (n + 1 < TEXT && (got = lib_sys(SYS_read, fd, mounts.text + n, TEXT - 1 - n)) > 0)
        n += (size_t)got;
    lib_sys(SYS_close, fd);
    lib_own_read(n);
    mounts.text[n] = 0;
    mounts.n = 0;
    for (char *at = mounts.text, *end; (end = strchr(at, '\n')); at = end + 1) {
        *end = 0;
        fd_add_mount(at);
    }
    for (uint32_t i = 0; i < mounts.n; i++)
        for (uint32_t k = 0; k < nold; k++)
            if (old[k].id == mounts.v[i].id)
                mounts.v[i].row = old[k].row;
}

/* Reading them costs more than any other part of a process's start, and many do nothing with
 * files. */
LIB_SLOW void lib_mounts_need(void)
{
    int saved = errno;

    if (lib.head && !lib.quiet && lib_enter_slow()) {
        if (!mounts.ready)
            fd_read_mounts();
        __atomic_store_n(&mounts.ready, true, __ATOMIC_RELEASE);
        lib_leave_slow();
    }
    errno = saved;
}

static uint64_t fd_device(const struct statx *x)
{
    return makedev(x->stx_dev_major, x->stx_dev_minor);
}

static struct mount *fd_find_mount(const struct statx *x)
{
    uint64_t dev = fd_device(x);
    bool known = x->stx_mask & STATX_MNT_ID;

    for (uint32_t i = 0; i < mounts.n; i++)
        if (known ? mounts.v[i].id == x->stx_mnt_id : mounts.v[i].dev == dev)
            return &mounts.v[i];
    return NULL;
}

static uint32_t fd_mount_row(struct mount *m)
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

/* "8:1" */
static size_t fd_put_device(char *to, size_t cap, size_t at, uint64_t dev)
{
    at = lib_put_u64(to, cap, at, major(dev));
    at = lib_put(to, cap, at, ":");
    return lib_put_u64(to, cap, at, minor(dev));
}

/* memfd_create() uses an internal mount of the kernel. */
static bool fd_is_memfd(const struct statx *x, int fd)
{
    static uint64_t dev; /* of that mount */
    struct statx own;

    if (fd < 0 || x->stx_nlink)
        return false;
    if (!dev) {
        int made = (int)lib_sys(SYS_memfd_create, "", 1 /* close on exec */);

        if (made >= 0 && !lib_sys(SYS_statx, made, "", AT_EMPTY_PATH, STATX_TYPE, &own))
            dev = fd_device(&own);
        if (made >= 0)
            lib_sys(SYS_close, made);
    }
    return fd_device(x) == dev;
}

static bool fd_is_storage(const struct statx *x, int fd, const char *path)
{
    struct statfs s;

    if (fd >= 0 ? lib_sys(SYS_fstatfs, fd, &s) : lib_sys(SYS_statfs, path, &s))
        return true;
    for (int i = 0; i < NOT_STORAGE; i++)
        if (not_storage[i].magic && (uint32_t)s.f_type == not_storage[i].magic)
            return false;
    return (uint32_t)s.f_type != TMPFS || !fd_is_memfd(x, fd);
}

/* Devices whose mount is not listed, with their rows. */
static struct {
    uint64_t dev;
    uint16_t row;
} unlisted[UNLISTED];
static uint32_t nunlisted;

static uint32_t fd_find_unlisted(const struct statx *x)
{
    for (uint32_t i = 0; i < nunlisted; i++)
        if (unlisted[i].dev == fd_device(x))
            return i;
    return UINT32_MAX;
}

static uint32_t fd_unlisted_row(const struct statx *x, int fd, const char *path)
{
    uint32_t known = fd_find_unlisted(x), row = PROF_ROW_OTHER;
    uint64_t dev = fd_device(x);

    if (known != UINT32_MAX)
        return unlisted[known].row;
    if (fd_is_storage(x, fd, path))
        row = lib_name_claim();
    if (row >= PROF_ROW_FIRST) {
        struct prof_name *name = &lib.names[row];

        name->mount = row;
        name->dev = dev;
        size_t at = lib_put(name->path, sizeof name->path, 0, "unknown ");

        fd_put_device(name->path, sizeof name->path, at, dev);
        __atomic_store_n(&name->kind, PROF_K_MOUNT, __ATOMIC_RELEASE);
    }
    if (nunlisted < UNLISTED) {
        unlisted[nunlisted].dev = dev;
        unlisted[nunlisted++].row = (uint16_t)row;
    }
    return row;
}

/* Whether it is open for writing. */
static bool fd_is_written(int fd)
{
    long how = lib_sys(SYS_fcntl, fd, F_GETFL);

    return how >= 0 && (how & O_ACCMODE) != O_RDONLY;
}

/* A row per file while there are rows, then the mount's. lib.files rows are for any file;
 * PROF_WRITTEN more are for files open for writing, to detect shared files. The table is static:
 * this library allocates nothing in the process that it profiles. */
static uint32_t fd_file_row(const struct statx *x, int fd, uint32_t mount)
{
    uint64_t dev = fd_device(x), ino = x->stx_ino;
    uint32_t h = (uint32_t)((ino * 0x9e3779b97f4a7c15u ^ dev * 0xff51afd7ed558ccdu) >> 40);

    for (h %= FILES_HASH; files[h]; h = (h + 1) % FILES_HASH)
        if (lib.names[files[h]].dev == dev && lib.names[files[h]].id == ino)
            return files[h];
    if (lib.file_rows >= lib.files &&
        (lib.file_rows >= lib.files + PROF_WRITTEN || !fd_is_written(fd)))
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
    long n = lib_sys(SYS_readlink, link, name->path, sizeof name->path - 1);

    name->path[n > 0 ? n : 0] = 0;
    if (n <= 0) { /* no /proc: its inode */
        size_t at = lib_put(name->path, sizeof name->path, 0, "inode ");

        at = lib_put_u64(name->path, sizeof name->path, at, ino);
        at = lib_put(name->path, sizeof name->path, at, " of ");
        fd_put_device(name->path, sizeof name->path, at, dev);
    }
    __atomic_store_n(&name->kind, PROF_K_FILE, __ATOMIC_RELEASE);
    files[h] = (uint16_t)row;
    return row;
}

/* The row of an open descriptor, or of a directory by its path (fd -1). */
static uint32_t fd_resolve(const struct statx *x, int fd, const char *path)
{
    uint32_t row = PROF_ROW_REST;

    if (S_ISSOCK(x->stx_mode) && fd >= 0)
        return lib_socket_row(fd);
    if (!S_ISREG(x->stx_mode) && !S_ISDIR(x->stx_mode) && !S_ISBLK(x->stx_mode))
        return PROF_ROW_OTHER;
    if (lib_unlikely(!mounts.ready))
        lib_mounts_need();
    if (!lib_enter_slow())
        return row;
    struct mount *m = fd_find_mount(x);
    bool disk = S_ISBLK(x->stx_mode); /* has no mount of its own */

    if (!m && !disk && fd_find_unlisted(x) == UINT32_MAX) {
        fd_read_mounts(); /* it may be new */
        m = fd_find_mount(x);
    }
    if (!disk)
        row = m ? fd_mount_row(m) : fd_unlisted_row(x, fd, path);
    if (row != PROF_ROW_OTHER && fd >= 0 && !S_ISDIR(x->stx_mode))
        row = fd_file_row(x, fd, row);
    lib_leave_slow();
    return row;
}

static bool fd_statx(int fd, const char *path, int flags, struct statx *x)
{
    return !lib_sys(SYS_statx, fd, path, flags, STATX_TYPE | STATX_INO | STATX_NLINK | STATX_MNT_ID,
                    x);
}

LIB_SLOW uint32_t lib_fd_slow(int fd)
{
    struct statx x;
    int saved = errno;
    uint32_t row = PROF_ROW_OTHER;

    if (!lib_slot() || fd < 0 || lib.quiet)
        return row;
    if (fd_statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, &x)) {
        row = fd_resolve(&x, fd, NULL);
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

void lib_call_opened(struct lib_call *c, int fd)
{
    if (!c->slot || fd < 0)
        return;
    if (!lib.quiet) {
        lib_fd_opened(fd);
        lib_move(c, lib_fd(fd));
    } else if (fd < LIB_FDS) {
        uint64_t at = (uint64_t)((char *)c->word - (char *)c->slot) - lib.rows_off;

        lib_fd_row[fd] = (uint16_t)(at / sizeof(struct prof_row) + 1);
    }
}

void lib_fd_closed(int fd)
{
    if (lib_unlikely(lib_rings) && !lib_borrowed())
        lib_ring_closed(fd);
    if ((unsigned)fd < LIB_FDS && !lib_borrowed()) {
        lib_fd_row[fd] = 0;
        lib_fd_next[fd] = 0;
    }
}

void lib_fd_copied(int from, int to)
{
    if ((unsigned)to < LIB_FDS && from != to && !lib_borrowed()) {
        lib_fd_row[to] = (unsigned)from < LIB_FDS ? lib_fd_row[from] : 0;
        lib_fd_next[to] = (unsigned)from < LIB_FDS ? lib_fd_next[from] : 0;
    }
}

void lib_fd_closed_range(unsigned first, unsigned last)
{
    if (lib_borrowed())
        return;
    for (unsigned fd = first; fd <= last && fd < LIB_FDS; fd++) {
        if (lib_unlikely(lib_rings))
            lib_ring_closed((int)fd);
        if (lib_fd_row[fd])
            lib_fd_row[fd] = 0;
        if (lib_fd_next[fd])
            lib_fd_next[fd] = 0;
    }
}

static uint16_t fd_rest_row(uint16_t row)
{
    return row >= PROF_ROW_FIRST ? PROF_ROW_REST : row;
}

/* All rows of storage become PROF_ROW_REST. */
void lib_fd_share(void)
{
    for (int i = 0; i < LIB_FDS; i++)
        if (lib_fd_row[i])
            lib_fd_row[i] = (uint16_t)(fd_rest_row((uint16_t)(lib_fd_row[i] - 1)) + 1);
    for (uint32_t i = 0; i < mounts.n; i++)
        mounts.v[i].row = fd_rest_row(mounts.v[i].row);
    for (uint32_t i = 0; i < nunlisted; i++)
        unlisted[i].row = fd_rest_row(unlisted[i].row);
    cwd_row = cwd_row ? (uint16_t)(fd_rest_row((uint16_t)(cwd_row - 1)) + 1) : 0;
    root_row = root_row ? (uint16_t)(fd_rest_row((uint16_t)(root_row - 1)) + 1) : 0;
    memset(files, 0, sizeof files);
    lib.file_rows = 0;
}

void lib_cwd_changed(void)
{
    if (!lib_borrowed())
        cwd_row = 0;
}

/* The row of a directory, resolved once. */
static uint32_t fd_directory_row(uint16_t *kept, const char *path)
{
    struct statx x;
    int saved = errno;

    if (!*kept && !lib.quiet && fd_statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, &x))
        *kept = (uint16_t)(fd_resolve(&x, -1, path) + 1);
    errno = saved;
    return *kept ? *kept - 1u : PROF_ROW_REST;
}

/* By the path's text, without a system call: links are not followed. Of two mounts on one directory
 * the later one is visible. */
uint32_t lib_path_row(int dirfd, const char *path)
{
    struct mount *best = NULL;

    if (!lib_slot() || !path)
        return PROF_ROW_OTHER;
    if (!lib_reach_text(path))
        return PROF_ROW_REST;
    if (*path != '/')
        return dirfd == AT_FDCWD ? fd_directory_row(&cwd_row, ".") : lib_fd(dirfd);
    if (lib_unlikely(!__atomic_load_n(&mounts.ready, __ATOMIC_ACQUIRE)))
        lib_mounts_need();
    for (uint32_t i = 0; i < mounts.n; i++) {
        struct mount *m = &mounts.v[i];
        bool root = m->len == 1;

        if (!root && m->path[1] != path[1]) /* most of them */
            continue;
        if ((!best || m->len >= best->len) && !strncmp(m->path, path, m->len) &&
            (root || !path[m->len] || path[m->len] == '/'))
            best = m;
    }
    if (!best)
        return fd_directory_row(&root_row, "/");
    if (best->row || !best->storage)
        return best->storage ? best->row : PROF_ROW_OTHER;
    if (!lib_enter_slow())
        return PROF_ROW_REST;
    uint32_t row = fd_mount_row(best);

    lib_leave_slow();
    return row;
}
