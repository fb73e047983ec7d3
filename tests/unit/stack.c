/* The I/O stack as agents: machine files and their faults, and PVFS2 against the states that a real
 * one went through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above first. */
#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "stack/draw.h"
#include "stack_help.h"

/* --- expressions -------------------------------------------------------------------- */

static bool find(void *ctx, const char *name, size_t len, struct stack_name *ret)
{
    (void)ctx;
    if (len == 1 && *name >= 'a' && *name <= 'c')
        *ret = (struct stack_name){.kind = STACK_IS_VAR, .number = *name - 'a'};
    else if (len == 3 && !strncmp(name, "TEN", 3))
        *ret = (struct stack_name){.kind = STACK_IS_NUMBER, .number = 10};
    else if (len == 3 && !strncmp(name, "sum", 3))
        *ret = (struct stack_name){.kind = STACK_IS_BUILTIN, .number = 0, .nargs = 2};
    else
        return false;
    return true;
}

static int64_t ask(void *ctx, uint32_t builtin, const int64_t *args)
{
    (void)ctx;
    (void)builtin;
    return args[0] + args[1];
}

static const struct stack_names names = {find, NULL};

static void expressions_mean_what_they_mean_in_c(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"7 - 2 - 1", 4},
        {"-3 + -2", -5},
        {"100 / 7 % 5", 4},
        {"1 / 0 + 5 % 0", 0},
        {"a == 4 ? b : c", 5},
        {"a != 4 ? b : c", 6},
        {"a < b && b < c", 1},
        {"a > b || b > c", 0},
        {"0 && 1 / 0 || 3", 1},
        {"!a + !0", 1},
        {"a <= 4 ? a >= 4 ? TEN : 1 : 2", 10},
        {"sum(a, sum(b, TEN)) - 1", 18},
        {"9223372036854775807 + 1 < 0", 1},
    };
    struct stack_codes codes = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t var[STACK_VARS] = {4, 5, 6};
        struct wr_err err = {0};
        uint32_t at;

        if (!stack_expr(&at, &codes, &names, cases[i].text, false, &err))
            fail_msg("%s: %s", cases[i].text, err.text);
        if (stack_eval(&codes, at, var, ask, NULL) != cases[i].value)
            fail_msg("%s is not %lld", cases[i].text, (long long)cases[i].value);
    }
    stack_codes_fini(&codes);
}

static void only_a_step_changes_a_variable(void **state)
{
    struct stack_codes codes = {0};
    int64_t var[STACK_VARS] = {4, 5, 6};
    struct wr_err err = {0};
    uint32_t at;

    (void)state;
    assert_true(stack_expr(&at, &codes, &names, "a = b * 2", true, &err));
    assert_int_equal(stack_eval(&codes, at, var, ask, NULL), 10);
    assert_int_equal(var[0], 10);
    assert_false(stack_expr(&at, &codes, &names, "a = 1", false, &err));
    assert_false(stack_expr(&at, &codes, &names, "TEN = 1", true, &err));
    stack_codes_fini(&codes);
}

static void a_wrong_expression_is_reported_by_its_column(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"1 +", "column 4"},
        {"a b", "column 3"},
        {"(1", "column 3"},
        {"d", "column 1"},
        {"sum(1)", "takes 2"},
        {"1 ? 2", "column 6"},
        {"", "column 1"},
        {"99999999999999999999", "too large"},
        {"((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1", "too deep"},
    };
    struct stack_codes codes = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wr_err err = {0};
        uint32_t at = 77;

        assert_false(stack_expr(&at, &codes, &names, cases[i].text, false, &err));
        if (!strstr(err.text, cases[i].says))
            fail_msg("%s: %s", cases[i].text, err.text);
        assert_int_equal(at, 77);
        assert_int_equal(codes.code.n, 0);
    }
    stack_codes_fini(&codes);
}

/* --- machine files ------------------------------------------------------------------ */

/* A whole file system in a few lines, with a place for one fault. */
static const char small[] =
    "title: small\n"
    "codes: [DONE = 1]\n"
    "vars: [mine]\n"
    "messages:\n"
    "  ASK: {serves: answers, request: \"10\", response: \"20\"}\n"
    "requests: takes\n"
    "operations:\n"
    "  open: {machine: asks}\n"
    "  create: {machine: asks}\n"
    "  write: {machine: asks}\n"
    "  read: {machine: asks}\n"
    "  close: {machine: asks}\n"
    "  delete: {machine: asks}\n"
    "machines:\n"
    "  asks:\n"
    "    layer: above\n"
    "    agent: client\n"
    "    states:\n"
    "      ready: {message: ASK, next: [default -> send]}\n"
    "      send: {does: send, next: [default -> take]}\n"
    "      take: {does: receive, code: \"left ? 0 : DONE\", next: [DONE -> end, default -> take]}\n"
    "      end: {set: [mine = 1], next: [default -> terminate]}\n"
    "  takes:\n"
    "    layer: below\n"
    "    agent: server\n"
    "    side: server\n"
    "    states:\n"
    "      map: {does: dispatch}\n"
    "  answers:\n"
    "    layer: below\n"
    "    agent: server\n"
    "    side: server\n"
    "    states:\n"
    "      reply: {does: reply, next: [default -> terminate]}\n";

