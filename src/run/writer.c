/* writer.c -- creates, commits and finishes run files; run_put.c writes the facts.
 *
 * A new file is written under a temporary name without locks or journal; writer_publish gives it
 * its name and reconnects with both. A transaction is always open between a put and the next
 * commit.
 *
 * Invariant: the status becomes 'complete' in a commit of its own, after all facts are on disk. */
#include "writer_priv.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/version.h"
#include "run/reader.h"

/* A commit creates and removes a journal file; batches make that cost negligible. */
enum { BATCH_ROWS = 1 << 17, BATCH_NS = 1000 * 1000 * 1000 };
enum { COMMIT_WAIT_MS = 20, LAST_WAIT_MS = 10 * 60 * 1000 }; /* for readers of the file */

static const char *const status_names[] = {
    [RUN_RUNNING] = "running",
    [RUN_COMPLETE] = "complete",
    [RUN_INCOMPLETE] = "incomplete",
    [RUN_FAILED] = "failed",
};

/* RUN_SLICE_ROWS at once: a statement of its own for each row costs several times as much. */
#define ROWS_4 "(?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?), (?, ?, ?, ?)"
#define ROWS_16 ROWS_4 ", " ROWS_4 ", " ROWS_4 ", " ROWS_4

static const char *const stmt_sql[RUN_S_COUNT] = {
    [RUN_S_META] = "INSERT INTO meta VALUES(?1, ?2)"
                   " ON CONFLICT(key) DO UPDATE SET value = excluded.value",
    [RUN_S_INPUT] = "INSERT INTO input(path, len_b, codec, content) VALUES(?1, ?2, ?3, ?4)",
    [RUN_S_DICT] = "INSERT INTO dict VALUES(?1, ?2)",
    [RUN_S_SUMMARY] = "INSERT INTO fact_summary(key, unit, volatile, number, words)"
                      " VALUES(?1, ?2, ?3, ?4, ?5) ON CONFLICT(key) DO UPDATE SET"
                      " number = excluded.number, words = excluded.words,"
                      " unit = excluded.unit, volatile = excluded.volatile",
    [RUN_S_APP] = "INSERT INTO fact_app VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
    [RUN_S_RANK] = "INSERT INTO fact_rank"
                   " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
                   " ?15, ?16, ?17, ?18, ?19)",
    [RUN_S_COLL] = "INSERT INTO fact_coll VALUES(?1, ?2, ?3, ?4, ?5)",
    [RUN_S_CAUSE] = "INSERT INTO fact_cause VALUES(?1, ?2, ?3, ?4, ?5)",
    [RUN_S_MARK] = "INSERT INTO fact_mark(app, rank, mark, t_ps) VALUES(?1, ?2, ?3, ?4)",
    [RUN_S_INTERVAL] = "INSERT INTO fact_timeline VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [RUN_S_LOG] = "INSERT INTO fact_log(app, rank, tab, col, title, aggregate, row, value)"
                  " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [RUN_S_OUTPUT] = "INSERT INTO fact_output(app, rank, t_ps, text) VALUES(?1, ?2, ?3, ?4)",
    [RUN_S_LINK] = "INSERT INTO fact_link VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [RUN_S_FLOW] = "INSERT INTO fact_flow VALUES(?1, ?2, ?3, ?4, ?5)",
    [RUN_S_SERVER] = "INSERT INTO fact_server VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
                     " ?11, ?12, ?13, ?14)",
    [RUN_S_BUFFER] = "INSERT INTO fact_buffer VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
                     " ?11, ?12, ?13, ?14, ?15)",
    [RUN_S_CLIENT] = "INSERT INTO fact_client VALUES(?1, ?2)",
    [RUN_S_HIST] = "INSERT INTO fact_hist(app, class, n, sum_ps, min_ps, max_ps)"
                   " VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
    [RUN_S_HIST_CELL] = "INSERT INTO fact_hist_cell VALUES(?1, ?2, ?3, ?4)",
    [RUN_S_SERIES] = "INSERT INTO fact_series VALUES(?1, ?2, ?3, ?4, ?5)",
    [RUN_S_SLICE] = "INSERT INTO fact_slice VALUES(?, ?, ?, ?)",
    [RUN_S_SLICES] = "INSERT INTO fact_slice VALUES" ROWS_16 ", " ROWS_16,
    [RUN_S_GATHER] = "INSERT INTO fact_gather VALUES(?1, ?2, ?3, ?4, ?5)",
    [RUN_S_SWEEP] =
        "INSERT INTO fact_sweep(series, load, seed, offered, accepted, lat_mean_ns,"
        " lat_min_ns, lat_p50_ns, lat_p99_ns, lat_max_ns, hops_mean, nonminimal_frac,"
        " saturated, packets, events, sim_end_ns, wall_s, id) VALUES(?1, ?2, ?3, ?4, ?5,"
        " ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
    [RUN_S_STACK_STATE] = "INSERT INTO fact_stack_state(side, layer, agent, machine, state, class,"
                          " layer_at, visits, work_ns, wait_ns, own_ns, between_ns, measured)"
                          " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    [RUN_S_STACK_MESSAGE] = "INSERT INTO fact_stack_message(message, requests, request_b, answers,"
                            " answer_b) VALUES(?1, ?2, ?3, ?4, ?5)",
    [RUN_S_STACK_PHASE] = "INSERT INTO fact_stack_phase(phase, access, rep, transfers, bytes,"
                          " open_ns, io_ns, close_ns, total_ns, busy_ns)"
                          " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    [RUN_S_STACK_PARAM] = "INSERT INTO fact_stack_param(name, value, source, help)"
                          " VALUES(?1, ?2, ?3, ?4)",
    [RUN_S_STACK_STEP] = "INSERT INTO fact_stack_step(operation, t_ns, kind, node, peer, layer,"
                         " what, class, work_ns, wait_ns, bytes, side, op, parent)"
                         " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    [RUN_S_STACK_CHECK] = "INSERT INTO fact_stack_check(kind, name, bytes, n, p10_s, measured_s,"
                          " p90_s, simulated_s, low_s, high_s)"
                          " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    [RUN_S_PROCESS] = "INSERT INTO fact_process(app, rank, host, command, counted_by, pid, ppid,"
                      " threads, start_ps, end_ps, io_start_ps, io_end_ps, library_read,"
                      " library_written, kernel_read, kernel_written, start_read, unexplained_read,"
                      " unexplained_written, booked_read, booked_written, images, mpi_rank)"
                      " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,"
                      " ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)",
    [RUN_S_USE] = "INSERT INTO fact_use VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    [RUN_S_ACCESS] = "INSERT INTO fact_access VALUES(?1, ?2, ?3, ?4, ?5)",
    [RUN_S_IO_PHASE] = "INSERT INTO fact_io_phase(app, rank, seq, op, entity, source, t_ps, dt_ps,"
                       " offset_b, bytes, n, io_ps)"
                       " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
};

const char *run_status_name(enum run_status status)
{
    assert(status <= RUN_FAILED);
    return status_names[status];
}

bool run_break(struct run *run, int rc, struct wr_err *err)
{
    assert(rc != SQLITE_OK && rc != SQLITE_ROW && rc != SQLITE_DONE);
    run_sql_fail(run->db, rc, run->path, err);
    if (!run->broken.code)
        run->broken = *err;
    return false;
}

static bool writer_exec_or_break(struct run *run, const char *sql, struct wr_err *err)
{
    int rc = sqlite3_exec(run->db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK || run_break(run, rc, err);
}

sqlite3_stmt *run_begin(struct run *run, enum run_stmt which, struct wr_err *err)
{
    assert(which < RUN_S_COUNT && stmt_sql[which]);
    if (run->broken.code) {
        *err = run->broken;
        return NULL;
    }
    if (!run->open && !writer_exec_or_break(run, "BEGIN", err))
        return NULL;
    run->open = true;
    if (!run->stmt[which]) {
        int rc = sqlite3_prepare_v3(run->db, stmt_sql[which], -1, SQLITE_PREPARE_PERSISTENT,
                                    &run->stmt[which], NULL);
        if (rc != SQLITE_OK) {
            run_break(run, rc, err);
            return NULL;
        }
    }
    return run->stmt[which];
}

/* A reader of the file blocks a commit. During the run the writer does not wait for it: the
 * transaction stays open and the next commit includes it. At the end it waits. */
static bool writer_commit(struct run *run, int wait_ms, struct wr_err *err)
{
    if (run->broken.code) {
        *err = run->broken;
        return false;
    }
    if (!run_put_rows(run, err))
        return false;
    run->committed_ns = wr_clock_ns();
    run->pending = 0;
    if (!run->open)
        return true;
    sqlite3_busy_timeout(run->db, wait_ms);
    int rc = sqlite3_exec(run->db, "COMMIT", NULL, NULL, NULL);
    sqlite3_busy_timeout(run->db, RUN_BUSY_MS);
    if (rc == SQLITE_BUSY && wait_ms < LAST_WAIT_MS)
        return true;
    if (rc != SQLITE_OK)
        return run_break(run, rc, err);
    run->open = false;
    return true;
}

bool run_step_only(struct run *run, enum run_stmt which, uint32_t rows, struct wr_err *err)
{
    assert(run->open && run->stmt[which] && rows > 0);
    int rc = sqlite3_step(run->stmt[which]);

    if (rc != SQLITE_DONE)
        run_break(run, rc, err);
    sqlite3_reset(run->stmt[which]);
    run->pending += rows;
    return rc == SQLITE_DONE;
}

bool run_commit_in_time(struct run *run, struct wr_err *err)
{
    if (run->pending < BATCH_ROWS && wr_clock_ns() - run->committed_ns < BATCH_NS)
        return true;
    return writer_commit(run, COMMIT_WAIT_MS, err);
}

bool run_step(struct run *run, enum run_stmt which, struct wr_err *err)
{
    return run_step_only(run, which, 1, err) && run_commit_in_time(run, err);
}

bool run_flush(struct run *run, struct wr_err *err)
{
    return writer_commit(run, COMMIT_WAIT_MS, err);
}

bool run_put_meta_text(struct run *run, const char *key, const char *value, struct wr_err *err)
{
    assert(key && *key && value);
    sqlite3_stmt *s = run_begin(run, RUN_S_META, err);

    if (!s)
        return false;
    sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, value, -1, SQLITE_STATIC);
    return run_step(run, RUN_S_META, err);
}

static void writer_disconnect(struct run *run)
{
    for (int i = 0; i < RUN_S_COUNT; i++) {
        sqlite3_finalize(run->stmt[i]);
        run->stmt[i] = NULL;
    }
    sqlite3_close(run->db);
    run->db = NULL;
}

static void writer_free(struct run *run)
{
    writer_disconnect(run);
    if (run->out.f)
        wr_output_abandon(&run->out);
    for (size_t i = 0; i < run->text.n; i++)
        free(run->text.v[i]);
    wr_vec_fini(&run->text);
    wr_vec_fini(&run->series_dt_ps);
    wr_vec_fini(&run->rows);
    wr_map_fini(&run->text_index);
    wr_map_fini(&run->series_ids);
    free(run->path);
    free(run);
}

static void writer_unlink_with_journal(const char *path)
{
    struct wr_str journal = {0};

    wr_str_addf(&journal, "%s-journal", path);
    unlink(path);
    unlink(wr_str_get(&journal));
    wr_str_fini(&journal);
}

const struct wr_format run_format = {.name = "a run file",
                                     .endings = ".weir",
                                     .begins = "SQLite format 3",
                                     .begins_n = 16,
                                     .holds = "WEIR", /* RUN_APPLICATION_ID */
                                     .holds_at = 68,
                                     .data = true,
                                     .own_only = true};

/* A run file under its name is not locked (SQLite's own locks would mix with that one); its status
 * says whether it is being written. */
static bool writer_is_free(const char *path, struct wr_err *err)
{
    struct run_reader *old;
    struct wr_err why;

    /* A damaged file may be replaced; one that cannot be read now may be in use. */
    if (!run_peek(&old, path, &why)) {
        if (why.code != WR_SYSTEM)
            return true;
        *err = why;
        return false;
    }
    struct run_info info = *run_info(old);

    run_close(old);
    return info.status != RUN_RUNNING ||
           wr_fail(err, WR_INPUT,
                   "%s is being written by another run (process %lld); stop that run or choose "
                   "another name",
                   path, (long long)info.pid);
}

bool run_check_path(const char *path, bool force, struct wr_err *err)
{
    return wr_output_check(path, &run_format, force ? WR_FORCE : 0, err) &&
           writer_is_free(path, err);
}

static bool writer_put_first_meta(struct run *run, const struct run_meta *meta, struct wr_err *err)
{
    struct run_writer_id self;
    char started[WR_CLOCK_TEXT], seed[32], pid[32], pid_start[32];

    run_writer_self(&self);
    wr_clock_utc(started);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)meta->seed);
    snprintf(pid, sizeof pid, "%lld", (long long)self.pid);
    snprintf(pid_start, sizeof pid_start, "%lld", (long long)self.pid_start);

    const struct {
        const char *key, *value;
    } texts[] = {
        {"status", status_names[RUN_RUNNING]},
        {"reason", ""},
        {"kind", meta->kind},
        {"weir_version", wr_version()},
        {"command", meta->command},
        {"config", meta->config},
        {"seed", seed},
        {"host", self.host},
        {"pid", pid},
        {"pid_start", pid_start},
        {"started", started},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!run_put_meta_text(run, texts[i].key, texts[i].value ? texts[i].value : "", err))
            return false;
    return true;
}

/* Commits do not wait for the disk: a power failure before run_finish may damage the file. */
static bool writer_connect(struct run *run, const char *path, bool locks, const char *journal,
                           struct wr_err *err)
{
    char pragmas[160];

    snprintf(pragmas, sizeof pragmas,
             "PRAGMA page_size = 8192; PRAGMA journal_mode = %s; PRAGMA synchronous = OFF;"
             "PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;",
             journal);
    return run_sql_open(&run->db, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        locks ? NULL : RUN_NO_LOCKS, err) &&
           run_sql_exec(run->db, run->path, pragmas, err);
}

/* The temporary file is locked as a whole and has no readers: it needs neither SQLite's locks nor a
 * journal. */
static bool writer_set_up(struct run *run, const struct run_meta *meta, struct wr_err *err)
{
    assert(run->out.f && !run->db);
    char id[96];

    snprintf(id, sizeof id, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
             RUN_APPLICATION_ID, RUN_USER_VERSION);
    if (!writer_connect(run, run->out.part, false, "OFF", err) ||
        !run_sql_exec(run->db, run->path, "BEGIN", err))
        return false;
    run->open = true;
    return run_sql_exec(run->db, run->path, id, err) &&
           run_sql_exec(run->db, run->path, run_schema, err) &&
           writer_put_first_meta(run, meta, err) && writer_commit(run, LAST_WAIT_MS, err);
}

/* The journal of a killed run would be rolled back into this file. */
static bool writer_name(struct run *run, struct wr_err *err)
{
    assert(run->out.f && !run->db);
    struct wr_str journal = {0};

    wr_str_addf(&journal, "%s-journal", run->out.target);
    unlink(wr_str_get(&journal));
    wr_str_fini(&journal);
    return wr_output_commit(&run->out, err);
}

/* From here on there may be readers: a journal protects the file if the process is killed. */
static bool writer_publish(struct run *run, bool locks, struct wr_err *err)
{
    assert(!run->open && run->rows.n == 0);
    writer_disconnect(run);
    return writer_name(run, err) && writer_connect(run, run->path, locks, "DELETE", err);
}

bool run_create(struct run **ret, const char *path, const struct run_meta *meta, struct wr_err *err)
{
    struct wr_output out;

    if (!wr_output_open(&out, path, &run_format, meta->force ? WR_FORCE : 0, err))
        return false;
    if (!writer_is_free(path, err)) {
        wr_output_abandon(&out);
        return false;
    }
    struct run *run = wr_zalloc(1, sizeof *run);
    bool locks = run_locks_work(fileno(out.f));

    run->out = out;
    run->path = wr_strdup(path);
    run->out.name = run->path;
    run->began_ns = run->progress_ns = wr_clock_ns();
    if (!writer_set_up(run, meta, err) || (!meta->whole && !writer_publish(run, locks, err))) {
        writer_free(run);
        return wr_wrap(err, "cannot create run file");
    }
    *ret = run;
    return true;
}

bool run_put_progress(struct run *run, double done, double total, const char *of,
                      struct wr_err *err)
{
    assert(of);
    uint64_t now = wr_clock_ns();
    char fraction[32] = "";

    if (now - run->progress_ns < BATCH_NS)
        return true;
    run->progress_ns = now;
    if (total > 0 && done >= 0)
        snprintf(fraction, sizeof fraction, "%.6g", done < total ? done / total : 1);
    return run_put_meta_text(run, "progress", fraction, err) &&
           run_put_meta_text(run, "progress_of", of, err) && run_flush(run, err);
}

static bool writer_put_cost(struct run *run, struct wr_err *err)
{
    double wall_s = 1e-9 * (double)(wr_clock_ns() - run->began_ns);

    return run_put_volatile(run, "wall_s", wall_s, "s", err) &&
           run_put_volatile(run, "max_rss_bytes", (double)wr_max_rss_b(), "B", err);
}

/* The facts are committed before the status changes, and the commit of the status waits for the
 * disk. So a file with the status 'complete' is complete after any crash. */
static bool writer_finish(struct run *run, enum run_status status, const char *reason,
                          struct wr_err *err)
{
    if (status == RUN_COMPLETE && !run->broken.code &&
        (!run_put_rows(run, err) || !run_gather(run, err)))
        return false;
    if (status == RUN_COMPLETE && run->progress_ns > run->began_ns && !run->broken.code &&
        !writer_exec_or_break(run, "DELETE FROM meta WHERE key IN ('progress', 'progress_of')",
                              err))
        return false;
    return writer_put_cost(run, err) && writer_commit(run, LAST_WAIT_MS, err) &&
           writer_exec_or_break(run, "PRAGMA synchronous = FULL", err) &&
           run_put_meta_text(run, "reason", reason ? reason : "", err) &&
           run_put_meta_text(run, "status", status_names[status], err) &&
           writer_commit(run, LAST_WAIT_MS, err);
}

/* A broken run: what was committed stays, with the reason of the failure if it can still be
 * written. */
static void writer_finish_broken(struct run *run)
{
    assert(!run->out.f);
    struct wr_err first = run->broken, ignored;

    if (!sqlite3_get_autocommit(run->db))
        sqlite3_exec(run->db, "ROLLBACK", NULL, NULL, NULL);
    run->broken.code = WR_NONE;
    run->open = false;
    if (run_put_meta_text(run, "reason", first.text, &ignored) &&
        run_put_meta_text(run, "status", status_names[RUN_FAILED], &ignored))
        writer_commit(run, RUN_BUSY_MS, &ignored);
}

bool run_finish(struct run *run, enum run_status status, const char *reason, struct wr_err *err)
{
    assert(status != RUN_RUNNING);
    bool ok = writer_finish(run, status, reason, err);

    if (run->out.f) {
        writer_disconnect(run);
        ok = ok && writer_name(run, err);
    } else if (!ok) {
        writer_finish_broken(run);
    }
    writer_free(run);
    return ok;
}

void run_abandon(struct run *run)
{
    char *path = run->out.f ? NULL : wr_strdup(run->path);

    writer_free(run);
    if (path)
        writer_unlink_with_journal(path);
    free(path);
}

void run_command_word(struct wr_str *out, const char *word)
{
    wr_str_add_word(out, word, "^");
}

void run_command_line(struct wr_str *out, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        wr_str_add(out, i ? " " : "");
        run_command_word(out, argv[i]);
    }
}
