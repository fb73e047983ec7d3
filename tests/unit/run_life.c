/* Run files that are created, killed, out of disk space, replaced. */
#include "unit/run_help.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    fputs(text, f);
    fclose(f);
}

/* Runs `body` in a child, because limits, users and kills are a process's own.
 * Its status is what waitpid says. */
static int in_child(void (*body)(const struct place *), const struct place *p)
{
    int status;
    pid_t pid = fork();

    if (!pid) {
        body(p);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* In a child there is no cmocka to fail with; a status says which line it was. */
#define child_assert(what)                                                     \
    do {                                                                       \
        if (!(what)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
            _exit(99);                                                         \
        }                                                                      \
    } while (0)

/* Permissions do not stop root. */
static void drop_privileges(void)
{
    if (!geteuid()) {
        child_assert(!setresgid(65534, 65534, 65534));
        child_assert(!setresuid(65534, 65534, 65534));
    }
}

static void an_existing_run_file_is_kept_unless_forced(void **state)
{
    const char *path = ((struct place *)*state)->path;
    struct run_meta meta = plain_meta;
    struct wr_err err = {0};
    struct run *run = NULL;

    complete(create(path));
    assert_false(run_create(&run, path, &meta, &err));
    assert_int_equal(err.code, WR_EXISTS);
    assert_non_null(strstr(err.text, "choose another name or replace it"));
    assert_null(run);

    meta.force = true;
    meta.seed = 99;
    must(run_create(&run, path, &meta, &err), err);
    complete(run);
    struct run_reader *r = reopen(path);
    assert_true(run_info(r)->seed == 99);
    run_close(r);
}

static void what_is_not_a_run_file_is_never_replaced(void **state)
{
    const struct place *p = *state;
    struct run_meta meta = plain_meta;
    struct wr_err err = {0};
    struct run *run = NULL;
    char text[32] = "";

    meta.force = true;
    write_text(p->path, "my thesis\n");
    assert_false(run_create(&run, p->path, &meta, &err));
    assert_int_equal(err.code, WR_INPUT);
    FILE *f = fopen(p->path, "r");
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    assert_string_equal(text, "my thesis\n");

    assert_false(run_create(&run, p->dir, &meta, &err));
    assert_int_equal(err.code, WR_INPUT);
}

static void a_foreign_database_is_never_replaced(void **state)
{
    const struct place *p = *state;
    struct run_meta meta = plain_meta;
    struct wr_err err = {0};
    struct run *run = NULL;
    sqlite3 *db;

    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE addresses(name)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    meta.force = true;
    assert_false(run_create(&run, p->path, &meta, &err));
    assert_int_equal(err.code, WR_INPUT);
}

static void an_empty_file_may_be_replaced_by_force(void **state)
{
    const struct place *p = *state;
    struct run_meta meta = plain_meta;
    struct wr_err err = {0};
    struct run *run = NULL;

    write_text(p->path, "");
    assert_false(run_create(&run, p->path, &meta, &err));
    meta.force = true;
    must(run_create(&run, p->path, &meta, &err), err);
    complete(run);
}

static void replace_a_running_one(const struct place *p)
{
    struct run_meta meta = plain_meta;
    struct wr_err err = {0};
    struct run *run = NULL;

    meta.force = true;
    child_assert(!run_create(&run, p->path, &meta, &err));
    child_assert(err.code == WR_INPUT);
    child_assert(strstr(err.text, "being written"));
}

static void a_run_file_that_is_being_written_is_not_replaced(void **state)
{
    const struct place *p = *state;
    struct run *run = create(p->path);

    assert_int_equal(in_child(replace_a_running_one, p), 0);
    complete(run);
}

static void look_at_a_running_one(const struct place *p)
{
    struct run_reader *r;
    struct wr_err err = {0};
    double n = 0;
    bool found;

    child_assert(run_open(&r, p->path, &err));
    child_assert(run_info(r)->status == RUN_RUNNING);
    child_assert(
        run_number(r, "SELECT value FROM summary WHERE key = 'packets'", &n, &found, &err));
    child_assert(found && n == 5);
    run_close(r);
}

static void what_was_flushed_is_seen_while_the_run_goes_on(void **state)
{
    const struct place *p = *state;
    struct wr_err err = {0};
    struct run *run = create(p->path);

    must(run_put_count(run, "packets", 5, "", &err), err);
    must(run_flush(run, &err), err);
    must(run_put_count(run, "packets", 6, "", &err), err);
    assert_int_equal(in_child(look_at_a_running_one, p), 0);
    complete(run);
}

static void put_and_die(const struct place *p)
{
    struct run_series s = {.entity = "machine", .metric = "load", .unit = "", .dt_ps = 10};
    struct wr_err err = {0};
    struct run *run;
    uint32_t id;

    child_assert(run_create(&run, p->path, &plain_meta, &err));
    child_assert(run_open_series(run, &s, &id, &err));
    for (int i = 0; i < 1000; i++)
        child_assert(run_put_slice(run, id, i * 10, 10, i, &err));
    child_assert(run_flush(run, &err));
    for (int i = 1000; i < 2000; i++)
        child_assert(run_put_slice(run, id, i * 10, 10, i, &err));
    kill(getpid(), SIGKILL);
}

static void a_killed_run_reads_as_incomplete_with_what_was_flushed(void **state)
{
    const struct place *p = *state;

    assert_int_equal(WTERMSIG(in_child(put_and_die, p)), SIGKILL);
    struct run_reader *r = reopen(p->path);
    assert_int_equal(run_info(r)->status, RUN_INCOMPLETE);
    assert_non_null(strstr(run_info(r)->reason, "gone"));
    assert_true(number(r, "SELECT count(*) FROM slice") == 1000);
    run_close(r);
}

static void a_writer_that_is_a_zombie_counts_as_ended(void **state)
{
    const struct place *p = *state;
    siginfo_t info;
    pid_t pid = fork();

    if (!pid) {
        put_and_die(p);
        _exit(0);
    }
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    struct run_reader *r = reopen(p->path);
    assert_int_equal(run_info(r)->status, RUN_INCOMPLETE);
    run_close(r);
    waitpid(pid, NULL, 0);
}

/* In the middle of a query for `ms`, from when it has written to `ready` on. */
static void hold_a_query(const struct place *p, int ready, unsigned ms)
{
    sqlite3_stmt *s;
    sqlite3 *db;

    child_assert(sqlite3_open(p->path, &db) == SQLITE_OK);
    child_assert(sqlite3_prepare_v2(db, "SELECT * FROM meta", -1, &s, NULL) == SQLITE_OK);
    child_assert(sqlite3_step(s) == SQLITE_ROW);
    child_assert(write(ready, "x", 1) == 1);
    usleep(ms * 1000);
    sqlite3_finalize(s);
    sqlite3_close(db);
    _exit(0);
}

static void a_reader_does_not_break_the_run(void **state)
{
    const struct place *p = *state;
    struct wr_err err = {0};
    struct run *run = create(p->path);
    int ready[2], status;
    char byte;

    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (!pid)
        hold_a_query(p, ready[1], 300);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    must(run_put_count(run, "packets", 5, "", &err), err);
    must(run_flush(run, &err), err);
    must(run_put_count(run, "bytes", 6, "B", &err), err);
    complete(run);
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);

    struct run_reader *r = reopen(p->path);
    assert_int_equal(run_info(r)->status, RUN_COMPLETE);
    assert_true(number(r, "SELECT sum(value) FROM summary WHERE NOT volatile") == 11);
    run_close(r);
    close(ready[0]);
    close(ready[1]);
}

static void look_for_long(const struct place *p, int ready)
{
    struct wr_err err = {0};
    struct run_reader *r;
    struct run_rows *q;
    bool more;

    child_assert(run_open(&r, p->path, &err));
    child_assert(run_query(&q, r, "SELECT * FROM meta", NULL, 0, &err));
    child_assert(run_rows_next(q, &more, &err) && more);
    child_assert(write(ready, "x", 1) == 1);
    sleep(600); /* it is killed before */
    _exit(0);
}

static void a_look_at_a_running_run_does_not_hold_it_up(void **state)
{
    const struct place *p = *state;
    struct run *run = create(p->path);
    int ready[2];
    char byte;

    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (!pid)
        look_for_long(p, ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    complete(run);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(ready[0]);
    close(ready[1]);
}

/* A cache of a few pages makes SQLite write into the file before the commit, so
 * that the kill leaves a journal that has to be played back. */
static void die_in_the_middle_of_a_commit(const struct place *p)
{
    sqlite3 *db;

    child_assert(sqlite3_open(p->path, &db) == SQLITE_OK);
    child_assert(sqlite3_exec(db,
                              "PRAGMA cache_size = 2; BEGIN; UPDATE meta SET value = 'complete'"
                              " WHERE key = 'status'; DELETE FROM fact_slice;"
                              "WITH RECURSIVE i(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM i"
                              " WHERE x < 20000) INSERT INTO fact_slice SELECT x, 1, 1, 1 FROM i;",
                              NULL, NULL, NULL) == SQLITE_OK);
    kill(getpid(), SIGKILL);
}

static void die_and_leave_a_journal(const struct place *p)
{
    char journal[160];

    assert_int_equal(WTERMSIG(in_child(put_and_die, p)), SIGKILL);
    assert_int_equal(WTERMSIG(in_child(die_in_the_middle_of_a_commit, p)), SIGKILL);
    snprintf(journal, sizeof journal, "%s-journal", p->path);
    assert_int_equal(access(journal, F_OK), 0);
}

static void a_journal_left_behind_is_played_back(void **state)
{
    const struct place *p = *state;

    die_and_leave_a_journal(p);
    struct run_reader *r = reopen(p->path);
    assert_int_equal(run_info(r)->status, RUN_INCOMPLETE);
    assert_true(number(r, "SELECT count(*) FROM slice") == 1000);
    run_close(r);
}

static void open_as_unprivileged(const struct place *p)
{
    struct run_reader *r;
    struct wr_err err = {0};

    drop_privileges();
    child_assert(!run_open(&r, p->path, &err));
    child_assert(err.code == WR_SYSTEM);
    child_assert(strstr(err.text, "copy both files"));
}

static void a_journal_that_may_not_be_played_back_is_explained(void **state)
{
    const struct place *p = *state;

    die_and_leave_a_journal(p);
    chmod(p->path, 0444);
    chmod(p->dir, 0555);
    assert_int_equal(in_child(open_as_unprivileged, p), 0);
}

static void a_journal_that_names_another_file_is_refused(void **state)
{
    static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    const struct place *p = *state;
    struct run_reader *r = NULL;
    struct wr_err err = {0};
    char journal[160];

    die_and_leave_a_journal(p);
    snprintf(journal, sizeof journal, "%s-journal", p->path);
    FILE *f = fopen(journal, "a");
    fwrite("precious", 1, 8, f);
    fwrite(magic, 1, 8, f);
    fclose(f);
    assert_false(run_open(&r, p->path, &err));
    assert_int_equal(err.code, WR_INPUT);
    assert_non_null(strstr(err.text, "not left by weir"));
}

static void a_run_may_end_incomplete_or_failed_with_a_reason(void **state)
{
    static const struct {
        enum run_status status;
        const char *name;
    } ends[] = {{RUN_INCOMPLETE, "incomplete"}, {RUN_FAILED, "failed"}};
    const struct place *p = *state;
    struct run_meta meta = plain_meta;
    struct wr_err err = {0};

    meta.force = true;
    for (int i = 0; i < 2; i++) {
        struct run *run;

        must(run_create(&run, p->path, &meta, &err), err);
        must(run_finish(run, ends[i].status, "stopped by Ctrl-C at 5 us", &err), err);
        struct run_reader *r = reopen(p->path);
        assert_int_equal(run_info(r)->status, ends[i].status);
        assert_string_equal(run_info(r)->reason, "stopped by Ctrl-C at 5 us");
        assert_line(r, "SELECT value FROM meta WHERE key = 'status'", ends[i].name);
        assert_string_equal(run_status_name(ends[i].status), ends[i].name);
        run_close(r);
    }
}

/* A limit on the size of files is a full disk that needs no root and no disk. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    child_assert(!setrlimit(RLIMIT_FSIZE, &limit));
}

static void fill_a_small_disk(const struct place *p)
{
    struct run_link l = {.src_kind = "router", .dst_kind = "router", .cls = "local"};
    struct wr_err err = {0}, last = {0};
    struct run *run;
    bool ok = true;

    child_assert(run_create(&run, p->path, &plain_meta, &err));
    limit_files(1 << 20);
    for (l.src = 0; ok && l.src < 1000000; l.src++) {
        ok = run_put_link(run, &l, &err);
        if (ok && l.src % 10000 == 9999)
            ok = run_flush(run, &err);
    }
    child_assert(!ok);
    child_assert(err.code == WR_SYSTEM);
    child_assert(strstr(err.text, p->path));
    child_assert(!run_finish(run, RUN_COMPLETE, NULL, &last));
    child_assert(!strcmp(err.text, last.text));
}

static void a_full_disk_is_one_error_and_never_a_complete_file(void **state)
{
    const struct place *p = *state;

    assert_int_equal(in_child(fill_a_small_disk, p), 0);
    struct run_reader *r = reopen(p->path);
    assert_true(run_info(r)->status == RUN_FAILED || run_info(r)->status == RUN_INCOMPLETE);
    assert_true(number(r, "SELECT count(*) FROM link_stat") > 1000);
    run_close(r);
}

static void finish_on_a_full_disk(const struct place *p)
{
    struct run_link l = {.src_kind = "router", .dst_kind = "router", .cls = "local"};
    struct wr_err err = {0};
    struct run *run;

    child_assert(run_create(&run, p->path, &plain_meta, &err));
    for (l.src = 0; l.src < 50000; l.src++) /* fits the cache: nothing is written yet */
        child_assert(run_put_link(run, &l, &err));
    limit_files(1 << 18);
    child_assert(!run_finish(run, RUN_COMPLETE, NULL, &err));
    child_assert(err.code == WR_SYSTEM);
}

static void a_disk_that_fills_at_the_end_leaves_no_complete_file(void **state)
{
    const struct place *p = *state;

    assert_int_equal(in_child(finish_on_a_full_disk, p), 0);
    struct run_reader *r = reopen(p->path);
    assert_true(run_info(r)->status == RUN_FAILED || run_info(r)->status == RUN_INCOMPLETE);
    run_close(r);
}

static void create_on_a_full_disk(const struct place *p)
{
    struct wr_err err = {0};
    struct run *run = NULL;

    limit_files(0);
    child_assert(!run_create(&run, p->path, &plain_meta, &err));
    child_assert(err.code == WR_SYSTEM);
    child_assert(!run);
}

static void a_run_that_cannot_begin_leaves_no_file(void **state)
{
    const struct place *p = *state;

    assert_int_equal(in_child(create_on_a_full_disk, p), 0);
    assert_int_equal(access(p->path, F_OK), -1);
}

static void create_as_unprivileged(const struct place *p)
{
    struct wr_err err = {0};
    struct run *run = NULL;

    drop_privileges();
    child_assert(!run_create(&run, p->path, &plain_meta, &err));
    child_assert(err.code == WR_SYSTEM);
    child_assert(strstr(err.text, p->path) && strstr(err.text, strerror(EACCES)));
}

static void a_read_only_directory_is_one_clear_error(void **state)
{
    const struct place *p = *state;

    chmod(p->dir, 0555);
    assert_int_equal(in_child(create_as_unprivileged, p), 0);
}

static void a_missing_directory_is_one_clear_error(void **state)
{
    const struct place *p = *state;
    struct wr_err err = {0};
    struct run *run = NULL;
    char path[160];

    snprintf(path, sizeof path, "%s/no/such/place.weir", p->dir);
    assert_false(run_create(&run, path, &plain_meta, &err));
    assert_int_equal(err.code, WR_SYSTEM);
    assert_non_null(strstr(err.text, strerror(ENOENT)));
}

enum { NO_SECCOMP = 77 };

/* A file system that knows no locks: the kernel answers fcntl(F_SETLK) with ENOSYS. */
static void lose_locks(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETLK, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        _exit(NO_SECCOMP);
}

static void write_and_read_without_locks(const struct place *p)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};
    struct wr_err err = {0};
    struct run_reader *r;
    struct run *run;

    lose_locks();
    int fd = open("/dev/null", O_RDONLY);
    child_assert(fcntl(fd, F_SETLK, &lock) == -1 && errno == ENOSYS);
    close(fd);
    child_assert(run_create(&run, p->path, &plain_meta, &err));
    child_assert(run_put_count(run, "packets", 5, "", &err));
    child_assert(run_finish(run, RUN_COMPLETE, NULL, &err));
    child_assert(run_open(&r, p->path, &err));
    child_assert(run_info(r)->status == RUN_COMPLETE);
    run_close(r);
}

