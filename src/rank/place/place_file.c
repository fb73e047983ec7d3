/* place_file.c -- reads maps of ranks in two formats, distinguished by their first word. */
#include "place_file.h"

#include <string.h>

#include "base/scan.h"

enum { MAX_COLUMNS = 64 };

/* Where we are in the text. Columns count bytes from 1. */
struct scan {
    struct wr_scan s;
    const struct place_file *f;
};

struct cell {
    const char *s;
    size_t n;
};

/* The whole cell must be a number below `end`. */
static bool place_file_number(struct scan *c, struct cell cell, const char *what, uint64_t end,
                              uint32_t *ret, struct wr_err *err)
{
    uint64_t v = 0;
    size_t i;

    c->s.at = cell.s;
    for (i = 0; i < cell.n && cell.s[i] >= '0' && cell.s[i] <= '9'; i++)
        if (v <= UINT32_MAX) /* larger is too large already */
            v = v * 10 + (uint64_t)(cell.s[i] - '0');
    if (!cell.n || i < cell.n)
        return wr_scan_fail(&c->s, err, "\"%.*s\" is not the number of a %s; write a whole number",
                            cell.n > 40 ? 40 : (int)cell.n, cell.s, what);
    if (v >= end)
        return wr_scan_fail(&c->s, err, "%s %.*s does not exist; they are numbered 0 to %llu", what,
                            cell.n > 20 ? 20 : (int)cell.n, cell.s, (unsigned long long)end - 1);
    *ret = (uint32_t)v;
    return true;
}

static bool place_file_too_many(struct scan *c, struct wr_err *err)
{
    return wr_scan_fail(&c->s, err,
                        "the job has %u ranks and this is one more; set its ranks accordingly",
                        c->f->ranks);
}

static bool place_file_parse_plain(struct scan *c, uint32_t *node, uint32_t *line,
                                   struct wr_err *err)
{
    uint32_t rank = 0;

    for (; c->s.at < c->s.end; wr_scan_next_line(&c->s)) {
        for (wr_scan_blanks(&c->s); !wr_scan_line_end(&c->s); wr_scan_blanks(&c->s)) {
            struct cell word = {.s = c->s.at};

            while (word.s + word.n < c->s.end && !strchr(" \t\r\n#,", word.s[word.n]))
                word.n++;
            if (rank == c->f->ranks)
                return place_file_too_many(c, err);
            if (!place_file_number(c, word, "node", c->f->nnodes, &node[rank], err))
                return false;
            line[rank++] = c->s.line;
            c->s.at += word.n;
            c->s.at += c->s.at < c->s.end && *c->s.at == ',';
        }
    }
    if (rank < c->f->ranks)
        return wr_fail(err, WR_INPUT,
                       "%s: %u nodes for %u ranks; write one for each or set the job's ranks",
                       c->s.name, rank, c->f->ranks);
    return true;
}

/* Splits a line at its commas; more columns than fit are the last one's. */
static size_t place_file_split(const struct scan *c, struct cell cell[MAX_COLUMNS])
{
    const char *p = c->s.at, *stop = memchr(p, '\n', (size_t)(c->s.end - p));
    size_t n = 0;

    if (!stop)
        stop = c->s.end;
    if (stop > p && stop[-1] == '\r')
        stop--;
    for (;; p++) {
        const char *comma = memchr(p, ',', (size_t)(stop - p));

        if (!comma || n == MAX_COLUMNS - 1)
            comma = stop;
        cell[n++] = (struct cell){p, (size_t)(comma - p)};
        p = comma;
        if (p == stop)
            return n;
    }
}

static bool place_file_same(struct cell cell, const char *text, size_t n)
{
    return cell.n == n && !memcmp(cell.s, text, n);
}

static size_t place_file_find(const struct cell *head, size_t n, const char *text, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (place_file_same(head[i], text, len))
            return i;
    return SIZE_MAX;
}

/* The columns of a CSV file that matter. */
struct columns {
    size_t n, rank, node;
    uint32_t per_node; /* terminals of a node, or 1 */
    size_t where[MAX_COLUMNS];
    const char *value[MAX_COLUMNS];
};

