/* sql_priv.h -- SQLite functions shared by writer and reader. */
#ifndef RUN_SQL_PRIV_H
#define RUN_SQL_PRIV_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum {
    RUN_APPLICATION_ID = 0x57454952, /* "WEIR" */
    RUN_EXPORT_ID = 0x57454958,      /* "WEIX": tables that were exported, no run file */
    RUN_FORMAT_MAJOR = 1,            /* an older weir cannot read a newer one */
    RUN_FORMAT_MINOR = 11,           /* what was added since; older readers do not mind */
    RUN_USER_VERSION = RUN_FORMAT_MAJOR * 100 + RUN_FORMAT_MINOR,
};

enum { RUN_BUSY_MS = 5000 }; /* how long a statement waits for another program's lock */

extern const char run_schema[];

/* Opens with extended result codes, a busy timeout, and a name that SQLite
 * cannot take for anything but a file. Does not check the content.
 * `vfs`: NULL, RUN_NO_LOCKS where run_locks_work said no, or a budget's. */
#define RUN_NO_LOCKS "unix-none"
bool run_sql_open(sqlite3 **ret, const char *path, int flags, const char *vfs, struct wr_err *err);

/* foreign.c: from here on only this version's views are run on the file's tables. */
bool run_schema_trust(sqlite3 *db, const char *path, struct wr_err *err);

/* Whether file locks work: some parallel file systems are mounted without them, and SQLite would
 * fail. Then the one writer works without locks, and a run in progress cannot be read safely. */
bool run_locks_work(int fd);

bool run_sql_exec(sqlite3 *db, const char *path, const char *sql, struct wr_err *err);

/* An SQLite result code as an error that says what to do; `path` is the file. */
bool run_sql_fail(sqlite3 *db, int rc, const char *path, struct wr_err *err);

/* The first bytes of a file: is it ours? */
enum run_sniff { RUN_SNIFF_ABSENT, RUN_SNIFF_EMPTY, RUN_SNIFF_RUN, RUN_SNIFF_OTHER };

struct run_header {
    enum run_sniff is;
    bool sqlite;            /* an SQLite file, not necessarily weir's */
    bool exported;          /* tables of `weir export` */
    bool locks;             /* see run_locks_work */
    uint32_t user_version;  /* when it is ours */
    uint64_t want_b, len_b; /* length in its header, actual length */
};

bool run_sniff(struct run_header *ret, const char *path, struct wr_err *err);

/* Identifies the writer of a file, so that a reader can check whether it runs. */
struct run_writer_id {
    char host[256];
    int64_t pid;
    int64_t pid_start; /* clock ticks after boot: a pid that was used again differs */
};

void run_writer_self(struct run_writer_id *ret);
/* False only if the writer has certainly ended. */
bool run_writer_lives(const struct run_writer_id *id);

#endif
