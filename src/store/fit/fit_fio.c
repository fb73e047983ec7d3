/* fit_fio.c -- what `fio --output-format=json` says of a device.
 *
 *   {"global options": {"bs": "4k", ...},
 *    "jobs": [{"jobname": "a", "job options": {"rw": "randread", "iodepth": "4"},
 *              "read": {"io_bytes": ..., "iops": ..., "lat_ns": {"mean": ...},
 *                       "clat_ns": {"percentile": {"99.000000": ...}}}, "write": {...}}]}
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "store/fit/fit_read.h"

struct job {
    const char *file, *name;
    json_t *options, *global, *self;
};

static const char *fio_option(const struct job *j, const char *key)
{
    const char *own = json_string_value(json_object_get(j->options, key));

    return own ? own : json_string_value(json_object_get(j->global, key));
}

static bool fio_fail(const struct job *j, struct wr_err *err, const char *what, const char *value,
                     const char *todo)
{
    return wr_fail(err, WR_INPUT, "%s: job %s: %s \"%s\" %s", j->file, wr_text_clip(j->name).s,
                   what, wr_text_clip(value ? value : "").s, todo);
}

/* A mixture of sizes is no one point. */
static bool fio_one_size(const struct job *j, struct wr_err *err)
{
    static const char *const many[] = {"bsrange", "blocksize_range", "bssplit"};

    for (size_t i = 0; i < sizeof many / sizeof *many; i++)
        if (fio_option(j, many[i]))
            return fio_fail(j, err, many[i], fio_option(j, many[i]),
                            "mixes sizes of requests; measure each in a job of its own");
    return true;
}

/* "4k", "512", "1m,4k": of reads, then of writes. fio's k is 1024. */
static bool fio_read_record(const struct job *j, bool write, uint64_t *ret, struct wr_err *err)
{
    const char *text = fio_option(j, "bs"), *comma;
    static const char units[] = "bkmgt";
    char *end;

    if (!fio_one_size(j, err))
        return false;
    if (!text)
        text = fio_option(j, "blocksize");
    if (!text)
        text = "4k";
    comma = strchr(text, ',');
    if (write && comma)
        text = comma + 1;
    double v = strtod(text, &end);
    char letter = *end >= 'A' && *end <= 'Z' ? (char)(*end - 'A' + 'a') : *end;
    const char *unit = letter ? strchr(units, letter) : NULL;

    if (unit)
        v = ldexp(v, 10 * (int)(unit - units));
    if (!(v >= 1) || v > 1 << 30)
        return fio_fail(j, err, "bs", fio_option(j, "bs"),
                        "is no block size from 1 to 1g; correct it");
    *ret = (uint64_t)v;
    return true;
}

/* What the name of fio's pattern means; those that mix reads and writes are both. */
static bool fio_read_pattern(const struct job *j, bool *random, struct wr_err *err)
{
    static const struct {
        const char *name;
        bool random;
    } known[] = {{"read", false},    {"write", false},    {"rw", false},   {"readwrite", false},
                 {"randread", true}, {"randwrite", true}, {"randrw", true}};
    const char *rw = fio_option(j, "rw");

    if (!rw)
        rw = fio_option(j, "readwrite");
    size_t n = rw ? strcspn(rw, ":") : 0;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (rw && strlen(known[i].name) == n && !strncmp(rw, known[i].name, n)) {
            *random = known[i].random;
            return true;
        }
    return fio_fail(
        j, err, "rw", rw,
        "is not one of read, write, rw, randread, randwrite, randrw; leave this job out");
}

/* Engines that wait for each request, as fio's default does, have one under way, whatever iodepth
 * says. */
static bool fio_read_depth(const struct job *j, uint32_t *ret, struct wr_err *err)
{
    static const char *const waiting[] = {"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"};
    const char *text = fio_option(j, "iodepth"), *engine = fio_option(j, "ioengine");
    const char *many = fio_option(j, "numjobs");
    double depth = text && engine ? strtod(text, NULL) : 1;

    for (size_t i = 0; engine && i < sizeof waiting / sizeof *waiting; i++)
        if (!strcmp(engine, waiting[i]))
            depth = 1;
    /* Of jobs that are reported as one, the requests of all are under way. */
    if (many && (json_object_get(j->options, "group_reporting") ||
                 json_object_get(j->global, "group_reporting")))
        depth *= strtod(many, NULL);
    if (!(depth >= 1) || depth > FIT_MOST_DEPTH)
        return fio_fail(j, err, "iodepth", text,
                        "is not from 1 to 1024 in all; measure with fewer");
    *ret = (uint32_t)depth;
    return true;
}

