/* Every way a configuration can be wrong, with the place and the words. */
#include <sys/stat.h>
#include <time.h>

#include "unit/conf_help.h"

static void a_typo_is_reported_with_what_was_meant(void **state)
{
    (void)state;
    unknown(
        "seed: 1\nsead: 2\n", NO_SETS,
        "toy.yaml:2:1: unknown key \"sead\"; did you mean \"seed\"? The keys here: seed, title, "
        "machine, jobs, sizes, places, fault");
    unknown(
        "machine:\n  router: {dealy: 1 ns}\n", NO_SETS,
        "toy.yaml:2:12: machine.router: unknown key \"dealy\"; did you mean \"delay\"? The keys "
        "here: delay, gain, cut_through");
    unknown("machine: {links: {local: {xyz: 1}}}", NO_SETS,
            "toy.yaml:1:27: machine.links.local: unknown key \"xyz\"; keys here: bandwidth, "
            "latency, buffer");
    unknown("machine: {topology: {kind: torus, gruops: 1}}", NO_SETS,
            "toy.yaml:1:35: machine.topology: unknown key \"gruops\"; keys here: kind, dims, "
            "routers, wrap");
    unknown("machine: {topology: dragonly}", NO_SETS,
            "toy.yaml:1:21: machine.topology: no topology \"dragonly\"; did you mean "
            "\"dragonfly\"? Try `weir list topologies`");
    unknown("machine: {topology: {kind: 5}}", NO_SETS,
            "toy.yaml:1:28: machine.topology: no topology \"5\"; try `weir list topologies`");
    unknown("machine: {topology: {kind: single, x: 1}}", NO_SETS,
            "toy.yaml:1:36: machine.topology: unknown key \"x\"; keys here: kind");
    unknown("jobs: [{name: a, order: randm}]", NO_SETS,
            "toy.yaml:1:25: jobs.0.order: no choice \"randm\"; did you mean \"random\"? Or write "
            "one of linear, random, striped");
    unknown("jobs: [{name: a, order: 1}]", NO_SETS,
            "toy.yaml:1:25: jobs.0.order: no choice \"1\"; write one of linear, random, striped");
}

static void a_value_of_the_wrong_type_is_reported_with_the_right_one(void **state)
{
    (void)state;
    refused("seed: many", NO_SETS,
            "toy.yaml:1:7: seed: \"many\" is not a whole number; write one such as 33");
    refused("seed: [1]", NO_SETS,
            "toy.yaml:1:7: seed is a list; write a whole number such as 33 (of all randomness)");
    refused("seed: {a: b}", NO_SETS,
            "toy.yaml:1:7: seed is a mapping; write a whole number such as 33 (of all randomness)");
    refused("seed:\ntitle: x", NO_SETS,
            "toy.yaml:1:6: seed has no value; remove it or write a whole number such as 33 (of all "
            "randomness)");
    refused("machine: {router: {cut_through: maybe}}", NO_SETS,
            "toy.yaml:1:33: machine.router.cut_through: \"maybe\" is neither true nor false; write "
            "one of them");
    refused("jobs: {name: a}", NO_SETS,
            "toy.yaml:1:7: jobs is a mapping; write a list such as [first, second] (what runs on "
            "it)");
    refused("jobs: [a]", NO_SETS,
            "toy.yaml:1:8: jobs.0 is a single value; write a mapping such as {key: value} (what "
            "runs on it)");
    refused("machine: {links: [a]}", NO_SETS,
            "toy.yaml:1:18: machine.links is a list; write a mapping of names such as {name: {key: "
            "value}} (by class)");
    refused("machine: {links: {a: 5}}", NO_SETS,
            "toy.yaml:1:22: machine.links.a is a single value; write a mapping such as {key: "
            "value}");
    refused("fault: 5", NO_SETS,
            "toy.yaml:1:8: fault is a single value; write a mapping such as {key: value} (what "
            "breaks, if anything)");
    refused("machine: [1]", NO_SETS,
            "toy.yaml:1:10: machine is a list; write a mapping such as {key: value} (what is "
            "simulated)");
    refused("machine: {topology: [torus]}", NO_SETS,
            "toy.yaml:1:21: machine.topology is a list; write the name of a kind or a mapping "
            "with `kind:` (the wiring)");
    refused("jobs: [{name: a, where: {groups: 1}}]", NO_SETS,
            "toy.yaml:1:25: jobs.0.where has no `kind:`; write the name of a kind or a mapping "
            "with `kind:` (a machine of its own)");
    refused("jobs: [{name: a, trace: ''}]", NO_SETS,
            "toy.yaml:1:25: jobs.0.trace: the file name is empty; write one");
    refused("sizes: [4 KiB, [1]]", NO_SETS,
            "toy.yaml:1:16: sizes.1 is a list; write a number of bytes such as 4 KiB (of "
            "messages)");
    refused("- a\n- b\n", NO_SETS,
            "toy.yaml:1:1: a configuration must be a mapping, not a list; write `key: value` "
            "lines");
    refused("just text", NO_SETS,
            "toy.yaml:1:1: a configuration must be a mapping, not a single value; write `key: "
            "value` lines");
}

