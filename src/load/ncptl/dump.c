/* dump.c -- operations as lines of text. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ncptl_tool.h"
#include "prog_priv.h"

static void add_quoted(struct wr_str *out, const char *s)
{
    static const struct {
        char c;
        const char *as;
    } escapes[] = {{'\n', "\\n"}, {'\t', "\\t"}, {'\r', "\\r"}, {'"', "\\\""}, {'\\', "\\\\"}};

    wr_str_add(out, "\"");
    for (; *s; s++) {
        size_t i = 0;

        while (i < sizeof escapes / sizeof escapes[0] && escapes[i].c != *s)
            i++;
        if (i < sizeof escapes / sizeof escapes[0])
            wr_str_add(out, escapes[i].as);
        else
            wr_str_addn(out, s, 1);
    }
    wr_str_add(out, "\"");
}

/* {0-3,7} */
static void add_group(struct wr_str *out, const struct ncptl_group *g)
{
    wr_str_add(out, "{");
    for (uint32_t i = 0; i < g->n;) {
        uint32_t from = ncptl_member(g, i), to = from;

        for (i++; i < g->n && ncptl_member(g, i) == to + 1; i++)
            to++;
        wr_str_addf(out, from == to ? "%s%u" : "%s%u-%u", from == ncptl_member(g, 0) ? "" : ",",
                    from, to);
    }
    wr_str_add(out, "}");
}

/* Buffers are an attribute of messages; a reduction's are a matter of each task's own. */
static void add_attributes(struct wr_str *out, const struct ncptl_event *ev)
{
    uint32_t f = ev->flags;

    if (ev->op == NCPTL_REDUCE)
        f &= NCPTL_F_ASYNC | NCPTL_F_TAG | NCPTL_F_WARMUP;
    if (f & NCPTL_F_ASYNC)
        wr_str_add(out, " async");
    if (f & NCPTL_F_COLL)
        wr_str_add(out, " coll");
    if (f & NCPTL_F_TAG) {
        wr_str_add(out, " tag=");
        if (ev->tag_text)
            add_quoted(out, ev->tag_text);
        else
            wr_str_addf(out, "%" PRId64, ev->tag);
    }
    if (f & NCPTL_F_UNSUSP)
        wr_str_add(out, " unsusp");
    if (f & NCPTL_F_UNIQUE)
        wr_str_add(out, " unique");
    if (f & (NCPTL_F_ALIGN | NCPTL_F_MISALIGN))
        wr_str_addf(out, " %s=%" PRId64, f & NCPTL_F_ALIGN ? "align" : "misalign", ev->align);
    if (f & NCPTL_F_TOUCH)
        wr_str_add(out, " touch");
    if (f & NCPTL_F_VERIFY)
        wr_str_add(out, " verify");
    if (f & NCPTL_F_OFS)
        wr_str_addf(out, " ofs=%" PRId64, ev->ofs);
    if (f & NCPTL_F_BUF)
        wr_str_addf(out, " buf=%" PRId64, ev->buf);
    if (f & NCPTL_F_WARMUP)
        wr_str_add(out, " warmup");
}

static bool add_text(const struct ncptl_prog *p, struct ncptl_rank *r, const struct ncptl_event *ev,
                     struct wr_str *out, struct wr_err *err)
{
    struct wr_str text = {0};

    if (ev->flags & NCPTL_F_TIMED) {
        wr_str_add(out, " *");
        return true;
    }
    bool ok = ncptl_text(p, r, ev, &text, err);
    wr_str_add(out, " ");
    add_quoted(out, wr_str_get(&text));
    wr_str_fini(&text);
    return ok;
}

static void add_touch(struct wr_str *out, const struct ncptl_event *ev)
{
    wr_str_addf(out, " region=%" PRId64 " word=%" PRId64 " count=%" PRId64, ev->bytes, ev->word,
                ev->count);
    if (ev->flags & NCPTL_F_RANDOM)
        wr_str_add(out, " stride=random");
    else
        wr_str_addf(out, " stride=%" PRId64, ev->stride);
}

