/* Probes of paths that fail and hang: the others must not notice. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "state/probe.h"

static atomic_bool trouble, released;
static atomic_int hanging;

static void sleep_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* Stands before the C library's: files below .../hangs wait until they are released, those below
 * .../fails fail, once trouble begins. */
ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
    char link[64], path[512];
    ssize_t len;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    len = readlink(link, path, sizeof path - 1);
    path[len > 0 ? len : 0] = '\0';
    if (atomic_load(&trouble) && strstr(path, "/fails/")) {
        errno = EIO;
        return -1;
    }
    if (atomic_load(&trouble) && strstr(path, "/hangs/")) {
        atomic_fetch_add(&hanging, 1);
        while (!atomic_load(&released))
            sleep_ms(5);
        atomic_fetch_sub(&hanging, 1);
    }
    return syscall(SYS_pwrite64, fd, data, n, at);
}

struct seen {
    int good[3], failed[3], hung[3];
    int64_t began_ns[3];
    char words[256];
};

static bool take(void *arg, const struct state_probe_result *r, struct wr_err *err)
{
    struct seen *s = arg;

    (void)err;
    atomic_store(&trouble, true);
    if (r->kind == STATE_PROBE_FAILED) {
        s->failed[r->target]++;
        snprintf(s->words, sizeof s->words, "%s", r->words);
    } else if (r->kind == STATE_PROBE_HANGS) {
        s->hung[r->target]++;
        s->began_ns[r->target] = r->unix_ns;
        assert_false(r->read);
    } else {
        s->good[r->target]++;
    }
    return true;
}

static void neither_failures_nor_hangs_stop_the_others(void **state)
{
    static const char *const names[] = {"good", "fails", "hangs"};
    char dir[] = "./probe-XXXXXX", path[3][64];
    struct state_target targets[3];
    struct state_probe_opts o = {
        .interval_s = 0.02, .length_s = 1.0, .bytes = 4096, .hang_s = 0.2, .seed = 1};
    struct seen seen = {0};
    struct wr_err err = {0};

    (void)state;
    assert_non_null(mkdtemp(dir));
    for (int i = 0; i < 3; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", dir, names[i]);
        assert_int_equal(mkdir(path[i], 0700), 0);
        targets[i].text = path[i];
    }
    uint64_t from = wr_clock_ns();

    if (!state_probe_run(targets, 3, &o, take, &seen, &err))
        fail_msg("%s", err.text);
    double took = (double)(wr_clock_ns() - from) / 1e9;

    assert_int_equal(atomic_load(&hanging), 1);
    assert_true(seen.good[0] >= 10);
    assert_int_equal(seen.failed[0] + seen.hung[0], 0);
    assert_true(seen.failed[1] >= 5);
    assert_non_null(strstr(seen.words, "a write failed"));
    assert_int_equal(seen.hung[2], 1); /* said once, with the time at which it began */
    assert_true(seen.began_ns[2] > 0);
    assert_true(took >= 1 && took < 30); /* not for ever */
    atomic_store(&released, true);
    for (int i = 0; i < 1000 && atomic_load(&hanging); i++)
        sleep_ms(5);
    sleep_ms(50); /* its thread frees what all shared */
    for (int i = 0; i < 3; i++)
        assert_int_equal(rmdir(path[i]), 0); /* and nothing was left behind */
    assert_int_equal(rmdir(dir), 0);
}

/* A wall clock that is set back by a second soon after the beginning. */
static atomic_int looks;

static int64_t stepping_clock(void)
{
    return state_wall_ns() - (atomic_fetch_add(&looks, 1) > 5 ? 1000000000 : 0);
}

struct stepped {
    int64_t last_ns, step_ns;
    int n, back;
};

static bool take_stepped(void *arg, const struct state_probe_result *r, struct wr_err *err)
{
    struct stepped *s = arg;

    (void)err;
    s->back += s->n++ && r->unix_ns < s->last_ns;
    s->last_ns = r->unix_ns;
    s->step_ns = r->clock_step_ns;
    return true;
}

static void a_clock_that_is_set_back_moves_no_probe(void **state)
{
    char dir[] = "./probe-XXXXXX";
    struct state_target target = {dir};
    struct state_probe_opts o = {
        .interval_s = 0.001, .most = 20, .bytes = 4096, .seed = 1, .wall_ns = stepping_clock};
    struct stepped seen = {0};
    struct wr_err err = {0};

    (void)state;
    assert_non_null(mkdtemp(dir));
    if (!state_probe_run(&target, 1, &o, take_stepped, &seen, &err))
        fail_msg("%s", err.text);
    assert_int_equal(seen.n, 40);
    assert_int_equal(seen.back, 0);
    assert_true(seen.step_ns < -900000000 && seen.step_ns > -1100000000);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_that_is_set_back_moves_no_probe),
        cmocka_unit_test(neither_failures_nor_hangs_stop_the_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
