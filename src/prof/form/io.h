/* io.h -- what the kernel counts of a process (/proc/PID/io), and how a child ended.
 *
 * The counters of /proc/PID/io are those of all threads and, from the moment a child is waited for,
 * of that child, too, with all that it had waited for itself. So the counters of a process at its
 * end hold whatever happened below it, however short it was; and what is its own is what remains
 * when the ends of its children are taken away.
 *
 * rchar and wchar count read, write and their relatives, sendfile and copy_file_range, on files,
 * pipes, sockets and terminals alike; not splice, not send and recv, not AIO and io_uring, not
 * mappings. read_bytes and write_bytes are what reached the disk or was made to be written to one.
 */
#ifndef PROF_FORM_IO_H
#define PROF_FORM_IO_H

#include <stdbool.h>
#include <stdint.h>

struct prof_io {
    uint64_t rchar, wchar, syscr, syscw, read_bytes, write_bytes;
};

/* A process at its end, read by its parent just before waiting for it. */
struct prof_child {
    uint32_t ready; /* 1: written whole */
    uint32_t pid;
    uint64_t pid_start;
    int64_t start_ns, end_ns; /* wall clock */
    struct prof_io io;        /* with its children */
    char comm[16];            /* ends with a zero byte */
    uint64_t pad;
};

_Static_assert(sizeof(struct prof_child) == 104, "children");

/* Clock ticks after boot, and the PID namespace, 0 for that of the launcher: two containers have
 * processes with the same numbers, which may start within the same tick. */
static inline uint64_t prof_start_in(uint64_t ticks, uint32_t namespace)
{
    return ticks ^ (uint64_t) namespace << 32;
}

/* "rchar: 1\nwchar: 2\n...", six numbers at least. */
static inline bool prof_io_parse(struct prof_io *ret, const char *text)
{
    uint64_t n[6];

    for (int i = 0; i < 6; i++) {
        while (*text && *text != ':')
            text++;
        if (text[0] != ':' || text[1] != ' ')
            return false;
        text += 2;
        n[i] = 0;
        while (*text >= '0' && *text <= '9')
            n[i] = n[i] * 10 + (uint64_t)(*text++ - '0');
    }
    *ret = (struct prof_io){n[0], n[1], n[2], n[3], n[4], n[5]};
    return true;
}

/* "42 (the name) S 1 ...": the name, truncated to 15 characters, the parent, and field 22, the
 * start time in clock ticks after boot. */
static inline bool prof_stat_parse(const char *text, char comm[16], uint32_t *ret_parent,
                                   uint64_t *ret_start)
{
    const char *open = text, *close = 0;
    int field = 2, n = 0;
    uint64_t value = 0;

    while (*open && *open != '(')
        open++;
    for (const char *s = open; *s; s++)
        close = *s == ')' ? s : close;
    if (!*open || !close)
        return false;
    for (const char *s = open + 1; s < close && n < 15; s++)
        comm[n++] = *s;
    comm[n] = 0;
    for (const char *s = close + 1; *s && field <= 22; s++) {
        if (*s == ' ') {
            if (field == 4)
                *ret_parent = (uint32_t)value;
            if (field++ == 22)
                break;
            value = 0;
        } else if (*s >= '0' && *s <= '9') {
            value = value * 10 + (uint64_t)(*s - '0');
        }
    }
    *ret_start = value;
    return field >= 22;
}

#endif
