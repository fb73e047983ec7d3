/* probes.c -- reads a table of probes from text.
 *
 * See probes.h for the format. Errors name file, line and column. Rows of one target are in order
 * of time; names of operations and targets are kept once.
 */
#include "state/probes.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/units.h"
#include "base/utf8.h"

enum {
    COL_T,
    COL_OP,
    COL_BYTES,
    COL_LATENCY,
    COL_TARGET,
    NCOLS,
    MOST_FIELDS = 64,
    MOST_NAMES = 4096
};

static const char *const col_name[NCOLS] = {"t_seconds", "op", "bytes", "latency_seconds",
                                            "target"};

struct field {
    const char *s;
    size_t n;
};

struct reader {
    struct state_probes *to;
    const char *name;
    uint64_t line;
    const char *line_start;
    int at[NCOLS]; /* which field a column is; -1: absent */
    int nfields;
    double *last; /* time of the last row of each target */
    size_t nlast;
    struct wr_err *err;
};

static bool probes_bad(const struct reader *r, const char *where, const char *what, struct field f)
{
    char text[48];

    snprintf(text, sizeof text, "%.*s", (int)(f.n < 40 ? f.n : 40), f.s);
    return wr_fail(r->err, WR_INPUT, "%s:%llu:%zu: \"%s\" %s", r->name, (unsigned long long)r->line,
                   (size_t)(where - r->line_start) + 1, wr_text_clip(text).s, what);
}

/* Cuts a line into fields; a carriage return at its end and blanks around fields do not count. */
static int probes_split(struct field *f, const char *s, const char *end)
{
    int n = 0;

    if (end > s && end[-1] == '\r')
        end--;
    for (;;) {
        const char *comma = memchr(s, ',', (size_t)(end - s)), *stop = comma ? comma : end;
        const char *from = s, *to = stop;

        while (from < to && (*from == ' ' || *from == '\t'))
            from++;
        while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
            to--;
        if (n < MOST_FIELDS)
            f[n] = (struct field){from, (size_t)(to - from)};
        n++;
        if (!comma)
            return n;
        s = comma + 1;
    }
}

static bool probes_read_head(struct reader *r, const struct field *f, int n)
{
    if (n > MOST_FIELDS)
        return wr_fail(r->err, WR_INPUT, "%s:%llu:1: more than %d columns; keep those of a probe",
                       r->name, (unsigned long long)r->line, MOST_FIELDS);
    for (int c = 0; c < NCOLS; c++) {
        r->at[c] = -1;
        for (int i = 0; i < n; i++)
            if (f[i].n == strlen(col_name[c]) && !memcmp(f[i].s, col_name[c], f[i].n)) {
                if (r->at[c] >= 0)
                    return probes_bad(r, f[i].s, "is there twice; keep one such column", f[i]);
                r->at[c] = i;
            }
        if (r->at[c] < 0 && (c == COL_T || c == COL_LATENCY))
            return wr_fail(r->err, WR_INPUT,
                           "%s:%llu:1: no column %s; begin the file with a line such as "
                           "t_seconds,op,bytes,latency_seconds",
                           r->name, (unsigned long long)r->line, col_name[c]);
    }
    r->nfields = n;
    return true;
}

static bool probes_read_number(const struct reader *r, double *ret, struct field f)
{
    char text[64], *end;

    if (!f.n || f.n >= sizeof text)
        return probes_bad(r, f.s, "is not a number; give seconds, such as 0.0042", f);
    memcpy(text, f.s, f.n);
    text[f.n] = '\0';
    double v = strtod(text, &end);

    if (*end || end == text || memchr(text, 'x', f.n) || memchr(text, 'X', f.n))
        return probes_bad(r, f.s, "is not a number; give seconds, such as 0.0042", f);
    *ret = v;
    return true;
}

/* The index of a name, which is added when it is new. */
static bool probes_find_name(const struct reader *r, uint16_t *ret, char ***names, size_t *n,
                             struct field f)
{
    for (size_t i = *n; i-- > 0;)
        if (strlen((*names)[i]) == f.n && !memcmp((*names)[i], f.s, f.n)) {
            *ret = (uint16_t)i;
            return true;
        }
    if (*n >= MOST_NAMES)
        return probes_bad(r, f.s,
                          "is one name too many; give files with fewer operations or targets", f);
    if (!wr_text_is_harmless(f.s, f.n))
        return probes_bad(
            r, f.s, "is no text that may be printed; give UTF-8 without control characters", f);
    *names = wr_realloc(*names, *n + 1, sizeof **names);
    char *copy = wr_alloc(f.n + 1);

    memcpy(copy, f.s, f.n);
    copy[f.n] = '\0';
    (*names)[*n] = copy;
    *ret = (uint16_t)(*n)++;
    return true;
}

