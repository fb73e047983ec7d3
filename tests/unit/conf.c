/* What rows make of text: values, defaults, includes, overrides, origins, dumps. */
#include <sys/stat.h>

#include "unit/conf_help.h"

static const struct link *link_at(const struct toy *t, size_t i)
{
    return (const struct link *)t->machine.links.items + i;
}

static const struct job *job_at(const struct toy *t, size_t i)
{
    return (const struct job *)t->jobs.items + i;
}

static void an_empty_file_gives_every_default(void **state)
{
    struct toy t;
    struct conf *c = load(&t, "# nothing\n", NO_SETS);
    const struct dragonfly *d = t.machine.topology.params;

    (void)state;
    assert_int_equal(t.seed, 1);
    assert_null(t.title);
    assert_ptr_equal(t.machine.topology.kind, &kind_dragonfly);
    assert_int_equal(d->groups, 33);
    assert_true(d->taper == 0.5);
    assert_int_equal(t.machine.links.n, 1);
    assert_string_equal(link_at(&t, 0)->key.name, "local");
    assert_true(link_at(&t, 0)->bandwidth == 5.25 * (1 << 30));
    assert_true(link_at(&t, 0)->latency == 10e3);
    assert_true(t.machine.router.delay == 100e3);
    assert_true(t.machine.router.gain == -1.5e-3);
    assert_int_equal(t.jobs.n, 1);
    assert_string_equal(job_at(&t, 0)->name, "only");
    assert_null(job_at(&t, 0)->where.kind);
    assert_int_equal(t.sizes.n, 0);
    assert_string_equal(conf_origin(c, &t.seed), "default");
    conf_close(c);
}

static const char everything[] = "seed: 18446744073709551615\n"
                                 "title: 'a: b # \"c\"'\n"
                                 "machine:\n"
                                 "  topology: {kind: torus, dims: [8, 4], wrap: no}\n"
                                 "  links:\n"
                                 "    local: {bandwidth: 200 Gbit/s, latency: 726.609003 ns}\n"
                                 "    far away:\n"
                                 "      bandwidth: 4.7 GiB/s\n"
                                 "      buffer: 166666666 B\n"
                                 "  router: {delay: 1 us, gain: 0.25, cut_through: on}\n"
                                 "jobs:\n"
                                 "  - name: a\n"
                                 "    trace: traces/x.txt\n"
                                 "  - {name: b, ranks: 1e3, order: random, where: torus}\n"
                                 "sizes: [4 KiB, 1 MB]\n"
                                 "places: [single, {kind: torus, dims: [2]}]\n"
                                 "fault: {at: 5}\n";

static void every_type_is_read_as_its_row_says(void **state)
{
    struct toy t;
    struct conf *c = load(&t, everything, NO_SETS);
    const struct torus *torus = t.machine.topology.params;
    const struct conf_plugin *places = t.places.items;

    (void)state;
    assert_true(t.seed == UINT64_MAX);
    assert_string_equal(t.title, "a: b # \"c\"");
    assert_int_equal(torus->dims.n, 2);
    assert_int_equal(((uint32_t *)torus->dims.items)[0], 8);
    assert_int_equal(((uint32_t *)torus->dims.items)[1], 4);
    assert_false(torus->wrap);
    assert_int_equal(torus->routers, 1);
    assert_int_equal(t.machine.links.n, 2);
    assert_true(link_at(&t, 0)->bandwidth == 25e9);
    assert_true(link_at(&t, 0)->latency == 726609.003);
    assert_string_equal(link_at(&t, 1)->key.name, "far away");
    assert_true(link_at(&t, 1)->buffer == 166666666);
    assert_true(t.machine.router.cut_through);
    assert_true(t.machine.router.gain == 0.25);
    assert_int_equal(t.jobs.n, 2);
    assert_string_equal(job_at(&t, 0)->trace, "traces/x.txt");
    assert_int_equal(job_at(&t, 1)->ranks, 1000);
    assert_int_equal(job_at(&t, 1)->order, 1);
    assert_ptr_equal(job_at(&t, 1)->where.kind, &kind_torus);
    assert_int_equal(((uint64_t *)t.sizes.items)[1], 1000000);
    assert_ptr_equal(places[0].kind, &kind_single);
    assert_int_equal(((const struct torus *)places[1].params)->dims.n, 1);
    assert_int_equal(t.fault.at, 5);
    assert_true(t.fault.share == 0.1);
    conf_close(c);
}

