/* reader.c -- opens run files safely and runs queries on them.
 *
 * Opening: check the header, connect read-only with all of SQLite's defences, replace foreign views
 * (foreign.c), read `meta`, and copy the file if its run is in progress. Every query runs within
 * the file's budget (budget_priv.h). Called by every analysis.
 *
 * Invariant: after reader_guard_end only SELECT is authorised on the connection.
 */
#include "run/reader.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "budget_priv.h"
#include "run/kind.h"
#include "sql_priv.h"

/* Set up by reader_open_file; later only budget and impossible change. */
struct run_reader {
    sqlite3 *db;
    char *path;
    struct run_info info;
    struct wr_arena text;     /* of info */
    uint64_t len_b;           /* of the file */
    struct run_budget budget; /* what queries may use */
    uint64_t impossible;      /* numbers read as NaN */
};

struct run_rows {
    struct run_reader *reader;
    sqlite3_stmt *stmt;
    uint64_t n;             /* rows so far */
    uint64_t *text_b;       /* bytes of texts returned so far */
    struct wr_arena *shown; /* escaped texts of the current row */
};

enum { VALUE_LEAST_B = 1 << 20, VALUE_MOST_B = 1 << 28 };
enum { INPUT_MAX_B = 1 << 30, META_MAX_B = 1 << 26, META_MAX_ROWS = 64 };

const struct run_view run_views[] = {
    {"summary", "key,value,unit", "the headline numbers"},
    {"app_stat", "app,name,ranks", "one line per application"},
    {"rank_stat", "app,rank,node,msgs_sent,bytes_sent,msgs_recvd,bytes_recvd,elapsed_ns",
     "one line per rank"},
    {"coll_stat", "app,rank,coll,n,time_ns", "one line per rank and kind of collective"},
    {"cause_stat", "app,rank,during,cause,time_ns", "why ranks' time passed"},
    {"mark", "app,rank,mark,t_ns", "when ranks came to the marks of their program"},
    {"timeline", "app,rank,t_ns,dt_ns,did", "what recorded ranks did, and when"},
    {"log", "app,rank,tab,col,title,aggregate,row,value", "what programs logged"},
    {"output", "app,rank,t_ns,text", "what programs printed"},
    {"link_stat", "src_kind,src,dst_kind,dst,class,port,bytes,packets,busy_ns,saturated_ns",
     "one line per link and direction"},
    {"server_stat",
     "server,node,role,device,idx,model,reads,writes,bytes_read,bytes_written,busy_ns,seeks",
     "one line per storage device"},
    {"buffer_stat", "server,node,role,requests,used_b,used_max_b,dirty_b,in_b,out_b",
     "one line per server"},
    {"client_stat", "node,server", "which server has a node's data"},
    {"flow_stat", "app,src_group,dst_group,msgs,bytes",
     "bytes that applications sent from group to group"},
    {"latency",
     "app,class,n,mean_ns,min_ns,p01_ns,p25_ns,p50_ns,p75_ns,p90_ns,p99_ns,p999_ns,max_ns",
     "latency percentiles"},
    {"latency_hist", "app,class,low_ns,high_ns,n", "the histograms behind them"},
    {"slice", "t_ns,dt_ns,entity,metric,value", "time series"},
    {"series", "entity,metric,unit,dt_ns", "which time series there are"},
    {"sweep",
     "series,load,offered,accepted,lat_mean_ns,lat_p50_ns,lat_p99_ns,lat_max_ns,hops_mean,"
     "nonminimal_frac,saturated",
     "the points of a load sweep"},
    {"stack_phase", "phase,access,rep,transfers,bytes,open_ns,io_ns,close_ns,total_ns",
     "what each phase of a test reached"},
    {"stack_layer", "side,layer,visits,work_ns,wait_ns,own_ns,share,measured",
     "where the time went, by layer"},
    {"stack_class", "side,class,visits,work_ns,wait_ns,own_ns,share,measured", "by class"},
    {"stack_agent", "side,layer,agent,visits,work_ns,wait_ns,own_ns,share,measured", "by agent"},
    {"stack_state",
     "side,layer,agent,machine,state,class,visits,work_ns,wait_ns,occupancy,measured",
     "and by state"},
    {"stack_message", "message,requests,request_b,answers,answer_b", "what was sent"},
    {"stack_step",
     "operation,t_ns,kind,side,node,peer,layer,what,class,work_ns,wait_ns,bytes,op,parent",
     "one operation, state by state"},
    {"stack_check", "bytes,kind,name,n,p10_s,measured_s,p90_s,simulated_s,low_s,high_s,error",
     "what was measured, and what is simulated"},
    {"stack_param", "name,value,source,help", "parameters of the file system, with their sources"},
    {"process",
     "app,rank,host,pid,ppid,command,counted_by,threads,start_ns,end_ns,io_start_ns,io_end_ns,"
     "library_read,library_written,kernel_read,kernel_written,start_read,unexplained_read,"
     "unexplained_written,booked_read,booked_written,images,mpi_rank",
     "processes of a profiled job, and which layer counted their bytes"},
    {"use_stat",
     "app,rank,pid,command,entity,bytes_read,bytes_written,reads,writes,syncs,opens,metas",
     "what each of them did on which mount and file"},
    {"access_size", "app,op,low_b,high_b,calls", "how large their reads and writes were"},
    {"io_phase", "app,rank,seq,t_ns,dt_ns,op,entity,offset_b,bytes,n,io_ns,source",
     "requests of recorded ranks, in their order"},
    {"meta", "key,value", "what made this file, when and where"},
    {"input", "id,path,len_b,codec,content", "the files the run read, with their contents"},
    {NULL, NULL, NULL},
};

