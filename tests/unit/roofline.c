/* The model of rooflines, against numbers computed elsewhere and against itself. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "cli/roofline_tables.h"
#include "rpc/energy.h"
#include "rpc/polling.h"
#include "rpc/ticket.h"
#include "rpc/worker_commands.h"

#define DATA WEIR_SOURCE_DIR "/tests/data/roofline/"

enum { COLS = 48, WIDTH = 64 };

struct sheet {
    char head[COLS][WIDTH];
    int ncols, nrows;
    char (*cell)[COLS][WIDTH];
};

static int split(char cells[COLS][WIDTH], const char *line, size_t n)
{
    int k = 0;

    n -= n && line[n - 1] == '\r';
    for (const char *at = line, *end = line + n; at <= end && k < COLS; k++) {
        size_t len = strcspn(at, ",\r\n");

        if (at + len > end)
            len = (size_t)(end - at);
        assert_true(len < WIDTH);
        memcpy(cells[k], at, len);
        cells[k][len] = '\0';
        at += len + 1;
    }
    return k;
}

static struct sheet sheet_of(const char *text)
{
    struct sheet s = {0};
    size_t n = strcspn(text, "\n");

    s.ncols = split(s.head, text, n);
    s.cell = wr_zalloc(2048, sizeof *s.cell);
    for (const char *at = text + n + 1; *at; at += n + 1) {
        n = strcspn(at, "\n");
        assert_true(s.nrows < 2048);
        split(s.cell[s.nrows++], at, n);
    }
    return s;
}

static int column(const struct sheet *s, const char *name)
{
    for (int i = 0; i < s->ncols; i++)
        if (!strcmp(s->head[i], name))
            return i;
    return -1;
}

/* Equal words, or numbers within 0.1 % or within what the printed digits can say. */
static bool agree(const char *want, const char *got)
{
    char *end;
    double w = strtod(want, &end), g = strtod(got, NULL);
    const char *dot = strchr(want, '.');
    double digit = dot ? pow(10, -(double)strlen(dot + 1)) : 1;

    if (end == want || *end)
        return !strcmp(want, got);
    return fabs(w - g) <= fmax(1e-3 * fabs(w), 0.5001 * digit);
}

static bool same_key(const struct sheet *a, int i, const struct sheet *b, int j,
                     const char *const *keys)
{
    for (; *keys; keys++) {
        int ca = column(a, *keys), cb = column(b, *keys);

        if (ca >= 0 && !agree(a->cell[i][ca], b->cell[j][cb]))
            return false;
    }
    return true;
}

static void assert_gives(const char *expected, enum roofline_view view, const char *const *keys)
{
    struct roofline_params p;
    struct wr_err err;
    char *text, *want_text;
    size_t len;

    assert_true(roofline_params_read(&p, DATA "paper_table2.csv", 0, &err));
    struct roofline_ask ask = {.params = &p, .server_nodes = 4, .client_nodes = 16};
    FILE *out = open_memstream(&text, &len);

    roofline_print(out, CLI_AS_CSV, view, &ask);
    fclose(out);
    assert_true(wr_file_read(&want_text, &len, expected, 1 << 24, &err));
    struct sheet want = sheet_of(want_text), got = sheet_of(text);
    size_t compared = 0;

    assert_true(want.nrows > 0);
    for (int i = 0; i < want.nrows; i++) {
        int j = 0;

        while (j < got.nrows && !same_key(&want, i, &got, j, keys))
            j++;
        if (j == got.nrows)
            fail_msg("%s: row %d is not given", expected, i + 2);
        for (int k = 0; k < want.ncols; k++) {
            char name[WIDTH], *unit;

            strcpy(name, want.head[k]);
            if ((unit = strstr(name, "_kops_"))) /* the view has all metrics */
                memmove(unit, unit + 5, strlen(unit + 5) + 1);
            int c = column(&got, name);

            assert_true(c >= 0);
            if (!agree(want.cell[i][k], got.cell[j][c]))
                fail_msg("%s row %d %s: %s, not %s", expected, i + 2, name, got.cell[j][c],
                         want.cell[i][k]);
            compared++;
        }
    }
    assert_int_equal(compared, want.nrows * want.ncols);
    free(want.cell);
    free(got.cell);
    free(want_text);
    free(text);
    roofline_params_fini(&p);
}

