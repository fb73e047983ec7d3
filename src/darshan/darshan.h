/* darshan.h -- logs of Darshan 3 (versions 3.00 to 3.41 of the format), read whole.
 *
 *   header    version, magic number (which shows the byte order), compression, map of regions
 *   job       user, times, processes, command line, mounts          \
 *   names     record id -> path                                      >  compressed, each by itself
 *   modules   POSIX, MPI-IO, STDIO, BG/Q: records of counters        /
 *             LUSTRE: layouts of files; HEATMAP: bytes per bin of time; DXT: requests one by one
 *
 * Counters are in the order of version 3.41; what an older module version did not count has the
 * value that Darshan's own tools give it (-1, or 0 for POSIX_RENAMED_FROM). Modules that are not
 * read (HDF5, PnetCDF, AutoPerf, DAOS, ...) are named in the warnings, and so are modules whose
 * memory ran out while the job ran: as with Darshan's parser, their records are left out.
 *
 * A log may be damaged: nothing in it is trusted, and what it makes us allocate is limited by its
 * own size. Written from the facts of the public headers of darshan-hpc/darshan.
 */
#ifndef DARSHAN_DARSHAN_H
#define DARSHAN_DARSHAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

/* As they are numbered since 3.41. */
enum darshan_module {
    DARSHAN_NULL,
    DARSHAN_POSIX,
    DARSHAN_MPIIO,
    DARSHAN_H5F,
    DARSHAN_H5D,
    DARSHAN_PNETCDF_FILE,
    DARSHAN_PNETCDF_VAR,
    DARSHAN_BGQ,
    DARSHAN_LUSTRE,
    DARSHAN_STDIO,
    DARSHAN_DXT_POSIX,
    DARSHAN_DXT_MPIIO,
    DARSHAN_MDHIM,
    DARSHAN_APXC,
    DARSHAN_APMPI,
    DARSHAN_HEATMAP,
    DARSHAN_DFS,
    DARSHAN_DAOS,
    DARSHAN_KNOWN,
    DARSHAN_MODULES = 64,
};

/* Indices of the counters that are used by name; the rows of darshan_forms.c have the names. */
enum {
    POSIX_OPENS = 0,
    POSIX_READS = 3,
    POSIX_WRITES = 4,
    POSIX_SEEKS = 5,
    POSIX_STATS = 6,
    POSIX_FSYNCS = 8,
    POSIX_FDSYNCS = 9,
    POSIX_BYTES_READ = 14,
    POSIX_BYTES_WRITTEN = 15,
    POSIX_MAX_BYTE_READ = 16,
    POSIX_MAX_BYTE_WRITTEN = 17,
    POSIX_SIZE_READ_0_100 = 29,
    POSIX_SIZE_WRITE_0_100 = 39,
    STDIO_OPENS = 0,
    STDIO_READS = 2,
    STDIO_WRITES = 3,
    STDIO_SEEKS = 4,
    STDIO_FLUSHES = 5,
    STDIO_BYTES_WRITTEN = 6,
    STDIO_BYTES_READ = 7,
    MPIIO_INDEP_OPENS = 0,
    MPIIO_COLL_OPENS = 1,
    MPIIO_INDEP_READS = 2,
    MPIIO_INDEP_WRITES = 3,
    MPIIO_COLL_READS = 4,
    MPIIO_COLL_WRITES = 5,
    MPIIO_SPLIT_READS = 6,
    MPIIO_SPLIT_WRITES = 7,
    MPIIO_NB_READS = 8,
    MPIIO_NB_WRITES = 9,
    MPIIO_SYNCS = 10,
    MPIIO_BYTES_READ = 14,
    MPIIO_BYTES_WRITTEN = 15,
    MPIIO_SIZE_READ_0_100 = 19,
    MPIIO_SIZE_WRITE_0_100 = 29,
    DARSHAN_SIZES = 10, /* of such a histogram */
};

/* Times in seconds since the job's start; 0 where there was no such call. POSIX and MPI-IO have the
 * same ones, in the same order. */
enum {
    POSIX_F_OPEN_START = 0,
    POSIX_F_READ_START = 1,
    POSIX_F_WRITE_START = 2,
    POSIX_F_CLOSE_START = 3,
    POSIX_F_OPEN_END = 4,
    POSIX_F_READ_END = 5,
    POSIX_F_WRITE_END = 6,
    POSIX_F_CLOSE_END = 7,
    POSIX_F_READ_TIME = 8,
    POSIX_F_WRITE_TIME = 9,
    POSIX_F_META_TIME = 10,
    STDIO_F_META_TIME = 0,
    STDIO_F_WRITE_TIME = 1,
    STDIO_F_READ_TIME = 2,
    STDIO_F_OPEN_START = 3,
    STDIO_F_CLOSE_START = 4,
    STDIO_F_WRITE_START = 5,
    STDIO_F_READ_START = 6,
    STDIO_F_OPEN_END = 7,
    STDIO_F_CLOSE_END = 8,
    STDIO_F_WRITE_END = 9,
    STDIO_F_READ_END = 10,
};