static void faults_of_a_machine_file_are_found_at_their_place(void **state)
{
    static const struct {
        const char *from, *to, *place, *says;
    } cases[] = {
        {"", "", "", ""},
        {"default -> send", "default -> sned", "bad.yaml:19:36", "did you mean send?"},
        {"default -> send", "default > send", "bad.yaml:19:36", "no transition"},
        {"      end: {", "      lost: {next: [default -> end]}\n      end: {", "bad.yaml:22:13",
         "unreachable"},
        {"      end: {set: [mine = 1], next: [default -> terminate]}",
         "      end: {set: [mine = 1], next: [default -> end]}", "bad.yaml:19:14", "dead end"},
        {"[DONE -> end, default -> take]", "[DONE -> end, 0 -> take]", "bad.yaml:21:13",
         "where other codes lead"},
        {"message: ASK", "message: ASKS", "bad.yaml:19:24", "did you mean ASK?"},
        {"message: ASK", "message: ASK, instead: ASKS if 1", "bad.yaml:19:38", "did you mean ASK?"},
        {"message: ASK", "message: ASK, instead: ASK if on", "bad.yaml:19:38",
         "nothing has this name"},
        {"message: ASK", "message: ASK, instead: ASK", "bad.yaml:19:38", "MESSAGE if expression"},
        {"message: ASK, ", "", "bad.yaml:5:8", "no state sends ASK"},
        {"does: reply", "does: run", "bad.yaml:5:17", "never replies"},
        {"does: receive, ", "", "bad.yaml:20:13", "never receives"},
        {"does: dispatch", "next: [default -> terminate]", "bad.yaml:6:11", "dispatches none"},
        {"mine = 1", "yours = 1", "bad.yaml:22:19", "only a variable can be set"},
        {"left ? 0 : DONE", "left ? 0 : GONE", "bad.yaml:21:35", "nothing has this name"},
        {"  read: {machine: asks}\n", "", "bad.yaml:", "the operation read is missing"},
        {"  read:", "  reed:", "bad.yaml:11:", "did you mean read"},
        {"machine: asks}\n  delete", "machine: ask}\n  delete", "bad.yaml:12:20",
         "did you mean asks?"},
        {"{set: [mine = 1], next: [default -> terminate]}",
         "{does: jump, machine: asks, next: [default -> terminate]}", "bad.yaml:22:34",
         "jumps in a circle"},
        {"default -> terminate]}\n  takes", "default -> return]}\n  takes",
         "bad.yaml:22:", "no caller to return to"},
        {"does: send", "does: sent", "bad.yaml:20:20", "send"},
        {"codes: [DONE = 1]", "codes: [DONE is 1]", "bad.yaml:2:9", "NAME = 190"},
        {"vars: [mine]", "vars: [bytes]", "bad.yaml:3:8", "take another name"},
        {"does: send, ", "does: send, below: answers, ", "bad.yaml:20:33", "is no layer"},
        {"does: reply, ", "does: reply, below: under, ", "bad.yaml:34:35", "no machine"},
        {"does: reply, ", "does: reply, data_code: DONE, ", "bad.yaml:34:39", "states that wait"},
        {"end: {set", "end: {does: wait, data_code: mine, set", "bad.yaml:22:36", "no constant"},
        {"end: {set", "end: {does: flow, set", "bad.yaml:22:12", "side: server"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at = strstr(small, cases[i].from);
        struct wr_str text = {0};
        struct wr_err err = {0};
        struct stack_fs *fs = NULL;

        assert_non_null(at);
        wr_str_addn(&text, small, (size_t)(at - small));
        wr_str_add(&text, cases[i].to);
        wr_str_add(&text, at + strlen(cases[i].from));
        bool ok = stack_fs_open_text(&fs, "bad.yaml", text.s, text.n, &err);

        assert_int_equal(ok, i == 0);
        if (strncmp(err.text, cases[i].place, strlen(cases[i].place)) ||
            !strstr(err.text, cases[i].says))
            fail_msg("case %zu: %s", i, err.text);
        stack_fs_close(fs);
        wr_str_fini(&text);
    }
}

static void what_is_shipped_is_sound_and_has_a_timing_for_every_state(void **state)
{
    (void)state;
    for (const struct stack_shipped *s = stack_shipped_fs(); s->name; s++) {
        struct wr_err err = {0};
        struct stack_fs *fs;

        if (!stack_fs_open(&fs, s->name, &err))
            fail_msg("%s", err.text);
        size_t n = strlen(s->name);

        for (const struct stack_shipped *l = stack_shipped_timings(); l->name; l++) {
            struct stack_timings *timings;

            if (strncmp(l->name, s->name, n) || l->name[n] != '-')
                continue;
            if (!stack_timings_open(&timings, fs, l->name + n + 1, &err))
                fail_msg("%s", err.text);
            if (timings->missing.n && !timings->function.n)
                fail_msg("%s has no timing model for %s", l->name,
                         stack_state_text(fs, timings->missing.v[0]).s);
            stack_timings_close(timings);
        }
        stack_fs_close(fs);
    }
}

/* --- PVFS2 against a real one ------------------------------------------------------- */

enum { SIDE, NODE, SEQ, OP, IO, STEP, MACHINE, STATE, TAG, ACTION, CODE, COLUMNS };

struct rows {
    char *text;
    WR_VEC(char *) cell; /* COLUMNS per row */
};

/* The first columns of a CSV file; `skip` of them are not looked at. */
static void read_rows(struct rows *r, char *text, int skip)
{
    char *line = strchr(text, '\n') + 1;

    *r = (struct rows){.text = text};
    while (*line) {
        char *end = strchr(line, '\n');

        *end = 0;
        for (int i = 0; i < skip + COLUMNS; i++) {
            char *cell = strsep(&line, ",");

            if (i >= skip)
                wr_vec_push(&r->cell, cell);
        }
        line = end + 1;
    }
}

static void free_rows(struct rows *r)
{
    wr_vec_fini(&r->cell);
    free(r->text);
}

static bool same_op(char *const *a, char *const *b)
{
    return !strcmp(a[SIDE], b[SIDE]) && !strcmp(a[NODE], b[NODE]) && !strcmp(a[SEQ], b[SEQ]);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Answers of several servers come in any order: which came is compared, not when. */
static void assert_same_answers(char *const *a, char *const *b, size_t n)
{
    const char **x = calloc(n, sizeof *x), **y = calloc(n, sizeof *y);
    size_t answers = 0;

    for (size_t i = 0; i < n; i++)
        if (strstr(a[i * COLUMNS + STATE], "complete") &&
            strcmp(a[i * COLUMNS + STATE], "completion_fn")) {
            x[answers] = a[i * COLUMNS + TAG];
            y[answers++] = b[i * COLUMNS + TAG];
        }
    qsort(x, answers, sizeof *x, by_text);
    qsort(y, answers, sizeof *y, by_text);
    for (size_t i = 0; i < answers; i++)
        assert_string_equal(x[i], y[i]);
    free(x);
    free(y);
}

/* Every operation of every node, in order, state by state. */
static size_t compare(const struct rows *real, const struct rows *ours, bool one_server,
                      bool with_io)
{
    static const int same[] = {SIDE, NODE, OP, IO, STEP, MACHINE, STATE, ACTION, CODE};
    size_t n = real->cell.n / COLUMNS, ops = 0;

    assert_int_equal(real->cell.n, ours->cell.n);
    for (size_t i = 0; i < n;) {
        char **a = real->cell.v + i * COLUMNS, **b = ours->cell.v + i * COLUMNS;
        size_t k = 0;

        while (i + k < n && same_op(a, a + k * COLUMNS)) {
            for (size_t c = 0; c < sizeof same / sizeof *same; c++)
                if ((same[c] != IO || with_io) &&
                    strcmp(a[k * COLUMNS + same[c]], b[k * COLUMNS + same[c]]))
                    fail_msg("%s %s, operation %s, step %zu: %s:%s %s %s, not %s:%s %s %s", a[SIDE],
                             a[NODE], a[SEQ], k + 1, a[k * COLUMNS + MACHINE],
                             a[k * COLUMNS + STATE], a[k * COLUMNS + ACTION], a[k * COLUMNS + CODE],
                             b[k * COLUMNS + MACHINE], b[k * COLUMNS + STATE],
                             b[k * COLUMNS + ACTION], b[k * COLUMNS + CODE]);
            if (one_server)
                assert_string_equal(a[k * COLUMNS + TAG], b[k * COLUMNS + TAG]);
            k++;
        }
        if (one_server)
            assert_string_equal(a[SEQ], b[SEQ]);
        assert_same_answers(a, b, k);
        i += k;
        ops++;
    }
    return ops;
}

/* `meta`: the server that had the file's metadata in the real run. */
static size_t compare_with(const char *file, uint32_t servers, uint32_t meta, const char *ior,
                           bool with_io)
{
    struct stack_lab l;
    struct rows real, ours;
    struct wr_err err = {0};
    char path[512], *text, *csv = NULL;
    size_t len;
    FILE *f = open_memstream(&csv, &len);

    snprintf(path, sizeof path, WEIR_SOURCE_DIR "/tests/data/stack/%s", file);
    if (!wr_file_read(&text, &len, path, 1 << 20, &err))
        fail_msg("%s", err.text);
    stack_lab_run_at(&l, "pvfs2", "default", servers, meta, 1, ior);
    stack_trace_csv(&l.trace, "weir", false, f);
    fclose(f);
    read_rows(&real, text, 0);
    read_rows(&ours, csv, 1);
    size_t ops = compare(&real, &ours, servers == 1, with_io);

    free_rows(&real);
    free_rows(&ours);
    stack_lab_end(&l);
    return ops;
}

static void one_server_goes_through_the_states_of_a_real_one(void **state)
{
    (void)state;
    assert_int_equal(
        compare_with("states_s1p1_8mib.csv", 1, 0, "ior -a MPIIO -b 8m -t 8m -F", true), 40);
}

static void five_servers_go_through_the_states_of_real_ones(void **state)
{
    (void)state;
    assert_int_equal(
        compare_with("states_s5p1_8mib.csv", 5, 2, "ior -a MPIIO -b 8m -t 8m -F", true), 77);
}

/* The table distinguishes reads and writes by their flows and calls every small access a read, so
 * that column is not compared. */
static void small_accesses_go_through_the_states_of_real_ones(void **state)
{
    (void)state;
    assert_int_equal(
        compare_with("states_s5p1_4kib.csv", 5, 3, "ior -a MPIIO -b 4k -t 4k -F", false), 45);
}

/* Requests and their lengths as they were seen on the network. */
static void messages_are_as_many_and_as_long_as_real_ones(void **state)
{
    static const struct {
        const char *name;
        uint64_t n[2], request[2], answers[2], answer[2]; /* one server, five servers */
    } real[] = {
        {"GETCONFIG", {1, 6}, {60, 6 * 60}, {1, 6}, {1472, 6 * 3112}},
        /* root and its entries twice, then the file for set_size and for its size */
        {"GETATTR",
         {6, 6},
         {5 * 152 + 136, 5 * 152 + 136},
         {6, 6},
         {2 * 248 + 2 * 128 + 2 * 200, 2 * 248 + 2 * 128 + 208 + 264}},
        {"LOOKUP_PATH", {7, 7}, {7 * 216, 7 * 216}, {7, 7}, {3 * 16 + 4 * 96, 3 * 16 + 4 * 40}},
        {"CREATE", {1, 1}, {316, 316}, {1, 1}, {100, 108}},
        {"CRDIRENT", {1, 1}, {228, 228}, {1, 1}, {16, 16}},
        {"TRUNCATE", {1, 1}, {128, 128}, {1, 1}, {16, 16}},
        {"UNSTUFF", {0, 1}, {0, 176}, {0, 1}, {0, 264}},
        /* a write is acknowledged twice, a read once */
        {"IO", {2, 10}, {2 * 360, 10 * 392}, {3, 15}, {3 * 24, 15 * 24}},
        {"TREE_GET_FILE_SIZE",
         {1, 5},
         {156, 188 + 2 * 172 + 2 * 164},
         {1, 5},
         {36, 84 + 2 * 48 + 2 * 36}},
        {"RMDIRENT", {1, 1}, {148, 148}, {1, 1}, {24, 24}},
        {"TREE_REMOVE", {1, 5}, {192, 224 + 2 * 208 + 2 * 200}, {1, 5}, {32, 48 + 2 * 36 + 2 * 32}},
        {"REMOVE", {1, 1}, {184, 184}, {1, 1}, {16, 16}},
    };

    (void)state;
    for (int five = 0; five < 2; five++) {
        struct stack_lab l;

        stack_lab_run(&l, "pvfs2", "default", five ? 5 : 1, 1, "ior -a MPIIO -b 8m -t 8m -F");
        for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
            const struct stack_traffic *m = stack_lab_message(&l, real[i].name);

            if (m->requests != real[i].n[five] || m->request_b != real[i].request[five] ||
                m->answers != real[i].answers[five] || m->answer_b != real[i].answer[five])
                fail_msg("%s: %llu of %llu B, %llu of %llu B", real[i].name,
                         (unsigned long long)m->requests, (unsigned long long)m->request_b,
                         (unsigned long long)m->answers, (unsigned long long)m->answer_b);
        }
        /* 8 MiB in buffers of 256 KiB; five shares of 26, 26, 26, 25 and 25 strips: 7 each */
        assert_int_equal(l.counts->data_messages, five ? 70 : 64);
        stack_lab_end(&l);
    }
}

static void small_transfers_ride_in_the_request(void **state)
{
    struct stack_lab l;

    (void)state;
    stack_lab_run(&l, "pvfs2", "default", 5, 1, "ior -a MPIIO -b 4k -t 4k -F -e");
    const struct stack_traffic *m = stack_lab_message(&l, "SMALL_IO");

    assert_int_equal(m->requests, 2);
    assert_int_equal(m->request_b, 4460 + 364);
    assert_int_equal(m->answer_b, 40 + 4136);
    assert_int_equal(stack_lab_message(&l, "IO")->requests, 0);
    assert_int_equal(stack_lab_message(&l, "UNSTUFF")->requests, 0);
    /* its one data file, and its metadata */
    assert_int_equal(stack_lab_message(&l, "FLUSH")->requests, 2);
    assert_int_equal(stack_lab_message(&l, "FLUSH")->request_b, 2 * 88);
    assert_int_equal(l.counts->data_messages, 0);
    stack_lab_end(&l);
}

static void a_flush_goes_to_every_data_file_and_the_metadata(void **state)
{
    struct stack_lab l;

    (void)state;
    stack_lab_run(&l, "pvfs2", "default", 5, 1, "ior -a MPIIO -b 8m -t 8m -F -e -w");
    assert_int_equal(stack_lab_message(&l, "FLUSH")->requests, 6);
    stack_lab_end(&l);
}

static uint64_t visits(const struct stack_lab *l, const char *name)
{
    uint16_t s = stack_find_state(l->fs, name, strlen(name));

    assert_int_not_equal(s, STACK_NONE);
    return l->counts->state[0][s].n + l->counts->state[1][s].n;
}

static void a_write_completes_three_times_per_server_and_a_read_twice(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 7; n += 2) {
        struct stack_lab l;

        stack_lab_run(&l, "pvfs2", "default", n, 1, "ior -a MPIIO -b 8m -t 8m -F -w");
        assert_int_equal(visits(&l, "client_io_sm:io_datafile_complete_operations"), 3 * n);
        stack_lab_end(&l);
        stack_lab_run(&l, "pvfs2", "default", n, 1, "ior -a MPIIO -b 8m -t 8m -F -r");
        assert_int_equal(visits(&l, "client_io_sm:io_datafile_complete_operations"), 2 * n);
        stack_lab_end(&l);
    }
}

