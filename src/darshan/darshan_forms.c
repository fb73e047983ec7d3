/* darshan_forms.c -- the counters of each module, and the versions that have them.
 *
 * A record of version v holds the rows with since <= v <= until, in this order: that is all there
 * is to know of old versions. Version 1 of POSIX had counters of stdio among its own; a record in
 * which fopen was counted mixes both and is left out, as Darshan's own tools do. Version 1 of BG/Q
 * had 8 bytes more before its counters.
 */
#include "darshan/darshan.h"

static const struct darshan_counter forms_posix[] = {
    {"POSIX_OPENS", 1, 0, -1},
    {"POSIX_FILENOS", 4, 0, -1},
    {"POSIX_DUPS", 4, 0, -1},
    {"POSIX_READS", 1, 0, -1},
    {"POSIX_WRITES", 1, 0, -1},
    {"POSIX_SEEKS", 1, 0, -1},
    {"POSIX_STATS", 1, 0, -1},
    {"POSIX_MMAPS", 1, 0, -1},
    {"POSIX_FOPENS", 1, 1, 0},
    {"POSIX_FREADS", 1, 1, 0},
    {"POSIX_FWRITES", 1, 1, 0},
    {"POSIX_FSEEKS", 1, 1, 0},
    {"POSIX_FSYNCS", 1, 0, -1},
    {"POSIX_FDSYNCS", 1, 0, -1},
    {"POSIX_RENAME_SOURCES", 4, 0, -1},
    {"POSIX_RENAME_TARGETS", 4, 0, -1},
    {"POSIX_RENAMED_FROM", 4, 0, 0},
    {"POSIX_MODE", 1, 0, -1},
    {"POSIX_BYTES_READ", 1, 0, -1},
    {"POSIX_BYTES_WRITTEN", 1, 0, -1},
    {"POSIX_MAX_BYTE_READ", 1, 0, -1},
    {"POSIX_MAX_BYTE_WRITTEN", 1, 0, -1},
    {"POSIX_CONSEC_READS", 1, 0, -1},
    {"POSIX_CONSEC_WRITES", 1, 0, -1},
    {"POSIX_SEQ_READS", 1, 0, -1},
    {"POSIX_SEQ_WRITES", 1, 0, -1},
    {"POSIX_RW_SWITCHES", 1, 0, -1},
    {"POSIX_MEM_NOT_ALIGNED", 1, 0, -1},
    {"POSIX_MEM_ALIGNMENT", 1, 0, -1},
    {"POSIX_FILE_NOT_ALIGNED", 1, 0, -1},
    {"POSIX_FILE_ALIGNMENT", 1, 0, -1},
    {"POSIX_MAX_READ_TIME_SIZE", 1, 0, -1},
    {"POSIX_MAX_WRITE_TIME_SIZE", 1, 0, -1},
    {"POSIX_SIZE_READ_0_100", 1, 0, -1},
    {"POSIX_SIZE_READ_100_1K", 1, 0, -1},
    {"POSIX_SIZE_READ_1K_10K", 1, 0, -1},
    {"POSIX_SIZE_READ_10K_100K", 1, 0, -1},
    {"POSIX_SIZE_READ_100K_1M", 1, 0, -1},
    {"POSIX_SIZE_READ_1M_4M", 1, 0, -1},
    {"POSIX_SIZE_READ_4M_10M", 1, 0, -1},
    {"POSIX_SIZE_READ_10M_100M", 1, 0, -1},
    {"POSIX_SIZE_READ_100M_1G", 1, 0, -1},
    {"POSIX_SIZE_READ_1G_PLUS", 1, 0, -1},
    {"POSIX_SIZE_WRITE_0_100", 1, 0, -1},
    {"POSIX_SIZE_WRITE_100_1K", 1, 0, -1},
    {"POSIX_SIZE_WRITE_1K_10K", 1, 0, -1},
    {"POSIX_SIZE_WRITE_10K_100K", 1, 0, -1},
    {"POSIX_SIZE_WRITE_100K_1M", 1, 0, -1},
    {"POSIX_SIZE_WRITE_1M_4M", 1, 0, -1},
    {"POSIX_SIZE_WRITE_4M_10M", 1, 0, -1},
    {"POSIX_SIZE_WRITE_10M_100M", 1, 0, -1},
    {"POSIX_SIZE_WRITE_100M_1G", 1, 0, -1},
    {"POSIX_SIZE_WRITE_1G_PLUS", 1, 0, -1},
    {"POSIX_STRIDE1_STRIDE", 1, 0, -1},
    {"POSIX_STRIDE2_STRIDE", 1, 0, -1},
    {"POSIX_STRIDE3_STRIDE", 1, 0, -1},
    {"POSIX_STRIDE4_STRIDE", 1, 0, -1},
    {"POSIX_STRIDE1_COUNT", 1, 0, -1},
    {"POSIX_STRIDE2_COUNT", 1, 0, -1},
    {"POSIX_STRIDE3_COUNT", 1, 0, -1},
    {"POSIX_STRIDE4_COUNT", 1, 0, -1},
    {"POSIX_ACCESS1_ACCESS", 1, 0, -1},
    {"POSIX_ACCESS2_ACCESS", 1, 0, -1},
    {"POSIX_ACCESS3_ACCESS", 1, 0, -1},
    {"POSIX_ACCESS4_ACCESS", 1, 0, -1},
    {"POSIX_ACCESS1_COUNT", 1, 0, -1},
    {"POSIX_ACCESS2_COUNT", 1, 0, -1},
    {"POSIX_ACCESS3_COUNT", 1, 0, -1},
    {"POSIX_ACCESS4_COUNT", 1, 0, -1},
    {"POSIX_FASTEST_RANK", 1, 0, -1},
    {"POSIX_FASTEST_RANK_BYTES", 1, 0, -1},
    {"POSIX_SLOWEST_RANK", 1, 0, -1},
    {"POSIX_SLOWEST_RANK_BYTES", 1, 0, -1},
};

