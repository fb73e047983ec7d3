/* Tables of probes and model files: what is read, what is refused, and where. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "state/model/model.h"
#include "state/probes.h"
#include "state/scaling.h"

static void refused(const char *text, const char *want)
{
    struct state_probes p;
    struct wr_err err = {0};

    if (state_probes_parse(&p, "f", text, strlen(text), &err))
        fail_msg("was taken: %s", text);
    assert_int_equal(err.code, WR_INPUT);
    if (!strstr(err.text, want))
        fail_msg("said \"%s\", not \"%s\"", err.text, want);
}

#define HEAD "t_seconds,op,bytes,latency_seconds\n"

static void bad_rows_are_refused_where_they_are(void **state)
{
    (void)state;
    refused("", "f:1:1: empty");
    refused("a,b\n", "no column t_seconds");
    refused("t_seconds\n", "no column latency_seconds");
    refused("t_seconds,t_seconds,latency_seconds\n", "twice");
    refused(HEAD "0,write,1,-0.5\n", "f:2:11: \"-0.5\" is no latency");
    refused(HEAD "0,write,1,0\n", "f:2:11:");
    refused(HEAD "0,write,1,nan\n", "f:2:11:");
    refused(HEAD "0,write,1,inf\n", "f:2:11:");
    refused(HEAD "0,write,1,0x1p-3\n", "is not a number");
    refused(HEAD "0,write,1,1\n\n# remark\n-1,write,1,1\n",
            "f:5:1: \"-1\" is before an earlier line");
    refused(HEAD "0,write,1\n", "f:2:1: 3 fields");
    refused(HEAD "x,write,1,1\n", "f:2:1: \"x\" is not a number");
    refused(HEAD "0,write,1.5,1\n", "whole number");
}

static void columns_come_in_any_order_and_gaps_are_remarks(void **state)
{
    (void)state;
    const char text[] = "latency_seconds, target ,t_seconds\r\n"
                        "0.5,ost1,0\r\n# gap\r\n0.25,ost2,0\r\n,ost1,1\r\n0.75,ost1,1\r\n";
    struct state_probes p;
    struct state_series *s;
    struct state_choice all = {0}, one = {.target = "ost2"}, none = {.target = "ost3"};
    struct wr_err err = {0};
    size_t n;

    assert_true(state_probes_parse(&p, "f", text, strlen(text), &err));
    assert_int_equal(p.n, 3);
    assert_int_equal(p.skipped, 1);
    assert_true(state_choose(&s, &n, &p, "f", &all, &err));
    assert_int_equal(n, 2);
    assert_true(s[0].n == 2 && s[0].latency[1] == 0.75 && s[1].latency[0] == 0.25);
    state_series_free(s, n);
    assert_true(state_choose(&s, &n, &p, "f", &one, &err));
    assert_int_equal(n, 1);
    state_series_free(s, n);
    assert_false(state_choose(&s, &n, &p, "f", &none, &err));
    assert_non_null(strstr(err.text, "ost1, ost2"));
    state_probes_fini(&p);
}

static void what_is_mixed_must_be_chosen(void **state)
{
    (void)state;
    const char text[] = HEAD "0,write,1048576,1\n0,read,1048576,1\n1,write,4096,1\n";
    struct state_probes p;
    struct state_series *s;
    struct state_choice c = {0};
    struct wr_err err = {0};
    size_t n;

    assert_true(state_probes_parse(&p, "f", text, strlen(text), &err));
    assert_false(state_choose(&s, &n, &p, "f", &c, &err));
    assert_non_null(strstr(err.text, "`op`"));
    c.op = "write";
    assert_false(state_choose(&s, &n, &p, "f", &c, &err));
    assert_non_null(strstr(err.text, "`bytes`"));
    c.bytes = 4096;
    assert_true(state_choose(&s, &n, &p, "f", &c, &err));
    assert_true(n == 1 && s[0].n == 1);
    state_series_free(s, n);
    state_probes_fini(&p);
}

static void a_model_survives_its_file(void **state)
{
    (void)state;
    for (int family = 0; family < HMM_FAMILIES; family++)
        for (int blocks = 1; blocks <= 3; blocks += 2) {
            struct hmm_model m = {.k = 2, .nblocks = blocks, .family = (enum hmm_family)family},
                             got;
            struct wr_err err = {0};

            for (int s = 0; s < 2; s++) {
                m.initial[s] = 0.5;
                for (int e = 0; e < hmm_family_params(m.family); e++)
                    m.emit[s][e] = (1 + s + e) / 7.0;
                for (int b = 0; b < blocks; b++)
                    m.q[b][s * 2 + 1 - s] = (s + b + 1) * 1e-3;
            }
            hmm_tidy(&m);
            json_t *json = state_model_json(&m);
            char *text = json_dumps(json, 0);

            if (!state_model_parse(&got, "f", text, strlen(text), &err))
                fail_msg("%s", err.text);
            assert_memory_equal(&got, &m, sizeof m);
            free(text);
            json_decref(json);
        }
}

static void bad_models_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"meanlog\":[1,2],\"sdlog\":[1,1],\"Q\":[[0,1],[1,0],[1,1]]}",
        "{\"meanlog\":[1,2],\"sdlog\":[1,0],\"Q\":[[0,1],[1,0]]}",
        "{\"meanlog\":[1,2],\"sdlog\":[1,1],\"Q\":[[0,-1],[1,0]]}",
        "{\"meanlog\":[1,2],\"sdlog\":[1,1],\"Q\":[[0,1],[1,0]],\"initial\":[1,1]}",
        "{\"meanlog\":[1,2],\"sdlog\":[1,1],\"Q\":[[0,1],[1,0]],\"emission\":\"normal\"}",
        "{\"meanlog\":[1,2],\"sdlog\":[1,1],\"Q\":[[0,1],[1,0]],\"day_parts\":25}",
        "{\"meanlog\":[1],\"sdlog\":[1],\"Q\":[[0]],\"probe_bytes\":0}",
        "{\"meanlog\":[1],\"sdlog\":[1],\"Q\":[[0]],\"probe_bytes\":\"1 MiB\"}",
        "{\"meanlog\":[1],\"sdlog\":[1],\"Q\":[[0]],\"probe_op\":\"both\"}",
        "{\"meanlog\":[1],\"sdlog\":[1],\"Q\":[[0]],\"probe_bytes\":9,\"fixed_share\":2}",
        "{\"meanlog\":[1],\"sdlog\":[1],\"Q\":[[0]],\"probe_bytes\":9,\"fixed_share\":0.5}",
        ("{\"meanlog\":[1],\"sdlog\":[1],\"Q\":[[0]],\"probe_bytes\":9,\"fixed_share\":0.5,"
         "\"probe_sizes\":[9,3]}"),
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct hmm_model m;
        struct wr_err err = {0};

        if (state_model_parse(&m, "f", texts[i], strlen(texts[i]), &err))
            fail_msg("was taken: %s", texts[i]);
        assert_int_equal(err.code, WR_INPUT);
        assert_int_equal(strncmp(err.text, "f", 1), 0);
    }
}

/* 1 ms and 1 ns for each byte, in an idle path and in one that is three times as slow. */
static void write_sizes(const char *path, const uint64_t *bytes, size_t n)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(HEAD, f);
    for (int i = 0; i < 120; i++) {
        uint64_t b = bytes[(size_t)i % n];

        fprintf(f, "%d,write,%llu,%.9f\n%d,read,%llu,1\n", i, (unsigned long long)b,
                (0.001 + (double)b * 1e-9) * (i % 7 < 2 ? 3 : 1), i, (unsigned long long)b);
    }
    fclose(f);
}