/* Microseconds; what is less is written behind a point. */
static void add_time(struct wr_str *out, int64_t nsecs)
{
    wr_str_addf(out, " %" PRId64, nsecs / 1000);
    if (nsecs % 1000)
        wr_str_addf(out, ".%03d", (int)(nsecs % 1000));
}

static void add_operands(struct wr_str *out, const struct ncptl_event *ev)
{
    static const char *const modes[] = {"readwrite", "read", "write"};
    static const char *const awaited[] = {"sends", "receives", "files"};

    switch (ev->op) {
    case NCPTL_SEND:
    case NCPTL_RECV:
        wr_str_addf(out, " %u %" PRId64, ev->peer, ev->bytes);
        break;
    case NCPTL_WAIT:
        for (uint32_t i = 0; ev->of != NCPTL_EVERYTHING && i < 3; i++)
            if (ev->of & 1u << i)
                wr_str_addf(out, " of=%s", awaited[i]);
        break;
    case NCPTL_BARRIER:
        wr_str_add(out, " ");
        add_group(out, &ev->group);
        break;
    case NCPTL_MCAST:
        wr_str_addf(out, " %u %" PRId64 " ", ev->peer, ev->bytes);
        add_group(out, &ev->group);
        break;
    case NCPTL_REDUCE:
        wr_str_add(out, " ");
        add_group(out, &ev->group);
        wr_str_add(out, " ");
        add_group(out, &ev->targets);
        wr_str_addf(out, " %" PRId64, ev->bytes);
        break;
    case NCPTL_COMPUTE:
    case NCPTL_SLEEP:
    case NCPTL_TIMED_BEGIN:
        add_time(out, ev->nsecs);
        break;
    case NCPTL_TOUCH:
        add_touch(out, ev);
        break;
    case NCPTL_OPEN:
        wr_str_addf(out, " %" PRId64 " %s", ev->file, modes[ev->mode]);
        break;
    case NCPTL_CLOSE:
    case NCPTL_FLUSH:
        wr_str_addf(out, " %" PRId64, ev->file);
        break;
    case NCPTL_WRITE:
    case NCPTL_READ:
        wr_str_addf(out, " %" PRId64 " %" PRId64 " %" PRId64, ev->file, ev->bytes, ev->offset);
        break;
    default:
        break;
    }
}

/* LOG has a line per column. */
static bool add_log(const struct ncptl_prog *p, struct ncptl_rank *r, const struct ncptl_event *ev,
                    struct wr_str *out, struct wr_err *err)
{
    for (uint32_t c = ev->column; c < ev->column + ev->ncolumns; c++) {
        const struct ncptl_column *info = ncptl_column(p, c);
        double v = 0;

        wr_str_addf(out, "%s%u LOG ", c == ev->column ? "" : "\n", r->proc);
        add_quoted(out, info->title);
        if (info->timed) {
            wr_str_add(out, " *");
            continue;
        }
        if (!ncptl_log_value(p, r, c, &v, err))
            return false;
        wr_str_addf(out, " %.10g", v);
    }
    return true;
}

bool ncptl_dump_event(const struct ncptl_prog *p, struct ncptl_rank *r,
                      const struct ncptl_event *ev, struct wr_str *out, struct wr_err *err)
{
    if (ev->op == NCPTL_LOG)
        return add_log(p, r, ev, out, err);
    if (ev->flags & NCPTL_F_BUFFERS) { /* nothing that others could see: a remark */
        wr_str_addf(out, "# %u TOUCH buffer=", r->proc);
        wr_str_addf(out, ev->buf == -1 ? "all" : ev->buf == -2 ? "current" : "%" PRId64, ev->buf);
        return true;
    }
    wr_str_addf(out, "%u %s", r->proc, ncptl_op_name(ev->op));
    if ((ev->op == NCPTL_OUTPUT || ev->op == NCPTL_BACKEND) && !add_text(p, r, ev, out, err))
        return false;
    add_operands(out, ev);
    add_attributes(out, ev);
    return true;
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
