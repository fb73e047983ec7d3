/* Synthetic traffic: each plug-in does what its name says. */
#include "synth_help.h"

#include "stat/moments.h"

static struct synth_pattern open_on(const struct loaded *l, const struct shape *s)
{
    struct synth_pattern p;
    struct wr_err err = {0};

    if (!synth_pattern_open(&p, &l->plug, &s->p, &err))
        fail_msg("%s", err.text);
    return p;
}

/* The destinations of the first `n` messages of node `src` on `nnodes` nodes, as words. */
static void assert_sends(const char *yaml, uint32_t nnodes, uint32_t src, const char *want)
{
    struct loaded l = load(synth_pattern_kinds, yaml);
    struct shape shape = shape_of(nnodes, 1);
    struct synth_pattern p = open_on(&l, &shape);
    struct synth_source s;
    struct wr_str got = {0};

    synth_source_init(&s, 1, src);
    for (size_t i = 0; got.n < strlen(want); i++) {
        uint32_t to = p.ops->dest(&p, src, &s.rng, i);

        if (to == SYNTH_SKIP)
            wr_str_addf(&got, "%s-", i ? " " : "");
        else
            wr_str_addf(&got, "%s%u", i ? " " : "", to);
    }
    if (strcmp(got.s, want) != 0)
        fail_msg("%s: node %u sends to %s instead of %s", yaml, src, got.s, want);
    wr_str_fini(&got);
    synth_pattern_close(&p);
    conf_close(l.conf);
    free(shape.group);
}

static void fixed_patterns_send_where_the_books_say(void **state)
{
    (void)state;
    assert_sends("bit-complement", 64, 5, "58 58");
    assert_sends("transpose", 16, 1, "4 4");
    assert_sends("transpose", 16, 5, "- -");
    assert_sends("{kind: transpose, self: true}", 16, 5, "5 5");
    assert_sends("{kind: transpose, rows: 3}", 12, 5, "4"); /* row 1, column 1 of 3 by 4 */
    assert_sends("{kind: shift, n: 5}", 12, 10, "3 3");
    assert_sends("tornado", 8, 1, "4");
    assert_sends("tornado", 9, 8, "3");
    assert_sends("{kind: tornado, grid: [4, 5]}", 20, 19, "4"); /* (3, 4) to (0, 1) */
    assert_sends("all-to-all", 5, 3, "4 0 1 2 4 0 1 2");
}

static void neighbours_are_one_step_away_in_each_direction(void **state)
{
    (void)state;
    /* Node 0 of a 3 by 4 by 2 grid: around the ends, and once only across the ring of two. */
    assert_sends("{kind: nearest, grid: [3, 4, 2]}", 24, 0, "2 1 9 3 12 2 1 9 3 12");
    assert_sends("{kind: nearest, grid: [3, 4, 2], periodic: false}", 24, 0, "1 3 12 1");
    assert_sends("{kind: nearest, grid: [3, 4, 2]}", 24, 16, "15 17 13 19 4 15");
    assert_sends("{kind: nearest, grid: [1, 6]}", 6, 5, "4 0 4");
}

/* How often node `src` sends to each of `nnodes`, of n messages. */
static uint32_t *count_sends(const char *yaml, uint32_t nnodes, uint32_t src, int n)
{
    struct loaded l = load(synth_pattern_kinds, yaml);
    struct shape shape = shape_of(nnodes, 1);
    struct synth_pattern p = open_on(&l, &shape);
    uint32_t *count = calloc(nnodes, sizeof *count);
    struct synth_source s;

    synth_source_init(&s, 1, src);
    for (int i = 0; i < n; i++)
        count[p.ops->dest(&p, src, &s.rng, (uint64_t)i)]++;
    synth_pattern_close(&p);
    conf_close(l.conf);
    free(shape.group);
    return count;
}

static void uniform_traffic_is_even_over_all_others(void **state)
{
    (void)state;
    uint32_t *without = count_sends("uniform", 8, 3, 70000);
    uint32_t *with = count_sends("{kind: uniform, self: true}", 8, 3, 80000);

    for (uint32_t i = 0; i < 8; i++) { /* 10000 each, with a deviation below 100 */
        assert_in_range(without[i], i == 3 ? 0 : 9500, i == 3 ? 0 : 10500);
        assert_in_range(with[i], 9500, 10500);
    }
    free(without);
    free(with);
}

static void group_traffic_goes_evenly_to_one_other_group(void **state)
{
    (void)state;
    uint32_t *topo = count_sends("{kind: group, offset: 2}", 16, 13, 40000); /* group 3 to 1 */
    uint32_t *sized = count_sends("{kind: group, size: 8}", 16, 13, 80000);

    for (uint32_t i = 0; i < 16; i++) {
        assert_in_range(topo[i], i / 4 == 1 ? 9500 : 0, i / 4 == 1 ? 10500 : 0);
        assert_in_range(sized[i], i < 8 ? 9500 : 0, i < 8 ? 10500 : 0);
    }
    free(topo);
    free(sized);
}