/* Targets are probed side by side, so each is in order on its own. */
static bool probes_in_order(struct reader *r, const struct state_probe *p)
{
    size_t need = r->to->ntargets;

    if (r->nlast < need) {
        r->last = wr_realloc(r->last, need, sizeof *r->last);
        while (r->nlast < need)
            r->last[r->nlast++] = p->t_s;
        r->last[p->target] = p->t_s;
        return true;
    }
    if (p->t_s < r->last[p->target])
        return false;
    r->last[p->target] = p->t_s;
    return true;
}

static bool probes_read_row(struct reader *r, const struct field *f, int n)
{
    static const struct field none = {"", 0};
    struct state_probes *to = r->to;
    struct state_probe p = {0};
    double bytes;

    if (n != r->nfields)
        return wr_fail(r->err, WR_INPUT,
                       "%s:%llu:1: %d fields, but the first line names %d; mend "
                       "or delete this line",
                       r->name, (unsigned long long)r->line, n, r->nfields);
    struct field t = f[r->at[COL_T]], lat = f[r->at[COL_LATENCY]];

    if (!probes_read_number(r, &p.t_s, t))
        return false;
    if (!isfinite(p.t_s) || fabs(p.t_s) > 1e15)
        return probes_bad(r, t.s, "is no time; give seconds since some beginning", t);
    if (!lat.n) {
        to->skipped++;
        return true;
    }
    if (!probes_read_number(r, &p.latency_s, lat))
        return false;
    if (!(p.latency_s > 0) || !(p.latency_s < 1e12) || p.latency_s < 1e-12)
        return probes_bad(r, lat.s,
                          "is no latency; it must be more than 0 s, and empty where there was none",
                          lat);
    if (r->at[COL_BYTES] >= 0 && f[r->at[COL_BYTES]].n) {
        struct field b = f[r->at[COL_BYTES]];

        if (!probes_read_number(r, &bytes, b))
            return false;
        if (!(bytes >= 0 && bytes < 1e18 && bytes == floor(bytes)))
            return probes_bad(r, b.s, "is no number of bytes; give a whole number", b);
        p.bytes = (uint64_t)bytes;
    }
    if (!probes_find_name(r, &p.op, &to->op, &to->nops,
                          r->at[COL_OP] >= 0 ? f[r->at[COL_OP]] : none) ||
        !probes_find_name(r, &p.target, &to->target, &to->ntargets,
                          r->at[COL_TARGET] >= 0 ? f[r->at[COL_TARGET]] : none))
        return false;
    if (!probes_in_order(r, &p))
        return probes_bad(r, t.s, "is before an earlier line; sort the file by t_seconds", t);
    wr_vec_push(to, p);
    return true;
}

static bool probes_parse_text(struct reader *r, const char *text, size_t len)
{
    const char *end = text + len;
    bool head = false;

    for (const char *s = text; s < end;) {
        const char *nl = memchr(s, '\n', (size_t)(end - s)), *stop = nl ? nl : end;
        struct field f[MOST_FIELDS];

        r->line++;
        r->line_start = s;
        bool blank = stop == s || (stop == s + 1 && *s == '\r');

        if (!blank && *s != '#') {
            int n = probes_split(f, s, stop);

            if (head ? !probes_read_row(r, f, n) : !probes_read_head(r, f, n))
                return false;
            head = true;
        }
        s = nl ? nl + 1 : end;
    }
    if (!head)
        return wr_fail(r->err, WR_INPUT,
                       "%s:1:1: empty; give a table of probes, as `weir state "
                       "probe` writes it",
                       r->name);
    return true;
}

bool state_probes_parse(struct state_probes *ret, const char *name, const char *text, size_t len,
                        struct wr_err *err)
{
    assert(text || !len);
    struct state_probes p = {0};
    struct reader r = {.to = &p, .name = name, .err = err};

    bool ok = probes_parse_text(&r, text, len);

    free(r.last);
    if (!ok) {
        state_probes_fini(&p);
        return false;
    }
    p.line = r.line;
    *ret = p;
    return true;
}

bool state_probes_read(struct state_probes *ret, const char *path, struct wr_err *err)
{
    const size_t most = (size_t)4 << 30;
    char *text;
    size_t len;

    if (!wr_file_read(&text, &len, path, most, err))
        return false;
    bool ok = state_probes_parse(ret, path, text, len, err);

    free(text);
    return ok;
}

void state_probes_fini(struct state_probes *p)
{
    for (size_t i = 0; i < p->nops; i++)
        free(p->op[i]);
    for (size_t i = 0; i < p->ntargets; i++)
        free(p->target[i]);
    free(p->op);
    free(p->target);
    free(p->v);
    memset(p, 0, sizeof *p);
}
