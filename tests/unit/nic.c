/* Which NIC a process takes: on recorded machines, and among processes that share a table. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/csv.h"
#include "cli/cli.h"
#include "rpc/nic/nic.h"

#define DATA WEIR_SOURCE_DIR "/tests/data/roofline/"

static bool skip_without_hwloc(void)
{
    if (!nic_have_hwloc())
        print_message("built without hwloc: skipped\n");
    return !nic_have_hwloc();
}

/* ---- against a simulation made elsewhere ---- */

static const struct {
    const char *scenario, *args[4];
} scenarios[] = {
    {"1core/proc", {"--cores", "1", NULL}},
    {"2core/proc", {"--cores", "2", NULL}},
    {"unbound", {"--cores", "0", NULL}},
    {"1core/proc packed", {"--cores", "1", "--place", "packed"}},
};
enum { NSCENARIOS = sizeof scenarios / sizeof *scenarios };

static json_t *compare_all(size_t k)
{
    char *argv[16] = {(char[]){"weir"},
                      (char[]){"roofline"},
                      (char[]){"nics"},
                      (char[]){"--hwloc-xml"},
                      NULL,
                      (char[]){"--compare"},
                      (char[]){"--json"},
                      (char[]){"-n"},
                      (char[]){"16"}};
    char xml[] = DATA "aurora_like.xml", *text;
    char words[4][16];
    size_t len;
    int argc = 9;

    argv[4] = xml;
    for (int i = 0; i < 4 && scenarios[k].args[i]; i++)
        argv[argc++] = strcpy(words[i], scenarios[k].args[i]);
    FILE *out = open_memstream(&text, &len);

    assert_int_equal(cli_main(argc, argv, out, stderr), 0);
    fclose(out);
    json_t *rows = json_loads(text, 0, NULL);

    free(text);
    assert_non_null(rows);
    return rows;
}

struct judge {
    json_t *got[NSCENARIOS];
    int compared;
};

static const json_t *find(const struct judge *j, const char *scenario, const char *policy)
{
    for (size_t k = 0; k < NSCENARIOS; k++)
        for (size_t i = 0; !strcmp(scenario, scenarios[k].scenario); i++) {
            const json_t *row = json_array_get(j->got[k], i);

            if (!row)
                break;
            if (!strcmp(json_string_value(json_object_get(row, "policy")), policy))
                return row;
        }
    fail_msg("%s, %s is not given", scenario, policy);
    return NULL;
}

/* What chance has no part in is exact; the rest was tried often, there and here. */
static void judge_row(void *ctx, const char *const *text, const double *col)
{
    struct judge *j = ctx;
    const char *policy = strcmp(text[1], "mercury-default") ? text[1] : "passthrough";
    const json_t *row = find(j, text[0], policy);
    double used = json_number_value(json_object_get(row, "mean_nics_used"));
    double least = json_number_value(json_object_get(row, "min_nics_used"));
    double most = json_number_value(json_object_get(row, "mean_max_load"));
    double share = json_number_value(json_object_get(row, "relative_bandwidth"));
    bool sure = col[2] == floor(col[2]) && col[4] == floor(col[4]);

    if (fabs(used - col[2]) > (sure ? 1e-9 : 0.15) || fabs(least - col[3]) > (sure ? 1e-9 : 1) ||
        fabs(most - col[4]) > (sure ? 1e-9 : 0.2) || fabs(share - col[5]) > (sure ? 1e-3 : 0.02))
        fail_msg("%s, %s: %g NICs, least %g, busiest %g; expected %g, %g, %g", text[0], text[1],
                 used, least, most, col[2], col[3], col[4]);
    j->compared++;
}