static void units_are_checked_where_they_stand(void **state)
{
    (void)state;
    refused("machine:\n  router:\n    delay: 5\n", NO_SETS,
            "toy.yaml:3:12: machine.router.delay: \"5\" has no unit; write one such as 726.6 ns "
            "(units: ps, ns, us, ms, s, min, h)");
    refused("machine: {links: {a: {bandwidth: 5 ns}}}", NO_SETS,
            "toy.yaml:1:34: machine.links.a.bandwidth: \"5 ns\" is a time, not a rate; units that "
            "fit: B/s, kB/s, MB/s, GB/s, TB/s, PB/s, KiB/s, MiB/s, GiB/s, TiB/s, PiB/s, bit/s, "
            "kbit/s, Mbit/s, Gbit/s, Tbit/s");
    refused("machine: {links: {a: {bandwidth: 200 Gb/s}}}", NO_SETS,
            "toy.yaml:1:34: machine.links.a.bandwidth: \"200 Gb/s\" is ambiguous; write Gbit/s for "
            "bits or GB/s for bytes");
    refused("seed: 1e30", NO_SETS,
            "toy.yaml:1:7: seed: \"1e30\" is too large; write at most 18446744073709551615");
    refused("jobs: [{name: a, ranks: 5000000000}]", NO_SETS,
            "toy.yaml:1:25: jobs.0.ranks: \"5000000000\" is too large; write at most 4294967295");
}

static void a_value_out_of_range_is_reported_with_the_range(void **state)
{
    (void)state;
    refused("machine: {router: {delay: 5 h}}", NO_SETS,
            "toy.yaml:1:27: machine.router.delay: 5 h is out of range; allowed: 0 s to 1 s");
    refused("machine: {router: {gain: -2}}", NO_SETS,
            "toy.yaml:1:26: machine.router.gain: -2 is out of range; allowed: -1 to 1");
    refused("machine: {links: {a: {bandwidth: 0}}}", NO_SETS,
            "toy.yaml:1:34: machine.links.a.bandwidth: 0 is out of range; allowed: at least 1 B/s");
    refused("machine: {links: {a: {bandwidth: 1 B/s, buffer: 1 B}}}", NO_SETS,
            "toy.yaml:1:49: machine.links.a.buffer: 1 B is out of range; allowed: 64 B to 1 GiB");
    refused("machine: {topology: {taper: 110 %}}", NO_SETS,
            "toy.yaml:1:29: machine.topology.taper: 110 % is out of range; allowed: 0 % to 100 %");
    refused("machine: {topology: {kind: torus, dims: [4, 0]}}", NO_SETS,
            "toy.yaml:1:45: machine.topology.dims.1: 0 is out of range; allowed: 1 to 1024");
    refused("jobs: []", NO_SETS,
            "toy.yaml:1:7: jobs: the number of items, 0, is out of range; allowed: 1 to 1000");
}

