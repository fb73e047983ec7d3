/* verb_place.h -- an empty directory in which contract tests call verbs, and inputs that several of
 * them need.
 */
#ifndef TESTS_CONTRACT_VERB_PLACE_H
#define TESTS_CONTRACT_VERB_PLACE_H

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char verb_place[] = "/tmp/weir-verbs-XXXXXX";

static inline int verb_place_remove(const char *path, const struct stat *st, int type,
                                    struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static inline void verb_place_enter(void)
{
    assert_non_null(mkdtemp(verb_place));
    assert_int_equal(chdir(verb_place), 0);
}

static inline int verb_place_leave(void **state)
{
    (void)state;
    return chdir("/") || nftw(verb_place, verb_place_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void verb_write(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* logs.yaml: a job of two ranks that sends, receives and logs. */
static inline void verb_write_job(void)
{
    verb_write("logs.ncptl",
               "FOR 2 REPETITIONS { TASK 0 SENDS A 8 BYTE MESSAGE TO TASK 1 THEN TASK "
               "0 LOGS THE MEAN OF elapsed_usecs AS \"time\" }\n");
    verb_write("logs.yaml",
               "machine:\n  topology: {kind: torus, sizes: [4], nodes: 1}\n"
               "  links: {default: {bandwidth: 10 GB/s, latency: 20 ns}}\n  routing: "
               "dimension-order\njobs:\n  - {name: a, program: {kind: ncptl, file: logs.ncptl}, "
               "ranks: 2}\n");
}

/* Splits a command line at spaces, behind argv[0]; returns argc. */
static inline int verb_split(char *line, char **argv)
{
    int argc = 1;

    argv[0] = (char *)"weir";
    for (char *w; (w = strsep(&line, " "));)
        argv[argc++] = w;
    return argc;
}

#endif