static void utf8_crlf_aliases_and_a_bom_are_fine(void **state)
{
    struct toy t;
    struct conf *c = load(&t,
                          "\xef\xbb\xbftitle: gr\u00fc\u00df\r\n"
                          "machine:\r\n"
                          "  links:\r\n"
                          "    a: &x {bandwidth: 1 GB/s}\r\n"
                          "    b: *x\r\n",
                          SETS("machine.links.b.latency=1ns"));

    (void)state;
    assert_string_equal(t.title, "gr\u00fc\u00df");
    assert_true(link_at(&t, 1)->bandwidth == 1e9);
    /* An alias is a copy: what is set in one does not show in the other. */
    assert_true(link_at(&t, 0)->latency == 10e3);
    assert_true(link_at(&t, 1)->latency == 1e3);
    conf_close(c);
}

static void a_key_with_nothing_after_it_is_an_empty_section(void **state)
{
    struct toy t;
    struct conf *c = load(&t, "machine:\n  router:\n  links:\nsizes:\n", NO_SETS);

    (void)state;
    assert_true(t.machine.router.delay == 100e3);
    assert_int_equal(t.machine.links.n, 0);
    assert_int_equal(t.sizes.n, 0);
    conf_close(c);
}

static void origins_name_the_place_of_every_value(void **state)
{
    struct toy t;
    struct conf *c = load(&t, everything, SETS("jobs.1.ranks=7", "machine.router.delay=2us"));
    const struct torus *torus = t.machine.topology.params;
    struct wr_err err = {0};

    (void)state;
    assert_string_equal(conf_origin(c, &t.seed), "toy.yaml:1:7");
    assert_string_equal(conf_origin(c, &t.machine.topology), "toy.yaml:4:20");
    assert_string_equal(conf_origin(c, &torus->dims), "toy.yaml:4:33");
    assert_string_equal(conf_origin(c, torus->dims.items), "toy.yaml:4:34");
    assert_string_equal(conf_origin(c, &torus->routers), "default");
    assert_string_equal(conf_origin(c, &link_at(&t, 1)->buffer), "toy.yaml:9:15");
    assert_string_equal(conf_origin(c, &link_at(&t, 1)->latency), "default");
    assert_string_equal(conf_origin(c, &job_at(&t, 1)->ranks), "--set jobs.1.ranks");
    assert_string_equal(conf_origin(c, &t.machine.router.delay), "--set machine.router.delay");
    assert_string_equal(conf_origin(c, &c), "default");

    assert_false(conf_fail(c, &link_at(&t, 1)->buffer, &err, "%d is odd", 3));
    assert_string_equal(err.text, "toy.yaml:9:15: machine.links.far away.buffer: 3 is odd");
    assert_int_equal(err.code, WR_INPUT);
    conf_fail(c, (uint32_t *)torus->dims.items + 1, &err, "no");
    assert_string_equal(err.text, "toy.yaml:4:37: machine.topology.dims.1: no");
    conf_fail(c, &t.machine.topology, &err, "no");
    assert_string_equal(err.text, "toy.yaml:4:20: machine.topology: no");
    conf_fail(c, &job_at(&t, 1)->ranks, &err, "no");
    assert_string_equal(err.text, "--set jobs.1.ranks=7: jobs.1.ranks: no");
    conf_fail(c, &torus->routers, &err, "no");
    assert_string_equal(err.text, "machine.topology.routers (its default): no");
    conf_fail(c, &job_at(&t, 1)->trace, &err, "no");
    assert_string_equal(err.text, "jobs.1.trace (not given): no");
    conf_close(c);
}