static double fio_number(json_t *of, const char *key)
{
    json_t *v = json_object_get(of, key);

    return json_is_number(v) ? json_number_value(v) : NAN;
}

static bool fio_has_bytes(const struct job *j, bool write)
{
    json_t *d = json_object_get(j->self, write ? "write" : "read");

    return fio_number(d, "io_bytes") > 0 || fio_number(d, "total_ios") > 0;
}

/* Its requests per second are not the device's: reads and writes take turns, or fio waits on
 * purpose. The latency of a request is the device's all the same. */
static bool fio_is_throttled(const struct job *j)
{
    static const char *const slower[] = {"rate", "rate_iops", "thinktime"};

    for (size_t i = 0; i < sizeof slower / sizeof *slower; i++)
        if (fio_option(j, slower[i]))
            return true;
    return fio_has_bytes(j, false) && fio_has_bytes(j, true);
}

static bool fio_add_direction(fit_points *all, const struct job *j, bool write, struct wr_err *err)
{
    json_t *d = json_object_get(j->self, write ? "write" : "read");
    struct fit_point p = {.write = write, .what = FIT_IOPS, .value = fio_number(d, "iops")};

    if (!fio_has_bytes(j, write))
        return true;
    if (!(p.value > 0) || p.value > 1e15)
        return wr_fail(err, WR_INPUT, "%s: job %s: no iops above 0; give fio's own output", j->file,
                       wr_text_clip(j->name).s);
    p.mean_us = fio_number(json_object_get(d, "lat_ns"), "mean") / 1e3;
    p.p99_us =
        fio_number(json_object_get(json_object_get(d, "clat_ns"), "percentile"), "99.000000") / 1e3;
    if (fio_is_throttled(j)) {
        if (!(p.mean_us > 0) || p.mean_us > 1e15)
            return wr_fail(err, WR_INPUT,
                           "%s: job %s: it mixes reads and writes or waits on purpose, and has no "
                           "mean of lat_ns; leave this job out",
                           j->file, wr_text_clip(j->name).s);
        p.what = FIT_LATENCY;
        p.value = p.mean_us;
    }
    if (!fio_read_record(j, write, &p.record_b, err) || !fio_read_pattern(j, &p.random, err) ||
        !fio_read_depth(j, &p.depth, err))
        return false;
    if (all->n == FIT_MOST_POINTS)
        return wr_fail(err, WR_INPUT, "%s: more than %d points; give fewer jobs", j->file,
                       FIT_MOST_POINTS);
    wr_vec_push(all, p);
    return true;
}

static bool fio_read_jobs(fit_points *all, const char *name, json_t *root, struct wr_err *err)
{
    json_t *jobs = json_object_get(root, "jobs"), *one;
    size_t i;

    if (!json_is_array(jobs))
        return wr_fail(err, WR_INPUT,
                       "%s: no list of jobs in it; give the output of fio --output-format=json",
                       name);
    json_array_foreach(jobs, i, one)
    {
        const char *called = json_string_value(json_object_get(one, "jobname"));
        struct job j = {.file = name,
                        .name = called ? called : "without a name",
                        .options = json_object_get(one, "job options"),
                        .global = json_object_get(root, "global options"),
                        .self = one};

        if (!fio_add_direction(all, &j, false, err) || !fio_add_direction(all, &j, true, err))
            return false;
    }
    return all->n || wr_fail(err, WR_INPUT,
                             "%s: no job has read or written anything; run fio for longer", name);
}

/* What comes before the first brace are fio's remarks; lines count from the file's first. */
bool fit_parse_fio(fit_points *ret, const char *name, const char *text, size_t len,
                   struct wr_err *err)
{
    const char *brace = memchr(text, '{', len);
    size_t before = brace ? (size_t)(brace - text) : 0;
    json_error_t e;
    json_t *root = json_loadb(text + before, len - before, JSON_DISABLE_EOF_CHECK, &e);
    fit_points all = {0};
    int line = e.line;

    for (size_t i = 0; i < before; i++)
        line += text[i] == '\n';
    if (!root)
        return wr_fail(err, WR_INPUT, "%s:%d:%d: %s; give the output of fio --output-format=json",
                       name, line, e.column, e.text);
    bool ok = fio_read_jobs(&all, name, root, err);

    json_decref(root);
    if (ok)
        *ret = all;
    else
        wr_vec_fini(&all);
    return ok;
}