static void the_studys_parameters_give_the_expected_model(void **state)
{
    static const char *const keys[] = {"system", "metric", NULL};

    (void)state;
    assert_gives(DATA "expected_model.csv", ROOFLINE_VIEW_MODEL, keys);
}

static void the_studys_parameters_give_the_expected_grid(void **state)
{
    static const char *const keys[] = {"system", "metric", "server_nodes", "client_nodes", NULL};

    (void)state;
    assert_gives(DATA "expected_grid.csv", ROOFLINE_VIEW_GRID, keys);
}

static void the_studys_parameters_give_the_expected_knees(void **state)
{
    static const char *const keys[] = {"system", "x_servers_per_client", NULL};

    (void)state;
    assert_gives(DATA "expected_mva.csv", ROOFLINE_VIEW_MVA, keys);
}

static struct stat_roof roof(double c, double s)
{
    return (struct stat_roof){
        .client = {c, c}, .server = {s, s}, .node = {INFINITY, INFINITY}, .per_node = 1};
}

static void the_nodes_ceiling_moves_the_knee_of_bandwidth_to_one(void **state)
{
    struct roofline_params p;
    struct wr_err err;

    (void)state;
    assert_true(roofline_params_read(&p, DATA "paper_table2.csv", 0, &err));
    for (size_t i = 0; i < p.system.n; i++) {
        const struct stat_roof *r = &p.system.v[i].roof[ROOFLINE_BW];
        struct stat_roof two = roofline_two_ceilings(*r);

        assert_true(stat_roof_knee_mid(&two) > 11);
        assert_true(fabs(stat_roof_knee_mid(r) - 1) < 1e-9);
        assert_int_equal(stat_roof_at(r, 4, 1).bound_lo, STAT_BOUND_NODE);
        assert_int_equal(stat_roof_at(r, 1, 4).bound_lo, STAT_BOUND_SERVER);
    }
    roofline_params_fini(&p);
}

/* M/M/1//n by its birth-death equations, the long way round. */
static double closed_queue(double s, double z, int n)
{
    double weight = 1, sum = 1, idle = 1;

    for (int k = 1; k <= n; k++) {
        weight *= (n - k + 1) * s / z; /* one more waits: (n-k+1)/z against 1/s */
        sum += weight;
    }
    return (1 - idle / sum) / s;
}

static void mean_value_analysis_solves_the_closed_queue(void **state)
{
    (void)state;
    for (int n = 1; n <= 40; n++) {
        double s = 0.5, z = 4;
        double got = stat_mva(&s, 1, z, (uint32_t)n, STAT_SERVICE_EXP);

        assert_true(fabs(got / closed_queue(s, z, n) - 1) < 1e-9);
    }
    /* Two equal stations without thinking: n / (n + 1) of one. */
    for (int n = 1; n <= 10; n++) {
        double two[] = {1, 1};

        assert_true(fabs(stat_mva(two, 2, 0, (uint32_t)n, STAT_SERVICE_EXP) - n / (n + 1.0)) <
                    1e-12);
    }
}

static void a_band_too_wide_to_decide_is_no_distance_of_zero(void **state)
{
    struct stat_range narrow = {100, 150}, wide = {0.5, 175};

    (void)state;
    assert_true(fabs(stat_range_distance(narrow, 50) + 50) < 1e-9);
    assert_true(fabs(stat_range_distance(narrow, 300) - 100) < 1e-9);
    assert_true(fabs(stat_range_distance(narrow, 120)) < 1e-9);
    assert_true(isnan(stat_range_distance(wide, 60)));
    /* Outside even that says something: so far at least. */
    assert_true(fabs(stat_range_distance(wide, 0.25) + 50) < 1e-9);
    assert_true(fabs(stat_range_distance(wide, 350) - 100) < 1e-9);
}