/* A counter: the module versions that have it, and its value in those that came before. */
struct darshan_counter {
    const char *name;
    uint8_t since, until; /* until 0: still there */
    int8_t absent;
};

/* The records of counters of one module: first whole numbers, then real ones. */
struct darshan_form {
    const char *name; /* of the module */
    const struct darshan_counter *count, *real;
    uint32_t ncounts, nreals; /* of the newest version: rows with `until` 0 */
    uint32_t count_rows, real_rows;
    uint32_t version; /* newest */
    int omit;         /* row: a record of version 1 in which it is not 0 is left out; -1: none */
};

extern const struct darshan_form darshan_forms[DARSHAN_KNOWN]; /* .name NULL: no counters */
extern const char *const darshan_module_names[DARSHAN_KNOWN];

struct darshan_record {
    uint64_t id;
    int64_t rank; /* -1: of all ranks together */
    const int64_t *count;
    const double *real;
};

struct darshan_heatmap {
    uint64_t id;
    int64_t rank;
    double width_s;
    uint32_t nbins;
    const int64_t *write, *read;
};

struct darshan_segment {
    int64_t offset, length; /* offset -1: not recorded */
    double start_s, end_s;
    uint64_t thread;
};

/* The requests of a rank to a file: writes, then reads. */
struct darshan_trace {
    enum darshan_module module;
    uint64_t id;
    int64_t rank;
    const char *host;
    uint64_t nwrites, nreads;
    const struct darshan_segment *segment;
};

enum {
    DARSHAN_STRIPE_SIZE,
    DARSHAN_STRIPE_COUNT,
    DARSHAN_STRIPE_PATTERN,
    DARSHAN_STRIPE_FLAGS,
    DARSHAN_STRIPE_START,
    DARSHAN_STRIPE_END,
    DARSHAN_STRIPE_MIRROR,
    DARSHAN_STRIPE_COUNTERS,
};

struct darshan_layout_part {
    int64_t count[DARSHAN_STRIPE_COUNTERS];
    const char *pool; /* "": none */
};

struct darshan_layout {
    uint64_t id;
    int64_t rank;
    uint32_t nparts, nstripes;
    const struct darshan_layout_part *part;
    const int64_t *ost; /* [nstripes], those of the parts one after another */
};

struct darshan_mount {
    const char *path, *type;
};

struct darshan_name {
    uint64_t id;
    const char *name;
};

/* Filled by darshan_open, then only read; all pointers are the arena's. */
struct darshan_log {
    struct wr_arena arena;
    const char *path;
    char version[9];
    unsigned minor; /* 0, 10, 20, 21, 41 */
    bool big_endian, bzip2;
    uint64_t partial; /* modules, by bit, whose records are not all there */
    uint32_t module_version[DARSHAN_MODULES];
    int64_t uid, start_ns, end_ns, nprocs, jobid; /* times since 1970 */
    double run_time_s;
    const char *metadata, *exe;
    WR_VEC(struct darshan_mount) mounts; /* longest path first */
    WR_VEC(struct darshan_name) names;   /* by id */
    WR_VEC(struct darshan_record) records[DARSHAN_KNOWN];
    WR_VEC(struct darshan_heatmap) heatmaps;
    WR_VEC(struct darshan_trace) traces;
    WR_VEC(struct darshan_layout) layouts;
    struct wr_str warnings; /* a line each */
};

/* Does the file begin as a log does? False also when it cannot be read. */
bool darshan_is_log(const char *path);

bool darshan_open(struct darshan_log *ret, const char *path, struct wr_err *err);
/* The same from memory; `name` stands before what is wrong with it. */
bool darshan_parse(struct darshan_log *ret, const char *name, const void *bytes, size_t n,
                   struct wr_err *err);
void darshan_fini(struct darshan_log *log);

/* NULL: the log does not name it. */
const char *darshan_name(const struct darshan_log *log, uint64_t id);
/* The mount that a file is on; NULL: unknown. */
const struct darshan_mount *darshan_mount(const struct darshan_log *log, const char *file);

/* Every counter, and every request of DXT, as CSV with the columns of Darshan's own parsers. */
void darshan_put_counters(const struct darshan_log *log, FILE *out);
void darshan_put_segments(const struct darshan_log *log, FILE *out);

#endif
