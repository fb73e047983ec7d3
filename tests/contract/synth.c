/* What every pattern, every injection process and every size distribution keeps to,
 * present and future. An entry of a table that has no case here is tested with its defaults. */
#include "synth_help.h"

#include "stat/moments.h"

enum { NODES = 64, MESSAGES = 400 };

struct test_case {
    const char *name, *yaml;
};

/* Those whose defaults alone do not make a pattern, and settings worth a case. */
static const struct test_case pattern_cases[] = {
    {"uniform", "{kind: uniform, self: true}"},
    {"group", "{kind: group, offset: 3}"},
    {"group", "{kind: group, offset: 5, size: 8}"},
    {"transpose", "{kind: transpose, rows: 4}"},
    {"transpose", "{kind: transpose, self: true}"},
    {"shift", "{kind: shift, n: 4000000001}"},
    {"hot-spot", "{kind: hot-spot, nodes: [3, 5, 5], fraction: 30 %}"},
    {"nearest", "{kind: nearest, grid: [4, 16]}"},
    {"nearest", "{kind: nearest, grid: [2, 1, 32], periodic: false, order: random}"},
    {"tornado", "{kind: tornado, grid: [8, 8]}"},
    {"permutation", "{kind: permutation, seed: 9, self: true}"},
    {"permutation-file",
     "{kind: permutation-file, file: " WEIR_SOURCE_DIR "/tests/data/permutation64.txt}"},
};

static const struct test_case inject_cases[] = {
    {"periodic", "{kind: periodic, phase: lockstep}"},
    {"bernoulli", "{kind: bernoulli, slot: 60 ns}"},
    {"on-off", "{kind: on-off, on: 1 us, off: 9 us}"},
    {"on-off", "{kind: on-off, on: 1 ms, off: 1 ns}"},
    {"on-off", "{kind: on-off, on: 1 ns, off: 100 ns}"},
};

static const struct test_case size_cases[] = {
    {"uniform", "{kind: uniform, min: 7 B, max: 7 B}"},
    {"bimodal", "{kind: bimodal, small: 8 B, large: 1 MiB, large_fraction: 1 %}"},
    {"list",
     "{kind: list, sizes: [{bytes: 8 B, weight: 5}, {bytes: 1 KiB}, {bytes: 1 GiB, weight: 0},"
     " {bytes: 100 B, weight: 2.5}]}"},
    {"lognormal", "{kind: lognormal, median: 1 KiB, sigma: 2, min: 64 B, max: 2 KiB}"},
    {"pareto", "{kind: pareto, min: 3 B, max: 1 KiB, shape: 1}"},
    {"pareto", "{kind: pareto, min: 1 B, max: 1 GiB, shape: 2.5}"},
};

#define ALL(cases) cases, sizeof cases / sizeof *cases

/* Calls `test` with the defaults of every kind (unless they need company) and with
 * every case, whose name must be in the table. */
static void for_all(const struct conf_kind *const *kinds, const struct test_case *cases, size_t n,
                    const char *const *not_alone, void (*test)(const char *yaml))
{
    for (size_t i = 0; i < n; i++) {
        bool known = false;

        for (size_t k = 0; kinds[k]; k++)
            known |= !strcmp(kinds[k]->name, cases[i].name);
        assert_true(known);
        test(cases[i].yaml);
    }
    for (size_t k = 0; kinds[k]; k++) {
        bool alone = true;

        for (const char *const *name = not_alone; *name; name++)
            alone &= strcmp(kinds[k]->name, *name) != 0;
        if (alone)
            test(kinds[k]->name);
    }
}

static const char *const patterns_not_alone[] = {"hot-spot", "nearest", "permutation-file", NULL};
static const char *const sizes_not_alone[] = {"list", NULL};
static const char *const files[] = {"permutation-file", NULL};
static const char *const none[] = {NULL};

static struct synth_pattern open_pattern(const struct loaded *l, const struct shape *s)
{
    struct synth_pattern p;
    struct wr_err err = {0};

    if (!synth_pattern_open(&p, &l->plug, &s->p, &err))
        fail_msg("%s", err.text);
    return p;
}

