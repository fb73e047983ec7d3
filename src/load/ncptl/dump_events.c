/* dump_events.c -- all operations of a program as lines of text, rank after rank.
 *
 * Called by `weir lang events`. dump_text.c formats one operation.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "dump_text_priv.h"
#include "ncptl_tool.h"
#include "prog_priv.h"

/* LOG has a line per column. */
static bool dump_log(const struct ncptl_prog *p, struct ncptl_rank *r, const struct ncptl_event *ev,
                     struct wr_str *out, struct wr_err *err)
{
    for (uint32_t c = ev->column; c < ev->column + ev->ncolumns; c++) {
        const struct ncptl_column *info = ncptl_column(p, c);
        double v = 0;

        if (!info->timed && !ncptl_log_value(p, r, c, &v, err))
            return false;
        wr_str_add(out, c == ev->column ? "" : "\n");
        nc_text_log(out, r->proc, info->title, info->timed, v);
    }
    return true;
}

bool ncptl_dump_event(const struct ncptl_prog *p, struct ncptl_rank *r,
                      const struct ncptl_event *ev, struct wr_str *out, struct wr_err *err)
{
    bool says = ev->op == NCPTL_OUTPUT || ev->op == NCPTL_BACKEND, ok = true;
    struct wr_str text = {0};

    if (ev->op == NCPTL_LOG)
        return dump_log(p, r, ev, out, err);
    if (says && !(ev->flags & NCPTL_F_TIMED))
        ok = ncptl_text(p, r, ev, &text, err);
    if (ok)
        nc_text_event(out, r->proc, ev, says ? wr_str_get(&text) : NULL);
    wr_str_fini(&text);
    return ok;
}

/* All that one rank does. */
static bool dump_rank(const struct ncptl_prog *p, struct ncptl_rank *r, FILE *out,
                      struct ncptl_log *log, struct wr_str *line, struct wr_err *err)
{
    struct ncptl_event ev;

    for (;;) {
        switch (ncptl_next(p, r, &ev)) {
        case NCPTL_END:
            return true;
        case NCPTL_FAIL:
            return ncptl_fault(p, r, err);
        case NCPTL_TIMED_CHECK:
            continue;
        default:
            break;
        }
        line->n = 0;
        if (!ncptl_dump_event(p, r, &ev, line, err) || (log && !ncptl_log_add(log, r, &ev, err)))
            return false;
        wr_str_add(line, "\n");
        if (fwrite(line->s, 1, line->n, out) != line->n)
            return wr_fail_errno(err, "cannot write the events");
    }
}

bool ncptl_dump(const struct ncptl_prog *p, FILE *out, struct ncptl_log *log, struct wr_err *err)
{
    size_t size = ncptl_rank_size(p);
    char *ranks = wr_alloc(size * p->n);
    struct wr_str line = {0};
    bool ok = true;

    for (uint32_t i = 0; i < p->n; i++)
        ncptl_rank_init(p, (struct ncptl_rank *)(ranks + i * size), i);
    for (uint32_t i = 0; ok && i < p->n; i++)
        ok = dump_rank(p, (struct ncptl_rank *)(ranks + i * size), out, log, &line, err);
    for (uint32_t i = 0; i < p->n; i++)
        ncptl_rank_fini(p, (struct ncptl_rank *)(ranks + i * size));
    ok = ok && (!log || ncptl_log_finish(log, err));
    wr_str_fini(&line);
    free(ranks);
    return ok;
}
