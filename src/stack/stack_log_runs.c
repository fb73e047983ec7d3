/* stack_log_runs.c -- which test each run of a log is of, what runs.csv says, and whether the runs
 * belong together.
 *
 * Two runs are of one test when servers, processes and the meaning of their IOR commands are equal.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "load/ior/ior.h"
#include "stack_log_priv.h"
#include "stat/sample.h"

/* A factor between the spread of repeated runs on a busy machine and the tenfold steps of Ethernet.
 */
#define RUNS_OTHER_MEDIUM 6.0

/* --- tests --------------------------------------------------------------------------- */

static bool runs_same_test(const struct ior_test *a, const struct ior_test *b)
{
    return a->block == b->block && a->transfer == b->transfer && a->segments == b->segments &&
           a->file_per_task == b->file_per_task && a->collective == b->collective &&
           a->reorder == b->reorder && a->reorder_random == b->reorder_random &&
           a->random_offset == b->random_offset && a->barriers == b->barriers &&
           a->fsync == b->fsync && a->fsync_each == b->fsync_each && a->write == b->write &&
           a->read == b->read && a->multi_file == b->multi_file && !strcmp(a->api, b->api);
}

static bool runs_parse_command(struct ior_test *ret, const char *command, uint32_t tasks,
                               const char *name, struct wr_err *err)
{
    struct wr_err why = {0};

    return ior_parse(ret, command, tasks, &why) ||
           wr_fail(err, WR_INPUT, "%s is of \"%s\", which IOR refuses: %s", name,
                   wr_text_clip(command).s, why.text);
}

/* The test with these servers, processes and this command; 0: there is none yet. */
static uint16_t runs_find_test(const struct stack_log *log, uint32_t servers, uint32_t clients,
                               const struct ior_test *ior)
{
    for (size_t i = 0; i < log->test.n; i++) {
        const struct stack_log_test *t = &log->test.v[i];
        struct wr_err err = {0};
        struct ior_test other;

        if (t->servers != servers || t->clients != clients ||
            !ior_parse(&other, t->ior, clients, &err))
            continue;
        bool same = runs_same_test(ior, &other);

        ior_fini(&other);
        if (same)
            return (uint16_t)(i + 1);
    }
    return 0;
}

bool stack_log_test(struct stack_log *log, const char *name, uint32_t servers, uint32_t clients,
                    const char *command, uint16_t *ret, struct wr_err *err)
{
    struct stack_log_test test = {.servers = servers, .clients = clients};
    struct ior_test a;

    assert(servers > 0 && clients > 0);
    if (strlen(command) >= sizeof test.ior)
        return wr_fail(err, WR_INPUT, "%s has a command of more than %zu letters; shorten it", name,
                       sizeof test.ior - 1);
    if (log->test.n == UINT16_MAX - 1)
        return wr_fail(err, WR_INPUT, "more than %d tests; take fewer runs", UINT16_MAX - 1);
    if (!runs_parse_command(&a, command, clients, name, err))
        return false;
    *ret = runs_find_test(log, servers, clients, &a);
    if (!*ret) {
        test.bytes = (uint64_t)a.block * (uint64_t)a.segments;
        test.transfer = (uint64_t)a.transfer;
        test.calls = test.bytes / test.transfer;
        test.shared = !a.file_per_task;
        test.random = a.random_offset;
        test.collective = a.collective;
        test.reorder = a.reorder || a.reorder_random;
        snprintf(test.ior, sizeof test.ior, "%s", command);
        wr_vec_push(&log->test, test);
        *ret = (uint16_t)log->test.n;
    }
    ior_fini(&a);
    return true;
}

struct stack_text stack_pattern_text(const struct stack_log_test *t)
{
    struct stack_text ret;

    snprintf(ret.s, sizeof ret.s, "%s%s%s%s", t->shared ? "one file" : "own files",
             t->random ? ", random" : "", t->collective ? ", collective" : "",
             t->reorder ? ", reordered" : "");
    return ret;
}

struct stack_text stack_test_text(const struct stack_log_test *t)
{
    struct stack_text ret;

    snprintf(ret.s, sizeof ret.s, "%u servers, %u processes, %s by %s, %.60s", t->servers,
             t->clients, wr_text_bytes(t->bytes).s, wr_text_bytes(t->transfer).s,
             stack_pattern_text(t).s);
    return ret;
}

/* --- what runs.csv says ---------------------------------------------------------------- */

static int runs_find_column(char *const *head, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(head[i], name))
            return i;
    return -1;
}