static void groups_without_nodes_are_passed_over(void **state)
{
    (void)state;
    struct loaded l = load(synth_pattern_kinds, "group");
    uint32_t group[] = {0, 0, 2, 2, 5, 5};
    struct shape shape = {.p = {.nnodes = 6, .ngroups = 7, .group = group}};
    struct synth_pattern p = open_on(&l, &shape);
    struct synth_source s;

    synth_source_init(&s, 1, 0);
    for (int i = 0; i < 50; i++) {
        assert_in_range(p.ops->dest(&p, 1, &s.rng, 0), 2, 3);
        assert_in_range(p.ops->dest(&p, 3, &s.rng, 0), 4, 5);
        assert_in_range(p.ops->dest(&p, 4, &s.rng, 0), 0, 1);
    }
    synth_pattern_close(&p);
    conf_close(l.conf);
}

static void hot_nodes_get_their_fraction_and_their_share_of_the_rest(void **state)
{
    (void)state;
    const char *yaml = "{kind: hot-spot, nodes: [0, 1], fraction: 50 %}";
    uint32_t *cold = count_sends(yaml, 11, 5, 100000); /* 25 % each and a tenth of the rest */
    uint32_t *hot = count_sends(yaml, 11, 0, 100000);  /* its own quarter goes to anybody else */

    assert_in_range(cold[0], 29300, 30700);
    assert_in_range(cold[7], 4650, 5350);
    assert_int_equal(cold[5], 0);
    assert_int_equal(hot[0], 0);
    assert_in_range(hot[1], 31800, 33200); /* 25 % and a tenth of 75 % */
    free(cold);
    free(hot);
}

static void permutations_name_every_node_once_and_follow_their_seed(void **state)
{
    (void)state;
    enum { N = 1000 };
    uint32_t to[3][N];
    static const struct {
        const char *yaml;
        uint64_t seed;
    } runs[] = {{"permutation", 5}, {"{kind: permutation, seed: 5}", 77}, {"permutation", 6}};

    for (int k = 0; k < 3; k++) {
        struct loaded l = load(synth_pattern_kinds, runs[k].yaml);
        struct shape shape = shape_of(N, runs[k].seed);
        struct synth_pattern p = open_on(&l, &shape);
        bool seen[N] = {false};

        for (uint32_t i = 0; i < N; i++) {
            to[k][i] = p.ops->dest(&p, i, NULL, 0);
            assert_true(to[k][i] < N && to[k][i] != i && !seen[to[k][i]]);
            seen[to[k][i]] = true;
        }
        synth_pattern_close(&p);
        conf_close(l.conf);
        free(shape.group);
    }
    assert_memory_equal(to[0], to[1], sizeof to[0]);
    assert_memory_not_equal(to[0], to[2], sizeof to[0]);
}

static void what_does_not_fit_is_refused_with_what_would(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        uint32_t nnodes;
        const char *words;
    } cases[] = {
        {"uniform", 1, "add nodes or set self: true"},
        {"bit-complement", 1056, "needs a power of two of nodes and the machine has 1056"},
        {"transpose", 1056, "set rows to a number that divides them"},
        {"{kind: transpose, rows: 7}", 1056, "do not fill 7 rows"},
        {"{kind: transpose, rows: 1}", 12, "set rows between 2 and 6"},
        {"{kind: shift, n: 24}", 12, "back to its source"},
        {"{kind: group, offset: 6}", 24, "use 1 to 5"},
        {"group", 4, "set size to cut it in more"},
        {"{kind: group, size: 5}", 24, "choose a size that divides them"},
        {"hot-spot", 4, "give for example nodes: [0]"},
        {"{kind: hot-spot, nodes: [4]}", 4, "nodes are numbered 0 to 3"},
        {"nearest", 1056, "use grid: [8, 11, 12]"},
        {"{kind: nearest, grid: [4, 5]}", 24, "use grid: [2, 3, 4]"},
        {"{kind: nearest, grid: [65536, 65536, 65536, 1]}", 24, "does not hold"},
        {"{kind: nearest, grid: [24, 0]}", 24, "extent 2 of the grid is 0"},
        {"{kind: nearest, grid: [24, 1, 1, 1, 1, 1, 1, 1, 1]}", 24, "use at most 8"},
        {"{kind: tornado, grid: [2, 2]}", 4, "more than two"},
        {"{kind: permutation-file, file: /nonexistent/file}", 4, "cannot read /nonexistent/file"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct loaded l = load(synth_pattern_kinds, cases[i].yaml);
        struct shape shape = shape_of(cases[i].nnodes, 1);
        struct synth_pattern p = {.nnodes = 7};
        struct wr_err err = {0};

        assert_false(synth_pattern_open(&p, &l.plug, &shape.p, &err));
        if (!strstr(err.text, cases[i].words))
            fail_msg("%s: %s", cases[i].yaml, err.text);
        assert_int_equal(p.nnodes, 7);
        conf_close(l.conf);
        free(shape.group);
    }
}