/* Authorises reading of tables and harmless pragmas, and no function that accesses anything outside
 * the database. */
static int reader_authorize(void *unused, int action, const char *a, const char *b, const char *db,
                            const char *trigger)
{
    static const char *const pragmas[] = {
        "application_id", "compile_options", "database_list", "encoding",    "foreign_key_list",
        "function_list",  "index_info",      "index_list",    "index_xinfo", "integrity_check",
        "page_count",     "page_size",       "quick_check",   "table_info",  "table_list",
        "table_xinfo",    "user_version",    "freelist_count"};
    static const char *const setters[] = {"application_id", "encoding", "page_size",
                                          "user_version"};
    (void)unused, (void)db, (void)trigger;

    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return sqlite3_stricmp(b, "load_extension") ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA:
        for (size_t i = 0; b && i < sizeof setters / sizeof setters[0]; i++)
            if (!sqlite3_stricmp(a, setters[i]))
                return SQLITE_DENY;
        for (size_t i = 0; i < sizeof pragmas / sizeof pragmas[0]; i++)
            if (!sqlite3_stricmp(a, pragmas[i]))
                return SQLITE_OK;
        return SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

void run_limit(struct run_reader *r, uint64_t max_ops, const volatile sig_atomic_t *stop)
{
    struct run_budget *b = &r->budget;

    b->own = false;
    b->max_ops = max_ops;
    b->max_rows = b->max_text_b = b->max_temp_b = b->ops = 0;
    b->stop = stop;
    sqlite3_limit(r->db, SQLITE_LIMIT_LENGTH, VALUE_MOST_B);
}

/* Sets the connection's limits, before the file is read. */
static bool reader_guard_begin(sqlite3 *db, const char *path, struct wr_err *err)
{
    static const struct {
        int what, most;
    } limits[] = {{SQLITE_LIMIT_LENGTH, VALUE_MOST_B}, {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                  {SQLITE_LIMIT_VDBE_OP, 1 << 22},     {SQLITE_LIMIT_ATTACHED, 0},
                  {SQLITE_LIMIT_WORKER_THREADS, 0},    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
                  {SQLITE_LIMIT_COMPOUND_SELECT, 100}};

    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        sqlite3_limit(db, limits[i].what, limits[i].most);
    return run_sql_exec(db, path, "PRAGMA cell_size_check = ON", err);
}

/* Checks the schema and restricts the connection to reading, before any query. */
static bool reader_guard_end(sqlite3 *db, const char *path, struct wr_err *err)
{
    if (!run_schema_trust(db, path, err) || !run_sql_exec(db, path, "PRAGMA query_only = ON", err))
        return false;
    sqlite3_set_authorizer(db, reader_authorize, NULL);
    return true;
}

/* Replaces SQLite's error when the budget ended the statement. Always false. */
static bool run_spent_fail(const struct run_reader *r, struct wr_err *err)
{
    switch (r->budget.spent) {
    case RUN_SPENT_STEPS:
        return wr_fail(err, WR_INPUT,
                       "%s: reading it takes more than a file of its size can need; the file is "
                       "damaged, use a copy",
                       r->path);
    case RUN_SPENT_TIME:
        return wr_fail(err, WR_SYSTEM, "%s: reading it takes too long; ask for less at a time",
                       r->path);
    case RUN_SPENT_LIMIT:
    case RUN_SPENT_STOP:
        return wr_fail(err, WR_INTERRUPTED, "%s: the query was stopped", r->path);
    case RUN_SPENT_NOTHING:
        break;
    }
    return false;
}

static bool reader_check_header(const struct run_header *h, const char *path, struct wr_err *err)
{
    uint32_t major = h->user_version / 100;

    if (h->is == RUN_SNIFF_ABSENT)
        return wr_fail(err, WR_INPUT, "%s: no such file; give a run file that weir wrote", path);
    if (h->is == RUN_SNIFF_EMPTY)
        return wr_fail(err, WR_INPUT, "%s is empty: the run was stopped as it began; make it again",
                       path);
    if (h->is == RUN_SNIFF_OTHER && !h->sqlite && !run_kind_check(path, "a run file", err))
        return false;
    if (h->exported)
        return wr_fail(err, WR_INPUT,
                       "%s is not a run file but tables of `weir export`; give the run file that "
                       "they were made from",
                       path);
    if (h->is == RUN_SNIFF_OTHER)
        return wr_fail(err, WR_INPUT,
                       "%s is not a run file%s; give one that weir made, such as `weir run` does",
                       path, h->sqlite ? " but an SQLite database of something else" : "");
    if (major > RUN_FORMAT_MAJOR)
        return wr_fail(err, WR_INPUT,
                       "%s was made by a newer weir (format %u.%u; this one reads up to %d.x); "
                       "update weir to read it",
                       path, major, h->user_version % 100, RUN_FORMAT_MAJOR);
    if (!major)
        return wr_fail(err, WR_INPUT, "%s has no format version; the file is damaged, use a copy",
                       path);
    return true;
}

/* A journal may name a super-journal, which SQLite would open and delete. weir never writes one. */
static bool reader_journal_is_plain(const char *path, struct wr_err *err)
{
    static const unsigned char names_another[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    struct wr_str name = {0};
    unsigned char tail[8];
    bool ok = true;

    wr_str_addf(&name, "%s-journal", path);
    int fd = open(wr_str_get(&name), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
        off_t end = lseek(fd, 0, SEEK_END);

        /* The magic alone at the start is an ordinary, empty journal header. */
        if (end > 512 && pread(fd, tail, 8, end - 8) == 8 && !memcmp(tail, names_another, 8))
            ok = wr_fail(err, WR_INPUT, "%s was not left by weir; remove it or use a copy",
                         wr_str_get(&name));
        close(fd);
    }
    wr_str_fini(&name);
    return ok;
}

/* SQLite rolls back a journal when a writable connection reads the file. */
static bool reader_roll_back(const char *path, bool locks, struct wr_err *err)
{
    sqlite3 *db;

    if (!locks)
        return wr_fail(err, WR_SYSTEM,
                       "%s: its run is going on or was killed, and this file system has no locks "
                       "to decide which; copy it together with %s-journal to one that has",
                       path, path);
    if (!reader_journal_is_plain(path, err) ||
        !run_sql_open(&db, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL, err))
        return false;
    bool ok = reader_guard_begin(db, path, err) &&
              run_sql_exec(db, path, "SELECT count(*) FROM sqlite_master", err);
    sqlite3_close(db);
    return ok || wr_wrap(err,
                         "a killed run left %s-journal behind and it cannot be applied; copy "
                         "both files to where you may write",
                         path);
}

static bool reader_open_guarded(struct run_reader *r, const struct run_header *h,
                                struct wr_err *err)
{
    assert(!r->db && h->is == RUN_SNIFF_RUN);
    const char *path = r->path;

    for (int attempt = 0;; attempt++) {
        sqlite3 *db;

        if (!run_sql_open(&db, path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, r->budget.name,
                          err))
            return false;
        r->db = db;
        run_budget_watch(&r->budget, db);
        if (!reader_guard_begin(db, path, err))
            return run_spent_fail(r, err);
        int rc = sqlite3_exec(db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
        if (rc == SQLITE_OK)
            return reader_guard_end(db, path, err) || run_spent_fail(r, err);
        bool left_behind = rc == SQLITE_READONLY_ROLLBACK && !attempt;
        if ((rc & 0xff) == SQLITE_CORRUPT && h->len_b < h->want_b)
            wr_fail(err, WR_INPUT, "%s is cut short: %llu of %llu bytes; copy it again", path,
                    (unsigned long long)h->len_b, (unsigned long long)h->want_b);
        else if ((rc & 0xff) == SQLITE_ERROR) /* the statement is right: the schema is not */
            wr_fail(err, WR_INPUT, "%s: %s; the file is damaged, use a copy", path,
                    sqlite3_errmsg(db));
        else if (!left_behind)
            run_sql_fail(db, rc, path, err);
        sqlite3_close(db);
        r->db = NULL;
        if (!left_behind || !reader_roll_back(path, h->locks, err))
            return run_spent_fail(r, err);
    }
}

static void reader_set_info(struct run_reader *r, const char *key, const char *value)
{
    struct run_info *info = &r->info;
    const struct {
        const char *key, **into;
    } texts[] = {
        {"reason", &info->reason},   {"kind", &info->kind},
        {"command", &info->command}, {"weir_version", &info->weir_version},
        {"config", &info->config},   {"host", &info->host},
        {"started", &info->started},
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!strcmp(key, texts[i].key) && !**texts[i].into)
            *texts[i].into = wr_arena_strdup(&r->text, value);
    if (!strcmp(key, "seed"))
        info->seed = strtoull(value, NULL, 10);
    if (!strcmp(key, "pid"))
        info->pid = strtoll(value, NULL, 10);
    for (int s = RUN_RUNNING; s <= RUN_FAILED && !strcmp(key, "status"); s++)
        if (!strcmp(value, run_status_name((enum run_status)s)))
            info->status = (enum run_status)s;
}

/* A killed run still has the status 'running': check its writer. */
static void reader_set_status(struct run_reader *r, int64_t pid_start)
{
    struct run_info *info = &r->info;
    struct run_writer_id id = {.pid = info->pid, .pid_start = pid_start};

    snprintf(id.host, sizeof id.host, "%s", info->host);
    if (info->status != RUN_RUNNING || run_writer_lives(&id))
        return;
    info->status = RUN_INCOMPLETE;
    info->reason = wr_arena_printf(&r->text, "its writer (process %lld on %s) is gone",
                                   (long long)info->pid, info->host);
}

static bool reader_read_info(struct run_reader *r, const struct run_header *h, struct wr_err *err)
{
    struct run_rows *q;
    int64_t pid_start = 0;
    bool more, ok, status = false;
    int rows = 0;

    r->info = (struct run_info){
        .status = RUN_INCOMPLETE,
        .reason = "",
        .kind = "",
        .weir_version = "",
        .command = "",
        .config = "",
        .host = "",
        .started = "",
        .format_major = h->user_version / 100,
        .format_minor = h->user_version % 100,
    };
    if (!run_query(&q, r, "SELECT key, value FROM meta", NULL, 0, err))
        return false;
    while ((ok = run_rows_next(q, &more, err)) && more) {
        size_t len;
        const char *key = run_rows_text(q, 0, NULL), *value = run_rows_text(q, 1, &len);

        if (!strcmp(key, "config"))
            value = run_rows_bytes(q, 1, &len);

        status |= !strcmp(key, "status");
        if (!strcmp(key, "pid_start"))
            pid_start = run_rows_int(q, 1);
        reader_set_info(r, key, value);
        if (len > META_MAX_B || ++rows > META_MAX_ROWS) {
            ok = wr_fail(err, WR_INPUT, "%s: its meta is too long; the file is damaged, use a copy",
                         r->path);
            break;
        }
    }
    run_rows_close(q);
    if (!ok)
        return false;
    if (!status)
        return wr_fail(err, WR_INPUT, "%s: it has no status; the file is damaged, use a copy",
                       r->path);
    reader_set_status(r, pid_start);
    return true;
}

/* A reader blocks the commits of a run in progress for as long as it is open. So a temporary copy
 * is read, which also gives a consistent state. */
static bool reader_read_copy(struct run_reader *r, struct wr_err *err)
{
    assert(r->db && r->info.status == RUN_RUNNING);
    sqlite3 *copy;
    int rc =
        sqlite3_open_v2("", &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        r->budget.name);

    if (rc == SQLITE_OK) {
        sqlite3_backup *b = sqlite3_backup_init(copy, "main", r->db, "main");

        rc = b ? sqlite3_backup_step(b, -1) : sqlite3_errcode(copy);
        sqlite3_backup_finish(b);
    }
    if (rc != SQLITE_DONE) {
        sqlite3_close(copy);
        run_sql_fail(NULL, rc, r->path, err);
        return wr_wrap(err, "cannot copy a run that goes on to where temporary files are");
    }
    sqlite3_close(r->db);
    r->db = copy;
    sqlite3_extended_result_codes(copy, 1);
    run_budget_watch(&r->budget, copy);
    return (reader_guard_begin(copy, r->path, err) && reader_guard_end(copy, r->path, err)) ||
           run_spent_fail(r, err);
}

/* A value is not longer than the file. */
static void reader_limit_values(struct run_reader *r)
{
    uint64_t most = r->len_b < VALUE_LEAST_B ? VALUE_LEAST_B : r->len_b;

    sqlite3_limit(r->db, SQLITE_LIMIT_LENGTH, most > VALUE_MOST_B ? VALUE_MOST_B : (int)most);
}

static bool reader_open_within(struct run_reader *r, const struct run_header *h, struct wr_err *err)
{
    if (!reader_open_guarded(r, h, err) || !reader_read_info(r, h, err))
        return false;
    if (r->info.status == RUN_RUNNING && !reader_read_copy(r, err))
        return false;
    reader_limit_values(r);
    return true;
}

static bool reader_open_file(struct run_reader **ret, const char *path, uint64_t deadline_ns,
                             struct wr_err *err)
{
    struct run_header h;

    if (!run_sniff(&h, path, err) || !reader_check_header(&h, path, err))
        return false;

    struct run_reader *r = wr_zalloc(1, sizeof *r);
    r->path = wr_strdup(path);
    r->len_b = h.len_b;
    bool ok = run_budget_open(&r->budget, h.len_b, deadline_ns, h.locks) ||
              wr_fail(err, WR_SYSTEM, "%s: SQLite cannot read files here; build weir again", path);
    if (!ok || !reader_open_within(r, &h, err)) {
        run_close(r);
        return false;
    }
    *ret = r;
    return true;
}

bool run_peek(struct run_reader **ret, const char *path, struct wr_err *err)
{
    return reader_open_file(ret, path, 0, err);
}

bool run_open_until(struct run_reader **ret, const char *path, uint64_t deadline_ns,
                    struct wr_err *err)
{
    struct stat st;

    if (!reader_open_file(ret, path, deadline_ns, err))
        return false;
    if (!stat(path, &st))
        wr_input_note(&st);
    return true;
}

bool run_open(struct run_reader **ret, const char *path, struct wr_err *err)
{
    return run_open_until(ret, path, 0, err);
}

void run_close(struct run_reader *r)
{
    if (!r)
        return;
    sqlite3_close(r->db);
    run_budget_close(&r->budget);
    wr_arena_fini(&r->text);
    free(r->path);
    free(r);
}

const struct run_info *run_info(const struct run_reader *r)
{
    return &r->info;
}

const char *run_path(const struct run_reader *r)
{
    return r->path;
}

static bool reader_query_fail(struct run_reader *r, int rc, struct wr_err *err)
{
    if (r->budget.spent)
        return run_spent_fail(r, err);
    switch (rc & 0xff) {
    case SQLITE_ERROR:
    case SQLITE_RANGE:
    case SQLITE_MISMATCH:
        return wr_fail(err, WR_INPUT, "%s: %s; `weir show` names the views and their columns",
                       r->path, sqlite3_errmsg(r->db));
    case SQLITE_AUTH:
    case SQLITE_READONLY:
        return wr_fail(err, WR_INPUT,
                       "%s: run files are only read here (%s); copy it and use sqlite3 to change "
                       "the copy",
                       r->path, sqlite3_errmsg(r->db));
    case SQLITE_TOOBIG:
        return wr_fail(err, WR_INPUT, "%s: a value or statement is too long; ask for less",
                       r->path);
    default:
        return run_sql_fail(r->db, rc, r->path, err);
    }
}

bool run_query(struct run_rows **ret, struct run_reader *r, const char *sql,
               const char *const *args, size_t nargs, struct wr_err *err)
{
    assert(sql && (args || !nargs));
    sqlite3_stmt *s;
    const char *tail;
    r->budget.spent = RUN_SPENT_NOTHING;
    int rc = sqlite3_prepare_v2(r->db, sql, -1, &s, &tail);

    if (rc != SQLITE_OK)
        return reader_query_fail(r, rc, err);
    if (!s)
        return wr_fail(err, WR_INPUT, "there is no statement in \"%s\"; give a SELECT", sql);
    tail += strspn(tail, " \t\r\n;");
    if (*tail || !sqlite3_stmt_readonly(s)) {
        sqlite3_finalize(s);
        return wr_fail(err, WR_INPUT, "%s; give one SELECT",
                       *tail ? "more than one statement at a time" : "run files are only read");
    }
    for (size_t i = 0; i < nargs; i++)
        sqlite3_bind_text(s, (int)i + 1, args[i], -1, SQLITE_TRANSIENT);

    struct run_rows *q = wr_alloc(sizeof *q);
    *q = (struct run_rows){.reader = r,
                           .stmt = s,
                           .shown = wr_zalloc(1, sizeof *q->shown),
                           .text_b = wr_zalloc(1, sizeof *q->text_b)};
    *ret = q;
    return true;
}

bool run_rows_next(struct run_rows *q, bool *ret_more, struct wr_err *err)
{
    struct run_budget *b = &q->reader->budget;
    int rc = sqlite3_step(q->stmt);

    wr_arena_fini(q->shown);

    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return reader_query_fail(q->reader, rc, err);
    if (rc == SQLITE_ROW &&
        ((b->max_rows && ++q->n > b->max_rows) || (b->max_text_b && *q->text_b > b->max_text_b))) {
        b->spent = RUN_SPENT_STEPS;
        return run_spent_fail(q->reader, err);
    }
    *ret_more = rc == SQLITE_ROW;
    return true;
}

void run_rows_close(struct run_rows *q)
{
    if (!q)
        return;
    sqlite3_finalize(q->stmt);
    wr_arena_fini(q->shown);
    free(q->shown);
    free(q->text_b);
    free(q);
}

int run_rows_cols(const struct run_rows *q)
{
    return sqlite3_column_count(q->stmt);
}

const char *run_rows_name(const struct run_rows *q, int col)
{
    const char *name = sqlite3_column_name(q->stmt, col);

    return name ? name : "";
}

enum run_type run_rows_type(const struct run_rows *q, int col)
{
    switch (sqlite3_column_type(q->stmt, col)) {
    case SQLITE_INTEGER:
        return RUN_T_INT;
    case SQLITE_FLOAT:
        return RUN_T_REAL;
    case SQLITE_TEXT:
        return RUN_T_TEXT;
    case SQLITE_BLOB:
        return RUN_T_BLOB;
    default:
        return RUN_T_NULL;
    }
}

int64_t run_rows_int(const struct run_rows *q, int col)
{
    assert(col >= 0 && col < sqlite3_column_count(q->stmt));
    return sqlite3_column_int64(q->stmt, col);
}

double run_rows_real(const struct run_rows *q, int col)
{
    if (sqlite3_column_type(q->stmt, col) == SQLITE_NULL)
        return NAN;
    double v = sqlite3_column_double(q->stmt, col);

    if (fabs(v) <= RUN_LARGEST)
        return v;
    q->reader->impossible++;
    return NAN;
}

uint64_t run_impossible(const struct run_reader *r)
{
    return r->impossible;
}

const char *run_rows_bytes(const struct run_rows *q, int col, size_t *ret_len)
{
    assert(col >= 0 && col < sqlite3_column_count(q->stmt));
    const char *text = (const char *)sqlite3_column_text(q->stmt, col);
    size_t n = text ? (size_t)sqlite3_column_bytes(q->stmt, col) : 0;

    *q->text_b += n;
    if (ret_len)
        *ret_len = n;
    return text ? text : "";
}

const char *run_rows_text(const struct run_rows *q, int col, size_t *ret_len)
{
    size_t n;
    const char *text = run_rows_bytes(q, col, &n);

    if (!wr_text_is_harmless(text, n)) {
        struct wr_str shown = {0};

        wr_str_add_harmless(&shown, text, n);
        n = shown.n;
        text = wr_arena_strndup(q->shown, shown.s, n);
        wr_str_fini(&shown);
    }
    if (ret_len)
        *ret_len = n;
    return text;
}

bool run_each(struct run_reader *r, const char *sql, const char *arg, run_each_row *fn, void *ctx,
              struct wr_err *err)
{
    struct run_rows *q;
    bool more, ok;

    if (!run_query(&q, r, sql, &arg, arg ? 1 : 0, err))
        return false;
    while ((ok = run_rows_next(q, &more, err)) && more)
        if (!fn(ctx, q))
            break;
    run_rows_close(q);
    return ok;
}

bool run_number(struct run_reader *r, const char *sql, double *ret, bool *ret_found,
                struct wr_err *err)
{
    struct run_rows *q;
    bool more = false;

    if (!run_query(&q, r, sql, NULL, 0, err))
        return false;
    bool ok = run_rows_next(q, &more, err);
    if (ok) {
        *ret_found = more && run_rows_type(q, 0) != RUN_T_NULL;
        if (*ret_found)
            *ret = run_rows_real(q, 0);
    }
    run_rows_close(q);
    return ok;
}

/* The stored length limits what is unpacked, so that a small blob cannot allocate all memory. */
static bool reader_unpack(const char *path, const char *codec, uint64_t len, const void *blob,
                          size_t blob_len, char **ret, struct wr_err *err)
{
    bool zstd = !strcmp(codec, "zstd");

    if (len > INPUT_MAX_B || (!zstd && (strcmp(codec, "raw") != 0 || blob_len != len)))
        return wr_fail(err, WR_INPUT, "input %s is damaged; use a copy of the run file", path);
    char *content = wr_zalloc(len + 1, 1);
    size_t n = len;
    if (zstd)
        n = ZSTD_decompress(content, len, blob, blob_len);
    else if (len)
        memcpy(content, blob, len);
    if (n != len) {
        free(content);
        return wr_fail(err, WR_INPUT, "input %s is damaged; use a copy of the run file", path);
    }
    *ret = content;
    return true;
}

bool run_input(struct run_reader *r, const char *path, char **ret, size_t *ret_len,
               struct wr_err *err)
{
    struct run_rows *q;
    bool more = false;

    if (!run_query(&q, r, "SELECT len_b, content, codec FROM input WHERE path = ?1", &path, 1, err))
        return false;
    bool ok = run_rows_next(q, &more, err);
    if (ok && !more)
        ok = wr_fail(err, WR_UNKNOWN, "%s holds no input \"%s\"; `weir show %s input` lists them",
                     r->path, path, r->path);
    if (ok) {
        int64_t len = run_rows_int(q, 0);
        char *codec = wr_strdup(run_rows_bytes(q, 2, NULL));
        const void *blob = sqlite3_column_blob(q->stmt, 1);
        size_t blob_len = (size_t)sqlite3_column_bytes(q->stmt, 1);

        ok = reader_unpack(path, codec, (uint64_t)len, blob ? blob : "", blob_len, ret, err);
        if (ok)
            *ret_len = (size_t)len;
        free(codec);
    }
    run_rows_close(q);
    return ok;
}
