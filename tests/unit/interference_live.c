/* The live table: rates between two looks at profiles that are being written. */
#include "run_help.h"

#include <math.h>
#include <sys/stat.h>

#include "interference/live/live.h"

enum { NAMES = 8, SLOTS = 2, ROW_A = PROF_ROW_FIRST, ROW_B, ROW_FILE };

/* A profile of this very process, so that it is alive. */
struct made {
    struct prof_head *head;
    struct prof_name *name;
    char *bytes;
    size_t len;
    char path[200];
};

static struct prof_row *row_in(struct made *m, uint32_t slot, uint32_t row)
{
    void *at = m->bytes + m->head->slots_at + slot * m->head->slot_b;

    return &prof_rows(at, NAMES)[row];
}

static struct made make(const struct place *p, const char *file, const char *job)
{
    struct made m = {.len = PROF_HEAD_B + NAMES * sizeof(struct prof_name) +
                            SLOTS * prof_slot_b(NAMES) + 4096};

    m.bytes = calloc(1, m.len);
    m.head = (void *)m.bytes;
    m.name = (void *)(m.bytes + PROF_HEAD_B);
    *m.head = (struct prof_head){.magic = PROF_MAGIC,
                                 .version = PROF_VERSION,
                                 .order = PROF_ORDER,
                                 .names_max = NAMES,
                                 .slots_max = SLOTS,
                                 .names_at = PROF_HEAD_B,
                                 .slots_at = PROF_HEAD_B + NAMES * sizeof(struct prof_name),
                                 .slot_b = prof_slot_b(NAMES),
                                 .slice_ns = 1000000000,
                                 .pid = (uint32_t)getpid(),
                                 .state = PROF_LIVE,
                                 .names_n = ROW_FILE + 1,
                                 .slots_n = SLOTS};
    m.head->log_at = m.head->slots_at + SLOTS * m.head->slot_b;
    m.head->children_at = m.head->log_at;
    gethostname(m.head->host, sizeof m.head->host - 1);
    snprintf(m.head->job, sizeof m.head->job, "%s", job);
    m.name[PROF_ROW_OTHER].kind = PROF_K_OTHER;
    m.name[ROW_A] = (struct prof_name){.kind = PROF_K_MOUNT, .fs = "nfs4", .path = "/a"};
    m.name[ROW_B] = (struct prof_name){.kind = PROF_K_MOUNT, .fs = "ext4", .path = "/b"};
    m.name[ROW_FILE] = (struct prof_name){.kind = PROF_K_FILE, .mount = ROW_A, .path = "/a/x"};
    for (uint32_t s = 0; s < SLOTS; s++) {
        struct prof_slot *slot = (void *)(m.bytes + m.head->slots_at + s * m.head->slot_b);

        slot->tid = s + 1;
    }
    snprintf(m.path, sizeof m.path, "%s/%s.wprof", p->dir, file);
    return m;
}

static void save(const struct made *m)
{
    FILE *f = fopen(m->path, "w");

    assert_non_null(f);
    assert_int_equal(fwrite(m->bytes, 1, m->len, f), m->len);
    fclose(f);
}

static void look(struct live *l, double at_s, const struct live_row **rows, size_t *n)
{
    struct wr_err err = {0};

    must(live_look(l, (int64_t)(at_s * 1e9), rows, n, &err), err);
}

static struct live *open_on(const struct place *p)
{
    const char *dir = p->dir;

    return live_open(&dir, 1);
}

