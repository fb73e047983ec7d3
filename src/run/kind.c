/* kind.c -- recognises the formats that verbs write or read by their first bytes, and names the
 * command that reads each. Called by reader.c and by verbs that expect another format. */
#include "run/kind.h"

#include <string.h>

#include "base/file.h"
#include "base/output.h"
#include "run/reader.h"

enum { KIND_HEAD = 8192 };

/* The binary form: 4223 in 8 bytes. */
static const char goal_binary[8] = {0x7f, 0x10};

struct kind {
    const char *begins, *holds[2]; /* texts to match; NULL: any */
    const char *what;              /* in a sentence: "a model of `weir state fit`" */
    const char *how; /* advice before and after the file's name; how NULL: `after` alone */
    const char *after;
};

/* The first match is used: special formats come before general ones. */
static const struct kind kinds[] = {
    {"<!DOCTYPE html>", {"data-weir="}, "a page of `weir report`", NULL, "open it in a browser"},
    {"<svg", {WR_SVG_MARK}, "a picture that weir drew", NULL, "open it in a browser"},
    {"{\"displayTimeUnit\":", {NULL}, "a trace", NULL, "open it in ui.perfetto.dev"},
    {"{\"weir_report\":", {NULL}, "a report", NULL, "give the run files that it was made from"},
    {"{",
     {"\"emission\":", "\"states\":"},
     "a model of `weir state fit`",
     "draw a series of latencies from it with `weir state simulate",
     "`"},
    {"[",
     {"\"emission\":", "\"states\":"},
     "a list of models of `weir state fit`, one per target",
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
    {"t_seconds,viterbi,",
     {NULL},
     "the states of a series that `weir state fit` wrote",
     NULL,
     "make a run file of the probes with `weir state import`, and report that"},
    {"t_us,from,to,message,",
     {NULL},
     "messages of `weir stack trace`",
     NULL,
     "draw them with `weir stack trace -o trace.svg -- ior ...`"},
    {"system,metric,",
     {"client_"},
     "a table that `weir roofline model` printed",
     NULL,
     "draw it with `weir roofline model PARAMETERS -o roof.svg`, of the table or run file that it "
     "was made from"},
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
    {NULL,
     {"compiled by `weir lang compile"},
     "a program that weir compiled",
     NULL,
     "run it with `weir lang bench`, of the program that it was made from"},
    {"# runs of ",
     {"command:", "sizes:"},
     "the record of an experiment",
     NULL,
     "report its directory"},
    {"# Fitted to ", {"weir dev fit"}, "a fitted device", "run it with `weir dev", "`"},
    {NULL,
     {"\nsource: ", "\nstates:"},
     "timing models of a file system's states",
     "simulate with them by `weir stack run --timing",
     " -- ior ...`"},
    {NULL, {"\ncross:"}, "a study", "run it with `weir study run", "`"},
    {NULL, {"\ndevice:", "kind:"}, "a device", "run it with `weir dev", "`"},
    {NULL, {"\nmachine:"}, "a configuration", "simulate it with `weir run", "`"},
    {NULL,
     {"\ncommand:", "\nsizes:"},
     "an experiment",
     "run it with `weir interfere experiment",
     "`"},
    {"# job ", {"## rank "}, "a log of programs", NULL, "give the run file of the same run"},
    {"{", {NULL}, "JSON", NULL, "give the run file that it was made from"},
    {"[", {NULL}, "JSON", NULL, "give the run file that it was made from"},
};

/* `text` is the head of the file behind a line feed, so that "\nkey:" finds a key in its first
 * line, too. */
static bool kind_fits(const struct kind *k, const char *text)
{
    return (!k->begins || !strncmp(text + 1, k->begins, strlen(k->begins))) &&
           (!k->holds[0] || strstr(text, k->holds[0])) &&
           (!k->holds[1] || strstr(text, k->holds[1]));
}

/* Its version, then its magic number, 6567223, in either byte order. */
static bool kind_is_darshan(const char *head, size_t n)
{
    return n >= 16 && head[0] == '3' && head[1] == '.' &&
           (!memcmp(head + 8, "\x37\x35\x64\0\0\0\0\0", 8) ||
            !memcmp(head + 8, "\0\0\0\0\0\x64\x35\x37", 8));
}

/* The name of the view whose columns the first line has; NULL: none. The points of load sweeps are
 * a format of their own, which is read again. */
static const char *kind_view(const char *head)
{
    for (const struct run_view *v = run_views; v->name; v++) {
        size_t n = strlen(v->columns);

        if (strcmp(v->name, "sweep") != 0 && !strncmp(head, v->columns, n) &&
            (head[n] == ',' || head[n] == '\n' || head[n] == '\r'))
            return v->name;
    }
    return NULL;
}

bool run_kind_check(const char *path, const char *wanted, struct wr_err *err)
{
    char text[KIND_HEAD + 2] = "\n", *head = text + 1;
    size_t n = wr_file_head(head, KIND_HEAD, path);

    head[n] = '\0';
    if (kind_is_darshan(head, n))
        return wr_fail(err, WR_INPUT,
                       "%s is not %s but a Darshan log; make a run file of it with `weir import "
                       "darshan %s`",
                       path, wanted, path);
    if (n > sizeof goal_binary && !memcmp(head, goal_binary, sizeof goal_binary))
        return wr_fail(err, WR_INPUT,
                       "%s is not %s but a GOAL schedule; look at it with `weir lang goal %s`",
                       path, wanted, path);
    if (kind_view(head))
        return wr_fail(err, WR_INPUT,
                       "%s is not %s but the table %s of a run file; give the run file that it was "
                       "made from",
                       path, wanted, kind_view(head));
    for (size_t i = 0; *head && i < sizeof kinds / sizeof *kinds; i++) {
        const struct kind *k = &kinds[i];

        if (!kind_fits(k, text))
            continue;
        if (!k->how)
            return wr_fail(err, WR_INPUT, "%s is not %s but %s; %s", path, wanted, k->what,
                           k->after);
        return wr_fail(err, WR_INPUT, "%s is not %s but %s; %s %s%s", path, wanted, k->what, k->how,
                       path, k->after);
    }
    return true;
}
