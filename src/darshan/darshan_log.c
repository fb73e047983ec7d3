/* darshan_log.c -- header, regions, job and names of a log.
 *
 * Owns the rules of the versions: how long the header is, how modules are numbered, how names are
 * stored. Each region is decompressed whole, read, and freed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/unpack.h"
#include "darshan_priv.h"

#define LOG_LARGEST_FILE ((size_t)4 << 30)
/* A region: zlib packs a thousand bytes into one at best, bzip2 more, records of counters far
 * fewer. */
#define LOG_LARGEST_REGION ((size_t)2 << 30)
#define LOG_REGION(packed) (((size_t)64 << 20) + 1100 * (size_t)(packed))

enum {
    LOG_MAGIC = 6567223,
    LOG_OLD_MODULES = 16, /* before 3.41 */
    LOG_JOB_SIZE = 4096,
    LOG_METADATA = 1024,
};

enum { LOG_ZLIB, LOG_BZIP2, LOG_PLAIN };

struct log_map {
    uint64_t off, len;
};

/* The header as it was in the file, modules numbered as since 3.41. */
struct log_header {
    const unsigned char *bytes;
    size_t n;
    unsigned packing;
    uint64_t job_off;
    struct log_map names, module[DARSHAN_MODULES];
};

static bool log_damaged(const struct darshan_log *log, const char *what, struct wr_err *err)
{
    return wr_fail(err, WR_INPUT,
                   "%s is a Darshan log that is damaged or cut off: %s; copy it again", log->path,
                   what);
}

/* ---- the header ---- */

static bool log_read_version(struct darshan_log *log, const unsigned char *bytes, size_t n,
                             struct wr_err *err)
{
    static const struct {
        const char *name;
        unsigned minor;
    } known[] = {{"3.00", 0}, {"3.10", 10}, {"3.20", 20}, {"3.21", 21}, {"3.41", 41}};

    if (n >= 8 && bytes[1] == '.' && bytes[0] >= '0' && bytes[0] <= '9' && !bytes[7]) {
        snprintf(log->version, sizeof log->version, "%s", (const char *)bytes);
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (!strcmp(log->version, known[i].name)) {
                log->minor = known[i].minor;
                return true;
            }
        struct darshan_cursor magic = {bytes + 8, bytes + n, false, false};
        struct darshan_cursor swapped = {bytes + 8, bytes + n, true, false};

        if (darshan_u64(&magic) == LOG_MAGIC || darshan_u64(&swapped) == LOG_MAGIC)
            return wr_fail(err, WR_INPUT,
                           "%s is a Darshan log of version %s, and 3.00, 3.10, 3.20, 3.21 and 3.41 "
                           "are read; convert it with `darshan-convert` of Darshan 3.5",
                           log->path, log->version);
    }
    return wr_fail(err, WR_INPUT,
                   "%s is not a Darshan log; give a file that Darshan 3 wrote, as in job.darshan",
                   log->path);
}

/* Where a module of an older version is since 3.41: H5D came with 3.20, PNETCDF_VAR with 3.41. */
static unsigned log_module_number(const struct darshan_log *log, unsigned i)
{
    if (log->minor < 20 && i >= DARSHAN_H5D)
        i++;
    if (log->minor < 41 && i >= DARSHAN_PNETCDF_VAR)
        i++;
    return i;
}

static void log_read_map(struct darshan_log *log, struct log_header *h, struct darshan_cursor *c)
{
    unsigned modules = log->minor < 41 ? LOG_OLD_MODULES : DARSHAN_MODULES;
    uint64_t partial;

    h->packing = (unsigned)darshan_uint(c, 1);
    darshan_skip(c, log->minor < 41 ? 3 : 7);
    partial = darshan_uint(c, log->minor < 41 ? 4 : 8);
    h->names = (struct log_map){.off = darshan_u64(c)};
    h->names.len = darshan_u64(c);
    for (unsigned i = 0; i < modules; i++) {
        struct log_map *m = &h->module[log_module_number(log, i)];

        m->off = darshan_u64(c);
        m->len = darshan_u64(c);
        if (partial >> i & 1)
            log->partial |= UINT64_C(1) << log_module_number(log, i);
    }
    for (unsigned i = 0; i < modules; i++)
        log->module_version[log_module_number(log, i)] = (uint32_t)darshan_uint(c, 4);
    h->job_off = (uint64_t)(c->at - h->bytes);
}

static bool log_check_map(const struct darshan_log *log, const struct log_header *h,
                          struct wr_err *err)
{
    bool ok = h->names.len <= h->n && h->names.off <= h->n - h->names.len;