static struct synth_inject open_inject(const struct loaded *l, double mean_ps, double slot_ps)
{
    struct synth_inject in;
    struct wr_err err = {0};

    if (!synth_inject_open(&in, &l->plug, mean_ps, slot_ps, &err))
        fail_msg("%s", err.text);
    return in;
}

static void periodic_messages_never_drift_from_a_fractional_gap(void **state)
{
    (void)state;
    struct loaded l = load(synth_inject_kinds, "{kind: periodic, phase: lockstep}");
    struct synth_inject in = open_inject(&l, 1000 + 1.0 / 3, 100);
    struct synth_source s;
    uint64_t at = 0;

    synth_source_init(&s, 1, 0);
    assert_int_equal(in.ops->gap(&in, &s), 0);
    for (s.nth = 1; s.nth <= 3000000; s.nth++)
        at += in.ops->gap(&in, &s);
    assert_in_range(at, 3000999999, 3001000000);
    conf_close(l.conf);
}

static void bernoulli_messages_start_slots_and_lockstep_aligns_them(void **state)
{
    (void)state;
    struct loaded l = load(synth_inject_kinds, "{kind: bernoulli, phase: lockstep, slot: 2 ns}");
    struct synth_inject in = open_inject(&l, 8000, 500);
    uint64_t at[2] = {0, 0};
    int first_slot = 0;

    for (uint32_t node = 0; node < 2000; node++) {
        struct synth_source s;

        synth_source_init(&s, 1, node);
        at[0] = in.ops->gap(&in, &s);
        s.nth++;
        at[1] = in.ops->gap(&in, &s);
        assert_true(at[0] % 2000 == 0 && at[1] % 2000 == 0 && at[1] >= 2000);
        first_slot += at[0] == 0;
    }
    assert_in_range(first_slot, 400, 600); /* a quarter of the slots, the first, too */
    conf_close(l.conf);
}

/* Kuczura's moments: with l messages per time while on, the squared coefficient
 * of variation of a gap is 1 + 2 l a / (a + w)^2. */
static void bursts_vary_as_an_interrupted_poisson_process(void **state)
{
    (void)state;
    struct loaded l = load(synth_inject_kinds, "{kind: on-off, on: 20 us, off: 60 us}");
    double mean = 8e6, on = 20e6, off = 60e6;
    struct synth_inject in = open_inject(&l, mean, 100);
    double rate = (on + off) / on / mean, sum = 1 / on + 1 / off;
    double want = 1 + 2 * rate / on / (sum * sum);
    struct stat_moments m = {0};
    struct synth_source s;

    synth_source_init(&s, 1, 0);
    for (s.nth = 1; s.nth <= 400000; s.nth++)
        stat_moments_add(&m, (double)in.ops->gap(&in, &s));
    double scv = stat_moments_variance(&m) / (m.mean * m.mean);
    assert_true(want > 5 && fabs(scv / want - 1) < 0.05);
    conf_close(l.conf);
}

static void rates_that_no_process_has_are_refused(void **state)
{
    (void)state;
    struct loaded b = load(synth_inject_kinds, "bernoulli"),
                  p = load(synth_inject_kinds, "poisson");
    struct synth_inject in = {.mean_ps = 42};
    struct wr_err err = {0};

    assert_false(synth_inject_open(&in, &b.plug, 999, 1000, &err));
    assert_non_null(strstr(err.text, "lower the load"));
    assert_false(synth_inject_open(&in, &p.plug, 0.5, 1000, &err));
    assert_false(synth_inject_open(&in, &p.plug, INFINITY, 1000, &err));
    assert_false(synth_inject_open(&in, &p.plug, NAN, 1000, &err));
    assert_non_null(strstr(err.text, "change the load"));
    assert_false(synth_inject_open(&in, &p.plug, 1000, NAN, &err));
    assert_true(in.mean_ps == 42);
    assert_true(synth_inject_open(&in, &b.plug, 1000, 1000, &err));
    conf_close(b.conf);
    conf_close(p.conf);
}