static void rates_are_what_was_counted_between_two_looks(void **state)
{
    struct place *p = *state;
    struct made x = make(p, "x", "X"), y = make(p, "y", "Y");
    struct live *l = open_on(p);
    const struct live_row *r;
    size_t n;

    row_in(&x, 0, ROW_A)->word[PROF_W_write_bytes] = 1000000;
    row_in(&y, 0, ROW_A)->word[PROF_W_write_bytes] = 5;
    save(&x);
    save(&y);
    look(l, 100, &r, &n);
    assert_int_equal(n, 2);
    assert_true(r[0].rate[PROF_W_write_bytes] == 0);
    /* Two threads, one of them through a file that is counted separately; and what is no storage.
     */
    row_in(&x, 0, ROW_A)->word[PROF_W_write_bytes] += 3000000;
    row_in(&x, 1, ROW_FILE)->word[PROF_W_write_bytes] += 3000000;
    row_in(&x, 1, ROW_FILE)->word[PROF_W_write_calls] += 30;
    row_in(&x, 0, PROF_ROW_OTHER)->word[PROF_W_write_bytes] += 1u << 30;
    row_in(&x, 1, ROW_B)->word[PROF_W_read_bytes] += 500;
    row_in(&y, 0, ROW_A)->word[PROF_W_write_bytes] += 2000000;
    struct prof_slot *slot = (void *)(x.bytes + x.head->slots_at);

    slot->in_flight = prof_in_flight(PROF_WRITE, ROW_A);
    save(&x);
    save(&y);
    look(l, 102, &r, &n);
    assert_int_equal(n, 3);
    assert_string_equal(r[0].job, "X");
    assert_string_equal(r[0].mount, "/a");
    assert_string_equal(r[0].fs, "nfs4");
    assert_true(r[0].rate[PROF_W_write_bytes] == 3000000);
    assert_true(r[0].total[PROF_W_write_bytes] == 7000000);
    assert_true(r[0].rate[PROF_W_write_calls] == 15);
    assert_int_equal(r[0].calls_in_flight, 1);
    assert_int_equal(r[0].processes, 1);
    assert_true(r[0].share == 0.75);
    assert_string_equal(r[1].job, "Y");
    assert_true(r[1].share == 0.25);
    assert_string_equal(r[2].mount, "/b");
    assert_true(r[2].rate[PROF_W_read_bytes] == 250);
    /* Nothing happens: no rates, and no shares. */
    look(l, 103, &r, &n);
    assert_true(r[0].rate[PROF_W_write_bytes] == 0 && isnan(r[0].share));
    live_close(l);
    free(x.bytes);
    free(y.bytes);
}

static void processes_of_one_job_are_added_up(void **state)
{
    struct place *p = *state;
    struct made x = make(p, "x", "job"), y = make(p, "y", "job");
    struct live *l = open_on(p);
    const struct live_row *r;
    size_t n;

    row_in(&x, 0, ROW_A)->word[PROF_W_read_bytes] = 10;
    row_in(&y, 0, ROW_A)->word[PROF_W_read_bytes] = 20;
    save(&x);
    save(&y);
    look(l, 1, &r, &n);
    assert_int_equal(n, 1);
    assert_int_equal(r[0].processes, 2);
    assert_true(r[0].total[PROF_W_read_bytes] == 30);
    live_close(l);
    free(x.bytes);
    free(y.bytes);
}

/* A process ends, another takes its file's name with smaller counters, a file is garbage. */
static void what_comes_and_goes_does_no_harm(void **state)
{
    struct place *p = *state;
    struct made x = make(p, "x", "X");
    struct live *l = open_on(p);
    const struct live_row *r;
    char garbage[200];
    size_t n;

    row_in(&x, 0, ROW_A)->word[PROF_W_write_bytes] = 1000;
    save(&x);
    look(l, 1, &r, &n);
    row_in(&x, 0, ROW_A)->word[PROF_W_write_bytes] = 300;
    save(&x);
    look(l, 2, &r, &n);
    assert_true(r[0].rate[PROF_W_write_bytes] == 300);
    snprintf(garbage, sizeof garbage, "%s/g.wprof", p->dir);
    FILE *f = fopen(garbage, "w");

    fputs("WEIRPROF is not all", f);
    fclose(f);
    look(l, 3, &r, &n);
    assert_int_equal(n, 1);
    assert_int_equal(live_unread(l), 1);
    x.head->state = PROF_ENDED;
    save(&x);
    look(l, 4, &r, &n);
    assert_int_equal(n, 0);
    unlink(x.path);
    unlink(garbage);
    look(l, 5, &r, &n);
    assert_int_equal(n, 0);
    assert_int_equal(live_unread(l), 0);
    live_close(l);
    free(x.bytes);
}

static void a_directory_that_is_not_there_is_said(void **state)
{
    const char *dir = "/nowhere/at/all";
    struct live *l = live_open(&dir, 1);
    const struct live_row *r;
    struct wr_err err = {0};
    size_t n;

    (void)state;
    assert_false(live_look(l, 1, &r, &n, &err));
    assert_non_null(strstr(err.text, dir));
    live_close(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(rates_are_what_was_counted_between_two_looks),
        IN_PLACE(processes_of_one_job_are_added_up),
        IN_PLACE(what_comes_and_goes_does_no_harm),
        cmocka_unit_test(a_directory_that_is_not_there_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