static void an_override_reaches_everywhere(void **state)
{
    struct toy t;
    struct conf *c =
        load(&t, "machine: {topology: dragonfly}\njobs: [{name: a}]\n",
             SETS("machine.topology.groups=9", "machine.links.local.bandwidth=1GB/s",
                  "machine.links.new={bandwidth: 2 GB/s, latency: 1 ns}", "jobs.0.name=b",
                  "jobs.1={name: c}", "jobs.1.where.kind=torus", "jobs.1.where.dims=[3, 3, 3]",
                  "jobs.1.where.dims.2=5", "sizes=[1 kB, 2 kB]", "sizes.0=3kB", "places.0=torus",
                  "places.0.dims=[7]", "fault={at: 1}", "title='x=y'"));
    const struct dragonfly *d = t.machine.topology.params;
    const struct torus *where = job_at(&t, 1)->where.params;
    const struct conf_plugin *place = t.places.items;

    (void)state;
    assert_int_equal(d->groups, 9);
    assert_int_equal(t.machine.links.n, 2);
    assert_true(link_at(&t, 0)->bandwidth == 1e9);
    assert_true(link_at(&t, 1)->latency == 1e3);
    assert_string_equal(job_at(&t, 0)->name, "b");
    assert_string_equal(job_at(&t, 1)->name, "c");
    assert_int_equal(((uint32_t *)where->dims.items)[2], 5);
    assert_int_equal(((uint64_t *)t.sizes.items)[0], 3000);
    assert_int_equal(((uint64_t *)t.sizes.items)[1], 2000);
    assert_int_equal(((uint32_t *)((struct torus *)place->params)->dims.items)[0], 7);
    assert_int_equal(t.fault.at, 1);
    assert_string_equal(t.title, "x=y");
    conf_close(c);
}

static void overrides_alone_make_a_configuration(void **state)
{
    const char *const sets[] = {"seed=5", "jobs.0.ranks=2"};
    struct toy t = {0};
    struct conf *c;
    struct wr_err err = {0};

    (void)state;
    assert_true(conf_load(&c, &t, toy_rows, NULL, sets, 2, &err));
    assert_int_equal(t.seed, 5);
    assert_string_equal(job_at(&t, 0)->name, "only");
    assert_int_equal(job_at(&t, 0)->ranks, 2);
    conf_close(c);
}

static const char three_jobs[] = "jobs:\n"
                                 "  - {name: a, ranks: 1}\n"
                                 "  - {name: b, ranks: 2}\n"
                                 "  - {name: c, ranks: 3}\n";

static void a_star_reaches_every_item_and_a_name_one(void **state)
{
    struct toy t;
    struct conf *c = load(&t, three_jobs, SETS("jobs.*.ranks=7", "jobs.b.ranks=9"));

    (void)state;
    assert_int_equal(t.jobs.n, 3);
    assert_int_equal(job_at(&t, 0)->ranks, 7);
    assert_int_equal(job_at(&t, 1)->ranks, 9);
    assert_int_equal(job_at(&t, 2)->ranks, 7);
    conf_close(c);
}

/* As a study does: what one configuration says about another. */
static void an_override_that_stands_in_a_file_has_its_place(void **state)
{
    struct toy here, there = {0};
    struct conf *from = load(&here, "seed: 3\ntitle: seed=x\n", NO_SETS), *c;
    struct wr_err err = {0};
    struct conf_override over = {.text = here.title, .in = from, .field = &here.title};

    (void)state;
    assert_false(conf_load_over(&c, &there, toy_rows, NULL, &over, 1, &err));
    assert_non_null(strstr(err.text, "toy.yaml:2:8: seed: \"x\""));
    over.text = "seed=4";
    assert_true(conf_load_over(&c, &there, toy_rows, NULL, &over, 1, &err));
    assert_string_equal(conf_origin(c, &there.seed), "toy.yaml:2:8");
    conf_close(c);
    conf_close(from);
}

