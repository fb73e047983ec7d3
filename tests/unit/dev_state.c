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

/* The states come and go whatever is requested. */
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

/* Seconds of one request at time 0 by a fresh device, and whether its time is assumed. */
static double first(const char *yaml, uint64_t bytes, bool write, bool *ret_assumed)
{
    struct help_dev h;
    struct wr_str why = {0};

    help_dev_open(&h, yaml, 7);
    double took = (double)help_ask(&h, 0, 0, bytes, write) * 1e-12;

    *ret_assumed = h.dev.assumed > 0;
    dev_assumption(&h.dev, &why);
    assert_int_equal(why.n > 0, *ret_assumed);
    wr_str_fini(&why);
    help_dev_close(&h);
    return took;
}

/* Model files of the test: in the directory of the build. */
static const char *model(const char *name, const char *keys)
{
    static char path[64];
    FILE *f;

    snprintf(path, sizeof path, "test-%s.json", name);
    f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "{\"meanlog\": [-5], \"sdlog\": [0.001], \"Q\": [[0]]%s}\n", keys);
    fclose(f);
    return path;
}

static void a_small_request_takes_no_less_than_a_probe_unless_probes_say_so(void **state)
{
    static const struct {
        const char *keys, *yaml;
        uint64_t bytes;
        bool write;
        double times; /* as long as a probe */
        bool assumed;
    } is[] = {
        {", \"probe_bytes\": 1048576", "", MIB, true, 1, false},
        {", \"probe_bytes\": 1048576", "", 4096, true, 1, true},
        {", \"probe_bytes\": 1048576", "", 2 * MIB, true, 2, true},
        {", \"probe_bytes\": 65536", "", MIB, true, 16, true},
        {"", "", MIB, true, 1, true}, /* the model does not know its probes */
        {"", ", probe: 1 MiB", MIB, true, 1, false},
        {", \"probe_bytes\": 1048576", ", scaling: bound", 4096, true, 1, false},
        {", \"probe_bytes\": 1048576", ", scaling: overhead", 524288, true, 0.5, false},
        {", \"probe_bytes\": 1048576, \"fixed_share\": 0.25, \"probe_sizes\": [4096, 1048576]", "",
         524288, true, 0.625, false},
        {", \"probe_bytes\": 1048576, \"fixed_share\": 0.25, \"probe_sizes\": [4096, 1048576]", "",
         4 * MIB, true, 3.25, true}, /* larger than any probe */
        {", \"probe_bytes\": 1048576, \"probe_op\": \"write\"", "", MIB, false, 1, true},
        {", \"probe_bytes\": 1048576, \"probe_op\": \"read\"", "", MIB, false, 1, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof is / sizeof is[0]; i++) {
        char yaml[128];
        bool assumed;

        snprintf(yaml, sizeof yaml, "{kind: state, model: %s%s}", model("scale", is[i].keys),
                 is[i].yaml);
        double times = first(yaml, is[i].bytes, is[i].write, &assumed) / exp(-5);

        if (fabs(times / is[i].times - 1) > 0.01 || assumed != is[i].assumed)
            fail_msg("case %zu: %g times a probe, assumed %d", i, times, assumed);
    }
    remove("test-scale.json");
}

/* The states that a device of a number meets, asked every `step_s` seconds: 1 where it is slow. */
static void walk(const char *yaml, uint32_t entity, double step_s, uint8_t *slow, size_t n)
{
    struct help_dev h;
    struct wr_err err;
    struct dev d;

    help_dev_open(&h, yaml, 11);
    assert_true(dev_open(&d, &h.set.device, 11, entity, &err));
    for (size_t i = 0; i < n; i++) {
        uint64_t t = (uint64_t)((double)i * step_s * 1e12);
        struct dev_req r = {.t_ps = t, .bytes = MIB, .write = true};

        slow[i] = (double)(dev_submit(&d, &r) - t) * 1e-12 > 0.1;
    }
    dev_close(&d);
    help_dev_close(&h);
}

static void paths_are_each_devices_own_or_shared_and_do_not_depend_on_who_asks(void **state)
{
    enum { STEPS = 400 };
    uint8_t a[STEPS], b[STEPS], often[10 * STEPS];
    size_t differ = 0;
    FILE *f = fopen("test-two.json", "w");

    (void)state;
    fputs("{\"meanlog\": [-6, 0], \"sdlog\": [0.1, 0.1], \"Q\": [[-0.01, 0.01], [0.01, -0.01]], "
          "\"probe_bytes\": 1048576}\n",
          f);
    fclose(f);
    walk("{kind: state, model: test-two.json}", 0, 30, a, STEPS);
    walk("{kind: state, model: test-two.json}", 1, 30, b, STEPS);
    for (int i = 0; i < STEPS; i++)
        differ += a[i] != b[i];
    assert_true(differ > STEPS / 4);
    walk("{kind: state, model: test-two.json}", 0, 3, often, 10 * STEPS);
    for (int i = 0; i < STEPS; i++)
        assert_int_equal(often[10 * i], a[i]);
    walk("{kind: state, model: test-two.json, path: shared}", 0, 30, a, STEPS);
    walk("{kind: state, model: test-two.json, path: shared}", 5, 30, b, STEPS);
    assert_memory_equal(a, b, sizeof a);
    remove("test-two.json");
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
        cmocka_unit_test(a_small_request_takes_no_less_than_a_probe_unless_probes_say_so),
        cmocka_unit_test(paths_are_each_devices_own_or_shared_and_do_not_depend_on_who_asks),
        cmocka_unit_test(what_makes_no_device_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
