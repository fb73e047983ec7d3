/* The applications in examples/apps: what they send and write is what the published study counted,
 * or what a closed form says; all that begins also ends; each opens with why. */
#include <dirent.h>

#include "ncptl_try.h"

struct app {
    struct ncptl_unit *u;
    struct ncptl_prog *p;
};

static void app_open(struct app *a, const char *name, uint32_t tasks, const char *const *args)
{
    struct ncptl_start how = {.ntasks = tasks, .args = args};
    struct wr_err err;
    char path[512];

    while (args && args[how.nargs])
        how.nargs++;
    snprintf(path, sizeof path, "%s/examples/apps/%s.ncptl", WEIR_SOURCE_DIR, name);
    if (!ncptl_read(&a->u, path, &err) || !ncptl_start(&a->p, a->u, &how, &err))
        fail_msg("%s", err.text);
}

static void app_close(struct app *a)
{
    ncptl_close(a->p);
    ncptl_unit_close(a->u);
}

/* What one rank does, its collectives turned into messages as the study's MPI does. */
struct tally {
    double sends, recvs, sent, received, written;
};

enum { RANKS = 300, POF2 = 256, FOLDED = 2 * (RANKS - POF2), LONG = 2048 };

/* MPICH's allreduce: of the ranks below FOLDED, the even ones hand their part to
 * the odd ones and get the result; the rest double or halve recursively. */
static void count_allreduce(struct tally *t, uint32_t rank, double bytes, double w)
{
    bool folded = rank < FOLDED, in = !folded || rank % 2;
    double rounds = bytes > LONG ? 16 : 8;
    double volume = bytes > LONG ? 2 * bytes * (POF2 - 1) / POF2 : 8 * bytes;

    if (folded) {
        t->sends += w;
        t->recvs += w;
        t->sent += w * bytes;
        t->received += w * bytes;
    }
    if (in) {
        t->sends += w * rounds;
        t->recvs += w * rounds;
        t->sent += w * volume;
        t->received += w * volume;
    }
}

static void count(struct tally *t, uint32_t rank, const struct ncptl_event *ev, double w)
{
    switch (ev->op) {
    case NCPTL_SEND:
        t->sends += w;
        t->sent += w * (double)ev->bytes;
        break;
    case NCPTL_RECV:
        t->recvs += w;
        t->received += w * (double)ev->bytes;
        break;
    case NCPTL_WRITE:
        t->written += w * (double)ev->bytes;
        break;
    case NCPTL_REDUCE:
        assert_int_equal(ev->group.n, RANKS);
        assert_int_equal(ev->group.key, ev->targets.key);
        count_allreduce(t, rank, (double)ev->bytes, w);
        break;
    case NCPTL_BARRIER: /* dissemination: 9 rounds of 0 bytes */
        t->sends += 9 * w;
        t->recvs += 9 * w;
        break;
    default:
        break;
    }
}

static struct tally tally_rank(const struct ncptl_prog *p, uint32_t rank)
{
    struct ncptl_rank *r = malloc(ncptl_rank_size(p));
    struct ncptl_event ev;
    struct tally t = {0};
    enum ncptl_op op;

    ncptl_rank_init(p, r, rank);
    r->fold = true;
    while ((op = ncptl_next(p, r, &ev)) != NCPTL_END) {
        assert_int_not_equal(op, NCPTL_FAIL);
        count(&t, rank, &ev, r->weight);
    }
    ncptl_rank_fini(p, r);
    free(r);
    return t;
}

/* Every rank of the study's three applications whose counts are public. */
static void ranks_send_and_write_what_the_study_counted(void **state)
{
    FILE *f = fopen(WEIR_SOURCE_DIR "/tests/data/mfnetsim_per_rank.csv", "r");
    char line[256], name[32], open[32] = "";
    struct app a = {0};
    int rows = 0;

    (void)state;
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    while (fgets(line, sizeof line, f)) {
        struct tally want, got;
        uint32_t rank;

        assert_int_equal(sscanf(line, "%31[^,],%u,%lf,%lf,%lf,%lf,%lf", name, &rank, &want.sends,
                                &want.recvs, &want.sent, &want.received, &want.written),
                         7);
        if (strcmp(open, name) != 0) {
            if (*open)
                app_close(&a);
            strcpy(open, name);
            app_open(&a, name, RANKS, NULL);
        }
        got = tally_rank(a.p, rank);
        if (memcmp(&want, &got, sizeof got) != 0)
            fail_msg("%s of rank %u: %g sends of %g B, %g receives of %g B, %g B written; want %s",
                     name, rank, got.sends, got.sent, got.recvs, got.received, got.written, line);
        rows++;
    }
    app_close(&a);
    fclose(f);
    assert_int_equal(rows, 3 * RANKS);
}

