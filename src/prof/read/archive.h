/* archive.h -- the profiles of many processes that have ended, in one file.
 *
 *   frame, frame, ...     each: struct prof_frame_head, then a profile, packed by zstd
 *
 * A packed profile is laid out like any other, with as many names, slots and records as are used.
 * Frames are appended whole; a partial frame at the end is not read. The process's own file is
 * removed after its frame was written, so a profile may be found twice.
 */
#ifndef PROF_READ_ARCHIVE_H
#define PROF_READ_ARCHIVE_H

#include "base/str.h"
#include "prof/read/profile_file.h"

#define PROF_ARCHIVE_ENDING ".wprofs"

struct prof_frame_head {
    char magic[4]; /* "WPRA" */
    uint32_t order;
    uint32_t packed_b, raw_b;
};

/* Appends one frame to `to`. False: the profile is too long for one. */
bool prof_archive_add(struct wr_str *to, const struct prof_file *f);

/* The next profile of an archive in memory, from *at on, which moves behind it. False: there is no
 * more, or what follows is not whole; *at is the length in the first case. A complete frame that
 * holds no valid profile: true with err->code set and nothing to free. */
bool prof_archive_next(struct prof_file *ret, const char *name, const char *bytes, size_t len,
                       size_t *at, struct wr_err *err);

#endif