static void a_key_given_twice_is_reported_with_the_first(void **state)
{
    (void)state;
    refused("seed: 1\ntitle: x\nseed: 2\ntitle: y\n", NO_SETS,
            "toy.yaml:3:1: \"seed\" is given twice, first at line 1 column 1; remove one");
    refused("machine: {router: {delay: 1 ns, 'delay': 2 ns}}", NO_SETS,
            "toy.yaml:1:33: \"delay\" is given twice, first at line 1 column 20; remove one");
}

static void what_is_missing_is_reported_where_it_belongs(void **state)
{
    struct toy t = {0};
    struct conf *c;
    struct wr_err err = {0};
    const char *const sets[] = {"jobs=[{}]"};

    (void)state;
    refused("seed: 1\njobs:\n  - ranks: 5\n", NO_SETS,
            "toy.yaml:3:5: jobs.0.name is missing; add a text (what the tables call it)");
    refused("machine: {links: {a: {latency: 1 ns}}}", NO_SETS,
            "toy.yaml:1:22: machine.links.a.bandwidth is missing; add a rate such as 25 GB/s (of "
            "one link)");
    refused("machine: {links: {a: }}", NO_SETS,
            "toy.yaml:1:22: machine.links.a.bandwidth is missing; add a rate such as 25 GB/s (of "
            "one link)");
    refused("fault: {}", NO_SETS,
            "toy.yaml:1:8: fault.at is missing; add a whole number such as 33 (which event)");
    assert_false(conf_load(&c, &t, toy_rows, NULL, sets, 1, &err));
    assert_string_equal(err.text, "--set jobs=[{}]: jobs.0.name is missing; add a text (what the "
                                  "tables call it)");
    err = (struct wr_err){0};
    assert_false(conf_load(&c, &t, job_rows, NULL, NULL, 0, &err));
    assert_string_equal(err.text,
                        "the configuration: name is missing; add a text (what the tables call it)");
}

static void what_is_not_yaml_is_reported_in_libyamls_words(void **state)
{
    (void)state;
    refused("seed: 1\n\tmachine: x\n", NO_SETS,
            "toy.yaml:2:1: found a tab character that violates indentation while scanning a plain "
            "scalar; indent with spaces, not tabs");
    refused("title: \"abc\n", NO_SETS,
            "toy.yaml:2:1: found unexpected end of stream while scanning a quoted scalar; check "
            "the indentation, quotes and brackets here");
    refused("a: [1, 2\nb: 3\n", NO_SETS,
            "toy.yaml:2:2: did not find expected ',' or ']' while parsing a flow sequence; check "
            "the indentation, quotes and brackets here");
    refused("a: b: c\n", NO_SETS,
            "toy.yaml:1:5: mapping values are not allowed in this context; check the indentation, "
            "quotes and brackets here");
    refused("seed: 1\ntitle: \xff\xfe\n", NO_SETS,
            "toy.yaml:2:8: invalid leading UTF-8 octet; save the file as UTF-8 text");
    refused("seed: 1\ntitle: a\x01z\n", NO_SETS,
            "toy.yaml:2:9: control characters are not allowed; save the file as UTF-8 text");
}