static const struct darshan_counter forms_posix_real[] = {
    {"POSIX_F_OPEN_START_TIMESTAMP", 1, 0, -1},
    {"POSIX_F_READ_START_TIMESTAMP", 1, 0, -1},
    {"POSIX_F_WRITE_START_TIMESTAMP", 1, 0, -1},
    {"POSIX_F_CLOSE_START_TIMESTAMP", 3, 0, -1},
    {"POSIX_F_OPEN_END_TIMESTAMP", 3, 0, -1},
    {"POSIX_F_READ_END_TIMESTAMP", 1, 0, -1},
    {"POSIX_F_WRITE_END_TIMESTAMP", 1, 0, -1},
    {"POSIX_F_CLOSE_END_TIMESTAMP", 1, 0, -1},
    {"POSIX_F_READ_TIME", 1, 0, -1},
    {"POSIX_F_WRITE_TIME", 1, 0, -1},
    {"POSIX_F_META_TIME", 1, 0, -1},
    {"POSIX_F_MAX_READ_TIME", 1, 0, -1},
    {"POSIX_F_MAX_WRITE_TIME", 1, 0, -1},
    {"POSIX_F_FASTEST_RANK_TIME", 1, 0, -1},
    {"POSIX_F_SLOWEST_RANK_TIME", 1, 0, -1},
    {"POSIX_F_VARIANCE_RANK_TIME", 1, 0, -1},
    {"POSIX_F_VARIANCE_RANK_BYTES", 1, 0, -1},
};