static void nekbone_adds_up_to_the_totals_of_the_study(void **state)
{
    struct tally sum = {0};
    struct app a;

    (void)state;
    app_open(&a, "nekbone", RANKS, NULL);
    for (uint32_t i = 0; i < RANKS; i++) {
        struct tally t = tally_rank(a.p, i);

        sum.sends += t.sends;
        sum.sent += t.sent;
        sum.recvs += t.recvs;
    }
    app_close(&a);
    assert_true(sum.sends == 7213260);
    assert_true(sum.recvs == 7213260);
    assert_true(sum.sent == 162102681216.0); /* 162.103 GB */
}

static void nekbone_sends_faces_edges_and_corners(void **state)
{
    static const char *const small[] = {"--iterations=1", "--na=3",   "--nb=3",
                                        "--nc=3",         "--high=8", NULL};
    struct app a;
    struct ncptl_event ev;
    enum ncptl_op op;
    uint32_t faces = 0, edges = 0, corners = 0;

    (void)state;
    app_open(&a, "nekbone", 27, small);
    struct ncptl_rank *r = malloc(ncptl_rank_size(a.p));
    ncptl_rank_init(a.p, r, 13); /* in the middle */
    while ((op = ncptl_next(a.p, r, &ev)) != NCPTL_END)
        if (op == NCPTL_SEND) {
            faces += ev.bytes == 8 * 105 * 105;
            edges += ev.bytes == 8 * 105;
            corners += ev.bytes == 8;
        }
    ncptl_rank_fini(a.p, r);
    free(r);
    app_close(&a);
    /* Two exchanges before the first solve, one in each of two solves. */
    assert_int_equal(faces, 4 * 6);
    assert_int_equal(edges, 4 * 12);
    assert_int_equal(corners, 4 * 8);
}

/* Name, tasks, options, and messages and bytes between tasks, by hand. */
static const struct {
    const char *name;
    uint32_t tasks;
    const char *const *args;
    double messages, bytes;
} cases[] = {
    {"milc", 24, (const char *const[]){"--n0=2", "--n2=3", "--n3=1", "-i3", NULL}, 3 * 2 * 6.0 * 24,
     3 * 2 * 6.0 * 24 * 497664},
    {"nekbone", 12, (const char *const[]){"--na=2", "--nb=2", "--nc=3", "-i1", "--high=8", NULL},
     4.0 * (4 * 4 * 7 - 12), -1},
    {"checkpoint", 7, NULL, 0, 0},
    {"cosmoflow", 5, NULL, 0, 0},
    /* Sizes 0, 1, 2, ..., 2**20, ten round trips each. */
    {"ping-pong", 3, NULL, 22 * 20.0, 20.0 * ((1 << 21) - 1)},
    /* A grid of n x m has 2 (n (m - 1) + m (n - 1)) pairs of neighbours. */
    {"stencil-2d", 16, NULL, 10 * 48.0, 10 * 48.0 * 8 * 1024},
    {"stencil-2d", 12, (const char *const[]){"-x3", "-w2", "-i1", NULL}, 34, 34.0 * 8 * 2048},
    {"stencil-3d", 64, NULL, 10 * 288.0, 10 * 288.0 * 8 * 128 * 128 * 2},
    {"stencil-3d", 27,
     (const char *const[]){"-x3", "-y3", "-i1", "-n26", "--periodic=1", "-w1", "-p10", NULL},
     27 * 26.0, 27 * 8.0 * (6 * 100 + 12 * 10 + 8)},
    {"fft", 16, NULL, 4 * 16 * 6.0, 4 * 16 * 6.0 * 16 * (1 << 20) / 4},
    /* Two iterations, eight octants, eight blocks, 24 pairs downstream. */
    {"sweep", 16, NULL, 2 * 8 * 8 * 24.0, 2 * 8 * 8 * 24.0 * 4096},
    /* Tensor rings: 2 ways x 8 microbatches x 2 layers x 6 steps x 32 tasks; hand-overs: 2 ways
     * x 8 microbatches x 24 tasks; gradient ring: 2 steps x 32 tasks of half the gradients. */
    {"llm-training", 32, NULL, 2 * 8 * 2 * 6 * 32.0 + 2 * 8 * 24.0 + 2 * 32,
     (2 * 8 * 2 * 6 * 32.0 + 2 * 8 * 24.0) * (1 << 20) + 2 * 32 * 32.0 * (1 << 20)},
    {"dlio", 8, NULL, 0, 0},
};