static void of_a_shared_file_one_task_does_what_is_done_once(void **state)
{
    struct stack_lab l;

    (void)state;
    stack_lab_run(&l, "pvfs2", "default", 5, 5, "ior -a MPIIO -b 16m -t 4m");
    assert_int_equal(stack_lab_message(&l, "CREATE")->requests, 1);
    assert_int_equal(stack_lab_message(&l, "LOOKUP_PATH")->requests, 7);
    assert_int_equal(stack_lab_message(&l, "GETCONFIG")->requests, 5 * 6);
    assert_int_equal(stack_lab_message(&l, "IO")->requests, 5 * 4 * 2 * 5);
    assert_int_equal(l.counts->client_out_b, 5 * (16 << 20));
    stack_lab_end(&l);
}

/* IOR's open makes the file empty, and its writing ends when the data are kept. */
static void of_one_task_the_times_of_a_row_add_up(void **state)
{
    static const char *const tests[] = {"ior -a MPIIO -b 8m -t 1m -F -e",
                                        "ior -a MPIIO -b 8m -t 8m",
                                        "ior -a POSIX -b 8m -t 1m -e -Y"};
    static const char *const systems[] = {"pvfs2", "lustre", "beegfs"};

    (void)state;
    for (int i = 0; i < 9; i++) {
        const struct stack_phase *p;
        struct stack_lab l;

        stack_lab_run(&l, systems[i % 3], "default", 2, 1, tests[i / 3]);
        for (size_t n = stack_drive_phases(l.drive, &p); n--; p++) {
            assert_int_equal(p->close_last - p->open_first, p->open_last - p->open_first +
                                                                p->io_last - p->io_first +
                                                                p->close_last - p->close_first);
            assert_int_equal(p->io_ns, p->io_last - p->io_first);
        }
        stack_lab_end(&l);
    }
}

