/* sql.c -- opening SQLite files, errors of SQLite in words, file headers, and the identity of a
 * writer. Shared by writer.c and reader.c. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "sql_priv.h"

bool run_locks_work(int fd)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};

    /* A lock held by another process means that locks work. */
    if (!fcntl(fd, F_SETLK, &lock) || errno == EAGAIN || errno == EACCES)
        return true;
    return errno != ENOSYS && errno != ENOLCK && errno != EOPNOTSUPP && errno != EINVAL;
}

bool run_sql_open(sqlite3 **ret, const char *path, int flags, const char *vfs, struct wr_err *err)
{
    /* ":memory:" and "" mean something to SQLite; "./:memory:" is a file. */
    char *name = sqlite3_mprintf("%s%s", path[0] == '/' ? "" : "./", path);
    sqlite3 *db = NULL;
    int rc = name ? sqlite3_open_v2(name, &db, flags, vfs) : SQLITE_NOMEM;

    sqlite3_free(name);
    if (rc != SQLITE_OK) {
        run_sql_fail(db, rc, path, err);
        sqlite3_close(db);
        return false;
    }
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, RUN_BUSY_MS);
    *ret = db;
    return true;
}

bool run_sql_exec(sqlite3 *db, const char *path, const char *sql, struct wr_err *err)
{
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK || run_sql_fail(db, rc, path, err);
}

/* Primary result codes; others use SQLite's text. */
static const struct {
    int rc;
    enum wr_code code;
    const char *text;
} faults[] = {
    {SQLITE_FULL, WR_SYSTEM, "the disk is full; free some space or choose another place"},
    {SQLITE_READONLY, WR_SYSTEM,
     "it may not be written; choose another place, or try again if its "
     "run was killed just now"},
    {SQLITE_PERM, WR_SYSTEM, "no permission; check its owner"},
    {SQLITE_CANTOPEN, WR_SYSTEM, "cannot be opened; check that it exists and may be read"},
    {SQLITE_BUSY, WR_SYSTEM, "another program uses it just now; try again in a moment"},
    {SQLITE_LOCKED, WR_SYSTEM, "another program uses it just now; try again in a moment"},
    {SQLITE_NOMEM, WR_SYSTEM, "out of memory; ask for less at a time"},
    {SQLITE_CORRUPT, WR_INPUT, "the file is damaged; use a copy of it, or make the run again"},
    {SQLITE_NOTADB, WR_INPUT, "not a run file; give one that weir made, such as `weir run` does"},
};

bool run_sql_fail(sqlite3 *db, int rc, const char *path, struct wr_err *err)
{
    int primary = rc & 0xff, os = db ? sqlite3_system_errno(db) : 0;

    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (faults[i].rc == primary)
            return wr_fail(err, faults[i].code, "%s: %s", path, faults[i].text);
    if (primary == SQLITE_IOERR)
        return wr_fail(err, WR_SYSTEM, "%s: %s%s%s; check the disk and its quota", path,
                       sqlite3_errstr(rc), os ? ": " : "", os ? strerror(os) : "");
    if (primary == SQLITE_INTERRUPT)
        return wr_fail(err, WR_INTERRUPTED, "%s: interrupted", path);
    return wr_fail(err, WR_BUG, "%s: %s", path, db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
}

static uint32_t sql_be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The SQLite file header: magic at 0, page size at 16, pages at 28,
 * user_version at 60, application_id at 68. */
static void sql_read_header(struct run_header *h, const unsigned char *head, size_t n)
{
    h->is = n ? RUN_SNIFF_OTHER : RUN_SNIFF_EMPTY;
    h->sqlite = n >= 100 && !memcmp(head, "SQLite format 3", 16);
    h->exported = h->sqlite && sql_be32(head + 68) == RUN_EXPORT_ID;
    if (!h->sqlite || sql_be32(head + 68) != RUN_APPLICATION_ID)
        return;
    uint32_t page = (uint32_t)head[16] << 8 | head[17];

    h->is = RUN_SNIFF_RUN;
    h->user_version = sql_be32(head + 60);
    h->want_b = (uint64_t)(page == 1 ? 65536 : page) * sql_be32(head + 28);
}

bool run_sniff(struct run_header *ret, const char *path, struct wr_err *err)
{
    struct run_header h = {0};
    unsigned char head[100];
    struct stat st;
    /* O_NONBLOCK: opening a FIFO would wait for its writer. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        *ret = (struct run_header){.is = RUN_SNIFF_ABSENT};
        return true;
    }
    if (fd < 0 || fstat(fd, &st) < 0) {
        wr_fail_read(err, "%s cannot be read; check the file name", path);
        if (fd >= 0)
            close(fd);
        return false;
    }
    h.is = RUN_SNIFF_OTHER;
    h.len_b = (uint64_t)st.st_size;
    h.locks = run_locks_work(fd);
    ssize_t n = S_ISREG(st.st_mode) ? pread(fd, head, sizeof head, 0) : 1;
    bool ok = n >= 0 || wr_fail_read(err, "%s cannot be read; check the file name", path);
    close(fd);
    if (!ok)
        return false;
    if (S_ISREG(st.st_mode))
        sql_read_header(&h, head, (size_t)n);
    *ret = h;
    return true;
}

/* Field 22 of /proc/PID/stat, counted after the name, which may contain spaces. A zombie counts as
 * ended. */
static bool sql_start_ticks(int64_t pid, int64_t *ret)
{
    char name[64], text[1024];

    snprintf(name, sizeof name, "/proc/%lld/stat", (long long)pid);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    char *p = strrchr(text, ')');
    if (p && (p[2] == 'Z' || p[2] == 'X'))
        return false;
    for (int field = 2; p && field < 22; field++)
        p = strchr(p + 1, ' ');
    if (!p)
        return false;
    *ret = strtoll(p, NULL, 10);
    return true;
}

void run_writer_self(struct run_writer_id *ret)
{
    *ret = (struct run_writer_id){.pid = getpid()};
    if (gethostname(ret->host, sizeof ret->host - 1) < 0)
        strcpy(ret->host, "unknown");
    sql_start_ticks(ret->pid, &ret->pid_start);
}

bool run_writer_lives(const struct run_writer_id *id)
{
    struct run_writer_id self;
    int64_t start;

    run_writer_self(&self);
    if (strcmp(self.host, id->host) != 0)
        return true; /* not known on this host */
    if (id->pid <= 0 || id->pid > INT32_MAX || (kill((pid_t)id->pid, 0) < 0 && errno == ESRCH))
        return false;
    if (access("/proc/self/stat", R_OK) < 0)
        return true;
    return sql_start_ticks(id->pid, &start) && start == id->pid_start;
}