static void clients_that_do_not_divide_evenly_are_spread_evenly(void **state)
{
    struct stat_roof r = roof(100, 300);
    double seven = stat_roof_mva(&r, 0.5, 2, 7, STAT_SERVICE_EXP) * 7;
    double three = stat_roof_mva(&r, 0.5, 1, 3, STAT_SERVICE_EXP) * 3;
    double four = stat_roof_mva(&r, 0.5, 1, 4, STAT_SERVICE_EXP) * 4;

    (void)state;
    assert_true(fabs(seven - three - four) < 1e-9 * seven);
    /* Fewer clients than servers: no client waits. */
    assert_true(fabs(stat_roof_mva(&r, 0.5, 4, 3, STAT_SERVICE_EXP) - 100) < 1e-9);
}

static void the_best_number_of_servers_is_better_than_its_neighbours(void **state)
{
    (void)state;
    for (int c = 1; c < 40; c++)
        for (uint64_t p = 2; p < 60; p++) {
            struct stat_roof r = roof(c, 10);
            uint64_t best = stat_roof_best_servers(&r, p);
            double most = 0;

            assert_true(best >= 1 && best < p);
            for (uint64_t s = 1; s < p; s++)
                most = fmax(most, stat_roof_at(&r, (double)s, (double)(p - s)).total.lo);
            assert_true(stat_roof_at(&r, (double)best, (double)(p - best)).total.lo >=
                        most * (1 - 1e-12));
        }
}

static void a_mix_of_one_metric_is_that_metric(void **state)
{
    struct stat_roof roofs[] = {roof(100, 300), roof(7, 5)};
    double only[] = {2, 0}, both[] = {2, 3};
    struct stat_roof one = stat_roof_mix(roofs, only, 2), two = stat_roof_mix(roofs, both, 2);

    (void)state;
    assert_true(fabs(one.client.lo - 50) < 1e-9 && fabs(one.server.hi - 150) < 1e-9);
    assert_true(fabs(two.client.lo - 1 / (2 / 100.0 + 3 / 7.0)) < 1e-12);
    assert_true(fabs(two.server.hi - 5 / 3.0) < 1e-12);               /* the slower resource */
    assert_true(fabs(two.server.lo - 1 / (2 / 300.0 + 0.6)) < 1e-12); /* one after the other */
}

