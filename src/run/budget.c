/* budget.c -- limits the cost of reading a run file; see budget_priv.h for the limits.
 *
 * Owns a VFS of SQLite per reader, which counts bytes in temporary files, and the progress handler,
 * which counts instructions. Called by reader.c.
 */
#include "budget_priv.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>

#include "base/clock.h"
#include "sql_priv.h"

/* `weir report`, the most expensive reader, needs up to 6 instructions per byte of the runs of
 * examples/; the limit leaves a factor of 30. */
enum { OPS_PER_CALL = 1000, OPS_PER_BYTE = 200, LEAST_OPS = 20 * 1000 * 1000 };
/* A stored row takes several bytes, so one row per byte is generous. */
enum { LEAST_ROWS = 10000 };
/* Names are stored once but returned with each row; results are mostly kept in memory. */
enum { TEXT_PER_BYTE = 16, LEAST_TEXT_B = 64 << 20 };
enum { TEMP_PER_BYTE = 4, LEAST_TEMP_B = 64 << 20 };

static struct run_budget *budget_of_vfs(sqlite3_vfs *vfs)
{
    return (struct run_budget *)((char *)vfs - offsetof(struct run_budget, vfs));
}

static struct run_budget *budget_of_file(const sqlite3_file *f)
{
    return (struct run_budget *)((char *)f->pMethods - offsetof(struct run_budget, methods));
}

static int budget_write(sqlite3_file *f, const void *data, int n, sqlite3_int64 at)
{
    struct run_budget *b = budget_of_file(f);
    sqlite3_int64 now = 0;
    int rc = b->real->xFileSize(f, &now);
    uint64_t more = at + n > now ? (uint64_t)(at + n - now) : 0;

    if (rc != SQLITE_OK)
        return rc;
    if (b->max_temp_b && b->temp_b + more > b->max_temp_b) {
        b->spent = RUN_SPENT_STEPS;
        return SQLITE_FULL;
    }
    rc = b->real->xWrite(f, data, n, at);
    if (rc == SQLITE_OK)
        b->temp_b += more;
    return rc;
}

static int budget_file_close(sqlite3_file *f)
{
    struct run_budget *b = budget_of_file(f);
    sqlite3_int64 len = 0;

    if (b->real->xFileSize(f, &len) == SQLITE_OK)
        b->temp_b -= (uint64_t)len < b->temp_b ? (uint64_t)len : b->temp_b;
    f->pMethods = b->real;
    return f->pMethods->xClose(f);
}

static int budget_file_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags,
                            int *ret_flags)
{
    struct run_budget *b = budget_of_vfs(vfs);
    int rc = b->base->xOpen(b->base, name, f, flags, ret_flags);

    if (rc != SQLITE_OK || name || !f->pMethods || (b->real && b->real != f->pMethods))
        return rc;
    b->real = f->pMethods;
    b->methods = *f->pMethods;
    b->methods.iVersion = 1; /* no memory mapping: all writes use xWrite */
    b->methods.xWrite = budget_write;
    b->methods.xClose = budget_file_close;
    f->pMethods = &b->methods;
    return rc;
}

bool run_budget_open(struct run_budget *b, uint64_t len_b, uint64_t deadline_ns, bool locks)
{
    *b = (struct run_budget){
        .max_ops = LEAST_OPS + OPS_PER_BYTE * len_b,
        .max_rows = LEAST_ROWS + len_b,
        .max_text_b = LEAST_TEXT_B + TEXT_PER_BYTE * len_b,
        .max_temp_b = LEAST_TEMP_B + TEMP_PER_BYTE * len_b,
        .deadline_ns = deadline_ns,
        .own = true,
        .base = sqlite3_vfs_find(locks ? NULL : RUN_NO_LOCKS),
    };
    if (!b->base)
        return false;
    snprintf(b->name, sizeof b->name, "weir-%p", (void *)b);
    b->vfs = *b->base;
    b->vfs.pNext = NULL;
    b->vfs.zName = b->name;
    b->vfs.xOpen = budget_file_open;
    return sqlite3_vfs_register(&b->vfs, 0) == SQLITE_OK;
}

void run_budget_close(struct run_budget *b)
{
    if (b->base)
        sqlite3_vfs_unregister(&b->vfs);
}

static int budget_step(void *arg)
{
    struct run_budget *b = arg;

    b->ops += OPS_PER_CALL;
    if (b->max_ops && b->ops > b->max_ops)
        b->spent = b->own ? RUN_SPENT_STEPS : RUN_SPENT_LIMIT;
    else if (b->stop && *b->stop)
        b->spent = RUN_SPENT_STOP;
    else if (b->deadline_ns && wr_clock_ns() > b->deadline_ns)
        b->spent = RUN_SPENT_TIME;
    else
        return 0;
    return 1;
}

void run_budget_watch(struct run_budget *b, sqlite3 *db)
{
    assert(b->base && db);
    sqlite3_progress_handler(db, OPS_PER_CALL, budget_step, b);
}
