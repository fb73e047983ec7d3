/* fault.c -- failures of an evaluation or of a rank as error messages with their place.
 *
 * fault_text.c has the texts; this file fills in the operands and finds line and column.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "prog_priv.h"

static void fault_fill_in(struct wr_str *out, const char *text, int64_t x, int64_t y)
{
    for (const char *s = text; *s; s++) {
        bool known = s[0] == '{' && (s[1] == 'x' || s[1] == 'y') && s[2] == '}';

        if (known)
            wr_str_addf(out, "%" PRId64, s[1] == 'x' ? x : y);
        else
            wr_str_addn(out, s, 1);
        s += known ? 2 : 0;
    }
}

bool nc_explain(const struct ncptl_prog *p, enum nc_fault_kind kind, uint32_t at, int64_t x,
                int64_t y, const char *text, struct wr_err *err)
{
    struct wr_str why = {0};

    assert(kind > NCF_NONE && kind < NCF_NKINDS);
    if (kind == NCF_ASSERT)
        return nc_fail(&p->src, NC_RUNTIME, at, err,
                       "assertion failed with %" PRIu32 " tasks: %s; choose another number of "
                       "tasks or other parameters",
                       p->n, text);
    fault_fill_in(&why, nc_fault_text[kind], x, y);
    nc_fail(&p->src, NC_RUNTIME, at, err, "%s", wr_str_get(&why));
    wr_str_fini(&why);
    return false;
}

bool ncptl_fault(const struct ncptl_prog *p, const struct ncptl_rank *r, struct wr_err *err)
{
    const struct nc_node *culprit = r->culprit;
    const struct nc_ins *in = &p->code[r->pc];

    return nc_explain(p, r->fault, culprit ? culprit->at : in->at, r->cur, r->left, in->text, err);
}

void ncptl_where(const struct ncptl_prog *p, uint32_t stmt, char *buf, size_t n)
{
    unsigned line, column;

    assert(stmt < p->ncode);
    nc_place(&p->src, p->code[stmt].at, &line, &column);
    snprintf(buf, n, "%u:%u", line, column);
}