static void a_part_is_dumped_as_a_configuration_of_its_own(void **state)
{
    struct toy t;
    struct conf *c = load(&t, "machine: {router: {delay: 5 ns}}\n", NO_SETS);
    struct wr_str all = {0}, part = {0};

    (void)state;
    conf_dump(c, &all, false);
    conf_dump_part(c, "machine", &part);
    assert_non_null(strstr(all.s, "\nmachine:\n  "));
    assert_non_null(strstr(part.s, "router:\n  delay: 5 ns\n"));
    assert_null(strstr(part.s, "machine:"));
    assert_null(strstr(part.s, "seed:"));
    wr_str_fini(&all);
    wr_str_fini(&part);
    conf_close(c);
}

static const char torus_file[] = "machine:\n"
                                 "  topology: {kind: torus, dims: [8, 4], routers: 3}\n";

static void another_kind_leaves_the_old_parameters_behind(void **state)
{
    struct toy t;
    struct conf *c = load(&t, torus_file, SETS("machine.topology.kind=dragonfly"));
    const struct dragonfly *d = t.machine.topology.params;
    const char *const *left;

    (void)state;
    assert_ptr_equal(t.machine.topology.kind, &kind_dragonfly);
    assert_int_equal(d->groups, 33);
    /* Both kinds know `routers`: what the file says still holds. */
    assert_int_equal(d->routers, 3);
    assert_int_equal(conf_left_out(c, &left), 1);
    assert_string_equal(left[0], "dims (toy.yaml:2:27) by --set machine.topology.kind=dragonfly");
    conf_close(c);

    /* In whichever order the new kind and its parameters are set. */
    c = load(&t, torus_file, SETS("machine.topology.groups=5", "machine.topology.kind=dragonfly"));
    d = t.machine.topology.params;
    assert_int_equal(d->groups, 5);
    conf_close(c);

    /* As a whole, nothing of the old one stays. */
    c = load(&t, torus_file, SETS("machine.topology=dragonfly"));
    d = t.machine.topology.params;
    assert_int_equal(d->routers, 32);
    conf_close(c);

    unknown(torus_file, SETS("machine.topology.kind=dragonfly", "machine.topology.dims=[2]"),
            "--set machine.topology.dims=[2]: machine.topology: unknown key \"dims\"; keys here: "
            "kind, groups, routers, taper");
}

static void a_kind_may_be_left_out_where_there_is_a_default(void **state)
{
    struct toy t;
    struct conf *c = load(&t, "machine: {topology: {groups: 5}}", NO_SETS);

    (void)state;
    assert_ptr_equal(t.machine.topology.kind, &kind_dragonfly);
    assert_int_equal(((const struct dragonfly *)t.machine.topology.params)->groups, 5);
    assert_string_equal(conf_origin(c, &t.machine.topology), "default");
    conf_close(c);
}

static void load_file(struct conf **c, struct toy *t, const char *path, const char *const *sets,
                      size_t nsets)
{
    struct wr_err err = {0};

    memset(t, 0, sizeof *t);
    if (!conf_load(c, t, toy_rows, path, sets, nsets, &err))
        fail_msg("%s", err.text);
}

static void write_machines(void)
{
    mkdir("machines", 0777);
    mkdir("parts", 0777);
    write_file("parts/router.yaml", "delay: 5 ns\ngain: 0.5\n");
    write_file("machines/big.yaml", "topology: {kind: torus, dims: [9, 9], routers: 2}\n"
                                    "links:\n"
                                    "  local: {bandwidth: 1 GB/s, latency: 3 ns}\n"
                                    "  global: {bandwidth: 2 GB/s}\n"
                                    "router: ../parts/router.yaml\n");
    write_file("machines/derived.yaml", "file: big.yaml\n"
                                        "links: {global: {latency: 7 ns}}\n"
                                        "router: {gain: -0.5}\n");
}

