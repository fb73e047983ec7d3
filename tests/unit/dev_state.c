/* The device that follows a model of latencies. */
#include <math.h>
#include <stdlib.h>

#include "dev_help.h"
#include "state/hmm/hmm.h"
#include "state/model/model.h"

enum { N = 20000 };

#define MIB (1u << 20)
#define TITAN WEIR_SOURCE_DIR "/examples/state/titan.json"

/* Seconds that requests of a size take, ten minutes apart. */
static void probe(double *ret, const char *yaml, uint64_t seed, uint64_t bytes, size_t n)
{
    struct help_dev h;

    help_dev_open(&h, yaml, seed);
    for (size_t i = 0; i < n; i++) {
        uint64_t t = i * 600000000000000u;

        ret[i] = (double)(help_ask(&h, t, 0, bytes, i % 2) - t) * 1e-12;
    }
    help_dev_close(&h);
}

/* In the long run as much below any latency as the model has there. */
static void probes_take_what_the_model_says(void **state)
{
    static double took[N];
    struct hmm_model m;
    struct wr_err err = {0};
    double share[HMM_STATES];

    (void)state;
    assert_true(state_model_read(&m, TITAN, &err));
    hmm_stationary(share, &m, 0);
    probe(took, "state", 3, MIB, N);
    for (double x = 0.003; x < 0.03; x *= 1.2) {
        double want = 0, got = 0;

        for (int s = 0; s < m.k; s++)
            want += share[s] * hmm_cdf(&m, s, log(x));
        for (size_t i = 0; i < N; i++)
            got += (took[i] < x) / (double)N;
        if (!(fabs(got - want) < 0.025))
            fail_msg("below %g s: %.4f, the model says %.4f", x, got, want);
    }
}

static void a_model_file_is_read(void **state)
{
    static double own[100], read[100];

    (void)state;
    probe(own, "state", 1, MIB, 100);
    probe(read, "{kind: state, model: " TITAN "}", 1, MIB, 100);
    assert_memory_equal(own, read, sizeof own);
}

/* The states come and go whoever asks for what. */
static void the_path_does_not_depend_on_sizes(void **state)
{
    static double one[1000], four[1000], fixed[1000];

    (void)state;
    probe(one, "state", 1, MIB, 1000);
    probe(four, "state", 1, 4 * MIB, 1000);
    probe(fixed, "{kind: state, overhead: 1 ms}", 1, MIB, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_true(fabs(four[i] / one[i] - 4) < 1e-6);
        assert_true(fabs(fixed[i] / one[i] - 1) < 1e-6); /* a probe's size takes what it takes */
    }
}

/* Requests that follow each other closely meet the same state: that is what makes it a state. */
static void neighbours_resemble_each_other(void **state)
{
    static double took[N];
    double alike = 0;
    struct help_dev h;

    (void)state;
    help_dev_open(&h, "state", 5);
    for (int i = 0; i < N; i++) {
        uint64_t t = (uint64_t)i * 60000000000000u;

        took[i] = (double)(help_ask(&h, t, 0, MIB, true) - t) * 1e-12;
    }
    help_dev_close(&h);
    for (int i = 1; i < N; i++)
        alike += ((took[i] < 0.005) == (took[i - 1] < 0.005)) / (double)(N - 1);
    if (!(alike > 0.93))
        fail_msg("only %.3f stay where they are", alike);
}

static void what_makes_no_device_is_said(void **state)
{
    static const struct {
        const char *yaml, *words;
    } bad[] = {
        {"{kind: state, model: nowhere.json}", "nowhere.json"},
        {"{kind: state, model: " WEIR_SOURCE_DIR "/examples/devices/shared-path.yaml}",
         "shared-path"},
        {"{kind: state, overhead: 10 ms}", "overhead"},
        {"{kind: state, probe: 0 B}", "probe"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct help_dev h;
        struct wr_err err = {0};

        assert_false(help_dev_try(&h, bad[i].yaml, 1, &err));
        if (!strstr(err.text, bad[i].words))
            fail_msg("%s: %s", bad[i].yaml, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_take_what_the_model_says),
        cmocka_unit_test(a_model_file_is_read),
        cmocka_unit_test(the_path_does_not_depend_on_sizes),
        cmocka_unit_test(neighbours_resemble_each_other),
        cmocka_unit_test(what_makes_no_device_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
