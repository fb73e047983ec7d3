/* The published tables: every pair predicted, as far off as known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "interference/interference_tables.h"

static const char *const published = WEIR_SOURCE_DIR "/tests/data/interfere/paper_tables.csv";

struct off {
    double mean, most, most_above_one;
    int n;
};

static struct off off_by(const struct interference_tables *t, const char *mode,
                         enum interference_method m)
{
    struct off o = {0};

    for (size_t i = 0; i < t->seen.n; i++) {
        const struct interference_seen *s = &t->seen.v[i];
        double e = 100 * fabs(interference_error(s, m));

        if (strcmp(s->mode, mode) != 0)
            continue;
        o.n++;
        o.mean += e;
        o.most = fmax(o.most, e);
        if (s->p > 1 && s->q > 1)
            o.most_above_one = fmax(o.most_above_one, e);
    }
    o.mean /= o.n;
    return o;
}

static void assert_digits(double got, double want)
{
    if (fabs(got - want) > 0.05)
        fail_msg("%.3f where %.1f is known", got, want);
}

static void the_published_pairs_are_predicted_as_well_as_is_known(void **state)
{
    struct interference_tables t;
    struct wr_err err;

    (void)state;
    assert_true(interference_tables_read(&t, published, 16000, 12, &err));
    assert_int_equal(t.seen.n, 24);
    struct off eq = off_by(&t, "private", INTERFERENCE_EQUATIONS);
    struct off nodes = off_by(&t, "private", INTERFERENCE_BY_NODES);

    assert_int_equal(eq.n, 12);
    assert_digits(eq.mean, 9.5);
    assert_digits(eq.most, 41.2);
    assert_true(eq.most_above_one < 12); /* what the study says of its equations */
    assert_digits(nodes.mean, 4.1);
    assert_digits(nodes.most, 8.5);
    interference_tables_fini(&t);
}

static void with_one_process_per_node_both_weights_are_the_same(void **state)
{
    struct interference_tables t;
    struct wr_err err;

    (void)state;
    assert_true(interference_tables_read(&t, published, 16000, 1, &err));
    for (size_t i = 0; i < t.seen.n; i++)
        assert_true(t.seen.v[i].predicted_s[INTERFERENCE_BY_NODES] ==
                    t.seen.v[i].predicted_s[INTERFERENCE_BY_PROCESSES]);
    interference_tables_fini(&t);
}

#define HEAD "mode,storage,run,p,q,app,nproc,window,throughput_mib_s\n"

static void tables_without_what_is_needed_are_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {HEAD, "there is no pair; "},
        {HEAD "a,hdd,standalone,,,A,1,overall,0\n", "row 1 has no throughput above 0"},
        {HEAD "a,hdd,concurrent,1,2,P,1,overall,5\n", "has a job P and no job Q; "},
        {HEAD "a,hdd,concurrent,1,2,P,1,overall,5\na,hdd,concurrent,1,2,Q,2,overall,5\n",
         "no standalone row of mode a, storage hdd has 1 processes; "},
        {HEAD "a,hdd,concurrent,1,2,P,x,overall,5\n", ":2:24: \"x\" is not a number; "},
        {"mode,storag\n", ":1:6: no column \"storag\" is known; did you mean storage?"},
    };
    char path[] = "interfere-tables-XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct interference_tables t;
        struct wr_err err;
        ssize_t n = (ssize_t)strlen(bad[i].text);

        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, bad[i].text, (size_t)n, 0), n);
        assert_false(interference_tables_read(&t, path, 16000, 12, &err));
        assert_int_equal(err.code, WR_INPUT);
        if (!strstr(err.text, bad[i].says) || strncmp(err.text, path, strlen(path)) != 0)
            fail_msg("\"%s\" does not say \"%s\"", err.text, bad[i].says);
    }
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_pairs_are_predicted_as_well_as_is_known),
        cmocka_unit_test(with_one_process_per_node_both_weights_are_the_same),
        cmocka_unit_test(tables_without_what_is_needed_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