/* MPI_File_set_size is collective: no task writes into a file that is still being emptied. */
static void all_wait_until_a_shared_file_is_empty(void **state)
{
    uint64_t emptied = 0, begun = UINT64_MAX;
    struct stack_lab l;

    (void)state;
    stack_lab_run(&l, "pvfs2", "default", 5, 5, "ior -a MPIIO -b 16m -t 4m");
    uint16_t last = stack_find_state(l.fs, "client_truncate_sm:cleanup", 26);
    uint16_t first = stack_find_state(l.fs, "client_io_sm:init", 17);

    for (size_t i = 0; i < l.trace.visit.n; i++) {
        const struct stack_visit *v = &l.trace.visit.v[i];

        if (v->state == last)
            emptied = v->t_ns;
        if (v->state == first && v->t_ns < begun)
            begun = v->t_ns;
    }
    assert_true(emptied && emptied < begun);
    stack_lab_end(&l);
}

/* What a name is looked up with has no layout of the file: who reads first asks for that. */
static void a_process_that_only_reads_asks_for_the_layout(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 5; n += 4) {
        struct stack_lab l;

        stack_lab_run(&l, "pvfs2", "default", n, 1, "ior -a MPIIO -b 8m -t 8m -F -r -k");
        /* the directory, its entries, the file, and the file with its size */
        assert_int_equal(stack_lab_message(&l, "GETATTR")->requests, 4);
        stack_lab_end(&l);
    }
}