static void check_destinations(const char *yaml)
{
    struct loaded l = load(synth_pattern_kinds, yaml);
    struct shape shape = shape_of(NODES, 11);
    struct synth_pattern p = open_pattern(&l, &shape);
    bool self = strstr(yaml, "self: true") || strstr(yaml, "-file");
    uint64_t sent = 0;

    for (uint32_t node = 0; node < NODES; node++) {
        struct synth_source s;

        synth_source_init(&s, 11, node);
        for (uint64_t nth = 0; nth < MESSAGES; nth++) {
            uint32_t to = p.ops->dest(&p, node, &s.rng, nth);

            assert_true(to < NODES || to == SYNTH_SKIP);
            assert_true(self || to != node);
            sent += to != SYNTH_SKIP;
        }
    }
    assert_true(sent > NODES * MESSAGES / 2);
    synth_pattern_close(&p);
    assert_null(p.priv);
    conf_close(l.conf);
    free(shape.group);
}

static void every_pattern_answers_nodes_that_exist(void **state)
{
    (void)state;
    for_all(synth_pattern_kinds, ALL(pattern_cases), patterns_not_alone, check_destinations);
}

/* Two opened alike, one asked node by node, the other message by message from the
 * last node on: what a node sends does not depend on who is asked first. */
static void check_order(const char *yaml)
{
    struct loaded l = load(synth_pattern_kinds, yaml);
    struct shape shape = shape_of(NODES, 11);
    struct synth_pattern a = open_pattern(&l, &shape), b = open_pattern(&l, &shape);
    struct synth_source s[NODES];
    uint32_t *first = malloc(NODES * MESSAGES * sizeof *first);

    for (uint32_t node = 0; node < NODES; node++) {
        synth_source_init(&s[node], 11, node);
        for (uint64_t nth = 0; nth < MESSAGES; nth++)
            first[node * MESSAGES + nth] = a.ops->dest(&a, node, &s[node].rng, nth);
        synth_source_init(&s[node], 11, node);
    }
    for (uint64_t nth = 0; nth < MESSAGES; nth++)
        for (uint32_t node = NODES; node-- > 0;)
            assert_int_equal(b.ops->dest(&b, node, &s[node].rng, nth),
                             first[node * MESSAGES + nth]);
    free(first);
    synth_pattern_close(&a);
    synth_pattern_close(&b);
    conf_close(l.conf);
    free(shape.group);
}

static void every_pattern_is_the_same_in_any_order_of_asking(void **state)
{
    (void)state;
    for_all(synth_pattern_kinds, ALL(pattern_cases), patterns_not_alone, check_order);
}

/* One message more or less, on machines from one node on: an answer or a reason. */
static void check_sizes_of_machines(const char *yaml)
{
    for (uint32_t n = 1; n <= 40; n++) {
        struct loaded l = load(synth_pattern_kinds, yaml);
        struct shape shape = shape_of(n, 1);
        struct synth_pattern p = {.nnodes = 12345};
        struct synth_source s;
        struct wr_err err = {0};

        synth_source_init(&s, 1, n - 1);
        if (!synth_pattern_open(&p, &l.plug, &shape.p, &err)) {
            assert_int_equal(p.nnodes, 12345);
            assert_true(err.code == WR_INPUT && strlen(err.text) > 20);
            assert_true(strchr(err.text, ';') != NULL); /* what to do next */
        } else {
            uint32_t to = p.ops->dest(&p, n - 1, &s.rng, 0);

            assert_true(to < n || to == SYNTH_SKIP);
            synth_pattern_close(&p);
        }
        conf_close(l.conf);
        free(shape.group);
    }
}

static void every_pattern_takes_a_machine_or_says_what_would_do(void **state)
{
    (void)state;
    for_all(synth_pattern_kinds, ALL(pattern_cases), files, check_sizes_of_machines);
}

static struct synth_inject open_inject(const struct loaded *l, double mean_ps)
{
    struct synth_inject in;
    struct wr_err err = {0};

    if (!synth_inject_open(&in, &l->plug, mean_ps, 78125.5, &err))
        fail_msg("%s", err.text);
    return in;
}

/* Five standard errors: one false alarm in two million. */
static void assert_mean(const struct stat_moments *m, double want, const char *yaml)
{
    double slack = 5 * stat_moments_stddev(m) / sqrt((double)m->n) + 1e-9 * want;

    if (!(fabs(m->mean - want) <= slack))
        fail_msg("%s: mean %.9g, want %.9g +- %.3g", yaml, m->mean, want, slack);
}