static void a_section_may_be_a_file(void **state)
{
    const struct conf_input *in;
    struct conf *c;
    struct toy t;

    (void)state;
    write_machines();
    write_file("run.yaml", "machine: machines/big.yaml\n");
    load_file(&c, &t, "run.yaml", NO_SETS);
    assert_ptr_equal(t.machine.topology.kind, &kind_torus);
    assert_true(t.machine.router.delay == 5e3);
    assert_true(link_at(&t, 1)->bandwidth == 2e9);
    assert_string_equal(conf_origin(c, &t.machine.router.delay),
                        "machines/../parts/router.yaml:1:8");
    assert_int_equal(conf_inputs(c, &in), 3);
    assert_string_equal(in[0].path, "run.yaml");
    assert_string_equal(in[0].text, "machine: machines/big.yaml\n");
    assert_int_equal(in[0].len, strlen(in[0].text));
    assert_string_equal(in[1].path, "machines/big.yaml");
    assert_string_equal(in[2].path, "machines/../parts/router.yaml");
    conf_close(c);
}

static void what_stands_beside_file_overrides_it(void **state)
{
    struct conf *c;
    struct toy t;

    (void)state;
    write_machines();
    write_file("run.yaml", "machine:\n"
                           "  file: machines/derived.yaml\n"
                           "  topology: {dims: [4]}\n"
                           "  links: {local: {latency: 1 ns}}\n");
    load_file(&c, &t, "run.yaml", NO_SETS);
    const struct torus *torus = t.machine.topology.params;

    assert_int_equal(torus->dims.n, 1);
    assert_int_equal(torus->routers, 2);
    assert_true(link_at(&t, 0)->bandwidth == 1e9);
    assert_true(link_at(&t, 0)->latency == 1e3);
    assert_true(link_at(&t, 1)->latency == 7e3);
    assert_true(t.machine.router.delay == 5e3);
    assert_true(t.machine.router.gain == -0.5);
    conf_close(c);

    /* A kind of its own brings its own parameters. */
    write_file("run.yaml", "machine: {file: machines/big.yaml, topology: {kind: dragonfly}}\n");
    load_file(&c, &t, "run.yaml", NO_SETS);
    assert_int_equal(((const struct dragonfly *)t.machine.topology.params)->routers, 32);
    conf_close(c);

    /* The same kind, named again, keeps the file's. */
    write_file("run.yaml", "machine: {file: machines/big.yaml, topology: torus}\n");
    load_file(&c, &t, "run.yaml", NO_SETS);
    assert_int_equal(((const struct torus *)t.machine.topology.params)->routers, 2);
    conf_close(c);
}

static void overrides_reach_into_files_and_change_them(void **state)
{
    struct conf *c;
    struct toy t;

    (void)state;
    write_machines();
    write_file("small.yaml", "topology: single\n");
    write_file("run.yaml", "machine: {file: machines/big.yaml, router: {gain: 0.75}}\n");
    load_file(&c, &t, "run.yaml", SETS("machine.links.local.latency=9ns"));
    assert_true(link_at(&t, 0)->bandwidth == 1e9);
    assert_true(link_at(&t, 0)->latency == 9e3);
    conf_close(c);

    load_file(&c, &t, "run.yaml",
              SETS("machine.router.delay=9ns", "machine.file=small.yaml",
                   "machine.router.file=parts/router.yaml"));
    assert_ptr_equal(t.machine.topology.kind, &kind_single);
    assert_true(t.machine.router.delay == 9e3);
    assert_true(t.machine.router.gain == 0.75);
    conf_close(c);

    load_file(&c, &t, "run.yaml", SETS("machine=small.yaml"));
    assert_ptr_equal(t.machine.topology.kind, &kind_single);
    assert_true(t.machine.router.gain == -1.5e-3);
    conf_close(c);

    load_file(&c, &t, "run.yaml", SETS("machine.router=parts/router.yaml"));
    assert_true(t.machine.router.gain == 0.5);
    conf_close(c);
}