/* The size of a file whose data are in one place is in its server's memory: nothing waits. */
static void the_size_of_a_small_file_is_at_hand(void **state)
{
    struct stack_lab l;
    size_t seen = 0;

    (void)state;
    stack_lab_run(&l, "pvfs2", "default", 5, 1, "ior -a MPIIO -b 4k -t 4k -F -e");
    uint16_t at = stack_find_state(l.fs, "get_attr_work_sm:read_stuffed_size", 34);

    for (size_t i = 0; i < l.trace.visit.n; i++)
        if (l.trace.visit.v[i].state == at) {
            assert_int_equal(l.trace.visit.v[i].action, STACK_COMPLETE);
            seen++;
        }
    /* for set_size, and for the size after the write and after the read: a small access forgets it
     */
    assert_int_equal(seen, 3);
    assert_int_equal(stack_lab_message(&l, "TREE_GET_FILE_SIZE")->requests, 0);
    stack_lab_end(&l);
}

/* A second repetition after more than a minute asks again for what was cached. */
static void what_a_client_remembers_is_forgotten_after_a_minute(void **state)
{
    uint64_t asked[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct stack_lab l;

        stack_lab_run(&l, "pvfs2", "default", 1, 1,
                      i ? "ior -a MPIIO -b 1m -t 1m -F -r -i 2 -k -d 61"
                        : "ior -a MPIIO -b 1m -t 1m -F -r -i 2 -k -d 1");
        asked[i] = stack_lab_message(&l, "GETATTR")->requests;
        stack_lab_end(&l);
    }
    /* the directory, its entries, the file to read it, and again with its size */
    assert_int_equal(asked[1], asked[0] + 4);
}

