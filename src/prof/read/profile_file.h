/* profile_file.h -- reads and checks the profile of one process.
 *
 * The writer may be running, killed, or not weir: every offset is checked against the file's size.
 * Incomplete parts (a record without its mark, a truncated file) are left out and counted.
 */
#ifndef PROF_READ_PROFILE_FILE_H
#define PROF_READ_PROFILE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "prof/form/form.h"

struct prof_thread_slot { /* one thread's slot, without its rows */
    uint32_t tid;
    uint64_t in_flight, want;
    int64_t from_ns, edge_ns; /* what is not in records happened in between; 0: not known */
    uint64_t jumps[2], unplaced[2], sizes[2][PROF_SIZES];
};

/* Set by prof_file_read; clocks.c and outside.c change times and add counts, later it is only read.
 */
struct prof_file {
    char *path;
    struct prof_head head;  /* its texts are terminated */
    struct prof_name *name; /* [nnames] of rows */
    uint32_t nnames, nslots;
    struct prof_thread_slot *slot; /* [nslots] */
    struct prof_row *row;          /* row[slot * nnames + name]: the counters at the end */
    struct prof_rec *rec;          /* in the order of the log; slot and row are valid */
    size_t nrec, torn;             /* torn: claimed, but not written whole */
    struct prof_child *child;      /* [nchildren] that ended, as its parent saw it */
    size_t nchildren;
    bool cut; /* the file is shorter than it says */
};

/* A descriptor to read from, or -1. The file must be regular and belong to this user or to the
 * owner of its directory: a world-writable directory may hold anything. */
int prof_file_open(const char *path, uint64_t *ret_len, struct wr_err *err);
bool prof_file_read(struct prof_file *ret, const char *path, struct wr_err *err);
/* Without the log: the counters only, for frequent calls. */
bool prof_file_glance(struct prof_file *ret, const char *path, struct wr_err *err);
bool prof_file_parse(struct prof_file *ret, const char *name, const void *bytes, size_t len,
                     struct wr_err *err);
void prof_file_fini(struct prof_file *f);

/* Whether the process is running; false on another machine. */
bool prof_file_alive(const struct prof_head *h);

extern const char *const prof_word_names[PROF_WORDS_N];
extern const char *const prof_word_units[PROF_WORDS_N];
const char *prof_clock_name(uint32_t clock);

#endif