static void what_yaml_has_beyond_values_is_refused(void **state)
{
    (void)state;
    refused("seed: 1\n---\nseed: 2\n", NO_SETS,
            "toy.yaml:2:1: a second document begins here; keep one per file");
    refused("seed: !!int 1\n", NO_SETS,
            "toy.yaml:1:7: the tag tag:yaml.org,2002:int is not needed; remove it, each key knows "
            "its type");
    refused("machine: !m {router: {}}\n", NO_SETS,
            "toy.yaml:1:10: the tag !m is not needed; remove it, each key knows its type");
    refused("? [a, b]\n: 1\n", NO_SETS,
            "toy.yaml:1:3: a key must be plain text, not a list; write `key: value`");
    refused("? {a: b}\n: 1\n", NO_SETS,
            "toy.yaml:1:3: a key must be plain text, not a mapping; write `key: value`");
    refused("title: &t x\n*t : 1\n", NO_SETS,
            "toy.yaml:2:1: a key must be plain text, not an alias; write `key: value`");
    refused("'': 1\n", NO_SETS,
            "toy.yaml:1:1: a key is missing before the colon; write `key: value`");
    refused("machine: {<<: {}}\n", NO_SETS,
            "toy.yaml:1:11: merge keys are not supported; write the keys out, or use `file:` where "
            "`weir config explain` allows it");
    refused("title: *t\n", NO_SETS,
            "toy.yaml:1:8: alias *t has no finished anchor &t above it; write the value out");
    refused("jobs: &j [*j]\n", NO_SETS,
            "toy.yaml:1:11: alias *j has no finished anchor &j above it; write the value out");
    refused("title: \"a\\0b\"\n", NO_SETS,
            "toy.yaml:1:8: a NUL character inside a value; remove the \\0");
}

static void an_override_that_is_wrong_is_reported_as_it_was_given(void **state)
{
    (void)state;
    refused("", SETS("seed"), "--set seed: no \"=\" in it; write --set key=value");
    refused("", SETS("=1"), "--set =1: a step of the key is empty; write a.b=value");
    refused("", SETS("machine..x=1"),
            "--set machine..x=1: a step of the key is empty; write a.b=value");
    refused("", SETS("machine.links.\xc3(.latency=1ns"),
            "--set machine.links.\xc3(.latency=1ns: a step of the key is not UTF-8; write it as "
            "UTF-8 text");
    refused("", SETS("machine.links.\xed\xa0\x80.latency=1ns"),
            "--set machine.links.\xed\xa0\x80.latency=1ns: a step of the key is not UTF-8; write "
            "it as UTF-8 text");
    refused(
        "", SETS("a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1"),
        "--set a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1: the key has too many steps; write at most 16");
    refused("", SETS("seed="),
            "--set seed=: seed has no value; remove it or write a whole number such as 33 (of all "
            "randomness)");
    refused("", SETS("seed=[1"),
            "--set seed=[1: did not find expected ',' or ']' while parsing a flow sequence; check "
            "the indentation, quotes and brackets here");
    refused("", SETS("seed=x"),
            "--set seed=x: seed: \"x\" is not a whole number; write one such as 33");
    refused("", SETS("machine.router.delay=5"),
            "--set machine.router.delay=5: machine.router.delay: \"5\" has no unit; write one such "
            "as 726.6 ns (units: ps, ns, us, ms, s, min, h)");
    unknown("", SETS("sed=x"),
            "--set sed=x: unknown key \"sed\"; did you mean \"seed\"? The keys here: seed, title, "
            "machine, jobs, sizes, places, fault");
    unknown("", SETS("machine.ruter.delay=1ns"),
            "--set machine.ruter.delay=1ns: unknown key \"ruter\" in machine; did you mean "
            "\"router\"? The keys here: file, topology, links, router");
    unknown("", SETS("machine.topology.groops=1"),
            "--set machine.topology.groops=1: machine.topology: unknown key \"groops\"; did you "
            "mean \"groups\"? The keys here: kind, groups, routers, taper");
    unknown("", SETS("machine={topology: {kind: torus, dmis: [4]}}"),
            "--set machine={topology: {kind: torus, dmis: [4]}}: machine.topology: unknown key "
            "\"dmis\"; did you mean \"dims\"? The keys here: kind, dims, routers, wrap");
    refused("", SETS("seed.x=1"),
            "--set seed.x=1: \"seed\" is a single value (a whole number) and has no \"x\"; set it "
            "itself");
    refused("", SETS("jobs.x.name=1"),
            "--set jobs.x.name=1: no item of \"jobs\" has the name \"x\"; use a name, or 0 to 1");
    refused("", SETS("jobs.onli.name=1"),
            "--set jobs.onli.name=1: no item of \"jobs\" has the name \"onli\"; did you mean only? "
            "Or use a name, or 0 to 1");
    refused("", SETS("sizes.x=1"),
            "--set sizes.x=1: \"x\" is no place in the list \"sizes\"; use 0 to 0");
    refused("", SETS("jobs.2.name=a"),
            "--set jobs.2.name=a: \"2\" is no place in the list \"jobs\"; use 0 to 1");
    refused("", SETS("sizes.0.x=1"),
            "--set sizes.0.x=1: \"sizes\" is a single value (a number of bytes) and has no \"x\"; "
            "set it itself");
    refused("", SETS("machine.topology.kind.x=1"),
            "--set machine.topology.kind.x=1: \"x\" cannot be set in what is a single value; a "
            "mapping expected");
    refused("jobs: 5\n", SETS("jobs.0.name=a"),
            "--set jobs.0.name=a: toy.yaml:1:7: \"0\" cannot be set in what is a single value; a "
            "list expected");
    refused("machine: {links: [1]}\n", SETS("machine.links.a.latency=1ns"),
            "--set machine.links.a.latency=1ns: toy.yaml:1:18: \"a\" cannot be set in what is a "
            "list; a mapping expected");
}