static void policies_spread_processes_as_simulated_elsewhere(void **state)
{
    static const char *const names[] = {"scenario",      "policy",        "mean_nics_used",
                                        "min_nics_used", "mean_max_load", "relative_bandwidth"};
    static const struct wr_csv_shape shape = {
        .names = names, .n = 6, .needed = 6, .row = judge_row, .texts = 3};
    struct judge j = {.compared = 0};
    struct wr_err err;

    (void)state;
    if (skip_without_hwloc())
        return;
    for (size_t k = 0; k < NSCENARIOS; k++)
        j.got[k] = compare_all(k);
    assert_true(wr_csv_read(&shape, DATA "nic_policy_sim.csv", &j, &err));
    assert_int_equal(j.compared, 36);
    for (size_t k = 0; k < NSCENARIOS; k++)
        json_decref(j.got[k]);
}

/* ---- other machines ---- */

static struct nic_choice pick(const struct nic_machine *m, enum nic_bucket b, enum nic_policy p,
                              const char *bound, uint32_t cpu, struct nic_load *load)
{
    struct nic_ask ask = {.bucket = b, .policy = p, .cpu = cpu};
    struct nic_choice c = {0};
    struct wr_rng rng;
    struct wr_err err;

    wr_rng_init(&rng, 1, 0, 0);
    assert_true(nic_cpus_parse(&ask.bound, bound, &err));
    assert_true(nic_pick(&c, m, &ask, load, &rng, &err));
    return c;
}

static void a_numa_node_has_its_own_nic(void **state)
{
    struct nic_machine *m;
    struct nic_load load = {{0}, {0}};
    struct wr_err err;

    (void)state;
    if (skip_without_hwloc())
        return;
    assert_true(nic_machine_open(&m, DATA "four_numa.xml", &err));
    assert_int_equal(m->nnics, 4);
    assert_string_equal(m->nic[2].name, "hsn2");
    assert_string_equal(m->nic[2].fabric, "mlx5_2");
    for (uint32_t cpu = 0; cpu < 32; cpu++) {
        assert_int_equal(pick(m, NIC_NUMA, NIC_ROUNDROBIN, "0-31", cpu, &load).nic, cpu / 8);
        assert_int_equal(pick(m, NIC_PACKAGE, NIC_BYCORE, "0-31", cpu, &load).nic, cpu % 4);
    }
    assert_int_equal(pick(m, NIC_PASSTHROUGH, NIC_RANDOM, "8-23", 20, &load).nic, 1 + 8 % 2);
    free(m);
}

static void a_bucket_without_a_nic_takes_all_and_says_so(void **state)
{
    struct nic_machine *m;
    struct nic_load load = {{0}, {0}};
    struct wr_err err;

    (void)state;
    if (skip_without_hwloc())
        return;
    assert_true(nic_machine_open(&m, DATA "one_sided.xml", &err));
    for (int b = NIC_PACKAGE; b <= NIC_PASSTHROUGH; b++) {
        struct nic_choice near = pick(m, b, NIC_LEASTLOADED, "1", 1, &load);
        struct nic_choice far = pick(m, b, NIC_LEASTLOADED, "5", 5, &load);

        assert_false(near.fell_back);
        assert_true(far.fell_back && far.candidates == 2);
    }
    free(m);
}

/* ---- which of them are candidates ---- */

static const char *candidates(struct nic_machine *m, const char *only, const struct nic_offer *o,
                              size_t n)
{
    static char text[128];
    struct wr_err err;

    for (uint32_t i = 0; i < m->nnics; i++)
        m->nic[i].left_out = NULL;
    text[0] = '\0';
    if (!nic_restrict(m, only, o, n, &err))
        return strcpy(text, "none");
    for (uint32_t i = 0; i < m->nnics; i++)
        if (!m->nic[i].left_out)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", m->nic[i].name);
    return text;
}