static void a_file_system_without_locks_still_holds_runs(void **state)
{
    int status = in_child(write_and_read_without_locks, *state);

    if (WEXITSTATUS(status) == NO_SECCOMP)
        skip();
    assert_int_equal(status, 0);
}

static void open_a_journal_without_locks(const struct place *p)
{
    struct wr_err err = {0};
    struct run_reader *r;

    lose_locks();
    child_assert(!run_open(&r, p->path, &err));
    child_assert(err.code == WR_SYSTEM && strstr(err.text, "no locks"));
}

/* Without locks a journal may belong to a run that is going on; playing it back
 * would destroy that run. */
static void without_locks_no_journal_is_played_back(void **state)
{
    const struct place *p = *state;

    die_and_leave_a_journal(p);
    int status = in_child(open_a_journal_without_locks, p);
    if (WEXITSTATUS(status) == NO_SECCOMP)
        skip();
    assert_int_equal(status, 0);
    run_close(reopen(p->path));
}

static void a_name_that_sqlite_would_take_for_memory_is_a_file(void **state)
{
    const struct place *p = *state;
    char back[4096];

    assert_non_null(getcwd(back, sizeof back));
    assert_int_equal(chdir(p->dir), 0);
    complete(create(":memory:"));
    assert_int_equal(access(":memory:", F_OK), 0);
    run_close(reopen(":memory:"));
    assert_int_equal(chdir(back), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(an_existing_run_file_is_kept_unless_forced),
        IN_PLACE(what_is_not_a_run_file_is_never_replaced),
        IN_PLACE(a_foreign_database_is_never_replaced),
        IN_PLACE(an_empty_file_may_be_replaced_by_force),
        IN_PLACE(a_run_file_that_is_being_written_is_not_replaced),
        IN_PLACE(what_was_flushed_is_seen_while_the_run_goes_on),
        IN_PLACE(a_killed_run_reads_as_incomplete_with_what_was_flushed),
        IN_PLACE(a_writer_that_is_a_zombie_counts_as_ended),
        IN_PLACE(a_reader_does_not_break_the_run),
        IN_PLACE(a_look_at_a_running_run_does_not_hold_it_up),
        IN_PLACE(a_journal_left_behind_is_played_back),
        IN_PLACE(a_journal_that_may_not_be_played_back_is_explained),
        IN_PLACE(a_journal_that_names_another_file_is_refused),
        IN_PLACE(a_run_may_end_incomplete_or_failed_with_a_reason),
        IN_PLACE(a_full_disk_is_one_error_and_never_a_complete_file),
        IN_PLACE(a_disk_that_fills_at_the_end_leaves_no_complete_file),
        IN_PLACE(a_run_that_cannot_begin_leaves_no_file),
        IN_PLACE(a_read_only_directory_is_one_clear_error),
        IN_PLACE(a_missing_directory_is_one_clear_error),
        IN_PLACE(a_file_system_without_locks_still_holds_runs),
        IN_PLACE(without_locks_no_journal_is_played_back),
        IN_PLACE(a_name_that_sqlite_would_take_for_memory_is_a_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