    for (unsigned i = 0; ok && i < DARSHAN_MODULES; i++)
        ok = h->module[i].len <= h->n && h->module[i].off <= h->n - h->module[i].len;
    if (!ok)
        return log_damaged(log, "its header names data behind its end", err);
    if (h->packing > LOG_PLAIN)
        return log_damaged(log, "its compression is none that Darshan has", err);
    return true;
}

static bool log_read_header(struct darshan_log *log, struct log_header *h,
                            const unsigned char *bytes, size_t n, struct wr_err *err)
{
    struct darshan_cursor c = {bytes, bytes + n, false, false};

    *h = (struct log_header){.bytes = bytes, .n = n};
    if (!log_read_version(log, bytes, n, err))
        return false;
    darshan_skip(&c, 8);
    uint64_t magic = darshan_u64(&c);

    if (c.bad)
        return log_damaged(log, "its header ends early", err);
    log->big_endian = magic != LOG_MAGIC;
    if (log->big_endian) {
        c = (struct darshan_cursor){bytes + 8, bytes + n, true, false};
        if (darshan_u64(&c) != LOG_MAGIC)
            return wr_fail(err, WR_INPUT,
                           "%s is not a Darshan log: its magic number is wrong; give a file that "
                           "Darshan 3 wrote",
                           log->path);
    }
    log_read_map(log, h, &c);
    if (c.bad)
        return log_damaged(log, "its header ends early", err);
    log->bzip2 = h->packing == LOG_BZIP2;
    return log_check_map(log, h, err);
}

/* ---- regions ---- */

struct log_region {
    const struct darshan_log *log;
    struct wr_str plain;
    size_t most;
};

static bool log_put(void *ctx, const char *bytes, size_t n, struct wr_err *err)
{
    struct log_region *r = ctx;

    if (n > r->most - r->plain.n)
        return wr_fail(err, WR_INPUT,
                       "%s holds more than %zu MiB in one module, which is not read; is it a "
                       "Darshan log?",
                       r->log->path, r->most >> 20);
    wr_str_addn(&r->plain, bytes, n);
    return true;
}

/* free() the text. */
static bool log_unpack(const struct darshan_log *log, const struct log_header *h, struct log_map m,
                       struct wr_str *ret, struct wr_err *err)
{
    size_t most = LOG_REGION(m.len < LOG_LARGEST_FILE ? m.len : LOG_LARGEST_FILE);
    struct log_region r = {.log = log,
                           .most = most < LOG_LARGEST_REGION ? most : LOG_LARGEST_REGION};
    const char *from = (const char *)h->bytes + m.off;
    bool ok = h->packing == LOG_PLAIN   ? log_put(&r, from, m.len, err)
              : h->packing == LOG_BZIP2 ? wr_unpack_bzip2(log->path, from, m.len, log_put, &r, err)
                                        : wr_unpack_zlib(log->path, from, m.len, log_put, &r, err);

    if (!ok) {
        wr_str_fini(&r.plain);
        return false;
    }
    *ret = r.plain;
    return true;
}

static struct darshan_cursor log_cursor(const struct darshan_log *log, const struct wr_str *plain)
{
    const unsigned char *at = (const unsigned char *)plain->s;

    return (struct darshan_cursor){at, at + plain->n, log->big_endian, false};
}

/* ---- the job ---- */

/* Lines after the first: "TYPE\tPATH". */
static void log_take_mounts(struct darshan_log *log, char *text)
{
    for (char *line = strchr(text, '\n'); line; line = strchr(line, '\n')) {
        line++;
        size_t type = strcspn(line, "\t\n"), path;

        if (line[type] != '\t')
            continue;
        path = strcspn(line + type + 1, " \t\n");
        wr_vec_push(
            &log->mounts,
            (struct darshan_mount){.type = wr_arena_strndup(&log->arena, line, type),
                                   .path = wr_arena_strndup(&log->arena, line + type + 1, path)});
    }
    /* Longest path first, otherwise in the log's order; there are a few dozen. */
    for (size_t i = 1; i < log->mounts.n; i++)
        for (size_t k = i; k && strlen(log->mounts.v[k - 1].path) < strlen(log->mounts.v[k].path);
             k--) {
            struct darshan_mount m = log->mounts.v[k];

            log->mounts.v[k] = log->mounts.v[k - 1];
            log->mounts.v[k - 1] = m;
        }
}