/* Ethernet for management beside two ports of InfiniBand. */
static void management_ethernet_beside_infiniband_is_not_taken(void **state)
{
    struct nic_machine *m;
    struct nic_load load = {{0}, {0}};
    struct wr_err err;

    (void)state;
    if (skip_without_hwloc())
        return;
    assert_true(nic_machine_open(&m, DATA "management.xml", &err));
    assert_int_equal(m->nnics, 3);
    assert_string_equal(m->nic[0].name, "eno1");
    assert_string_equal(candidates(m, NULL, NULL, 0), "ib0 ib1 ");
    assert_int_equal(nic_candidates(m), 2);
    for (int b = NIC_ALL; b <= NIC_PASSTHROUGH; b++)
        for (int policy = NIC_BYSET; policy <= NIC_LEASTLOADED; policy++)
            for (uint32_t cpu = 0; cpu < 8; cpu++) {
                char bound[8];

                snprintf(bound, sizeof bound, "%u", cpu);
                struct nic_choice c = pick(m, b, policy, bound, cpu, &load);

                assert_true(c.nic == 1 || c.nic == 2);
                assert_int_equal(c.candidates, 2);
            }
    free(m);
}

static void only_what_libfabric_offers_is_taken(void **state)
{
    static const struct nic_offer verbs[] = {{.domain = "mlx5_0"}, {.domain = "mlx5_1"}},
                                  one[] = {{.domain = "mlx5_1-xrc", .device = "mlx5_1"}},
                                  by_pci[] = {{.domain = "psm2", .pci = "0000:21:00.0"}},
                                  tcp[] = {{.domain = "ib1"}, {.domain = "lo"}, {.domain = "eno1"}},
                                  shm[] = {{.domain = "shm"}};
    struct nic_machine *m;
    struct wr_err err;

    (void)state;
    if (skip_without_hwloc())
        return;
    assert_true(nic_machine_open(&m, DATA "management.xml", &err));
    assert_string_equal(candidates(m, NULL, verbs, 2), "ib0 ib1 ");
    assert_string_equal(candidates(m, NULL, one, 1), "ib1 ");
    assert_string_equal(candidates(m, NULL, by_pci, 1), "ib0 ");
    assert_string_equal(candidates(m, NULL, tcp, 3), "eno1 ib1 ");
    /* Offers of none of them say nothing. */
    assert_string_equal(candidates(m, NULL, shm, 1), "ib0 ib1 ");
    /* A machine of Ethernet alone has nothing better. */
    free(m);
    assert_true(nic_machine_open(&m, DATA "one_sided.xml", &err));
    assert_string_equal(candidates(m, NULL, NULL, 0), "eth0 eth1 ");
    free(m);
}

static void patterns_choose_nics_by_name(void **state)
{
    static const struct {
        const char *only, *gives;
    } cases[] = {{"ib*", "ib0 ib1 "},       {"!ib0", "eno1 ib1 "}, {"ib*,!ib0", "ib1 "},
                 {"eno1,ib1", "eno1 ib1 "}, {"mlx5_0", "ib0 "},    {"hsn*", "none"},
                 {"*,!*", "none"},          {"", "ib0 ib1 "}};
    struct nic_machine *m;
    struct wr_err err;

    (void)state;
    if (skip_without_hwloc())
        return;
    assert_true(nic_machine_open(&m, DATA "management.xml", &err));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(candidates(m, cases[i].only, NULL, 0), cases[i].gives);
    free(m);
}

static void a_machine_without_nics_is_an_error(void **state)
{
    struct nic_machine *m = NULL;
    struct nic_load load = {{0}, {0}};
    struct nic_ask ask = {.bucket = NIC_ALL};
    struct nic_choice c = {.nic = 77};
    struct wr_rng rng;
    struct wr_err err;

    (void)state;
    if (skip_without_hwloc())
        return;
    assert_true(nic_machine_open(&m, DATA "no_nic.xml", &err));
    wr_rng_init(&rng, 1, 0, 0);
    assert_false(nic_pick(&c, m, &ask, &load, &rng, &err));
    assert_int_equal(c.nic, 77);
    free(m);
    m = NULL;
    assert_false(nic_machine_open(&m, DATA "paper_table2.csv", &err));
    assert_null(m);
    assert_int_equal(err.code, WR_INPUT);
}