static void sizes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *words;
    } cases[] = {
        {"{kind: uniform, min: 9 B, max: 8 B}", "swap them"},
        {"{kind: bimodal, small: 9 B, large: 8 B}", "swap them"},
        {"list", "no size has a weight"},
        {"{kind: list, sizes: [{bytes: 8 B, weight: 0}]}", "no size has a weight"},
        {"{kind: lognormal, median: 1 B, sigma: 0.1, min: 1 KiB}", "widen min and max"},
        {"{kind: lognormal, min: 2 KiB, max: 1 KiB}", "swap them"},
        {"{kind: pareto, min: 8 B, max: 8 B}", "use constant"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct loaded l = load(synth_size_kinds, cases[i].yaml);
        struct synth_size z = {.mean = 42};
        struct wr_err err = {0};

        assert_false(synth_size_open(&z, &l.plug, &err));
        if (!strstr(err.text, cases[i].words))
            fail_msg("%s: %s", cases[i].yaml, err.text);
        assert_true(z.mean == 42);
        conf_close(l.conf);
    }
}

static void sizes_of_a_list_come_as_often_as_their_weights_say(void **state)
{
    (void)state;
    struct loaded l = load(synth_size_kinds,
                           "{kind: list, sizes: [{bytes: 1 B, weight: 6}, {bytes: 2 B, weight: 1},"
                           " {bytes: 3 B, weight: 0}, {bytes: 4 B, weight: 3}]}");
    struct synth_size z;
    struct wr_rng rng;
    struct wr_err err = {0};
    uint32_t count[5] = {0};

    assert_true(synth_size_open(&z, &l.plug, &err));
    wr_rng_init(&rng, 1, 2, 3);
    for (int i = 0; i < 100000; i++)
        count[z.ops->draw(&z, &rng)]++;
    assert_in_range(count[1], 59200, 60800);
    assert_in_range(count[2], 9500, 10500);
    assert_int_equal(count[3], 0);
    assert_in_range(count[4], 29300, 30700);
    synth_size_close(&z);
    conf_close(l.conf);
}

static void a_load_of_a_fifth_of_a_link_gives_the_gap_of_five_packet_times(void **state)
{
    (void)state;
    double rate = 16 * 0x1p30;

    assert_true(fabs(synth_mean_gap_ps(0.2, 4096, rate) - 5 * 4096 / rate * 1e12) < 1e-3);
}

static void a_message_is_a_gap_a_size_and_a_destination(void **state)
{
    (void)state;
    struct loaded p = load(synth_pattern_kinds, "all-to-all");
    struct loaded i = load(synth_inject_kinds, "{kind: periodic, phase: lockstep}");
    struct loaded z = load(synth_size_kinds, "{kind: constant, bytes: 8 KiB}");
    struct shape shape = shape_of(4, 1);
    struct synth_traffic t = {.pattern = open_on(&p, &shape), .inject = open_inject(&i, 50, 5)};
    struct wr_err err = {0};
    static const uint32_t want[] = {3, 0, 1, 3};
    struct synth_source s;

    assert_true(synth_size_open(&t.size, &z.plug, &err));
    synth_source_init(&s, 1, 2);
    for (uint32_t nth = 0; nth < 4; nth++) {
        struct synth_msg m = synth_next(&t, &s, 2);

        assert_int_equal(m.gap_ps, nth ? 50 : 0);
        assert_int_equal(m.bytes, 8192);
        assert_int_equal(m.dest, want[nth]);
    }
    assert_int_equal(sizeof s, 64); /* a cache line: a million nodes need 64 MB */
    synth_pattern_close(&t.pattern);
    synth_size_close(&t.size);
    conf_close(p.conf);
    conf_close(i.conf);
    conf_close(z.conf);
    free(shape.group);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_patterns_send_where_the_books_say),
        cmocka_unit_test(neighbours_are_one_step_away_in_each_direction),
        cmocka_unit_test(uniform_traffic_is_even_over_all_others),
        cmocka_unit_test(group_traffic_goes_evenly_to_one_other_group),
        cmocka_unit_test(groups_without_nodes_are_passed_over),
        cmocka_unit_test(hot_nodes_get_their_fraction_and_their_share_of_the_rest),
        cmocka_unit_test(permutations_name_every_node_once_and_follow_their_seed),
        cmocka_unit_test(what_does_not_fit_is_refused_with_what_would),
        cmocka_unit_test(periodic_messages_never_drift_from_a_fractional_gap),
        cmocka_unit_test(bernoulli_messages_start_slots_and_lockstep_aligns_them),
        cmocka_unit_test(bursts_vary_as_an_interrupted_poisson_process),
        cmocka_unit_test(rates_that_no_process_has_are_refused),
        cmocka_unit_test(sizes_that_do_not_fit_are_refused),
        cmocka_unit_test(sizes_of_a_list_come_as_often_as_their_weights_say),
        cmocka_unit_test(a_load_of_a_fifth_of_a_link_gives_the_gap_of_five_packet_times),
        cmocka_unit_test(a_message_is_a_gap_a_size_and_a_destination),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
