/* dump_text.c -- one operation as a line of text.
 *
 * The text of this file is also part of every program that `weir lang compile` writes.
 */
#include <assert.h>
#include <inttypes.h>

#include "dump_text_priv.h"

const char *ncptl_op_name(enum ncptl_op op)
{
    static const char *const names[NCPTL_NOPS] = {
        "END",    "FAIL",    "SEND",        "RECV",        "WAIT",      "BARRIER",   "MCAST",
        "REDUCE", "COMPUTE", "SLEEP",       "TOUCH",       "OPEN",      "CLOSE",     "WRITE",
        "READ",   "FLUSH",   "OUTPUT",      "BACKEND",     "LOG",       "AGGREGATE", "RESET",
        "STORE",  "RESTORE", "TIMED_BEGIN", "TIMED_CHECK", "TIMED_END",
    };

    assert(op < NCPTL_NOPS);
    return names[op];
}

static void dump_text_quoted(struct wr_str *out, const char *s)
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
static void dump_text_group(struct wr_str *out, const struct ncptl_group *g)
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
static void dump_text_attributes(struct wr_str *out, const struct ncptl_event *ev)
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
            dump_text_quoted(out, ev->tag_text);
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

static void dump_text_touch(struct wr_str *out, const struct ncptl_event *ev)
{
    wr_str_addf(out, " region=%" PRId64 " word=%" PRId64 " count=%" PRId64, ev->bytes, ev->word,
                ev->count);
    if (ev->flags & NCPTL_F_RANDOM)
        wr_str_add(out, " stride=random");
    else
        wr_str_addf(out, " stride=%" PRId64, ev->stride);
}

/* Microseconds; what is less is written behind a point. */
static void dump_text_time(struct wr_str *out, int64_t nsecs)
{
    wr_str_addf(out, " %" PRId64, nsecs / 1000);
    if (nsecs % 1000)
        wr_str_addf(out, ".%03d", (int)(nsecs % 1000));
}

static void dump_text_operands(struct wr_str *out, const struct ncptl_event *ev)
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
        dump_text_group(out, &ev->group);
        break;
    case NCPTL_MCAST:
        wr_str_addf(out, " %u %" PRId64 " ", ev->peer, ev->bytes);
        dump_text_group(out, &ev->group);
        break;
    case NCPTL_REDUCE:
        wr_str_add(out, " ");
        dump_text_group(out, &ev->group);
        wr_str_add(out, " ");
        dump_text_group(out, &ev->targets);
        wr_str_addf(out, " %" PRId64, ev->bytes);
        break;
    case NCPTL_COMPUTE:
    case NCPTL_SLEEP:
    case NCPTL_TIMED_BEGIN:
        dump_text_time(out, ev->nsecs);
        break;
    case NCPTL_TOUCH:
        dump_text_touch(out, ev);
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

void nc_text_event(struct wr_str *out, uint32_t proc, const struct ncptl_event *ev,
                   const char *text)
{
    if (ev->flags & NCPTL_F_BUFFERS) { /* nothing that others could see: a remark */
        wr_str_addf(out, "# %u TOUCH buffer=", proc);
        wr_str_addf(out, ev->buf == -1 ? "all" : ev->buf == -2 ? "current" : "%" PRId64, ev->buf);
        return;
    }
    wr_str_addf(out, "%u %s", proc, ncptl_op_name(ev->op));
    if (ev->flags & NCPTL_F_TIMED) {
        wr_str_add(out, " *");
    } else if (text) {
        wr_str_add(out, " ");
        dump_text_quoted(out, text);
    }
    dump_text_operands(out, ev);
    dump_text_attributes(out, ev);
}

void nc_text_log(struct wr_str *out, uint32_t proc, const char *title, bool timed, double value)
{
    wr_str_addf(out, "%u LOG ", proc);
    dump_text_quoted(out, title);
    if (timed)
        wr_str_add(out, " *");
    else
        wr_str_addf(out, " %.10g", value);
}