/* What a client may do with a directory it asks again sooner than what the directory is like. */
static void a_capability_is_used_for_seconds_and_attributes_for_a_minute(void **state)
{
    static const uint32_t pause[] = {1, 5};
    uint64_t asked[2], missed[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        char command[80];
        struct stack_lab l;

        snprintf(command, sizeof command, "ior -a MPIIO -b 1m -t 1m -F -r -i 2 -k -d %u", pause[i]);
        stack_lab_run(&l, "pvfs2", "default", 1, 1, command);
        asked[i] = stack_lab_message(&l, "GETATTR")->requests;
        missed[i] = visits(&l, "client_getattr_sm:object_getattr_setup_msgpair");
        stack_lab_end(&l);
    }
    /* of the directory with its entries, and of the file */
    assert_int_equal(missed[1], missed[0] + 2);
    assert_int_equal(asked[1], asked[0] + 3);
}

static double class_total(const struct stack_lab *l, bool server, int scheme, uint8_t cls)
{
    double total = 0;

    for (size_t i = 0; i < l->timings->function.n; i++) {
        const struct stack_function *f = &l->timings->function.v[i];
        uint16_t m = f->state == STACK_NONE ? f->machine : l->fs->state.v[f->state].machine;
        struct stack_sum sum = stack_engine_function(stack_drive_engine(l->drive), f);

        if ((l->fs->machine.v[m].side == STACK_SERVER) == server && f->cls[scheme] == cls)
            total += stack_s(sum.exec_ns) / (double)sum.n;
    }
    return total;
}

static uint8_t class_of(const char *name)
{
    return !strcmp(name, "control")         ? STACK_CONTROL
           : !strcmp(name, "communication") ? STACK_COMMUNICATION
                                            : STACK_DATA;
}

/* All totals of the publication for 1, 2, 3 and 4 GiB, to a thousandth. */
/* The layers below divide the time of the states above more finely; they add none. */
static void layers_below_take_their_time_from_the_states_above(void **state)
{
    static const char *const layers[] = {"Job", "Flow", "BMI", "Trove"};
    struct stack_lab l;

    (void)state;
    stack_lab_run(&l, "pvfs2", "default", 3, 2, "ior -a MPIIO -b 8m -t 8m -F");
    for (size_t k = 0; k < 4; k++) {
        uint64_t visits = 0;

        for (size_t i = 0; i < l.fs->state.n; i++)
            if (!strcmp(l.fs->machine.v[l.fs->state.v[i].machine].layer, layers[k]))
                visits += l.counts->state[1][i].n;
        assert_true(visits > 0);
    }
    /* every wait of the storage is a job, and what its agents take is what the state waits */
    uint64_t waits = 0, wait_ns = 0, jobs = 0, below_ns = 0;

    for (size_t i = 0; i < l.fs->state.n; i++) {
        const struct stack_state *s = &l.fs->state.v[i];
        const struct stack_sum *sum = &l.counts->state[1][i];
        const char *m = l.fs->machine.v[s->machine].name;

        if (s->does == STACK_WAIT && s->below != STACK_NONE)
            wait_ns += sum->wait_ns;
        if (!strcmp(m, "job_trove") || !strcmp(m, "trove"))
            below_ns += sum->exec_ns + sum->wait_ns;
        if (!strcmp(stack_state_text(l.fs, (uint16_t)i).s, "job_trove:post"))
            jobs = sum->n;
        if (!strcmp(stack_state_text(l.fs, (uint16_t)i).s, "trove:service"))
            waits = sum->n;
    }
    assert_true(jobs > 50);
    assert_int_equal(jobs, waits);
    assert_true(wait_ns >= below_ns && wait_ns - below_ns < 100 * jobs);
    stack_lab_end(&l);
}

static void with_the_published_timings_the_published_totals_come_out(void **state)
{
    FILE *f = fopen(WEIR_SOURCE_DIR "/tests/data/stack/published_totals.csv", "r");
    struct stack_lab l = {0};
    char side[16], scheme, cls[32], line[128];
    int gib, last = 0, rows = 0;
    double seconds;

    (void)state;
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    while (fscanf(f, " %15[^,],%c,%31[^,],%d,%lf", side, &scheme, cls, &gib, &seconds) == 5) {
        if (gib != last) {
            if (last)
                stack_lab_end(&l);
            snprintf(line, sizeof line, "ior -a MPIIO -b %dm -t %dm -F", gib * 256, gib * 256);
            stack_lab_run(&l, "pvfs2", "published", 5, 4, line);
            last = gib;
        }
        double ours = class_total(&l, *side == 's', scheme - 'A', class_of(cls));

        if (!(ours <= seconds * 1.001 && ours >= seconds * 0.999))
            fail_msg("%d GiB, %s %c %s: %g s, published %g s", gib, side, scheme, cls, ours,
                     seconds);
        rows++;
    }
    assert_int_equal(rows, 48);
    stack_lab_end(&l);
    fclose(f);
}