static void a_message_is_complete_and_has_no_control_characters(void **state)
{
    struct wr_str set = {0}, message = {0};

    (void)state;
    wr_str_add(&set, "seed=");
    wr_str_addf(&set, "%03000d", 0);
    wr_str_add(&set, "x");
    wr_str_add(&message, "--set seed=");
    wr_str_addf(&message, "%0195d...: seed: \"%044d...\" is not a whole number; remove \"x\"", 0,
                0);
    refused("", SETS(set.s), message.s);
    refused("machine: {links: {\"a\\e[2J\": 1}}", NO_SETS,
            "toy.yaml:1:29: machine.links.a?[2J is a single value; write a mapping such as {key: "
            "value}");
    wr_str_fini(&set);
    wr_str_fini(&message);
}

static void includes_that_lead_nowhere_are_reported_with_the_way(void **state)
{
    (void)state;
    refused("seed: 1\nmachine: none.yaml\n", NO_SETS,
            "toy.yaml:2:10: cannot read none.yaml: No such file or directory; check the file name");
    refused("machine: {file: [x]}\n", NO_SETS,
            "toy.yaml:1:17: machine.file is a list; write the name of a file");
    refused("machine: {file: }\n", NO_SETS,
            "toy.yaml:1:17: machine.file is empty; write the name of a file");
    mkdir("dir", 0777);
    refused("machine: dir\n", NO_SETS,
            "toy.yaml:1:10: cannot read dir: Is a directory; check the file name");
    write_file("list.yaml", "- 1\n");
    refused("machine: list.yaml\n", NO_SETS,
            "list.yaml:1:1: a file for `machine:` must be a mapping, not a list; write its keys as "
            "`key: value`");
    write_file("bad.yaml", "\nrouter: {delay: 5}\n");
    refused("machine: bad.yaml\n", NO_SETS,
            "bad.yaml:2:17: machine.router.delay: \"5\" has no unit; write one such as 726.6 ns "
            "(units: ps, ns, us, ms, s, min, h)");
    write_file("one.yaml", "file: two.yaml\n");
    write_file("two.yaml", "file: one.yaml\n");
    refused("machine: one.yaml\n", NO_SETS,
            "two.yaml:1:7: one.yaml includes itself; break the circle");
    refused("", SETS("machine=none.yaml"),
            "--set machine=none.yaml: cannot read none.yaml: No such file or directory; check the "
            "file name");
    for (int i = 0; i < 20; i++) {
        char name[20], text[40];

        snprintf(name, sizeof name, "f%d.yaml", i);
        snprintf(text, sizeof text, "file: f%d.yaml\n", i + 1);
        write_file(name, text);
    }
    refused("machine: f0.yaml\n", NO_SETS,
            "f15.yaml:1:7: more than 16 files included one inside another; use fewer");
}