static void what_is_wrong_in_a_table_is_reported(void **state)
{
    static const struct {
        const char *text, *says;
    } faults[] = {
        {"systen,cores_usable\nA,1\n", "t:1:1: no column \"systen\""},
        {"system,client_rpc_kops_min\nA,1\n", "t: system A has some of the four rates of rpc"},
        {"system,client_rpc_kops_min,client_rpc_kops_max,server_rpc_kops_min,server_rpc_kops_max\n"
         "A,2,1,3,4\n",
         "t: system A: the rates of rpc are not"},
        {"system,cores_usable\nA,0.5\n", "t: system A has 0.5 processes on a node"},
        {"system,cores_usable\nA,1\nA,1\n", "t: system A comes twice"},
        {"system,cores_usable\n", "t has no system"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct roofline_params p;
        struct wr_err err;

        assert_false(
            roofline_params_parse(&p, "t", faults[i].text, strlen(faults[i].text), 0, &err));
        if (strncmp(err.text, faults[i].says, strlen(faults[i].says)) != 0)
            fail_msg("%s", err.text);
    }
}

/* ---- measuring ---- */

static void write_zone(const char *root, const char *zone, const char *file, const char *text)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", root, zone);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/%s", root, zone, file);
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void packages_energy_is_added_up_over_their_counters_turn(void **state)
{
    char root[] = "/tmp/weir-test-powercap-XXXXXX", clean[64];
    struct rpc_energy e;

    (void)state;
    assert_non_null(mkdtemp(root));
    assert_false(rpc_energy_open(&e, root));
    for (int i = 0; i < 2; i++) {
        const char *zone = i ? "intel-rapl:1" : "intel-rapl:0";

        write_zone(root, zone, "name", i ? "package-1\n" : "package-0\n");
        write_zone(root, zone, "max_energy_range_uj", "10000000\n");
        write_zone(root, zone, "energy_uj", "9000000\n");
    }
    /* Part of a package: counted there already. */
    write_zone(root, "intel-rapl:0:0", "name", "core\n");
    write_zone(root, "intel-rapl:0:0", "energy_uj", "1000000\n");
    assert_true(rpc_energy_open(&e, root));
    assert_int_equal(e.npackages, 2);
    assert_true(fabs(rpc_energy_read(&e)) < 1e-9);
    write_zone(root, "intel-rapl:0", "energy_uj", "9500000\n");
    write_zone(root, "intel-rapl:1", "energy_uj", "500000\n"); /* went round */
    assert_true(fabs(rpc_energy_read(&e) - 2.0) < 1e-9);
    write_zone(root, "intel-rapl:1", "energy_uj", "700000\n");
    assert_true(fabs(rpc_energy_read(&e) - 2.2) < 1e-9);
    snprintf(clean, sizeof clean, "rm -r %s", root);
    assert_int_equal(system(clean), 0);
}

static void slices_are_of_a_burst_or_of_a_gap_only_if_wholly_inside(void **state)
{
    /* Bursts of 250 ms and gaps of 350 ms: from 0, 600, ... */
    struct rpc_polling_spec s = {
        .burst_ps = 250e9, .gap_ps = 350e9, .slice_ps = 100e9, .periods = 2};
    static const enum rpc_phase want[] = {RPC_IN_BURST, RPC_IN_BURST, RPC_BETWEEN, RPC_BETWEEN,
                                          RPC_IN_GAP,   RPC_IN_GAP,   RPC_IN_BURST};

    (void)state;
    assert_int_equal(rpc_polling_slices(&s), 12);
    for (uint32_t i = 0; i < sizeof want / sizeof *want; i++)
        assert_int_equal(rpc_polling_phase(&s, i), want[i]);
    s.burst_ps = s.gap_ps = 500e9;
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(rpc_polling_phase(&s, i), i % 10 < 5    ? RPC_IN_BURST
                                                   : i % 10 == 5 ? RPC_BETWEEN
                                                                 : RPC_IN_GAP);
}