static bool place_file_read_head(struct scan *c, struct columns *ret, struct wr_err *err)
{
    static const char *const nodes[] = {"node", "node_id", "terminal", "terminal_id"};
    struct cell head[MAX_COLUMNS];
    struct columns k = {.node = SIZE_MAX, .n = place_file_split(c, head)};

    k.rank = place_file_find(head, k.n, "rank", 4);
    for (uint32_t i = 0; i < 4 && k.node == SIZE_MAX; i++) {
        k.node = place_file_find(head, k.n, nodes[i], strlen(nodes[i]));
        k.per_node = i < 2 ? 1 : c->f->rails;
    }
    if (k.rank == SIZE_MAX || k.node == SIZE_MAX)
        return wr_scan_fail(
            &c->s, err,
            "neither a node's number nor a line that names columns `rank` and "
            "`node` (or `terminal_id`); write one node per line, or CSV with those");
    if (c->f->nwhere > MAX_COLUMNS)
        return wr_fail(err, WR_INPUT, "%zu conditions in `where`; at most %d make sense",
                       c->f->nwhere, MAX_COLUMNS);
    for (size_t i = 0; i < c->f->nwhere; i++) {
        const char *w = c->f->where[i], *eq = strchr(w, '=');

        if (!eq)
            return wr_fail(err, WR_INPUT,
                           "where: \"%.60s\" has no `=`; write column=value, as in slot=0", w);
        k.where[i] = place_file_find(head, k.n, w, (size_t)(eq - w));
        k.value[i] = eq + 1;
        if (k.where[i] == SIZE_MAX)
            return wr_fail(err, WR_INPUT,
                           "where: %s has no column \"%.*s\"; its first line names them", c->s.name,
                           eq - w > 60 ? 60 : (int)(eq - w), w);
    }
    *ret = k;
    return true;
}

/* A cell "milc|nekbone" matches either name. */
static bool place_file_matches(struct cell cell, const char *value)
{
    const char *p = cell.s, *end = cell.s + cell.n;

    for (;;) {
        const char *bar = p < end ? memchr(p, '|', (size_t)(end - p)) : NULL;

        if (place_file_same((struct cell){p, (size_t)((bar ? bar : end) - p)}, value,
                            strlen(value)))
            return true;
        if (!bar)
            return place_file_same(cell, value, strlen(value));
        p = bar + 1;
    }
}

static bool place_file_read_row(struct scan *c, const struct columns *k, uint32_t *node,
                                uint32_t *line, struct wr_err *err)
{
    struct cell cell[MAX_COLUMNS];
    size_t n = place_file_split(c, cell);
    uint32_t rank, at;

    if (n != k->n)
        return wr_scan_fail(&c->s, err,
                            "%zu columns where the first line has %zu; complete the line", n, k->n);
    for (size_t i = 0; i < c->f->nwhere; i++)
        if (!place_file_matches(cell[k->where[i]], k->value[i]))
            return true;
    if (!place_file_number(c, cell[k->rank], "rank", UINT32_MAX, &rank, err))
        return false;
    if (rank >= c->f->ranks)
        return wr_scan_fail(
            &c->s, err,
            "rank %u, and the job has ranks 0 to %u; set its ranks, or use `where` to "
            "choose lines",
            rank, c->f->ranks - 1);
    if (line[rank])
        return wr_scan_fail(
            &c->s, err,
            "rank %u was placed in line %u already; use `where` to choose lines, as in "
            "where: [slot=0]",
            rank, line[rank]);
    if (!place_file_number(c, cell[k->node], k->per_node > 1 ? "terminal" : "node",
                           (uint64_t)c->f->nnodes * k->per_node, &at, err))
        return false;
    node[rank] = at / k->per_node;
    line[rank] = c->s.line;
    return true;
}

static bool place_file_parse_csv(struct scan *c, uint32_t *node, uint32_t *line, struct wr_err *err)
{
    struct columns k;

    if (!place_file_read_head(c, &k, err))
        return false;
    for (wr_scan_next_line(&c->s); c->s.at < c->s.end; wr_scan_next_line(&c->s)) {
        if (*c->s.at == '\n' || *c->s.at == '#' || *c->s.at == '\r')
            continue;
        if (!place_file_read_row(c, &k, node, line, err))
            return false;
    }
    for (uint32_t r = 0; r < c->f->ranks; r++)
        if (!line[r])
            return wr_fail(err, WR_INPUT,
                           "%s: no line%s places rank %u; the job has %u ranks: add the lines or "
                           "set its ranks",
                           c->s.name, c->f->nwhere ? " that matches `where`" : "", r, c->f->ranks);
    return true;
}

bool place_file_parse(const struct place_file *f, const char *name, const char *text, size_t len,
                      uint32_t *node, uint32_t *line, struct wr_err *err)
{
    struct scan c = {{name, text, text + len, text, 1}, f};

    memset(line, 0, f->ranks * sizeof *line);
    for (wr_scan_blanks(&c.s); c.s.at < c.s.end && wr_scan_line_end(&c.s); wr_scan_blanks(&c.s))
        wr_scan_next_line(&c.s);
    if (c.s.at < c.s.end && (*c.s.at < '0' || *c.s.at > '9')) {
        c.s.at = c.s.line_start;
        return place_file_parse_csv(&c, node, line, err);
    }
    if (f->nwhere)
        return wr_fail(err, WR_INPUT, "%s: `where` needs CSV with named columns; leave it out",
                       name);
    return place_file_parse_plain(&c, node, line, err);
}