static void check_rate(const char *yaml)
{
    static const double means[] = {100000.25, 333333 + 1.0 / 3, 7654321.9};

    for (size_t k = 0; k < 3; k++) {
        struct loaded l = load(synth_inject_kinds, yaml);
        struct synth_inject in = open_inject(&l, means[k]);
        struct stat_moments m = {0};
        struct synth_source s;

        synth_source_init(&s, 7, 3);
        in.ops->gap(&in, &s);
        for (s.nth = 1; s.nth <= 100000; s.nth++)
            stat_moments_add(&m, (double)in.ops->gap(&in, &s));
        assert_mean(&m, means[k], yaml);
        conf_close(l.conf);
    }
}

static void every_process_keeps_its_mean_gap(void **state)
{
    (void)state;
    for_all(synth_inject_kinds, ALL(inject_cases), none, check_rate);
}

/* Unless in lockstep, a process has no beginning: counted over many nodes, any
 * window holds its length over the mean gap, the first one, too. */
static void check_stationary(const char *yaml)
{
    struct loaded l = load(synth_inject_kinds, yaml);
    const double mean = 250000.75;
    struct synth_inject in = open_inject(&l, mean);
    struct stat_moments early = {0}, late = {0};

    for (uint32_t node = 0; node < 4000; node++) {
        double in_early = 0, in_late = 0;
        struct synth_source s;

        synth_source_init(&s, 5, node);
        for (double at = 0; at < 6 * mean; s.nth++) {
            at += (double)in.ops->gap(&in, &s);
            in_early += at < 1.3 * mean;
            in_late += at >= 4.7 * mean && at < 6 * mean;
        }
        stat_moments_add(&early, in_early);
        stat_moments_add(&late, in_late);
    }
    if (!strstr(yaml, "lockstep")) {
        assert_mean(&early, 1.3, yaml);
        assert_mean(&late, 1.3, yaml);
    }
    conf_close(l.conf);
}

static void every_process_is_steady_from_the_start(void **state)
{
    (void)state;
    for_all(synth_inject_kinds, ALL(inject_cases), none, check_stationary);
}

static void check_same_gaps(const char *yaml)
{
    struct loaded l = load(synth_inject_kinds, yaml);
    struct synth_inject in = open_inject(&l, 654321.5);
    struct synth_source a, b, c;
    int differ = 0;

    synth_source_init(&a, 7, 3);
    synth_source_init(&b, 7, 3);
    synth_source_init(&c, 8, 3);
    for (int i = 0; i < 1000; i++, a.nth++, b.nth++, c.nth++) {
        uint64_t gap = in.ops->gap(&in, &a);

        assert_int_equal(gap, in.ops->gap(&in, &b));
        differ += gap != in.ops->gap(&in, &c);
    }
    assert_true(differ > 0 || strstr(yaml, "periodic"));
    conf_close(l.conf);
}

static void every_process_repeats_with_its_seed(void **state)
{
    (void)state;
    for_all(synth_inject_kinds, ALL(inject_cases), none, check_same_gaps);
}

static void check_mean_size(const char *yaml)
{
    struct loaded l = load(synth_size_kinds, yaml);
    struct synth_size z;
    struct stat_moments m = {0};
    struct wr_rng rng;
    struct wr_err err = {0};

    if (!synth_size_open(&z, &l.plug, &err))
        fail_msg("%s", err.text);
    wr_rng_init(&rng, 3, 0, 0);
    for (int i = 0; i < 100000; i++) {
        uint64_t bytes = z.ops->draw(&z, &rng);

        assert_true(bytes >= 1 && bytes <= z.max);
        stat_moments_add(&m, (double)bytes);
    }
    assert_mean(&m, z.mean, yaml);
    synth_size_close(&z);
    conf_close(l.conf);
}

static void every_size_has_the_mean_it_claims(void **state)
{
    (void)state;
    for_all(synth_size_kinds, ALL(size_cases), sizes_not_alone, check_mean_size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern_answers_nodes_that_exist),
        cmocka_unit_test(every_pattern_is_the_same_in_any_order_of_asking),
        cmocka_unit_test(every_pattern_takes_a_machine_or_says_what_would_do),
        cmocka_unit_test(every_process_keeps_its_mean_gap),
        cmocka_unit_test(every_process_is_steady_from_the_start),
        cmocka_unit_test(every_process_repeats_with_its_seed),
        cmocka_unit_test(every_size_has_the_mean_it_claims),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