/* Viewers of traces want the slices of a track beside each other; counts them. */
static size_t slices_lie_apart(const char *text)
{
    enum { TRACKS = 1 << 12 };
    double *until = wr_zalloc(TRACKS, sizeof *until);
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, "{\"ph\":\"X\"")); at++, n++) {
        unsigned pid, tid;
        double ts, dur;

        assert_int_equal(sscanf(at, "{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%lf,\"dur\":%lf",
                                &pid, &tid, &ts, &dur),
                         4);
        assert_true(pid < 16 && tid < TRACKS / 16);
        if (ts < until[pid * (TRACKS / 16) + tid] - 0.0015)
            fail_msg("node %u, track %u: %.3f begins before %.3f", pid, tid, ts,
                     until[pid * (TRACKS / 16) + tid]);
        until[pid * (TRACKS / 16) + tid] = ts + dur;
    }
    free(until);
    return n;
}

/* One operation, its client's states and those of the servers that work for it, and nothing else.
 */
static void a_trace_has_one_operation_in_every_form(void **state)
{
    struct stack_lab l;
    char *text[3] = {0};
    size_t len, states = 0;

    (void)state;
    stack_lab_run(&l, "pvfs2", "default", 5, 2, "ior -a MPIIO -b 8m -t 8m -F");
    uint32_t root = stack_find_call(&l.trace, l.fs->operation[STACK_MPIIO][STACK_OP_WRITE], 1);

    assert_int_not_equal(root, UINT32_MAX);
    assert_int_equal(stack_find_call(&l.trace, l.fs->operation[STACK_MPIIO][STACK_OP_WRITE], 2),
                     UINT32_MAX);
    bool *of = stack_family(&l.trace, root);

    for (int i = 0; i < 3; i++) {
        FILE *f = open_memstream(&text[i], &len);

        if (i == 0)
            stack_draw_text(&l.trace, of, f);
        else if (i == 1)
            stack_draw_svg(&l.trace, of, "<a> & \"write\"", f);
        else
            stack_draw_perfetto(&l.trace, of, f);
        fclose(f);
    }
    for (const char *at = text[0]; (at = strstr(at, "io_sm:start_flow")); at++)
        states++;
    assert_int_equal(states, 5);
    assert_non_null(strstr(text[0], "IO data, "));
    assert_null(strstr(text[0], "client_create_sm"));
    /* of the two clients only one */
    assert_true(!strstr(text[0], "client 0") != !strstr(text[0], "client 1"));
    assert_non_null(strstr(text[1], "UNSTUFF answer 264 B"));
    assert_non_null(strstr(text[1], "<title>&lt;a&gt; &amp; &quot;write&quot;</title>"));
    assert_non_null(strstr(text[1], "height=\"100%\""));
    assert_non_null(strstr(text[1], "</svg>"));
    assert_non_null(strstr(text[2], "\"name\":\"io_sm:start_flow (waits)\""));
    assert_non_null(strstr(text[2], "\"name\":\"IO answer to client "));
    assert_true(slices_lie_apart(text[2]) > 200);
    for (int i = 0; i < 3; i++)
        free(text[i]);
    free(of);
    stack_lab_end(&l);
}

/* --- what always holds -------------------------------------------------------------- */

static void bytes_are_kept_and_time_goes_forward_from_8_bytes_to_a_pebibyte(void **state)
{
    static const char *const sizes[] = {"8",     "1000", "6768",    "6776", "16344", "16352", "64k",
                                        "65544", "1m",   "1000000", "1g",   "1t",    "1024t"};
    static const char *const timings[] = {"default", "ethernet", "published"};

    (void)state;
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (uint32_t servers = 1; servers <= 5; servers += 2) {
                struct stack_lab l;
                char command[100];
                const struct stack_phase *p;

                snprintf(command, sizeof command, "ior -a MPIIO -b %s -t %s -F", sizes[i],
                         sizes[i]);
                stack_lab_run(&l, "pvfs2", timings[k], servers, 2, command);
                const struct stack_counts *c = l.counts;
                uint64_t all = 2 * (uint64_t)l.test.block;

                assert_int_equal(c->client_out_b, all);
                assert_int_equal(c->server_in_b, all);
                assert_int_equal(c->client_in_b, all);
                assert_int_equal(c->server_out_b, all);
                assert_int_equal(c->begun, c->ended);
                assert_int_equal(stack_drive_phases(l.drive, &p), 2);
                for (int j = 0; j < 2; j++) {
                    assert_true(p[j].open_first <= p[j].open_last);
                    assert_true(p[j].open_last <= p[j].io_last);
                    assert_true(p[j].io_first < p[j].io_last);
                    assert_true(p[j].io_last <= p[j].close_last);
                    assert_true(p[j].close_last < STACK_FOREVER);
                }
                for (size_t v = 0; v < l.trace.visit.n; v++) {
                    assert_true(l.trace.visit.v[v].exec_ns < STACK_FOREVER);
                    assert_true(l.trace.visit.v[v].wait_ns < STACK_FOREVER);
                }
                stack_lab_end(&l);
            }
}