static void lists_of_cpus_are_read_and_written(void **state)
{
    static const char *const good[] = {"0", "0-3,8", "4095", "1,3,5-6"};
    static const char *const bad[] = {"", "a", "3-1", "4096", "1,", "1-", "-1", "1 2", "1,,2"};
    struct nic_cpus c;
    struct wr_err err;
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(nic_cpus_parse(&c, good[i], &err));
        nic_cpus_text(&c, text, sizeof text);
        assert_string_equal(text, good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(nic_cpus_parse(&c, bad[i], &err));
}

/* ---- the shared table ---- */

static struct nic_machine *plain_machine(uint32_t nics)
{
    struct nic_machine *m = calloc(1, sizeof *m);

    assert_non_null(m);
    m->nnics = nics;
    nic_cpus_add(&m->cpus, 0);
    return m;
}

/* A process that takes a NIC, reports which, and stays until the pipe closes. */
static pid_t taker(const char *path, const struct nic_machine *m, enum nic_policy policy,
                   uint32_t *ret, int *ret_hold)
{
    int report[2], hold[2];
    uint32_t got = UINT32_MAX;

    assert_true(!pipe(report) && !pipe(hold));
    pid_t pid = fork();

    if (!pid) {
        struct nic_ask ask = {.bucket = NIC_ALL, .policy = policy};
        struct nic_choice c = {.nic = UINT32_MAX};
        struct wr_rng rng;
        struct wr_err err;
        char byte;

        close(hold[1]);
        nic_cpus_add(&ask.bound, 0);
        wr_rng_init(&rng, 1, 0, 0);
        if (!nic_table_take(&c, path, m, &ask, &rng, &err))
            c.nic = UINT32_MAX;
        if (write(report[1], &c.nic, sizeof c.nic) < 0 || read(hold[0], &byte, 1) < 0)
            _exit(1);
        _exit(0);
    }
    assert_true(read(report[0], &got, sizeof got) == sizeof got);
    close(report[0]);
    close(report[1]);
    close(hold[0]);
    *ret = got;
    *ret_hold = hold[1];
    return pid;
}

static void the_dead_leave_their_nics_to_others(void **state)
{
    char path[] = "/tmp/weir-test-nics-XXXXXX";
    struct nic_machine *m = plain_machine(3);
    uint32_t got[7];
    pid_t pid[7];
    int hold[7];

    (void)state;
    close(mkstemp(path));
    for (int i = 0; i < 6; i++)
        pid[i] = taker(path, m, NIC_LEASTLOADED, &got[i], &hold[i]);
    for (int i = 0; i < 6; i++)
        assert_int_equal(got[i], i % 3);
    kill(pid[4], SIGKILL); /* both of NIC 1 */
    kill(pid[1], SIGKILL);
    waitpid(pid[4], NULL, 0);
    waitpid(pid[1], NULL, 0);
    pid[6] = taker(path, m, NIC_LEASTLOADED, &got[6], &hold[6]);
    assert_int_equal(got[6], 1);
    for (int i = 0; i < 7; i++)
        close(hold[i]);
    for (int i = 0; i < 7; i++)
        if (i != 4 && i != 1)
            waitpid(pid[i], NULL, 0);
    /* No owner is left: turns begin anew. */
    pid[0] = taker(path, m, NIC_ROUNDROBIN, &got[0], &hold[0]);
    assert_int_equal(got[0], 0);
    close(hold[0]);
    waitpid(pid[0], NULL, 0);
    unlink(path);
    free(m);
}

static void the_last_who_leaves_removes_the_table(void **state)
{
    char path[] = "/tmp/weir-test-nics-XXXXXX";
    struct nic_machine *m = plain_machine(2);
    struct nic_ask ask = {.bucket = NIC_ALL, .policy = NIC_ROUNDROBIN};
    struct nic_choice c;
    struct wr_rng rng;
    struct wr_err err;
    uint32_t got;
    int hold;

    (void)state;
    close(mkstemp(path));
    nic_cpus_add(&ask.bound, 0);
    wr_rng_init(&rng, 1, 0, 0);
    assert_true(nic_table_take(&c, path, m, &ask, &rng, &err));
    assert_int_equal(c.nic, 0);
    pid_t other = taker(path, m, NIC_ROUNDROBIN, &got, &hold);

    assert_int_equal(got, 1);
    nic_table_leave(path);
    assert_int_equal(access(path, F_OK), 0); /* the other is still there */
    assert_true(nic_table_take(&c, path, m, &ask, &rng, &err));
    close(hold);
    waitpid(other, NULL, 0);
    nic_table_leave(path);
    assert_int_equal(access(path, F_OK), -1);
    free(m);
}

static void tables_of_the_dead_are_removed_and_nothing_else(void **state)
{
    char dir[] = "/tmp/weir-test-nics-XXXXXX", dead[128], alive[128], other[128];
    struct nic_machine *m = plain_machine(2);
    siginfo_t info;
    uint32_t got;
    int hold[2];

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(dead, sizeof dead, "%s/weir-nics-%u-job-1", dir, (unsigned)geteuid());
    snprintf(alive, sizeof alive, "%s/weir-nics-%u-job-2", dir, (unsigned)geteuid());
    snprintf(other, sizeof other, "%s/weir-nicer-%u-job-1", dir, (unsigned)geteuid());
    close(open(other, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    pid_t killed = taker(dead, m, NIC_ROUNDROBIN, &got, &hold[0]);
    pid_t lives = taker(alive, m, NIC_ROUNDROBIN, &got, &hold[1]);

    kill(killed, SIGKILL);
    waitid(P_PID, (id_t)killed, &info, WEXITED | WNOWAIT); /* dead, and still to be seen */
    nic_tables_collect(dir);
    assert_int_equal(access(dead, F_OK), -1);
    assert_int_equal(access(alive, F_OK), 0);
    assert_int_equal(access(other, F_OK), 0);
    close(hold[0]);
    close(hold[1]);
    waitpid(killed, NULL, 0);
    waitpid(lives, NULL, 0);
    nic_tables_collect(dir);
    assert_int_equal(access(alive, F_OK), -1);
    unlink(other);
    assert_int_equal(rmdir(dir), 0);
    free(m);
}

static void a_damaged_table_begins_anew(void **state)
{
    char path[] = "/tmp/weir-test-nics-XXXXXX";
    struct nic_machine *m = plain_machine(2);
    char rubbish[400];
    uint32_t got;
    int hold, fd = mkstemp(path);

    (void)state;
    memset(rubbish, 0xff, sizeof rubbish);
    memcpy(rubbish, "weirnic1", 8);
    assert_true(write(fd, rubbish, sizeof rubbish) == sizeof rubbish);
    close(fd);
    pid_t pid = taker(path, m, NIC_ROUNDROBIN, &got, &hold);

    assert_int_equal(got, 0);
    close(hold);
    waitpid(pid, NULL, 0);
    unlink(path);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_spread_processes_as_simulated_elsewhere),
        cmocka_unit_test(a_numa_node_has_its_own_nic),
        cmocka_unit_test(a_bucket_without_a_nic_takes_all_and_says_so),
        cmocka_unit_test(management_ethernet_beside_infiniband_is_not_taken),
        cmocka_unit_test(only_what_libfabric_offers_is_taken),
        cmocka_unit_test(patterns_choose_nics_by_name),
        cmocka_unit_test(a_machine_without_nics_is_an_error),
        cmocka_unit_test(lists_of_cpus_are_read_and_written),
        cmocka_unit_test(the_dead_leave_their_nics_to_others),
        cmocka_unit_test(the_last_who_leaves_removes_the_table),
        cmocka_unit_test(tables_of_the_dead_are_removed_and_nothing_else),
        cmocka_unit_test(a_damaged_table_begins_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