static void file_names_are_relative_to_the_file_that_has_them(void **state)
{
    struct conf *c;
    struct toy t;

    (void)state;
    mkdir("sub", 0777);
    write_file("sub/run.yaml", "jobs:\n"
                               "  - {name: a, trace: x.txt}\n"
                               "  - {name: b, trace: /abs/x.txt}\n"
                               "  - {name: c}\n");
    load_file(&c, &t, "sub/run.yaml", SETS("jobs.2.trace=x.txt"));
    assert_string_equal(job_at(&t, 0)->trace, "sub/x.txt");
    assert_string_equal(job_at(&t, 1)->trace, "/abs/x.txt");
    assert_string_equal(job_at(&t, 2)->trace, "x.txt");
    conf_close(c);
}

static void the_dump_says_where_values_came_from(void **state)
{
    struct toy t;
    struct conf *c = load(&t, everything, SETS("jobs.1.where.kind=dragonfly", "seed=3"));
    struct wr_str out = {0};

    (void)state;
    conf_dump(c, &out, true);
    assert_string_equal(out.s, "seed: 3                       # --set seed\n"
                               "title: \"a: b # \\\"c\\\"\"         # toy.yaml:2:8\n"
                               "machine:\n"
                               "  topology:\n"
                               "    kind: torus               # toy.yaml:4:20\n"
                               "    dims: [8, 4]              # toy.yaml:4:33\n"
                               "    routers: 1                # default\n"
                               "    wrap: false               # toy.yaml:4:47\n"
                               "  links:\n"
                               "    local:\n"
                               "      bandwidth: 25 GB/s      # toy.yaml:6:24\n"
                               "      latency: 726.609003 ns  # toy.yaml:6:45\n"
                               "      buffer: 16 KiB          # default\n"
                               "    far away:\n"
                               "      bandwidth: 4.7 GiB/s    # toy.yaml:8:18\n"
                               "      latency: 10 ns          # default\n"
                               "      buffer: 166666666 B     # toy.yaml:9:15\n"
                               "  router:\n"
                               "    delay: 1 us               # toy.yaml:10:19\n"
                               "    gain: 0.25                # toy.yaml:10:31\n"
                               "    cut_through: true         # toy.yaml:10:50\n"
                               "jobs:\n"
                               "  - name: a                   # toy.yaml:12:11\n"
                               "    ranks: 4                  # default\n"
                               "    order: linear             # default\n"
                               "    trace: traces/x.txt       # toy.yaml:13:12\n"
                               "  - name: b                   # toy.yaml:14:12\n"
                               "    ranks: 1000               # toy.yaml:14:22\n"
                               "    order: random             # toy.yaml:14:34\n"
                               "    where:\n"
                               "      kind: dragonfly         # --set jobs.1.where.kind\n"
                               "      groups: 33              # default\n"
                               "      routers: 32             # default\n"
                               "      taper: 50 %             # default\n"
                               "sizes: [4 KiB, 1 MB]          # toy.yaml:15:8\n"
                               "places:\n"
                               "  - kind: single              # toy.yaml:16:10\n"
                               "  - kind: torus               # toy.yaml:16:25\n"
                               "    dims: [2]                 # toy.yaml:16:38\n"
                               "    routers: 1                # default\n"
                               "    wrap: true                # default\n"
                               "fault:\n"
                               "  at: 5                       # toy.yaml:17:13\n"
                               "  share: 10 %                 # default\n");
    wr_str_fini(&out);
    conf_close(c);
}

