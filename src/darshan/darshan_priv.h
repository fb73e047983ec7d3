/* darshan_priv.h -- one region of a log, decompressed, and the cursor that reads it. */
#ifndef DARSHAN_DARSHAN_PRIV_H
#define DARSHAN_DARSHAN_PRIV_H

#include "darshan/darshan.h"

/* Bytes of the log in its own byte order. Reading beyond the end gives zeros and sets `bad`. */
struct darshan_cursor {
    const unsigned char *at, *end;
    bool big, bad;
};

static inline size_t darshan_left(const struct darshan_cursor *c)
{
    return (size_t)(c->end - c->at);
}

static inline uint64_t darshan_uint(struct darshan_cursor *c, unsigned size)
{
    uint64_t v = 0;

    if (darshan_left(c) < size) {
        c->bad = true;
        c->at = c->end;
        return 0;
    }
    for (unsigned i = 0; i < size; i++)
        v |= (uint64_t)c->at[i] << 8 * (c->big ? size - 1 - i : i);
    c->at += size;
    return v;
}

static inline uint64_t darshan_u64(struct darshan_cursor *c)
{
    return darshan_uint(c, 8);
}

static inline int64_t darshan_i64(struct darshan_cursor *c)
{
    return (int64_t)darshan_u64(c);
}

static inline double darshan_real(struct darshan_cursor *c)
{
    union {
        uint64_t bits;
        double v;
    } u = {.bits = darshan_u64(c)};

    return u.v;
}

static inline void darshan_skip(struct darshan_cursor *c, size_t n)
{
    if (darshan_left(c) < n) {
        c->bad = true;
        n = darshan_left(c);
    }
    c->at += n;
}

/* Reads all records of a module from its region; false, without an error, when the last one is cut
 * off or makes no sense: those before it are kept. */
bool darshan_read_records(struct darshan_log *log, enum darshan_module m, struct darshan_cursor *c);
bool darshan_read_heatmaps(struct darshan_log *log, struct darshan_cursor *c);
bool darshan_read_traces(struct darshan_log *log, enum darshan_module m, struct darshan_cursor *c);
bool darshan_read_layouts(struct darshan_log *log, struct darshan_cursor *c);

#endif
