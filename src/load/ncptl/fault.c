/* fault.c -- what a failed evaluation means to the author of the program. */
#include <inttypes.h>
#include <stdio.h>

#include "prog_priv.h"

/* {x} and {y} are the operands that failed. */
static const char *const reasons[NCF_NKINDS] = {
    [NCF_DIV_ZERO] = "{x} is divided by zero; test the divisor with IF first",
    [NCF_MOD_ZERO] = "{x} MOD zero is not defined; test the divisor with IF first",
    [NCF_ZERO_POWER] = "{x} ** {y} is not defined; use another exponent",
    [NCF_OVERFLOW] = "the result for {x} and {y} needs more than 64 bits; use smaller numbers",
    [NCF_ROOT] = "root {x} of {y} is not defined; take it of a positive number",
    [NCF_LOG] = "LOG10({x}) is not defined; take it of a positive number",
    [NCF_TREE] = "a tree cannot have {x} children per task; give at least 1",
    [NCF_KNOMIAL] = "a k-nomial tree with k = {x} does not exist; give at least 2",
    [NCF_MESH] = "a mesh cannot be {x} wide in dimension {y}; give positive sizes",
    [NCF_COORDINATE] = "there is no coordinate {x}; give 0, 1 or 2 for x, y or z",
    [NCF_RANDOM] = "no number can be drawn with {x} and {y}; check the order of the arguments",
    [NCF_PATTERN] = "the values from {x} to {y} follow neither an arithmetic nor a geometric "
                    "pattern; list them one by one",
    [NCF_TOO_MANY] = "this range has too many values to go through; make it smaller",
    [NCF_FILE] = "this file cannot be read; check its name",
    [NCF_FILE_CELL] = "the file has no column {x} in row {y}; count from 1, or from the end with "
                      "negative numbers",
    [NCF_NEGATIVE] = "a size of {x} bytes is less than nothing; check the expression",
    [NCF_OFFSET] = "an offset of {x} bytes lies before the file; check the expression",
    [NCF_RESTORE] = "counters are restored more often than they were stored; remove one RESTORES "
                    "or add a STORES",
    [NCF_PROCESSOR] = "there is no processor {x} among {y}; assign to 0 up to num_tasks-1",
    [NCF_PERCENTILE] = "percentile {x} does not exist; give 0 to 100",
};

static void fill_in(struct wr_str *out, const char *text, int64_t x, int64_t y)
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

    if (kind == NCF_ASSERT)
        return nc_fail(&p->src, NC_RUNTIME, at, err,
                       "assertion failed with %" PRIu32 " tasks: %s; choose other --tasks or "
                       "parameters",
                       p->n, text);
    fill_in(&why, reasons[kind], x, y);
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

    nc_place(&p->src, p->code[stmt].at, &line, &column);
    snprintf(buf, n, "%u:%u", line, column);
}
