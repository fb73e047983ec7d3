/* trial.c -- builds and parses the names of an experiment's run files; see trial.h. */
#include "run/trial.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

char run_trial_letter(size_t job)
{
    assert(job < RUN_TRIAL_JOBS);
    return (char)('P' + job);
}

void run_trial_id(struct wr_str *out, const struct run_trial *t)
{
    assert(t->n > 0 && t->n <= RUN_TRIAL_JOBS && t->repetition > 0);
    wr_str_addf(out, "%.*s.", (int)t->mode_len, t->mode);
    for (size_t i = 0; i < t->n; i++)
        wr_str_addf(out, "%s%u", i ? "+" : "", t->size[i]);
    wr_str_addf(out, ".r%u", t->repetition);
}

/* Where the part of a name begins that ends before `end`: behind a dot. NULL: there is none. */
static const char *trial_part(const char *from, const char *end)
{
    while (end > from && end[-1] != '.')
        end--;
    return end > from ? end : NULL;
}

/* Digits up to `end` or a sign between sizes. */
static bool trial_number(uint32_t *ret, const char **at, const char *end)
{
    uint64_t v = 0;
    const char *s = *at;

    for (; s < end && *s >= '0' && *s <= '9' && v <= UINT32_MAX; s++)
        v = 10 * v + (uint64_t)(*s - '0');
    if (s == *at || v > UINT32_MAX)
        return false;
    *ret = (uint32_t)v;
    *at = s;
    return true;
}

static bool trial_sizes(struct run_trial *t, const char *at, const char *end)
{
    for (t->n = 0; t->n < RUN_TRIAL_JOBS; at++) {
        if (!trial_number(&t->size[t->n], &at, end))
            return false;
        t->n++;
        if (at == end)
            return true;
        if (*at != '+')
            return false;
    }
    return false;
}

/* From the end: a mode may hold dots. */
bool run_trial_parse(struct run_trial *ret, const char *path)
{
    static const char ending[] = ".weir";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *end = name + strlen(name), *job, *repetition, *sizes;
    struct run_trial t = {.mode = name};

    if (end - name < (ptrdiff_t)sizeof ending || strcmp(end - (sizeof ending - 1), ending) != 0)
        return false;
    end -= sizeof ending - 1;
    if (!(job = trial_part(name, end)) || !(repetition = trial_part(name, job - 1)) ||
        !(sizes = trial_part(name, repetition - 1)) || sizes - 1 == name)
        return false;
    t.mode_len = (size_t)(sizes - 1 - name);
    t.job = (size_t)(*job - 'P');
    if (end - job != 1 || *job < 'P' || *repetition++ != 'r' ||
        !trial_number(&t.repetition, &repetition, job - 1) || repetition != job - 1 ||
        !t.repetition)
        return false;
    const char *after_sizes = sizes + strcspn(sizes, ".");

    if (!trial_sizes(&t, sizes, after_sizes) || t.job >= t.n)
        return false;
    *ret = t;
    return true;
}