static void a_file_that_is_no_plugin_is_reported_at_its_place(void **state)
{
    (void)state;
    refused("jobs: [{name: a, where: none.yaml}]\n", NO_SETS,
            "toy.yaml:1:25: cannot read none.yaml: No such file or directory; check the file name");
    unknown(
        "jobs: [{name: a, where: smal}]\n", NO_SETS,
        "toy.yaml:1:25: jobs.0.where: no where \"smal\"; did you mean \"small\"? Try `weir list "
        "wheres`");
    unknown("jobs: [{name: a, where: elephant}]\n", NO_SETS,
            "toy.yaml:1:25: jobs.0.where: no where \"elephant\"; try `weir list wheres`, or name a "
            "file with one");
    refused("jobs: [{name: a, where: {file: [1]}}]\n", NO_SETS,
            "toy.yaml:1:32: where.file is a list; write the name of a file");
    write_file("other.yaml", "note: x\nseed: 1\nplace: torus\n");
    refused("jobs: [{name: a, where: other.yaml}]\n", NO_SETS,
            "other.yaml:2:1: this is no file of a where: it has \"seed\"; write one");
    write_file("empty.yaml", "note: x\n");
    refused("jobs: [{name: a, where: empty.yaml}]\n", NO_SETS,
            "empty.yaml:1:1: this is no file of a where: it has no `place:`; write one");
    write_file("broken.yaml", "place: {kind: torus\n");
    refused("jobs: [{name: a, where: broken.yaml}]\n", NO_SETS,
            "broken.yaml:2:1: did not find expected ',' or '}' while parsing a flow mapping; check "
            "the indentation, quotes and brackets here");
    write_file("kind.yaml", "place: {kind: tours}\n");
    unknown("jobs: [{name: a, where: kind.yaml}]\n", NO_SETS,
            "kind.yaml:1:15: jobs.0.where: no where \"tours\"; did you mean \"torus\"? Try `weir "
            "list wheres`");
    write_file("key.yaml", "place: {kind: torus, dim: 3}\n");
    unknown(
        "jobs: [{name: a, where: key.yaml}]\n", NO_SETS,
        "key.yaml:1:22: jobs.0.where: unknown key \"dim\"; did you mean \"dims\"? The keys here: "
        "kind, dims, routers, wrap");
    write_file("one.yaml", "place: two.yaml\n");
    write_file("two.yaml", "place: one.yaml\n");
    refused("jobs: [{name: a, where: one.yaml}]\n", NO_SETS,
            "two.yaml:1:8: one.yaml includes itself; break the circle");
}

static void a_file_that_cannot_be_read_is_reported(void **state)
{
    struct toy t = {0};
    struct conf *c;
    struct wr_err err = {0};

    (void)state;
    assert_false(conf_load(&c, &t, toy_rows, "none.yaml", NO_SETS, &err));
    assert_string_equal(err.text,
                        "cannot read none.yaml: No such file or directory; check the file name");
    assert_int_equal(err.code, WR_INPUT);
    mkdir("dir", 0777);
    assert_false(conf_load(&c, &t, toy_rows, "dir", NO_SETS, &err));
    assert_string_equal(err.text, "cannot read dir: Is a directory; check the file name");
    /* A file without an end is cut at the limit. */
    assert_false(conf_load(&c, &t, toy_rows, "/dev/zero", NO_SETS, &err));
    assert_string_equal(err.text,
                        "/dev/zero: larger than the 16 MiB a configuration may have with its "
                        "includes; move long tables to files of their own format");
}