enum { NCASES = sizeof cases / sizeof cases[0] };

static void messages_and_bytes_are_those_of_closed_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < NCASES; i++) {
        struct ncptl_stats *s = calloc(1, sizeof *s);
        struct wr_err err;
        struct app a;

        app_open(&a, cases[i].name, cases[i].tasks, cases[i].args);
        if (!ncptl_stats(a.p, s, &err))
            fail_msg("%s: %s", cases[i].name, err.text);
        if (s->messages != cases[i].messages || (cases[i].bytes >= 0 && s->bytes != cases[i].bytes))
            fail_msg("%s: %g messages of %g bytes, want %g of %g", cases[i].name, s->messages,
                     s->bytes, cases[i].messages, cases[i].bytes);
        app_close(&a);
        free(s);
    }
}

static void files_are_read_and_written_as_asked(void **state)
{
    static const char *const place[] = {"--bytes=1000", "--shared=1", NULL};
    struct ncptl_stats *s = calloc(1, sizeof *s);
    struct ncptl_event ev;
    struct wr_err err;
    struct app a;

    (void)state;
    /* 256 files of 8 samples of 512 KiB are read in each of two epochs; 64 steps of each, with
     * a model of 16 MiB every fourth. */
    app_open(&a, "dlio", 8, NULL);
    assert_true(ncptl_stats(a.p, s, &err));
    assert_true(s->read == 2 * 256 * 8 * 524288.0);
    assert_true(s->written == 2 * 16 * 16777216.0);
    app_close(&a);
    app_open(&a, "checkpoint", 10, place);
    struct ncptl_rank *r = malloc(ncptl_rank_size(a.p));
    ncptl_rank_init(a.p, r, 7);
    while (ncptl_next(a.p, r, &ev) != NCPTL_WRITE)
        assert_int_not_equal(ev.op, NCPTL_END);
    assert_int_equal(ev.bytes, 100);
    assert_int_equal(ev.offset, 700);
    ncptl_rank_fini(a.p, r);
    free(r);
    app_close(&a);
    free(s);
}

static void everything_that_begins_also_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < NCASES; i++) {
        bool complete = false;
        struct wr_err err;
        struct app a;

        app_open(&a, cases[i].name, cases[i].tasks, cases[i].args);
        if (!ncptl_verify(a.p, 0, &complete, &err))
            fail_msg("%s: %s", cases[i].name, err.text);
        assert_true(complete);
        app_close(&a);
    }
}

static void every_application_opens_with_why_and_is_tested_here(void **state)
{
    DIR *dir = opendir(WEIR_SOURCE_DIR "/examples/apps");
    int found = 0;

    (void)state;
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        char path[512], two[2];
        size_t n = strcspn(e->d_name, "."), i = 0;

        if (strcmp(e->d_name + n, ".ncptl") != 0)
            continue;
        while (i < NCASES &&
               (strlen(cases[i].name) != n || strncmp(cases[i].name, e->d_name, n) != 0))
            i++;
        if (i == NCASES)
            fail_msg("%s is not in the table of cases", e->d_name);
        snprintf(path, sizeof path, "%s/examples/apps/%.*s.ncptl", WEIR_SOURCE_DIR, (int)n,
                 e->d_name);
        FILE *f = fopen(path, "r");
        assert_int_equal(fread(two, 1, 2, f), 2);
        assert_memory_equal(two, "# ", 2);
        fclose(f);
        found++;
    }
    closedir(dir);
    assert_int_equal(found, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_send_and_write_what_the_study_counted),
        cmocka_unit_test(nekbone_adds_up_to_the_totals_of_the_study),
        cmocka_unit_test(nekbone_sends_faces_edges_and_corners),
        cmocka_unit_test(messages_and_bytes_are_those_of_closed_forms),
        cmocka_unit_test(files_are_read_and_written_as_asked),
        cmocka_unit_test(everything_that_begins_also_ends),
        cmocka_unit_test(every_application_opens_with_why_and_is_tested_here),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