/* Dump, load, dump: the same text, and the same stored values. */
static void check_round_trip(const char *text, const char *const *sets, size_t nsets)
{
    struct toy t, again;
    struct conf *c = load(&t, text, sets, nsets), *c2;
    struct wr_str one = {0}, two = {0};

    conf_dump(c, &one, true);
    c2 = load(&again, one.s, NO_SETS);
    one.n = 0;
    conf_dump(c, &one, false);
    conf_dump(c2, &two, false);
    assert_string_equal(one.s, two.s);
    assert_true(t.seed == again.seed);
    assert_memory_equal(&t.machine.router, &again.machine.router, sizeof t.machine.router);
    assert_int_equal(t.machine.links.n, again.machine.links.n);
    for (size_t i = 0; i < t.machine.links.n; i++)
        assert_memory_equal(&link_at(&t, i)->bandwidth, &link_at(&again, i)->bandwidth,
                            sizeof(struct link) - offsetof(struct link, bandwidth));
    assert_int_equal(!t.title, !again.title);
    if (t.title)
        assert_string_equal(t.title, again.title);
    conf_close(c);
    conf_close(c2);
    wr_str_fini(&one);
    wr_str_fini(&two);
}

static void a_dump_reads_back_to_the_same_values(void **state)
{
    static const char *const titles[] = {
        "title: ''",
        "title: ' spaces '",
        "title: \"tab\\t line\\n nel\\N nbsp\\_ ls\\L ps\\P bell\\a del\\x7f\"",
        "title: \"\\ufeff\\ufffe \\U0001f600 \u00fc \u65e5\"",
        "title: '- [x]'",
        "title: \"'\"",
        "title: '\"\\'",
        "title: '!tag &a *b %c @d `e |f >g ?h'",
        "title: null",
        "title: ~",
        "title: -5",
        "title: --5",
        "title: ...",
        "title: a#b",
        "title: 'a #b'",
        "title: 'a:'",
        "title: |\n  two\n  lines\n",
        "title: >-\n  folded\n  text\n",
    };

    (void)state;
    check_round_trip("", NO_SETS);
    check_round_trip(everything, NO_SETS);
    check_round_trip(everything,
                     SETS("machine.topology.kind=single", "machine.router.gain=1e-300"));
    check_round_trip("machine: {links: {}}\njobs: [{name: ''}]\nsizes: []\nplaces: []", NO_SETS);
    check_round_trip("machine: {links: {'a: b #': {bandwidth: 1 B/s, latency: 1e-9 ps}}}", NO_SETS);
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        check_round_trip(titles[i], NO_SETS);
    /* The comments name the override, and these are line ends to YAML. */
    check_round_trip("", SETS("machine.links.a\xc2\x85"
                              "b.bandwidth=1 B/s",
                              "machine.links.a\u2028b\nc.bandwidth=1 B/s"));
}

struct seen {
    struct wr_str text;
};

static void see(const struct conf_value *v, void *arg)
{
    struct seen *s = arg;

    if (strcmp(v->origin, "default"))
        wr_str_addf(&s->text, "%s=%s|%s|%s\n", v->key, v->text, v->unit ? v->unit : "-", v->origin);
}

static void every_value_can_be_visited(void **state)
{
    struct toy t;
    struct conf *c = load(&t, "sizes: [4 KiB, 1 MB]\nmachine: {topology: torus}",
                          SETS("machine.router.delay=1us"));
    struct seen s = {{0}};

    (void)state;
    conf_each(c, see, &s);
    assert_string_equal(s.text.s, "machine.topology.kind=torus|-|toy.yaml:2:21\n"
                                  "machine.router.delay=1 us|ps|--set machine.router.delay\n"
                                  "sizes.0=4 KiB|B|toy.yaml:1:9\n"
                                  "sizes.1=1 MB|B|toy.yaml:1:16\n");
    wr_str_fini(&s.text);
    conf_close(c);
}

static const struct conf_plugin *where_of(const struct toy *t, size_t i)
{
    return &job_at(t, i)->where;
}