/* Text that grows on its own: a head and many times a part. */
static struct wr_str repeat(const char *head, const char *part, size_t n)
{
    struct wr_str s = {0};

    wr_str_add(&s, head);
    for (size_t i = 0; i < n; i++)
        wr_str_add(&s, part);
    return s;
}

static void bomb(struct wr_str s, const char *message)
{
    struct timespec from, to;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    refused_bytes(s.s, s.n, NO_SETS, WR_INPUT, message);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    wr_str_fini(&s);
    /* Far above what any of them takes; a bomb that goes off takes minutes. */
    assert_true(to.tv_sec - from.tv_sec < 20);
}

static void bombs_do_not_go_off(void **state)
{
    struct wr_str laughs = {0}, keys = {0};

    (void)state;
    wr_str_add(&laughs, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 20; i++) {
        wr_str_addf(&laughs, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            wr_str_addf(&laughs, "%s*a%d", k ? ", " : "", i - 1);
        wr_str_add(&laughs, "]\n");
    }
    bomb(laughs, "toy.yaml:5:30: alias *a3 unfolds into more than 65536 values; write them out");
    bomb(repeat("a: ", "[", 1 << 20),
         "toy.yaml:1:67: nested deeper than 64 levels; check the brackets");
    bomb(repeat("a: ", "{a: ", 1 << 20),
         "toy.yaml:1:253: nested deeper than 64 levels; check the brackets");
    bomb(repeat("a: [", "x,", 5 << 20),
         "toy.yaml:1:524287: more than 262144 values; move long tables to a file of their own "
         "format");
    bomb(repeat("title: ", "x", 17 << 20),
         "toy.yaml: larger than the 16 MiB a configuration may have with its includes; move long "
         "tables to files of their own format");
    bomb(repeat("a: [", "&a x,", 2 << 20),
         "toy.yaml:1:5005: more than 1000 anchors; write the values out");
    for (int i = 0; i < 100000; i++)
        wr_str_addf(&keys, "k%d: x\n", i);
    bomb(keys, "toy.yaml:1025:1: more than 1024 keys in one mapping; use a list");
    bomb(repeat("", "k", 200), "toy.yaml:1:1: a configuration must be a mapping, not a single "
                               "value; write `key: value` lines");
    struct wr_str longkey = repeat("", "k", 200);
    wr_str_add(&longkey, ": 1\n");
    bomb(longkey, "toy.yaml:1:1: this key is longer than 128 bytes; shorten it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_typo_is_reported_with_what_was_meant),
        cmocka_unit_test(a_value_of_the_wrong_type_is_reported_with_the_right_one),
        cmocka_unit_test(units_are_checked_where_they_stand),
        cmocka_unit_test(a_value_out_of_range_is_reported_with_the_range),
        cmocka_unit_test(a_key_given_twice_is_reported_with_the_first),
        cmocka_unit_test(what_is_missing_is_reported_where_it_belongs),
        cmocka_unit_test(what_is_not_yaml_is_reported_in_libyamls_words),
        cmocka_unit_test(what_yaml_has_beyond_values_is_refused),
        cmocka_unit_test(an_override_that_is_wrong_is_reported_as_it_was_given),
        cmocka_unit_test(a_message_is_complete_and_has_no_control_characters),
        cmocka_unit_test(includes_that_lead_nowhere_are_reported_with_the_way),
        cmocka_unit_test(a_file_that_is_no_plugin_is_reported_at_its_place),
        cmocka_unit_test(a_file_that_cannot_be_read_is_reported),
        cmocka_unit_test(bombs_do_not_go_off),
    };

    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