static void more_bytes_never_take_less_time(void **state)
{
    double before = 0;

    (void)state;
    for (uint64_t b = 1 << 20; b <= 1ull << 44; b *= 4) {
        struct stack_lab l;
        char command[100];
        const struct stack_phase *p;

        snprintf(command, sizeof command, "ior -a MPIIO -b %llu -t %llu -F -w",
                 (unsigned long long)b, (unsigned long long)b);
        stack_lab_run(&l, "pvfs2", "ethernet", 5, 5, command);
        stack_drive_phases(l.drive, &p);
        assert_true(stack_s(p->io_last - p->io_first) > before);
        before = stack_s(p->io_last - p->io_first);
        stack_lab_end(&l);
    }
}

/* Twice the clients at the same servers: each gets half of the links. */
static void clients_share_the_servers_links(void **state)
{
    double took[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct stack_lab l;
        const struct stack_phase *p;

        stack_lab_run(&l, "pvfs2", "ethernet", 5, i ? 20 : 10, "ior -a MPIIO -b 64m -t 64m -F -w");
        stack_drive_phases(l.drive, &p);
        took[i] = stack_s(p->io_last - p->io_first);
        stack_lab_end(&l);
    }
    assert_true(took[1] > 1.9 * took[0] && took[1] < 2.1 * took[0]);
}

static void no_servers_and_too_many_data_files_are_refused(void **state)
{
    struct wr_err err = {0};
    struct stack_fs *fs;
    struct stack_timings *timings;
    struct ior_test test;
    struct stack_drive *d;

    (void)state;
    assert_true(stack_fs_open(&fs, "pvfs2", &err));
    assert_true(stack_timings_open(&timings, fs, "default", &err));
    assert_true(ior_parse(&test, "ior", 1, &err));
    struct stack_setup setup = {.fs = fs, .timings = timings, .start = UINT32_MAX};

    assert_false(stack_drive_open(&d, &setup, &test, 1, 1, &err));
    assert_non_null(strstr(err.text, "no servers"));
    setup.servers = 2;
    setup.dfiles = 3;
    assert_false(stack_drive_open(&d, &setup, &test, 1, 1, &err));
    assert_non_null(strstr(err.text, "3 data files for 2 servers"));
    assert_false(stack_fs_open(&fs, "pvsf2", &err));
    assert_non_null(strstr(err.text, "did you mean pvfs2?"));
    ior_fini(&test);
    stack_timings_close(timings);
    stack_fs_close(fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_mean_what_they_mean_in_c),
        cmocka_unit_test(only_a_step_changes_a_variable),
        cmocka_unit_test(a_wrong_expression_is_reported_by_its_column),
        cmocka_unit_test(faults_of_a_machine_file_are_found_at_their_place),
        cmocka_unit_test(what_is_shipped_is_sound_and_has_a_timing_for_every_state),
        cmocka_unit_test(one_server_goes_through_the_states_of_a_real_one),
        cmocka_unit_test(five_servers_go_through_the_states_of_real_ones),
        cmocka_unit_test(small_accesses_go_through_the_states_of_real_ones),
        cmocka_unit_test(messages_are_as_many_and_as_long_as_real_ones),
        cmocka_unit_test(small_transfers_ride_in_the_request),
        cmocka_unit_test(a_flush_goes_to_every_data_file_and_the_metadata),
        cmocka_unit_test(a_write_completes_three_times_per_server_and_a_read_twice),
        cmocka_unit_test(of_a_shared_file_one_task_does_what_is_done_once),
        cmocka_unit_test(of_one_task_the_times_of_a_row_add_up),
        cmocka_unit_test(all_wait_until_a_shared_file_is_empty),
        cmocka_unit_test(a_process_that_only_reads_asks_for_the_layout),
        cmocka_unit_test(the_size_of_a_small_file_is_at_hand),
        cmocka_unit_test(what_a_client_remembers_is_forgotten_after_a_minute),
        cmocka_unit_test(a_capability_is_used_for_seconds_and_attributes_for_a_minute),
        cmocka_unit_test(layers_below_take_their_time_from_the_states_above),
        cmocka_unit_test(with_the_published_timings_the_published_totals_come_out),
        cmocka_unit_test(a_trace_has_one_operation_in_every_form),
        cmocka_unit_test(bytes_are_kept_and_time_goes_forward_from_8_bytes_to_a_pebibyte),
        cmocka_unit_test(more_bytes_never_take_less_time),
        cmocka_unit_test(clients_share_the_servers_links),
        cmocka_unit_test(no_servers_and_too_many_data_files_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