static const struct darshan_counter forms_mpiio[] = {
    {"MPIIO_INDEP_OPENS", 1, 0, -1},
    {"MPIIO_COLL_OPENS", 1, 0, -1},
    {"MPIIO_INDEP_READS", 1, 0, -1},
    {"MPIIO_INDEP_WRITES", 1, 0, -1},
    {"MPIIO_COLL_READS", 1, 0, -1},
    {"MPIIO_COLL_WRITES", 1, 0, -1},
    {"MPIIO_SPLIT_READS", 1, 0, -1},
    {"MPIIO_SPLIT_WRITES", 1, 0, -1},
    {"MPIIO_NB_READS", 1, 0, -1},
    {"MPIIO_NB_WRITES", 1, 0, -1},
    {"MPIIO_SYNCS", 1, 0, -1},
    {"MPIIO_HINTS", 1, 0, -1},
    {"MPIIO_VIEWS", 1, 0, -1},
    {"MPIIO_MODE", 1, 0, -1},
    {"MPIIO_BYTES_READ", 1, 0, -1},
    {"MPIIO_BYTES_WRITTEN", 1, 0, -1},
    {"MPIIO_RW_SWITCHES", 1, 0, -1},
    {"MPIIO_MAX_READ_TIME_SIZE", 1, 0, -1},
    {"MPIIO_MAX_WRITE_TIME_SIZE", 1, 0, -1},
    {"MPIIO_SIZE_READ_AGG_0_100", 1, 0, -1},
    {"MPIIO_SIZE_READ_AGG_100_1K", 1, 0, -1},
    {"MPIIO_SIZE_READ_AGG_1K_10K", 1, 0, -1},
    {"MPIIO_SIZE_READ_AGG_10K_100K", 1, 0, -1},
    {"MPIIO_SIZE_READ_AGG_100K_1M", 1, 0, -1},
    {"MPIIO_SIZE_READ_AGG_1M_4M", 1, 0, -1},
    {"MPIIO_SIZE_READ_AGG_4M_10M", 1, 0, -1},
    {"MPIIO_SIZE_READ_AGG_10M_100M", 1, 0, -1},
    {"MPIIO_SIZE_READ_AGG_100M_1G", 1, 0, -1},
    {"MPIIO_SIZE_READ_AGG_1G_PLUS", 1, 0, -1},
    {"MPIIO_SIZE_WRITE_AGG_0_100", 1, 0, -1},
    {"MPIIO_SIZE_WRITE_AGG_100_1K", 1, 0, -1},
    {"MPIIO_SIZE_WRITE_AGG_1K_10K", 1, 0, -1},
    {"MPIIO_SIZE_WRITE_AGG_10K_100K", 1, 0, -1},
    {"MPIIO_SIZE_WRITE_AGG_100K_1M", 1, 0, -1},
    {"MPIIO_SIZE_WRITE_AGG_1M_4M", 1, 0, -1},
    {"MPIIO_SIZE_WRITE_AGG_4M_10M", 1, 0, -1},
    {"MPIIO_SIZE_WRITE_AGG_10M_100M", 1, 0, -1},
    {"MPIIO_SIZE_WRITE_AGG_100M_1G", 1, 0, -1},
    {"MPIIO_SIZE_WRITE_AGG_1G_PLUS", 1, 0, -1},
    {"MPIIO_ACCESS1_ACCESS", 1, 0, -1},
    {"MPIIO_ACCESS2_ACCESS", 1, 0, -1},
    {"MPIIO_ACCESS3_ACCESS", 1, 0, -1},
    {"MPIIO_ACCESS4_ACCESS", 1, 0, -1},
    {"MPIIO_ACCESS1_COUNT", 1, 0, -1},
    {"MPIIO_ACCESS2_COUNT", 1, 0, -1},
    {"MPIIO_ACCESS3_COUNT", 1, 0, -1},
    {"MPIIO_ACCESS4_COUNT", 1, 0, -1},
    {"MPIIO_FASTEST_RANK", 1, 0, -1},
    {"MPIIO_FASTEST_RANK_BYTES", 1, 0, -1},
    {"MPIIO_SLOWEST_RANK", 1, 0, -1},
    {"MPIIO_SLOWEST_RANK_BYTES", 1, 0, -1},
};

static const struct darshan_counter forms_mpiio_real[] = {
    {"MPIIO_F_OPEN_START_TIMESTAMP", 1, 0, -1},
    {"MPIIO_F_READ_START_TIMESTAMP", 1, 0, -1},
    {"MPIIO_F_WRITE_START_TIMESTAMP", 1, 0, -1},
    {"MPIIO_F_CLOSE_START_TIMESTAMP", 3, 0, -1},
    {"MPIIO_F_OPEN_END_TIMESTAMP", 3, 0, -1},
    {"MPIIO_F_READ_END_TIMESTAMP", 1, 0, -1},
    {"MPIIO_F_WRITE_END_TIMESTAMP", 1, 0, -1},
    {"MPIIO_F_CLOSE_END_TIMESTAMP", 1, 0, -1},
    {"MPIIO_F_READ_TIME", 1, 0, -1},
    {"MPIIO_F_WRITE_TIME", 1, 0, -1},
    {"MPIIO_F_META_TIME", 1, 0, -1},
    {"MPIIO_F_MAX_READ_TIME", 1, 0, -1},
    {"MPIIO_F_MAX_WRITE_TIME", 1, 0, -1},
    {"MPIIO_F_FASTEST_RANK_TIME", 1, 0, -1},
    {"MPIIO_F_SLOWEST_RANK_TIME", 1, 0, -1},
    {"MPIIO_F_VARIANCE_RANK_TIME", 1, 0, -1},
    {"MPIIO_F_VARIANCE_RANK_BYTES", 1, 0, -1},
};