static void what_workers_are_sent_comes_out_as_it_went_in(void **state)
{
    struct rpc_opts o = {.transport = &rpc_shm,
                         .provider = "tcp",
                         .bind = "10.0.0.1",
                         .nic = {.only = "ib*,!ib0"},
                         .token = {{UINT64_C(0xfedcba9876543210), 1}},
                         .wait = RPC_TIMED,
                         .spin_us = 7,
                         .oversubscribed = true,
                         .depth = 9,
                         .bulk_b = 1 << 20,
                         .peers = 11,
                         .storage = "/a \"b\"",
                         .storage_b = UINT64_C(1) << 40,
                         .direct = true};
    struct rpc_load l = {.op = RPC_OP_SWRITE,
                         .size_b = 4096,
                         .depth = 3,
                         .think_ns = 5,
                         .rate = 1.5,
                         .on_ns = 6,
                         .off_ns = 7,
                         .start_ns = 1ull << 60,
                         .warm_ns = 8,
                         .measure_ns = 9,
                         .storage_b = 10,
                         .seed = 11,
                         .slice_ns = 12,
                         .alone = true},
                    got_l;
    json_t *j = rpc_open_json(&o, "shm:1:2"), *k = rpc_load_json(&l);
    struct rpc_opts got;
    const char *address;
    struct wr_err err;

    (void)state;
    assert_true(rpc_open_parse(&got, &address, j, &err));
    assert_string_equal(address, "shm:1:2");
    assert_string_equal(got.provider, o.provider);
    assert_string_equal(got.bind, o.bind);
    assert_string_equal(got.nic.only, o.nic.only);
    assert_string_equal(got.storage, o.storage);
    assert_true(got.transport == o.transport && wr_token_same(&got.token, &o.token) &&
                got.wait == o.wait);
    assert_true(got.spin_us == 7 && got.oversubscribed && got.depth == 9 && got.bulk_b == 1 << 20);
    assert_true(got.peers == 11 && got.storage_b == o.storage_b && got.direct);
    rpc_load_parse(&got_l, k);
    json_t *again = rpc_load_json(&got_l);

    assert_true(json_equal(again, k));
    assert_true(got_l.op == RPC_OP_SWRITE && got_l.depth == 3 && got_l.start_ns == 1ull << 60);
    assert_true(got_l.alone);
    json_decref(again);
    json_object_set_new(j, "transport", json_string("pigeon"));
    assert_false(rpc_open_parse(&got, &address, j, &err));
    json_decref(j);
    json_decref(k);
}

static void a_ticket_is_replaced_only_if_its_server_is_dead(void **state)
{
    struct rpc_ticket t = {.version = "1", .transport = "tcp", .address = "tcp:127.0.0.1:1"}, got;
    char dir[] = "/tmp/weir-test-ticket-XXXXXX", path[64];
    struct wr_err err;
    pid_t dead = fork();

    (void)state;
    if (!dead)
        _exit(0);
    waitpid(dead, NULL, 0);
    snprintf(path, sizeof path, "%s/t", mkdtemp(dir));
    t.process = rpc_process_own();
    t.process.pid = dead;
    assert_true(wr_token_parse(&t.token, "00112233445566778899aabbccddeeff"));
    assert_true(rpc_ticket_write(&t, path, false, &err));
    t.process = rpc_process_own();
    t.bulk_b = 7;
    assert_true(rpc_ticket_write(&t, path, false, &err));
    assert_true(rpc_ticket_read(&got, path, &err));
    assert_true(got.bulk_b == 7 && wr_token_same(&got.token, &t.token));
    assert_int_equal(got.process.pid, getpid());
    assert_false(rpc_ticket_write(&t, path, false, &err)); /* we live */
    assert_non_null(strstr(err.text, "choose another name or replace it"));
    unlink(path);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_studys_parameters_give_the_expected_model),
        cmocka_unit_test(the_studys_parameters_give_the_expected_grid),
        cmocka_unit_test(the_studys_parameters_give_the_expected_knees),
        cmocka_unit_test(the_nodes_ceiling_moves_the_knee_of_bandwidth_to_one),
        cmocka_unit_test(mean_value_analysis_solves_the_closed_queue),
        cmocka_unit_test(a_band_too_wide_to_decide_is_no_distance_of_zero),
        cmocka_unit_test(clients_that_do_not_divide_evenly_are_spread_evenly),
        cmocka_unit_test(the_best_number_of_servers_is_better_than_its_neighbours),
        cmocka_unit_test(a_mix_of_one_metric_is_that_metric),
        cmocka_unit_test(what_is_wrong_in_a_table_is_reported),
        cmocka_unit_test(packages_energy_is_added_up_over_their_counters_turn),
        cmocka_unit_test(slices_are_of_a_burst_or_of_a_gap_only_if_wholly_inside),
        cmocka_unit_test(what_workers_are_sent_comes_out_as_it_went_in),
        cmocka_unit_test(a_ticket_is_replaced_only_if_its_server_is_dead),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
