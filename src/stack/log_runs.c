/* log_runs.c -- which test each run of a log was, and whether the runs belong together. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "load/ior/ior.h"
#include "log_priv.h"

/* --- tests --------------------------------------------------------------------------- */

static bool same_test(const struct ior_test *a, const struct ior_test *b)
{
    return a->block == b->block && a->transfer == b->transfer && a->segments == b->segments &&
           a->file_per_task == b->file_per_task && a->collective == b->collective &&
           a->reorder == b->reorder && a->reorder_random == b->reorder_random &&
           a->random_offset == b->random_offset && !strcmp(a->api, b->api);
}

static bool parsed(struct ior_test *ret, const char *command, uint32_t tasks, const char *name,
                   struct wr_err *err)
{
    struct wr_err why = {0};

    return ior_parse(ret, command, tasks, &why) ||
           wr_fail(err, WR_INPUT, "%s is of \"%s\", which IOR refuses: %s", name,
                   wr_text_clip(command).s, why.text);
}

const char *stack_log_command(const struct stack_log *log, uint64_t bytes)
{
    for (size_t i = 0; i < log->test.n; i++)
        if (log->test.v[i].bytes == bytes)
            return log->test.v[i].ior;
    return NULL;
}

bool log_test(struct stack_log *log, const char *name, uint64_t bytes, const char *command,
              struct wr_err *err)
{
    const char *before = stack_log_command(log, bytes);
    struct stack_log_test test = {.bytes = bytes};
    struct ior_test a, b;

    if (strlen(command) >= sizeof test.ior)
        return wr_fail(err, WR_INPUT, "%s has a command of more than %zu letters; shorten it", name,
                       sizeof test.ior - 1);
    if (!parsed(&a, command, log->clients, name, err))
        return false;
    bool ok = true;

    if (before) {
        ok = parsed(&b, before, log->clients, name, err);
        if (ok && !same_test(&a, &b))
            ok = wr_fail(err, WR_INPUT,
                         "%s is of \"%s\", a run before of \"%s\": these are different tests; take "
                         "each by itself",
                         name, wr_text_clip(command).s, wr_text_clip(before).s);
        ior_fini(&b);
    } else {
        snprintf(test.ior, sizeof test.ior, "%s", command);
        wr_vec_push(&log->test, test);
    }
    ior_fini(&a);
    return ok;
}

/* --- runs that do not belong together ------------------------------------------------- */

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* All samples since the run before are of this one. */
static void number(struct stack_log *log)
{
    uint16_t run = log->run_now <= UINT16_MAX ? (uint16_t)log->run_now : 0;

    for (; log->io_before < log->io.n; log->io_before++)
        log->io.v[log->io_before].run = run;
    for (; log->op_before < log->op.n; log->op_before++)
        log->op.v[log->op_before].run = run;
    for (; log->state_before < log->state.n; log->state_before++)
        log->state.v[log->state_before].run = run;
}

void log_run_ended(struct stack_log *log, const char *name, uint64_t bytes)
{
    size_t n = log->io.n - log->io_before, k = 0;
    struct stack_log_run run = {.bytes = bytes};
    double *v = wr_zalloc(n + 1, sizeof *v);

    for (int w = 0; w < 2; w++) {
        k = 0;
        for (size_t i = log->io_before; i < log->io.n; i++)
            if (log->io.v[i].writes == w)
                v[k++] = log->io.v[i].seconds;
        if (k)
            qsort(v, k, sizeof *v, by_double);
        run.took[w] = k ? v[k / 2] : NAN;
    }
    free(v);
    snprintf(run.name, sizeof run.name, "%s", name);
    if (n)
        wr_vec_push(&log->of, run);
    number(log);
}

/* How many times as long per byte, reads and writes together. */
static double times_as_long(const struct stack_log_run *a, const struct stack_log_run *b)
{
    double sum = 0;
    int n = 0;

    for (int w = 0; w < 2; w++) {
        double by = log((a->took[w] / (double)a->bytes) / (b->took[w] / (double)b->bytes));

        if (!isfinite(by))
            continue;
        sum += by;
        n++;
    }
    return n ? exp(sum / n) : 1;
}

/* Small files may well be slow per byte, because opening the way costs the same; large ones that
 * are slower than small ones by that much were on another network. */
bool stack_log_together(const struct stack_log *log, struct wr_err *err)
{
    static const double much = 6;

    for (size_t i = 0; i < log->of.n; i++)
        for (size_t j = 0; j < log->of.n; j++) {
            const struct stack_log_run *a = &log->of.v[i], *b = &log->of.v[j];

            if (a->bytes >= b->bytes && b->bytes && times_as_long(a, b) > much)
                return wr_fail(err, WR_INPUT,
                               "a byte took %.0f times as long in %s as in %s: runs of different "
                               "set-ups are mixed; take each set-up by itself, or say --noisy",
                               times_as_long(a, b), a->name, b->name);
        }
    return true;
}