static void sizes_that_were_probed_say_which_part_of_a_latency_is_fixed(void **state)
{
    static const uint64_t two[] = {4096, 1000000}, one[] = {1000000};
    char *path = (char[]){"test-sizes.csv"};
    struct state_choice choice = {.op = "write", .bytes = 1000000};
    struct state_probed p;
    struct wr_err err = {0};

    (void)state;
    write_sizes(path, two, 2);
    assert_true(state_scaling(&p, &path, 1, &choice, &err));
    assert_int_equal(p.bytes, 1000000);
    assert_string_equal(p.op, "write");
    assert_true(fabs(p.fixed_share - 0.5) < 1e-6);
    assert_int_equal(p.least_b, 4096);
    assert_int_equal(p.most_b, 1000000);
    choice.bytes = 0; /* which of them is meant is not known */
    assert_true(state_scaling(&p, &path, 1, &choice, &err));
    assert_int_equal(p.bytes, 0);
    assert_true(isnan(p.fixed_share));
    write_sizes(path, one, 1);
    assert_true(state_scaling(&p, &path, 1, &choice, &err));
    assert_int_equal(p.bytes, 1000000);
    assert_true(isnan(p.fixed_share));
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_rows_are_refused_where_they_are),
        cmocka_unit_test(columns_come_in_any_order_and_gaps_are_remarks),
        cmocka_unit_test(what_is_mixed_must_be_chosen),
        cmocka_unit_test(a_model_survives_its_file),
        cmocka_unit_test(bad_models_are_refused),
        cmocka_unit_test(sizes_that_were_probed_say_which_part_of_a_latency_is_fixed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
