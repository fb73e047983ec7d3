/* permfile.c -- reads a permutation from text (permfile.h).
 *
 * Errors name line and column. Called by pattern_permutation_file.c.
 */
#include "permfile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/scan.h"
#include "load/synth/synth.h"

/* A node number; the cursor stays on it when it is refused. */
static bool permfile_read_node(struct wr_scan *c, const char *what, uint32_t nnodes, uint32_t *ret,
                               struct wr_err *err)
{
    const char *p = c->at;
    uint64_t v = 0;

    for (; p < c->end && *p >= '0' && *p <= '9'; p++)
        if (v <= UINT32_MAX) /* larger is too large already */
            v = v * 10 + (uint64_t)(*p - '0');
    if (p == c->at)
        return wr_scan_fail(c, err,
                            "expected the number of the %s; write two node numbers per line", what);
    if (p < c->end && !strchr(" \t\r\n#", *p)) /* what is no number has no range */
        return wr_scan_fail(c, err,
                            "the number of the %s is followed by something else; write two "
                            "node numbers per line",
                            what);
    if (v >= nnodes)
        return wr_scan_fail(c, err, "%s %.*s%s does not exist; nodes are numbered 0 to %u", what,
                            p - c->at > 20 ? 20 : (int)(p - c->at), c->at,
                            p - c->at > 20 ? "..." : "", nnodes - 1);
    *ret = (uint32_t)v;
    c->at = p;
    return true;
}

static bool permfile_read_pair(struct wr_scan *c, uint32_t nnodes, uint32_t *to, uint8_t *taken,
                               struct wr_err *err)
{
    uint32_t src, dst;
    const char *src_at = c->at;

    if (!permfile_read_node(c, "source", nnodes, &src, err))
        return false;
    wr_scan_blanks(c);
    const char *dst_at = c->at;
    if (!permfile_read_node(c, "destination", nnodes, &dst, err))
        return false;
    wr_scan_blanks(c);
    if (!wr_scan_line_end(c))
        return wr_scan_fail(c, err, "a third word; write two node numbers per line");
    if (to[src] != SYNTH_SKIP) {
        c->at = src_at;
        return wr_scan_fail(c, err, "source %u is named twice; keep one of its lines", src);
    }
    if (taken && taken[dst]) {
        c->at = dst_at;
        return wr_scan_fail(
            c, err, "destination %u is named twice; keep one of its lines or set many: true", dst);
    }
    to[src] = dst;
    if (taken)
        taken[dst] = 1;
    return true;
}

bool synth_permfile_parse(uint32_t **ret, const char *name, const char *text, size_t len,
                          uint32_t nnodes, bool many, struct wr_err *err)
{
    struct wr_scan c = {name, text, text + len, text, 1};
    uint32_t *to = wr_alloc(nnodes * sizeof *to);
    uint8_t *taken = many ? NULL : wr_zalloc(nnodes, 1);
    bool ok = true;
    size_t pairs = 0;

    assert(nnodes);
    memset(to, 0xff, nnodes * sizeof *to); /* SYNTH_SKIP in every word */
    for (; ok && c.at < c.end; wr_scan_next_line(&c)) {
        wr_scan_blanks(&c);
        if (wr_scan_line_end(&c))
            continue;
        ok = permfile_read_pair(&c, nnodes, to, taken, err);
        pairs++;
    }
    if (ok && !pairs)
        ok = wr_fail(err, WR_INPUT, "%s: no node sends; write lines of two node numbers", name);
    free(taken);
    if (!ok) {
        free(to);
        return false;
    }
    *ret = to;
    return true;
}

bool synth_permfile_read(uint32_t **ret, const char *path, uint32_t nnodes, bool many,
                         struct wr_err *err)
{
    char *text;
    size_t len;

    /* A line per node, of at most two numbers, blanks and a short remark. */
    if (!wr_file_read(&text, &len, path, 4096 + 64ull * nnodes, err))
        return false;
    bool ok = synth_permfile_parse(ret, path, text, len, nnodes, many, err);
    free(text);
    return ok;
}
