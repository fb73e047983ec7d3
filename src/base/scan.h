/* scan.h -- a place in a text of lines: where we are, and a complaint about it.
 *
 * Lines count from 1, columns count bytes from 1; `#` begins a comment.
 */
#ifndef BASE_SCAN_H
#define BASE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct wr_scan {
    const char *name, *at, *end, *line_start;
    uint32_t line;
};

#define wr_scan_fail(c, err, fmt, ...)                              \
    wr_fail(err, WR_INPUT, "%s:%u:%zu: " fmt, (c)->name, (c)->line, \
            (size_t)((c)->at - (c)->line_start) + 1, ##__VA_ARGS__)

static inline bool wr_scan_line_end(const struct wr_scan *c)
{
    return c->at == c->end || *c->at == '\n' || *c->at == '#';
}

static inline void wr_scan_blanks(struct wr_scan *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\r'))
        c->at++;
}

static inline void wr_scan_next_line(struct wr_scan *c)
{
    while (c->at < c->end && *c->at != '\n')
        c->at++;
    if (c->at < c->end)
        c->at++;
    c->line_start = c->at;
    c->line++;
}

#endif