static bool log_take_job(struct darshan_log *log, struct darshan_cursor *c, struct wr_err *err)
{
    bool ns = log->minor >= 41;
    int64_t start[2] = {0}, end[2] = {0};

    log->uid = darshan_i64(c);
    start[0] = darshan_i64(c);
    start[1] = ns ? darshan_i64(c) : 0;
    end[0] = darshan_i64(c);
    end[1] = ns ? darshan_i64(c) : 0;
    log->nprocs = darshan_i64(c);
    log->jobid = darshan_i64(c);
    const char *metadata = (const char *)c->at;

    darshan_skip(c, LOG_METADATA);
    if (c->bad)
        return log_damaged(log, "the data of its job end early", err);
    enum { LATEST_S = INT32_MAX * INT64_C(2), PS = 1000000000 };
    if (log->nprocs < 1 || log->nprocs > UINT32_MAX || start[0] < 0 || start[0] > LATEST_S ||
        end[0] < start[0] || end[0] > LATEST_S || start[1] < 0 || start[1] >= PS || end[1] < 0 ||
        end[1] >= PS)
        return log_damaged(log, "its times or its number of processes cannot be", err);
    log->start_ns = start[0] * PS + start[1];
    log->end_ns = end[0] * PS + end[1];
    /* Without nanoseconds Darshan counts the second that was begun. */
    log->run_time_s = (double)(log->end_ns - log->start_ns) / 1e9 + (ns ? 0 : 1);
    log->metadata = wr_arena_strndup(&log->arena, metadata, strnlen(metadata, LOG_METADATA));
    char *text = wr_arena_strndup(&log->arena, (const char *)c->at,
                                  strnlen((const char *)c->at, darshan_left(c)));

    log->exe = wr_arena_strndup(&log->arena, text, strcspn(text, "\n"));
    log_take_mounts(log, text);
    return true;
}

static bool log_read_job(struct darshan_log *log, const struct log_header *h, struct wr_err *err)
{
    uint64_t end = h->names.len ? h->names.off : 0;
    struct wr_str plain = {0};

    for (unsigned i = 0; i < DARSHAN_MODULES; i++)
        if (h->module[i].len && (!end || h->module[i].off < end))
            end = h->module[i].off;
    if (!end)
        end = h->n;
    if (end <= h->job_off)
        return log_damaged(log, "it has no data of its job", err);
    if (!log_unpack(log, h, (struct log_map){h->job_off, end - h->job_off}, &plain, err))
        return false;
    if (plain.n > LOG_JOB_SIZE)
        plain.n = LOG_JOB_SIZE;
    struct darshan_cursor c = log_cursor(log, &plain);
    bool ok = log_take_job(log, &c, err);

    wr_str_fini(&plain);
    return ok;
}

/* ---- names ---- */

static int log_by_id(const void *a, const void *b)
{
    const struct darshan_name *x = a, *y = b;

    return x->id != y->id ? (x->id < y->id ? -1 : 1) : 0;
}

static bool log_take_name(struct darshan_log *log, struct darshan_cursor *c)
{
    uint64_t id = darshan_u64(c);
    size_t n = log->minor ? 0 : (size_t)darshan_uint(c, 4), end;
    const char *text = (const char *)c->at;

    if (log->minor) {
        n = strnlen(text, darshan_left(c));
        end = n + 1;
    } else {
        end = n;
        n = strnlen(text, n < darshan_left(c) ? n : darshan_left(c));
    }
    if (c->bad || end > darshan_left(c))
        return false;
    darshan_skip(c, end);
    if (n)
        wr_vec_push(&log->names, (struct darshan_name){id, wr_arena_strndup(&log->arena, text, n)});
    return true;
}

static bool log_read_names(struct darshan_log *log, const struct log_header *h, struct wr_err *err)
{
    struct wr_str plain = {0};
    bool ok = true;

    if (!h->names.len)
        return true;
    if (!log_unpack(log, h, h->names, &plain, err))
        return false;
    struct darshan_cursor c = log_cursor(log, &plain);

    while (ok && darshan_left(&c))
        ok = log_take_name(log, &c);
    wr_str_fini(&plain);
    if (log->names.n)
        qsort(log->names.v, log->names.n, sizeof *log->names.v, log_by_id);
    return ok || log_damaged(log, "its table of names ends early", err);
}

/* ---- modules ---- */

static uint32_t log_newest(enum darshan_module m)
{
    switch (m) {
    case DARSHAN_DXT_POSIX:
    case DARSHAN_LUSTRE:
        return 2;
    case DARSHAN_DXT_MPIIO:
        return 3;
    case DARSHAN_HEATMAP:
        return 1;
    default:
        return m < DARSHAN_KNOWN ? darshan_forms[m].version : 0;
    }
}