static void a_plugin_may_be_a_file_or_a_shipped_one(void **state)
{
    const struct conf_input *in;
    struct toy t;

    (void)state;
    mkdir("sub", 0777);
    write_file("sub/mine.yaml", "note: of mine\nplace:\n  kind: torus\n  dims: [3]\n");
    write_file("sub/other.yaml", "place: {file: mine.yaml, wrap: false}\n");
    struct conf *c =
        load(&t,
             "jobs:\n  - {name: a, where: sub/mine.yaml}\n  - {name: b, where: small}\n"
             "  - {name: c, where: {file: sub/other.yaml, routers: 7}}\n"
             "  - {name: d, where: torus}\n",
             NO_SETS);
    const struct torus *a = where_of(&t, 0)->params, *b = where_of(&t, 1)->params;
    const struct torus *far = where_of(&t, 2)->params;

    assert_ptr_equal(where_of(&t, 0)->kind, &kind_torus);
    assert_int_equal(a->dims.n, 1);
    assert_int_equal(((uint32_t *)a->dims.items)[0], 3);
    assert_string_equal(conf_origin(c, &a->dims), "sub/mine.yaml:4:9");
    assert_int_equal(b->dims.n, 2);
    assert_int_equal(far->routers, 7);
    assert_false(far->wrap);
    assert_int_equal(((uint32_t *)far->dims.items)[0], 3);
    assert_int_equal(conf_inputs(c, &in), 4); /* itself, mine, small, other */
    conf_close(c);
}

static void overrides_name_files_of_plugins_and_reach_into_them(void **state)
{
    struct toy t;
    const char *text = "jobs: [{name: a, where: {kind: torus, dims: [9], routers: 2}}]\n";

    (void)state;
    write_file("mine.yaml", "place: {kind: torus, dims: [3]}\n");
    struct conf *c = load(&t, text, SETS("jobs.a.where=mine.yaml", "jobs.a.where.wrap=false"));
    const struct torus *torus = where_of(&t, 0)->params;

    assert_int_equal(((uint32_t *)torus->dims.items)[0], 3);
    assert_int_equal(torus->routers, 1);
    assert_false(torus->wrap);
    conf_close(c);
    c = load(&t, text, SETS("jobs.a.where.file=mine.yaml"));
    torus = where_of(&t, 0)->params;
    assert_int_equal(((uint32_t *)torus->dims.items)[0], 3);
    assert_int_equal(torus->routers, 1);
    conf_close(c);
    c = load(&t, "jobs: [{name: a, where: mine.yaml}]\n", SETS("jobs.a.where.kind=single"));
    assert_ptr_equal(where_of(&t, 0)->kind, &kind_single);
    conf_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_file_gives_every_default),
        cmocka_unit_test(every_type_is_read_as_its_row_says),
        cmocka_unit_test(utf8_crlf_aliases_and_a_bom_are_fine),
        cmocka_unit_test(a_key_with_nothing_after_it_is_an_empty_section),
        cmocka_unit_test(origins_name_the_place_of_every_value),
        cmocka_unit_test(an_override_reaches_everywhere),
        cmocka_unit_test(overrides_alone_make_a_configuration),
        cmocka_unit_test(a_star_reaches_every_item_and_a_name_one),
        cmocka_unit_test(an_override_that_stands_in_a_file_has_its_place),
        cmocka_unit_test(a_part_is_dumped_as_a_configuration_of_its_own),
        cmocka_unit_test(another_kind_leaves_the_old_parameters_behind),
        cmocka_unit_test(a_kind_may_be_left_out_where_there_is_a_default),
        cmocka_unit_test(a_section_may_be_a_file),
        cmocka_unit_test(what_stands_beside_file_overrides_it),
        cmocka_unit_test(overrides_reach_into_files_and_change_them),
        cmocka_unit_test(file_names_are_relative_to_the_file_that_has_them),
        cmocka_unit_test(a_plugin_may_be_a_file_or_a_shipped_one),
        cmocka_unit_test(overrides_name_files_of_plugins_and_reach_into_them),
        cmocka_unit_test(the_dump_says_where_values_came_from),
        cmocka_unit_test(a_dump_reads_back_to_the_same_values),
        cmocka_unit_test(every_value_can_be_visited),
    };

    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