bool stack_log_runs(struct stack_log *log, const char *name, char *text, struct wr_err *err)
{
    char *cell[LOG_CELLS], *line = strsep(&text, "\n");
    int n = log_cells(line, cell);
    int run = runs_find_column(cell, n, "run"), servers = runs_find_column(cell, n, "nservers"),
        clients = runs_find_column(cell, n, "nprocs"), ior = runs_find_column(cell, n, "ior_cmd");
    uint64_t at = 1;

    if (run < 0 || servers < 0 || clients < 0 || ior < 0)
        return wr_fail(err, WR_INPUT,
                       "%s:1: the head has no run, nservers, nprocs and ior_cmd; "
                       "add them",
                       name);
    while ((line = strsep(&text, "\n"))) {
        struct stack_listed of = {0};

        at++;
        if (!*line)
            continue;
        if (log_cells(line, cell) < n)
            return wr_fail(err, WR_INPUT, "%s:%" PRIu64 ": the row stops in its middle; mend it",
                           name, at);
        unsigned long s = strtoul(cell[servers], NULL, 10), c = strtoul(cell[clients], NULL, 10);

        if (s < 1 || c < 1 || s > 1000000 || c > 1000000)
            return wr_fail(err, WR_INPUT,
                           "%s:%" PRIu64 ": no numbers of servers and processes; mend it", name,
                           at);
        if (!stack_log_test(log, name, (uint32_t)s, (uint32_t)c, cell[ior], &of.test, err))
            return wr_wrap(err, "line %" PRIu64, at);
        snprintf(of.name, sizeof of.name, "%s", cell[run]);
        wr_vec_push(&log->listed, of);
    }
    return true;
}

/* --- runs that do not belong together ------------------------------------------------- */

/* All samples since the run before are of this one. */
static void runs_number_samples(struct stack_log *log)
{
    uint16_t run = log->run_now <= UINT16_MAX ? (uint16_t)log->run_now : 0;

    for (; log->io_before < log->io.n; log->io_before++)
        log->io.v[log->io_before].run = run;
    for (; log->op_before < log->op.n; log->op_before++)
        log->op.v[log->op_before].run = run;
    for (; log->state_before < log->state.n; log->state_before++)
        log->state.v[log->state_before].run = run;
}

void log_run_ended(struct stack_log *log, const char *name, uint16_t test)
{
    size_t n = log->io.n - log->io_before, k = 0;
    struct stack_log_run run = {.test = test};
    double *v = wr_zalloc(n + 1, sizeof *v);

    for (int w = 0; w < 2; w++) {
        k = 0;
        for (size_t i = log->io_before; i < log->io.n; i++)
            if (log->io.v[i].writes == w)
                v[k++] = log->io.v[i].seconds;
        if (k)
            stat_sort(v, k);
        run.took[w] = k ? v[k / 2] : NAN;
    }
    free(v);
    snprintf(run.name, sizeof run.name, "%s", name);
    if (n)
        wr_vec_push(&log->of, run);
    runs_number_samples(log);
}

/* How many times as long per byte of a call, reads and writes together. */
static double runs_time_ratio(const struct stack_log *log, const struct stack_log_run *a,
                              const struct stack_log_run *b)
{
    assert(a->test > 0 && b->test > 0);
    double of = (double)stack_test_at(log, a->test)->transfer /
                (double)stack_test_at(log, b->test)->transfer;
    double sum = 0;
    int n = 0;

    for (int w = 0; w < 2; w++) {
        double by = log2(a->took[w] / b->took[w] / of);

        if (!isfinite(by))
            continue;
        sum += by;
        n++;
    }
    return n ? exp2(sum / n) : 1;
}

/* Runs that can be compared: as many servers and processes, and one call each, in which nothing
 * but its data counts. Small calls may well be slow per byte, because opening the way costs the
 * same. */
static bool runs_comparable(const struct stack_log *log, const struct stack_log_run *a,
                            const struct stack_log_run *b)
{
    const struct stack_log_test *x = stack_test_at(log, a->test), *y = stack_test_at(log, b->test);

    return x->servers == y->servers && x->clients == y->clients && x->calls == 1 && y->calls == 1 &&
           x->transfer >= y->transfer;
}

/* Whether it is the median run of its test. */
static bool runs_is_median(const struct stack_log *log, const struct stack_log_run *a)
{
    size_t faster = 0, n = 0;

    assert(a->test > 0 && a->test <= log->test.n);
    for (size_t i = 0; i < log->of.n; i++) {
        const struct stack_log_run *b = &log->of.v[i];
        double by = b->test == a->test ? runs_time_ratio(log, b, a) : NAN;

        n += b->test == a->test;
        faster += by < 1 || (by <= 1 && b < a);
    }
    return faster == (n - 1) / 2;
}

/* Compares runs of one test, and the median runs of large calls with those of small ones. A byte
 * that takes RUNS_OTHER_MEDIUM times as long was on another network. */
bool stack_log_together(const struct stack_log *log, struct wr_err *err)
{
    for (size_t i = 0; i < log->of.n; i++)
        for (size_t j = 0; j < log->of.n; j++) {
            const struct stack_log_run *a = &log->of.v[i], *b = &log->of.v[j];

            if (runs_comparable(log, a, b) && runs_time_ratio(log, a, b) > RUNS_OTHER_MEDIUM &&
                (a->test == b->test || (runs_is_median(log, a) && runs_is_median(log, b))))
                return wr_fail(err, WR_INPUT,
                               "a byte took %.0f times as long in %s as in %s: runs of different "
                               "media are mixed; take each medium by itself, or allow noisy runs",
                               runs_time_ratio(log, a, b), a->name, b->name);
        }
    return true;
}