static bool log_take_module(struct darshan_log *log, enum darshan_module m,
                            struct darshan_cursor *c)
{
    switch (m) {
    case DARSHAN_HEATMAP:
        return darshan_read_heatmaps(log, c);
    case DARSHAN_DXT_POSIX:
    case DARSHAN_DXT_MPIIO:
        return darshan_read_traces(log, m, c);
    case DARSHAN_LUSTRE:
        return darshan_read_layouts(log, c);
    default:
        return darshan_read_records(log, m, c);
    }
}

static void log_warn(struct darshan_log *log, enum darshan_module m, const char *what)
{
    char number[32];

    snprintf(number, sizeof number, "module %u", (unsigned)m);
    wr_str_addf(&log->warnings, "%s: %s %s\n", log->path,
                m < DARSHAN_KNOWN ? darshan_module_names[m] : number, what);
}

static bool log_read_module(struct darshan_log *log, const struct log_header *h,
                            enum darshan_module m, struct wr_err *err)
{
    struct wr_str plain = {0};
    bool partial = log->partial >> m & 1;

    if (partial)
        log_warn(log, m,
                 "is incomplete, because Darshan ran out of memory for it: its records are left "
                 "out");
    if (!h->module[m].len || partial)
        return true;
    uint32_t version = log->module_version[m], newest = log_newest(m);

    if (!newest) {
        log_warn(log, m, "is not read: its records are left out");
        return true;
    }
    if (!version || version > newest)
        return wr_fail(err, WR_INPUT,
                       "%s: its module %s has version %u, and 1 to %u are known; make the log with "
                       "Darshan 3.5 or older",
                       log->path, darshan_module_names[m], version, newest);
    if (!log_unpack(log, h, h->module[m], &plain, err))
        return wr_wrap(err, "module %s", darshan_module_names[m]);
    struct darshan_cursor c = log_cursor(log, &plain);

    if (!log_take_module(log, m, &c))
        log_warn(log, m, "is damaged at its end: what comes before is used");
    wr_str_fini(&plain);
    return true;
}

bool darshan_parse(struct darshan_log *ret, const char *name, const void *bytes, size_t n,
                   struct wr_err *err)
{
    struct darshan_log log = {0};
    struct log_header h;

    log.path = wr_arena_strdup(&log.arena, name);
    bool ok = log_read_header(&log, &h, bytes, n, err) && log_read_job(&log, &h, err) &&
              log_read_names(&log, &h, err);

    if (ok && log.minor == 20)
        wr_str_addf(&log.warnings,
                    "%s: Darshan 3.2.0 wrote wrong values into some counters, above all of common "
                    "access sizes\n",
                    log.path);
    for (unsigned m = 0; ok && m < DARSHAN_MODULES; m++)
        ok = log_read_module(&log, &h, (enum darshan_module)m, err);
    if (!ok) {
        darshan_fini(&log);
        return false;
    }
    *ret = log;
    return true;
}

bool darshan_is_log(const char *path)
{
    char head[16];
    size_t n = wr_file_head(head, sizeof head, path);

    for (int big = 0; big < 2; big++) {
        struct darshan_cursor c = {(const unsigned char *)head, (const unsigned char *)head + n,
                                   big, false};

        darshan_skip(&c, 8);
        if (darshan_u64(&c) == LOG_MAGIC)
            return true;
    }
    return false;
}

bool darshan_open(struct darshan_log *ret, const char *path, struct wr_err *err)
{
    char *bytes;
    size_t n;

    if (!wr_file_read(&bytes, &n, path, LOG_LARGEST_FILE, err))
        return false;
    bool ok = darshan_parse(ret, path, bytes, n, err);

    free(bytes);
    return ok;
}

void darshan_fini(struct darshan_log *log)
{
    for (int m = 0; m < DARSHAN_KNOWN; m++)
        wr_vec_fini(&log->records[m]);
    wr_vec_fini(&log->heatmaps);
    wr_vec_fini(&log->traces);
    wr_vec_fini(&log->layouts);
    wr_vec_fini(&log->mounts);
    wr_vec_fini(&log->names);
    wr_str_fini(&log->warnings);
    wr_arena_fini(&log->arena);
}

const char *darshan_name(const struct darshan_log *log, uint64_t id)
{
    struct darshan_name want = {.id = id};
    const struct darshan_name *n =
        log->names.n ? bsearch(&want, log->names.v, log->names.n, sizeof want, log_by_id) : NULL;

    return n ? n->name : NULL;
}

const struct darshan_mount *darshan_mount(const struct darshan_log *log, const char *file)
{
    for (size_t i = 0; file && i < log->mounts.n; i++)
        if (!strncmp(log->mounts.v[i].path, file, strlen(log->mounts.v[i].path)))
            return &log->mounts.v[i];
    return NULL;
}
