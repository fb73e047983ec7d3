/* kind.c -- the formats that verbs write or read, as their first bytes tell them apart. */
#include "run/kind.h"

#include <string.h>

#include "base/file.h"
#include "base/output.h"

enum { KIND_HEAD = 8192 };

struct kind {
    const char *begins, *holds[2]; /* NULL: nothing is asked for */
    const char *what;              /* in a sentence: "a model of `weir state fit`" */
    const char *how;               /* the advice before, and the words after the file's name */
    const char *after;
};

/* The first that fits counts, so that what is special stands above what is general. */
static const struct kind kinds[] = {
    {"<!DOCTYPE html>", {"data-weir="}, "a page of `weir report`", NULL, "open it in a browser"},
    {"<svg", {WR_SVG_MARK}, "a picture that weir drew", NULL, "open it in a browser"},
    {"{\"weir_report\":", {NULL}, "a report", NULL, "give the run files that it was made from"},
    {"{",
     {"\"emission\":", "\"states\":"},
     "a model of `weir state fit`",
     "draw a series of latencies from it with `weir state simulate",
     "`"},
    {"[",
     {"\"emission\":", "\"states\":"},
     "a list of models of `weir state fit --per-target`",
     NULL,
     "keep the one that is meant in a file of its own"},
    {"{",
     {"\"weir\":", "\"token\":"},
     "the ticket of a server",
     NULL,
     "give it to `weir roofline collect`"},
    {NULL,
     {"\"fio version\""},
     "output of fio",
     "fit a device to it with `weir dev fit MODEL",
     "`"},
    {NULL,
     {"t_seconds,", "latency_seconds"},
     "a table of probes",
     "make a run file of it with `weir state import",
     "`"},
    {"system,",
     {"client_"},
     "a table of a roofline's parameters",
     "draw it with `weir roofline model",
     "`"},
    {NULL,
     {"slice_start_epoch", "bytes"},
     "a table of slices",
     "make run files of it with `weir interfere import",
     "`"},
    {NULL,
     {",t_s", "bytes"},
     "a table of slices",
     "make run files of it with `weir interfere import",
     "`"},
    {"num_ranks ", {NULL}, "a GOAL schedule", "look at it with `weir lang goal", "`"},
    {NULL, {"\nnum_ranks ", "\nrank "}, "a GOAL schedule", "look at it with `weir lang goal", "`"},
    {"run,side,node,op_seq,",
     {NULL},
     "a table of states",
     "calibrate with `weir stack calibrate --logs",
     "`"},
    {"# Fitted to ", {"weir dev fit"}, "a fitted device", "run it with `weir dev", "`"},
    {NULL,
     {"\nsource: ", "\nstates:"},
     "laws of a file system's states",
     "simulate with them by `weir stack run --laws",
     " -- ior ...`"},
    {NULL, {"\ncross:"}, "a study", "run it with `weir study run", "`"},
    {NULL, {"\ndevice:", "kind:"}, "a device", "run it with `weir dev", "`"},
    {NULL, {"machine:"}, "a configuration", "simulate it with `weir run", "`"},
};

static bool kind_fits(const struct kind *k, const char *head)
{
    return (!k->begins || !strncmp(head, k->begins, strlen(k->begins))) &&
           (!k->holds[0] || strstr(head, k->holds[0])) &&
           (!k->holds[1] || strstr(head, k->holds[1]));
}

bool run_kind_check(const char *path, const char *wanted, struct wr_err *err)
{
    char head[KIND_HEAD + 1];

    head[wr_file_head(head, KIND_HEAD, path)] = '\0';
    for (size_t i = 0; *head && i < sizeof kinds / sizeof *kinds; i++) {
        const struct kind *k = &kinds[i];

        if (!kind_fits(k, head))
            continue;
        if (!k->how)
            return wr_fail(err, WR_INPUT, "%s is not %s but %s; %s", path, wanted, k->what,
                           k->after);
        return wr_fail(err, WR_INPUT, "%s is not %s but %s; %s %s%s", path, wanted, k->what, k->how,
                       path, k->after);
    }
    return true;
}
