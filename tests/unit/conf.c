/* What rows make of text: values, defaults, includes, overrides, origins, dumps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/conf_rows.h"

static struct conf *load(struct toy *toy, const char *text, const char *const *sets, size_t nsets)
{
    struct conf *c = NULL;
    struct wr_err err = {0};

    memset(toy, 0, sizeof *toy);
    if (!conf_load_text(&c, toy, toy_rows, "toy.yaml", text, strlen(text), sets, nsets, &err))
        fail_msg("%s", err.text);
    return c;
}

#define SETS(...) \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static const struct link *link_at(const struct toy *t, size_t i)
{
    return (const struct link *)t->machine.links.items + i;
}

static void an_empty_file_gives_every_default(void **state)
{
    struct toy t;
    struct conf *c = load(&t, "", NULL, 0);
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
    assert_int_equal(t.sizes.n, 0);
    assert_string_equal(conf_origin(c, &t.seed), "default");
    conf_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_file_gives_every_default),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