static const struct darshan_counter forms_stdio[] = {
    {"STDIO_OPENS", 1, 0, -1},         {"STDIO_FDOPENS", 2, 0, -1},
    {"STDIO_READS", 1, 0, -1},         {"STDIO_WRITES", 1, 0, -1},
    {"STDIO_SEEKS", 1, 0, -1},         {"STDIO_FLUSHES", 1, 0, -1},
    {"STDIO_BYTES_WRITTEN", 1, 0, -1}, {"STDIO_BYTES_READ", 1, 0, -1},
    {"STDIO_MAX_BYTE_READ", 1, 0, -1}, {"STDIO_MAX_BYTE_WRITTEN", 1, 0, -1},
    {"STDIO_FASTEST_RANK", 1, 0, -1},  {"STDIO_FASTEST_RANK_BYTES", 1, 0, -1},
    {"STDIO_SLOWEST_RANK", 1, 0, -1},  {"STDIO_SLOWEST_RANK_BYTES", 1, 0, -1},
};

static const struct darshan_counter forms_stdio_real[] = {
    {"STDIO_F_META_TIME", 1, 0, -1},
    {"STDIO_F_WRITE_TIME", 1, 0, -1},
    {"STDIO_F_READ_TIME", 1, 0, -1},
    {"STDIO_F_OPEN_START_TIMESTAMP", 1, 0, -1},
    {"STDIO_F_CLOSE_START_TIMESTAMP", 1, 0, -1},
    {"STDIO_F_WRITE_START_TIMESTAMP", 1, 0, -1},
    {"STDIO_F_READ_START_TIMESTAMP", 1, 0, -1},
    {"STDIO_F_OPEN_END_TIMESTAMP", 1, 0, -1},
    {"STDIO_F_CLOSE_END_TIMESTAMP", 1, 0, -1},
    {"STDIO_F_WRITE_END_TIMESTAMP", 1, 0, -1},
    {"STDIO_F_READ_END_TIMESTAMP", 1, 0, -1},
    {"STDIO_F_FASTEST_RANK_TIME", 1, 0, -1},
    {"STDIO_F_SLOWEST_RANK_TIME", 1, 0, -1},
    {"STDIO_F_VARIANCE_RANK_TIME", 1, 0, -1},
    {"STDIO_F_VARIANCE_RANK_BYTES", 1, 0, -1},
};

static const struct darshan_counter forms_bgq[] = {
    {"BGQ_ALIGNMENT", 1, 1, 0},     {"BGQ_CSJOBID", 1, 0, -1},    {"BGQ_NNODES", 1, 0, -1},
    {"BGQ_RANKSPERNODE", 1, 0, -1}, {"BGQ_DDRPERNODE", 1, 0, -1}, {"BGQ_INODES", 1, 0, -1},
    {"BGQ_ANODES", 1, 0, -1},       {"BGQ_BNODES", 1, 0, -1},     {"BGQ_CNODES", 1, 0, -1},
    {"BGQ_DNODES", 1, 0, -1},       {"BGQ_ENODES", 1, 0, -1},     {"BGQ_TORUSENABLED", 1, 0, -1},
};

static const struct darshan_counter forms_bgq_real[] = {
    {"BGQ_F_TIMESTAMP", 1, 0, -1},
};

#define FORMS_ROWS(rows) (uint32_t)(sizeof(rows) / sizeof *(rows))
#define FORMS_OF(name_, var, gone, version_, omit_)                                         \
    {                                                                                       \
        .name = name_, .count = var, .real = var##_real, .ncounts = FORMS_ROWS(var) - gone, \
        .nreals = FORMS_ROWS(var##_real), .count_rows = FORMS_ROWS(var),                    \
        .real_rows = FORMS_ROWS(var##_real), .version = version_, .omit = omit_             \
    }

enum { FORMS_FOPENS = 8 };

const struct darshan_form darshan_forms[DARSHAN_KNOWN] = {
    [DARSHAN_POSIX] = FORMS_OF("POSIX", forms_posix, 4, 4, FORMS_FOPENS),
    [DARSHAN_MPIIO] = FORMS_OF("MPI-IO", forms_mpiio, 0, 3, -1),
    [DARSHAN_STDIO] = FORMS_OF("STDIO", forms_stdio, 0, 2, -1),
    [DARSHAN_BGQ] = FORMS_OF("BG/Q", forms_bgq, 1, 2, -1),
};

const char *const darshan_module_names[DARSHAN_KNOWN] = {
    "NULL",        "POSIX", "MPI-IO", "H5F",     "H5D",       "PNETCDF_FILE",
    "PNETCDF_VAR", "BG/Q",  "LUSTRE", "STDIO",   "DXT_POSIX", "DXT_MPIIO",
    "MDHIM",       "APXC",  "APMPI",  "HEATMAP", "DFS",       "DAOS",
};
